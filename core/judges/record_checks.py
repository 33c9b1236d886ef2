"""What a record may hold beyond its types: how far numbers go, what comes once.

Whatever reads records makes tables by repeat and means of verdicts: a repeat of 10**30 would be a table of that size, and
a trial that stands twice would count twice.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from core.datasets.checked_json import number_problem, written
from core.datasets.reading import shown
from core.judges.kind import MOST_REPEATS

FURTHEST_SCORE = 1e9
"""From 0, of scales that people define and of the weights of all errors in a text."""
ANY_SCORE = (-FURTHEST_SCORE, FURTHEST_SCORE)
Ends = tuple[float, float]
"""The smallest and the largest number; whole ones alone where both are whole."""


def trial_problems(name: str, trials: Sequence[Any], *apart: str, **bounds: Ends) -> Iterator[str]:
    """What trials of one text cannot be. name: the record's field; apart, bounds: see the two below."""
    yield from bound_problems(name, trials, repeat=(0, MOST_REPEATS - 1), **bounds)
    yield from twice_problems(name, trials, *apart)


def bound_problems(name: str, entries: Sequence[Any], **bounds: Ends) -> Iterator[str]:
    """Numbers that go too far. bounds: field of an entry -> its ends."""
    for field, ends in bounds.items():
        for n, entry in enumerate(entries, start=1):
            value = getattr(entry, field)
            if value is not None and (problem := number_problem(value, *ends)):
                yield f"{name}, {n}, {field}: {problem}"


def twice_problems(name: str, entries: Sequence[Any], *apart: str) -> Iterator[str]:
    """Entries that come a second time. apart: the fields that tell two of them apart."""
    seen = set()
    for n, entry in enumerate(entries, start=1):
        values = tuple(getattr(entry, field) for field in apart)
        if values in seen:
            named = zip(apart, values, strict=True)
            yield f"{name}, {n}: a second one with {' and '.join(f'the {one} {_said(value)}' for one, value in named)}"
        seen.add(values)


def _said(value: object) -> str:
    return written(value) if isinstance(value, int) else shown(str(value))
