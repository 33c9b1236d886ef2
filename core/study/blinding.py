"""Everything a rater may see and do: the rater's desk, for pairs and for texts, and the decoding of sides into preferences."""

import hashlib
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal

from core import __version__
from core.errors import InputError, NotAllowed, Problems, StillMissing
from core.schema.rendering import Shown
from core.schema.scores import ErrorSpan, Turn
from core.schema.study import (
    FIRST_LEVEL,
    NO_LEVEL,
    Answer,
    AnswerKey,
    Assignment,
    Choice,
    Design,
    Dimension,
    Guess,
    GuessedSide,
    KeyScheme,
    Preference,
    Rater,
    RatingAnswer,
    RatingAssignment,
    RatingTask,
    Study,
)
from core.store import Store
from core.store.answers import (
    PAIRS,
    RATINGS,
    Entry,
    Given,
    ListProgress,
    Lists,
    guesses_of,
    insert_guess,
    positions_together,
)
from core.store.raters import rater_named, rater_of_token, tab_handle, update_rater
from core.store.studies import get_study, items_of, now_utc, outputs_of
from core.study.analysis_set import fix_at_vote, is_fixed, main_levels
from core.study.design import draw
from core.study.guidelines import (
    CONSENT,
    INVALID_KEYS,
    INVALID_TEXT,
    TITLE,
    Aids,
    PracticePair,
    spoken_language,
)
from core.study.shipped import (
    aids_read,
    guideline_languages,
    guidelines_read,
    practice_read,
    wording_languages_of,
    wording_read,
)
from core.tables.reading import printable_text


def _said(turns: Iterable[Turn]) -> list[str]:
    return [text for turn in turns for text in (turn.role, turn.text)]


def _mark(*seen: str) -> str:
    return hashlib.sha256("\x1f".join(seen).encode()).hexdigest()[:12]


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
    """Text against which the left text's changes are marked: its own A0, or the reference at A0."""
    right_base: str
    base: Literal["own_a0", "reference", "none"]
    """Which text the bases are, the same for both sides; `none` in plain pairs, whose answers are compared only with each
    other: marking differences from a reference would tell raters what to prefer."""
    turns: tuple[Turn, ...] = ()
    """The turns of the conversation before the question."""
    choice: Choice | None = None
    comment: str = ""
    invalid: bool = False

    @property
    def mark(self) -> str:
        """Hash of what the rater sees: detects that another pair has taken this number."""
        return _mark(*_said(self.turns), self.question, self.level, self.left, self.right)


def blind_pair(
    store: Store, study_id: int, assignment: Assignment, number: int, answer: Answer | None = None
) -> BlindPair:
    """The pair of an assignment with its sides as drawn; `number` is its place on the rater's list."""
    (item,) = items_of(store, study_id, assignment.item_id)
    texts = {(o.level, o.source): o.text for o in outputs_of(store, study_id, item.item_id)}
    sides = (assignment.left, assignment.right)
    # Without A0 in the study, every level is compared with the reference.
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
        base="none" if assignment.level == NO_LEVEL else "own_a0" if own else "reference",
        turns=item.turns[:-1],
        choice=answer.choice if answer else None,
        comment=answer.comment if answer else "",
        invalid=answer.invalid if answer else False,
    )


LONGEST_COMMENT = 5_000
"""In characters."""


def pairs_to_guess(
    study: Study,
    assignments: Iterable[Assignment],
    answers: Mapping[AnswerKey, Answer],
    guessed: Collection[AnswerKey] = (),
) -> list[Assignment]:
    """The rated pairs of the main analysis that are shown again: those with the smallest draws for `guess`, in that order.

    Hidden repeats and pairs that the rater reported as invalid are left out. guessed: keys of the guesses given so far. If one
    of them is about another level, the rater began when pairs of all levels were drawn, and goes on with that draw.
    """
    design, declared = study.design, main_levels(study.design, study.levels)
    rated = [
        a
        for a in assignments
        if not a.repeat and (given := answers.get(a.key)) and given.answered and not given.invalid
    ]
    rated.sort(key=lambda a: draw(design.seed, a.rater_id, a.item_id, a.level, "guess"))
    main = [a for a in rated if a.level in declared][: design.blinding_pairs]
    return main if {*guessed} <= {a.key for a in main} else rated[: design.blinding_pairs]


