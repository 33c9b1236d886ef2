"""Errors that hold problems: the first are kept, all are counted, and they reach pages and commands so."""

from helpers.processes.traced_memory import traced_memory
from streamlit.testing.v1 import AppTest

from core.errors import LONGEST_PROBLEM, MOST_PROBLEMS, InputError, Problems


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


def page() -> None:
    from core.errors import InputError
    from pages.components.messages import mistakes_shown

    with mistakes_shown():
        raise InputError("a.csv", (f"line {number}" for number in range(1, 2_001)))


def test_a_page_shows_the_count() -> None:
    at = AppTest.from_function(page).run()
    assert at.error[0].value == "a.csv"
    lines = at.code[0].value.split("\n")
    assert len(lines) == MOST_PROBLEMS + 1
    assert lines[-1] == "... and 1,900 more problems"
