"""What models wrap answers in, and what is no answer."""

import contextlib
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.llm.asking import Unusable
from core.llm.parsing import LOOPING, read_json, read_text, refuse_loop
from core.llm.thinking import LOOP_LENGTH, LOOP_TIMES, apart, loops

RANKING = {
    "type": "object",
    "properties": {"ranking": {"type": "array", "items": {"type": "integer"}}, "note": {"type": "string"}},
    "required": ["ranking"],
    "additionalProperties": False,
}
GOOD = '{"ranking": [2, 1]}'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Kyiv.", "Kyiv."),
        ("<think>Is it Lviv?</think>Kyiv.", "Kyiv."),
        ("<think>\nOne.\n</think>\n\n<think>Two.</think> Kyiv.", "\n\n Kyiv."),
        ("Is it Lviv? No.</think>Kyiv.", "Kyiv."),
        ("  <think>Is it Lviv, or", ""),
        ("<think>a</think> <think>b", " "),
        ("<thinking>a</thinking>Kyiv.", "Kyiv."),
        ("Kyiv. <think>Or Lviv?</think>", "Kyiv. "),
        ("a < b and b > c", "a < b and b > c"),
        ("the tag <think> opens", "the tag <think> opens"),
    ],
)
def test_reasoning_goes(text: str, left: str) -> None:
    assert apart(text)[0].strip() == left.strip()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Kyiv.", "Kyiv."),
        (" \n Kyiv.\r\nIt is.\r ", "Kyiv.\nIt is."),
        ('"Kyiv."', "Kyiv."),
        ("“Kyiv.”", "Kyiv."),
        ("„Kyiv.“", "Kyiv."),
        ("« Київ. »", "Київ."),
        ("「東京。」", "東京。"),
        ('"Kyiv", "Lviv"', '"Kyiv", "Lviv"'),
        ('"Kyiv" is a city', '"Kyiv" is a city'),
        ('""', '""'),
        ('"', '"'),
        ("''Kyiv''", "''Kyiv''"),
        ("```\nKyiv.\n```", "Kyiv."),
        ("```text\n“Kyiv.”\n```", "Kyiv."),
        ("```a``` and ```b```", "```a``` and ```b```"),
        ("Look: ```\nKyiv.\n```", "Look: ```\nKyiv.\n```"),
        ("````\n```\nKyiv.\n```\n````", "```\nKyiv.\n```"),
        ("~~~ text\nKyiv.\n  ~~~", "Kyiv."),
        ("```\nKyiv.", "```\nKyiv."),
        ("```Kyiv.```", "```Kyiv.```"),
        ("<think>hm</think>\n'Kyiv.'", "Kyiv."),
        ("नमस्ते", "नमस्ते"),
        ("שָׁלוֹם", "שָׁלוֹם"),
        ("A\tB", "A\tB"),
    ],
)
def test_texts_are_unwrapped(text: str, read: str) -> None:
    assert read_text(text) == read


