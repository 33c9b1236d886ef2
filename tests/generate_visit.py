"""The page Generate as a test opens it, what a reader sees there, and runs to show on it."""

import json
import re
from pathlib import Path

from core.runs.model_settings import RunningSettings
from core.runs.plan import create_run
from core.runs.settings import settings_of
from streamlit.testing.v1 import AppTest

from core.generation.scheme import GenerationSettings
from core.runs.asked import running_of
from core.runs.generation import GenerationJob, materials_of
from core.runs.worker import work
from core.schema import Run
from core.store import Store

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "data" / "demo" / "questions.jsonl"


def page() -> None:
    from pages import generate

    generate.render()


def visit(run: Run | None = None, part: str | None = None) -> AppTest:
    """The page as it is first opened, or one part of a run."""
    at = AppTest.from_function(page, default_timeout=30)
    if run is not None:
        at.session_state["run_choice"] = run.run_id
    if part is not None:
        at.session_state["generate_part"] = part
    at.run()
    assert not at.exception
    return at


def said(at: AppTest) -> str:
    """All that a reader sees, escapes taken off."""
    assert not at.exception
    kinds = (at.title, at.subheader, at.markdown, at.error, at.warning, at.success, at.info, at.code)
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


def made(
    store: Store,
    data: bytes | None = None,
    settings: GenerationSettings | None = None,
    limit: int | None = None,
) -> Run:
    """A run that rules have worked on, in this process."""
    data = DEMO.read_bytes() if data is None else data
    run, _ = create_run(
        store, data, "questions.jsonl", settings or GenerationSettings("factual"), RunningSettings(), limit
    )
    return work(
        store,
        run.run_id,
        lambda claimed: GenerationJob(
            materials_of(store, claimed).materials, settings_of(claimed), running_of(claimed)
        ),
    )


def html_of(at: AppTest) -> list[str]:
    return [element.proto.body for element in at.get("html")]
