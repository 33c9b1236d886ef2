"""Prompts compared: planted differences are found, equal prompts are not told apart, and every number has an oracle."""

from collections.abc import Sequence

import numpy as np
import pytest
from helpers.texts.score_factories import metric, ratings, table
from scipy.stats import spearmanr

from core.analyses.prompts import ANALYSIS, PromptsOptions
from core.errors import InputError
from core.joining.panel import panel_of
from core.report import flat_rows
from core.results.check.verdict import JudgeFacts
from core.results.judges.prompts import (
    FEW_ITEMS,
    PromptsCompared,
    RunsTried,
    Tried,
    compare_prompts,
    one_column,
)
from core.schema.analysis import Answer
from core.schema.scores import Rating, ScoredRow
from core.stats.multiplicity import corrected
from scripts.simulations import cell_measures, read
from scripts.simulations.prompts import GRID

LEVELS = 5


def scores(noise: float, seed: int, n_items: int = 40) -> np.ndarray:
    draw = np.random.default_rng(seed)
    quality = np.tile(5.0 - np.arange(LEVELS), n_items)
    return np.clip(np.round(quality + draw.normal(0, noise, quality.size)), 1, 5)


def scored(name: str, values: Sequence[float] | np.ndarray, **fields: object) -> Tried:
    rows = [
        (ScoredRow(f"i{at // LEVELS}", "s", f"A{at % LEVELS}"), None if np.isnan(value) else float(value))
        for at, value in enumerate(values)
    ]
    return Tried(name, name, "m", one_column(table(rows, ["judge"]), "judge", name), **fields)  # type: ignore[arg-type]


def answered(*tried: Tried, **fields: object) -> Answer:
    return ANALYSIS.answer(PromptsOptions(n_resamples=200), RunsTried(tried, **fields))  # type: ignore[arg-type]


def compared(*tried: Tried, **fields: object) -> PromptsCompared:
    found: PromptsCompared = answered(*tried, **fields).result.of
    return found


def test_quality_is_spearman_with_minus_the_level_and_p_is_holms_of_every_two() -> None:
    own = {name: scores(noise, seed) for seed, (name, noise) in enumerate([("a", 0.5), ("b", 2), ("c", 2)])}
    answer = answered(*(scored(name, values) for name, values in own.items()))
    found, table_rows = answer.result.of, flat_rows(answer.tables["prompts"])
    levels = np.tile(np.arange(LEVELS), 40)
    rows = {row["prompt"]: row for row in table_rows}
    for name, values in own.items():
        assert rows[name]["quality"] == pytest.approx(spearmanr(values, -levels).statistic)
        by_item = values.reshape(-1, LEVELS)
        assert rows[name]["monotonic"] == np.mean((np.diff(by_item) <= 0).all(axis=1))
        assert rows[name]["n"] == 200
    assert table_rows[0]["prompt"] == "a"
    assert found.levels is not None
    ps = [pair.p for pair in found.levels.pairs]
    assert [pair.p_holm for pair in found.levels.pairs] == corrected(ps, "holm")
    for name in ("b", "c"):
        assert rows[name]["difference"] == pytest.approx(rows[name]["quality"] - rows["a"]["quality"])
        assert rows[name]["p_holm"] < 0.05


def test_only_texts_that_all_scored_count_and_the_rest_is_counted() -> None:
    first, second = scores(0.5, 1), scores(0.5, 2)
    second[:7] = np.nan
    answer = answered(scored("a", first), scored("b", second))
    found = answer.result.of
    assert (found.main.n, found.main.n_left_out) == (193, 7)
    assert found.main.left_out == {"no score by b": 7}
    assert {row["n"] for row in flat_rows(answer.tables["prompts"])} == {193}
    assert [one["n_scored"] for one in answer.json["prompts"]] == [
        200 if one.name == "a" else 193 for one in found.tried
    ]


def test_constant_and_silent_prompts_are_undefined_with_reasons_and_never_used() -> None:
    stuck, silent = np.full(200, 3.0), np.full(200, np.nan)
    answer = answered(scored("a", scores(1, 1)), scored("stuck", stuck), scored("silent", silent))
    found = answer.result.of
    assert [one.name for one in found.tried] == ["a", "stuck", "silent"]
    assert found.main.use == "a"
    rows = {one["name"]: one for one in answer.json["prompts"]}
    assert rows["stuck"]["constant_share"] == 1
    for name in ("stuck", "silent"):
        assert rows[name]["levels"]["quality"]["estimate"] is None
        assert rows[name]["levels"]["quality"]["reason"]


