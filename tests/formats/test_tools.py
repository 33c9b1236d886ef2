"""Files of benchmarks and annotation programs: the door for their content has their numbers, any other names the format."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from core.errors import InputError
from core.formats.panel import read_panel
from core.formats.registry import (
    FORMATS,
    format_of,
    read_ratings,
    read_scores,
    read_spans,
    read_study,
    read_texts,
)
from core.formats.study.files import read_dataset, votes_in
from core.formats.tools.rows import majority_decision
from core.schema.panel import Panel
from core.schema.scores import RatingSet


def as_list(rows: Sequence[Any]) -> bytes:
    return json.dumps(rows).encode()


def as_lines(rows: Sequence[Any]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


def panel(data: bytes, name: str = "file.json", beside: bytes | None = None, **given: Any) -> Panel:
    further = [] if beside is None else [(beside, f"judge-{name}")]
    return read_panel(data, name, find=True, beside=further, **given)


def rated(ratings: RatingSet) -> dict[tuple[str, str, str | None], float]:
    return {(one.item_id, one.system or "", one.rater): one.score for one in ratings.ratings}


def words(found: Panel, values: np.ndarray) -> list[list[str | None]]:
    """The classes of a panel's values, by row."""
    return [[None if np.isnan(cell) else found.scale.name(float(cell)) for cell in row] for row in values]


def votes(data: bytes, name: str, column: str) -> dict[str, dict[str, str]]:
    """Rater -> question -> vote."""
    dataset = read_dataset(data, name)
    found = votes_in(data, name, dataset, None, [(column, {})])
    return {rater: {item: vote for (item, _), vote in own.items()} for rater, own in found.by_rater.items()}


