"""What tests of the store share."""

import pytest
import toy_step

from core.store import connection


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> str:
    """A step that a later version adds; its name."""
    monkeypatch.setitem(toy_step.STEPS, toy_step.NAME, toy_step.PARTS)
    monkeypatch.setattr(connection, "_good", set())  # the later version is another process
    return toy_step.NAME
