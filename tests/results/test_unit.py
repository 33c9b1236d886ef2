"""What an item is: the id, or a question that repeats; and files without ids."""

from collections.abc import Callable

import numpy as np
import pytest

from core.errors import InputError
from core.formats.panel import read_panel
from core.formats.panel.judge_files import judge_scores
from core.joining.panel import panel_of
from core.schema.panel import Panel
from core.schema.scores import Rating, RatingSet
from core.schema.unit import FEWEST_VALUES, ID, ROW


def _table(header: str, row: Callable[[int], str], n: int = 120) -> bytes:
    return "\n".join([header, *(row(at) for at in range(n))]).encode()


def _read(data: bytes, **asked: object) -> Panel:
    return read_panel(data, "t.csv", find=True, **asked)  # type: ignore[arg-type]


def _labels(at: int) -> str:
    return f"{at % 2},{at % 3 // 2}"


@pytest.mark.parametrize("column", ["question", "prompt", "user_input", "source"])
@pytest.mark.parametrize("named", [False, True])
def test_a_question_that_repeats_often_enough_is_the_item(column: str, named: bool) -> None:
    data = _table(
        f"id,{column},human,judge",
        lambda at: f"r{at},what is the number {at % FEWEST_VALUES} good for?,{_labels(at)}",
    )
    asked = {"human": ["human"], "judges": ["judge"]} if named else {}
    panel = read_panel(data, "t.csv", find=not named, **asked)  # type: ignore[arg-type]
    assert (panel.unit.name, panel.unit.n, panel.unit.undecided) == (column, FEWEST_VALUES, None)
    assert panel.unit.origin == "guessed"
    assert panel.items.tolist() == [at % FEWEST_VALUES for at in range(120)]
    assert panel.rows[7].item_id == "r7"  # ids go on naming texts
    assert panel.unit.said in panel.notes


def test_a_question_that_repeats_seldom_leaves_the_unit_undecided() -> None:
    data = _table("id,question,human,judge", lambda at: f"r{at},question {at % 29},{_labels(at)}")
    panel = _read(data)
    assert (panel.unit.name, panel.unit.n) == (ID, 120)
    assert (panel.unit.undecided, panel.unit.n_values) == ("question", 29)
    assert panel.unit.said == "items: 120 rows; question repeats (29 values)"
    assert "question or row" in panel.unit.advice
    assert panel.unit.said in panel.notes
    declared = _read(data, item="question")
    assert (declared.unit.name, declared.unit.origin, declared.unit.n) == ("question", "declared", 29)
    assert declared.unit.undecided is None
    assert np.unique(declared.items).size == 29
    rows = _read(data, item=ROW)
    assert (rows.unit.name, rows.unit.origin, rows.unit.n) == (ROW, "declared", 120)
    assert rows.unit.undecided is None
    assert rows.unit.advice == ""


@pytest.mark.parametrize(
    "cell",
    [lambda at: "the only question", lambda at: f"question {at}"],
    ids=["constant", "unique"],
)
def test_a_question_that_says_nothing_about_items(cell: Callable[[int], str]) -> None:
    for ids in ("id,", ""):
        data = _table(
            f"{ids}question,answer,human,judge",
            lambda at, ids=ids: f"{f'r{at},' if ids else ''}{cell(at)},answer {at},{_labels(at)}",  # type: ignore[misc]
        )
        panel = _read(data)
        assert panel.unit.undecided is None
        assert panel.unit.n == len(panel.rows) == 120
        assert panel.unit.name == (ID if ids else ROW)


def test_ids_that_repeat_are_the_items_whatever_else_repeats() -> None:
    data = _table(
        "id,question,system,human,judge", lambda at: f"q{at // 2},question {at % 5},s{at % 2},{_labels(at)}"
    )
    panel = _read(data)
    assert (panel.unit.name, panel.unit.n, panel.unit.undecided) == (ID, 60, None)


def test_a_source_may_name_the_system() -> None:
    few = _table("id,source,human,judge", lambda at: f"r{at},model {at % 3},{_labels(at)}")
    assert _read(few).unit.undecided is None
    with_system = _table(
        "id,source,system,human,judge", lambda at: f"r{at},Hund {at % 3},s{at % 2},{_labels(at)}"
    )
    assert _read(with_system).unit.undecided == "source"
    asked = _table(
        "id,question,source,human,judge", lambda at: f"r{at},question {at},s{at % 2},{_labels(at)}"
    )
    panel = _read(asked)
    assert panel.unit.undecided is None
    assert {*panel.systems} == {"s0", "s1"}


