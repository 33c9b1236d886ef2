"""Every pair of an unblinded study with its votes, and which of them are asked for."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

import numpy as np
from numpy.typing import NDArray

from core.joining.choices import check_names
from core.results.correlations.votes import Preferences, decoded, preferences_of
from core.results.study.counted import (
    FILTERED,
    FLAGGED,
    OUTSIDE,
    TOO_FEW,
    Counted,
    Filters,
    Key,
    chosen_pairs,
    count,
    counts_at_all,
    pair_scores,
    why_left_out,
)
from core.results.study.results import reasons
from core.schema.result_table import Cell, Column, ResultTable
from core.schema.scores import ScoreTable
from core.schema.study import PREFERENCES, Answer, AnswerKey, Assignment, Item, Preference, Rater, StudyRecord
from core.stats.resampling import Floats
from core.stats.votes import MISSING
from core.study.analysis_set import analysis_set, check_released
from core.study.export import preference_of
from core.study.raters import check_asks
from core.study.times import first_seconds, known_seconds

PAIRS_TABLE = "pairs"
"""Name of the table of all pairs."""
TIE = "tie"
"""What a judge prefers that scores both answers alike."""
_YES = "yes"
NOT_COUNTED = "not counted"
"""Behind the name of a rater whose votes do not count."""


@dataclass(frozen=True)
class PairFilter:
    """Which pairs are asked for; all that is set must hold. Without anything set: every pair.

    What is asked about votes is asked about pairs and votes that count, so that the numbers are those of the results.
    """

    disagree: bool = False
    """Raters gave different answers."""
    lost: bool = False
    """The votes favour the comparator (without a margin: the system that the study names second)."""
    flagged: bool = False
    """A rater flagged the pair as invalid."""
    levels: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    rater: str = ""
    """Pairs with a vote of this rater."""
    votes: tuple[tuple[str, Preference], ...] = ()
    """Raters with the answer that each gave, such as a cell of two raters' table."""
    judge: str = ""
    """Pairs on which this judge or metric and the raters prefer different answers."""
    won: bool = False
    """The votes favour the candidate."""
    left_out: bool = False
    """The analysis leaves the pair out."""


@dataclass(frozen=True)
class VoteOnPair:
    """What one rater said of a pair."""

    rater: str
    preference: Preference | None
    """None: the rater did not answer, and only commented on the pair or flagged it."""
    again: Preference | None
    """The answer to the hidden repeat of the pair; None without one."""
    seconds: float | None
    """Until the first answer; None: unknown."""
    comments: tuple[str, ...]
    flagged: bool
    translated: bool
    """Whether the browser had translated the page."""
    left_out: str
    """Why the vote does not count; empty: it counts."""


@dataclass(frozen=True)
class JudgeOnPair:
    """What one judge or metric makes of a pair."""

    judge: str
    scores: tuple[float | None, float | None]
    """Of the candidate's answer and of the comparator's."""
    prefers: str
    """A system or TIE; empty: unknown."""
    reason: str
    """Why it is unknown."""


