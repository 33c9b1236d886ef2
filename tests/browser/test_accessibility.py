"""axe-core on everything a rater sees: light and dark, wide and on a phone; on the pages at the door; and the contrast
of every text on the owner's pages.
"""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, on_pair, on_screen, open_page, settled
from helpers.texts.factories import always, dataset, ended, study_in, vote
from playwright.sync_api import Browser, Page, expect

from core.access import make_link
from core.store import Store
from core.store.raters import update_rater
from core.study.lifecycle import set_wording

SIZES = {"wide": (1280, 900), "phone": (390, 844)}


def violations(page: Page) -> list[str]:
    """What axe finds, as rule, help and the elements concerned."""
    settled_or_still(page)
    found = Axe().run(page).response["violations"]
    return [f"{v['id']}: {v['help']}: {[node['html'][:120] for node in v['nodes']]}" for v in found]


# axe leaves a text undecided where anything is drawn over its background, as the line is under the tab that is open.
FAINT = """() => {
  const rgba = (css) => { const n = css.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const part = (v) => v <= 10.3 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
  const light = (c) => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]) + 0.05;
  const faint = [];
  for (const box of document.querySelectorAll('[role=tab], [data-testid=stMarkdownContainer] *')) {
    const own = [...box.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    const text = box.matches('[role=tab]') || own;
    if (!text || box.closest('[inert], [disabled]') || !box.checkVisibility({opacityProperty: true})) continue;
    const chain = [];
    for (let at = box; at; at = at.parentElement) chain.push(getComputedStyle(at));
    const ground = chain.toReversed().reduce((c, s) => over(rgba(s.backgroundColor), c), [255, 255, 255, 1]);
    const ink = rgba(chain[0].color);
    ink[3] *= chain.reduce((all, s) => all * s.opacity, 1);
    const [less, more] = [light(over(ink, ground)), light(ground)].sort((a, b) => a - b);
    const big = parseFloat(chain[0].fontSize) >= 24;
    if (more / less < (big ? 3 : 4.5)) faint.push(`${(more / less).toFixed(2)}: ${box.textContent.slice(0, 60)}`);
  }
  return faint;
}"""


