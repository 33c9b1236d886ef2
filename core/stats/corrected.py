"""The mean label of all texts, or their pass rate, from a judge's answers to all and people's labels of some: by how labels were chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from core.stats.prediction_powered import (
    NO_JUDGE,
    Corrected,
    Method,
    Scored,
    corrected_difference,
    corrected_mean,
)
from core.stats.resampling import Estimate, Floats, Indices, numbered, resampled_estimate
from core.stats.strata import (
    MOST_ANSWERS,
    Bound,
    Stratified,
    answers_of,
    ends_of_mean,
    few_differ,
    mean_difference,
    selection_p,
    stratified_mean,
)

LabelsChosen = Literal["at-random", "by-judge", "by-truth"]
CHOSEN: Mapping[LabelsChosen, str] = {
    "at-random": "every text had the same chance of a label",
    "by-judge": "by the judge's answer, and at random among texts with the same one",
    "by-truth": "by what people would say, such as more of the bad answers, whatever the judge answers",
}
"""How labelled texts may have been chosen."""
assert set(CHOSEN) == set(get_args(LabelsChosen))
_NOTHING = 1e-9
FEWEST_OTHERS_FOR_PPI = 30
"""Labels off the commonest grade below which PPI++ does not decide about a mean; simulated: docs/simulations/corrected.md."""


@dataclass(frozen=True)
class Texts:
    """Texts of one system, or of all. Arrays have one value for each text."""

    judge: Floats
    """NaN where the judge gave no score."""
    human: Floats
    """NaN where there is no label."""
    clusters: NDArray[np.generic]
    """The item of each text."""
    answers: bool = False
    """Whether each of the judge's values is an answer of its own, such as a word; else scores are cut into bins."""
    weights: Floats | None = None
    """What each label counts, for texts drawn with known probabilities."""
    original: Floats | None = None
    """What the judge said, where `judge` holds passes and fails that were made of it; None: `judge`."""
    systems: NDArray[np.generic] | None = None
    """The system of each text, to test how labels were chosen."""
    keys: NDArray[np.generic] | None = None
    """What makes texts of two systems a pair, where labels were chosen at random."""

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Whether each text has a label."""
        return np.asarray(~np.isnan(self.human))

    @property
    def spoken(self) -> Floats:
        """What the judge said, NaN where it gave no score."""
        return self.judge if self.original is None else self.original

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Whether each text has a score."""
        return np.asarray(~np.isnan(self.judge))


@dataclass(frozen=True)
class Asked:
    """What is estimated, and what is known about the labels."""

    pass_rate: bool = False
    ends: tuple[float, float] | None = (0.0, 1.0)
    """Lowest and highest label on offer; None where there are none."""
    labels_chosen: LabelsChosen | None = None
    """None: not said; then as `by-judge`, which holds for labels chosen at random too."""
    method: Method | None = None
    """None: by what is known about the labels."""
    these_texts: bool = False
    """Whether the mean of exactly these texts is asked for, and not that of texts like these."""
    confidence_level: float = 0.95


@dataclass(frozen=True)
class Answer:
    """The texts to which the judge gave one answer, or a score between two."""

    low: float | None
    """None: no score."""
    high: float | None
    n: int
    n_labelled: int
    share: float
    mean: Estimate
    """Mean label, or pass rate."""


@dataclass(frozen=True)
class CorrectedMean(Corrected):
    """A corrected mean, with what people say of each answer of the judge."""

    answers: tuple[Answer, ...] = ()
    """The lowest first, then texts without a score; empty where the judge's answers do not enter."""
    open_share: float = 0.0
    """Share of texts with an answer of which no text has a label."""
    selected_by: str = ""
    """What differs most between labelled texts and those that they stand for; `labelled_shift_p` is its p, Bonferroni over what was
    compared, and None where nothing can be."""
    stratified: Stratified | None = field(default=None, repr=False)
    """What enters a difference; None where PPI++ or Rogan-Gladen decide."""


def corrected(texts: Texts, wanted: Asked) -> CorrectedMean:
    """Estimate the mean label of all texts. A text without a score is an answer of its own: it counts, and so does its label.

    By the judge's answers (`strata.stratified_mean`, bins of scores by `strata.answers_of`), unless labels were declared to be chosen at
    random: then PPI++ (`prediction_powered.corrected_mean`, with the mean score for a text without one), by labels alone where
    they are few; or by what people would say: then Rogan-Gladen, which needs passes and fails from both sides. Labels drawn with
    known probabilities are weighted, by the judge's answers.

    Intervals by the judge's answers hold whatever the coding: Wilson's in each answer for passes and fails, Gaffke's bound for
    grades and for shares of raters, t only where the scale has no ends. Raises ValueError as the functions it calls.

    Misleads if labels were not chosen as assumed.
    """
    alone = _alone(texts, wanted)
    judged = _judge_only(texts, wanted)
    if texts.labelled.all():
        found = _stratified_by_answer(texts, wanted)
    elif wanted.labels_chosen == "by-truth" or wanted.method == "rogan-gladen":
        found = _rogan_gladen(texts, wanted)
    elif _is_by_answer(wanted, texts):
        found = _stratified_by_answer(texts, wanted)
    else:
        found = _random_sample_mean(texts, wanted, alone)
    p, by = (
        (None, "")
        if found.method == "rogan-gladen" or texts.weights is not None
        else _selection(texts, wanted, found)
    )
    return replace(
        found,
        judge_only=judged,
        labels_only=alone.estimate,
        selected_by=by,
        labelled_shift_p=p,
    )


