"""The verdict on a judge for one use: TRUSTED, NOT TRUSTED or INCONCLUSIVE, by stated rules on intervals.

Every rule compares an interval with a limit. A rule is met if the whole interval lies on the right side of the limit, failed
if it lies on the wrong side, and open otherwise. A judge is TRUSTED if all rules are met, NOT TRUSTED if one failed, and
otherwise INCONCLUSIVE. Intervals are two-sided at 90 %, so that each bound errs in at most 5 % of files, as in two one-sided
tests (Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15:657).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import ceil, factorial, pi, sin
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.llm.families import alike_notes
from core.results.cells import ends_said
from core.results.panel import Panel, inclusion_probabilities
from core.schema.scores import PROBABILITY
from core.stats import alt_test
from core.stats.agreement import cohen_kappa, gwet_ac1, pair_shares
from core.stats.correlation.panels import NO_OTHERS, panel_correlation
from core.stats.correlation.systems import compare_systems, corrected_between_systems
from core.stats.multiplicity import corrected, interval_p
from core.stats.resampling import Estimate, Floats, at_a_time, mean_share, with_agresti_min
from core.stats.votes import MISSING, Codes
from core.tables.columns import ONLY_SYSTEM
from core.tables.roles import is_price_or_time

Use = Literal["replace", "rank", "gate", "monitor"]
USES: Mapping[Use, str] = {
    "replace": "stand in for a rater",
    "rank": "rank systems",
    "gate": "decide about single answers",
    "monitor": "follow a mean over time",
}
"""Uses, and what the judge then does."""
Verdict = Literal["TRUSTED", "NOT TRUSTED", "INCONCLUSIVE"]
FEWEST_ITEMS = 30
"""Items below which no judge is trusted: the Alt-test needs as many for its t-test."""
USELESS = 0.2
"""A judge whose kappa or rank correlation is shown to lie below it, and below the raters' own, is not trusted: at most slight
agreement (Landis and Koch 1977, Biometrics 33:159)."""
FEWEST_OF_A_CLASS = 5
"""Texts of the rarer class from which kappa = 1 counts as above 0, although nothing varies."""
MOST_CLASSES = 11
"""Most different whole numbers that count as classes: a scale of 0 to 10. More are scores."""
MOST_OUTSIDE = 0.1
"""Largest share of a judge's scores outside the raters' range with which both count as one scale: a judge may use an end
of the scale that no rater used."""
MOST_GROUPS = 12
"""Most values of a column that is shown by group."""
FEWEST_OF_A_GROUP = 10
"""Items below which a group is shown without a test."""
CHANCE = 0.05
"""Largest probability that a random order of the systems is as accurate as the judge's."""
MOST_LABELS = 100_000
"""Most further labels that a result names; beyond, the estimate lies at the limit."""
ASSUMED_CEILING: Mapping[str, float] = {"agreement": 0.85, "correlation": 0.7}
"""Ceiling to suppose where no text has two raters, by measure. A convention of this product."""
_ALL_ORDERS = 8
_DRAWN_ORDERS, _FEWEST_DRAWN, _MOST_COMPARED = 20_000, 1_000, 100_000_000
"""Random orders of systems: fewer where so many pairs of systems would be compared, more than 100 systems."""


@dataclass(frozen=True)
class CheckOptions:
    """Options of the check."""

    use: Use | None = None
    """None: replace with three raters or more, else gate."""
    margin: float = 0.05
    """How far below the human ceiling the judge may be."""
    tolerance: float = 0.05
    """For monitor: largest bias, as a share of the scale."""
    accuracy: float = 0.8
    """For rank: smallest share of pairs of systems in the right order."""
    ceiling: float | None = None
    """Ceiling to suppose where no text has two raters; None: ASSUMED_CEILING."""
    epsilon: float = 0.2
    """For replace: the price of a rater in the Alt-test."""
    confidence_level: float = 0.9
    n_resamples: int = 2_000
    rng: int = 0


DEFAULT_OPTIONS = CheckOptions()


def option_problems(options: CheckOptions) -> list[str]:
    """Problems of the options, each beginning with the option's name."""
    problems = []
    if options.use is not None and options.use not in get_args(Use):
        problems.append(f"use: {options.use!r} is not one of {', '.join(get_args(Use))}")
    for name in ("margin", "tolerance", "accuracy", "ceiling"):
        value = getattr(options, name)
        if value is not None and not 0 < value < (1.000001 if name in {"accuracy", "ceiling"} else 1):
            problems.append(f"{name}: {value:g} is not a number between 0 and 1")
    if not 0 <= options.epsilon < 1:
        problems.append(f"epsilon: {options.epsilon:g} is not a number from 0 to below 1")
    return problems


@dataclass(frozen=True)
class Rule:
    """One rule of a use, and what was found."""

    code: str
    """Stable name, such as `advantage`."""
    wanted: str
    """The rule in words."""
    found: Estimate | None
    limit: float | None
    met: bool | None
    """True: shown; False: shown to fail; None: open."""
    why: str
    """What was found, in words."""
    labels_needed: int | None = None
    """Items in all from which the rule would be settled, if the estimate stays."""


