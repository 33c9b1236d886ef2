"""Every text of an unblinded rating study with its ratings, and which of them are asked for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

import numpy as np
from numpy.typing import NDArray

from core.joining.choices import check_names, directions
from core.joining.tables import merge_tables
from core.results.correlations.disagreement import rank_gaps
from core.results.correlations.votes import rows_of_texts
from core.results.study.pair_list import NOT_COUNTED
from core.results.study.results import reasons
from core.schema.result_table import Cell, Column, ResultTable
from core.schema.scores import ErrorSpan, ScoreTable
from core.schema.study import Item, Output, RatingAnswer, StudyRecord, TextKey
from core.stats.resampling import Floats
from core.study.analysis_set import check_released
from core.study.blinding import SPAN_DIMENSION
from core.study.ratings import (
    counted,
    dimensions_of,
    ratings_in,
    task_of,
    why_left_out,
)
from core.study.times import first_seconds, known_seconds

TEXTS_TABLE = "texts"
"""Name of the table of all texts."""
GAP = Column("gap", places=2)
_YES = "yes"


@dataclass(frozen=True)
class TextFilter:
    """Which texts are asked for; all that is set must hold. Without anything set: every text.

    With `disagree` or a judge the texts are in the order of the difference, the largest first.
    """

    disagree: bool = False
    """Raters gave different scores on the dimension."""
    flagged: bool = False
    """A rater reported the text as broken."""
    unrated: bool = False
    """No rating on the dimension counts."""
    systems: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    rater: str = ""
    """Texts with a rating by this rater."""
    judge: str = ""
    """Texts that both this judge or metric and people scored, furthest from people first."""
    dimension: str = ""
    """Empty: the first."""


@dataclass(frozen=True)
class RatingOnText:
    """What one rater said of a text."""

    rater: str
    scores: Mapping[str, float]
    """Dimension -> score; of marked errors minus the sum of their weights."""
    again: Mapping[str, float]
    """The scores of the hidden repeat of the text; empty without one."""
    spans: tuple[ErrorSpan, ...]
    seconds: float | None
    """Until it was first done; None: unknown."""
    comments: tuple[str, ...]
    flagged: bool
    left_out: str
    """Why the rating does not count; empty: it counts."""


@dataclass(frozen=True)
class TextList:
    """All texts of a rating study, in the order of its file."""

    record: StudyRecord
    texts: tuple[Output, ...]
    dimensions: tuple[str, ...]
    raters: tuple[str, ...]
    """Raters with a finished text, those who count first; never of a dry run."""
    n_counting: int
    """How many of them count."""
    ratings: Floats
    """Shape (texts, raters, dimensions): scores of finished texts that nobody reported as broken; NaN for none."""
    flagged: NDArray[np.bool_]
    """Texts that a rater who counts reported as broken."""
    comments: NDArray[np.int64]
    seconds: Floats
    """Median over raters of the time until the text was first done; NaN where no time is known."""
    left_out: Mapping[str, int]
    """Reason -> answers that do not count."""
    judges: tuple[str, ...] = ()
    scores: Floats | None = None
    """Shape (texts, judges): as the judge gives them; None: nothing is scored."""
    signs: Floats | None = None
    """1 for each judge whose higher scores are better, else -1."""

    @cached_property
    def items(self) -> dict[str, Item]:
        """Item id -> item."""
        return {item.item_id: item for item in self.record.items}

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order of the file."""
        return tuple(dict.fromkeys(one.source for one in self.texts))

    def of(self, dimension: str) -> Floats:
        """Shape (texts, raters): scores on one dimension by raters who count; empty: the first dimension."""
        at = self.dimensions.index(dimension) if dimension else 0
        return np.asarray(self.ratings[:, : self.n_counting, at])

    def mean(self, dimension: str) -> Floats:
        """Mean over raters of each text; NaN for a text that nobody rated."""
        own = self.of(dimension)
        given = ~np.isnan(own)
        total = np.where(given, own, 0.0).sum(axis=1)
        return np.where(given.any(axis=1), total / np.maximum(given.sum(axis=1), 1), np.nan)

    def spread(self, dimension: str) -> Floats:
        """Highest minus lowest score of each text; NaN below two raters."""
        own = self.of(dimension)
        given = ~np.isnan(own)
        highest = np.where(given, own, -np.inf).max(axis=1, initial=-np.inf)
        lowest = np.where(given, own, np.inf).min(axis=1, initial=np.inf)
        return np.where(given.sum(axis=1) > 1, highest - lowest, np.nan)

    def gaps(self, judge: str, dimension: str) -> Floats:
        """Rank of the judge's score minus rank of the raters' mean, as a share of the texts with both; NaN without both.

        Above 0 where the judge is kinder than people.
        """
        check_names("judge", [judge], self.judges)
        assert self.scores is not None, "a judge has scores"
        assert self.signs is not None, "a judge has a direction"
        at = self.judges.index(judge)
        own, people = self.scores[:, at] * self.signs[at], self.mean(dimension)
        both = ~np.isnan(own) & ~np.isnan(people)
        found = np.full(len(self.texts), np.nan)
        if both.any():
            found[both] = rank_gaps(own[both], people[both])
        return found

    @cached_property
    def _answers(self) -> dict[TextKey, list[RatingAnswer]]:
        found: dict[TextKey, list[RatingAnswer]] = {}
        for answer in self.record.rating_answers:
            found.setdefault((answer.item_id, answer.level, answer.source), []).append(answer)
        return found

    @cached_property
    def _first(self) -> Mapping[object, float | None]:
        return first_seconds(self.record.rating_history)

    def ratings_of(self, at: int) -> tuple[RatingOnText, ...]:
        """What every rater said of a text. at: its place in `texts`."""
        text, task = self.texts[at], task_of(self.record)
        of_rater: dict[str, dict[bool, RatingAnswer]] = {}
        for answer in self._answers.get((text.item_id, text.level, text.source), ()):
            of_rater.setdefault(answer.rater_id, {})[answer.repeat] = answer
        found = []
        for rater in self.record.raters:
            main, again = (of_rater.get(rater.rater_id, {}).get(repeat) for repeat in (False, True))
            both = [one for one in (main, again) if one is not None]
            if rater.dry_run or not any(one.answered or one.comment.strip() or one.invalid for one in both):
                continue
            scores: list[dict[str, float]] = [
                {
                    rating.dimension: rating.score
                    for rating in (
                        ratings_in(task, self.items[text.item_id], one)
                        if one is not None and one.answered
                        else ()
                    )
                }
                for one in (main, again)
            ]
            found.append(
                RatingOnText(
                    rater.rater_id,
                    scores[0],
                    scores[1],
                    main.spans if main is not None and main.answered else (),
                    None if main is None else self._first.get(main.key),
                    tuple(one.comment for one in both if one.comment.strip()),
                    any(one.invalid for one in both),
                    "" if main is None else why_left_out(main, rater) or "",
                )
            )
        return tuple(found)