def _is_by_answer(request: Asked, texts: Texts) -> bool:
    if request.method is not None:
        return request.method == "by-class"
    return request.labels_chosen != "at-random" or request.these_texts or texts.weights is not None


def _bound_of_labels(texts: Texts, request: Asked, of_shares: Bound) -> Bound:
    """The interval of mean labels. of_shares: where each label is a pass or a fail."""
    if request.ends is None:
        return "normal"
    labels = texts.human[texts.labelled]
    binary = request.pass_rate and bool(((labels == 0) | (labels == 1)).all())
    return of_shares if binary else "bounded"


def _stratified(texts: Texts, strata: Indices, request: Asked, of_shares: Bound) -> Stratified:
    return stratified_mean(
        texts.human,
        strata,
        bound=_bound_of_labels(texts, request, of_shares),
        ends=request.ends,
        clusters=texts.clusters,
        weights=texts.weights,
        finite=request.these_texts,
        confidence_level=request.confidence_level,
    )


def _alone(texts: Texts, request: Asked) -> Stratified:
    """The mean of the labels; `n` of the estimate counts them."""
    only = replace(
        texts,
        human=texts.human[texts.labelled],
        clusters=texts.clusters[texts.labelled],
        weights=None if texts.weights is None else texts.weights[texts.labelled],
    )
    # All texts are in one stratum, so that only how many there are matters, for exactly these texts.
    every = texts if request.these_texts else only
    found = _stratified(every, np.zeros(every.human.size, dtype=np.intp), request, "exact")
    return replace(
        found,
        estimate=replace(found.estimate, n=found.n_labelled, n_clusters=found.n_labelled_clusters),
    )


def _judge_only(texts: Texts, request: Asked) -> Estimate:
    """Mean score of the texts that have one."""
    scored = texts.scored
    judge = texts.judge[scored]
    if not judge.size:
        return _undefined(NO_JUDGE, texts, request)
    found = corrected_mean(
        Scored(judge, np.full(judge.size, np.nan), texts.clusters[scored]),
        pass_rate=request.pass_rate,
        confidence_level=request.confidence_level,
    )
    return found.judge_only


def _undefined(why: str, texts: Texts, request: Asked) -> Estimate:
    return resampled_estimate(
        np.nan,
        None,
        n=texts.human.size,
        n_clusters=int(np.unique(texts.clusters).size),
        confidence_level=request.confidence_level,
        reason=why,
        interval_reason=why,
    )


# --- by the judge's answers --------------------------------------------------------------------


def _strata(texts: Texts, request: Asked) -> Indices:
    """The answer of each text. Where labels were chosen by the judge's answer, none of a few answers is joined to another."""
    known = texts.spoken[texts.scored]
    each = texts.answers or (request.labels_chosen == "by-judge" and np.unique(known).size <= MOST_ANSWERS)
    return answers_of(texts.spoken, texts.labelled, each=each)


def _stratified_by_answer(texts: Texts, request: Asked) -> CorrectedMean:
    strata = _strata(texts, request)
    n_answers = int(np.unique(strata).size)
    whole = bool(texts.labelled.all())
    if whole or n_answers < 2:
        found = _stratified(texts, np.zeros(strata.size, dtype=np.intp), request, "exact")
        why = "too few labels keep the judge's answers apart"
        if whole:
            why = "every text has a label"
        elif np.unique(texts.spoken[texts.scored]).size < 2:
            why = "the judge gives all texts one answer"
        method: Method = "exact" if request.pass_rate else "labels-only"
        return _strata_mean(texts, found, method, why, 0.0)
    found = _stratified(texts, strata, request, "wilson")
    why = "it holds for labels chosen at random, and for labels chosen by the judge's answer"
    made = _strata_mean(texts, found, "by-class", why, _saved(texts, found, strata, request))
    return replace(made, answers=_answers(texts, found, strata))


