"""The scorer is pure, whatever the batch, the order or the process; and says with which settings it scored."""

import pickle
import random
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version

import pytest
from metrics.lexical_texts import edge_pairs, generated_pairs

from core.metrics.lexical.scorer import LexicalScorer, open_lexical
from core.metrics.registry import all_metrics, find_metrics, metrics_of
from core.metrics.scorer import ScoringPair

PAIRS = [pair for pair in (*generated_pairs()[::25], *edge_pairs()[::7]) if len(pair.text) < 150]


@pytest.fixture(scope="module")
def alone():
    """Each pair by itself, by a scorer that saw nothing else."""
    return [open_lexical(metrics_of("lexical"), synonyms="none").score([pair])[0] for pair in PAIRS]


def test_the_same_in_any_batch_and_order(alone):
    order = list(range(len(PAIRS)))
    random.Random(1).shuffle(order)
    shuffled = open_lexical(metrics_of("lexical"), synonyms="none").score([PAIRS[place] for place in order])
    assert [shuffled[order.index(place)] for place in range(len(PAIRS))] == alone


def test_the_same_by_a_pickled_scorer(alone):
    scorer = pickle.loads(pickle.dumps(open_lexical(metrics_of("lexical"), synonyms="none")))
    assert scorer.score(PAIRS) == alone
    assert scorer.metrics == open_lexical(metrics_of("lexical"), synonyms="none").metrics


def scored(pairs):
    return open_lexical(metrics_of("lexical"), synonyms="none").score(pairs)


def test_the_same_in_a_pool_of_processes(alone):
    chunks = [PAIRS[start : start + 40] for start in range(0, len(PAIRS), 40)]
    with ProcessPoolExecutor(2) as pool:
        done = pool.map(scored, chunks)
        assert [scores for chunk in done for scores in chunk] == alone


def test_the_same_alone_and_beside_other_configurations(alone):
    """Shared statistics must not depend on who else shares them, such as a longer order."""
    for place, spec in enumerate(metrics_of("lexical")):
        by_itself = LexicalScorer([spec]).score(PAIRS)
        assert [score for (score,) in by_itself] == [scores[place] for scores in alone], spec.metric.name


def test_scores_come_in_the_order_of_the_metrics():
    names = ["ter", "rouge-l", "bleu-4", "chrf-6-2", "rouge-1", "bleu-1"]
    scorer = open_lexical(find_metrics(names))
    assert [metric.name for metric in scorer.metrics] == names
    (scores,) = scorer.score([ScoringPair("the cat sat on it", "the cat sat by it")])
    expected = [
        open_lexical(find_metrics([name])).score([ScoringPair("the cat sat on it", "the cat sat by it")])
        for name in names
    ]
    assert [score.value for score in scores] == [one[0][0].value for one in expected]


def test_nothing_to_score():
    assert open_lexical(find_metrics(["bleu-4"])).score([]) == []
    assert open_lexical([]).score([ScoringPair("a", "b")]) == [()]


def test_signatures_are_unique_and_name_the_code_that_decides():
    signatures = [metric.signature for metric in open_lexical(metrics_of("lexical"), synonyms="none").metrics]
    assert len(set(signatures)) == len(signatures)
    for signature in signatures:
        assert ("porter" in signature) == (f"porter-nltk-{version('nltk')}" in signature)
        assert "synonyms:auto" not in signature
    of = {spec.metric.name: spec.metric.signature for spec in all_metrics()}
    assert of["bleu-4"] == "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:add-1|order:4|version:assay-1"
    assert of["ter"].endswith(f"|version:sacrebleu-{version('sacrebleu')}")


def test_only_ter_is_better_when_lower():
    assert [spec.metric.name for spec in metrics_of("lexical") if spec.metric.direction == "lower"] == ["ter"]
