"""`calibrate` from files to JSON, tables and sentences for mistakes."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.processes.scripted_server import Body, ScriptedServer
from helpers.texts.five_classes import panel, score_lines
from helpers.texts.rating_studies import SYSTEMS, rate_all, rating_study, rating_texts, unblind
from scipy.stats import spearmanr

import assay
from core.cli import main
from core.results.calibration.results import SHIFTED
from core.store import open_store

Run = Callable[..., str]
VOTES = {"a": (2, 2, 2), "b": (2, 2, 1), "c": (2, 1, 0), "d": (0, 0, 0), "e": (1, 1, 2), "f": (2, 2, 2)}
SAID = {"a": 2, "b": 2, "c": 2, "d": 1, "e": 1, "f": 2}
"""Raters are equal on 3 of 6, the judge with the majorities of five (2 2 - 0 1 2) on 4, and of c with the middle class not."""
QUICK = ("--resamples", "50")
SPEARMAN = spearmanr([sum(votes) for votes in VOTES.values()], list(SAID.values())).statistic


@pytest.fixture
def human(tmp_path: Path) -> Path:
    path = tmp_path / "human.csv"
    rows = [
        f"{item},mt,{language},r{who},LA,{score}"
        for language in ("cs", "ja")
        for item, votes in VOTES.items()
        for who, score in enumerate(votes)
    ]
    path.write_text("item,system,language,rater,dimension,score\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def judge(tmp_path: Path) -> Path:
    path = tmp_path / "judge.csv"
    rows = [f"{item},mt,{language},{score}" for language in ("cs", "ja") for item, score in SAID.items()]
    path.write_text("item,system,language,gpt-LA\n" + "\n".join(rows) + "\n")
    return path


def test_json_holds_agreement_kappas_bias_and_groups(run: Run, human: Path, judge: Path) -> None:
    found = json.loads(run("calibrate", str(human), str(judge), "--json", *QUICK, "--task", "multilingual"))
    assert found["evaluator"] == "gpt"
    assert found["majority"] == "drop"
    assert found["agreement"]["evaluator"]["estimate"] == pytest.approx(4 / 5)
    assert found["agreement"]["raters_pairwise"]["estimate"] == pytest.approx((3 + 1 / 3 + 0 + 1 / 3) / 6)
    assert found["agreement"]["evaluator_pairwise"]["estimate"] == pytest.approx(
        (2 + 2 / 3 + 1 / 3 + 0 + 2 / 3) / 6
    )
    assert found["agreement"]["raters"]["n_groups"] == 2
    assert found["bias"]["all"]["estimate"] == pytest.approx(0)
    assert set(found["kappas"]) >= {"raters_fleiss", "evaluator_fleiss"}
    assert [one["group"] for one in found["by_group"]] == [
        {"language": "cs", "dimension": "LA"},
        {"language": "ja", "dimension": "LA"},
    ]
    assert found["by_group"][0]["classes"] == [0, 1, 2]
    assert [one["verdict"] for one in found["not_to_use"]["groups"]] == ["too few texts"] * 2
    assert found["by_group"][0]["numbers"]["spearman"]["estimate"] == pytest.approx(SPEARMAN)
    assert found["notes"] == []
    middle = json.loads(run("calibrate", str(human), str(judge), "--json", *QUICK, "--majority", "middle"))
    assert middle["agreement"]["evaluator"]["estimate"] == pytest.approx(4 / 6)
    assert middle["bias"]["all"]["estimate"] == pytest.approx(1 / 6)


def test_what_says_nothing_stands_before_any_number(run: Run, tmp_path: Path) -> None:
    """A judge that says 3 of all texts, and one that is a class and a half too strict."""
    votes, said = panel(200, shift=1.5)
    for name, scores in (("constant", np.full(200, 3.0)), ("strict", said)):
        people, judge = score_lines(votes, scores)
        (tmp_path / "people.csv").write_text(people)
        (tmp_path / f"{name}.csv").write_text(judge)
    given = (str(tmp_path / "people.csv"), str(tmp_path / "constant.csv"))
    first, sentence, why = run("calibrate", *given, *QUICK).splitlines()[:3]
    assert first.endswith("split raters: left out.")
    assert sentence.startswith("judge gives all texts")
    assert why.startswith("  LA (n 200): says nothing: it gives all 200 texts the same score, 3")
    given = (str(tmp_path / "people.csv"), str(tmp_path / "strict.csv"))
    found = json.loads(run("calibrate", *given, "--json", *QUICK))
    assert [group["verdict"]["value"] for group in found["by_group"]] == [SHIFTED]
    assert run("calibrate", *given, *QUICK).splitlines()[1] == found["not_to_use"]["sentence"]


def test_a_table_for_a_person(run: Run, human: Path, judge: Path) -> None:
    said = run("calibrate", str(human), str(judge), *QUICK, "--pooled", "--map", "isotonic")
    assert "gpt against human.csv; split raters: left out." in said
    assert "0.80 [" in said
    assert "gpt gets no verdict in all 2 groups" in said
    assert "Map to the mean rating" in said
    assert "means over groups" in run("calibrate", str(human), str(judge), *QUICK, "--paper-kappa")


def test_what_each_group_leaves_out_is_printed(run: Run, human: Path, judge: Path) -> None:
    """Of six Czech texts one has no score and one, whose raters are split, no majority: five are compared, four of them
    with a majority.
    """
    judge.write_text(judge.read_text().replace("a,mt,cs,2", "a,mt,cs,"))
    said = run("calibrate", str(human), str(judge), *QUICK, "--majority", "drop")
    of_raters, of_evaluator = (
        next(line for line in part.splitlines() if line.startswith("cs"))
        for part in (said, said.split("Evaluator and majority")[1])
    )
    assert re.findall(r"  (\d)(?=  )", of_raters)[:3] == ["5", "5", "3"]
    assert re.findall(r"  (\d)(?=  )", of_evaluator)[:3] == ["5", "4", "3"]
    left = [line for line in said.splitlines() if "left out: " in line and "1 of cs" in line]
    assert len(left) == 2
    assert any("raters are split" in line for line in left)


def test_each_table_has_a_file(run: Run, human: Path, judge: Path, tmp_path: Path) -> None:
    given = ("calibrate", str(human), str(judge), *QUICK, "--task", "multilingual", "--map", "isotonic")
    found = assay.calibrate(human, judge, task="multilingual", map="isotonic", resamples=50)
    for name in found.names:
        run(*given, "--table", name, "--out", "x.csv")
        found[name].write(tmp_path / "own.csv")
        assert (tmp_path / "x.csv").read_bytes() == (tmp_path / "own.csv").read_bytes(), name
    assert main([*given, "--table", "temperatures", "--out", "x.csv"]) == 2
    run(*given, "--out", "all.md")
    assert len(re.findall(r"^\| --- ", (tmp_path / "all.md").read_text(), re.MULTILINE)) == len(found.names)
    run(*given, "--json", "--out", "x.json")
    assert json.loads((tmp_path / "x.json").read_text())["evaluator"] == "gpt"


def test_several_judges_and_named_columns(run: Run, human: Path, judge: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(judge.read_text().replace("gpt-LA", "verdict"))
    both = json.loads(run("calibrate", str(human), str(judge), str(other), "--json", *QUICK))
    assert [one["evaluator"] for one in both] == ["gpt", "verdict"]
    named = json.loads(run("calibrate", str(human), str(other), "--columns", "verdict=LA", "--json", *QUICK))
    assert named["agreement"]["evaluator"]["estimate"] == pytest.approx(4 / 5)


def test_metal_holds_raters_and_evaluators(run: Run, tmp_path: Path) -> None:
    """There 1 in H is bad: flipped, the evaluator says 1 (good) throughout."""
    path = tmp_path / "metal.json"
    records = [
        {
            "id": item,
            "language": "sw",
            "task": "summary",
            "text": "Habari.",
            "annotations": {f"r{who}": {"H": int(score == 0)} for who, score in enumerate(votes)},
            "evaluators": {"gpt-4": {"H": {"score": 0}}},
        }
        for item, votes in VOTES.items()
    ]
    path.write_text(json.dumps(records))
    found = json.loads(run("calibrate", str(path), str(path), "--flip", "H", "--json", *QUICK))
    assert found["evaluator"] == "gpt-4"
    assert found["bias"]["top_class_evaluator"]["estimate"] == 1
    assert found["agreement"]["evaluator"]["estimate"] == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--dimension", "TQ"), "TQ"),
        (("--by", "colour"), "colour"),
        (("--columns", "gpt-LA"), "COLUMN=DIMENSION"),
        (("--resamples", "-1"), "--resamples"),
        (("--flip", "H"), "so it has no dimensions to flip"),
        (("--task", "nothing-of-the-kind"), "nothing-of-the-kind"),
    ],
)
def test_mistakes_are_named(
    arguments: tuple[str, ...], problem: str, human: Path, judge: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", str(human), str(judge), *arguments]) == 2
    assert problem in capsys.readouterr().err


def test_files_that_hold_no_judge(human: Path, judge: Path, capsys: pytest.CaptureFixture[str]) -> None:
    human.write_text("item,system,rater,score\na,mt,r1,2\na,mt,r2,1\n")
    assert main(["calibrate", str(human), str(human)]) == 2
    assert "Give it as the human side" in capsys.readouterr().err
    human.write_text("item,system,language,rater,score\n" + "".join(f"{one},mt,cs,r1,2\n" for one in VOTES))
    assert main(["calibrate", str(human), str(judge), "--shuffled", "gone.csv"]) == 2
    _, *sides = capsys.readouterr().err.splitlines()
    assert [side.split(" is neither a run (run:N) nor")[0] for side in sides] == [
        "  - judge.csv",
        "  - --shuffled: gone.csv",
    ]


def test_a_study_that_is_not_there(judge: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "study:none", str(judge), "--db", str(tmp_path / "no.db")]) == 2
    assert "no database" in capsys.readouterr().err


def test_a_rating_study_brings_its_task(run: Run, tmp_path: Path) -> None:
    """Raters said 1 (no harm) of all 12 texts; the judge says 0 of one system's. Of `overall` it says nothing."""
    with open_store(tmp_path / "assay.db") as store:
        study = rating_study(store, rating_texts(4, language="en"), raters=("R1", "R2"), repeat_share=0.0)
        for rater in ("R1", "R2"):
            rate_all(study.desk(rater))
        judge = tmp_path / "judge.csv"
        rows = [f"zq-item-{n},{name},{int(k > 0)}" for n in range(4) for k, name in enumerate(SYSTEMS)]
        judge.write_text("item,system,j-H\n" + "\n".join(rows) + "\n")
        assert main(["calibrate", "study:ratings", str(judge)]) == 2  # not unblinded yet
        unblind(study)
    found = json.loads(run("calibrate", "study:ratings", str(judge), "--json", *QUICK))
    assert found["ratings"] == "study ratings"
    assert found["by_group"][0]["classes"] == [0, 1]
    assert found["agreement"]["evaluator"]["estimate"] == pytest.approx(8 / 12)
    assert found["bias"]["all"]["estimate"] == pytest.approx(-4 / 12)
    assert found["notes"] == []


