"""What judges said, written and read again: nothing is lost, and what is wrong is named by file, line and field."""

import json
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import pytest

from core.errors import MOST_PROBLEMS, InputError
from core.judges import alignment, answers, cross_examination
from core.judges.alignment import MarkedError, MarkedText, Mismatch
from core.judges.answers import QuestionSet
from core.judges.claims import Claim, ClaimsRecord
from core.judges.cross_examination import CefRecord, Examination
from core.judges.pairwise import PairTrial
from core.judges.questions import CrossQuestion
from core.judges.rubric import RubricRecord, RubricTrial
from core.runs.kinds import KINDS, kinds_that
from core.runs.records import (
    printable_record,
    read_audit_folder,
    read_judge_folder,
    read_pieces,
    read_records,
    write_pieces,
    write_records,
)
from core.schema.scores import JudgedText, Metric, ScoredRow

METRICS = (
    Metric("cef-coverage", "CEF|score:coverage", "CEF"),
    Metric("cef-overall", "CEF|score:overall", "CEF"),
)
ROW = ScoredRow("ä 1", "sys", "A2", "de", {"dataset": "mühlen", "shots": "few"})
QUESTIONS = (
    CrossQuestion("Steht die Mühle?", "YES", "YES"),
    CrossQuestion("Brannte sie 1703?", "NO", None, "unparsed", "vielleicht\n=1+1", "IDK", None),
)
CEF = CefRecord(
    (
        Examination(0, QUESTIONS, None, (("questions from text", "cut off"),)),
        Examination(1, (), QUESTIONS[:1]),
    ),
    "The mill.",
)
CLAIMS = ClaimsRecord(
    (Claim("It stands.", True, "entailment .93"), Claim("It burned.", None, "", "cut off")),
    None,
    (("claims of the reference", "refused"),),
)
RUBRIC = RubricRecord(
    (
        RubricTrial(
            order="response-first",
            repeat=2,
            verdict=None,
            feedback="",
            reason="verdict not on offer",
            detail="7",
        ),
    )
)


def judged(record: Any, **fields: Any) -> JudgedText:
    return JudgedText(
        **{
            "row": ROW,
            "text": "Die Mühle\nsteht.",
            "document": "quelle",
            "question": None,
            "scores": {"cef-coverage": 0.1 + 0.2, "cef-overall": None},
            "reasons": {"cef-overall": "questions from text: cut off"},
            "record": record,
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("kind", "record"), [("rubric", RUBRIC), ("claims", CLAIMS), ("cef", CEF), ("cef", None)]
)
def test_records_come_back_as_they_were(kind: Any, record: Any) -> None:
    texts = (judged(record), judged(None, row=ScoredRow("2", "sys"), text="", document=None, question="Q?"))
    assert read_records(write_records(texts), "records.jsonl", KINDS[kind], METRICS) == texts


def test_a_run_that_has_come_to_nothing_yet_wrote_no_line() -> None:
    assert read_records(b"", "records.jsonl", cross_examination.KIND, METRICS) == ()


def test_question_sets_and_marked_texts_come_back_as_they_were() -> None:
    sets = (
        QuestionSet(ROW, "source", "org/judge-a", "Die Mühle ...", QUESTIONS),
        QuestionSet(ROW, "text", "org/judge-a", "Ein Text", ()),
        QuestionSet(ROW, "source", "judge-b", "Die Mühle ...", QUESTIONS),
    )
    assert read_pieces(answers.KIND, write_pieces(sets), "q.jsonl") == sets
    errors = (
        MarkedError("1703", "major", "accuracy/mistranslation", True, "asked in question 2"),
        MarkedError("x", "", "", None, "", "cut off"),
    )
    texts = (
        MarkedText(ROW, "t", None, (Mismatch("text", "Q?", "YES", "IDK"),), errors),
        MarkedText(replace(ROW, level=None), "", "d", (), ()),
    )
    assert read_pieces(alignment.KIND, write_pieces(texts), "m.jsonl") == texts


def line_of(record: Any = CEF, **changes: Any) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(write_records([judged(record)]))
    return {**line, **changes}


def problems(*lines: Any, kind: Any = "cef") -> list[str]:
    data = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines).encode()
    with pytest.raises(InputError) as refused:
        read_records(data, "records.jsonl", KINDS[kind], METRICS)
    assert "records.jsonl cannot be imported" in refused.value.what
    return list(refused.value.problems)


