"""`judge automqm|direct|quality` from the command line: texts and ratings from everywhere, folders, what is refused."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.judge_runs import rows_of
from helpers.texts.rating_studies import RatingStudyAtHand, rate_all, rating_study, unblind
from helpers.texts.slips import SYSTEMS, rated, rated_texts, text_of
from helpers.texts.specialist_runs import says

from core.cli import main
from core.formats.tasks import dump_task, find_task
from core.judges.automqm import AutoMqmRecord
from core.judges.rated import NOT_JUDGED
from core.judges.rubric import find_rubric
from core.runs.records import read_judge_folder
from core.schema.scores import ErrorSpan, JudgeOutput
from core.store import open_store

N_ITEMS = 4
RATED_ALL = "Note: 16 ratings of 16 of 16 texts"
Command = Callable[..., str]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(says, models=("tiny",)) as one:
        yield one


@pytest.fixture
def asked(server: ScriptedServer) -> list[str]:
    return ["--backend", "openai", "--model", "tiny", "--base-url", server.url]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder and a database of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command that must succeed; what it prints."""

    def command(*arguments: str) -> str:
        capsys.readouterr()
        status = main(arguments)
        out, err = capsys.readouterr()
        assert status == 0, err
        return out

    return command


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command that must fail; what it says."""

    def command(*arguments: str) -> str:
        capsys.readouterr()
        assert main(arguments) == 2
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return out + err

    return command


def judge(kind: str, texts: str, *options: str) -> list[str]:
    return ["judge", kind, texts, "--out", "out", *options]


PARROT = ["--backend", "rules"]


def plain_texts(path: Path) -> None:
    rows = [
        {"item_id": str(item), "system": system, "text": text_of(item, system)}
        for item in range(N_ITEMS)
        for system in SYSTEMS
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def folder_of_mt(path: Path) -> None:
    """The same texts as an mt-metrics-eval folder, with the errors that r1 marked, and scores of two other people."""
    files = {
        "sources/en-de.txt": "".join(f"The mill {item}.\n" for item in range(N_ITEMS)),
        "references/en-de.refA.txt": "".join(f"Die Mühle {item}.\n" for item in range(N_ITEMS)),
        "human-scores/en-de.mqm.merged.seg.rating": "",
        "human-scores/en-de.mqm.seg.score": "",
        "human-scores/en-de.da.seg.score": "",
    }
    for system in SYSTEMS:
        texts = [rated(item, system, ["r1"]) for item in range(N_ITEMS)]
        files[f"system-outputs/en-de/{system}.txt"] = "".join(f"{one.output.text}\n" for one in texts)
        for one in texts:
            marked, overall = one.ratings[0], one.ratings[1]
            errors = [
                {"start": s.start, "end": s.end, "severity": s.severity, "category": s.category, "score": 5.0}
                for s in marked.spans or ()
            ]
            files["human-scores/en-de.mqm.merged.seg.rating"] += (
                f"{system}\t{json.dumps({'errors': errors})}\n"
            )
            files["human-scores/en-de.mqm.seg.score"] += f"{system}\t{marked.score}\n"
            files["human-scores/en-de.da.seg.score"] += f"{system}\t{overall.score}\n"
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(content, "utf-8")


def examples_of(output: JudgeOutput) -> set[int]:
    """How many examples the trials had."""
    return {
        len(trial.examples)
        for text in output.texts
        if isinstance(text.record, AutoMqmRecord)
        for trial in text.record.trials
    }


def test_rated_texts_become_a_folder(
    run: Command, asked: list[str], server: ScriptedServer, tmp_path: Path
) -> None:
    (tmp_path / "rated.jsonl").write_bytes(rated_texts(N_ITEMS))
    command = judge("automqm", "rated.jsonl", *asked, "--rater", "r2", "--n-examples", "2", "--seed", "3")
    first = run(*command, "--limit", "1", "--input-price", "1", "--output-price", "2")
    assert "Run 1 (done): 1 of 1 items complete." in first
    assert "Note: 16 of the 16 texts to be judged have ratings" in first
    assert "Cost of mark errors: 4 calls (0 more from the cache)" in first
    assert "Estimate for all 4 items, from 1 item: about 16 calls" in first
    printed = run(*command, "--resume", "--limit", str(N_ITEMS))
    assert "4 of 4 items complete" in printed
    assert "16 texts, 1 metric." in printed
    assert len(server.asked) == 16
    names = {"scores.csv", "records.jsonl", "details.csv", "run.json"}
    assert names <= set(os.listdir(tmp_path / "out"))
    output = read_judge_folder(tmp_path / "out")
    assert (output.name, output.kind, len(output.texts)) == ("automqm-2-examples-r2-tiny", "automqm", 16)
    assert examples_of(output) == {2}
    assert {row["metric"] for row in rows_of(tmp_path / "out" / "scores.csv")} == {output.name}
    assert "automqm\t" in run("runs", "list")
    assert "mark errors" in run("report", "costs", "out")


def test_ratings_may_stand_in_another_file(run: Command, tmp_path: Path) -> None:
    plain_texts(tmp_path / "texts.jsonl")
    lines = ["item_id,system,rater,start,end,severity,category"]
    for item in range(N_ITEMS):
        for system in SYSTEMS:
            spans = rated(item, system, ["r1"]).ratings[0].spans or ()
            said = [f"{s.start},{s.end},{s.severity},{s.category}" for s in spans] or [",,,"]
            lines += [f"{item},{system},r1,{one}" for one in said]
    lines += ["99,A,r1,,,,"]
    (tmp_path / "spans.csv").write_text("\n".join(lines) + "\n", "utf-8")
    printed = run(*judge("automqm", "texts.jsonl", *PARROT, "--ratings", "spans.csv", "--only", "C"))
    assert RATED_ALL in printed
    assert "left out, ratings without a matching text: 1" in printed
    assert NOT_JUDGED.format(n=12) in printed
    output = read_judge_folder(tmp_path / "out")
    assert [text.row.system for text in output.texts] == ["C"] * N_ITEMS
    assert examples_of(output) == {3}
    assert {text.scores["parrot"] for text in output.texts} == {0}, "nobody else makes C's slips"


def test_a_folder_brings_its_own_ratings(run: Command, asked: list[str], tmp_path: Path) -> None:
    folder_of_mt(tmp_path / "wmt")
    printed = run(*judge("automqm", "wmt", *PARROT, "--examples", "shuffled"))
    assert RATED_ALL in printed
    assert examples_of(read_judge_folder(tmp_path / "out")) == {3}
    printed = run("judge", "direct", "wmt", "--out", "direct", *asked, "--ratings", "da")
    output = read_judge_folder(tmp_path / "direct")
    assert (output.name, len(output.texts)) == ("direct-tiny", 16)
    assert all(text.scores["direct-tiny"] == 100 - 10 * text.text.count("slip") for text in output.texts), (
        "as the model said"
    )


def test_quality_needs_no_ratings(run: Command, asked: list[str], tmp_path: Path) -> None:
    plain_texts(tmp_path / "texts.jsonl")
    run(*judge("quality", "texts.jsonl", *asked, "--prompting", "compound", "--shuffled-words", "0.5"))
    output = read_judge_folder(tmp_path / "out")
    assert [metric.name for metric in output.metrics] == [
        f"quality-compound-0.5-shuffled-tiny-{name}" for name in ("LA", "OCQ", "TQ", "PC", "H")
    ]
    assert {row["what"] for row in rows_of(tmp_path / "out" / "details.csv")} == {"score"}


def test_what_is_missing_is_said_with_its_remedy(refused: Command, asked: list[str], tmp_path: Path) -> None:
    plain_texts(tmp_path / "texts.jsonl")
    (tmp_path / "rated.jsonl").write_bytes(rated_texts(2))
    (tmp_path / "others.csv").write_text("item_id,system,score\n77,Z,3\n")
    folder_of_mt(tmp_path / "wmt")
    for said, command in {
        "nobody marked errors in a text: add --ratings": judge("automqm", "texts.jsonl", *PARROT),
        "--ratings: rated.jsonl already contains ratings": judge(
            "automqm", "rated.jsonl", *PARROT, "--ratings", "rated.jsonl"
        ),
        "missing.csv": judge("direct", "texts.jsonl", *asked, "--ratings", "missing.csv"),
        "--ratings: none matches a text in texts.jsonl": judge(
            "direct", "texts.jsonl", *asked, "--ratings", "others.csv"
        ),
        "neither a file nor one of the folder's ratings (da, mqm)": judge(
            "automqm", "wmt", *PARROT, "--ratings", "sqm"
        ),
        "nobody rated style on the task's scale from 0 to 100 (rated dimensions: overall)": judge(
            "direct", "wmt", *asked, "--task", "style.yaml", "--dimension", "style"
        ),
        "--flip: only for a file named by --ratings": judge("quality", "rated.jsonl", *asked, "--flip", "H"),
        "There is no study named": judge("automqm", "study:none", *PARROT),
        "--language-pair": judge("automqm", "rated.jsonl", *PARROT, "--language-pair", "en-de"),
        "--task": judge("quality", "rated.jsonl", *asked, "--task", "mqm"),
    }.items():
        if said.startswith("nobody rated style"):
            text = dump_task(find_task("direct")).replace("name: overall", "name: style")
            (tmp_path / "style.yaml").write_text(text, "utf-8")
        told = refused(*command)
        assert said in told, told
    assert not (tmp_path / "out").exists()


def test_what_raters_marked_in_a_study_becomes_examples(
    run: Command, refused: Command, asked: list[str], tmp_path: Path
) -> None:
    """R1 and R2 mark `Text`, with which every text begins, as a major error in north's texts alone."""
    with open_store(tmp_path / "assay.db") as store:
        study = rating_study(store)
        for rater in ("R1", "R2"):
            rate_all(study.desk(rater))
    told = refused(*judge("automqm", "study:ratings", *PARROT))
    assert "until you unblind it" in told
    with open_store(tmp_path / "assay.db") as store:
        unblind(RatingStudyAtHand(store, study.study_id))
    run(*judge("automqm", "study:ratings", *PARROT, "--rater", "R2"))
    output = read_judge_folder(tmp_path / "out")
    scores = {text.row.system: text.scores["parrot-R2"] for text in output.texts}
    assert scores == {"zq-north": 0, "zq-south": -5, "zq-west": -5}
    assert len(output.texts) == 12
    folder = tmp_path / "direct"
    run("judge", "direct", "study:ratings", "--out", str(folder), *asked)
    assert {text.scores["direct-tiny"] for text in read_judge_folder(folder).texts} == {100}
    copies = run(
        "reproduce",
        "specialist",
        "copying",
        str(tmp_path / "out"),
        "--rated",
        "study:ratings",
        "--resamples",
        "0",
        "--json",
    )
    assert json.loads(copies)["judges"][0]["n_errors"] == 8
    every = ("run:1", "run:2", str(tmp_path / "out"), str(folder))
    calibrated = json.loads(run("calibrate", "study:ratings", *every, "--resamples", "0", "--json"))
    assert [[group["group"]["dimension"] for group in one["by_group"]] for one in calibrated] == [
        [asked_for] for asked_for in ("mqm", "overall", "mqm", "overall")
    ], "of a study with three dimensions, the one that the run was asked for"
    scores_file = str(folder / "scores.csv")
    found = json.loads(
        run("acc23", "study:ratings", scores_file, "--dimension", "mqm", "--resamples", "0", "--json")
    )
    assert (found["n_texts"], found["n_items"], found["epsilon"]) == (12, 4, 0)
    assert found["acc23"] == pytest.approx(
        1 / 3
    )  # every text 100: of an item's three pairs only the tie is right


