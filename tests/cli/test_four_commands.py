"""README's commands from questions to a meta-correlation and a comparison, and the output that README shows."""

import json
import re
import shlex
from pathlib import Path

import pytest

from core.cli import main

ROOT = Path(__file__).resolve().parents[2]


README = (ROOT / "README.md").read_text("utf-8")


def shown(language: str, section: str = "Which metric") -> list[str]:
    """The lines of the blocks in a language, in the section of README whose heading begins so."""
    text = README.partition(f"\n## {section}")[2].partition("\n## ")[0]
    blocks = re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def test_four_commands_lead_from_questions_to_a_meta_correlation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = [shlex.split(line)[3:] for line in shown("sh")]
    assert [words[0] for words in commands] == [
        *("generate", "score", "correlate", "meta-correlate"),
        "correlate",
    ]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    (tmp_path / "data").symlink_to(ROOT / "data")
    for words in commands:
        assert main(words) == 0, capsys.readouterr().err
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert shown("text")
    for line in shown("text"):
        assert line.split() in printed, line
    correlations = json.loads((tmp_path / "results" / "correlations.json").read_text("utf-8"))
    assert len(correlations) == 16
    for row in correlations:
        assert (row["against"], row["n"], row["n_left_out"]) == ("-level", 84, 0)
        assert row["spearman"]["low"] < row["spearman"]["estimate"] < row["spearman"]["high"]
        assert row["kendall_per_item"]["estimate"] > 0.8, "the rules' damage grows with the level"


def answers(commands: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What each command prints, with its verdict by the exit status."""
    found = []
    for command in commands:
        program, *words = shlex.split(command)
        assert program == "assay"
        status = main(words)
        printed = capsys.readouterr().out
        assert printed.startswith({0: "TRUSTED ", 3: "NOT TRUSTED ", 4: "INCONCLUSIVE "}[status])
        found.append(printed)
    return found


def test_real_ratings_lead_to_two_verdicts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    *set_up, expert, family = shown("sh", "First success")
    assert [line.partition(" #")[0].strip() for line in set_up] == ["./run --setup", ". .venv/bin/activate"]
    monkeypatch.chdir(ROOT)
    begun = [line for printed in answers([expert, family], capsys) for line in printed.splitlines()[:2]]
    assert begun == shown("text", "First success")
    assert [line.split(" in the place")[0] for line in begun[::2]] == ["TRUSTED", "NOT TRUSTED"]


def test_the_first_commands_about_a_judge_print_what_their_document_shows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "check.md").read_text("utf-8").partition("\n## ")[0]
    commands, *outputs = re.findall(r"```(?:sh|text)\n(.*?)```", text, flags=re.DOTALL)
    monkeypatch.chdir(ROOT)
    first = [line.replace("python -m core", "assay") for line in commands.splitlines()[:2]]
    for printed, output in zip(answers(first, capsys), outputs, strict=True):
        assert printed.startswith(output)
    others = [first[0].replace("expert_0", judge) for judge in ("expert_1", "expert_2", "family_only")]
    verdicts = [printed.split(" in the place")[0] for printed in answers(others, capsys)]
    assert verdicts == ["TRUSTED", "NOT TRUSTED", "NOT TRUSTED"]
