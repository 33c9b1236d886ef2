"""What a scoring run made, as a table; also while it is still at work."""

import json
from collections import Counter
from collections.abc import Mapping

import numpy as np

from core.errors import InputError
from core.runs.judging import planned_metrics
from core.runs.score_settings import scoring_of, specs_of
from core.runs.scoring import output_set
from core.schema import GENERATION_KINDS, JUDGE_KINDS, SCORE_KINDS, Run
from core.schema.scores import Metric, ScoredRow, ScoreTable
from core.store import Store
from core.store.scores import result_texts, run_metrics


def metrics_of(store: Store, run: Run) -> tuple[Metric, ...]:
    """With the signatures of what was loaded; before the first start as they are planned."""
    if known := run_metrics(store, run.run_id):
        return known
    if run.kind in JUDGE_KINDS:
        return planned_metrics(run)
    return tuple(spec.metric for spec in specs_of(scoring_of(run)))


def score_table(store: Store, run: Run) -> ScoreTable:
    """All texts the run has come to, in the order of its items; undefined scores with their reason.

    Raises InputError for a run that scores none.
    """
    if run.kind in GENERATION_KINDS:
        raise InputError(
            f"Run {run.run_id} makes texts, so it has no scores: `python -m core score run:{run.run_id}` scores what it made."
        )
    if run.kind not in SCORE_KINDS:
        raise InputError(
            f"Run {run.run_id} looks at judges (it is of the kind {run.kind}): it scores no texts."
        )
    metrics = metrics_of(store, run)
    columns = {metric.name: at for at, metric in enumerate(metrics)}
    rows: list[ScoredRow] = []
    values: list[list[float | None]] = []
    reasons: dict[tuple[int, int], str] = {}
    broken = 0
    for item_id, text in result_texts(store, run.run_id):
        outputs = json.loads(text).get("outputs")
        broken += outputs is None
        for output in outputs or ():
            for name, reason in output["reasons"].items():
                reasons[len(rows), columns[name]] = reason
            rows.append(
                ScoredRow(item_id, output["system"], output["level"], output["language"], output["labels"])
            )
            values.append(output["scores"])
    return ScoreTable(
        rows=tuple(rows),
        metrics=metrics,
        values=np.array(values, dtype=np.float64).reshape(len(rows), len(metrics)),  # None becomes NaN
        reasons=reasons,
        file_name=run.data_file,
        notes=_notes(run, broken),
    )


def _notes(run: Run, broken: int) -> tuple[str, ...]:
    if not broken:
        return ()
    items = "1 item has" if broken == 1 else f"{broken} items have"
    return (f"run {run.run_id}: {items} no scores because the run broke on them; its log says why",)


def texts_left_out(store: Store, run: Run) -> Mapping[str, int]:
    """Reason -> rows of the run's file that hold no text to score."""
    return output_set(store, run).left_out


def undefined_scores(table: ScoreTable) -> dict[tuple[str, str], int]:
    """(metric, reason) -> texts without that score, most first."""
    counts = Counter((table.metrics[metric].name, reason) for (_, metric), reason in table.reasons.items())
    return dict(counts.most_common())
