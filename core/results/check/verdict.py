"""The verdict on a judge for one use: TRUSTED, NOT TRUSTED or INCONCLUSIVE, by stated rules on intervals.

A judge is TRUSTED if all rules are shown to be kept, NOT TRUSTED if one is shown to be broken, and otherwise INCONCLUSIVE.
Each wrong answer has a probability of at most 5 % (`core.results.check.rules`). What must be shown depends on the use and on
the raters' scale: docs/check.md has the table.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.panel import inclusion_probabilities
from core.llm.families import alike_notes
from core.results.cells import ends_said
from core.results.check.certifying import (
    Certificate,
    certified,
    lowest_pass_problems,
    passes_problems,
    systems_of,
)
from core.results.check.groups import Group, groups_of_texts
from core.results.check.labels import rules_of_coverage, rules_of_labels, weights_by_answer
from core.results.check.measures import (
    Constant,
    Icc,
    agreements,
    best_constant,
    bias_of,
    correlation_of,
    icc_in_place,
    kappa_and_ac1,
)
from core.results.check.monitoring import (
    Third,
    bias_in_thirds,
    responsiveness_of,
    rule_of_bias,
    rule_of_responsiveness,
)
from core.results.check.ranking import rules_of_ranking
from core.results.check.rules import (
    FEWEST_ITEMS,
    MOST_LABELS,
    Compared,
    Rule,
    Verdict,
    alt_test_rule,
    compared,
    decided,
    interval_rule,
    rules_of_one_rater,
    rules_of_scale,
    severity_said,
    state_rule,
    verdict_of,
)
from core.results.check.texts import OwnTexts, constant_scores, lowest_pass, own_texts, passing
from core.results.injection import mark_texts
from core.schema.injections import Injections
from core.schema.panel import Panel, TextBeside
from core.schema.scale import BY_NAME, SCORES, Scale
from core.schema.uses import DEFAULT_OPTIONS, CheckOptions, Use
from core.stats import alt_test
from core.stats.correlation.panels import panel_correlation
from core.stats.in_place import quadratic_kappa
from core.stats.resampling import Estimate, Floats
from core.stats.responsiveness import Responsiveness

USELESS = 0.2
"""For rank and monitor: a judge whose kappa or rank correlation is shown to lie below it, and below the raters' own, is not
trusted: at most slight agreement (Landis and Koch 1977, Biometrics 33:159)."""
FEWEST_OF_A_CLASS = 5
"""Texts of the rarer class from which kappa = 1 counts as above 0, although nothing varies."""
FEWEST_FOR_REPLACE = alt_test.FEWEST_FOR_CEILING
"""Raters from which `replace` is the use that is meant where none is named."""


@dataclass(frozen=True)
class Ceiling:
    """What raters reach among themselves: shown beside the judge's figure, it decides nothing."""

    measure: str
    """agreement, kappa_quadratic or correlation."""
    estimate: Estimate | None
    assumed: float | None = None
    """The value that the user stated, where no text has two raters."""

    @property
    def value(self) -> float | None:
        """The estimate, or the value stated."""
        return (
            self.assumed
            if self.estimate is None or self.estimate.estimate is None
            else self.estimate.estimate
        )


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
    kind: str
    """The scale on which judge and raters are compared: two, ordered, unordered or scores."""
    scale: Scale
    measure: str
    """What the judge is compared by: agreement (two classes, or without order), kappa_quadratic (ordered) or correlation."""
    agreement: Estimate | None
    """Share of a text's raters who gave the judge's class, averaged over texts; None for scores."""
    constant: Constant | None
    """The best constant answer on the same texts."""
    ceiling: Ceiling
    """Of `measure`, on this judge's texts."""
    kappa: Estimate | None
    """Cohen's, of the judge with every rater pooled; None where scores are no classes."""
    ac1: Estimate | None
    kappa_quadratic: Estimate | None
    """Of the judge with a rater, over pairs of raters; None unless classes are ordered."""
    icc: Icc | None
    """Intraclass correlations; None where the judge uses another scale or labels have no order."""
    correlation: Estimate | None
    """Spearman's, with the mean of the raters; None for labels without an order."""
    alt_test: alt_test.AltTest | None
    bias: Estimate | None
    """Mean of judge minus raters, as a share of the scale; None where scales differ or labels have no order."""
    facts: JudgeFacts
    groups: tuple[Group, ...]
    n_items: int
    n_texts: int
    n_left_out: int
    """Texts without a score or without a rating."""
    n_unscored: int
    """Labelled texts without a score."""
    labels_needed: int | None
    """Further items to label until the verdict is settled, if the estimates stay; None: settled, or not to be said."""
    labels_reason: str = ""
    severity: str = ""
    """Whether it is only stricter or milder than people; empty if that is not shown."""
    responsiveness: Responsiveness | None = None
    """How far it moves when quality moves by 1; None for other uses than monitor, other scales and labels without an order."""
    thirds: tuple[Third, ...] = ()
    """For monitor, its bias where people rate low, in the middle and high; empty where no text has two raters."""
    systems: tuple[Certificate, ...] = ()
    """For certify, each system; TRUSTED above means that all are."""
    silent: str = ""
    """Why no text has a score of it, where that is known."""

    @property
    def coverage(self) -> float | None:
        """Share of the labelled texts with a score."""
        labelled = self.n_texts + self.n_unscored
        return self.n_texts / labelled if labelled else None

    @property
    def deciding(self) -> tuple[Rule, ...]:
        """The rules that decided: those failed, else those open, else all but the number of items."""
        for state in (False, None, True):
            found = tuple(
                rule for rule in self.rules if rule.met is state and not (state and rule.code == "items")
            )
            if found:
                return found
        return ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """What was found for the rules that decided."""
        return tuple(rule.why for rule in self.deciding)

    def rule(self, code: str) -> Rule | None:
        """The rule with this code; None if the use and scale have none."""
        return next((rule for rule in self.rules if rule.code == code), None)


