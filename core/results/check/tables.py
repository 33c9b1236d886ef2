"""The check in sentences, tables and JSON."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from core import __version__
from core.joining.panel import equal_sides
from core.results.cells import (
    corrected_column,
    corrected_note,
    ends,
    ends_said,
    interval,
    left_out_lines,
    plain,
)
from core.results.check.certifying import Certificate, target_said
from core.results.check.drift import rows_json
from core.results.check.groups import FEWEST_OF_A_GROUP
from core.results.check.monitoring import CAUTION, THIRDS, beyond_tolerance
from core.results.check.options import LIMITS, USES
from core.results.check.rules import LEVEL, STRICTER, STRICTER_BROKEN, Rule
from core.results.check.verdict import Check, JudgeCheck
from core.results.injection import injections_json, injections_said, marked_tables
from core.schema.result_table import Column, Interval, ResultTable
from core.schema.scale import SCORES, Scale
from core.schema.unit import Unit
from core.stats.in_place import ClassErrors, InPlace
from core.stats.resampling import Estimate
from core.tables.problems import listed
from core.tables.reading import shown
from core.tables.roles import mapping_of

CHECK_TABLES = ("check", "check-rules", "check-groups", "check-systems")
"""Names of all tables, the main one first."""
NO_CLASSES = "the judge's scores are no classes of the raters"
NO_ORDER = "labels without an order"
NOT_ORDERED = "only for ordered classes with two raters, and the uses gate and replace"
OTHER_SCALE = "the judge uses another scale than the raters"
_SIGNED = 12
_MET = {True: "met", False: "failed", None: "open"}


_AS = {
    "replace": "in the place of a rater",
    "gate": "as a gate",
    "rank": "to rank systems",
    "monitor": "to follow a mean",
    "certify": "for all systems",
}
"""What a judge is trusted, or not, as: behind the verdict."""


def sentence(check: Check, one: JudgeCheck) -> str:
    """The verdict on one judge, the numbers that decided, and what would settle it. Does not name the judge."""
    if one.systems:
        return systems_said(one)[0]
    said = f"{one.verdict} {_AS[check.use]}: {_why(one)}.{_third_said(check, one)}"
    if one.verdict != "TRUSTED" and _counts_missing(check, one):
        n_texts = one.n_texts + one.n_unscored
        said += f" {one.n_unscored:,} of {n_texts:,} labelled texts have no score and count as wrong."
    if one.verdict != "INCONCLUSIVE":
        return said
    if one.labels_needed is not None:
        return f"{said} {_needed_said(one)}"
    if one.labels_reason and one.labels_reason not in said:
        said += f" {one.labels_reason[0].upper()}{one.labels_reason[1:]}."
    return said


def _counts_missing(check: Check, one: JudgeCheck) -> bool:
    """Whether labelled texts without a score count as errors of the judge."""
    in_place = check.use in {"replace", "gate"} and check.options.missing_judge == "wrong"
    return in_place and one.n_unscored > 0 and not one.silent


def systems_said(one: JudgeCheck) -> list[str]:
    """For certify: of one system its verdict; of several how many are TRUSTED, and which, then each."""
    said = [_system_said(one, system) for system in one.systems]
    if len(said) < 2:
        return said
    return [
        f"{counted_verdicts([(system.system, system.verdict) for system in one.systems], 'system', _to_reach(one))}.",
        *said,
    ]


def _to_reach(one: JudgeCheck) -> str:
    """What systems are trusted to do: ` to give at least 90 % good answers`."""
    limit = one.systems[0].rule.limit
    return "" if limit is None else f" to give at least {target_said(limit)} good answers"


def _system_said(one: JudgeCheck, system: Certificate) -> str:
    unit = next((rule.why for rule in one.rules if rule.code == "unit"), "")
    said = f"{system.claim}: {system.rule.why}{unit and '; '}{unit}."
    if system.verdict != "INCONCLUSIVE" or unit or system.rule.labels_needed is None:
        return said
    return f"{said} {_further_items(system.rule.labels_needed - one.n_items)}"


def _why(one: JudgeCheck) -> str:
    """What decided, in at most two estimates: what is to be done first, then the first rule."""
    if one.severity and one.verdict == "NOT TRUSTED":
        return one.severity
    deciding = one.deciding
    stated = [rule for rule in deciding if rule.found is None]
    tested = [rule for rule in deciding if rule.found is not None]
    if one.verdict == "NOT TRUSTED" or not stated:
        both = [rule.why for rule in tested if rule.code in {"bias", "responsiveness"}]
        if (
            len(both) == 2 and one.verdict != "INCONCLUSIVE"
        ):  # a mean is followed if level and slope are right
            return f"{both[0]}. {both[1][0].upper()}{both[1][1:]}"
        return (tested or stated)[0].why
    if stated[0].code == "people" and tested:
        return f"{tested[0].why}. {stated[0].why[0].upper()}{stated[0].why[1:]}"
    return stated[0].why


def _third_said(check: Check, one: JudgeCheck) -> str:
    """The third of the ratings in which the judge's bias is shown beyond the tolerance, while its mean is not; else empty."""
    third = beyond_tolerance(one.thirds, one.bias, check.options)
    if third is None:
        return ""
    ratings = " to ".join(dict.fromkeys(one.scale.name(end) for end in (third.lowest, third.highest)))
    return (
        f" Where people rate {third.name} ({ratings}), its bias is {ends_said(third.bias, 2)} of the scale."
    )


