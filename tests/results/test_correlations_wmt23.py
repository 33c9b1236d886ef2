"""The shipped metric scores of WMT23 en-de against MQM, beside a few lines of pandas and scipy on the files."""

from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

from core.formats.mt_metrics_eval import read_folder
from core.results.correlations.table import correlate_scores
from core.schema.correlating import CorrelateOptions
from core.stats.correlation.systems import soft_pairwise_accuracy

pytestmark = pytest.mark.shared
METRICS = {
    "XCOMET-Ensemble": "XCOMET-Ensemble-refA",
    "MetricX-23": "MetricX-23-refA",
    "GEMBA-MQM": "GEMBA-MQM-src",
    "BLEU": "BLEU-refA",
    "Random-sysname": "Random-sysname-src",
}


def column(path: Path) -> pd.Series:
    """Scores of a file by (system, segment)."""
    table = pd.read_csv(path, sep="\t", names=["system", "score"], na_values="None", quoting=3)
    segment = table.groupby("system").cumcount()
    # Published sums and BLEU differ by rounding: -66.2 and -66.19999999999999 are one score.
    scores = table.score.map(lambda score: float(f"{score:.12g}"))
    return pd.Series(scores.to_numpy(float), index=pd.MultiIndex.from_arrays([table.system, segment]))


@pytest.fixture(scope="module")
def found(shared_data):
    folder = read_folder(shared_data / "wmt23")
    report = correlate_scores(folder.scores, folder.ratings["mqm"], options=CorrelateOptions(n_resamples=200))
    return {row.metric.name: row for row in report.rows}


@pytest.fixture(scope="module")
def frames(shared_data):
    folder = shared_data / "wmt23"
    human = column(folder / "human-scores" / "en-de.mqm.seg.score").drop("refA")
    return {
        name: pd.DataFrame(
            {"metric": column(folder / "metric-scores" / "en-de" / f"{stem}.seg.score"), "human": human}
        ).dropna()
        for name, stem in METRICS.items()
    }


@pytest.mark.parametrize("name", METRICS)
def test_segment_correlations_are_those_of_scipy(name, found, frames):
    row, frame = found[name], frames[name]
    assert row.n == len(frame) == 5520
    assert row.left_out == {"no rating": 12 * (557 - 460)}
    for method, function in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ):
        estimate = row.pooled[method].over_rows.estimate
        assert estimate == pytest.approx(function(frame.metric, frame.human).statistic, abs=1e-12)


@pytest.mark.parametrize("name", METRICS)
def test_correlation_within_segments_is_the_mean_of_scipys(name, found, frames):
    taus = [stats.kendalltau(part.metric, part.human).statistic for _, part in frames[name].groupby(level=1)]
    defined = pd.Series(taus).dropna()
    per_item = found[name].per_item["kendall"]
    assert per_item.estimate == pytest.approx(defined.mean(), abs=1e-12)
    assert (per_item.n_clusters, per_item.n_left_out) == (len(defined), 460 - len(defined))


@pytest.mark.parametrize(
    ("name", "over_all", "over_rated"),
    [
        ("XCOMET-Ensemble", 0.980, 0.977),
        ("MetricX-23", 0.977, 0.968),
        ("GEMBA-MQM", 0.993, 0.994),
    ],
)
def test_systems_scores_are_means_over_all_segments_as_in_wmt_or_over_rated_ones(
    name, over_all, over_rated, shared_data, found
):
    assert found[name].per_system["pearson"].estimate == pytest.approx(over_all, abs=0.0005)
    folder = read_folder(shared_data / "wmt23")
    options = CorrelateOptions(n_resamples=0, methods=("pearson",), system_scores="rated")
    report = correlate_scores(folder.scores, folder.ratings["mqm"], options=options)
    (rated,) = (row.per_system["pearson"] for row in report.rows if row.metric.name == name)
    assert rated.estimate == pytest.approx(over_rated, abs=0.0005)
    assert (rated.n, found[name].per_system["pearson"].n_clusters) == (12, 557)


@pytest.mark.parametrize(
    ("name", "accuracy"), [("XCOMET-Ensemble", 0.9397), ("MetricX-23", 0.9288), ("GEMBA-MQM", 0.9818)]
)
def test_soft_pairwise_accuracy_is_that_of_mt_metrics_eval(name, accuracy, frames):
    """pce.py at commit 68a481a: 20,000 permutations, seed 0, on the segments that people rated."""
    human, metric = (frames[name][side].unstack(level=0) for side in ("human", "metric"))
    found = soft_pairwise_accuracy(human, metric, n_resamples=20_000)
    assert found.accuracy == pytest.approx(accuracy, abs=0.001)
    assert (found.n_pairs, found.n_left_out) == (66, 0)


@pytest.mark.parametrize("name", METRICS)
def test_systems_stand_in_the_order_of_their_means(name, found, frames, shared_data):
    means = frames[name].groupby(level=0).mean()
    scored = column(shared_data / "wmt23" / "metric-scores" / "en-de" / f"{METRICS[name]}.seg.score")
    means["metric"] = scored.groupby(level=0).mean()
    row = found[name]
    assert row.per_system["pearson"].estimate == pytest.approx(
        stats.pearsonr(means.metric, means.human).statistic
    )
    right = [
        (means.metric[a] - means.metric[b]) * (means.human[a] - means.human[b]) > 0
        for a, b in combinations(means.index, 2)
    ]
    assert row.system_accuracy.estimate == pytest.approx(sum(right) / len(right))
    assert (row.per_system["pearson"].n, row.system_accuracy.n) == (12, 66)
    assert row.corrected.naive == pytest.approx(row.per_system["pearson"].estimate)
    assert row.corrected.naive < row.corrected.estimate < row.corrected.naive + 0.02
    assert row.accuracy_bound.low <= row.system_accuracy.estimate <= row.accuracy_bound.high


def test_segments_resampled_whole_give_wider_intervals(found):
    """Twelve systems share a segment, which is easy or hard for all of them."""
    pooled = found["XCOMET-Ensemble"].pooled["pearson"]
    rows, items = pooled.over_rows, pooled.over_items
    assert items.high - items.low > 1.5 * (rows.high - rows.low)
    assert (rows.n_clusters, items.n_clusters) == (5520, 460)
