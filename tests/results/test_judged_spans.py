"""What judges named, as ratings; what they copied; and what further examples gain, all counted by hand."""

from dataclasses import replace

import pytest
from helpers.texts.span_makers import found as found_error
from helpers.texts.span_makers import judge, marked, rated, rating_set, trial

from core.errors import InputError
from core.formats.tasks import dump_task, find_task
from core.results.judges.copying import (
    NO_ERRORS,
    NO_ERRORS_THERE,
    NONE_ALONE,
    NOT_MARKED_HERE,
    NOT_RATED,
    disjoint_errors,
    error_copying,
)
from core.results.judges.spans import (
    FAILED,
    draws_of_judge,
    example_curve,
    locating,
    n_draws,
    ratings_of_judge,
)
from core.schema.marks import SpanOptions
from core.schema.scores import JudgeOutput, RatedSet, RatedText

A, B, C = ("q1", "A"), ("q1", "B"), ("q1", "C")
TEXTS = {A: "the quick brown fox", B: "the quick red fox", C: "a slow red fox jumps"}
QUICK = {"n_resamples": 0}
NOTHING_MARKED = "no text with a usable answer"


def test_a_judge_is_a_rater_whose_score_is_minus_the_weights():
    said = {
        A: [trial(TEXTS[A], ["quick", "nowhere", ""])],
        B: [trial(TEXTS[B], None, reason="unparsed")],
        C: [trial(TEXTS[C], [])],
    }
    output = judge(TEXTS, said)
    ratings = ratings_of_judge(output)
    assert [(one.item_id, one.system, one.rater, one.score) for one in ratings.ratings] == [
        ("q1", "A", "specialist", -10.0),
        ("q1", "C", "specialist", 0.0),
    ]
    spans = ratings.ratings[0].spans
    assert [(one.start, one.end, one.weight) for one in spans] == [(4, 9, 5.0), (0, 0, 0.0), (0, 0, 5.0)]
    assert dict(ratings.left_out) == {"unparsed": 1}
    assert any("2 errors" in note for note in ratings.notes)
    where = locating(output)
    assert (where.n_texts, where.n_errors) == (2, 3)
    assert dict(where.located) == {"exact": 1, "not found": 1, "nothing quoted": 1}


def test_repeats_are_draws_of_their_own():
    said = {
        A: [trial(TEXTS[A], ["quick"]), trial(TEXTS[A], ["fox"], repeat=1)],
        B: [trial(TEXTS[B], ["red"]), trial(TEXTS[B], None, repeat=1)],
    }
    output = judge({A: TEXTS[A], B: TEXTS[B]}, said)
    assert n_draws(output) == 2
    first, second = draws_of_judge(output)
    assert [one.rater for one in (*first.ratings, *second.ratings)] == ["specialist"] * 3
    assert dict(second.left_out) == {FAILED: 1}
    assert [one.rater for one in ratings_of_judge(output).ratings] == [
        "specialist",
        "specialist repeat 2",
        "specialist",
    ]


def test_a_repeat_that_failed_on_every_text_is_left_out_with_a_note():
    said = {A: [trial(TEXTS[A], None), trial(TEXTS[A], ["fox"], repeat=1), trial(TEXTS[A], None, repeat=2)]}
    (only,) = draws_of_judge(judge({A: TEXTS[A]}, said))
    assert [(span.start, span.end) for span in only.ratings[0].spans or ()] == [(16, 19)]
    assert only.notes == ("specialist: repeat 1, 3 left out: no usable answer",)
    with pytest.raises(InputError, match=NOTHING_MARKED):
        draws_of_judge(judge({A: TEXTS[A]}, {A: said[A][:1]}))


def test_judges_that_mark_nothing_are_refused():
    with pytest.raises(InputError, match="marks no errors"):
        ratings_of_judge(JudgeOutput("r", "rubric", "tiny", {}, (), ()))
    with pytest.raises(InputError, match=NOTHING_MARKED):
        ratings_of_judge(judge({A: TEXTS[A]}, {}))


RATED = rated(TEXTS, {A: ["quick"], B: ["quick red"], C: ["red", "jumps"]})


