"""Turn what statistics return into cells, numbers and notes of result tables."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from core.schema.result_table import Column, Interval
from core.stats.multiplicity import CORRECTIONS, Correction
from core.stats.resampling import NO_RESAMPLES, NO_WIDTH, Estimate, Share
from core.tables.reading import shown

NOT_COMPUTED = "not computed"
_MOST_NAMED = 12


def interval(estimate: Estimate | None, why_none: str = NOT_COMPUTED) -> Interval:
    """An estimate as a cell. why_none: the reason to show where there is no estimate at all."""
    if estimate is None:
        return Interval(None, reason=why_none)
    why = "" if estimate.interval_reason == NO_RESAMPLES else estimate.interval_reason or ""
    return Interval(
        estimate.estimate,
        estimate.low,
        estimate.high,
        n=estimate.n,
        n_left_out=estimate.n_left_out,
        reason=estimate.reason or "",
        interval_reason=why if estimate.low is None else "",
    )


def drawn_how(cell: Interval, estimate: Estimate, *others: str) -> Interval:
    """The cell with what JSON adds: how its interval was drawn. others: further fields of the estimate."""
    names = ("confidence_level", "n_resamples", "n_undefined", "monte_carlo_error", *others)
    how = (("interval_reason", why_no_width(estimate)), *((name, getattr(estimate, name)) for name in names))
    return replace(cell, how=how)


def counted_how(cell: Interval, estimate: Estimate) -> Interval:
    """The same with the numbers of units used and left out."""
    return drawn_how(cell, estimate, "n", "n_left_out")


def why_no_width(estimate: Estimate) -> str | None:
    """Why there is no interval, or why it has no width."""
    has_none = estimate.low is not None and estimate.low == estimate.high
    return NO_WIDTH if has_none else estimate.interval_reason


def width_warned(cell: Interval) -> Interval:
    """The cell with a warning if its interval has no width, as from two rows or two systems."""
    return replace(cell, interval_reason=NO_WIDTH) if cell.low is not None and cell.low == cell.high else cell


def item_mean(estimate: Estimate | None) -> Interval:
    """A mean over items; the cell shows how many were used where some were left out."""
    return (
        interval(estimate)
        if estimate is None or estimate.estimate is None
        else _interval_on(estimate, estimate.n_clusters, "items")
    )


def share_of(estimate: Estimate, what: str) -> Interval:
    """A share of items or texts; the cell shows how many were used where some were left out."""
    return _interval_on(estimate, estimate.n, what)


def _interval_on(estimate: Estimate, n: int, what: str) -> Interval:
    beside = f"({n} of {n + estimate.n_left_out} {what})" if n and estimate.n_left_out else ""
    return replace(interval(estimate), beside=beside)


def counted_share(share: Share) -> Interval:
    """A share with its Wilson interval; the cell shows the count and the total, too."""
    beside = f"({share.count:,} of {share.n:,})" if share.n else ""
    return Interval(share.share, share.low, share.high, n=share.n, reason=share.reason or "", beside=beside)


def rows_covered(names: Sequence[str], n_rows: int) -> str:
    """The rows that a note covers, ` for a, b and 3 more`; empty if it covers all or rows have no name."""
    if len(names) == n_rows or not any(names):
        return ""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f" for {', '.join(map(shown, names[:_MOST_NAMED]))}{more}"


def left_out_notes(rows: Sequence[tuple[str, Mapping[str, int]]], things: str) -> tuple[str, ...]:
    """One sentence for each reason to leave something out. rows: name and counts by reason; things: plural noun."""
    found: dict[str, list[tuple[str, int]]] = {}
    for name, counts in rows:
        for reason, n in counts.items():
            found.setdefault(reason, []).append((name, n))
    notes = []
    for reason, named in found.items():
        fewest, most = min(n for _, n in named), max(n for _, n in named)
        count = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
        where = rows_covered([name for name, _ in named], len(rows))
        notes.append(
            f"Left out{where}: {reason}: {count} {things if most != 1 else things.removesuffix('s')}"
        )
    return tuple(notes)


def resampled(confidence_level: float) -> str:
    """The note that describes a table's intervals."""
    return f"Intervals: {confidence_level:.0%}, percentile bootstrap over items."


def each_for_itself(n: int) -> tuple[str, ...]:
    """The note on several intervals without a correction, as a tuple; empty for one row."""
    return (
        ("Each interval holds by itself: of twenty 95 % intervals, about one misses its value.",)
        if n > 1
        else ()
    )