def test_everything_that_is_wrong_is_named_by_line_and_field() -> None:
    without_item = line_of()
    del without_item["item_id"]
    examined = line_of()
    examined["record"]["examinations"][0]["from_source"][1]["answer"] = "MAYBE"
    examined["record"]["examinations"][1]["repeat"] = "1"
    found = problems(
        without_item,
        line_of(system=7, text=None),
        examined,
        line_of(scores={"cef-coverage": "0.5", "cef-overall": None}),
        line_of(scores={"cef-coverage": 1.0, "bleu": 2.0}),
        line_of(reasons={"bleu": "why"}),
        "[1]",
        "{",
        line_of(record=[1]),
    )
    assert [one.split(":")[0] for one in found] == [
        "line 1, item_id",
        "line 2, system",
        "line 2, text",
        "line 3, record, examinations, 1, from_source, 2, answer",
        "line 3, record, examinations, 2, repeat",
        "line 4, scores, cef-coverage",
        "line 5",
        "line 5",
        "line 6",
        "line 7",
        "line 8, column 2",
        "line 9, record",
    ]
    assert found[0] == "line 1, item_id: is missing"
    assert found[1] == "line 2, system: is 7: input should be a valid string"
    assert "'MAYBE'" in found[3]
    assert "'YES', 'NO' or 'IDK'" in found[3]
    assert found[6:9] == [
        "line 5: scores: cef-overall is missing",
        "line 5: scores: bleu is not one of cef-coverage, cef-overall",
        "line 6: reasons: bleu is not one of cef-coverage, cef-overall",
    ]


def test_a_text_that_comes_twice_and_another_judges_records_are_refused() -> None:
    assert problems(line_of(), line_of()) == ["item ä 1, system sys, level A2: a second text"]
    assert problems(line_of(RUBRIC)) == ["line 1, record, examinations: is missing"]


def test_numbers_that_are_none_are_refused() -> None:
    text = json.dumps(line_of()).replace("0.30000000000000004", "1e999")
    assert problems(text) == ["line 1: scores: cef-coverage is infinite"]
    assert "NaN" in problems(json.dumps(line_of()).replace("0.30000000000000004", "NaN"))[0]


def test_a_file_of_another_kind_is_not_answered_with_thousands_of_lines() -> None:
    assert len(problems(*[{"item_id": n} for n in range(1_000)])) < MOST_PROBLEMS


def test_the_same_questions_may_not_count_twice() -> None:
    one = QuestionSet(ROW, "source", "a", "d", QUESTIONS)
    with pytest.raises(InputError, match="cannot be imported") as refused:
        read_pieces(answers.KIND, write_pieces([one, one]), "q.jsonl")
    assert list(refused.value.problems) == [
        "item ä 1, system sys, level A2: a second set of the same questions"
    ]


def test_what_no_page_can_hold_is_replaced_and_nothing_else() -> None:
    assert printable_record(
        {"said": ["a\0b", {"why": "\ud800 ok\n"}], "n": 1, "x": None, "t": (True, 0.5)}
    ) == {
        "said": ["a\ufffdb", {"why": "\ufffd ok\n"}],
        "n": 1,
        "x": None,
        "t": [True, 0.5],
    }
    text = json.dumps(line_of(text="bad \ud800 half")).encode()
    (read,) = read_records(text, "records.jsonl", cross_examination.KIND, METRICS)
    assert read.text == "bad \ufffd half"


@pytest.mark.parametrize(
    "char", ["\0", "\b", "\f", "\x1f", "\x7f", "\x85", "\x9f", "\udfff", "\\u0000", "\\b", "\u200d"]
)
def test_a_character_is_replaced_however_it_is_written(char: str) -> None:
    """Lines that hold nothing of the kind are not looked through; a backslash of the text's own escapes nothing."""
    for as_ascii in (True, False):
        line = json.dumps(line_of(text=f"a{char}b"), ensure_ascii=as_ascii or char == "\udfff")
        (read,) = read_records(line.encode(), "records.jsonl", cross_examination.KIND, METRICS)
        assert read.text == printable_record(f"a{char}b")
        assert (read.text == f"a{char}b") == (char in ("\\u0000", "\\b", "\u200d"))


def folder_with(path: Path, run: Any, records: bytes) -> Path:
    path.mkdir()
    (path / "run.json").write_text(run if isinstance(run, str) else json.dumps(run), encoding="utf-8")
    (path / "records.jsonl").write_bytes(records)
    return path


def run_of(kind: str, **settings: Any) -> dict[str, Any]:
    metrics = [vars(metric) for metric in METRICS]
    named = {"name": "my-cef", "model": "org/tiny", "cef": {"repeats": 2}, "metrics": metrics}
    return {"run": 3, "kind": kind, "settings": {**named, **settings}}


