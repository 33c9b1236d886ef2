"""A page that the browser translates: what it says stays true, votes are those that were pressed and carry a mark, and the rater is warned.

No translator is at hand in a test. A script does to the page what Chrome's does: it puts <font> elements in the place of texts, now and
whenever there are new ones, and says so in <html>. A text is "translated" into capitals.
"""

import re
from dataclasses import replace

import pytest
from helpers.processes.app_server import AppServer, on_pair, on_screen, settled
from helpers.texts.factories import dataset, study_in
from playwright.sync_api import Page, expect
from rating_visit import KEYS, NewPage
from rating_visit import given as choices_of
from text_visit import given as ratings_of
from text_visit import on_text, rating_study, texts, the_text

from core.store import Store
from core.store.answers import answers_of, assignments_of, guesses_of
from core.store.raters import update_rater

_TRANSLATOR = """(() => {
    const SKIPPED = '[translate=no], .notranslate, script, style, textarea, font';
    let waiting;
    function font(text) {
        const outer = document.createElement('font'), inner = document.createElement('font');
        outer.style.verticalAlign = inner.style.verticalAlign = 'inherit';
        inner.textContent = text;
        outer.append(inner);
        return outer;
    }
    function translate() {
        waiting = undefined;
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const found = [];
        while (walker.nextNode()) found.push(walker.currentNode);
        for (const text of found) {
            if (!text.data.trim() || text.parentElement.closest(SKIPPED)) continue;
            text.replaceWith(font(text.data.toUpperCase()));
        }
    }
    window.translatePage = () => {
        document.documentElement.classList.add('translated-ltr');
        document.documentElement.lang = 'tlh';
        translate();
        new MutationObserver(() => { waiting ??= setTimeout(translate, 20); })
            .observe(document.body, { childList: true, characterData: true, subtree: true });
    };
})()"""
WARNING = "#assay-translated"


def translated(page: Page, link: str) -> None:
    """Open a link in a browser that translates from the first screen on."""
    page.add_init_script(_TRANSLATOR)
    page.goto(link)
    page.get_by_role("heading", level=1).wait_for(timeout=20_000)
    settled(page)
    page.evaluate("translatePage()")


def press_button(page: Page, name: str) -> None:
    page.get_by_role("button", name=re.compile(f"^{name}", re.IGNORECASE)).click()
    settled(page)


def says(page: Page, where: str, text: str) -> None:
    """The only element there has this text, translated."""
    expect(page.locator(where)).to_have_text(text.upper(), use_inner_text=True)


