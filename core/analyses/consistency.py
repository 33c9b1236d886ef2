"""Does a judge give the same score when it is asked again, and when it reads the two texts in the other order?"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.schema.analysis import (
    Analysis,
    Caution,
    Table,
    Tell,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Settings

if TYPE_CHECKING:
    from core.results.judges.consistency import Consistency as Compared
    from core.results.judges.consistency import OrderConsistency, RepeatConsistency
    from core.schema.scores import JudgeOutput


class ConsistencyOptions(Settings):
    """Options of the intervals."""

    n_resamples: int = resamples_setting(10_000)
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()


@row
class ConstantRow:
    """The score of all, or nearly all, texts."""

    value: float = entry("the score")
    share: float = entry("its share of the scores, from 0.95 to 1")
    n: int = entry("scores")
    n_others: int = entry("other scores")


@row
class RepeatRow:
    """One of a judge's values over its repeats."""

    component: str = column(
        "verdict of a rubric judge, a dimension of quality, or a score of a cross-examination",
        title="Score",
        names_row=True,
    )
    agreeing: Interval = column(
        "share of texts whose repeats are all equal", title="All equal", percent=True, ends="counted"
    )
    spread: Interval = column(
        "standard deviation (n - 1) of a text's repeats, averaged over texts, in units of the score",
        name="sd",
        title="Mean SD",
        ends="counted",
    )
    n: int = column("texts with a value in every repeat", title="Texts", key="")
    left_out: Mapping[str, int] = column("reason -> texts left out", title="Left out")
    constant: ConstantRow | None = entry(
        "the value of all or nearly all verdicts, which alone makes repeats equal; null: they vary",
        rows=ConstantRow,
    )


@row
class OrderRow:
    """Verdicts with the judged text first beside those with the other text first."""

    equal: Interval = column(
        "share of texts with equal mean verdicts in both orders",
        title="Texts with equal verdicts",
        percent=True,
        ends="counted",
    )
    difference: Interval = column(
        "mean of the verdict with the judged text first minus that with the other first: above 0, the judge is more lenient "
        "with a text that it reads first",
        title="Mean difference",
        ends="counted",
    )
    distance: Interval = column(
        "mean of the absolute difference: how much the order matters in either direction",
        title="Mean absolute difference",
        ends="counted",
    )
    n: int = column("texts with a verdict in both orders", title="Texts", key="")
    left_out: Mapping[str, int] = column("reason -> texts left out", title="Left out")


@row
class Consistency:
    """How far a judge agrees with itself."""

    judge: str = entry("the judge")
    n_texts: int = entry("texts that it was given")
    n_repeats: int = entry("the most repeats of a text in one order")
    orders: tuple[str, ...] = entry("orders of the two texts; empty for a judge that reads one text")
    repeats: tuple[RepeatRow, ...] = entry("each of its values", rows=RepeatRow)
    order: OrderRow | None = entry("both orders compared; null for a judge without orders", rows=OrderRow)
    confidence_level: float = entry("of the intervals")
    notes: tuple[str, ...] = entry("whether repeats at temperature 0 show anything")
    constants: tuple[str, ...]
    """A sentence for each value in which the judge is (nearly) constant."""


def compute(options: ConsistencyOptions, output: "JudgeOutput", *, tell: Tell) -> Consistency:
    """Compare the repeats of a judge, and its two orders.

    Raises InputError for kinds of judges without repeats, and for a judge with one repeat in one order.
    """
    from core.errors import InputError
    from core.results.judges.consistency import consistency, nothing_compared
    from core.tables.reading import shown

    if why := nothing_compared(output):
        raise InputError(
            f"{shown(output.name)} cannot be compared with itself: {why}. Run the judge with several repeats, or a rubric judge "
            "in both orders."
        )
    tell("comparing the repeats")
    return rows_of(consistency(output, **options.model_dump()))


