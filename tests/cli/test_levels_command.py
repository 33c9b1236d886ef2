"""`report levels`: from every kind of scores, with the steps of a generation run, and a file of items to remake."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import assay
from core.cli import main
from core.formats.registry import read_questions

DEMO = Path("data/demo")
REMADE = ["d03", "d07", "d11"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made levels (run 1, folder `made`), the claims judge on them (run 2) and on the demo's answers (run 3), and BLEU."""
    here = tmp_path_factory.mktemp("levels")
    db = ("--db", here / "assay.db")
    by_rules = ("--backend", "rules")
    for words in (
        ("generate", "factual", DEMO / "questions.jsonl", *by_rules, "--out", here / "made", *db),
        ("judge", "claims", "run:1", *by_rules, "--out", here / "judged", *db),
        ("judge", "claims", DEMO / "answers.csv", *by_rules, "--out", here / "demo", *db),
        ("score", DEMO / "answers.csv", "--metrics", "chrf-6-0", "--out", here / "scores.csv", *db),
    ):
        assert main([str(word) for word in words]) == 0
    return here


@pytest.fixture
def told(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: object, as_json: bool = True) -> Any:
        capsys.readouterr()
        given = ["report", "levels", *map(str, words), "--resamples", "20", "--db", str(folder / "assay.db")]
        code = main([*given, "--json"] if as_json else given)
        out = capsys.readouterr()
        assert code == 0, out.err
        return json.loads(out.out) if as_json else out.out

    return run


def test_a_judge_of_a_generation_run_knows_its_steps(told: Any, folder: Path) -> None:
    of_run = told("run:2")
    assert of_run["stored_steps"] is True
    assert of_run["counts"] == {"as claimed": 9, "remake": 3, "undecided": 2}
    assert of_run["remake_items"] == REMADE
    assert told(folder / "judged", folder / "made") == of_run
    assert told(folder / "judged", "run:1") == of_run
    without = told(folder / "judged")
    assert (without["stored_steps"], without["counts"]["remake"]) == (False, 2)


def test_the_demo_and_plain_scores(told: Any, folder: Path) -> None:
    demo = told("run:3")
    assert demo == told(folder / "demo")
    assert demo["counts"] == {"as claimed": 22, "remake": 3, "undecided": 3}
    plain = told(folder / "scores.csv", DEMO / "answers.csv")
    assert plain["remake_items"] == ["d07"]
    assert {item["not_checked"]["core"] for item in plain["items"]} == {"the judge verified no claims"}
    bare = told(folder / "scores.csv")
    assert (bare["counts"]["as claimed"], bare["length_by_level"]["estimate"]) == (28, None)
    assert set(bare["items"][0]["not_checked"]) == {"core", "contradiction", "equal", "length"}


def test_the_verdict_comes_first_and_the_table_names_the_levels(told: Any) -> None:
    lines = told("run:2", as_json=False).splitlines()
    assert lines[0].startswith(
        "9 of 14 items have levels as claimed. Remake 3: item d03, level A3 (keeps the core fact)"
    )
    assert any(line.split()[:2] == ["d07", "A3"] for line in lines)


def test_options_change_what_counts(told: Any) -> None:
    words = (
        "--longer",
        "0.001",
        "--alike",
        "0.9",
        "--tolerance",
        "0.5",
        "--metric",
        "claims-rules-precision",
    )
    found = told("run:2", *words)
    assert found["judge"] == "claims-rules-precision"
    assert found["options"] == {"longer": 0.001, "alike": 0.9, "tolerance": 0.5, "rise": 0.5}
    checks = {fault["check"] for item in found["items"] for fault in item["faults"]}
    assert {"equal", "length"} <= checks


def test_the_items_to_remake_are_a_file_for_generate(told: Any, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "remake.csv"
    told("run:2", "--remake", file)
    found = read_questions(file.read_bytes(), file.name)
    assert [one.item.item_id for one in found.materials] == REMADE
    assert (
        main(
            [
                "generate",
                "factual",
                str(file),
                "--backend",
                "rules",
                "--out",
                str(tmp_path / "again"),
                "--db",
                str(tmp_path / "a.db"),
            ]
        )
        == 0
    )
    told(folder / "demo", "--remake", file)  # no run made these texts
    assert [one.item.item_id for one in read_questions(file.read_bytes(), file.name).materials] == [
        "d07",
        "d10",
    ]


def test_without_an_item_to_remake_no_file_is_replaced(told: Any, folder: Path, tmp_path: Path) -> None:
    remake, texts = tmp_path / "remake.csv", tmp_path / "texts.csv"
    remake.write_text("mine")
    rows = [f"q1,s,A{at},What?,Word number {at}.,{1 - at / 5}" for at in range(5)]
    texts.write_text("\n".join(["item_id,system,level,question,text,m", *rows]))
    found = told(texts, texts, "--remake", remake)
    assert found["remake_items"] == []
    assert remake.read_text() == "mine"


def test_files_hold_every_table(told: Any, tmp_path: Path) -> None:
    file, remake = tmp_path / "levels.csv", tmp_path / "remake.csv"
    told("run:3", "--out", file, "--remake", remake)
    again = read_questions(remake.read_bytes(), remake.name)  # no run made these texts
    assert [one.item.item_id for one in again.materials] == ["d07", "d10"]
    rows = list(csv.DictReader(io.StringIO(file.read_text("utf-8"))))
    assert [(row["item"], row["level"], row["check"]) for row in rows] == [
        ("d07", "A3", "contradiction"),
        ("d07", "A1", "contradiction"),
        ("d10", "A4", "core"),
    ]
    told("run:2", "--out", file, "--table", "items-made")
    assert len(list(csv.DictReader(io.StringIO(file.read_text("utf-8"))))) == 14


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (
            ("run:3", "--tolerance", "1", "--longer", "0", "--remake", "x.txt"),
            ("--tolerance", "--longer", "--remake"),
        ),
        (("run:3", "--metric", "claims"), ("Unknown metric",)),
        (("run:9",), ("no run 9",)),
        (("nowhere",), ("nowhere",)),
        (("run:3", "--remake", "x.csv", "--out", "x.csv"), ("--remake",)),
        (("{scores}", "--remake", "x.csv"), ("--remake", "texts")),
        (("run:1",), ("run 1",)),
    ],
)
def test_mistakes_are_named(
    words: tuple[str, ...], wanted: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [word.format(scores=folder / "scores.csv") for word in words]
    assert main(["report", "levels", *given, "--db", str(folder / "assay.db")]) != 0
    assert not Path("x.csv").exists()
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert all(one.lower() in said.lower() for one in wanted), said


def test_the_notebook_has_the_same_numbers(told: Any, folder: Path) -> None:
    db = folder / "assay.db"
    for words in (("run:2",), (str(folder / "scores.csv"), str(DEMO / "answers.csv"))):
        found = assay.made_levels(*words, resamples=20, db=db)
        assert json.loads(json.dumps(found.json)) == told(*words)
    scores, texts = assay.read(folder / "scores.csv", "scores"), assay.read(DEMO / "answers.csv")
    assert assay.made_levels(scores, texts, resamples=0).names == [
        "made-levels",
        "levels-made",
        "length-by-system",
        "items-made",
    ]
    with pytest.raises(assay.InputError):
        assay.made_levels(scores, texts, tolerance=2)
