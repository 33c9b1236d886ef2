"""Consent, labels, the lock and the last question, and hostile text in every field, in a real browser."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from helpers.processes.app_server import AppServer, on_pair, on_screen, settled
from helpers.texts.factories import always, dataset, study_in, vote
from playwright.sync_api import Page, expect
from wire import OUTSIDE, outside, watch

from core.store import Store
from core.store.answers import answers_of, guesses_of
from core.store.raters import find_rater, update_rater
from core.study.blinding import pairs_to_guess
from core.study.lifecycle import set_guideline, set_wording

NewPage = Callable[[], Page]
HOSTILE = {
    "html and style": f"<b>tag</b> <img src={OUTSIDE}/x.png onerror=alert(1)> <script>alert(2)</script> &amp; &#x3c; "
    "</style><style>body{display:none}</style> {{7*7}} ${7*7} %s",
    "markdown and latex": f"# Heading **bold** ![x]({OUTSIDE}/y.png) [link]({OUTSIDE}) `code` :red[x] :smile: <{OUTSIDE}> "
    "$\\frac{a}{b}$ and $$\\sum_i x_i$$ \\(y\\)",
    "formula": '=HYPERLINK("' + OUTSIDE + '") +1 -1 @x',
}


@pytest.mark.slow
def test_consent_comes_first_and_is_kept(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    at_hand = study_in(app_store, raters=("ann",))
    set_wording(app_store, at_hand.study, "en", {"consent": "Votes are kept for **ten** years."})
    page = new_page()
    page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")
    expect(on_screen(page).get_by_text("Votes are kept for ten years.")).to_be_visible(timeout=20_000)
    for place in ("1", "guide", "list", "finish", "again-1", "end", "try-1"):
        page.goto(f"{app.url}/?at={place}")
        expect(on_screen(page).get_by_text("Votes are kept for ten years.")).to_be_visible(timeout=20_000)
        assert "Question" not in page.content()
    assert find_rater(app_store, at_hand.study_id, "ann").consent_utc is None
    page.get_by_role("button", name="I agree").click()
    expect(page.get_by_role("button", name="Start with three practice pairs")).to_be_visible()
    assert find_rater(app_store, at_hand.study_id, "ann").consent_utc is not None
    page.reload()
    expect(page.get_by_role("button", name="Start with three practice pairs")).to_be_visible(timeout=20_000)


@pytest.mark.slow
def test_from_the_last_answer_over_the_lock_to_the_last_guess(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    at_hand = study_in(app_store, dataset(3), raters=("ann",), repeat_share=0, blinding_pairs=4)
    set_wording(
        app_store,
        at_hand.study,
        "en",
        {
            "left": "The left one",
            "both_good": "Both are fine",
            "guess_question": "Who did it?",
            "guess_unsure": "No idea",
        },
    )
    update_rater(app_store, at_hand.study_id, "ann", onboarding=9)
    vote(app_store, at_hand.tokens["ann"], lambda pair: None if pair.number == 15 else "right")
    page = new_page()
    page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")
    on_pair(page, 15)
    page.get_by_role("button", name="Both are fine").click()
    expect(page.get_by_role("heading", name="All pairs are answered")).to_be_visible()
    page.get_by_role("button", name="Look at my answers first").click()
    expect(page.get_by_role("heading", name="Your pairs")).to_be_visible()
    settled(page)
    page.goto(f"{app.url}/?at=15")
    on_pair(page, 15)
    expect(page.locator(".assay-status", has_text="Your answer here: Both are fine")).to_be_visible()
    page.keyboard.press("1")  # still open: an answer can change
    expect(page.get_by_role("heading", name="Your pairs")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Finish", exact=True).click()
    page.get_by_role("button", name="Lock my answers").click()
    votes = answers_of(app_store, at_hand.study_id)
    assert {a.choice for a in votes} == {"right", "left"}
    record = at_hand.record
    wanted = pairs_to_guess(record.study, record.assignments, {a.key: a for a in votes})
    for number, assignment in enumerate(wanted, start=1):
        expect(page.locator(".assay-status", has_text=f"{number} of 4: Who did it?")).to_be_visible()
        expect(on_screen(page).get_by_text(f"Question {assignment.item_id}?")).to_be_visible()
        settled(page)
        page.wait_for_timeout(400)
        if number == 2:
            page.get_by_label("What made you think so?").fill("the 12 commas")
            page.get_by_role("button", name="No idea").click()
        elif number == 3:
            page.reload()
            expect(on_screen(page).get_by_text("3 of 4: Who did it?")).to_be_visible(timeout=20_000)
            settled(page)
            page.wait_for_timeout(400)
            page.keyboard.press("2")
            page.keyboard.press("2")  # a double press is one guess
        else:
            page.keyboard.press("1")
    expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible()
    for place in ("15", "list", "finish", "again-1", "guide"):  # nothing is open any more
        page.goto(f"{app.url}/?at={place}")
        expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible(timeout=20_000)
    page.go_back()
    expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible(timeout=20_000)
    assert answers_of(app_store, at_hand.study_id) == votes
    guesses = guesses_of(app_store, at_hand.study_id)
    assert [(g.item_id, g.level) for g in guesses] == [(a.item_id, a.level) for a in wanted]
    assert [(g.guess, g.comment) for g in guesses] == [
        ("left", ""),
        ("unsure", "the 12 commas"),
        ("right", ""),
        ("left", ""),
    ]
    assert all(g.seconds is not None and g.seconds > 0.35 for g in guesses)


def test_german_labels_for_a_german_rater(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    at_hand = study_in(app_store, raters=("ann",))
    update_rater(app_store, at_hand.study_id, "ann", onboarding=9, language="de")
    page = new_page()
    page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")
    on_pair(page, 1)
    for label in ("Links", "Rechts", "Beide gut", "Beide schlecht"):
        expect(page.locator(".st-key-choices").get_by_role("button", name=label)).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_words_of_owner_and_rater_are_shown_as_they_are(
    app: AppServer, app_store: Store, new_page: NewPage, kind: str
) -> None:
    """Labels, comment and guess comment; a text that could call another host is refused, or shown literally."""
    hostile = HOSTILE[kind]
    at_hand = study_in(app_store, dataset(1), raters=("ann",), repeat_share=0, blinding_pairs=1)
    update_rater(app_store, at_hand.study_id, "ann", onboarding=9)
    page = new_page()
    asked = watch(page)
    page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")
    on_pair(page, 1)
    on_screen(page).get_by_text("Comment, or report a broken pair").click()
    page.get_by_label("Comment (optional)").fill(hostile)
    expect(page.locator(".assay-box-state")).to_have_text("Saved")
    (answer,) = answers_of(app_store, at_hand.study_id)
    assert answer.comment == hostile
    vote(app_store, at_hand.tokens["ann"], always("both_good"))
    page.goto(f"{app.url}/?at=finish")
    page.get_by_role("button", name="Lock my answers").click(timeout=20_000)
    expect(on_screen(page).get_by_text("1 of 1: ")).to_be_visible()
    settled(page)
    page.wait_for_timeout(400)
    page.get_by_label("What made you think so?").fill(hostile)
    page.reload()
    expect(page.get_by_label("What made you think so?")).to_have_value(hostile, timeout=20_000)
    settled(page)
    page.wait_for_timeout(400)
    page.get_by_role("button", name="Cannot tell").click()
    expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible()
    (guess,) = guesses_of(app_store, at_hand.study_id)
    assert guess.comment == hostile
    assert outside(asked, app) == []
    owner_reads_it(app, app_store, new_page, at_hand.study_id, hostile)


def owner_reads_it(app: AppServer, store: Store, new_page: NewPage, study_id: int, hostile: str) -> None:
    """The comment on the owner's two pages: literal, and no request."""
    from helpers.pages.admin_session import sign_in
    from helpers.texts.factories import ended

    page = new_page()
    asked = watch(page)
    sign_in(page, store, app.url)
    page.goto(f"{app.url}/studies?study={study_id}&tab=raters")
    expect(on_screen(page).get_by_text("Reported pairs and comments (1)")).to_be_visible(timeout=20_000)
    settled(page)
    page.wait_for_timeout(
        1000
    )  # the page is drawn twice when it is opened, and closes what was opened between
    settled(page)
    on_screen(page).get_by_text("Reported pairs and comments (1)").click()
    settled(page)
    shown = [
        cell.replace("\u2060", "") for cell in page.locator("[data-testid=stTable] td").all_inner_texts()
    ]
    assert " ".join(hostile.split()) in shown
    ended(store, study_id)
    page.goto(f"{app.url}/studies?study={study_id}&tab=raters&part=guesses")
    expect(page.get_by_role("heading", name="Blinding")).to_be_visible(timeout=30_000)
    settled(page)
    assert outside(asked, app) == []


