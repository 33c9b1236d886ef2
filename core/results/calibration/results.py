"""An evaluator against human ratings, by language, task and dimension (Multilingual): agreement, kappas, bias, means over cells, and runs at several temperatures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

import numpy as np

from core.errors import InputError
from core.judges.quality import Majority
from core.results.calibration.cells import (
    DIMENSION,
    GROUP_BY,
    KAPPAS,
    STATISTICS,
    Cell,
    Evaluator,
    JoinedDimension,
    Labelled,
    cell_of,
    join_dimension,
    labelled,
    together,
)
from core.results.choices import NO_VALUE, check_names, group_columns, items_of
from core.results.judges.consistency import consistency
from core.schema.scores import JudgeOutput, RatingSet, ScoreTable
from core.schema.study import Dimension
from core.stats.calibration import CalibrationMap, Method, calibration_map
from core.stats.resampling import Estimate, Resampling
from core.tables.reading import shown

MAJORITIES: Mapping[Majority, str] = {
    "drop": "left out",
    "median": "median",
    "middle": "middle class, where a rater gave it",
}
"""What becomes of a text whose raters are split. middle: as 004's authors do it with three raters and three classes."""


@dataclass(frozen=True)
class CalibrationOptions:
    """How ratings and scores are compared."""

    majority: Majority = "drop"
    paper_kappa: bool = False
    """004's convention: an undefined Fleiss' kappa enters means over cells as 0. The cell itself stays undefined."""
    dimensions: tuple[Dimension, ...] = ()
    """Of the task: which classes are on offer."""
    n_resamples: int = 2_000
    confidence_level: float = 0.95
    rng: int = 0

    @property
    def resampling(self) -> Resampling:
        """As statistics take it."""
        return {"n_resamples": self.n_resamples, "confidence_level": self.confidence_level, "rng": self.rng}


DEFAULT_OPTIONS = CalibrationOptions()


@dataclass(frozen=True)
class Calibration:
    """One evaluator against people."""

    evaluator: str
    ratings: str
    """What the ratings are called: their file."""
    group_by: tuple[str, ...]
    cells: tuple[Cell, ...]
    """One for each combination of the columns' values."""
    by_dimension: tuple[Cell, ...]
    """All texts of a dimension together."""
    pooled: Cell
    """All texts of all dimensions together; as classes only where all dimensions have the same ones."""
    parts: Mapping[str, Labelled]
    """Dimension -> what was compared: for maps and figures."""
    options: CalibrationOptions
    left_out: Mapping[str, int]
    """Reason -> ratings that met no text of the evaluator's, or no column of its scores."""
    notes: tuple[str, ...] = ()


def calibrate(
    ratings: RatingSet,
    table: ScoreTable,
    evaluator: Evaluator,
    *,
    group_by: Sequence[str] | None = None,
    options: CalibrationOptions = DEFAULT_OPTIONS,
) -> Calibration:
    """Compare an evaluator's classes with those of people, text by text; intervals resample items.

    evaluator: which columns of the table are its scores (`evaluators_of`). group_by: columns that make the cells, of
    `dimension`, `language`, `task` (the label of that name, else the data set), `system`, `level` and labels; by default
    004's three, as far as the files have them. Ratings that are no classes are compared as numbers (correlations, mean
    absolute error) and the cell says why. Undefined statistics carry their reason. Raises InputError where nothing
    meets, and for unknown columns.

    Misleads: agreement with a majority hides where people themselves do not agree (see the raters' own columns and the
    bias where they disagree); kappa is low or undefined where one class is popular, however good the evaluator is, and
    percentage agreement is high there, however bad it is.
    """
    if group_by is not None:
        check_names("column to group by", group_by, columns_to_group_by(ratings, table))
    wanted = GROUP_BY if group_by is None else tuple(dict.fromkeys(group_by))
    joined = [
        join_dimension(table, ratings, dimension, metric, wanted)
        for dimension, metric in evaluator.columns.items()
    ]
    said = tuple(
        name
        for name in wanted
        if group_by is not None or any(group[name] != NO_VALUE for one in joined for group in one.groups)
    )
    tasks = {one.name: one for one in options.dimensions}
    parts = {
        one.dimension: labelled(one, items, tasks.get(one.dimension))
        for one, items in zip(joined, _items(joined), strict=True)
    }
    intervals = options.resampling
    left: Counter[str] = Counter(ratings.left_out)
    for one in joined:
        left.update(one.left_out)
    left.update(_not_said(ratings, evaluator))
    notes = [*ratings.notes, *table.notes, *(note for one in joined for note in one.notes)]
    notes += [note for part in parts.values() for note in part.notes]
    return Calibration(
        evaluator.name,
        ratings.file_name,
        said,
        tuple(
            cell_of(group, texts, options.majority, intervals)
            for group, texts in _groups(joined, parts, said)
        ),
        tuple(cell_of({DIMENSION: name}, part, options.majority, intervals) for name, part in parts.items()),
        cell_of({}, together(list(parts.values())), options.majority, intervals),
        parts,
        options,
        dict(left),
        tuple(dict.fromkeys(notes)),
    )


