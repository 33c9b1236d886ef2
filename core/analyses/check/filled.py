"""The rows of a check: what was found of every judge, rule, group and system."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from core.analyses.check import rows
from core.analyses.check.drift import rows_kept
from core.analyses.check.rows import Drift
from core.analyses.next_labels import Next
from core.analyses.which_judge import Which
from core.results.cells import interval, left_out_lines, plain
from core.results.check import sentences
from core.results.check.certifying import Certificate
from core.results.check.gaps import find_gaps, gap_list
from core.results.check.groups import FEWEST_OF_A_GROUP, Group
from core.results.check.monitoring import THIRDS
from core.results.check.rules import Rule
from core.results.check.verdict import Ceiling, Check, JudgeCheck
from core.results.injection import listed_lines
from core.schema.analysis import Answer
from core.schema.gaps import Gaps
from core.schema.panel import TextBeside
from core.schema.result_table import Interval
from core.stats.in_place import ClassErrors, InPlace
from core.stats.resampling import Estimate
from core.tables.roles import mapping_of

NO_CLASSES = "the judge's scores are no classes of the raters"
NO_ORDER = "labels without an order"
NOT_ORDERED = "only for ordered classes with two raters, and the uses gate and replace"
OTHER_SCALE = "the judge uses another scale than the raters"
ONE_RATER = "fewer than two raters"
_STATES = {True: "met", False: "failed", None: "open"}


def checked(
    check: Check,
    *,
    which: Which | str | None = None,
    next_texts: Next | None = None,
    drift: Drift | None = None,
    most_gaps: int | None = None,
    texts: Sequence[TextBeside] = (),
) -> rows.Checked:
    """Return a check with what was asked beside it.

    which: the choice among several judges, or why there is none. most_gaps: how many gaps are listed; None: none, unless a user
    names their table. texts: what is known about the texts, for the list of gaps; empty: it does not show them.
    """
    panel = check.panel
    kept, why_none = rows_kept(check)

    @cache
    def listed_gaps() -> Gaps:
        return gap_list(panel, find_gaps(panel), texts, most=most_gaps)

    choice = which if isinstance(which, Which) else None
    return rows.Checked(
        verdict=check.verdict,
        use=check.use,
        sentence=sentences.check_sentence(check),
        reasons=tuple(sentences.reasons(check)),
        read_as=sentences.read_as(check),
        scale=_scale(check),
        unit=_unit(check),
        judges_paid_for=check.n_verdicts,
        n_items=check.n_items,
        n_left_out=check.n_left_out,
        human=rows.Human(panel.raters, _ceiling(check.ceiling)),
        judges=tuple(_judge(check, one) for one in check.judges),
        injections=check.injections,
        columns=dict(mapping_of(panel.roles)) if panel.roles else None,
        confidence_level=check.options.confidence_level,
        notes=(*check.notes, *left_out_lines(panel.left_out)),
        signature=sentences.signature(check),
        rows=kept,
        rows_note=why_none,
        which=choice,
        gaps=None if most_gaps is None else listed_gaps().gaps,
        next=next_texts,
        drift=drift,
        check=check,
        sentences=(
            *sentences.check_said(check),
            *listed_lines(check.injections),
            *([which] if isinstance(which, str) else () if which is None else which.sentences),
            *(() if drift is None else drift.sentences),
            *(() if next_texts is None else next_texts.sentences),
        ),
        table_notes={
            "check": sentences.judge_notes(check),
            "check-rules": sentences.rule_notes(check),
            "check-groups": sentences.group_notes(check),
            "check-systems": sentences.system_notes(check),
        },
        hidden=_hidden(check),
        people_measure=sentences.MEASURES[check.ceiling.measure],
        listed_gaps=listed_gaps,
    )


def answer_of(check: Check, **more: Any) -> Answer:
    """Return the answer of `core.analyses.check` that this check gives. more: as in `checked`."""
    from core.analyses.check import ANALYSIS

    return Answer(ANALYSIS, check.options, checked(check, **more))


def _hidden(check: Check) -> dict[str, tuple[str, ...]]:
    """Table -> columns that say nothing about these judges for this use."""
    judges, use = check.judges, check.use
    certifies, in_place = use == "certify", use in {"replace", "gate"}
    by_class = any(one.kappa is not None for one in judges)
    rates = any(one.kind == "two" for one in judges) and in_place
    ordered = any(one.kind == "ordered" for one in judges)
    thirds = {third.name for one in judges for third in one.thirds}
    needed = {
        "false_passes": rates,
        "false_fails": rates,
        "kept_share": in_place,
        "kappa_quadratic": ordered and not certifies,
        "agreement": by_class,
        "constant": by_class and in_place,
        "kappa": by_class and not ordered,
        "ac1": by_class and use == "gate" and not ordered,
        "correlation": (ordered or not by_class or not in_place) and not certifies,
        "ceiling": not certifies,
        "advantage": use == "replace",
        "accuracy": use == "rank",
        "bias": any(one.bias is not None for one in judges),
        "responsiveness": use == "monitor",
        **{f"bias_{name}": name in thirds for name in THIRDS},
        "coverage": any(one.n_unscored for one in judges),
        "consistency": any(one.facts.consistency is not None for one in judges),
        "cost": any(one.facts.cost is not None for one in judges),
        "labels_needed": any(one.labels_needed is not None for one in judges),
    }
    n_tests = sum(group.p is not None for one in judges for group in one.groups)
    return {
        "check": tuple(name for name, shown in needed.items() if not shown),
        "check-groups": () if n_tests > 1 else ("p_holm",),
        "check-systems": () if len(judges) > 1 else ("judge",),
    }


def _judge(check: Check, judge: JudgeCheck) -> rows.JudgeRow:
    """One judge."""
    facts, tested = judge.facts, judge.alt_test
    return rows.JudgeRow(
        judge=judge.name,
        verdict=judge.verdict,
        n_items=judge.n_items,
        false_passes=_rate(judge, "false-passes"),
        false_fails=_rate(judge, "false-fails"),
        kept_share=_share(judge),
        kappa_quadratic=_cell(judge.kappa_quadratic, NOT_ORDERED),
        agreement=_cell(judge.agreement, NO_CLASSES),
        of_constant=None if judge.constant is None else judge.constant.agreement,
        kappa=_cell(judge.kappa, NO_CLASSES),
        ac1=_cell(judge.ac1, NO_CLASSES),
        correlation=_cell(judge.correlation, NO_ORDER),
        measure=judge.measure,
        people=Interval(judge.ceiling.assumed, beside="(supposed)")
        if judge.ceiling.assumed is not None
        else interval(judge.ceiling.estimate, ONE_RATER),
        advantage=interval(None if tested is None else tested.advantage, "only for the use replace"),
        accuracy=interval(
            next((rule.estimate for rule in judge.rules if rule.code == "accuracy"), None),
            "only for the use rank",
        ),
        bias=_cell(judge.bias, NO_ORDER if judge.correlation is None else OTHER_SCALE),
        follows=interval(
            None if judge.responsiveness is None else judge.responsiveness.estimate,
            "only for the use monitor, on the raters' scale",
        ),
        **{f"bias_{name}": _third(judge, name) for name in THIRDS},
        coverage=judge.coverage,
        consistency=_cell(facts.consistency, "no repeats"),
        cost=Interval(facts.cost, reason="" if facts.cost is not None else "no price known"),
        labels_needed=judge.labels_needed,
        sentence=sentences.sentence(check, judge),
        reasons=tuple(sentences.reasons_of(judge)),
        rules=tuple(_rule(judge, rule) for rule in judge.rules),
        kind=judge.kind,
        constant=None
        if judge.constant is None
        else rows.Constant(judge.scale.name(judge.constant.answer), judge.constant.agreement),
        passes=_error_rate(judge, "false-passes"),
        fails=_error_rate(judge, "false-fails"),
        kept=_kept(judge),
        icc=None if judge.icc is None else rows.Icc(judge.icc.judge, judge.icc.people, judge.icc.n),
        n_unscored=judge.n_unscored,
        severity=judge.severity or None,
        ceiling=_ceiling(judge.ceiling),
        alt_test=None
        if tested is None
        else rows.Tested(tested.epsilon, tested.winning_rate, tested.passed, interval(tested.advantage)),
        responsiveness=_follows(judge),
        bias_thirds=tuple(
            rows.ThirdBias(
                third.name,
                judge.scale.name(third.lowest),
                judge.scale.name(third.highest),
                third.bias.n,
                *_ends(third.bias),
            )
            for third in judge.thirds
        ),
        systems=tuple(_system(check, judge, system) for system in judge.systems),
        currency=facts.currency or None,
        seconds=facts.seconds,
        model=facts.model,
        groups=tuple(_group(judge, group) for group in judge.groups),
        n_texts=judge.n_texts,
        n_left_out=judge.n_left_out,
        labels_reason=judge.labels_reason,
    )


def _cell(estimate: Estimate | None, why_none: str) -> Interval:
    """A number for tables and JSON; where there is none, nothing has an interval either."""
    return (
        Interval(None, reason=why_none, interval_reason=why_none) if estimate is None else interval(estimate)
    )


def _ends(
    estimate: Estimate | None, why_none: str = ""
) -> tuple[float | None, float | None, float | None, str | None, str | None]:
    """Estimate, both ends of its interval, and why any of them is undefined."""
    if estimate is None:
        return None, None, None, why_none, why_none
    return estimate.estimate, estimate.low, estimate.high, estimate.reason, estimate.interval_reason


def _ceiling(found: Ceiling) -> rows.Ceiling:
    """What people reach among themselves."""
    return rows.Ceiling(found.measure, *_ends(found.estimate, ONE_RATER), found.assumed)


def _rate(judge: JudgeCheck, code: str) -> Interval:
    """The judge's own rate of an error."""
    rule = judge.rule(code)
    if rule is None or rule.estimate is None:
        return Interval(None, reason="only for two classes, with the uses gate and replace")
    return interval(rule.estimate if rule.behind is None else rule.behind.judge, rule.why)


