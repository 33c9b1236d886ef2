"""Several judges that mark errors, side by side on the texts that all of them marked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.analysis.row_columns import Key, items_of
from core.analysis.span_agreement import DEFAULT_SPAN_OPTIONS, SpanOptions, at, counts_of
from core.analysis.span_segments import Paired, pair_several
from core.analysis.span_sides import PEOPLE, said_of
from core.errors import InputError
from core.schema.scores import OutputSet, Rating, RatingSet
from core.stats.correlation_tests import PairedTest
from core.stats.resampling import Floats, ratio
from core.stats.span_f1 import SpanCounts, SpanF1, span_f1, span_f1_test

NOT_BY_ALL = "not marked by all"
ONE_DRAW = "there is one draw"


@dataclass(frozen=True)
class DrawSummary:
    """One number of a judge over the draws that it was made from."""

    mean: float | None
    """None: undefined in every draw."""
    sd: float | None
    """With n - 1 (ddof 1); None: fewer than two draws have the number."""
    n: int
    """Draws that have it."""
    n_undefined: int


@dataclass(frozen=True)
class JudgeSpans:
    """One judge of several."""

    name: str
    overall: SpanF1
    """Of the counts averaged over draws; intervals resample items, so they say nothing about other draws."""
    n_draws: int
    precision: DrawSummary
    recall: DrawSummary
    f1: DrawSummary
    """Over the draws, each by itself."""
    left_out: Mapping[str, int]
    """Reason -> segments, the largest count of any draw."""


@dataclass(frozen=True)
class SpanTest:
    """Two judges on the same segments."""

    first: str
    second: str
    test: PairedTest
    """Of F1, all of an item's texts changing places together; two-sided."""


@dataclass(frozen=True)
class SpanComparison:
    """All judges on the segments that all draws of all of them marked."""

    gold: str
    judges: tuple[JudgeSpans, ...]
    tests: tuple[SpanTest, ...]
    """Every pair once, in the order of the judges."""
    n_segments: int
    n_items: int
    options: SpanOptions
    notes: tuple[str, ...] = ()


def compare_spans(
    gold: RatingSet,
    predicted: Mapping[str, RatingSet | Sequence[RatingSet]],
    *,
    texts: OutputSet | None = None,
    options: SpanOptions = DEFAULT_SPAN_OPTIONS,
) -> SpanComparison:
    """F1 of several judges on the texts they share, with a permutation test for every two of them.

    predicted: judge -> its marks, or those of every draw of its examples (10 seeds in 002): then numbers are means with
    standard deviations over draws, and intervals and tests use the characters averaged over draws. Misleads where
    judges are many: nothing pays for the m (m - 1) / 2 tests; and a judge that failed on the hard texts takes them from
    all others. Raises InputError where the judges share no text of the gold.
    """
    draws = {name: (one,) if isinstance(one, RatingSet) else tuple(one) for name, one in predicted.items()}
    flat = [one for own in draws.values() for one in own]
    pairs = pair_several(gold, flat, texts=texts, **options.pairing)
    shared = _shared(pairs)
    if not shared:
        raise InputError(
            "There is no text of the gold in which all of them marked errors: they cannot stand side by side."
        )
    counted = [_counts(one, shared) for one in pairs]
    rows = _rows(pairs[0], shared)
    items = items_of(rows)
    judges, means = [], {}
    begin = 0
    for name, own in draws.items():
        block = slice(begin, begin + len(own))
        begin = block.stop
        means[name] = _mean(counted[block])
        judges.append(_judge(name, counted[block], pairs[block], means[name], items, options, len(shared)))
    tests = tuple(
        SpanTest(
            a, b, span_f1_test(means[a], means[b], items, n_resamples=options.n_resamples, rng=options.rng)
        )
        for a, b in combinations(draws, 2)
    )
    notes = dict.fromkeys(
        (
            *said_of(PEOPLE, [gold]),
            *(note for name, own in draws.items() for note in said_of(name, own)),
            *(note for one in pairs for note in one.notes),
        )
    )
    return SpanComparison(
        gold.file_name, tuple(judges), tests, len(shared), int(np.unique(items).size), options, tuple(notes)
    )


_SegmentKey = tuple[Key, str]


def _shared(pairs: Sequence[Paired]) -> list[_SegmentKey]:
    """(text, rater of the gold) of the segments that all have, in the order of the first."""
    keys = [dict.fromkeys((segment.key, segment.rater) for segment in one.segments) for one in pairs]
    return [key for key in keys[0] if all(key in own for own in keys[1:])]


def _rows(paired: Paired, shared: Sequence[_SegmentKey]) -> list[Rating]:
    rows = {(segment.key, segment.rater): segment.row for segment in paired.segments}
    return [rows[key] for key in shared]


def _counts(paired: Paired, shared: Sequence[_SegmentKey]) -> SpanCounts:
    """One count a shared segment; the mean where several predictions of it are in one set."""
    place = {key: index for index, key in enumerate(shared)}
    found = [
        (index, place[key])
        for index, segment in enumerate(paired.segments)
        if (key := (segment.key, segment.rater)) in place
    ]
    own, to = np.array(found, dtype=np.intp).T
    counts = at(counts_of(paired.segments), own)
    n = np.bincount(to, minlength=len(shared)).astype(np.float64)

    def averaged(values: Floats) -> Floats:
        sums = np.bincount(to, weights=values, minlength=len(shared)).astype(np.float64)
        return ratio(sums, n)

    return SpanCounts(averaged(counts.credit), averaged(counts.predicted), averaged(counts.gold))


def _mean(counts: Sequence[SpanCounts]) -> SpanCounts:
    return SpanCounts(
        np.mean([one.credit for one in counts], axis=0),
        np.mean([one.predicted for one in counts], axis=0),
        np.mean([one.gold for one in counts], axis=0),
    )


def _judge(
    name: str,
    counts: Sequence[SpanCounts],
    pairs: Sequence[Paired],
    mean: SpanCounts,
    items: NDArray[np.int64],
    options: SpanOptions,
    n_shared: int,
) -> JudgeSpans:
    drawn = [span_f1(one, items, n_resamples=0, confidence_level=options.confidence_level) for one in counts]
    left_out: dict[str, int] = {}
    for one in pairs:
        lost = len({(segment.key, segment.rater) for segment in one.segments}) - n_shared
        for reason, n in (*one.left_out.items(), (NOT_BY_ALL, lost)):
            if n:
                left_out[reason] = max(n, left_out.get(reason, 0))
    return JudgeSpans(
        name=name,
        overall=span_f1(mean, items, **options.resampling),
        n_draws=len(counts),
        precision=summary([one.precision.estimate for one in drawn]),
        recall=summary([one.recall.estimate for one in drawn]),
        f1=summary([one.f1.estimate for one in drawn]),
        left_out=left_out,
    )


def summary(values: Sequence[float | None]) -> DrawSummary:
    """Mean and standard deviation (ddof 1) of the values that there are."""
    known = [value for value in values if value is not None]
    return DrawSummary(
        mean=float(np.mean(known)) if known else None,
        sd=float(np.std(known, ddof=1)) if len(known) > 1 else None,
        n=len(known),
        n_undefined=len(values) - len(known),
    )
