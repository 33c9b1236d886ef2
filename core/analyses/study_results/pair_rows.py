"""The results of a study of pairs as rows: every table, and the JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from core import __version__
from core.analyses.study_results import ANALYSIS
from core.analyses.study_results.pairs import (
    AgreementRow,
    AnswerRow,
    BlindingRow,
    BlindingSideRow,
    BoundRow,
    ChoiceRow,
    ComponentRow,
    CompositeRow,
    ContingencyRow,
    EarlyRow,
    Filled,
    ListedRow,
    PairResults,
    PairwiseRow,
    PositionRow,
    PowerRow,
    RaterMeanRow,
    RepeatRow,
    RobustnessRow,
    SecondsRow,
    SensitivityRow,
    SizeRow,
    TieRow,
)
from core.results.cells import corrected_note, decimal, interval
from core.results.study.answer import StudyAnswer, ending, percent
from core.results.study.early import EarlyResult
from core.results.study.raters import (
    COMPONENT_NAMES,
    RatersAsSample,
    component_names,
    component_shares,
    mean_rows,
)
from core.results.study.results import (
    COEFFICIENTS,
    FEW_QUESTIONS,
    FLAG_BELOW,
    INTERVAL_LEVEL,
    Blinding,
    Block,
    Contingency,
    PairOfRaters,
    StudyResults,
    early_caution,
    holm_of_raters,
    reasons,
    results_said,
    size_said,
)
from core.results.study.tables import (
    AGREEMENT,
    GAFFKE,
    GAFFKE_DECIDES,
    TIES,
    agreement_cell,
    blocks,
    median_seconds,
    not_in,
    positions,
    preference_names,
)
from core.results.study.words import answer_name, words_of
from core.schema.analysis import Answer
from core.schema.result_table import Cell, Interval, ResultTable
from core.stats.blinding import BlindingIndex, Index, ShareRight
from core.stats.conclusion import NOT_WORSE, OPEN, AnswerValue, claimed_against
from core.stats.non_inferiority import VerdictValue, lowest_mean
from core.stats.planning import Power
from core.stats.raters import VarianceComponents
from core.stats.resampling import AgreementEstimate
from core.stats.votes import Consistency as Repeats
from core.stats.votes import PositionBias
from core.study.analysis_set import SCORE_NAMES
from core.study.times import RaterSeconds


def answer_of(results: StudyResults) -> Answer:
    """The answer with its tables and JSON, for a page that has the results already."""
    return Answer(ANALYSIS, ANALYSIS.Options(), pair_results(results))


def pair_results(results: StudyResults, listed: ResultTable | None = None) -> PairResults:
    """The results with every table and the JSON. listed: the list of pairs; None: without it."""
    found: dict[str, Any] = asdict(results)
    level = results.non_inferiority.confidence_level
    declared: dict[str, dict[str, Any]] = {
        "verdict": {
            "value": results.verdict.value,
            "exploratory": results.verdict.exploratory,
            **found["verdict"],
        },
        "answer": {**results.answer.to_json(), "exploratory": results.verdict.exploratory},
    }
    early = results.deciding_look
    decides = {} if early is None else _decided_early(early)
    same = (
        *("study", "state", "candidate", "comparator", "dataset_sha256", "design_seed", "levels", "raters"),
        *("analysis_set", "filtered", "pairs_by_votes", "sensitivity", "after_unblinding", "rater_warnings"),
        *("pairwise", "non_inferiority", "power", "repeats", "rater_seconds", "per_level"),
    )
    filled = _tables(results)
    columns: dict[str, dict[str, Any]] = {}
    if listed is not None:
        names = [one.name for one in listed.columns]
        rows = tuple(ListedRow(dict(zip(names, row, strict=True))) for row in listed.rows)
        filled[listed.name] = Filled(rows, listed.notes)
        columns = {
            one.name: {name: getattr(one, name) for name in ("title", "places", "shown", "names_row")}
            for one in listed.columns
        }
    return PairResults(
        app_version=__version__,
        **{name: found[name] for name in same},
        verdict={**declared["verdict"], **decides.get("verdict", {})},
        answer={**declared["answer"], **decides.get("answer", {})},
        declared=None if early is None else declared,
        raters_as_sample=results.raters_as_sample.to_json(),
        variance_components=asdict(results.raters_as_sample.components),
        early=None if results.early is None else {**asdict(results.early), "caution": early_caution(results)},
        **found["overall"],
        answers={
            "n_used": results.answers_used,
            "n_translated": results.answers_translated,
            "n_left_out": results.answers_left_out,
        },
        interval={
            "method": "percentile bootstrap over questions",
            "confidence_level": INTERVAL_LEVEL,
            "n_resamples": results.n_resamples,
            "rng": results.rng,
        },
        power_one_sided={**found["power_one_sided"], "confidence_level": level},
        planned=results.own_size.to_json(),
        position_bias={
            "overall": _position_json(results.position_overall, results.position_overall.p),
            "per_rater": {
                rater: _position_json(results.position_per_rater[rater], p)
                for rater, p in holm_of_raters(results.position_per_rater).items()
            },
            "n_left_out": results.position_left_out,
        },
        blinding=results.blinding.to_json(),
        facts=results,
        sentences=tuple(results_said(results)),
        filled=filled,
        listed=columns,
    )


def _decided_early(early: EarlyResult) -> dict[str, dict[str, Any]]:
    """Block of the JSON -> what the always-valid bound puts in place of the declared analysis."""
    reached = early.reached_after is not None
    value: VerdictValue = "non-inferior" if reached else "not shown"
    answer: AnswerValue = NOT_WORSE if reached else OPEN
    bound = {"bound": early.bound, "reason": None}
    return {
        "verdict": {"value": value, "method": "always-valid", "questions_missing": None, **bound},
        "answer": {"value": answer, "low_method": "always-valid", "low_reason": None, **bound},
    }


def _position_json(result: PositionBias, p_holm: float | None) -> dict[str, Any]:
    return {**asdict(result), "p_holm": p_holm, "flagged": p_holm is not None and p_holm < FLAG_BELOW}


def _tables(results: StudyResults) -> dict[str, Filled]:
    """The tables that have rows or notes; those on blinding only if raters were asked to guess."""
    made, systems = results.answer, (results.candidate, results.comparator)
    pairs = {" and ".join(pair.raters): pair for pair in results.pairwise}
    crossed = [pair.contingency for pair in results.pairwise] or [results.overall.contingency]
    found = {
        "sensitivity": _sensitivity(results),
        "answer": _answer_table(made, *systems),
        "robustness": _robustness(made, *systems),
        "bounds": _bounds(results),
        "rater-means": _means(results.raters_as_sample),
        "variance-components": _components(results.raters_as_sample.components),
        "choices": _choices(results),
        "agreement": _agreement(AgreementRow, results, blocks(results)),
        "pairwise": _agreement(PairwiseRow, results, pairs),
        "contingency": contingency_rows(results, crossed),
        "composite": _composite(results),
        "ties": _ties(results),
        "plan": _plan(results),
        "power": _power(results),
        "position": _position(results),
        "repeats": _repeats(results.repeats),
        "seconds": _seconds(results.rater_seconds),
    }
    if results.asks_guesses:
        found |= {"blinding": _indices(results.blinding), "blinding-sides": _side_counts(results.blinding)}
    if results.early is not None:
        found["early"] = _path(results.early)
    return {name: one for name, one in found.items() if one.rows or one.notes}


def _filled(kind: type, rows: Sequence[Sequence[Any]], notes: tuple[str, ...] = ()) -> Filled:
    return Filled(tuple(kind(*one) for one in rows), notes)


def _level(share: float) -> str:
    return f"{100 * share:g} %"


def _sensitivity(results: StudyResults) -> Filled:
    margin, systems = results.answer.conclusion.margin, (results.candidate, results.comparator)
    rows = [
        (
            line.name,
            line.n_pairs,
            line.bound,
            answer_name(line.answer, margin, *systems, results.answer.votes_mean),
        )
        for line in results.sensitivity
    ]
    return _filled(SensitivityRow, tuple(rows))


def _bounds(results: StudyResults) -> Filled:
    bound, found = results.non_inferiority, results.answer.conclusion
    why = bound.reason or ""
    decides = found.bounds is not None and found.bounds.low_method == "gaffke"
    return _filled(
        BoundRow,
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
        (
            f"Lower bounds of the mean {SCORE_NAMES[results.analysis_set.score]}, one-sided at "
            f"{_level(bound.confidence_level)}. The bound over pairs treats pairs of the same question as independent, "
            "so it is usually too high.",
        ),
    )


def _choices(results: StudyResults) -> Filled:
    names = preference_names(results.candidate, results.comparator, results.answer.votes_mean)
    return _filled(
        ChoiceRow,
        tuple(
            (rater, level, *(block.choices[rater][preference] for preference in names))
            for rater in results.raters
            for level, block in (results.per_level or blocks(results)).items()
        ),
    )


def _agreement(kind: type, results: StudyResults, rows: Mapping[str, Block | PairOfRaters]) -> Filled:
    """One row per block or pair of raters, one column per coefficient."""
    fields = COEFFICIENTS if kind is AgreementRow else COEFFICIENTS[:3]
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
    return _filled(
        kind,
        tuple(
            (row, n, *(_coefficient(field, getattr(block, field), block, n) for field in fields))
            for row, block in rows.items()
            for n in [block.n_pairs if isinstance(block, Block) else block.raw_agreement.n]
        ),
        (
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


def _coefficient(
    field: str, estimate: AgreementEstimate, block: Block | PairOfRaters, n_shown: int
) -> Interval:
    """The cell of one coefficient of a block or pair of raters."""
    reason = ""
    if estimate.reason and field == "cohen_kappa" and len(block.contingency.raters) > 2:
        reason = "for two raters only; see the table Pairs of raters"
    return agreement_cell(estimate, n_shown, reason)


def _measures_nothing(block: Block | PairOfRaters) -> bool:
    """Whether kappa is 0 only because one of the two raters always gave the same answer."""
    table = block.contingency.table
    if block.cohen_kappa.estimate is None or table is None:
        return False
    total = sum(map(sum, table))
    return any(sum(line) == total for line in [*table, *map(list, zip(*table, strict=True))])


def contingency_rows(results: StudyResults, crossed: Sequence[Contingency]) -> Filled:
    """Cross tables of two raters' answers, one row per answer of the first; several pairs of raters below each other."""
    names = preference_names(results.candidate, results.comparator, results.answer.votes_mean)
    return _filled(
        ContingencyRow,
        tuple(
            (*found.raters, names[answer], *line)
            for found in crossed
            for answer, line in zip(found.order, found.table or (), strict=False)
        ),
        tuple(dict.fromkeys(f"No table: {found.reason}." for found in crossed if found.reason)),
    )


