"""Marked errors against each other: what is compared with what, and numbers counted by hand."""

from dataclasses import replace

import pytest
from helpers.texts.span_makers import marked, rating_set, span

from core.analyses import raters as rater_by_rater
from core.analyses.raters import NO_COMMON, THEMSELF
from core.analyses.spans import SpansOptions, span_agreement
from core.errors import InputError
from core.results.judges.spans import (
    NO_GOLD,
    NO_PREDICTION,
    NOT_MARKED,
    OTHER_RATER,
    compare_spans,
    summary,
)
from core.schema.marks import Marks, SpanOptions
from core.schema.scores import OutputSet, Rating, ScorableOutput
from core.schema.settings import SettingsError
from core.tables.references import OF_REFERENCE

QUICK = SpansOptions(n_resamples=0)


def grouped(*by):
    return SpansOptions(n_resamples=0, by=by)


def numbers(found):
    return found.precision.value, found.recall.value, found.f1.value


def by_name(rows):
    return {one.name: one for one in rows}


def rater_matrix(gold, judges=None, raters=None):
    marks = Marks(gold, {name: (one,) for name, one in (judges or {}).items()}, None, raters or {})
    return rater_by_rater.compute(SpanOptions(n_resamples=0), marks, tell=lambda _: None)


def test_credit_is_one_for_the_severity_and_half_for_the_mark():
    """q1: 4 of 10 marked alike; q2: 6 characters marked with another severity, 2 missed. Credit 4 + 6 / 2 = 7."""
    gold = rating_set(marked("q1", "A", (0, 10, "major")), marked("q2", "A", (0, 8, "minor")))
    predicted = rating_set(marked("q1", "A", (6, 12, "Major")), marked("q2", "A", (0, 6, "major")))
    found = span_agreement(gold, predicted, options=grouped("severity"))
    assert numbers(found.alone) == pytest.approx((7 / 12, 7 / 18, 14 / 30))
    assert (found.n_segments, found.n_items, dict(found.left_out)) == (2, 2, {})
    # With one severity alone, what was minor is a miss: 4 of 12 predicted, 4 of 10 marked; minor: 0 of 8.
    assert numbers(by_name(found.by_severity)["major"]) == pytest.approx((4 / 12, 4 / 10, 8 / 22))
    assert numbers(by_name(found.by_severity)["minor"]) == (None, 0.0, 0.0)


def test_each_system_has_its_own_numbers():
    gold = rating_set(marked("q1", "A", (0, 4, "major")), marked("q1", "B", (0, 4, "major")))
    predicted = rating_set(marked("q1", "A", (0, 4, "major")), marked("q1", "B", (2, 6, "major")))
    found = span_agreement(gold, predicted, options=grouped("system"))
    assert {one.name: one.f1.value for one in found.by_system} == {"A": 1.0, "B": 0.5}
    assert (found.by_rater, found.by_severity) == (None, None)
    with pytest.raises(SettingsError) as refused:
        span_agreement(gold, predicted, options=grouped("rater"))
    assert refused.value.found_in[0].name == "by"
    assert found.alone.f1.value == pytest.approx(12 / 16)


def test_texts_clip_what_reaches_beyond_their_end():
    gold = rating_set(marked("q1", "A", (0, 4, "major")))
    predicted = rating_set(marked("q1", "A", (0, 40, "major")))
    texts = OutputSet((ScorableOutput("q1", "A", "four"),), "", "texts.jsonl")
    assert span_agreement(gold, predicted, options=QUICK).alone.precision.value == 0.1
    clipped = span_agreement(gold, predicted, texts=texts, options=QUICK)
    assert clipped.alone.precision.value == 1.0
    assert any("cut at the end" in note for note in clipped.notes)


def test_texts_of_two_languages_are_not_taken_for_one():
    gold = rating_set(
        *(
            replace(marked("q1", "A", (0, size, "major")), language=lang)
            for lang, size in (("de", 2), ("fr", 4))
        )
    )
    met = span_agreement(gold, gold, options=QUICK)
    assert (met.n_segments, met.n_items, met.alone.gold_characters) == (2, 2, 6)
    with pytest.raises(InputError, match=r"language de and fr\. The other side has no language"):
        span_agreement(gold, rating_set(marked("q1", "A", (0, 2, "major"))), options=QUICK)


