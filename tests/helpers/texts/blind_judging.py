"""A study whose names are markers, and a scripted model that always prefers the first system's answers and says a marker."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from helpers.processes.scripted_server import Body, Said
from helpers.texts.factories import LEVELS, StudyAtHand, dataset, study_in

from core.store import Store

ONE, TWO = "MARKEROFONE", "MARKEROFTWO"
FILE = "FILEMARKER.json"
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
