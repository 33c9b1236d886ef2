"""Every result table with p-values has corrected ones, or an entry here with the reason why it has none."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from helpers.texts.score_factories import ratings, table

from core.analyses import ANALYSES, analysis
from core.analyses.compare import ANALYSIS as COMPARE
from core.analyses.compare import compared
from core.analyses.correlate import ANALYSIS as CORRELATE
from core.analyses.correlate import correlations
from core.analyses.rank import ANALYSIS as RANK
from core.analyses.rank import ranking_of
from core.joining.choices import columns_at
from core.report import flat_rows, headings, notes
from core.results.correlations.ranking import (
    Ranking,
    compare_in_groups,
    rank_metrics,
)
from core.results.correlations.table import correlate_scores
from core.results.study.results import holm_of_raters
from core.schema.analysis import Answer
from core.schema.correlating import CompareOptions, CorrelateOptions, RankOptions
from core.schema.result_table import Column, ResultTable
from core.schema.rows import result_json, row_fields
from core.schema.scores import Rating, ScoredRow
from core.stats.multiplicity import corrected
from core.stats.resampling import NO_WIDTH
from core.stats.votes import position_bias

CORE = Path(__file__).resolve().parents[2] / "core"
EXCEPTIONS: dict[str, str] = {}
"""File below core/, with the function where only one is meant -> why its tables need no correction."""
ONE_TEST = {
    "without-family": "one test, with both alternatives: the row of all metrics alone has a p",
    "corrected": "whether the labelled texts differ from the others, one test of an assumption",
    "corrected-methods": "the same test, beside each method",
    "escalate": "whether the labelled texts differ from the others, one test of an assumption",
}
"""Declared table -> why its p needs no correction."""
_P = re.compile(r"p(_(one|two)_sided)?|.*_p")
_CORRECTED = re.compile(r".*_(holm|bh|by)")


def makers() -> Iterator[tuple[str, ast.AST]]:
    """File and node of every function, and of every value of a module, that makes columns of a result table."""
    for path in sorted(CORE.rglob("*.py")):
        text = path.read_text("utf-8")
        if "Column(" not in text:
            continue
        for node in ast.parse(text).body:
            if any(isinstance(one, ast.Call) and _name(one) == "Column" for one in ast.walk(node)):
                yield path.relative_to(CORE).as_posix(), node


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def has_p(node: ast.AST) -> bool:
    """Whether one of its columns is a p: said to be one, or named so."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and _name(call) == "Column":
            if any(word.arg == "p_value" for word in call.keywords):
                return True
            if any(_P.fullmatch(str(one.value)) for one in call.args[:1] if isinstance(one, ast.Constant)):
                return True
    texts = {
        one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }
    return bool(texts & {"p_one_sided", "p_two_sided"})


