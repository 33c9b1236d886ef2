"""`judge reliability|ablation|consistency|reasked|compare|costs`: what the judges' own answers tell about them."""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.analysis.judge_agreement import Agreement, agreement, same_components
from core.analysis.judge_consistency import consistency
from core.analysis.judge_costs import costs_side_by_side
from core.analysis.judge_reliability import reliability
from core.analysis.merging import SAME_NAME
from core.analysis.question_ablation import ablation
from core.analysis.reasked import confusion
from core.cli.agreement_printed import print_agreement
from core.cli.as_json import plain
from core.cli.judge_printed import (
    print_ablation,
    print_consistency,
    print_costs,
    print_reasked,
    print_reliability,
)
from core.cli.judges_given import NAMES, answers_given, costs_given, judges_given, scores_given
from core.cli.options import Commands, add_pair_option, add_reading_verb, json_text, name_list, print_result
from core.cli.progress_line import telling
from core.cli.score_sources import add_interval_options, intervals
from core.cli.setting_options import add_settings, settings_given
from core.cli.texts_compared import texts_of
from core.datasets.reading import shown
from core.errors import InputError
from core.runs.asked import Running
from core.schema.scores import ScoreTable
from core.schema.settings import fields_of

_N_RESAMPLES = 10_000
_N_TEXTS = 10
_PRICES = {"input_price", "output_price"}
_COUNTED = ("calls", "input_tokens", "output_tokens", "money")
"""What a cost is told of for one item and one text."""


def add_looks(verbs: Commands) -> None:
    """Register the verbs that ask no model."""
    command = add_reading_verb(
        verbs,
        "reliability",
        "how often models confirm each other's questions and answers: ADR and ADS",
        _reliability,
    )
    command.add_argument("answers", nargs="+", metavar=NAMES, help="what `judge answers` wrote, one a model")
    add_interval_options(command, _N_RESAMPLES)
    command = add_reading_verb(
        verbs, "ablation", "how much cross-examinations vary over repeats, by number of questions", _ablation
    )
    command.add_argument("judges", nargs="+", metavar=NAMES, help="cross-examinations with --repeats")
    command = add_reading_verb(
        verbs, "consistency", "does a judge say the same again, and in the other order?", _consistency
    )
    command.add_argument("judge", metavar=NAMES, help="a judge with --repeats or --order both")
    add_interval_options(command, _N_RESAMPLES)
    command = add_reading_verb(
        verbs, "reasked", "expected answers against those to the same question asked again", _reasked
    )
    command.add_argument("judge", metavar=NAMES, help="a cross-examination with --reask")
    command.add_argument("--confidence", type=float, default=0.95, help="of intervals (default %(default)s)")
    _add_compare(verbs)
    command = add_reading_verb(
        verbs, "costs", "judges side by side: calls, tokens and money by step and text", _costs
    )
    command.add_argument("judges", nargs="+", metavar=NAMES, help="what judges wrote")
    add_settings(command, Running, without=fields_of(Running).keys() - _PRICES)


def _add_compare(verbs: Commands) -> None:
    command = add_reading_verb(
        verbs, "compare", "two judges on the same texts: agreement, and where they part", _compare
    )
    command.add_argument("first", metavar="A", help=f"{NAMES}, or a table of scores")
    command.add_argument("second", metavar="B", help="the other one")
    command.add_argument(
        "--metrics",
        metavar="NAME_A,NAME_B",
        help="a column of each (default: those that say the same, such as both coverages, or an only one with all)",
    )
    command.add_argument(
        "--texts",
        type=int,
        default=_N_TEXTS,
        metavar="N",
        help="texts that are shown, furthest apart first (%(default)s)",
    )
    add_pair_option(command)
    add_interval_options(command, _N_RESAMPLES)


def _reliability(options: argparse.Namespace) -> None:
    made = intervals(options)
    with telling("reading the answers") as tell:
        sets = answers_given(options.answers, options.db)
        tell("comparing the answers")
        found = reliability(sets, **made)
    print_result(options, plain(found), print_reliability, found)


