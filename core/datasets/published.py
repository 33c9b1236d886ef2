"""Figures of three papers as data/published/ has them: tables to look at, and sides of a meta-correlation.

`meta-judge` is 000 (its Tables 1 to 7), `factual-perturbation` is 003 (its Tables 1 and 2), `cross-examination` is 001
(its Tables 1 to 11). The figures are as printed; where a paper puts a figure under the wrong name, the row has the right
one, the printed one and a sentence on it; a figure that the paper's other figures contradict has the sentence alone.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import regex

from core.datasets.reading import shown
from core.errors import InputError
from core.nearest import nearest_names
from core.schema.scores import CorrelationSet

PAPERS = ("meta-judge", "factual-perturbation", "cross-examination")
DATASETS = (
    *("cus-qa-cs-en", "cus-qa-sk-en", "cus-qa-uk-en", "cus-qa-cs", "cus-qa-sk", "cus-qa-uk", "mocha", "rose"),
    *("wmt21-en-ha", "wmt21-xh-zu", "wmt24-cs-uk", "wmt24-en-cs", "wmt24-en-is"),
)
"""In the order of 000's Table 1; `cus-qa-cs-en` is translated into English, `cus-qa-cs` the original."""
GENERATORS = ("llama-4-scout", "llama-3.3-70b", "qwen-3-30b")
"""The models that damaged the texts."""
SHOTS = ("few", "zero")
PREFIX = "published:"

_FOLDER = Path(__file__).resolve().parents[2] / "data" / "published"
_PER_METRIC = ("meta-judge-4", "meta-judge-5", "meta-judge-6", "meta-judge-7")
_PLACE = ("paper", "table")  # columns that say of every row what the table says of itself

Cell = str | int | float | None
"""None: nothing is printed there, or `nan`."""


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper."""

    paper: str
    """One of PAPERS."""
    number: int
    """As the paper counts."""
    title: str
    source: str
    """Authors, title and table."""
    notes: str
    """What the figures are, and what is not known of them."""
    columns: tuple[str, ...]
    """Of every row, in the order of the file."""
    rows: tuple[Mapping[str, Cell], ...]
    """Figures as printed. A row with an `error` has its right name in the other columns."""

    @property
    def key(self) -> str:
        """What read_table takes, and the file's name: `meta-judge-1`."""
        return f"{self.paper}-{self.number}"

    @property
    def errors(self) -> tuple[str, ...]:
        """What is wrong in the paper, a sentence an error."""
        return _errors_of(self.rows)


def table_keys() -> tuple[str, ...]:
    """All tables there are."""
    return tuple(f"{row['paper']}-{row['table']}" for row in _rows_of("tables"))


@lru_cache(maxsize=32)
def read_table(key: str) -> PublishedTable:
    """One table. Raises InputError, with the nearest keys, for one that is not there."""
    if key not in table_keys():
        raise InputError(
            f'There is no published table "{shown(key)}".', _unknown("table", key, table_keys(), "tables")
        )
    about = next(row for row in _rows_of("tables") if f"{row['paper']}-{row['table']}" == key)
    rows = _rows_of(key)
    columns = tuple(name for name in rows[0] if name not in _PLACE)
    return PublishedTable(
        paper=about["paper"],
        number=int(about["table"]),
        title=about["title"],
        source=about["source"],
        notes=about["notes"],
        columns=columns,
        rows=tuple({name: _cell(row[name]) for name in columns} for row in rows),
    )


def published_names() -> tuple[str, ...]:
    """Every side that published_side takes: a human one and six synthetic ones a data set."""
    return tuple(PREFIX + ":".join(parts) for data in DATASETS for parts in _sides_of(data))


