"""Draw the labels of the demo's example for the check: `python scripts/demo_labels.py` rewrites data/demo/labels.csv.

Nobody rated these texts: three raters and a judge are drawn at random, by the number of errors that a text's level says.
"""

import argparse
import csv
import io
from pathlib import Path

import numpy as np

DEMO = Path(__file__).resolve().parents[1] / "data" / "demo"
_GOOD = {"A0": 0.98, "A1": 0.85, "A2": 0.4, "A3": 0.1, "A4": 0.02}
"""Level -> probability that an answer is good enough."""
_RATERS = {"rater_1": 0.9, "rater_2": 0.88, "rater_3": 0.86, "judge": 0.95}
"""Who -> probability to see it as it is."""
_SEED = 20261126
_REASONS = {True: "No fact contradicts the reference.", False: "At least one fact contradicts the reference."}


def labels() -> str:
    """Return the file: a row for each answer of the demo, with the labels pass or fail of three raters and a judge."""
    with (DEMO / "answers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    drawn = np.random.default_rng(_SEED)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["id", "question", "answer", "system", "language", *_RATERS, "judge_reason"])
    for row in rows:
        good = bool(drawn.random() < _GOOD[row["level"]])
        seen = [good if drawn.random() < right else not good for right in _RATERS.values()]
        said = ["pass" if one else "fail" for one in seen]
        name = f"{row['item_id']}-{row['source']}-{row['level']}"
        texts = [row["question"], row["text"], row["source"], row["language"]]
        writer.writerow([name, *texts, *said, _REASONS[seen[-1]]])
    return out.getvalue()


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.split("\n")[0]).parse_args()
    (DEMO / "labels.csv").write_text(labels(), encoding="utf-8", newline="")
