"""The page Generate as a test opens it, what a reader sees there, and runs to show on it."""

import json
import re
from pathlib import Path
from typing import Any

from helpers.texts.judge_runs import worked
from streamlit.testing.v1 import AppTest

from core.runs.asked import Asked, ModelSettings, Running, ask
from core.runs.jobs import RunAtHand
from core.runs.kinds import KINDS
from core.runs.path import create
from core.store import Store

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "data" / "demo" / "questions.jsonl"


def page() -> None:
    from pages import generate

    generate.render()


def visit(run: RunAtHand | None = None, part: str | None = None) -> AppTest:
    """The page as it is first opened, or one part of a run."""
    at = AppTest.from_function(page, default_timeout=30)
    if run is not None:
        at.session_state["run_choice"] = run.run.run_id
    if part is not None:
        at.session_state["generate_part"] = part
    at.run()
    assert not at.exception
    return at


def said(at: AppTest) -> str:
    """All that a reader sees, escapes taken off."""
    assert not at.exception
    kinds = (at.title, at.header, at.markdown, at.error, at.warning, at.success, at.info, at.code)
    texts = [element.value for kind in kinds for element in kind]
    texts += [element.proto.body for element in at.get("html")]
    cells = [str(cell) for table in at.table for cell in [*table.value.columns, *table.value.to_numpy().flat]]
    plain = re.sub(r"\\(?=[^\w\s])", "", "\n".join([*texts, *cells]))
    return plain.replace("\u00a0", " ").replace("\u2060", "")


def press(at: AppTest, label: str) -> AppTest:
    next(button for button in at.button if button.label == label).click()
    at.run()
    assert not at.exception
    return at


def field(at: AppTest, label: str) -> object:
    kinds = (at.text_input, at.number_input, at.radio, at.selectbox, at.multiselect)
    return next(element for kind in kinds for element in kind if element.label == label)


def questions(*rows: dict[str, str]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def asked(kind: str = "factual", **given: Any) -> Asked:
    """What a run is asked for, by rules unless a model is named. given: fields of the scheme and of its model."""
    prompts, name = given.pop("prompts", ()), given.pop("name", "")
    model = {field: given.pop(field) for field in tuple(given) if field in ModelSettings.model_fields}
    found, _ = ask(KINDS[kind], given, model, {}, name=name, prompts=prompts)
    return found


def waiting(
    store: Store,
    wanted: Asked | None = None,
    data: bytes | None = None,
    limit: int | None = None,
    *,
    name: str = "questions.jsonl",
    running: Running = Running(),  # noqa: B008  # frozen
) -> RunAtHand:
    """A run that nobody has started."""
    data = DEMO.read_bytes() if data is None else data
    run, _ = create(store, data, name, wanted or asked(), running, limit)
    return run


def made(
    store: Store, data: bytes | None = None, wanted: Asked | None = None, limit: int | None = None
) -> RunAtHand:
    """A run that rules have worked on, in this process."""
    return worked(waiting(store, wanted, data, limit))


def html_of(at: AppTest) -> list[str]:
    return [element.proto.body for element in at.get("html")]
