"""What a run over a big table has scored so far: sums over its chunks, and its scores as files, chunk by chunk."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError
from core.formats.scores import (
    ABOUT_FILES,
    OF_SCORE,
    ParquetNotes,
    ScoreColumns,
    Shape,
    described_by,
    names_of,
    parquet_schema,
    score_columns,
    write_scores_csv,
    write_scores_jsonl,
)
from core.runs.jobs import RunAtHand
from core.runs.tables.reading import TableNotes
from core.schema.big_tables import LABELS, NOTES_KEY, REASONS, ROW, TEXTS_FILE
from core.schema.scores import Metric, ScoredRow, ScoreTable
from core.stats.degeneracy import CONSTANT_SHARE, Constant
from core.store.beside import run_folder
from core.store.runs import run_items
from core.tables.files import writing_file
from core.tables.parquet import pyarrow_for
from core.tables.writer import excel_csv

MOST_REASONS = 100_000
"""Most reasons that the metadata of a wide Parquet file lists, because a reader loads all of them."""


@dataclass(frozen=True)
class TableScores:
    """The chunks that a run over a big table has scored, and sums over them."""

    parts: tuple[Path, ...]
    """Files of scores, in the order of the rows."""
    n_texts: int
    metrics: tuple[Metric, ...]
    undefined: Mapping[tuple[str, str], int]
    """(metric, reason) -> number of texts without that score, most frequent first."""
    ranges: Mapping[str, tuple[float, float]]
    """Metric -> smallest and largest score, for metrics with any."""
    n_broken: int
    """Chunks without scores because of an internal error."""

    most: Mapping[str, Constant]
    """Metric -> its score of all, or nearly all, texts; no entry for a metric whose scores vary."""


def table_scores(run: RunAtHand) -> TableScores:
    """What the run has scored so far."""
    folder = run_folder(run.store, run.run.run_id)
    parts: list[Path] = []
    undefined: Counter[tuple[str, str]] = Counter()
    ranges: dict[str, tuple[float, float]] = {}
    counts: dict[str, Counter[float]] = {}
    n_texts = n_broken = 0
    for item in run_items(run.store, run.run.run_id):
        result: Mapping[str, Any] = item.result
        if "part" not in result:
            n_broken += 1
            continue
        parts.append(folder / result["part"])
        n_texts += result["rows"]
        for metric, reasons in result["undefined"].items():
            for reason, n in reasons.items():
                undefined[metric, reason] += n
        for metric, (low, high) in result["range"].items():
            before = ranges.get(metric, (low, high))
            ranges[metric] = (min(before[0], low), max(before[1], high))
        for metric, (value, n) in result["most"].items():
            counts.setdefault(metric, Counter())[value] += n
    lacking: Counter[str] = Counter()
    for (metric, _), n in undefined.items():
        lacking[metric] += n
    most = {metric: _most(found, n_texts - lacking[metric]) for metric, found in counts.items()}
    return TableScores(
        tuple(parts),
        n_texts,
        run.metrics,
        dict(undefined.most_common()),
        ranges,
        n_broken,
        {metric: one for metric, one in most.items() if one is not None},
    )


def _most(counts: Counter[float], n: int) -> Constant | None:
    """A metric's score of nearly all of n texts. counts: the most frequent score of each chunk, and how often it occurs.

    A score that is not a chunk's most frequent one is not counted there, so the share is never overstated.
    """
    ((value, most),) = counts.most_common(1)
    if n < 2 or most < CONSTANT_SHARE * n:
        return None
    return Constant(value, most / n, n, n - most)


def table_notes(run: RunAtHand) -> TableNotes:
    """What was noted while the run's table was read. Raises InputError if its file is gone."""
    with texts_of(run.run.run_id, run_folder(run.store, run.run.run_id)) as file:
        return TableNotes(**json.loads(file.metadata.metadata[NOTES_KEY]))


@contextmanager
def texts_of(run_id: int, folder: Path) -> Iterator[Any]:
    """The texts of a run in its folder, as an open pyarrow.parquet.ParquetFile. Raises InputError if they cannot be read."""
    arrow, parquet = pyarrow_for(TEXTS_FILE)
    path = folder / TEXTS_FILE
    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except (OSError, arrow.ArrowException) as problem:
        raise InputError(
            f"The texts of run {run_id} cannot be read from {path} ({problem}). Start a new run of the file."
        ) from problem


def _pieces(scores: TableScores) -> Iterator[tuple[Any, ScoreTable]]:
    """Each chunk's file as an arrow table, and its scores."""
    for path in scores.parts:
        table = _part(path)
        if lacking := {ROW, REASONS, *(one.name for one in scores.metrics)}.difference(table.column_names):
            raise InputError(
                f"{path} is no file of this run's scores: it has no column {min(lacking)}. Start a new run of the file."
            )
        yield table, _score_table(table, scores.metrics)


def _part(path: Path, columns: Sequence[str] | None = None) -> Any:
    arrow, parquet = pyarrow_for(path.name)
    try:
        # As one file: a folder of files would be read as a data set, with all their names in memory.
        with parquet.ParquetFile(path) as file:
            return file.read(columns=columns)
    except (OSError, arrow.ArrowException) as problem:
        raise InputError(f"{path} cannot be read ({problem}). Start a new run of the file.") from problem