class GuessDesk:
    """The guessing step: a rater who has finished sees some pairs again."""

    def __init__(
        self,
        store: Store,
        study: Study,
        pairs: Sequence[Assignment],
        guessed: Collection[AnswerKey],
        check: Callable[[], None],
    ) -> None:
        """guessed: keys of the guesses so far. `check` raises NotAllowed when nothing can be saved now."""
        self._store, self._study_id, self._pairs, self._check = store, study.study_id, pairs, check
        self._guessed = {*guessed}

    @property
    def total(self) -> int:
        """Number of pairs that are shown again."""
        return len(self._pairs)

    def next_open(self) -> int | None:
        """Number of the next pair without a guess, from 1; None when all are done."""
        return next((n for n, a in enumerate(self._pairs, start=1) if a.key not in self._guessed), None)

    def pair(self, number: int) -> BlindPair:
        """The pair with this number, with its sides as the rater saw them."""
        return blind_pair(self._store, self._study_id, self._assignment(number), number)

    def save(
        self,
        number: int,
        side: GuessedSide,
        *,
        comment: str = "",
        seconds: float | None,
        seconds_visible: float | None = None,
        translated: bool | None = None,
    ) -> None:
        """Save a guess, on disk before this returns. An earlier guess about the pair is never replaced.

        `seconds`, `seconds_visible`, `translated`: as for a choice.

        Raises NotAllowed if the study has closed or the link was withdrawn.
        """
        assignment = self._assignment(number)
        guess = Guess(
            rater_id=assignment.rater_id,
            item_id=assignment.item_id,
            level=assignment.level,
            guess=side,
            comment=printable_text(comment)[:LONGEST_COMMENT],
            answered_utc=now_utc(),
            seconds=_rounded(seconds),
            seconds_visible=_rounded(seconds_visible),
            translated=translated,
            app_version=__version__,
        )
        with self._store.writing():
            self._check()
            insert_guess(self._store, self._study_id, guess)
        self._guessed.add(guess.key)

    def _assignment(self, number: int) -> Assignment:
        if not 1 <= number <= len(self._pairs):
            raise NotAllowed(f"There is no pair {number} to guess about.")
        return self._pairs[number - 1]


_NOTHING_YET = "You have nothing to rate yet. Please ask the person who sent you this link."


@dataclass(frozen=True)
class EntryStatus:
    """Status of one entry on a rater's list."""

    number: int
    answered: bool
    skipped: bool
    invalid: bool


