"""Questions of a cross-examination become sets that any model can answer from the text they were made from."""

import asyncio
from dataclasses import replace

import pytest
from helpers.processes.scripted_server import ScriptedServer

from core.errors import InputError
from core.judges.answers import KIND, AnswersSettings, QuestionSet, check_together, question_sets_of
from core.judges.cross_examination import CefRecord, Examination
from core.judges.kind import Done
from core.judges.questions import CrossQuestion
from core.llm.asking import Model
from core.llm.openai import OpenAIServer
from core.llm.prompts import find_prompt
from core.schema.scores import JudgedText, JudgeOutput, ScoredRow
from core.schema.settings import Remark

SOURCE = (
    CrossQuestion("s1?", "YES", "IDK", again="NO"),
    CrossQuestion("s2?", "NO", None, "unparsed", "eyes"),
)


def text_of(
    system: str, *examinations: Examination, back: str | None = None, item: str = "mill", document: str = "D"
) -> JudgedText:
    record = CefRecord(tuple(examinations), back)
    row = ScoredRow(item, system, "2", "de", {"shots": "few"})
    return JudgedText(row, f"text of {system}", document, None, {}, {}, record)


def output_of(*texts: JudgedText) -> JudgeOutput:
    return JudgeOutput("cef-tiny", "cef", "org/tiny", {}, (), texts)


def examination(
    *text: str, repeat: int = 0, source: tuple[CrossQuestion, ...] | None = SOURCE
) -> Examination:
    return Examination(repeat, source, tuple(CrossQuestion(one, "YES", "YES") for one in text))


def test_questions_from_a_source_stand_once_an_item_those_of_texts_each() -> None:
    unanswered = (CrossQuestion("s1?", "YES"), CrossQuestion("s2?", "NO"))
    sets = question_sets_of(
        output_of(
            text_of("a", examination("a1?"), examination("later?", repeat=1)),
            text_of("b", examination("b1?", "b2?")),
        )
    )
    source_row = ScoredRow("mill", "", None, "de")
    labels = {"shots": "few"}
    assert sets == (
        QuestionSet(source_row, "source", "org/tiny", "D", unanswered),
        QuestionSet(
            ScoredRow("mill", "a", "2", "de", labels),
            "text",
            "org/tiny",
            "text of a",
            (CrossQuestion("a1?"),),
        ),
        QuestionSet(
            ScoredRow("mill", "b", "2", "de", labels),
            "text",
            "org/tiny",
            "text of b",
            (CrossQuestion("b1?"), CrossQuestion("b2?")),
        ),
    )


def test_other_questions_or_items_are_other_sets_and_missing_ones_none() -> None:
    other = (CrossQuestion("s3?"),)
    sets = question_sets_of(
        output_of(
            text_of("a", examination()),
            text_of("b", examination(source=other)),
            text_of("c", examination(source=None)),
            text_of("d", examination(), item="barn"),
            text_of("e"),
            JudgedText(ScoredRow("x", "f"), "t", None, None, {}, {}, None),
        )
    )
    assert [(one.row.item_id, one.side, len(one.questions)) for one in sets] == [
        ("mill", "source", 2),
        ("mill", "source", 1),
        ("barn", "source", 2),
    ]


def test_of_a_round_trip_the_back_translation_is_the_text() -> None:
    sets = question_sets_of(output_of(text_of("a", examination("a1?"), back="translated back")))
    assert [one.document for one in sets] == ["D", "translated back"]


