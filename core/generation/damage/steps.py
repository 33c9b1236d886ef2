"""What the damage levels need from whoever makes them; and the levels written by a model, one request each, checked before it counts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from pydantic import field_validator

from core.generation.damage.checks import changed_numbers, check_damage
from core.generation.records import Task
from core.generation.scheme import SEED, GenerationSettings
from core.llm.asking import LONGEST_ECHO, Answer, Model, Unusable
from core.llm.client import Message, Request
from core.llm.parsing import read_text
from core.llm.prompts import Prompt, for_use
from core.schema.kinds import PromptSlot
from core.schema.settings import setting
from core.schema.study import Material
from core.tables.problems import same_wording

DAMAGE_LEVELS = (0, 1, 2, 3, 4, 5)
"""0: a paraphrase, as good as the reference ... 5: wrong throughout. Higher is worse (000, section 3)."""
MAX_TOKENS = 400
"""New tokens per answer, as in 000."""


class DamageSettings(GenerationSettings):
    """What fixes a run beside model and prompt."""

    task: Task = setting(
        "qa",
        "The texts are",
        "what the texts are",
        words={
            "qa": "questions and answers",
            "qa-passage": "questions on a passage",
            "summary": "summaries",
            "translation": "translations",
        },
    )
    levels: tuple[int, ...] = setting(
        DAMAGE_LEVELS,
        "Levels",
        "levels to make, such as 0-5 or 0,3,5",
        words={", ".join(map(str, DAMAGE_LEVELS)): "0-5"},
    )
    seed: int = SEED

    @field_validator("levels", mode="before")
    @classmethod
    def _levels(cls, given: object) -> object:
        """0-5, or 0,3,5, or numbers."""
        levels = (
            given
            if isinstance(given, tuple | list)
            else [level for part in str(given).split(",") for level in _from_to(part)]
        )
        if not levels:
            raise ValueError("name at least one level")
        if wrong := [str(level) for level in levels if level not in DAMAGE_LEVELS]:
            raise ValueError(
                f"there is no level {', '.join(wrong)}; damage levels are 0 to {DAMAGE_LEVELS[-1]}"
            )
        return tuple(level for level in DAMAGE_LEVELS if level in levels)

    @property
    def level_names(self) -> tuple[str, ...]:
        """See GenerationSettings."""
        return tuple(str(level) for level in self.levels)

    @property
    def first_level(self) -> str | None:
        """See GenerationSettings."""
        return f"level {DAMAGE_LEVELS[0]}" if DAMAGE_LEVELS[0] in self.levels else None

    @property
    def asked_for(self) -> Task:
        """See GenerationSettings."""
        return self.task

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """One prompt for all levels, unless rules make them."""
        return () if by_rules else (PromptSlot("damage", f"damage-{self.task}", self.task),)


@dataclass(frozen=True)
class Damaged:
    """One text at one level, and how it was made."""

    text: str
    how: str
    """`llm`, `paraphrase`, `verbatim`, or the rules that made it, joined by ` + `."""


class DamageSteps(Protocol):
    """One text for one item at one level; it has passed the checks of its task and level."""

    @property
    def backend(self) -> str:
        """`rules`, `openai` or `vllm`: stands in every record."""

    @property
    def prompts(self) -> dict[str, str] | None:
        """`damage` -> sha256 of the prompt it uses; None without a model."""

    async def damage(self, material: Material, level: int) -> Answer[Damaged]:
        """The reference, damaged to this level."""


def _from_to(part: str) -> range:
    """2-4 is 2, 3, 4."""
    first, dash, last = (one.strip() for one in part.partition("-"))
    if not (first.isdecimal() and (last.isdecimal() or not dash)):
        raise ValueError(f"{part.strip()!r} is neither a level nor a range of them, such as 0-5")
    return range(int(first), int(last or first) + 1)


STEP = "damage"
"""Under which calls and tokens are counted."""
SAME_AS_ANOTHER = "same as another level"
"""Under which such a level is counted, as `same as the reference` is."""
_CONTEXT_NAMES = {
    "qa-passage": "passage",
    "summary": "source_text",
    "translation": "source_sentence",
}
"""Task -> the variable of its prompts that holds a material's context."""


class LlmDamage:
    """Implements DamageSteps with a model and a prompt for the settings' task."""

    def __init__(self, model: Model, prompt: Prompt, settings: DamageSettings) -> None:
        self._model, self._prompt = model, for_use(prompt, STEP, settings.task)
        self._settings = settings

    @property
    def backend(self) -> str:
        """`openai` or `vllm`."""
        return self._model.client.backend

    @property
    def prompts(self) -> dict[str, str] | None:
        """The sha256 of the prompt."""
        return {STEP: self._prompt.sha256}

    async def damage(self, material: Material, level: int) -> Answer[Damaged]:
        """The reference, damaged by the model; an answer that fails a check is asked again."""
        return await self._model.ask(
            self._request(material, level), lambda answer: self._read(material, level, answer)
        )

    async def another(
        self, material: Material, level: int, said: str, attempts: int, taken: Mapping[str, int]
    ) -> Answer[Damaged]:
        """Another text for a level whose text another level has; only where an attempt is left.

        A text that is taken too is not asked about again: a greedy model would go on repeating itself.
        """
        wrong = _twin(level, said, taken)
        if attempts >= self._model.attempts:
            return Answer(None, SAME_AS_ANOTHER, wrong, attempts)
        first = self._request(material, level)
        note = f"Answer {attempts} cannot be used: {wrong} Answer again, exactly in the form asked for."
        turns = (Message("assistant", said[:LONGEST_ECHO]), Message("user", note))
        answer = await self._model.ask(
            replace(first, messages=(*first.messages, *turns)), lambda text: self._read(material, level, text)
        )
        total = attempts + answer.attempts
        if answer.value is not None and (still := _twin(level, answer.value.text, taken)):
            return Answer(None, SAME_AS_ANOTHER, still, total)
        return replace(answer, attempts=total)

    def _request(self, material: Material, level: int) -> Request:
        return Request(
            step=STEP,
            messages=self._prompt.messages(**self._variables(material, level)),
            max_tokens=MAX_TOKENS,
            temperature=0.0,
            seed=self._settings.seed,
        )

    def _read(self, material: Material, level: int, answer: str) -> Damaged:
        text = read_text(answer)
        problem = check_damage(material, level, text, self._settings.task)
        if problem := problem or changed_numbers(material, level, text):
            kind, sentence = problem
            raise Unusable(sentence, kind)
        return Damaged(text, "llm")

    def _variables(self, material: Material, level: int) -> dict[str, str | int]:
        offered: dict[str, str | int] = {
            "question": material.item.question,
            "reference": material.item.reference,
            "level": level,
        }
        if name := _CONTEXT_NAMES.get(self._settings.task):
            offered[name] = material.context or ""
        return {name: offered[name] for name in self._prompt.variables}


def _twin(level: int, text: str, taken: Mapping[str, int]) -> str:
    """The sentence about a text that another level has; empty: none has it."""
    other = taken.get(same_wording(text))
    if other is None:
        return ""
    return f"It is the very text of level {other}: level {level} has to be another one."