class Desk(Generic[Entry, Given]):
    """A rater at work: everything that a valid link opens, and nothing else."""

    _unit: ClassVar[str]
    """Word for one entry of the list, in messages."""
    _lists: ClassVar[Lists[Any, Any, Any]]

    def __init__(self, store: Store, study: Study, rater: Rater, token: str) -> None:
        self._store, self._study, self._rater = store, study, rater
        self._token = token
        self._words: dict[str, str] | None = None
        self._seen: dict[int, Entry] = {}
        """Entries read so far: an answer must belong to the entry that was shown."""
        self._counted: ListProgress | None = None

    @property
    def token(self) -> str:
        """Token of the link that opened this desk; its holder knows it already."""
        return self._token

    @cached_property
    def handle(self) -> str:
        """What the addresses of this rater's tabs carry, so that a tab never becomes another rater's."""
        return tab_handle(self._store, *self._whose)

    @property
    def rater_id(self) -> str:
        """The rater's own pseudonym."""
        return self._rater.rater_id

    @property
    def title(self) -> str:
        """What the owner calls the study for raters; empty by default, because a study's name could unblind them."""
        return self.wording()[TITLE]

    @property
    def total(self) -> int:
        """Number of entries on the rater's list."""
        return self._progress.total

    @property
    def done(self) -> int:
        """Number of answered entries."""
        return self._progress.done

    @property
    def dry_run(self) -> bool:
        """Whether this is a preview, whose answers never count."""
        return self._rater.dry_run

    @property
    def onboarding(self) -> int:
        """0: guidelines not read yet; from 1: practice pairs done + 1."""
        return self._rater.onboarding

    @property
    def closed_reason(self) -> str | None:
        """Reason why no answer can be given now, or None."""
        if not self.total:
            return _NOTHING_YET
        return self._shut

    @property
    def _shut(self) -> str | None:
        """Reason why the study accepts no answers, or None."""
        if self._study.state == "draft" and not self._rater.dry_run:
            return "This study has not started yet. Your link will work as soon as it starts."
        if self._study.has_ended:
            return "This study is closed."
        return None

    @property
    def asks(self) -> Literal["levels", "preference"]:
        """What the study asks about a pair."""
        return "preference" if self._study.asks == "preference" else "levels"

    def guidelines(self) -> str:
        """The guidelines in this rater's language, Markdown."""
        return guidelines_read(self._store, self._study, self.language)

    def wording(self) -> dict[str, str]:
        """Button labels in this rater's language, and the consent text (empty: no consent needed)."""
        if self._words is None:
            self._words = wording_read(self._store, self._study, self.language)
        return self._words

    @property
    def words_language(self) -> str:
        """The language in which this rater reads labels, which may be none of theirs."""
        return spoken_language(self.language, wording_languages_of(self._store, self._study))

    @property
    def guidelines_language(self) -> str:
        """The language in which this rater reads the guidelines."""
        return spoken_language(self.language, guideline_languages(self._store, self._study))

    @property
    def asks_consent(self) -> bool:
        """Whether this rater still has to agree to the study's consent text."""
        return self._rater.consent_utc is None and bool(self.wording()[CONSENT].strip())

    def agree(self) -> None:
        """Record that the rater has agreed to the consent text, and when."""
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
                return  # clicked twice, or in another tab
            self._look_again()
            found = self._count()  # another tab may have taken an answer back
            if not found.total:
                raise NotAllowed(_NOTHING_YET)
            if found.done < found.total:
                raise NotAllowed(f"Some {self._unit}s are still open. Please answer them first.")
            self._keep(finished_utc=now_utc())

    @property
    def key_scheme(self) -> KeyScheme:
        """The keys with which this rater answers."""
        return self._rater.key_scheme

    def remember_keys(self, scheme: KeyScheme) -> None:
        """Save the keys with which this rater answers, for every visit."""
        if scheme != self._rater.key_scheme:
            self._keep(key_scheme=scheme)

    def finish_step(self, step: int) -> None:
        """Record that the guidelines (1) or a practice pair (2 ...) are done."""
        if step > self._rater.onboarding:
            self._keep(onboarding=step)

    def statuses(self, first: int = 1, last: int | None = None) -> list[EntryStatus]:
        """Status of the rater's entries by number, or of those from `first` to `last`."""
        rows = self._lists.statuses(self._store, *self._whose, first, self.total if last is None else last)
        return [
            EntryStatus(row["position"], bool(row["answered"]), bool(row["skipped"]), bool(row["invalid"]))
            for row in rows
        ]

    def next_open(self, after: int = 0) -> int | None:
        """Number of the next open entry after `after`, then from the start, then among skipped ones; None when all are done."""
        return self._count(after).next_open

    def skip(self, number: int) -> None:
        """Postpone an open entry until the others are done; an answered entry stays answered."""
        if not self._given(self._assignment(number)).answered:
            self._save(number, skipped=True)

    @staticmethod
    def _note(comment: str | None, invalid: bool | None) -> dict[str, object]:
        """Changes to the comment and the invalid flag; None means no change."""
        changes: dict[str, object] = {}
        if comment is not None:
            changes["comment"] = printable_text(comment)
        if invalid is not None:
            changes["invalid"] = invalid
        return changes

    @property
    def shown(self) -> Shown:
        """How this study's texts are shown."""
        return self._study.design.shown

    @property
    def language(self) -> str:
        """The language of the words around the texts, a BCP 47 tag."""
        return self._rater.language or self._study.language

    def _keep(self, **changes: object) -> None:
        """Set fields of this rater, in the database and in memory."""
        with self._store.writing():
            self._check_link()
            update_rater(self._store, self._study.study_id, self._rater.rater_id, **changes)
        self._rater = replace(self._rater, **changes)  # type: ignore[arg-type]  # fields of Rater, by name

    @property
    def _whose(self) -> tuple[int, str]:
        return self._study.study_id, self._rater.rater_id

    @property
    def _progress(self) -> ListProgress:
        return self._counted or self._count()

    def _count(self, after: int = 0) -> ListProgress:
        self._counted = self._lists.progress(self._store, *self._whose, after)
        return self._counted

    def _at(self, number: int) -> Entry | None:
        """The entry that the database now has at this number."""
        found: Entry | None = self._lists.entry_at(self._store, *self._whose, number)
        return found

    def _given(self, entry: Entry) -> Given:
        """The answer that the database now has for an entry, or a blank one."""
        blank: Given = self._lists.blank(entry)
        return self._lists.find(self._store, self._study.study_id, blank) or blank

    def _assignment(self, number: int) -> Entry:
        entry = self._seen.get(number) or self._at(number)
        if entry is None:
            self._check_link()  # a rater who withdrew no longer has a list
            raise NotAllowed(f"There is no {self._unit} {number} on your list.")
        self._seen[number] = entry
        return entry

    def _save(self, number: int, **changes: object) -> None:
        self._change(number, lambda _: changes)

    def _change(self, number: int, changes: Callable[[Given], Mapping[str, object]]) -> None:
        """Change the answer to an entry, on disk before this returns; `changes` receives the current answer."""
        entry = self._assignment(number)
        self._counted = None
        with self._store.writing():
            self._look_again()
            if self.finished:
                raise NotAllowed("You have finished. Your answers are locked and can no longer change.")
            if self._at(number) != entry:
                raise NotAllowed(f"Your list of {self._unit}s was drawn again. Reload the page.")
            before = self._given(entry)
            given = replace(before, **changes(before))  # type: ignore[arg-type]  # fields, by name
            self._lists.save(self._store, self._study.study_id, given)
            counts = given.answered and not self._rater.dry_run and self._rater.excluded is None
            if counts and not is_fixed(self._study):
                fix_at_vote(self._store, self._study.study_id)

    def _look_again(self) -> None:
        """Read rater and study again, inside the transaction: the study may have closed in the meantime."""
        self._check_link()
        self._study = get_study(self._store, self._study.study_id)
        if self._shut:
            raise NotAllowed(self._shut)

    def _check_link(self) -> None:
        """Read the rater again. Raises NotAllowed if the link was revoked or the rater withdrew."""
        rater = rater_named(self._store, self._study.study_id, self._rater.rater_id)
        if rater is None or rater.revoked:
            raise NotAllowed("Your link no longer works.")
        self._rater = rater


