"""`spans`: errors that judges mark against those that people marked, character by character."""

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from core.cli.shared.options import Commands, add_database_option, add_json_option, print_result
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    SPAN_MEANING,
    SPAN_NAMES,
    add_mark_options,
    marked_given,
    names_apart,
    single,
    span_options,
    texts_among,
)
from core.cli.shared.terminal import (
    counted,
    dashed,
    intervals_said,
    number,
    or_dash,
    plain,
    print_aligned,
    print_end,
    print_left_out,
)
from core.errors import InputError
from core.results.spans.agreement import (
    JudgeSpans,
    SpanAgreement,
    SpanComparison,
    SpanOptions,
    compare_spans,
    span_agreement,
)
from core.stats.resampling import Estimate
from core.stats.span_f1 import SpanF1
from core.tables.reading import shown

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


def add_to(nouns: Commands) -> None:
    """Register `spans`."""
    command = nouns.add_parser("spans")
    command.add_argument("gold", metavar="GOLD", help=f"what people marked: {SPAN_NAMES} ({SPAN_MEANING})")
    command.add_argument(
        "predicted", metavar="PRED", nargs="+", help="what a judge marked; several stand side by side"
    )
    add_mark_options(command)
    command.add_argument(
        "--by", choices=["system", "rater", "severity"], help="also by system, by rater of GOLD, by severity"
    )
    add_json_option(command)
    add_database_option(command)
    command.set_defaults(run=_spans)


def _spans(options: argparse.Namespace) -> None:
    several = options.by and len(options.predicted) > 1
    chosen = span_options(options, ["--by: of one PRED alone; several stand side by side"] if several else ())
    with telling("reading the marked errors") as tell:
        gold, *predicted = marked_given([options.gold, *options.predicted], options)
        names = names_apart(predicted, options.predicted)
        draws = {name: one.draws for name, one in zip(names, predicted, strict=True)}
        texts = texts_among([gold, *predicted])
        tell("comparing them")
        alone = len(predicted) == 1 and len(predicted[0].draws) == 1
        if options.by and not alone:
            raise InputError("--by: of a judge without repeats alone; leave it out.")
        found = (
            span_agreement(single(gold), predicted[0].draws[0], texts=texts, options=chosen)
            if alone
            else compare_spans(single(gold), draws, texts=texts, options=chosen)
        )
    if isinstance(found, SpanAgreement):
        groups = _groups(found, options.by)
        as_json = _agreement_json(found, options.by, groups)
        print_result(options, as_json, print_span_agreement, found, options.by, groups)
    else:
        print_result(options, _comparison_json(found), print_span_comparison, found)


def _groups(found: SpanAgreement, by: str | None) -> Mapping[str, SpanF1]:
    groups: Mapping[str, SpanF1] = {} if by is None else getattr(found, f"by_{by}")
    if by == "rater" and not groups:
        raise InputError("--by rater: the ratings name no raters, or were merged.")
    return groups


def _agreement_json(found: SpanAgreement, by: str | None, groups: Mapping[str, SpanF1]) -> dict[str, Any]:
    result = {
        **f1_json(found.overall),
        "n_segments": found.n_segments,
        "n_items": found.n_items,
        "left_out": dict(found.left_out),
        "notes": list(found.notes),
    }
    return result | ({f"by_{by}": {name: f1_json(one) for name, one in groups.items()}} if by else {})


def f1_json(found: SpanF1) -> dict[str, Any]:
    """The three numbers as numbers, or null with the reason; their intervals and the characters beside them."""
    measures = {"precision": found.precision, "recall": found.recall, "f1": found.f1}
    return {
        **{name: one.estimate for name, one in measures.items()},
        "intervals": {
            name: None if one.low is None else [one.low, one.high] for name, one in measures.items()
        },
        "reasons": {
            name: why
            for name, one in measures.items()
            if (why := one.reason or (one.interval_reason if one.low is None else None))
        },
        "characters": {
            "gold": found.gold_characters,
            "predicted": found.predicted_characters,
            "credit": found.credit,
        },
    }


def _comparison_json(found: SpanComparison) -> dict[str, Any]:
    judges = [
        {"name": one.name, **judge_json(one), "n_segments": found.n_segments, "left_out": dict(one.left_out)}
        for one in found.judges
    ]
    tests = [{"first": one.first, "second": one.second, **plain(one.test)} for one in found.tests]
    whole = {"n_segments": found.n_segments, "n_items": found.n_items, "notes": list(found.notes)}
    if len(judges) == 1:
        return {**judges[0], **whole}
    return {"judges": judges, "tests": tests, **whole}


def judge_json(one: JudgeSpans) -> dict[str, Any]:
    """The means over draws as numbers, with their standard deviations; the intervals are those of the mean counts."""
    measures = {"precision": one.precision, "recall": one.recall, "f1": one.f1}
    return {
        **f1_json(one.overall),
        **{name: draws.mean for name, draws in measures.items()},
        "sd": {name: draws.sd for name, draws in measures.items()},
        "n_draws": one.n_draws,
    }
