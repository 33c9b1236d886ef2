"""What every kind of run has of its own: its job, its environment, its files, its name in a list."""

from functools import partial

from core.runs.checking import CheckJob, pieces_of
from core.runs.environments import Environment
from core.runs.generation import GenerationJob, materials_of
from core.runs.jobs import BatchJob, Job
from core.runs.judge_outputs import check_files, judge_files
from core.runs.judge_results import model_of
from core.runs.judge_settings import judge_of
from core.runs.judging import JudgeJob
from core.runs.model_settings import backend_of, running_of
from core.runs.outputs import output_files
from core.runs.rated_texts import rated_set
from core.runs.score_outputs import score_files
from core.runs.score_settings import scoring_of, scoring_running_of, specs_of
from core.runs.scoring import ScoringJob, find_models, output_set, parts_of
from core.runs.settings import settings_of
from core.schema import CHECK_KINDS, GENERATION_KINDS, JUDGE_KINDS, MODEL_KINDS, RATED_KINDS, Run
from core.schema.scores import OutputSet
from core.store import Store

MOST_NAMED = 3
"""Metrics that a list names."""


def job_of(store: Store, run: Run, outputs: OutputSet | None = None) -> Job | BatchJob:
    """The job of a run that is kept. The store is the one of the process that works on it.

    outputs: the texts of a run of metrics, where the caller has read its file just now.
    """
    if run.kind in GENERATION_KINDS:
        return GenerationJob(materials_of(store, run).materials, settings_of(run), running_of(run))
    if run.kind in RATED_KINDS:
        # Imported late: its examples load scipy, which takes a second.
        from core.runs.rated_judging import RatedJob

        texts, sha256 = rated_set(store, run).texts, run.data_sha256
        return RatedJob(store, run.run_id, texts, judge_of(run), running_of(run), ratings=sha256)
    if run.kind in JUDGE_KINDS:
        judged = output_set(store, run).outputs
        return JudgeJob(store, run.run_id, judged, judge_of(run), running_of(run))
    if run.kind in CHECK_KINDS:
        return CheckJob(pieces_of(store, run), judge_of(run), running_of(run))
    settings, running = scoring_of(run), scoring_running_of(run)
    scored = (outputs or output_set(store, run)).outputs
    n_texts = len(scored) * run.n_wanted // max(run.n_items, 1)
    return ScoringJob(
        store,
        run.run_id,
        scored,
        settings.metrics,
        parts_of(settings, running, n_texts),
        running,
        partial(find_models, settings, running),
        reads_source=any("source" in spec.needs for spec in specs_of(settings)),
    )


def environment_of(run: Run) -> Environment:
    """Where the run's libraries are."""
    if run.kind not in MODEL_KINDS:
        return "neural" if specs_of(scoring_of(run), "neural") else "base"
    if run.kind in JUDGE_KINDS and judge_of(run).needs_nli:
        return "neural"
    return "vllm" if backend_of(run) == "vllm" else "base"


def files_of(store: Store, run: Run) -> dict[str, bytes]:
    """File name -> content, as far as the run is."""
    if run.kind in GENERATION_KINDS:
        return output_files(store, run)
    if run.kind in CHECK_KINDS:
        return check_files(store, run)
    return judge_files(store, run) if run.kind in JUDGE_KINDS else score_files(store, run)


def maker_of(run: Run) -> str:
    """Whose texts, which metrics, or which judge; of a look at judges, the model that takes it."""
    if run.kind in GENERATION_KINDS:
        return settings_of(run).source_name
    if run.kind in JUDGE_KINDS:
        return judge_of(run).judge_name
    if run.kind in CHECK_KINDS:
        return model_of(judge_of(run))
    names = scoring_of(run).metrics
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} metrics"


def seed_of(run: Run) -> int | None:
    """Of all that is drawn; None: nothing is."""
    if run.kind in GENERATION_KINDS:
        settings = settings_of(run)
        return settings.factual.seed if settings.kind == "factual" else settings.damage.seed
    if run.kind not in MODEL_KINDS or (backend_of(run) == "rules" and run.kind not in RATED_KINDS):
        return None  # rules draw nothing; only the Parrot's examples are drawn
    return judge_of(run).of_kind.seed
