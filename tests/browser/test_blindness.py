"""Nothing that tells the source of an answer reaches a rater's browser: every byte of it is searched.

What the texts themselves give away is another matter (the leakage audit).
"""

import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from helpers.processes.app_server import AppServer, on_pair, on_screen, settled, through_onboarding
from helpers.processes.ports import free_port
from helpers.texts.conversations import conversations
from helpers.texts.factories import LEVELS, dataset
from helpers.texts.set_texts import design_of, written_so
from playwright.sync_api import Browser, Page, expect
from wire import Wire

from core.schema.rendering import RENDERINGS, Rendering
from core.schema.study import NO_ANSWER, NO_LEVEL, Dataset, Design, Item, Output
from core.store import open_store
from core.store.answers import assignments_of
from core.store.studies import write_setting
from core.study.lifecycle import import_study, move
from core.study.raters import add_raters

ONE, TWO = "MARKEROFONE", "MARKEROFTWO"
SEED = 7719354821730055
GUESSES = 3
FILE = "FILEMARKER.json"
SECRETS = [
    ONE,
    TWO,
    "ZZRENAMED",
    "AARENAMED",
    str(SEED),
    "FILEMARKER",
    "ITEMMARKER",
    "candidate",
    "comparator",
]


@dataclass(frozen=True)
class Case:
    """A study that a rater goes through."""

    asks: str = "levels"
    rendering: Rendering = "plain"

    def __str__(self) -> str:
        return f"{self.asks} {self.rendering}"

    @property
    def total(self) -> int:
        """Entries of the rater's list: 15 pairs and one hidden repeat, or the five pairs of one question."""
        return 16 if self.rendering == "plain" else 5


CASES = (Case(), Case("preference"))
SET = tuple(Case(rendering=rendering) for rendering in RENDERINGS if rendering != "plain")
"""Studies whose texts are set."""


def marked(case: Case) -> Dataset:
    """Pairs whose ids, sources and file name are markers; texts tell nothing. Those without levels end conversations."""
    sizes: dict[str, tuple[int, Sequence[str]]] = {"levels": (3, LEVELS), "preference": (15, (NO_LEVEL,))}
    n_items, levels = sizes[case.asks] if case.rendering == "plain" else (1, LEVELS)
    data = dataset(n_items, levels, sources=(ONE, TWO), file_name=FILE)
    items = tuple(replace(item, item_id=f"ITEMMARKER{n}") for n, item in enumerate(data.items))
    ids = {old.item_id: new.item_id for old, new in zip(data.items, items, strict=True)}
    data = written_so(data, case.rendering)
    outputs = [replace(output, item_id=ids[output.item_id]) for output in data.outputs]
    # An answer that its system did not give is shown in words that are the same on both sides.
    outputs[-1] = replace(outputs[-1], text=NO_ANSWER)
    data = replace(data, items=_worded(items), outputs=tuple(outputs))
    return conversations(data) if data.plain else data


def _worded(items: tuple[Item, ...]) -> tuple[Item, ...]:
    return tuple(
        replace(item, question=f"Question {n}?", reference=f"Ref {n}.") for n, item in enumerate(items)
    )


def renamed(data: Dataset, names: dict[str, str]) -> Dataset:
    outputs = tuple(replace(output, source=names[output.source]) for output in data.outputs)
    return replace(data, outputs=outputs, sources=(names[data.sources[0]], names[data.sources[1]]))


def in_other_order(data: Dataset) -> Dataset:
    """The same texts, the two sources listed the other way round, another file."""
    by_source: list[Output] = sorted(data.outputs, key=lambda o: o.source, reverse=True)
    return replace(
        data, outputs=tuple(by_source), sources=(data.sources[1], data.sources[0]), sha256="1" * 64
    )


def rate_everything(
    browser: Browser, tmp: Path, case: Case, data: Dataset, candidate: str, port: int
) -> tuple[Wire, int]:
    """A rater's whole way through a study; what went over the wire, and the number of pairs."""
    database = tmp / "assay.db"
    for old in tmp.glob("assay.db*"):
        if not old.name.endswith(".key"):  # the same key gives the same tokens
            old.unlink()
    comparator = next(source for source in data.sources if source != candidate)
    with open_store(database) as store:
        write_setting(store, "database_id", "the same")
        design = Design(
            candidate=candidate,
            comparator=comparator,
            seed=SEED,
            blinding_pairs=GUESSES,
            early_looks=data.plain,  # questions in the common order, in one of the two tasks
            **design_of(case.rendering),
        )
        study = import_study(store, "STUDYMARKER", data, design)
        (link,) = add_raters(store, study, ["ann"])
        move(store, study, "open")
        total = len(assignments_of(store, study.study_id, "ann"))
    server = AppServer(database, port).start()
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        wire = Wire().watch(page)
        _go_through(page, link.url(server.url), total, wire)
    finally:
        context.close()
        server.stop()
    return wire, total