ITEMS = ["i1", "i2", "i3", "i4"]
PEOPLE = {
    "w1": dict(zip(ITEMS, [1, 2, 3, 4], strict=True)),
    "w2": dict(zip(ITEMS, [1, 2, 4, 4], strict=True)),
    "w3": {"i1": 2, "i2": 2},
}
MODELS = {
    "gpt-4o": dict(zip(ITEMS, [4, 3, 2, 1], strict=True)),
    "my_model": dict(zip(ITEMS, [1, 1, 1, 2], strict=True)),
}
TEXTS = [
    {
        "doc_id": f"d{number}",
        "system_id": system,
        "source": f"The article {number} says a lot about rivers.",
        "reference": f"Rivers, part {number}.",
        "system_output": f"{system} sums up article {number}.",
        "scores": {"coherence": number + at, "fluency": 5.0},
        "predict_scores": {"coherence": 0.25 * number, "fluency": 0.5},
    }
    for number in (1, 2)
    for at, system in enumerate(("north", "south"))
]
JUDGED = [
    {
        "pair_id": f"p{number}",
        "source": "made-up",
        "question": f"How long is river {number}, from its spring to the sea?",
        "response_A": f"River {number} is long, and it flows to the sea.",
        "response_B": f"River {number} is short, and it dries up early.",
        "label": label,
        "judge_name": "made_up",
        "judgments": [
            None if one is None else {"judgment": {"judge_model": "gpt-4o"}, "decision": one}
            for one in decisions
        ],
    }
    for number, (label, decisions) in enumerate(
        [
            ("A>B", ["A>B", "B>A"]),  # both orders prefer A
            ("A>B", ["A>B", "A>B"]),  # the place in the prompt decides: a tie
            ("B>A", ["A=B", "A>B"]),  # one tie: the other order decides for B
            ("B>A", ["A>B", "A=B"]),  # one tie: the other order decides for A
        ],
        start=1,
    )
]
BAR = [
    {
        "input": f"Write a line about river {number}.",
        "output_1": f"The river {number} is wide and slow.",
        "output_2": f"I would rather write about lake {number}.",
        "label": label,
        "results": [
            {"swap = False": {"winner": "2"}, "swap = True": {"winner": "2"}},
            {"swap = False": {"winner": first}, "swap = True": {"winner": second}},
        ],
    }
    for number, (label, first, second) in enumerate([(1, "1", "1"), (2, "1", "2"), (2, "2", "2")], start=1)
]
ALPACA = [
    {
        "instruction": f"Name a tree of forest {number}.",
        "output_1": f"An oak of forest {number}.",
        "generator_1": "north",
        "output_2": f"An elm of forest {number}.",
        "generator_2": "made-by-us",
        "annotator": annotator,
        "preference": preference,
    }
    for annotator, preferences in (("0", [1, 2, 1.5]), ("1", [1, 1, 2]))
    for number, preference in enumerate(preferences, start=1)
]
ALPACA_JUDGE = [
    {**one, "annotator": "alpaca_eval_gpt4", "preference": preference}
    for one, preference in zip(ALPACA[:3], [1.02, 1.9, None], strict=True)
]
BENCH = [
    {"question_id": 81, "model_a": a, "model_b": b, "winner": winner, "judge": judge, "turn": 1}
    for a, b, winner, judge in (
        ("vicuna", "alpaca", "model_a", "expert_0"),
        ("alpaca", "vicuna", "model_b", "author_1"),
        ("alpaca", "llama", "tie", "expert_0"),
        ("alpaca", "llama", "model_a", "author_1"),
    )
]
BENCH_JUDGE = [
    {
        "question_id": 81,
        "model_1": "alpaca",
        "model_2": other,
        "g1_winner": first,
        "g2_winner": second,
        "judge": ["gpt-4", "pair-v2"],
        "turn": 1,
    }
    for other, first, second in (("vicuna", "model_2", "model_2"), ("llama", "model_1", "model_2"))
]
MQM = b"system mqm_avg_score seg_id\nnorth\t-5.000000 1\nnorth None 2\nsouth -0.5 1\n"
PEARMUT = [
    {
        "user_id": user,
        "item_i": task,
        "item": [
            {
                "item_id": f"t{task}",
                "src": "Ein Satz.",
                "tgt": {"north": "A sentence.", "south": "Sentence a."},
            }
        ],
        "annotation": [
            {
                "north": {"score": score, "error_spans": []},
                "south": {
                    "score": 40,
                    "error_spans": [{"start_i": 0, "end_i": 7, "severity": "major", "category": None}],
                },
            }
        ],
        "actions": [],
    }
    for user, task, score in (("ann", 0, 90), ("bob", 0, 80), ("ann", "welcome_0", 1))
]


def studio(name: str, kind: str, values: Sequence[Any], model: Any = None) -> list[dict[str, Any]]:
    """Two tasks of Label Studio with a result of two people, and of a model."""

    def result(value: Any) -> list[dict[str, Any]]:
        return [{"from_name": name, "to_name": "text", "type": kind, "value": value}]

    return [
        {
            "id": number,
            "data": {
                "prompt": f"Which river, {number}?",
                "text1": f"River {number}.",
                "text2": f"Stream {number}.",
            },
            "annotations": [
                {"id": 1, "completed_by": 7, "result": result(values[0])},
                {"id": 2, "completed_by": {"id": 8, "email": "ann@x.org"}, "result": result(values[1])},
                {"id": 3, "completed_by": 9, "was_cancelled": True, "result": result(values[0])},
            ],
            "predictions": [] if model is None else [{"model_version": "v2", "result": result(model)}],
        }
        for number in (1, 2)
    ]


MARKED = studio(
    "errors",
    "labels",
    [{"start": 0, "end": 5, "labels": ["major"]}, {"start": 0, "end": 5, "labels": ["spelling"]}],
)
for task in MARKED:
    task["data"] = {"text": "Rever one."}