def _screen_time(seconds: float | None) -> dict[str, Any]:
    """How long an entry was on the screen, and since when; None after a restart, when the time is unknown."""
    if seconds is None:
        return {"seconds": None, "shown_utc": None}
    return {"seconds": _rounded(seconds), "shown_utc": now_utc(-seconds)}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 2)


class RaterDesk(Desk[Assignment, Answer]):
    """A rater of pairs at work: everything that a valid link opens, and nothing else."""

    _unit = "pair"
    _lists = PAIRS

    def practice(self) -> tuple[PracticePair, ...]:
        """The practice pairs of the study, shown before its first pair."""
        return practice_read(self._store, self._study)

    @cached_property
    def aids(self) -> Aids:
        """The meanings of levels, and the differences that can be marked."""
        return aids_read(self._store, self._study)

    @property
    def guesses_follow(self) -> bool:
        """Whether some pairs are shown again after the answers are locked."""
        return self._study.design.blinding_pairs > 0

    def guessing(self) -> GuessDesk:
        """The pairs that are shown again; empty until the answers are locked."""
        again: list[Assignment] = []
        guessed = {guess.key for guess in guesses_of(self._store, *self._whose)}
        if self.finished:
            answers = {given.key: given for given in PAIRS.answers_of(self._store, *self._whose)}
            listed = PAIRS.lists_of(self._store, *self._whose)
            again = pairs_to_guess(self._study, listed, answers, guessed)
        return GuessDesk(self._store, self._study, again, guessed, self._look_again)

    @property
    def invalid_key(self) -> str:
        """Key of the words for the tick that reports a pair: they say what the design does with it."""
        return INVALID_KEYS[self._study.design.flagged]

    @property
    def diff_mode(self) -> str:
        """Which differences were last marked for this rater."""
        return self._rater.diff_mode

    def remember_diff(self, mode: str) -> None:
        """Save which differences to mark on the next visit."""
        if mode != self._rater.diff_mode:
            self._keep(diff_mode=mode)

    def pair(self, number: int) -> BlindPair:
        """The pair with this number, sides as drawn. Raises NotAllowed for a number not on the list."""
        assignment = self._assignment(number)
        return blind_pair(self._store, self._study.study_id, assignment, number, self._given(assignment))

    def save_choice(
        self,
        number: int,
        choice: Choice,
        *,
        seconds: float | None,
        diff_used: str,
        seconds_visible: float | None = None,
        translated: bool | None = None,
    ) -> None:
        """Save `choice` as the rater's answer to a pair, on disk before this returns.

        `seconds`: how long the pair was on the screen; None after a restart, when the time is unknown.
        `seconds_visible`: how long in a visible tab, over all its appearances; None if the browser did not say. Only the first
        choice records it. `translated`: whether the browser had translated the page; None if it did not say.
        """

        def changes(before: Answer) -> Mapping[str, object]:
            return {
                "choice": choice,
                "skipped": False,
                **_screen_time(seconds),
                "seconds_visible": before.seconds_visible if before.answered else _rounded(seconds_visible),
                "translated": translated,
                "answered_utc": now_utc(),
                "diff_used": diff_used,
                "app_version": __version__,
            }

        self._change(number, changes)

    def save_note(self, number: int, *, comment: str | None = None, invalid: bool | None = None) -> None:
        """Save the comment or the invalid flag of a pair, answered or not; None means no change."""
        self._save(number, **self._note(comment, invalid))


