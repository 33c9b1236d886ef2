"""The results of a study on its page: the paper's numbers, every shape of a study, filters, and nobody but the admin."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from helpers.pages.study_visit import as_read, numbers_of, texts_of, turn_to, visit
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
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

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
from core.study.export import answers_csv, answers_jsonl, paper_zip
from core.study.lifecycle import DEMO_NAME, import_study, load_demo_once, move
from core.study.raters import import_votes
from pages.studies import exporting
from pages.studies.between_raters import NO_GUESS
from pages.widgets import result_table
from pages.widgets.messages import plain
from pages.widgets.visitor import cookie_name

ROOT = Path(__file__).resolve().parents[2]
PLACES: dict[str, tuple[str, str]] = {
    "By level": ("", "by-level"),
    "Robustness": ("", "robustness"),
    "Raters as a sample": ("", "raters-as-a-sample"),
    "Agreement": ("raters", "agreement"),
    "Sides and repeats": ("raters", "sides-and-repeats"),
    "Guesses": ("raters", "guesses"),
    "Export": ("export", ""),
}
"""Part of a study's results -> its tab and its part, as the address names them."""

pytestmark = pytest.mark.usefixtures("cookies")


def at_part(name: str, **asked: str) -> AppTest:
    tab, part = PLACES[name]
    return visit(tab=tab, **({"part": part} if part else {}), **asked)


def said(*names: str) -> str:
    """All sentences, headings and tables of some parts; of all of them unless named."""
    return " ".join(texts_of(at_part(name)) for name in names or PLACES)


def counted_in(at: AppTest) -> str:
    """The number of pairs that count."""
    return numbers_of(at)["Pairs"]


def left_out(at: AppTest) -> str:
    """What was left out, in words."""
    (text,) = [text.value for text in at.markdown if "Pairs left out: " in text.value]
    return as_read(text)


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
    for name in ("By level", "Robustness", "Raters as a sample"):
        at = at_part(name)
        assert list(numbers_of(at)) == ["ai fits better", "human fits better", "Cohen's kappa", "Pairs"]
        assert "candidate" not in texts_of(at)
        assert "Lower bounds of the mean" not in texts_of(at)
        axes = [json.loads(chart.proto.spec)["layout"] for chart in at.get("plotly_chart")]
        assert axes
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
    at = visit()
    assert numbers_of(at) == {
        "Mean composite score": "0.125",
        "Lower bound": "0.000",
        "Cohen's kappa": "0.11",
        "Pairs": "80",
    }
    assert "at a level outside the main analysis (40)" in left_out(at)
    composite = table_with(at, "0 \\(neither\\)").iloc[0].tolist()
    assert composite == ["all levels", "80", "0.125", "17", "36", "27", "0.081"]
    assert "0.82" in texts_of(at)
    robust = at_part("Robustness")
    assert lines_with(table_with(robust, "Verdict"), "as declared") == [["80", "0.000", "Fits no worse"]]
    assert "0.025" in texts_of(robust)
    text = said("Agreement", "Sides and repeats")
    assert "0.11 [" in text
    assert "side unknown (imported)" in text
    plan = table_with(at_part("Raters as a sample"), "Votes a pair")
    rows = [row[:6] for row in plan.to_numpy().tolist() if row[1] == "these raters"]
    assert rows == [
        ["power 80 %", "these raters", "2", "2", "90", "360"],
        ["power 90 %", "these raters", "2", "2", "130", "520"],
    ]
    assert counted_in(choose_levels(at, *data.levels)) == "100"


def test_an_empty_study_shows_every_part_and_no_number(store: Store) -> None:
    load_demo_once(store)
    ended(store, find_study(store, DEMO_NAME).study_id)
    for name in PLACES:
        at = at_part(name)
        assert not at.get("plotly_chart"), name
        assert not re.search(r"\d\.\d{3}", texts_of(at)), name
    at = at_part("Robustness")
    assert set(table_with(at, "Verdict")["Verdict"]) == {"Not enough information"}
    assert counted_in(at) == "0"


