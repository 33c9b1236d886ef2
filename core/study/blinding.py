"""What a rater of pairs may see and do, and the one place that turns sides into preferences.

The rater's page imports this module and no other that knows an assignment: nothing it is handed holds
a source, a role, an item id, a seed or a file name.
"""

from core import __version__
from core.schema import Answer, Assignment, Choice, Design, Preference
from core.store import Store
from core.store.answers import answers_of, find_answer, save_answer
from core.store.raters import assignment_at, assignments_of
from core.store.studies import now_utc
from core.study.blind_pair import BlindPair, blind_pair
from core.study.desk import Desk, EntryStatus, study_and_rater
from core.study.guessing import GuessDesk, pairs_to_guess

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
