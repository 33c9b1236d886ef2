"""Tables of a study's results, for the page and the terminal."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import mean
from typing import Any

from core.results.cells import corrected_column, corrected_note, interval
from core.results.study.answer import ANSWER_TABLES, answer_tables
from core.results.study.raters import RATER_TABLES, rater_tables
from core.results.study.results import (
    COEFFICIENTS,
    FEW_QUESTIONS,
    FLAG_BELOW,
    ORDER,
    Blinding,
    Block,
    Contingency,
    PairOfRaters,
    StudyResults,
    first_interval,
    holm_of_raters,
    reasons,
    size_said,
)
from core.results.study.words import answer_name, words_of
from core.schema.figures import Axis, Intervals
from core.schema.result_table import Cell, Column, Interval, ResultTable
from core.schema.study import PREFERENCES, RatingAnswer, StudyRecord, VoteMeaning
from core.stats.blinding import BlindingIndex, Index, ShareRight
from core.stats.non_inferiority import lowest_mean
from core.stats.planning import Power
from core.stats.resampling import AgreementEstimate
from core.stats.votes import Consistency as Repeats
from core.stats.votes import PositionBias
from core.study.analysis_set import SCORE_NAMES
from core.study.ratings import (
    Consistency,
    RatedMean,
    Side,
    consistency,
    counted,
    dimensions_of,
    rated_means,
    rating_set_of,
    task_of,
)
from core.study.times import RaterSeconds, seconds_per_rater

AGREEMENT = {
    "raw_agreement": "Raw agreement",
    "cohen_kappa": "Cohen's kappa",
    "gwet_ac1": "Gwet's AC1",
    "fleiss_kappa": "Fleiss' kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
}
"""Field of a Block -> its name on screen."""
_TIES = {
    "paper_rule": ("Factual's rule", "at least one rater chose both good, and none chose both bad"),
    "both_tied": ("All tied", "every vote is both good or both bad"),
    "composite_zero": ("Composite zero", "all votes are ties, or the preferences cancel out"),
    "opposed": ("Opposed (no tie)", "raters disagreed on the winner"),
}
"""Field of Ties -> its name and which pairs it counts."""
_GUESSES = {"left": "left", "right": "right", "unsure": "cannot tell"}
BLINDING_TABLES = ("blinding", "blinding-sides")
"""Tables of the guesses which answer a person wrote."""
PAIR_TABLES = (
    *("sensitivity", *ANSWER_TABLES, "bounds", *RATER_TABLES),
    *("choices", "agreement", "pairwise", "contingency"),
    *("composite", "ties", "plan", "power", "position", "repeats", "seconds"),
    *BLINDING_TABLES,
)
"""Names of a pair study's tables, in the order of `study_tables`."""
ALL_PAIRS = "all pairs"
GAFFKE, GAFFKE_DECIDES = "questions, Gaffke", "questions, Gaffke (decides)"
"""Row of Gaffke's bound; it decides if the bootstrap over questions fails."""
RATING_TABLES = ("totals", "means-by-system", "means-by-level", "raters", "repeats")
"""Names of a rating study's tables."""
TOTALS_FIGURE = Intervals(
    table="totals",
    alt="Mean rating of each system and level with its interval, a panel for each dimension",
    instead=True,
    sides=("mean",),
    names=("system", "level"),
    axis=Axis("mean over texts"),
    panel="dimension",
)
"""The figure of a rating study."""


def preference_names(
    candidate: str, comparator: str, votes_mean: VoteMeaning | None = "better"
) -> dict[str, str]:
    """Names of the four answers, in the order of every table; plain text, not escaped."""
    choice = words_of(votes_mean).choice
    names = (choice.format(system=candidate), "both good", "both bad", choice.format(system=comparator))
    return {str(preference): name for preference, name in zip(PREFERENCES, names, strict=True)}


