"""Compare an evaluator with human ratings by language, task and dimension (Multilingual).

Reports agreement, kappas, bias, means over cells, runs at several temperatures, and a verdict for each cell: whether
the evaluator should be used there, by stated rules.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Literal, Protocol

import numpy as np

from core.errors import InputError, counted
from core.joining.choices import NO_VALUE, check_names, group_columns, items_of
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
from core.results.cells import decimal
from core.results.judges.consistency import consistency
from core.schema.scale import NOT_DECLARED, DeclaredScale
from core.schema.scores import JudgeOutput, RatingSet, ScoreTable
from core.schema.study import Dimension
from core.stats.calibration import CalibrationMap, Method, calibration_map
from core.stats.degeneracy import CONSTANT_SHARE, Constant, constants_said
from core.stats.multiplicity import Correction, corrected, interval_p
from core.stats.resampling import Estimate, Resampling
from core.tables.reading import shown

MAJORITIES: Mapping[Majority, str] = {
    "drop": "left out",
    "median": "median",
    "middle": "middle class, if a rater gave it",
}
"""Treatment of a text whose raters are split. middle: Multilingual's, with three raters and three classes."""


class Terms(Protocol):
    """How evaluators are compared: the options of `calibrate`."""

    @property
    def majority(self) -> Majority:
        """How split votes are resolved."""

    @property
    def paper_kappa(self) -> bool:
        """Whether an undefined Fleiss' kappa counts as 0 in means over cells, as Multilingual has it; the cell stays undefined."""

    @property
    def n_resamples(self) -> int:
        """Resamples of intervals."""

    @property
    def confidence_level(self) -> float:
        """Level of intervals."""

    @property
    def rng(self) -> int:
        """Seed of resampling."""


def resampling_of(terms: Terms) -> Resampling:
    """The resampling options, as the statistics take them."""
    return {
        "n_resamples": terms.n_resamples,
        "confidence_level": terms.confidence_level,
        "rng": terms.rng,
    }


@dataclass(frozen=True)
class Calibration:
    """One evaluator compared with people."""

    evaluator: str
    ratings: str
    """Name of the ratings: their file."""
    group_by: tuple[str, ...]
    cells: tuple[Cell, ...]
    """One cell for each combination of the columns' values."""
    by_dimension: tuple[Cell, ...]
    """All texts of a dimension together."""
    pooled: Cell
    """All texts of all dimensions together; as classes only if all dimensions have the same ones."""
    parts: Mapping[str, Labelled]
    """Dimension -> the compared texts, for maps and figures."""
    options: Terms
    left_out: Mapping[str, int]
    """Reason -> ratings that matched no text, or no column, of the evaluator."""
    notes: tuple[str, ...] = ()


