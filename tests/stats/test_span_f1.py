"""Character-level precision, recall and F1: hand calculations, a count by single characters, and simulation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.stats.resampling import ONE_CLUSTER
from core.stats.span_f1 import SpanCounts, span_counts, span_f1, span_f1_test


def counted(gold, predicted, lengths=None):
    """(credit, predicted, gold) of one text."""
    found = span_counts([gold], [predicted], None if lengths is None else [lengths])
    return found.credit[0], found.predicted[0], found.gold[0]


def quoted(text, quote, severity="major"):
    start = text.index(quote)
    return start, start + len(quote), severity


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        pytest.param([(2, 6, "major")], [(4, 9, "major")], (2, 5, 4), id="overlap"),
        pytest.param([(2, 6, "major")], [(4, 9, "minor")], (1, 5, 4), id="another severity"),
        # 3-5 minor inside 0-8 major: a minor mark on 3-5 earns 1 a character, on the rest 1/2.
        pytest.param([(0, 8, "major"), (3, 5, "minor")], [(0, 8, "minor")], (2 + 3, 8, 8), id="nested"),
        # 4-6 holds both severities, so either earns full credit there.
        pytest.param(
            [(0, 6, "major"), (4, 9, "minor")],
            [(4, 6, "minor"), (6, 9, "major")],
            (2 + 1.5, 5, 9),
            id="two severities",
        ),
        pytest.param([(0, 3, "minor")] * 3, [(0, 3, "minor"), (0, 3, "minor")], (3, 3, 3), id="duplicates"),
        pytest.param([(4, 4, "major"), (0, 2, "major")], [(4, 4, "major")], (0, 0, 2), id="zero length"),
        pytest.param([(0, 3, "major")], [(3, 6, "major")], (0, 3, 3), id="side by side"),
        pytest.param([(0, 3, "major"), (3, 6, "minor")], [(0, 6, "minor")], (1.5 + 3, 6, 6), id="touching"),
        pytest.param([], [(0, 3, "major")], (0, 3, 0), id="no error"),
        pytest.param([], [], (0, 0, 0), id="nothing"),
        pytest.param([(0, 2, "major")], [(0, 2, "Major")], (1, 2, 2), id="severities as written"),
    ],
)
def test_hand_made_spans(gold, predicted, expected):
    assert counted(gold, predicted) == expected


def test_characters_are_code_points():
    text = "cafe\u0301 👩\u200d👩\u200d👧 ok"
    family = quoted(text, "👩\u200d👩\u200d👧")
    assert family[:2] == (6, 11)
    # the accent alone is a character, and so is each of the five code points of the family
    assert counted([quoted(text, "e\u0301"), family], [quoted(text, "\u0301"), (6, 7, "minor")]) == (
        1.5,
        2,
        7,
    )


def test_spans_are_cut_at_the_end_of_their_text_and_counted():
    found = span_counts(
        [[(8, 20, "major")], [(0, 3, "major")]], [[(12, 15, "major"), (9, 11, "major")], []], [10, 3]
    )
    assert (found.credit.tolist(), found.predicted.tolist(), found.gold.tolist()) == ([1, 0], [1, 0], [2, 3])
    assert found.n_clipped == 3
    assert span_counts([[(8, 20, "major")]], [[]]).gold.tolist() == [12]


@pytest.mark.parametrize("span", [(5, 3, "major"), (-1, 3, "major")])
def test_spans_that_cannot_be_name_their_text(span):
    with pytest.raises(ValueError, match=rf"text 1 \(predicted\): a span runs from {span[0]} to {span[1]}"):
        span_counts([[], []], [[(0, 1, "minor")], [span]], [9, 9])
    with pytest.raises(ValueError, match="whole numbers"):
        span_counts([[(0.5, 2, "major")]], [[]])


def test_texts_and_lengths_have_to_fit():
    with pytest.raises(ValueError, match="same texts, got 1 and 2"):
        span_counts([[]], [[], []])
    with pytest.raises(ValueError, match=r"shape \(1,\)"):
        span_counts([[]], [[]], [3, 4])
    with pytest.raises(ValueError, match="0 or more"):
        span_counts([[]], [[]], [-1])


def spans_of_text():
    span = st.tuples(st.integers(0, 12), st.integers(0, 6), st.sampled_from(["minor", "major", "critical"]))
    return st.lists(span.map(lambda drawn: (drawn[0], drawn[0] + drawn[1], drawn[2])), max_size=5)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(spans_of_text(), spans_of_text(), st.integers(0, 14)), max_size=4))
def test_counts_are_those_of_single_characters(texts):
    gold, predicted, lengths = ([text[k] for text in texts] for k in range(3))
    found = span_counts(gold, predicted, np.array(lengths, dtype=int))
    for number, (true, said, length) in enumerate(texts):
        sides = [[{s for a, b, s in own if a <= at < b} for at in range(length)] for own in (true, said)]
        credit = sum((1 if one & other else 0.5) for one, other in zip(*sides, strict=True) if one and other)
        assert found.credit[number] == credit
        assert found.predicted[number] == sum(map(bool, sides[1]))
        assert found.gold[number] == sum(map(bool, sides[0]))


def test_f1_is_over_all_characters_of_all_texts():
    counts = span_counts(
        [[(0, 10, "major")], [(0, 2, "minor")], []],
        [[(5, 10, "major")], [(0, 2, "major")], [(0, 3, "minor")]],
    )
    found = span_f1(counts, ["a", "a", "b"], n_resamples=200)
    assert (found.credit, found.predicted_characters, found.gold_characters) == (6, 10, 12)
    assert (found.precision.estimate, found.recall.estimate) == (6 / 10, 6 / 12)
    assert found.f1.estimate == pytest.approx(2 * 0.6 * 0.5 / 1.1)
    assert (found.n_texts, found.n_clusters, found.f1.n) == (3, 2, 3)
    # resamples: aa, ab, bb; item b alone has no errors of a rater, so precision and F1 are 0 there
    assert (found.f1.low, found.f1.high) == (0, pytest.approx(12 / 19))
    assert found.recall.n_clusters == 1
    assert found.recall.interval_reason == ONE_CLUSTER


@pytest.mark.parametrize(
    ("gold", "predicted", "values", "reasons"),
    [
        ([(0, 3, "major")], [], (None, 0, 0), ("the judge marked no characters", None, None)),
        ([], [(0, 3, "major")], (0, None, 0), (None, "the raters marked no characters", None)),
        ([], [(2, 2, "major")], (None, None, None), ("nothing was marked on either side",) * 3),
    ],
)
def test_what_is_undefined_says_why(gold, predicted, values, reasons):
    found = span_f1(span_counts([gold, []], [predicted, []]), n_resamples=50)
    measures = (found.precision, found.recall, found.f1)
    assert tuple(each.estimate for each in measures) == values
    assert tuple(each.reason for each in measures) == reasons


def test_no_texts():
    found = span_f1(span_counts([], []))
    assert [found.precision.reason, found.f1.reason, found.n_texts] == ["no texts", "no texts", 0]


def f1(sums):
    return 2 * sums[0] / (sums[1] + sums[2])


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_permutation_test_swaps_whole_items(alternative):
    first = SpanCounts(*np.array([[4, 3, 5, 1, 2, 6], [5, 5, 6, 4, 3, 6], [6, 4, 6, 3, 3, 7]], dtype=float))
    second = SpanCounts(*np.array([[2, 3, 1, 2, 0, 5], [6, 4, 3, 3, 1, 8], [6, 4, 6, 3, 3, 7]], dtype=float))
    items = ["a", "a", "b", "c", "c", "d"]
    sides = [np.array([each.credit, each.predicted, each.gold]) for each in (first, second)]
    observed = f1(sides[0].sum(axis=1)) - f1(sides[1].sum(axis=1))
    as_large = 0
    for stays in product([True, False], repeat=4):
        own = np.array(stays)[[0, 0, 1, 2, 2, 3]]
        one, other = np.where(own, *sides).sum(axis=1), np.where(own, *sides[::-1]).sum(axis=1)
        gap = f1(one) - f1(other)
        as_large += {"two-sided": abs(gap) >= abs(observed) - 1e-12, "greater": gap >= observed - 1e-12,
                     "less": gap <= observed + 1e-12}[alternative]  # fmt: skip
    found = span_f1_test(first, second, items, n_resamples=20_000, alternative=alternative)
    assert found.difference == pytest.approx(observed)
    assert found.p == pytest.approx(as_large / 16, abs=0.015)
    assert (found.n, found.n_units, found.n_resamples) == (6, 4, 20_000)


def test_a_judge_beside_itself_and_one_that_marks_nothing():
    counts = span_counts([[(0, 3, "major")]] * 3, [[(0, 3, "major")]] * 3)
    silent = span_counts([[(0, 3, "major")]] * 3, [[]] * 3)
    same = span_f1_test(counts, counts, n_resamples=100)
    assert (same.difference, same.p) == (0, 1)
    assert span_f1_test(counts, silent, n_resamples=0).difference == 1
    undefined = span_f1_test(counts, silent, measure="precision")
    assert (undefined.p, undefined.reason) == (None, "the precision of at least one judge is undefined")
    with pytest.raises(ValueError, match="the same texts, got 3 and 1"):
        span_f1_test(counts, span_counts([[]], [[]]))


def simulated(rng, n_items, hits):
    """Texts of ten wrong characters, of which a judge marks ten: the very ones, or ten others. Five texts an item; on half of
    the items it is right with one probability, on half with the other.
    """
    right = rng.random((n_items, 5)) < np.where(rng.random(n_items) < 0.5, *hits)[:, None]
    ten = np.full(right.size, 10.0)
    return SpanCounts(10.0 * right.ravel(), ten, ten), np.repeat(np.arange(n_items), 5)


@pytest.mark.slow
@pytest.mark.parametrize(("n_items", "lowest"), [(20, 0.87), (60, 0.91)])
def test_interval_over_items_covers_and_the_one_over_texts_does_not(n_items, lowest):
    rng = np.random.default_rng(n_items)
    covered = np.zeros(2)
    for _ in range(300):
        counts, items = simulated(rng, n_items, (0.9, 0.3))
        for k, clusters in enumerate((items, None)):
            found = span_f1(counts, clusters, n_resamples=500, rng=rng).f1
            covered[k] += found.low - 1e-9 <= 0.6 <= found.high + 1e-9
    assert lowest <= covered[0] / 300 <= 0.985
    assert covered[1] / 300 < 0.90


@pytest.mark.slow
def test_permutation_test_of_equal_judges_finds_what_chance_finds():
    rng = np.random.default_rng(3)
    small = np.zeros(2)
    for _ in range(800):
        first, items = simulated(rng, 40, (0.8, 0.2))
        second, _ = simulated(rng, 40, (0.8, 0.2))
        small += [span_f1_test(first, second, by, n_resamples=400, rng=rng).p <= 0.05 for by in (items, None)]
    assert 0.025 <= small[0] / 800 <= 0.08
    assert small[1] / 800 > 0.1
