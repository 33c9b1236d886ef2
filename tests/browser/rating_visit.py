"""A rater at work in a real browser: what several files of tests begin with."""

from collections.abc import Callable

from helpers.processes.app_server import AppServer, on_pair, through_onboarding
from helpers.texts.factories import dataset
from helpers.texts.set_texts import design_of, written_so
from playwright.sync_api import Page

from core.schema.rendering import Rendering
from core.schema.study import Design
from core.store import Store
from core.store.answers import answers_of, assignments_of
from core.study.lifecycle import import_study, move
from core.study.raters import add_raters

KEYS = {"left": "1", "right": "2", "both_good": "3", "both_bad": "4"}
LABELS = {"left": "Left", "right": "Right", "both_good": "Both good", "both_bad": "Both bad"}
NewPage = Callable[[], Page]


def open_study(
    store: Store, app_url: str, *, n_items: int = 4, rendering: Rendering = "plain"
) -> tuple[int, str]:
    """A study of n_items x 5 pairs without repeats, open, with one rater: (study number, link).

    rendering: how answers are written and shown.
    """
    data = written_so(dataset(n_items), rendering)
    roles = {"candidate": data.sources[0], "comparator": data.sources[1]}
    design = Design(**roles, seed=7, repeat_share=0, **design_of(rendering))
    study = import_study(store, "browser", data, design)
    (link,) = add_raters(store, study, ["ann"])
    move(store, study, "open")
    return study.study_id, link.url(app_url)


def at_the_first_pair(
    app: AppServer, store: Store, new_page: NewPage, rendering: Rendering = "plain"
) -> tuple[int, Page]:
    """A rater who is through with guidelines and practice: (study number, page). rendering: as in open_study."""
    study_id, link = open_study(store, app.url, rendering=rendering)
    page = new_page()
    through_onboarding(page, link)
    on_pair(page, 1)
    return study_id, page


def given(store: Store, study_id: int) -> dict[int, str | None]:
    """Number on the rater's list -> choice in the database."""
    numbers = {(a.item_id, a.level): a.position for a in assignments_of(store, study_id, "ann")}
    return {numbers[a.item_id, a.level]: a.choice for a in answers_of(store, study_id)}


def press(page: Page, number: int, choice: str) -> None:
    on_pair(page, number)
    page.keyboard.press(KEYS[choice])


def click(page: Page, number: int, choice: str) -> None:
    on_pair(page, number)
    page.locator(".st-key-choices").get_by_role("button", name=LABELS[choice]).click()
