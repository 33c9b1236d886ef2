"""Character-level precision, recall and F1 of marked errors against a rater's.

As in WMT's shared task on quality estimation (Blain et al. 2023), which Specialist uses (section 4.5).

Spans of a text are (start, end, severity), in characters (code points) of the text, end exclusive. A character is marked
if at least one span contains it; it has the severities of all spans that contain it. A character marked by both sides
counts 1 if they share a severity, and 1/2 otherwise. Overlaps and duplicates therefore count once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.correlation.intervals import Alternative, PairedTest, n_reached
from core.stats.resampling import (
    NO_RESAMPLES,
    Estimate,
    Floats,
    Resampling,
    Rng,
    block_sizes,
    cluster_sums,
    ratio,
    ratio_estimates,
    resamples_at_once,
    unit_clusters,
)

Measure = Literal["precision", "recall", "f1"]
Marked = tuple[int, int, str]
"""Start, end (exclusive), severity."""

_NOTHING_MARKED = "nothing was marked on either side"
_NONE_PREDICTED, _NONE_IN_GOLD = "the judge marked no characters", "the raters marked no characters"
_NO_TEXTS = "no texts"


@dataclass(frozen=True)
class SpanCounts:
    """Counts behind precision, recall and F1, one value for each text: arrays of shape (n_texts,)."""

    credit: Floats
    """Credit: 1 for each character that both marked with a shared severity, 1/2 for each that both marked without one."""
    predicted: Floats
    """Characters that the judge marked."""
    gold: Floats
    """Characters that the rater marked."""
    n_clipped: int = 0
    """Spans of both sides that were cut at the end of their text."""


@dataclass(frozen=True)
class SpanF1:
    """Results over all characters of all texts. `n` counts texts; `n_clusters` counts clusters with a character in the
    denominator.
    """

    precision: Estimate
    """Credit / characters the judge marked."""
    recall: Estimate
    """Credit / characters the raters marked."""
    f1: Estimate
    """2 credit / (characters of both)."""
    n_texts: int
    n_clusters: int
    credit: float
    predicted_characters: int
    gold_characters: int


def span_counts(
    gold: Sequence[Sequence[Marked]], predicted: Sequence[Sequence[Marked]], lengths: ArrayLike | None = None
) -> SpanCounts:
    """Count characters marked by the rater and by the judge, and their credit, for each text.

    gold, predicted: one sequence of spans for each text, in the same order; empty if nothing was marked. lengths: shape
    (n_texts,), number of characters of each text; spans are cut there. Without lengths, no span is cut. A span with
    end == start marks nothing. Severities are compared as written. Raises ValueError if a span begins before 0 or
    ends before it begins.
    """
    if len(gold) != len(predicted):
        raise ValueError(f"gold and predicted must have the same texts, got {len(gold)} and {len(predicted)}")
    limits = None if lengths is None else _checked_lengths(lengths, len(gold))
    codes: dict[str, int] = {}
    sides = [_flat(spans, side, codes) for side, spans in (("gold", gold), ("predicted", predicted))]
    n_clipped = 0
    if limits is not None:
        n_clipped = sum(int((ends > limits[texts]).sum()) for texts, _, ends, _ in sides)
        sides = [
            (texts, np.minimum(starts, limits[texts]), np.minimum(ends, limits[texts]), severity)
            for texts, starts, ends, severity in sides
        ]
    return replace(_counted(sides, len(gold), len(codes)), n_clipped=n_clipped)


_Spans = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Text, start, end and severity of each span."""


def _checked_lengths(lengths: ArrayLike, n_texts: int) -> NDArray[np.int64]:
    limits = np.asarray(lengths)
    if limits.shape != (n_texts,):
        raise ValueError(f"lengths must have shape ({n_texts},), one for each text, got {limits.shape}")
    if limits.size and (limits.dtype.kind not in "iu" or limits.min() < 0):
        raise ValueError("lengths must be counts of characters, 0 or more")
    return limits.astype(np.int64)


def _flat(spans: Sequence[Sequence[Marked]], side: str, codes: dict[str, int]) -> _Spans:
    """All spans of one side, with severities numbered in `codes`."""
    rows = [
        (text, start, end, codes.setdefault(severity, len(codes)))
        for text, own in enumerate(spans)
        for start, end, severity in own
    ]
    table = np.array(rows).reshape(-1, 4)
    if table.size and table.dtype.kind not in "iu":
        raise ValueError(f"{side}: starts and ends must be whole numbers")
    texts, starts, ends, severity = table.astype(np.int64).T
    wrong = (starts < 0) | (ends < starts)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(
            f"text {texts[first]} ({side}): a span runs from {starts[first]} to {ends[first]}; "
            "it must begin at 0 or later and end no earlier than it begins"
        )
    return texts, starts, ends, severity


def _counted(sides: Sequence[_Spans], n_texts: int, n_severities: int) -> SpanCounts:
    """Concatenate all texts and cut wherever a span begins or ends: all characters between two cuts are equivalent."""
    stride = max((int(ends.max(initial=0)) for _, _, ends, _ in sides), default=0) + 1
    places = [(texts * stride + starts, texts * stride + ends) for texts, starts, ends, _ in sides]
    cuts = np.unique(np.concatenate([place for side in places for place in side]))
    long = np.diff(cuts, append=cuts[-1:])
    marked = [
        _marked_between(
            np.searchsorted(cuts, begin), np.searchsorted(cuts, end), spans[3], cuts.size, n_severities
        )
        for (begin, end), spans in zip(places, sides, strict=True)
    ]
    gold, predicted = (side.any(axis=0) for side in marked)
    share_one = (marked[0] & marked[1]).any(axis=0)
    credit = np.where(share_one, 1.0, 0.5) * (gold & predicted)
    of_text = cuts // stride
    totals = (
        np.bincount(of_text, weights=worth * long, minlength=n_texts).astype(np.float64, copy=False)
        for worth in (credit, predicted, gold)
    )
    of_credit, of_predicted, of_gold = totals
    return SpanCounts(of_credit, of_predicted, of_gold)


