import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.formats.registry import read_study
from core.formats.study.files import read_dataset
from core.formats.study.pairs import natural_order
from core.schema.study import NO_ANSWER
from core.tables.problems import MOST_REPLACED_NOTES


def valid() -> dict[str, Any]:
    answers = {level: {"ai": f"{level} by ai", "human": f"{level} by human"} for level in ("A0", "A2", "A10")}
    return {
        "questions": [
            {"id": 0, "question": "Why?", "ground_truth": "So.", "answers": copy.deepcopy(answers)},
            {"id": "q-3", "question": "Who?", "ground_truth": "They.", "answers": copy.deepcopy(answers)},
        ]
    }


def problems_of(value: object) -> tuple[str, ...]:
    text = value if isinstance(value, str) else json.dumps(value)
    with pytest.raises(InputError) as caught:
        read_study(text.encode(), "a.json").finish()
    count = caught.value.n_problems
    assert caught.value.what == f"a.json cannot be imported: {count} problem{'s' if count > 1 else ''}"
    return caught.value.problems


def test_a_valid_file():
    data = json.dumps(valid()).encode()
    dataset = read_study(data, "a.json").finish()
    assert [item.item_id for item in dataset.items] == ["0", "q-3"]
    assert (dataset.items[1].question, dataset.items[1].reference) == ("Who?", "They.")
    assert dataset.items[0].language == "und"
    assert dataset.levels == ("A0", "A2", "A10")
    assert dataset.sources == ("ai", "human")
    assert len(dataset.outputs) == 2 * 3 * 2
    assert {o.text for o in dataset.outputs if o.item_id == "0" and o.level == "A2"} == {
        "A2 by ai",
        "A2 by human",
    }
    assert (dataset.sha256, dataset.file_name) == (hashlib.sha256(data).hexdigest(), "a.json")
    assert dataset.notes == ()


def test_language_other_source_names_and_ids_from_the_index():
    value = valid()
    value["questions"][1]["language"] = "pt-BR"
    for question in value["questions"]:
        question.pop("id")
        question["answers"] = {"A0": {"Écrit": "a\r\nb", "système 2": "c"}}
    dataset = read_study(json.dumps(value).encode(), "a.json").finish()
    assert [item.item_id for item in dataset.items] == ["0", "1"]
    assert dataset.items[1].language == "pt-BR"
    assert dataset.sources == ("Écrit", "système 2")
    assert dataset.outputs[0].text == "a\nb"


def test_identical_texts_and_unused_fields_are_notes():
    value = valid() | {"version": 2}
    value["questions"][0]["topic"] = "x"
    value["questions"][1]["answers"]["A2"] = {"ai": "same", "human": "same"}
    notes = read_study(json.dumps(value).encode(), "a.json").finish().notes
    assert notes == (
        "file: fields not used: version",
        "questions: fields not used: topic",
        "question q-3, level A2: both systems have the same text",
    )


def test_control_characters_become_visible_and_are_counted():
    value = valid()
    value["questions"][1] |= {"question": "Wh\0?", "ground_truth": "\x07So\x9f"}
    value["questions"][1]["answers"]["A2"]["ai"] = "it\x92s\r\n\x1b[1m\tred"
    dataset = read_study(json.dumps(value).encode(), "a.json").finish()
    assert dataset.items[1].question == "Wh\ufffd?"
    assert dataset.items[1].reference == "\ufffdSo\ufffd"
    assert "it\ufffds\n\ufffd[1m\tred" in {output.text for output in dataset.outputs}
    assert dataset.notes == (
        "question q-3, question: 1 control character replaced by U+FFFD",
        "question q-3, ground_truth: 2 control characters replaced by U+FFFD",
        "question q-3, level A2, system ai: 2 control characters replaced by U+FFFD",
    )


def test_many_texts_with_control_characters_are_counted_in_all():
    value = valid()
    for question in value["questions"]:
        for level in range(10):
            question["answers"][f"A{level}"] = {"ai": "a\0\0", "human": f"b{level}\0"}
        question["answers"].pop("A10")
    notes = read_study(json.dumps(value).encode(), "a.json").finish().notes
    assert len(notes) == MOST_REPLACED_NOTES + 1
    assert notes[-1] == "60 control characters replaced by U+FFFD in 40 texts in all; the first 20 are listed"


def test_a_file_name_that_no_database_can_hold():
    """What the shell hands over for a name that is not UTF-8."""
    dataset = read_study(json.dumps(valid()).encode(), "caf\udce9\0.json").finish()
    assert dataset.file_name == "caf\ufffd\ufffd.json"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"questions": [\n  {"id" 1}\n]}', "line 2, column 9: not valid JSON (Expecting ':' delimiter)"),
        ("[]", 'file: is a list, expected an object with "questions"'),
        ("null", 'file: is null, expected an object with "questions"'),
        ('{"question": []}', 'file: "questions" is missing'),
        ('{"questions": {}}', "questions: is an object, expected a list"),
        ('{"questions": []}', "questions: the list is empty; at least one question is needed"),
        ('{"questions": [null]}', "questions[0]: is null, expected an object"),
        ('{"questions": [["x"]]}', "questions[0]: is a list, expected an object"),
    ],
)
def test_files_of_another_shape(text: str, problem: str):
    (found,) = problems_of(text)
    assert found.startswith(problem)


