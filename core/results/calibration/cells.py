"""One cell of a calibration: ratings and scores as classes, and agreement among raters and with an evaluator."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, counted
from core.joining.choices import (
    NO_VALUE,
    add_directions,
    check_names,
    column_of,
    dimension_said,
    dimensions_of,
    directions,
)
from core.joining.tables import NO_SCORE, rows_met, unmatched
from core.schema.scale import NOT_DECLARED, DeclaredScale, Scale
from core.schema.scores import METHODS, Rating, RatingSet, ScoredRow, ScoreTable
from core.schema.study import Dimension
from core.stats.agreement import (
    AGREEMENT_KINDS,
    agreement_kinds,
    fleiss_kappa,
    full_agreement,
    gwet_ac1,
    interval_alpha,
    majority_labels,
    ordinal_alpha,
    pairwise_agreement,
    pairwise_f1,
    top_class_bias,
    weighted_f1,
)
from core.stats.correlation import coefficients, intervals
from core.stats.degeneracy import Constant, constant
from core.stats.resampling import Estimate, Floats, mean_estimates, resampled_estimate
from core.stats.votes import MISSING, Codes
from core.tables.reading import shown
from core.tables.scales import offered_scale

DIMENSION, TASK = "dimension", "task"
GROUP_BY = ("language", TASK, DIMENSION)
"""Columns that make the cells of Multilingual's tables."""
_DATASET = "dataset"
_NO_LANGUAGE = "und"


@dataclass(frozen=True)
class Evaluator:
    """One evaluator's columns of scores."""

    name: str
    """Name of the judge, or of the only column."""
    columns: Mapping[str, str]
    """Dimension -> metric with the evaluator's score on it."""
    wanted: str | None = None
    """The only dimension requested; None: all that people rated."""


@dataclass(frozen=True)
class JoinedDimension:
    """Texts that people rated on a dimension, each with the evaluator's score."""

    dimension: str
    rows: tuple[ScoredRow, ...]
    groups: tuple[Mapping[str, str], ...]
    """Each text's values in the columns for grouping; `NO_VALUE` if it has none."""
    raters: tuple[str, ...]
    ratings: Floats
    """Shape (texts, raters); NaN if the rater gave none."""
    scores: Floats
    """Shape (texts,); NaN if the evaluator gave none. Sign flipped if a metric's lower scores are better."""
    reasons: tuple[str | None, ...]
    """Reason for each missing score."""
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of ratings that matched no text."""
    places: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Shape (texts,): each text's row in the table of scores."""


def evaluators_of(
    table: ScoreTable,
    ratings: RatingSet,
    *,
    dimension: str | None = None,
    columns: Mapping[str, str] | None = None,
    run_dimension: str | None = None,
) -> tuple[Evaluator, ...]:
    """Match a table's columns with dimensions, evaluator by evaluator, in the table's order.

    `JUDGE-LA` is the judge JUDGE on the dimension LA; upper and lower case are equivalent. If no column ends with a
    dimension, every column is an evaluator of the only dimension of the ratings (or the one requested), else of the
    only one in the judge's own run (`run_dimension`). columns: metric -> dimension, overrides all this. Raises InputError for
    unknown names, and if the dimension of the columns cannot be determined.
    """
    there = dimensions_of(ratings)
    if not there:
        raise InputError(f"{shown(ratings.file_name)} contains no ratings.")
    names = [metric.name for metric in table.metrics]
    if columns:
        check_names("column of scores", list(columns), names)
        check_names("dimension", list(columns.values()), there)
    if dimension is not None:
        check_names("dimension", [dimension], there)
    wanted = there if dimension is None else (dimension,)
    named = columns or {}
    called = shown(table.file_name) if table.file_name else "the scores"
    found: dict[str, dict[str, str]] = {}
    for name in names:
        says = (name, named[name]) if name in named else None if named else dimension_said(name, wanted)
        if says is not None and says[1] in wanted:
            found.setdefault(says[0], {}).setdefault(says[1], name)
    only = wanted[0] if len(wanted) == 1 else run_dimension
    if not found and not named and only is not None and only in wanted:
        found = {name: {only: name} for name in names}
    if not found:
        raise InputError(
            f"No column of {called} could be matched with a rated dimension. Name columns and their "
            "dimensions (COLUMN=DIMENSION,...), or the one dimension that all columns score.",
            [
                f"columns: {', '.join(map(shown, names)) or 'none'}",
                f"dimensions: {', '.join(map(shown, wanted))}",
            ],
        )
    if named:  # columns named by the user belong to one evaluator, whatever their names
        merged = {on: metric for own in found.values() for on, metric in own.items()}
        if len(merged) == len(found):
            return (Evaluator(called if len(merged) > 1 else next(iter(found)), merged, dimension),)
    return tuple(Evaluator(name or called, own, dimension) for name, own in found.items())


