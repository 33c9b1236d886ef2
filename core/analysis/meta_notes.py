"""What a reader of a meta-correlation has to know: of its sides, and of human sides that met nothing."""

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from core.analysis.meta_sides import SideValues
from core.datasets.published import error_notes, published_names
from core.datasets.reading import shown
from core.schema.scores import Against, Method

Caution = Literal["few_metrics", "few_families"]
"""Why a meta-correlation says little, whatever its value."""
FEWEST_METRICS, FEWEST_FAMILIES = 20, 5
"""Below either, a meta-correlation is reported with a caution."""
_FEWEST_SIGNS = 3
_SAYS_LITTLE = (
    f"Below {FEWEST_METRICS} metrics or {FEWEST_FAMILIES} families a meta-correlation says little: "
    "metrics of one family are variants of each other."
)
_WRONG: tuple[tuple[Against, ...], tuple[Against, ...]] = (("-level", "level"), ("human",))
"""What the human side, and the synthetic one, are not correlated with."""
_TARGETS: Mapping[Against, str] = {
    "human": "human ratings",
    "-level": "the damage level",
    "level": "the damage level",
}


def notes_on(sides: tuple[SideValues, SideValues], method: Method, first_order: Method) -> Iterator[str]:
    """The sides' own notes with their names, sides that look swapped, and how they were compared."""
    said: dict[str, list[str]] = {}
    shared = sides[0].values.keys() & sides[1].values.keys()
    for side in sides:
        beside = _beside_the_point(side, shared)
        for note in dict.fromkeys(note for note in side.notes if note not in beside):
            said.setdefault(note, []).append(shown(side.name))
    yield from (f"{' and '.join(dict.fromkeys(names))}: {note}" for note, names in said.items())
    for side, what, wrong in zip(sides, ("human", "synthetic"), _WRONG, strict=True):
        if side.against in wrong:
            yield (
                f"{shown(side.name)} stands as the {what} side, but its correlations are with {_TARGETS[side.against]}: "
                "are the sides swapped?"
            )
        negative = sum(value < 0 for value in side.values.values())
        if len(side.values) >= _FEWEST_SIGNS and 5 * negative >= 4 * len(side.values):
            yield (
                f"{negative} of {len(side.values)} correlations of {shown(side.name)} are negative, though a metric that "
                "follows quality is positive: were they made with what counts errors, or are the sides swapped?"
            )
    if first_order != method:
        yield f"{first_order} correlations of each metric, {method} between the two sides"
    items = [{row.item_id for row in side.joined.table.rows} for side in sides if side.joined is not None]
    if len(items) == 2 and items[0] & items[1]:
        yield "both sides name the same items, but the interval over items draws them apart"


def cautions(n_metrics: int, n_families: int) -> tuple[Caution, ...]:
    """What a reader has to know before the number; empty where enough metrics of enough families are compared."""
    found: list[Caution] = []
    if n_metrics < FEWEST_METRICS:
        found.append("few_metrics")
    if n_families < FEWEST_FAMILIES:
        found.append("few_families")
    return tuple(found)


def caution_said(n_metrics: int, n_families: int) -> str | None:
    """The cautions of one meta-correlation as a sentence; None: there is none."""
    if not cautions(n_metrics, n_families):
        return None
    metrics = "1 metric" if n_metrics == 1 else f"{n_metrics} metrics"
    families = "1 family" if n_families == 1 else f"{n_families} families"
    return f"Only {metrics} of {families} can be compared. {_SAYS_LITTLE}"


def cells_caution_said(sizes: Collection[tuple[int, int]]) -> str | None:
    """The same for the cells of a matrix, given the metrics and families of each."""
    few = sum(bool(cautions(*size)) for size in sizes)
    if not few:
        return None
    return f"{few} of {len(sizes)} cells compare few metrics. {_SAYS_LITTLE}"


def _beside_the_point(side: SideValues, shared: Collection[str]) -> frozenset[str]:
    """Notes on errors of a paper in rows of metrics that have no part here."""
    if side.name not in published_names():
        return frozenset()
    used = {side.written[key] for key in shared}
    return frozenset(note for note, metrics in error_notes(side.name).items() if not used & metrics)


def unmet(humans: Collection[str], met: Collection[str]) -> tuple[str, ...]:
    """A note on the data sets with a human side that no text of the synthetic side belongs to."""
    lost = [shown(name) for name in humans if name and name not in met]
    there = ", ".join(shown(name) for name in met) or "none"
    return (f"no text is of {', '.join(lost)}; the synthetic side has {there}",) if lost else ()
