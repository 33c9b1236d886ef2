"""The results page: the paper's numbers, every shape of a study, filters, and nobody but the admin."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from helpers.texts.factories import (
    LEVELS,
    StudyAtHand,
    always,
    dataset,
    ended,
    item_ids,
    prefers,
    study_in,
    vote,
)
from pages.results import parts
from pages.results.parts import NO_GUESS
from streamlit.testing.v1 import AppTest

from core.formats.study.files import read_dataset
from core.formats.trutheval import read_votes
from core.results.study import tables as results_tables
from core.results.study.results import NO_AGREEMENT, NO_TABLE, study_results
from core.schema.study import PREFERENCES, Answer, Design, Guess
from core.stats.votes import NO_SIDE
from core.store import Store
from core.store.answers import PAIRS, insert_guess
from core.store.raters import delete_session
from core.store.studies import find_study, set_state
from core.study.bundle import write_bundle
from core.study.export import to_csv, to_jsonl, to_paper_zip
from core.study.lifecycle import DEMO_NAME, import_study, load_demo_once, move
from core.study.raters import import_votes
from pages.widgets import result_table
from pages.widgets.messages import plain
from pages.widgets.visitor import cookie_name

ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    "Verdict",
    "Sensitivity",
    "Raters as a sample",
    "Choices",
    "Agreement",
    "Two raters side by side",
    "Composite score",
    "Ties",
    "Power",
    "Position bias",
    "Consistency",
    "Blinding",
    "Downloads",
)

pytestmark = pytest.mark.usefixtures("cookies")


def page() -> None:
    from pages import results

    results.render()


def visit(store: Store) -> AppTest:
    return AppTest.from_function(page, default_timeout=30).run()


def said(at: AppTest) -> str:
    """All sentences, headings and tables of the page, as a reader sees them."""
    assert not at.exception
    texts = [element.value for kind in (at.title, at.subheader, at.markdown, at.error) for element in kind]
    cells = [str(cell) for table in at.table for cell in [*table.value.columns, *table.value.to_numpy().flat]]
    return (
        re.sub(r"\\(?=[^\w\s])", "", " ".join([*texts, *cells])).replace("\u00a0", " ").replace("\u2060", "")
    )


def counts(at: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}


def table_with(at: AppTest, column: str) -> pd.DataFrame:
    return next(table.value for table in at.table if column in table.value.columns)


def lines_with(table: pd.DataFrame, first: str) -> list[list[str]]:
    """The rest of each line whose first cell is that."""
    return [[str(cell) for cell in rest] for name, *rest in table.to_numpy().tolist() if name == first]


def choose_levels(at: AppTest, *levels: str) -> AppTest:
    at.get("button_group")[0].set_value(list(levels))
    return at.run()


def three_raters(store: Store) -> StudyAtHand:
    """Imported votes: no side is known."""
    study = study_in(store, dataset(4), raters=())
    pairs = [(item, level) for item in item_ids(4) for level in LEVELS]
    for shift, rater in enumerate(("R1", "R2", "R3")):
        votes = {pair: PREFERENCES[(n * (shift + 1) + shift) % 4] for n, pair in enumerate(pairs)}
        import_votes(store, study.study, rater, votes)
    return study


def test_without_a_margin_the_page_takes_no_side(store: Store) -> None:
    """Neither a candidate, a declared level nor a lower bound alone; the figure of raters names both systems."""
    study = study_in(store, dataset(16), raters=(), margin=None)
    pairs = [(item, level) for item in item_ids(16) for level in LEVELS]
    votes = {pair: PREFERENCES[n % 4] for n, pair in enumerate(pairs)}
    for rater in ("R1", "R2"):
        import_votes(store, study.study, rater, votes)
    at = visit(store)
    text = said(at)
    assert "Declared one-sided level" not in text
    assert not [element.value for element in at.markdown if "candidate" in element.value]
    assert "Mean composite score" in at.table[0].value.columns
    axes = [json.loads(chart.proto.spec)["layout"] for chart in at.get("plotly_chart")]
    assert not [axis for axis in axes if "candidate" in json.dumps(axis)]


@pytest.mark.shared
def test_the_papers_numbers(store: Store, shared_data: Path) -> None:
    file = shared_data / "assessment-dataset.json"
    data = read_dataset(file.read_bytes(), file.name)
    study = import_study(store, "paper", data, Design(candidate="ai", comparator="human", seed=1))
    pairs = {(item.item_id, level) for item in data.items for level in data.levels}
    for number in (1, 2):
        votes = shared_data / f"results-evaluator-{number}.json"
        import_votes(store, study, f"e{number}", read_votes(votes.read_bytes(), votes.name, pairs))
    at = visit(store)
    text = said(at)
    assert counts(at) | {
        "Pairs used": "80",
        "Questions": "20",
        "Raters": "2",
        "Pairs left out": "0",
    } == counts(at)
    for number in ("0.11 [", "0.77", "0.125", "0.82", "0.025"):
        assert number in text
    assert lines_with(table_with(at, "Verdict"), "as declared") == [["80", "0.000", "Fits no worse"]]
    composite = table_with(at, "0 \\(neither\\)").iloc[0].tolist()
    assert composite == ["all levels", "80", "0.125", "17", "36", "27", "0.081"]
    assert "side unknown (imported)" in text
    assert counts(at)["Answers left out"] == "40"
    plan = table_with(at, "Votes a pair")
    rows = [row[:6] for row in plan.to_numpy().tolist() if row[1] == "these raters"]
    assert rows == [
        ["power 80 %", "these raters", "2", "2", "90", "360"],
        ["power 90 %", "these raters", "2", "2", "130", "520"],
    ]
    text = said(choose_levels(at, *data.levels))
    assert counts(at)["Pairs used"] == "100"
    assert "Cohen's kappa measures nothing at A0" in text


def test_an_empty_study_shows_every_part_and_no_number(store: Store) -> None:
    load_demo_once(store)
    ended(store, find_study(store, DEMO_NAME).study_id)
    at = visit(store)
    assert tuple(heading.value for heading in at.subheader) == PARTS
    text = said(at)
    assert not at.get("plotly_chart")
    assert set(table_with(at, "Verdict")["Verdict"]) == {"Not enough information"}
    assert counts(at)["Pairs used"] == counts(at)["Answers used"] == "0"
    assert not re.search(r"\d\.\d{3}", text)


def test_no_study_at_all(store: Store) -> None:
    assert "there is no study yet" in said(visit(store))


def test_one_rater_has_a_verdict_and_no_agreement(store: Store) -> None:
    study = study_in(store, dataset(3), raters=("R1",), repeat_share=0.2)
    vote(store, study.tokens["R1"], prefers(0))
    ended(store, study.study_id)
    text = said(visit(store))
    assert f"Nothing to show: {NO_AGREEMENT}." in text
    assert f"Nothing to show: {NO_TABLE}." in text
    assert "1.000" in text  # the consistency of who always wants the same source


def test_three_raters_are_compared_two_by_two(store: Store) -> None:
    study = three_raters(store)
    at = visit(store)
    text = said(at)
    assert "Cohen's kappa: undefined: for two raters only" in text
    assert table_with(at, "Raters")["Raters"].tolist() == ["R1 and R2", "R1 and R3", "R2 and R3"]
    for first, second in (("R1", "R2"), ("R3", "R1")):
        at.selectbox(key="results_rows").set_value(first).run()
        at.selectbox(key="results_columns").set_value(second).run()
        found = results_tables.two_raters(study_results(study.record, n_resamples=1), first, second)
        shown = at.get("plotly_chart")[5].proto.spec
        (counts_shown,) = json.loads(shown)["data"]
        assert found.raters == (first, second)
        assert found.table is not None
        assert counts_shown["z"] == [list(row) for row in found.table]


def test_a_table_can_be_turned(store: Store) -> None:
    results = study_results(three_raters(store).record, n_resamples=1)
    rows = results_tables.two_raters(results, "R1", "R3").table
    columns = results_tables.two_raters(results, "R3", "R1").table
    assert rows is not None
    assert columns == [list(column) for column in zip(*rows, strict=True)]


def test_votes_per_pair(store: Store) -> None:
    study = study_in(store, dataset(6), raters=("R1", "R2", "R3"), votes_per_pair=2)
    for rater, choice in (("R1", "left"), ("R2", "both_good"), ("R3", "right")):
        vote(store, study.tokens[rater], always(choice))
    ended(store, study.study_id)
    at = visit(store)
    assert counts(at)["Pairs used"] == "24"
    text = said(at)
    assert "is flagged (Holm p below 0.05)" in text
    assert NO_SIDE in text


def test_every_filter_recomputes(store: Store) -> None:
    data = dataset(4, languages=("en", "ja"))
    study = study_in(store, data, raters=("R1", "R2"))
    vote(store, study.tokens["R1"], prefers(0))
    vote(store, study.tokens["R2"], always("both_good"))
    ended(store, study.study_id)
    at = visit(store)
    assert counts(at)["Pairs used"] == "16"
    assert "Exploratory:" not in said(at)
    assert counts(choose_levels(at, "A1", "A2"))["Pairs used"] == "8"
    assert "Exploratory:" in said(at)
    raters, questions, languages = at.multiselect
    languages.set_value(["ja"]).run()
    assert counts(at)["Pairs used"] == "4"
    questions.set_value(["q01"]).run()
    assert counts(at)["Pairs used"] == "2"
    assert "fewer than two questions" in said(at)
    raters.set_value(["R2"]).run()
    assert counts(at)["Raters"] == "1"
    choose_levels(at)
    assert counts(at)["Pairs used"] == "4"  # no level pressed: those of the main analysis


def test_a_changed_answer_is_seen_at_the_next_rerun(store: Store) -> None:
    """No page changes an answer of a study that has ended; a restored backup does."""
    study = study_in(store, dataset(3), raters=("R1",), repeat_share=0.0)
    ended(store, study.study_id)
    shown = next(a for a in study.record.assignments if a.level == "A1")
    answer = Answer("R1", shown.item_id, shown.level, choice="both_good", seconds=1.0)
    at = visit(store)
    assert counts(at)["Pairs used"] == "0"
    PAIRS.save(store, study.study_id, answer)
    assert counts(at.run())["Pairs used"] == "1"
    assert "0.000" in said(at)
    PAIRS.save(store, study.study_id, replace(answer, choice="left"))
    assert re.search(r"-?1\.000", said(at.run()))
    PAIRS.save(store, study.study_id, replace(answer, choice="left", invalid=True))
    assert counts(at.run())["Pairs left out"] == "11"
    sensitivity = table_with(at, "Verdict")
    assert [
        line[0]
        for name in ("as declared", "flagged pairs left out")
        for line in lines_with(sensitivity, name)
    ] == [
        "1",
        "0",
    ]


def test_a_new_guess_is_seen_at_the_next_rerun(store: Store) -> None:
    study = study_in(store, dataset(3), raters=("R1",), repeat_share=0.0)
    vote(store, study.tokens["R1"], always("both_good"))
    ended(store, study.study_id)
    at = visit(store)
    assert f"Nothing to show: {NO_GUESS}." in said(at)
    shown = next(a for a in study.record.assignments if a.level == "A1")
    insert_guess(store, study.study_id, Guess("R1", shown.item_id, shown.level, "unsure", "*no* idea"))
    text = said(at.run())
    assert "every time (n = 1)" in text
    assert "*no* idea" in text


def test_an_excluded_rater_cannot_be_chosen(store: Store) -> None:
    study = study_in(store, dataset(3))
    for token in study.tokens.values():
        vote(store, token, always("both_good"))
    move(store, study.study, "closed")
    move(store, study.study, "unblinded", "all votes are in")
    store.table("rater").update((study.study_id, "R2"), {"excluded": "pressed one key"})
    at = visit(store)
    assert at.multiselect[0].options == ["R1"]
    assert counts(at)["Raters"] == "1"
    assert "rater excluded" in said(at)


@pytest.mark.parametrize("state", ["draft", "open", "closed"])
def test_nothing_is_shown_before_the_study_is_unblinded(store: Store, state: str) -> None:
    study = study_in(store, dataset(2))
    vote(store, study.tokens["R1"], prefers(0))
    set_state(store, study.study_id, state)  # type: ignore[arg-type]
    at = visit(store)
    assert [info.value.split(chr(92))[0] for info in at.info] == [f"Study 'study' is {state}"]
    assert not at.subheader
    assert not at.metric
    assert not at.get("plotly_chart")
    assert not at.get("download_button")
    assert "human" not in said(at)
    ended(store, study.study_id)
    assert "human" in said(at.run())


def test_names_are_shown_as_they_are(store: Store) -> None:
    hostile = ":smile: ![x](http://outside.invalid/y.png)"
    data = dataset(3, sources=(hostile, "*human*"))
    study = study_in(store, data, raters=("$a$", "<b>"))
    for rater, token in study.tokens.items():
        vote(store, token, prefers(int(rater == "<b>")))
    ended(store, study.study_id)
    at = visit(store)
    texts = [element.value for element in at.markdown]
    texts += [str(cell) for t in at.table for cell in [*t.value.columns, *t.value.to_numpy().flat]]
    assert any("outside" in text for text in texts)
    for text in texts:
        assert "![" not in text
        assert not re.search(r"(?<!\\)[$<]|(?<![\\*])\*human", text)
    assert hostile in said(at)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rater-1", "rater-1"),
        ("-0.050", "-0.050"),
        ("1. one", r"1\. one"),
        ("- one", r"\- one"),
        ("a_b*c", r"a\_b\*c"),
        (":material/home:", "\\:\u2060material/home\\:"),
        ("a -> b", "a -\u2060\\> b"),
        ("two\nlines", "two lines"),
    ],
)
def test_plain(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_downloads_are_what_the_commands_write(store: Store) -> None:
    study = study_in(store, dataset(2), raters=("R1", "R2"))
    vote(store, study.tokens["R1"], prefers(0))
    ended(store, study.study_id)
    at = visit(store)
    assert "Factual's votes (assay-votes.json)" in [one.label for one in at.get("download_button")]
    set_state(store, study.study_id, "open")
    vote(store, study.tokens["R2"], prefers(1))
    ended(store, study.study_id)
    at = at.run()
    labels = [button.label for button in at.get("download_button")][-6:]
    assert labels == [
        "CSV (assay-answers.csv)",
        "JSONL (assay-answers.jsonl)",
        "Factual's votes (assay-votes.zip)",
        "Guesses (assay-guesses.csv)",
        "Results (assay-results.json)",
        "Bundle (assay-study.zip)",
    ]
    record = study.record
    made = parts.pair_files(record, study_results(record, n_resamples=10))
    assert [f"{name} ({file_name})" for name, (file_name, _, _) in made.items()] == labels
    content = {name: make() for name, (_, _, make) in made.items()}
    assert content["CSV"] == to_csv(record)
    assert content["JSONL"] == to_jsonl(record)
    with_texts = parts.pair_files(record, study_results(record, n_resamples=10), texts=True)
    assert with_texts["CSV"][2]() == to_csv(record, texts=True) != content["CSV"]
    assert at.checkbox(key="results_texts").set_value(True).run().exception == []
    assert content["Bundle"] == write_bundle(record)
    assert content["Factual's votes"] == to_paper_zip(record)
    assert json.loads(content["Results"])["n_pairs"] == 8


def test_only_the_admin_sees_results(store: Store, cookies: dict[str, str]) -> None:
    study = study_in(store)
    vote(store, study.tokens["R1"], prefers(0))
    ended(store, study.study_id)
    assert [title.value for title in visit(store).title] == ["Results"]
    token, admin = study.tokens["R1"], dict(cookies)
    carried = {
        "nobody": {},
        "wrong token": {cookie_name(store, "admin"): "x" * 43},
        "rater": {cookie_name(store, "rater"): token},
        "rater as admin": {cookie_name(store, "admin"): token},
        "signed out": admin,
    }
    for who, own in carried.items():
        if who == "signed out":
            delete_session(store)
        cookies.clear()
        cookies.update(own)
        for at in (visit(store), _app()):
            text = said(at)
            assert not at.subheader, who
            assert not at.metric, who
            assert not at.get("plotly_chart"), who
            assert not at.get("download_button"), who
            assert "candidate" not in text, who
            assert [t.value for t in at.title] != ["Results"], who
        assert not {"results", "studies", "operation"} & _addresses(_app()), who


def test_the_app_has_the_pages_for_the_admin(store: Store) -> None:
    study_in(store)
    assert {"results", "operation", "methods"} <= _addresses(_app())


def _app() -> AppTest:
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()


def _addresses(at: AppTest) -> set[str]:
    """Pages of the navigation; AppTest cannot switch to a page that is a function."""
    return {str(info.get("url_pathname")) for info in at._registered_pages.values()}


def of_scores(anchors: set[str]) -> set[str]:
    """Those that the pages on scores and on rated texts name."""
    folders = ("metrics", "judges", "specialist", "calibration", "tabs", "widgets")
    paths = [path for name in folders for path in (ROOT / "pages" / name).glob("*.py")]
    text = "".join(path.read_text("utf-8") for path in paths)
    return {anchor for anchor in anchors if f'"{anchor}"' in text}


def sections_of(document: str) -> set[str]:
    """The anchors of a document's sections."""
    headings = re.findall(r"^## (.+)$", document, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_anchor_the_page_names_is_in_the_documentation(store: Store) -> None:
    study = study_in(store)
    for token in study.tokens.values():
        vote(store, token, prefers(0))
    ended(store, study.study_id)
    named = set(re.findall(r"methods#([\w-]+)", said(visit(store))))
    text = (ROOT / "docs" / "statistics.md").read_text("utf-8")
    anchors = sections_of(text)
    inference = sections_of((ROOT / "docs" / "inference.md").read_text("utf-8"))
    elsewhere = {"leakage-audit", "words-kept"}  # on the pages Studies and Generate
    linked = {
        anchor
        for path in (ROOT / "docs").glob("*.md")
        for anchor in re.findall(r"\(statistics\.md#([\w-]+)\)", path.read_text("utf-8"))
    }
    assert linked <= anchors
    assert "raters-as-a-sample" in named & inference
    assert (named - inference) | elsewhere | linked | of_scores(anchors) == anchors
    inside = set(re.findall(r"\]\(#([\w-]+)\)", text))
    assert inside <= anchors


def test_agreement_on_two_pairs_has_no_interval_of_nothing(store: Store) -> None:
    study = study_in(store, dataset(2, ("A0", "A1")), repeat_share=0)
    vote(store, study.tokens["R1"], always("left"))
    vote(store, study.tokens["R2"], always("right"))
    ended(store, study.study_id)
    at = visit(store)
    tables = [table.value for table in at.table]
    cells = [str(cell).replace("\\", "") for table in tables for cell in table.to_numpy().ravel()]
    assert "no interval" in said(at)
    assert not any("[0.000,\u00a00.000]" in cell for cell in cells)


def test_a_shut_study_names_whole_commands_as_code(store: Store) -> None:
    study_in(store, dataset(2), name="my study")
    text = visit(store).info[0].value
    assert "`python -m core study unblind 'my study' --reason TEXT`" in text
    assert "`python -m core study progress 'my study'`" in text


def test_a_bar_shows_how_far_each_rater_is() -> None:
    columns, config = result_table.rater_bars([3, 0], [4, 0])
    assert columns == {"Progress": [0.75, 0.0], "Done": ["3 of 4", "0 of 0"]}
    assert set(config) == {"Progress"}


def test_without_a_study_the_page_links_to_the_next_step() -> None:
    """Within the navigation of the app: a link needs a page that is there."""

    def app() -> None:
        import streamlit as st

        from pages import results, studies

        here = st.Page(results.render, title="Results", url_path="results", default=True)
        st.navigation([here, st.Page(studies.render, title="Studies", url_path="studies")]).run()

    at = AppTest.from_function(app, default_timeout=30).run()
    assert not at.exception
    assert not at.selectbox
    (link,) = at.get("page_link")
    assert link.proto.label == "Make a study"
