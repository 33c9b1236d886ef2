"""What a judge must show in the place of a rater, by the scale: rules with their p-values, and the verdict from them.

Each rule is tested twice at its limit: whether the judge is shown to keep it, and whether to break it. A judge is trusted if
every rule is shown; because all are needed, none is corrected for the others (Berger 1982, Technometrics 24:295), but the
level is divided by the number of judges. It is not trusted if one rule is shown to be broken, corrected by Holm for the
number of rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.results.cells import ends_said, percent_said
from core.results.check.texts import OwnTexts
from core.schema.scale import BY_NAME, SCORES
from core.schema.uses import CheckOptions
from core.stats import alt_test
from core.stats.correlation.coefficients import coefficient
from core.stats.correlation.panels import PanelCorrelation, panel_correlation
from core.stats.in_place import (
    NOTHING_ABOVE_CHANCE,
    ClassErrors,
    InPlace,
    class_errors,
    classes_in_place,
    paired_score,
    quadratic_kappa,
)
from core.stats.multiplicity import corrected, interval_p, rows_corrected
from core.stats.resampling import Estimate, Floats, agresti_min_mean, mean_share

Verdict = Literal["TRUSTED", "NOT TRUSTED", "INCONCLUSIVE"]
LEVEL = 0.05
"""Largest probability of a wrong TRUSTED, and of a wrong NOT TRUSTED."""
POWER = 0.8
"""Probability with which the labels that are named as still needed settle a rule."""
STRICTER, STRICTER_BROKEN = 4, 2
"""By which the level of coefficients is divided, to be shown and to be broken: where a judge's errors are rare and large, the
jackknife's t interval is too short (30 to 400 texts, a judge at the limit with 15 % of its labels shuffled: shown at .05 in .16 to
.09 of files, at .05 / 4 in .07 to .04)."""
FEWEST_ITEMS = 30
"""Items below which no judge is trusted: the Alt-test needs as many for its t-test."""
WITHOUT_A_MISS = 29
"""Texts off the commonest class from which a judge that never differs from people counts as shown: 0.9 to the 29th is below
LEVEL."""
FEW_FOR_LEAD = 100
"""Texts of a rater below which the Alt-test's t-test is joined by the score test of the rater's lead."""
MOST_LABELS = 10_000
"""Most items that a result names as needed; beyond, the estimate lies at the limit."""


@dataclass(frozen=True)
class Rule:
    """One rule of a use, and what was found."""

    code: str
    """Stable name, such as `false-passes`."""
    wanted: str
    """The rule in words."""
    estimate: Estimate | None
    limit: float | None
    """On the scale of `found`."""
    why: str
    """What was found, in words."""
    shown: float | None = None
    """p of the judge not keeping the limit: small where it is shown to keep it; None where nothing can be shown."""
    broken: float | None = None
    """p of the judge keeping the limit: small where it is shown to break it."""
    strict: bool = False
    """Whether it is tested at a part of the level (STRICTER, STRICTER_BROKEN)."""
    met: bool | None = None
    """True: shown; False: shown to be broken, corrected for the number of rules; None: open."""
    labels_needed: int | None = None
    """Items in all from which the rule would be settled in POWER of files, if the estimate stays."""
    of_class: str = ""
    """The texts that the rule is about, such as `failed`; empty: all."""
    class_needed: int | None = None
    """Texts of this class that `labels_needed` holds."""
    behind: ClassErrors | InPlace | None = None


def compared_numbers(rule: Rule) -> tuple[Estimate, Estimate, float | None] | None:
    """The judge's number, people's on the same texts, and the limit beside it; None for a rule that compares no such numbers."""
    if rule.behind is None or rule.code == "kept-share":
        return None
    judge, people = rule.behind.judge, rule.behind.people
    limit = None if people.estimate is None or rule.limit is None else people.estimate + rule.limit
    return judge, people, limit


def state_rule(
    code: str,
    wanted: str,
    why: str,
    met: bool | None,
    *,
    limit: float | None = None,
    labels_needed: int | None = None,
) -> Rule:
    """A rule without a test: it is met, failed or open."""
    shown, broken = (0.0 if met else None), (0.0 if met is False else None)
    return Rule(code, wanted, None, limit, why, shown, broken, labels_needed=labels_needed)


def decided(rules: Sequence[Rule], *, n_judges: int = 1) -> tuple[Rule, ...]:
    """The rules with their state. n_judges: judges of which each could be trusted by chance."""
    paid = corrected(
        [None if one.broken is None else one.broken * _stricter(one, STRICTER_BROKEN) for one in rules]
    )
    found = []
    for one, p in zip(rules, paid, strict=True):
        level = LEVEL / n_judges / _stricter(one, STRICTER)
        broken, shown = p is not None and p < LEVEL, one.shown is not None and one.shown < level
        found.append(replace(one, met=False if broken else True if shown else None))
    return tuple(found)


def _stricter(rule: Rule, by: int) -> int:
    return by if rule.strict else 1


def verdict_of(rules: Sequence[Rule]) -> Verdict:
    """NOT TRUSTED if a rule failed, TRUSTED if all are met, else INCONCLUSIVE."""
    if any(one.met is False for one in rules):
        return "NOT TRUSTED"
    return "TRUSTED" if rules and all(one.met for one in rules) else "INCONCLUSIVE"


# --- tests of one number -----------------------------------------------------------------------


def limit_p_values(
    estimate: Estimate, limit: float, *, perfect: bool = False
) -> tuple[float | None, float | None]:
    """p-values of the number lying below and above the limit, from its t interval over items.

    perfect: whether a number that no item moves counts as shown, because enough texts could have moved it.
    """
    if estimate.estimate is None:
        return None, None
    distance = estimate.estimate - limit
    if estimate.low is None or estimate.high is None:
        return (0.0, 1.0) if perfect and distance > 0 else (None, None)
    from scipy.special import stdtr, stdtrit  # imported lazily: most commands need no quantile

    df = max(estimate.n_clusters - 1, 1)
    error = (estimate.high - estimate.low) / 2 / float(stdtrit(df, (1 + estimate.confidence_level) / 2))
    if error <= 0:
        return None, None
    return float(stdtr(df, -distance / error)), float(stdtr(df, distance / error))


def labels_needed(p: float, n: int, *, level: float = LEVEL) -> int:
    """Units in all with which a p this small, found from n of them, falls to the level in POWER of files.

    The statistic grows with the root of their number. Beyond MOST_LABELS ten times as many are returned.
    """
    from scipy.special import ndtri  # imported lazily: most commands need no quantile

    z = -float(ndtri(max(p, 1e-12)))
    if z <= 0.05:
        return 10 * MOST_LABELS
    wanted = float(ndtri(1 - level)) + float(ndtri(POWER))
    return min(ceil(n * (wanted / z) ** 2), 10 * MOST_LABELS)


def add_labels_needed(rule: Rule, n_items: int, n_of_class: int | None = None) -> Rule:
    """The rule with the labels that would settle it. n_items: items now; n_of_class: texts of its class now."""
    known = [p for p in (rule.shown, rule.broken) if p is not None]
    if not known or n_items < 1:
        return rule
    level = LEVEL / _stricter(rule, STRICTER if rule.shown == min(known) else STRICTER_BROKEN)
    needed = labels_needed(min(known), n_items, level=level)
    needed = max(needed, FEWEST_ITEMS)
    of_class = None if n_of_class is None else ceil(needed * n_of_class / n_items)
    return replace(rule, labels_needed=needed, class_needed=of_class)


def interval_rule(code: str, wanted: str, what: str, estimate: Estimate, limit: float) -> Rule:
    """The rule that a number is at least the limit, from its interval. A bound equal to the limit shows nothing."""
    if estimate.estimate is None:
        return Rule(code, wanted, estimate, limit, f"{what} is undefined: {estimate.reason}")
    two = interval_p(
        estimate.estimate, estimate.low, estimate.high, null=limit, confidence_level=estimate.confidence_level
    )
    if estimate.low is None or estimate.high is None:
        return Rule(
            code,
            wanted,
            estimate,
            limit,
            f"{what} {ends_said(estimate, 2)}; no interval: {estimate.interval_reason}",
        )
    near, far = (0.0, 1.0) if two is None else (two / 2, 1 - two / 2)  # None: no resample differs
    shown, broken = (near, far) if estimate.estimate > limit else (far, near)
    beyond = estimate.low > limit, estimate.high < limit
    lies = "lies above" if beyond[0] else "lies below" if beyond[1] else "may lie above or below"
    places = decimals_for(estimate, limit)
    said = f"{what} {ends_said(estimate, places)} {lies} {limit:.{places}f}"
    rule = Rule(
        code,
        wanted,
        estimate,
        limit,
        said,
        shown if beyond[0] else max(shown, LEVEL),
        broken if beyond[1] else max(broken, LEVEL),
    )
    return add_labels_needed(rule, estimate.n_clusters)


def decimals_for(estimate: Estimate, limit: float) -> int:
    """Two decimals, and a third where two would show the limit as equal to a number that it is compared with."""
    known = [one for one in (estimate.estimate, estimate.low, estimate.high) if one is not None]
    return 3 if f"{limit:.2f}" in {f"{abs(one):.2f}" for one in known} else 2


# --- rules by scale ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """What the rules of a scale compare: the judge's values with those of its raters, on the same texts."""

    rated: OwnTexts
    judge: Floats
    """Shape (n,): codes of classes, NaN for none; or numbers, filled where there is no score."""
    votes: Floats
    """Shape (n, raters), as the judge."""
    weights: Floats | None

    @property
    def n_items(self) -> int:
        """Items with two raters."""
        two = (~np.isnan(self.votes)).sum(axis=1) > 1
        return int(np.unique(self.rated.items[two]).size)


