"""Alt-test of judges against the raters of a panel: results, tables, sentences and JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import InputError
from core.results.cells import (
    corrected_column,
    corrected_note,
    decimal,
    ends,
    interval,
    left_out_lines,
    picked,
    plain,
)
from core.results.panel import Panel
from core.schema.result_table import Column, Interval, ResultTable
from core.stats import alt_test as stats
from core.stats.alt_test import ALIGNMENTS, ALPHA, EPSILONS, FEWEST_FOR_T, PASS_AT, TARGET, Alignment
from core.stats.multiplicity import Correction
from core.tables.reading import shown

ALT_TEST_TABLES = ("alt-test", "alt-test-raters", "alt-test-ceiling", "alt-test-power", "alt-test-epsilons")
"""Names of all tables, the main one first."""
ITEMS = (30, 50, 100, 200)
"""Default numbers of items for the probability to pass."""
FEW_RATERS = 3
CORRECTION: Correction = "benjamini-yekutieli"


@dataclass(frozen=True)
class AltTestOptions:
    """Options of the Alt-test."""

    epsilon: float = EPSILONS["experts"]
    """In [0, 1): the price of a rater."""
    alignment: Alignment = "accuracy"
    items: tuple[int, ...] = ITEMS
    """Numbers of items for which the probability to pass is given."""
    advantage: float | None = None
    """Advantage to suppose for that, in (0, 1); None: the observed one."""
    n_resamples: int = 1_000
    """Draws of items for the probability to pass."""
    confidence_level: float = 0.95
    rng: int = 0


DEFAULT_OPTIONS = AltTestOptions()


def option_problems(options: AltTestOptions) -> list[str]:
    """Problems of the options, each beginning with the option's name."""
    problems = []
    if not 0 <= options.epsilon < 1:
        problems.append(f"epsilon: {options.epsilon:g} is not a number from 0 to below 1")
    if options.alignment not in ALIGNMENTS:
        problems.append(f"alignment: {options.alignment!r} is not one of {', '.join(ALIGNMENTS)}")
    if options.advantage is not None and not 0 < options.advantage < 1:
        problems.append(f"advantage: {options.advantage:g} is not a number between 0 and 1")
    if not options.items or any(not 2 <= n <= stats.MOST_ITEMS for n in options.items):
        problems.append(f"items: give whole numbers from 2 to {stats.MOST_ITEMS:,}, e.g. 50,100")
    return problems


@dataclass(frozen=True)
class JudgeTest:
    """One judge against the raters."""

    judge: str
    n_items: int
    """Items with a comparison."""
    n_texts: int
    n_left_out: int
    """Texts without a comparison: no score, or fewer than two ratings."""
    test: stats.AltTest
    reduced: stats.OnReduced
    sweep: stats.Sweep
    power: stats.Power


@dataclass(frozen=True)
class AltTests:
    """The Alt-test of every judge of a panel."""

    panel: Panel
    options: AltTestOptions
    n_items: int
    """Items with a text that at least two raters rated."""
    n_texts: int
    """Such texts."""
    judges: tuple[JudgeTest, ...]
    ceiling: stats.Ceiling
    notes: tuple[str, ...]


def alt_tests(panel: Panel, options: AltTestOptions = DEFAULT_OPTIONS) -> AltTests:
    """Run the Alt-test for every judge of the panel, with the human ceiling.

    Raises InputError with all problems: wrong options, no judge, fewer than two raters, no text that two raters rated,
    distances between words without an order.
    """
    problems = option_problems(options)
    if not panel.judges:
        problems.append("judge: no judge to test; name a column, a rater or a metric as the judge")
    if len(panel.raters) < 2:
        named = listed_raters(panel) or "none"
        problems.append(
            f"human: at least two raters are needed, because each is compared with the others; found {named}"
        )
    if options.alignment == "rmse" and not panel.ordered:
        problems.append("alignment: rmse needs numbers, and these labels have no order; use accuracy")
    rated = (~np.isnan(panel.ratings)).sum(axis=1) > 1
    if len(panel.raters) > 1 and not rated.any():
        problems.append("human: no text has ratings by two raters")
    if problems:
        raise InputError("The Alt-test cannot be run", problems)
    asked: dict[str, Any] = {
        "epsilon": options.epsilon,
        "alignment": options.alignment,
        "clusters": panel.items,
    }
    level: dict[str, Any] = {"confidence_level": options.confidence_level}
    judges = []
    for name, scores in zip(panel.judges, panel.scores.T, strict=True):
        found = stats.alt_test(scores, panel.ratings, **asked, **level)
        judges.append(
            JudgeTest(
                name,
                found.advantage.n_clusters,
                found.advantage.n,
                int(rated.sum()) - found.advantage.n,
                found,
                stats.on_reduced_panels(scores, panel.ratings, **asked, **level),
                stats.epsilon_sweep(scores, panel.ratings, alignment=options.alignment),
                stats.power(
                    scores,
                    panel.ratings,
                    items=options.items,
                    advantage=options.advantage,
                    n_resamples=options.n_resamples,
                    rng=options.rng,
                    **asked,
                ),
            )
        )
    ceiling = stats.human_ceiling(panel.ratings, **asked, **level)
    n_items = len(np.unique(panel.items[rated]))
    return AltTests(
        panel,
        options,
        n_items,
        int(rated.sum()),
        tuple(judges),
        ceiling,
        _notes(panel, options, judges, rated, n_items),
    )


