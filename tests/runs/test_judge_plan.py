"""What a judge's run is refused for before it costs anything, and what its user is told."""

import json
from dataclasses import replace
from typing import Any

import pytest
from judge_runs import RUNNING, settings, texts

from core.errors import InputError
from core.judges.answers import AnswersSettings, QuestionSet
from core.judges.claims.settings import ClaimsSettings
from core.judges.cross_examination.judge import CefSettings
from core.judges.cross_examination.record import CrossQuestion
from core.judges.kind import JudgeSettings
from core.llm.prompts import Prompt, find_prompt
from core.schema.scores import ScoredRow
from core.store import Store
from core.store.runs import list_runs

URL = "http://127.0.0.1:1/v1"


@pytest.mark.parametrize(
    ("kind", "fields", "names"),
    [
        ("rubric", {}, ["rubric"]),
        ("claims", {}, ["decompose-low-low", "verify"]),
        ("claims", {"atomicity": "high", "coverage": "low", "verifier": "nli"}, ["decompose-high-low"]),
        ("claims", {"backend": "rules", "verifier": "rules"}, []),
        ("cef", {}, ["questions-yes", "answers"]),
        ("cef", {"answers": "each", "questions": "mixed"}, ["questions-mixed", "answer"]),
        ("cef", {"mode": "round-trip"}, ["questions-yes", "answers", "translate-back"]),
        ("answers", {"answers": "each"}, ["answer"]),
        ("alignment", {}, ["align"]),
        ("alignment", {"backend": "rules"}, []),
    ],
)
def test_each_judge_asks_with_its_own_prompts(kind: Any, fields: dict[str, Any], names: list[str]) -> None:
    chosen = JudgeSettings(kind, **({"backend": "openai", "model": "m"} | fields))
    assert list(default_judge_prompts(chosen).values()) == names
    assert [find_prompt(name).dump() for name in names] == list(choose_judge_prompts(chosen).values())


def prompts(*names: str) -> list[Prompt]:
    return [find_prompt(name) for name in names]


def test_another_prompt_takes_the_place_of_the_shipped_one() -> None:
    judge = JudgeSettings("rubric", backend="openai", model="m")
    assert list(choose_judge_prompts(judge, prompts("rubric-text"))) == ["rubric-text"]
    own = replace(find_prompt("answers"), name="mine", user="$text\n$questions")
    found = choose_judge_prompts(JudgeSettings("cef", backend="openai", model="m"), [own])
    assert "mine" in found["answers"]
    assert "questions-yes" in found["questions"]


def test_prompts_that_do_not_fit_are_named_together() -> None:
    chosen = prompts("answer", "questions-mixed", "answers", "answers", "rubric")
    with pytest.raises(InputError, match="The prompts do not fit") as refused:
        choose_judge_prompts(JudgeSettings("cef", backend="openai", model="m"), chosen)
    assert list(refused.value.problems) == [
        "prompt answer: is for answer; this run asks for questions, answers",
        "prompt questions-mixed: is for the task mixed, the run's is yes",
        "prompt answers: is the second one for answers; choose one",
        "prompt rubric: is for rubric; this run asks for questions, answers",
    ]
    with pytest.raises(InputError) as refused:
        choose_judge_prompts(
            JudgeSettings("rubric", backend="openai", model="m"), prompts("rubric", "rubric-text")
        )
    assert list(refused.value.problems) == [
        "prompt rubric-text: is the second one for the verdict (it is for rubric-text, and prompt rubric for rubric); "
        "choose one"
    ]
    with pytest.raises(InputError) as refused:
        choose_judge_prompts(
            JudgeSettings("claims", verifier="rules"), prompts("verify")
        )
    assert list(refused.value.problems) == [
        "prompt verify: is for verify; this run asks no model, so it needs no prompt"
    ]