# (where, new value or None to delete) -> the only problem of the file
A2 = ("answers", "A2")
ONE_MISTAKE: list[tuple[tuple[str, ...], Any, str]] = [
    (("question",), "", "question q-3: question is empty"),
    (("question",), 5, "question q-3: question is a number, expected text"),
    (("ground_truth",), None, "question q-3: ground_truth is null, expected text"),
    (("ground_truth",), "\0\x1b", "question q-3: ground_truth is blank"),
    (
        ("ground_truth",),
        "\0\udc00",
        "question q-3: ground_truth contains half a surrogate pair, U+DC00 (character 2)",
    ),
    (("answers",), [], "question q-3: answers is a list, expected an object of levels"),
    (("answers",), None, "question q-3: answers is null, expected an object of levels"),
    (("answers",), {}, "question q-3: answers is empty"),
    (A2, ["x"], "question q-3, level A2: is a list, expected an object with one text per system"),
    (A2, "x", "question q-3, level A2: is text, expected an object with one text per system"),
    (A2, {}, "question q-3, level A2: is empty, expected one text per system"),
    ((*A2, "human"), {}, "question q-3, level A2, system human: text is an object, expected text"),
    (
        (*A2, "human"),
        "x\ud800",
        "question q-3, level A2, system human: text contains half a surrogate pair, U+D800 (character 2)",
    ),
    (("language",), "en_US", "question q-3: language is not a tag such as en, pt-BR or und (en_US)"),
    (
        ("language",),
        None,
        "question q-3: language is not a tag such as en, pt-BR or und (is null, expected text)",
    ),
    (("id",), None, "questions[1]: id is null, expected text or a whole number"),
    (("id",), 1.5, "questions[1]: id is a decimal number, expected text or a whole number"),
    (("id",), " ", "questions[1]: id is blank"),
    (("id",), "q\0", "questions[1]: id contains the control character U+0000 (character 2)"),
    (("language",), "en\x1c", "question q-3: language is not a tag such as en, pt-BR or und (en\\u001c)"),
    (("id",), "0", "question 0: 2 questions have this id"),
]


@pytest.mark.parametrize(("path", "new", "problem"), ONE_MISTAKE)
def test_one_mistake_is_one_problem_at_its_place(path: tuple[str, ...], new: Any, problem: str):
    value = valid()
    target = value["questions"][1]
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = new
    assert problems_of(value) == (problem,)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        (("question",), "question q-3: question is missing"),
        (("ground_truth",), "question q-3: ground_truth is missing"),
        (("answers",), "question q-3: answers is missing"),
        (A2, "question q-3, level A2: texts of both systems are missing"),
        ((*A2, "human"), "question q-3, level A2, system human: text is missing"),
    ],
)
def test_what_is_missing(path: tuple[str, ...], problem: str):
    value = valid()
    target = value["questions"][1]
    for key in path[:-1]:
        target = target[key]
    del target[path[-1]]
    assert problems_of(value) == (problem,)


def test_an_empty_name_of_level_or_source():
    value = valid()
    value["questions"][0]["answers"][" "] = {"ai": "x", "human": "y"}
    value["questions"][1]["answers"]["A0"][""] = "x"
    assert problems_of(value) == (
        "question 0: a level's name is blank",
        "question q-3, level A0: a system's name is empty",
    )


def test_a_misspelt_source_is_named_where_it_stands():
    value = valid()
    level = value["questions"][1]["answers"]["A2"]
    level["humen"] = level.pop("human")
    assert problems_of(value) == (
        "question q-3, level A2, system: humen occurs once, but the other texts have ai and human; did you mean human?",
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('"A7": {"ai": "x", "human": "y"}', "question q-3, level: A7 occurs in 2 texts"),
        ('"A2": {"ai": "x", "ai": "y"}', "question q-3, level A2: key ai"),
        ('"A0": {"ai": "x", "human": "y"}', "question q-3: key A0"),
    ],
)
def test_a_slip_in_one_answer_is_one_problem(text: str, place: str):
    value = valid()
    value["questions"].append(copy.deepcopy(value["questions"][0]) | {"id": "q-4"})
    value["questions"].append(copy.deepcopy(value["questions"][0]) | {"id": "q-5"})
    value["questions"][1]["answers"]["A2"] = "HERE"
    (problem,) = problems_of(json.dumps(value).replace('"A2": "HERE"', text))
    assert problem.startswith(place)


def test_one_source_is_too_few():
    value = valid()
    for question in value["questions"]:
        question["answers"] = {"A0": {"ai": "x"}}
    assert problems_of(value) == ("systems: found 1 (ai), expected exactly two",)


