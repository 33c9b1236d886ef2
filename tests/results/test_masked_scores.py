"""Scores of masked texts: nothing is grouped by a mask, whatever door they come through."""

import numpy as np
import pytest

from core.errors import InputError
from core.formats.registry import read_scores
from core.formats.scores import write_scores_csv
from core.joining.choices import names_of, rows_by
from core.joining.panel import panel_of
from core.results.check.verdict import check_panel
from core.results.correlations.levels import compare_levels
from core.results.judges.agreement import agreement
from core.schema.scores import (
    MASK_NOTE,
    MASKED,
    Metric,
    Rating,
    RatingSet,
    ScoredRow,
    ScoreTable,
    mask_named,
)
from core.schema.uses import CheckOptions

LEVELS = ("A0", "A1", "A2")
ROWS = tuple(
    ScoredRow(f"q{item}", mask_named(place, "0123abcd"), level)
    for item in range(8)
    for level in LEVELS
    for place in (1, 2)
)
VALUES = np.random.default_rng(1).random((len(ROWS), 2))
TABLE = ScoreTable(ROWS, (Metric("one", "", "Pairwise"), Metric("two", "", "Pairwise")), VALUES)


def test_all_masks_are_one_group() -> None:
    assert set(names_of(ROWS, "system")) == {MASKED}
    assert list(rows_by(ROWS, ["system", "level"])) == [(MASKED, level) for level in LEVELS]
    assert names_of((ScoredRow("q", "real"),), "system").tolist() == ["real"]


def test_a_panel_of_masked_texts_ranks_no_systems() -> None:
    ratings = RatingSet(
        tuple(Rating(row.item_id, float(n % 3), row.system, row.level, "ann") for n, row in enumerate(ROWS)),
        "",
        "labels.csv",
    )
    panel = panel_of(ratings, [TABLE])
    assert set(panel.systems) == {MASKED}
    with pytest.raises(InputError, match="The check cannot be made") as refused:
        check_panel(panel, CheckOptions(use="rank"))
    assert [one.partition(":")[0] for one in refused.value.problems] == ["use"]


def test_levels_of_a_mask_are_not_a_systems_levels() -> None:
    with pytest.raises(InputError, match="masked texts hide"):
        compare_levels(TABLE)


def test_two_judges_agree_on_no_system() -> None:
    found = agreement(TABLE, "one", TABLE, "two", n_resamples=100)
    assert [one.estimate for one in found.per_system.values()] == [None] * 3


def test_a_file_of_masked_scores_says_so() -> None:
    table = read_scores(write_scores_csv(TABLE, "long"), "scores.csv")
    assert table.rows == ROWS
    assert MASK_NOTE in table.notes
