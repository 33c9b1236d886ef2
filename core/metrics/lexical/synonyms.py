"""Where METEOR's synonyms come from: WordNet, if its data is on this machine; else there are none, and that is said."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from core.errors import InputError

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
