"""Report on the results of judges; no model is called."""

import argparse
from collections import Counter
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
    name_list,
)
from core.cli.shared.running import telling
from core.cli.shared.setting_options import add_settings, settings_given
from core.cli.shared.sources import (
    N_RESAMPLES,
    add_interval_options,
    add_mark_options,
    marked_given,
    read_each,
    reading_of,
    scores_given,
    single,
    span_options,
)
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
from core.results.judges.consistency import consistency, orders_table, repeats_table
from core.results.judges.copying import (
    Copying,
    CopyOptions,
    Disjoint,
    alone_table,
    copied_table,
    disjoint_errors,
    error_copying,
)
from core.results.judges.costs import EACH, UNITS, cost_table, costs_side_by_side
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
from core.runs.asked import Running
from core.schema.scores import JudgeOutput, RatedSet, ScoreTable
from core.schema.settings import fields_of
from core.sources.judges import JUDGE_NAMES as JUDGES
from core.sources.judges import answers_of, check_each_once, cost_of, judge_of, texts_scored
from core.sources.named import RunSource, parse_source, parse_sources, short_name
from core.sources.spans import SPAN_MEANING, SPAN_NAMES
from core.sources.texts import rated_texts_of_source
from core.stats.span_f1 import SpanF1
from core.tables.reading import shown

_N_RESAMPLES = 10_000
_N_TEXTS = 10
_PRICES = {"input_price", "output_price"}


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
        "consistency",
        "compare a judge's repeats, and its scores in both orders",
        _consistency,
        "judge-repeats",
        "judge-orders",
    )
    command.add_argument("judge", metavar=JUDGES, help="a judge with --repeats or --order both")
    add_interval_options(command, _N_RESAMPLES)
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
    command = verb(
        verbs,
        "costs",
        "compare the cost of judges: calls, tokens and money by step and text",
        _costs,
        "judge-costs",
    )
    command.add_argument("judges", nargs="+", metavar=JUDGES, help="results of judges")
    add_settings(command, Running, without=fields_of(Running).keys() - _PRICES)
    _add_copying(verbs)
    _add_curve(verbs)


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


def _consistency(options: argparse.Namespace) -> None:
    made = checked_intervals(options, [options.judge])
    output = judge_of(parse_source(options.judge), reading_of(options))
    found = consistency(output, **made)
    if why := found.compares_nothing:
        raise InputError(
            f"{shown(output.name)} cannot be compared with itself: {why}. Run the judge with --repeats, or a rubric judge "
            "with --order both."
        )
    orders_used = f", in the order {' and '.join(found.orders)}" if found.orders else ""
    said = f"{shown(found.judge)}: {counted(found.n_texts, 'text')}, {counted(found.n_repeats, 'repeat')}{orders_used}."
    orders: Said = [] if found.order is None else ["", orders_table(found.order, found.orders)]
    give(options, plain(found), [said, *found.constants, repeats_table(found), *orders])


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


def _costs(options: argparse.Namespace) -> None:
    check_reading(options, options.judges)
    prices = settings_given(options, Running)  # replace the run's own
    Running.checked(prices)
    reading = reading_of(options)
    entries = read_each(options.judges, lambda one: cost_of(one, reading))
    check_each_once(parse_sources(options.judges), reading)
    names = Counter(one.name for one in entries)
    # Two judges with one name are printed with their folder or run.
    called = [
        f"{one.name} ({given})" if names[one.name] > 1 else one.name
        for given, one in zip(options.judges, entries, strict=True)
    ]
    rows = costs_side_by_side(
        [replace(one, name=name, **prices) for name, one in zip(called, entries, strict=True)]
    )
    each = [{f"{what}_per_{unit}": row.each(what, unit) for what in EACH for unit in UNITS} for row in rows]
    as_json = [plain(row) | own for row, own in zip(rows, each, strict=True)]
    give(options, as_json, [cost_table(rows, ("all", "text"))])


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