def decode(choice: Choice, assignment: Assignment, design: Design) -> Preference:
    """Decode a choice: the role shown on the chosen side."""
    if choice == "left" or choice == "right":
        source = assignment.left if choice == "left" else assignment.right
        return "candidate" if source == design.candidate else "comparator"
    return choice


MOST_SPANS = 500
"""Most errors that one rater may mark in one text."""
SPAN_DIMENSION = "mqm"
"""Dimension of the rating that marked errors give: minus the sum of their weights."""
_NEAR = 1e-9


def checked_scores(task: RatingTask, scores: Mapping[str, float | None]) -> dict[str, float | None]:
    """Check scores and return them as stored; None deletes one. Raises InputError for a dimension or value that the task lacks."""
    dimensions = {one.name: one for one in task.dimensions}
    problems = Problems()
    kept: dict[str, float | None] = {}
    for name, value in scores.items():
        if name not in dimensions:
            problems.append(f"{name}: not a dimension of this task")
        elif value is None:
            kept[name] = None
        elif (offered := offered_value(dimensions[name], value)) is None:
            problems.append(f"{dimensions[name].title}: {value!r} is not a possible score")
        else:
            kept[name] = offered
    if problems:
        raise InputError("These scores cannot be saved:", problems)
    return kept


def offered_value(dimension: Dimension, value: float) -> float | None:
    """The possible score that equals a number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if dimension.classes:
        return next((one for one in dimension.classes if abs(one - value) < _NEAR), None)
    return float(value) if dimension.lowest <= value <= dimension.highest else None


def checked_spans(
    task: RatingTask, spans: Sequence[ErrorSpan], text: str, source_text: str
) -> tuple[ErrorSpan, ...]:
    """Check marked errors and return them as stored: each once, without weights. Raises InputError with every problem.

    Offsets are in code points of the text (of the source if in_source), end exclusive.
    """
    if task.spans is None:
        raise InputError("Raters do not mark errors in this study.")
    problems = Problems()
    if len(spans) > MOST_SPANS:
        problems.append(f"{len(spans)} errors are marked, at most {MOST_SPANS} are possible")
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
        problems.append(f"{span.start!r} to {span.end!r} is outside the text of {length} characters")
    if span.in_source and not task.spans.source_side:
        problems.append("errors cannot be marked in the source, only in the text")
    if span.severity not in task.spans.severities:
        problems.append(f"severity {span.severity!r} is not in this task")
    if span.category not in (task.spans.categories or ("",)):
        problems.append(f"category {span.category!r} is not in this task")
    return problems


def missing(task: RatingTask, answer: RatingAnswer) -> tuple[str, ...]:
    """What the rater still has to give for a text, in words; nothing for a text reported as broken."""
    if answer.invalid:
        return ()
    left = [f"a score for {one.title}" for one in task.dimensions if one.name not in answer.scores]
    if task.spans is not None and not answer.spans and not answer.no_errors:
        left.append("the errors, or a tick that there are none")
    return tuple(left)


@dataclass(frozen=True)
class BlindText:
    """One text on a rater's list, with the rater's answer so far."""

    number: int
    """Place on the rater's list, from 1."""
    total: int
    """Number of texts on the list."""
    source_text: str
    """Text that was to be answered, translated or summarised; empty if the file has none."""
    reference: str | None
    """None if the task does not show it, or there is none."""
    text: str
    """The text to rate; spans count its code points."""
    language: str
    same_source: tuple[int, ...]
    """Numbers of the texts rated together with this one, including this one, in the order shown."""
    place_in_source: tuple[int, int]
    """(place among these texts from 1, number of these texts)."""
    turns: tuple[Turn, ...] = ()
    """The turns of the conversation before the source."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Scores given so far, by dimension."""
    spans: tuple[ErrorSpan, ...] = ()
    no_errors: bool = False
    """Whether the rater found no errors."""
    comment: str = ""
    invalid: bool = False
    done: bool = False

    @property
    def mark(self) -> str:
        """Hash of what the rater sees: detects that another text has taken this number."""
        return _mark(str(self.number), *_said(self.turns), self.source_text, self.text)