def test_one_rater_has_a_verdict_and_no_agreement(store: Store) -> None:
    study = study_in(store, dataset(3), raters=("R1",), repeat_share=0.2)
    vote(store, study.tokens["R1"], prefers(0))
    ended(store, study.study_id)
    text = said("Agreement", "Sides and repeats")
    assert f"Nothing to show: {NO_AGREEMENT}." in text
    assert f"Nothing to show: {NO_TABLE}." in text
    assert "1.00 [" in text  # the consistency of who always wants the same source


def test_three_raters_are_compared_two_by_two(store: Store) -> None:
    study = three_raters(store)
    at = at_part("Agreement")
    assert "Cohen's kappa: undefined: for two raters only" in texts_of(at)
    assert [as_read(name) for name in at.table[0].value.columns][2:] == ["Gwet's AC1", "Krippendorff's alpha"]
    assert table_with(at, "Raters")["Raters"].tolist() == ["R1 and R2", "R1 and R3", "R2 and R3"]
    rows, columns = (f"results_{which}_{study.study_id}" for which in ("rows", "columns"))
    for first, second in (("R1", "R2"), ("R3", "R1")):
        at.selectbox(key=rows).set_value(first).run()
        at.selectbox(key=columns).set_value(second).run()
        found = results_tables.two_raters(study_results(study.record, n_resamples=1), first, second)
        shown = at.get("plotly_chart")[1].proto.spec
        counts_shown, _ = json.loads(shown)["data"]
        assert found.raters == (first, second)
        assert found.table is not None
        assert counts_shown["z"] == [list(row) for row in found.table]
    assert at.query_params["rows"] == "3", "an address names no rater"


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
    assert counted_in(visit()) == "24"
    text = said("Sides and repeats")
    assert "is flagged (Holm p below 0.05)" in text
    assert NO_SIDE in text


def test_every_filter_recomputes(store: Store) -> None:
    data = dataset(4, languages=("en", "ja"))
    study = study_in(store, data, raters=("R1", "R2"))
    vote(store, study.tokens["R1"], prefers(0))
    vote(store, study.tokens["R2"], always("both_good"))
    ended(store, study.study_id)
    at = visit()
    assert counted_in(at) == "16"
    assert "Exploratory:" not in texts_of(at)
    assert counted_in(choose_levels(at, "A1", "A2")) == "8"
    assert "Exploratory:" in texts_of(at)
    raters, questions, languages = at.multiselect
    languages.set_value(["ja"]).run()
    assert counted_in(at) == "4"
    questions.set_value(["q01"]).run()
    assert counted_in(at) == "2"
    raters.set_value(["R2"]).run()
    assert "Cohen's kappa" not in numbers_of(at)
    choose_levels(at)
    assert counted_in(at) == "4"  # no level pressed: those of the main analysis


def test_a_changed_answer_is_seen_at_the_next_rerun(store: Store) -> None:
    """No page changes an answer of a study that has ended; a restored backup does."""
    study = study_in(store, dataset(3), raters=("R1",), repeat_share=0.0)
    ended(store, study.study_id)
    shown = next(a for a in study.record.assignments if a.level == "A1")
    answer = Answer("R1", shown.item_id, shown.level, choice="both_good", seconds=1.0)
    at = at_part("Robustness")
    assert counted_in(at) == "0"
    PAIRS.save(store, study.study_id, answer)
    assert counted_in(at.run()) == "1"
    assert numbers_of(at)["Mean composite score"] == "0.000"
    PAIRS.save(store, study.study_id, replace(answer, choice="left"))
    assert numbers_of(at.run())["Mean composite score"] in ("1.000", "-1.000")
    PAIRS.save(store, study.study_id, replace(answer, choice="left", invalid=True))
    assert "(11)" in left_out(at.run())
    sensitivity = table_with(at, "Verdict")
    assert [
        line[0]
        for name in ("as declared", "flagged pairs left out")
        for line in lines_with(sensitivity, name)
    ] == ["1", "0"]


