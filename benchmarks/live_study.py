"""CPU time of the server for each refresh of a study's judges while a run scores its texts, beside pandas and scipy.

The app runs as usual, on a new database with an unblinded study of pairs and a run of 16 metrics. Most of its texts are scored, and more
scores come every second. A browser has the tab Judges of the study open, which refreshes by itself. CPU is the user and system time of
the server process with all its threads. Beside it: the same two columns and their Spearman once, from a file, as a user would compute
them. The ratio does not depend on the machine. Target: at most 0.3 s a refresh at 10,000 texts; otherwise the exit status is 1.

    .venv/bin/python benchmarks/live_study.py [--texts 10000] [--seconds 30]
"""

import argparse
import io
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pandas as pd
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import chromium, running
from helpers.texts.factories import LEVELS
from helpers.texts.growing_study import growing_study
from live_run import DONE, MOST_SECONDS, PATIENCE, SHARE_A_SECOND, TEXTS, Cost, listening, sent_bytes
from scipy.stats import spearmanr

from core.formats.scores import write_scores_csv
from core.runs.path import saved_run
from core.runs.scoring import score_table
from core.schema.study import StudyRecord
from core.store import open_store
from pages.widgets.chosen_scores import TICK


def main(argv: Sequence[str] | None = None) -> int:
    """Print the seconds of both and their ratio; return 1 if the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=TEXTS, help="default %(default)s")
    parser.add_argument("--seconds", type=float, default=30, help="of the measurement (default %(default)s)")
    options = parser.parse_args(argv)
    cost, by_hand = measured(options.texts, options.seconds)
    print(f"{options.texts:,} texts, 16 metrics\n")
    print("| refreshes | CPU s a refresh | KB a refresh | CPU s with pandas and scipy | ratio |")
    print("|---" * 5 + "|")
    print(
        f"| {cost.refreshes:.1f} | {cost.cpu:.2f} | {cost.kilobytes:,.0f} | {by_hand:.2f} | {cost.cpu / by_hand:.2f} |"
    )
    return int(options.texts >= TEXTS and cost.cpu > MOST_SECONDS)


def measured(n_texts: int, seconds: float) -> tuple[Cost, float]:
    """Measure on a new database and server."""
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "assay.db") as store:
        study, run = growing_study(store, n_texts // (2 * len(LEVELS)))
        run.grow(round(run.n_items * DONE))
        by_hand = by_pandas(write_scores_csv(score_table(saved_run(store, run.run_id)), "long"), study.record)
        with running(store.path) as app, chromium() as browser:
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.set_default_timeout(PATIENCE)
            heard = listening(page)
            sign_in(page, store, app.url)
            page.goto(f"{app.url}/studies?study={study.study_id}&tab=judges")
            page.locator(".js-plotly-plot").first.wait_for()
            with run.growing(max(1, round(run.n_items * SHARE_A_SECOND)), 1.0):
                page.wait_for_timeout(12_000)  # two refreshes, for what is read and built only once
                before, begun, sent = heard(), app.processor_seconds(), sent_bytes()
                page.wait_for_timeout(1000 * seconds)
                refreshes, taken = heard() - before, app.processor_seconds() - begun
            looks = seconds / TICK
            page.context.close()
            return Cost(refreshes / looks, taken / looks, (sent_bytes() - sent) / looks / 1000), by_hand


def by_pandas(scores: bytes, record: StudyRecord) -> float:
    """CPU seconds of both columns and their Spearman: read the scores, join the votes, one metric after the other."""
    weight = {"candidate": 1, "comparator": -1}
    design = record.study.design
    sides = {"left": design.candidate, "right": design.comparator}
    votes = pd.DataFrame(
        [(one.item_id, one.level, weight.get(sides.get(one.choice or "", ""), 0)) for one in record.answers],
        columns=["item", "level", "vote"],
    )
    begun = time.process_time()
    frame = pd.read_csv(io.BytesIO(scores))
    composite = votes.groupby(["item", "level"])["vote"].sum()
    columns = []
    for _, own in frame.groupby("metric"):
        follows = spearmanr(own["score"], -own["level"].str[1:].astype(int)).statistic
        wide = own.pivot_table(index=["item", "level"], columns="system", values="score")
        margin = wide[design.candidate] - wide[design.comparator]
        both = pd.concat([margin.rename("margin"), composite], axis=1).dropna()
        both = both[both["vote"] != 0]
        columns.append((follows, ((both["margin"] * both["vote"]) > 0).mean()))
    spearmanr(*zip(*columns, strict=True))
    return time.process_time() - begun


if __name__ == "__main__":
    sys.exit(main())
