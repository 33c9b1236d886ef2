"""How scores are correlated with quality: options that statistics, commands, functions and pages share."""

from typing import Any, Literal, cast

from pydantic import field_validator

from core.schema.analysis import (
    COEFFICIENT_WORDS,
    COEFFICIENTS,
    Coefficient,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.settings import Settings, setting

MOST_RESAMPLES = 10_000
"""Resamples where the user names no number; fewer once every interval is settled."""


class GroupedOptions(Settings):
    """Of which texts and by which coefficients metrics are correlated with quality."""

    group: tuple[str, ...] = setting(
        (),
        "Group by",
        "one correlation for each value of these columns (default: all texts together)",
        listed=True,
        metavar="COL,...",
        words={"": "all texts together"},
    )
    methods: tuple[str, ...] = setting(
        COEFFICIENTS,
        "Coefficients",
        f"coefficients to report: {', '.join(COEFFICIENTS)} (default: all)",
        listed=True,
        metavar="M,...",
    )
    system_scores: Literal["all", "rated"] = setting(
        "all",
        "Scores of systems",
        "texts over which a metric's system score is the mean: all, as in WMT's metrics task, or the rated ones; human scores are "
        "always means over rated texts",
        words={"all": "All texts", "rated": "Rated texts"},
    )

    @field_validator("methods")
    @classmethod
    def _in_order(cls, names: tuple[str, ...]) -> tuple[Coefficient, ...]:
        """The coefficients in their usual order."""
        if unknown := [name for name in names if name not in COEFFICIENTS]:
            raise ValueError(f"{', '.join(unknown)} is not one of {', '.join(COEFFICIENTS)}")
        return tuple(name for name in COEFFICIENTS if name in names)

    @property
    def coefficients(self) -> tuple[Coefficient, ...]:
        """The coefficients to compute, in their usual order."""
        return cast("tuple[Coefficient, ...]", self.methods)


class CompareOptions(GroupedOptions):
    """Which two metrics, and how their difference is tested."""

    first: str = setting("", "First metric", "a metric", leading=True, metavar="A,B")
    second: str = setting("", "Second metric", "another metric", leading=True)
    n_resamples: int = resamples_setting(10_000, "number of resamples of items; 0 for no intervals")
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()

    @property
    def resampling(self) -> dict[str, Any]:
        """The options that determine intervals and swaps."""
        return self.model_dump(include={"n_resamples", "confidence_level", "rng"})


class CorrelateOptions(GroupedOptions):
    """What metrics are correlated with, and how intervals are made."""

    raw_level: bool = setting(
        False,
        "With the level itself",
        "correlate with the level instead of its negative, as Factual does; a good metric is then negative",
    )
    resample: Literal["rows", "items"] = setting(
        "rows",
        "Resampled",
        "what to resample for low and high: rows, as in Factual, or items, which is sounder if an item has several texts",
    )
    n_resamples: int | None = setting(
        None,
        "Resamples",
        "number of bootstrap resamples",
        at_least=0,
        option="resamples",
        words={"": f"until every interval settles, at most {MOST_RESAMPLES:,}"},
        folded=True,
    )
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()
    sizes: dict[str, float] = setting(
        {},
        "Sizes of models",
        "with several files: parameters, in billions, of a model (or of the model behind a file) whose name does not state them",
        at_least=0,
        option="size",
        parameter="sizes",
        metavar="MODEL=BILLIONS",
        folded=True,
    )

    @property
    def until_settled(self) -> bool:
        """Whether drawing stops once all intervals of a metric are settled (`core.stats.resampling.is_settled`)."""
        return self.n_resamples is None

    @property
    def most_resamples(self) -> int:
        """Resamples that are drawn at most."""
        return MOST_RESAMPLES if self.n_resamples is None else self.n_resamples

    @property
    def resampling(self) -> dict[str, Any]:
        """The options that determine the intervals, as the statistics take them."""
        return {
            "n_resamples": self.most_resamples,
            "confidence_level": self.confidence_level,
            "rng": self.rng,
        }


class RankOptions(Settings):
    """By what metrics are ranked, and how every two of them are tested."""

    method: Coefficient = setting(
        "pearson",
        "Coefficient",
        "coefficient to rank by",
        leading=True,
        metavar="METHOD",
        words=COEFFICIENT_WORDS,
    )
    test: Literal["permutation", "williams"] = setting(
        "permutation",
        "Paired test",
        "test of every two metrics: permutation swaps their scores item by item; williams assumes independent texts",
        words={"williams": "Williams' t (rows independent)"},
    )
    n_resamples: int = resamples_setting(
        10_000, "swaps of a test and resamples of a difference, at most 1,000 of each"
    )
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()