def compared(texts: OwnTexts, weights: Floats | None) -> Compared:
    """Judge and raters as the rules of their scale read them. texts: texts without a score among them count as errors."""
    if texts.kind in BY_NAME:
        classes = np.array(texts.scale.classes)

        def codes(values: Floats, other: float) -> Floats:
            hit = values[..., None] == classes
            found = np.where(hit.any(axis=-1), hit.argmax(axis=-1), other)
            return np.where(np.isnan(values), np.nan, found).astype(np.float64)

        judge, votes = codes(texts.scores, np.nan), codes(texts.ratings, np.nan)
        return Compared(texts, judge, votes, weights)
    return Compared(texts, _filled(texts), texts.ratings, weights)


def _filled(texts: OwnTexts) -> Floats:
    """The judge's scores; where there is none, the end farther from the mean of that text's raters.

    Where both ends are equally far: the end on the other side of people's mean over all texts, which lowers the covariance with
    people more; else the end farther from the judge's mean; else the end with the lower rank correlation. So a scale that is turned
    turns the result and nothing else.
    """
    missing = np.isnan(texts.scores)
    if not missing.any() or missing.all():
        return texts.scores
    (low, high), means = texts.ends, texts.means
    middle = (low + high) / 2
    if texts.kind == SCORES and not texts.on_scale:  # ends of another scale: those of the judge's own scores
        low, high = float(np.nanmin(texts.scores)), float(np.nanmax(texts.scores))
        middle = float(np.median(means))
    level = np.isclose(means, middle)

    def filled(of_level: float) -> Floats:
        ends = np.where(level, of_level, np.where(means < middle, high, low))
        return np.where(missing, ends, texts.scores)

    for lean in (means.mean() - middle, (low + high) / 2 - np.nanmean(texts.scores)):
        if not np.isclose(lean, 0):
            return filled(high if lean > 0 else low)
    return min(
        filled(high), filled(low), key=lambda scores: np.nan_to_num(coefficient(scores, means, "spearman"))
    )


