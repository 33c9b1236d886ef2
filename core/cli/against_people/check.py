"""`check`: can this judge be trusted for a use?"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.analyses.agreement import ANALYSIS as PEOPLE_ALONE
from core.analyses.agreement import no_judge, without_judge_json
from core.cli.against_people.card import add_card_options, card_problems, write_card
from core.cli.against_people.gaps import (
    add_gap_options,
    gap_problems,
    gap_results,
    texts_beside_given,
)
from core.cli.against_people.next_labels import (
    NEXT_TABLE,
    add_next_options,
    next_given,
    next_problems,
    with_new_labels,
)
from core.cli.against_people.prices import add_price_options, judge_facts
from core.cli.shared.giving import add_result_options, check_out_file, give, out_problems
from core.cli.shared.options import Commands, check_options, check_out, in_options
from core.cli.shared.running import telling
from core.cli.shared.setting_options import add_settings, settings_given
from core.cli.shared.sources import add_panel_options, open_panel, open_people
from core.errors import InputError
from core.report import json_of
from core.results.check.choosing import WHICH_TABLES, which_json, which_of, which_said, which_tables
from core.results.check.drift import (
    DRIFT_TABLE,
    drift,
    drift_json,
    drift_said,
    drift_table,
    read_earlier,
)
from core.results.check.gaps import GAPS
from core.results.check.options import CheckOptions
from core.results.check.tables import CHECK_TABLES, check_json, check_said, check_tables, exit_status
from core.results.check.verdict import Check, check_needs_judge, check_panel
from core.results.injection import MARKED_TABLES, listed_lines
from core.schema.analysis import PanelChoice
from core.schema.panel import Panel
from core.schema.result_table import ResultTable
from core.schema.settings import Remark, as_option, fields_of, said, worded
from core.store import database_path
from core.tables.files import read_file
from core.tables.roles import Undecided

_UNSAID = frozenset({"confidence_level", "n_resamples", "rng"})
"""Settings that this command offers no option for."""


def add_to(nouns: Commands) -> None:
    """Register `check`."""
    command = nouns.add_parser(
        "check",
        description="Compare judges with people's labels and answer TRUSTED, NOT TRUSTED or INCONCLUSIVE for a use. The columns of "
        "people and judges are found by their names; --human and --judge choose others. Without a judge: how far people agree. "
        "Exit status: 0 trusted, 3 not trusted, 4 inconclusive or no judge, 2 bad input. Of several judges: 3 if any is not "
        "trusted, else 4 if any is inconclusive; of several systems with --use certify likewise.",
    )
    add_panel_options(command)
    add_settings(command, CheckOptions, without=_UNSAID)
    add_price_options(command)
    add_gap_options(command)
    add_next_options(command)
    add_card_options(command)
    command.add_argument(
        "--against",
        type=Path,
        metavar="EARLIER.json",
        help="JSON of an earlier check: says whether the judge, the systems or the raters changed; changes no exit status",
    )
    people = (table.name for table in PEOPLE_ALONE.tables)
    add_result_options(
        command, *CHECK_TABLES, *MARKED_TABLES, *WHICH_TABLES, GAPS, NEXT_TABLE, DRIFT_TABLE, *people
    )
    command.set_defaults(run=_check)


def _check(options: argparse.Namespace) -> None:
    problems: list[Remark] = []
    chosen = CheckOptions.read(settings_given(options, CheckOptions, without=_UNSAID), problems)
    fields = fields_of(CheckOptions)
    check_options(
        [
            *(said(problem, fields, as_option) for problem in problems),
            *gap_problems(options),
            *next_problems(options),
            *out_problems(options),
            *card_problems(options),
        ]
    )
    inputs = [options.file, *options.scores, options.against]
    assert chosen is not None
    check_out_file(options, inputs)
    if options.card is not None:
        check_out(options.card, database_path(options.db), [*inputs, options.out], "--card")
    earlier = (
        None if options.against is None else read_earlier(read_file(options.against), options.against.name)
    )
    with telling("reading the ratings") as tell:
        try:
            opened = _panel_or_candidates(options)
            if not isinstance(opened, Panel):
                _give_people_alone(options, opened, tell)
                return
            panel = with_new_labels(opened, options)
            tell("checking")
            found = check_panel(
                panel, chosen, facts=judge_facts(options, panel), texts=texts_beside_given(options, panel)
            )
            panel = found.panel
            further = _which(found)
            next_said, next_tables, next_json = next_given(found, options)
            since = None if earlier is None else drift(found, earlier)
        except InputError as problem:
            named = {"human", "judge", "system_column", "next", "against", *fields}
            raise in_options(problem, named) from problem
    main, *tables = check_tables(found).values()
    gaps, gaps_said = gap_results(options, panel)
    as_json = (
        check_json(found) | dict(further.json) | {one.name: json_of(one) for one in gaps} | {**next_json}
    )
    changed: list[str] = []
    if since is not None:
        changed, as_json["drift"] = drift_said(since), drift_json(since)
        tables.append(drift_table(since))
    if options.card is not None:
        write_card(options, found, changed, gaps)
    printed = [
        *(*check_said(found), *listed_lines(found.injections), *further.said, *changed),
        *(one for table in (main, *further.tables) for one in ("", table)),
        *(*gaps_said, *next_said),
    ]
    options.status = exit_status(found)
    give(options, as_json, printed, [one for one in (*tables, *gaps, *next_tables) if one not in printed])


NO_JUDGE_STATUS = 4
"""Exit status without a judge: that of no verdict. 0 would mean that a judge is trusted."""


def _panel_or_candidates(options: argparse.Namespace) -> Panel | tuple[str, ...]:
    """Return the panel; without any judge in it the columns that may be one's, if people alone can be compared.

    Raises InputError, also without a judge if an option needs one.
    """
    try:
        panel = open_panel(options, find=True)
    except Undecided as problem:
        if not problem.roles.lacks_judge_alone or _needs_a_judge(options):
            raise
        check_needs_judge(getattr(options, "use", None))
        return problem.roles.candidates
    if panel.judges or len(panel.raters) < 2 or _needs_a_judge(options):
        return panel
    check_needs_judge(getattr(options, "use", None))
    return ()


def _needs_a_judge(options: argparse.Namespace) -> bool:
    """Whether the user names a judge, or wants what only a check of a judge gives."""
    named = (options.judge, options.against, options.card, options.next, options.gaps)
    listed = (options.scores, options.labels, options.price, options.seconds)
    return any(one is not None for one in named) or any(listed)


def _give_people_alone(
    options: argparse.Namespace, candidates: Sequence[str], tell: Callable[[str], object]
) -> None:
    """Give the agreement of people with each other, and how to name a judge."""
    answer = PEOPLE_ALONE.answer(PEOPLE_ALONE.Options(), open_people(options), tell=tell)
    sentence = worded(no_judge(candidates), fields_of(PanelChoice), as_option)
    as_json = without_judge_json(sentence, answer)
    further = [table for table in answer.tables.values() if table not in answer.printed]
    options.status = NO_JUDGE_STATUS
    give(
        options,
        as_json,
        [sentence, *answer.said, *(one for table in answer.printed for one in ("", table))],
        further,
    )


@dataclass(frozen=True)
class _Which:
    """The choice among several judges; empty for one."""

    said: Sequence[str] = ()
    tables: Sequence[ResultTable] = ()
    json: Mapping[str, Any] = field(default_factory=dict)


def _which(found: Check) -> _Which:
    if not found.chooses:
        return _Which()
    try:
        choice = which_of(found)
    except InputError as problem:  # such as judges without a common text: their verdicts hold all the same
        return _Which([str(problem)])
    return _Which(which_said(choice), [*which_tables(choice).values()], {"which": which_json(choice)})