def _error_rate(one: JudgeCheck, code: str) -> rows.Rate | None:
    """The judge's rate of an error, people's, and the difference with its interval; None where the rule does not apply."""
    rule = one.rule(code)
    if rule is None or rule.estimate is None:
        return None
    found = rule.estimate
    if not isinstance(rule.behind, ClassErrors):  # one rater: nobody to compare with
        return rows.Rate(found.estimate, None, None, found.low, found.high, found.n)
    judge, people = rule.behind.judge.estimate, rule.behind.people.estimate
    return rows.Rate(judge, people, found.estimate, found.low, found.high, found.n)


def _share(judge: JudgeCheck) -> Interval:
    rule = judge.rule("kept-share")
    if rule is None or not isinstance(rule.behind, InPlace):
        return Interval(None, reason=judge.silent or "no text has two raters, or another use")
    share = rule.behind.share
    return Interval(share.estimate, reason=share.reason or "")


def _kept(judge: JudgeCheck) -> rows.Kept | None:
    rule = judge.rule("kept-share")
    if rule is None or not isinstance(rule.behind, InPlace):
        return None
    found = rule.behind
    return rows.Kept(
        found.share.estimate, found.judge.estimate, found.people.estimate, found.kept.n, found.share.reason
    )


def _third(judge: JudgeCheck, name: str) -> Interval:
    found = next((third.bias for third in judge.thirds if third.name == name), None)
    return interval(found, "no rating there, no text with two raters, or another use")