@pytest.mark.parametrize(
    ("text", "kind", "detail"),
    [
        ("", "empty", "holds no text"),
        (" \n\t", "empty", "holds no text"),
        ("\u200b\ufeff\u00a0", "empty", "holds no text"),
        ("<think>all of it</think>", "empty", "holds no text"),
        ("<think>cut", "empty", "holds no text"),
        ("```\n\n```", "empty", "holds no text"),
        ('" "', "empty", "holds no text"),
        ("a\x00b", "invalid", r"control character U\+0000"),
        ("a\x1b[31mb", "invalid", r"U\+001B"),
        ("a\x85b", "invalid", r"U\+0085"),
        ("a\ud83db", "invalid", r"half a surrogate pair, U\+D83D"),
    ],
)
def test_what_is_no_text(text: str, kind: str, detail: str) -> None:
    with pytest.raises(Unusable, match=detail) as raised:
        read_text(text)
    assert raised.value.kind == kind


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"]), min_size=1))
def test_an_ordinary_text_comes_through(text: str) -> None:
    """Whatever is not wrapped stays as it is, but for the blanks around it."""
    words = f"a {text} b"
    if "think" not in words and "reasoning" not in words:
        assert read_text(f"\n {words} ") == words.strip()


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}```",
        f"~~~\n{GOOD}\n~~~",
        f"Here it is:\n\n```json\n{GOOD}\n```\nI hope that it helps.",
        f"The ranking is {GOOD}. Good luck!",
        f"<think>{{maybe {GOOD}</think>{GOOD}",
        f'First I had {{"ranking": [1, 2]}}, but better is {GOOD}',
        f'{GOOD} I left out {{"ranking": "x"}} and {{nothing}}.',
        f"Of {{these}} I take {GOOD}",
        f"[1] {GOOD}",
        f'{{"ranking": {{"a": [2, 1]}}}} or {GOOD}',
    ],
)
def test_json_is_found(text: str) -> None:
    assert read_json(text, RANKING) == {"ranking": [2, 1]}


@pytest.mark.parametrize("note", ["a } b", '"{', "\\", '\\"}', "```", "</p>", "{[", "\n", "יום", "🙂"])
def test_brackets_and_quotes_in_a_text_do_not_end_it(note: str) -> None:
    value = {"ranking": [1], "note": note}
    for ascii_only in (True, False):
        written = json.dumps(value, ensure_ascii=ascii_only)
        assert read_json(f"So: {written} - done.", RANKING) == value


def test_an_array_where_one_is_asked_for() -> None:
    schema = {"type": "array", "items": {"type": "integer"}}
    assert read_json("It is [3, 1].", schema) == [3, 1]
    assert read_json('```json\n[{"a": 1}]\n```', {"type": "array"}) == [{"a": 1}]


@pytest.mark.parametrize(
    ("text", "kind", "detail"),
    [
        ("", "empty", "no JSON"),
        ("<think>hm</think>", "empty", "no JSON"),
        ("I cannot do that.", "invalid", "no JSON"),
        ('{"ranking": [2, 1', "cut off", "cut off"),
        ('```json\n{"ranking": [2', "cut off", "cut off"),
        (f'{GOOD} no, {{"ranking": [2,', "cut off", "cut off"),
        ('{"ranking": [1], "note": "so', "cut off", "cut off"),
        ('{"a": [{"ranking": [1]}, {"ra', "cut off", "cut off"),
        ('{"ranking": [1,]}', "invalid", "cannot be read"),
        ('{"x": NaN, "y": {"ranking": [1]}}', "invalid", "NaN"),
        ('{"ranking": [Infinity]}', "invalid", "Infinity"),
        ('{"ranking": [1e999]}', "invalid", "too large"),
        (f'{{"ranking": [{"9" * 5000}]}}', "invalid", "number that is too long"),
        ('{"ranking": [1], "ranking": [2]}', "invalid", "'ranking' more than once"),
        ('{"ranking": [1], "note": "\\ud800"}', "invalid", "half a surrogate pair"),
        ('{"ranking": [1], "note": "\\u0000"}', "invalid", "control character"),
        ('{"ranking": [1], "\\u0007": 1}', "invalid", "control character"),
        ('{"ranking": [1, "two"]}', "invalid", r"at \$\.ranking\[1\]: 'two' is not of type 'integer'"),
        ('{"ranking": [true]}', "invalid", "True is not of type 'integer'"),
        ("{}", "invalid", r"at \$: 'ranking' is a required property"),
        (f"[{GOOD}]", "invalid", r"at \$: .* is not of type 'object'"),
        ('"ranking"', "invalid", "is not of type 'object'"),
        ("[" * 100_000, "invalid", "nested too deeply"),
        ('{"a":' * 100_000, "cut off|invalid", "cut off|nested"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "invalid", "nested too deeply"),
        ("{} " * 2000, "invalid", "too many pieces"),
    ],
)
def test_what_is_no_json_or_another(text: str, kind: str, detail: str) -> None:
    with pytest.raises(Unusable, match=detail) as raised:
        read_json(text, RANKING)
    assert raised.value.kind in kind.split("|")
    # One plain sentence, whatever the answer was: it is stored, shown, and sent back to the model.
    assert raised.value.detail.endswith(".")
    assert raised.value.detail.isprintable()
    assert len(raised.value.detail) < 700


def test_the_first_problems_are_named_and_the_others_counted() -> None:
    text = json.dumps({"ranking": ["x" * 1000] * 9})
    with pytest.raises(Unusable) as raised:
        read_json(text, RANKING)
    assert raised.value.detail.count("at $.ranking[") == 3
    assert "and 6 more" in raised.value.detail


@pytest.mark.parametrize(
    "text",
    [
        "{" * 200_000,
        "<think>" * 50_000,
        "</think>" * 50_000,
        "<think></think>" * 30_000,
        "`" * 200_000,
        '"' * 200_000,
    ],
)
def test_no_answer_takes_long_to_read(text: str) -> None:
    began = time.process_time()
    for read in (lambda: read_json(text, RANKING), lambda: read_text(text)):
        with contextlib.suppress(Unusable):
            read()
    assert time.process_time() - began < 2


def test_reading_takes_as_long_as_the_answer_is() -> None:
    """A fence that nothing closes, before a run of blanks."""

    def seconds(n: int) -> float:
        began = time.process_time()
        with contextlib.suppress(Unusable):
            read_json("```\n" + " " * n + "x", RANKING)
        return time.process_time() - began

    assert min(seconds(200_000) for _ in range(3)) < 40 * min(seconds(20_000) for _ in range(3)), "linear: 10"


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='abc{}"\\'), inner),
    max_leaves=10,
)


