"""Masked pairs: what a judge reads of a blind study, and what its scores stand for once the study is unblinded."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from helpers.texts.factories import LEVELS, dataset, record_of, study_in, unblind

from core.errors import InputError, NotAllowed
from core.formats.registry import read_texts
from core.schema.scores import ScoredRow, mask_code, mask_named
from core.schema.study import NO_LEVEL, Dataset, Output, State
from core.sources.texts import pairs_of_study, texts_of_study
from core.store import Store
from core.store.studies import read_log
from core.study.design import first_on_left, first_source
from core.study.lifecycle import change_design
from core.study.masking import mask_systems, masks_of, unmasked

BLIND = [state for state in get_args(State) if state != "unblinded"]


def renamed(data: Dataset, names: Mapping[str, str]) -> list[Output]:
    return [replace(one, source=names[one.source]) for one in data.outputs]


def test_masks_know_nothing_of_names_roles_and_order() -> None:
    data = dataset(8)
    swapped = {"ai": "human", "human": "ai"}
    masks = masks_of(data.outputs)
    others = masks_of(renamed(data, swapped)[::-1])
    assert {(item, level, swapped[system]): mask for (item, level, system), mask in masks.items()} == others
    for item in data.items:
        for level in LEVELS:
            two = [masks[item.item_id, level, system] for system in data.sources]
            assert {mask[:8] for mask in two} == {"answer 1", "answer 2"}


def test_a_mask_is_a_fair_coin_in_every_pair_and_no_side_of_a_rater() -> None:
    """400 pairs: within 3.5 standard errors of a half, by itself, against the level before, and against raters' sides."""
    data = dataset(80)
    masks = masks_of(data.outputs)
    ids = [item.item_id for item in data.items]
    first = first_source(data.items, LEVELS, data.outputs)
    one = np.array([[masks[item, level, first].startswith("answer 1") for level in LEVELS] for item in ids])
    left = np.array(
        [[item in first_on_left(7, "R1", ids, level) for level in LEVELS] for item in ids], dtype=bool
    )
    for share, n in (
        ((one.mean()), 400),
        ((one == left).mean(), 400),
        ((one[:, 1:] == one[:, :-1]).mean(), 320),
    ):
        assert abs(share - 0.5) < 3.5 * 0.5 / n**0.5


