"""One set of answers in every layout that people have: the same questions, the same texts."""

import contextlib
import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.formats.registry import read_texts
from core.formats.study.files import (
    broken_hint,
    layout_found,
    one_source_hint,
    place_beside,
    read_answers,
    read_dataset,
    systems_of,
)
from core.formats.study.pairs import Reading
from core.schema.scores import Turn
from core.schema.study import NO_ANSWER, Dataset
from core.tables.layouts import turns_in
from core.tables.mapping import NOT_USED

ASKED = ("Why is the sky blue?", "Name a river that crosses Bonn.", "What does a bee eat in winter?")
FIRST = ("Because of Rayleigh scattering.", "The Rhine crosses it.", "It eats stored honey.")
SECOND = ("Light scatters in the air.", "That is the Rhine.", "Honey, which it kept.")
ROWS = tuple(zip(ASKED, FIRST, SECOND, strict=True))


def as_csv(header: str, rows: Sequence[Sequence[object]], mark: str = ",") -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=mark)
    writer.writerow(header.split(","))
    writer.writerows(rows)
    return out.getvalue().encode()


def as_jsonl(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def said(*turns: str) -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": text} for at, text in enumerate(turns)]


def shared_gpt(*turns: str) -> list[dict[str, str]]:
    return [{"from": ("human", "gpt")[at % 2], "value": text} for at, text in enumerate(turns)]


LONG = [(asked, system, text) for asked, one, two in ROWS for system, text in (("x", one), ("y", two))]
LAYOUTS: dict[str, tuple[bytes, str]] = {
    "a row for each answer": (
        as_csv("id,prompt,model,response", [(ASKED.index(a), a, s, t) for a, s, t in LONG]), "a.csv"),
    "without ids": (as_csv("prompt,model,response", LONG), "a.csv"),
    "ids of rows": (as_csv("uid,userInput,Model Name,completion", [(n, *one) for n, one in enumerate(LONG)]), "a.csv"),
    "one id for two questions": (
        as_csv("id,prompt,model,response", [(min(1, ASKED.index(a)), a, s, t) for a, s, t in LONG]), "a.csv"),
    "side by side": (as_csv("ID,Prompt,Response A,Response B", [(n, *row) for n, row in enumerate(ROWS)]), "a.csv"),
    "side by side without ids": (as_csv("instruction,output_1,output_2", ROWS), "a.csv"),
    "left and right": (as_csv("query,left_text,right_text", ROWS), "a.csv"),
    "a column for each system": (as_csv("question,gpt-4o-mini,our-model-v2", ROWS), "a.csv"),
    "named by noun and system": (as_csv("input,gpt4_response,llama_response", ROWS), "a.csv"),
    "a person and a model": (as_csv("question,human_answer,model_answer", ROWS), "a.csv"),
    "answers under model_a and model_b": (as_csv("question,model_a,model_b", ROWS), "a.csv"),
    "with systems beside": (
        as_csv("question,model_a,model_b,response_a,response_b", [(a, "x", "y", o, t) for a, o, t in ROWS]), "a.csv"),
    "systems on changing sides": (
        as_csv("question,model_a,model_b,response_a,response_b",
               [(a, *(("x", "y", o, t) if n % 2 else ("y", "x", t, o))) for n, (a, o, t) in enumerate(ROWS)]), "a.csv"),
    "chosen and rejected": (as_jsonl([{"prompt": a, "chosen": o, "rejected": t} for a, o, t in ROWS]), "a.jsonl"),
    "chosen and rejected as conversations": (
        as_jsonl([{"chosen": said(a, o), "rejected": said(a, t)} for a, o, t in ROWS]), "a.jsonl"),
    "chosen and rejected as answers of one message": (
        as_jsonl([{"prompt": said(a), "chosen": said(a, o)[1:], "rejected": said(a, t)[1:]} for a, o, t in ROWS]), "a.jsonl"),
    "messages": (as_jsonl([{"model": s, "messages": said(a, t)} for a, s, t in LONG]), "a.jsonl"),
    "messages written into cells": (as_csv("model,messages", [(s, json.dumps(said(a, t))) for a, s, t in LONG]), "a.csv"),
    "conversations with from and value": (
        as_jsonl([{"model": s, "conversations": shared_gpt(a, t)} for a, s, t in LONG]), "a.jsonl"),
    "parts of a message": (
        as_jsonl([{"model": s, "messages": [{"role": "user", "content": [{"type": "text", "text": a}]}, *said(a, t)[1:]]}
                  for a, s, t in LONG]), "a.jsonl"),
    "prompts as conversations": (as_jsonl([{"model": s, "prompt": said(a), "response": t} for a, s, t in LONG]), "a.jsonl"),
    "arena": (
        as_jsonl([{"question_id": n, "model_a": "x", "model_b": "y", "winner": "tie",
                   "conversation_a": said(a, o), "conversation_b": said(a, t)} for n, (a, o, t) in enumerate(ROWS)]), "a.jsonl"),
    "a JSON list": (json.dumps([{"instruction": a, "generator": s, "output": t} for a, s, t in LONG]).encode(), "a.json"),
    "semicolons": (as_csv("Frage-Nr,Prompt,Model,Response", [(ASKED.index(a), a, s, t) for a, s, t in LONG], ";"), "a.csv"),
}  # fmt: skip


def content(found: Dataset) -> tuple[object, ...]:
    """What raters see: questions, and the answers of both systems, whatever the systems are called."""
    texts = {(one.item_id, one.source): one.text for one in found.outputs}
    first, second = sorted(found.sources, key=lambda name: texts[found.items[0].item_id, name] != FIRST[0])
    return tuple(
        (item.question, item.turns, texts[item.item_id, first], texts[item.item_id, second])
        for item in found.items
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_has_the_same_pairs(layout: str) -> None:
    data, name = LAYOUTS[layout]
    found = read_dataset(data, name)
    assert found.plain
    assert content(found) == tuple((asked, (), one, two) for asked, one, two in ROWS)
    assert found.read_as[0].startswith("layout: ")
    assert sum(line.startswith("item: ") for line in found.read_as) == 1


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "one id for two questions"])
def test_texts_to_score_are_the_same_in_every_layout(layout: str) -> None:
    found = read_texts(*LAYOUTS[layout]).outputs
    assert sorted(one.text for one in found) == sorted((*FIRST, *SECOND))
    assert {one.source for one in found} == {*ASKED}
    assert len({one.system for one in found}) == 2
    if layout not in (
        "ids of rows",
        "one id for two questions",
    ):  # an id is believed where nothing is compared
        assert len({one.item_id for one in found}) == len(ASKED)


