"""What judges cost, side by side: calls, tokens and money by step, and for one text."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.schema import StepCost

ALL_STEPS = "all steps"
NO_COUNT = "the server counts no tokens"
NO_PRICE = "no price is given"
NO_CALL = "nothing was asked: every answer came from the cache"
NO_MODEL = "no model is asked"


@dataclass(frozen=True)
class JudgeCost:
    """What one judge's run cost, as the account has it."""

    name: str
    costs: tuple[StepCost, ...]
    """Of its steps, in the order in which they came; empty: no model was asked."""
    n_items: int
    """Items that were worked on."""
    n_texts: int
    """Texts of these items, scored or left out."""
    input_price: float | None = None
    """Money for a million input tokens; None: not known."""
    output_price: float | None = None


@dataclass(frozen=True)
class CostRow:
    """One step of one judge, or all of its steps. Calls answered from the cache cost nothing and are counted apart."""

    judge: str
    step: str
    """`all steps` in the judge's last row."""
    calls: int
    cached: int
    unusable: int
    """Calls that gave no complete answer; they are paid, too."""
    input_tokens: int | None
    output_tokens: int | None
    input_share: float | None
    """Of the judge's input tokens, 0 to 1, as 001's Table 9 can be read: there the answers take .895."""
    money: float | None
    seconds: float
    """Summed over calls, which ran side by side."""
    n_items: int
    n_texts: int
    reasons: tuple[tuple[str, str], ...] = ()
    """(field, why it is None): input_tokens, output_tokens, input_share, money."""

    @property
    def calls_per_item(self) -> float | None:
        """None without items."""
        return _each(self.calls, self.n_items)

    @property
    def calls_per_text(self) -> float | None:
        """None without texts."""
        return _each(self.calls, self.n_texts)

    @property
    def input_tokens_per_item(self) -> float | None:
        """None without items or counts."""
        return _each(self.input_tokens, self.n_items)

    @property
    def output_tokens_per_item(self) -> float | None:
        """None without items or counts."""
        return _each(self.output_tokens, self.n_items)

    @property
    def input_tokens_per_text(self) -> float | None:
        """None without texts or counts."""
        return _each(self.input_tokens, self.n_texts)

    @property
    def output_tokens_per_text(self) -> float | None:
        """None without texts or counts."""
        return _each(self.output_tokens, self.n_texts)

    @property
    def money_per_item(self) -> float | None:
        """None without items, prices or counts."""
        return _each(self.money, self.n_items)

    @property
    def money_per_text(self) -> float | None:
        """None without texts, prices or counts."""
        return _each(self.money, self.n_texts)

    def why(self, field: str) -> str | None:
        """Why a field, or what is told from it for one item or text, is None; None where it is not."""
        base = field.removesuffix("_per_item").removesuffix("_per_text")
        if field.endswith("_per_item") and not self.n_items:
            return "no item was worked on"
        if field.endswith("_per_text") and not self.n_texts:
            return "no text was worked on"
        return dict(self.reasons).get(base)


def costs_side_by_side(entries: Sequence[JudgeCost]) -> tuple[CostRow, ...]:
    """A row a step and one for all steps, judge after judge in the order given.

    Money is (input tokens * input price + output tokens * output price) / 1e6. None is never 0: it has a reason. A
    step whose every answer came from the cache has 0 tokens, as nothing was bought.

    Misleads where a run found answers in the cache that another run had paid for: compare judges by runs that began
    with none, or look at `cached`. Equal requests for the texts of one item (the claims of one reference, the questions
    from one source) are asked once in any run, so a text costs less the more texts its item has.
    """
    return tuple(row for entry in entries for row in _of_judge(entry))


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
        reasons.append(("money", NO_PRICE if entry.costs else NO_MODEL))
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
        reasons=tuple(reasons),
    )


def _total(costs: Sequence[StepCost], field: str) -> int | None:
    """Tokens of all calls; None where one step's were not counted. Without calls there is nothing to count."""
    counts = [getattr(cost, field) if cost.calls else 0 for cost in costs]
    return None if None in counts else sum(counts)


def _each(total: float | None, n: int) -> float | None:
    return None if total is None or not n else total / n
