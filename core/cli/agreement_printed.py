"""Two judges side by side, for a person at a terminal."""

from collections.abc import Iterable, Sequence

from core.analysis.judge_agreement import Agreement, Disagreement
from core.analysis.same_texts import text_of
from core.cli.aligned import counted, interval_notes, number, of_items, print_aligned, with_interval
from core.cli.options import print_notes
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
    reasons = {(reason, count): None for one in found for reason, count in one.left_out.items()}
    for reason, count in reasons:
        print(f"Left out: {count:,}: {shown(reason)}")
    named = [cell for one in found for cell in _estimates(one)]
    _print_undefined(named)
    level = f"{found[0].mean_difference.confidence_level:.0%}"
    print(f"Intervals: {level}, percentile bootstrap over items.")
    print_notes(dict.fromkeys([*interval_notes(named), *(note for one in found for note in one.notes)]))


def _estimates(one: Agreement) -> list[tuple[str, Estimate]]:
    return [
        *((method.capitalize(), one.pooled[method]) for method in METHODS),
        (PER_ITEM, one.per_item),
        ("Pearson per system", one.per_system["pearson"]),
        ("mean difference", one.mean_difference),
        ("SD of differences", one.sd_difference),
    ]


def _cell(name: str, estimate: Estimate) -> str:
    """A dash for what is undefined: the reason stands once, below."""
    if estimate.estimate is None:
        return "-"
    return of_items(estimate) if name == PER_ITEM else with_interval(estimate)


def _print_undefined(named: Iterable[tuple[str, Estimate]]) -> None:
    reasons: dict[str, dict[str, None]] = {}
    for name, estimate in named:
        if estimate.estimate is None:
            reasons.setdefault(name, {})[shown(estimate.reason or "no reason is given")] = None
    for name, whys in reasons.items():
        print(f"Where - stands, {name} is undefined: {'; '.join(whys)}.")


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
