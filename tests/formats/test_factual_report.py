"""Reading and writing the report of a factual perturbation."""

import json
from pathlib import Path

import pytest

from core.errors import InputError
from core.formats.trutheval import ReportSettings, dataset_json, read_report, report_json
from core.schema.study import Item

QUESTION = {
    "question": "Why?",
    "ground_truth": "Because of 1991.",
    "raw_factual_data": ["1991"],
    "with_brackets": {"A0": "Because of [1991].", "A1": "Because of 1981."},
    "thinking": {"A1": "Another year."},
    "blacklisted": [],
    "factual_data": ["1991"],
    "ranked_factual_data": ["1991"],
    "answers": {"A0": "Because of 1991.", "A1": "Because of 1981."},
}


def data(*questions: object, **more: object) -> bytes:
    return json.dumps({"report": {"input_samples": 1}, "questions": list(questions), **more}).encode()


def problems(file: bytes) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_report(file, "report.json")
    return caught.value.problems


def test_a_report_read_and_written_is_the_same() -> None:
    report = read_report(data(QUESTION), "report.json")
    assert report.questions[0].with_brackets["A1"] == "Because of 1981."
    assert report.counters == {"input_samples": 1}
    again = read_report(report_json(report), "again.json")
    assert again.questions == report.questions


@pytest.mark.shared
def test_the_published_report_is_written_as_it_was(shared_data: Path) -> None:
    file = (shared_data / "perturbation-report.json").read_bytes()
    assert json.loads(report_json(read_report(file, "r.json"))) == json.loads(file)


def test_lists_that_were_never_made_are_none() -> None:
    failed = {"question": "Why?", "ground_truth": "So.", "raw_factual_data": None, "with_brackets": None}
    report = read_report(data(QUESTION, failed), "report.json")
    assert report.questions[1].raw_factual_data is None
    assert json.loads(report_json(report))["questions"][1]["factual_data"] is None


def test_settings_are_read_and_checked() -> None:
    told = {"keep": 0.5, "filter_order": "paper", "question_filter": "words", "levels": 2}
    report = read_report(data({**QUESTION, "stop_words": "en"}, settings=told), "report.json")
    assert report.settings == ReportSettings(0.5, "paper", "words", 2)
    written = json.loads(report_json(report))
    assert written["settings"] == told
    assert written["questions"][0]["stop_words"] == "en"
    assert read_report(data(QUESTION), "report.json").settings is None
    wrong = {"keep": 0, "filter_order": "x", "question_filter": ["words"], "levels": True}
    assert problems(data({**QUESTION, "stop_words": 5}, settings=wrong)) == (
        "settings, keep: not a share above 0 and at most 1",
        "settings, levels: not a whole number of at least 1",
        "settings, filter_order: not one of paper, trutheval",
        "settings, question_filter: not one of words, trutheval",
        "question 1, stop_words: is a number, expected text",
    )
    assert problems(data(QUESTION, settings=[])) == ("settings: is a list, expected an object",)


def test_every_problem_is_named_with_its_place() -> None:
    bad = {**QUESTION, "raw_factual_data": ["", 5], "answers": {"A0": "x", "B1": "y"}, "ground_truth": None}
    found = problems(data(QUESTION, bad, "text", report={"input_samples": "many"}))
    assert found == (
        "report, input_samples: is text, expected a whole number",
        "question 2, ground_truth: text is null, expected text",
        "question 2, raw_factual_data, entry 1: text is empty",
        "question 2, raw_factual_data, entry 2: text is a number, expected text",
        "question 2, answers: B1 is not a level; levels are A0, A1 ...",
        "question 3: is text, expected an object",
    )


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (b"{", "not valid JSON"),
        (b"[]", "file: is a list, expected a report"),
        (b'{"questions": {}}', "an object without a list `questions`"),
        (data(), "questions: the list is empty"),
        (data({"question": "Why?", "ground_truth": "So.", "answers": {"A0": "So."}}), "is this the data set"),
        (data({**QUESTION, "with_brackets": {}}), "question 1, with_brackets: A0 is missing"),
        (
            data({**QUESTION, "blacklisted": "none"}),
            "question 1, blacklisted: is text, expected a list of texts",
        ),
        (b'{"questions": [{"question": "a", "question": "b"}]}', "key question appears more than once"),
        (b"\xff\xfe", "the file is empty"),
        (b'{"questions": [], "report": 5}', "report: is a number"),
    ],
)
def test_files_that_are_no_report(file: bytes, said: str) -> None:
    assert any(said in problem for problem in problems(file)), problems(file)


def test_the_data_set_is_the_paper_s() -> None:
    rows = [
        (Item("7", "Why?", "So."), {"A0": "So.", "A1": "Not so."}),
        (Item("007", "Who?", "Él."), {"A0": "Él."}),
    ]
    written = dataset_json(rows)
    assert json.loads(written)["questions"] == [
        {"id": 7, "question": "Why?", "ground_truth": "So.", "answers": {"A0": "So.", "A1": "Not so."}},
        {"id": "007", "question": "Who?", "ground_truth": "Él.", "answers": {"A0": "Él."}},
    ]
    assert "Él" in written.decode()
