"""Files and filters of a page that was drawn before a rater withdrew: no comment and no name of theirs is left in them."""

import gc
from collections.abc import Callable, Iterator

import pytest
import streamlit as st
from helpers.pages.study_visit import turn_to, visit
from helpers.texts.factories import StudyAtHand, prefers, study_in, unblind, vote

from core.errors import NotAllowed
from core.results.study.pair_list import PairFilter, PairList
from core.store import Store
from core.study.lifecycle import withdraw_rater
from pages.studies.analysed import forget
from pages.widgets.open_study import pairs_key

pytestmark = pytest.mark.usefixtures("cookies")
LEAVER, COMMENT = "LEAVER9", "COMMENTOFTHELEAVER"
Files = dict[str, Callable[[], bytes]]


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Iterator[Files]:
    """Key of each download button that is drawn -> what its press makes."""
    found: Files = {}
    real = st.delta_generator.DeltaGenerator.download_button

    def kept(self: object, label: str, data: Callable[[], bytes], *rest: object, **more: object) -> object:
        found[str(more["key"])] = data
        return real(self, label, data, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(st.delta_generator.DeltaGenerator, "download_button", kept)
    monkeypatch.setattr(st, "download_button", lambda *rest, **more: kept(st._main, *rest, **more))
    return found


def left(store: Store) -> StudyAtHand:
    """An unblinded study with a rater who commented and will withdraw."""
    study = study_in(store, raters=(LEAVER, "R2", "R3"))
    for rater, token in study.tokens.items():
        vote(store, token, prefers(1 if rater == "R2" else 0))
    study.desk(LEAVER).save_note(1, comment=COMMENT)
    unblind(study)
    return study


@pytest.mark.parametrize("tab", ["result", "pairs", "raters", "judges", "export"])
def test_no_file_holds_a_withdrawn_comment_or_name(store: Store, files: Files, tab: str) -> None:
    study = left(store)
    visit(study.study_id, tab)
    drawn = dict(files)
    before = b"".join(make() for make in drawn.values())
    assert (tab == "export") <= (COMMENT.encode() in before)
    withdraw_rater(store, study.study, LEAVER, keep_votes=True)
    made = []
    for make in drawn.values():
        try:
            made.append(make())
        except NotAllowed:
            assert tab != "export"
    assert tab != "export" or len(made) == len(drawn) > 0
    assert not [file for file in made if LEAVER.encode() in file or COMMENT.encode() in file]


def test_a_filter_of_a_withdrawn_rater_is_dropped(store: Store) -> None:
    study = left(store)
    at = visit(study.study_id, "raters")
    at.session_state[pairs_key(study.study_id)] = PairFilter(rater=LEAVER, votes=((LEAVER, "candidate"),))
    assert "rater" in turn_to(at, "Pairs", study.study_id).query_params
    turn_to(at, "Raters", study.study_id)
    withdraw_rater(store, study.study, LEAVER, keep_votes=True)
    assert not turn_to(at, "Pairs", study.study_id).exception
    assert {"rater", "vote"}.isdisjoint(at.query_params)
    assert not [key for key, value in at.session_state._state.filtered_state.items() if LEAVER in str(value)]


def test_what_one_study_never_took_from_an_address_is_not_for_the_next(store: Store) -> None:
    blind = study_in(store, name="one")
    study = study_in(store, name="two", raters=("R1", "R2"))
    for token in study.tokens.values():
        vote(store, token, prefers(0))
    unblind(study)
    at = visit(blind.study_id, "pairs", show="disagree", pair="7")
    at.query_params.clear()
    at.run()
    at.query_params["study"] = str(study.study_id)
    at.run()
    turn_to(at, "Pairs", study.study_id)
    assert not at.exception
    assert "show" not in at.query_params
    assert at.query_params["pair"] == "1"


def test_the_memory_of_the_app_holds_no_comment_after_a_withdrawal_there(store: Store) -> None:
    study = left(store)
    for tab in ("result", "pairs", "raters"):
        visit(study.study_id, tab)
    assert comments_in_memory() > 0
    withdraw_rater(store, study.study, LEAVER, keep_votes=True)
    forget()
    assert comments_in_memory() == 0


def comments_in_memory() -> int:
    gc.collect()
    return sum(isinstance(one, PairList) and COMMENT in str(one.record.answers) for one in gc.get_objects())
