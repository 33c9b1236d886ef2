"""How far each rater is, without a word about which source or system they prefer."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from core.schema.study import Answer, Assignment, Rater, Study
from core.schema.tasks import RatingAnswer
from core.stats.votes import consistency, position_bias
from core.store import Store
from core.store.answers import answers_of
from core.store.raters import assignments_of, raters_of
from core.store.ratings import rating_assignments_of, ratings_of

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


def progress(store: Store, study_id: int) -> list[RaterProgress]:
    """One entry a rater, in the order in which they were added."""
    return progress_of(
        raters_of(store, study_id), assignments_of(store, study_id), answers_of(store, study_id)
    )


def progress_of(
    raters: Sequence[Rater], assignments: Sequence[Assignment], given: Sequence[Answer]
) -> list[RaterProgress]:
    """The same for raters, lists and answers as a study's record holds them."""
    shown: dict[str, list[Assignment]] = {}
    for assignment in assignments:
        shown.setdefault(assignment.rater_id, []).append(assignment)
    answers: dict[str, list[Answer]] = {}
    for answer in given:
        answers.setdefault(answer.rater_id, []).append(answer)
    return [_line(rater, answers.get(rater.rater_id, []), shown.get(rater.rater_id, [])) for rater in raters]


def _line(rater: Rater, answers: Sequence[Answer], shown: Sequence[Assignment]) -> RaterProgress:
    given = [answer for answer in answers if answer.answered]
    main = [answer for answer in given if not answer.repeat]
    seconds = [answer.seconds for answer in given if answer.seconds is not None]
    sides = [answer.choice for answer in main if answer.choice in ("left", "right")]
    both_good = [answer for answer in main if "both_good" in (answer.choice, answer.preference)]
    same, repeats = _consistency(given, shown)
    middle = median(seconds) if seconds else None
    return RaterProgress(
        rater_id=rater.rater_id,
        kind="imported" if rater.imported else "dry run" if rater.dry_run else "rater",
        done=len(given),
        total=len(given) if rater.imported else len(shown),
        skipped=sum(answer.skipped for answer in answers),
        flagged=sum(answer.invalid for answer in answers),
        median_seconds=middle,
        left_rate=sides.count("left") / len(sides) if sides else None,
        both_good_rate=len(both_good) / len(main) if main else None,
        repeats_same=same,
        repeats=repeats,
        last_utc=max((answer.answered_utc for answer in given if answer.answered_utc), default=None),
        revoked=rater.revoked,
        finished=rater.finished_utc is not None,
        excluded=rater.excluded,
        flags=(
            *_flags(middle, len(seconds), sides.count("left"), sides.count("right")),
            *_repeat_flags(same, repeats),
        ),
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


def _flags(middle: float | None, n_times: int, left: int, right: int) -> tuple[str, ...]:
    flags = []
    if middle is not None and n_times >= LEAST_ANSWERS and middle < FAST_SECONDS:
        flags.append(f"fast: half of the answers within {middle:.1f} seconds")
    side = position_bias(left, right)
    if left + right >= LEAST_ANSWERS and side.p is not None and side.p < ONE_SIDE_P:
        more = "left" if left > right else "right"
        flags.append(f"one side: {more} in {max(left, right)} of {left + right} ({_p(side.p)})")
    return tuple(flags)


def _repeat_flags(same: int, repeats: int) -> list[str]:
    """A rater is flagged when the interval of the share of equal repeats lies below one half: 0 of 4, 2 of 10."""
    found = consistency(same, repeats)
    if found.high is None or found.high >= LEAST_CONSISTENT:
        return []
    return [f"repeats: the same answer to {same} of {repeats} repeated pairs"]


def _p(value: float) -> str:
    return "p below 0.001" if value < 0.001 else f"p {value:.3f}"


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
        _rating_line(rater, answers.get(rater.rater_id, []), totals.get(rater.rater_id, 0), spans)
        for rater in raters_of(store, study_id)
    ]


def list_progress(store: Store, study: Study) -> Sequence[ListProgress]:
    """How far each rater is, whatever the study asks."""
    if study.kind == "pairs":
        return progress(store, study.study_id)
    return rating_progress(store, study.study_id, spans=_marks(study))


def _marks(study: Study) -> bool:
    return study.task is not None and study.task.spans is not None


def _rating_line(rater: Rater, answers: Sequence[RatingAnswer], total: int, spans: bool) -> RatingProgress:
    given = [answer for answer in answers if answer.answered]
    main = [answer for answer in given if not answer.repeat]
    seconds = [answer.seconds for answer in given if answer.seconds is not None]
    middle = median(seconds) if seconds else None
    same, repeats = _rating_consistency(given)
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
        flags=_rating_flags(middle, len(seconds), main),
        with_errors=len(marked) if spans else None,
        errors=sum(len(answer.spans) for answer in marked) if spans else None,
    )


def _rating_consistency(given: Sequence[RatingAnswer]) -> tuple[int, int]:
    """(same, answered twice) over hidden repeats; broken texts are left out."""
    said = {a.key: (dict(a.scores), bool(a.spans)) for a in given if not a.invalid}
    twice = [(key, (*key[:4], False)) for key in said if key[4] and (*key[:4], False) in said]
    return sum(said[again] == said[first] for again, first in twice), len(twice)


def _rating_flags(middle: float | None, n_times: int, main: Sequence[RatingAnswer]) -> tuple[str, ...]:
    flags = []
    if middle is not None and n_times >= LEAST_ANSWERS and middle < FAST_SECONDS:
        flags.append(f"fast: half of the texts within {middle:.1f} seconds")
    said = [(tuple(sorted(a.scores.items())), bool(a.spans)) for a in main if not a.invalid]
    if len(said) >= LEAST_ANSWERS and len(set(said)) == 1:
        flags.append(f"always the same: one answer for all {len(said)} texts")
    return tuple(flags)
