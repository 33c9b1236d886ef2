"""Runs of claims verified by a real cross-encoder, tiny and of random weights, in the environment that has its library."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.models.neural_environment import run_neural
from helpers.texts.judge_runs import RUNNING, judging_server, settings, texts

from core.judges.claims import ClaimsRecord
from core.runs.jobs import RunAtHand
from core.runs.judging import judge_output
from core.runs.path import create, resume
from core.runs.progress import progress_of
from core.store import open_store

pytestmark = pytest.mark.slow

N = 8


def worked_on(python: Path, run: RunAtHand) -> RunAtHand:
    ended = run_neural(python, "-m", "core", "runs", "work", str(run.run.run_id), "--db", str(run.store.path))
    assert ended.returncode == 0, ended.stderr[-3000:]
    return run.now()


def test_claims_of_rules_and_of_a_model_are_verified_by_the_cross_encoder(
    neural_python: Path, tiny_metric_models: Path, tmp_path: Path
) -> None:
    chosen = {"verifier": "nli", "nli_model": str(tiny_metric_models / "nli"), "device": "cpu"}
    signatures: dict[str, Any] = {}
    with judging_server() as server, open_store(tmp_path / "assay.db") as store:
        for backend, judge in (
            ("rules", settings("claims", "", backend="rules", **chosen)),
            ("openai", settings("claims", server.url, **chosen)),
        ):
            run, _ = create(store, texts(N), "t.jsonl", judge, RUNNING, limit=5)
            assert run.request.environment == "neural"
            assert worked_on(neural_python, run).run.state == "done"
            ended = worked_on(neural_python, resume(run, None, None))
            assert (ended.run.state, ended.run.message) == ("done", "")
            steps = {cost.step for cost in progress_of(store, run.run.run_id).costs}
            assert steps == (
                set() if backend == "rules" else {"claims of the response", "claims of the reference"}
            )
            output = judge_output(ended)
            assert len(output.texts) == 5 * N
            for text in output.texts:
                assert isinstance(text.record, ClaimsRecord)
                claims = [*(text.record.response or ()), *(text.record.reference or ())]
                assert claims
                assert all(claim.supported is not None and claim.why for claim in claims)
                assert all(score is not None for score in text.scores.values()), json.dumps(
                    dict(text.reasons)
                )
            signatures[backend] = output.metrics[0].signature
    for signature in signatures.values():
        assert "|verifier:nli" in signature
        assert "|sha256:" in signature, "which weights they were"
        assert "sentence-transformers:" in signature
        assert str(tiny_metric_models) not in signature, "where they lie changes no verdict"
        assert "device" not in signature
