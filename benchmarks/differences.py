"""What a rater sees marked, by level: share of words, and islands of at most two unchanged words.

Each answer of the demo is compared with its own A0, at A0 with the reference. An island is an unchanged run of at most
two words between two changes of one answer; removed words are a change too. *plain* marks every word that differs, *all
words* and *numbers and names* are the rater's modes, and *default* is the mode that a pair opens with.

    .venv/bin/python benchmarks/differences.py
"""

import csv
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.diff import READABLE, Segment, diff_against, tokenize
from core.diff.names import unshared

ROOT = Path(__file__).resolve().parents[1]
MOST_MARKED, MOST_ISLANDS = 0.12, 1.5
"""Promised of the default: share of words marked at A0, and islands a text at every level."""
Marks = Callable[[str, str, str], Sequence[Segment]]
"""Base, text and language -> the text's segments."""


def plain(base: str, text: str, _: str) -> Sequence[Segment]:
    """Mark every word that differs."""
    return diff_against(base, text)


def all_words(base: str, text: str, _: str) -> Sequence[Segment]:
    """Mark changes without islands."""
    return diff_against(base, text, islands=READABLE)


def numbers_and_names(base: str, text: str, language: str) -> Sequence[Segment]:
    """Mark numbers and names that the base lacks."""
    return unshared(base, text, language).segments


WAYS: dict[str, Marks] = {"plain": plain, "all words": all_words, "numbers and names": numbers_and_names}


@dataclass(frozen=True)
class Marked:
    """Means over the texts of a level."""

    level: str
    texts: int
    share: float
    """Marked words over words, of all texts together."""
    islands: float
    """A text."""


def measure(marks: Marks, level: str) -> Marked:
    """One level of the demo."""
    rows = list(csv.DictReader((ROOT / "data/demo/answers.csv").open(encoding="utf-8", newline="")))
    own = {(row["item_id"], row["source"]): row["text"] for row in rows if row["level"] == "A0"}
    found = [
        marks(
            row["reference"] if level == "A0" else own[row["item_id"], row["source"]],
            row["text"],
            row["language"],
        )
        for row in rows
        if row["level"] == level
    ]
    marked = sum(words(one.text) for segments in found for one in segments if one.kind == "added")
    total = sum(words(one.text) for segments in found for one in segments if one.kind != "removed")
    return Marked(level, len(found), marked / total, sum(map(islands, found)) / len(found))


def default(level: str) -> Marked:
    """What a rater sees who chose no mode."""
    return measure(numbers_and_names if level == "A0" else all_words, level)


def words(text: str) -> int:
    """Tokens with a letter or digit."""
    return sum(any(map(str.isalnum, token)) for token in tokenize(text))


def islands(segments: Sequence[Segment]) -> int:
    """Unchanged runs of at most two words between two changes."""
    return sum(one.kind == "same" and words(one.text) <= 2 for one in segments[1:-1])


def main() -> None:
    """Print a line a level; exit with 1 where the default does not keep what is promised."""
    print("| level | " + " | ".join(f"{way}: words, islands" for way in WAYS) + " | default |")
    print("|---|" + "---|" * (len(WAYS) + 1))
    kept = True
    for level in ("A0", "A1", "A2", "A3", "A4"):
        found = [*(measure(marks, level) for marks in WAYS.values()), default(level)]
        print(f"| {level} | " + " | ".join(f"{one.share:.1%}, {one.islands:.2f}" for one in found) + " |")
        kept &= found[-1].islands < MOST_ISLANDS and (level != "A0" or found[-1].share <= MOST_MARKED)
    if not kept:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