def test_raters_are_kept_or_merged():
    """Kept: the prediction meets each rater, 4 of 2 x 4 and 4 of 4 + 4; merged: 4 of 4, and 4 of 8 marked."""
    gold = rating_set(
        marked("q1", "A", (0, 4, "major"), rater="ann"), marked("q1", "A", (4, 8, "major"), rater="ben")
    )
    predicted = rating_set(marked("q1", "A", (0, 4, "major"), rater="judge"))
    kept = span_agreement(gold, predicted, options=grouped("rater"))
    assert numbers(kept.alone) == (0.5, 0.5, 0.5)
    assert {one.name: one.f1.value for one in kept.by_rater} == {"ann": 1.0, "ben": 0.0}
    merged = span_agreement(gold, predicted, options=SpansOptions(raters="merged", n_resamples=0))
    assert numbers(merged.alone) == (1.0, 0.5, pytest.approx(8 / 12))
    assert (kept.n_segments, merged.n_segments) == (2, 1)


def test_a_file_of_several_raters_meets_itself():
    gold = rating_set(
        marked("q1", "A", (0, 4, "major"), rater="ann"), marked("q1", "A", (4, 8, "major"), rater="ben")
    )
    found = span_agreement(gold, gold, options=QUICK)
    assert numbers(found.alone) == (1.0, 1.0, 1.0)
    assert any("compared only with themself" in note for note in found.notes)
    fewer = span_agreement(gold, rating_set(gold.ratings[0]), options=QUICK)
    assert dict(fewer.left_out) == {OTHER_RATER: 1}


def test_what_has_no_part_is_counted():
    scored = Rating("q1", -1.0, "B")
    by_ann = Rating("q1", 80.0, "A", rater="ann")
    gold = rating_set(
        marked("q1", "A", (0, 4, "major"), rater="ann"),
        by_ann,
        scored,
        marked("q2", "A"),
        marked("q1", "refA", (0, 9, "minor")),
    )
    predicted = rating_set(
        Rating("q1", 0.0, "A", spans=(span(0, 4), span(0, 9, in_source=True))), marked("q9", "A")
    )
    found = span_agreement(gold, predicted, options=QUICK)
    assert dict(found.left_out) == {OF_REFERENCE: 1, NOT_MARKED: 1, NO_PREDICTION: 1, NO_GOLD: 1}
    assert numbers(found.alone) == (1.0, 1.0, 1.0)
    assert any("marked in the input text" in note for note in found.notes)


def test_references_take_part_when_asked_for():
    gold = rating_set(marked("q1", "refA", (0, 4, "major")), marked("q1", "A", (0, 4, "major")))
    assert span_agreement(gold, gold, options=QUICK).n_segments == 1
    asked = SpansOptions(references=True, n_resamples=0)
    assert span_agreement(gold, gold, options=asked).n_segments == 2


def test_levels_meet_under_any_name_and_tell_texts_apart():
    gold = rating_set(
        marked("q1", "A", (0, 4, "major"), level="A1"), marked("q1", "A", (4, 8, "major"), level="A2")
    )
    predicted = rating_set(
        marked("q1", "A", (4, 8, "major"), level="2"), marked("q1", "A", (0, 4, "major"), level="1")
    )
    assert numbers(span_agreement(gold, predicted, options=QUICK).alone) == (1.0, 1.0, 1.0)


def test_texts_that_never_meet_are_a_mistake_of_the_user():
    gold, predicted = rating_set(marked("q1", "A")), rating_set(marked("1", "A"), name="judge.csv")
    with pytest.raises(InputError, match="share no text with marked errors") as raised:
        span_agreement(gold, predicted, options=QUICK)
    assert any("item q1" in problem for problem in raised.value.problems)
    assert any("item 1" in problem for problem in raised.value.problems)


def test_texts_that_one_side_does_not_tell_apart_are_a_mistake_of_the_user():
    gold = rating_set(Rating("q1", 0.0, None, spans=()))
    predicted = rating_set(marked("q1", "A"), marked("q1", "B"), name="judge.csv")
    with pytest.raises(InputError, match="system A and B"):
        span_agreement(gold, predicted, options=QUICK)


def items(n, *spans, system="A"):
    return rating_set(*(marked(f"q{k}", system, *spans) for k in range(n)))


def test_judges_stand_side_by_side_on_the_texts_that_all_marked():
    """Perfect against nothing over 6 items: only the two swaps of all are as large, so p is near 2 / 2^6."""
    gold = items(6, (0, 10, "major"))
    judges = {"all": items(7, (0, 10, "major")), "none": items(6), "half": items(8, (0, 5, "major"))}
    found = compare_spans(gold, judges, options=SpanOptions(n_resamples=4_000))
    assert [one.overall.f1.estimate for one in found.judges] == pytest.approx([1.0, 0.0, 10 / 15])
    assert (found.n_segments, found.n_items) == (6, 6)
    assert dict(found.judges[2].left_out) == {NO_GOLD: 2}
    test = found.tests[0]
    assert (test.first, test.second, test.test.difference) == ("all", "none", 1.0)
    assert test.test.p == pytest.approx(2 / 64, abs=0.012)


