"""ADR and ADS in both variants: tables worked out by hand, and what theory says of models that guess."""

import numpy as np
import pytest

from core.stats.agreement import (
    ALL_AGREE,
    NO_MAJORITY,
    NO_OWN_QUESTIONS,
    NO_QUESTIONS,
    ONE_MODEL,
    TWO_MODELS,
    Variant,
    deviation,
    disagreement,
    lowest_first,
)
from core.stats.resampling import Estimate, wilson_share

Y, N, IDK, NONE = 0, 1, 2, -1

# Three models. Author of each question, then the answers of models 0, 1 and 2.
THREE = [
    (0, (Y, Y, N)),  # 1/2 of the others differ from model 0
    (0, (N, Y, NONE)),  # the only other that answered differs: 1
    (1, (Y, Y, IDK)),  # 1/2
    (0, (NONE, Y, Y)),  # its author gave no answer: left out of the paper's ADR
    (2, (N, Y, IDK)),  # both differ: 1; three answers, no majority
]
# Five models, as CEF has them.
FIVE = [
    (0, (Y, Y, Y, Y, N)),  # model 4 deviates
    (1, (IDK, N, IDK, IDK, IDK)),  # cef-code takes model 1's N for YES: 4 of 5 say IDK
    (2, (Y, N, Y, N, NONE)),  # Y 2, N 2: a tie; cef-code: fewer than 4 agree
    (3, (N, N, N, Y, Y)),  # N 3 of 5: the paper's majority, too few for cef-code
    (4, (Y, Y, Y, Y, IDK)),  # cef-code takes model 4's IDK for YES: all agree
    (0, (NONE, N, N, N, N)),  # cef-code: model 0 "says" YES, 4 say N
]


def both(table: list[tuple[int, tuple[int, ...]]]) -> tuple[np.ndarray, np.ndarray]:
    answers = np.array([answers for _, answers in table])
    return answers, made_by([author for author, _ in table], answers.shape[1])


def made_by(authors: list[int] | np.ndarray, n_models: int) -> np.ndarray:
    """Each question by one author; -1: by none of the models."""
    return np.array(authors)[:, None] == np.arange(n_models)


def counted(estimates: tuple[Estimate, ...]) -> list[tuple[float | None, int, int]]:
    return [
        (None if one.estimate is None else round(one.estimate, 12), one.n, one.n_left_out)
        for one in estimates
    ]


def test_disagreement_of_three_models_by_hand() -> None:
    answers, own = both(THREE)
    assert counted(disagreement(answers, own)) == [(0.75, 2, 1), (0.5, 1, 0), (1.0, 1, 0)]
    # Not YES among the others: (N) 1/2, (missing) 1/2, none of two; (IDK) 1/2; (N) 1/2.
    assert counted(disagreement(answers, own, variant="cef-code")) == [
        (round(1 / 3, 12), 3, 0),
        (0.5, 1, 0),
        (0.5, 1, 0),
    ]


def test_deviation_of_three_models_by_hand() -> None:
    answers, own = both(THREE)
    # Majorities: Y, a tie, Y, Y (of two), three-way tie.
    assert counted(deviation(answers, own)) == [(0.0, 2, 3), (0.0, 3, 2), (round(2 / 3, 12), 3, 2)]
    # ceil(0.8 x 3) = 3: only where all agree, and there nobody deviates.
    assert counted(deviation(answers, own, variant="cef-code")) == [(None, 0, 5)] * 3


def test_disagreement_of_five_models_by_hand() -> None:
    answers, own = both(FIVE)
    assert counted(disagreement(answers, own)) == [
        (0.25, 1, 1),  # (N) of four; the sixth question has no own answer
        (1.0, 1, 0),  # all four say IDK, it said N
        (round(2 / 3, 12), 1, 0),  # of Y, N, N two differ, one is missing
        (0.75, 1, 0),  # N, N, N, Y against Y
        (1.0, 1, 0),
    ]
    assert counted(disagreement(answers, own, variant="cef-code")) == [
        (0.625, 2, 0),  # 1/4 and 4/4
        (1.0, 1, 0),
        (0.75, 1, 0),  # N, N and the missing one
        (0.75, 1, 0),
        (0.0, 1, 0),
    ]


