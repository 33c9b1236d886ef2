"""What pages' tests leave behind for others."""

import sys

import pytest
from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    st.write("A page")


@pytest.fixture(scope="module", autouse=True)
def page_of_the_whole_file() -> None:
    before = sys.modules["__main__"]
    AppTest.from_function(page).run()
    assert sys.modules["__main__"] is not before, (
        "Streamlit no longer replaces it: the fixture of all tests can go"
    )


def test_a_spawned_process_does_not_run_a_page_that_ran_for_a_whole_file() -> None:
    assert "st" not in vars(sys.modules["__main__"])
    assert "page" not in vars(sys.modules["__main__"])
