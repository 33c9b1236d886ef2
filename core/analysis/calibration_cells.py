"""One cell of a calibration: how far raters agree with each other, and an evaluator with them and their majority."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.calibration_classes import MIXED, Labelled
from core.schema.scores import METHODS
from core.stats import correlation
from core.stats.agreement import fleiss_kappa, gwet_ac1
from core.stats.constant import Constant, constant
from core.stats.labels import (
    AGREEMENT_KINDS,
    agreement_kinds,
    full_agreement,
    majority_labels,
    top_class_bias,
    weighted_f1,
)
from core.stats.many_ratios import mean_estimates
from core.stats.pairwise_f1 import pairwise_agreement, pairwise_f1
from core.stats.resampling import Estimate, resampled_estimate
from core.stats.scaled_alpha import interval_alpha, ordinal_alpha
from core.stats.votes import MISSING, Codes

STATISTICS: Mapping[str, str] = {
    "raters_pairwise": "Two raters equal",
    "pairwise": "Evaluator and a rater equal",
    "gap": "Evaluator among the raters",
    "raters_agreement": "Raters: all equal",
    "raters_f1": "Raters: weighted F1",
    "raters_kappa": "Raters: Fleiss' kappa",
    "raters_alpha": "Raters: Krippendorff's alpha",
    "raters_ac1": "Raters: Gwet's AC1",
    "agreement": "Majority and evaluator: equal",
    "f1": "Majority and evaluator: weighted F1",
    "kappa": "Majority and evaluator: Fleiss' kappa",
    "alpha": "Majority and evaluator: Krippendorff's alpha",
    "ac1": "Majority and evaluator: Gwet's AC1",
    "top_majority": "Top class: majority",
    "top_evaluator": "Top class: evaluator",
    "bias": "Bias towards the top class",
    "bias_agreed": "Bias where raters agree",
    "bias_disagreed": "Bias where raters disagree",
    "pearson": "Pearson with the mean rating",
    "spearman": "Spearman with the mean rating",
    "kendall": "Kendall with the mean rating",
    "shift": "Evaluator minus mean rating",
    "error": "Mean absolute error",
}
"""Of a cell, by name, in the order of tables. Classes have all but `pearson` and `error`, numbers only `OF_NUMBERS`."""
KAPPAS = ("raters_kappa", "kappa")
"""What 004's convention enters as 0 where it is undefined."""
_OF_UNITS = ("raters_alpha", "raters_kappa")
"""Statistics whose n is not that of the others beside them."""
OF_NUMBERS = ("raters_alpha", "alpha", "pearson", "spearman", "kendall", "shift", "error")
RANKS: tuple[correlation.Method, ...] = ("spearman", "kendall")
ONE_RATING = "one rating"
"""A kind of agreement for texts that only one person rated."""
NO_MAJORITY: Mapping[str, str] = {
    "drop": "raters are split, so there is no majority",
    "median": "raters are split, and the two middle votes differ",
    "middle": "raters are split, and none of them gave the middle class",
}
"""Why a text has no majority, by the rule for texts whose raters are split."""
OFF_SCALE = "the evaluator's score is off the scale"
NO_SCORE_OF_ANY = "no text has both a majority and a score"
OTHER_SCALE = "the evaluator's scores are not on the raters' scale"


@dataclass(frozen=True)
class Distribution:
    """Classes of the texts on which raters agree fully, partly or not at all (004, Figures 6 to 8)."""

    kind: str
    """One of AGREEMENT_KINDS, or ONE_RATING."""
    classes: tuple[float, ...]
    majority: tuple[int, ...]
    """Texts by class of the majority, over texts that have both."""
    evaluator: tuple[int, ...]
    """The same texts by class of the evaluator."""
    n_no_majority: int
    """Texts of this kind without a majority, in neither."""


