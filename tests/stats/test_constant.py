"""A judge that says the same of nearly everything is found by its most frequent score."""

import numpy as np
import pytest

from core.stats.degeneracy import Constant, constant


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([1.0] * 36, Constant(1, 1, 36, 0), id="all"),
        pytest.param([2.0] * 19 + [5.0], Constant(2, 0.95, 20, 1), id="exactly 95 %"),
        pytest.param([2.0] * 18 + [5.0], None, id="18 of 19 are fewer"),
        pytest.param([2.0] * 94 + [5.0] * 6, None, id="94 %"),
        pytest.param(
            [[0.0, np.nan], [np.nan, 0.0]], Constant(0, 1, 2, 0), id="what is missing does not count"
        ),
        pytest.param([0.1 + 0.2, 0.3, 0.3], Constant(0.3, 1, 3, 0), id="rounding"),
        pytest.param([1.0], None, id="one score says nothing"),
        pytest.param([np.nan, np.nan], None, id="none"),
        pytest.param([], None, id="empty"),
    ],
)
def test_the_most_frequent_score_decides(values: list[float], expected: Constant | None) -> None:
    found = constant(values)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert (found.value, found.share, found.n, found.n_others) == pytest.approx(
            (expected.value, expected.share, expected.n, expected.n_others)
        )


def test_the_verdict_comes_first() -> None:
    found = constant([1.0] * 36)
    assert found is not None
    assert found.said("bot") == "bot is constant: all 36 texts score 1. It cannot rank them."
    nearly = constant([2.5] * 39 + [5.0])
    assert nearly is not None
    assert nearly.said("bot", "verdicts").startswith(
        "bot is nearly constant: 39 of 40 verdicts (97.5%) score 2.5."
    )
