"""A scoring run's results as files."""

import importlib.util

from core.datasets.score_files import write_scores_csv, write_scores_parquet
from core.runs.report import report_file
from core.runs.score_results import score_table
from core.schema import Run
from core.store import Store


def score_files(store: Store, run: Run) -> dict[str, bytes]:
    """File name -> content, as far as the run is: its table of scores, and settings with signatures and cost."""
    return score_tables(store, run) | report_file(store, run)


def score_tables(store: Store, run: Run) -> dict[str, bytes]:
    """A row a text and metric; Parquet where its library is there: the environments of the extras may do without."""
    table = score_table(store, run)
    files = {"scores.csv": write_scores_csv(table, "long")}
    if importlib.util.find_spec("pyarrow") is not None:
        files["scores.parquet"] = write_scores_parquet(table, "long")
    return files
