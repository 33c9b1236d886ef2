"""Read the texts of a table that is too large for memory into the Parquet file of a run.

The same rows, labels, notes and problems as `core.formats.scorable.read_outputs` gives for the whole file. What that reader
finds by comparing all rows (repeated texts, contradictions, texts of an item that only one of its rows has) is found here in
arrays of 64-bit hashes: about 60 bytes a row. Two different keys of a million have the same hash with a probability of 3e-8.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import NotAllowed
from core.formats.scorable import (
    COLUMNS,
    OF_ITEM,
    READ_AS_SOURCE,
    SAME_TEXT,
    TextReader,
    TextRow,
    note_lacks,
)
from core.formats.scores import may_be_misread
from core.runs.scoring import masked_said
from core.schema.big_tables import LABELS, NOTES_KEY, ROW, TEXT_COLUMNS
from core.schema.scores import mask_notes
from core.tables.columns import MOST_REPEATED, ONLY_SYSTEM, needed_at, repeats_said, require
from core.tables.parquet import pyarrow_for
from core.tables.problems import FileFindings, same_wording
from core.tables.reading import shown
from core.tables.streaming import Survey, TableFile

_DRAFT = "draft.parquet"
_MOST_VALUES = 1_000
"""Different values of a label that are remembered, so that each is looked at once."""
_MOST_NAMED = 200
"""Contradicting rows whose item is named; only the first problems are listed anyway."""
Hashes = NDArray[np.uint64]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class TableNotes:
    """What was noted while a big table was read."""

    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of rows without a text."""
    labels: Mapping[str, bool] = field(default_factory=dict)
    """Label -> whether a value of it could be taken for a score; in the order of first appearance."""

    def as_json(self) -> bytes:
        """As the metadata of the file of texts store it."""
        return json.dumps(vars(self), ensure_ascii=False).encode()


def read_texts_into(
    table: TableFile,
    survey: Survey,
    target: Path,
    chunk_rows: int,
    tell: Callable[[int], None] = lambda n: None,
) -> int:
    """Read the texts of a table into a new Parquet file in row groups of chunk_rows; returns their number.

    tell: called with the number of rows read so far. Raises InputError with every problem of the file, and NotAllowed for
    the masked texts of a blind study. Leaves other files beside the target if it fails.
    """
    findings = FileFindings(table.name, table.sha256)
    require(survey.columns.values(), needed_at("texts"), survey.keys, table.name)
    reading = _Reading(table, survey, target, chunk_rows, findings)
    try:
        records = table.records(survey, COLUMNS, findings)
        while some := list(islice(records, chunk_rows)):
            reading.add(some)
            tell(reading.n_rows)
        return reading.settle()
    finally:
        reading.close()


