"""Files without ids are joined by the wording of their questions, whatever the order of their rows and however many there are."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.cli import main
from core.formats.panel import read_panel

N = 40


def files(folder: Path, *, drop: int = 0) -> tuple[Path, Path]:
    """People's ratings and a metric's scores of the same questions, the scores in reverse order; drop: questions they lack."""
    people = "".join(f"Question  {n}?,{n % 5 + 1}\n" for n in range(N))
    scores = "".join(f"Question {n}?,{n % 5 + 1 + n / 1000}\n" for n in reversed(range(drop, N)))
    paths = folder / "people.csv", folder / "scores.csv"
    paths[0].write_text(f"question,human\n{people}", "utf-8")
    paths[1].write_text(f"prompt,bleu\n{scores}", "utf-8")
    return paths


@pytest.mark.parametrize("drop", [0, 3])
def test_correlate(tmp_path: Path, capsys: pytest.CaptureFixture[str], drop: int) -> None:
    people, scores = files(tmp_path, drop=drop)
    main(
        [
            "correlate",
            str(scores),
            "--with",
            "human",
            "--human",
            str(people),
            "--rank",
            "pearson",
            "--json",
            "--resamples",
            "100",
        ]
    )
    (found,) = json.loads(capsys.readouterr().out)["correlations"]
    assert found["n"] == N - drop
    assert found["pearson"]["estimate"] > 0.99


def test_a_panel(tmp_path: Path) -> None:
    people, scores = files(tmp_path)
    beside = [(scores.read_bytes(), scores.name)]
    found = read_panel(people.read_bytes(), people.name, find=True, beside=beside)
    assert np.corrcoef(found.ratings[:, 0], found.scores[:, 0])[0, 1] > 0.99
    assert not found.unit.joined_by_row


def test_ids_are_not_joined_with_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people, scores = files(tmp_path)
    rows = "".join(f"{n},{n % 5 + 1}\n" for n in range(1, N))
    people.write_text(f"id,human\n{rows}", "utf-8")
    assert main(["correlate", str(scores), "--with", "human", "--human", str(people)]) == 2
