"""Which scripts a text is written in, and whether one text may stand for another."""

import unicodedata
from functools import lru_cache

import regex

_ONE_SYSTEM = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK", "IDEOGRAPHIC": "CJK"}
"""What is written together in Japanese counts as one script."""
_NO_SCRIPT = frozenset({"MODIFIER", "MASCULINE", "FEMININE", "MICRO", "ALEF", "PRIME"})
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")


@lru_cache(maxsize=8192)
def _script_of(char: str) -> str:
    if unicodedata.category(char) not in ("Lu", "Ll", "Lt", "Lo"):
        return ""
    first = unicodedata.name(char, "").split(" ")[0]
    return "" if first in _NO_SCRIPT else _ONE_SYSTEM.get(first, first)


def scripts(text: str) -> frozenset[str]:
    """The scripts of a text's letters, by the first word of their Unicode names; empty where it has none."""
    return frozenset(map(_script_of, unicodedata.normalize("NFKC", text))) - {""}


def main_script(text: str) -> str:
    """The script of most letters; empty where there are none."""
    found = [name for name in map(_script_of, unicodedata.normalize("NFKC", text)) if name]
    return max(sorted(set(found)), key=found.count) if found else ""


def is_unspaced(text: str) -> bool:
    """Whether the text is written without spaces between words."""
    return 2 * len(_UNSPACED.findall(text)) > sum(char.isalpha() for char in text)


def same_text(first: str, second: str) -> bool:
    """Whether a reader would call two texts the same: form, case and outer blanks aside."""
    return _plain(first) == _plain(second)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).strip()


def may_replace(old: str, new: str) -> bool:
    """Whether `new` differs from `old`, is not blank, has one line and brings no script that `old` has not."""
    if not new.strip() or len(new.splitlines()) != 1 or same_text(old, new):
        return False
    return scripts(new) <= scripts(old) and bool(scripts(new)) >= (bool(scripts(old)) and not _has_digit(new))


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)
