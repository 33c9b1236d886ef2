"""After the answers are locked: which of the two did the person write? A few rated pairs once more.

What a rater believes is asked last, so that it cannot change an answer, and about pairs that the seed picks.
docs/statistics.md says what is made of it (blinding index).
"""

from collections.abc import Callable, Iterable, Sequence

from core import __version__
from core.datasets.reading import printable_text
from core.errors import NotAllowed
from core.schema import Answer, AnswerKey, Assignment, Design, Guess, GuessedSide, Study
from core.store import Store
from core.store.guesses import guesses_of, insert_guess
from core.store.studies import now_utc
from core.study.blind_pair import BlindPair, blind_pair
from core.study.draws import draw

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
