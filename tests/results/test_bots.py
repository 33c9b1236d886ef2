"""Raters made of one rule, at the page's own desk: every number is worked out on paper.

20 questions x 5 levels = 100 pairs a rater, no hidden repeats. Sides are balanced within rater and level, so the
candidate (ai, the first source: its texts begin with Alpha) stands on the left of 10 of the 20 pairs of each level.
"""

import random
from collections import Counter

import pytest
from helpers.texts.factories import LEVELS, Policy, StudyAtHand, always, dataset, prefers, study_in, vote

from core.analyses.study_results.pair_rows import answer_of
from core.results.study.results import StudyResults, study_results
from core.schema.study import PREFERENCES, Choice
from core.stats.votes import NO_SIDE
from core.store import Store
from core.study.blinding import BlindPair


def run(store: Store, policies: dict[str, Policy], n_items: int = 20) -> tuple[StudyAtHand, StudyResults]:
    at_hand = study_in(store, dataset(n_items), raters=list(policies), repeat_share=0.0, main_levels=LEVELS)
    for rater, policy in policies.items():
        vote(store, at_hand.tokens[rater], policy)
    return at_hand, study_results(at_hand.record, n_resamples=300)


def on_left(at_hand: StudyAtHand, rater: str) -> set[tuple[str, str]]:
    """Pairs of a rater with the candidate on the left."""
    own = (a for a in at_hand.record.assignments if a.rater_id == rater)
    return {(a.item_id, a.level) for a in own if a.left == "ai"}


@pytest.mark.parametrize("n_items", [20, 7, 1])
@pytest.mark.parametrize("side", ["left", "right"])
def test_always_one_side_is_half_and_half_by_source(store: Store, n_items: int, side: Choice) -> None:
    _, results = run(store, {"bot": always(side)}, n_items)
    for level in LEVELS:
        choices = results.per_level[level].choices["bot"]
        assert abs(choices["candidate"] - choices["comparator"]) <= 1
        assert choices["candidate"] + choices["comparator"] == n_items
        assert choices["both_good"] == choices["both_bad"] == 0
    position = results.position_per_rater["bot"]
    n = 5 * n_items
    assert (position.n, position.left) == (n, n if side == "left" else 0)
    # all of n on one side: p = 2 / 2^n, which is below 0.05 from n = 6 on
    assert position.p == pytest.approx(2 / 2**n)
    assert answer_of(results).json["position_bias"]["per_rater"]["bot"]["flagged"] == (n >= 6)


def test_left_against_right(store: Store) -> None:
    """Two side pressers: 50 candidate votes each.

    Let k be the pairs where left presser and right presser both hit the candidate. Rows and columns sum to
    50, so both hit the comparator k times as well and differ in 2 (50 - k). Agreement is 2 k / 100, chance
    1/2, kappa 2 (2 k / 100 - 1/2); the composite is +1 k times, -1 k times: mean 0. Position: one all left,
    one all right, together 100 of 200: p = 1.
    """
    at_hand, results = run(store, {"left": always("left"), "right": always("right")})
    k = len(on_left(at_hand, "left") - on_left(at_hand, "right"))
    assert 0 < k < 50
    block = results.overall
    other = 50 - k
    assert block.contingency.table == [[k, 0, 0, other], [0] * 4, [0] * 4, [other, 0, 0, k]]
    assert block.raw_agreement.estimate == pytest.approx(2 * k / 100)
    assert block.cohen_kappa.estimate == pytest.approx(2 * (2 * k / 100 - 0.5))
    assert block.composite.counts == {"-1": k, "0": 2 * other, "1": k}
    assert block.composite.mean == results.non_inferiority.mean == 0
    assert block.ties.opposed == pytest.approx(2 * other / 100)
    assert (results.position_overall.left, results.position_overall.n) == (100, 200)
    assert results.position_overall.p == 1
    flagged = answer_of(results).json["position_bias"]
    assert [flagged["per_rater"][r]["flagged"] for r in ("left", "right")] == [True, True]
    assert not flagged["overall"]["flagged"], "which is why it is looked at per rater"


def test_always_left_against_one_who_wants_the_candidate(store: Store) -> None:
    """Rows: the left presser, 50 candidate and 50 comparator; columns: 100 candidate.

    Agreement 1/2; chance 1/2 x 1 + 1/2 x 0 = 1/2, so kappa is exactly 0. AC1: shares 3/4 and 1/4, chance
    (3/4 x 1/4 + 1/4 x 3/4) / 3 = 1/8, so (1/2 - 1/8) / (7/8) = 3/7. Composite: 50 times +1, 50 times 0.
    """
    _, results = run(store, {"left": always("left"), "fan": prefers(0)})
    block = results.overall
    assert block.contingency.table == [[50, 0, 0, 0], [0] * 4, [0] * 4, [50, 0, 0, 0]]
    assert block.raw_agreement.estimate == 0.5
    assert block.cohen_kappa.estimate == 0
    assert block.gwet_ac1.estimate == pytest.approx(3 / 7)
    assert block.composite.counts == {"-1": 0, "0": 50, "1": 50}
    assert results.non_inferiority.mean == 0.5
    assert results.non_inferiority.non_inferior_questions
    fan, left = results.position_per_rater["fan"], results.position_per_rater["left"]
    assert (fan.left, fan.right, fan.p) == (50, 50, 1)
    assert (left.left, left.right) == (100, 0)
    for level in LEVELS:
        assert results.per_level[level].choices == {
            "left": {"candidate": 10, "both_good": 0, "both_bad": 0, "comparator": 10},
            "fan": {"candidate": 20, "both_good": 0, "both_bad": 0, "comparator": 0},
        }
        assert results.per_level[level].contingency.table[0][0] == 10


