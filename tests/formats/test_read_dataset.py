import json
import re
from pathlib import Path

import pytest

from core.errors import InputError
from core.formats.study.files import read_dataset
from core.formats.study.tables import FORMATS
from core.formats.trutheval import read_votes

PAPER = json.dumps(
    {"questions": [{"question": "q", "ground_truth": "r", "answers": {"A0": {"x": "t", "y": "u"}}}]}, indent=2
)
CSV = "item_id,question,reference,level,source,text\n0,q,r,A0,x,t\n0,,,A0,y,u\n"
JSONL = "\n".join(
    json.dumps({"item_id": "0", "question": "q", "reference": "r", "level": "A0", "source": s, "text": t})
    for s, t in (("x", "t"), ("y", "u"))
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (PAPER, "a.json"),
        (PAPER, "A.JSON"),
        (PAPER, "upload"),
        (PAPER, "a.txt"),
        (json.dumps(json.loads(PAPER)), "upload"),
        (CSV, "a.csv"),
        (CSV, "a.txt"),
        (CSV.replace(",", ";"), "upload"),
        (CSV.replace(",", "\t"), "a.tsv"),
        (CSV.replace("\n", "\r\n"), "a.csv"),
        (JSONL, "a.jsonl"),
        (JSONL, "a.NDJSON"),
        ("\n\n" + JSONL, "upload"),
    ],
)
def test_the_reader_follows_from_name_and_content(text: str, name: str):
    dataset = read_dataset(text.encode(), name)
    assert dataset.items[0].item_id == "0"
    assert dataset.sources == ("x", "y")
    assert [output.text for output in dataset.outputs] == ["t", "u"]
    assert dataset.file_name == name


@pytest.mark.parametrize("text", ["words <html>", "plain words\nand more", "# a: 1"])
def test_an_unknown_format_names_the_accepted_ones(text: str):
    with pytest.raises(InputError) as caught:
        read_dataset(text.encode(), "a.txt")
    assert caught.value.problems == (f"file: unknown format; use {FORMATS}",)
    assert "CSV" in FORMATS


def test_jsonl_named_json_is_read():
    assert read_dataset(JSONL.encode(), "a.json").outputs == read_dataset(JSONL.encode(), "a.jsonl").outputs


def test_the_examples_of_the_documentation_are_read_as_it_says():
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    after = dict(re.findall(r"(?ms)^##+ (.+?)$(.*?)(?=^##|\Z)", page))

    def example(heading: str) -> bytes:
        (found,) = re.findall(r"(?s)```\w+\n(.*?)```", after[heading])
        return str(found).encode()

    paper = read_dataset(example("Factual's JSON (`.json`)"), "a.json")
    table = read_dataset(example("Long table (`.csv`, `.tsv`)"), "a.csv")
    lines = read_dataset(example("One JSON object per line (`.jsonl`, `.ndjson`)"), "a.jsonl")
    assert (paper.levels, paper.sources) == (table.levels, table.sources) == (("A0", "A1"), ("ai", "human"))
    assert table.items[0].language == "en"
    assert len(lines.outputs) == 2
    votes = read_votes(example("Votes in"), "v.json", {("0", f"A{level}") for level in range(5)})
    assert sorted(votes) == [("0", f"A{level}") for level in range(4)]
