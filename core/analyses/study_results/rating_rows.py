"""The results of a study of ratings as rows: every table, and the JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from statistics import mean
from typing import Any

from core.analyses.study_results import RATINGS
from core.analyses.study_results.pairs import Filled, ListedRow
from core.analyses.study_results.rating_agreement import RatersAgreement
from core.analyses.study_results.ratings import (
    LevelRow,
    RaterRow,
    RatingResults,
    SystemRow,
    TotalRow,
    TwiceRow,
)
from core.results.cells import interval
from core.results.study.results import reasons
from core.results.study.tables import RatingMeans, median_seconds, rated_highest
from core.schema.analysis import Answer
from core.schema.result_table import Interval, ResultTable
from core.schema.study import RatingAnswer, StudyRecord
from core.study.as_seen import translated_notes
from core.study.ratings import (
    Consistency,
    RatedMean,
    consistency,
    counted,
    dimensions_of,
    rating_set_of,
    task_of,
)
from core.study.times import RaterSeconds, seconds_per_rater

Shape = Mapping[str, Mapping[str, Any]]


def answer_of(record: StudyRecord, means: RatingMeans) -> Answer:
    """The answer with its tables and JSON, for a page that has the means already; without what the raters have in common."""
    return Answer(RATINGS, RATINGS.Options(), rating_results(record, means))


def rating_results(
    record: StudyRecord,
    means: RatingMeans,
    agreed: RatersAgreement | None = None,
    texts: ResultTable | None = None,
) -> RatingResults:
    """The results with every table and the JSON. agreed: of the raters; texts: the list of texts; None: without them."""
    found, repeats, highest = counted(record), consistency(record), rated_highest(means)
    seconds = _seconds_of(record, found.answers)
    raters = sorted({answer.rater_id for answer in found.answers})
    filled: dict[str, Filled] = {
        "totals": Filled(tuple(map(_total, means.totals))),
        "means-by-system": _pivot(SystemRow, means.by_system),
        "raters": Filled(tuple(_rater_rows(record, found.answers, seconds))),
        "repeats": Filled(tuple(map(_twice, repeats))),
    }
    if means.by_level:
        filled["means-by-level"] = _pivot(LevelRow, means.by_level)
    shapes = _shapes(record, means)
    for table in (*([] if agreed is None else agreed.tables), *([] if texts is None else [texts])):
        filled[table.name], shapes[table.name] = listed(table)
    return RatingResults(
        study=record.study.name,
        state=record.study.state,
        task=task_of(record).name,
        dataset_sha256=record.study.dataset_sha256,
        n_answers=len(found.answers),
        n_translated=found.n_translated,
        left_out=dict(found.left_out),
        rated_highest=highest.to_json(),
        totals=tuple(map(asdict, means.totals)),
        means_by_system=tuple(map(asdict, means.by_system)),
        means_by_level=tuple(map(asdict, means.by_level)),
        consistency=tuple(map(asdict, repeats)),
        rater_seconds={rater: asdict(one) for rater, one in seconds.items()},
        agreement={} if agreed is None else agreed.json,
        sentences=(
            f"Study {record.study.name!r} ({record.study.state}): {task_of(record).title}",
            highest.said,
            f"Raters: {', '.join(raters) or 'none'}; texts done: {len(found.answers)}; left out: {reasons(found.left_out)}",
            *translated_notes(found.n_translated, len(found.answers), "ratings"),
            *([] if agreed is None else agreed.said),
        ),
        filled=filled,
        shapes=shapes,
    )


def listed(table: ResultTable) -> tuple[Filled, dict[str, dict[str, Any]]]:
    """A table whose columns its data decide, as rows, and how each column is shown."""
    names = [one.name for one in table.columns]
    rows = tuple(ListedRow(dict(zip(names, row, strict=True))) for row in table.rows)
    kept = ("title", "places", "shown", "names_row", "heat", "percent", "p_value", "general")
    shape = {one.name: {name: getattr(one, name) for name in kept} for one in table.columns}
    return Filled(rows, table.notes), shape if rows else {}


def _shapes(record: StudyRecord, means: RatingMeans) -> dict[str, Shape]:
    dimensions = list(dict.fromkeys(one.dimension for one in means.by_system))
    by = {f"mean_{name}": {"title": name, "places": 2} for name in dimensions}
    of_task = dimensions_of(task_of(record))
    of_rater = {f"mean_{name}": {"title": f"Mean {name}", "places": 2} for name in of_task}
    shown = task_of(record).spans is not None
    rated = bool(counted(record).answers)
    return {
        "totals": {"level": {"shown": any(total.level for total in means.totals)}},
        "means-by-system": by if means.by_system else {},
        "means-by-level": by if means.by_level else {},
        "raters": {**(of_rater if rated else {}), "errors_marked": {"shown": shown}},
    }


def _total(one: RatedMean) -> TotalRow:
    return TotalRow(
        one.system,
        one.level or None,
        one.dimension,
        interval(one.mean),
        one.n_texts,
        one.n_unrated,
        one.n_ratings,
        one.errors_per_rating,
    )


def _pivot(kind: type, means: Sequence[RatedMean]) -> Filled:
    """A row for each system or level, a column for each dimension."""
    rows: dict[str, dict[str, Interval]] = {}
    for one in means:
        cells = rows.setdefault(one.system if kind is SystemRow else one.level, {})
        cells[f"mean_{one.dimension}"] = replace(interval(one.mean), n_left_out=one.n_unrated)
    over = "levels" if kind is SystemRow else "systems"
    note = f"Mean over texts of all {over} of the mean over raters. In brackets: 95 % intervals from resampled items."
    return Filled(tuple(kind(name, cells) for name, cells in rows.items()), (note,))


def _rater_rows(
    record: StudyRecord, answers: Sequence[RatingAnswer], seconds: Mapping[str, RaterSeconds]
) -> list[RaterRow]:
    """Number of texts and mean scores of each rater."""
    ratings, dimensions = rating_set_of(record).ratings, dimensions_of(task_of(record))
    rows = []
    for rater in dict.fromkeys(answer.rater_id for answer in answers):
        own = [one for one in ratings if one.rater == rater]
        said = {name: [one.score for one in own if one.dimension == name] for name in dimensions}
        rows.append(
            RaterRow(
                rater,
                sum(answer.rater_id == rater for answer in answers),
                {f"mean_{name}": mean(scores) if scores else None for name, scores in said.items()},
                sum(len(one.spans or ()) for one in own),
                *median_seconds(seconds[rater]),
            )
        )
    return rows


def _twice(one: Consistency) -> TwiceRow:
    return TwiceRow(one.rater, one.dimension, one.n, one.n_same, one.mean_difference)


def _seconds_of(record: StudyRecord, answers: Sequence[RatingAnswer]) -> dict[str, RaterSeconds]:
    raters = sorted({answer.rater_id for answer in answers})
    return seconds_per_rater(raters, record.rating_answers, record.rating_history)
