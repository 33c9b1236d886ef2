"""Votes that stand beside the answers: what their words mean, who gave them, and which count."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.formats.study.files import note_votes, read_builder, read_dataset, votes_in
from core.formats.study.pairs import Reading
from core.formats.study.votes import Repeated, TableVotes, parse_vote, vote_columns
from core.store import open_store
from core.store.answers import load_record
from core.store.studies import items_of
from core.study import lifecycle
from core.study.bundle import read_bundle, write_bundle

ROWS = tuple((f"Question {n}?", f"First answer {n}.", f"Second answer {n}.") for n in range(4))


def table(*votes: Mapping[str, Any], turned: bool = False) -> bytes:
    """Four questions; turned: in every other row the systems change sides."""
    rows = []
    for n, ((asked, one, two), vote) in enumerate(zip(ROWS, votes, strict=True)):
        sides = [("x", one), ("y", two)]
        (a, left), (b, right) = reversed(sides) if turned and n % 2 else sides
        rows.append(
            {"question": asked, "model_a": a, "model_b": b, "response_a": left, "response_b": right, **vote}
        )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def votes_of(
    data: bytes, *asked: str, repeated: Repeated = "refuse", two: tuple[str, ...] = ()
) -> TableVotes:
    dataset = read_dataset(data, "a.jsonl", two)
    return votes_in(data, "a.jsonl", dataset, None, [parse_vote(one) for one in asked], repeated)


def by_question(votes: TableVotes, rater: str) -> list[str | None]:
    own = votes.by_rater[rater]
    return [own.get((asked, "")) for asked, _, _ in ROWS]


@pytest.mark.parametrize(
    "words",
    [
        ("model_a", "model_b", "tie", "tie (bothbad)"),
        ("A", "B", "tie", "both bad"),
        ("[[A]]", "[[B]]", "[[C]]", "neither"),
        ("left", "right", "draw", "bothbad"),
        ("response_a", "response_b", "same", "tie (both bad)"),
        ("first", "Second", "Equal", "none of them"),
    ],
)
def test_words_for_a_side_are_understood(words: tuple[str, ...]) -> None:
    data = table(*({"winner": word} for word in words))
    (column,) = vote_columns(read_builder(data, "a.jsonl"))
    assert [*column.words.values()] == ["first", "second", "both_good", "both_bad"]
    assert by_question(votes_of(data, "winner"), "winner") == ["x", "y", "both_good", "both_bad"]


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("A>B", "first"), ("B >> A", "second"), ("[[A>B]]", "first"), ("[[A=B]]", "both_good"), ("x>y", "x"), ("A<B", "second"),
        ("A is much better", "first"), ("Response 2", "second"), ("the second one", "second"), ("It's a tie", "both_good"),
        ("X", "x"), ("A is better than B", None), ("A lost", None), ("not A", None), ("A or B", None), ("A;A;B", None),
        ("not sure, maybe a", None), ("Both A and B are bad", None), ("1.06", None), ("0.2", None), ("-0.1", None), ("1", None),
        ("A>C", None), ("command-a", None),
    ],
)  # fmt: skip
def test_a_vote_is_nothing_but_a_side(word: str, meaning: str | None) -> None:
    data = table(*({"winner": word} for _ in range(4)))
    offered = vote_columns(read_builder(data, "a.jsonl"))
    assert [one.words[word] for one in offered] == ([meaning] if meaning else [])
    if meaning is None:
        with pytest.raises(InputError):
            votes_of(data, "winner")


def test_a_version_in_a_name_is_no_side() -> None:
    rows = [{"question": f"q{n}?", "Claude 2 Response": f"cl {n} says", "GPT-4 Response": f"gp {n} says", "winner": "Claude 2"}
            for n in range(3)]  # fmt: skip
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    assert {*votes_of(data, "winner").by_rater["winner"].values()} == {"Claude 2 Response"}


def test_votes_without_a_name_for_who_voted_are_not_lost() -> None:
    lines = table(*({"vote": "A", "nickname": "n"} for _ in range(4)))
    data = lines + lines.replace(b'"nickname": "n"', b'"nickname": "m"')
    with pytest.raises(InputError, match="names who voted") as caught:
        votes_of(data, "vote")
    assert len(caught.value.problems) == 1
    reading = Reading({"rater": ("nickname",)})
    dataset = read_dataset(data, "a.jsonl", reading=reading)
    assert {*votes_in(data, "a.jsonl", dataset, reading, [parse_vote("vote")]).by_rater} == {"n", "m"}


def test_a_judges_verdicts_are_not_offered_as_votes() -> None:
    data = table(*({"gpt4_winner": "A", "human_winner": "B"} for _ in range(4)))
    assert [one.column for one in vote_columns(read_builder(data, "a.jsonl"))] == ["human_winner"]
    assert any("named like a judge" in note for note in votes_of(data, "gpt4_winner").notes)


def in_rows(systems: str, *winners: str) -> bytes:
    """A row for each answer, with the vote on its pair."""
    rows = [
        {"question": f"Question {n}?", "model": name, "answer": f"{name} says {n}", "winner": winner}
        for n, winner in enumerate(winners)
        for name in systems
    ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_where_answers_stand_in_rows_no_answer_is_the_first() -> None:
    with pytest.raises(InputError):
        votes_of(in_rows("mn", "A", "A", "A"), "winner")
    assert by_question(votes_of(in_rows("mn", "n", "n", "m", "tie"), "winner"), "winner") == [
        "n",
        "n",
        "m",
        "both_good",
    ]


def test_a_skipped_vote_does_not_count() -> None:
    data = table(*({"winner": word} for word in ("A", "unsure", "n/a", "B")))
    found = votes_of(data, "winner=skip:unsure")
    assert by_question(found, "winner") == ["x", None, None, "y"]


def test_a_vote_for_a_third_system_does_not_count() -> None:
    found = votes_of(in_rows("mno", "m", "n", "o"), "winner", two=("m", "n"))
    assert by_question(found, "winner") == ["m", "n", None, None]
    assert any("for other systems" in note for note in found.notes)


def test_a_side_is_that_of_its_row() -> None:
    data = table(*({"winner": "model_a"} for _ in range(4)), turned=True)
    assert by_question(votes_of(data, "winner"), "winner") == ["x", "y", "x", "y"]
    data = table(*({"preferred": "X"} for _ in range(4)), turned=True)
    assert by_question(votes_of(data, "preferred"), "preferred") == ["x"] * 4


def test_numbers_need_an_explanation() -> None:
    data = table(*({"label": number} for number in (0, 1, 2, 0)))
    assert vote_columns(read_builder(data, "a.jsonl")) == []
    with pytest.raises(InputError) as caught:
        votes_of(data, "label")
    assert len(caught.value.problems) == 3
    found = votes_of(data, "label=first:0,second:1,tie:2")
    assert by_question(found, "label") == ["x", "y", "both_good", "x"]
    assert "0 is the first answer (2)" in found.read_as[0]


def test_a_name_that_is_a_side_and_another_system_is_ambiguous() -> None:
    data = (
        table(*({"winner": "a"} for _ in range(4)), turned=True)
        .replace(b'"x"', b'"A"')
        .replace(b'"y"', b'"B"')
    )
    assert vote_columns(read_builder(data, "a.jsonl")) == []
    with pytest.raises(InputError, match="cannot be read"):
        votes_of(data, "winner")
    assert by_question(votes_of(data, "winner=first:a"), "winner") == ["A", "B", "A", "B"]


def test_a_column_for_each_rater() -> None:
    data = table(*({"human_1": "a", "human_2": word} for word in ("a", "b", "", "tie")))
    found = votes_of(data, "human_1", "human_2")
    assert by_question(found, "human_1") == ["x"] * 4
    assert by_question(found, "human_2") == ["x", "y", None, "both_good"]
    assert found.n == 7


def test_a_row_for_each_vote() -> None:
    rows = [row for line in table(*({"winner": "model_a"} for _ in range(4))).splitlines() for row in
            ({**json.loads(line), "annotator": "anna"}, {**json.loads(line), "annotator": "ben", "winner": "model_b"})]  # fmt: skip
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    assert len(read_dataset(data, "a.jsonl").items) == 4
    found = votes_of(data, "winner")
    assert (by_question(found, "anna"), by_question(found, "ben")) == (["x"] * 4, ["y"] * 4)


@pytest.mark.parametrize(("repeated", "counts"), [("first", "x"), ("last", "y")])
def test_a_repeated_vote_counts_by_a_stated_policy(repeated: Repeated, counts: str) -> None:
    lines = table(*({"winner": "a", "rater": "anna"} for _ in range(4))).splitlines()
    again = json.dumps({**json.loads(lines[0]), "winner": "b"}).encode()
    data = b"\n".join([*lines, again, lines[1]])
    with pytest.raises(InputError) as caught:
        votes_of(data, "winner")
    assert len(caught.value.problems) == 1
    found = votes_of(data, "winner", repeated=repeated)
    assert by_question(found, "anna") == [counts, "x", "x", "x"]
    assert found.n == 4
    assert len(found.notes) == 1


def test_votes_on_other_systems_are_left_out() -> None:
    data = table(*({"winner": "model_a"} for _ in range(4))).replace(b'"y"', b'"z"', 1)
    found = votes_of(data, "winner", two=("x", "y"))
    assert found.n == 3


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("=first:a", "the column is missing"),
        ("w=first", "is not a pair"),
        ("w=frist:a", "did you mean first"),
        ("w=first:a,second:a", "is given twice"),
    ],
)
def test_what_cannot_be_meant(written: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_vote(written)
    assert said in caught.value.problems[0]


def test_no_votes_and_no_such_column() -> None:
    data = table(*({"winner": ""} for _ in range(4)))
    with pytest.raises(InputError, match="has no votes on these pairs"):
        votes_of(data, "winner")
    with pytest.raises(InputError) as caught:
        votes_of(data, "winer")
    assert "winner" in caught.value.problems[0]


def test_they_become_a_study_with_results(tmp_path: Path) -> None:
    """With the names of the systems, unknown sides and everything in a bundle; a wrong name leaves nothing behind."""
    words = ("model_a", "model_b", "tie", "model_a")
    data = table(*({"winner": word} for word in words), turned=True)
    dataset = read_dataset(data, "a.jsonl")
    votes = votes_in(data, "a.jsonl", dataset, None, [parse_vote("winner")])
    assert "columns not used" not in " ".join(note_votes(dataset, votes).notes)
    with open_store(tmp_path / "a.db") as store:
        design = lifecycle.usual_design(dataset, "x", "y")
        study = lifecycle.import_voted_study(store, "voted", dataset, design, votes)
        assert study.state == "unblinded"
        record = load_record(store, study)
        assert {answer.item_id: answer.preference for answer in record.answers} == {
            "Question 0?": "candidate",
            "Question 1?": "candidate",
            "Question 2?": "both_good",
            "Question 3?": "comparator",
        }
        assert {answer.choice for answer in record.answers} == {None}
        assert [rater.rater_id for rater in record.raters] == ["winner"]
        assert read_bundle(write_bundle(record), "b.zip").answers == record.answers
        broken = TableVotes({"": votes.by_rater["winner"]})
        with pytest.raises(InputError):
            lifecycle.import_voted_study(store, "half", dataset, design, broken, again=True)
        assert store.row("select count(*) as n from study")["n"] == 1  # type: ignore[index]


def test_turns_survive_the_database_and_a_bundle(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": "Why?"},
    ]
    rows = [
        {"model": name, "messages": [*turns, {"role": "assistant", "content": name}]} for name in ("x", "y")
    ]
    dataset = read_dataset("".join(json.dumps(row) + "\n" for row in rows).encode(), "a.jsonl")
    with open_store(tmp_path / "a.db") as store:
        study = lifecycle.import_study(store, "chat", dataset, lifecycle.usual_design(dataset, "x", "y"))
        assert items_of(store, study.study_id) == dataset.items
        record = read_bundle(write_bundle(load_record(store, study)), "b.zip")
        assert record.items == dataset.items
        again = lifecycle.restore_study(store, record, name="again")
        assert items_of(store, again.study_id) == dataset.items
        forged = replace(record, items=tuple(replace(item, question="Who?") for item in record.items))
        with pytest.raises(InputError, match="the question is not the last turn"):
            read_bundle(write_bundle(forged), "b.zip")


def of_systems(first: str, second: str, *votes: str) -> bytes:
    """Four questions with a column of answers for each system."""
    rows = zip(ROWS, votes, strict=True)
    return "".join(
        json.dumps({"question": asked, first: one, second: two, "ann": vote}) + "\n"
        for (asked, one, two), vote in rows
    ).encode()


@pytest.mark.parametrize(
    "systems", [("tie", "other"), ("both bad", "both good"), ("right", "left"), ("None", "other")]
)
def test_a_system_called_like_another_vote_does_not_lose_its_wins(systems: tuple[str, str]) -> None:
    first, second = systems
    data = of_systems(first, second, first, first, second, "equal")
    with pytest.raises(InputError) as raised:
        votes_of(data, "ann")
    told = f"ann=first:{first},second:{second}"
    said = [one for one in raised.value.problems if one.startswith(f"column ann: {first} (2 rows) ")]
    assert len(said) == 1
    assert said[0].endswith(told)
    assert by_question(votes_of(data, told), "ann") == [first, first, second, "both_good"]


def test_such_a_system_is_renamed_where_no_side_can_be_named() -> None:
    data = "".join(
        json.dumps({"question": asked, "system": system, "response": text, "winner": "tie"}) + "\n"
        for asked, one, two in ROWS
        for system, text in (("tie", one), ("other", two))
    ).encode()
    with pytest.raises(InputError) as raised:
        votes_of(data, "winner")
    (said,) = raised.value.problems
    assert said.startswith("column winner: tie (8 rows) ")
    assert "first:" not in said
