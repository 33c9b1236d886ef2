"""Studies: all of them in a list, and each on one address: result, pairs or texts, raters, judges, design, export."""

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from core.schema.study import Study
from core.store import Store
from core.store.studies import get_study, list_studies
from pages.studies import designing, exporting, importing, judged, listing, pairs, planning, raters, result
from pages.studies.analysed import files_of_now
from pages.widgets import address, blind_pair, level_diff, messages, open_study, parts, result_table, visitor
from pages.widgets.open_study import NEW_STUDY

_Tab = Callable[[Store, Study], None]
_TABS: Mapping[str, _Tab] = {
    "Result": result.render,
    "Pairs": pairs.render,
    "Raters": raters.render,
    "Judges": judged.render,
    "Design": designing.render,
    "Export": exporting.render,
}


def render() -> None:
    """Show the list, the form of a new study, or the study that the address names."""
    with visitor.admin_store() as store, address.kept("page"):
        for add in (blind_pair.style, level_diff.style, result_table.style):
            add()
        opened = open_study.chosen(list_studies(store))
        if opened is None:
            _all(store)
        elif opened == NEW_STUDY:
            _new(store)
        else:
            _study(store, get_study(store, opened))


def _all(store: Store) -> None:
    parts.page(
        "Studies",
        "Raters compare or rate texts without knowing who wrote them.",
        "how-a-study-is-drawn",
        "How a study is drawn",
    )
    messages.news()
    listing.render(store)


def _new(store: Store) -> None:
    listing.head_of_new()
    messages.news()
    imported = importing.form(store)
    if st.toggle("Plan the size of a study", key="plan_new"):
        planning.render(store)
    if imported is not None:
        voted = get_study(store, imported).state == "unblinded"
        open_study.open_study(imported, "result" if voted else "raters")


def _study(store: Store, study: Study) -> None:
    listing.head(store, study)
    messages.news()
    designing.say_missed(study)
    rating = study.kind == "ratings"
    bodies = {
        open_study.TEXTS if rating and name == open_study.PAIRS else name: partial(body, store, study)
        for name, body in _TABS.items()
    }
    with files_of_now(store, study):
        parts.tabs(bodies, open_study.tab(study.study_id, list(bodies)))
