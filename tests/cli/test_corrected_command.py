"""`corrected` from files, a study and a run to JSON, tables and sentences for mistakes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.rating_studies import SYSTEMS, rate_all, rating_study, rating_texts, unblind

from core.cli import main
from core.stats.corrected import Asked, Texts, corrected
from core.store import open_store

Run = Callable[..., str]
NAN = float("nan")
PASS_JUDGE = ("--human", "people", "--judge", "j")


@pytest.fixture
def grades(tmp_path: Path) -> Path:
    """Two systems on 50 questions; people rated the first 20. The judge is about one grade too kind."""
    rng = np.random.default_rng(2)
    lines = ["question,model,j,people"]
    for item in range(50):
        for model in ("one", "two"):
            human = rng.integers(1, 5)
            score = human + 1 + 0.3 * rng.normal()
            lines.append(f"q{item},{model},{score:.2f},{human if item < 20 else ''}")
    path = tmp_path / "grades.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_systems_and_items_are_named_by_their_columns(run: Run, grades: Path) -> None:
    named = ("--system-column", "model", "--item", "question")
    found = json.loads(run("corrected", str(grades), *PASS_JUDGE, *named, "--json"))
    assert (found["n"], found["n_labelled"], found["n_items"], found["n_labelled_items"]) == (100, 40, 50, 20)
    assert found["method"] == "by-class"
    assert found["judge_only"]["estimate"] - found["estimate"] == pytest.approx(1, abs=0.2)
    assert found["low"] < found["estimate"] < found["high"]
    assert list(found["systems"]) == ["one", "two"]
    assert [(one["first"], one["second"], one["paired"]) for one in found["differences"]] == [
        ("one", "two", True)
    ]
    cells = [line.split(",") for line in grades.read_text().splitlines()[1:]]
    own = [(float(j), float(people) if people else NAN) for _, model, j, people in cells if model == "one"]
    texts = Texts(np.array([j for j, _ in own]), np.array([people for _, people in own]), np.arange(50))
    alone = corrected(texts, Asked(ends=(1.0, 5.0)))
    assert found["systems"]["one"]["estimate"] == pytest.approx(alone.decided.estimate)
    assert found["systems"]["one"]["low"] == pytest.approx(alone.decided.low)
    declared = json.loads(
        run("corrected", str(grades), *PASS_JUDGE, *named, "--labels-chosen", "at-random", "--json")
    )
    assert declared["method"] == "ppi++"
    assert declared["labels_saved"] > 5


def test_the_terminal_begins_with_the_verdict(run: Run, grades: Path, tmp_path: Path) -> None:
    first, second, third, *_ = run("corrected", str(grades), *PASS_JUDGE).splitlines()
    assert first.startswith("Mean rating: ")
    assert second.startswith("j alone: ")
    assert "too high" in second
    assert third.startswith("The judge saved ")
    out = tmp_path / "differences.csv"
    run(
        *("corrected", str(grades), *PASS_JUDGE, "--system-column", "model"),
        *("--out", str(out), "--table", "corrected-differences"),
    )
    assert len(out.read_text().splitlines()) == 2


def test_few_labels_of_a_pass_rate_are_exact(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "passes.csv"
    rows = [("yes", "yes")] * 18 + [("yes", "no")] * 2 + [("no", "")] * 30
    path.write_text("j,people\n" + "\n".join(",".join(row) for row in rows) + "\n")
    random = ("--labels-chosen", "at-random")
    found = json.loads(run("corrected", str(path), *PASS_JUDGE, *random, "--json"))
    assert found["method"] == "exact"
    assert (found["low"], found["high"]) == pytest.approx((0.683017, 0.987651), abs=1e-6)  # Clopper-Pearson
    assert found["pass"] == "yes"
    assert found["lambda"] == 0
    assert (found["labels_saved"], found["share_saved"]) == (0, 0)
    assert found["differences"] == []
    forced = json.loads(run("corrected", str(path), *PASS_JUDGE, *random, "--pass", "no", "--json"))
    assert forced["estimate"] == pytest.approx(0.1)
    undeclared = json.loads(run("corrected", str(path), *PASS_JUDGE, "--json"))
    assert undeclared["estimate"] is None  # the judge's fails have no label
    assert undeclared["high"] - undeclared["low"] > 0.6
    wider = json.loads(run("corrected", str(path), *PASS_JUDGE, *random, "--confidence", "0.99", "--json"))
    assert wider["low"] < found["low"]


def test_a_judge_in_a_file_of_its_own(run: Run, grades: Path, tmp_path: Path) -> None:
    people, judge = tmp_path / "people.csv", tmp_path / "judge.csv"
    rows = [line.split(",") for line in grades.read_text().splitlines()[1:]]
    people.write_text(
        "item,system,rater,score\n"
        + "".join(f"{item},{model},r,{label}\n" for item, model, _, label in rows if label)
    )
    judge.write_text("item,system,j\n" + "".join(f"{item},{model},{j}\n" for item, model, j, _ in rows))
    apart = json.loads(run("corrected", str(people), str(judge), "--json"))
    named = ("--system-column", "model", "--item", "question")
    together = json.loads(run("corrected", str(grades), *PASS_JUDGE, *named, "--json"))
    for name in ("estimate", "low", "high", "n", "n_labelled", "lambda", "labels_saved"):
        assert apart[name] == pytest.approx(together[name])


def test_a_rating_study(run: Run, tmp_path: Path) -> None:
    """Raters said 1 of all 12 texts; the judge says so of two systems of three."""
    with open_store(tmp_path / "assay.db") as store:
        study = rating_study(store, rating_texts(4, language="en"), raters=("R1", "R2"), repeat_share=0.0)
        for rater in ("R1", "R2"):
            rate_all(study.desk(rater))
        unblind(study)
    judge = tmp_path / "judge.csv"
    rows = [f"zq-item-{n},{name},{int(k > 0)}" for n in range(4) for k, name in enumerate(SYSTEMS)]
    judge.write_text("item,system,j-H\n" + "\n".join(rows) + "\n")
    found = json.loads(run("corrected", "study:ratings", str(judge), "--dimension", "H", "--json"))
    assert found["raters"] == ["R1", "R2"]
    assert found["judge_only"]["estimate"] == pytest.approx(8 / 12)
    assert found["estimate"] == 1
    assert found["method"] == "exact"
    assert len(found["systems"]) == 3
    assert len(found["differences"]) == 3


@pytest.mark.slow
def test_a_run_of_a_judge(run: Run, tmp_path: Path) -> None:
    texts: list[dict[str, Any]] = [
        {
            "item_id": f"i{n}",
            "system": "mt",
            "language": "sw",
            "source": "?",
            "text": f"Text number {n} of many words",
            "ratings": [{"rater": "r", "dimension": "H", "score": n % 2}] if n < 10 else [],
        }
        for n in range(10)
    ]
    path = tmp_path / "rated.jsonl"
    path.write_text("\n".join(map(json.dumps, texts)))
    with ScriptedServer(
        lambda body, n: json.dumps({"justification": "so", "score": 1}), models=None
    ) as server:
        words = ("judge", "quality", str(path), "--backend", "openai", "--model", "org/tiny")
        assert main([*words, "--base-url", server.url, "--out", str(tmp_path / "out")]) == 0
    found = json.loads(run("corrected", "run:1", "--json"))
    assert found["n"] == found["n_labelled"] == 10
    assert found["estimate"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--human", "people"), "- --judge: one judge is needed; found none"),
        (("--human", "people", "--judge", "x"), "x"),
        ((*PASS_JUDGE, "--confidence", "2"), "--confidence"),
        ((*PASS_JUDGE, "--pass", "9"), "--passes"),
        ((*PASS_JUDGE, "--method", "rogan-gladen"), "--labels-chosen by-truth"),
        ((*PASS_JUDGE, "--table", "corrected"), "--table"),
    ],
)
def test_mistakes(
    grades: Path, words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["corrected", str(grades), *words]) == 2
    assert told in capsys.readouterr().err
