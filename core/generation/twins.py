"""Edited twins of a text: its content stays, and one thing changes that should not sway a judge.

Rules only add words or marks, so that a twin without its additions is the text. A model's edits are checked: numbers,
dates and names stay, none is new, the length stays within bounds, and the text really differs.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import regex

from core.diff import Segment, share_kept, tokenize
from core.diff.names import unshared
from core.diff.sentences import lines_and_sentences
from core.generation.damage import wrapped
from core.generation.facts import Pool, find_facts
from core.generation.language import (
    count_words,
    known_language,
    language_change,
    same_script,
    same_text,
    words_of,
)
from core.generation.numbers import Draw, number_change
from core.llm.asking import Unusable
from core.llm.parsing import refuse_loop
from core.schema.scores import Role

ProbeName = Literal["padding", "lengthening", "authority", "formatting", "confidence", "own-style"]


@dataclass(frozen=True)
class Probe:
    """One thing that should not sway a judge."""

    name: ProbeName
    """Its name in files; never changes."""
    title: str
    role: Role
    """The text of a pair that is edited."""
    does: str
    """What the edit does, completing "the text is ..."."""
    keeps_words: bool = True
    """Whether a twin has all words of its text in the same order. The others are reworded, so only facts are checked."""
    lengths: tuple[float, float] = (1.0, 1.0)
    """Fewest and most words of a model's twin, as multiples of the words of its text."""
    room: int = 0
    """Words by which a model's twin may exceed that, because one sentence is long beside a short text."""


PADDING: Final = "padding"
LENGTHENING: Final = "lengthening"
AUTHORITY: Final = "authority"
FORMATTING: Final = "formatting"
CONFIDENCE: Final = "confidence"
OWN_STYLE: Final = "own-style"
PROBES: Mapping[str, Probe] = {
    one.name: one
    for one in (
        Probe(PADDING, "Padding", "better", "padded with sentences that say nothing", True, (1.1, 3.0), 60),
        Probe(LENGTHENING, "Lengthening", "worse", "made longer without a new fact", False, (1.1, 3.0), 40),
        Probe(AUTHORITY, "Invented authority", "worse", "backed by an invented source", True, (1.0, 1.5), 40),
        Probe(FORMATTING, "Formatting", "worse", "marked up with bullets and bold type"),
        Probe(CONFIDENCE, "Confident tone", "worse", "given a tone of certainty", False, (0.8, 1.6), 30),
        Probe(OWN_STYLE, "Own style", "worse", "rewritten in a model's own words", False, (0.7, 1.4), 5),
    )
}
"""Name -> probe. The order of the two texts needs no twin."""
BY_RULES = tuple(name for name in PROBES if name != OWN_STYLE)
"""The probes whose twins rules can make."""

MOST_KEPT = 0.8
"""Largest share of its text's words that a rewritten text may keep in order; above it, the wording is the old one."""
NO_WORDING = "no wording by rules for this language"
NO_QUESTION = "no wording by rules for this language, and there is no question to restate"
FORMATTED = "the text is formatted already"
NOTHING_TO_MARK = "the text has nothing to mark: one sentence without a number or a name"
NO_RULE = "rules cannot rewrite a text; choose a model"

_WORDING: Mapping[str, Any] = json.loads(
    (Path(__file__).parents[2] / "data" / "vocabulary" / "twins.json").read_text("utf-8")
)
_NO_POOL = Pool()
_ENDS = regex.compile(r"[.!?…:。！？؟।][\"'”»’」』)]*$")
_MARKUP = regex.compile(r"^\s*(?:[-*•>]|#{1,6}|\p{Nd}{1,2}[.)])\s|\*\*|__|`|^\s*\|", regex.MULTILINE)
_MARKS = regex.compile(r"^\s*(?:[-*•>]|#{1,6}|\p{Nd}{1,2}[.)])\s+|[*_`#]", regex.MULTILINE)
_SURE = frozenset({
    "number", "quantity", "percent", "money", "date", "year", "time", "range", "name", "acronym", "weekday",
})  # fmt: skip
"""Kinds of facts whose words every twin must have."""
_DATED = frozenset({"date", "acronym", "weekday"})
_PROPER = frozenset({"country", "city", "continent", "river", "planet", "agency", "person", "given"})
"""Beginnings of classes of listed names that are proper names; other classes list nouns, which rewording may change."""


class Addition(NamedTuple):
    """Words or marks that a rule puts into a text."""

    at: int
    """Position in the original text."""
    text: str


