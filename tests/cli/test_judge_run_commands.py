"""Runs of judges from the command line: going on, folders, previews, what a server said, what is put together."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.models.model_answers import Body, answer
from helpers.processes.scripted_server import Said, ScriptedServer, error
from helpers.texts.judge_runs import texts

from core.cli import main
from core.store import open_store
from core.store.runs import list_runs

LEVELS = ("A0", "A2")
N_ITEMS = 3
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with texts of three items, and a database of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    (tmp_path / "mills.jsonl").write_bytes(texts(N_ITEMS, LEVELS))
    return tmp_path


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(lambda body, n: answer(body, n), models=("tiny", "other")) as one:
        yield one


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command: exit status, what it prints, what it says on standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(arguments)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return run


@pytest.fixture
def done(command: Command) -> Callable[..., str]:
    """Run a command that must succeed; what it prints."""

    def run(*arguments: str) -> str:
        status, out, err = command(*arguments)
        assert status == 0, err
        return out

    return run


@pytest.fixture
def refused(command: Command) -> Callable[..., str]:
    """Run a command that must not work; what it says."""

    def run(*arguments: str) -> str:
        status, _, err = command(*arguments)
        assert status == 2
        return err

    return run


def who(server: ScriptedServer, model: str = "tiny") -> list[str]:
    return ["--backend", "openai", "--model", model, "--base-url", server.url]


def report(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(folder) / "run.json").read_bytes())
    return found


def n_runs() -> int:
    with open_store(Path("assay.db")) as store:
        return len(list_runs(store))


CLAIMS = ("judge", "claims", "mills.jsonl")
RULES = (*CLAIMS, "--backend", "rules")


def test_a_run_that_goes_on_keeps_its_prices_and_its_line_unless_others_are_named(
    done: Callable[..., str], server: ScriptedServer
) -> None:
    same = [*CLAIMS, *who(server), "--out", "out"]
    prices = ["--input-price", "1", "--output-price", "2"]
    done(*same, *prices, "--concurrency", "3", "--limit", "1")
    done(*same, "--resume", "--limit", "2")
    assert report("out")["prices"] == {"input": 1, "output": 2}
    with open_store(Path("assay.db")) as store:
        (run,) = list_runs(store)
    assert (run.running["concurrency"], run.running["retries"]) == (3, 4)
    done(*same, "--resume", "--input-price", "5")
    assert report("out")["prices"] == {"input": 5, "output": 2}
    assert report("out")["done"] == N_ITEMS


def test_generation_that_goes_on_keeps_its_prices(done: Callable[..., str], server: ScriptedServer) -> None:
    rows = [{"id": str(n), "question": f"When {n}?", "ground_truth": f"In {1900 + n}."} for n in range(2)]
    Path("q.json").write_text(json.dumps({"questions": rows}))
    same = ["generate", "damage", "q.json", *who(server), "--levels", "0,1", "--out", "made"]
    done(*same, "--input-price", "1", "--output-price", "2", "--limit", "1")
    done(*same, "--resume")
    assert report("made")["prices"] == {"input": 1, "output": 2}
    assert report("made")["items"] == 2


def test_a_preview_tells_what_all_items_will_take(done: Callable[..., str], server: ScriptedServer) -> None:
    prices = ["--input-price", "1000", "--output-price", "0"]
    printed = done(*CLAIMS, *who(server), *prices, "--limit", "1", "--out", "out")
    costs = report("out")["costs"]
    calls, tokens = (sum(cost[name] for cost in costs) for name in ("calls", "input_tokens"))
    assert 0 < calls < 10
    told = "Estimate for all 3 items, from 1 item: about "
    assert f"{told}{3 * calls} calls, {3 * tokens:,} tokens in" in printed
    assert f"money {3 * tokens / 1000:,.4f}" in printed
    whole = done(*CLAIMS, *who(server), "--resume", "--out", "out")
    assert "Estimate for all" not in whole
    assert "Estimate for all 3 items, from 1 item: " in done(*RULES, "--limit", "1", "--out", "by-rules")


def test_a_finished_run_has_nothing_left_and_asks_nobody(command: Command) -> None:
    """The server is gone by then: nothing is asked, not even whether it is there."""
    with ScriptedServer(lambda body, n: answer(body, n)) as server:
        same = [*CLAIMS, *who(server), "--out", "out"]
        status, _, said = command(*same)
    assert status == 0
    assert "Run 1: processing 3 of 3 items of mills.jsonl." in said
    status, printed, said = command(*same, "--resume")
    assert status == 0
    assert "Run 1 is already done." in said
    assert "works on" not in said
    assert "3 of 3 items complete" in printed


def test_an_address_without_v1_is_refused_with_what_the_server_said(
    command: Command, done: Callable[..., str], server: ScriptedServer
) -> None:
    wrong = server.url.removesuffix("/v1")
    model = ["--backend", "openai", "--model", "tiny", "--out", "out"]
    status, _, said = command(*CLAIMS, *model, "--base-url", wrong)
    assert status == 2
    assert "(404; base URLs usually end in /v1): no /chat/completions here" in said
    assert n_runs() == 0
    assert "3 of 3 items complete" in done(*CLAIMS, *model, "--base-url", server.url)


def test_a_folder_of_the_same_run_is_gone_on_with(
    done: Callable[..., str], refused: Callable[..., str]
) -> None:
    done(*RULES, "--limit", "1", "--out", "out")
    said = refused(*RULES, "--out", "out")
    assert (
        "out contains the results of run 1, with the same file and settings. Continue it with --resume"
        in said
    )
    other = refused(*RULES, "--beta", "2", "--out", "out")
    assert "out contains the results of run 1. Name another folder" in other
    assert "resume" not in other
    assert n_runs() == 1


@pytest.mark.parametrize("noun", ["judge", "generate"])
def test_where_nothing_can_be_written_nothing_is_begun(refused: Callable[..., str], noun: str) -> None:
    Path("file").write_text("no folder")
    Path("q.jsonl").write_text('{"id": "1", "question": "When?", "reference": "In 1900."}\n')
    begin = RULES if noun == "judge" else ("generate", "damage", "q.jsonl", "--backend", "rules")
    assert "--out: file is a file. Name a folder" in refused(*begin, "--out", "file")
    assert "file is a file. Name a folder" in refused(*begin, "--out", "file/deeper/still")
    if Path("/proc/self").is_dir():  # where nobody, whatever their rights, makes a file
        assert "--out: /proc/assay cannot be written: " in refused(*begin, "--out", "/proc/assay")
    assert n_runs() == 0


def test_a_runs_folder_gives_its_texts_or_its_scores(
    done: Callable[..., str], refused: Callable[..., str]
) -> None:
    done(*RULES, "--out", "judged")
    Path("q.jsonl").write_text('{"id": "1", "question": "When?", "reference": "In 1900."}\n')
    done("generate", "damage", "q.jsonl", "--backend", "rules", "--out", "made")
    correlated = ("--with", "level", "--resamples", "0", "--json")
    assert done("correlate", "judged", *correlated) == done("correlate", "judged/scores.csv", *correlated)
    rules = ("judge", "claims", "--backend", "rules")
    done(*rules, "made", "--out", "of-folder")
    assert "columns not used" not in done(*rules, "made/outputs.csv", "--out", "of-file")
    assert Path("of-folder/scores.csv").read_bytes() == Path("of-file/scores.csv").read_bytes()
    assert "texts are needed" in refused("score", "judged", "--out", "s.csv")
    assert "scores are needed" in refused("correlate", "made", "--with", "level")


def test_questions_are_put_together_of_one_run_a_model_and_of_one_mode(
    done: Callable[..., str], refused: Callable[..., str], server: ScriptedServer, here: Path
) -> None:
    cef = ["judge", "cef", "mills.jsonl", "--questions", "2"]
    done(*cef, *who(server), "--limit", "1", "--out", "one")
    done(*cef, *who(server), "--seed", "5", "--limit", "1", "--out", "two")
    done(*cef, *who(server, "other"), "--mode", "reference", "--limit", "1", "--out", "by-reference")
    ask = [*who(server), "--out", "answers"]
    assert "one and two were both made by tiny: choose one run per model" in refused(
        "judge", "answers", "one", "two", *ask
    )
    twice = refused("judge", "answers", "one", "one", *ask)
    assert "one and one were both made by tiny: choose one run per model" in twice
    modes = refused("judge", "answers", "one", "by-reference", *ask)
    assert (
        "they compare texts with different documents (one: reference-free; by-reference: reference)" in modes
    )
    others = texts(5, LEVELS).splitlines(keepends=True)[-2:]
    (here / "more.jsonl").write_bytes(b"".join(others))
    done("judge", "cef", "more.jsonl", "--questions", "2", *who(server, "other"), "--out", "elsewhere")
    assert "Note: no item is in all of them" in done("judge", "answers", "one", "elsewhere", *ask)


def test_comparing_takes_the_names_that_it_prints_and_says_what_is_no_judge(
    done: Callable[..., str], refused: Callable[..., str], server: ScriptedServer
) -> None:
    done(*RULES, "--out", "first")
    done(*RULES, "--beta", "2", "--out", "second")
    few = ["--resamples", "0"]
    assert "claims-rules-recall#2" in done("report", "compare", "first", "second", *few)
    names = "claims-rules-recall,claims-rules-recall#2"
    printed = done("report", "compare", "first", "second", "--metrics", names, *few)
    assert "claims-rules-recall and claims-rules-recall#2: 6 texts scored by both." in printed
    assert "#3" in refused("report", "compare", "first", "second", "--metrics", names.replace("2", "3"), *few)
    done("judge", "cef", "mills.jsonl", *who(server), "--questions", "2", "--limit", "1", "--out", "cef")
    done("judge", "answers", "cef", *who(server), "--out", "answers")
    assert "answers gives an audit of judges" in refused("report", "compare", "answers", "first", *few)


def test_costs_tell_whose_calls_others_paid_for_and_which_runs_are_not_finished(
    done: Callable[..., str], command: Command, server: ScriptedServer, here: Path
) -> None:
    """Items that are alike share their answers within a run: that is no help from another run."""
    alike = texts(1, LEVELS)
    (here / "alike.jsonl").write_bytes(alike + alike.replace(b'"q0"', b'"q1"'))
    claims = ["judge", "claims", "alike.jsonl", *who(server), "--concurrency", "1"]
    done(*claims, "--out", "first")
    done(*claims, "--name", "late", "--out", "late")
    assert any(cost["cached"] for cost in report("first")["costs"])
    first = done("report", "costs", "first")
    assert "paid for by other runs" not in first
    cached = sum(cost["cached"] for cost in report("late")["costs"])
    both = done("report", "costs", "first", "run:2")
    assert f"Note: late: {cached} answers came from the cache, paid for by other runs" in both
    assert sum(line.startswith(("Note: late:", "Note: claims-tiny:")) for line in both.splitlines()) == 1

    def broken(body: Body, n: int) -> Said | str:
        return error(500, "out of order") if "mill number 2" in json.dumps(body) else answer(body, n)

    server.script = broken
    status, _, _ = command(*CLAIMS, *who(server), "--seed", "9", "--retries", "0", "--out", "begun")
    assert status == 2
    for given in ("begun", "run:3"):
        rows = json.loads(done("report", "costs", given, "--json"))
        assert (rows[-1]["n_items"], rows[-1]["n_wanted"]) == (2, 3)
        assert rows[-1]["calls"] > 0
        assert rows[-1]["calls_per_text"] is None
        assert "Note: claims-tiny: 2 of 3 items are finished" in done("report", "costs", given)


def test_the_options_and_notes_of_a_judge_are_its_own(
    done: Callable[..., str], refused: Callable[..., str], server: ScriptedServer, here: Path
) -> None:
    said = refused("judge", "rubric", "mills.jsonl", *who(server), "--seed", "-1", "--out", "o")
    assert "--seed: -1 is not between 0 and 9007199254740991" in said
    rows = [json.loads(line) for line in texts(1, LEVELS).splitlines()]
    lines = [json.dumps({name: cell for name, cell in row.items() if name != "reference"}) for row in rows]
    (here / "free.jsonl").write_text("\n".join(lines))
    printed = done("judge", "cef", "free.jsonl", *who(server), "--questions", "2", "--out", "o")
    assert "metrics that need one" not in printed
