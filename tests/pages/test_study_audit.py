"""The part of the studies page that shows the leakage audit."""

import re
from dataclasses import replace
from pathlib import Path

from helpers.texts.factories import dataset, study_in
from streamlit.testing.v1 import AppTest

from core.report import DASH
from core.store import Store
from core.store.studies import set_state
from core.study.audit import audit_study
from pages.widgets.messages import plain

STATISTICS = Path(__file__).resolve().parents[2] / "docs" / "statistics.md"


def page() -> None:
    from core.store import database_path, open_store
    from core.store.studies import list_studies
    from pages.studies.texts import render_audit

    with open_store(database_path(None)) as store:
        render_audit(store, list_studies(store)[0])


def visit() -> AppTest:
    at = AppTest.from_function(page, default_timeout=30).run()
    assert not at.exception
    return at


def test_a_leak_is_a_warning_with_the_table_below(store: Store) -> None:
    study = study_in(store, dataset(8), state="draft", raters=()).study
    audit = audit_study(store, study)
    at = visit()
    assert len(at.warning) == 1
    assert "superficial features reveal the system" in at.warning[0].value
    (table,) = at.table
    assert list(table.value["Level"]) == ["A0", "A1", "A2", "A3", "A4", "all levels"]
    assert set(table.value["Strongest rule"]) == {
        plain(one.rule_text or "") for one in (*audit.levels, audit.overall)
    }
    assert plain(audit.linkage.sentence()) in [text.value for text in at.markdown]


def test_too_few_questions_are_no_warning(store: Store) -> None:
    study_in(store, dataset(3), raters=())
    at = visit()
    assert not at.warning
    assert "6 are needed" in at.info[0].value
    assert set(at.table[0].value["AUC"]) == {DASH}


def test_names_are_shown_as_they_are(store: Store) -> None:
    data = dataset(8, sources=("*a*", ":smile: $x$"))
    study = study_in(store, data, raters=())
    at = visit()
    assert "*a*" not in at.warning[0].value, "before unblinding only roles are named"
    set_state(store, study.study_id, "unblinded")
    at = visit()
    assert plain("*a*") in at.warning[0].value
    assert "*a*" not in at.warning[0].value.replace(plain("*a*"), "")


def test_the_numbers_follow_the_roles(store: Store) -> None:
    """The cache is asked by roles: after a swap the rule is said of the other source, and before unblinding of the candidate."""
    data = dataset(8)
    study = study_in(store, data, raters=())
    assert "longer answer comes from the candidate" in visit().warning[0].value
    set_state(store, study.study_id, "unblinded")
    assert "longer answer comes from ai" in visit().warning[0].value
    again = replace(data, sha256="1" * 64)
    swapped = study_in(store, again, name="swapped", raters=(), candidate="human", comparator="ai")
    set_state(store, swapped.study_id, "unblinded")
    assert "shorter answer comes from human" in visit().warning[0].value


def test_the_anchor_is_in_the_documentation(store: Store) -> None:
    study_in(store, dataset(3), raters=())
    (named,) = {
        found
        for text in visit().markdown
        for found in re.findall(r"methods(?:\?document=\w+)?#([\w-]+)", text.value)
    }
    headings = re.findall(r"^## (.+)$", STATISTICS.read_text("utf-8"), flags=re.MULTILINE)
    assert named in {heading.lower().replace(" ", "-") for heading in headings}
