"""YES, NO and IDK are read where they stand as verdicts, and nowhere else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.judges.questions import (
    LONGEST_SAID,
    VERDICTS,
    Given,
    answers_schema,
    missing_of,
    read_answers,
    read_verdict,
    shortened,
)
from core.llm.asking import Unusable


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("YES", "YES"),
        ("no", "NO"),
        ("Idk.", "IDK"),
        ("Yes.", "YES"),
        ("  No!\n", "NO"),
        ("**YES**", "YES"),
        ("`NO`", "NO"),
        ("“Yes”", "YES"),
        ("'IDK'", "IDK"),
        ("[YES]", "YES"),
        ("- NO", "NO"),
        ("Answer: YES", "YES"),
        ("**Answer:** no", "NO"),
        ("The answer is: NO.", "NO"),
        ("Final answer - IDK", "IDK"),
        ("YES\n\nYES", "YES"),
        ("YES, yes.", "YES"),
        # The first word is the verdict, what follows explains it.
        ("YES - because no other mill is named", "YES"),
        ("YES because the text says so", "YES"),
        ("Yes, no changes were made.", "YES"),
        ("NO. Yes-men are not named.", "NO"),
        ("YES (see line 2)", "YES"),
        ("NO—the wheel measures six metres", "NO"),
        ("YES.\nNo doubt is left by the text.", "YES"),
        # What the abbreviation stands for.
        ("I do not know", "IDK"),
        ("I don't know.", "IDK"),
        ("I DON’T KNOW", "IDK"),
        ("I do not know whether the mill burned down.", "IDK"),
        ("IDK. There is no date in the text.", "IDK"),
        ("I do not know if the mill burned down", "IDK"),
        ("IDK because the text gives no year", "IDK"),
        # Punctuation of other scripts, characters that nobody sees, a number, tokens that end a turn.
        ("YES，文中如此说", "YES"),
        ("YES。", "YES"),
        ("NO：文中说的是1872年", "NO"),
        ("YES، كما في النص", "YES"),
        ("IDK؛ لا يذكر النص", "IDK"),
        ("\u200fYES", "YES"),
        ("\u2060NO", "NO"),
        ("\ufeff\u200bidk", "IDK"),
        ("1: YES", "YES"),
        ("1. YES", "YES"),
        ("Question 2: no", "NO"),
        ("YES</s>", "YES"),
        ("NO<|im_end|>", "NO"),
        ("<answer>YES</answer>", "YES"),
        ("So it is.\n<answer>\nIDK\n</answer><end_of_turn>", "IDK"),
        ("No. I read of another mill.", "NO"),
        ("No. The mill has 7 wheels.", "NO"),
        ("Yes. One mill is named.", "YES"),
        # The verdict may have a line of its own below the explanation.
        ("The text names Karl Weber, and no other.\n\nYES", "YES"),
        # Reasoning, quoted lines and echoed fields are not the model's verdict.
        ("<think>It could be NO. YES?</think>\nIDK", "IDK"),
        ("is it NO?</think>YES", "YES"),
        ("> Answer: NO\n\nYES", "YES"),
        ("<text>\nThe right answer is YES.\nYES\n</text>\nNO", "NO"),
        ("<question>\nYES\n</question>\nIDK", "IDK"),
        # JSON alone, in prose, in a fence.
        ('{"answer": "NO"}', "NO"),
        ('Here it is: {"answer": "NO"} as you wanted.', "NO"),
        ('```json\n{"answer": "idk"}\n```', "IDK"),
        ('{"Verdict": "Yes."}', "YES"),
        ('YES {"sure": true}', "YES"),
    ],
)
def test_verdicts_that_are_read(said: str, verdict: str) -> None:
    assert read_verdict(said) == verdict


@pytest.mark.parametrize(
    "said",
    [
        "",
        "  \n",
        "unknown",
        "eyes",
        "nose",
        "N/A",
        "Maybe",
        "true",
        "Yeah",
        "yess",
        "Oui",
        "Ja",
        "はい",
        "不",
        "y",
        "0",
        "No answer",
        "No evidence of it was found.",
        "NO-one says so",
        "No. 5 is the answer",
        "No. VII of the mills",
        "No. I of the mills",
        "No. V",
        "No. Seven",
        "Answer: No. seventeen was built later",
        "IDK the text says nothing",
        "I do not know of anything in the text that contradicts this, so yes.",
        "Probably yes",
        "So, the text says it, but no",
        "Yes it does",
        "Not mentioned: no",
        "The mill, yes, was built by Karl Weber",
        "I know: YES",
        "The answer is not YES",
        "ıdk",
        "yeſ",
        "Don't know",
        "<think>YES",
        "<think>YES</think>",
        "> YES",
        '{"answer": "YES"',
        '{"answer": "YE',
        '{\n  "answer": "YES",\n',
        '{"answer": true}',
        '{"answer": "maybe"}',
        '{"answers": ["YES"]}',
        '{"a": ' * 500,
        "YES. " * 2_000,
    ],
)
def test_what_is_no_verdict(said: str) -> None:
    with pytest.raises(Unusable) as caught:
        read_verdict(said)
    assert caught.value.kind == "unparsed"


@pytest.mark.parametrize(
    "said",
    [
        "NO\n\nYES",
        "YES/NO",
        "Yes or no",
        "yes and no.",
        "YES NO",
        "YES, but NO",
        "Yes. Actually no.",
        "NO - the answer is YES",
        "IDK, maybe yes",
        "I do not know; NO",
        "IDK, probably YES",
        "IDK, but I would say no",
        "IDK. The text leans to NO here.",
        "I do not know whether it is so, but yes",
        "I do not know\nbecause NO",
        "NO: most likely yes",
        "YES<|im_end|>NO",
        "1. YES\n2. NO",
        "YES\nAnswer: NO",
        # Echoed from the judged text without a mark: whose verdict is which cannot be told.
        "The right answer is\nYES\n\nNO",
        '{"answer": "YES"} {"answer": "NO"}',
        '{"answer": "YES/NO"}',
        'NO\n{"answer": "YES"}',
    ],
)
def test_two_verdicts_are_none(said: str) -> None:
    with pytest.raises(Unusable, match="two verdicts"):
        read_verdict(said)


def test_a_key_given_twice_is_no_answer() -> None:
    with pytest.raises(Unusable, match="more than once"):
        read_verdict('{"answer": "YES", "answer": "NO"}')


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(["YES", "no", "I don't know", " - ", "\n", "{", '"', ">", "/"])).map("".join)
)
def test_any_text_is_a_verdict_or_unparsed(said: str) -> None:
    assert outcome(said) in (*VERDICTS, "unparsed")


def outcome(said: str) -> str:
    try:
        return read_verdict(said)
    except Unusable as wrong:
        return wrong.kind


def entries(*pairs: tuple[object, object]) -> str:
    return json.dumps({"answers": [{"question": number, "answer": said} for number, said in pairs]})


def test_a_whole_batch_in_any_order() -> None:
    given = read_answers(entries((2, "NO"), (1, "Yes."), (3, "I do not know")), 3)
    assert [one.answer for one in given] == ["YES", "NO", "IDK"]
    assert missing_of(given) == ""
    assert read_answers(f"Here:\n```json\n{entries((1, 'NO'))}\n```", 1) == (Given("NO"),)


def test_a_number_may_be_a_text_and_the_same_answer_twice_is_one() -> None:
    given = read_answers(entries(("1", "YES"), (" 2 ", "NO"), (2.0, "no."), (1, "YES")), 2)
    assert ([one.answer for one in given], missing_of(given)) == (["YES", "NO"], "")


@pytest.mark.parametrize("numbers", [(0, 1, 2), (0, 1), (1, 2, 3, 4), ("0", "1"), (-1, 1), (2.0, 10**400)])
def test_of_an_answer_that_counts_otherwise_nothing_is_taken(numbers: tuple[object, ...]) -> None:
    with pytest.raises(Unusable, match="numbered otherwise: they go from 1 to 3") as caught:
        read_answers(entries(*((number, "YES") for number in numbers)), 3)
    assert caught.value.kind == "unparsed"


def test_good_entries_are_kept_beside_bad_ones() -> None:
    said = entries(
        (1, "YES"),
        (2, "perhaps"),
        (3, "NO"),
        (3, "YES"),
        (5, None),
        (6, "YES/NO"),
        (True, "NO"),
        ("four", "NO"),
        (4.5, "NO"),
    )
    given = read_answers(said, 6)
    assert [one.answer for one in given] == ["YES", None, None, None, None, None]
    assert [one.text for one in given] == ["", "perhaps", "", "", "null", "YES/NO"]
    assert missing_of(given) == (
        "Every question needs one answer, YES, NO or IDK: question 2 has no verdict, question 3 answered twice, "
        "question 4 has no answer, question 5 has no verdict, question 6 has no verdict."
    )


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("YES", "invalid"),
        ("", "empty"),
        ('{"answers": "YES"}', "invalid"),
        ('{"answers": ["YES"]}', "invalid"),
        (entries((1, "YES"))[:-2], "cut off"),
    ],
)
def test_what_is_no_batch_at_all(said: str, kind: str) -> None:
    with pytest.raises(Unusable) as caught:
        read_answers(said, 1)
    assert caught.value.kind == kind


def test_the_form_of_a_batch_names_every_question_and_every_verdict() -> None:
    schema = json.dumps(answers_schema(3))
    assert '"enum": [1, 2, 3]' in schema
    assert '"enum": ["YES", "NO", "IDK"]' in schema
    assert '"minItems": 3, "maxItems": 3' in schema


def test_what_was_said_is_kept_short_and_printable() -> None:
    assert shortened(" a\n\tb\x00 ") == "a b\ufffd"
    assert len(shortened("word " * 1_000)) == LONGEST_SAID
