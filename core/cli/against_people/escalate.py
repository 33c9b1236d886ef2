"""`escalate`: where a judge can be kept with a promise of agreement, what goes to people, and the corrected total."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, get_args

import numpy as np

from core.cli.shared.giving import add_result_options, check_out_file, give, out_problems
from core.cli.shared.labels import (
    add_labels_option,
    file_given,
    texts_given,
    with_new_labels,
)
from core.cli.shared.options import Commands, check_options, in_options
from core.cli.shared.running import telling
from core.cli.shared.sources import add_panel_options, open_panel, panel_choice, reading_of
from core.errors import InputError
from core.formats.panel.beside import columns_in, numbers_beside
from core.results.check.escalation import (
    AGAINST,
    DEFAULT_OPTIONS,
    ESCALATION_TABLES,
    Against,
    Escalation,
    EscalationOptions,
    escalate,
    escalation_json,
    escalation_said,
    escalation_tables,
    first_labels,
    option_problems,
    sent_from,
    sent_texts,
)
from core.results.check.sureness import (
    COLUMN,
    JUDGES,
    MARGIN,
    REPEATS,
    Sureness,
    Way,
    answers_of,
    confidence_column,
    sureness,
    ways_had,
)
from core.sources.judges import judge_of
from core.sources.named import FileSource, StudySource, parse_source, parse_sources
from core.sources.panel import is_study_of_pairs, margins_of
from core.store import database_path, open_store
from core.tables.reading import shown

if TYPE_CHECKING:
    from core.schema.panel import Panel
    from core.stats.resampling import Floats

NO_THRESHOLD = 4
"""Exit status where no threshold keeps the promise."""
_WAYS = (
    "name a column with the judge's confidence (--confidence COLUMN), a run with repeats (run:N), several judges "
    "(--judge A,B,C), or state a cut of its scores (--cut X)"
)


def add_to(nouns: Commands) -> None:
    """Register `escalate`."""
    command = nouns.add_parser(
        "escalate",
        description="Choose the confidence from which a judge agrees with people as often as promised (Jung, Brahman and Choi, ICLR "
        "2025), show the share of texts that it keeps, make a study of the others, and correct the total by the labels that come back. "
        "Exit status: 0 with a threshold, 4 if none keeps the promise, 2 bad input.",
    )
    add_panel_options(command)
    command.add_argument(
        "--confidence",
        metavar="COLUMN",
        help=f"column with the judge's confidence, larger is surer; or {REPEATS} (share of equal answers of a run), {JUDGES} (share of "
        f"several judges with the majority's verdict) or {MARGIN} (distance of the pair's margin from where the vote changes) (default: what the inputs have)",
    )
    command.add_argument(
        "--cut",
        type=float,
        metavar="X",
        help="for numeric scores and two classes: scores from X on are the better class, and the distance from X is the confidence. Choose "
        "X without looking at labels",
    )
    command.add_argument(
        "--agreement",
        type=float,
        default=DEFAULT_OPTIONS.agreement,
        help="agreement with people that is promised for the kept texts (default %(default)s)",
    )
    command.add_argument(
        "--delta",
        type=float,
        default=DEFAULT_OPTIONS.delta,
        help="largest probability that the promise is broken (default %(default)s)",
    )
    command.add_argument(
        "--against",
        choices=get_args(Against),
        default=DEFAULT_OPTIONS.against,
        help="; ".join(f"{name}: {what}" for name, what in AGAINST.items()) + " (default %(default)s)",
    )
    command.add_argument(
        "--start",
        type=int,
        metavar="N",
        help="labelled items that the first threshold tested must keep; choose it before you see the result (default: the fewest that "
        "can pass, 22 for .9 and .1)",
    )
    command.add_argument(
        "--pass",
        dest="passes",
        metavar="VALUE",
        help="for the total: rating that counts as a pass, as in `corrected`",
    )
    command.add_argument(
        "--study",
        metavar="NAME",
        help="make a rating study of the texts for people, in draft, on the raters' scale",
    )
    command.add_argument(
        "--send",
        type=int,
        metavar="N",
        help="with --study: only N of these texts, drawn at random (default: all)",
    )
    command.add_argument(
        "--audit",
        type=int,
        default=0,
        metavar="N",
        help="with --study: also N kept texts, drawn at random, whose labels correct the kept ones from 30 on (default %(default)s)",
    )
    command.add_argument(
        "--seed", type=int, default=0, help="seed of --send and of the texts' order (default %(default)s)"
    )
    add_labels_option(command, "--study")
    add_result_options(command, *ESCALATION_TABLES)
    command.set_defaults(run=_escalate)


def _escalate(options: argparse.Namespace) -> None:
    chosen = EscalationOptions(
        options.agreement, options.delta, options.against, options.start, passes=options.passes
    )
    wrong = [f"--{problem}" for problem in option_problems(chosen)]
    if options.send is not None and options.study is None:
        wrong.append("--send: needs a study, --study NAME")
    elif options.send is not None and options.send < 1:
        wrong.append(f"--send: must be at least 1, got {options.send}")
    if options.audit and options.study is None:
        wrong.append("--audit: needs a study, --study NAME")
    elif options.audit < 0:
        wrong.append(f"--audit: must be at least 0, got {options.audit}")
    if options.cut is not None and options.confidence is not None:
        wrong.append("--cut: gives a confidence of its own; leave out --confidence")
    check_options([*wrong, *out_problems(options)])
    check_out_file(options, [options.file, *options.scores])
    with telling("reading the ratings") as tell:
        try:
            before = open_panel(options, find=True)
            panel = with_new_labels(before, options)
            sure = _sureness(panel, options)
            tell("testing thresholds")
            panel, new = first_labels(before, panel)
            back = new if options.labels else None
            found = escalate(panel, sure, chosen, returned=back)
            made = [] if options.study is None else _study(found, options)
        except InputError as problem:
            named = {"human", "judge", "confidence", "cut", "send", "audit", "pass", *vars(chosen)}
            raise in_options(problem, named) from problem
    main, thresholds, total, texts = escalation_tables(found).values()
    lines = [*escalation_said(found), *made]
    if found.sent and options.study is None and not options.labels:
        lines.append("The same command with `--study NAME` makes a study of the texts for people.")
    options.status = NO_THRESHOLD if found.chosen is None else 0
    give(options, escalation_json(found), [*lines, "", main, "", thresholds, "", total], [texts])


def _study(found: Escalation, options: argparse.Namespace) -> list[str]:
    """Make the study of `--study`."""
    from core.results.check.next_labels import draft_study  # imported lazily: loads studies

    sent = sent_texts(found, options.send, audit=options.audit, rng=options.seed)
    texts, why = texts_given(found.panel, options)
    if why is not None and not any(texts):
        raise why
    with open_store(database_path(options.db)) as store:
        study, _ = draft_study(
            store,
            options.study,
            found.panel,
            sent,
            texts,
            use="certify",
            file_name=sent_from(found.panel.name),
        )
    return [
        f"Study {study.name!r} is a draft of {len(sent.rows):,} texts, with {study.design.votes_per_pair} raters a text. Add "
        f"raters and open it. Afterwards, the same command with `--labels {StudySource(study.name).written}` gives the total."
    ]


def _sureness(panel: Panel, options: argparse.Namespace) -> Sureness:
    """The verdicts and the confidence that the options name, or that the inputs have. Raises InputError."""
    repeats = cache(partial(_answers, panel, options, must=False))
    column = cache(partial(_column, options))
    named: str | None = options.confidence
    if named is None and options.cut is None:
        has: dict[Way, Callable[[], object]] = {
            JUDGES: lambda: len(panel.judges) > 1,
            MARGIN: lambda: _is_pairs(options),
            REPEATS: lambda: repeats().shape[1] > 1,
            COLUMN: column,
        }
        way = next(ways_had(has), None)
        named = column() if way == COLUMN else way
        if named is None:
            raise InputError(f"{shown(panel.name)}: no confidence", [f"confidence: none was found; {_WAYS}"])
    return sureness(
        panel,
        named,
        cut=options.cut,
        margins=lambda: _margins(options),
        answers=lambda: repeats() if options.confidence is None else _answers(panel, options),
        numbers=lambda column: _numbers(panel, column, options),
    )


def _column(options: argparse.Namespace) -> str | None:
    """The only column of the files whose name says confidence."""
    return confidence_column(
        [name for one in _files(options) for name in columns_in(*file_given(one, options))]
    )


def _is_pairs(options: argparse.Namespace) -> bool:
    return is_study_of_pairs(parse_source(options.file), reading_of(options))


def _margins(options: argparse.Namespace) -> Floats:
    """How far the judge's scores of the answers of each pair are apart."""
    source, reading = parse_source(options.file), reading_of(options)
    if not (isinstance(source, StudySource) and is_study_of_pairs(source, reading)):
        raise InputError("No confidence", [f"confidence: {MARGIN} needs a study of pairs, study:NAME"])
    return margins_of(source, parse_sources(options.scores), panel_choice(options), reading)[:, 0]