def test_a_model_answers_a_set_and_leaves_the_rest_of_it_alone() -> None:
    asked = QuestionSet(
        ScoredRow("mill", ""), "source", "org/tiny", "D", (CrossQuestion("s1?"), CrossQuestion("s2?", "NO"))
    )

    async def answered(server: ScriptedServer) -> Done:
        client = OpenAIServer(server.url, "tiny", retries=0)
        await client.start()
        try:
            settings = AnswersSettings(answers="each", seed=3)
            answer = KIND.open(settings, {"answer": find_prompt("answer")})(Model(client))
            return await answer(asked)
        finally:
            await client.close()

    with ScriptedServer(lambda body, n: "IDK" if "s2?" in str(body["messages"]) else "eyes") as server:
        found, failures, temporary = asyncio.run(answered(server))
    assert (failures, temporary) == ((), False)
    assert found.questions == (
        CrossQuestion("s1?", "YES", None, "unparsed", "eyes"),
        CrossQuestion("s2?", "NO", "IDK"),
    )
    assert (found.row, found.side, found.author, found.document) == (asked.row, "source", "org/tiny", "D")
    assert {body["seed"] for body in server.bodies} == {3}


ASKED = QuestionSet(
    ScoredRow("mill", ""),
    "source",
    "org/tiny",
    "D",
    (CrossQuestion("s1?", "YES", "NO"), CrossQuestion("s2?", "NO", None, "unparsed", "eyes")),
)


@pytest.mark.parametrize(("answers", "name"), [("batch", "answers"), ("each", "answer")])
def test_the_prompt_is_that_of_the_way_to_answer(answers: str, name: str) -> None:
    (slot,) = AnswersSettings(answers=answers).prompts(by_rules=False)
    assert (slot.purpose, slot.shipped, slot.task) == (name, name, None)
    assert find_prompt(slot.shipped, slot.purpose, slot.task).purpose == name


@pytest.mark.parametrize(("name", "value"), [("answers", "all"), ("temperature", -0.1), ("seed", 2**53)])
def test_what_a_setting_cannot_be_is_a_problem_of_its_field(name: str, value: object) -> None:
    problems: list[Remark] = []
    assert AnswersSettings.read({name: value}, problems) is None
    assert [one.name for one in problems] == [name]


def test_rules_answer_no_questions() -> None:
    assert not AnswersSettings.MODEL_FREE
    with pytest.raises(AssertionError):
        KIND.open(AnswersSettings(), {})(None)


def test_a_row_stands_for_each_answer() -> None:
    assert list(KIND.rows(ASKED)) == [
        dict(zip(KIND.columns, values, strict=True))
        for values in (
            ("source", "org/tiny", "s1?", "YES", "NO", None),
            ("source", "org/tiny", "s2?", "NO", None, "unparsed"),
        )
    ]


def test_a_broken_set_has_no_answers_and_says_why() -> None:
    broken = KIND.broken(ASKED, "it broke")
    assert {(one.answer, one.reason) for one in broken.questions} == {(None, "it broke")}
    assert replace(broken, questions=()) == replace(ASKED, questions=())


def test_the_same_questions_by_one_model_are_one_set() -> None:
    again = replace(ASKED, questions=tuple(replace(one, answer="YES") for one in ASKED.questions))
    assert KIND.identity(again) == KIND.identity(ASKED)
    others = (
        replace(ASKED, side="text"),
        replace(ASKED, author="other"),
        replace(ASKED, document="E"),
        replace(ASKED, questions=ASKED.questions[:1]),
    )
    assert len({KIND.identity(one) for one in (ASKED, *others)}) == 5


def test_a_file_without_questions_has_nothing_to_do() -> None:
    empty = replace(ASKED, questions=())
    assert [KIND.nothing(sets) for sets in ((), (empty,), (empty, ASKED))] == [
        "questions",
        "question to answer",
        None,
    ]


def test_cross_examinations_of_one_model_or_of_different_modes_are_not_answered_together() -> None:
    def made(model: str, mode: str, item: str = "mill") -> JudgeOutput:
        return replace(output_of(text_of("a", item=item)), model=model, settings={"mode": mode})

    names = ["one", "two"]
    assert check_together(names, [made("a", "reference"), made("b", "reference")]) == []
    (note,) = check_together(names, [made("a", "reference"), made("b", "reference", "barn")])
    assert note.startswith("no item is in all of them")
    for second in (made("a", "reference"), made("b", "round-trip")):
        with pytest.raises(InputError) as caught:
            check_together(names, [made("a", "reference"), second])
        assert len(caught.value.problems) == 1