def join_dimension(
    table: ScoreTable, ratings: RatingSet, dimension: str, metric: str, group_by: Sequence[str]
) -> JoinedDimension:
    """Texts of the table that people rated on the dimension, in the table's order.

    Raises InputError if no rating matches a text of the table.
    """
    table, assumed = add_directions(table)
    chosen = [one for one in ratings.ratings if one.dimension == dimension]
    met = rows_met(table, ratings, chosen)
    used, place = np.unique(met[met >= 0], return_inverse=True)
    there = [one for one, row in zip(chosen, met.tolist(), strict=True) if row >= 0]
    raters: dict[str, int] = {}
    cells: dict[tuple[int, int], float] = {}
    about: dict[int, Rating] = {}
    for one, text in zip(there, place.tolist(), strict=True):
        about.setdefault(text, one)
        cells[text, _column(raters, cells, text, one.rater)] = one.score
    values = np.full((len(used), len(raters)), np.nan)
    for at, score in cells.items():
        values[at] = score
    column = [one.name for one in table.metrics].index(metric)
    rows = [(table.rows[row], about[text]) for text, row in enumerate(used.tolist())]
    return JoinedDimension(
        dimension,
        tuple(_filled(row, rating) for row, rating in rows),
        tuple({name: _value(row, rating, name) for name in group_by} for row, rating in rows),
        tuple(raters),
        values,
        (table.values * directions(table))[used, column],
        tuple(
            table.reasons.get((row, column), NO_SCORE) if np.isnan(table.values[row, column]) else None
            for row in used.tolist()
        ),
        assumed,
        unmatched(table, chosen, met),
        used.astype(np.int64),
    )


def _column(
    raters: dict[str, int], cells: Mapping[tuple[int, int], float], text: int, rater: str | None
) -> int:
    """The rater's column. Unnamed ratings of a text, or several by one rater, count as different raters'."""
    number = 1
    while True:
        name = f"rating {number}" if rater is None else rater if number == 1 else f"{rater} ({number})"
        column = raters.setdefault(name, len(raters))
        if (text, column) not in cells:
            return column
        number += 1


def _value(row: ScoredRow, rating: Rating, column: str) -> str:
    """A text's value in a column, from either file; the data set replaces a missing task."""
    if column == DIMENSION:
        return rating.dimension
    for name in (TASK, _DATASET) if column == TASK else (column,):
        for one in (row, rating):
            value = column_of(one, name)
            if value not in (None, "", _NO_LANGUAGE):
                return str(value)
    return NO_VALUE


def _filled(row: ScoredRow, rating: Rating) -> ScoredRow:
    """The row with the language and labels that only the rating has, so that items stay separate."""
    language = rating.language if row.language == _NO_LANGUAGE else row.language
    labels = {**rating.labels, **row.labels}
    return ScoredRow(row.item_id, row.system, row.level, language, labels)


