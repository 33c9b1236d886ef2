"""Uses of a judge, and the limits that a judge must keep for them."""

from collections.abc import Mapping
from typing import Literal

from pydantic import field_validator

from core.schema.analysis import resamples_setting, rng_setting
from core.schema.settings import Settings, setting

Use = Literal["replace", "rank", "gate", "monitor", "certify"]
USES: Mapping[Use, str] = {
    "replace": "stand in for a rater",
    "rank": "rank systems",
    "gate": "decide about single answers",
    "monitor": "follow a mean over time",
    "certify": "show that a system's answers are good",
}
"""Uses, and what the judge then does."""


class CheckOptions(Settings):
    """Options of the check."""

    use: Use | None = setting(
        None,
        "Use",
        "; ".join(f"{name}: {what}" for name, what in USES.items()),
        words={"": "replace with three raters or more, else gate"},
    )
    margin: float = setting(
        0.1,
        "Margin",
        "for replace and gate: how much worse than a person the judge may be, in shares of answers and in correlations",
        above=0,
        below=1,
        step=0.01,
    )
    kept_share: float = setting(
        0.75,
        "Kept share",
        "for replace and gate: smallest share of people's own agreement above chance, or correlation, that the judge keeps",
        above=0,
        at_most=1,
        step=0.05,
        folded=True,
    )
    tolerance: float = setting(
        0.05,
        "Tolerance",
        "for monitor: largest bias, as a share of the scale",
        above=0,
        below=1,
        step=0.01,
    )
    least_responsive: float = setting(
        0.75,
        "Least responsive",
        "for monitor: how far the judge must move at least when quality moves by 1",
        above=0,
        at_most=1,
        step=0.05,
        folded=True,
    )
    most_responsive: float = setting(
        1.25,
        "Most responsive",
        "for monitor: how far the judge may move at most when quality moves by 1",
        at_least=1,
        step=0.05,
        folded=True,
    )
    accuracy: float = setting(
        0.8,
        "Accuracy",
        "for rank: smallest share of pairs of systems in the right order",
        above=0,
        at_most=1,
        step=0.05,
    )
    target: float = setting(
        0.9,
        "Target",
        "for certify: smallest share of a system's answers that must be good",
        above=0,
        below=1,
        step=0.01,
    )
    population: Literal["like-these", "these"] = setting(
        "like-these",
        "Answers meant",
        "for certify: like-these: all answers that the system gives to such questions; these: only those in the file",
        words={"like-these": "All like these", "these": "Only these"},
        folded=True,
    )
    epsilon: float = setting(
        0.2, "Epsilon", "for replace: price of a rater in the Alt-test", at_least=0, below=1, step=0.05
    )
    passes_from: str | None = setting(
        None,
        "Passes from",
        "for gate and replace: the lowest rating that passes, a number or a word, so that ordered classes or scores are compared as "
        "two classes; for certify: the lowest rating of a good answer, or without an order the only one",
        metavar="RATING",
        words={"": "the scale as it is"},
    )
    critical: tuple[str, ...] = setting(
        (),
        "Critical classes",
        "for gate and replace: classes in which the judge must be shown to miss hardly more than people, such as harmful",
        listed=True,
        metavar="CLASS,...",
    )
    most_false_passes: float | None = setting(
        None,
        "Most false passes",
        "with one rater: largest share of the answers that the rater fails which the judge may pass",
        above=0,
        below=1,
        step=0.05,
        words={"": "no limit, and no trust"},
    )
    most_false_fails: float | None = setting(
        None,
        "Most false fails",
        "with one rater: largest share of the answers that the rater passes which the judge may fail",
        above=0,
        below=1,
        step=0.05,
        words={"": "no limit, and no trust"},
    )
    missing_judge: Literal["wrong", "leave-out"] = setting(
        "wrong",
        "Missing scores",
        "labelled texts without a score of the judge: wrong: they count as its errors; leave-out: they do not count",
        words={"wrong": "Count as errors", "leave-out": "Do not count"},
    )
    labels_chosen: Literal["at-random", "by-judge"] | None = setting(
        None,
        "Labels were chosen",
        "how the labelled texts were chosen: at-random, or by-judge: by the judge's answer, so that each answer is weighted "
        "by how many texts have it",
        words={"": "not said", "at-random": "At random", "by-judge": "By the judge's answer"},
    )
    ceiling: float | None = setting(
        None,
        "Human ceiling",
        "human ceiling to show where no text has two raters; it decides nothing",
        above=0,
        at_most=1,
        step=0.05,
    )
    confidence_level: float = setting(
        0.9,
        "Confidence level",
        "confidence level of intervals; the rules have their own",
        above=0,
        below=1,
        option="confidence",
        step=0.01,
        folded=True,
    )
    n_resamples: int = resamples_setting(2_000)
    rng: int = rng_setting()

    def idle(self, backend: str) -> frozenset[str]:
        """The limits of other uses, once a use is chosen."""
        if self.use is None:
            return frozenset()
        return frozenset(name for limits in LIMITS.values() for name in limits) - {*LIMITS[self.use]}

    @field_validator("passes_from", mode="before")
    @classmethod
    def _rating_as_text(cls, value: object) -> object:
        """A rating may be a number, which is compared as users write it."""
        return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else value


class Priced(Settings):
    """What the user states about judges whose price or time no run has recorded."""

    price: dict[str, float] = setting(
        {},
        "Price",
        "what 1,000 texts cost with a judge (default: what its run cost)",
        at_least=0,
        metavar="JUDGE=MONEY",
        folded=True,
    )
    seconds: dict[str, float] = setting(
        {},
        "Seconds",
        "how long a judge takes for 1,000 texts (default: as in its run)",
        at_least=0,
        metavar="JUDGE=SECONDS",
        folded=True,
    )
    currency: str = setting("", "Currency", "currency of all prices, such as USD", folded=True)


DEFAULT_OPTIONS = CheckOptions()
LIMITS: Mapping[Use, tuple[str, ...]] = {
    "replace": (
        "margin",
        "kept_share",
        "epsilon",
        "passes_from",
        "critical",
        "missing_judge",
        "labels_chosen",
    ),
    "gate": (
        *("margin", "kept_share", "passes_from", "critical", "most_false_passes", "most_false_fails"),
        *("missing_judge", "labels_chosen", "ceiling"),
    ),
    "rank": ("accuracy",),
    "monitor": ("tolerance", "least_responsive", "most_responsive"),
    "certify": ("target", "passes_from", "population"),
}
"""The options that matter for each use."""
