"""An estimate as the documented JSON (docs/formats.md), the same in every report."""

from typing import Any

from core.stats.resampling import Estimate


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
