"""A conversation on pages: what raters read before a question, and what the owner of the study reads."""

import re
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import pytest
from helpers.pages.study_visit import visit
from helpers.texts.conversations import conversations, spoken
from helpers.texts.factories import always, dataset, study_in, unblind, vote
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts
from helpers.texts.rating_studies import unblind as unblind_ratings
from streamlit.testing.v1 import AppTest

from core.schema.rendering import Shown
from core.schema.scores import Turn
from core.schema.study import NO_LEVEL
from core.store import Store
from core.store.raters import update_rater
from core.study.guidelines import wording
from core.study.lifecycle import set_wording
from pages.widgets.blind_pair import conversation
from pages.widgets.visitor import cookie_name

pytestmark = pytest.mark.usefixtures("cookies")

WORDS = wording({}, "en")
HOSTILE = "<script>alert(1)</script> **bold** ![i](http://outside.invalid/a.png) </details> \u202eabc"
ALL_ROLES = tuple(Turn(role, f"By {role}.") for role in ("system", "user", "tool", "assistant"))


def annotate() -> None:
    from pages import annotate as page

    page.render()


def rated_by(store: Store, cookies: dict[str, str], token: str) -> str:
    """The HTML that a rater who is through with the introduction gets first."""
    cookies.clear()
    cookies[cookie_name(store, "rater")] = token
    at = AppTest.from_function(annotate, default_timeout=30).run()
    assert not at.exception
    return bodies(at)


def bodies(at: AppTest) -> str:
    return " ".join(element.proto.body for element in at.get("html"))


def html(turns: Sequence[Turn], **more: Any) -> str:
    return conversation(turns, "en", Shown(), WORDS, **more)


@pytest.mark.parametrize(("n_before", "folded"), [(0, 0), (1, 0), (2, 0), (3, 1), (6, 4), (499, 497)])
def test_three_turns_are_in_sight_and_the_others_folded(n_before: int, folded: int) -> None:
    found = html(spoken("it", n_before))
    before, _, after = found.partition("</details>")
    assert found.count('class="assay-turn"') == n_before
    assert (before.count("Turn ") if folded else 0) == folded
    assert (f"Earlier turns: {folded}<" in found) == bool(folded)
    assert (found == "") == (n_before == 0)
    if folded:
        assert [f"Turn {number} of it." in after for number in (folded, folded + 1)] == [False, True]


def test_every_speaker_has_a_name() -> None:
    found = re.findall(r'assay-quiet"><bdi[^>]*>(.*?)<', html(ALL_ROLES))
    assert found == ["Instruction to the assistant", "User", "Tool", "Assistant"]


def test_what_is_unfolded_is_folded_again_on_the_next_screen() -> None:
    """The browser keeps a part that comes again unchanged, and with it what a rater has opened."""
    turns = spoken("it", 6)
    assert html(turns, number=1) == html(turns, number=1)
    assert html(turns, number=1) != html(turns, number=2)


@pytest.mark.parametrize("rendering", ["plain", "markdown", "latex", "code"])
def test_hostile_turns_are_text(rendering: Any) -> None:
    turns = [Turn("user", HOSTILE)] * 5
    found = conversation(turns, "en", Shown(rendering).question, WORDS)
    assert "<script" not in found
    assert "<img" not in found
    assert found.count("</details>") == 1
    assert escape("<script>") in found


def test_a_rater_of_pairs_reads_the_turns_in_the_words_of_the_study(
    store: Store, cookies: dict[str, str]
) -> None:
    at_hand = study_in(store, conversations(dataset(4, (NO_LEVEL,))), raters=("R1",))
    set_wording(store, at_hand.study, "de", {"turn_user": "Kundin"})
    update_rater(store, at_hand.study_id, "R1", onboarding=9, language="de")
    pair = at_hand.desk("R1").pair(1)
    found = rated_by(store, cookies, at_hand.tokens["R1"])
    assert f"Frühere Beiträge: {len(pair.turns) - 2}" in found
    assert found.count("Kundin") == sum(turn.role == "user" for turn in pair.turns) + 1, "the question's too"
    places = [found.index(text) for text in (*(turn.text for turn in pair.turns), pair.question, pair.left)]
    assert places == sorted(places), "in the order of the conversation, the answers last"


@pytest.mark.parametrize("source_side", [False, True], ids=["source above", "source in the marker"])
def test_a_rater_of_texts_reads_the_turns(store: Store, cookies: dict[str, str], source_side: bool) -> None:
    from helpers.texts.rating_studies import TASK

    assert TASK.spans
    task = replace(TASK, spans=replace(TASK.spans, source_side=source_side))
    turns = (*spoken("it", 6), Turn("user", "Source 0."))
    at_hand = rating_study(store, rating_texts(1, turns=turns), task, raters=("R1",))
    at_hand.desk("R1").finish_step(1)
    found = rated_by(store, cookies, at_hand.tokens["R1"])
    assert "Earlier turns: 4" in found
    assert found.index("Turn 6 of it.") > found.index("Turn 1 of it.")


def test_the_owner_of_pairs_reads_the_turns(store: Store) -> None:
    data = conversations(dataset(2))
    turns = (Turn("system", HOSTILE), *data.items[0].turns)
    data = replace(data, items=(replace(data.items[0], turns=turns), *data.items[1:]))
    at_hand = study_in(store, data)
    vote(store, at_hand.tokens["R1"], always("left"))
    unblind(at_hand)
    found = bodies(visit(tab="pairs", pair="1"))
    assert "Earlier turns: 5" in found
    assert found.index("Turn 6 of question q00.") < found.index("Question q00?")
    assert "<script" not in found


def test_the_owner_of_rated_texts_reads_the_turns(store: Store) -> None:
    turns = (*spoken("it", 6), Turn("user", "Source 0."))
    at_hand = rating_study(store, rating_texts(1, turns=turns), raters=("R1",))
    rate_all(at_hand.desk("R1"))
    unblind_ratings(at_hand)
    found = bodies(visit(tab="texts", text="1"))
    assert "Earlier turns: 4" in found
    assert found.index("Turn 6 of it.") < found.index("Source 0.")
