"""The cross-examiner as a kind of run: its settings, its signature, its rows, what its records may hold."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from core.errors import InputError
from core.judges.cross_examination import (
    CEF_COMPONENTS,
    KIND,
    CefRecord,
    CefSettings,
    CrossExaminer,
    Examination,
)
from core.judges.kind import COMPARING_COLUMNS, Bench
from core.judges.questions import CrossQuestion
from core.llm.asking import Model
from core.llm.openai import OpenAIServer
from core.llm.prompts import find_prompt
from core.schema.scores import RatedSet, RatedText, ScorableOutput
from core.schema.settings import Remark, SettingsError, fields_of, option_word, page_word, said

SERVER = {"model": "tiny", "backend": "openai", "engine": "", "attempts": 3, "prompt-questions": "abc"}
UNUSUAL = {
    "answers": "each",
    "n_questions": 5,
    "questions": "mixed",
    "reask": True,
    "repeats": 3,
    "temperature": 0.7,
    "seed": 9,
}


def signature(**given: Any) -> str:
    return KIND.metrics("j", CefSettings(**given), SERVER)[0].signature


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {},
            "mode:reference-free|answers:batch|n-questions:10|questions:yes|repeats:1|temperature:0|seed:0",
        ),
        (
            {"mode": "reference", "source_language": "German", **UNUSUAL},
            "mode:reference|answers:each|n-questions:5|questions:mixed|repeats:3|temperature:0.7|seed:9",
        ),
        (
            {"mode": "round-trip", "source_language": "German", "reask": True},
            "mode:round-trip|answers:batch|n-questions:10|questions:yes|repeats:1|temperature:0|seed:0"
            "|source-language:German",
        ),
    ],
)
def test_a_signature_is_the_one_that_runs_have_always_had(given: dict[str, object], expected: str) -> None:
    asked = "model:tiny|backend:openai|attempts:3|prompt-questions:abc"
    assert signature(**given) == f"CEF|score:coverage|{asked}|{expected}"


@pytest.mark.parametrize(
    ("given", "changed", "another"),
    [
        ({}, {"reask": True}, False),
        ({}, {"source_language": "German"}, False),
        ({"mode": "reference"}, {"source_language": "German"}, False),
        ({"mode": "round-trip"}, {"source_language": "German"}, True),
        ({"mode": "round-trip"}, {"reask": True}, False),
        ({}, {"seed": 1}, True),
        ({}, {"n_questions": 5}, True),
        ({}, {"questions": "mixed"}, True),
        ({}, {"answers": "each"}, True),
        ({}, {"mode": "reference"}, True),
    ],
)
def test_a_signature_changes_with_what_changes_a_score(
    given: dict[str, Any], changed: dict[str, Any], another: bool
) -> None:
    before = signature(**given)
    assert (signature(**{**given, **changed}) != before) == another
    (name,) = changed
    assert (f"|{name.replace('_', '-')}:" in before) == another


def test_each_component_is_a_column() -> None:
    found = KIND.metrics("j", CefSettings(), SERVER)
    assert [metric.name for metric in found] == [f"j-{component}" for component in CEF_COMPONENTS]
    assert {metric.family for metric in found} == {"CEF"}
    assert "|score:consistency-code|" in found[3].signature


@pytest.mark.parametrize("mode", ["reference", "round-trip"])
def test_the_name_says_against_what_is_examined_unless_it_is_as_usual(mode: str) -> None:
    assert CefSettings(mode=mode).called("cef", by_rules=False) == ("cef", mode)
    assert CefSettings().called("cef", by_rules=False) == ("cef",)


@pytest.mark.parametrize(
    ("given", "slots"),
    [
        ({}, [("questions", "questions-yes", "yes"), ("answers", "answers", None)]),
        (
            {"questions": "mixed", "answers": "each"},
            [("questions", "questions-mixed", "mixed"), ("answer", "answer", None)],
        ),
        (
            {"mode": "round-trip"},
            [
                ("questions", "questions-yes", "yes"),
                ("answers", "answers", None),
                ("translate", "translate-back", None),
            ],
        ),
    ],
)
def test_the_prompts_are_those_of_the_mode_and_exist(given: dict[str, object], slots: list[Any]) -> None:
    found = CefSettings(**given).prompts(by_rules=False)  # type: ignore[arg-type]
    assert [(one.purpose, one.shipped, one.task) for one in found] == slots
    for one in found:
        prompt = find_prompt(one.shipped, one.purpose, one.task)
        assert (prompt.purpose, prompt.task) == (one.purpose, one.task)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mode", "source"),
        ("answers", "all"),
        ("n_questions", 0),
        ("n_questions", 101),
        ("questions", "no"),
        ("repeats", 0),
        ("repeats", 101),
        ("temperature", 2.1),
        ("seed", -1),
        ("seed", 2**53),
    ],
)
def test_what_a_setting_cannot_be_is_a_problem_of_its_field(name: str, value: object) -> None:
    problems: list[Remark] = []
    assert CefSettings.read({name: value}, problems) is None
    assert [one.name for one in problems] == [name]


@pytest.mark.parametrize("language", ["", " \n"])
def test_a_round_trip_needs_a_language(language: str) -> None:
    (problem,) = CefSettings(mode="round-trip", source_language=language).problems("openai")
    fields = fields_of(CefSettings)
    assert problem.name == "source_language"
    assert said(problem, fields, option_word).startswith("--source-language: is empty")
    assert said(problem, fields, page_word).startswith("Language to translate back into: is empty")
    assert list(CefSettings(source_language=language).problems("openai")) == []
    assert list(CefSettings(mode="round-trip").problems("openai")) == []


def test_a_form_asks_for_a_language_only_where_it_translates() -> None:
    assert CefSettings().idle("openai") == {"source_language"}
    assert CefSettings(mode="reference").idle("openai") == {"source_language"}
    assert CefSettings(mode="round-trip").idle("openai") == frozenset()


def test_options_keep_their_names() -> None:
    assert [one.option for one in fields_of(CefSettings).values()] == [
        "--mode",
        "--answers",
        "--questions",
        "--kind-of-questions",
        "--reask",
        "--repeats",
        "--temperature",
        "--seed",
        "--source-language",
    ]
    for one in fields_of(CefSettings).values():
        assert not one.about.help.endswith("."), one.name
        assert one.about.words.keys() in ({}.keys(), {""}, set(one.choices)), one.name


def test_settings_of_an_older_run_are_read() -> None:
    kept = {"mode": "reference", "n_questions": 4, "gone": 1}
    assert CefSettings(**kept) == CefSettings(mode="reference", n_questions=4)  # type: ignore[arg-type]


def rated(*outputs: ScorableOutput) -> RatedSet:
    return RatedSet(tuple(map(RatedText, outputs)), "0" * 64, "texts.csv")


def output(item: str, source: str | None = None, reference: str | None = None) -> ScorableOutput:
    return ScorableOutput(item, "s", "An answer of several words.", reference, source)


def checked(settings: CefSettings, *outputs: ScorableOutput) -> list[str]:
    found = KIND.check(settings, Bench(), rated(*outputs), False)
    return [said(one, fields_of(CefSettings), option_word) for one in found]


def test_a_file_without_what_texts_are_compared_with_is_refused() -> None:
    for settings, given, instead in (
        (CefSettings(), output("1"), False),
        (CefSettings(), output("1", reference="r"), True),
        (CefSettings(mode="round-trip"), output("1", reference="r"), True),
        (CefSettings(mode="reference"), output("1", source="s"), False),
    ):
        with pytest.raises(SettingsError) as caught:
            checked(settings, given)
        (problem,) = caught.value.in_words(option_word).problems
        needed = "reference" if settings.mode == "reference" else "source"
        assert problem.startswith(f"texts.csv has no {needed} for any text")
        assert ("--mode reference" in problem) == instead


def test_texts_that_lack_it_and_questions_taken_for_sources_are_told() -> None:
    assert checked(CefSettings(), output("1", source="A long text about mills.")) == []
    (lacking,) = checked(CefSettings(), output("1", source="A long text about mills."), output("2"))
    assert lacking.startswith("1 of 2 texts have no source")
    (asked,) = checked(CefSettings(), output("1", source="When?"))
    assert asked.startswith("the source of 1 of 1 texts looks like a question")
    assert "--mode reference" in asked
    assert checked(CefSettings(mode="reference"), output("1", source="When?", reference="r")) == []


def test_repeats_at_temperature_0_are_told() -> None:
    given = output("1", source="A long text about mills.")
    (repeated,) = checked(CefSettings(repeats=3), given)
    assert repeated.startswith("3 repeats at temperature 0")
    assert "--temperature" in repeated
    assert checked(CefSettings(repeats=3, temperature=0.5), given) == []


def test_the_kind_opens_its_judge_for_a_model() -> None:
    names = {"questions": "questions-yes", "answers": "answers"}
    bench = Bench({purpose: find_prompt(name) for purpose, name in names.items()})
    model = Model(OpenAIServer("http://127.0.0.1:9/v1", "tiny"))
    assert isinstance(KIND.open(CefSettings(), bench)(model), CrossExaminer)
    with pytest.raises(InputError):
        KIND.open(CefSettings(answers="each"), bench)(model)


RECORD = CefRecord(
    (
        Examination(
            0,
            (
                CrossQuestion("a?", "YES", "NO", again="IDK"),
                CrossQuestion("b?", "NO", None, "unparsed", "eyes"),
                CrossQuestion("c?", "YES", "YES", again_reason="refused"),
            ),
            (CrossQuestion("d?", "IDK", "YES"),),
        ),
        Examination(1, None, None, (("questions from source", "cut off"),)),
    )
)


def test_a_row_stands_for_each_question_and_each_failed_step() -> None:
    rows = list(KIND.details(RECORD))
    question = {"what": "question", "side": "source", "repeat": 0, "again": None, "why": "", "reason": None}
    assert rows == [
        {**question, "text": "a?", "expected": "YES", "verdict": "NO", "again": "IDK"},
        {**question, "text": "b?", "expected": "NO", "verdict": None, "why": "eyes", "reason": "unparsed"},
        {**question, "text": "c?", "expected": "YES", "verdict": "YES", "reason": "refused"},
        {**question, "side": "text", "text": "d?", "expected": "IDK", "verdict": "YES"},
        {"what": "step: questions from source", "repeat": 1, "reason": "cut off"},
    ]
    assert KIND.detail_columns == COMPARING_COLUMNS
    assert {name for row in rows for name in row} == set(COMPARING_COLUMNS)


def test_a_record_of_an_older_run_is_read_and_kept_as_it_was() -> None:
    question = {"text": "a?", "expected": "YES", "answer": None, "reason": "unparsed", "said": "eyes"}
    kept = {
        "examinations": [
            {
                "repeat": 0,
                "from_source": [{**question, "again": "YES", "again_reason": None}],
                "from_text": None,
                "reasons": [["questions from text", "cut off"]],
            }
        ],
        "back_translation": "back",
    }
    adapter = TypeAdapter(KIND.Record)
    record = adapter.validate_python(kept)
    asked = CrossQuestion("a?", "YES", None, "unparsed", "eyes", "YES")
    failed = (("questions from text", "cut off"),)
    assert record == CefRecord((Examination(0, (asked,), None, failed),), "back")
    assert adapter.dump_python(record, mode="json") == kept


@pytest.mark.parametrize(
    ("repeats", "problems"),
    [
        ((0, 1, 2), []),
        ((0, 0), ["examinations, 2: a second entry with the repeat 0"]),
        ((-1,), ["examinations, 1, repeat: "]),
        ((0, 100), ["examinations, 2, repeat: "]),
    ],
)
def test_repeats_that_there_cannot_be_are_problems_of_a_record(
    repeats: tuple[int, ...], problems: list[str]
) -> None:
    found = list(KIND.record_problems(CefRecord(tuple(Examination(one, (), ()) for one in repeats)), "text"))
    assert len(found) == len(problems)
    for one, start in zip(found, problems, strict=True):
        assert one.startswith(start)


def test_conciseness_alone_may_be_negative() -> None:
    for component in CEF_COMPONENTS:
        lowest, highest = KIND.score_bounds(f"cef-tiny-{component}")
        assert highest == 1
        assert (lowest < -1000) if component == "conciseness" else (lowest == 0)
