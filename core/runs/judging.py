"""Judging as a job: from a file of texts and a judge's settings to the scores and records of every text of an item."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from core.datasets.judge_records import kept_record
from core.datasets.reading import sha256_of
from core.datasets.task_files import parse_task
from core.judges.judge import Judge, Judged
from core.judges.settings import PAIRS_AT_ONCE, ClaimsSettings, JudgingSettings
from core.judges.specs import judge_metrics
from core.llm.asking import Model
from core.llm.client import Cache, Client
from core.llm.prompts import Prompt, parse_prompt
from core.runs.jobs import RULES_WIDTH, Outcome, each_of, outcome_of
from core.runs.judge_settings import JudgeSettings, judge_of
from core.runs.model_settings import RunningSettings, client_of, concurrency_of
from core.runs.rated_settings import shows_examples
from core.runs.scoring import by_item, keep_metrics, kept_row
from core.schema import RATED_KINDS, Run
from core.schema.scores import Metric, ScorableOutput, Score
from core.schema.tasks import RatingTask
from core.scoring.metrics.scorer import ScoringPair
from core.store import Store

if TYPE_CHECKING:
    from core.judges.claims_nli import BatchedEntailment

ITEMS_AHEAD = 2
"""Times as many texts at work as requests can be open: each has one open most of the time, some have several."""
SHORT_SHA = 12
"""Digits of a prompt's hash in a signature."""


def planned_metrics(run: Run) -> tuple[Metric, ...]:
    """A judge's metrics as its settings tell them: before the first start, when nothing is loaded yet."""
    settings = judge_of(run)
    return metrics_of_judge(settings, prompts_of(settings), ratings=run.data_sha256)


def prompts_of(settings: JudgeSettings) -> dict[str, Prompt]:
    """Purpose -> prompt, read from the texts that the run keeps."""
    return {purpose: parse_prompt(text, f"{purpose}.yaml") for purpose, text in settings.prompts.items()}


def metrics_of_judge(
    settings: JudgeSettings,
    prompts: Mapping[str, Prompt],
    entailment: str = "",
    engine: str = "",
    ratings: str = "",
) -> tuple[Metric, ...]:
    """With signatures that hold all that determines the scores.

    entailment, engine: what is known of the entailment model and of vLLM once they are loaded. ratings: hash of the
    file that examples are taken from.
    """
    kind, chosen = settings.judge_kind, settings.of_kind
    assert isinstance(chosen, JudgingSettings)
    model = settings.model_name if settings.backend == "vllm" else settings.model
    asked: dict[str, object] = {"model": model, "backend": settings.backend, "engine": engine}
    if settings.backend != "rules":
        asked["attempts"] = settings.attempts
    asked |= {f"prompt-{purpose}": prompt.sha256[:SHORT_SHA] for purpose, prompt in sorted(prompts.items())}
    if kind == "rubric":
        asked["rubric"] = _rubric_named(settings.rubric_text)
    task = task_of(settings) if kind in RATED_KINDS else None
    if task is not None:
        asked["task"] = f"{task.name}-{sha256_of(settings.task_text.encode())[:SHORT_SHA]}"
        asked["ratings"] = ratings[:SHORT_SHA] if shows_examples(chosen) else ""
    if isinstance(chosen, ClaimsSettings):
        # What was loaded, not where it lies or on what it runs: neither changes a verdict.
        asked["entailment"] = entailment or chosen.nli_model.rstrip("/").split("/")[-1]
        chosen = replace(chosen, nli_model="", device="")
    dimensions = tuple(one.name for one in task.dimensions) if task is not None else ()
    return judge_metrics(kind, settings.judge_name, chosen, asked, dimensions)


def task_of(settings: JudgeSettings) -> RatingTask:
    """What is asked of every text, read from the text that the run keeps. Raises InputError."""
    return parse_task(settings.task_text, "task.yaml")


def _engine_named(client: Client | None) -> str:
    """A hash of what vLLM answers with: the weights' content, its options and release; not where they lie."""
    assert client is not None
    identity = json.dumps(client.identity, sort_keys=True, default=str)
    return hashlib.sha256(identity.encode()).hexdigest()[:SHORT_SHA]


def _rubric_named(text: str) -> str:
    from core.judges.rubric_files import parse_rubric

    rubric = parse_rubric(text, "rubric.yaml")
    return f"{rubric.name}-{rubric.sha256[:SHORT_SHA]}"


