"""Runs that look at judges: other models' questions answered, marked errors looked for; from a judge's folder to files."""

from dataclasses import replace
from pathlib import Path

from core.datasets.judge_records import marked_file, question_file, read_answer_folder, read_marked_file
from core.runs.judge_plan import create_check
from core.runs.judge_results import answer_set, marked_texts_of
from judge_runs import RUNNING, in_folder, judging_server, run_to_the_end, settings, texts
from model_answers import Body, answer
from scripted_server import Said, ScriptedServer, error

from core.judges.alignment import MarkedError, MarkedText, Mismatch
from core.judges.answers import AnswersSettings, QuestionSet, question_sets_of
from core.judges.kind import JudgeSettings
from core.runs.estimate import estimate_all
from core.runs.kinds import environment_of, job_of, maker_of, seed_of
from core.runs.progress import progress_of
from core.runs.records import read_judge_folder
from core.runs.worker import work
from core.schema.scores import ScoredRow
from core.store import Store


def questions_of(store: Store, url: str, folder: Path, n_items: int = 3) -> tuple[QuestionSet, ...]:
    """What a cross-examination asked, read from the folder that its run wrote."""
    judged = run_to_the_end(store, settings("cef", url), texts(n_items))
    return question_sets_of(read_judge_folder(in_folder(store, judged, folder)))


def test_questions_of_a_judge_are_answered_from_their_own_texts(store: Store, tmp_path: Path) -> None:
    with judging_server() as server:
        sets = questions_of(store, server.url, tmp_path / "judge")
        assert len(sets) == 3 * (1 + 5), "the source's questions stand there once an item"
        before = len(server.asked)
        chosen = settings("answers", server.url)
        run, pieces = create_check(store, question_file(sets), "questions.jsonl", chosen, RUNNING, limit=2)
        assert pieces == sets
        work(store, run.run_id, lambda claimed: job_of(store, claimed))
        assert len(server.asked) - before == 2 * 6
        told = estimate_all(store, progress_of(store, run.run_id))
        assert (told.n_items, told.calls, run.n_items) == (3, 18, 3)
    found = answer_set(store, run)
    assert (found.model, maker_of(run), environment_of(run), seed_of(run)) == ("tiny", "tiny", "base", 0)
    assert [one.author for one in found.sets] == ["tiny"] * 12
    # A judge's questions are made to be answered YES by their own text, and this model reads as it writes.
    assert {question.answer for one in found.sets for question in one.questions} == {"YES"}
    folder = in_folder(store, run, tmp_path / "answers")
    assert read_answer_folder(folder) == found
    lines = (folder / "answers.csv").read_text("utf-8").splitlines()
    assert len(lines) == 1 + sum(len(one.questions) for one in found.sets)
    assert {path.name for path in folder.iterdir()} == {"answers.csv", "records.jsonl", "run.json"}


def test_one_call_a_question_and_a_server_that_breaks(store: Store, tmp_path: Path) -> None:
    def breaking(body: Body, n: int) -> Said | str:
        broken = "<question>" in str(body["messages"][-1]) and "drew mill 1 " in str(body["messages"][-1])
        return error(503, "gone") if broken else answer(body)

    with ScriptedServer(breaking) as server:
        sets = questions_of(store, server.url, tmp_path / "judge", 2)
        chosen = settings("answers", server.url, answers=AnswersSettings("each"))
        run, _ = create_check(store, question_file(sets), "questions.jsonl", chosen, RUNNING)
        stopped = work(store, run.run_id, lambda claimed: job_of(store, claimed))
        assert stopped.state == "stopped"
        progress = progress_of(store, run.run_id)
        assert (progress.n_done, progress.n_again) == (1, 1)
        assert {reason for _, reason in progress.failures} == {"server error"}
        server.script = lambda body, n: answer(body)
        work(store, run.run_id, lambda claimed: job_of(store, claimed))
    assert {question.answer for one in answer_set(store, run).sets for question in one.questions} == {"YES"}


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
        for chosen in (settings("alignment", server.url), JudgeSettings("alignment")):
            before = len(server.asked)
            run, _ = create_check(store, marked_file(MARKED), "marked.jsonl", chosen, RUNNING)
            ended = work(store, run.run_id, lambda claimed: job_of(store, claimed))
            assert ended.state == "done"
            found = marked_texts_of(store, run)
            assert [[error.found for error in text.errors] for text in found] == [[True, False]] * 2
            assert [replace(text, errors=()) for text in found] == [
                replace(text, errors=()) for text in MARKED
            ]
            by_rules = chosen.backend == "rules"
            # Both items ask alike, once an error. Side by side each asks for itself; else the cache has the answers.
            asked = [str(one.body["messages"]) for one in server.asked[before:]]
            assert len(set(asked)) == (0 if by_rules else 2)
            assert maker_of(run) == ("rules" if by_rules else "tiny")
            folder = in_folder(store, run, tmp_path / chosen.backend)
            assert read_marked_file((folder / "records.jsonl").read_bytes(), "records.jsonl") == found
            assert len((folder / "alignment.csv").read_text("utf-8").splitlines()) == 5
