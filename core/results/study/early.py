"""Looks at a running study: one bound that holds at every look, if the design declares them.

A look must not reveal more than that bound: no score of a system, text or rater.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.results.cells import decimal
from core.results.study.counted import Filters, count, counts_at_all, pair_scores
from core.schema.study import EnteredQuestion, Study, StudyRecord
from core.stats.non_inferiority import is_above_margin, lower_bound_anytime
from core.stats.resampling import Floats
from core.stats.votes import MISSING
from core.store import Store
from core.store.studies import enter_questions, now_utc, write_log
from core.study.analysis_set import LOOKED, analysis_set, main_levels, record_to_look
from core.study.design import entry_order
from core.study.lifecycle import VOTES_LEFT_OUT

EarlyValue = Literal["non-inferior", "continue"]
EARLY_NAMES: dict[EarlyValue, str] = {
    "non-inferior": "Non-inferior (always-valid bound)",
    "continue": "Continue",
}


@dataclass(frozen=True)
class EarlyLook:
    """Everything that a look shows."""

    study: str
    value: EarlyValue
    bound: float | None
    """Always-valid lower bound of the mean of question means, in [-1, 1]; None before the first question has entered."""
    margin: float
    confidence_level: float
    """One-sided, over all looks together."""
    n_entered: int
    n_questions: int
    reached_after: int | None
    """Questions after which the bound was first above the margin; None: not yet."""
    looks: int
    """Looks so far, with this one."""
    next_lacks: int | None
    """Votes that the next question still lacks; None if every question has entered."""
    n_excluded_since: int
    """Raters whose votes stay in the bound although they were excluded after a question with their votes had entered."""


@dataclass(frozen=True)
class EarlyResult(EarlyLook):
    """The bound at the end of a study that was looked at early."""

    bounds: tuple[float | None, ...]
    """Bound after each question, in the order of entry; None before the first question with a mean."""


def look(store: Store, study: Study, *, by: str) -> EarlyLook:
    """Let complete questions enter, compute the bound over all that have entered, and log the look.

    by: who looks, for the log. Raises NotAllowed unless the design declares early looks and the study is open or closed.
    """
    with store.writing():
        record, now = record_to_look(store, study), now_utc()
        new = ready(record, now)
        enter_questions(store, study.study_id, new)
        found = _look_at(record, (*record.entered, *new), looks=looks_at(record) + 1)
        bound = "no bound" if found.bound is None else f"bound {decimal(found.bound)}"
        write_log(
            store,
            study.study_id,
            LOOKED,
            f"by {by}: {found.n_entered} of {found.n_questions} questions, {bound}, {EARLY_NAMES[found.value]}",
            at_utc=now,
        )
    return found


def last_look(record: StudyRecord) -> EarlyResult | None:
    """The bound at the end of a study, over the questions complete by then; None unless a look showed a bound before.

    record: as it was at the unblinding, so that later votes and exclusions change nothing.
    """
    if not record.entered or record.study.design.margin is None:
        return None
    entered = (*record.entered, *ready(record, ""))
    found = _look_at(record, entered, looks=looks_at(record))
    after: list[float | None] = []
    known = iter(_bounds(record, entered))
    for one in entered:
        before = after[-1] if after else None
        after.append(before if one.mean is None else float(next(known)))
    return EarlyResult(**vars(found), bounds=tuple(after))


def looks_at(record: StudyRecord) -> int:
    """How often somebody looked while the study ran."""
    return sum(entry.action == LOOKED for entry in record.log)


def ready(record: StudyRecord, at_utc: str) -> tuple[EnteredQuestion, ...]:
    """Questions that enter now: complete ones, in the order of entry, up to the first that lacks a vote."""
    entered = len(record.entered)
    order = entry_order(record.study.design.seed, [item.item_id for item in record.items])
    lacking = votes_lacking(record)
    first_open = next((at for at, item in enumerate(order) if at >= entered and lacking[item]), len(order))
    counted = count(record, Filters())
    scores, questions = pair_scores(counted, analysis_set(record).score), counted.questions
    found = []
    for at in range(entered, first_open):
        rows = questions == order[at]
        mean = float(scores[rows].mean()) if rows.any() else None
        votes = int((counted.codes[rows] != MISSING).sum())
        found.append(EnteredQuestion(at + 1, order[at], mean, votes, at_utc))
    return tuple(found)


def votes_lacking(record: StudyRecord) -> dict[str, int]:
    """Item -> votes that its pairs of the main levels still lack; 0: complete.

    A pair needs the votes that the design gives it, or else those that it needs to count, and the vote of every rater
    who counts, has it on their list and can still vote: which raters are quick then has no influence. Where votes are
    dealt, a question that an excluded rater answered is not dealt again (`core.study.design.distribute`), so that rater's
    votes are not waited for: else one exclusion would hold back all later questions for good.
    """
    design, rules = record.study.design, analysis_set(record)
    counting = {rater.rater_id: rater for rater in record.raters if counts_at_all(rater)}
    levels = set(main_levels(design, record.study.levels))
    pairs = [(item.item_id, level) for item in record.items for level in levels]
    given: dict[tuple[str, str], set[str]] = {pair: set() for pair in pairs}
    asked: dict[tuple[str, str], set[str]] = {pair: set() for pair in pairs}
    for answer in record.answers:
        key = (answer.item_id, answer.level)
        if answer.answered and not answer.repeat and answer.rater_id in counting and key in given:
            given[key].add(answer.rater_id)
    for one in record.assignments:
        key = (one.item_id, one.level)
        rater = counting.get(one.rater_id)
        if rater is not None and not rater.revoked and not one.repeat and key in asked:
            asked[key].add(one.rater_id)
    needed = design.votes_per_pair or rules.votes_needed
    gone = _answered_by_excluded(record) if design.votes_per_pair else Counter[str]()
    lacking = {item.item_id: 0 for item in record.items}
    for pair in pairs:
        still = needed - gone[pair[0]] - len(given[pair])
        lacking[pair[0]] += max(still, len(asked[pair] - given[pair]), 0)
    return lacking


def _answered_by_excluded(record: StudyRecord) -> Counter[str]:
    """Item -> excluded raters who answered it at every level, which is when it is not dealt again."""
    out = {one.rater_id for one in record.raters if one.excluded and not one.dry_run and not one.imported}
    levels: dict[tuple[str, str], set[str]] = {}
    for answer in record.answers:
        if answer.rater_id in out and answer.answered and not answer.repeat:
            levels.setdefault((answer.rater_id, answer.item_id), set()).add(answer.level)
    return Counter(item for (_, item), found in levels.items() if found >= set(record.study.levels))


def _look_at(record: StudyRecord, entered: Sequence[EnteredQuestion], *, looks: int) -> EarlyLook:
    design = record.study.design
    margin = design.margin
    assert margin is not None  # `check_design`: early looks need one
    order = entry_order(design.seed, [item.item_id for item in record.items])
    bounds = _bounds(record, entered)
    above = np.array([is_above_margin(bound, margin) for bound in bounds], dtype=bool)
    places = [one.position for one in entered if one.mean is not None]
    lacking = votes_lacking(record)
    return EarlyLook(
        study=record.study.name,
        value="non-inferior" if above.any() else "continue",
        bound=float(bounds[-1]) if bounds.size else None,
        margin=margin,
        confidence_level=design.confidence_level,
        n_entered=len(entered),
        n_questions=len(order),
        reached_after=places[int(above.argmax())] if above.any() else None,
        looks=looks,
        next_lacks=lacking[order[len(entered)]] if len(entered) < len(order) else None,
        n_excluded_since=len(_excluded_since(record, entered)),
    )


def _bounds(record: StudyRecord, entered: Sequence[EnteredQuestion]) -> Floats:
    """The bound after each question with a mean."""
    means = [one.mean for one in entered if one.mean is not None]
    return lower_bound_anytime(means, record.study.design.confidence_level)


def _excluded_since(record: StudyRecord, entered: Sequence[EnteredQuestion]) -> set[str]:
    """Raters who are excluded now and had voted in a question that entered before their exclusion."""
    gone = {rater.rater_id for rater in record.raters if rater.excluded is not None and not rater.dry_run}
    # Places in the log and not times, because two lines can have the same time. A look and its entries share their time.
    excluded: dict[str, int] = {}
    for place, line in enumerate(record.log):
        if line.rater_id is None or line.rater_id not in gone:
            continue
        if line.action == "rater included again":
            excluded.pop(line.rater_id, None)
        elif line.action == "rater excluded" or line.detail.endswith(VOTES_LEFT_OUT):
            excluded.setdefault(line.rater_id, place)
    look_of = {line.at_utc: place for place, line in enumerate(record.log) if line.action == LOOKED}
    entry_of = {one.item_id: look_of[one.entered_utc] for one in entered if one.entered_utc in look_of}
    return {
        answer.rater_id
        for answer in record.answers
        if answer.answered
        and not answer.repeat
        and answer.item_id in entry_of
        and entry_of[answer.item_id] < excluded.get(answer.rater_id, -1)
    }


def look_said(early_look: EarlyLook) -> list[str]:
    """A look in sentences, the verdict first."""
    entered = f"{early_look.n_entered} of {early_look.n_questions} questions have entered"
    bound = (
        "There is no bound yet" if early_look.bound is None else f"The lower {bound_and_margin(early_look)}"
    )
    lines = [f"{EARLY_NAMES[early_look.value]}. {entered}. {bound}."]
    if early_look.next_lacks:
        votes = "1 vote" if early_look.next_lacks == 1 else f"{early_look.next_lacks} votes"
        lines.append(f"The next question still lacks {votes}. Questions enter in a fixed order.")
    if early_look.n_excluded_since:
        one = early_look.n_excluded_since == 1
        lines.append(
            f"{'1 excluded rater has' if one else f'{early_look.n_excluded_since} excluded raters have'} votes in this bound, "
            "because their questions entered before the exclusion."
        )
    return lines


def bound_and_margin(early_look: EarlyLook) -> str:
    """The level, the bound and the margin: `90 % bound is 0.020, above the margin of -0.100`."""
    if early_look.bound is None:
        return f"{100 * early_look.confidence_level:g} % bound is undefined"
    places = 3 if decimal(early_look.bound) != decimal(-early_look.margin) else 6
    return (
        f"{100 * early_look.confidence_level:g} % bound is {decimal(early_look.bound, places)}, "
        f"{'above' if early_look.reached_after else 'not above'} the margin of {decimal(-early_look.margin, places)}"
    )