class JudgeJob:
    """core.runs' Job for the judges: an item is all its texts."""

    def __init__(
        self,
        store: Store,
        run_id: int,
        outputs: Sequence[ScorableOutput],
        settings: JudgeSettings,
        running: RunningSettings,
        *,
        ratings: str = "",
    ) -> None:
        """ratings: hash of the file that examples are taken from."""
        items = by_item(outputs)
        self._store = store
        self._run_id = run_id
        self._item_ids, self._items = tuple(items), tuple(items.values())
        self._n_outputs = len(outputs)
        self._settings, self._running = settings, running
        self._ratings = ratings
        self._prompts = prompts_of(settings)
        self._client = client_of(settings, running)
        self._entailment: BatchedEntailment | None = None
        self._names: tuple[str, ...] = ()

    @property
    def item_ids(self) -> tuple[str, ...]:
        """In the order of the file."""
        return self._item_ids

    @property
    def width(self) -> int:
        """Items enough to keep all requests open; few, so that those begun are soon finished."""
        return width_of(self._settings, self._running, self._n_outputs / len(self._items))

    async def start(self) -> None:
        """Reach the server or load the models, and note with what the run scores."""
        if self._client is not None:
            await self._client.start()
        if self._settings.needs_nli:
            self._entailment = entailment_of(self._settings.claims)
            await self._entailment.start()
        entailment = "" if self._entailment is None else self._entailment.signature
        engine = _engine_named(self._client) if self._settings.backend == "vllm" else ""
        metrics = metrics_of_judge(self._settings, self._prompts, entailment, engine, self._ratings)
        keep_metrics(self._store, self._run_id, metrics)
        self._names = tuple(metric.name for metric in metrics)

    async def do(self, position: int, cache: Cache) -> Outcome:
        """Judge all texts of one item. They share a model, so that what they ask alike is asked once."""
        outputs = self._items[position]
        judged = await self._judged(position, self._model(cache))
        rows = [self._row(output, one) for output, one in zip(outputs, judged, strict=True)]
        failures = tuple(failure for one in judged for failure in one.failures)
        return outcome_of({"outputs": rows}, failures, temporary=any(one.temporary for one in judged))

    async def _judged(self, position: int, model: Model | None) -> list[Judged]:
        """What the judge says of the item's texts, in their order."""
        judge = open_judge(self._settings, self._prompts, model, self._entailment)
        pairs = [
            ScoringPair(output.text, output.reference, output.source) for output in self._items[position]
        ]
        return await each_of(pairs, judge.judge, self._broken)

    async def close(self) -> None:
        """Let go of connections, threads and memory."""
        if self._client is not None:
            await self._client.close()
        if self._entailment is not None:
            await self._entailment.close()

    def _model(self, cache: Cache) -> Model | None:
        return None if self._client is None else Model(self._client, cache, self._settings.attempts)

    def _broken(self, _: object, name: str) -> Judged:
        """What a text gets whose judge has a defect."""
        score = Score(None, f"the judge broke on this text ({name})")
        return Judged((score,) * len(self._names), None, (("internal", name),))

    def _row(self, output: ScorableOutput, judged: Judged) -> dict[str, object]:
        record = None
        if judged.record is not None:
            record = kept_record(self._settings.judge_kind, judged.record)
        named = dict(zip(self._names, judged.scores, strict=True))
        reasons = {name: score.reason for name, score in named.items() if score.value is None}
        return kept_row(output, [score.value for score in named.values()], reasons) | {"record": record}


def width_of(settings: JudgeSettings, running: RunningSettings, texts_per_item: float) -> int:
    """Items worth working on at once.

    Where a model is asked, each text has a request open, or more. Rules should fill the batches of the entailment
    model, if there is one, with a claim of each text.
    """
    if settings.backend == "rules":
        return _items_of(PAIRS_AT_ONCE, texts_per_item) if settings.needs_nli else RULES_WIDTH
    open_at_once = concurrency_of(settings, running)
    return min(open_at_once, _items_of(ITEMS_AHEAD * open_at_once, texts_per_item))


def _items_of(n_texts: int, texts_per_item: float) -> int:
    """Items that have so many texts together."""
    return max(1, math.ceil(n_texts / max(texts_per_item, 1.0)))


def open_judge(
    settings: JudgeSettings,
    prompts: Mapping[str, Prompt],
    model: Model | None,
    entailment: "BatchedEntailment | None",
) -> Judge:
    """The judge of these settings. model: None where rules do the work."""
    # Here and not above: most commands judge nothing.
    kind = settings.judge_kind
    if kind == "claims":
        from core.judges.claims import open_claims

        return open_claims(model, prompts, settings.claims, entailment)
    assert model is not None, f"rules cannot be the judge {kind}"
    if kind == "rubric":
        from core.judges.rubric import RubricJudge
        from core.judges.rubric_files import parse_rubric

        return RubricJudge(model, prompts, parse_rubric(settings.rubric_text, "rubric.yaml"), settings.rubric)
    from core.judges.cross_examination import CrossExaminer

    return CrossExaminer(model, prompts, settings.cef)


def entailment_of(settings: ClaimsSettings) -> "BatchedEntailment":
    """The entailment model, not loaded yet."""
    from core.judges.claims_nli import BatchedEntailment

    return BatchedEntailment(settings.nli_model, settings.device)
