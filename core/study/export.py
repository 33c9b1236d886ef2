"""Export of answers and ratings: CSV and JSONL with one row per answer or text, marked errors, Factual's JSON (docs/formats.md)."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from core.errors import InputError, NotAllowed
from core.formats.rated import write_rated
from core.formats.spans.cells import span_row, weighted_span
from core.formats.spans.mqm import write_mqm
from core.formats.trutheval import write_votes
from core.schema.scores import PROBABILITY
from core.schema.study import Answer, Assignment, Guess, Preference, RatingAnswer, StudyRecord
from core.study.analysis_set import analysis_set
from core.study.blinding import decode
from core.study.bundle import zipped
from core.study.raters import check_asks
from core.study.ratings import rated_texts_of, task_of
from core.study.times import first_seconds
from core.tables.layouts import turns_of
from core.tables.writer import csv_bytes

COLUMNS = (
    *("study", "rater", "position", "item_id", "question", "language", "level", "candidate"),
    *("comparator", "candidate_side", "comparator_side", "choice_displayed", "choice_decoded"),
    *("shown_utc", "answered_utc", "seconds", "seconds_first", "seconds_visible"),
    *("translated", "times_saved", "diff_used", "comment", "invalid", "repeat"),
    *("dry_run", "imported", "excluded", "app_version", "dataset_sha256", "design_seed", "main_analysis"),
    *("votes_needed", "score", "flagged_pairs", "analysis_declared", "rendering", "code_language"),
)
GUESS_COLUMNS = (
    *("study", "rater", "item_id", "level", "person", "person_side", "guess", "right", "comment"),
    *("answered_utc", "seconds", "seconds_first", "seconds_visible", "translated"),
    *("dry_run", "excluded", "app_version"),
)


TEXT_COLUMNS = ("candidate_text", "comparator_text")
"""Columns that an export of answers to pairs has on request, after COLUMNS."""


def answer_rows(
    record: StudyRecord, *, open_notes: bool = False, texts: bool = False
) -> list[dict[str, Any]]:
    """One dictionary with the keys COLUMNS for each answer.

    open_notes: also for comments on open pairs. texts: also TEXT_COLUMNS, the two answers that were compared.
    """
    look, saves = _LookUp(record), Counter(entry.answer.key for entry in record.history)
    shown = {a.key: a for a in record.assignments}
    first = first_seconds(record.history)
    design, rules = record.study.design, analysis_set(record)
    rows = []
    for answer in record.answers:
        if answer.answered or open_notes:
            assignment = shown.get(answer.key)
            row = {
                **look.about(answer),
                "position": assignment.position if assignment else None,
                "question": look.items[answer.item_id].question,
                "candidate": design.candidate,
                "comparator": design.comparator,
                "candidate_side": _side(assignment, design.candidate),
                "comparator_side": _side(assignment, design.comparator),
                "choice_displayed": answer.choice,
                "choice_decoded": preference_of(record, answer, assignment),
                "seconds_first": first.get(answer.key),
                "times_saved": saves[answer.key],
                "main_analysis": answer.level in rules.levels,
                "votes_needed": rules.votes_needed,
                "score": rules.score,
                "flagged_pairs": rules.flagged,
                "analysis_declared": rules.declared,
            }
            kept = {name: row[name] for name in COLUMNS}
            if texts:
                pair = (
                    look.texts[answer.item_id, answer.level, name]
                    for name in (design.candidate, design.comparator)
                )
                kept |= dict(zip(TEXT_COLUMNS, pair, strict=True))
            rows.append(kept)
    return rows


def preference_of(record: StudyRecord, answer: Answer, assignment: Assignment | None) -> Preference | None:
    """The preference of an answer: as imported, or decoded from the chosen side."""
    if answer.preference is not None or answer.choice is None:
        return answer.preference
    if assignment is None:
        raise InputError(
            f"{answer.rater_id} answered {answer.item_id}, {answer.level} without an assignment."
        )
    return decode(answer.choice, assignment, record.study.design)


def guess_rows(record: StudyRecord) -> list[dict[str, Any]]:
    """One dictionary with the keys GUESS_COLUMNS for each guess."""
    look, shown = _LookUp(record), {a.key: a for a in record.assignments}
    design = record.study.design
    person = design.person_system
    rows = []
    for guess in record.guesses:
        side = _side(shown[guess.key], person)
        right = None if guess.guess == "unsure" else guess.guess == side
        given_once = {"seconds_first": guess.seconds}
        row = {**look.about(guess), **given_once, "person": person, "person_side": side, "right": right}
        rows.append({name: row[name] for name in GUESS_COLUMNS})
    return rows


def answers_csv(record: StudyRecord, *, texts: bool = False) -> bytes:
    """UTF-8 CSV of all answers; cells that a spreadsheet would run as a formula start with an apostrophe.

    texts: with the two answers that were compared.
    """
    return csv_bytes((*COLUMNS, *TEXT_COLUMNS) if texts else COLUMNS, answer_rows(record, texts=texts))


def guesses_csv(record: StudyRecord) -> bytes:
    """CSV of the guesses after the last answer, in the form of answers_csv."""
    return csv_bytes(GUESS_COLUMNS, guess_rows(record))


def answers_jsonl(record: StudyRecord, *, texts: bool = False) -> bytes:
    """JSONL with one object per answer, texts unchanged; comments on open pairs are included. texts: as in `answers_csv`.

    `turns` is the conversation that ends with the question, where there is one.
    """
    return _jsonl(_add_turns(record, answer_rows(record, open_notes=True, texts=texts)))


def paper_votes(record: StudyRecord) -> dict[str, bytes]:
    """Rater -> Factual's votes JSON: preferences only, without dry runs, hidden repeats and excluded raters.

    Raises NotAllowed for plain pairs: the format needs a level for each vote.
    """
    check_asks(record.study, ["levels"], "votes file of Factual")
    votes: dict[str, dict[tuple[str, str], Preference]] = {}
    for row in answer_rows(record):
        if not row["dry_run"] and not row["repeat"] and row["excluded"] is None:
            votes.setdefault(row["rater"], {})[row["item_id"], row["level"]] = row["choice_decoded"]
    order = [(item.item_id, level) for item in record.items for level in record.study.levels]
    return {
        rater: write_votes({pair: given[pair] for pair in order if pair in given})
        for rater, given in votes.items()
    }


def paper_zip(record: StudyRecord) -> bytes:
    """Factual's votes JSON of all raters in one zip, for a download."""
    return zipped(paper_files(record))


