"""Settings that several judges have."""

from typing import Any

from core.schema.settings import setting

MOST_REPEATS = 100
"""Times that a judge may be asked the same of one text."""
LARGEST_SEED = 2**53 - 1
"""Larger whole numbers are not the same in every program that reads JSON."""


def temperature_setting() -> Any:
    """How freely the model answers."""
    return setting(
        0.0,
        "Temperature",
        "of the model's answers; 0: the likeliest answer, so that repeats differ only on a server that varies by itself",
        within=(0.0, 2.0),
        step=0.1,
    )


def seed_setting(of: str = "seed of the first repeat; later repeats add 1") -> Any:
    """Of all that is drawn."""
    return setting(0, "Seed", of, within=(0, LARGEST_SEED))


def repeats_setting(help: str) -> Any:
    """How often all is asked again; the score is the mean."""
    return setting(1, "Repeats", help, within=(1, MOST_REPEATS))
