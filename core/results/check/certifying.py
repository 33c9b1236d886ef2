"""Whether at least a target share of a system's answers are good: people's labels on some, weighted by the judge's answers to all."""

from dataclasses import dataclass, replace
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from core.results.answers import NO_SCORE, answer_said
from core.results.cells import percent_said
from core.results.check.rules import FEWEST_ITEMS, LEVEL, MOST_LABELS, POWER, Rule, Verdict, verdict_of
from core.results.check.texts import lowest_pass, own_texts
from core.schema.panel import Panel
from core.schema.scale import Scale
from core.schema.uses import CheckOptions
from core.stats.resampling import Estimate, Floats
from core.stats.strata import (
    MOST_ANSWERS,
    SELECTED,
    Stratified,
    Stratum,
    answers_of,
    selection_p,
    stratified_mean,
)
from core.tables.columns import ONLY_SYSTEM
from core.tables.reading import shown


@dataclass(frozen=True)
class Certificate:
    """One system: the share of its answers that are good, and whether it is shown to reach the target."""

    system: str
    """Empty where the file names no system."""
    rule: Rule
    estimate: Estimate
    """Share of good answers, by the judge's answers. Its one-sided bounds decide: the level is divided by systems and judges."""
    strata: tuple[Stratum, ...]
    """By the judge's answer; `key` is what it says."""
    n_texts: int
    n_labels: int
    n_items: int
    """Items with a label."""

    @property
    def verdict(self) -> Verdict:
        """TRUSTED if the target is shown to be reached, NOT TRUSTED if it is shown to be missed."""
        return verdict_of([self.rule])

    @property
    def claim(self) -> str:
        """What the verdict says of the system: `TRUSTED: at least 90 % of the answers of pipeline are good`."""
        share = self.rule.wanted.removeprefix("at least ")
        return {
            "TRUSTED": f"TRUSTED: at least {share}",
            "NOT TRUSTED": f"NOT TRUSTED: less than {share}",
            "INCONCLUSIVE": f"INCONCLUSIVE whether at least {share}",
        }[self.verdict]


def systems_of(panel: Panel) -> tuple[str, ...]:
    """The systems of the panel, sorted."""
    return tuple(sorted(set(panel.systems.tolist())))


def passes(ratings: Floats, scale: Scale, options: CheckOptions) -> Floats:
    """Whether each text is good: 1 where more than half of its raters pass it, else 0; NaN without a rating. Shape (n,).

    ratings: shape (n, raters). `passes_problems` is empty.
    """
    lowest = lowest_pass(scale, options.passes_from)
    if scale.kind == "unordered":
        good = ratings == lowest
    else:
        good = ratings >= (scale.classes[-1] if lowest is None else lowest)
    known = ~np.isnan(ratings)
    n_raters = known.sum(axis=1)
    majority = 2 * (good & known).sum(axis=1) > n_raters
    return np.where(n_raters > 0, majority.astype(np.float64), np.nan)


def passes_problems(scale: Scale, options: CheckOptions) -> list[str]:
    """What keeps an answer from being good or not: no lowest pass where the scale has more than two classes."""
    if options.passes_from is None:
        if scale.kind == "two":
            return []
        what = "the word that passes" if scale.kind == "unordered" else "the lowest rating that passes"
        return [f"passes_from: certify needs {what}; the ratings are {scale.said}"]
    value = lowest_pass(scale, options.passes_from)
    if value is None or (scale.kind == "two" and value not in scale.classes):
        return [f"passes_from: {options.passes_from} is no rating; the ratings are {scale.said}"]
    return lowest_pass_problems(scale, value, options)


def lowest_pass_problems(scale: Scale, value: float | None, options: CheckOptions) -> list[str]:
    """A lowest pass that every rating of the scale reaches, or none."""
    if value is None or scale.ends is None or not scale.ordered or scale.ends[0] < value <= scale.ends[1]:
        return []
    return [
        f"passes_from: {options.passes_from} leaves {'no rating' if value > scale.ends[1] else 'every rating'} as a pass; the ratings "
        f"are {scale.said}"
    ]