@dataclass(frozen=True)
class PairList:
    """All pairs of a study: items in the study's order, and the levels of each."""

    record: StudyRecord
    keys: tuple[Key, ...]
    left_out: tuple[str, ...]
    """Why the analysis leaves each pair out; empty: it counts."""
    raters: tuple[str, ...]
    """Raters with a vote, those who count first; never of a dry run."""
    n_counting: int
    """How many of them count."""
    codes: NDArray[np.int64]
    """Shape (pairs, raters): index into PREFERENCES of each main answer, whether it counts or not; -1 for none."""
    scores: Floats
    """Composite score of each pair that counts; NaN for others."""
    flagged: NDArray[np.bool_]
    """Pairs that a rater who counts flagged as invalid."""
    comments: NDArray[np.int64]
    """Number of comments on each pair, those on its hidden repeats included."""
    seconds: Floats
    """Median over raters of the time until the first answer; NaN where no time is known."""
    counted: Counted
    """The votes that count."""
    judged: Preferences | None = None
    """What judges prefer in the pairs that count; None: nothing is scored."""

    @cached_property
    def counts(self) -> NDArray[np.bool_]:
        """Which pairs count."""
        return np.array([not reason for reason in self.left_out], dtype=np.bool_)

    @cached_property
    def items(self) -> dict[str, Item]:
        """Item id -> item."""
        return {item.item_id: item for item in self.record.items}

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages of the items, in the order of the file."""
        return tuple(dict.fromkeys(item.language for item in self.record.items))

    @cached_property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges and metrics that scored the study's texts."""
        return () if self.judged is None else tuple(metric.name for metric in self.judged.table.metrics)

    @cached_property
    def prefers(self) -> Floats:
        """Shape (pairs, judges): 1 for the candidate, -1 for the comparator, 0 for a tie, NaN where unknown."""
        found = np.full((len(self.keys), len(self.judges)), np.nan)
        if self.judged is not None:
            found[self.counts] = np.sign(self.judged.margins)
        return found

    @cached_property
    def levels(self) -> NDArray[np.str_]:
        """The level of each pair."""
        return np.array([level for _, level in self.keys], dtype=str)

    @cached_property
    def languages_of_pairs(self) -> NDArray[np.str_]:
        """The language of each pair."""
        return np.array([self.items[item].language for item, _ in self.keys], dtype=str)

    @cached_property
    def disagree(self) -> NDArray[np.bool_]:
        """Pairs that count and have different answers by raters who count."""
        own = self.codes[:, : self.n_counting]
        given = own != MISSING
        highest = np.where(given, own, -1).max(axis=1, initial=-1)
        lowest = np.where(given, own, len(PREFERENCES)).min(axis=1, initial=len(PREFERENCES))
        return np.asarray(self.counts & (highest > lowest))

    @cached_property
    def left_out_by_reason(self) -> dict[str, int]:
        """Reason -> number of pairs that the analysis leaves out."""
        return dict(Counter(reason for reason in self.left_out if reason))

    @cached_property
    def _answers(self) -> dict[Key, list[Answer]]:
        found: dict[Key, list[Answer]] = {}
        for answer in self.record.answers:
            found.setdefault((answer.item_id, answer.level), []).append(answer)
        return found

    @cached_property
    def _texts(self) -> dict[tuple[str, str, str], str]:
        return {(one.item_id, one.level, one.source): one.text for one in self.record.outputs}

    def text(self, key: Key, system: str) -> str | None:
        """A system's answer of a pair; None: the study has none."""
        return self._texts.get((*key, system))

    @cached_property
    def _first(self) -> Mapping[object, float | None]:
        return first_seconds(self.record.history)

    @cached_property
    def _assignments(self) -> dict[AnswerKey, Assignment]:
        return {one.key: one for one in self.record.assignments}

    def votes_on(self, at: int) -> tuple[VoteOnPair, ...]:
        """What every rater said of a pair, in the order of `raters`. at: the pair's place in `keys`."""
        key = self.keys[at]
        of_rater: dict[str, dict[bool, Answer]] = {}
        for answer in self._answers.get(key, ()):
            of_rater.setdefault(answer.rater_id, {})[answer.repeat] = answer
        raters = {rater.rater_id: rater for rater in self.record.raters if not rater.dry_run}
        order = [*self.raters, *(name for name in raters if name not in self.raters)]
        found = []
        for name in order:
            main, again = (of_rater.get(name, {}).get(repeat) for repeat in (False, True))
            both = [one for one in (main, again) if one is not None]
            if not any(one.answered or one.comment.strip() or one.invalid for one in both):
                continue
            said = [
                preference_of(self.record, one, self._assignments.get(one.key)) if one is not None else None
                for one in (main, again)
            ]
            found.append(
                VoteOnPair(
                    name,
                    said[0],
                    said[1],
                    None if main is None else self._first.get(main.key),
                    tuple(one.comment for one in both if one.comment.strip()),
                    any(one.invalid for one in both),
                    any(bool(one.translated) for one in both),
                    self._why_not(key, raters[name], at) if said[0] is not None else "",
                )
            )
        return tuple(found)

    def _why_not(self, key: Key, rater: Rater, at: int) -> str:
        """Why a vote does not count: its rater does not, or its pair."""
        own = why_left_out(key, rater, self.raters[: self.n_counting], [key], [])
        return own or self.left_out[at]

    def judges_on(self, at: int) -> tuple[JudgeOnPair, ...]:
        """What every judge makes of a pair; none for a pair that the analysis leaves out."""
        judged = self.judged
        if judged is None or not self.counts[at]:
            return ()
        pair = int(self.counts[:at].sum())
        rows = [int(side[pair]) for side in judged.sides]
        found = []
        for metric, name in enumerate(self.judges):
            values = [float("nan") if row < 0 else float(judged.table.values[row, metric]) for row in rows]
            prefers = self.preferred(float(self.prefers[at, metric]))
            first, second = (None if value != value else value for value in values)
            why = "" if prefers else judged.why(metric, pair)
            found.append(JudgeOnPair(name, (first, second), prefers, why))
        return tuple(found)

    def preferred(self, sign: float) -> str:
        """The system that a judge prefers, or TIE; empty for NaN."""
        design = self.record.study.design
        return {1.0: design.candidate, -1.0: design.comparator, 0.0: TIE}.get(sign, "")

    def answer_name(self, preference: Preference | None) -> str:
        """A vote in words: the system it prefers, `both good` or `both bad`; empty without one."""
        design = self.record.study.design
        names = {"candidate": design.candidate, "comparator": design.comparator}
        return "" if preference is None else names.get(preference, preference.replace("_", " "))


