"""What stands in a judge's signature: all that changes a score, and nothing that does not."""

from dataclasses import replace
from typing import Any

import pytest
from core.judges.specs import judge_metrics

from core.judges.automqm.judge import AutoMqmSettings
from core.judges.claims.settings import ClaimsSettings
from core.judges.cross_examination.judge import CefSettings
from core.judges.direct import DirectSettings
from core.judges.kind import JudgeKind
from core.judges.quality.judge import QualitySettings
from core.judges.rubric import RubricSettings

CEF, CLAIMS, RUBRIC = CefSettings(), ClaimsSettings(), RubricSettings()
AUTOMQM, DIRECT, QUALITY = AutoMqmSettings(), DirectSettings(), QualitySettings()
SERVER = {"model": "tiny", "backend": "openai", "attempts": 3}
RULES = {"backend": "rules"}


def signatures(kind: JudgeKind, settings: Any, asked: dict[str, object]) -> list[str]:
    return [metric.signature for metric in judge_metrics(kind, "judge", settings, asked, ("H", "PC"))]


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
        ("automqm", AUTOMQM, SERVER, {"examples": "fixed"}, True),
        ("automqm", AUTOMQM, SERVER, {"n_examples": 3}, True),
        ("automqm", AUTOMQM, SERVER, {"filtered": True}, True),
        ("automqm", AUTOMQM, SERVER, {"only": ("A",)}, False),
        ("automqm", AUTOMQM, SERVER, {"occurrences": "first"}, False),
        ("automqm", AUTOMQM, RULES, {"occurrences": "first"}, True),
        ("automqm", AUTOMQM, RULES, {"temperature": 0.5}, False),
        ("automqm", AUTOMQM, RULES, {"seed": 1}, False),
        ("automqm", AUTOMQM, RULES, {"repeats": 3}, False),
        ("automqm", replace(AUTOMQM, examples="shuffled"), RULES, {"seed": 1}, True),
        ("automqm", replace(AUTOMQM, n_examples=3), RULES, {"seed": 1}, True),
        ("automqm", replace(AUTOMQM, examples="none"), SERVER, {"n_examples": 3}, False),
        ("direct", DIRECT, SERVER, {"dimension": "style"}, True),
        ("direct", DIRECT, SERVER, {"seed": 1}, True),
        ("direct", DIRECT, SERVER, {"only": ("A",)}, False),
        ("quality", QUALITY, SERVER, {"prompting": "compound"}, True),
        ("quality", QUALITY, SERVER, {"held_out": 0.5}, False),
        ("quality", replace(QUALITY, shots=1), SERVER, {"held_out": 0.5}, True),
    ],
)
def test_a_signature_changes_with_what_changes_a_score(
    kind: JudgeKind, settings: Any, asked: dict[str, object], changed: dict[str, object], another: bool
) -> None:
    before = signatures(kind, settings, asked)
    assert (signatures(kind, replace(settings, **changed), asked) != before) == another
    (name,) = changed
    assert all((f"|{name.replace('_', '-')}:" in signature) == another for signature in before)


def test_columns_end_in_the_dimensions_of_the_task() -> None:
    named = [m.name for m in judge_metrics("quality", "q", QUALITY, SERVER, ("H", "PC"))]
    assert named == ["q-H", "q-PC"]
    for kind, settings in (("automqm", AUTOMQM), ("direct", DIRECT)):
        (metric,) = judge_metrics(kind, "j", settings, SERVER, ("overall",))  # type: ignore[arg-type]
        assert (metric.name, metric.direction) == ("j", "higher")
    rated = replace(AUTOMQM, rater="Ida")
    assert all("|rater:Ida" in one for one in signatures("automqm", rated, SERVER))
