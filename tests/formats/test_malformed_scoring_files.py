"""Hundreds of broken files for every reader of scoring: each ends in a clear error or a correct result.

`python -m pytest tests/formats/test_malformed_scoring_files.py -m "slow or not slow"` runs all of them. A failure
names the format and the number; `content(format, number)` makes that file again.
"""

import csv
import io
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.texts.mutations import damaged, mutated, written

from core.errors import InputError
from core.formats.correlations import read_correlations, write_correlations
from core.formats.mt_metrics_eval import read_folder
from core.formats.registry import read_ratings, read_scores, read_texts
from core.formats.scorable import write_outputs
from core.formats.scores import write_scores_csv, write_scores_parquet
from core.formats.spans.mqm import read_mqm
from core.schema.scores import CorrelationSet, OutputSet, RatingSet, ScoreTable
from core.tables.reading import name_of, shown

FILES, FILES_SLOW = 120, 1_000
FOLDERS, FOLDERS_SLOW = 60, 300
OUTPUTS: list[dict[str, Any]] = [
    {
        "item": f"q{item}",
        "system": system,
        "level": level,
        "lang": "en",
        "shots": 5,
        "text": "So.",
        "ref": "Yes.",
    }
    for item in range(2)
    for system in ("a", "b")
    for level in ("0", "3")
]
SCORES: list[dict[str, Any]] = [
    {
        "item": row["item"],
        "system": row["system"],
        "level": row["level"],
        "bleu": 0.5 + at,
        "TER": -at,
        "domain": "x",
    }
    for at, row in enumerate(OUTPUTS)
]
LONG: list[dict[str, Any]] = [
    {
        "item": row["item"],
        "level": row["level"],
        "system": row["system"],
        "metric": metric,
        "score": row[metric],
    }
    for row in SCORES
    for metric in ("bleu", "TER")
]
CEF: list[dict[str, Any]] = [
    {
        "id": f"q{item}",
        "level": "0",
        "scores": {"coverage_score": 0.5, "consistency_score": -1, "conciseness_score": 31.3},
        "details": {"qa_from_doc_count": 10},
    }
    for item in range(3)
]
RAGAS: list[dict[str, Any]] = [
    {"user_input": f"Who {item}?", "response": "He.", "reference": "She.", "faithfulness": 0.5, "recall": 1}
    for item in range(3)
]
RATINGS: list[dict[str, Any]] = [
    {
        "item": row["item"],
        "system": row["system"],
        "level": row["level"],
        "rater": rater,
        "score": 1,
        "lp": "en-de",
    }
    for row in OUTPUTS
    for rater in ("ann", "bob")
]
MQM: list[dict[str, Any]] = [
    {
        "system": system,
        "doc": "d:en-de",
        "docSegId": 1,
        "globalSegId": 4,
        "rater": rater,
        "source": "A <v>b</v>",
    }
    | {"target": "<v>C</v> d", "category": "Fluency/Punctuation", "severity": severity}
    for system in ("a", "b")
    for rater, severity in (("r1", "Minor"), ("r2", "Major"), ("r2", "Neutral"))
]
CORRELATIONS = {
    f"bleu(order={order},device=cuda)": {
        "pearson": 0.5,
        "spearman": [0.4, 0.1],
        "kendall": {"statistic": 0.3},
    }
    for order in (1, 2)
}
PRINTED = [
    {
        "group": {"metric": name},
        "against": "level",
        "n": 9,
        "pearson": {"estimate": -0.5, "low": None},
        "kendall": None,
    }
    for name in ("bleu", "ter")
]


def table(rows: Any, delimiter: str) -> bytes:
    """Whatever a mutation left, as rows of a table."""
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    columns = list(dict.fromkeys(str(key) for row in rows for key in row))
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(columns)
    writer.writerows([[row.get(column, "") for column in columns] for row in rows])
    return out.getvalue().encode("utf-8", "surrogatepass")


def jsonl(rows: Any) -> bytes:
    lines = [written(row) for row in rows] if isinstance(rows, list) else [written(rows)]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def whole(value: Any) -> bytes:
    return written(value).encode("utf-8", "surrogatepass")


