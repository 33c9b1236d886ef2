"""A rating study in numbers: totals by system, and raters against themselves. Only after it is unblinded."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.schema import StudyRecord
from core.schema.scores import Rating
from core.schema.tasks import RatingTask
from core.stats.resampling import Estimate, cluster_bootstrap, mean_of_sums
from core.study.rating_checks import SPAN_DIMENSION
from core.study.rating_results import counted, rating_set_of, ratings_in, task_of


def dimensions_of(task: RatingTask) -> list[str]:
    """What is rated, in the order of the task; marked errors last, as SPAN_DIMENSION."""
    return [one.name for one in task.dimensions] + ([SPAN_DIMENSION] if task.spans else [])


@dataclass(frozen=True)
class SystemTotal:
    """What raters said of one system's texts on one dimension."""

    system: str
    level: str
    """Empty where the study has no levels."""
    dimension: str
    mean: Estimate
    """Over texts of the mean over raters; clusters are items."""
    n_ratings: int
    n_texts: int
    """Rated; `n_unrated` of the system's texts are not."""
    n_unrated: int
    errors_per_rating: float | None
    """Marked errors a text and rater, on SPAN_DIMENSION; None elsewhere."""


def system_totals(
    record: StudyRecord, *, n_resamples: int = 10_000, confidence_level: float = 0.95, rng: int = 0
) -> tuple[SystemTotal, ...]:
    """One total a system, level and dimension, in the order of the file and of the task.

    Several raters of one text are averaged first, so that a text counts once however many rated it. Intervals resample
    items. Misleads where systems were rated on different items: their means are then of different texts.
    """
    ratings = rating_set_of(record).ratings
    n_texts = Counter((o.source, o.level) for o in record.outputs)
    by_cell: dict[tuple[str, str, str], dict[str, list[Rating]]] = {}
    for one in ratings:
        cell = (one.system or "", one.level or "", one.dimension)
        by_cell.setdefault(cell, {}).setdefault(one.item_id, []).append(one)
    totals = []
    for system, level in n_texts:
        for dimension in dimensions_of(task_of(record)):
            by_item = by_cell.get((system, level, dimension), {})
            mean = _mean(by_item, n_resamples, confidence_level, rng)
            n_unrated = n_texts[system, level] - len(by_item)
            totals.append(_total(system, level, dimension, by_item, mean, n_unrated))
    return tuple(totals)


def _mean(by_item: Mapping[str, Sequence[Rating]], n_resamples: int, level: float, rng: int) -> Estimate:
    means = [(float(np.mean([one.score for one in of])), 1.0) for of in by_item.values()]
    return cluster_bootstrap(
        np.array(means).reshape(-1, 2),
        list(by_item),
        mean_of_sums,
        n_resamples=n_resamples,
        confidence_level=level,
        rng=rng,
    )


def _total(
    system: str,
    level: str,
    dimension: str,
    by_item: Mapping[str, Sequence[Rating]],
    mean: Estimate,
    n_unrated: int,
) -> SystemTotal:
    marked = [one.spans for of in by_item.values() for one in of if one.spans is not None]
    return SystemTotal(
        system=system,
        level=level,
        dimension=dimension,
        mean=mean,
        n_ratings=sum(map(len, by_item.values())),
        n_texts=len(by_item),
        n_unrated=n_unrated,
        errors_per_rating=sum(map(len, marked)) / len(marked) if marked else None,
    )


@dataclass(frozen=True)
class Consistency:
    """How often one rater said of a text what they had said before, on one dimension."""

    rater: str
    dimension: str
    n: int
    """Texts shown twice and done twice."""
    n_same: int
    mean_difference: float | None
    """Mean absolute difference of the two scores; None without repeats."""


def consistency(record: StudyRecord) -> tuple[Consistency, ...]:
    """Every rater against themselves, from the hidden repeats: a few texts each, so read it as a warning sign only."""
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
