"""Hundreds of broken folders for every command that reads judges' folders: each ends in a sentence or in a result.

`python -m pytest tests/runs/test_malformed_judge_folders.py -m "slow or not slow"` runs all of them. A failure
names the folder and the number; `broken_folder(name, number, path)` makes that folder again.
"""

import contextlib
import json
import random
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.texts.mutations import damaged, mutated, written

from core.cli import main
from core.errors import InputError
from core.formats.scores import write_scores_csv
from core.judges import alignment, answers
from core.judges.alignment import MarkedError, MarkedText, Mismatch
from core.judges.answers import QuestionSet, question_sets_of
from core.judges.claims import Claim, ClaimsRecord
from core.judges.cross_examination import CefRecord, Examination
from core.judges.questions import CrossQuestion
from core.judges.rubric import RubricRecord, RubricTrial
from core.results.judges.cross_examination import alignment_table
from core.runs.records import read_judge_folder, read_pieces, write_pieces, write_records
from core.schema.scores import JudgedText, Metric, ScoredRow, ScoreTable

FOLDERS, FOLDERS_SLOW = 8, 200
RESAMPLES = ["--resamples", "20"]
ROWS = tuple(ScoredRow(f"q{item}", "sys", level) for item in range(2) for level in ("A0", "A4"))


def questions(right: bool, reasked: bool = True) -> tuple[CrossQuestion, ...]:
    again: Any = "IDK" if reasked else None
    return (
        CrossQuestion("Was it built in 1503?", "YES", "YES" if right else "NO", again="YES"),
        CrossQuestion("Did it burn?", "NO", "NO" if right else "IDK", again=again),
        CrossQuestion("Who drew it?", "YES", None, "unparsed", "Jan", None, "unparsed"),
    )


def record(kind: str, row: int) -> Any:
    right = row % 2 == 0
    if kind == "rubric":
        return RubricRecord(
            tuple(
                RubricTrial(order=order, repeat=repeat, verdict=5 - row - repeat if right else 2)
                for order in ("reference-first", "response-first")
                for repeat in range(2)
            )
        )
    if kind == "claims":
        return ClaimsRecord((Claim("It stands.", right),), (Claim("It burned.", None, "", "cut off"),))
    examined = [Examination(repeat, questions(right), questions(right or repeat == 0)) for repeat in range(2)]
    return CefRecord(tuple(examined))


def metrics_of(kind: str) -> tuple[Metric, ...]:
    names = {"rubric": [""], "claims": ["-f1", "-precision"], "cef": ["-coverage", "-conciseness"]}[kind]
    family = {"rubric": "Rubric", "claims": "Claims", "cef": "CEF"}[kind]
    return tuple(Metric(f"{kind}-tiny{name}", f"{family}|score:{name[1:]}", family) for name in names)


def records_of(kind: str) -> bytes:
    if kind == "answers":
        sets = [QuestionSet(row, "text", author, "Text.", questions(True)) for row in ROWS for author in "ab"]
        return write_pieces(sets)
    if kind == "alignment":
        mismatches = (Mismatch("text", "Did it burn?", "YES", "NO"),)
        errors = (
            MarkedError("burned", "major", "accuracy/addition", True),
            MarkedError("x", "", "", None, "", "cut off"),
        )
        return write_pieces([MarkedText(row, "It burned.", None, mismatches, errors) for row in ROWS])
    texts = []
    for number, row in enumerate(ROWS):
        scores = {metric.name: 0.25 * number for metric in metrics_of(kind)}
        texts.append(
            JudgedText(row, "It burned.", "It stands.", "What of it?", scores, {}, record(kind, number))
        )
    return write_records(texts)


def report_of(kind: str, **settings: Any) -> dict[str, Any]:
    own = {
        "rubric": {"order": "both", "repeats": 2, "temperature": 0.5, "seed": 0},
        "claims": {"beta": 1.0, "temperature": 0.0, "seed": 0, "verifier": "llm"},
        "cef": {"mode": "reference-free", "n_questions": 3, "repeats": 2, "reask": True, "temperature": 0.0},
    }.get(kind, {})
    cost = {"step": "rubric", "calls": 8, "cached": 0, "unusable": 1, "seconds": 0.5}
    return {
        "run": 1,
        "kind": kind,
        "settings": {"name": f"{kind}-tiny", "model": "a", kind: own}
        | {"metrics": [asdict(metric) for metric in metrics_of(kind)] if own else []}
        | settings,
        "items": 2,
        "done": 1,
        "failed": 1,
        "again": 0,
        "found": 0,
        "left_out": {},
        "costs": [{**cost, "input_tokens": 100, "output_tokens": None}, {**cost, "step": "s"} | TOKENS],
        "prices": {"input": 1.0, "output": 2},
    }


