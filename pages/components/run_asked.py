"""What a run was asked for, in words."""

import pandas as pd
import streamlit as st

from core.runs.jobs import RunAtHand
from core.schema.settings import SettingField, Settings, fields_of
from pages.components import generate_prompts
from pages.components.messages import mistakes_shown, moment, plain
from pages.components.parts import table


def render(run: RunAtHand) -> None:
    """Settings, the prompts of a run that asks a model, and the file that they refer to."""
    made = run.run
    rows: dict[str, object] = {
        "File": f"{made.data_file} (sha256 {made.data_sha256[:16]})",
        "Made": f"{moment(made.created_utc)} UTC with Assay {made.app_version}",
    }
    rows |= _named(run) | _model(run) | _fields(run.asked.chosen, run.asked.model.backend)
    table(pd.DataFrame({"Setting": list(rows), "Value": [str(value) for value in rows.values()]}))
    with mistakes_shown():
        for prompt in run.asked.prompts_read.values():
            generate_prompts.said(prompt)
    with mistakes_shown():
        _attached(run)


def _named(run: RunAtHand) -> dict[str, object]:
    """Under which name its results are found."""
    what = {"generation": "Answers", "judging": "Scores"}.get(run.kind.work)
    return {} if what is None else {f"{what} stand under": run.asked.called}


def _model(run: RunAtHand) -> dict[str, object]:
    """Who does the work, and how."""
    backend = run.asked.model.backend
    asked = {} if run.kind.work == "scores" else _fields(run.asked.model, backend)
    return asked | _fields(run.running, backend)


def _attached(run: RunAtHand) -> None:
    """The whole file, as the run keeps it: one of that name may have been changed since."""
    kind, text = run.kind.attachment, run.asked.attached
    if kind is None or not text:
        return
    found = kind.read(text, f"{kind.name}.yaml")
    st.markdown(f"{kind.label}: {plain(found.title)}")
    st.code(text, language=None, wrap_lines=True, height=300)
    st.markdown(f":small[{plain(found.name)}. Hash {kind.sha256(text)[:16]}.]")


def _fields(settings: Settings, backend: str) -> dict[str, object]:
    """Label -> value, of those that do something."""
    idle = settings.idle(backend)
    return {
        one.about.label: _value(one, getattr(settings, name))
        for name, one in fields_of(type(settings)).items()
        if name not in idle
    }


def _value(one: SettingField, value: object) -> str:
    if isinstance(value, dict):
        value = tuple(f"{name}: {inner}" for name, inner in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ("", ()):
        return one.about.words.get("") or "none"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else one.word(str(value))
