"""Report on the results of judges; no model is called."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.cli.judge.verbs import check_reading, checked_intervals, verb
from core.cli.shared.giving import (
    Said,
    check_out_file,
    give,
    number,
    out_problems,
)
from core.cli.shared.options import (
    Commands,
    add_pair_option,
    name_list,
)
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    N_RESAMPLES,
    add_interval_options,
    add_mark_options,
    marked_given,
    names_apart,
    reading_of,
    scores_given,
    single,
    span_options,
    texts_among,
)
from core.cli.spans import f1_json, judge_json
from core.errors import InputError, counted
from core.joining.tables import SAME_NAME
from core.results.cells import plain
from core.results.judges.agreement import (
    Agreement,
    agreement,
    agreement_table,
    apart_table,
    pairs_table,
    same_components,
)
from core.results.judges.copying import (
    Copying,
    CopyOptions,
    Disjoint,
    alone_table,
    copied_table,
    disjoint_errors,
    error_copying,
)
from core.results.judges.cross_examination import (
    ablation,
    ablation_table,
    confusion,
    rates_table,
    reasked_table,
    reliability,
)
from core.results.judges.spans import (
    ExampleCurve,
    Locating,
    RaterMatrix,
    curve_table,
    differences_table,
    example_curve,
    locating,
    mean_f1,
    rater_matrix,
    raters_table,
)
from core.schema.scores import JudgeOutput, RatedSet, ScoreTable
from core.sources.judges import JUDGE_NAMES as JUDGES
from core.sources.judges import answers_of, judge_of, texts_scored
from core.sources.named import RunSource, parse_source, parse_sources, short_name
from core.sources.reading import read_each
from core.sources.spans import SPAN_MEANING, SPAN_NAMES, Marked
from core.sources.texts import rated_texts_of_source
from core.tables.reading import shown

_N_RESAMPLES = 10_000
_N_TEXTS = 10


def add_reports(verbs: Commands) -> None:
    """Register the verbs that report on results and call no model."""
    command = verb(
        verbs,
        "reliability",
        "how often models confirm each other's questions and answers: ADR and ADS",
        _reliability,
        "judge-reliability",
    )
    command.add_argument(
        "answers", nargs="+", metavar=JUDGES, help="results of `judge answers`, one for each model"
    )
    add_interval_options(command, _N_RESAMPLES)
    command = verb(
        verbs,
        "ablation",
        "how much cross-examinations vary over repeats, by number of questions",
        _ablation,
        "judge-ablation",
    )
    command.add_argument("judges", nargs="+", metavar=JUDGES, help="cross-examinations with --repeats")
    command = verb(
        verbs,
        "reasked",
        "compare expected answers with the model's own answers to the same questions",
        _reasked,
        "judge-reasked",
    )
    command.add_argument("judge", metavar=JUDGES, help="a cross-examination with --reask")
    command.add_argument(
        "--confidence", type=float, default=0.95, help="confidence level of intervals (default %(default)s)"
    )
    _add_compare(verbs)
    _add_copying(verbs)
    _add_curve_and_raters(verbs)


def _add_compare(verbs: Commands) -> None:
    command = verb(
        verbs,
        "compare",
        "compare two judges on the same texts: agreement, and texts on which they differ",
        _compare,
        "agreement",
        "two-judges",
        "judge-components",
    )
    command.add_argument("first", metavar="A", help=f"{JUDGES}, or a table of scores")
    command.add_argument("second", metavar="B", help="the second one")
    command.add_argument(
        "--metrics",
        metavar="NAME_A,NAME_B",
        help="one column of each (default: matching columns, e.g. both coverages, or a single column with all others)",
    )
    command.add_argument(
        "--texts",
        type=int,
        default=_N_TEXTS,
        metavar="N",
        help="number of texts to show, largest difference first (default %(default)s)",
    )
    add_pair_option(command)
    add_interval_options(command, _N_RESAMPLES)


def _reliability(options: argparse.Namespace) -> None:
    made = checked_intervals(options, options.answers)
    with telling("reading the answers") as tell:
        sets = read_each(options.answers, lambda one: answers_of(one, reading_of(options)))
        tell("comparing the answers")
        found = reliability(sets, **made)
    said = (
        f"{len(found.models)} models, {counted(found.n_items, 'item')}. ADR: how often the others do not confirm a "
        "model's questions. ADS: how often its answer differs from the majority. Lower is better."
    )
    give(options, plain(found), [said, rates_table(found)])


def _ablation(options: argparse.Namespace) -> None:
    check_reading(options, options.judges)
    rows = ablation(_outputs(options.judges, options))
    extra = ("percent_variance_of_mean", "percent_variance_within")
    give(options, [_with(row, extra) for row in rows], [ablation_table(rows)])


def _reasked(options: argparse.Namespace) -> None:
    if not 0 < options.confidence < 1:
        raise InputError(f"--confidence: {options.confidence} is not between 0 and 1.")
    check_reading(options, [options.judge])
    output = judge_of(parse_source(options.judge), reading_of(options))
    found = confusion(output, confidence_level=options.confidence)
    said = f"{shown(found.judge)}: expected answers (rows) against the model's own answers to the same questions (columns)."
    give(options, plain(found), [said, reasked_table(found)])


def _compare(options: argparse.Namespace) -> None:
    wrong = [f"--texts: {options.texts} is negative; 0 shows none"] if options.texts < 0 else []
    made = checked_intervals(options, [options.first, options.second], wrong)
    with telling("reading the scores") as tell:
        first, second = scores_given([options.first, options.second], options)
        found = []
        for a, b in _pairs(first, second, name_list(options.metrics)):
            tell(f"comparing {a} and {b}")
            found.append(agreement(first, a, second, b, **made))
    give(options, [_agreement_json(one, options.texts) for one in found], _agreement_said(found, options))


def _agreement_said(found: Sequence[Agreement], options: argparse.Namespace) -> Said:
    """Return every measure and the largest differences for a single pair of columns, or one row for each of several."""
    if len(found) > 1:
        return [pairs_table(found), "--metrics NAME_A,NAME_B shows the texts on which two of them differ."]
    (one,) = found
    said = f"{shown(one.metric_a)} and {shown(one.metric_b)}: {counted(one.n, 'text')} scored by both."
    if not one.disagreements[: options.texts]:
        return [said, agreement_table(one)]
    sources, reading = parse_sources([options.first, options.second]), reading_of(options)
    texts = [named for source in sources for named in texts_scored(source, reading)]
    return [said, agreement_table(one), "", apart_table(one, texts, options.texts)]


def _pairs(first: ScoreTable, second: ScoreTable, asked: list[str] | None) -> list[tuple[str, str]]:
    """Match columns of the first table with columns of the second. Raises InputError if no match is clear."""
    names = [[metric.name for metric in table.metrics] for table in (first, second)]
    if asked is not None:
        if len(asked) != 2:
            raise InputError(
                "--metrics: name one column of each, separated by a comma, e.g. rubric-a,rubric-b."
            )
        return [(asked[0], _without_number(asked[1], names[1]))]
    if pairs := same_components(first, second):
        return list(pairs)
    if 1 in (len(names[0]), len(names[1])):  # a single column against each column of the other
        return [(a, b) for a in names[0] for b in names[1]]
    if same := [(name, name) for name in names[0] if name in names[1]]:
        return same
    raise InputError(
        "Choose the columns to compare: --metrics A,B",
        [
            f"{shown(table.file_name)} has {', '.join(map(shown, own))}"
            for table, own in zip((first, second), names, strict=True)
        ],
    )


def _without_number(name: str, names: Sequence[str]) -> str:
    """Return the second table's own name for a column that is printed with `#2` because both tables have it."""
    own = name.removesuffix(f"{SAME_NAME}2")
    return own if name not in names and own in names else name


