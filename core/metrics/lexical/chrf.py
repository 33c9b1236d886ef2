"""chrF and chrF++ of one text (Popović 2015, 2017) as in sacrebleu, from one count of sequences."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from core.metrics.lexical.family import (
    CODE_VERSION,
    LexicalFamily,
    ReadText,
    n_shared,
    shared_characters,
    spec,
)
from core.metrics.scorer import MetricSpec
from core.schema.scores import Score

_BETA_SQUARED = 4
"""Recall weighs twice as much as precision."""


def _scores(settings: Sequence[Mapping[str, Any]], text: ReadText, reference: ReadText) -> list[Score]:
    """One score for each setting, which gives the longest sequences of `characters` and `words`; 0 words: plain chrF."""
    most_words = max(setting["words"] for setting in settings)
    first, second = text.characters, reference.characters
    counts = shared_characters(first, second, max(setting["characters"] for setting in settings))
    of_characters = _shares(counts, len(first), len(second))
    counts = [
        n_shared(text.ngrams("punctuated", n), reference.ngrams("punctuated", n))
        for n in range(1, most_words + 1)
    ]
    of_words = _shares(counts, len(text.punctuated), len(reference.punctuated)) if most_words else []
    return [
        Score(f_score([*of_characters[: setting["characters"]], *of_words[: setting["words"]]]))
        for setting in settings
    ]


def f_score(shares: Sequence[tuple[float, float] | None]) -> float:
    """F2 of mean precision and mean recall over the orders: 0 to 100, 0 if nothing is shared.

    shares: (precision, recall) of each order; None if text or reference is too short for it, which leaves it out.
    """
    defined = [share for share in shares if share is not None]
    if not defined:
        return 0.0
    precision = sum(share[0] for share in defined) / len(defined)
    recall = sum(share[1] for share in defined) / len(defined)
    if not precision + recall:
        return 0.0
    return 100 * (1 + _BETA_SQUARED) * precision * recall / (_BETA_SQUARED * precision + recall)


def _shares(shared: Sequence[int], length: int, reference_length: int) -> list[tuple[float, float] | None]:
    """(precision, recall) of sequences of length 1, 2, ...; lengths in characters or words."""
    return [
        (common / (length - order), common / (reference_length - order))
        if length > order and reference_length > order
        else None
        for order, common in enumerate(shared)
    ]


def _chrf(characters: int, words: int) -> MetricSpec:
    default = {(6, 0): ("chrF", "chrF2"), (6, 2): ("chrF++", "chrF2++")}
    label = f"c: {characters}, w: {words}"
    return spec(
        f"chrf-{characters}-{words}",
        f"chrF|nrefs:1|case:mixed|eff:yes|nc:{characters}|nw:{words}|beta:2|space:no|version:{CODE_VERSION}",
        {"characters": characters, "words": words},
        f"F2 of character sequences up to {characters}{f' and word sequences up to {words}' if words else ''} (0-100).",
        (
            f"chrF {label}",
            label,
            f"chrf(char_order={characters}, word_order={words})",
            f"chrf(char_order={characters}, word_order={words}, beta=2, lowercase=False, whitespace=False, "
            "eps_smoothing=False)",
            *default.get((characters, words), ()),
        ),
    )


FAMILY = LexicalFamily(
    name="chrF",
    specs=(*(_chrf(characters, words) for characters in (4, 6) for words in (0, 2)),),
    open=lambda each, _: partial(_scores, each),
)