@dataclass(frozen=True)
class Ceiling:
    """What a rater reaches by the measure that the use reads."""

    measure: str
    """advantage, agreement or correlation."""
    found: Estimate | None
    assumed: float | None = None
    """The value supposed, where no text has two raters."""

    @property
    def value(self) -> float | None:
        """The estimate, or the value supposed."""
        return self.assumed if self.found is None or self.found.estimate is None else self.found.estimate


@dataclass(frozen=True)
class Group:
    """The texts with one value of a column."""

    column: str
    value: str
    n_items: int
    found: Estimate
    """By `measure`."""
    measure: str
    """agreement or correlation, as `JudgeCheck.measure`; bias for monitor."""
    limit: float | None
    """What the judge must reach here: the human ceiling of these texts minus the margin; for monitor the tolerance."""
    p: float | None
    """One-sided: the judge keeps the limit here."""
    p_holm: float | None
    fails: bool
    """Whether it is shown to miss the limit, corrected for the number of groups."""


@dataclass(frozen=True)
class AltTested:
    """The Alt-test of a judge, on the reduced panels of its ceiling too."""

    test: alt_test.AltTest
    reduced: Estimate
    """The judge's advantage in the place of a rater who left."""
    ceiling: Estimate
    """A rater's advantage on the same panels and items."""


@dataclass(frozen=True)
class JudgeFacts:
    """What a panel does not hold: from a run, or stated by the user."""

    consistency: Estimate | None = None
    """Share of equal answers when the same text is judged again."""
    cost: float | None = None
    """Price of 1,000 texts."""
    currency: str = ""
    """Empty: not stated."""
    seconds: float | None = None
    """Time of 1,000 texts."""
    model: str | None = None
    cost_reason: str = "no price was given"
    """Why the cost is unknown, where it is."""
    seconds_reason: str = "no time is known"


@dataclass(frozen=True)
class JudgeCheck:
    """The verdict on one judge and the numbers behind it."""

    name: str
    verdict: Verdict
    rules: tuple[Rule, ...]
    measure: str
    """agreement: share of equal classes, averaged over raters; correlation: Spearman's with the other raters."""
    agreement: Estimate
    """By `measure`, on the texts that two raters rated if there are any."""
    ceiling: Ceiling
    """Of the use, on this judge's texts."""
    kappa: Estimate | None
    """Cohen's, of the judge with every rater pooled; None where scores are no classes."""
    ac1: Estimate | None
    correlation: Estimate | None
    """Spearman's, with the mean of the raters; None for labels without an order."""
    alt_test: AltTested | None
    bias: Estimate | None
    """Mean of judge minus raters, as a share of the scale; None where scales differ or labels have no order."""
    facts: JudgeFacts
    groups: tuple[Group, ...]
    n_items: int
    n_texts: int
    n_left_out: int
    """Texts without a score or without a rating."""
    labels_needed: int | None
    """Further items to label until the verdict is settled, if the estimates stay; None: settled, or not to be said."""
    labels_reason: str = ""

    @property
    def reasons(self) -> tuple[str, ...]:
        """The rules that decided: those failed, else those open, else all."""
        for state in (False, None, True):
            found = tuple(
                rule.why for rule in self.rules if rule.met is state and not (state and rule.code == "items")
            )
            if found:
                return found
        return ()


@dataclass(frozen=True)
class Check:
    """The verdicts on all judges of a panel for one use."""

    panel: Panel
    options: CheckOptions
    use: Use
    judges: tuple[JudgeCheck, ...]
    ceiling: Ceiling
    """Of the use, on all texts."""
    n_items: int
    """Items with a rating and a score."""
    n_left_out: int
    """Texts without a rating, or without any score."""
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict | None:
        """The verdict; None for several judges."""
        return self.judges[0].verdict if len(self.judges) == 1 else None


def default_use(panel: Panel) -> Use:
    """`replace` if three raters or more rated texts, else `gate`."""
    rated = (~np.isnan(panel.ratings)).any(axis=0).sum()
    return "replace" if rated >= alt_test.FEWEST_FOR_CEILING else "gate"


def check_panel(
    panel: Panel, options: CheckOptions = DEFAULT_OPTIONS, *, facts: Mapping[str, JudgeFacts] | None = None
) -> Check:
    """Decide whether each judge of the panel can be trusted for the use.

    facts: what is known about judges beside the panel, by name. Raises InputError with all problems: wrong options, no
    judge, no rater, no text that a rater and a judge both rated, one system where systems are to be ranked.

    Misleads if the labelled texts are not those of the use: a verdict holds for texts like these, and for these raters. With
    several judges each verdict stands alone: the best of many is favoured by chance (`choosing.which_judge` corrects for it).
    """
    problems = option_problems(options)
    if not panel.judges:
        problems.append("judge: no judge to check; name a column, a rater or a metric as the judge")
    if not panel.raters:
        problems.append("human: no ratings by people; name the columns or raters that are people")
    use = options.use or default_use(panel)
    rated = (~np.isnan(panel.ratings)).any(axis=1, keepdims=True)
    both = np.logical_and(~np.isnan(panel.scores), rated)
    if not problems and not both.any():
        problems.append("judge: no text has both a rating by a person and a score by the judge")
    if use == "rank" and len(set(panel.systems.tolist())) < 2:
        problems.append("use: rank needs texts of several systems; name their column with system-column")
    if problems:
        raise InputError("The check cannot be made", problems)
    used = both.any(axis=1)
    judges = tuple(
        _judged(panel, at, use, options, (facts or {}).get(name, JudgeFacts()))
        for at, name in enumerate(panel.judges)
    )
    return Check(
        panel,
        options,
        use,
        judges,
        _ceiling(_raters_alone(panel, judges), use, options),
        int(np.unique(panel.items[used]).size),
        int((~used).sum()),
        (*panel.notes, *_drawn_notes(panel), *alike_notes((one.facts.model for one in judges), panel.rows)),
    )


