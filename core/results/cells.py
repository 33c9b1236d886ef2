"""Cells of result tables, made from what statistics return."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.schema.result_table import Cell, Column, Interval
from core.stats.resampling import NO_RESAMPLES, Estimate
from core.stats.shares import Share

NOT_COMPUTED = "not computed"


def interval(found: Estimate | None, why_none: str = NOT_COMPUTED) -> Interval:
    """An estimate as a cell; why_none: the reason where there is no estimate at all."""
    if found is None:
        return Interval(None, reason=why_none)
    why = "" if found.interval_reason == NO_RESAMPLES else found.interval_reason or ""
    return Interval(
        found.estimate,
        found.low,
        found.high,
        n=found.n,
        n_left_out=found.n_left_out,
        reason=found.reason or "",
        interval_reason=why if found.low is None else "",
    )


def over_items(found: Estimate | None) -> Interval:
    """A mean over items; where some have no part in it, readers see on how many it rests."""
    cell = interval(found)
    if found is None or found.estimate is None or not found.n_left_out:
        return cell
    return replace(cell, beside=f"({found.n_clusters} of {found.n_clusters + found.n_left_out} items)")


def share_of(found: Estimate, what: str) -> Interval:
    """A share of items or texts; where some are left out, readers see on how many it rests."""
    cell = interval(found)
    if not found.n or not found.n_left_out:
        return cell
    return replace(cell, beside=f"({found.n} of {found.n + found.n_left_out} {what})")


def share(found: Share) -> Interval:
    """A share of a count with its Wilson interval."""
    return Interval(found.share, found.low, found.high, n=found.n, reason=found.reason or "")


def counted_share(found: Share) -> Interval:
    """The same; readers see how many of how many."""
    return replace(share(found), beside=f"({found.count:,} of {found.n:,})" if found.n else "")


def row_of(found: object, columns: Sequence[Column], **other: Cell) -> tuple[Cell, ...]:
    """A row of the columns: the other cells by their names, else the result's field of that name."""
    fields = {one.name: getattr(found, one.name) for one in columns if one.name not in other} | other
    return tuple(
        interval(cell) if isinstance(cell := fields[one.name], Estimate) else cell for one in columns
    )


def resampled(confidence_level: float) -> str:
    """A note on how a table's intervals were made."""
    return f"Intervals: {confidence_level:.0%}, percentile bootstrap over items."


def left_out_notes(left_out: Mapping[str, int], whose: str = "") -> list[str]:
    """A note for each reason why something has no part in a result; whose: what it was left out of."""
    return [f"{whose and f'{whose}: '}left out: {n:,}: {reason}" for reason, n in left_out.items()]