def test_two_files_by_id_or_by_question() -> None:
    one, two = (
        as_csv("prompt,response", [(asked, texts[n]) for n, asked in enumerate(ASKED)])
        for texts in (FIRST, SECOND)
    )
    assert one_source_hint(one, "ours.csv") is not None
    first = read_answers(one, "ours.csv")
    assert first.source == "ours"
    found = place_beside(first, read_answers(two, "theirs.csv", beside="ours"))
    assert found.sources == ("ours", "theirs")
    assert content(found) == tuple((asked, (), left, right) for asked, left, right in ROWS)


def test_systems_are_named_by_the_file() -> None:
    assert systems_of(*LAYOUTS["a column for each system"]) == ["gpt-4o-mini", "our-model-v2"]
    assert systems_of(*LAYOUTS["with systems beside"]) == ["x", "y"]
    assert systems_of(*LAYOUTS["side by side"]) == ["Response A", "Response B"]


def test_the_owner_decides_what_a_column_is() -> None:
    data = as_csv("a,b,c,d,note", [(*row, "Gold.", "long note of several words") for row in ROWS])
    chosen = {"question": ("a",), "text": ("b", "c"), "reference": ("d",)}
    found = read_dataset(data, "a.csv", reading=Reading(chosen))
    assert content(found) == tuple((asked, (), one, two) for asked, one, two in ROWS)
    assert {item.reference for item in found.items} == {"Gold."}
    assert found.sources == ("b", "c")
    with pytest.raises(InputError) as caught:
        read_dataset(data, "a.csv", reading=Reading({"question": ("nothing",)}))
    assert "nothing" in caught.value.problems[0]
    layout = layout_found(*LAYOUTS["side by side"], {NOT_USED: ("ID",)})
    assert layout is not None
    assert "ID" in layout.others


