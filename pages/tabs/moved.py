"""Old addresses: where each leads since every study has an address of its own. Links in mails and notes keep working."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import streamlit as st

from core.store import Store
from core.store.studies import list_studies
from pages.tabs import study_scores
from pages.widgets import address, messages, open_study, visitor
from pages.widgets.parts import studies

Params: TypeAlias = Mapping[str, Sequence[str]]


class Place(NamedTuple):
    """A place on the page Studies."""

    params: Mapping[str, str | Sequence[str]]
    """Of its address."""
    sentence: str = ""
    """What the visitor reads there, where it is not what the link named."""


@dataclass(frozen=True)
class Old:
    """An address that was there before."""

    path: str
    leads: Callable[[Store, Params], Place]
    """Takes the parameters of the address."""
    having: Mapping[str, str] = field(default_factory=dict)
    """Parameters without which the address is still what it was, with the beginning of their values."""


_KEPT = (
    *("judge", "use", "margin", "epsilon", "most_false_passes", "most_false_fails", "missing_judge"),
    *("labels_chosen", "accuracy", "tolerance", "target", "population", "promise", "delta", "against"),
)
"""Parameters of the page Check that a study understands, because they are numbers or fixed words."""


def _list(_: Store, __: Params) -> Place:
    return Place({})


def _checked(store: Store, params: Params) -> Place:
    study = next((one for one in list_studies(store) if one.name in params["study"]), None)
    if study is None:
        return Place({"study": "gone"})  # the list says that it is not here
    kept = {name: params[name] for name in _KEPT if name in params}
    return Place({**kept, **open_study.link(study.study_id, "judges", open_study.TRUST)})


def _votes(store: Store, _: Params) -> Place:
    unblinded = [one for one in list_studies(store) if one.state == "unblinded" and one.kind == "pairs"]
    scored = [one for one in unblinded if study_scores.fitting(store, one)]
    if len(scored) == 1:
        return Place(open_study.link(scored[0].study_id, "judges"))
    return Place({}, "Votes beside scores are in their study now. Open a study, then the tab Judges.")


OLD = (
    Old("results", _list),
    Old("check", _checked, {"study": ""}),
    Old("metrics", _votes, {"part": "votes"}),
)
"""Every old address. `/start` has no page of its own: pages/door/routes leads it to the first page."""


def follow(path: str, store: Store) -> None:
    """Leave an old address of this page for the new one; returns where the address is none. Only for the admin."""
    params = {name: st.query_params.get_all(name) for name in st.query_params}
    for old in OLD:
        if old.path == path and all(
            any(value.startswith(of) for value in params.get(name, ())) for name, of in old.having.items()
        ):
            place = old.leads(store, params)
            if place.sentence:
                messages.keep(place.sentence)
            address.go(studies(), place.params)


def results() -> None:
    """The page that stands at the address of the former page Results."""
    with visitor.admin_store() as store:
        follow("results", store)
