"""Results of a rating study after unblinding: rated texts, ratings, totals by system and by rater."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from core.errors import NotAllowed
from core.formats.spans.cells import weighted_span
from core.schema.scale import MOST_GUESSED, Scale
from core.schema.scores import PROBABILITY, ErrorSpan, RatedText, Rating, RatingSet, ScorableOutput, score_of
from core.schema.study import Dimension, Item, Output, Rater, RatingAnswer, RatingTask, StudyRecord, TextKey
from core.stats.resampling import Estimate, cluster_bootstrap, mean_of_sums
from core.study.as_seen import rendering_notes
from core.study.blinding import SPAN_DIMENSION

DRY_RUN = "ratings of a preview"
EXCLUDED = "ratings of raters who are left out"
OPEN = "texts that were begun and never done"
INVALID = "texts that a rater reported as broken"
REPEATED = "hidden repeats: for consistency only"


@dataclass(frozen=True)
class Counted:
    """The answers of a record that count, and the number of those that do not, by reason."""

    record: StudyRecord
    answers: tuple[RatingAnswer, ...]
    """In the order of the study's texts, then of its raters."""
    repeats: tuple[RatingAnswer, ...]
    """Finished hidden repeats of raters who count, on texts not reported as broken."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> answers."""

    @property
    def n_translated(self) -> int:
        """Answers that count and were given on a page that the browser had translated."""
        return sum(bool(answer.translated) for answer in self.answers)

    @cached_property
    def items(self) -> dict[str, Item]:
        """Item id -> item."""
        return {item.item_id: item for item in self.record.items}


def task_of(record: StudyRecord) -> RatingTask:
    """The task of a rating study. Raises NotAllowed for a study of pairs."""
    if record.study.task is None:
        raise NotAllowed(
            f"Study {record.study.name!r} compares pairs of answers, so it has no ratings of texts."
        )
    return record.study.task


def counted(record: StudyRecord) -> Counted:
    """Select the answers that count: finished, by raters who count, on texts not reported as broken. Count the rest by reason."""
    raters = {rater.rater_id: rater for rater in record.raters}
    place = {(o.item_id, o.level, o.source): n for n, o in enumerate(record.outputs)}
    who = {rater.rater_id: n for n, rater in enumerate(record.raters)}
    left_out: Counter[str] = Counter()
    main: list[RatingAnswer] = []
    repeats: list[RatingAnswer] = []
    for answer in record.rating_answers:
        reason = why_left_out(answer, raters[answer.rater_id])
        if reason is None and answer.repeat:
            repeats.append(answer)
            reason = REPEATED
        if reason is None:
            main.append(answer)
        else:
            left_out[reason] += 1

    def order(answer: RatingAnswer) -> tuple[int, int]:
        return place[answer.item_id, answer.level, answer.source], who[answer.rater_id]

    return Counted(record, tuple(sorted(main, key=order)), tuple(sorted(repeats, key=order)), dict(left_out))


def why_left_out(answer: RatingAnswer, rater: Rater) -> str | None:
    """Why an answer does not count, hidden repeats aside; None if it counts."""
    if rater.dry_run:
        return DRY_RUN
    if rater.excluded is not None:
        return EXCLUDED
    if answer.invalid:
        return INVALID
    return None if answer.done else OPEN


def drawn_labels(record: StudyRecord) -> dict[TextKey, dict[str, str]]:
    """The label with the probability of inclusion, for each text that was drawn with one."""
    return {
        (one.item_id, one.level, one.source): {PROBABILITY: repr(one.probability)} for one in record.inclusion
    }


def ratings_in(
    task: RatingTask, item: Item, answer: RatingAnswer, labels: Mapping[str, str] | None = None
) -> Iterator[Rating]:
    """One rating per dimension, and for marked errors one on SPAN_DIMENSION: minus the sum of their MQM weights.

    labels: of the text.
    """

    def rating(dimension: str, score: float, spans: tuple[ErrorSpan, ...] | None = None) -> Rating:
        return Rating(
            item_id=answer.item_id,
            score=score,
            system=answer.source,
            level=answer.level or None,
            rater=answer.rater_id,
            dimension=dimension,
            language=item.language,
            labels=labels or {},
            spans=spans,
        )

    for dimension in task.dimensions:
        if dimension.name in answer.scores:
            yield rating(dimension.name, answer.scores[dimension.name])
    if task.spans is not None:
        spans = tuple(weighted_span(span) for span in answer.spans)
        yield rating(SPAN_DIMENSION, score_of(spans), spans)


def rating_set_of(record: StudyRecord) -> RatingSet:
    """All ratings that count, one per rater, text and dimension, and the number left out by reason.

    The score of marked errors is minus the sum of their MQM weights (core.formats.spans.mqm), including errors in the source.
    """
    found, task, labels = counted(record), task_of(record), drawn_labels(record)
    ratings = tuple(
        r
        for a in found.answers
        for r in ratings_in(task, found.items[a.item_id], a, labels.get((a.item_id, a.level, a.source)))
    )
    unknown = sum(span.weight is None for r in ratings for span in r.spans or ())
    study = record.study
    notes = rendering_notes(study)
    if unknown:
        notes += (f"{unknown} errors have a severity without a weight, so they do not affect the score",)
    scales = {one.name: scale_of_form(one) for one in task.dimensions}
    if task.spans is not None:
        scales[SPAN_DIMENSION] = Scale("scores", origin="file", penalties=True)
    return RatingSet(ratings, study.dataset_sha256, f"study {study.name}", notes, found.left_out, scales)


