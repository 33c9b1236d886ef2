"""Prompts compared: several prompts or models on the same texts, against people and known levels, with price and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.errors import InputError
from core.joining.choices import directions, items_of
from core.joining.tables import merge_tables
from core.results.cells import (
    corrected_column,
    corrected_note,
    counted_share,
    ends,
    interval,
    left_out_lines,
    over_items,
)
from core.results.check.choosing import (
    ALPHA,
    CORRECTION,
    MEASURES,
    N_SWAPS_OF_RANKS,
    Choice,
    JudgeOnOffer,
    which_judge,
    which_said,
)
from core.results.check.facts import PER_TEXTS, UNKNOWN
from core.results.check.verdict import JudgeFacts
from core.results.correlations.levels import by_level
from core.results.judges.costs import CostRow
from core.schema.panel import Panel, only_judges
from core.schema.result_table import Cell, Column, Interval, ResultTable
from core.schema.scores import ScoreTable, mask_notes
from core.stats.degeneracy import Constant, constant, constants_said
from core.stats.resampling import Estimate, wilson_share
from core.tables.columns import level_number
from core.tables.problems import listed
from core.tables.reading import shown

PROMPTS_TABLE = "prompts"
NO_SCORE = "it scored no text"
FEW_ITEMS = 20
"""Items below which a note says that intervals of differences are too narrow (docs/simulations/prompts.md)."""
NOTHING_TO_COMPARE_WITH = "These texts have no levels to compare, so prompts can only be compared by ratings or votes of people. Name those, too."


@dataclass(frozen=True)
class Tried:
    """One prompt with one model, on texts that the others judged too."""

    name: str
    """Tells it from the others, such as `rubric with gpt-4o`."""
    prompt: str
    """Names of the prompts in which it differs."""
    model: str
    table: ScoreTable
    """One column, called `name`; higher is better."""
    facts: JudgeFacts = UNKNOWN
    """Price and time of 1,000 texts, as if no answer had come from the cache."""
    cost: CostRow | None = None
    """All steps of the run, as if no answer had come from the cache; None: unknown."""
    run: int | None = None


@dataclass(frozen=True)
class PromptsCompared:
    """Prompts or models compared on the texts that all of them scored."""

    tried: tuple[Tried, ...]
    """Best first; those without a score last."""
    people: Choice | None
    """Against ratings or votes of people; None: there are none."""
    levels: Choice | None
    """Against known levels (minus the damage level as the only rater); None: the texts have none."""
    monotonic: Mapping[str, Estimate]
    """Name -> share of items whose scores never rise from one level to the next worse; empty without levels."""
    constants: Mapping[str, Constant]
    """Name -> the score of all or nearly all texts; those whose scores vary are not in it."""
    component: str
    """The column that is compared, such as `f1`; empty where the judge has only one."""
    notes: tuple[str, ...] = ()

    @property
    def main(self) -> Choice:
        """The comparison that decides: with people, if there are any."""
        found = self.people or self.levels
        assert found is not None, "compare_prompts requires one of them"
        return found

    @property
    def measured(self) -> str:
        """The quality in words, such as for an axis."""
        return (
            MEASURES[self.main.measure]
            if self.people is not None
            else "Spearman's correlation with minus the damage level"
        )

    def sentences(self) -> list[str]:
        """The prompt to use and how the others compare, in a sentence each."""
        said = [] if self.people is None else which_said(self.people)
        if self.levels is None:
            return said
        by_levels = which_said(self.levels)
        if said:
            by_levels = [f"By known levels: {by_levels[0]}", *by_levels[1:]]
        return [*said, *by_levels]


def one_column(table: ScoreTable, metric: str, name: str) -> ScoreTable:
    """The table with one metric only, called `name` and turned so that higher is better."""
    at = [one.name for one in table.metrics].index(metric)
    return replace(
        table,
        metrics=(replace(table.metrics[at], name=name, direction="higher"),),
        values=table.values[:, [at]] * directions(table)[at],
        reasons={(row, 0): why for (row, column), why in table.reasons.items() if column == at},
        file_name=name,
    )


def compare_prompts(
    tried: Sequence[Tried],
    people: Panel | None = None,
    *,
    component: str = "",
    notes: Sequence[str] = (),
    with_levels: bool = True,
    margin: float = 0.05,
    n_resamples: int = 2_000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> PromptsCompared:
    """Compare prompts or models by `which_judge` on the texts that all of them scored, and mark constant scores.

    people: ratings or votes beside the scores of `tried`, whose names are its judges. With levels in the tables, minus the damage level
    is one more rater, apart from the people: quality is then Spearman's correlation with it over all texts, and the share of
    items whose scores never rise as damage grows (`by_level`) stands beside it. Each of the two comparisons corrects its
    tests by Holm for every two prompts. with_levels: False for scores that only mean something within a level, as of answers that
    were compared with each other. One without any score takes part in neither.

    Raises InputError for fewer than two with scores, for one name twice, and if there are neither people nor two levels.

    Misleads: the best of several prompts was found on these texts, so its quality is a little too high; try it on others
    before you rely on the number. Levels reward a prompt that notices damage, not one that agrees with people.
    """
    names = [one.name for one in tried]
    if len(set(names)) < len(names):
        raise InputError(f"{listed([name for name in names if names.count(name) > 1])}: named twice.")
    silent = [one.name for one in tried if np.isnan(one.table.values).all()]
    speaking = [one for one in tried if one.name not in silent]
    if len(speaking) < 2:
        raise InputError(
            "At least two prompts or models with scores are needed",
            [f"{shown(name)}: {NO_SCORE}" for name in silent]
            or [f"found {listed(list(map(shown, names))) or 'none'}"],
        )
    facts = {one.name: one.facts for one in tried}
    drawing: dict[str, Any] = {
        "margin": margin,
        "n_resamples": n_resamples,
        "confidence_level": confidence_level,
        "rng": rng,
    }
    merged = merge_tables([one.table for one in speaking]) if with_levels else None
    by_level_panel = None if merged is None else _levels_panel(merged)
    if people is None and by_level_panel is None:
        raise InputError(NOTHING_TO_COMPARE_WITH)
    by_people = (
        None
        if people is None
        else which_judge(only_judges(people, [one.name for one in speaking]), facts, **drawing)
    )
    levels = (
        None if by_level_panel is None else which_judge(by_level_panel, facts, measure="spearman", **drawing)
    )
    monotonic = {}
    if levels is not None and merged is not None:
        found = by_level(merged, n_resamples=n_resamples, confidence_level=confidence_level, rng=rng)
        monotonic = {one.metric: one.monotonic for one in found}
    order = [one.name for one in (by_people or levels).judges]  # type: ignore[union-attr]  # one of them is there
    constants = {
        one.name: always
        for one in speaking
        if (always := constant(one.table.values[~np.isnan(one.table.values)])) is not None
    }
    return PromptsCompared(
        tuple(sorted(tried, key=lambda one: order.index(one.name) if one.name in order else len(order))),
        by_people,
        levels,
        monotonic,
        constants,
        component,
        tuple(notes),
    )


def _levels_panel(merged: ScoreTable) -> Panel | None:
    """The texts with minus the damage level as their only rating; None with fewer than two levels, and for masked texts, whose
    levels are of either system.
    """
    if mask_notes(row.system for row in merged.rows):
        return None
    numbers = [None if row.level is None else level_number(row.level) for row in merged.rows]
    levels = np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)
    if np.unique(levels[~np.isnan(levels)]).size < 2:
        return None
    return Panel(
        tuple(merged.rows),
        items_of(merged.rows),
        np.array([row.system for row in merged.rows], dtype=str),
        ("level",),
        -levels[:, None] + 0.0,
        tuple(metric.name for metric in merged.metrics),
        merged.values,
        name=merged.file_name,
    )


def prompts_table(found: PromptsCompared) -> ResultTable:
    """One row for each prompt with each model, best first."""
    main, both = found.main, found.people is not None and found.levels is not None
    n_tests = sum(one.p is not None for one in main.pairs)
    n_tests_levels = 0 if found.levels is None else sum(one.p is not None for one in found.levels.pairs)
    quality = {"agreement": "Agreement", "spearman": "Spearman"}[main.measure]
    by_model = len({one.model for one in found.tried}) > 1
    by_prompt = not by_model or len({one.prompt for one in found.tried}) > 1
    columns = (
        Column("prompt", "Prompt", names_row=by_prompt, shown=by_prompt),
        Column("model", "Model", names_row=by_model, shown=by_model),
        Column("run", "Run", shown=len({(one.prompt, one.model) for one in found.tried}) < len(found.tried)),
        Column("quality", quality),
        Column("measure", shown=False),
        Column("difference", "Minus the best"),
        Column("p", "p", places=3, p_value=True, shown=n_tests < 2),
        corrected_column(CORRECTION, n_tests),
        Column("levels", "Spearman with level", shown=both),
        Column("levels_difference", "Level: minus the best", shown=both),
        Column("levels_p", "Level: p", places=3, p_value=True, shown=both and n_tests_levels < 2),
        replace(
            (of_levels := corrected_column(CORRECTION, n_tests_levels, of="levels", title="Level")),
            shown=both and of_levels.shown,
        ),
        Column("monotonic", "Never rises", percent=True, shown=found.levels is not None),
        Column("unusable", "Unusable answers", percent=True),
        Column("tokens_per_text", "Tokens per text", places=0),
        Column("tokens_in_per_text", shown=False),
        Column("tokens_out_per_text", shown=False),
        Column("price_per_1000", f"Price per {PER_TEXTS:,}", places=2),
        Column("seconds_per_1000", f"Seconds per {PER_TEXTS:,}", places=1),
        Column("n", "n"),
        Column("n_scored", "Scored", shown=len({_n_scored(one) for one in found.tried}) > 1),
        Column("use", "Use"),
        Column("constant", "Constant", shown=bool(found.constants)),
        *(Column(name, shown=False) for name in ("price_reason", "seconds_reason")),
    )
    return ResultTable(
        PROMPTS_TABLE,
        columns,
        tuple(tuple(_cells(found, one)[column.name] for column in columns) for one in found.tried),
        title="Prompts and models",
        notes=tuple(_notes(found, n_tests, n_tests_levels)),
    )


def _cells(found: PromptsCompared, one: Tried) -> dict[str, Cell]:
    main = found.main
    own, between = _standing(main, one.name)
    of_levels, between_levels = (None, {}) if found.levels is None else _standing(found.levels, one.name)
    always = found.constants.get(one.name)
    cost = one.cost
    tokens_in, tokens_out = (
        None if cost is None else cost.each(name, "text") for name in ("input_tokens", "output_tokens")
    )
    unusable = (
        None if cost is None or not cost.calls else counted_share(wilson_share(cost.unusable, cost.calls))
    )
    return {
        "prompt": one.prompt,
        "model": one.model,
        "run": one.run,
        "quality": _quality(own),
        "measure": main.measure,
        "difference": between.get("difference"),
        "p": between.get("p"),
        "p_holm": between.get("p_holm"),
        "levels": _quality(of_levels),
        "levels_difference": between_levels.get("difference"),
        "levels_p": between_levels.get("p"),
        "levels_p_holm": between_levels.get("p_holm"),
        "monotonic": over_items(found.monotonic.get(one.name))
        if one.name in found.monotonic
        else Interval(None, reason=NO_SCORE),
        "unusable": unusable,
        "tokens_per_text": None if tokens_in is None or tokens_out is None else tokens_in + tokens_out,
        "tokens_in_per_text": tokens_in,
        "tokens_out_per_text": tokens_out,
        "price_per_1000": one.facts.cost,
        "seconds_per_1000": one.facts.seconds,
        "n": None if own is None else own.quality.n,
        "n_scored": _n_scored(one),
        "use": "yes" if one.name == main.use else "",
        "constant": "" if always is None else _constant_said(always),
        "price_reason": None if one.facts.cost is not None else one.facts.cost_reason,
        "seconds_reason": None if one.facts.seconds is not None else one.facts.seconds_reason,
    }


def _n_scored(one: Tried) -> int:
    return int((~np.isnan(one.table.values)).sum())


def _quality(one: JudgeOnOffer | None) -> Interval:
    return Interval(None, reason=NO_SCORE) if one is None else interval(one.quality)


def _constant_said(always: Constant) -> str:
    return "all equal" if not always.n_others else f"{always.share:.0%} equal"


def _standing(choice: Choice, name: str) -> tuple[JudgeOnOffer | None, dict[str, Cell]]:
    """A prompt in one comparison, and its difference from the best there; empty for the best itself."""
    own = next((one for one in choice.judges if one.name == name), None)
    best = choice.judges[0].name
    if own is None or name == best:
        return own, {}
    pair = choice.pair(name, best)
    return own, {"difference": interval(pair.difference), "p": pair.p, "p_holm": pair.p_holm}


def _notes(found: PromptsCompared, n_tests: int, n_tests_levels: int) -> list[str]:
    main = found.main
    component = f" of {found.component}" if found.component else ""
    notes = [
        f"Quality{component}: {found.measured}, on the {main.n:,} texts of {main.n_items:,} items that all of them scored; "
        f"{main.n_left_out:,} left out.",
        f"Intervals: {main.confidence_level:.0%}, over items. p: two-sided, by swapping two prompts item by item.",
        *corrected_note(CORRECTION, n_tests, "every two of them"),
    ]
    if found.people is not None and found.levels is not None:
        levels = found.levels
        notes.append(
            f"Level: Spearman's correlation with minus the damage level, on {levels.n:,} texts of {levels.n_items:,} items; "
            f"{levels.n_left_out:,} left out, tests corrected apart."
        )
    if found.levels is not None:
        notes.append(
            "Never rises: share of items whose scores never rise from a level to the next worse one."
        )
    for what, reason in (("price", "cost_reason"), ("time", "seconds_reason")):
        field = "cost" if what == "price" else "seconds"
        whys: dict[str, list[str]] = {}
        for one in found.tried:
            if getattr(one.facts, field) is None:
                whys.setdefault(getattr(one.facts, reason), []).append(shown(one.name))
        notes += [f"Unknown {what} of {listed(names)}: {why}." for why, names in whys.items()]
    notes.append(
        "Tokens, price and time count every answer of a run once, from the cache or not, as if the run were the only one."
    )
    notes += constants_said((shown(name), one) for name, one in found.constants.items())
    if main.measure == "spearman" and main.n_items < FEW_ITEMS:
        notes.append(
            f"Fewer than {FEW_ITEMS} items: intervals of differences are too narrow. In simulations with 10 items, 84 to 93 % of 95 % "
            "intervals contained the true difference."
        )
    least = n_tests / (1 + N_SWAPS_OF_RANKS)
    if main.measure == "spearman" and least >= ALPHA:
        notes.append(
            f"{n_tests:,} tests with {N_SWAPS_OF_RANKS:,} swaps each: no corrected p can be below {least:.2f}. Compare fewer."
        )
    return [*notes, *left_out_lines(main.left_out), *main.notes, *found.notes]


def prompts_json(found: PromptsCompared) -> dict[str, Any]:
    """The comparison as JSON values."""

    def of(choice: Choice | None, name: str) -> dict[str, Any] | None:
        if choice is None:
            return None
        own, between = _standing(choice, name)
        pair = choice.pair(name, choice.judges[0].name) if between else None
        return {
            "quality": ends(None if own is None else own.quality, NO_SCORE),
            "n": None if own is None else own.quality.n,
            "difference_from_best": None if pair is None else ends(pair.difference),
            "p": None if pair is None else pair.p,
            "p_holm": None if pair is None else pair.p_holm,
        }

    main = found.main
    return {
        "sentences": found.sentences(),
        "use": main.use,
        "settled": main.settled,
        "best": main.judges[0].name,
        "against": "people" if found.people is not None else "levels",
        "measure": main.measure,
        "component": found.component or None,
        "n": main.n,
        "n_items": main.n_items,
        "n_left_out": main.n_left_out,
        "left_out": dict(main.left_out),
        "prompts": [
            {
                "name": one.name,
                "prompt": one.prompt,
                "model": one.model,
                "run": one.run,
                "people": of(found.people, one.name),
                "levels": of(found.levels, one.name),
                "monotonic": ends(found.monotonic.get(one.name), NO_SCORE if found.levels else "no levels"),
                "n_scored": _n_scored(one),
                "calls": None if one.cost is None else one.cost.calls,
                "unusable": None if one.cost is None else one.cost.unusable,
                "input_tokens": None if one.cost is None else one.cost.input_tokens,
                "output_tokens": None if one.cost is None else one.cost.output_tokens,
                "price_per_1000": one.facts.cost,
                "price_reason": None if one.facts.cost is not None else one.facts.cost_reason,
                "seconds_per_1000": one.facts.seconds,
                "seconds_reason": None if one.facts.seconds is not None else one.facts.seconds_reason,
                "constant_share": None
                if one.name not in found.constants
                else found.constants[one.name].share,
            }
            for one in found.tried
        ],
        "comparisons": [
            {
                "against": what,
                "first": pair.first,
                "second": pair.second,
                "difference": ends(pair.difference),
                "p": pair.p,
                "p_holm": pair.p_holm,
                "better": pair.better,
            }
            for what, choice in (("people", found.people), ("levels", found.levels))
            if choice is not None
            for pair in choice.pairs
        ],
        "notes": list(prompts_table(found).notes),
    }
