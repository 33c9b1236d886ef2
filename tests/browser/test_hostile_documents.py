"""Texts that are set, and want to be more: in no mode do they load, link, run or style anything, and every word of them is shown."""

import re
from dataclasses import replace

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, on_pair, on_screen, settled
from helpers.texts.factories import StudyAtHand, always, dataset, ended, study_in, vote
from helpers.texts.rating_studies import HARM, rating_study, rating_texts
from helpers.texts.set_texts import design_of, hostile_text
from playwright.sync_api import Page, expect
from rating_visit import NewPage
from text_visit import on_text
from wire import OUTSIDE, outside, watch

from core.schema.rendering import RENDERINGS, Rendering
from core.schema.study import RatingTask
from core.store import Store
from core.store.raters import update_rater

HOSTILE = hostile_text(OUTSIDE)
SEEN = sorted(set(re.findall(r"SEEN-\w+", HOSTILE)))
_TOLD = """texts => texts.map(text => ({
    words: text.textContent,
    acting: [...text.querySelectorAll('*')].flatMap(element =>
        element.getAttributeNames()
            .filter(name => /^(on.*|src|srcset|href|xlink:href|style|action|formaction|poster|data|background)$/.test(name))
            .map(name => `${element.tagName} ${name}`)),
    strange: [...text.querySelectorAll('*')].filter(element => element.matches(
        'script, style, link, img, svg, iframe, object, embed, video, audio, form, input, button, a, base, meta, template'
    )).map(element => element.tagName),
    handlers: [...text.querySelectorAll('*')].filter(element => element.onclick || element.onload || element.onerror).length,
}))"""


def harmless(page: Page, n_texts: int) -> None:
    """Every hostile text on the page shows its words, and nothing of it acts."""
    told = page.locator(".assay-text").evaluate_all(_TOLD)
    hostile = [one for one in told if "SEEN-tag" in one["words"]]
    assert len(hostile) == n_texts
    for one in hostile:
        assert (one["acting"], one["strange"], one["handlers"]) == ([], [], 0)
        assert [word for word in SEEN if word not in one["words"]] == []
        assert one["words"].count(OUTSIDE) >= 15, "addresses are words"


def hostile_study(store: Store, rendering: Rendering, state: str) -> StudyAtHand:
    """One pair, at A1, whose every text is hostile."""
    data = dataset(1, ("A0", "A1"))
    data = replace(
        data,
        items=tuple(replace(item, question=HOSTILE, reference=HOSTILE) for item in data.items),
        outputs=tuple(replace(one, text=f"{HOSTILE}\n\n{one.text}") for one in data.outputs),
    )
    at_hand = study_in(store, data, raters=["ann"], name=f"{rendering} {state}", **design_of(rendering))
    update_rater(store, at_hand.study_id, "ann", onboarding=4)
    if state == "unblinded":
        vote(store, at_hand.tokens["ann"], always("left"))
        ended(store, at_hand.study_id)
    return at_hand


@pytest.mark.slow
@pytest.mark.parametrize("rendering", RENDERINGS)
def test_a_hostile_text_is_words_and_nothing_else(
    app: AppServer, app_store: Store, new_page: NewPage, rendering: Rendering
) -> None:
    """On a rater's pair with and without marks, on a rated text, and on the owner's tab Pairs."""
    rated = hostile_study(app_store, rendering, "open")
    owned = hostile_study(app_store, rendering, "unblinded")
    outputs = rating_texts(1, ("zq-north",))
    outputs = replace(
        outputs,
        outputs=tuple(replace(one, text=HOSTILE, source=HOSTILE, reference=None) for one in outputs.outputs),
    )
    texts = rating_study(
        app_store,
        outputs,
        RatingTask("h", "H", "002", "2", "none", (HARM,)),
        raters=["ann"],
        **design_of(rendering),
    )
    update_rater(app_store, texts.study_id, "ann", onboarding=1)
    page = new_page()
    asked = watch(page)
    page.goto(f"{app.url}/r/{rated.tokens['ann']}")
    on_pair(page, 1)
    for mode in ("all words", "left against right", "off"):
        on_screen(page).get_by_text(mode, exact=True).click()
        settled(page)
        harmless(page, 4)
    page.goto(f"{app.url}/r/{texts.tokens['ann']}")
    on_text(page, 1)
    harmless(page, 2)
    owner = new_page()
    asked_by_owner = watch(owner)
    sign_in(owner, app_store, app.url)
    owner.goto(f"{app.url}/studies?study={owned.study_id}&tab=pairs")
    expect(owner.locator(".assay-pair")).to_be_visible(timeout=20_000)
    settled(owner)
    harmless(owner, 4)
    assert outside([*asked, *asked_by_owner], app) == []
