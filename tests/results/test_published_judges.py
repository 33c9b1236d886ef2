"""Table 2 of the factual-perturbation paper, from the results its authors published.

reference/claim_factuality_results.csv: type, LLM, id, level and result of `factual_correctness_eval.jsonl` of the
project trutheval (MIT licence, version 0.3.0): the three judges of the table whose scores are public.
"""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from core.cli import main

RESULTS = Path(__file__).parents[1] / "reference" / "claim_factuality_results.csv"
PRINTED = {
    ("default", "gpt-4o-mini"): ((-0.87, -0.90, -0.85), (-0.95, -0.97, -0.93)),
    ("fast-fc", "gemma3:12b-it-qat"): ((-0.82, -0.85, -0.79), (-0.96, -0.98, -0.94)),
    ("fast-fc", "llama3.3:70b"): ((-0.83, -0.86, -0.80), (-0.94, -0.96, -0.92)),
}
"""Judge -> Pearson and Kendall per question with their 95 % intervals, as printed."""


@pytest.fixture
def published_results(tmp_path: Path) -> Path:
    """The file as the project publishes it, texts aside: one object a line."""
    path = tmp_path / "factual_correctness_eval.jsonl"
    with RESULTS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [json.dumps({**row, "id": int(row["id"]), "result": float(row["result"])}) for row in rows]
    path.write_text("\n".join(lines), "utf-8")
    return path


def correlate(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> list[dict[str, Any]]:
    assert main(["correlate", str(path), "--with", "level", *options, "--json"]) == 0
    return list(json.loads(capsys.readouterr().out))


def test_the_published_judges_give_the_papers_table_again(
    published_results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = correlate(capsys, published_results, "--raw-level", "--group", "type,fact_extraction_llm")
    found = {(row["group"]["type"], row["group"]["fact_extraction_llm"]): row for row in rows}
    assert set(found) == set(PRINTED)
    for judge, (pearson, kendall) in PRINTED.items():
        row = found[judge]
        assert (row["against"], row["n"], row["n_left_out"]) == ("level", 500, 0)
        assert row["kendall_per_item"]["n_items"] == 100
        for ours, printed in ((row["pearson"], pearson), (row["kendall_per_item"], kendall)):
            assert ours["estimate"] == pytest.approx(printed[0], abs=0.0051)
            assert (ours["low"], ours["high"]) == pytest.approx(printed[1:], abs=0.0071)


def test_minus_the_level_turns_every_sign_and_nothing_else(
    published_results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    group = ("--group", "type,fact_extraction_llm")
    raw = correlate(capsys, published_results, "--raw-level", *group)
    turned = correlate(capsys, published_results, *group)
    for first, second in zip(raw, turned, strict=True):
        assert second["against"] == "-level"
        assert second["pearson"]["estimate"] == pytest.approx(-first["pearson"]["estimate"], abs=1e-12)


def test_over_questions_the_interval_is_another_one(
    published_results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The five rows of a question are not independent: resampling rows is not the same as resampling questions."""
    rows = correlate(capsys, published_results, "--resample", "items", "--group", "type,fact_extraction_llm")
    for row in rows:
        pearson = row["pearson"]
        assert pearson["resampled"] == "items"
        assert (pearson["low"], pearson["high"]) != (
            pearson["over_rows"]["low"],
            pearson["over_rows"]["high"],
        )
