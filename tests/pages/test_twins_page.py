"""Edited twins on the page Judges: made by rules with one press, shown as differences, passed on to a judge's form."""

import json

import pytest
from helpers.pages.generate_visit import html_of, press, said
from helpers.pages.judges_visit import visit
from helpers.texts.judge_runs import run_to_the_end, settings, texts, worked

from core.formats.registry import read_texts
from core.generation.twins import BY_RULES
from core.judges.twins import KIND, plan_twins
from core.runs.path import saved_run
from core.runs.records import write_pieces
from core.schema.runs import Run
from core.schema.scores import mask_named
from core.store import Store
from core.store.runs import list_runs

pytestmark = pytest.mark.usefixtures("cookies")
HOSTILE = '<img src=x onerror="alert(1)"> **bold** $x$'


def made(store: Store, data: bytes = b"") -> Run:
    plan = plan_twins(read_texts(data or texts(4), "t.jsonl"))
    asked = settings(KIND.name, "", backend="rules")
    return run_to_the_end(store, asked, write_pieces(plan.twins), name="twins-t.jsonl").run


def form(data: bytes) -> object:
    at = visit(("new", 0))
    at.session_state["metrics_texts_from"] = "file"
    at.session_state["metrics_texts_file"] = (data, "mills.jsonl")
    return at.run()


def test_one_press_makes_twins_of_the_chosen_texts(store: Store) -> None:
    at = form(texts(4))
    assert not at.exception
    press(at, f"Make {4 * len(BY_RULES)} twins of 4 pairs")
    assert not at.exception
    (run,) = list_runs(store, (KIND.name,))
    twins = saved_run(store, run.run_id).contents
    assert {(one.row.level, one.other_level) for one in twins} == {("A0", "A3"), ("A3", "A0")}
    assert saved_run(store, run.run_id).request.by_rules


def test_texts_without_levels_twins_themselves_and_masked_texts_offer_no_twins(store: Store) -> None:
    plain = b'{"item_id": "1", "system": "s", "text": "It is."}\n'
    twins = b"".join(
        json.dumps(
            {"item_id": "1", "system": "s", "level": level, "text": level, "pair": "none", "edit": "none"}
        ).encode()
        + b"\n"
        for level in ("A0", "A1")
    )
    masked = b"".join(
        json.dumps(
            {"item_id": "1", "system": mask_named(1, "0" * 8), "level": level, "text": level}
        ).encode()
        + b"\n"
        for level in ("A0", "A1")
    )  # fmt: skip
    for data in (plain, twins, masked):
        at = form(data)
        assert not at.exception
        assert not [one for one in at.button if "twins of" in one.label]


def test_the_result_shows_three_differences_and_passes_the_twins_on(store: Store) -> None:
    run = made(store)
    at = visit(("run", run.run_id), "Result", "check")
    cards = [one for one in html_of(at) if '<div class="assay-card">' in one]
    assert len(cards) == 3
    assert all("<ins>" in one for one in cards)
    press(at, "Judge these twins")
    assert not at.exception
    assert "48 texts on 4 items" in said(at)


def test_hostile_texts_are_shown_as_they_are(store: Store) -> None:
    data = "".join(
        json.dumps(
            {
                "item_id": HOSTILE,
                "system": HOSTILE,
                "level": level,
                "language": "ja",
                "text": f"{HOSTILE} {level}.",
            }
        )
        + "\n"
        for level in ("A0", "A1")
    ).encode()
    run = made(store, data)
    at = visit(("run", run.run_id), "Result", "check")
    assert not at.exception
    assert "<img" not in "".join(str(one.proto.body) for one in at.get("html"))


def test_a_run_that_has_made_nothing_says_so(store: Store) -> None:
    from core.runs.asked import Running
    from core.runs.path import create

    plan = plan_twins(read_texts(texts(2), "t.jsonl"))
    run, _ = create(
        store, write_pieces(plan.twins), "t.jsonl", settings(KIND.name, "", backend="rules"), Running()
    )
    at = visit(("run", run.run.run_id), "Result", "check")
    assert not at.exception
    assert not at.get("html") or "assay-card" not in str(at.get("html"))
    worked(run)
    assert not visit(("run", run.run.run_id), "Files", "check").exception