def rules_of_scale(texts: Compared, options: CheckOptions) -> list[Rule]:
    """The rules of the scale on which judge and raters are compared, for texts of which some have two raters."""
    kind = texts.rated.kind
    if kind == "two":
        return _two_classes(texts, options)
    return _unordered(texts, options) if kind == "unordered" else _distance_rules(texts, options)


def _errors(texts: Compared, code: int, options: CheckOptions) -> ClassErrors:
    return class_errors(
        np.where(np.isnan(texts.judge), np.nan, texts.judge == code),
        np.where(np.isnan(texts.votes), np.nan, texts.votes == code),
        margin=options.margin,
        clusters=texts.rated.items,
        weights=texts.weights,
        confidence_level=options.confidence_level,
    )


def _error_rule(
    code: str, wanted: str, found: ClassErrors, said: str, of_class: str, texts: Compared, margin: float
) -> Rule:
    difference = found.difference
    rule = Rule(
        code,
        wanted,
        difference,
        margin,
        said if difference.estimate is not None else f"{said}: {difference.reason}",
        found.below,
        found.above,
        of_class=of_class,
        behind=found,
    )
    return add_labels_needed(rule, texts.n_items, difference.n)


def rates_said(errors: ClassErrors, judge_does: str, people_do: str) -> str:
    """The judge's rate beside people's: `it passes 67 % [54, 78] of ...; people pass 8 % [5, 12] of them`."""
    return f"it {judge_does.format(percent_said(errors.judge))}; people {people_do.format(percent_said(errors.people))}"


