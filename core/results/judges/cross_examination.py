"""Analyses of a cross-examination judge from its questions.

Reliability: do other judges confirm a judge's questions and answers (ADR and ADS, CEF's Table 1)? Does a judge give the
same answer when asked again, and how many questions does it need? Alignment: how many of the errors that people marked
does a mismatching question point to (CEF's Tables 3, 4 and 7)?
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.choices import items_of, values_of
from core.joining.tables import rows_met
from core.judges import cross_examination
from core.judges.alignment import MarkedError, MarkedText, Mismatch, mismatches_of
from core.judges.answers import AnswerSet, QuestionSet
from core.judges.cross_examination import CEF_COMPONENTS, CefRecord, CefSettings
from core.judges.questions import VERDICTS, CrossQuestion, Side, Verdict
from core.results.cells import counted_share, interval, resampled, row_of
from core.results.judges.consistency import temperature_note, values_by_repeat
from core.schema.result_table import Column, ResultTable
from core.schema.scores import ErrorSpan, JudgedText, JudgeOutput, Rating, RatingSet, ScoredRow, ScoreTable
from core.schema.settings import Remark, refuse
from core.stats.agreement import VARIANTS, Variant, deviation, disagreement, lowest_first
from core.stats.resampling import Estimate, Share, wilson_share
from core.stats.votes import MISSING
from core.tables.reading import shown

ALL_SIDES = "all"
SIDES: tuple[Side, ...] = ("source", "text")
_OTHERS = "the models did not answer the same questions"
_NO_VERDICT = "no reason is given"
FEW_MISSING = 0.05
"""Above this share of missing answers, a note warns that a model's rates cover other questions."""


@dataclass(frozen=True, order=True)
class Document:
    """A text that questions were made from."""

    item_id: str
    language: str
    dataset: str
    """Empty if no text of the item has one."""
    side: str
    text: str


@dataclass(frozen=True)
class ModelReliability:
    """One model's rates on the questions of one side, by one variant. From 0 to 1; lower is more reliable."""

    model: str
    side: str
    """What the questions were made from: `source`, `text`, or `all`."""
    variant: Variant
    disagreement: Estimate
    """ADR: how often other models do not confirm the model's questions; the interval resamples items."""
    disagreement_rank: int | None
    """Rank, 1 for the lowest rate; equal rates share the better rank, as in CEF."""
    deviation: Estimate
    """ADS: how often the model's answer differs from most models' answer, over all models' questions."""
    deviation_rank: int | None


@dataclass(frozen=True)
class Reliability:
    """Reliability of models that answered each other's questions."""

    models: tuple[str, ...]
    rows: tuple[ModelReliability, ...]
    """Rates, ordered by variant, side and model."""
    n_questions: Mapping[str, Mapping[str, int]]
    """Side (including `all`) -> author -> number of its questions."""
    n_items: int
    """Items with questions."""
    missing: Mapping[str, Mapping[str, int]]
    """Model -> reason -> questions without a verdict of the model."""
    left_out: Mapping[str, int]
    """Author that is not among the models -> its questions, which are left out of all rates."""
    notes: tuple[str, ...]
    """Notes; the first warns if the models did not answer the same questions."""
    confidence_level: float


@dataclass(frozen=True, order=True)
class _Asked:
    """A question of one author about one document."""

    document: Document
    text: str
    author: str


