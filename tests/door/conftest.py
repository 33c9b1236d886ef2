"""One app a test file; every test brings raters of its own."""

from collections.abc import Iterator

import pytest
from helpers.processes.at_the_door import Door, open_door


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with open_door(tmp_path_factory.mktemp("door") / "assay.db") as opened:
        yield opened