class _Reading:
    """The rows read so far: their texts in a draft on disk, and hashes of their keys in memory."""

    def __init__(
        self, table: TableFile, survey: Survey, target: Path, chunk_rows: int, findings: FileFindings
    ) -> None:
        self._table, self._target, self._chunk_rows, self._findings = table, target, chunk_rows, findings
        self._left_out: Counter[str] = Counter()
        self._reader = TextReader(table.form == "csv", False, frozenset(), self._left_out, findings)
        self._labels = self._reader.labels(survey.there, survey.no_label)
        self._of_item = [name for name in OF_ITEM if name in survey.there]
        sources = [name for name in READ_AS_SOURCE if name in self._of_item]
        self._sources = sources if len(sources) > 1 else []
        """Columns of which the first that an item has becomes its source; none if there is no choice."""
        self._column = {name: name for name in self._of_item} | (
            {} if self._sources else dict.fromkeys(sources, "source")
        )
        columns = [name for name in TEXT_COLUMNS if name != LABELS]
        extra = [name for name in self._sources if name not in columns]
        self._draft = TextsWriter(target.with_name(_DRAFT), [*columns, *extra, LABELS], chunk_rows)
        self._hashes = _Hashes(self._of_item)
        self._unclear: dict[str, bool] = {}
        self._values: dict[str, set[str]] = {}
        self._has_system = False
        self._masked = False
        self.n_rows = 0

    def add(self, records: Sequence[Any]) -> None:
        """Check some rows, and keep them in the draft."""
        rows = self._reader.rows(records, self._labels)
        self._hashes.add(rows)
        columns: dict[str, list[Any]] = {name: [] for name in self._draft.names}
        for row in rows:
            names = row.names
            columns[ROW].append(self.n_rows)
            columns["item_id"].append(names.item_id)
            columns["system"].append(names.system or ONLY_SYSTEM)
            columns["level"].append(names.level)
            columns["language"].append(names.language)
            columns["text"].append(row.text)
            columns[LABELS].append(_label_text(tuple(names.labels.items())) if names.labels else None)
            self._has_system = self._has_system or bool(names.system)
            for label, value in names.labels.items():
                self._look_at(label, value)
            self.n_rows += 1
        for name in self._of_item:
            columns[self._column[name]] = [row.of_item.get(name) or None for row in rows]
        for cells in columns.values():
            if len(cells) < len(rows):
                cells += [None] * len(rows)
        self._masked = self._masked or bool(mask_notes(columns["system"]))
        self._draft.add(columns)

    def _look_at(self, label: str, value: str) -> None:
        """Remember a label, and whether its values could be taken for scores."""
        if self._unclear.setdefault(label, False):
            return
        seen = self._values.setdefault(label, set())
        if value not in seen:
            self._unclear[label] = may_be_misread(value)
            if len(seen) < _MOST_VALUES:
                seen.add(value)

    def settle(self) -> int:
        """Check the rows against each other, and put the finished file in place. Returns the number of texts."""
        found = self._hashes.settled()
        self._compare(found)
        n_texts = int(found.has_text.sum())
        note_lacks(self._findings, has_text=n_texts > 0, has_system=self._has_system)
        _, _, notes = self._findings.settled()
        if self._masked:
            raise NotAllowed(masked_said(self._table.name))
        about = TableNotes(notes, dict(self._left_out), self._unclear)
        lacking = {name: lacks for name in self._of_item if (lacks := found.lacking(name)).rows.size}
        if n_texts == self.n_rows and not lacking and not self._sources and not found.filled.size:
            self._draft.close(about)
            self._draft.path.rename(self._target)
        else:
            self._draft.close()
            self._complete(found, lacking, about)
            self._draft.path.unlink()
        return n_texts

    def close(self) -> None:
        """Close the draft, whatever has become of it."""
        self._draft.close()

    def _compare(self, found: "_Settled") -> None:
        """Add the problems of rows that repeat or contradict each other."""
        repeated = found.repeated()
        contradicting = {name: rows for name in self._of_item if (rows := found.contradicting(name)).size}
        if repeated[0].size or contradicting:
            self._draft.close()  # its rows are read for the names in the problems
            self._findings.problems += self._repeated(found, *repeated)
            for name, rows in contradicting.items():
                self._findings.problems += self._contradictions(found, name, rows)

    def _where(self, found: "_Settled", row: int) -> str:
        """The place of a row as problems name it."""
        (item_id,) = self._draft.read(row, "item_id")
        return f"{self._line(found, row)}, item {shown(item_id)}"

    def _line(self, found: "_Settled", row: int) -> str:
        return f"{'row' if self._table.form == 'parquet' else 'line'} {found.places[row]}"

    def _repeated(self, found: "_Settled", rows: Rows, earlier: Rows) -> Sequence[str]:
        """The problems of rows that have the names of an earlier row."""
        first = [
            f"{self._where(found, row)}: {SAME_TEXT} as in {self._where(found, before)}"
            for row, before in zip(
                rows[:MOST_REPEATED].tolist(), earlier[:MOST_REPEATED].tolist(), strict=True
            )
        ]
        return repeats_said(first, rows.size)

    def _contradictions(self, found: "_Settled", name: str, rows: Rows) -> Iterator[str]:
        """The problems of rows whose text of the item differs from what most rows of the item have."""
        by_item: dict[int, list[int]] = {}
        for row in rows.tolist():
            by_item.setdefault(int(found.item[row]), []).append(row)
        n_named = 0
        for same in by_item.values():
            wordings = [int(found.words[name][row]) for row in same]
            meant = Counter(wordings).most_common(1)[0][0]
            known = (
                self._where(found, same[wordings.index(meant)]) if n_named < _MOST_NAMED else "another row"
            )
            for row, wording in zip(same, wordings, strict=True):
                if wording != meant:
                    n_named += 1
                    where = (self._where if n_named <= _MOST_NAMED else self._line)(found, row)
                    yield f"{where}: {name} differs from {known}"

    def _complete(self, found: "_Settled", lacking: Mapping[str, "_Lacking"], about: TableNotes) -> None:
        """Write the file from the draft: without rows that have no text, with what only other rows of an item have."""
        values = {name: self._values_of(name, lacks) for name, lacks in lacking.items()}
        writer = TextsWriter(self._target, list(TEXT_COLUMNS), self._chunk_rows)
        n_written = 0
        try:
            for start, columns in self._draft.groups():
                rows = range(start, start + len(columns[ROW]))
                for name, of_rows in values.items():
                    cells = columns[self._column[name]]
                    for at in of_rows.within(rows):
                        cells[at - start] = of_rows.text(at)
                for at in found.filled[
                    slice(*np.searchsorted(found.filled, [rows.start, rows.stop]))
                ].tolist():
                    columns["language"][at - start] = found.languages[found.language[at]]
                if self._sources:
                    beside = zip(*(columns[name] for name in self._sources), strict=True)
                    columns["source"] = [next(filter(None, cells), None) for cells in beside]
                kept = np.flatnonzero(found.has_text[rows.start : rows.stop]).tolist()
                written = {name: [columns[name][at] for at in kept] for name in writer.names}
                written[ROW] = list(range(n_written, n_written + len(kept)))
                n_written += len(kept)
                writer.add(written)
            writer.close(about)
        finally:
            for one in values.values():
                one.close()

    def _values_of(self, name: str, lacks: "_Lacking") -> "_Values":
        """The texts that rows need from other rows, in a file, because all together may be larger than memory."""
        given = np.unique(lacks.given_by)
        values = _Values(self._target.with_name(f"{name}.values"), lacks, given)
        for start, columns in self._draft.groups([self._column[name]]):
            cells = columns[self._column[name]]
            first, end = np.searchsorted(given, [start, start + len(cells)])
            values.write([cells[row - start] for row in given[first:end].tolist()])
        return values


