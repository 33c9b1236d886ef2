"""What runs and what waits, over all studies and runs of a database."""

import os

from helpers.pages.judges_visit import CLAIMS, judged, texts, waiting
from helpers.texts.factories import always, dataset, study_in, vote

from core.runs.overview import Overview, overview
from core.store import Store
from core.store.runs import claim_run, finish_run
from core.store.studies import get_study
from core.study.raters import preview_link


def test_an_empty_database_has_nothing_to_name(store: Store) -> None:
    assert overview(store) == Overview((), (), (), (), (), ())


def test_studies_are_listed_by_their_state_with_the_votes_of_their_raters(store: Store) -> None:
    at_hand = study_in(store, dataset(2), raters=("ann", "ben"), repeat_share=0)
    preview_link(store, at_hand.study)
    study_in(store, dataset(3), raters=(), name="empty", state="open")
    for state in ("draft", "closed", "unblinded"):
        study_in(store, dataset(4 + len(state)), raters=(), name=state, state=state)
    vote(store, at_hand.tokens["ann"], always("left"))
    found = overview(store)
    empty, half = found.open_studies
    assert (empty.n_raters, empty.done, empty.n_asked, empty.share) == (0, 0, 0, 0.0)
    assert (half.study, half.n_raters) == (get_study(store, at_hand.study_id), 2)
    assert (half.done, half.n_asked, half.share) == (10, 20, 0.5)
    for name in ("drafts", "closed", "unblinded"):
        (study,) = getattr(found, name)
        assert study.state == name.removesuffix("s")


def test_runs_that_are_over_are_not_listed(store: Store) -> None:
    given = texts(store)
    judged(store, given)
    begun, stopped, cancelled, left = (waiting(store, given, CLAIMS) for _ in range(4))
    claim_run(store, begun.run_id, os.getpid())
    finish_run(store, stopped.run_id, "stopped", "the server is gone")
    finish_run(store, cancelled.run_id, "cancelled")
    found = overview(store)
    assert [(one.run.run_id, one.state, one.share) for one in found.running] == [
        (begun.run_id, "running", 0.0)
    ]
    assert [(one.run.run_id, one.state) for one in found.waiting] == [
        (left.run_id, "waiting"),
        (stopped.run_id, "stopped"),
    ]