TOKENS = {"input_tokens": 10, "output_tokens": 20}


def files_of(kind: str, **settings: Any) -> dict[str, bytes]:
    """Of a folder as a run writes it."""
    files = {"records.jsonl": records_of(kind), "run.json": written(report_of(kind, **settings)).encode()}
    if kind in ("rubric", "claims", "cef"):
        metrics = metrics_of(kind)
        values = np.array([[0.25 * number] * len(metrics) for number in range(len(ROWS))])
        files["scores.csv"] = write_scores_csv(ScoreTable(ROWS, metrics, values))
    return files


def put(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


WHOLE = {kind: files_of(kind) for kind in ("rubric", "claims", "cef", "answers", "alignment")}


def broken_folder(kind: str, number: int, folder: Path) -> Path:
    """The folder of that number: one file of it changed, in what it says or in its bytes."""
    rng = random.Random(f"{kind} {number}")
    files = dict(WHOLE[kind])
    name = rng.choice([*files, "records.jsonl"])
    if name == "run.json":
        files[name] = written(mutated(rng, json.loads(files[name]))).encode("utf-8", "surrogatepass")
    elif name == "scores.csv":
        files[name] = damaged(rng, files[name])
    else:
        rows = mutated(rng, [json.loads(line) for line in files[name].splitlines()])
        lines = rows if isinstance(rows, list) else [rows]
        files[name] = "\n".join(map(written, lines)).encode("utf-8", "surrogatepass")
    if rng.random() < 0.15:
        files[name] = damaged(rng, files[name])
    return put(folder, files)


def look(kind: str, folder: Path, other: Path) -> list[list[str]]:
    """Commands that read such a folder, as far as they ask nobody."""
    said = [["report", "costs", f"{folder}"], ["report", "costs", f"{folder}", "--json"]]
    if kind in ("rubric", "cef"):
        said += [["report", "consistency", f"{folder}", *RESAMPLES]]
    if kind == "claims":
        said += [["report", "compare", f"{folder}", f"{other}", *RESAMPLES]]
    if kind == "cef":
        said += [
            ["reproduce", "cef", "ablation", f"{folder}", f"{other}"],
            ["reproduce", "cef", "reasked", f"{folder}"],
        ]
    if kind == "answers":
        said += [["reproduce", "cef", "reliability", f"{folder}", f"{other}", *RESAMPLES]]
    return said


def run(kind: str, numbers: range, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Counter[bool]:
    """Try the folders of these numbers; how many commands gave a result and how many refused."""
    seen: Counter[bool] = Counter()
    other = put(tmp_path / "other", files_of(kind, model="b"))
    for number in numbers:
        folder = broken_folder(kind, number, tmp_path / "folder")
        try:
            for command in look(kind, folder, other):
                status = main(command)
                err = capsys.readouterr().err
                assert status in (0, 2)
                assert status == 0 or err
                assert err.replace("\n", "").isprintable(), ascii(err)
                seen[status == 0] += 1
            read_what_no_command_prints(kind, folder)
        except Exception as problem:
            problem.add_note(f"{kind} {number}: {(folder / 'records.jsonl').read_bytes()[:1500]!r}")
            raise
    return seen


def read_what_no_command_prints(kind: str, folder: Path) -> None:
    """As `judge answers`, `judge align` and their pages do."""
    with contextlib.suppress(InputError):
        if kind == "cef":
            sets = question_sets_of(read_judge_folder(folder))
            read_pieces(answers.KIND, write_pieces(sets), "questions.jsonl")
        elif kind == "alignment":
            alignment_table(
                read_pieces(alignment.KIND, (folder / "records.jsonl").read_bytes(), "records.jsonl")
            )
        elif kind != "answers":
            read_judge_folder(folder)


@pytest.mark.parametrize("kind", list(WHOLE))
def test_malformed_folders(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(kind, range(FOLDERS), tmp_path, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(WHOLE))
def test_many_malformed_folders(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = run(kind, range(FOLDERS_SLOW), tmp_path, capsys)
    assert 0.1 < seen[True] / seen.total() < 0.95, seen


@pytest.mark.parametrize("kind", list(WHOLE))
def test_folders_as_they_were_written(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is broken above was whole before."""
    folder, other = put(tmp_path / "one", WHOLE[kind]), put(tmp_path / "other", files_of(kind, model="b"))
    for command in look(kind, folder, other):
        assert main(command) == 0, (command, capsys.readouterr().err)