def test_three_systems_are_two_after_a_choice() -> None:
    rows = [(asked, system, f"{system} on {asked}") for asked in ASKED for system in ("x", "y", "z")][:-1]
    data = as_csv("prompt,model,response", rows)
    with pytest.raises(InputError) as caught:
        read_dataset(data, "a.csv")
    assert "x and y 3; x and z 2; y and z 2" in caught.value.problems[0]
    assert len(read_dataset(data, "a.csv", ("x", "y")).items) == 3
    found = read_dataset(data, "a.csv", ("x", "z"))
    assert len(found.items) == 2
    assert any(note.endswith("1; 2 remain") for note in found.notes)


def texts_of(found: Dataset) -> set[str]:
    return {one.text for one in found.outputs}


@pytest.mark.parametrize(
    ("header", "answers"),
    [
        ("question,feedback on answer 1,feedback on answer 2,answer 1,answer 2", (3, 4)),
        ("question,rationale_response_a,rationale_response_b,response_a,response_b", (3, 4)),
        ("question,edited_answer_a,edited_answer_b,answer_a,answer_b", (3, 4)),
        ("question,response_a,response_b,chosen,rejected", (1, 2)),
        ("question,answer,gpt_answer,llama_answer,note", (2, 3)),
    ],
)
def test_what_stands_before_the_answers_is_no_answer(header: str, answers: tuple[int, int]) -> None:
    rows = [
        [asked, *(f"text {n} of column {at} here" for at in range(1, 5))] for n, asked in enumerate(ASKED)
    ]
    if header.endswith("rejected"):
        rows = [[*row[:3], *(("A", "B") if n % 2 else ("B", "A"))] for n, row in enumerate(rows)]
    found = read_dataset(as_csv(header, rows), "a.csv")
    assert texts_of(found) == {row[at] for row in rows for at in answers}


def test_a_solution_is_no_system() -> None:
    data = as_csv("question,GPT-4,Solution", ROWS)
    with pytest.raises(InputError):
        read_dataset(data, "a.csv")


def test_yes_and_no_are_answers_where_columns_say_so() -> None:
    found = read_dataset(
        as_csv("question,answer_a,answer_b", [(asked, "Yes", "No") for asked in ASKED]), "a.csv"
    )
    assert texts_of(found) == {"Yes", "No"}


def test_an_instruction_with_its_input_is_one_question() -> None:
    rows = [
        ("Translate.", word, system, f"{word} by {system}") for word in ("Haus", "") for system in ("x", "y")
    ]
    found = read_dataset(as_csv("instruction,input,model,output", rows), "a.csv")
    assert [item.question for item in found.items] == ["Translate.\n\nHaus", "Translate."]


def test_rows_that_repeat_and_rows_of_one_system_are_counted() -> None:
    rows = [(asked, "x", "y", one, two) for asked, one, two in ROWS]
    data = as_csv(
        "question,model_a,model_b,response_a,response_b",
        [*rows, rows[0], ("Q?", "x", "x", "one text", "other")],
    )
    found = read_dataset(data, "a.csv")
    assert len(found.items) == 3
    assert len([note for note in found.notes if note.startswith("1 row")]) == 2


def test_the_columns_of_arena_files_are_read_without_help() -> None:
    rows = [{"question_id": n, "model_a": "x", "model_b": "y", "winner": "tie", "language": ("English", "unknown")[n % 2],
             "conversation_a": said(a, o), "conversation_b": said(a, t)} for n, (a, o, t) in enumerate(ROWS)]  # fmt: skip
    found = read_dataset(as_jsonl(rows), "a.jsonl")
    assert [item.language for item in found.items] == ["en", "und", "en"]


