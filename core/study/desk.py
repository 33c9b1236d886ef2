"""What every rater's desk does, whatever is rated: the link, the list, one transaction a save, the lock at the end."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, TypeVar

from core.errors import NotAllowed
from core.schema.study import Answer, Assignment, Rater, Study
from core.schema.tasks import RatingAnswer, RatingAssignment, StudyKind
from core.store import Store
from core.store.raters import (
    ListProgress,
    list_progress,
    list_statuses,
    rater_named,
    rater_of_token,
    update_rater,
)
from core.store.studies import get_study, now_utc, read_guidelines, read_wording
from core.study.analysis_set import fix_at_vote, is_fixed
from core.study.guidelines import CONSENT, guideline_text, wording
from core.tables.reading import printable_text

Entry = TypeVar("Entry", Assignment, RatingAssignment)
Given = TypeVar("Given", Answer, RatingAnswer)
_NOTHING_YET = "There is nothing for you to rate yet. The person who sent you this link can tell you when."


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
        self._seen: dict[int, Entry] = {}
        """What was read of the list: what is saved must be of the entry that was shown."""
        self._counted: ListProgress | None = None

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
        return self._progress.total

    @property
    def done(self) -> int:
        """How many of them are answered."""
        return self._progress.done

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
        if not self.total:
            return _NOTHING_YET
        return self._shut

    @property
    def _shut(self) -> str | None:
        """Why the study takes no answer."""
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
            found = self._count()  # another tab may have taken an answer back
            if not found.total:
                raise NotAllowed(_NOTHING_YET)
            if found.done < found.total:
                raise NotAllowed(f"Some {self._unit}s are still open: answer them first.")
            self._keep(finished_utc=now_utc())

    def finish_step(self, step: int) -> None:
        """Remember that the guidelines (1) or a practice pair (2 ...) are done."""
        if step > self._rater.onboarding:
            self._keep(onboarding=step)

    def statuses(self, first: int = 1, last: int | None = None) -> list[EntryStatus]:
        """The rater's list, by number; or the numbers from `first` to `last` of it."""
        rows = list_statuses(self._store, *self._whose, first, self.total if last is None else last)
        return [
            EntryStatus(row["position"], bool(row["answered"]), bool(row["skipped"]), bool(row["invalid"]))
            for row in rows
        ]

    def next_open(self, after: int = 0) -> int | None:
        """The next open entry after a number, then from the start, then those put off; None when all are done."""
        return self._count(after).next_open

    def skip(self, number: int) -> None:
        """Put an open entry off until the others are done; an answered one stays answered."""
        if not self._given(self._assignment(number)).answered:
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

    @property
    def _whose(self) -> tuple[int, str, StudyKind]:
        return self._study.study_id, self._rater.rater_id, self._study.kind

    @property
    def _progress(self) -> ListProgress:
        return self._counted or self._count()

    def _count(self, after: int = 0) -> ListProgress:
        self._counted = list_progress(self._store, *self._whose, after)
        return self._counted

    def _assignment(self, number: int) -> Entry:
        entry = self._seen.get(number) or self._at(number)
        if entry is None:
            self._check_link()  # the list of one who withdrew is gone too
            raise NotAllowed(f"There is no {self._unit} {number} on your list.")
        self._seen[number] = entry
        return entry

    def _save(self, number: int, **changes: object) -> None:
        self._change(number, lambda _: changes)

    def _change(self, number: int, changes: Callable[[Given], Mapping[str, object]]) -> None:
        """Change what was said of an entry, on disk before this returns; `changes` sees what stands there now."""
        entry = self._assignment(number)
        self._counted = None
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

    def _look_again(self) -> None:
        """Inside the transaction: the study may have closed while the entry was on the screen."""
        self._check_link()
        self._study = get_study(self._store, self._study.study_id)
        if self._shut:
            raise NotAllowed(self._shut)

    def _check_link(self) -> None:
        """The rater as they stand now. Raises NotAllowed when the link is gone, or the rater is: they withdrew."""
        rater = rater_named(self._store, self._study.study_id, self._rater.rater_id)
        if rater is None or rater.revoked:
            raise NotAllowed("Your link was withdrawn.")
        self._rater = rater


def study_and_rater(store: Store, token: str) -> tuple[Study, Rater] | None:
    """Whose link this is, or None: unknown, replaced and revoked ones look the same."""
    found = rater_of_token(store, token)
    return None if found is None else (get_study(store, found[0]), found[1])
