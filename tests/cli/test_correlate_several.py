"""`correlate` with several files: one table, judges by technique, model and size, and Factual's Table 2 again."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from core.analyses.correlate import BY_MODEL
from core.cli import main
from core.formats.correlations import read_table
from core.joining.quality import OfFile
from core.plots.tables import column_against
from core.results.correlations.files import correlate_files, judges_by_model, size_of
from core.schema.correlating import CorrelateOptions
from core.schema.scores import Metric, ScoredRow, ScoreTable

Run = Callable[..., str]
PUBLISHED = Path(__file__).parents[1] / "reference" / "claim_factuality_results.csv"
PRINTED = {
    ("default", "gpt-4o-mini"): ("ragas", "gpt-4o-mini"),
    ("fast-fc", "gemma3:12b-it-qat"): ("llm-nli", "gemma3:12b"),
    ("fast-fc", "llama3.3:70b"): ("llm-nli", "llama3.3:70b"),
}
"""Type and model in the published results -> method and model in the printed table."""


@pytest.fixture(scope="module")
def one_file_a_judge(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The published results of the three judges, each in a file of its own."""
    folder = tmp_path_factory.mktemp("published")
    rows: dict[tuple[str, str], list[str]] = {}
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            line = json.dumps({**row, "id": int(row["id"]), "result": float(row["result"])})
            rows.setdefault((row["type"], row["fact_extraction_llm"]), []).append(line)
    paths = []
    for number, judge in enumerate(PRINTED):
        paths.append(folder / f"judge-{number}.jsonl")
        paths[-1].write_text("\n".join(rows[judge]), "utf-8")
    return paths


def told(run: Run, files: list[Path], *words: str) -> Any:
    return json.loads(run("correlate", *map(str, files), "--with", "level", *words, "--json"))


def test_table_2_of_factual_comes_out(run: Run, one_file_a_judge: list[Path]) -> None:
    found = told(run, one_file_a_judge, "--raw-level", "--resamples", "2000", "--size", "gpt-4o-mini=8")
    table = read_table("factual-perturbation-2")
    printed = {(row["method"], row["model"]): row for row in table.rows}
    rows = {(one["technique"], one["model"]): one for one in found["judges_by_model"]}
    assert set(rows) == set(PRINTED)
    for judge, own in rows.items():
        expected = printed[PRINTED[judge]]
        assert (own["n"], own["n_items"]) == (500, 100)
        for ours, theirs in (("pearson", "pearson"), ("kendall_per_item", "kendall")):
            assert own[ours]["estimate"] == pytest.approx(float(str(expected[theirs])), abs=0.0051)
            assert own[ours]["low"] == pytest.approx(float(str(expected[f"{theirs}_low"])), abs=0.0081)
            assert own[ours]["high"] == pytest.approx(float(str(expected[f"{theirs}_high"])), abs=0.0081)
    assert [one["size"] for one in found["judges_by_model"]] == [8, 12, 70]
    assert [row["group"]["file"] for row in found["correlations"]] == [path.name for path in one_file_a_judge]


def test_each_file_is_correlated_as_if_alone(run: Run, one_file_a_judge: list[Path]) -> None:
    together = told(run, one_file_a_judge, "--resamples", "50")["correlations"]
    for path, row in zip(one_file_a_judge, together, strict=True):
        (alone,) = told(run, [path], "--resamples", "50")
        assert {**row, "group": {"metric": "result"}} == alone


def test_metrics_of_several_files_are_ranked_on_the_same_texts(
    run: Run, one_file_a_judge: list[Path]
) -> None:
    words = (
        "--resamples",
        "50",
        "--rank",
        "kendall",
        "--compare",
        "result,result#2",
        "--redundancy",
        "spearman",
    )
    found = told(run, one_file_a_judge, *words)
    assert {"correlations", "judges_by_model", "ranking", "comparison", "redundancy"} == set(found)
    assert {one["metric"] for one in found["ranking"]["order"]} == {"result", "result#2", "result#3"}
    printed = run("correlate", *map(str, one_file_a_judge), "--with", "level", *words)
    assert "judge-1.jsonl is listed as result#2" in printed


def test_the_table_is_written_to_a_file(run: Run, one_file_a_judge: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    words = ("--with", "level", "--resamples", "50", "--out", str(out), "--table", BY_MODEL)
    run("correlate", *map(str, one_file_a_judge), *words)
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["model"] for row in rows] == [model for _, model in PRINTED]
    assert {"technique", "size", "pearson_low", "kendall_per_item", "n_items"} <= set(rows[0])


