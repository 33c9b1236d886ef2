"""Runs that look at judges: other models' questions answered, marked errors looked for; from a judge's folder to files."""

from dataclasses import replace
from pathlib import Path

from helpers.models.model_answers import Body, answer
from helpers.processes.scripted_server import Said, ScriptedServer, error
from helpers.texts.judge_runs import (
    RUNNING,
    in_folder,
    judging_server,
    run_to_the_end,
    settings,
    texts,
    worked,
)

from core.judges import alignment, answers
from core.judges.alignment import MarkedError, MarkedText, Mismatch
from core.judges.answers import QuestionSet, question_sets_of
from core.runs.costs import estimate_all
from core.runs.judging import answered, pieces_done
from core.runs.path import create
from core.runs.progress import progress_of
from core.runs.records import read_audit_folder, read_judge_folder, read_pieces, write_pieces
from core.schema.scores import ScoredRow
from core.store import Store


def questions_of(store: Store, url: str, folder: Path, n_items: int = 3) -> tuple[QuestionSet, ...]:
    """What a cross-examination asked, read from the folder that its run wrote."""
    judged = run_to_the_end(store, settings("cef", url), texts(n_items))
    return question_sets_of(read_judge_folder(in_folder(judged, folder)))


def test_questions_of_a_judge_are_answered_from_their_own_texts(store: Store, tmp_path: Path) -> None:
    with judging_server() as server:
        sets = questions_of(store, server.url, tmp_path / "judge")
        assert len(sets) == 3 * (1 + 5), "the source's questions stand there once an item"
        before = len(server.asked)
        chosen = settings("answers", server.url)
        run, _ = create(store, write_pieces(sets), "questions.jsonl", chosen, RUNNING, limit=2)
        assert run.contents == sets
        worked(run)
        assert len(server.asked) - before == 2 * 6
        told = estimate_all(run, progress_of(store, run.run.run_id))
        assert (told.n_items, told.calls, run.run.n_items) == (3, 18, 3)
    found = model, answered_sets = answered(run, answers.KIND)
    assert (model, run.path.maker(run.request), run.request.environment, run.request.seed) == (
        "tiny",
        "tiny",
        "base",
        0,
    )
    assert [one.author for one in answered_sets] == ["tiny"] * 12
    # A judge's questions are made to be answered YES by their own text, and this model reads as it writes.
    assert {question.answer for one in answered_sets for question in one.questions} == {"YES"}
    folder = in_folder(run, tmp_path / "answers")
    assert read_audit_folder(folder, answers.KIND) == found
    lines = (folder / "answers.csv").read_text("utf-8").splitlines()
    assert len(lines) == 1 + sum(len(one.questions) for one in answered_sets)
    assert {path.name for path in folder.iterdir()} == {"answers.csv", "records.jsonl", "run.json"}


def test_one_call_a_question_and_a_server_that_breaks(store: Store, tmp_path: Path) -> None:
    def breaking(body: Body, n: int) -> Said | str:
        broken = "<question>" in str(body["messages"][-1]) and "drew mill 1 " in str(body["messages"][-1])
        return error(503, "gone") if broken else answer(body)

    with ScriptedServer(breaking) as server:
        sets = questions_of(store, server.url, tmp_path / "judge", 2)
        chosen = settings("answers", server.url, answers="each")
        run, _ = create(store, write_pieces(sets), "questions.jsonl", chosen, RUNNING)
        stopped = worked(run)
        assert stopped.run.state == "stopped"
        progress = progress_of(store, run.run.run_id)
        assert (progress.n_done, progress.n_again) == (1, 1)
        assert {reason for _, reason in progress.failures} == {"server error"}
        server.script = lambda body, n: answer(body)
        worked(run)
    assert {question.answer for one in pieces_done(run) for question in one.questions} == {"YES"}


MARKED = tuple(
    MarkedText(
        ScoredRow(item, "s", "A1", "en"),
        "It was built in 1907.",
        "It was built in 1906.",
        (Mismatch("text", "Was it built in 1907?", "YES", "NO"),),
        (
            MarkedError("1907", "major", "accuracy/mistranslation"),
            MarkedError("Zebra", "minor", "fluency/grammar"),
        ),
    )
    for item in ("a", "b")
)


def test_marked_errors_are_looked_for_by_a_model_or_by_rules(store: Store, tmp_path: Path) -> None:
    with judging_server() as server:
        for chosen in (settings("alignment", server.url), settings("alignment", "", backend="rules")):
            before = len(server.asked)
            run, _ = create(store, write_pieces(MARKED), "marked.jsonl", chosen, RUNNING)
            ended = worked(run)
            assert ended.run.state == "done"
            found = pieces_done(run)
            assert [[error.found for error in text.errors] for text in found] == [[True, False]] * 2
            assert [replace(text, errors=()) for text in found] == [
                replace(text, errors=()) for text in MARKED
            ]
            by_rules = chosen.by_rules
            # Both items ask alike, once an error. Side by side each asks for itself; else the cache has the answers.
            asked = [str(one.body["messages"]) for one in server.asked[before:]]
            assert len(set(asked)) == (0 if by_rules else 2)
            assert run.path.maker(run.request) == ("rules" if by_rules else "tiny")
            folder = in_folder(run, tmp_path / chosen.model.backend)
            assert (
                read_pieces(alignment.KIND, (folder / "records.jsonl").read_bytes(), "records.jsonl") == found
            )
            assert len((folder / "alignment.csv").read_text("utf-8").splitlines()) == 5