TRANSCRIPT = "\n\nHuman: {}\n\nAssistant: {}"


@pytest.mark.parametrize(
    "cell",
    [
        lambda asked, text: str(said(asked, text)),
        lambda asked, text: TRANSCRIPT.format(asked, text),
        lambda asked, text: json.dumps([*said(asked), *said("", text[: text.index(" ")])[1:], *said("", text[text.index(" ") :].strip())[1:]]),
        lambda asked, text: json.dumps([said(asked)[0], {"role": "assistant", "content": None}, {"role": "tool", "content": "15"},
                                        said("", text)[1]]),
    ],
    ids=["as Python writes it", "a transcript", "an answer in two messages", "with a tool"],
)  # fmt: skip
def test_conversations_written_otherwise(cell: Callable[[str, str], str]) -> None:
    found = read_dataset(as_csv("chosen,rejected", [(cell(a, o), cell(a, t)) for a, o, t in ROWS]), "a.csv")
    assert {" ".join(text.split()) for text in texts_of(found)} == {*FIRST, *SECOND}
    asked = [*ASKED] if not found.items[0].turns else [item.question for item in found.items]
    assert [item.question for item in found.items] == asked


def test_a_list_of_a_program_is_noted() -> None:
    rows = [(asked, json.dumps([one, one]), two) for asked, one, two in ROWS]
    found = read_dataset(as_csv("prompt,response_a,response_b", rows), "a.csv")
    assert any("look like lists of a program" in note for note in found.notes)


# --- conversations ----------------------------------------------------------------------------------


def test_a_conversation_keeps_its_turns() -> None:
    turns = [{"role": "system", "content": "Be short."}, *said("Hi", "Hello!", ASKED[0])]
    rows = [{"model": name, "messages": [*turns, {"role": "assistant", "content": text}]} for name, text in
            (("x", FIRST[0]), ("y", SECOND[0]))]  # fmt: skip
    found = read_dataset(as_jsonl(rows), "a.jsonl")
    (item,) = found.items
    assert item.question == ASKED[0]
    assert [turn.role for turn in item.turns] == ["system", "user", "assistant", "user"]
    assert item.turns[-1] == Turn("user", ASKED[0])
    scored = read_texts(as_jsonl(rows), "a.jsonl").outputs
    assert {one.text for one in scored} == {FIRST[0], SECOND[0]}
    assert {one.source for one in scored} == {ASKED[0]}
    assert {one.full_source for one in scored} == {
        "System: Be short.\n\nUser: Hi\n\nAssistant: Hello!\n\nUser: " + ASKED[0]
    }


@pytest.mark.parametrize("column", ["messages", "conversation", "prompt"])
def test_a_conversation_may_stand_beside_its_answers(column: str) -> None:
    turns = said("Hi", "Hello!", ASKED[0])
    rows = [
        {"model": name, column: turns, "response": text} for name, text in (("x", FIRST[0]), ("y", SECOND[0]))
    ]
    (item,) = read_dataset(as_jsonl(rows), "a.jsonl").items
    assert (item.question, item.turns[-1]) == (ASKED[0], Turn("user", ASKED[0]))
    assert len(item.turns) == 3


