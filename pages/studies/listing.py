"""All studies in a list, and the head of the one that is open."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import AssayError, counted
from core.results.study.in_short import StudyInShort, may_be_listed, short_summary
from core.runs.overview import OpenStudy, so_far
from core.schema.study import Asks, State, Study
from core.store import Store
from core.store.studies import items_of, list_studies, outputs_of, read_log
from core.study.analysis_set import released_record
from pages.studies.analysed import fingerprint, results_of
from pages.widgets import open_study, verdict_card, visitor
from pages.widgets.messages import plain
from pages.widgets.open_study import NEW_STUDY
from pages.widgets.parts import studies

_KINDS: dict[Asks, str] = {
    "levels": "Pairs with levels",
    "preference": "Plain pairs",
    "ratings": "Ratings",
}
_COLOURS: dict[State, Literal["green", "orange", "blue", "gray"]] = {
    "open": "green",
    "closed": "orange",
    "unblinded": "blue",
    "draft": "gray",
}
"""In the order of the list: what runs first."""
_WIDTHS = (3.0, 2.5, 1.8, 2.8, 1.6)
_HEADS = ("Study", "Kind and state", "Votes", "Verdict", "Agreement")
_AT_ONCE, _TICK = 0.7, 1.0
"""Seconds that one drawing of the list may spend on results, after which it begins no further study; seconds between two drawings
while some are missing."""
_STYLE = (
    "<style>"
    ".st-key-studies_list { gap: 0; }"
    "[class*='st-key-studies_row_'] { padding: .4rem 0; border-top: 1px solid rgba(128, 128, 128, .35); }"
    "[class*='st-key-studies_row_'] a p { font-weight: 600; white-space: normal; overflow-wrap: anywhere; }"
    "@media (max-width: 640px) {"
    " .st-key-studies_heads { display: none; }"
    " [class*='st-key-studies_row_'] [data-testid='stHorizontalBlock'] { gap: .25rem; }"
    " [class*='st-key-studies_row_'] [data-testid='stColumn']:not(:has(p)) { display: none; } }"
    "</style>"
)


def render(store: Store) -> None:
    """Show every study with its state; its name opens it."""
    if st.button("New study", type="primary", icon=":material/add:", key="studies_new"):
        open_study.open_study(NEW_STUDY)
    if not list_studies(store):
        st.markdown(
            "There is no study yet. A new study needs one file: questions with the answers of two systems, or texts to rate."
        )
        return
    st.html(_STYLE)
    missing = any(_study_line(store, one) is None for one in list_studies(store))
    st.fragment(_rows, run_every=_TICK if missing else None)(missing)


def head_of_new() -> None:
    """Show the head of a study that is still to be made."""
    with _top("New study"):
        pass


def head(store: Store, study: Study) -> None:
    """Show the study's name, state and size, in two lines. Its systems are named once it is unblinded."""
    with st.container(gap=None):
        with _top(study.name):
            st.badge(study.state, color=_COLOURS[study.state])
        st.markdown(f":small[{plain(_size(store, study))}]")


@contextmanager
def _top(name: str) -> Iterator[None]:
    """The title, with a link to the list before it; what is drawn inside of the block follows in the same line."""
    # A title keeps room below it, which would lift it above what stands beside it.
    st.html("<style>.st-key-study_top h1 { padding: 0 !important; }</style>")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="study_top"):
        st.page_link(studies(), label="All studies", icon=":material/arrow_back:")
        st.title(plain(name), anchor=False, width="content")
        yield


def _size(store: Store, study: Study) -> str:
    n_items, n_texts = len(items_of(store, study.study_id)), len(outputs_of(store, study.study_id))
    raters = counted(so_far(store, study).n_raters, "rater")
    if study.kind == "ratings":
        return f"{counted(n_items, 'source')}, {counted(n_texts, 'text')}, {raters}"
    systems = (
        f"{study.design.candidate} and {study.design.comparator}, " if study.state == "unblinded" else ""
    )
    return f"{systems}{counted(n_items, 'question')}, {counted(n_texts // 2, 'pair')}, {raters}"


