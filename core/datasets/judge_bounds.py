"""What a judge's records, scores and settings may hold beyond their types: how far numbers go, what comes once.

Whatever reads them makes tables by repeat and means of verdicts: a repeat of 10**30 would be a table of that size, and
a trial that stands twice would count once.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TypeVar

from core.datasets.checked_json import number_problem, written
from core.datasets.reading import name_of, name_problem, shown
from core.schema.judges import (
    HIGHEST_VERDICT,
    MOST_REPEATS,
    SETTING_BOUNDS,
    AutoMqmRecord,
    CefRecord,
    DirectRecord,
    ExampleUsed,
    FoundError,
    JudgedText,
    QualityRecord,
    Record,
    RubricRecord,
)
from core.schema.runs import RATED_KINDS, JudgeKind
from core.schema.scores import Metric

LOWEST_CONCISENESS = -1e9
"""Far below what a text of any length has."""
MOST_ERRORS = 10**6
"""That one example can show."""
_PLACES = 9
"""After the point: by less than these a mean of shares may miss 0 or 1."""
FURTHEST_SCORE = 1e9
"""From 0, of scales that people define and of the weights of all errors in a text."""
_TRUTHS = ("reask", "filtered")
_LISTS = ("only",)
Key = TypeVar("Key", bound=Hashable)


def record_problems(record: Record, text: str | None = None) -> Iterator[str]:
    """What is wrong with a record whose types are right, each with its field; entries are numbered from 1.

    text: that was judged, inside which errors have to lie; None: not known.
    """
    if isinstance(record, RubricRecord):
        yield from _repeat_problems("trials", [one.repeat for one in record.trials])
        for n, trial in enumerate(record.trials, start=1):
            problem = trial.verdict is not None and number_problem(trial.verdict, 0, HIGHEST_VERDICT)
            if problem:
                yield f"trials, {n}, verdict: {problem}"
        asked = [(trial.order, trial.repeat) for trial in record.trials]
        yield from (
            f"trials, {n}: a second one with the order {order} and the repeat {written(repeat)}"
            for n, (order, repeat) in _again(asked)
        )
    elif isinstance(record, CefRecord):
        repeats = [one.repeat for one in record.examinations]
        yield from _repeat_problems("examinations", repeats)
        yield from (
            f"examinations, {n}: a second one with the repeat {written(repeat)}"
            for n, repeat in _again(repeats)
        )
    elif isinstance(record, AutoMqmRecord):
        yield from _repeats_once([one.repeat for one in record.trials])
        for n, marking in enumerate(record.trials, start=1):
            yield from _example_problems(f"trials, {n}, examples", marking.examples)
            for at, error in enumerate(marking.errors or (), start=1):
                if problem := _place_problem(error, text):
                    yield f"trials, {n}, errors, {at}: {problem}"
    elif isinstance(record, DirectRecord):
        yield from _repeats_once([one.repeat for one in record.trials])
        for n, scoring in enumerate(record.trials, start=1):
            yield from _example_problems(f"trials, {n}, examples", scoring.examples)
            yield from _given_problems(n, scoring.score)
    elif isinstance(record, QualityRecord):
        yield from _repeat_problems("trials", [one.repeat for one in record.trials])
        yield from _example_problems("examples", record.examples)
        for n, rating in enumerate(record.trials, start=1):
            yield from _given_problems(n, rating.score)
        given = [(rating.dimension, rating.repeat) for rating in record.trials]
        yield from (
            f"trials, {n}: a second one with the dimension {shown(dimension)} and the repeat {written(repeat)}"
            for n, (dimension, repeat) in _again(given)
        )


def score_problems(text: JudgedText, kind: JudgeKind, names: Sequence[str]) -> Iterator[str]:
    """What is wrong between a text's scores and the judge's metrics. names: of these metrics."""
    yield from (f"scores: {shown(name)} is missing" for name in names if name not in text.scores)
    for given, column in (("scores", text.scores), ("reasons", text.reasons)):
        yield from (
            f"{given}: {shown(name)} is none of {', '.join(map(shown, names))}"
            for name in column
            if name not in names
        )
    for name in names:
        score = text.scores.get(name)
        if score is None:
            continue
        if abs(score) == float("inf"):
            yield f"scores: {shown(name)} is infinite"
        elif problem := number_problem(round(score, _PLACES), *_score_bounds(kind, name)):
            yield f"scores: {shown(name)} {problem}"


def settings_problems(settings: Mapping[str, object]) -> Iterator[str]:
    """What is wrong with a judge's own settings, of those that are there."""
    for name, value in settings.items():
        if name in SETTING_BOUNDS:
            if problem := number_problem(value, *SETTING_BOUNDS[name]):
                yield f"{name}: {problem}"
        elif name in _TRUTHS:
            if not isinstance(value, bool):
                yield f"{name}: is {written(value)}, expected true or false"
        elif name in _LISTS:
            if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                yield f"{name}: is {written(value)}, expected a list of texts"
        elif not isinstance(value, str):
            yield f"{shown(name)}: is {written(value)}, expected a text"


