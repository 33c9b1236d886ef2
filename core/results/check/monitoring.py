"""Whether a judge's mean can be followed: its bias, how far it moves when quality does, and its bias where people rate low or high."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.results.cells import ends_said
from core.results.check.rules import LEVEL, Rule, add_labels_needed, decimals_for, state_rule
from core.results.check.texts import OwnTexts
from core.schema.uses import CheckOptions
from core.stats.multiplicity import interval_p
from core.stats.resampling import Estimate, agresti_min_mean
from core.stats.responsiveness import Responsiveness, responsiveness

CAUTION = 2
"""By which p of responsiveness over texts is multiplied to be shown: the jackknife's t interval is a little too short. Simulated:
docs/simulations/monitor.md; over means of systems it is not."""
THIRDS = ("low", "middle", "high")
"""Where people rate low, in the middle, high."""


@dataclass(frozen=True)
class Third:
    """The judge's bias where a rater's rating lies in one third of the ratings."""

    name: str
    lowest: float
    """Ratings of this third."""
    highest: float
    bias: Estimate
    """Mean of judge minus another rater than the one whose rating chose the text, as a share of the scale."""


def rule_of_bias(bias: Estimate | None, texts: OwnTexts, options: CheckOptions) -> Rule:
    """The mean difference from the raters lies within the tolerance, on both sides."""
    wanted, limit = f"bias within {options.tolerance:g} of the scale on both sides", options.tolerance
    if bias is None:
        return state_rule("bias", wanted, _why_no_means(texts), None, limit=limit)
    said = f"bias {ends_said(bias, decimals_for(bias, limit))} of the scale, limit {limit:g} on both sides"
    if bias.estimate is None or bias.low is None or bias.high is None:
        return Rule("bias", wanted, bias, limit, f"{said}: {bias.reason or bias.interval_reason}")
    level = bias.confidence_level
    sides = [
        interval_p(side * bias.estimate, *ends, null=limit, confidence_level=level)
        for side, ends in ((1, (bias.low, bias.high)), (-1, (-bias.high, -bias.low)))
    ]
    beyond = [side * bias.estimate > limit for side in (1, -1)]
    shown = [None if p is None else 1 - p / 2 if out else p / 2 for p, out in zip(sides, beyond, strict=True)]
    known = [p for p in shown if p is not None]
    within = max(bias.high, -bias.low) < limit
    outside = bias.low > limit or bias.high < -limit
    rule = Rule(
        "bias",
        wanted,
        bias,
        limit,
        said,
        max(known) if within and known else None if not known else max(*known, LEVEL),
        min(1 - p for p in known) if outside and known else None,
    )
    return add_labels_needed(rule, bias.n_clusters)


def _why_no_means(texts: OwnTexts) -> str:
    if not texts.ordered:
        return "labels without an order have no mean"
    return "the judge's scores lie outside the raters' scale: their means cannot be compared"


def responsiveness_of(texts: OwnTexts, options: CheckOptions) -> Responsiveness | None:
    """How far the judge moves when quality moves by 1; None where the judge uses another scale or labels have no order."""
    if not texts.same_scale:
        return None
    return responsiveness(
        texts.scores,
        texts.ratings,
        least=options.least_responsive,
        most=options.most_responsive,
        clusters=texts.items,
        groups=texts.systems,
        weights=texts.weights,
        confidence_level=options.confidence_level,
    )


def rule_of_responsiveness(measured: Responsiveness | None, texts: OwnTexts, options: CheckOptions) -> Rule:
    """The judge moves about as far as quality does. With one rater only its lowest responsiveness can be known."""
    least, most = options.least_responsive, options.most_responsive
    wanted = f"quality +1 moves the judge by {least:g} to {most:g}"
    if measured is None:
        return state_rule("responsiveness", wanted, _why_no_means(texts), None, limit=least)
    ratio = measured.estimate
    limit = most if ratio.estimate is not None and ratio.estimate > 1 else least
    if ratio.estimate is None:
        why = f"nobody knows how far the judge follows quality: {ratio.reason}"
        return Rule("responsiveness", wanted, ratio, limit, why)
    means = f" (means of {ratio.n_clusters:,} systems)" if measured.of_groups else ""
    if measured.of_one_rater:
        why = (
            f"quality +1 moves the judge at least {_moved(ratio)}{means}, but with one rater nobody knows how much more: "
            "label some texts twice"
        )
        return Rule("responsiveness", wanted, ratio, limit, why, broken=measured.most.above)
    why = f"quality +1 moves the judge {_moved(ratio)}{means}; {least:g} to {most:g} must be shown"
    rule = Rule("responsiveness", wanted, ratio, limit, why)
    sides = [p for p in (measured.least.above, measured.most.below) if p is not None]
    outside = [p for p in (measured.least.below, measured.most.above) if p is not None]
    if len(sides) < 2 or measured.people_move is None:
        return replace(rule, why=f"{why}: nothing varies")
    rule = replace(
        rule,
        shown=min(1.0, max(sides) * (1 if measured.of_groups else CAUTION)),
        # Where raters are not shown to agree, nobody knows whether they or the judge are at fault.
        broken=min(outside) if measured.people_move < LEVEL else None,
    )
    return add_labels_needed(rule, int(np.unique(texts.items).size))


def _moved(ratio: Estimate) -> str:
    said = ends_said(ratio, 2)
    return said if said.startswith(("-", "+")) else f"+{said}"


def bias_in_thirds(texts: OwnTexts, options: CheckOptions) -> tuple[Third, ...]:
    """The bias where raters rate low, in the middle and high; empty unless texts have two raters on the judge's scale.

    One rater's rating chooses the third of a text, by its mid-rank among all ratings, and another rater is compared with the
    judge. Against the same rater, a rating that is low by chance would look like a judge that is too high.
    """
    n_raters = (~np.isnan(texts.ratings)).sum(axis=1)
    if not texts.same_scale or not (n_raters > 1).any():
        return ()
    texts = texts.only(n_raters > 1)
    n_raters = n_raters[n_raters > 1]
    values, counts = np.unique(texts.ratings[~np.isnan(texts.ratings)], return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    of_value = np.minimum((len(THIRDS) * middle).astype(np.int64), len(THIRDS) - 1)
    if values.size == 2:  # two ratings are low and high, whatever their shares
        of_value = np.array([0, len(THIRDS) - 1])
    known = ~np.isnan(texts.ratings)
    third = np.where(known, of_value[np.searchsorted(values, np.where(known, texts.ratings, values[0]))], -1)
    others = (np.nansum(texts.ratings, axis=1)[:, None] - texts.ratings) / (n_raters - 1)[:, None]
    low, high = min(texts.ends[0], texts.scores.min()), max(texts.ends[1], texts.scores.max())
    apart = (texts.scores[:, None] - others) / max(high - low, 1e-12)
    found = []
    for at, name in enumerate(THIRDS):
        chosen = third == at
        places = chosen.sum(axis=1)
        there = places > 0
        if not there.any():
            continue
        differences = np.where(chosen, apart, 0.0).sum(axis=1)[there] / places[there]
        weights = (places / n_raters)[there] * (1.0 if texts.weights is None else texts.weights[there])
        bias = agresti_min_mean(
            differences,
            texts.items[there],
            largest=float(np.abs(differences).max()) or 1.0,
            weights=weights,
            confidence_level=options.confidence_level,
        )
        of_third = values[of_value == at]
        found.append(Third(name, float(of_third[0]), float(of_third[-1]), bias))
    return tuple(found)


def third_beyond_tolerance(
    thirds: Sequence[Third], bias: Estimate | None, options: CheckOptions
) -> Third | None:
    """The third with the largest bias, if its interval lies beyond the tolerance while the mean of all texts is within it."""
    limit = options.tolerance
    if bias is None or bias.estimate is None or abs(bias.estimate) > limit:
        return None
    out = [
        one
        for one in thirds
        if one.bias.low is not None
        and one.bias.high is not None
        and (one.bias.low > limit or one.bias.high < -limit)
    ]
    return max(out, key=lambda one: abs(one.bias.estimate or 0.0), default=None)