def _answers(texts: Texts, found: Stratified, strata: Indices) -> tuple[Answer, ...]:
    made = []
    for one in found.strata:
        values = texts.spoken[strata == one.key]
        known = values[~np.isnan(values)]
        low, high = (float(known.min()), float(known.max())) if known.size else (None, None)
        made.append(Answer(low, high, one.n, one.n_labelled, one.share, one.mean))
    return tuple(made)


def _strata_mean(
    texts: Texts, found: Stratified, method: Method, why: str, saved: float | None
) -> CorrectedMean:
    blank = found.estimate
    return CorrectedMean(
        blank,
        method,
        why,
        blank,
        blank,
        0.0 if method in {"exact", "labels-only"} else None,
        found.n_labelled,
        found.n_labelled_clusters,
        saved if found.n_labelled else None,
        None,
        open_share=found.open_share,
        stratified=found,
    )


def _saved(texts: Texts, found: Stratified, strata: Indices, request: Asked) -> float | None:
    """How many more labels of randomly chosen texts would give labels alone an interval of this width; negative for a loss.

    The width of labels alone is that of as many labels of randomly chosen texts, with the shares of all texts within and between
    answers, and the design effect over items. Widths, and not variances: bounds of grades depend on more than the variance.
    """
    labelled, estimate = texts.labelled, found.estimate
    y, own, index = texts.human[labelled], strata[labelled], texts.clusters[labelled]
    if y.size < 2 or estimate.estimate is None or estimate.low is None or estimate.high is None:
        return None
    counts, sizes = np.bincount(own, minlength=strata.max() + 1), np.bincount(strata)
    stands_for = (sizes / np.maximum(counts, 1))[own]
    mean = float(stands_for @ y) / float(stands_for.sum())
    moved = stands_for * (y - mean)
    by_item = np.bincount(numbered(index), moved)
    width = estimate.high - estimate.low
    if (
        not float(by_item @ by_item) > _NOTHING * float(moved @ moved) or not width > 0
    ):  # items that cancel show no design effect
        return None
    n = y.size * float(moved @ moved) / float(by_item @ by_item)
    bound = _bound_of_labels(texts, request, "wilson")
    if bound == "normal" or request.ends is None:
        spread = float(stands_for @ (y - mean) ** 2) / float(stands_for.sum())
        return float(y.size * (spread / max(n - 1, 1) / found.variance - 1)) if found.variance > 0 else None
    bottom, length = request.ends[0], request.ends[1] - request.ends[0]
    # Of exactly these texts, labels alone would be more certain too.
    width /= (
        (1 - y.size / texts.human.size) ** 0.5 if request.these_texts and y.size < texts.human.size else 1.0
    )
    low, high = ends_of_mean(
        (y - bottom) / length, stands_for, (mean - bottom) / length, n, bound, request.confidence_level
    )
    return float(y.size * (((high - low) * length / width) ** 2 - 1))


# --- labels chosen at random, or by what people would say --------------------------------------


def _random_sample_mean(texts: Texts, request: Asked, alone: Stratified) -> CorrectedMean:
    judge = np.where(texts.scored, texts.judge, _mean_score(texts))
    labels = texts.human[texts.labelled]
    method = request.method
    why = ""
    if (
        method is None
        and not request.pass_rate
        and labels.size
        and (why := few_differ(labels, FEWEST_OTHERS_FOR_PPI))
    ):
        method = "labels-only"
    found = corrected_mean(
        Scored(judge, texts.human, texts.clusters),
        pass_rate=request.pass_rate,
        method=method,
        confidence_level=request.confidence_level,
    )
    made = CorrectedMean(**vars(found))
    if made.method in {"exact", "labels-only"}:
        decided = replace(alone.estimate, n=made.decided.n, n_clusters=made.decided.n_clusters)
        made = replace(made, decided=decided, why=why or made.why)
    return made


def _mean_score(texts: Texts) -> float:
    known = texts.judge[texts.scored]
    return float(known.mean()) if known.size else 0.0


def _rogan_gladen(texts: Texts, request: Asked) -> CorrectedMean:
    """Rogan-Gladen. A text without a score is one that the judge does not pass."""
    judge = np.where(texts.scored, texts.judge, 0.0)
    found = corrected_mean(
        Scored(judge, texts.human, texts.clusters),
        pass_rate=request.pass_rate,
        method="rogan-gladen",
        confidence_level=request.confidence_level,
    )
    decided = found.rogan_gladen
    if decided is None:
        why = "it needs passes and fails from the judge, and from the raters of each text together"
        decided = _undefined(why, texts, request)
    return replace(
        CorrectedMean(**vars(found)),
        decided=replace(decided, n=texts.human.size, n_clusters=found.decided.n_clusters),
        method="rogan-gladen",
        why="labels were chosen by what people would say",
        weight=None,
        labels_saved=_saved_by_truth(decided, found.n_labelled, request),
    )


