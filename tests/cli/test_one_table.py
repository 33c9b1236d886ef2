"""One table goes through every door, under the names it has and under names that are told."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli import main
from core.formats.registry import read_questions, read_texts
from core.tables.mapping import parse_columns, rename_columns

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
    for data in (table(HEADER), rename_columns(table(OTHER), "t.csv", parse_columns(TOLD))):
        found = read_questions(data, "t.csv")
        assert [one.item.item_id for one in found.materials] == ["1", "2"]
        assert found.notes
        assert {one.system for one in read_texts(data, "t.csv").outputs} == {"north", "south"}


RATED = "key,who,judge,stars\n" + "".join(
    f"{item},{system},{rater},{value}\n"
    for value, (item, system) in enumerate([("1", "north"), ("1", "south"), ("2", "north"), ("2", "south")])
    for rater in ("ann", "ben")
)
SCORED = "key,who,mine\n1,north,0.1\n1,south,0.2\n2,north,0.5\n2,south,0.9\n"
MARKED = "key,who,begins,stops,grade\n1,north,0,3,major\n2,south,4,7,minor\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("scores.csv", SCORED), ("rated.csv", RATED), ("marked.csv", MARKED)):
        Path(name).write_text(text, encoding="utf-8")


WHOSE = "item_id=key,system=who"
RATER = f"{WHOSE},rater=judge,score=stars"
SPAN = f"{WHOSE},start=begins,end=stops,severity=grade"


@pytest.mark.parametrize(
    ("arguments", "columns"),
    [
        (("correlate", "scores.csv", "--with", "human", "--human", "rated.csv"), RATER),
        (("acc23", "rated.csv", "scores.csv"), RATER),
        (("spans", "marked.csv", "marked.csv"), SPAN),
        (("convert", "marked.csv", "--to", "spans-csv", "--out", "out.csv"), SPAN),
        (("convert", "rated.csv", "--to", "seg-score", "--out", "out.seg.score"), RATER),
    ],
)
def test_columns_are_named_for_scores_ratings_and_marks(
    files: None, arguments: tuple[str, ...], columns: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--columns", columns]) == 0
    capsys.readouterr()
    assert main([*arguments, "--columns", f"{columns},language=tongue"]) == 2
    assert "has no column tongue" in capsys.readouterr().err


def test_named_columns_give_the_numbers_of_the_usual_names(
    files: None, capsys: pytest.CaptureFixture[str]
) -> None:
    correlate = ("correlate", "scores.csv", "--with", "human", "--human", "rated.csv", "--json")
    assert main([*correlate, "--columns", RATER]) == 0
    named = json.loads(capsys.readouterr().out)
    for name in ("scores.csv", "rated.csv"):
        text = Path(name).read_text("utf-8")
        for ours, theirs in (("item_id", "key"), ("system", "who"), ("rater", "judge"), ("score", "stars")):
            text = text.replace(theirs, ours)
        Path(name).write_text(text, encoding="utf-8")
    assert main(correlate) == 0
    assert json.loads(capsys.readouterr().out) == named
