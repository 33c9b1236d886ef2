"""How many of the spans of Factual's published report are found: the table in docs/generation.md."""

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

from core.formats.trutheval import FactualReport, read_report
from core.generation.factual.spans import BY_RULES
from core.generation.parse import Parsers

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.shared


@pytest.fixture
def report(shared_data: Path) -> FactualReport:
    path = shared_data / "perturbation-report.json"
    return read_report(path.read_bytes(), path.name)


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[str, float, float]]:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    found: Callable[..., tuple[str, float, float]] = importlib.import_module("spans").measure
    return found


def test_a_parse_finds_most(
    report: FactualReport, measure: Callable[..., tuple[str, float, float]], spacy_python: Path
) -> None:
    with Parsers(spacy_python) as parsers:
        by, *found = measure(report, "auto", parsers)
    assert by.startswith("spacy ")
    assert found == pytest.approx([0.882, 0.904], abs=0.0005)


@pytest.mark.parametrize(("for_rules", "expected"), [(False, [0.777, 0.783]), (True, [0.702, 0.382])])
def test_rules_find_some(
    report: FactualReport,
    measure: Callable[..., tuple[str, float, float]],
    for_rules: bool,
    expected: list[float],
) -> None:
    by, *found = measure(report, BY_RULES, Parsers(), for_rules=for_rules)
    assert by == BY_RULES
    assert found == pytest.approx(expected, abs=0.0005)