def test_two_who_say_both_good_to_everything(store: Store) -> None:
    """Agreement 1. Chance agreement is 1 as well, so kappa has no value; AC1's is 0, so AC1 is 1."""
    _, results = run(store, {"one": always("both_good"), "two": always("both_good")})
    for block in (results.overall, *results.per_level.values()):
        assert block.raw_agreement.estimate == 1
        assert block.cohen_kappa.estimate is None
        assert block.cohen_kappa.reason == (
            "both raters used the same category for every pair, so chance agreement is 1"
        )
        assert block.gwet_ac1.estimate == 1
        assert block.fleiss_kappa.reason
        assert block.krippendorff_alpha.reason
        assert (block.ties.paper_rule, block.ties.both_tied, block.ties.composite_zero) == (1, 1, 1)
    assert results.overall.contingency.table[1] == [0, 100, 0, 0]
    assert results.position_overall.reason == NO_SIDE
    assert results.position_overall.p is None
    # Every score is 0: so is the bound, and 0 > -0.1; power has no spread to work with.
    bound = results.non_inferiority
    assert (bound.mean, bound.bound_pairs, bound.bound_questions, bound.non_inferior_pairs) == (0, 0, 0, True)
    assert results.power.value is None
    assert "without spread" in results.power.reason


def test_two_who_want_the_comparator(store: Store) -> None:
    """Every score is -1: mean and bounds -1, clearly below -0.1."""
    _, results = run(store, {"one": prefers(1), "two": prefers(1)})
    assert results.overall.contingency.table[3] == [0, 0, 0, 100]
    assert results.overall.composite.counts == {"-1": 100, "0": 0, "1": 0}
    bound = results.non_inferiority
    assert (bound.mean, bound.bound_pairs, bound.bound_questions) == (-1, -1, -1)
    assert (bound.non_inferior_pairs, bound.non_inferior_questions) == (False, False)
    assert results.position_overall.share_left == 0.5


def test_opposite_wishes_cancel_out(store: Store) -> None:
    """One always wants the candidate, one the comparator: never agreed, always opposed, mean 0.

    Chance agreement 1 x 0 + 0 x 1 = 0, so kappa is 0. Scott's shares are 1/2 each: Fleiss' kappa (0 - 1/2) / (1/2).
    """
    _, results = run(store, {"one": prefers(0), "two": prefers(1)})
    assert results.overall.contingency.table[0] == [0, 0, 0, 100]
    assert results.overall.cohen_kappa.estimate == 0
    assert results.overall.fleiss_kappa.estimate == -1
    assert (results.overall.ties.opposed, results.overall.composite.mean) == (1, 0)


def test_roles_turn_the_result_round(store: Store) -> None:
    one = study_in(store, repeat_share=0.0, name="one")
    two = study_in(store, repeat_share=0.0, name="two", candidate="human", comparator="ai")
    means = []
    for at_hand in (one, two):
        for rater in ("R1", "R2"):
            vote(store, at_hand.tokens[rater], prefers(0))
        means.append(study_results(at_hand.record, n_resamples=10).non_inferiority.mean)
    assert means == [1, -1]


def test_random_raters_are_decoded_pair_by_pair(store: Store) -> None:
    """Each bot notes what stood where it pressed; tables and scores are counted again from those notes."""
    notes: dict[str, dict[tuple[str, str], str]] = {"one": {}, "two": {}}

    def random_bot(name: str, seed: int) -> Policy:
        chooser = random.Random(seed)

        def press(pair: BlindPair) -> Choice:
            choice = chooser.choice(("left", "right", "both_good", "both_bad"))
            text = {"left": pair.left, "right": pair.right}.get(choice, "")
            meant = {"Alpha": "candidate", "Beta": "comparator"}.get(text.split(" ")[0], choice)
            notes[name][pair.question, pair.level] = meant
            return choice

        return press

    _, results = run(store, {"one": random_bot("one", 1), "two": random_bot("two", 2)})
    together = Counter((notes["one"][key], notes["two"][key]) for key in notes["one"])
    assert together.total() == 100
    assert results.overall.contingency.table == [[together[r, c] for c in PREFERENCES] for r in PREFERENCES]
    value = {"candidate": 1, "comparator": -1}
    scores = [
        (total > 0) - (total < 0)
        for key in notes["one"]
        for total in [sum(value.get(notes[bot][key], 0) for bot in notes)]
    ]
    assert results.overall.composite.counts == {str(v): scores.count(v) for v in (-1, 0, 1)}
    assert results.non_inferiority.mean == pytest.approx(sum(scores) / 100)
    for level in LEVELS:
        for bot, given in notes.items():
            counted = Counter(meant for (_, at), meant in given.items() if at == level)
            assert results.per_level[level].choices[bot] == {p: counted[p] for p in PREFERENCES}
    assert not answer_of(results).json["position_bias"]["overall"]["flagged"]


def test_hidden_repeats_tell_a_reader_from_a_side_presser(store: Store) -> None:
    """Half of the repeats stand the other way round.

    Who reads gives the same preference every time; who presses left gives it only where the sides stayed.
    """
    at_hand = study_in(store, dataset(20), raters=("reader", "presser"), repeat_share=0.1, main_levels=LEVELS)
    vote(store, at_hand.tokens["reader"], prefers(0))
    vote(store, at_hand.tokens["presser"], always("left"))
    results = study_results(at_hand.record, n_resamples=10)
    assert (results.repeats["reader"].n, results.repeats["reader"].n_same) == (10, 10)
    assert (results.repeats["presser"].n, results.repeats["presser"].n_same) == (10, 5)
    assert results.answers_left_out == {"hidden repeat": 20}
    assert results.overall.n_pairs == 100
    assert results.position_per_rater["presser"].n == 100, "repeats count for consistency only"
