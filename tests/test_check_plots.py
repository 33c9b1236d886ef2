"""The figure of a check: its rows, intervals and limits are those of the check."""

import numpy as np
import pytest

from core.plots.check import decisive_rule, judges_and_ceiling
from core.results.check.options import CheckOptions, Use
from core.results.check.verdict import check_panel
from core.results.panel import Panel
from core.schema.scores import ScoredRow


def panel(n: int = 60, raters: int = 3, judges: int = 2, systems: int = 3) -> Panel:
    drawn = np.random.default_rng(2)
    good = drawn.integers(0, 2, n).astype(float)
    flips = drawn.random((n, raters + judges)) < 0.12
    seen = np.where(flips, 1 - good[:, None], good[:, None])
    names = [f"s{at % systems}" for at in range(n)]
    return Panel(
        tuple(ScoredRow(f"q{at}", names[at]) for at in range(n)),
        np.arange(n),
        np.array(names),
        tuple(f"r{at}" for at in range(raters)),
        seen[:, :raters],
        tuple(f"judge <{at}>" for at in range(judges)),
        seen[:, raters:],
    )


@pytest.mark.parametrize(
    ("use", "n_limits", "with_ceiling"),
    [("replace", 1, True), ("gate", 1, True), ("rank", 1, False), ("monitor", 2, False)],
)
def test_a_row_a_judge_with_the_limits_of_its_rule(use: Use, n_limits: int, with_ceiling: bool) -> None:
    found = check_panel(panel(), CheckOptions(use=use, n_resamples=200))
    figure = judges_and_ceiling(found)
    assert figure is not None
    traces = {trace.name: trace for trace in figure.data}
    rules = [decisive_rule(one) for one in found.judges]
    assert list(traces["judge"].x) == [rule.found.estimate for rule in rules if rule and rule.found]
    assert ("rater" in traces) is with_ceiling
    if with_ceiling:
        assert found.ceiling.found is not None
        assert traces["rater"].x[0] == found.ceiling.found.estimate
    limits = [x for x in traces["limit"].x if x is not None][::2]
    assert len(limits) == n_limits * len(found.judges)
    if use == "monitor":
        assert set(limits) == {-0.05, 0.05}
    else:
        assert limits == [rule.limit for rule in rules if rule]
    low, high = figure.layout.xaxis.range
    assert low < min(limits) <= max(limits) < high
    assert all("<0>" not in str(name) for name in figure.layout.yaxis.ticktext)


def test_no_figure_without_the_number_that_decides() -> None:
    found = check_panel(panel(raters=1), CheckOptions(use="replace", n_resamples=200))
    assert judges_and_ceiling(found) is None


def test_a_supposed_ceiling_has_no_row() -> None:
    found = check_panel(panel(raters=1, judges=1), CheckOptions(use="gate", n_resamples=200))
    figure = judges_and_ceiling(found)
    assert figure is not None
    assert [trace.name for trace in figure.data] == ["judge", "limit"]
