"""What raters read: guidelines, consent and words of the buttons, shipped or the owner's own, which may name no source."""

import html
import json
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import regex

from core.errors import InputError
from core.schema.study import CHOICES, GUESSED_SIDES, NO_LEVEL, Asks, Choice, Study

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


@dataclass(frozen=True)
class PracticePair:
    """A pair to try the buttons on: shown before the study, never stored."""

    question: str
    reference: str
    level: str
    """Empty in plain pairs, whose texts have no first level."""
    left_a0: str
    left: str
    right_a0: str
    right: str
    expected: Choice
    hint: str


def shipped_languages(asks: Asks = "levels") -> list[str]:
    """Languages of the guidelines that come with Assay for what a study asks."""
    return sorted(path.stem for path in (_DATA / _FOLDERS[asks]).glob("*.md"))


def levels_note(study: Study) -> str | None:
    """What an owner should know if the study's levels are not those of the shipped texts."""
    if study.asks != "levels" or set(study.levels) == set(LEVEL_MEANINGS):
        return None
    return (
        f"The shipped guidelines and practice pairs explain levels A0 to A4; this study has {', '.join(study.levels)}. "
        "Write guidelines that say what these mean."
    )


def guideline_text(own: Mapping[str, str], language: str, asks: Asks = "levels") -> str:
    """The guidelines in `language`: the owner's, else the shipped ones for what the study asks, else the English ones."""
    folder = _DATA / _FOLDERS[asks]
    for wanted in (language, language.split("-")[0], FALLBACK_LANGUAGE):
        if wanted in own:
            return own[wanted]
        shipped = folder / f"{wanted}.md"
        if wanted in shipped_languages(asks):
            return shipped.read_text("utf-8")
    raise AssertionError("the English guidelines are part of the product")


def check_guideline(text: str, sources: Collection[str]) -> None:
    """Raise InputError where a text would unblind a rater, call another host or say nothing.

    sources: whose texts the study shows.
    """
    problems = [] if text.strip() else ["the text is empty"]
    problems += blinding_problems(text, sources)
    if problems:
        raise InputError("The guidelines cannot be used:", problems)


def blinding_problems(text: str, sources: Collection[str]) -> list[str]:
    """Why a text of the owner's must not reach a rater, as far as a program can see."""
    problems = [
        f"the text names the source {source!r}: raters would know what to look for"
        for source in named_sources(text, sources)
    ]
    if regex.search(r"!\[|<\s*[a-zA-Z/!?]", text):
        problems.append("the text holds an image or HTML: raters' pages load nothing from outside")
    return problems


def named_sources(text: str, sources: Collection[str]) -> list[str]:
    """Sources whose names stand in a text as words of their own, as somebody reads it."""
    read = _as_read(text)
    words = {
        source: regex.escape(_as_read(source)) for source in sources if source
    }  # one text an item: no name
    return [
        source
        for source, word in words.items()
        if regex.search(rf"(?<![\p{{L}}\p{{N}}]){word}(?![\p{{L}}\p{{N}}])", read)
    ]


def _as_read(text: str) -> str:
    """What a reader makes of a text: entities resolved, marks and invisible characters gone, case folded."""
    seen = unicodedata.normalize("NFKC", html.unescape(text))
    return str(regex.sub(r"[\p{Cf}*_~`\\]", "", seen)).casefold()


@cache
def practice_pairs(asks: Asks = "levels") -> tuple[PracticePair, ...]:
    """The practice pairs that come with Assay; none where single texts are rated."""
    entries = json.loads((_DATA / "practice.json").read_text("utf-8"))[asks]
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
        )
        for entry in entries
    )


CONSENT, GUESS_QUESTION = "consent", "guess_question"
CHOICE_KEYS = {choice: choice for choice in CHOICES}
GUESS_KEYS = {side: f"guess_{side}" for side in GUESSED_SIDES}
BOX_KEYS = ("box_left", "box_right")
"""What the two texts are called: on a narrow screen, where they are one above the other, too."""
LEVEL, QUESTION_KEYS = "{level}", {"levels": "level_question", "preference": "pair_question"}
"""What is asked about a pair; where there are levels, `{level}` stands for the pair's."""
LABEL_KEYS = (
    *QUESTION_KEYS.values(),
    *CHOICE_KEYS.values(),
    *BOX_KEYS,
    GUESS_QUESTION,
    *GUESS_KEYS.values(),
)
"""Short texts on one line; `consent` is Markdown of any length, and empty where none is asked for."""
LONGEST_LABEL, LONGEST_CONSENT = 80, 20_000
"""Characters."""


def label_keys(asks: Asks) -> tuple[str, ...]:
    """The labels that raters of such a study read, in the order of LABEL_KEYS."""
    if asks == "ratings":
        return ()
    others = {key for what, key in QUESTION_KEYS.items() if what != asks}
    return tuple(key for key in LABEL_KEYS if key not in others)


_SHIPPED = _DATA / "wording.json"


def wording(own: Mapping[str, Mapping[str, str]], language: str) -> dict[str, str]:
    """Key -> text in `language`: the owner's, else the shipped text, else the English one.

    A consent text that is there in other languages alone is shown all the same: nobody starts unasked.
    """
    said = {CONSENT: next((texts[CONSENT] for texts in own.values() if texts.get(CONSENT)), "")}
    for wanted in (FALLBACK_LANGUAGE, language.split("-")[0], language):
        said |= _shipped().get(wanted, {})
        said |= own.get(wanted, {})
    return said


def check_wording(texts: Mapping[str, str], sources: Collection[str], language: str) -> None:
    """Raise InputError with every text that is too long, would unblind, or cannot stand on a button."""
    problems = []
    for key, text in texts.items():
        if key not in (CONSENT, *LABEL_KEYS):
            problems.append(f"{key}: there is no such text; there are {', '.join((CONSENT, *LABEL_KEYS))}")
            continue
        if key != CONSENT and not (0 < len(text.strip()) <= LONGEST_LABEL and _on_one_line(text)):
            problems.append(f"{key}: a label has 1 to {LONGEST_LABEL} printable characters on one line")
        if key == QUESTION_KEYS["levels"] and LEVEL not in text:
            problems.append(f"{key}: write {LEVEL} where the pair's level belongs")
        if len(text) > LONGEST_CONSENT:
            problems.append(f"{key}: the text has more than {LONGEST_CONSENT} characters")
        problems += [f"{key}: {problem}" for problem in blinding_problems(text, sources)]
    said = wording({language: texts}, language)  # a label may be the same as one that Assay says
    for keys in (tuple(CHOICE_KEYS.values()), BOX_KEYS, tuple(GUESS_KEYS.values())):
        labels = {said[key].strip().casefold() for key in keys}
        if len(labels) < len(keys):
            problems.append(f"{', '.join(keys)}: the same label twice")
    if problems:
        raise InputError("These texts cannot be used:", problems)


def _on_one_line(text: str) -> bool:
    """Printable; the joiners that some scripts need inside a word are nothing unprintable."""
    return text.replace("\u200c", "").replace("\u200d", "").isprintable()


@cache
def _shipped() -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = json.loads(_SHIPPED.read_text("utf-8"))
    return texts
