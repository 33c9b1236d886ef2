"""Blank languages and data sets on some rows of an item of a score table."""

import pytest

from core.errors import InputError
from core.formats.registry import read_ratings, read_scores
from core.schema.scores import ScoreTable
from core.tables.columns import level_number


def read(text: str) -> ScoreTable:
    return read_scores(text.encode(), "x.csv")


def test_a_blank_language_is_that_of_the_item() -> None:
    table = read("item,level,language,m\nq,A0,,5\nq,A1,en,4\nr,A0,,3\n")
    assert [row.language for row in table.rows] == ["en", "en", "und"]
    assert "1 row names no language: filled in from the item's other rows" in table.notes


def test_a_blank_data_set_is_that_of_the_item() -> None:
    table = read("item,level,dataset,m\nq,A0,,5\nq,A1,d,4\nq,A2,d,3\n")
    assert [row.labels for row in table.rows] == [{"dataset": "d"}] * 3
    assert "1 row names no dataset: filled in from the item's other rows" in table.notes


def test_both_at_once() -> None:
    table = read("item,level,language,dataset,m\nq,A0,,,5\nq,A1,en,,4\nq,A2,,d,3\n")
    assert {(row.language, row.labels["dataset"]) for row in table.rows} == {("en", "d")}


def test_other_labels_stay_blank() -> None:
    table = read("item,level,origin_model,m\nq,A0,,5\nq,A1,llama,4\n")
    assert [row.labels for row in table.rows] == [{}, {"origin_model": "llama"}]


def test_one_text_in_the_long_form_is_one_row() -> None:
    table = read("item,level,language,metric,score\nq,A0,en,a,1\nq,A0,,b,2\nq,A1,,a,3\nq,A1,,b,4\n")
    assert [(row.level, row.language) for row in table.rows] == [("A0", "en"), ("A1", "en")]
    assert table.values.tolist() == [[1, 2], [3, 4]]


def test_an_item_that_contradicts_itself_stays_and_is_noted() -> None:
    table = read("item,level,language,m\nq,A0,,5\nq,A1,en,4\nq,A1,de,3\n")
    assert [row.language for row in table.rows] == ["und", "en", "de"]
    assert (
        "rows of item q name no language and the item's other rows name several: they count as separate items"
        in table.notes
    )


def test_a_second_data_set_without_a_name_is_not_the_first() -> None:
    """Both number their items from 1: filled in, every text would stand twice."""
    rows = "".join(f"{item},A{level},{name},1\n" for name in ("d", "") for item in (1, 2) for level in (0, 1))
    table = read("item,level,dataset,m\n" + rows)
    assert len(table.rows) == 8
    assert (
        "rows of item 1, 2 name no dataset and would be duplicates with it: they count as separate items"
        in table.notes
    )


@pytest.mark.parametrize("level", ["", "level,"])
def test_ids_that_name_the_level_are_split(level: str) -> None:
    """As a judge's file has them, with a column that says the same and without."""
    rows = [f"d{k}_level{n},{f'A{n},' if level else ''}{n}" for k in (1, 2) for n in (0, 1)]
    table = read("\n".join([f"item,{level}m", *rows]) + "\n")
    assert [(row.item_id, level_number(row.level)) for row in table.rows] == [
        ("d1", 0),
        ("d1", 1),
        ("d2", 0),
        ("d2", 1),
    ]
    assert "ids end in _levelN: the part before it is the item, N is the level" in table.notes


def test_ids_that_say_another_level_stay() -> None:
    table = read("item,level,m\nd_level0,0,1\nd_level1,2,1\n")
    assert [row.item_id for row in table.rows] == ["d_level0", "d_level1"]


def test_ratings_meet_scores_whose_ids_name_the_level() -> None:
    ratings = read_ratings(b"item,score\nd1_level0,3\nd1_level1,2\n", "h.csv")
    assert [(one.item_id, one.level) for one in ratings.ratings] == [("d1", "0"), ("d1", "1")]


def test_scores_are_no_ratings() -> None:
    with pytest.raises(
        InputError, match="the column metric shows scores of metrics, expected ratings by people"
    ):
        read_ratings(b"item,metric,score\nq,bleu,3\n", "h.csv")


def test_correlations_are_no_scores() -> None:
    with pytest.raises(InputError, match=r"contains correlations from correlate, expected scores"):
        read("metric,family,direction,against,n,n_left_out,pearson\nbleu,BLEU,higher,human,3,0,0.5\n")
