"""A panel with a judge whose confidence is known, as the inputs of a command hold it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from core.cli.shared.labels import add_labels_option, add_new_labels, file_given
from core.cli.shared.options import check_options
from core.cli.shared.sources import add_panel_options, open_panel, panel_choice, reading_of
from core.errors import InputError
from core.formats.panel.beside import columns_in, numbers_beside
from core.results.check.escalation import first_labels
from core.results.check.sureness import (
    COLUMN,
    JUDGES,
    MARGIN,
    REPEATS,
    Sureness,
    SurePanel,
    Way,
    answers_of,
    confidence_column,
    sureness,
    ways_had,
)
from core.schema.analysis import PanelChoice, SureChoice
from core.schema.settings import fields_of
from core.sources.judges import judge_of
from core.sources.named import FileSource, StudySource, parse_source, parse_sources
from core.sources.panel import is_study_of_pairs, margins_of
from core.tables.reading import shown

if TYPE_CHECKING:
    from core.schema.panel import Panel
    from core.stats.resampling import Floats

_WAYS = (
    "name a column with the judge's confidence (--confidence COLUMN), a run with repeats (run:N), several judges "
    "(--judge A,B,C), or state a cut of its scores (--cut X)"
)


def add_sure_options(command: argparse.ArgumentParser) -> None:
    """Register the inputs; see `open_sure`."""
    add_panel_options(command)
    for name, one in fields_of(SureChoice).items():
        if name not in fields_of(PanelChoice):
            kind = float if one.shape == "number" else str
            command.add_argument(one.option, type=kind, metavar=one.about.metavar, help=one.about.help)
    add_labels_option(command, "--study")


def open_sure(options: argparse.Namespace) -> SurePanel:
    """Return the panel, with its further labels, and how sure its judge is.

    Raises InputError, and NotAllowed for a blinded study.
    """
    if options.cut is not None and options.confidence is not None:
        check_options(["--cut: gives a confidence of its own; leave out --confidence"])
    before = open_panel(options, find=True)
    panel = add_new_labels(before, options)
    sure = _sureness(panel, options)
    panel, new = first_labels(before, panel)
    return SurePanel(panel, sure, new if options.labels else None)


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