def test_conversations_that_part_early_are_compared_whole() -> None:
    """In an arena each model answers its own conversation: what follows the last shared question is the answer."""
    rows = [
        {
            "model_a": "x",
            "model_b": "y",
            "conversation_a": [
                {"role": "system", "content": "Be short."},
                *said(asked, "Hello!", "And?", one),
            ],
            "conversation_b": [{"role": "system", "content": "Be short."}, *said(asked, "Bye.", "And?", two)],
        }
        for asked, one, two in ROWS
    ]
    rows.append({**rows[0], "conversation_a": said("Why?", "One."), "conversation_b": said("Why?", "Two.")})
    found = read_dataset(as_jsonl(rows), "a.jsonl")
    assert [item.question for item in found.items] == [*ASKED, "Why?"]
    assert found.items[0].turns == (Turn("system", "Be short."), Turn("user", ASKED[0]))
    texts = [one.text for one in found.outputs]
    assert texts[:2] == [
        f"Hello!\n\nUser:\n\nAnd?\n\nAssistant:\n\n{FIRST[0]}",
        f"Bye.\n\nUser:\n\nAnd?\n\nAssistant:\n\n{SECOND[0]}",
    ]
    assert texts[-2:] == ["One.", "Two."]
    (note,) = (note for note in found.notes if note.startswith("3 rows with conversations that differ"))
    scored = read_texts(as_jsonl(rows), "a.jsonl")
    assert [one.text for one in scored.outputs] == texts
    assert (
        scored.outputs[0].labels.keys() == read_texts(as_jsonl(rows[3:]), "a.jsonl").outputs[0].labels.keys()
    )
    assert note in scored.notes


def test_a_vote_on_the_first_turn_compares_the_first_answers() -> None:
    """MT-Bench's votes name the turn that people judged; the conversations hold both."""
    both = {
        "question_id": 81,
        "model_a": "x",
        "model_b": "y",
        "winner": "model_a",
        "conversation_a": said("One?", "a1", "Two?", "a2"),
        "conversation_b": said("One?", "b1", "Two?", "b2"),
    }
    found = read_dataset(as_jsonl([{**both, "turn": 1}, {**both, "turn": 2}]), "a.jsonl")
    assert [one.text for one in found.outputs] == [
        "a1", "b1", "a1\n\nUser:\n\nTwo?\n\nAssistant:\n\na2", "b1\n\nUser:\n\nTwo?\n\nAssistant:\n\nb2",
    ]  # fmt: skip
    assert not any("turn" in note for note in found.notes if note.startswith("columns not used"))


def test_a_row_for_each_answer_needs_the_same_turns() -> None:
    rows = [
        {"id": 1, "model": name, "messages": said("Hi", f"Hello {name}!", ASKED[0], text)}
        for name, text in (("x", FIRST[0]), ("y", SECOND[0]))
    ]
    with pytest.raises(InputError) as caught:
        read_dataset(as_jsonl(rows), "a.jsonl")
    assert "turns before the question differ" in caught.value.problems[0]


@pytest.mark.parametrize("key", ["name", "model"])
def test_what_names_the_model_of_a_message_is_not_read(key: str) -> None:
    rows = [
        {
            "model": name,
            "messages": [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "MODEL-9"}}]},
                {"role": "function", key: "MODEL-9", "content": "15"},
                {"role": "assistant", key: "MODEL-9", "content": "Hello!"},
                {"role": "user", "content": ASKED[0]},
                {"role": "assistant", key: "MODEL-9", "content": text},
            ],
        }
        for name, text in (("x", FIRST[0]), ("y", SECOND[0]))
    ]
    found = read_dataset(as_jsonl(rows), "a.jsonl")
    assert found.items[0].turns == (
        Turn("user", "Hi"), Turn("tool", "15"), Turn("assistant", "Hello!"), Turn("user", ASKED[0]),
    )  # fmt: skip
    assert "MODEL-9" not in repr((found.items, found.outputs))


def test_a_role_that_nobody_knows_is_named() -> None:
    rows = [
        {"prompt": [{"role": role, "content": "x"}, *said(asked)], "chosen": one, "rejected": two}
        for role, (asked, one, two) in zip(("critic", "system", "system"), ROWS, strict=True)
    ]
    with pytest.raises(InputError) as caught:
        read_dataset(as_jsonl(rows), "a.jsonl")
    assert "column prompt has a message of the role critic" in caught.value.problems[0]
    found = read_dataset(as_jsonl(rows), "a.jsonl", reading=Reading(skip_broken=True))
    assert [item.question for item in found.items] == [*ASKED[1:]]