def _drawn_notes(panel: Panel) -> tuple[str, ...]:
    """What texts drawn with known probabilities mean for the numbers."""
    chances = inclusion_probabilities(panel.rows)
    rated = (~np.isnan(panel.ratings)).any(axis=1)
    n_drawn = 0 if chances is None else int((rated & ~np.isnan(chances)).sum())
    if not n_drawn:
        return ()
    return (
        f"{n_drawn:,} labelled texts were drawn with known probabilities. Agreement and bias weight them, so they describe all "
        "texts. Kappa, AC1, correlations, the Alt-test and accuracy do not: they describe the labelled texts",
    )


# --- one judge ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class OwnTexts:
    """The texts of one judge: with its score and at least one rating. Or, without a judge, all rated texts."""

    scores: Floats
    ratings: Floats
    items: NDArray[np.int64]
    systems: NDArray[np.str_]
    rows: NDArray[np.intp]
    """Their places in the panel."""
    classes: tuple[float, ...]
    """Values that raters and judge share as classes; empty: scores."""
    ordered: bool
    scale: tuple[float, float]
    """Range of the raters' scale."""
    weights: Floats | None
    """What each text counts in shares and means; None unless texts were drawn with known probabilities."""

    @property
    def measure(self) -> str:
        """What the judge is compared by: agreement for classes, correlation for scores."""
        return "agreement" if self.classes or not self.ordered else "correlation"

    @property
    def same_scale(self) -> bool:
        """Whether the judge's scores lie on the raters' scale, so that they can be subtracted."""
        return bool(self.ordered and self.scores.size and _outside(self.scores, self.scale) <= MOST_OUTSIDE)

    @property
    def means(self) -> Floats:
        """Mean rating of each text, shape (n,)."""
        return np.asarray(np.nanmean(self.ratings, axis=1), dtype=np.float64)

    def votes(self) -> tuple[Codes, Codes]:
        """Codes of the raters (n, raters) and of the judge (n,)."""
        classes = np.array(self.classes)
        codes = np.searchsorted(classes, np.where(np.isnan(self.ratings), classes[0], self.ratings))
        return (
            np.where(np.isnan(self.ratings), MISSING, codes).astype(np.int64),
            np.searchsorted(classes, self.scores).astype(np.int64),
        )

    def only(self, kept: NDArray[np.bool_]) -> "OwnTexts":
        """The texts for which `kept`, shape (n,), is true; classes and scale stay those of all texts."""
        return replace(
            self,
            scores=self.scores[kept],
            ratings=self.ratings[kept],
            items=self.items[kept],
            systems=self.systems[kept],
            rows=self.rows[kept],
            weights=None if self.weights is None else self.weights[kept],
        )


def classes_of(panel: Panel, judge: int | None) -> tuple[float, ...]:
    """Values that count as classes, in order; empty if ratings or the judge's scores are numbers without classes.

    The values of words are classes. Numbers are, if all ratings and all of the judge's scores are whole, at most
    MOST_CLASSES different ones, and few scores lie outside the raters' range (MOST_OUTSIDE). judge: its column; None for raters alone.
    """
    given = panel.ratings[~np.isnan(panel.ratings)]
    scores = np.empty(0) if judge is None else panel.scores[:, judge]
    scores = scores[~np.isnan(scores)]
    if panel.scale.words:
        return _two(sorted({*panel.scale.words, *given.tolist(), *scores.tolist()}))
    values = np.unique(np.concatenate([given, scores]))
    whole = np.array_equal(values, np.round(values)) and values.size <= MOST_CLASSES
    inside = given.size and _outside(scores, (float(given.min()), float(given.max()))) <= MOST_OUTSIDE
    if not given.size or not whole or not inside:
        return ()
    return _two(values.tolist())


def _two(values: Sequence[float]) -> tuple[float, ...]:
    """The classes. One alone has no other to be confused with; a second one keeps the statistics defined."""
    return tuple(values) if len(values) > 1 else (values[0], values[0] + 1)


def _outside(scores: Floats, scale: tuple[float, float]) -> float:
    """Share of the scores outside a range; 0 without scores."""
    low, high = scale
    return float(((scores < low) | (scores > high)).mean()) if scores.size else 0.0


