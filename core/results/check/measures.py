"""Numbers that describe a judge beside people: agreement, kappa, AC1, correlation, bias, the best constant answer."""

from dataclasses import dataclass

import numpy as np

from core.results.check.texts import OwnTexts, shares_of
from core.schema.scale import SCORES
from core.schema.uses import CheckOptions
from core.stats.agreement import cohen_kappa, gwet_ac1, intraclass_correlation
from core.stats.correlation.panels import panel_correlation
from core.stats.resampling import Estimate, Floats, agresti_min_mean, mean_share
from core.stats.votes import MISSING


def agreements(texts: OwnTexts, options: CheckOptions) -> tuple[Estimate, Estimate]:
    """Share of a text's raters who gave the judge's class, and of its pairs of raters that agree, on the same texts."""
    judge, raters = (
        mean_share(one, texts.items, weights=texts.weights, confidence_level=options.confidence_level)
        for one in shares_of(texts)
    )
    return judge, raters


def kappa_and_ac1(texts: OwnTexts, options: CheckOptions) -> tuple[Estimate | None, Estimate | None]:
    """Cohen's kappa and Gwet's AC1 of the judge with the raters: each text counts once for each rater."""
    if texts.measure != "agreement":
        return None, None
    votes, judged = texts.votes()
    rows, raters = np.nonzero(votes != MISSING)
    pairs = np.column_stack([votes[rows, raters], judged[rows]])
    found = []
    for statistic in (cohen_kappa, gwet_ac1):
        one = statistic(
            pairs,
            clusters=texts.items[rows],
            n_categories=texts.n_classes,
            n_resamples=0,
            confidence_level=options.confidence_level,
        )
        found.append(one.by_jackknife)
    return found[0], found[1]


def correlation_of(texts: OwnTexts, options: CheckOptions) -> Estimate | None:
    """Spearman's correlation of the judge with the mean of a text's raters; None for labels without an order."""
    if not texts.ordered:
        return None
    found = panel_correlation(
        texts.scores,
        texts.means[:, None],
        clusters=texts.items,
        confidence_level=options.confidence_level,
        rng=options.rng,
    )
    return found.judge


def bias_of(texts: OwnTexts, options: CheckOptions) -> Estimate | None:
    """Mean of judge minus raters, as a share of the scale; None where the judge uses another one or labels have no order."""
    if not texts.same_scale:
        return None
    low, high = min(texts.ends[0], texts.scores.min()), max(texts.ends[1], texts.scores.max())
    if high <= low:  # all are equal: the bias is 0, on any scale
        high = low + 1
    differences = (texts.scores - texts.means) / (high - low)
    step = float(np.diff(np.sort(texts.classes)).min() / (high - low)) if texts.classes else 0.0
    return agresti_min_mean(
        differences,
        texts.items,
        largest=max(float(np.abs(differences).max()), step) or 1.0,
        weights=texts.weights,
        confidence_level=options.confidence_level,
    )


@dataclass(frozen=True)
class Icc:
    """Intraclass correlations of single ratings, absolute agreement (`intraclass_correlation`)."""

    judge: float | None
    """Of the raters with the judge in the place of each in turn, averaged; of the judge and the only rater."""
    people: float | None
    """Of the raters; None for one rater."""
    n: int
    """Texts that all raters and the judge rated."""


def icc_in_place(texts: OwnTexts) -> Icc | None:
    """Intraclass correlations of the judge and of the raters; None where the judge uses another scale or labels have no order."""
    if not texts.same_scale:
        return None
    whole = ~np.isnan(texts.ratings).any(axis=1)
    ratings, scores = texts.ratings[whole], texts.scores[whole]
    n_raters = ratings.shape[1]

    def icc(columns: Floats) -> float | None:
        return intraclass_correlation(columns, n_resamples=0).estimate

    places = [
        np.column_stack([np.delete(ratings, at, axis=1) if n_raters > 1 else ratings, scores])
        for at in range(n_raters)
    ]
    found = [one for place in places if (one := icc(place)) is not None]
    return Icc(
        float(np.mean(found)) if found else None,
        icc(ratings) if n_raters > 1 else None,
        int(whole.sum()),
    )


@dataclass(frozen=True)
class Constant:
    """The best answer that never changes."""

    answer: float
    agreement: float
    """Share of a text's raters who gave it, averaged over texts."""


def best_constant(texts: OwnTexts) -> Constant | None:
    """The class that raters gave most, and how far a judge that always gives it would agree; None for scores."""
    if texts.kind == SCORES or not texts.ratings.size:
        return None
    rated = ~np.isnan(texts.ratings)
    counts = rated.sum(axis=1)
    shares = {
        value: float(np.average((texts.ratings == value).sum(axis=1) / counts, weights=texts.weights))
        for value in texts.scale.classes
    }
    answer = max(shares, key=lambda value: shares[value])
    return Constant(answer, shares[answer])
