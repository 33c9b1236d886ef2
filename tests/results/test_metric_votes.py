"""Metrics beside the votes of a study, counted by hand."""

from dataclasses import replace
from functools import partial

import pytest
from helpers.texts import factories
from helpers.texts.factories import dataset
from helpers.texts.score_factories import metric, table
from scipy import stats

from core.errors import InputError, NotAllowed
from core.results.check.verdict import check_panel
from core.results.correlations.votes import NO_ROW, metrics_against_votes, votes_panel
from core.results.study.counted import TOO_FEW
from core.schema.scores import ScoredRow
from core.schema.study import NO_LEVEL, Rater
from core.schema.uses import CheckOptions

record_of = partial(factories.record_of, main_levels=(NO_LEVEL,), flagged="leave_out")

DATA = dataset(6, (NO_LEVEL,))
PAIRS = [(item.item_id, NO_LEVEL) for item in DATA.items]
WON, LOST, TIED = "candidate", "comparator", "both_good"
VOTES = {
    "R1": dict(zip(PAIRS, [WON, WON, LOST, TIED, WON, WON], strict=True)),
    "R2": dict(zip(PAIRS, [WON, LOST, TIED, TIED, TIED, WON], strict=True)),
}
"""Composite votes: +1, 0 (opposed), -1, 0 (both tied), +1, +1."""
AHEAD = dict(zip(PAIRS, [2.0, 1.0, 3.0, 0.0, 0.0, 5.0], strict=True))
"""How far the metric has the candidate ahead."""


def unblinded(record):
    return replace(record, study=replace(record.study, state="unblinded"))


def scores(ahead=AHEAD, **fields):
    rows = []
    for (item, level), lead in ahead.items():
        rows.append((ScoredRow(item, "ai", level or None), None if lead is None else 10.0 + lead))
        rows.append((ScoredRow(item, "human", level or None), 10.0))
    return table(rows, **fields)


def test_agreement_and_tau_by_hand():
    """Of four pairs with a winner the metric gets two right, one wrong, and ties one: (1 + 0 + 1/2 + 1) / 4."""
    (found,) = metrics_against_votes(unblinded(record_of(VOTES, DATA)), scores())
    assert (found.agreement.estimate, found.agreement.n, found.agreement.n_left_out) == (2.5 / 4, 4, 2)
    assert found.agreement.n_clusters == 4
    assert found.left_out == {"no winner": 2}
    tau = stats.kendalltau(list(AHEAD.values()), [1, 0, -1, 0, 1, 1]).statistic
    assert (found.tau.estimate, found.tau.n) == (pytest.approx(tau), 6)
    assert found.by_level == {}


def test_a_metric_whose_lower_end_is_better_is_turned():
    upright = scores()
    turned = replace(upright, metrics=(metric("ter", direction="lower"),), values=-upright.values)
    record = unblinded(record_of(VOTES, DATA))
    one, other = (metrics_against_votes(record, part)[0] for part in (upright, turned))
    assert (one.agreement, one.tau, one.by_level) == (other.agreement, other.tau, other.by_level)


def test_pairs_without_a_score_are_left_out_by_reason():
    given = scores({**AHEAD, ("q00", NO_LEVEL): None}, reasons={(0, 0): "no reference"})
    short = replace(given, rows=given.rows[:-1], values=given.values[:-1])
    (found,) = metrics_against_votes(unblinded(record_of(VOTES, DATA)), short)
    assert found.left_out == {"no reference": 1, NO_ROW: 1, "no winner": 2}
    assert (found.agreement.n, found.tau.n) == (2, 4)


def test_the_same_votes_count_as_in_the_results():
    """Excluded raters, dry runs and flagged pairs have no part; hidden repeats neither."""
    raters = [Rater("R1"), Rater("R2"), Rater("X", excluded="slept"), Rater("D", dry_run=True)]
    wrong = dict.fromkeys(VOTES["R1"], LOST)
    record = record_of(
        {**VOTES, "X": wrong, "D": wrong},
        DATA,
        raters=raters,
        invalid=[("R1", "q05", NO_LEVEL)],
        repeats={"R1": {("q00", NO_LEVEL): LOST}},
    )
    (found,) = metrics_against_votes(unblinded(record), scores())
    assert found.left_out == {"flagged as invalid": 1, "no winner": 2}
    assert (found.agreement.estimate, found.agreement.n) == (1.5 / 3, 3)


def test_a_blind_study_stays_shut():
    with pytest.raises(NotAllowed, match="stay hidden"):
        metrics_against_votes(record_of(VOTES, DATA), scores())


def test_scores_of_other_texts_are_refused():
    other = table([(ScoredRow("q99", "ai", None), 1.0)])
    with pytest.raises(InputError, match=r"no text of study 'in memory'.*such as q00, , ai"):
        metrics_against_votes(unblinded(record_of(VOTES, DATA)), other)


def test_a_text_scored_twice_is_refused():
    with pytest.raises(InputError, match="question q00, level , system ai is listed more than once"):
        metrics_against_votes(
            unblinded(record_of(VOTES, DATA)),
            table([(ScoredRow("q00", "ai", None), score) for score in (1.0, 2.0)]),
        )


def test_no_votes_give_no_number():
    (found,) = metrics_against_votes(unblinded(record_of({}, DATA, raters=[Rater("R1")])), scores())
    assert (found.agreement.estimate, found.tau.estimate) == (None, None)
    assert found.left_out == {TOO_FEW: 6}


def test_votes_and_a_judge_s_preferences_side_by_side():
    """Raters tie 0, 0, 1, 2, 1, 0 of two votes a question. With each question left out, equal scores alone are ties.

    Without q04, raters tie 3 of 10; distances 2, 1, 3, 0, 5 give 1 of 5 at 0 and 2 of 5 at 1, which is as near: the smaller holds.
    """
    panel = votes_panel(unblinded(record_of(VOTES, DATA)), scores())
    assert panel.raters == ("R1", "R2")
    assert panel.ratings.T.tolist() == [[1, 1, -1, 0, 1, 1], [1, -1, 0, 0, 0, 1]]
    assert panel.scores.ravel().tolist() == [1, 1, 1, 0, 0, 1]
    assert panel.items.tolist() == [0, 1, 2, 3, 4, 5]
    assert [row.level for row in panel.rows] == [None] * 6
    assert panel.scale.words == {-1: "human", 0: "tie", 1: "ai"}
    turned = replace(scores(), metrics=(metric("ter", direction="lower"),))
    assert votes_panel(unblinded(record_of(VOTES, DATA)), turned).scores.ravel()[0] == -1
    alone = votes_panel(unblinded(record_of(VOTES, DATA)), scores(), raters=["R2"])
    assert alone.raters == ("R2",)
    with pytest.raises(InputError):
        votes_panel(unblinded(record_of(VOTES, DATA)), scores(), judges=["nobody"])
    with pytest.raises(NotAllowed):
        votes_panel(record_of(VOTES, DATA), scores())


def test_the_check_of_votes_counts_its_agreement_by_hand():
    """Votes equal to the judge's side: 2, 1, 0, 2, 1, 2 of two each."""
    check = check_panel(votes_panel(unblinded(record_of(VOTES, DATA)), scores()), CheckOptions(use="gate"))
    (judge,) = check.judges
    assert judge.agreement.estimate == pytest.approx((1 + 0.5 + 0 + 1 + 0.5 + 1) / 6)
    assert check.n_items == 6
    assert judge.verdict == "INCONCLUSIVE"