@dataclass(frozen=True)
class Cell:
    """Texts of one group."""

    group: Mapping[str, str]
    """Column -> value."""
    classes: tuple[float, ...]
    """Worst first; empty: the ratings are taken for numbers."""
    why_numbers: str | None
    """Why ratings and scores are no classes; None: they are."""
    n: int
    """Texts that people rated and the evaluator scored."""
    n_items: int
    n_raters: int
    n_off_scale: int
    """Of these texts those whose score is off the scale: in the raters' own numbers alone."""
    left_out: Mapping[str, int]
    """Reason -> rated texts that are not used, or not in everything."""
    statistics: Mapping[str, Estimate]
    """By name, of STATISTICS; only those that apply: none where dimensions with different classes are together."""
    constant: Constant | None = None
    """The one score that the evaluator gave all texts, or nearly all; None: its scores vary."""
    distributions: tuple[Distribution, ...] = ()

    def get(self, name: str) -> Estimate | None:
        """A statistic; None where it does not apply."""
        return self.statistics.get(name)

    def n_used(self, names: Sequence[str]) -> int | None:
        """Texts that statistics side by side rest on: those of the first that counts texts; None: none applies."""
        return next((one.n for name in names if name not in _OF_UNITS and (one := self.get(name))), None)


def cell_of(group: Mapping[str, str], texts: Labelled, rule: str, options: Mapping[str, Any]) -> Cell:
    """The statistics of some texts. options: n_resamples, confidence_level, rng.

    Raters' own agreement is told over the texts that the evaluator scored, so that both are about the same ones.
    """
    used = texts.scored
    left = Counter(reason for reason in texts.reasons if reason is not None)
    texts = texts.only(used)
    n_off_scale = int(texts.off_scale.sum())
    if n_off_scale:
        left[OFF_SCALE] += n_off_scale
    common = {"clusters": texts.items, **options}
    distributions: tuple[Distribution, ...] = ()
    if texts.classes:
        majority = majority_labels(texts.votes, len(texts.classes), rule)
        statistics = _of_classes(texts, majority, common)
        distributions = _distributions(texts, majority)
        if split := int((majority == MISSING).sum()):
            left[NO_MAJORITY[rule]] += split
    else:
        statistics = {} if texts.why_numbers == MIXED else _of_numbers(texts, common)
    return Cell(
        group,
        texts.classes,
        texts.why_numbers,
        n=len(texts.scores),
        n_items=len(set(texts.items.tolist())),
        n_raters=int((~np.isnan(texts.ratings)).any(axis=0).sum()) if len(texts.scores) else 0,
        n_off_scale=n_off_scale,
        left_out=dict(left),
        statistics=statistics,
        constant=constant(texts.scores),
        distributions=distributions,
    )


def _of_classes(texts: Labelled, majority: Codes, common: Mapping[str, Any]) -> dict[str, Estimate]:
    k = len(texts.classes)
    pair = np.column_stack([majority, texts.evaluator])
    both = (pair != MISSING).all(axis=1)
    pair_common = {**common, "clusters": texts.items[both]}
    pair, n_lost = pair[both], int((~both).sum())
    single = pairwise_agreement(texts.votes, texts.evaluator, k, **common)
    found = {
        "raters_pairwise": single.raters,
        "pairwise": single.evaluator,
        "gap": single.gap,
        "raters_agreement": full_agreement(texts.votes, k, **common),
        "raters_f1": pairwise_f1(texts.votes, k, **common),
        "raters_kappa": fleiss_kappa(texts.votes, n_categories=k, **common),
        "raters_alpha": ordinal_alpha(texts.votes, n_categories=k, **common),
        "raters_ac1": gwet_ac1(texts.votes, n_categories=k, **common),
        "agreement": full_agreement(pair, k, **pair_common),
        "f1": weighted_f1(pair[:, 0], pair[:, 1], **pair_common),
        "kappa": fleiss_kappa(pair, n_ratings=2, n_categories=k, **pair_common),
        "alpha": ordinal_alpha(pair, n_categories=k, **pair_common),
        "ac1": gwet_ac1(pair, n_categories=k, **pair_common),
    }
    for name in ("agreement", "f1", "kappa", "alpha", "ac1"):
        found[name] = replace(found[name], n_left_out=n_lost)
        if not len(pair):
            found[name] = replace(found[name], reason=NO_SCORE_OF_ANY)
    found |= _bias(texts, majority, common) | _beside_the_mean(texts, RANKS, common)
    return {name: _of_texts(one) for name, one in found.items()}