@dataclass(frozen=True)
class Check:
    """The verdicts on all judges of a panel for one use."""

    panel: Panel
    options: CheckOptions
    use: Use
    judges: tuple[JudgeCheck, ...]
    ceiling: Ceiling
    """Of the raters on all rated texts."""
    n_items: int
    """Items with a rating and a score."""
    n_left_out: int
    """Texts without a rating, or without any score; none of a certificate, which reads them all."""
    notes: tuple[str, ...] = ()
    injections: Injections | None = None
    """Marks of injection in the texts; None where no text is known. They decide nothing."""

    @property
    def paired(self) -> bool:
        """Whether some text has two raters."""
        return bool(((~np.isnan(self.panel.ratings)).sum(axis=1) > 1).any())

    @property
    def n_verdicts(self) -> int:
        """Verdicts among which the level is divided: judges, or their certificates."""
        return sum(max(len(one.systems), 1) for one in self.judges)

    @property
    def chooses(self) -> bool:
        """Whether several judges are compared with each other: a certificate is about systems."""
        return len(self.judges) > 1 and self.use != "certify"

    @property
    def verdict(self) -> Verdict | None:
        """The verdict; None for several judges."""
        return self.judges[0].verdict if len(self.judges) == 1 else None


def default_use(panel: Panel) -> Use:
    """`replace` if three raters or more rated texts, else `gate`."""
    rated = (~np.isnan(panel.ratings)).any(axis=0).sum()
    return "replace" if rated >= FEWEST_FOR_REPLACE else "gate"


def check_needs_judge(use: Use | None) -> None:
    """Raise InputError if a use that was chosen says nothing about people alone, where no judge was found."""
    if use == "certify":
        raise InputError(
            "The check cannot be made",
            ["judge: certify needs a judge, and none was found; name its column, or add its scores"],
        )