def test_a_whole_study_by_keys_on_a_translated_page(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    at_hand = study_in(app_store, dataset(1), raters=("ann",), repeat_share=0, blinding_pairs=1)
    page = new_page()
    crashes: list[str] = []
    page.on("pageerror", lambda error: crashes.append(str(error)))
    translated(page, f"{app.url}/r/{at_hand.tokens['ann']}")
    press_button(page, "Start with three practice pairs")
    for number in (1, 2, 3):
        says(page, "h1", f"Practice {number} of 3: does not count")
        for key in ("1", "4"):  # the second says something else of the first
            page.keyboard.press(key)
            settled(page)
        expect(page.locator(".assay-status")).to_have_text(
            re.compile("^MOST PEOPLE WOULD (AGREE|CHOOSE: (LEFT|RIGHT|BOTH GOOD))")
        )
        press_button(page, "Start the study" if number == 3 else "Next practice pair")
    wanted = dict(zip(range(1, 6), ("left", "both_bad", "right", "both_good", "left"), strict=True))
    total, status = len(wanted), ".assay-where .assay-status"
    says(page, status, "Not answered yet")
    for number, choice in wanted.items():
        on_pair(page, number)
        says(page, "h1", f"Pair {number} of {total}")
        says(page, ".assay-where > div:nth-child(2)", f"{number - 1 - (number > 3)} done")
        if number == 3:
            press_button(page, "Skip, ask me later")
            continue
        page.keyboard.press(KEYS[choice])
        if number < total:
            says(page, status, f"✓ Pair {number} saved: {choice.replace('_', ' ')}")
    on_pair(page, 3)
    press_button(page, "Overview and finish")
    says(page, "p:has-text('still open')", "4 of 5 answered. Still open: 3. Of these you skipped 3.")
    press_button(page, "Go to the next open pair")
    on_pair(page, 3)
    press_button(page, "Back")
    on_pair(page, 2)
    says(page, status, "✓ Your answer here: both bad (saved; press again to change)")
    page.locator("summary").first.click()
    on_screen(page).get_by_text("Report this pair as broken").click()
    says(page, ".assay-status >> nth=1", "✓ This pair is reported as broken")
    press_button(page, "Next")
    on_pair(page, 3)
    page.keyboard.press(KEYS[wanted[3]])
    says(page, "h1", "All pairs are answered")
    assert choices_of(app_store, at_hand.study_id) == wanted
    press_button(page, "Lock my answers")
    says(page, "h1", "One last question")
    expect(page.locator(".assay-status")).to_contain_text("1 OF 1")
    page.wait_for_timeout(400)  # a press this soon after a pair appears is taken for a double press
    page.keyboard.press("3")
    says(page, "h1", "Done. Thank you!")
    assert crashes == []
    assert [answer.translated for answer in answers_of(app_store, at_hand.study_id)] == [True] * total
    (guess,) = guesses_of(app_store, at_hand.study_id, "ann")
    assert (guess.guess, guess.translated) == ("unsure", True)


def test_texts_with_a_number_and_marks_on_a_translated_page(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    said = {"First question?": ["An answer with errors.", "Another one."]}
    study_id, link = rating_study(app_store, app.url, texts(said), "mqm-and-direct")
    page = new_page()
    translated(page, link)
    on_text(page, 1)
    says(page, ".assay-where .assay-status", "Not done yet")
    expect(the_text(page)).to_have_text(re.compile("^An(other| answer)"))
    on_screen(page).get_by_text("No errors in this text").click()
    expect(page.locator(".assay-marker-state")).to_have_text("SAVED")
    settled(page)
    page.get_by_role("spinbutton").fill("500")
    page.get_by_role("spinbutton").press("Enter")
    expect(page.locator(".assay-scale-said")).to_contain_text("NOT SAVED.")
    page.get_by_role("spinbutton").fill("70")
    page.get_by_role("spinbutton").press("Enter")
    expect(page.locator(".assay-scale-said")).to_have_text("")
    settled(page)
    press_button(page, "Save and go on")
    on_text(page, 2)
    says(page, ".assay-where .assay-status", "✓ Text 1 saved")
    (rated,) = ratings_of(app_store, study_id).values()
    assert (list(rated.scores.values()), rated.no_errors, rated.translated) == ([70], True, True)


SIGNS = {
    "the class of Chrome": "document.documentElement.classList.add('translated-rtl')",
    "the page's language": "document.documentElement.lang = 'fr'",
    "an attribute of Edge": "document.querySelector('.assay-status').setAttribute('_msttexthash', '1')",
    "other words in an answer": "document.querySelectorAll('.assay-pair .assay-text')[1].firstChild.textContent = 'Autres mots.'",
    "other words in the page": "document.querySelector('h1').firstChild.data = 'Paire 1'",
}


def test_every_sign_of_a_translation_warns_and_comes_with_the_vote(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    data = dataset(2)
    outputs = [replace(one, text=f"{one.text} It is $x^2$.") for one in data.outputs]
    data = replace(data, outputs=tuple(outputs))
    at_hand = study_in(app_store, data, raters=("ann",), repeat_share=0, rendering="latex")
    update_rater(app_store, at_hand.study_id, "ann", onboarding=9, language="de")
    link = f"{app.url}/r/{at_hand.tokens['ann']}"
    page = new_page()
    page.goto(link)
    on_pair(page, 1)
    expect(page.locator("math").first).to_be_attached()  # a formula that is set is no translation
    page.keyboard.press("1")
    for number, sign in enumerate(SIGNS.values(), start=2):
        on_pair(page, number)
        expect(page.locator(WARNING)).to_have_count(0)
        page.evaluate(sign)
        expect(page.locator(WARNING)).to_contain_text("Ihr Browser hat diese Seite übersetzt.")
        page.keyboard.press("1")
        on_pair(page, number + 1)
        page.evaluate("document.documentElement.classList.remove('translated-rtl')")
        page.evaluate("document.documentElement.lang = 'de'")
    places = {(a.item_id, a.level): a.position for a in assignments_of(app_store, at_hand.study_id, "ann")}
    given = answers_of(app_store, at_hand.study_id)
    marks = sorted((places[a.item_id, a.level], a.translated) for a in given)
    assert marks == [(1, False), *((number, True) for number in range(2, len(SIGNS) + 2))]


_LANGUAGES = """() => [...document.querySelectorAll('.assay-text')].map(one => [one.getAttribute('lang'), one.translate])"""


@pytest.mark.parametrize(("language", "direction"), [("de", "ltr"), ("he", "rtl"), ("ar-Latn", "ltr")])
def test_the_page_and_its_parts_say_their_languages(
    app: AppServer, app_store: Store, new_page: NewPage, language: str, direction: str
) -> None:
    at_hand = study_in(app_store, dataset(1, languages=("und",)), raters=("ann",), repeat_share=0)
    update_rater(app_store, at_hand.study_id, "ann", onboarding=9, language=language)
    page = new_page()
    page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")
    on_pair(page, 1)
    html = page.locator("html")
    expect(html).to_have_attribute("lang", language)
    expect(html).to_have_attribute("dir", direction)
    words = "de" if language == "de" else "en"
    speaks = "one => one.closest('[lang]').lang"
    assert page.locator(".st-key-choices button").first.evaluate(speaks) == words
    assert page.get_by_role("button", name="Back").evaluate(speaks) == "en"
    rated = page.evaluate(_LANGUAGES)
    assert len(rated) == 4  # question, reference and two answers
    assert set(map(tuple, rated)) == {("", False)}
    left, right = (page.locator(".assay-pair > .assay-card").nth(n).bounding_box() for n in (0, 1))
    assert left is not None
    assert right is not None
    assert left["x"] < right["x"], "what is named left is on the left"
