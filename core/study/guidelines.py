"""Texts that raters read: guidelines, consent and button labels, shipped or written by the owner. They must not name a system."""

import html
import json
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import get_args

import regex

from core.errors import InputError
from core.schema.rendering import Rendering, Shown
from core.schema.scores import TurnRole
from core.schema.study import CHOICES, GUESSED_SIDES, NO_LEVEL, Asks, Choice, FlaggedPairs, Study

_DATA = Path(__file__).resolve().parents[2] / "data"
FALLBACK_LANGUAGE = "en"
_FOLDERS: dict[Asks, str] = {
    "levels": "guidelines",
    "preference": "guidelines/preference",
    "ratings": "guidelines/ratings",
}

LEVEL_MEANINGS = {
    "A0": "as correct and complete as the reference",
    "A1": "a few small factual errors",
    "A2": "several factual errors",
    "A3": "many factual errors",
    "A4": "mostly wrong, though plausible at a glance",
}


NAMES, WORDS, LEFT_RIGHT, NO_DIFF = DIFF_MODES = ("names", "words", "left_right", "none")
OWN_BASE, REFERENCE, NO_BASE = "own_a0", "reference", "none"
"""What a pair's answers are compared with: each with its own A0, both with the reference, or only with each other."""
MODES: Mapping[str, tuple[str, ...]] = {
    OWN_BASE: DIFF_MODES,
    REFERENCE: DIFF_MODES,
    NO_BASE: (LEFT_RIGHT, NO_DIFF),
}
FIRST_MODE: Mapping[str, str] = {OWN_BASE: WORDS, REFERENCE: NAMES, NO_BASE: NO_DIFF}


@dataclass(frozen=True)
class Aids:
    """What helps a rater to read a pair. A frozen study keeps its own."""

    meanings: Mapping[str, str]
    """Level -> its meaning, shown beside its name."""
    modes: Mapping[str, Sequence[str]]
    """Base -> the modes of marked differences that a pair offers, in the order shown."""
    first: Mapping[str, str]
    """Base -> the mode until the rater chooses one."""


def shipped_aids() -> Aids:
    """The aids of this version."""
    return Aids(LEVEL_MEANINGS, MODES, FIRST_MODE)


@dataclass(frozen=True)
class PracticePair:
    """A practice pair: shown before the study, never stored."""

    question: str
    reference: str
    level: str
    """Empty in plain pairs, which have no levels."""
    left_a0: str
    left: str
    right_a0: str
    right: str
    expected: Choice
    hint: str
    code_language: str = ""
    """Of answers that are code."""

    def shown_in(self, shown: Shown) -> Shown:
        """How the pair is shown in a study whose texts are shown so: code in its own language, where the study highlights any."""
        return replace(shown, code_language=self.code_language) if shown.code_language else shown


def shipped_languages(asks: Asks = "levels") -> list[str]:
    """Languages of the guidelines shipped with Assay for this kind of study."""
    return sorted(path.stem for path in (_DATA / _FOLDERS[asks]).glob("*.md"))


def levels_note(study: Study) -> str | None:
    """A note for the owner if the study's levels differ from those in the shipped texts, else None."""
    if study.asks != "levels" or set(study.levels) == set(LEVEL_MEANINGS):
        return None
    return (
        f"The shipped guidelines and practice pairs explain levels A0 to A4, but this study has {', '.join(study.levels)}."
        + (" Write guidelines that explain these levels." if study.is_changeable else "")
    )


def guideline_text(
    owner_texts: Mapping[str, str],
    language: str,
    asks: Asks = "levels",
    copies: Mapping[str, str] | None = None,
) -> str:
    """The guidelines in `language`: the owner's, or the shipped ones for this kind of study, or the English ones.

    copies: language -> shipped guidelines as a frozen study has them; None: those of this version.
    """
    for wanted in (language, language.split("-")[0], FALLBACK_LANGUAGE):
        if wanted in owner_texts:
            return owner_texts[wanted]
        if copies is None and wanted in shipped_languages(asks):
            return shipped_guideline(wanted, asks)
        if copies is not None and wanted in copies:
            return copies[wanted]
    raise AssertionError("English guidelines are always shipped")


def shipped_guideline(language: str, asks: Asks = "levels") -> str:
    """The guidelines of this version in a language that it ships."""
    return (_DATA / _FOLDERS[asks] / f"{language}.md").read_text("utf-8")