@pytest.mark.slow
def test_bidi_overrides_reorder_nothing_outside_their_answer(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    """The same page with and without an unclosed right-to-left override in the left answer: all else stands still."""
    plain = dataset(1)
    boxes = []
    for number, override in enumerate(("", "\u202e", "\u2067", "\u2069\u202e")):
        outputs = tuple(
            replace(o, text=f"{o.text[:6]}{override}{o.text[6:]}") if o.source == "ai" else o
            for o in plain.outputs
        )
        data = replace(plain, outputs=outputs, sha256=f"{number:064}")
        at_hand = study_in(app_store, data, name=f"s{number}", raters=("ann",), repeat_share=0)
        update_rater(app_store, at_hand.study_id, "ann", onboarding=9, diff_mode="none")
        page = new_page()
        page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")
        on_pair(page, 1)
        boxes.append(page.evaluate(WHERE_WORDS_STAND))
    for box in boxes[1:]:
        assert box["other"] == boxes[0]["other"]
        assert box["labels"] == boxes[0]["labels"]
    assert boxes[1]["first"] != boxes[0]["first"], "inside its answer an override does what it says"


WHERE_WORDS_STAND = """() => {
  const at = (node, start, end) => {
    const range = document.createRange(); range.setStart(node, start); range.setEnd(node, end);
    const box = range.getBoundingClientRect(); return [Math.round(box.left), Math.round(box.top)];
  };
  const words = element => {
    const found = [];
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (const match of node.data.matchAll(/[A-Za-z0-9]+/g))
        found.push([match[0], ...at(node, match.index, match.index + 1)]);
    return found;
  };
  const cards = [...document.querySelectorAll('.assay-card')];
  const first = cards.filter(card => card.innerText.includes('Alpha'));
  const other = cards.filter(card => !card.innerText.includes('Alpha'));
  return {
    first: first.flatMap(words), other: other.flatMap(words),
    labels: [...document.querySelectorAll('.assay-side, .assay-question, .assay-reference, button')].flatMap(words),
  };
}"""


def test_guidelines_cannot_call_another_host(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    """An image is refused when the text is saved; what a text still asks for, the browser's policy stops."""
    at_hand = study_in(app_store, raters=("ann",))
    set_guideline(app_store, at_hand.study, "en", f"Read [this]({OUTSIDE}) and $x^2$.")
    page = new_page()
    asked = watch(page)
    page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")
    expect(page.get_by_role("link", name="this")).to_be_visible(timeout=20_000)
    page.evaluate(f"fetch('{OUTSIDE}/beacon').catch(() => 0); new Image().src = '{OUTSIDE}/pixel.png'")
    page.wait_for_timeout(500)
    assert [url for url in outside(asked, app) if "beacon" not in url and "pixel" not in url] == []
    refused = page.evaluate(f"fetch('{OUTSIDE}/beacon').then(() => 'sent', error => error.message)")
    assert "Failed to fetch" in refused or "Content Security Policy" in refused
