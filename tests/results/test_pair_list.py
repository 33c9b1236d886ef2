"""The list of a study's pairs: every pair once, filters counted by hand, what is left out, judges, withdrawal, its file."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.texts import score_factories as scored
from helpers.texts.factories import StudyAtHand, always, dataset, record_of, study_in, unblind, vote

from core.errors import InputError, NotAllowed
from core.formats.study.files import read_dataset
from core.formats.trutheval import read_votes
from core.report import csv_of
from core.results.correlations.votes import metrics_against_votes
from core.results.study.counted import FILTERED, FLAGGED, OUTSIDE, TOO_FEW, Filters
from core.results.study.pair_list import (
    NOT_COUNTED,
    TIE,
    PairFilter,
    PairList,
    judged_pairs,
    pair_list,
    pair_table,
    pairs_shown,
)
from core.results.study.results import study_results
from core.results.study.tables import two_raters
from core.schema.result_table import ResultTable
from core.schema.scores import ScoredRow
from core.schema.study import PREFERENCES, Dataset, Design, Preference, Rater, StudyRecord
from core.store import Store
from core.study.lifecycle import exclude_rater, import_study, withdraw_rater
from core.study.raters import add_raters, import_votes

Votes = Mapping[tuple[str, str], Preference]
TWO = ("A0", "A1")
ANN: Votes = {
    ("q00", "A0"): "both_good",
    ("q00", "A1"): "candidate",
    ("q01", "A0"): "both_good",
    ("q01", "A1"): "both_good",
    ("q02", "A1"): "comparator",
    ("q03", "A1"): "candidate",
}
BEN: Votes = {
    ("q00", "A0"): "both_bad",
    ("q00", "A1"): "candidate",
    ("q01", "A1"): "comparator",
    ("q02", "A1"): "candidate",
}
"""Of q03, Ben says nothing."""
OUT: Votes = dict.fromkeys(ANN, "comparator")


def released(record: StudyRecord) -> StudyRecord:
    return replace(record, study=replace(record.study, state="unblinded"))


def at_hand(data: Dataset | None = None, **more: object) -> StudyRecord:
    """Ann and Ben, Cem who is excluded, and a preview, on four questions at two levels."""
    raters = [Rater("ann"), Rater("ben"), Rater("cem", excluded="a robot"), Rater("preview", dry_run=True)]
    votes = {"ann": ANN, "ben": BEN, "cem": OUT, "preview": OUT}
    given = {"votes_needed": 2, "repeat_share": 0.0, **more}
    return released(record_of(votes, data or dataset(4, TWO), raters=raters, **given))  # type: ignore[arg-type]


def shown(found: PairList, **asked: object) -> list[tuple[str, str]]:
    return [found.keys[at] for at in pairs_shown(found, PairFilter(**asked))]  # type: ignore[arg-type]


def rows(table: ResultTable) -> list[dict[str, object]]:
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


def test_every_pair_is_a_row_and_what_is_left_out_says_why() -> None:
    found = pair_list(at_hand())
    table = rows(pair_table(found))
    assert len(table) == 8
    assert [row["left_out"] for row in table] == [OUTSIDE, "", OUTSIDE, "", OUTSIDE, "", OUTSIDE, TOO_FEW]
    assert [row["score"] for row in table] == [None, 1, None, -1, None, 0, None, None]
    assert (table[1]["vote_ann"], table[1]["vote_ben"], table[1]["vote_cem"]) == (
        *[found.record.study.design.candidate] * 2,
        found.record.study.design.comparator,
    )
    assert table[7]["vote_ben"] is None
    assert found.raters == ("ann", "ben", "cem"), "no preview"
    headings = [column.heading for column in pair_table(found).columns]
    assert f"cem ({NOT_COUNTED})" in headings


def test_filters_by_hand() -> None:
    found = pair_list(at_hand())
    q0, q1, q2, q3 = ((f"q0{n}", "A1") for n in range(4))
    assert len(shown(found)) == 8
    assert shown(found, disagree=True) == [q1, q2], "neither at A0 nor where only one vote counts"
    assert shown(found, won=True) == [q0]
    assert shown(found, lost=True) == [q1]
    assert len(shown(found, left_out=True)) == 5
    assert shown(found, levels=("A1",)) == [q0, q1, q2, q3]
    assert shown(found, levels=("A1",), rater="ben") == [q0, q1, q2]
    assert shown(found, votes=(("ann", "comparator"), ("ben", "candidate"))) == [q2]
    assert shown(found, disagree=True, lost=True, levels=("A0",)) == []
    with pytest.raises(InputError):
        shown(found, levels=("A9",))
    with pytest.raises(InputError):
        shown(found, rater="preview")


def test_a_flagged_pair_is_found_and_left_out_where_the_design_says_so() -> None:
    for flagged, why in (("keep", ""), ("leave_out", FLAGGED)):
        found = pair_list(at_hand(invalid=[("ben", "q01", "A1")], flagged=flagged))
        (at,) = pairs_shown(found, PairFilter(flagged=True))
        assert (found.keys[at], found.left_out[at]) == (("q01", "A1"), why)
    robot = pair_list(at_hand(invalid=[("cem", "q01", "A1")], flagged="leave_out"))
    assert not pairs_shown(robot, PairFilter(flagged=True)).size


def test_a_part_of_a_study_lists_the_other_pairs_as_not_chosen() -> None:
    found = pair_list(at_hand(), Filters(questions=["q00"]))
    reasons = dict(zip(found.keys, found.left_out, strict=True))
    assert (reasons["q00", "A1"], reasons["q01", "A1"], reasons["q01", "A0"]) == ("", FILTERED, OUTSIDE)


def test_languages(each_pair_task: str) -> None:
    record = released(record_of({"R1": {}}, dataset(2, languages=("en", "de"))))
    found = pair_list(record)
    of_german = pairs_shown(found, PairFilter(languages=("de",)))
    assert 2 * len(of_german) == len(found.keys)
    language, level = (
        next(one for one in pair_table(found).columns if one.name == name) for name in ("language", "level")
    )
    assert language.shown
    assert level.shown == (each_pair_task == "levels")


def test_the_details_of_a_pair_hold_the_repeat_the_comment_and_why_a_vote_does_not_count() -> None:
    data = dataset(4, TWO)
    raters = [Rater("ann"), Rater("cem", excluded="a robot")]
    record = record_of(
        {"ann": ANN, "cem": OUT},
        data,
        raters=raters,
        repeats={"ann": {("q00", "A1"): "both_bad"}},
        votes_needed=1,
    )
    record = replace(
        released(record),
        answers=tuple(
            replace(one, comment="again" if one.repeat else "<b>=1+1</b>")
            if one.key[:3] == ("ann", "q00", "A1")
            else one
            for one in record.answers
        ),
    )
    found = pair_list(record)
    assert len(found.keys) == 8, "a repeat is no row"
    at = found.keys.index(("q00", "A1"))
    ann, cem = found.votes_on(at)
    assert (ann.preference, ann.again, ann.comments) == ("candidate", "both_bad", ("<b>=1+1</b>", "again"))
    assert (ann.left_out, bool(cem.left_out)) == ("", True)
    assert found.comments[at] == 2
    assert found.votes_on(found.keys.index(("q00", "A0")))[0].left_out == OUTSIDE


def test_judges_that_raters_disagree_with_are_those_of_their_agreement() -> None:
    """Plain pairs: m prefers the candidate everywhere, t ties, and nothing scored the last question."""
    votes: dict[str, Votes] = {
        "R1": {("q00", ""): "candidate", ("q01", ""): "comparator", ("q02", ""): "both_good"}
    }
    votes["R1"] = {**votes["R1"], ("q03", ""): "comparator"}
    record = released(record_of(votes, dataset(4, ("",)), votes_needed=1))
    candidate = record.study.design.candidate
    table = scored.table(
        [
            (ScoredRow(f"q0{n}", system, None), [2.0 if system == candidate else 1.0, 1.0])
            for n in range(3)
            for system in (candidate, record.study.design.comparator)
        ],
        ("m", "t"),
    )
    found = judged_pairs(pair_list(record), [table])
    assert found.judges == ("m", "t")
    assert shown(found, judge="m") == [("q01", "")]
    assert shown(found, judge="t") == []
    (of_m, _) = metrics_against_votes(record, table, n_resamples=10)
    assert of_m.agreement.n == 2
    assert of_m.agreement.estimate == 0.5, "one of the two pairs with a winner is the one shown"
    first, tied = found.judges_on(0)
    assert (first.prefers, first.scores, tied.prefers) == (candidate, (2.0, 1.0), "")
    assert tied.reason, "a judge that never prefers an answer has no preference"
    assert [(one.scores, one.prefers, bool(one.reason)) for one in found.judges_on(3)] == [
        ((None, None), "", True)
    ] * 2
    made = rows(pair_table(found, judges=["m"]))
    assert [row["judge_m"] for row in made] == [candidate] * 3 + [None]
    assert "judge_t" not in made[0]
    assert found.preferred(0.0) == TIE
    with pytest.raises(InputError):
        shown(found, judge="other")


def test_nothing_before_unblinding() -> None:
    record = at_hand()
    for state in ("draft", "open", "closed"):
        with pytest.raises(NotAllowed):
            pair_list(replace(record, study=replace(record.study, state=state)))  # type: ignore[arg-type]


def voted(store: Store) -> StudyAtHand:
    """Two raters, the first with a comment on every pair."""
    study = study_in(store, dataset(2), raters=("secret-name", "R2"), repeat_share=0.0)
    for rater, token in study.tokens.items():
        desk = vote(store, token, always("both_good"))
        if rater == "secret-name":
            for number in range(1, desk.total + 1):
                desk.save_note(number, comment="it was me, at home")
    unblind(study)
    return study


@pytest.mark.parametrize("keep_votes", [True, False])
def test_a_withdrawn_raters_name_and_comments_are_gone(store: Store, keep_votes: bool) -> None:
    study = voted(store)
    before = pair_list(study.record)
    assert b"secret-name" in csv_of(pair_table(before))
    assert before.comments.all()
    new = withdraw_rater(store, study.study, "secret-name", keep_votes=keep_votes)
    found = pair_list(study.record)
    data = csv_of(pair_table(found))
    assert b"secret-name" not in data
    assert b"at home" not in data
    assert new in found.raters
    assert found.n_counting == (2 if keep_votes else 1)
    assert not found.comments.any()
    assert not [one for at in range(len(found.keys)) for one in found.votes_on(at) if one.comments]


def test_an_excluded_rater_is_shown_and_never_counted(store: Store) -> None:
    study = voted(store)
    exclude_rater(store, study.study, "R2", "asleep")
    found = pair_list(study.record)
    assert (found.raters, found.n_counting) == (("secret-name", "R2"), 1)
    assert not pairs_shown(found, PairFilter(disagree=True)).size


def test_seconds_are_the_median_of_first_answers(store: Store) -> None:
    found = pair_list(voted(store).record)
    assert set(found.seconds.tolist()) == {2.5}
    assert {one.seconds for one in found.votes_on(0)} == {2.5}


def test_the_file_guards_formulas_and_keeps_texts_whole() -> None:
    data = dataset(4, TWO)
    long = "=1+1 " + "x" * 50_000
    data = replace(data, items=(replace(data.items[0], question=long), *data.items[1:]))
    found = pair_list(at_hand(data))
    written = list(csv.DictReader(io.StringIO(csv_of(pair_table(found)).decode())))
    assert written[0]["question"] == f"'{long}"
    assert [row["item"] for row in written] == [item for item, _ in found.keys]


@pytest.mark.shared
def test_factuals_study(store: Store, shared_data: Path) -> None:
    """Counted again from the raters' files; a cell of the two raters' table leads to as many pairs as it says."""
    file = shared_data / "assessment-dataset.json"
    data = read_dataset(file.read_bytes(), file.name)
    study = import_study(store, "factual", data, Design(candidate="ai", comparator="human", seed=1))
    pairs = {(item.item_id, level) for item in data.items for level in data.levels}
    files = [shared_data / f"results-evaluator-{number}.json" for number in (1, 2)]
    for name, votes in zip(("e1", "e2"), files, strict=True):
        import_votes(store, study, name, read_votes(votes.read_bytes(), votes.name, pairs))
    record = StudyAtHand(store, study.study_id)
    found = pair_list(record.record)
    raw = [json.loads(votes.read_text()) for votes in files]
    keys = [(item, level) for item in raw[0] for level in raw[0][item]]
    differ = {
        (item, level) for item, level in keys if level != "A0" and raw[0][item][level] != raw[1][item][level]
    }
    assert len(differ) == 39
    assert set(shown(found, disagree=True)) == differ
    assert (len(found.keys), int(found.counts.sum()), found.left_out_by_reason) == (100, 80, {OUTSIDE: 20})
    signs = {"AI": 1, "Expert": -1}
    sums = [sum(signs.get(one[item][level], 0) for one in raw) for item, level in keys if level != "A0"]
    assert (len(shown(found, won=True)), len(shown(found, lost=True))) == (
        sum(one > 0 for one in sums),
        sum(one < 0 for one in sums),
    )
    crossed = two_raters(study_results(record.record, n_resamples=50), "e1", "e2")
    assert crossed.table is not None
    for first, line in zip(PREFERENCES, crossed.table, strict=True):
        for second, n in zip(PREFERENCES, line, strict=True):
            assert len(shown(found, votes=(("e1", first), ("e2", second)))) == n


def test_raters_without_votes_have_no_column(store: Store) -> None:
    study = study_in(store, dataset(1), raters=(), state="draft")
    add_raters(store, study.study, ["idle"])
    found = pair_list(released(study.record))
    assert found.raters == ()
    assert not pairs_shown(found, PairFilter(disagree=True)).size
    assert len(pair_table(found).rows) == len(found.keys)
