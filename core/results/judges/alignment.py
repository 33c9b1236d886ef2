"""A cross-examination's mismatches beside the errors that people marked: who meets whom, and how many are caught.

As 001's Tables 3, 4 and 7, by category, by severity, and split into errors that change the meaning and others.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import regex

from core.errors import InputError
from core.judges.alignment import MarkedError, MarkedText, Mismatch, mismatches_of
from core.judges.cross_examination import judge as cross_examination
from core.judges.cross_examination.record import CefRecord
from core.results.cells import counted_share
from core.results.joining import rows_met
from core.schema.judging import JudgedText, JudgeOutput
from core.schema.result_table import Column, ResultTable
from core.schema.scores import ErrorSpan, Rating, RatingSet, ScoreTable
from core.stats.shares import Share, wilson_share
from core.tables.reading import shown

SEMANTIC, NON_SEMANTIC = "semantic", "non-semantic"
OVERALL = "overall"
NONE_DECIDED = "no error with a verdict"
NOT_EXAMINED = "they are marked in a source that was not examined"
_MEANING = regex.compile(
    r"(accuracy/)?(mistranslation|omission|addition|untranslated( text)?|source language fragment)|terminology.*|non-translation!?"
)


@dataclass(frozen=True)
class AlignmentRow:
    """Marked errors of one kind, and how many of them a mismatching question points to."""

    name: str
    caught: Share
    """Of the errors with a verdict, with a Wilson interval: errors of one text are taken for independent."""
    n_left_out: int = 0
    """Errors without a verdict."""

    @property
    def total(self) -> int:
        """Errors with a verdict."""
        return self.caught.n


@dataclass(frozen=True)
class AlignmentTable:
    """Marked errors of many texts. Every error is in one row of each grouping."""

    overall: AlignmentRow
    by_category: tuple[AlignmentRow, ...]
    """Most errors first."""
    by_severity: tuple[AlignmentRow, ...]
    by_meaning: tuple[AlignmentRow, ...]
    """Semantic, then non-semantic."""
    n_texts: int
    reasons: tuple[tuple[str, int], ...]
    """Why errors have no verdict, with how many."""


def marked_texts(output: JudgeOutput, ratings: RatingSet) -> tuple[tuple[MarkedText, ...], tuple[str, ...]]:
    """The examined texts in which people marked errors, with their mismatches; and notes on what was left out.

    Joined by item, system, level and language as scores are with ratings. Mismatches are those of all repeats, each
    once. Every mark of every rater is an error of its own: which marks of two raters mean the same is nobody's to
    guess, so a text with three raters counts three times. An error that was marked in several stretches is as many
    errors. A mark in the source is quoted from it. Left out and counted: marks without words (such as omissions that
    were marked nowhere), marks that reach beyond the text (the rated text was another one), marks in a source that the
    output lacks or that was not examined (in reference mode no question is about it), and errors of texts without an
    examination. Raises InputError for other judges, ratings without
    marks, and where nothing meets.
    """
    if output.kind != cross_examination.KIND.name:
        raise InputError(f"{shown(output.name)} asks no questions: it is a judge of the kind {output.kind}.")
    rated = [rating for rating in ratings.ratings if rating.spans is not None]
    if not rated:
        raise InputError(
            f"{shown(ratings.file_name)} marks no errors: ratings with error spans are needed, such as MQM files."
        )
    met = rows_met(_rows_of(output), ratings, rated)
    lost: Counter[str] = Counter()
    source_examined = output.settings.get("mode") != "reference"
    errors: dict[int, list[MarkedError]] = {}
    n_raters: Counter[int] = Counter()
    for rating, place in zip(rated, met.tolist(), strict=True):
        if place < 0:
            lost["their text is not among the examined ones"] += len(rating.spans or ())
            continue
        n_raters[place] += 1
        errors.setdefault(place, []).extend(_errors_of(output.texts[place], rating, lost, source_examined))
    found = []
    for place in sorted(errors):
        text, mismatches = output.texts[place], _mismatches(output.texts[place])
        if mismatches is None:
            lost["their text has no examination"] += len(errors[place])
        elif errors[place]:
            found.append(MarkedText(text.row, text.text, text.document, mismatches, tuple(errors[place])))
    return tuple(found), _notes(found, lost, n_raters, sum(not own for own in errors.values()))


def _rows_of(output: JudgeOutput) -> ScoreTable:
    rows = tuple(text.row for text in output.texts)
    return ScoreTable(rows, (), np.empty((len(rows), 0)), file_name=output.name)


def _errors_of(
    text: JudgedText, rating: Rating, lost: Counter[str], source_examined: bool
) -> list[MarkedError]:
    errors = []
    for span in rating.spans or ():
        quote, reason = _quote(text, span) if source_examined or not span.in_source else ("", NOT_EXAMINED)
        if reason:
            lost[reason] += 1
        else:
            errors.append(MarkedError(quote, span.severity, span.category))
    return errors


def _quote(text: JudgedText, span: ErrorSpan) -> tuple[str, str]:
    """The marked words, or why there are none."""
    where = text.question if span.in_source else text.text
    if where is None:
        return "", "they are marked in a source that the texts lack"
    if span.end > len(where):
        return "", "they are marked beyond the end of the text"
    quote = where[span.start : span.end].strip()
    return quote, "" if quote else "no words are marked"


def _mismatches(text: JudgedText) -> tuple[Mismatch, ...] | None:
    """Of all examinations, each once; None: no question was asked, so none can mismatch."""
    record = text.record
    if not isinstance(record, CefRecord):
        return None
    asked = [one for one in record.examinations if one.from_source or one.from_text]
    return tuple(dict.fromkeys(found for one in asked for found in mismatches_of(one))) if asked else None


def _notes(
    found: Sequence[MarkedText], lost: Counter[str], n_raters: Counter[int], n_clean: int
) -> tuple[str, ...]:
    n_errors = sum(len(text.errors) for text in found)
    notes = [f"marked errors to look for: {n_errors}, in texts: {len(found)}"]
    notes += [f"marked errors left out ({n}): {reason}" for reason, n in lost.items() if n]
    if n_clean:
        notes.append(f"rated texts without a marked error to look for: {n_clean}")
    if several := sum(n > 1 for n in n_raters.values()):
        notes.append(f"texts with several raters: {several}; the marks of each rater count")
    return tuple(notes)


def changes_meaning(category: str) -> bool:
    """Whether an error of an MQM category changes what is said, as far as its name tells.

    Ours: mistranslation, omission, addition, what was left untranslated, terminology and non-translations do; all else (fluency, style,
    locale, other accuracy errors ...) does not. 001 has a model decide it error by error.
    """
    return _MEANING.fullmatch(category.strip().casefold()) is not None


def alignment_table(texts: Sequence[MarkedText], *, confidence_level: float = 0.95) -> AlignmentTable:
    """How many marked errors a mismatching question points to.

    Errors without a verdict stand in no share. By meaning they are split as `changes_meaning` says. Misleads where texts have many mismatches: one of them will point to anything, and what was wrongly flagged is not counted.
    """
    errors = [error for text in texts for error in text.errors]

    def grouped(name_of: Callable[[MarkedError], str]) -> tuple[AlignmentRow, ...]:
        groups: dict[str, list[MarkedError]] = {}
        for error in errors:
            groups.setdefault(name_of(error), []).append(error)
        rows = [_row(name, own, confidence_level) for name, own in groups.items()]
        return tuple(sorted(rows, key=lambda row: (-(row.total + row.n_left_out), row.name)))

    by_category = grouped(lambda error: error.category)
    by_meaning = grouped(lambda error: SEMANTIC if changes_meaning(error.category) else NON_SEMANTIC)
    return AlignmentTable(
        overall=_row(OVERALL, errors, confidence_level),
        by_category=by_category,
        by_severity=grouped(lambda error: error.severity),
        by_meaning=tuple(sorted(by_meaning, key=lambda row: row.name != SEMANTIC)),
        n_texts=len(texts),
        reasons=tuple(
            Counter(error.reason or "not asked" for error in errors if error.found is None).items()
        ),
    )


def _row(name: str, errors: Sequence[MarkedError], confidence_level: float) -> AlignmentRow:
    decided = [error.found for error in errors if error.found is not None]
    share = wilson_share(sum(decided), len(decided), confidence_level=confidence_level, reason=NONE_DECIDED)
    return AlignmentRow(name, share, len(errors) - len(decided))


def caught_table(found: AlignmentTable) -> ResultTable:
    """All errors, then those of each meaning, category and severity, with the share that a mismatch points to."""
    groups = {
        "all": (found.overall,),
        "meaning": found.by_meaning,
        "category": found.by_category,
        "severity": found.by_severity,
    }
    return ResultTable(
        "judge-alignment",
        (
            Column("by", "By", names_row=True),
            Column("name", "Errors", names_row=True),
            Column("caught", "Found", percent=True),
            Column("caught_count", shown=False),
            Column("no_verdict", "No verdict"),
        ),
        tuple(
            (by, row.name, counted_share(row.caught), row.caught.count, row.n_left_out)
            for by, rows in groups.items()
            for row in rows
        ),
        notes=(
            f"Intervals: {found.overall.caught.confidence_level:.0%}, Wilson.",
            *(f"no verdict: {n:,}: {reason}" for reason, n in found.reasons),
        ),
    )
