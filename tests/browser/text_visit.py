"""A rater of texts at work in a real browser: what the tests of rating studies begin with."""

import time
from collections.abc import Callable, Mapping, Sequence

from helpers.processes.app_server import on_screen, settled
from playwright.sync_api import Locator, Page, expect

from core.formats.tasks import find_task
from core.schema.scores import PROBABILITY, OutputSet, ScorableOutput
from core.schema.study import Design, RatingAnswer, RatingTask
from core.store import Store
from core.store.answers import rating_assignments_of, ratings_of
from core.store.raters import update_rater
from core.study.lifecycle import import_rating_study, move
from core.study.raters import add_raters

NewPage = Callable[[], Page]
SYSTEMS = ("Zanzibar-MT", "Quokka-9")
"""Names that occur nowhere else: no byte of them may reach a rater."""
LEVEL, ITEM = "lvl-hidden", "item-hidden"
CHANCE, WHY = "0.3127460019", "near a hidden border"
"""Probability and reason with which every text was drawn for its study: they tell about a judge."""


def texts(said: Mapping[str, Sequence[str]], language: str = "en") -> OutputSet:
    """Source text -> its outputs, one a system in the order of SYSTEMS."""
    outputs = tuple(
        ScorableOutput(
            f"{ITEM}-{n}", system, text, None, source, LEVEL, language, {PROBABILITY: CHANCE, "why": WHY}
        )
        for n, (source, of) in enumerate(said.items())
        for system, text in zip(SYSTEMS, of, strict=False)
    )
    return OutputSet(outputs, "5" * 64, "secret-file.jsonl")


def rating_study(
    store: Store, app_url: str, outputs: OutputSet, task: str | RatingTask = "mqm", *, onboarded: bool = True
) -> tuple[int, str]:
    """An open rating study with one rater: (study number, link)."""
    asked = find_task(task) if isinstance(task, str) else task
    design = Design(candidate="", comparator="", seed=3, repeat_share=0)
    study, _ = import_rating_study(store, "ratings in a browser", outputs, asked, design)
    (link,) = add_raters(store, study, ["ann"])
    move(store, study, "open")
    if onboarded:
        update_rater(store, study.study_id, "ann", onboarding=1)
    return study.study_id, link.url(app_url)


def on_text(page: Page, number: int) -> None:
    """Wait until the text of that number is on the screen and may be answered."""
    expect(on_screen(page).get_by_text(f"Text {number} of ", exact=False).first).to_be_visible(timeout=20_000)
    expect(page.locator("h1", has_text=f"Text {number} of ")).to_be_visible()
    settled(page)
    page.wait_for_timeout(400)  # a press this soon after a text appears is taken for a double press


def given(store: Store, study_id: int, rater: str = "ann") -> dict[int, RatingAnswer]:
    """Number on the rater's list -> what the database holds."""
    numbers = {a.key: a.position for a in rating_assignments_of(store, study_id, rater)}
    return {numbers[a.key]: a for a in ratings_of(store, study_id, rater)}


def comes_to_hold(store: Store, study_id: int, number: int, scores: Mapping[str, float]) -> None:
    """The database has these scores for the text of that number, now or a little later: a busy server is no loss."""
    until = time.monotonic() + 20
    while (seen := given(store, study_id).get(number)) is None or seen.scores != scores:
        assert time.monotonic() < until, seen
        time.sleep(0.05)


def saved(page: Page) -> None:
    """Wait until the marker says that all is saved."""
    expect(page.locator(".assay-marker-state")).to_have_text("Saved")
    settled(page)


def the_text(page: Page) -> Locator:
    """The rated text; the source, where errors are marked in it too, stands before it."""
    return page.locator(".assay-marker-text").last