def pair_list(record: StudyRecord, filters: Filters | None = None) -> PairList:
    """Every pair of an unblinded study of pairs, with its votes.

    filters: as for the results; pairs outside them are left out with that reason. Raises NotAllowed unless the study is
    unblinded and for a rating study, and InputError for an unknown level, rater, question or language.
    """
    check_asks(record.study, ["levels", "preference"], "votes on pairs")
    check_released(record.study)
    counted = count(record, filters or Filters())
    keys = tuple((item.item_id, level) for item in record.items for level in record.study.levels)
    place = {key: at for at, key in enumerate(keys)}
    raters = _raters(record, counted.raters)
    column = {rater: at for at, rater in enumerate(raters)}
    counting = {rater.rater_id for rater in record.raters if counts_at_all(rater)}
    real = {rater.rater_id for rater in record.raters if not rater.dry_run}
    codes = np.full((len(keys), len(raters)), MISSING, dtype=np.int64)
    flagged = np.zeros(len(keys), dtype=np.bool_)
    comments = np.zeros(len(keys), dtype=np.int64)
    times: list[list[float | None]] = [[] for _ in keys]
    first, shown = first_seconds(record.history), {one.key: one for one in record.assignments}
    for answer in record.answers:
        at = place.get((answer.item_id, answer.level))
        if at is None or answer.rater_id not in real:
            continue
        comments[at] += bool(answer.comment.strip())
        flagged[at] |= answer.invalid and answer.rater_id in counting
        if answer.repeat or answer.rater_id not in column:
            continue
        preference = preference_of(record, answer, shown.get(answer.key))
        if preference is not None:
            codes[at, column[answer.rater_id]] = PREFERENCES.index(preference)
            times[at].append(first.get(answer.key))
    kept = set(counted.keys)
    declared, lacking = analysis_set(record).levels, set(counted.lacking)
    chosen_levels, chosen_items = chosen_pairs(record, filters or Filters())
    chosen = {(item, level) for item in chosen_items for level in chosen_levels}

    def why(key: Key) -> str:
        if key in kept:
            return ""
        if key not in chosen:
            return FILTERED if key[1] in declared else OUTSIDE
        return TOO_FEW if key in lacking else FLAGGED

    scores = np.full(len(keys), np.nan)
    scores[[place[key] for key in counted.keys]] = pair_scores(counted, "composite")
    known = [known_seconds(one) for one in times]
    return PairList(
        record,
        keys,
        tuple(map(why, keys)),
        raters,
        len(counted.raters),
        codes,
        scores,
        flagged,
        comments,
        np.array([median(one) if one else np.nan for one in known], dtype=np.float64),
        counted,
    )


def judged_pairs(pairs: PairList, tables: Sequence[ScoreTable]) -> PairList:
    """The list with what judges and metrics prefer in the pairs that count.

    tables: scores of the study's texts, as in `metrics_against_votes`; none for no judge. Raises InputError for tables without
    a text of the study, and for a text with several rows of scores.
    """
    if not tables:
        return replace(pairs, judged=None)
    return replace(pairs, judged=preferences_of(pairs.record, decoded(pairs.record, tables), pairs.counted))


def _raters(record: StudyRecord, counting: Sequence[str]) -> tuple[str, ...]:
    """Raters who count, then the others with an answer, without dry runs."""
    answered = {answer.rater_id for answer in record.answers if answer.answered and not answer.repeat}
    others = (
        rater.rater_id
        for rater in record.raters
        if not rater.dry_run and rater.rater_id in answered and rater.rater_id not in counting
    )
    return (*counting, *others)


