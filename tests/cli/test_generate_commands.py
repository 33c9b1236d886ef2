"""`generate` and `runs` from the command line: what they write, what they say, what they refuse."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.models.model_answers import answer
from helpers.processes.scripted_server import ScriptedServer

from core.cli import main
from core.formats.study.files import read_dataset
from core.llm.prompts import find_prompt
from core.store import open_store
from core.store.runs import list_runs

DEMO = Path(__file__).resolve().parents[2] / "data" / "demo" / "questions.jsonl"
Run = Callable[..., str]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command that must not work says."""
    capsys.readouterr()
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return said.err


@pytest.fixture
def quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command that must succeed; progress on standard error is its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))

    def command(*arguments: str) -> str:
        capsys.readouterr()
        status = main(arguments)
        said = capsys.readouterr()
        assert status == 0, said.err
        return said.out

    return command


def test_factual_levels_without_a_model(quiet: Run, tmp_path: Path) -> None:
    printed = quiet("generate", "factual", str(DEMO), "--backend", "rules", "--seed", "7", "--out", "out")
    assert "14 of 14 items complete" in printed
    out = tmp_path / "out"
    questions = json.loads((out / "dataset.json").read_bytes())["questions"]
    assert [list(question["answers"]) for question in questions] == [["A0", "A1", "A2", "A3", "A4"]] * 14
    report = json.loads((out / "report.json").read_bytes())
    assert (report["report"]["input_samples"], report["report"]["output_samples"]) == (14, 14)
    rows = list(csv.DictReader(io.StringIO((out / "outputs.csv").read_text("utf-8"))))
    assert len(rows) == 70
    assert {row["source"] for row in rows} == {"rules"}
    assert {row["origin"] for row in rows if row["level"] == "A0"} == {"paraphrase"}
    records = [json.loads(line) for line in (out / "records.jsonl").read_text("utf-8").splitlines()]
    assert {record["backend"] for record in records} == {"rules"}
    again = json.loads(quiet("generate", "replay", "out/report.json", "--json"))
    assert again["items"] == again["brackets_match"] == again["group_sizes_match"] == 14


def test_damage_levels_without_a_model(quiet: Run, tmp_path: Path) -> None:
    quiet("generate", "damage", str(DEMO), "--levels", "0,3-5", "--source", "our own", "--out", "out")
    lines = [
        json.loads(line) for line in (tmp_path / "out" / "meta-judge.jsonl").read_text("utf-8").splitlines()
    ]
    assert len(lines) == 56
    assert lines[1]["id"] == "d01_level3"
    assert {line["damage_level"] for line in lines} == {0, 3, 4, 5}
    assert {line["source"] for line in lines} == {"our own"}


def test_the_same_seed_gives_the_same_files_and_another_other_ones(quiet: Run, tmp_path: Path) -> None:
    for folder, seed in (("one", "1"), ("same", "1"), ("other", "2")):
        quiet("generate", "factual", str(DEMO), "--seed", seed, "--out", folder)
    made = {name: (tmp_path / name / "dataset.json").read_bytes() for name in ("one", "same", "other")}
    assert made["one"] == made["same"] != made["other"]


def test_the_order_of_the_file_changes_no_item(quiet: Run, tmp_path: Path) -> None:
    lines = DEMO.read_text("utf-8").splitlines()
    (tmp_path / "turned.jsonl").write_text("\n".join(reversed(lines)), encoding="utf-8")
    quiet("generate", "factual", str(DEMO), "--out", "one")
    quiet("generate", "factual", "turned.jsonl", "--out", "turned")
    texts = [
        {
            q["id"]: q["answers"]
            for q in json.loads((tmp_path / name / "dataset.json").read_bytes())["questions"]
        }
        for name in ("one", "turned")
    ]
    assert texts[0] == texts[1]


def test_some_items_first_and_the_rest_with_resume(quiet: Run, tmp_path: Path) -> None:
    first = quiet("generate", "factual", str(DEMO), "--limit", "5", "--out", "out")
    assert "5 of 5 items complete" in first
    assert "14 of 14 items complete" in quiet("generate", "factual", str(DEMO), "--resume", "--out", "out")
    quiet("generate", "factual", str(DEMO), "--out", "whole")
    assert (tmp_path / "out" / "dataset.json").read_bytes() == (
        tmp_path / "whole" / "dataset.json"
    ).read_bytes()
    with open_store(tmp_path / "assay.db") as store:
        assert len(list_runs(store)) == 2


