"""`judge prompts`: from prompts, models and texts to one table; resumed after a kill; against levels, ratings and votes."""

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.processes.killed_run import kill_in_the_middle
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.prompts_tried import prompt_file, texts, verdict

from core.cli import main
from core.store import open_store
from core.store.runs import list_runs

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with texts of known levels, two prompts and a database of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    (tmp_path / "t.jsonl").write_bytes(texts(12))
    for word in ("SHARP", "DULL"):
        prompt_file(tmp_path, word)
    return tmp_path


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(verdict, models=("tiny", "big")) as one:
        yield one


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(arguments)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return run


def asked(server: ScriptedServer, *more: str, model: str = "tiny") -> list[str]:
    who = ["--backend", "openai", "--model", model, "--base-url", server.url]
    return ["judge", "prompts", "rubric", "t.jsonl", *who, "--out", "out", *more]


BOTH = ("--prompt", "sharp.yaml", "--prompt", "dull.yaml")


def as_json(command: Command, *arguments: str) -> dict[str, Any]:
    status, out, err = command(*arguments)
    assert status == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_two_prompts_are_run_and_the_better_one_is_found(command: Command, server: ScriptedServer) -> None:
    found = as_json(command, *asked(server, *BOTH, "--input-price", "1", "--output-price", "2", "--json"))
    assert (found["use"], found["against"], found["n"], found["n_items"]) == ("sharp", "levels", 60, 12)
    assert found["comparisons"][0]["better"] == "sharp"
    with Path("out/prompts.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["prompt"] for row in rows] == ["sharp", "dull"]
    assert float(rows[1]["difference"]) < 0
    assert Path("out/sharp/run.json").is_file()
    assert Path("out/prompts.md").is_file()
    for one in found["prompts"]:
        tokens = one["input_tokens"] + 2 * one["output_tokens"]
        assert one["price_per_1000"] == pytest.approx(tokens / 1e6 / 60 * 1_000)
        assert one["unusable"] == 0
    assert len(server.asked) == 120
    again = as_json(command, *asked(server, *BOTH, "--json"))
    assert len(server.asked) == 120
    assert again["prompts"] == found["prompts"]


@pytest.mark.slow
def test_runs_that_exist_are_compared_without_asking(command: Command, server: ScriptedServer) -> None:
    as_json(command, *asked(server, *BOTH, "--json"))
    found = as_json(
        command,
        "report",
        "prompts",
        "run:1",
        "run:2",
        "--json",
        "--out",
        "two.csv",
        "--input-price-of",
        "tiny=3",
        "--output-price-of",
        "tiny=0",
    )
    assert [one["run"] for one in found["prompts"]] == [1, 2]
    assert found["prompts"][0]["price_per_1000"] == pytest.approx(
        3 * found["prompts"][0]["input_tokens"] / 1e6 / 60 * 1_000
    )
    assert Path("two.csv").is_file()
    assert len(server.asked) == 120


@pytest.mark.slow
def test_models_times_prompts_with_prices_of_their_own(command: Command, server: ScriptedServer) -> None:
    found = as_json(
        command,
        *asked(server, *BOTH, "--model", "big", "--json", "--input-price", "1", "--output-price", "1"),
        "--input-price-of",
        "big=10",
        "--output-price-of",
        "big=10",
    )
    cost = {one["name"]: one["price_per_1000"] for one in found["prompts"]}
    assert set(cost) == {
        f"{prompt} with {model}" for prompt in ("sharp", "dull") for model in ("tiny", "big")
    }
    for prompt in ("sharp", "dull"):
        assert cost[f"{prompt} with big"] == pytest.approx(10 * cost[f"{prompt} with tiny"])
    assert found["use"] == "sharp with tiny"


@pytest.mark.slow
def test_a_preview_forecasts_all_and_the_rest_is_done_later(command: Command, server: ScriptedServer) -> None:
    status, out, _ = command(*asked(server, *BOTH, "--limit", "3"))
    assert status == 0
    assert "Estimate for all 12 items with all 2: about 120 calls" in out
    assert len(server.asked) == 30
    found = as_json(command, *asked(server, *BOTH, "--json"))
    assert found["n"] == 60
    assert len(server.asked) == 120


@pytest.mark.slow
def test_killed_in_the_middle_it_goes_on_where_it_was(
    command: Command, server: ScriptedServer, here: Path
) -> None:
    arguments = [
        str(here / one) if one in ("t.jsonl", "out", "sharp.yaml", "dull.yaml") else one
        for one in asked(server, *BOTH)
    ]
    kill_in_the_middle([*arguments, "--concurrency", "1"], here / "assay.db", 3, 12)
    before = len(server.asked)
    assert before < 120
    found = as_json(command, *arguments, "--json")
    assert found["n"] == 60
    # The cache has every answer that came before the kill, so only the request that was open then can be sent twice.
    assert len(server.asked) <= 121
    with open_store(Path("assay.db")) as store:
        assert [run.state for run in list_runs(store)] == ["done", "done"]


def rated(people: Path) -> None:
    rows = [
        {
            "item": f"q{item:03d}",
            "system": "mills",
            "level": f"A{level}",
            "rater": rater,
            "score": 5 - level + shift,
        }
        for item in range(12)
        for level in range(5)
        for rater, shift in (("ann", 0), ("bob", 1 if item % 3 else 0))
    ]
    with people.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.slow
def test_against_people_first_and_levels_beside(command: Command, server: ScriptedServer, here: Path) -> None:
    rated(here / "people.csv")
    found = as_json(command, *asked(server, *BOTH, "--human", "people.csv", "--json"))
    assert (found["against"], found["use"]) == ("people", "sharp")
    assert {one["against"] for one in found["comparisons"]} == {"people", "levels"}
    assert all(one["people"]["n"] == 60 for one in found["prompts"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["judge", "prompts", "rubrik", "t.jsonl"],
        ["judge", "prompts", "run:1", "other.csv"],
        ["judge", "prompts", "run:1", "run:2"],
    ],
)
def test_mistakes_are_named(command: Command, arguments: list[str]) -> None:
    status, _, err = command(*arguments)
    assert status == 2
    assert err


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (("--prompt", "sharp.yaml"), "two"),
        (("--prompt", "sharp.yaml", "--prompt", "sharp.yaml"), "same"),
        ((*BOTH, "--input-price-of", "nobody=1"), "nobody"),
        ((*BOTH, "--input-price-of", "tiny"), "--input-price-of"),
        ((*BOTH, "--prompt", "verify", "--prompt", "mark-errors"), "mark-errors"),
        ((*BOTH, "--dimension", "fluency"), "--dimension"),
        ((*BOTH, "--human", "gone.csv"), "gone.csv"),
    ],
)
def test_what_cannot_be_compared_is_refused_and_no_run_stays(
    command: Command, server: ScriptedServer, more: tuple[str, ...], word: str
) -> None:
    status, _, err = command(*asked(server, *more))
    assert status == 2
    assert word in err
    assert not Path("assay.db").exists()
    assert not server.asked


@pytest.mark.parametrize(("more", "word"), [((), "levels"), (("--component", "f1"), "f1")])
def test_texts_without_levels_and_unknown_components_are_refused_before_anything_is_asked(
    command: Command, server: ScriptedServer, here: Path, more: tuple[str, ...], word: str
) -> None:
    (here / "t.jsonl").write_bytes(texts(3, levels=1))
    status, _, err = command(*asked(server, *BOTH, *more))
    assert status == 2
    assert word in err
    assert not server.asked
    with open_store(Path("assay.db")) as store:
        assert not list_runs(store)