def test_deviation_of_five_models_by_hand() -> None:
    answers, own = both(FIVE)
    # Majorities Y, IDK, tie, N, Y, N: five questions count, four for model 0, which lacks the sixth answer.
    assert counted(deviation(answers, own)) == [
        (0.0, 4, 2),
        (0.2, 5, 1),  # its N on the second
        (0.0, 5, 1),
        (0.2, 5, 1),  # its Y on the fourth
        (0.6, 5, 1),  # N on the first, Y on the fourth, IDK on the fifth
    ]
    # Kept: first (Y), second (IDK), fifth (Y), sixth (N).
    assert counted(deviation(answers, own, variant="cef-code")) == [
        (0.25, 4, 2),  # its own question, taken as YES, on the sixth
        (0.25, 4, 2),  # its own, taken as YES, on the second
        (0.0, 4, 2),
        (0.0, 4, 2),
        (0.25, 4, 2),  # N on the first
    ]


def test_the_answers_of_all_authors_of_a_question_are_taken_for_yes() -> None:
    """Models 0 and 4 both made the question and answer it with IDK and NO: cef-code takes both for YES, so all five
    agree. Of model 0's others three say YES, of model 4's too.
    """
    answers, own = np.array([[IDK, Y, Y, Y, N]]), np.array([[True, False, False, False, True]])
    assert counted(deviation(answers, own, variant="cef-code")) == [(0.0, 1, 0)] * 5
    assert counted(disagreement(answers, own, variant="cef-code")) == [
        (0.25, 1, 0),
        *[(None, 0, 0)] * 3,
        (0.25, 1, 0),
    ]
    assert counted(disagreement(answers, own))[0] == (1.0, 1, 0)
    assert counted(disagreement(answers, own))[4] == (1.0, 1, 0)


@pytest.mark.parametrize("variant", ["paper", "cef-code"])
def test_the_order_of_the_models_changes_nothing(variant: Variant) -> None:
    generator = np.random.default_rng(8)
    answers, own = generator.integers(-1, 3, (60, 5)), generator.random((60, 5)) < 0.3
    order = generator.permutation(5)
    for function in (disagreement, deviation):
        found = function(answers, own, variant=variant, n_resamples=50)
        swapped = function(answers[:, order], own[:, order], variant=variant, n_resamples=50)
        assert swapped == tuple(found[n] for n in order)


def test_a_missing_answer_is_an_answer_of_its_own_in_the_code() -> None:
    answers, own = np.array([[Y, NONE, NONE, NONE, NONE]]), made_by([0], 5)
    assert counted(deviation(answers, own, variant="cef-code")) == [(1.0, 1, 0)] + [(0.0, 1, 0)] * 4
    assert [one.reason for one in deviation(answers, own)] == [NO_MAJORITY] * 5


def test_what_is_undefined_says_why() -> None:
    for function in (disagreement, deviation):
        for variant in ("paper", "cef-code"):
            (one,) = function([[Y], [N]], made_by([0, 0], 1), variant=variant)
            assert (one.estimate, one.reason) == (None, ONE_MODEL)
            none = function(np.empty((0, 3), dtype=int), np.empty((0, 3), dtype=bool), variant=variant)
            assert [(e.estimate, e.reason, e.n) for e in none] == [(None, NO_QUESTIONS, 0)] * 3
    first, second = disagreement([[Y, Y]], [[True, False]])
    assert (first.estimate, second.estimate, second.reason) == (0.0, None, NO_OWN_QUESTIONS)