def certified(panel: Panel, judge: int, options: CheckOptions, n_tests: int) -> tuple[Certificate, ...]:
    """A certificate for each system, before the rules are decided. judge: its column; n_tests: certificates in all."""
    own = own_texts(panel, judge, unscored=True)
    weights = np.ones(len(panel.ratings))
    if own.weights is not None:
        weights[own.rows] = own.weights
    return tuple(_certified(panel, judge, weights, system, options, n_tests) for system in systems_of(panel))


def _certified(
    panel: Panel, judge: int, weights: Floats, system: str, options: CheckOptions, n_tests: int
) -> Certificate:
    rows = np.flatnonzero(panel.systems == system)
    good = passes(panel.ratings[rows], panel.scale, options)
    labelled = ~np.isnan(good)
    answers = _answers(panel.scores[rows, judge], labelled, panel.scale)
    # The interval of a stratum and of all texts has two sides, each at the level of the certificate.
    level = 1 - 2 * LEVEL / n_tests
    share = stratified_mean(
        good,
        answers,
        bound="exact",
        clusters=panel.items[rows],
        weights=weights[rows],
        finite=options.population == "these",
        confidence_level=level,
    )
    name = "" if system == ONLY_SYSTEM else system
    n_items = int(np.unique(panel.items[rows][labelled]).size)
    rule = _rule(name, share, n_items, options, n_tests)
    chosen = _chosen_otherwise(panel.scores[rows, judge], labelled, answers, panel.items[rows], weights[rows])
    if chosen and share.n_labelled:
        rule = replace(rule, shown=None, broken=None, labels_needed=None, why=f"{rule.why}; {chosen}")
    return Certificate(name, rule, share.estimate, share.strata, rows.size, int(labelled.sum()), n_items)


def _chosen_otherwise(
    scores: Floats, labelled: NDArray[np.bool_], answers: list[str], items: NDArray[np.int64], weights: Floats
) -> str:
    """Why labelled texts cannot stand for those with the same answer: their scores differ. Empty where nothing shows it."""
    if np.ptp(weights) > 0:  # drawn with known probabilities
        return ""
    known = ~np.isnan(scores)
    filled = np.where(known, scores, scores[known].mean() if known.any() else 0.0)
    p = selection_p(labelled, answers, filled, items)
    if p is None or p >= SELECTED:
        return ""
    return f"labelled texts differ in the judge's scores from those that they stand for (p {p:.2g}): label texts at random"


def _answers(scores: Floats, labelled: NDArray[np.bool_], scale: Scale) -> list[str]:
    """What the judge says of each text, as strata: its score or class, a range of scores, or no score."""
    known = ~np.isnan(scores)
    index = answers_of(scores, labelled, each=np.unique(scores[known]).size <= MOST_ANSWERS)
    names = {
        at: answer_said(float(values.min()), float(values.max()), scale)
        for at in np.unique(index[known])
        if (values := scores[index == at]).size
    }
    return [names.get(at, NO_SCORE) for at in index]


def _rule(name: str, share: Stratified, n_items: int, options: CheckOptions, n_tests: int) -> Rule:
    target, found = options.target, share.estimate
    whose = f"the answers of {shown(name)}" if name else "the answers"
    wanted = f"at least {target_said(target)} of {whose} are good"
    counted = f"by labels of {share.n_labelled:,} of {found.n:,} texts"
    if not share.n_labelled:
        return Rule("good", wanted, found, target, f"none of its {found.n:,} texts has a label: label some")
    assert found.low is not None
    assert found.high is not None
    if found.estimate is None:
        why = (
            f"{100 * found.low:.1f} to {100 * found.high:.1f} % {counted}; {100 * share.open_share:.0f} % of the texts have an answer "
            "of the judge that no labelled text has: label some of them"
        )
        sides = (0.0 if found.low > target else None, 0.0 if found.high < target else None)
    else:
        why = f"{_share_said(found, target)} {counted}"
        sides = _sides(found, target, n_tests)
        if share.open_share > 0:
            why += f"; no text like {100 * share.open_share:.1f} % of them is labelled, so these may all fail or all pass"
    rule = Rule("good", wanted, found, target, why, *sides)
    if n_items < FEWEST_ITEMS:
        few = f"{why}; at least {FEWEST_ITEMS} labelled items are needed, not {n_items:,}"
        return replace(rule, shown=None, why=few, labels_needed=FEWEST_ITEMS)
    further, reason = _further(share, target, n_tests, finite=options.population == "these")
    if further is None:
        return replace(rule, why=f"{why}; {reason}" if _open(rule, n_tests) else why)
    return replace(rule, labels_needed=ceil(n_items * (1 + further / share.n_labelled)))