def has_corrected(node: ast.AST) -> bool:
    """Whether one of its columns is a corrected p."""
    calls = {_name(one) for one in ast.walk(node) if isinstance(one, ast.Call)}
    texts = [
        one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    return "corrected_column" in calls or any(map(_CORRECTED.fullmatch, texts))


def test_every_table_of_p_values_has_corrected_ones_or_a_reason() -> None:
    with_p = [(file, node) for file, node in makers() if has_p(node) and file != "results/cells.py"]
    assert with_p, "the walk finds the tables that are known to have a p"
    bare = [
        f"{file}: {getattr(node, 'name', 'line')} {node.lineno}"  # type: ignore[attr-defined]  # a statement
        for file, node in with_p
        if not {file, f"{file}: {getattr(node, 'name', '')}"} & EXCEPTIONS.keys() and not has_corrected(node)
    ]
    assert not bare, f"add core.results.cells.corrected_column, or a reason to EXCEPTIONS: {bare}"
    assert {place.partition(":")[0] for place in EXCEPTIONS} <= {file for file, _ in with_p}


def declared_columns(row: type) -> Iterator[Column]:
    """The columns of rows of this type, with those of rows within."""
    for one in row_fields(row):
        if one.inner and one.rows is not None:
            yield from declared_columns(one.rows)
        elif one.column is not None and not one.by_name:
            yield one.column


def test_every_declared_table_of_p_values_has_corrected_ones_or_a_reason() -> None:
    tables = {
        table.name: [*declared_columns(table.row)]
        for name in ANALYSES
        for each in (analysis(name), *analysis(name).others)
        for table in each.tables
    }
    with_p = {
        name
        for name, columns in tables.items()
        if any(one.p_value or _P.fullmatch(one.name) for one in columns)
    }
    assert len(with_p) >= 20, "the walk finds the tables that are known to have a p"
    bare = {name for name in with_p if not any(_CORRECTED.fullmatch(one.name) for one in tables[name])}
    assert bare == set(ONE_TEST), "add a corrected p, or a reason to ONE_TEST"


RANKED = RankOptions(n_resamples=99, rng=3)


def scored(n_items: int = 12):  # type: ignore[no-untyped-def]  # a table and ratings
    draw = np.random.default_rng(1)
    rows, people = [], []
    for item in range(n_items):
        for system in ("a", "b", "c"):
            quality = float(draw.normal())
            rows.append(
                (ScoredRow(f"i{item}", system), [quality + draw.normal(0, by) for by in (0.2, 0.5, 1, 3)])
            )
            people.append(Rating(f"i{item}", quality, system, None, "r", "q"))
    return table(rows, ["sharp", "good", "weak", "noise"]), ratings(*people)


def test_a_ranking_shows_both_and_says_how_many_tests_there_are() -> None:
    made, people = scored()
    found = comparisons_of(rank_metrics(made, people, options=RANKED))
    rows = flat_rows(found)
    assert [row["p_bh"] for row in rows] == corrected(
        [row["p_two_sided"] for row in rows], "benjamini-hochberg"
    )
    assert headings(found)[3:5] == ["p", "Benjamini-Hochberg p"]
    assert "6 tests" in " ".join(found.notes)


def test_groups_and_views_are_one_family_and_coefficients_are_not() -> None:
    made, people = scored()
    found = compare_in_groups(
        made, people, CompareOptions(first="good", second="weak", n_resamples=99, rng=3)
    )
    rows = flat_rows(Answer(COMPARE, COMPARE.Options(), compared(found)).tables["comparison"])
    for method in ("pearson", "spearman", "kendall"):
        own = [row for row in rows if row["method"] == method]
        assert len(own) == 4
        assert [row["p_holm"] for row in own] == corrected([row["p_two_sided"] for row in own])


def test_a_single_test_hides_the_corrected_column_and_keeps_it_in_files() -> None:
    made, people = scored()
    found = comparisons_of(rank_metrics(made, people, options=RANKED.but(test="williams")))
    two = rank_metrics(_first_two(made), people, options=RANKED.but(test="williams"))
    assert "Benjamini-Hochberg p" in headings(found)
    assert "Benjamini-Hochberg p" not in headings(comparisons_of(two))
    (row,) = flat_rows(comparisons_of(two))
    assert row["p_bh"] == row["p_two_sided"]


def comparisons_of(found: Ranking) -> ResultTable:
    return Answer(RANK, RANK.Options(), ranking_of(found)).tables["comparisons"]


def _first_two(made):  # type: ignore[no-untyped-def]  # a table
    return columns_at(made, [0, 1])


def test_too_many_metrics_for_the_swaps_are_named() -> None:
    made, people = scored()
    few = rank_metrics(made, people, options=RANKED.but(n_resamples=19))
    assert any("swaps" in note for note in few.notes)
    many = rank_metrics(made, people, options=RANKED.but(n_resamples=199))
    assert not any("swaps" in note for note in many.notes)


def test_raters_pay_for_their_number() -> None:
    """Twelve raters, one with 16 of 20 on the left: p = .0118 alone, .14 among twelve."""
    raters = {f"r{n}": position_bias(10, 10) for n in range(11)} | {"one": position_bias(16, 4)}
    paid = holm_of_raters(raters)
    assert raters["one"].p == pytest.approx(0.0118, abs=1e-4)
    assert paid["one"] == pytest.approx(12 * 0.011818, abs=1e-4)
    assert holm_of_raters({"one": raters["one"]})["one"] == raters["one"].p


def test_the_interval_of_two_rows_has_no_width_and_says_so() -> None:
    """Two rows always lie on a line: every resample with a correlation has the same one."""
    made = table([(ScoredRow("1", "a"), 0.1), (ScoredRow("2", "b"), 0.5)], ["m"])
    people = ratings(Rating("1", 1.0, "a", None, "r", "q"), Rating("2", 3.0, "b", None, "r", "q"))
    report = correlate_scores(made, people, options=CorrelateOptions(n_resamples=50))
    (row,) = result_json(correlations(report, "items"))
    assert (row["pearson"]["low"], row["pearson"]["high"]) == (1, 1)
    reasons = [row[name]["interval_reason"] for name in ("pearson", "pearson_per_system", "system_accuracy")]
    assert reasons == [NO_WIDTH] * 3
    assert row["pearson"]["over_items"]["reason"] == NO_WIDTH
    (cells,) = flat_rows(
        Answer(CORRELATE, CORRELATE.Options(), correlations(report, "items")).tables["correlations"]
    )
    assert cells["pearson"] == 1
    assert cells["pearson_low"] == cells["pearson_per_system_low"] == cells["system_accuracy_high"] == 1
    said = [
        note
        for note in notes(
            Answer(CORRELATE, CORRELATE.Options(), correlations(report, "items")).tables["correlations"]
        )
        if NO_WIDTH in note
    ]
    assert len(said) == 1
    assert said[0].startswith("Pearson, Spearman, Kendall, Pearson per system, accuracy: ")