def check_guideline(text: str, sources: Collection[str]) -> None:
    """Raise InputError if a text would unblind a rater, load something from another host or is empty.

    sources: the systems whose texts the study shows.
    """
    problems = [] if text.strip() else ["the text is empty"]
    problems += blinding_problems(text, sources)
    if problems:
        raise InputError("Invalid guidelines:", problems)


def blinding_problems(text: str, sources: Collection[str] = ()) -> list[str]:
    """Reasons why raters must not see an owner's text, as far as a program can detect them."""
    problems = [
        f"the text names the system {source!r}, which could unblind raters"
        for source in named_sources(text, sources)
    ]
    if regex.search(r"!\[|<\s*[a-zA-Z/!?]", text):
        problems.append("the text contains an image or HTML; raters' pages may show only plain Markdown")
    return problems


def named_sources(text: str, sources: Collection[str]) -> list[str]:
    """Systems whose names occur in a text as whole words, as a reader sees it."""
    read = _read_text(text)
    words = {
        source: regex.escape(_read_text(source)) for source in sources if source
    }  # a system may be unnamed
    return [
        source
        for source, word in words.items()
        if regex.search(rf"(?<![\p{{L}}\p{{N}}]){word}(?![\p{{L}}\p{{N}}])", read)
    ]


def _read_text(text: str) -> str:
    """The text as a reader sees it: entities resolved, markup and invisible characters removed, case folded."""
    seen = unicodedata.normalize("NFKC", html.unescape(text))
    return str(regex.sub(r"[\p{Cf}*_~`\\]", "", seen)).casefold()


@cache
def practice_pairs(asks: Asks = "levels", rendering: Rendering = "plain") -> tuple[PracticePair, ...]:
    """The practice pairs shipped with Assay for texts that are shown so; none for studies that rate single texts."""
    entries = json.loads((_DATA / "practice.json").read_text("utf-8")).get(asks, {}).get(rendering, [])
    return tuple(
        PracticePair(
            question=entry["question"],
            reference=entry["reference"],
            level=entry.get("level", NO_LEVEL),
            left_a0=entry["left"].get("a0", ""),
            left=entry["left"]["text"],
            right_a0=entry["right"].get("a0", ""),
            right=entry["right"]["text"],
            expected=entry["expected"],
            hint=entry["hint"],
            code_language=entry.get("code_language", ""),
        )
        for entry in entries
    )


CONSENT, TITLE, GUESS_QUESTION = "consent", "title", "guess_question"
CHOICE_KEYS = {choice: choice for choice in CHOICES}
GUESS_KEYS = {side: f"guess_{side}" for side in GUESSED_SIDES}
BOX_KEYS = ("box_left", "box_right")
"""Headings of the two texts, also on a narrow screen that shows one above the other."""
NO_ANSWER_KEY = "no_answer"
"""Key of the words that stand where a system gave no answer."""
LEVEL = "{level}"
QUESTION_KEYS = {"levels": "level_question", "preference": "pair_question"}
"""The question about a pair; in studies with levels, `{level}` stands for the pair's level."""
INVALID_KEYS: dict[FlaggedPairs, str] = {"keep": "invalid_keep", "leave_out": "invalid_leave_out"}
"""The tick that reports a pair, by what the design does with its votes, so that raters are told the truth."""
INVALID_TEXT = "invalid_text"
"""The same for a text: ratings of a reported text are always left out."""
EARLIER_TURNS, NUMBER = "earlier_turns", "{number}"
"""The line that unfolds the earlier turns of a conversation; `{number}` stands for how many there are."""
TURN_KEYS: dict[TurnRole, str] = {role: f"turn_{role}" for role in get_args(TurnRole)}
"""Who says a turn of a conversation."""
TRANSLATED_KEYS = ("translated", "translated_why")
"""What a rater reads whose browser has translated the page: what to do, and why."""
LABEL_KEYS = (
    *QUESTION_KEYS.values(),
    *CHOICE_KEYS.values(),
    *BOX_KEYS,
    NO_ANSWER_KEY,
    GUESS_QUESTION,
    *GUESS_KEYS.values(),
    *INVALID_KEYS.values(),
    INVALID_TEXT,
    EARLIER_TURNS,
    *TURN_KEYS.values(),
    *TRANSLATED_KEYS,
)
"""Short texts on one line that Assay ships."""
OWN_KEYS = (CONSENT, TITLE)
"""Texts that only the owner can write, empty by default. `consent` is Markdown of any length; `title`, on one line, is what
raters read as the study's title, because the study's name never reaches them."""
LONGEST_LABEL, LONGEST_CONSENT = 80, 20_000
"""In characters."""


