"""CPU time of the lexical metrics, compared with sacrebleu, rouge-score and nltk.

Measures the 16 configurations of Meta-Judge on generated pairs of about 30 words, on one core, in one run, and compares
the scores of both sides. Every pair has its own reference, because shared references would favour Assay. The libraries
are called as documented, with one object for each configuration. sacrebleu has no smoothing that adds one at every
order, so one line applies that formula to its counts. nltk gets tokens, and a WordNet without entries, because its
data is not included. sacrebleu's cache shares tokens between configurations. All caches are empty at the start.
Targets: 5 times as fast with ROUGE without stemmer, as in Meta-Judge, and 8 times with it.

    .venv/bin/python benchmarks/metrics.py [--pairs 10000] [--processes 2]
"""

import argparse
import math
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nltk.translate.meteor_score import single_meteor_score
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

from core.metrics.lexical.family import read_reference, stem_of
from core.metrics.lexical.scorer import LexicalScorer, open_lexical
from core.metrics.registry import find_metrics
from core.metrics.scorer import MetricSpec, ScoringPair
from core.schema.scores import Score

TOLERANCE = 1e-9
CHUNK = 250
ENDINGS = ("", "", "", "s", "ing", "ed", "ation", "ly")
Library = Callable[[str, str], float]
"""Text and reference -> one score."""


def pairs_of_words(n: int) -> list[ScoringPair]:
    """Return sentences of 22 to 38 words with natural frequencies, and versions of them with edits of all strengths."""
    return list(each_pair(n))


def each_pair(n: int) -> Iterator[ScoringPair]:
    """Yield the pairs of `pairs_of_words` one by one."""
    rng = random.Random(0)
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    stems = ["".join(rng.choices(letters[:14], k=rng.randint(1, 8))) for _ in range(4_000)]
    weights = list(accumulate(1 / (rank + 2) for rank in range(len(stems))))

    def words(k: int) -> list[str]:
        return [stem + rng.choice(ENDINGS) for stem in rng.choices(stems, cum_weights=weights, k=k)]

    def sentence(of: list[str]) -> str:
        parts = [word + rng.choice(("", "", "", "", "", ",")) for word in of]
        return " ".join(parts).capitalize() + "."

    for _ in range(n):
        reference = words(rng.randint(22, 38))
        damage = rng.random()
        text = [word if rng.random() > damage else words(1)[0] for word in reference]
        if rng.random() < damage:
            cut = rng.randrange(len(text))
            text = text[cut:] + text[:cut]
        yield ScoringPair(sentence(text), sentence(reference))


class NoWordNet:
    """A WordNet without synonyms, for nltk."""

    def synsets(self, word: str) -> list[object]:
        """Return no synonyms."""
        return []


def library_for(spec: MetricSpec) -> Library:
    """Return the function of a library that computes one configuration."""
    of = dict(spec.parameters)
    if spec.metric.family == "BLEU":
        return add_one_bleu(int(str(of["order"])))
    if spec.metric.family == "chrF":
        chrf = CHRF(char_order=of["characters"], word_order=of["words"])
        return lambda text, reference: chrf.sentence_score(text, [reference]).score
    if spec.metric.family == "ROUGE":
        name = f"rouge{str(of['type']).upper()}"
        rouge = RougeScorer([name], use_stemmer=bool(of["stem"]))
        return lambda text, reference: rouge.score(reference, text)[name].fmeasure
    tokenize, wordnet = Tokenizer13a(), NoWordNet()
    return lambda text, reference: single_meteor_score(
        tokenize(reference.rstrip()).split(),
        tokenize(text.rstrip()).split(),
        wordnet=wordnet,
        alpha=of["alpha"],
        gamma=of["gamma"],
    )


def add_one_bleu(order: int) -> Library:
    """Return BLEU with one added to each of sacrebleu's counts. Effective order changes no count but avoids warnings."""
    bleu = BLEU(max_ngram_order=order, smooth_method="none", effective_order=True)

    def score(text: str, reference: str) -> float:
        said = bleu.sentence_score(text, [reference])
        mean = math.prod((c + 1) / (t + 1) for c, t in zip(said.counts, said.totals, strict=True)) ** (
            1 / order
        )
        return mean * min(1.0, math.exp(1 - said.ref_len / said.sys_len))

    return score


