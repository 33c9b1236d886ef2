"""Write a small file of samples with lm-evaluation-harness's own tracker; see README.md."""

import json
import sys
from pathlib import Path

import lm_eval
from capitals import CAPITALS, question
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

ANSWERS = {question(country): answer for _, country, _, answer, *_ in CAPITALS}
DATA = """dataset_path: json
dataset_kwargs: {data_files: {test: %s}}
test_split: test
doc_to_text: "{{question}}"
metadata: {version: 1}
"""
GENERATE = """task: capitals
output_type: generate_until
doc_to_target: "{{capital}}"
generation_kwargs: {until: ["\\n"]}
filter_list:
  - {name: strict, filter: [{function: take_first}]}
  - name: first-word
    filter: [{function: regex, regex_pattern: '(\\w+)'}, {function: take_first}]
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true, ignore_case: true}
  - {metric: bleu, aggregation: bleu, higher_is_better: true}
"""
CHOICE = """task: capitals_choice
output_type: multiple_choice
doc_to_target: 0
doc_to_choice: "{{[capital, answer]}}"
metric_list:
  - {metric: acc, aggregation: mean, higher_is_better: true}
  - {metric: acc_norm, aggregation: mean, higher_is_better: true}
"""


@register_model("atlas")
class Atlas(LM):
    """A model with the made-up answers."""

    def __init__(self, **_):
        super().__init__()

    @classmethod
    def create_from_arg_string(cls, *_):
        return cls()

    def generate_until(self, requests, disable_tqdm=False):
        return [ANSWERS[one.arguments[0]] for one in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        return [(-0.1 * len(one.arguments[1]), True) for one in requests]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


work = Path(sys.argv[1])
work.mkdir(parents=True, exist_ok=True)
data = work / "capitals.jsonl"
data.write_text(
    "".join(
        json.dumps(
            {"id": name, "question": question(country), "capital": capital, "answer": answer, "human": human}
        )
        + "\n"
        for name, country, capital, answer, _, human in CAPITALS
    )
)
for name, task in (("capitals", GENERATE), ("capitals_choice", CHOICE)):
    (work / f"{name}.yaml").write_text(task + DATA % data.resolve())
tracker = EvaluationTracker(output_path=str(work / "results"))
found = lm_eval.simple_evaluate(
    model="atlas",
    tasks=["capitals", "capitals_choice"],
    task_manager=TaskManager(include_path=str(work), include_defaults=False),
    log_samples=True,
    evaluation_tracker=tracker,
    bootstrap_iters=0,
)
samples = found.pop("samples")
tracker.save_results_aggregated(results=found, samples=samples)
for task, own in samples.items():
    tracker.save_results_samples(task_name=task, samples=own)