def _score_table(table: Any, metrics: tuple[Metric, ...]) -> ScoreTable:
    names = [table[name].to_pylist() for name in ("item_id", "system", "level", "language", LABELS)]
    reasons: dict[tuple[int, int], str] = {}
    places = {metric.name: place for place, metric in enumerate(metrics)}
    for row, written in enumerate(table[REASONS].to_pylist()):
        if written is not None:
            reasons |= {(row, places[name]): why for name, why in json.loads(written).items()}
    values = [table[metric.name].to_numpy() for metric in metrics]
    return ScoreTable(
        tuple(
            ScoredRow(item, system, level, language, json.loads(labels) if labels else {})
            for item, system, level, language, labels in zip(*names, strict=True)
        ),
        metrics,
        np.column_stack(values) if values else np.empty((table.num_rows, 0)),
        reasons,
    )


def columns_of(run: RunAtHand, scores: TableScores, shape: Shape) -> ScoreColumns:
    """The columns of the whole table of scores."""
    clear = [metric.name in scores.ranges for metric in scores.metrics]
    return score_columns(shape, table_notes(run).labels, scores.metrics, clear)


def write_table(
    run: RunAtHand,
    out: Path,
    shape: Shape = "long",
    tell: Callable[[int], None] = lambda n: None,
    *,
    excel: bool = False,
) -> None:
    """Write the scores so far to a .csv, .jsonl or .parquet file, completely or not at all.

    The columns and values are those of an ordinary run's table, in the order of the file. A chunk is in memory at a time.
    tell: called with the number of texts written. excel: begin CSV with a byte order mark. Raises InputError.
    """
    found = table_scores(run)
    columns = columns_of(run, found, shape)
    n = 0
    with writing_file(out) as file:
        if out.suffix.lower() == ".parquet":
            for count in _write_parquet(file, found, columns, shape):
                tell(n := n + count)
            return
        if excel:
            file.write(excel_csv(b""))
        if out.suffix.lower() == ".csv" and not found.parts:
            file.write(
                write_scores_csv(ScoreTable((), found.metrics, np.empty((0, len(found.metrics)))), shape)
            )
        for number, (_, scores) in enumerate(_pieces(found)):
            if out.suffix.lower() == ".csv":
                file.write(write_scores_csv(scores, shape, columns=columns, header=number == 0))
            else:
                file.write(write_scores_jsonl(scores, shape, columns=columns))
            tell(n := n + len(scores.rows))


def _write_parquet(file: Any, found: TableScores, columns: ScoreColumns, shape: Shape) -> Iterator[int]:
    """Write all chunks as one Parquet file, one row group each; yields the number of texts of each."""
    _, parquet = pyarrow_for("Parquet")
    notes = ParquetNotes(
        {metric.name: metric for metric in found.metrics}, _reasons(found) if shape == "wide" else ()
    )
    numbers = {"score", *columns.metrics}
    schema = parquet_schema([(name, name in numbers) for name in names_of(columns, shape)], notes)
    with parquet.ParquetWriter(file, schema) as writer:
        for table, scores in _pieces(found):
            cells = _columns_in(table, scores, columns)
            arrays = _long(scores, cells) if shape == "long" else _wide(table, scores, cells, columns)
            writer.write_table(_table_of(arrays, schema))
            yield len(scores.rows)


def _table_of(arrays: Mapping[str, Any], schema: Any) -> Any:
    arrow, _ = pyarrow_for("Parquet")
    return arrow.Table.from_arrays([arrays[name] for name in schema.names], schema=schema)


def _columns_in(table: Any, scores: ScoreTable, columns: ScoreColumns) -> dict[str, Any]:
    """The columns that name a text, as arrow arrays."""
    arrow, _ = pyarrow_for("Parquet")
    theirs = dict(zip(ABOUT_FILES, ("item_id", "system", "level", "language"), strict=True))
    about = {ours: table[name].combine_chunks() for ours, name in theirs.items()}
    return about | {
        column: arrow.array([row.labels.get(label) for row in scores.rows], arrow.string())
        for label, column in columns.labels.items()
    }


def _long(scores: ScoreTable, about: Mapping[str, Any]) -> dict[str, Any]:
    """A row for each score: the metrics of the first text, then those of the next."""
    arrow, _ = pyarrow_for("Parquet")
    n_texts, n_metrics = scores.values.shape
    of_text = arrow.array(np.repeat(np.arange(n_texts), n_metrics))
    of_metric = arrow.array(np.tile(np.arange(n_metrics), n_texts))
    described = [{"metric": metric.name, **described_by(metric)} for metric in scores.metrics]
    found = {name: array.take(of_text) for name, array in about.items()}
    reasons: list[str | None] = [None] * (n_texts * n_metrics)
    for (row, metric), reason in scores.reasons.items():
        reasons[row * n_metrics + metric] = reason
    own = {
        "score": arrow.array(scores.values.reshape(-1), from_pandas=True),
        "reason": arrow.array(reasons, arrow.string()),
    }
    for name in OF_SCORE:
        if name not in own:
            own[name] = arrow.array([one[name] for one in described], arrow.string()).take(of_metric)
    return found | own


def _wide(table: Any, scores: ScoreTable, about: Mapping[str, Any], columns: ScoreColumns) -> dict[str, Any]:
    """A row for each text."""
    metrics = zip(columns.metrics, scores.metrics, strict=True)
    return {**about, **{column: table[metric.name].combine_chunks() for column, metric in metrics}}


def _reasons(scores: TableScores) -> list[tuple[int, str, str]]:
    """(row, metric, reason) of every undefined score, in the order of the rows; none if there are very many."""
    if sum(scores.undefined.values()) > MOST_REASONS:
        return []
    reasons: list[tuple[int, str, str]] = []
    start = 0
    for path in scores.parts:
        written = _part(path, [REASONS])[REASONS].to_pylist()
        for row, one in enumerate(written, start=start):
            if one is not None:
                own = json.loads(one)
                reasons += [
                    (row, metric.name, own[metric.name]) for metric in scores.metrics if metric.name in own
                ]
        start += len(written)
    return reasons