def rows(**fields: str) -> bytes:
    lines = [
        {"item_id": str(n), "system": "s", "text": "It was built in 1900 by Ida Holm.", **fields}
        for n in range(4)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def test_a_file_in_which_nothing_can_be_judged_makes_no_run(store: Store) -> None:
    for kind, data, said in (
        ("rubric", rows(source="Who?"), "has no reference for any text"),
        ("claims", rows(), "has no reference for any text"),
        (
            "cef",
            rows(),
            "has no source for any text, and this judge compares each text with it: add the column.",
        ),
        ("cef", rows(reference="In 1900."), r"or compare with the references \(--mode reference\)"),
    ):
        with pytest.raises(InputError, match=said):
            create(store, data, "t.jsonl", settings(kind, URL), RUNNING)
    assert list_runs(store) == []


def test_a_question_in_the_place_of_a_source_is_told(store: Store) -> None:
    asked = rows(source="Who built it?", reference="Ida Holm built it.")
    _, notes = create_told(store, asked, "t.jsonl", settings("cef", URL), RUNNING)
    (note,) = notes
    assert "the source of 4 of 4 texts looks like a question" in note
    assert "--mode reference" in note
    for chosen in (settings("cef", URL, mode="reference"), settings("rubric", URL)):
        assert create(store, asked, "t.jsonl", chosen, RUNNING)[1].notes == ()
    assert create(store, texts(2), "t.jsonl", settings("cef", URL), RUNNING)[1].notes == ()


def test_everything_wrong_with_the_settings_is_named_together(store: Store) -> None:
    wrong = settings(
        "cef", URL, attempts=0, name="a b", n_questions=0, repeats=0, temperature=3
    )
    with pytest.raises(InputError) as refused:
        create(store, texts(1), "t.jsonl", wrong, RUNNING)
    assert [problem.split(":")[0] for problem in refused.value.problems] == [
        "--attempts",
        "--name",
        "--questions",
        "--repeats",
        "--temperature",
    ]
    with pytest.raises(InputError, match="--rubric: name a rubric"):
        create(store, texts(1), "t.jsonl", settings("rubric", URL, rubric_text=""), RUNNING)
    with pytest.raises(InputError, match=r"rubric\.yaml"):
        create(store, texts(1), "t.jsonl", settings("rubric", URL, rubric_text="levels: 3"), RUNNING)
    with pytest.raises(InputError, match="--limit: 0 is too small"):
        create(store, texts(1), "t.jsonl", settings("rubric", URL), RUNNING, limit=0)
    assert list_runs(store) == []


def test_what_a_run_keeps_is_what_was_asked_for(store: Store) -> None:
    chosen = settings("claims", f"{URL}/", atomicity="high", beta=2)
    run, _ = create(store, texts(1), "t.jsonl", chosen, RUNNING)
    assert run.asked == replace(chosen, base_url=URL)
    described = describe_judge(run.asked)
    assert described["prompts"]["decompose"]["name"] == "decompose-high-low"
    assert described["name"] == "claims-tiny"
    assert not {"rubric", "cef", "rubric_text"} & set(described)


def test_a_look_at_judges_needs_something_to_look_at(store: Store) -> None:
    empty = QuestionSet(ScoredRow("1", "s"), "text", "a", "d", ())

    with pytest.raises(InputError, match="holds no question to answer"):
        create(store, write_pieces([empty]), "q.jsonl", settings("answers", URL), RUNNING)
    with pytest.raises(InputError, match="holds no questions"):
        create(store, b"", "q.jsonl", settings("answers", URL), RUNNING)
    asked = replace(empty, questions=(CrossQuestion("Is it?"),))
    with pytest.raises(InputError, match="cannot be imported"):
        create(store, write_pieces([asked]), "q.jsonl", settings("alignment", URL), RUNNING)
    with pytest.raises(InputError, match="holds no texts"):
        create(store, write_pieces([]), "q.jsonl", settings("alignment", URL), RUNNING)
    with pytest.raises(InputError, match="rules cannot be this judge"):
        create(store, write_pieces([asked]), "q.jsonl", JudgeSettings("answers"), RUNNING)
