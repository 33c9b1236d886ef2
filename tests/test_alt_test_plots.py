"""The figures of the Alt-test draw what the result says."""

from dataclasses import replace

import numpy as np
import pytest

from core.plots.alt_test import closer, winning_by_epsilon
from core.results.alt_test import AltTestOptions, AltTests, alt_tests
from core.results.panel import Panel
from core.schema.scores import ScoredRow

HOSTILE = "<b>x</b>"


@pytest.fixture(scope="module")
def found() -> AltTests:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 60)
    given = np.where(
        rng.random((60, 5)) < (0.2, 0.2, 0.3, 0.1, 1), rng.integers(0, 3, (60, 5)), truth[:, None]
    )
    rows = tuple(ScoredRow(f"q{place}", "output") for place in range(60))
    values = given.astype(float)
    panel = Panel(
        rows,
        np.arange(60),
        np.full(60, "output"),
        ("a", "b", "c"),
        values[:, :3],
        (HOSTILE, "y"),
        values[:, 3:],
    )
    return alt_tests(panel, AltTestOptions(n_resamples=50))


def test_winning_rates_by_epsilon_and_where_a_judge_passes(found: AltTests) -> None:
    figure = winning_by_epsilon(found)
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert [tuple(line.customdata) for line in lines] == [one.sweep.winning_rates for one in found.judges]
    stars = [trace.x[0] for trace in figure.data if trace.mode == "markers"]
    assert stars == [one.sweep.passes_from for one in found.judges if one.sweep.passes_from is not None]
    assert [shape.x0 for shape in figure.layout.shapes][1] == found.options.epsilon
    assert "<b>" not in str(lines[0].name)


def test_shares_of_closer_texts(found: AltTests) -> None:
    figure = closer(found)
    counts = np.array([trace.customdata for trace in figure.data]).T
    wanted = [(one.n_better, one.n_equal, one.n_worse) for judge in found.judges for one in judge.test.raters]
    assert counts.tolist() == [list(each) for each in wanted]
    assert np.array([trace.x for trace in figure.data]).sum(axis=0) == pytest.approx(1)


def test_a_long_name_of_a_judge_leaves_the_rater_in_sight(found: AltTests) -> None:
    long = "a-judge-with-a-version-and-a-rubric-v3"
    judges = tuple(replace(one, judge=long) for one in found.judges)
    names = closer(replace(found, judges=judges)).layout.yaxis.ticktext
    assert [name.split("<br>")[1] for name in names] == ["against a", "against b", "against c"] * 2
    assert all(len(line) <= 24 for name in names for line in name.split("<br>"))
