"""How long raters took for a pair or text: until its first answer, and in a visible tab. One rule for all tasks."""

from collections.abc import Hashable, Mapping, Sequence

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