def columns_to_group_by(ratings: RatingSet, table: ScoreTable) -> tuple[str, ...]:
    """The columns that may make cells, 004's three first."""
    labels = {label: None for one in ratings.ratings for label in one.labels}
    return tuple(dict.fromkeys([*GROUP_BY, *group_columns(table), *labels]))


def _not_said(ratings: RatingSet, evaluator: Evaluator) -> Counter[str]:
    """Reason -> ratings of dimensions on which the evaluator gives no scores, unless one dimension was asked for."""
    if evaluator.asked is not None:
        return Counter()
    return Counter(
        f"no column of scores says {shown(one.dimension)}"
        for one in ratings.ratings
        if one.dimension not in evaluator.columns
    )


def _items(joined: Sequence[JoinedDimension]) -> list[np.ndarray]:
    """A number for each text's item, the same in every dimension."""
    if not joined:
        raise InputError("The evaluator has no column of scores on a dimension that people rated.")
    rows = [row for one in joined for row in one.rows]
    return np.split(items_of(rows), np.cumsum([len(one.rows) for one in joined])[:-1].tolist())


def _groups(
    joined: Sequence[JoinedDimension], parts: Mapping[str, Labelled], columns: Sequence[str]
) -> list[tuple[dict[str, str], Labelled]]:
    """The cells' texts, dimension by dimension, in the order met."""
    members: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for one in joined:
        for text, group in enumerate(one.groups):
            key = tuple(group[name] for name in columns)
            members.setdefault(key, {}).setdefault(one.dimension, []).append(text)
    found = []
    for key in sorted(members, key=lambda one: tuple(map(str.casefold, one))):
        own = [parts[dimension].only(texts) for dimension, texts in members[key].items()]
        found.append((dict(zip(columns, key, strict=True)), together(own)))
    return found


N_FOLDS = 5


def maps_of(found: Calibration, *, method: Method = "isotonic") -> Mapping[str, CalibrationMap]:
    """Dimension -> the map from the evaluator's score to the mean rating, over all texts of the dimension.

    Every predicted value comes from a map that saw no text of its item. The mean rating, not the majority, is what is
    predicted: two raters of three who say 2 are not the same as three. Misleads for a language or task whose raters use
    the scale differently from the others: look at the cells before a map is put to use there.
    """
    return {
        dimension: calibration_map(
            part.scores,
            part.mean_ratings,
            part.items,
            method=method,
            n_folds=N_FOLDS,
            comparable=part.one_scale,
            **found.options.resampling,
        )
        for dimension, part in found.parts.items()
    }


ALL_CELLS: Mapping[str, str] = {}


@dataclass(frozen=True)
class MacroMean:
    """One statistic over cells, each cell counting once however many texts it holds."""

    mean: float | None
    """None: it is undefined in all of them."""
    sd: float | None
    """Over cells, n - 1 below; None with fewer than two."""
    n_cells: int
    """In the mean."""
    n_undefined: int
    """Cells where it applies and is undefined: left out of the mean, or in it as 0."""
    as_zero: bool = False
    """Undefined ones entered as 0, by 004's convention."""


@dataclass(frozen=True)
class Summary:
    """The cells with one value in one column, or all of them."""

    group: Mapping[str, str]
    """Column -> value; empty: all cells."""
    n_cells: int
    n: int
    """Texts."""
    statistics: Mapping[str, MacroMean]