def own_texts(panel: Panel, judge: int | None) -> OwnTexts:
    """The texts of a judge (its column) with its score and a rating; without a judge all rated texts, with 0 as score."""
    scores = np.zeros(len(panel.ratings)) if judge is None else panel.scores[:, judge]
    rows = np.flatnonzero(~np.isnan(scores) & ~np.isnan(panel.ratings).all(axis=1))
    given = panel.ratings[~np.isnan(panel.ratings)]
    chances = inclusion_probabilities(panel.rows)
    classes = classes_of(panel, judge)
    scale = (
        (min(classes), max(classes))
        if panel.scale.words and classes
        else (float(given.min()), float(given.max()))
    )
    return OwnTexts(
        scores[rows],
        panel.ratings[rows],
        panel.items[rows],
        panel.systems[rows],
        rows,
        classes,
        panel.scale.ordered or len(classes) == 2,
        scale,
        None if chances is None else _weights(chances[rows]),
    )


def _weights(chances: Floats) -> Floats:
    # Imported lazily: loads statsmodels, which most checks need not.
    from core.stats.planning import weights_of

    return weights_of(chances)


def shares_of(own: OwnTexts) -> tuple[Floats, Floats]:
    """For each text: the share of its raters who gave the judge's class, and of its pairs of raters that agree."""
    votes, judged = own.votes()
    raters, judge = pair_shares(votes, judged, len(own.classes))
    return judge, raters


def agreement_by_text(panel: Panel, judge: int) -> Floats:
    """Share of raters who gave the judge's class, for each rated text with its score; NaN where another has two raters."""
    return shares_of(own_texts(panel, judge))[0]


def _measured(own: OwnTexts, options: CheckOptions) -> tuple[Estimate, Estimate]:
    """Agreement or correlation of the judge, and of the raters among themselves, on the same texts."""
    if own.measure == "agreement":
        judge, raters = (
            mean_share(one, own.items, weights=own.weights, confidence_level=options.confidence_level)
            for one in shares_of(own)
        )
        return judge, raters
    found = panel_correlation(
        own.scores,
        own.ratings,
        clusters=own.items,
        confidence_level=options.confidence_level,
        rng=options.rng,
    )
    raters = found.raters
    if raters.estimate is None and raters.reason != NO_OTHERS:
        # A constant judge, or none: what raters reach does not depend on it.
        raters = panel_correlation(
            own.means,
            own.ratings,
            clusters=own.items,
            confidence_level=options.confidence_level,
            rng=options.rng,
        ).raters
    return found.judge, raters


def _judged(panel: Panel, at: int, use: Use, options: CheckOptions, facts: JudgeFacts) -> JudgeCheck:
    own = own_texts(panel, at)
    name = panel.judges[at]
    n_items = int(np.unique(own.items).size)
    agreement, of_raters = _measured(own, options)
    tested = _alt_tested(own, options) if use == "replace" else None
    ceiling = _ceiling_of(use, own, of_raters, tested, options)
    kappa, ac1 = _of_classes(own, options)
    correlation = _correlation(own, options)
    bias = _bias(own, options)
    rules = _rule_constant(panel, own)
    related = _rule_useful(own, use, kappa, correlation, options)
    n_used = n_items
    if use == "replace":
        rules += _rules_replace(own, tested, ceiling, options)
        n_used = n_items if tested is None else tested.test.advantage.n_clusters
    elif use == "gate":
        rules += _rules_gate(agreement, ceiling, own.measure, related, options)
        n_used = agreement.n_clusters
    elif use == "rank":
        rules += _rules_rank(own, options)
    else:
        rules += _rules_monitor(bias, own, options)
    rules = [_rule_items(n_used, n_items), *rules, related]
    verdict = _verdict(rules)
    if verdict == "INCONCLUSIVE" and tested is not None:
        rules = [
            replace(rule, labels_needed=_items_to_pass(own, options))
            if rule.code == "alt-test" and rule.met is None
            else rule
            for rule in rules
        ]
    needed, why = _labels(rules, verdict, n_items)
    return JudgeCheck(
        name,
        verdict,
        tuple(rules),
        own.measure,
        agreement,
        ceiling,
        kappa,
        ac1,
        correlation,
        tested,
        bias,
        facts,
        _groups(panel, own, use, options),
        n_items,
        own.scores.size,
        len(panel.ratings) - own.scores.size,
        needed,
        why,
    )


def _verdict(rules: Sequence[Rule]) -> Verdict:
    if any(rule.met is False for rule in rules):
        return "NOT TRUSTED"
    return "TRUSTED" if all(rule.met for rule in rules) else "INCONCLUSIVE"


def _labels(rules: Sequence[Rule], verdict: Verdict, n_items: int) -> tuple[int | None, str]:
    """Further items until all rules are settled, and why that cannot be said."""
    if verdict != "INCONCLUSIVE":
        return None, "the verdict is settled"
    unsettled = [rule for rule in rules if rule.met is None]
    known = [rule.labels_needed for rule in unsettled if rule.labels_needed is not None]
    if len(known) < len(unsettled):
        return None, next(rule.why for rule in unsettled if rule.labels_needed is None)
    needed = max(known) - n_items
    if needed > MOST_LABELS:
        return (
            None,
            f"the estimate lies so close to the limit that more than {MOST_LABELS:,} further items would be needed",
        )
    return max(needed, 1), ""


