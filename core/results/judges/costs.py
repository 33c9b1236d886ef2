"""Compare judges' costs: calls, tokens and money by step and per text, from runs or from folders written by runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from core.errors import InputError, Problems
from core.schema.runs import StepCost
from core.tables.reading import checked, number_problem, shown, written

MOST_COUNTED = 2**63 - 1
"""Largest number of calls or tokens: the database cannot store a larger one."""
MOST_PRICE = 1e15
"""Largest price of a million tokens, in any currency."""

_COSTS: TypeAdapter[tuple[StepCost, ...]] = TypeAdapter(tuple[StepCost, ...])
_COUNTS = tuple(field.name for field in fields(StepCost) if field.name not in ("step", "seconds"))


@dataclass(frozen=True)
class JudgeCost:
    """The recorded cost of one judge's run."""

    name: str
    costs: tuple[StepCost, ...]
    """Costs of the run's steps, in order; empty: no model was asked."""
    n_items: int
    """Finished items: done or finally failed."""
    n_texts: int
    """Texts of the items processed so far, scored or left out."""
    input_price: float | None = None
    """Price of a million input tokens; None: unknown."""
    output_price: float | None = None
    n_wanted: int | None = None
    """Items requested of the run; None: as many as are finished."""
    n_found: int = 0
    """Cached answers that other runs requested and paid for, without those shared by its own items."""


def costs_of_report(report: Mapping[str, Any], path: Path, name: str, n_texts: int) -> JudgeCost:
    """Read a run's cost from run.json. Raises InputError naming every missing or invalid field."""
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
    for of in ("input", "output"):
        if prices.get(of) is not None and (problem := number_problem(prices[of], 0.0, MOST_PRICE)):
            problems.append(f"prices, {of}: {problem}")
    if problems:
        raise InputError(f"{path} contains no valid costs. Write it again with `runs write`.", problems)
    done: dict[str, Any] = counts
    return JudgeCost(
        name,
        costs,
        done["done"] + done["failed"],
        n_texts,
        prices.get("input"),
        prices.get("output"),
        n_wanted=done["items"],
        n_found=done["found"],
    )


def _cost_problems(cost: StepCost) -> list[str]:
    """Problems, each with its field."""
    given = {name: getattr(cost, name) for name in _COUNTS}
    problems = [
        f"{name}: {problem}"
        for name, count in given.items()
        if count is not None and (problem := number_problem(count, 0, MOST_COUNTED))
    ]
    if problem := number_problem(cost.seconds, 0.0, float(MOST_COUNTED)):
        problems.append(f"seconds: {problem}")
    return problems


ALL_STEPS = "all steps"
NO_COUNT = "the server counts no tokens"
NO_PRICE = "no price is given"
NO_INPUT_PRICE, NO_OUTPUT_PRICE = "no input price is given", "no output price is given"
NO_CALL = "no calls: every answer came from the cache"
NO_MODEL = "no model used"
NOT_FINISHED = "the run is not finished: some calls were for items without a result yet"


Unit = Literal["item", "text"]
UNITS: tuple[Unit, ...] = ("item", "text")
EACH = ("calls", "input_tokens", "output_tokens", "money")
"""Fields that are also reported per item or text."""


@dataclass(frozen=True)
class CostRow:
    """One step of one judge, or all its steps. Calls answered from the cache cost nothing and are counted separately."""

    judge: str
    step: str
    """Name of the step; `all steps` in the judge's last row."""
    calls: int
    cached: int
    unusable: int
    """Calls without a usable answer: missing, cut off, refused or unreadable. They are paid for, too."""
    input_tokens: int | None
    output_tokens: int | None
    input_share: float | None
    """Share of the judge's input tokens, 0 to 1, as in CEF's Table 9, where answering takes .895."""
    money: float | None
    seconds: float
    """Summed over calls, although calls ran in parallel."""
    n_items: int
    """Finished."""
    n_texts: int
    n_wanted: int
    """Items requested of the run."""
    n_found: int
    """Answers of all steps that other runs paid for, the same in every row."""
    reasons: tuple[tuple[str, str], ...] = ()
    """(field, reason for None): input_tokens, output_tokens, input_share, money."""

    @property
    def is_finished(self) -> bool:
        """Whether every call was for a finished item, so that costs per item or text are meaningful."""
        return self.n_items >= self.n_wanted

    def each(self, field: str, unit: Unit) -> float | None:
        """Calls, tokens or money per item or text; None if there are none, or if the run is not finished."""
        total, n = getattr(self, field), self.n_items if unit == "item" else self.n_texts
        return None if total is None or not n or not self.is_finished else total / n

    def why(self, field: str) -> str | None:
        """Reason why a field, or its value per item or text, is None; None if it is not."""
        base = field.removesuffix("_per_item").removesuffix("_per_text")
        if base != field and not self.is_finished:
            return NOT_FINISHED
        if field.endswith("_per_item") and not self.n_items:
            return "no item was processed"
        if field.endswith("_per_text") and not self.n_texts:
            return "no text was processed"
        return dict(self.reasons).get(base)


