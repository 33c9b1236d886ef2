"""How often do models confirm each other's questions and answers? ADR and ADS of CEF (Tables 1 and 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.schema.analysis import (
    Analysis,
    Table,
    Tell,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from core.judges.answers import AnswerSet
    from core.judges.questions import CrossQuestion
    from core.schema.scores import ScoredRow
    from core.stats.agreement import Variant
    from core.stats.resampling import Estimate

ALL_SIDES = "all"
FEW_MISSING = 0.05
"""Above this share of missing answers, a note warns that a model's rates cover other questions."""
_OTHERS = "the models did not answer the same questions"
_NO_VERDICT = "no reason is given"
VARIANT_NAMES: Mapping[Variant, str] = {
    "paper": "as CEF defines it",
    "cef-code": "as CEF's published code counts it",
}


class ReliabilityOptions(Settings):
    """Options of the intervals."""

    n_resamples: int = resamples_setting(10_000)
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()


@row
class ModelReliability:
    """One model's rates on the questions of one side, by one variant. From 0 to 1; lower is more reliable."""

    model: str = column("the model", title="Model", names_row=True)
    side: str = column(
        "what the questions were made from: source, text, or all", title="Questions from", names_row=True
    )
    variant: str = column(
        "paper: CEF's formula; cef-code: its published code", title="Counted", names_row=True
    )
    disagreement: Interval = column(
        "ADR: how often other models do not confirm the model's questions; the interval resamples items",
        name="adr",
        title="ADR",
        percent=True,
        ends="counted",
    )
    disagreement_rank: int | None = column(
        "rank, 1 for the lowest rate; equal rates share the better rank", name="adr_rank", title="ADR rank"
    )
    adr_questions: int = column("the model's own questions", title="Own questions", key="")
    adr_left_out: int = column("own questions left out", title="Left out of ADR", key="")
    deviation: Interval = column(
        "ADS: how often the model's answer differs from most models' answer, over all models' questions",
        name="ads",
        title="ADS",
        percent=True,
        ends="counted",
    )
    deviation_rank: int | None = column("its rank", name="ads_rank", title="ADS rank")
    ads_questions: int = column("all models' questions", title="All questions", key="")
    ads_left_out: int = column("questions left out", title="Left out of ADS", key="")


@row
class Reliability:
    """Reliability of models that answered each other's questions."""

    models: tuple[str, ...] = entry("the models")
    rows: tuple[ModelReliability, ...] = entry("rates, by variant, side and model", rows=ModelReliability)
    n_questions: Mapping[str, Mapping[str, int]] = entry(
        "side (all, too) to author to number of its questions"
    )
    n_items: int = entry("items with questions")
    missing: Mapping[str, Mapping[str, int]] = entry(
        "model to reason to questions without a verdict of the model"
    )
    left_out: Mapping[str, int] = entry(
        "author that is not among the models to its questions, which are left out of all rates"
    )
    notes: tuple[str, ...] = entry("the first warns if the models did not answer the same questions")
    confidence_level: float = entry("of the intervals")


@dataclass(frozen=True, order=True)
class Document:
    """A text that questions were made from."""

    item_id: str
    language: str
    dataset: str
    """Empty if no text of the item has one."""
    side: str
    text: str


@dataclass(frozen=True, order=True)
class _Asked:
    """A question of one author about one document."""

    document: Document
    text: str
    author: str


def compute(options: ReliabilityOptions, sets: Sequence[AnswerSet], *, tell: Tell) -> Reliability:
    """Compute ADR and ADS of every model in both variants, for each side with questions and for all sides.

    Questions are the same if they share item (within its data set), side, author, document and wording. A document is
    identified by its text, so two systems with the same text share it. ADR counts a question once for each author. ADS
    counts it once for each document: all its authors then share it, and a model's first verdict counts, in the order of the
    authors' names. Questions by authors outside the models are left out. The order of `sets` changes no number. If a model
    lacks more than FEW_MISSING of the answers, the first note warns that rates over different questions cannot be compared.
    Raises InputError if there is nothing to compare, or if two sets belong to one model. Intervals resample items.
    """
    from core.joining.choices import items_of
    from core.judges.questions import SIDES
    from core.stats.agreement import VARIANTS

    models = _models(sets)
    tell("comparing the answers")
    answered, rows_of = _answers(sets)
    asked = sorted(rows_of)
    left_out = dict(Counter(one.author for one in asked if one.author not in models))
    counted = [one for one in asked if one.author in models]
    codes, items = _codes(counted, answered), items_of([rows_of[one] for one in counted])
    rows: list[ModelReliability] = []
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
                    **options.model_dump(),
                )
                rows += _ranked(models, side, variant, *estimates)
    missing = {model: _missing(counted, given) for model, given in zip(models, answered, strict=True)}
    return Reliability(
        models=models,
        rows=tuple(rows),
        n_questions={
            side: _questions_by_author(
                [one for one in counted if side in (one.document.side, ALL_SIDES)], models
            )
            for side in (*SIDES, ALL_SIDES)
        },
        n_items=len(set(items.tolist())),
        missing=missing,
        left_out=left_out,
        notes=_notes(models, counted, missing, left_out),
        confidence_level=options.confidence_level,
    )