def _raters_alone(panel: Panel, judges: Sequence[JudgeCheck]) -> OwnTexts:
    """All rated texts; as scores where all judges are read so, such as decimals beside raters' whole numbers."""
    own = own_texts(panel, None)
    return replace(own, classes=()) if {one.measure for one in judges} == {"correlation"} else own


def _ceiling(own: OwnTexts, use: Use, options: CheckOptions) -> Ceiling:
    """The ceiling of the raters alone, on all rated texts."""
    if use == "replace" and own.ratings.shape[1] > 1:
        people = alt_test.human_ceiling(
            own.ratings,
            epsilon=options.epsilon,
            alignment="accuracy" if own.classes else "rmse",
            clusters=own.items,
            confidence_level=options.confidence_level,
        )
        return Ceiling("advantage", people.advantage)
    _, of_raters = _measured(own, options)
    return _ceiling_of("gate", own, of_raters, None, options)


def _ceiling_of(
    use: Use, own: OwnTexts, of_raters: Estimate, tested: AltTested | None, options: CheckOptions
) -> Ceiling:
    if use == "replace":
        return Ceiling("advantage", None if tested is None else tested.ceiling)
    if of_raters.estimate is not None:
        return Ceiling(own.measure, of_raters)
    assumed = ASSUMED_CEILING[own.measure] if options.ceiling is None else options.ceiling
    return Ceiling(own.measure, of_raters, assumed)


def _of_classes(own: OwnTexts, options: CheckOptions) -> tuple[Estimate | None, Estimate | None]:
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
            n_categories=len(own.classes),
            n_resamples=0,
            confidence_level=options.confidence_level,
        )
        found.append(replace(one, low=one.low_t, high=one.high_t, interval_reason=one.interval_t_reason))
    return found[0], found[1]


def _correlation(own: OwnTexts, options: CheckOptions) -> Estimate | None:
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


def _bias(own: OwnTexts, options: CheckOptions) -> Estimate | None:
    if not own.same_scale:
        return None
    low, high = min(own.scale[0], own.scores.min()), max(own.scale[1], own.scores.max())
    if high <= low:  # all are equal: the bias is 0, on any scale
        high = low + 1
    differences = (own.scores - own.means) / (high - low)
    step = float(np.diff(own.classes).min() / (high - low)) if own.classes else 0.0
    return with_agresti_min(
        differences,
        own.items,
        largest=max(float(np.abs(differences).max()), step) or 1.0,
        weights=own.weights,
        confidence_level=options.confidence_level,
    )


def _alt_tested(own: OwnTexts, options: CheckOptions) -> AltTested | None:
    if own.ratings.shape[1] < 2 or (not own.classes and not own.same_scale):
        return None
    asked: dict[str, Any] = {
        "epsilon": options.epsilon,
        "clusters": own.items,
        "confidence_level": options.confidence_level,
    }
    alignment: alt_test.Alignment = "accuracy" if own.classes else "rmse"
    reduced = alt_test.on_reduced_panels(own.scores, own.ratings, alignment=alignment, **asked)
    return AltTested(
        alt_test.alt_test(own.scores, own.ratings, alignment=alignment, **asked),
        reduced.ceiling.advantage,
        alt_test.human_ceiling(own.ratings, alignment=alignment, **asked).advantage,
    )


# --- rules -------------------------------------------------------------------------------------


def _places(found: Estimate, limit: float) -> int:
    """Two decimals, and a third where two would show the limit as equal to a number that it is compared with."""
    known = [one for one in (found.estimate, found.low, found.high) if one is not None]
    return 3 if f"{limit:.2f}" in {f"{abs(one):.2f}" for one in known} else 2


def _above(code: str, wanted: str, what: str, found: Estimate, limit: float, *, limit_said: str = "") -> Rule:
    """The rule that a number is at least the limit."""
    if found.estimate is None:
        return Rule(code, wanted, found, limit, None, f"{what} is undefined: {found.reason}")
    if found.low is None or found.high is None:
        return Rule(
            code,
            wanted,
            found,
            limit,
            None,
            f"{what} {ends_said(found, 2)}; no interval: {found.interval_reason}",
        )
    met = True if found.low >= limit else False if found.high < limit else None
    lies = {True: "lies above", False: "lies below", None: "may lie above or below"}[met]
    places = _places(found, limit)
    said = f"{what} {ends_said(found, places)} {lies} {limit:.{places}f}{f', {limit_said}' if limit_said else ''}"
    above = found.estimate >= limit
    reach = found.estimate - found.low if above else found.high - found.estimate
    return Rule(code, wanted, found, limit, met, said, _items_for(found, reach, abs(found.estimate - limit)))


def _items_for(found: Estimate, reach: float, distance: float) -> int:
    """Items with which the interval's reach is at most the distance; it shrinks with the root of their number."""
    if distance <= 0 or reach <= 0:
        return 10 * MOST_LABELS
    return min(max(ceil(found.n_clusters * (reach / distance) ** 2), FEWEST_ITEMS), 10 * MOST_LABELS)


