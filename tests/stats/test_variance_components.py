"""Variance components of a vote: analysis of variance by hand, MixedLM, unbalanced data, and what cannot be separated."""

from dataclasses import asdict

import numpy as np
import pytest
from numpy.typing import NDArray

from core.stats.raters import COMPONENTS, NOT_SEPARABLE, ONE_QUESTION, ONE_RATER, variance_components

TRUE = (0.1, 0.2, 0.1, 0.1, 0.4)


def drawn(
    rng: np.random.Generator, raters: int, questions: int, levels: int, true: tuple[float, ...] = TRUE
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    shapes = [
        (1, 1, raters),
        (questions, 1, 1),
        (questions, 1, raters),
        (questions, levels, 1),
        (questions, levels, raters),
    ]
    total = sum(
        (rng.normal(0, np.sqrt(one), shape) for one, shape in zip(true, shapes, strict=True)), np.zeros(1)
    )
    return total.reshape(-1, raters), np.repeat(np.arange(questions), levels)


def dealt(
    rng: np.random.Generator, votes: NDArray[np.float64], questions: NDArray[np.intp], k: int
) -> NDArray[np.float64]:
    raters = votes.shape[1]
    keep = np.array([rng.permutation(raters) < k for _ in range(questions.max() + 1)])
    return np.where(keep[questions], votes, np.nan)


def test_balanced_votes_give_the_estimates_of_the_mean_squares() -> None:
    raters, n, levels = 5, 12, 4
    votes, questions = drawn(np.random.default_rng(1), raters, n, levels)
    found = variance_components(votes, questions)
    x = votes.reshape(n, levels, raters)
    grand, by_rater, by_question = x.mean(), x.mean((0, 1)), x.mean((1, 2))
    ms_rater = n * levels * ((by_rater - grand) ** 2).sum() / (raters - 1)
    ms_question = raters * levels * ((by_question - grand) ** 2).sum() / (n - 1)
    both = x.mean(1) - by_rater - by_question[:, None] + grand
    ms_both = levels * (both**2).sum() / ((raters - 1) * (n - 1))
    ms_pair = raters * ((x.mean(2) - by_question[:, None]) ** 2).sum() / (n * (levels - 1))
    rest = x - x.mean(2, keepdims=True) - x.mean(1, keepdims=True) + by_question[:, None, None]
    ms_rest = (rest**2).sum() / (n * (levels - 1) * (raters - 1))
    by_hand = {
        "rater": (ms_rater - ms_both) / (n * levels),
        "question": (ms_question - ms_pair - ms_both + ms_rest) / (raters * levels),
        "rater_question": (ms_both - ms_rest) / levels,
        "pair": (ms_pair - ms_rest) / raters,
        "residual": ms_rest,
    }
    assert found.components is not None
    assert asdict(found.components) == pytest.approx(by_hand)
    assert found.variance_of_mean is not None
    sizes = (raters, n, n * raters, n * levels, n * levels * raters)
    assert list(asdict(found.variance_of_mean).values()) == pytest.approx(
        [value / size for value, size in zip(by_hand.values(), sizes, strict=True)]
    )


def test_estimates_are_unbiased_where_whole_questions_are_dealt() -> None:
    rng = np.random.default_rng(2)
    estimates = []
    for _ in range(150):
        votes, questions = drawn(rng, 10, 30, 4)
        found = variance_components(dealt(rng, votes, questions, 3), questions)
        assert found.components is not None
        estimates.append(
            [asdict(found.components)[name] + found.set_to_zero.get(name, 0.0) for name in COMPONENTS]
        )
    error = np.std(estimates, axis=0) / np.sqrt(len(estimates))
    assert (np.abs(np.mean(estimates, axis=0) - TRUE) < 3.5 * error).all()


def test_the_variance_of_the_mean_follows_the_components_where_questions_are_dealt() -> None:
    rng = np.random.default_rng(3)
    votes, questions = drawn(rng, 6, 20, 2)
    found = variance_components(dealt(rng, votes, questions, 3), questions)
    one, mean = found.components, found.variance_of_mean
    assert one is not None
    assert mean is not None
    assert mean.question == pytest.approx(one.question / 20)
    assert mean.rater_question == pytest.approx(one.rater_question / (20 * 3))
    assert mean.pair == pytest.approx(one.pair / 40)
    assert mean.residual == pytest.approx(one.residual / (40 * 3))
    assert mean.rater >= one.rater / 6


@pytest.mark.slow
def test_mixed_lm_gives_about_the_same_components() -> None:
    import pandas
    import statsmodels.formula.api as smf

    votes, questions = drawn(np.random.default_rng(4), 12, 24, 2, (0.2, 0.3, 0.15, 0.1, 0.5))
    found = variance_components(votes, questions)
    pair, rater = np.indices(votes.shape)
    frame = pandas.DataFrame(
        {
            "vote": votes.ravel(),
            "rater": rater.ravel(),
            "pair": pair.ravel(),
            "question": questions[pair.ravel()],
        }
    )
    frame["both"] = frame.question * votes.shape[1] + frame.rater
    names = {"rater": "rater", "question": "question", "rater_question": "both", "pair": "pair"}
    fitted = smf.mixedlm(
        "vote ~ 1",
        frame,
        groups=np.ones(len(frame)),
        vc_formula={name: f"0 + C({column})" for name, column in names.items()},
    ).fit()
    theirs = dict(zip(sorted(names), fitted.vcomp.tolist(), strict=True)) | {"residual": float(fitted.scale)}
    assert found.components is not None
    assert asdict(found.components) == pytest.approx(theirs, rel=0.05, abs=0.005)


def test_one_pair_a_question_counts_in_the_question() -> None:
    votes, questions = drawn(np.random.default_rng(5), 4, 10, 1)
    found = variance_components(votes, questions)
    assert found.merged == {"pair": "question", "residual": "rater_question"}
    assert found.components is not None
    assert (found.components.pair, found.components.residual) == (0.0, 0.0)
    rest = votes - votes.mean(0) - votes.mean(1, keepdims=True) + votes.mean()
    assert found.components.rater_question == pytest.approx((rest**2).sum() / (3 * 9))


def test_one_vote_a_pair_counts_in_question_and_pair() -> None:
    votes, questions = drawn(np.random.default_rng(6), 4, 40, 2)
    votes[(np.arange(4) != (questions % 4)[:, None])] = np.nan
    assert variance_components(votes, questions).merged == {"rater_question": "question", "residual": "pair"}


def test_negative_estimates_become_zero_and_are_listed() -> None:
    votes = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])
    found = variance_components(votes, [0, 1, 2, 3])
    assert found.components is not None
    assert found.set_to_zero.keys() == {"rater", "question"}
    assert (found.components.rater, found.components.question) == (0.0, 0.0)
    assert found.components.rater_question == pytest.approx(8 / 3)


