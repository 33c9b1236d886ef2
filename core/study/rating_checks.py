"""What may be said of a text: values on offer, spans inside the text, and what is still missing."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.errors import InputError, Problems
from core.schema.scores import ErrorSpan
from core.schema.tasks import Dimension, RatingAnswer, RatingTask

MOST_SPANS = 500
"""That one rater may mark in one text."""
SPAN_DIMENSION = "mqm"
"""Under this name marked errors are a rating: minus their weights."""
_NEAR = 1e-9


def checked_scores(task: RatingTask, scores: Mapping[str, float | None]) -> dict[str, float | None]:
    """The scores as they are kept; None takes one back. Raises InputError for what the task does not ask or offer."""
    dimensions = {one.name: one for one in task.dimensions}
    problems = Problems()
    kept: dict[str, float | None] = {}
    for name, value in scores.items():
        if name not in dimensions:
            problems.append(f"{name}: this is not asked here")
        elif value is None:
            kept[name] = None
        elif (offered := offered_value(dimensions[name], value)) is None:
            problems.append(f"{dimensions[name].title}: {value!r} is not on offer")
        else:
            kept[name] = offered
    if problems:
        raise InputError("These scores cannot be saved:", problems)
    return kept


def offered_value(dimension: Dimension, value: float) -> float | None:
    """The answer on offer that a number is, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if dimension.classes:
        return next((one for one in dimension.classes if abs(one - value) < _NEAR), None)
    return float(value) if dimension.lowest <= value <= dimension.highest else None


def checked_spans(
    task: RatingTask, spans: Sequence[ErrorSpan], text: str, source_text: str
) -> tuple[ErrorSpan, ...]:
    """The spans as they are kept: each once, without weights. Raises InputError with all that cannot be.

    Offsets are in code points of the text (of the source where in_source), end exclusive.
    """
    if task.spans is None:
        raise InputError("Errors are not marked in this study.")
    problems = Problems()
    if len(spans) > MOST_SPANS:
        problems.append(f"{len(spans)} errors are more than {MOST_SPANS}")
    for number, span in enumerate(spans[:MOST_SPANS], start=1):
        problems += [
            f"error {number}: {problem}" for problem in _span_problems(task, span, text, source_text)
        ]
    if problems:
        raise InputError("These errors cannot be saved:", problems)
    return tuple(dict.fromkeys(replace(span, weight=None) for span in spans))


def _span_problems(task: RatingTask, span: ErrorSpan, text: str, source_text: str) -> list[str]:
    assert task.spans is not None
    problems = []
    length = len(source_text if span.in_source else text)
    whole = all(isinstance(end, int) and not isinstance(end, bool) for end in (span.start, span.end))
    if not whole or not 0 <= span.start < span.end <= length:
        problems.append(f"{span.start!r} to {span.end!r} is no part of a text of {length} characters")
    if span.in_source and not task.spans.source_side:
        problems.append("errors are marked in the text alone, not in the source")
    if span.severity not in task.spans.severities:
        problems.append(f"severity {span.severity!r} is not on offer")
    if span.category not in (task.spans.categories or ("",)):
        problems.append(f"category {span.category!r} is not on offer")
    return problems


def missing(task: RatingTask, answer: RatingAnswer) -> tuple[str, ...]:
    """What has still to be said of a text, in words; nothing of one that is reported as broken."""
    if answer.invalid:
        return ()
    left = [f"a score for {one.title}" for one in task.dimensions if one.name not in answer.scores]
    if task.spans is not None and not answer.spans and not answer.no_errors:
        left.append("the errors, or that there are none")
    return tuple(left)
