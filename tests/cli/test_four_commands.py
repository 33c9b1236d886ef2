"""The README's way from questions to a meta-correlation, as it is printed there."""

import json
import re
import shlex
from pathlib import Path

import pytest

from core.cli import main

ROOT = Path(__file__).resolve().parents[2]


def printed_commands() -> list[list[str]]:
    section = (ROOT / "README.md").read_text("utf-8").split("## Which metric follows quality", 1)[1]
    block = re.search(r"```sh\n(.*?)```", section, flags=re.DOTALL)
    assert block is not None
    return [shlex.split(line)[3:] for line in block[1].splitlines()]


def test_four_commands_lead_from_questions_to_a_meta_correlation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = printed_commands()
    assert [words[0] for words in commands] == ["generate", "score", "correlate", "meta-correlate"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    (tmp_path / "data").symlink_to(ROOT / "data")
    for words in commands:
        assert main(words) == 0, capsys.readouterr().err
    assert "(Spearman, 16 metrics)" in capsys.readouterr().out
    correlations = json.loads((tmp_path / "results" / "correlations.json").read_text("utf-8"))
    assert len(correlations) == 16
    for row in correlations:
        assert (row["against"], row["n"], row["n_left_out"]) == ("-level", 84, 0)
        assert row["spearman"]["low"] < row["spearman"]["estimate"] < row["spearman"]["high"]
        assert row["kendall_per_item"]["estimate"] > 0.8, "the rules' damage grows with the level"
