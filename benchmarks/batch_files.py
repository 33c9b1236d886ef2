"""Batch files: CPU seconds and memory of the two commands of one round, for n texts of a rubric judge.

The first command writes a file of n requests; a script answers it; the second reads the answers and scores the texts.
Every text is an item of its own, so no request is shared. Targets: at most 4 ms of CPU a text in both commands together,
and ten times the texts take at most 11 times the CPU; otherwise the exit status is 1.

    .venv/bin/python benchmarks/batch_files.py [--texts 1000 10000] [--folder FOLDER]
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.models.batch_answerer import line_of
from helpers.models.model_answers import answer
from helpers.texts.judge_runs import text_at

ROOT = Path(__file__).resolve().parents[1]
MOST_MS = 4.0
MOST_GROWTH = 11.0


@dataclass(frozen=True)
class Spent:
    """What a command took."""

    cpu: float
    """Seconds, with its children."""
    peak_mb: float


def core(*words: str) -> Spent:
    """Run a command of Assay without its output."""
    process = os.fork()
    if process == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "core", *words])
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{' '.join(words)} ended with status {status}")
    return Spent(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def write_texts(path: Path, n: int) -> None:
    """One text for each item, about 25 words."""
    with path.open("w", encoding="utf-8") as file:
        for item in range(n):
            row = {"item_id": f"q{item}", "system": "mills", "text": text_at(item, item % 5)}
            file.write(json.dumps(row | {"reference": text_at(item, 0)}) + "\n")


def answer_files(folder: Path, answers: Path) -> int:
    """Answer the files of the first round; returns the number of requests."""
    n = 0
    with answers.open("w", encoding="utf-8") as out:
        for file in sorted(folder.glob("round-001*.jsonl")):
            for line in file.open(encoding="utf-8"):
                asked = json.loads(line)
                out.write(
                    json.dumps(line_of(asked["custom_id"], asked["body"], answer(asked["body"]), n)) + "\n"
                )
                n += 1
    return n


def measure(n: int, folder: Path) -> tuple[Spent, Spent]:
    """(the command that asks, the command that reads)."""
    data, database, answers = folder / "texts.jsonl", folder / "assay.db", folder / "answers.jsonl"
    write_texts(data, n)
    where = ["--db", str(database), "--out", str(folder / "out")]
    asking = core("judge", "rubric", str(data), "--backend", "batch", "--model", "tiny", *where)
    asked = answer_files(folder / "assay.db.d" / "run-1", answers)
    if asked != n:
        raise SystemExit(f"{n} texts made {asked} requests")
    return asking, core("runs", "answers", "1", str(answers), *where)


def main() -> int:
    """Measure each size; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description="The commands of one round of batch files.")
    parser.add_argument("--texts", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument(
        "--folder", type=Path, default=None, help="where to work (default: a temporary folder)"
    )
    options = parser.parse_args()
    totals: list[tuple[int, float]] = []
    for n in options.texts:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            asking, reading = measure(n, Path(folder))
        both = asking.cpu + reading.cpu
        totals.append((n, both))
        print(
            f"{n:,} texts: asking {asking.cpu:.1f} CPU s, {asking.peak_mb:,.0f} MB; reading and scoring {reading.cpu:.1f} CPU s, "
            f"{reading.peak_mb:,.0f} MB; {1000 * both / n:.2f} ms a text",
            flush=True,
        )
    (n, last), (first_n, first) = totals[-1], totals[0]
    growth = last / first * (10 * first_n / n)
    print(f"ten times the texts take {growth:.1f} times the CPU")
    if n >= 10_000 and (1000 * last / n > MOST_MS or growth > MOST_GROWTH):
        print(f"target missed: {MOST_MS} ms a text, {MOST_GROWTH} times")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