def _rows(missing: bool) -> None:
    """The list; results that are not known yet are computed after it is drawn, as many as fit into a moment."""
    with visitor.admin_store() as store:
        known = _sort_studies(store, list_studies(store))
        with st.container(key="studies_list"):
            with st.container(key="studies_heads"):
                for name, column in zip(_HEADS, st.columns(_WIDTHS), strict=True):
                    column.markdown(f":small[**{name}**]")
            places = [(study, place) for study in known if (place := _row(store, study)) is not None]
        ends = monotonic() + _AT_ONCE
        while places and monotonic() < ends:
            study, place = places.pop(0)
            _fill(place, _computed(store, study))
    if bool(places) != missing:
        st.rerun()  # the clock starts or stops


_Place = tuple[DeltaGenerator, DeltaGenerator]
"""Of a verdict and of an agreement."""


def _row(store: Store, study: Study) -> _Place | None:
    """One study; returns the places of its results where they are still to be computed."""
    with st.container(key=f"studies_row_{study.study_id}"):
        name, kind, votes, verdict, agreement = st.columns(_WIDTHS, vertical_alignment="center")
    name.page_link(
        studies(),
        label=plain(study.name),
        icon=":material/arrow_forward:",
        query_params=open_study.link(study.study_id),
    )
    kind.markdown(f":small[{_KINDS[study.asks]}] :{_COLOURS[study.state]}-badge[{study.state}]")
    done = so_far(store, study)
    if done.n_raters:
        votes.progress(done.share, text=f":small[{_votes(done)}]")
    else:
        votes.markdown(":small[no rater yet]")
    place, short = (verdict.empty(), agreement.empty()), _study_line(store, study)
    if short is None:
        place[0].markdown(":small[Computing ...]")
        return place
    _fill(place, short)
    return None


def _fill(place: _Place, short: StudyInShort) -> None:
    verdict, agreement = place
    if short.verdict:
        verdict.markdown(f":small[**{plain(short.verdict)}**]")
    if short.agreement_said:
        agreement.markdown(f":small[{plain(short.agreement_said)}]")


def _votes(done: OpenStudy) -> str:
    unit = "vote" if done.study.kind == "pairs" else "rating"
    return f"{done.done:,} of {counted(done.n_asked, unit)}"


def _sort_studies(store: Store, offered: Sequence[Study]) -> list[Study]:
    """Running studies first, then closed ones, those that are unblinded, and drafts; the newest of each first."""

    def since(study: Study) -> str:
        if study.state != "unblinded":
            return study.created_utc
        ends = [one.at_utc for one in read_log(store, study.study_id) if one.action == "unblinded"]
        return max(ends, default=study.created_utc)

    states = list(_COLOURS)
    newest = sorted(offered, key=lambda study: (since(study), study.study_id), reverse=True)
    return sorted(newest, key=lambda study: states.index(study.state))


_NO_VERDICT = StudyInShort("", "", None, "")
_NOT_OPENED = StudyInShort("Not looked at yet", "", None, "")


@st.cache_resource(show_spinner=False)
def _known() -> dict[int, StudyInShort]:
    """Fingerprint of an unblinded study -> its line; small enough to keep for as long as the server lives."""
    return {}


def _study_line(store: Store, study: Study) -> StudyInShort | None:
    """The line of a study; None where it is still to be computed."""
    if study.state != "unblinded" or study.kind != "pairs":
        return _NO_VERDICT
    record = released_record(store, study, seen=False)
    return _known().get(fingerprint(record)) if may_be_listed(record) else _NOT_OPENED


def _computed(store: Store, study: Study) -> StudyInShort:
    """Compute the line of an unblinded study, by the same call as the tab Result at its defaults."""
    record = released_record(store, study)
    number = fingerprint(record)
    try:
        short = short_summary(results_of(record), verdict_card.name)
    except AssayError as problem:
        short = StudyInShort(str(problem), "", None, "")
    _known()[number] = short
    return short