def _ranked(
    models: Sequence[str], side: str, variant: Variant, adr: Sequence[Estimate], ads: Sequence[Estimate]
) -> list[ModelReliability]:
    from core.results.cells import interval
    from core.stats.agreement import lowest_first

    ranks = [lowest_first([one.estimate for one in estimates]) for estimates in (adr, ads)]
    return [
        ModelReliability(
            model=model,
            side=side,
            variant=variant,
            disagreement=interval(adr[n]),
            disagreement_rank=ranks[0][n],
            adr_questions=adr[n].n,
            adr_left_out=adr[n].n_left_out,
            deviation=interval(ads[n]),
            deviation_rank=ranks[1][n],
            ads_questions=ads[n].n,
            ads_left_out=ads[n].n_left_out,
        )
        for n, model in enumerate(models)
    ]


def _models(sets: Sequence[AnswerSet]) -> tuple[str, ...]:
    """The models of the sets. Raises InputError if they cannot be compared."""
    from core.errors import InputError
    from core.tables.reading import shown

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
    from core.joining.choices import values_of

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


def _questions_by_author(asked: Sequence[_Asked], models: Sequence[str]) -> dict[str, int]:
    """Number of questions by each author, in the models' order."""
    counts = Counter(one.author for one in asked)
    return {model: counts[model] for model in models if counts[model]}


def _codes(asked: Sequence[_Asked], answered: Sequence[Mapping[_Asked, CrossQuestion]]) -> NDArray[np.int64]:
    """Shape (questions, models)."""
    import numpy as np

    from core.judges.questions import VERDICTS
    from core.stats.votes import MISSING

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
    import numpy as np

    from core.stats.agreement import deviation, disagreement

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
    import numpy as np

    from core.stats.votes import MISSING

    same: dict[tuple[Document, str], list[int]] = {}
    for n, one in enumerate(asked):
        same.setdefault((one.document, one.text), []).append(n)
    first = [places[0] for places in same.values()]
    together, made = codes[first], own[first]
    for at, places in enumerate(same.values()):
        for place in places[1:]:
            together[at] = np.where(together[at] == MISSING, codes[place], together[at])
            made[at] |= own[place]
    return first, together, made


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
    from core.tables.reading import shown

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


def _heading(found: Reliability) -> str:
    """The warning that rates cannot be compared, above them; empty if they can."""
    first = found.notes[:1]
    return first[0] if first and first[0].startswith(_OTHERS) else ""


def _table_notes(found: Reliability) -> tuple[str, ...]:
    from core.results.cells import resampled

    return (
        *(f"{variant}: {meaning}" for variant, meaning in VARIANT_NAMES.items()),
        resampled(found.confidence_level),
        "Equal rates share the better rank.",
        *found.notes[1 if _heading(found) else 0 :],
    )


def _sentences(found: Reliability) -> tuple[str, ...]:
    from core.errors import counted

    return (
        f"{len(found.models)} models, {counted(found.n_items, 'item')}. ADR: how often the others do not confirm a "
        "model's questions. ADS: how often its answer differs from the majority. Lower is better.",
    )


ANALYSIS = Analysis(
    name="reliability",
    title="Questions of several models",
    question="How often do models confirm each other's questions and answers?",
    Options=ReliabilityOptions,
    Result=Reliability,
    takes=("answers",),
    compute=compute,
    verdicts=lambda _: (),
    sentences=_sentences,
    refuses="With fewer than two models, and for two sets of answers by one model.",
    section="judges#judge-reliability",
    misleads="Models that agree can still be wrong. Rates over different questions cannot be compared.",
    example="""
>>> import assay
>>> found = assay.reliability(["run:5", "run:6"])  # doctest: +SKIP
""",
    tables=(
        Table(
            "judge-reliability",
            ModelReliability,
            lambda found: found.rows,
            "Rates",
            notes=_table_notes,
            heading=_heading,
        ),
    ),
)
