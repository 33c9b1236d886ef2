"""`--scale`, `--classes` and `--missing`: the same at every command that reads raters and judges, and in Python."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import assay
from core.cli import main

WORDS = ["awful", "fine", "good"]
DECLARED = ("--classes", ",".join(WORDS), "--missing", "unsure,#N/A")
WHO = ("--human", "a,b,c", "--judge", "judge")


@pytest.fixture
def frame() -> pd.DataFrame:
    """60 texts, three raters and a judge, in words that no known scale has; some cells are no ratings."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 60)
    columns = {
        name: [WORDS[min(2, max(0, level + rng.choice([0, 0, 0, 1, -1])))] for level in truth]
        for name in ("a", "b", "c", "judge")
    }
    found = pd.DataFrame({"id": [f"q{at}" for at in range(60)], **columns, "sure": rng.random(60).round(2)})
    found.loc[:4, "a"] = "unsure"
    found.loc[3, "judge"] = "#N/A"
    return found


@pytest.fixture
def file(frame: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    "command",
    [
        ("check",),
        ("alt-test",),
        ("escalate", "--confidence", "sure"),
        ("corrected", "--pass", "good"),
    ],
)
def test_every_command_takes_them(
    command: tuple[str, ...], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *more = command
    assert main([name, str(file), *WHO, *more, *DECLARED, "--json"]) != 2, capsys.readouterr().err
    assert json.loads(capsys.readouterr().out)
    assert main([name, str(file), *WHO, *more, "--classes", "fine,good"]) == 2
    refused = capsys.readouterr().err
    assert sum('"unsure" (5 cells)' in line for line in refused.splitlines()) == 1
    assert "--missing" in refused
    assert main([name, str(file), *WHO, *more, "--scale", "nine", "--classes", "good"]) == 2
    refused = capsys.readouterr().err
    assert "--scale: " in refused
    assert "--classes: " in refused


def test_calibrate_takes_them(
    frame: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = frame.melt("id", ["a", "b", "c"], "rater", "score").rename(columns={"id": "item_id"})
    long.to_csv(tmp_path / "human.csv", index=False)
    frame[["id", "judge"]].to_csv(tmp_path / "judge.csv", index=False)
    given = [
        "calibrate",
        str(tmp_path / "human.csv"),
        str(tmp_path / "judge.csv"),
        "--resamples",
        "0",
        "--json",
    ]
    assert main([*given, *DECLARED]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["by_dimension"][0]["classes"] == [0, 1, 2]
    found = assay.calibrate(
        long, frame[["id", "judge"]], classes=WORDS, missing=["unsure", "#N/A"], resamples=0
    )
    assert json.loads(json.dumps(found.json["by_dimension"])) == told["by_dimension"]
    assert main([*given, "--scale", "nine"]) == 2


def test_python_gives_what_the_command_gives(
    frame: pd.DataFrame, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", str(file), *WHO, *DECLARED, "--json"])
    told = json.loads(capsys.readouterr().out)
    chosen = {"human": ["a", "b", "c"], "judge": "judge"}
    found = assay.check(frame, **chosen, classes=WORDS, missing=["unsure", "#N/A"])
    assert found.json["judges"] == told["judges"]
    with pytest.raises(assay.InputError):
        assay.check(frame, **chosen, scale="ordered")


def test_numbers_that_are_not_on_the_declared_scale(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,human,judge\n" + "".join(f"q{at},{at % 4},{at % 4}\n" for at in range(40)))
    assert main(["check", str(path), "--scale", "1-5"]) == 2
    assert "0 (10 cells)" in capsys.readouterr().err
    assert main(["check", str(path), "--scale", "0-5"]) != 2