@settings(max_examples=60)
@given(st.dictionaries(st.text(alphabet="xyz"), _JSON, min_size=1))
def test_any_object_is_found_in_prose_and_no_part_of_it_is(value: dict[str, Any]) -> None:
    written = json.dumps(value)
    assert read_json(f"Well: {written} I'd say.", {"type": "object"}) == value
    with pytest.raises(Unusable):
        read_json(f"Well: {written[:-1]}", {"type": "object"})


_SENTENCE = "The sky is blue and the grass is green. "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_SENTENCE * LOOP_TIMES, True),
        (_SENTENCE * (LOOP_TIMES - 1), False),
        (f"First of all: {_SENTENCE * LOOP_TIMES}So it is right.", True),
        ((_SENTENCE * (LOOP_TIMES + 1))[:-12], True),
        (_SENTENCE * 2 + _SENTENCE.upper().replace(" ", "\n ") * 2, True),
        ("error_category_" * 6, True),
        ("a" * LOOP_LENGTH, True),
        ("a" * (LOOP_LENGTH - 1), False),
        ("ha " * 10, False),
        ("北京是首都。" * 12, True),
        ("-" * 300, False),
        ("|---|---|\n" * 30, False),
        (" ".join(f"{n}: {_SENTENCE}" for n in range(50)), False),
        ("", False),
    ],
)
def test_a_text_that_loops(text: str, expected: bool) -> None:
    assert loops(text) is expected


def test_what_loops_is_refused_with_its_kind() -> None:
    refuse_loop(_SENTENCE)
    with pytest.raises(Unusable) as refused:
        refuse_loop(_SENTENCE * LOOP_TIMES)
    assert refused.value.kind == LOOPING


@pytest.mark.parametrize("unit", ["- ", "a b ", "-" * 5_000 + ".", "-.,;:" * 900 + "!"])
def test_whether_a_text_loops_takes_linear_time(unit: str) -> None:
    def seconds(n: int) -> float:
        text = (unit * n)[:n] + "?"
        start = time.process_time()
        loops(text)
        return time.process_time() - start

    assert seconds(160_000) < 20 * seconds(20_000) + 0.5
