"""A judge of pairs on the small real model: a pair in both orders, and what is reported of it.

The model is too weak to judge. What this test sees is that the pair has a verdict in both orders or the reason why not, that
both texts tell the same of it, and that the report adds up.
"""

import json
from pathlib import Path

import pytest
from helpers.models.vllm_environment import run_core
from helpers.texts.judge_runs import settings

from core.judges.pairwise import PairwiseRecord
from core.results.judges.pairwise import judged_pairs, pairs_report
from core.runs.asked import Running
from core.runs.judging import judge_output
from core.runs.path import at_hand, create
from core.store import open_store

pytestmark = pytest.mark.slow
N = 1


def test_pairs_on_a_real_model(vllm_python: Path, real_model: Path, tmp_path: Path) -> None:
    rows = (
        {"item_id": f"q{item}", "system": system, "text": text, "source": "When was the mill built?"}
        for item in range(N)
        for system, text in (("a", f"It was built in {1900 + item}."), ("b", "Nobody knows."))
    )
    database = tmp_path / "pairs.db"
    chosen = settings(
        "pairwise",
        "",
        backend="vllm",
        model=str(real_model),
        attempts=1,
        max_model_len=4096,
        engine={"dtype": "float32", "max_num_batched_tokens": 512, "max_num_seqs": 8},
        largest_limit=200,
    )
    with open_store(database) as store:
        create(store, "".join(json.dumps(row) + "\n" for row in rows).encode(), "p.jsonl", chosen, Running())
    ended = run_core(vllm_python, "runs", "work", "1", "--db", str(database))
    assert ended.returncode == 0, ended.stderr[-3000:]
    with open_store(database) as store:
        output = judge_output(at_hand(store, 1))
        [asked] = store.rows("select count(*) as n from request")
    assert asked["n"] == 2 * N
    pairs = judged_pairs(output)
    assert len(pairs) == N
    mirrored = {"own": "other", "other": "own"}
    for pair in pairs:
        assert [trial.own_first for trial in pair.trials] == [True, False]
        assert all((trial.verdict is None) == bool(trial.reason) for trial in pair.trials)
        assert isinstance(pair.other.record, PairwiseRecord)
        theirs = {trial.order == "other-first": trial.verdict for trial in pair.other.record.trials}
        for trial in pair.trials:
            assert theirs[trial.own_first] == mirrored.get(trial.verdict or "", trial.verdict)
    found = pairs_report(output, n_resamples=100)
    whole = found.blocks[0]
    assert whole.n_pairs + sum(found.left_out.values()) == N
    assert sum(whole.verdicts.values()) == 2 * whole.n_pairs
    assert sum(whole.answers.values()) == whole.n_pairs
