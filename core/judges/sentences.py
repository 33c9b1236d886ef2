"""Sentences of a text, and the numbers, names and words that rules compare with another text.

Deterministic and without knowledge: it notices a changed number or name, but no change made with the same words.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import regex

from core.diff import tokenize
from core.generation.language import UNSPACED
from core.generation.numbers import plain_number

_STEM, _ENDING = 4, 2
"""Letters that two forms of a word must share, and final letters in which they may differ."""
_FEWEST_WORDS = 3
"""Fewest words of a statement, and of each part of a sentence split at a semicolon or dash."""

# Possessive repetitions (`++`) keep splitting fast for every text.
_SENTENCE_END = regex.compile(
    r"""
    (?<![.!?…]) [.!?…]++
      (?: (?<! (?<! °\s? ) \b\p{Lu}[.] )                             # an initial: J. Smith, but not 20 °C.
        | (?= \s++(?:After|At|Before|But|From|However|In|It|On|She|The|There|These|They|This|When|While)\b )
      )                                                              # D.C. On Monday: no name begins like this
      (?<! \b(?i:dr|mr|mrs|ms|prof|st|no|nr|vs|etc|e[.]g|i[.]e|z[.]B|approx|ca|bl|fig)[.] )
      [\p{Pe}\p{Pf}"'”’»]*+ (?=\s++[^\p{Ll}])                       # a lower-case letter continues the sentence
    | [\p{STerm}--[.!?]]++ [\p{Pe}\p{Pf}]*+                            # in scripts without spaces nothing follows
    | (?=\n)
    """,
    regex.VERBOSE | regex.V1,
)
_CLAUSE_END = regex.compile(r";\s|\s[–—]\s|；")
_LAST_SIGN = regex.compile(r"(?r)\w")
"""The last letter or digit, searched from the end."""
_QUESTION_MARKS = frozenset("?？؟")
_LIST_MARK = regex.compile(r"^\s*(?:[-+*•◦‣–—#>]+|\d{1,3}[.)])\s+")
_SAYS_SOMETHING = regex.compile(r"[\p{L}\p{N}]")
_NUMBER = regex.compile(r"\d+(?:[.,٫٬]\d+)*")
_UNSPACED = regex.compile(f"[{UNSPACED}]")
_LETTERS = regex.compile(r"\p{L}")
_CASED = regex.compile(r"[\p{Lu}\p{Ll}\p{Lt}]")
_CAPITAL = regex.compile(r"[\p{Lu}\p{Lt}]")


def sentences_of(text: str) -> list[str]:
    """The sentences and lines of a text that contain a letter or digit, without list marks.

    A full stop after an initial or a common abbreviation, or before a lower-case letter, does not end a sentence.
    """
    pieces: list[str] = []
    start = 0
    for found in _SENTENCE_END.finditer(text):
        pieces.append(text[start : found.end()])
        start = found.end()
    stripped = (_LIST_MARK.sub("", " ".join(piece.split())) for piece in [*pieces, text[start:]])
    return [piece for piece in stripped if _SAYS_SOMETHING.search(piece)]


def statements_in(text: str, *, by_clauses: bool = False) -> tuple[str, ...]:
    """The text's distinct sentences except questions. by_clauses: also split at semicolons and dashes."""
    found = [sentence for sentence in sentences_of(text) if not _asks(sentence)]
    if by_clauses:
        found = [clause for sentence in found for clause in _clauses(sentence)]
    return tuple(dict.fromkeys(found))


def states_something(text: str) -> bool:
    """Whether a sentence of the text can be a claim: not a question, and at least three words."""
    return any(not _asks(one) and _is_long_enough(one) for one in sentences_of(text))


def _asks(sentence: str) -> bool:
    """Whether a question mark follows its last word."""
    last = _LAST_SIGN.search(sentence)
    return not _QUESTION_MARKS.isdisjoint(sentence[last.end() if last else 0 :])


def _clauses(sentence: str) -> list[str]:
    """The sentence split at semicolons and dashes, unless a part would be too short to be a statement."""
    parts = [part.strip() for part in _CLAUSE_END.split(sentence)]
    return parts if all(map(_is_long_enough, parts)) else [sentence]


def _is_long_enough(part: str) -> bool:
    return sum(map(_says_something, tokenize(part))) >= _FEWEST_WORDS


def _says_something(token: str) -> bool:
    return _SAYS_SOMETHING.search(token) is not None


@dataclass(frozen=True)
class Content:
    """The parts of a claim that must occur in the other text: case-folded, without duplicates, in order."""

    numbers: tuple[str, ...]
    """In digits 0 to 9, without thousands separators."""
    names: tuple[str, ...]
    words: tuple[str, ...]
    """All other words long enough to carry meaning."""

    @classmethod
    def of(cls, text: str) -> "Content":
        """Content of one claim or sentence."""
        tokens, words = _tokens_and_words(text)
        begins = bool(words) and words[0] == tokens[0]  # the first word of a sentence is always capitalised
        names = dict.fromkeys(word.casefold() for word in words[begins:] if _CAPITAL.match(word))
        other = dict.fromkeys(word.casefold() for word in words if _means_something(word))
        found = (*(word for word in other if word not in names), *_neighbours(text))
        return cls(tuple(dict.fromkeys(_numbers(tokens))), tuple(names), tuple(dict.fromkeys(found)))


@dataclass(frozen=True)
class Premise:
    """Everything that occurs in the text against which claims are verified."""

    numbers: frozenset[str]
    words: frozenset[str]
    """Every word, and every pair of neighbouring characters in scripts without spaces."""
    stems: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "Premise":
        """Premise from a whole text or a sentence."""
        tokens, words = _tokens_and_words(text)
        every = frozenset([*(word.casefold() for word in words), *_neighbours(text)])
        stems = frozenset(stem for word in every for stem in _stems(word))
        return cls(frozenset(_numbers(tokens)), every, stems)

    def has(self, word: str) -> bool:
        """Whether the text contains the word, with any ending."""
        return word in self.words or any(stem in self.stems for stem in _stems(word))


def _tokens_and_words(text: str) -> tuple[list[str], list[str]]:
    """The tokens with a letter or digit, and the subset that are words in a script with spaces."""
    tokens = [token for token in tokenize(_plain(text)) if _says_something(token)]
    return tokens, [token for token in tokens if _LETTERS.search(token) and not _UNSPACED.match(token)]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _numbers(tokens: Sequence[str]) -> list[str]:
    return [plain_number(digits) for token in tokens for digits in _NUMBER.findall(token)]


def _stems(word: str) -> list[str]:
    """The word with up to two final letters removed. Words that share a stem count as forms of one word."""
    return [word[:end] for end in range(len(word), max(_STEM, len(word) - _ENDING) - 1, -1)]


def _means_something(word: str) -> bool:
    """Whether a word is long enough to carry meaning; words in scripts without capitals are shorter."""
    return len(_LETTERS.findall(word)) >= (4 if _CASED.search(word) else 3)


def _neighbours(text: str) -> list[str]:
    """Pairs of neighbouring characters in scripts without spaces."""
    signs = [
        token if _UNSPACED.match(token) and _LETTERS.match(token) else "" for token in tokenize(_plain(text))
    ]
    return [first + second for first, second in pairwise(signs) if first and second]