@lru_cache(maxsize=10_000)
def _label_text(labels: tuple[tuple[str, str], ...]) -> str:
    return json.dumps(dict(labels), ensure_ascii=False, sort_keys=True)


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


_NOTHING = bytes(8)


class _Hashes:
    """Hashes of the rows' keys, batch by batch."""

    def __init__(self, of_item: Sequence[str]) -> None:
        self._parts: dict[str, list[bytes]] = {name: [] for name in ("base", "who", *of_item)}
        self._places: list[Rows] = []
        self._languages: list[NDArray[np.int32]] = []
        self._has_text: list[NDArray[np.bool_]] = []
        self._codes: dict[str, int] = {"und": 0}
        self._of_item = tuple(of_item)

    def add(self, rows: Sequence[TextRow]) -> None:
        """Add some rows."""
        names = [row.names for row in rows]
        codes = self._codes
        self._places.append(
            np.array([int(row.record.where.rpartition(" ")[2]) for row in rows], dtype=np.int64)
        )
        self._languages.append(
            np.array([codes.setdefault(one.language, len(codes)) for one in names], dtype=np.int32)
        )
        self._has_text.append(np.array([row.text is not None for row in rows], dtype=np.bool_))
        labels = (_label_text(tuple(one.labels.items())) if one.labels else "" for one in names)
        # Names have no control characters, so that no two keys are joined to the same text.
        self._parts["base"].append(
            b"".join(_hash(f"{one.item_id}\0{own}") for one, own in zip(names, labels, strict=True))
        )
        self._parts["who"].append(
            b"".join(_hash(f"{one.system or ''}\0{'' if one.level is None else one.level}") for one in names)
        )
        for name in self._of_item:
            texts = (row.of_item.get(name) for row in rows)
            self._parts[name].append(
                b"".join(_hash(same_wording(text)) if text else _NOTHING for text in texts)
            )

    def settled(self) -> "_Settled":
        """The keys of all rows."""
        whole = {name: np.frombuffer(b"".join(parts), dtype="<u8") for name, parts in self._parts.items()}
        self._parts.clear()
        language = np.concatenate([np.empty(0, dtype=np.int32), *self._languages])
        filled = _fill_languages(whole["base"], language)
        return _Settled(
            places=np.concatenate([np.empty(0, dtype=np.int64), *self._places]),
            has_text=np.concatenate([np.empty(0, dtype=np.bool_), *self._has_text]),
            item=_mixed(whole.pop("base"), language),
            who=whole.pop("who"),
            words=whole,
            language=language,
            filled=filled,
            languages=tuple(self._codes),
        )