def paper_files(record: StudyRecord) -> dict[str, bytes]:
    """File name -> content of Factual's votes JSON, one file per rater."""
    files: dict[str, bytes] = {}
    for rater, content in paper_votes(record).items():
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


RATING_COLUMNS = (
    *("study", "rater", "position", "item_id", "language", "system", "level", "source", "text", "scores"),
    *("spans", "no_errors", "done", "shown_utc", "answered_utc", "seconds", "seconds_first"),
    *("seconds_visible", "translated", "times_saved", "comment"),
    *("invalid", "repeat", "dry_run", "excluded", "app_version", "dataset_sha256", "design_seed"),
    *("rendering", "code_language"),
)
"""Columns of the JSONL. The CSV replaces `scores` with one column per dimension, `score_NAME`. Both end with `inclusion_probability` if
texts of the study were drawn with known probabilities."""
SPAN_COLUMNS = (
    *("study", "rater", "item_id", "language", "system", "level", "start", "end", "quote", "severity"),
    *("category", "weight", "in_source", "repeat", "dry_run", "invalid", "excluded"),
)


def rating_rows(record: StudyRecord, *, drafts: bool = False) -> list[dict[str, Any]]:
    """One dictionary with RATING_COLUMNS (and `inclusion_probability`) for each text and rater; with `drafts`, also for unfinished ratings."""
    task_of(record)
    look, saves = _LookUp(record), Counter(entry.answer.key for entry in record.rating_history)
    shown = {one.key: one.position for one in record.rating_assignments}
    drawn = {(one.item_id, one.level, one.source): one.probability for one in record.inclusion}
    first = first_seconds(record.rating_history)
    columns = _rating_columns(record)
    rows = []
    for answer in record.rating_answers:
        if answer.done or drafts:
            row = {
                **look.about(answer),
                "position": shown.get(answer.key),
                "system": answer.source,
                "source": look.items[answer.item_id].question,
                "text": look.texts[answer.item_id, answer.level, answer.source],
                "scores": dict(answer.scores),
                "spans": [span_row(weighted_span(span)) for span in answer.spans],
                "seconds_first": first.get(answer.key),
                "times_saved": saves[answer.key],
                PROBABILITY: drawn.get((answer.item_id, answer.level, answer.source)),
            }
            rows.append({name: row[name] for name in columns})
    return rows


