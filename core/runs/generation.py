"""Generation as a job: from a run's settings and file to an item's record."""

from dataclasses import asdict
from pathlib import PurePath

from core.datasets.questions import read_questions
from core.generation.damage import damage
from core.generation.damage_llm import LlmDamage
from core.generation.damage_steps import DamageSteps
from core.generation.factual.pipeline import perturb
from core.generation.factual.steps import Steps
from core.generation.factual.steps_llm import LlmSteps
from core.generation.records import DamageTrace, FactualTrace
from core.generation.rules.damage_steps import RuleDamage
from core.generation.rules.factual_steps import RuleSteps
from core.generation.rules.pool import make_pool
from core.llm.asking import Model
from core.llm.client import Cache
from core.llm.prompts import parse_prompt
from core.runs.jobs import RULES_WIDTH, Outcome, outcome_of
from core.runs.model_settings import RunningSettings, client_of
from core.runs.settings import GenerationSettings, settings_of
from core.schema import Material, MaterialSet, Run
from core.store import Store
from core.store.runs import run_data


def materials_of(store: Store, run: Run) -> MaterialSet:
    """The questions a run works on, read from the file it keeps."""
    settings = settings_of(run)
    task = settings.damage.task if settings.kind == "damage" else None
    return read_questions(run_data(store, run.run_id), PurePath(run.data_file).name, task)


class GenerationJob:
    """core.runs' Job for A0-A4 and for damage levels."""

    def __init__(
        self, materials: tuple[Material, ...], settings: GenerationSettings, running: RunningSettings
    ) -> None:
        self._materials = materials
        self._settings = settings
        self._prompts = {
            purpose: parse_prompt(text, f"{purpose}.yaml") for purpose, text in settings.prompts.items()
        }
        self._client = client_of(settings, running)
        self._pool = make_pool(materials) if self._client is None else None

    @property
    def item_ids(self) -> tuple[str, ...]:
        """In the order of the file."""
        return tuple(material.item.item_id for material in self._materials)

    @property
    def width(self) -> int:
        """As many items as requests can be open: each has one open most of the time."""
        return RULES_WIDTH if self._client is None else self._client.concurrency

    async def start(self) -> None:
        """Reach the server, or load the model."""
        if self._client is not None:
            await self._client.start()

    async def do(self, position: int, cache: Cache) -> Outcome:
        """Make every level of one item."""
        material = self._materials[position]
        if self._settings.kind == "factual":
            return factual_outcome(await perturb(material, self._factual(cache), self._settings.factual))
        return damage_outcome(await damage(material, self._damage(cache), self._settings.damage))

    async def close(self) -> None:
        """Let go of connections and memory."""
        if self._client is not None:
            await self._client.close()

    def _model(self, cache: Cache) -> Model:
        assert self._client is not None
        return Model(self._client, cache, self._settings.attempts)

    def _factual(self, cache: Cache) -> Steps:
        if self._pool is not None:
            return RuleSteps(self._pool, self._settings.factual.seed)
        return LlmSteps(self._model(cache), self._prompts, self._settings.factual)

    def _damage(self, cache: Cache) -> DamageSteps:
        if self._pool is not None:
            return RuleDamage(self._pool, self._settings.damage.task, self._settings.damage.seed)
        return LlmDamage(self._model(cache), self._prompts["damage"], self._settings.damage)


def factual_outcome(trace: FactualTrace) -> Outcome:
    """What the run keeps of an item's A0-A4."""
    if trace.failed_step is None:
        return Outcome("done", asdict(trace))
    failure = (trace.failed_step, trace.reason or "unknown")
    return Outcome("again" if trace.temporary else "failed", asdict(trace), (failure,))


def damage_outcome(trace: DamageTrace) -> Outcome:
    """What the run keeps of an item's damage levels: done only with all of them."""
    missing = [level for level in trace.levels if level.text is None]
    failures = tuple((f"level {level.level}", level.reason or "unknown") for level in missing)
    return outcome_of(asdict(trace), failures, temporary=any(level.temporary for level in missing))
