"""A pairwise judge works on an open study while its rater votes: every byte of both browsers is searched.

Nothing of the judge reaches the rater, and nothing that tells the systems apart reaches the owner before unblinding.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import (
    AppServer,
    fill,
    on_pair,
    on_screen,
    open_tab,
    settled,
    through_onboarding,
)
from helpers.processes.scripted_server import Body, Said, ScriptedServer
from helpers.texts.blind_judging import (
    FEEDBACK,
    JUDGE,
    MODEL,
    ONE,
    STUDY,
    SYSTEMS,
    ended,
    marked_study,
    prefers_alpha,
    started,
)
from helpers.texts.factories import prefers, unblind, vote
from playwright.sync_api import Page, expect
from wire import Wire

from core.runs.path import saved_run, written
from core.schema.scores import mask_code
from core.store import Store
from core.store.answers import PAIRS, assignments_of, guesses_of
from core.store.runs import get_run, list_runs

NewPage = Callable[[], Page]
SOON = 20_000
RATER = "R1"
OF_THE_JUDGE = (FEEDBACK, JUDGE, MODEL, "pairwise", "Pairwise", "answer 1", "(masked", STUDY)
"""What tells a rater that there is a judge, or what it said."""


@pytest.mark.slow
def test_a_rater_votes_while_a_judge_works_and_learns_nothing_of_it(
    app: AppServer, app_store: Store, database: Path, new_page: NewPage
) -> None:
    study = marked_study(app_store, 2, ("A0", "A1", "A2"), raters=[RATER], blinding_pairs=2, repeat_share=0.0)
    total = len(assignments_of(app_store, study.study_id, RATER))
    let_go, n_before = threading.Event(), 0

    def slow(body: Body, n: int) -> Said:
        said = prefers_alpha(body, n)
        return said if let_go.is_set() else replace(said, delay=0.3 if n < n_before + 6 else 2.0)

    with ScriptedServer(slow, models=(MODEL,)) as server:
        let_go.set()
        first = started(app_store, database, study, server.url)
        ended(app_store, first)
        let_go.clear()
        n_before = len(server.asked)
        page = new_page()
        wire = Wire().watch(page)
        through_onboarding(page, f"{app.url}/r/{study.tokens[RATER]}")
        second = started(app_store, database, study, server.url, seed=1)
        while len(server.asked) == n_before:
            page.wait_for_timeout(50)
        times = []
        for number in range(1, total + 1):
            on_pair(page, number)
            wire.add_document(page)
            times.append(time.monotonic())
            page.keyboard.press(str(number % 4 + 1))
        expect(page.get_by_role("button", name="Lock my answers")).to_be_visible()
        assert get_run(app_store, second).state == "running"
        let_go.set()
        wire.after(page, page.get_by_role("button", name="Lock my answers").click)
        for number in (1, 2):
            expect(page.locator(".assay-status", has_text=f"{number} of 2: ")).to_be_visible()
            settled(page)
            page.wait_for_timeout(400)
            wire.add_document(page)
            wire.after(page, lambda number=number: page.keyboard.press(str(number)))  # type: ignore[misc]
        expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible()
        settled(page)
        wire.add_document(page)
        ended(app_store, second)
        began = [one.began for one in server.asked[n_before:]]
    assert sum(times[0] < one < times[-1] for one in began) > 2, "the judge asked while the rater voted"
    answers = [one for one in PAIRS.answers_of(app_store, study.study_id, RATER) if one.answered]
    assert len(answers) == total
    assert len(guesses_of(app_store, study.study_id, RATER)) == 2
    haystack = wire.everything()
    assert b"Alpha text of" in haystack, "the answers themselves must be in what was captured"
    code = mask_code(saved_run(app_store, first).contents.texts[0].output.system)
    assert code is not None
    for secret in (*SYSTEMS, *OF_THE_JUDGE, code, server.url, get_run(app_store, first).data_sha256[:16]):
        assert secret.encode() not in haystack, f"{secret} reached the rater"


def owner_sees(page: Page, wire: Wire) -> None:
    settled(page)
    wire.add_document(page)


@pytest.mark.slow
def test_the_owner_judges_an_open_study_and_sees_no_system_before_unblinding(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study = marked_study(app_store, 2, ("A0", "A1", "A2"), raters=[RATER])
    vote(app_store, study.tokens[RATER], prefers(0))
    page = new_page()
    wire = Wire().watch(page)
    sign_in(page, app_store, app.url)
    with ScriptedServer(prefers_alpha, models=(MODEL,)) as server:
        page.goto(f"{app.url}/judges")
        on_screen(page).get_by_text("Pairwise", exact=True).click(timeout=SOON)
        settled(page)
        on_screen(page).get_by_text("A study", exact=True).click()
        expect(on_screen(page).get_by_text("reads its pairs under masks")).to_be_visible(timeout=SOON)
        expect(on_screen(page).get_by_text("12 texts on 2 items by 2 systems")).to_be_visible()
        guidelines = page.get_by_role("combobox", name="Guidelines")
        expect(guidelines).to_have_value("Which answer fits its level better? (levels)")
        settled(page)
        fill(page, "Address", server.url)
        fill(page, "Model", MODEL)
        owner_sees(page, wire)
        page.get_by_role("button", name="Judge all 2 items").click()
        expect(on_screen(page).get_by_text("is done")).to_be_visible(timeout=SOON)
    for tab in ("Scores", "Pairs", "Texts", "Judges", "Reliability", "Cost", "Files"):
        open_tab(page, tab)
        owner_sees(page, wire)
    open_tab(page, "Scores")
    expect(on_screen(page).get_by_text("the systems are masked").first).to_be_visible()
    page.get_by_role("button", name="Correlate on the page Metrics").click()
    expect(page.get_by_role("heading", name="Metrics", exact=True)).to_be_visible(timeout=SOON)
    for tab in ("Correlations", "Ranking", "Redundancy", "Levels", "Meta-correlation"):
        open_tab(page, tab)
        owner_sees(page, wire)
    (run,) = list_runs(app_store)
    haystack = wire.everything() + b"".join(written(saved_run(app_store, run)).values())
    assert FEEDBACK.encode() in haystack, "the owner reads what the judge said"
    for secret in SYSTEMS:
        assert secret.encode() not in haystack, f"{secret} reached the owner"
    unblind(study)
    page.goto(f"{app.url}/studies?study={study.study_id}&tab=judges&judges=orders")
    expect(page.get_by_role("tab", name="Judges", exact=True)).to_be_visible(timeout=SOON)
    owner_sees(page, wire)
    assert ONE.encode() in wire.everything(), "afterwards the win rates name the systems"
