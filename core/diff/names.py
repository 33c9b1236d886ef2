"""Numbers and names that one text has and another lacks.

A number is a word with a digit. A name is a word with a capital that its place in the sentence does not explain. Where
capitals show no names (German nouns, scripts without capitals), only numbers are found.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from core.diff import Segment, tokenize
from core.diff.sentences import lines_and_sentences

NOUNS_HAVE_CAPITALS = frozenset({"de", "lb", "nds", "gsw"})
"""Languages that write every noun with a capital."""
_FEWEST_WORDS = 8
"""Below so many words inside sentences, the share of capitals shows nothing."""
_MINUS = frozenset("-−–")
_SEPARATORS = {"٫": ".", "٬": ","}
_JOINS = frozenset({" ", "\u00a0", "-", "‐", "‑", "."})
"""What may separate two words of one name."""


_Token = tuple[str, bool]
"""A token, and whether it is the first word of its sentence or line."""


@dataclass(frozen=True)
class Unshared:
    """What a text has and its base lacks, and the other way round."""

    segments: tuple[Segment, ...]
    """The text; numbers and names that the base lacks are marked as added."""
    missing: tuple[str, ...]
    """Numbers and names of the base that the text lacks, each once, in the base's order."""


class _Word(NamedTuple):
    text: str
    """A word, or what stands between words."""
    key: str
    """Equal for the same word in another case, in other digits or with `'s`; empty if it is not a word."""
    wanted: bool
    """Whether it is a number or a name."""


def unshared(base: str, text: str, language: str) -> Unshared:
    """Compare the numbers and names of two texts, wherever they stand in them."""
    tokens = [list(_tokens(each)) for each in (base, text)]
    names = not _capitals_mislead(language, tokens)
    of_base, of_text = (list(_words(each, names=names)) for each in tokens)
    segments = _marked(of_text, {word.key for word in of_base})
    lacking = _marked(of_base, {word.key for word in of_text})
    missing = dict.fromkeys(segment.text for segment in lacking if segment.kind == "added")
    return Unshared(segments, tuple(missing))


def capitals_show_names(language: str, *texts: str) -> bool:
    """Whether capitals show the names in these texts: not in German, in headlines, or in scripts without capitals."""
    tokens = [list(_tokens(text)) for text in texts]
    return _are_mostly_cased(tokens) and not _capitals_mislead(language, tokens)


def _are_mostly_cased(texts: Sequence[Sequence[_Token]]) -> bool:
    words = [token for tokens in texts for token, _ in tokens if token[0].isalpha()]
    return 2 * sum(len(token) for token in words if _is_cased(token)) >= sum(map(len, words))


def _capitals_mislead(language: str, texts: Sequence[Sequence[_Token]]) -> bool:
    """Whether most capitals belong to words that are no names."""
    if language.split("-")[0].lower() in NOUNS_HAVE_CAPITALS:
        return True
    inside = [token for tokens in texts for token, opens in tokens if not opens and _is_cased(token)]
    capitals = sum(map(_has_capital, inside))
    return len(inside) >= _FEWEST_WORDS and 2 * capitals > len(inside) and _are_mostly_cased(texts)


def _marked(words: list[_Word], known: set[str]) -> tuple[Segment, ...]:
    """The text of the words, with the wanted ones that are not known marked as added."""
    runs: list[tuple[bool, list[str]]] = []
    for word in words:
        new = word.wanted and word.key not in known
        if runs and runs[-1][0] == new:
            runs[-1][1].append(word.text)
        elif new and len(runs) > 1 and len(runs[-1][1]) == 1 and runs[-1][1][0] in _JOINS:
            (between,) = runs.pop()[1]
            runs[-1][1].extend([between, word.text])
        else:
            runs.append((new, [word.text]))
    return tuple(Segment("".join(texts), "added" if new else "same") for new, texts in runs)


def _words(tokens: Iterable[_Token], *, names: bool) -> Iterator[_Word]:
    """The tokens of a text; a minus sign belongs to the number behind it."""
    waiting: str | None = None  # a minus sign whose number may follow
    free = True  # whether nothing that a dash could join stands before
    for token, opens in tokens:
        number = _has_digit(token)
        if waiting is not None and number:
            yield _Word(waiting + token, "-" + _key(token), True)
            waiting, free = None, False
            continue
        if waiting is not None:
            yield _Word(waiting, "", False)
            waiting = None
        if token in _MINUS and free:
            waiting = token
        elif any(map(str.isalnum, token)):
            yield _Word(token, _key(token), number or (names and _is_name(token, opens=opens)))
        else:
            yield _Word(token, "", False)
        free = token.isspace() or token in "([~≈<>=±"
    if waiting is not None:
        yield _Word(waiting, "", False)


def _tokens(text: str) -> Iterator[_Token]:
    """The tokens of a text."""
    for sentence in lines_and_sentences(text):
        opens = True
        for token in tokenize(sentence):
            begins = opens and any(map(str.isalpha, token))
            yield token, begins
            opens = opens and not begins


def _is_name(token: str, *, opens: bool) -> bool:
    """A capital inside a sentence, or one behind the first letter; the pronoun I is no name."""
    if token == "I" or token.startswith(("I'", "I’")):
        return False
    return any(map(str.isupper, token[1:])) or (not opens and _has_capital(token))


def _has_capital(token: str) -> bool:
    return token != token.lower()


def _is_cased(token: str) -> bool:
    return token.lower() != token.upper()


def _has_digit(token: str) -> bool:
    return any(map(str.isdecimal, token))


@lru_cache(maxsize=10_000)
def _key(token: str) -> str:
    """The word as it is compared.

    In a script without capitals only the number of a word counts: Arabic joins "and" to the number behind it.
    """
    folded = "".join(
        str(unicodedata.decimal(char)) if char.isdecimal() else _SEPARATORS.get(char, char)
        for char in unicodedata.normalize("NFKC", token)
    ).casefold()
    if _has_digit(token) and not _is_cased(folded):
        return "".join(char for char in folded if char in "0123456789.,").strip(".,")
    return folded.removesuffix("'s").removesuffix("’s")
