"""Where people and judge differ most: gaps by hand, order, texts and reasons."""

from typing import Any

import numpy as np
import pytest
from helpers.texts.checks import gaps_of

from core.errors import InputError
from core.formats.panel import read_panel
from core.formats.panel.beside import texts_in
from core.report import json_of
from core.results.check.gaps import find_gaps, find_text
from core.schema.panel import Panel, TextBeside
from core.schema.scores import ScoredRow

NUMBERS = """item,system,a,b,judge
q1,s,1,2,5
q2,s,4,5,4
q3,t,5,,2
q4,t,3,3,3
q5,t,,,1
q6,t,1,1,
"""


def panel(text: str, judge: str = "judge", raters: str = "a,b", **asked: Any) -> Panel:
    return read_panel(text.encode(), "file.csv", human=raters.split(","), judges=judge.split(","), **asked)


def listed(found: Panel, **asked: Any) -> list[tuple[str, float, str]]:
    return [(found.rows[one.row].item_id, one.gap, one.direction) for one in find_gaps(found, **asked)]


def test_numbers_on_one_scale() -> None:
    """|5 - 1.5|, |2 - 5|, |4 - 4.5|, |3 - 3|; texts without a rating or a score are no gaps."""
    found = panel(NUMBERS)
    assert listed(found) == [
        ("q1", 3.5, "higher"),
        ("q3", 3.0, "lower"),
        ("q2", 0.5, "lower"),
        ("q4", 0.0, ""),
    ]
    assert {one.measure for one in find_gaps(found)} == {"scale"}


def test_labels_without_an_order_are_shares_of_raters() -> None:
    text = "item,a,b,c,judge\nq1,cat,dog,cat,dog\nq2,cat,cat,cat,dog\nq3,emu,,emu,emu\nq4,dog,cat,,dog\n"
    found = panel(text, raters="a,b,c")
    assert listed(found) == [
        ("q2", 1.0, ""),
        ("q1", pytest.approx(2 / 3), ""),
        ("q4", 0.5, ""),
        ("q3", 0.0, ""),
    ]
    (first, *_) = json_of(gaps_of(found))
    assert (first["a"], first["judge"], first["score"], first["people"]) == ("cat", "judge", "dog", None)


def test_scores_on_another_scale_are_compared_by_ranks() -> None:
    """Mid-ranks of people 1, 2.5, 2.5, 4; of the judge 4, 2, 3, 1: gaps of 3/4, 1/8, 1/8 and 3/4."""
    text = "item,a,b,judge\nq1,1,1,0.9\nq2,2,2,0.4\nq3,2,2,0.5\nq4,5,5,0.1\n"
    found = panel(text)
    assert listed(found) == [
        ("q1", 0.75, "higher"), ("q4", 0.75, "lower"), ("q2", 0.125, "lower"), ("q3", 0.125, "higher"),
    ]  # fmt: skip
    assert {one.measure for one in find_gaps(found)} == {"ranks"}


def test_ordered_words_count_as_numbers() -> None:
    text = "item,a,b,judge\nq1,poor,poor,good\nq2,fair,good,good\nq3,good,good,good\n"
    found = panel(text)
    assert [one[:2] for one in listed(found)] == [("q1", 2.0), ("q2", 0.5), ("q3", 0.0)]


def test_the_order_does_not_depend_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(0)
    rows = [f"q{n},{n % 3 + 1},{n % 4 + 1},{n % 5 + 1}" for n in range(40)]
    expected = listed(panel("item,a,b,judge\n" + "\n".join(rows)))
    assert len({gap for _, gap, _ in expected}) < len(expected), "there are ties"
    for _ in range(3):
        shuffled = [rows[at] for at in rng.permutation(len(rows))]
        assert listed(panel("item,a,b,judge\n" + "\n".join(shuffled))) == expected


def test_several_judges_are_listed_together_or_one_by_one() -> None:
    text = "item,a,b,x,y\nq1,1,1,3,1\nq2,3,3,3,1\n"
    found = panel(text, judge="x,y")
    assert [(one.judge, one.gap) for one in find_gaps(found)] == [
        ("x", 2.0),
        ("y", 2.0),
        ("y", 0.0),
        ("x", 0.0),
    ]
    assert listed(found, judge="y") == [("q2", 2.0, "lower"), ("q1", 0.0, "")]
    table = gaps_of(found, most=3)
    assert [column.name for column in table.columns if column.shown and column.names_row] == ["item", "judge"]
    assert len(table.rows) == 3
    with pytest.raises(InputError, match="nobody"):
        find_gaps(found, "nobody")


