"""Plain pairs: two systems' answers without levels, from a table to the verdict on the net preference."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers.texts.factories import StudyAtHand, always, dataset, study_in, unblind, vote

from core.analyses.study_results.pair_rows import answer_of
from core.errors import InputError, NotAllowed
from core.formats.registry import read_scores
from core.formats.study.files import place_beside, read_answers, read_dataset, systems_of
from core.results.correlations.votes import metrics_against_votes
from core.results.study.results import study_results
from core.results.study.tables import ALL_PAIRS, GAFFKE, GAFFKE_DECIDES, blocks
from core.schema.study import NO_LEVEL, Dataset, Design
from core.store import Store
from core.study.audit import audit_study
from core.study.bundle import read_bundle, write_bundle
from core.study.design import consequences
from core.study.export import answers_csv, paper_files
from core.study.guidelines import (
    EARLIER_TURNS,
    INVALID_TEXT,
    TRANSLATED_KEYS,
    TURN_KEYS,
    guideline_text,
    label_keys,
    practice_pairs,
    shipped_languages,
)
from core.study.lifecycle import describe_design, import_study, set_wording, studies_like, usual_design
from core.study.raters import import_votes, import_votes_file

TEMPLATES = Path(__file__).resolve().parents[2] / "data" / "templates"
Row = tuple[str, str, str, str]
ROWS: tuple[Row, ...] = (
    ("q1", "What is A?", "x", "The first letter."),
    ("q1", "What is A?", "y", "A letter."),
    ("q2", "What is B?", "x", "The second letter."),
    ("q2", "What is B?", "y", "A letter too."),
)


def table(rows: Sequence[Row], columns: str = "id,question,system,output") -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer).writerows([columns.split(","), *rows])
    return buffer.getvalue().encode()


def plain(n_questions: int = 20) -> Dataset:
    return dataset(n_questions, (NO_LEVEL,))


def plain_study(store: Store, n_questions: int = 20, **design: object) -> StudyAtHand:
    return study_in(store, plain(n_questions), **{"blinding_pairs": 0, "score": "net_preference", **design})


def test_a_table_without_levels_is_plain_pairs() -> None:
    read = read_dataset(table(ROWS), "a.csv")
    assert read.plain
    assert read.levels == (NO_LEVEL,)
    assert read.sources == ("x", "y")
    assert [(item.question, item.reference) for item in read.items] == [
        ("What is A?", ""),
        ("What is B?", ""),
    ]
    assert {output.level for output in read.outputs} == {NO_LEVEL}


def test_a_reference_may_be_there_for_some_questions() -> None:
    rows = [(*row, "Ref." if row[0] == "q1" else "") for row in ROWS]
    read = read_dataset(table(rows, "id,question,system,output,ref"), "a.csv")  # type: ignore[arg-type]
    assert [item.reference for item in read.items] == ["Ref.", ""]


@pytest.mark.parametrize("asks", ["preference", "levels"])
def test_each_template_can_be_imported(asks: str) -> None:
    read = read_dataset((TEMPLATES / f"{asks}.csv").read_bytes(), "t.csv")
    assert read.plain == (asks == "preference")


def test_several_answers_of_one_system_miss_their_levels() -> None:
    rows = [(item, question, who, f"{text} {n}") for n in range(3) for item, question, who, text in ROWS]
    with pytest.raises(InputError) as caught:
        read_dataset(table(rows), "a.csv")
    assert "line 1: column level is missing" in caught.value.problems


def test_without_levels_another_missing_column_is_named_first() -> None:
    """`asks` is not known as the question: nobody can tell yet whether these are plain pairs."""
    with pytest.raises(InputError) as caught:
        read_dataset(table(ROWS, "id,asks,system,output"), "a.csv")
    (problem,) = caught.value.problems
    assert "column question is missing" in problem
    assert "asks" in problem


def test_what_is_missing_or_there_twice_is_named_without_a_level() -> None:
    with pytest.raises(InputError) as caught:
        read_dataset(table([*ROWS[:3], ("q1", "What is A?", "y", "Again.")]), "a.csv")
    said = " | ".join(caught.value.problems)
    assert "line 5, question q1" in said
    assert "question q2" in said
    assert "level" not in said


def test_two_of_several_systems() -> None:
    data = table([*ROWS, ("q1", "What is A?", "z", "Alpha."), ("q2", "What is B?", "z", "Beta.")])
    assert systems_of(data, "a.csv") == ["x", "y", "z"]
    with pytest.raises(InputError, match=r"found 3 \(x, y and z\)"):
        read_dataset(data, "a.csv")
    read = read_dataset(data, "a.csv", ("z", "x"))
    assert read.sources == ("x", "z")
    assert read.notes == ("systems left out: y",)


def test_two_files_are_put_side_by_side() -> None:
    first, second = (
        read_answers(table([row for row in ROWS if row[2] == who]), f"{who}.csv") for who in "xy"
    )
    read = place_beside(first, second)
    assert (read.plain, len(read.outputs)) == (True, 4)


def test_the_same_file_may_compare_two_other_systems(store: Store) -> None:
    data = table([*ROWS, ("q1", "What is A?", "z", "Alpha."), ("q2", "What is B?", "z", "Beta.")])
    one, other = (read_dataset(data, "a.csv", two) for two in (("x", "y"), ("x", "z")))
    import_study(store, "one", one, usual_design(one, "x", "y"))
    assert studies_like(store, one, ("y", "x")) == ["one"]
    assert import_study(store, "other", other, usual_design(other, "x", "z")).name == "other"
    with pytest.raises(InputError, match="imported before"):
        import_study(store, "third", other, usual_design(other, "z", "x"))


def test_the_usual_design_asks_for_no_guesses_and_decides_by_the_net_preference() -> None:
    design = usual_design(plain(), "ai", "human")
    assert (design.blinding_pairs, design.score, design.margin) == (0, "net_preference", 0.1)
    assert usual_design(dataset(), "ai", "human").blinding_pairs == 10
    assert "all pairs" in describe_design(design, (NO_LEVEL,))
    assert "levels" not in describe_design(design, (NO_LEVEL,))


def test_what_raters_read() -> None:
    assert shipped_languages("preference") == shipped_languages("levels") == ["de", "en", "fr"]
    assert "A0" not in guideline_text({}, "en", "preference")
    assert len(practice_pairs("preference")) == len(practice_pairs("levels")) == 3
    assert {pair.level for pair in practice_pairs("preference")} == {NO_LEVEL}
    assert "pair_question" in label_keys("preference")
    assert "level_question" not in label_keys("preference")
    around = {INVALID_TEXT, EARLIER_TURNS, *TURN_KEYS.values(), *TRANSLATED_KEYS}
    assert set(label_keys("ratings")) == around, "their task has the other words"


def test_the_question_is_the_owners(store: Store) -> None:
    at_hand = plain_study(store)
    set_wording(store, at_hand.study, "en", {"pair_question": "Which reply helps more?", "left": "First"})
    words = at_hand.desk("R1").wording()
    assert (words["pair_question"], words["left"]) == ("Which reply helps more?", "First")
    with pytest.raises(InputError, match="level_question"):
        set_wording(store, at_hand.study, "en", {"level_question": "Which is better?"})


def test_votes_give_the_net_preference(store: Store) -> None:
    """R1 prefers the candidate in every pair; R2 calls all good: the mean vote is 1/2, the composite 1."""
    at_hand = plain_study(store, repeat_share=0.0)
    desk = at_hand.desk("R1")
    sides = {a.position: a.left for a in at_hand.record.assignments if a.rater_id == "R1"}
    for number in range(1, desk.total + 1):
        side = "left" if sides[number] == at_hand.study.design.candidate else "right"
        desk.save_choice(number, side, seconds=2.0, diff_used="none")
    vote(store, at_hand.tokens["R2"], always("both_good"))
    unblind(at_hand)
    found = study_results(at_hand.record, n_resamples=50)
    assert (found.levels, found.per_level, found.asks_guesses) == ((), {}, False)
    assert found.overall.net_preference == 0.5
    assert found.overall.composite.mean == 1.0
    assert found.non_inferiority.mean == 0.5
    assert found.verdict.value == "non-inferior"
    assert list(blocks(found)) == [ALL_PAIRS]
    tables = answer_of(found).tables
    assert [row[1] for row in tables["choices"].rows] == [ALL_PAIRS] * 2
    decides = found.verdict.method == "gaffke"
    assert [row[0] for row in tables["bounds"].rows][1] == (GAFFKE_DECIDES if decides else GAFFKE)
    as_json = answer_of(found).json
    assert (as_json["levels"], as_json["per_level"]) == ([], {})


def test_the_deciding_bound_of_gaffke_has_a_row(store: Store) -> None:
    at_hand = plain_study(store, 3, repeat_share=0.0)
    for token in at_hand.tokens.values():
        vote(store, token, always("both_good"))
    unblind(at_hand)
    found = study_results(at_hand.record, n_resamples=50)
    (row,) = [row for row in answer_of(found).tables["bounds"].rows if row[0] == GAFFKE_DECIDES]
    assert found.verdict.method == "gaffke"
    assert row[3].value == found.verdict.bound  # type: ignore[union-attr]


def test_exports_and_bundle(store: Store) -> None:
    at_hand = plain_study(store)
    vote(store, at_hand.tokens["R1"], always("left"))
    unblind(at_hand)
    record = at_hand.record
    rows = list(csv.DictReader(io.StringIO(answers_csv(record).decode())))
    assert {row["level"] for row in rows} == {""}
    bundle = write_bundle(record)
    assert read_bundle(bundle, "b.zip") == record
    with pytest.raises(NotAllowed, match="votes file of Factual"):
        paper_files(record)


def test_what_needs_levels_is_refused(store: Store) -> None:
    at_hand = plain_study(store)
    with pytest.raises(NotAllowed, match="leakage audit"):
        audit_study(store, at_hand.study)
    with pytest.raises(NotAllowed, match="votes file of Factual"):
        import_votes_file(store, at_hand.study, "old", b"{}", "votes.json")
    item = at_hand.record.items[0].item_id
    assert import_votes(store, at_hand.study, "old", {(item, NO_LEVEL): "candidate"}) == 1


def test_a_metric_is_compared_with_the_votes(store: Store) -> None:
    """All raters prefer the candidate; the metric gives it the higher score in 3 of 4 pairs."""
    at_hand = plain_study(store, 4, repeat_share=0.0)
    design = at_hand.study.design
    for rater in at_hand.tokens:
        sides = {a.position: a.left for a in at_hand.record.assignments if a.rater_id == rater}
        desk = at_hand.desk(rater)
        for number in range(1, desk.total + 1):
            side = "left" if sides[number] == design.candidate else "right"
            desk.save_choice(number, side, seconds=2.0, diff_used="none")
    unblind(at_hand)
    rows = [("item_id", "system", "m")]
    for at, item in enumerate(at_hand.record.items):
        rows += [
            (item.item_id, design.candidate, "1" if at else "0"),
            (item.item_id, design.comparator, "0.5"),
        ]
    text = "".join(",".join(row) + "\n" for row in rows)
    (found,) = metrics_against_votes(at_hand.record, read_scores(text.encode(), "s.csv"), n_resamples=50)
    assert (found.agreement.estimate, found.agreement.n, found.by_level) == (0.75, 4, {})


def test_consequences_of_a_design() -> None:
    """40 questions, 3 raters: all rate all; then two votes a pair, at most ten questions a rater."""
    all_rate = consequences(Design("a", "b", repeat_share=0.05), 40, 1, 3, "pairs")
    assert (all_rate.votes, all_rate.votes_each, all_rate.minutes_each) == (126, 42, 32)
    assert all_rate.hours == pytest.approx(126 * 45 / 3600)
    assert (all_rate.short, all_rate.questions) == (0, 40)
    capped = consequences(
        Design("a", "b", repeat_share=0.0, votes_per_pair=2, max_questions=10), 40, 1, 3, "pairs"
    )
    assert (capped.votes, capped.votes_each, capped.short) == (30, 10, 25)
    assert consequences(Design("", "", votes_per_pair=5), 4, 2, 3, "ratings").short == 4
