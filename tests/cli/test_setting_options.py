"""Options made from the fields of settings."""

import argparse
import math
from collections.abc import Collection
from typing import Any

import pytest
from helpers.toys.settings import ToyAnalysis, ToySettings

from core import cli
from core.cli.shared.run_options import add_run_options, requested_run
from core.cli.shared.setting_options import add_settings, settings_given
from core.errors import InputError
from core.judges.rubric import RubricSettings
from core.llm.call_settings import CallSettings
from core.runs.asked import ModelSettings, Running
from core.runs.kinds import KINDS
from core.schema.runs import Kind
from core.schema.settings import Settings, fields_of, setting


def command_of(model: type[Settings], without: Collection[str] = ()) -> argparse.ArgumentParser:
    command = argparse.ArgumentParser(prog="toy")
    add_settings(command, model, without=without)
    return command


def given(typed: str, model: type[Settings] = ToySettings) -> dict[str, Any]:
    return settings_given(command_of(model).parse_args(typed.split()), model)


def helps(model: type[Settings]) -> dict[str, str]:
    """Option -> its help, on one line, as argparse prints it."""
    command = command_of(model)
    formatter = command._get_formatter()
    return {
        action.option_strings[0]: formatter._expand_help(action)
        for action in command._actions
        if action.dest != "help"
    }


def test_what_is_not_given_leaves_nothing_behind() -> None:
    assert vars(command_of(ToySettings).parse_args([])) == {}
    assert given("") == {}
    assert ToySettings.checked(given("")) == ToySettings()


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("--tone strict", {"tone": "strict"}),
        ("--weight 2", {"weight": 2.0}),
        ("--times 3", {"rounds": 3}),
        ("--loud", {"loud": True}),
        ("--no-polite", {"polite": False}),
        ("--polite", {"polite": True}),
        ("--language=", {"language": ""}),
        ("--language {tone}%s", {"language": "{tone}%s"}),
        ("--only b --only a --only b", {"only": ("b", "a")}),
        ("--limit 5 --model x --device cuda", {"limit": 5, "model": "x", "device": "cuda"}),
        (
            "--tone kind --weight 1 --times 2",
            {"tone": "kind", "weight": 1.0, "rounds": 2},
        ),  # as usual, but given
    ],
)
def test_each_shape_of_field_is_read(typed: str, values: dict[str, Any]) -> None:
    found = given(typed)
    assert found == values
    assert list(map(type, found.values())) == list(map(type, values.values()))
    assert ToySettings.checked(found) == ToySettings(**values)


def test_what_is_given_goes_before_what_a_run_kept() -> None:
    kept = ToySettings(rounds=7, loud=True, only=("a",))
    assert kept.but(**given("--times 2 --only b")) == ToySettings(rounds=2, loud=True, only=("b",))


def test_a_word_that_is_not_offered_is_refused_with_those_that_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        given("--tone loud")
    said = capsys.readouterr().err
    assert "--tone" in said
    assert all(word in said for word in fields_of(ToySettings)["tone"].choices)


@pytest.mark.parametrize("number", ["x", "", "1.5.", "nan", "inf", "-inf", "0", "1e400"])
def test_a_number_that_cannot_be_used_is_a_problem_beside_the_others(number: str) -> None:
    options = command_of(ToySettings).parse_args([f"--weight={number}", f"--times={number}", "--limit", "0"])
    problems: list[Any] = []
    assert ToySettings.read(settings_given(options, ToySettings), problems) is None
    assert [one.name for one in problems] == ["weight", "rounds", "limit"]


def test_fields_that_the_command_takes_in_another_way_are_neither_offered_nor_read() -> None:
    command = command_of(ToySettings, without=("language", "rounds"))
    command.add_argument("--language", default="cs")
    assert "--times" not in command.format_help()
    options = command.parse_args(["--loud"])
    assert settings_given(options, ToySettings, without=("language", "rounds")) == {"loud": True}


def test_a_field_may_read_what_is_typed() -> None:
    from core.generation.damage import DamageSettings
    from core.generation.factual.steps import FactualSettings

    assert FactualSettings.checked(given("--levels A0-A3", FactualSettings)).n_levels == 3
    assert FactualSettings.checked(given("--levels 3", FactualSettings)).n_levels == 3
    assert DamageSettings.checked(given("--levels 0,3-4", DamageSettings)).levels == (0, 3, 4)
    with pytest.raises(InputError):
        FactualSettings.checked(given("--levels B", FactualSettings))


def test_a_help_says_what_the_field_does_and_its_default() -> None:
    assert helps(ToySettings) == {
        "--tone": "how it speaks (default kind)",
        "--weight": "1: alike, above 1 recall; 90 % is usual (default 1)",
        "--times": "how often it is asked (default 2 rounds)",
        "--loud": "also with --tone strict",
        "--polite": "whether it says please (default on)",
        "--language": "of the texts (default their own tags)",
        "--only": "system whose texts are judged; may be repeated (default all)",
        "--limit": "texts at most (default: all there are)",
        "--model": "that verifies",
        "--free": "without bounds (default 0.5)",
        "--device": "of the model",
        "--checker": "who checks; unless chosen, whoever is there",
    }


def test_a_rubrics_options_are_those_of_its_fields_with_their_defaults() -> None:
    said = helps(RubricSettings)
    assert list(said) == ["--order", "--repeats", "--temperature", "--seed"]
    for (option, text), one in zip(said.items(), fields_of(RubricSettings).values(), strict=True):
        assert option == one.option
        assert text == f"{one.about.help} (default {one.usual})"
    options = given("--order both --repeats 3 --temperature 0.7 --seed 4", RubricSettings)
    assert RubricSettings.checked(options) == RubricSettings(order="both", repeats=3, temperature=0.7, seed=4)


