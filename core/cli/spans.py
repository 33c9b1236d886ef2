"""`spans`: compare errors marked by judges with errors marked by people, by character."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from core.cli.shared.giving import (
    Said,
    add_result_options,
    check_out_file,
    give,
    out_problems,
)
from core.cli.shared.options import Commands, add_database_option
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    add_mark_options,
    marked_given,
    names_apart,
    single,
    span_options,
    texts_among,
)
from core.errors import InputError, counted
from core.results.cells import plain
from core.results.judges.spans import (
    GROUPINGS,
    JudgeSpans,
    SpanAgreement,
    SpanComparison,
    agreement_table,
    compare_spans,
    differences_table,
    judges_table,
    span_agreement,
)
from core.sources.spans import SPAN_MEANING, SPAN_NAMES
from core.stats.span_f1 import SpanF1
from core.tables.reading import shown


def add_to(nouns: Commands) -> None:
    """Register `spans`."""
    command = nouns.add_parser("spans")
    command.add_argument(
        "gold", metavar="GOLD", help=f"errors marked by people: {SPAN_NAMES} ({SPAN_MEANING})"
    )
    command.add_argument(
        "predicted",
        metavar="PRED",
        nargs="+",
        help="errors marked by a judge; several are compared side by side",
    )
    add_mark_options(command)
    command.add_argument(
        "--by",
        choices=GROUPINGS,
        action="append",
        default=[],
        help="also show results by system, by rater of GOLD, or by severity; may be repeated",
    )
    add_result_options(command, "span-agreement", "spans-side-by-side", "spans-tests")
    add_database_option(command)
    command.set_defaults(run=_spans)


def _spans(options: argparse.Namespace) -> None:
    several = options.by and len(options.predicted) > 1
    wrong = ["--by: only with a single PRED; leave it out"] if several else []
    chosen = span_options(options, [*wrong, *out_problems(options)])
    check_out_file(options, [options.gold, *options.predicted])
    with telling("reading the marked errors") as tell:
        gold, *predicted = marked_given([options.gold, *options.predicted], options)
        names = names_apart([one.name for one in predicted], options.predicted)
        draws = {name: one.draws for name, one in zip(names, predicted, strict=True)}
        texts = texts_among([gold, *predicted])
        tell("comparing the marked errors")
        alone = len(predicted) == 1 and len(predicted[0].draws) == 1
        if options.by and not alone:
            raise InputError("--by: only for a judge without repeats; leave it out.")
        found = (
            span_agreement(single(gold), predicted[0].draws[0], texts=texts, options=chosen)
            if alone
            else compare_spans(single(gold), draws, texts=texts, options=chosen)
        )
    if isinstance(found, SpanAgreement):
        if "rater" in options.by and not found.by_rater:
            raise InputError("--by rater: the ratings do not name raters, or --raters merged them.")
        head = f"{shown(found.predicted)} against {shown(found.gold)}: {_on(found)}."
        give(options, _agreement_json(found, options.by), [head, agreement_table(found, options.by)])
    else:
        head = f"{counted(len(found.judges), 'judge')} against {shown(found.gold)}, on {_on(found)} that all marked."
        tests: Said = ["", differences_table(found.tests)] if found.tests else []
        give(options, _comparison_json(found), [head, judges_table(found), *tests])


def _on(found: SpanAgreement | SpanComparison) -> str:
    return f"{counted(found.n_segments, 'segment')} of {counted(found.n_items, 'item')}"


def _agreement_json(found: SpanAgreement, groupings: Sequence[str]) -> dict[str, Any]:
    groups: dict[str, Mapping[str, SpanF1]] = {f"by_{by}": getattr(found, f"by_{by}") for by in groupings}
    return {
        **f1_json(found.overall),
        "n_segments": found.n_segments,
        "n_items": found.n_items,
        "left_out": dict(found.left_out),
        "notes": list(found.notes),
        **{by: {name: f1_json(one) for name, one in own.items()} for by, own in groups.items()},
    }


def f1_json(found: SpanF1) -> dict[str, Any]:
    """Return precision, recall and F1 as numbers, or null with the reason, with intervals and character counts."""
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
    tests = [
        {"first": one.first, "second": one.second, **plain(one.test), "p_holm": one.p_holm}
        for one in found.tests
    ]
    whole = {"n_segments": found.n_segments, "n_items": found.n_items, "notes": list(found.notes)}
    if len(judges) == 1:
        return {**judges[0], **whole}
    return {"judges": judges, "tests": tests, **whole}


def judge_json(one: JudgeSpans) -> dict[str, Any]:
    """Return means and standard deviations over draws. The intervals belong to the mean counts."""
    measures = {"precision": one.precision, "recall": one.recall, "f1": one.f1}
    return {
        **f1_json(one.overall),
        **{name: draws.mean for name, draws in measures.items()},
        "sd": {name: draws.sd for name, draws in measures.items()},
        "n_draws": one.n_draws,
    }
