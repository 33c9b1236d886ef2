"""Nothing in the browser of a rater of single texts depends on what the systems are called, or on which of them wrote which text."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.processes.app_server import AppServer, settled
from helpers.processes.ports import free_port
from playwright.sync_api import Browser, Page, expect
from text_visit import SYSTEMS, on_text, rating_study, saved, texts
from wire import Wire

from core.schema.scores import OutputSet
from core.schema.study import Dimension, RatingTask, SpanTask
from core.store import open_store
from core.store.answers import rating_assignments_of
from core.store.studies import write_setting

pytestmark = pytest.mark.slow

SAID = {f"Source {n}?": [f"A first text {n}.", f"Another text {n}."] for n in range(4)}
BOTH = RatingTask(
    "both",
    "Score and mark",
    "none",
    "none",
    "made for a test",
    dimensions=(
        Dimension("F", "Fluency", "Does it read well?", 0, 2, anchors=((0, "no"), (1, "partly"), (2, "yes"))),
    ),
    spans=SpanTask(("minor", "major"), ("accuracy/omission", "fluency/grammar")),
)
Change = Callable[[str], str]
VARIANTS: Mapping[str, Change] = {
    "systems swapped": {SYSTEMS[0]: SYSTEMS[1], SYSTEMS[1]: SYSTEMS[0]}.__getitem__,
    "systems renamed, in another order of the alphabet": {
        SYSTEMS[0]: "AARENAMED",
        SYSTEMS[1]: "ZZRENAMED",
    }.__getitem__,
}


def called(outputs: OutputSet, change: Change) -> OutputSet:
    """The same texts of systems with other names, from another file."""
    other = tuple(replace(one, system=change(one.system)) for one in outputs.outputs)
    return replace(outputs, outputs=other, sha256="7" * 64, file_name="other-file.jsonl")


def rate_everything(browser: Browser, folder: Path, outputs: OutputSet, port: int) -> tuple[Wire, int]:
    """A rater's whole way through a study; what went over the wire, and the number of texts."""
    database = folder / "assay.db"
    for old in folder.glob("assay.db*"):
        if not old.name.endswith(".key"):  # the same key gives the same tokens
            old.unlink()
    with open_store(database) as store:
        write_setting(store, "database_id", "the same")
        study_id, link = rating_study(store, f"http://127.0.0.1:{port}", outputs, BOTH, onboarded=False)
        total = len(rating_assignments_of(store, study_id, "ann"))
    server = AppServer(database, port).start()
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        wire = Wire().watch(page)
        _go_through(page, link, total, wire)
    finally:
        context.close()
        server.stop()
    return wire, total


def _go_through(page: Page, link: str, total: int, wire: Wire) -> None:
    page.goto(link)
    expect(page.get_by_role("button", name="Start")).to_be_visible(timeout=20_000)
    settled(page)
    wire.add_document(page)
    wire.after(page, page.get_by_role("button", name="Start").click)
    for number in range(1, total + 1):
        on_text(page, number)
        wire.add_document(page)
        wire.after(page, page.get_by_role("button", name=f"{number % 3}: ").click)
        page.get_by_label("No errors in this text").check()
        saved(page)
        wire.add_document(page)
        page.get_by_role("button", name="Save and go on").click()
    expect(page.get_by_role("heading", name="All texts are answered")).to_be_visible()
    settled(page)
    wire.add_document(page)
    wire.after(page, page.get_by_role("button", name="Lock my answers").click)
    expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible()
    settled(page)
    wire.add_document(page)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_frame_of_a_rating_study_is_the_same_whatever_the_systems_are_called(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    port = free_port()
    wire, total = rate_everything(browser, tmp_path, texts(SAID), port)
    key = (tmp_path / "assay.db.key").read_text()
    other, _ = rate_everything(browser, tmp_path, called(texts(SAID), VARIANTS[name]), port)
    assert (tmp_path / "assay.db.key").read_text() == key
    assert total == 8
    assert len(wire.received_frames()) > 100
    assert other.documents == wire.documents, "the DOM differs"
    assert other.received_frames() == wire.received_frames(), "a frame differs"
    assert other.in_order("text") == wire.in_order("text"), "texts come in another order"
    assert other.sent_frames() == wire.sent_frames(), "the browser sends something else"
