"""What the buttons say and what a rater agrees to, per study and language."""

import json
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from core.errors import InputError
from core.schema import CHOICES, GUESSED_SIDES
from core.study.guidelines import FALLBACK_LANGUAGE, blinding_problems

CONSENT, GUESS_QUESTION = "consent", "guess_question"
CHOICE_KEYS = {choice: choice for choice in CHOICES}
GUESS_KEYS = {side: f"guess_{side}" for side in GUESSED_SIDES}
BOX_KEYS = ("box_left", "box_right")
"""What the two texts are called: on a narrow screen, where they are one above the other, too."""
LABEL_KEYS = (*CHOICE_KEYS.values(), *BOX_KEYS, GUESS_QUESTION, *GUESS_KEYS.values())
"""Short texts on one line; `consent` is Markdown of any length, and empty where none is asked for."""
LONGEST_LABEL, LONGEST_CONSENT = 80, 20_000
"""Characters."""

_SHIPPED = Path(__file__).resolve().parents[2] / "data" / "wording.json"


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
