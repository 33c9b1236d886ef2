"""The page Generate: every item, the files, a new study, and published reports."""

import json
import re
from pathlib import Path

import pytest
from helpers.pages.generate_visit import (
    DEMO,
    ROOT,
    asked,
    field,
    html_of,
    made,
    press,
    questions,
    said,
    visit,
)

from core.runs.generation import run_answers
from core.runs.path import written
from core.store import Store
from core.store.runs import run_item
from core.store.studies import list_studies, outputs_of
from core.study.audit import audit_note, audit_study
from pages.widgets import menus
from pages.widgets.messages import plain

HOSTILE = '<img src=x onerror="alert(1)"> **bold** $x$ ![i](http://outside.invalid/a.png)'
MAKE_STUDY = "Make a draft study"

pytestmark = pytest.mark.usefixtures("cookies")


def test_failed_items_are_counted_by_step_and_come_first(store: Store) -> None:
    data = questions(
        {
            "item_id": "good",
            "question": "How long?",
            "reference": "The Rhine is 1,230 km long and rises in 1999.",
        },
        {"item_id": "bare", "question": "Is it so?", "reference": "Is it so."},
    )
    run = made(store, data)
    text = said(visit(run))
    assert "no spans" in text
    at = visit(run, "Items")
    assert field(at, "Item").value == 1, "the failing one"
    assert "This item is incomplete. It ended at finding facts (no spans)" in said(at)
    assert "A level is missing. Partial results are below and in outputs.csv." in said(at)
    at.get("button_group")[0].set_value("done")
    at.run()
    assert field(at, "Item").value == 0
    assert "is incomplete." not in said(at)


def test_every_step_of_an_item_is_shown(store: Store) -> None:
    run = made(store)
    item = run_item(store, run.run.run_id, 0)
    assert item is not None
    trace = item.result
    at = visit(run, "Items")
    text = said(at)
    for number, group in enumerate(trace["groups"], start=1):
        for span in group:
            words = trace["spans"][span]["text"]
            assert f"[{words}]<sup>{span}·A{number}</sup>" in text
    for dropped in trace["dropped"]:
        assert f"[{trace['spans'][dropped['span']]['text']}]<sup>{dropped['span']}</sup>" in text
        assert f"unchanged: {dropped['reason']}" in text
    edits = next(table.value for table in at.table if "Before" in table.value.columns)
    first = trace["levels"][1]["edits"][0]
    assert re.sub(r"\\", "", edits.iloc[0]["Before"]).replace("\u00a0", " ") == first["old"]
    assert re.sub(r"\\", "", edits.iloc[0]["After"]).replace("\u00a0", " ") == first["new"]
    assert [html for html in html_of(at) if ">A0, marked against the reference</h2>" in html]
    marked = next(html for html in html_of(at) if ">A1</h2>" in html)
    assert "<del>" in marked
    assert "<ins>" in marked
    at.get("button_group")[1].set_value("off")
    at.run()
    assert not [html for html in html_of(at) if "<ins>" in html]


@pytest.mark.parametrize("kind", ["factual", "damage"])
def test_hostile_text_is_shown_literally(store: Store, kind: str) -> None:
    reference = f"{HOSTILE} In 1999 the River {HOSTILE} was 1,230 km long and Anna Smith saw it."
    data = questions(
        {
            "item_id": HOSTILE[:40],
            "question": f"{HOSTILE}?",
            "reference": reference,
            "paraphrase": f"{reference} So.",
        },
        {
            "item_id": "b",
            "question": "Another?",
            "reference": "Berlin had 3,600,000 people in 2012.",
            "paraphrase": "In 2012 Berlin had 3,600,000 people.",
        },
    )
    run = made(store, data, asked(kind))
    assert run_item(store, run.run.run_id, 0) is not None
    at = visit(run, "Items")
    field(at, "Item").set_value(0)
    at.run()
    shown = "".join(html for html in html_of(at) if "<style>" not in html)
    assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;" in shown
    assert "<img" not in shown
    for element in (*at.markdown, *at.warning, *at.error, *at.success):
        assert "<img" not in element.value.replace("\\<", "")
    for part in ("Progress", "Levels", "Results"):
        said(visit(run, part))


def test_the_share_of_words_kept_is_shown_with_its_range_and_no_promise(store: Store) -> None:
    at = visit(made(store), "Levels")
    assert "this is no metric of quality" in said(at)
    table = next(table.value for table in at.table if "Items used" in table.value.columns)
    assert list(table["Level"]) == ["A0", "A1", "A2", "A3", "A4"]
    means = [float(mean) for mean in table["Mean"]]
    assert means == sorted(means, reverse=True)
    assert set(table["Items used"]) == {"14"}
    assert len(at.get("plotly_chart")) == 1
    text = (ROOT / "docs" / "statistics.md").read_text("utf-8")
    assert "methods#words-kept" in said(at)
    assert "\n## Words kept\n" in text


# --- what it made ---------------------------------------------------------------------------------


def test_every_file_is_offered_with_a_warning_of_verbatim_texts(store: Store) -> None:
    run = made(
        store, questions({"question": "How long?", "reference": "The Rhine is 1,230 km long since 1999."})
    )
    at = visit(run, "Results")
    labels = [button.label for button in at.get("download_button")]
    assert labels == ["All files (assay-run-1.zip)", *written(run)]
    assert "A0 is the reference word for word in 1 of 1 items" in said(at)
    assert "word for word" not in said(visit(made(store), "Results"))


