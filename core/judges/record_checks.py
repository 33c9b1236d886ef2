"""What a record may hold beyond its types: how far numbers go, what comes once.

Whatever reads records makes tables by repeat and means of verdicts: a repeat of 10**30 would be a table of that size, and
a trial that stands twice would count twice.
"""

from collections.abc import Iterator, Mapping, Sequence

from core.datasets.checked_json import number_problem, written
from core.datasets.reading import shown
from core.judges.kind import MOST_REPEATS

FURTHEST_SCORE = 1e9
"""From 0, of scales that people define and of the weights of all errors in a text."""


def repeat_problems(name: str, repeats: Sequence[int]) -> Iterator[str]:
    """Numbers of repeats that there cannot be."""
    for n, repeat in enumerate(repeats, start=1):
        if problem := number_problem(repeat, 0, MOST_REPEATS - 1):
            yield f"{name}, {n}, repeat: {problem}"


def twice_problems(name: str, keys: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Entries that come a second time, by what tells them apart."""
    seen = set()
    for n, key in enumerate(keys, start=1):
        values = tuple(key.values())
        if values in seen:
            said = " and ".join(f"the {what} {_said(value)}" for what, value in key.items())
            yield f"{name}, {n}: a second one with {said}"
        seen.add(values)


def score_problems(n: int, score: float | None) -> Iterator[str]:
    """A score that lies beyond any scale."""
    if score is not None and (problem := number_problem(score, -FURTHEST_SCORE, FURTHEST_SCORE)):
        yield f"trials, {n}, score: {problem}"


def _said(value: object) -> str:
    return written(value) if isinstance(value, int) else shown(str(value))
