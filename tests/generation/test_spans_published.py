"""How many of the spans of Factual's published report are found, whole and lower-cased, text by text: docs/generation.md."""

import json
from pathlib import Path

import pytest

from core.generation.factual.spans.find import BY_RULES, find_spans
from core.generation.factual.spans.helper import Parsers


def precision_and_recall(report: Path, parser: str, parsers: Parsers, *, for_rules: bool = False) -> tuple[float, float]:
    shared = n_found = n_published = 0
    for question in json.loads(report.read_bytes())["questions"]:
        spans, by = find_spans(
            question["answers"]["A0"], "en", parser, for_rules=for_rules, parsers=parsers
        )
        assert (by == BY_RULES) == (parser == BY_RULES)
        found = {span.text.lower() for span in spans}
        published = {text.lower() for text in question["raw_factual_data"]}
        shared, n_found, n_published = (
            shared + len(found & published),
            n_found + len(found),
            n_published + len(published),
        )
    assert n_published == 364
    return shared / n_found, shared / n_published


@pytest.mark.shared
def test_a_parse_finds_most_of_them(shared_data: Path, spacy_python: Path) -> None:
    with Parsers(spacy_python) as parsers:
        found = precision_and_recall(shared_data / "perturbation-report.json", "auto", parsers)
    assert found == pytest.approx((0.882, 0.904), abs=0.0005)


@pytest.mark.shared
@pytest.mark.parametrize(("for_rules", "expected"), [(False, (0.777, 0.783)), (True, (0.702, 0.382))])
def test_rules_find_some(shared_data: Path, for_rules: bool, expected: tuple[float, float]) -> None:
    report = shared_data / "perturbation-report.json"
    found = precision_and_recall(report, BY_RULES, Parsers(), for_rules=for_rules)
    assert found == pytest.approx(expected, abs=0.0005)
