"""What scores come to, and what a model answers to whom, by hand."""

import numpy as np
import pytest

from core.analyses.answers import ANALYSIS
from core.judges.answers import AnswerSet, QuestionSet
from core.judges.questions import CrossQuestion
from core.results.judges.cross_examination import verdicts_by_author
from core.results.judges.scores import score_summary
from core.schema.scores import Metric, ScoredRow, ScoreTable


def test_means_are_over_the_texts_that_have_a_score() -> None:
    nan = np.nan
    table = ScoreTable(
        tuple(ScoredRow(str(n), "s") for n in range(4)),
        (Metric("a", "", "x"), Metric("b", "", "x"), Metric("c", "", "x")),
        np.array([[1.0, nan, nan], [2.0, nan, nan], [6.0, 5.0, nan], [nan, nan, nan]]),
        {(0, 1): "cut off", (1, 1): "no reference", (3, 1): "cut off", (3, 0): "cut off"},
    )
    a, b, c = score_summary(table)
    # (1 + 2 + 6) / 3 = 3; squares of the differences: 4 + 1 + 9 = 14, over n - 1.
    assert (a.n, a.mean, dict(a.left_out)) == (3, 3.0, {"cut off": 1})
    assert a.sd == pytest.approx(7**0.5)
    assert (b.n, b.mean, b.sd) == (1, 5.0, None)
    assert list(b.left_out.items()) == [("cut off", 2), ("no reference", 1)]
    assert (c.n, c.mean, c.sd, sum(c.left_out.values())) == (0, None, None, 4)
    assert (a.constant, b.constant, c.constant) == (None, None, None)


def test_verdicts_are_counted_by_who_made_the_question() -> None:
    def asked(author: str, *answers: CrossQuestion) -> QuestionSet:
        return QuestionSet(ScoredRow("1", "s"), "text", author, "d", answers)

    yes, no = CrossQuestion("q", answer="YES"), CrossQuestion("q", answer="NO")
    without = CrossQuestion("q", reason="unparsed")
    found = verdicts_by_author([asked("b", no, without, yes), asked("a", yes), asked("b", yes)])
    assert found == {"b": {"YES": 2, "NO": 1, "unparsed": 1}, "a": {"YES": 1, "NO": 0, "unparsed": 0}}
    assert [list(said) for said in found.values()] == [["YES", "NO", "unparsed"]] * 2
    assert verdicts_by_author([]) == {}
    sets = [asked("b", no, without), asked("a", yes)]
    answer = ANALYSIS.answer(ANALYSIS.Options(), [AnswerSet("m", tuple(sets))])
    assert answer.json == [
        {"model": "m", "author": "b", "verdicts": {"YES": 0, "NO": 1, "unparsed": 1}},
        {"model": "m", "author": "a", "verdicts": {"YES": 1, "NO": 0, "unparsed": 0}},
    ]
