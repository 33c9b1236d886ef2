"""Commands on scores do not write over what they read, and do not ignore what was asked of them."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli import main

Run = Callable[..., str]
MQM = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n" + "".join(
    f"s\td\t1\t{k}\tr\ta source\ta <v>target</v>\tFluency\tMinor\n" for k in range(1, 4)
)


@pytest.fixture
def files(tmp_path: Path, run: Run) -> Path:
    """A folder with scores, ratings of two kinds, texts, and two sides; commands run in it."""
    (tmp_path / "scores.csv").write_text(
        "item,system,level,m\n" + "".join(f"{k},s,A{k},{k}\n" for k in range(1, 4))
    )
    (tmp_path / "human.csv").write_text("item,system,score\n1,s,1\n2,s,2\n3,s,4\n")
    (tmp_path / "mqm.tsv").write_text(MQM)
    (tmp_path / "texts.jsonl").write_text('{"item": "1", "text": "So.", "reference": "So."}\n')
    sides = {name: {"spearman": value} for name, value in (("bleu", 0.1), ("ter", 0.2), ("comet", 0.3))}
    for name in ("h.json", "s.json"):
        (tmp_path / name).write_text(json.dumps(sides))
    (tmp_path / "ratings.json").write_text('[{"item": "1", "system": "s", "score": 1}]')
    os.symlink("scores.csv", tmp_path / "link.csv")
    os.link(tmp_path / "human.csv", tmp_path / "other.csv")
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


CORRELATE = ("correlate", "scores.csv", "--with", "human", "--human", "human.csv", "--out")


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "texts.jsonl", "--metrics", "bleu-1", "--out", "texts.jsonl"),
        (*CORRELATE, "scores.csv"),
        (*CORRELATE, "link.csv"),
        (*CORRELATE, "./human.csv"),
        (*CORRELATE, "other.csv"),
        ("meta-correlate", "h.json", "s.json", "--out", "h.json"),
        ("meta-correlate", "h.json", "s.json", "--out", "s.json"),
        ("meta-correlate", "x=h.json,y=s.json", "scores.csv", "--by", "dataset", "--out", "h.json"),
        ("meta-correlate", "scores.csv", "s.json", "--human", "ratings.json", "--out", "ratings.json"),
    ],
)
def test_no_command_writes_over_what_it_reads(
    arguments: tuple[str, ...], files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    said = refused(capsys, *arguments)
    assert f"--out: {Path(arguments[-1])} is an input of this command and would be replaced" in said
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


def test_the_database_is_kept_too(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (CORRELATE[:-1], ("meta-correlate", "h.json", "s.json")):
        name = files / ("kept.csv" if command[0] == "correlate" else "kept.json")
        arguments = (*command, "--db", str(name), "--out", str(name))
        assert "belongs to the database" in refused(capsys, *arguments)


def test_a_csv_holds_one_table_and_says_which(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("correlate", "scores.csv", "--with", "level", "--levels", "--redundancy", "kendall")
    assert main([*command, "--out", "new.csv"]) == 0
    assert (
        "new.csv contains the table correlations. Choose another with --table: levels, monotonic, redundancy"
        in (capsys.readouterr().out)
    )
    assert (files / "new.csv").read_text("utf-8").startswith("metric,family,signature,")
    assert main([*command, "--table", "levels", "--out", "levels.csv"]) == 0
    assert "contains the table" not in capsys.readouterr().out
    assert (files / "levels.csv").read_text("utf-8").startswith("metric,family,level,mean,")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("correlate", "scores.csv", "--with", "level"), "--lower-is-better: only with --with human"),
        (
            ("correlate", "scores.csv", "--with", "human", "--human", "mqm.tsv"),
            "are already deductions",
        ),
        (("meta-correlate", "h.json", "s.json"), "h.json contains correlations; leave it out"),
        (("meta-correlate", "published:cus-qa-cs", "s.json"), "published:cus-qa-cs contains correlations"),
    ],
)
def test_a_direction_that_cannot_apply_is_refused(
    arguments: tuple[str, ...], said: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refused(capsys, *arguments, "--lower-is-better")


@pytest.mark.shared
def test_the_direction_of_a_folders_ratings_is_its_own(
    run: Run, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("correlate", str(shared_data / "wmt23"), "--with", "human", "--lower-is-better")
    assert "a folder defines the direction of its ratings; leave it out" in refused(capsys, *command)


def test_ratings_beside_published_correlations_are_refused(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, "meta-correlate", "published:cus-qa-cs", "s.json", "--human", "human.csv")
    assert "HUMAN (published:cus-qa-cs) contains correlations; leave it out" in said


@pytest.mark.parametrize("command", [CORRELATE, ("meta-correlate", "h.json", "s.json", "--out")])
def test_an_out_that_cannot_be_written_is_named_before_any_work(
    files: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    (files / "made.json").mkdir()
    assert "made.json is a folder. Name a file in it" in refused(capsys, *command, "made.json")
    assert "cannot be written" in refused(capsys, *command, "scores.csv/made.json")