def check_error(error: InputError, name: str) -> None:
    assert error.problems
    assert shown(name) in error.what
    for sentence in str(error).split("\n"):
        assert sentence.isprintable(), ascii(sentence)


# --- what must hold of a file that is taken -------------------------------------------------------


def check_outputs(data: bytes, name: str) -> None:
    found = read_texts(data, name)
    assert isinstance(found, OutputSet)
    keys = [(o.item_id, o.system, o.level, o.language, *sorted(o.labels.items())) for o in found.outputs]
    assert len(set(keys)) == len(keys) > 0
    assert all(
        name_of(part) == part for o in found.outputs for part in (o.item_id, o.system, *o.labels.values())
    )
    assert read_texts(write_outputs(found.outputs), "again.jsonl").outputs == found.outputs


def check_scores(data: bytes, name: str) -> None:
    found = read_scores(data, name)
    assert isinstance(found, ScoreTable)
    assert found.values.shape == (len(found.rows), len(found.metrics))
    assert len({metric.name for metric in found.metrics}) == len(found.metrics) > 0
    assert not np.isinf(found.values).any()
    assert set(found.reasons) == {
        (int(r), int(m)) for r, m in zip(*np.nonzero(np.isnan(found.values)), strict=True)
    }
    for again in (
        read_scores(write_scores_csv(found), "again.csv"),
        read_scores(write_scores_parquet(found, "wide"), "again.parquet"),
    ):
        assert again.rows == found.rows
        assert np.array_equal(again.values, found.values, equal_nan=True)


def check_ratings(data: bytes, name: str) -> None:
    found = read_ratings(data, name)
    assert isinstance(found, RatingSet)
    assert found.ratings
    assert all(np.isfinite(rating.score) for rating in found.ratings)


def check_mqm(data: bytes, name: str) -> None:
    found = read_mqm(data, name)
    keys = [(r.item_id, r.system, r.rater) for r in found.ratings]
    assert len(set(keys)) == len(keys) > 0
    assert all(r.score == -sum(s.weight or 0.0 for s in r.spans or ()) for r in found.ratings)
    assert all(0 <= s.start <= s.end for r in found.ratings for s in r.spans or ())


def check_correlations(data: bytes, name: str) -> None:
    found = read_correlations(data, name, synthetic=True)
    assert isinstance(found, CorrelationSet)
    values = [value for own in found.values.values() for value in own.values() if value is not None]
    assert all(-1 <= value <= 1 for value in values)
    assert all("device=cuda" not in metric for metric in found.values)
    assert read_correlations(write_correlations(found), name, synthetic=True).values == found.values


MAKERS: dict[str, tuple[Callable[[random.Random], bytes], Callable[[bytes, str], None], str]] = {
    "outputs table": (lambda rng: table(mutated(rng, OUTPUTS), rng.choice(",;\t")), check_outputs, ".csv"),
    "outputs lines": (lambda rng: jsonl(mutated(rng, OUTPUTS)), check_outputs, ".jsonl"),
    "outputs list": (lambda rng: whole(mutated(rng, OUTPUTS)), check_outputs, ".json"),
    "wide table": (lambda rng: table(mutated(rng, SCORES), rng.choice(",;\t")), check_scores, ".csv"),
    "wide lines": (lambda rng: jsonl(mutated(rng, SCORES)), check_scores, ".jsonl"),
    "long table": (lambda rng: table(mutated(rng, LONG), ","), check_scores, ".csv"),
    "long lines": (lambda rng: jsonl(mutated(rng, LONG)), check_scores, ".jsonl"),
    "server lines": (lambda rng: jsonl(mutated(rng, CEF)), check_scores, ".jsonl"),
    "server list": (lambda rng: whole(mutated(rng, CEF)), check_scores, ".json"),
    "ragas table": (lambda rng: table(mutated(rng, RAGAS), ","), check_scores, ".csv"),
    "ratings table": (lambda rng: table(mutated(rng, RATINGS), ","), check_ratings, ".csv"),
    "ratings lines": (lambda rng: jsonl(mutated(rng, RATINGS)), check_ratings, ".jsonl"),
    "marked errors": (lambda rng: table(mutated(rng, MQM), "\t"), check_mqm, ".tsv"),
    "correlations": (lambda rng: whole(mutated(rng, CORRELATIONS)), check_correlations, ".json"),
    "printed": (lambda rng: whole(mutated(rng, PRINTED)), check_correlations, ".json"),
}


