"""Whose questions and answers do other judges confirm? From sets of answers, matched question by question."""

from dataclasses import replace
from typing import Any

import pytest
from cef_factories import answered, examined, judged, output, record

from core.analyses.reliability import ANALYSIS, ModelReliability, Reliability, ReliabilityOptions
from core.errors import InputError
from core.judges.answers import AnswerSet, QuestionSet, question_sets_of
from core.judges.questions import SIDES, VERDICTS, CrossQuestion, Side, Verdict
from core.schema.scores import JudgedText, ScoredRow
from core.stats.agreement import ALL_AGREE, TWO_MODELS

# (author, side, item, question) -> answers of the models a, b and c; None: unparsed, "-": not asked.
ASKED: dict[tuple[str, Side, str, str], tuple[Any, ...]] = {
    ("a", "source", "1", "q1"): ("YES", "YES", "NO"),
    ("a", "source", "2", "q2"): ("NO", "YES", None),
    ("b", "source", "1", "q3"): ("YES", "YES", "IDK"),
    ("a", "text", "1", "q4"): (None, "YES", "YES"),
    ("c", "text", "2", "q5"): ("NO", "YES", "IDK"),
}


def reliability(given: list[AnswerSet], n_resamples: int = 100) -> Reliability:
    found = ANALYSIS.answer(ReliabilityOptions(n_resamples=n_resamples), given).result
    assert isinstance(found, Reliability)
    return found


Asked = dict[tuple[str, Side, str, str], tuple[Any, ...]]


def sets(asked: Asked = ASKED) -> list[AnswerSet]:
    return [AnswerSet(model, tuple(_parts(asked, place))) for place, model in enumerate("abc")]


def _parts(asked: Asked, place: int) -> list[QuestionSet]:
    parts = []
    for (author, side, item, text), answers in asked.items():
        answer: Verdict | None = answers[place]
        if answer == "-":
            continue
        question = CrossQuestion(text, "YES", answer, "unparsed" if answer is None else None)
        parts.append(QuestionSet(ScoredRow(item, "s"), side, author, f"{side} {item}", (question,)))
    return parts


def row(found: Reliability, model: str, side: str, variant: str = "paper") -> ModelReliability:
    (one,) = [r for r in found.rows if (r.model, r.side, r.variant) == (model, side, variant)]
    return one


def test_rates_are_those_of_the_table_worked_out_by_hand() -> None:
    """The table of three models in the tests of the statistic."""
    found = reliability(sets(), n_resamples=100)
    assert found.models == ("a", "b", "c")
    adr = {model: row(found, model, "all").disagreement for model in found.models}
    ads = {model: row(found, model, "all").deviation for model in found.models}
    assert [(e.value, e.n, e.n_left_out) for e in adr.values()] == [(0.75, 2, 1), (0.5, 1, 0), (1.0, 1, 0)]
    assert [(e.value, e.n, e.n_left_out) for e in ads.values()] == [
        (0.0, 2, 3),
        (0.0, 3, 2),
        (pytest.approx(2 / 3), 3, 2),
    ]
    assert [row(found, model, "all").disagreement_rank for model in "abc"] == [2, 1, 3]
    assert [row(found, model, "all").deviation_rank for model in "abc"] == [1, 1, 3]
    assert row(found, "a", "all", "cef-code").disagreement.value == pytest.approx(1 / 3)


def test_sides_are_apart_and_together() -> None:
    found = reliability(sets(), n_resamples=0)
    assert {one.side for one in found.rows} == {"source", "text", "all"}
    assert len(found.rows) == 2 * 3 * 3
    assert found.n_questions == {
        "source": {"a": 2, "b": 1},
        "text": {"a": 1, "c": 1},
        "all": {"a": 3, "b": 1, "c": 1},
    }
    assert row(found, "a", "text").disagreement.reason
    assert row(found, "c", "text").disagreement.value == 1.0
    only = {key: value for key, value in ASKED.items() if key[1] == "source"}
    assert {one.side for one in reliability(sets(only), n_resamples=0).rows} == {"source", "all"}


def test_who_gave_no_verdict_is_counted_with_the_reason() -> None:
    asked = {**ASKED, ("b", "text", "1", "q6"): ("YES", "YES", "-")}
    found = reliability(sets(asked), n_resamples=0)
    assert found.missing == {"a": {"unparsed": 1}, "b": {}, "c": {"unparsed": 1, "not asked": 1}}
    assert "c gave no verdict on 2 of 6 questions: not asked 1, unparsed 1" in found.notes
    assert found.n_items == 2


