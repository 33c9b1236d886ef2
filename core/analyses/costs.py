"""What judges cost, side by side: calls, tokens and money, step by step and for one text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.schema.analysis import Analysis, Table, Tell
from core.schema.figures import AnyFigure, Axis, Stacked
from core.schema.rows import WHOLE, column, columns_of, entry, row
from core.schema.settings import Settings, setting

if TYPE_CHECKING:
    from core.results.judges.costs import CostRow, JudgeCost

_MOST_PRICE = 1e12


class CostsOptions(Settings):
    """Prices."""

    input_price: float | None = setting(
        None,
        "Price of a million input tokens",
        "price of a million input tokens of every judge, in place of that of its run",
        within=(0, _MOST_PRICE),
        words={"": "that of its run"},
    )
    output_price: float | None = setting(
        None,
        "Price of a million output tokens",
        "price of a million output tokens of every judge, in place of that of its run",
        within=(0, _MOST_PRICE),
        words={"": "that of its run"},
    )


@row
class StepCosts:
    """One step of one judge, or all its steps. Answers from the cache cost nothing and are counted apart.

    Numbers for one item or text are undefined while the run is not finished.
    """

    judge: str = column(
        "the judge; a run that checks judges is called answers of MODEL or alignment of MODEL",
        title="Judge",
        names_row=True,
    )
    step: str = column("the step; in a judge's last row all steps", title="Step", names_row=True)
    calls: int = column("paid calls", title="Calls")
    cached: int = column(
        "answers found, from earlier runs or from another step with the same request", title="From the cache"
    )
    unusable: int = column("paid calls without a usable answer", title="Unusable")
    input_tokens: int | None = column("input tokens", title="Tokens in")
    output_tokens: int | None = column("output tokens", title="Tokens out")
    input_share: float | None = column(
        "share of the judge's input tokens, 0 to 1", title="Share of input", percent=True, heat="share"
    )
    money: float | None = column("money", title="Money", places=6)
    calls_per_item: float | None = column("calls of one item", title="Calls per item", places=1, shown=False)
    input_tokens_per_item: float | None = column(
        "input tokens of one item", title="Tokens in per item", places=1, shown=False
    )
    output_tokens_per_item: float | None = column(
        "output tokens of one item", title="Tokens out per item", places=1, shown=False
    )
    money_per_item: float | None = column("money of one item", title="Money per item", places=6, shown=False)
    calls_per_text: float | None = column("calls of one text", title="Calls per text", places=1)
    input_tokens_per_text: float | None = column(
        "input tokens of one text", title="Tokens in per text", places=1
    )
    output_tokens_per_text: float | None = column(
        "output tokens of one text", title="Tokens out per text", places=1
    )
    money_per_text: float | None = column("money of one text", title="Money per text", places=6)
    seconds: float = column(
        "how long its requests were open, summed although they overlap, so not time by the clock", shown=False
    )
    n_items: int = column("finished items", shown=False)
    n_texts: int = column("texts of the items that the run has reached", shown=False)
    n_wanted: int = column("requested items", shown=False)
    n_found: int = column("for the whole run: answers in the cache that other runs had paid for", shown=False)
    why: str = column("why numbers are empty", name="reasons", key="", shown=False)
    reasons: tuple[tuple[str, str], ...] = entry("a list of [field, why it is null]")


@row
class Costs:
    """The costs of several judges."""

    rows: tuple[StepCosts, ...] = entry(
        "one entry for each judge and step, and each judge's last one for all its steps",
        key=WHOLE,
        rows=StepCosts,
    )
    notes: tuple[str, ...]
    """What is unknown, not finished, or paid for by others."""


def compute(options: CostsOptions, costs: "Sequence[JudgeCost]", *, tell: Tell) -> Costs:
    """Put the costs of judges side by side. costs: of one run each, with names of their own."""
    from dataclasses import replace

    from core.results.judges.costs import cost_notes, costs_side_by_side

    tell("adding up")
    prices = {name: price for name, price in options.model_dump().items() if price is not None}
    found = costs_side_by_side([replace(one, **prices) for one in costs])
    whys: dict[str, dict[str, None]] = {}
    for shown in (one for one in columns_of(StepCosts) if one.shown):
        for one in found:
            if why := one.why(shown.name):
                whys.setdefault(why, {})[shown.heading] = None
    notes = [f"{', '.join(names)}: unknown: {why}" for why, names in whys.items()]
    return Costs(tuple(map(_row, found)), (*notes, *(f"{note}." for note in cost_notes(found))))


def _row(one: "CostRow") -> StepCosts:
    from dataclasses import fields

    from core.results.judges.costs import EACH, UNITS

    cells: dict[str, Any] = {each.name: getattr(one, each.name) for each in fields(one)}
    cells |= {f"{what}_per_{unit}": one.each(what, unit) for what in EACH for unit in UNITS}
    return StepCosts(**cells, why="; ".join(f"{field}: {why}" for field, why in one.reasons))


def _figures(found: Costs) -> tuple[AnyFigure, ...]:
    from core.results.judges.costs import ALL_STEPS

    judges = {one.judge for one in found.rows}
    # One judge would be a single bar: the table shows the same in less space.
    if len(judges) < 2 or not any((one.input_tokens or 0) + (one.output_tokens or 0) for one in found.rows):
        return ()
    return (
        Stacked(
            table="judge-costs",
            alt=f"Tokens of one text by step, of {len(judges)} judges",
            numbers=("input_tokens_per_text", "output_tokens_per_text"),
            bars="judge",
            parts="step",
            without=ALL_STEPS,
            axis=Axis("tokens per text, in and out"),
            of="tokens per text",
        ),
    )


ANALYSIS = Analysis(
    name="costs",
    title="Cost",
    question="What do judges cost: calls, tokens and money, step by step and for one text?",
    Options=CostsOptions,
    Result=Costs,
    takes=("costs",),
    compute=compute,
    verdicts=lambda _: (),
    figures=_figures,
    section="judges#judge-cost",
    misleads="Answers from the cache cost nothing because another run paid for them: to compare judges, use runs without. A text "
    "costs less the more texts its item has, because equal requests of an item are sent once.",
    example="""
>>> import assay
>>> found = assay.costs(["run:3", "run:4"], input_price=0.15, output_price=0.6)  # doctest: +SKIP
""",
    tables=(
        Table("judge-costs", StepCosts, lambda found: found.rows, "Cost", notes=lambda found: found.notes),
    ),
)
