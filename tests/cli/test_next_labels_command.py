"""The loop by command: check, next labels, a study of them, votes, and the check again."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.texts.factories import dataset, prefers, study_in, unblind, vote
from helpers.texts.rating_studies import RatingStudyAtHand

from core.cli import main
from core.schema.scores import PROBABILITY
from core.schema.study import NO_LEVEL
from core.store import open_store
from core.store.studies import find_study
from core.study.lifecycle import move
from core.study.raters import add_raters

INCONCLUSIVE = 4


@pytest.fixture
def checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Run `check` on a table of 200 texts, 40 of them with a label; its status, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    lines = ["item_id,question,answer,human,judge"]
    for at in range(200):
        lines.append(
            f"q{at},What is {at}?,It is {at}.,{_human(at) if at < 40 else ''},{'pass' if at % 2 else 'fail'}"
        )
    (tmp_path / "zq.csv").write_text("\n".join(lines) + "\n")

    def check(*more: str) -> tuple[int, str, str]:
        capsys.readouterr()
        limits = ("--most-false-passes", "0.1", "--most-false-fails", "0.1")
        words = ("zq.csv", "--human", "human", "--judge", "judge", "--use", "gate", *limits)
        status = main(["check", *words, *more])
        out, err = capsys.readouterr()
        return status, out, err

    return check


def _human(at: int) -> str:
    """People agree with the judge on what fails, and on three of four of what passes."""
    return "pass" if at % 2 and at % 8 != 1 else "fail"


def _rated(path: Path, name: str, rater: str, change: str = "") -> None:
    """A rater rates every text of a study as `_human`, and the study is unblinded."""
    with open_store(path) as store:
        study = find_study(store, name)
        add_raters(store, study, [rater])
        move(store, study, "open")
        at_hand = RatingStudyAtHand(store, study.study_id)
        desk = at_hand.desk(rater)
        (label,) = desk.task.dimensions
        values = {word: value for value, word in label.anchors}
        for number in range(1, desk.total + 1):
            at = int(desk.text(number).text.removeprefix("It is ").rstrip("."))
            desk.save_scores(number, {label.name: values[_human(at)]})
            desk.complete(number, seconds=5)
        if change != "open":
            move(store, study, "closed")
            move(store, study, "unblinded", "done")


def test_the_loop_by_a_study(checked: Callable[..., Any], tmp_path: Path) -> None:
    status, out, _ = checked("--json")
    before = json.loads(out)
    assert status == INCONCLUSIVE
    status, out, _ = checked("--next", "60", "--study", "more", "--json")
    chosen = {one["item"]: one[PROBABILITY] for one in json.loads(out)["next"]["labels"]}
    assert (status, len(chosen)) == (INCONCLUSIVE, 60)
    assert not {f"q{at}" for at in range(40)} & chosen.keys()
    _rated(tmp_path / "assay.db", "more", "A")
    status, out, _ = checked("--labels", "study:more", "--json")
    after = json.loads(out)
    assert after["human"]["raters"] == ["human", "A"]
    assert after["n_items"] == before["n_items"] + 60
    before_width, width = (
        one["judges"][0]["agreement"]["high"] - one["judges"][0]["agreement"]["low"]
        for one in (before, after)
    )
    assert width < before_width
    assert after["judges"][0]["agreement"]["low"] <= 0.875 <= after["judges"][0]["agreement"]["high"]


def test_the_loop_by_files(checked: Callable[..., Any], run: Callable[..., str], tmp_path: Path) -> None:
    status, _, _ = checked("--next", "30", "--out", "next.csv", "--table", "next-labels")
    assert status == INCONCLUSIVE
    rows = list(csv.DictReader((tmp_path / "next.csv").read_text("utf-8-sig").splitlines()))
    assert len(rows) == 30
    task = (
        "name: pass\ntitle: Label\nsource: {paper: own, section: own, differences: none}\n"
        "dimensions:\n- {name: label, title: Label, description: Does it pass, lowest: 0, highest: 1, "
        "anchors: {0: fail, 1: pass}}\n"
    )
    (tmp_path / "pass.yaml").write_text(task)
    run("study", "import-ratings", "next.csv", "--task", "pass.yaml", "--name", "by file", "--repeats", "0")
    _rated(tmp_path / "assay.db", "by file", "A")
    by_study = json.loads(checked("--labels", "study:by file", "--json")[1])
    for form, name in (("rated", "back.jsonl"), ("csv", "back.csv")):
        run("study", "export", "by file", "--format", form, "--out", name)
        again = json.loads(checked("--labels", name, "--json")[1])
        assert again["judges"] == by_study["judges"]
        assert again["n_items"] == 70
    drawn = {row["item_id"]: float(row[PROBABILITY]) for row in rows}
    exported = csv.DictReader((tmp_path / "back.csv").read_text("utf-8-sig").splitlines())
    assert {row["item_id"]: float(row[PROBABILITY]) for row in exported} == drawn


def test_a_blinded_study_is_refused(checked: Callable[..., Any], tmp_path: Path) -> None:
    checked("--next", "10", "--study", "more")
    _rated(tmp_path / "assay.db", "more", "A", "open")
    status, out, err = checked("--labels", "study:more")
    assert (status, out) == (2, "")
    assert "more" in err


@pytest.mark.parametrize("state", ["open", "unblinded"])
def test_the_votes_of_a_study_of_pairs_are_checked_only_once_they_are_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], state: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    data = dataset(40, (NO_LEVEL,))
    with open_store(tmp_path / "assay.db") as store:
        at_hand = study_in(store, data, repeat_share=0.0, blinding_pairs=0)
        for token in at_hand.tokens.values():
            vote(store, token, prefers(0))
        if state == "unblinded":
            unblind(at_hand)
        name = at_hand.study.name
    lines = ["item_id,system,judge"]
    lines += [f"{one.item_id},{one.source},{1 + (one.source == data.sources[0])}" for one in data.outputs]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    status = main(["check", f"study:{name}", "scores.csv", "--use", "gate", "--json"])
    out, err = capsys.readouterr()
    if state == "open":
        assert (status, out) == (2, "")
        assert name in err
        return
    found = json.loads(out)
    assert found["n_items"] == 40
    assert found["judges"][0]["agreement"]["estimate"] == 1.0


def test_the_terminal_says_how_to_go_on(checked: Callable[..., Any]) -> None:
    assert "--next" in checked()[1].splitlines()[-1]
    assert "next-labels" not in checked("--next", "3")[2]
    assert sum(line.startswith("q") for line in checked("--next", "3")[1].splitlines()) == 3


@pytest.mark.parametrize(
    "options",
    [
        ("--study", "x"),
        ("--next", "0"),
        ("--table", "next-labels", "--out", "x.csv"),
        ("--next", "2", "--labels", "no.csv"),
    ],
)
def test_mistakes_are_named(checked: Callable[..., Any], options: tuple[str, ...]) -> None:
    status, out, err = checked(*options)
    assert (status, out) == (2, "")
    assert options[-1] in err or options[0] in err


def test_a_file_without_texts_names_the_column(checked: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "zq.csv"
    path.write_text(path.read_text().replace("question,answer", "x1,x2"))
    status, _, err = checked("--next", "5", "--study", "more")
    assert status == 2
    assert "text" in err