def test_a_rater_named_like_a_column_keeps_a_column_of_its_own() -> None:
    table = gaps_of(panel("item,gap,b,judge\nq1,1,2,2\nq2,2,1,1\n", raters="gap,b"))
    names = [column.name for column in table.columns]
    assert len(set(names)) == len(names)
    assert "rater gap" in names


TEXTS = """item,system,prompt,response,a,b,gpt4,other,gpt4_reason,rationale
q1,s,Why?,Because.,1,2,5,1,It explains.,As such.
q1,t,Why?,No idea.,4,5,4,1,,Empty words.
"""


def test_texts_and_reasons_of_a_file() -> None:
    found = panel(TEXTS, judge="gpt4,other")
    rows = json_of(gaps_of(found, texts_in(TEXTS.encode(), "file.csv")))
    by_text = {(row["judge"], row["system"]): (row["question"], row["text"], row["reasons"]) for row in rows}
    assert by_text == {
        ("gpt4", "s"): ("Why?", "Because.", "It explains."),
        ("gpt4", "t"): ("Why?", "No idea.", "Empty words."),
        ("other", "s"): ("Why?", "Because.", "As such."),
        ("other", "t"): ("Why?", "No idea.", "Empty words."),
    }


def test_texts_are_left_out_unless_given() -> None:
    table = gaps_of(panel(TEXTS, judge="gpt4"))
    assert not {"question", "text", "reasons"} & {column.name for column in table.columns}
    assert "Because." not in str(table)


def test_a_file_without_texts_has_none() -> None:
    assert texts_in(NUMBERS.encode(), "file.csv") == ()


def test_rows_without_an_item_are_numbered_as_in_the_panel() -> None:
    text = "question,output,a,b,judge\nWhy?,One.,1,2,5\nWhy?,Two.,4,5,4\n"
    rows = json_of(gaps_of(panel(text), texts_in(text.encode(), "file.csv")))
    assert [(row["item"], row["text"]) for row in rows] == [("1", "One."), ("2", "Two.")]


def test_different_texts_of_one_row_are_not_guessed() -> None:
    row = ScoredRow("q1", "s")
    assert find_text(row, [TextBeside(row, text="a"), TextBeside(row, text="b")]) is None
    same = [TextBeside(row, text="a", reasons={"x": "1"}), TextBeside(row, text="a", reasons={"y": "2"})]
    found = find_text(row, same)
    assert found is not None
    assert found.reasons == {"x": "1", "y": "2"}


def test_reasons_in_a_long_table_belong_to_the_rows_rater() -> None:
    text = (
        "item,text,rater,score,comment\nq1,One.,a,1,I think so.\nq1,One.,judge,5,It is long.\n"
        "q2,Two.,a,5,\nq2,Two.,judge,5,Fine.\n"
    )
    found = read_panel(text.encode(), "long.csv", judges=["judge"])
    rows = json_of(gaps_of(found, texts_in(text.encode(), "long.csv", found.roles)))
    assert [(row["text"], row["reasons"]) for row in rows] == [("One.", "It is long."), ("Two.", "Fine.")]


def test_columns_that_the_panel_found_are_read_for_texts() -> None:
    text = "example_id,model,instruction,completion,human_label,llm_judge,llm_judge_explanation\n" + "".join(
        f"e{n},m{n % 2},Do {n}.,Done {n}.,{n % 2},{n % 3 % 2},Since {n}.\n" for n in range(12)
    )
    found = read_panel(text.encode(), "any.csv", find=True)
    rows = json_of(gaps_of(found, texts_in(text.encode(), "any.csv", found.roles)))
    assert len(rows) == 12
    for row in rows:
        n = row["item"].removeprefix("e")
        assert (row["question"], row["text"], row["reasons"]) == (f"Do {n}.", f"Done {n}.", f"Since {n}.")


def test_numbers_are_no_reasons() -> None:
    text = "item,a,b,judge,judge_feedback\nq1,1,2,2,4\nq2,2,1,1,Short.\n"
    rows = json_of(gaps_of(panel(text), texts_in(text.encode(), "file.csv")))
    assert [row["reasons"] for row in rows] == ["", "Short."]
