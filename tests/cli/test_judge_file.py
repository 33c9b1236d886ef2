"""A judge in one file: written from a run, loaded again by command, with what it is worth."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.models.model_answers import answer
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.judge_runs import texts

from core.cli import main
from core.runs.judging.in_one_file import load_judge

KEY = "sk_live_51HwVerySecretIndeed9876543210"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with texts, and a database of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    (tmp_path / "mills.jsonl").write_bytes(texts(2, ("A0", "A2")))
    return tmp_path


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(lambda body, n: answer(body, n), models=("tiny", "other")) as one:
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


def judged(
    command: Command, server: ScriptedServer, *more: str, verb: str = "rubric", out: str = "first"
) -> None:
    status, _, err = command(
        "judge", verb, "mills.jsonl", "--out", out, "--backend", "openai", "--model", "tiny",
        "--base-url", server.url, *more,
    )  # fmt: skip
    assert status == 0, err


def exported(command: Command, *more: str, out: str = "judge.yaml") -> str:
    status, said, err = command("judge", "export", "run:1", "--out", out, *more)
    assert status == 0, err
    return said


def scores(folder: str, file: str = "scores.csv") -> list[dict[str, str]]:
    return list(csv.DictReader(Path(folder, file).read_text("utf-8").splitlines()))


@pytest.mark.parametrize("verb", ["rubric", "claims", "cef"])
def test_the_loaded_judge_sends_the_same_requests_and_gives_the_same_scores(
    verb: str, command: Command, server: ScriptedServer
) -> None:
    judged(command, server, "--temperature", "0.3", "--top-p", "0.9", "--seed", "5", verb=verb)
    exported(command)
    sent = len(server.asked)
    status, _, err = command("judge", "use", "judge.yaml", "mills.jsonl", "--out", "second")
    assert status == 0, err
    assert len(server.asked) == sent, "every answer comes from the cache"
    assert scores("first") == scores("second")
    assert [
        json.loads(Path(one, "run.json").read_text("utf-8"))["settings"] for one in ("first", "second")
    ] == [json.loads(Path("first", "run.json").read_text("utf-8"))["settings"]] * 2


def test_it_needs_no_database_of_the_run_and_sends_the_same_bytes(
    command: Command, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    judged(command, server, "--extra-body", "service_tier=flex")
    exported(command)
    before = sorted(json.dumps(one.body) for one in server.asked)
    monkeypatch.setenv("ASSAY_DB", str(here / "another.db"))
    server.asked.clear()
    assert command("judge", "use", "judge.yaml", "mills.jsonl", "--out", "second")[0] == 0
    assert sorted(json.dumps(one.body) for one in server.asked) == before


def test_no_key_reaches_the_file(
    command: Command, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SERVERS_KEY", KEY)
    judged(
        command, server, "--header", "authorization=env:MY_SERVERS_KEY", "--header", f"X-Team={KEY}",
        "--key-variable", "MY_SERVERS_KEY", "--extra-body", "user=eval",
    )  # fmt: skip
    said = exported(command)
    text = Path("judge.yaml").read_text("utf-8")
    assert "headers" in said
    assert KEY not in text
    assert "MY_SERVERS_KEY" not in text
    assert "X-Team" not in text
    assert load_judge(Path("judge.yaml")).request.model.extra_body == {"user": "eval"}


def test_a_key_in_a_further_field_stops_the_export(
    command: Command, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged(command, server, "--extra-body", f"user={KEY}")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    status, out, err = command("judge", "export", "run:1", "--out", "judge.yaml")
    assert status == 2
    assert KEY not in out + err
    assert not Path("judge.yaml").exists()


def test_options_override_the_file_and_are_reported(command: Command, server: ScriptedServer) -> None:
    judged(command, server)
    exported(command)
    sent = len(server.asked)
    status, out, err = command(
        "judge", "use", "judge.yaml", "mills.jsonl", "--out", "second", "--model", "other", "--temperature", "1",
        "--rubric", "coverage", "--prompt", "rubric-text",
    )  # fmt: skip
    assert status == 4, err  # the scripted answers do not fit this prompt
    (line,) = [line for line in out.splitlines() if "changed" in line]
    assert all(
        one in line
        for one in ("temperature 1", "temperature 0", "model other", "rubric-text", "another rubric")
    )
    settings = json.loads(Path("second", "run.json").read_text("utf-8"))["settings"]
    assert settings["model"] == "other"
    assert settings["rubric"]["temperature"] == 1
    assert list(settings["prompts"]) == ["rubric-text"]
    assert settings["base_url"] == server.url
    assert len(server.asked) > sent


def test_a_value_that_an_option_makes_useless_is_dropped(command: Command, server: ScriptedServer) -> None:
    """With rules there is no server, no prompt and no temperature; the command would refuse them if they were given."""
    judged(command, server, "--temperature", "0.5", verb="claims")
    exported(command)
    status, _, err = command(
        "judge", "use", "judge.yaml", "mills.jsonl", "--out", "second", "--backend", "rules",
        "--verifier", "rules",
    )  # fmt: skip
    assert status == 0, err
    assert json.loads(Path("second", "run.json").read_text("utf-8"))["settings"]["prompts"] == {}


def edited(change: Callable[[str], str]) -> None:
    path = Path("judge.yaml")
    before = path.read_text("utf-8")
    after = change(before)
    assert after != before
    path.write_text(after, encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("point by point", "word by word", "prompt rubric"),
        ("temperature: 0.0", "temperature: 0.7", "temperature:0.7"),
        ("model: tiny", "model: other", "model:other"),
    ],
)
def test_an_edit_after_the_export_is_reported_and_used(
    old: str, new: str, told: str, command: Command, server: ScriptedServer
) -> None:
    judged(command, server)
    exported(command)
    edited(lambda text: re.sub(old, new, text, count=1, flags=re.IGNORECASE))
    (line,) = load_judge(Path("judge.yaml")).edited
    assert told in line
    assert command("judge", "use", "judge.yaml", "mills.jsonl", "--out", "second")[0] == 0


def test_all_problems_of_a_file_are_reported_with_their_places(
    command: Command, server: ScriptedServer
) -> None:
    judged(command, server)
    exported(command)

    def wrong(text: str) -> str:
        text = text.replace("  temperature: 0.0\n", "  temperature: 9\n  temprature: 1\n")
        text = text.replace("  attempts: 3\n", "  attempts: many\n  headers: {authorization: 'env:HOME'}\n")
        text = text.replace("$texts", "$words", 1).replace("exported:", "colour: red\nexported:")
        return text.replace("  what: rubric", "  what: rubric\n  size: 3")

    edited(wrong)
    status, out, err = command("judge", "use", "judge.yaml", "mills.jsonl", "--out", "second")
    assert status == 2
    places = [line.split(":")[0].strip(" -") for line in err.splitlines()[1:]]
    named = {place.partition(", ")[2].partition(", line")[0] for place in places}
    assert named >= {
        "settings, temperature", "settings, temprature", "model, attempts", "model, headers", "prompts, 1, text",
        "colour", "attached, size",
    }  # fmt: skip
    assert all(place.startswith("line ") for place in places)
    assert places == sorted(places, key=lambda one: int(one.split()[1].rstrip(",")))
    assert not Path("second").exists()
    assert not out


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: &a [1]\nb: *a\n",
        "x",
        "a: " + "[" * 50 + "]" * 50,
        "kind: rubric\n",
        "assay_judge: 2\nkind: nobody\n",
        "assay_judge: 1\nkind: rubric\nsettings: 3\nmodel: []\nprompts: {}\n",
        "a: " + "x" * 300_000,
        "kind: !!python/object:os.system x\n",
    ],
)
def test_a_file_that_is_no_judge_is_refused(text: str, command: Command) -> None:
    Path("judge.yaml").write_text(text, encoding="utf-8")
    status, _, err = command("judge", "use", "judge.yaml", "mills.jsonl", "--out", "second")
    assert status == 2
    assert "judge.yaml" in err


def calibration(metric: str = "rubric-tiny", knots: Any = ((1, 1.5), (3, 2.0), (4, 4.5))) -> dict[str, Any]:
    map_ = {"method": "isotonic", "knots": knots, "n": 40, "gain": {}}
    return {"evaluator": metric, "ratings": "people.csv", "maps": {"overall": map_}}


def test_a_map_goes_with_the_judge_and_maps_its_scores(command: Command, server: ScriptedServer) -> None:
    judged(command, server)
    Path("calibration.json").write_text(json.dumps(calibration()), encoding="utf-8")
    exported(command, "--map", "calibration.json")
    status, _, err = command("judge", "use", "judge.yaml", "mills.jsonl", "--out", "second", "--mapped")
    assert status == 0, err
    plain, mapped = scores("second"), scores("second", "mapped.csv")
    by_hand = {1.0: 1.5, 2.0: 1.75, 3.0: 2.0, 4.0: 4.5, 5.0: 4.5}
    assert [float(row["score"]) for row in mapped] == [by_hand[float(row["score"])] for row in plain]
    assert {row["metric"] for row in mapped} == {"rubric-tiny-mapped"}
    assert all("|map:isotonic|" in row["signature"] for row in mapped)


def test_a_map_is_asked_for_where_there_is_one(command: Command, server: ScriptedServer) -> None:
    judged(command, server)
    exported(command)
    assert command("judge", "use", "judge.yaml", "mills.jsonl", "--out", "second", "--mapped")[0] == 2
    for wrong in (
        calibration("another"),
        calibration(knots=[[2, 1], [1, 2]]),
        calibration(knots=[["a", 1]]),
        [],
        3,
    ):
        Path("calibration.json").write_text(json.dumps(wrong), encoding="utf-8")
        assert command("judge", "export", "run:1", "--out", "j.yaml", "--map", "calibration.json")[0] == 2
    Path("calibration.json").write_text(json.dumps([calibration(), calibration()]), encoding="utf-8")
    assert command("judge", "export", "run:1", "--out", "j.yaml", "--map", "calibration.json")[0] == 2


def test_what_calibrate_writes_is_a_map(command: Command, server: ScriptedServer) -> None:
    judged(command, server)
    rows = scores("first")
    people = [f"{row['item']},{row['system']},{row['level']},{n % 3 + 1}\n" for n, row in enumerate(rows)]
    Path("people.csv").write_text("item,system,level,score\n" + "".join(people), encoding="utf-8")
    status, _, err = command(
        "calibrate", "people.csv", "first", "--map", "isotonic", "--out", "c.json", "--resamples", "0"
    )
    assert status == 0, err
    exported(command, "--map", "c.json")
    (found,) = load_judge(Path("judge.yaml")).maps
    assert (found.metric, found.n, found.ratings) == ("rubric-tiny", 4, "people.csv")


def test_only_a_run_of_a_judge_is_exported(command: Command, server: ScriptedServer) -> None:
    judged(command, server)
    assert command("score", "mills.jsonl", "--metrics", "bleu-4", "--out", "scores.csv")[0] == 0
    for given in ("first", "run:99", "run:2"):
        assert command("judge", "export", given, "--out", "judge.yaml")[0] == 2
    assert not Path("judge.yaml").exists()


def test_the_limits_of_a_check_go_with_the_judge_and_are_read_first(
    command: Command, server: ScriptedServer
) -> None:
    judged(command, server)
    rows = scores("first")
    people = [f"{row['item']},{row['system']},{row['level']},{n % 3 + 1}\n" for n, row in enumerate(rows)]
    Path("people.csv").write_text("item,system,level,score\n" + "".join(people), encoding="utf-8")
    status, out, _ = command("check", "people.csv", "first", "--json")
    found = json.loads(out)
    assert status in (3, 4)
    found["judges"][0]["groups"] = [
        {"column": "language", "value": "de", "fails": True},
        {"column": "language", "value": "en", "fails": False},
    ]
    Path("check.json").write_text(json.dumps(found), encoding="utf-8")
    exported(command, "--check", "check.json")
    limits = load_judge(Path("judge.yaml")).limits
    assert limits is not None
    assert (limits.verdict, limits.use, limits.n_items) == (found["verdict"], found["use"], found["n_items"])
    assert limits.agreement.estimate == found["judges"][0]["agreement"]["estimate"]
    assert limits.not_trusted == ["language=de"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", limits.date)
    status, out, err = command("judge", "use", "judge.yaml", "mills.jsonl", "--out", "second")
    assert status == 0, err
    first = next(n for n, line in enumerate(out.splitlines()) if "language=de" in line)
    assert first < next(n for n, line in enumerate(out.splitlines()) if line.startswith("Run "))


def test_another_check_is_refused(command: Command, server: ScriptedServer) -> None:
    judged(command, server)
    two = {"judges": [{"name": "a"}, {"name": "b"}]}
    for wrong in (3, {}, {"judges": "x"}, two, {"judges": [{"name": "rubric-tiny", "verdict": "FINE"}]}):
        Path("check.json").write_text(json.dumps(wrong), encoding="utf-8")
        assert command("judge", "export", "run:1", "--out", "judge.yaml", "--check", "check.json")[0] == 2
    assert not Path("judge.yaml").exists()


def test_a_map_without_its_column_is_refused(command: Command, server: ScriptedServer) -> None:
    judged(command, server)
    Path("calibration.json").write_text(json.dumps(calibration()), encoding="utf-8")
    exported(command, "--map", "calibration.json")
    whole = Path("judge.yaml").read_text("utf-8")
    for wrong in (
        whole.replace("metric: rubric-tiny", "metric: another"),
        whole.replace("metric: rubric-tiny", "metric: another").partition("signatures:")[0],
        whole + "  another: Rubric|score:verdict\n",
    ):
        Path("judge.yaml").write_text(wrong, encoding="utf-8")
        status, _, err = command("judge", "use", "judge.yaml", "mills.jsonl", "--out", "second", "--mapped")
        assert status == 2
        assert "line " in err
