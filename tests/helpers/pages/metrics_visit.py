"""The page Metrics as a test opens it, and scoring runs to show on it."""

import json
from typing import Any

from helpers.pages.generate_visit import DEMO
from helpers.texts.judge_runs import run_to_the_end
from streamlit.testing.v1 import AppTest

from core.metrics.kind import KIND
from core.runs.asked import ask
from core.runs.generation import texts_of_run
from core.runs.jobs import RunAtHand
from core.runs.kinds import KINDS
from core.schema.runs import Run
from core.store import Store

METRICS = ("bleu-1", "bleu-4", "chrf-6-2", "rouge-1", "rouge-l", "meteor-a0.9-g0.5")


def page() -> None:
    from pages import metrics

    metrics.render()


def visit(chosen: tuple[str, int] | None = None, part: str | None = None) -> AppTest:
    """The page as it is first opened, or one part of some scores."""
    at = AppTest.from_function(page, default_timeout=60)
    if chosen is not None:
        at.session_state["metrics_scores_chosen"] = chosen
        if part is not None:
            at.session_state[f"metrics_part_{chosen[0]}"] = part
    at.run()
    assert not at.exception
    return at


def generated(store: Store) -> RunAtHand:
    """The demo's questions at damage levels 0 to 5, by rules."""
    asked, running = ask(KINDS["damage"], {"task": "qa"}, {}, {})
    return run_to_the_end(store, asked, DEMO.read_bytes(), name=DEMO.name, running=running)


def scored(store: Store, data: bytes | None = None, name: str = "texts.jsonl", **wanted: Any) -> Run:
    """A scoring run that has been worked on in this process; of the generated demo unless told otherwise."""
    if data is None:
        data, name = texts_of_run(generated(store))
    chosen = {"metrics": tuple(wanted.pop("metrics", METRICS)), "synonyms": "none"}
    asked, running = ask(KIND, chosen, {}, {})
    return run_to_the_end(store, asked, data, name=name, running=running, **wanted).run


def lines(*rows: dict[str, object]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()
