"""Starting a run that looks at judges: which model does the work, with which prompts."""

from dataclasses import replace

import streamlit as st
from core.runs.judge_plan import create_check

from core.errors import InputError
from core.judges.answers import AnswersSettings
from core.judges.cross_examination.questions import Answering
from core.judges.kind import JudgeSettings
from core.schema import CheckKind
from core.store import Store
from pages.components import generate_backend, judges_prompts, judges_runs, judges_settings, run_panel
from pages.components.generate_mistakes import as_on_page
from pages.components.judges_names import ANSWERS
from pages.components.metrics_scores import RUN


def model(kind: CheckKind, rules: str | None) -> tuple[JudgeSettings, generate_backend.Chosen]:
    """The widgets that say who does it. rules: what they do, as a sentence; None: they cannot."""
    prefix = f"judges_{kind}"
    chosen = generate_backend.choose(prefix, rules)
    settings = judges_settings.asked(kind, chosen)
    if kind == "answers":
        answers: Answering = st.selectbox(
            "Answers", list(ANSWERS), format_func=ANSWERS.__getitem__, key=f"{prefix}_how"
        )
        settings = replace(settings, answers=AnswersSettings(answers))
    return replace(settings, prompts=judges_prompts.choose(settings, kind)), chosen


def start(
    store: Store, data: bytes, name: str, settings: JudgeSettings, chosen: generate_backend.Chosen
) -> None:
    """Make the run, start it and show it. Raises InputError in the words of the form."""
    try:
        run, _ = create_check(store, data, name, settings, chosen.running)
    except InputError as problem:
        raise as_on_page(problem) from None
    run_panel.start(run)
    judges_runs.remember((RUN, run.run_id))
