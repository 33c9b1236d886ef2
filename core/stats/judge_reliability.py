"""Do several judges agree on the answers to each other's questions? ADR and ADS of 001, section 3.1.

Answers have shape (questions, models): codes 0 (YES), 1 (NO), 2 (IDK), -1 where a model gave none. `own` has the same
shape and says which models made each question: none, one, or several that hit on the same. `clusters` has shape
(questions,) and names the document of each question; it is what is resampled. All rates run from 0 to 1, lower is more
reliable. The order of the models changes none of them.

Both exist twice. `paper` is what 001 defines; `cef-code` is what its published programs count, in which a missing answer
is a wrong one. The paper's tables come from the programs, in percent.

Neither says that an answer is right: models that share an error agree, and a model whose questions are trivial has a
low ADR. Both need the same questions for all models; compare models only within one call.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Literal, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from core.stats.resampling import Estimate, Floats, Resampling, ratio_estimates
from core.stats.votes import MISSING, Codes, category_counts, check_votes

Variant = Literal["paper", "cef-code"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
YES, N_ANSWERS = 0, 3
AGREEING = Fraction(4, 5)
"""Share of the models that has to give one answer before `cef-code` counts a question: 4 of its 5 models."""
ONE_MODEL, NO_QUESTIONS = "fewer than two models", "no questions"
NO_OWN_QUESTIONS = "no question of this model that another model answered"
NO_MAJORITY = "no question with a majority"
TWO_MODELS = "of two models neither can deviate: where they differ there is no majority"
ALL_AGREE = "below five models only questions on which all agree count, so none can deviate"

_DECIMALS = 12  # equal rates share a rank, whatever the order in which they were summed


def disagreement(
    answers: ArrayLike,
    own: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    variant: Variant = "paper",
    **drawing: Unpack[Resampling],
) -> tuple[Estimate, ...]:
    """Average disagreement rate of each model: how often the others do not answer its questions as expected.

    paper: ADR(M_i) = mean over the questions of M_i of the share of the other K - 1 models whose answer is not M_i's
    own (001, section 3.1). Answers that are missing are left out: of the share where another model's is, the whole
    question where M_i's own is, or nobody else's is there. cef-code: the share of the others whose answer is not YES,
    a missing one being none; M_i's own answer plays no part.

    `n` counts the model's questions used, `n_left_out` those that could not be. Undefined below two models and for a
    model without a usable question. Interval: percentiles over resampled clusters (every question by itself without
    `clusters`: too narrow where questions of a document are alike), the same resamples for all models.
    """
    codes, made = _checked(answers, own)
    n_others, n_differ = _others_of_all(codes) if variant == "cef-code" else _others_of_known(codes)
    used = made & (n_others > 0)
    return _estimates(
        np.where(used, n_differ / np.maximum(n_others, 1), 0.0),
        used,
        made,
        clusters,
        NO_OWN_QUESTIONS,
        **drawing,
    )


def deviation(
    answers: ArrayLike,
    own: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    variant: Variant = "paper",
    **drawing: Unpack[Resampling],
) -> tuple[Estimate, ...]:
    """Answer deviation score of each model: how often its answer is not the one that most models give.

    Over all models' questions, each distinct one of a document once. paper: ADS(M_i) = share of the questions on which
    M_i's answer is not the most frequent answer, M_i's own included (001, section 3.1); a tie for the most frequent,
    or fewer than two answers, is no majority, and such a question is left out, as is one that M_i did not answer.
    `own` plays no part. cef-code: the answer of each of its authors is taken to be YES whatever they said, a missing
    answer is an answer of its own, questions on which fewer than ceil(4/5 K) of the K models agree (4 of 5 in 001) are dropped,
    and 1 is counted where M_i's answer is not the agreed one.

    `n` counts questions used for the model, `n_left_out` the others. Undefined and intervals: as `disagreement`.
    Undefined also where nobody could deviate, so that every score would be 0: paper, of two models, which have no
    majority where they differ; cef-code, below five models, where ceil(4/5 K) = K and all have to agree. Misleads with
    three models: the two that are of one family decide.
    """
    codes, made = _checked(answers, own)
    n_models = codes.shape[1]
    if variant == "cef-code":
        codes = np.where(made, YES, codes)
        codes = np.where(codes == MISSING, N_ANSWERS, codes)
    counts = category_counts(codes, N_ANSWERS + 1)
    most = counts.max(axis=1, initial=0.0)
    majority = counts.argmax(axis=1)
    if variant == "cef-code":
        needed = ceil(AGREEING * n_models)
        decided = most >= needed
        nobody_can = ALL_AGREE if needed == n_models else None
    else:
        decided = ((counts == most[:, None]).sum(axis=1) == 1) & (counts.sum(axis=1) >= 2)
        nobody_can = TWO_MODELS if n_models == 2 else None
    used = decided[:, None] & (codes != MISSING)
    deviates = codes != majority[:, None]
    return _estimates(
        np.where(used & deviates, 1.0, 0.0),
        used,
        np.ones(codes.shape, dtype=np.bool_),
        clusters,
        NO_MAJORITY,
        nobody_can,
        **drawing,
    )


def lowest_first(values: Sequence[float | None]) -> tuple[int | None, ...]:
    """Ranks from 1 for the lowest; equal values share the best of their ranks (method "min"), undefined ones have none."""
    defined = [value for value in values if value is not None]
    ranks = iter(rankdata(np.round(defined, _DECIMALS), method="min").tolist() if defined else [])
    return tuple(None if value is None else int(next(ranks)) for value in values)


def _checked(answers: ArrayLike, own: ArrayLike) -> tuple[Codes, NDArray[np.bool_]]:
    codes, made = check_votes(answers, N_ANSWERS), np.asarray(own)
    if made.shape != codes.shape:
        raise ValueError(
            f"own must have the shape of answers (questions, models), got {made.shape} and {codes.shape}"
        )
    if made.size and made.dtype != np.bool_:
        raise ValueError(f"own must say true or false of each model, got dtype {made.dtype}")
    return codes, made.astype(np.bool_)


def _others_of_all(codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Shape (questions, models): for each model how many others there are, and how many of them did not say YES."""
    not_yes = (codes != YES).astype(np.int64)
    return np.full(codes.shape, codes.shape[1] - 1, dtype=np.int64), not_yes.sum(axis=1)[:, None] - not_yes


