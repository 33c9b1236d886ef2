"""Words that change places, to see whether an evaluator notices: 004's sensitivity check (section 3.5, a share of 0.1)."""

import hashlib
import random

from core.diff import tokenize


def shuffled_words(text: str, share: float, seed: int) -> str:
    """The text with `share` of its words put in each other's places; blanks and punctuation stay where they are.

    In scripts written without spaces the unit is the character. At least two words move, or none where the text has
    fewer than two different ones, or share is 0. Each word that moves goes to the place of the next one of those that
    were drawn. Drawn from the seed and the text alone, so that a repeated run shuffles alike.
    """
    if share <= 0:
        return text
    tokens = tokenize(text)
    words = [at for at, token in enumerate(tokens) if any(char.isalnum() for char in token)]
    draw = random.Random(hashlib.sha256(f"{seed}\0{text}".encode("utf-8", "replace")).digest())
    n_moved = min(len(words), max(2, round(share * len(words))))
    places = sorted(draw.sample(words, n_moved))
    if len({tokens[at] for at in places}) < 2:
        places = _different(tokens, words)
    draw.shuffle(places)
    moved = list(tokens)
    for place, following in zip(places, places[1:] + places[:1], strict=True):
        moved[place] = tokens[following]
    return "".join(moved)


def _different(tokens: list[str], words: list[int]) -> list[int]:
    """The first two places whose words differ; none where all words are one."""
    other = next((at for at in words if tokens[at] != tokens[words[0]]), None)
    return [] if other is None else [words[0], other]
