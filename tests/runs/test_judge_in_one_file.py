"""Every kind of judge goes through its file unchanged."""

import pytest
from helpers.texts.judge_runs import settings, takes_a_model

from core.errors import InputError
from core.llm.prompts import shipped_prompts
from core.runs.asked import kept
from core.runs.judging.in_one_file import judge_file, read_judge, write_judge
from core.runs.kinds import kinds_that

URL = "http://127.0.0.1:9/v1"


JUDGES = [kind for kind in kinds_that("judging") if kind.reads != "pairs"]


@pytest.mark.parametrize("kind", [kind.name for kind in JUDGES if takes_a_model(kind)])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {
            "top_p": 0.00012,
            "stop": ("END", "no"),
            "extra_body": {"a": {"1": [None, True, 1e-9, "2026-01-01"]}},
        },
        {"temperature": None, "reasoning_effort": "low", "name": "my-own", "max_tokens": 99},
    ],
)
def test_what_is_read_equals_what_was_written(kind: str, given: dict[str, object]) -> None:
    asked = settings(kind, URL, **given)  # type: ignore[arg-type]  # fields of several settings
    written = write_judge(judge_file(asked))
    found = read_judge(written.decode(), "judge.yaml")
    assert found.request == asked
    assert kept(found.request) == kept(asked)
    assert found.edited == ()
    assert write_judge(found) == written


def test_a_prompt_of_ones_own_needs_no_other_file() -> None:
    (prompt,) = [one for one in shipped_prompts("rubric-text") if one.name == "rubric-text"]
    asked = settings("rubric", URL, prompts=[prompt])
    found = read_judge(write_judge(judge_file(asked)).decode(), "judge.yaml")
    assert found.request.prompts == asked.prompts == {"rubric-text": prompt.dump()}


@pytest.mark.parametrize("kind", [kind.name for kind in JUDGES if kind.Settings.MODEL_FREE])
def test_rules_need_neither_model_nor_prompt(kind: str) -> None:
    asked = settings(kind, URL, backend="rules")
    found = read_judge(write_judge(judge_file(asked)).decode(), "judge.yaml")
    assert found.request == asked
    assert found.request.by_rules


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-abcdefghij0123456789",
        "AKIAABCDEFGHIJKLMNOP",
        f"ghp_{'a1' * 18}",
        f"AIza{'b2' * 17}c",
        "-----BEGIN RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_key_is_not_written(key: str) -> None:
    asked = settings("rubric", URL, extra_body={"user": key})
    with pytest.raises(InputError) as refused:
        write_judge(judge_file(asked))
    assert len(refused.value.problems) == 1
    assert key not in str(refused.value)
