"""What a generation run was asked for, checked before it costs anything, and how it is kept with the run."""

from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import TypeAdapter

from core.errors import InputError
from core.generation.damage_steps import DAMAGE_LEVELS, DamageSettings
from core.generation.factual.steps import FactualSettings
from core.runs.model_settings import (
    ModelSettings,
    RunningSettings,
    model_problems,
    prompts_described,
    running_problems,
)
from core.schema import GenerationKind, Run

MOST_LEVELS = 9
"""Beyond A0: A1 ... A9 keep their order as text."""


@dataclass(frozen=True)
class GenerationSettings(ModelSettings):
    """What determines the results of a generation run."""

    kind: GenerationKind
    source: str = field(default="", kw_only=True)
    """Under which name the answers stand in files and studies; empty: the model's, or `rules`."""
    factual: FactualSettings = field(default_factory=FactualSettings, kw_only=True)
    damage: DamageSettings = field(default_factory=DamageSettings, kw_only=True)

    @property
    def source_name(self) -> str:
        """The name under which the answers stand."""
        return self.source or self.model_name

    @property
    def level_names(self) -> tuple[str, ...]:
        """Best first."""
        if self.kind == "factual":
            return tuple(f"A{number}" for number in range(self.factual.n_levels + 1))
        return tuple(str(level) for level in self.damage.levels)


_GENERATION = TypeAdapter(GenerationSettings)


def settings_of(run: Run) -> GenerationSettings:
    """What the run was asked for."""
    return _GENERATION.validate_python(run.settings)


def generation_kept(settings: GenerationSettings) -> dict[str, Any]:
    """As the store keeps it: JSON values only, defaults included, so that equal settings are equal texts."""
    kept: dict[str, Any] = _GENERATION.dump_python(settings, mode="json")
    # What the other scheme would have been asked is nobody's concern.
    kept.pop("damage" if settings.kind == "factual" else "factual")
    return kept


def check_settings(settings: GenerationSettings, running: RunningSettings) -> None:
    """Raise InputError with everything that is wrong, each named as its option."""
    problems = [*model_problems(settings), *running_problems(running)]
    problems += (
        _factual_problems(settings.factual)
        if settings.kind == "factual"
        else _damage_problems(settings.damage)
    )
    if problems:
        raise InputError("The run cannot start", problems)


def _factual_problems(factual: FactualSettings) -> list[str]:
    problems = []
    if not 1 <= factual.n_levels <= MOST_LEVELS:
        problems.append(f"--levels: {factual.n_levels} levels beyond A0; 1 to {MOST_LEVELS} can be made")
    if not 0 < factual.keep <= 1:
        problems.append(f"--keep: {factual.keep:g} is no share above 0 and up to 1")
    return problems


def _damage_problems(damage: DamageSettings) -> list[str]:
    wrong = [str(level) for level in damage.levels if level not in DAMAGE_LEVELS]
    if wrong or not damage.levels:
        return [f"--levels: {', '.join(wrong) or 'none'}; damage levels are 0 to {DAMAGE_LEVELS[-1]}"]
    return []


def describe(settings: GenerationSettings) -> dict[str, Any]:
    """The settings for a person to read: prompts by name and hash, and nothing about the other scheme."""
    shown = asdict(settings)
    shown.pop("damage" if settings.kind == "factual" else "factual")
    return shown | {"prompts": prompts_described(settings), "source": settings.source_name}
