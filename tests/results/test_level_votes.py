"""Votes that say which answer fits the level: planted systems, metrics that follow the levels or do not, the published study."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.texts.level_votes import (
    CONSTANT,
    FOLLOWS,
    NOISE,
    REVERSED,
    STARS,
    LevelVotes,
    level_votes,
    shifted_demo,
)
from helpers.texts.score_factories import metric

from core.errors import InputError
from core.judges.pairwise import KIND as PAIRWISE
from core.results.check.verdict import check_panel
from core.results.correlations.votes import (
    MetricVotes,
    metrics_against_votes,
    pair_margins,
    vote_margins,
    votes_panel,
)
from core.results.study.counted import Filters, count
from core.schema.scores import Metric
from core.schema.uses import CheckOptions
from core.stats.ideal_point import TOO_FEW_FITTING
from core.stats.tie_rate import FEW_ITEMS, NO_SPREAD


def found_in(planted: LevelVotes, *metrics: Metric) -> dict[str, MetricVotes]:
    found = metrics_against_votes(planted.record, planted.scores(*metrics), n_resamples=200)
    return {one.metric: one for one in found}


@pytest.mark.parametrize(
    "planted",
    [
        {},  # the comparator one level too low, without scatter, and questions that differ by half a level
        {"heights": 0.0},
        {"scatter": 0.5},
        {"offset": 1.0},
        {"offset": -0.5, "rater_noise": 0.1},
        {"offset": -0.5, "rater_noise": 0.1, "heights": 0.0, "scatter": 0.5},
        {"n_items": 15},
    ],
)  # fmt: skip
def test_a_metric_that_follows_the_levels_agrees_with_the_votes(planted: dict[str, float]) -> None:
    """Whichever way its scores run; a metric that is noise is at chance."""
    shares: dict[str, list[float]] = {}
    for seed in range(3):
        for name, one in found_in(level_votes(seed=seed, **planted), FOLLOWS, REVERSED, NOISE).items():  # type: ignore[arg-type]
            shares.setdefault(name, []).append(one.agreement.estimate or 0)
    means = {name: np.mean(of_seeds) for name, of_seeds in shares.items()}
    assert means["follows"] >= 0.95
    assert means["reversed"] >= 0.95
    assert abs(means["noise"] - 0.5) < 0.1


def test_a_direction_that_is_declared_makes_no_difference() -> None:
    shares = {
        found_in(level_votes(scatter=0.5), metric("reversed", direction=direction))["reversed"].agreement
        for direction in ("higher", "lower")
    }
    assert len(shares) == 1
    assert (shares.pop().estimate or 0) > 0.95


def test_the_check_reads_the_same_votes() -> None:
    """A metric with which every pair's higher score wins would agree with nobody where the comparator is a level too high."""
    planted = level_votes(60, offset=1.0, heights=0.1)
    check = check_panel(votes_panel(planted.record, planted.scores(FOLLOWS, NOISE)), CheckOptions(use="gate"))
    agreement = {one.name: one.agreement.estimate or 0 for one in check.judges}
    assert agreement["follows"] > 0.95
    assert agreement["noise"] < 0.65


def test_a_metric_ties_as_often_as_raters_do() -> None:
    """And its agreement, ties included, stands beside that of two raters."""
    planted = level_votes(60, offset=-0.4, scatter=0.4)
    panel = votes_panel(planted.record, planted.scores(FOLLOWS, NOISE, noise=0.02))
    share = np.mean(panel.ratings == 0)
    assert 0.2 < share < 0.8
    assert np.mean(panel.scores == 0, axis=0) == pytest.approx(share, abs=0.02)
    follows, noise = found_in(planted, FOLLOWS, NOISE).values()
    people = follows.with_ties.raters.estimate
    assert people == noise.with_ties.raters.estimate
    assert people is not None
    assert (follows.with_ties.evaluator.estimate or 0) > people - 0.05
    assert (noise.with_ties.evaluator.estimate or 1) < people - 0.2
    assert follows.with_ties.evaluator.n == len(panel.rows)


def test_a_rater_s_votes_on_a_question_never_move_a_judge_s_margin_there() -> None:
    """So a judge may be compared with that rater."""
    planted = level_votes(12, scatter=0.5)
    scores = planted.scores(FOLLOWS, NOISE)
    turned = replace(
        planted.record,
        answers=tuple(
            replace(one, choice="both_good") if (one.rater_id, one.item_id) == ("R1", "q03") else one
            for one in planted.record.answers
        ),
    )
    before, after = (
        pair_margins(record, scores, count(record, Filters())) for record in (planted.record, turned)
    )
    own = count(turned, Filters()).questions == "q03"
    assert before[own] == pytest.approx(after[own], abs=1e-9)
    assert np.abs(before[~own] - after[~own]).max() > 1e-3