@dataclass(frozen=True)
class _ErrorWords:
    """How an error on one of two classes is said."""

    judge: str
    """What the judge does, with a place for its share."""
    people: str
    of_class: str


def _error_words(texts: Compared, whose: str) -> tuple[_ErrorWords, _ErrorWords]:
    """Words of false passes and of false fails. whose: `people`, or `the rater`."""
    scale, silent = texts.rated.scale, bool(np.isnan(texts.judge).any())
    fail, passed = (scale.name(value) for value in scale.classes)
    does = "s" if whose != "people" else ""
    if {fail.casefold(), passed.casefold()} in ({"0", "1"}, {"fail", "pass"}):
        verbs, classes = (("passes", "pass"), ("fails", "fail")), ("failed", "passed")
        called = (f"{whose} fail{does}", f"{whose} pass{does and 'es'}")
    else:
        verbs = ((f"gives {passed} to", f"give {passed} to"), (f"gives {fail} to", f"give {fail} to"))
        called, classes = (f"{whose} call{does} {fail}", f"{whose} call{does} {passed}"), (fail, passed)
    either = " or does not score" if silent else ""
    words = [
        _ErrorWords(
            f"{verb.removesuffix(' to') if either else verb}{either} {{}} of the answers that {which}",
            f"{plural} {{}} of them",
            of_class,
        )
        for (verb, plural), which, of_class in zip(verbs, called, classes, strict=True)
    ]
    return words[0], words[1]


def _two_classes(texts: Compared, options: CheckOptions) -> list[Rule]:
    """False passes, false fails, and the share of people's own value that is kept."""
    margin = options.margin
    errors = [_errors(texts, code, options) for code in (0, 1)]
    names = (("false-passes", "false passes"), ("false-fails", "false fails"))
    rules = [
        _error_rule(
            code,
            f"{what} at most people's plus {margin:g}",
            found,
            rates_said(found, words.judge, words.people),
            words.of_class,
            texts,
            margin,
        )
        for (code, what), found, words in zip(names, errors, _error_words(texts, "people"), strict=True)
    ]
    return [*rules, _kept(_classes(texts, options)[0], options, "agreement above chance", texts)]