def _needed_said(one: JudgeCheck) -> str:
    """How many labels would settle an open verdict, in texts of the class that the slowest rule needs."""
    slowest = max((rule for rule in one.rules if rule.met is None), key=lambda rule: rule.labels_needed or 0)
    if slowest.of_class and slowest.class_needed is not None:
        whose = f"{slowest.of_class} texts"
        return f"About {_about(slowest.class_needed)} {whose} in all would settle it if the estimates stay."
    assert one.labels_needed is not None
    return _further_items(one.labels_needed)


def _further_items(number: int) -> str:
    items = "item" if number == 1 else "items"
    return f"About {_about(number)} further labelled {items} would settle it if the estimates stay."


def _about(number: int) -> str:
    """A planned number to two digits: it is no more exact."""
    return f"{float(f'{number:.2g}'):,.0f}"


def check_sentence(check: Check) -> str:
    """The verdict in a sentence; for several judges how many are trusted, and which."""
    if len(check.judges) == 1:
        return sentence(check, check.judges[0])
    return f"{counted_verdicts([(one.name, one.verdict) for one in check.judges], 'judge', f' {_AS[check.use]}')}."


def counted_verdicts(verdicts: Sequence[tuple[str, str]], what: str, use: str = "") -> str:
    """How many of several are TRUSTED, and which. verdicts: name and verdict of each."""
    counts = Counter(verdict for _, verdict in verdicts)
    trusted = [shown(name) for name, verdict in verdicts if verdict == "TRUSTED"]
    which = f": {', '.join(trusted)}" if trusted else ""
    others = [f"{counts[other]} {other}" for other in ("NOT TRUSTED", "INCONCLUSIVE") if counts[other]]
    n = len(verdicts)
    how_many = f"{len(trusted)} of {n} {what}s" if trusted else f"None of the {n} {what}s"
    said = f"{how_many} {'is' if len(trusted) < 2 else 'are'} TRUSTED{use}{which}"
    return f"{said}. {', '.join(others)}" if others else said


def read_as(check: Check) -> str:
    """How the input was read: the scale, what an item is, how files were joined, and how many labelled texts have a score."""
    panel = check.panel
    said = [f"Read as: {panel.scale.read_as}"]
    if check.options.passes_from is not None:
        said.append(f"{check.options.passes_from}{' or above' if panel.scale.ordered else ''} passes")
    others = [
        shown(one.name)
        for one in check.judges
        if one.kind != one.scale.kind
        and not one.systems
        and not (check.use == "monitor" and one.bias is not None)  # follows means, on the raters' scale
    ]
    if others:
        said.append(f"{listed(others)} compared by rank, because its scores are on another scale")
    said.append(panel.unit.said)
    gaps = [
        f"{shown(one.name)} has no vote: {one.silent}"
        if one.silent
        else f"{shown(one.name)} scored {100 * one.coverage:.0f} % of {one.n_texts + one.n_unscored:,} labelled texts"
        for one in check.judges
        if one.n_unscored and one.coverage is not None
    ]
    return "; ".join([*said, *(gaps or ["every labelled text has a score"])]) + "."


