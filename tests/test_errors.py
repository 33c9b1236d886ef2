"""Errors that hold problems: the first are kept, all are counted, and they reach pages and commands so."""

import pytest
from helpers.processes.traced_memory import traced_memory
from streamlit.testing.v1 import AppTest

from core.errors import LONGEST_PROBLEM, MOST_PROBLEMS, MOST_SAME, InputError, Problems


def numbered(n: int) -> Problems:
    return Problems(f"line {number}" for number in range(1, n + 1))


def test_all_are_counted_and_the_first_kept() -> None:
    error = InputError("a.csv", (f"line {number}" for number in range(1, 100_001)))
    assert (len(error.problems), error.n_problems) == (MOST_PROBLEMS, 100_000)
    assert error.problems[-1] == f"line {MOST_PROBLEMS}"
    lines = str(error).split("\n")
    assert len(lines) == 1 + MOST_PROBLEMS + 1
    assert lines[-1] == "  ... and 99,900 more problems"


def test_as_many_as_are_listed_need_no_count() -> None:
    error = InputError("a.csv", numbered(MOST_PROBLEMS))
    assert error.more == ""
    assert str(error).endswith(f"  - line {MOST_PROBLEMS}")
    assert InputError("a.csv", numbered(MOST_PROBLEMS + 1)).more == "... and 1 more problem"
    assert str(InputError("a.csv")) == "a.csv"


def many_and_one_long() -> Problems:
    problems = numbered(200_000)
    problems.append("x" * 1_000_000)
    return problems


def test_many_problems_take_no_memory() -> None:
    kept, _ = traced_memory(many_and_one_long)
    assert kept < 500_000
    assert many_and_one_long().n == 200_001
    assert max(map(len, Problems(["x" * 1_000_000]))) == LONGEST_PROBLEM


def test_counts_survive_adding_and_rewording() -> None:
    problems = Problems(["first"])
    problems += InputError("b", numbered(250)).under("study.json")
    assert (problems.n, len(list(problems))) == (251, MOST_PROBLEMS)
    assert list(problems)[1] == "study.json: line 1"
    assert problems.each(str.upper).n == 251
    assert list(InputError("alone").under("a")) == ["a: alone"]


def test_one_problem_in_the_place_of_a_kind_leaves_room_for_the_others() -> None:
    problems = Problems(["first"])
    for number in range(500):
        problems.append(f"{number}: reference is missing", "reference")
    problems.append("last")
    problems.join("reference", "all lack it")
    assert (list(problems), problems.n) == (["first", "all lack it", "last"], 3)


def test_the_same_of_many_rows_is_told_once_with_its_count_and_first_places() -> None:
    problems = Problems()
    for number in range(1, 718):
        problems.append(f"line {number}, question {number}: language is no tag ('English')")
        if number % 100 == 0:
            problems.append(f"line {number}: text is missing")
    problems.append(f"line 718: {'x' * MOST_SAME}")
    told = [
        "line 1, question 1; line 2, question 2; line 3, question 3; line 4, question 4; line 5, question 5 and 712 more: "
        "language is no tag ('English')",
        "line 100; line 200; line 300; line 400; line 500 and 2 more: text is missing",
        "line 718: xxxxx",
    ]
    assert list(problems) == told
    assert (problems.n, problems.n_listed) == (725, 725)
    error = InputError("a.csv", problems)
    assert (error.n_problems, error.more) == (725, "")
    again = InputError("b", error.under("study.json"))
    assert again.problems[0] == f"study.json: {told[0]}"
    assert (again.n_problems, again.more, len(again.problems)) == (725, "", 3)


@pytest.mark.parametrize(("rows", "listed"), [(MOST_SAME, MOST_SAME), (MOST_SAME + 1, 1)])
def test_a_handful_of_the_same_is_listed(rows: int, listed: int) -> None:
    assert len(list(Problems(f"line {row}: is empty" for row in range(rows)))) == listed
    assert len(list(Problems(f"field {row}: is empty" for row in range(rows)))) == rows


def test_a_column_of_the_place_is_no_row() -> None:
    columns = ("system", "text", "level", "reference", "item", "language", "source")
    found = list(Problems(f"line {row}, {column}: is missing" for row in range(1, 9) for column in columns))
    assert len(found) == len(columns)
    assert found[1] == "line 1; line 2; line 3; line 4; line 5 and 3 more: text: is missing"


def test_the_same_does_not_fill_the_room_of_others() -> None:
    rows = [f"line {row}: {what}" for row in range(1_000) for what in ("is empty", f"holds {row}")]
    error = InputError("a.csv", rows)
    assert len(error.problems) == MOST_PROBLEMS - MOST_SAME + 1
    assert error.more == f"... and {1_000 - (MOST_PROBLEMS - MOST_SAME):,} more problems"


def page() -> None:
    from core.errors import InputError
    from pages.widgets.messages import mistakes_shown

    with mistakes_shown():
        raise InputError("a.csv", (f"line {number}" for number in range(1, 2_001)))


def test_a_page_shows_the_count() -> None:
    at = AppTest.from_function(page).run()
    assert at.error[0].value == "a.csv"
    lines = at.code[0].value.split("\n")
    assert len(lines) == MOST_PROBLEMS + 1
    assert lines[-1] == "... and 1,900 more problems"