@dataclass(frozen=True)
class Edit:
    """A twin made by rules."""

    text: str
    additions: tuple[Addition, ...]
    """In the order of the text; without them the twin is the text."""


class NoTwin(Exception):
    """Raised where rules cannot make a twin, with the reason."""

    def __init__(self, reason: str, detail: str = "") -> None:
        self.reason = reason
        """In words that can be counted."""
        self.detail = detail
        super().__init__(reason)


def languages() -> tuple[str, ...]:
    """Languages for which rules have wording."""
    return tuple(_WORDING)


def segments_of(text: str, additions: Sequence[Addition]) -> tuple[Segment, ...]:
    """The twin in reading order: the text, and what was added."""
    segments, done = [], 0
    for one in additions:
        segments += [Segment(text[done : one.at], "same"), Segment(one.text, "added")]
        done = one.at
    return tuple(one for one in (*segments, Segment(text[done:], "same")) if one.text)


def remove_additions(twin: str, additions: Sequence[Addition]) -> str:
    """The text that a twin was made from. Raises ValueError if an addition is not where it should be."""
    pieces, done, added = [], 0, 0
    for one in additions:
        at = one.at + added
        if twin[at : at + len(one.text)] != one.text or at < done:
            raise ValueError(f"no addition {one.text!r} at position {at} of the twin")
        pieces.append(twin[done:at])
        added += len(one.text)
        done = at + len(one.text)
    return "".join([*pieces, twin[done:]])


def edit_by_rules(
    probe: str, text: str, language: str, draw: Draw, *, question: str | None = None, longer: float = 0.5
) -> Edit:
    """Make a twin by additions alone; the same draw makes the same twin.

    text: as files store it, without spaces at line ends. language: its tag; `und` is guessed. question: what the text
    answers; it may be restated. longer: least share of the text's words that padding and lengthening add, as long as
    there are phrases and sentences. One sentence is the least addition, so short texts grow by more.
    Raises NoTwin with the reason if rules cannot make this twin.
    """
    if probe not in BY_RULES:
        raise NoTwin(NO_RULE)
    known = known_language(language, text)
    made = _ADDING[probe](_Original(text, known, draw.child(probe), question, longer))
    # Sorting by place alone keeps additions at one place in the order in which they were made.
    additions = sorted(made, key=lambda one: one.at)
    twin = "".join(one.text for one in segments_of(text, additions))
    assert remove_additions(twin, additions) == text, "rules only add"
    if (problem := _new_facts(probe, text, additions, known, question)) is not None:
        raise NoTwin("the additions have a fact that the text lacks", problem)
    return Edit(twin, tuple(additions))


@dataclass(frozen=True)
class _Original:
    """A text to edit, with what rules need."""

    text: str
    language: str
    draw: Draw
    question: str | None
    longer: float

    @property
    def wanted(self) -> float:
        """Number of words that padding and lengthening should add."""
        return max(1.0, self.longer * count_words(self.text))

    def wording(self, probe: str) -> Any:
        """The phrases of the probe in the text's language. Raises NoTwin."""
        if self.language not in _WORDING:
            raise NoTwin(NO_WORDING, _language_said(self.language))
        return _WORDING[self.language][probe]

    def ends(self) -> list[int]:
        """Positions behind the text's whole sentences, without the last."""
        at, found = 0, []
        for part in lines_and_sentences(self.text)[:-1]:
            end = at + len(part.rstrip())
            at += len(part)
            if _ENDS.search(part.rstrip()):
                found.append(end)
        return found

    def before(self, sentence: str) -> Addition:
        """A sentence in front of the text."""
        return Addition(0, f"{sentence} ")

    def after(self, sentence: str) -> Addition:
        """A sentence behind the text."""
        mark = "" if _ENDS.search(self.text) else "."
        return Addition(len(self.text), f"{mark} {sentence}")


def _language_said(language: str) -> str:
    return f"The text's language is {language}; rules have wording in {', '.join(languages())}."


def _padded(one: _Original) -> Iterator[Addition]:
    restated = [Addition(0, f"{one.question}\n")] if one.question else []
    if one.language not in _WORDING:
        if not restated:
            raise NoTwin(NO_QUESTION, _language_said(one.language))
        yield from restated
        return
    phrases = one.wording(PADDING)
    before, after = (one.draw.shuffled(phrases[place], place) for place in ("before", "after"))
    between = zip(
        one.draw.shuffled(one.ends(), "ends"), one.draw.shuffled(phrases["between"], "between"), strict=False
    )
    ends = [one.before(before[0]), one.after(after[0])]
    offered = [
        *one.draw.shuffled(ends, "first"),
        *(Addition(at, f" {phrase}") for at, phrase in between),
        *restated,
        one.before(before[1]),
        one.after(after[1]),
    ]
    yield from _enough(offered, one.wanted)


