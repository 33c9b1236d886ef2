"""`judge copying|examples-curve|raters`: what the errors that judges mark tell about them."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.cli.shared.options import (
    Commands,
    add_pair_option,
    add_reading_verb,
    existing_store,
    print_notes,
    print_result,
    read_file,
    run_number,
)
from core.cli.shared.running import telling
from core.cli.shared.sources import JUDGE_NAMES as JUDGES
from core.cli.shared.sources import (
    N_RESAMPLES,
    SPAN_MEANING,
    SPAN_NAMES,
    STUDY,
    Marked,
    add_interval_options,
    add_mark_options,
    intervals,
    judges_given,
    marked_given,
    names_apart,
    short_name,
    single,
    span_options,
    texts_among,
)
from core.cli.shared.terminal import counted, dashed, number, or_dash, plain, print_aligned, print_left_out
from core.cli.spans import RULE, f1_json, judge_json
from core.errors import InputError
from core.formats.mt_metrics_eval import read_folder, usual_ratings
from core.formats.rated import rated_of
from core.formats.registry import read_rated
from core.results.spans.copying import Copying, CopyOptions, Disjoint, disjoint_errors, error_copying
from core.results.spans.examples import ExampleCurve, RaterMatrix, example_curve, mean_f1, rater_matrix
from core.results.spans.segments import Locating, locating
from core.runs.judging import judging_run
from core.runs.path import at_hand
from core.runs.texts import rated_of_study
from core.schema.judging import JudgeOutput, RatedSet
from core.store.studies import find_study
from core.tables.reading import shown


def print_copying(found: Sequence[Copying], alone: Sequence[Disjoint], located: Sequence[Locating]) -> None:
    """A line a judge; of two judges also what each marks alone."""
    header = [
        "judge",
        "texts",
        "errors",
        "people's own",
        "of its examples",
        "or part of one",
        "of the same source",
    ]
    print_aligned(
        header,
        [
            [
                one.judge,
                f"{one.n_texts:,}",
                f"{one.n_errors:,}",
                *map(dashed, (one.of_people, one.of_examples, one.of_examples_or_parts, one.of_same_source)),
            ]
            for one in found
        ],
    )
    print(
        "Shares of errors whose words are the same, character by character; or part of one: inside it or around it."
    )
    if alone:
        print()
        print_aligned(
            ["judge", "errors", "alone", "of these, of the same source", "share"],
            [
                [
                    one.judge,
                    f"{one.n_errors:,}",
                    f"{one.n_alone:,}",
                    f"{one.n_alone_of_same_source:,}",
                    dashed(one.share),
                ]
                for one in alone
            ],
        )
        print("alone: errors whose words the other judge does not name in the same text.")
    for one, where in zip(found, located, strict=True):
        said = ", ".join(f"{how} {n:,}" for how, n in where.located.items())
        print(f"{shown(one.judge)}: quotes found in the text: {said or 'none were named'}.")
        if one.n_without_words:
            print(
                f"{shown(one.judge)}: {counted(one.n_without_words, 'error')} without words, not in the shares."
            )
        print_left_out(one.left_out.items(), one.judge)


def print_curve(found: ExampleCurve) -> None:
    """A line a run, fewest examples first."""
    print(
        f"F1 against {shown(found.gold)}, on {counted(found.n_segments, 'segment')} of "
        f"{counted(found.n_items, 'item')} that all runs marked."
    )
    print_aligned(
        ["run", "examples", "asked for", "shown of a text", "F1", "draws", "mean F1", "SD"],
        [
            [
                point.name,
                point.variant or "-",
                "all" if point.n_examples is None else point.n_examples,
                number(point.mean_shown, 2),
                dashed(point.judge.overall.f1),
                point.judge.n_draws,
                number(point.judge.f1.mean),
                or_dash(point.judge.f1.sd, 4),
            ]
            for point in found.points
        ],
    )
    print(RULE)
    print("Intervals: percentile bootstrap over items; SD: over draws of the examples, ddof 1.")
    print_notes(found.notes)


def print_matrix(found: RaterMatrix) -> None:
    """F1 of every row against every column, then why cells are empty."""
    print("F1: rows predict, columns are the gold; in brackets the texts that both marked.")
    print_aligned(
        ["", *found.columns],
        [
            [
                name,
                *(
                    "-"
                    if cell.agreement is None
                    else f"{or_dash(cell.agreement.f1.estimate)} ({cell.n_segments:,})"
                    for cell in line
                ),
            ]
            for name, line in zip(found.rows, found.cells, strict=True)
        ],
    )
    for said, same in (("with the row's own rater", True), ("with other raters", False)):
        if (mean := mean_f1(found, same=same)) is not None:
            print(f"Mean of cells {said}: {number(mean)}")
    for why in dict.fromkeys(cell.reason for line in found.cells for cell in line if cell.reason):
        print(f"Where - stands: {why}.")
    print(RULE)
    print_notes(found.notes)


def add_specialist_looks(verbs: Commands) -> None:
    """Register the verbs; they ask no model."""
    command = add_reading_verb(
        verbs,
        "copying",
        "errors that a judge copies from its examples, and those it shares with people",
        _copying,
    )
    command.add_argument(
        "judges", nargs="+", metavar=JUDGES, help="judges that mark errors; two are set against each other"
    )
    command.add_argument(
        "--rated",
        metavar="PATH|study:NAME",
        help="the rated texts: rated JSONL, an mt-metrics-eval folder, or an unblinded study (default: what the first run:N "
        "kept)",
    )
    add_pair_option(command)
    command.add_argument(
        "--repeat", type=int, default=1, metavar="N", help="which repeat is looked at (%(default)s)"
    )
    add_interval_options(command, N_RESAMPLES)
    command = add_reading_verb(
        verbs, "examples-curve", "F1 of marked errors against the number of examples", _curve
    )
    command.add_argument("gold", metavar="GOLD", help=f"what people marked: {SPAN_NAMES} ({SPAN_MEANING})")
    command.add_argument(
        "judges", nargs="+", metavar=JUDGES, help="runs of one judge with more and more examples"
    )
    add_mark_options(command)
    command = add_reading_verb(
        verbs, "raters", "rater by rater: who marks what another would have marked?", _raters
    )
    command.add_argument("gold", metavar="GOLD", help=f"ratings that name raters: {SPAN_NAMES}")
    command.add_argument(
        "judges",
        nargs="*",
        metavar="PRED",
        help="whose marks stand against them (default: the raters themselves)",
    )
    add_mark_options(command)
    command.set_defaults(by_rater=True)


def _copying(options: argparse.Namespace) -> None:
    wrong = [f"--repeat: {options.repeat} is not 1 or more"] if options.repeat < 1 else []
    chosen = CopyOptions(options.repeat - 1, **intervals(options, [*wrong, *_twice(options.judges)]))
    with telling("reading what the judges marked") as tell:
        outputs = _named(judges_given(options.judges, options.db), options.judges)
        rated = _rated(options)
        tell("looking for copies")
        found = [error_copying(one, rated, chosen) for one in outputs]
        alone = disjoint_errors(outputs[0], outputs[1], rated, chosen) if len(outputs) == 2 else ()
        located = [locating(one) for one in outputs]
    print_result(options, _copying_json(found, alone, located), print_copying, found, alone, located)


def _copying_json(found: Sequence[Copying], alone: Sequence[Disjoint], located: Sequence[Locating]) -> Any:
    return {
        "judges": [
            {**plain(one), "located": dict(where.located)} for one, where in zip(found, located, strict=True)
        ],
        "disjoint": plain(list(alone)),
    }


def _rated(options: argparse.Namespace) -> RatedSet:
    """The rated texts that the judges worked on. Raises InputError where nothing says which."""
    if options.rated is not None:
        if options.rated.startswith(STUDY):
            with existing_store(options.db) as store:
                study = find_study(store, options.rated.removeprefix(STUDY))
                return read_rated(*rated_of_study(store, study))
        path = Path(options.rated)
        if not path.is_dir():
            return read_rated(read_file(path), path.name)
        folder = read_folder(path, language_pair=options.language_pair)
        return rated_of(folder.outputs, *(folder.ratings[name] for name in usual_ratings(folder.ratings)))
    numbers = [number for one in options.judges if (number := run_number(one)) is not None]
    if not numbers:
        raise InputError(
            "--rated is missing: a folder does not hold the rated texts that its judge worked on; name them (PATH, study:NAME)."
        )
    with existing_store(options.db) as store:
        rated: RatedSet = judging_run(at_hand(store, numbers[0])).contents
        return rated


def _curve(options: argparse.Namespace) -> None:
    chosen = span_options(options, _twice(options.judges))
    with telling("reading what the judges marked") as tell:
        (gold,) = marked_given([options.gold], options)
        outputs = _named(judges_given(options.judges, options.db), options.judges)
        tell("comparing them")
        found = example_curve(
            single(gold), {one.name: one for one in outputs}, texts=gold.texts, options=chosen
        )
    print_result(options, _curve_json(found), print_curve, found)


def _curve_json(found: ExampleCurve) -> Any:
    return {
        "points": [
            {
                "name": point.name,
                "examples": point.variant,
                "n_examples": point.n_examples,
                "mean_shown": point.mean_shown,
                **judge_json(point.judge),
            }
            for point in found.points
        ],
        "tests": [{"first": one.first, "second": one.second, **plain(one.test)} for one in found.tests],
        "n_segments": found.n_segments,
        "n_items": found.n_items,
        "notes": list(found.notes),
    }


def _raters(options: argparse.Namespace) -> None:
    chosen = span_options(options)
    with telling("reading the marked errors") as tell:
        gold, *judges = marked_given([options.gold, *options.judges], options)
        names = _row_names(judges, options.judges)
        tell("rater by rater")
        found = rater_matrix(
            single(gold),
            {name: single(one) for name, one in zip(names, judges, strict=True)} or None,
            raters={name: one.rater for name, one in zip(names, judges, strict=True) if one.judge},
            texts=texts_among([gold, *judges]),
            options=chosen,
        )
    print_result(options, _matrix_json(found), print_matrix, found)


def _row_names(sides: Sequence[Marked], given: Sequence[str]) -> list[str]:
    """A judge by the rater it was made from, where no other one was; else by its own name; files as they are called."""
    raters = [one.rater for one in sides]
    called = [
        replace(one, name=one.rater if one.rater and raters.count(one.rater) == 1 else one.judge or one.name)
        for one in sides
    ]
    return names_apart(called, given)


def _matrix_json(found: RaterMatrix) -> Any:
    return {
        "rows": list(found.rows),
        "columns": list(found.columns),
        "cells": [
            [
                {"n_segments": cell.n_segments, "reason": cell.reason}
                | ({} if cell.agreement is None else f1_json(cell.agreement))
                for cell in line
            ]
            for line in found.cells
        ],
        "mean_f1_same_name": mean_f1(found, same=True),
        "mean_f1_other_names": mean_f1(found, same=False),
        "notes": list(found.notes),
    }


def _twice(given: Sequence[str]) -> list[str]:
    return ["a judge is named twice"] if len(set(given)) < len(given) else []


def _named(outputs: Sequence[JudgeOutput], given: Sequence[str]) -> list[JudgeOutput]:
    """The judges under their own names; under what was given where two share one, so that each can be told."""
    names = [one.name for one in outputs]
    return [
        one if names.count(one.name) == 1 else replace(one, name=f"{one.name} ({shown(short_name(where))})")
        for one, where in zip(outputs, given, strict=True)
    ]
