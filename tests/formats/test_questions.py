"""Questions and references without answers, in every form that is read."""

import csv
import io
import json
from pathlib import Path

import pytest

from core.errors import InputError
from core.formats.generation import COLUMNS, Task
from core.formats.registry import read_questions
from core.schema.study import Item, Material

ROWS = [
    {
        "item_id": "q1",
        "question": "Why, q1?",
        "reference": "So;\nit is.",
        "paraphrase": "That is so.",
        "context": "A passage, long.",
        "language": "en",
    },
    {
        "item_id": "q2",
        "question": "Чому?",
        "reference": '"Бо так."',
        "paraphrase": "",
        "context": "",
        "language": "",
    },
]
EXPECTED = (
    Material(Item("q1", "Why, q1?", "So;\nit is.", "en"), "That is so.", "A passage, long."),
    Material(Item("q2", "Чому?", '"Бо так."', "und")),
)


def as_csv(rows: list[dict[str, str]], delimiter: str = ",") -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def as_lines(rows: list[dict[str, object]]) -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def problems_of(data: bytes | str, name: str, task: Task | None = None) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_questions(data if isinstance(data, bytes) else data.encode(), name, task=task)
    count = caught.value.n_problems
    assert caught.value.what.endswith("1 problem" if count == 1 else f"{count} problems")
    return caught.value.problems


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (as_csv(ROWS), "q.csv"),
        (as_csv(ROWS), "upload"),
        (as_csv(ROWS, ";"), "q.csv"),
        (as_csv(ROWS, "\t"), "q.tsv"),
        (as_lines(ROWS), "q.jsonl"),
        (as_lines(ROWS), "upload"),
        (json.dumps(ROWS).encode(), "q.json"),
        (json.dumps({"questions": ROWS}, indent=1).encode(), "q.json"),
        (json.dumps({"questions": ROWS}).encode(), "upload"),
        (json.dumps(ROWS).encode(), "upload.txt"),
    ],
)
def test_every_form_gives_the_same_materials(data: bytes, name: str) -> None:
    found = read_questions(data, name)
    assert found.materials == EXPECTED
    assert found.notes == ()
    assert found.file_name == name


@pytest.mark.parametrize("wrap", [list, lambda rows: {"questions": rows}])
def test_the_papers_json_is_numbered_from_0(wrap: object) -> None:
    rows = [{"question": f"q{n}", "ground_truth": f"r{n}"} for n in range(3)]
    found = read_questions(json.dumps(wrap(rows)).encode(), "a.json")  # type: ignore[operator]
    assert [one.item for one in found.materials] == [Item(str(n), f"q{n}", f"r{n}") for n in range(3)]


def test_answers_of_a_data_set_are_ignored_and_said_so() -> None:
    row = {"id": 7, "question": "q", "ground_truth": "r", "answers": {"A0": {"x": "t"}}, "domain": "d"}
    found = read_questions(json.dumps({"questions": [row], "report": 1}).encode(), "dataset.json")
    assert found.materials == (Material(Item("7", "q", "r")),)
    assert found.notes == (
        "file: fields not used: report",
        "answers in the file are not used, only its questions and references",
        "questions: fields not used: domain",
    )


@pytest.mark.parametrize("lines", [False, True])
def test_a_long_table_of_answers_gives_its_questions_once(lines: bool) -> None:
    rows = [
        {
            "item_id": item,
            "question": q,
            "reference": "r" + item,
            "level": level,
            "source": source,
            "text": "t",
        }
        for item in ("a", "b")
        for level in ("A0", "A1")
        for source, q in (("x", ""), ("y", f"why {item}"))
    ]
    found = read_questions(as_lines(rows) if lines else as_csv(rows), "a.jsonl" if lines else "a.csv")
    assert [one.item for one in found.materials] == [Item("a", "why a", "ra"), Item("b", "why b", "rb")]
    assert [one.context for one in found.materials] == [None, None]
    rows[3]["reference"] = "other"
    assert problems_of(as_csv(rows), "a.csv") == (
        "line 5, question a: reference differs from an earlier line",
    )


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("qa", {"question": "question", "reference": "input_answer"}),
        ("qa", {"question": "question", "reference": "answer"}),
        ("qa-passage", {"context": "passage", "question": "question", "reference": "input_answer"}),
        ("summary", {"context": "source_text", "reference": "reference_summary"}),
        ("translation", {"context": "source_sentence", "reference": "reference_translation"}),
        ("translation", {"context": "source", "reference": "reference"}),
    ],
)
def test_the_papers_names_are_understood(task: Task, names: dict[str, str]) -> None:
    values = {"question": "Why?", "reference": "So.", "context": "The source."}
    row = {written: values[name] for name, written in names.items()}
    question = "Why?" if "question" in names else "The source."
    context = "The source." if "context" in names else None
    for data, name in (
        (as_csv([row]), "a.csv"),
        (as_lines([row]), "a.jsonl"),
        (json.dumps([row]).encode(), "a.json"),
    ):
        (found,) = read_questions(data, name, task=task).materials
        assert (found.item.question, found.item.reference, found.context) == (question, "So.", context)
        assert read_questions(data, name).materials == (found,)