def ceiling_sentence(check: Check) -> str:
    """What raters reach among themselves, and the best constant answer beside it."""
    ceiling, constant = check.ceiling, check.judges[0].constant
    what = MEASURES[ceiling.measure]
    if ceiling.found is not None and ceiling.found.estimate is not None:
        said = f"People among themselves: {what} {ends_said(ceiling.found, 2)}"
    else:
        said = (
            people_unknown(check)
            if check.paired
            else "No text has two raters, so nobody knows how well people agree"
        )
        if ceiling.assumed is not None:
            said += f"; you suppose {ceiling.assumed:.2f}, which decides nothing"
    if constant is None or check.use in {"rank", "monitor", "certify"}:
        return f"{said}."
    name = shown(check.judges[0].scale.name(constant.answer))
    return f"{said}. Always answering {name} would agree with {100 * constant.agreement:.0f} % of them."


def people_unknown(check: Check) -> str:
    """Why raters of the same texts have no figure of their own."""
    ratings, ceiling = check.panel.ratings, check.ceiling
    if np.unique(ratings[~np.isnan(ratings)]).size == 1:
        return (
            f"All raters gave the same answer everywhere, so their {MEASURES[ceiling.measure]} is undefined"
        )
    why = "" if ceiling.found is None else ceiling.found.reason
    return f"People's {MEASURES[ceiling.measure]} among themselves is undefined: {why}"


MEASURES = {
    "agreement": "agreement",
    "kappa_quadratic": "quadratic kappa",
    "correlation": "rank correlation",
}
"""Measure -> its name in a sentence."""


def check_said(check: Check) -> list[str]:
    """The verdict first, how the input was read, each judge of several, people, the groups in which a judge fails, and marks of injection."""
    said = [check_sentence(check), read_as(check), *equal_sides(check.panel)]
    if len(check.judges) > 1:
        said += [f"{shown(one.name)}: {sentence(check, one)}" for one in check.judges]
    for one in check.judges:
        said += [
            f"{shown(one.name)}: {each}" if len(check.judges) > 1 else each for each in systems_said(one)[1:]
        ]
    said.append(ceiling_sentence(check))
    for one in check.judges:
        fails = [
            f"{group.column} {shown(group.value)} ({group.measure} {ends_said(group.found, 2)}, limit {group.limit:.2f})"
            for group in one.groups
            if group.fails and group.limit is not None
        ]
        if fails:
            said.append(
                f"{shown(one.name)} fails in {', '.join(fails)}, corrected for all {len(one.groups)} groups."
            )
    return said + injections_said(check.injections)


def check_tables(check: Check) -> dict[str, ResultTable]:
    """All tables by name: the numbers of each judge, the rules, the groups and the systems, which come first in a certificate.

    Where texts have marks of injection, also those of MARKED_TABLES.
    """
    tables = [judge_table(check), rule_table(check), group_table(check), system_table(check)]
    if check.use == "certify":
        tables.insert(0, tables.pop())
    return {table.name: table for table in tables} | marked_tables(check.injections)


