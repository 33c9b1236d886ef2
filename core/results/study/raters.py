"""Raters as a sample: the verdict over raters and questions beside the verdict for these raters, and where votes differ."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core.results.cells import decimal
from core.results.study.counted import Counted
from core.schema.result_table import Interval
from core.schema.study import Design, Score
from core.stats.non_inferiority import (
    NON_INFERIOR,
    NOT_ENOUGH,
    NOT_SHOWN,
    VerdictValue,
    is_above_margin,
)
from core.stats.raters import COMPONENTS, FEWEST_RATERS, Mrmc, VarianceComponents, mrmc, variance_components
from core.stats.votes import preferences

_SCORE: Score = "net_preference"
COMPONENT_NAMES = {
    "rater": ("Rater", "some raters favour one system more than others do, on all questions"),
    "question": ("Question", "on some questions one system does better, for all raters"),
    "rater_question": ("Rater x question", "raters differ on a question, at all its levels"),
    "pair": ("Pair", "levels of one question differ, for all raters"),
    "residual": ("Residual", "everything else, also a rater's own inconsistency"),
}
"""Component -> its name on screen and what it is."""


@dataclass(frozen=True)
class RatersAsSample:
    """The mean vote with its bound over raters and questions. It stands beside the declared verdict, never in its place."""

    value: VerdictValue | None
    """Verdict over raters as a sample; None without a margin or with too few raters: the answer is for these raters."""
    names: tuple[str, ...]
    """Raters in the order of `found.raters`."""
    mrmc: Mrmc
    margin: float | None
    declared_score: Score
    components: VarianceComponents

    def to_json(self) -> dict[str, Any]:
        """The documented form (docs/formats.md), ready for json.dumps."""
        found = asdict(self.mrmc)
        raters = found.pop("raters")
        # Without spread between raters, t has infinitely many degrees of freedom, for which JSON has no number.
        df = None if found["df"] == float("inf") else found["df"]
        return {
            "value": self.value,
            "score": _SCORE,
            **found,
            "df": df,
            "raters": dict(zip(self.names, raters, strict=True)),
        }


def raters_as_sample(counted: Counted, design: Design, *, interval_level: float) -> RatersAsSample:
    """Analyse the votes that count: mean vote of each rater, bound over raters and questions, variance components.

    The bound is at the design's confidence level and is compared with the declared margin. Its score is always the net
    preference, because a composite score is not a mean over raters.
    """
    votes, questions = preferences(counted.codes), counted.questions
    found = mrmc(votes, questions, confidence_level=design.confidence_level, interval_level=interval_level)
    value: VerdictValue | None = None
    if design.margin is not None and found.bound is not None:
        value = NON_INFERIOR if is_above_margin(found.bound, design.margin) else NOT_SHOWN
    elif (
        design.margin is not None
        and found.effective_raters is not None
        and round(found.effective_raters) >= FEWEST_RATERS
    ):
        value = NOT_ENOUGH
    return RatersAsSample(
        value, counted.raters, found, design.margin, design.score, variance_components(votes, questions)
    )


def raters_said(sample: RatersAsSample, answer: str) -> str | None:
    """The verdict over raters as a sample in a few sentences; None without a vote. answer: for these raters, as a name."""
    found = sample.mrmc
    if found.mean is None:
        return None
    who = "these raters" if found.n_raters > 1 else "this rater"
    if sample.value is None and (found.low is None or found.high is None):
        return f"This answer is for {who}. It says nothing about raters as a sample ({found.reason})."
    of_all = f"{found.n_raters} raters and {found.n_questions} questions"
    if sample.value is None or sample.margin is None:
        return (
            f"This answer is for {who}. {NORMAL_SAMPLE}, their mean vote over {of_all} is {decimal(found.mean)} "
            f"[{decimal(found.low or 0.0)}, {decimal(found.high or 0.0)}] (two-sided {100 * found.interval_level:g} %)."
        )
    first = f"{answer} for {who}; over raters as a sample: {_VALUES[sample.value]}."
    if found.bound is None:
        return f"{first} The votes give no reliable bound over raters ({found.reason})."
    places = 3 if decimal(found.bound) != decimal(-sample.margin) else 6
    above = "above" if sample.value == NON_INFERIOR else "not above"
    return (
        f"{first} {NORMAL_SAMPLE}, the lower {100 * found.confidence_level:g} % bound of the net preference (mean vote) over "
        f"{of_all} is {decimal(found.bound, places)}, {above} the margin of {decimal(-sample.margin, places)}."
        f"{_other_score(sample)}"
    )


NORMAL_SAMPLE = "If raters differ like a normal sample"
"""Assumption of every bound over raters. A few raters who differ much from all others break it, and no method sees them."""
_VALUES: Mapping[VerdictValue, str] = {
    NON_INFERIOR: "not worse",
    NOT_SHOWN: "non-inferiority not shown",
    NOT_ENOUGH: "not enough information",
}


def _other_score(sample: RatersAsSample) -> str:
    if sample.declared_score == _SCORE:
        return ""
    return " The verdict for these raters is about the composite score, which is usually further from 0."


THESE, SAMPLED = "all, these raters", "all, raters as a sample"
"""Rows of the mean over raters: with an interval over questions, and over raters and questions."""


def mean_rows(sample: RatersAsSample) -> dict[str, Interval]:
    """Each rater's mean vote with its interval, then the mean of all with both of its intervals."""
    found = sample.mrmc
    rows = {
        name: Interval(
            one.mean,
            one.low,
            one.high,
            n=one.n_pairs,
            reason="" if one.mean is not None else one.interval_reason or "",
            interval_reason=one.interval_reason or "" if one.mean is not None else "",
        )
        for name, one in zip(sample.names, found.raters, strict=True)
    }
    if found.mean is None:
        return rows
    no_width = "" if found.low_questions is not None else "the votes do not vary between questions"
    rows[_free(rows, THESE)] = Interval(
        found.mean, found.low_questions, found.high_questions, n=found.n_pairs, interval_reason=no_width
    )
    rows[_free(rows, SAMPLED)] = Interval(
        found.mean, found.low, found.high, n=found.n_pairs, interval_reason=found.reason or ""
    )
    return rows


def _free(taken: Mapping[str, object], name: str) -> str:
    while name in taken:
        name += " together"
    return name


def component_shares(components: VarianceComponents) -> dict[str, tuple[float | None, float | None]]:
    """Component -> its share of the variance of one vote, and of the mean vote as designed; None where nothing varies."""
    if components.components is None or components.variance_of_mean is None:
        return {}
    one, mean = asdict(components.components), asdict(components.variance_of_mean)
    totals = sum(one.values()), sum(mean.values())
    return {
        name: (one[name] / totals[0] if totals[0] else None, mean[name] / totals[1] if totals[1] else None)
        for name in COMPONENTS
    }


def component_names(components: VarianceComponents) -> dict[str, str]:
    """Component -> its name on screen, with the components that it contains; merged ones are absent."""
    names = {}
    for name in COMPONENTS:
        if name in components.merged:
            continue
        inside = [
            COMPONENT_NAMES[other][0].lower() for other, into in components.merged.items() if into == name
        ]
        names[name] = COMPONENT_NAMES[name][0] + (f" (with {' and '.join(inside)})" if inside else "")
    return names
