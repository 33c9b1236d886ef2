"""Marked errors against each other, for a person at a terminal."""

from collections.abc import Iterable, Mapping

from core.analysis.span_agreement import SpanAgreement, SpanOptions
from core.analysis.span_comparison import JudgeSpans, SpanComparison
from core.cli.aligned import (
    counted,
    dashed,
    intervals_said,
    number,
    or_dash,
    print_aligned,
    print_end,
    print_left_out,
)
from core.datasets.reading import shown
from core.stats.resampling import Estimate
from core.stats.span_f1 import SpanF1

RULE = "Over all characters: 1 where a severity agrees, 1/2 where only the mark does."


def print_span_agreement(found: SpanAgreement, by: str | None, groups: Mapping[str, SpanF1]) -> None:
    """Precision, recall and F1, overall and of each group."""
    print(
        f"{shown(found.predicted)} against {shown(found.gold)}: {counted(found.n_segments, 'segment')} of "
        f"{counted(found.n_items, 'item')}."
    )
    print_aligned(
        [by or "", "precision", "recall", "F1", "characters marked", "of the gold"],
        [
            ["all" if by else "", *_f1_cells(found.overall)],
            *([name, *_f1_cells(one)] for name, one in groups.items()),
        ],
    )
    if by == "severity":
        print("By severity: with the errors of that severity alone on both sides.")
    print_left_out(found.left_out.items())
    _print_end([found.overall, *groups.values()], found.options, found.notes)


def print_span_comparison(found: SpanComparison) -> None:
    """A line a judge, then a line for every two of them."""
    print(
        f"{counted(len(found.judges), 'judge')} against {shown(found.gold)}, on "
        f"{counted(found.n_segments, 'segment')} of {counted(found.n_items, 'item')} that all marked."
    )
    drawn = any(one.n_draws > 1 for one in found.judges)
    header = ["judge", "precision", "recall", "F1", "characters marked", "of the gold"]
    print_aligned(
        [*header, *(["draws", "mean F1", "SD"] if drawn else [])],
        [[one.name, *_f1_cells(one.overall), *(_draw_cells(one) if drawn else [])] for one in found.judges],
    )
    if drawn:
        print(
            "Of a judge with several draws, the first columns are of the characters averaged over draws; SD: ddof 1."
        )
    if found.tests:
        print()
        print_aligned(
            ["first", "second", "difference of F1", "p", "items"],
            [
                [one.first, one.second, number(one.test.difference), or_dash(one.test.p, 4), one.test.n_units]
                for one in found.tests
            ],
        )
        print("p: paired permutation of whole items, two-sided; nothing pays for the number of tests.")
        for why in dict.fromkeys(one.test.reason for one in found.tests if one.test.reason):
            print(f"Where - stands, {why}.")
    for judge in found.judges:
        print_left_out(judge.left_out.items(), judge.name)
    _print_end([one.overall for one in found.judges], found.options, found.notes)


def _f1_cells(one: SpanF1) -> list[object]:
    cells = map(dashed, measures_of(one).values())
    return [*cells, f"{one.predicted_characters:,}", f"{one.gold_characters:,}"]


def measures_of(one: SpanF1) -> dict[str, Estimate]:
    """The three by name."""
    return {"precision": one.precision, "recall": one.recall, "F1": one.f1}


def _draw_cells(one: JudgeSpans) -> list[object]:
    return [one.n_draws, or_dash(one.f1.mean), or_dash(one.f1.sd, 4)]


def _print_end(found: Iterable[SpanF1], options: SpanOptions, notes: Iterable[str]) -> None:
    intervals = [intervals_said(options.confidence_level)] if options.n_resamples else []
    named = [pair for one in found for pair in measures_of(one).items()]
    print_end(named, intervals="\n".join([RULE, *intervals]), notes=notes)
