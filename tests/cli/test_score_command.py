"""`score` and `runs` for scores: what they write, what they say, what they refuse before any work."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.factories import study_in

from core.cli import main
from core.formats.registry import read_scores
from core.metrics.registry import all_metrics
from core.runs.path import NO_SUCH_RUN
from core.schema.scores import ScoreTable
from core.store import open_store
from core.store.runs import get_run, list_runs, run_data

DEMO = Path(__file__).resolve().parents[2] / "data" / "demo" / "questions.jsonl"
TEXTS = (
    '{"item_id": "q1", "system": "one", "text": "the old mill", "reference": "the old mill", "level": "A0"}\n'
    '{"item_id": "q1", "system": "one", "text": "the new sea", "reference": "the old mill", "level": "A1"}\n'
    '{"item_id": "q2", "system": "one", "text": "a red house", "reference": "a house in red", "level": "A0"}\n'
)
Run = Callable[..., str]


@pytest.fixture
def quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command that must succeed; progress on standard error is its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    (tmp_path / "texts.jsonl").write_text(TEXTS, encoding="utf-8")

    def command(*arguments: str) -> str:
        capsys.readouterr()
        status = main(arguments)
        said = capsys.readouterr()
        assert status == 0, said.err
        return said.out

    return command


@pytest.fixture
def refused(quiet: Run, capsys: pytest.CaptureFixture[str]) -> Run:
    """What a command that must not work says."""

    def command(*arguments: str) -> str:
        capsys.readouterr()
        assert main(arguments) == 2
        said = capsys.readouterr().err
        assert "Traceback" not in said
        return said

    return command


def table(path: Path) -> ScoreTable:
    return read_scores(path.read_bytes(), path.name)


def test_a_file_of_texts_becomes_a_table_with_signatures(quiet: Run, tmp_path: Path) -> None:
    printed = quiet("score", "texts.jsonl", "--metrics", "chrf-6-0,rouge-1", "--out", "scores.csv")
    assert "3 texts, 2 metrics." in printed
    assert "Cost of lexical metrics: 3 different texts scored (0 more from the cache)" in printed
    rows = list(csv.DictReader(io.StringIO((tmp_path / "scores.csv").read_text("utf-8"))))
    assert [(row["item"], row["level"], row["metric"]) for row in rows[:3]] == [
        ("q1", "A0", "chrf-6-0"),
        ("q1", "A0", "rouge-1"),
        ("q1", "A1", "chrf-6-0"),
    ]
    assert [float(row["score"]) for row in rows if row["metric"] == "rouge-1"] == pytest.approx(
        [1, 1 / 3, 2 * (3 / 3) * (3 / 4) / (3 / 3 + 3 / 4)]
    ), "F1 of shared words, by hand"
    assert rows[0]["signature"].startswith("chrF")
    assert {row["direction"] for row in rows} == {"higher"}


def test_generation_to_scores_in_two_commands(quiet: Run, tmp_path: Path) -> None:
    quiet("generate", "damage", str(DEMO), "--out", "out")
    quiet("score", "run:1", "--out", "scores.parquet")
    scores = table(tmp_path / "scores.parquet")
    assert scores.values.shape == (84, 16)
    assert scores.rows[0].labels == {"dataset": "questions", "generator": "rules"}
    quiet("score", "out/outputs.jsonl", "--out", "again.csv")
    again = table(tmp_path / "again.csv")
    assert (again.values == scores.values).all()
    assert "0 different texts scored (84 more from the cache)" in quiet("runs", "show", "3")
    listed = quiet("runs", "list").splitlines()
    assert [line.split("\t")[2] for line in listed[1:]] == ["scores", "scores", "damage"]
    assert listed[1].split("\t")[5:] == ["16 metrics", "-", "outputs.jsonl"]


def test_a_run_and_its_file_give_one_table_with_generator_prompt_and_shots(
    quiet: Run, tmp_path: Path
) -> None:
    with ScriptedServer(lambda body, n: f"An answer that is worse, number {n}.") as server:
        model = ("--backend", "openai", "--base-url", server.url, "--model", "tiny")
        quiet("generate", "damage", str(DEMO), *model, "--limit", "2", "--out", "out")
    written = []
    for given in ("run:1", "out/outputs.jsonl", "out/outputs.csv"):
        for form in ("csv", "jsonl"):
            quiet("score", given, "--metrics", "bleu-1,ter", "--shape", "long", "--out", f"scores.{form}")
            written.append((tmp_path / f"scores.{form}").read_bytes())
        found = table(tmp_path / "scores.csv")
        grouped = (
            "correlate",
            "scores.csv",
            "--with",
            "level",
            "--group",
            "generator,prompt,shots",
            "--json",
        )
        written.append(quiet(*grouped, "--resamples", "50").encode())
        assert [(row.labels["dataset"], row.labels["generator"]) for row in found.rows[:1]] == [
            ("questions", "tiny")
        ]
        assert set(found.rows[0].labels) == {"dataset", "generator", "prompt", "shots"}
    assert written[:3] == written[3:6] == written[6:], "scores as CSV and JSONL, and their correlations"


def test_levels_that_were_not_made_are_counted_and_left_out(quiet: Run, tmp_path: Path) -> None:
    gone = '{"item_id": "q2", "system": "one", "text": null, "reason": "edit: refused", "level": "A1"}\n'
    (tmp_path / "texts.jsonl").write_text(TEXTS + gone, encoding="utf-8")
    printed = quiet("score", "texts.jsonl", "--metrics", "bleu-1", "--out", "scores.csv")
    assert "Note: left out, edit: refused: 1 row" in printed
    assert "3 texts, 1 metric." in printed
    assert json.loads(quiet("runs", "show", "1", "--json"))["left_out"] == {"edit: refused": 1}


def test_what_has_no_score_is_named_with_its_reason(quiet: Run, tmp_path: Path) -> None:
    (tmp_path / "texts.jsonl").write_text(
        TEXTS + '{"item_id": "q3", "system": "one", "text": "alone"}\n', "utf-8"
    )
    printed = quiet("score", "texts.jsonl", "--metrics", "bleu-1", "--out", "scores.csv")
    assert "Undefined scores" in printed
    assert "1  bleu-1: no reference" in printed
    scores = table(tmp_path / "scores.csv")
    assert dict(scores.reasons) == {(3, 0): "no reference"}


@pytest.mark.parametrize("shape", ["long", "wide"])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_every_form_holds_the_same_numbers(quiet: Run, tmp_path: Path, suffix: str, shape: str) -> None:
    quiet("score", "texts.jsonl", "--out", "plain.csv")
    quiet("score", "texts.jsonl", "--out", f"scores.{suffix}", "--shape", shape)
    one, other = table(tmp_path / "plain.csv"), table(tmp_path / f"scores.{suffix}")
    assert [metric.name for metric in one.metrics] == [metric.name for metric in other.metrics]
    assert (one.values == other.values).all()


@pytest.mark.slow
def test_several_processes_write_the_same_file(quiet: Run, tmp_path: Path) -> None:
    quiet("score", "texts.jsonl", "--out", "one.csv", "--db", "one.db")
    quiet("score", "texts.jsonl", "--out", "two.csv", "--db", "two.db", "--workers", "2")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_some_items_first_and_the_rest_with_resume(quiet: Run, refused: Run, tmp_path: Path) -> None:
    arguments = ("score", "texts.jsonl", "--metrics", "bleu-1", "--out", "scores.csv")
    assert "1 of 1 items complete" in quiet(*arguments, "--limit", "1")
    assert "1 of 1 items complete" in quiet(*arguments, "--limit", "1", "--resume")
    assert "2 of 2 items complete" in quiet(*arguments, "--resume")
    assert NO_SUCH_RUN in refused(*arguments[:3], "bleu-2", *arguments[4:], "--resume")
    with open_store(tmp_path / "assay.db") as store:
        assert len(list_runs(store)) == 1


def test_what_is_not_named_stays_when_a_run_goes_on(quiet: Run, tmp_path: Path) -> None:
    arguments = ("score", "texts.jsonl", "--metrics", "bleu-1", "--out", "scores.csv")
    quiet(*arguments, "--batch-size", "7", "--workers", "1", "--limit", "1")
    quiet(*arguments, "--resume", "--workers", "3")
    with open_store(tmp_path / "assay.db") as store:
        (run,) = list_runs(store)
    assert run.running == {"batch_size": 7, "workers": 3, "engine": "local", "address": ""}


def test_a_run_of_scores_is_shown_written_and_resumed_like_any_other(quiet: Run, tmp_path: Path) -> None:
    quiet("score", "texts.jsonl", "--metrics", "bleu-1", "--out", "scores.csv", "--limit", "1")
    shown = json.loads(quiet("runs", "show", "1", "--json"))
    assert (shown["kind"], shown["items"], shown["money"]) == ("scores", 1, None)
    assert [metric["name"] for metric in shown["settings"]["metrics"]] == ["bleu-1"]
    assert "version:" in shown["settings"]["metrics"][0]["signature"]
    assert "nothing to cancel" in quiet("runs", "cancel", "1")
    assert "2 of 2 items complete" in quiet("runs", "resume", "1", "--out", "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "run.json",
        "scores.csv",
        "scores.parquet",
    ]
    quiet("runs", "write", "1", "--out", "out")
    assert len(table(tmp_path / "out" / "scores.csv").rows) == 3


def test_the_list_names_every_metric(quiet: Run) -> None:
    listed = quiet("score", "--list").splitlines()
    assert [line.split()[0] for line in listed[1:-1]] == [spec.metric.name for spec in all_metrics()]
    assert "separate environment" in listed[-1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["texts.jsonl", "--metrics", "blue-4,qqqq", "--out", "s.csv"], ["blue-4", "bleu-4", "'qqqq'"]),
        (["texts.jsonl", "--metrics", ",", "--out", "s.csv"], ["--metrics: choose at least one"]),
        (["texts.jsonl"], ["--out is missing"]),
        (["texts.jsonl", "--out", "s.txt"], ["s.txt does not end in one of .csv, .jsonl, .parquet"]),
        (["texts.jsonl", "--out", "folder.csv"], ["is a folder"]),
        (["texts.jsonl", "--out", "texts.jsonl/s.csv"], ["cannot be written"]),
        (["--out", "s.csv"], ["Name the texts to score"]),
        (["nowhere.csv", "--out", "s.csv"], ["nowhere.csv cannot be read"]),
        (["empty.csv", "--out", "s.csv"], ["the file is empty"]),
        (["bare.csv", "--out", "s.csv"], ["has no reference for any text", "score --list"]),
        (["run:9", "--out", "s.csv"], ["There is no run 9"]),
        ([f"run:{2**63}", "--out", "s.csv"], [f"There is no run {2**63}"]),
        (["run:x", "--out", "s.csv"], ["'run:x' is not run:N"]),
        (["study:none", "--out", "s.csv"], ["none"]),
        (
            ["texts.jsonl", "--out", "s.csv", "--model", "bertscore-en=here"],
            ["bertscore-en is not in --metrics"],
        ),
        (["texts.jsonl", "--out", "s.csv", "--model", "bleu-1=here"], ["bleu-1 uses no model"]),
        (["texts.jsonl", "--out", "s.csv", "--model", "here"], ["'here' is not NAME=PATH"]),
        (
            ["texts.jsonl", "--out", "s.csv", "--workers", "0", "--batch-size", "0"],
            ["--workers: 0", "--batch-size: 0"],
        ),
        (["texts.jsonl", "--out", "s.csv", "--limit", "0"], ["--limit: 0 is too small"]),
        (
            ["texts.jsonl", "--out", "s.csv", "--language-pair", "en-de"],
            ["--language-pair: only for a folder, and texts.jsonl is none"],
        ),
        (["texts.jsonl", "--out", "s.csv", "--resume"], ["no run of this file with these settings"]),
    ],
    ids=lambda value: " ".join(value)[:40],
)
def test_mistakes_are_named_before_any_work(
    refused: Run, tmp_path: Path, arguments: list[str], said: list[str]
) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "empty.csv").touch()
    (tmp_path / "bare.csv").write_text("item_id,system,text\nq1,one,the mill\n")
    with open_store(tmp_path / "assay.db") as store:
        answer = refused("score", *arguments)
        for part in said:
            assert part in answer
        assert not (tmp_path / "s.csv").exists()
        assert list_runs(store) == []


def test_a_misspelt_metric_makes_no_model_of_another_a_mistake(refused: Run) -> None:
    asked = ("--metrics", "bertscore-en,qqqq", "--model", "bertscore-en=here", "--workers", "0")
    answer = refused("score", "texts.jsonl", "--out", "s.csv", *asked)
    assert "'qqqq'" in answer
    assert "--workers: 0" in answer
    assert "--model" not in answer


_SERVER = ("--backend", "openai", "--base-url", "http://127.0.0.1:9", "--model", "tiny")


@pytest.mark.parametrize(
    "command",
    [
        ("score", "run:9"),
        ("score", "study:mine"),
        ("judge", "rubric", "run:9", *_SERVER),
        ("judge", "direct", "study:mine", *_SERVER),
        ("judge", "answers", "run:9", *_SERVER),
    ],
    ids=" ".join,
)
def test_a_mistyped_database_is_not_made(refused: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    answer = refused(*command, "--out", "s.csv", "--db", "typo.db")
    assert "There is no database typo.db" in answer
    assert not (tmp_path / "typo.db").exists()


def test_the_database_is_never_written_over(refused: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_bytes(b"")
    said = refused("score", "texts.jsonl", "--out", "mine.csv", "--db", "mine.csv")
    assert "mine.csv belongs to" in said


def test_neural_metrics_say_how_to_get_their_environment(
    refused: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_NEURAL_PYTHON", str(tmp_path / "nowhere"))
    answer = refused("score", "texts.jsonl", "--metrics", "bleu-1,bertscore-en", "--out", "s.csv")
    assert "./run --with neural --setup" in answer
    assert not (tmp_path / "assay.db").exists()


def test_texts_of_a_study_only_once_it_is_unblinded(quiet: Run, refused: Run, tmp_path: Path) -> None:
    with open_store(tmp_path / "assay.db") as store:
        name = study_in(store).study.name
    assert f"study unblind {name}" in refused("score", f"study:{name}", "--out", "s.csv")
    for verb in (["close", name], ["unblind", name, "--reason", "done"]):
        quiet("study", *verb)
    quiet("score", f"study:{name}", "--metrics", "bleu-1", "--out", "s.csv")
    scores = table(tmp_path / "s.csv")
    assert {row.system for row in scores.rows} == {"ai", "human"}
    with open_store(tmp_path / "assay.db") as store:
        run = get_run(store, 1)
        texts = [json.loads(line) for line in run_data(store, 1).decode().splitlines()]
    assert run.data_file == f"study-{name}.jsonl"
    assert len(texts) == len(scores.rows)


def test_a_run_that_scores_has_no_texts_to_score_and_one_that_writes_no_scores(
    quiet: Run, refused: Run
) -> None:
    quiet("score", "texts.jsonl", "--metrics", "bleu-1", "--out", "scores.csv")
    assert "Run 1 scores texts and has no texts of its own" in refused("score", "run:1", "--out", "again.csv")


@pytest.mark.slow
@pytest.mark.shared
def test_a_folder_of_translations(quiet: Run, tmp_path: Path, shared_data: Path) -> None:
    folder = str(shared_data / "wmt23")
    printed = quiet(
        "score", folder, "--language-pair", "en-de", "--metrics", "bleu-4", "--limit", "3", "--out", "s.csv"
    )
    assert "3 of 3 items complete" in printed
    scores = table(tmp_path / "s.csv")
    assert {row.item_id for row in scores.rows} == {"1", "2", "3"}
    assert scores.rows[0].language == "de"
