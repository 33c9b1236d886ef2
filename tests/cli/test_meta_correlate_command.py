"""`meta-correlate` from files, published tables and scores."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.cli import main

Run = Callable[..., str]
HUMAN = {"bleu": 0.1, "rouge1(device=cuda)": 0.5, "comet": 0.3, "bertscore": 0.9, "bleurt": 0.7}
RAW = {"bleu": -0.2, "rouge1(device=cpu)": -0.3, "comet": -0.4, "bertscore": -0.8, "bleurt": -0.9}
"""With the raw level. Against minus the level the ranks are 1 3 2 5 4 and 1 2 3 4 5: rho 0.8, tau 0.6."""


def meta_judge(values: dict[str, float | None]) -> str:
    return json.dumps({name: {"pearson": v, "spearman": v, "kendall": v} for name, v in values.items()})


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "human.json").write_text(meta_judge(HUMAN))
    (tmp_path / "synthetic.json").write_text(meta_judge(RAW))
    return str(tmp_path / "human.json"), str(tmp_path / "synthetic.json")


def scores_file(path: Path, *, seed: int, human: bool, prompts: tuple[str, ...] = ("one",)) -> str:
    """Five metrics that follow quality less and less; quality is the level, or what a person says."""
    rng = np.random.default_rng(seed)
    rows, given = [], []
    for prompt in prompts:
        for item in range(30):
            for level in range(6):
                values = [f"{-level + rng.normal(0, sd):.6f}" for sd in (0.5, 1, 2, 4, 8)]
                column = f"s{level}" if human else str(level)
                rows.append(",".join([str(item), column, prompt, *values]))
                given.append(f"{item},s{level},{-level}")
    header = f"item,{'system' if human else 'level'},prompt,metric:a,metric:b,metric:c,metric:d,metric:e"
    path.write_text("\n".join([header.replace("metric:", "m_"), *rows]) + "\n")
    path.with_suffix(".ratings.csv").write_text("\n".join(["item,system,score", *given]) + "\n")
    return str(path)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


@pytest.mark.parametrize(("method", "expected"), [("spearman", 0.8), ("kendall", 0.6)])
def test_meta_judges_files(method: str, expected: float, run: Run, pair: tuple[str, str]) -> None:
    found = json.loads(run("meta-correlate", *pair, "--method", method, "--json"))
    assert found["estimate"] == pytest.approx(expected)
    assert found["low"] <= expected <= found["high"]
    assert (found["n_metrics"], found["dropped"], found["over_items"]) == (5, {}, None)
    assert found["p_one_sided"] == pytest.approx(found["p_two_sided"] / 2)
    assert (found["method"], found["first_order"]) == (method, method)
    assert any("signs were reversed" in note for note in found["notes"])


def test_a_published_cell(run: Run) -> None:
    """000, Table 1: .956; its columns are rounded to three places."""
    sides = ("published:cus-qa-cs", "published:cus-qa-cs:qwen-3-30b:zero")
    found = json.loads(run("meta-correlate", *sides, "--method", "spearman", "--json"))
    assert found["estimate"] == pytest.approx(0.956, abs=0.025)
    assert (found["n_metrics"], found["human"]) == (28, "published:cus-qa-cs")
    assert set(found["without_family"]["BLEU"]) >= {"estimate", "low", "high", "n_metrics"}
    mixed = run("meta-correlate", *sides, "--method", "kendall", "--first-order", "spearman")
    assert "Meta-correlation 0." in mixed
    assert "(Kendall, 28 metrics)" in mixed
    assert "Note: spearman correlations of each metric, kendall between the two sides" in mixed


def test_undefined_metrics_are_dropped_and_named(run: Run) -> None:
    sides = ("published:cus-qa-uk", "published:cus-qa-uk:llama-4-scout:few")
    found = json.loads(run("meta-correlate", *sides, "--json"))
    assert (found["n_metrics"], list(found["dropped"])) == (27, ["rouge-4"])
    assert "Dropped: rouge-4: undefined in published:cus-qa-uk" in run("meta-correlate", *sides)


def test_scores_on_both_sides_equal_their_correlations_as_files(run: Run, tmp_path: Path) -> None:
    people, damage = (
        scores_file(tmp_path / f"{name}.csv", seed=k, human=k == 0)
        for k, name in enumerate(("people", "damage"))
    )
    given = str(tmp_path / "people.ratings.csv")
    live = json.loads(run("meta-correlate", people, damage, "--human", given, "--resamples", "200", "--json"))
    assert live["over_items"]["n_items"] == 60
    assert live["over_items"]["low"] <= live["over_items"]["high"]
    run(
        "correlate",
        people,
        "--with",
        "human",
        "--human",
        given,
        "--out",
        "h.json",
        "--resamples",
        "0",
        "--json",
    )
    run(
        "correlate", damage, "--with", "level", "--raw-level", "--out", "s.json", "--resamples", "0", "--json"
    )
    files = json.loads(run("meta-correlate", "h.json", "s.json", "--json"))
    assert files["estimate"] == pytest.approx(live["estimate"])
    assert files["over_items"] is None
    assert [p["metric"] for p in files["points"]] == ["m_a", "m_b", "m_c", "m_d", "m_e"]
    for one, other in zip(files["points"], live["points"], strict=True):
        assert (one["human"], one["synthetic"]) == pytest.approx((other["human"], other["synthetic"]))


def test_a_matrix_over_prompts(run: Run, tmp_path: Path) -> None:
    damage = scores_file(tmp_path / "damage.csv", seed=3, human=False, prompts=("one", "two"))
    (tmp_path / "human.json").write_text(
        meta_judge(dict(zip(("m_a", "m_b", "m_c", "m_d", "m_e"), (0.9, 0.8, 0.6, 0.3, 0.1), strict=True)))
    )
    command = ("meta-correlate", "human.json", damage, "--over", "prompt", "--resamples", "20")
    found = json.loads(run(*command, "--json"))
    assert [cell["by"] for cell in found["cells"]] == [{"prompt": "one"}, {"prompt": "two"}]
    estimates = [cell["estimate"] for cell in found["cells"]]
    (summary,) = found["summaries"]
    assert (summary["by"], summary["n"]) == ({}, 2)
    assert summary["mean"] == pytest.approx(np.mean(estimates))
    assert summary["sd"] == pytest.approx(np.std(estimates, ddof=1))
    assert "Mean and standard deviation (ddof 1)" in run(*command)


def test_human_sides_named_by_data_set(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "damage.csv"
    lines = Path(scores_file(path, seed=3, human=False)).read_text().replace("prompt", "dataset").splitlines()
    path.write_text("\n".join([lines[0], *(line.replace("one", "cus") for line in lines[1:])]) + "\n")
    (tmp_path / "human.json").write_text(meta_judge({"m_a": 0.9, "m_b": 0.5, "m_c": 0.6}))
    found = json.loads(run("meta-correlate", "cus=human.json", str(path), "--by", "dataset", "--json"))
    assert [(cell["by"], cell["n_metrics"]) for cell in found["cells"]] == [({"dataset": "cus"}, 3)]
    other = json.loads(run("meta-correlate", "mocha=human.json", str(path), "--by", "dataset", "--json"))
    assert other["cells"][0]["reason"] == "no human side for the data set cus"
    assert other["cells"][0]["estimate"] is None


def test_one_metric_is_undefined_with_its_reason(run: Run, pair: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(meta_judge({"bleu": 0.4}))
    found = json.loads(run("meta-correlate", "one.json", pair[1], "--json"))
    assert (found["estimate"], found["p_one_sided"], found["n_metrics"]) == (None, None, 1)
    assert found["reason"] == "fewer than two metrics"
    assert len(found["dropped"]) == 4
    assert "undefined: fewer than two metrics" in run("meta-correlate", "one.json", pair[1])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("published:cus-qa-cz", "synthetic.json"), "cus-qa-cs"),
        (("absent.json", "synthetic.json"), "absent.json cannot be read"),
        (("human.json", "absent.csv"), "absent.csv cannot be read"),
        (("published:mocha", "synthetic.json", "--method", "kendall"), "or spearman first-order"),
        (("human.json", "other.json"), "human.json and other.json have no metric in common"),
        (
            ("human.json", "synthetic.json", "--by", "prompt"),
            "--by and --over need scores on the synthetic side",
        ),
        (
            ("human.json", "synthetic.json", "--confidence", "0"),
            "--confidence: 0 is not above 0 and below 1",
        ),
        (("damage.csv", "synthetic.json"), "Name the ratings of its texts with --human"),
        (("=human.json", "damage.csv", "--by", "prompt"), "is not NAME=SIDE"),
        (("human.json", "damage.csv", "--by", "promt"), "'promt' is unknown; did you mean prompt"),
    ],
)
def test_mistakes_get_a_sentence(
    arguments: tuple[str, ...],
    said: str,
    pair: tuple[str, str],
    tmp_path: Path,
    run: Run,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "other.json").write_text(meta_judge({"unheard-of": 0.3}))
    scores_file(tmp_path / "damage.csv", seed=1, human=False)
    assert said in refused(capsys, "meta-correlate", *arguments)