MOST_CLASSES = 11
"""Whole numbers over a wider range, such as 0 to 100, are treated as numbers, not classes."""
NOT_WHOLE = "ratings are not whole numbers"
TOO_WIDE = f"no usual scale of at most {MOST_CLASSES} whole numbers holds the ratings"
NO_CLASSES = "the scale has scores, not classes"
FEW = "a rating is not one of the classes"
MIXED = "dimensions with different classes cannot be combined"
_SAME = 1e-9


@dataclass(frozen=True)
class Labelled:
    """Texts with the classes given by every rater and by the evaluator. Arrays have one row for each text."""

    dimensions: tuple[str, ...]
    classes: tuple[float, ...]
    """Classes, worst first; empty: ratings are numbers."""
    why_numbers: str | None
    one_scale: bool
    """Whether the evaluator's scores lie within the range of the ratings, so that differences are meaningful."""
    items: NDArray[np.int64]
    """Number of each text's item, the same in all dimensions."""
    raters: tuple[str, ...]
    ratings: Floats
    """Shape (texts, raters)."""
    scores: Floats
    """Shape (texts,); NaN if missing or off the scale."""
    off_scale: NDArray[np.bool_]
    """Texts whose score is off the scale. They still count in agreement among raters."""
    votes: Codes
    """Shape (texts, raters); codes of classes, -1 for missing."""
    evaluator: Codes
    """Shape (texts,)."""
    reasons: tuple[str | None, ...]
    """Reason for each missing score."""
    places: NDArray[np.int64]
    """Each text's row in the table of scores."""
    notes: tuple[str, ...] = ()

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Texts with a score, even one off the scale."""
        return np.asarray(~np.isnan(self.scores) | self.off_scale, dtype=np.bool_)

    @property
    def mean_ratings(self) -> Floats:
        """Mean of each text's ratings, shape (texts,); NaN if it has none."""
        given = ~np.isnan(self.ratings)
        total = np.where(given, self.ratings, 0.0).sum(axis=1)
        return np.asarray(
            np.where(given.any(axis=1), total / np.maximum(given.sum(axis=1), 1), np.nan), dtype=np.float64
        )

    def only(self, used: NDArray[np.bool_] | Sequence[int]) -> "Labelled":
        """Select some of the texts."""
        places = np.flatnonzero(used) if np.asarray(used).dtype == np.bool_ else np.asarray(used, dtype=int)
        some: dict[str, Any] = {name: getattr(self, name)[places] for name in _OF_TEXTS}
        return replace(self, **some, reasons=tuple(self.reasons[place] for place in places.tolist()))


_OF_TEXTS = ("items", "ratings", "scores", "off_scale", "votes", "evaluator", "places")
"""Names of the arrays in `Labelled`."""


def labelled(
    joined: JoinedDimension,
    items: NDArray[np.int64],
    task: Dimension | None = None,
    declared: DeclaredScale = NOT_DECLARED,
    written: Scale | None = None,
) -> Labelled:
    """Assign classes to the ratings and scores of texts.

    items: number of each text's item. The classes are those on offer: what is declared, else what the task states, else the
    scale of the words that the file has (`written`), else a guess from the ratings (`core.schema.scale.guessed_scale`), which
    a note shows. The evaluator's scores never change the classes. A score between two classes, such as the mean of several
    repeats, counts as the nearest class, and as the lower of two equally near ones. A score off the scale is left out, with a
    note; if at least half are off the scale, the evaluator uses another scale and the dimension is treated as numbers. Misleads
    if the guess is wrong: declare the scale.
    """
    ratings, scores = joined.ratings, joined.scores
    given = ratings[~np.isnan(ratings)]
    classes, why, notes = _classes(joined.dimension, given, task, declared, written)
    ends = [*given, *classes, *(declared.ends or ()), *((task.lowest, task.highest) if task else ())]
    low, high = min(ends, default=0.0) - _SAME, max(ends, default=0.0) + _SAME
    outside = np.asarray((scores < low) | (scores > high), dtype=np.bool_)  # False for NaN
    one_scale = 2 * outside.sum() < (~np.isnan(scores)).sum()
    off_scale = outside & one_scale & (bool(classes) or task is not None)
    scores = np.where(off_scale, np.nan, scores)
    one_scale = one_scale and not (outside & ~off_scale).any()
    known = scores[~np.isnan(scores)]
    if classes and known.size and not one_scale:
        why = f"scores range from {known.min():g} to {known.max():g}, outside the classes {_listed(classes)}"
        classes, notes = (), []
    evaluator = np.full(scores.shape, MISSING, dtype=np.int64)
    votes = np.full(ratings.shape, MISSING, dtype=np.int64)
    if off_scale.any():
        notes.append(
            f"{joined.dimension}: off the scale of {low + _SAME:g} to {high - _SAME:g}, so left out: "
            f"{counted(int(off_scale.sum()), 'score')} of the evaluator"
        )
    if classes:
        evaluator[~np.isnan(scores)], n_between = nearest_classes(known, classes)
        votes[~np.isnan(ratings)], _ = nearest_classes(given, classes)
        if n_between:
            notes.append(
                f"{joined.dimension}: between two classes, so counted as the nearest: {counted(n_between, 'score')} of the evaluator"
            )
    return Labelled(
        *((joined.dimension,), classes, why, bool(one_scale), items, joined.raters, ratings, scores),
        *(off_scale, votes, evaluator, joined.reasons, joined.places, tuple(notes)),
    )