def _rule_items(n_used: int, n_items: int) -> Rule:
    """n_used: items that the use can compare; n_items: those with a rating and a score."""
    said = f"{n_used:,} item{'s' if n_used != 1 else ''} with labels"
    if n_used < n_items:
        said = f"{n_used:,} of {n_items:,} items with labels by two raters"
    few = n_used < FEWEST_ITEMS
    return Rule(
        "items",
        f"at least {FEWEST_ITEMS} items",
        None,
        float(FEWEST_ITEMS),
        None if few else True,
        f"{said}; at least {FEWEST_ITEMS} are needed" if few else said,
        n_items - n_used + FEWEST_ITEMS if few else FEWEST_ITEMS,
    )


def _rule_constant(panel: Panel, own: OwnTexts) -> list[Rule]:
    same = panel.constant_scores(own.scores)
    if same is None:
        return []
    return [
        Rule(
            "constant",
            "the judge's scores differ",
            None,
            None,
            False,
            f"all {same.n:,} scores are equal: the judge is constant",
        )
    ]


def _rule_useful(
    own: OwnTexts, use: Use, kappa: Estimate | None, correlation: Estimate | None, options: CheckOptions
) -> Rule:
    """Kappa of two classes, or of classes without an order, decides for replace and gate; else the rank correlation."""
    by_kappa = kappa is not None and (
        correlation is None or (use in {"replace", "gate"} and len(own.classes) == 2)
    )
    what, found = ("kappa", kappa) if by_kappa else ("rank correlation", correlation)
    code, wanted = "related", f"{what} above 0"
    if found is None or found.estimate is None:
        why = "undefined" if found is None else f"undefined: {found.reason}"
        return Rule(code, wanted, found, 0.0, None, f"{what} {why}")
    if found.low is None or found.high is None:
        rarer = int(np.unique(own.scores, return_counts=True)[1].min()) if own.scores.size else 0
        perfect = found.estimate > 1 - 1e-9 and (not own.classes or rarer >= FEWEST_OF_A_CLASS)
        why = f"{what} {found.estimate:.2f}, without an interval: {found.interval_reason}"
        return Rule(
            code, wanted, found, 0.0, True if perfect else None, why, None if perfect else 2 * FEWEST_ITEMS
        )
    said = f"{what} {ends_said(found, 2)}"
    if found.high < 0:
        said += " (below 0: is the judge's scale turned, or do its words mean the opposite?)"
    if found.high < USELESS:
        # Where raters are not shown to agree, nobody knows whether they or the judge are at fault.
        raters = _among_raters(own, options, by_kappa=by_kappa)
        if raters is not None and found.high < raters:
            why = f"{said} lies below {USELESS:g} and below the raters' own {raters:.2f}: at most slight"
            return Rule(code, wanted, found, 0.0, False, why)
    if found.low <= 0:
        needed = _items_for(found, found.estimate - found.low, abs(found.estimate))
        return Rule(code, wanted, found, 0.0, None, f"{said} includes 0", needed)
    return Rule(code, wanted, found, 0.0, True, said)


def _among_raters(own: OwnTexts, options: CheckOptions, *, by_kappa: bool) -> float | None:
    """Kappa, or rank correlation, of the raters among themselves on the same texts; None if it is not shown to be above 0.

    Raters whose agreement may be chance are no yardstick: one of them would fail as often as not.
    """
    level = options.confidence_level
    if not by_kappa:
        raters = panel_correlation(own.scores, own.ratings, clusters=own.items, confidence_level=level).raters
        return raters.estimate if raters.low is not None and raters.low > 0 else None
    votes, _ = own.votes()
    pairs = list(permutations(range(votes.shape[1]), 2))
    both = [np.flatnonzero((votes[:, list(pair)] != MISSING).all(axis=1)) for pair in pairs]
    if not any(rows.size for rows in both):
        return None
    found = cohen_kappa(
        np.concatenate([votes[rows][:, list(pair)] for rows, pair in zip(both, pairs, strict=True)]),
        clusters=own.items[np.concatenate(both)],
        n_categories=len(own.classes),
        n_resamples=0,
        confidence_level=level,
    )
    above = found.low_t > 0 if found.low_t is not None else (found.estimate or 0.0) > 1 - 1e-9
    return found.estimate if above else None


def _rules_replace(
    own: OwnTexts, tested: AltTested | None, ceiling: Ceiling, options: CheckOptions
) -> list[Rule]:
    wanted = f"passes the Alt-test at epsilon {options.epsilon:g}"
    if tested is None:
        why = (
            "the Alt-test needs two raters or more on the same texts"
            if own.ratings.shape[1] < 2
            else "the judge's scores lie outside the raters' scale: map them first, or use rank"
        )
        return [Rule("alt-test", wanted, None, None, None, why)]
    found = tested.test
    wins = sum(bool(one.rejected) for one in found.raters)
    n_tested = sum(one.rejected is not None for one in found.raters)
    passed = bool(found.passed) and not found.passed_unseen
    said = (
        f"no Alt-test: {found.reason}"
        if found.passed is None
        else f"wins against {wins} of {n_tested} raters in the Alt-test at epsilon {options.epsilon:g}"
    )
    rules = [Rule("alt-test", wanted, found.advantage, alt_test.PASS_AT, passed or None, said)]
    if ceiling.value is None or ceiling.found is None:
        reason = alt_test.TOO_FEW_RATERS if ceiling.found is None else ceiling.found.reason
        return [
            *rules,
            Rule(
                "advantage",
                "at least the ceiling's",
                tested.reduced,
                None,
                None,
                f"no human ceiling: {reason}",
            ),
        ]
    return [
        *rules,
        _above(
            "advantage",
            f"advantage at least the human ceiling's minus {options.margin:g}",
            "advantage",
            tested.reduced,
            ceiling.value - options.margin,
            limit_said=f"the human ceiling of {ceiling.value:.2f} minus {options.margin:g}",
        ),
    ]


