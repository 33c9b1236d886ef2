"""How far each rater of texts is, without a word about whose texts they prefer."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from core.schema import Rater, Study
from core.schema.tasks import RatingAnswer
from core.store import Store
from core.store.raters import raters_of
from core.store.ratings import rating_assignments_of, ratings_of
from core.study.progress import FAST_SECONDS, LEAST_ANSWERS, ListProgress, progress


@dataclass(frozen=True, kw_only=True)
class RatingProgress(ListProgress):
    """How far a rater of texts is. A repeat is the same where all scores are, and where errors are said to be or not
    to be as before.
    """

    with_errors: int | None
    """Texts in which errors were marked, hidden repeats left out; None: the task marks none."""
    errors: int | None
    """Errors marked in them."""


def rating_progress(store: Store, study_id: int, *, spans: bool = True) -> list[RatingProgress]:
    """One entry a rater, in the order in which they were added. spans: whether the task marks errors."""
    totals: dict[str, int] = {}
    for assignment in rating_assignments_of(store, study_id):
        totals[assignment.rater_id] = totals.get(assignment.rater_id, 0) + 1
    answers: dict[str, list[RatingAnswer]] = {}
    for answer in ratings_of(store, study_id):
        answers.setdefault(answer.rater_id, []).append(answer)
    return [
        _line(rater, answers.get(rater.rater_id, []), totals.get(rater.rater_id, 0), spans)
        for rater in raters_of(store, study_id)
    ]


def list_progress(store: Store, study: Study) -> Sequence[ListProgress]:
    """How far each rater is, whatever the study asks."""
    if study.kind == "pairs":
        return progress(store, study.study_id)
    return rating_progress(store, study.study_id, spans=_marks(study))


def _marks(study: Study) -> bool:
    return study.task is not None and study.task.spans is not None


def _line(rater: Rater, answers: Sequence[RatingAnswer], total: int, spans: bool) -> RatingProgress:
    given = [answer for answer in answers if answer.answered]
    main = [answer for answer in given if not answer.repeat]
    seconds = [answer.seconds for answer in given if answer.seconds is not None]
    middle = median(seconds) if seconds else None
    same, repeats = _consistency(given)
    marked = [answer for answer in main if answer.spans]
    return RatingProgress(
        rater_id=rater.rater_id,
        kind="dry run" if rater.dry_run else "rater",
        done=len(given),
        total=total,
        skipped=sum(answer.skipped for answer in answers),
        flagged=sum(answer.invalid for answer in answers),
        median_seconds=middle,
        repeats_same=same,
        repeats=repeats,
        last_utc=max((answer.answered_utc for answer in given if answer.answered_utc), default=None),
        revoked=rater.revoked,
        finished=rater.finished_utc is not None,
        excluded=rater.excluded,
        flags=_flags(middle, len(seconds), main),
        with_errors=len(marked) if spans else None,
        errors=sum(len(answer.spans) for answer in marked) if spans else None,
    )


def _consistency(given: Sequence[RatingAnswer]) -> tuple[int, int]:
    """(same, answered twice) over hidden repeats; broken texts are left out."""
    said = {a.key: (dict(a.scores), bool(a.spans)) for a in given if not a.invalid}
    twice = [(key, (*key[:4], False)) for key in said if key[4] and (*key[:4], False) in said]
    return sum(said[again] == said[first] for again, first in twice), len(twice)


def _flags(middle: float | None, n_times: int, main: Sequence[RatingAnswer]) -> tuple[str, ...]:
    flags = []
    if middle is not None and n_times >= LEAST_ANSWERS and middle < FAST_SECONDS:
        flags.append(f"fast: half of the texts within {middle:.1f} seconds")
    said = [(tuple(sorted(a.scores.items())), bool(a.spans)) for a in main if not a.invalid]
    if len(said) >= LEAST_ANSWERS and len(set(said)) == 1:
        flags.append(f"always the same: one answer for all {len(said)} texts")
    return tuple(flags)