def _classes(texts: Compared, options: CheckOptions) -> tuple[InPlace, InPlace]:
    """Covariance and kappa of the judge with a rater, beside those of two raters."""
    return classes_in_place(
        texts.judge,
        texts.votes,
        len(texts.rated.scale.classes),
        kept_share=options.kept_share,
        clusters=texts.rated.items,
        weights=texts.weights,
        confidence_level=options.confidence_level,
    )


def _kept(found: InPlace, options: CheckOptions, what: str, texts: Compared) -> Rule:
    share = options.kept_share
    below, above = limit_p_values(found.kept, 0.0, perfect=_could_differ(texts))
    rule = Rule(
        "kept-share",
        f"at least {100 * share:.0f} % of people's own {what} is kept",
        found.kept,
        0.0,
        f"it keeps {_share_said(found)} of people's own {what}; {100 * share:.0f} % must be shown",
        below,
        above,
        behind=found,
    )
    return _add_labels(rule, texts)


def _add_labels(rule: Rule, texts: Compared) -> Rule:
    """The rule with the labels that would settle it; where no item moves its number, those that could."""
    off = _n_off_commonest(texts.votes)
    if rule.shown is None and rule.estimate is not None and rule.estimate.estimate is not None and off > 0:
        above = rule.limit is not None and rule.estimate.estimate > rule.limit
        needed = ceil(texts.n_items * WITHOUT_A_MISS / off)
        return replace(rule, labels_needed=max(needed, FEWEST_ITEMS)) if above else rule
    return add_labels_needed(rule, texts.n_items)


def _share_said(found: InPlace) -> str:
    share = found.share.estimate
    return "an unknown share" if share is None else f"{100 * max(share, 0):.0f} %"


def _could_differ(texts: Compared) -> bool:
    """Whether so many texts are off the commonest class that a judge which never differs from people is shown."""
    return _n_off_commonest(texts.votes) >= WITHOUT_A_MISS


def _n_off_commonest(votes: Floats) -> float:
    """Texts off the commonest value of the raters."""
    known = votes[~np.isnan(votes)]
    common = int(np.unique(known, return_counts=True)[1].max()) if known.size else 0
    return len(votes) * (1 - common / max(known.size, 1))


def _unordered(texts: Compared, options: CheckOptions) -> list[Rule]:
    """Kappa beside people's, the misses of each class, the share that is kept; and the classes named critical."""
    scale, margin = texts.rated.scale, options.margin
    covariance, kappa = _classes(texts, options)
    by_class = {scale.name(value): _errors(texts, code, options) for code, value in enumerate(scale.classes)}
    seen = {name: one for name, one in by_class.items() if one.difference.estimate is not None}
    rules = [_gap_rule("kappa", "kappa", kappa, options, texts)]
    if seen:
        worst = max(seen, key=lambda name: seen[name].difference.estimate or 0.0)
        paid = [p for p in corrected([one.above for one in seen.values()]) if p is not None]
        near = all((one.difference.estimate or 0.0) <= margin for one in seen.values())
        rules.append(
            add_labels_needed(
                Rule(
                    "classes",
                    f"no class is missed more often than by people plus {margin:g}",
                    seen[worst].difference,
                    margin,
                    _missed_said(worst, seen[worst]),
                    0.0 if near else None,
                    min(paid, default=None),
                    of_class=worst,
                    behind=seen[worst],
                ),
                texts.n_items,
                seen[worst].difference.n,
            )
        )
    rules.append(_kept(covariance, options, "agreement above chance", texts))
    for name in options.critical:
        known = {one.casefold(): one for one in by_class}
        one = by_class[known[name.casefold()]]
        rules.append(
            _error_rule(
                "critical",
                f"{name} is missed at most as often as by people plus {margin:g}",
                one,
                _missed_said(name, one),
                name,
                texts,
                margin,
            )
        )
    return rules


def _missed_said(name: str, found: ClassErrors) -> str:
    return rates_said(found, f"misses {{}} of the answers that people call {name}", "miss {} of them")