def judge_table(check: Check) -> ResultTable:
    """One row for each judge, with people's figure beside it. Columns that say nothing here are not shown, but written."""
    by_class = any(one.kappa is not None for one in check.judges)
    in_place = check.use in {"replace", "gate"}
    certifies = check.use == "certify"
    rates = any(one.kind == "two" for one in check.judges) and in_place
    ordered = any(one.kind == "ordered" for one in check.judges)
    return ResultTable(
        CHECK_TABLES[0],
        (
            Column("judge", names_row=True),
            Column("verdict"),
            Column("n_items", "items"),
            Column("false_passes", "false passes", percent=True, shown=rates),
            Column("false_fails", "false fails", percent=True, shown=rates),
            Column("kept_share", "kept share", percent=True, shown=in_place),
            Column("kappa_quadratic", "quadratic kappa", shown=ordered and not certifies),
            Column("agreement", shown=by_class),
            Column("constant", "constant answer", shown=by_class and in_place),
            Column("kappa", shown=by_class and not ordered),
            Column("ac1", "AC1", shown=by_class and check.use == "gate" and not ordered),
            Column(
                "correlation", "Spearman", shown=(ordered or not by_class or not in_place) and not certifies
            ),
            Column("measure", shown=False),
            Column("ceiling", f"people ({MEASURES[check.ceiling.measure]})", shown=not certifies),
            Column("advantage", shown=check.use == "replace"),
            Column("accuracy", shown=check.use == "rank"),
            Column("bias", shown=any(one.bias is not None for one in check.judges)),
            Column("responsiveness", shown=check.use == "monitor"),
            *(
                Column(
                    f"bias_{name}",
                    f"bias, rated {name}",
                    shown=any(third.name == name for one in check.judges for third in one.thirds),
                )
                for name in THIRDS
            ),
            Column("coverage", percent=True, shown=any(one.n_unscored for one in check.judges)),
            Column("consistency", shown=any(one.facts.consistency is not None for one in check.judges)),
            Column(
                "cost",
                "cost per 1,000",
                places=2,
                shown=any(one.facts.cost is not None for one in check.judges),
            ),
            Column(
                "labels_needed",
                "further items needed",
                shown=any(one.labels_needed is not None for one in check.judges),
            ),
        ),
        tuple(
            (
                one.name,
                one.verdict,
                one.n_items,
                _rate(one, "false-passes"),
                _rate(one, "false-fails"),
                _share(one),
                interval(one.kappa_quadratic, NOT_ORDERED),
                interval(one.agreement, NO_CLASSES),
                None if one.constant is None else one.constant.agreement,
                interval(one.kappa, NO_CLASSES),
                interval(one.ac1, NO_CLASSES),
                interval(one.correlation, NO_ORDER),
                one.measure,
                _ceiling(one),
                interval(
                    None if one.alt_test is None else one.alt_test.advantage, "only for the use replace"
                ),
                interval(_accuracy(one), "only for the use rank"),
                interval(one.bias, NO_ORDER if one.correlation is None else OTHER_SCALE),
                interval(
                    None if one.responsiveness is None else one.responsiveness.found,
                    "only for the use monitor, on the raters' scale",
                ),
                *(
                    interval(_third(one, name), "no rating there, no text with two raters, or another use")
                    for name in THIRDS
                ),
                one.coverage,
                interval(one.facts.consistency, "no repeats"),
                Interval(one.facts.cost, reason="" if one.facts.cost is not None else "no price known"),
                one.labels_needed,
            )
            for one in check.judges
        ),
        title=f"Can the judge be trusted to {USES[check.use]}?",
        notes=(
            *(() if certifies else _further_notes(check)),
            *(() if certifies else left_out_lines(check.panel.left_out)),
            *(
                (f"left out: {check.n_left_out:,} texts without a rating or without a score",)
                if check.n_left_out
                else ()
            ),
            *((f"Intervals: {check.options.confidence_level:.0%}, over items.",) if not certifies else ()),
            *_measure_notes(check),
        ),
    )


def _rate(one: JudgeCheck, code: str) -> Interval:
    """The judge's own rate of an error."""
    rule = one.rule(code)
    if rule is None or rule.found is None:
        return Interval(None, reason="only for two classes, with the uses gate and replace")
    return interval(rule.found if rule.behind is None else rule.behind.judge, rule.why)


def _share(one: JudgeCheck) -> Interval:
    rule = one.rule("kept-share")
    if rule is None or not isinstance(rule.behind, InPlace):
        return Interval(None, reason=one.silent or "no text has two raters, or another use")
    share = rule.behind.share
    return Interval(share.estimate, reason=share.reason or "")


