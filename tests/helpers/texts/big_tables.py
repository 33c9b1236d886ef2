"""A run over a big table as its worker leaves it: files in its folder, chunks as items. Made from a table of scores."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.metrics.kind import TABLE_KIND
from core.runs.asked import ask, kept
from core.schema.big_tables import TEXTS_FILE, n_chunks, part_name
from core.schema.runs import Run, RunItem
from core.schema.scores import ScoredRow, ScoreTable
from core.store import Store
from core.store.beside import make_run_folder
from core.store.runs import claim_run, finish_run, get_run, insert_run, save_items

METRICS = ("bleu-4", "chrf-6-2", "ter", "rouge-l")
EMPTY = "the reference is empty"


def scored_table(n_items: int = 40, seed: int = 0, metrics: Sequence[str] = METRICS) -> ScoreTable:
    """Scores of two systems at five levels, with ties, undefined scores, two languages and a label; TER: lower is better."""
    asked, _ = ask(TABLE_KIND, {"metrics": tuple(metrics)}, {}, {})
    rng = np.random.default_rng(seed)
    rows = [
        ScoredRow(
            f"q{item:05d}",
            system,
            f"A{level}",
            "de" if item % 3 == 0 else "en",
            {"domain": ("news", "law/eu", "it's")[item % 3]} if item % 5 else {},
        )
        for item in range(n_items)
        for system in ("pipeline", "expert")
        for level in range(5)
    ]
    level = np.array([int(str(row.level)[1]) for row in rows])
    steps = np.arange(1, len(metrics) + 1) / 40
    signs = np.array([-1.0 if spec.metric.direction == "lower" else 1.0 for spec in asked.settings.specs()])
    values = 0.5 - signs * steps * level[:, None] + rng.normal(0, 0.1, (len(rows), len(metrics)))
    values[:, 0] = np.round(values[:, 0], 1)  # ties
    values[rng.random(values.shape) < 0.03] = np.nan
    reasons = {(int(r), int(m)): EMPTY for r, m in zip(*np.nonzero(np.isnan(values)), strict=True) if r % 2}
    return ScoreTable(tuple(rows), tuple(spec.metric for spec in asked.settings.specs()), values, reasons)


def write_folder(folder: Path, table: ScoreTable, chunk_rows: int, n_finished: int | None = None) -> int:
    """Write texts and parts; return the number of finished chunks."""
    numbers = range(len(table.rows))
    about: dict[str, Any] = {
        "row": pa.array(numbers, pa.int64()),
        "item_id": pa.array([row.item_id for row in table.rows], pa.string()),
        "system": pa.array([row.system for row in table.rows], pa.string()),
        "level": pa.array([row.level for row in table.rows], pa.string()),
        "language": pa.array([row.language for row in table.rows], pa.string()),
    }
    said = [json.dumps(dict(row.labels), sort_keys=True) if row.labels else None for row in table.rows]
    labels = pa.array(said, pa.string())
    text = pa.array(
        [f"text {row} of {about_row.system}" for row, about_row in zip(numbers, table.rows, strict=True)]
    )
    reference = pa.array([f"reference of {row.item_id}" for row in table.rows], pa.string())
    source = pa.nulls(len(table.rows), pa.string())
    texts = pa.table({**about, "text": text, "reference": reference, "source": source, "labels": labels})
    pq.write_table(texts, folder / TEXTS_FILE, row_group_size=chunk_rows)
    reasons = [
        {
            table.metrics[m].name: table.reasons[row, m]
            for m in range(len(table.metrics))
            if (row, m) in table.reasons
        }
        for row in numbers
    ]
    scores = {
        metric.name: pa.array(column, mask=np.isnan(column))
        for metric, column in zip(table.metrics, table.values.T, strict=True)
    }
    why = pa.array([json.dumps(own) if own else None for own in reasons], pa.string())
    whole = pa.table({**about, "labels": labels, **scores, "reasons": why})
    finished = n_chunks(len(table.rows), chunk_rows) if n_finished is None else n_finished
    for chunk in range(finished):
        pq.write_table(whole.slice(chunk * chunk_rows, chunk_rows), folder / part_name(chunk))
    return finished


def big_run(store: Store, table: ScoreTable, chunk_rows: int = 64, n_finished: int | None = None) -> Run:
    """A run over the table, complete or with its first chunks finished."""
    asked, running = ask(TABLE_KIND, {"metrics": tuple(one.name for one in table.metrics)}, {}, {})
    chunks = n_chunks(len(table.rows), chunk_rows)
    about = Run(
        run_id=0,
        kind=TABLE_KIND.name,
        state="waiting",
        settings=kept(asked),
        running=running.model_dump(mode="json"),
        data_file="table.csv",
        data_sha256="0" * 64,
        n_items=chunks,
        limit=None,
        created_utc="",
        app_version="",
    )
    run = insert_run(store, about, b"")
    finished = write_folder(make_run_folder(store, run.run_id), table, chunk_rows, n_finished)
    owner = claim_run(store, run.run_id, 1)
    items = [RunItem(at, str(at), "done", {"part": part_name(at)}) for at in range(finished)]
    save_items(store, run.run_id, items, owner)
    finish_run(store, run.run_id, "done" if finished == chunks else "stopped", owner=owner)
    return get_run(store, run.run_id)
