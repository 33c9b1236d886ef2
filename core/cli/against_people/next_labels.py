"""`check --next`, `--study` and `--labels`: which texts to label next, a study of them, and the labels that come back."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from core.cli.shared.giving import Said
from core.cli.shared.sources import panel_choice, reading_of
from core.errors import InputError
from core.schema.analysis import PanelChoice
from core.schema.panel import Panel, unlabelled
from core.schema.result_table import ResultTable
from core.schema.scores import ScorableOutput
from core.sources.named import FileSource, parse_source
from core.sources.panel import panel_of_source
from core.sources.texts import texts_file
from core.store import database_path, open_store
from core.tables.mapping import with_columns

if TYPE_CHECKING:
    from core.results.check.verdict import Check

NEXT_TABLE = "next-labels"


def add_next_options(command: argparse.ArgumentParser) -> None:
    """Register the options."""
    command.add_argument(
        "--next",
        type=int,
        metavar="N",
        help="choose N unlabelled texts to label next, more often where people and judge may differ, with known probabilities "
        f"(table {NEXT_TABLE})",
    )
    command.add_argument(
        "--study",
        metavar="NAME",
        help="with --next: make a rating study of these texts, in draft, on the raters' scale",
    )
    add_labels_option(command, "--next")
    command.add_argument(
        "--next-seed", type=int, default=0, metavar="SEED", help="seed of --next (default %(default)s)"
    )


def next_problems(options: argparse.Namespace) -> list[str]:
    """Problems of the options that need no input."""
    found = []
    if options.next is not None and options.next < 1:
        found.append(f"--next: must be at least 1, got {options.next}")
    if options.study is not None and options.next is None:
        found.append("--study: needs the number of texts, --next N")
    if options.table == NEXT_TABLE and options.next is None:
        found.append(f"--table {NEXT_TABLE}: needs the number of texts, --next N")
    return found


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


def with_new_labels(panel: Panel, options: argparse.Namespace) -> Panel:
    """The panel with the labels of `--labels`, if given.

    Raises InputError, also for labels of other texts where both inputs have texts, and NotAllowed for a blinded study.
    """
    if not options.labels:
        return panel
    # Imported lazily: loads studies and statsmodels.
    from core.formats.panel.beside import texts_beside
    from core.results.check.next_labels import check_same_texts, with_labels

    texts: list[ScorableOutput | None] | None = None
    for given in options.labels:
        new = _labels(given, options)
        back = texts_beside(panel, new, *file_given(given, options))
        if any(back):
            texts = texts_given(panel, options)[0] if texts is None else texts
            check_same_texts(panel, new, texts, back)
        panel = with_labels(panel, new)
    return panel


def _labels(given: str, options: argparse.Namespace) -> Panel:
    source, choice = parse_source(given), PanelChoice()
    if isinstance(source, FileSource):
        choice = panel_choice(options, human=None, judge=None, dimension=None, system_column=None, item=None)
    return panel_of_source(source, [], choice, reading_of(options))


def next_given(found: Check, options: argparse.Namespace) -> tuple[Said, list[ResultTable], dict[str, Any]]:
    """Choose the texts of `--next` and make the study of `--study`: lines, tables and JSON. Empty without `--next`."""
    if options.next is None:
        return _hint(found, options), [], {}
    from core.results.check.next_labels import (  # imported lazily: loads studies and statsmodels
        draft_study,
        next_labels,
        next_labels_json,
        next_labels_said,
        next_labels_table,
    )

    panel = found.panel
    chosen = next_labels(panel, options.next, whole_items=found.use == "rank", rng=options.next_seed)
    texts, why = texts_given(panel, options)
    said = next_labels_said(chosen)
    if options.study is not None:
        if why is not None and not any(texts):
            raise why
        with open_store(database_path(options.db)) as store:
            study, _ = draft_study(store, options.study, panel, chosen, texts, use=found.use)
        said.append(
            f"Study {study.name!r} is a draft of these texts, with {study.design.votes_per_pair} raters a text. Add raters and open it."
        )
    table = next_labels_table(chosen, [texts[row] for row in chosen.rows])
    shown: list[str | ResultTable] = ["", *said]
    if options.out is None and options.study is None:
        shown += ["", table]
    return shown, [] if table in shown else [table], {"next": next_labels_json(chosen)}


def _hint(found: Check, options: argparse.Namespace) -> list[str]:
    """How to choose the missing labels, if the verdict is open and the file has texts without labels."""
    needed = [one.labels_needed for one in found.judges if one.labels_needed is not None]
    n_free = int(unlabelled(found.panel).sum())
    if not needed or not n_free:
        return []
    n = min(max(needed), n_free)
    return [
        "",
        f"Next: the same command with `--next {n} --study NAME` makes a study of the unlabelled texts that tell most.",
    ]


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


def file_given(given: str, options: argparse.Namespace) -> tuple[bytes, str]:
    """The bytes and the name of one input as a file, with the columns that the options rename."""
    source, reading = parse_source(given), reading_of(options)
    texts, _ = texts_file(source, reading)
    own = {"system": options.system_column} if options.system_column and given == options.file else {}
    return (with_columns(*texts, own), texts[1]) if isinstance(source, FileSource) else texts