@pytest.mark.parametrize(
    "kind", [one for one in KINDS.values() if not one.by_metrics], ids=lambda one: one.name
)
def test_a_command_groups_its_options_by_what_they_are_about(kind: Kind) -> None:
    command = argparse.ArgumentParser()
    add_run_options(command, kind)
    groups = {
        group.title: [one.option_strings[0] for one in group._group_actions]
        for group in command._action_groups
        if group.title not in ("positional arguments", "options")
    }
    own, calls = kind.Settings.model_fields.keys(), CallSettings.model_fields.keys()
    shapes: list[tuple[str, type[Settings], Collection[str]]] = [
        ("settings", kind.Settings, ()),
        ("model", ModelSettings, calls),
        ("every call of the model", CallSettings, own),  # a temperature of the kind's own is the only one
        ("run", Running, ("engine",)),  # `--engine` of the model serves both
    ]
    assert list(groups) == [title for title, _, _ in shapes]
    for title, model, without in shapes:
        of_fields = [one.option for name, one in fields_of(model).items() if name not in without]
        assert [one for one in groups[title] if one in of_fields] == of_fields
    assert {"--limit", "--resume", "--db"} < set(groups["run"])


def test_usage_names_choices_and_placeholders() -> None:
    usage = " ".join(command_of(ToySettings).format_usage().split())
    for part in (
        "[--tone {kind,strict}]",
        "[--times N]",
        "[--only SYSTEM]",
        "[--loud]",
        "[--polite | --no-polite]",
    ):
        assert part in usage


def test_two_fields_of_one_option_are_a_defect() -> None:
    class Twice(Settings):
        one: int = setting(0, "One", "first", option="same")
        same: int = setting(0, "Same", "second")

    with pytest.raises(argparse.ArgumentError):
        command_of(Twice)


def run_toy(monkeypatch: pytest.MonkeyPatch, *typed: str) -> int:
    """Through the command line's own door."""
    command = command_of(ToySettings)
    command.set_defaults(
        noun="toy", run=lambda options: ToySettings.checked(settings_given(options, ToySettings))
    )
    monkeypatch.setattr(cli, "parser", lambda _: command)
    return cli.main(typed)


def test_a_problem_of_settings_names_options_on_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_toy(monkeypatch, "--times", "0", "--weight", "{tone}") == 2
    assert capsys.readouterr().err.splitlines() == [
        "The run cannot start",
        "  - --weight: '{tone}' is not a number between 0.001 and 1000",
        "  - --times: 0 is not between 1 and 100",
    ]
    assert run_toy(monkeypatch, "--times", "1", "--weight", str(math.pi)) == 0


def test_other_mistakes_are_said_as_before(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_toy(monkeypatch, "--language", "\udcff") == 2
    assert "--language: \\udcff is not valid UTF-8" in capsys.readouterr().err


def requested(*typed: str) -> tuple[Any, Any]:
    command = argparse.ArgumentParser(prog="toy")
    add_run_options(command, KINDS["damage"], usual="rules")
    options = command.parse_args([*typed, "--out", "x"])
    return requested_run(options, KINDS["damage"])


def test_one_option_names_the_engine_of_the_run_and_arguments_of_vllm() -> None:
    assert requested()[1].engine == "local"
    asked, running = requested("--engine", "ray", "--address", "10.0.0.1:6379")
    assert (asked.model.engine, running.engine, running.address) == ({}, "ray", "10.0.0.1:6379")
    model = ("--backend", "vllm", "--model", "tiny")
    asked, running = requested(*model, "--engine", "quantization=awq", "--engine", "ray")
    assert (asked.model.engine, running.engine) == ({"quantization": "awq"}, "ray")
    asked, running = requested(*model, "--engine", "quantization=awq")
    assert (asked.model.engine, running.engine) == ({"quantization": "awq"}, "local")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--engine", "rays"], "--engine: 'rays' is neither local nor ray, nor NAME=VALUE"),
        (["--engine", "ray", "--engine", "local"], "--engine: ray and local are two engines"),
        (["--address", "10.0.0.1:6379"], "Address of the Ray cluster: has no effect"),
    ],
)
def test_an_engine_that_is_none_is_refused(typed: list[str], said: str) -> None:
    with pytest.raises(InputError) as refused:
        requested(*typed)
    assert said in str(refused.value)


def test_an_analysis_without_a_model_has_its_options() -> None:
    assert helps(ToyAnalysis) == {
        "--margin": "smallest gain that counts (default 0.1)",
        "--epsilon": "share of texts (default 0.2)",
        "--advantage": "to suppose (default the observed one)",
        "--resamples": "how often (default 1000)",
        "--items": "numbers of items (default 30,50,100,200)",
        "--weights": "of the votes",
        "--order": "labels from worst to best (default alphabetical)",
    }
    assert "[--items N,...]" in command_of(ToyAnalysis).format_usage()
    assert ToyAnalysis.checked(given("", ToyAnalysis)) == ToyAnalysis()
    typed = "--margin 1 --advantage 0.5 --items 30,50 --weights 1,2.5 --order fail,partial,pass"
    assert ToyAnalysis.checked(given(typed, ToyAnalysis)) == ToyAnalysis(
        margin=1, advantage=0.5, items=(30, 50), weights=(1, 2.5), order=("fail", "partial", "pass")
    )


def test_every_wrong_number_of_a_list_is_a_problem_of_its_option() -> None:
    problems: list[Any] = []
    assert ToyAnalysis.read(given("--margin 0 --items 1,x,30 --weights 0", ToyAnalysis), problems) is None
    assert [one.name for one in problems] == ["margin", "items", "items", "weights"]
