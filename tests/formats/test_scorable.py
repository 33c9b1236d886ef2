"""Texts to be scored: every form, what `source` means, levels without a text, and what is wrong with a file."""

import csv
import io
import json

import pytest
from helpers.texts.factories import dataset, paper_json

from core.errors import InputError
from core.formats.generation import GeneratedText, long_csv, long_jsonl, meta_judge_jsonl
from core.formats.registry import read_texts
from core.formats.scorable import NO_TEXT, write_outputs
from core.schema.scores import ScorableOutput
from core.schema.study import Dataset, Item, Material

MATERIALS = [
    Material(Item("q1", "Why?", "So it is.", "en"), None, "A passage."),
    Material(Item("q2", "Чому?", "Бо так.", "uk")),
]
MADE = [
    GeneratedText("q1", "0", "tiny", "Yes; it is.", "verbatim"),
    GeneratedText("q1", "3", "tiny", "-179 °C", "llm"),
    GeneratedText("q2", "0", "tiny", "Так.", "verbatim"),
    GeneratedText("q2", "3", "tiny", None, "", "script: It is."),
]


def table(columns: str, *rows: str) -> bytes:
    return "\n".join((columns, *rows)).encode()


def texts_of(data: Dataset) -> tuple[ScorableOutput, ...]:
    items = {item.item_id: item for item in data.items}
    return tuple(
        ScorableOutput(
            one.item_id, one.source, one.text, item.reference, item.question, one.level, item.language
        )
        for one in data.outputs
        for item in [items[one.item_id]]
    )


def problems_of(data: bytes, name: str = "outputs.csv") -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_texts(data, name)
    return caught.value.problems


@pytest.mark.parametrize(("write", "name"), [(long_csv, "outputs.csv"), (long_jsonl, "outputs.jsonl")])
def test_what_generation_wrote(write: object, name: str) -> None:
    found = read_texts(write(MATERIALS, MADE), name)  # type: ignore[operator]
    assert found.outputs == (
        ScorableOutput("q1", "tiny", "Yes; it is.", "So it is.", "A passage.", "0", "en"),
        ScorableOutput("q1", "tiny", "-179 °C", "So it is.", "A passage.", "3", "en"),
        ScorableOutput("q2", "tiny", "Так.", "Бо так.", "Чому?", "0", "uk"),
    )
    assert found.left_out == {"script: It is.": 1}
    assert not [note for note in found.notes if "origin" in note], "our own file: nothing to be told"


def test_meta_judges_lines() -> None:
    found = read_texts(meta_judge_jsonl(MATERIALS, MADE), "meta-judge.jsonl")
    assert [(one.item_id, one.level, one.system, one.labels) for one in found.outputs] == [
        ("q1", "0", "tiny", {}),
        ("q1", "3", "tiny", {}),
        ("q2", "0", "tiny", {}),
    ]


def test_an_id_that_names_the_level_is_split_where_no_column_says_it() -> None:
    lines = [{"id": f"sky_level_level{level}", "answer": "x", "ground_truth": "y"} for level in (0, 5)]
    found = read_texts("".join(json.dumps(line) + "\n" for line in lines).encode(), "000.jsonl")
    assert [(one.item_id, one.level) for one in found.outputs] == [("sky_level", "0"), ("sky_level", "5")]
    stated = read_texts(b"id,level,text\nsky_level3,4,x\n", "x.csv")
    assert (stated.outputs[0].item_id, stated.outputs[0].level) == ("sky_level3", "4")


def test_the_papers_json_with_one_text_a_source_and_with_a_text_alone() -> None:
    data = dataset(2, ("A0", "A1"))
    found = read_texts(paper_json(data), "answers.json")
    assert found.outputs == texts_of(data)
    alone = {
        "questions": [
            {"id": 0, "question": "Why?", "ground_truth": "So.", "answers": {"A0": "So!", "A1": "No."}}
        ]
    }
    found = read_texts(json.dumps(alone).encode(), "dataset.json")
    assert found.outputs[1] == ScorableOutput("0", "output", "No.", "So.", "Why?", "A1")
    assert any("names no system" in note for note in found.notes)