def _rating_columns(record: StudyRecord) -> tuple[str, ...]:
    return (*RATING_COLUMNS, PROBABILITY) if record.inclusion else RATING_COLUMNS


def span_rows(record: StudyRecord) -> list[dict[str, Any]]:
    """One dictionary with the keys SPAN_COLUMNS for each marked error; offsets in code points, end exclusive."""
    task_of(record)
    look = _LookUp(record)
    rows = []
    for answer in record.rating_answers:
        for span in answer.spans if answer.done else ():
            text = look.texts[answer.item_id, answer.level, answer.source]
            marked = look.items[answer.item_id].question if span.in_source else text
            row = {
                **look.about(answer),
                **asdict(weighted_span(span)),
                "system": answer.source,
                "quote": marked[span.start : span.end],
            }
            rows.append({name: row[name] for name in SPAN_COLUMNS})
    return rows


def ratings_csv(record: StudyRecord) -> bytes:
    """UTF-8 CSV with one row per text and rater, one column per dimension, and the spans as JSON in one cell."""
    columns, rows = _rating_table(record)
    return csv_bytes(
        columns, ({**row, "spans": json.dumps(row["spans"], ensure_ascii=False)} for row in rows)
    )


def annotation_rows(record: StudyRecord) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """The columns and rows of the study's CSV, with spans as lists and texts unchanged."""
    return _rating_table(record) if record.study.kind == "ratings" else (COLUMNS, answer_rows(record))


def _rating_table(record: StudyRecord) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """Columns and rows with one column per dimension in place of the scores."""
    names = {one.name: f"score_{one.name}" for one in task_of(record).dimensions}
    all_columns = _rating_columns(record)
    at = all_columns.index("scores")
    columns = (*all_columns[:at], *names.values(), *all_columns[at + 1 :])
    rows = []
    for row in rating_rows(record):
        scores = row.pop("scores")
        rows.append({**row, **{column: scores.get(name) for name, column in names.items()}})
    return columns, rows


def spans_csv(record: StudyRecord) -> bytes:
    """UTF-8 CSV with one row per marked error in finished texts."""
    return csv_bytes(SPAN_COLUMNS, span_rows(record))


def ratings_jsonl(record: StudyRecord) -> bytes:
    """JSONL with one object per text and rater, texts unchanged; unfinished ratings are included. `turns` as in `answers_jsonl`."""
    return _jsonl(_add_turns(record, rating_rows(record, drafts=True)))


def rated_jsonl(record: StudyRecord) -> bytes:
    """Every text with the ratings that count, in the format of core.formats.rated; judges take examples from it."""
    return write_rated(rated_texts_of(record))


def mqm_tsv(record: StudyRecord) -> bytes:
    """Marked errors that count, as the MQM TSV of translation campaigns.

    Raises NotAllowed for a task without marked errors, and InputError for errors that the format cannot express.
    """
    if task_of(record).spans is None:
        raise NotAllowed(
            f"Raters do not mark errors in study {record.study.name!r}, so it cannot be exported as MQM."
        )
    return write_mqm(rated_texts_of(record))


def _add_turns(record: StudyRecord, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    turns = {item.item_id: turns_of(item.turns) for item in record.items}
    return ({**row, **turns[row["item_id"]]} for row in rows)


def _jsonl(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


class _LookUp:
    """Texts, items and raters of a record, by name."""

    def __init__(self, record: StudyRecord) -> None:
        self._study = record.study
        self.items = {item.item_id: item for item in record.items}
        self.texts = {(o.item_id, o.level, o.source): o.text for o in record.outputs}
        self._raters = {rater.rater_id: rater for rater in record.raters}

    def about(self, said: Answer | Guess | RatingAnswer) -> dict[str, Any]:
        """The fields of an answer, with its study and rater, and with reasons not to count it."""
        rater = self._raters[said.rater_id]
        return {
            **vars(said),
            "study": self._study.name,
            "rater": said.rater_id,
            "language": self.items[said.item_id].language,
            "dry_run": rater.dry_run,
            "imported": rater.imported,
            "excluded": rater.excluded,
            "dataset_sha256": self._study.dataset_sha256,
            "design_seed": self._study.design.seed,
            "rendering": self._study.design.rendering,
            "code_language": self._study.design.code_language,
        }
