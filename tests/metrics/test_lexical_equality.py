"""Every configuration against the tool that it equals: sacrebleu 2.6.0, rouge-score 0.1.2, nltk 3.10.4."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics.lexical_texts import edge_pairs, generated_pairs
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import sentence_bleu
from sacrebleu.metrics import CHRF, TER
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from core.metrics.lexical.family import ReadText, Synonyms, shared_characters, synonyms_in, words_13a
from core.metrics.lexical.scorer import LexicalScorer
from core.metrics.registry import metrics_of

PAIRS = (*generated_pairs(), *edge_pairs())
EXACT = 1e-9
ROUGE_NAMES = {"1": "rouge1", "2": "rouge2", "4": "rouge4", "l": "rougeL"}
MEANINGS = [{"cat", "mat", "Київ".lower(), "fly"}, {"sat", "run", "mat"}, {"the", "a", "word_of two", "on"}]


def of(family, **parameters):
    chosen = {
        spec.metric.name: spec
        for spec in metrics_of("lexical")
        if spec.metric.family == family and parameters.items() <= spec.parameters.items()
    }
    assert chosen
    return chosen


def ours(specs, synonyms=None):
    scorer = LexicalScorer(tuple(specs.values()), *([synonyms] if synonyms else []))
    return [dict(zip(specs, scores, strict=True)) for scores in scorer.score(PAIRS)]


def agree(specs, library, **options):
    """library: (text, reference) -> {name: score}, None where it raises."""
    n_different = 0
    for pair, scores in zip(PAIRS, ours(specs, **options), strict=True):
        for name, expected in library(pair.text, pair.reference).items():
            said = scores[name]
            if expected is None:
                assert said.value is None, (name, pair)
                assert said.reason
            else:
                assert said.value == pytest.approx(expected, abs=EXACT), (name, pair)
                n_different += expected not in (0, 1, 100)
    assert n_different > 3_000, "most scores are neither none nor full"


def test_there_are_enough_pairs():
    assert len(generated_pairs()) >= 3_000
    assert len({(pair.text, pair.reference) for pair in generated_pairs()}) > 2_500


def test_words_are_sacrebleus_13a():
    tokenize = Tokenizer13a()
    for text in {text for pair in PAIRS for text in (pair.text, pair.reference)}:
        assert words_13a(text) == tokenize(text.rstrip()).split(), repr(text)


@given(st.text(alphabet=st.one_of(st.sampled_from("ab1 .,-'&<;\n\t\"()é中"), st.characters()), max_size=40))
@settings(max_examples=400, deadline=None)
def test_words_of_any_text_are_sacrebleus_13a(text):
    assert words_13a(text) == Tokenizer13a()(text.rstrip()).split()


def add_one_bleu(words, reference, order):
    """Written down once more, plainly; None where Hugging Face evaluate divides by zero."""
    if not words or not reference:
        return None
    product = 1.0
    for n in range(1, order + 1):
        possible = Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
        there = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
        product *= ((possible & there).total() + 1) / (possible.total() + 1)
    return product ** (1 / order) * min(1.0, math.exp(1 - len(reference) / len(words)))


def test_bleu_add_one():
    specs, tokenize = of("BLEU", smooth="add-1"), Tokenizer13a()

    def library(text, reference):
        words, expected = (tokenize(each.rstrip()).split() for each in (text, reference))
        return {name: add_one_bleu(words, expected, spec.parameters["order"]) for name, spec in specs.items()}

    agree(specs, library)


def test_bleu_exp():
    specs = of("BLEU", smooth="exp")
    bleus = {
        name: BLEU(smooth_method="exp", effective_order=True, max_ngram_order=spec.parameters["order"])
        for name, spec in specs.items()
    }
    agree(
        specs,
        lambda text, reference: {
            name: bleu.sentence_score(text, [reference]).score for name, bleu in bleus.items()
        },
    )
    for pair, scores in list(zip(PAIRS, ours(specs), strict=True))[::20]:
        expected = sentence_bleu(pair.text, [pair.reference]).score
        assert scores["bleu-4-exp"].value == pytest.approx(expected, abs=EXACT)


def test_chrf():
    specs = of("chrF")
    chrfs = {
        name: CHRF(char_order=spec.parameters["characters"], word_order=spec.parameters["words"])
        for name, spec in specs.items()
    }
    agree(
        specs,
        lambda text, reference: {
            name: chrf.sentence_score(text, [reference]).score for name, chrf in chrfs.items()
        },
    )


@given(st.text(max_size=30), st.text(max_size=30), st.integers(1, 7))
@settings(max_examples=200, deadline=None)
def test_shared_characters_are_what_counting_gives(first, second, longest):
    def counted(text, n):
        return Counter(text[i : i + n] for i in range(len(text) - n + 1))

    def codes(text):
        return np.array([ord(char) for char in text], dtype=np.uint32)

    expected = [(counted(first, n) & counted(second, n)).total() for n in range(1, longest + 1)]
    assert shared_characters(codes(first), codes(second), longest) == expected


class EveryScript:
    """The Unicode tokenizer in the form that rouge-score takes one."""

    def __init__(self, stem):
        self.stem = stem

    def tokenize(self, text):
        read = ReadText(text)
        return read.every_script_stems if self.stem else read.every_script


@pytest.mark.parametrize("stem", [False, True])
@pytest.mark.parametrize("tokenizer", ["default", "unicode"])
def test_rouge(tokenizer, stem):
    specs = of("ROUGE", tokenizer=tokenizer, stem=stem)
    scorer = RougeScorer(
        list(ROUGE_NAMES.values()),
        use_stemmer=stem,
        tokenizer=EveryScript(stem) if tokenizer == "unicode" else None,
    )

    def library(text, reference):
        if len(text) > 2_500:
            return {}  # rouge-score's table takes seconds
        scores = scorer.score(reference, text)
        return {name: scores[ROUGE_NAMES[spec.parameters["type"]]].fmeasure for name, spec in specs.items()}

    agree(specs, library)


class KeptStems:
    """nltk's stemmer, each word stemmed once: it is most of the time of this test."""

    def __init__(self):
        self.kept, self.stemmer = {}, PorterStemmer()

    def stem(self, word):
        if word not in self.kept:
            self.kept[word] = self.stemmer.stem(word)
        return self.kept[word]