def costs_side_by_side(entries: Sequence[JudgeCost]) -> tuple[CostRow, ...]:
    """One row for each step and one for all steps, judge after judge in the order given.

    Money is (input tokens * input price + output tokens * output price) / 1e6. None is not 0: it has a reason. A step
    answered entirely from the cache has 0 tokens. An unfinished run has paid for items without a result yet: it has sums,
    but no costs per item or text.

    Misleads if a run used cached answers that another run paid for (`n_found`, see cost_notes): compare judges by runs
    that used none. Equal requests for the texts of one item (claims of one reference, questions from one input text) are
    sent only once in a run, so a text costs less the more texts its item has.
    """
    return tuple(row for entry in entries for row in _judge_rows(entry))


def cost_notes(rows: Sequence[CostRow]) -> tuple[str, ...]:
    """Notes on unfinished judges and on answers that other runs paid for."""
    notes = []
    for row in rows:
        if row.step != ALL_STEPS:
            continue
        if not row.is_finished:
            notes.append(
                f"{row.judge}: {row.n_items:,} of {row.n_wanted:,} items are finished. Costs per item or text are shown "
                "when all are"
            )
        if row.n_found:
            notes.append(
                f"{row.judge}: {row.n_found:,} answers came from the cache, paid for by other runs. Their cost is not "
                "included. To compare judges, use runs without cached answers"
            )
    return tuple(notes)


def _judge_rows(entry: JudgeCost) -> list[CostRow]:
    whole_in, whole_out = (_total(entry.costs, field) for field in ("input_tokens", "output_tokens"))
    rows = []
    for cost in entry.costs:
        own_in, own_out = (_total((cost,), field) for field in ("input_tokens", "output_tokens"))
        rows.append(_row(entry, cost.step, (cost,), own_in, own_out, whole_in))
    return [*rows, _row(entry, ALL_STEPS, entry.costs, whole_in, whole_out, whole_in)]


def _row(
    entry: JudgeCost,
    step: str,
    costs: Sequence[StepCost],
    tokens_in: int | None,
    tokens_out: int | None,
    whole_in: int | None,
) -> CostRow:
    reasons = [
        (field, NO_COUNT)
        for field, tokens in (("input_tokens", tokens_in), ("output_tokens", tokens_out))
        if tokens is None
    ]
    share = tokens_in / whole_in if tokens_in is not None and whole_in else None
    if share is None:
        nothing = NO_CALL if entry.costs else NO_MODEL
        reasons.append(("input_share", NO_COUNT if whole_in is None else nothing))
    money = None
    if tokens_in is None or tokens_out is None:
        reasons.append(("money", NO_COUNT))
    elif entry.input_price is None or entry.output_price is None:
        reasons.append(("money", _no_price(entry) if entry.costs else NO_MODEL))
    else:
        money = (tokens_in * entry.input_price + tokens_out * entry.output_price) / 1e6
    return CostRow(
        judge=entry.name,
        step=step,
        calls=sum(cost.calls for cost in costs),
        cached=sum(cost.cached for cost in costs),
        unusable=sum(cost.unusable for cost in costs),
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        input_share=share,
        money=money,
        seconds=sum(cost.seconds for cost in costs),
        n_items=entry.n_items,
        n_texts=entry.n_texts,
        n_wanted=entry.n_items if entry.n_wanted is None else entry.n_wanted,
        n_found=entry.n_found,
        reasons=tuple(reasons),
    )


def _no_price(entry: JudgeCost) -> str:
    if entry.input_price is None and entry.output_price is None:
        return NO_PRICE
    return NO_INPUT_PRICE if entry.input_price is None else NO_OUTPUT_PRICE


def _total(costs: Sequence[StepCost], field: str) -> int | None:
    """Tokens of all calls; None if any step's were not counted; 0 without calls."""
    counts = [getattr(cost, field) if cost.calls else 0 for cost in costs]
    return None if None in counts else sum(counts)