def check_panel(
    panel: Panel,
    options: CheckOptions = DEFAULT_OPTIONS,
    *,
    facts: Mapping[str, JudgeFacts] | None = None,
    texts: Iterable[TextBeside] = (),
) -> Check:
    """Decide whether each judge of the panel can be trusted for the use.

    facts: what is known about judges beside the panel, by name. texts: what is known about its texts, which are searched for marks of
    injection and grouped by them. Raises InputError with all problems: no judge, no rater, no
    text that a rater and a judge both rated, one system where systems are to be ranked, a critical class that is none.

    Misleads if the labelled texts are not those of the use: a verdict holds for texts like these, and for these raters. With
    several judges each verdict stands alone, at a level divided by their number (`choosing.which_judge` compares them).
    """
    problems = []
    if not panel.judges:
        problems.append("judge: no judge to check; name a column, a rater or a metric as the judge")
    if not panel.raters:
        problems.append("human: no ratings by people; name the columns or raters that are people")
    use = options.use or default_use(panel)
    rated = np.asarray((~np.isnan(panel.ratings)).any(axis=1))
    both = np.logical_and(~np.isnan(panel.scores), rated[:, None])
    if not problems and use == "certify":
        if not rated.any():
            problems.append("human: no text has a rating by a person")
        problems += passes_problems(panel.scale, options)
    elif not problems and not both.any():
        problems.append("judge: no text has both a rating by a person and a score by the judge")
    if use == "rank" and len(set(panel.systems.tolist())) < 2:
        problems.append("use: rank needs texts of several systems; name their column with system-column")
    if use != "certify":
        problems += _not_classes(panel.scale, options)
    if problems:
        raise InputError("The check cannot be made", problems)
    panel, injections = mark_texts(panel, texts)
    used = rated if use == "certify" else both.any(axis=1)
    judge_of = _certifying if use == "certify" else partial(_judged, use=use)
    judges = tuple(
        judge_of(panel, at, options=options, facts=(facts or {}).get(name, JudgeFacts()))
        for at, name in enumerate(panel.judges)
    )
    measures = [one.measure for one in judges]
    return Check(
        panel,
        options,
        use,
        judges,
        _ceiling(_compared_texts(own_texts(panel, None), use, options), measures[0], options),
        int(np.unique(panel.items[used]).size),
        0 if use == "certify" else int((~used).sum()),
        (
            *(_certify_notes(rated) if use == "certify" else ()),
            *panel.notes,
            *(() if use == "certify" else _drawn_notes(panel)),
            *alike_notes((one.facts.model for one in judges), panel.rows),
        ),
        injections,
    )


def _compared_texts(texts: OwnTexts, use: Use, options: CheckOptions) -> OwnTexts:
    """The texts on the scale that gate, replace and certify read: two classes, where a lowest pass is named."""
    reads_passes = use in {"gate", "replace"} or (use == "certify" and texts.kind not in BY_NAME)
    lowest = lowest_pass(texts.scale, options.passes_from) if reads_passes else None
    return texts if lowest is None else passing(texts, lowest)


def _not_classes(scale: Scale, options: CheckOptions) -> list[str]:
    """Problems of a lowest pass, and of classes named as critical, that are none of the scale."""
    if options.passes_from is not None and (
        scale.kind in BY_NAME or lowest_pass(scale, options.passes_from) is None
    ):
        return [
            f"passes_from: {options.passes_from} is no rating of an ordered scale; the ratings are {scale.said}"
        ]
    if outside := lowest_pass_problems(scale, lowest_pass(scale, options.passes_from), options):
        return outside
    if options.critical and scale.kind != "unordered":
        return [
            f"critical: only classes without an order are missed one by one; the ratings are {scale.said}"
        ]
    known = {scale.name(value).casefold() for value in scale.classes}
    listed = ", ".join(scale.name(value) for value in scale.classes) or "none"
    return [
        f"critical: {name} is no class of the raters, which are {listed}"
        for name in options.critical
        if name.casefold() not in known
    ]


def _certify_notes(rated: NDArray[np.bool_]) -> tuple[str, ...]:
    """What a certificate assumes about texts without a label. rated: shape (n,)."""
    if rated.all():
        return ()
    return ("Assumed: among texts with the same answer of the judge, those with a label are like the others",)