def rows_of(comparison: "Compared") -> Consistency:
    """The comparison as every door shows it."""
    return Consistency(
        judge=comparison.judge,
        n_texts=comparison.n_texts,
        n_repeats=comparison.n_repeats,
        orders=comparison.orders,
        repeats=tuple(map(_repeat_row, comparison.repeats)),
        order=None if comparison.order is None else _order_row(comparison.order),
        confidence_level=comparison.confidence_level,
        notes=comparison.notes,
        constants=comparison.constants,
    )


def _repeat_row(one: "RepeatConsistency") -> RepeatRow:
    """One of a judge's values over its repeats as every door shows it."""
    from core.results.cells import interval

    always = one.constant
    return RepeatRow(
        one.component,
        interval(one.agreeing),
        interval(one.spread),
        one.agreeing.n,
        one.left_out,
        None if always is None else ConstantRow(always.value, always.share, always.n, always.n_others),
    )


def _order_row(one: "OrderConsistency") -> OrderRow:
    from core.results.cells import interval

    return OrderRow(
        interval(one.equal),
        interval(one.difference),
        interval(one.distance),
        one.equal.n,
        one.left_out,
    )


def _sentences(found: Consistency) -> tuple[str, ...]:
    from core.errors import counted
    from core.tables.reading import shown

    orders = f", in the order {' and '.join(found.orders)}" if found.orders else ""
    texts, repeats = counted(found.n_texts, "text"), counted(found.n_repeats, "repeat")
    return (f"{shown(found.judge)}: {texts}, {repeats}{orders}.", *map(Caution, found.constants))


def _percent_values(found: Consistency) -> dict[str, dict[str, Any]]:
    """The values of a cross-examination are shares."""
    from core.judges.cross_examination import CEF_COMPONENTS

    shares = all(one.component in CEF_COMPONENTS for one in found.repeats)
    return {"sd": {"percent": True}} if shares else {}


def _notes(found: Consistency) -> tuple[str, ...]:
    from core.results.cells import resampled

    return (
        f"{found.n_repeats} repeats. Mean SD: standard deviation of a text's repeats, averaged over texts.",
        resampled(found.confidence_level),
        *found.notes,
    )


def _placed(found: Consistency) -> tuple[str, str]:
    """What a judge calls the text that it judges and the other one."""
    return (
        ("its own text", "the other text")
        if "own-first" in found.orders
        else ("the response", "the reference")
    )


def _orders_heading(found: Consistency) -> str:
    own, other = (text.removeprefix("its ").removeprefix("the ") for text in _placed(found))
    return f"{own.capitalize()} first compared with {other} first"


def _orders_note(found: Consistency) -> tuple[str, ...]:
    return (f"Difference above 0: the judge is more lenient when it reads {_placed(found)[0]} first.",)


ANALYSIS = Analysis(
    name="consistency",
    title="Consistency",
    question="Does the judge give the same score when it is asked again, and when it reads the two texts in the other order?",
    Options=ConsistencyOptions,
    Result=Consistency,
    takes=("judge",),
    compute=compute,
    verdicts=lambda _: (),
    sentences=_sentences,
    refuses="For a judge with one repeat in one order.",
    section="judges#judge-consistency",
    misleads="At temperature 0, or with a server that ignores seeds, a judge mostly repeats itself, which proves little. A judge "
    "that always gives one score agrees perfectly, and a consistent judge can still be wrong. A mean difference near 0 hides texts "
    "that change in both directions.",
    example="""
>>> import assay
>>> found = assay.consistency("run:3")  # doctest: +SKIP
""",
    tables=(
        Table(
            "judge-repeats",
            RepeatRow,
            lambda found: found.repeats,
            "Repeats",
            notes=_notes,
            shaped=_percent_values,
        ),
        Table(
            "judge-orders",
            OrderRow,
            lambda found: None if found.order is None else (found.order,),
            "Both orders",
            "Does the judge give the same verdict when it reads the two texts in the other order?",
            notes=_orders_note,
            heading=_orders_heading,
        ),
    ),
)
