"""Errors that judges mark against those that people marked: character-level precision, recall and F1 (002, 4.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.row_columns import NO_VALUE
from core.analysis.span_segments import GoldRaters, Paired, Segment, Spans, pair_spans
from core.analysis.span_sides import PEOPLE, said_of
from core.schema.scores import OutputSet, RatingSet
from core.stats.span_f1 import SpanCounts, SpanF1, span_counts, span_f1


@dataclass(frozen=True)
class SpanOptions:
    """How errors are compared, and how intervals are made."""

    raters: GoldRaters = "kept"
    references: bool = False
    """Whether systems that are references (refA, synthetic_ref) take part."""
    n_resamples: int = 2_000
    confidence_level: float = 0.95
    rng: int = 0

    @property
    def pairing(self) -> dict[str, Any]:
        """What decides which segments are compared."""
        return {"raters": self.raters, "references": self.references}

    @property
    def resampling(self) -> dict[str, Any]:
        """What decides the intervals."""
        return {
            "n_resamples": self.n_resamples,
            "confidence_level": self.confidence_level,
            "rng": self.rng,
        }


DEFAULT_SPAN_OPTIONS = SpanOptions()


@dataclass(frozen=True)
class SpanAgreement:
    """Predicted errors against those of people."""

    gold: str
    """What the people's marks came from."""
    predicted: str
    overall: SpanF1
    """Over all characters of all segments; intervals resample items."""
    by_system: Mapping[str, SpanF1]
    by_rater: Mapping[str, SpanF1]
    """Of the gold; empty where its ratings name nobody, or were merged."""
    by_severity: Mapping[str, SpanF1]
    """With the spans of one severity alone on both sides: a wrong severity is then a miss, not half a hit."""
    n_segments: int
    """Ratings of a text that were compared: (text, rater of the gold, predictor)."""
    n_items: int
    left_out: Mapping[str, int]
    """Reason -> segments of the gold, or predicted texts, without a part in it."""
    options: SpanOptions
    notes: tuple[str, ...] = ()


def span_agreement(
    gold: RatingSet,
    predicted: RatingSet,
    *,
    texts: OutputSet | None = None,
    options: SpanOptions = DEFAULT_SPAN_OPTIONS,
) -> SpanAgreement:
    """How many of the predicted characters people marked (precision), and how many of theirs were predicted (recall).

    Micro-averaged over all characters of all segments: 1 where a severity agrees, 1/2 where only the mark does. A segment
    is one text as one rater of the gold marked it. texts: where given, spans are clipped to the texts' lengths.
    Misleads as micro-averages do: long marks weigh more than short ones, and a judge that marks whole sentences gains
    recall for nothing but length. Several raters of one text cap what can be reached: see `rater_matrix`.
    Raises InputError where no text with marked errors is in both.
    """
    paired = pair_spans(gold, predicted, texts=texts, **options.pairing)
    counts = counts_of(paired.segments)
    items = paired.items
    raters = [segment.rater for segment in paired.segments]
    return SpanAgreement(
        gold=gold.file_name,
        predicted=predicted.file_name,
        overall=span_f1(counts, items, **options.resampling),
        by_system=_grouped(counts, items, _systems(paired), options),
        by_rater=_grouped(counts, items, raters, options) if any(raters) else {},
        by_severity=_by_severity(paired, items, options),
        n_segments=len(paired.segments),
        n_items=int(np.unique(items).size),
        left_out=paired.left_out,
        options=options,
        notes=(
            *said_of(PEOPLE, [gold]),
            *said_of(predicted.file_name, [predicted]),
            *paired.notes,
            *_clipped(counts),
        ),
    )


def counts_of(segments: Sequence[Segment], severity: str | None = None) -> SpanCounts:
    """Characters marked and agreed on, a number a segment. severity: of the spans only those that have it."""
    lengths = _lengths(segments)

    def kept(spans: Spans) -> Spans:
        return spans if severity is None else tuple(span for span in spans if span[2] == severity)

    return span_counts(
        [kept(segment.gold) for segment in segments],
        [kept(segment.predicted) for segment in segments],
        lengths,
    )


def at(counts: SpanCounts, index: NDArray[np.intp] | NDArray[np.bool_]) -> SpanCounts:
    """The counts of some segments."""
    return SpanCounts(counts.credit[index], counts.predicted[index], counts.gold[index])


def _clipped(counts: SpanCounts) -> tuple[str, ...]:
    if not counts.n_clipped:
        return ()
    return (f"{counts.n_clipped:,} spans reach beyond the end of their text and were cut there",)


def _lengths(segments: Sequence[Segment]) -> list[int] | None:
    """Each text's length, or where its last span ends; None where no text is known."""
    if all(segment.length is None for segment in segments):
        return None
    return [
        max((span[1] for span in (*segment.gold, *segment.predicted)), default=0)
        if segment.length is None
        else segment.length
        for segment in segments
    ]


def _systems(paired: Paired) -> list[str]:
    return [segment.row.system or NO_VALUE for segment in paired.segments]


def _grouped(
    counts: SpanCounts, items: NDArray[np.int64], names: Sequence[str], options: SpanOptions
) -> dict[str, SpanF1]:
    groups = np.array(names, dtype=str)
    return {
        name: span_f1(at(counts, groups == name), items[groups == name], **options.resampling)
        for name in sorted(set(names))
    }


def _by_severity(paired: Paired, items: NDArray[np.int64], options: SpanOptions) -> dict[str, SpanF1]:
    spans = {span for segment in paired.segments for span in (*segment.gold, *segment.predicted)}
    return {
        severity: span_f1(counts_of(paired.segments, severity), items, **options.resampling)
        for severity in sorted({severity for _, _, severity in spans})
    }