def test_a_run_and_another_run_become_a_study(store: Store) -> None:
    other = made(store, wanted=asked(seed=1))
    run = made(store)
    at = visit(run, "Results")
    assert field(at, "Other system").value is None, "nobody has chosen yet"
    assert MAKE_STUDY not in [button.label for button in at.button]
    field(at, "Other system").set_value(other.run.run_id)
    at.run()
    assert field(at, "Name of the other system").value == "rules (run 1)", (
        "a study cannot tell two of one name"
    )
    field(at, "Name of the study").set_value("two seeds")
    press(at, MAKE_STUDY)
    assert [box.value for box in at.success] == [
        "two seeds is a draft. Check its leakage audit, add raters, then open it."
    ]
    assert MAKE_STUDY not in [button.label for button in at.button], "the message stands there"
    assert "Open the study" in [button.label for button in at.button]
    (study,) = list_studies(store)
    assert (study.name, study.state, study.levels) == ("two seeds", "draft", ("A0", "A1", "A2", "A3", "A4"))
    design = study.design
    assert (design.candidate, design.comparator, design.margin) == ("rules", "rules (run 1)", None)
    texts = {(o.item_id, o.level, o.text) for o in outputs_of(store, study.study_id) if o.source == "rules"}
    assert texts == {(o.item_id, o.level, o.text) for o in run_answers(run).outputs}


def test_a_run_and_a_file_become_a_study(store: Store) -> None:
    rows = [json.loads(line) for line in DEMO.read_text("utf-8").splitlines()]
    answers = [
        {
            **{key: row[key] for key in ("item_id", "question", "reference", "language")},
            "level": level,
            "source": "people",
            "text": row["reference"] if level == "A0" else f"{level}: {row['paraphrase']}",
        }
        for row in rows
        for level in ("A0", "A1")
    ]
    run = made(store)
    at = visit(run, "Results")
    field(at, "Other system").set_value(0)
    at.run()
    at.file_uploader[0].upload("people.jsonl", questions(*answers[2:]))
    at.run()
    assert "question d01: not in people.jsonl" in said(at)
    at.checkbox[0].check()
    at.run()
    assert "13 questions at levels A0, A1 from rules and people." in said(at)
    assert "A0 equals the reference word for word: people in 13 of 13 questions" in said(at)


def test_one_system_of_a_file_with_two_is_chosen(store: Store) -> None:
    rows = [json.loads(line) for line in DEMO.read_text("utf-8").splitlines()]
    answers = [
        {
            **{key: row[key] for key in ("item_id", "question", "reference", "language")},
            "level": "A0",
            "source": source,
            "text": f"{source}: {row['paraphrase']}",
        }
        for row in rows
        for source in ("people", "machine")
    ]
    at = visit(made(store), "Results")
    field(at, "Other system").set_value(0)
    at.run()
    at.file_uploader[0].upload("both.jsonl", questions(*answers))
    at.run()
    menu = field(at, "System in this file")
    assert (menu.options, menu.value) == (["people", "machine"], None)
    assert not at.error
    menu.set_value("machine")
    at.run()
    assert "14 questions at levels A0 from rules and machine." in said(at)


def test_a_leak_is_a_warning_next_to_the_success(store: Store) -> None:
    rows = [json.loads(line) for line in DEMO.read_text("utf-8").splitlines()]
    long = [
        {
            **{key: row[key] for key in ("item_id", "question", "reference", "language")},
            "level": level,
            "source": "people",
            "text": f"{row['reference']} {row['reference']} {row['paraphrase']} {level}",
        }
        for row in rows
        for level in ("A0", "A1", "A2")
    ]
    at = visit(made(store), "Results")
    field(at, "Other system").set_value(0)
    at.run()
    at.file_uploader[0].upload("long.jsonl", questions(*long))
    at.run()
    press(at, MAKE_STUDY)
    (study,) = list_studies(store)
    note = audit_note(audit_study(store, study))
    assert note is not None
    assert plain(note) in [box.value for box in at.warning]
    assert len(at.success) == 1
    assert note.split()[0] not in at.success[0].value


def test_whole_runs_of_the_same_file_are_offered_first(store: Store) -> None:
    other_file = questions({"question": "How long?", "reference": "The Rhine is 1,230 km long."})
    whole = made(store, wanted=asked(seed=1))
    part = made(store, wanted=asked(seed=2), limit=3)
    foreign = made(store, other_file, wanted=asked(seed=3))
    run = made(store)
    labels = field(visit(run, "Results"), "Other system").options
    assert [label.split(" (")[0] for label in labels] == [
        "A file with answers ...",
        *(f"Run {one.run.run_id}" for one in (whole, part, foreign)),
    ]
    assert labels[2].startswith(
        f"Run {part.run.run_id} (done), {part.run.created_utc[:10]} {part.run.created_utc[11:16]} UTC"
    )
    assert labels[2].endswith("Factual perturbation, seed 2 by rules, questions.jsonl, first 3 of 14")


@pytest.mark.shared
def test_the_published_report_is_replayed_and_shown(store: Store, shared_data: Path) -> None:
    at = visit()
    field(at, "Run").set_value(menus.REPORT)
    at.run()
    file = shared_data / "perturbation-report.json"
    at.file_uploader[0].upload(file.name, file.read_bytes())
    at.run()
    counts = at.table[0].value
    found = dict(zip(counts["Step"], counts["Items that match"], strict=True))
    assert found["Items"] == found["Brackets"] == found["Filter, order in Factual's code"] == "20"
    assert found["Sizes of the groups"] == "20"
    assert int(found["Filter, order in Factual's paper"]) < 12
    assert "[fossil fuels]<sup>" in said(at)
    at.file_uploader[0].set_value(("x.csv", b"item_id,question\na,b\n", "text/csv"))
    at.run()
    assert "x.csv cannot be imported" in said(at)
    assert not at.table, "nothing of the report before it stays"
