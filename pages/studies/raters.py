"""Raters of a study: progress, links, a preview, imported votes, and what an owner can do; after the unblinding how they agree.

Before the unblinding nothing here names a system.
"""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from core.errors import InputError
from core.schema.study import Answer, RatingAnswer, Study
from core.store import Store
from core.store.answers import answers_of, rating_assignments_of, ratings_of
from core.store.raters import raters_of
from core.study import lifecycle, raters
from core.study.analysis_set import released_record
from core.study.raters import (
    FAST_SECONDS,
    ONE_SIDE_P,
    ListProgress,
    RaterProgress,
    RatingProgress,
    list_progress,
)
from core.study.shipped import guideline_languages
from pages.studies import between_raters, designing, rated
from pages.studies.analysed import forget, results_of
from pages.widgets import address, parts
from pages.widgets.messages import app_address, mistakes_shown, moment, plain, showable, tell
from pages.widgets.parts import table
from pages.widgets.result_table import rater_bars

_SECONDS = (
    "Seconds: until the first answer. Visible: in a visible tab, over all appearances of the pair or text."
)


def render(store: Store, study: Study) -> None:
    """Raters, their links and progress, and what the owner can do about them; in an unblinded study their results first."""
    if study.state != "unblinded":
        _people(store, study)
        return
    record = released_record(store, study)
    bodies = (
        rated.bodies(record)
        if study.kind == "ratings"
        else between_raters.bodies(study.study_id, results_of(record))
    )
    bodies |= {"Progress": partial(_people, store, study)}
    names = list(bodies)
    parts.tabs(bodies, address.one("part", f"raters_part_{study.study_id}", names, names[0], address.slug))


def _people(store: Store, study: Study) -> None:
    """Progress, links and what the owner can do."""
    lines = list_progress(store, study)
    over = study.state == "unblinded"
    if over and not lines:
        st.write("No rater answered in this study.")
    elif not over and not lines:
        _add(store, study)
        _preview(store, study, app_address())
        if study.state == "draft":
            designing.state_box(store, study)
    if lines:
        _progress(study, lines)
    if not over and lines:
        with st.expander("Add raters"):
            _add(store, study)
        _links(store, study, app_address())
        if study.state == "draft":
            designing.state_box(store, study)
        _preview(store, study, app_address())
    if lines:
        _reported(store, study)
        if study.state == "open":
            _reminders(store, study)
        if not over:
            _change(store, study)
        _leave_out(store, study, lines)
    if study.asks == "levels":
        _import_votes(store, study)


def _progress(study: Study, lines: Sequence[ListProgress]) -> None:
    """One row a rater, and what to check about them."""
    of_pairs = [line for line in lines if isinstance(line, RaterProgress)]
    of_texts = [line for line in lines if isinstance(line, RatingProgress)]
    own: dict[str, list[str]] = {}
    if of_pairs:
        own["Left"] = [_number(line.left_rate, "{:.0%}") for line in of_pairs]
        own["Both good"] = [_number(line.both_good_rate, "{:.0%}") for line in of_pairs]
    if any(line.with_errors is not None for line in of_texts):
        own["Texts with errors"] = [_number(line.with_errors, "{}") for line in of_texts]
        own["Errors"] = [_number(line.errors, "{}") for line in of_texts]
    bars, config = rater_bars([line.done for line in lines], [line.total for line in lines])
    st.dataframe(
        {
            "Rater": [line.rater_id for line in lines],
            **bars,
            "Locked": ["yes" if line.finished else "" for line in lines],
            "Kind": [line.kind for line in lines],
            "Skipped": [line.skipped for line in lines],
            "Flagged": [line.flagged for line in lines],
            "Median seconds": [_number(line.median_seconds_first, "{:.0f}") for line in lines],
            "Median visible": [_number(line.median_seconds_visible, "{:.0f}") for line in lines],
            **own,
            "Repeats the same": [
                f"{line.repeats_same} of {line.repeats}" if line.repeats else "–" for line in lines
            ],
            "Last answer (UTC)": [moment(line.last_utc) for line in lines],
        },
        hide_index=True,
        key=f"progress_{study.study_id}",  # else a table keeps the size it had for another study
        column_config=config,
    )
    for line in lines:
        for flag in line.flags:
            st.warning(f"Check rater {plain(line.rater_id)}: {plain(flag)}")
        if line.excluded is not None:
            st.info(f"{plain(line.rater_id)} is excluded from the results: {plain(line.excluded)}")
    if of_texts:
        st.markdown(
            f":small[{_SECONDS} Check raters with a median below {FAST_SECONDS:g} seconds (from 10 texts on)."
            + ("]" if study.state == "unblinded" else " Results stay hidden until you unblind the study.]")
        )
        return
    st.markdown(
        f":small[{_SECONDS} Left: share of left among choices of a side. "
        f"Check raters with a median below {FAST_SECONDS:g} seconds, or with one side chosen more often than chance allows "
        f"(Holm p of all raters below {ONE_SIDE_P:g}), from 10 choices of a side on.]"
    )


