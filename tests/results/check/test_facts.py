"""Consistency, price and time of judges, from runs and from columns, beside the verdict."""

import json
from pathlib import Path

import pytest
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.judge_runs import run_to_the_end
from helpers.texts.slips import rated_texts
from helpers.texts.specialist_runs import says, specialist

from core.cli import main
from core.formats.panel import read_panel
from core.results.check.facts import facts_in, facts_of
from core.results.check.verdict import check_panel
from core.results.judges.costs import JudgeCost
from core.runs.costs import facts_of_run
from core.schema.panel import Panel
from core.schema.runs import StepCost
from core.store import open_store

STEP = StepCost("judge", calls=8, cached=2, unusable=0, input_tokens=4_000, output_tokens=1_000, seconds=4.0)


def _cost(**changed: object) -> JudgeCost:
    given: dict[str, object] = {
        "name": "j",
        "costs": (STEP,),
        "n_items": 5,
        "n_texts": 10,
        "input_price": 1.0,
        "output_price": 2.0,
    }
    return JudgeCost(**(given | changed))  # type: ignore[arg-type]


def test_price_and_time_are_those_of_1000_texts() -> None:
    found = facts_of(["j"], _cost())["j"]
    assert found.cost == pytest.approx((4_000 * 1 + 1_000 * 2) / 1e6 / 10 * 1_000)
    assert found.seconds == pytest.approx(4.0 / 10 * 1_000)
    assert found.consistency is None


def test_answers_paid_for_by_another_run_count_at_the_mean_of_this_one() -> None:
    alone, found = facts_of(["j"], _cost())["j"], facts_of(["j"], _cost(n_found=2))["j"]
    assert found.cost == pytest.approx((alone.cost or 0) * 10 / 8)
    assert found.seconds == pytest.approx((alone.seconds or 0) * 10 / 8)


@pytest.mark.parametrize(
    ("changed", "cost"),
    [
        ({"input_price": None}, None),
        ({"n_wanted": 6}, None),
        ({"costs": (), "input_price": None}, None),
        ({"n_texts": 0}, None),
    ],
)
def test_an_unknown_price_is_none(changed: dict[str, object], cost: float | None) -> None:
    assert facts_of(["j"], _cost(**changed))["j"].cost == cost


def test_a_judge_that_asks_no_model_is_free() -> None:
    assert facts_of(["j"], _cost(costs=(), input_price=None), is_free=True)["j"].cost == 0


def _panel(columns: str, rows: list[str], judges: list[str]) -> Panel:
    data = "\n".join([f"id,a,b,{','.join(judges)},{columns}", *rows]) + "\n"
    return read_panel(data.encode(), "f.csv", human=["a", "b"], judges=judges)


def test_columns_beside_the_scores_hold_price_and_time() -> None:
    found = facts_in(
        _panel("cost_usd,latency_ms", ["1,1,1,1,0.001,500", "2,0,1,1,0.003,1500", "3,0,0,0,,"], ["j"])
    )
    assert found["j"].cost == pytest.approx(2.0)
    assert found["j"].currency == "USD"
    assert found["j"].seconds == pytest.approx(1_000)


def test_columns_of_several_judges_name_theirs() -> None:
    rows = ["1,1,1,1,0,0.1,2", "2,0,1,1,0,0.2,2"]
    found = facts_in(_panel("x_cost,latency y", rows, ["x", "y"]))
    assert found["x"].cost == pytest.approx(150)
    assert found["x"].seconds is None
    assert found["y"].seconds == pytest.approx(2_000)


def test_prices_are_found_where_nobody_names_a_column() -> None:
    """As the command reads a file. A price describes the judge, so texts are not grouped by it."""
    lines = [f"{at},{at % 2},{at % 2},0.0{at % 3 + 1},{at % 2},0.01" for at in range(60)]
    data = "\n".join(["id,human,GPT-4,gpt_4_cost,llama,llama cost", *lines]) + "\n"
    found = read_panel(data.encode(), "f.csv", find=True)
    facts = facts_in(found)
    assert facts["GPT-4"].cost == pytest.approx(20)
    assert facts["llama"].cost == pytest.approx(10)
    assert all(not one.groups for one in check_panel(found).judges)


def test_words_are_no_price() -> None:
    assert facts_in(_panel("cost", ["1,1,1,1,high", "2,0,1,1,0.1"], ["j"])) == {}


def test_a_run_shows_model_time_and_price(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    with ScriptedServer(says) as server, open_store(tmp_path / "assay.db") as store:
        run = run_to_the_end(store, specialist("quality", server.url), rated_texts(3), name="rated.jsonl")
        told = facts_of_run(run)
    assert main(["check", f"run:{run.run.run_id}", "--dimension", "LA", "--json"]) in {0, 3, 4}
    (judge,) = json.loads(capsys.readouterr().out)["judges"]
    own = told[judge["name"]]
    assert judge["model"] == own.model == run.request.model.model
    assert judge["seconds"] == pytest.approx(own.seconds)
    assert judge["cost"] is own.cost is None


def test_repeats_of_a_run_give_consistency(tmp_path: Path) -> None:
    with ScriptedServer(says) as server, open_store(tmp_path / "assay.db") as store:
        asked = specialist("quality", server.url, repeats=2)
        run = run_to_the_end(store, asked, rated_texts(3), name="rated.jsonl")
        found, of_dimension = facts_of_run(run), facts_of_run(run, "LA")
        metrics = [metric.name for metric in run.metrics]
    assert metrics
    for metric in metrics:
        share = found[metric].consistency
        assert share is not None
        assert share.estimate == 1  # the scripted server always answers alike
    (judge,) = set(found) - set(metrics)
    assert of_dimension[judge].consistency == found[f"{judge}-LA"].consistency