def test_a_judge_is_not_asked_for_a_dimension_that_the_raters_of_its_study_were_not_asked(
    run: Command, asked: list[str], tmp_path: Path
) -> None:
    with open_store(tmp_path / "assay.db") as store:
        study = rating_study(store, task=find_task("multilingual"))
        unblind(study)
    alone = ("--examples", "none", *asked)
    run("judge", "direct", "study:ratings", "--out", "usual", *alone)
    assert read_judge_folder(Path("usual")).attached == dump_task(find_task("direct"))


def test_a_judge_is_asked_what_the_raters_of_its_study_were_asked(
    run: Command, asked: list[str], tmp_path: Path
) -> None:
    """As in docs/validate-judge.md: judges of a study of factual errors get its task without an option."""
    factual = find_task("factual-errors")
    with open_store(tmp_path / "assay.db") as store:
        study = rating_study(store, task=factual)
        for rater in ("R1", "R2"):
            desk = study.desk(rater)
            for number in range(1, desk.total + 1):
                desk.save_scores(number, {"overall": 40})
                desk.save_spans(number, [ErrorSpan(0, 4, "major", "number or date")])
                desk.complete(number, seconds=20.0)
        unblind(study)
    for kind, which in (("automqm", PARROT), ("automqm", asked), ("direct", asked)):
        folder = tmp_path / f"{kind}-{len(which)}"
        run("judge", kind, "study:ratings", "--out", str(folder), *which)
        assert read_judge_folder(folder).attached == dump_task(factual)
    parrot = read_judge_folder(tmp_path / f"automqm-{len(PARROT)}")
    (trial, *_) = parrot.texts[0].record.trials
    assert {error.category for error in trial.errors} == {"number or date"}
    run("judge", "direct", "study:ratings", "--out", "named", "--task", "direct", *asked)
    assert read_judge_folder(Path("named")).attached == dump_task(find_task("direct"))
    folders = [str(tmp_path / f"automqm-{len(which)}") for which in (PARROT, asked)]
    found = json.loads(run("spans", "study:ratings", *folders, "--resamples", "0", "--json"))
    assert found


def test_the_task_of_a_study_is_no_rubric(run: Command, tmp_path: Path) -> None:
    with open_store(tmp_path / "assay.db") as store:
        study = rating_study(store)
        for rater in ("R1", "R2"):
            rate_all(study.desk(rater))
        unblind(study)
    verdict = json.dumps({"feedback": "fine", "verdict": 4})
    with ScriptedServer(lambda *_: verdict, models=("tiny",)) as server:
        asked = ("--backend", "openai", "--model", "tiny", "--base-url", server.url)
        run("judge", "rubric", "study:ratings", "--out", "out", *asked)
    output = read_judge_folder(tmp_path / "out")
    assert output.attached == find_rubric("factual").dump()
    assert {text.scores["rubric-tiny"] for text in output.texts} == {4}