def _drawn_notes(panel: Panel) -> tuple[str, ...]:
    """What texts drawn with known probabilities mean for the numbers."""
    chances = inclusion_probabilities(panel.rows)
    rated = (~np.isnan(panel.ratings)).any(axis=1)
    n_drawn = 0 if chances is None else int((rated & ~np.isnan(chances)).sum())
    if not n_drawn:
        return ()
    return (
        f"{n_drawn:,} labelled texts were drawn with known probabilities. Errors by class, kept share, agreement and bias "
        "weight them, so they describe all texts. Kappa, AC1, correlations, the Alt-test and accuracy describe the labelled texts",
    )


def _judged(panel: Panel, at: int, use: Use, options: CheckOptions, facts: JudgeFacts) -> JudgeCheck:
    scored, labelled = (
        _compared_texts(own_texts(panel, at, unscored=unscored), use, options) for unscored in (False, True)
    )
    tested = scored if options.missing_judge == "leave-out" or use in {"rank", "monitor"} else labelled
    n_items = int(np.unique(scored.items).size)
    kappa, ac1 = kappa_and_ac1(scored, options)
    correlation, bias = correlation_of(scored, options), bias_of(scored, options)
    by_answer = (
        weights_by_answer(panel, at, tested)
        if options.labels_chosen == "by-judge" and tested.weights is None
        else tested.weights
    )
    texts = compared(tested, by_answer)
    rules = [*_unit_rules(panel), *_constant_rules(panel, scored)]
    published, responds = None, None
    silent = panel.silent.get(panel.judges[at], "")
    if silent:
        rules = [state_rule("scores", "the judge scores labelled texts", silent, None), *rules]
    elif use in {"replace", "gate"}:
        rules += _rules_in_place(texts, options)
        of_labels = rules_of_labels(panel, at, labelled, options)
        if of_labels:  # rates of texts chosen in an unknown way show nothing, for or against the judge
            rules = [replace(one, shown=None, broken=None, labels_needed=None) for one in rules]
        rules += of_labels + rules_of_coverage(labelled, options)
        if use == "replace":
            published = _alt_tested(texts, options)
            rules.append(_alt_rule(texts, published, len(panel.judges)))
    elif use == "rank":
        rules += [*rules_of_ranking(scored, options), _related(scored, correlation, options)]
    else:
        responds = responsiveness_of(scored, options)
        rules += [
            rule_of_bias(bias, scored, options),
            rule_of_responsiveness(responds, scored, options),
            _related(scored, correlation, options),
        ]
    items = _rule_items(texts, use, n_items)
    found = decided([*rules, items] if silent else [items, *rules], n_judges=len(panel.judges))
    verdict = verdict_of(found)
    if verdict == "INCONCLUSIVE" and published is not None:
        found = tuple(_add_items_to_pass(rule, texts, published) for rule in found)
    needed, why = _labels(found, verdict, n_items)
    measure = _measure(scored)
    quadratic = next((rule.behind for rule in found if rule.code == "kappa-quadratic"), None)
    one = JudgeCheck(
        panel.judges[at],
        verdict,
        found,
        scored.kind,
        scored.scale,
        measure,
        None if scored.kind == SCORES else agreements(scored, options)[0],
        best_constant(scored),
        _ceiling(scored, measure, options),
        kappa,
        ac1,
        None if quadratic is None else quadratic.judge,
        icc_in_place(scored),
        correlation,
        published,
        bias,
        facts,
        groups_of_texts(panel, scored, use, options),
        n_items,
        scored.scores.size,
        len(panel.ratings) - scored.scores.size,
        labelled.scores.size - scored.scores.size,
        needed,
        why,
        severity_said(texts, found, options) if verdict == "NOT TRUSTED" and texts.n_items else "",
        responds,
        bias_in_thirds(scored, options) if use == "monitor" else (),
        silent=silent,
    )
    return _scoreless_check(one, options) if silent else one


def _scoreless_check(judge: JudgeCheck, options: CheckOptions) -> JudgeCheck:
    """The check of a judge that scored no text, with that reason for every number."""
    unknown = Estimate(None, None, None, 0, judge.silent, 0, 0, options.confidence_level, judge.silent)
    return replace(
        judge,
        ceiling=Ceiling(judge.measure, unknown),
        agreement=unknown,
        kappa=unknown,
        ac1=unknown,
        kappa_quadratic=unknown,
        correlation=unknown,
        bias=unknown,
    )


