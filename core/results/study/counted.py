"""Turn a study's record into arrays of the votes that count, with the number left out by reason."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.schema.study import (
    PREFERENCES,
    Answer,
    AnswerKey,
    Assignment,
    Preference,
    Rater,
    Score,
    StudyRecord,
)
from core.stats.resampling import Floats
from core.stats.votes import MISSING, composite_scores, net_preferences, preferences
from core.study.analysis_set import analysis_set, main_levels
from core.study.export import preference_of

DRY_RUN, EXCLUDED, HIDDEN_REPEAT, OTHER_RATER, FILTERED = (
    "dry run",
    "rater excluded",
    "hidden repeat",
    "rater not chosen",
    "pair not chosen",
)
OUTSIDE = "at a level outside the main analysis"
FLAGGED = "flagged as invalid"
TOO_FEW = "fewer votes than a pair needs"
SIDE_UNKNOWN = "side unknown (imported)"
TRANSLATED = "given on a translated page"

Key = tuple[str, str]
"""(item_id, level)"""


@dataclass(frozen=True)
class Filters:
    """Which part of a study to analyse; None: all raters, questions and languages, and the declared levels."""

    levels: Sequence[str] | None = None
    raters: Sequence[str] | None = None
    questions: Sequence[str] | None = None
    languages: Sequence[str] | None = None


@dataclass(frozen=True)
class StudyPart:
    """An unblinded study, and which part of it to analyse."""

    record: StudyRecord
    filters: Filters


@dataclass(frozen=True)
class Counted:
    """The answers that count, as votes on pairs."""

    raters: tuple[str, ...]
    levels: tuple[str, ...]
    keys: tuple[Key, ...]
    """Pairs that have the votes they need."""
    codes: NDArray[np.int64]
    """Shape (pairs, raters): index into PREFERENCES, -1 for missing."""
    flagged: frozenset[Key]
    """Pairs that a counted rater flagged as invalid, whether in `keys` or not."""
    pairs_by_votes: dict[int, int]
    """Number of votes -> number of pairs, over all selected pairs."""
    pairs_left_out: dict[str, int]
    """Reason -> number of selected pairs that are not in `keys`."""
    left_out_by_level: dict[str, dict[str, int]]
    lacking: tuple[Key, ...]
    """Selected pairs with fewer votes than they need, flagged pairs that are left out apart."""
    answers_used: int
    answers_translated: int
    """Of the answers used, those given on a page that the browser had translated."""
    answers_left_out: dict[str, int]
    """Reason -> number of answers that are not in `codes`."""
    sides: dict[str, tuple[int, int, int]]
    """Rater -> (left, right, side unknown) among main answers that prefer a system."""
    repeats: dict[str, tuple[int, int]]
    """Rater -> (repeats with the same preference, repeats answered twice)."""

    def at_level(self, level: str) -> NDArray[np.bool_]:
        """Mask of the `keys` at this level."""
        return np.array([key[1] == level for key in self.keys], dtype=bool)

    @property
    def questions(self) -> NDArray[np.str_]:
        """The question of each pair, which is the unit of resampling."""
        return np.array([key[0] for key in self.keys], dtype=str)


@dataclass(frozen=True)
class Variant:
    """Departure of one sensitivity line from the declared analysis set."""

    complete: bool = False
    """Whether a pair needs votes from all counted raters, or as many as the design gives; never fewer than declared."""
    leave_out_flagged: bool | None = None
    """None: as declared."""
    keep_excluded: bool = False
    """Whether excluded raters count too, except those who withdrew."""
    leave_out_translated: bool = False
    """Whether answers given on a page that the browser had translated are left out."""


DECLARED = Variant()


def count(record: StudyRecord, filters: Filters, variant: Variant = DECLARED) -> Counted:
    """Apply filters and the declared analysis set.

    A pair counts if it has the votes it needs from raters who are not excluded. A late rater adds votes and never
    removes a pair. If a filter selects raters, a pair needs at most one vote from each of them.
    Raises InputError for an unknown level, rater, question or language.
    """
    rules = analysis_set(record)
    if variant.keep_excluded:
        record = replace(
            record,
            raters=tuple(one if one.withdrawn else replace(one, excluded=None) for one in record.raters),
        )
    levels, items = chosen_pairs(record, filters)
    raters = {rater.rater_id: rater for rater in record.raters}
    shown = {a.key: a for a in record.assignments}
    chosen = chosen_raters(record, filters)
    picked = _picked(record, chosen)
    wanted = {(item, level) for item in items for level in levels}
    left_out: Counter[str] = Counter()
    main: dict[str, dict[Key, int]] = {rater: {} for rater in chosen}
    flagged: set[Key] = set()
    sides: dict[str, list[int]] = {rater: [0, 0, 0] for rater in chosen}
    translated: set[tuple[str, Key]] = set()
    for answer in record.answers:
        key = (answer.item_id, answer.level)
        rater = raters[answer.rater_id]
        reason = why_left_out(key, rater, chosen, wanted, rules.levels, repeat=answer.repeat)
        heard = answer.rater_id in chosen or (not picked and counts_at_all(rater))
        if answer.invalid and heard and key in wanted:
            flagged.add(key)  # even if the rater gave no answer or flagged only the hidden repeat
        if not answer.answered:
            continue
        if reason is None and variant.leave_out_translated and answer.translated:
            reason = TRANSLATED
        if reason is not None:
            left_out[reason] += 1
            continue
        if answer.translated:
            translated.add((answer.rater_id, key))
        preference = _preference(record, answer, shown)
        main[answer.rater_id][key] = PREFERENCES.index(preference)
        if preference in ("candidate", "comparator"):
            sides[answer.rater_id][{"left": 0, "right": 1}.get(answer.choice or "", 2)] += 1
    pairs = [(i, lv) for i in items for lv in levels]
    votes = {key: sum(key in main[rater] for rater in chosen) for key in pairs}
    needed = min(rules.votes_needed, len(chosen)) if picked else rules.votes_needed
    if variant.complete:  # a design may give each pair to only some raters
        most = record.study.design.votes_per_pair or len(chosen)
        needed = max(needed, min(most, len(chosen)))
    leave_out = rules.flagged == "leave_out"
    if variant.leave_out_flagged is not None:
        leave_out = variant.leave_out_flagged
    outs = {key: FLAGGED for key in votes if leave_out and key in flagged}
    outs |= {key: TOO_FEW for key, given in votes.items() if given < max(1, needed) and key not in outs}
    keys = [key for key in votes if key not in outs]
    codes = np.array([[main[rater].get(key, MISSING) for rater in chosen] for key in keys], dtype=np.int64)
    codes = codes.reshape(len(keys), len(chosen))
    used = int((codes != MISSING).sum())
    rest = sum(len(votes) for votes in main.values()) - used
    if rest:
        left_out["pair left out"] = rest
    return Counted(
        raters=tuple(chosen),
        levels=tuple(levels),
        keys=tuple(keys),
        codes=codes,
        flagged=frozenset(flagged),
        pairs_by_votes=dict(sorted(Counter(votes.values()).items())),
        pairs_left_out=dict(Counter(outs.values())),
        left_out_by_level={lv: dict(Counter(r for k, r in outs.items() if k[1] == lv)) for lv in levels},
        lacking=tuple(key for key, reason in outs.items() if reason == TOO_FEW),
        answers_used=used,
        answers_translated=sum(key not in outs for _, key in translated),
        answers_left_out=dict(left_out),
        sides={rater: (counts[0], counts[1], counts[2]) for rater, counts in sides.items()},
        repeats=_repeats(record, chosen, main, shown, wanted),
    )


def pair_scores(counted: Counted, score: Score) -> Floats:
    """One score per counted pair: the composite, or the mean vote."""
    signs = preferences(counted.codes)
    return composite_scores(signs) if score == "composite" else net_preferences(signs)


def filtered(record: StudyRecord, filters: Filters) -> dict[str, tuple[str, ...]]:
    """Filter -> chosen values, for filters that depart from the declared analysis and so make a result exploratory."""
    levels, items = chosen_pairs(record, filters)
    everything = chosen_pairs(record, Filters())
    found: dict[str, tuple[str, ...]] = {}
    if levels != everything[0]:
        found["levels"] = tuple(levels)
    if items != everything[1]:
        by_name = {"questions": filters.questions, "languages": filters.languages}
        found |= {name: tuple(names) for name, names in by_name.items() if names is not None}
    chosen = chosen_raters(record, filters)
    if _picked(record, chosen):
        found["raters"] = tuple(chosen)
        if len(chosen) < analysis_set(record).votes_needed:
            found["votes_needed"] = (str(max(1, len(chosen))),)
    return found


def _picked(record: StudyRecord, chosen: Collection[str]) -> bool:
    """Whether the filter selects other raters than those who count without it."""
    return set(chosen) != set(chosen_raters(record, Filters()))


def counts_at_all(rater: Rater) -> bool:
    """Whether this rater's answers are part of the analysis."""
    return not rater.dry_run and rater.excluded is None


