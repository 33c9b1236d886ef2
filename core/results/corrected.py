"""A judge's mean or pass rate corrected by labels from people: over all texts, by system, and between systems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.results.cells import corrected_column, corrected_note, decimal, interval, left_out_notes
from core.results.panel import Panel
from core.schema.result_table import Cell, Column, Interval, ResultTable
from core.schema.scores import ScoredRow
from core.stats.multiplicity import Correction
from core.stats.multiplicity import corrected as corrected_p
from core.stats.prediction_powered import (
    METHODS,
    SELECTED,
    Corrected,
    Method,
    Scored,
    corrected_difference,
    corrected_mean,
)
from core.stats.resampling import Estimate, Floats, check_confidence_level
from core.tables.problems import listed
from core.tables.reading import looks_like_number, number_in, shown

TABLES = ("corrected", "corrected-differences", "corrected-methods")
"""Names of the result tables."""
ALL_ROWS = "all"
NO_SCORE = "no score by the judge"
CORRECTION: Correction = "holm"


@dataclass(frozen=True)
class Options:
    """Options of the correction."""

    passes: str | None = None
    """Word or number that counts as a pass; None: the better of two words, 1 of 0 and 1, else ratings are grades."""
    method: Method | None = None
    """None: the rule of `core.stats.prediction_powered` decides."""
    confidence_level: float = 0.95


@dataclass(frozen=True)
class SystemNumbers:
    """The numbers of one system; ALL_ROWS for all rows together."""

    system: str
    found: Corrected
    n_left_out: int
    """Rows without a judge's score."""


@dataclass(frozen=True)
class Difference:
    """The first system minus the second."""

    first: str
    second: str
    found: Corrected
    p_corrected: float | None


@dataclass(frozen=True)
class CorrectedNumbers:
    """A judge's numbers, corrected."""

    name: str
    judge: str
    raters: tuple[str, ...]
    overall: SystemNumbers
    systems: tuple[SystemNumbers, ...]
    """Empty if there is only one."""
    differences: tuple[Difference, ...]
    passes: str | None
    """What counts as a pass; None for grades."""
    fails: tuple[str, ...]
    """What counts as a fail."""
    left_out: Mapping[str, int]
    """Reason -> number of rows or ratings not used."""
    notes: tuple[str, ...]
    confidence_level: float

    @property
    def everyone(self) -> tuple[SystemNumbers, ...]:
        """All rows together, then each system."""
        return (self.overall, *self.systems)

    @property
    def what(self) -> str:
        """What is estimated."""
        return "mean rating" if self.passes is None else f"pass rate ({self.passes})"


DEFAULT_OPTIONS = Options()


def corrected_numbers(panel: Panel, options: Options = DEFAULT_OPTIONS) -> CorrectedNumbers:
    """Correct the scores of the panel's only judge by the mean rating of each text's raters.

    Rows of one item depend on each other, so intervals go over items. Two systems are compared on the items of both where
    they share them. Raises InputError unless the panel has exactly one judge and a label beside one of its scores, and for
    a `passes` that no rater gave.
    """
    check_confidence_level(options.confidence_level)
    if len(panel.judges) != 1:
        named = f"found {len(panel.judges)}: {listed(panel.judges)}" if panel.judges else "found none"
        raise InputError(
            f"{shown(panel.name)}: corrected numbers need one judge",
            [f"judge: {named}; name one column, rater or metric"],
        )
    scale = label_scale(panel, options.passes)
    judge, ratings = scale.judge, scale.ratings
    rated = ~np.isnan(ratings)
    counts = rated.sum(axis=1)
    human = np.full(len(ratings), np.nan)
    human[counts > 0] = np.where(rated, ratings, 0.0).sum(axis=1)[counts > 0] / counts[counts > 0]
    used = ~np.isnan(judge)
    if not (used & (counts > 0)).any():
        raise InputError(
            f"{shown(panel.name)}: no row has both a score by {shown(panel.judges[0])} and a human rating. "
            "At least some rows need both."
        )
    is_rate = scale.passes is not None

    def rows(where: NDArray[np.bool_], keys: Sequence[str] | None = None) -> Scored:
        return Scored(judge[where], human[where], panel.items[where], keys)

    def numbers(system: str, where: NDArray[np.bool_]) -> SystemNumbers:
        found = corrected_mean(
            rows(where & used),
            pass_rate=is_rate,
            method=options.method,
            confidence_level=options.confidence_level,
        )
        return SystemNumbers(system, found, int((where & ~used).sum()))

    names = list(dict.fromkeys(panel.systems.tolist()))
    own = {name: panel.systems == name for name in names} if len(names) > 1 else {}
    differences: list[tuple[str, str, Corrected]] = []
    for first, second in combinations(own, 2):
        a, b = own[first] & used, own[second] & used
        keys = _keys(panel.rows, a, b)
        sides = (rows(a, keys[0]), rows(b, keys[1])) if keys else (rows(a), rows(b))
        found = corrected_difference(*sides, pass_rate=is_rate, confidence_level=options.confidence_level)
        differences.append((first, second, found))
    paid = corrected_p([found.p_value for _, _, found in differences], CORRECTION)
    several = int((counts[used] > 1).sum())
    notes = [*panel.notes]
    if several:
        notes.append(f"{several:,} texts have several raters: their label is the mean of the ratings.")
    return CorrectedNumbers(
        panel.name,
        panel.judges[0],
        panel.raters,
        numbers(ALL_ROWS, np.ones(len(judge), dtype=bool)),
        tuple(numbers(name, where) for name, where in own.items()),
        tuple(Difference(*one, p) for one, p in zip(differences, paid, strict=True)),
        scale.passes,
        scale.fails,
        {why: n for why, n in {NO_SCORE: int((~used).sum()), **panel.left_out}.items() if n},
        tuple(notes),
        options.confidence_level,
    )