def _lengthened(one: _Original) -> Iterator[Addition]:
    leads = one.draw.shuffled(one.wording(LENGTHENING), "lead")
    said = [part.strip() for part in lines_and_sentences(one.text)]
    said = [part for part in said if count_words(part)]
    order = one.draw.shuffled(range(len(said)), "sentence")
    offered = []
    for place, (lead, at) in enumerate(zip(leads, order, strict=False)):
        again = said[at] if _ENDS.search(said[at]) else f"{said[at]}."
        behind = one.after(lead + again) if place == 0 else Addition(len(one.text), f" {lead}{again}")
        offered.append(behind)
    if not offered:
        raise NoTwin("the text has no word")
    yield from _enough(offered, one.wanted)


def _enough(offered: Sequence[Addition], wanted: float) -> Iterator[Addition]:
    """The first additions that together have this many words, at least one."""
    n = 0
    for addition in offered:
        yield addition
        n += count_words(addition.text)
        if n >= wanted:
            return


def _authorised(one: _Original) -> Iterator[Addition]:
    phrase = one.draw.choose(one.wording(AUTHORITY), "phrase")
    ends = one.ends()
    at = one.draw.choose([*ends, len(one.text)], "place")
    yield one.after(phrase) if at == len(one.text) else Addition(at, f" {phrase}")


def _confident(one: _Original) -> Iterator[Addition]:
    phrases = one.wording(CONFIDENCE)
    yield one.before(one.draw.choose(phrases["before"], "before"))
    yield one.after(one.draw.choose(phrases["after"], "after"))


def _formatted(one: _Original) -> Iterator[Addition]:
    """Each sentence as a bullet, and in each the first number or name in bold type."""
    if _MARKUP.search(one.text):
        raise NoTwin(FORMATTED)
    parts = lines_and_sentences(one.text)
    bullet = one.draw.choose(("-", "*"), "bullet")
    facts = [
        fact
        for fact in find_facts(one.text, one.language, _NO_POOL)
        if fact.kind in _SURE and fact.text.strip()
    ]
    bold = 0
    start = 0
    for number, part in enumerate(parts):
        if len(parts) > 1:
            yield from _bullet(one.text, start, bullet, first=number == 0)
        stop = start + len(part.rstrip())
        if (
            fact := next((fact for fact in facts if start <= fact.start and fact.end <= stop), None)
        ) is not None:
            yield Addition(_number_start(one.text, fact.start), "**")
            yield Addition(fact.end, "**")
            bold += 1
        start += len(part)
    if len(parts) == 1 and not bold:
        raise NoTwin(NOTHING_TO_MARK)


def _number_start(text: str, start: int) -> int:
    """Where a number begins, with its minus sign: `-179`, but not the hyphen of `A-179`."""
    return start - 1 if regex.search(r"(?:^|\s)[-−–]$", text[max(0, start - 2) : start]) else start


def _bullet(text: str, start: int, bullet: str, *, first: bool) -> Iterator[Addition]:
    """The bullet of a sentence that begins at `start`. A space before the sentence becomes the one behind the bullet."""
    if first or text[:start].endswith("\n"):
        yield Addition(start, f"{bullet} ")
    elif text[start - 1].isspace():
        yield Addition(len(text[:start].rstrip()), f"\n{bullet}")
    else:
        yield Addition(start, f"\n{bullet} ")


_ADDING = {
    PADDING: _padded,
    LENGTHENING: _lengthened,
    AUTHORITY: _authorised,
    FORMATTING: _formatted,
    CONFIDENCE: _confident,
}


def _new_facts(
    probe: str, text: str, additions: Sequence[Addition], language: str, question: str | None
) -> str | None:
    """The numbers and names that only the additions have, as a reason; an invented authority brings its own."""
    if probe == AUTHORITY:
        return None
    known = f"{text}\n{question or ''}"
    new = _lacking(known, "\n".join(one.text for one in additions), language)
    return f"New: {', '.join(new)}." if new else None


def _lacking(base: str, text: str, language: str) -> tuple[str, ...]:
    """Numbers and names of a text that its base lacks. A function word with a capital opens a sentence after a number."""
    stop = words_of(language)
    new = (one.text for one in unshared(base, text, language).segments if one.kind == "added")
    return tuple(one for one in dict.fromkeys(new) if one.casefold() not in stop)