def test_any_number_of_systems_and_missing_levels() -> None:
    answers = {"A0": {"a": "1", "b": "2", "c": "3"}, "A1": {"b": "4"}}
    whole = {"questions": [{"id": "q", "question": "Why?", "ground_truth": "So.", "answers": answers}]}
    found = read_texts(json.dumps(whole).encode(), "x.json")
    assert [(one.system, one.level) for one in found.outputs] == [
        ("a", "A0"),
        ("b", "A0"),
        ("c", "A0"),
        ("b", "A1"),
    ]


@pytest.mark.parametrize(
    ("columns", "row", "system", "source"),
    [
        ("item,system,source,mt,ref", "1,GPT,Hello.,Hallo.,Guten Tag.", "GPT", "Hello."),
        ("item,src,hypothesis,reference", "1,Hello.,Hallo.,Guten Tag.", "output", "Hello."),
        ("item,source,hypothesis,reference", "1,Hello.,Hallo.,Guten Tag.", "output", "Hello."),
        ("item,question,source,text,reference", "1,Why?,tiny,So.,Yes.", "tiny", "Why?"),
        ("item,level,source,text,reference", "1,A0,tiny,So.,Yes.", "tiny", None),
        ("item,context,question,source,text,reference", "1,Passage,Why?,tiny,So.,Yes.", "tiny", "Passage"),
        (
            "item,question,system,source,text,reference",
            "1,Translate,GPT,Hello.,Hallo.,Guten Tag.",
            "GPT",
            "Hello.",
        ),
    ],
)
def test_what_source_means(columns: str, row: str, system: str, source: str | None) -> None:
    (one,) = read_texts(table(columns, row), "x.csv").outputs
    assert (one.system, one.source) == (system, source)


def test_other_columns_are_labels_and_a_language_pair_names_the_language() -> None:
    data = table(
        "id,system,lp,Domain,shots,text,reference,comment",
        "1,GPT,en-de,news,5,Hallo,Servus,",
        f"2,GPT,en-de,news,0,Hallo,Servus,{'long ' * 50}",
    )
    found = read_texts(data, "x.csv")
    assert found.outputs[0].labels == {"language_pair": "en-de", "Domain": "news", "shots": "5"}
    assert {one.language for one in found.outputs} == {"de"}
    assert any(note.startswith("column comment is not used") and "line 3" in note for note in found.notes)


def test_a_column_pair_is_a_label_as_any_other() -> None:
    (one,) = read_texts(table("item,lp,pair,text", "1,en-de,17,Hallo"), "x.csv").outputs
    assert (one.language, one.labels) == ("de", {"language_pair": "en-de", "pair": "17"})
    (one,) = read_texts(table("item,lp,language_pair,text", "1,old,en-de,Hallo"), "x.csv").outputs
    assert (one.language, one.labels) == ("de", {"language_pair": "en-de", "lp": "old"})


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.csv"])
def test_a_doubled_column_is_a_problem_in_every_form(name: str) -> None:
    row = {"item": 1, "Text": "x", "text": "y"}
    forms = {".json": json.dumps([row]), ".jsonl": json.dumps(row), ".csv": "item,Text,text\n1,x,y\n"}
    (problem,) = problems_of(forms[name.removeprefix("x")].encode(), name)
    assert "text appears more than once" in problem


def test_problems_of_jsonl_come_in_the_order_of_its_lines() -> None:
    lines = ('{"item": 1, "Text": "x", "text": "y"}', "[]", '{"item": 2, "item": 3, "text": "x"}', "{", "")
    found = problems_of("\n".join(lines).encode(), "x.jsonl")
    assert [problem.split(":")[0].split(",")[0] for problem in found] == [f"line {n}" for n in (1, 2, 3, 4)]


def test_the_same_text_may_stand_twice_only_where_a_label_differs() -> None:
    rows = ("1,GPT,A0,few,x,r", "1,GPT,A0,zero,x,r")
    assert len(read_texts(table("item,system,level,shots,text,ref", *rows), "x.csv").outputs) == 2
    (problem,) = problems_of(
        table("item,system,level,text,ref", "1,GPT,A0,x,r", "2,GPT,A0,y,s", "1,GPT,A0,z,r")
    )
    assert problem == "line 4, item 1: the same item, system, level and labels as in line 2, item 1"


