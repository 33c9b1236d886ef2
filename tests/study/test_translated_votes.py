"""The mark of a translated page: stored with a vote, a rating and a guess, exported, and kept by a bundle."""

from helpers.texts.factories import always, dataset, study_in, vote
from helpers.texts.rating_studies import rating_study, rating_texts

from core.store import Store
from core.store.answers import answers_of, guesses_of, ratings_of
from core.study.bundle import read_bundle, write_bundle
from core.study.export import answer_rows, guess_rows, rating_rows


def test_of_votes_and_guesses(store: Store) -> None:
    at_hand = study_in(store, dataset(1, ("A1", "A2")), raters=("R1",), repeat_share=0.0, blinding_pairs=1)
    desk = at_hand.desk("R1")
    for number, mark in ((1, True), (2, False)):
        desk.save_choice(number, "left", seconds=2.0, translated=mark, diff_used="none")
    vote(store, at_hand.tokens["R1"], always("right"))  # whose browser says nothing
    kept = [answer.translated for answer in answers_of(store, at_hand.study_id)]
    assert sorted(kept, key=str) == [False, *[None] * (len(kept) - 2), True]
    assert sorted(map(str, (row["translated"] for row in answer_rows(at_hand.record)))) == sorted(
        map(str, kept)
    )
    at_hand.desk("R1").finish()
    at_hand.desk("R1").guessing().save(1, "unsure", comment="", seconds=1.0, translated=True)
    assert [guess.translated for guess in guesses_of(store, at_hand.study_id)] == [True]
    assert [row["translated"] for row in guess_rows(at_hand.record)] == [True]
    again = read_bundle(write_bundle(at_hand.record), "study.zip")
    assert [answer.translated for answer in again.answers] == kept
    assert [guess.translated for guess in again.guesses] == [True]


def test_of_a_rating_that_is_done(store: Store) -> None:
    at_hand = rating_study(store, rating_texts(2))
    desk = at_hand.desk("R1")
    desk.save_scores(1, {"overall": 50.0, "H": 1})
    desk.save_spans(1, (), no_errors=True)
    desk.complete(1, seconds=3.0, translated=True)
    (rated,) = ratings_of(store, at_hand.study_id)
    assert rated.translated is True
    assert [row["translated"] for row in rating_rows(at_hand.record) if row["rater"] == "R1"] == [True]