def compare(names: list[str], pairs: list[ScoringPair]) -> float:
    """Print CPU seconds of both sides, check that the scores agree, and return how many times as fast Assay is."""
    specs = find_metrics(names)
    scorer = open_lexical(specs, synonyms="none")
    scorer.score(pairs[:1])  # warm up: the import of the stemmer is not measured
    for kept in (stem_of, read_reference, Tokenizer13a.__call__, TokenizerRegexp.__call__):
        kept.cache_clear()
    begun = time.process_time()
    ours = scorer.score(pairs)
    assay = time.process_time() - begun
    libraries, largest = 0.0, 0.0
    for place, spec in enumerate(specs):
        library = library_for(spec)
        begun = time.process_time()
        theirs = [library(pair.text, pair.reference or "") for pair in pairs]
        libraries += time.process_time() - begun
        values = (scores[place].value for scores in ours)
        largest = max(
            largest, *(math.inf if a is None else abs(a - b) for a, b in zip(values, theirs, strict=True))
        )
    print(
        f"{', '.join(dict.fromkeys(spec.metric.family for spec in specs))} ({len(specs)} configurations): libraries "
        f"{libraries:6.2f} s, assay {assay:5.2f} s: {libraries / assay:4.1f} times as fast; largest difference {largest:.0e}",
        flush=True,
    )
    if not largest < TOLERANCE:
        raise SystemExit(f"the scores differ by more than {TOLERANCE:g}")
    return libraries / assay


@lru_cache(maxsize=8)
def _scorer(names: tuple[str, ...]) -> LexicalScorer:
    return open_lexical(find_metrics(names), synonyms="none")


def _scored(names: tuple[str, ...], pairs: Sequence[ScoringPair]) -> list[tuple[Score, ...]]:
    """Score pairs in a process that keeps its scorer between calls."""
    return _scorer(names).score(pairs)


def in_a_pool(names: list[str], pairs: list[ScoringPair], processes: int) -> None:
    """Print the wall time in this process and in a pool, and whether the scores are equal."""
    exact = tuple(spec.metric.name for spec in find_metrics(names))
    begun = time.perf_counter()
    alone = _scored(exact, pairs)
    single = time.perf_counter() - begun
    with ProcessPoolExecutor(processes) as pool:
        list(pool.map(_scored, [exact] * processes, [pairs[:1]] * processes))
        begun = time.perf_counter()
        chunks = [pairs[start : start + CHUNK] for start in range(0, len(pairs), CHUNK)]
        done = pool.map(_scored, [exact] * len(chunks), chunks)
        together = [scores for chunk in done for scores in chunk]
        pooled = time.perf_counter() - begun
    print(
        f"wall time of {len(exact)} configurations: {single:.2f} s in one process, {pooled:.2f} s in a pool of {processes}",
        end="; ",
    )
    print("the same scores" if together == alone else "DIFFERENT scores")


def groups() -> Iterator[tuple[str, list[str]]]:
    """Yield the groups to measure: each family, ROUGE with stemmer, all 16 together, and all 16 with stemmer."""
    specs = find_metrics(["lexical"])
    for family in dict.fromkeys(spec.metric.family for spec in specs):
        yield family, [spec.metric.name for spec in specs if spec.metric.family == family]
    stemmed = [f"rouge-{kind}-stem" for kind in ("1", "2", "4", "l")]
    yield "ROUGE stemmed", stemmed
    yield "16", ["lexical"]
    yield "16 stemmed", [*(spec.metric.name for spec in specs if spec.metric.family != "ROUGE"), *stemmed]


def main() -> None:
    """Measure both sides in one run and print the ratios."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--pairs", type=int, default=10_000, help="number of pairs (default %(default)s)")
    options.add_argument(
        "--processes", type=int, default=2, help="processes of the pool (default %(default)s)"
    )
    chosen = options.parse_args()
    pairs = pairs_of_words(chosen.pairs)
    length = sum(len((pair.reference or "").split()) for pair in pairs) / len(pairs)
    print(f"{len(pairs)} pairs, references of {length:.0f} words on average; CPU time")
    ratios = {group: compare(names, pairs) for group, names in groups()}
    print(f"all 16, ROUGE without stemmer as in Meta-Judge: {ratios['16']:.1f} times as fast (target: 5)")
    print(f"all 16, ROUGE with stemmer: {ratios['16 stemmed']:.1f} times as fast (target: 8)")
    in_a_pool(["lexical"], pairs, chosen.processes)


if __name__ == "__main__":
    main()
