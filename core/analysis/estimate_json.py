"""An estimate as the documented JSON (docs/formats.md), the same in every report."""

from typing import Any

from core.stats.resampling import Estimate


def ends(estimate: Estimate) -> dict[str, Any]:
    """The estimate with both ends of its interval, and why one or the other is undefined."""
    return {
        "estimate": estimate.estimate,
        "low": estimate.low,
        "high": estimate.high,
        "reason": estimate.reason,
        "interval_reason": estimate.interval_reason,
    }
