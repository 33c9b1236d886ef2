"""Prompts compared: several prompts or models on the same texts, against people and known levels, with price and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.errors import InputError
from core.joining.choices import directions, items_of
from core.joining.tables import merge_tables
from core.results.check.choosing import (
    MEASURES,
    Choice,
    which_judge,
    which_said,
)
from core.results.check.facts import UNKNOWN
from core.results.check.verdict import JudgeFacts
from core.results.correlations.levels import compare_levels
from core.results.judges.costs import CostRow
from core.schema.panel import Panel, only_judges
from core.schema.scores import ScoreTable, mask_notes
from core.stats.degeneracy import Constant, constant
from core.stats.resampling import Estimate
from core.tables.columns import level_number
from core.tables.problems import listed
from core.tables.reading import shown

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
class RunsTried:
    """What prompts are compared by."""

    tried: Sequence[Tried]
    people: Panel | None = None
    """Ratings or votes beside the scores of `tried`, whose names are its judges; None: known levels alone."""
    component: str = ""
    """The column that is compared; empty where the judge has only one."""
    notes: Sequence[str] = ()
    with_levels: bool = True
    """False for scores that only mean something within a level, as of answers that were compared with each other."""


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
    items whose scores never rise as damage grows (`compare_levels`) stands beside it. Each of the two comparisons corrects its
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
        found = compare_levels(merged, n_resamples=n_resamples, confidence_level=confidence_level, rng=rng)
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
