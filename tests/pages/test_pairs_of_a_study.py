"""The tab Pairs, or Texts: closed until unblinding, filters that the address holds, the open pair, its file, hostile texts."""

import re
from collections.abc import Sequence
from dataclasses import replace
from html import escape

import pandas as pd
import pytest
from helpers.pages.study_visit import texts_of, turn_to, visit
from helpers.texts.factories import (
    LEVELS,
    StudyAtHand,
    always,
    dataset,
    item_ids,
    study_in,
    unblind,
    vote,
)
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts
from helpers.texts.rating_studies import unblind as unblind_ratings
from streamlit.testing.v1 import AppTest

from core.results.study.pair_list import PairFilter, pair_list, pairs_shown
from core.schema.scores import Turn
from core.schema.study import PREFERENCES, Dataset
from core.store import Store
from core.store.kept import keep_file
from core.store.studies import get_study
from core.study.lifecycle import exclude_rater, move, withdraw_rater
from core.study.raters import import_votes
from pages.widgets.open_study import pairs_key

pytestmark = pytest.mark.usefixtures("cookies")

HOSTILE = (
    "<script>alert(1)</script> **bold** $x^2$ :smile: ![i](http://outside.invalid/a.png) \u202eabc \0 =1+1"
)


def voted(
    store: Store, data: Dataset | None = None, raters: Sequence[str] = ("R1", "R2"), **design: object
) -> StudyAtHand:
    """Imported votes of all kinds, another pattern for each rater."""
    data = data or dataset(4)
    study = study_in(store, data, raters=(), **design)
    pairs = [(item.item_id, level) for item in data.items for level in data.levels]
    for shift, rater in enumerate(raters):
        votes = {pair: PREFERENCES[(n * (shift + 1) + shift) % 4] for n, pair in enumerate(pairs)}
        import_votes(store, study.study, rater, votes)
    return study


def frame(at: AppTest) -> pd.DataFrame:
    found: pd.DataFrame = at.dataframe[0].value
    return found


