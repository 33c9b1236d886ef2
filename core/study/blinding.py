"""What a rater may see and do, and the one place that turns sides into preferences.

The rater's page imports this module and no other that knows an assignment: nothing it is handed holds
a source, a role, an item id, a seed or a file name.
"""

from dataclasses import dataclass, replace

from core import __version__
from core.datasets.reading import printable_text
from core.errors import NotAllowed
from core.schema import Answer, Assignment, Choice, Design, Preference, Rater, Study
from core.store import Store
from core.store.answers import answers_of, find_answer, save_answer
from core.store.raters import assignment_at, assignments_of, rater_of_token, raters_of, update_rater
from core.store.studies import get_study, now_utc, read_guidelines, read_wording, update_study
from core.study.blind_pair import BlindPair, blind_pair
from core.study.guessing import GuessDesk, pairs_to_guess
from core.study.guidelines import guideline_text
from core.study.wording import CONSENT, wording


@dataclass(frozen=True)
class PairStatus:
    """Where one number of a rater's list stands."""

    number: int
    answered: bool
    skipped: bool
    invalid: bool


class RaterDesk:
    """A rater at work: everything a valid link opens, and nothing else."""

    def __init__(self, store: Store, study: Study, rater: Rater, token: str) -> None:
        self._store, self._study, self._rater = store, study, rater
        self._token = token
        self._words: dict[str, str] | None = None
        self._assignments = assignments_of(store, study.study_id, rater.rater_id)
        self._answers = {a.key: a for a in answers_of(store, study.study_id, rater.rater_id)}

    @property
    def token(self) -> str:
        """Of the link that opened this desk: its holder has it anyway."""
        return self._token

    @property
    def total(self) -> int:
        """How many pairs this rater is asked to judge."""
        return len(self._assignments)

    @property
    def dry_run(self) -> bool:
        """Whether this is a preview whose answers never count."""
        return self._rater.dry_run

    @property
    def onboarding(self) -> int:
        """0: guidelines to read; 1 and more: practice pairs done + 1."""
        return self._rater.onboarding

    @property
    def closed_reason(self) -> str | None:
        """Why no answer can be given now, or None when it can."""
        if not self._assignments:
            return (
                "There is nothing for you to rate yet. The person who sent you this link can tell you when."
            )
        if self._study.state == "draft" and not self._rater.dry_run:
            return "This study has not started yet. Your link will work once it does."
        if self._study.state in ("closed", "unblinded"):
            return "This study is closed. Thank you: every answer you gave is saved."
        return None

    def guidelines(self) -> str:
        """The guidelines in this rater's language, Markdown."""
        own = read_guidelines(self._store, self._study.study_id)
        return guideline_text(own, self._language)

    def wording(self) -> dict[str, str]:
        """What buttons say in this rater's language, and the consent text (empty: none is asked for)."""
        if self._words is None:
            own = read_wording(self._store, self._study.study_id)
            self._words = wording(own, self._language)
        return self._words

    @property
    def asks_consent(self) -> bool:
        """Whether the study has a consent text to which this rater has not agreed yet."""
        return self._rater.consent_utc is None and bool(self.wording()[CONSENT].strip())

    def agree(self) -> None:
        """Keep that the rater agreed to the consent text, and when."""
        self._keep(consent_utc=now_utc())

    @property
    def finished(self) -> bool:
        """Whether the rater's answers are locked."""
        return self._rater.finished_utc is not None

    @property
    def guesses_follow(self) -> bool:
        """Whether pairs are shown once more after the lock."""
        return self._study.design.blinding_pairs > 0

    def finish(self) -> None:
        """Lock the rater's answers for good. Raises NotAllowed while a pair is open."""
        with self._store.writing():
            self._check_link()
            if self.finished:
                return  # pressed twice, or in another tab
            self._look_again()
            if self.next_open() is not None:
                raise NotAllowed("Some pairs are still open: answer them first.")
            self._keep(finished_utc=now_utc())

    def guessing(self) -> GuessDesk:
        """The pairs that are shown once more; empty until the answers are locked."""
        again = pairs_to_guess(self._study.design, self._assignments, self._answers) if self.finished else []
        return GuessDesk(self._store, self._study, again, self._look_again)

    def finish_step(self, step: int) -> None:
        """Remember that the guidelines (1) or a practice pair (2 ...) are done."""
        if step > self._rater.onboarding:
            self._keep(onboarding=step)

    @property
    def diff_mode(self) -> str:
        """Which differences this rater last had marked."""
        return self._rater.diff_mode

    def remember_diff(self, mode: str) -> None:
        """Keep the rater's choice of differences for the next visit."""
        if mode != self._rater.diff_mode:
            self._keep(diff_mode=mode)

    def statuses(self) -> list[PairStatus]:
        """The rater's list, by number."""
        blank = Answer("", "", "")
        entries = []
        for a in self._assignments:
            answer = self._answers.get(a.key, blank)
            entries.append(PairStatus(a.position, answer.answered, answer.skipped, answer.invalid))
        return entries

    def next_open(self, after: int = 0) -> int | None:
        """The next open pair after a number, then from the start, then those put off; None when all are done."""
        still = [status for status in self.statuses() if not status.answered]
        fresh = [status.number for status in still if not status.skipped]
        put_off = [status.number for status in still if status.skipped]
        for numbers in (fresh, put_off):
            if numbers:
                return next((number for number in numbers if number > after), numbers[0])
        return None

    def pair(self, number: int) -> BlindPair:
        """The pair of that number, sides as drawn. Raises NotAllowed for a number not on the list."""
        assignment = self._assignment(number)
        return blind_pair(
            self._store, self._study.study_id, assignment, number, self._answers.get(assignment.key)
        )

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
        changes: dict[str, object] = {}
        if comment is not None:
            changes["comment"] = printable_text(comment)
        if invalid is not None:
            changes["invalid"] = invalid
        self._save(number, **changes)

    def skip(self, number: int) -> None:
        """Put an open pair off until the others are done; an answered pair stays answered."""
        if not self._answers.get(self._assignment(number).key, Answer("", "", "")).answered:
            self._save(number, skipped=True)

    @property
    def _language(self) -> str:
        return self._rater.language or self._study.language

    def _keep(self, **changes: object) -> None:
        """Set fields of this rater, in the database and here."""
        with self._store.writing():
            self._check_link()
            update_rater(self._store, self._study.study_id, self._rater.rater_id, **changes)
        self._rater = replace(self._rater, **changes)  # type: ignore[arg-type]  # fields of Rater, by name

    def _assignment(self, number: int) -> Assignment:
        if not 1 <= number <= len(self._assignments):
            raise NotAllowed(f"There is no pair {number} on your list.")
        return self._assignments[number - 1]

    def _save(self, number: int, **changes: object) -> None:
        assignment = self._assignment(number)
        study_id = self._study.study_id
        with self._store.writing():
            self._look_again()
            if self.finished:
                raise NotAllowed("You have finished: your answers are locked and can no longer change.")
            if assignment_at(self._store, study_id, self._rater.rater_id, number) != assignment:
                raise NotAllowed(
                    "Your list of pairs was drawn again, so this was not saved. Reload the page."
                )
            like = Answer(assignment.rater_id, assignment.item_id, assignment.level, repeat=assignment.repeat)
            before = find_answer(self._store, study_id, like)
            answer = replace(before or like, **changes)  # type: ignore[arg-type]  # fields of Answer, by name
            save_answer(self._store, study_id, answer)
            if answer.answered and not self._rater.dry_run and self._study.first_vote_utc is None:
                freeze(self._store, study_id)
        self._answers[assignment.key] = answer

    def _look_again(self) -> None:
        """Inside the transaction: the study may have closed while the pair was on the screen."""
        self._check_link()
        self._study = get_study(self._store, self._study.study_id)
        if self.closed_reason:
            raise NotAllowed(f"{self.closed_reason} This answer was not saved.")

    def _check_link(self) -> None:
        """The rater as they stand now. Raises NotAllowed when the link is gone, or the rater is: they withdrew."""
        raters = {rater.rater_id: rater for rater in raters_of(self._store, self._study.study_id)}
        rater = raters.get(self._rater.rater_id)
        if rater is None or rater.revoked:
            raise NotAllowed("Your link was withdrawn, so this answer was not saved.")
        self._rater = rater


def open_desk(store: Store, token: str) -> RaterDesk | None:
    """The desk that a personal link opens, or None: unknown, replaced and revoked links look the same."""
    found = rater_of_token(store, token)
    if found is None:
        return None
    study_id, rater = found
    return RaterDesk(store, get_study(store, study_id), rater, token)


def freeze(store: Store, study_id: int) -> None:
    """Fix the design at the first vote that counts."""
    if get_study(store, study_id).first_vote_utc is None:
        update_study(store, study_id, first_vote_utc=now_utc())


def decode(choice: Choice, assignment: Assignment, design: Design) -> Preference:
    """What a choice of a side means: which role stands there."""
    if choice == "left" or choice == "right":
        source = assignment.left if choice == "left" else assignment.right
        return "candidate" if source == design.candidate else "comparator"
    return choice