def _go_through(page: Page, link: str, total: int, wire: Wire) -> None:
    through_onboarding(page, link)
    for number in range(1, total + 1):
        on_pair(page, number)
        if number == 2:
            modes = ["left against right", "off", "numbers and names"]
            for mode in modes if on_screen(page).get_by_text(modes[-1], exact=True).count() else modes[:2]:
                wire.after(page, on_screen(page).get_by_text(mode, exact=True).click)
                wire.add_document(page)
            wire.after(page, lambda: page.keyboard.press("m"))
            wire.add_document(page)
        if number == 3:
            page.get_by_role("button", name="Skip, ask me later").click()
            continue
        wire.add_document(page)
        page.keyboard.press(str(number % 4 + 1))
    on_pair(page, 3)
    page.keyboard.press("1")
    expect(page.get_by_role("button", name="Lock my answers")).to_be_visible()
    settled(page)
    wire.add_document(page)
    wire.after(page, page.get_by_role("button", name="Lock my answers").click)
    for number in range(1, GUESSES + 1):
        expect(page.locator(".assay-status", has_text=f"{number} of {GUESSES}: ")).to_be_visible()
        settled(page)
        page.wait_for_timeout(400)
        wire.add_document(page)
        wire.after(page, lambda number=number: page.keyboard.press(str(number % 3 + 1)))  # type: ignore[misc]
    expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible()
    settled(page)
    wire.add_document(page)


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


NAMES = {ONE: "ZZRENAMED", TWO: "AARENAMED"}
RENAMED, SWAPPED, AT_ONCE = (
    "sources renamed, in another file order, with another hash",
    "roles swapped",
    "all of it at once",
)
VARIANTS: dict[str, Callable[[Dataset], tuple[Dataset, str]]] = {
    RENAMED: lambda d: (renamed(in_other_order(d), NAMES), NAMES[ONE]),
    SWAPPED: lambda d: (d, TWO),
    AT_ONCE: lambda d: (renamed(in_other_order(d), NAMES), NAMES[TWO]),
}


@dataclass(frozen=True)
class Seen:
    """What a rater's browser gets of a study."""

    case: Case
    wire: Wire
    total: int
    folder: Path
    """Its key gives the same links again."""


Visit = Callable[[Case], Seen]


@pytest.fixture(scope="module")
def visit(browser: Browser, tmp_path_factory: pytest.TempPathFactory, port: int) -> Visit:
    """What a rater's browser gets of the study as it is, gone through once."""

    @cache
    def of(case: Case) -> Seen:
        folder = tmp_path_factory.mktemp("study")
        return Seen(case, *rate_everything(browser, folder, case, marked(case), ONE, port), folder)

    return of


@pytest.mark.parametrize(
    "case", [*CASES, *(pytest.param(case, marks=pytest.mark.slow) for case in SET)], ids=str
)
def test_nothing_on_the_wire_names_a_source(visit: Visit, port: int, case: Case) -> None:
    seen = visit(case)
    assert seen.total == case.total
    haystack = seen.wire.everything()
    assert b"Alpha text of" in haystack, "the answers themselves must be in what was captured"
    for secret in [*SECRETS, "STUDYMARKER"]:
        assert secret.encode() not in haystack, f"{secret} reached the browser"
    outside = [
        url for url in seen.wire.urls if f"127.0.0.1:{port}" not in url and not url.startswith("data:")
    ]
    assert outside == [], "a page asks another host"


@pytest.mark.slow  # that no frame names a source is said at every run
@pytest.mark.parametrize(
    ("case", "name"), [*product(CASES, (RENAMED, SWAPPED)), *((case, AT_ONCE) for case in SET)], ids=str
)
def test_every_frame_is_the_same_whatever_the_sources_are_called(
    browser: Browser, visit: Visit, port: int, case: Case, name: str
) -> None:
    seen = visit(case)
    key = (seen.folder / "assay.db.key").read_text()
    changed, candidate = VARIANTS[name](marked(case))
    other, _ = rate_everything(browser, seen.folder, case, changed, candidate, port)
    assert (seen.folder / "assay.db.key").read_text() == key
    assert other.documents == seen.wire.documents, "the DOM differs"
    assert other.received_frames() == seen.wire.received_frames(), "a frame differs"
    assert other.in_order("text of") == seen.wire.in_order("text of"), "answers come in another order"
    assert other.sent_frames() == seen.wire.sent_frames(), "the browser sends something else"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "studies",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("annotate", "check", "welcome", "app")),
    ],
)
def test_a_direct_address_on_a_fresh_server_shows_no_page_to_a_stranger(
    app: AppServer, new_page: Callable[[], Page], path: str
) -> None:
    page = new_page()
    wire = Wire().watch(page)
    page.goto(f"{app.url}/{path}")
    expect(on_screen(page).get_by_text("Open the personal link you were sent.")).to_be_visible(timeout=20_000)
    settled(page)
    frames = b"".join(wire.received).lower()
    assert b"new study" not in frames
    assert b"/check" not in frames
    assert b"pages/" not in frames


def test_files_of_the_checkout_are_not_served(app: AppServer) -> None:
    """Any unknown address gets the same empty page."""

    def served(path: str) -> bytes:
        with urllib.request.urlopen(f"{app.url}/{path}") as answer:
            return bytes(answer.read())

    empty = served("no-such-page")
    for path in ("app.py", "pages/studies/__init__.py", "data/demo/answers.csv", "var/assay.db"):
        assert served(path) == empty, path


@pytest.mark.parametrize(
    "path", ["studies", pytest.param("studies?study=1&tab=design", marks=pytest.mark.slow)]
)
def test_a_rater_cannot_open_an_admin_page(
    app: AppServer, database: Path, new_page: Callable[[], Page], path: str
) -> None:
    with open_store(database) as store:
        study = import_study(store, "s", dataset(2), Design(candidate="ai", comparator="human"))
        (link,) = add_raters(store, study, ["ann"])
    page = new_page()
    wire = Wire().watch(page)
    page.goto(link.url(app.url))
    page.goto(f"{app.url}/{path}")
    expect(on_screen(page).get_by_text("This study has not started yet.")).to_be_visible(timeout=20_000)
    settled(page)
    assert b"human" not in b"".join(wire.received)