def listed_raters(panel: Panel) -> str:
    """The raters' names for a message."""
    return ", ".join(map(shown, panel.raters))


def _notes(
    panel: Panel,
    options: AltTestOptions,
    judges: Sequence[JudgeTest],
    rated: np.ndarray[Any, Any],
    n_items: int,
) -> tuple[str, ...]:
    notes = [*panel.notes]
    given = panel.ratings[~np.isnan(panel.ratings)]
    if options.alignment == "accuracy" and not panel.classes and not np.array_equal(given, np.round(given)):
        notes.append(
            "The ratings are not whole numbers, so two raters are seldom equal. Distances (alignment rmse) suit them better."
        )
    if len(panel.raters) < FEW_RATERS:
        notes.append(
            "With two raters, each is compared with the other alone: there is no consensus. The paper advises three or more."
        )
    if int(rated.sum()) > n_items:
        notes.append(
            "Items have several texts. The tests treat texts as independent, so p is too small if texts of an item are alike. "
            "Intervals count whole items."
        )
    few = [
        name
        for at, name in enumerate(panel.raters)
        if any(0 < one.test.raters[at].n < FEWEST_FOR_T for one in judges)
    ]
    if few:
        notes.append(
            f"Signed-rank test instead of the t-test, because of fewer than {FEWEST_FOR_T} texts: "
            f"{', '.join(map(shown, few))}. Collect more ratings before you rely on it."
        )
    for one in judges:
        of_judge = f"{shown(one.judge)}: " if len(judges) > 1 else ""
        if constant := _constant(panel, one.judge):
            notes.append(f"{of_judge}every score is {constant}. Such a judge reports nothing about a text.")
        if one.n_left_out:
            notes.append(
                f"{of_judge}{one.n_left_out:,} of {int(rated.sum()):,} texts with two ratings are left out: no score"
            )
    notes += left_out_lines(panel.left_out)
    alone = int(((~np.isnan(panel.ratings)).sum(axis=1) == 1).sum())
    if alone:
        notes.append(f"left out: {alone:,} texts with one rating")
    return tuple(dict.fromkeys(notes))


def _constant(panel: Panel, judge: str) -> str:
    """The only score that a judge gave; empty if it gave several, or fewer than two."""
    scores = panel.scores[:, panel.judges.index(judge)]
    known = scores[~np.isnan(scores)]
    if known.size < 2 or np.ptp(known) > 0:
        return ""
    value = float(known[0])
    return shown(panel.classes[value]) if value in panel.classes else f"{value:g}"


def verdict_of(one: JudgeTest) -> str:
    """The verdict on one judge in a sentence."""
    name, found = shown(one.judge), one.test
    if found.passed is None:
        return f"{name}: no verdict. Reason: {found.reason}."
    tested = [rater for rater in found.raters if rater.rejected is not None]
    wins = sum(bool(rater.rejected) for rater in tested)
    against = f"it wins against {wins} of {len(tested)} raters at epsilon {found.epsilon:g}"
    if found.passed_unseen:
        few = sum(rater.won_unseen for rater in tested)
        return (
            f"{name} passes, but too few items show it: {against}, {few} of them on fewer than 5 items that all have one "
            "outcome, which count without a test."
        )
    if found.passed:
        return f"{name} may stand in for a rater: {against}."
    return f"{name} is not shown to be as good as a rater: {against}, and at least half are needed."


def _verdict(found: stats.AltTest) -> str:
    if found.passed is None:
        return "no verdict"
    return "passed, too few items" if found.passed_unseen else "passed" if found.passed else "not passed"


def alt_test_said(found: AltTests) -> list[str]:
    """Verdicts, the human ceiling, and the price that epsilon is."""
    said = [verdict_of(one) for one in found.judges]
    ceiling = found.ceiling
    if ceiling.winning_rate is None:
        said.append(f"Human ceiling: undefined. Reason: {ceiling.reason}.")
    else:
        said.append(
            f"Human ceiling: a rater in the place of the judge wins against {100 * ceiling.winning_rate:.0f} % of the others on "
            f"average, with an advantage of {decimal(ceiling.advantage.estimate or 0.0, 2)}."
        )
    epsilon = found.options.epsilon
    said.append(
        f"Epsilon {epsilon:g} is the price of a rater: a judge wins if the rater's lead over it is shown to be below "
        f"{100 * epsilon:g} of 100 texts."
    )
    return said