def test_errors_are_compared_word_by_word_with_examples_and_people():
    """Of A's three errors people marked "quick"; the example B holds "quick red", whose parts are quick and red;
    C, which was not shown, has "red" and "jumps" itself.
    """
    said = {A: [trial("quick red jumps", ["quick", "red", "jumps", ""], examples=[B])]}
    found = error_copying(judge({A: "quick red jumps"}, said), RATED, **QUICK)
    assert (found.n_texts, found.n_errors, found.n_without_words) == (1, 3, 1)
    assert found.of_people.estimate == pytest.approx(1 / 3)
    assert found.of_examples.estimate == 0.0
    assert found.of_examples_or_parts.estimate == pytest.approx(2 / 3)
    assert found.of_same_source.estimate == pytest.approx(2 / 3)


def test_a_filtered_judge_did_not_see_what_people_marked_in_the_text():
    same = rated(TEXTS, {A: ["quick"], B: ["quick"]})
    said = {A: [trial(TEXTS[A], ["quick"], examples=[B])]}
    seen = error_copying(judge(TEXTS, said, filtered=False), same, **QUICK)
    hidden = error_copying(judge(TEXTS, said, filtered=True), same, **QUICK)
    assert (seen.of_examples.estimate, hidden.of_examples.estimate) == (1.0, 0.0)


def test_an_id_in_two_languages_is_two_sources():
    """B's "red" is an error of the German text alone: the French one of the same id neither lent nor shares it."""
    texts = rated(TEXTS, {B: ["red"]}).texts
    german = tuple(replace(one, output=replace(one.output, language="de")) for one in texts)
    french = tuple(
        RatedText(replace(one.output, language="fr"), tuple(replace(r, spans=()) for r in one.ratings))
        for one in texts
    )
    output = judge({A: "red"}, {A: [trial("red", ["red"], examples=[B])]})
    for language, share in (("de", 1.0), ("fr", 0.0)):
        spoken = replace(
            output, texts=tuple(replace(one, row=replace(one.row, language=language)) for one in output.texts)
        )
        found = error_copying(spoken, RatedSet((*german, *french), "", "two.jsonl"), **QUICK)
        assert (found.of_examples.estimate, found.of_same_source.estimate) == (share, share)


def test_a_repeat_that_was_not_asked_for_is_named():
    output = judge({A: TEXTS[A]}, {A: [trial(TEXTS[A], ["quick"])]})
    with pytest.raises(InputError, match=r"no usable answer in repeat 2 for any of its 1 texts"):
        error_copying(output, RATED, repeat=1, n_resamples=0)


def test_texts_that_nobody_rated_and_judges_without_words():
    texts = {A: TEXTS[A], ("q9", "A"): "else"}
    said = {A: [trial(TEXTS[A], [""])], ("q9", "A"): [trial("else", ["else"])]}
    found = error_copying(judge(texts, said), RATED, **QUICK)
    assert dict(found.left_out) == {NOT_RATED: 1}
    assert (found.of_people.estimate, found.of_people.reason) == (None, NO_ERRORS)
    with pytest.raises(InputError, match="among the rated texts"):
        error_copying(judge({("q9", "A"): "else"}, said), RATED, **QUICK)


def test_texts_in_which_nobody_marked_errors_say_nothing_of_people():
    known = rated({A: TEXTS[A], B: TEXTS[B]}, {A: ["quick"]})
    unrated = replace(known, texts=(known.texts[0], replace(known.texts[1], ratings=())))
    said = {A: [trial(TEXTS[A], ["quick"])], B: [trial(TEXTS[B], ["quick", "red"], examples=[A])]}
    found = error_copying(judge(TEXTS, said), unrated, **QUICK)
    assert (found.of_people.estimate, found.of_people.n) == (1.0, 1)
    assert (found.of_examples.estimate, found.of_examples.n) == (pytest.approx(1 / 3), 3)


def test_a_share_that_is_undefined_says_why():
    known = rated({A: TEXTS[A], B: TEXTS[B]}, {A: ["quick"]})
    marked_a = replace(known, texts=(known.texts[0], replace(known.texts[1], ratings=())))
    said = {A: [trial(TEXTS[A], [""])], B: [trial(TEXTS[B], ["red"])]}
    for output, why in (
        (judge(TEXTS, said), NO_ERRORS_THERE),
        (judge({B: TEXTS[B]}, said), NOT_MARKED_HERE),
        (judge({A: TEXTS[A]}, said), NO_ERRORS),
    ):
        assert error_copying(output, marked_a, **QUICK).of_people.reason == why
    same = judge(TEXTS, said), judge(TEXTS, said, name="twin")
    assert [one.share.reason for one in disjoint_errors(*same, marked_a, **QUICK)] == [NONE_ALONE] * 2


