"""Rows and notes of analyses that compare marked errors: precision, recall and F1 of characters."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.schema.result_table import Interval
from core.schema.rows import column, entry, row

if TYPE_CHECKING:
    from core.schema.marks import SpanOptions
    from core.stats.span_f1 import SpanF1

RULE = "Over all characters: a character counts 1 if severities agree, 1/2 if only the marks do."


@row
class CharactersRow:
    """Characters behind precision, recall and F1."""

    gold: int = entry("characters that people marked")
    predicted: int = entry("characters that the judge marked")
    credit: float = entry(
        "1 for each that both marked with a shared severity, 1/2 for each that both marked without one"
    )


@row
class F1Row:
    """Precision, recall and F1 of marked characters."""

    precision: Interval = column("share of the judge's characters that people marked", title="Precision")
    recall: Interval = column("share of people's characters that the judge marked", title="Recall")
    f1: Interval = column("both together", title="F1")
    n_texts: int = column("compared ratings", name="texts", title="Texts", key="")
    predicted_characters: int = column("characters that the judge marked", title="Characters marked", key="")
    gold_characters: int = column("characters that people marked", title="Characters in the gold", key="")
    intervals: Mapping[str, Any] = entry("precision, recall and f1 -> both ends of the interval, or null")
    reasons: Mapping[str, str] = entry("those of them that are undefined or have no interval -> why")
    characters: CharactersRow = entry("characters", rows=CharactersRow)


def f1_values(f1: "SpanF1") -> dict[str, Any]:
    """The fields of an F1Row."""
    from core.results.cells import interval

    measures = {"precision": f1.precision, "recall": f1.recall, "f1": f1.f1}
    return {
        **{name: interval(one) for name, one in measures.items()},
        "n_texts": f1.n_texts,
        "predicted_characters": f1.predicted_characters,
        "gold_characters": f1.gold_characters,
        "intervals": {
            name: None if one.low is None else [one.low, one.high] for name, one in measures.items()
        },
        "reasons": {
            name: why
            for name, one in measures.items()
            if (why := one.reason or (one.interval_reason if one.low is None else None))
        },
        "characters": CharactersRow(f1.gold_characters, f1.predicted_characters, f1.credit),
    }


def resampling_notes(options: "SpanOptions") -> tuple[str, ...]:
    """Notes on the weight of a character and on intervals."""
    from core.results.cells import resampled

    return (RULE, *([resampled(options.confidence_level)] if options.n_resamples else []))
