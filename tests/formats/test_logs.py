"""Logs of evaluation tools: recognised, read as the tools report them, and refused with places when damaged."""

import contextlib
import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from core.budget import Budget, budget_set
from core.cli import main
from core.errors import InputError
from core.formats.logs.entries import is_by_people
from core.formats.panel import read_panel
from core.formats.registry import FORMATS, format_of, read_evaluators, read_ratings, read_scores, read_texts
from core.results.check.verdict import check_panel
from core.schema.panel import Panel
from core.schema.scores import ScoreTable
from core.schema.uses import CheckOptions
from core.tables.columns import known_at
from core.tables.problems import FileFindings

LOGS = Path(__file__).parent / "logs"
INSPECT, EPOCHS = "inspect-0.3.285.eval", "inspect-0.3.285-epochs.json"
PROMPTFOO, RATED = "promptfoo-0.121.20.jsonl", "promptfoo-0.121.20-rated.json"
DEEPEVAL, RESULT = "deepeval-4.3.1.json", "deepeval-4.3.1-result.json"
LM_EVAL, CHOICE = "lm_eval-0.4.13.jsonl", "lm_eval-0.4.13-choice.jsonl"
LANGFUSE = (
    "langfuse-scores-v2.json",
    "langfuse-scores-v3.json",
    "langfuse-scores.csv",
    "langfuse-blob.jsonl",
)
TOOLS = {
    **dict.fromkeys((INSPECT, EPOCHS), "inspect"),
    **dict.fromkeys((PROMPTFOO, RATED), "promptfoo"),
    **dict.fromkeys((DEEPEVAL, RESULT), "deepeval"),
    **dict.fromkeys((LM_EVAL, CHOICE), "lm_eval"),
    **dict.fromkeys(LANGFUSE, "langfuse"),
}
HUMAN = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0]
GRADES = [1.0, 0.0, 0.5, 1.0, 1.0, 0.0, 1.0, 0.0]


def data_of(name: str) -> bytes:
    return (LOGS / name).read_bytes()


def scores(name: str, data: bytes | None = None) -> dict[str, list[float]]:
    found = read_scores(data_of(name) if data is None else data, name)
    return columns(found)


def columns(found: ScoreTable) -> dict[str, list[float]]:
    return {metric.name: found.values[:, at].tolist() for at, metric in enumerate(found.metrics)}


def panel(name: str, data: bytes | None = None, **given: object) -> Panel:
    return read_panel(data_of(name) if data is None else data, name, find=True, **given)


def problems(read: Callable[[], object]) -> list[str]:
    with pytest.raises(InputError) as caught:
        read()
    return [str(one) for one in caught.value.problems]


@pytest.mark.parametrize("name", TOOLS)
def test_each_log_is_recognised_by_one_format(name: str) -> None:
    recognised = [key for key in set(TOOLS.values()) if FORMATS[key].sniff(data_of(name), name)]
    assert recognised == [TOOLS[name]]
    for gives in ("ratings", "scores"):
        assert format_of(gives, data_of(name), name).name == TOOLS[name]


@pytest.mark.parametrize("name", TOOLS)
def test_the_name_of_the_file_does_not_matter(name: str) -> None:
    for other in ("results", "x.json", "log.txt"):
        assert FORMATS[TOOLS[name]].sniff(data_of(name), other)


def test_other_files_are_no_logs() -> None:
    others = {
        "a.csv": b"item_id,source,score\na,API,1\n",
        "b.json": b'[{"item_id": "a", "rater": "x", "score": 1, "source": "API"}]',
        "c.jsonl": b'{"item_id": "a", "text": "{\\"doc_id\\": 1, \\"testCases\\": [], \\"metricsData\\": []}"}\n',
        "d.json": b'{"id": 1, "text": "t", "annotations": {"a": {"LA": 2}}}',
        "e.zip": b"PK\x03\x04" + bytes(60),
        "f.csv": b"",
        "ragas.csv": data_of("ragas.csv"),
    }
    for name, data in others.items():
        assert [key for key in set(TOOLS.values()) if FORMATS[key].sniff(data, name)] == [], name


def test_inspect_scores_are_those_it_reports() -> None:
    """Inspect's report on the log: accuracy 0.5625 and 0.5, mean of words 1.875, accuracy of polite 0.125."""
    found = scores(INSPECT)
    assert {name: np.mean(values) for name, values in found.items()} == {
        "model_graded_qa": 0.5625,
        "match": 0.5,
        "style/words": 1.875,
        "style/polite": 0.125,
    }
    assert found["model_graded_qa"] == GRADES


