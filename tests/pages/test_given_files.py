"""Every page that reads a table shows its first rows, a menu per column and words as classes before it stores anything."""

import ast
from pathlib import Path

import pytest
from helpers.pages import study_visit
from helpers.pages.generate_visit import field, press, said
from helpers.pages.metrics_visit import lines
from streamlit.testing.v1 import AppTest

from core.formats.registry import FORMATS, known_format
from core.store import Store
from core.store.kept import keep_file, kept_files
from core.store.studies import list_studies
from pages.widgets import chosen_scores

ROWS = b"key,who,said,ref,level\n1,a,One.,One!,A0\n1,b,Two.,One!,A0\n2,a,Three.,Two!,A0\n2,b,Four.,Two!,A0\n"
"""A table with unusual column names."""


def widget() -> None:
    import streamlit as st

    from pages.widgets import menus

    st.session_state["given"] = menus.given_file("f", slot="kept", classes=True)


def page(name: str) -> None:
    import importlib

    importlib.import_module(f"pages.{name}").render()


def open_page(name: str, **state: object) -> AppTest:
    at = AppTest.from_function(page, default_timeout=60, args=(name,))
    for key, value in state.items():
        at.session_state[key] = value
    at.run()
    assert not at.exception
    return at


def upload(at: AppTest, name: str, data: bytes, key: str | None = None) -> AppTest:
    (at.file_uploader[0] if key is None else at.file_uploader(key=key)).upload(name, data)
    at.run()
    assert not at.exception
    return at


def choose(at: AppTest, label: str, value: object) -> None:
    field(at, label).set_value(value)  # type: ignore[attr-defined]
    at.run()
    assert not at.exception


NAMELESS = {
    "avg_seg_scores": (
        "mqm.avg_seg_scores.tsv",
        b"system mqm_avg_score seg_id\nnorth -5.0 1\nsouth -0.5 1\n",
    ),
    "seg_score": ("BLEU-refA.seg.score", b"north\t0.3\nsouth\t0.4\n"),
    "seg_rating": ("mqm.seg.rating", b'north\t{"errors": []}\nsouth\tNone\n'),
}
"""A file of each shipped format that names no columns."""


@pytest.mark.parametrize("name", NAMELESS)
def test_no_column_is_asked_for_where_a_file_names_none(name: str) -> None:
    file_name, data = NAMELESS[name]
    assert known_format(data, file_name) is FORMATS[name]
    assert not FORMATS[name].has_names
    at = upload(AppTest.from_function(widget).run(), file_name, data)
    assert (len(at.selectbox), len(at.dataframe)) == (0, 0)
    assert at.session_state["given"] == (data, file_name)


def test_a_page_takes_data_of_any_ending() -> None:
    """A format of one's own has an ending of its own; the content decides, as in commands. What Assay writes has one."""
    of_our_own = {("yaml", "yml"), ("json",), ("jsonl",)}
    for path in sorted((Path(__file__).parents[2] / "pages").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("file_uploader"):
                types = [one.value for one in node.keywords if one.arg == "type"] or node.args[1:2]
                asked = ast.literal_eval(types[0]) if types else None
                endings = [asked] if isinstance(asked, str) else asked or ()
                assert not endings or tuple(endings) in of_our_own, f"{path}:{node.lineno}"


def test_columns_and_classes_are_shown_and_changed() -> None:
    at = AppTest.from_function(widget).run()
    assert at.session_state["given"] is None
    table = b"key,verdict\n1,pass\n2,fail\n3,pass\n"
    upload(at, "a.csv", table)
    assert at.dataframe[0].value["verdict"].tolist() == ["pass", "fail", "pass"]
    assert at.session_state["given"] == (table, "a.csv"), "as it is, until something is chosen"
    choose(at, "key", "item_id")
    assert (field(at, "fail").value, field(at, "pass").value) == (0, 1)
    choose(at, "pass", 5)
    assert at.session_state["given"] == (b"item_id,verdict\n1,5\n2,0\n3,5\n", "a.csv")
    choose(at, "verdict", "text")
    assert at.session_state["given"] == (b"item_id,text\n1,pass\n2,fail\n3,pass\n", "a.csv"), (
        "texts are no classes"
    )


def test_other_files_stay_unchanged_while_the_session_lasts() -> None:
    at = AppTest.from_function(widget)
    at.session_state["kept"] = (b"{}", "b.json")
    at.run()
    assert at.session_state["given"] == (b"{}", "b.json")
    assert "b.json" in said(at)
    assert not at.dataframe


@pytest.mark.usefixtures("cookies")
class TestDoors:
    """Each page reads the same table after its columns are named, and stores nothing before a button is pressed."""

    def named(self, at: AppTest) -> AppTest:
        assert len(at.dataframe[0].value) == 4
        for column, ours in {"key": "item_id", "who": "system", "said": "text"}.items():
            choose(at, column, ours)
        return at

    def test_a_study(self, store: Store) -> None:
        at = upload(
            study_visit.visit("new"),
            "rows.csv",
            ROWS.replace(b"ref", b"question,reference", 1).replace(b"!", b"!,R", 4),
        )
        self.named(at)
        assert "2 questions at levels A0 with answers from a and b" in said(at)
        assert not list_studies(store)

    def test_texts_to_be_rated(self, store: Store) -> None:
        at = study_visit.visit("new")
        choose(at, "What do you ask raters?", "ratings")
        self.named(upload(at, "rows.csv", ROWS))
        assert "4 texts of 2 sources by 2 systems" in said(at)
        assert not list_studies(store)

    @pytest.mark.parametrize("name", ["metrics", "judges"])
    def test_texts_to_be_scored_and_judged(self, store: Store, name: str) -> None:
        at = self.named(
            upload(open_page(name, metrics_texts_from="file"), "rows.csv", ROWS, "metrics_texts_upload")
        )
        assert "4 texts on 2 items by 2 systems" in said(at)

    def test_rated_texts_with_ratings_beside_them(self, store: Store) -> None:
        at = self.named(
            upload(
                open_page("specialist", specialist_texts_from="file"),
                "rows.csv",
                ROWS,
                "specialist_texts_upload",
            )
        )
        upload(at, "people.csv", b"item,system,verdict\n1,a,good\n1,b,bad\n", "specialist_ratings_upload")
        assert field(at, "good").value == 1

    def test_ratings(self, store: Store) -> None:
        scores = keep_file(
            store, "scores", "s.jsonl", lines(*({"item": str(n), "good": n} for n in range(4)))
        )
        at = open_page("metrics", metrics_scores_chosen=("file", scores.file_id))
        upload(at, "people.csv", b"key,said\n0,poor\n1,fair\n2,good\n3,good\n")
        assert not kept_files(store, "ratings")
        choose(at, "key", "item_id")
        choose(at, "said", "score")
        choose(at, "good", 7)
        press(at, "Keep this file")
        (file,) = kept_files(store, "ratings")
        assert [one.score for one in chosen_scores.ratings_of(store, file).ratings] == [1, 2, 7, 7]