def calibrate(
    ratings: RatingSet,
    table: ScoreTable,
    evaluator: Evaluator,
    options: Terms,
    *,
    group_by: Sequence[str] | None = None,
    dimensions: Sequence[Dimension] = (),
    scale: DeclaredScale = NOT_DECLARED,
) -> Calibration:
    """Compare an evaluator's classes with people's, text by text; intervals resample items.

    evaluator: its columns of scores (`evaluators_of`). group_by: columns that make the cells, from `dimension`,
    `language`, `task` (the label of that name, else the data set), `system`, `level` and labels; by default Multilingual's
    three, as far as the files have them. dimensions: those of the task, with the classes that raters could choose. scale: what the
    user says about it; it decides before the task. Ratings that are not classes are compared as numbers (correlations, mean absolute
    error), and the cell states the reason. Undefined statistics have a reason. Raises InputError for unknown columns, and
    if nothing matches.

    Misleads: agreement with a majority hides where people themselves disagree (see the raters' own columns and the bias
    where they disagree). If one class is popular, kappa is low or undefined however good the evaluator is, and percentage
    agreement is high however bad it is.
    """
    if group_by is not None:
        check_names("column to group by", group_by, columns_to_group_by(ratings, table))
    wanted = GROUP_BY if group_by is None else tuple(dict.fromkeys(group_by))
    joined = [
        join_dimension(table, ratings, dimension, metric, wanted)
        for dimension, metric in evaluator.columns.items()
    ]
    if not joined:
        raise InputError("The evaluator has no scores on any dimension that people rated.")
    said = tuple(
        name
        for name in wanted
        if group_by is not None or any(group[name] != NO_VALUE for one in joined for group in one.groups)
    )
    tasks = {one.name: one for one in dimensions}
    # Items are numbered once for all dimensions.
    items = items_of([row for one in joined for row in one.rows])
    ends = np.cumsum([len(one.rows) for one in joined])[:-1].tolist()
    parts = {
        one.dimension: labelled(one, own, tasks.get(one.dimension), scale, ratings.scales.get(one.dimension))
        for one, own in zip(joined, np.split(items, ends), strict=True)
    }
    intervals = resampling_of(options)
    left: Counter[str] = Counter(ratings.left_out)
    for one in joined:
        left.update(one.left_out)
    if evaluator.wanted is None:  # otherwise the other dimensions were not requested
        left.update(
            f"no column of scores on {shown(one.dimension)}"
            for one in ratings.ratings
            if one.dimension not in evaluator.columns
        )
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
    """Columns that can make cells, Multilingual's three first."""
    labels = {label: None for one in ratings.ratings for label in one.labels}
    return tuple(dict.fromkeys([*GROUP_BY, *group_columns(table), *labels]))


def _groups(
    joined: Sequence[JoinedDimension], parts: Mapping[str, Labelled], columns: Sequence[str]
) -> list[tuple[dict[str, str], Labelled]]:
    """The cells' texts, dimension by dimension, in order of first appearance."""
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


def maps_of(calibration: Calibration, *, method: Method = "isotonic") -> Mapping[str, CalibrationMap]:
    """Dimension -> map from the evaluator's score to the mean rating, fitted over all texts of the dimension.

    Every predicted value comes from a map fitted without the texts of its item. The map predicts the mean rating, not the
    majority: two raters of three who give 2 differ from three who do. Misleads for a language or task whose raters use
    the scale differently from the others: read the cells before you use a map there.
    """
    return {
        dimension: calibration_map(
            part.scores,
            part.mean_ratings,
            part.items,
            method=method,
            n_folds=N_FOLDS,
            comparable=part.one_scale,
            **resampling_of(calibration.options),
        )
        for dimension, part in calibration.parts.items()
    }


ALL_CELLS: Mapping[str, str] = {}


@dataclass(frozen=True)
class MacroMean:
    """Mean of a statistic over cells; each cell counts once, whatever its number of texts."""

    mean: float | None
    """None: undefined in every cell."""
    sd: float | None
    """Sample standard deviation over cells (ddof 1); None with fewer than two."""
    n_cells: int
    """Cells in the mean."""
    n_undefined: int
    """Cells where the statistic applies but is undefined: left out of the mean, or counted as 0."""
    as_zero: bool = False
    """Whether undefined values count as 0, by Multilingual's convention."""


@dataclass(frozen=True)
class Summary:
    """Means over the cells with one value in one column, or over all cells."""

    group: Mapping[str, str]
    """Column -> value; empty: all cells."""
    n_cells: int
    n: int
    """Texts."""
    statistics: Mapping[str, MacroMean]


