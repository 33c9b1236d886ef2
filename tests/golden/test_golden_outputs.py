"""Every command gives what it gave: numbers, JSON, CSV, records and what the database keeps of runs."""

from pathlib import Path

import pytest
from golden.outputs import Story, expected, shortened, told
from golden.stories import MODELS, ON_SERVER, ON_SHARED, reply
from helpers.processes.scripted_server import ScriptedServer


def compare(story: Story, folder: Path) -> None:
    found, kept = shortened(told(story, folder)), expected(story.name)
    assert list(found) == list(kept)
    assert [name for name in kept if found[name] != kept[name]] == []


@pytest.mark.parametrize("name", ON_SERVER)
def test_on_texts_of_our_own(name: str, tmp_path: Path) -> None:
    with ScriptedServer(reply, MODELS) as server:
        compare(ON_SERVER[name](server.url), tmp_path)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["published", pytest.param("wmt23", marks=pytest.mark.slow)])
def test_on_real_data(name: str, shared_data: Path, tmp_path: Path) -> None:
    compare(ON_SHARED[name](shared_data), tmp_path)
