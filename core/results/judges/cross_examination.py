"""What a model answered to questions, and how many of the errors that people marked a mismatching question points to.

The second is CEF's Tables 3, 4 and 7.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import regex

from core.errors import InputError
from core.joining.tables import rows_met
from core.judges import cross_examination
from core.judges.alignment import MarkedError, MarkedText, Mismatch, mismatches_of
from core.judges.answers import QuestionSet
from core.judges.cross_examination import CefRecord
from core.judges.questions import VERDICTS
from core.schema.scores import ErrorSpan, JudgedText, JudgeOutput, Rating, RatingSet, ScoreTable
from core.stats.resampling import Share, wilson_share
from core.tables.reading import shown

_NO_VERDICT = "no reason is given"


def verdicts_by_author(sets: Sequence[QuestionSet]) -> dict[str, dict[str, int]]:
    """Author of questions -> verdict, or reason for a missing one -> number of questions, in order of appearance.

    sets: one model's answers. Every author lists the verdicts of all authors, with 0 for those it lacks.
    """
    said = [
        (one.author, question.answer or question.reason or _NO_VERDICT)
        for one in sets
        for question in one.questions
    ]
    counts = Counter(said)
    found = dict.fromkeys(verdict for _, verdict in said)
    verdicts = [*(one for one in VERDICTS if one in found), *(one for one in found if one not in VERDICTS)]
    return {
        author: {verdict: counts[author, verdict] for verdict in verdicts}
        for author in dict.fromkeys(author for author, _ in said)
    }


SEMANTIC, NON_SEMANTIC = "semantic", "non-semantic"
OVERALL = "overall"
NONE_DECIDED = "no error with a verdict"
NOT_EXAMINED = "marked in an input text that was not examined"
_MEANING = regex.compile(
    r"(accuracy/)?(mistranslation|omission|addition|untranslated( text)?|source language fragment)|terminology.*|non-translation!?"
)


@dataclass(frozen=True)
class AlignmentRow:
    """Marked errors of one kind, and the share that a mismatching question points to."""

    name: str
    caught: Share
    """Share of errors with a verdict; the Wilson interval assumes that errors of one text are independent."""
    n_left_out: int = 0
    """Errors without a verdict."""

    @property
    def total(self) -> int:
        """Errors with a verdict."""
        return self.caught.n


@dataclass(frozen=True)
class AlignmentTable:
    """Alignment of marked errors by several groupings. Every error is in one row of each grouping."""

    overall: AlignmentRow
    by_category: tuple[AlignmentRow, ...]
    """Rows by category, most errors first."""
    by_severity: tuple[AlignmentRow, ...]
    by_meaning: tuple[AlignmentRow, ...]
    """Rows for semantic and non-semantic errors, in this order."""
    n_texts: int
    reasons: tuple[tuple[str, int], ...]
    """(reason, number) of errors without a verdict."""


def marked_texts(output: JudgeOutput, ratings: RatingSet) -> tuple[tuple[MarkedText, ...], tuple[str, ...]]:
    """The examined texts in which people marked errors, with their mismatches, and notes on what was left out.

    Joined by item, system, level and language, like scores and ratings. Mismatches come from all repeats, each once. Every
    mark of every rater is a separate error, because nothing shows which marks of two raters mean the same: a text with
    three raters counts three times. An error marked in several stretches counts as several. A mark in the input text is
    quoted from it. Left out and counted: marks without words (such as omissions without a place), marks beyond the end of
    the text (another text was rated), marks in an input text that is missing or was not examined (in reference mode no
    question is about it), and errors of texts without an examination. Raises InputError for other judges, for ratings
    without marks, and if nothing matches.
    """
    if output.kind != cross_examination.KIND.name:
        raise InputError(
            f"{shown(output.name)} is a {output.kind} judge, which asks no questions. Choose a cross-examination."
        )
    rated = [rating for rating in ratings.ratings if rating.spans is not None]
    if not rated:
        raise InputError(
            f"{shown(ratings.file_name)} contains no marked errors. Use ratings with error spans, such as MQM files."
        )
    rows = tuple(text.row for text in output.texts)
    met = rows_met(ScoreTable(rows, (), np.empty((len(rows), 0)), file_name=output.name), ratings, rated)
    lost: Counter[str] = Counter()
    source_examined = output.settings.get("mode") != "reference"
    errors: dict[int, list[MarkedError]] = {}
    n_raters: Counter[int] = Counter()
    for rating, place in zip(rated, met.tolist(), strict=True):
        if place < 0:
            lost["their text was not examined"] += len(rating.spans or ())
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
    return tuple(found), _marked_notes(found, lost, n_raters, sum(not own for own in errors.values()))


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
    """The marked words, or the reason if there are none."""
    where = text.question if span.in_source else text.text
    if where is None:
        return "", "marked in an input text that is missing"
    if span.end > len(where):
        return "", "marked beyond the end of the text"
    quote = where[span.start : span.end].strip()
    return quote, "" if quote else "no words are marked"


def _mismatches(text: JudgedText) -> tuple[Mismatch, ...] | None:
    """Mismatches of all examinations, each once; None: no question was asked, so none can mismatch."""
    record = text.record
    if not isinstance(record, CefRecord):
        return None
    asked = [one for one in record.examinations if one.from_source or one.from_text]
    return tuple(dict.fromkeys(found for one in asked for found in mismatches_of(one))) if asked else None


def _marked_notes(
    found: Sequence[MarkedText], lost: Counter[str], n_raters: Counter[int], n_clean: int
) -> tuple[str, ...]:
    n_errors = sum(len(text.errors) for text in found)
    notes = [f"marked errors: {n_errors}, texts: {len(found)}"]
    notes += [f"marked errors left out: {n}: {reason}" for reason, n in lost.items() if n]
    if n_clean:
        notes.append(f"rated texts without a usable marked error: {n_clean}")
    if several := sum(n > 1 for n in n_raters.values()):
        notes.append(f"texts with several raters: {several}. The marks of each rater count")
    return tuple(notes)


def changes_meaning(category: str) -> bool:
    """Whether an error of an MQM category changes the meaning, judging by its name.

    This product's convention: mistranslation, omission, addition, untranslated text, terminology and non-translation do;
    all others (fluency, style, locale, other accuracy errors ...) do not. In CEF a model decides for each error.
    """
    return _MEANING.fullmatch(category.strip().casefold()) is not None


def alignment_table(texts: Sequence[MarkedText], *, confidence_level: float = 0.95) -> AlignmentTable:
    """Compute the share of marked errors that a mismatching question points to.

    Errors without a verdict are in no share. `changes_meaning` splits errors by meaning. Misleads if texts have many
    mismatches: one of them will point to anything, and false alarms are not counted.
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
