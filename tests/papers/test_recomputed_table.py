"""Table 1 of Meta-Judge from its Tables 4 to 7: what is printed there comes out."""

import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata, spearmanr

from core.errors import InputError
from core.formats.correlations import DATASETS, GENERATORS, SHOTS, published_side, read_table, table_keys
from core.papers.published import RecomputedCell, check_recomputable, recompute_table_1


@pytest.fixture(scope="module")
def cells() -> tuple[RecomputedCell, ...]:
    return recompute_table_1()


def columns_of(cell: RecomputedCell) -> np.ndarray:
    """Shape (2, n): the human and the generator's correlations that both define."""
    human = published_side(f"published:{cell.dataset}").values
    synthetic = published_side(f"published:{cell.dataset}:{cell.generator}:{cell.shots}").values
    pairs = [(human[name]["spearman"], synthetic[name]["spearman"]) for name in human]
    return np.array([pair for pair in pairs if None not in pair], dtype=float).T


def test_all_78_cells_are_within_a_fortieth(cells: tuple[RecomputedCell, ...]) -> None:
    places = [(cell.dataset, cell.generator, cell.shots) for cell in cells]
    assert places == [(d, g, s) for d in DATASETS for g in GENERATORS for s in SHOTS]
    assert len(cells) == 78
    differences = [abs(cell.difference) for cell in cells if cell.difference is not None]
    assert len(differences) == 78
    assert max(differences) < 0.0221  # wmt24-en-is, llama-3.3-70b, zero
    assert sum(difference < 0.0055 for difference in differences) == 67


def test_scipy_computes_the_same_from_the_same_columns(cells: tuple[RecomputedCell, ...]) -> None:
    for cell in cells:
        columns = columns_of(cell)
        assert columns.shape == (2, cell.n)
        assert cell.recomputed == pytest.approx(float(spearmanr(*columns).statistic), abs=1e-12)


def test_published_values_are_those_of_table_1(cells: tuple[RecomputedCell, ...]) -> None:
    rows = {(row["generator"], row["shots"]): row for row in read_table("meta-judge-1").rows}
    assert all(cell.published == rows[cell.generator, cell.shots][cell.dataset] for cell in cells)
    assert {c.published for c in cells if (c.dataset, c.generator) == ("cus-qa-cs", "qwen-3-30b")} == {
        0.871,
        0.956,
    }


def test_only_ukrainian_originals_drop_a_metric(cells: tuple[RecomputedCell, ...]) -> None:
    for cell in cells:
        ukrainian = cell.dataset == "cus-qa-uk"
        assert cell.n == (27 if ukrainian else 28)
        assert list(cell.dropped) == (["rouge-4"] if ukrainian else [])
        assert all("Cyrillic" in reason for reason in cell.dropped.values())


def test_rounding_alone_explains_every_difference(cells: tuple[RecomputedCell, ...]) -> None:
    """Correlations that would be printed as they are give, among them, each cell as it is printed."""
    rng = np.random.default_rng(0)
    for cell in cells:
        printed = columns_of(cell)
        unrounded = printed + rng.uniform(-0.0005, 0.0005, (1000, *printed.shape))
        ranks = rankdata(unrounded, axis=2)
        centred = ranks - ranks.mean(axis=2, keepdims=True)
        products = (centred[:, 0] * centred[:, 1]).sum(axis=1)
        values = products / np.sqrt((centred**2).sum(axis=2).prod(axis=1))
        assert values.min() - 0.0005 <= cell.published <= values.max() + 0.0005, cell


def test_table_3_does_not_follow_from_spearman_correlations(cells: tuple[RecomputedCell, ...]) -> None:
    """Were it Kendall over the same columns, rounding could not move it by a quarter."""
    rows = {(row["generator"], row["shots"]): row for row in read_table("meta-judge-3").rows}
    away = [
        abs(
            float(kendalltau(*columns_of(cell)).statistic)
            - float(rows[cell.generator, cell.shots][cell.dataset] or 0)
        )
        for cell in cells
    ]
    assert max(away) > 0.25


def test_the_other_tables_say_why_they_cannot_be_recomputed() -> None:
    check_recomputable(read_table("meta-judge-1"))
    reasons = []
    for key in table_keys()[1:]:
        with pytest.raises(
            InputError, match=r"cannot be recomputed: .*Table 1 of meta-judge can\."
        ) as caught:
            check_recomputable(read_table(key))
        reasons.append(caught.value.what)
    assert "Kendall at both orders" in reasons[1]