def _gap_rule(code: str, what: str, found: InPlace, options: CheckOptions, texts: Compared) -> Rule:
    below, above = limit_p_values(found.gap, -options.margin, perfect=_could_differ(texts))
    said = f"its {what} with a rater is {ends_said(found.judge, 2)}"
    if found.people.estimate is not None:
        said += f"; two raters reach {ends_said(found.people, 2)}"
    elif found.people.reason:
        said += f"; that of two raters is undefined: {found.people.reason}"
    rule = Rule(
        code,
        f"{what} at least people's minus {options.margin:g}",
        found.gap,
        -options.margin,
        said,
        below,
        above,
        strict=True,
        behind=found,
    )
    return _add_labels(rule, texts)


def _distance_rules(texts: Compared, options: CheckOptions) -> list[Rule]:
    """Quadratic kappa (ordered classes) and Spearman's correlation beside people's own, and the share that is kept."""
    asked: dict[str, Any] = {"clusters": texts.rated.items, "confidence_level": options.confidence_level}
    ranks = panel_correlation(
        texts.judge, texts.votes, kept_share=options.kept_share, rng=options.rng, **asked
    )
    of_ranks = _statistic_in_place(ranks)
    ordered = texts.rated.kind == "ordered"
    rules = []
    if ordered:
        kappa = quadratic_kappa(
            texts.judge, texts.votes, kept_share=options.kept_share, weights=texts.weights, **asked
        )
        rules.append(_gap_rule("kappa-quadratic", "quadratic kappa", kappa, options, texts))
    rules += [
        _gap_rule("correlation", "rank correlation", of_ranks, options, texts),
        replace(_kept(of_ranks, options, "rank correlation", texts), strict=True),
    ]
    if texts.weights is None or np.ptp(texts.weights) == 0:
        return rules
    why = "ranks cannot be weighted, and the labelled texts were not chosen alike"
    return [
        one
        if one.code == "kappa-quadratic"
        else replace(one, shown=None, broken=None, why=f"{one.why}; {why}")
        for one in rules
    ]


def _statistic_in_place(found: PanelCorrelation) -> InPlace:
    """The correlations as a statistic beside people's."""
    judge, people = found.judge.estimate, found.raters.estimate
    share = None if judge is None or people is None or people <= 0 else judge / people
    why = found.judge.reason if judge is None else found.raters.reason
    if judge is not None and people is not None and people <= 0:
        why = NOTHING_ABOVE_CHANCE
    return InPlace(
        found.judge,
        found.raters,
        found.gap,
        replace(found.raters, estimate=share, low=None, high=None, reason=None if share is not None else why),
        found.kept,
        found.influence,
        found.items,
    )


# --- severity ----------------------------------------------------------------------------------


def severity_said(texts: Compared, rules: Sequence[Rule], options: CheckOptions) -> str:
    """What a judge lacks that is only stricter or milder than people, or uses less of the scale; empty if that is not shown.

    Ordered classes: the ranks are kept, the bias is shown, and after it is subtracted (by the other half of the items)
    quadratic kappa holds; or only after the spread is matched too (Lin 1989, Biometrics 45:255). Two classes: more errors
    of one kind and fewer of the other, with the share kept.
    """
    state = {rule.code: rule for rule in rules}
    kept = state.get("kept-share")
    if kept is None or not kept.met:
        return ""
    if texts.rated.kind == "two":
        gaps = {code: state[code].estimate for code in ("false-passes", "false-fails")}
        ends = {code: (one.low, one.high) for code, one in gaps.items() if one is not None}
        for more, less, word in (
            ("false-passes", "false-fails", "lenient"),
            ("false-fails", "false-passes", "severe"),
        ):
            low, high = ends[more][0], ends[less][1]
            if state[more].met is False and low is not None and high is not None and low > 0 > high:
                return f"it is more {word} than people: {state[more].why}"
        return ""
    kappa, ranks = state.get("kappa-quadratic"), state.get("correlation")
    if kappa is None or ranks is None or kappa.met is not False or not ranks.met:
        return ""
    bias = texts.judge - texts.rated.means
    shift = agresti_min_mean(
        bias,
        texts.rated.items,
        largest=max(float(np.abs(bias).max()), 1.0),
        weights=texts.weights,
        confidence_level=0.95,
    )
    if shift.estimate is None or shift.low is None or shift.high is None or shift.low <= 0 <= shift.high:
        return ""
    way = "high" if shift.estimate > 0 else "low"
    if _holds_mapped(texts, options, spread=False):
        return f"it ranks as people do, {abs(shift.estimate):.1f} too {way}: map it"
    if _holds_mapped(texts, options, spread=True):
        ratio = float(np.nanstd(texts.judge) / np.nanmean(np.nanstd(texts.votes, axis=0)))
        return f"it ranks as people do, but uses a {'narrower' if ratio < 1 else 'wider'} range: map it"
    return ""


