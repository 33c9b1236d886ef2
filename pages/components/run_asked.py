"""What a run was asked for, in words."""

import pandas as pd
import streamlit as st
from core.runs.judge_settings import judge_of
from core.runs.score_settings import scoring_of, scoring_running_of
from core.runs.settings import settings_of

from core.judges.kind import JudgeSettings
from core.judges.rubric_files import parse_rubric
from core.runs.asked import ModelSettings, running_of
from core.schema import GENERATION_KINDS, MODEL_KINDS, SCORE_KINDS, Run
from pages.components import generate_prompts
from pages.components.messages import mistakes_shown, moment, plain
from pages.components.parts import table


def render(run: Run) -> None:
    """Settings, the prompts of a run that asks a model, and the rubric of a judge that has one."""
    rows: dict[str, object] = {
        "File": f"{run.data_file} (sha256 {run.data_sha256[:16]})",
        "Made": f"{moment(run.created_utc)} UTC with Assay {run.app_version}",
    }
    settings = _asked_of_model(run)
    if isinstance(settings, JudgeSettings):
        rows |= _judging(run, settings)
    else:
        rows |= _generation(run) if settings is not None else _scoring(run)
    table(pd.DataFrame({"Setting": list(rows), "Value": [str(value) for value in rows.values()]}))
    if settings is not None:
        with mistakes_shown():
            generate_prompts.texts(settings.prompts)
    if isinstance(settings, JudgeSettings) and settings.kind == "rubric":
        with mistakes_shown():
            _rubric(settings)


def _asked_of_model(run: Run) -> ModelSettings | None:
    """None: the run asks no model."""
    if run.kind in GENERATION_KINDS:
        return settings_of(run)
    return judge_of(run) if run.kind in MODEL_KINDS else None


def _generation(run: Run) -> dict[str, object]:
    settings = settings_of(run)
    chosen = settings.factual if settings.kind == "factual" else settings.damage
    rows = {"Answers stand under": settings.source_name, **_model(run, settings)}
    return rows | {name.replace("_", " "): value for name, value in vars(chosen).items()}


def _judging(run: Run, settings: JudgeSettings) -> dict[str, object]:
    rows = {"Scores stand under": settings.judge_name} if run.kind in SCORE_KINDS else {}
    chosen = vars(settings.of_kind)
    if settings.kind == "rubric":
        rows |= {"Rubric": parse_rubric(settings.rubric_text, "rubric.yaml").name}
    return rows | _model(run, settings) | {name.replace("_", " "): value for name, value in chosen.items()}


def _rubric(settings: JudgeSettings) -> None:
    """The whole file, as the run keeps it: one of that name may have been changed since."""
    found = parse_rubric(settings.rubric_text, "rubric.yaml")
    st.markdown(f"Rubric: {plain(found.title)}")
    st.code(settings.rubric_text, language=None, wrap_lines=True, height=300)
    st.markdown(f":small[{plain(found.name)}. Hash {found.sha256[:16]}.]")


def _model(run: Run, settings: ModelSettings) -> dict[str, object]:
    """Who is asked, and how often."""
    running = running_of(run)
    rows: dict[str, object] = {"By": settings.backend}
    if settings.backend != "rules":
        rows |= {"Model": settings.model, "Address": settings.base_url or "none"}
        rows |= {"Attempts a step": settings.attempts, "Requests open at once": running.concurrency}
        rows |= {"Key's variable": running.key_variable or "none"}
    return rows


def _scoring(run: Run) -> dict[str, object]:
    settings, running = scoring_of(run), scoring_running_of(run)
    rows: dict[str, object] = {"Metrics": ", ".join(settings.metrics)}
    rows |= {f"Model of {name}": model for name, model in settings.models.items()}
    return rows | {
        "Synonyms of METEOR": "WordNet where its data is there" if settings.synonyms == "auto" else "none",
        "Device of neural metrics": settings.device,
        "Texts a model sees at once": running.batch_size,
        "Processes for lexical metrics": running.workers,
    }