def macro_averaged(calibration: Calibration) -> tuple[Summary, ...]:
    """Means over all cells, then over those of each language, task, dimension ... (Multilingual, Tables 2 and 3).

    The SD shows how much cells differ, not how precise the mean is. An undefined kappa is left out of the mean and
    counted; with `paper_kappa` it counts as 0, so every cell with only one class pulls the mean towards 0.
    """
    groups: list[tuple[Mapping[str, str], list[Cell]]] = [(ALL_CELLS, list(calibration.cells))]
    for column in calibration.group_by:
        values = dict.fromkeys(cell.group[column] for cell in calibration.cells)
        if len(values) > 1 or len(calibration.group_by) == 1:
            groups += [
                ({column: value}, [cell for cell in calibration.cells if cell.group[column] == value])
                for value in values
            ]
    return tuple(
        Summary(
            group,
            len(cells),
            sum(cell.n for cell in cells),
            {
                name: _mean_of(own, calibration.options.paper_kappa and name in KAPPAS)
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
    """Share of texts on which evaluator and majority agree; None: ratings are not classes."""
    kappa: Estimate | None
    repeats_equal: Estimate | None
    """Share of texts on which all repeats are equal; undefined for one repeat."""
    n_repeats: int


@dataclass(frozen=True)
class Sweep:
    """All runs, lowest temperature first."""

    points: tuple[SweepPoint, ...]
    notes: tuple[str, ...] = ()


def temperature_sweep(
    runs: Sequence[tuple[JudgeOutput, Calibration]],
    *,
    n_resamples: int = 2_000,
    confidence_level: float = 0.95,
) -> Sweep:
    """Compare agreement with people and between repeats across temperatures; runs of unknown temperature are left out.

    Misleads if the runs differ in more than temperature (a note says so), and if a server ignores it. With one run for
    each temperature, differences include sampling noise: use repeats.
    """
    points: list[SweepPoint] = []
    notes = _differences([output for output, _ in runs])
    for output, found in runs:
        if (temperature := output.temperature) is None:
            notes.append(f"{output.name} left out: unknown temperature")
            continue
        itself = consistency(output, n_resamples=n_resamples, confidence_level=confidence_level)
        equal = {one.component.casefold(): one.agreeing for one in itself.repeats}
        # `judge direct` names its score itself, whatever the ratings call the dimension.
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
    """A note on other settings in which the runs differ."""
    given: list[Mapping[str, object]] = [
        {"model": one.model, **{k: v for k, v in one.settings.items() if k not in _MAY_DIFFER}}
        for one in outputs
    ]
    names = dict.fromkeys(name for one in given for name in one)
    differ = [name for name in names if len({repr(one.get(name)) for one in given}) > 1]
    return [f"the runs differ in more than temperature: {', '.join(differ)}"] if differ else []


VerdictValue = Literal[
    "too few texts",
    "says nothing",
    "off the scale",
    "orders well, but is shifted",
    "not shown better than chance",
    "biased",
    "agrees less than a rater",
    "no objection",
]
TOO_FEW: VerdictValue = "too few texts"
SILENT: VerdictValue = "says nothing"
SHIFTED: VerdictValue = "orders well, but is shifted"
LESS_THAN_A_RATER: VerdictValue = "agrees less than a rater"
LEAST_TEXTS = 30
"""With fewer texts, no verdict about a group is possible."""
LEAST_ITEMS = 10
"""With fewer items, intervals are unreliable."""
MOST_OFF_SCALE = 0.05
"""Above this share of scores off the scale, leaving them out may flatter the evaluator."""
ORDERS_WELL = 0.5
"""The whole interval of Spearman's correlation with the mean rating must lie above this."""
SHIFTED_BY = 0.25
"""The whole interval of evaluator minus mean rating must be further from 0 than this share of a class."""
RULES = (
    f"Too few texts, so no verdict: fewer than {LEAST_TEXTS} texts or {LEAST_ITEMS} items were compared.",
    f"Says nothing: all texts have the same score although ratings differ; or at least {CONSTANT_SHARE:.0%} do, and the "
    "evaluator is not shown to be better than chance (as below).",
    f"Off the scale: more than {MOST_OFF_SCALE:.0%} of the scores are off the raters' scale.",
    f"Orders well, but is shifted: the interval of Spearman's correlation with the mean rating lies above {ORDERS_WELL:g}, "
    f"and the interval of evaluator minus mean rating lies more than {SHIFTED_BY:g} of a class away from 0. Not applied if "
    "the evaluator agrees with a rater more often than another rater does (that interval lies above 0).",
    "Not shown better than chance: the interval of Fleiss' kappa of majority and evaluator reaches 0 (for numbers: of "
    "Spearman's correlation).",
    "Biased: the interval of the bias towards the top class excludes 0, and the evaluator agrees with a rater less often "
    "than another rater does (that interval lies below 0).",
    "Agrees less than a rater: the evaluator agrees with a rater less often than another rater does (that interval lies "
    "below 0).",
    "No verdict: no rule above applies, and agreement is undefined or has no interval, or people rate all texts alike.",
)
"""The rules as the page and the documentation state them; the first that applies gives the verdict."""
IN_SEVERAL_GROUPS = (
    "With several groups, an interval counts as above or below a value only if p is, too, after Benjamini and Hochberg's "
    "correction for all groups of the evaluator."
)
ADVICE_CORRECTION: Correction = "benjamini-hochberg"
"""Of one rule over all cells of an evaluator: many are screened."""
_NAMED = 8


@dataclass(frozen=True)
class Verdict:
    """The objections to the evaluator in a cell."""

    value: VerdictValue | None
    """The first rule that applies (`RULES`), or "no objection"; None: agreement could not be computed."""
    reasons: tuple[str, ...]
    """One reason, with numbers, for each rule that applies; empty: none does."""


@dataclass(frozen=True)
class Warned:
    """A cell in which a rule objects to the evaluator, or in which no verdict is possible."""

    group: Mapping[str, str]
    n: int
    verdict: VerdictValue | None
    """None: agreement could not be computed; the reasons say why."""
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Advice:
    """Where not to use an evaluator."""

    warned: tuple[Warned, ...]
    n_cells: int
    judgements: tuple[tuple[str, str], ...]
    """Code and sentence of the verdict: cells without information, shifted cells, cells to avoid, cells without a verdict; or that
    no rule objects."""
    constants: tuple[str, ...] = ()
    """Sentences on (nearly) constant scores that no verdict names, to show before any other number."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict."""
        return tuple(sentence for _, sentence in self.judgements)

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        return " ".join(self.sentences)


def advice(calibration: Calibration) -> Advice:
    """Find the cells in which a rule objects to the evaluator (`RULES`) and name them in sentences.

    A cell that passes is not necessarily good: read its agreement. p is corrected for the number of cells, the limits of
    the rules are not: a cell chosen after seeing all of them is exploratory.
    """
    judged = list(zip(calibration.cells, verdicts_of(calibration.cells), strict=True))
    warned = tuple(
        Warned(cell.group, cell.n, verdict.value, verdict.reasons)
        for cell, verdict in judged
        if verdict.reasons
    )
    return Advice(
        warned,
        len(calibration.cells),
        _sentences(calibration, warned),
        _further_constants(calibration, judged),
    )


def _further_constants(calibration: Calibration, judged: Sequence[tuple[Cell, Verdict]]) -> tuple[str, ...]:
    """(Nearly) constant scores in no verdict: in cells that pass, and in whole dimensions whose cells have too few texts."""
    there = [
        cell
        for cell, verdict in judged
        if not (cell.constant and _same_score(cell.constant) in verdict.reasons)
    ]
    if all(verdict.value != SILENT for _, verdict in judged):
        names = {called(cell.group) for cell in calibration.cells}
        there = [*(one for one in calibration.by_dimension if called(one.group) not in names), *there]
    named = [
        (f"{calibration.evaluator} ({called(cell.group)})", cell.constant) for cell in there if cell.constant
    ]
    said = constants_said(named[:_NAMED])
    if len(named) > _NAMED:
        said += (f"The same is true in {len(named) - _NAMED} more groups.",)
    return said


TESTED: Mapping[str, str] = {
    "chance": "better than chance",
    "gap": "agrees as often as a rater",
    "bias": "bias towards the top class",
    "order": "orders well",
    "shift": "shifted",
}
"""Tests behind the rules, by name: each reads one interval of a cell against one value."""


@dataclass(frozen=True)
class Tested:
    """One test of a cell: an interval read against a value."""

    p: float | None
    """Two-sided, from the interval (`core.stats.multiplicity.interval_p`); None without an interval or its width."""
    p_bh: float | None
    """The same, corrected for the cells of the family."""
    n_tests: int
    """Cells of the family with a p."""
    alpha: float
    """One minus the level of the interval."""

    @property
    def shown(self) -> bool:
        """Whether the correction leaves the finding. An interval without width has no p: then the interval decides."""
        return self.p_bh is None or self.p_bh < self.alpha or self.n_tests < 2


Tests = Mapping[str, Tested]


def rule_tests(cells: Sequence[Cell]) -> list[Tests]:
    """Return the tests behind the rules, by name (`TESTED`), of each cell; each test is corrected for all cells given."""
    found: list[dict[str, Tested]] = [{} for _ in cells]
    for name in TESTED:
        read = [_read(cell, name) for cell in cells]
        p_values = [
            None
            if one is None
            else interval_p(one.estimate, one.low, one.high, null=null, confidence_level=one.confidence_level)
            for one, null in read
        ]
        n_tests = sum(p is not None for p in p_values)
        paid = corrected(p_values, ADVICE_CORRECTION)
        for own, (one, _), p, p_bh in zip(found, read, p_values, paid, strict=True):
            if one is not None:
                own[name] = Tested(p, p_bh, n_tests, 1 - one.confidence_level)
    return list(found)


def _read(cell: Cell, name: str) -> tuple[Estimate | None, float]:
    """The estimate of a test, and the value that its interval is read against."""
    match name:
        case "chance":
            return cell.get("kappa" if cell.classes else "spearman"), 0.0
        case "order":
            return cell.get("spearman") if cell.classes else None, ORDERS_WELL
        case "shift":
            shift = cell.get("shift")
            if shift is None or not cell.classes:
                return None, 0.0
            return shift, float(np.copysign(_least_shift(cell), shift.estimate or 0.0))
        case _:
            return cell.get(name), 0.0


def verdicts_of(cells: Sequence[Cell]) -> list[Verdict]:
    """Apply the rules to cells that are read together: p of each rule is corrected for their number."""
    return [_verdict(cell, tests) for cell, tests in zip(cells, rule_tests(cells), strict=True)]


def verdict_of(cell: Cell) -> Verdict:
    """Apply the rules to a cell that is read alone; see `verdicts_of`."""
    (found,) = verdicts_of((cell,))
    return found


def _verdict(cell: Cell, tests: Tests) -> Verdict:
    """Apply the rules to a cell. A shift replaces the objections of chance, bias and agreement, which follow from it.

    Misleads if a limit (`ORDERS_WELL`, `SHIFTED_BY`) is narrowly missed: the limits are conventions. An order that agrees
    with the mean rating does not show that the class of any one text is right.
    """
    undefined = _undefined(cell)
    by_chance = _chance_objection(cell, tests) if undefined is None else None
    same = cell.constant
    silent = same is not None and cell.only_answer is None and (not same.n_others or by_chance is not None)
    against: list[tuple[VerdictValue | None, str | None]] = [
        (TOO_FEW, _few(cell)),
        (SILENT, _same_score(same) if same and silent else None),
        ("off the scale", _scale_objection(cell)),
    ]
    # Ratings that never vary tell no good evaluator from a bad one, whatever it answers.
    shifted, biased, less = (
        (None, None, None)
        if cell.only_rating is not None
        else (_shifted(cell, tests), _biased(cell, tests), _less_than_a_rater(cell, tests))
    )
    against += (
        [(SHIFTED, shifted)]
        if shifted is not None
        else [
            ("not shown better than chance", by_chance),
            ("biased", biased),
            (LESS_THAN_A_RATER, less if biased is None else None),
        ]
    )
    against.append((None, undefined))
    kept = [(value, reason) for value, reason in against if reason is not None]
    return Verdict(kept[0][0] if kept else "no objection", tuple(reason for _, reason in kept))


def _same_score(same: Constant) -> str:
    """The reason why an evaluator is (nearly) constant."""
    if not same.n_others:
        return f"it gives all {same.n} texts the same score, {same.value:g}"
    return f"it gives {same.n - same.n_others} of {same.n} texts the same score, {same.value:g}"


def _few(cell: Cell) -> str | None:
    usable = cell.n - cell.n_off_scale
    if usable < LEAST_TEXTS or cell.n_items < LEAST_ITEMS:
        return f"only {counted(usable, 'text')} from {counted(cell.n_items, 'item')}"
    return None


def _scale_objection(cell: Cell) -> str | None:
    if cell.n_off_scale <= MOST_OFF_SCALE * cell.n:
        return None
    return (
        f"{cell.n_off_scale} of {cell.n} scores are off the scale; leaving them out may flatter the evaluator"
    )


def _least_shift(cell: Cell) -> float:
    return SHIFTED_BY * (cell.classes[1] - cell.classes[0])


def _shifted(cell: Cell, tests: Tests) -> str | None:
    ranks, shift, gap = cell.get("spearman"), cell.get("shift"), cell.get("gap")
    if not cell.classes or ranks is None or shift is None or ranks.low is None or shift.low is None:
        return None
    least = _least_shift(cell)
    better_than_a_rater = gap is not None and gap.low is not None and gap.low > 0 and tests["gap"].shown
    if ranks.low <= ORDERS_WELL or better_than_a_rater or not (_lies(shift, least) or _lies(shift, -least)):
        return None
    if not (tests["order"].shown and tests["shift"].shown):
        return None
    return (
        f"it orders texts well (Spearman {_value_and_ends(ranks)}), but its scores differ from the mean rating by "
        f"{_value_and_ends(shift)}"
    )


def _lies(estimate: Estimate, limit: float) -> bool:
    """Whether the whole interval is further from 0 than the limit."""
    if estimate.low is None or estimate.high is None:
        return False
    return estimate.low > limit if limit > 0 else estimate.high < limit


def _central(cell: Cell) -> tuple[str, Estimate | None]:
    """The name of the statistic that tells an evaluator from chance, and its estimate; None: dimensions are mixed."""
    return ("kappa", cell.get("kappa")) if cell.classes else ("Spearman", cell.get("spearman"))


def _undefined(cell: Cell) -> str | None:
    """Why nothing tells whether the evaluator is better than chance; None: its agreement has an interval."""
    title, central = _central(cell)
    if central is None:
        return "nothing was computed, because dimensions with different classes are mixed: group by dimension"
    if cell.only_rating is not None:
        return f"people rate every text alike: {cell.only_rating:g}"
    if cell.only_answer is not None:
        what = (
            "the majority is the same wherever raters have one"
            if cell.classes
            else "every text has the same mean rating"
        )
        return f"{what}: {cell.only_answer:g}"
    if central.estimate is None:
        return f"{title} is undefined ({central.reason})"
    return f"{title} has no interval ({central.interval_reason})" if central.low is None else None


def _chance_objection(cell: Cell, tests: Tests) -> str | None:
    title, central = _central(cell)
    if central is None or central.low is None:
        return None
    if central.low <= 0:
        return f"{title} may be 0 or below ({_value_and_ends(central)})"
    if tests["chance"].shown:
        return None
    paid = f"p {decimal(tests['chance'].p_bh or 0.0)} after correction for {tests['chance'].n_tests} groups"
    return f"{title} may be 0 or below ({_value_and_ends(central)}; {paid})"


def _agrees_less(cell: Cell, tests: Tests) -> bool:
    """Whether the evaluator agrees with a rater less often than another rater does."""
    gap = cell.get("gap")
    return gap is not None and gap.high is not None and gap.high < 0 and tests["gap"].shown


def _less_than_a_rater(cell: Cell, tests: Tests) -> str | None:
    gap, raters, own = (cell.get(name) for name in ("gap", "raters_pairwise", "pairwise"))
    if gap is None or raters is None or own is None or not _agrees_less(cell, tests):
        return None
    return (
        f"it agrees with a rater less often than another rater does ({_points(gap)}: {_percent(own)} against "
        f"{_percent(raters)})"
    )


def _percent(estimate: Estimate) -> str:
    return f"{decimal(100 * (estimate.estimate or 0.0), 0)} %"


def _biased(cell: Cell, tests: Tests) -> str | None:
    bias, gap = cell.get("bias"), cell.get("gap")
    if bias is None or gap is None or bias.low is None or bias.high is None or gap.high is None:
        return None
    if bias.low <= 0 <= bias.high or not tests["bias"].shown or not _agrees_less(cell, tests):
        return None
    how = "more" if (bias.estimate or 0.0) > 0 else "less"
    return (
        f"it gives the top class {how} often than people do ({_points(bias)}) and agrees with a rater less often than "
        f"another rater does ({_points(gap)})"
    )


def _value_and_ends(estimate: Estimate) -> str:
    """The estimate with its interval, such as `0.81 [0.77, 0.84]`."""
    value, low, high = (decimal(one or 0.0, 2) for one in (estimate.estimate, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"


def _points(estimate: Estimate) -> str:
    value = estimate.estimate or 0.0
    return f"{'+' if value > 0 else ''}{decimal(100 * value, 0)} points"


def _sentences(calibration: Calibration, warned: Sequence[Warned]) -> tuple[tuple[str, str], ...]:
    if not warned:
        whole = _all(len(calibration.cells))
        sentence = (
            f"No objection to {calibration.evaluator} in {whole}. Read the agreement before you rely on it."
        )
        return (("no-objection", sentence),)
    groups: dict[str | None, list[Warned]] = {}
    for one in warned:
        verdict = None if one.verdict == TOO_FEW else one.verdict
        groups.setdefault(verdict if verdict in _SAID else "", []).append(one)
    return tuple(
        (code, f"{calibration.evaluator} {what} in {_where(own, len(calibration.cells))}.{then}")
        for verdict, (code, what, then) in _SAID.items()
        if (own := groups.get(verdict))
    )


_SAID: Mapping[str | None, tuple[str, str, str]] = {
    SILENT: (
        "says-nothing",
        "gives all texts, or nearly all, the same score",
        " It should not replace people there.",
    ),
    SHIFTED: (
        "shifted",
        "orders texts well, but is shifted",
        " Use its order only, or map its scores to people's scale first.",
    ),
    LESS_THAN_A_RATER: (
        "agrees-less",
        "agrees with a rater less often than another rater does",
        " It cannot stand in for a rater there.",
    ),
    "": ("not-to-use", "should not replace people", ""),
    None: ("undefined", "gets no verdict", " There are too few texts there, or agreement is undefined."),
}
"""Verdict -> its code, and words before and after the names of its cells; empty: all other verdicts; None: no verdict."""


def _all(n_cells: int) -> str:
    return "the only group" if n_cells == 1 else f"all {n_cells} groups"


def _where(own: Sequence[Warned], n_cells: int) -> str:
    """Count and names of groups, such as `2 of 5 groups: sw, LA; ja, LA`."""
    if len(own) == n_cells:
        return _all(n_cells)
    named = [called(one.group) for one in own]
    listed = "; ".join(named[:_NAMED]) + (f"; and {len(named) - _NAMED} more" if len(named) > _NAMED else "")
    return f"{len(own)} of {n_cells} groups: {listed}"


def called(group: Mapping[str, str]) -> str:
    """Name of a group in a sentence: its values."""
    return ", ".join(group.values()) or "all texts"
