"""The page Start: a button a question, what runs and waits, and that it is the admin's alone."""

import pytest
from helpers.pages.generate_visit import press, said
from helpers.pages.judges_visit import CLAIMS, texts, waiting
from helpers.texts.factories import dataset, study_in
from streamlit.testing.v1 import AppTest

from core.store import Store
from pages.widgets import chosen_scores, menus
from pages.widgets.visitor import FOR_THE_ADMIN


def visit() -> AppTest:
    """The page within the navigation that the app gives an admin."""

    def page() -> None:
        import streamlit as st

        from pages import start

        def elsewhere() -> None:
            import streamlit as st

            st.title("elsewhere")

        others = ("studies", "generate", "metrics", "judges", "specialist", "check")
        here = st.Page(start.render, title="Start", url_path="start", default=True)
        st.navigation([here, *(st.Page(elsewhere, title=name, url_path=name) for name in others)]).run()

    at = AppTest.from_function(page, default_timeout=30).run()
    assert not at.exception
    return at


@pytest.mark.usefixtures("cookies")
def test_four_questions_begin_with_a_button_each(store: Store) -> None:
    at = visit()
    assert [button.label for button in at.button] == [
        *("Check a judge", "New study", "Score texts", "Make test data")
    ]
    assert [heading.value for heading in at.header] == ["Running now"]


@pytest.mark.usefixtures("cookies")
@pytest.mark.parametrize(
    ("button", "slot", "chosen"),
    [
        ("Score texts", "metrics_scores_chosen", (chosen_scores.NEW, 0)),
        ("Make test data", "run_choice", menus.NEW_RUN),
    ],
)
def test_a_button_opens_its_page_with_the_form(store: Store, button: str, slot: str, chosen: object) -> None:
    at = press(visit(), button)
    assert at.title[0].value == "elsewhere"
    assert at.session_state[slot] == chosen


@pytest.mark.usefixtures("cookies")
def test_a_new_study_is_an_address(store: Store) -> None:
    at = press(visit(), "New study")
    assert at.title[0].value == "elsewhere"
    assert at.query_params["study"] == "new"


@pytest.mark.usefixtures("cookies")
def test_what_runs_and_what_waits_has_a_button_to_its_page(store: Store) -> None:
    study_in(store, dataset(2), raters=("ann",), name="open *one*", repeat_share=0)
    study_in(store, dataset(3), raters=(), name="ended", state="unblinded")
    draft = study_in(store, dataset(4), raters=(), name="begun", state="draft")
    run = waiting(store, texts(store), CLAIMS)
    at = visit()
    assert "Study open *one*:" in said(at) + at.get("progress")[0].proto.text.replace("\\", "")
    assert [heading.value for heading in at.header] == ["Running now", "Waiting for you"]
    labels = [button.label for button in at.button]
    assert labels[4:] == ["Show raters", "Continue", "Read the results", "Continue"]
    again = press(at, "Continue")
    assert again.title[0].value == "elsewhere"
    assert again.session_state["judges_chosen"] == ("run", run.run_id)
    at = visit()
    at.button(key=f"start_study_{draft.study_id}").click().run()
    assert at.query_params["study"] == str(draft.study_id)


def test_nobody_else_sees_it(store: Store, cookies: dict[str, str]) -> None:
    study_in(store, dataset(2), raters=("ann",), name="STUDYMARKER")
    cookies.clear()
    at = visit()
    assert [title.value for title in at.title] == [FOR_THE_ADMIN]
    assert "STUDYMARKER" not in said(at)
    assert not at.button
