"""Which judge's questions and answers do other judges confirm? 001's Table 1 for any models: ADR and ADS by side."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.judges.answers import AnswerSet, QuestionSet
from core.judges.cross_examination.record import CrossQuestion, Side
from core.judges.cross_examination.verdicts import VERDICTS
from core.results.cells import interval, resampled
from core.results.choices import items_of, values_of
from core.schema.result_table import Column, ResultTable
from core.schema.scores import ScoredRow
from core.stats.judge_reliability import VARIANTS, Variant, deviation, disagreement, lowest_first
from core.stats.resampling import Estimate
from core.stats.votes import MISSING
from core.tables.reading import shown

ALL_SIDES = "all"
SIDES: tuple[Side, ...] = ("source", "text")
_OTHERS = "the models did not answer the same questions"
_NO_VERDICT = "no reason is given"
FEW_MISSING = 0.05
"""Share of the questions that a model may lack before its rates are said to be about other questions."""


@dataclass(frozen=True, order=True)
class Document:
    """What questions were made from."""

    item_id: str
    language: str
    dataset: str
    """Empty where no text of the item names one."""
    side: str
    text: str


@dataclass(frozen=True)
class ModelReliability:
    """One model on the questions of one side, by one variant. All rates from 0 to 1, lower is more reliable."""

    model: str
    side: str
    """What the questions were made from: `source`, `text`, or `all`."""
    variant: Variant
    disagreement: Estimate
    """ADR: how often the other models do not confirm its questions; the interval resamples items."""
    disagreement_rank: int | None
    """1 for the lowest; equal rates share the better rank, as in 001."""
    deviation: Estimate
    """ADS: how often it answers otherwise than most models, over all models' questions."""
    deviation_rank: int | None


@dataclass(frozen=True)
class Reliability:
    """Models that answered each other's questions."""

    models: tuple[str, ...]
    rows: tuple[ModelReliability, ...]
    """By variant, side and model, in this order."""
    n_questions: Mapping[str, Mapping[str, int]]
    """Side (`all` too) -> author -> its questions."""
    n_items: int
    """That the questions are about."""
    missing: Mapping[str, Mapping[str, int]]
    """Model -> reason -> questions that it gave no verdict on."""
    left_out: Mapping[str, int]
    """Author that answered nothing itself -> its questions, which no rate counts."""
    notes: tuple[str, ...]
    """First, where it is so, that the models did not answer the same questions."""
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
    """ADR and ADS of every model that answered, in both variants, for each side that has questions and for all.

    Questions are the same where item (within its data set), side, author, document and wording are; a document is known
    by its text, so two systems with one text have one document. ADR counts a question once for each author, ADS once
    for each document: then all its authors have made it, and of answers to each of them a model's first verdict counts,
    by the names of the authors. Questions by authors that are not among the models have no own answer and count
    nowhere. The order of `sets` changes no number. Where a model lacks more than FEW_MISSING of the answers the first note says
    so: rates over different questions do not compare. Raises InputError where there is nothing to compare, or two sets
    are of one model. Intervals resample items.
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
                    variant,
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
    """Author of questions -> verdict, or the reason why there is none -> questions; authors and verdicts as they come.

    sets: of one model's answers. Every author has every verdict that any has, 0 where it has none.
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


def _models(sets: Sequence[AnswerSet]) -> tuple[str, ...]:
    """The sets' models; InputError where they cannot be compared."""
    counts = Counter(one.model for one in sets)
    problems = [
        f"{n} sets hold answers of {shown(model)}: give one for each model"
        for model, n in counts.items()
        if n > 1
    ]
    if len(counts) < 2:
        problems.append(f"{len(counts)} model: answers of at least two to the same questions are needed")
    if problems:
        raise InputError("These answers do not tell how reliable judges are.", problems)
    return tuple(counts)


def _answers(
    sets: Sequence[AnswerSet],
) -> tuple[list[dict[_Asked, CrossQuestion]], dict[_Asked, ScoredRow]]:
    """Each model's answer to every question, of one that it has twice the first; and a row of each question."""
    parts = [part for one in sets for part in one.sets]
    datasets = iter(values_of([part.row for part in parts], "dataset"))
    answered: list[dict[_Asked, CrossQuestion]] = []
    rows: dict[_Asked, ScoredRow] = {}
    for one in sets:
        found: dict[_Asked, CrossQuestion] = {}
        for part in one.sets:
            document = _document(part, next(datasets) or "")
            for question in part.questions:
                asked = _Asked(document, question.text, part.author)
                found.setdefault(asked, question)
                rows.setdefault(asked, part.row)
        answered.append(found)
    return answered, rows


def _document(part: QuestionSet, dataset: str) -> Document:
    return Document(part.row.item_id, part.row.language, dataset, part.side, part.document)


def _by_author(asked: Sequence[_Asked], models: Sequence[str]) -> dict[str, int]:
    """How many questions each author made, in the models' order."""
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
    variant: Variant,
    *,
    n_resamples: int,
    confidence_level: float,
    rng: int,
) -> tuple[tuple[Estimate, ...], tuple[Estimate, ...]]:
    """ADR and ADS of each model."""
    own = np.array([[one.author == model for model in models] for one in asked], dtype=np.bool_)
    own = own.reshape(codes.shape)
    options: dict[str, Any] = {
        "variant": variant,
        "n_resamples": n_resamples,
        "confidence_level": confidence_level,
        "rng": rng,
    }
    first, together, made = _distinct(asked, codes, own)
    return (
        disagreement(codes, own, clusters=items, **options),
        deviation(together, made, clusters=items[first], **options),
    )


def _distinct(
    asked: Sequence[_Asked], codes: NDArray[np.int64], own: NDArray[np.bool_]
) -> tuple[list[int], NDArray[np.int64], NDArray[np.bool_]]:
    """Each question of a document once: where it stands first, each model's first verdict on it, all its authors."""
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
    """Reason -> questions without a verdict, the most frequent first."""
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
    notes = _different(asked, missing)
    notes += [
        f"questions by {shown(author)} are left out ({n}): that model's own answers are not among the sets"
        for author, n in left_out.items()
    ]
    authors = {one.author for one in asked}
    notes += [
        f"{shown(model)} made none of the questions: it has no disagreement rate"
        for model in models
        if model not in authors
    ]
    for model, reasons in missing.items():
        if n := sum(reasons.values()):
            why = ", ".join(f"{reason} {count}" for reason, count in reasons.items())
            notes.append(f"{shown(model)} gave no verdict on {n} of {len(asked)} questions: {why}")
    return tuple(notes)


def _different(asked: Sequence[_Asked], missing: Mapping[str, Mapping[str, int]]) -> list[str]:
    """What is to be read before any rate: that some are about other questions than the rest."""
    shares = {model: sum(reasons.values()) / max(len(asked), 1) for model, reasons in missing.items()}
    if max(shares.values(), default=0.0) <= FEW_MISSING:
        return []
    lacking = ", ".join(f"{shown(model)} {share:.0%}" for model, share in shares.items())
    return [f"{_OTHERS}, so their rates do not compare; without a verdict: {lacking}"]


VARIANT_NAMES: Mapping[Variant, str] = {
    "paper": "as the paper defines it",
    "cef-code": "as its published code counts",
}


def rates_table(found: Reliability) -> ResultTable:
    """A row a variant, side and model."""
    other_questions = found.notes[:1] if found.notes[:1] and found.notes[0].startswith(_OTHERS) else ()
    return ResultTable(
        "judge-reliability",
        (
            Column("model", "Model", names_row=True),
            Column("side", "Questions", names_row=True),
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
