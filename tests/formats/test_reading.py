import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.tables.containers import decode
from core.tables.reading import (
    JsonObject,
    clean_text,
    control_count,
    duplicate_problems,
    name_of,
    numbers_as_json,
    parse_json,
    printable_text,
    raw_text_problem,
    reject,
    sha256_of,
    shown,
    text_problem,
)


def problems_of(data: bytes) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        decode(data, "a.csv")
    return caught.value.problems


def test_utf8_with_and_without_byte_order_mark():
    assert decode("é".encode(), "a.csv") == "é"
    assert decode(b"\xef\xbb\xbf\xc3\xa9", "a.csv") == "é"


def test_a_wrong_encoding_is_one_problem_with_its_first_place():
    assert problems_of(b"\xef\xbb\xbfok\n\ncaf\xe9\nna\xefve \xe9\n") == (
        "line 3: byte 0xe9 is not UTF-8 (and 1 more lines); save the file as UTF-8 (Excel: CSV UTF-8)",
    )


def test_a_sequence_cut_off_by_the_line_break_is_named():
    assert problems_of(b"\xef\xbb\xbfok\n\xe6\x97\nmore") == (
        "line 2: byte 0xe6 is not UTF-8; save the file as UTF-8 (Excel: CSV UTF-8)",
    )


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "line 1: the file is empty"),
        (b" \n\t\n", "line 1: the file is empty"),
        ("".encode("utf-16"), "line 1: the file is empty"),
        (b"PK\x03\x04...", "file: is a zip archive; unpack it and use the table inside"),
    ],
)
def test_files_that_hold_no_text(data: bytes, problem: str):
    assert problems_of(data) == (problem,)


def test_the_error_names_the_file_and_counts():
    with pytest.raises(InputError, match=r"^b\.json cannot be imported: 2 problems\n  - x\n  - y$"):
        reject("b.json", ["x", "y"])
    with pytest.raises(InputError, match=r"^b\.json cannot be imported: 1 problem\n"):
        reject("b.json", ["x"])


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("", "is empty"),
        (" \n\t", "is blank"),
        ("\u200b\ufeff\u00a0", "is blank"),
        ("ab\0c", "contains the control character U+0000 (character 3)"),
        ("\x1b[1m", "contains the control character U+001B (character 1)"),
        ("it\x92s", "contains the control character U+0092 (character 3)"),
        ("a\ud800b", "contains half a surrogate pair, U+D800 (character 2)"),
        (None, "is null, expected text"),
        (True, "is true or false, expected text"),
        (3, "is a number, expected text"),
        (3.5, "is a decimal number, expected text"),
        ([], "is a list, expected text"),
        ({}, "is an object, expected text"),
        ("a\tb\r\nc\rd", None),
        ("👩‍🔬 日本語 שלום", None),
    ],
)
def test_text_problem(value: object, problem: str | None):
    assert text_problem(value) == problem


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("", "is empty"),
        ("\0", "is blank"),
        ("\x1c \x85\u200b\n", "is blank"),
        ("a\0b\x9f", None),
        ("\ufffd", None),
        ("\0\udfff", "contains half a surrogate pair, U+DFFF (character 2)"),
        (None, "is null, expected text"),
    ],
)
def test_raw_text_problem(value: object, problem: str | None):
    assert raw_text_problem(value) == problem


def test_what_cannot_be_shown_becomes_a_replacement_character():
    controls = [chr(code) for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\r\t"]
    assert len(controls) == 32 + 33 - 3
    for char in controls:
        assert printable_text(f"a{char}b") == "a\ufffdb"
        assert control_count(char * 3) == 3
    kept = "a\tb\r\nc\u2028d \u202e\u200b\ufeff\uffff 👩‍🔬"
    assert (printable_text(kept), control_count(kept)) == (kept, 0)
    assert printable_text("\ud83d\ud83d😀\udc00") == "\ufffd\ufffd😀\ufffd"


@given(st.text(st.characters(exclude_categories=())))
def test_a_text_that_is_taken_has_no_problem_once_stored(text: str):
    if raw_text_problem(text) is None:
        stored = clean_text(printable_text(text))
        assert text_problem(stored) is None
        assert clean_text(printable_text(stored)) == stored
        stored.encode()


def test_line_breaks_become_line_feeds_and_blanks_that_nobody_sees_go():
    assert clean_text(" a\r\nb \rc\n\r\n d \n") == "a\nb\nc\n\n d"


def test_names():
    assert name_of(" A1 ") == "A1"
    assert name_of(0) == "0"
    assert [name_of(value) for value in (None, True, 1.0, "", " ", "a\0", [])] == [None] * 7


def test_shown_is_short_and_printable():
    assert shown("a\ud800\u202eb\n") == "a\\ud800\\u202eb\\u000a"
    assert len(shown("x" * 5000)) == 60
    shown("\udfff").encode()


def test_json_problems_name_line_and_column():
    assert parse_json('{"a": 1,\n "b" 2}')[1] == (
        "line 2, column 6: not valid JSON (Expecting ':' delimiter)"
    )
    assert parse_json("{]", line=9)[1] is not None
    assert str(parse_json("{]", line=9)[1]).startswith("line 9, column 2: not valid JSON")
    assert str(parse_json("{}\n{}")[1]).endswith("if the file has one object a line, name it .jsonl")


@pytest.mark.parametrize("text", ["[" * 200_000, "1" * 5000, "[NaN]", "-Infinity"])
def test_json_that_python_refuses_is_a_problem(text: str):
    value, problem = parse_json(text)
    assert value is None
    assert str(problem).startswith("file: not readable as JSON")


def test_duplicate_keys_are_remembered_where_they_are():
    value, _ = parse_json('{"a": {"x": 1, "x": 2, "y": 3, "x": 4}, "b": {}}')
    assert isinstance(value, JsonObject)
    inner = value["a"]
    assert isinstance(inner, JsonObject)
    assert duplicate_problems("file", value) == []
    assert duplicate_problems("here", inner) == ["here: key x appears more than once"]


def test_sha256_is_of_the_raw_bytes():
    data = b"\xef\xbb\xbfa\r\n"
    assert sha256_of(data) == hashlib.sha256(data).hexdigest()


def test_numbers_that_json_lacks_are_replaced_outside_of_texts_only() -> None:
    text = (
        '{"a": NaN, "b": "NaN \\" Infinity"}\n{"c": "NaN"}\r\n\n{\n"d": -Infinity, "e": Infinity, "f": "x"}\n'
    )
    assert numbers_as_json(text) == (
        '{"a": null, "b": "NaN \\" Infinity"}\n{"c": "NaN"}\r\n\n{\n"d": "-Infinity", "e": "Infinity", "f": "x"}\n'
    )
    assert numbers_as_json("[1, 2]\n") == "[1, 2]\n"
