"""Estimates and texts of big tables: the numbers of ordinary runs, from files that are never loaded whole."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.texts.big_tables import EMPTY, METRICS, big_run, scored_table, write_folder
from scipy import stats

from core.analyses.big_table import ANALYSIS, BigTableOptions, result_of
from core.errors import InputError
from core.joining.choices import NO_VALUE
from core.report import csv_of, flat_rows
from core.results.big_tables import scored
from core.results.big_tables.estimates import (
    RANKS,
    BigEstimates,
    estimates,
)
from core.results.big_tables.scored import (
    NO_REASON,
    BigTable,
    TextQuery,
    labels_of,
    open_table,
    texts_page,
    texts_table,
    values_of,
)
from core.results.correlations.levels import compare_levels
from core.results.correlations.table import DEFAULT_OPTIONS, correlate_scores
from core.runs.path import saved_run
from core.runs.tables.opened import big_table
from core.schema.analysis import Answer
from core.schema.big_tables import TEXTS_FILE, n_chunks, part_name
from core.schema.result_table import ResultTable
from core.schema.rows import json_of
from core.schema.scores import METHODS, ScoreTable
from core.store import Store, open_store

CHUNK = 64


@pytest.fixture(scope="module")
def ordinary() -> ScoreTable:
    return scored_table()


def opened(folder: Path, table: ScoreTable, n_finished: int | None = None) -> BigTable:
    folder.mkdir(exist_ok=True)
    finished = write_folder(folder, table, CHUNK, n_finished)
    return open_table("Run 1", folder, table.metrics, range(finished))


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory, ordinary: ScoreTable) -> BigTable:
    return opened(tmp_path_factory.mktemp("it's [a] table"), ordinary)


@pytest.fixture(scope="module")
def frame(ordinary: ScoreTable) -> pd.DataFrame:
    about = [
        (one.item_id, one.system, one.level, one.language, one.labels.get("domain")) for one in ordinary.rows
    ]
    keys = pd.DataFrame(about, columns=["item", "system", "level", "language", "domain"])
    return keys.join(pd.DataFrame(ordinary.values, columns=list(METRICS)))


@pytest.fixture(scope="module")
def found(big: BigTable) -> BigEstimates:
    return estimates(big)


def test_means_are_those_of_pandas(found: BigEstimates, frame: pd.DataFrame) -> None:
    expected = frame.groupby(["level", "system"])[list(METRICS)].agg(["mean", "std", "count"])
    assert len(found.means) == 10 * len(METRICS)
    for one in found.means:
        own = expected.loc[(one.group["level"], one.group["system"]), one.metric.name]
        assert one.mean.estimate == pytest.approx(own["mean"], rel=1e-12)
        assert one.sd == pytest.approx(own["std"], rel=1e-12)
        assert (one.mean.n, one.mean.n_left_out) == (own["count"], 40 - own["count"])


def test_undefined_scores_keep_their_reasons(found: BigEstimates, ordinary: ScoreTable) -> None:
    for metric, name in enumerate(METRICS):
        own = [one.undefined for one in found.means if one.metric.name == name]
        with_reason = sum(m == metric for _, m in ordinary.reasons)
        assert sum(one.get(EMPTY, 0) for one in own) == with_reason > 0
        assert (
            sum(one.get(NO_REASON, 0) for one in own)
            == np.isnan(ordinary.values[:, metric]).sum() - with_reason
        )


@pytest.mark.parametrize("column", ["level", "system", "language", "domain", "item"])
def test_means_by_any_column_or_label(big: BigTable, frame: pd.DataFrame, column: str) -> None:
    own = estimates(big, by=[column], metrics=["ter"])
    expected = frame.fillna({column: NO_VALUE}).groupby(column)["ter"].mean()
    assert {one.group[column]: one.mean.estimate for one in own.means} == pytest.approx(
        expected.to_dict(), rel=1e-12
    )


def test_groups_are_in_the_order_of_levels_and_of_the_file(found: BigEstimates) -> None:
    order = [tuple(one.group.values()) for one in found.means[:10]]
    assert order == [(f"A{level}", system) for level in range(5) for system in ("pipeline", "expert")]
    assert [one.metric.name for one in found.means[::10]] == list(METRICS)


def test_without_groups_there_is_one_mean_for_each_metric(big: BigTable, frame: pd.DataFrame) -> None:
    own = estimates(big, by=[])
    assert [one.mean.estimate for one in own.means] == pytest.approx(
        frame[list(METRICS)].mean().tolist(), rel=1e-12
    )


def test_correlations_are_those_of_an_ordinary_run(found: BigEstimates, ordinary: ScoreTable) -> None:
    report = correlate_scores(ordinary, options=DEFAULT_OPTIONS.but(n_resamples=0))
    for ours, theirs in zip(found.correlations, report.rows, strict=True):
        assert ours.metric == theirs.metric
        for method in METHODS:
            own = theirs.pooled[method].over_rows
            assert ours.by_method[method].estimate == own.estimate
            assert (ours.by_method[method].n, ours.by_method[method].n_left_out) == (own.n, own.n_left_out)


def test_correlations_are_those_of_scipy(found: BigEstimates, frame: pd.DataFrame) -> None:
    level = -frame["level"].str[1:].astype(float)
    for one in found.correlations:
        scores = frame[one.metric.name] * (-1 if one.metric.direction == "lower" else 1)
        known = scores.notna()
        for method, by_scipy in zip(
            METHODS, (stats.pearsonr, stats.spearmanr, stats.kendalltau), strict=True
        ):
            expected = by_scipy(scores[known], level[known]).statistic
            assert one.by_method[method].estimate == pytest.approx(expected, abs=1e-12)


def test_intervals_are_those_of_an_ordinary_run(
    big: BigTable, ordinary: ScoreTable, found: BigEstimates
) -> None:
    drawing = {"n_resamples": 300, "confidence_level": 0.9, "rng": 7}
    own = estimates(big, by=["level"], n_resamples=300, confidence_level=0.9, rng=7)
    report = correlate_scores(ordinary, options=DEFAULT_OPTIONS.but(**drawing))
    for ours, theirs in zip(own.correlations, report.rows, strict=True):
        pearson, expected = ours.by_method["pearson"], theirs.pooled["pearson"].over_items
        assert (pearson.low, pearson.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
        assert ours.by_method["kendall"].interval_reason == RANKS
        assert ours.by_method["kendall"].low is None
    for theirs in compare_levels(ordinary, **drawing):
        for level, expected in theirs.levels.items():
            ours = next(
                one.mean
                for one in own.means
                if (one.metric.name, one.group["level"]) == (theirs.metric, level)
            )
            assert (ours.low, ours.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    same = {
        (one.metric.name, *one.group.values()): one.mean.estimate
        for one in estimates(big, by=["level"]).means
    }
    assert {(one.metric.name, *one.group.values()): one.mean.estimate for one in own.means} == same


def test_many_items_are_resampled_from_sparse_sums(big: BigTable, monkeypatch: pytest.MonkeyPatch) -> None:
    dense = estimates(big, metrics=["ter"], n_resamples=50)
    monkeypatch.setattr("core.results.big_tables.estimates._MOST_CELLS", 200)
    for ours, theirs in zip(estimates(big, metrics=["ter"], n_resamples=50).means, dense.means, strict=True):
        assert (ours.mean.low, ours.mean.high) == pytest.approx(
            (theirs.mean.low, theirs.mean.high), rel=1e-12
        )
        assert (ours.mean.n, ours.mean.n_clusters) == (theirs.mean.n, theirs.mean.n_clusters)


def tables_of(found: BigEstimates) -> dict[str, ResultTable]:
    return Answer(ANALYSIS, BigTableOptions(), result_of(found)).tables


def test_the_sentence_names_the_metric_that_follows_quality(found: BigEstimates) -> None:
    best = max(found.correlations, key=lambda one: one.by_method["spearman"].estimate or 0)
    assert Answer(ANALYSIS, BigTableOptions(), result_of(found)).all_sentences[0].startswith(best.metric.name)
    assert best.metric.name == "rouge-l"


def test_tables_have_every_number(found: BigEstimates) -> None:
    rows = flat_rows(tables_of(found)["means"])
    assert rows[0]["metric"] == "bleu-4"
    assert rows[0]["mean"] == found.means[0].mean.estimate
    assert sum(row["mean_n"] for row in rows) == sum(one.mean.n for one in found.means)
    assert csv_of(tables_of(found)["correlations"]).count(b"\n") == 1 + len(METRICS)
    written = json_of(result_of(found))
    assert written["rows"] == {"scored": 400, "of": 400, "complete": True}
    assert len(written["means"]) == 40


def test_a_constant_metric_is_named_and_undefined(tmp_path: Path, ordinary: ScoreTable) -> None:
    values = ordinary.values.copy()
    values[:, 1] = 0.25
    own = estimates(opened(tmp_path / "flat", replace(ordinary, values=values, reasons={})))
    flat = own.correlations[1]
    assert flat.by_method["kendall"].estimate is None
    assert flat.by_method["kendall"].reason == "all scores are equal"
    assert [METRICS[1] in one for one in own.constants] == [True]


def test_a_group_without_scores_is_undefined(tmp_path: Path, ordinary: ScoreTable) -> None:
    values = ordinary.values.copy()
    values[[row.level == "A4" for row in ordinary.rows], 2] = np.nan
    own = estimates(opened(tmp_path / "gap", replace(ordinary, values=values)), by=["level"], n_resamples=20)
    gone = next(one for one in own.means if (one.metric.name, one.group["level"]) == ("ter", "A4"))
    assert (gone.mean.estimate, gone.sd, gone.mean.n, gone.mean.low) == (None, None, 0, None)
    assert gone.mean.reason
    assert gone.mean.n_left_out == 80


def test_without_levels_nothing_is_correlated(tmp_path: Path, ordinary: ScoreTable) -> None:
    rows = tuple(replace(row, level=None) for row in ordinary.rows)
    own = estimates(opened(tmp_path / "plain", replace(ordinary, rows=rows)))
    assert own.correlations == ()
    assert {one.group["level"] for one in own.means} == {NO_VALUE}
    assert own.notes


def test_rows_that_are_not_scored_yet_are_counted(tmp_path: Path, ordinary: ScoreTable) -> None:
    table = opened(tmp_path / "half", ordinary, 2)
    assert (table.n_scored, table.n_rows, table.is_complete) == (2 * CHUNK, 400, False)
    own = estimates(table, by=[])
    assert own.means[0].mean.n + own.means[0].mean.n_left_out == 2 * CHUNK
    assert "128 of 400" in own.notes[0]
    first = replace(
        ordinary, rows=ordinary.rows[: 2 * CHUNK], values=ordinary.values[: 2 * CHUNK], reasons={}
    )
    expected = correlate_scores(first, options=DEFAULT_OPTIONS.but(n_resamples=0))
    assert (
        own.correlations[0].by_method["kendall"].estimate
        == expected.rows[0].pooled["kendall"].over_rows.estimate
    )


def test_no_rows_unknown_names_and_broken_files_are_one_clear_error(
    tmp_path: Path, ordinary: ScoreTable
) -> None:
    empty = opened(tmp_path / "none", ordinary, 0)
    with pytest.raises(InputError, match="no row is scored yet"):
        estimates(empty)
    assert (labels_of(empty), values_of(empty, "system", 9)) == ((), ())
    table = opened(tmp_path / "some", ordinary)
    with pytest.raises(InputError) as unknown:
        estimates(table, by=["domian"])
    assert "domain" in " ".join(unknown.value.problems)
    with pytest.raises(InputError):
        estimates(table, metrics=["bleu-9"])
    (table.folder / part_name(1)).write_bytes(b"PAR1 cut off")
    with pytest.raises(InputError, match="cannot be read"):
        estimates(table)
    (table.folder / part_name(1)).unlink()
    with pytest.raises(InputError, match=part_name(1)):
        open_table("Run 1", table.folder, table.metrics, range(3))


def test_too_many_groups_are_refused(big: BigTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.results.big_tables.estimates._MOST_GROUPS", 9)
    with pytest.raises(InputError, match="more than 9 groups"):
        estimates(big)


def test_texts_come_page_by_page(big: BigTable, ordinary: ScoreTable) -> None:
    page, total = texts_page(big, TextQuery(offset=395, limit=50))
    assert (total, [one.row for one in page]) == (400, [395, 396, 397, 398, 399])
    own, row = page[-1], ordinary.rows[399]
    assert (own.item, own.system, own.level, own.language) == (
        row.item_id,
        row.system,
        row.level,
        row.language,
    )
    assert own.text == "text 399 of expert"
    assert own.reference == f"reference of {row.item_id}"
    assert texts_page(big, TextQuery(offset=400)) == ((), 400)


def test_texts_are_filtered_and_sorted_with_undefined_scores_last(big: BigTable, frame: pd.DataFrame) -> None:
    where = {"level": "A3", "domain": "law/eu"}
    expected = frame[(frame["level"] == "A3") & (frame["domain"] == "law/eu")]
    for descending in (False, True):
        page, total = texts_page(big, TextQuery(where, "ter", descending, 0, 50))
        ordered = expected.sort_values("ter", ascending=not descending, na_position="last", kind="stable")
        assert total == len(expected)
        assert [one.row for one in page] == ordered.index.tolist()
    assert texts_page(big, TextQuery({"domain": NO_VALUE}))[1] == frame["domain"].isna().sum()
    assert texts_page(big, TextQuery({"domain": "it's"}))[1] == (frame["domain"] == "it's").sum()
    assert texts_page(big, TextQuery({"item": "' OR 1=1 --"})) == ((), 0)


def test_a_page_as_a_table_says_why_a_score_is_undefined(big: BigTable) -> None:
    query = TextQuery(sort="ter", offset=399)
    page, total = texts_page(big, query)
    assert page[0].scores["ter"] is None
    (row,) = flat_rows(texts_table(page, big.metric_named(["ter"]), total, query))
    assert row["ter"] is None
    assert row["undefined"].startswith("ter: ")


def test_a_label_named_like_a_column_hides_no_number(tmp_path: Path, ordinary: ScoreTable) -> None:
    names = ("row", "n", "mean", "metric", "mean_low", "label:n", "ter", "free")
    rows = [replace(one, labels=dict.fromkeys(names, "x")) for one in ordinary.rows]
    big = opened(tmp_path / "named", replace(ordinary, rows=tuple(rows)))
    means = flat_rows(tables_of(estimates(big, by=names, correlated=False))["means"])
    assert [row["metric"] for row in means] == list(METRICS)
    plain = estimates(big, by=[], correlated=False)
    assert [(row["mean"], row["n"]) for row in means] == [
        (one.mean.estimate, one.mean.n) for one in plain.means
    ]
    assert all(row["free"] == row["label:n"] == row["label:label:n"] == "x" for row in means)
    texts, total = texts_page(big, TextQuery(limit=3))
    shown = flat_rows(texts_table(texts, big.metrics, total, TextQuery(limit=3)))
    assert [(row["row"], row["ter"], row["n"]) for row in shown] == [
        (one.row, one.scores["ter"], "x") for one in texts
    ]
    assert {row["label:row"] for row in shown} == {row["label:ter"] for row in shown} == {"x"}


def test_what_filters_offer(big: BigTable) -> None:
    assert labels_of(big) == ("domain",)
    assert values_of(big, "level", 9) == ("A0", "A1", "A2", "A3", "A4")
    assert values_of(big, "system", 9) == ("pipeline", "expert")
    assert len(values_of(big, "item", 7)) == 7


def test_a_name_with_quotes_is_only_a_name(tmp_path: Path, ordinary: ScoreTable) -> None:
    name = "a \"b\" 'c'; --"
    metrics = (replace(ordinary.metrics[0], name=name), *ordinary.metrics[1:])
    rows = tuple(replace(row, labels={"x/~'\"": "1"}) for row in ordinary.rows)
    table = opened(tmp_path / "odd", replace(ordinary, metrics=metrics, rows=rows))
    own = estimates(table, by=["x/~'\""], metrics=[name])
    assert own.means[0].mean.estimate == pytest.approx(np.nanmean(ordinary.values[:, 0]), rel=1e-12)
    assert texts_page(table, TextQuery({"x/~'\"": "1"}, name))[1] == 400


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "assay.db") as opened_store:
        yield opened_store


def test_a_run_has_the_chunks_that_are_saved(store: Store, ordinary: ScoreTable) -> None:
    run = big_run(store, ordinary, CHUNK, 3)
    folder = store.path.with_name("assay.db.d") / f"run-{run.run_id}"
    (folder / part_name(3)).write_bytes((folder / part_name(2)).read_bytes())  # of a killed process
    table = big_table(saved_run(store, run))
    assert (table.n_scored, table.n_rows) == (3 * CHUNK, 400)
    assert [one.name for one in table.metrics] == list(METRICS)


def test_the_engine_is_limited_and_gives_the_same_number_every_time(big: BigTable) -> None:
    with scored.connected(big) as database:
        limit = database.execute(
            "SELECT current_setting('memory_limit'), current_setting('threads')"
        ).fetchall()
    assert limit == [("488.2 MiB", 1)]
    assert estimates(big).means == estimates(big).means


@pytest.mark.slow
def test_200_000_rows_give_the_numbers_of_pandas(tmp_path: Path) -> None:
    table = scored_table(20_000)
    assert len(table.rows) == 200_000
    folder = tmp_path / "large"
    folder.mkdir()
    write_folder(folder, table, 5_000)
    big = open_table("Run 1", folder, table.metrics, range(n_chunks(200_000)))
    own = estimates(big)
    frame = pd.DataFrame(table.values, columns=list(METRICS))
    frame["level"] = [str(row.level) for row in table.rows]
    means = frame.groupby("level")[list(METRICS)].mean()
    both = estimates(big, by=["level"]).means
    assert [one.mean.estimate for one in both] == pytest.approx(
        means.to_numpy().T.ravel().tolist(), rel=1e-11
    )
    level = -frame["level"].str[1:].astype(float)
    for one in own.correlations:
        sign = -1 if one.metric.direction == "lower" else 1
        expected = (sign * frame[one.metric.name]).corr(level, method="kendall")
        assert one.by_method["kendall"].estimate == pytest.approx(expected, abs=1e-12)
    assert (folder / TEXTS_FILE).stat().st_size > 0