def chosen_pairs(record: StudyRecord, filters: Filters) -> tuple[list[str], list[str]]:
    """Levels and items that the filters select, in the study's order."""
    _check("level", filters.levels, record.study.levels)
    _check("question", filters.questions, [item.item_id for item in record.items])
    _check("language", filters.languages, {item.language for item in record.items})
    wanted = (
        main_levels(record.study.design, record.study.levels) if filters.levels is None else filters.levels
    )
    levels = [lv for lv in record.study.levels if lv in wanted]
    items = [
        item.item_id
        for item in record.items
        if (filters.questions is None or item.item_id in filters.questions)
        and (filters.languages is None or item.language in filters.languages)
    ]
    return levels, items


def chosen_raters(record: StudyRecord, filters: Filters) -> list[str]:
    """The raters in the filter, or all who have given an answer that counts."""
    real = [rater.rater_id for rater in record.raters if counts_at_all(rater)]
    if filters.raters is not None:
        excluded = [
            f"{rater.rater_id!r} ({rater.excluded or 'no reason given'})"
            for rater in record.raters
            if rater.rater_id in filters.raters and not rater.dry_run and rater.excluded is not None
        ]
        if excluded:
            raise InputError(f"Excluded from the analysis: rater {', '.join(excluded)}.")
        _check("rater", filters.raters, real)
        return list(dict.fromkeys(filters.raters))
    active = {answer.rater_id for answer in record.answers if answer.answered and not answer.repeat}
    return [rater for rater in real if rater in active]


