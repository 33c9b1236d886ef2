"""`study import --beside`: two files with one source each become a study."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli import main
from core.store import open_store
from core.store.studies import find_study, items_of

Run = Callable[..., str]
DEMO = Path(__file__).parents[2] / "data" / "demo"


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Import nothing into the database of the checkout."""
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's files, of the source `rules-one`."""
    folder = tmp_path_factory.mktemp("made")
    command = ["generate", "factual", str(DEMO / "questions.jsonl"), "--source", "rules-one", "--seed", "3"]
    assert main([*command, "--out", str(folder / "out"), "--db", str(folder / "made.db")]) == 0
    return folder / "out"


@pytest.fixture
def handwritten(tmp_path: Path) -> Path:
    with (DEMO / "answers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kept = [row for row in rows if row["source"] != "pipeline"]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(kept[0]))
    writer.writeheader()
    writer.writerows(kept)
    path = tmp_path / "handwritten.csv"
    path.write_text(out.getvalue(), encoding="utf-8")
    return path


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) != 0
    return capsys.readouterr().err


@pytest.mark.parametrize("name", ["outputs.jsonl", "outputs.csv"])
def test_two_files_become_a_study(run: Run, made: Path, handwritten: Path, name: str) -> None:
    printed = run(
        *("study", "import", str(made / name), "--beside", str(handwritten), "--candidate", "rules-one"),
        *("--name", "two"),
    )
    assert "Study 'two': 14 questions at levels A0, A1, A2, A3, A4; draft." in printed
    assert "candidate rules-one, comparator " in printed
    turned = run(
        "study", "import", str(handwritten), "--beside", str(made / name), "--candidate", "rules-one"
    )
    assert "candidate rules-one, comparator " in turned


def test_items_that_failed_are_left_out_and_the_others_too_on_request(
    run: Run, made: Path, handwritten: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [json.loads(line) for line in (made / "outputs.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        if (row["item_id"], row["level"]) in (("d02", "A1"), ("d05", "A4")):
            row |= {"text": None, "reason": "edit: not changed"}
    file = tmp_path / "failed.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    command = ("study", "import", str(file), "--beside", str(handwritten), "--candidate", "rules-one")
    said = refused(capsys, *command)
    assert "question d02: not in failed.jsonl" in said
    printed = run(*command, "--shared-only")
    assert "12 questions" in printed
    assert "Note: failed.jsonl: items left out because a level is missing: d02, d05" in printed
    with open_store(tmp_path / "assay.db") as store:
        kept = {item.item_id for item in items_of(store, find_study(store, "failed").study_id)}
    assert len(kept) == 12
    assert not kept & {"d02", "d05"}


@pytest.mark.parametrize("name", ["outputs.jsonl", "outputs.csv"])
def test_one_source_alone_says_where_the_other_goes(
    made: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    said = refused(capsys, "study", "import", str(made / name))
    assert f"{name} has only one system's answers" in said
    assert "rules-one is the only one (14 questions at 5 levels). Name the other system's file" in said
    assert "--beside" in said


def test_a_run_s_dataset_json_leads_to_its_outputs(
    made: Path, handwritten: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(made / "dataset.json")
    for more in ([], ["--beside", str(handwritten)]):
        said = refused(capsys, "study", "import", file, *more)
        assert said.count("\n  - ") == 1
        assert "file: only one system's answers, without the system's name. Use the outputs.jsonl" in said


def test_a_broken_file_keeps_its_own_problems(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("item_id,question,reference,level,source,text\nq,q,r,A0,,t\n", encoding="utf-8")
    said = refused(capsys, "study", "import", str(file))
    assert "line 2, question q, level A0: source is empty" in said
    assert "--shared-only needs a second file" in refused(
        capsys, "study", "import", str(file), "--shared-only"
    )