def _certifying(panel: Panel, at: int, *, options: CheckOptions, facts: JudgeFacts) -> JudgeCheck:
    """The certificates of all systems by the answers of one judge; TRUSTED if every system is."""
    own = own_texts(panel, at)
    labelled = own_texts(panel, at, unscored=True).scores.size
    n_tests = len(panel.judges) * len(systems_of(panel))
    systems = certified(panel, at, options, n_tests)
    unit = _unit_rules(panel)
    found = decided([*(one.rule for one in systems), *unit], n_judges=n_tests)
    n_items = int(np.unique(panel.items[(~np.isnan(panel.ratings)).any(axis=1)]).size)
    if unit:  # nothing is shown while nobody knows what an item is
        found = tuple(replace(rule, met=None) for rule in found)
    verdict = verdict_of(found)
    # A rule counts items of all systems together, its certificate those of its own.
    rules = tuple(
        rule
        if rule.labels_needed is None or at >= len(systems)
        else replace(rule, labels_needed=n_items + rule.labels_needed - systems[at].n_items)
        for at, rule in enumerate(found)
    )
    needed, why = _labels(rules, verdict, n_items)
    return JudgeCheck(
        panel.judges[at],
        verdict,
        rules,
        own.kind,
        own.scale,
        "agreement",
        None,
        None,
        Ceiling("agreement", None),
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        facts,
        (),
        n_items,
        own.scores.size,
        0,
        labelled - own.scores.size,
        needed,
        why,
        systems=tuple(
            replace(one, rule=rule) for one, rule in zip(systems, rules[: len(systems)], strict=True)
        ),
    )


def _measure(texts: OwnTexts) -> str:
    return {"ordered": "kappa_quadratic", SCORES: "correlation"}.get(texts.kind, "agreement")


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


def _ceiling(texts: OwnTexts, measure: str, options: CheckOptions) -> Ceiling:
    """What raters reach among themselves by this measure; else the ceiling that the user stated."""
    if measure == "agreement":
        found = agreements(texts, options)[1]
    elif measure == "kappa_quadratic":
        found = quadratic_kappa(
            texts.means,
            texts.ratings,
            kept_share=options.kept_share,
            clusters=texts.items,
            weights=texts.weights,
            confidence_level=options.confidence_level,
        ).people
    else:
        found = panel_correlation(
            texts.means,
            texts.ratings,
            clusters=texts.items,
            confidence_level=options.confidence_level,
            rng=options.rng,
        ).raters
    return Ceiling(measure, found, options.ceiling if found.estimate is None else None)


# --- rules of the uses -------------------------------------------------------------------------


def _rules_in_place(texts: Compared, options: CheckOptions) -> list[Rule]:
    two = (~np.isnan(texts.votes)).sum(axis=1) > 1
    return rules_of_scale(texts, options) if two.any() else rules_of_one_rater(texts, options)


def _alt_tested(texts: Compared, options: CheckOptions) -> alt_test.AltTest | None:
    """The published test: by equal labels, and by distance on ordered scales. A text without a score is one that nobody gave."""
    own = texts.rated
    if own.ratings.shape[1] < 2 or (own.kind == SCORES and not own.same_scale):
        return None
    judge, alignment = _aligned(texts)
    return alt_test.alt_test(
        judge,
        texts.votes,
        epsilon=options.epsilon,
        alignment=alignment,
        clusters=own.items,
        confidence_level=options.confidence_level,
    )


def _aligned(texts: Compared) -> tuple[Floats, alt_test.Alignment]:
    """The judge's values as the Alt-test reads them, and how closeness is measured on the scale."""
    if texts.rated.kind not in BY_NAME:
        return texts.judge, "rmse"
    return np.where(np.isnan(texts.judge), len(texts.rated.scale.classes), texts.judge), "accuracy"


def _alt_rule(texts: Compared, test: alt_test.AltTest | None, n_judges: int) -> Rule:
    if test is not None:
        return alt_test_rule(test, texts.n_items, n_judges)
    why = (
        "the Alt-test needs two raters or more on the same texts"
        if texts.votes.shape[1] < 2
        else "the judge's scores lie outside the raters' scale: map them first, or use rank"
    )
    return state_rule("alt-test", "wins against half of the raters in the Alt-test", why, None)