def test_an_empty_turn_of_the_user_is_named_and_an_empty_instruction_is_none() -> None:
    system = {"role": "system", "content": ""}
    rows = [
        {"chosen": [system, *said("Hi", "Hello!", "", "And?", asked, one)],
         "rejected": [system, *said("Hi", "Hello!", "", "And?", asked, two)]}
        for asked, one, two in ROWS
    ]  # fmt: skip
    with pytest.raises(InputError) as caught:
        read_dataset(as_jsonl(rows), "a.jsonl")
    assert "turn 3 (user) is empty" in caught.value.problems[0]


def test_a_conversation_may_have_hundreds_of_turns() -> None:
    spoken = [f"Turn {n}." for n in range(498)]
    rows = [
        {"chosen": said(*spoken, asked, one), "rejected": said(*spoken, asked, two)}
        for asked, one, two in ROWS
    ]
    found = read_dataset(as_jsonl(rows), "a.jsonl")
    assert {len(item.turns) for item in found.items} == {499}


def test_lists_of_answers_are_refused_by_name() -> None:
    rows = [{"prompt": asked, "chosen": [one], "rejected": [two, two]} for asked, one, two in ROWS]
    with pytest.raises(InputError) as caught:
        read_dataset(as_jsonl(rows), "a.jsonl")
    assert caught.value.problems[0].startswith("file: a cell of chosen, rejected holds a list")


@pytest.mark.parametrize(
    "cell",
    ["text", "[1, 2]", "[{]", [], [{"content": "no role"}], [{"role": "judge", "content": "x"}], 3, None],
)
def test_other_cells_are_no_conversation(cell: object) -> None:
    assert turns_in(cell) is None


# --- empty answers and broken rows --------------------------------------------------------------------


EMPTY = as_csv("prompt,model,response", [(a, s, "" if (s, a) == ("y", ASKED[1]) else t) for a, s, t in LONG])


@pytest.mark.parametrize("blank", ["", "  ", "\u200b", "\0"])
def test_an_empty_answer_is_shown_as_one(blank: str) -> None:
    data = as_csv(
        "prompt,response_a,response_b", [(ASKED[0], FIRST[0], blank), (ASKED[1], FIRST[1], SECOND[1])]
    )
    found = read_dataset(data, "a.csv")
    assert [one.text for one in found.outputs] == [FIRST[0], NO_ANSWER, FIRST[1], SECOND[1]]
    assert any(note.startswith("empty answers: response_b 1;") for note in found.notes)


def test_or_its_question_is_left_out_by_choice() -> None:
    found = read_dataset(EMPTY, "a.csv", reading=Reading(no_answer="leave_out"))
    assert [item.question for item in found.items] == [ASKED[0], ASKED[2]]
    assert len(found.outputs) == 4
    assert any("favours a system that fails often" in note for note in found.notes)


def test_a_system_without_any_answer_is_no_system() -> None:
    rows = [(asked, one, "") for asked, one, _ in ROWS]
    with pytest.raises(InputError) as caught:
        read_dataset(as_csv("prompt,response_a,response_b", rows), "a.csv")
    assert caught.value.problems == ("system response_b: every answer is empty",)


def test_an_empty_answer_is_never_scored() -> None:
    found = read_texts(EMPTY, "a.csv")
    assert len(found.outputs) == 5
    assert sum(found.left_out.values()) == 1


def test_a_null_answer_of_json_is_empty_too() -> None:
    rows = [
        {"prompt": ASKED[0], "chosen": FIRST[0], "rejected": None},
        {"prompt": ASKED[1], "chosen": "a", "rejected": "b"},
    ]
    assert [one.text for one in read_dataset(as_jsonl(rows), "a.jsonl").outputs][1] == NO_ANSWER


