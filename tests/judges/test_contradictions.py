"""Claims of one text that contradict each other, by an entailment model: both directions must say so."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from helpers.texts.score_factories import unrated

from core.judges.claims import KIND, Claim, ClaimsRecord, ClaimsSettings, Contradiction, Entailed
from core.judges.kind import Bench
from core.judges.nli import NliVerifier

OLD, NEW, OTHER = "The bridge opened in 1900.", "The bridge opened in 1901.", "The mayor is 1901 days old."


class Scripted:
    """Entailment that knows the labels of a few pairs; all others are neutral."""

    signature = "scripted"

    def __init__(self, labels: dict[tuple[str, str], tuple[str, float]]) -> None:
        self._labels = labels
        self.asked: list[tuple[str, str]] = []

    async def judged(self, pairs: Sequence[tuple[str, str]]) -> list[Entailed]:
        self.asked += pairs
        return [Entailed(*self._labels.get(pair, ("neutral", 0.9))) for pair in pairs]


def test_a_contradiction_counts_in_both_directions_only() -> None:
    labels = {
        (OLD, NEW): ("contradiction", 0.91),
        (NEW, OLD): ("CONTRADICTION", 0.83),
        (NEW, OTHER): ("contradiction", 0.99),
    }
    entailment: Any = Scripted(labels)
    claims = [Claim(text) for text in (OLD, NEW, OTHER)]
    found = asyncio.run(NliVerifier(entailment).contradictions(claims))
    assert found == (Contradiction(OLD, NEW, "0.83"),)
    assert len(entailment.asked) == 6, "n (n - 1) comparisons"
    assert asyncio.run(NliVerifier(entailment).contradictions(claims[:1])) == ()


@pytest.mark.parametrize("wanted", [True, False])
def test_they_are_searched_if_the_settings_say_so_and_change_no_score(wanted: bool) -> None:
    entailment: Any = Scripted({(OLD, NEW): ("contradiction", 0.9), (NEW, OLD): ("contradiction", 0.9)})
    settings = ClaimsSettings(verifier="nli", contradictions=wanted)
    judge = KIND.open(settings, Bench(helper=entailment))(None)
    judged = asyncio.run(judge.judge(unrated(f"{OLD} {NEW}", "The bridge is old.")))
    assert isinstance(judged.record, ClaimsRecord)
    assert judged.record.contradictions == ((Contradiction(OLD, NEW, "0.90"),) if wanted else None)
    assert [score.value for score in judged.scores] == [0.0, 0.0, 0.0, 0.0]
    rows = [row for row in KIND.details(judged.record) if row["what"] == "contradiction"]
    assert len(rows) == wanted


def test_only_an_entailment_model_searches_them() -> None:
    assert "contradictions" in ClaimsSettings(verifier="rules").idle("rules")
    assert "contradictions" not in ClaimsSettings(verifier="nli").idle("rules")
    judge = KIND.open(ClaimsSettings(verifier="rules", contradictions=True), Bench())(None)
    record = asyncio.run(judge.judge(unrated(f"{OLD} {NEW}", OLD))).record
    assert isinstance(record, ClaimsRecord)
    assert record.contradictions is None
