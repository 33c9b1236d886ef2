"""One pair as a rater may see it: texts and a number, nothing that names a source."""

import hashlib
from dataclasses import dataclass
from typing import Literal

from core.schema import FIRST_LEVEL, Answer, Assignment, Choice
from core.store import Store
from core.store.studies import items_of, outputs_of


@dataclass(frozen=True)
class BlindPair:
    """One pair as a rater sees it."""

    number: int
    question: str
    reference: str
    language: str
    level: str
    left: str
    right: str
    left_base: str
    """What the left text's changes are shown against: its own A0, or the reference at A0."""
    right_base: str
    base: Literal["own_a0", "reference"]
    """Which of the two it is; the same for both sides."""
    choice: Choice | None = None
    comment: str = ""
    invalid: bool = False

    @property
    def mark(self) -> str:
        """Tells this pair on the screen from another that took its number; made of what the rater sees."""
        seen = "\x1f".join((self.question, self.level, self.left, self.right))
        return hashlib.sha256(seen.encode()).hexdigest()[:12]


def blind_pair(
    store: Store, study_id: int, assignment: Assignment, number: int, answer: Answer | None = None
) -> BlindPair:
    """The pair of an assignment with its sides as drawn, under a number of the rater's list."""
    (item,) = items_of(store, study_id, assignment.item_id)
    texts = {(o.level, o.source): o.text for o in outputs_of(store, study_id, item.item_id)}
    sides = (assignment.left, assignment.right)
    # A study may have no A0 at all; every level then is shown against the reference.
    own = assignment.level != FIRST_LEVEL and all((FIRST_LEVEL, side) in texts for side in sides)

    def base(source: str) -> str:
        return texts[FIRST_LEVEL, source] if own else item.reference

    return BlindPair(
        number=number,
        question=item.question,
        reference=item.reference,
        language=item.language,
        level=assignment.level,
        left=texts[assignment.level, assignment.left],
        right=texts[assignment.level, assignment.right],
        left_base=base(assignment.left),
        right_base=base(assignment.right),
        base="own_a0" if own else "reference",
        choice=answer.choice if answer else None,
        comment=answer.comment if answer else "",
        invalid=answer.invalid if answer else False,
    )
