"""Ratings out as files of mt-metrics-eval: NAME.seg.score and NAME.seg.rating, a line for each system and segment.

Systems follow each other, each with all segments in order; None: nobody rated it. Items have to be the numbers of the
segments, from 1. The files have no place for raters, levels and labels.
"""

import json
from collections.abc import Sequence

from core.datasets.reading import shown
from core.errors import InputError, Problems
from core.schema.scores import ErrorSpan, Rating, RatingSet

NONE = "None"
MOST_SEGMENTS = 1_000_000
"""Lines a system that are written: an item with a larger number is no segment's."""
_WRONG = "The ratings cannot be written in the form of mt-metrics-eval"


def write_seg_score(
    ratings: RatingSet, *, dimension: str | None = None, n_segments: int | None = None
) -> bytes:
    """Each text's score on one dimension: the mean over its raters.

    dimension: needed where there are several. n_segments: of the whole test set; None: as many as the largest item.
    Raises InputError.
    """
    there = list(dict.fromkeys(one.dimension for one in ratings.ratings))
    if dimension is None and len(there) > 1:
        raise InputError(_WRONG, [f"choose one dimension of {', '.join(map(shown, there))}"])
    chosen = [one for one in ratings.ratings if dimension in (None, one.dimension)]
    values = {key: repr(_mean(own)) for key, own in _by_text(chosen).items()}
    return _lines(values, n_segments)


def write_seg_rating(ratings: RatingSet, *, rater: str | None = None, n_segments: int | None = None) -> bytes:
    """Each text's errors. rater: whose, where several raters marked a text; None: the only one's.

    Raises InputError, also where an error has no weight.
    """
    chosen = [one for one in ratings.ratings if one.spans is not None and rater in (None, one.rater)]
    by_text = _by_text(chosen)
    problems = Problems(
        f"item {shown(key[1])}, system {shown(key[0])}: {len(own)} raters marked its errors; choose one"
        for key, own in by_text.items()
        if len(own) > 1
    )
    problems += (
        f"item {shown(key[1])}, system {shown(key[0])}: an error has no weight"
        for key, own in by_text.items()
        if any(span.weight is None for one in own for span in one.spans or ())
    )
    if problems:
        raise InputError(_WRONG, problems)
    values = {key: _errors(own[0].spans or ()) for key, own in by_text.items()}
    return _lines(values, n_segments)


def _by_text(ratings: Sequence[Rating]) -> dict[tuple[str, str], list[Rating]]:
    """(system, item) -> its ratings. Raises InputError where that names several texts, or no segment."""
    found: dict[tuple[str, str], list[Rating]] = {}
    problems = Problems()
    for one in ratings:
        own = found.setdefault((one.system or "output", one.item_id), [])
        if own and (own[0].level, own[0].language, own[0].labels) != (one.level, one.language, one.labels):
            problems.append(
                f"item {shown(one.item_id)}, system {shown(one.system or 'output')}: several texts, which differ in "
                "level, language or labels"
            )
        own.append(one)
    items = dict.fromkeys(item for _, item in found)
    problems += (
        f"item {shown(item)}: is no number of a segment, from 1"
        for item in items
        if not (
            item.isascii() and item.isdigit() and len(item) < 8 and str(int(item)) == item and int(item) > 0
        )
    )
    if not found:
        problems.append("there is no rating to write")
    if problems:
        raise InputError(_WRONG, problems)
    return found


def _lines(values: dict[tuple[str, str], str], n_segments: int | None) -> bytes:
    largest = max(int(item) for _, item in values)
    n = largest if n_segments is None else n_segments
    if largest > n or n > MOST_SEGMENTS:
        raise InputError(_WRONG, [f"item {largest}: there are {min(n, MOST_SEGMENTS)} segments"])
    return "".join(
        f"{system}\t{values.get((system, str(number)), NONE)}\n"
        for system in dict.fromkeys(system for system, _ in values)
        for number in range(1, n + 1)
    ).encode()


def _mean(ratings: Sequence[Rating]) -> float:
    return sum(one.score for one in ratings) / len(ratings)


def _errors(spans: Sequence[ErrorSpan]) -> str:
    errors = [
        {
            "start": span.start,
            "end": span.end,
            "category": span.category,
            "severity": span.severity,
            "score": int(span.weight)
            if span.weight is not None and span.weight.is_integer()
            else span.weight,
            "is_source_error": span.in_source,
        }
        for span in spans
    ]
    return json.dumps({"errors": errors}, ensure_ascii=False)
