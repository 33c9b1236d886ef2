"""From a cell of WMT23 en-de to its dots and their texts, and two of its metrics compared, against the shipped files."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.formats.mt_metrics_eval import read_folder
from core.formats.registry import read_scored_texts, read_scores
from core.formats.scores import write_scores_jsonl
from core.results.correlations.points import points, text_key
from core.results.correlations.ranking import compare_metrics
from core.results.correlations.table import correlate_scores
from core.results.correlations.texts import texts_of
from core.schema.correlating import CompareOptions, CorrelateOptions
from core.stats.degeneracy import tied

pytestmark = pytest.mark.shared
OPTIONS = CorrelateOptions(n_resamples=0)
N_SEGMENTS = 557

# Scores that differ by rounding only, such as 66.2 and 66.19999999999999, are one value to the house: `tied`.


@pytest.fixture(scope="module")
def folder(shared_data):
    return read_folder(shared_data / "wmt23")


@pytest.fixture(scope="module")
def kept(folder):
    """The bytes that the page keeps."""
    return write_scores_jsonl(folder.scores, texts=folder.outputs.outputs)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")


@pytest.mark.slow
def test_every_cell_is_what_its_dots_give(folder):
    people = folder.ratings["mqm"]
    report = correlate_scores(folder.scores, people, options=OPTIONS.but(group=["domain"]))
    for row in report.rows:
        asked = {"metric": row.metric.name, "group": row.group}
        pooled = points(folder.scores, people, **asked)
        assert (pooled.n, pooled.left_out) == (row.n, row.left_out)
        for method, function in (("pearson", stats.pearsonr), ("kendall", stats.kendalltau)):
            assert function(tied(pooled.x), pooled.y).statistic == pytest.approx(
                row.estimate(method, "pooled").estimate, abs=1e-9
            )
        systems = points(folder.scores, people, view="per_system", **asked)
        assert stats.pearsonr(systems.x, systems.y).statistic == pytest.approx(
            row.estimate("pearson", "per_system").estimate, abs=1e-9
        )
        of_items = points(folder.scores, people, view="per_item", **asked)
        frame = pd.DataFrame({"x": tied(of_items.x), "y": of_items.y, "item": of_items.items})
        taus = [stats.kendalltau(own.x, own.y).statistic for _, own in frame.groupby("item")]
        assert np.mean(taus) == pytest.approx(row.estimate("kendall", "per_item").estimate, abs=1e-9)


@pytest.mark.slow
def test_a_dot_leads_to_the_lines_of_the_files(folder, kept, shared_data):
    scores = read_scores(kept, "kept.jsonl")
    assert scores.rows == folder.scores.rows
    texts = texts_of(scores, read_scored_texts(kept, "kept.jsonl"))
    found = points(scores, folder.ratings["mqm"], metric="BLEU")
    wmt = shared_data / "wmt23"
    sources, reference = lines(wmt / "sources" / "en-de.txt"), lines(wmt / "references" / "en-de.refA.txt")
    keys = [text_key(one) for one in scores.rows]
    for row in found.rows[:: found.n // 7].tolist():
        about = scores.rows[row]
        at = int(about.item_id) - 1
        one = texts.at(row, found.best_of(row))
        own = lines(wmt / "system-outputs" / "en-de" / f"{about.system}.txt")
        assert (one.source, one.reference, one.text) == (sources[at], reference[at], own[at])
        assert one.language == "de"
        assert keys.index(text_key(about)) == row
        if one.better is not None:
            better = lines(wmt / "system-outputs" / "en-de" / f"{one.better_row.system}.txt")
            assert (one.better, one.better_is) == (better[at], "best")


def test_the_best_text_has_the_best_rating_of_its_segment(folder):
    found = points(folder.scores, folder.ratings["mqm"], metric="BLEU")
    rating = dict(zip(found.rows.tolist(), found.y.tolist(), strict=True))
    for row in found.rows[::400].tolist():
        best = found.best_of(row)
        of_item = max(value for other, value in rating.items() if other % N_SEGMENTS == row % N_SEGMENTS)
        assert (rating[row] if best is None else rating[best]) == of_item


@pytest.mark.parametrize("method", ["pearson", "kendall"])
def test_two_metrics_differ_by_the_difference_of_scipys(folder, method):
    people = folder.ratings["mqm"]
    found = compare_metrics(
        folder.scores,
        people,
        CompareOptions(first="XCOMET-Ensemble", second="MetricX-23", methods=(method,), n_resamples=500),
    )
    function = {"pearson": stats.pearsonr, "kendall": stats.kendalltau}[method]
    one, other = (points(folder.scores, people, metric=name) for name in (found.first, found.second))
    expected = function(tied(one.x), one.y).statistic - function(tied(other.x), other.y).statistic
    assert found.difference.estimate == pytest.approx(expected, abs=1e-9)
    assert 0 < found.difference.low < expected < found.difference.high
    assert found.n == 5_520
    assert found.p == pytest.approx(1 / 501)