def label_keys(asks: Asks) -> tuple[str, ...]:
    """Keys of the labels that raters see in this kind of study, in the order of LABEL_KEYS."""
    if asks == "ratings":
        return (INVALID_TEXT, EARLIER_TURNS, *TURN_KEYS.values(), *TRANSLATED_KEYS)
    others = {INVALID_TEXT, *(key for what, key in QUESTION_KEYS.items() if what != asks)}
    return tuple(key for key in LABEL_KEYS if key not in others)


def wording(
    owner_texts: Mapping[str, Mapping[str, str]],
    language: str,
    copies: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, str]:
    """Key -> text in `language`: the owner's, or the shipped text, or the English one.

    A consent text that exists only in other languages is shown anyway, so that nobody starts without consenting. So is a
    title. copies: language -> shipped texts as a frozen study has them; None: those of this version. A key that copies of an
    earlier version lack has the English text of this one.
    """
    shipped = shipped_wording() if copies is None else copies
    said = {
        key: next((texts[key] for texts in owner_texts.values() if texts.get(key)), "") for key in OWN_KEYS
    }
    said |= shipped_wording()[FALLBACK_LANGUAGE]
    for wanted in wording_languages(language):
        said |= shipped.get(wanted, {})
        said |= owner_texts.get(wanted, {})
    return said


def wording_languages(language: str) -> tuple[str, ...]:
    """The languages whose texts a rater of `language` may read, each over those before it."""
    return FALLBACK_LANGUAGE, language.split("-")[0], language


def spoken_language(language: str, languages: Collection[str]) -> str:
    """The language that a rater of `language` reads, of those that there are; English where none is theirs."""
    spoken = (one for one in reversed(wording_languages(language)) if one in languages)
    return next(spoken, FALLBACK_LANGUAGE)


def check_wording(texts: Mapping[str, str], sources: Collection[str], language: str) -> None:
    """Raise InputError with every text that is too long, would unblind raters, or cannot be a label."""
    problems = []
    for key, text in texts.items():
        if key not in (*OWN_KEYS, *LABEL_KEYS):
            problems.append(f"{key}: not one of {', '.join((*OWN_KEYS, *LABEL_KEYS))}")
            continue
        if key != CONSENT and not (0 < len(text.strip()) <= LONGEST_LABEL and _is_one_line(text)):
            problems.append(f"{key}: a label must have 1 to {LONGEST_LABEL} printable characters on one line")
        if key == QUESTION_KEYS["levels"] and LEVEL not in text:
            problems.append(f"{key}: write {LEVEL} where the pair's level should appear")
        if key == EARLIER_TURNS and NUMBER not in text:
            problems.append(f"{key}: write {NUMBER} where the number of turns should appear")
        if len(text) > LONGEST_CONSENT:
            problems.append(f"{key}: the text has more than {LONGEST_CONSENT} characters")
        problems += [f"{key}: {problem}" for problem in blinding_problems(text, sources)]
    said = wording({language: texts}, language)  # a label may equal a shipped one
    for keys in (tuple(CHOICE_KEYS.values()), BOX_KEYS, tuple(GUESS_KEYS.values())):
        labels = {said[key].strip().casefold() for key in keys}
        if len(labels) < len(keys):
            problems.append(f"{', '.join(keys)}: two of these labels are the same")
    if problems:
        raise InputError("Invalid texts:", problems)


def _is_one_line(text: str) -> bool:
    """Whether a text is printable; joiners, which some scripts need inside a word, are allowed."""
    return text.replace("\u200c", "").replace("\u200d", "").isprintable()


@cache
def shipped_wording() -> dict[str, dict[str, str]]:
    """Language -> key -> text, as this version ships them."""
    texts: dict[str, dict[str, str]] = json.loads((_DATA / "wording.json").read_text("utf-8"))
    return texts