@pytest.mark.parametrize("state", BLIND)
@pytest.mark.parametrize("levels", [LEVELS, (NO_LEVEL,)])
def test_a_blind_study_gives_masked_pairs_to_a_pairwise_judge_and_nothing_to_others(
    store: Store, state: str, levels: tuple[str, ...]
) -> None:
    data = dataset(4, levels, sources=("MARKEROFONE", "MARKEROFTWO"), file_name="FILEMARKER.json")
    at_hand = study_in(store, data, state=state)
    with pytest.raises(NotAllowed):
        texts_of_study(store, at_hand.study)
    content, name = pairs_of_study(store, at_hand.study)
    assert name == "masked-study-study.jsonl"
    assert b"MARKER" not in content
    rows = [json.loads(line) for line in content.splitlines()]
    wanted = {"item_id", "question", "reference", "language", "source", "text", "level"}
    assert all(row.keys() == wanted - ({"level"} if levels == (NO_LEVEL,) else set()) for row in rows)
    systems = [row["source"] for row in rows]
    assert systems[::2] == [systems[0]] * (len(rows) // 2), "the order of rows follows the masks"
    assert systems[1::2] == [systems[1]] * (len(rows) // 2)
    read = read_texts(content, name).outputs
    assert {mask_code(one.system) for one in read} == {mask_code(systems[0])} != {None}
    assert len(read) == len(data.outputs)


def test_the_file_is_the_same_whatever_the_systems_are_called(store: Store) -> None:
    data = dataset(4)
    other = replace(data, outputs=tuple(renamed(data, {"ai": "b", "human": "a"})), sources=("b", "a"))
    one = study_in(store, data, name="one")
    two = study_in(store, other, name="two", seed=99)
    assert pairs_of_study(store, one.study)[0] == pairs_of_study(store, two.study)[0]


def test_real_names_once_it_is_unblinded_and_masks_for_a_run_that_began_under_them(store: Store) -> None:
    at_hand = study_in(store)
    before = pairs_of_study(store, at_hand.study)
    unblind(at_hand)
    assert pairs_of_study(store, at_hand.study) == texts_of_study(store, at_hand.study)
    assert pairs_of_study(store, at_hand.study, masked=True) == before


def test_masks_stay_when_the_design_changes_before_the_first_vote(store: Store) -> None:
    at_hand = study_in(store)
    before = pairs_of_study(store, at_hand.study)
    change_design(store, at_hand.study, replace(at_hand.study.design, seed=8))
    assert pairs_of_study(store, at_hand.study) == before


def rows_of(content: bytes, name: str) -> list[tuple[ScoredRow, str]]:
    return [
        (ScoredRow(one.item_id, one.system, one.level, one.language), one.text)
        for one in read_texts(content, name).outputs
    ]


@pytest.mark.parametrize("levels", [LEVELS, (NO_LEVEL,)])
def test_scores_are_decoded_text_by_text(store: Store, levels: tuple[str, ...]) -> None:
    at_hand = study_in(store, dataset(4, levels))
    masked = rows_of(*pairs_of_study(store, at_hand.study))
    with pytest.raises(NotAllowed):
        unmasked(at_hand.record, [row for row, _ in masked])
    unblind(at_hand)
    rows = unmasked(at_hand.record, [row for row, _ in masked])
    texts = {(one.item_id, one.level, one.source): one.text for one in at_hand.record.outputs}
    for row, (before, text) in zip(rows, masked, strict=True):
        assert texts[row.item_id, row.level or "", row.system] == text
        assert (row.language, row.labels) == (before.language, before.labels)
    assert Counter(row.system for row in rows) == {"ai": len(rows) // 2, "human": len(rows) // 2}
    assert unmasked(at_hand.record, rows) == rows


def test_masks_of_another_study_are_refused(store: Store) -> None:
    one, other = study_in(store, name="one"), study_in(store, dataset(5), name="other")
    unblind(one)
    masked = [row for row, _ in rows_of(*pairs_of_study(store, other.study))]
    with pytest.raises(InputError, match="Choose the study whose pairs the judge read"):
        unmasked(one.record, masked)


def test_scores_without_masks_ask_for_nothing() -> None:
    rows = (ScoredRow("q00", "ai", "A0"), ScoredRow("q00", "answer 1", "A0"))
    assert unmasked(record_of({}), rows) == rows
    assert mask_code("answer 3 (masked 00000000)") is mask_code(None) is None
    assert mask_code(mask_named(1, "0123abcd")) == "0123abcd"


def test_identical_answers_have_two_masks() -> None:
    masks = masks_of([Output("q", "A0", "b", "Same."), Output("q", "A0", "a", "Same.")])
    assert len(set(masks.values())) == 2


def test_no_line_names_a_system_before_the_study_is_unblinded(store: Store) -> None:
    """However a name is written or joined: names in a file's name, in small letters, between underscores."""
    data = dataset(4, sources=("GPTFOUR", "PROFHUMAN"), file_name="xGPTFOURxPROFHUMANx.json")
    at_hand = study_in(store, data)
    own = ["GPTFOUR_vs_x.json", "gptfour-PROFHUMAN", "Because profhuman won."]
    logged = [line.detail for line in read_log(store, at_hand.study_id)] + own
    assert any(data.file_name in line for line in logged)
    for line in logged:
        hidden = mask_systems(at_hand.study, line).lower()
        assert not any(name.lower() in hidden for name in data.sources)
    assert mask_systems(at_hand.study, "GPTFOURTEEN") == "GPTFOURTEEN"
    unblind(at_hand)
    assert mask_systems(at_hand.study, own[0]) == own[0]