def published_side(name: str) -> CorrelationSet:
    """Correlations of 28 metrics: `published:cus-qa-cs` with people, `published:cus-qa-cs:qwen-3-30b:zero` with damage.

    First order is Spearman only, as 000 prints it (Tables 4 to 7), against the human judgement or minus the damage
    level, rounded to three places. Raises InputError, with the nearest names and the list, for unknown names.
    """
    parts = _checked(name)
    column = ":".join(parts[1:]) or "human"
    table, rows = _rows_of_side(parts)
    values = {str(row["metric"]): _number(row[column]) for row in rows}
    target = "human judgements" if column == "human" else "minus the damage level"
    notes = [
        f"{table.source}: Spearman correlations with {target}, rounded to three places; no other method."
    ]
    notes += error_notes(name)
    return CorrelationSet(
        name=PREFIX + ":".join(parts),
        values={metric: {"spearman": value} for metric, value in values.items()},
        families={str(row["metric"]): str(row["family"]) for row in rows},
        reasons={str(row["metric"]): str(row["why_undefined"]) for row in rows if row[column] is None},
        notes=tuple(notes),
        against="human" if column == "human" else "-level",
    )


def error_notes(name: str) -> Mapping[str, frozenset[str]]:
    """The notes of a published side on errors of the paper, each with the metrics whose rows have the error."""
    _, rows = _rows_of_side(_checked(name))
    return {
        f"An error of the paper, put right here: {error}.": frozenset(
            str(row["metric"]) for row in rows if error in _errors_of([row])
        )
        for error in _errors_of(rows)
    }


def _rows_of_side(parts: Sequence[str]) -> tuple[PublishedTable, tuple[Mapping[str, Cell], ...]]:
    """The table that has a data set, and the data set's rows."""
    return next(
        (table, rows)
        for table in map(read_table, _PER_METRIC)
        if (rows := tuple(row for row in table.rows if row["dataset"] == parts[0]))
    )


def _sides_of(dataset: str) -> Iterator[tuple[str, ...]]:
    yield (dataset,)
    for generator in GENERATORS:
        for shots in SHOTS:
            yield (dataset, generator, shots)


def _checked(name: str) -> tuple[str, ...]:
    """The name's parts; raises InputError with everything that is wrong with it."""
    written = name.strip().casefold()
    parts = tuple(written.removeprefix(PREFIX).split(":"))
    known = (("data set", DATASETS), ("generator", GENERATORS), ("shots", SHOTS))
    if not written.startswith(PREFIX) or len(parts) not in (1, 3):
        problems = [
            f"expected {PREFIX}DATASET for human judgements or {PREFIX}DATASET:GENERATOR:SHOTS for damaged texts, "
            f"such as {PREFIX}cus-qa-cs:qwen-3-30b:zero",
            *(f"{what}: {', '.join(names)}" for what, names in known),
        ]
    else:
        problems = [
            problem
            for part, (what, names) in zip(parts, known, strict=False)
            if part not in names
            for problem in _unknown(what, part, names, f"{what}, all")
        ]
        if parts[0] == "wmt24-en-es":
            problems.insert(0, "what the paper's Table 7 calls en-es is en-cs: published:wmt24-en-cs")
    if problems:
        raise InputError(f'There are no published correlations "{shown(name)}".', problems)
    return parts


def _unknown(what: str, written: str, names: Sequence[str], listed: str) -> list[str]:
    near = nearest_names(written, names)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    return [f'no {what} "{shown(written)}"{hint}', f"{listed}: {', '.join(names)}"]


@lru_cache(maxsize=32)
def _rows_of(stem: str) -> tuple[dict[str, str], ...]:
    with (_FOLDER / f"{stem}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file, strict=True))


def _cell(text: str) -> Cell:
    if text in ("", "nan"):
        return None
    if regex.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if regex.fullmatch(r"-?\d+\.\d+", text) else text


def _number(cell: Cell) -> float | None:
    return None if cell is None else float(cell)


def _errors_of(rows: Sequence[Mapping[str, Cell]]) -> tuple[str, ...]:
    """Every sentence once, in the order in which the rows have them."""
    sentences = (part for row in rows if row.get("error") for part in str(row["error"]).split("; "))
    return tuple(dict.fromkeys(sentences))
