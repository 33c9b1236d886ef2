"""What judges cost, side by side: calls, tokens and money by step, and for one text; of runs and of folders that runs wrote."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from core.errors import InputError, Problems
from core.results.cells import row_of
from core.schema.result_table import Column, ResultTable
from core.schema.runs import StepCost
from core.tables.reading import checked, number_problem, shown, written

MOST_COUNTED = 2**63 - 1
"""Of calls and tokens; the database holds no larger number."""
MOST_PRICE = 1e15
"""For a million tokens, in whatever money."""

_COSTS: TypeAdapter[tuple[StepCost, ...]] = TypeAdapter(tuple[StepCost, ...])
_COUNTS = tuple(field.name for field in fields(StepCost) if field.name not in ("step", "seconds"))


@dataclass(frozen=True)
class JudgeCost:
    """What one judge's run cost, as the account has it."""

    name: str
    costs: tuple[StepCost, ...]
    """Of its steps, in the order in which they came; empty: no model was asked."""
    n_items: int
    """Items that are finished: done, or failed for good."""
    n_texts: int
    """Texts of the items that the run has come to, scored or left out."""
    input_price: float | None = None
    """Money for a million input tokens; None: not known."""
    output_price: float | None = None
    n_wanted: int | None = None
    """Items that the run was asked for; None: as many as are finished."""
    n_found: int = 0
    """Answers found in the cache that other runs had asked for, and paid; not what its own items share."""


def costs_of_report(report: Mapping[str, Any], path: Path, name: str, n_texts: int) -> JudgeCost:
    """What run.json says that the run cost. Raises InputError, naming every field that is missing or cannot be."""
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
        raise InputError(
            f"{path} does not say what the run cost: write it again with `runs write`.", problems
        )
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


ALL_STEPS = "all steps"
NO_COUNT = "the server counts no tokens"
NO_PRICE = "no price is given"
NO_INPUT_PRICE, NO_OUTPUT_PRICE = "no input price is given", "no output price is given"
NO_CALL = "nothing was asked: every answer came from the cache"
NO_MODEL = "no model is asked"
NOT_FINISHED = "the run is not finished: some of its calls were for items that have no result yet"


Unit = Literal["item", "text"]
UNITS: tuple[Unit, ...] = ("item", "text")
EACH = ("calls", "input_tokens", "output_tokens", "money")
"""What is told for one item or text."""


@dataclass(frozen=True)
class CostRow:
    """One step of one judge, or all of its steps. Calls answered from the cache cost nothing and are counted apart."""

    judge: str
    step: str
    """`all steps` in the judge's last row."""
    calls: int
    cached: int
    unusable: int
    """Calls without a usable answer: none came, it was cut off or refused, or its reader rejected it. They are paid, too."""
    input_tokens: int | None
    output_tokens: int | None
    input_share: float | None
    """Of the judge's input tokens, 0 to 1, as 001's Table 9 can be read: there the answers take .895."""
    money: float | None
    seconds: float
    """Summed over calls, which ran side by side."""
    n_items: int
    """Finished."""
    n_texts: int
    n_wanted: int
    """Items that the run was asked for."""
    n_found: int
    """Of all steps, whatever the row: answers that other runs had paid for."""
    reasons: tuple[tuple[str, str], ...] = ()
    """(field, why it is None): input_tokens, output_tokens, input_share, money."""

    @property
    def is_finished(self) -> bool:
        """Whether every call was for a finished item, so that the sums can be divided by items or texts."""
        return self.n_items >= self.n_wanted

    def each(self, field: str, unit: Unit) -> float | None:
        """Calls, tokens or money for one item or text; None without these, or where the run is not finished."""
        total, n = getattr(self, field), self.n_items if unit == "item" else self.n_texts
        return None if total is None or not n or not self.is_finished else total / n

    def why(self, field: str) -> str | None:
        """Why a field, or what is told from it for one item or text, is None; None where it is not."""
        base = field.removesuffix("_per_item").removesuffix("_per_text")
        if base != field and not self.is_finished:
            return NOT_FINISHED
        if field.endswith("_per_item") and not self.n_items:
            return "no item was worked on"
        if field.endswith("_per_text") and not self.n_texts:
            return "no text was worked on"
        return dict(self.reasons).get(base)