def blind_text(
    store: Store,
    study_id: int,
    task: RatingTask,
    assignment: RatingAssignment,
    total: int,
    answer: RatingAnswer,
) -> BlindText:
    """The text of an assignment with the rater's answer so far; `total`: texts on the list."""
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
        turns=item.turns[:-1],
        scores=dict(answer.scores),
        spans=answer.spans,
        no_errors=answer.no_errors,
        comment=answer.comment,
        invalid=answer.invalid,
        done=answer.done,
    )


def text_of(store: Store, study_id: int, assignment: RatingAssignment) -> str:
    """The text of an assignment."""
    texts = {(o.level, o.source): o.text for o in outputs_of(store, study_id, assignment.item_id)}
    return texts[assignment.level, assignment.source]


class RatingDesk(Desk[RatingAssignment, RatingAnswer]):
    """A rater of texts at work: everything that a valid link opens, and nothing else."""

    _unit = "text"
    _lists = RATINGS

    @property
    def invalid_key(self) -> str:
        """Key of the words for the tick that reports a text."""
        return INVALID_TEXT

    @property
    def task(self) -> RatingTask:
        """The task for every text."""
        assert self._study.task is not None
        return self._study.task

    def text(self, number: int) -> BlindText:
        """The text with this number and its answer so far. Raises NotAllowed for a number not on the list."""
        assignment = self._assignment(number)
        given = self._given(assignment)
        return blind_text(self._store, self._study.study_id, self.task, assignment, self.total, given)

    def missing(self, number: int) -> tuple[str, ...]:
        """What the rater still has to give for a text, in words."""
        return missing(self.task, self._given(self._assignment(number)))

    def save_scores(self, number: int, scores: Mapping[str, float | None]) -> None:
        """Save scores, on disk before this returns. Other dimensions stay as they are; None deletes a score.

        Raises InputError for a dimension or value that the task lacks.
        """
        given = checked_scores(self.task, scores)

        def changes(before: RatingAnswer) -> Mapping[str, object]:
            merged = {**before.scores, **given}
            kept = {name: value for name, value in merged.items() if value is not None}
            return self._with_state(before, scores=kept)

        self._change(number, changes)

    def save_spans(self, number: int, spans: Sequence[ErrorSpan], no_errors: bool = False) -> None:
        """Replace all errors marked in a text, on disk before this returns.

        Raises InputError for spans outside the text, for a severity or category that the task lacks, and for errors
        in a text that is ticked as having none.
        """
        assignment, study_id = self._assignment(number), self._study.study_id
        text = text_of(self._store, study_id, assignment)
        (item,) = items_of(self._store, study_id, assignment.item_id)
        kept = checked_spans(self.task, spans, text, item.question)
        if kept and no_errors:
            raise InputError(
                "Errors are marked in this text. Delete them before you tick that there are none."
            )
        self._change(number, lambda before: self._with_state(before, spans=kept, no_errors=no_errors))

    def save_note(self, number: int, *, comment: str | None = None, invalid: bool | None = None) -> None:
        """Save the comment or the invalid flag of a text; None means no change."""
        self._change(number, lambda before: self._with_state(before, **self._note(comment, invalid)))

    def complete(
        self,
        number: int,
        *,
        seconds: float | None,
        seconds_visible: float | None = None,
        translated: bool | None = None,
    ) -> None:
        """Mark a text as done, on disk before this returns. Raises StillMissing, naming what is missing.

        `seconds`: how long the text was on the screen; None after a restart, when the time is unknown.
        `seconds_visible`: how long in a visible tab; None if the browser did not say. Only the first times are
        recorded. `translated`: whether the browser had translated the page; None if it did not say.
        """

        def changes(before: RatingAnswer) -> Mapping[str, object]:
            if left := missing(self.task, before):
                raise StillMissing(f"Not done yet. Still missing: {'; '.join(left)}.")
            if before.done:
                return {}
            again = {"done": True, "skipped": False, "answered_utc": now_utc(), "app_version": __version__}
            again |= {"translated": translated}
            if before.answered_utc is not None:  # done before, then reopened
                return again
            return again | _screen_time(seconds) | {"seconds_visible": _rounded(seconds_visible)}

        self._change(number, changes)

    def _with_state(self, before: RatingAnswer, **changes: object) -> Mapping[str, object]:
        """The changes; a text that was done becomes open again if something is missing now."""
        after = replace(before, **changes)  # type: ignore[arg-type]  # fields of RatingAnswer, by name
        if not before.done or after == before:
            return changes
        done = not missing(self.task, after)
        return {**changes, "done": done, "answered_utc": now_utc(), "app_version": __version__}


def open_any_desk(store: Store, token: str) -> RaterDesk | RatingDesk | None:
    """The desk that a personal link opens, for pairs or texts. None for unknown, replaced and revoked links alike."""
    found = rater_of_token(store, token)
    if found is None:
        return None
    study = get_study(store, found[0])
    return (RatingDesk if study.kind == "ratings" else RaterDesk)(store, study, found[1], token)


def open_desk(store: Store, token: str) -> RaterDesk | None:
    """The desk that a personal link to a study of pairs opens; None for all other links."""
    desk = open_any_desk(store, token)
    return desk if isinstance(desk, RaterDesk) else None


def open_rating_desk(store: Store, token: str) -> RatingDesk | None:
    """The desk that a personal link to a rating study opens; None for all other links."""
    desk = open_any_desk(store, token)
    return desk if isinstance(desk, RatingDesk) else None
