"""The figure of a check: its rows, intervals and limits are those of the check."""

from typing import Any

import numpy as np
import pytest

from core.plots.check import judges_and_ceiling
from core.results.check.verdict import Check, check_panel
from core.schema.panel import Panel
from core.schema.scores import ScoredRow
from core.schema.uses import CheckOptions, Use
from core.stats.in_place import ClassErrors


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


def traces(found: Check) -> dict[str, Any]:
    figure = judges_and_ceiling(found)
    assert figure is not None
    return {trace.name: trace for trace in figure.data}


def test_each_rule_of_one_judge_has_its_number_beside_peoples_with_the_limit() -> None:
    found = check_panel(panel(judges=1), CheckOptions(use="gate"))
    (one,) = found.judges
    drawn = traces(found)
    errors = [rule.behind for rule in one.rules if isinstance(rule.behind, ClassErrors)]
    assert list(drawn["judge"].x) == [error.judge.estimate for error in errors]
    assert list(drawn["people"].x) == [error.people.estimate for error in errors]
    limits = [x for x in drawn["limit"].x if x is not None][::2]
    assert limits == pytest.approx([error.people.estimate + 0.1 for error in errors])


@pytest.mark.parametrize(("use", "n_limits"), [("replace", 1), ("gate", 1), ("rank", 1), ("monitor", 2)])
def test_several_judges_have_a_row_each_with_the_limits_of_its_rule(use: Use, n_limits: int) -> None:
    found = check_panel(panel(), CheckOptions(use=use, n_resamples=200))
    figure = judges_and_ceiling(found)
    assert figure is not None
    drawn = traces(found)
    assert len(drawn["judge"].x) == len(found.judges)
    assert ("people" in drawn) is (use in {"replace", "gate"})
    limits = [x for x in drawn["limit"].x if x is not None][::2]
    assert len(limits) == n_limits * len(found.judges)
    if use == "monitor":
        assert set(limits) == {-0.05, 0.05}
    low, high = figure.layout.xaxis.range
    assert low < min(limits) <= max(limits) < high
    assert all("<0>" not in str(name) for name in figure.layout.yaxis.ticktext)


def test_each_system_of_a_certificate_has_a_row_with_the_target() -> None:
    found = check_panel(panel(judges=1), CheckOptions(use="certify", target=0.7))
    (one,) = found.judges
    drawn = traces(found)
    assert list(drawn["judge"].x) == [system.estimate.estimate for system in one.systems]
    assert [x for x in drawn["limit"].x if x is not None][::2] == [0.7] * len(one.systems)


def test_no_figure_without_the_numbers_that_decide() -> None:
    found = check_panel(panel(raters=1), CheckOptions(use="replace"))
    assert judges_and_ceiling(found) is None
