"""Numbers that describe a judge beside people: agreement, kappa, AC1, correlation, bias, the best constant answer."""

from dataclasses import dataclass

import numpy as np

from core.results.check.texts import OwnTexts, shares_of
from core.schema.scale import SCORES
from core.schema.uses import CheckOptions
from core.stats.agreement import cohen_kappa, gwet_ac1, intraclass_correlation
from core.stats.correlation.panels import panel_correlation
from core.stats.resampling import Estimate, Floats, mean_share, with_agresti_min
from core.stats.votes import MISSING


def agreements(own: OwnTexts, options: CheckOptions) -> tuple[Estimate, Estimate]:
    """Share of a text's raters who gave the judge's class, and of its pairs of raters that agree, on the same texts."""
    judge, raters = (
        mean_share(one, own.items, weights=own.weights, confidence_level=options.confidence_level)
        for one in shares_of(own)
    )
    return judge, raters


def kappa_and_ac1(own: OwnTexts, options: CheckOptions) -> tuple[Estimate | None, Estimate | None]:
    """Cohen's kappa and Gwet's AC1 of the judge with the raters: each text counts once for each rater."""
    if own.measure != "agreement":
        return None, None
    votes, judged = own.votes()
    rows, raters = np.nonzero(votes != MISSING)
    pairs = np.column_stack([votes[rows, raters], judged[rows]])
    found = []
    for statistic in (cohen_kappa, gwet_ac1):
        one = statistic(
            pairs,
            clusters=own.items[rows],
            n_categories=own.n_classes,
            n_resamples=0,
            confidence_level=options.confidence_level,
        )
        found.append(one.by_jackknife)
    return found[0], found[1]


def correlation_of(own: OwnTexts, options: CheckOptions) -> Estimate | None:
    """Spearman's correlation of the judge with the mean of a text's raters; None for labels without an order."""
    if not own.ordered:
        return None
    found = panel_correlation(
        own.scores,
        own.means[:, None],
        clusters=own.items,
        confidence_level=options.confidence_level,
        rng=options.rng,
    )
    return found.judge


def bias_of(own: OwnTexts, options: CheckOptions) -> Estimate | None:
    """Mean of judge minus raters, as a share of the scale; None where the judge uses another one or labels have no order."""
    if not own.same_scale:
        return None
    low, high = min(own.ends[0], own.scores.min()), max(own.ends[1], own.scores.max())
    if high <= low:  # all are equal: the bias is 0, on any scale
        high = low + 1
    differences = (own.scores - own.means) / (high - low)
    step = float(np.diff(np.sort(own.classes)).min() / (high - low)) if own.classes else 0.0
    return with_agresti_min(
        differences,
        own.items,
        largest=max(float(np.abs(differences).max()), step) or 1.0,
        weights=own.weights,
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


def icc_in_place(own: OwnTexts) -> Icc | None:
    """Intraclass correlations of the judge and of the raters; None where the judge uses another scale or labels have no order."""
    if not own.same_scale:
        return None
    whole = ~np.isnan(own.ratings).any(axis=1)
    ratings, scores = own.ratings[whole], own.scores[whole]
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


def best_constant(own: OwnTexts) -> Constant | None:
    """The class that raters gave most, and how far a judge that always gives it would agree; None for scores."""
    if own.kind == SCORES or not own.ratings.size:
        return None
    rated = ~np.isnan(own.ratings)
    counts = rated.sum(axis=1)
    shares = {
        value: float(np.average((own.ratings == value).sum(axis=1) / counts, weights=own.weights))
        for value in own.scale.classes
    }
    answer = max(shares, key=lambda value: shares[value])
    return Constant(answer, shares[answer])