def _follows(judge: JudgeCheck) -> rows.Follows | None:
    found = judge.responsiveness
    if found is None:
        return None
    return rows.Follows(
        *_ends(found.estimate),
        found.judge,
        found.people,
        found.estimate.n,
        found.of_groups,
        found.of_one_rater,
    )


def _rule(judge: JudgeCheck, rule: Rule) -> rows.RuleRow:
    of_items = rule.code == "items"
    is_open = rule.met is None
    return rows.RuleRow(
        judge=judge.name,
        rule=rule.wanted,
        code=rule.code,
        tested=Interval(judge.n_items) if of_items else interval(rule.estimate, rule.why),
        limit=int(rule.limit) if of_items and rule.limit is not None else rule.limit,
        state=_STATES[rule.met],
        why=rule.why,
        labels_needed=rule.labels_needed if is_open else None,
        class_needed=rule.class_needed if is_open else None,
        met=rule.met,
        found=None if rule.estimate is None else interval(rule.estimate),
        p_shown=plain(rule.shown),
        p_broken=plain(rule.broken),
        of_class=rule.of_class or None,
    )


def _group(judge: JudgeCheck, group: Group) -> rows.GroupRow:
    why = "" if group.p is not None else f"fewer than {FEWEST_OF_A_GROUP} items, or no interval"
    return rows.GroupRow(
        judge=judge.name,
        of=group.column,
        value=group.value,
        n_items=group.n_items,
        measure=group.measure,
        found=interval(group.estimate),
        limit=group.limit,
        p=Interval(group.p, reason=why),
        p_holm=group.p_holm,
        fails=group.fails,
    )


def _system(check: Check, judge: JudgeCheck, system: Certificate) -> rows.System:
    needed = system.rule.labels_needed
    whole = rows.AnswerRow(
        judge=judge.name,
        of_system=system.system,
        answer="all",
        verdict=system.verdict,
        n_texts=system.n_texts,
        n_labels=system.n_labels,
        good=interval(system.estimate),
        target=check.options.target,
        items_needed=None if needed is None or system.verdict != "INCONCLUSIVE" else needed - judge.n_items,
    )
    return rows.System(
        system=system.system or None,
        verdict=system.verdict,
        sentence=sentences.system_said(judge, system),
        target=check.options.target,
        good=interval(system.estimate),
        n_texts=system.n_texts,
        n_labels=system.n_labels,
        n_items=system.n_items,
        confidence_level=system.estimate.confidence_level,
        answers=tuple(
            rows.AnswerRow(
                judge=judge.name,
                of_system=system.system,
                answer=str(part.key),
                verdict="",
                n_texts=part.n,
                n_labels=part.n_labelled,
                good=interval(part.mean),
                target=None,
                items_needed=None,
            )
            for part in system.strata
        ),
        whole=whole,
    )


def _scale(check: Check) -> rows.ScaleRead:
    """The raters' scale."""
    scale = check.panel.scale
    classes: Sequence[str | float] = [scale.name(value) if scale.words else value for value in scale.classes]
    return rows.ScaleRead(scale.kind, tuple(classes) or None, scale.ends, scale.origin, tuple(scale.missing))


def _unit(check: Check) -> rows.UnitRead:
    """What an item is."""
    unit = check.panel.unit
    return rows.UnitRead(unit.name, unit.origin, unit.n, unit.undecided, unit.joined_by_row)
