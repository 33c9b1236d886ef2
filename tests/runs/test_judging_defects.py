"""A judge with a defect: it costs the text that shows it, no other, and a text is never missing from the scores."""

import math
from typing import Any

import pytest
from helpers.texts.judge_runs import RUNNING, judging_server, run_to_the_end, settings, texts, worked

from core.errors import StorageError
from core.formats.registry import read_scores
from core.judges.alignment import Aligner, MarkedError, MarkedText, Mismatch
from core.judges.answers import QuestionSet
from core.judges.kind import Judged
from core.judges.questions import Answerer, CrossQuestion
from core.judges.rubric import RubricJudge
from core.runs.judging import judge_output, pieces_done
from core.runs.path import create, written
from core.runs.progress import progress_of
from core.runs.records import write_pieces
from core.schema.scores import RatedText, ScoredRow
from core.store import Store
from core.store.kept import texts_come_to
from core.store.runs import item_states, list_runs

WHOLE = RubricJudge.judge


def breaks_with(problem: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """At one text: the second level of mill 1."""

    async def judge(self: RubricJudge, text: RatedText) -> Judged:
        said = text.output.text
        if "mill 1 near" in said and "mill number 1 was built in 1501." not in said:
            raise problem
        return await WHOLE(self, text)

    monkeypatch.setattr(RubricJudge, "judge", judge)


def test_one_text_breaks_and_the_others_keep_their_scores(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    breaks_with(OverflowError("too large"), monkeypatch)
    with judging_server() as server:
        run = run_to_the_end(store, settings("rubric", server.url), texts(3, ("A0", "A1")))
    assert run.run.state == "done"
    assert item_states(store, run.run.run_id) == {0: "done", 1: "failed", 2: "done"}
    assert progress_of(store, run.run.run_id).failures == {("internal", "OverflowError"): 1}
    assert texts_come_to(store, run.run.run_id) == (len(judge_output(run).texts), 3) == (6, 3)
    table = read_scores(written(run)["scores.csv"], "scores.csv")
    assert len(table.rows) == 6
    unscored = [at for at in range(6) if math.isnan(table.values[at, 0])]
    assert [(table.rows[at].item_id, table.rows[at].level) for at in unscored] == [("q1", "A1")]
    assert table.reasons == {(unscored[0], 0): "internal error of the judge (OverflowError)"}
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


ROWS = [ScoredRow("q1", "mills", level, "en") for level in ("A0", "A1")]


def test_one_set_of_questions_breaks_and_the_others_keep_their_answers(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = Answerer.answer

    async def answer(self: Answerer, document: str, *others: Any) -> object:
        return await whole(self, None if "A1" in document else document, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(Answerer, "answer", answer)
    asked = (CrossQuestion("Did it burn?"),)
    sets = [QuestionSet(row, "text", "a", f"It burned {row.level}.", asked) for row in ROWS]
    with judging_server() as server:
        run, _ = create(store, write_pieces(sets), "q.jsonl", settings("answers", server.url), RUNNING)
        assert worked(run).run.state == "done"
    (failure,) = progress_of(store, run.run.run_id).failures
    assert failure[0] == "internal"
    first, second = pieces_done(run)
    assert first.questions[0].answer is not None
    assert second.questions == (CrossQuestion("Did it burn?", reason=f"internal error ({failure[1]})"),)
    assert "Traceback" in capsys.readouterr().err
    assert texts_come_to(store, run.run.run_id) == (2, 1)


def test_one_marked_text_breaks_and_the_others_keep_their_verdicts(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Aligner.align

    async def align(self: Aligner, text: MarkedText) -> object:
        if text.row.level == "A1":
            raise OverflowError
        return await whole(self, text)

    monkeypatch.setattr(Aligner, "align", align)
    mismatches = (Mismatch("text", "Was it built in 1907?", "YES", "NO"),)
    errors = (MarkedError("1907", "major", "accuracy"),)
    marked = [MarkedText(row, "Built in 1907.", "Built in 1906.", mismatches, errors) for row in ROWS]
    with judging_server() as server:
        run, _ = create(store, write_pieces(marked), "m.jsonl", settings("alignment", server.url), RUNNING)
        worked(run)
    assert progress_of(store, run.run.run_id).failures == {("internal", "OverflowError"): 1}
    found = [(error.found, error.reason) for one in pieces_done(run) for error in one.errors]
    assert found == [(True, None), (None, "internal error (OverflowError)")]