def macro_averaged(found: Calibration) -> tuple[Summary, ...]:
    """Over all cells, then over those of each language, task, dimension ... (004, Tables 2 and 3).

    The SD tells how much cells differ, not how sure the mean is. An undefined kappa is left out of the mean and counted;
    with `paper_kappa` it enters as 0, which draws the mean towards 0 by as many cells as had one class only.
    """
    groups: list[tuple[Mapping[str, str], list[Cell]]] = [(ALL_CELLS, list(found.cells))]
    for column in found.group_by:
        values = dict.fromkeys(cell.group[column] for cell in found.cells)
        if len(values) > 1 or len(found.group_by) == 1:
            groups += [
                ({column: value}, [cell for cell in found.cells if cell.group[column] == value])
                for value in values
            ]
    return tuple(
        Summary(
            group,
            len(cells),
            sum(cell.n for cell in cells),
            {
                name: _mean_of(own, found.options.paper_kappa and name in KAPPAS)
                for name in STATISTICS
                if (own := [one for cell in cells if (one := cell.get(name)) is not None])
            },
        )
        for group, cells in groups
    )


def _mean_of(estimates: list[Estimate], as_zero: bool) -> MacroMean:
    values = [one.estimate for one in estimates if one.estimate is not None]
    n_undefined = len(estimates) - len(values)
    if as_zero:
        values += [0.0] * n_undefined
    return MacroMean(
        mean(values) if values else None,
        stdev(values) if len(values) > 1 else None,
        len(values),
        n_undefined,
        as_zero and n_undefined > 0,
    )


_MAY_DIFFER = frozenset({"temperature", "seed", "repeats"})


@dataclass(frozen=True)
class SweepPoint:
    """One run on one dimension."""

    temperature: float
    evaluator: str
    dimension: str
    agreement: Estimate | None
    """Share of texts on which evaluator and majority are equal; None: ratings are no classes."""
    kappa: Estimate | None
    repeats_equal: Estimate | None
    """Share of texts on which all its repeats are equal; undefined where it was asked once."""
    n_repeats: int


@dataclass(frozen=True)
class Sweep:
    """All runs, coldest first."""

    points: tuple[SweepPoint, ...]
    notes: tuple[str, ...] = ()


def temperature_sweep(
    runs: Sequence[tuple[JudgeOutput, Calibration]],
    *,
    n_resamples: int = 2_000,
    confidence_level: float = 0.95,
) -> Sweep:
    """Agreement with people and with itself against temperature. Runs whose temperature is unknown are noted and left out.

    Misleads where the runs differ in more than temperature, which is said in a note, and where a server ignores it. With
    one run a temperature, the differences hold the chance of sampling, too: ask with repeats.
    """
    points: list[SweepPoint] = []
    notes = _differences([output for output, _ in runs])
    for output, found in runs:
        if (temperature := output.temperature) is None:
            notes.append(f"{output.name}: its temperature is not known")
            continue
        itself = consistency(output, n_resamples=n_resamples, confidence_level=confidence_level)
        equal = {one.component.casefold(): one.agreeing for one in itself.repeats}
        # What `judge direct` says has a name of its own, whatever people call it.
        alone = itself.repeats[0].agreeing if len(itself.repeats) == len(found.by_dimension) == 1 else None
        points += [
            SweepPoint(
                temperature,
                found.evaluator,
                cell.group["dimension"],
                cell.get("agreement"),
                cell.get("kappa"),
                equal.get(cell.group["dimension"].casefold(), alone),
                itself.n_repeats,
            )
            for cell in found.by_dimension
        ]
    points.sort(key=lambda one: (one.dimension, one.temperature))
    return Sweep(tuple(points), tuple(notes))


def _differences(outputs: Sequence[JudgeOutput]) -> list[str]:
    """What else the runs differ in."""
    given: list[Mapping[str, object]] = [
        {"model": one.model, **{k: v for k, v in one.settings.items() if k not in _MAY_DIFFER}}
        for one in outputs
    ]
    names = dict.fromkeys(name for one in given for name in one)
    differ = [name for name in names if len({repr(one.get(name)) for one in given}) > 1]
    return [f"the runs differ in more than temperature: {', '.join(differ)}"] if differ else []
