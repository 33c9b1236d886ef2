"""Files of trial use whose verdicts were wrong, or that were not read: what the check says of each now."""

import json
from pathlib import Path

import pytest

from core.cli import main

STATUS = {"TRUSTED": 0, "NOT TRUSTED": 3, "INCONCLUSIVE": 4}
VERDICTS = {
    "below_constant.csv": "INCONCLUSIVE",
    "gate_misses_fails.csv": "INCONCLUSIVE",
    "human_one_class.csv": "INCONCLUSIVE",
    "human_one_class_words.csv": "INCONCLUSIVE",
    "judge_often_silent.csv": "NOT TRUSTED",
    "judge_silent_on_fails.csv": "INCONCLUSIVE",
    "labels_by_judge_class.csv": "INCONCLUSIVE",
    "rare_fails_400.csv": "NOT TRUSTED",
    "rare_fails_600.csv": "NOT TRUSTED",
    "severity_use.csv": "INCONCLUSIVE",
    "shifted_one_5.csv": "NOT TRUSTED",
    "shifted_without_5.csv": "NOT TRUSTED",
    "twenty_texts.csv": "INCONCLUSIVE",
}
KINDS = {
    "ac1_unused_class.csv": "ordered",
    "codes-as-numbers.csv": "unordered",
    "codes-as-words.csv": "unordered",
    "codes-other-numbers.csv": "unordered",
    "fail_partial_pass.csv": "ordered",
    "human_judge_semicolon.csv": "two",
    "human_judge_tab.tsv": "two",
    "j1.csv": "two",
    "j3.csv": "two",
    "j5.csv": "two",
}
REFUSED = ("unsure.csv", "numbers-and-words.csv", "rater-twice.csv", "judge-2-rows.jsonl")
Answer = tuple[int, dict[str, object]]


@pytest.fixture
def cases(shared_data: Path) -> Path:
    return shared_data.parent / "cases"


def _check(file: Path, capsys: pytest.CaptureFixture[str], *more: str) -> Answer:
    status = main(["check", str(file), *more, "--json"])
    return status, json.loads(capsys.readouterr().out or "{}")


@pytest.mark.shared
@pytest.mark.parametrize("use", ["gate", "replace"])
@pytest.mark.parametrize(("name", "verdict"), VERDICTS.items())
def test_no_bad_judge_is_trusted(
    name: str, verdict: str, use: str, cases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = _check(cases / "verdicts" / name, capsys, "--use", use)
    assert (status, found["verdict"]) == (STATUS[verdict], verdict)


@pytest.mark.shared
@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_the_scale_of_a_file(name: str, kind: str, cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, found = _check(cases / "judges" / name, capsys)
    scale = found["scale"]
    assert isinstance(scale, dict)
    assert scale["kind"] == kind


@pytest.mark.shared
@pytest.mark.parametrize("name", REFUSED)
def test_files_that_are_refused(name: str, cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(cases / "judges" / name)]) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert len(said.splitlines()) <= 6
