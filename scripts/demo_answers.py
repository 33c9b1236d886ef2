"""Regenerate the pipeline answers of the demo study: `python scripts/demo_answers.py` rewrites data/demo/answers.csv.

The generator makes them by rules from data/demo/questions.jsonl. Answers written by hand stay.
"""

import argparse
import asyncio
import csv
import io
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.formats.registry import read_questions
from core.generation.facts import make_pool
from core.generation.factual import perturb
from core.generation.factual.steps import FactualSettings, RuleSteps

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "data" / "demo"
SOURCE = "pipeline"
SETTINGS = FactualSettings(parser="rules", seed=20261121)


def pipeline_texts() -> dict[tuple[str, str], str]:
    """Return (item, level) -> text from the current generator."""
    data = (DEMO / "questions.jsonl").read_bytes()
    materials = read_questions(data, "questions.jsonl").materials
    steps = RuleSteps(make_pool(materials), SETTINGS.seed)
    texts = {}
    for material in materials:
        trace = asyncio.run(perturb(material, steps, SETTINGS))
        if trace.failed_step is not None:
            raise SystemExit(f"{trace.item_id}: {trace.failed_step}: {trace.reason}. {trace.detail}")
        texts |= {(trace.item_id, level.name): level.text for level in trace.levels}
    return texts


def new_answers() -> str:
    """Return the file with new pipeline answers, in the same order of rows."""
    made = pipeline_texts()
    with (DEMO / "answers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        text = made[row["item_id"], row["level"]] if row["source"] == SOURCE else row["text"]
        writer.writerow({**row, "text": text})
    return out.getvalue()


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.split("\n")[0]).parse_args()
    (DEMO / "answers.csv").write_text(new_answers(), encoding="utf-8", newline="")