@dataclass(frozen=True)
class LabelScale:
    """Labels and scores as numbers whose mean is estimated."""

    judge: Floats
    """Shape (n,)."""
    ratings: Floats
    """Shape (n, raters)."""
    passes: str | None
    """What counts as a pass; None for grades."""
    fails: tuple[str, ...]


def label_scale(panel: Panel, wanted: str | None) -> LabelScale:
    """Return grades as they are, or passes as 1 and everything else as 0, of the panel's first judge.

    wanted: the word or number that passes; None as in `Options`. Raises InputError for one that no rater gave.
    """
    judge, ratings = panel.scores[:, 0], panel.ratings
    given = np.unique(ratings[~np.isnan(ratings)]).tolist()
    scored = np.unique(judge[~np.isnan(judge)]).tolist()
    words = {
        value: panel.scale.words.get(value, f"{value:g}") for value in sorted({*given, *panel.scale.words})
    }
    if wanted is None:
        if len(panel.scale.words) == 2 and panel.scale.ordered:
            best = max(panel.scale.words)
        elif not panel.scale.ordered:
            raise InputError(
                f"{shown(panel.name)}: the labels have no known order: {listed(list(words.values()))}. Choose "
                "the one that counts as a pass."
            )
        elif not panel.scale.words and given and (given == [0.0, 1.0] or {*given, *scored} <= {0.0, 1.0}):
            best = 1.0
        else:
            return LabelScale(judge, ratings, None, ())
    else:
        best = _value_of(wanted, words, panel.name)
    fails = tuple(word for value, word in words.items() if value != best)
    # A judge that gives other numbers, such as a probability, keeps them: PPI++ needs no passes from it.
    same = {*scored} <= {*words}
    return LabelScale(
        np.where(np.isnan(judge), np.nan, judge == best) if same else judge,
        np.where(np.isnan(ratings), np.nan, ratings == best),
        words[best],
        fails,
    )


def _value_of(wanted: str, words: Mapping[float, str], name: str) -> float:
    plain = " ".join(wanted.casefold().split())
    for value, word in words.items():
        number = number_in(wanted) if looks_like_number(wanted) else None
        if plain == " ".join(word.casefold().split()) or (number is not None and number == value):
            return value
    raise InputError(
        f"pass: no rating in {shown(name)} is {shown(wanted)}. The ratings are {listed(list(words.values()))}."
    )


def _keys(
    rows: Sequence[ScoredRow], a: NDArray[np.bool_], b: NDArray[np.bool_]
) -> tuple[list[str], list[str]] | None:
    """What pairs the rows of two systems: the item, or what else describes a text; None if several rows share that."""
    sides = [[rows[at] for at in np.flatnonzero(where).tolist()] for where in (a, b)]
    for whole in (False, True):
        keys = [
            [
                repr(
                    (one.item_id, one.level, one.language, sorted(one.labels.items()))
                    if whole
                    else one.item_id
                )
                for one in side
            ]
            for side in sides
        ]
        if all(len(set(one)) == len(one) for one in keys):
            return keys[0], keys[1]
    return None


