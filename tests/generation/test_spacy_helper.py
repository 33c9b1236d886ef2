"""A dependency parse in the spaCy environment, which no run needs to work in."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import InputError
from core.generation.factual.spans import find_spans
from core.generation.parse import Parsers
from core.runs.working.environments import missing_for, parsers

TEXT = "Maria left the room. Titan was found by Christiaan Huygens in 1655."
FOUND = [("the room", "dobj"), ("Christiaan Huygens", "pobj"), ("1655", "pobj")]


@pytest.fixture
def pretend(tmp_path: Path) -> Callable[[str], Path]:
    """An environment whose Python is a script."""

    def make(script: str) -> Path:
        python = tmp_path / "python"
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
        return python

    return make


def test_the_environment_is_found_and_parses(spacy_python: Path) -> None:
    with parsers() as found:
        spans, by = find_spans(TEXT, "en", parsers=found)
        assert [(span.text, span.kind) for span in spans] == FOUND
        assert by.startswith("spacy en_core_web_sm")
        assert find_spans("Es geschah 1902.", "de", parsers=found)[1] == "rules"
        with pytest.raises(InputError) as refused:
            found.find("en_none_such", "en")
        assert "en_none_such" in refused.value.what


def test_without_it_rules_find_them() -> None:
    assert missing_for("spacy") is not None
    with parsers() as found:
        assert find_spans(TEXT, "en", parsers=found)[1] == "rules"


@pytest.mark.parametrize("script", ["exit 3", "echo nonsense", "read line; echo"])
def test_a_broken_environment_is_no_reason_for_rules(pretend: Callable[[str], Path], script: str) -> None:
    with Parsers(pretend(script)) as found, pytest.raises(InputError) as refused:
        find_spans(TEXT, "en", parsers=found)
    assert "does not work" in refused.value.what


def test_one_that_cannot_be_started_says_so(tmp_path: Path) -> None:
    with Parsers(tmp_path) as found, pytest.raises(InputError) as refused:
        found.find("auto", "en")
    assert str(tmp_path) in refused.value.what


def test_a_helper_that_was_killed_stops_the_run_and_the_next_question_starts_another(
    spacy_python: Path,
) -> None:
    with Parsers(spacy_python) as found:
        parser = found.find("auto", "en")
        assert parser is not None
        assert found._process is not None
        os.kill(found._process.pid, signal.SIGKILL)
        with pytest.raises(InputError):
            parser.spans(TEXT)
        assert found.find("auto", "en") is not None


def test_a_helper_ends_with_whoever_started_it(spacy_python: Path) -> None:
    found = Parsers(spacy_python)
    found.find("auto", "en")
    process = found._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()  # as at the death of this process
    until = time.monotonic() + 10
    while process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    assert process.returncode == 0
    process.stdin = None
    found.close()


def test_words_of_any_script_come_back_in_their_places(spacy_python: Path) -> None:
    text = "The sign 😀 shows é and “Ångström” in 1902."
    with Parsers(spacy_python) as found:
        spans, _ = find_spans(text, "en", parsers=found)
    assert spans
    assert all(text[span.start : span.end] == span.text for span in spans)
    assert json.dumps([span.text for span in spans])