def _accuracy(one: JudgeCheck) -> Estimate | None:
    return next((rule.found for rule in one.rules if rule.code == "accuracy"), None)


def _third(one: JudgeCheck, name: str) -> Estimate | None:
    return next((third.bias for third in one.thirds if third.name == name), None)


def _ceiling(one: JudgeCheck) -> Interval:
    if one.ceiling.assumed is not None:
        return Interval(one.ceiling.assumed, beside="(supposed)")
    return interval(one.ceiling.found, "fewer than two raters")


def _further_notes(check: Check) -> list[str]:
    """The notes that the first lines do not already say."""
    said = {check.panel.unit.said, *equal_sides(check.panel)}
    return [one for one in check.notes if one not in said]


def _measure_notes(check: Check) -> list[str]:
    kinds = {one.kind for one in check.judges}
    notes = []
    if "two" in kinds and check.use in {"replace", "gate"}:
        notes.append(
            "False passes: share of the answers that people fail which the judge passes, or gives no score; false fails the reverse."
        )
    if any(_counts_missing(check, one) for one in check.judges):
        notes.append(
            "No score: counts as wrong in the rules, false passes, false fails, kept share, quadratic kappa and advantage; the other "
            "columns leave such texts out."
        )
    if check.use in {"replace", "gate"}:
        notes.append(
            "Kept share: the judge's agreement above chance with a rater, or its correlation, over that of two raters."
        )
    if check.use == "monitor":
        notes.append(
            "Responsiveness: how far the judge moves when quality moves by 1: its covariance with a rater over that of two raters."
        )
    if any(one.thirds for one in check.judges):
        notes.append(
            "Bias, rated low, middle, high: one rater's rating chooses the third, another rater is compared with the judge."
        )
    if kinds - {SCORES} and check.use != "certify":
        notes.append("Agreement: share of a text's raters who gave the judge's class, averaged over texts.")
        notes.append("Constant answer: the agreement of the best answer that never changes.")
    if len({one.measure for one in check.judges}) > 1:
        notes.append(f"People: by the first judge's measure, {MEASURES[check.ceiling.measure]}.")
    return notes


def system_table(check: Check) -> ResultTable:
    """For certify one row for each judge and system, and one for each answer of the judge below it."""
    return ResultTable(
        CHECK_TABLES[3],
        (
            Column("judge", names_row=True, shown=len(check.judges) > 1),
            Column("system", names_row=True),
            Column("answer", "judge's answer", names_row=True),
            Column("verdict"),
            Column("n_texts", "texts"),
            Column("n_labels", "labels"),
            Column("good", percent=True),
            Column("target", percent=True, places=0),
            Column("items_needed", "further items needed"),
        ),
        tuple(
            row
            for one in check.judges
            for system in one.systems
            for row in [
                (
                    one.name,
                    system.system,
                    "all",
                    system.verdict,
                    system.n_texts,
                    system.n_labels,
                    interval(system.found),
                    check.options.target,
                    None
                    if system.rule.labels_needed is None or system.verdict != "INCONCLUSIVE"
                    else system.rule.labels_needed - one.n_items,
                ),
                *(
                    (
                        one.name,
                        system.system,
                        str(part.key),
                        "",
                        part.n,
                        part.n_labelled,
                        interval(part.mean),
                        None,
                        None,
                    )
                    for part in system.strata
                ),
            ]
        ),
        title="Is each target reached? One row a system, then one for each answer of the judge",
        notes=(
            *_further_notes(check),
            *left_out_lines(check.panel.left_out),
            "Good: more than half of a text's raters pass it. All: each answer of the judge weighted by its texts. Intervals decide: "
            f"each end is at {LEVEL:g}" + _divided(check) + ".",
        )
        if check.use == "certify"
        else (),
    )


def _divided(check: Check) -> str:
    n = check.n_verdicts
    return f", divided by {n} systems and judges" if n > 1 else ""


