"""Where an evaluator should not be used: a verdict for each cell, by stated rules, and sentences that name the cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.results.calibration.cells import Cell
from core.results.calibration.results import Calibration
from core.results.cells import decimal
from core.stats.degeneracy import CONSTANT_SHARE, Constant, constants_said
from core.stats.resampling import Estimate

VerdictValue = Literal[
    "too few texts",
    "says nothing",
    "off the scale",
    "orders well, but is shifted",
    "not shown better than chance",
    "biased",
    "no objection",
]
SILENT: VerdictValue = "says nothing"
SHIFTED: VerdictValue = "orders well, but is shifted"
LEAST_TEXTS = 30
"""Fewer texts than this say too little about any group."""
LEAST_ITEMS = 10
"""Fewer items than this give intervals that cannot be believed."""
MOST_OFF_SCALE = 0.05
"""More scores off the scale than this share: leaving them out may flatter the evaluator."""
ORDERS_WELL = 0.5
"""Spearman's correlation with the mean rating that the whole interval must exceed."""
SHIFTED_BY = 0.25
"""Of the distance of two classes: how far from 0 the whole interval of evaluator minus mean rating must lie."""
RULES = (
    f"Too few texts: fewer than {LEAST_TEXTS} texts or {LEAST_ITEMS} items were compared.",
    f"Says nothing: all texts have the same score; or at least {CONSTANT_SHARE:.0%} have, and nothing shows that the evaluator "
    "is better than chance (as below).",
    f"Off the scale: more than {MOST_OFF_SCALE:.0%} of the scores are off the raters' scale.",
    f"Orders well, but is shifted: the interval of Spearman's correlation with the mean rating lies above {ORDERS_WELL:g}; "
    f"the interval of evaluator minus mean rating lies more than {SHIFTED_BY:g} of a class away from 0; and the evaluator "
    "is not shown to agree with a rater more often than another rater does (that interval does not lie above 0).",
    "Not shown better than chance: Fleiss' kappa of majority and evaluator is undefined, or its interval reaches 0 (of numbers: "
    "Spearman's correlation).",
    "Biased: the interval of the bias towards the top class excludes 0, and the evaluator agrees with a rater less often "
    "than another rater does (that interval lies below 0).",
)
"""As the page and the documents state them, in the order in which a verdict is taken."""
_NAMED = 8


@dataclass(frozen=True)
class Verdict:
    """What speaks against the evaluator in a cell."""

    value: VerdictValue
    """The first rule that applies (`RULES`), or "no objection"."""
    reasons: tuple[str, ...]
    """A sentence for each rule that applies, with its numbers; empty where none does."""


@dataclass(frozen=True)
class Warned:
    """A cell in which the evaluator's classes should not stand in for people's."""

    group: Mapping[str, str]
    n: int
    reasons: tuple[str, ...]
    verdict: VerdictValue


@dataclass(frozen=True)
class Advice:
    """Where not to use it."""

    warned: tuple[Warned, ...]
    n_cells: int
    sentences: tuple[str, ...]
    """The verdict: what says nothing, what is shifted, what should not be used; or that no rule speaks against it."""
    constants: tuple[str, ...] = ()
    """Sentences on what else is constant or nearly so, though no verdict names it; they stand before any other number."""

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        return " ".join(self.sentences)


def advice(found: Calibration) -> Advice:
    """The cells in which a rule speaks against the evaluator (`RULES`), and sentences that name them.

    A cell that passes is not thereby good: read its agreement. With many cells some pass or fail by chance; a cell chosen
    after looking at all of them is exploratory.
    """
    judged = [(cell, verdict_of(cell)) for cell in found.cells]
    warned = tuple(
        Warned(cell.group, cell.n, verdict.reasons, verdict.value)
        for cell, verdict in judged
        if verdict.reasons
    )
    return Advice(warned, len(found.cells), _sentences(found, warned), _further_constants(found, judged))


def _further_constants(found: Calibration, judged: Sequence[tuple[Cell, Verdict]]) -> tuple[str, ...]:
    """What is (nearly) constant and in no verdict: cells that pass, and whole dimensions whose cells hold too few texts."""
    there = [
        cell
        for cell, verdict in judged
        if not (cell.constant and _same_score(cell.constant) in verdict.reasons)
    ]
    if all(verdict.value != SILENT for _, verdict in judged):
        names = {called(cell.group) for cell in found.cells}
        there = [*(one for one in found.by_dimension if called(one.group) not in names), *there]
    named = [(f"{found.evaluator} ({called(cell.group)})", cell.constant) for cell in there if cell.constant]
    said = constants_said(named[:_NAMED])
    if len(named) > _NAMED:
        said += (f"The same is true in {len(named) - _NAMED} more groups.",)
    return said


def verdict_of(cell: Cell) -> Verdict:
    """Which rules speak against the evaluator on such texts. Shifted takes the place of chance and bias, which follow from it.

    Misleads where a limit (`ORDERS_WELL`, `SHIFTED_BY`) is missed narrowly: they are conventions. An order that agrees with
    the mean rating says nothing about a single text's class.
    """
    by_chance = _by_chance(cell)
    same = cell.constant
    against: list[tuple[VerdictValue, str | None]] = [
        ("too few texts", _few(cell)),
        (SILENT, _same_score(same) if same and (not same.n_others or by_chance) else None),
        ("off the scale", _off_scale(cell)),
    ]
    shifted = _shifted(cell)
    against += (
        [(SHIFTED, shifted)]
        if shifted is not None
        else [("not shown better than chance", by_chance), ("biased", _biased(cell))]
    )
    kept = [(value, reason) for value, reason in against if reason is not None]
    return Verdict(kept[0][0] if kept else "no objection", tuple(reason for _, reason in kept))