@pytest.mark.parametrize("shift", [1, -1])
def test_chrf_on_real_texts_that_are_one_level_off(shift: int) -> None:
    """The demo's pipeline against its own texts of the next level, or of the one before, as the comparator's."""
    (chrf,) = metrics_against_votes(*shifted_demo(shift), n_resamples=0)
    assert chrf.agreement.n == 4 * 14
    assert (chrf.agreement.estimate or 0) >= 0.95


def test_what_is_undefined_has_a_reason() -> None:
    constant = found_in(level_votes(), FOLLOWS, CONSTANT)["constant"]
    assert (constant.agreement.estimate, constant.agreement.reason) == (None, NO_SPREAD)
    assert (constant.with_ties.evaluator.estimate, constant.with_ties.evaluator.reason) == (None, NO_SPREAD)
    assert (constant.tau.estimate, constant.tau.reason) == (None, NO_SPREAD)
    assert constant.left_out == {NO_SPREAD: 150}
    planted = level_votes()
    panel = votes_panel(planted.record, planted.scores(FOLLOWS, CONSTANT))
    follows, judged = check_panel(panel, CheckOptions(use="gate")).judges
    assert follows.silent == ""
    assert (judged.verdict, judged.reasons[0], judged.labels_needed) == ("INCONCLUSIVE", NO_SPREAD, None)
    numbers = (
        judged.agreement,
        judged.kappa_quadratic,
        judged.correlation,
        judged.bias,
        judged.ceiling.estimate,
    )
    assert [None if one is None else one.reason for one in numbers] == [NO_SPREAD] * 5
    few = level_votes(5)
    assert found_in(few, FOLLOWS)["follows"].left_out == {TOO_FEW_FITTING: 25}
    with pytest.raises(InputError, match="No judge has a vote"):
        votes_panel(few.record, few.scores(FOLLOWS, NOISE))
    # Two fitting answers in each other question are enough for a target, and five questions too few to learn ties from.
    kind = level_votes(5, both_good=9)
    follows = found_in(kind, FOLLOWS)["follows"]
    assert (follows.with_ties.evaluator.estimate, follows.with_ties.evaluator.reason) == (None, FEW_ITEMS)


def test_whole_stars_that_are_always_a_level_apart_are_votes() -> None:
    """Scores of one judge with few values: every margin is one level, and none is a tie."""
    stars = found_in(level_votes(), STARS)["stars"]
    assert (stars.agreement.estimate, stars.agreement.n_left_out) == (1, 1)


def test_a_judge_that_compares_pairs_keeps_its_own_votes() -> None:
    planted = level_votes()
    own = metric("reversed", family=PAIRWISE.family)
    scores = planted.scores(own, REVERSED, noise=0)
    margins = pair_margins(planted.record, scores, count(planted.record, Filters()))
    assert margins[:, 0] == pytest.approx(np.full(150, -1.0)), "its score of the comparator is higher"
    assert margins[:, 1] == pytest.approx(np.full(150, 1.0), abs=0.5), "the candidate is nearer to the level"
    panel = votes_panel(planted.record, scores)
    assert set(panel.scores[:, 0]) == {-1.0}
    assert vote_margins(planted.record, scores)[:, 0] == pytest.approx(np.ones(150))
    failed = replace(planted.scores(own), values=np.full((300, 1), np.nan))
    assert np.isnan(votes_panel(planted.record, failed).scores).all()


def test_the_surest_votes_are_far_from_a_tie_and_from_a_preference() -> None:
    planted = level_votes(40, offset=-0.5, scatter=0.4)
    scores = planted.scores(FOLLOWS)
    sure = vote_margins(planted.record, scores)[:, 0]
    margins = np.abs(pair_margins(planted.record, scores, count(planted.record, Filters()))[:, 0])
    tied = votes_panel(planted.record, scores).scores[:, 0] == 0
    assert (sure >= 0).all()
    for group, sign in ((tied, -1), (~tied, 1)):
        assert np.corrcoef(sure[group], margins[group])[0, 1] * sign > 0.9


def test_the_meaning_follows_from_what_the_study_asks() -> None:
    """What votes mean follows from the levels: a study of plain pairs says which answer is better."""
    study = level_votes(6).record.study
    assert (study.asks, study.votes_mean) == ("levels", "fits_level")
    plain = replace(study, levels=("",))
    assert (plain.asks, plain.votes_mean) == ("preference", "better")
    assert replace(study, kind="ratings").votes_mean is None