def _others_of_known(codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Shape (questions, models): for each model how many others answered, and how many of them otherwise than it did.

    Nobody is to be counted against a model that gave no answer itself.
    """
    counts = category_counts(codes, N_ANSWERS).astype(np.int64)
    known = codes != MISSING
    alike = np.take_along_axis(counts, np.maximum(codes, 0), axis=1)  # with the model itself
    answered = counts.sum(axis=1)[:, None]
    return np.where(known, answered - 1, 0), np.where(known, answered - alike, 0)


def _estimates(
    above: Floats,
    used: NDArray[np.bool_],
    concerned: NDArray[np.bool_],
    clusters: ArrayLike | None,
    none_used: str,
    why_undefined: str | None = None,
    **drawing: Unpack[Resampling],
) -> tuple[Estimate, ...]:
    """Each column's mean over its used questions. concerned: which questions a model's rate should be about.

    why_undefined: why there is no rate, whatever was answered; None: there may be one.
    """
    n_questions, n_models = used.shape
    if n_models < 2 or why_undefined is not None:
        above, used = np.zeros_like(above), np.zeros_like(used)
    reason = ONE_MODEL if n_models < 2 else NO_QUESTIONS if n_questions == 0 else why_undefined or none_used
    found = ratio_estimates(above, used, np.arange(n_questions) if clusters is None else clusters, **drawing)
    n_concerned = concerned.sum(axis=0).tolist()
    return tuple(
        replace(
            estimate,
            reason=None if estimate.estimate is not None else reason,
            n_left_out=n_concerned[model] - estimate.n,
        )
        for model, estimate in enumerate(found)
    )