def rule_table(check: Check) -> ResultTable:
    """One row for each judge and rule."""
    return ResultTable(
        CHECK_TABLES[1],
        (
            Column("judge", names_row=True),
            Column("rule", names_row=True),
            Column("code", shown=False),
            Column("found"),
            Column("limit", places=2),
            Column("met", "state"),
            Column("why", "what was found", shown=False),
            Column("items_needed", "items needed in all"),
            Column("class_needed", "of the class", shown=False),
        ),
        tuple(
            (
                one.name,
                rule.wanted,
                rule.code,
                _found(one, rule),
                rule.limit if rule.code != "items" or rule.limit is None else int(rule.limit),
                _MET[rule.met],
                rule.why,
                rule.labels_needed if rule.met is None else None,
                rule.class_needed if rule.met is None else None,
            )
            for one in check.judges
            for rule in one.rules
        ),
        title="Rules",
        notes=(
            "TRUSTED if all rules are met, NOT TRUSTED if one failed, else INCONCLUSIVE. A rule is met or failed if it is shown "
            f"at {LEVEL:g}{_STRICTER_SAID.get(check.use, '')}{_levels_said(check)}",
        ),
    )


_OF_COEFFICIENTS = f" (coefficients at {LEVEL / STRICTER:g}, or {LEVEL / STRICTER_BROKEN:g})"
_STRICTER_SAID = {
    "replace": _OF_COEFFICIENTS,
    "gate": _OF_COEFFICIENTS,
    "monitor": f" (responsiveness over texts to be met at {LEVEL / CAUTION:g})",
}
"""Use -> rules that are tested at a part of the level, in words."""


def _levels_said(check: Check) -> str:
    """How the level is divided."""
    m, what = check.n_verdicts, "systems and judges" if check.use == "certify" else "judges"
    return (
        f", divided by {m} for {m} {what} to be met, and corrected for all rules to be failed."
        if m > 1
        else ", corrected for all rules to be failed."
    )


def _found(one: JudgeCheck, rule: Rule) -> Interval:
    if rule.code == "items":
        return Interval(one.n_items)
    return interval(rule.found, rule.why)


def group_table(check: Check) -> ResultTable:
    """One row for each judge and group of texts."""
    n_tests = sum(group.p is not None for one in check.judges for group in one.groups)
    most = max((sum(group.p is not None for group in one.groups) for one in check.judges), default=0)
    return ResultTable(
        CHECK_TABLES[2],
        (
            Column("judge", names_row=True),
            Column("column", names_row=True),
            Column("value", names_row=True),
            Column("n_items", "items"),
            Column("measure"),
            Column("agreement", "found"),
            Column("limit", places=2),
            Column("p", p_value=True),
            corrected_column("holm", n_tests),
            Column("fails"),
        ),
        tuple(
            (
                one.name,
                group.column,
                group.value,
                group.n_items,
                group.measure,
                interval(group.found),
                group.limit,
                Interval(
                    group.p,
                    reason=""
                    if group.p is not None
                    else f"fewer than {FEWEST_OF_A_GROUP} items, or no interval",
                ),
                group.p_holm,
                "yes" if group.fails else "no",
            )
            for one in check.judges
            for group in one.groups
        ),
        title="By group",
        notes=(
            "p: one-sided test that the judge keeps the limit in the group: "
            + (
                "a bias within the tolerance."
                if check.use == "monitor"
                else f"the raters' own figure on the same texts, minus {check.options.margin:g}."
            ),
            *corrected_note("holm", most, "the groups, for each judge"),
        ),
    )


def signature(check: Check) -> str:
    """What the verdict depends on beside the judge's scores: use, options, version, and a hash of texts and ratings."""
    panel, options = check.panel, check.options
    data = hashlib.sha256()
    for row in panel.rows:
        data.update(
            repr((row.item_id, row.system, row.level, row.language, sorted(row.labels.items()))).encode()
        )
    data.update("\0".join(panel.raters).encode())
    data.update(panel.ratings.tobytes())
    limits = "|".join(
        f"{name}:{','.join(value) if isinstance(value, tuple) else value}"
        for name in LIMITS[check.use]
        if (value := getattr(options, name)) not in (None, ())
    )
    return (
        f"check|use:{check.use}|{limits}|level:{options.confidence_level:g}|rng:{options.rng}"
        f"|labels:{data.hexdigest()[:_SIGNED]}|version:{__version__}"
    )