def blocks(results: StudyResults) -> dict[str, Block]:
    """Blocks by name: all levels together, then each level; a single level only once. Plain pairs have one block."""
    if len(results.per_level) == 1:
        return dict(results.per_level)
    if not results.per_level:
        return {ALL_PAIRS: results.overall}
    return {_not_in(results.levels, "all levels"): results.overall, **results.per_level}


def positions(results: StudyResults) -> dict[str, PositionBias]:
    """Position bias of each rater, then of all raters together."""
    return {**results.position_per_rater, _not_in(results.raters, "all raters"): results.position_overall}


def two_raters(results: StudyResults, first: str, second: str) -> Contingency:
    """The cross table of any two raters; rows are the first rater."""
    if len(results.raters) == 2:
        found = results.overall.contingency
    else:
        found = next(p.contingency for p in results.pairwise if {*p.raters} == {first, second})
    if found.raters == (first, second) or found.table is None:
        return found
    turned = [list(column) for column in zip(*found.table, strict=True)]
    return Contingency(found.order, turned, (first, second))


def study_tables(results: StudyResults) -> dict[str, ResultTable]:
    """Every table of a study of pairs, by its name in `PAIR_TABLES`."""
    pairs = {" and ".join(pair.raters): pair for pair in results.pairwise}
    crossed = [pair.contingency for pair in results.pairwise] or [results.overall.contingency]
    made = (
        _sensitivity(results),
        *answer_tables(results.answer, results.candidate, results.comparator),
        _bounds(results),
        *rater_tables(results.raters_as_sample),
        _choices(results),
        _agreement("agreement", "Agreement", results, "Level", blocks(results)),
        _agreement("pairwise", "Pairs of raters", results, "Raters", pairs),
        contingency_table(results, crossed),
        _composite(results),
        _ties(results),
        _plan(results),
        _power(results),
        _position(results),
        _repeats(results.repeats),
        _seconds(results.rater_seconds),
        _indices(results.blinding),
        _by_side(results.blinding),
    )
    return {table.name: table for table in made}


def _columns(n_named: int, **titles: str) -> tuple[Column, ...]:
    """Columns from names and titles; the first `n_named` identify a row."""
    return tuple(Column(name, title, names_row=n < n_named) for n, (name, title) in enumerate(titles.items()))