def _mixed(first: Hashes, second: NDArray[Any]) -> Hashes:
    """One hash of two."""
    mixed = first ^ (second.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    mixed ^= mixed >> np.uint64(31)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    return mixed


def _fill_languages(base: Hashes, language: NDArray[np.int32]) -> Rows:
    """Fill in missing languages (code 0) where the item's other rows name exactly one; returns the rows."""
    unsaid, said = np.flatnonzero(language == 0), np.flatnonzero(language)
    if not unsaid.size or not said.size:
        return np.empty(0, dtype=np.int64)
    order = said[np.argsort(base[said], kind="stable")]
    items, codes = base[order], language[order]
    begins = np.flatnonzero(np.concatenate([[True], items[1:] != items[:-1]]))
    first = np.repeat(codes[begins], np.diff([*begins, items.size]))
    one = np.logical_and.reduceat(codes == first, begins)
    only = codes[begins][one]
    rows, at = _matched(items[begins][one], base, unsaid)
    language[rows] = only[at]
    return rows


def _matched(sorted_keys: Hashes, keys: Hashes, rows: Rows) -> tuple[Rows, Rows]:
    """Those of the rows whose key is among the sorted ones, and where it is there."""
    if not sorted_keys.size:
        return rows[:0], rows[:0]
    at = np.minimum(np.searchsorted(sorted_keys, keys[rows]), sorted_keys.size - 1)
    there = sorted_keys[at] == keys[rows]
    return rows[there], at[there]


@dataclass(frozen=True)
class _Lacking:
    """Rows without a text of their item that another row has."""

    rows: Rows
    """Ascending."""
    given_by: Rows
    """The first row of the item that has it."""


@dataclass(frozen=True)
class _Settled:
    """The keys of all rows, as hashes."""

    places: Rows
    """Number of the line or row in the file."""
    has_text: NDArray[np.bool_]
    item: Hashes
    """Item, language and labels."""
    who: Hashes
    """System and level."""
    words: Mapping[str, Hashes]
    """Column -> the wording of its text; 0: none."""
    language: NDArray[np.int32]
    """Code of the language."""
    filled: Rows
    """Rows whose language was filled in."""
    languages: tuple[str, ...]
    """The language of each code."""

    def repeated(self) -> tuple[Rows, Rows]:
        """Rows with the key of an earlier row, and the first row with that key."""
        rows = np.flatnonzero(self.has_text)
        keys = _mixed(self.item[rows], self.who[rows])
        order = np.argsort(keys, kind="stable")
        same = np.zeros(rows.size, dtype=np.bool_)
        same[1:] = keys[order][1:] == keys[order][:-1]
        begins = np.maximum.accumulate(np.where(same, 0, np.arange(same.size)))
        again, earlier = rows[order[same]], rows[order[begins[same]]]
        in_file = np.argsort(again)
        return again[in_file], earlier[in_file]

    def contradicting(self, name: str) -> Rows:
        """All rows with a text of an item whose rows differ in it."""
        words = self.words[name]
        rows = np.flatnonzero(words)
        order = rows[np.lexsort((words[rows], self.item[rows]))]
        item, wording = self.item[order], words[order]
        differ = (item[1:] == item[:-1]) & (wording[1:] != wording[:-1])
        if not differ.any():
            return rows[:0]
        return _matched(np.unique(item[1:][differ]), self.item, rows)[0]

    def lacking(self, name: str) -> _Lacking:
        """Rows with a text to score, but without this text of their item, which another row has."""
        words = self.words[name]
        without = np.flatnonzero((words == 0) & self.has_text)
        there = np.flatnonzero(words)
        if not without.size or not there.size:
            return _Lacking(without[:0], without[:0])
        items, first = np.unique(self.item[there], return_index=True)
        rows, at = _matched(items, self.item, without)
        return _Lacking(rows, there[first[at]])


class _Values:
    """Texts that some rows take from others, in a file."""

    def __init__(self, path: Path, lacks: _Lacking, given: Rows) -> None:
        """given: the rows that give a text, ascending."""
        self._path, self._lacks, self._given = path, lacks, given
        self._file = path.open("w+b")
        self._ends = [0]
        self._starts: Rows | None = None

    def write(self, texts: Sequence[str]) -> None:
        """Add the texts of the next rows that give one."""
        for text in texts:
            self._ends.append(self._ends[-1] + self._file.write(text.encode("utf-8", "surrogatepass")))

    def within(self, rows: range) -> list[int]:
        """Those of the rows that lack a text."""
        first, end = np.searchsorted(self._lacks.rows, [rows.start, rows.stop])
        found: list[int] = self._lacks.rows[first:end].tolist()
        return found

    def text(self, row: int) -> str:
        """The text that a row takes."""
        giver = self._lacks.given_by[np.searchsorted(self._lacks.rows, row)]
        at = int(np.searchsorted(self._given, giver))
        self._file.seek(self._ends[at])
        return self._file.read(self._ends[at + 1] - self._ends[at]).decode("utf-8", "surrogatepass")

    def close(self) -> None:
        """Delete the file."""
        self._file.close()
        self._path.unlink()


class TextsWriter:
    """A Parquet file of texts that is written row group by row group."""

    def __init__(self, path: Path, names: Sequence[str], chunk_rows: int) -> None:
        self._arrow, self._parquet = pyarrow_for(path.name)
        self.path, self.names, self._chunk_rows = path, list(names), chunk_rows
        types = {ROW: self._arrow.int64()}
        self._schema = self._arrow.schema([(name, types.get(name, self._arrow.string())) for name in names])
        self._writer = self._parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._waiting: dict[str, list[Any]] = {name: [] for name in names}
        self._groups = 0

    def add(self, columns: Mapping[str, list[Any]]) -> None:
        """Add rows; whole row groups are written at once."""
        for name in self.names:
            self._waiting[name] += columns[name]
        while len(self._waiting[self.names[0]]) >= self._chunk_rows:
            self._write(self._chunk_rows)

    def flush(self) -> None:
        """Write the last row group, which may be smaller."""
        if self._waiting[self.names[0]]:
            self._write(self._chunk_rows)

    def _write(self, n: int) -> None:
        some = {name: cells[:n] for name, cells in self._waiting.items()}
        self._waiting = {name: cells[n:] for name, cells in self._waiting.items()}
        self._writer.write_table(self._arrow.table(some, schema=self._schema), row_group_size=n)

    def close(self, about: TableNotes | None = None) -> None:
        """End the file, with notes in its metadata. A second call does nothing."""
        if not self._writer.is_open:
            return
        self.flush()
        if about is not None:
            self._writer.add_key_value_metadata({NOTES_KEY.decode(): about.as_json().decode()})
        self._writer.close()

    def read(self, row: int, name: str) -> list[Any]:
        """One cell of a file that is closed."""
        group, at = divmod(row, self._chunk_rows)
        with self._parquet.ParquetFile(self.path) as file:
            column = file.read_row_group(group, columns=[name])[name]
        return [column[at].as_py()]

    def groups(self, names: Sequence[str] | None = None) -> Iterator[tuple[int, dict[str, list[Any]]]]:
        """Row groups of a file that is closed: number of the first row, and the columns."""
        with closing(self._parquet.ParquetFile(self.path)) as file:
            for group in range(file.num_row_groups):
                yield group * self._chunk_rows, file.read_row_group(group, columns=names).to_pydict()
