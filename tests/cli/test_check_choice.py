"""`check` with several judges: prices from runs and options, the choice in sentences, tables and JSON."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.pages.judges_visit import by_model, rubric
from helpers.pages.metrics_visit import lines

from core.cli import main
from core.store import open_store
from core.store.kept import step_costs

Run = Callable[..., str]


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Three raters and three judges of 120 texts: one good, one nearly as good, a coin."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 120)
    errors = {"a": 0.1, "b": 0.1, "c": 0.1, "big": 0.04, "small": 0.05, "coin": 0.5}
    columns = {name: np.where(rng.random(120) < error, 1 - truth, truth) for name, error in errors.items()}
    path = tmp_path / "labels.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *columns])
        writer.writerows([f"q{at}", *row] for at, row in enumerate(zip(*columns.values(), strict=True)))
    return path


def checked(labels: Path, *words: str) -> int:
    judges = ("--human", "a,b,c", "--judge", "big,small,coin")
    return main(["check", str(labels), *judges, *words])


def test_prices_given_by_options(labels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prices = ("--price", "big=4", "--price", "small=0.4", "--price", "coin=0.1", "--currency", "EUR")
    assert checked(labels, *prices, "--seconds", "big=900", "--json") == 3, "a coin is not trusted"
    which = json.loads(capsys.readouterr().out)["which"]
    rows = {one["name"]: one for one in which["judges"]}
    assert [rows[name]["price_per_1000"] for name in ("big", "small", "coin")] == [4, 0.4, 0.1]
    assert (rows["big"]["seconds_per_1000"], rows["big"]["currency"]) == (900, "EUR")
    assert which["front_by"] == ["quality", "price"], "the time of two judges is unknown"
    assert rows["coin"]["unfit"]
    assert which["use"] in {"big", "small"}
    assert len(which["comparisons"]) == 3
    checked(labels, *prices)
    assert which["sentence"] in " ".join(capsys.readouterr().out.splitlines())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--price", "bigg=4"), "big"),
        (("--price", "big"), "NAME=NUMBER"),
        (("--seconds", "big=-1"), "--seconds: big: -1 is not at least 0"),
        (("--price", "big=-1"), "--price: big: -1 is not at least 0"),
    ],
)
def test_mistakes_in_prices(
    words: tuple[str, ...], said: str, labels: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked(labels, *words) == 2
    assert said in capsys.readouterr().err


def test_judges_without_a_common_text_keep_their_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "apart.csv"
    rows = [f"q{n},{n % 2},{n % 2 if n < 40 else ''},{'' if n < 40 else n % 2}" for n in range(80)]
    path.write_text("id,person,x,y\n" + "\n".join(rows) + "\n")
    words = ["check", str(path), "--human", "person", "--judge", "x,y"]
    assert main(words) in {0, 4}
    assert "x: 40 of 80 rated texts" in capsys.readouterr().out
    main([*words, "--json"])
    assert "which" not in json.loads(capsys.readouterr().out)


def test_prices_and_models_come_from_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [
        {
            "item": f"q{n}",
            "system": "s",
            "text": f"The tower has {n} floors.",
            "reference": f"It has {n} floors.",
        }
        for n in range(8)
    ]
    with open_store(tmp_path / "assay.db") as store:
        runs = by_model(
            store,
            (lines(*texts), "texts.jsonl"),
            rubric(model="org/tiny-7B", name="small"),
            rubric(model="org/big-70B", name="big"),
        )
        costs = [step_costs(store, run.run_id) for run in runs]
    people = tmp_path / "people.csv"
    people.write_text(
        "item,system,rater,score\n" + "\n".join(f"q{n},s,r{r},{1 + n % 5}" for n in range(8) for r in (1, 2))
    )
    given = [f"run:{run.run_id}" for run in runs]
    main(["check", str(people), *given, "--db", str(tmp_path / "assay.db"), "--use", "gate", "--json"])
    which = json.loads(capsys.readouterr().out)["which"]
    rows = {one["name"]: one for one in which["judges"]}
    assert {one["model"] for one in rows.values()} == {"org/tiny-7B", "org/big-70B"}
    for (cost,), model in zip(costs, ("org/tiny-7B", "org/big-70B"), strict=True):
        money = ((cost.input_tokens or 0) * 0.15 + (cost.output_tokens or 0) * 0.6) / 1e6
        (row,) = (one for one in rows.values() if one["model"] == model)
        assert row["price_per_1000"] == pytest.approx(1_000 * money / 8)
        assert row["seconds_per_1000"] == pytest.approx(1_000 * cost.seconds / 8)
    assert which["front_by"] == ["quality", "price", "time"]