def _same_score(same: Constant) -> str:
    """What makes an evaluator (nearly) constant, in words."""
    if not same.n_others:
        return f"it gives all {same.n} texts the same score, {same.value:g}"
    return f"it gives {same.n - same.n_others} of {same.n} texts the same score, {same.value:g}"


def _few(cell: Cell) -> str | None:
    usable = cell.n - cell.n_off_scale
    if usable < LEAST_TEXTS or cell.n_items < LEAST_ITEMS:
        return f"only {usable} texts of {cell.n_items} items"
    return None


def _off_scale(cell: Cell) -> str | None:
    if cell.n_off_scale <= MOST_OFF_SCALE * cell.n:
        return None
    return f"{cell.n_off_scale} of {cell.n} scores are off the scale, and leaving them out may flatter the evaluator"


def _shifted(cell: Cell) -> str | None:
    ranks, shift, gap = cell.get("spearman"), cell.get("shift"), cell.get("gap")
    if not cell.classes or ranks is None or shift is None or ranks.low is None or shift.low is None:
        return None
    least = SHIFTED_BY * (cell.classes[1] - cell.classes[0])
    better_than_a_rater = gap is not None and gap.low is not None and gap.low > 0
    if ranks.low <= ORDERS_WELL or better_than_a_rater or not (_lies(shift, least) or _lies(shift, -least)):
        return None
    return (
        f"it orders texts well (Spearman {_with_ends(ranks)}), but its scores differ from the mean rating by "
        f"{_with_ends(shift)}"
    )


def _lies(found: Estimate, limit: float) -> bool:
    """Whether the whole interval lies beyond the limit, seen from 0."""
    if found.low is None or found.high is None:
        return False
    return found.low > limit if limit > 0 else found.high < limit


def _by_chance(cell: Cell) -> str | None:
    name, title = ("kappa", "kappa") if cell.classes else ("spearman", "Spearman")
    central = cell.get(name)
    if central is None:
        return "dimensions with different classes are mixed, and nothing was computed: group by dimension"
    if central.estimate is None:
        return f"{title} is undefined ({central.reason})"
    if central.low is None:
        return f"{title} has no interval ({central.interval_reason})"
    return f"{title} may be 0 or less ({_with_ends(central)})" if central.low <= 0 else None


def _biased(cell: Cell) -> str | None:
    bias, gap = cell.get("bias"), cell.get("gap")
    if bias is None or gap is None or bias.low is None or bias.high is None or gap.high is None:
        return None
    if bias.low <= 0 <= bias.high or gap.high >= 0:
        return None
    how = "more" if (bias.estimate or 0.0) > 0 else "less"
    return (
        f"it gives the top class {how} often than people do ({_points(bias)}) and agrees with a rater less often than "
        f"another rater does ({_points(gap)})"
    )


def _with_ends(found: Estimate) -> str:
    """Such as `0.81 [0.77, 0.84]`."""
    value, low, high = (decimal(one or 0.0, 2) for one in (found.estimate, found.low, found.high))
    return f"{value} [{low}, {high}]"


def _points(found: Estimate) -> str:
    value = found.estimate or 0.0
    return f"{'+' if value > 0 else ''}{decimal(100 * value, 0)} points"


def _sentences(found: Calibration, warned: Sequence[Warned]) -> tuple[str, ...]:
    if not warned:
        whole = _all(len(found.cells))
        return (
            f"No rule speaks against {found.evaluator} in {whole}; read the agreement before you rely on it.",
        )
    groups: dict[str, list[Warned]] = {}
    for one in warned:
        groups.setdefault(one.verdict if one.verdict in _SAID else "", []).append(one)
    return tuple(
        f"{found.evaluator} {what} in {_where(own, len(found.cells))}.{then}"
        for verdict, (what, then) in _SAID.items()
        if (own := groups.get(verdict))
    )


_SAID: Mapping[str, tuple[str, str]] = {
    SILENT: (
        "gives all texts, or nearly all, the same score",
        " It should not stand in for people there.",
    ),
    SHIFTED: (
        "orders texts well, but is shifted",
        " Use its order, or map its scores to people's first; its classes do not stand in for people's.",
    ),
    "": ("should not stand in for people", ""),
}
"""Verdict -> what the sentence says of its cells, before and after naming them; empty: all other verdicts."""


def _all(n_cells: int) -> str:
    return "the only group" if n_cells == 1 else f"all {n_cells} groups"


def _where(own: Sequence[Warned], n_cells: int) -> str:
    """Such as `2 of 5 groups: sw, LA; ja, LA`."""
    if len(own) == n_cells:
        return _all(n_cells)
    named = [called(one.group) for one in own]
    listed = "; ".join(named[:_NAMED]) + (f"; and {len(named) - _NAMED} more" if len(named) > _NAMED else "")
    return f"{len(own)} of {n_cells} groups: {listed}"


def called(group: Mapping[str, str]) -> str:
    """A group in a sentence: its values."""
    return ", ".join(group.values()) or "all texts"
