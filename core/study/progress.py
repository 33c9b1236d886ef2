"""How far each rater is, without a word about which source or system they prefer."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from core.schema.study import Answer, Assignment, Rater, Study
from core.schema.tasks import RatingAnswer
from core.stats.votes import consistency, position_bias
from core.store import Store
from core.store.answers import Entry, Given, answers_of, assignments_of, rating_assignments_of, ratings_of
from core.store.raters import raters_of

FAST_SECONDS = 5.0
"""A rater whose median is below this is flagged: two answers and a reference take longer to read."""
ONE_SIDE_P = 0.05
"""A rater whose choices of a side are this unlikely without a preference for one is flagged."""
LEAST_CONSISTENT = 0.5
"""A rater whose 95 % interval of equal repeats lies below this share is flagged."""
LEAST_ANSWERS = 10
"""No flag before so many answers."""


@dataclass(frozen=True, kw_only=True)
class ListProgress:
    """One line of the progress table, as far as studies of pairs and of ratings share it."""

    rater_id: str
    kind: str
    """`rater`, `dry run` or `imported`."""
    done: int
    total: int
    """Entries of the rater's list, hidden repeats among them; for imported votes the number of votes."""
    skipped: int
    flagged: int
    median_seconds: float | None
    """Over answers with a time; None without any."""
    repeats_same: int
    """Hidden repeats answered as the first time."""
    repeats: int
    """Hidden repeats answered whose first time was answered too."""
    last_utc: str | None
    revoked: bool
    finished: bool
    """The rater has locked their answers."""
    excluded: str | None
    """The owner's reason for leaving them out; None: counted."""
    flags: tuple[str, ...]
    """What to look at, in words; nothing follows from it by itself."""


@dataclass(frozen=True, kw_only=True)
class RaterProgress(ListProgress):
    """How far a rater of pairs is. A repeat is the same where the same text is preferred, or the same of both good and
    both bad.
    """

    left_rate: float | None
    """Share of left among the choices of a side, hidden repeats left out as in the results; None without any."""
    both_good_rate: float | None
    """Share of both good among all answers but hidden repeats; None without any."""


@dataclass(frozen=True, kw_only=True)
class RatingProgress(ListProgress):
    """How far a rater of texts is. A repeat is the same where all scores are, and where errors are said to be or not
    to be as before.
    """

    with_errors: int | None
    """Texts in which errors were marked, hidden repeats left out; None: the task marks none."""
    errors: int | None
    """Errors marked in them."""


def list_progress(store: Store, study: Study) -> Sequence[ListProgress]:
    """How far each rater is, whatever the study asks, in the order in which they were added."""
    raters = raters_of(store, study.study_id)
    if study.kind == "pairs":
        return progress_of(raters, assignments_of(store, study.study_id), answers_of(store, study.study_id))
    shown, given = _by_rater(rating_assignments_of(store, study.study_id), ratings_of(store, study.study_id))
    spans = study.task is not None and study.task.spans is not None
    return [_rating_line(rater, given[rater.rater_id], len(shown[rater.rater_id]), spans) for rater in raters]


def progress_of(
    raters: Sequence[Rater], assignments: Sequence[Assignment], given: Sequence[Answer]
) -> list[RaterProgress]:
    """The same for raters of pairs, lists and answers as a study's record holds them."""
    shown, answers = _by_rater(assignments, given)
    return [_line(rater, answers[rater.rater_id], shown[rater.rater_id]) for rater in raters]


def _by_rater(
    entries: Sequence[Entry], answers: Sequence[Given]
) -> tuple[Mapping[str, list[Entry]], Mapping[str, list[Given]]]:
    shown: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        shown[entry.rater_id].append(entry)
    given: dict[str, list[Given]] = defaultdict(list)
    for answer in answers:
        given[answer.rater_id].append(answer)
    return shown, given


def _shared(
    rater: Rater, answers: Sequence[Answer] | Sequence[RatingAnswer], total: int, same: tuple[int, int]
) -> dict[str, Any]:
    """Fields of ListProgress but the flags."""
    given = [answer for answer in answers if answer.answered]
    seconds = _times(answers)
    return {
        "rater_id": rater.rater_id,
        "kind": "imported" if rater.imported else "dry run" if rater.dry_run else "rater",
        "done": len(given),
        "total": len(given) if rater.imported else total,
        "skipped": sum(answer.skipped for answer in answers),
        "flagged": sum(answer.invalid for answer in answers),
        "median_seconds": median(seconds) if seconds else None,
        "repeats_same": same[0],
        "repeats": same[1],
        "last_utc": max((answer.answered_utc for answer in given if answer.answered_utc), default=None),
        "revoked": rater.revoked,
        "finished": rater.finished_utc is not None,
        "excluded": rater.excluded,
    }


