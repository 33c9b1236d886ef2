from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.formats.study.files import read_dataset
from core.formats.trutheval import read_votes, write_votes
from core.schema.study import PREFERENCES, Preference

PAIRS = {(item, level) for item in ("0", "1") for level in ("A0", "A1", "A2")}


def problems_of(text: str) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_votes(text.encode(), "v.json", PAIRS)
    return caught.value.problems


def test_words_become_preferences_and_null_is_left_out():
    text = (
        '{"0": {"A0": "AI", "A1": "Expert", "A2": null}, "1": {"A0": "Both are good", "A1": "Both are bad"}}'
    )
    assert read_votes(text.encode(), "v.json", PAIRS) == {
        ("0", "A0"): "candidate",
        ("0", "A1"): "comparator",
        ("1", "A0"): "both_good",
        ("1", "A1"): "both_bad",
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"0": {"A0" "AI"}}', "line 1, column 13: not valid JSON (Expecting ':' delimiter)"),
        ("[]", "file: is a list, expected an object of questions"),
        ('{"7": {"A0": "AI"}}', "question 7: not in the data set"),
        ('{"0": {"A9": "AI"}}', "question 0, level A9: not in the data set"),
        ('{"0": null}', "question 0: is null, expected an object of levels"),
        (
            '{"0": {"A0": "ai"}}',
            'question 0, level A0: vote "ai" is unknown; expected one of '
            "AI, Expert, Both are good, Both are bad, or null",
        ),
        ('{"0": {"A0": 1}}', "question 0, level A0: vote is a number; expected one of AI"),
        ('{"0": {"A0": []}}', "question 0, level A0: vote is a list; expected one of AI"),
        ('{"0": {"A0": "AI", "A0": "AI"}}', "question 0: key A0 appears more than once"),
        ('{"0": {}, "0": {}}', "file: key 0 appears more than once"),
    ],
)
def test_each_kind_of_problem(text: str, problem: str):
    (found,) = problems_of(text)
    assert found.startswith(problem)


def test_all_problems_together():
    assert len(problems_of('{"0": {"A0": "x", "A9": "AI", "A1": 3}, "7": {}}')) == 4


def test_writing_orders_levels_and_keeps_the_order_of_questions():
    votes: dict[tuple[str, str], Preference | None] = {
        ("é", "A10"): "candidate",
        ("b", "A0"): None,
        ("é", "A2"): "both_bad",
    }
    assert write_votes(votes).decode() == (
        '{\n    "é": {\n        "A2": "Both are bad",\n        "A10": "AI"\n    },\n'
        '    "b": {\n        "A0": null\n    }\n}'
    )


@given(st.dictionaries(st.sampled_from(sorted(PAIRS)), st.sampled_from(PREFERENCES)))
def test_round_trip(votes: dict[tuple[str, str], Preference]):
    assert read_votes(write_votes(votes), "v.json", PAIRS) == votes


@pytest.mark.shared
@pytest.mark.parametrize("name", ["results-evaluator-1.json", "results-evaluator-2.json"])
def test_the_votes_of_the_paper_come_back_byte_by_byte(shared_data: Path, name: str):
    dataset = read_dataset((shared_data / "assessment-dataset.json").read_bytes(), "a.json")
    data = (shared_data / name).read_bytes()
    votes = read_votes(data, name, {(o.item_id, o.level) for o in dataset.outputs})
    assert len(votes) == 100
    assert write_votes(votes) == data
