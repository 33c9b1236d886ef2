"""A check in sentences: the verdict first, then what decided, how the input was read, and what numbers mean."""

import hashlib
from collections import Counter
from collections.abc import Sequence

import numpy as np

from core import __version__
from core.joining.panel import equal_sides
from core.results.cells import (
    corrected_note,
    ends_said,
    left_out_lines,
)
from core.results.check.certifying import Certificate, target_said
from core.results.check.monitoring import CAUTION, third_beyond_tolerance
from core.results.check.rules import LEVEL, STRICTER, STRICTER_BROKEN
from core.results.check.verdict import Check, JudgeCheck
from core.results.injection import injections_said
from core.schema.scale import SCORES
from core.schema.uses import LIMITS
from core.tables.problems import listed
from core.tables.reading import shown

_SIGNED = 12


_AS = {
    "replace": "in the place of a rater",
    "gate": "as a gate",
    "rank": "to rank systems",
    "monitor": "to follow a mean",
    "certify": "for all systems",
}
"""What a judge is trusted, or not, as: behind the verdict."""


def sentence(check: Check, judge: JudgeCheck) -> str:
    """The verdict on one judge, the numbers that decided, and what would settle it. Does not name the judge."""
    if judge.systems:
        return systems_said(judge)[0]
    said = f"{judge.verdict} {_AS[check.use]}: {_why(judge)}.{_third_said(check, judge)}"
    if judge.verdict != "TRUSTED" and _counts_missing(check, judge):
        n_texts = judge.n_texts + judge.n_unscored
        said += f" {judge.n_unscored:,} of {n_texts:,} labelled texts have no score and count as wrong."
    if judge.verdict != "INCONCLUSIVE":
        return said
    if judge.labels_needed is not None:
        return f"{said} {_needed_said(judge)}"
    if judge.labels_reason and judge.labels_reason not in said:
        said += f" {judge.labels_reason[0].upper()}{judge.labels_reason[1:]}."
    return said


def _counts_missing(check: Check, judge: JudgeCheck) -> bool:
    """Whether labelled texts without a score count as errors of the judge."""
    in_place = check.use in {"replace", "gate"} and check.options.missing_judge == "wrong"
    return in_place and judge.n_unscored > 0 and not judge.silent


def systems_said(judge: JudgeCheck) -> list[str]:
    """For certify: of one system its verdict; of several how many are TRUSTED, and which, then each."""
    said = [system_said(judge, system) for system in judge.systems]
    if len(said) < 2:
        return said
    return [
        f"{counted_verdicts([(system.system, system.verdict) for system in judge.systems], 'system', _purpose(judge))}.",
        *said,
    ]


def _purpose(judge: JudgeCheck) -> str:
    """What systems are trusted to do: ` to give at least 90 % good answers`."""
    limit = judge.systems[0].rule.limit
    return "" if limit is None else f" to give at least {target_said(limit)} good answers"


def system_said(judge: JudgeCheck, system: Certificate) -> str:
    """The verdict on one system, and what would settle it."""
    unit = next((rule.why for rule in judge.rules if rule.code == "unit"), "")
    said = f"{system.claim}: {system.rule.why}{unit and '; '}{unit}."
    if system.verdict != "INCONCLUSIVE" or unit or system.rule.labels_needed is None:
        return said
    return f"{said} {_further_items(system.rule.labels_needed - judge.n_items)}"


def _why(judge: JudgeCheck) -> str:
    """What decided, in at most two estimates: what is to be done first, then the first rule."""
    if judge.severity and judge.verdict == "NOT TRUSTED":
        return judge.severity
    deciding = judge.deciding
    stated = [rule for rule in deciding if rule.estimate is None]
    tested = [rule for rule in deciding if rule.estimate is not None]
    if judge.verdict == "NOT TRUSTED" or not stated:
        both = [rule.why for rule in tested if rule.code in {"bias", "responsiveness"}]
        if (
            len(both) == 2 and judge.verdict != "INCONCLUSIVE"
        ):  # a mean is followed if level and slope are right
            return f"{both[0]}. {both[1][0].upper()}{both[1][1:]}"
        return (tested or stated)[0].why
    if stated[0].code == "people" and tested:
        return f"{tested[0].why}. {stated[0].why[0].upper()}{stated[0].why[1:]}"
    return stated[0].why