def test_what_belongs_to_the_item_may_stand_on_one_row() -> None:
    found = read_texts(
        table("item,question,reference,language,level,source,text", "1,Why?,So.,en,A0,a,x", "1,,,,A1,a,y"),
        "x.csv",
    )
    assert [(one.reference, one.source, one.language) for one in found.outputs] == [("So.", "Why?", "en")] * 2
    (problem,) = problems_of(table("item,level,reference,text", "1,A0,So.,x", "1,A1,No.,y"))
    assert problem == "line 3, item 1: reference differs from line 2, item 1"


def test_a_row_without_a_text_still_says_what_belongs_to_its_item() -> None:
    found = read_texts(
        table("item,question,ref,lang,level,source,text", "1,Why?,So.,en,0,a,", "1,,,,1,a,y"), "x.csv"
    )
    assert found.outputs == (ScorableOutput("1", "a", "y", "So.", "Why?", "1", "en"),)


def test_one_id_in_two_languages_is_two_items() -> None:
    found = read_texts(table("item,lang,ref,text", "1,en,Yes,x", "1,cs,Ano,y"), "x.csv")
    assert [(one.language, one.reference) for one in found.outputs] == [("en", "Yes"), ("cs", "Ano")]


def test_a_reference_may_be_missing() -> None:
    found = read_texts(table("item,system,text,ref", "1,a,x,r", "2,a,y,"), "x.csv")
    assert [one.reference for one in found.outputs] == ["r", None]
    assert found.notes == ()


def test_an_empty_text_of_json_is_one_and_an_empty_cell_is_none() -> None:
    found = read_texts(table("item,text", "1,x", "2,"), "x.csv")
    assert (len(found.outputs), found.left_out) == (1, {NO_TEXT: 1})
    lines = b'{"item": 1, "text": ""}\n{"item": 2, "text": null}\n'
    found = read_texts(lines, "x.jsonl")
    assert ([one.text for one in found.outputs], found.left_out) == ([""], {NO_TEXT: 1})


def test_nan_in_a_text_of_a_table_stays() -> None:
    (one,) = read_texts(table("item,text", "1,NaN and Infinity"), "x.csv").outputs
    assert one.text == "NaN and Infinity"
    (one,) = read_texts(b'{"item": 1, "text": "NaN, \\"NaN\\"", "shots": NaN}\n', "x.jsonl").outputs
    assert (one.text, one.labels) == ('NaN, "NaN"', {})


def test_all_problems_together() -> None:
    found = problems_of(table("item,system,language,text", ",a,en,x", "2,a,??,y", "3,a\u0000,en,z"))
    assert [problem.split(":")[0] for problem in found] == ["line 2", "line 3", "line 4"]
    assert "column text is missing (or: output" in problems_of(b"item,words\n1,x\n")[0]
    assert problems_of(b"item,text\n") == ("file: contains no row with text; at least one is needed",)
    assert problems_of(b'{"item": 1, "text"\n', "x.jsonl")[0].startswith("line 1, column")


def test_written_and_read_again() -> None:
    outputs = (
        ScorableOutput(
            "1", "GPT", "\ufeffHallo", "Servus", "Hello", None, "de", {"domain": "news", "id": "x"}
        ),
        ScorableOutput("2", "GPT", "=1+1", None, None, "A0", "und"),
        ScorableOutput("3", "GPT", "", "r"),
    )
    found = read_texts(write_outputs(outputs), "kept.jsonl")
    assert found.outputs == outputs
    assert found.left_out == {}


def test_a_semicolon_table_with_a_formula() -> None:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=";").writerows([["item", "text", "ref"], ["1", "'=1+1", "a;b"]])
    (one,) = read_texts(buffer.getvalue().encode(), "x.csv").outputs
    assert (one.text, one.reference) == ("=1+1", "a;b")


@pytest.mark.parametrize("name", ["upload", "upload.txt"])
@pytest.mark.parametrize("indent", [None, 1])
def test_without_a_telling_name_the_beginning_tells(name: str, indent: int | None) -> None:
    data = dataset(1, ("A0", "A1"))
    whole = json.dumps(json.loads(paper_json(data)), indent=indent).encode()
    assert read_texts(whole, name).outputs == texts_of(data)
    rows = [{"item": "1", "text": "x"}, {"item": "2", "text": "y"}]
    for file in (json.dumps(rows, indent=indent), "\n".join(map(json.dumps, rows)), "item,text\n1,x\n2,y\n"):
        assert [one.text for one in read_texts(file.encode(), name).outputs] == ["x", "y"]
