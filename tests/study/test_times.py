"""Times of an answer: the first answer's, in a visible tab, and what a correction leaves as it was."""

import re
from dataclasses import replace

import pytest
from helpers.texts.factories import StudyAtHand, dataset, edited, guess_all, members_of, study_in, vote
from helpers.texts.rating_studies import rate, rating_study, rating_texts

from core.analyses.study_results.pair_rows import answer_of
from core.analyses.study_results.rating_rows import answer_of as answer_of_ratings
from core.results.study.results import study_results
from core.results.study.tables import RatingMeans
from core.schema.result_table import Interval
from core.store import Store
from core.store.answers import PAIRS, RATINGS, guesses_of
from core.study.bundle import read_bundle, write_bundle
from core.study.export import answer_rows, guess_rows, rating_rows
from core.study.raters import list_progress
from core.study.times import first_seconds, reading_seconds


def corrected(store: Store) -> StudyAtHand:
    """One pair, answered after 77.7 s of which 20 in a visible tab, and changed 1.2 s after it was shown again."""
    at_hand = study_in(store, raters=("R1",), repeat_share=0.0)
    desk = at_hand.desk("R1")
    desk.skip(1)
    desk.save_note(1, comment="hm")
    desk.save_choice(1, "left", seconds=77.7, seconds_visible=20.004, diff_used="none")
    desk.save_choice(1, "right", seconds=1.2, seconds_visible=21.0, diff_used="none")
    return at_hand


def test_a_correction_keeps_the_times_of_the_first_answer(store: Store) -> None:
    (row,) = answer_rows(corrected(store).record)
    times = (row["seconds"], row["seconds_first"], row["seconds_visible"], row["choice_displayed"])
    assert times == (1.2, 77.7, 20.0, "right")


def test_a_first_answer_without_a_visible_time_gets_none_from_a_correction(store: Store) -> None:
    at_hand = study_in(store, raters=("R1",), repeat_share=0.0)
    at_hand.desk("R1").save_choice(1, "left", seconds=None, diff_used="none")
    at_hand.desk("R1").save_choice(1, "right", seconds=3.0, seconds_visible=2.0, diff_used="none")
    (row,) = answer_rows(at_hand.record)
    assert (row["seconds"], row["seconds_first"], row["seconds_visible"]) == (3.0, None, None)


def test_a_text_that_is_done_again_keeps_its_times(store: Store) -> None:
    at_hand = rating_study(store, rating_texts(2))
    desk = at_hand.desk("R1")
    rate(desk, 1)
    desk.save_scores(1, {"H": None})
    desk.save_scores(1, {"H": 1})
    desk.complete(1, seconds=99.0, seconds_visible=98.0)
    rows = [row for row in rating_rows(at_hand.record) if row["rater"] == "R1"]
    times = [(row["seconds"], row["seconds_first"], row["seconds_visible"]) for row in rows]
    assert times == [(20.0, 20.0, None)]


def test_the_visible_time_of_a_text_is_saved_when_it_is_first_done(store: Store) -> None:
    at_hand = rating_study(store, rating_texts(2))
    desk = at_hand.desk("R1")
    rate(desk, 2)
    desk.save_note(1, invalid=True)
    desk.complete(1, seconds=9.0, seconds_visible=4.5)
    desk.complete(1, seconds=19.0, seconds_visible=14.5)
    rows = {row["position"]: row for row in rating_rows(at_hand.record) if row["rater"] == "R1"}
    assert (rows[1]["seconds"], rows[1]["seconds_visible"]) == (9.0, 4.5)
    (line,) = [one for one in list_progress(store, at_hand.study) if one.rater_id == "R1"]
    assert (line.median_seconds_first, line.median_seconds_visible) == (14.5, 4.5)


def test_a_guess_has_the_time_of_its_only_press(store: Store) -> None:
    at_hand = study_in(store, raters=("R1",))
    guess_all(vote(store, at_hand.tokens["R1"], lambda _: "left"))
    assert {(row["seconds_first"], row["seconds_visible"]) for row in guess_rows(at_hand.record)} == {
        (1.5, None)
    }
    assert all(guess.seconds_visible is None for guess in guesses_of(store, at_hand.study_id))


