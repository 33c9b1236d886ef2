"""A family of lexical metrics: its configurations, and what scores several of them from shared counts.

A signature names every setting that changes a score, and the version of each library whose code decides it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from core.metrics.lexical.synonyms import Synonyms
from core.metrics.lexical.texts import ReadText
from core.metrics.scorer import MetricSpec
from core.schema.scores import Direction, Metric, Score

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
