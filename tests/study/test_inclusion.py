"""Probabilities of inclusion: stored with a study, in its exports and bundle, and nowhere that a rater looks."""

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from helpers.texts.factories import changed_line
from helpers.texts.rating_studies import RatingStudyAtHand, rate_all, rating_study, rating_texts, unblind

from core.errors import InputError
from core.formats.rated import ratings_of, read_rated
from core.schema.scores import PROBABILITY, OutputSet
from core.store import Store, open_store
from core.store.answers import load_record
from core.store.studies import inclusion_of
from core.study.bundle import read_bundle, write_bundle
from core.study.export import rated_jsonl, ratings_csv, ratings_jsonl
from core.study.lifecycle import restore_study
from core.study.ratings import rating_set_of

CHANCE = 0.3127


def drawn(chances: dict[str, str]) -> OutputSet:
    """Texts of one system, each with its probability; items without one have an empty label."""
    texts = rating_texts(3, ("zq-north",))
    outputs = tuple(
        replace(one, labels={PROBABILITY: chances.get(one.item_id, ""), "why": "zq-near a border"})
        for one in texts.outputs
    )
    return replace(texts, outputs=outputs)


@pytest.fixture
def at_hand(store: Store) -> RatingStudyAtHand:
    chances = {"zq-item-0": str(CHANCE), "zq-item-1": "1"}
    found = rating_study(store, drawn(chances), raters=("R1",))
    rate_all(found.desk("R1"))
    return found


def test_they_are_stored_apart_and_exported(store: Store, at_hand: RatingStudyAtHand) -> None:
    assert [one.probability for one in inclusion_of(store, at_hand.study.study_id)] == [CHANCE, 1.0]
    unblind(at_hand)
    record = at_hand.record
    rows = list(csv.DictReader(io.StringIO(ratings_csv(record).decode("utf-8-sig"))))
    assert {row["item_id"]: row[PROBABILITY] for row in rows} == {
        "zq-item-0": str(CHANCE),
        "zq-item-1": "1.0",
        "zq-item-2": "",
    }
    lines = [json.loads(line) for line in ratings_jsonl(record).splitlines()]
    assert {line["item_id"]: line[PROBABILITY] for line in lines}["zq-item-0"] == CHANCE
    labels = {one.item_id: one.labels for one in rating_set_of(record).ratings}
    assert labels["zq-item-0"] == {PROBABILITY: str(CHANCE)}
    assert labels["zq-item-2"] == {}
    again = {
        one.item_id: one.labels for one in ratings_of(read_rated(rated_jsonl(record), "r.jsonl")).ratings
    }
    assert again["zq-item-0"] == {PROBABILITY: str(CHANCE)}


def test_a_study_without_them_exports_no_column(store: Store) -> None:
    found = rating_study(store, raters=("R1",))
    rate_all(found.desk("R1"))
    assert PROBABILITY not in ratings_csv(found.record).decode()


def test_what_a_rater_gets_holds_none(at_hand: RatingStudyAtHand) -> None:
    """Everything that the desk gives a page, in words: no probability, and no reason."""
    desk = at_hand.desk("R1")
    shown = repr([(desk.text(number), desk.task) for number in range(1, desk.total + 1)])
    assert "Text 0.0.0" in shown
    assert not [secret for secret in (str(CHANCE), PROBABILITY, "zq-near") if secret in shown]


def test_an_impossible_one_is_refused_by_its_place(store: Store) -> None:
    with pytest.raises(InputError) as wrong:
        rating_study(store, drawn({"zq-item-0": "0", "zq-item-1": "1.2", "zq-item-2": "often"}))
    assert wrong.value.found.n == 3


class TestBundle:
    def test_it_carries_them(
        self, at_hand: RatingStudyAtHand, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        unblind(at_hand)
        written = write_bundle(at_hand.record)
        record = read_bundle(written, "b.zip")
        assert record == at_hand.record
        with open_store(tmp_path_factory.mktemp("other") / "other.db") as other:
            study = restore_study(other, record)
            assert load_record(other, study).inclusion == at_hand.record.inclusion

    @pytest.mark.parametrize("values", [{"probability": 0.0}, {"probability": 1.5}, {"item_id": "q9"}])
    def test_a_forged_one_is_refused(self, at_hand: RatingStudyAtHand, values: dict[str, Any]) -> None:
        unblind(at_hand)
        written = write_bundle(at_hand.record)
        with pytest.raises(InputError, match=r"inclusion\.jsonl"):
            read_bundle(changed_line(written, "inclusion.jsonl", 0, **values), "b.zip")
