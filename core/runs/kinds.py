"""The registry of all kinds of run. A new kind needs its own module and one line here."""

from collections.abc import Mapping

from core.errors import InputError
from core.generation import damage, factual
from core.judges import (
    alignment,
    answers,
    automqm,
    claims,
    cross_examination,
    direct,
    pairwise,
    quality,
    rubric,
    twins,
)
from core.metrics import kind as metrics
from core.schema.runs import Kind, Work

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        factual.KIND,
        damage.KIND,
        metrics.KIND,
        metrics.TABLE_KIND,
        rubric.KIND,
        pairwise.KIND,
        claims.KIND,
        cross_examination.KIND,
        automqm.KIND,
        direct.KIND,
        quality.KIND,
        answers.KIND,
        alignment.KIND,
        twins.KIND,
    )
}


def kind_named(name: str) -> Kind:
    """The kind with this name. Raises InputError if there is none, for example for a run of a newer version."""
    kind = KINDS.get(name)
    if kind is None:
        raise InputError(f"There is no kind of run called {name!r}; choose from {', '.join(KINDS)}.")
    return kind


def counts_in_items(kind_name: str) -> bool:
    """Whether the calls of such a run are counted in its items, as those of a big table; not for an unknown kind."""
    return kind_name in KINDS and KINDS[kind_name].work == "tables"


def kinds_with(report: str) -> tuple[Kind, ...]:
    """The kinds whose runs support this result table."""
    return tuple(kind for kind in KINDS.values() if report in kind.reports)


def kinds_that(*works: Work) -> tuple[Kind, ...]:
    """The kinds with one of these types of work, in the order of the registry."""
    return tuple(kind for kind in KINDS.values() if kind.work in works)
