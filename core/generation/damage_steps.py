"""What the damage levels need from whoever makes them: a model or rules."""

from dataclasses import dataclass
from typing import Protocol

from pydantic import field_validator

from core.generation.records import Task
from core.generation.scheme import SEED, GenerationSettings
from core.llm.asking import Answer
from core.schema import Material
from core.schema.kinds import PromptSlot
from core.schema.settings import setting

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
