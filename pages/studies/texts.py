"""What raters read: guidelines, consent text, labels; the leakage audit of their texts; the study's log."""

import re

import pandas as pd
import streamlit as st

from core.analyses.leakage import ANALYSIS as LEAKAGE
from core.analyses.leakage import leakage_of
from core.schema.analysis import Answer
from core.schema.study import Study
from core.store import Store
from core.store.studies import read_log, read_wording
from core.study import lifecycle
from core.study.audit import LeakageAudit, audit_study
from core.study.guidelines import (
    CONSENT,
    GUESS_QUESTION,
    LONGEST_LABEL,
    NO_BASE,
    OWN_BASE,
    REFERENCE,
    TITLE,
    label_keys,
    levels_note,
)
from core.study.masking import mask_systems
from core.study.shipped import aids_read, guideline_languages, guidelines_read, practice_read, wording_read
from pages.widgets.analysis import show_tables
from pages.widgets.blind_pair import MODE_NAMES
from pages.widgets.messages import mistakes_shown, moment, plain, tell
from pages.widgets.parts import explained, table

_LABELS = {
    "level_question": "Question above a pair ({level}: its level)",
    "pair_question": "Question above a pair",
    "left": "Button 1",
    "right": "Button 2",
    "both_good": "Button 3",
    "both_bad": "Button 4",
    "box_left": "Name of the first answer",
    "box_right": "Name of the second answer",
    "no_answer": "What stands for an empty answer",
    GUESS_QUESTION: "Question after the last answer",
    "guess_left": "Its button 1",
    "guess_right": "Its button 2",
    "guess_unsure": "Its button 3",
    "invalid_keep": "Tick that reports a broken pair, where its votes count",
    "invalid_leave_out": "The same, where such pairs are left out",
    "invalid_text": "Tick that reports a broken text, which is left out",
    "earlier_turns": "Line that unfolds earlier turns ({number}: how many)",
    "turn_user": "Name of the person in a conversation",
    "turn_assistant": "Name of the assistant",
    "turn_system": "What the system's instruction is called",
    "turn_tool": "Name of a tool",
    "translated": "Warning where the browser has translated the page",
    "translated_why": "Why it warns",
}
_BASES = {
    OWN_BASE: "from an answer's own A0",
    REFERENCE: "from the reference",
    NO_BASE: "between the two answers",
}
_LONG_HASH = re.compile(r"([0-9a-f]{32})(?=[0-9a-f])")  # broken in two, so that a table need not cut it


def render_words(store: Store, study: Study) -> None:
    """Guidelines, consent text, labels, practice pairs and aids."""
    if study.has_ended:
        st.info(f"The study is {study.state}, so these texts cannot change.")
    elif study.first_vote_utc is not None:
        st.info(
            f"Frozen since the first answer ({moment(study.first_vote_utc)} UTC). Only a language that no rater reads can still "
            "change."
        )
    _guidelines(store, study)
    st.divider()
    _wording(store, study)
    if study.kind == "pairs":
        _help_for_raters(store, study)


def _help_for_raters(store: Store, study: Study) -> None:
    """Practice pairs, meanings of levels and marked differences, as raters see them."""
    aids = aids_read(store, study)
    with st.expander("Practice pairs and aids"):
        if study.named_levels:
            meanings = {level: aids.meanings.get(level, "not explained") for level in study.named_levels}
            st.markdown("\n".join(f"- {plain(level)}: {plain(said)}" for level, said in meanings.items()))
        modes = {
            base: shown for base, shown in aids.modes.items() if (base == NO_BASE) == (not study.named_levels)
        }
        for base, shown in modes.items():
            names = ", ".join(MODE_NAMES[mode] for mode in shown)
            st.markdown(f"Differences {_BASES[base]}: {names}. At first: {MODE_NAMES[aids.first[base]]}.")
        for number, pair in enumerate(practice_read(store, study), start=1):
            st.markdown(f"**Practice {number}.** {plain(pair.question)}")
            st.markdown(f":small[Left: {plain(pair.left)}]")
            st.markdown(f":small[Right: {plain(pair.right)}]")


