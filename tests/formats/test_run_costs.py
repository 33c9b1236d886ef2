"""What run.json says that a run cost: read strictly, and every field that cannot be is named."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.results.judges.costs import costs_of_report
from core.schema.runs import StepCost

COST = StepCost("rubric", 8, 1, 2, 100, None, 0.5)
REPORT: dict[str, Any] = {
    "items": 4,
    "done": 2,
    "failed": 1,
    "again": 1,
    "costs": [asdict(COST)],
    "prices": {"input": 1, "output": None},
}


def test_costs_come_back_as_they_were() -> None:
    found = costs_of_report(REPORT, Path("run.json"), "rubric", 7)
    assert (found.name, found.costs) == ("rubric", (COST,))
    assert (found.n_wanted, found.n_items, found.n_texts, found.n_found) == (4, 2 + 1, 7, 0)
    assert (found.input_price, found.output_price) == (1, None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"done": -1}, "done: is -1, which is not between 0"),
        ({"failed": True}, "failed: is true, expected a whole number"),
        ({"again": float("inf")}, "again: is inf, expected a whole number"),
        ({"items": None}, "items: is null, expected a whole number"),
        ({"found": 2**63}, f"found: is {2**63}, which is not between 0"),
        ({"costs": None}, "costs: is null"),
        ({"costs": [asdict(COST) | {"input_tokens": -1}]}, "costs, 1, input_tokens: is -1"),
        ({"costs": [asdict(COST) | {"output_tokens": 2**63}]}, f"costs, 1, output_tokens: is {2**63}"),
        ({"costs": [asdict(COST) | {"calls": True}]}, "costs, 1, calls: is true"),
        ({"costs": [asdict(COST) | {"seconds": -0.5}]}, "costs, 1, seconds: is -0.5"),
        ({"costs": [asdict(COST)] * 2}, "costs, 2, step: a second rubric"),
        ({"prices": {"input": -1.0}}, "prices, input: is -1.0"),
        ({"prices": {"output": True}}, "prices, output: is true, expected a number"),
        ({"prices": {"output": 1e300}}, "prices, output: is 1e+300"),
        ({"prices": []}, "prices: is a list, expected an object"),
    ],
)
def test_what_cannot_be_is_named(changes: Any, said: str) -> None:
    with pytest.raises(InputError, match="contains no valid costs") as refused:
        costs_of_report(REPORT | changes, Path("run.json"), "rubric", 7)
    (problem,) = refused.value.problems
    assert said in problem
