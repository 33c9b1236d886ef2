"""The two sides of a meta-correlation: one correlation a metric, live or made elsewhere, under names that meet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.analysis.correlation_options import DEFAULT_OPTIONS, CorrelationOptions, joined_with
from core.analysis.joining import Joined, items_of, rows_at, rows_by
from core.analysis.metric_directions import lower_is_better
from core.analysis.table_choice import TableChoice, chosen_correlations, chosen_people, chosen_table
from core.datasets.reading import same_name, shown
from core.errors import InputError
from core.schema.scores import METHODS, Against, CorrelationSet, Method, RatingSet, ScoreTable
from core.scoring.metrics.registry import all_metrics, canonical_name
from core.stats.correlation import coefficient, why_undefined
from core.stats.meta_correlation import Live
from core.stats.resampling import Floats

UNKNOWN_FAMILY = "other"
NO_VALUE = "undefined"
_TURNED = "the sign of {} was turned: lower is better, and a file made elsewhere holds correlations of the scores as they are"


@dataclass(frozen=True)
class LiveSide:
    """Rows behind a side: scores, and what they are correlated with (ratings; None: minus the level)."""

    name: str
    table: ScoreTable
    ratings: RatingSet | None = None
    options: CorrelationOptions = DEFAULT_OPTIONS
    """Which ratings count and how; its resampling and its methods are not used here."""


Side = CorrelationSet | LiveSide
"""What stands on one axis."""


@dataclass(frozen=True)
class SideValues:
    """One side, a metric a key; keys of two sides are equal where they mean the same metric."""

    name: str
    values: Mapping[str, float]
    """Key -> correlation, of the metrics that have one."""
    reasons: Mapping[str, str]
    """Key -> why there is none."""
    written: Mapping[str, str]
    """Key -> what the side calls the metric."""
    families: Mapping[str, str]
    notes: tuple[str, ...] = ()
    against: Against | None = None
    """What the correlations are with; None: not said."""
    joined: Joined | None = None
    """The rows behind it; None: the side is fixed."""
    columns: Mapping[str, int] = field(default_factory=dict)
    """Key -> the metric's column in those rows."""


def side_values(side: Side, first_order: Method) -> SideValues:
    """A side's correlations of one kind.

    Raises InputError where the side holds none of that kind, or two metrics that are one and the same.
    """
    return _live(side, first_order) if isinstance(side, LiveSide) else _fixed(side, first_order)


def chosen_side(side: Side, choice: TableChoice) -> Side:
    """The side without the rows to leave out, with the declared directions; what it lacks is passed over."""
    if not isinstance(side, LiveSide):
        return chosen_correlations(side, choice)
    table = chosen_table(side.table, choice)
    ratings = None if side.ratings is None else chosen_people(side.ratings, choice, table)
    return replace(side, table=table, ratings=ratings)


def by_dataset(side: LiveSide) -> Mapping[str, LiveSide]:
    """A live side for each value of the column `dataset`."""
    return {
        dataset: replace(side, name=f"{side.name}, {dataset}", table=rows_at(side.table, indices))
        for (dataset,), indices in rows_by(side.table.rows, ["dataset"]).items()
    }


def _live(side: LiveSide, first_order: Method) -> SideValues:
    joined = joined_with(side.table, side.ratings, replace(side.options, raw_level=False))
    scores = joined.scores()
    metrics = side.table.metrics
    keys = _keys(side.name, [metric.name for metric in metrics])
    values: dict[str, float] = {}
    reasons: dict[str, str] = {}
    for index, key in enumerate(keys):
        value = coefficient(scores[:, index], joined.target, first_order)
        if np.isnan(value):
            reasons[key] = why_undefined(scores[:, index], joined.target, joined.names) or NO_VALUE
        else:
            values[key] = value
    return SideValues(
        name=side.name,
        values=values,
        reasons=reasons,
        written={key: metric.name for key, metric in zip(keys, metrics, strict=True)},
        families={key: metric.family for key, metric in zip(keys, metrics, strict=True)},
        notes=(*side.table.notes, *joined.notes),
        against=joined.against,
        joined=joined,
        columns={key: index for index, key in enumerate(keys)},
    )


