"""Single score files of mt-metrics-eval."""

import math

import pytest

from core.errors import InputError
from core.formats.mt_metrics_eval import is_seg_score, read_seg_ratings, read_seg_scores

FILE = b"A\t1.5\r\nA\tNone\r\nB\t-2e-1\r\nB\t3\r\n"


def test_scores_are_a_table_of_one_metric():
    table = read_seg_scores(FILE, "BLEU-refA.seg.score")
    assert [(row.system, row.item_id) for row in table.rows] == [
        ("A", "1"),
        ("A", "2"),
        ("B", "1"),
        ("B", "2"),
    ]
    assert [metric.name for metric in table.metrics] == ["BLEU-refA"]
    values = table.values[:, 0].tolist()
    assert values[0] == 1.5
    assert math.isnan(values[1])
    assert values[2:] == [-0.2, 3.0]
    assert list(table.reasons) == [(1, 0)]


def test_the_same_lines_are_peoples_ratings():
    ratings = read_seg_ratings(FILE, "en-de.mqm.seg.score")
    assert [(one.item_id, one.system, one.score) for one in ratings.ratings] == [
        ("1", "A", 1.5),
        ("1", "B", -0.2),
        ("2", "B", 3.0),
    ]
    assert dict(ratings.left_out) == {"nobody rated it": 1}
    assert is_seg_score("EN-DE.MQM.SEG.SCORE")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"A\t1\nB\n", "line 2: expected a system, a tab"),
        (b"A\t1\nA\tgood\n", 'line 2: "good" is neither a number nor None'),
        (b"A\t1\nA\t2\nB\t1\n", "A 2, B 1"),
        (b"", "empty"),
        (b"A\tinf\n", "segment 1: the score is infinite"),
        (b"A\tNone\n", "every line is None"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(data, said):
    with pytest.raises(InputError) as raised:
        read_seg_ratings(data, "mqm.seg.score")
    assert any(said in problem for problem in raised.value.problems)


def test_an_infinite_score_of_a_metric_is_undefined():
    table = read_seg_scores(b"A\tinf\nA\t1\n", "m.seg.score")
    assert math.isnan(table.values[0, 0])
    assert (0, 0) in table.reasons