def test_without_ids_a_question_is_the_item() -> None:
    many = _table("question,system,human,judge", lambda at: f"question {at // 2},s{at % 2},{_labels(at)}")
    panel = _read(many)
    assert (panel.unit.name, panel.unit.n, panel.unit.undecided) == ("question", 60, None)
    few = _table("question,system,human,judge", lambda at: f"question {at % 12},s{at // 12},{_labels(at)}")
    panel = _read(few)
    assert (panel.unit.undecided, panel.unit.n_values) == ("question", 12)
    assert np.unique(_read(few, item=ROW).items).size == 120
    bare = _table("question,human,judge", lambda at: f"question {at % 40},{_labels(at)}")
    assert (_read(bare).unit.name, _read(bare).unit.n) == ("question", 40)


def test_a_long_table_has_the_same_unit() -> None:
    data = _table(
        "id,question,rater,score",
        lambda at: f"r{at // 3},question {at // 3 % 12},{('ann', 'bea', 'gpt-4')[at % 3]},{at % 2}",
    )
    panel = _read(data)
    assert (len(panel.rows), panel.unit.n) == (40, 40)
    assert (panel.unit.undecided, panel.unit.n_values) == ("question", 12)
    assert np.unique(_read(data, item="question").items).size == 12


def test_a_declared_item_may_be_any_column() -> None:
    data = _table("id,topic,human,judge", lambda at: f"r{at},{at % 7},{_labels(at)}")
    panel = _read(data, item="Topic")
    assert (panel.unit.name, panel.unit.n) == ("topic", 7)
    assert panel.judges == ("judge",)
    alone = _table("topic,human,judge", lambda at: f"t{at // 4},{_labels(at)}")
    panel = _read(alone, item="topic")
    assert (panel.unit.n, panel.rows[0].item_id) == (30, "t0")
    with pytest.raises(InputError, match="lacks columns"):
        _read(data, item="nope")


PEOPLE = _table("human,note", lambda at: f"{at % 2},n", 40)
IDS = _table("id,human", lambda at: f"{at + 1},{at % 2}", 40)


def _judge(n: int) -> tuple[bytes, str]:
    return _table("judge", lambda at: str(at % 2), n), "judge.csv"


def test_files_without_ids_are_joined_by_row_only_at_equal_lengths() -> None:
    panel = _read(PEOPLE, beside=[_judge(40)])
    assert panel.unit.joined_by_row
    assert "row number" in panel.notes[0]
    assert np.array_equal(panel.scores[:, 0], panel.ratings[:, 0])
    for n in (39, 41):
        with pytest.raises(InputError) as lost:
            _read(PEOPLE, beside=[_judge(n)])
        said = " ".join(map(str, lost.value.problems))
        assert "t.csv: 40 rows" in said
        assert f"judge.csv: {n} rows" in said
        assert "item_id=COLUMN" in said
    with pytest.raises(InputError):
        _read(PEOPLE, beside=[_judge(40), (_table("llm", lambda at: "1", 39), "llm.csv")])


def test_a_question_does_not_number_rows_that_are_joined_by_row() -> None:
    asked = _table("question,system,human", lambda at: f"question {at // 2},s{at % 2},{at % 2}", 80)
    panel = _read(asked, beside=[_judge(80)])
    assert np.array_equal(panel.scores[:, 0], panel.ratings[:, 0])
    assert (panel.unit.name, panel.unit.n) == ("question", 40)


def test_a_file_with_ids_is_never_joined_with_one_without() -> None:
    with pytest.raises(InputError) as lost:
        _read(IDS, beside=[_judge(40)])
    assert any("texts with ids" in str(one) for one in lost.value.problems)
    with_ids = _table("id,judge", lambda at: f"{at + 1},1", 40)
    with pytest.raises(InputError):
        _read(PEOPLE, beside=[(with_ids, "judge.csv")])
    with pytest.raises(InputError):
        _read(PEOPLE, tables=[judge_scores(with_ids, "judge.csv")])
    ratings = RatingSet(tuple(Rating(str(at + 1), at % 2, rater="a") for at in range(40)), "", "study")
    with pytest.raises(InputError):
        panel_of(ratings, [judge_scores(*_judge(40))])


def test_two_frames_of_one_name_are_compared_too() -> None:
    with pytest.raises(InputError):
        read_panel(PEOPLE, "frame", [judge_scores(_judge(39)[0], "frame")], find=True)
    assert read_panel(PEOPLE, "frame", [judge_scores(_judge(40)[0], "frame")], find=True).unit.joined_by_row