def test_ratings_of_people_for_several_files(run: Run, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("item,rater,score\n" + "\n".join(f"q{n},r,{n}" for n in range(6)))
    for name, scores in (("a", range(6)), ("b", range(6, 0, -1))):
        lines = "\n".join(f"q{n},{score}" for n, score in enumerate(scores))
        (tmp_path / f"{name}.csv").write_text(f"item,judge\n{lines}\n")
    given = [str(tmp_path / f"{name}.csv") for name in "ab"]
    words = ("--with", "human", "--human", str(people), "--resamples", "0", "--rank", "spearman", "--json")
    found = json.loads(run("correlate", *given, *words))
    assert [row["spearman"]["estimate"] for row in found["correlations"]] == pytest.approx([1, -1])
    assert [one["metric"] for one in found["ranking"]["order"]] == ["judge", "judge#2"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--size", "unknown=3"), "unknown"),
        (("--size", "gpt-4o-mini"), "NAME=NUMBER"),
        (("--size", "gpt-4o-mini=-7"), "--size: gpt-4o-mini: -7 is not at least 0"),
        (("--group", "file"), "names the files already"),
        (("--compare", "result,other"), "other"),
    ],
)
def test_mistakes_are_named(
    words: tuple[str, ...], said: str, one_file_a_judge: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(one) for one in one_file_a_judge[:2]]
    assert main(["correlate", *given, "--with", "level", "--resamples", "0", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_file_is_named_once(one_file_a_judge: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    given = str(one_file_a_judge[0])
    assert main(["correlate", given, given, "--with", "level"]) == 2
    assert "given twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ("Qwen2.5-7B-Instruct", 7),
        ("gemma3:12b-it-qat", 12),
        ("llama3.3:70b", 70),
        ("SmolLM2-135M", 0.135),
        ("Qwen3-30B-A3B", 30),
        ("phi-3.5-mini-3.8b", 3.8),
        ("gpt-4o-mini", None),
        ("Mixtral-8x7B", None),
        ("model-int8-8bit", None),
        ("", None),
    ],
)
def test_the_size_in_a_models_name(model: str, size: float | None) -> None:
    assert size_of(model) == size


def test_technique_and_model_of_assays_own_judges() -> None:
    signatures = {
        "rubric": ("Rubric", "Rubric|score:verdict|model:Qwen2.5-7B|backend:openai"),
        "claims-f1": ("Claims", "Claims|score:f1|model:gemma3:12b|backend:openai|verifier:nli"),
        "bleu-4": ("BLEU", "nrefs:1|case:mixed"),
    }
    rows = tuple(ScoredRow(f"q{n // 3}", "s", f"A{n % 3}") for n in range(9))
    table = ScoreTable(
        rows,
        tuple(Metric(name, signed, family) for name, (family, signed) in signatures.items()),
        np.column_stack([np.tile([3.0, 2.0, 1.0], 3)] * 3),
    )
    files = [OfFile("run:1", table)]
    report = correlate_files(files, options=CorrelateOptions(n_resamples=0))
    found = judges_by_model(report, files, {"run:1": 1.5})
    assert [(one.technique, one.model) for one in found] == [
        ("Rubric", "Qwen2.5-7B"),
        ("Claims with NLI", "gemma3:12b"),
        ("bleu-4", ""),
    ]
    assert [one.size for one in found] == [1.5] * 3, "stated for the file"


def test_the_notebook_has_the_same_numbers_and_figure_3b(run: Run, one_file_a_judge: list[Path]) -> None:
    found = assay.correlate(list(one_file_a_judge), resamples=50, sizes={"gpt-4o-mini": 8})
    printed = told(run, one_file_a_judge, "--resamples", "50", "--size", "gpt-4o-mini=8")
    assert json.loads(json.dumps(found.json, allow_nan=False)) == printed
    assert found.names == ["correlations", BY_MODEL]
    figure = assay.plot(found[BY_MODEL], "kendall_per_item", against="size")
    assert [trace.name for trace in figure.data] == ["default", "fast-fc"]
    assert [list(trace.x) for trace in figure.data] == [[8], [12, 70]]
    assert figure.layout.xaxis.type == "log"
    named = assay.correlate({"a": one_file_a_judge[0], "b": one_file_a_judge[1]}, resamples=0)
    assert list(named.frame["file"]) == ["a", "b"]
    with pytest.raises(assay.InputError, match="sizes"):
        assay.correlate(one_file_a_judge[0], resamples=0, sizes={"gpt-4o-mini": 8})
    without = column_against(found[BY_MODEL].tables[0], None, "n")
    assert without.layout.xaxis.type == "linear"