def _third_said(check: Check, judge: JudgeCheck) -> str:
    """The third of the ratings in which the judge's bias is shown beyond the tolerance, while its mean is not; else empty."""
    third = third_beyond_tolerance(judge.thirds, judge.bias, check.options)
    if third is None:
        return ""
    ratings = " to ".join(dict.fromkeys(judge.scale.name(end) for end in (third.lowest, third.highest)))
    return (
        f" Where people rate {third.name} ({ratings}), its bias is {ends_said(third.bias, 2)} of the scale."
    )


def _needed_said(judge: JudgeCheck) -> str:
    """How many labels would settle an open verdict, in texts of the class that the slowest rule needs."""
    slowest = max(
        (rule for rule in judge.rules if rule.met is None), key=lambda rule: rule.labels_needed or 0
    )
    if slowest.of_class and slowest.class_needed is not None:
        whose = f"{slowest.of_class} texts"
        return f"About {_rounded(slowest.class_needed)} {whose} in all would settle it if the estimates stay."
    assert judge.labels_needed is not None
    return _further_items(judge.labels_needed)


def _further_items(number: int) -> str:
    items = "item" if number == 1 else "items"
    return f"About {_rounded(number)} further labelled {items} would settle it if the estimates stay."


def _rounded(number: int) -> str:
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
    if ceiling.estimate is not None and ceiling.estimate.estimate is not None:
        said = f"People among themselves: {what} {ends_said(ceiling.estimate, 2)}"
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
    why = "" if ceiling.estimate is None else ceiling.estimate.reason
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
            f"{group.column} {shown(group.value)} ({group.measure} {ends_said(group.estimate, 2)}, limit {group.limit:.2f})"
            for group in one.groups
            if group.fails and group.limit is not None
        ]
        if fails:
            said.append(
                f"{shown(one.name)} fails in {', '.join(fails)}, corrected for all {len(one.groups)} groups."
            )
    return said + injections_said(check.injections)


def _further_notes(check: Check) -> list[str]:
    """The notes that the first lines do not already say, and what was left out."""
    said = {check.panel.unit.said, *equal_sides(check.panel)}
    return [*(one for one in check.notes if one not in said), *left_out_lines(check.panel.left_out)]


def judge_notes(check: Check) -> tuple[str, ...]:
    """Notes on the numbers of each judge."""
    certifies = check.use == "certify"
    left_out = f"left out: {check.n_left_out:,} texts without a rating or without a score"
    return (
        *(() if certifies else _further_notes(check)),
        *((left_out,) if check.n_left_out else ()),
        *(() if certifies else (f"Intervals: {check.options.confidence_level:.0%}, over items.",)),
        *_measure_notes(check),
    )


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


def rule_notes(check: Check) -> tuple[str, ...]:
    """How rules make a verdict, and how the level is divided."""
    return (
        "TRUSTED if all rules are met, NOT TRUSTED if one failed, else INCONCLUSIVE. A rule is met or failed if it is shown "
        f"at {LEVEL:g}{_STRICTER_SAID.get(check.use, '')}{_levels_said(check)}",
    )


def group_notes(check: Check) -> tuple[str, ...]:
    """What is tested in a group."""
    most = max((sum(group.p is not None for group in one.groups) for one in check.judges), default=0)
    limit = (
        "a bias within the tolerance."
        if check.use == "monitor"
        else f"the raters' own figure on the same texts, minus {check.options.margin:g}."
    )
    return (
        f"p: one-sided test that the judge keeps the limit in the group: {limit}",
        *corrected_note("holm", most, "the groups, for each judge"),
    )


def system_notes(check: Check) -> tuple[str, ...]:
    """What a good answer is; nothing for other uses than certify."""
    if check.use != "certify":
        return ()
    n = check.n_verdicts
    divided = f", divided by {n} systems and judges" if n > 1 else ""
    return (
        *_further_notes(check),
        "Good: more than half of a text's raters pass it. All: each answer of the judge weighted by its texts. Intervals decide: "
        f"each end is at {LEVEL:g}{divided}.",
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


def reasons(check: Check) -> list[str]:
    """What was found for the rules that decided, for each judge."""
    if len(check.judges) == 1:
        return reasons_of(check.judges[0])
    return [f"{one.name}: {why}" for one in check.judges for why in reasons_of(one)]


def reasons_of(judge: JudgeCheck) -> list[str]:
    """What was found for the rules that decided; for certify what was found of every system."""
    return [system_said(judge, system) for system in judge.systems] or list(judge.reasons)
