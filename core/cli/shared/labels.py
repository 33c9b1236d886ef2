"""Labels that come back, and the texts that people label: what `--labels` and studies of chosen texts need."""

from __future__ import annotations

import argparse

from core.cli.shared.sources import panel_choice, reading_of
from core.errors import InputError
from core.schema.analysis import PanelChoice
from core.schema.panel import Panel
from core.schema.scores import ScorableOutput
from core.sources.named import FileSource, parse_source
from core.sources.panel import panel_of_source
from core.sources.texts import texts_file
from core.tables.mapping import rename_columns


def add_labels_option(command: argparse.ArgumentParser, chosen_by: str) -> None:
    """Register `--labels`. chosen_by: what chose the texts."""
    command.add_argument(
        "--labels",
        action="append",
        default=[],
        metavar="FILE|study:NAME",
        help="may be repeated: further labels by people of texts in FILE, with their inclusion_probability if they were chosen by "
        f"{chosen_by}",
    )


def add_new_labels(panel: Panel, options: argparse.Namespace) -> Panel:
    """The panel with the labels of `--labels`, if given.

    Raises InputError, also for labels of other texts where both inputs have texts, and NotAllowed for a blinded study.
    """
    if not options.labels:
        return panel
    # Imported lazily: loads studies and statsmodels.
    from core.formats.panel.beside import texts_beside
    from core.results.check.next_labels import add_labels, check_same_texts

    texts: list[ScorableOutput | None] | None = None
    for given in options.labels:
        new = _labels(given, options)
        back = texts_beside(panel, new, *file_given(given, options))
        if any(back):
            texts = texts_given(panel, options)[0] if texts is None else texts
            check_same_texts(panel, new, texts, back)
        panel = add_labels(panel, new)
    return panel


def _labels(given: str, options: argparse.Namespace) -> Panel:
    source, choice = parse_source(given), PanelChoice()
    if isinstance(source, FileSource):
        choice = panel_choice(options, human=None, judge=None, dimension=None, system_column=None, item=None)
    return panel_of_source(source, [], choice, reading_of(options))


def texts_given(
    panel: Panel, options: argparse.Namespace
) -> tuple[list[ScorableOutput | None], InputError | None]:
    """The text of each row of the panel from any of the inputs, and why the first input has none."""
    from core.formats.panel.beside import read_texts_of

    texts: list[ScorableOutput | None] = [None] * len(panel.rows)
    why: InputError | None = None
    for given in (options.file, *options.scores):
        try:
            data, name = file_given(given, options)
            read = read_texts_of(data, name, panel)
        except InputError as problem:
            why = why or problem
        else:
            texts = [known or new for known, new in zip(texts, read, strict=True)]
    return texts, why


def file_given(name: str, options: argparse.Namespace) -> tuple[bytes, str]:
    """The bytes and the name of one input as a file, with the columns that the options rename."""
    source, reading = parse_source(name), reading_of(options)
    texts, _ = texts_file(source, reading)
    own = {"system": options.system_column} if options.system_column and name == options.file else {}
    return (rename_columns(*texts, own), texts[1]) if isinstance(source, FileSource) else texts
