"""From an arena file to a first vote: what a lab does on its first day, timed, and what raters see of an empty answer."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import (
    AppServer,
    choose_file,
    on_pair,
    on_screen,
    open_tab,
    settled,
    through_onboarding,
)
from playwright.sync_api import Page, expect

from core.schema.study import NO_ANSWER
from core.store import Store
from core.store.answers import load_record
from core.store.studies import find_study, outputs_of
from core.study.raters import links

SOON = 20_000
MOST_SECONDS = 180
NAMES = ("SYSTEMMARKERONE", "SYSTEMMARKERTWO")


def arena(folder: Path) -> Path:
    """Six battles of two models on changing sides; one model gives no answer to the third."""
    rows = []
    for n in range(6):
        texts = [f"Answer {n} of one kind.", "" if n == 2 else f"Answer {n} of another kind."]
        sides = [*zip(NAMES, texts, strict=True)]
        (a, left), (b, right) = reversed(sides) if n % 2 else sides
        asked = {"role": "user", "content": f"Question {n}?"}
        rows.append(
            {"question_id": n, "model_a": a, "model_b": b, "winner": "model_a",
             "conversation_a": [asked, {"role": "assistant", "content": left}],
             "conversation_b": [asked, {"role": "assistant", "content": right}]}
        )  # fmt: skip
    path = folder / "arena.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.browser
def test_an_arena_file_becomes_a_first_vote_within_three_minutes(
    app: AppServer, app_store: Store, new_page: Callable[[], Page], tmp_path: Path
) -> None:
    began = time.monotonic()
    admin = new_page()
    sign_in(admin, app_store, app.url)
    admin.goto(f"{app.url}/studies?study=new")
    expect(on_screen(admin).get_by_text("What do you ask raters?")).to_be_visible(timeout=SOON)
    settled(admin)
    choose_file(admin, "File", arena(tmp_path))
    expect(on_screen(admin).get_by_text("6 questions with answers from")).to_be_visible(timeout=SOON)
    settled(admin)
    expect(on_screen(admin).get_by_text("Columns: how each is read")).to_be_visible()
    expect(on_screen(admin).get_by_text("model_a is the first answer (6)")).to_be_visible()
    admin.get_by_role("button", name="Create the draft").click()
    expect(on_screen(admin).get_by_text("is a draft now")).to_be_visible(timeout=SOON)
    open_tab(admin, "Raters")
    admin.get_by_role("textbox", name="New raters, separated by commas").fill("ann")
    admin.get_by_role("button", name="Add raters").click()
    expect(on_screen(admin).get_by_text("Added ann")).to_be_visible()
    open_tab(admin, "Result")
    admin.get_by_role("button", name="Open the study").click()
    settled(admin)
    study = find_study(app_store, "arena")
    (link,) = links(app_store, study)
    rater = new_page()
    received: list[str] = []
    rater.on(
        "websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(str(frame)))
    )
    through_onboarding(rater, link.url(app.url))
    empty = []
    for number in range(1, 7):
        on_pair(rater, number)
        empty.append(on_screen(rater).get_by_text("No answer", exact=True).count())
        rater.keyboard.press("1")
        if number == 1:
            expect(rater.locator(".assay-status", has_text="Pair 1 saved")).to_be_visible(timeout=SOON)
            assert time.monotonic() - began < MOST_SECONDS
            (answer,) = load_record(app_store, study).answers
            assert (answer.rater_id, answer.choice) == ("ann", "left")
    assert sorted(empty) == [0, 0, 0, 0, 0, 1]
    assert [one.text for one in outputs_of(app_store, study.study_id)].count(NO_ANSWER) == 1
    assert received
    assert not [name for name in (*NAMES, "model_a", "question_id") if name in "".join(received)]
