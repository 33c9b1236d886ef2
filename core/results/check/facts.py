"""What is known about a judge beside its scores: consistency, price, time and model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.errors import InputError
from core.joining.choices import check_names, dimension_said
from core.llm.families import model_of
from core.results.check.verdict import JudgeFacts
from core.results.judges.consistency import consistency
from core.results.judges.costs import JudgeCost, costs_side_by_side
from core.schema.panel import Panel
from core.schema.scores import JudgeOutput
from core.stats.resampling import Estimate
from core.tables.reading import number_in
from core.tables.roles import PRICES, SECONDS, spaced

PER_TEXTS = 1_000
"""Texts to which price and time refer."""
UNKNOWN = JudgeFacts()


def facts_of(
    metrics: Sequence[str],
    cost: JudgeCost,
    output: JudgeOutput | None = None,
    *,
    dimension: str | None = None,
    is_free: bool = False,
    confidence_level: float = 0.9,
) -> dict[str, JudgeFacts]:
    """Name of each metric of a run, and of its judge -> what the run tells about it.

    Price and time are those of the whole run, for 1,000 of its texts: all dimensions and repeats together. Answers that
    another run paid for count at the mean of this run's answers. Time is summed over requests, as if they were sent one
    after another, so that it does not depend on how many were open at once. An unfinished run has no price and no time.
    dimension: whose consistency the judge has without a dimension in its name; None: the only one. is_free: whether no model
    is asked, so that the price is 0.

    Misleads as a price today: it rests on the prices that the run states.
    """
    row = costs_side_by_side([cost])[-1]
    more = (row.calls + row.n_found) / row.calls if row.calls else 1.0
    texts = row.n_texts if row.is_finished else 0
    found = JudgeFacts(
        cost=0.0
        if is_free
        else None
        if row.money is None or not texts or not row.calls
        else row.money * more / texts * PER_TEXTS,
        currency="",
        seconds=row.seconds * more / texts * PER_TEXTS if texts and row.calls else None,
        model=None if output is None else output.model,
        cost_reason=row.why("money_per_text") or JudgeFacts.cost_reason,
        seconds_reason=row.why("seconds_per_text") or JudgeFacts.seconds_reason,
    )
    again = {} if output is None else _consistent(output, confidence_level)
    named = {}
    for metric in metrics:
        _, component = dimension_said(metric, tuple(again)) or ("", None)
        named[metric] = replace(found, consistency=again.get(component or _only(again)))
    if output is not None:
        # Where a panel compares one dimension, the judge has no dimension in its name.
        wanted = {component.casefold(): component for component in again}.get((dimension or "").casefold())
        named.setdefault(output.name, replace(found, consistency=again.get(wanted or _only(again))))
    return named


def facts_of_tables(panel: Panel, runs: Mapping[str, Mapping[str, JudgeFacts]]) -> dict[str, JudgeFacts]:
    """Judge -> facts of the run that gave its scores, else from columns of the panel; at least the model in its signature.

    runs: name of a table of scores, as in `Panel.sources` -> `facts_of` of the run behind it. So two runs whose metrics
    have the same name are told apart.
    """
    found = facts_in(panel)
    for name, (table, metric, signature) in zip(panel.judges, panel.sources, strict=False):
        if (of_run := runs.get(table, {}).get(metric)) is not None:
            found[name] = of_run
        elif model := model_of(signature):
            found[name] = replace(found.get(name, JudgeFacts()), model=model)
    return found


def _only(again: Mapping[str, Estimate]) -> str:
    return next(iter(again)) if len(again) == 1 else ""


def _consistent(output: JudgeOutput, confidence_level: float) -> Mapping[str, Estimate]:
    """Component -> share of texts with equal answers in all repeats; without repeats no component."""
    try:
        found = consistency(output, n_resamples=2_000, confidence_level=confidence_level)
    except InputError:
        return {}
    return {one.component: one.agreeing for one in found.repeats if one.agreeing.estimate is not None}


def facts_in(panel: Panel) -> dict[str, JudgeFacts]:
    """Price and time of judges from columns beside the scores, as means over the texts that a judge scored.

    With one judge the columns are `cost`, `price`, `latency` (seconds) or `latency_ms`; of several judges each name also
    contains the judge's, before or after: `gpt_cost`, `latency_gpt`. Columns with any other cell than numbers are no facts.
    """
    columns = dict.fromkeys(name for row in panel.rows for name in row.labels)
    named: dict[str, JudgeFacts] = {}
    for at, judge in enumerate(panel.judges):
        scored = np.flatnonzero(~np.isnan(panel.scores[:, at]))
        cost, currency, seconds = None, "", None
        for column in columns:
            what = _fact(column, judge, alone=len(panel.judges) == 1)
            if what is None:
                continue
            cells = [panel.rows[row].labels.get(column, "") for row in scored]
            values = [number_in(cell) for cell in cells if cell]
            numbers = [value for value in values if value is not None]
            if not numbers or len(numbers) < len(values):
                continue
            mean = float(np.mean(numbers)) * PER_TEXTS
            if what in PRICES and cost is None:
                cost, currency = mean, PRICES[what]
            elif what in SECONDS and seconds is None:
                seconds = mean * SECONDS[what]
        if cost is not None or seconds is not None:
            named[judge] = JudgeFacts(cost=cost, currency=currency, seconds=seconds)
    return named


def _fact(column: str, judge: str, *, alone: bool) -> str | None:
    """The known name in a column's name, if the column is about the judge."""
    words, own = spaced(column), spaced(judge)
    known = (*PRICES, *SECONDS)
    if alone and words in known:
        return words
    return next((one for one in known if words in {f"{own} {one}", f"{one} {own}"}), None)


def stated_facts(
    facts: Mapping[str, JudgeFacts],
    panel: Panel,
    prices: Mapping[str, float],
    seconds: Mapping[str, float],
    currency: str,
) -> dict[str, JudgeFacts]:
    """The facts with the prices and times of 1,000 texts that the user states. Raises InputError for names of no judge."""
    check_names("judge", [*prices, *seconds], panel.judges)
    stated = {name: replace(one, currency=currency or one.currency) for name, one in facts.items()}
    for name, cost in prices.items():
        stated[name] = replace(stated.get(name, UNKNOWN), cost=float(cost), currency=currency or "")
    for name, time in seconds.items():
        stated[name] = replace(stated.get(name, UNKNOWN), seconds=float(time))
    return stated
