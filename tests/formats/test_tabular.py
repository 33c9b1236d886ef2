import csv
import dataclasses
import io
import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.formats.study.tables import COLUMNS, read_tabular

ROWS = [
    {
        "item_id": item,
        "question": f"Why, {item}?",
        "reference": "So;\r\nit is.",
        "level": level,
        "source": source,
        "text": f'{item} "{level}"\tby {source}',
        "language": "en",
    }
    for item in ("q1", "q2")
    for level in ("A0", "A1")
    for source in ("pipe", "person")
]


def rows(**changes: str) -> list[dict[str, str]]:
    return [row | changes for row in ROWS]


def as_csv(table: list[dict[str, str]], delimiter: str = ",", columns: tuple[str, ...] = COLUMNS) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, delimiter=delimiter, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(table)
    return out.getvalue().encode()


def as_jsonl(table: list[dict[str, str]]) -> bytes:
    return "\n".join(json.dumps(row) for row in table).encode()


def problems_of(data: bytes, name: str = "a.csv") -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_tabular(data, name)
    return caught.value.problems


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_csv_with_any_separator(delimiter: str, mark: bytes):
    dataset = read_tabular(mark + as_csv(ROWS, delimiter), "a.csv")
    assert [item.item_id for item in dataset.items] == ["q1", "q2"]
    assert dataset.items[0].reference == "So;\nit is."
    assert dataset.items[0].language == "en"
    assert dataset.levels == ("A0", "A1")
    assert dataset.sources == ("pipe", "person")
    assert {o.text for o in dataset.outputs} == {row["text"] for row in ROWS}


def test_csv_and_jsonl_give_the_same_data_set():
    def bare(data: bytes, name: str) -> object:
        return dataclasses.replace(read_tabular(data, name), sha256="", file_name="")

    assert bare(as_csv(ROWS), "a.csv") == bare(as_jsonl(ROWS), "a.jsonl") == bare(as_jsonl(ROWS), "noname")


def test_header_in_another_order_case_and_with_blank_lines():
    data = b"\n" + as_csv(ROWS, columns=COLUMNS[::-1]).replace(b"item_id", b" Item_ID ", 1) + b",,,,,,\n\n"
    assert len(read_tabular(data, "a.csv").outputs) == 8


def test_question_reference_and_language_once_per_item():
    table = [
        row if at % 4 == 2 else row | {"question": "", "reference": " ", "language": ""}
        for at, row in enumerate(ROWS)
    ]
    dataset = read_tabular(as_csv(table), "a.csv")
    assert dataset.items[1].question == "Why, q2?"
    assert dataset.items[1].language == "en"


def test_language_is_optional_and_other_columns_are_noted():
    columns = (*COLUMNS[:-1], "topic", "Rater Note")
    dataset = read_tabular(as_csv(ROWS, columns=columns), "a.csv")
    assert dataset.items[0].language == "und"
    assert dataset.notes == ("columns not used: topic, Rater Note",)
    table = [{**row, "topic": "x"} for row in ROWS]
    assert read_tabular(as_jsonl(table), "a.jsonl").notes == ("columns not used: topic",)


def test_a_field_beyond_the_csv_limit_of_python():
    table = rows()
    table[0]["text"] = "x" * 300_000
    assert len(read_tabular(as_csv(table), "a.csv").outputs[0].text) == 300_000


def test_whole_numbers_are_names_in_jsonl():
    table = [dict(row, item_id=7, level=0) for row in ROWS[:2]]
    dataset = read_tabular("\n".join(json.dumps(row) for row in table).encode(), "a.jsonl")
    assert (dataset.items[0].item_id, dataset.levels) == ("7", ("0",))