def scale_of_form(dimension: Dimension) -> Scale:
    """The scale that raters see: classes, if there are at most MOST_GUESSED answers, else scores."""
    classes, ends = dimension.classes, (dimension.lowest, dimension.highest)
    if not 1 < len(classes) <= MOST_GUESSED:
        return Scale("scores", ends=ends, origin="file")
    return Scale("two" if len(classes) == 2 else "ordered", classes, ends=ends, origin="file")


def rated_texts_of(record: StudyRecord) -> tuple[RatedText, ...]:
    """Every text of the study with the ratings that count, in the order of its file; unrated texts have none."""
    found, task, labels = counted(record), task_of(record), drawn_labels(record)
    by_text: dict[TextKey, list[Rating]] = {}
    for answer in found.answers:
        key = (answer.item_id, answer.level, answer.source)
        by_text.setdefault(key, []).extend(
            ratings_in(task, found.items[answer.item_id], answer, labels.get(key))
        )
    keys = [(o.item_id, o.level, o.source) for o in record.outputs]
    return tuple(
        RatedText(_scorable(found.items[o.item_id], o, labels.get(key)), tuple(by_text.get(key, ())))
        for o, key in zip(record.outputs, keys, strict=True)
    )


def _scorable(item: Item, output: Output, labels: Mapping[str, str] | None) -> ScorableOutput:
    return ScorableOutput(
        item_id=item.item_id,
        system=output.source,
        text=output.text,
        reference=item.reference or None,
        source=item.question or None,
        level=output.level or None,
        language=item.language,
        labels=labels or {},
        turns=item.turns,
    )


def dimensions_of(task: RatingTask) -> list[str]:
    """Names of the rated dimensions, in the order of the task; marked errors last, as SPAN_DIMENSION."""
    return [one.name for one in task.dimensions] + ([SPAN_DIMENSION] if task.spans else [])


Side = Literal["system", "level"]
"""What texts are grouped by."""


@dataclass(frozen=True)
class RatedMean:
    """Ratings of a group of texts on one dimension."""

    system: str
    """Empty: texts of all systems."""
    level: str
    """Empty: texts of all levels, or of a study without levels."""
    dimension: str
    mean: Estimate
    """Mean over texts of the mean over raters; clusters are items."""
    n_ratings: int
    n_texts: int
    """Number of rated texts; `n_unrated` texts are not rated."""
    n_unrated: int
    errors_per_rating: float | None
    """Mean number of marked errors per text and rater, on SPAN_DIMENSION; None elsewhere."""


def rated_means(
    record: StudyRecord,
    by: Collection[Side] = ("system", "level"),
    *,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> tuple[RatedMean, ...]:
    """One mean per system, level and dimension, or over all systems or all levels, in the order of the file and of the task.

    Ratings of a text are averaged over raters first, so every text counts once. Intervals resample items. Misleads if
    systems were rated on different items, because their means then cover different texts.
    """

    def group_of(system: str, level: str) -> tuple[str, str]:
        return system if "system" in by else "", level if "level" in by else ""

    n_texts = Counter(group_of(o.source, o.level) for o in record.outputs)
    by_cell: dict[tuple[str, str, str], dict[TextKey, list[Rating]]] = {}
    for one in rating_set_of(record).ratings:
        system, level = one.system or "", one.level or ""
        cell = (*group_of(system, level), one.dimension)
        by_cell.setdefault(cell, {}).setdefault((one.item_id, level, system), []).append(one)
    means = []
    for system, level in n_texts:
        for dimension in dimensions_of(task_of(record)):
            by_text = by_cell.get((system, level, dimension), {})
            scores = [(float(np.mean([one.score for one in of])), 1.0) for of in by_text.values()]
            mean = cluster_bootstrap(
                np.array(scores).reshape(-1, 2),
                [item for item, _, _ in by_text],
                mean_of_sums,
                n_resamples=n_resamples,
                confidence_level=confidence_level,
                rng=rng,
            )
            marked = [one.spans for of in by_text.values() for one in of if one.spans is not None]
            means.append(
                RatedMean(
                    system=system,
                    level=level,
                    dimension=dimension,
                    mean=mean,
                    n_ratings=sum(map(len, by_text.values())),
                    n_texts=len(by_text),
                    n_unrated=n_texts[system, level] - len(by_text),
                    errors_per_rating=sum(map(len, marked)) / len(marked) if marked else None,
                )
            )
    return tuple(means)


@dataclass(frozen=True)
class Consistency:
    """How often a rater gave a text the same score again, on one dimension."""

    rater: str
    dimension: str
    n: int
    """Texts that the rater finished both times."""
    n_same: int
    mean_difference: float | None
    """Mean absolute difference of the two scores; None without repeats."""


def consistency(record: StudyRecord) -> tuple[Consistency, ...]:
    """Self-consistency of every rater, from the hidden repeats. Based on few texts, so only a warning sign."""
    found, task = counted(record), task_of(record)
    first = {answer.key: answer for answer in found.answers}
    pairs: dict[tuple[str, str], list[float]] = {}
    for again in found.repeats:
        before = first.get((*again.key[:4], False))
        if before is None:
            continue
        item = found.items[again.item_id]
        then = {r.dimension: r.score for r in ratings_in(task, item, before)}
        for rating in ratings_in(task, item, again):
            if rating.dimension in then:
                key = (again.rater_id, rating.dimension)
                pairs.setdefault(key, []).append(abs(rating.score - then[rating.dimension]))
    raters = [r.rater_id for r in record.raters if not r.dry_run and r.excluded is None]
    lines = []
    for rater in raters:
        for dimension in dimensions_of(task):
            gaps = pairs.get((rater, dimension), [])
            mean = float(np.mean(gaps)) if gaps else None
            lines.append(Consistency(rater, dimension, len(gaps), sum(gap == 0 for gap in gaps), mean))
    return tuple(lines)
