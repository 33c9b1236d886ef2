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
    out_problems,
)
from core.cli.shared.options import (
    Commands,
    add_pair_option,
)
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    N_RESAMPLES,
    add_interval_options,
    add_mark_options,
    marked_given,
    reading_of,
    single,
    span_options,
)
from core.errors import InputError, counted
from core.results.cells import plain
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
    JudgeSpans,
    Locating,
    curve_table,
    differences_table,
    example_curve,
    locating,
)
from core.schema.scores import JudgeOutput, RatedSet
from core.sources.judges import JUDGE_NAMES as JUDGES
from core.sources.judges import answers_of, judge_of
from core.sources.named import RunSource, parse_source, parse_sources, short_name
from core.sources.reading import read_each
from core.sources.spans import SPAN_MEANING, SPAN_NAMES
from core.sources.texts import rated_texts_of_source
from core.stats.span_f1 import SpanF1
from core.tables.reading import shown

_N_RESAMPLES = 10_000


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
    _add_copying(verbs)
    _add_curve(verbs)


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


def _add_curve(verbs: Commands) -> None:
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


def _f1_json(found: SpanF1) -> dict[str, Any]:
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


def _judge_json(one: JudgeSpans) -> dict[str, Any]:
    """Return means and standard deviations over draws. The intervals belong to the mean counts."""
    measures = {"precision": one.precision, "recall": one.recall, "f1": one.f1}
    return {
        **_f1_json(one.overall),
        **{name: draws.mean for name, draws in measures.items()},
        "sd": {name: draws.sd for name, draws in measures.items()},
        "n_draws": one.n_draws,
    }


def _curve_json(found: ExampleCurve) -> Any:
    return {
        "points": [
            {
                "name": point.name,
                "examples": point.variant,
                "n_examples": point.n_examples,
                "mean_shown": point.mean_shown,
                **_judge_json(point.judge),
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