DOCCANO = [
    {"id": 1, "text": "Rever one.", "label": [[0, 5, "minor"]]},
    {"id": 2, "text": "River two.", "label": []},
]
PRODIGY = [
    {
        "text": "Rever one.",
        "_input_hash": 11,
        "_task_hash": 12,
        "spans": [{"start": 0, "end": 5, "label": "spelling"}],
        "answer": answer,
        "_annotator_id": annotator,
    }
    for answer, annotator in (("accept", "ann"), ("reject", "bob"), ("ignore", "eve"))
]
MTURK = (
    b"HITId,AssignmentId,WorkerId,AssignmentStatus,Input.text,Answer.good.no,Answer.good.yes\n"
    b"h1,a1,W1,Approved,River one.,false,true\n"
    b"h1,a2,W2,Approved,River one.,true,false\n"
    b"h1,a3,W3,Rejected,River one.,true,false\n"
    b"h2,a4,W1,Submitted,River two.,false,true\n"
)
SAMPLES: dict[str, tuple[str, bytes]] = {
    "alt_test": ("labels.json", json.dumps(PEOPLE).encode()),
    "unieval": ("result.json", as_list(TEXTS)),
    "judgebench": ("outputs.jsonl", as_lines(JUDGED)),
    "llmbar": ("result.json", as_list(BAR)),
    "alpaca_eval": ("annotations.json", as_list(ALPACA)),
    "mt_bench": ("human.jsonl", as_lines(BENCH)),
    "avg_seg_scores": ("mqm.avg_seg_scores.tsv", MQM),
    "pearmut": ("campaign.jsonl", as_lines(PEARMUT)),
    "label_studio": ("project.json", as_list(MARKED)),
    "prodigy": ("db.jsonl", as_lines(PRODIGY)),
    "doccano": ("all.jsonl", as_lines(DOCCANO)),
    "mturk": ("Batch_1.csv", MTURK),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_is_recognised_by_one_format_alone(name: str) -> None:
    file_name, data = SAMPLES[name]
    own = {*SAMPLES}
    assert [key for key in own if FORMATS[key].sniff(data, file_name)] == [name]
    assert format_of("ratings", data, file_name).name == name


@pytest.mark.parametrize(
    "value",
    [
        {"scores": {"a": 1, "b": 2}, "details": {"n": 3, "m": 4}},
        {"BLEU": 30.1, "chrF": 55.2},
        {"r1": {"id": "1", "text": "A text.", "LA": 2}, "r2": {"id": "2", "text": "A text.", "LA": 1}},
    ],
)
def test_other_objects_are_no_labels_by_rater(value: object) -> None:
    assert not FORMATS["alt_test"].sniff(json.dumps(value).encode(), "results.json")


# Labels by rater and item


BOTH = {"human_annotations": PEOPLE, "llm_annotations": MODELS}


@pytest.mark.parametrize(
    ("people", "beside"),
    [(BOTH, None), (PEOPLE, MODELS)],
    ids=["one file", "two files"],
)
def test_labels_by_rater_are_ratings_and_scores(people: object, beside: object) -> None:
    found = read_panel(
        json.dumps(people).encode(),
        "human_annotations.json",
        find=True,
        beside=[] if beside is None else [(json.dumps(beside).encode(), "llm_annotations.json")],
    )
    assert found.raters == ("w1", "w2", "w3")
    assert found.judges == ("gpt-4o", "my_model")
    assert [row.item_id for row in found.rows] == ITEMS
    np.testing.assert_array_equal(found.ratings, [[1, 1, 2], [2, 2, 2], [3, 4, np.nan], [4, 4, np.nan]])
    np.testing.assert_array_equal(found.scores, [[4, 1], [3, 1], [2, 1], [1, 2]])


def test_the_labels_of_one_model_are_called_by_its_file() -> None:
    found = panel(json.dumps(PEOPLE).encode(), "people.json", json.dumps(MODELS["gpt-4o"]).encode())
    assert found.judges == ("judge-people",)
    assert found.scores[:, 0].tolist() == [4, 3, 2, 1]


def test_a_model_is_no_person_where_ratings_are_read() -> None:
    found = read_ratings(json.dumps(BOTH).encode(), "both.json")
    assert {one.rater for one in found.ratings} == {"w1", "w2", "w3"}
    assert any("gpt-4o" in note for note in found.notes)
    with pytest.raises(InputError) as alone:
        read_ratings(json.dumps({"llm_annotations": MODELS}).encode(), "llm.json")
    assert "my_model" in str(alone.value)


# Records of UniEval


def test_scores_by_dimension_are_people_and_an_evaluator() -> None:
    data = as_list(TEXTS)
    found = panel(data, dimension="coherence")
    assert (found.raters, found.judges) == (("people",), ("UniEval",))
    assert found.ratings[:, 0].tolist() == [1, 2, 2, 3]
    assert found.scores[:, 0].tolist() == [0.25, 0.25, 0.5, 0.5]
    assert found.systems.tolist() == ["north", "south"] * 2
    scores = read_scores(data, "result.json")
    assert [metric.name for metric in scores.metrics] == ["UniEval-coherence", "UniEval-fluency"]
    assert [one.text for one in read_texts(data, "result.json").outputs][:1] == ["north sums up article 1."]


def test_records_of_unieval_are_a_study() -> None:
    dataset = read_dataset(as_list(TEXTS), "result.json")
    assert dataset.sources == ("north", "south")
    assert [(item.item_id, item.reference) for item in dataset.items] == [
        ("d1", "Rivers, part 1."),
        ("d2", "Rivers, part 2."),
    ]


def test_answers_of_a_model_in_words_are_no_scores() -> None:
    data = as_list(
        [
            {key: one[key] for key in one if key != "predict_scores"} | {"all_responses": ["3", "4"]}
            for one in TEXTS
        ]
    )
    found = read_ratings(data, "gpt4_coh.json")
    assert len(found.ratings) == 2 * len(TEXTS)
    assert any("all_responses" in note for note in found.notes)


# Pairs with decisions in two orders


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        (["A", "A"], "A"),
        (["A", "B"], "tie"),
        (["A", "tie"], "A"),
        (["tie", "tie"], "tie"),
        ([None, "B"], "B"),
        ([None, None], None),
        (["B"], "B"),
    ],
)
def test_both_orders_make_one_decision(decisions: list[str | None], expected: str | None) -> None:
    assert majority_decision(decisions) == expected


