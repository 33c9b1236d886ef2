"""What a rater of pairs may see and do, and the one place that turns sides into preferences."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from core import __version__
from core.errors import NotAllowed
from core.schema.study import (
    FIRST_LEVEL,
    Answer,
    AnswerKey,
    Assignment,
    Choice,
    Design,
    Guess,
    GuessedSide,
    Preference,
    Study,
)
from core.store import Store
from core.store.answers import answers_of, find_answer, guesses_of, insert_guess, save_answer
from core.store.raters import assignment_at, assignments_of
from core.store.studies import items_of, now_utc, outputs_of
from core.study.desk import Desk, EntryStatus, study_and_rater
from core.study.draws import draw
from core.tables.reading import printable_text


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


LONGEST_COMMENT = 5_000
"""Characters."""


def pairs_to_guess(
    design: Design, assignments: Iterable[Assignment], answers: dict[AnswerKey, Answer]
) -> list[Assignment]:
    """The rated pairs shown again: those with the smallest draw for `guess`, in that order.

    Hidden repeats and pairs reported as invalid are left out.
    """
    rated = [
        a
        for a in assignments
        if not a.repeat and (given := answers.get(a.key)) and given.answered and not given.invalid
    ]
    rated.sort(key=lambda a: draw(design.seed, a.rater_id, a.item_id, a.level, "guess"))
    return rated[: design.blinding_pairs]


class GuessDesk:
    """A rater who has finished, before the pairs that are shown once more."""

    def __init__(
        self, store: Store, study: Study, pairs: Sequence[Assignment], check: Callable[[], None]
    ) -> None:
        """`check` raises NotAllowed when nothing can be saved now."""
        self._store, self._study_id, self._pairs, self._check = store, study.study_id, pairs, check
        rater = pairs[0].rater_id if pairs else ""
        self._given = {guess.key for guess in guesses_of(store, study.study_id, rater)}

    @property
    def total(self) -> int:
        """How many pairs are shown again."""
        return len(self._pairs)

    def next_open(self) -> int | None:
        """The number of the next pair without a guess, from 1; None when all are done."""
        return next((n for n, a in enumerate(self._pairs, start=1) if a.key not in self._given), None)

    def pair(self, number: int) -> BlindPair:
        """The pair of that number, with the sides on which the rater saw it."""
        return blind_pair(self._store, self._study_id, self._assignment(number), number)

    def save(self, number: int, side: GuessedSide, *, comment: str = "", seconds: float | None) -> None:
        """Keep a guess, on disk before this returns; one that is there already stands.

        Raises NotAllowed when the study has closed meanwhile, or the link was withdrawn.
        """
        assignment = self._assignment(number)
        guess = Guess(
            rater_id=assignment.rater_id,
            item_id=assignment.item_id,
            level=assignment.level,
            guess=side,
            comment=printable_text(comment)[:LONGEST_COMMENT],
            answered_utc=now_utc(),
            seconds=None if seconds is None else round(seconds, 2),
            app_version=__version__,
        )
        with self._store.writing():
            self._check()
            insert_guess(self._store, self._study_id, guess)
        self._given.add(guess.key)

    def _assignment(self, number: int) -> Assignment:
        if not 1 <= number <= len(self._pairs):
            raise NotAllowed(f"There is no pair {number} to look at again.")
        return self._pairs[number - 1]


PairStatus = EntryStatus
"""Where one number of a rater's list of pairs stands."""


class RaterDesk(Desk[Assignment, Answer]):
    """A rater of pairs at work: everything a valid link opens, and nothing else."""

    _unit = "pair"

    @property
    def guesses_follow(self) -> bool:
        """Whether pairs are shown once more after the lock."""
        return self._study.design.blinding_pairs > 0

    def guessing(self) -> GuessDesk:
        """The pairs that are shown once more; empty until the answers are locked."""
        again: list[Assignment] = []
        if self.finished:
            whose = self._study.study_id, self._rater.rater_id
            answers = {given.key: given for given in answers_of(self._store, *whose)}
            again = pairs_to_guess(self._study.design, assignments_of(self._store, *whose), answers)
        return GuessDesk(self._store, self._study, again, self._look_again)

    @property
    def diff_mode(self) -> str:
        """Which differences this rater last had marked."""
        return self._rater.diff_mode

    def remember_diff(self, mode: str) -> None:
        """Keep the rater's choice of differences for the next visit."""
        if mode != self._rater.diff_mode:
            self._keep(diff_mode=mode)

    def pair(self, number: int) -> BlindPair:
        """The pair of that number, sides as drawn. Raises NotAllowed for a number not on the list."""
        assignment = self._assignment(number)
        return blind_pair(self._store, self._study.study_id, assignment, number, self._given(assignment))

    def save_choice(self, number: int, choice: Choice, *, seconds: float | None, diff_used: str) -> None:
        """Make `choice` the rater's answer to a pair, on disk before this returns.

        `seconds` is how long the pair was on the screen; None after a restart, when nobody knows.
        """
        self._save(
            number,
            choice=choice,
            skipped=False,
            seconds=None if seconds is None else round(seconds, 2),
            shown_utc=None if seconds is None else now_utc(-seconds),
            answered_utc=now_utc(),
            diff_used=diff_used,
            app_version=__version__,
        )

    def save_note(self, number: int, *, comment: str | None = None, invalid: bool | None = None) -> None:
        """Keep the comment or the invalid flag of a pair, answered or not; None leaves what is there."""
        self._save(number, **self._note(comment, invalid))

    def _at(self, number: int) -> Assignment | None:
        return assignment_at(self._store, self._study.study_id, self._rater.rater_id, number)

    def _given(self, entry: Assignment) -> Answer:
        like = Answer(entry.rater_id, entry.item_id, entry.level, repeat=entry.repeat)
        return find_answer(self._store, self._study.study_id, like) or like

    def _keep_given(self, given: Answer) -> None:
        save_answer(self._store, self._study.study_id, given)


def open_desk(store: Store, token: str) -> RaterDesk | None:
    """The desk that a personal link to a study of pairs opens, or None.

    Unknown, replaced and revoked links look the same, and so do links to studies of another kind.
    """
    found = study_and_rater(store, token)
    return RaterDesk(store, *found, token) if found and found[0].kind == "pairs" else None


def decode(choice: Choice, assignment: Assignment, design: Design) -> Preference:
    """What a choice of a side means: which role stands there."""
    if choice == "left" or choice == "right":
        source = assignment.left if choice == "left" else assignment.right
        return "candidate" if source == design.candidate else "comparator"
    return choice