def check_json(check: Check) -> dict[str, Any]:
    """The result as JSON values. `verdict` on top is null for several judges."""
    return {
        "verdict": check.verdict,
        "use": check.use,
        "sentence": check_sentence(check),
        "reasons": _reasons(check),
        "read_as": read_as(check),
        "scale": scale_json(check.panel.scale),
        "unit": unit_json(check.panel.unit),
        "judges_paid_for": check.n_verdicts,
        "n_items": check.n_items,
        "n_left_out": check.n_left_out,
        "human": {
            "raters": list(check.panel.raters),
            "ceiling": {
                "measure": check.ceiling.measure,
                **ends(check.ceiling.found, "fewer than two raters"),
                "supposed": check.ceiling.assumed,
            },
        },
        "judges": [_judge_json(check, one) for one in check.judges],
        "injections": injections_json(check.injections),
        "columns": mapping_of(check.panel.roles) if check.panel.roles else None,
        "confidence_level": check.options.confidence_level,
        "notes": [*check.notes, *left_out_lines(check.panel.left_out)],
        "signature": signature(check),
        **rows_json(check),
    }


def _reasons(check: Check) -> list[str]:
    if len(check.judges) == 1:
        return _reasons_of(check.judges[0])
    return [f"{one.name}: {why}" for one in check.judges for why in _reasons_of(one)]


def _reasons_of(one: JudgeCheck) -> list[str]:
    """What was found for the rules that decided; for certify what was found of every system."""
    return [_system_said(one, system) for system in one.systems] or list(one.reasons)


def _judge_json(check: Check, one: JudgeCheck) -> dict[str, Any]:
    tested = one.alt_test
    return {
        "name": one.name,
        "verdict": one.verdict,
        "sentence": sentence(check, one),
        "reasons": _reasons_of(one),
        "rules": [
            {
                "code": rule.code,
                "rule": rule.wanted,
                "met": rule.met,
                "limit": rule.limit,
                "found": None if rule.found is None else ends(rule.found),
                "why": rule.why,
                "p_shown": plain(rule.shown),
                "p_broken": plain(rule.broken),
                "labels_needed": rule.labels_needed if rule.met is None else None,
                "of_class": rule.of_class or None,
                "class_needed": rule.class_needed if rule.met is None else None,
            }
            for rule in one.rules
        ],
        "kind": one.kind,
        "measure": one.measure,
        "agreement": ends(one.agreement, NO_CLASSES),
        "constant": None
        if one.constant is None
        else {
            "answer": one.scale.name(one.constant.answer),
            "agreement": one.constant.agreement,
        },
        "false_passes": _rate_json(one, "false-passes"),
        "false_fails": _rate_json(one, "false-fails"),
        "kept_share": _kept_json(one),
        "kappa_quadratic": ends(one.kappa_quadratic, NOT_ORDERED),
        "icc": None
        if one.icc is None
        else {"judge": plain(one.icc.judge), "people": plain(one.icc.people), "n": one.icc.n},
        "coverage": one.coverage,
        "n_unscored": one.n_unscored,
        "severity": one.severity or None,
        "ceiling": {
            "measure": one.ceiling.measure,
            **ends(one.ceiling.found, "fewer than two raters"),
            "supposed": one.ceiling.assumed,
        },
        "kappa": ends(one.kappa, NO_CLASSES),
        "ac1": ends(one.ac1, NO_CLASSES),
        "correlation": ends(one.correlation, NO_ORDER),
        "alt_test": None
        if tested is None
        else {
            "epsilon": tested.epsilon,
            "winning_rate": tested.winning_rate,
            "passed": tested.passed,
            "advantage": ends(tested.advantage),
        },
        "bias": ends(one.bias, NO_ORDER if one.correlation is None else OTHER_SCALE),
        "responsiveness": _responsiveness_json(one),
        "bias_thirds": [
            {
                "third": third.name,
                "from": one.scale.name(third.lowest),
                "to": one.scale.name(third.highest),
                "n": third.bias.n,
                **ends(third.bias),
            }
            for third in one.thirds
        ],
        "systems": [
            {
                "system": system.system or None,
                "verdict": system.verdict,
                "sentence": _system_said(one, system),
                "target": check.options.target,
                "good": ends(system.found),
                "n_texts": system.n_texts,
                "n_labels": system.n_labels,
                "n_items": system.n_items,
                "confidence_level": system.found.confidence_level,
                "answers": [
                    {
                        "answer": str(part.key),
                        "n_texts": part.n,
                        "n_labels": part.n_labelled,
                        "good": ends(part.mean),
                    }
                    for part in system.strata
                ],
            }
            for system in one.systems
        ],
        "consistency": ends(one.facts.consistency, "no repeats"),
        "cost": one.facts.cost,
        "currency": one.facts.currency or None,
        "seconds": one.facts.seconds,
        "model": one.facts.model,
        "groups": [
            {
                "column": group.column,
                "value": group.value,
                "n_items": group.n_items,
                "measure": group.measure,
                "agreement": ends(group.found),
                "limit": plain(group.limit),
                "p": plain(group.p),
                "p_holm": plain(group.p_holm),
                "fails": group.fails,
            }
            for group in one.groups
        ],
        "n_items": one.n_items,
        "n_texts": one.n_texts,
        "n_left_out": one.n_left_out,
        "labels_needed": one.labels_needed,
        "labels_reason": one.labels_reason,
    }


