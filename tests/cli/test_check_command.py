"""`check`: exit statuses for one judge and several, JSON, the table of rules, and wrong options."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.texts.checks import check_json

from core.cli import main
from core.formats.panel import read_panel
from core.results.check.sentences import read_as
from core.results.check.verdict import check_panel
from core.schema.uses import CheckOptions

Run = Callable[..., int]
PEOPLE = ("--human", "a,b,c")
STATUS = {"TRUSTED": 0, "NOT TRUSTED": 3, "INCONCLUSIVE": 4}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """500 items, three raters, a fourth one as `copy`, a coin, a constant, and a judge near the limit."""
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 3, 500)

    def noisy(share: float) -> list[int]:
        return np.where(rng.random(500) < share, 3 - truth, truth).tolist()

    frame = pd.DataFrame({name: noisy(0.05) for name in ("a", "b", "c", "copy")})
    frame = frame.assign(coin=rng.integers(1, 3, 500), constant=1, near=noisy(0.1))
    frame.insert(0, "id", [f"q{at}" for at in range(500)])
    path = tmp_path_factory.mktemp("check") / "labels.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("judges", "expected"),
    [
        ("copy", 0),
        ("coin", 3),
        ("constant", 3),
        ("near", 4),
        ("copy,coin", 3),
        ("copy,near", 4),
        ("coin,near", 3),
    ],
)
def test_exit_status(
    file: Path, judges: str, expected: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    assert main(["check", str(file), *PEOPLE, "--judge", judges, "--out", str(out)]) == expected
    told = json.loads(out.read_text("utf-8"))
    assert told["use"] == "replace"
    assert [one["name"] for one in told["judges"]] == judges.split(",")
    if len(told["judges"]) == 1:
        assert STATUS[told["verdict"]] == expected
        assert capsys.readouterr().out.startswith(told["sentence"])
    else:
        assert told["verdict"] is None


def test_json_is_the_packages(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--judge", "copy", "--use", "gate", "--margin", "0.1", "--json")
    assert main(["check", str(file), *PEOPLE, *words]) == 0
    told = json.loads(capsys.readouterr().out)
    panel = read_panel(file.read_bytes(), file.name, human=list("abc"), judges=["copy"], find=True)
    own = check_json(check_panel(panel, CheckOptions(use="gate", margin=0.1)))
    assert told["judges"][0]["agreement"] == own["judges"][0]["agreement"]
    assert told["signature"] == own["signature"]


def test_the_rules_are_written(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "rules.csv"
    main(["check", str(file), *PEOPLE, "--judge", "copy,coin", "--out", str(out), "--table", "check-rules"])
    table = pd.read_csv(out)
    assert table["code"].tolist() == [
        *("items", "false-passes", "false-fails", "kept-share", "alt-test"),
        *("items", "false-passes", "false-fails", "kept-share", "alt-test"),
    ]
    assert table["met"].tolist() == [*["met"] * 5, "met", *["failed"] * 3, "open"]


def test_wrong_options_are_named_together(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--judge", "copy", "--margin", "2", "--tolerance", "0", "--epsilon", "1")
    assert main(["check", str(file), *PEOPLE, *words]) == 2
    said = capsys.readouterr().err
    assert all(name in said for name in ("--margin", "--tolerance", "--epsilon"))
    assert main(["check", str(file), *PEOPLE, "--judge", "copy", "--use", "rank"]) == 2


@pytest.mark.slow
def test_a_hundred_thousand_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 6, 100_000)
    columns = {
        name: np.where(rng.random(truth.size) < 0.2, rng.integers(1, 6, truth.size), truth) for name in "abcx"
    }
    path = tmp_path / "many.csv"
    pd.DataFrame({"id": range(truth.size), **columns}).to_csv(path, index=False)
    begun = time.process_time()
    assert main(["check", str(path), *PEOPLE, "--judge", "x"]) == 0
    assert time.process_time() - begun < 20


def test_exit_status_stays_where_nobody_reads_the_output(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in `check ... | head -1` of a workflow that looks at the status of the pipe."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        monkeypatch.setattr("sys.stdout", closed)
        assert main(["check", str(file), *PEOPLE, "--judge", "coin", "--json"]) == 3


def test_a_system_is_certified_or_not(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """About half of the answers pass: the target decides, and labels of a part of the texts are enough."""
    frame = pd.read_csv(file)
    frame.loc[np.arange(500) % 2 == 0, list("abc")] = np.nan
    frame["system"] = "pipeline"
    path, out = tmp_path / "half.csv", tmp_path / "systems.csv"
    frame.to_csv(path, index=False)
    words = ("check", str(path), *PEOPLE, "--judge", "copy", "--use", "certify")
    for target, expected in ((0.4, 0), (0.7, 3), (0.55, 4)):
        assert main([*words, "--target", f"{target}", "--json"]) == expected
        told = json.loads(capsys.readouterr().out)
        (system,) = told["judges"][0]["systems"]
        assert (system["system"], system["target"]) == ("pipeline", target)
        assert (system["n_texts"], system["n_labels"]) == (500, 250)
        assert STATUS[system["verdict"]] == expected
    assert main([*words, "--target", "0.4", "--out", str(out), "--table", "check-systems"]) == 0
    assert pd.read_csv(out)["answer"].tolist() == ["all", "1", "2"]


def test_certify_needs_a_lowest_pass_and_a_target_below_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "grades.csv"
    pd.DataFrame({"id": range(60), "human": [1, 2, 3, 4, 5] * 12, "judge": [2, 2, 3, 4, 4] * 12}).to_csv(
        path, index=False
    )
    for words, named in (((), "--passes-from"), (("--target", "1"), "--target")):
        assert main(["check", str(path), "--use", "certify", *words]) == 2
        assert named in capsys.readouterr().err
    assert main(["check", str(path), "--use", "certify", "--passes-from", "2", "--target", "0.6"]) == 0


def test_certify_without_a_judge_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.csv"
    path.write_text(
        "id,human_1,human_2\n" + "".join(f"{at},{at % 2},{at % 3 % 2}\n" for at in range(40)), "utf-8"
    )
    assert main(["check", str(path), "--use", "certify"]) == 2
    assert "--judge: certify" in capsys.readouterr().err
    assert main(["check", str(path)]) == 4


def test_a_mean_that_is_followed_is_not_said_to_be_compared_by_rank(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "chances.csv"
    rows = "".join(f"{at},{at % 2},{(at * 7 % 50) / 50}\n" for at in range(60))
    path.write_text(f"id,human,judge\n{rows}", "utf-8")
    said = {
        use: read_as(check_panel(read_panel(path.read_bytes(), path.name), CheckOptions(use=use)))
        for use in ("gate", "monitor")
    }
    assert ["by rank" in one for one in said.values()] == [True, False]


def test_repeated_ratings_count_as_the_option_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "twice.csv", tmp_path / "out.json"
    rows = "".join(f"q{at},{rater},{at % 2}\n" for at in range(20) for rater in ("w1", "w2", "gpt-4"))
    path.write_text(f"item_id,rater,score\n{rows}q0,w1,1\n", "utf-8")
    assert main(["check", str(path)]) == 2
    assert "--repeated: 1 rating" in capsys.readouterr().err
    agreed = {}
    for policy in ("first", "last"):
        main(["check", str(path), "--repeated", policy, "--out", str(out)])
        agreed[policy] = json.loads(out.read_text("utf-8"))["judges"][0]["agreement"]["estimate"]
    assert agreed == {"first": 1.0, "last": pytest.approx(1 - 0.5 / 20)}