def text_list(record: StudyRecord) -> TextList:
    """Every text of an unblinded rating study, with its ratings.

    Raises NotAllowed unless the study is unblinded, and for a study of pairs.
    """
    check_released(record.study)
    task, found = task_of(record), counted(record)
    place = {(one.item_id, one.level, one.source): at for at, one in enumerate(record.outputs)}
    people = {rater.rater_id: rater for rater in record.raters if not rater.dry_run}
    answered = {one.rater_id for one in record.rating_answers if one.answered and not one.repeat}
    order = sorted(
        (rater for rater in people.values() if rater.rater_id in answered),
        key=lambda rater: rater.excluded is not None,
    )
    raters = tuple(rater.rater_id for rater in order)
    dimensions = tuple(dimensions_of(task))
    ratings = np.full((len(record.outputs), len(raters), len(dimensions)), np.nan)
    flagged = np.zeros(len(record.outputs), dtype=np.bool_)
    comments = np.zeros(len(record.outputs), dtype=np.int64)
    times: list[list[float | None]] = [[] for _ in record.outputs]
    first, items = first_seconds(record.rating_history), found.items
    for answer in record.rating_answers:
        rater = people.get(answer.rater_id)
        if rater is None:
            continue
        at = place[answer.item_id, answer.level, answer.source]
        comments[at] += bool(answer.comment.strip())
        flagged[at] |= answer.invalid and rater.excluded is None
        if answer.repeat or not answer.answered or answer.invalid:
            continue
        times[at].append(first.get(answer.key))
        for rating in ratings_in(task, items[answer.item_id], answer):
            ratings[at, raters.index(rater.rater_id), dimensions.index(rating.dimension)] = rating.score
    known = [known_seconds(one) for one in times]
    return TextList(
        record,
        record.outputs,
        dimensions,
        raters,
        sum(rater.excluded is None for rater in order),
        ratings,
        flagged,
        comments,
        np.array([median(one) if one else np.nan for one in known], dtype=np.float64),
        found.left_out,
    )


def judged_texts(texts: TextList, tables: Sequence[ScoreTable]) -> TextList:
    """The list with the scores of judges and metrics. Raises InputError for tables without a text of the study, and for a text
    with several rows of scores.
    """
    if not tables:
        return replace(texts, judges=(), scores=None, signs=None)
    table = merge_tables(tables, of={(one.item_id, one.level, one.source) for one in texts.record.outputs})
    places = rows_of_texts(texts.record, table)
    rows = np.array([places.get((one.item_id, one.level, one.source), -1) for one in texts.texts], np.int64)
    values = np.vstack([table.values, np.full(len(table.metrics), np.nan)])
    return replace(
        texts,
        judges=tuple(metric.name for metric in table.metrics),
        scores=values[rows],
        signs=directions(table),
    )


