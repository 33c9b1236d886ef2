"""Tables of scores and ratings read column by column give what reading them row by row gives, or the same errors."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.formats.ratings import read_ratings
from core.formats.scores import parquet_rows, read_scores
from core.schema.row_columns import Ratings, ScoredRows
from core.schema.scores import RatingSet, ScoreTable
from core.tables.columns import Table
from core.tables.containers import table_rows
from core.tables.problems import FileFindings
from core.tables.reading import is_undefined

NUMBERS = ("0.5", "-3", "1e3", " 7 ", "", "nan", "NA", "0.25", "inf", "1,5", "12%", "good", "1_0", "٣", "0.1")
NAMES = (
    "a",
    "b",
    " a ",
    "A",
    "",
    "q1",
    "q2",
    "3",
    "3.0",
    "'=x",
    "x_level2",
    "é",
    "a,b",
    "\x00",
    "x\ny",
    "null",
)
LEVELS = ("A0", "A1", "0", "", "-1", "high")
LANGUAGES = ("en", "de", "und", "", "not a tag!")
CELLS: Mapping[str, Sequence[str]] = {
    "item": NAMES,
    "system": NAMES,
    "level": LEVELS,
    "language": LANGUAGES,
    "language_pair": ("en-de", "cs-uk", "", "pair"),
    "dataset": ("x", "y", ""),
    "topic": NAMES,
    "seed": NUMBERS,
    "BLEU": NUMBERS,
    "metric: own (lower is better)": NUMBERS,
    "odd": NUMBERS + NAMES,
    "feedback": ("fine", "", "0.3"),
    "rater": NAMES,
    "dimension": ("fluency", "", " fluency"),
    "score": NUMBERS,
    "spans": ("", "[]"),
    "text": ("some text", ""),
    "": ("0", "1"),
    "metric": ("bleu", "chrF", "", "x\ny"),
    "reason": ("", "no answer", " no answer "),
    "direction": ("higher", "lower", "", "up"),
    "human": NUMBERS,
}
PLAIN: Mapping[str, Sequence[str]] = {
    "system": ("a", "b"),
    "level": ("A0", "A1"),
    "language": ("en", "de"),
    "language_pair": ("en-de", "cs-uk"),
    "dataset": ("x", "y"),
    "topic": ("art", "law", ""),
    "seed": ("1", "2"),
    "BLEU": ("0.5", " 7 ", "1e3", "", "nan", "-inf"),
    "metric: own (lower is better)": ("-3", "0"),
    "odd": ("0.1", ".5", "NA"),
    "feedback": ("fine", ""),
    "rater": ("r1", "r2", ""),
    "dimension": ("fluency", "", " fluency"),
    "score": ("4", "2.5", "3", ""),
    "text": ("some text", ""),
    "reason": ("", "no answer", " no answer "),
    "direction": ("higher",),
}
ODD = {"1,5", "12%", "good", "1_0", "٣", *NAMES} - {"3", "3.0", "", "null"}
ALIKE = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
Reader = Callable[..., ScoreTable | RatingSet]


def seldom() -> st.SearchStrategy[bool]:
    return st.sampled_from((False, False, False, False, False, True))


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[str]]:
    """A table with some of the columns: most rows name different texts, and up to two cells are odd."""
    n_rows = draw(st.integers(1, 6))
    once = draw(st.integers(0, 3)) > 0
    table = {"item": [f"q{number if once else number // 2}" for number in range(n_rows)]}
    names = draw(st.lists(st.sampled_from(list(PLAIN)), max_size=6, unique=True))
    if draw(st.booleans()):
        names.append("BLEU")
    else:
        names.append("score")
        if draw(seldom()):
            table["metric"] = [f"m{number % 2}" for number in range(n_rows)]
    for name in names:
        table[name] = draw(st.lists(st.sampled_from(PLAIN[name]), min_size=n_rows, max_size=n_rows))
    for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
        name = draw(st.sampled_from(list(CELLS)))
        cells = table.setdefault(name, [""] * n_rows)
        cells[draw(st.integers(0, n_rows - 1))] = draw(st.sampled_from(CELLS[name]))
    if len(table) > 1 and draw(seldom()):
        del table["item"]
    return table


def by_rows(data: bytes, known: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """The reader of rows, under another name, so that no reader takes its short cut."""
    reader = parquet_rows if data.startswith(b"PAR1") else table_rows
    return reader(data, known, findings)


def outcome(read: Callable[[], ScoreTable | RatingSet]) -> tuple[object, ...]:
    try:
        found = read()
    except InputError as error:
        return error.what, *map(str, error.found)
    common = found.file_name, found.sha256, found.notes, found.left_out
    if isinstance(found, RatingSet):
        return *common, tuple(found.ratings), found.scales
    reasons = list(found.reasons.items())
    return *common, tuple(found.rows), found.metrics, found.values.tolist().__repr__(), reasons


def check_alike(read: Reader, data: bytes, file_name: str, fast: Any) -> None:
    columns = outcome(lambda: read(data, file_name, rows=fast))
    assert columns == outcome(lambda: read(data, file_name, rows=by_rows))


@pytest.mark.parametrize("read", [read_scores, read_ratings])
@ALIKE
@given(table=tables(), ragged=seldom(), delimiter=st.sampled_from(",;\t"))
def test_csv(read: Reader, table: dict[str, list[str]], ragged: bool, delimiter: str) -> None:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter)
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    if ragged and len(table) > 1:
        writer.writerow(["only one cell"])
    check_alike(read, buffer.getvalue().encode(), "a.csv", table_rows)


@pytest.mark.parametrize("read", [read_scores, read_ratings])
@ALIKE
@given(
    table=tables(),
    numbers=st.sets(st.sampled_from(["BLEU", "score", "seed", "item", "topic"]), max_size=1),
    data=st.data(),
)
def test_parquet(read: Reader, table: dict[str, list[str]], numbers: set[str], data: st.DataObject) -> None:
    cells: dict[str, list[object]] = {}
    for name, own in table.items():
        values: Any = [None if cell == "" else cell for cell in own]
        if name in ("BLEU", "score", "odd") and not any(cell in ODD for cell in own):
            values = [None if is_undefined(cell) else float(cell) for cell in own]
        if name in numbers:
            kind = data.draw(
                st.sampled_from(
                    [st.floats(allow_nan=True), st.integers(-9, 9), st.booleans(), st.integers(0, 2**62)]
                )
            )
            values = data.draw(st.lists(st.none() | kind, min_size=len(own), max_size=len(own)))
        cells[name] = values
    buffer = io.BytesIO()
    made = pyarrow.table(cells)
    if data.draw(st.booleans()):
        made = pyarrow.table(
            {
                name: column.dictionary_encode() if pyarrow.types.is_string(column.type) else column
                for name, column in zip(made.column_names, made.columns, strict=True)
            }
        )
    pyarrow.parquet.write_table(made, buffer, row_group_size=2)
    check_alike(read, buffer.getvalue(), "a.parquet", parquet_rows)


@pytest.mark.parametrize(
    "text",
    [
        "item,system,BLEU,topic\nq1,a,0.5,x\nq1,b,,y\nq2,a,inf,x\n",
        "item,system,metric,score,reason\nq1,a,bleu,0.5,\nq1,a,chrF,,no answer\nq2,a,chrF,1,\n",
    ],
)
def test_an_ordinary_table_of_scores_is_read_in_columns(text: str) -> None:
    found = read_scores(text.encode(), "a.csv")
    assert isinstance(found.rows, ScoredRows)
    assert found.rows[1:] == tuple(found.rows)[1:]
    assert found.rows[-1] == [*found.rows][-1]
    check_alike(read_scores, text.encode(), "a.csv", table_rows)


def test_ratings_are_columns_whatever_form_the_file_has() -> None:
    lines = b'{"item": "q1", "score": 3, "rater": "r"}\n{"item": "q2", "score": null}\n{"item": "q2", "score": 1}\n'
    found = read_ratings(lines, "a.jsonl")
    assert isinstance(found.ratings, Ratings)
    assert found.ratings.score.tolist() == [3.0, 1.0]
    assert found.ratings.take([1])[0] == found.ratings[-1]
