"""A family of lexical metrics: its configurations, what scores several of them from shared counts, and METEOR's synonyms.

A signature names every setting that changes a score, and the version of each library whose code decides it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Any, Literal

from core.errors import InputError
from core.metrics.lexical.texts import ReadText
from core.metrics.scorer import MetricSpec
from core.schema.scores import Direction, Metric, Score

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
    except (
        Exception
    ):  # LookupError where there is none; where it is damaged, whatever the reader stumbles over
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
