"""One text as a rater may see it: what was asked, the text and what was said of it; nothing that names a system."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.schema.scores import ErrorSpan
from core.schema.tasks import RatingAnswer, RatingAssignment, RatingTask
from core.store import Store
from core.store.ratings import positions_together
from core.store.studies import items_of, outputs_of


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