def scale_json(scale: Scale) -> dict[str, Any]:
    """The raters' scale."""
    return {
        "kind": scale.kind,
        "classes": [scale.name(value) if scale.words else value for value in scale.classes] or None,
        "ends": scale.ends,
        "origin": scale.origin,
        "missing": list(scale.missing),
    }


def unit_json(unit: Unit) -> dict[str, Any]:
    """What an item is."""
    return {
        "name": unit.name,
        "origin": unit.origin,
        "n": unit.n,
        "undecided": unit.undecided,
        "joined_by_row": unit.joined_by_row,
    }


def _rate_json(one: JudgeCheck, code: str) -> dict[str, Any] | None:
    """The judge's rate of an error, people's, and the difference with its interval; null where the rule does not apply."""
    rule = one.rule(code)
    if rule is None or rule.found is None:
        return None
    if not isinstance(rule.behind, ClassErrors):  # one rater: nobody to compare with
        return {
            "judge": rule.found.estimate,
            "people": None,
            "difference": None,
            "low": rule.found.low,
            "high": rule.found.high,
            "n": rule.found.n,
        }
    return {
        "judge": rule.behind.judge.estimate,
        "people": rule.behind.people.estimate,
        "difference": rule.found.estimate,
        "low": rule.found.low,
        "high": rule.found.high,
        "n": rule.found.n,
    }


def _kept_json(one: JudgeCheck) -> dict[str, Any] | None:
    rule = one.rule("kept-share")
    if rule is None or not isinstance(rule.behind, InPlace):
        return None
    found = rule.behind
    return {
        "share": found.share.estimate,
        "judge": found.judge.estimate,
        "people": found.people.estimate,
        "n": found.kept.n,
        "reason": found.share.reason,
    }


def _responsiveness_json(one: JudgeCheck) -> dict[str, Any] | None:
    """How far the judge moves when quality moves by 1, and the covariances; null for other uses and scales."""
    found = one.responsiveness
    if found is None:
        return None
    return {
        **ends(found.found),
        "judge": found.judge,
        "people": found.people,
        "n": found.found.n,
        "means_of_systems": found.of_groups,
        "at_least": found.of_one_rater,
    }


def exit_status(check: Check) -> int:
    """0: trusted. 3: a judge is not trusted. 4: none of these, but one is inconclusive."""
    verdicts: Sequence[str] = [one.verdict for one in check.judges]
    return 3 if "NOT TRUSTED" in verdicts else 4 if "INCONCLUSIVE" in verdicts else 0
