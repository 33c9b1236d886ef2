"""Marking errors in Chromium by mouse and by keyboard alone: what is stored selects exactly what was marked."""

import pytest
from helpers.processes.app_server import AppServer, on_screen, settled
from playwright.sync_api import Page, expect
from text_visit import NewPage, given, on_text, rating_study, saved, texts, the_text

from core.schema.scores import ErrorSpan
from core.store import Store

LATIN = "Two 👩‍👩‍👧 families met at the cafe\u0301 today."
ARABIC = "ذهب الطالب إلى المدرسة في الصباح الباكر."
JAPANESE = "猫は窓のそばで静かに眠っていた。"
RECTANGLE = """([from, to]) => {
  const element = [...document.querySelectorAll('.assay-marker-text')].at(-1);
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let at = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (at <= from && from <= at + node.length) range.setStart(node, from - at);
    if (at <= to && to <= at + node.length) { range.setEnd(node, to - at); break; }
    at += node.length;
  }
  const { left, right, top, bottom } = range.getBoundingClientRect();
  return { left, right, top, bottom };
}"""

DRAWN_ANEW = """async ([text, severities]) => {
  const address = performance.getEntriesByType('resource').map((one) => one.name).find((name) => name.includes('span_marker.js'));
  const { default: draw } = await import(address);
  const part = { label: 'Text', text, language: 'en', in_source: false };
  const common = { revision: '', taken: 0, problem: null, replaced: false, none: false, spans: [], severities, categories: [] };
  const shown = (mark) => {
    const parent = document.createElement('div');
    document.body.append(parent);
    return [parent, draw({ data: { ...common, mark, parts: [part] }, parentElement: parent, setStateValue() {} })];
  };
  const selected = (parent) => parent.querySelector('.assay-marker-what').textContent;
  const found = [];
  let [parent, drop] = shown('one');
  const inside = parent.querySelector('.assay-marker-text');
  inside.focus();
  document.getSelection().setBaseAndExtent(inside.firstChild, 4, inside.firstChild, 9);
  parent.querySelector('.assay-marker-bar').dispatchEvent(new Event('pointerdown', { bubbles: true }));
  for (const mark of ['one', 'another', 'one']) {
    found.push(selected(parent));
    drop();
    parent.remove();
    [parent, drop] = shown(mark);
  }
  return [...found, selected(parent)];
}"""
"""The marker drawn four times, as Streamlit does where a tab connects again: of one text, of it again, of another."""


def drag(page: Page, text: str, quote: str, *, right_to_left: bool = False) -> None:
    """Select a quote with the mouse."""
    start = text.index(quote)
    units = [len(part.encode("utf-16-le")) // 2 for part in (text[:start], text[: start + len(quote)])]
    the_text(page).scroll_into_view_if_needed()
    box = page.evaluate(RECTANGLE, units)
    first, last = (box["right"], box["left"]) if right_to_left else (box["left"], box["right"])
    middle = (box["top"] + box["bottom"]) / 2
    inward = -0.5 if right_to_left else 0.5
    page.mouse.move(first + inward, middle)
    page.mouse.down()
    page.mouse.move((first + last) / 2, middle, steps=3)
    page.mouse.move(last - inward, middle, steps=3)
    page.mouse.up()


def mark_by_mouse(page: Page, severity: str, category: str) -> None:
    page.locator(".assay-marker-bar").get_by_role("button", name=severity).click()
    page.get_by_label("Category of the error").select_option(category)
    page.get_by_role("button", name="Mark", exact=True).click()
    saved(page)


def quotes(store: Store, study_id: int, text: str) -> list[tuple[str, str, str]]:
    spans = given(store, study_id)[1].spans
    return [(text[span.start : span.end], span.severity, span.category) for span in spans]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "language", "first", "second"),
    [
        (LATIN, "en", "👩‍👩‍👧 families", "cafe\u0301"),
        (ARABIC, "ar", "الطالب", "الصباح"),
        (JAPANESE, "ja", "窓のそば", "静か"),
    ],
    ids=["Latin", "Arabic", "Japanese"],
)
def test_what_is_marked_by_mouse_is_what_is_stored(
    app: AppServer,
    app_store: Store,
    new_page: NewPage,
    text: str,
    language: str,
    first: str,
    second: str,
) -> None:
    study_id, link = rating_study(app_store, app.url, texts({"What was asked": [text]}, language))
    page = new_page()
    page.goto(link)
    on_text(page, 1)
    rtl = language == "ar"
    drag(page, text, second, right_to_left=rtl)
    mark_by_mouse(page, "major", "accuracy/mistranslation")
    drag(page, text, first, right_to_left=rtl)
    mark_by_mouse(page, "minor", "fluency/grammar")
    assert quotes(app_store, study_id, text) == [
        (first, "minor", "fluency/grammar"),
        (second, "major", "accuracy/mistranslation"),
    ]
    assert the_text(page).inner_text() == text
    page.reload()
    on_text(page, 1)
    shown = page.get_by_role("list", name="Marked errors").get_by_role("button", name="Show error")
    expect(shown).to_have_text([first, second])
    shown.nth(1).click()
    page.locator(".assay-marker-bar").get_by_role("button", name="critical").click()
    saved(page)
    page.get_by_role("button", name="Delete error 1").click()
    saved(page)
    assert quotes(app_store, study_id, text) == [(second, "critical", "accuracy/mistranslation")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "language", "before", "quote"),
    [
        (LATIN, "en", 4, "👩‍👩‍👧 fam"),
        (ARABIC, "ar", 4, "الطالب"),
        (JAPANESE, "ja", 2, "窓のそば"),
    ],
    ids=["Latin", "Arabic", "Japanese"],
)
def test_marking_by_keyboard_alone(
    app: AppServer,
    app_store: Store,
    new_page: NewPage,
    text: str,
    language: str,
    before: int,
    quote: str,
) -> None:
    """From the top of the page with Tab; the arrows follow the direction of the script."""
    study_id, link = rating_study(app_store, app.url, texts({"What was asked": [text]}, language))
    page = new_page()
    page.goto(link)
    on_text(page, 1)
    keys = page.keyboard
    for _ in range(30):
        keys.press("Tab")
        if page.evaluate(
            "document.activeElement === [...document.querySelectorAll('.assay-marker-text')].at(-1)"
        ):
            break
    onwards = "ArrowLeft" if language == "ar" else "ArrowRight"
    keys.press("Home")
    for _ in range(before):
        keys.press(onwards)
    width = len(quote) - (4 if quote.startswith("👩") else 0)  # a family is one character of five code points
    for _ in range(width):
        keys.press(f"Shift+{onwards}")
    keys.press("2")
    keys.type("omis")
    keys.press("Enter")
    saved(page)
    assert quotes(app_store, study_id, text) == [(quote, "major", "accuracy/omission")]
    keys.press("x")  # the text is nobody's to write in
    keys.press(onwards.replace("Left", "X").replace("Right", "Left").replace("X", "Right"))
    keys.press("Enter")  # opens the mark at the caret
    keys.press("3")
    saved(page)
    assert quotes(app_store, study_id, text) == [(quote, "critical", "accuracy/omission")]
    assert the_text(page).inner_text() == text
    keys.press("Delete")
    expect(page.locator(".assay-marker-state")).to_have_text("Nothing marked yet")
    assert given(app_store, study_id)[1].spans == ()


