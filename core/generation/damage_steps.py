"""What the damage levels need from whoever makes them: a model or rules."""

from dataclasses import dataclass
from typing import Protocol

from core.generation.records import Task
from core.llm.asking import Answer
from core.schema import Material

DAMAGE_LEVELS = (0, 1, 2, 3, 4, 5)
"""0: a paraphrase, as good as the reference ... 5: wrong throughout. Higher is worse (000, section 3)."""
MAX_TOKENS = 400
"""New tokens per answer, as in 000."""


@dataclass(frozen=True)
class DamageSettings:
    """What fixes a run besides model and prompt."""

    task: Task = "qa"
    levels: tuple[int, ...] = DAMAGE_LEVELS
    seed: int = 0
    """Of what the rules draw; per item by its id, not its place."""


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