def _items_to_pass(own: OwnTexts, options: CheckOptions) -> int | None:
    """Items for a probability of 80 % to pass the Alt-test; None if it is not reached."""
    found = alt_test.power(
        own.scores,
        own.ratings,
        items=(),
        epsilon=options.epsilon,
        alignment="accuracy" if own.classes else "rmse",
        clusters=own.items,
        n_resamples=200,
        rng=options.rng,
    )
    return found.items_needed


def _rules_gate(
    agreement: Estimate, ceiling: Ceiling, measure: str, related: Rule, options: CheckOptions
) -> list[Rule]:
    assert ceiling.value is not None
    supposed = ceiling.assumed is not None and options.ceiling is None
    whose = (
        "supposed ceiling"
        if supposed
        else "stated ceiling"
        if ceiling.assumed is not None
        else "human ceiling"
    )
    rule = _above(
        measure,
        f"{measure} with the raters at least the {whose} minus {options.margin:g}",
        measure,
        agreement,
        ceiling.value - options.margin,
        limit_said=f"the {whose} of {ceiling.value:.2f} minus {options.margin:g}",
    )
    slight = related.found is not None and related.found.high is not None and related.found.high < USELESS
    if rule.met is False and supposed and not slight:
        # A ceiling that nobody measured fails no judge who may be as good as the rater.
        why = f"{rule.why}, but no rater was measured: label some texts twice, or state a ceiling"
        return [replace(rule, met=None, why=why, labels_needed=None)]
    return [rule]


def _rules_rank(own: OwnTexts, options: CheckOptions) -> list[Rule]:
    wanted = f"accuracy over pairs of systems at least {options.accuracy:g}"
    if not own.ordered:
        return [
            Rule(
                "accuracy",
                wanted,
                None,
                options.accuracy,
                None,
                "labels without an order cannot rank systems",
            )
        ]
    drawing: dict[str, Any] = {
        "n_resamples": options.n_resamples,
        "confidence_level": options.confidence_level,
        "rng": options.rng,
    }
    found = compare_systems(own.scores, own.means, own.systems, ("accuracy",), items=own.items, **drawing)[
        "accuracy"
    ]
    rule = _above("accuracy", wanted, "accuracy over pairs of systems", found, options.accuracy)
    if rule.met is False:
        noise = corrected_between_systems(
            own.scores, own.means, own.systems, items=own.items, **(drawing | {"n_resamples": 0})
        )
        # The correlation of a normal population in which this share of pairs is in the right order (Greiner 1909).
        wanted_r = sin(pi * (2 * options.accuracy - 1) / 2)
        if noise.high is None or noise.high >= wanted_r:
            rule = replace(
                rule,
                met=None,
                why=f"{rule.why}; but noise lowers it, and the noise-corrected correlation "
                + ("is undefined" if noise.estimate is None else f"{ends_said(noise, 2)} does not fail"),
            )
    chance = order_by_chance(own.scores, own.means, own.systems)
    order = Rule(
        "order",
        f"an order this good by chance in at most {CHANCE:g}",
        None,
        CHANCE,
        True if chance <= CHANCE else None,
        "a random order of these systems would be as accurate with probability "
        + (f"{chance:.3f}" if chance >= 0.001 else "below 0.001"),
    )
    return [rule, order]


