"""Guesses which answer a person wrote: whose count, against which side, and what is made of them."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.texts.factories import LEVELS, dataset, item_ids, record_of

from core.analyses.study_results.pair_rows import answer_of
from core.cli import main
from core.errors import InputError
from core.results.study.counted import OUTSIDE, Filters
from core.results.study.results import Blinding, blinding, study_results
from core.schema.study import Assignment, Guess, GuessedSide, HistoryEntry, Rater, StudyRecord
from core.stats.resampling import NO_RESAMPLES
from core.study.bundle import write_bundle

PAIRS = [(item, level) for item in item_ids(10) for level in LEVELS]
TURNED: dict[str, GuessedSide] = {"left": "right", "right": "left"}


def person_side(assignment: Assignment, source: str = "human") -> GuessedSide:
    return "left" if assignment.left == source else "right"


def study(
    guesses: dict[str, Sequence[str]], raters: Sequence[Rater] | None = None, **design: Any
) -> StudyRecord:
    """Raters who guessed about their first pairs at A1: right, wrong, unsure, left; a comment on the first."""
    record = record_of(
        {rater: dict.fromkeys(PAIRS, "both_good") for rater in guesses}, dataset(10), raters=raters, **design
    )
    shown = {a.key: a for a in record.assignments}
    given = []
    for rater, says in guesses.items():
        for item, word in zip(item_ids(10), says, strict=False):
            side = person_side(shown[rater, item, "A1", False])
            guess = {"right": side, "wrong": TURNED[side]}.get(word, word)
            given.append(Guess(rater, item, "A1", guess))  # type: ignore[arg-type]
    if given:
        given[0] = replace(given[0], comment="It *reads* well")
    return replace(record, guesses=tuple(given))


def found_in(record: StudyRecord, **filters: Any) -> Blinding:
    return blinding(record, Filters(**filters), n_resamples=300)


def test_sides_are_those_that_the_rater_saw() -> None:
    record = study({"A": ["right"] * 6 + ["wrong"] * 2 + ["unsure"] * 2, "B": ["left"] * 10})
    found = found_in(record)
    alone = found.per_rater["A"]
    assert (alone.n, alone.share_right.n, alone.share_right.n_right) == (10, 8, 6)
    assert alone.bang.estimate == pytest.approx(0.4)
    shown = [a for a in record.assignments if a.rater_id == "B" and a.level == "A1"]
    on_left = sum(person_side(a) == "left" for a in shown)
    assert 0 < on_left < 10
    assert found.per_rater["B"].table == ((on_left, 0, 0), (10 - on_left, 0, 0))
    assert found.overall.n == 20
    assert found.overall.bang_questions.n_clusters == 10
    assert (found.person, found.n_left_out) == ("human", {})


def test_the_person_may_be_the_candidate() -> None:
    """The same guesses, all wrong now that the other source is the person."""
    guesses = {"A": ["right"] * 10}
    assert found_in(study(guesses)).overall.bang.estimate == 1
    turned = study(guesses, person="candidate")
    assert found_in(turned).person == "ai"
    assert found_in(turned).overall.bang.estimate == -1
    assert "took the wrong one for the human answer" in found_in(turned).reading


def test_what_is_left_out_and_why() -> None:
    people = [Rater("A"), Rater("B"), Rater("P", dry_run=True), Rater("X", excluded="pressed one key")]
    record = study({name: ["right"] * 4 for name in "ABPX"}, people)
    found = found_in(record, raters=["A"], questions=["q00", "q01"])
    assert found.n_left_out == {
        "pair not chosen": 2,
        "rater not chosen": 4,
        "dry run": 4,
        "rater excluded": 4,
    }
    assert (found.overall.n, list(found.per_rater)) == (2, ["A"])
    assert found_in(record).n_left_out == {"dry run": 4, "rater excluded": 4}
    assert found_in(record, levels=["A2"]).overall.n == 0
    with pytest.raises(InputError, match="Excluded from the analysis: rater 'X'"):
        found_in(record, raters=["X"])


def test_a_guess_counts_whatever_became_of_the_vote() -> None:
    record = study({"A": ["right"] * 3})
    flagged = tuple(replace(answer, invalid=True) for answer in record.answers)
    assert found_in(replace(record, answers=flagged)).overall.n == 3


def test_a_guess_without_an_assignment_is_a_mistake() -> None:
    record = study({"A": ["right"]})
    with pytest.raises(InputError, match="A guessed about q00, A1 without an assignment"):
        found_in(replace(record, assignments=()))


def test_comments_are_those_of_the_guesses_used() -> None:
    record = study({"A": ["right"] * 2, "B": ["left"] * 2})
    (said,) = found_in(record).comments
    assert (said.rater_id, said.item_id, said.level, said.comment) == ("A", "q00", "A1", "It *reads* well")
    assert found_in(record, raters=["B"]).comments == ()
    assert "reads" not in json.dumps(found_in(record).to_json()), "comments are no results"


@pytest.mark.parametrize(
    ("guesses", "reading"),
    [
        ({}, "No rater has guessed yet which answer a person wrote."),
        (
            {"A": ["unsure"] * 3},
            'No sign that blinding failed. Raters answered "cannot tell" every time (n = 3).',
        ),
        (
            {"A": ["right"] * 8 + ["unsure"] * 2, "B": ["right"] * 6 + ["wrong"] * 2 + ["unsure"] * 2},
            "Blinding failed. Raters picked out the human answer correctly in 14 of 16 guesses "
            '("cannot tell" in 4 more), more often than by chance.',
        ),
        (
            {"A": ["right", "wrong"] * 5, "B": ["wrong", "right"] * 5},
            "No sign that blinding failed, which does not prove that it worked. Raters picked out the human answer "
            'correctly in 10 of 20 guesses ("cannot tell" in 0 more). With only 20 guesses, a moderate leak',
        ),
        ({"A": ["right"]}, "because there is no interval (all guesses are about one question)"),
        # 35 of 50 as if independent, but 7 of 10 questions: P(5 or fewer of 10 drawn are among the 7) = 0.15.
        (
            {rater: ["right"] * 7 + ["wrong"] * 3 for rater in "ABCDE"},
            "Blinding may have failed.",
        ),
        # All of 5 right: the bootstrap has the interval [1, 1], the exact one of the share still holds one half.
        ({"A": ["right"] * 5}, "No sign that blinding failed"),
    ],
)
def test_readings(guesses: dict[str, list[str]], reading: str) -> None:
    assert reading in found_in(study(guesses)).reading


def test_no_resamples_no_verdict() -> None:
    found = blinding(study({"A": ["right"] * 9}), n_resamples=0)
    assert f"because there is no interval ({NO_RESAMPLES})" in found.reading


def test_enough_guesses_are_not_called_few() -> None:
    record = study({name: ["right", "wrong"] * 5 for name in "ABC"})
    assert "few" not in found_in(record).reading


def test_study_results_hold_it_with_their_interval_settings() -> None:
    record = study({"A": ["right"] * 6, "B": []})
    results = study_results(record, n_resamples=70, rng=3)
    assert results.blinding == blinding(record, n_resamples=70, rng=3)
    assert results.blinding.overall.bang_questions.n_resamples == 70
    written = json.loads(json.dumps(answer_of(results).json, allow_nan=False))["blinding"]
    assert written["order"] == ["left", "right", "unsure"]
    assert written["overall"]["share_right"]["n_right"] == 6
    assert written["reading"] == results.blinding.reading
    assert written["per_rater"]["B"]["bang"]["reason"] == "no guess was given"


FINISHED = Rater("A", finished_utc="2026-01-02T00:00:00Z", language="en")


def bundle_of_ended(record: StudyRecord, folder: Path) -> Path:
    """The record as the bundle of an unblinded study, with the history that its answers need."""
    saved = tuple(HistoryEntry("2026-01-01T00:00:00Z", answer) for answer in record.answers)
    ended = replace(record.study, state="unblinded", first_vote_utc="2026-01-01T00:00:00Z")
    bundle = folder / "study.zip"
    bundle.write_bytes(write_bundle(replace(record, study=ended, history=saved)))
    return bundle


def test_study_results_prints_the_reading_and_both_indices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = study({"A": ["right"] * 9}, [FINISHED], repeat_share=0.0)
    bundle = bundle_of_ended(record, tmp_path)
    assert main(["study", "results", str(bundle), "--resamples", "20"]) == 0
    printed = capsys.readouterr().out
    assert "Raters picked out the human answer correctly in 9 of 9 guesses" in printed
    assert re.search(r"\nall raters  9 .* 1\.00 \[1\.00, 1\.00\] +0\.00 \[0\.00, 0\.00\]", printed), printed


def test_study_results_counts_the_guesses_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two of them are about the first level, which is no part of the main analysis."""
    record = study({"A": ["right"] * 9}, [FINISHED], repeat_share=0.0)
    moved = [replace(guess, level="A0") for guess in record.guesses[:2]]
    record = replace(record, guesses=(*moved, *record.guesses[2:]))
    bundle = bundle_of_ended(record, tmp_path)
    assert main(["study", "results", str(bundle), "--resamples", "20"]) == 0
    assert f"\nGuesses: 7; left out: {OUTSIDE} (2)\n" in capsys.readouterr().out
    assert main(["study", "results", str(bundle), "--resamples", "20", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["blinding"]["n_left_out"] == {OUTSIDE: 2}
