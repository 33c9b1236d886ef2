"""The verdict of a blind study, how it depends on what counts, and what changed after the results could be seen."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from core.analysis.counted import DECLARED, Counted, Filters, Variant, count
from core.schema import Answer, AnswerKey, LogEntry, Rater, Score, StudyRecord
from core.stats.composite import composite_scores, net_preferences, preferences
from core.stats.resampling import Floats
from core.stats.verdicts import Verdict, verdict
from core.study.analysis_set import results_seen
from core.study.conduct import VOTES_LEFT_OUT

N_RESAMPLES = 10_000
"""Behind every verdict, whatever other numbers are resampled with: a verdict is not to be chosen by it."""
AS_DECLARED = "as declared"


@dataclass(frozen=True)
class SensitivityLine:
    """One other way of counting, and the verdict it would give."""

    name: str
    n_pairs: int
    bound: float | None
    """The deciding bound."""
    value: str
    """The verdict."""


@dataclass(frozen=True)
class AfterUnblinding:
    """What changed once the results could be seen, and the verdict before that."""

    since: str | None
    """Unblinding; for imported votes the first time that results were shown, used or exported. None: not yet."""
    excluded: tuple[str, ...] = ()
    """Raters excluded since then."""
    included: tuple[str, ...] = ()
    """Raters counted again since then."""
    votes: int = 0
    """Votes added or changed since then."""
    flags: int = 0
    """Pairs reported as invalid, or no longer, since then."""
    verdict: Verdict | None = None
    """Of the whole study as it stood then; None where nothing changed."""

    @property
    def any(self) -> bool:
        """Whether anything changed."""
        return bool(self.excluded or self.included or self.votes or self.flags)


def pair_scores(counted: Counted, score: Score) -> Floats:
    """One score a counted pair: the composite, or the mean vote."""
    signs = preferences(counted.codes)
    return composite_scores(signs) if score == "composite" else net_preferences(signs)


def decide(
    record: StudyRecord, counted: Counted, score: Score, *, rng: int, worst: bool = False
) -> tuple[Verdict, int]:
    """The verdict on the pairs counted, and how many they are.

    worst: a pair that somebody reported as invalid counts as a win of the comparator, whatever its votes.
    """
    scores, questions = pair_scores(counted, score), list(counted.questions)
    if worst:
        scores = np.where([key in counted.flagged for key in counted.keys], -1.0, scores)
        unseen = sorted(counted.flagged - set(counted.keys))
        scores = np.append(scores, [-1.0] * len(unseen))
        questions += [item for item, _ in unseen]
    design = record.study.design
    found = verdict(
        scores,
        np.array(questions, dtype=str),
        margin=design.margin,
        confidence_level=design.confidence_level,
        n_resamples=N_RESAMPLES,
        rng=rng,
    )
    return found, len(scores)


def verdict_and_sensitivity(
    record: StudyRecord, filters: Filters, *, rng: int
) -> tuple[Verdict, tuple[SensitivityLine, ...]]:
    """The verdict as declared; and a line for it, then one for each rule of the analysis set that is changed."""
    declared = record.study.design.score
    left_out, kept = Variant(leave_out_flagged=True), Variant(leave_out_flagged=False)
    other = ("kept", kept) if record.study.design.flagged == "leave_out" else ("left out", left_out)
    lines: tuple[tuple[str, Variant, Score, bool], ...] = (
        (AS_DECLARED, DECLARED, declared, False),
        ("all raters complete", Variant(complete=True), declared, False),
        (f"flagged pairs {other[0]}", other[1], declared, False),
        ("flagged pairs at worst", kept, declared, True),
        ("excluded raters kept", Variant(keep_excluded=True), declared, False),
        ("composite", DECLARED, "composite", False),
        ("net preference", DECLARED, "net_preference", False),
    )
    made: dict[tuple[Variant, Score, bool], tuple[Verdict, int]] = {}
    table = []
    for name, variant, score, worst in lines:
        way = variant, score, worst
        if way not in made:  # the declared score has a line of its own too
            made[way] = decide(record, count(record, filters, variant), score, rng=rng, worst=worst)
        found, n = made[way]
        table.append(SensitivityLine(name, n, found.bound, found.value))
    as_declared, _ = made[DECLARED, declared, False]
    return as_declared, tuple(table)


def after_unblinding(record: StudyRecord, *, rng: int) -> AfterUnblinding:
    """What was excluded, voted or flagged since the results could be seen."""
    seen = results_seen(record)
    if seen is None:
        return AfterUnblinding(None)
    since, then = record.log[seen].at_utc, as_of(record, seen)
    now = {rater.rater_id: rater for rater in record.raters if not rater.dry_run}
    before = {rater.rater_id: rater for rater in then.raters if not rater.dry_run}
    earlier = {answer.key: answer for answer in then.answers}
    votes = flags = 0
    for answer in record.answers:
        if answer.rater_id not in now or answer.repeat:
            continue
        old = earlier.get(answer.key)
        said = None if old is None else (old.choice, old.preference)
        votes += answer.answered and (answer.choice, answer.preference) != said
        flags += answer.invalid != (old is not None and old.invalid)
    changed = AfterUnblinding(
        since=since,
        excluded=_moved(before, now),
        included=_moved(now, before),
        votes=votes,
        flags=flags,
    )
    if not changed.any:
        return changed
    counted = count(then, Filters())
    found, _ = decide(then, counted, then.study.design.score, rng=rng)
    return replace(changed, verdict=found)


def as_of(record: StudyRecord, place: int) -> StudyRecord:
    """The study as it stood at a line of its log: raters, exclusions and answers; texts and lists are those of today."""
    utc, log, later = record.log[place].at_utc, record.log[: place + 1], record.log[place + 1 :]
    answers: dict[AnswerKey, Answer] = {}
    for entry in record.history:
        if entry.saved_utc <= utc:
            answers[entry.answer.key] = entry.answer
    voted = {answer.rater_id for answer in answers.values()}
    about = {entry.rater_id for entry in later}
    raters = [
        replace(rater, excluded=_excluded(log, rater)) if rater.rater_id in about else rater
        for rater in record.raters
        if rater.created_utc <= utc or rater.rater_id in voted
    ]
    return replace(record, raters=tuple(raters), answers=tuple(answers.values()))


def _excluded(log: Iterable[LogEntry], rater: Rater) -> str | None:
    """The reason for which the log leaves a rater out, at its end."""
    reason = None
    for entry in log:
        if entry.rater_id != rater.rater_id:
            continue
        if entry.action == "rater excluded":
            reason = entry.detail
        elif entry.action == "rater included again":
            reason = None
        elif entry.action == "rater withdrew" and entry.detail.endswith(VOTES_LEFT_OUT):
            reason = rater.excluded
    return reason


def _moved(before: dict[str, Rater], now: dict[str, Rater]) -> tuple[str, ...]:
    """Raters who counted before and are excluded now."""
    return tuple(
        name
        for name, rater in now.items()
        if rater.excluded is not None and name in before and before[name].excluded is None
    )