def test_folders_say_whose_records_they_hold(tmp_path: Path) -> None:
    output = read_judge_folder(folder_with(tmp_path / "a", run_of("cef"), write_records([judged(CEF)])))
    assert (output.name, output.kind, output.model) == ("my-cef", "cef", "org/tiny")
    assert (output.settings, output.metrics, output.texts) == ({"repeats": 2}, METRICS, (judged(CEF),))
    by_rules = run_of("claims", model="", claims={"beta": 1.0})
    assert read_judge_folder(folder_with(tmp_path / "b", by_rules, b"")).model == "rules"
    sets = (QuestionSet(ROW, "source", "a", "d", QUESTIONS),)
    model, read = read_audit_folder(
        folder_with(tmp_path / "c", run_of("answers"), write_pieces(sets)), answers.KIND
    )
    assert (model, read) == ("org/tiny", sets)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("", "the file is empty"),
        ("[]", "file: is a list, expected an object"),
        ("{", "not valid JSON"),
        ({"kind": "cef"}, "settings: missing"),
        ({"kind": 3, "settings": []}, "kind and settings: missing"),
        (
            run_of("factual"),
            "contains a run of the kind factual; choose a run of the kind "
            + ", ".join(one.name for one in kinds_that("judging")),
        ),
        (run_of("cef", metrics=[{"name": "m"}], cef=None), "settings, metrics, 1, signature: is missing"),
        (run_of("cef", name=None), "settings, name: is missing"),
    ],
)
def test_a_folder_that_holds_no_judge_says_so(
    run: Any, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refused:
        read_judge_folder(folder_with(Path("short"), run, b""))
    assert said in str(refused.value)
    assert str(refused.value).startswith("short")


def test_no_folder_at_all_says_what_is_wanted(tmp_path: Path) -> None:
    for read in (read_judge_folder, lambda folder: read_audit_folder(folder, answers.KIND)):
        with pytest.raises(InputError, match="choose a folder that a judge's run wrote"):
            read(tmp_path / "none")


def test_numbers_that_go_too_far_and_what_stands_twice_are_refused() -> None:
    trial = RubricTrial(order="reference-first", repeat=0, verdict=3)
    rubric = RubricRecord(
        (
            trial,
            replace(trial, repeat=100),
            replace(trial, repeat=-1, verdict=101),
            trial,
            replace(trial, repeat=10**30),
        )
    )
    scored = {"cef-coverage": 101.0, "cef-overall": 100.0}
    assert problems(line_of(rubric, scores=scored), kind="rubric") == [
        "line 1: scores: cef-coverage is 101.0, which is not between 0 and 100",
        "line 1, record, trials, 2, repeat: is 100, which is not between 0 and 99",
        "line 1, record, trials, 3, repeat: is -1, which is not between 0 and 99",
        f"line 1, record, trials, 5, repeat: is {10**30}, which is not between 0 and 99",
        "line 1, record, trials, 3, verdict: is 101, which is not between 0 and 100",
        "line 1, record, trials, 4: a second entry with the order reference-first and the repeat 0",
    ]
    twice = CefRecord((Examination(1, (), ()), Examination(1, (), ())))
    scored = {"cef-coverage": -0.5, "cef-overall": 1.5}
    assert problems(line_of(twice, scores=scored)) == [
        "line 1: scores: cef-coverage is -0.5, which is not between 0 and 1",
        "line 1: scores: cef-overall is 1.5, which is not between 0 and 1",
        "line 1, record, examinations, 2: a second entry with the repeat 1",
    ]
    for number in ("true", "1.0", '"1"'):
        written = json.dumps(line_of(RUBRIC)).replace('"repeat": 2', f'"repeat": {number}')
        (problem,) = problems(written, kind="rubric")
        assert problem.startswith("line 1, record, trials, 1, repeat: is ")


def test_a_text_with_marked_errors_may_not_come_twice() -> None:
    marked = MarkedText(ROW, "t", None, (), ())
    with pytest.raises(InputError, match="level A2: a second text"):
        read_pieces(alignment.KIND, write_pieces([marked, replace(marked, text="other")]), "m.jsonl")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"cef": {"n_questions": True}}, "settings, cef, n_questions: True is not"),
        ({"cef": {"n_questions": 101}}, "settings, cef, n_questions: 101 is not between 1 and 100"),
        ({"cef": {"temperature": "0"}}, "settings, cef, temperature: '0' is not a number"),
        ({"cef": {"reask": 1}}, "settings, cef, reask: 1 is neither true nor false"),
        ({"cef": {"mode": None}}, "settings, cef, mode: None is not one of"),
        ({"name": "a\nb"}, "settings, name: contains a line break"),
        ({"model": 7}, "settings, model: is a number"),
        (
            {"metrics": [vars(METRICS[0])] * 2},
            "settings, metrics, 2: a second entry with the name cef-coverage",
        ),
    ],
)
def test_settings_that_no_run_has_are_refused(settings: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        read_judge_folder(folder_with(tmp_path / "f", run_of("cef", **settings), b""))
    assert said in str(refused.value)


def test_half_characters_of_a_report_are_replaced(tmp_path: Path) -> None:
    """json.loads makes half a surrogate pair of an escape; nothing could print it."""
    folder = folder_with(tmp_path / "f", run_of("cef", name="cef-\ud800", model="m\ud800"), b"")
    output = read_judge_folder(folder)
    assert (output.name, output.model) == ("cef-\ufffd", "m\ufffd")


@pytest.mark.parametrize("trial", [RubricTrial, PairTrial])
def test_a_judge_of_two_texts_always_says_which_it_read_first(trial: Any) -> None:
    """Of a judge that reads one text a trial has no order; here a record without one is damaged."""
    (order,) = [one for one in fields(trial) if one.name == "order"]
    assert order.default is MISSING
