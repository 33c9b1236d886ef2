"""Score a big table chunk by chunk: each chunk is an item of the run, and its scores are a Parquet file of their own."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.disk import why_not_written
from core.errors import StorageError
from core.metrics.kind import ScoringRunning
from core.metrics.parts import PairScores, ThreadPart
from core.metrics.scorer import ScoringPair
from core.runs.jobs import Batch, Outcome
from core.runs.scoring import BATCHES_AT_ONCE, ScoringJob, pair_hash
from core.runs.tables.scored import texts_of
from core.schema.big_tables import ABOUT_COLUMNS, LABELS, REASONS, ROW, TEXTS_FILE, part_name
from core.store import Store
from core.store.beside import PARTIAL, put_in_place
from core.tables.parquet import pyarrow_for

CHUNKS_AT_ONCE = 2
"""One is scored while another is read or written."""
LEXICAL_AT_ONCE = 250
"""Texts that go to a process together: enough that passing them costs nothing, few enough that all processes get some."""


class TableJob(ScoringJob):
    """BatchJob for a big table. An item consists of a chunk of rows; no score is stored in the database."""

    def __init__(
        self,
        store: Store,
        run_id: int,
        folder: Path,
        sizes: Sequence[int],
        names: Sequence[str],
        parts: Sequence[ThreadPart],
        running: ScoringRunning,
        prepare: Callable[[], None] = lambda: None,
        *,
        reads_source: bool = True,
    ) -> None:
        """folder: the run's folder; sizes: rows of each chunk. The others are as in ScoringJob."""
        super().__init__(store, run_id, (), names, parts, running, prepare, reads_source=reads_source)
        self._folder = folder
        self._folder_number = 0
        """The inode of the folder in which the work began."""
        self._largest = max(sizes, default=0)
        ends = np.cumsum(sizes).tolist()
        self._item_ids = tuple(f"rows {end - size + 1}-{end}" for size, end in zip(sizes, ends, strict=True))

    @property
    def width(self) -> int:
        """See CHUNKS_AT_ONCE; for a cluster, so many more that all its workers have texts."""
        at_once = max(part.texts_at_once or 0 for part in self._parts)
        return CHUNKS_AT_ONCE + at_once // max(self._largest, 1)

    @property
    def batch(self) -> int:
        """One chunk: it is saved as soon as its file is complete."""
        return 1

    async def start(self) -> None:
        """Open the scorers, record the run's metrics, and delete unfinished files of a killed process."""
        await super().start()
        self._folder_number = self._folder.stat().st_ino
        for left in self._folder.glob(f"*{PARTIAL}"):
            left.unlink(missing_ok=True)

    async def do_together(self, positions: Sequence[int]) -> Batch:
        """Score all rows of one chunk, equal texts once, and put its file in place."""
        (position,) = positions
        columns = await asyncio.to_thread(self._read, position)
        texts, at = distinct(columns, reads_source=self._reads_source)
        found = [await self._scores_of(part, texts) for part in self._parts]
        chunk = _Chunk(columns, at, *self._joined(found, len(texts)))
        await asyncio.to_thread(self._write, position, chunk)
        steps: dict[str, dict[str, float]] = {}
        failures: list[tuple[str, str]] = []
        for part, answers in zip(self._parts, found, strict=True):
            failed = [one.failure for one in answers if one.failure is not None]
            failures += [(part.group, name) for name in failed]
            step = steps.setdefault(
                part.group, {"scored": len(texts), "same": at.size - len(texts), "failed": 0, "seconds": 0.0}
            )
            step["failed"] = max(step["failed"], len(failed))
            step["seconds"] += sum(one.seconds for one in answers)
        result = {
            "part": part_name(position),
            "rows": int(at.size),
            "undefined": chunk.undefined(self._names),
            "range": chunk.ranges(self._names),
            "most": chunk.most_frequent(self._names),
            "steps": steps,
        }
        return Batch([Outcome("failed" if failures else "done", result, tuple(failures))], lambda: None)

    async def _scores_of(self, part: ThreadPart, texts: Sequence[ScoringPair]) -> list[PairScores]:
        """The scores of the texts in their order, in pieces that all processes of the part share."""
        if part.texts_at_once is not None:
            return await part.score(texts)
        size = LEXICAL_AT_ONCE if part.group == "lexical" else BATCHES_AT_ONCE * self._running.batch_size
        pieces = [texts[start : start + size] for start in range(0, len(texts), size)]
        return [one for scored in await asyncio.gather(*map(part.score, pieces)) for one in scored]

    def _joined(
        self, found: Sequence[Sequence[PairScores]], n_texts: int
    ) -> tuple[NDArray[np.float64], list[dict[str, str]]]:
        """Scores of all parts, with columns in the order of the run's metrics, and the reasons of each text."""
        values = np.full((n_texts, len(self._names)), np.nan)
        reasons: list[dict[str, str]] = [{} for _ in range(n_texts)]
        for places, answers in zip(self._places, found, strict=True):
            values[:, places] = np.array([one.values for one in answers], dtype=np.float64).reshape(
                n_texts, len(places)
            )
            for own, one in zip(reasons, answers, strict=True):
                for metric, reason in one.reasons.items():
                    own[self._names[places[metric]]] = reason
        return values, reasons

    def _read(self, position: int) -> dict[str, list[Any]]:
        """The rows of a chunk, column by column."""
        with texts_of(self._run_id, self._folder) as file:
            columns: dict[str, list[Any]] = file.read_row_group(position).to_pydict()
        return columns

    def _write(self, position: int, chunk: "_Chunk") -> None:
        """Write the file of a chunk under another name, wait until it is on disk, and rename it."""
        _, parquet = pyarrow_for(TEXTS_FILE)
        path = self._folder / part_name(position)
        draft = path.with_name(path.name + PARTIAL)
        try:
            parquet.write_table(chunk.table(self._names), draft, compression="zstd")
            # Another folder may be that of another run with this number.
            if self._folder.stat().st_ino != self._folder_number:
                draft.unlink()
                raise StorageError(
                    f"{self._folder} was replaced while the run was at work, such as by restoring a backup, so it has stopped."
                )
            put_in_place(draft, path)
        except OSError as problem:  # such as a full disk: no other chunk could be written
            raise StorageError(
                f"{path} cannot be written: {why_not_written(problem, path)}. Then resume the run."
            ) from problem


