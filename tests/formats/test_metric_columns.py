"""Columns of wide score tables: no metric vanishes, no direction is made up, no label becomes a number."""

import numpy as np
import pytest

from core.errors import InputError
from core.formats.registry import read_scores
from core.formats.scores import write_scores_csv, write_scores_jsonl, write_scores_parquet
from core.schema.scores import Metric, ScoredRow, ScoreTable
from core.tables.columns import level_number

WRITERS = {"csv": write_scores_csv, "jsonl": write_scores_jsonl, "parquet": write_scores_parquet}


def problems_of(text: str) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_scores(text.encode(), "x.csv")
    return caught.value.problems


@pytest.mark.parametrize(
    ("level", "number"),
    [("-1", None), ("_1", None), ("-0.5", None), ("A-1", 1), ("level-2", 2), ("L_3", 3), ("−1", None)],
)
def test_a_hyphen_alone_is_a_minus(level: str, number: float | None) -> None:
    assert level_number(level) == number


def test_a_level_below_zero_is_a_problem_with_its_line() -> None:
    said = problems_of("item,level,m\nq,-1,3\nr,0,2\ns,−2,2\n")
    assert [problem.split(",")[0] for problem in said] == ["line 2: level is -1", "line 4: level is −2"]
    assert "levels start at 0" in said[0]


def test_a_column_of_decimal_commas_does_not_become_a_label() -> None:
    """The other column is a metric: the file would be read without a word on the one that is gone."""
    said = problems_of('item,level,m,n\nq,A0,1,"1,5"\nq,A1,2,"2,5"\nr,A0,1,2\n')
    assert said == (
        'line 2: n is "1,5", expected a number with a decimal point',
        'line 3: n is "2,5", expected a number with a decimal point',
    )
    assert problems_of("item,m,n\nq,1,10%\nr,2,20 %\n") == (
        'line 2: n is "10%", expected a number without a percent sign',
        'line 3: n is "20 %", expected a number without a percent sign',
    )


def test_numbers_among_words_are_a_problem_that_says_how_to_decide() -> None:
    rows = "".join(
        f"q{k},{k},{word}\n" for k, word in enumerate(["1", "2", "err", "bad", "none", "no", "so"])
    )
    (said,) = problems_of("item,m,n\n" + rows)
    assert said == (
        "file: column n has numbers in 2 cells and words in 4 (line 4: err, line 5: bad, line 7: no and 1 more); "
        "rename it metric:n if it is a metric, label:n if not"
    )
    labelled = read_scores(("item,m,label:n\n" + rows).encode(), "x.csv")
    assert [metric.name for metric in labelled.metrics] == ["m"]
    assert labelled.rows[2].labels == {"n": "err"}


def test_words_that_cannot_be_labels_are_a_text_and_noted() -> None:
    table = read_scores(f'item,m,gold\nq,1,"{"word " * 60}"\nr,2,42\n'.encode(), "x.csv")
    assert any(
        note.startswith("column gold is not used: its cells cannot be labels to group by")
        for note in table.notes
    )


def test_an_empty_column_and_a_metrics_name_over_words_are_noted() -> None:
    table = read_scores(b"item,m,bleu,chrf\nq,1,,high\nr,2,nan,low\n", "x.csv")
    assert [metric.name for metric in table.metrics] == ["m"]
    assert "column bleu is not used: no value in it" in table.notes
    assert "column chrf contains no number: read as a label" in table.notes
    assert table.rows[1].labels == {"chrf": "low"}


def test_a_file_without_a_metric_says_what_was_looked_at() -> None:
    (said,) = problems_of("item,level,shots,n,genre,text\nq,A0,5,,news,So.\n")
    assert said.startswith("file: contains no score; expected the columns metric and score")
    assert said.endswith(
        "columns checked: shots (a label by its name; if it is a metric, rename it metric:shots), n (no value in it), "
        "genre (no number in it)"
    )


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("item,ter\nq,1\n", Metric("ter", "", "TER")),
        ("item,ter (lower is better)\nq,1\n", Metric("ter", "made elsewhere", "TER", "lower")),
        ("item,ter (higher is better)\nq,1\n", Metric("ter", "made elsewhere", "TER")),
        ("item,metric,score\nq,ter,1\n", Metric("ter", "", "TER")),
        ("item,metric,score,direction\nq,ter,1,higher\n", Metric("ter", "made elsewhere", "TER")),
        ("item,metric,score,direction\nq,ter,1,lower\n", Metric("ter", "made elsewhere", "TER", "lower")),
        (
            "item,metric,score,direction,signature\nq,ter,1,lower,TER|x\n",
            Metric("ter", "TER|x", "TER", "lower"),
        ),
    ],
)
def test_a_direction_that_is_not_stated_can_be_told(text: str, metric: Metric) -> None:
    assert read_scores(text.encode(), "x.csv").metrics == (metric,)


@pytest.mark.parametrize("shape", ["long", "wide"])
@pytest.mark.parametrize("kind", list(WRITERS))
def test_what_a_file_says_of_a_direction_comes_back(kind: str, shape: str) -> None:
    metrics = (
        Metric("ter", "", "TER"),
        Metric("wer", "made elsewhere", "other", "lower"),
        Metric("cer", "made elsewhere", "other", "higher"),
        Metric("odd (lower is better)", "", "other"),
        Metric("odd (higher is better)", "made elsewhere", "other", "lower"),
    )
    table = ScoreTable((ScoredRow("q", "s"),), metrics, np.arange(5.0)[None, :])
    found = read_scores(WRITERS[kind](table, shape), f"x.{kind}").metrics
    assert [(m.name, m.direction) for m in found] == [(m.name, m.direction) for m in metrics]
    assert [m.signature for m in found[:3]] == [m.signature for m in metrics[:3]]


def test_labels_that_look_like_nothing_or_like_a_number_come_back_wide() -> None:
    rows = tuple(ScoredRow(f"q{k}", "s", labels={"a": "-", "b": "1,5", "c": "none"}) for k in range(2))
    table = ScoreTable(rows, (Metric("m", "", "other"),), np.array([[1.0], [2.0]]))
    assert read_scores(write_scores_csv(table, "wide"), "x.csv").rows == rows
