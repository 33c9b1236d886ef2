"""What run.json, as a run wrote it into its folder, says of how far the run came and what it cost."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from core.datasets.checked_json import checked, number_problem, written
from core.datasets.reading import shown
from core.errors import InputError, Problems
from core.schema.runs import StepCost

MOST_COUNTED = 2**63 - 1
"""Of calls and tokens; the database holds no larger number."""
MOST_PRICE = 1e15
"""For a million tokens, in whatever money."""

_COSTS: TypeAdapter[tuple[StepCost, ...]] = TypeAdapter(tuple[StepCost, ...])
_COUNTS = tuple(field.name for field in fields(StepCost) if field.name not in ("step", "seconds"))


@dataclass(frozen=True)
class RunCosts:
    """What run.json says of how far a run came and what it cost."""

    costs: tuple[StepCost, ...]
    n_items: int
    """That the run works on."""
    n_done: int
    n_failed: int
    n_again: int
    n_found: int
    """Answers that other runs had paid for."""
    input_price: float | None
    """Money for a million tokens; None: not known."""
    output_price: float | None


def costs_of_report(report: Mapping[str, Any], path: Path) -> RunCosts:
    """What the run cost. Raises InputError, naming every field that is missing or cannot be."""
    problems = Problems()
    costs = checked(_COSTS, report.get("costs"), "costs", problems) or ()
    for n, cost in enumerate(costs, start=1):
        problems += [f"costs, {n}, {problem}" for problem in _cost_problems(cost)]
    steps = [cost.step for cost in costs]
    problems += [
        f"costs, {n + 1}, step: a second {shown(step)}" for n, step in enumerate(steps) if step in steps[:n]
    ]
    counts = {name: report.get(name) for name in ("items", "done", "failed", "again")}
    counts["found"] = report.get("found", 0)
    problems += [
        f"{name}: {problem}"
        for name, count in counts.items()
        if (problem := number_problem(count, 0, MOST_COUNTED))
    ]
    prices = report.get("prices", {})
    if not isinstance(prices, dict):
        problems.append(f"prices: is {written(prices)}, expected an object")
        prices = {}
    for name in ("input", "output"):
        if prices.get(name) is not None and (problem := number_problem(prices[name], 0.0, MOST_PRICE)):
            problems.append(f"prices, {name}: {problem}")
    if problems:
        raise InputError(
            f"{path} does not say what the run cost: write it again with `runs write`.", problems
        )
    numbers: dict[str, Any] = counts
    return RunCosts(
        costs,
        n_items=numbers["items"],
        n_done=numbers["done"],
        n_failed=numbers["failed"],
        n_again=numbers["again"],
        n_found=numbers["found"],
        input_price=prices.get("input"),
        output_price=prices.get("output"),
    )


def _cost_problems(cost: StepCost) -> list[str]:
    """Each with its field."""
    given = {name: getattr(cost, name) for name in _COUNTS}
    problems = [
        f"{name}: {problem}"
        for name, count in given.items()
        if count is not None and (problem := number_problem(count, 0, MOST_COUNTED))
    ]
    if problem := number_problem(cost.seconds, 0.0, float(MOST_COUNTED)):
        problems.append(f"seconds: {problem}")
    return problems
