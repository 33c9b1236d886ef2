"""What doors show of a result: tables that are there, those that a terminal prints, the gravest status."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.toys.analysis import ANALYSIS, JudgeRow, LeniencyOptions

from core.schema.analysis import Answer, Table, Verdict
from core.schema.panel import Panel
from core.schema.scores import ScoredRow
from core.schema.settings import SettingsError


def answer(tables: tuple[Table, ...] = ANALYSIS.tables, judges: tuple[str, ...] = ("x", "y")) -> Answer:
    rows = tuple(ScoredRow(f"q{at}", "output") for at in range(4))
    ratings, scores = np.ones((4, 2)), np.array([[2.0, 1.0]] * 4)[:, : len(judges)]
    panel = Panel(rows, np.arange(4), np.full(4, "output"), ("a", "b"), ratings, judges, scores)
    return replace(ANALYSIS, tables=tables).answer(LeniencyOptions(), panel)


def test_a_table_that_a_result_does_not_have_is_nowhere() -> None:
    absent = Table("absent", JudgeRow, lambda found: None, "Absent")
    whole = answer((*ANALYSIS.tables, absent))
    assert list(whole.tables) == [table.name for table in whole.printed] == ["leniency"]


@pytest.mark.parametrize(("most", "printed"), [(None, True), (0, False), (1, False), (2, True)])
def test_a_terminal_prints_tables_up_to_their_limit(most: int | None, printed: bool) -> None:
    (table,) = ANALYSIS.tables
    found = answer((replace(table, most_printed=most),))
    assert bool(found.printed) == printed
    assert list(found.tables) == ["leniency"]


def test_numbers_by_hand_and_a_status() -> None:
    found = answer()
    assert [(row[0], row[1], row[2], row[3]) for row in found.tables["leniency"].rows] == [
        ("x", 4, 0, 0),
        ("y", 0, 4, 0),
    ]
    assert found.json["judges"]["x"]["difference"]["estimate"] == 1
    assert [one.code for one in found.verdicts] == ["lenient", "not-lenient"]
    assert found.status == 3
    kinds = (Verdict("a", "a", status=4), Verdict("b", "b"), Verdict("c", "c", status=3))
    assert replace(found, analysis=replace(ANALYSIS, verdicts=lambda _: kinds)).status == 3


def test_a_problem_names_a_choice_of_the_data() -> None:
    with pytest.raises(SettingsError) as refused:
        answer(judges=())
    assert [one.name for one in refused.value.found_in] == ["judge"]
