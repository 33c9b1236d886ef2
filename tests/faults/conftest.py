"""One app a test file; every test brings a study of its own."""

from collections.abc import Iterator

import pytest
from helpers.processes.app_server import AppServer, running

from core.store import open_store


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    database = tmp_path_factory.mktemp("faults") / "assay.db"
    with open_store(database), running(database) as app:
        yield app