def _composite(results: StudyResults) -> Filled:
    return _filled(
        CompositeRow,
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
    )


def _ties(results: StudyResults) -> Filled:
    found = results.overall.ties
    rows = []
    for field, (name, meaning) in TIES.items():
        share: float | None = getattr(found, field)
        cell = Interval(share, n=found.n, n_left_out=found.n_left_out, reason=found.reason or "")
        rows.append((name, meaning, cell, None if share is None else round(share * found.n), found.n))
    return _filled(TieRow, tuple(rows))


def _plan(results: StudyResults) -> Filled:
    """Questions that a new study with these raters needs, from the components of this study's votes."""
    found = results.own_size
    margin, level = found.options.margin, _level(found.options.bound_level)
    note = f"By the planner, from {found.source}. "
    if margin is None:
        note += "No margin is declared, so the plan is for the half-width of the two-sided 90 % interval of the mean."
    else:
        note += f"One-sided, {level}. If both systems are equally good."
    return _filled(
        SizeRow,
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
        (note,) if found.sizes else (size_said(found),),
    )


def _power(results: StudyResults) -> Filled:
    """Power at the observed mean, for Factual's test and one against a declared margin, with the pairs they need."""
    tests = {"two-sided, as in Factual": results.power}
    if results.answer.conclusion.margin is not None:
        declared = _level(results.non_inferiority.confidence_level)
        tests[f"one-sided, declared {declared}"] = results.power_one_sided
    return _filled(
        PowerRow,
        tuple((name, *_power_cells(found)) for name, found in tests.items()),
        ("This power only restates the p-value. Do not use it to plan a study.",),
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


def _position(results: StudyResults) -> Filled:
    """How often each rater, and all raters together, chose the left side."""
    found = positions(results)
    p_holm = {name: one.p for name, one in found.items()} | holm_of_raters(results.position_per_rater)
    flagged = {name: p is not None and p < FLAG_BELOW for name, p in p_holm.items()}
    n_tests = sum(one.p is not None for one in results.position_per_rater.values())
    left_out = [f"Choices left out: {reasons(results.position_left_out)}."] * bool(results.position_left_out)
    return _filled(
        PositionRow,
        tuple(
            (name, one.left, one.right, _shared(one.share_left, one), one.p, p_holm[name], flagged[name])
            for name, one in found.items()
        ),
        (
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


def _repeats(found: Mapping[str, Repeats]) -> Filled:
    """How often a rater gave the same answer to a hidden repeat."""
    return _filled(
        RepeatRow, tuple((rater, one.n, one.n_same, _shared(one.share, one)) for rater, one in found.items())
    )


def _seconds(found: Mapping[str, RaterSeconds]) -> Filled:
    """How long each rater took."""
    return _filled(
        SecondsRow, tuple((rater, one.n_answers, *median_seconds(one)) for rater, one in found.items())
    )


def _indices(found: Blinding) -> Filled:
    """One row per rater, then all raters together."""
    level = _level(found.overall.bang.confidence_level)
    n_tests = sum(one.share_right.p is not None for one in found.per_rater.values())
    return _filled(
        BlindingRow,
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
        (
            f"In brackets: {level} intervals, exact for the share, percentile bootstrap over questions for the indices. Ten "
            "guesses of one rater show little. p: exact, of one half of the guesses that name a side.",
            *corrected_note("holm", n_tests, "the raters; all raters together are one test"),
        ),
    )


def _side_counts(found: Blinding) -> Filled:
    """The counts behind the indices, one row per rater and side, with Bang's index for that side."""
    how = (
        f"In brackets: {_level(found.overall.bang.confidence_level)} normal intervals. An index near 1 on one side and "
        "near -1 on the other means that the rater always guessed the same side."
    )
    return _filled(
        BlindingSideRow,
        tuple(
            (rater, side, *counts, _shared(alone.estimate, alone))
            for rater, one in _everybody(found).items()
            if one.n
            for side, counts, alone in zip(
                ("left", "right"), one.table, (one.bang_left, one.bang_right), strict=True
            )
        ),
        (how,) if found.overall.n else (),
    )


def _everybody(found: Blinding) -> dict[str, BlindingIndex]:
    return {**found.per_rater, not_in(found.per_rater, "all raters"): found.overall}


def _answer_table(made: StudyAnswer, candidate: str, comparator: str) -> Filled:
    found, bounds, shares = made.conclusion, made.conclusion.bounds, made.shares
    why, words = found.reason or "", words_of(made.votes_mean)
    return _filled(
        AnswerRow,
        (
            (
                answer_name(made.value, found.margin, candidate, comparator, made.votes_mean),
                Interval(
                    found.mean,
                    None if bounds is None else bounds.low,
                    None if bounds is None else bounds.high,
                    n=found.n_questions,
                    reason=why if found.mean is None else "",
                ),
                *(
                    Interval(share, n=shares.n, reason="" if share is not None else why)
                    for share in (shares.candidate, shares.tie, shares.comparator)
                ),
                shares.n,
                found.n_questions,
            ),
        ),
        (f"In brackets: two-sided {percent(found.interval_level)} interval over questions. {words.won_by}",),
    )


def _robustness(made: StudyAnswer, candidate: str, comparator: str) -> Filled:
    found, unanswered = made.conclusion, made.unanswered

    def name(value: AnswerValue) -> str:
        return answer_name(value, found.margin, candidate, comparator, made.votes_mean)

    rows: list[tuple[str, str]] = []
    if found.gaffke is not None:
        rows.append(("Gaffke's bounds", name(found.gaffke.value)))
    if found.holds_with_one_more is not None:
        lost, whose = ending(
            claimed_against(made.value, found.margin)[0], found.margin, candidate, comparator
        )
        rows.append(
            (
                f"one more question {lost} outright by {whose}",
                "holds" if found.holds_with_one_more else "does not hold",
            )
        )
    for case in unanswered.cases:
        if case.mean_at_worst is None:
            continue
        ends = " by ".join(ending(case.against, found.margin, candidate, comparator))
        which = (
            f"the unanswered pair {ends}"
            if unanswered.n == 1
            else f"all {unanswered.n} unanswered pairs {ends}"
        )
        rows.append((which, name(case.value_at_worst)))
        if case.tipping is not None and unanswered.n > 1:
            rows.append(
                (f"unanswered pairs {ends} that change the answer", f"{case.tipping} of {unanswered.n}")
            )
    return _filled(
        RobustnessRow,
        tuple(rows),
        (
            "Unanswered pairs that are not lost (or won) get the mean of the answered ones, questions that lack most go first.",
        )
        if rows and unanswered.n > 1
        else (),
    )


def _means(sample: RatersAsSample) -> Filled:
    found = sample.mrmc
    rows = mean_rows(sample)
    of_all = (found.n_questions, found.n_votes, 1.0)
    about = [(one.n_questions, one.n_pairs, one.weight) for one in found.raters]
    level = f"{100 * found.interval_level:g} %"
    notes = [
        f"In brackets: {level} intervals. A rater's interval and that of these raters cover questions (jackknife-t). "
        "The interval of raters as a sample covers raters and questions (Obuchowski-Rockette, degrees of freedom of Hillis). It "
        "assumes that raters differ like a normal sample.",
        f"Lower bound: only for raters as a sample, one-sided at {100 * found.confidence_level:g} %.",
    ]
    if found.method == "dealt" and found.mean is not None:
        notes.append(
            "Not every rater voted on every pair. A vote weighs 1 / votes of its pair, and two raters covary only through "
            "questions that both have."
        )
    if found.df is not None and found.variance is not None and found.reason is None:
        notes.append(
            f"Standard error over raters and questions: {decimal(found.variance**0.5)}, degrees of freedom: "
            f"{'infinite' if found.df == float('inf') else decimal(found.df, 1)}."
        )
    return _filled(
        RaterMeanRow,
        tuple(
            (
                name,
                cell,
                found.bound if number == len(about) + 1 else None,
                *(about[number] if number < len(about) else of_all),
            )
            for number, (name, cell) in enumerate(rows.items())
        ),
        tuple(notes) if found.mean is not None else (),
    )


def _components(components: VarianceComponents) -> Filled:
    shares, names = component_shares(components), component_names(components)
    one = asdict(components.components) if components.components else {}
    mean = asdict(components.variance_of_mean) if components.variance_of_mean else {}
    notes = [f"Undefined: {components.reason}."] if components.reason and components.n_votes else []
    if shares:
        notes.append(
            f"Estimated by {components.method} from {components.n_votes:,} votes of {components.n_raters} raters on {components.n_pairs:,} pairs of "
            f"{components.n_questions:,} questions."
        )
        notes += [
            f"{names[name]}: the estimate was negative ({decimal(value, 4)}) and was set to 0."
            for name, value in components.set_to_zero.items()
        ]
    if components.merged and shares:
        notes.append("These votes cannot separate: " + "; ".join(_inseparable(components)) + ".")
    return _filled(
        ComponentRow,
        tuple(
            (
                names[name],
                COMPONENT_NAMES[name][1],
                one[name],
                Interval(share, reason="" if share is not None else "nothing varies"),
                mean[name],
                Interval(of_mean, reason="" if of_mean is not None else "nothing varies"),
            )
            for name, (share, of_mean) in shares.items()
            if name in names
        ),
        tuple(notes),
    )


def _inseparable(components: VarianceComponents) -> list[str]:
    return [
        f"{COMPONENT_NAMES[name][0].lower()} from {COMPONENT_NAMES[into][0].lower()}"
        for name, into in components.merged.items()
    ]


def _path(looks: EarlyResult) -> Filled:
    """The bound after each question, once the study has ended."""
    return _filled(
        EarlyRow,
        tuple((n, bound, -looks.margin) for n, bound in enumerate(looks.bounds, start=1)),
        ("Questions are in the order of entry. The bound never falls.",),
    )
