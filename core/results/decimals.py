"""How a number of a result is written, on pages, in figures, at a terminal and in JSON."""

from typing import Any

from core.stats.resampling import Estimate


def decimal(value: float, places: int = 3) -> str:
    """Rounded; never a minus before a zero, which would claim a sign that the digits do not show."""
    return f"{round(value, places) + 0.0:.{places}f}"


def ends(estimate: Estimate | None, why_none: str = "") -> dict[str, Any]:
    """The estimate with both ends of its interval, and why one or the other is undefined; why_none: why all of it is."""
    if estimate is None:
        return {"estimate": None, "low": None, "high": None, "reason": why_none, "interval_reason": why_none}
    return {
        "estimate": estimate.estimate,
        "low": estimate.low,
        "high": estimate.high,
        "reason": estimate.reason,
        "interval_reason": estimate.interval_reason,
    }