# Lines of ROWS in the CSV: each reference holds a line break, so row n starts in line 2n (1-based).
@pytest.mark.parametrize(
    ("at", "change", "problems"),
    [
        (
            2,
            {"level": "A1\0"},
            ["line 6, question q1: level contains the control character U+0000 (character 3)"],
        ),
        (
            2,
            {"source": "\x1cpipe"},
            ["line 6, question q1, level A1: source contains the control character U+001C (character 1)"],
        ),
        (
            3,
            {"question": "Else?"},
            ["line 8, question q1: question differs from the one in line 2"],
        ),
        (3, {"reference": "No."}, ["line 8, question q1: reference differs from the one in line 2"]),
        (3, {"language": "de"}, ["line 8, question q1: language differs from the one in line 2"]),
        (2, {"level": ""}, ["line 6, question q1: level is empty"]),
        (2, {"source": " "}, ["line 6, question q1, level A1: source is blank"]),
        (2, {"item_id": ""}, ["line 6: item_id is empty"]),
        (
            2,
            {"level": "A0"},
            [
                "line 6, question q1, level A0, system pipe: text occurs more than once (first in line 2), "
                "but level A1 has none"
            ],
        ),
        (
            2,
            {"source": "pip"},
            [
                "line 6, question q1, level A1, column source: pip occurs once, but the other texts have pipe and person; "
                "did you mean pipe?"
            ],
        ),
    ],
)
def test_one_mistake_in_a_row(at: int, change: dict[str, str], problems: list[str]):
    table = rows()
    table[at] |= change
    assert list(problems_of(as_csv(table))) == problems


def test_items_without_question_or_reference():
    table = [row | {"question": "", "reference": " "} if row["item_id"] == "q2" else row for row in ROWS]
    assert problems_of(as_csv(table)) == (
        "line 10, question q2: question is empty",
        "line 10, question q2: reference is empty",
    )
    assert problems_of(as_csv(rows(question="", reference=" "))) == (
        "file: column question is empty in all 8 rows",
        "file: column reference is empty in all 8 rows",
    )


def test_a_language_is_a_tag_or_has_a_name():
    """Arena files write it in words; one that nobody knows is undetermined, which a note says."""
    assert {item.language for item in read_tabular(as_csv(rows(language="English")), "a.csv").items} == {"en"}
    found = read_tabular(as_csv(rows(language="English, US")), "a.csv")
    assert {item.language for item in found.items} == {"und"}
    assert any("English, US" in note for note in found.notes)


def test_missing_rows():
    assert problems_of(as_csv(ROWS[:-1])) == (
        "question q2 (lines 10, 12 and 14), level A1, system person: text is missing",
    )
    assert problems_of(as_csv(ROWS[:-2])) == (
        "question q2 (lines 10 and 12), level A1: texts of both systems are missing",
    )


def test_one_source():
    assert problems_of(as_csv(ROWS[::2])) == ("systems: found 1 (pipe), expected exactly two",)


MEANT = [
    ({"reference": "Refs"}, {"reference": "refs"}),
    ({"text": "txt"}, {"text": "txt"}),
    ({"level": "zzz"}, {"level": None}),
]


@pytest.mark.parametrize("write", [as_csv, as_jsonl])
def test_columns_are_known_by_their_other_names(write: Callable[..., bytes]):
    """Those of every other table of Assay, in any case and with any separator."""
    names = {"item_id": "Question-ID", "reference": "ref", "source": "system", "text": "Output"}
    table = [{names.get(column, column): cell for column, cell in row.items()} for row in ROWS]
    plain = write(ROWS), write(table, columns=tuple(table[0])) if write is as_csv else write(table)
    suffix = "csv" if write is as_csv else "jsonl"
    usual, other = (read_tabular(data, f"a.{suffix}") for data in plain)
    assert (usual.items, usual.outputs, other.notes) == (other.items, other.outputs, usual.notes)


