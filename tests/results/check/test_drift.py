"""A check against an earlier one: what changed, by how much, and what could have been seen."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from helpers.texts.checks import check_json
from scipy.stats import ttest_ind, ttest_rel

from core.analyses.check import drift as module
from core.analyses.check.drift import CONFIDENCE, LEVEL, POWER, drift, read_earlier
from core.cli import main
from core.errors import InputError
from core.formats.panel import read_panel
from core.results.check.verdict import Check, check_panel
from core.schema.rows import json_of
from core.schema.uses import CheckOptions
from scripts.simulations import cell_measures, read
from scripts.simulations.drift import GRID

N = 200


def _file(
    seed: int,
    *,
    first: int = 0,
    good: float = 0.6,
    judge: float = 0.85,
    labels_of: str = "",
    n: int = N,
    scale: float = 1,
) -> str:
    """A wide file; labels_of: a file whose texts and ratings it repeats."""
    rng = np.random.default_rng(seed)
    if labels_of:
        lines = [line.split(",") for line in labels_of.splitlines()[1:]]
        texts, ratings = [line[0] for line in lines], np.array([line[2:5] for line in lines], dtype=float)
        truth = (ratings.mean(axis=1) > 0.5).astype(float)
    else:
        truth = (rng.random(n) < good).astype(float)
        texts = [f"q{first + at}" for at in range(n)]
        ratings = np.where(rng.random((n, 3)) < 0.92, truth[:, None], 1 - truth[:, None])
    scores = np.where(rng.random(len(truth)) < judge, truth, 1 - truth) * scale
    rows = [
        f"{text},{'ab'[at % 2]},{','.join(f'{one:g}' for one in given)},{score:g}"
        for at, (text, given, score) in enumerate(zip(texts, ratings, scores, strict=True))
    ]
    return "id,system,r1,r2,r3,j\n" + "\n".join(rows) + "\n"


def _check(text: str, **options: Any) -> Check:
    panel = read_panel(text.encode(), "f.csv", human=["r1", "r2", "r3"], judges=["j"])
    return check_panel(panel, CheckOptions(**({"use": "gate"} | options)))


def _between(before: str, after: str) -> dict[str, Any]:
    earlier = json.loads(json.dumps(check_json(_check(before))))
    return json_of(drift(_check(after), read_earlier(json.dumps(earlier).encode(), "e.json")))


BEFORE = _file(1)


def test_the_same_file_shows_no_change() -> None:
    found = _between(BEFORE, BEFORE)
    assert found["same_labels"]
    assert not found["judge_changed"]
    assert found["judges"][0]["share_changed"] == 0
    assert found["people"] == []


def test_a_worse_judge_on_the_same_texts_is_found() -> None:
    found = _between(BEFORE, _file(2, labels_of=BEFORE, judge=0.6))
    assert found["judge_changed"]
    assert not found["systems_changed"]
    (judge,) = found["judges"]
    assert judge["compared_on"] == "same"
    assert judge["n_same"] == N
    assert judge["changes"][0]["change"]["high"] < 0


def test_a_worse_judge_on_new_texts_is_found_and_the_systems_are_not() -> None:
    found = _between(BEFORE, _file(3, first=N, judge=0.6))
    assert found["judge_changed"]
    assert not found["systems_changed"]
    assert found["judges"][0]["compared_on"] == "equal ratings"


def test_better_systems_are_found_and_the_judge_is_not() -> None:
    found = _between(BEFORE, _file(3, first=N, good=0.9))
    assert found["systems_changed"]
    assert not found["judge_changed"]
    assert {one["of"] for one in found["people"]} == {None, "a", "b"}


def test_the_judges_mean_is_people_and_bias() -> None:
    before, after = _check(BEFORE), _check(_file(3, first=N, good=0.9, judge=0.7))
    mean = json_of(drift(after, check_json(before)))["judges"][0]["mean"]
    scores = [float(check.panel.scores.mean()) for check in (before, after)]
    people = [float(check.panel.ratings.mean()) for check in (before, after)]
    assert mean["judge"] == pytest.approx(scores[1] - scores[0], abs=1e-5)
    assert mean["people"] == pytest.approx(people[1] - people[0], abs=1e-5)
    assert mean["judge"] == pytest.approx(mean["people"] + mean["bias"], abs=1e-12)


def test_errors_are_those_of_the_t_tests_with_two_further_items() -> None:
    rng = np.random.default_rng(0)
    one, two = rng.random(40), rng.random(40)
    items = np.array([f"q{at}" for at in range(40)])
    others = np.array([f"p{at}" for at in range(40)])
    plain = np.zeros(40)
    paired = module._changed("", "x", module._Side(one, items, plain), module._Side(two, items, plain))
    apart = module._changed("", "x", module._Side(one, items, plain), module._Side(two, others, plain))
    for found, test in (
        (paired, ttest_rel(one, two)),
        (apart, ttest_ind(one, two, equal_var=False)),
    ):
        error = (one.mean() - two.mean()) / test.statistic
        assert found.error == pytest.approx(np.sqrt(error**2 + 2 / 40**2))
        assert found.change.value == pytest.approx(one.mean() - two.mean())


def test_equal_ratings_are_compared_with_each_other() -> None:
    """Standardised by hand: strata 0 and 1 with 30 and 10 texts of 40 each way."""
    strata = np.repeat([0.0, 1.0], [30, 10])
    now = module._Side(np.repeat([0.2, 0.8], [30, 10]), np.arange(40).astype(str), strata)
    then = module._Side(
        np.repeat([0.1, 0.9], [10, 30]), (100 + np.arange(40)).astype(str), np.repeat([0.0, 1.0], [10, 30])
    )
    found = module._changed("", "x", now, then)
    assert found.change.value == pytest.approx(0.5 * (0.2 - 0.1) + 0.5 * (0.8 - 0.9))


def test_the_smallest_change_is_that_of_the_power() -> None:
    from scipy.stats import t

    result = drift(_check(_file(3, first=N)), check_json(_check(BEFORE)))
    for one in result.changes:
        assert one.error is not None
        assert one.smallest is not None
        reach = t.ppf(1 - LEVEL / 2 / result.n_tests, one.df) + t.ppf(POWER, one.df)
        assert one.smallest == pytest.approx(reach * one.error)
        assert one.change.high is not None
        assert one.change.value is not None
        half = t.ppf((1 + CONFIDENCE) / 2, one.df) * one.error
        assert one.change.high - one.change.value == pytest.approx(half)


def test_rows_hold_no_ratings_of_single_raters_and_no_texts() -> None:
    check = _check(BEFORE)
    rows = check_json(check)["rows"]
    assert len(rows["item"]) == N
    assert "r1" not in json.dumps(rows)
    assert rows["mean"][0] == pytest.approx(check.panel.ratings[0].mean(), abs=1e-6)


def test_without_rows_only_estimates_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 10)
    earlier = check_json(_check(BEFORE))
    assert earlier["rows"] is None
    assert earlier["rows_note"]
    found = json_of(drift(_check(_file(3, first=N, judge=0.55)), earlier))
    (judge,) = found["judges"]
    assert judge["compared_on"] == "estimates"
    assert judge["changed"]
    assert found["people"] == []


def test_a_file_of_an_earlier_version_is_refused_in_one_sentence() -> None:
    earlier = {key: value for key, value in check_json(_check(BEFORE)).items() if key != "judges_paid_for"}
    with pytest.raises(InputError, match="earlier version") as refused:
        read_earlier(json.dumps(earlier).encode(), "e.json")
    assert not refused.value.problems


def test_a_judge_on_another_scale_is_compared_by_its_scores() -> None:
    rng = np.random.default_rng(5)
    rows = [f"q{at},a,{','.join(map(str, rng.integers(1, 6, 3)))}" for at in range(60)]
    files = [
        "id,system,r1,r2,r3,j\n"
        + "\n".join(f"{row},{score:.3f}" for row, score in zip(rows, given, strict=True))
        for given in (50 + 10 * rng.random(60), 65 + 10 * rng.random(60))
    ]
    (judge,) = _between(*files)["judges"]
    assert [one["number"] for one in judge["changes"]] == ["correlation", "score"]
    assert judge["changed"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "no json", '{"use": "gate", "human": {}, "judges": [{"name": "j"}]}', '{"judges": 3}'],
)
def test_other_files_are_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f.csv").write_text(BEFORE)
    (tmp_path / "e.json").write_text(text)
    assert _main(tmp_path, "--against", str(tmp_path / "e.json")) == 2
    assert "e.json" in capsys.readouterr().err


@pytest.mark.parametrize("broken", ["mean", "scale", "judges", "item"])
def test_damaged_rows_are_refused(broken: str) -> None:
    earlier = json.loads(json.dumps(check_json(_check(BEFORE))))
    earlier["rows"][broken] = [1, 2, 3]
    with pytest.raises(Exception, match=r"e\.json"):
        read_earlier(json.dumps(earlier).encode(), "e.json")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("human", None),
        ("human", []),
        *(("estimate", value) for value in ("0.9", [1], 10**400, float("inf"), float("nan"))),
        *(("mean", value) for value in (10**400, float("inf"))),
    ],
)
def test_values_that_no_check_writes_are_refused(name: str, value: object) -> None:
    earlier = json.loads(json.dumps(check_json(_check(BEFORE))))
    if name == "human":
        earlier[name] = value
    elif name == "mean":
        earlier["rows"][name][0] = value
    else:
        earlier["judges"][0]["agreement"][name] = value
    with pytest.raises(InputError):
        read_earlier(json.dumps(earlier).encode(), "e.json")


def test_deep_json_is_refused() -> None:
    with pytest.raises(InputError):
        read_earlier(b"[" * 100_000, "e.json")


def _main(folder: Path, *more: str) -> int:
    return main(
        ["check", str(folder / "f.csv"), "--human", "r1,r2,r3", "--judge", "j", "--use", "gate", *more]
    )


def test_the_command_names_what_changed_and_keeps_its_exit_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f.csv").write_text(BEFORE)
    _main(tmp_path, "--out", str(tmp_path / "e.json"))
    (tmp_path / "f.csv").write_text(_file(2, labels_of=BEFORE, judge=0.6))
    capsys.readouterr()
    alone = _main(tmp_path, "--json")
    plain = json.loads(capsys.readouterr().out)
    status = _main(tmp_path, "--json", "--against", str(tmp_path / "e.json"))
    found = json.loads(capsys.readouterr().out)
    assert status == alone == 3
    assert found["drift"]["judge_changed"]
    assert {**found, "drift": None} == {**plain, "drift": None}


def test_another_use_and_other_judges_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f.csv").write_text(BEFORE)
    earlier = check_json(_check(BEFORE, use="monitor"))
    earlier["judges"][0]["name"] = "other judge"
    (tmp_path / "e.json").write_text(json.dumps(earlier))
    assert _main(tmp_path, "--against", str(tmp_path / "e.json")) == 2
    error = capsys.readouterr().err
    for said in ("monitor", "gate", "other judge", "--against"):
        assert said in error


def test_a_text_rated_anew_is_not_the_same(tmp_path: Path) -> None:
    found = _between(BEFORE, _file(9))
    assert not found["same_labels"]
    assert found["judges"][0]["n_same"] < N
    assert found["people"]


def test_few_false_claims_and_true_ones_are_stored() -> None:
    stored = read(GRID)
    assert len(stored) == len(GRID.cells)
    for (changed, texts, n), measures in stored.items():
        if changed == "nothing":
            assert (measures["wrong"] or 0) <= 0.065, (
                texts,
                n,
            )  # 5 % and three Monte Carlo errors of 1,000 replicates
        if changed == "judge" and n == 200:
            assert (measures["judge"] or 0) > 0.8
        if changed == "systems" and n == 200:
            assert (measures["systems"] or 0) > 0.8
            assert (measures["judge"] or 0) < 0.08


@pytest.mark.slow
@pytest.mark.parametrize("cell", [("nothing", "new", 200), ("systems", "new", 200)])
def test_the_stored_table_can_be_made_again(cell: tuple[str, str, int]) -> None:
    replicates = 200
    stored, again = read(GRID)[cell], cell_measures(GRID, cell, replicates)
    for name in ("judge", "systems", "wrong"):
        share, found = stored[name], again[name]
        assert share is not None
        assert found is not None
        error = (max(share * (1 - share), 0.01) * (1 / replicates + 1 / GRID.replicates)) ** 0.5
        assert abs(found - share) < 4 * error, name


@pytest.mark.slow
def test_the_workflow_of_the_documents_runs(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[3]
    steps = yaml.safe_load((root / "docs" / "workflow.yml").read_text("utf-8"))["jobs"]["check"]["steps"]
    scripts = {step["name"]: step["run"] for step in steps if "run" in step}
    (tmp_path / "assay").write_text(f'#!/bin/sh\nPYTHONPATH="{root}" exec "{sys.executable}" -m core "$@"\n')
    (tmp_path / "assay").chmod(0o755)
    lines = [line.split(",") for line in BEFORE.splitlines()]
    (tmp_path / "labels.csv").write_text("".join(",".join(line[:5]) + "\n" for line in lines))
    (tmp_path / "scores.csv").write_text("".join(",".join([*line[:2], line[5]]) + "\n" for line in lines))
    outputs = tmp_path / "outputs"
    settings = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "GITHUB_OUTPUT": str(outputs)}

    def run(script: str, **more: str) -> int:
        line = ["bash", "-e", "-c", script]
        return subprocess.run(line, cwd=tmp_path, env=settings | more, check=False).returncode

    run("assay check labels.csv scores.csv --use gate --out baseline.json || true")
    assert run(scripts["Check"]) == 0
    status = outputs.read_text().strip().removeprefix("status=")
    found = json.loads((tmp_path / "check.json").read_text())
    assert found["drift"]["same_labels"]
    assert (tmp_path / "card.html").stat().st_size > 1_000
    assert run(scripts["Verdict"], STATUS=status) == (1 if status == "3" else 0)
    assert [run(scripts["Verdict"], STATUS=one) for one in "0234"] == [0, 1, 1, 0]
