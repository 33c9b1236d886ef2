"""What every rater's desk does, whatever is rated: the link, the list, one transaction a save, the lock at the end."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, TypeVar

from core.datasets.reading import printable_text
from core.errors import NotAllowed
from core.schema import Answer, Assignment, Rater, Study
from core.schema.tasks import RatingAnswer, RatingAssignment
from core.store import Store
from core.store.raters import raters_of, update_rater
from core.store.studies import get_study, now_utc, read_guidelines, read_wording
from core.study.analysis_set import fix_at_vote, is_fixed
from core.study.guidelines import guideline_text
from core.study.wording import CONSENT, wording

Entry = TypeVar("Entry", Assignment, RatingAssignment)
Given = TypeVar("Given", Answer, RatingAnswer)


@dataclass(frozen=True)
class EntryStatus:
    """Where one number of a rater's list stands."""

    number: int
    answered: bool
    skipped: bool
    invalid: bool


class Desk(ABC, Generic[Entry, Given]):
    """A rater at work: everything a valid link opens, and nothing else."""

    _unit: ClassVar[str]
    """What one entry of the list is called, in messages."""

    def __init__(self, store: Store, study: Study, rater: Rater, token: str) -> None:
        self._store, self._study, self._rater = store, study, rater
        self._token = token
        self._words: dict[str, str] | None = None
        self._assignments: tuple[Entry, ...] = self._list()
        self._answers: dict[object, Given] = {given.key: given for given in self._all_given()}

    @abstractmethod
    def _list(self) -> tuple[Entry, ...]:
        """The rater's list, in the order shown."""

    @abstractmethod
    def _all_given(self) -> tuple[Given, ...]:
        """Everything this rater has said so far."""

    @abstractmethod
    def _at(self, number: int) -> Entry | None:
        """What stands at a number of the list in the database now."""

    @abstractmethod
    def _given(self, entry: Entry) -> Given:
        """What the database holds of an entry now, or a blank."""

    @abstractmethod
    def _keep_given(self, given: Given) -> None:
        """Make it the current one and add it to the history."""

    @property
    def token(self) -> str:
        """Of the link that opened this desk: its holder has it anyway."""
        return self._token

    @property
    def total(self) -> int:
        """How many entries the rater's list has."""
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
            return "This study is closed."
        return None

    def guidelines(self) -> str:
        """The guidelines in this rater's language, Markdown."""
        own = read_guidelines(self._store, self._study.study_id)
        return guideline_text(own, self._language, self._study.kind)

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

    def finish(self) -> None:
        """Lock the rater's answers for good. Raises NotAllowed while an entry of the list is open."""
        with self._store.writing():
            self._check_link()
            if self.finished:
                return  # pressed twice, or in another tab
            self._look_again()
            # Another tab may have taken an answer back.
            given: dict[object, Given] = {one.key: one for one in self._all_given()}
            self._answers.update(given)
            done = {key for key, one in given.items() if one.answered}
            if any(entry.key not in done for entry in self._list()):
                raise NotAllowed(f"Some {self._unit}s are still open: answer them first.")
            self._keep(finished_utc=now_utc())

    def finish_step(self, step: int) -> None:
        """Remember that the guidelines (1) or a practice pair (2 ...) are done."""
        if step > self._rater.onboarding:
            self._keep(onboarding=step)

    def statuses(self) -> list[EntryStatus]:
        """The rater's list, by number."""
        entries = []
        for entry in self._assignments:
            given = self._answers.get(entry.key)
            said = (given.answered, given.skipped, given.invalid) if given else (False, False, False)
            entries.append(EntryStatus(entry.position, *said))
        return entries

    def next_open(self, after: int = 0) -> int | None:
        """The next open entry after a number, then from the start, then those put off; None when all are done."""
        still = [status for status in self.statuses() if not status.answered]
        fresh = [status.number for status in still if not status.skipped]
        put_off = [status.number for status in still if status.skipped]
        for numbers in (fresh, put_off):
            if numbers:
                return next((number for number in numbers if number > after), numbers[0])
        return None

    def skip(self, number: int) -> None:
        """Put an open entry off until the others are done; an answered one stays answered."""
        given = self._answers.get(self._assignment(number).key)
        if given is None or not given.answered:
            self._save(number, skipped=True)

    @staticmethod
    def _note(comment: str | None, invalid: bool | None) -> dict[str, object]:
        """The changes of a comment and of the invalid flag; None leaves what is there."""
        changes: dict[str, object] = {}
        if comment is not None:
            changes["comment"] = printable_text(comment)
        if invalid is not None:
            changes["invalid"] = invalid
        return changes

    @property
    def _language(self) -> str:
        return self._rater.language or self._study.language

    def _keep(self, **changes: object) -> None:
        """Set fields of this rater, in the database and here."""
        with self._store.writing():
            self._check_link()
            update_rater(self._store, self._study.study_id, self._rater.rater_id, **changes)
        self._rater = replace(self._rater, **changes)  # type: ignore[arg-type]  # fields of Rater, by name

    def _assignment(self, number: int) -> Entry:
        if not 1 <= number <= len(self._assignments):
            raise NotAllowed(f"There is no {self._unit} {number} on your list.")
        return self._assignments[number - 1]

    def _save(self, number: int, **changes: object) -> None:
        self._change(number, lambda _: changes)

    def _change(self, number: int, changes: Callable[[Given], Mapping[str, object]]) -> None:
        """Change what was said of an entry, on disk before this returns; `changes` sees what stands there now."""
        entry = self._assignment(number)
        with self._store.writing():
            self._look_again()
            if self.finished:
                raise NotAllowed("You have finished: your answers are locked and can no longer change.")
            if self._at(number) != entry:
                raise NotAllowed(f"Your list of {self._unit}s was drawn again. Reload the page.")
            before = self._given(entry)
            given = replace(before, **changes(before))  # type: ignore[arg-type]  # fields, by name
            self._keep_given(given)
            if given.answered and not self._rater.dry_run and not is_fixed(self._study):
                fix_at_vote(self._store, self._study.study_id)
        self._answers[entry.key] = given

    def _look_again(self) -> None:
        """Inside the transaction: the study may have closed while the entry was on the screen."""
        self._check_link()
        self._study = get_study(self._store, self._study.study_id)
        if self.closed_reason:
            raise NotAllowed(self.closed_reason)

    def _check_link(self) -> None:
        """The rater as they stand now. Raises NotAllowed when the link is gone, or the rater is: they withdrew."""
        raters = {rater.rater_id: rater for rater in raters_of(self._store, self._study.study_id)}
        rater = raters.get(self._rater.rater_id)
        if rater is None or rater.revoked:
            raise NotAllowed("Your link was withdrawn.")
        self._rater = rater