def _fixed(side: CorrelationSet, first_order: Method) -> SideValues:
    held = [
        method for method in METHODS if any(given.get(method) is not None for given in side.values.values())
    ]
    if side.values and held and first_order not in held:
        raise InputError(
            f"{shown(side.name)} holds {' and '.join(held)} correlations only, not {first_order}: ask for "
            f"{held[0]} at both orders, or for {held[0]} first-order correlations (--first-order {held[0]})."
        )
    names = list(side.values)
    keys = _keys(side.name, names)
    values: dict[str, float] = {}
    reasons: dict[str, str] = {}
    turned: list[str] = []
    for key, name in zip(keys, names, strict=True):
        value = side.values[name].get(first_order)
        if value is None or np.isnan(value):
            reasons[key] = side.reasons.get(name, NO_VALUE)
        elif side.scores_turned or not lower_is_better(name):
            values[key] = value
        else:
            values[key] = 0.0 - value
            turned.append(shown(name))
    return SideValues(
        name=side.name,
        values=values,
        reasons=reasons,
        written=dict(zip(keys, names, strict=True)),
        families={
            key: side.families[name] for key, name in zip(keys, names, strict=True) if name in side.families
        },
        notes=(*side.notes, *((_TURNED.format(", ".join(turned)),) if turned else ())),
        against=side.against,
    )


def _keys(side: str, names: list[str]) -> list[str]:
    """The registry's name of each metric; of one it does not know, its own name without regard to case."""
    keys = [canonical_name(name) or same_name(name) for name in names]
    written: dict[str, list[str]] = {}
    for key, name in zip(keys, names, strict=True):
        written.setdefault(key, []).append(name)
    same = [
        f"{', '.join(map(shown, alike))} are all {key}" for key, alike in written.items() if len(alike) > 1
    ]
    if same:
        raise InputError(f"{shown(side)} holds a metric more than once: leave one of them out.", same)
    return keys


def family_of(key: str, *sides: SideValues) -> str:
    """The metric's family: the registry's, else what a side says."""
    known = {spec.metric.name: spec.metric.family for spec in all_metrics()}
    said = (side.families[key] for side in sides if side.families.get(key))
    return known.get(key) or next(said, UNKNOWN_FAMILY)


class NothingShared(InputError):
    """No metric is on both sides."""


def meeting(human: SideValues, synthetic: SideValues) -> tuple[list[str], dict[str, str]]:
    """Keys that both sides define, and the names of the others with the reason. Raises NothingShared."""
    if not human.written.keys() & synthetic.written.keys():
        raise NothingShared(
            f"No metric of {shown(human.name)} is also on the other side, {shown(synthetic.name)}: "
            "names must be the registry's, one of its aliases, or alike on both sides.",
            [
                f"{shown(side.name)} holds {', '.join(map(shown, list(side.written.values())[:5])) or 'no metric'}"
                for side in (human, synthetic)
            ],
        )
    shared: list[str] = []
    dropped: dict[str, str] = {}
    for key in dict.fromkeys((*human.written, *synthetic.written)):
        missing = [side for side in (human, synthetic) if key not in side.values]
        if not missing:
            shared.append(key)
            continue
        absent = [side.name for side in missing if key not in side.written]
        dropped[called(key, human, synthetic)] = (
            f"not on the side {shown(absent[0])}"
            if absent
            else "; ".join(
                f"undefined on the side {shown(side.name)}: {side.reasons[key]}" for side in missing
            )
        )
    return shared, dropped


def called(key: str, human: SideValues, synthetic: SideValues) -> str:
    """The registry's name, else what a side calls it."""
    written = human.written.get(key) or synthetic.written[key]
    return canonical_name(written) or written


def rows_or_values(side: SideValues, shared: Sequence[str]) -> Live | Floats:
    """What a side is made of: its rows with their items, or fixed correlations."""
    if side.joined is None:
        return np.array([side.values[key] for key in shared], dtype=np.float64)
    scores = side.joined.scores()[:, [side.columns[key] for key in shared]]
    rows = [side.joined.table.rows[index] for index in side.joined.rows.tolist()]
    return Live(scores, side.joined.target, items_of(rows))