def _of_levels(results: StudyResults, columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns as readers see them: plain pairs have no column of levels."""
    return tuple(
        replace(column, shown=False) if column.name == "level" and not results.levels else column
        for column in columns
    )


def _level(share: float) -> str:
    return f"{100 * share:g} %"


def _sensitivity(results: StudyResults) -> ResultTable:
    columns = _columns(1, counted="Counted", pairs="Pairs", bound="Lower bound", verdict="Verdict")
    margin, systems = results.answer.found.margin, (results.candidate, results.comparator)
    rows = [
        (
            line.name,
            line.n_pairs,
            line.bound,
            answer_name(line.answer, margin, *systems, results.answer.votes_mean),
        )
        for line in results.sensitivity
    ]
    return ResultTable("sensitivity", columns, tuple(rows), "Sensitivity")


def _bounds(results: StudyResults) -> ResultTable:
    bound, found = results.non_inferiority, results.answer.found
    why = bound.reason or ""
    decides = found.bounds is not None and found.bounds.low_method == "gaffke"
    return ResultTable(
        "bounds",
        (
            *_columns(1, resampled="Resampled", units="n", mean="Mean", bound="Lower bound"),
            Column("margin", "Margin", general=True),
        ),
        tuple(
            (
                unit,
                n,
                bound.mean,
                Interval(low, n=n, reason=why if low is None else ""),
                lowest_mean(bound.margin),
            )
            for unit, n, low in (
                ("questions", bound.n_questions, bound.bound_questions),
                (
                    GAFFKE_DECIDES if decides else GAFFKE,
                    bound.n_questions,
                    None if found.gaffke is None else found.gaffke.bound,
                ),
                ("pairs, as in Factual", bound.n_pairs, bound.bound_pairs),
            )
        ),
        title="Lower bounds of the mean",
        notes=(
            f"Lower bounds of the mean {SCORE_NAMES[results.analysis_set.score]}, one-sided at "
            f"{_level(bound.confidence_level)}. The bound over pairs treats pairs of the same question as independent, "
            "so it is usually too high.",
        ),
    )


def _choices(results: StudyResults) -> ResultTable:
    names = preference_names(results.candidate, results.comparator, results.answer.votes_mean)
    return ResultTable(
        "choices",
        _of_levels(results, _columns(2, rater="Rater", level="Level", **names)),
        tuple(
            (rater, level, *(block.choices[rater][preference] for preference in names))
            for rater in results.raters
            for level, block in (results.per_level or blocks(results)).items()
        ),
        title="Choices",
    )


def _agreement(
    name: str, title: str, results: StudyResults, of: str, rows: Mapping[str, Block | PairOfRaters]
) -> ResultTable:
    """One row per block or pair of raters, one column per coefficient."""
    fields = COEFFICIENTS if name == "agreement" else COEFFICIENTS[:3]
    silent = [row for row, block in rows.items() if _measures_nothing(block)]
    unsure = [
        f"{AGREEMENT[field]} of {row} is undefined in {found.n_undefined} of {found.n_resamples} resamples"
        for row, block in rows.items()
        for field in fields
        if (found := getattr(block, field)).n_undefined and found.low is not None
    ]
    how = (
        f"In brackets: {_level(results.overall.raw_agreement.confidence_level)} intervals over questions. Below "
        f"{FEW_QUESTIONS} questions: jackknife-t. From {FEW_QUESTIONS} questions: percentile bootstrap, "
        f"{results.n_resamples} resamples, seed {results.rng}. Both are in the JSON."
    )
    return ResultTable(
        name,
        _of_levels(
            results,
            _columns(1, **{of.lower(): of, "pairs": "Pairs"}, **{name: AGREEMENT[name] for name in fields}),
        ),
        tuple(
            (row, n, *(_coefficient(field, getattr(block, field), block, n) for field in fields))
            for row, block in rows.items()
            for n in [block.n_pairs if isinstance(block, Block) else block.raw_agreement.n]
        ),
        title=title,
        notes=(
            *(
                [
                    f"Cohen's kappa measures nothing at {', '.join(silent)}, because one rater always gave the same "
                    "answer: it is exactly 0. Use raw agreement and AC1 instead."
                ]
                if silent
                else []
            ),
            *unsure,
            *([how] if rows else []),
        ),
    )


def _coefficient(field: str, found: AgreementEstimate, block: Block | PairOfRaters, n_shown: int) -> Interval:
    """The cell of one coefficient of a block or pair of raters."""
    reason = ""
    if found.reason and field == "cohen_kappa" and len(block.contingency.raters) > 2:
        reason = "for two raters only; see the table Pairs of raters"
    return agreement_cell(found, n_shown, reason)


def agreement_cell(found: AgreementEstimate, n_shown: int, reason: str = "") -> Interval:
    """The estimate with the interval to show first, and with its n if it differs from the row's, `n_shown`.

    reason: why it is undefined, where readers need another reason than its own.
    """
    low, high = first_interval(found) or (None, None)
    reason = reason or found.reason or ""
    none = found.interval_reason or found.interval_t_reason or "nothing varies between questions"
    return replace(
        interval(found),
        low=low,
        high=high,
        reason=reason,
        interval_reason=none if low is None and not reason else "",
        beside=f"(n {found.n})" if found.n != n_shown and found.estimate is not None else "",
    )


def _measures_nothing(block: Block | PairOfRaters) -> bool:
    """Whether kappa is 0 only because one of the two raters always gave the same answer."""
    table = block.contingency.table
    if block.cohen_kappa.estimate is None or table is None:
        return False
    total = sum(map(sum, table))
    return any(sum(line) == total for line in [*table, *map(list, zip(*table, strict=True))])


def contingency_table(results: StudyResults, crossed: Sequence[Contingency]) -> ResultTable:
    """Cross tables of two raters' answers, one row per answer of the first; several pairs of raters below each other."""
    names = preference_names(results.candidate, results.comparator, results.answer.votes_mean)
    return ResultTable(
        "contingency",
        _columns(3, rows="Rows", columns="Columns", answer="Answer", **names),
        tuple(
            (*found.raters, names[answer], *line)
            for found in crossed
            for answer, line in zip(found.order, found.table or (), strict=False)
        ),
        title="Two raters compared",
        notes=tuple(dict.fromkeys(f"No table: {found.reason}." for found in crossed if found.reason)),
    )


def _composite(results: StudyResults) -> ResultTable:
    return ResultTable(
        "composite",
        _of_levels(
            results,
            _columns(
                1,
                level="Level",
                pairs="Pairs",
                mean="Mean",
                comparator=f"-1 ({results.comparator})",
                neither="0 (neither)",
                candidate=f"+1 ({results.candidate})",
                net_preference="Net preference",
            ),
        ),
        tuple(
            (
                level,
                block.composite.n,
                block.composite.mean,
                *(block.composite.counts[score] for score in ("-1", "0", "1")),
                block.net_preference,
            )
            for level, block in blocks(results).items()
        ),
        title="Composite score",
    )


def _ties(results: StudyResults) -> ResultTable:
    found = results.overall.ties
    rows = []
    for field, (name, meaning) in _TIES.items():
        share: float | None = getattr(found, field)
        cell = Interval(share, n=found.n, n_left_out=found.n_left_out, reason=found.reason or "")
        rows.append((name, meaning, cell, None if share is None else round(share * found.n), found.n))
    return ResultTable(
        "ties",
        _columns(1, rule="Rule", counts_when="A pair counts if", share="Share", pairs="Pairs", of="Of"),
        tuple(rows),
        title="Ties",
    )


def _plan(results: StudyResults) -> ResultTable:
    """Questions that a new study with these raters needs, from the components of this study's votes."""
    found = results.own_size
    margin, level = found.options.margin, _level(found.options.bound_level)
    note = f"By the planner, from {found.source}. "
    if margin is None:
        note += "No margin is declared, so the plan is for the half-width of the two-sided 90 % interval of the mean."
    else:
        note += f"One-sided, {level}. If both systems are equally good."
    return ResultTable(
        "plan",
        (
            *_columns(1, aim="For", scope="Valid for"),
            Column("raters", "Raters"),
            Column("votes", "Votes a pair"),
            Column("questions", "Questions"),
            Column("pairs", "Pairs"),
            Column("reason", "Why not", shown=any(plan.reason for _, plan in found.sizes)),
        ),
        tuple(
            (
                f"half-width {found.options.wanted_half_width:g}"
                if power is None
                else f"power {_level(power)}",
                plan.scope,
                plan.raters,
                plan.votes,
                plan.questions,
                None if plan.questions is None else plan.questions * plan.levels,
                plan.reason or "",
            )
            for power, plan in found.sizes
        ),
        title="Questions that a new study needs",
        notes=(note,) if found.sizes else (size_said(found),),
    )


def _power(results: StudyResults) -> ResultTable:
    """Power at the observed mean, for Factual's test and one against a declared margin, with the pairs they need."""
    tests = {"two-sided, as in Factual": results.power}
    if results.answer.found.margin is not None:
        declared = _level(results.non_inferiority.confidence_level)
        tests[f"one-sided, declared {declared}"] = results.power_one_sided
    return ResultTable(
        "power",
        (
            *_columns(1, test="Test"),
            Column("alpha", general=True),
            Column("power", "Power"),
            Column("pairs_for_80", "Pairs for 80 %", places=0),
            Column("pairs_for_90", "Pairs for 90 %", places=0),
            Column("pairs", "Pairs used"),
        ),
        tuple((name, *_power_cells(found)) for name, found in tests.items()),
        title="Power at the observed mean",
        notes=("This power only restates the p-value. Do not use it to plan a study.",),
    )


def _power_cells(found: Power) -> tuple[Cell, ...]:
    why = found.reason or "more than ten million pairs"
    return (
        found.alpha,
        Interval(found.value, n=found.n, reason="" if found.value is not None else why),
        *(
            Interval(size, reason="" if size is not None else why)
            for size in (found.n_for_80, found.n_for_90)
        ),
        found.n,
    )


def _position(results: StudyResults) -> ResultTable:
    """How often each rater, and all raters together, chose the left side."""
    found = positions(results)
    p_holm = {name: one.p for name, one in found.items()} | holm_of_raters(results.position_per_rater)
    flagged = {name: p is not None and p < FLAG_BELOW for name, p in p_holm.items()}
    n_tests = sum(one.p is not None for one in results.position_per_rater.values())
    left_out = [f"Choices left out: {reasons(results.position_left_out)}."] * bool(results.position_left_out)
    return ResultTable(
        "position",
        (
            *_columns(1, rater="Rater", left="Left", right="Right", share_left="Share left"),
            Column("p", p_value=True),
            corrected_column("holm", n_tests),
            Column("flagged", shown=False),
        ),
        tuple(
            (name, one.left, one.right, _shared(one.share_left, one), one.p, p_holm[name], flagged[name])
            for name, one in found.items()
        ),
        title="Position bias",
        notes=(
            *(
                f"{name} is flagged ({'Holm p' if n_tests > 1 and name in results.position_per_rater else 'p'} below {FLAG_BELOW:g})."
                for name, low in flagged.items()
                if low
            ),
            *corrected_note("holm", n_tests, "the raters; all raters together are one test"),
            *left_out,
        ),
    )


def _shared(share: float | None, found: PositionBias | Repeats | ShareRight | Index) -> Interval:
    return Interval(share, found.low, found.high, n=found.n, reason=found.reason or "")


def _repeats(found: Mapping[str, Repeats]) -> ResultTable:
    """How often a rater gave the same answer to a hidden repeat."""
    return ResultTable(
        "repeats",
        _columns(1, rater="Rater", answered_twice="Answered twice", same="Same answer", share="Share"),
        tuple((rater, one.n, one.n_same, _shared(one.share, one)) for rater, one in found.items()),
        title="Repeats",
    )


_SECONDS = (
    Column("median_seconds_first", "Median seconds to the first answer", places=1),
    Column("median_seconds_visible", "Median seconds visible", places=1),
)
"""The cells of `_median_seconds`."""


def _median_seconds(one: RaterSeconds) -> tuple[Interval, Interval]:
    """Both medians; `n` counts the answers behind each."""
    return (
        Interval(one.median_seconds_first, n=one.n_first, reason="" if one.n_first else "no time is known"),
        Interval(
            one.median_seconds_visible, n=one.n_visible, reason="" if one.n_visible else "no browser said it"
        ),
    )


def _seconds(found: Mapping[str, RaterSeconds]) -> ResultTable:
    """How long each rater took."""
    return ResultTable(
        "seconds",
        (*_columns(1, rater="Rater", answers="Answers"), *_SECONDS),
        tuple((rater, one.n_answers, *_median_seconds(one)) for rater, one in found.items()),
        title="Times",
    )


def _indices(found: Blinding) -> ResultTable:
    """One row per rater, then all raters together."""
    level = _level(found.overall.bang.confidence_level)
    n_tests = sum(one.share_right.p is not None for one in found.per_rater.values())
    return ResultTable(
        "blinding",
        (
            *_columns(
                1, rater="Rater", guesses="Guesses", right="Right", wrong="Wrong", cannot_tell="Cannot tell"
            ),
            *_columns(0, share_right="Share right"),
            Column("p", p_value=True),
            corrected_column("holm", n_tests),
            *_columns(0, bang="Bang's index", james="James's index"),
        ),
        tuple(
            (
                rater,
                one.n,
                one.share_right.n_right,
                one.share_right.n - one.share_right.n_right,
                one.n - one.share_right.n,
                _shared(one.share_right.share, one.share_right),
                one.share_right.p,
                found.p_holm.get(rater, one.share_right.p),
                interval(one.bang_questions),
                interval(one.james_questions),
            )
            for rater, one in _everybody(found).items()
        ),
        title="Blinding",
        notes=(
            f"In brackets: {level} intervals, exact for the share, percentile bootstrap over questions for the indices. Ten "
            "guesses of one rater show little. p: exact, of one half of the guesses that name a side.",
            *corrected_note("holm", n_tests, "the raters; all raters together are one test"),
        ),
    )


def _by_side(found: Blinding) -> ResultTable:
    """The counts behind the indices, one row per rater and side, with Bang's index for that side."""
    how = (
        f"In brackets: {_level(found.overall.bang.confidence_level)} normal intervals. An index near 1 on one side and "
        "near -1 on the other means that the rater always guessed the same side."
    )
    return ResultTable(
        "blinding-sides",
        (
            *_columns(2, rater="Rater", side="Human answer"),
            *(Column(f"guessed_{guess}", f"Guess: {_GUESSES[guess]}") for guess in ORDER),
            Column("bang", "Bang's index"),
        ),
        tuple(
            (rater, side, *counts, _shared(alone.estimate, alone))
            for rater, one in _everybody(found).items()
            if one.n
            for side, counts, alone in zip(
                ("left", "right"), one.table, (one.bang_left, one.bang_right), strict=True
            )
        ),
        title="Guesses by side of the human answer",
        notes=(how,) if found.overall.n else (),
    )


def _everybody(found: Blinding) -> dict[str, BlindingIndex]:
    return {**found.per_rater, _not_in(found.per_rater, "all raters"): found.overall}


def _not_in(taken: Collection[str], name: str) -> str:
    """A name for the total that no rater or level uses."""
    while name in taken:
        name += " together"
    return name


def shown_tables(results: StudyResults) -> list[ResultTable]:
    """The tables with rows or notes, without those on blinding if no rater was asked to guess."""
    unasked = () if results.asks_guesses else BLINDING_TABLES
    return [
        table
        for name, table in study_tables(results).items()
        if name not in unasked and (table.rows or table.notes)
    ]


def rating_results(
    record: StudyRecord, *, n_resamples: int
) -> tuple[dict[str, Any], list[str], list[ResultTable]]:
    """The documented JSON of a rating study, sentences, and tables.

    Totals are by system, level and dimension; consistency is of raters with themselves.
    """
    found = counted(record)
    means, repeats = RatingMeans.of(record, n_resamples=n_resamples), consistency(record)
    highest = rated_highest(means)
    as_json = {
        "study": record.study.name,
        "state": record.study.state,
        "task": task_of(record).name,
        "dataset_sha256": record.study.dataset_sha256,
        "n_answers": len(found.answers),
        "left_out": dict(found.left_out),
        "rated_highest": highest.to_json(),
        "totals": [asdict(total) for total in means.totals],
        "means_by_system": [asdict(mean) for mean in means.by_system],
        "means_by_level": [asdict(mean) for mean in means.by_level],
        "consistency": [asdict(line) for line in repeats],
        "rater_seconds": {rater: asdict(one) for rater, one in _seconds_of(record, found.answers).items()},
    }
    raters = sorted({answer.rater_id for answer in found.answers})
    said = [
        f"Study {record.study.name!r} ({record.study.state}): {task_of(record).title}",
        highest.said,
        f"Raters: {', '.join(raters) or 'none'}; texts done: {len(found.answers)}; left out: {reasons(found.left_out)}",
    ]
    return as_json, said, list(rating_tables(record, means, repeats).values())


def _seconds_of(record: StudyRecord, counted: Sequence[RatingAnswer]) -> dict[str, RaterSeconds]:
    raters = sorted({answer.rater_id for answer in counted})
    return seconds_per_rater(raters, record.rating_answers, record.rating_history)


@dataclass(frozen=True)
class RatingMeans:
    """Mean ratings of a study by system and level, and over each of the two."""

    totals: tuple[RatedMean, ...]
    """By system and level."""
    by_system: tuple[RatedMean, ...]
    """Over all levels."""
    by_level: tuple[RatedMean, ...]
    """Over all systems; empty in a study without levels."""

    @classmethod
    def of(cls, record: StudyRecord, *, n_resamples: int = 10_000) -> "RatingMeans":
        """Compute the means of an unblinded rating study."""
        totals = rated_means(record, n_resamples=n_resamples)
        if not any(output.level for output in record.outputs):
            return cls(totals, totals, ())
        return cls(
            totals,
            rated_means(record, ["system"], n_resamples=n_resamples),
            rated_means(record, ["level"], n_resamples=n_resamples),
        )


def best_rated(means: RatingMeans) -> dict[str, tuple[RatedMean, ...]]:
    """Dimension -> its systems with a mean, highest first."""
    found: dict[str, list[RatedMean]] = {}
    for one in means.by_system:
        if one.mean.estimate is not None:
            found.setdefault(one.dimension, []).append(one)
    return {
        dimension: tuple(sorted(those, key=lambda one: -(one.mean.estimate or 0.0)))
        for dimension, those in found.items()
    }


@dataclass(frozen=True)
class RatedHighest:
    """Which systems of a rating study are rated highest, and how firm that is."""

    word: str
    """A heading without a full stop."""
    why: str
    """A sentence; empty where there is nothing to say."""
    systems: tuple[str, ...]
    """Those with the highest mean in most dimensions; ties share a place."""
    dimensions: tuple[str, ...]
    """In which they are highest; the first of them is shown."""
    separated: bool
    """Whether one system's interval lies above those of all others in every dimension."""

    def to_json(self) -> dict[str, Any]:
        """The documented form (docs/formats.md), ready for json.dumps."""
        return {"sentence": self.said, **asdict(self)}

    @property
    def said(self) -> str:
        """The heading and its reason as sentences."""
        return f"{self.word}. {self.why}".rstrip()


def rated_highest(means: RatingMeans) -> RatedHighest:
    """Which system has the highest mean, in how many dimensions, and whether intervals set it apart."""
    ranked = best_rated(means)
    systems = {one.system for those in ranked.values() for one in those}
    if not ranked:
        return RatedHighest("Nothing is rated yet", "", (), (), separated=False)
    if len(systems) == 1:
        (only,) = systems
        why = "There is no other system to compare it with."
        return RatedHighest(f"{only} alone is rated", why, (only,), tuple(ranked), separated=False)
    places: dict[str, list[str]] = {}
    for dimension, those in ranked.items():
        for one in those:
            if one.mean.estimate == those[0].mean.estimate:  # equal means share the place
                places.setdefault(one.system, []).append(dimension)
    most = max(map(len, places.values()))
    ahead = tuple(system for system, where in places.items() if len(where) == most)
    named = " and ".join(ahead)
    if most < len(ranked):
        word = f"Highest in {most} of {len(ranked)} dimensions: {named}"
    elif len(ahead) == 1:
        word = f"{named} is rated highest"
    else:
        word = f"{named} share the highest mean"
    first = tuple(dimension for dimension in ranked if any(dimension in places[one] for one in ahead))
    if len(ahead) > 1:
        return RatedHighest(word, "", ahead, first, separated=False)
    close = {
        dimension: rivals
        for dimension in first
        if (rivals := [one.system for one in ranked[dimension] if _overlaps(ranked[dimension], named, one)])
    }
    if not close:
        where = (
            "" if len(ranked) == 1 else " in each of them" if most < len(ranked) else " in every dimension"
        )
        why = f"Its interval lies above those of the others{where}."
    elif len(first) == 1:
        why = f"The intervals of {named} and {close[first[0]][0]} overlap; a difference is not shown."
    else:
        why = (
            f"In {', '.join(close)} its interval overlaps that of another system; a difference is not shown."
        )
    return RatedHighest(word, why, ahead, first, separated=not close and most == len(ranked))


def _overlaps(those: Sequence[RatedMean], system: str, other: RatedMean) -> bool:
    """Whether another system's interval does not end below that of `system`; true where one of the two is unknown."""
    low = next(one.mean.low for one in those if one.system == system)
    return other.system != system and (low is None or other.mean.high is None or other.mean.high >= low)


def rating_tables(
    record: StudyRecord, means: RatingMeans, twice: Sequence[Consistency]
) -> dict[str, ResultTable]:
    """Every table of a rating study, by its name in `RATING_TABLES`; no table of levels without levels."""
    made = [_totals(means.totals), _pivot("system", means.by_system)]
    if means.by_level:
        made.append(_pivot("level", means.by_level))
    return {table.name: table for table in (*made, _raters(record), _rated_twice(twice))}


def _pivot(by: Side, means: Sequence[RatedMean]) -> ResultTable:
    """A row for each system or level, a column for each dimension."""
    rows: dict[str, dict[str, Interval]] = {}
    for one in means:
        cells = rows.setdefault(one.system if by == "system" else one.level, {})
        cells[one.dimension] = replace(interval(one.mean), n_left_out=one.n_unrated)
    dimensions = list(dict.fromkeys(one.dimension for one in means))
    over = "levels" if by == "system" else "systems"
    return ResultTable(
        f"means-by-{by}",
        (
            *_columns(1, **{by: by.capitalize()}),
            *(Column(f"mean_{name}", name, places=2) for name in dimensions),
        ),
        tuple((name, *(cells[dimension] for dimension in dimensions)) for name, cells in rows.items()),
        title=f"Means by {by}",
        notes=(
            f"Mean over texts of all {over} of the mean over raters. In brackets: 95 % intervals from resampled items.",
        ),
    )


def _totals(totals: Sequence[RatedMean]) -> ResultTable:
    return ResultTable(
        "totals",
        (
            *_columns(1, system="System"),
            Column("level", "Level", names_row=True, shown=any(total.level for total in totals)),
            *_columns(1, dimension="Dimension"),
            Column("mean", "Mean", places=2),
            *_columns(0, texts="Texts rated", unrated="Not rated", ratings="Ratings"),
            Column("errors_per_rating", "Errors per rating", places=2),
        ),
        tuple(
            (
                total.system,
                total.level or None,
                total.dimension,
                interval(total.mean),
                total.n_texts,
                total.n_unrated,
                total.n_ratings,
                total.errors_per_rating,
            )
            for total in totals
        ),
        title="By system",
    )


def _raters(record: StudyRecord) -> ResultTable:
    """Number of texts and mean scores of each rater."""
    answers, ratings = counted(record).answers, rating_set_of(record).ratings
    dimensions = dimensions_of(task_of(record))
    seconds = _seconds_of(record, answers)
    rows: list[tuple[Cell, ...]] = []
    for rater in dict.fromkeys(answer.rater_id for answer in answers):
        own = [one for one in ratings if one.rater == rater]
        said = [[one.score for one in own if one.dimension == dimension] for dimension in dimensions]
        rows.append(
            (
                rater,
                sum(answer.rater_id == rater for answer in answers),
                *(mean(scores) if scores else None for scores in said),
                sum(len(one.spans or ()) for one in own),
                *_median_seconds(seconds[rater]),
            )
        )
    return ResultTable(
        "raters",
        (
            *_columns(1, rater="Rater", texts="Texts"),
            *(Column(f"mean_{name}", f"Mean {name}", places=2) for name in dimensions),
            Column("errors_marked", "Errors marked", shown=task_of(record).spans is not None),
            *_SECONDS,
        ),
        tuple(rows),
        title="By rater",
    )


def _rated_twice(twice: Sequence[Consistency]) -> ResultTable:
    return ResultTable(
        "repeats",
        (
            *_columns(2, rater="Rater", dimension="Dimension", rated_twice="Rated twice", same="Same score"),
            Column("mean_difference", "Mean difference", places=2),
        ),
        tuple((one.rater, one.dimension, one.n, one.n_same, one.mean_difference) for one in twice),
        title="Hidden repeats",
    )