def test_nearly_constant_is_marked() -> None:
    nearly = np.full(200, 3.0)
    nearly[:6] = 5
    answer = answered(scored("a", scores(1, 1)), scored("nearly", nearly))
    assert answer.result.of.constants["nearly"].share == 0.97
    (row,) = [row for row in flat_rows(answer.tables["prompts"]) if row["prompt"] == "nearly"]
    assert row["constant"] == "97% equal"


def test_lower_is_better_is_turned() -> None:
    rows = [(ScoredRow(f"i{at // 5}", "s", f"A{at % 5}"), float(at % 5)) for at in range(50)]
    errors = one_column(table(rows, [metric("judge", direction="lower")]), "judge", "errors")
    found = compared(Tried("errors", "errors", "m", errors), scored("b", scores(2, 1, 10)))
    assert found.main.judge("errors").quality.estimate == 1


def people(n_items: int = 40) -> list[Rating]:
    draw = np.random.default_rng(9)
    quality = scores(0, 0, n_items)
    return [
        Rating(f"i{at // LEVELS}", float(value + draw.normal(0, 0.5)), "s", f"A{at % LEVELS}", rater, "q")
        for rater in ("ann", "bob")
        for at, value in enumerate(quality)
    ]


def test_people_decide_where_there_are_any_and_levels_stand_beside() -> None:
    tried = [scored("a", scores(0.5, 1)), scored("b", scores(3, 2))]
    panel = panel_of(ratings(*people()), [one.table for one in tried], judges=["a", "b"])
    answer = answered(*tried, people=panel)
    found = answer.result.of
    assert found.people is not None
    assert found.levels is not None
    assert found.main is found.people
    mean = np.array([one.score for one in people()]).reshape(2, -1).mean(axis=0)
    assert found.people.judge("a").quality.estimate == pytest.approx(
        spearmanr(tried[0].table.values[:, 0], mean).statistic
    )
    heads = [column.name for column in answer.tables["prompts"].columns if column.shown]
    assert {"quality", "levels", "levels_difference", "monotonic"} <= set(heads)
    assert {one["against"] for one in answer.json["comparisons"]} == {"people", "levels"}


def test_without_levels_and_people_there_is_nothing_to_compare_with() -> None:
    def plain(name: str) -> Tried:
        rows = [(ScoredRow(f"i{at}", "s"), float(at % 5)) for at in range(20)]
        return Tried(name, name, "m", one_column(table(rows, ["judge"]), "judge", name))

    with pytest.raises(InputError, match="levels"):
        compared(plain("a"), plain("b"))


@pytest.mark.parametrize("tried", [["a"], ["a", "a"]])
def test_fewer_than_two_and_one_twice_are_refused(tried: list[str]) -> None:
    with pytest.raises(InputError):
        compared(*(scored(name, scores(1, 1)) for name in tried))


def test_the_cheaper_of_two_that_are_as_good_is_used() -> None:
    same = scores(1, 1)
    dear, cheap = JudgeFacts(cost=3.0, seconds=1.0), JudgeFacts(cost=1.0, seconds=1.0)
    found = compared(scored("dear", same, facts=dear), scored("cheap", same, facts=cheap))
    assert found.main.use == "cheap"
    assert "33 %" in " ".join(found.sentences()) or "3 times" in " ".join(found.sentences())


def test_few_items_are_said() -> None:
    def noted(n_items: int) -> bool:
        tried = [scored(name, scores(1, seed, n_items)) for seed, name in enumerate("ab")]
        return any("too narrow" in note for note in answered(*tried).json["notes"])

    assert (noted(FEW_ITEMS - 1), noted(FEW_ITEMS)) == (True, False)


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "about"), [((2, 10, "equal"), 60), ((2, 40, "much better"), 40)])
def test_the_stored_simulation_is_what_a_few_cells_give_again(cell: tuple[object, ...], about: int) -> None:
    stored = read(GRID)[cell]
    again = cell_measures(GRID, cell, about)
    for name in ("any_false", "covered"):
        assert again[name] == pytest.approx(stored[name], abs=0.12), name
    assert again["any_false"] is not None
    assert again["any_false"] <= 0.12


@pytest.mark.slow
def test_a_better_prompt_is_found_and_equal_ones_are_not_told_apart() -> None:
    """40 items at five levels: noise of 0.7 against 2 is found in 30 of 30; of 100 equal pairs at most 10 are told apart."""

    def better(noises: tuple[float, float], seed: int) -> str | None:
        tried = [
            scored(name, scores(noise, 2 * seed + at))
            for at, (name, noise) in enumerate(zip("ab", noises, strict=True))
        ]
        (pair,) = compare_prompts(tried, n_resamples=20, rng=seed).main.pairs
        return pair.better

    assert sum(better((0.7, 2.0), seed) == "a" for seed in range(30)) >= 29
    assert sum(better((1.0, 1.0), 1_000 + seed) is not None for seed in range(100)) <= 10