def test_errors_of_severities_that_the_task_does_not_offer_were_never_shown():
    """B's "red" is neutral, which the task mqm does not have: the Parrot copies it, a model was not shown it."""
    texts = rated(TEXTS, {B: ["quick", "red"]}).texts
    quick, red = texts[1].ratings[0].spans or ()
    marks = replace(texts[1].ratings[0], spans=(quick, replace(red, severity="neutral")))
    known = RatedSet((texts[0], replace(texts[1], ratings=(marks,)), texts[2]), "", "rated.jsonl")
    output = judge({A: "quick red"}, {A: [trial("quick red", ["quick", "red"], examples=[B])]})
    output = replace(output, attached=dump_task(find_task("mqm")))
    assert error_copying(output, known, **QUICK).of_examples.estimate == 0.5
    assert error_copying(replace(output, model="rules"), known, **QUICK).of_examples.estimate == 1.0


def test_systems_written_otherwise_are_one_and_sources_of_one_id_are_two():
    """Only C's "jumps" counts: "a" is A itself, and B's "red" is of another source under the same id."""
    texts = {A: TEXTS[A], ("q1", "a"): TEXTS[A], B: TEXTS[B], C: TEXTS[C]}
    known = rated(texts, {("q1", "a"): ["quick"], B: ["red"], C: ["jumps"]})
    sources = ("one", "one", "another", " one ")
    known = replace(
        known,
        texts=tuple(
            replace(text, output=replace(text.output, source=source))
            for text, source in zip(known.texts, sources, strict=True)
        ),
    )
    said = {A: [trial("quick red jumps", ["quick", "red", "jumps"], examples=[B, C])]}
    found = error_copying(judge({A: "quick red jumps"}, said, examples="specialist"), known, **QUICK)
    assert found.of_same_source.estimate == pytest.approx(1 / 3)
    assert found.of_examples.estimate == pytest.approx(1 / 3)


def test_what_each_of_two_judges_names_alone():
    """The first alone: red, brown, of which B marks neither alone but C marks red; the second alone: jumps, C's too."""
    first = judge(TEXTS, {A: [trial(TEXTS[A], ["quick", "red", "brown"])]}, name="first")
    second = judge(
        TEXTS, {A: [trial(TEXTS[A], ["quick", "jumps"])], B: [trial(TEXTS[B], ["red"])]}, name="second"
    )
    one, other = disjoint_errors(first, second, RATED, **QUICK)
    assert (one.judge, one.n_texts, one.n_errors, one.n_alone, one.n_alone_of_same_source) == (
        "first",
        1,
        3,
        2,
        1,
    )
    assert (other.n_errors, other.n_alone, other.n_alone_of_same_source) == (2, 1, 1)
    assert (one.share.estimate, other.share.estimate) == (0.5, 1.0)


def curve_run(n_examples, quotes):
    shown = [B, C][: n_examples or 2]
    said = {A: [trial(TEXTS[A], quotes, examples=shown)]}
    return judge({A: TEXTS[A]}, said, examples="specialist", n_examples=n_examples)


def test_the_curve_stands_in_the_order_of_examples_shown():
    """Gold: "quick brown", 11 characters. One example: "quick" (5); all: the whole."""
    gold = rating_set(marked(*A, (4, 15, "major")))
    runs = {"all": curve_run(0, ["quick brown"]), "one": curve_run(1, ["quick"])}
    found = example_curve(gold, runs, options=SpanOptions(n_resamples=0))
    assert [(point.name, point.n_examples, point.mean_shown) for point in found.points] == [
        ("one", 1, 1.0),
        ("all", None, 2.0),
    ]
    assert [point.judge.overall.f1.estimate for point in found.points] == pytest.approx([10 / 16, 1.0])
    assert found.tests[0].test.difference == pytest.approx(1 - 10 / 16)
    with pytest.raises(InputError, match="at least two runs"):
        example_curve(gold, {"all": runs["all"]}, options=SpanOptions())


def test_found_errors_of_the_makers_stand_where_they_say():
    error = found_error("héllo 👩‍🚀 wörld", "wörld")
    assert "héllo 👩‍🚀 wörld"[error.start : error.end] == "wörld"