def _saved_by_truth(decided: Estimate, n_labelled: int, request: Asked) -> float | None:
    """How many more labels of randomly chosen texts would give labels alone an interval of this width."""
    if decided.estimate is None or decided.low is None or decided.high is None or not n_labelled:
        return None
    share = np.array([decided.estimate])
    low, high = ends_of_mean(
        share, np.ones(1), decided.estimate, n_labelled, "wilson", request.confidence_level
    )
    return float(n_labelled * (((high - low) / (decided.high - decided.low)) ** 2 - 1))


# --- how labels were chosen --------------------------------------------------------------------


def _selection(texts: Texts, request: Asked, found: CorrectedMean) -> tuple[float | None, str]:
    """Smallest p of labelled texts differing from those that they stand for, Bonferroni over what is compared, and in what."""
    strata = (
        _strata(texts, request) if found.method == "by-class" else np.zeros(texts.judge.size, dtype=np.intp)
    )
    scored = texts.scored
    spoken = np.where(scored, texts.spoken, texts.spoken[scored].mean() if scored.any() else 0.0)
    compared: dict[str, Floats] = {"the judge's scores": spoken}
    if found.method != "by-class" and not scored.all():
        compared["texts without a score"] = (~scored).astype(np.float64)
    if texts.systems is not None:
        names = np.unique(texts.systems)
        if names.size > 1:
            compared |= {str(name): (texts.systems == name).astype(np.float64) for name in names}
    found_p = {
        what: p
        for what, values in compared.items()
        if (p := selection_p(texts.labelled, strata, values, texts.clusters)) is not None
    }
    if not found_p:
        return None, ""
    what = min(found_p, key=lambda name: found_p[name])
    return min(1.0, found_p[what] * len(found_p)), what


# --- differences of two systems ----------------------------------------------------------------


def corrected_gap(
    first: Texts, second: Texts, of_first: CorrectedMean, of_second: CorrectedMean, wanted: Asked
) -> Corrected:
    """Estimate the mean of the first system minus that of the second, as each of them was estimated.

    of_first, of_second: what `corrected` found of them. By the judge's answers: `strata.mean_difference`, with the correlation
    over shared items. Labels chosen at random: `prediction_powered.corrected_difference`, by labels alone where few differ.
    Labels chosen by what people would say: the difference of two Rogan-Gladen estimates, as independent ones.
    """
    sides = of_first.stratified or of_first.decided, of_second.stratified or of_second.decided
    width = None if wanted.ends is None else wanted.ends[1] - wanted.ends[0]
    paired = bool(np.intersect1d(first.clusters, second.clusters).size)
    if _is_by_answer(wanted, first) or "rogan-gladen" in {of_first.method, of_second.method}:
        found = mean_difference(*sides, width=width)
        method = of_first.method if of_first.method == of_second.method else "by-class"
        why = of_first.why if method != "by-class" else "each system by the judge's answers"
        judged = _judged_apart(first, second, wanted)
        return Corrected(
            found.estimate,
            method,
            why,
            judged,
            mean_difference(_alone(first, wanted), _alone(second, wanted), width=width).estimate,
            None,
            of_first.n_labelled + of_second.n_labelled,
            of_first.n_labelled_clusters + of_second.n_labelled_clusters,
            None,
            found.p_value,
            paired=paired,
        )
    rows = [
        Scored(np.where(one.scored, one.judge, _mean_score(one)), one.human, one.clusters, one.keys)
        for one in (first, second)
    ]
    made = corrected_difference(*rows, pass_rate=wanted.pass_rate, confidence_level=wanted.confidence_level)
    if not (first.scored.all() and second.scored.all()):
        made = replace(made, judge_only=_judged_apart(first, second, wanted))
    if wanted.pass_rate or not (why := _few_differ_in_pairs(first, second)):
        return made
    alone = mean_difference(_alone(first, wanted), _alone(second, wanted), width=width)
    decided = replace(alone.estimate, n=made.decided.n, n_clusters=made.decided.n_clusters)
    return replace(
        made,
        decided=decided,
        labels_only=alone.estimate,
        method="labels-only",
        why=why,
        p_value=alone.p_value,
    )


def _judged_apart(first: Texts, second: Texts, request: Asked) -> Estimate:
    """The difference of the judge's own means, of the texts that it scored."""
    rows = [
        Scored(one.judge[one.scored], np.full(int(one.scored.sum()), np.nan), one.clusters[one.scored])
        for one in (first, second)
    ]
    return corrected_difference(*rows, confidence_level=request.confidence_level).judge_only


def _few_differ_in_pairs(first: Texts, second: Texts) -> str:
    """Why standard errors say little about the difference: labels of either system are nearly all equal."""
    return next(
        (
            why
            for one in (first, second)
            if one.labelled.any() and (why := few_differ(one.human[one.labelled], FEWEST_OTHERS_FOR_PPI))
        ),
        "",
    )