def settled_or_still(page: Page) -> None:
    if page.locator("[data-testid=stApp]").count():
        settled(page)
    page.wait_for_timeout(300)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "size"),
    [
        ("light", "wide"),
        ("dark", "phone"),
    ],
)
def test_a_raters_way_has_no_violation(
    app: AppServer, app_store: Store, browser: Browser, scheme: str, size: str
) -> None:
    at_hand = study_in(app_store, dataset(3), raters=("ann",), repeat_share=0)
    set_wording(
        app_store, at_hand.study, "en", {"consent": "Your answers are kept. **You can stop** at any time."}
    )
    token = at_hand.tokens["ann"]
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    try:
        page = context.new_page()
        found: dict[str, list[str]] = {}

        def check(place: str) -> None:
            found[place] = violations(page) + page.evaluate(FAINT)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (
                f"{place} is wider than the window"
            )

        page.goto(f"{app.url}/r/{token}")
        expect(page.get_by_role("button", name="I agree")).to_be_visible(timeout=20_000)
        check("consent")
        page.get_by_role("button", name="I agree").click()
        expect(page.get_by_role("button", name="Start with three practice pairs")).to_be_visible()
        check("guidelines")
        page.get_by_role("button", name="Start with three practice pairs").click()
        expect(page.get_by_role("heading", name="Practice 1 of 3")).to_be_visible()
        settled(page)
        page.keyboard.press("3")
        expect(page.get_by_role("button", name="Next practice pair")).to_be_visible()
        check("practice")
        update_rater(app_store, at_hand.study_id, "ann", onboarding=9)
        page.goto(f"{app.url}/?at=2")
        on_pair(page, 2)
        check("pair")
        page.keyboard.press("1")
        on_pair(page, 3)
        on_screen(page).get_by_text("Comment, or report a broken pair").click()
        on_screen(page).get_by_text("left against right", exact=True).click()
        check("pair with comment")
        page.goto(f"{app.url}/?at=list")
        expect(page.get_by_role("heading", name="Your pairs")).to_be_visible(timeout=20_000)
        check("overview")
        vote(app_store, token, always("both_good"))
        page.goto(f"{app.url}/?at=finish")
        expect(page.get_by_role("button", name="Lock my answers")).to_be_visible(timeout=20_000)
        check("finish")
        page.get_by_role("button", name="Lock my answers").click()
        expect(page.locator(".assay-status", has_text="1 of 10: ")).to_be_visible()
        check("guess")
        for number in range(1, 11):
            expect(page.locator(".assay-status", has_text=f"{number} of 10: ")).to_be_visible()
            settled(page)
            page.wait_for_timeout(400)
            page.keyboard.press("3")
        expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible()
        check("end")
        assert {place: list_ for place, list_ in found.items() if list_} == {}
    finally:
        context.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_every_text_on_the_owners_pages_has_contrast(
    app: AppServer, app_store: Store, browser: Browser, scheme: str
) -> None:
    at_hand = study_in(app_store, dataset(3), raters=("ann", "ben"), repeat_share=0)
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    found: dict[str, list[str]] = {}
    try:
        page = context.new_page()
        sign_in(page, app_store, app.url)
        page.goto(app.url)
        page.get_by_role("heading", name="What do you want to know?").wait_for(timeout=20_000)
        for name in (
            "Start",
            "Studies",
            "Study",
            "Unblinded study",
            "Generate",
            "Metrics",
            "Judges",
            "Check",
            "Calibration",
            "Specialist",
            "Operation",
            "Methods",
        ):
            if (
                name == "Unblinded study"
            ):  # after Study, and without its tab Design, as the labels of a design that is frozen are faint
                for token in at_hand.tokens.values():
                    vote(app_store, token, always("left"))
                ended(app_store, at_hand.study_id)
            if "study" in name.lower():
                page.goto(f"{app.url}/studies?study={at_hand.study_id}")
                page.get_by_role("tab").first.wait_for(timeout=20_000)
                settled(page)
            elif name != "Start":
                open_page(page, name)
            if name == "Check":
                page.get_by_role("button", name="Try real ratings").click()
                on_screen(page).get_by_text("TRUSTED", exact=False).first.wait_for()
                settled(page)
            seen: set[str] = {"Design"} if name == "Unblinded study" else set()
            while True:
                tabs = [tab for tab in page.get_by_role("tab").all() if tab.is_visible()]
                left = [tab for tab in tabs if tab.inner_text() not in seen and tab.is_enabled()]
                if left:
                    seen.add(left[0].inner_text())
                    left[0].click()
                    settled(page)
                place = f"{name}: {list(seen)}"
                ran = Axe().run(page, options={"runOnly": ["color-contrast"]}).response["violations"]
                found[place] = [node["html"][:120] for rule in ran for node in rule["nodes"]]
                found[place] += page.evaluate(FAINT)
                if len(left) < 2:
                    break
        assert {place: list_ for place, list_ in found.items() if list_} == {}
    finally:
        context.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_at_the_door_have_no_violation(
    app: AppServer, app_store: Store, browser: Browser, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)  # type: ignore[arg-type]
    try:
        page = context.new_page()
        found = {}
        link = make_link(app_store)
        for address in ("/sign-in", "/sign-out", "/r/unknown", f"/admin/{link}", "/admin/unknown"):
            page.goto(app.url + address)
            found[address] = violations(page)
        page.goto(app.url)
        expect(on_screen(page).get_by_text("Open the personal link you were sent.")).to_be_visible(
            timeout=20_000
        )
        found["/"] = violations(page)
        assert {place: list_ for place, list_ in found.items() if list_} == {}
    finally:
        context.close()


def test_everything_can_be_reached_by_keyboard(
    app: AppServer, app_store: Store, new_page: Callable[[], Page]
) -> None:
    """From pair to lock without a mouse: focus moves through every control, keys 1 to 4 choose."""
    at_hand = study_in(app_store, dataset(2), raters=("ann",), repeat_share=0)
    update_rater(app_store, at_hand.study_id, "ann", onboarding=9)
    page = new_page()
    page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")
    on_pair(page, 1)
    seen = set()
    for _ in range(25):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.innerText").split("\n")[0].strip())
    assert {
        "Left",
        "Right",
        "Both good",
        "Both bad",
        "Skip, ask me later",
        "Next",
        "Overview and finish",
    } <= seen
    assert {"numbers and names", "left against right", "off"} & seen