def pairs_shown(pairs: PairList, wanted: PairFilter) -> NDArray[np.int64]:
    """Places of the pairs that are asked for, in the study's order.

    Raises InputError for a level, language, rater or judge that the study does not have.
    """
    study = pairs.record.study
    check_names("level", wanted.levels, study.levels)
    check_names("language", wanted.languages, pairs.languages)
    named = [name for name in (wanted.rater, *(rater for rater, _ in wanted.votes)) if name]
    check_names("rater", named, pairs.raters)
    check_names("judge", [wanted.judge] if wanted.judge else [], pairs.judges)
    kept = np.ones(len(pairs.keys), dtype=np.bool_)
    if wanted.left_out:
        kept &= ~pairs.counts
    if wanted.flagged:
        kept &= pairs.flagged
    if wanted.levels:
        kept &= np.isin(pairs.levels, wanted.levels)
    if wanted.languages:
        kept &= np.isin(pairs.languages_of_pairs, wanted.languages)
    if wanted.rater:
        kept &= pairs.codes[:, pairs.raters.index(wanted.rater)] != MISSING
    if wanted.disagree:
        kept &= pairs.disagree
    if wanted.lost:
        kept &= pairs.scores < 0
    if wanted.won:
        kept &= pairs.scores > 0
    for rater, preference in wanted.votes:
        said = pairs.codes[:, pairs.raters.index(rater)] == PREFERENCES.index(preference)
        kept &= pairs.counts & said
    if wanted.judge:
        kept &= pairs.scores * pairs.prefers[:, pairs.judges.index(wanted.judge)] < 0
    return np.flatnonzero(kept)


def pair_table(
    pairs: PairList, at: Iterable[int] | None = None, judges: Sequence[str] | None = None
) -> ResultTable:
    """One row for each pair: what every rater and judge prefers, the composite score, and why a pair is left out.

    at: places of the pairs, as `pairs_shown` gives them; None for all. judges: those with a column; None for all.
    """
    study, places = pairs.record.study, range(len(pairs.keys)) if at is None else [int(one) for one in at]
    shown_judges = pairs.judges if judges is None else tuple(judges)
    columns = (
        Column("item", names_row=True),
        Column("level", names_row=True, shown=bool(study.named_levels)),
        Column("language", shown=len(pairs.languages) > 1),
        Column("question"),
        *(
            Column(f"vote_{rater}", rater if n < pairs.n_counting else f"{rater} ({NOT_COUNTED})")
            for n, rater in enumerate(pairs.raters)
        ),
        Column("score", places=0),
        *(Column(f"judge_{name}", name) for name in shown_judges),
        Column("comments", shown=bool(pairs.comments.any())),
        Column("flagged", shown=bool(pairs.flagged.any())),
        Column("seconds", places=1, shown=bool((~np.isnan(pairs.seconds)).any())),
        Column("left_out", shown=any(pairs.left_out[place] for place in places)),
    )
    names: list[Cell] = [*map(pairs.answer_name, PREFERENCES), None]
    words = {1.0: pairs.preferred(1.0), -1.0: pairs.preferred(-1.0), 0.0: TIE}
    of_judges = [pairs.prefers[:, pairs.judges.index(name)].tolist() for name in shown_judges]
    codes, scores, seconds = pairs.codes.tolist(), pairs.scores.tolist(), pairs.seconds.tolist()
    rows = []
    for place in places:
        item, level = pairs.keys[place]
        about = pairs.items[item]
        score, time = scores[place], seconds[place]
        rows.append(
            (
                item,
                level or None,
                about.language,
                about.question,
                *(names[code] for code in codes[place]),
                None if score != score else int(score),
                *(words.get(signs[place]) for signs in of_judges),
                int(pairs.comments[place]),
                _YES if pairs.flagged[place] else "",
                None if time != time else time,
                pairs.left_out[place],
            )
        )
    return ResultTable(PAIRS_TABLE, columns, tuple(rows), "Pairs", _notes(pairs))


def _notes(pairs: PairList) -> tuple[str, ...]:
    notes = ["Score: 1 if the votes favour {candidate}, -1 if they favour {comparator}, 0 otherwise."]
    if pairs.left_out_by_reason:
        notes.append(f"Left out of the analysis: {reasons(pairs.left_out_by_reason)}.")
    excluded = [
        f"{rater.rater_id} ({rater.excluded})"
        for rater in pairs.record.raters
        if rater.excluded is not None and rater.rater_id in pairs.raters
    ]
    if excluded:
        notes.append(f"Votes that never count, of excluded raters: {'; '.join(excluded)}.")
    if (~np.isnan(pairs.seconds)).any():
        notes.append("Seconds: median over raters of the time until the first answer.")
    design = pairs.record.study.design
    notes[0] = notes[0].format(candidate=design.candidate, comparator=design.comparator)
    return tuple(notes)
