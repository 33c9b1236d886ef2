"""What a rater of texts may see and do: score and mark one blind text after the other."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core import __version__
from core.errors import InputError, Problems, StillMissing
from core.schema.scores import ErrorSpan
from core.schema.tasks import Dimension, RatingAnswer, RatingAssignment, RatingTask
from core.store import Store
from core.store.answers import RATINGS, positions_together
from core.store.studies import items_of, now_utc, outputs_of
from core.study.blinding import Desk, RaterDesk, study_and_rater

MOST_SPANS = 500
"""That one rater may mark in one text."""
SPAN_DIMENSION = "mqm"
"""Under this name marked errors are a rating: minus their weights."""
_NEAR = 1e-9


def checked_scores(task: RatingTask, scores: Mapping[str, float | None]) -> dict[str, float | None]:
    """The scores as they are kept; None takes one back. Raises InputError for what the task does not ask or offer."""
    dimensions = {one.name: one for one in task.dimensions}
    problems = Problems()
    kept: dict[str, float | None] = {}
    for name, value in scores.items():
        if name not in dimensions:
            problems.append(f"{name}: this is not asked here")
        elif value is None:
            kept[name] = None
        elif (offered := offered_value(dimensions[name], value)) is None:
            problems.append(f"{dimensions[name].title}: {value!r} is not on offer")
        else:
            kept[name] = offered
    if problems:
        raise InputError("These scores cannot be saved:", problems)
    return kept


def offered_value(dimension: Dimension, value: float) -> float | None:
    """The answer on offer that a number is, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if dimension.classes:
        return next((one for one in dimension.classes if abs(one - value) < _NEAR), None)
    return float(value) if dimension.lowest <= value <= dimension.highest else None


def checked_spans(
    task: RatingTask, spans: Sequence[ErrorSpan], text: str, source_text: str
) -> tuple[ErrorSpan, ...]:
    """The spans as they are kept: each once, without weights. Raises InputError with all that cannot be.

    Offsets are in code points of the text (of the source where in_source), end exclusive.
    """
    if task.spans is None:
        raise InputError("Errors are not marked in this study.")
    problems = Problems()
    if len(spans) > MOST_SPANS:
        problems.append(f"{len(spans)} errors are more than {MOST_SPANS}")
    for number, span in enumerate(spans[:MOST_SPANS], start=1):
        problems += [
            f"error {number}: {problem}" for problem in _span_problems(task, span, text, source_text)
        ]
    if problems:
        raise InputError("These errors cannot be saved:", problems)
    return tuple(dict.fromkeys(replace(span, weight=None) for span in spans))


def _span_problems(task: RatingTask, span: ErrorSpan, text: str, source_text: str) -> list[str]:
    assert task.spans is not None
    problems = []
    length = len(source_text if span.in_source else text)
    whole = all(isinstance(end, int) and not isinstance(end, bool) for end in (span.start, span.end))
    if not whole or not 0 <= span.start < span.end <= length:
        problems.append(f"{span.start!r} to {span.end!r} is no part of a text of {length} characters")
    if span.in_source and not task.spans.source_side:
        problems.append("errors are marked in the text alone, not in the source")
    if span.severity not in task.spans.severities:
        problems.append(f"severity {span.severity!r} is not on offer")
    if span.category not in (task.spans.categories or ("",)):
        problems.append(f"category {span.category!r} is not on offer")
    return problems


def missing(task: RatingTask, answer: RatingAnswer) -> tuple[str, ...]:
    """What has still to be said of a text, in words; nothing of one that is reported as broken."""
    if answer.invalid:
        return ()
    left = [f"a score for {one.title}" for one in task.dimensions if one.name not in answer.scores]
    if task.spans is not None and not answer.spans and not answer.no_errors:
        left.append("the errors, or that there are none")
    return tuple(left)


@dataclass(frozen=True)
class BlindText:
    """One text of a rater's list, and what this rater has said of it so far."""

    number: int
    """Its place on the rater's list, from 1."""
    total: int
    """Texts on the list."""
    source_text: str
    """What was asked, translated or summarised; empty where the file does not say."""
    reference: str | None
    """None: the task does not show it, or there is none."""
    text: str
    """What is rated; spans count its code points."""
    language: str
    same_source: tuple[int, ...]
    """Numbers of the texts that are rated together with this one, itself among them, in the order shown."""
    place_in_source: tuple[int, int]
    """(place among these from 1, how many they are)."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """By dimension, as far as given."""
    spans: tuple[ErrorSpan, ...] = ()
    no_errors: bool = False
    """The rater says that there is nothing to mark."""
    comment: str = ""
    invalid: bool = False
    done: bool = False

    @property
    def mark(self) -> str:
        """Tells this text on the screen from another that took its number; made of what the rater sees."""
        seen = "\x1f".join((str(self.number), self.source_text, self.text))
        return hashlib.sha256(seen.encode()).hexdigest()[:12]


def blind_text(
    store: Store,
    study_id: int,
    task: RatingTask,
    assignment: RatingAssignment,
    total: int,
    said: RatingAnswer,
) -> BlindText:
    """The text of an assignment, on a list with so many, and what was said of it."""
    (item,) = items_of(store, study_id, assignment.item_id)
    text = text_of(store, study_id, assignment)
    together = positions_together(store, study_id, assignment)
    return BlindText(
        number=assignment.position,
        total=total,
        source_text=item.question,
        reference=item.reference or None if task.show_reference else None,
        text=text,
        language=item.language,
        same_source=together,
        place_in_source=(together.index(assignment.position) + 1, len(together)),
        scores=dict(said.scores),
        spans=said.spans,
        no_errors=said.no_errors,
        comment=said.comment,
        invalid=said.invalid,
        done=said.done,
    )


def text_of(store: Store, study_id: int, assignment: RatingAssignment) -> str:
    """The text that an assignment shows."""
    texts = {(o.level, o.source): o.text for o in outputs_of(store, study_id, assignment.item_id)}
    return texts[assignment.level, assignment.source]


class RatingDesk(Desk[RatingAssignment, RatingAnswer]):
    """A rater of texts at work: everything a valid link opens, and nothing else."""

    _unit = "text"
    _lists = RATINGS

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