def metric_problems(metrics: Sequence[Metric]) -> Iterator[str]:
    """Names that are none, or stand twice: whose score it is could not be told."""
    yield from (
        f"metrics, {n}, name: {name_problem(metric.name)}"
        for n, metric in enumerate(metrics, start=1)
        if name_of(metric.name) is None
    )
    yield from (
        f"metrics, {n}: a second one with the name {shown(name)}"
        for n, name in _again([metric.name for metric in metrics])
    )


def _score_bounds(kind: JudgeKind, name: str) -> tuple[float, float]:
    if kind == "rubric":
        return 0.0, float(HIGHEST_VERDICT)
    if kind in RATED_KINDS:
        return -FURTHEST_SCORE, 0.0 if kind == "automqm" else FURTHEST_SCORE
    return (LOWEST_CONCISENESS if kind == "cef" and name.endswith("conciseness") else 0.0), 1.0


def _repeat_problems(name: str, repeats: Sequence[int]) -> Iterator[str]:
    for n, repeat in enumerate(repeats, start=1):
        if problem := number_problem(repeat, 0, MOST_REPEATS - 1):
            yield f"{name}, {n}, repeat: {problem}"


def _repeats_once(repeats: Sequence[int]) -> Iterator[str]:
    yield from _repeat_problems("trials", repeats)
    yield from (
        f"trials, {n}: a second one with the repeat {written(repeat)}" for n, repeat in _again(repeats)
    )


def _example_problems(name: str, examples: Sequence[ExampleUsed]) -> Iterator[str]:
    for n, example in enumerate(examples, start=1):
        if problem := number_problem(example.n_errors, 0, MOST_ERRORS):
            yield f"{name}, {n}, n_errors: {problem}"


def _given_problems(n: int, score: float | None) -> Iterator[str]:
    problem = score is not None and number_problem(score, -FURTHEST_SCORE, FURTHEST_SCORE)
    if problem:
        yield f"trials, {n}, score: {problem}"


def _place_problem(error: FoundError, text: str | None) -> str | None:
    """Why an error stands nowhere that it could; None: it does."""
    found = error.located in ("exact", "nearest")
    if error.start is None or error.end is None:
        if error.start is not None or error.end is not None:
            return "start and end are only there together"
        return "start is missing, of an error that was found" if found else None
    if not found:
        return f"start is {written(error.start)}, of an error that was not found"
    if not 0 <= error.start <= error.end:
        return f"start and end ({written(error.start)}, {written(error.end)}) are not two places in order"
    if text is not None and error.end > len(text):
        return f"end is {written(error.end)}, and the text has {len(text)} characters"
    return None


def _again(keys: Sequence[Key]) -> Iterator[tuple[int, Key]]:
    """Keys that came before, with their number."""
    seen: set[Key] = set()
    for n, key in enumerate(keys, start=1):
        if key in seen:
            yield n, key
        seen.add(key)