def _open(rule: Rule, n_tests: int) -> bool:
    level = LEVEL / n_tests
    return not any(p is not None and p < level for p in (rule.shown, rule.broken))


def target_said(target: float) -> str:
    """The target in words: `90 %`."""
    return f"{100 * target:g} %"


def _share_said(estimate: Estimate, target: float) -> str:
    """A share with its interval, with one decimal where an end would look like the target."""
    ends = [end for end in (estimate.low, estimate.high) if end is not None]
    if not any(round(100 * end) == round(100 * target) for end in ends):
        return percent_said(estimate)
    low, high = (f"{100 * end:.1f}" for end in ends)
    return f"{100 * (estimate.estimate or 0.0):.1f} % [{low}, {high}]"


def _sides(estimate: Estimate, target: float, n_tests: int) -> tuple[float, float]:
    """P of the share lying at most, and at least, at the target: from the distance of the bound, so that both agree."""
    from scipy.special import ndtr, ndtri  # imported lazily: most commands need no quantile

    assert estimate.estimate is not None
    assert estimate.low is not None
    assert estimate.high is not None
    z = -float(ndtri(LEVEL / n_tests))
    p = []
    for side, end in ((1, estimate.low), (-1, estimate.high)):
        reach, distance = side * (estimate.estimate - end), side * (estimate.estimate - target)
        # Without a reach all texts have labels, and exactly these are meant: the target itself is reached.
        p.append(float(ndtr(-z * distance / reach)) if reach > 1e-12 else float(distance < 0))
    return p[0], 1.0 if p[0] == 0.0 else p[1]


def _further(share: Stratified, target: float, n_tests: int, *, finite: bool) -> tuple[int | None, str]:
    """Further labels, chosen like those there are, that settle it in POWER of files if the shares stay; None, and why."""
    from scipy.special import ndtri  # imported lazily: most commands need no quantile

    estimate, n = share.estimate.estimate, share.estimate.n
    if estimate is None:
        return None, "nobody knows how many labels would settle it"
    wanted = float(ndtri(1 - LEVEL / n_tests) + ndtri(POWER))
    known = [part for part in share.strata if part.n_labelled]
    # One good and one bad answer more: a stratum without a miss would need no label.
    rates = [((part.mean.estimate or 0.0) * part.n_labelled + 1) / (part.n_labelled + 2) for part in known]
    spread = [part.share**2 * p * (1 - p) for part, p in zip(known, rates, strict=True)]
    of_labels = sum(s / part.n_labelled for part, s in zip(known, spread, strict=True))
    of_texts = sum(part.share * (p - estimate) ** 2 for part, p in zip(known, rates, strict=True)) / n
    if finite:  # labels of all texts leave nothing open
        of_texts = -sum(s / part.n for part, s in zip(known, spread, strict=True))
    room = ((estimate - target) / wanted) ** 2 - of_texts
    times = of_labels / room if room > 0 else np.inf
    further = share.n_labelled * (times - 1)
    if further > n - share.n_labelled:
        return None, f"not even labels of all {n:,} texts are likely to settle it: add texts"
    if further > MOST_LABELS:
        return None, f"more than {MOST_LABELS:,} further labels would be needed"
    if estimate > target:  # so many labels without a miss are needed at least
        further = max(further, log(LEVEL / n_tests) / log(target) - share.n_labelled)
    return max(ceil(further), 1), ""
