"""One mistake in a study's file is one problem that names its line: what follows from it is not listed."""

import csv
import io
from collections.abc import Callable

import pytest

from core.errors import InputError
from core.formats.registry import read_texts
from core.formats.study.files import read_dataset
from core.study.lifecycle import study_texts

Rows = list[dict[str, str]]
Mistake = Callable[[Rows], Rows | None]

LEVELS = ("A0", "A1", "A2", "A3", "A4")
COLUMNS = ("item_id", "question", "reference", "level", "source", "text")


def good(n: int, once: bool) -> Rows:
    """Questions at five levels of two sources, from line 2; once: what is asked stands on the first row alone."""
    return [
        {
            "item_id": f"q{number}",
            "question": f"Why, {number}?" if not (once and (level, source) != ("A0", "pipe")) else "",
            "reference": f"So, {number}." if not (once and (level, source) != ("A0", "pipe")) else "",
            "level": level,
            "source": source,
            "text": f"{number} {level} by {source}",
        }
        for number in range(1, n + 1)
        for level in LEVELS
        for source in ("pipe", "person")
    ]


def written(rows: Rows) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def problems_of(data: bytes) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_dataset(data, "a.csv")
    return caught.value.problems


def cell(at: int, **change: str) -> Mistake:
    def make(rows: Rows) -> None:
        rows[at] |= change

    return make


def all_cells(**change: str) -> Mistake:
    return lambda rows: [row | change for row in rows]


def third_source_at_one_level(rows: Rows) -> Rows:
    return [row | {"source": "third"} if row["level"] == "A4" else row for row in rows]


# Row 3 is line 5: question q1, level A1, source person. The last row is line 31: q3, A4, person.
@pytest.mark.parametrize("once", [False, True], ids=["question on every row", "question once"])
@pytest.mark.parametrize(
    ("mistake", "starts"),
    [
        pytest.param(cell(3, level="A7"), "line 5, question q1", id="no such level"),
        pytest.param(cell(3, level="a1"), "line 5, question q1", id="level in lower case"),
        pytest.param(cell(3, level="A0"), "line 5, question q1", id="another level"),
        pytest.param(cell(3, level=""), "line 5, question q1: level", id="no level"),
        pytest.param(cell(3, source="persn"), "line 5, question q1", id="system misspelt"),
        pytest.param(cell(3, source="Person"), "line 5, question q1", id="system in upper case"),
        pytest.param(cell(3, source="pipe"), "line 5, question q1", id="another system"),
        pytest.param(cell(3, source=""), "line 5, question q1", id="no system"),
        pytest.param(cell(3, level="person", source="A1"), "line 5, question q1", id="level for system"),
        pytest.param(cell(3, item_id=""), "line 5: item_id", id="no id"),
        pytest.param(cell(3, question="Why not?"), "line 5, question q1: question", id="question"),
        pytest.param(cell(-1, item_id="q33"), "line 31, column item_id: q33; did you mean q3", id="new id"),
        pytest.param(cell(-1, item_id="q1"), "line 31,", id="another question's id"),
        pytest.param(lambda rows: [*rows[:5], rows[4], *rows[5:]], "line 7, question q1", id="row twice"),
        pytest.param(lambda rows: rows + rows, "lines 32 to 61", id="file twice"),
        pytest.param(lambda rows: rows[:3] + rows[4:], "question q1 (lines 2 to 10), level A1", id="no row"),
        pytest.param(lambda rows: rows[:2] + rows[4:], "question q1 (lines 2 to 9), level A1", id="no level of it"),
        pytest.param(lambda rows: rows[:-3], "question q3 (lines 22 to 28)", id="end cut off"),
        pytest.param(third_source_at_one_level, "lines 10, 11, 20, 21, 30 and 31", id="third system"),
        pytest.param(all_cells(level=""), "file: column level is empty", id="empty column"),
    ],
)  # fmt: skip
def test_one_mistake_is_one_problem(mistake: Mistake, starts: str, once: bool) -> None:
    rows = good(3, once)
    (problem,) = problems_of(written(mistake(rows) or rows))
    assert problem.startswith(starts)


def ids_of_rows(rows: Rows) -> Rows:
    return [row | {"item_id": str(at)} for at, row in enumerate(rows)]


def two_questions_with_one_id(rows: Rows) -> Rows:
    return [row | {"item_id": "q1" if row["item_id"] == "q2" else row["item_id"]} for row in rows]