def _reported(store: Store, study: Study) -> None:
    given: list[Answer | RatingAnswer] = [
        *answers_of(store, study.study_id),
        *ratings_of(store, study.study_id),
    ]
    noted = [a for a in given if a.invalid or a.comment]
    if not noted:
        return
    unit, whole, part = (
        ("pairs", "Question", "Level") if study.kind == "pairs" else ("texts", "Source", "Text")
    )
    # A text's level is what a rating study may compare: until it is unblinded a text is its number on the rater's list.
    numbers = {one.key: one.position for one in rating_assignments_of(store, study.study_id)}
    with st.expander(f"Reported {unit} and comments ({len(noted)})"):
        rows = [
            (
                a.rater_id,
                a.item_id,
                numbers.get(a.key, "no longer listed") if isinstance(a, RatingAnswer) else a.level,
                "invalid" if a.invalid else "",
                a.comment,
            )
            for a in noted
        ]
        table(pd.DataFrame(rows, columns=["Rater", whole, part, "Reported as", "Comment"]))


def _reminders(store: Store, study: Study) -> None:
    with st.expander("Reminders of open work"):
        found = lifecycle.reminders(store, study, app_address())
        if not found:
            st.write("No rater has open work.")
        for reminder in found:
            st.write(plain(reminder.rater_id))
            st.code(reminder.text, language=None, wrap_lines=True)


def _leave_out(store: Store, study: Study, lines: Sequence[ListProgress]) -> None:
    people = [line.rater_id for line in lines if line.kind != "dry run"]
    if not people:
        return
    with st.expander("Exclude a rater, or let one withdraw"):
        rater_id = st.selectbox("Rater", people, format_func=showable, key="leave_out_rater")
        excluded = next(line.excluded for line in lines if line.rater_id == rater_id)
        with mistakes_shown():
            if excluded is None:
                reason = st.text_input(
                    "Reason (kept in the log and the exports)",
                    key=f"leave_out_reason_{study.study_id}",
                    persist_state="session",
                )
                if st.button(
                    "Exclude from the results", help="The answers are kept. You can include them again."
                ):
                    lifecycle.exclude_rater(store, study, rater_id, reason)
                    del st.session_state[f"leave_out_reason_{study.study_id}"]  # it is about this rater only
                    tell(f"{rater_id} is excluded from the results.")
            elif st.button("Count again"):
                lifecycle.include_rater(store, study, rater_id)
                tell(f"{rater_id} is counted again.")
            _withdrawal(store, study, rater_id)