@pytest.mark.slow
def test_marks_overlap_snap_to_words_and_survive_a_restart(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    text = "The quick brown fox jumps over the lazy dog."
    study_id, link = rating_study(app_store, app.url, texts({"Ask": [text]}))
    page = new_page()
    page.goto(link)
    on_text(page, 1)
    drag(page, text, "quick brown")
    mark_by_mouse(page, "minor", "other")
    drag(page, text, "brown fox")
    mark_by_mouse(page, "critical", "accuracy/addition")
    page.get_by_label("Whole words").check()
    drag(page, text, "az")
    app.kill()
    app.start()
    page.wait_for_timeout(3000)  # the tab reconnects by itself
    mark_by_mouse(page, "major", "fluency/spelling")
    assert [text[one.start : one.end] for one in given(app_store, study_id)[1].spans] == [
        "quick brown",
        "brown fox",
        "lazy",
    ]
    # Both lines are there under "brown", at heights of their own.
    under = page.locator(".assay-marker-text").last.locator(
        "xpath=.//span/span[text()='brown']/ancestor-or-self::span"
    )
    heights = under.evaluate_all("all => all.map(one => one.style.paddingBottom)")
    assert len(set(heights)) == 2


def test_what_is_selected_outlives_a_marker_that_is_drawn_anew(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    """Of the same text; nothing of it is shown on another, and nothing comes back later."""
    _, link = rating_study(app_store, app.url, texts({"Ask": ["The quick fox."]}))
    page = new_page()
    page.goto(link)
    on_text(page, 1)
    nothing = "Select words in the text to mark an error."
    found = page.evaluate(DRAWN_ANEW, ["The quick fox.", ["major", "minor"]])
    assert found == ["Selected: quick", "Selected: quick", nothing, nothing]


@pytest.mark.slow
def test_another_windows_marks_are_not_overwritten(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    text = "The quick brown fox."
    study_id, link = rating_study(app_store, app.url, texts({"Ask": [text]}))
    first = new_page()
    first.goto(link)
    on_text(first, 1)
    second = first.context.new_page()
    second.goto(link)
    on_text(second, 1)
    drag(second, text, "quick")
    mark_by_mouse(second, "minor", "other")
    first.bring_to_front()
    drag(first, text, "fox")
    first.locator(".assay-marker-bar").get_by_role("button", name="major").click()
    first.get_by_label("Category of the error").select_option("other")
    first.get_by_role("button", name="Mark", exact=True).click()
    expect(on_screen(first).get_by_text("changed in another window")).to_be_visible()
    settled(first)
    assert given(app_store, study_id)[1].spans == (ErrorSpan(4, 9, "minor", "other"),)
    drag(first, text, "fox")
    mark_by_mouse(first, "major", "other")
    assert len(given(app_store, study_id)[1].spans) == 2