def order_by_chance(scores: Floats, ratings: Floats, systems: NDArray[np.str_]) -> float:
    """Probability that a random order of the systems has at least the judge's accuracy: a permutation test over systems.

    Exact for up to 8 systems; for more, from 20,000 random orders (fewer beyond 100 systems) and the observed one. 1 for
    fewer than two systems. scores, ratings, systems: shape (n,).
    """
    names = np.unique(systems)
    if names.size < 2:
        return 1.0
    means = [np.array([side[systems == name].mean() for name in names]) for side in (scores, ratings)]
    first, second = np.triu_indices(names.size, 1)
    people = np.sign(means[1][first] - means[1][second])
    if names.size <= _ALL_ORDERS:
        orders = np.array(list(permutations(range(names.size))))
        assert len(orders) == factorial(names.size)
    else:
        n_drawn = max(_FEWEST_DRAWN, min(_DRAWN_ORDERS, _MOST_COMPARED // first.size))
        drawn = np.argsort(np.random.default_rng(0).random((n_drawn, names.size)), axis=1)
        orders = np.vstack([np.arange(names.size), drawn])
    right = np.concatenate(
        [
            (np.sign(moved[:, first] - moved[:, second]) == people).mean(axis=1)
            for part in np.array_split(orders, -(-len(orders) // at_a_time(first.size)))
            for moved in [means[0][part]]
        ]
    )
    own = (np.sign(means[0][first] - means[0][second]) == people).mean()
    return float((right >= own - 1e-12).mean())


def _rules_monitor(bias: Estimate | None, own: OwnTexts, options: CheckOptions) -> list[Rule]:
    wanted = f"bias within {options.tolerance:g} of the scale on both sides"
    if bias is None:
        why = (
            "labels without an order have no mean"
            if not own.ordered
            else "the judge's scores lie outside the raters' scale: their means cannot be compared"
        )
        return [Rule("bias", wanted, None, options.tolerance, None, why)]
    said = f"bias {ends_said(bias, _places(bias, options.tolerance))} of the scale, limit {options.tolerance:g} on both sides"
    if bias.estimate is None or bias.low is None or bias.high is None:
        return [
            Rule(
                "bias",
                wanted,
                bias,
                options.tolerance,
                None,
                f"{said}: {bias.reason or bias.interval_reason}",
            )
        ]
    met = None
    if bias.low >= -options.tolerance and bias.high <= options.tolerance:
        met = True
    elif bias.low > options.tolerance or bias.high < -options.tolerance:
        met = False
    reach = max(bias.high - bias.estimate, bias.estimate - bias.low)
    distance = abs(abs(bias.estimate) - options.tolerance)
    return [Rule("bias", wanted, bias, options.tolerance, met, said, _items_for(bias, reach, distance))]


# --- groups ------------------------------------------------------------------------------------


def _groups(panel: Panel, own: OwnTexts, use: Use, options: CheckOptions) -> tuple[Group, ...]:
    """The judge by the values of each column, tested against the limit in the group, with Holm's correction over all groups."""
    columns: dict[str, list[str]] = {}
    rows = [panel.rows[row] for row in own.rows]
    if use != "rank":
        columns["system"] = ["" if row.system == ONLY_SYSTEM else row.system for row in rows]
    columns["language"] = [row.language or "" for row in rows]
    columns["level"] = [
        "" if row.level is None else f"{row.level:g}" if isinstance(row.level, float) else str(row.level)
        for row in rows
    ]
    for label in _grouping(panel):
        columns[label] = [str(row.labels.get(label) or "") for row in rows]
    found: list[Group] = []
    for column, values in columns.items():
        distinct = list(dict.fromkeys(value for value in values if value))
        if not 2 <= len(distinct) <= MOST_GROUPS:
            continue
        for value in sorted(distinct):
            part = own.only(np.array([one == value for one in values]))
            found.append(_group(column, value, part, use, options))
    paid = corrected([one.p for one in found], "holm")
    return tuple(
        replace(one, p_holm=p, fails=p is not None and p <= CHANCE)
        for one, p in zip(found, paid, strict=True)
    )


def _group(column: str, value: str, own: OwnTexts, use: Use, options: CheckOptions) -> Group:
    """Monitor is tested on its bias, all other uses on the judge's distance from the raters of the same texts."""
    n_items = int(np.unique(own.items).size)
    bias = _bias(own, options) if use == "monitor" else None
    limit: float | None
    if bias is not None and bias.estimate is not None:
        measure, measured, tested, limit = "bias", bias, bias, options.tolerance
        null = limit if bias.estimate > 0 else -limit
        wrong = abs(bias.estimate) > limit
    else:
        measured, of_raters = _measured(own, options)
        measure, ceiling = own.measure, _ceiling_of("gate", own, of_raters, None, options)
        assert ceiling.value is not None
        limit = ceiling.value - options.margin
        # With two raters of a text the limit is itself an estimate, so the distance is tested.
        tested, null = (
            (measured, limit) if ceiling.assumed is not None else (_gap(own, options), -options.margin)
        )
        wrong = tested.estimate is not None and tested.estimate < null
    p = None
    if n_items >= FEWEST_OF_A_GROUP:
        level = options.confidence_level
        two = interval_p(tested.estimate, tested.low, tested.high, null=null, confidence_level=level)
        p = None if two is None else two / 2 if wrong else 1 - two / 2
    return Group(column, value, n_items, measured, measure, limit, p, None, False)


def _gap(own: OwnTexts, options: CheckOptions) -> Estimate:
    """The judge's agreement or correlation minus the raters', on the texts that two raters rated."""
    if own.measure == "correlation":
        return panel_correlation(
            own.scores,
            own.ratings,
            clusters=own.items,
            confidence_level=options.confidence_level,
            rng=options.rng,
        ).gap
    judge, raters = shares_of(own)
    known = ~np.isnan(judge - raters)
    return with_agresti_min(
        (judge - raters)[known],
        own.items[known],
        weights=None if own.weights is None else own.weights[known],
        confidence_level=options.confidence_level,
    )


def _grouping(panel: Panel) -> list[str]:
    """Labels that describe texts. Prices and times describe the judge. A column that holds only classes of the raters is another label of quality: no group."""
    words = {word.casefold() for word in panel.scale.words.values()}
    words |= {f"{value:g}" for value in np.unique(panel.ratings[~np.isnan(panel.ratings)])}
    found: dict[str, set[str]] = {}
    for row in panel.rows:
        for name, value in row.labels.items():
            found.setdefault(name, set()).add(str(value or "").casefold())
    found.pop(PROBABILITY, None)
    return [
        name for name, values in found.items() if not values - {""} <= words and not is_price_or_time(name)
    ]