def by_quality(body: Body, n: int) -> str:
    """What the text says of itself; at a temperature now and then something else; of shuffled words less."""
    said = body["messages"][-1]["content"]
    found = re.search(r"quality (\d) words", said)
    score = int(found[1]) if found else 0
    if body.get("temperature") and n % 3 == 0:
        score = 1 - min(score, 1)
    return json.dumps({"justification": "so", "score": min(score, 1)})


@pytest.mark.slow
def test_runs_at_two_temperatures_and_with_shuffled_words(run: Run, tmp_path: Path) -> None:
    draw = random.Random(1)
    texts: list[dict[str, Any]] = []
    for n in range(40):
        quality = draw.choice([0, 1, 1])
        ratings = [
            {"rater": f"r{k}", "dimension": name, "score": quality} for k in range(2) for name in ("H", "PC")
        ]
        text = f"Text number {n} has quality {quality} words " + "and more of them " * 3
        texts.append(
            {
                "item_id": f"i{n}",
                "system": "mt",
                "language": "sw",
                "source": "?",
                "text": text,
                "ratings": ratings,
            }
        )
    (tmp_path / "rated.jsonl").write_text("\n".join(map(json.dumps, texts)))
    judge = ("judge", "quality", str(tmp_path / "rated.jsonl"), "--backend", "openai", "--model", "org/tiny")
    runs = {"cold": (), "warm": ("--temperature", "1"), "mixed": ("--shuffled-words", "0.5")}
    with ScriptedServer(by_quality, models=None) as server:
        for name, further in runs.items():
            out = str(tmp_path / name)
            assert main([*judge, "--base-url", server.url, "--name", name, "--out", out, *further]) == 0
    found = json.loads(
        run(
            *("calibrate", str(tmp_path / "rated.jsonl"), "run:1", str(tmp_path / "warm")),
            *("--shuffled", str(tmp_path / "mixed"), "--json", *QUICK),
        )
    )
    cold, warm = found["evaluators"]
    assert cold["agreement"]["evaluator"]["estimate"] == 1
    assert warm["agreement"]["evaluator"]["estimate"] < 0.9
    assert cold["notes"] == []  # the run's own task says which classes were on offer
    points = [(one["dimension"], one["temperature"]) for one in found["temperatures"]["points"]]
    assert points == [("H", 0.0), ("H", 1.0), ("PC", 0.0), ("PC", 1.0)]
    dropped = {one["group"]["dimension"]: one["drops"] for one in found["shuffled_words"]}
    assert dropped["H"]["n"] == 40
    assert dropped["H"]["estimate"] > 0.2
    assert "By temperature" in run("calibrate", str(tmp_path / "rated.jsonl"), "run:1", "run:2", *QUICK)