def test_draws_have_a_mean_and_a_standard_deviation():
    """F1 of the draws: 1 and 10/15; pooled: credit 7.5 of 7.5 marked and 10 in the gold, 15 / 17.5."""
    gold = items(3, (0, 10, "major"))
    draws = [items(3, (0, 10, "major")), items(3, (0, 5, "major"))]
    (one,) = compare_spans(gold, {"judge": draws}, options=QUICK).judges
    assert one.n_draws == 2
    assert one.f1.mean == pytest.approx((1 + 2 / 3) / 2)
    assert one.f1.sd == pytest.approx((1 - 2 / 3) / 2**0.5)
    assert one.overall.f1.estimate == pytest.approx(15 / 17.5)
    alone = summary([0.5, None])
    assert (alone.mean, alone.sd, alone.n, alone.n_undefined) == (0.5, None, 1, 1)


def test_judges_without_a_common_text_cannot_be_compared():
    gold = rating_set(marked("q1", "A"), marked("q2", "A"))
    judges = {"a": rating_set(marked("q1", "A")), "b": rating_set(marked("q2", "A"))}
    with pytest.raises(InputError, match="no text of the gold"):
        compare_spans(gold, judges, options=QUICK)


def by_raters():
    return rating_set(
        marked("q1", "A", (0, 4, "major"), rater="ann"),
        marked("q1", "A", (2, 8, "major"), rater="ben"),
        marked("q2", "A", (0, 4, "major"), rater="cat"),
    )


def test_a_raters_precision_against_another_is_the_others_recall():
    found = rater_matrix(by_raters())
    assert found.rows == found.columns == ("ann", "ben", "cat")
    there, back = found.cells[0][1], found.cells[1][0]
    assert numbers(there.agreement) == pytest.approx((2 / 4, 2 / 6, 4 / 10))
    assert numbers(back.agreement) == pytest.approx((2 / 6, 2 / 4, 4 / 10))
    assert [found.cells[k][k].reason for k in range(3)] == [THEMSELF] * 3
    assert (found.cells[0][2].agreement, found.cells[0][2].reason) == (None, NO_COMMON)
    assert found.mean_f1_same_name is None
    assert found.mean_f1_other_names == pytest.approx(0.4)


def test_specialists_stand_against_every_rater():
    """The specialist of ann marks as ann does: 1 against her, .4 against ben."""
    specialist = rating_set(marked("q1", "A", (0, 4, "major"), rater="a model"), name="ann's specialist")
    found = rater_matrix(by_raters(), {"ann": specialist})
    assert [cell.n_segments for cell in found.cells[0]] == [1, 1, 0]
    assert found.mean_f1_same_name == 1.0
    assert found.mean_f1_other_names == pytest.approx(0.4)


def test_rows_meet_the_rater_they_stand_for_whatever_they_are_called():
    marks = rating_set(marked("q1", "A", (0, 4, "major")))
    found = rater_matrix(by_raters(), {"run:3": marks, "ben": marks}, raters={"run:3": "ann", "ben": ""})
    assert found.rows == ("run:3", "ben")
    assert [[cell.same_rater for cell in line] for line in found.cells] == [[True, False, False], [False] * 3]
    assert found.mean_f1_same_name == 1.0
    assert found.mean_f1_other_names == pytest.approx((0.4 + 1.0 + 0.4) / 3)


def test_what_readers_said_of_each_side_is_said_of_that_side():
    gold = replace(items(2, (0, 4, "major")), notes=("a note",), left_out={"not rated": 2})
    lost = replace(items(1, (0, 4, "major")), notes=("cut",), left_out={"unparsed": 1})
    people = ("people: a note", "people: left out on reading: 2: not rated")
    left_out = "j: left out on reading: 1: unparsed"
    alone = span_agreement(gold, replace(lost, file_name="j"), options=QUICK)
    assert alone.notes == (*people, "j: cut", left_out)
    assert dict(alone.left_out) == {NO_PREDICTION: 1}, "the failed text counts once"
    several = compare_spans(gold, {"x": [lost, items(2)], "y": lost}, options=QUICK)
    assert several.notes == (
        *people,
        "x: cut",
        "x: left out on reading: up to 1: unparsed",
        "y: cut",
        "y: left out on reading: 1: unparsed",
    )
    by_ann = replace(gold, ratings=tuple(replace(one, rater="ann") for one in gold.ratings))
    assert rater_matrix(by_ann, {"j": lost}).notes == (
        *people,
        "j: cut",
        left_out,
    )


def test_a_matrix_needs_raters():
    with pytest.raises(InputError, match="no named raters"):
        rater_matrix(rating_set(marked("q1", "A")))
