"""Names on the page Judges: texts in menus, runs that differ in a setting, columns side by side."""

import pytest
from helpers.pages.generate_visit import said
from helpers.pages.judges_visit import CLAIMS, by_model, cef, judged, rubric, visit, waiting
from helpers.pages.metrics_visit import lines
from streamlit.testing.v1 import AppTest

from core.store import Store
from pages.tabs.judged import merged, others
from pages.widgets import chosen_judge, chosen_scores, menus

pytestmark = pytest.mark.usefixtures("cookies")
GOOD = "The tower was built in 1889. It is 330 metres tall."
WORSE = "The tower was built in 1889. Nobody knows more."


def given(item: str = "1") -> tuple[bytes, str]:
    rows = [
        {"item": item, "system": "s", "level": level, "reference": GOOD, "source": GOOD, "text": text}
        for level, text in (("0", GOOD), ("1", WORSE))
    ]
    return lines(*rows), "texts.jsonl"


def _menu() -> None:
    import streamlit as st

    from pages.widgets import menus

    scores = st.session_state.get("scores", {"a": 1, "b": 2})
    rows = sorted(scores, key=scores.__getitem__)
    chosen = menus.one_of(None, "Text", rows, lambda row: f"{row}: {scores[row]}", "menu")
    st.markdown(f"shown {chosen}")


def test_the_menu_names_the_shown_text_when_the_order_changes() -> None:
    at = AppTest.from_function(_menu).run()
    at.selectbox[0].set_value("b: 2").run()
    assert at.markdown[0].value == "shown b"
    at.session_state["scores"] = {"a": 3, "b": 2}
    at.run()
    assert (at.selectbox[0].value, at.markdown[0].value) == ("b: 2", "shown b")
    at.session_state["scores"] = {"a": 3, "b": 9}
    at.run()
    assert (at.selectbox[0].value, at.markdown[0].value) == ("a: 3", "shown a")


def _backend() -> None:
    import streamlit as st

    from pages.widgets import settings_form

    settings_form.choose_backend("one", "Rules." if st.session_state.get("rules", True) else None)


def test_a_backend_is_chosen_when_rules_are_no_longer_offered() -> None:
    at = AppTest.from_function(_backend).run()
    at.radio[0].set_value("rules").run()
    at.session_state["rules"] = False
    at.run()
    assert at.radio[0].value == "openai"
    assert len(at.radio[0].options) == 3


def test_runs_that_differ_in_a_setting_have_names_that_differ(store: Store) -> None:
    judges = [
        cef(),
        cef(n_questions=5),
        cef(repeats=3),
        cef(mode="reference-free"),
        rubric(),
        rubric(order="both"),
    ]
    runs = [waiting(store, given(), one) for one in judges]
    names = [menus.name_of(run).split(": ", 1)[1] for run in runs]
    assert len(set(names)) == len(names)
    assert "questions 5" in names[1]
    assert "repeats 3" in names[2]
    assert "mode reference," in names[2]
    assert "mode" not in names[3]
    assert "order both" in names[5]


def test_scores_of_other_texts_and_runs_without_any_are_not_offered(store: Store) -> None:
    first, same = judged(store, given()), judged(store, given())
    judged(store, given("elsewhere"))
    unstarted = waiting(store, given(), CLAIMS)
    scores = chosen_scores.open_scores(store, ("run", first.run_id))
    assert list(others(store, scores)) == [("run", same.run_id)]
    assert unstarted.run_id > same.run_id


def test_columns_of_one_name_also_name_their_run(store: Store) -> None:
    both = [chosen_scores.open_scores(store, ("run", judged(store, given()).run_id)) for _ in range(2)]
    table = merged(both)
    names = [metric.name for metric in table.metrics]
    own = [metric.name for metric in both[0].table.metrics]
    assert names == [f"{name} (run {one.origin[1]})" for one in both for name in own]
    assert not [note for note in table.notes if "#" in note]
    assert [note for note in table.notes if "are in both" in note]


def test_a_step_names_what_was_read() -> None:
    assert chosen_judge.document_words("questions from source: cut off", "reference").startswith(
        "questions from reference"
    )
    assert chosen_judge.document_words("questions from source", "source") == "questions from source"
    assert chosen_judge.sides("reference")["source"] == "made from references"


def test_a_rubrics_scale_is_shown_with_its_scores(store: Store) -> None:
    (run,) = by_model(store, given(), rubric())
    assert "Scale of the rubric factual" in said(visit(("run", run.run_id), "Scores")).replace("\\", "")