def _agreement_json(one: Agreement, n_texts: int) -> Any:
    """Return the result with the first n_texts disagreements, each with the difference of its percentiles."""
    apart = [_with(text, ("difference",)) for text in one.disagreements[:n_texts]]
    return plain(replace(one, disagreements=())) | {"disagreements": apart}


def _with(value: Any, properties: Sequence[str]) -> Any:
    """Return a result as JSON values, with some of its computed properties."""
    return {**plain(value), **{name: plain(getattr(value, name)) for name in properties}}


def _add_copying(verbs: Commands) -> None:
    command = verb(
        verbs,
        "copying",
        "count the errors that a judge copies from its examples, and those that people marked too",
        _copying,
        "copied-errors",
        "marked-alone",
    )
    command.add_argument(
        "judges",
        nargs="+",
        metavar=JUDGES,
        help="judges that mark errors; two are also compared with each other",
    )
    command.add_argument(
        "--rated",
        metavar="PATH|study:NAME",
        help="the rated texts: rated JSONL, an mt-metrics-eval folder, or an unblinded study (default: those of the first "
        "run:N)",
    )
    add_pair_option(command)
    command.add_argument(
        "--repeat", type=int, default=1, metavar="N", help="which repeat to use (default %(default)s)"
    )
    add_interval_options(command, N_RESAMPLES)


