"""Outputs of judges that somebody already runs: 003's results, 001's server, RAGAS, long tables; made by hand."""

import json
import math
from typing import Any, Literal

import pytest

from core.errors import InputError
from core.formats.cef import IN_PERCENT, WHICH_CONSISTENCY
from core.formats.registry import read_scores
from core.formats.scores import NO_SCORE, write_scores_csv
from core.schema.scores import ScoreTable

SERVER: dict[str, Any] = {
    "scores": {
        "coverage_score": 0.9,
        "conformity_score": 1.0,
        "consistency_score": 0.6,
        "conciseness_score": 31.25,
        "overall_score": 0.8333,
    },
    "details": {
        "qa_from_doc_count": 10,
        "qa_from_summary_count": 10,
        "questions_from_original_doc": [{"question": "Is it?", "answer": "YES"}],
        "questions_from_generated_doc": [{"question": "Was it?", "answer": "YES"}],
    },
}
NAMES = ["cef-coverage", "cef-conformity", "cef-consistency", "cef-conciseness", "cef-overall"]


def scores(table: ScoreTable) -> dict[tuple[str, str | None], dict[str, float | str]]:
    """(item, level) -> metric -> score, or the reason why there is none."""
    return {
        (row.item_id, row.level): {
            metric.name: table.reasons[r, m] if math.isnan(table.values[r, m]) else float(table.values[r, m])
            for m, metric in enumerate(table.metrics)
        }
        for r, row in enumerate(table.rows)
    }


def problems(data: str, name: str) -> list[str]:
    with pytest.raises(InputError) as refused:
        read_scores(data.encode(), name)
    return list(refused.value.problems)


WANTED = dict(zip(NAMES, [0.9, 1.0, 0.6, 0.3125, 0.8333], strict=True))


@pytest.mark.parametrize(
    ("data", "name", "items"),
    [
        (json.dumps(SERVER, indent=2), "answer.json", ["1"]),
        (json.dumps(SERVER, indent=2), "answer", ["1"]),
        (json.dumps([SERVER, SERVER]), "answers.json", ["1", "2"]),
        (json.dumps({"a": SERVER, "b": SERVER}), "by-item.json", ["a", "b"]),
        ("\n".join(json.dumps({"id": i, **SERVER}) for i in (7, 8)), "answers.jsonl", ["7", "8"]),
    ],
)
def test_answers_of_the_cross_examination_server(data: str, name: str, items: list[str]) -> None:
    table = read_scores(data.encode(), name)
    assert [metric.name for metric in table.metrics] == NAMES
    assert {(metric.family, metric.direction) for metric in table.metrics} == {("CEF", "higher")}
    assert scores(table) == {(item, None): WANTED for item in items}
    assert WHICH_CONSISTENCY in table.notes
    assert IN_PERCENT in table.notes


def test_what_stands_beside_an_answer_says_whose_text_it_is() -> None:
    beside = {"item_id": "q1", "system": "m", "level": "A2", "judge": "tiny"}
    (row,) = read_scores(json.dumps({**beside, **SERVER}).encode(), "one.json").rows
    assert (row.item_id, row.system, row.level, dict(row.labels)) == ("q1", "m", "A2", {"judge": "tiny"})