def texts_shown(texts: TextList, wanted: TextFilter) -> NDArray[np.int64]:
    """Places of the texts that are asked for, in the study's order or by the difference that is asked for.

    Raises InputError for a system, level, rater, judge or dimension that the study does not have.
    """
    check_names("system", wanted.systems, texts.systems)
    check_names("level", wanted.levels, texts.record.study.levels)
    check_names("rater", [wanted.rater] if wanted.rater else [], texts.raters)
    check_names("judge", [wanted.judge] if wanted.judge else [], texts.judges)
    check_names("dimension", [wanted.dimension] if wanted.dimension else [], texts.dimensions)
    kept = np.ones(len(texts.texts), dtype=np.bool_)
    if wanted.systems:
        kept &= np.array([one.source in wanted.systems for one in texts.texts], dtype=np.bool_)
    if wanted.levels:
        kept &= np.array([one.level in wanted.levels for one in texts.texts], dtype=np.bool_)
    if wanted.flagged:
        kept &= texts.flagged
    if wanted.unrated:
        kept &= np.isnan(texts.mean(wanted.dimension))
    if wanted.rater:
        kept &= (~np.isnan(texts.ratings[:, texts.raters.index(wanted.rater)])).any(axis=1)
    order = np.zeros(len(texts.texts))
    if wanted.disagree:
        order = texts.spread(wanted.dimension)
        kept &= order > 0
    if wanted.judge:
        order = np.abs(texts.gaps(wanted.judge, wanted.dimension))
        kept &= ~np.isnan(order)
    places = np.flatnonzero(kept)
    return np.asarray(places[np.argsort(-order[places], kind="stable")])


def text_table(
    texts: TextList,
    at: Iterable[int] | None = None,
    dimension: str | None = None,
    judges: Sequence[str] | None = None,
) -> ResultTable:
    """One row for each text: every rater's scores, mean and spread over raters, and judges' scores.

    at: places of the texts, as `texts_shown` gives them; None for all. dimension: the one to show; None for all. judges: those
    with a column; None for all. Of a single judge and dimension the table shows the gap, too.
    """
    places = range(len(texts.texts)) if at is None else [int(one) for one in at]
    dimensions = texts.dimensions if dimension is None else (dimension or texts.dimensions[0],)
    several = len(dimensions) > 1
    shown_judges = texts.judges if judges is None else tuple(judges)
    levels = any(one.level for one in texts.texts)
    with_gap = len(shown_judges) == 1 and not several

    def names(prefix: str, dimension: str) -> tuple[str, str]:
        return (f"{prefix}_{dimension}", f"{prefix} {dimension}") if several else (prefix, prefix)

    columns = [Column("item", names_row=True), Column("level", names_row=True, shown=levels)]
    columns += [Column("system", names_row=True), Column("question")]
    cells: list[Sequence[Cell]] = []
    for name in dimensions:
        at_dimension = texts.dimensions.index(name)
        for number, rater in enumerate(texts.raters):
            title = rater if number < texts.n_counting else f"{rater} ({NOT_COUNTED})"
            columns.append(
                Column(
                    *(f"rating_{rater}_{name}", f"{title} {name}") if several else (f"rating_{rater}", title),
                    places=2,
                )
            )
            cells.append(_numbers(texts.ratings[:, number, at_dimension]))
        columns += [Column(*names("mean", name), places=2), Column(*names("spread", name), places=2)]
        cells += [_numbers(texts.mean(name)), _numbers(texts.spread(name))]
    for judge in shown_judges:
        assert texts.scores is not None, "a judge has scores"
        columns.append(Column(f"judge_{judge}", judge))
        cells.append(_numbers(texts.scores[:, texts.judges.index(judge)]))
    if with_gap:
        columns.append(GAP)
        cells.append(_numbers(texts.gaps(shown_judges[0], dimensions[0])))
    columns += [
        Column("comments", shown=bool(texts.comments.any())),
        Column("flagged", shown=bool(texts.flagged.any())),
        Column("seconds", places=1, shown=bool((~np.isnan(texts.seconds)).any())),
    ]
    cells += [texts.comments.tolist(), [_YES if one else "" for one in texts.flagged.tolist()]]
    cells.append(_numbers(texts.seconds))
    rows = []
    for place in places:
        text = texts.texts[place]
        about = (text.item_id, text.level or None, text.source, texts.items[text.item_id].question)
        rows.append((*about, *(one[place] for one in cells)))
    return ResultTable(TEXTS_TABLE, tuple(columns), tuple(rows), "Texts", _notes(texts, dimensions, with_gap))


def _numbers(values: Floats) -> list[Cell]:
    return [None if value != value else value for value in values.tolist()]


def _notes(texts: TextList, dimensions: Sequence[str], with_gap: bool) -> tuple[str, ...]:
    notes = ["Mean and spread (highest minus lowest) are over raters who count."]
    if SPAN_DIMENSION in dimensions:
        notes.append(f"{SPAN_DIMENSION}: minus the sum of the weights of the marked errors.")
    if with_gap:
        notes.append(
            "Gap: rank of the judge's score minus rank of the raters' mean, as a share of the texts with both."
        )
    if texts.left_out:
        notes.append(f"Ratings that do not count: {reasons(texts.left_out)}.")
    if (~np.isnan(texts.seconds)).any():
        notes.append("Seconds: median over raters of the time until the text was first done.")
    return tuple(notes)
