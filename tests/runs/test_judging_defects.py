"""A judge with a defect: it costs the text that shows it, no other, and a text is never missing from the scores."""

import math

import pytest
from judge_runs import judging_server, run_to_the_end, settings, texts

from core.datasets.score_tables import read_scores
from core.errors import StorageError
from core.runs.kinds import files_of
from core.runs.progress import progress_of
from core.scoring.judges.judge import Judged
from core.scoring.judges.rubric import RubricJudge
from core.scoring.metrics.scorer import ScoringPair
from core.store import Store
from core.store.runs import item_states, list_runs

WHOLE = RubricJudge.judge


def breaks_with(problem: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """At one text: the second level of mill 1."""

    async def judge(self: RubricJudge, pair: ScoringPair) -> Judged:
        if "mill 1 near" in pair.text and "mill number 1 was built in 1501." not in pair.text:
            raise problem
        return await WHOLE(self, pair)

    monkeypatch.setattr(RubricJudge, "judge", judge)


def test_one_text_breaks_and_the_others_keep_their_scores(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    breaks_with(OverflowError("too large"), monkeypatch)
    with judging_server() as server:
        run = run_to_the_end(store, settings("rubric", server.url), texts(3, ("A0", "A1")))
    assert run.state == "done"
    assert item_states(store, run.run_id) == {0: "done", 1: "failed", 2: "done"}
    assert progress_of(store, run.run_id).failures == {("internal", "OverflowError"): 1}
    table = read_scores(files_of(store, run)["scores.csv"], "scores.csv")
    assert len(table.rows) == 6
    unscored = [at for at in range(6) if math.isnan(table.values[at, 0])]
    assert [(table.rows[at].item_id, table.rows[at].level) for at in unscored] == [("q1", "A1")]
    assert table.reasons == {(unscored[0], 0): "the judge broke on this text (OverflowError)"}
    printed = capsys.readouterr().err
    assert "OverflowError: too large" in printed
    assert "in judge" in printed, "where it broke"


def test_what_no_text_is_to_blame_for_stops_the_run(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks_with(StorageError("The disk is full."), monkeypatch)
    with judging_server() as server, pytest.raises(StorageError, match="disk is full"):
        run_to_the_end(store, settings("rubric", server.url), texts(3, ("A0", "A1")))
    (run,) = list_runs(store)
    assert (run.state, run.message) == ("stopped", "The disk is full.")
    assert 1 not in item_states(store, run.run_id)