@pytest.mark.parametrize("mistake", [ids_of_rows, two_questions_with_one_id])
def test_where_ids_name_no_questions_the_question_does(mistake: Callable[[Rows], Rows]) -> None:
    found = read_dataset(written(mistake(good(3, once=False))), "a.csv")
    assert [item.item_id for item in found.items] == [f"Why, {number}?" for number in (1, 2, 3)]
    assert len(found.outputs) == 30
    assert sum(line.startswith("item: the question, because column item_id ") for line in found.read_as) == 1


@pytest.mark.parametrize(
    ("mistake", "starts"),
    [
        (ids_of_rows, "file: every row has a different item_id"),
        (two_questions_with_one_id, "line 12, question q1: question and reference"),
    ],
)
def test_but_not_where_a_row_does_not_say_what_it_answers(
    mistake: Callable[[Rows], Rows], starts: str
) -> None:
    (problem,) = problems_of(written(mistake(good(3, once=True))))
    assert problem.startswith(starts)


@pytest.mark.parametrize("column", ["question", "reference"])
def test_a_first_row_that_differs_is_the_mistake_and_not_the_others(column: str) -> None:
    rows = good(3, once=False)
    rows[10][column] = "Something else."
    (problem,) = problems_of(written(rows))
    assert problem == f"line 12, question q2: {column} differs from the one in line 13"


@pytest.mark.parametrize("old", [b"1 A1 by person", b"2 A0 by pipe"])
@pytest.mark.parametrize("new", [b"one, two", b'"open'])
def test_what_stands_in_rows_that_cannot_be_read_is_not_called_missing(old: bytes, new: bytes) -> None:
    (problem,) = problems_of(written(good(3, once=False)).replace(old, new))
    assert problem.startswith(("line 5: ", "line 12: "))


def test_the_wrong_level_is_named_with_what_is_allowed_and_what_is_meant() -> None:
    rows = good(2, once=False)
    rows[3]["level"] = "A7"
    assert problems_of(written(rows)) == (
        "line 5, question q1, system person, column level: A7 occurs once, but the other texts have A0, A1, A2, A3 and "
        "A4; did you mean A1?",
    )


def test_two_mistakes_are_two_problems() -> None:
    rows = good(4, once=False)
    rows[3]["level"] = "A7"
    rows[16]["source"] = "pip"
    del rows[30]
    found = problems_of(written(rows))
    assert len(found) == 3
    assert found[0].startswith("line 5,")
    assert found[1].startswith("line 18,")
    assert found[2].startswith("question q4 (lines 32 to 40), level A0, system pipe")


def test_questions_that_lack_the_same_are_named_together() -> None:
    rows = [
        row
        for row in good(40, once=False)
        if (row["level"], row["source"]) != ("A3", "pipe") or row["item_id"] == "q1"
    ]
    (problem,) = problems_of(written(rows))
    assert problem.startswith("questions q2 (lines 12 to 20), q3 (lines 21 to 29)")
    assert problem.endswith("and 34 more, level A3, system pipe: text is missing")


def test_a_file_with_a_text_in_the_column_of_levels_is_one_problem() -> None:
    """Two thousand questions at two thousand levels would be eight million texts."""
    rows = [row | {"level": row["text"]} for row in good(200, once=False)]
    (problem,) = problems_of(written(rows))
    assert problem.startswith("file: 2000 texts for 200 questions at ")


# --- texts to be rated or scored ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mistake", "starts"),
    [
        (cell(0, question="Else?"), "line 2, item q1: question"),
        (cell(0, reference="Else."), "line 2, item q1: reference"),
        (cell(3, level="A0"), "line 5, item q1: "),
        (lambda rows: rows + rows, "line 32, item q1: "),
    ],
)
def test_one_mistake_among_texts_to_be_rated(mistake: Mistake, starts: str) -> None:
    rows = good(3, once=False)
    with pytest.raises(InputError) as caught:
        read_texts(written(mistake(rows) or rows), "a.csv")
    (problem,) = caught.value.problems
    assert problem.startswith(starts)


@pytest.mark.parametrize(
    ("mistake", "starts"),
    [
        (cell(3, source="persn"), "item q1, system: persn occurs once"),
        (cell(3, level="A7"), "item q1, level: A7 occurs once"),
    ],
)
def test_a_rating_studys_owner_is_told_of_a_name_that_occurs_once(mistake: Mistake, starts: str) -> None:
    rows = good(3, once=False)
    assert not study_texts(read_texts(written(rows), "a.csv"))[3]
    mistake(rows)
    notes = study_texts(read_texts(written(rows), "a.csv"))[3]
    assert notes[0].startswith(starts)
