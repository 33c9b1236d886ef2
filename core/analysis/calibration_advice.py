"""Where an evaluator should not be used: cells that fail one of three rules, and a sentence that names them."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.analysis.calibration import Calibration
from core.analysis.calibration_cells import Cell
from core.analysis.decimals import decimal

LEAST_TEXTS = 30
"""Fewer texts than this say too little about any group."""
LEAST_ITEMS = 10
"""Fewer items than this give intervals that cannot be believed."""
RULES = (
    f"fewer than {LEAST_TEXTS} texts or {LEAST_ITEMS} items were compared",
    "Fleiss' kappa of majority and evaluator is undefined, or its interval reaches 0: nothing shows that the evaluator "
    "tells classes apart better than chance (of numbers: Spearman's correlation with the mean rating)",
    "the interval of the bias towards the top class lies beside 0, and the evaluator agrees less with single raters "
    "than they with each other (that interval lies below 0)",
)
"""As the page and the report state them."""
_NAMED = 8


@dataclass(frozen=True)
class Warned:
    """A cell in which the evaluator should not stand in for people."""

    group: Mapping[str, str]
    n: int
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Advice:
    """Where not to use it."""

    warned: tuple[Warned, ...]
    n_cells: int
    sentence: str


def advice(found: Calibration) -> Advice:
    """The cells that fail a rule (`RULES`), and one sentence that names them.

    A cell that passes is not thereby good: read its agreement. With many cells some pass or fail by chance; a cell chosen
    after looking at all of them is exploratory.
    """
    warned = tuple(
        Warned(cell.group, cell.n, reasons) for cell in found.cells if (reasons := reasons_against(cell))
    )
    return Advice(warned, len(found.cells), _sentence(found, warned))


def reasons_against(cell: Cell) -> tuple[str, ...]:
    """Why not to use the evaluator on such texts; empty: no rule speaks against it."""
    reasons = []
    if cell.n < LEAST_TEXTS or cell.n_items < LEAST_ITEMS:
        reasons.append(f"only {cell.n} texts of {cell.n_items} items")
    name = "kappa" if cell.classes else "spearman"
    title = "kappa" if cell.classes else "Spearman"
    central = cell.get(name)
    if central is None:
        reasons.append(
            "dimensions with different classes are mixed, and nothing was computed: group by dimension"
        )
    elif central.estimate is None:
        reasons.append(f"{title} is undefined ({central.reason})")
    elif central.low is None:
        reasons.append(f"{title} has no interval ({central.interval_reason})")
    elif central.low <= 0:
        reasons.append(
            f"{title} may be 0 or less ({decimal(central.low, 2)} to {decimal(central.high or 0.0, 2)})"
        )
    bias, gap = cell.get("bias"), cell.get("gap")
    beside = (
        bias is not None and bias.low is not None and bias.high is not None and not bias.low <= 0 <= bias.high
    )
    below = gap is not None and gap.high is not None and gap.high < 0
    if bias is not None and gap is not None and beside and below:
        how = "more" if (bias.estimate or 0.0) > 0 else "less"
        reasons.append(
            f"it names the top class {how} often than people do ({_signed(bias.estimate)}) and agrees less with them than "
            f"they with each other ({_signed(gap.estimate)})"
        )
    return tuple(reasons)


def _signed(value: float | None) -> str:
    return "" if value is None else f"{'+' if value > 0 else ''}{decimal(100 * value, 0)} points"


def _sentence(found: Calibration, warned: tuple[Warned, ...]) -> str:
    n_cells = len(found.cells)
    cells = "the only group" if n_cells == 1 else f"all {n_cells} groups"
    if not warned:
        return (
            f"No rule speaks against {found.evaluator} in {cells}; read the agreement before you rely on it."
        )
    if len(warned) == n_cells:
        return f"{found.evaluator} should not stand in for people in {cells} that {'was' if n_cells == 1 else 'were'} compared."
    named = [called(one.group) for one in warned]
    listed = "; ".join(named[:_NAMED])
    if len(named) > _NAMED:
        listed += f"; and {len(named) - _NAMED} more"
    return f"{found.evaluator} should not stand in for people in {len(warned)} of {n_cells} groups: {listed}."


def called(group: Mapping[str, str]) -> str:
    """A group in a sentence: its values."""
    return ", ".join(group.values()) or "all texts"
