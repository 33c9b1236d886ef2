"""The page Specialist: from rated texts to a run, marked errors, agreement and copied errors."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.pages.generate_visit import field, press, said
from helpers.processes.scripted_server import Body, ScriptedServer
from helpers.texts.judge_runs import run_to_the_end, worked
from helpers.texts.rater_folder import N_RATERS, folder_by_rater
from helpers.texts.rating_studies import rate_all, rating_study, unblind
from helpers.texts.slips import SYSTEMS, rated, rated_texts
from helpers.texts.specialist_runs import parrot, says, specialist
from helpers.toys import judge as toy_judge
from streamlit.testing.v1 import AppTest

from core.formats.rated import write_rated
from core.formats.tasks import find_task
from core.judges.rated import NOT_JUDGED
from core.report import DASH
from core.runs.asked import asked_of
from core.runs.kinds import KINDS
from core.runs.path import saved_run
from core.schema.runs import Run
from core.schema.scores import ErrorSpan, RatedText, Rating, ScorableOutput
from core.sources.texts import rated_of_folder
from core.store import Store
from core.store.runs import list_runs
from pages.specialist.texts import OF_JUDGE, OF_PERSON
from pages.widgets.marked_errors import Marked, marked_html, met

HOSTILE = '<img src=x onerror="alert(1)"> **bold** $x$'


def page() -> None:
    from pages import specialist

    specialist.render()


def visit(run: Run | None = None, part: str = "", slot: str = "errors", **state: Any) -> AppTest:
    """The page as it is first opened, or one part of a run."""
    at = AppTest.from_function(page, default_timeout=60)
    if run is not None:
        at.session_state["specialist_chosen"] = run.run_id
        at.session_state[f"specialist_part_{slot}"] = part
    for key, value in state.items():
        at.session_state[key] = value
    at.run()
    assert not at.exception
    return at


def tables(at: AppTest) -> list[list[dict[str, str]]]:
    return [
        [
            {str(name): str(cell).replace("\\", "").replace("\u00a0", " ") for name, cell in row.items()}
            for row in one.value.to_dict("records")
        ]
        for one in at.table
    ]


def matrix(rows: list[dict[str, str]]) -> dict[tuple[str, str], dict[str, str]]:
    """(predictor, gold rater) -> row."""
    return {(row["Predictor"], row["Gold"]): row for row in rows}


def by_model(store: Store, **kinds: dict[str, Any]) -> list[Run]:
    """A run of each kind, with these settings."""
    with ScriptedServer(says) as server:
        return [
            run_to_the_end(store, specialist(kind, server.url, **own), rated_texts(3), name="rated.jsonl").run
            for kind, own in kinds.items()
        ]


def test_the_task_of_a_studys_raters_is_preselected(store: Store) -> None:
    at_hand = rating_study(store, task=find_task("factual-errors"))
    unblind(at_hand)
    at = visit(specialist_texts_from="study")
    assert field(at, "Task").value == "factual-errors"
    at = field(at, "Task").set_value("mqm").run()
    assert field(at, "Task").value == "mqm", "what is chosen stays"
    assert field(visit(specialist_texts_from="file"), "Task").value == "mqm"


# --- errors in a text, without a page -------------------------------------------------------------


def mark(start: int | None, end: int | None, severity: str = "minor", quote: str = "q") -> Marked:
    return Marked(quote, severity, "accuracy/omission", start, end)


@pytest.mark.parametrize(
    ("text", "errors", "marked"),
    [
        ("abcdef", [mark(1, 3)], ["bc"]),
        ("abcdef", [mark(0, 6), mark(2, 4)], ["ab", "cd", "ef"]),  # nested
        ("abcdef", [mark(0, 4), mark(2, 6)], ["ab", "cd", "ef"]),  # overlapping
        ("abcdef", [mark(3, 3)], []),  # of no length
        ("abc", [mark(1, 9), mark(7, 9)], ["bc"]),  # beyond the end
        ("👍a\u0301x", [mark(0, 1), mark(1, 3)], ["👍", "a\u0301"]),  # code points
        ("abc", [mark(None, None)], []),
    ],
)
def test_marked_characters_are_those_of_the_spans(text: str, errors: list[Marked], marked: list[str]) -> None:
    html = marked_html(text, errors)
    pieces = [piece.split("</mark>")[0].split(">", 1)[1] for piece in html.split("<mark ")[1:]]
    assert pieces == marked


def test_the_underline_shows_severity_and_every_error_has_a_number() -> None:
    html = marked_html("abcdef", [mark(0, 1, "major"), mark(2, 3, "critical"), mark(4, 5, "odd")])
    assert [f"assay-error-{line}" in html for line in ("solid", "double", "dashed", "dotted")] == [
        True
    ] * 3 + [False]
    assert [f">{number}</sup>" in html for number in (1, 2, 3)] == [True] * 3


def test_a_text_stays_text() -> None:
    html = marked_html(HOSTILE, [mark(0, 4)])
    assert "<img" not in html
    assert "&lt;img" in html


def test_a_hit_needs_one_common_character_and_says_whether_the_severity_is_the_same() -> None:
    theirs = [mark(0, 5, "major"), mark(8, 8)]
    assert met(mark(4, 7, "major"), theirs, OF_JUDGE) == "hit"
    assert met(mark(4, 7, "minor"), theirs, OF_JUDGE) == "hit, other severity"
    assert met(mark(5, 9, "major"), theirs, OF_JUDGE) == "not marked by people"
    assert met(mark(5, 9, "major"), theirs, OF_PERSON) == "missed by the judge"
    assert met(mark(None, None), theirs, OF_JUDGE) == ""


# --- a new run ------------------------------------------------------------------------------------

pytestmark = pytest.mark.usefixtures("cookies")


def test_the_form_makes_the_run_that_the_command_makes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    # The process itself is tried in tests/browser: here it would outlive the database.
    monkeypatch.setattr("pages.widgets.run_panel.start", lambda run: begun.append(run.run_id))
    at = visit()
    assert "Choose texts above" in said(at)
    assert "The Parrot: no model" in said(at)
    at.file_uploader(key="specialist_texts_upload").upload("rated.jsonl", rated_texts(6))
    at.run()
    assert "24 texts on 6 items by 4 systems; 24 of them rated by 3 raters." in said(at)
    field(at, "Number of examples (0: all)").set_value(2)  # type: ignore[attr-defined]
    field(at, "Rater of the examples").set_value("r2")  # type: ignore[attr-defined]
    field(at, "Judge only these systems").set_value(["A", "B"])  # type: ignore[attr-defined]
    at.run()
    assert NOT_JUDGED.format(n=12) in said(at)
    press(at, "Preview five items")
    (run,) = list_runs(store, ("automqm",))
    assert (begun, run.limit, run.n_items) == ([run.run_id], 5, 6)
    assert asked_of(run) == parrot(n_examples=2, rater="r2", only=("A", "B"))
    press(at, "Judge with other settings")
    assert field(at, "Rater of the examples").value == "r2"  # type: ignore[attr-defined]
    assert field(at, "Judge only these systems").value == ["A", "B"]  # type: ignore[attr-defined]
    assert "Judge all 6 items" in [button.label for button in at.button]


def test_a_judge_of_ratings_of_one_file_and_one_line_works_on_the_page(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OfRatedTexts(toy_judge.ToyKind):
        reads = "rated texts"

    toy = OfRatedTexts()
    monkeypatch.setitem(KINDS, toy.name, toy)  # type: ignore[arg-type]  # a plain dict
    monkeypatch.setattr("pages.widgets.run_panel.start", lambda run: None)
    at = visit()
    field(at, "Kind").set_value("toy")  # type: ignore[attr-defined]
    texts = [
        replace(text, output=replace(text.output, reference="a mill"))
        for text in (rated(1, system) for system in SYSTEMS)
    ]
    at.file_uploader(key="specialist_texts_upload").upload("rated.jsonl", write_rated(texts))
    at.run()
    press(at, "Judge the one item")
    (run,) = list_runs(store, ("toy",))
    assert worked(saved_run(store, run)).run.state == "done"
    at = visit(run, "Texts", "scores")
    assert any("what" in row for table in tables(at) for row in table), "its record is a table"


def test_what_prevents_a_run_is_reported_in_the_words_of_the_form(store: Store) -> None:
    at = visit()
    bare = b'{"item": "1", "system": "A", "text": "t", "source": "s"}\n'
    at.file_uploader(key="specialist_texts_upload").upload("bare.jsonl", bare)
    at.run()
    assert "0 of them rated" in said(at)
    assert "Examples: nobody marked errors in a text" in said(at)
    assert "--" not in "".join(one.value for one in (*at.error, *at.code) if "nobody" in one.value)


# --- a run of errors ------------------------------------------------------------------------------


def test_errors_of_people_and_judge_are_side_by_side_with_the_examples(store: Store) -> None:
    (run,) = by_model(store, automqm={})
    at = visit(run, "Spans", specialist_order_True="as in the file", specialist_system="B")
    html = "\n".join(one.proto.body for one in at.get("html"))
    assert field(at, "Text").options[0].startswith("0, B: F1 0.833")  # type: ignore[attr-defined]
    assert "People: all raters together" in html
    # r3 called it minor, the judge major.
    assert [
        f"<bdi>slipB0x0</bdi>: {said_}" in html
        for said_ in ("major, style/awkward, r1, hit", "minor, style/awkward, r3, hit, other severity")
    ] == [True, True]
    assert "<bdi>slipB0x0</bdi>: major, style/awkward, hit" in html
    assert "1 errors in" not in html
    assert "Examples used: 3" in [one.label for one in at.expander]
    shown = [system for system in SYSTEMS if f"{system}, item 0" in html]
    assert shown == ["A", "C", "D"], "never the judged system's own"


def test_agreement_equals_a_calculation_by_hand(store: Store) -> None:
    # All three marked every slip, as the judge did; r3 with another severity: (1 + 1 + 1/2) / 3, and 1/2 for r3 alone.
    (run,) = by_model(store, automqm={})
    at = visit(run, "Agreement")
    (overall, *groups) = tables(at)[0]
    of = {by: [row for row in groups if row["By"] == by] for by in ("system", "rater", "severity")}
    assert [overall[name].split()[0] for name in ("Precision", "Recall", "F1")] == ["0.83"] * 3
    assert [row["F1"].split()[0] for row in of["rater"]] == ["1.00", "1.00", "0.50"]
    assert len(of["system"]) == 4
    assert {row["Name"]: row["Recall"].split()[0] for row in of["severity"]} == {
        "major": "1.00",
        "minor": "0.00",
    }


@pytest.mark.shared
def test_a_folder_with_one_file_per_rater_gives_a_rater_matrix(
    store: Store, shared_data: Path, tmp_path: Path
) -> None:
    folder = folder_by_rater(shared_data / "wmt23", tmp_path / "set")
    at = visit(specialist_texts_from="folder", metrics_folder_specialist=str(folder))
    assert "180 of them rated." in said(at)
    field(at, "Ratings").set_value("mqm.raters")  # type: ignore[attr-defined]
    at.run()
    assert "180 of them rated by 8 raters." in said(at)
    (data, name), _ = rated_of_folder(folder, None, ["mqm.raters"])
    run = run_to_the_end(store, parrot(), data, name=name).run
    people = matrix(tables(visit(run, "Raters"))[0])
    assert {row for row, _ in people} == {f"rater{n}" for n in range(1, N_RATERS + 1)}
    assert people["rater1", "rater1"]["F1"] == DASH
    assert people["rater1", "rater2"]["F1"].startswith("0.85 [")
    assert people["rater1", "rater2"]["Texts"] == "36"


@pytest.mark.slow
def test_several_judges_and_all_other_tabs(store: Store) -> None:
    (run,) = by_model(store, automqm={})
    few = run_to_the_end(store, parrot(n_examples=1), rated_texts(3)).run
    own = run_to_the_end(store, parrot(rater="r3", repeats=2), rated_texts(3)).run
    beside: dict[str, Any] = {
        f"specialist_beside_{slot}_{run.run_id}": [few.run_id, own.run_id]
        for slot in ("agreement", "raters", "copying", "curve", "accuracy")
    } | {"acc23_test": True}
    shown = {
        name: visit(run, name, **beside)
        for name in (
            "Progress",
            "Scores",
            "Agreement",
            "Raters",
            "Copying",
            "Examples",
            "Accuracy",
            "Cost",
            "Files",
        )
    }
    assert not [one.value for at in shown.values() for one in at.error]
    judges, tests = tables(shown["Agreement"])
    assert [row["Draws"] for row in judges] == ["1", "1", "2"]
    assert len(tests) == 3, "a test of every two"
    people = matrix(tables(shown["Raters"])[0])
    assert "better than people agree with each other" in said(shown["Raters"])
    assert "map of F1" in shown["Raters"].get("plotly_chart")[0].proto.alt
    shown["Raters"].button_group(key="number_of_raters").set_value("recall").run()
    assert "map of recall" in shown["Raters"].get("plotly_chart")[0].proto.alt
    shown["Raters"].radio(key="specialist_who_predicts").set_value("Judges").run()
    specialists = matrix(tables(shown["Raters"])[0])
    assert people["r1", "r2"]["F1"].split()[0] == "1.00"
    assert people["r1", "r3"]["F1"].split()[0] == "0.50"
    first = next(row for row, _ in specialists)
    assert specialists[first, "r3"]["F1"].split()[0] == "0.50"
    copies, alone = tables(shown["Copying"])
    assert copies[0]["Marked by people"].startswith("100 %")
    assert copies[0]["In its examples"].startswith("0 %"), "every slip is one system's own"
    assert [row["Alone"] for row in alone[:2]] == ["12", "0"]
    (curve, _) = tables(shown["Examples"])
    assert {row["Mean shown"] for row in curve} == {"1.00", "3.00"}
    accuracy = tables(shown["Accuracy"])[0]
    assert accuracy[0]["acc23"].startswith("1.00")
    tests = tables(shown["Accuracy"])[1]
    assert len(tests) == 3
    assert all(float(row["p"]) <= float(row["Holm p"]) <= 1 for row in tests)
    assert field(shown["Accuracy"], "What the test swaps").options == ["Whole items", "Single pairs (WMT23)"]  # type: ignore[attr-defined]
    assert "r3" in said(shown["Raters"])


@pytest.mark.slow
def test_direct_and_quality_judges_show_their_replies(store: Store) -> None:
    direct, quality = by_model(store, direct={"n_examples": 2}, quality={})
    at = visit(direct, "Texts", "scores", specialist_order_False="as in the file")
    assert field(at, "Text").options[1] == "0, B: 90.000"  # type: ignore[attr-defined]
    assert "Examples used: 2" in [one.label for one in at.expander]
    html = "\n".join(one.proto.body for one in at.get("html"))
    # Of item 0 B, C and D made one, two and no slips; people took 10 off for each.
    shown = re.findall(r"assay-side\">(\w), item 0<.*?Score (\d+)", html)
    assert len(shown) == 2
    assert set(shown) <= {("B", "90"), ("C", "80"), ("D", "100")}
    at = visit(quality, "Texts", "scores")
    assert "slips." in said(at)
    for run in (direct, quality):
        at = visit(run, "Accuracy", "scores", acc23_dimension="overall")
        assert tables(at)[0]


@pytest.mark.slow
def test_missing_quotes_are_counted_and_hostile_text_stays_text(store: Store) -> None:
    def lost(body: Body, n: int) -> str:
        marked = {"severity": "major", "category": HOSTILE[:60]}
        return json.dumps({"errors": [{"span": span, **marked} for span in ("never written", "text")]})

    text = RatedText(
        ScorableOutput("1", HOSTILE, f"{HOSTILE} text", source=HOSTILE, language="ar"),
        (
            Rating(
                "1",
                -1.0,
                HOSTILE,
                rater=HOSTILE,
                dimension="mqm",
                language="ar",
                spans=(ErrorSpan(0, 4, HOSTILE, HOSTILE),),
            ),
        ),
    )
    with ScriptedServer(lost) as server:
        chosen = specialist("automqm", server.url)
        run = run_to_the_end(store, chosen, write_rated([text, rated(1, "B"), rated(1, "C")])).run
    at = visit(run, "Spans", specialist_order_True="quotes not found first")
    html = "\n".join(one.proto.body for one in at.get("html"))
    assert "1 not found" in field(at, "Text").options[0]  # type: ignore[attr-defined]
    assert "not found in the text" in html
    assert "Quotes not found in the text: 1" in said(at)
    assert "<img" not in html
    assert "<img" not in "\n".join(one.value.replace("\\<", "") for one in at.markdown)


def test_ratings_of_a_study_become_examples(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.widgets.run_panel.start", lambda run: None)
    at_hand = rating_study(store)
    for rater in ("R1", "R2"):
        rate_all(at_hand.desk(rater))
    assert "No rating study is unblinded yet" in said(visit(specialist_texts_from="study"))
    unblind(at_hand)
    at = visit(specialist_texts_from="study")
    assert "12 texts on 4 items by 3 systems; 12 of them rated by 2 raters." in said(at)
    assert field(at, "Rater of the examples").options == ["all raters together", "R1", "R2"]  # type: ignore[attr-defined]
    press(at, "Judge all 4 items")
    (run,) = list_runs(store, ("automqm",))
    assert (run.data_file, run.n_items) == ("study-ratings.jsonl", 4)