def left_out_lines(left_out: Mapping[str, int], whose: str = "") -> list[str]:
    """One note for each reason to leave something out; whose: the result that lacks it."""
    return [f"{whose and f'{whose}: '}left out: {n:,}: {reason}" for reason, n in left_out.items()]


_CORRECTED: Mapping[Correction, str] = {
    "holm": "p_holm",
    "benjamini-hochberg": "p_bh",
    "benjamini-yekutieli": "p_by",
}


def p_said(value: float) -> str:
    """A p in a sentence: `p = 0.012`, or `p below 0.001`."""
    return "p below 0.001" if value < 0.001 else f"p = {decimal(value, 3)}"


def corrected_column(
    correction: Correction, n_tests: int, *, places: int = 3, of: str = "", title: str = ""
) -> Column:
    """The column of p-values corrected for the tests of a table; hidden from readers where there is one test.

    of: what is tested, where a table tests several things: it precedes the column's name, `title` its heading.
    """
    return Column(
        f"{of and f'{of}_'}{_CORRECTED[correction]}",
        f"{title and f'{title}: '}{CORRECTIONS[correction]} p",
        places=places,
        shown=n_tests > 1,
        p_value=True,
    )


def corrected_note(correction: Correction, n_tests: int, family: str) -> tuple[str, ...]:
    """The note that names the correction and its tests, as a tuple; empty for one test. family: such as `every two judges`."""
    if n_tests < 2:
        return ()
    return (f"{CORRECTIONS[correction]} p: corrected for {n_tests:,} tests ({family}).",)


def decimal(value: float, places: int = 3) -> str:
    """A rounded number. A rounded zero has no minus sign: the digits shown do not support one."""
    return f"{round(value, places) + 0.0:.{places}f}"


def ends_said(estimate: Estimate | None, places: int = 3) -> str:
    """A number with its interval, for sentences: `0.51 [0.40, 0.61]`; the number alone where there is no interval."""
    if estimate is None or estimate.estimate is None:
        return "undefined"
    if estimate.low is None or estimate.high is None:
        return decimal(estimate.estimate, places)
    return f"{decimal(estimate.estimate, places)} [{decimal(estimate.low, places)}, {decimal(estimate.high, places)}]"


def percent_said(estimate: Estimate | None) -> str:
    """A share with its interval, for sentences: `67 % [54, 78]`; the share alone where there is no interval."""
    if estimate is None or estimate.estimate is None:
        return "an unknown share"
    share = f"{100 * estimate.estimate:.0f} %"
    if estimate.low is None or estimate.high is None:
        return share
    return f"{share} [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]"


def fitted(value: float, low: float | None, high: float | None, n: int | None, places: int) -> int:
    """Return how many decimals an estimate deserves: those that its interval, or n without one, leaves a meaning.

    Two significant digits of the interval's width; at least two decimals for what lies between -1 and 1, so that
    0.512 [0.401, 0.611] becomes 0.51 [0.40, 0.61]. An interval of no width, as of two equal pairs, says nothing: n
    decides, as for a share or a correlation (about 2 / sqrt(n)). places: the most.

    >>> fitted(0.512, 0.401, 0.611, 40, 3), fitted(0.512, 0.501, 0.52, 4000, 3), fitted(0.0, 0.0, 0.0, 2, 3)
    (2, 3, 2)
    """
    width = 0.0 if low is None or high is None else abs(high - low)
    small = abs(value) <= 1
    if width < 10**-places and n and small:
        width = 2 / math.sqrt(n)
    if not 0 < width < math.inf:
        return places
    return min(places, max(1 - math.floor(math.log10(width)), 2 if small else 0))


def ends(estimate: Estimate | None, why_none: str = "") -> dict[str, Any]:
    """The estimate, both ends of its interval and why any of them is undefined; why_none: why there is no estimate."""
    if estimate is None:
        return {"estimate": None, "low": None, "high": None, "reason": why_none, "interval_reason": why_none}
    return picked(estimate, "estimate", "low", "high", "reason", "interval_reason")


def picked(result: object, *names: str) -> dict[str, Any]:
    """Some fields of a result by their names, for JSON."""
    return {name: getattr(result, name) for name in names}


def plain(value: Any) -> Any:
    """Return a result as JSON values: dataclasses as objects of their fields, NaN and infinity as null."""
    if isinstance(value, Estimate):
        return {**ends(value), "n": value.n, "n_left_out": value.n_left_out}
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(one) for one in value]
    return value