def _guidelines(store: Store, study: Study) -> None:
    """Edit the guidelines in one language; they may name no system."""
    languages = guideline_languages(store, study)
    left, right = st.columns(2)
    chosen = left.selectbox("Language", languages, languages.index("en"))
    other = right.text_input("Or another language (BCP 47, such as cs or pt-BR)").strip()
    language = other or chosen
    text = st.text_area(
        "Guidelines (Markdown). They must not name the systems.",
        guidelines_read(store, study, language),
        height=380,
        key=f"guideline_{study.study_id}_{language}",  # not another study's text,
        disabled=study.has_ended,
    )
    if note := levels_note(study):
        st.warning(note)
    with mistakes_shown():
        if st.button("Save guidelines", disabled=study.has_ended):
            lifecycle.set_guideline(store, study, language, text)
            tell(f"The guidelines in {language} are saved.")
    with st.expander("As raters see it"):
        st.markdown(text)


def _wording(store: Store, study: Study) -> None:
    """Edit the consent text and the labels in one language; an empty label keeps Assay's own.

    Raters of single texts have few labels: their task holds the other words.
    """
    keys = label_keys(study.asks)
    own = read_wording(store, study.study_id)
    language = (
        st.text_input("Language (BCP 47)", study.language, key=f"wording_language_{study.study_id}").strip()
        or "en"
    )
    said, mine = wording_read(store, study, language, with_own=False), own.get(language, {})
    with st.form(f"wording_{study.study_id}_{language}"):
        consent = st.text_area(
            "Consent text (Markdown; raters are asked if any language has one)",
            mine.get(CONSENT, ""),
            height=160,
            disabled=study.has_ended,
        )
        title = st.text_input(
            "Title that raters read above every pair or text (empty: none; they never see the study's name)",
            mine.get(TITLE, ""),
            max_chars=LONGEST_LABEL,
            disabled=study.has_ended,
        )
        columns = st.columns(2)
        labels = {
            key: columns[n % 2].text_input(
                _LABELS[key],
                mine.get(key, ""),
                max_chars=LONGEST_LABEL,
                placeholder=said[key],
                disabled=study.has_ended,
            )
            for n, key in enumerate(keys)
        }
        submitted = st.form_submit_button("Save these texts", disabled=study.has_ended)
    if submitted:
        with mistakes_shown():
            given = {CONSENT: consent, TITLE: title, **labels}
            lifecycle.set_wording(
                store, study, language, {k: text for k, text in given.items() if text.strip()}
            )
            tell(f"Consent, title and labels in {language} are saved.")


def log_table(store: Store, study: Study) -> None:
    """Everything an owner did, oldest first; no line names a system before the study is unblinded."""
    rows = [
        (
            moment(one.at_utc),
            one.action,
            one.rater_id or "",
            _LONG_HASH.sub(r"\1 ", mask_systems(study, one.detail)),
        )
        for one in read_log(store, study.study_id)
    ]
    table(pd.DataFrame(rows, columns=["Time (UTC)", "Action", "Rater", "Detail"]))


_SHOWN = {"warning": st.warning, "hint": st.warning, "none": st.info, "unknown": st.info}


def render_audit(store: Store, study: Study) -> None:
    """Verdict, table and linkage; it warns and never blocks. Reads no votes."""
    audit = audited(store, study)
    if study.state != "unblinded":
        audit = audit.with_roles(study.design)
    found = leakage_of(study.name, study.dataset_sha256, audit)
    explained(LEAKAGE.question, LEAKAGE.section)
    _SHOWN[audit.severity](plain(" ".join(found.reading.sentences)))
    show_tables(Answer(LEAKAGE, LEAKAGE.Options(), found), ("leakage",))
    st.markdown(plain(found.linkage.sentence))


def audited(store: Store, study: Study) -> LeakageAudit:
    """The leakage audit, computed once for the same texts and roles."""
    design = study.design
    roles = (design.candidate, design.comparator)
    key = (study.study_id, study.dataset_sha256, *roles, design.level_order, design.shown)
    return _audited(store, study, key)


@st.cache_data(show_spinner=False, max_entries=64)
def _audited(_store: Store, _study: Study, key: tuple[object, ...]) -> LeakageAudit:
    """The audit, once for the same texts and roles, which `key` stands for."""
    return audit_study(_store, _study)
