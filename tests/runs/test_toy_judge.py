"""A judge is one file and one line: then commands, runs, records, signatures and the page's form have it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.texts.judge_runs import rows_of
from helpers.toys import judge as toy_judge
from streamlit.testing.v1 import AppTest

from core.cli import main
from core.errors import InputError
from core.runs.asked import ModelSettings, ask, asked_from, kept
from core.runs.judging import judge_output
from core.runs.kinds import KINDS
from core.runs.path import NO_SUCH_RUN, saved_run
from core.runs.records import read_judge_folder
from core.schema.settings import SettingsError
from core.store import open_store

TEXTS = "item,text,reference\n1,a mill burned,a mill burned down\n2,b mill stood,a mill burned\n3,a mill,\n"
ASKED = ("judge", "toy", "texts.csv", "--backend", "rules")


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(KINDS, toy_judge.KIND.name, toy_judge.KIND)  # type: ignore[arg-type]  # a plain dict
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    Path("texts.csv").write_text(TEXTS)


def test_a_command_has_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["judge", "--help"])
    assert "share of words that the reference has" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["judge", "toy", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    for option in ("--penalty", "--letters", "--most-named"):
        assert option in told
    assert "points for a word that the reference lacks (default 1)" in told


def test_a_whole_run_is_scored_written_and_read_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASKED, "--penalty", "0.5", "--most-named", "1", "--out", "out"]) == 0
    report = json.loads(Path("out/run.json").read_text())
    assert (report["kind"], report["done"], report["settings"]["name"]) == ("toy", 3, "toy-rules")
    assert report["settings"]["toy"] == {"penalty": 0.5, "letters": False, "most_named": 1}
    (metric,) = report["settings"]["metrics"]
    assert metric["signature"] == "Toy|score:verdict|backend:rules|penalty:0.5|letters:no"
    scores = rows_of(Path("out/scores.csv"))
    assert [row["score"] for row in scores] == ["1.0", str(1 - 0.5 * 2 / 3), ""]
    assert scores[2]["reason"] == "no reference"
    details = rows_of(Path("out/details.csv"))
    assert [(row["item"], row["what"], row["text"]) for row in details] == [("2", "missing", "b")]
    output = read_judge_folder(Path("out"))
    assert [text.record for text in output.texts] == [
        toy_judge.ToyRecord(3, ()),
        toy_judge.ToyRecord(3, ("b",)),
        None,
    ]
    with open_store(Path("assay.db")) as store:
        assert judge_output(saved_run(store, 1)) == output
    capsys.readouterr()
    assert main(["runs", "show", "1"]) == 0
    assert "toy" in capsys.readouterr().out
    assert main(["runs", "show", "1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["settings"] == report["settings"]


def test_its_runs_are_listed_written_and_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASKED, "--limit", "1", "--out", "first"]) == 0
    capsys.readouterr()
    assert main(["runs", "list"]) == 0
    number, *_ = row = capsys.readouterr().out.splitlines()[1].split("\t")
    assert (number, row[2], row[5]) == ("1", "toy", "toy-rules")
    assert main(["runs", "write", "1", "--out", "again"]) == 0
    assert Path("again/scores.csv").read_bytes() == Path("first/scores.csv").read_bytes()
    assert main(["runs", "resume", "1", "--out", "whole"]) == 0
    assert len(read_judge_folder(Path("whole")).texts) == 3
    assert main([*ASKED, "--resume", "--out", "whole"]) == 0
    assert main([*ASKED, "--resume", "--letters", "--out", "other"]) == 2
    assert NO_SUCH_RUN in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--penalty", "2"], "--penalty: 2 is not between 0 and 1"),
        (["--most-named", "0"], "--most-named: 0 is not between 1 and 9"),
        (["--backend", "openai", "--model", "m"], "--backend: the toy asks no model; choose --backend rules"),
    ],
)
def test_what_it_refuses_is_said_in_the_commands_words(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*ASKED, *given, "--out", "out"]) == 2
    assert said in capsys.readouterr().err
    assert not Path("out").exists()


def test_what_it_kept_comes_back_and_records_of_its_own_are_refused() -> None:
    asked, _ = ask(toy_judge.KIND, {"letters": True}, {}, {}, name="mine")
    assert asked_from(toy_judge.KIND, json.loads(json.dumps(kept(asked)))) == asked
    by_model = replace(asked, model=ModelSettings(backend="openai", model="m"))
    assert (by_model.seed, by_model.environment) == (None, "base"), "it has no field for a seed"
    with pytest.raises(SettingsError) as refused:
        ask(toy_judge.KIND, {"letters": 1, "penalty": True}, {}, {})
    assert [one.name for one in refused.value.found_in] == ["penalty", "letters"]
    assert main([*ASKED, "--out", "out"]) == 0
    records = Path("out/records.jsonl")
    for wrong, said in (('"n_words": 1', "record, missing: 2 of 1 words"), ('"n_words": true', "n_words")):
        records.write_text(records.read_text().replace('"n_words": 3', wrong))
        with pytest.raises(InputError, match=said):
            read_judge_folder(Path("out"))
        records.write_text(records.read_text().replace(wrong, '"n_words": 3'))
    report = json.loads(Path("out/run.json").read_text())
    report["settings"]["toy"]["letters"] = 1
    Path("out/run.json").write_text(json.dumps(report))
    with pytest.raises(InputError, match="settings, toy, letters: 1 is neither true nor false"):
        read_judge_folder(Path("out"))


def page(model: type, given: dict) -> None:  # type: ignore[type-arg]  # run by itself, without imports
    import streamlit as st

    from pages.widgets import settings_form

    given["values"] = settings_form.render(model, "judges_toy", backend="rules")
    st.write("drawn")


def test_a_page_asks_for_its_fields() -> None:
    given: dict[str, Mapping[str, Any]] = {}
    at = AppTest.from_function(page, args=(toy_judge.ToyJudgeSettings, given), default_timeout=60).run()
    assert not at.exception
    assert at.number_input(key="judges_toy_penalty").label == "Penalty"
    at.number_input(key="judges_toy_penalty").set_value(0.25)
    at.checkbox(key="judges_toy_letters").check().run()
    asked, _ = ask(toy_judge.KIND, given["values"], {}, {})
    assert asked.settings == toy_judge.ToyJudgeSettings(penalty=0.25, letters=True)
