"""The keys with which a rater answers, by the scheme that the rater chose.

Screen readers and voice control take single characters for themselves, so a rater can change them or switch them off (WCAG
2.2, success criterion 2.1.4). Streamlit has C and R for itself, so no scheme has them.
"""

from collections.abc import Mapping, Sequence

from core.schema.study import KeyScheme

_LETTERS = "asdfghj"
MOST_KEYS = len(_LETTERS)
_MODE = "m"
NAMES: Mapping[KeyScheme, str] = {
    "digits": "Digits",
    "letters": "Letters",
    "alt": "Alt with digits",
    "off": "No keys",
}


def answer_key(scheme: KeyScheme, number: int) -> str | None:
    """The key of an answer, as Streamlit names it; None: it has none. number: from 1 to MOST_KEYS."""
    if scheme == "off":
        return None
    if scheme == "letters":
        return _LETTERS[number - 1]
    return f"alt+{number}" if scheme == "alt" else str(number)


def mode_key(scheme: KeyScheme) -> str | None:
    """The key that switches the marked differences; None: there is none."""
    return None if scheme == "off" else f"alt+{_MODE}" if scheme == "alt" else _MODE


def answer_keys(scheme: KeyScheme, n: int) -> Sequence[str]:
    """The keys of the first n answers; empty: they have none."""
    keys = [answer_key(scheme, number) for number in range(1, n + 1)]
    return [key for key in keys if key is not None]


def describe_keys(scheme: KeyScheme, n: int, *, mode: bool) -> str:
    """The keys as a rater reads them: `1 to 4, M`. n: number of answers. mode: whether differences have a key."""
    names = [key.upper().replace("ALT", "Alt") for key in answer_keys(scheme, n)]
    if not names:
        return "off"
    run = len(names) > 1 and scheme != "letters"
    answers = f"{names[0]} to {n}" if run else " ".join(names)
    return f"{answers}, {'Alt+' if scheme == 'alt' else ''}{_MODE.upper()}" if mode else answers