def test_what_the_server_stores_for_undefined_is_undefined() -> None:
    none = {**SERVER["scores"], "consistency_score": -1, "coverage_score": 0, "overall_score": None}
    details = {"qa_from_doc_count": 0, "qa_from_summary_count": 0}
    (found,) = scores(
        read_scores(json.dumps({"scores": none, "details": details}).encode(), "a.json")
    ).values()
    assert found["cef-consistency"] == "no questions: stored as -1"
    assert found["cef-coverage"] == "no questions: stored as 0"
    assert found["cef-overall"] == NO_SCORE
    assert found["cef-conformity"] == 1.0
    # The server's overall counts such a 0, or leaves a -1 out: neither is the mean of the three.
    for overall, details in ((0.0, {"qa_from_doc_count": 0}), (0.8, {"qa_from_summary_count": 0})):
        counted = {"scores": {**none, "overall_score": overall}, "details": details}
        (found,) = scores(read_scores(json.dumps(counted).encode(), "a.json")).values()
        missing = ["cef-coverage"] * ("qa_from_doc_count" in details) + ["cef-consistency"]
        assert found["cef-overall"] == f"no questions for {', '.join(missing)}"
    # Longer than its source is no error, and a 0 that questions led to is a 0.
    longer = {**SERVER["scores"], "conciseness_score": -50.0, "coverage_score": 0}
    (found,) = scores(read_scores(json.dumps({**SERVER, "scores": longer}).encode(), "a.json")).values()
    assert (found["cef-conciseness"], found["cef-coverage"]) == (-0.5, 0.0)


def test_mistakes_in_answers_are_named_together() -> None:
    bad = {**SERVER["scores"], "coverage_score": "high", "overall_score": True}
    said = problems(json.dumps([{"id": 1, "scores": bad}, {**SERVER, "details": 3}]), "a.json")
    assert any(one.startswith("[0], coverage_score: score ") for one in said)
    assert any(one.startswith("[0], overall_score: score ") for one in said)
    assert "[1]: details is a number, expected an object" in said
    assert "[1], coverage_score: item_id is missing" in said
    twice = problems("\n".join(json.dumps({"id": 1, **SERVER}) for _ in range(2)), "a.jsonl")
    assert twice[0].startswith("line 2, coverage_score: the same text and metric cef-coverage as in line 1")


@pytest.mark.parametrize("bad", [{"id": 2, "error": "x"}, {"id": 2, "scores": None}, {"id": 2, "scores": {}}])
@pytest.mark.parametrize("at", [0, 1, 30])
def test_an_answer_without_scores_is_named_and_the_file_known_for_what_it_is(
    bad: dict[str, Any], at: int
) -> None:
    entries: list[dict[str, Any]] = [{"id": f"q{n}", **SERVER} for n in range(31)]
    entries.insert(at, bad)
    lines = "\n".join(map(json.dumps, entries))
    assert problems(lines, "a.jsonl") == [f"line {at + 1}: has no scores"]
    assert problems(json.dumps(entries), "a.json") == [f"[{at}]: has no scores"]
    by_item = json.dumps({f"i{n}": entry for n, entry in enumerate(entries)})
    assert problems(by_item, "a.json") == [f"item i{at}: has no scores"]


def test_a_line_that_is_no_answer_at_all() -> None:
    assert problems(json.dumps(SERVER) + "\n[3]\n", "a.jsonl") == ["line 2: is a list, expected an object"]


def test_rows_of_ragas() -> None:
    text = (
        "user_input,retrieved_contexts,response,reference,level,factual_correctness(mode=f1),faithfulness\n"
        "\"Who?\",\"['a', 'b']\",He.,She.,A0,0.9,1.0\n"
        "\"Who?\",\"['a', 'b']\",It.,She.,A1,0.5,\n"
        '"When?","[\'c\']",Now.,Then.,A0,0.8,0.2\n'
    )
    table = read_scores(text.encode(), "ragas.csv")
    assert [(metric.name, metric.family) for metric in table.metrics] == [
        ("factual_correctness(mode=f1)", "Claims"),
        ("faithfulness", "other"),
    ]
    assert scores(table) == {
        ("Who?", "A0"): {"factual_correctness(mode=f1)": 0.9, "faithfulness": 1.0},
        ("Who?", "A1"): {"factual_correctness(mode=f1)": 0.5, "faithfulness": NO_SCORE},
        ("When?", "A0"): {"factual_correctness(mode=f1)": 0.8, "faithfulness": 0.2},
    }
    assert all(not row.labels for row in table.rows)
    assert any("rows with the same question (user_input) are one item" in note for note in table.notes)


