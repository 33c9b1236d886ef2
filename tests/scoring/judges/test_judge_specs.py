"""What stands in a judge's signature: all that changes a score, and nothing that does not."""

from dataclasses import replace
from typing import Any

import pytest

from core.schema.runs import JudgeKind
from core.scoring.judges.settings import CefSettings, ClaimsSettings, RubricSettings
from core.scoring.judges.specs import judge_metrics

CEF, CLAIMS, RUBRIC = CefSettings(), ClaimsSettings(), RubricSettings()
SERVER = {"model": "tiny", "backend": "openai", "attempts": 3}
RULES = {"backend": "rules"}


def signatures(kind: JudgeKind, settings: Any, asked: dict[str, object]) -> list[str]:
    return [metric.signature for metric in judge_metrics(kind, "judge", settings, asked)]


@pytest.mark.parametrize(
    ("kind", "settings", "asked", "changed", "another"),
    [
        ("cef", CEF, SERVER, {"reask": True}, False),
        ("cef", CEF, SERVER, {"source_language": "German"}, False),
        ("cef", replace(CEF, mode="reference"), SERVER, {"source_language": "German"}, False),
        ("cef", replace(CEF, mode="round-trip"), SERVER, {"source_language": "German"}, True),
        ("cef", replace(CEF, mode="round-trip"), SERVER, {"reask": True}, False),
        ("cef", CEF, SERVER, {"seed": 1}, True),
        ("cef", CEF, SERVER, {"n_questions": 5}, True),
        ("claims", CLAIMS, SERVER, {"temperature": 0.5}, True),
        ("claims", CLAIMS, SERVER, {"coverage": "high"}, True),
        ("claims", CLAIMS, RULES, {"temperature": 0.5}, False),
        ("claims", CLAIMS, RULES, {"seed": 1}, False),
        ("claims", CLAIMS, RULES, {"coverage": "high"}, False),
        ("claims", CLAIMS, RULES, {"atomicity": "high"}, True),
        ("rubric", RUBRIC, SERVER, {"repeats": 2}, True),
    ],
)
def test_a_signature_changes_with_what_changes_a_score(
    kind: JudgeKind, settings: Any, asked: dict[str, object], changed: dict[str, object], another: bool
) -> None:
    before = signatures(kind, settings, asked)
    assert (signatures(kind, replace(settings, **changed), asked) != before) == another
    (name,) = changed
    assert all((f"|{name.replace('_', '-')}:" in signature) == another for signature in before)