def _holds_mapped(texts: Compared, options: CheckOptions, *, spread: bool) -> bool:
    """Whether quadratic kappa holds with the judge's mean, or mean and spread, set to people's from the other half of the items."""
    items = np.unique(texts.rated.items)
    order = np.random.default_rng(options.rng).permutation(items.size)
    half = order[np.searchsorted(items, texts.rated.items)] % 2 == 0
    mapped, means = np.empty_like(texts.judge), texts.rated.means
    for fold, other in ((half, ~half), (~half, half)):
        if not other.any():
            return False
        factor = 1.0
        if spread and (wide := float(texts.judge[other].std())) > 0:
            factor = float(np.nanmean(np.nanstd(texts.votes[other], axis=0))) / wide
        mapped[fold] = means[other].mean() + factor * (texts.judge[fold] - texts.judge[other].mean())
    found = quadratic_kappa(
        mapped,
        texts.votes,
        kept_share=options.kept_share,
        clusters=texts.rated.items,
        weights=texts.weights,
        confidence_level=options.confidence_level,
    )
    below, _ = limit_p_values(found.gap, -options.margin, perfect=_could_differ(texts))
    return below is not None and below < LEVEL


# --- one rater ---------------------------------------------------------------------------------


def rules_of_one_rater(texts: Compared, options: CheckOptions) -> list[Rule]:
    """Stated limits on the errors of each class, with exact bounds; without them nothing can be shown."""
    limits = (options.most_false_passes, options.most_false_fails)
    wanted = "two raters of some texts, or stated limits"
    if texts.rated.kind != "two":
        why = "no text has two raters, so nobody knows how well a person would do: label some texts twice"
        return [_one_rater_rule(texts, options), state_rule("people", wanted, why, None)]
    votes = texts.votes
    rater = np.nanmax(np.where(np.isnan(votes), -1.0, votes), axis=1)
    names = (("false-passes", "false passes"), ("false-fails", "false fails"))
    rules = [
        _stated(name, what, words, texts, rater == code, code, limit, options)
        for code, limit, (name, what), words in zip(
            (0, 1), limits, names, _error_words(texts, "the rater"), strict=True
        )
    ]
    if None in limits:
        why = (
            "no text has two raters, so nobody knows how well a person would do: label some texts twice, or state the most false "
            "passes and false fails that you accept"
        )
        rules.append(state_rule("people", wanted, why, None))
    return rules


def _one_rater_rule(texts: Compared, options: CheckOptions) -> Rule:
    """What the judge reaches with the only rater of each text: without a limit, since no person's own figure is known."""
    asked: dict[str, Any] = {"clusters": texts.rated.items, "confidence_level": options.confidence_level}
    if texts.rated.kind == "unordered":
        known = ~np.isnan(texts.votes).all(axis=1)
        rater = np.nanmax(np.where(np.isnan(texts.votes), -1.0, texts.votes), axis=1)
        found = mean_share(np.where(known, texts.judge == rater, np.nan), weights=texts.weights, **asked)
        return Rule(
            "agreement", "two raters", found, None, f"it agrees with the rater on {percent_said(found)}"
        )
    found = panel_correlation(texts.judge, texts.rated.means[:, None], rng=options.rng, **asked).judge
    said = f"its rank correlation with the rater is {ends_said(found, 2)}"
    return Rule("correlation", "two raters", found, None, said)


