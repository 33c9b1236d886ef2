"""One table goes through every door, under the names it has and under names that are told."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli import main
from core.formats.registry import read_questions, read_texts
from core.tables.mapping import parse_columns, with_columns

HEADER = ("id", "question", "ref", "level", "system", "output")
OTHER = ("key", "asked", "gold", "step", "who", "said")
TOLD = "item_id=key,question=asked,reference=gold,level=step,system=who,text=said"


def table(header: tuple[str, ...]) -> bytes:
    """Two items at two levels by two systems."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(header)
    for item in ("1", "2"):
        for level in ("A0", "A1"):
            for system in ("north", "south"):
                reference = f"The river {item} is 300 km long and flows into the sea."
                text = f"{system} says at {level} that river {item} is long and flows into the sea."
                writer.writerow([item, f"How long is river {item}?", reference, level, system, text])
    return buffer.getvalue().encode()


@pytest.fixture(params=["as it is", "told"])
def given(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    told = request.param == "told"
    Path("table.csv").write_bytes(table(OTHER if told else HEADER))
    return ["table.csv", *(["--columns", TOLD] if told else [])]


CHOSEN = ("--candidate", "north", "--comparator", "south")
DOORS: dict[str, Callable[[list[str]], list[str]]] = {
    "study import": lambda given: ["study", "import", *given, "--name", "pairs", *CHOSEN],
    "study import-ratings": lambda given: [
        "study",
        "import-ratings",
        *given,
        "--task",
        "direct",
        "--name",
        "rated",
    ],
    "generate damage": lambda given: ["generate", "damage", *given, "--out", "made"],
    "score": lambda given: ["score", *given, "--metrics", "chrF", "--out", "scores.csv"],
    "judge claims": lambda given: ["judge", "claims", *given, "--backend", "rules", "--out", "claims"],
}


@pytest.mark.parametrize("door", DOORS)
def test_the_table_goes_through(door: str, given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(DOORS[door](given)) == 0, capsys.readouterr().err
    if door == "generate damage":
        assert json.loads(Path("made/run.json").read_text("utf-8"))["items"] == 2
    if door == "score":
        assert len(Path("scores.csv").read_text("utf-8").splitlines()) == 9


@pytest.mark.parametrize("door", DOORS)
def test_a_column_that_is_not_there_is_refused_at_every_door(
    door: str, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(DOORS[door]([given[0], "--columns", "text=nowhere"])) == 2
    assert "nowhere" in capsys.readouterr().err
    assert not list(Path().glob("made/*"))
    assert not Path("scores.csv").exists()


def test_questions_are_read_once_an_item_and_the_rest_is_left_aside() -> None:
    for data in (table(HEADER), with_columns(table(OTHER), "t.csv", parse_columns(TOLD))):
        found = read_questions(data, "t.csv")
        assert [one.item.item_id for one in found.materials] == ["1", "2"]
        assert found.notes
        assert {one.system for one in read_texts(data, "t.csv").outputs} == {"north", "south"}
