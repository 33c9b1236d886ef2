"""A panel with all that is known about its judges and texts, as a command's inputs hold it; and an earlier result."""

import argparse
from pathlib import Path
from typing import Any

from core.cli.shared.labels import add_labels_option, add_new_labels, texts_given
from core.cli.shared.options import option_error
from core.cli.shared.sources import add_panel_options, facts_given, open_panel, open_people, reading_of
from core.errors import InputError
from core.results.check.dossier import Dossier, Texts
from core.schema.analysis import EarlierChoice
from core.schema.panel import Panel, TextBeside
from core.schema.settings import fields_of, option_word
from core.sources.named import parse_sources
from core.sources.panel import texts_beside_panel
from core.tables.files import read_file
from core.tables.roles import Undecided


def add_dossier_options(command: argparse.ArgumentParser) -> None:
    """Register the inputs; see `open_dossier`."""
    add_panel_options(command)
    add_labels_option(command, "--next")


def open_dossier(options: argparse.Namespace) -> Dossier:
    """Return the panel, with its further labels, and how to read what else the inputs hold.

    Raises InputError, and NotAllowed for a blinded study.
    """

    def beside(panel: Panel) -> tuple[TextBeside, ...]:
        source, *judges = parse_sources([options.file, *options.scores])
        return tuple(
            texts_beside_panel(source, judges, reading_of(options), panel.roles, options.system_column)
        )

    named = options.judge is not None or options.scores or options.labels
    candidates: tuple[str, ...] = ()
    found: Panel | InputError
    try:
        opened = open_panel(options, find=True)
        lacks = not opened.judges and len(opened.raters) > 1
        found = add_new_labels(opened, options)
    except Undecided as problem:
        if named or not problem.roles.lacks_judge_alone:
            raise
        lacks, found, candidates = True, problem, problem.roles.candidates
    return Dossier(
        found,
        lambda panel: facts_given(options, panel),
        beside,
        lambda panel: Texts(*texts_given(panel, options)),
        people=(lambda: open_people(options)) if lacks and not named else None,
        may_be_judges=candidates,
        judge_called="--judge",
    )


def add_earlier_option(command: argparse.ArgumentParser) -> None:
    """Register the JSON of an earlier result."""
    (one,) = fields_of(EarlierChoice).values()
    command.add_argument(one.option, type=Path, metavar=one.about.metavar, help=one.about.help)


def open_earlier(options: argparse.Namespace) -> dict[str, Any] | None:
    """Return the earlier result; None without one. Raises InputError."""
    from core.analyses.check.drift import read_earlier  # imported lazily: loads numpy

    if options.against is None:
        return None
    (one,) = fields_of(EarlierChoice).values()
    try:
        return read_earlier(read_file(options.against), options.against.name)
    except InputError as problem:
        raise option_error(problem, {option_word(one, None)}) from problem
