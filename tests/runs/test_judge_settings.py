"""What a judge is called by itself, and what its user is told of repeats that show nothing."""

from typing import Any

import pytest
from judge_runs import RUNNING, settings, texts

from core.datasets.scorable import read_outputs
from core.judges.claims.settings import STAND_IN, ClaimsSettings
from core.judges.cross_examination.judge import CefSettings
from core.judges.kind import JudgeSettings
from core.judges.rubric import RubricSettings
from core.store import Store

URL = "http://127.0.0.1:1/v1"
ASKED: dict[str, Any] = {"backend": "openai", "model": "org/tiny"}


@pytest.mark.parametrize(
    ("kind", "fields", "name"),
    [
        ("rubric", {}, "rubric-tiny"),
        ("claims", {}, "claims-tiny"),
        ("claims", {"verifier": "nli"}, "claims-nli-tiny"),
        ("claims", {"verifier": "rules"}, "claims-rules-tiny"),
        (
            "claims",
            {"verifier": "rules", "backend": "rules", "model": ""},
            "claims-rules",
        ),
        (
            "claims",
            {"verifier": "nli", "backend": "rules", "model": ""},
            "claims-nli-rules",
        ),
        ("cef", {}, "cef-tiny"),
        ("cef", {"mode": "reference"}, "cef-reference-tiny"),
        ("cef", {"mode": "round-trip"}, "cef-round-trip-tiny"),
        ("cef", {"mode": "round-trip", "name": "mine"}, "mine"),
    ],
)
def test_the_modes_of_a_judge_have_names_of_their_own(kind: Any, fields: dict[str, Any], name: str) -> None:
    assert JudgeSettings(kind, **(ASKED | fields)).judge_name == name


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        (JudgeSettings("claims", verifier="rules"), True),
        (JudgeSettings("claims", **ASKED, verifier="rules"), True),
        (JudgeSettings("claims", verifier="nli"), True),
        (JudgeSettings("claims", **ASKED), False),
        (JudgeSettings("rubric", **ASKED), False),
    ],
)
def test_what_rules_say_is_told_to_be_a_stand_in(chosen: JudgeSettings, told: bool) -> None:
    outputs = read_outputs(texts(1), "t.jsonl")
    assert (STAND_IN in judging_notes(chosen, outputs)) == told


@pytest.mark.parametrize(
    ("backend", "nli", "who"), [("rules", "", "rules"), ("openai", "", "llm"), ("rules", "m", "nli")]
)
def test_who_verifies_unless_the_user_says_so(backend: Any, nli: str, who: str) -> None:
    assert usual_verifier(backend, nli) == who


@pytest.mark.parametrize(
    ("kind", "fields", "told"),
    [
        ("rubric", {"repeats": 3}, True),
        ("cef", {"mode": "reference", "repeats": 3}, True),
        ("cef", {"mode": "reference", "repeats": 3, "temperature": 0.7}, False),
        ("rubric", {}, False),
        ("claims", {}, False),
    ],
)
def test_repeats_at_temperature_0_are_told_before_they_cost_anything(
    kind: Any, fields: dict[str, Any], told: bool, store: Store
) -> None:
    _, notes = create_told(store, texts(1), "t.jsonl", settings(kind, URL, **fields), RUNNING)
    assert any("3 repeats at temperature 0" in note for note in notes) == told