def test_all_problems_are_found_together() -> None:
    rows: list[dict[str, object]] = [
        {"item_id": "a", "question": "q", "reference": 5},
        {"item_id": "a\nb", "question": " ", "reference": "r"},
        {"item_id": "c", "question": "q", "reference": "r\ud800", "language": "English, British"},
        {"item_id": "d", "question": "q", "context": ["x"]},
        {"item_id": "e", "question": "q", "reference": "r"},
    ]
    data = "\n".join(json.dumps(row) for row in rows) + "\n[]\n{"
    found = problems_of(data, "a.jsonl")
    assert found == (
        "line 6: is a list, expected an object",
        "line 7, column 2: not valid JSON (Expecting property name enclosed in double quotes)",
        "line 1, question a: reference is a number, expected text",
        "line 2: item_id contains a line break or a tab",
        "line 2, question 1: question is missing",
        "line 3, question c: reference contains half a surrogate pair, U+D800 (character 2)",
        "line 3, question c: language is not a tag such as en, pt-BR or und (English, British)",
        "line 4, question d: context is a list, expected text",
        "line 4, question d: reference is missing",
    )


@pytest.mark.parametrize(
    ("task", "row", "problem"),
    [
        ("qa", {"reference": "r", "context": "c"}, "question is missing"),
        (None, {"reference": "r"}, "question is missing"),
        (
            "qa-passage",
            {"reference": "r", "question": "q"},
            "context (passage) is missing; qa-passage needs it",
        ),
        ("summary", {"reference": "r"}, "question is missing and so is the source text"),
        ("summary", {"reference": "r", "context": 5}, "context is a number, expected text"),
        ("translation", {"reference": "r"}, "context (source sentence) is missing; translation needs it"),
        (
            "translation",
            {"reference": "r", "question": "q"},
            "context (source sentence) is missing; translation needs it",
        ),
    ],
)
def test_what_a_task_needs_is_asked_for(task: Task | None, row: dict[str, str], problem: str) -> None:
    assert problems_of(json.dumps([row]), "a.json", task) == (f"[0], question 0: {problem}",)


@pytest.mark.parametrize(
    ("data", "name", "problem"),
    [
        ("[]", "a.json", "file: contains no question; at least one is needed"),
        ('{"questions": []}', "a.json", "file: contains no question; at least one is needed"),
        ("question,reference\n", "a.csv", "file: contains no question; at least one is needed"),
        ("", "a.csv", "line 1: the file is empty"),
        ("{}", "a.json", 'file: "questions" is missing'),
        ('{"questions": {}}', "a.json", "questions: is an object, expected a list of questions"),
        ("[", "a.json", "line 1, column 2: not valid JSON (Expecting value)"),
        ("5", "a.json", "file: is a number, expected a list of questions"),
        (
            "question,text\nq,t\n",
            "a.csv",
            "line 1: column reference is missing (or: ref, ground_truth, input_answer, reference_summary, "
            "reference_translation, answer); unknown columns: text",
        ),
        ("question,reference,reference\nq,r,g\n", "a.csv", "line 1: column reference appears more than once"),
        ("question,reference\nq\n", "a.csv", "line 2: 1 cells, expected 2 as in the header"),
    ],
)
def test_files_that_are_no_questions(data: str, name: str, problem: str) -> None:
    assert problems_of(data, name) == (problem,)


def test_a_page_is_no_table() -> None:
    (problem,) = problems_of("<html><b>question,reference</b></html>", "upload")
    assert problem.startswith("file: is a web page")


