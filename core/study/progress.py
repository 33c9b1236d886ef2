"""How far each rater is, without a word about which source they prefer."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from core.schema import Answer, Rater
from core.store import Store
from core.store.answers import answers_of
from core.store.raters import assignments_of, raters_of


@dataclass(frozen=True)
class RaterProgress:
    """One line of the progress table."""

    rater_id: str
    kind: str
    """`rater`, `dry run` or `imported`."""
    done: int
    total: int
    """Pairs on the rater's list, hidden repeats among them; for imported votes the number of votes."""
    skipped: int
    flagged: int
    median_seconds: float | None
    """Over answers with a time; None without any."""
    left_rate: float | None
    """Share of left among the choices of a side, hidden repeats left out as in the results; None without any."""
    both_good_rate: float | None
    """Share of both good among all answers but hidden repeats; None without any."""
    last_utc: str | None
    revoked: bool


def progress(store: Store, study_id: int) -> list[RaterProgress]:
    """One entry a rater, in the order in which they were added."""
    lists: dict[str, int] = {}
    for assignment in assignments_of(store, study_id):
        lists[assignment.rater_id] = lists.get(assignment.rater_id, 0) + 1
    answers: dict[str, list[Answer]] = {}
    for answer in answers_of(store, study_id):
        answers.setdefault(answer.rater_id, []).append(answer)
    return [
        _line(rater, answers.get(rater.rater_id, []), lists.get(rater.rater_id, 0))
        for rater in raters_of(store, study_id)
    ]


def _line(rater: Rater, answers: Sequence[Answer], total: int) -> RaterProgress:
    given = [answer for answer in answers if answer.answered]
    main = [answer for answer in given if not answer.repeat]
    seconds = [answer.seconds for answer in given if answer.seconds is not None]
    sides = [answer.choice for answer in main if answer.choice in ("left", "right")]
    both_good = [answer for answer in main if "both_good" in (answer.choice, answer.preference)]
    return RaterProgress(
        rater_id=rater.rater_id,
        kind="imported" if rater.imported else "dry run" if rater.dry_run else "rater",
        done=len(given),
        total=len(given) if rater.imported else total,
        skipped=sum(answer.skipped for answer in answers),
        flagged=sum(answer.invalid for answer in answers),
        median_seconds=median(seconds) if seconds else None,
        left_rate=sides.count("left") / len(sides) if sides else None,
        both_good_rate=len(both_good) / len(main) if main else None,
        last_utc=max((answer.answered_utc for answer in given if answer.answered_utc), default=None),
        revoked=rater.revoked,
    )
