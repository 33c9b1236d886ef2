"""What a run was asked for, in words."""

import pandas as pd

from core.runs.model_settings import running_of
from core.runs.score_settings import scoring_of, scoring_running_of
from core.runs.settings import settings_of
from core.schema import GENERATION_KINDS, Run
from pages.components import generate_prompts
from pages.components.messages import mistakes_shown, moment
from pages.components.parts import table


def render(run: Run) -> None:
    """Settings, and the prompts of a run that asks a model."""
    rows: dict[str, object] = {
        "File": f"{run.data_file} (sha256 {run.data_sha256[:16]})",
        "Made": f"{moment(run.created_utc)} UTC with Assay {run.app_version}",
    }
    rows |= _generation(run) if run.kind in GENERATION_KINDS else _scoring(run)
    table(pd.DataFrame({"Setting": list(rows), "Value": [str(value) for value in rows.values()]}))
    if run.kind in GENERATION_KINDS:
        with mistakes_shown():
            generate_prompts.texts(settings_of(run).prompts)


def _generation(run: Run) -> dict[str, object]:
    settings, running = settings_of(run), running_of(run)
    chosen = settings.factual if settings.kind == "factual" else settings.damage
    rows: dict[str, object] = {"Answers stand under": settings.source_name, "By": settings.backend}
    if settings.backend != "rules":
        rows |= {"Model": settings.model, "Address": settings.base_url or "none"}
        rows |= {"Attempts a step": settings.attempts, "Requests open at once": running.concurrency}
        rows |= {"Key's variable": running.key_variable or "none"}
    return rows | {name.replace("_", " "): value for name, value in vars(chosen).items()}


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