def _bias(texts: Labelled, majority: Codes, common: Mapping[str, Any]) -> dict[str, Estimate]:
    """Over all texts, and where raters agree or disagree."""
    k = len(texts.classes)
    kinds = agreement_kinds(texts.votes, k)
    full = AGREEMENT_KINDS.index("full")
    whole = top_class_bias(majority, texts.evaluator, k, **common)
    found = {"top_majority": whole.majority, "top_evaluator": whole.evaluator, "bias": whole.bias}
    for name, where in {"bias_agreed": kinds == full, "bias_disagreed": kinds > full}.items():
        part = {**common, "clusters": texts.items[where]}
        one = top_class_bias(majority[where], texts.evaluator[where], k, **part).bias
        found[name] = one if where.any() else replace(one, reason=f"no text on which raters {_SAID[name]}")
    return found


_SAID = {"bias_agreed": "agree", "bias_disagreed": "disagree"}


def _of_numbers(texts: Labelled, common: Mapping[str, Any]) -> dict[str, Estimate]:
    """Correlations with the mean rating, the error on a scale that both share, and raters' alpha."""
    beside = _beside_the_mean(texts, METHODS, common)
    if not len(texts.scores):
        return dict.fromkeys(OF_NUMBERS, beside["shift"])
    pair = np.column_stack([texts.mean_ratings, texts.scores])
    (error,) = mean_estimates(np.abs(pair[:, :1] - pair[:, 1:]), **common)
    found = {
        "raters_alpha": interval_alpha(texts.ratings, **common),
        "alpha": interval_alpha(pair, **common),
        **beside,
        "error": error,
    }
    if not texts.one_scale:
        for name in ("alpha", "shift", "error"):
            found[name] = replace(
                found[name], estimate=None, low=None, high=None, reason=OTHER_SCALE, n_resamples=0
            )
    return {name: _of_texts(one) for name, one in found.items()}


def _beside_the_mean(
    texts: Labelled, methods: Sequence[correlation.Method], common: Mapping[str, Any]
) -> dict[str, Estimate]:
    """How the evaluator's scores order the texts by their mean rating, and how far above or below it they lie."""
    mean = texts.mean_ratings
    if not len(mean):
        nothing = resampled_estimate(
            np.nan,
            None,
            n=0,
            n_clusters=0,
            confidence_level=common["confidence_level"],
            reason="no text was rated and scored",
        )
        return dict.fromkeys((*methods, "shift"), nothing)
    by_method = correlation.correlate_columns(
        texts.scores[:, None], mean, methods, names=("scores", "ratings"), **common
    )[0]
    (shift,) = mean_estimates((texts.scores - mean)[:, None], **common)
    return {method: by_method[method] for method in methods} | {"shift": shift}


def _of_texts(found: Estimate) -> Estimate:
    """The estimate with its reason in terms of texts: the statistics speak of pairs and units."""
    if found.reason is None:
        return found
    return replace(found, reason=found.reason.replace("pair", "text").replace("unit", "text"))


def _distributions(texts: Labelled, majority: Codes) -> tuple[Distribution, ...]:
    k = len(texts.classes)
    kinds = agreement_kinds(texts.votes, k)
    named: list[tuple[str, NDArray[np.bool_]]] = [
        (name, np.asarray(kinds == code)) for code, name in enumerate(AGREEMENT_KINDS)
    ]
    named.append((ONE_RATING, np.asarray(kinds == MISSING)))
    counted = (majority != MISSING) & (texts.evaluator != MISSING)
    return tuple(
        Distribution(
            name,
            texts.classes,
            _counts(majority[where & counted], k),
            _counts(texts.evaluator[where & counted], k),
            int((where & (majority == MISSING)).sum()),
        )
        for name, where in named
        if where.any()
    )


def _counts(codes: Codes, k: int) -> tuple[int, ...]:
    return tuple(np.bincount(codes, minlength=k).tolist())