def _add_curve_and_raters(verbs: Commands) -> None:
    command = verb(
        verbs,
        "examples-curve",
        "F1 of marked errors against the number of examples",
        _curve,
        "examples-curve",
        "examples-curve-tests",
    )
    command.add_argument(
        "gold", metavar="GOLD", help=f"errors marked by people: {SPAN_NAMES} ({SPAN_MEANING})"
    )
    command.add_argument(
        "judges", nargs="+", metavar=JUDGES, help="runs of one judge with increasing numbers of examples"
    )
    add_mark_options(command)
    command = verb(
        verbs,
        "raters",
        "compare each rater's marked errors with those of every other rater or judge",
        _raters,
        "raters",
    )
    command.add_argument("gold", metavar="GOLD", help=f"ratings that name raters: {SPAN_NAMES}")
    command.add_argument(
        "judges",
        nargs="*",
        metavar="PRED",
        help="judges to compare with the raters (default: the raters with each other)",
    )
    add_mark_options(command)
    command.set_defaults(by_rater=True)


def _copying(options: argparse.Namespace) -> None:
    wrong = [f"--repeat: {options.repeat} is not 1 or more"] if options.repeat < 1 else []
    given = checked_intervals(options, [*options.judges, options.rated], [*wrong, *_twice(options.judges)])
    chosen = CopyOptions(options.repeat - 1, **given)
    with telling("reading the marked errors") as tell:
        outputs = _named(_outputs(options.judges, options), options.judges)
        rated = _rated_by(options)
        tell("searching for copies")
        found = [error_copying(one, rated, chosen) for one in outputs]
        alone = disjoint_errors(outputs[0], outputs[1], rated, chosen) if len(outputs) == 2 else ()
        located = [locating(one) for one in outputs]
    two: Said = ["", alone_table(alone)] if alone else []
    said = [copied_table(found), *two, *map(_located, found, located)]
    give(options, _copying_json(found, alone, located), said)


def _located(one: Copying, where: Locating) -> str:
    said = ", ".join(f"{how} {n:,}" for how, n in where.located.items())
    return f"{shown(one.judge)}: quotes found in the text: {said or 'no quotes'}."


def _copying_json(found: Sequence[Copying], alone: Sequence[Disjoint], located: Sequence[Locating]) -> Any:
    return {
        "judges": [
            {**plain(one), "located": dict(where.located)} for one, where in zip(found, located, strict=True)
        ],
        "disjoint": plain(list(alone)),
    }


