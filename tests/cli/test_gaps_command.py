"""`check --gaps`: the texts on which people and judge differ most."""

import csv
import json
from pathlib import Path

import pytest
from helpers.models.model_answers import answer
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.judge_runs import texts

from core.cli import main

FILE = """id,question,answer,anna,ben,gpt4,gpt4_reason
q1,What?,A mill.,1,2,5,It is a mill.
q2,Where?,In Delft.,4,5,4,The right city.
q3,When?,In 1700.,5,5,2,Off by a century.
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    Path("labels.csv").write_text(FILE, encoding="utf-8")


def check(
    *more: str, file: str = "labels.csv", names: tuple[str, ...] = ("--human", "anna,ben", "--judge", "gpt4")
) -> int:
    return main(["check", file, *names, *more])


def test_ids_and_labels_alone_are_shown_unless_texts_are_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert check("--gaps", "2") == 4
    said = capsys.readouterr().out
    assert "q1" in said
    assert "q2" not in said
    assert not [one for one in ("mill", "Delft", "century") if one in said]
    assert check("--gaps", "--texts") == 4
    said = capsys.readouterr().out
    assert [
        one for one in ("A mill.", "It is a mill.", "In Delft.", "Off by a century.") if one not in said
    ] == []


def test_the_table_for_a_file_holds_every_gap(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--table", "gaps", "--out", "gaps.csv") == 4
    rows = list(csv.DictReader(Path("gaps.csv").read_text("utf-8").splitlines()))
    assert [(row["item"], float(row["gap"]), row["direction"]) for row in rows] == [
        ("q1", 3.5, "higher"), ("q3", 3.0, "lower"), ("q2", 0.5, "lower"),
    ]  # fmt: skip
    assert "text" not in rows[0]
    assert check("--table", "gaps", "--texts", "--out", "gaps.csv") == 4
    assert "Off by a century." in Path("gaps.csv").read_text("utf-8")


def test_json_has_the_list_if_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--json") == 4
    assert "gaps" not in json.loads(capsys.readouterr().out)
    assert check("--json", "--gaps", "1", "--texts") == 4
    (row,) = json.loads(capsys.readouterr().out)["gaps"]
    assert (row["item"], row["anna"], row["score"], row["reasons"]) == ("q1", 1, 5, "It is a mill.")


@pytest.mark.parametrize("wrong", [["--gaps", "0"], ["--gaps", "-3"], ["--texts"]])
def test_wrong_options_are_refused(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert check(*wrong) == 2
    assert wrong[0] in capsys.readouterr().err


def test_the_reasons_come_from_the_judges_own_records(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mills.jsonl").write_bytes(texts(2, ("A0", "A2")))
    with ScriptedServer(lambda body, n: answer(body, n)) as server:
        asked = ["--backend", "openai", "--model", "tiny", "--base-url", server.url, "--out", "out"]
        assert main(["judge", "rubric", "mills.jsonl", *asked]) == 0
    rows = list(csv.DictReader(Path("out", "scores.csv").read_text("utf-8").splitlines()))
    people = [f"{row['item']},{row['system']},{row['level']},{n % 3 + 1}\n" for n, row in enumerate(rows)]
    Path("people.csv").write_text("item,system,level,score\n" + "".join(people), encoding="utf-8")
    feedback = [
        trial["feedback"]
        for line in Path("out", "records.jsonl").read_text("utf-8").splitlines()
        for trial in json.loads(line)["record"]["trials"]
    ]
    for judge in ("out", "run:1"):
        capsys.readouterr()
        status = main(["check", "people.csv", judge, "--gaps", "--texts", "--json"])
        assert status in (3, 4), capsys.readouterr().err
        found = json.loads(capsys.readouterr().out)["gaps"]
        assert sorted(row["reasons"] for row in found) == sorted(feedback)
        assert all("mill" in row["text"] for row in found)