def test_judgebench_has_what_is_right_and_what_both_orders_say() -> None:
    found = panel(as_lines(JUDGED), "outputs.jsonl")
    assert words(found, found.ratings) == [["A"], ["A"], ["B"], ["B"]]
    assert words(found, found.scores) == [["A"], ["tie"], ["B"], ["A"]]
    assert found.judges == ("judge gpt-4o",)
    assert votes(as_lines(JUDGED), "outputs.jsonl", "label") == {
        "label": {"p1": "response_A", "p2": "response_A", "p3": "response_B", "p4": "response_B"}
    }


def test_judgebench_names_an_unknown_decision_and_its_place() -> None:
    wrong = [{**JUDGED[0], "judgments": [{"decision": "A wins"}]}]
    with pytest.raises(InputError) as problem:
        panel(as_lines(wrong), "outputs.jsonl")
    assert "judgments 1" in str(problem.value)
    assert "A wins" in str(problem.value)


def test_llmbar_counts_the_last_result() -> None:
    found = panel(as_list(BAR), "result.json")
    assert words(found, found.ratings) == [["output_1"], ["output_2"], ["output_2"]]
    assert words(found, found.scores) == [["output_1"], ["tie"], ["output_2"]]
    assert votes(as_list(BAR), "result.json", "label") == {
        "label": {
            f"Write a line about river {n}.": side
            for n, side in ((1, "output_1"), (2, "output_2"), (3, "output_2"))
        }
    }