def alt_test_tables(found: AltTests) -> dict[str, ResultTable]:
    """All tables by name: judges, raters, the human ceiling, power, and epsilons."""
    tables = (
        judge_table(found),
        rater_table(found),
        ceiling_table(found),
        power_table(found),
        epsilon_table(found),
    )
    return {table.name: table for table in tables}


def judge_table(found: AltTests) -> ResultTable:
    """One row for each judge."""
    return ResultTable(
        ALT_TEST_TABLES[0],
        (
            Column("judge", names_row=True),
            Column("n_items", "items"),
            Column("n_texts", shown=False),
            Column("winning_rate", "winning rate", percent=True),
            Column("verdict"),
            Column("passed", shown=False),
            Column("advantage"),
            Column("passes_from", "passes from epsilon", places=2),
            Column("reduced_advantage", "advantage, one rater less"),
            Column("gap", "minus ceiling"),
            Column("items_needed", "items needed"),
        ),
        tuple(
            (
                *(one.judge, one.n_items, one.n_texts),
                Interval(one.test.winning_rate, reason=one.test.reason or ""),
                _verdict(one.test),
                None if one.test.passed is None else int(one.test.passed),
                interval(one.test.advantage),
                one.sweep.passes_from,
                interval(one.reduced.ceiling.advantage),
                interval(one.reduced.gap),
                one.power.items_needed,
            )
            for one in found.judges
        ),
        title="Alt-test",
        notes=(
            f"Winning rate: share of raters against whom the judge wins; passed from {PASS_AT:.0%}. Advantage: share of "
            "texts on which the judge is at least as close to the other raters as the rater who is left out, averaged over "
            "raters.",
            f"Closeness: {ALIGNMENTS[found.options.alignment]}. Items needed: for a probability of {TARGET:.0%} to pass.",
            f"Intervals: {found.options.confidence_level:.0%}, over items: of an advantage Wilson's for the effective number of "
            "items, of a difference by the jackknife.",
            *found.notes,
        ),
    )


def rater_table(found: AltTests) -> ResultTable:
    """One row for each judge and rater."""
    return ResultTable(
        ALT_TEST_TABLES[1],
        (
            Column("judge", names_row=True),
            Column("rater", names_row=True),
            Column("n"),
            Column("n_better", "judge closer"),
            Column("n_equal", "equal"),
            Column("n_worse", "rater closer"),
            Column("advantage"),
            Column("p", p_value=True),
            corrected_column(CORRECTION, len(found.panel.raters)),
            Column("wins", "judge wins"),
            Column("test"),
        ),
        tuple(
            (
                *(one.judge, name, rater.n, rater.n_better, rater.n_equal, rater.n_worse),
                Interval(rater.advantage, reason=rater.reason or ""),
                Interval(rater.p, reason=rater.reason or ""),
                rater.p_corrected,
                "" if rater.rejected is None else "yes" if rater.rejected else "no",
                rater.test,
            )
            for one in found.judges
            for name, rater in zip(found.panel.raters, one.test.raters, strict=True)
        ),
        title="Against each rater",
        notes=(
            f"p: one-sided test that the rater's lead is at least epsilon ({found.options.epsilon:g}). The judge "
            f"wins at a corrected p of {ALPHA:g} or below.",
            *corrected_note(CORRECTION, len(found.panel.raters), "the raters, for each judge"),
        ),
    )


def ceiling_table(found: AltTests) -> ResultTable:
    """One row for each rater in the place of the judge, and each judge on the same panel."""
    columns = (
        Column("out", "rater who leaves", names_row=True),
        Column("tested", "in the place of the judge", names_row=True),
        Column("n", "texts"),
        Column("winning_rate", "winning rate", percent=True),
        Column("advantage"),
        Column("verdict"),
    )
    rows = [
        (rater, who, one.n, Interval(one.winning_rate, reason=one.reason or ""), one.advantage, _passed(one))
        for at, rater in enumerate(found.panel.raters)
        for who, of in (
            (rater, found.ceiling),
            *((each.judge, each.reduced.ceiling) for each in found.judges),
        )
        for one in of.raters[at : at + 1]
    ]
    reason = found.ceiling.reason
    return ResultTable(
        ALT_TEST_TABLES[2],
        columns,
        tuple(rows),
        title="Human ceiling",
        notes=(
            "Each rater in turn leaves the panel and is tested as the judge against the others. Judges are tested on the same "
            "panel and the same texts.",
            *([f"Undefined: {reason}."] if reason else []),
        ),
    )