def _classes(
    dimension: str, given: Floats, task: Dimension | None, declared: DeclaredScale, written: Scale | None
) -> tuple[tuple[float, ...], str | None, list[str]]:
    """The classes, the reason if there are none, and assumptions. Scores are never used: they are to be tested."""
    if not declared.leaves_all_open:
        task = None
    if task is not None and len(task.classes) > MOST_CLASSES:
        return (), f"the task offers more than {MOST_CLASSES} classes", []
    if task is not None and task.classes:
        offered = np.array(task.classes)
        if not np.isclose(given[:, None], offered, atol=_SAME, rtol=0).any(axis=1).all():
            return (), f"{FEW} in the task {_listed(task.classes)}", []
        return task.classes, None, []
    if task is not None:
        return (), "the task offers every number of a range", []
    scale = written if written and declared.leaves_all_open else offered_scale(given, declared)
    if not scale.ordered:
        raise InputError(
            "Classes without an order cannot be calibrated",
            ["scale: unordered; use check or alt-test, or list the classes from worst to best"],
        )
    if not scale.classes:
        whole = np.array_equal(given, np.round(given))
        return (), NO_CLASSES if scale.origin == "declared" else TOO_WIDE if whole else NOT_WHOLE, []
    if not scale.on_offer(given).all():
        return (), f"{FEW} on the declared scale {_listed(scale.classes)}", []
    if scale.origin == "declared":
        return scale.classes, None, []
    note = f"{dimension}: {scale.read_as}. Declare the scale, or name the task, to use the classes that raters could choose"
    return scale.classes, None, [note]


def nearest_classes(values: Floats, classes: Sequence[float]) -> tuple[Codes, int]:
    """The nearest class of each value (the lower of two), and how many values are not classes themselves."""
    # Shifted slightly towards the lower class, so that halves do not depend on rounding.
    apart = np.abs(values[:, None] - np.array(classes)) + _SAME * np.arange(len(classes))
    codes = apart.argmin(axis=1).astype(np.int64)
    between = np.abs(values - np.array(classes)[codes]) > _SAME
    return codes, int(between.sum())


def _listed(classes: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in classes)