def test_equal_questions_are_left_out_by_name() -> None:
    rows = [
        {"question": "Caf\u00e9?", "reference": "r", "context": ""},
        {"question": "Cafe\u0301? ", "reference": "r", "context": ""},
        {"question": "Caf\u00e9?", "reference": "r", "context": "other"},
        {"question": "Caf\u00e9?", "reference": "other", "context": ""},
        {"question": "Caf\u00e9?", "reference": "r", "context": ""},
    ]
    found = read_questions(as_csv(rows), "a.csv")
    assert [one.item.item_id for one in found.materials] == ["0", "2", "3"]
    assert found.notes == (
        "left out, because an earlier question has the same question, reference and context: 1 (as 0), 4 (as 0)",
    )


def test_an_id_names_one_question() -> None:
    rows = [{"id": 1, "question": q, "reference": "r"} for q in ("a", "b", "a")]
    assert problems_of(json.dumps(rows), "a.json") == (
        "[1], question 1: another question has the same id, in [0]",
    )
    table = b"id,question,reference\na,x,r\nb,x,r2\na,y,r\n"
    with pytest.raises(InputError) as caught:
        read_questions(table, "a.csv")
    assert caught.value.what == "a.csv cannot be read: 1 problem"
    assert caught.value.problems == ("line 4, question a: another question has the same id, in line 2",)


def test_what_every_question_lacks_is_said_once() -> None:
    rows: list[dict[str, str]] = [{"question": f"q{n}", "reference": "r"} for n in range(14)]
    assert problems_of(as_csv(rows), "a.csv", "translation") == (
        "file: context (source sentence) is missing in all 14 questions; translation needs it",
    )
    rows[3]["reference"] = ""
    found = problems_of("\n".join(map(json.dumps, rows)), "a.jsonl", "qa-passage")
    assert found == (
        "file: context (passage) is missing in all 14 questions; qa-passage needs it",
        "line 4, question 3: reference is empty",
    )
    rows[0]["context"] = "c"
    lacking, empty = problems_of("\n".join(map(json.dumps, rows)), "a.jsonl", "qa-passage")
    assert lacking.startswith("line 2, question 1; ")
    assert empty.startswith("line 4, question 3: ")


def test_control_characters_are_replaced_and_counted() -> None:
    rows = [{"question": "a\u0000b", "reference": "r", "paraphrase": "\u0007r", "context": " c \r\n d "}]
    found = read_questions(json.dumps(rows).encode(), "a.json")
    (one,) = found.materials
    assert (one.item.question, one.paraphrase, one.context) == ("a\ufffdb", "\ufffdr", "c\n d")
    assert found.notes == (
        "[0], question 0, question: 1 control character replaced by U+FFFD",
        "[0], question 0, paraphrase: 1 control character replaced by U+FFFD",
    )


def test_a_source_text_stands_in_for_a_missing_question() -> None:
    long = "Sentence. " * 20_000
    (one,) = read_questions(
        as_csv([{"source_text": long, "reference_summary": "s"}]), "a.csv", task="summary"
    ).materials
    assert one.item.question == one.context == long.strip()


def test_the_demo_questions_are_read() -> None:
    path = Path(__file__).parents[2] / "data" / "demo" / "questions.jsonl"
    found = read_questions(path.read_bytes(), path.name, task="qa")
    assert found.materials
    assert all(one.paraphrase for one in found.materials)
    assert {"en", "de", "ja", "ar"} <= {one.item.language for one in found.materials}


@pytest.mark.shared
def test_the_published_data_set_gives_its_questions(shared_data: Path) -> None:
    found = read_questions((shared_data / "assessment-dataset.json").read_bytes(), "assessment-dataset.json")
    assert [one.item.item_id for one in found.materials] == [str(number) for number in range(20)]


def test_the_examples_of_the_documentation_are_read_as_it_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text("utf-8")
    section = page.split("\n## Questions in\n")[1].split("\n## ")[0]
    examples = section.split("```")[1::2]
    assert [one.split("\n", 1)[0] for one in examples] == ["json", "csv"]
    for example, name in zip(examples, ("a.json", "a.csv"), strict=True):
        found = read_questions(example.split("\n", 1)[1].encode(), name)
        assert len(found.materials) == 2
        assert not found.notes
    assert all(f"`{column}`" in section for column in COLUMNS)