def test_equal_votes_have_no_variance() -> None:
    found = variance_components(np.ones((4, 3)), [0, 0, 1, 1])
    assert found.components is not None
    assert list(asdict(found.components).values()) == [0.0] * 5
    assert found.set_to_zero == {}


@pytest.mark.parametrize(
    ("votes", "questions", "reason"),
    [
        (np.ones((4, 1)), [0, 0, 1, 1], ONE_RATER),
        (np.ones((4, 2)), [0, 0, 0, 0], ONE_QUESTION),
        (np.where(np.eye(4), 1.0, np.nan), [0, 1, 2, 3], NOT_SEPARABLE),
    ],
)
def test_undefined_components_have_a_reason(
    votes: NDArray[np.float64], questions: list[int], reason: str
) -> None:
    found = variance_components(votes, questions)
    assert (found.components, found.reason) == (None, reason)


def test_raters_without_a_vote_do_not_count() -> None:
    votes, questions = drawn(np.random.default_rng(7), 3, 6, 2)
    more = np.column_stack([votes, np.full(len(votes), np.nan)])
    assert variance_components(more, questions) == variance_components(votes, questions)


@pytest.mark.parametrize(("votes", "questions"), [(np.ones(4), [0] * 4), (np.ones((4, 2)), [0] * 3)])
def test_other_shapes_are_refused(votes: NDArray[np.float64], questions: list[int]) -> None:
    with pytest.raises(ValueError, match="shape"):
        variance_components(votes, questions)


def test_infinite_votes_are_refused() -> None:
    with pytest.raises(ValueError, match="infinity"):
        variance_components(np.full((4, 2), np.inf), [0, 0, 1, 1])
