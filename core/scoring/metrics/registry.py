"""All metrics by name. `find_metrics` turns what a user typed into configurations."""

from collections.abc import Sequence

from core.errors import InputError
from core.scoring.metrics.scorer import MetricSpec


def all_metrics() -> tuple[MetricSpec, ...]:
    """Every configuration there is: the 28 of 000 first, in the order of its tables."""
    raise NotImplementedError


def find_metrics(names: Sequence[str]) -> tuple[MetricSpec, ...]:
    """Configurations by name, alias, or group: `lexical` and `neural` are 000's 16 and 12, `all` its 28.

    Raises InputError with all unknown names, each with the names nearest to it.
    """
    raise InputError(f"unknown: {names}")
