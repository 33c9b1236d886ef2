"""Raters of a study: their personal links, a preview, votes that were collected elsewhere."""

import streamlit as st

from core.errors import InputError
from core.schema.study import Study
from core.store import Store
from core.store.raters import raters_of
from core.study import raters
from core.study.guidelines import shipped_languages
from pages.widgets.messages import app_address, mistakes_shown, tell


def links_form(store: Store, study: Study) -> None:
    """Add raters, show, revoke and re-issue links, preview."""
    _add(store, study)
    urls = {link.rater_id: link for link in raters.links(store, study)}
    people = [rater for rater in raters_of(store, study.study_id) if not rater.imported]
    base = app_address()
    if people:
        st.write(
            "Send each rater their own link, by a private channel: who has it can answer in their name. "
            "A preview's link is for you: its answers never count."
        )
        st.dataframe(
            {
                "Rater": [rater.rater_id for rater in people],
                "Kind": ["preview" if rater.dry_run else "rater" for rater in people],
                "Link": [
                    urls[rater.rater_id].url(base) if rater.rater_id in urls else "revoked"
                    for rater in people
                ],
            },
            hide_index=True,
            column_config={"Link": st.column_config.TextColumn(width="large")},
        )
        if study.state == "draft":
            st.info("The study is a draft: links start to work when you open it (Overview).")
    _preview(store, study, base)
    _change(store, study)
    if study.kind == "pairs":
        _import_votes(store, study)


def _add(store: Store, study: Study) -> None:
    with st.form("add_raters", clear_on_submit=True):
        names = st.text_input("New raters, separated by commas", help="Pseudonyms: they appear in exports.")
        language = st.selectbox("Guidelines in", ["as the study", *shipped_languages(study.kind)])
        if not st.form_submit_button("Add raters"):
            return
    with mistakes_shown():
        ids = [name.strip() for name in names.split(",") if name.strip()] or [""]
        raters.add_raters(store, study, ids, language=None if language == "as the study" else language)
        tell(f"Added {', '.join(ids)}.")


def _preview(store: Store, study: Study, base: str) -> None:
    if st.button("Preview as a rater", help="A dry run: answers are marked and never counted."):
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
            "The paper's votes JSON: question id, then level, then AI (candidate), Expert (comparator), "
            "Both are good or Both are bad. Such votes have no side and no time."
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
