"""Options of judges that are refused before a run costs anything."""

import pytest

from core.errors import InputError
from core.runs.judge_settings import JudgeSettings, check_judge
from core.runs.model_settings import RunningSettings
from core.scoring.judges.settings import CefSettings, Mode


def examiner(mode: Mode, language: str) -> JudgeSettings:
    cef = CefSettings(mode=mode, source_language=language)
    return JudgeSettings("cef", backend="openai", model="tiny", base_url="http://127.0.0.1:1/v1", cef=cef)


@pytest.mark.parametrize("language", ["", "  ", "\n", "\u200b"])
def test_a_round_trip_needs_a_language_to_come_back_to(language: str) -> None:
    with pytest.raises(InputError) as refused:
        check_judge(examiner("round-trip", language), RunningSettings())
    (problem,) = refused.value.problems
    assert problem.startswith("--source-language: is empty")


def test_other_modes_do_not_translate() -> None:
    check_judge(examiner("reference-free", ""), RunningSettings())
    check_judge(examiner("round-trip", "German"), RunningSettings())