def test_runs_are_listed_shown_written_and_cannot_be_cancelled_when_done(quiet: Run, tmp_path: Path) -> None:
    assert "No runs yet" in _listed_in_an_empty_database(quiet)
    quiet("generate", "damage", str(DEMO), "--limit", "2", "--out", "out")
    assert "2 of 2" in quiet("runs", "list")
    assert json.loads(quiet("runs", "list", "--json"))[0]["state"] == "done"
    shown = json.loads(quiet("runs", "show", "1", "--json"))
    assert (shown["items"], shown["done"], shown["settings"]["backend"]) == (2, 2, "rules")
    assert quiet("runs", "cancel", "1").startswith("Run 1 is done, ")
    assert "14 of 14" in quiet("runs", "resume", "1", "--out", "more")
    quiet("runs", "write", "1", "--out", "again")
    assert (tmp_path / "again" / "outputs.csv").read_bytes() == (
        tmp_path / "more" / "outputs.csv"
    ).read_bytes()


def _listed_in_an_empty_database(quiet: Run) -> str:
    quiet("study", "import", str(DEMO.parent / "answers.csv"), "--candidate", "pipeline")
    return quiet("runs", "list")


def test_a_generated_set_is_read_again_as_a_study_beside_another(quiet: Run, tmp_path: Path) -> None:
    """outputs.csv has one source; beside another one's it is a data set."""
    quiet("generate", "factual", str(DEMO), "--source", "one", "--seed", "1", "--out", "one")
    quiet("generate", "factual", str(DEMO), "--source", "two", "--seed", "2", "--out", "two")
    texts = [(tmp_path / name / "outputs.jsonl").read_text("utf-8") for name in ("one", "two")]
    dataset = read_dataset("".join(texts).encode(), "both.jsonl")
    assert dataset.sources == ("one", "two")
    (tmp_path / "both.jsonl").write_text("".join(texts), encoding="utf-8")
    printed = quiet("study", "import", "both.jsonl", "--candidate", "one", "--name", "both")
    assert "14 questions at levels A0, A1, A2, A3, A4" in printed


