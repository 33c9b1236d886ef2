"""Write a small test run with DeepEval's own serialiser; see README.md."""

import sys
from pathlib import Path

from capitals import CAPITALS, question
from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase


class Judged(BaseMetric):
    """A metric with the grades of the made-up judge."""

    _required_params = ()

    def __init__(self, name, scores, threshold):
        self.name, self.scores, self.threshold = name, scores, threshold
        self.async_mode = False
        self.evaluation_model = "grader"

    @property
    def __name__(self):
        return self.name

    def measure(self, test_case, *args, **kwargs):
        self.score = self.scores[test_case.name]
        self.reason = f"The answer {test_case.actual_output!r} was compared with the expected one."
        self.success = self.score >= self.threshold
        return self.score

    def is_successful(self):
        return self.success


grade = {"C": 1.0, "P": 0.5, "I": 0.0}
found = evaluate(
    test_cases=[
        LLMTestCase(
            name=name,
            input=question(country),
            actual_output=answer,
            expected_output=capital,
            metadata={"human": human, "language": "en"},
        )
        for name, country, capital, answer, _, human in CAPITALS
    ],
    metrics=[
        Judged("Correctness", {name: grade[given] for name, *_, given, _ in CAPITALS}, 0.5),
        Judged(
            "Brevity", {name: round(1 / len(answer.split()), 3) for name, _, _, answer, *_ in CAPITALS}, 0.3
        ),
    ],
    hyperparameters={"model": "atlas", "prompt": "short"},
    async_config=AsyncConfig(run_async=False),
    cache_config=CacheConfig(write_cache=False),
    display_config=DisplayConfig(
        show_indicator=False, print_results=False, results_folder=sys.argv[1], inspect_after_run=False
    ),
)
Path(sys.argv[1], "result.json").write_text(found.model_dump_json(by_alias=True))
