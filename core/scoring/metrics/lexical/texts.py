"""What the metrics read in a text: its words by each tokenizer, their sequences, its characters.

Everything is made once, when it is first asked for, and shared by all configurations.
"""

import re
import string
from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from core.diff import tokenize
from core.scoring.metrics.lexical.ngrams import Ngrams

_LATIN_WORD = re.compile(r"[a-z0-9]+")
_PUNCTUATION = frozenset(string.punctuation)
_APART = str.maketrans({char: f" {char} " for char in _PUNCTUATION - set("'-.,")})
_AFTER_NO_DIGIT, _BEFORE_NO_DIGIT = re.compile(r"([^0-9])([.,])"), re.compile(r"([.,])([^0-9])")
_ALONE = {".": " . ", ",": " , "}
_AFTER_DIGIT = re.compile(r"([0-9])(-)")
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))


def words_13a(text: str) -> list[str]:
    """Words by the rules of 13a, the tokenizer of the evaluation script mteval, as sacrebleu has them.

    ASCII punctuation stands alone, points and commas unless between digits, a hyphen only behind a digit. Scripts
    without spaces are not cut. Trailing white space does not count.
    """
    line = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in line:
        for entity, char in _ENTITIES:
            line = line.replace(entity, char)
    line = f" {line} ".translate(_APART)
    if "." in line or "," in line:
        # As sub() with a template would, which Python fills in anew for every mark.
        parts = _AFTER_NO_DIGIT.split(line)
        parts[2::3] = map(_ALONE.__getitem__, parts[2::3])
        parts = _BEFORE_NO_DIGIT.split("".join(parts))
        parts[1::3] = map(_ALONE.__getitem__, parts[1::3])
        line = "".join(parts)
    if "-" in line:
        line = _AFTER_DIGIT.sub(r"\1 \2 ", line)
    return line.split()


@lru_cache(maxsize=1)
def _porter() -> Callable[[str], str]:
    # Over a second to import: only where a metric stems.
    from nltk.stem.porter import PorterStemmer

    stem: Callable[[str], str] = PorterStemmer().stem
    return stem


@lru_cache(maxsize=1 << 18)
def stem_of(word: str) -> str:
    """The word's stem, as nltk's Porter stemmer has it: made for English, mostly idle elsewhere."""
    return _porter()(word)


class ReadText:
    """One text, read as far as it was asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ngrams: dict[tuple[str, int], Ngrams] = {}
        self._written: dict[tuple[str, int], list[str]] = {}

    @cached_property
    def words(self) -> list[str]:
        """By the tokenizer 13a."""
        return words_13a(self.text)

    @cached_property
    def lowered(self) -> list[str]:
        """The same words in small letters."""
        return [word.lower() for word in self.words]

    @cached_property
    def characters(self) -> NDArray[np.uint32]:
        """Code points, white space left out."""
        squeezed = "".join(self.text.split())
        return np.frombuffer(squeezed.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)

    @cached_property
    def punctuated(self) -> list[str]:
        """Words at white space, a punctuation mark at their end or else their beginning split off: chrF's words."""
        words: list[str] = []
        for word in self.text.split():
            if word.isalnum() or len(word) == 1:
                words.append(word)
            elif word[-1] in _PUNCTUATION:
                words += (word[:-1], word[-1])
            elif word[0] in _PUNCTUATION:
                words += (word[0], word[1:])
            else:
                words.append(word)
        return words

    @cached_property
    def latin(self) -> list[str]:
        """Runs of a-z and 0-9 in small letters: rouge-score's words."""
        return _LATIN_WORD.findall(self.text.lower())

    @cached_property
    def latin_stems(self) -> list[str]:
        """The same, words of more than three letters stemmed."""
        return _stems(self.latin)

    @cached_property
    def every_script(self) -> list[str]:
        """Words of any script in small letters; visible characters where a script has no spaces (core.diff)."""
        return [token for token in tokenize(self.text.lower()) if any(char.isalnum() for char in token)]

    @cached_property
    def every_script_stems(self) -> list[str]:
        """The same, words of more than three letters stemmed."""
        return _stems(self.every_script)

    def of_kind(self, kind: str) -> list[str]:
        """The words by the name of their list here."""
        words: list[str] = getattr(self, kind)
        return words

    def ngrams(self, kind: str, n: int) -> Ngrams:
        """Sequences of n words of a list here."""
        made = self._ngrams.get((kind, n))
        if made is None:
            made = self._ngrams[kind, n] = Ngrams(self._sequences(kind, n))
        return made

    def _sequences(self, kind: str, n: int) -> list[str]:
        """One string each, out of two shorter ones: no word holds a space. Tuples would keep the collector busy."""
        if n == 1:
            return self.of_kind(kind)
        written = self._written.get((kind, n))
        if written is None:
            head, tail = self._sequences(kind, n // 2), self._sequences(kind, n - n // 2)
            joined = [f"{a} {b}" for a, b in zip(head, tail[n // 2 :], strict=False)]
            written = self._written[kind, n] = joined
        return written


@lru_cache(maxsize=64)
def read_reference(text: str) -> ReadText:
    """A reference is met again with every level or system of its item: read once."""
    return ReadText(text)


def _stems(words: list[str]) -> list[str]:
    return [stem for word in words if (stem := stem_of(word) if len(word) > 3 else word)]