@pytest.mark.parametrize(
    ("renamed", "likely"),
    MEANT,
)
@pytest.mark.parametrize("write", [as_csv, as_jsonl])
def test_missing_columns_are_named_with_those_that_may_be_meant(
    renamed: dict[str, str], likely: dict[str, str | None], write: Callable[..., bytes]
):
    table = [{renamed.get(column, column): cell for column, cell in row.items()} for row in ROWS]
    csv_form = write is as_csv
    data = as_csv(table, columns=tuple(table[0])) if csv_form else as_jsonl(table)
    found = problems_of(data, "a.csv" if csv_form else "a.jsonl")
    assert len(found) == len(renamed)
    for problem, (column, name) in zip(found, likely.items(), strict=True):
        word = "system" if column == "source" else column
        start = f"{'line 1' if csv_form else 'file'}: column {word} is missing; "
        assert problem.lower() == start + (
            f"is it {name}? rename that column to {word}" if name else "unknown columns: zzz"
        )


def test_a_column_twice():
    assert problems_of(as_csv(ROWS).replace(b"language", b"text", 1)) == (
        "line 1: column text appears more than once",
    )


def test_ragged_rows():
    lines = b"item_id,question,reference,level,source,text\n1,q,r,A0,x,t\n1,q,r,A0,y,a, b\n1,q,r\n"
    problems = problems_of(lines)
    assert problems[:2] == (
        "line 3: 7 cells, expected 6 as in the header",
        "line 4: 3 cells, expected 6 as in the header",
    )


def test_a_quote_that_never_closes_is_named_by_the_line_it_opens_in():
    lines = b'item_id,question,reference,level,source,text\n1,q,r,A0,x,t\n1,q,r,A0,y,"open\n1,q,r,A1,x,t\n'
    assert problems_of(lines)[0] == (
        "line 3: the row that starts on this line is not valid CSV (unexpected end of data)"
    )


def test_text_behind_a_closed_quote_is_named_with_a_readable_separator():
    lines = b'item_id\tquestion\treference\tlevel\tsource\ttext\n1\tq\tr\tA0\tx\t"t" more\n'
    assert problems_of(lines, "a.tsv")[0] == (
        "line 2: the row that starts on this line is not valid CSV (a tab expected after '\"')"
    )


def test_a_header_alone():
    assert problems_of(b"item_id,question,reference,level,source,text\n") == (
        "file: there are no rows below the header; at least one question is needed",
    )


def test_jsonl_problems_name_their_line():
    good = [json.dumps(row) for row in ROWS]
    bad = [
        "{",
        "[]",
        json.dumps({key: value for key, value in ROWS[0].items() if key != "text"} | {"level": "A2"}),
        json.dumps(ROWS[0] | {"level": "A3", "text": 4}),
        json.dumps(ROWS[0] | {"level": True}),
        json.dumps({"level": "A0"}),
        '{"item_id": "q9", "item_id": "q1", "level": "A4", "source": "pipe", "text": "\\ud800"}',
    ]
    problems = problems_of("\n".join([*good, "", *bad]).encode(), "a.jsonl")
    expected = [
        "line 10, column 2: not valid JSON",
        "line 11: is a list, expected an object",
        "line 16: key item_id appears more than once",
        "line 15: item_id is missing",
        "line 12, question q1, level A2, system pipe: text is missing",
        "line 13, question q1, level A3, system pipe: text is a number, expected text",
        "line 14, question q1: level is true or false, expected text or a whole number",
        "line 16, question q1, level A4, system pipe: text contains half a surrogate pair",
    ]
    for found, start in zip(problems, expected, strict=False):
        assert found.startswith(start)


def test_a_question_that_is_no_text_in_jsonl():
    table = [dict(row, question=[1]) for row in ROWS[:2]]
    assert problems_of("\n".join(json.dumps(row) for row in table).encode(), "a.jsonl") == (
        "line 1, question q1: question is a list, expected text",
    )


