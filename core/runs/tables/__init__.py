"""Scoring runs over big tables: texts and scores lie as Parquet beside the database, and nothing is loaded whole."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from core import __version__
from core.errors import InputError
from core.formats.registry import FORMATS, format_of
from core.formats.scorable import COLUMNS
from core.formats.scores import PARQUET
from core.metrics.kind import TABLE_KIND
from core.metrics.lexical.scorer import notes_about
from core.metrics.scorer import MetricSpec, ScoringPair
from core.runs.asked import Asked, kept
from core.runs.jobs import RunAtHand, WorkPath
from core.runs.scoring import Scoring, check_needs, find_models, lacking_notes, parts_of
from core.runs.tables.job import TableJob
from core.runs.tables.reading import read_texts_into
from core.runs.tables.scored import table_notes, texts_of, write_table
from core.schema import big_tables
from core.schema.big_tables import TEXTS_FILE
from core.schema.runs import Run
from core.schema.settings import Settings
from core.store import Store
from core.store.beside import keep_folder, new_folder, run_folder, sync
from core.store.runs import insert_run
from core.tables.mapping import parse_columns
from core.tables.parquet import pyarrow_for
from core.tables.streaming import TableFile, form_of, head_of

CHUNKS_LOOKED_AT = 4
"""Chunks, spread over the table, whose references are looked at for notes on metrics that cannot read them."""


class Tables(WorkPath):
    """The path of scoring runs over big tables."""

    planned = Scoring.planned
    maker = Scoring.maker

    def read(self, request: Asked, data: bytes, file_name: str) -> NoReturn:
        """Raise InputError: the texts lie in Parquet, and are never read whole."""
        raise InputError(
            f"{file_name} is a big table, and its texts are never read whole. Choose the file itself, a part of it, or a "
            "smaller run."
        )

    def items(self, request: Asked, contents: Any) -> Mapping[str, Sequence[Any]]:
        """None: the items are chunks, which only the job reads."""
        return {}

    def job(self, run: RunAtHand) -> TableJob:
        """See TableJob."""
        settings, running = run.request.settings, run.running
        folder = run_folder(run.store, run.run.run_id)
        with texts_of(run.run.run_id, folder) as file:
            sizes = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
        return TableJob(
            run.store,
            run.run.run_id,
            folder,
            sizes,
            settings.metrics,
            parts_of(settings, running, sum(sizes[: run.run.n_wanted])),
            running,
            partial(find_models, settings, running),
            reads_source=any("source" in spec.needs for spec in settings.specs()),
        )

    def left_out(self, run: RunAtHand) -> Mapping[str, int]:
        """Rows without a text to score."""
        return table_notes(run).left_out

    def files(self, run: RunAtHand) -> NoReturn:
        """Raise InputError: the files are written chunk by chunk; see write_files."""
        raise InputError(f"The scores of run {run.run.run_id}, a big table, are never held whole.")

    def write_files(self, run: RunAtHand, folder: Path) -> tuple[str, ...]:
        """The table of scores in the long form, chunk by chunk."""
        names = ("scores.csv", "scores.parquet")
        for name in names:
            write_table(run, folder / name)
        return names


def big_table(path: Path, columns: str | None = None) -> TableFile | None:
    """The file as a big table; None if it is no table that can be read row by row, or has at most BIG_ROWS rows.

    columns: value of `--columns`. Raises InputError if the file cannot be read.
    """
    head = head_of(path)
    form = form_of(head, path.name)
    own = format_of("texts", head, path.name)
    if form is None or own.name in FORMATS.keys() - {PARQUET.name}:
        return None
    table = TableFile(path, form, parse_columns(columns))
    return table if table.has_more_rows(big_tables.BIG_ROWS) else None


def table_request(request: Asked) -> Asked:
    """The request for scores, for a big table."""
    return replace(request, kind=TABLE_KIND)


def create_table(
    store: Store,
    table: TableFile,
    request: Asked,
    running: Settings,
    limit: int | None,
    tell: Callable[[int], None] = lambda n: None,
) -> tuple[Run, tuple[str, ...]]:
    """Read a big table into the folder of a new run in the state `waiting`; returns it with notes.

    tell: called with the number of rows read so far. Raises InputError with every problem of the file; nothing is left then.
    """
    specs = request.settings.specs()
    with new_folder(store) as folder:
        texts = folder / TEXTS_FILE
        n_texts = read_texts_into(table, table.survey(COLUMNS), texts, big_tables.CHUNK_ROWS, tell)
        notes = _checked(specs, texts, table.name, n_texts)
        sync(texts)
        n_items = big_tables.n_chunks(n_texts, big_tables.CHUNK_ROWS)
        run = Run(
            run_id=0,
            kind=TABLE_KIND.name,
            state="waiting",
            settings=kept(request),
            running=running.model_dump(mode="json"),
            data_file=table.name,
            data_sha256=table.sha256,
            n_items=n_items,
            limit=None if limit is None else min(limit, n_items),
            created_utc="",
            app_version=__version__,
        )
        with store.writing():
            made = insert_run(store, run, b"")
            keep_folder(store, folder, made.run_id)
    size = f"{big_tables.CHUNK_ROWS:,}"
    about = f"{n_texts:,} texts: a big table, scored in {n_items:,} items of up to {size} rows each"
    return made, (about, *table_notes(RunAtHand(store, made, Tables())).notes, *notes)


def _checked(specs: Sequence[MetricSpec], texts: Path, file_name: str, n_texts: int) -> tuple[str, ...]:
    """Notes on what the metrics lack. Raises InputError if none could score any text."""
    _, parquet = pyarrow_for(TEXTS_FILE)
    with parquet.ParquetFile(texts) as file:
        lacking = {name: _n_null(file, name) for name in ("reference", "source")}
        check_needs(specs, {name: n < n_texts for name, n in lacking.items()}, file_name)
        n_groups = file.num_row_groups
        looked_at = sorted({n_groups * at // CHUNKS_LOOKED_AT for at in range(CHUNKS_LOOKED_AT)})
        pairs = [
            ScoringPair("", reference)
            for at in looked_at
            for reference in file.read_row_group(at, columns=["reference"])["reference"].to_pylist()
        ]
    part = "" if len(looked_at) == n_groups else f" (among {len(pairs):,} of the texts)"
    return (
        *lacking_notes(specs, lacking, n_texts),
        *(f"{note}{part}" for note in notes_about(specs, pairs)),
    )


def _n_null(file: Any, name: str) -> int:
    """Number of nulls in a column, from the statistics of its row groups."""
    at = file.schema_arrow.names.index(name)
    groups = (file.metadata.row_group(group).column(at) for group in range(file.num_row_groups))
    return sum(int(one.statistics.null_count) for one in groups)