def together(parts: Sequence[Labelled]) -> Labelled:
    """Combine the texts of several dimensions: as classes if all have the same ones, else as incomparable.

    Items keep their number across dimensions, so that all ratings of an item are resampled together.
    """
    if len(parts) == 1:
        return parts[0]
    alike = {(part.classes, part.why_numbers is None) for part in parts}
    raters = tuple(dict.fromkeys(name for part in parts for name in part.raters))

    def aligned(name: str, blank: float) -> Any:
        """The array with a column for every rater; `blank` for raters who did not rate a dimension."""
        found = []
        for part in parts:
            own = getattr(part, name)
            wide = np.full((len(own), len(raters)), blank, dtype=own.dtype)
            wide[:, [raters.index(rater) for rater in part.raters]] = own
            found.append(wide)
        return np.concatenate(found)

    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("items", "scores", "off_scale", "evaluator", "places")
    }
    return Labelled(
        dimensions=tuple(name for part in parts for name in part.dimensions),
        classes=parts[0].classes if len(alike) == 1 else (),
        why_numbers=parts[0].why_numbers if len(alike) == 1 else MIXED,
        one_scale=len(alike) == 1 and all(part.one_scale for part in parts),
        raters=raters,
        ratings=aligned("ratings", np.nan),
        votes=aligned("votes", MISSING),
        reasons=tuple(reason for part in parts for reason in part.reasons),
        **joined,
    )


STATISTICS = (
    *("raters_pairwise", "pairwise", "gap", "raters_agreement", "raters_f1", "raters_kappa", "raters_alpha"),
    *("raters_ac1", "agreement", "f1", "kappa", "alpha", "ac1", "top_majority", "top_evaluator", "bias"),
    *("bias_agreed", "bias_disagreed", "pearson", "spearman", "kendall", "shift", "error"),
)
"""Statistics of a cell, in table order. Classes have all but `pearson` and `error`, numbers only `OF_NUMBERS`."""
KAPPAS = ("raters_kappa", "kappa")
"""Statistics that count as 0 where undefined, by Multilingual's convention."""
_OF_UNITS = ("raters_alpha", "raters_kappa")
"""Statistics whose n differs from that of the other statistics in their table."""
OF_NUMBERS = ("raters_alpha", "alpha", "pearson", "spearman", "kendall", "shift", "error")
RANKS: tuple[coefficients.Method, ...] = ("spearman", "kendall")
ONE_RATING = "one rating"
"""Kind of agreement of texts that only one person rated."""
NO_MAJORITY: Mapping[str, str] = {
    "drop": "raters are split: no majority",
    "median": "raters are split: the two middle votes differ",
    "middle": "raters are split: none gave the middle class",
}
"""Reason for a missing majority, by the rule for split raters."""
OFF_SCALE = "the evaluator's score is off the scale"
NO_SCORE_OF_ANY = "no text has both a majority and a score"
OTHER_SCALE = "the evaluator's scores are not on the raters' scale"


@dataclass(frozen=True)
class Distribution:
    """Classes of texts on which raters agree fully, partly or not at all (Multilingual, Figures 6 to 8)."""

    kind: str
    """One of AGREEMENT_KINDS, or ONE_RATING."""
    classes: tuple[float, ...]
    majority: tuple[int, ...]
    """Texts by class of the majority, over texts with a majority and a score."""
    evaluator: tuple[int, ...]
    """The same texts by class of the evaluator's score."""
    n_no_majority: int
    """Texts of this kind without a majority: in neither count."""


@dataclass(frozen=True)
class Cell:
    """Statistics over the texts of one group."""

    group: Mapping[str, str]
    """Column -> value."""
    classes: tuple[float, ...]
    """Classes, worst first; empty: ratings are numbers."""
    why_numbers: str | None
    """Reason why ratings and scores are not classes; None: they are."""
    n: int
    """Texts that people rated and the evaluator scored."""
    n_items: int
    n_raters: int
    n_off_scale: int
    """How many of these texts have a score off the scale: they count only in agreement among raters."""
    left_out: Mapping[str, int]
    """Reason -> rated texts that are left out of some or all statistics."""
    statistics: Mapping[str, Estimate]
    """Statistics that apply, by name (STATISTICS); none if dimensions with different classes are combined."""
    constant: Constant | None = None
    """The score that the evaluator gave all or nearly all texts; None: its scores vary."""
    only_rating: float | None = None
    """The only rating that people gave: then nothing can agree with them beyond chance."""
    only_answer: float | None = None
    """The only class that majorities have, or the only mean rating, whether or not raters agree: nor can anything then."""
    distributions: tuple[Distribution, ...] = ()

    def get(self, name: str) -> Estimate | None:
        """The statistic of that name; None if it does not apply."""
        return self.statistics.get(name)

    def n_used(self, names: Sequence[str]) -> int | None:
        """Texts used by the statistics of one table: n of the first that counts texts; None: none applies."""
        return next((one.n for name in names if name not in _OF_UNITS and (one := self.get(name))), None)