class Lemma:
    def __init__(self, word):
        self.word = word

    def name(self):
        return self.word


class Synset:
    def __init__(self, words):
        self.words = words

    def lemmas(self):
        return [Lemma(word) for word in sorted(self.words)]


class Dictionary:
    """An object with WordNet's interface; a word may be in several synsets."""

    def __init__(self, meanings):
        self.meanings = meanings

    def synsets(self, word):
        return [Synset(words) for words in self.meanings if word in words]


@pytest.mark.parametrize("meanings", [[], MEANINGS], ids=["without synonyms", "with synonyms"])
def test_meteor(meanings):
    specs, tokenize, stemmer = of("METEOR"), Tokenizer13a(), KeptStems()
    dictionary = Dictionary(meanings)

    def library(text, reference):
        words, expected = (tokenize(each.rstrip()).split() for each in (text, reference))
        return {
            name: single_meteor_score(
                expected,
                words,
                stemmer=stemmer,
                wordnet=dictionary,
                alpha=spec.parameters["alpha"],
                gamma=spec.parameters["gamma"],
            )
            for name, spec in specs.items()
        }

    used = Synonyms("a dictionary", lambda word: synonyms_in(dictionary, word)) if meanings else None
    agree(specs, library, synonyms=used)
    if used:
        changed = sum(a != b for a, b in zip(ours(specs, used), ours(specs), strict=True))
        assert changed > 100, "the dictionary must matter"


def test_ter():
    specs, ter = of("TER"), TER()
    scorer = LexicalScorer(tuple(specs.values()))
    pairs = [pair for pair in PAIRS[::4] if len(pair.text) < 300]
    for pair, (score,) in zip(pairs, scorer.score(pairs), strict=True):
        assert score.value == ter.sentence_score(pair.text, [pair.reference]).score
