"""Report on the results of judges; no model is called."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.cli.judge.verbs import checked_intervals, verb
from core.cli.shared.giving import (
    Said,
    give,
)
from core.cli.shared.options import (
    Commands,
    add_pair_option,
    name_list,
)
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    add_interval_options,
    reading_of,
    scores_given,
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
from core.schema.scores import ScoreTable
from core.sources.judges import JUDGE_NAMES as JUDGES
from core.sources.judges import texts_scored
from core.sources.named import parse_sources
from core.tables.reading import shown

_N_RESAMPLES = 10_000
_N_TEXTS = 10


def add_reports(verbs: Commands) -> None:
    """Register the verbs that report on results and call no model."""
    _add_compare(verbs)


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