def _times(answers: Sequence[Answer] | Sequence[RatingAnswer]) -> list[float]:
    return [answer.seconds for answer in answers if answer.answered and answer.seconds is not None]


def _fast(seconds: Sequence[float], what: str) -> list[str]:
    if len(seconds) < LEAST_ANSWERS or median(seconds) >= FAST_SECONDS:
        return []
    return [f"fast: half of the {what} within {median(seconds):.1f} seconds"]


def _line(rater: Rater, answers: Sequence[Answer], shown: Sequence[Assignment]) -> RaterProgress:
    given = [answer for answer in answers if answer.answered]
    main = [answer for answer in given if not answer.repeat]
    left, right = ([answer.choice for answer in main].count(side) for side in ("left", "right"))
    both_good = [answer for answer in main if "both_good" in (answer.choice, answer.preference)]
    same, repeats = _consistency(given, shown)
    return RaterProgress(
        **_shared(rater, answers, len(shown), (same, repeats)),
        left_rate=left / (left + right) if left + right else None,
        both_good_rate=len(both_good) / len(main) if main else None,
        flags=(*_fast(_times(answers), "answers"), *_side_flags(left, right), *_repeat_flags(same, repeats)),
    )


def _consistency(given: Sequence[Answer], shown: Sequence[Assignment]) -> tuple[int, int]:
    """(same, answered twice) over hidden repeats: sides may have been swapped, so what stood there is compared."""
    on_side = {a.key: {"left": a.left, "right": a.right} for a in shown}
    meant = {
        answer.key: on_side[answer.key].get(answer.choice, answer.choice)
        for answer in given
        if answer.choice and answer.key in on_side
    }
    twice = [(key, (*key[:3], False)) for key in meant if key[3] and (*key[:3], False) in meant]
    return sum(meant[again] == meant[first] for again, first in twice), len(twice)


def _side_flags(left: int, right: int) -> list[str]:
    side = position_bias(left, right)
    if left + right < LEAST_ANSWERS or side.p is None or side.p >= ONE_SIDE_P:
        return []
    more = "left" if left > right else "right"
    return [f"one side: {more} in {max(left, right)} of {left + right} ({_p(side.p)})"]


def _repeat_flags(same: int, repeats: int) -> list[str]:
    """A rater is flagged when the interval of the share of equal repeats lies below one half: 0 of 4, 2 of 10."""
    found = consistency(same, repeats)
    if found.high is None or found.high >= LEAST_CONSISTENT:
        return []
    return [f"repeats: the same answer to {same} of {repeats} repeated pairs"]


def _p(value: float) -> str:
    return "p below 0.001" if value < 0.001 else f"p {value:.3f}"


def _rating_line(rater: Rater, answers: Sequence[RatingAnswer], total: int, spans: bool) -> RatingProgress:
    given = [answer for answer in answers if answer.answered]
    main = [answer for answer in given if not answer.repeat]
    marked = [answer for answer in main if answer.spans]
    return RatingProgress(
        **_shared(rater, answers, total, _rating_consistency(given)),
        flags=(*_fast(_times(answers), "texts"), *_same_flags(main)),
        with_errors=len(marked) if spans else None,
        errors=sum(len(answer.spans) for answer in marked) if spans else None,
    )


def _rating_consistency(given: Sequence[RatingAnswer]) -> tuple[int, int]:
    """(same, answered twice) over hidden repeats; broken texts are left out."""
    said = {a.key: (dict(a.scores), bool(a.spans)) for a in given if not a.invalid}
    twice = [(key, (*key[:4], False)) for key in said if key[4] and (*key[:4], False) in said]
    return sum(said[again] == said[first] for again, first in twice), len(twice)


def _same_flags(main: Sequence[RatingAnswer]) -> list[str]:
    said = [(tuple(sorted(a.scores.items())), bool(a.spans)) for a in main if not a.invalid]
    if len(said) < LEAST_ANSWERS or len(set(said)) > 1:
        return []
    return [f"always the same: one answer for all {len(said)} texts"]
