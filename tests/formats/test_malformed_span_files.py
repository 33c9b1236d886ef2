"""Hundreds of broken files for the readers of spans and rated texts: a clear error, or ratings that are sound.

`python -m pytest tests/formats/test_malformed_span_files.py -m "slow or not slow"` runs all of them. A failure names
the form and the number; `content(form, number)` makes that file again.
"""

import csv
import io
import json
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from helpers.texts.mutations import damaged, mutated, written

from core.errors import InputError
from core.formats.metal import read_metal
from core.formats.rated import ratings_of, write_rated
from core.formats.registry import read_rated, read_spans
from core.formats.spans.rows import write_span_rows_csv, write_span_rows_jsonl
from core.schema.scores import OutputSet, RatingSet, ScorableOutput
from core.tables.reading import shown

FILES, FILES_SLOW = 40, 600
TEXT = "Das blaue 😀 Haus"
SPANS = [
    {"start": 4, "end": 9, "severity": "major", "category": "accuracy/addition", "weight": 5},
    {"start": 0, "end": 16, "severity": "minor", "category": "other", "in_source": True},
]
RATED: list[dict[str, Any]] = [
    {
        "item_id": str(item),
        "system": system,
        "language": "de",
        "text": TEXT,
        "source": "The very red house",
        "ratings": [{"rater": "r", "score": -6, "spans": SPANS}, {"dimension": "LA", "score": 2}],
    }
    for item in (1, 2)
    for system in ("A", "B")
]
ROWS: list[dict[str, Any]] = [
    {"item_id": row["item_id"], "system": row["system"], "rater": "r", **span}
    for row in RATED
    for span in SPANS
]
QE: list[dict[str, Any]] = [
    {
        "mt_system": row["system"],
        "doc_id": "d",
        "seg_id": row["item_id"],
        "annotator_id": "r",
        "source": "x",
        "target": TEXT,
        "start_ids": "4 0",
        "end_ids": "9 3",
        "errors": "major minor",
    }
    for row in RATED
]
MQM: list[dict[str, Any]] = [
    {
        "system": row["system"],
        "doc": "d",
        "seg_id": row["item_id"],
        "rater": "r",
        "source": "x",
        "target": "Das <v>blaue</v> Haus",
        "category": "Other",
        "severity": "Major",
    }
    for row in RATED
]
ERRORS = [
    {"start": 4, "end": 9, "severity": "major", "category": "x", "score": 5, "is_source_error": side}
    for side in (True, False)
]
METAL: list[dict[str, Any]] = [
    {
        "id": item,
        "language": "sw",
        "text": "x",
        "annotations": {"a": {"LA": 2, "H": 0}, "b": {"LA": 1, "H": 1}},
        "evaluators": {"m": {"LA": {"score": 2, "justification": "y"}}},
    }
    for item in (1, 2)
]
TEXTS = OutputSet(
    tuple(ScorableOutput(row["item_id"], row["system"], TEXT, source=row["source"]) for row in RATED),
    "",
    "texts",
)
FORMS = {
    "rated lines": ".jsonl",
    "rated list": ".json",
    "span table": ".csv",
    "span lines": ".jsonl",
    "errors": ".seg.rating",
    "quality estimation": ".tsv",
    "marks": ".tsv",
    "metal": ".json",
}


def lines(rows: Any) -> bytes:
    rows = rows if isinstance(rows, list) else [rows]
    return "\n".join(written(row, ensure_ascii=False) for row in rows).encode("utf-8", "surrogatepass")


def table(rows: Any, delimiter: str) -> bytes:
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter)
    columns = list(dict.fromkeys(str(key) for row in rows for key in row))
    writer.writerow(columns)
    writer.writerows([[row.get(column, "") for column in columns] for row in rows])
    return out.getvalue().encode("utf-8", "surrogatepass")


def content(form: str, number: int) -> bytes:
    """The file of that number."""
    rng = random.Random(f"{form} {number}")
    made = {
        "rated lines": lambda: lines(mutated(rng, RATED)),
        "rated list": lambda: written(mutated(rng, RATED)).encode("utf-8", "surrogatepass"),
        "span table": lambda: table(mutated(rng, ROWS), ","),
        "span lines": lambda: lines(mutated(rng, ROWS)),
        "errors": lambda: "".join(
            f"{system}\t{written(mutated(rng, {'errors': ERRORS}))}\n{system}\tNone\n" for system in "AB"
        ).encode("utf-8", "surrogatepass"),
        "quality estimation": lambda: table(mutated(rng, QE), "\t"),
        "marks": lambda: table(mutated(rng, MQM), "\t"),
        "metal": lambda: written(mutated(rng, METAL)).encode("utf-8", "surrogatepass"),
    }[form]()
    return damaged(rng, made) if number % 4 == 0 else made


def check_spans(found: RatingSet, texts: OutputSet | None) -> None:
    assert found.ratings
    assert all(np.isfinite(one.score) for one in found.ratings)
    known = {} if texts is None else {(one.item_id, one.system): one for one in texts.outputs}
    for one in found.ratings:
        text = known.get((one.item_id, one.system))
        for span in one.spans or ():
            assert 0 <= span.start <= span.end
            if text is not None:
                assert span.end <= len((text.source if span.in_source else text.text) or "")


def check(form: str, data: bytes, name: str) -> None:
    """Read the file; whatever it gives has to be sound, and to come back from our own forms."""
    if form == "metal":
        found = read_metal(data, name, flip=("H",))
        assert read_rated(write_rated(found.rated.texts), "again.jsonl").texts == found.rated.texts
        return
    if form.startswith("rated"):
        rated = read_rated(data, name)
        assert read_rated(write_rated(rated.texts), "again.jsonl").texts == rated.texts
        for text in rated.texts:
            for one in text.ratings:
                for span in one.spans or ():
                    marked = text.output.source if span.in_source else text.output.text
                    assert marked is None or span.end <= len(marked)
        assert isinstance(ratings_of(rated), RatingSet)
    ratings = read_spans(data, name, TEXTS)
    check_spans(ratings, TEXTS)
    for write, end in ((write_span_rows_csv, ".csv"), (write_span_rows_jsonl, ".jsonl")):
        again = read_spans(write(ratings), f"again{end}")
        if all(one.rater is not None for one in ratings.ratings):
            assert again.ratings == ratings.ratings, end


def check_error(error: InputError, name: str, place: tuple[str, int]) -> None:
    assert error.problems, place
    assert shown(name) in error.what, (place, error.what)
    assert all(sentence.isprintable() for sentence in str(error).split("\n")), place


def run(form: str, numbers: range) -> Counter[str]:
    ends: Counter[str] = Counter()
    for number in numbers:
        name = f"broken{FORMS[form]}"
        data = content(form, number)
        try:
            check(form, data, name)
        except InputError as error:
            ends["refused"] += 1
            check_error(error, name, (form, number))
        except Exception as error:
            raise AssertionError(f"{form}, {number}: {json.dumps(data.decode(errors='replace'))}") from error
        else:
            ends["taken"] += 1
    return ends


@pytest.mark.parametrize("form", FORMS)
def test_broken_files(form: str) -> None:
    ends = run(form, range(FILES))
    assert min(ends["refused"], ends["taken"]) >= 4, ends


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_many_broken_files(form: str) -> None:
    ends = run(form, range(FILES, FILES_SLOW))
    assert min(ends["refused"], ends["taken"]) >= 60, ends
