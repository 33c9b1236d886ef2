"""ROUGE-N and ROUGE-L of one text (Lin 2004) as in rouge-score: F1, words in lower case."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from rapidfuzz.distance import LCSseq

from core.metrics.lexical.family import CODE_VERSION, NLTK, REGEX, LexicalFamily, ReadText, n_shared, spec
from core.metrics.scorer import MetricSpec
from core.schema.scores import Score


def _scores(settings: Sequence[Mapping[str, Any]], text: ReadText, reference: ReadText) -> list[Score]:
    return [Score(_score(text, reference, **setting)) for setting in settings]


def _score(text: ReadText, reference: ReadText, *, type: str, tokenizer: str, stem: bool) -> float:
    """F1 from 0 to 1; 0 if either text has no sequence to compare, as in rouge-score."""
    kind = ("latin" if tokenizer == "default" else "every_script") + ("_stems" if stem else "")
    n = 1 if type == "l" else int(type)
    if type == "l":
        shared = _longest_common(text.of_kind(kind), reference.of_kind(kind))
    else:
        shared = n_shared(text.ngrams(kind, n), reference.ngrams(kind, n))
    if not shared:
        return 0.0
    precision = shared / (len(text.of_kind(kind)) - n + 1)
    recall = shared / (len(reference.of_kind(kind)) - n + 1)
    return 2 * precision * recall / (precision + recall)


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence. Words are numbered, because rapidfuzz compares hashes, which may collide."""
    number = {word: place for place, word in enumerate(second)}
    ours = [number[word] for word in first if word in number]
    return int(LCSseq.similarity(ours, [number[word] for word in second])) if ours else 0


TYPES = ("1", "2", "4", "l")


def _rouge(kind: str, tokenizer: str = "default", *, stem: bool = False) -> MetricSpec:
    suffix = ("-unicode" if tokenizer == "unicode" else "") + ("-stem" if stem else "")
    reads = "rouge-score" if tokenizer == "default" else f"words-{REGEX}"
    what = (
        "the longest common subsequence of words" if kind == "l" else f"sequences of {kind} words"
    ).replace("sequences of 1 words", "single words")
    which = "every script" if tokenizer == "unicode" else "only a-z and 0-9: useless for other scripts"
    return spec(
        f"rouge-{kind}{suffix}",
        f"ROUGE|nrefs:1|case:lc|type:{kind}|measure:f1|tok:{reads}"
        f"|stemmer:{f'porter-{NLTK}' if stem else 'none'}|version:{CODE_VERSION}",
        {"type": kind, "tokenizer": tokenizer, "stem": stem},
        f"F1 of {what}, {'English stems, ' if stem else ''}reads {which} (0-1).",
        () if suffix else (f"ROUGE ROUGE-{kind}", f"rouge(rouge{kind})", f"rouge(rouge_type=rouge{kind})"),
        of_paper=not suffix,
    )


FAMILY = LexicalFamily(
    name="ROUGE",
    specs=tuple(
        _rouge(kind, tokenizer, stem=stem)
        for tokenizer in ("default", "unicode")
        for stem in (False, True)
        for kind in TYPES
    ),
    open=lambda each, _: partial(_scores, each),
)
