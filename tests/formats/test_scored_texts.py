"""Texts in a file of scores: both readers read the same bytes, and neither loses what the other needs."""

import json

import numpy as np
import pytest
from helpers.texts.score_factories import metric, table

from core.errors import InputError
from core.formats.registry import read_scored_texts, read_scores
from core.formats.scores import write_scores_jsonl
from core.schema.scores import ScorableOutput, ScoredRow

ROWS = [
    (ScoredRow("q1", "a", "0", "en", {"domain": "news"}), [1.0, None]),
    (ScoredRow("q1", "a", "3", "en", {"domain": "news"}), [0.5, 0.25]),
    (ScoredRow("q2", "b", None, "en", {"domain": "speech"}), [None, 7.0]),
]
TEXTS = tuple(
    ScorableOutput(
        row.item_id,
        row.system,
        f'Text {number} "NaN" Infinity',
        f"Reference of {row.item_id}",
        f"Source of {row.item_id}",
        row.level,
        row.language,
        row.labels,
    )
    for number, (row, _) in enumerate(ROWS)
)


def scored():
    return table(ROWS, [metric("bleu"), metric("ter", direction="lower")])


def csv(*lines: str) -> bytes:
    return "\n".join(lines).encode()


@pytest.mark.parametrize("shape", ["long", "wide"])
def test_a_file_with_texts_gives_scores_and_texts(shape):
    data = write_scores_jsonl(scored(), shape, texts=TEXTS)
    with_texts, plain = (
        read_scores(data, "x.jsonl"),
        read_scores(write_scores_jsonl(scored(), shape), "x.jsonl"),
    )
    assert with_texts.rows == plain.rows == scored().rows
    assert with_texts.metrics == plain.metrics
    assert np.array_equal(with_texts.values, plain.values, equal_nan=True)
    assert read_scored_texts(data, "x.jsonl").outputs == TEXTS


def test_each_text_is_written_once():
    lines = [json.loads(line) for line in write_scores_jsonl(scored(), texts=TEXTS).splitlines()]
    assert ["text" in line for line in lines] == [True, False] * 3


def test_there_must_be_a_text_for_each_row():
    with pytest.raises(ValueError, match="3 rows, got 2"):
        write_scores_jsonl(scored(), texts=TEXTS[:2])


@pytest.mark.parametrize("shape", ["long", "wide"])
def test_a_file_without_texts_has_none(shape):
    assert read_scored_texts(write_scores_jsonl(scored(), shape), "x.jsonl") is None
    assert read_scored_texts(csv("item,system,bleu", "1,a,0.5"), "x.csv") is None


def test_columns_of_metrics_are_no_labels_of_texts():
    data = csv(
        "item,system,output,ref,domain,bleu,ter (lower is better)",
        "1,a,First,Same,news,0.5,3",
        "1,b,Second,,news,0.7,4",
    )
    found = read_scored_texts(data, "x.csv").outputs
    assert [(one.text, one.reference, one.labels) for one in found] == [
        ("First", "Same", {"domain": "news"}),
        ("Second", "Same", {"domain": "news"}),
    ]


def test_a_text_repeated_with_every_metric_is_one():
    data = csv(
        "item,system,output,metric,score,reason",
        "1,a,First,bleu,0.5,",
        "1,a,First,chrf,,too short",
        "2,a,Other,bleu,0.4,",
    )
    found = read_scored_texts(data, "x.csv")
    assert [(one.item_id, one.text, one.labels) for one in found.outputs] == [
        ("1", "First", {}),
        ("2", "Other", {}),
    ]
    assert found.left_out == {}


def test_rows_of_ragas_keep_their_question():
    data = csv(
        "user_input,response,retrieved_contexts,faithfulness", "Why?,Because.,c,0.5", "Who?,She.,c,0.6"
    )
    found = read_scored_texts(data, "x.csv").outputs
    assert [(one.item_id, one.source, one.text, one.labels) for one in found] == [
        ("Why?", "Why?", "Because.", {}),
        ("Who?", "Who?", "She.", {}),
    ]


def test_texts_that_contradict_each_other_are_named_with_their_lines():
    data = (
        b'{"item": "1", "system": "a", "metric": "bleu", "score": 1, "text": "One"}\n'
        b'{"item": "2", "system": "a", "metric": "bleu", "score": 1}\n'
        b'{"item": "1", "system": "a", "metric": "chrf", "score": 1, "text": "Other"}\n'
    )
    with pytest.raises(InputError) as problem:
        read_scored_texts(data, "x.jsonl")
    assert "line 3" in str(problem.value)
    assert "line 1" in str(problem.value)


def test_parquet_with_texts(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(
        {"item": ["1", "2"], "system": ["a", "a"], "output": ["One", "Two"], "bleu": [0.5, 0.25]}
    )
    path = tmp_path / "x.parquet"
    frame.to_parquet(path)
    found = read_scored_texts(path.read_bytes(), "x.parquet").outputs
    assert [(one.text, one.labels) for one in found] == [("One", {}), ("Two", {})]