def test_alpaca_eval_has_votes_of_people_and_of_a_judge() -> None:
    found = panel(as_list(ALPACA), "annotations.json", as_list(ALPACA_JUDGE))
    # The pair is "made-by-us vs north": the first output, by north, is the second system of its name.
    assert words(found, found.ratings) == [["second", "second"], ["first", "second"], ["tie", "first"]]
    assert found.judges == ("alpaca_eval_gpt4",)
    assert words(found, found.scores) == [["second"], ["first"], [None]]
    assert votes(as_list(ALPACA), "annotations.json", "preference") == {
        "0": {"1": "north", "2": "made-by-us", "3": "both_good"},
        "1": {"1": "north", "2": "north", "3": "made-by-us"},
    }


def test_mt_bench_names_a_pair_alike_in_both_orders() -> None:
    found = panel(as_lines(BENCH), "human.jsonl", as_lines(BENCH_JUDGE))
    assert found.raters == ("expert_0", "author_1")
    by_pair = dict(zip(found.systems.tolist(), words(found, found.ratings), strict=True))
    assert by_pair == {"alpaca vs vicuna": ["second", "second"], "alpaca vs llama": ["tie", "first"]}
    judged = dict(zip(found.systems.tolist(), words(found, found.scores), strict=True))
    assert (found.judges, judged) == (
        ("gpt-4",),
        {"alpaca vs vicuna": ["second"], "alpaca vs llama": ["tie"]},
    )


@pytest.mark.parametrize("name", ["alt_test", "mt_bench", "avg_seg_scores"])
def test_a_study_of_a_file_without_texts_is_refused_by_its_format(name: str) -> None:
    with pytest.raises(InputError) as problem:
        read_study(SAMPLES[name][1], SAMPLES[name][0])
    assert FORMATS[name].title in str(problem.value)


# Votes in other tables


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("A>B", "left answer"),
        ("B>>A", "right answer"),
        ("A<B", "right answer"),
        ("[[A>B]]", "left answer"),
        ("A=B", "both_good"),
    ],
)
def test_a_comparison_is_a_vote_for_the_side_that_it_prefers(word: str, expected: str) -> None:
    rows = [
        {
            "id": f"q{n}",
            "prompt": f"Which river, {n}?",
            "left answer": f"River {n}.",
            "right answer": f"Stream {n}.",
            "vote": word,
        }
        for n in (1, 2)
    ]
    assert votes(as_lines(rows), "pairs.jsonl", "vote") == {"vote": {"q1": expected, "q2": expected}}


def test_a_number_with_decimals_is_no_side() -> None:
    rows = [
        {
            "id": f"q{n}",
            "prompt": f"Which river, {n}?",
            "answer_1": f"River {n}.",
            "answer_2": f"Stream {n}.",
            "preference": 1.46,
        }
        for n in (1, 2)
    ]
    with pytest.raises(InputError) as problem:
        votes(as_lines(rows), "pairs.jsonl", "preference")
    assert "1.46" in str(problem.value)


# Programs for annotation


def test_averaged_mqm_scores_are_ratings_of_people() -> None:
    found = read_ratings(MQM, "mqm.avg_seg_scores.tsv")
    assert rated(found) == {("1", "north", "mqm people"): -5.0, ("1", "south", "mqm people"): -0.5}


def test_pearmut_has_scores_by_annotator() -> None:
    data = as_lines(PEARMUT)
    assert rated(read_ratings(data, "campaign.jsonl")) == {
        ("t0", "north", "ann"): 90,
        ("t0", "south", "ann"): 40,
        ("t0", "north", "bob"): 80,
        ("t0", "south", "bob"): 40,
    }
    assert read_dataset(data, "campaign.jsonl").sources == ("north", "south")


def test_pearmut_ends_a_span_with_its_last_character() -> None:
    found = read_spans(as_lines(PEARMUT), "campaign.jsonl")
    spans = {(one.system, one.rater): one.spans for one in found.ratings}
    assert spans["north", "ann"] == ()
    (span,) = spans["south", "bob"] or ()
    assert "Sentence a."[span.start : span.end] == "Sentence"
    assert span.severity == "major"