def _ablation(options: argparse.Namespace) -> None:
    rows = ablation(judges_given(options.judges, options.db))
    extra = ("percent_variance_of_mean", "percent_variance_within")
    print_result(options, [_with(row, extra) for row in rows], print_ablation, rows)


def _consistency(options: argparse.Namespace) -> None:
    made = intervals(options)
    (output,) = judges_given([options.judge], options.db)
    found = consistency(output, **made)
    if why := found.compares_nothing:
        raise InputError(
            f"{shown(output.name)} cannot be compared with itself: {why}. Judge with --repeats, or a rubric judge with "
            "--order both."
        )
    print_result(options, plain(found), print_consistency, found)


def _reasked(options: argparse.Namespace) -> None:
    if not 0 < options.confidence < 1:
        raise InputError(f"--confidence: {options.confidence} does not lie between 0 and 1.")
    (output,) = judges_given([options.judge], options.db)
    found = confusion(output, confidence_level=options.confidence)
    print_result(options, plain(found), print_reasked, found)


def _compare(options: argparse.Namespace) -> None:
    wrong = [f"--texts: {options.texts} is negative; 0 shows none"] if options.texts < 0 else []
    made = intervals(options, wrong)
    with telling("reading the scores") as tell:
        first, second = scores_given([options.first, options.second], options)
        found = []
        for a, b in _pairs(first, second, name_list(options.metrics)):
            tell(f"comparing {a} and {b}")
            found.append(agreement(first, a, second, b, **made))
    if options.json:
        print(json_text([_agreement_json(one, options.texts) for one in found]))
    else:
        alone = len(found) == 1 and options.texts
        print_agreement(
            found, options.texts, texts_of([options.first, options.second], options.db) if alone else ()
        )


def _pairs(first: ScoreTable, second: ScoreTable, asked: list[str] | None) -> list[tuple[str, str]]:
    """Which column of the first goes with which of the second. Raises InputError where nothing tells."""
    names = [[metric.name for metric in table.metrics] for table in (first, second)]
    if asked is not None:
        if len(asked) != 2:
            raise InputError(
                "--metrics: name a column of each with a comma between them, such as rubric-a,rubric-b."
            )
        return [(asked[0], _without_number(asked[1], names[1]))]
    if pairs := same_components(first, second):
        return list(pairs)
    if 1 in (len(names[0]), len(names[1])):  # one verdict against each of the other's scores
        return [(a, b) for a in names[0] for b in names[1]]
    if same := [(name, name) for name in names[0] if name in names[1]]:
        return same
    raise InputError(
        "Nothing tells which scores are to be compared: name a column of each with --metrics",
        [
            f"{shown(table.file_name)} has {', '.join(map(shown, own))}"
            for table, own in zip((first, second), names, strict=True)
        ],
    )


def _without_number(name: str, names: Sequence[str]) -> str:
    """A column of the second table under its own name: where both have one name it is printed with `#2`."""
    own = name.removesuffix(f"{SAME_NAME}2")
    return own if name not in names and own in names else name


def _agreement_json(one: Agreement, n_texts: int) -> Any:
    """Without the texts that were not asked for; each with the difference of its percentiles."""
    apart = [_with(text, ("difference",)) for text in one.disagreements[:n_texts]]
    return plain(replace(one, disagreements=())) | {"disagreements": apart}


def _costs(options: argparse.Namespace) -> None:
    prices = settings_given(options, Running)  # in the place of the run's own
    Running.checked(prices)
    entries = costs_given(options.judges, options.db)
    names = Counter(one.name for one in entries)
    # Of two judges of one name, each says where it is from.
    called = [
        f"{one.name} ({given})" if names[one.name] > 1 else one.name
        for given, one in zip(options.judges, entries, strict=True)
    ]
    rows = costs_side_by_side(
        [replace(one, name=name, **prices) for name, one in zip(called, entries, strict=True)]
    )
    each = [f"{what}_per_{of}" for what in _COUNTED for of in ("item", "text")]
    print_result(options, [_with(row, each) for row in rows], print_costs, rows)


def _with(value: Any, properties: Sequence[str]) -> Any:
    """A result with numbers that it works out itself."""
    return {**plain(value), **{name: plain(getattr(value, name)) for name in properties}}
