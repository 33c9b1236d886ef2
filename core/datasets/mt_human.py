"""What people said about the outputs in an mt-metrics-eval folder: scores, and errors marked in the texts."""

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from core.datasets.mqm_weights import score_of
from core.datasets.mt_files import Folder, read_numbers, read_spans
from core.datasets.mt_pair import MtPair
from core.schema.scores import ErrorSpan, Rating, RatingSet

OF_REFERENCE = "of a reference, not of a system"
NOT_RATED = "nobody rated it"
NEARLY = 1e-6
"""Scores nearer than this are taken for the same number, written twice."""

Spans = dict[str, list[tuple[ErrorSpan, ...] | None]]


def read_ratings_of(folder: Folder, pair: MtPair) -> dict[str, tuple[dict[str, list[float]], Spans]]:
    """Name of a human score -> its numbers and its error spans."""
    scores = _human_files(folder, pair.name, ".seg.score")
    ratings = _human_files(folder, pair.name, ".seg.rating")
    owner = {stem: _owner(stem, scores) for stem in ratings}
    found = {}
    for name in dict.fromkeys([*scores, *owner.values()]):
        numbers = read_numbers(folder, scores[name], pair.expected, finite=True) if name in scores else {}
        spans: Spans = {}
        for stem in [stem for stem, own in owner.items() if own == name]:
            spans |= read_spans(folder, ratings[stem], pair.expected, pair.sources, pair.texts)
        found[name] = (numbers or _sums(spans), spans)
    return found


def _human_files(folder: Folder, pair: str, end: str) -> dict[str, Path]:
    paths = folder.names("human-scores", f"{pair}.*{end}")
    return {path.name.removeprefix(f"{pair}.").removesuffix(end): path for path in paths}


def _owner(stem: str, scores: Mapping[str, Path]) -> str:
    """The score that a file of errors explains: mqm.merged belongs to mqm; itself where there is none."""
    own = [name for name in scores if stem == name or stem.startswith(f"{name}.")]
    return max(own, key=len, default=stem)


def _sums(spans: Spans) -> dict[str, list[float]]:
    """Minus the weights of the errors, those in the source too: what a score of errors is."""
    return {
        system: [math.nan if own is None else score_of(own) for own in segments]
        for system, segments in spans.items()
    }


def rating_set(
    pair: MtPair, name: str, numbers: Mapping[str, list[float]], spans: Spans, sha256: str
) -> RatingSet:
    """The ratings of the systems; those of references, and segments that nobody rated, are counted."""
    ratings, left_out, differ = [], Counter[str](), 0
    for system, scores in numbers.items():
        for number, score in enumerate(scores):
            if pair.is_reference(system):
                left_out[OF_REFERENCE] += not math.isnan(score)
                continue
            if math.isnan(score):
                left_out[NOT_RATED] += 1
                continue
            errors = spans[system][number] if system in spans else None
            differ += errors is not None and abs(score - score_of(errors)) > NEARLY
            labels = pair.labels[number]
            ratings.append(
                Rating(str(number + 1), score, system, language=pair.language, labels=labels, spans=errors)
            )
    notes = [f"{differ} scores are not minus the sum of their errors' weights"] if differ else []
    file_name = f"{pair.name}.{name}.seg.score"
    return RatingSet(
        tuple(ratings), sha256, file_name, tuple(notes), {k: n for k, n in left_out.items() if n}
    )
