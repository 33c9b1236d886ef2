"""What a rater of texts may see and do: score and mark one blind text after the other.

The rater's page imports this module and no other that knows an assignment: nothing it is handed holds
a system, a level, an item id, a seed or a file name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core import __version__
from core.errors import InputError, StillMissing
from core.schema.scores import ErrorSpan
from core.schema.tasks import RatingAnswer, RatingAssignment, RatingTask
from core.store import Store
from core.store.ratings import find_rating, rating_assignment_at, save_rating
from core.store.studies import items_of, now_utc
from core.study.blind_text import BlindText as BlindText
from core.study.blind_text import blind_text, text_of
from core.study.blinding import RaterDesk
from core.study.desk import Desk, study_and_rater
from core.study.desk import EntryStatus as EntryStatus
from core.study.rating_checks import checked_scores, checked_spans, missing


class RatingDesk(Desk[RatingAssignment, RatingAnswer]):
    """A rater of texts at work: everything a valid link opens, and nothing else."""

    _unit = "text"

    @property
    def task(self) -> RatingTask:
        """What is asked of every text."""
        assert self._study.task is not None
        return self._study.task

    def text(self, number: int) -> BlindText:
        """The text of that number and what was said of it. Raises NotAllowed for a number not on the list."""
        assignment = self._assignment(number)
        given = self._given(assignment)
        return blind_text(self._store, self._study.study_id, self.task, assignment, self.total, given)

    def missing(self, number: int) -> tuple[str, ...]:
        """What has still to be said of a text, in words."""
        return missing(self.task, self._given(self._assignment(number)))

    def save_scores(self, number: int, scores: Mapping[str, float | None]) -> None:
        """Keep scores, on disk before this returns; dimensions that are not named stay, None takes one back.

        Raises InputError for a dimension or value that is not on offer.
        """
        given = checked_scores(self.task, scores)

        def changes(before: RatingAnswer) -> Mapping[str, object]:
            merged = {**before.scores, **given}
            kept = {name: value for name, value in merged.items() if value is not None}
            return self._with_state(before, scores=kept)

        self._change(number, changes)

    def save_spans(self, number: int, spans: Sequence[ErrorSpan], no_errors: bool = False) -> None:
        """Keep all errors marked in a text, in place of those there were, on disk before this returns.

        Raises InputError for spans outside the text or of a severity or category that is not on offer, and where
        errors are marked in a text that is said to have none.
        """
        assignment, study_id = self._assignment(number), self._study.study_id
        text = text_of(self._store, study_id, assignment)
        (item,) = items_of(self._store, study_id, assignment.item_id)
        kept = checked_spans(self.task, spans, text, item.question)
        if kept and no_errors:
            raise InputError("There are errors marked, so it cannot be said that there are none.")
        self._change(number, lambda before: self._with_state(before, spans=kept, no_errors=no_errors))

    def save_note(self, number: int, *, comment: str | None = None, invalid: bool | None = None) -> None:
        """Keep the comment or the invalid flag of a text; None leaves what is there."""
        self._change(number, lambda before: self._with_state(before, **self._note(comment, invalid)))

    def complete(self, number: int, *, seconds: float | None) -> None:
        """Say that a text is done, on disk before this returns. Raises NotAllowed that names what is missing.

        `seconds` is how long the text was on the screen; None after a restart, when nobody knows. The time of the
        first time stands.
        """

        def changes(before: RatingAnswer) -> Mapping[str, object]:
            if left := missing(self.task, before):
                raise StillMissing(f"Not done yet. Still missing: {'; '.join(left)}.")
            if before.done:
                return {}
            again = {"done": True, "skipped": False, "answered_utc": now_utc(), "app_version": __version__}
            if before.answered_utc is not None:  # it was done before, and opened again
                return again
            return again | {
                "seconds": None if seconds is None else round(seconds, 2),
                "shown_utc": None if seconds is None else now_utc(-seconds),
            }

        self._change(number, changes)

    def _with_state(self, before: RatingAnswer, **changes: object) -> Mapping[str, object]:
        """The changes, and what they make of a text that was done: it is open again where something is missing now."""
        after = replace(before, **changes)  # type: ignore[arg-type]  # fields of RatingAnswer, by name
        if not before.done or after == before:
            return changes
        done = not missing(self.task, after)
        return {**changes, "done": done, "answered_utc": now_utc(), "app_version": __version__}

    def _at(self, number: int) -> RatingAssignment | None:
        return rating_assignment_at(self._store, self._study.study_id, self._rater.rater_id, number)

    def _given(self, entry: RatingAssignment) -> RatingAnswer:
        like = _blank(entry)
        return find_rating(self._store, self._study.study_id, like) or like

    def _keep_given(self, given: RatingAnswer) -> None:
        save_rating(self._store, self._study.study_id, given)


def open_rating_desk(store: Store, token: str) -> RatingDesk | None:
    """The desk that a personal link to a rating study opens, or None.

    Unknown, replaced and revoked links look the same, and so do links to studies of another kind.
    """
    desk = open_any_desk(store, token)
    return desk if isinstance(desk, RatingDesk) else None


def open_any_desk(store: Store, token: str) -> RaterDesk | RatingDesk | None:
    """The desk that a personal link opens, whatever is rated there, or None."""
    found = study_and_rater(store, token)
    if found is None:
        return None
    return (RatingDesk if found[0].kind == "ratings" else RaterDesk)(store, *found, token)


def _blank(assignment: RatingAssignment) -> RatingAnswer:
    return RatingAnswer(
        assignment.rater_id, assignment.item_id, assignment.level, assignment.source, assignment.repeat
    )
