"""A study whose names are markers, and a scripted model that always prefers the first system's answers and says a marker."""

import json
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from helpers.processes.scripted_server import Body, Said
from helpers.texts.factories import LEVELS, StudyAtHand, dataset, study_in
from helpers.texts.judge_runs import settings

from core.runs.asked import Running
from core.runs.path import create
from core.runs.working.environments import start_child
from core.sources.texts import guidelines_of_study, pairs_of_study
from core.store import Store
from core.store.runs import get_run

ONE, TWO = "MARKEROFONE", "MARKEROFTWO"
FILE = "MARKEROFONE_vs_MARKEROFTWO-FILEMARKER.json"
STUDY = "STUDYMARKER"
FEEDBACK = "FEEDBACKMARKER"
MODEL = "modelmarker"
JUDGE = "judgemarker"
OWN_GUIDELINES = "Prefer what a farmer would say."
SYSTEMS = (ONE, TWO, FILE)
"""What tells which system wrote what."""


def marked_study(
    store: Store, n_items: int = 4, levels: Sequence[str] = LEVELS, *, state: str = "open", **design: object
) -> StudyAtHand:
    """Alpha texts by the first system, the candidate, and Beta texts by the second."""
    data = dataset(n_items, levels, sources=(ONE, TWO), file_name=FILE)
    data = replace(
        data,
        items=tuple(
            replace(item, question=f"Question {n}?", reference=f"Ref {n}.")
            for n, item in enumerate(data.items)
        ),
    )
    return study_in(store, data, name=STUDY, state=state, **design)


def shown_in(body: Body) -> tuple[str, str]:
    """The two answers of a request, in their order."""
    asked = next(one["content"] for one in body["messages"] if "<first>\n" in one["content"])
    first, second = (re.search(rf"<{tag}>\n(.*?)\n</{tag}>", asked, re.S) for tag in ("first", "second"))
    assert first is not None
    assert second is not None
    return first.group(1), second.group(1)


def prefers_alpha(body: Body, _: int) -> Said:
    """A judge for which the first system wins every pair."""
    verdict = "first" if shown_in(body)[0].startswith("Alpha") else "second"
    return Said(json.dumps({"feedback": f"{FEEDBACK} {len(str(body))}", "verdict": verdict}))


def started(store: Store, database: Path, study: StudyAtHand, url: str, **given: object) -> int:
    """A judge's run on the study, in a process of its own as the page starts it."""
    attached = guidelines_of_study(store, study.study).dump()
    judge = settings("pairwise", url, name=JUDGE, attached=attached, model=MODEL, **given)
    run, _ = create(store, *pairs_of_study(store, study.study), judge, Running(concurrency=1))
    start_child(database, run.run.run_id, "base")
    return run.run.run_id


def ended(store: Store, run_id: int) -> None:
    for _ in range(400):
        if get_run(store, run_id).state == "done":
            return
        time.sleep(0.1)
    raise AssertionError(f"the run is {get_run(store, run_id)}")
