"""METEOR of one text (Lavie and Agarwal 2007) as in nltk, with one alignment for every alpha and gamma."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from core.metrics.lexical.family import (
    CODE_VERSION,
    NLTK,
    SYNONYMS_OPEN,
    LexicalFamily,
    ReadText,
    Synonyms,
    spec,
    stem_of,
)
from core.metrics.scorer import MetricSpec
from core.schema.scores import Score

_BETA = 3.0
Placed = tuple[int, str]
"""Position, word."""
Match = tuple[int, int]
"""Position in the text, position in the reference."""


def _scores(
    settings: Sequence[Mapping[str, Any]], synonyms: Synonyms, text: ReadText, reference: ReadText
) -> list[Score]:
    """One score for each setting. alpha: weight of recall (precision has 1 - alpha); gamma: largest penalty for word order."""
    matches = align(text.lowered, reference.lowered, synonyms)
    if not matches:
        return [Score(0.0) for _ in settings]
    precision, recall = len(matches) / len(text.lowered), len(matches) / len(reference.lowered)
    broken = (n_chunks(matches) / len(matches)) ** _BETA
    return [
        Score(
            (1 - setting["gamma"] * broken)
            * (precision * recall)
            / (setting["alpha"] * precision + (1 - setting["alpha"]) * recall)
        )
        for setting in settings
    ]


def align(words: Sequence[str], reference: Sequence[str], synonyms: Synonyms) -> list[Match]:
    """Pairs of positions with the same meaning, in the order of the text.

    Matches equal words first, then the remaining ones by equal stems, then by synonyms of the stems. Each word of the
    text, the last one first, takes the last free position in the reference, as in nltk (not the fewest crossings).
    """
    exact, ours, theirs = _match_equal(list(enumerate(words)), list(enumerate(reference)))
    if not ours or not theirs:
        return exact[::-1]
    stemmed = [(place, stem_of(word)) for place, word in ours]
    stems = [(place, stem_of(word)) for place, word in theirs]
    by_stem, stemmed, stems = _match_equal(stemmed, stems)
    by_meaning = [] if synonyms.of is None else _match_synonyms(stemmed, stems, synonyms.of)
    return sorted(exact + by_stem + by_meaning)


def n_chunks(matches: Sequence[Match]) -> int:
    """The number of runs of matches that are adjacent in both texts. matches: at least one, in the order of the text."""
    return 1 + sum((here[0] + 1, here[1] + 1) != after for here, after in pairwise(matches))


def _match_equal(ours: list[Placed], theirs: list[Placed]) -> tuple[list[Match], list[Placed], list[Placed]]:
    """Matches from the end of the text, and the unmatched words of both texts in their order."""
    free = _places(theirs)
    matches: list[Match] = []
    left: list[Placed] = []
    for placed in reversed(ours):
        places = free.get(placed[1])
        if places:
            matches.append((placed[0], places.pop()))
        else:
            left.append(placed)
    left.reverse()
    taken = {place for _, place in matches}
    return matches, left, [placed for placed in theirs if placed[0] not in taken]


def _match_synonyms(
    ours: list[Placed], theirs: list[Placed], synonyms_of: Callable[[str], Iterable[str]]
) -> list[Match]:
    """Matches by meaning: of all synonyms in the reference, the last one."""
    free = _places(theirs)
    matches: list[Match] = []
    for place, word in reversed(ours):
        there = [synonym for synonym in synonyms_of(word) if free.get(synonym)]
        if there:
            last = max(there, key=lambda synonym: free[synonym][-1])
            matches.append((place, free[last].pop()))
    return matches


def _places(words: list[Placed]) -> dict[str, list[int]]:
    """Word -> its positions in ascending order."""
    places: dict[str, list[int]] = {}
    for place, word in words:
        places.setdefault(word, []).append(place)
    return places


def _meteor(alpha: str, gamma: str) -> MetricSpec:
    label = f"alpha: {alpha}, gamma: {gamma}"
    short = f"alpha={alpha}, gamma={gamma}"
    return spec(
        f"meteor-a{alpha}-g{gamma}",
        f"METEOR|nrefs:1|case:lc|tok:13a|alpha:{alpha}|beta:3|gamma:{gamma}"
        f"|stemmer:porter-{NLTK}|{SYNONYMS_OPEN}|version:{CODE_VERSION}",
        {"alpha": float(alpha), "gamma": float(gamma)},
        f"Aligned words, {'precision weighs more' if alpha == '0.2' else 'recall weighs more'}, "
        f"{'changed order is penalised' if gamma != '0' else 'order does not matter'} (0-1). Without WordNet's data it uses "
        "no synonyms, as its signature shows.",
        (f"METEOR {label}", label, f"meteor({short})", f"meteor({short}, beta=3)"),
    )


FAMILY = LexicalFamily(
    name="METEOR",
    specs=(*(_meteor(alpha, gamma) for alpha in ("0.2", "0.9") for gamma in ("0", "0.5")),),
    open=lambda each, synonyms: partial(_scores, each, synonyms),
    has_synonyms=True,
    spaced=True,
)
