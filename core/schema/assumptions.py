"""What is assumed of votes while none are there, and what a bound on them is held against: options that planning and a design share."""

from dataclasses import dataclass
from typing import Any

from core.schema.settings import Settings, setting


@dataclass(frozen=True)
class Assumption:
    """A number from which components of a vote are stated."""

    name: str
    """Parameter of `stats.planning.stated_components`."""
    default: float
    label: str
    help: str
    range: tuple[float, float] | None = None
    """Values between which it usually is, for a range of numbers of questions; None: it hardly changes them."""


ASSUMPTIONS = (
    Assumption(
        "decided",
        0.5,
        "Votes that choose a side",
        "share of votes that choose one of the two answers",
        (0.3, 0.8),
    ),
    Assumption(
        "question_correlation",
        0.3,
        "Alike within a question",
        "correlation of two raters' votes on two levels of a question: 0 if questions do not matter",
        (0.1, 0.5),
    ),
    Assumption(
        "agreement", 0.4, "Agreement on a pair", "correlation of two raters' votes on one pair", (0.2, 0.6)
    ),
    Assumption(
        "own_view",
        0.05,
        "A rater's own view of a question",
        "correlation that two votes of one rater on a question have beyond that",
    ),
    Assumption(
        "rater_sd",
        0.1,
        "Spread of raters",
        "standard deviation of raters' mean votes: 0.1 puts two thirds of raters within 0.1 of the mean",
    ),
)


def _assumed(name: str) -> Any:
    """Declare the field of an assumption, which is empty where another source of components may take its place."""
    of = next(one for one in ASSUMPTIONS if one.name == name)
    words = {"": f"{of.default:g}"}
    return setting(None, of.label, of.help, at_least=0, at_most=1, step=0.05, words=words, folded=True)


def margin_setting(help: str, usual: str) -> Any:
    """By how much a candidate may be worse, on the scale of votes from -1 to 1. usual: what an empty field means."""
    return setting(None, "Margin", help, above=0, below=2, step=0.01, words={"": usual})


def bound_level_setting(label: str, help: str, usual: str, **how: Any) -> Any:
    """The level of a one-sided bound. usual: what an empty field means; how: further words of `setting`."""
    return setting(
        None, label, help, above=0.5, below=1, option="confidence", step=0.01, words={"": usual}, **how
    )


class VoteAssumptions(Settings):
    """Assumptions as options of an analysis. None: the usual one."""

    decided: float | None = _assumed("decided")
    question_correlation: float | None = _assumed("question_correlation")
    agreement: float | None = _assumed("agreement")
    own_view: float | None = _assumed("own_view")
    rater_sd: float | None = _assumed("rater_sd")

    @property
    def stated(self) -> dict[str, float]:
        """Those that differ from the usual ones, or repeat them: name -> number."""
        values = {one.name: getattr(self, one.name) for one in ASSUMPTIONS}
        return {name: value for name, value in values.items() if value is not None}