def distinct(
    columns: Mapping[str, Sequence[Any]], *, reads_source: bool
) -> tuple[list[ScoringPair], NDArray[np.int64]]:
    """The different texts of some rows, and the place of each row's text among them."""
    places: dict[bytes, int] = {}
    texts: list[ScoringPair] = []
    at = []
    sources = columns["source"] if reads_source else [None] * len(columns["text"])
    for text, reference, source in zip(columns["text"], columns["reference"], sources, strict=True):
        pair = ScoringPair(text, reference, source)
        place = places.setdefault(pair_hash(pair), len(texts))
        if place == len(texts):
            texts.append(pair)
        at.append(place)
    return texts, np.array(at, dtype=np.int64)


@dataclass(frozen=True)
class _Chunk:
    """The scores of a chunk's rows."""

    columns: Mapping[str, list[Any]]
    at: NDArray[np.int64]
    """Place of each row's text among the different texts."""
    values: NDArray[np.float64]
    """Shape (different texts, metrics); NaN where undefined."""
    reasons: Sequence[Mapping[str, str]]
    """For each different text: metric -> why it has no score."""

    def table(self, names: Sequence[str]) -> Any:
        """As the file of scores has them."""
        arrow, _ = pyarrow_for(TEXTS_FILE)
        types = {ROW: arrow.int64()}
        own = [(name, types.get(name, arrow.string())) for name in (*ABOUT_COLUMNS, LABELS)]
        arrays = [arrow.array(self.columns[name], kind) for name, kind in own]
        scores = self.values[self.at]
        arrays += [
            arrow.array(scores[:, place], from_pandas=True) for place in range(len(names))
        ]  # NaN becomes null
        written = [_written(tuple(one.items())) if one else None for one in self.reasons]
        arrays.append(arrow.array([written[place] for place in self.at.tolist()], arrow.string()))
        schema = [*own, *((name, arrow.float64()) for name in names), (REASONS, arrow.string())]
        return arrow.Table.from_arrays(arrays, schema=arrow.schema(schema))

    def undefined(self, names: Sequence[str]) -> dict[str, dict[str, int]]:
        """Metric -> reason -> number of rows."""
        n_rows = np.bincount(self.at, minlength=len(self.reasons)).tolist()
        counts: dict[str, Counter[str]] = {name: Counter() for name in names}
        for own, n in zip(self.reasons, n_rows, strict=True):
            for metric, reason in own.items():
                counts[metric][reason] += n
        return {metric: dict(found) for metric, found in counts.items() if found}

    def ranges(self, names: Sequence[str]) -> dict[str, tuple[float, float]]:
        """Metric -> smallest and largest score, for metrics with any."""
        some = [place for place in range(len(names)) if not np.isnan(self.values[:, place]).all()]
        low, high = np.nanmin(self.values[:, some], axis=0), np.nanmax(self.values[:, some], axis=0)
        return {names[place]: (float(low[n]), float(high[n])) for n, place in enumerate(some)}

    def most_frequent(self, names: Sequence[str]) -> dict[str, tuple[float, int]]:
        """Metric -> its most frequent score, and the number of rows with it, for metrics with any."""
        found = {}
        for place, name in enumerate(names):
            column = self.values[self.at, place]
            values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
            if values.size:
                found[name] = (float(values[counts.argmax()]), int(counts.max()))
        return found


@lru_cache(maxsize=10_000)
def _written(reasons: tuple[tuple[str, str], ...]) -> str:
    return json.dumps(dict(reasons), ensure_ascii=False, sort_keys=True)
