"""Estimates and scores of judges as words: shares in percent, what is undefined with its reason."""

from dataclasses import replace

from core.judges.kind import JudgeKind
from core.results.correlations.acc23 import AccuracyTest
from core.results.spans.agreement import SpanTest
from core.runs.kinds import KINDS
from core.schema.scores import Metric, ScoredRow
from core.stats.resampling import Estimate
from core.stats.shares import Share
from pages.components.numbers import UNDEFINED, interval, number, percent


def value(found: Estimate | None) -> str:
    """The estimate, or why there is none."""
    if found is None:
        return "not computed"
    return f"{UNDEFINED}: {found.reason}" if found.estimate is None else number(found.estimate)


def ends(found: Estimate | None) -> str:
    """Both ends of its interval; empty where there is no estimate."""
    return "" if found is None or found.estimate is None else interval(found.low, found.high)


def with_ends(found: Estimate | None) -> str:
    """The estimate with its interval, or why there is none."""
    return f"{value(found)} {ends(found)}".strip()


def in_percent(found: Estimate | Share) -> str:
    """A share or a rate in percent with its interval, or why there is none."""
    share = found.share if isinstance(found, Share) else found.estimate
    if share is None:
        return f"{UNDEFINED}: {found.reason}"
    if found.low is None or found.high is None:
        return _percent(share)
    return f"{_percent(share)} [{_percent(found.low)}, {_percent(found.high)}]"


def factor_of(metric: Metric) -> float:
    """What its scores are multiplied with to be shown: some judges' are in percent, as their paper prints them."""
    judges = (kind for kind in KINDS.values() if isinstance(kind, JudgeKind))
    return 100.0 if any(one.in_percent and one.family == metric.family for one in judges) else 1.0


def times(found: Estimate | None, factor: float) -> Estimate | None:
    """The same estimate on a scale that is wider by the factor."""
    if found is None or found.estimate is None:
        return found
    low = None if found.low is None else factor * found.low
    high = None if found.high is None else factor * found.high
    return replace(found, estimate=factor * found.estimate, low=low, high=high)


def score(found: float | None, factor: float) -> str:
    """A score of one text on the scale on which it is shown."""
    return number(found) if found is None or factor == 1.0 else f"{number(factor * found, 1)} %"


def level_said(row: ScoredRow) -> str:
    """The level behind a text's name; empty where it has none."""
    return "" if row.level is None else f", level {row.level}"


def tested(one: AccuracyTest | SpanTest) -> dict[str, str]:
    """A row on two judges: the difference and its p."""
    return {
        "First": one.first,
        "Second": one.second,
        "First minus second": number(one.test.difference),
        "p": p_value(one.test.p),
    }


def p_value(p: float | None) -> str:
    """With four decimals."""
    return UNDEFINED if p is None else number(p, 4)


def _percent(share: float) -> str:
    return percent(round(share + 0.0, 3)).replace(" ", "\u00a0")