def check_readable(error: InputError) -> None:
    assert error.problems
    str(error).encode()


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from([as_csv(ROWS), as_csv(ROWS, ";"), as_jsonl(ROWS)]),
    st.lists(
        st.tuples(st.integers(0, 3000), st.integers(0, 30), st.text(max_size=4)), min_size=1, max_size=3
    ),
    st.sampled_from(["a.csv", "a.jsonl", "a.tsv", "a.txt"]),
)
def test_damaged_tables_raise_nothing_but_input_error(
    data: bytes, damages: list[tuple[int, int, str]], name: str
):
    for at, length, new in damages:
        at %= max(1, len(data))
        data = data[:at] + new.encode() + data[at + length :]
    try:
        dataset = read_tabular(data, name)
    except InputError as error:
        check_readable(error)
    else:
        assert len(dataset.outputs) == len(dataset.items) * len(dataset.levels) * 2


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                column: st.none()
                | st.integers(0, 1)
                | st.sampled_from(["", "A0", "x", "y", "en"])
                | st.text()
                for column in COLUMNS
            },
        ),
        max_size=6,
    )
)
def test_any_rows_raise_nothing_but_input_error(table: list[dict[str, object]]):
    try:
        read_tabular("\n".join(json.dumps(row) for row in table).encode(), "a.jsonl")
    except InputError as error:
        check_readable(error)


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1), min_size=2, max_size=2))
def test_texts_come_back_as_they_were(texts: list[str]):
    table = [ROWS[at] | {"text": f".{text}."} for at, text in enumerate(texts)]
    dataset = read_tabular(as_csv(table), "a.csv")
    assert [output.text for output in dataset.outputs] == [f".{text}." for text in texts]


@pytest.mark.parametrize("twin", ["PIPE", "ｐｉｐｅ", "pipe\u200b"], ids=ascii)
def test_sources_that_look_alike(twin: str):
    table = [row | {"source": twin} if row["source"] == "person" else row for row in ROWS]
    assert any("look alike" in problem for problem in problems_of(as_csv(table)))


@pytest.mark.parametrize(("name", "why"), [("two\nlines", "line break"), ("x" * 201, "more than 200")])
def test_names_stay_short_and_on_one_line(name: str, why: str):
    found = problems_of(as_jsonl([row | {"item_id": name} for row in ROWS]), "a.jsonl")
    assert why in found[0]


def test_blanks_around_a_text_do_not_mark_its_source():
    table = [
        row | {"text": f"{row['text']} \r\n" if row["source"] == "pipe" else row["text"]} for row in ROWS
    ]
    assert read_tabular(as_csv(table), "a.csv").outputs == read_tabular(as_csv(ROWS), "a.csv").outputs


def test_characters_nobody_sees_are_noted_by_source():
    marked = [
        row | {"text": row["text"] + "\u200bx\u00a0y"} if row["source"] == "pipe" else row for row in ROWS
    ]
    (note,) = read_tabular(as_csv(marked), "a.csv").notes
    assert note == "texts of system pipe contain invisible characters: U+00A0 in 4, U+200B in 4"


def test_control_characters_become_visible_and_are_counted_with_their_line():
    table = rows()
    table[2]["text"] = "\x1ca\0b\x85"
    for row in table[:4]:
        row["question"] = "Why\x07?"
    dataset = read_tabular(as_csv(table), "a.csv")
    assert dataset.items[0].question == "Why\ufffd?"
    assert [output.text for output in dataset.outputs][2] == "\ufffda\ufffdb\ufffd"
    assert dataset.notes == (
        "line 2, question q1, question: 1 control character replaced by U+FFFD",
        "line 6, question q1, level A1, system pipe: 3 control characters replaced by U+FFFD",
    )


def test_a_question_of_control_characters_alone_is_a_blank_cell():
    table = [row if at % 4 == 2 else row | {"question": "\0 \x1c"} for at, row in enumerate(ROWS)]
    assert read_tabular(as_csv(table), "a.csv").items[1].question == "Why, q2?"