def corrected_said(found: CorrectedNumbers) -> list[str]:
    """The verdict first: the corrected number, the judge's error, labels saved; then what to watch."""
    overall = found.overall.found
    decided, judged = overall.decided, overall.judge_only
    what = found.what[0].upper() + found.what[1:]
    places = 3 if found.passes is not None else 2
    if decided.estimate is None:
        said = [f"{what}: undefined. {(decided.reason or '')[:1].upper()}{(decided.reason or '')[1:]}."]
    else:
        said = [f"{what}: {_ends(decided, places)}, by {METHODS[overall.method]}."]
        if judged.estimate is not None:
            off = judged.estimate - decided.estimate
            error = (
                "the same"
                if not float(decimal(off, places))
                else f"{decimal(abs(off), places)} too {'high' if off > 0 else 'low'}"
            )
            said.append(f"{shown(found.judge)} alone: {_ends(judged, places)}, {error}.")
    said.append(saved_sentence(overall))
    if (p := overall.labelled_shift_p) is not None and p < SELECTED:
        said.append(
            f"Check how rows were chosen for labels: {shown(found.judge)} scores labelled and other rows differently "
            f"(p {'< 0.001' if p < 0.001 else decimal(p)}). Only labels of randomly chosen rows correct a judge."
        )
    return said


def _ends(found: Estimate, places: int) -> str:
    estimate = decimal(found.estimate or 0.0, places)
    if found.low is None or found.high is None:
        return f"{estimate} without an interval ({found.interval_reason})"
    return f"{estimate} [{decimal(found.low, places)}, {decimal(found.high, places)}]"


def saved_sentence(found: Corrected) -> str:
    """How many labels the judge saved, or that it saved none, and why."""
    saved, share = found.labels_saved, found.share_saved
    if saved is not None and share is not None and round(saved) >= 1:
        return (
            f"The judge saved {round(saved):,} labels ({100 * share:.0f} %): {found.n_labelled:,} labels with it are as "
            f"precise as {found.n_labelled + round(saved):,} without."
        )
    why = found.why
    if found.method == "ppi++":
        why = "it follows people too weakly"
    elif found.method == "rogan-gladen":
        why = "Rogan-Gladen pays for allowing labels that are not a random choice"
    return f"The judge saved no labels: {why}."


_NUMBERS = (
    Column("corrected", "Corrected"),
    Column("method", "Decided by"),
    Column("why", shown=False),
    Column("judge_only", "Judge alone"),
    Column("labels_only", "Labels alone"),
    Column("lambda", "Lambda", places=2),
    Column("n", "Scored"),
    Column("n_labelled", "Labelled"),
    Column("n_items", shown=False),
    Column("n_labelled_items", shown=False),
    Column("labels_saved", "Labels saved", places=0),
    Column("share_saved", "Share saved", percent=True, places=2),
)


def corrected_table(found: CorrectedNumbers) -> ResultTable:
    """The main table: all rows, then each system."""
    columns = (Column("system", "System", names_row=True), *_NUMBERS, Column("left_out", shown=False))
    rows = tuple((one.system, *_cells(one.found), one.n_left_out) for one in found.everyone)
    return ResultTable(
        TABLES[0],
        columns,
        rows,
        f"{found.what[0].upper()}{found.what[1:]} of {shown(found.name)}, judge {shown(found.judge)}",
        (
            *_scale_notes(found),
            f"Intervals: {found.confidence_level:.0%}, over items. The rule that chooses the method was fixed beforehand.",
            "Lambda: weight of the judge in PPI++, kept within 0 and 1.",
            *left_out_notes([("", found.left_out)], "rows"),
            *found.notes,
        ),
    )


def _scale_notes(found: CorrectedNumbers) -> list[str]:
    if found.passes is None:
        return []
    return [f"Pass: {shown(found.passes)}. Fail: {listed(found.fails) if found.fails else 'nothing'}."]


def _cells(found: Corrected) -> tuple[Cell, ...]:
    return (
        interval(found.decided),
        METHODS[found.method],
        found.why,
        interval(found.judge_only),
        interval(found.labels_only),
        Interval(found.weight, reason="each method or system has its own"),
        found.decided.n,
        found.n_labelled,
        found.decided.n_clusters,
        found.n_labelled_clusters,
        Interval(found.labels_saved, reason="a variance is undefined"),
        Interval(found.share_saved, reason="a variance is undefined"),
    )


