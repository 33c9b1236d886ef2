"""Options of judges that are refused before a run costs anything."""

import math
from dataclasses import fields, replace
from typing import Any

import pytest

from core.errors import InputError
from core.judges.cross_examination.judge import CefSettings
from core.judges.kind import JudgeKind, JudgeSettings
from core.schema import JUDGE_KINDS


def examiner(mode: Mode, language: str) -> JudgeSettings:
    cef = CefSettings(mode=mode, source_language=language)
    return JudgeSettings("cef", backend="openai", model="tiny", base_url="http://127.0.0.1:1/v1", cef=cef)


@pytest.mark.parametrize("language", ["", "  ", "\n", "\u200b"])
def test_a_round_trip_needs_a_language_to_come_back_to(language: str) -> None:
    with pytest.raises(InputError) as refused:
        check_judge(examiner("round-trip", language), Running())
    (problem,) = refused.value.problems
    assert problem.startswith("--source-language: is empty")


def test_other_modes_do_not_translate() -> None:
    check_judge(examiner("reference-free", ""), Running())
    check_judge(examiner("round-trip", "German"), Running())


def refused(settings: JudgeSettings) -> tuple[str, ...]:
    try:
        check_judge(settings, Running())
    except InputError as problem:
        return tuple(problem.problems)
    return ()


def numbers_of(kind: JudgeKind) -> list[str]:
    judge = JudgeSettings(kind)
    return [field.name for field in fields(judge.of_kind) if field.name in SETTING_BOUNDS]


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in JUDGE_KINDS for name in numbers_of(kind)]
)
def test_a_command_takes_the_numbers_that_a_folder_may_hold(kind: JudgeKind, name: str) -> None:
    judge = JudgeSettings(kind, backend="openai", model="tiny", base_url="http://127.0.0.1:1/v1")
    lowest, highest = SETTING_BOUNDS[name]
    beyond: tuple[Any, ...] = (lowest - 1, highest + 1, -lowest - 1, math.nan, 2**64, 1e17, True)
    for value in (lowest, highest, *beyond):
        given = replace(judge, **{kind: replace(judge.of_kind, **{name: value})})
        read = list(settings_problems({name: value}))
        said = refused(given)
        assert (len(said), len(read)) == (
            (0, 0) if value is not True and lowest <= value <= highest else (1, 1)
        )
        option = "--questions" if name == "n_questions" else f"--{name.replace('_', '-')}"
        assert all(problem.startswith(f"{option}: ") for problem in said)


def test_every_number_has_its_bounds() -> None:
    assert numbers_of("rubric") == ["repeats", "temperature", "seed"]
    assert numbers_of("claims") == ["beta", "temperature", "seed"]
    assert numbers_of("cef") == ["n_questions", "repeats", "temperature", "seed"]
    assert numbers_of("automqm") == numbers_of("direct") == ["n_examples", "repeats", "temperature", "seed"]
    assert numbers_of("quality") == ["shots", "held_out", "shuffled_words", "repeats", "temperature", "seed"]