def test_a_new_guess_is_seen_at_the_next_rerun(store: Store) -> None:
    study = study_in(store, dataset(3), raters=("R1",), repeat_share=0.0)
    vote(store, study.tokens["R1"], always("both_good"))
    ended(store, study.study_id)
    at = at_part("Guesses")
    assert f"Nothing to show: {NO_GUESS}." in texts_of(at)
    shown = next(a for a in study.record.assignments if a.level == "A1")
    insert_guess(store, study.study_id, Guess("R1", shown.item_id, shown.level, "unsure", "*no* idea"))
    text = texts_of(at.run())
    assert "every time (n = 1)" in text
    assert "*no* idea" in text


def test_an_excluded_rater_cannot_be_chosen(store: Store) -> None:
    study = study_in(store, dataset(3))
    for token in study.tokens.values():
        vote(store, token, always("both_good"))
    move(store, study.study, "closed")
    move(store, study.study, "unblinded", "all votes are in")
    store.table("rater").update((study.study_id, "R2"), {"excluded": "pressed one key"})
    at = visit()
    assert at.multiselect[0].options == ["R1"]
    assert "Cohen's kappa" not in numbers_of(at)
    assert "rater excluded" in left_out(at)


@pytest.mark.parametrize("state", ["draft", "open", "closed"])
def test_nothing_is_shown_before_the_study_is_unblinded(store: Store, state: str) -> None:
    study = study_in(store, dataset(2))
    vote(store, study.tokens["R1"], prefers(0))
    set_state(store, study.study_id, state)  # type: ignore[arg-type]
    for tab in ("", "raters", "export"):
        at = visit(tab=tab)
        assert not at.header
        assert not at.table
        assert not at.get("plotly_chart")
        assert not at.get("download_button")
        assert "human" not in texts_of(at)
    ended(store, study.study_id)
    assert "human" in texts_of(visit())


def test_names_are_shown_as_they_are(store: Store) -> None:
    hostile = ":smile: ![x](http://outside.invalid/y.png)"
    data = dataset(3, sources=(hostile, "*human*"))
    study = study_in(store, data, raters=("$a$", "<b>"))
    for rater, token in study.tokens.items():
        vote(store, token, prefers(int(rater == "<b>")))
    ended(store, study.study_id)
    for name in PLACES:
        at = at_part(name)
        texts = [element.value for element in at.markdown]
        texts += [str(cell) for t in at.table for cell in [*t.value.columns, *t.value.to_numpy().flat]]
        for text in texts:
            assert "![" not in text
            assert not re.search(r"(?<!\\)[$<]|(?<![\\*])\*human", text)
        assert not [
            one for one in at.get("html") if "<b>" in one.proto.body and "<style>" not in one.proto.body
        ]
    assert hostile in texts_of(visit())


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
    at = at_part("Export")
    assert "Factual's votes (assay-votes.json)" in [one.label for one in at.get("download_button")]
    set_state(store, study.study_id, "open")
    vote(store, study.tokens["R2"], prefers(1))
    ended(store, study.study_id)
    at = at.run()
    labels = [button.label for button in at.get("download_button")]
    assert labels == [
        "CSV (assay-answers.csv)",
        "JSONL (assay-answers.jsonl)",
        "Factual's votes (assay-votes.zip)",
        "Guesses (assay-guesses.csv)",
        "Results (assay-results.json)",
        "Bundle (assay-study.zip)",
    ]
    record = study.record
    made = exporting.pair_files(record, study_results(record, n_resamples=10))
    assert [f"{name} ({file.name})" for name, file in made.items()] == labels
    assert all(file.holds for file in made.values())
    content = {name: file.make(record) for name, file in made.items()}
    assert content["CSV"] == answers_csv(record)
    assert content["JSONL"] == answers_jsonl(record)
    with_texts = exporting.pair_files(record, study_results(record, n_resamples=10), texts=True)
    assert with_texts["CSV"].make(record) == answers_csv(record, texts=True) != content["CSV"]
    assert at.checkbox(key="results_texts").set_value(True).run().exception == []
    assert content["Bundle"] == write_bundle(record)
    assert content["Factual's votes"] == paper_zip(record)
    assert json.loads(content["Results"])["n_pairs"] == 8