def test_label_studio_has_choices_of_people_and_predictions() -> None:
    data = as_list(
        studio("quality", "choices", [{"choices": ["good"]}, {"choices": ["bad"]}], {"choices": ["good"]})
    )
    found = panel(data, "project.json")
    assert (found.raters, found.judges) == (("7", "ann@x.org"), ("v2",))
    assert words(found, found.ratings) == [["good", "bad"]] * 2
    assert words(found, found.scores) == [["good"]] * 2
    assert {one.rater for one in read_ratings(data, "project.json").ratings} == {"7", "ann@x.org"}


def test_label_studio_has_votes_on_pairs() -> None:
    data = as_list(studio("pw", "pairwise", [{"selected": "left"}, {"selected": "right"}]))
    assert votes(data, "project.json", "choice") == {
        "7": {"1": "text1", "2": "text1"},
        "ann@x.org": {"1": "text2", "2": "text2"},
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "label_studio",
            {("1", "7"): ("major", "unspecified"), ("1", "ann@x.org"): ("unspecified", "spelling")},
        ),
        ("doccano", {("1", None): ("minor", "unspecified")}),
        ("prodigy", {("11", "ann"): ("unspecified", "spelling")}),
    ],
)
def test_marked_spans_have_a_severity_or_a_category(
    name: str, expected: dict[tuple[str, str | None], tuple[str, str]]
) -> None:
    file_name, data = SAMPLES[name]
    found = read_spans(data, file_name)
    marked = {(one.item_id, one.rater): one.spans for one in found.ratings}
    for key, (severity, category) in expected.items():
        (span,) = marked[key] or ()
        assert (span.start, span.end, span.severity, span.category) == (0, 5, severity, category)
    if name == "doccano":
        assert marked["2", None] == ()
    if name == "prodigy":
        assert {*marked} == {*expected}


def test_prodigy_has_answers_by_annotator() -> None:
    found = panel(as_lines(PRODIGY), "db.jsonl", people_alone=True)
    assert found.raters == ("ann", "bob")
    assert words(found, found.ratings) == [["accept", "reject"]]


def test_a_batch_of_mechanical_turk_has_the_button_that_a_worker_pressed() -> None:
    found = panel(MTURK, "Batch_1.csv", people_alone=True)
    assert found.raters == ("W1", "W2")
    assert words(found, found.ratings) == [["yes", "no"], ["yes", None]]
    assert [row.item_id for row in found.rows] == ["h1", "h2"]


def test_a_worker_twice_on_a_text_is_a_repeated_rating() -> None:
    again = MTURK + b"h1,a5,W1,Approved,River one.,true,false\n"
    with pytest.raises(InputError) as problem:
        panel(again, "Batch_1.csv", people_alone=True)
    assert "W1" in str(problem.value)
    found = panel(again, "Batch_1.csv", people_alone=True, repeated="last")
    assert words(found, found.ratings)[0] == ["no", "no"]


@pytest.mark.parametrize(
    ("name", "read"),
    [("doccano", read_study), ("prodigy", read_study), ("doccano", lambda *file: panel(*file))],
)
def test_a_door_that_the_file_cannot_serve_names_the_format(name: str, read: Callable[..., object]) -> None:
    file_name, data = SAMPLES[name]
    with pytest.raises(InputError) as problem:
        read(data, file_name)
    assert FORMATS[name].title in str(problem.value)


def test_a_log_without_scores_is_read_for_its_texts_alone() -> None:
    log = {
        "version": 2,
        "status": "success",
        "eval": {"task": "rivers", "model": "north"},
        "samples": [
            {
                "id": 1,
                "epoch": 1,
                "input": "Which?",
                "target": "x",
                "output": {"completion": "This."},
                "scores": None,
            }
        ],
    }
    data = json.dumps(log).encode()
    assert [one.text for one in read_texts(data, "log.json").outputs] == ["This."]
    for read in (panel, read_scores, read_ratings):
        with pytest.raises(InputError) as problem:
            read(data, "log.json")
        assert "score" in str(problem.value)
        assert "epoch" not in str(problem.value)