def differences_table(found: CorrectedNumbers) -> ResultTable:
    """Every two systems, the first minus the second."""
    columns = (
        Column("first", "First", names_row=True),
        Column("second", "Second", names_row=True),
        Column("difference", "Difference"),
        Column("method", "Decided by"),
        Column("p", p_value=True),
        corrected_column(CORRECTION, len(found.differences)),
        Column("judge_only", "Judge alone"),
        Column("labels_only", "Labels alone"),
        Column("paired", "Paired"),
        Column("n_labelled", "Labelled"),
        Column("share_saved", "Share saved", percent=True, places=2),
        Column("left_out", shown=False),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in found.differences:
        each = one.found
        rows.append(
            (
                one.first,
                one.second,
                interval(each.decided),
                METHODS[each.method],
                Interval(each.p_value, reason="there is no variance"),
                Interval(one.p_corrected, reason="there is no p"),
                interval(each.judge_only),
                interval(each.labels_only),
                "by item" if each.paired else "no",
                each.n_labelled,
                Interval(each.share_saved, reason="a variance is undefined"),
                each.n_left_out,
            )
        )
    partners = max((one.found.n_left_out for one in found.differences), default=0)
    return ResultTable(
        TABLES[1],
        columns,
        tuple(rows),
        "Differences of systems: first minus second",
        (
            *corrected_note(CORRECTION, len(rows), "every two systems"),
            *([f"Up to {partners:,} rows without a partner are left out of a pair."] if partners else ()),
        ),
    )


def methods_table(found: CorrectedNumbers) -> ResultTable:
    """Each method's answer, and the judge's sensitivity and specificity."""
    columns = (
        Column("system", "System", names_row=True),
        Column("ppi", "PPI++"),
        Column("rogan_gladen", "Rogan-Gladen"),
        Column("labels_only", "Labels alone"),
        Column("sensitivity", "Sensitivity"),
        Column("specificity", "Specificity"),
        Column("labelled_shift_p", "p of a random choice", p_value=True),
    )
    none = "only if every label and every score is pass or fail; raters of a text who differ give a label between"
    rows = tuple(
        (
            one.system,
            interval(one.found.ppi),
            interval(one.found.rogan_gladen, none),
            interval(one.found.labels_only),
            interval(one.found.sensitivity, none),
            interval(one.found.specificity, none),
            Interval(one.found.labelled_shift_p, reason="labelled and other rows cannot be compared"),
        )
        for one in found.everyone
    )
    return ResultTable(
        TABLES[2],
        columns,
        rows,
        "Every method",
        (
            "p of a random choice: whether the judge scores labelled and other rows alike. A small p: they were not chosen at random.",
        ),
    )


def corrected_tables(found: CorrectedNumbers) -> tuple[list[ResultTable], list[ResultTable]]:
    """The tables for readers, then those for files only: grades have a single method beside labels alone."""
    printed = [corrected_table(found), *([differences_table(found)] if found.differences else [])]
    methods = [methods_table(found)]
    return ([*printed, *methods], []) if found.passes is not None else (printed, methods)


def corrected_json(found: CorrectedNumbers) -> dict[str, Any]:
    """The documented JSON."""
    return {
        **_numbers_json(found.overall.found),
        "systems": {one.system: _numbers_json(one.found) for one in found.systems},
        "differences": [
            {
                "first": one.first,
                "second": one.second,
                **_numbers_json(one.found),
                "p": one.found.p_value,
                "p_holm": one.p_corrected,
                "paired": one.found.paired,
                "n_without_partner": one.found.n_left_out,
            }
            for one in found.differences
        ],
        "correction": CORRECTION,
        "judge": found.judge,
        "raters": list(found.raters),
        "pass": found.passes,
        "fail": list(found.fails),
        "confidence_level": found.confidence_level,
        "sentences": corrected_said(found),
        "left_out": dict(found.left_out),
        "notes": list(found.notes),
    }


def _numbers_json(found: Corrected) -> dict[str, Any]:
    further = {
        name: _ends_json(one)
        for name, one in (
            ("ppi", found.ppi),
            ("rogan_gladen", found.rogan_gladen),
            ("sensitivity", found.sensitivity),
            ("specificity", found.specificity),
        )
        if one is not None
    }
    return {
        **_ends_json(found.decided),
        "method": found.method,
        "why": found.why,
        "judge_only": _ends_json(found.judge_only),
        "labels_only": _ends_json(found.labels_only),
        "lambda": found.weight,
        "n": found.decided.n,
        "n_labelled": found.n_labelled,
        "n_items": found.decided.n_clusters,
        "n_labelled_items": found.n_labelled_clusters,
        "labels_saved": found.labels_saved,
        "share_saved": found.share_saved,
        "labelled_shift_p": found.labelled_shift_p,
        **further,
    }


def _ends_json(found: Estimate) -> dict[str, Any]:
    """An estimate with its interval, and the reason of a missing one."""
    reason = found.reason or (found.interval_reason if found.low is None else None)
    return {
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
        **({"reason": reason} if reason else {}),
    }