def cell_of(group: Mapping[str, str], texts: Labelled, rule: str, options: Mapping[str, Any]) -> Cell:
    """Compute the statistics of a group of texts. options: n_resamples, confidence_level, rng.

    Agreement among raters is computed over the texts that the evaluator scored, so that both cover the same texts.
    """
    used = texts.scored
    left = Counter(reason for reason in texts.reasons if reason is not None)
    texts = texts.only(used)
    n_off_scale = int(texts.off_scale.sum())
    if n_off_scale:
        left[OFF_SCALE] += n_off_scale
    common = {"clusters": texts.items, **options}
    distributions: tuple[Distribution, ...] = ()
    if texts.classes:
        majority = majority_labels(texts.votes, len(texts.classes), rule)
        statistics = _class_estimates(texts, majority, common)
        by_people = np.array(texts.classes)[majority[majority != MISSING]]
        distributions = _distributions(texts, majority)
        if split := int((majority == MISSING).sum()):
            left[NO_MAJORITY[rule]] += split
    else:
        statistics = {} if texts.why_numbers == MIXED else _number_estimates(texts, common)
        by_people = texts.mean_ratings
    answer, rating = constant(by_people), constant(texts.ratings[~np.isnan(texts.ratings)])
    return Cell(
        group,
        texts.classes,
        texts.why_numbers,
        n=len(texts.scores),
        n_items=len(set(texts.items.tolist())),
        n_raters=int((~np.isnan(texts.ratings)).any(axis=0).sum()) if len(texts.scores) else 0,
        n_off_scale=n_off_scale,
        left_out=dict(left),
        statistics=statistics,
        constant=constant(texts.scores),
        only_rating=None if rating is None or rating.n_others else rating.value,
        only_answer=None if answer is None or answer.n_others else answer.value,
        distributions=distributions,
    )


def _class_estimates(texts: Labelled, majority: Codes, common: Mapping[str, Any]) -> dict[str, Estimate]:
    k = len(texts.classes)
    pair = np.column_stack([majority, texts.evaluator])
    both = (pair != MISSING).all(axis=1)
    pair_common = {**common, "clusters": texts.items[both]}
    pair, n_lost = pair[both], int((~both).sum())
    single = pairwise_agreement(texts.votes, texts.evaluator, k, **common)
    found = {
        "raters_pairwise": single.raters,
        "pairwise": single.evaluator,
        "gap": single.gap,
        "raters_agreement": full_agreement(texts.votes, k, **common),
        "raters_f1": pairwise_f1(texts.votes, k, **common),
        "raters_kappa": fleiss_kappa(texts.votes, n_categories=k, **common),
        "raters_alpha": ordinal_alpha(texts.votes, n_categories=k, **common),
        "raters_ac1": gwet_ac1(texts.votes, n_categories=k, **common),
        "agreement": full_agreement(pair, k, **pair_common),
        "f1": weighted_f1(pair[:, 0], pair[:, 1], **pair_common),
        "kappa": fleiss_kappa(pair, n_ratings=2, n_categories=k, **pair_common),
        "alpha": ordinal_alpha(pair, n_categories=k, **pair_common),
        "ac1": gwet_ac1(pair, n_categories=k, **pair_common),
    }
    for name in ("agreement", "f1", "kappa", "alpha", "ac1"):
        found[name] = replace(found[name], n_left_out=n_lost)
        if not len(pair):
            found[name] = replace(found[name], reason=NO_SCORE_OF_ANY)
    found |= _bias(texts, majority, common) | _mean_rating_estimates(texts, RANKS, common)
    return {name: _text_reason(one) for name, one in found.items()}


