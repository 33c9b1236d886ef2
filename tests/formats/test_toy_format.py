"""A format is one file and one line: then every door reads it, and says all that is wrong with it at once."""

import csv
import json
from pathlib import Path

import pytest
from helpers.toys import format as toy_format

from core.cli import main
from core.errors import InputError
from core.formats.registry import (
    FORMATS,
    TABLE,
    format_of,
    read_questions,
    read_ratings,
    read_scores,
    read_spans,
    read_study,
    read_texts,
)

ROWS = [
    {
        "id": item,
        "question": f"How long is river {item}?",
        "ref": f"The river {item} is 300 km long and flows into the sea.",
        "level": level,
        "system": system,
        "output": f"{system} says at {level} that river {item} is long and flows into the sea.",
    }
    for item in ("1", "2")
    for level in ("A0", "A1")
    for system in ("north", "south")
]


def written(rows: list[dict[str, str]]) -> bytes:
    return "\n\n".join("\n".join(f"{key} = {value}" for key, value in row.items()) for row in rows).encode()


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(FORMATS, toy_format.FORMAT.name, toy_format.FORMAT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    Path("texts.toy").write_bytes(written(ROWS))


@pytest.mark.parametrize(
    "door",
    [
        "study import texts.toy --candidate north --comparator south",
        "study import-ratings texts.toy --task direct",
        "generate damage texts.toy --out made",
        "score texts.toy --metrics chrF --out scores.csv",
        "judge claims texts.toy --backend rules --out claims",
    ],
)
def test_it_goes_through_every_door(door: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(door.split()) == 0, capsys.readouterr().err
    if "damage" in door:
        assert json.loads(Path("made/run.json").read_text("utf-8"))["items"] == 2
    if door.startswith("score"):
        with open("scores.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [(row["item"], row["system"], row["level"]) for row in rows] == [
            (row["id"], row["system"], row["level"]) for row in ROWS
        ]


def test_each_door_reads_what_it_is_for() -> None:
    data = written(ROWS)
    assert read_study(data, "a.toy").finish().sources == ("north", "south")
    materials = read_questions(data, "a.toy")
    assert [(one.item.item_id, one.item.question) for one in materials.materials] == [
        ("1", "How long is river 1?"),
        ("2", "How long is river 2?"),
    ]
    assert materials.notes
    assert [one.text for one in read_texts(b"%toy\n" + data, "a").outputs] == [row["output"] for row in ROWS]
    rated = written([{"item": "1", "rater": "A", "score": "3"}, {"item": "2", "rater": "A", "score": "4"}])
    assert [one.score for one in read_ratings(rated, "a.toy").ratings] == [3.0, 4.0]
    assert [one.score for one in read_ratings(rated, "a.toy", lower_is_better=True).ratings] == [-3.0, -4.0]
    scored = written([{"item": "1", "metric": "m", "score": "0.5"}])
    assert read_scores(scored, "a.toy").values.tolist() == [[0.5]]
    marked = {"item": "1", "rater": "A", "start": "0", "end": "3", "severity": "major"}
    (one,) = read_spans(written([marked]), "a.toy").ratings
    assert [(span.start, span.end, span.weight) for span in one.spans or ()] == [(0, 3, None)]
    assert one.score == -5.0


def test_all_problems_of_a_file_are_said_at_once() -> None:
    data = b"%toy\nid = 1\nlevel\nsystem = north\n\nid = 2\nsystem = \nsaid = a\n"
    with pytest.raises(InputError) as caught:
        read_ratings(data.replace(b"said", b"score"), "a")
    assert [one.partition(":")[0] for one in caught.value.problems] == ["block 1", "block 2"]
    for read in (read_texts, read_study, read_questions):
        with pytest.raises(InputError) as caught:
            read(data, "a")
        assert any("missing" in one for one in caught.value.problems)


def test_a_file_that_no_format_knows_is_a_table() -> None:
    assert format_of("texts", b"item,text\n1,a\n", "a.csv") is TABLE
    assert [one.outputs[0].text for one in (read_texts(b"item,text\n1,a\n", "a.csv"),)] == ["a"]


def test_a_table_may_be_parquet_or_a_list_of_objects_at_every_door() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), "texts.parquet")
    for data, name in (
        (Path("texts.parquet").read_bytes(), "texts.parquet"),
        (json.dumps(ROWS).encode(), "texts.json"),
    ):
        assert len(read_study(data, name).finish().outputs) == len(ROWS)
        assert len(read_texts(data, name).outputs) == len(ROWS)
    assert len(read_questions(Path("texts.parquet").read_bytes(), "texts.parquet").materials) == 2