def test_a_reference_that_stands_in_for_a0_is_recorded_and_warned_about(quiet: Run, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in DEMO.read_text("utf-8").splitlines()]
    for row in rows:
        del row["paraphrase"]
    (tmp_path / "bare.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    texts = ""
    for source in ("one", "two"):
        printed = quiet(
            "generate",
            "factual",
            "bare.jsonl",
            "--source",
            source,
            "--seed",
            str(len(texts)),
            "--out",
            source,
        )
        assert "verbatim" in printed
        texts += (tmp_path / source / "outputs.jsonl").read_text("utf-8")
    assert '"origin": "verbatim"' in texts
    (tmp_path / "both.jsonl").write_text(texts, encoding="utf-8")
    printed = quiet("study", "import", "both.jsonl", "--candidate", "one")
    assert "A0 equals the reference word for word: one in 14 of 14 questions" in printed


def test_the_published_report_is_replayed(quiet: Run, shared_data: Path) -> None:
    found = json.loads(quiet("generate", "replay", str(shared_data / "perturbation-report.json"), "--json"))
    counts = {
        name: found[name]
        for name in ("items", "brackets_match", "filter_match_code_order", "group_sizes_match")
    }
    assert set(counts.values()) == {20}
    assert 8 <= found["filter_match_paper_order"] <= 10, "about 9: the paper's order is not the code's"


SERVER = ["--backend", "openai", "--model", "m", "--base-url"]
MISTAKES: list[tuple[str, list[str], str]] = [
    ("factual", ["--levels", "A0-B2"], "--levels: 'A0-B2' is neither a range from A0-A1 to A0-A9"),
    ("factual", ["--levels", "a0-b2"], "--levels: 'a0-b2'"),
    ("factual", ["--levels", "12"], "--levels: 12 is not between 1 and 9"),
    ("factual", ["--keep", "0"], "--keep: 0 is not between"),
    ("damage", ["--levels", "7"], "--levels: there is no level 7"),
    ("damage", ["--task", "translation"], "context (source sentence) is missing"),
    ("damage", ["--limit", "0"], "--limit: 0 is too small"),
    ("damage", ["--resume"], "no run of this file with these settings"),
    ("damage", ["--prompt", "damage-qa"], "rules use no prompt"),
    ("damage", ["--model", "m"], "--model: has no effect"),
    ("damage", ["--engine", "x=1"], "--engine: has no effect"),
    ("damage", ["--backend", "openai"], "--model: is empty"),
    ("damage", ["--backend", "openai", "--model", "m"], "OPENAI_API_KEY"),
    ("damage", [*SERVER, "ftp://x"], "--base-url: it is not an http or https URL"),
    ("damage", [*SERVER, "http://127.0.0.1:9/v1"], "no server answers there"),
    ("damage", [*SERVER, "http://x/v1", "--prompt", "nope"], "There is no prompt nope"),
    ("damage", [*SERVER, "http://x/v1", "--prompt", "factual-rank"], "--prompt: factual-rank"),
]


@pytest.mark.parametrize(("verb", "options", "says"), MISTAKES)
def test_mistakes_end_with_a_sentence(
    verb: str,
    options: list[str],
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    assert says in refused(capsys, "generate", verb, str(DEMO), "--out", "o", *options)


def test_files_that_are_missing_or_of_another_kind_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    gone = str(tmp_path / "gone.json")
    assert "gone.json cannot be read" in refused(capsys, "generate", "factual", gone, "--out", str(tmp_path))
    assert "questions.jsonl cannot be" in refused(capsys, "generate", "replay", str(DEMO))


@pytest.mark.parametrize("backend", ["rules", "openai"])
def test_a_parse_comes_from_its_environment_whoever_makes_the_answers(
    quiet: Run, tmp_path: Path, spacy_python: Path, backend: str
) -> None:
    with ScriptedServer(answer) as server:
        who = ["--backend", "rules"]
        if backend == "openai":
            who = ["--backend", "openai", "--model", "tiny", "--base-url", server.url]
        printed = quiet("generate", "factual", str(DEMO), "--limit", "4", *who, "--out", "out")
    by = {
        json.loads(line)["spans_by"] for line in (tmp_path / "out" / "records.jsonl").open(encoding="utf-8")
    }
    (name,) = by
    assert name.startswith("spacy ")
    report = json.loads((tmp_path / "out" / "run.json").read_bytes())
    assert report["spans_by"] == {name: 4}
    assert name in printed
    spans = json.loads((tmp_path / "out" / "report.json").read_bytes())["questions"][0]["raw_factual_data"]
    assert len(spans) > 4


def test_rules_in_the_place_of_a_parse_are_said_before_and_after_and_kept(quiet: Run, tmp_path: Path) -> None:
    printed = quiet("generate", "factual", str(DEMO), "--limit", "2", "--out", "out")
    assert printed.count("./run --with spacy") == 2
    assert json.loads((tmp_path / "out" / "run.json").read_bytes())["spans_by"] == {"rules": 2}
    damage = quiet("generate", "damage", str(DEMO), "--limit", "2", "--out", "damage")
    assert "./run --with spacy" not in damage
    assert "spans_by" not in json.loads((tmp_path / "damage" / "run.json").read_bytes())


def test_a_named_pipeline_that_is_not_there_is_refused_before_anything_is_asked(
    capsys: pytest.CaptureFixture[str], quiet: Run
) -> None:
    said = refused(capsys, "generate", "factual", str(DEMO), "--parser", "en_none_such", "--out", "out")
    assert "en_none_such" in said
    assert json.loads(quiet("runs", "list", "--json")) == []


def test_where_vllm_is_missing_one_line_says_how_to_get_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_VLLM_PYTHON", str(tmp_path / "gone"))
    where = ["--out", str(tmp_path / "o"), "--db", str(tmp_path / "assay.db")]
    said = refused(capsys, "generate", "damage", str(DEMO), "--backend", "vllm", "--model", "m", *where)
    assert "./run --with vllm" in said
    assert len(said.splitlines()) == 1


def test_a_folder_holds_one_run(quiet: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    quiet("generate", "damage", str(DEMO), "--limit", "2", "--out", "out")
    before = (tmp_path / "out" / "dataset.json").read_bytes()
    said = refused(capsys, "generate", "factual", str(DEMO), "--out", "out")
    assert "out contains the results of run 1" in said
    assert (tmp_path / "out" / "dataset.json").read_bytes() == before
    assert len(quiet("runs", "list").splitlines()) == 2, "a header and one run"
    quiet("runs", "resume", "1", "--out", "out")


def test_runs_of_kinds_that_a_newer_assay_knows_are_listed(
    quiet: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    quiet("generate", "damage", str(DEMO), "--limit", "1", "--out", "out")
    with open_store(tmp_path / "assay.db") as store, store.writing():
        store.table("run").update(1, {"kind": "divination"})
    assert json.loads(quiet("runs", "list", "--json"))[0]["kind"] == "divination"
    assert "\tdivination\t" in quiet("runs", "list")
    assert "divination" in refused(capsys, "runs", "show", "1")


def test_a_run_that_is_refused_at_its_start_is_not_kept(
    quiet: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "No runs yet" in _listed_in_an_empty_database(quiet)
    said = refused(capsys, "generate", "damage", str(DEMO), "--out", "o", *SERVER, "http://127.0.0.1:9/v1")
    assert "no server answers there" in said
    assert "No runs yet" in quiet("runs", "list")


def test_the_report_of_a_run_names_its_prompts_and_its_scheme_alone(quiet: Run, tmp_path: Path) -> None:
    with ScriptedServer(lambda body, n: answer(body)) as server:
        who = [
            "--backend",
            "openai",
            "--model",
            "tiny",
            "--base-url",
            server.url,
            "--prompt",
            "damage-qa-few",
        ]
        quiet("generate", "damage", str(DEMO), "--limit", "1", "--out", "out", *who)
    settings = json.loads((tmp_path / "out" / "run.json").read_bytes())["settings"]
    prompt = find_prompt("damage-qa-few")
    assert settings["prompts"] == {"damage": {"name": prompt.name, "sha256": prompt.sha256}}
    assert (settings["source"], "factual" in settings) == ("tiny", False)
