"""Two judges side by side, for a person at a terminal."""

from collections.abc import Sequence

from core.analysis.judge_agreement import Agreement, Disagreement
from core.analysis.same_texts import text_of
from core.cli.aligned import counted, dashed, intervals_said, number, of_items, print_aligned, print_end
from core.datasets.reading import shown
from core.schema.scores import METHODS, ScoredRow
from core.stats.resampling import Estimate

PER_ITEM = "Kendall per item"


def print_agreement(found: Sequence[Agreement], n_texts: int, texts: Sequence[tuple[ScoredRow, str]]) -> None:
    """Correlations and differences, what was left out; of a single pair also the texts that are furthest apart.

    A single pair is a column of its own, several are a line each. texts: what is known of the texts themselves.
    """
    if len(found) == 1:
        (one,) = found
        print(f"{shown(one.metric_a)} and {shown(one.metric_b)}: {counted(one.n, 'text')} scored by both.")
        print_aligned(["agreement", "estimate"], [[name, _cell(name, of)] for name, of in _estimates(one)])
        _print_apart(one, n_texts, texts)
    else:
        header = ["first", "second", "n", *(name for name, _ in _estimates(found[0]))]
        cells = [
            [one.metric_a, one.metric_b, one.n, *(_cell(name, of) for name, of in _estimates(one))]
            for one in found
        ]
        print_aligned(header, cells)
        print("--metrics NAME_A,NAME_B shows the texts on which two of them part.")
    scales = ", ".join(dict.fromkeys(one.scale for one in found))
    print(f"Differences: second minus first ({scales}).")
    print_end(
        (named for one in found for named in _estimates(one)),
        left_out=(lost for one in found for lost in one.left_out.items()),
        intervals=intervals_said(found[0].mean_difference.confidence_level),
        notes=(note for one in found for note in one.notes),
    )


def _estimates(one: Agreement) -> list[tuple[str, Estimate]]:
    return [
        *((method.capitalize(), one.pooled[method]) for method in METHODS),
        (PER_ITEM, one.per_item),
        ("Pearson per system", one.per_system["pearson"]),
        ("mean difference", one.mean_difference),
        ("SD of differences", one.sd_difference),
    ]


def _cell(name: str, estimate: Estimate) -> str:
    return of_items(estimate) if name == PER_ITEM and estimate.estimate is not None else dashed(estimate)


def _print_apart(one: Agreement, n_texts: int, texts: Sequence[tuple[ScoredRow, str]]) -> None:
    apart = [text for text in one.disagreements[:n_texts] if text.difference]
    if not apart:
        return
    beginnings = [text_of(text.row, texts) for text in apart]
    known = any(beginning is not None for beginning in beginnings)
    print(
        f"\nFurthest apart, by percentile among these texts (A: {shown(one.metric_a)}, B: {shown(one.metric_b)}):"
    )
    header = ["item", "system", "level", "A", "B", "percentile A", "percentile B", "B - A"]
    print_aligned(
        [*header, *(["text"] if known else [])],
        [
            [*_apart_cells(text), *([_beginning(beginning or "-")] if known else [])]
            for text, beginning in zip(apart, beginnings, strict=True)
        ],
    )


def _apart_cells(text: Disagreement) -> list[object]:
    row = text.row
    return [
        row.item_id,
        row.system or "-",
        row.level or "-",
        number(text.score_a),
        number(text.score_b),
        number(text.percentile_a, 2),
        number(text.percentile_b, 2),
        number(text.difference, 2),
    ]


def _beginning(text: str) -> str:
    """In one line, as long as a name may be."""
    return shown(" ".join(text.split()))
