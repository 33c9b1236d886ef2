"""acc23 on the segments of WMT23 en-de against MQM, beside published figures and mt-metrics-eval's own values."""

import numpy as np
import pytest

from core.stats.correlation.systems import (
    accuracy_test,
    calibrate_ties,
    calibrated_interval,
    corrected_between_systems,
    system_correlation,
)
from core.stats.degeneracy import tied

pytestmark = pytest.mark.shared

# KendallWithTiesOpt(variant="acc23", average_by="item", sample_rate=1.0) of mt-metrics-eval, commit 68a481ae, on the same
# files without refA, refB and synthetic_ref.
OF_THE_TOOL = {
    "BERTscore": 0.5280303030303027,
    "BLEU": 0.5195981554677204,
    "BLEURT-20": 0.5721343873517786,
    "COMET": 0.5740118577075118,
    "GEMBA-MQM": 0.5720685111989461,
    "MetricX-23": 0.6026021080368891,
    "Random-sysname": 0.40876152832674567,
    "XCOMET-Ensemble": 0.6039855072463783,
    "chrF": 0.5192358366271412,
}
# Freitag et al. (2023, WMT), results of the metrics task: en-de, segment level, acc-t.
PUBLISHED = {
    "XCOMET-Ensemble": 0.604,
    "MetricX-23": 0.603,
    "GEMBA-MQM": 0.572,
    "BLEU": 0.520,
    "Random-sysname": 0.409,
}


@pytest.fixture(scope="module")
def scores(shared_data):
    """(human, metric -> scores), each (segments, systems), from the files as they are."""
    folder = shared_data / "wmt23"
    human = columns(folder / "human-scores" / "en-de.mqm.seg.score")
    systems = sorted(name for name in human if "ref" not in name)
    assert len(systems) == 12
    found = {}
    for path in (folder / "metric-scores" / "en-de").glob("*.seg.score"):
        own = columns(path)
        found[path.name.rsplit("-", 1)[0]] = np.column_stack([own[name] for name in systems])
    return np.column_stack([human[name] for name in systems]), found


def columns(path):
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        system, value = line.split("\t")
        found.setdefault(system, []).append(np.nan if value == "None" else float(value))
    return found


@pytest.mark.parametrize("name", OF_THE_TOOL)
def test_accuracy_is_that_of_the_tool(name, scores):
    human, metrics = scores
    found = calibrate_ties(human, metrics[name])
    assert found.accuracy == pytest.approx(OF_THE_TOOL[name], abs=1e-12)
    assert (found.n_items, found.n_systems, found.n_pairs) == (460, 12, 460 * 66)
    assert found.n_items_left_out == 97
    if name in PUBLISHED:
        assert round(found.accuracy, 3) == PUBLISHED[name]


def test_scores_that_differ_by_rounding_hardly_matter(scores, shared_data):
    """As the folder is read here, sums of MQM weights that are equal are equal; the tool compares them as printed."""
    human, metrics = scores
    exact = tied(human.ravel()).reshape(human.shape)
    for name, own in metrics.items():
        assert calibrate_ties(exact, own).accuracy == pytest.approx(OF_THE_TOOL[name], abs=5e-4)


def test_the_first_two_are_not_told_apart_and_both_beat_bleu(scores):
    human, metrics = scores
    first, second, bleu = (metrics[name] for name in ("XCOMET-Ensemble", "MetricX-23", "BLEU"))
    for swap in ("pairs", "items"):
        assert accuracy_test(human, first, second, swap=swap).p > 0.3
        assert accuracy_test(human, second, bleu, swap=swap).p == pytest.approx(1 / 1001)
    found = calibrated_interval(human, first, n_resamples=500)
    assert found.low < 0.604 < found.high < found.low + 0.04


@pytest.mark.slow
@pytest.mark.parametrize("name", ["XCOMET-Ensemble", "chrF"])
def test_the_corrected_correlation_of_30_segments_holds_that_of_all_and_the_naive_one_does_not(name, scores):
    """Segments drawn from those with ratings; docs/inference.md, Noise-corrected correlation of systems."""
    rated = ~np.isnan(scores[0]).any(axis=1)
    human, metric = scores[0][rated], scores[1][name][rated]
    systems = np.arange(human.shape[1])

    def rows(segments):
        drawn = metric[segments].ravel(), human[segments].ravel(), np.tile(systems, segments.size)
        return drawn, np.repeat(np.arange(segments.size), systems.size)

    given, items = rows(np.arange(len(human)))
    full = corrected_between_systems(*given, items=items)
    rng = np.random.default_rng(0)
    corrected, naive, studies = 0, 0, 80
    for _ in range(studies):
        given, items = rows(rng.choice(len(human), 30, replace=False))
        one = corrected_between_systems(*given, items=items, n_resamples=0)
        corrected += one.low <= full.estimate <= one.high
        one = system_correlation(*given, "pearson", items=items, n_resamples=200, rng=rng)
        naive += one.low <= full.naive <= one.high
    assert corrected / studies >= 0.90
    assert naive / studies <= 0.75
