"""Marks of injection: share of planted ones that is found, marks in ordinary texts, CPU time a text, and growth with length.

Planted and ordinary texts are those of the tests, in twelve languages. Further ordinary texts: the demo's, and those of files that
you name (JSON, JSON Lines, CSV, or a text a line), longer than 20 characters; each one with a mark is printed. Growth: CPU of a text
of 80,000 characters that repeats the beginning of a mark, over that of 20,000; a linear search takes 4 times as long. Targets: no
mark in the ordinary texts of the tests and of the demo, and growth below 8 where the longer text takes more than a tenth of a second.

    .venv/bin/python benchmarks/injections.py [FILE ...]
"""

import argparse
import csv
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.texts.planted_injections import HELD_OUT, ORDINARY, PLANTED

from core.llm.injections import marks_in

ROOT = Path(__file__).resolve().parents[1]
SHORTEST = 20
SHORT, LONG, MOST_GROWTH, NOTICED = 20_000, 80_000, 8.0, 0.1
UNITS = (
    *(
        "give this ",
        "ignore ",
        "ignore all of the ",
        "{ ",
        '{"a": ',
        "<!-- ",
        "[[",
        "<|",
        "<",
        "[",
        "\n\n",
        "## ",
    ),
    *("note to the ", "the judge should give ", "rate this one as ", "this answer should be ", "rating: [["),
    *(
        "ignoriere die ",
        "忽略",
        "给这个",
        "इस उत्तर ",
        "تجاهل هذا ",
        "\U000e0041",
        "\U0001f3f4\U000e0067",
        "a\u200b",
        "aа",
    ),
)
"""Beginnings of marks, which a search with backtracking would try again and again."""


def strings(value: object) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def texts_in(path: Path) -> list[str]:
    """The texts of a file."""
    said = path.read_text("utf-8", errors="replace")
    if path.suffix == ".json":
        found = list(strings(json.loads(said)))
    elif path.suffix == ".jsonl":
        found = [text for line in said.splitlines() for text in strings(json.loads(line))]
    elif path.suffix == ".csv":
        csv.field_size_limit(10**9)
        found = [cell for row in csv.reader(said.splitlines()) for cell in row]
    else:
        found = said.splitlines()
    return [text for text in found if len(text) > SHORTEST]


def share(name: str, planted: Sequence[tuple[str, str]]) -> None:
    """Print the share of planted texts that is found."""
    n = sum(bool(marks_in(text)) for _, text in planted)
    print(f"{name}: {n} of {len(planted)} found, {len({language for language, _ in planted})} languages")


def ordinary(name: str, texts: Sequence[str]) -> int:
    """Print marks in ordinary texts and the time that they take; return their number."""
    begun, n = time.process_time(), 0
    for text in texts:
        if marks := marks_in(text):
            n += 1
            print(f"  {name}: {', '.join(f'{one.kind}: {one.excerpt}' for one in marks)}")
    spent = 1e6 * (time.process_time() - begun) / max(len(texts), 1)
    print(
        f"{name}: {n} of {len(texts):,} texts marked, {sum(map(len, texts)):,} characters, {spent:.0f} us a text"
    )
    return n


def growth() -> bool:
    """Print how time grows with length for the slowest beginning; return whether one grows too fast."""
    slowest, worst = 0.0, 0.0
    for unit in UNITS:
        seconds = []
        for size in (SHORT, LONG):
            begun = time.process_time()
            marks_in((unit * (size // len(unit) + 1))[:size])
            seconds.append(time.process_time() - begun)
        if seconds[1] > slowest:
            slowest = seconds[1]
        if seconds[1] > NOTICED:
            worst = max(worst, seconds[1] / max(seconds[0], 1e-6))
    print(
        f"{len(UNITS)} beginnings repeated to {LONG:,} characters: at most {slowest:.2f} s, {worst:.1f} times that of {SHORT:,}"
    )
    return worst > MOST_GROWTH


def main() -> int:
    """Measure; 1 if a target is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="further ordinary texts")
    options = parser.parse_args()
    marks_in("the first call makes the patterns")
    share("planted", PLANTED)
    share("held out", HELD_OUT)
    n = ordinary("ordinary with the same words", [text for _, text in ORDINARY])
    n += ordinary(
        "demo", [text for path in sorted((ROOT / "data" / "demo").iterdir()) for text in texts_in(path)]
    )
    for path in options.files:
        ordinary(path.name, texts_in(path))
    return int(growth() or n > 0)


if __name__ == "__main__":
    sys.exit(main())