@pytest.mark.parametrize("n_models", [2, 3, 4, 5])
def test_few_models_cannot_deviate_whatever_they_answer(n_models: int) -> None:
    """Two have no majority where they differ; of three or four all have to agree, as ceil(0.8 K) = K; 4 of 5 is enough."""
    answers = np.random.default_rng(2).integers(0, 3, (400, n_models))
    own = made_by(np.arange(400) % n_models, n_models)
    code = {one.reason for one in deviation(answers, own, variant="cef-code", n_resamples=0)}
    assert code == ({ALL_AGREE} if n_models < 5 else {None})
    paper = {one.reason for one in deviation(answers, own, n_resamples=0)}
    assert paper == ({TWO_MODELS} if n_models == 2 else {None})
    assert all(one.estimate is not None for one in disagreement(answers, own, n_resamples=0))


def test_other_authors_questions_count_for_deviation_alone() -> None:
    assert [one.estimate for one in disagreement([[Y, N, Y]], made_by([-1], 3))] == [None] * 3
    assert [one.estimate for one in deviation([[Y, N, Y]], made_by([-1], 3))] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("answers", "own", "said"),
    [
        ([[Y, 3]], [[True, False]], "codes run from 0 to 2"),
        ([[Y, N]], [0, 1], "own must have the shape of answers"),
        ([[Y, N]], [[0, 1]], "own must be boolean"),
    ],
)
def test_what_does_not_fit_is_refused(answers: list, own: list, said: str) -> None:
    for function in (disagreement, deviation):
        with pytest.raises(ValueError, match=said):
            function(answers, own)


def test_models_that_guess_come_to_what_probability_says() -> None:
    """Yes with probability 0.7, no 0.2, don't know 0.1, all by themselves."""
    shares = np.array([0.7, 0.2, 0.1])
    answers = np.random.default_rng(5).choice(3, p=shares, size=(30_000, 4))
    own = made_by(np.arange(30_000) % 4, 4)
    differ = 1 - float((shares**2).sum())
    for one in disagreement(answers, own, n_resamples=200):
        assert one.estimate == pytest.approx(differ, abs=0.015)
        assert one.low is not None
        assert one.high is not None
        assert one.low < differ + 0.01
        assert one.high > differ - 0.01
    for one in disagreement(answers, own, variant="cef-code", n_resamples=0):
        assert one.estimate == pytest.approx(0.3, abs=0.015)


def test_intervals_resample_documents_not_questions() -> None:
    """Fifty documents of twenty questions each, alike within a document: the interval is that of fifty units."""
    rng = np.random.default_rng(3)
    wrong = np.repeat(rng.random(50) < 0.4, 20)
    answers = np.column_stack([np.zeros(1000, dtype=int), np.where(wrong, N, Y)])
    documents = np.repeat(np.arange(50), 20)
    own = made_by(np.zeros(1000, dtype=int), 2)
    clustered, _ = disagreement(answers, own, clusters=documents)
    plain, _ = disagreement(answers, own)
    assert clustered.estimate == plain.estimate
    widths = [float(one.high or 0) - float(one.low or 0) for one in (clustered, plain)]
    assert widths[0] / widths[1] == pytest.approx(np.sqrt(20), rel=0.15)
    assert (clustered.n_clusters, clustered.n) == (50, 1000)


def test_ranks_share_the_better_place() -> None:
    """CEF's Table 1, questions about summaries: 0.87, 2.30, 0.87, 0.74, 0.77 have the ranks 3, 5, 3, 1, 2."""
    assert lowest_first([0.87, 2.30, 0.87, 0.74, 0.77]) == (3, 5, 3, 1, 2)
    assert lowest_first([0.1 + 0.2, None, 0.3]) == (1, None, 1)
    assert lowest_first([]) == ()


def test_a_share_has_wilsons_interval() -> None:
    """Newcombe (1998, Statistics in Medicine 17:857), Table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29."""
    for count, n, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        found = wilson_share(count, n)
        assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)
    none = wilson_share(0, 0, reason="nobody asked")
    assert (none.share, none.low, none.reason) == (None, None, "nobody asked")
    with pytest.raises(ValueError, match="3 of 2"):
        wilson_share(3, 2)
