"""Two sets of answers placed side by side, or every reason why they cannot be."""

from dataclasses import replace

import pytest
from helpers.texts.factories import dataset, paper_json

from core.errors import InputError
from core.formats.generation import GeneratedText, long_csv, long_jsonl
from core.formats.study.files import (
    SourceAnswers,
    one_source_hint,
    place_beside,
    read_answers,
    read_dataset,
    verbatim_note,
)
from core.schema.study import NO_ANSWER, Item, Material, Output

ITEMS = tuple(Item(f"q{n}", f"Question {n}?", f"Reference {n}.", "en") for n in range(3))
LEVELS = ("A0", "A1", "A2")


def answers(
    source: str, items: tuple[Item, ...] = ITEMS, levels: tuple[str, ...] = LEVELS, where: str = ""
) -> SourceAnswers:
    made = tuple(
        Output(i.item_id, level, source, f"{source}: {i.question} {level}") for i in items for level in levels
    )
    return SourceAnswers(source, items, made, where or f"{source}.csv")


def problems_of(first: SourceAnswers, second: SourceAnswers) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        place_beside(first, second)
    return caught.value.problems


def test_both_stand_side_by_side_at_every_level() -> None:
    found = place_beside(answers("ai"), answers("human"))
    assert (found.items, found.levels, found.sources) == (ITEMS, LEVELS, ("ai", "human"))
    assert len(found.outputs) == 18
    assert found.outputs[1] == Output("q0", "A0", "human", "human: Question 0? A0")
    assert found.notes == ()
    again = place_beside(answers("ai"), answers("human"))
    assert again.sha256 == found.sha256
    assert place_beside(answers("human"), answers("ai")).sha256 != found.sha256


def test_questions_are_matched_by_text_where_ids_mean_others() -> None:
    renamed = tuple(replace(item, item_id=str(n)) for n, item in enumerate(ITEMS))
    shuffled = tuple(replace(item, item_id=f"q{2 - n}") for n, item in enumerate(ITEMS))
    plain = place_beside(answers("ai"), answers("human"))
    for items in (renamed, shuffled, tuple(reversed(ITEMS))):
        found = place_beside(answers("ai"), answers("human", items))
        assert found.outputs == plain.outputs
        assert found.items == ITEMS


def test_levels_in_common_are_taken_in_their_order() -> None:
    found = place_beside(
        answers("ai", levels=("A10", "A0", "A2")), answers("human", levels=("A2", "A10", "A1"))
    )
    assert found.levels == ("A2", "A10")
    assert found.notes == ("levels left out because only one system has them: A0, A1",)


def test_every_mismatch_is_named() -> None:
    changed = (
        replace(ITEMS[0], reference="Another."),
        replace(ITEMS[1], language="uk"),
        Item("new", "Something else?", "r"),
    )
    second = answers("human", changed)
    second = replace(second, outputs=tuple(o for o in second.outputs if (o.item_id, o.level) != ("q0", "A1")))
    assert problems_of(answers("ai"), second) == (
        "question q2: not in human.csv",
        "question new: not in ai.csv",
        "question q0: the references differ",
        "question q1: the language is en in one file and uk in the other",
        "question q0, level A1, system human: no text in human.csv",
    )


def test_sources_must_not_look_alike() -> None:
    assert problems_of(answers("AI"), answers("ai")) == ("systems: both are called AI; rename one of them",)


def test_damage_levels_and_a0_to_a4_have_nothing_in_common() -> None:
    assert problems_of(answers("ai"), answers("human", levels=("0", "1"))) == (
        "levels: none in common; ai.csv has A0, A1, A2, human.csv has 0, 1",
    )


def test_a_text_asked_twice_needs_ids() -> None:
    twice = (ITEMS[0], replace(ITEMS[0], item_id="again"))
    other = tuple(replace(item, item_id=f"x{n}") for n, item in enumerate(twice))
    assert problems_of(answers("ai", twice), answers("human", other))[0] == (
        "question q0: the same question occurs more than once, so it cannot be matched; use the same ids in both"
    )
    assert len(place_beside(answers("ai", twice), answers("human", twice)).items) == 2


def test_only_shared_questions_when_asked_for() -> None:
    more = (*ITEMS, Item("q9", "More?", "r"))
    found = place_beside(answers("ai", ITEMS[:2]), answers("human", more), shared_only=True)
    assert found.items == ITEMS[:2]
    assert found.notes == ("questions left out because they are not in ai.csv: q2, q9",)
    with pytest.raises(InputError, match="questions: none in common"):
        place_beside(answers("ai", ITEMS[:1]), answers("human", more[3:]), shared_only=True)