def _check(what: str, asked: Sequence[str] | None, there: Collection[str]) -> None:
    unknown = [name for name in asked or () if name not in there]
    if unknown:
        known = ", ".join(sorted(there)) or "none"
        raise InputError(f"This study has no {what} {', '.join(map(repr, unknown))}. Available: {known}.")


def why_left_out(
    key: Key,
    rater: Rater,
    rater_ids: Collection[str],
    wanted: Collection[Key],
    declared: Collection[str],
    *,
    repeat: bool = False,
) -> str | None:
    """The first reason to leave out a rater's answer to a pair; None if it counts.

    declared: levels of the main analysis.
    """
    if rater.dry_run:
        return DRY_RUN
    if rater.excluded is not None:
        return EXCLUDED
    if repeat:
        return HIDDEN_REPEAT
    if rater.rater_id not in rater_ids:
        return OTHER_RATER
    if key in wanted:
        return None
    return FILTERED if key[1] in declared else OUTSIDE


def _repeats(
    record: StudyRecord,
    raters: Sequence[str],
    main: dict[str, dict[Key, int]],
    shown: dict[AnswerKey, Assignment],
    wanted: set[Key],
) -> dict[str, tuple[int, int]]:
    """Rater -> (repeats with the same preference as the first time, repeats answered both times)."""
    counts = {rater: [0, 0] for rater in raters}
    for answer in record.answers:
        key = (answer.item_id, answer.level)
        first = main.get(answer.rater_id, {}).get(key)
        if not answer.repeat or not answer.answered or first is None or key not in wanted:
            continue
        again = PREFERENCES.index(_preference(record, answer, shown))
        counts[answer.rater_id][0] += again == first
        counts[answer.rater_id][1] += 1
    return {rater: (same, n) for rater, (same, n) in counts.items()}


def _preference(record: StudyRecord, answer: Answer, shown: dict[AnswerKey, Assignment]) -> Preference:
    preference = preference_of(record, answer, shown.get(answer.key))
    assert preference is not None, "only given answers can be decoded"
    return preference