def test_duplicate_keys_at_every_depth():
    level = '{"ai": "x", "ai": "y", "human": "z"}'
    answers = f'{{"A0": {level}, "A0": {level}}}'
    question = f'{{"id": 1, "id": 1, "question": "q", "ground_truth": "g", "answers": {answers}}}'
    assert problems_of(f'{{"questions": [], "questions": [{question}]}}') == (
        "file: key questions appears more than once",
        "question 1: key id appears more than once",
        "question 1: key A0 appears more than once",
        "question 1, level A0: key ai appears more than once",
    )


def test_names_that_differ_in_spaces_only_are_the_same_name():
    value = valid()
    value["questions"][1]["answers"]["A2"][" ai "] = "again"
    assert problems_of(value) == ("question q-3, level A2, system ai: text occurs more than once",)


def test_all_problems_are_raised_together():
    value = valid()
    value["questions"][0]["question"] = ""
    value["questions"][0]["answers"]["A0"]["ai"] = 7
    value["questions"][1]["answers"]["A10"] = None
    del value["questions"][1]["answers"]["A2"]["human"]
    assert len(problems_of(value)) == 4


@pytest.mark.parametrize("empty", ["", " \n", None])
def test_an_empty_text_is_no_answer(empty: str | None):
    value = valid()
    value["questions"][1]["answers"]["A2"]["ai"] = empty
    found = read_study(json.dumps(value).encode(), "a.json").finish()
    assert [one.text for one in found.outputs].count(NO_ANSWER) == 1


def test_hundreds_of_problems_are_counted():
    question = {"question": "", "ground_truth": "g", "answers": {"A0": {"ai": 1, "human": 1}}}
    with pytest.raises(InputError) as caught:
        read_study(json.dumps({"questions": [question] * 200}).encode(), "a.json").finish()
    assert (len(caught.value.problems), caught.value.n_problems) == (2, 600)


def test_messages_can_be_written_whatever_the_names_hold():
    value = valid()
    value["questions"][1]["answers"]["\ud800" * 500] = {}
    value["questions"][1]["id"] = "x\u202e" * 300
    for problem in problems_of(value):
        assert len(problem.encode()) < 300


def test_natural_order():
    names = ["A10", "A2", "A1", "b", "A" + "9" * 5000, "A01", "2", "10"]
    assert sorted(names, key=natural_order) == ["2", "10", "A01", "A1", "A2", "A10", "A" + "9" * 5000, "b"]


def check_readable(error: InputError) -> None:
    assert error.problems
    str(error).encode()


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["A0", "A2", "ai", "human", "id", "answers", "x"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, inner in pairs for found in paths_of(inner, (*path, key)))]


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_any_value_at_any_place_raises_nothing_but_input_error(data: st.DataObject):
    value: Any = valid()
    for path in data.draw(
        st.lists(st.sampled_from(paths_of(value)[1:]), min_size=1, max_size=3, unique=True)
    ):
        target = value
        try:
            for key in path[:-1]:
                target = target[key]
            target[path[-1]] = data.draw(json_values)
        except (TypeError, IndexError, KeyError):
            continue  # an earlier change took this place away
    try:
        dataset = read_study(json.dumps(value).encode(), "a.json").finish()
    except InputError as error:
        check_readable(error)
    else:
        assert len(dataset.outputs) == len(dataset.items) * len(dataset.levels) * 2


@settings(deadline=None, max_examples=200)
@given(
    st.integers(0, 2000), st.integers(0, 40), st.binary(max_size=6), st.sampled_from(["a.json", "a", "a.csv"])
)
def test_damaged_bytes_raise_nothing_but_input_error(at: int, length: int, new: bytes, name: str):
    data = json.dumps(valid(), indent=1).encode()
    at %= len(data)
    try:
        read_dataset(data[:at] + new + data[at + length :], name)
    except InputError as error:
        check_readable(error)


@pytest.mark.shared
def test_the_data_set_of_the_paper(shared_data: Path):
    data = (shared_data / "assessment-dataset.json").read_bytes()
    dataset = read_dataset(data, "assessment-dataset.json")
    assert len(dataset.items) == 20
    assert dataset.levels == ("A0", "A1", "A2", "A3", "A4")
    assert dataset.sources == ("ai", "human")
    assert len(dataset.outputs) == 200
    original = json.loads(data)["questions"][7]
    texts = {(o.level, o.source): o.text for o in dataset.outputs if o.item_id == str(original["id"])}
    assert texts["A3", "human"] == original["answers"]["A3"]["human"]


def test_a_run_s_data_set_is_told_from_a_broken_one():
    value = valid()
    for question in value["questions"]:
        question["answers"] = {"A0": "a text", "A1": "another"}
    (problem,) = problems_of(value)
    assert problem.startswith("file: only one system's answers, without the system's name. Use the outputs")
    value["questions"][1]["answers"]["A0"] = {"ai": "a", "human": "b"}
    assert len(problems_of(value)) > 1
    value["questions"][1] = None
    assert not any("one source" in problem for problem in problems_of(value))
