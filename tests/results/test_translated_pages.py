"""Votes and ratings given on a page that the browser had translated: counted, told, and left out only by a line of the sensitivity."""

from helpers.texts.factories import StudyAtHand, dataset, ended, study_in
from helpers.texts.rating_studies import HARM, OVERALL, rating_study, rating_texts

from core.analyses.study_results.pair_rows import pair_results
from core.analyses.study_results.rating_rows import rating_results
from core.results.study.counted import TRANSLATED, Filters, Variant, count
from core.results.study.results import results_said, study_results
from core.results.study.tables import RatingMeans
from core.schema.study import RatingTask
from core.store import Store

TASK = RatingTask("two", "Two", "002", "2", "none", (HARM, OVERALL))


def voted(store: Store, translated: dict[str, bool | None], **design: object) -> StudyAtHand:
    """All pairs with both answers good; rater -> whether the page was translated."""
    at_hand = study_in(store, dataset(6, ("A0", "A1")), raters=tuple(translated), **design)
    for rater, mark in translated.items():
        desk = at_hand.desk(rater)
        for number in range(1, desk.total + 1):
            desk.save_choice(number, "both_good", seconds=9.0, diff_used="none", translated=mark)
    ended(store, at_hand.study_id)
    return at_hand


def test_translated_votes_count_and_are_told(store: Store) -> None:
    record = voted(store, {"R1": True, "R2": False, "R3": None}).record
    found = study_results(record, n_resamples=50)
    assert (found.answers_used, found.answers_translated) == (18, 6), "at A1, without hidden repeats"
    assert pair_results(found).answers["n_translated"] == 6
    said = [line for line in results_said(found) if "translated" in line.lower()]
    assert len([line for line in said if "6 of 18 votes" in line]) == 1
    assert [rater for rater, flags in found.rater_warnings.items() if "translated" in " ".join(flags)] == [
        "R1"
    ]


def test_a_line_of_the_sensitivity_leaves_them_out(store: Store) -> None:
    record = voted(store, {"R1": True, "R2": False, "R3": None}, votes_needed=2).record
    lines = {line.name: line for line in study_results(record, n_resamples=50).sensitivity}
    assert lines["translated pages left out"].n_pairs == lines["as declared"].n_pairs == 6
    without = count(record, Filters(), Variant(leave_out_translated=True))
    assert (without.answers_used, without.answers_left_out[TRANSLATED], without.answers_translated) == (
        12,
        6,
        0,
    )


def test_without_translated_votes_nothing_is_said(store: Store) -> None:
    record = voted(store, {"R1": False, "R2": None}).record
    found = study_results(record, n_resamples=50)
    assert found.answers_translated == 0
    assert "translated" not in " ".join(results_said(found)).lower()
    assert "translated pages left out" not in [line.name for line in found.sensitivity]


def test_votes_of_an_excluded_rater_are_not_among_them(store: Store) -> None:
    record = voted(store, {"R1": True, "R2": True, "R3": False}).record
    assert count(record, Filters(raters=["R3"])).answers_translated == 0
    assert count(record, Filters(raters=["R1"])).answers_translated == 6


def test_translated_ratings_count_and_are_told(store: Store) -> None:
    at_hand = rating_study(store, rating_texts(2), TASK)
    for rater, translated in (("R1", True), ("R2", None)):
        desk = at_hand.desk(rater)
        while (number := desk.next_open()) is not None:
            desk.save_scores(number, {"overall": 50.0, "H": 1})
            desk.complete(number, seconds=9.0, translated=translated)
    ended(store, at_hand.study_id)
    record = at_hand.record
    found = rating_results(record, RatingMeans.of(record, n_resamples=50))
    assert (found.n_answers, found.n_translated, found.left_out) == (12, 6, {})
    assert len([line for line in found.sentences if "6 of 12 ratings" in line]) == 1