def test_inspect_texts_and_what_describes_them() -> None:
    first = read_texts(data_of(INSPECT), INSPECT).outputs[1]
    assert (first.item_id, first.system, first.language) == ("q2", "mockllm/atlas", "en")
    assert (first.source, first.reference, first.text) == (
        "What is the capital of Spain?",
        "Madrid",
        "It is Barcelona.",
    )
    assert first.labels == {}


def test_inspect_epochs_are_texts_of_one_item_and_edits_are_no_scores() -> None:
    found = read_scores(data_of(EPOCHS), EPOCHS)
    assert [(row.item_id, row.labels["epoch"]) for row in found.rows] == [
        ("q2", "1"),
        ("q3", "1"),
        ("q2", "2"),
        ("q3", "2"),
    ]
    assert columns(found)["model_graded_qa"] == [0.0, 0.5, 0.0, 0.5]
    assert any("1 score was changed by people" in note for note in found.notes)
    both = panel(EPOCHS)
    assert both.items.tolist() == [0, 1, 0, 1]
    assert any("several answers" in note for note in both.notes)


def test_inspect_log_without_zstandard() -> None:
    assert scores(INSPECT, repacked(zipfile.ZIP_DEFLATED)) == scores(INSPECT)
    assert scores(INSPECT, repacked(zipfile.ZIP_STORED)) == scores(INSPECT)


def members() -> Iterator[tuple[str, bytes]]:
    data = data_of(INSPECT)
    for one in zipfile.ZipFile(io.BytesIO(data)).infolist():
        begin = one.header_offset + 30
        begin += sum(
            int.from_bytes(data[one.header_offset + at : one.header_offset + at + 2], "little")
            for at in (26, 28)
        )
        packed = pa.BufferReader(data[begin : begin + one.compress_size])
        yield one.filename, pa.CompressedInputStream(packed, "zstd").read()