def content(kind: str, number: int) -> bytes:
    """The file of that number."""
    rng = random.Random(f"{kind} {number}")
    data = MAKERS[kind][0](rng)
    return damaged(rng, data) if rng.random() < 0.25 else data


def run(kind: str, numbers: range) -> Counter[bool]:
    """Try the files of these numbers; how many were taken and refused."""
    seen: Counter[bool] = Counter()
    _, check, suffix = MAKERS[kind]
    for number in numbers:
        name = f"file-{number}{suffix}"
        data = content(kind, number)
        try:
            check(data, name)
        except InputError as error:
            check_error(error, name)
            seen[False] += 1
        except Exception as problem:
            problem.add_note(f"{kind} {number}: {data[:2000]!r}")
            raise
        else:
            seen[True] += 1
    return seen


@pytest.mark.parametrize("kind", list(MAKERS))
def test_malformed_files(kind: str) -> None:
    seen = run(kind, range(FILES))
    assert 0.1 < seen[True] / seen.total() < 0.95, seen


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(MAKERS))
def test_many_malformed_files(kind: str) -> None:
    run(kind, range(FILES, FILES_SLOW))


def test_malformed_parquet() -> None:
    valid = write_scores_parquet(read_scores(table(SCORES, ","), "x.csv"), "wide")
    for number in range(FILES):
        rng = random.Random(number)
        data = damaged(rng, valid)
        try:
            check_scores(data, "file.parquet")
        except InputError as error:
            check_error(error, "file.parquet")


# --- folders --------------------------------------------------------------------------------------

FOLDER = {
    "sources/en-de.txt": "One.\nTwo.\n",
    "references/en-de.refA.txt": "Eins.\nZwei.\n",
    "documents/en-de.docs": "news\td1\ntalk\td2\n",
    "system-outputs/en-de/A.txt": "Eins\nZwei\n",
    "metric-scores/en-de/chrF-refA.seg.score": "A\t0.5\nA\t0.25\n",
    "human-scores/en-de.mqm.seg.score": "A\t-1.0\nA\tNone\n",
    "human-scores/en-de.mqm.merged.seg.rating": "A\t"
    + json.dumps({"errors": [{"start": 0, "end": 2, "category": "c", "severity": "minor", "score": 1}]})
    + "\nA\tNone\n",
}


def broken_folder(number: int, path: Path) -> None:
    rng = random.Random(number)
    files = {name: text.encode() for name, text in FOLDER.items()}
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice(list(files))
        kind = rng.random()
        if kind < 0.15:
            del files[name]
            files["more.txt"] = b"x"
        elif kind < 0.3:
            files[name.replace("en-de", rng.choice(("de-en", "en-de.x", "a b")))] = files.pop(name)
        else:
            files[name] = damaged(rng, files[name])
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)


def run_folders(numbers: range, path: Path) -> Counter[bool]:
    seen: Counter[bool] = Counter()
    for number in numbers:
        broken_folder(number, path / "set")
        try:
            found = read_folder(path / "set")
            assert len(found.outputs.outputs) == len(found.scores.rows) > 0
            seen[True] += 1
        except InputError as error:
            check_error(error, "set")
            seen[False] += 1
        except Exception as problem:
            problem.add_note(f"folder {number}")
            raise
        finally:
            shutil.rmtree(path / "set")
    return seen


def test_broken_folders(tmp_path: Path) -> None:
    seen = run_folders(range(FOLDERS), tmp_path)
    assert 0.1 < seen[True] / seen.total() < 0.9, seen


@pytest.mark.slow
def test_many_broken_folders(tmp_path: Path) -> None:
    run_folders(range(FOLDERS, FOLDERS_SLOW), tmp_path)
