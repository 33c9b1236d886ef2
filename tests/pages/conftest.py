"""What the tests of pages share: the database that a page opens, and what the visitor's browser carries."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.pages.admin_session import admin_cookie
from streamlit.runtime.context import ContextProxy

from core.store import Store, open_store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The database that the page opens."""
    path = tmp_path / "assay.db"
    monkeypatch.setenv("ASSAY_DB", str(path))
    with open_store(path) as opened:
        yield opened


@pytest.fixture
def cookies(store: Store, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the visitor's browser carries, which AppTest has no way to say: at first the admin's cookie."""
    carried = admin_cookie(store)
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda _: carried))
    monkeypatch.setattr(ContextProxy, "ip_address", None)
    return carried
