"""From an open verdict to a study: choose the texts whose labels tell most, and make a draft of them with one press."""

from dataclasses import replace

import streamlit as st

from core.analyses.next_labels import ANALYSIS as NEXT_LABELS
from core.analyses.next_labels import NextOptions
from core.errors import counted
from core.formats.panel.beside import read_texts_of
from core.results.check.escalation import sent_from
from core.results.check.next_labels import add_labels, chosen_from, draft_study, raters_wanted
from core.results.check.verdict import Check
from core.schema.analysis import PanelChoice
from core.schema.panel import Panel, unlabelled
from core.sources.named import StudySource
from core.sources.panel import panel_of_source
from core.sources.reading import reading_in
from core.store import Store
from core.store.studies import inclusion_of, list_studies
from core.study.analysis_set import released_record
from pages.tabs.checked import choice
from pages.widgets import address, analysis, open_study
from pages.widgets.messages import code_markdown, mistakes_shown, plain, showable
from pages.widgets.parts import part

_SENT = "check_next_sent"
_USUAL = 100
"""Texts to label if no number is known."""


def offer_study(store: Store, source: choice.Given, check: Check) -> None:
    """Offer the texts to label next, where a verdict is open. source: what is checked, whose texts raters will read."""
    if not any(one.verdict == "INCONCLUSIVE" for one in check.judges):
        return
    part(
        NEXT_LABELS.title,
        "Which texts should people label to settle the verdict? Texts on which people and judge are likely to differ are chosen more "
        "often, with known probabilities, so that the estimate stays unbiased.",
        NEXT_LABELS.section,
    )
    needed = max((one.labels_needed or 0 for one in check.judges), default=0)
    n_free = int(unlabelled(check.panel).sum())
    about = f"About {counted(needed, 'further labelled item')} would settle it." if needed else ""
    if source.study is not None and source.study.kind == "pairs":
        st.markdown(
            f"{about.replace('item', 'question')} Pairs cannot be added to this study. Plan a larger one."
        )
        open_study.button(open_study.NEW_STUDY, label="Plan the size of a study")
        return
    if not n_free:
        st.markdown(
            f"{about} No text is left to label: add texts that only the judge scored, with empty cells for the raters."
        )
        return
    with mistakes_shown():
        _offer(store, source, check, n_free, needed, about)


def _offer(store: Store, source: choice.Given, check: Check, n_free: int, needed: int, about: str) -> None:
    key = f"check_next_{source.place}"
    left, middle, right = st.columns([1, 2, 1], vertical_alignment="bottom")
    n: int = left.number_input(
        "Texts", 1, n_free, min(needed or _USUAL, n_free), key=f"{key}_n", help=about or None
    )
    name = middle.text_input("Name of the study", _name(check), key=f"{key}_name")
    options = NextOptions(n=n, whole_items=check.use == "rank")
    data = analysis.Data(source.key, lambda: choice.dossier(source, check.panel))
    answer = analysis.answer_of(NEXT_LABELS, options, data)
    pressed = right.button(
        "Make a study", type="primary", key=f"{key}_make", icon=":material/how_to_vote:", width="stretch"
    )
    if pressed:
        texts = read_texts_of(*source.texts(), check.panel)
        study, _ = draft_study(store, name, check.panel, answer.result.drawn, texts, use=check.use)
        st.session_state[_SENT] = (key, study.name, study.study_id)
    if st.session_state.get(_SENT, ("",))[0] == key:
        st.success(code_markdown(f"{st.session_state[_SENT][1]} is a draft. Add raters, then open it."))
        open_study.button(st.session_state[_SENT][2], "raters")
    raters = raters_wanted(check.panel, check.use)
    st.markdown(
        f":small[{plain(' '.join(answer.all_sentences))} Each text goes to {counted(raters, 'rater')}, who answer on "
        "the scale of the labels there are. They see neither the judge's scores nor the probabilities.]"
    )
    with st.expander(f"The {counted(len(answer.result.labels), 'chosen text')}"):
        analysis.show_tables(answer, answer.tables)


def _name(check: Check) -> str:
    stem = check.panel.name.removeprefix("study ").rsplit(".", 1)[0]
    return f"{stem}: next labels"[:80]


def choose_returned_labels(store: Store, source: choice.Given) -> choice.Given:
    """Choose the studies whose votes are further labels: unblinded ones of texts that a check has chosen.

    At first those of this input. Not those that it sent to people as too uncertain (`core.results.check.escalation`). A study on which the check rests itself is not offered.
    """
    studies = {
        study.study_id: study
        for study in list_studies(store)
        if study.kind == "ratings"
        and study.state == "unblinded"
        and (source.study is None or study.study_id != source.study.study_id)
        and inclusion_of(store, study.study_id)
        and not study.dataset_file.startswith(sent_from(""))
    }
    if not studies:
        return source
    own = [number for number, one in studies.items() if one.dataset_file == chosen_from(source.command[0])]
    place = f"check_labels_{source.place}"
    chosen: list[int] = st.multiselect(
        "Further labels",
        list(studies),
        format_func=lambda number: showable(studies[number].name),
        key=address.several("labels", place, list(studies), own),
        placeholder="Studies of texts that a check chose",
        help="Votes of unblinded studies, weighted by the probabilities with which their texts were chosen.",
    )
    if not chosen:
        return source
    records = [released_record(store, studies[number]) for number in chosen if number in studies]

    def read() -> Panel:
        found = source.read()
        for record in records:
            found = add_labels(
                found, panel_of_source(StudySource(record.study.name), [], PanelChoice(), reading_in(store))
            )
        return found

    return replace(
        source,
        key=(*source.key, "labels", tuple(hash(repr(record.rating_answers)) for record in records)),
        read=read,
        command=(
            *source.command,
            *(word for record in records for word in ("--labels", f"study:{record.study.name}")),
        ),
    )