def _withdrawal(store: Store, study: Study, rater_id: str) -> None:
    st.markdown(
        "**Withdrawal** deletes the rater's comments and pseudonym from this study and its log for good. "
        "Earlier backups and exports still contain them."
    )
    kept = st.radio(
        "Their votes",
        [True, False],
        format_func=lambda keep: (
            "stay and count, without a name" if keep else "stay, left out of the results"
        ),
        key="withdraw_votes",
    )
    sure = st.checkbox("Yes, delete them: this cannot be undone", key="withdraw_sure")
    if st.button("Withdraw this rater", disabled=not sure):
        new = lifecycle.withdraw_rater(store, study, rater_id, keep_votes=kept)
        forget()
        tell(f"Comments and pseudonym are deleted; the votes are under {new}.")


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)


def _links(store: Store, study: Study, base: str) -> None:
    """Each rater's personal link."""
    urls = {link.rater_id: link for link in raters.links(store, study)}
    people = [rater for rater in raters_of(store, study.study_id) if not rater.imported]
    if not people:
        return
    works = {
        "draft": " They start to work when you open the study.",
        "closed": " They work again when you open the study again.",
    }
    st.markdown(
        "**Links.** Send each rater their own link by a private channel: whoever has it can answer in their name."
        + works.get(study.state, "")
    )
    st.dataframe(
        {
            "Rater": [rater.rater_id for rater in people],
            "Kind": ["preview" if rater.dry_run else "rater" for rater in people],
            "Link": [
                urls[rater.rater_id].url(base) if rater.rater_id in urls else "revoked" for rater in people
            ],
        },
        hide_index=True,
        key=f"links_{study.study_id}",
        column_config={"Link": st.column_config.LinkColumn(width="large")},
    )


def _add(store: Store, study: Study) -> None:
    with st.form("add_raters", clear_on_submit=True):
        names = st.text_input(
            "New raters, separated by commas", help="Pseudonyms, such as r1, r2: they appear in exports."
        )
        language = st.selectbox("Guidelines in", ["as the study", *guideline_languages(store, study)])
        if not st.form_submit_button("Add raters", type="primary"):
            return
    with mistakes_shown():
        ids = [name.strip() for name in names.split(",") if name.strip()] or [""]
        raters.add_raters(store, study, ids, language=None if language == "as the study" else language)
        note = raters.telling_ids(store, study, ids)
        tell(f"Added {', '.join(ids)}.{f' {note}' if note else ''}")


def _preview(store: Store, study: Study, base: str) -> None:
    if study.has_ended:  # a closed study shows nothing to preview
        return
    if st.button("Preview as a rater", help="A dry run: its answers are marked and never count."):
        link = raters.preview_link(store, study)
        st.success("Open this link in another window. Its answers are a dry run and never count.")
        st.code(link.url(base), language=None)


def _change(store: Store, study: Study) -> None:
    ids = [rater.rater_id for rater in raters_of(store, study.study_id) if not rater.imported]
    if not ids:
        return
    with st.expander("Revoke a link or issue a new one"):
        rater_id = st.selectbox("Rater", ids)
        with st.container(horizontal=True), mistakes_shown():
            if st.button("Revoke", help="The link stops working; answers are kept."):
                raters.revoke_link(store, study, rater_id)
                tell(f"The link of {rater_id} no longer works.")
            if st.button("Issue a new link", help="The old link stops working; answers are kept."):
                raters.reissue_link(store, study, rater_id)
                tell(f"{rater_id} has a new link.")


def _import_votes(store: Store, study: Study) -> None:
    with st.expander("Import votes that were collected elsewhere"):
        st.write(
            "Factual's votes JSON: question id, then level, then AI (candidate), Expert (comparator), "
            "Both are good or Both are bad. These votes have no side and no time."
        )
        with st.form("import_votes", clear_on_submit=True):
            upload = st.file_uploader("Votes", type=["json"], key="votes_file")
            rater_id = st.text_input("Pseudonym of the person who voted")
            submitted = st.form_submit_button("Import votes")
    if not submitted:
        return
    with mistakes_shown():
        if upload is None:
            raise InputError("Choose a file first.")
        count = raters.import_votes_file(store, study, rater_id, upload.getvalue(), upload.name)
        tell(f"{count} votes of {rater_id} imported.")
