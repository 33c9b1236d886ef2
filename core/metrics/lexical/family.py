"""Tools of the lexical metrics: tokenized texts and their sequences, families of configurations, and METEOR's synonyms.

A signature names every setting that changes a score, and the version of each library that computes it.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.diff import tokenize
from core.errors import InputError
from core.metrics.scorer import MetricSpec
from core.schema.scores import Direction, Metric, Score

_TAG = 59
"""Bits of a sequence's number. Three bits above it store the length, one bit below it the text."""
LONGEST = 7
"""Longest character sequence, because its length has three bits."""


class Ngrams:
    """The sequences of n words in a text, each as one string."""

    def __init__(self, sequences: Sequence[str]) -> None:
        self.distinct = frozenset(sequences)
        self.repeated: dict[str, int] = {}
        """Sequence -> number of occurrences, for sequences that occur more than once: usually few."""
        if len(self.distinct) < len(sequences):
            self.repeated = {sequence: times for sequence, times in Counter(sequences).items() if times > 1}


def n_shared(first: Ngrams, second: Ngrams) -> int:
    """The number of shared sequences, each counted as often as it occurs in both."""
    shared = len(first.distinct & second.distinct)
    if first.repeated and second.repeated:
        for sequence in first.repeated.keys() & second.repeated.keys():
            shared += min(first.repeated[sequence], second.repeated[sequence]) - 1
    return shared


def shared_characters(first: NDArray[np.uint32], second: NDArray[np.uint32], longest: int) -> list[int]:
    """The numbers of shared sequences of 1, 2, ... `longest` characters, counted as in n_shared.

    first, second: code points. Every sequence becomes one whole number, without collisions, so that one sort serves all
    lengths and both texts.
    """
    if longest > LONGEST:
        raise ValueError(f"sequences of at most {LONGEST} characters, not {longest}")
    if not len(first) or not len(second):
        return [0] * longest
    keys = _keys(first, second, longest)
    keys.sort()
    of_second = keys & 1
    keys >>= 1
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    times = np.append(starts[1:], len(keys)) - starts
    there = np.add.reduceat(of_second, starts)
    shared = np.minimum(there, times - there)
    totals = np.bincount(keys[starts] >> _TAG, weights=shared, minlength=longest + 1)
    return [int(total) for total in totals[1 : longest + 1]]


def _keys(first: NDArray[np.uint32], second: NDArray[np.uint32], longest: int) -> NDArray[np.int64]:
    """The sequences of both texts as numbers, equal except for the last bit exactly if the sequences are equal."""
    letters = np.concatenate((first, second)).astype(np.int64)
    size = int(letters.max()) + 1
    if size**longest > 1 << _TAG:
        alphabet, letters = np.unique(letters, return_inverse=True)
        size = len(alphabet)
    codes, top = letters, size
    end, total = len(first), len(letters)
    ours: list[NDArray[np.int64]] = []
    theirs: list[NDArray[np.int64]] = []
    for n in range(1, longest + 1):
        if n > 1:
            if top * size > 1 << _TAG:
                # Use ranks to keep numbers small: there are at most as many as sequences.
                codes = np.unique(codes, return_inverse=True)[1]
                top = int(codes.max()) + 1
            codes = codes[:-1] * size + letters[n - 1 :]
            top *= size
        if n > total:
            break
        tagged = codes + (n << _TAG)
        ours.append(tagged[: max(end - n + 1, 0)])
        theirs.append(tagged[end:])
    keys = np.concatenate((*ours, *theirs)) << 1
    keys[sum(map(len, ours)) :] += 1
    return keys


_LATIN_WORD = re.compile(r"[a-z0-9]+")
_PUNCTUATION = frozenset(string.punctuation)
_APART = str.maketrans({char: f" {char} " for char in _PUNCTUATION - set("'-.,")})
_AFTER_NO_DIGIT, _BEFORE_NO_DIGIT = re.compile(r"([^0-9])([.,])"), re.compile(r"([.,])([^0-9])")
_ALONE = {".": " . ", ",": " , "}
_AFTER_DIGIT = re.compile(r"([0-9])(-)")
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))


def words_13a(text: str) -> list[str]:
    """The words by 13a, the tokenizer of the evaluation script mteval, as in sacrebleu.

    ASCII punctuation is split off; points and commas unless between digits, a hyphen only after a digit. Scripts without
    spaces are not split. Trailing white space is ignored.
    """
    line = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in line:
        for entity, char in _ENTITIES:
            line = line.replace(entity, char)
    line = f" {line} ".translate(_APART)
    if "." in line or "," in line:
        # Equivalent to sub() with a template, but faster: Python expands a template for every mark.
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
    # Imported lazily, because it takes over a second.
    from nltk.stem.porter import PorterStemmer

    stem: Callable[[str], str] = PorterStemmer().stem
    return stem


@lru_cache(maxsize=1 << 18)
def stem_of(word: str) -> str:
    """The word's stem by nltk's Porter stemmer, which is made for English and changes little elsewhere."""
    return _porter()(word)