def _answers(panel: Panel, options: argparse.Namespace, *, must: bool = True) -> Floats:
    """Every answer of the panel's only judge, if a run gave it. must: raise InputError if none did."""
    none: Floats = np.empty((len(panel.rows), 0))
    if _is_pairs(options):
        raise InputError(
            "No confidence", [f"confidence: in a study of pairs, {MARGIN} counts repeats and orders"]
        )
    runs = {one for one in (options.file, *options.scores) if not isinstance(parse_source(one), FileSource)}
    sources = [one for one in panel.sources if one[0] in runs]
    if len(panel.judges) != 1 or not sources:
        if not must:
            return none
        raise InputError(
            f"{shown(panel.name)}: no confidence",
            [f"confidence: {REPEATS} needs one judge from a run, run:N or its folder"],
        )
    table, metric, _ = sources[0]
    try:
        return answers_of(judge_of(parse_source(table), reading_of(options)), panel, metric)
    except InputError:
        if must:
            raise
        return none  # such as a metric, or a judge without repeats


def _files(options: argparse.Namespace) -> list[str]:
    sources = parse_sources([options.file, *options.scores])
    return [one.written for one in sources if isinstance(one, FileSource) and one.path.is_file()]


def _numbers(panel: Panel, column: str, options: argparse.Namespace) -> Floats:
    """The column, from the first input that has it."""
    if column in panel.judges:
        raise InputError(
            f"{shown(panel.name)}: no confidence",
            [
                f"confidence: {shown(column)} is the judge; state with --cut from which score the better class is meant"
            ],
        )
    why: InputError | None = None
    for given in _files(options):
        try:
            return numbers_beside(*file_given(given, options), panel, column)
        except InputError as problem:
            why = why if why is not None and "no column" not in str(why) else problem
    raise why or InputError(
        f"{shown(panel.name)}: no confidence",
        [f"confidence: no column {shown(column)}, because no input is a file; {_WAYS}"],
    )
