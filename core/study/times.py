"""How long raters took for a pair or text: until its first answer, and in a visible tab. One rule for all tasks."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from core.schema.study import Answer, HistoryEntry, RatingAnswer, RatingHistoryEntry


def first_seconds(
    history: Sequence[HistoryEntry] | Sequence[RatingHistoryEntry],
) -> Mapping[Hashable, float | None]:
    """Key of an answer -> `seconds` of its first version that was an answer, not a draft; None where it was unknown."""
    found: dict[Hashable, float | None] = {}
    for entry in history:
        if entry.answer.answered:
            found.setdefault(entry.answer.key, entry.answer.seconds)
    return found


def reading_seconds(answer: Answer | RatingAnswer, first: Mapping[Hashable, float | None]) -> float | None:
    """The time that tells whether a rater read: visible until the first answer, else until the first answer, else `seconds`."""
    times = (answer.seconds_visible, first.get(answer.key), answer.seconds)
    return next((seconds for seconds in times if seconds is not None), None)


@dataclass(frozen=True, kw_only=True)
class RaterSeconds:
    """How long a rater took, in the middle: over the answers for which each time is known."""

    n_answers: int
    """Answers given, hidden repeats among them."""
    n_first: int
    """Of them, those whose time until the first answer is known."""
    median_seconds_first: float | None
    """None: it is known for none of them."""
    n_visible: int
    """Of them, those for which a browser said how long the tab was visible until the first answer."""
    median_seconds_visible: float | None


def rater_seconds(
    answers: Sequence[Answer | RatingAnswer], first: Mapping[Hashable, float | None]
) -> RaterSeconds:
    """The times of one rater's answers. first: from `first_seconds`."""
    given = [answer for answer in answers if answer.answered]
    until_first = known_seconds(first.get(answer.key) for answer in given)
    visible = known_seconds(answer.seconds_visible for answer in given)
    return RaterSeconds(
        n_answers=len(given),
        n_first=len(until_first),
        median_seconds_first=median(until_first) if until_first else None,
        n_visible=len(visible),
        median_seconds_visible=median(visible) if visible else None,
    )


def seconds_per_rater(
    raters: Sequence[str],
    answers: Sequence[Answer] | Sequence[RatingAnswer],
    history: Sequence[HistoryEntry] | Sequence[RatingHistoryEntry],
) -> dict[str, RaterSeconds]:
    """Rater -> their times; hidden repeats included, whatever the analysis leaves out."""
    first = first_seconds(history)
    return {
        rater: rater_seconds([one for one in answers if one.rater_id == rater], first) for rater in raters
    }


def known_seconds(times: Iterable[float | None]) -> list[float]:
    """The times without the unknown ones."""
    return [seconds for seconds in times if seconds is not None]
