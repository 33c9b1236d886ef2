"""`check --gaps`: where people and judge differ most, with texts and reasons on request."""

import argparse
from collections.abc import Iterator

from core.cli.shared.sources import reading_of
from core.report import written
from core.results.check.gaps import GAPS, TEXT_COLUMNS, gaps_of
from core.schema.panel import Panel, TextBeside
from core.schema.result_table import ResultTable
from core.sources.named import parse_sources
from core.sources.panel import texts_beside_panel
from core.tables.reading import printable_text

_USUAL = 20


def add_gap_options(command: argparse.ArgumentParser) -> None:
    """Register `--gaps` and `--texts`."""
    command.add_argument(
        "--gaps",
        nargs="?",
        type=int,
        const=_USUAL,
        metavar="N",
        help=f"also list the N texts on which people and judge differ most (without a number: {_USUAL})",
    )
    command.add_argument(
        "--texts",
        action="store_true",
        help="with --gaps: also the questions, the texts and the judge's reasons, which may be confidential",
    )


def gap_problems(options: argparse.Namespace) -> list[str]:
    """Return what is wrong with the options."""
    if options.gaps is None:
        return ["--texts: only with --gaps"] if options.texts and options.table != GAPS else []
    return [] if options.gaps > 0 else [f"--gaps: {options.gaps} is not a number from 1"]


def gap_results(
    options: argparse.Namespace, panel: Panel
) -> tuple[list[ResultTable], list[str | ResultTable]]:
    """Return the list as a table, if it is asked for, and what the terminal shows of it: with texts, blocks of lines."""
    if options.gaps is None and options.table != GAPS:
        return [], []
    texts = texts_beside_given(options, panel) if options.texts else ()
    table = gaps_of(panel, texts, most=options.gaps)
    if options.gaps is None:  # for a file alone
        return [table], []
    return [table], ["", *_blocks(table)] if texts else ["", table]


def texts_beside_given(options: argparse.Namespace, panel: Panel) -> tuple[TextBeside, ...]:
    """Return what the inputs hold about the panel's texts."""
    source, *judges = parse_sources([options.file, *options.scores])
    return tuple(texts_beside_panel(source, judges, reading_of(options), panel.roles, options.system_column))


def _blocks(table: ResultTable) -> Iterator[str]:
    """Yield the rows as lines, because texts are too long for the cells of a terminal."""
    yield table.title
    whole = [column for column in table.columns if column.name in TEXT_COLUMNS]
    for number, cells in enumerate(table.rows, start=1):
        row = dict(zip(table.columns, cells, strict=True))
        short = (
            f"{column.heading} {written(cell, column)}"
            for column, cell in row.items()
            if column.shown and column not in whole and cell not in (None, "")
        )
        yield f"{number}. {', '.join(short)}"
        for column in whole:
            if text := printable_text(str(row[column] or "")):
                yield f"   {column.heading}: " + text.replace("\n", "\n   ")
    yield from table.notes
