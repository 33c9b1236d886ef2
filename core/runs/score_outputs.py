"""A scoring run's results as files."""

import importlib.util
import json

from core.datasets.score_files import write_scores_csv, write_scores_parquet
from core.runs.progress import progress_of
from core.runs.report import RUN_FILE, run_report
from core.runs.score_results import score_table
from core.schema import Run
from core.store import Store


def score_files(store: Store, run: Run) -> dict[str, bytes]:
    """File name -> content, as far as the run is: a row a text and metric, and settings with signatures and cost.

    Parquet where its library is there: the environments of the extras may do without.
    """
    table = score_table(store, run)
    files = {"scores.csv": write_scores_csv(table, "long")}
    if importlib.util.find_spec("pyarrow") is not None:
        files["scores.parquet"] = write_scores_parquet(table, "long")
    report = run_report(store, progress_of(store, run.run_id))
    files[RUN_FILE] = json.dumps(report, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"
    return files
