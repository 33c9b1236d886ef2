"""YAML of prompts, tasks and rubrics: whatever stands in a file, it is read or refused in a sentence."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import AssayError, InputError
from core.formats.tasks import dump_task, find_task, parse_task
from core.judges.rubric import parse_rubric
from core.llm.prompts import parse_prompt
from core.yaml_fields import DEEPEST, LARGEST_FILE, read_yaml

DOORS: tuple[Callable[[str, str], object], ...] = (parse_prompt, parse_task, parse_rubric)
TASK = dump_task(find_task("mqm"))
DIGITS = ":1" * (LARGEST_FILE // 2 - 10)

pieces = st.sampled_from(
    [
        *("a", "name", "levels", "1", "0x_", "0b", "1:1:1", ".inf", "2020-13-01", "2020-01-01 99:99:99", "~"),
        *("!!int ", "!!float ", "!!bool ", "!!timestamp ", "!!set ", "!!omap ", "!!binary ", "!!str ", "!", "!<%ff> "),
        *("&a ", "*a", "<<", "=", "- ", "? ", ": ", ", ", "[", "]", "{", "}", "|", ">", "#", "%YAML 9.9", "---", "..."),
        *('"', "'", '"\\ud800"', '"\\UFFFFFFFF"', '"\\x00"', "\n", "\n", "\n  ", "\n    ", "\t", "\x85", "\ufeff", "\0"),
    ]
)  # fmt: skip
scraps = st.lists(st.one_of(pieces, st.text(max_size=3)), max_size=40).map("".join)


def refused(text: str) -> list[tuple[str, ...]]:
    """The problems of each reader; anything but InputError passes on."""
    found = []
    for parse in DOORS:
        with pytest.raises(InputError) as caught:
            parse(text, "a.yaml")
        str(caught.value).encode()
        found.append(caught.value.problems)
    return found


@settings(max_examples=600, deadline=None)
@given(scraps)
def test_scraps_of_yaml(text: str) -> None:
    refused(text)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 3000), st.integers(0, 3000), scraps)
def test_a_file_with_a_scrap_in_it(start: int, length: int, scrap: str) -> None:
    try:
        parse_task(TASK[:start] + scrap + TASK[start + length :], "a.yaml")
    except AssayError as error:
        str(error).encode()


@pytest.mark.parametrize(
    "text",
    [
        'a: !!int ""',
        'a: !!float "_"',
        "a: !!bool maybe",
        "a: !!timestamp x",
        "!!set {a, b}",
        'a: "\\UFFFFFFFF"',
        '"\\ud800": a',
        'levels:\n  "\\ud800": a',
        "a: 0x_",
        "a: 2020-13-45",
        "%YAML " + "1" * 5000 + ".1\n---\na: 1",
        "a: !!str {b: c}",
        "? [a]\n: b",
    ],
)
def test_what_is_no_plain_value_is_refused_with_its_line(text: str) -> None:
    assert read_yaml(text).values is None
    for problems in refused(text):
        assert problems[0].startswith("line ")


@pytest.mark.parametrize("value", ["1:30", "190:20:30", "1" + DIGITS, "1" + DIGITS + ".5", "<<", "="])
def test_numbers_of_base_60_are_texts(value: str) -> None:
    assert read_yaml(f"a: {value}").values == {"a": value}


@pytest.mark.parametrize("start", ["[", "- ", "{a: ", "? "])
def test_what_never_ends_is_left_where_it_is_too_deep(start: str) -> None:
    read = read_yaml("a:\n  " + start * (LARGEST_FILE // 5))
    assert read.values is None
    assert read.problems == (f"line 2: nested deeper than {DEEPEST} levels",)


def test_as_deep_as_allowed() -> None:
    lists = DEEPEST - 1
    assert read_yaml("a: " + "[" * lists + "]" * lists).values is not None
    assert read_yaml("a: " + "[" * (lists + 1) + "]" * (lists + 1)).values is None


def test_aliases_cannot_multiply() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
    for problems in refused(bomb):
        assert problems[0].startswith("line 2: *a0")


def test_a_number_is_short_enough_to_be_shown() -> None:
    for number in ("1" * 5000, "0x" + "f" * 5000, "1." + "0" * 5000):
        refused(f"name: {number}")
        assert read_yaml(f"name: {number}").values is None


def test_plain_values_are_those_of_yaml() -> None:
    text = """
        text: a
        quoted: "1"
        whole: [1, -2, 0x1f, 0b11, 017, 1_000]
        parts: [1.5, .5, 1e3, 1.5e+3, -.inf]
        truth: [yes, No, true, OFF]
        nothing: [~, null, ]
        tagged: [!!str 1, !!int 1, !!int "1", ! 1]
        fields: {1: a, true: b}
    """
    assert read_yaml(text).values == {
        "text": "a",
        "quoted": "1",
        "whole": [1, -2, 31, 3, 15, 1000],
        "parts": [1.5, 0.5, "1e3", 1500.0, float("-inf")],
        "truth": [True, False, True, False],
        "nothing": [None, None],
        "tagged": ["1", 1, 1, 1],
        "fields": {1: "b"},
    }