def test_an_undetermined_language_takes_the_other_ones() -> None:
    unknown = tuple(replace(item, language="und") for item in ITEMS)
    assert place_beside(answers("ai", unknown), answers("human")).items == ITEMS


@pytest.mark.parametrize("write", [long_csv, long_jsonl])
def test_a_generated_file_with_one_source_is_read(write: object) -> None:
    made = [
        GeneratedText(i.item_id, level, "tiny", f"{i.item_id} {level}", "llm")
        for i in ITEMS
        for level in LEVELS
    ]
    data = write([Material(item) for item in ITEMS], made)  # type: ignore[operator]
    with pytest.raises(InputError, match="expected exactly two"):
        read_dataset(data, "upload")
    found = read_answers(data, "upload")
    assert (found.source, found.items, len(found.outputs), found.where) == ("tiny", ITEMS, 9, "upload")
    assert place_beside(found, answers("human")).sources == ("tiny", "human")


def test_of_two_sources_the_other_one_is_meant_or_must_be_named() -> None:
    data = paper_json(dataset(2, ("A0", "A1")))
    assert read_answers(data, "a.json", "human").source == "human"
    assert read_answers(data, "a.json", beside="AI").source == "human"
    for arguments, wanted in (({}, "more than one system"), ({"source": "me"}, "no system me")):
        with pytest.raises(InputError) as caught:
            read_answers(data, "a.json", **arguments)
        assert caught.value.problems == (
            f"{wanted}: the file has ai and human; name the system to compare with",
        )
    with pytest.raises(InputError, match="the file has ai and human"):
        read_answers(data, "a.json", beside="pipeline")


@pytest.mark.parametrize("write", [long_csv, long_jsonl])
def test_items_with_a_reason_for_a_text_are_left_out(write: object) -> None:
    def text(item: Item, level: str) -> GeneratedText:
        made = f'{item.item_id},\n\n"{level}"' if (item.item_id, level) != ("q1", "A2") else None
        return GeneratedText(item.item_id, level, "tiny", made, "llm", "" if made else "edit: not changed")

    made = [text(item, level) for item in ITEMS for level in LEVELS]
    data = write([Material(item) for item in ITEMS], made)  # type: ignore[operator]
    name = "a.csv" if write is long_csv else "a.jsonl"
    found = read_answers(data, name)
    assert [item.item_id for item in found.items] == ["q0", "q2"]
    assert len(found.outputs) == 6
    assert found.notes[0] == f"{name}: items left out because a level is missing: q1"
    line = data.count(b"\n") + 1
    csv_row, json_row = b"q2,,,,A9,,x,,,\n", b'{"item_id": "q2", "level": "A9", "text": "x"}\n'
    with pytest.raises(InputError) as caught:
        read_answers(data + (csv_row if write is long_csv else json_row), name)
    (problem,) = caught.value.problems
    assert problem.startswith(f"line {line}, question q2, level A9: source ")


def test_an_empty_text_without_a_reason_is_no_answer() -> None:
    rows = b"item_id,question,reference,level,source,text,reason\nq,q,r,A0,x,,\n"
    assert [one.text for one in read_answers(rows, "a.csv").outputs] == [NO_ANSWER]


def test_the_hint_is_for_one_source_alone() -> None:
    assert one_source_hint(paper_json(dataset(2, ("A0", "A1"))), "a.json") is None
    rows = b"item_id,question,reference,level,source,text\nq,q,r,A0,x,t\n"
    hint = one_source_hint(rows, "a.csv")
    assert hint is not None
    assert hint.what == "a.csv has only one system's answers"
    assert "x is the only one" in hint.problems[0]


def test_a_broken_file_says_all_its_problems() -> None:
    rows = "item_id,question,reference,level,source,text\nq0,q,r,,x,t\nq0,q,r,A1,x,t\nq0,q,r,A1,y,t\nq0,q,r,A1,z,t\n"
    with pytest.raises(InputError) as caught:
        read_answers(rows.encode(), "a.csv")
    assert "line 2, question q0: level is empty" in caught.value.problems
    assert any(
        problem.startswith("systems: found 3 (x, y and z), expected one or two")
        for problem in caught.value.problems
    )


def test_verbatim_texts_are_counted_by_source() -> None:
    found = place_beside(answers("ai"), answers("human"))
    assert verbatim_note(found) is None
    references = {item.item_id: item.reference for item in ITEMS}
    same = tuple(
        replace(o, text=f" {references[o.item_id]}\n")
        if o.source == "ai" and (o.level, o.item_id) != ("A0", "q1")
        else o
        for o in found.outputs
    )
    assert verbatim_note(replace(found, outputs=same)) == (
        "A0 equals the reference word for word: ai in 2 of 3 questions"
    )