@pytest.mark.parametrize(
    ("times", "flagged"),
    [
        # (seconds of the first answer, visible, of a correction)
        ((60.0, 2.0, None), True),
        ((2.0, 60.0, None), False),
        ((60.0, None, 2.0), False),
        ((2.0, None, 60.0), True),
        ((None, None, 2.0), True),
        ((None, 60.0, 2.0), False),
    ],
)
def test_too_fast_is_told_by_the_first_visible_time(
    store: Store, times: tuple[float | None, float | None, float | None], flagged: bool
) -> None:
    first, visible, later = times
    at_hand = study_in(store, raters=("R1",), repeat_share=0.0)
    desk = at_hand.desk("R1")
    for number in range(1, 11):
        desk.save_choice(number, "both_good", seconds=first, seconds_visible=visible, diff_used="none")
        if later is not None:
            desk.save_choice(number, "both_bad", seconds=later, seconds_visible=1.0, diff_used="none")
    (line,) = list_progress(store, at_hand.study)
    assert bool(line.flags) == flagged
    assert (line.median_seconds_first, line.median_seconds_visible) == (first, visible)


def test_drafts_have_no_first_time(store: Store) -> None:
    at_hand = corrected(store)
    history = PAIRS.history_of(store, at_hand.study_id)
    assert len(history) == 4
    assert list(first_seconds(history).values()) == [77.7]
    assert first_seconds(history[:2]) == {}
    assert reading_seconds(replace(history[0].answer, seconds=4.0), {}) == 4.0
    assert first_seconds(RATINGS.history_of(store, at_hand.study_id)) == {}


def test_a_bundle_keeps_the_time_and_an_older_one_imports_without_it(store: Store) -> None:
    record = corrected(store).record
    bundle = write_bundle(record)
    assert read_bundle(bundle, "study.zip") == record
    members = members_of(bundle)
    lacking = {
        name: re.sub(rb'"seconds_visible": [^,]+, ', b"", members[name])
        for name in ("answers.jsonl", "history.jsonl")
    }
    assert all(b"seconds_visible" in members[name] for name in lacking)
    assert not any(b"seconds_visible" in content for content in lacking.values())
    old = read_bundle(edited(bundle, lacking), "study.zip")
    assert [(one.seconds, one.seconds_visible) for one in old.answers] == [(1.2, None)]
    assert [entry.answer.seconds_visible for entry in old.history] == [None] * 4


def test_results_have_the_times_of_each_rater(store: Store) -> None:
    """Medians by hand: R1's first answers took 77.7 s and 10 s, one of them 20 s in a visible tab."""
    at_hand = study_in(store, dataset(2, ("A0",)), raters=("R1", "R2"), repeat_share=0.0)
    desk = at_hand.desk("R1")
    desk.save_choice(1, "left", seconds=77.7, seconds_visible=20.0, diff_used="none")
    desk.save_choice(1, "right", seconds=1.2, seconds_visible=21.0, diff_used="none")
    desk.save_choice(2, "left", seconds=10.0, diff_used="none")
    at_hand.desk("R2").save_choice(1, "left", seconds=None, diff_used="none")
    found = study_results(at_hand.record, n_resamples=99)
    assert answer_of(found).json["rater_seconds"] == {
        "R1": {
            "n_answers": 2,
            "n_first": 2,
            "median_seconds_first": pytest.approx(43.85),
            "n_visible": 1,
            "median_seconds_visible": 20.0,
        },
        "R2": {
            "n_answers": 1,
            "n_first": 0,
            "median_seconds_first": None,
            "n_visible": 0,
            "median_seconds_visible": None,
        },
    }
    shown = {row[0]: row[1:] for row in answer_of(found).tables["seconds"].rows}
    assert shown["R1"] == (2, Interval(pytest.approx(43.85), n=2), Interval(20.0, n=1))
    assert [cell.reason != "" for cell in shown["R2"][1:] if isinstance(cell, Interval)] == [True, True]


def test_rating_results_have_the_times_of_each_rater(store: Store) -> None:
    at_hand = rating_study(store, rating_texts(2))
    desk = at_hand.desk("R1")
    rate(desk, 1)  # in 20 seconds
    desk.save_note(2, invalid=True)
    desk.complete(2, seconds=9.0, seconds_visible=4.5)
    answer = answer_of_ratings(at_hand.record, RatingMeans.of(at_hand.record, n_resamples=99))
    line = next(one for one in list_progress(store, at_hand.study) if one.rater_id == "R1")
    found = answer.json["rater_seconds"]["R1"]
    assert (found["median_seconds_first"], found["median_seconds_visible"]) == (
        line.median_seconds_first,
        line.median_seconds_visible,
    )
    raters = answer.tables["raters"]
    names = [column.name for column in raters.columns]
    row = next(row for row in raters.rows if row[0] == "R1")
    assert row[names.index("median_seconds_visible")] == Interval(4.5, n=1)
