"""`check --gaps`: where people and judge differ most, with texts and reasons on request."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from core.cli.shared.options import existing_store, read_one_of, run_number
from core.cli.shared.sources import STUDY, find_given_study, judges_given
from core.errors import InputError
from core.formats.panel.beside import texts_in
from core.report import written
from core.results.check.gaps import GAPS, TEXT_COLUMNS, gaps_of, texts_of_judge
from core.schema.panel import Panel, TextBeside
from core.schema.result_table import ResultTable
from core.schema.runs import RUN_FILE
from core.schema.scores import JudgeOutput
from core.tables.mapping import with_columns
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
    texts = tuple(_texts(options, panel)) if options.texts else ()
    table = gaps_of(panel, texts, most=options.gaps)
    if options.gaps is None:  # for a file alone
        return [table], []
    return [table], ["", *_blocks(table)] if texts else ["", table]


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


def _texts(options: argparse.Namespace, panel: Panel) -> Iterator[TextBeside]:
    """Yield what the command's inputs hold about their texts."""
    # Imported lazily: only this option reads runs and studies.
    from core.judges.kind import JudgeKind
    from core.results.judges.pairwise import pair_texts
    from core.runs.judging import texts_beside
    from core.runs.kinds import KINDS
    from core.runs.path import at_hand
    from core.runs.records import read_judge_folder
    from core.runs.texts import rated_of_study
    from core.store.runs import run_data
    from core.study.analysis_set import released_record

    if options.file.startswith(STUDY):
        with existing_store(options.db) as store:
            study = find_given_study(store, options.file)
            record = None if study is None or study.kind != "pairs" else released_record(store, study)
        if record is not None:
            judges = [
                one
                for one in options.scores
                if run_number(one) is not None or (Path(one) / RUN_FILE).is_file()
            ]
            yield from pair_texts(record, list(_judges(judges, options.db)))
            return
    for given in (options.file, *options.scores):
        number, path = run_number(given), Path(given)
        if number is not None:
            with existing_store(options.db) as store:
                run = at_hand(store, number)
                yield from (
                    texts_beside(run)
                    if isinstance(run.kind, JudgeKind)
                    else texts_in(run_data(store, number), run.run.data_file)
                )
        elif given.startswith(STUDY):
            with existing_store(options.db) as store:
                study = find_given_study(store, given)
                yield from () if study is None else texts_in(*rated_of_study(store, study))
        elif (path / RUN_FILE).is_file():
            try:
                output = read_judge_folder(path)
            except InputError:  # of a metric, without texts
                continue
            kind = KINDS[output.kind]
            assert isinstance(kind, JudgeKind)
            yield from texts_of_judge(output, kind)
        elif path.is_file():
            data, roles = read_one_of(path, options), panel.roles if given == options.file else None
            if roles is None and given == options.file and options.system_column:
                data = with_columns(data, path.name, {"system": options.system_column})
            yield from texts_in(data, path.name, roles)


def _judges(given: Sequence[str], database: str | None) -> Iterator[JudgeOutput]:
    """Yield the outputs of the judges among runs and folders; metrics have none."""
    for one in given:
        with suppress(InputError):
            yield from judges_given([one], database)
