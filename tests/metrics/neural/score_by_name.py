"""Scores two pairs with models by name or path: `python score_by_name.py METRIC=MODEL ...` prints JSON."""

import json
import sys
import time

from core.errors import InputError
from core.metrics.neural.scorer import open_neural
from core.metrics.registry import metrics_of
from core.metrics.scorer import ScoringPair

PAIRS = [
    ScoringPair("The bridge was opened in 1901.", "The bridge opened in 1900.", "When was it opened?"),
    ScoringPair("Nobody knows.", "The river is 30 km long.", "How long is it?"),
]


def main(*asked: str) -> None:
    models = dict(each.split("=") for each in asked)
    started = time.perf_counter()
    try:
        scorer = open_neural(
            [spec for spec in metrics_of("neural") if spec.metric.name in models], models=models
        )
        scores = [[score.value for score in row] for row in scorer.score(PAIRS)]
        said = {"scores": scores, "signatures": [metric.signature for metric in scorer.metrics]}
    except InputError as problem:
        said = {"error": str(problem)}
    print(json.dumps({**said, "seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    main(*sys.argv[1:])