def _stated(
    name: str,
    what: str,
    words: _ErrorWords,
    texts: Compared,
    there: NDArray[np.bool_],
    code: int,
    limit: float | None,
    options: CheckOptions,
) -> Rule:
    """One class's error rate against a stated limit, by the exact test of a share on effective texts."""
    # Imported lazily: load slowly, and most checks have two raters.
    from scipy.special import betainc

    from core.stats.prediction_powered import effective_units, exact_share

    wrong = np.where(np.isnan(texts.judge), 1.0, (texts.judge != code).astype(np.float64))[there]
    asked: dict[str, Any] = {
        "weights": None if texts.weights is None else texts.weights[there],
        "confidence_level": options.confidence_level,
    }
    found = exact_share(wrong, texts.rated.items[there], **asked)
    wanted = f"{what} at most {limit:g}" if limit is not None else f"a stated limit for {what}"
    text = (
        f"it {words.judge.format(percent_said(found))}"
        if found.estimate is not None
        else f"no answer is {words.of_class} by the rater"
    )
    if found.estimate is None or limit is None:
        return Rule(name, wanted, found, limit, text, of_class=words.of_class)
    share, n = effective_units(wrong, texts.rated.items[there], **asked)
    count = share * n
    # At the limit, the probabilities of at most and of at least this many errors.
    at_most = 1.0 - float(betainc(count + 1, n - count, limit)) if count < n else 1.0
    at_least = float(betainc(count, n - count + 1, limit)) if count > 0 else 1.0
    rule = Rule(name, wanted, found, limit, text, at_most, at_least, of_class=words.of_class)
    return add_labels_needed(rule, int(np.unique(texts.rated.items).size), int(there.sum()))


# --- the Alt-test ------------------------------------------------------------------------------


def alt_test_rule(test: alt_test.AltTest, n_items: int, n_judges: int) -> Rule:
    """Whether the judge wins against half of the raters, each with enough texts.

    n_items: items with two raters. A rater counts from FEWEST_ITEMS texts on; below FEW_FOR_LEAD the larger of two p-values counts: of the published t-test
    and of the score test of the rater's lead over the judge (`paired_score`).
    """
    from scipy.special import stdtr  # imported lazily: loads slowly

    p = []
    for one in test.raters:
        if one.p is None:
            continue
        if one.n < FEWEST_ITEMS:
            p.append(1.0)
            continue
        lead = 0.0
        if one.n < FEW_FOR_LEAD:
            z = paired_score(one.n_worse, one.n_better, one.n, test.epsilon) if test.epsilon else np.inf
            lead = float(stdtr(one.n - 1, z))
        p.append(max(one.p, lead))
    paid = rows_corrected([p], "benjamini-yekutieli")[0] if p else np.empty(0)
    wins = int((paid <= LEVEL / n_judges).sum())
    published = sum(bool(one.rejected) for one in test.raters)
    said = (
        f"no Alt-test: {test.reason}"
        if not p
        else f"it wins against {wins} of {len(p)} raters in the Alt-test at epsilon {test.epsilon:g}"
    )
    if p and published > wins:
        said += f" ({published} by its own rule, on fewer than {FEW_FOR_LEAD} texts a rater)"
    fewest = min((one.n for one in test.raters if one.n), default=0)
    return Rule(
        "alt-test",
        f"wins against half of the raters in the Alt-test at epsilon {test.epsilon:g}",
        test.advantage,
        alt_test.PASS_AT,
        said,
        0.0 if p and wins >= alt_test.PASS_AT * len(p) else None,
        labels_needed=ceil(n_items * FEWEST_ITEMS / fewest) if 0 < fewest < FEWEST_ITEMS else None,
    )
