"""Which judge's questions and answers do other judges confirm? 001's Table 1 for any models: ADR and ADS by side."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.analysis.row_columns import items_of
from core.datasets.reading import shown
from core.errors import InputError
from core.schema.judges import VERDICTS, AnswerSet, CrossQuestion, QuestionSet, Side
from core.schema.scores import ScoredRow
from core.stats.judge_reliability import VARIANTS, Variant, deviation, disagreement, lowest_first
from core.stats.resampling import Estimate
from core.stats.votes import MISSING

ALL_SIDES = "all"
SIDES: tuple[Side, ...] = ("source", "text")
_NO_VERDICT = "no reason is given"

Document = tuple[object, ...]
"""Item, side and document of a question."""


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
    confidence_level: float


@dataclass(frozen=True)
class _Asked:
    """A question of one author about one document."""

    document: Document
    author: str
    text: str


def reliability(
    sets: Sequence[AnswerSet],
    *,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> Reliability:
    """ADR and ADS of every model that answered, in both variants, for each side that has questions and for all.

    Questions are the same where item, side, author, document and wording are; a document is known by its text, so two
    systems with one text have one document. ADR counts a question once for each author, ADS once for each document (of
    several authors the first in the order of `sets` has made it). Questions by authors that are not among the models
    have no own answer and count nowhere. Raises InputError where there is nothing to compare, or two sets are of one
    model. Intervals resample items.
    """
    models = _models(sets)
    answered = [_answers(one) for one in sets]
    asked = _by_author(dict.fromkeys(question for given in answered for question in given), models)
    left_out = dict(Counter(one.author for one in asked if one.author not in models))
    counted = [one for one in asked if one.author in models]
    codes, items = _codes(counted, answered), _items(counted, sets)
    rows = []
    for variant in VARIANTS:
        for side in (*SIDES, ALL_SIDES):
            chosen = [n for n, one in enumerate(counted) if side in (_side(one), ALL_SIDES)]
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
            side: dict(Counter(one.author for one in counted if side in (_side(one), ALL_SIDES)))
            for side in (*SIDES, ALL_SIDES)
        },
        n_items=len(set(items.tolist())),
        missing=missing,
        left_out=left_out,
        notes=_notes(models, counted, missing, left_out),
        confidence_level=confidence_level,
    )


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


def _answers(one: AnswerSet) -> dict[_Asked, CrossQuestion]:
    """A model's answer to every question; of one that it has twice, the first."""
    found: dict[_Asked, CrossQuestion] = {}
    for part in one.sets:
        for question in part.questions:
            found.setdefault(_Asked(_document(part), part.author, question.text), question)
    return found


def _document(part: QuestionSet) -> Document:
    return (part.row.item_id, part.row.language, part.side, part.document)


def _side(one: _Asked) -> str:
    return str(one.document[2])


def _items(asked: Sequence[_Asked], sets: Sequence[AnswerSet]) -> NDArray[np.int64]:
    """A number for each question's item. Questions from the source name no data set: those from the texts do."""
    rows: dict[_Asked, ScoredRow] = {}
    for part in (part for one in sets for part in one.sets):
        for question in part.questions:
            rows.setdefault(_Asked(_document(part), part.author, question.text), part.row)
    return items_of([rows[one] for one in asked])


def _by_author(asked: Iterable[_Asked], models: Sequence[str]) -> list[_Asked]:
    """In the models' order: of a question that several have made, the first model's comes first."""
    place = {model: n for n, model in enumerate(models)}
    return sorted(asked, key=lambda one: place.get(one.author, len(models)))


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
    own = np.array([models.index(one.author) for one in asked], dtype=np.int64)
    first: dict[tuple[Document, str], int] = {}
    for n, one in enumerate(asked):
        first.setdefault((one.document, one.text), n)
    distinct = list(first.values())

    def of(function: Callable[..., tuple[Estimate, ...]], rows: list[int]) -> tuple[Estimate, ...]:
        return function(
            codes[rows],
            own[rows],
            clusters=items[rows],
            variant=variant,
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            rng=rng,
        )

    return of(disagreement, list(range(len(asked)))), of(deviation, distinct)


def _ranked(
    models: Sequence[str], side: str, variant: Variant, adr: Sequence[Estimate], ads: Sequence[Estimate]
) -> list[ModelReliability]:
    ranks = [lowest_first([one.estimate for one in estimates]) for estimates in (adr, ads)]
    return [
        ModelReliability(model, side, variant, adr[n], ranks[0][n], ads[n], ranks[1][n])
        for n, model in enumerate(models)
    ]


def _missing(asked: Sequence[_Asked], given: Mapping[_Asked, CrossQuestion]) -> dict[str, int]:
    """Reason -> questions without a verdict."""
    reasons = Counter(
        "not asked" if one not in given else given[one].reason or _NO_VERDICT
        for one in asked
        if one not in given or given[one].answer is None
    )
    return dict(reasons)


def _notes(
    models: Sequence[str],
    asked: Sequence[_Asked],
    missing: Mapping[str, Mapping[str, int]],
    left_out: Mapping[str, int],
) -> tuple[str, ...]:
    notes = [
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