def repacked(method: int, **changed: bytes | None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members():
            new = changed.get(Path(name).stem, content)
            if new is not None:
                archive.writestr(name, new)
    return buffer.getvalue()


def test_damaged_members_are_named() -> None:
    damaged = repacked(zipfile.ZIP_DEFLATED, q2_epoch_1=b"{", q3_epoch_1=b"[]", q4_epoch_1=b'{"epoch": 1}')
    found = problems(lambda: scores(INSPECT, damaged))
    assert [one.partition(":")[0] for one in found] == [f"samples/q{at}_epoch_1.json" for at in (2, 3, 4)]
    assert "header.json" in problems(lambda: scores(INSPECT, repacked(0, header=b"{")))[0]


def test_a_large_log_is_refused_before_it_is_unpacked() -> None:
    with budget_set(Budget(bytes=100_000)):
        assert len(problems(lambda: scores(INSPECT))) == 1
    # A list that promises less than the member holds is not believed.
    data = bytearray(repacked(zipfile.ZIP_DEFLATED))
    at = data.rindex(b"samples/q1_epoch_1.json") - 46 + 24
    data[at : at + 4] = (10).to_bytes(4, "little")
    assert "samples/q1_epoch_1.json" in problems(lambda: scores(INSPECT, bytes(data)))[0]


def test_promptfoo_scores_are_those_of_its_assertions() -> None:
    lines = [json.loads(line) for line in data_of(PROMPTFOO).splitlines()]
    found = read_scores(data_of(PROMPTFOO), PROMPTFOO)
    assert [(row.item_id, row.system) for row in found.rows] == [
        (one["vars"]["id"], one["provider"]["label"]) for one in lines
    ]
    parts = [one["gradingResult"]["componentResults"] for one in lines]
    assert columns(found) == {
        "contains": [one["namedScores"]["contains"] for one in lines],
        "llm-rubric": [part[1]["score"] for part in parts],
        "llm-rubric 2": [part[2]["score"] for part in parts],
    }
    assert {row.labels["topic"] for row in found.rows} == {"europe", "africa"}
    assert "country" not in found.rows[0].labels  # names the item, and no group


def test_promptfoo_ratings_by_people() -> None:
    found = panel(RATED)
    assert (found.raters, found.judges) == (("human",), ("contains", "llm-rubric", "llm-rubric 2"))
    by_text = {
        (row.item_id, row.system): rating
        for row, rating in zip(found.rows, found.ratings[:, 0].tolist(), strict=True)
    }
    assert by_text == {
        (item, system): float(system == "atlas" and item in ("q1", "q3"))
        for item in ("q1", "q2", "q3", "q5")
        for system in ("atlas", "parrot")
    }
    assert "human" not in scores(RATED)


def test_promptfoo_tests_without_names_prompts_and_repeats() -> None:
    lines = [json.loads(line) for line in data_of(PROMPTFOO).splitlines()]
    for one in lines:
        del one["vars"]["id"]
    renamed = jsonl(lines)
    assert {row.item_id for row in read_scores(renamed, PROMPTFOO).rows} == {"0", "1", "2", "3"}
    again = [{**one, "prompt": {"raw": "b", "label": "b"}, "promptId": "b"} for one in lines]
    found = read_scores(jsonl([*lines, *again]), PROMPTFOO)
    assert len(found.rows) == 16
    assert {row.labels["prompt"] for row in found.rows} == {"What is the capital of {{country}}?", "b"}
    found = read_scores(jsonl([*lines, *lines]), PROMPTFOO)
    assert [row.labels["repeat"] for row in found.rows] == ["1"] * 8 + ["2"] * 8


def jsonl(lines: list[dict]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def test_promptfoo_without_an_output_has_no_score() -> None:
    lines = [json.loads(line) for line in data_of(PROMPTFOO).splitlines()]
    lines[0] = {**lines[0], "failureReason": 2, "error": "no answer", "response": {}, "namedScores": {}}
    del lines[0]["gradingResult"]
    found = read_scores(jsonl(lines), PROMPTFOO)
    assert np.isnan(found.values[0]).all()
    assert not np.isnan(found.values[1:]).any()


def test_deepeval_scores_are_those_it_reports() -> None:
    stated = json.loads(data_of(DEEPEVAL))["metricsScores"]
    found = read_scores(data_of(DEEPEVAL), DEEPEVAL)
    assert columns(found) == {one["metric"]: one["scores"] for one in stated}
    assert {row.system for row in found.rows} == {"atlas"}
    assert scores(RESULT) == scores(DEEPEVAL)
    assert panel(DEEPEVAL).ratings[:, 0].tolist() == HUMAN


def test_deepeval_metric_without_a_score_and_conversations() -> None:
    run = json.loads(data_of(DEEPEVAL))
    run["testCases"][0]["metricsData"][0] = {"name": "Correctness", "success": False, "error": "no judge"}
    run["conversationalTestCases"] = [
        {
            "name": "talk",
            "success": True,
            "metricsData": [{"name": "Correctness", "score": 0.25}],
            "scenario": "A question.",
            "turns": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
        }
    ]
    data = json.dumps(run).encode()
    found = columns(read_scores(data, DEEPEVAL))
    assert np.isnan(found["Correctness"][0])
    assert found["Correctness"][-1] == 0.25
    assert read_texts(data, DEEPEVAL).outputs[-1].text == "user: Hi\nassistant: Hello"


def test_lm_eval_scores_are_those_it_reports() -> None:
    """The harness's results: exact_match 0.25 and 0.5 with the two filters, acc 0.875 and acc_norm 0.5."""
    means = {name: np.mean(values) for name, values in (scores(LM_EVAL) | scores(CHOICE)).items()}
    assert means == {
        "exact_match (strict)": 0.25,
        "exact_match (first-word)": 0.5,
        "acc": 0.875,
        "acc_norm": 0.5,
    }
    assert any("bleu" in note for note in read_scores(data_of(LM_EVAL), LM_EVAL).notes)
    assert panel(LM_EVAL).ratings[:, 0].tolist() == HUMAN


def test_lm_eval_documents_and_choices() -> None:
    chosen = read_texts(data_of(CHOICE), CHOICE).outputs
    # acc is 1 where the choice with the highest likelihood is the target.
    assert [float(one.text == one.reference) for one in chosen] == scores(CHOICE)["acc"]
    assert [one.item_id for one in chosen] == [f"q{at}" for at in range(1, 9)]
    without = data_of(CHOICE).replace(b'"id": ', b'"key": ')
    assert [row.item_id for row in read_scores(without, CHOICE).rows] == [str(at) for at in range(8)]
    of_two_tasks = problems(lambda: read_scores(data_of(CHOICE) * 2, CHOICE))
    assert len(of_two_tasks) == 8
    assert of_two_tasks[0].startswith("line 9: document 0")
    as_list = b"[" + b",".join(data_of(CHOICE).splitlines()) + b"]"
    assert columns(read_scores(as_list, CHOICE)) == scores(CHOICE)


@pytest.mark.parametrize("name", LANGFUSE)
def test_langfuse_people_and_judges(name: str) -> None:
    found = read_ratings(data_of(name), name)
    assert {(one.rater, one.dimension) for one in found.ratings} == {
        ("mia", "correctness"),
        ("ben", "correctness"),
    }
    assert [one.score for one in found.ratings if one.rater == "mia"] == HUMAN
    judged = read_evaluators(data_of(name), name)
    assert judged is not None
    assert columns(judged) == {"correctness": GRADES, "tone": [1.0, 1.0, 0.0, *[1.0] * 5]}
    assert [row.item_id for row in judged.rows] == [f"trace-q{at}" for at in range(1, 9)]
    assert found.left_out["score that is a text or a correction"] == 1
    both = panel(name)
    assert (both.raters, both.judges) == (("mia", "ben"), ("correctness",))


def test_langfuse_without_people_or_judges_and_repeated_scores() -> None:
    held = json.loads(data_of(LANGFUSE[0]))["data"]
    judged = [one for one in held if one["source"] != "ANNOTATION"]
    people = [one for one in held if one["source"] == "ANNOTATION"]
    assert "ANNOTATION" in problems(lambda: read_ratings(json.dumps({"data": judged}).encode(), "a.json"))[0]
    assert "judge" in problems(lambda: read_scores(json.dumps({"data": people}).encode(), "a.json"))[0]
    again = problems(lambda: read_scores(json.dumps({"data": [*held, *judged]}).encode(), "a.json"))
    assert len(again) == len(judged)
    assert again[0].startswith("score ")
    both = [*held, {**judged[0], "source": "API", "value": 0.5}]
    found = read_evaluators(json.dumps({"data": both}).encode(), "a.json")
    assert found is not None
    assert {metric.name for metric in found.metrics} == {"correctness (EVAL)", "correctness (API)", "tone"}


def test_langfuse_words_without_an_order_and_with_numbers() -> None:
    held = json.loads(data_of(LANGFUSE[0]))["data"]
    for one in held:
        if one["name"] == "tone":
            one["stringValue"] = {"good": "warm", "bad": "cold"}[one["stringValue"]]
    data = json.dumps({"data": held}).encode()
    found = read_evaluators(data, "a.json")
    assert found is not None
    assert [metric.name for metric in found.metrics] == ["correctness"]
    for one in held:
        if one["name"] == "tone":
            one["value"] = {"warm": 3, "cold": 1}[one["stringValue"]]
    found = read_evaluators(json.dumps({"data": held}).encode(), "a.json")
    assert found is not None
    assert columns(found)["tone"] == [3.0, 3.0, 1.0, *[3.0] * 5]


def test_rows_of_ragas() -> None:
    found = panel("ragas.csv")
    assert (found.raters, found.judges) == (("human",), ("faithfulness", "factual_correctness(mode=f1)"))
    assert found.ratings[:, 0].tolist() == HUMAN
    assert found.scores[:, 0].tolist() == GRADES
    # Outside RAGAS's rows a column of this name may be people's as well.
    table = b"item_id,human,faithfulness\na,1,0.5\nb,0,0.2\n"
    assert problems(lambda: panel("a.csv", table))


@pytest.mark.parametrize("name", [INSPECT, DEEPEVAL, LM_EVAL, CHOICE])
def test_one_log_holds_people_and_judges(name: str) -> None:
    found = panel(name)
    assert found.raters == ("human",)
    assert found.judges == tuple(scores(name))
    assert found.scores.T.tolist() == [*scores(name).values()]
    checked = check_panel(found, CheckOptions())
    assert [one.name for one in checked.judges] == list(found.judges)


@pytest.mark.parametrize("name", [INSPECT, DEEPEVAL, RESULT, LM_EVAL])
def test_labels_in_a_table_of_their_own(name: str) -> None:
    table = "item_id,human\n" + "".join(f"q{at},{label:g}\n" for at, label in enumerate(HUMAN, start=1))
    for given in ({"tables": [read_scores(data_of(name), name)]}, {"beside": [(data_of(name), name)]}):
        found = panel("human.csv", table.encode(), **given)
        assert found.ratings[:, 0].tolist() == HUMAN
        assert found.judges == tuple(scores(name))


@pytest.mark.parametrize(
    ("name", "status"), [(INSPECT, 4), (RATED, 4), (DEEPEVAL, 4), (LM_EVAL, 4), (PROMPTFOO, 2)]
)
def test_the_command_reads_a_log_without_options(
    name: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(LOGS / name), "--json"]) == status
    if status != 2:
        found = json.loads(capsys.readouterr().out)
        assert [one["name"] for one in found["judges"]] == list(scores(name))
        assert found["columns"]["judge"] == list(scores(name))


def test_a_log_without_people_says_what_to_do() -> None:
    assert any("people's labels first" in one for one in problems(lambda: panel(PROMPTFOO)))
    lines = [json.loads(line) for line in data_of(PROMPTFOO).splitlines()]
    for at, one in enumerate(lines):
        one["metadata"]["grade"] = at % 2
    found = panel(PROMPTFOO, jsonl(lines), human=["grade"], judges=["contains"])
    assert (found.raters, found.judges) == (("grade",), ("contains",))
    assert found.ratings[:, 0].tolist() == [0.0, 1.0] * 4


@pytest.mark.parametrize(
    ("words", "numbers"), [(("C", "I"), (1.0, 0.0)), (("pass", "fail"), (1.0, 0.0)), ((2, 1), (2.0, 1.0))]
)
def test_peoples_labels_in_the_tools_letters_or_in_words(words: tuple, numbers: tuple) -> None:
    log = json.loads(data_of(EPOCHS))
    for at, sample in enumerate(log["samples"]):
        sample["metadata"]["human"] = words[at % 2]
    found = panel(EPOCHS, json.dumps(log).encode())
    assert found.ratings[:, 0].tolist() == [*numbers, *numbers]


def test_names_of_fields_that_hold_labels_by_people() -> None:
    assert all(map(is_by_people, ("human", "human_label", "Annotator 2", "rater1", "expert-score")))
    assert not any(map(is_by_people, ("topic", "humane", "language", "label", "accuracy")))


def test_a_judges_reasons_stand_beside_its_scores() -> None:
    for name, metric in ((INSPECT, "model_graded_qa"), (PROMPTFOO, "llm-rubric"), (DEEPEVAL, "Correctness")):
        found = format_of("ratings", data_of(name), name)
        assert found.rows is not None
        table = found.rows(data_of(name), known_at("ratings"), FileFindings(name, ""))
        said = [str(record.cells.get(f"{metric} reason")) for record in table.records]
        assert all("compared" in one for one in said), name


def test_every_problem_has_its_place() -> None:
    log = json.loads(data_of(EPOCHS))
    log["samples"][0]["scores"]["match"] = 3
    log["samples"][1]["id"] = None
    log["samples"][3] = "sample"
    found = problems(lambda: scores(EPOCHS, json.dumps(log).encode()))
    assert [one.partition(":")[0] for one in found] == ["sample 1", "sample 2", "sample 4"]
    lines = [json.loads(line) for line in data_of(PROMPTFOO).splitlines()]
    lines[1]["gradingResult"]["componentResults"][1]["score"] = "high"
    lines[2]["response"] = "text"
    found = problems(lambda: scores(PROMPTFOO, jsonl(lines)))
    assert [one.partition(":")[0] for one in found] == ["line 2", "line 3"]
    held = json.loads(data_of(LANGFUSE[0]))
    held["data"][0]["name"] = ""
    held["data"][1]["source"] = None
    found = problems(lambda: read_ratings(json.dumps(held).encode(), LANGFUSE[0]))
    assert [one.partition(":")[0] for one in found] == ["score 1", "score 2"]


@pytest.mark.parametrize("name", TOOLS)
def test_damaged_logs_are_refused_without_a_traceback(name: str) -> None:
    data, rng = data_of(name), random.Random(0)
    cut = [data[: rng.randrange(len(data))] for _ in range(6)]
    for _ in range(6):
        changed = bytearray(data)
        for _ in range(5):
            changed[rng.randrange(len(data))] = rng.choice(b'0"{}[],:n\x00\xff')
        cut.append(bytes(changed))
    for damaged in cut:
        for read in (read_scores, read_ratings, read_texts, lambda data, name: panel(name, data)):
            with contextlib.suppress(InputError):
                read(damaged, name)