def pressed(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click()
    found = at.run()
    assert not found.exception
    return found


def pills(at: AppTest) -> dict[str, int]:
    """Words of each pill -> its number."""
    found = {}
    for option in at.get("button_group")[0].proto.options:
        words, _, n = option.content.rpartition(" ")
        found[words] = int(n.replace(",", ""))
    return found


def test_closed_until_the_study_is_unblinded(store: Store, each_pair_task: str) -> None:
    study = study_in(store)
    for token in study.tokens.values():
        vote(store, token, always("both_good"))
    for _ in range(2):
        at = visit(tab="pairs")
        assert not at.dataframe
        assert "Alpha" not in texts_of(at)
        if study.study.state == "open":
            move(store, study.study, "closed")
    move(store, study.study, "unblinded", "done")
    at = visit(tab="pairs")
    assert len(frame(at)) == 20


def test_every_pair_is_a_row_and_the_pills_count_what_they_leave(store: Store) -> None:
    study = voted(store)
    found = pair_list(study.record)
    at = visit(tab="pairs")
    assert len(frame(at)) == 20
    numbers = list(pills(at).values())
    assert numbers == [
        len(pairs_shown(found, one))
        for one in (
            PairFilter(disagree=True),
            PairFilter(lost=True),
            PairFilter(won=True),
            PairFilter(left_out=True),
        )
    ]
    assert at.query_params.get("pair") == "1"


def test_the_address_holds_the_filters_by_number(store: Store) -> None:
    voted(store)
    at = visit(tab="pairs", show="disagree", level=["2", "3"])
    shown = frame(at)
    assert set(shown["level"]) <= set(LEVELS[1:3])
    found = pair_list(StudyAtHand(store, 1).record)
    asked = PairFilter(disagree=True, levels=LEVELS[1:3])
    assert len(shown) == len(pairs_shown(found, asked))
    written = str(dict(at.query_params.items()))
    assert not any(name in written for name in (*LEVELS, "R1", *item_ids(4)))


def test_j_and_k_go_through_what_is_shown(store: Store) -> None:
    study = voted(store)
    places = pairs_shown(pair_list(study.record), PairFilter(disagree=True)).tolist()
    at = visit(tab="pairs", show="disagree")
    seen = [at.query_params["pair"]]
    for _ in range(2):
        at = pressed(at, "study_pairs_open_1_j")
        seen.append(at.query_params["pair"])
    at = pressed(at, "study_pairs_open_1_k")
    seen.append(at.query_params["pair"])
    assert seen == [str(places[n] + 1) for n in (0, 1, 2, 1)]
    assert at.session_state["study_pairs_open_1_table"]["selection"]["rows"] == [1]
    assert at.button(key="study_pairs_open_1_k").disabled is False
    last = visit(tab="pairs", show="disagree", pair=str(places[-1] + 1))
    assert last.button(key="study_pairs_open_1_j").disabled


def test_another_place_of_the_page_leads_to_its_pairs_once(store: Store) -> None:
    study = voted(store)
    asked = PairFilter(votes=(("R1", "both_good"), ("R2", "comparator")))
    n = len(pairs_shown(pair_list(study.record), asked))
    assert n
    at = visit(tab="pairs", show="lost")
    at.session_state[pairs_key(1)] = asked
    at = at.run()
    assert len(frame(at)) == n
    assert pairs_key(1) not in at.session_state
    assert "show" not in at.query_params
    again = visit(tab="pairs", vote=at.query_params["vote"])
    assert len(frame(again)) == n
    assert len(frame(pressed(at, "study_pairs_any_votes"))) == 20


def test_filters_that_leave_nothing_offer_all_pairs(store: Store) -> None:
    voted(store)
    at = visit(tab="pairs", show=["left-out", "lost"])
    assert not at.dataframe
    assert at.info
    at = pressed(at, "study_pairs_clear_none")
    assert len(frame(at)) == 20
    assert set(at.query_params) == {"study", "tab", "pair"}


def test_filters_stay_while_another_tab_is_open(store: Store) -> None:
    voted(store)
    at = visit(tab="pairs", show="disagree", pair="3")
    before = len(frame(at))
    turn_to(at, "Design")
    at = turn_to(at, "Pairs")
    assert len(frame(at)) == before


def test_the_pair_shows_both_texts_as_text(store: Store) -> None:
    data = dataset(2)
    item = replace(
        data.items[0],
        question=HOSTILE,
        reference=HOSTILE,
        turns=(Turn("user", HOSTILE), Turn("user", HOSTILE)),
    )
    outputs = [replace(one, text=f"{HOSTILE} {one.source} {'long ' * 10_000}") for one in data.outputs]
    data = replace(data, items=(item, *data.items[1:]), outputs=tuple(outputs))
    voted(store, data, ("a**zz**<b>", "R2"))
    at = visit(tab="pairs", pair="2")
    html = " ".join(element.proto.body for element in at.get("html"))
    assert escape("<script>alert(1)") in html
    assert "<script>" not in html
    assert not [element for element in at.markdown if re.search(r"(?<!\\)<b>|(?<!\\)\*\*z", element.value)]


def test_withdrawn_and_excluded_raters(store: Store) -> None:
    study = study_in(store, raters=("secret-name", "R2"), repeat_share=0.0)
    for rater, token in study.tokens.items():
        desk = vote(store, token, always("both_good"))
        if rater == "secret-name":
            desk.save_note(1, comment="at home")
    unblind(study)
    at = visit(tab="pairs")
    places = [n for n, one in enumerate(frame(at)["comments"], start=1) if one]
    at = visit(tab="pairs", pair=str(places[0]))
    assert "at home" in texts_of(at)
    withdraw_rater(store, study.study, "secret-name", keep_votes=True)
    at = visit(tab="pairs", pair=str(places[0]))
    said = texts_of(at) + " ".join(frame(at).columns)
    assert "at home" not in said
    assert "secret-name" not in said
    assert "withdrawn-1" in said
    exclude_rater(store, study.study, "R2", "asleep")
    (column,) = [name for name in frame(visit(tab="pairs")).columns if name.startswith("R2")]
    assert column != "R2"


def test_a_study_without_a_margin_takes_no_side(store: Store) -> None:
    voted(store, margin=None)
    at = visit(tab="pairs")
    design = get_study(store, 1).design
    words = [one for one in pills(at) if design.candidate in one or design.comparator in one]
    assert [design.candidate in one for one in words] == [True, False]
    assert "(candidate)" not in texts_of(at)


def test_a_judge_that_disagrees_with_raters(store: Store) -> None:
    """Stored scores of the study's texts, which prefer the candidate everywhere but where its answer has none."""
    pytest.importorskip("pages.tabs.study_scores")
    study = voted(store, dataset(6), margin=None)
    design = study.study.design
    lines = [
        f"{one.item_id},{one.level},{one.source},{2 if one.source == design.candidate else 1}"
        for one in study.record.outputs
    ]
    keep_file(store, "scores", "scores.csv", "\n".join(["item,level,system,zq", *lines]).encode())
    at = visit(tab="pairs")
    (judge,) = [one.key for one in at.selectbox if "judge" in str(one.key)]
    at.selectbox(key=judge).select_index(0)
    at = at.run()
    assert not at.exception
    code = at.query_params["judge"]
    shown = frame(at)
    assert (shown["zq"] != shown["score"].map({1: design.candidate, -1: design.comparator})).all()
    assert code.isdigit()
    assert len(frame(visit(tab="pairs", judge=code))) == len(shown)
    assert len(frame(visit(tab="pairs", column=code))) == 30


def test_texts_of_a_rating_study(store: Store) -> None:
    study = rating_study(store, rating_texts(3), raters=("R1", "R2"), repeat_share=0)
    for rater in ("R1", "R2"):
        rate_all(study.desk(rater))
    assert not visit(tab="texts").dataframe
    unblind_ratings(study)
    at = visit(tab="texts")
    shown = frame(at)
    assert len(shown) == 9
    assert {"R1", "R2", "mean", "spread"} <= set(shown.columns)
    assert (shown["mean"] == shown["R1"]).all()
    at = pressed(at, "study_texts_open_1_j")
    assert at.query_params["text"] == "2"
    one_system = visit(tab="texts", system="2", dimension="3")
    assert set(frame(one_system)["system"]) == {shown["system"].tolist()[1]}
    assert not one_system.exception
    nothing = visit(tab="texts", show="disagree")
    assert not nothing.dataframe
    assert len(frame(pressed(nothing, "study_texts_clear_none"))) == 9
