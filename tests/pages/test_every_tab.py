"""Every tab of every page opens: in a filled workspace, in an empty one, at the first start, and for raters everywhere."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.pages.admin_session import admin_cookie
from helpers.pages.every_tab import APP, Walk, errors_logged, pages_registered
from helpers.pages.filled_workspace import Rater, fill, labels
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from core.runs.kinds import KINDS
from core.store import Store, open_store
from core.store.runs import list_runs
from core.study.lifecycle import load_demo_once
from pages.tabs.moved import OLD
from pages.widgets.visitor import PLACE, cookie_name

PAGES = APP.parent / "pages"


@dataclass(frozen=True)
class Workspace:
    """A database with something in it."""

    path: Path
    raters: tuple[Rater, ...]
    kinds: frozenset[str]
    """Of its runs."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    path = tmp_path_factory.mktemp("filled") / "assay.db"
    with open_store(path) as store:
        raters = fill(store)
        return Workspace(path, raters, frozenset(run.kind for run in list_runs(store)))


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the visitor's browser carries."""
    cookies: dict[str, str] = {}
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda _: cookies))
    monkeypatch.setattr(ContextProxy, "ip_address", None)
    return cookies


@pytest.fixture
def log() -> Iterator[list[str]]:
    with errors_logged() as lines:
        yield lines


def walked(log: list[str], *, choices: bool = True, **session: object) -> dict[str, Walk]:
    """Everything on every page, opened. session: what a visit begins with; choices: whether they are tried too."""
    found = {}
    for page, name in pages_registered().items():
        found[page] = Walk.on(page, name, log, session, choices=choices)
        found[page].all()
    return found


def failures(found: dict[str, Walk]) -> str:
    return "\n".join(problem for walk in found.values() for problem in walk.failed)


def names_tabs(page: str) -> bool:
    """Whether a module of the page calls something named tabs."""
    calls = (
        node.func
        for module in (PAGES / (page or "start")).rglob("*.py")
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.Call)
    )
    return any(getattr(one, "attr", getattr(one, "id", "")) == "tabs" for one in calls)


def as_admin(path: Path, carried: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DB", str(path))
    with open_store(path) as store:
        carried.update(admin_cookie(store))


def test_the_workspace_holds_a_run_of_every_kind(filled: Workspace) -> None:
    assert filled.kinds == set(KINDS)


@pytest.mark.parametrize(
    "choices", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["tabs", "choices"]
)
def test_every_tab_of_every_page_on_filled_data(
    choices: bool,
    filled: Workspace,
    carried: dict[str, str],
    log: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    as_admin(filled.path, carried, monkeypatch)
    found = walked(log, choices=choices, check_file=labels())
    assert not failures(found), failures(found)
    for old in OLD:
        if not old.having:
            del found[old.path]  # it leads to another page
    assert {page or "start" for page in found} == {
        one.name for one in PAGES.iterdir() if "def render(" in _text(one)
    } - {"annotate"}
    for page, walk in found.items():
        assert walk.opened == walk.offered, page
        assert bool(walk.offered) == names_tabs(page), page


def _text(folder: Path) -> str:
    module = folder / "__init__.py"
    return module.read_text("utf-8") if module.is_file() else ""


@pytest.mark.parametrize("demo", [False, True], ids=["empty", "first start"])
def test_every_tab_opens_before_anything_is_there(
    demo: bool, store: Store, carried: dict[str, str], log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if demo:
        load_demo_once(store)
    as_admin(store.path, carried, monkeypatch)
    found = walked(log, choices=False)
    assert not failures(found), failures(found)
    assert all(walk.n_screens for walk in found.values())


PLACES = ("", "guide", "try-1", "try-3", "1", "2", "list", "finish", "again-1", "end")


def test_every_screen_of_every_rater(
    filled: Workspace, carried: dict[str, str], log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DB", str(filled.path))
    with open_store(filled.path) as store:
        cookie = cookie_name(store, "rater")
    seen = set()
    problems = []
    for rater in filled.raters:
        carried.clear()
        carried[cookie] = rater.token
        walk = Walk(AppTest.from_file(str(APP), default_timeout=60), "annotate", log)
        for place in PLACES:
            walk.at.query_params[PLACE] = place
            walk.draw(rater.name, place)
            seen.add(walk.at.query_params[PLACE])
        problems += walk.failed
    assert not problems, "\n".join(problems)
    assert seen >= {*PLACES, "consent"} - {""}


def test_visitors_without_a_link_see_their_pages(
    store: Store, carried: dict[str, str], log: list[str]
) -> None:
    found = walked(log)
    assert not failures(found), failures(found)
    assert {"methods"} < {*found}
