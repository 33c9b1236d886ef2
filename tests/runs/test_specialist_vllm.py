"""Whole runs of the judges that stand on ratings on real vLLM, with a tiny model of random weights.

Such a model writes nonsense in the form that guided decoding allows: what is seen is that every text has its score or a
reason, that what was guided to its end keeps to the task's severities and classes, and that calls are on the account.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.models.vllm_environment import VllmServer
from helpers.texts.judge_runs import ON_RATINGS, worked
from helpers.texts.slips import SYSTEMS, rated_texts
from helpers.texts.specialist_runs import specialist

from core.formats.tasks import find_task
from core.results.judges.spans import locating
from core.runs.asked import Running
from core.runs.judging import judge_output
from core.runs.kinds import KINDS
from core.runs.path import create, written
from core.runs.progress import progress_of
from core.runs.records import read_judge_folder
from core.store import Store

pytestmark = pytest.mark.slow

N_ITEMS = 50
OWN: dict[str, Any] = {
    "automqm": {"only": ("A",), "n_examples": 2},
    "direct": {},
    "quality": {"prompting": "compound", "shots": 1, "held_out": 0.1},
}
STEPS = {"automqm": {"mark errors"}, "direct": {"direct"}, "quality": {"quality"}}


@pytest.mark.parametrize("kind", ON_RATINGS)
def test_a_whole_run_over_the_server(
    kind: Any, vllm_server: VllmServer, store: Store, tmp_path: Path
) -> None:
    chosen = specialist(
        kind, vllm_server.url, model=vllm_server.model, attempts=1, largest_limit=1, **OWN[kind]
    )
    run, _ = create(store, rated_texts(N_ITEMS), "t.jsonl", chosen, Running(concurrency=64))
    worked(run)
    assert (run.run.state, run.run.message) == ("done", "")
    progress = progress_of(store, run.run.run_id)
    assert progress.n_done + progress.n_failed == N_ITEMS
    costs = {cost.step: cost for cost in progress.costs}
    assert set(costs) == STEPS[kind]
    assert all(cost.input_tokens and cost.output_tokens for cost in costs.values() if cost.calls)
    output = judge_output(run)
    assert len(output.texts) == N_ITEMS * (1 if kind == "automqm" else len(SYSTEMS))
    for text in output.texts:
        for metric in output.metrics:
            assert (text.scores[metric.name] is None) == (metric.name in text.reasons), text
    replies = guided_replies(store)
    assert replies
    assert any(score is not None for text in output.texts for score in text.scores.values())
    check_replies(kind, [json.loads(reply) for reply in replies])
    if kind == "automqm":
        assert locating(output).n_texts > 0
    for name, data in written(run).items():
        (tmp_path / name).write_bytes(data)
    assert read_judge_folder(tmp_path) == output


def guided_replies(store: Store) -> list[str]:
    """What the model said where it came to its end."""
    rows = store.rows(
        "select distinct reply.text from reply join run_call using (key) where reply.reason is null"
    )
    return [row["text"] for row in rows]


def check_replies(kind: Any, replies: list[Any]) -> None:
    """Nothing but what the task offers."""
    attachment = KINDS[kind].attachment
    assert attachment is not None
    task = find_task(attachment.usual)
    if kind == "automqm":
        assert task.spans is not None
        named = [error for reply in replies for error in reply["errors"]]
        assert {error["severity"] for error in named} <= set(task.spans.severities)
    elif kind == "direct":
        assert all(0 <= reply["score"] <= 100 for reply in replies)
    else:
        for dimension in task.dimensions:
            assert {reply["scores"][dimension.name]["score"] for reply in replies} <= set(dimension.classes)
