"""Scores, correlations and intervals of core as JSON, for one environment to compare with another's.

`python tests/metrics/neural/core_numbers.py`, with any Python that has requirements-core.txt.
"""

import json
import math
import sys
from dataclasses import asdict
from typing import Any

import numpy as np

from core.metrics.lexical.scorer import open_lexical
from core.metrics.registry import find_metrics
from core.metrics.scorer import ScoringPair
from core.stats.correlation.groups import mean_within, partial
from core.stats.correlation.intervals import correlate
from core.stats.resampling import cluster_bootstrap, mean_of_sums

SENTENCES = (
    "The bridge over the river was opened in 1900 by the mayor.",
    "Most přes řeku otevřel v roce 1900 starosta města.",
    "Міст через річку відкрив 1900 року міський голова.",
    "橋は1900年に市長によって開通した。",
)
ITEMS, LEVELS = 12, 6


def pairs() -> list[ScoringPair]:
    """Items by levels: the higher the level, the more words are another's."""
    rng = np.random.default_rng(3)
    made = []
    for item in range(ITEMS):
        reference = f"{SENTENCES[item % 4]} {SENTENCES[(item + 1) % 4]}".split()
        for level in range(LEVELS):
            places = rng.choice(len(reference), size=min(level * 2, len(reference)), replace=False)
            text = [f"x{word}" if place in places else word for place, word in enumerate(reference)]
            made.append(ScoringPair(" ".join(text), " ".join(reference)))
    return made


def main() -> dict[str, Any]:
    scorer = open_lexical(find_metrics(["lexical"]), synonyms="none")
    rows = scorer.score(pairs())
    names = [metric.name for metric in scorer.metrics]
    scores = np.array([[math.nan if score.value is None else score.value for score in row] for row in rows])
    worse = -np.tile(np.arange(LEVELS, dtype=float), ITEMS)
    items = np.repeat(np.arange(ITEMS), LEVELS)
    halves = np.where(items % 2 == 0, "a", "b")
    found: dict[str, Any] = {"scores": dict(zip(names, scores.T.tolist(), strict=True))}
    for name, column in zip(names, scores.T, strict=True):
        for method in ("pearson", "spearman", "kendall"):
            found[f"{name} {method}"] = [
                asdict(correlate(column, worse, method, clusters=items, n_resamples=300, rng=5)),
                asdict(mean_within(column, worse, items, method, n_resamples=300, rng=5)),
                asdict(partial(column, worse, halves, method, n_resamples=300, rng=5)),
            ]
    ones = np.column_stack([scores[:, 0], np.ones(len(scores))])
    found["bootstrap"] = asdict(cluster_bootstrap(ones, items, mean_of_sums, n_resamples=300, rng=5))
    return {"numpy": np.__version__, "torch": "torch" in sys.modules, "found": found}


if __name__ == "__main__":
    print(json.dumps(main()))
