"""Lexical metrics: what they read in a text (its words by each tokenizer, their sequences, its characters); and a family of them, its
configurations, what scores several of them from shared counts, and METEOR's synonyms.

A signature names every setting that changes a score, and the version of each library whose code decides it.
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
"""Bits of a sequence's number. Three bits above them say how long it is, one below says which text it is from."""
LONGEST = 7
"""Of character sequences: the tag has three bits."""


class Ngrams:
    """The sequences of n words of a text, each written as one string."""

    def __init__(self, sequences: Sequence[str]) -> None:
        self.distinct = frozenset(sequences)
        self.repeated: dict[str, int] = {}
        """How often, of those that occur more than once: mostly few."""
        if len(self.distinct) < len(sequences):
            self.repeated = {sequence: times for sequence, times in Counter(sequences).items() if times > 1}


def n_shared(first: Ngrams, second: Ngrams) -> int:
    """Sequences that both have, each as often as the one that has it less often."""
    shared = len(first.distinct & second.distinct)
    if first.repeated and second.repeated:
        for sequence in first.repeated.keys() & second.repeated.keys():
            shared += min(first.repeated[sequence], second.repeated[sequence]) - 1
    return shared


def shared_characters(first: NDArray[np.uint32], second: NDArray[np.uint32], longest: int) -> list[int]:
    """Shared sequences of 1, 2, ... `longest` characters, counted as n_shared counts.

    first, second: code points. Every sequence becomes one whole number, without collisions, so that one sort
    does for all lengths and both texts.
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
    """The sequences of both texts as numbers: equal but for the last bit exactly where the sequences are."""
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
                # Ranks instead of numbers that grow: as many as there are sequences, at most.
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


Choice = Literal["auto", "none", "wordnet"]
"""auto: WordNet if it is there. none: without, as everywhere else it would be missing. wordnet: with it or not at all."""


@dataclass(frozen=True)
class Synonyms:
    """Words that mean the same."""

    name: str
    """For the signature."""
    of: Callable[[str], frozenset[str]] | None
    """A stemmed word -> its synonyms, itself included; None: METEOR goes without."""


NO_SYNONYMS = Synonyms("none", None)


def find_synonyms(choice: Choice) -> Synonyms:
    """Look for WordNet's data once, before any text is scored. Raises InputError where it is asked for and missing."""
    if choice == "none":
        return NO_SYNONYMS
    found = _wordnet_version()
    if found is not None:
        return Synonyms(f"wordnet-{found}", synonyms_by_wordnet)
    if choice == "wordnet":
        raise InputError(
            "METEOR with synonyms needs WordNet's data, which nltk does not find or cannot read: "
            "`python -m nltk.downloader wordnet` fetches it; METEOR without synonyms needs nothing."
        )
    return NO_SYNONYMS


def synonyms_in(wordnet: Any, word: str) -> frozenset[str]:
    """The word and the single words of its synsets, in an object with nltk's interface to WordNet."""
    names = (lemma.name() for synset in wordnet.synsets(word) for lemma in synset.lemmas())
    return frozenset((word, *(name for name in names if "_" not in name)))


@lru_cache(maxsize=1 << 16)
def synonyms_by_wordnet(word: str) -> frozenset[str]:
    """The same by nltk's WordNet, which must be there."""
    from nltk.corpus import wordnet

    return synonyms_in(wordnet, word)


@lru_cache(maxsize=1)
def _wordnet_version() -> str | None:
    """None: its data is not there, or cannot be read."""
    from nltk.corpus import wordnet

    try:
        wordnet.synsets("word")
        return str(wordnet.get_version())
    except Exception:  # LookupError where there is none; damaged, whatever the reader stumbles over
        return None


CODE_VERSION = "assay-1"
"""Raised when a change of this package changes a score: scores are cached by signature."""
SACREBLEU, NLTK, REGEX = (f"{name}-{version(name)}" for name in ("sacrebleu", "nltk", "regex"))
SYNONYMS_OPEN = "synonyms:auto"
"""In the registry, before a scorer has looked for WordNet; a scorer's signature says what it found."""
FamilyScores = Callable[[ReadText, ReadText], list[Score]]
"""Text and reference -> one score a configuration."""


@dataclass(frozen=True, kw_only=True)
class LexicalFamily:
    """One family of metrics that run no model; its file exports it."""

    name: str
    specs: tuple[MetricSpec, ...]
    """Those of Meta-Judge first, in the order of its tables."""
    open: Callable[[Sequence[Mapping[str, Any]], Synonyms], FamilyScores]
    """What scores configurations, for (their parameters, synonyms)."""
    has_synonyms: bool = False
    spaced: bool = False
    """Whether words are found at spaces and punctuation alone, which some scripts do not put between words."""


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
    """A configuration; its signature begins with the family."""
    metric = Metric(name, signature, signature.split("|")[0], direction)
    return MetricSpec(metric, "lexical", parameters, of_paper=of_paper, aliases=aliases, about=about)
