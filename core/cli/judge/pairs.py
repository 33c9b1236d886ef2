"""`report pairs`: what the order does to a judge that compares pairs, and whether it votes as blind raters do."""

import argparse

from core.cli.judge.verbs import checked_intervals, verb
from core.cli.shared.giving import give
from core.cli.shared.options import Commands
from core.cli.shared.running import telling
from core.cli.shared.sources import add_interval_options, reading_of
from core.errors import NotAllowed
from core.results.judges.pairwise import (
    EPSILON,
    PAIRS_TABLES,
    pairs_json,
    pairs_report,
    pairs_said,
    pairs_tables,
)
from core.schema.study import StudyRecord
from core.sources.judges import JUDGE_NAMES, judge_of
from core.sources.named import parse_source

_N_RESAMPLES, _N_GAPS = 10_000, 10


def add_to(verbs: Commands) -> None:
    """Register `report pairs`."""
    command = verb(
        verbs,
        "pairs",
        "report on a judge of pairs: both orders, ties, win rates, and agreement with the votes of a study",
        _pairs,
        *PAIRS_TABLES,
    )
    command.add_argument("judge", metavar=JUDGE_NAMES, help="results of `judge pairwise`")
    command.add_argument(
        "--study",
        metavar="NAME",
        help="an unblinded study of the same pairs, or a bundle: compare agreement with its raters and among them",
    )
    command.add_argument(
        "--epsilon",
        type=float,
        default=EPSILON,
        help="with --study: the price of a rater in the Alt-test (default %(default)s)",
    )
    command.add_argument(
        "--gaps",
        type=int,
        default=_N_GAPS,
        metavar="N",
        help="with --study: pairs on which judge and people differ most (default %(default)s)",
    )
    command.add_argument(
        "--texts",
        action="store_true",
        help="with --study: also the texts of these pairs and the judge's reasons, which may be confidential",
    )
    add_interval_options(command, _N_RESAMPLES)


def _pairs(options: argparse.Namespace) -> None:
    wrong = (
        []
        if 0 <= options.epsilon < 1
        else [f"--epsilon: {options.epsilon:g} is not a number from 0 to below 1"]
    )
    if options.gaps < 1:
        wrong.append(f"--gaps: {options.gaps} is not a number from 1")
    if options.study is None:
        wrong += [f"--{name}: only with --study" for name in ("texts",) if getattr(options, name)]
        if options.table in PAIRS_TABLES[-3:]:
            wrong.append(f"--table {options.table}: only with --study")
    made = checked_intervals(options, [options.judge], wrong)
    record = _record(options)
    with telling("reading the verdicts") as tell:
        output = judge_of(parse_source(options.judge), reading_of(options))
        tell("comparing the verdicts")
        found = pairs_report(output, record, epsilon=options.epsilon, **made)
    if options.table == PAIRS_TABLES[2] and found.systems_reason:
        raise NotAllowed(found.systems_reason)
    tables = pairs_tables(found, texts=options.texts, most=options.gaps)
    said = [line for table in tables.values() for line in ("", table)]
    give(options, pairs_json(found), [*pairs_said(found), *said])


def _record(options: argparse.Namespace) -> StudyRecord | None:
    if options.study is None:
        return None
    # Imported lazily: only a study needs bundles.
    from core.sources.studies import study_or_bundle

    return study_or_bundle(options.study, reading_of(options), seen=True)[0]
