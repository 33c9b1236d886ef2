"""What people said about the outputs in an mt-metrics-eval folder: scores, and errors marked in the texts."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import regex

from core.datasets.folder_ratings import BY_RATER
from core.datasets.mqm_weights import score_of
from core.datasets.mt_files import Folder, MarkedSegment, read_numbers, read_spans
from core.datasets.mt_pair import OF_REFERENCE, MtPair
from core.schema.scores import Rating, RatingSet

NOT_RATED = "nobody rated it"
NEARLY = 1e-6
"""Scores nearer than this are taken for the same number, written twice."""
_OF_RATER = regex.compile(r"(?P<name>.+)\.(?P<rater>rater[-_]?(?:\d+|[A-Z]))")
_UNMARKED = MarkedSegment(None)


@dataclass(frozen=True)
class Said:
    """What one file, or a score with its file of errors, says of the systems' segments."""

    numbers: Mapping[str, list[float]]
    spans: Mapping[str, list[MarkedSegment]]
    rater: str | None = None
    """Who said all of it; None: nobody is named, or each line names its own."""


@dataclass(frozen=True)
class _Source:
    """The files of one human score, or of one rater."""

    score: Path | None
    errors: list[Path]
    rater: str | None = None


def read_ratings_of(folder: Folder, pair: MtPair) -> dict[str, list[Said]]:
    """Name of a human score -> what is said under it, one entry; of files of single raters one entry a rater."""
    return {
        name: [_said(folder, pair, source) for source in sources]
        for name, sources in sources_of(folder, pair.name).items()
    }


def sources_of(folder: Folder, pair: str) -> dict[str, list[_Source]]:
    """Name of a human score -> its files. Those of single raters have a name together, such as mqm.raters.

    A file of errors explains the score that its name begins with: mqm.merged belongs to mqm, where there is one.
    """
    scores, errors = _human_files(folder, pair, ".seg.score"), _human_files(folder, pair, ".seg.rating")
    found: dict[str, list[_Source]] = {}
    by_rater: dict[str, list[_Source]] = {}
    for stem in dict.fromkeys([*scores, *errors]):
        if single := _OF_RATER.fullmatch(stem):
            own = [errors[stem]] if stem in errors else []
            name = f"{single['name']}.{BY_RATER}"
            by_rater.setdefault(name, []).append(_Source(scores.get(stem), own, single["rater"]))
        elif stem in scores:
            found[stem] = [_Source(scores[stem], [])]
        if stem in errors and not single:
            owners = [name for name in found if stem == name or stem.startswith(f"{name}.")]
            owner = found.setdefault(max(owners, key=len, default=stem), [_Source(None, [])])
            owner[0].errors.append(errors[stem])
    return found | by_rater


def _said(folder: Folder, pair: MtPair, source: _Source) -> Said:
    numbers: dict[str, list[float]] = {}
    if source.score is not None:
        numbers = read_numbers(folder, source.score, pair.expected, finite=True)
    spans: dict[str, list[MarkedSegment]] = {}
    for path in source.errors:
        spans |= read_spans(folder, path, pair.expected, pair.sources, pair.texts)
    return Said(numbers or _sums(spans), spans, source.rater)


def _human_files(folder: Folder, pair: str, end: str) -> dict[str, Path]:
    paths = folder.names("human-scores", f"{pair}.*{end}")
    return {path.name.removeprefix(f"{pair}.").removesuffix(end): path for path in paths}


def _sums(spans: Mapping[str, list[MarkedSegment]]) -> dict[str, list[float]]:
    """Minus the weights of the errors, those in the source too: what a score of errors is."""
    return {
        system: [math.nan if own.errors is None else score_of(own.errors) for own in segments]
        for system, segments in spans.items()
    }


def rating_set(pair: MtPair, name: str, said: Sequence[Said], sha256: str) -> RatingSet:
    """The ratings of the systems; those of references, and segments that nobody rated, are counted."""
    ratings, left_out, differ = [], Counter[str](), 0
    unrated: dict[tuple[str, int], bool] = {}
    for one in said:
        for system, scores in one.numbers.items():
            marked = one.spans.get(system, [_UNMARKED] * len(scores))
            for number, (score, own) in enumerate(zip(scores, marked, strict=True)):
                if pair.is_reference(system):
                    left_out[OF_REFERENCE] += not math.isnan(score)
                    continue
                unrated[system, number] = unrated.get((system, number), True) and math.isnan(score)
                if math.isnan(score):
                    continue
                differ += own.errors is not None and abs(score - score_of(own.errors)) > NEARLY
                ratings.append(
                    Rating(
                        str(number + 1),
                        score,
                        system,
                        rater=one.rater or own.rater,
                        language=pair.language,
                        labels=pair.labels[number],
                        spans=own.errors,
                    )
                )
    left_out[NOT_RATED] = sum(unrated.values())
    notes = [f"{differ} scores are not minus the sum of their errors' weights"] if differ else []
    file_name = f"{pair.name}.{name}.seg.{'rating' if name.endswith(BY_RATER) else 'score'}"
    return RatingSet(
        tuple(ratings), sha256, file_name, tuple(notes), {k: n for k, n in left_out.items() if n}
    )