def _add_items_to_pass(rule: Rule, texts: Compared, test: alt_test.AltTest) -> Rule:
    """The open rule of the Alt-test with the items for a probability of 80 % to pass, if the advantage stays."""
    if rule.code != "alt-test" or rule.met is not None or rule.labels_needed is not None:
        return rule
    judge, alignment = _aligned(texts)
    needed = alt_test.power(
        judge,
        texts.votes,
        items=(),
        epsilon=test.epsilon,
        alignment=alignment,
        clusters=texts.rated.items,
        n_resamples=200,
        rng=0,
    ).items_needed
    return replace(rule, labels_needed=needed)


def _rule_items(texts: Compared, use: Use, n_items: int) -> Rule:
    """Items that the use can compare: with two raters where people's own figure is needed and there is one."""
    n_used = n_items if use in {"rank", "monitor"} or not texts.n_items else texts.n_items
    said = f"{n_used:,} item{'s' if n_used != 1 else ''} with labels"
    if n_used < n_items:
        said = f"{n_used:,} of {n_items:,} items with labels by two raters"
    few = n_used < FEWEST_ITEMS
    return state_rule(
        "items",
        f"at least {FEWEST_ITEMS} items",
        f"{said}; at least {FEWEST_ITEMS} are needed" if few else said,
        None if few else True,
        limit=float(FEWEST_ITEMS),
        labels_needed=n_items - n_used + FEWEST_ITEMS if few else FEWEST_ITEMS,
    )


def _unit_rules(panel: Panel) -> list[Rule]:
    """Nothing is shown while nobody knows which texts belong together."""
    why = panel.unit.undecided_said
    return [state_rule("unit", "what an item is", why, None)] if why else []


def _constant_rules(panel: Panel, texts: OwnTexts) -> list[Rule]:
    same = constant_scores(panel, texts.scores)
    if same is None:
        return []
    ratings = texts.ratings[~np.isnan(texts.ratings)]
    equal = bool((ratings == same.value).all())
    why = f"all {same.n:,} scores are equal: the judge is constant" + (
        ", and so are the ratings" if equal else ""
    )
    return [state_rule("constant", "the judge's scores differ", why, None if equal else False)]


def _related(texts: OwnTexts, estimate: Estimate | None, options: CheckOptions) -> Rule:
    """For rank and monitor: the rank correlation with the raters is above 0."""
    what, wanted = "rank correlation", "rank correlation above 0"
    if estimate is None or estimate.estimate is None:
        why = "labels without an order" if estimate is None else estimate.reason
        return Rule("related", wanted, estimate, 0.0, f"{what} undefined: {why}")
    if estimate.low is None or estimate.high is None:
        rarer = int(np.unique(texts.scores, return_counts=True)[1].min()) if texts.scores.size else 0
        perfect = estimate.estimate > 1 - 1e-9 and (not texts.classes or rarer >= FEWEST_OF_A_CLASS)
        why = f"{what} {estimate.estimate:.2f}, without an interval: {estimate.interval_reason}"
        return Rule("related", wanted, estimate, 0.0, why, 0.0 if perfect else None)
    rule = interval_rule("related", wanted, what, estimate, 0.0)
    if estimate.high < 0:
        turned = "is the judge's scale turned, or do its words mean the opposite?"
        rule = replace(rule, why=f"{what} {ends_said(estimate, 2)} lies below 0: {turned}")
    if estimate.high >= USELESS:
        return replace(rule, broken=None)
    # Where raters are not shown to agree, nobody knows whether they or the judge are at fault.
    raters = panel_correlation(
        texts.scores, texts.ratings, clusters=texts.items, confidence_level=options.confidence_level
    ).raters
    if raters.estimate is None or raters.low is None or raters.low <= 0 or estimate.high >= raters.estimate:
        return replace(rule, broken=None)
    why = f"{rule.why}: at most slight, and raters reach {raters.estimate:.2f} among themselves"
    return replace(rule, why=why, broken=0.0)