def _passed(one: stats.Replaced) -> str:
    return "" if one.passed is None else "passed" if one.passed else "not passed"


def power_table(found: AltTests) -> ResultTable:
    """One row for each judge and number of items."""
    supposed = found.options.advantage
    return ResultTable(
        ALT_TEST_TABLES[3],
        (
            Column("judge", names_row=True),
            Column("advantage"),
            Column("items"),
            Column("power", "probability to pass", percent=True),
            Column("items_needed", "items needed"),
        ),
        tuple(
            (
                *(one.judge, one.power.advantage, n),
                Interval(power, reason=one.power.reason or "" if power is None else ""),
                one.power.items_needed,
            )
            for one in found.judges
            for n, power in zip(one.power.items, one.power.power, strict=True)
        ),
        title="Probability to pass",
        notes=(
            "Items drawn from the observed ones, "
            + ("as they are." if supposed is None else f"weighted so that the advantage is {supposed:g}.")
            + " A plan, not evidence: few items are an uncertain mix.",
            f"Items needed: for a probability of {TARGET:.0%}.",
        ),
    )


def epsilon_table(found: AltTests) -> ResultTable:
    """One row for each judge and epsilon, as in the figure."""
    return ResultTable(
        ALT_TEST_TABLES[4],
        (
            Column("judge", names_row=True),
            Column("epsilon", places=2, names_row=True),
            Column("winning_rate", "winning rate", percent=True),
        ),
        tuple(
            (one.judge, epsilon, rate)
            for one in found.judges
            for epsilon, rate in zip(one.sweep.epsilons, one.sweep.winning_rates, strict=True)
        ),
        title="Winning rate by epsilon",
        notes=("Choose epsilon from the cost of raters before you look, not from this table.",),
    )


def alt_test_json(found: AltTests) -> dict[str, Any]:
    """The documented JSON."""
    options = found.options
    return {
        "epsilon": options.epsilon,
        "n_items": found.n_items,
        "raters": list(found.panel.raters),
        "judges": {one.judge: _judge_json(found, one) for one in found.judges},
        "ceiling": _ceiling_json(found, found.ceiling),
        "n_texts": found.n_texts,
        "alignment": options.alignment,
        "alpha": ALPHA,
        "correction": "benjamini-yekutieli",
        "confidence_level": options.confidence_level,
        "left_out": dict(found.panel.left_out),
        "verdicts": [verdict_of(one) for one in found.judges],
        "notes": list(found.notes),
    }


def _judge_json(found: AltTests, one: JudgeTest) -> dict[str, Any]:
    return {
        **_rates(one.test.winning_rate, one.test.advantage),
        "passed": one.test.passed,
        "per_rater": [
            {"rater": name, **picked(rater, "n", "p", "rejected"), **_more(rater)}
            for name, rater in zip(found.panel.raters, one.test.raters, strict=True)
        ],
        "n_items": one.n_items,
        "n_texts": one.n_texts,
        "n_left_out": one.n_left_out,
        "reason": one.test.reason,
        "passes_from": one.sweep.passes_from,
        "epsilons": [
            {"epsilon": epsilon, "winning_rate": rate}
            for epsilon, rate in zip(one.sweep.epsilons, one.sweep.winning_rates, strict=True)
        ],
        "reduced": _ceiling_json(found, one.reduced.ceiling),
        "gap": ends(one.reduced.gap),
        "power": {
            **picked(one.power, "advantage", "items_needed", "reason"),
            "target": TARGET,
            "items": [
                {"items": n, "power": power}
                for n, power in zip(one.power.items, one.power.power, strict=True)
            ],
        },
    }


def _more(rater: stats.RaterTest) -> Mapping[str, Any]:
    return {"p_by": rater.p_corrected} | picked(
        rater, "advantage", "n_better", "n_equal", "n_worse", "test", "reason"
    )


def _rates(winning_rate: float | None, advantage: Any) -> dict[str, Any]:
    bounds = ends(advantage)
    return {
        "winning_rate": winning_rate,
        "advantage": bounds["estimate"],
        "low": bounds["low"],
        "high": bounds["high"],
        "interval_reason": bounds["interval_reason"],
    }


def _ceiling_json(found: AltTests, ceiling: stats.Ceiling) -> dict[str, Any]:
    return {
        **_rates(ceiling.winning_rate, ceiling.advantage),
        "per_rater": [
            {"rater": name, **plain(one)}
            for name, one in zip(found.panel.raters, ceiling.raters, strict=False)
        ],
        "reason": ceiling.reason,
    }