def costs_side_by_side(entries: Sequence[JudgeCost]) -> tuple[CostRow, ...]:
    """A row a step and one for all steps, judge after judge in the order given.

    Money is (input tokens * input price + output tokens * output price) / 1e6. None is never 0: it has a reason. A
    step whose every answer came from the cache has 0 tokens, as nothing was bought. A run that is not finished has paid
    for items that have no result yet: its sums stand, what one item or text costs is not told from them.

    Misleads where a run found answers in the cache that another run had paid for (`n_found`, see cost_notes): compare
    judges by runs that found none. Equal requests for the texts of one item (the claims of one reference, the questions
    from one source) are asked once in any run, so a text costs less the more texts its item has.
    """
    return tuple(row for entry in entries for row in _of_judge(entry))


def cost_notes(rows: Sequence[CostRow]) -> tuple[str, ...]:
    """What has to be known to read the rows: judges that are not finished, and those that others paid for."""
    notes = []
    for row in rows:
        if row.step != ALL_STEPS:
            continue
        if not row.is_finished:
            notes.append(
                f"{row.judge}: {row.n_items:,} of {row.n_wanted:,} items are finished; what one item or text costs is "
                "not told before all are"
            )
        if row.n_found:
            notes.append(
                f"{row.judge}: {row.n_found:,} answers were in the cache, paid for by other runs; its figures leave out "
                "what they cost. Compare runs that found nothing in the cache"
            )
    return tuple(notes)


def _of_judge(entry: JudgeCost) -> list[CostRow]:
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
    """Tokens of all calls; None where one step's were not counted. Without calls there is nothing to count."""
    counts = [getattr(cost, field) if cost.calls else 0 for cost in costs]
    return None if None in counts else sum(counts)


_NAMES = {"calls": "Calls", "input_tokens": "Tokens in", "output_tokens": "Tokens out", "money": "Money"}


def cost_table(rows: Sequence[CostRow], units: Collection[Unit | Literal["all"]]) -> ResultTable:
    """A row a judge and step, and one for all of its steps. units: what readers see costs of; files have all."""
    whole = "all" in units
    columns = [
        Column("judge", "Judge", names_row=True),
        Column("step", "Step", names_row=True),
        Column("calls", "Calls", shown=whole),
        Column("cached", "From the cache"),
        Column("unusable", "Not usable"),
        Column("input_tokens", "Tokens in", shown=whole),
        Column("output_tokens", "Tokens out", shown=whole),
        Column("input_share", "Share of input", percent=True),
        Column("money", "Money", places=6, shown=whole),
    ]
    for unit in UNITS:
        for name, title in _NAMES.items():
            places = 6 if name == "money" else 1
            columns.append(Column(f"{name}_per_{unit}", f"{title} for one {unit}", places, unit in units))
    of_run = ("seconds", "n_items", "n_texts", "n_wanted", "n_found", "reasons")
    columns += [Column(name, shown=False) for name in of_run]
    whys: dict[str, dict[str, None]] = {}
    for row in rows:
        for column in columns:
            if column.shown and (why := row.why(column.name)):
                whys.setdefault(why, {})[column.heading] = None
    return ResultTable(
        "judge-costs",
        tuple(columns),
        tuple(
            row_of(
                row,
                columns,
                reasons="; ".join(f"{field}: {why}" for field, why in row.reasons),
                **{f"{name}_per_{unit}": row.each(name, unit) for unit in UNITS for name in EACH},
            )
            for row in rows
        ),
        notes=(
            *(f"{', '.join(names)}: not known: {why}" for why, names in whys.items()),
            *(f"{note}." for note in cost_notes(rows)),
        ),
    )
