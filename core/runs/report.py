"""What a run says of itself: run.json, and `runs show --json`, the same for every kind of run."""

import json
from dataclasses import asdict

from core.runs.judge_settings import describe_judge, judge_of
from core.runs.model_settings import running_of
from core.runs.progress import Progress, money_of, progress_of, wall_seconds
from core.runs.score_results import metrics_of, texts_left_out
from core.runs.score_settings import scoring_of, settings_kept
from core.runs.settings import describe, settings_of
from core.schema import GENERATION_KINDS, MODEL_KINDS, SCORE_KINDS, Run
from core.schema import RUN_FILE as RUN_FILE
from core.store import Store
from core.store.replies import answers_of_others

IDENTITY = ("run", "kind", "file_sha256", "made_utc")
"""Fields of run.json that tell two runs apart."""


def identity_of(run: Run) -> dict[str, object]:
    """What run.json says of which run it is."""
    return dict(zip(IDENTITY, (run.run_id, run.kind, run.data_sha256, run.created_utc), strict=True))


def run_report(store: Store, progress: Progress) -> dict[str, object]:
    """Settings, counters and cost of a run."""
    run = progress.run
    report: dict[str, object] = {
        **identity_of(run),
        "state": progress.state,
        "message": run.message,
        "file": run.data_file,
        "finished_utc": run.finished_utc,
        "wall_seconds": wall_seconds(run),
        "app_version": run.app_version,
        "settings": _described(store, run),
        "items": run.n_wanted,
        "done": progress.n_done,
        "failed": progress.n_failed,
        "again": progress.n_again,
        "failures": [
            {"step": step, "reason": reason, "n": n} for (step, reason), n in progress.failures.items()
        ],
        "costs": [asdict(cost) for cost in progress.costs],
        "money": money_of(progress),
    }
    if run.kind in MODEL_KINDS:
        running = running_of(run)
        report["prices"] = {"input": running.input_price, "output": running.output_price}
        report["found"] = answers_of_others(store, run.run_id)
    if run.kind in SCORE_KINDS:
        report["left_out"] = dict(texts_left_out(store, run))
    return report


def report_file(store: Store, run: Run) -> dict[str, bytes]:
    """run.json, by its name."""
    report = run_report(store, progress_of(store, run.run_id))
    return {RUN_FILE: json.dumps(report, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"}


def _described(store: Store, run: Run) -> dict[str, object]:
    if run.kind in GENERATION_KINDS:
        return describe(settings_of(run))
    said = describe_judge(judge_of(run)) if run.kind in MODEL_KINDS else settings_kept(scoring_of(run))
    metrics = [asdict(one) for one in metrics_of(store, run)] if run.kind in SCORE_KINDS else None
    return said if metrics is None else {**said, "metrics": metrics}