def test_authors_without_answers_of_their_own_are_named_and_left_out() -> None:
    asked = {**ASKED, ("zoe", "text", "1", "q7"): ("YES", "NO", "NO")}
    found = reliability(sets(asked), n_resamples=0)
    assert found.left_out == {"zoe": 1}
    assert found.notes[1].startswith("questions by zoe left out: 1")
    assert row(found, "b", "all").deviation == row(reliability(sets(), n_resamples=0), "b", "all").deviation


def test_a_model_that_made_no_question_has_no_disagreement_rate() -> None:
    asked = {key: value for key, value in ASKED.items() if key[0] != "c"}
    found = reliability(sets(asked), n_resamples=0)
    assert row(found, "c", "all").disagreement.value is None
    assert row(found, "c", "all").disagreement_rank is None
    assert row(found, "c", "all").deviation.value is not None
    assert "c made none of the questions, so it has no disagreement rate" in found.notes


def test_a_question_that_two_models_made_deviates_once_but_is_each_ones_own() -> None:
    asked = {**ASKED, ("b", "source", "1", "q1"): ("YES", "YES", "NO")}
    found = reliability(sets(asked), n_resamples=0)
    assert row(found, "b", "all").disagreement.n == 2
    assert row(found, "c", "all").deviation.n == 3  # as without it
    elsewhere = {**ASKED, ("b", "source", "2", "q1"): ("YES", "YES", "NO")}
    assert row(reliability(sets(elsewhere), n_resamples=0), "c", "all").deviation.n == 4


def test_the_order_of_the_runs_changes_no_number() -> None:
    """Models a and b both made q1, and answered it with NO and IDK where they were asked as its authors."""
    asked: Asked = {
        **{("a", "source", str(n), f"a{n}"): ("YES", "YES", "NO", "YES", "YES") for n in range(6)},
        ("a", "source", "1", "q1"): ("NO", "YES", "YES", "YES", "NO"),
        ("b", "source", "1", "q1"): ("YES", "IDK", "YES", None, "YES"),
        ("d", "text", "2", "q5"): ("NO", "YES", "NO", "YES", "NO"),
    }
    given = [AnswerSet(model, tuple(_parts(asked, place))) for place, model in enumerate("abcde")]
    found = reliability(given, n_resamples=50)
    # Of q1: a and b made it, so both are taken for YES, c and d say it too, and e says NO at first.
    assert [row(found, model, "source", "cef-code").deviation.value for model in "abcde"] == [
        pytest.approx(share) for share in (0, 0, 6 / 7, 0, 1 / 7)
    ]
    for order in ((1, 0, 2, 3, 4), (4, 3, 2, 1, 0)):
        again = reliability([given[n] for n in order], n_resamples=50)
        assert {(one.model, one.side, one.variant): one for one in again.rows} == {
            (one.model, one.side, one.variant): one for one in found.rows
        }
        assert again.n_questions == found.n_questions


def test_one_item_id_in_two_data_sets_is_two_items() -> None:
    """The same wording about the same words is asked in each, and the data sets are resampled apart."""

    def examined_in(dataset: str, model: str) -> JudgedText:
        one = judged("1", record(examined(answered("YES"), answered("YES"))))
        return replace(one, row=replace(one.row, labels={"dataset": dataset, "annotator": "x"}))

    outputs = [
        output(*(examined_in(dataset, model) for dataset in ("first", "second")), model=model)
        for model in ("a", "b")
    ]
    asked = [part for one in outputs for part in question_sets_of(one)]
    assert [(part.author, part.side, dict(part.row.labels)) for part in asked if part.side == "source"] == [
        (author, "source", {"dataset": dataset}) for author in ("a", "b") for dataset in ("first", "second")
    ]
    answers = [
        AnswerSet(
            model,
            tuple(replace(p, questions=tuple(replace(q, answer="YES") for q in p.questions)) for p in asked),
        )
        for model in ("a", "b")
    ]
    found = reliability(answers, n_resamples=50)
    assert (found.n_items, found.n_questions["source"]) == (2, {"a": 2, "b": 2})
    deviates = row(found, "a", "source").disagreement
    assert (deviates.n, deviates.value) == (2, 0.0)


