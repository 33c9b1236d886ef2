"""The papers' data, as far as they are beside the checkout."""

import tarfile
from pathlib import Path

import pytest

from core.papers.declared import Data


@pytest.fixture(scope="session")
def papers_data(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Data:
    """All of them, the archive of WMT23 unpacked."""
    unpacked = tmp_path_factory.mktemp("wmt23-zh-en")
    with tarfile.open(shared_data / "reproduce" / "wmt23-zh-en.tgz") as archive:
        archive.extractall(unpacked, filter="data")
    return Data((shared_data, unpacked))
