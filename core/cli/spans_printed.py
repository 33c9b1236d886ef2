"""Marked errors against each other, for a person at a terminal."""

from collections.abc import Iterable, Mapping

from core.analysis.span_agreement import SpanAgreement, SpanOptions
from core.analysis.span_comparison import DrawSummary, JudgeSpans, SpanComparison
from core.cli.aligned import counted, interval_notes, number, print_aligned, with_interval
from core.cli.options import print_notes
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
    print_left_out(found.left_out)
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
                [
                    one.first,
                    one.second,
                    number(one.test.difference),
                    "-" if one.test.p is None else number(one.test.p, 4),
                    one.test.n_units,
                ]
                for one in found.tests
            ],
        )
        print("p: paired permutation of whole items, two-sided; nothing pays for the number of tests.")
        for why in dict.fromkeys(one.test.reason for one in found.tests if one.test.reason):
            print(f"Where - stands, {why}.")
    for judge in found.judges:
        print_left_out(judge.left_out, judge.name)
    _print_end([one.overall for one in found.judges], found.options, found.notes)


def print_left_out(left_out: Mapping[str, int], whose: str = "") -> None:
    """What had no part in it, by reason."""
    of = f" of {shown(whose)}" if whose else ""
    for reason, n in left_out.items():
        print(f"Left out{of}: {n:,}: {shown(reason)}")


def _f1_cells(one: SpanF1) -> list[object]:
    cells = ["-" if each.estimate is None else with_interval(each) for each in measures_of(one).values()]
    return [*cells, f"{one.predicted_characters:,}", f"{one.gold_characters:,}"]


def measures_of(one: SpanF1) -> dict[str, Estimate]:
    """The three by name."""
    return {"precision": one.precision, "recall": one.recall, "F1": one.f1}


def _draw_cells(one: JudgeSpans) -> list[object]:
    draws: DrawSummary = one.f1
    return [
        one.n_draws,
        "-" if draws.mean is None else number(draws.mean),
        "-" if draws.sd is None else number(draws.sd, 4),
    ]


def print_reasons(named: Iterable[tuple[str, Estimate]]) -> None:
    """Why a dash stands, once for each name and reason."""
    reasons = {(name, one.reason): None for name, one in named if one.estimate is None}
    for name, why in reasons:
        print(f"Where - stands, {name} is undefined: {why}.")


def _print_end(found: Iterable[SpanF1], options: SpanOptions, notes: Iterable[str]) -> None:
    named = [pair for one in found for pair in measures_of(one).items()]
    print_reasons(named)
    print(RULE)
    if options.n_resamples:
        print(f"Intervals: {options.confidence_level:.0%}, percentile bootstrap over items.")
    print_notes(dict.fromkeys([*notes, *interval_notes(named)]))
