"""Against scores that were published: chrF and BLEU of every output of WMT23 English-German, as its organisers shipped them."""

import pytest

from core.metrics.lexical.scorer import open_lexical
from core.metrics.registry import find_metrics
from core.metrics.scorer import ScoringPair


def lines(path):
    return path.read_text("utf-8").removesuffix("\n").split("\n")


@pytest.mark.shared
@pytest.mark.parametrize(("shipped", "name"), [("chrF", "chrf-6-0"), ("BLEU", "bleu-4-exp")])
def test_the_shipped_scores_come_out_again(shared_data, shipped, name):
    wmt = shared_data / "wmt23"
    references = lines(wmt / "references" / "en-de.refA.txt")
    expected = {}
    for line in lines(wmt / "metric-scores" / "en-de" / f"{shipped}-refA.seg.score"):
        system, value = line.split("\t")
        expected.setdefault(system, []).append(float(value))
    systems = sorted(path.stem for path in (wmt / "system-outputs" / "en-de").glob("*.txt"))
    assert len(systems) == 13
    scorer, n = open_lexical(find_metrics([name])), 0
    for system in set(systems) & expected.keys():
        outputs = lines(wmt / "system-outputs" / "en-de" / f"{system}.txt")
        pairs = [ScoringPair(text, reference) for text, reference in zip(outputs, references, strict=True)]
        scores = [score.value for (score,) in scorer.score(pairs)]
        assert scores == pytest.approx(expected[system], abs=1e-7), system
        n += len(scores)
    assert n == 557 * 12
