"""The check in sentences, tables and JSON."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from core import __version__
from core.results.cells import (
    corrected_column,
    corrected_note,
    ends,
    ends_said,
    interval,
    left_out_lines,
    plain,
)
from core.results.check.drift import rows_json
from core.results.check.verdict import (
    FEWEST_OF_A_GROUP,
    USES,
    Check,
    JudgeCheck,
    Rule,
)
from core.schema.result_table import Column, Interval, ResultTable
from core.stats.resampling import Estimate
from core.tables.problems import listed
from core.tables.reading import shown

CHECK_TABLES = ("check", "check-rules", "check-groups")
"""Names of all tables, the main one first."""
NO_CLASSES = "the judge's scores are no classes of the raters"
NO_ORDER = "labels without an order"
OTHER_SCALE = "the judge uses another scale than the raters"
_SIGNED = 12
_MET = {True: "met", False: "failed", None: "open"}


def sentence(check: Check, one: JudgeCheck) -> str:
    """The verdict on one judge, the numbers that decided, and what would settle it."""
    name, use, reasons = shown(one.name), USES[check.use], "; ".join(one.reasons)
    if one.verdict != "INCONCLUSIVE":
        return f"{name} is {one.verdict} to {use}: {reasons}."
    said = f"It is {one.verdict} whether {name} can be trusted to {use}: {reasons}."
    if one.labels_needed is not None:
        items = "item" if one.labels_needed == 1 else "items"
        return (
            said
            + f" About {_about(one.labels_needed)} further labelled {items} would settle it if the estimates stay."
        )
    if one.labels_reason and one.labels_reason not in one.reasons:
        said += f" {one.labels_reason[0].upper()}{one.labels_reason[1:]}."
    return said


def _about(number: int) -> str:
    """A planned number to two digits: it is no more exact."""
    return f"{float(f'{number:.2g}'):,.0f}"


def check_sentence(check: Check) -> str:
    """The verdict in a sentence; for several judges how many are trusted, and which."""
    if len(check.judges) == 1:
        return sentence(check, check.judges[0])
    counts = Counter(one.verdict for one in check.judges)
    trusted = [shown(one.name) for one in check.judges if one.verdict == "TRUSTED"]
    which = f": {', '.join(trusted)}" if trusted else ""
    others = [f"{counts[other]} {other}" for other in ("NOT TRUSTED", "INCONCLUSIVE") if counts[other]]
    n = len(check.judges)
    how_many = f"{len(trusted)} of {n} judges" if trusted else f"None of the {n} judges"
    said = f"{how_many} {'is' if len(trusted) < 2 else 'are'} TRUSTED to {USES[check.use]}{which}."
    return f"{said} {', '.join(others)}." if others else said


def ceiling_sentence(check: Check) -> str:
    """What a rater reaches by the measure of the use."""
    ceiling = check.ceiling
    if ceiling.assumed is not None:
        if check.use in {"rank", "monitor"}:
            return "No text has two raters, so there is no human ceiling."
        used = {
            one.ceiling.measure: one.ceiling.assumed
            for one in check.judges
            if one.ceiling.assumed is not None
        }
        values = listed([f"{value:.2f} for {measure}" for measure, value in used.items()])
        return "No text has two raters, so there is no human ceiling. " + (
            f"Supposed: {values}. State your own, or label some texts twice."
            if check.options.ceiling is None
            else f"Stated: {values}."
        )
    if ceiling.found is None or ceiling.found.estimate is None:
        why = "fewer than two raters" if ceiling.found is None else ceiling.found.reason
        return f"Human ceiling: undefined. Reason: {why}."
    found = ceiling.found
    return f"Human ceiling: {ceiling.measure} {ends_said(found, 2)} of a rater with the others."


def check_said(check: Check) -> list[str]:
    """The verdict first, then each judge of several, the ceiling, and the groups in which a judge fails."""
    said = [check_sentence(check)]
    if len(check.judges) > 1:
        said += [sentence(check, one) for one in check.judges]
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
    return said


def check_tables(check: Check) -> dict[str, ResultTable]:
    """All tables by name: the numbers of each judge, the rules, and the groups."""
    tables = (judge_table(check), rule_table(check), group_table(check))
    return {table.name: table for table in tables}


def judge_table(check: Check) -> ResultTable:
    """One row for each judge, with the human ceiling beside it. Columns that say nothing here are not shown, but written."""
    by_class = any(one.kappa is not None for one in check.judges)
    decides = check.use in {"rank", "monitor"}
    return ResultTable(
        CHECK_TABLES[0],
        (
            Column("judge", names_row=True),
            Column("verdict"),
            Column("n_items", "items"),
            Column("agreement", "agreement" if by_class else _measure_of(check)),
            Column("measure", shown=len({one.measure for one in check.judges}) > 1),
            Column("ceiling", f"ceiling ({check.ceiling.measure})", shown=not (decides and _supposed(check))),
            Column("kappa", shown=by_class),
            Column("ac1", "AC1", shown=by_class and check.use != "replace"),
            Column("correlation", "Spearman", shown=by_class and decides),
            Column("advantage", shown=check.use == "replace"),
            Column("accuracy", shown=check.use == "rank"),
            Column("bias", shown=any(one.bias is not None for one in check.judges)),
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
                interval(one.agreement),
                one.measure,
                _ceiling(one),
                interval(one.kappa, NO_CLASSES),
                interval(one.ac1, NO_CLASSES),
                interval(one.correlation, NO_ORDER),
                interval(None if one.alt_test is None else one.alt_test.reduced, "only for the use replace"),
                interval(_accuracy(one), "only for the use rank"),
                interval(one.bias, NO_ORDER if one.correlation is None else OTHER_SCALE),
                interval(one.facts.consistency, "no repeats"),
                Interval(one.facts.cost, reason="" if one.facts.cost is not None else "no price known"),
                one.labels_needed,
            )
            for one in check.judges
        ),
        title=f"Can the judge be trusted to {USES[check.use]}?",
        notes=(
            f"Intervals: {check.options.confidence_level:.0%}, over items, so that each bound errs in at most "
            f"{(1 - check.options.confidence_level) / 2:.0%}.",
            *_measure_notes(check),
            *check.notes,
            *left_out_lines(check.panel.left_out),
            *(
                (f"left out: {check.n_left_out:,} texts without a rating or without a score",)
                if check.n_left_out
                else ()
            ),
        ),
    )


def _accuracy(one: JudgeCheck) -> Estimate | None:
    return next((rule.found for rule in one.rules if rule.code == "accuracy"), None)


def _measure_of(check: Check) -> str:
    return "agreement" if any(one.measure == "agreement" for one in check.judges) else "correlation"


def _supposed(check: Check) -> bool:
    return all(one.ceiling.assumed is not None for one in check.judges)


def _ceiling(one: JudgeCheck) -> Interval:
    if one.ceiling.assumed is not None:
        return Interval(one.ceiling.assumed, beside="(supposed)")
    return interval(one.ceiling.found, "fewer than two raters")


def _measure_notes(check: Check) -> list[str]:
    measures = {one.measure for one in check.judges}
    notes = []
    if "agreement" in measures:
        notes.append("Agreement: share of a text's raters who gave the judge's class, averaged over texts.")
    if "correlation" in measures:
        notes.append(
            "Agreement of scores: Spearman's correlation with the mean of the other raters, averaged over raters."
        )
    return notes


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
            )
            for one in check.judges
            for rule in one.rules
        ),
        title="Rules",
        notes=("TRUSTED if all rules are met, NOT TRUSTED if one failed, else INCONCLUSIVE.",),
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
    limits = {
        "replace": f"epsilon:{options.epsilon:g}|margin:{options.margin:g}",
        "gate": f"margin:{options.margin:g}",
        "rank": f"accuracy:{options.accuracy:g}",
        "monitor": f"tolerance:{options.tolerance:g}",
    }[check.use]
    supposed = "" if check.ceiling.assumed is None else f"|ceiling:{check.ceiling.assumed:g}"
    return (
        f"check|use:{check.use}|{limits}{supposed}|level:{options.confidence_level:g}|rng:{options.rng}"
        f"|labels:{data.hexdigest()[:_SIGNED]}|version:{__version__}"
    )


def check_json(check: Check) -> dict[str, Any]:
    """The result as JSON values. `verdict` on top is null for several judges."""
    return {
        "verdict": check.verdict,
        "use": check.use,
        "sentence": check_sentence(check),
        "reasons": _reasons(check),
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
        "columns": check.panel.roles.mapping if check.panel.roles else None,
        "confidence_level": check.options.confidence_level,
        "notes": [*check.notes, *left_out_lines(check.panel.left_out)],
        "signature": signature(check),
        **rows_json(check),
    }


def _reasons(check: Check) -> list[str]:
    if len(check.judges) == 1:
        return list(check.judges[0].reasons)
    return [f"{one.name}: {why}" for one in check.judges for why in one.reasons]


def _judge_json(check: Check, one: JudgeCheck) -> dict[str, Any]:
    tested = one.alt_test
    return {
        "name": one.name,
        "verdict": one.verdict,
        "sentence": sentence(check, one),
        "reasons": list(one.reasons),
        "rules": [
            {
                "code": rule.code,
                "rule": rule.wanted,
                "met": rule.met,
                "limit": rule.limit,
                "found": None if rule.found is None else ends(rule.found),
                "why": rule.why,
            }
            for rule in one.rules
        ],
        "measure": one.measure,
        "agreement": ends(one.agreement),
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
            "epsilon": tested.test.epsilon,
            "winning_rate": tested.test.winning_rate,
            "passed": tested.test.passed,
            "advantage": ends(tested.test.advantage),
            "reduced_advantage": ends(tested.reduced),
            "ceiling": ends(tested.ceiling),
        },
        "bias": ends(one.bias, NO_ORDER if one.correlation is None else OTHER_SCALE),
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


def exit_status(check: Check) -> int:
    """0: trusted. 3: a judge is not trusted. 4: none of these, but one is inconclusive."""
    verdicts: Sequence[str] = [one.verdict for one in check.judges]
    return 3 if "NOT TRUSTED" in verdicts else 4 if "INCONCLUSIVE" in verdicts else 0
