"""Conversations on their way: to raters, to judges, into exports and bundles, and back."""

import csv
import io
import json
from dataclasses import replace

import pytest
from helpers.texts.conversations import conversations, in_conversation
from helpers.texts.factories import always, dataset, study_in, unblind, vote
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts

from core.formats.rated import read_rated
from core.formats.registry import read_texts
from core.schema.scores import Turn, conversation_text
from core.sources.texts import pairs_of_study, texts_of_study
from core.store import Store
from core.study.export import answers_csv, answers_jsonl, rated_jsonl, ratings_jsonl


def test_a_rater_gets_the_turns_before_the_question(store: Store) -> None:
    data = conversations(dataset(2))
    desk = study_in(store, data).desk("R1")
    pair = desk.pair(1)
    (item,) = (one for one in data.items if one.question == pair.question)
    assert (*pair.turns, Turn("user", pair.question)) == item.turns


@pytest.mark.parametrize("changed", [Turn("assistant", "Other."), Turn("tool", "Hi.")])
def test_another_conversation_is_another_pair(store: Store, changed: Turn) -> None:
    """A press for what was on the screen must not count for what has taken its place."""
    pair = study_in(store, conversations(dataset(2))).desk("R1").pair(1)
    before = replace(pair, turns=(Turn("assistant", "Hi."), *pair.turns[1:]))
    assert len({pair.mark, before.mark, replace(pair, turns=(changed, *pair.turns[1:])).mark}) == 3


def test_another_conversation_is_another_text(store: Store) -> None:
    text = (
        rating_study(store, rating_texts(turns=(Turn("assistant", "Hi."), Turn("user", "?"))))
        .desk("R1")
        .text(1)
    )
    assert text.turns == (Turn("assistant", "Hi."),)
    assert text.mark != replace(text, turns=(Turn("assistant", "Ho."),)).mark


def test_exports_have_the_question_and_json_the_conversation(store: Store) -> None:
    data = dataset(2)
    data = replace(data, items=(in_conversation(data.items[0], 7), *data.items[1:]))
    at_hand = study_in(store, data)
    vote(store, at_hand.tokens["R1"], always("left"))
    table = list(csv.DictReader(io.StringIO(answers_csv(at_hand.record).decode("utf-8-sig"))))
    assert {row["question"] for row in table} == {item.question for item in data.items}
    rows = [json.loads(line) for line in answers_jsonl(at_hand.record).splitlines()]
    own = [{"role": turn.role, "content": turn.text} for turn in data.items[0].turns]
    assert {row["item_id"]: row.get("turns") for row in rows} == {
        item.item_id: own if item.turns else None for item in data.items
    }


def test_ratings_are_exported_with_conversations_and_judges_read_them_there(store: Store) -> None:
    turns = (Turn("user", "Hi"), Turn("assistant", "Hello!"), Turn("user", "Source 0."))
    at_hand = rating_study(store, rating_texts(1, turns=turns))
    rate_all(at_hand.desk("R1"))
    row = json.loads(ratings_jsonl(at_hand.record).splitlines()[0])
    assert [one["content"] for one in row["turns"]] == [turn.text for turn in turns]
    rated = read_rated(rated_jsonl(at_hand.record), "rated.jsonl")
    assert {one.output.full_source for one in rated.texts} == {conversation_text(turns)}


def test_judges_read_the_conversations_of_a_study(store: Store) -> None:
    data = conversations(dataset(2))
    at_hand = study_in(store, data)
    unblind(at_hand)
    for text in (texts_of_study(store, at_hand.study), pairs_of_study(store, at_hand.study)):
        content, name = text
        outputs = read_texts(content, name).outputs
        assert {one.full_source for one in outputs} == {conversation_text(item.turns) for item in data.items}