def check_edit(probe: str, text: str, twin: str, language: str, question: str | None = None) -> None:
    """Check a twin that a model made. Raises Unusable with a sentence that the model can act on.

    All twins: the text differs, in the same language and script, and every number, date and name of the text is there.
    None is new, except those of an invented authority. Where a probe keeps the words, the twin has all of them in order; marked-up
    text has no other word. The length stays within the probe's bounds, and a rewritten text shares at most MOST_KEPT of
    its text's words in order.

    Misleads where a claim changes without a number, date or name: a negation, for example. In scripts without capitals and
    in German, names are known only from lists.
    """
    one, known = PROBES[probe], known_language(language, text)
    if (found := wrapped(text, twin)) is not None:
        raise Unusable(found[1], found[0])
    refuse_loop(twin)
    if tokenize(text) == tokenize(twin) or (probe != FORMATTING and same_text(text, twin)):
        raise Unusable("It is the text without a change.", UNCHANGED)
    other = language_change(known, text, twin)
    if other is not None or not same_script(text, twin):
        raise Unusable("It is in another language or script: keep those of the text.", "language changed")
    if probe == FORMATTING:
        _check_marks(text, twin)
        return
    if one.keeps_words and share_kept(text, twin) != 1.0:
        raise Unusable(
            "Words of the text are missing or changed: keep every word as it is, and only add.", WORDS_CHANGED
        )
    _check_length(one, text, twin)
    _check_facts(probe, text, twin, known, question or "")
    if probe == OWN_STYLE and (kept := share_kept(text, twin) or 0.0) > MOST_KEPT:
        raise Unusable(
            f"It keeps {kept:.0%} of the text's words in order: use other words and sentences.", UNCHANGED
        )


UNCHANGED, WORDS_CHANGED, FACT_CHANGED = "unchanged", "words changed", "fact changed"
"""Kinds of refusal that are counted."""


def _check_marks(text: str, twin: str) -> None:
    """Refuse marked-up text that has no new mark, or that differs from the text in more than marks and white space."""
    if _drop_marks(text) != _drop_marks(twin):
        raise Unusable(
            "It differs from the text in more than marks: add marks, and change, add or leave out no word and no "
            "punctuation.",
            WORDS_CHANGED,
        )
    if len(_MARKS.findall(twin)) <= len(_MARKS.findall(text)):
        raise Unusable("It has no mark: put bullets before the lines, and set words in bold type.", UNCHANGED)


def _drop_marks(text: str) -> str:
    return "".join(_MARKS.sub("", text).split())


def _check_length(one: Probe, text: str, twin: str) -> None:
    n, found = count_words(text), count_words(twin)
    least, most = round(one.lengths[0] * n), round(one.lengths[1] * n) + one.room
    if not least <= found <= most:
        raise Unusable(f"It has {found} words, the text {n}: write {least} to {most}.", "length")


def _check_facts(probe: str, text: str, twin: str, language: str, question: str) -> None:
    """Refuse missing and new numbers, dates and names; new ones are the authority's own if that is the probe."""
    asked = f"{text}\n{question}"
    missing = [*_lacking(twin, text, language), *_words_lacking(twin, text, language)]
    new: list[str] = []
    if probe != AUTHORITY:
        new = [*_lacking(asked, twin, language), *_words_lacking(asked, twin, language)]
        if not missing and not new and number_change(language, text, twin, question):
            raise Unusable("Its numbers are not the text's: keep every number, and add none.", FACT_CHANGED)
    if missing or new:
        parts = [f"{', '.join(dict.fromkeys(missing))} is missing"] if missing else []
        parts += [f"{', '.join(dict.fromkeys(new))} is not in the text"] if new else []
        raise Unusable(
            f"Its facts are not the text's: {'; '.join(parts)}. Keep all facts, and add none.", FACT_CHANGED
        )


def _words_lacking(base: str, text: str, language: str) -> list[str]:
    """Words of dates and listed names in a text that its base lacks: months, and names where capitals show none."""
    there = {_folded(token) for token in tokenize(base)}
    return [
        token
        for fact in find_facts(text, language, _NO_POOL)
        if fact.kind in _DATED or (fact.kind == "name" and fact.group.partition("_")[0] in _PROPER)
        for token in tokenize(fact.text)
        if any(map(str.isalnum, token)) and _folded(token) not in there
    ]


def _folded(token: str) -> str:
    """A word as it is compared: without case and without `'s`."""
    return token.casefold().removesuffix("'s").removesuffix("’s")
