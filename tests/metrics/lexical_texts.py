"""Pairs of texts that the tests of the lexical metrics share: many scripts, much overlap, and edge cases."""

import csv
import random
from functools import lru_cache
from pathlib import Path

from core.metrics.scorer import ScoringPair

DEMO = Path(__file__).parents[2] / "data" / "demo" / "answers.csv"
VOCABULARIES = {
    "latin": [
        "the",
        "The",
        "cat",
        "cats",
        "sat",
        "sitting",
        "on",
        "a",
        "mat",
        "don't",
        "3.5",
        "1,000",
        "naïve",
        "run",
    ],
    "inflected": [
        "connect",
        "connected",
        "connection",
        "relational",
        "hopping",
        "hoped",
        "flies",
        "fly",
        "dies",
        "sky",
    ],
    "cyrillic": ["Київ", "київ", "стоїть", "на", "Дніпрі", "місто", "м.", "1934", "п'ять", "що"],
    "han": ["北京是中国的首都。", "北京", "首都", "，", "東京は日本の首都です", "大", "2008年", "ラーメン"],
    "arabic": ["وُلد", "ولد", "في", "تونس", "عام", "١٣٣٢", "،", "القاهرة", "1332"],
    "marks": [
        "e\u0301t\u0301e",
        "été",
        "ยินดี",
        "नमस्ते",
        "👩‍👩‍👧",
        "🇨🇿",
        "👍🏽",
        "İstanbul",
        "ΣΑΣ",
        "Straße",
        "ﬁn",
        "x\u00a0y",
    ],
    "punctuation": [
        ".",
        ",",
        "...",
        "-",
        "!?",
        "(",
        ")",
        "“",
        "”",
        "&amp;",
        "&quot;",
        "<skipped>",
        "'",
        "«",
        "_",
        "$5",
        "50%",
    ],
    "numbers": ["1", "2", "10", "3-4", "1.5", "1,5", "-1", "5-", "2020-01-01", "12:30", ".5", "7."],
    "lines": ["one-\ntwo", "a\nb", "end-", "\t", "tab\tbed", "x\u2028y", "z\x1c", "no\u200bbreak", "-\n"],
}
EDGES = [
    "", " ", "\n", "a", ".", "...", "?!", "the", "The", "the the the the", "no word is shared", "&amp;", "<skipped>", "-\n",
    "a b c d e f g", "g f e d c b a", "北京", "Київ", "👍", "a-\n", "word-\n ", "\ud800 alone", "e\u0301", "١٣٣٢",
]  # fmt: skip


def edge_pairs() -> list[ScoringPair]:
    """Each edge case against each."""
    return [ScoringPair(text, reference) for text in EDGES for reference in EDGES]


@lru_cache(maxsize=1)
def generated_pairs() -> tuple[ScoringPair, ...]:
    """Over 3,000: nine small vocabularies, their mixture, the demo's answers, and two long ones."""
    rng = random.Random(5)
    everything = [word for words in VOCABULARIES.values() for word in words]
    pairs = [
        _drawn(rng, words, rng.choice((1, 3, 6, 12, 20)))
        for words in (*VOCABULARIES.values(), everything)
        for _ in range(280)
    ]
    answers = [(row["text"], row["reference"]) for row in csv.DictReader(DEMO.open(encoding="utf-8"))]
    pairs += [ScoringPair(text, reference) for text, reference in answers if text]
    pairs += [ScoringPair(reference, text) for text, reference in answers if text]
    han = "".join(chr(0x4E00 + rng.randrange(4_000)) for _ in range(3_000))
    long = " ".join(rng.choices(everything, k=3_000))
    return (*pairs, ScoringPair(han, han[::2] + han[:900]), ScoringPair(long, long[4_000:]))


def _drawn(rng: random.Random, words: list[str], length: int) -> ScoringPair:
    """A reference, and it again with words changed, dropped and moved, or an unrelated text."""
    reference = rng.choices(words, k=rng.randint(1, length))
    changed = [rng.choice(words) if rng.random() < 0.3 else word for word in reference if rng.random() < 0.9]
    if rng.random() < 0.3:
        rng.shuffle(changed)
    text = changed if rng.random() < 0.8 else rng.choices(words, k=rng.randint(0, length))
    space = rng.choice((" ", " ", " ", "", "  ", ", "))
    return ScoringPair(space.join(text), space.join(reference))