class ReadText:
    """A text whose tokens and sequences are computed on demand."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ngrams: dict[tuple[str, int], Ngrams] = {}
        self._written: dict[tuple[str, int], list[str]] = {}

    @cached_property
    def words(self) -> list[str]:
        """Words by the tokenizer 13a."""
        return words_13a(self.text)

    @cached_property
    def lowered(self) -> list[str]:
        """The same words in lower case."""
        return [word.lower() for word in self.words]

    @cached_property
    def characters(self) -> NDArray[np.uint32]:
        """Code points without white space."""
        squeezed = "".join(self.text.split())
        return np.frombuffer(squeezed.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)

    @cached_property
    def punctuated(self) -> list[str]:
        """Words for chrF: split at white space, with one punctuation mark split off the end, or else the beginning."""
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
        """Words for rouge-score: runs of a-z and 0-9 in lower case."""
        return _LATIN_WORD.findall(self.text.lower())

    @cached_property
    def latin_stems(self) -> list[str]:
        """The same words, stemmed if they have more than three letters."""
        return _stems(self.latin)

    @cached_property
    def every_script(self) -> list[str]:
        """Words of any script in lower case; visible characters in scripts without spaces (core.diff)."""
        return [token for token in tokenize(self.text.lower()) if any(char.isalnum() for char in token)]

    @cached_property
    def every_script_stems(self) -> list[str]:
        """The same words, stemmed if they have more than three letters."""
        return _stems(self.every_script)

    def of_kind(self, kind: str) -> list[str]:
        """The words of a list, by the name of its property above."""
        words: list[str] = getattr(self, kind)
        return words

    def ngrams(self, kind: str, n: int) -> Ngrams:
        """Sequences of n words of a list. kind: as in of_kind."""
        made = self._ngrams.get((kind, n))
        if made is None:
            made = self._ngrams[kind, n] = Ngrams(self._sequences(kind, n))
        return made

    def _sequences(self, kind: str, n: int) -> list[str]:
        """Sequences as strings, joined from two shorter ones: words contain no spaces, and tuples would burden the collector."""
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
    """The reference as a ReadText; cached, because it recurs with every level and system of its item."""
    return ReadText(text)


def _stems(words: list[str]) -> list[str]:
    return [stem for word in words if (stem := stem_of(word) if len(word) > 3 else word)]


Choice = Literal["auto", "none", "wordnet"]
"""auto: use WordNet if it is installed. none: no synonyms, for the same scores on every machine. wordnet: require WordNet."""


@dataclass(frozen=True)
class Synonyms:
    """A source of synonyms."""

    name: str
    """Name for the signature."""
    of: Callable[[str], frozenset[str]] | None
    """A stemmed word -> its synonyms, including itself; None for METEOR without synonyms."""


NO_SYNONYMS = Synonyms("none", None)


def find_synonyms(choice: Choice) -> Synonyms:
    """Find the synonyms for a choice, before any text is scored. Raises InputError if WordNet is required and missing."""
    if choice == "none":
        return NO_SYNONYMS
    found = _wordnet_version()
    if found is not None:
        return Synonyms(f"wordnet-{found}", synonyms_by_wordnet)
    if choice == "wordnet":
        raise InputError(
            "METEOR with synonyms needs WordNet's data, which nltk cannot find or read. Install it with "
            "`python -m nltk.downloader wordnet`, or choose METEOR without synonyms."
        )
    return NO_SYNONYMS


def synonyms_in(wordnet: Any, word: str) -> frozenset[str]:
    """The word and the single words of its synsets. wordnet: an object with nltk's interface to WordNet."""
    names = (lemma.name() for synset in wordnet.synsets(word) for lemma in synset.lemmas())
    return frozenset((word, *(name for name in names if "_" not in name)))


@lru_cache(maxsize=1 << 16)
def synonyms_by_wordnet(word: str) -> frozenset[str]:
    """The same with nltk's WordNet, which must be installed."""
    from nltk.corpus import wordnet

    return synonyms_in(wordnet, word)


@lru_cache(maxsize=1)
def _wordnet_version() -> str | None:
    """WordNet's version; None if its data is missing or cannot be read."""
    from nltk.corpus import wordnet

    try:
        wordnet.synsets("word")
        return str(wordnet.get_version())
    except Exception:  # LookupError if it is missing; damaged data can raise anything
        return None


CODE_VERSION = "assay-1"
"""Increased when a change in this package changes a score, because scores are cached by signature."""
SACREBLEU, NLTK, REGEX = (f"{name}-{version(name)}" for name in ("sacrebleu", "nltk", "regex"))
SYNONYMS_OPEN = "synonyms:auto"
"""Part of a signature in the registry; a scorer replaces it by the synonyms that it found."""
FamilyScores = Callable[[ReadText, ReadText], list[Score]]
"""(text, reference) -> one score for each configuration."""


@dataclass(frozen=True, kw_only=True)
class LexicalFamily:
    """A family of metrics without a model, exported by its own file."""

    name: str
    specs: tuple[MetricSpec, ...]
    """Configurations, Meta-Judge's first, in the order of its tables."""
    open: Callable[[Sequence[Mapping[str, Any]], Synonyms], FamilyScores]
    """(parameters of configurations, synonyms) -> their scoring function."""
    has_synonyms: bool = False
    spaced: bool = False
    """Whether words are split only at spaces and punctuation, which some scripts do not use between words."""


def spec(
    name: str,
    signature: str,
    parameters: Mapping[str, object],
    about: str,
    aliases: tuple[str, ...] = (),
    *,
    of_paper: bool = True,
    direction: Direction = "higher",
) -> MetricSpec:
    """A lexical configuration; its signature begins with the family."""
    metric = Metric(name, signature, signature.split("|")[0], direction)
    return MetricSpec(metric, "lexical", parameters, of_paper=of_paper, aliases=aliases, about=about)
