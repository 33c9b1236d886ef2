"""Errors that people and judges marked in the same texts, and how they are compared."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from core.schema.analysis import confidence_setting, resamples_setting, rng_setting
from core.schema.settings import Settings, setting

if TYPE_CHECKING:
    from core.schema.scores import JudgeOutput, OutputSet, RatingSet

GoldRaters = Literal["kept", "merged"]
"""kept: each rater's marks of a text form a separate segment; merged: all raters' marks form one."""


@dataclass(frozen=True)
class Marks:
    """Marked errors of people and of judges."""

    gold: "RatingSet"
    """Those of people."""
    judges: "Mapping[str, tuple[RatingSet, ...]]"
    """Judge -> its marks, one set for each of its repeats."""
    texts: "OutputSet | None" = None
    """The marked texts, if a side has them."""
    raters: Mapping[str, str] = field(default_factory=dict)
    """Judge -> the only rater whose ratings were its examples; empty: several raters, or none."""


@dataclass(frozen=True)
class TaughtJudges:
    """Errors that people marked, and runs of judges with the examples that they were shown."""

    gold: "RatingSet"
    outputs: "tuple[JudgeOutput, ...]"
    """Each under a name of its own."""
    texts: "OutputSet | None" = None
    """The marked texts, if the gold has them."""


class SpanOptions(Settings):
    """Options for comparing marked errors and for intervals."""

    raters: GoldRaters = setting(
        "kept",
        "People's marks",
        "compare each rater's marks separately, or merge all raters' marks",
        words={"kept": "Each rater separately", "merged": "All raters of a text merged"},
    )
    references: bool = setting(
        False,
        "Count references as systems",
        "include the references refA, refB, synthetic_ref as systems",
    )
    n_resamples: int = resamples_setting(2_000)
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()

    @property
    def pairing(self) -> dict[str, Any]:
        """The options that determine which segments are compared."""
        return self.model_dump(include={"raters", "references"})

    @property
    def resampling(self) -> dict[str, Any]:
        """The options that determine the intervals."""
        return self.model_dump(include={"n_resamples", "confidence_level", "rng"})