def _rated_by(options: argparse.Namespace) -> RatedSet:
    """Return the rated texts that the judges read. Raises InputError if they are not known."""
    runs = [one for one in parse_sources(options.judges) if isinstance(one, RunSource)]
    if options.rated is None and not runs:
        raise InputError(
            "--rated is missing: a judge's folder does not contain the rated texts. Name them: PATH or study:NAME."
        )
    source = runs[0] if options.rated is None else parse_source(options.rated)
    return rated_texts_of_source(source, reading_of(options))


def _curve(options: argparse.Namespace) -> None:
    chosen = span_options(options, [*_twice(options.judges), *out_problems(options)])
    check_out_file(options, [options.gold, *options.judges])
    with telling("reading the marked errors") as tell:
        (gold,) = marked_given([options.gold], options)
        outputs = _named(_outputs(options.judges, options), options.judges)
        tell("comparing the marked errors")
        found = example_curve(
            single(gold), {one.name: one for one in outputs}, texts=gold.texts, options=chosen
        )
    said = (
        f"F1 against {shown(found.gold)}, on {counted(found.n_segments, 'segment')} of "
        f"{counted(found.n_items, 'item')} that all runs marked."
    )
    tests = differences_table(found.tests, "examples-curve-tests")
    give(options, _curve_json(found), [said, curve_table(found), "", tests])


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
        "tests": [
            {"first": one.first, "second": one.second, **plain(one.test), "p_holm": one.p_holm}
            for one in found.tests
        ],
        "n_segments": found.n_segments,
        "n_items": found.n_items,
        "notes": list(found.notes),
    }


def _raters(options: argparse.Namespace) -> None:
    chosen = span_options(options, out_problems(options))
    check_out_file(options, [options.gold, *options.judges])
    with telling("reading the marked errors") as tell:
        gold, *judges = marked_given([options.gold, *options.judges], options)
        names = _row_names(judges, options.judges)
        tell("comparing raters")
        found = rater_matrix(
            single(gold),
            {name: single(one) for name, one in zip(names, judges, strict=True)} or None,
            raters={name: one.rater for name, one in zip(names, judges, strict=True) if one.judge},
            texts=texts_among([gold, *judges]),
            options=chosen,
        )
    means = (
        ("with the rater of the same name", mean_f1(found, same=True)),
        ("with other raters", mean_f1(found, same=False)),
    )
    said = [f"Mean F1 {whose}: {number(mean)}" for whose, mean in means if mean is not None]
    give(options, _matrix_json(found), [raters_table(found), *said])


def _row_names(sides: Sequence[Marked], given: Sequence[str]) -> list[str]:
    """Name a judge by the only rater among its examples if no other judge has the same; else by its own name; name a file by its name."""
    raters = [one.rater for one in sides]
    called = [
        replace(one, name=one.rater if one.rater and raters.count(one.rater) == 1 else one.judge or one.name)
        for one in sides
    ]
    return names_apart([one.name for one in called], given)


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


def _outputs(written: Sequence[str], options: argparse.Namespace) -> list[JudgeOutput]:
    """Read judges' outputs from folders or runs. Raises InputError with all problems."""
    reading = reading_of(options)
    return read_each(written, lambda source: judge_of(source, reading))


def _twice(given: Sequence[str]) -> list[str]:
    return ["the same judge is given twice"] if len(set(given)) < len(given) else []


def _named(outputs: Sequence[JudgeOutput], given: Sequence[str]) -> list[JudgeOutput]:
    """Return the judges under their own names; two with one name also get the name of their folder or run."""
    names = [one.name for one in outputs]
    return [
        one
        if names.count(one.name) == 1
        else replace(one, name=f"{one.name} ({shown(short_name(parse_source(where)))})")
        for one, where in zip(outputs, given, strict=True)
    ]