BROKEN: dict[str, Callable[[], bytes]] = {
    "no row": lambda: as_csv("prompt,model,response", LONG[:-1]),
    "too few cells": lambda: as_csv("prompt,model,response", [*LONG[:-1], LONG[-1][:2]]),
    "another text of the same": lambda: as_csv("prompt,model,response", [*LONG, (*LONG[-1][:2], "Other.")]),
    "half a character": lambda: as_jsonl(
        [
            {"prompt": a, "model": s, "response": "\ud800" if at == 5 else t}
            for at, (a, s, t) in enumerate(LONG)
        ]
    ),
    "no JSON": lambda: as_jsonl([{"prompt": a, "model": s, "response": t} for a, s, t in LONG[:-1]]) + b"{\n",
}


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_rows_are_listed_and_left_out_on_demand(broken: str) -> None:
    name = "a.jsonl" if broken in ("half a character", "no JSON") else "a.csv"
    data = BROKEN[broken]()
    with pytest.raises(InputError) as caught:
        read_dataset(data, name)
    assert broken_hint(data, name) == "2 questions"
    found = read_dataset(data, name, reading=Reading(skip_broken=True))
    assert [item.question for item in found.items] == [*ASKED[:2]]
    for problem in caught.value.problems:
        assert any(problem in note for note in found.notes)


def test_a_file_that_is_broken_as_a_whole_has_nothing_to_leave_out() -> None:
    assert broken_hint(as_csv("prompt,model,response", [(a, "x", t) for a, _, t in LONG]), "a.csv") is None
    assert broken_hint(b"prompt,nothing\na,b\n", "a.csv") is None


# --- the cases that once were refused -----------------------------------------------------------------


CASES = {
    "ab_ids.csv": 16, "ab_plain.csv": 16, "ab_wide.csv": 16, "ab_wide_models.csv": 16, "arena.jsonl": 16, "chat.jsonl": 16,
    "chat_prompt_response.jsonl": 16, "data.tsv": 16, "data.xlsx": 16, "dups.csv": 16, "empty-answer.csv": 2,
    "excel-sep-line.csv": 1, "excel_semicolon_bom.csv": 16, "excel_semicolon_cp1252.csv": 16, "excel_utf16.txt": 16,
    "levels.csv": 12, "prefs.jsonl": 16, "prefs_msgs.jsonl": 16, "rich.csv": 11, "wide-pairs.jsonl": 2,
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_files_that_people_have_are_read(case: str, shared_cases: Path) -> None:
    path = shared_cases / "pairs" / case
    found = read_dataset(path.read_bytes(), case)
    assert len(found.items) == CASES[case]
    assert found.plain == (case != "levels.csv")
    assert len(found.outputs) == 2 * len(found.items) * len(found.levels)
    assert found.read_as


def test_a_missing_answer_is_named_and_can_be_left_out(shared_cases: Path) -> None:
    path = shared_cases / "pairs" / "missing.csv"
    with pytest.raises(InputError, match="1 problem"):
        read_dataset(path.read_bytes(), path.name)
    assert broken_hint(path.read_bytes(), path.name) == "15 questions"


# --- any table ------------------------------------------------------------------------------------------


CELLS = st.sampled_from(
    [
        "",
        "a",
        "b",
        "tie",
        "1",
        "2.5",
        "The Rhine crosses Bonn.",
        "x y z",
        "[{",
        '[{"role": "user"}]',
        "\u200b",
    ]
)
NAMES = st.sampled_from(
    ["prompt", "model", "response", "response_a", "response_b", "model_a", "model_b", "chosen", "rejected", "messages", "level",
     "gold", "id", "winner", "note", "A", "B", "text", "conversation_a", "gpt-4o", "answer 1", "answer 2"]
)  # fmt: skip


@given(st.lists(NAMES, min_size=1, max_size=6, unique=True), st.data())
def test_any_table_is_read_or_refused_with_a_sentence(names: list[str], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.lists(CELLS, min_size=len(names), max_size=len(names)), max_size=6))
    with contextlib.suppress(InputError):
        found = read_dataset(as_csv(",".join(names), rows), "a.csv", reading=Reading(skip_broken=True))
        assert len(found.outputs) == 2 * len(found.items) * len(found.levels) > 0
