"""Answers out: CSV and JSONL with one row an answer, and the paper's JSON. docs/formats.md lists the columns."""

import io
import json
import zipfile
from collections import Counter
from typing import Any

from core.datasets.spreadsheet import csv_bytes
from core.datasets.votes import write_votes
from core.errors import InputError
from core.schema import Answer, Assignment, Preference, StudyRecord
from core.study.analysis_set import analysis_set
from core.study.blinding import decode

COLUMNS = (
    "study",
    "rater",
    "position",
    "item_id",
    "question",
    "language",
    "level",
    "candidate",
    "comparator",
    "candidate_side",
    "comparator_side",
    "choice_displayed",
    "choice_decoded",
    "shown_utc",
    "answered_utc",
    "seconds",
    "times_saved",
    "diff_used",
    "comment",
    "invalid",
    "repeat",
    "dry_run",
    "imported",
    "excluded",
    "app_version",
    "dataset_sha256",
    "design_seed",
    "main_analysis",
    "votes_needed",
    "score",
    "flagged_pairs",
    "analysis_declared",
)
GUESS_COLUMNS = (
    "study",
    "rater",
    "item_id",
    "level",
    "person",
    "person_side",
    "guess",
    "right",
    "comment",
    "answered_utc",
    "seconds",
    "dry_run",
    "excluded",
    "app_version",
)


def answer_rows(record: StudyRecord, *, open_notes: bool = False) -> list[dict[str, Any]]:
    """One dictionary with the keys COLUMNS an answer; with `open_notes` also comments on open pairs."""
    items = {item.item_id: item for item in record.items}
    raters = {rater.rater_id: rater for rater in record.raters}
    shown = {a.key: a for a in record.assignments}
    saves = Counter(entry.answer.key for entry in record.history)
    design, study, rules = record.study.design, record.study, analysis_set(record)
    rows = []
    for answer in record.answers:
        if not answer.answered and not open_notes:
            continue
        assignment, item, rater = shown.get(answer.key), items[answer.item_id], raters[answer.rater_id]
        row = {
            "study": study.name,
            "rater": answer.rater_id,
            "position": assignment.position if assignment else None,
            "item_id": answer.item_id,
            "question": item.question,
            "language": item.language,
            "level": answer.level,
            "candidate": design.candidate,
            "comparator": design.comparator,
            "candidate_side": _side(assignment, design.candidate),
            "comparator_side": _side(assignment, design.comparator),
            "choice_displayed": answer.choice,
            "choice_decoded": preference_of(record, answer, assignment),
            "shown_utc": answer.shown_utc,
            "answered_utc": answer.answered_utc,
            "seconds": answer.seconds,
            "times_saved": saves[answer.key],
            "diff_used": answer.diff_used,
            "comment": answer.comment,
            "invalid": answer.invalid,
            "repeat": answer.repeat,
            "dry_run": rater.dry_run,
            "imported": rater.imported,
            "excluded": rater.excluded,
            "app_version": answer.app_version,
            "dataset_sha256": study.dataset_sha256,
            "design_seed": design.seed,
            "main_analysis": answer.level in rules.levels,
            "votes_needed": rules.votes_needed,
            "score": rules.score,
            "flagged_pairs": rules.flagged,
            "analysis_declared": rules.declared,
        }
        rows.append(row)
    return rows


def preference_of(record: StudyRecord, answer: Answer, assignment: Assignment | None) -> Preference | None:
    """What an answer means: as imported, or decoded from the side it names."""
    if answer.preference is not None or answer.choice is None:
        return answer.preference
    if assignment is None:
        raise InputError(
            f"{answer.rater_id} answered {answer.item_id}, {answer.level} without an assignment."
        )
    return decode(answer.choice, assignment, record.study.design)


def guess_rows(record: StudyRecord) -> list[dict[str, Any]]:
    """One dictionary with the keys GUESS_COLUMNS a guess."""
    raters = {rater.rater_id: rater for rater in record.raters}
    shown = {a.key: a for a in record.assignments}
    design = record.study.design
    person = design.candidate if design.person == "candidate" else design.comparator
    rows = []
    for guess in record.guesses:
        side = _side(shown[guess.key], person)
        row = {
            "study": record.study.name,
            "rater": guess.rater_id,
            "item_id": guess.item_id,
            "level": guess.level,
            "person": person,
            "person_side": side,
            "guess": guess.guess,
            "right": None if guess.guess == "unsure" else guess.guess == side,
            "comment": guess.comment,
            "answered_utc": guess.answered_utc,
            "seconds": guess.seconds,
            "dry_run": raters[guess.rater_id].dry_run,
            "excluded": raters[guess.rater_id].excluded,
            "app_version": guess.app_version,
        }
        rows.append(row)
    return rows


def to_csv(record: StudyRecord) -> bytes:
    """UTF-8 CSV; cells that a spreadsheet would run as a formula start with an apostrophe."""
    return csv_bytes(COLUMNS, answer_rows(record))


def guesses_csv(record: StudyRecord) -> bytes:
    """The guesses after the last answer, written as to_csv writes."""
    return csv_bytes(GUESS_COLUMNS, guess_rows(record))


def to_jsonl(record: StudyRecord) -> bytes:
    """One JSON object an answer, texts untouched; comments on open pairs are in here too."""
    rows = answer_rows(record, open_notes=True)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def to_paper(record: StudyRecord) -> dict[str, bytes]:
    """Rater -> the paper's votes JSON: preferences only; no dry runs, no hidden repeats, nobody excluded."""
    votes: dict[str, dict[tuple[str, str], Preference]] = {}
    for row in answer_rows(record):
        if not row["dry_run"] and not row["repeat"] and row["excluded"] is None:
            votes.setdefault(row["rater"], {})[row["item_id"], row["level"]] = row["choice_decoded"]
    order = [(item.item_id, level) for item in record.items for level in record.study.levels]
    return {
        rater: write_votes({pair: given[pair] for pair in order if pair in given})
        for rater, given in votes.items()
    }


def to_paper_zip(record: StudyRecord) -> bytes:
    """The paper's votes JSON of all raters in one zip, for a download."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in paper_files(record).items():
            # The time of an entry is that of the format's beginning, so that the same votes are the same bytes.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def paper_files(record: StudyRecord) -> dict[str, bytes]:
    """File name -> content of the paper's votes JSON, one file a rater."""
    files: dict[str, bytes] = {}
    for rater, content in to_paper(record).items():
        plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in rater)
        name = f"results-{plain}.json"
        number = 2
        while name in files:
            name, number = f"results-{plain}-{number}.json", number + 1
        files[name] = content
    return files


def _side(assignment: Assignment | None, source: str) -> str | None:
    if assignment is None:
        return None
    return "left" if assignment.left == source else "right"