def _bias(texts: Labelled, majority: Codes, common: Mapping[str, Any]) -> dict[str, Estimate]:
    """Bias over all texts, over texts on which raters agree, and over those on which they disagree."""
    k = len(texts.classes)
    kinds = agreement_kinds(texts.votes, k)
    full = AGREEMENT_KINDS.index("full")
    whole = top_class_bias(majority, texts.evaluator, k, **common)
    found = {"top_majority": whole.majority, "top_evaluator": whole.evaluator, "bias": whole.bias}
    for name, where in {"bias_agreed": kinds == full, "bias_disagreed": kinds > full}.items():
        part = {**common, "clusters": texts.items[where]}
        one = top_class_bias(majority[where], texts.evaluator[where], k, **part).bias
        found[name] = one if where.any() else replace(one, reason=f"no text on which raters {_SAID[name]}")
    return found


_SAID = {"bias_agreed": "agree", "bias_disagreed": "disagree"}


def _number_estimates(texts: Labelled, common: Mapping[str, Any]) -> dict[str, Estimate]:
    """Correlations with the mean rating, the error if both share a scale, and the raters' alpha."""
    beside = _mean_rating_estimates(texts, METHODS, common)
    if not len(texts.scores):
        return dict.fromkeys(OF_NUMBERS, beside["shift"])
    pair = np.column_stack([texts.mean_ratings, texts.scores])
    (error,) = mean_estimates(np.abs(pair[:, :1] - pair[:, 1:]), **common)
    found = {
        "raters_alpha": interval_alpha(texts.ratings, **common),
        "alpha": interval_alpha(pair, **common),
        **beside,
        "error": error,
    }
    if not texts.one_scale:
        for name in ("alpha", "shift", "error"):
            found[name] = replace(
                found[name], estimate=None, low=None, high=None, reason=OTHER_SCALE, n_resamples=0
            )
    return {name: _text_reason(one) for name, one in found.items()}


def _mean_rating_estimates(
    texts: Labelled, methods: Sequence[coefficients.Method], common: Mapping[str, Any]
) -> dict[str, Estimate]:
    """Rank correlations of scores with mean ratings, and their mean difference."""
    mean = texts.mean_ratings
    if not len(mean):
        nothing = resampled_estimate(
            np.nan,
            None,
            n=0,
            n_clusters=0,
            confidence_level=common["confidence_level"],
            reason="no text has both a rating and a score",
        )
        return dict.fromkeys((*methods, "shift"), nothing)
    by_method = intervals.correlate_columns(
        texts.scores[:, None], mean, methods, names=("scores", "ratings"), **common
    )[0]
    (shift,) = mean_estimates((texts.scores - mean)[:, None], **common)
    return {method: by_method[method] for method in methods} | {"shift": shift}


def _text_reason(estimate: Estimate) -> Estimate:
    """The estimate with a reason about texts: the statistics write of pairs and units."""
    if estimate.reason is None:
        return estimate
    return replace(estimate, reason=estimate.reason.replace("pair", "text").replace("unit", "text"))


def _distributions(texts: Labelled, majority: Codes) -> tuple[Distribution, ...]:
    k = len(texts.classes)
    kinds = agreement_kinds(texts.votes, k)
    counted = (majority != MISSING) & (texts.evaluator != MISSING)
    return tuple(
        Distribution(
            name,
            texts.classes,
            tuple(np.bincount(majority[where & counted], minlength=k).tolist()),
            tuple(np.bincount(texts.evaluator[where & counted], minlength=k).tolist()),
            int((where & (majority == MISSING)).sum()),
        )
        for code, name in [*enumerate(AGREEMENT_KINDS), (MISSING, ONE_RATING)]
        if (where := np.asarray(kinds == code)).any()
    )