def test_older_rows_of_ragas_and_ids_of_their_own() -> None:
    old = [
        {"question": "Who?", "answer": "He.", "contexts": ["a"], "ground_truth": "She.", "faithfulness": 1}
    ]
    assert list(scores(read_scores(json.dumps(old).encode(), "ragas.json"))) == [("Who?", None)]
    named = [{"id": "q9", "user_input": "Who?", "response": "He.", "faithfulness": 0.25}]
    assert list(scores(read_scores(json.dumps(named).encode(), "ragas.json"))) == [("q9", None)]


SAID = ["feedback", "reasoning", "rationale", "explanation", "rubrics"]


@pytest.mark.parametrize("column", SAID)
def test_a_column_in_which_judges_say_why_is_a_metric_where_it_holds_numbers(column: str) -> None:
    table = read_scores(f"item,{column}\nq1,4\nq2,2\n".encode(), "wide.csv")
    assert scores(table) == {("q1", None): {column: 4.0}, ("q2", None): {column: 2.0}}
    assert scores(read_scores(write_scores_csv(table, "wide"), "again.csv")) == scores(table)
    words = read_scores(f"item,{column},score a\nq1,Good.,4\nq2,Bad.,2\nq3,7,1\n".encode(), "wide.csv")
    assert [metric.name for metric in words.metrics] == ["score a"]
    assert all(not row.labels for row in words.rows)
    labelled = read_scores(f"item,label:{column},score a\nq1,x,4\nq2,y,2\n".encode(), "wide.csv")
    assert [dict(row.labels) for row in labelled.rows] == [{column: "x"}, {column: "y"}]
    shapes: tuple[Literal["wide", "long"], ...] = ("wide", "long")
    for shape in shapes:
        again = read_scores(write_scores_csv(labelled, shape), "again.csv")
        assert [dict(row.labels) for row in again.rows] == [{column: "x"}, {column: "y"}]


def test_rows_of_ragas_without_a_question_are_named() -> None:
    said = problems('user_input,response,faithfulness\n,He.,1\n"Who?",He.,x\n', "ragas.csv")
    assert "line 2: the question is missing; it identifies the item" in said
    twice = problems("user_input,response,faithfulness\nWho?,He.,1\nWho?,It.,0\n", "ragas.csv")
    assert twice == ["line 3: the same item, system, level and labels as in line 2"]


def test_results_of_claims_and_of_a_rubric_judge_as_003_publishes_them() -> None:
    texts = {"question": "Who?", "answer": "He did.", "ground_truth": "She did."}
    claims = [
        {"type": "fast-fc", "fact_extraction_llm": "g", "id": 0, **texts, "level": level, "result": result}
        for level, result in (("A0", 0.75), ("A1", 0.5))
    ]
    table = read_scores("\n".join(map(json.dumps, claims)).encode(), "claims.jsonl")
    assert scores(table) == {("0", "A0"): {"result": 0.75}, ("0", "A1"): {"result": 0.5}}
    assert dict(table.rows[0].labels) == {"type": "fast-fc", "fact_extraction_llm": "g"}
    rubric = [
        {
            "llm": "p",
            "id": 0,
            **texts,
            "level": level,
            "feedback": said,
            "result": f"{said} [RESULT] {verdict}",
        }
        for level, said, verdict in (("A0", "Says [RESULT] 1 itself, but good.", 5), ("A1", "Wrong.", 2))
    ]
    table = read_scores("\n".join(map(json.dumps, rubric)).encode(), "rubric.jsonl")
    assert scores(table) == {("0", "A0"): {"result": 5.0}, ("0", "A1"): {"result": 2.0}}
    assert dict(table.rows[0].labels) == {"llm": "p"}


def test_a_long_table() -> None:
    text = "item,system,level,metric,score\nq1,m,A0,my judge,4\nq1,m,A1,my judge,\n"
    assert scores(read_scores(text.encode(), "long.csv")) == {
        ("q1", "A0"): {"my judge": 4.0},
        ("q1", "A1"): {"my judge": NO_SCORE},
    }