def reliability(
    sets: Sequence[AnswerSet],
    *,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> Reliability:
    """Compute ADR and ADS of every model in both variants, for each side with questions and for all sides.

    Questions are the same if they share item (within its data set), side, author, document and wording. A document is
    identified by its text, so two systems with the same text share it. ADR counts a question once for each author. ADS
    counts it once for each document: all its authors then share it, and a model's first verdict counts, in the order of the
    authors' names. Questions by authors outside the models are left out. The order of `sets` changes no number. If a model
    lacks more than FEW_MISSING of the answers, the first note warns that rates over different questions cannot be compared.
    Raises InputError if there is nothing to compare, or if two sets belong to one model. Intervals resample items.
    """
    models = _models(sets)
    answered, rows_of = _answers(sets)
    asked = sorted(rows_of)
    left_out = dict(Counter(one.author for one in asked if one.author not in models))
    counted = [one for one in asked if one.author in models]
    codes, items = _codes(counted, answered), items_of([rows_of[one] for one in counted])
    rows = []
    for variant in VARIANTS:
        for side in (*SIDES, ALL_SIDES):
            chosen = [n for n, one in enumerate(counted) if side in (one.document.side, ALL_SIDES)]
            if chosen or side == ALL_SIDES:
                estimates = _both(
                    [counted[n] for n in chosen],
                    codes[chosen],
                    items[chosen],
                    models,
                    variant=variant,
                    n_resamples=n_resamples,
                    confidence_level=confidence_level,
                    rng=rng,
                )
                rows += _ranked(models, side, variant, *estimates)
    missing = {model: _missing(counted, given) for model, given in zip(models, answered, strict=True)}
    return Reliability(
        models=models,
        rows=tuple(rows),
        n_questions={
            side: _by_author([one for one in counted if side in (one.document.side, ALL_SIDES)], models)
            for side in (*SIDES, ALL_SIDES)
        },
        n_items=len(set(items.tolist())),
        missing=missing,
        left_out=left_out,
        notes=_notes(models, counted, missing, left_out),
        confidence_level=confidence_level,
    )


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


def verdicts_table(found: Mapping[str, Mapping[str, int]]) -> ResultTable:
    """One row for each author of questions, with the counts of `verdicts_by_author`."""
    verdicts = dict.fromkeys(verdict for counts in found.values() for verdict in counts)
    return ResultTable(
        "judge-answers",
        (
            Column("author", "Questions by", names_row=True),
            *(Column(verdict, verdict) for verdict in verdicts),
        ),
        tuple((author, *counts.values()) for author, counts in found.items()),
    )


def _models(sets: Sequence[AnswerSet]) -> tuple[str, ...]:
    """The models of the sets. Raises InputError if they cannot be compared."""
    counts = Counter(one.model for one in sets)
    problems = [
        f"{n} sets contain answers of {shown(model)}. Give one for each model"
        for model, n in counts.items()
        if n > 1
    ]
    if len(counts) < 2:
        problems.append(f"{len(counts)} model: at least two must answer the same questions")
    if problems:
        raise InputError("These answers cannot show how reliable the judges are.", problems)
    return tuple(counts)


def _answers(
    sets: Sequence[AnswerSet],
) -> tuple[list[dict[_Asked, CrossQuestion]], dict[_Asked, ScoredRow]]:
    """Each model's first answer to every question, and a row of each question."""
    parts = [part for one in sets for part in one.sets]
    datasets = iter(values_of([part.row for part in parts], "dataset"))
    answered: list[dict[_Asked, CrossQuestion]] = []
    rows: dict[_Asked, ScoredRow] = {}
    for one in sets:
        found: dict[_Asked, CrossQuestion] = {}
        for part in one.sets:
            row = part.row
            document = Document(row.item_id, row.language, next(datasets) or "", part.side, part.document)
            for question in part.questions:
                asked = _Asked(document, question.text, part.author)
                found.setdefault(asked, question)
                rows.setdefault(asked, row)
        answered.append(found)
    return answered, rows


def _by_author(asked: Sequence[_Asked], models: Sequence[str]) -> dict[str, int]:
    """Number of questions by each author, in the models' order."""
    counts = Counter(one.author for one in asked)
    return {model: counts[model] for model in models if counts[model]}


def _codes(asked: Sequence[_Asked], answered: Sequence[Mapping[_Asked, CrossQuestion]]) -> NDArray[np.int64]:
    """Shape (questions, models)."""
    codes = np.full((len(asked), len(answered)), MISSING, dtype=np.int64)
    for n, question in enumerate(asked):
        for model, given in enumerate(answered):
            answer = given[question].answer if question in given else None
            if answer is not None:
                codes[n, model] = VERDICTS.index(answer)
    return codes


def _both(
    asked: Sequence[_Asked],
    codes: NDArray[np.int64],
    items: NDArray[np.int64],
    models: Sequence[str],
    **options: Any,
) -> tuple[tuple[Estimate, ...], tuple[Estimate, ...]]:
    """ADR and ADS of each model. options: variant and interval options."""
    own = np.array([[one.author == model for model in models] for one in asked], dtype=np.bool_)
    own = own.reshape(codes.shape)
    first, together, made = _distinct(asked, codes, own)
    return (
        disagreement(codes, own, clusters=items, **options),
        deviation(together, made, clusters=items[first], **options),
    )


def _distinct(
    asked: Sequence[_Asked], codes: NDArray[np.int64], own: NDArray[np.bool_]
) -> tuple[list[int], NDArray[np.int64], NDArray[np.bool_]]:
    """Distinct questions of each document: first place, each model's first verdict, and all authors."""
    same: dict[tuple[Document, str], list[int]] = {}
    for n, one in enumerate(asked):
        same.setdefault((one.document, one.text), []).append(n)
    first = [places[0] for places in same.values()]
    together, made = codes[first], own[first]
    for row, places in enumerate(same.values()):
        for place in places[1:]:
            together[row] = np.where(together[row] == MISSING, codes[place], together[row])
            made[row] |= own[place]
    return first, together, made


def _ranked(
    models: Sequence[str], side: str, variant: Variant, adr: Sequence[Estimate], ads: Sequence[Estimate]
) -> list[ModelReliability]:
    ranks = [lowest_first([one.estimate for one in estimates]) for estimates in (adr, ads)]
    return [
        ModelReliability(model, side, variant, adr[n], ranks[0][n], ads[n], ranks[1][n])
        for n, model in enumerate(models)
    ]


def _missing(asked: Sequence[_Asked], given: Mapping[_Asked, CrossQuestion]) -> dict[str, int]:
    """Reason -> questions without a verdict, most frequent first."""
    reasons = Counter(
        "not asked" if one not in given else given[one].reason or _NO_VERDICT
        for one in asked
        if one not in given or given[one].answer is None
    )
    return dict(sorted(reasons.items(), key=lambda one: (-one[1], one[0])))


def _notes(
    models: Sequence[str],
    asked: Sequence[_Asked],
    missing: Mapping[str, Mapping[str, int]],
    left_out: Mapping[str, int],
) -> tuple[str, ...]:
    shares = {model: sum(reasons.values()) / max(len(asked), 1) for model, reasons in missing.items()}
    notes = []
    if max(shares.values(), default=0.0) > FEW_MISSING:
        lacking = ", ".join(f"{shown(model)} {share:.0%}" for model, share in shares.items())
        notes.append(f"{_OTHERS}, so their rates cannot be compared. Without a verdict: {lacking}")
    notes += [
        f"questions by {shown(author)} left out: {n}: that model's own answers are missing"
        for author, n in left_out.items()
    ]
    authors = {one.author for one in asked}
    notes += [
        f"{shown(model)} made none of the questions, so it has no disagreement rate"
        for model in models
        if model not in authors
    ]
    for model, reasons in missing.items():
        if n := sum(reasons.values()):
            why = ", ".join(f"{reason} {count}" for reason, count in reasons.items())
            notes.append(f"{shown(model)} gave no verdict on {n} of {len(asked)} questions: {why}")
    return tuple(notes)


VARIANT_NAMES: Mapping[Variant, str] = {
    "paper": "as CEF defines it",
    "cef-code": "as CEF's published code counts it",
}


def rates_table(found: Reliability) -> ResultTable:
    """One row for each variant, side and model."""
    other_questions = found.notes[:1] if found.notes[:1] and found.notes[0].startswith(_OTHERS) else ()
    return ResultTable(
        "judge-reliability",
        (
            Column("model", "Model", names_row=True),
            Column("side", "Questions from", names_row=True),
            Column("variant", "Counted", names_row=True),
            Column("adr", "ADR", percent=True),
            Column("adr_rank", "ADR rank"),
            Column("adr_questions", "Own questions"),
            Column("adr_left_out", "Left out of ADR"),
            Column("ads", "ADS", percent=True),
            Column("ads_rank", "ADS rank"),
            Column("ads_questions", "All questions"),
            Column("ads_left_out", "Left out of ADS"),
        ),
        tuple(
            (
                row.model,
                row.side,
                row.variant,
                interval(row.disagreement),
                row.disagreement_rank,
                row.disagreement.n,
                row.disagreement.n_left_out,
                interval(row.deviation),
                row.deviation_rank,
                row.deviation.n,
                row.deviation.n_left_out,
            )
            for row in found.rows
        ),
        title="".join(other_questions),
        notes=(
            *(f"{variant}: {meaning}" for variant, meaning in VARIANT_NAMES.items()),
            resampled(found.confidence_level),
            "Equal rates share the better rank.",
            *found.notes[len(other_questions) :],
        ),
    )


NOT_ASKED_FOR = "no question with this expected answer has a second answer"


@dataclass(frozen=True)
class ReaskedRow:
    """Second answers to questions with one expected answer."""

    expected: Verdict
    counts: Mapping[Verdict, int]
    """Second answers, given to the text that the question was made from."""
    without: Mapping[str, int]
    """Reason, such as `unparsed` -> number of questions without a second answer."""
    unchanged: Share
    """Share of questions with a second answer in which it equals the expected one."""


@dataclass(frozen=True)
class Reasked:
    """Confusion matrix of one judge: rows are expected answers, columns second answers."""

    judge: str
    by_side: Mapping[str, tuple[ReaskedRow, ...]]
    """`source`, `text`, `all` -> one row each for YES, NO and IDK."""
    n_not_asked: int
    """Questions that were not asked again."""


def confusion(output: JudgeOutput, *, confidence_level: float = 0.95) -> Reasked:
    """Count a cross-examination's questions by expected and by second answer on the same text, over all repeats.

    A question counts once for its item, document and repeat: all texts of an item share the questions made from the input
    text. Questions without a second answer are in no share and are counted by reason. Wilson intervals assume that
    questions of one text are independent, which is not quite true. Misleads at temperature 0 with a judge that repeats
    itself: repeating an answer does not make it right. Raises InputError for other judges, and for runs that asked nothing
    again.
    """
    if output.kind != cross_examination.KIND.name:
        raise InputError(
            f"{shown(output.name)} is a {output.kind} judge, which asks no questions. Choose a cross-examination."
        )
    by_side = _questions_once(output.texts)
    asked: dict[str, list[CrossQuestion]] = {
        side: [one for one in by_side[side] if one.again is not None or one.again_reason is not None]
        for side in SIDES
    }
    every = [question for questions in asked.values() for question in questions]
    if not every:
        refuse(
            [Remark("", "judge again with {reask}")],
            CefSettings,
            what=f"{shown(output.name)} asked no question a second time",
        )
    return Reasked(
        judge=output.name,
        by_side={
            side: tuple(_reasked_row(expected, questions, confidence_level) for expected in VERDICTS)
            for side, questions in (asked | {ALL_SIDES: every}).items()
        },
        n_not_asked=sum(len(questions) for questions in by_side.values()) - len(every),
    )


def _questions_once(texts: Sequence[JudgedText]) -> dict[Side, list[CrossQuestion]]:
    """Each question once, by the side it was made from."""
    found: dict[Side, dict[tuple[object, ...], CrossQuestion]] = {side: {} for side in SIDES}
    for text, item in zip(texts, items_of([text.row for text in texts]).tolist(), strict=True):
        for side, document, repeat, question in _asked(text):
            found[side].setdefault((item, document, repeat, question.text), question)
    return {side: list(questions.values()) for side, questions in found.items()}


def _asked(text: JudgedText) -> Iterator[tuple[Side, str | None, int, CrossQuestion]]:
    """Yield side, document, repeat and question for every question about the text."""
    record = text.record
    if not isinstance(record, CefRecord):
        return
    examined = text.text if record.back_translation is None else record.back_translation
    for one in record.examinations:
        for question in one.from_source or ():
            yield "source", text.document, one.repeat, question
        for question in one.from_text or ():
            yield "text", examined, one.repeat, question


def _reasked_row(
    expected: Verdict, questions: Sequence[CrossQuestion], confidence_level: float
) -> ReaskedRow:
    own = [question for question in questions if question.expected == expected]
    answered = Counter(question.again for question in own)
    without = Counter(question.again_reason or "" for question in own if question.again is None)
    counts = {verdict: answered[verdict] for verdict in VERDICTS}
    return ReaskedRow(
        expected,
        counts,
        dict(without),
        wilson_share(
            counts[expected], sum(counts.values()), confidence_level=confidence_level, reason=NOT_ASKED_FOR
        ),
    )


def reasked_table(found: Reasked) -> ResultTable:
    """One row for each side and expected answer, with counts of second answers."""
    return ResultTable(
        "judge-reasked",
        (
            Column("side", "Questions from", names_row=True),
            Column("expected", "Expected", names_row=True),
            *(Column(verdict) for verdict in VERDICTS),
            Column("no_answer", shown=False),
            Column("no_answer_reasons", "No answer"),
            Column("unchanged", "Unchanged", percent=True),
            Column("unchanged_count", shown=False),
        ),
        tuple(
            (
                side,
                row.expected,
                *(row.counts[verdict] for verdict in VERDICTS),
                sum(row.without.values()),
                row.without,
                counted_share(row.unchanged),
                row.unchanged.count,
            )
            for side, own in found.by_side.items()
            for row in own
        ),
        notes=(f"{found.n_not_asked:,} questions were not asked again",) if found.n_not_asked else (),
    )


ONE_EXAMINATION = "only one examination per text: no variance"
NO_TEXTS = "no text has a score in every repeat"
PERCENT_SQUARED = 100.0**2


@dataclass(frozen=True)
class AblationRow:
    """Variances of one component of a judge's scores over its repeats (ddof 1)."""

    judge: str
    """The judge's name."""
    n_questions: int
    """Questions requested from each of the two texts."""
    component: str
    """One of CEF_COMPONENTS."""
    mean: float | None
    """Mean over texts and repeats, from 0 to 1 (conciseness may be negative)."""
    variance_of_mean: float | None
    """Variance over repeats of the mean over texts: how much the result of a whole run depends on chance. Decreases with
    the number of texts."""
    variance_within: float | None
    """Variance over repeats of a text's score, averaged over texts: how much one score depends on chance."""
    n_texts: int
    """Texts with a score in every repeat."""
    n_repeats: int
    n_left_out: int
    """Texts without a score in some repeat, left out because means must cover the same texts."""
    reason: str | None
    """Reason for missing variances."""
    note: str | None = None
    """Note on repeats at temperature 0."""

    @property
    def percent_variance_of_mean(self) -> float | None:
        """Variance of the mean in squared percent, as in CEF's Tables 2 and 11."""
        return None if self.variance_of_mean is None else self.variance_of_mean * PERCENT_SQUARED

    @property
    def percent_variance_within(self) -> float | None:
        """Variance of a text's score in squared percent."""
        return None if self.variance_within is None else self.variance_within * PERCENT_SQUARED


def ablation(outputs: Sequence[JudgeOutput]) -> tuple[AblationRow, ...]:
    """Compute variances for outputs of one judge with different numbers of questions, fewest questions first.

    One row for each output and component. CEF does not state what its variances are computed over, so both readings are
    given. Outputs with one repeat have none. Misleads if the repeats are not independent requests (at temperature 0, or with
    a server that ignores seeds, every variance is 0), and with few repeats: with 10, the 95 % interval of a variance extends
    from half to 3.3 times the estimate. Raises InputError for outputs of other judges, and for an output given twice.
    """
    problems = [
        f"{shown(one.name)} is a {one.kind} judge"
        if one.kind != cross_examination.KIND.name
        else f"{shown(one.name)} does not state the number of questions requested"
        for one in outputs
        if one.kind != cross_examination.KIND.name or not isinstance(one.settings.get("n_questions"), int)
    ]
    if problems:
        raise InputError(
            "The number of questions can only be analysed for cross-examinations that were run here.",
            problems,
        )
    if twice := [shown(one.name) for n, one in enumerate(outputs) if one in outputs[:n]]:
        raise InputError(
            f"{', '.join(dict.fromkeys(twice))}: the same run is given twice. Name each run once."
        )
    return tuple(row for one in sorted(outputs, key=_n_questions) for row in _ablated(one))


def _n_questions(output: JudgeOutput) -> int:
    number = output.settings["n_questions"]
    assert isinstance(number, int)
    return number


def _ablated(output: JudgeOutput) -> Iterator[AblationRow]:
    values = values_by_repeat(output.texts, CEF_COMPONENTS)
    note = temperature_note(output, values, axis=1)
    n_repeats = values.shape[1]
    for place, component in enumerate(CEF_COMPONENTS):
        own = values[:, :, place]
        whole = own[~np.isnan(own).any(axis=1) & (n_repeats > 0)]
        reason = ONE_EXAMINATION if n_repeats == 1 else NO_TEXTS if not len(whole) else None
        yield AblationRow(
            judge=output.name,
            n_questions=_n_questions(output),
            component=component,
            mean=float(whole.mean()) if whole.size else None,
            variance_of_mean=None if reason else float(whole.mean(axis=0).var(ddof=1)),
            variance_within=None if reason else float(whole.var(axis=1, ddof=1).mean()),
            n_texts=len(whole),
            n_repeats=n_repeats,
            n_left_out=len(output.texts) - len(whole),
            reason=reason,
            note=note,
        )


def ablation_table(rows: Sequence[AblationRow]) -> ResultTable:
    """One row for each judge and component; variances on screen are in squared percent, as in CEF."""
    columns = (
        Column("judge", "Judge", names_row=True),
        Column("n_questions", "N"),
        Column("component", "Score", names_row=True),
        Column("mean", "Mean", places=4, percent=True),
        Column("variance_of_mean", shown=False),
        Column("variance_within", shown=False),
        Column("percent_variance_of_mean", "Variance of the mean"),
        Column("percent_variance_within", "Variance within texts"),
        Column("n_repeats", "Repeats"),
        Column("n_texts", "Texts"),
        Column("n_left_out", "Left out"),
        Column("reason", "Reason if undefined", shown=any(row.reason for row in rows)),
    )
    return ResultTable(
        "judge-ablation",
        columns,
        tuple(row_of(row, columns, reason=row.reason or "") for row in rows),
        notes=(
            "Variances over repeats, in squared percent: of the mean over texts, and of a text's score (averaged over texts).",
            *dict.fromkeys(f"{row.judge}: {row.note}" for row in rows if row.note),
        ),
    )


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


def caught_table(found: AlignmentTable) -> ResultTable:
    """All errors, then those by meaning, category and severity, with the share that a mismatch points to."""
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
            *(f"without a verdict: {n:,}: {reason}" for reason, n in found.reasons),
        ),
    )
