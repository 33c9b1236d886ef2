"""Edited twins on the page Judges: made from the chosen texts, looked at as differences, passed on to a judge."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.generation.twins import BY_RULES, PROBES
from core.judges.twins import (
    KIND,
    LEFT_OUT_FILE,
    TWINS_FILE,
    Twin,
    diff_of,
    levels_of,
    plan_twins,
    usual_worse,
)
from core.results.judges.twins import twins_made, twins_table
from core.runs.judging import pieces_done
from core.runs.path import saved_run, written
from core.runs.records import write_pieces
from core.schema.runs import RULES, Run
from core.schema.scores import EDIT, OutputSet, mask_notes
from core.sources.texts import Texts
from core.store import Store
from pages.tabs import downloads, new_run
from pages.widgets import chosen_judge, chosen_scores, level_diff, menus, result_table, settings_form
from pages.widgets.messages import capital, mistakes_shown, plain
from pages.widgets.parts import explained, nothing, part, table

_PREFIX = f"judges_{KIND.name}"
"""Of the form's widgets, as new_run.model has it."""
MOST_EXAMPLES = 3
MOST_LISTED = 50


def start(store: Store, texts: Texts, contents: Any) -> None:
    """Show a form that makes twins of the chosen texts, if they have levels, name their systems, and are no twins themselves."""
    if not isinstance(contents, OutputSet) or any(EDIT in one.labels for one in contents.outputs):
        return
    if mask_notes(one.system for one in contents.outputs):
        return  # the better and the worse text of a mask may be of two systems
    levels = chosen_scores.once(("levels of twins", contents.sha256, texts[1]), lambda: levels_of(contents))
    if not levels:
        return
    with st.expander("Test a judge for bias: make edited twins of these texts"), mistakes_shown():
        explained(
            "A twin is a text with one edit that should not sway a judge, such as padding or bold type. Have a judge score the "
            "twins, and compare its scores with those of the unedited texts.",
            "pairs#twins",
        )
        left, right = st.columns(2)
        better = left.selectbox("Better text", levels, key=f"{_PREFIX}_better")
        worse = right.selectbox("Worse text", levels, index=usual_worse(len(levels)), key=f"{_PREFIX}_worse")
        settings_form.given(f"{_PREFIX}_backend", RULES)
        who = st.container()
        wanted = new_run.model(KIND)
        offered = list(BY_RULES if wanted.model.by_rules else PROBES)
        with who:
            probes = st.pills(
                "Edits",
                offered,
                default=offered,
                selection_mode="multi",
                format_func=lambda name: PROBES[name].title,
                key=f"{_PREFIX}_probes_{len(offered)}",
                help="; ".join(
                    f"{PROBES[name].title}: the {PROBES[name].role} text is {PROBES[name].does}"
                    for name in offered
                ),
            )
        if better == worse or not probes:
            nothing("choose two different levels and at least one edit")
            return
        plan = chosen_scores.once(
            ("twins planned", contents.sha256, texts[1], better, worse, *probes),
            lambda: plan_twins(contents, probes=probes, levels=(better, worse)),
        )
        chosen_scores.read_notes(plan.notes[1:])
        if st.button(
            f"Make {len(plan.twins):,} twins of {plan.n_pairs:,} pairs",
            key=f"{_PREFIX}_start",
            type="primary",
            disabled=wanted.model.missing is not None,
        ):
            name = f"{KIND.name}-{texts[1].rpartition('.')[0] or texts[1]}.jsonl"
            new_run.start(store, write_pieces(plan.twins), name, wanted)
            st.rerun()


def result(store: Store, run: Run) -> None:
    """Show how many twins were made, three of them as differences, and what was left out."""
    part(
        "Edited twins",
        "Every twin keeps the facts of its text. Have a judge or a metric score the file of twins: where the scores of twins "
        "differ from those of the unedited texts on average, the judge is biased.",
        "pairs#twins",
    )
    at = saved_run(store, run)
    twins = chosen_scores.once(("twins", *menus.key_of(store, run)), lambda: pieces_done(at))
    if not twins:
        nothing("no twin is made yet; the tab Progress shows the run")
        return
    result_table.show(twins_table(twins_made(twins)))
    files = chosen_scores.once(("twins written", *menus.key_of(store, run)), lambda: written(at))
    with st.container(horizontal=True):
        if st.button(
            "Judge these twins", key=f"{_PREFIX}_judge", type="primary", icon=":material/arrow_forward:"
        ):
            new_run.TEXTS.take_file(files[TWINS_FILE], f"{KIND.name}-run-{run.run_id}.jsonl")
            chosen_judge.remember((chosen_scores.NEW, 0))
            st.rerun()
        downloads.button(TWINS_FILE, files[TWINS_FILE], f"{_PREFIX}_take")
    _examples(twins)
    _left_out(twins)


def _examples(twins: Sequence[Twin]) -> None:
    made = [name for name in PROBES if any(one.probe == name and one.edited is not None for one in twins)]
    if not made:
        return
    part("Examples", "Underlined: added. Struck through: taken out. Everything else stays as it was.")
    probe = st.segmented_control(
        "Edit",
        made,
        default=made[0],
        required=True,
        format_func=lambda name: PROBES[name].title,
        key=f"{_PREFIX}_probe",
    )
    found = [one for one in twins if one.probe == probe and one.edited is not None]
    step = max(1, len(found) // MOST_EXAMPLES)
    for one in found[::step][:MOST_EXAMPLES]:
        title = f"{capital(one.role)} text, {one.row.level}: {one.row.item_id[:40]}, {one.row.system[:40]}"
        level_diff.segments_card(title, diff_of(one), one.row.language)


def _left_out(twins: Sequence[Twin]) -> None:
    lost = [one for one in twins if one.edited is None]
    if not lost:
        return
    part("Left out", "A twin that breaks a fact is refused. Its text stands in the file only as made.")
    if len(lost) > MOST_LISTED:
        st.markdown(
            f":small[The first {MOST_LISTED} of {len(lost):,}; `{LEFT_OUT_FILE}` in the tab Files has all.]"
        )
        lost = lost[:MOST_LISTED]
    table(
        pd.DataFrame(
            {
                "Item": [one.row.item_id for one in lost],
                "System": [one.row.system for one in lost],
                "Edit": [PROBES[one.probe].title for one in lost],
                "Reason": [one.reason for one in lost],
                "Detail": [plain(one.detail) for one in lost],
            }
        )
    )
