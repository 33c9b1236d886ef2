"""A rating study for screenshots: three damaged versions of each demo answer, with the damage marked.

This script is the rater: it marks the differences from the undamaged answer and computes the score from the marks.
"""

import csv
import hashlib
from pathlib import Path

from core.diff import diff_against
from core.formats.tasks import find_task
from core.schema.scores import ErrorSpan, OutputSet, ScorableOutput
from core.schema.study import Design
from core.store import Store
from core.store.raters import update_rater
from core.store.studies import find_study
from core.study.blinding import open_rating_desk
from core.study.lifecycle import import_rating_study, move
from core.study.raters import add_raters

NAME = "marks"
ITEMS = 4
LEVELS = ("A1", "A2", "A3")
_COSTS = {"minor": 5, "major": 20}
"""Severity -> points taken off 100."""
_ANSWERS = Path(__file__).resolve().parents[1] / "data" / "demo" / "answers.csv"


def study_of_marks(store: Store) -> str:
    """Create an open study of the damaged answers, each version a system, with one rater; return the rater's token."""
    answers = _answers()
    outputs = tuple(
        ScorableOutput(
            item, f"pipeline-{level}", row["text"], row["reference"], row["question"], None, row["language"]
        )
        for (item, level), row in answers.items()
        if level in LEVELS
    )
    sha256 = hashlib.sha256(_ANSWERS.read_bytes()).hexdigest()
    design = Design(candidate="", comparator="", seed=5, repeat_share=0)
    study, _ = import_rating_study(
        store, NAME, OutputSet(outputs, sha256, _ANSWERS.name), find_task("factual-errors"), design
    )
    (link,) = add_raters(store, study, ["rater-1"])
    move(store, study, "open")
    update_rater(store, study.study_id, "rater-1", onboarding=1)
    return link.token


def mark(store: Store, token: str, numbers: range, *, done: bool = True) -> None:
    """Mark every changed word in these texts of the rater. done: whether to complete the texts too."""
    desk = open_rating_desk(store, token)
    assert desk is not None
    answers = _answers()
    item_of = {row["text"]: item for (item, _), row in answers.items()}
    for number in numbers:
        text = desk.text(number).text
        spans = _changed(answers[item_of[text], "A0"]["text"], text)
        desk.save_spans(number, spans, no_errors=not spans)
        score = sum(_COSTS[span.severity] for span in spans)
        desk.save_scores(number, {"overall": max(0, 100 - score)})
        if done:
            desk.complete(number, seconds=40.0)


def end(store: Store) -> None:
    """Close and unblind the study."""
    move(store, find_study(store, NAME), "closed")
    move(store, find_study(store, NAME), "unblinded", "screenshot")


def _answers() -> dict[tuple[str, str], dict[str, str]]:
    with _ANSWERS.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["source"] == "pipeline"]
    kept = list(dict.fromkeys(row["item_id"] for row in rows))[:ITEMS]
    return {(row["item_id"], row["level"]): row for row in rows if row["item_id"] in kept}


def _changed(base: str, text: str) -> tuple[ErrorSpan, ...]:
    """Return the changed spans; a wrong number or unit is a major error, all others are minor."""
    spans, at = [], 0
    for segment in diff_against(base, text):
        if segment.kind == "removed":
            continue
        words = segment.text.strip()
        start = at + segment.text.index(words)
        if segment.kind == "added" and words:
            spans.append(ErrorSpan(start, start + len(words), *_judged(words, text[:start])))
        at += len(segment.text)
    return tuple(spans)


def _judged(words: str, before: str) -> tuple[str, str]:
    """Return severity and category of wrong words, judged by the words and the character before them."""
    if any(one.isdigit() for one in words + before.rstrip()[-1:]):
        return "major", "number or date"
    return "minor", "entity" if words[0].isupper() else "circumstance"