def test_only_the_admin_sees_results(store: Store, cookies: dict[str, str]) -> None:
    study = study_in(store)
    vote(store, study.tokens["R1"], prefers(0))
    ended(store, study.study_id)
    assert [title.value for title in visit().title] == ["study"]
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
        for at in (visit(), _app()):
            text = texts_of(at)
            assert not at.header, who
            assert not at.table, who
            assert not at.get("plotly_chart"), who
            assert not at.get("download_button"), who
            assert "candidate" not in text, who
            assert [t.value for t in at.title] != ["study"], who
        assert not {"generate", "operation", "results"} & _addresses(_app()), who


def test_the_app_has_the_pages_for_the_admin(store: Store) -> None:
    study_in(store)
    assert {"studies", "operation", "methods"} <= _addresses(_app())


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
    named = set(re.findall(r"methods(?:\?document=\w+)?#([\w-]+)", said()))
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
    at = at_part("Agreement")
    tables = [table.value for table in at.table]
    cells = [str(cell).replace("\\", "") for table in tables for cell in table.to_numpy().ravel()]
    assert "no interval" in texts_of(at)
    assert not any("[0.000,\u00a00.000]" in cell for cell in cells)


def test_a_bar_shows_how_far_each_rater_is() -> None:
    columns, config = result_table.rater_bars([3, 0], [4, 0])
    assert columns == {"Progress": [0.75, 0.0], "Done": ["3 of 4", "0 of 0"]}
    assert set(config) == {"Progress"}


def test_while_a_study_runs_its_result_is_how_far_it_is(store: Store) -> None:
    study = study_in(store, dataset(3), repeat_share=0.0)
    vote(store, study.tokens["R1"], prefers(0))
    at = visit()
    total = len(study.record.assignments)
    (bar,) = at.get("progress")
    assert bar.proto.text.startswith(f"{total // 2} of {total} ")
    assert [one.key for one in at.button if one.key and one.key.startswith("state_")] == ["state_closed"]
    at.button(key=f"result_raters_{study.study_id}").click().run()
    assert at.session_state[f"study_tab_{study.study_id}"] == "Raters"
    assert at.query_params["tab"] == "raters"


def test_a_part_of_a_study_is_kept_while_another_tab_is_open(store: Store) -> None:
    study = study_in(store, dataset(4), raters=("R1",))
    vote(store, study.tokens["R1"], prefers(0))
    ended(store, study.study_id)
    at = choose_levels(visit(), "A1")
    assert at.query_params["levels"] == "2"
    labels = [one.label for one in at.get("download_button") if "part" in one.label]
    assert len(labels) == 1, "results of the part alone"
    turn_to(at, "Export")
    assert "levels" not in at.query_params
    turn_to(at, "Result")
    assert at.get("button_group")[0].value == ["A1"]
    assert at.query_params["levels"] == "2"


@pytest.mark.parametrize("name", ["By level", "Robustness", "Raters as a sample", "Agreement"])
def test_a_part_offers_its_files_in_one_popover(store: Store, name: str) -> None:
    study = study_in(store, dataset(3))
    for number, token in enumerate(study.tokens.values()):
        vote(store, token, prefers(number))
    ended(store, study.study_id)
    at = at_part(name)
    buttons = at.get("download_button")
    assert len(buttons) > 5
    popovers = [block for block in _blocks(at) if block.type == "popover"]
    assert len(popovers) == 1
    assert len(popovers[0].get("download_button")) == len(buttons)


def _blocks(at: AppTest) -> list[Block]:
    found: list[Block] = []
    left: list[Block] = [at.main]
    while left:
        block = left.pop()
        found.append(block)
        left += [one for one in block.children.values() if isinstance(one, Block)]
    return found