def _marked_between(
    begin: NDArray[np.intp],
    end: NDArray[np.intp],
    severity: NDArray[np.int64],
    n_cuts: int,
    n_severities: int,
) -> NDArray[np.bool_]:
    """The severities of the characters after each cut: shape (n_severities, n_cuts)."""
    size = n_severities * n_cuts
    opened = np.bincount(severity * n_cuts + begin, minlength=size)
    closed = np.bincount(severity * n_cuts + end, minlength=size)
    return np.asarray((opened - closed).reshape(n_severities, n_cuts).cumsum(axis=1) > 0)


def span_f1(counts: SpanCounts, clusters: ArrayLike | None = None, **drawing: Unpack[Resampling]) -> SpanF1:
    """Precision, recall and F1 over all characters of all texts, each in [0, 1], with percentile intervals.

    clusters: shape (n_texts,), the item of each text; without it every text is its own cluster, which makes intervals too
    narrow if texts are translations of one source. Intervals resample clusters (`resampling.ratio_estimates`).

    If only the judge marked nothing, precision is undefined, and recall and F1 are 0. If only the raters marked nothing,
    recall is undefined, and precision and F1 are 0. If neither marked anything, all three are undefined.

    Misleads: long texts and long spans weigh most, so one span over a whole text can outweigh many short ones. A judge
    that marks everything has recall 1/2 or more. Intervals are too narrow with few items, or few items with errors. Only
    the exact characters count: a judge that marks the word next to the wrong one gets no credit.
    """
    n_texts = counts.credit.size
    labels = unit_clusters(clusters, n_texts)
    credit, predicted, gold = counts.credit, counts.predicted, counts.gold
    found = ratio_estimates(
        np.column_stack([credit, credit, 2 * credit]),
        np.column_stack([predicted, gold, predicted + gold]),
        labels,
        **drawing,
    )
    either = (predicted + gold).sum() > 0
    absent = (_NONE_PREDICTED, _NONE_IN_GOLD, _NOTHING_MARKED)
    if not either:
        absent = (_NOTHING_MARKED if n_texts else _NO_TEXTS,) * 3
    precision, recall, f1 = (
        replace(each, n=n_texts, reason=why if each.reason else None)
        for each, why in zip(found, absent, strict=True)
    )
    return SpanF1(
        precision=precision,
        recall=recall,
        f1=f1,
        n_texts=n_texts,
        n_clusters=int(np.unique(labels).size),
        credit=float(credit.sum()),
        predicted_characters=int(predicted.sum()),
        gold_characters=int(gold.sum()),
    )


def span_f1_test(
    first: SpanCounts,
    second: SpanCounts,
    clusters: ArrayLike | None = None,
    *,
    measure: Measure = "f1",
    n_resamples: int = 10_000,
    rng: Rng = 0,
    alternative: Alternative = "two-sided",
) -> PairedTest:
    """Paired permutation test: does one judge match the raters' spans better than another on the same texts?

    first, second: counts of two judges over the same texts in the same order. All texts of a cluster are swapped between
    the two with probability 1/2, and both measures are computed again over all texts (as Specialist compares its judges;
    clusters as in PERM-INPUTS of Deutsch et al. 2021). "greater": the first is better. p is (1 + swaps with a difference at
    least as large) / (1 + swaps). A swap with an undefined measure counts against the finding. Without clusters, single
    texts are swapped, and p is too small if texts of an item are alike. p does not show how much better the better judge
    is: read the difference.
    """
    if first.credit.shape != second.credit.shape:
        raise ValueError(
            f"both judges must have the same texts, got {first.credit.size} and {second.credit.size}"
        )
    n_texts = first.credit.size
    labels = unit_clusters(clusters, n_texts)
    one, other = (
        cluster_sums(np.column_stack([each.credit, each.predicted, each.gold]), labels)
        for each in (first, second)
    )
    n_units = len(one)
    observed = float(_measured(one.sum(axis=0), measure) - _measured(other.sum(axis=0), measure))
    if np.isnan(observed):
        return PairedTest(
            None, None, n_texts, n_units, 0, f"the {measure} of at least one judge is undefined"
        )
    if n_resamples == 0:
        return PairedTest(observed, None, n_texts, n_units, 0, NO_RESAMPLES)
    generator = np.random.default_rng(rng)
    total, gap = one.sum(axis=0) + other.sum(axis=0), one - other
    as_large = 0
    for size in block_sizes(n_resamples, resamples_at_once(max(n_units, 1))):
        stays = generator.integers(0, 2, size=(size, n_units)).astype(np.float64)
        mine = other.sum(axis=0) + stays @ gap
        as_large += n_reached(
            _measured(mine, measure) - _measured(total - mine, measure), observed, alternative
        )
    return PairedTest(observed, (1 + as_large) / (1 + n_resamples), n_texts, n_units, n_resamples)


def _measured(sums: Floats, measure: Measure) -> Floats:
    """The measure from sums (..., 3) of credit, predicted and gold."""
    credit, predicted, gold = sums[..., 0], sums[..., 1], sums[..., 2]
    if measure == "f1":
        return ratio(2 * credit, predicted + gold)
    return ratio(credit, predicted if measure == "precision" else gold)