def test_questions_from_a_source_belong_to_the_item_of_the_texts_that_name_its_data_set() -> None:
    """Questions from the source have a row without labels; both sides of an item are resampled together."""
    given = [
        AnswerSet(
            model,
            tuple(
                QuestionSet(
                    ScoredRow(
                        item, "s" if side == "text" else "", labels={"dataset": "d"} if side == "text" else {}
                    ),
                    side,
                    "a",
                    f"{side} {item}",
                    (CrossQuestion("q", "YES", "YES" if item == "1" else answer),),
                )
                for item in ("1", "2", "3")
                for side in SIDES
            ),
        )
        for model, answer in (("a", VERDICTS[0]), ("b", VERDICTS[1]))
    ]
    found = reliability(given, n_resamples=50)
    assert found.n_items == 3
    rate = row(found, "a", "all").disagreement
    assert (rate.n, rate.value) == (6, pytest.approx(2 / 3))


def test_what_cannot_be_compared_is_refused_with_every_problem() -> None:
    one = sets()[0]
    with pytest.raises(InputError) as caught:
        reliability([one, one])
    assert caught.value.problems == (
        "2 sets contain answers of a. Give one for each model",
        "1 model: at least two must answer the same questions",
    )
    with pytest.raises(InputError):
        reliability([])


def test_models_with_nothing_in_common_have_no_rates() -> None:
    found = reliability([AnswerSet("a", ()), AnswerSet("b", ())], n_resamples=10)
    assert [one.deviation.reason for one in found.rows] == ["no questions"] * 4
    assert {one.side for one in found.rows} == {"all"}


def test_models_that_answered_other_questions_are_told_so_before_all_else() -> None:
    """No verdict of c on 1 of 21 questions is less than a twentieth; on 2 of 22 it is not. Those of zoe are not counted."""
    many: Asked = {("a", "source", str(n), f"q{n}"): ("YES", "YES", "YES") for n in range(19)}
    own: Asked = {("b", "source", "1", "b's"): ("YES", "YES", None)}
    enough = {**many, **own, ("c", "source", "1", "c's"): ("YES", "YES", "YES")}
    assert reliability(sets(enough), n_resamples=0).notes == (
        "c gave no verdict on 1 of 21 questions: unparsed 1",
    )
    lacking = {
        **enough,
        ("zoe", "source", "1", "z"): ("YES",) * 3,
        ("a", "source", "1", "x"): ("YES", "YES", "-"),
    }
    first, *others = reliability(sets(lacking), n_resamples=0).notes
    assert first == (
        "the models did not answer the same questions, so their rates cannot be compared. Without a verdict: a 0%, b 0%, c 9%"
    )
    assert len(others) == 2


def test_with_two_models_or_below_five_nobody_can_deviate() -> None:
    two = reliability(sets()[:2], n_resamples=0)
    assert {row(two, model, "all").deviation.reason for model in "ab"} == {TWO_MODELS}
    three = reliability(sets(), n_resamples=0)
    assert {row(three, model, "all", "cef-code").deviation.reason for model in "abc"} == {ALL_AGREE}
    assert {row(three, model, "all", "cef-code").deviation_rank for model in "abc"} == {None}


def test_from_cross_examinations_to_rates() -> None:
    """Two judges' questions, three judges answering all: the second does not confirm one of the first's four."""
    outputs = [
        output(judged("1", record(examined(answered("YES", "YES"), answered("YES", "YES")))), model=model)
        for model in ("first", "second")
    ]
    asked = [part for one in outputs for part in question_sets_of(one)]
    assert [(part.author, part.side) for part in asked] == [
        ("first", "source"),
        ("first", "text"),
        ("second", "source"),
        ("second", "text"),
    ]

    def answers(model: str) -> AnswerSet:
        return AnswerSet(
            model,
            tuple(
                replace(
                    part, questions=tuple(replace(q, answer=_said(model, part, q)) for q in part.questions)
                )
                for part in asked
            ),
        )

    found = reliability([answers("first"), answers("second"), answers("third")], n_resamples=0)
    # One of two others does not confirm one of four questions; the third made none.
    assert [row(found, model, "all").disagreement.value for model in found.models] == [0.125, 0.0, None]
    # The wording is the same for both: four distinct questions, on one of which the second deviates.
    assert [row(found, model, "all").deviation.n for model in found.models] == [4, 4, 4]
    assert [row(found, model, "all").deviation.value for model in found.models] == [0.0, 0.25, 0.0]


def _said(model: str, part: QuestionSet, asked: CrossQuestion) -> Verdict:
    doubts = (model, part.author, part.side, asked.text) == ("second", "first", "text", "Question 1?")
    return "NO" if doubts else "YES"
