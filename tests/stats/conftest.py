"""The votes of Factual's two raters, for tests marked `shared`."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

CODES = {"AI": 0, "Both are good": 1, "Both are bad": 2, "Expert": 3}


@dataclass(frozen=True)
class Study003:
    votes: np.ndarray
    questions: np.ndarray
    levels: np.ndarray

    def part(self, *levels: str) -> tuple[np.ndarray, np.ndarray]:
        chosen = np.isin(self.levels, levels)
        return self.votes[chosen], self.questions[chosen]


@pytest.fixture(scope="session")
def study_003(shared_data: Path) -> Study003:
    first, second = (
        json.loads((shared_data / f"results-evaluator-{rater}.json").read_text(encoding="utf-8"))
        for rater in (1, 2)
    )
    keys = [(question, level) for question, answers in first.items() for level in answers]
    return Study003(
        votes=np.array([[CODES[first[q][level]], CODES[second[q][level]]] for q, level in keys]),
        questions=np.array([int(q) for q, _ in keys]),
        levels=np.array([level for _, level in keys]),
    )
