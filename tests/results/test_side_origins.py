"""In what the texts of two sides differ, and what is unknown, from published columns, rows of scores and files."""

import json

import pytest
from helpers.texts.score_factories import ladder, ratings, table

from core.analyses.meta_correlate import ANALYSIS, MetaCorrelateOptions, meta_row, result_of_pair
from core.formats.correlations import published_side, read_correlations, write_correlations
from core.joining.origins import TRANSLATION, origin_of
from core.results.correlations.table import correlate_scores, correlation_rows
from core.results.meta_correlation import LiveSide, meta_correlate, meta_matrix
from core.results.side_origins import SideOrigins
from core.schema.rows import json_of
from core.schema.scores import UNKNOWN_ORIGIN, CorrelationSet, Rating, ScoredRow, TextOrigin
from core.tables.columns import ONLY_SYSTEM

METRICS = ("a", "b", "c")
LADDERS = {"i": [[3, 1, 2], [2, 2, 1], [1, 3, 0]], "j": [[4, 2, 5], [1, 1, 3], [2, 0, 1]]}
VALUES = {name: {"spearman": 0.1 * place} for place, name in enumerate(METRICS)}


def origins(human: TextOrigin, synthetic: TextOrigin, **more: bool) -> SideOrigins:
    return SideOrigins("h", "s", human, synthetic, **more)


def scores(dataset: str, language: str = "und", system: str = "s") -> LiveSide:
    rows = [
        (ScoredRow(row.item_id, system, row.level, language, row.labels), own)
        for row, own in ladder(LADDERS, dataset=dataset)
    ]
    return LiveSide(dataset, table(rows, METRICS))


def test_published_columns_differ_in_what_their_tables_are_about() -> None:
    found = meta_correlate(
        published_side("published:cus-qa-cs-en"),
        published_side("published:wmt21-xh-zu:qwen-3-30b:zero"),
        n_resamples=10,
    )
    made = json_of(meta_row(found))
    assert made["differences"] == ["dataset", "task", "language"]
    assert made["not_compared"] == ["systems"]
    assert made["texts"]["synthetic"] == {
        "datasets": ["wmt21-xh-zu"],
        "tasks": ["translation"],
        "languages": ["xh-zu"],
        "systems": ["qwen-3-30b"],
    }
    result = result_of_pair(found, MetaCorrelateOptions())
    first = ANALYSIS.verdicts(result)[0].sentence
    assert first.startswith(found.origins.difference_said)
    assert all(name in first for name in ("English question answering", "Xhosa-Zulu translation"))


def test_columns_of_one_data_set_do_not_differ() -> None:
    sides = (published_side(f"published:rose{of}") for of in ("", ":qwen-3-30b:few"))
    assert json_of(meta_row(meta_correlate(*sides, n_resamples=10)))["differences"] == []


def test_rows_of_scores_say_their_data_set_language_and_systems() -> None:
    rows = (
        ScoredRow("1", "x", "0", "de", {"language_pair": "en-de", "dataset": "wmt"}),
        ScoredRow("2", "y", "0", "de", {"language_pair": "en-de"}),
    )
    assert origin_of(rows) == TextOrigin(("wmt",), (TRANSLATION,), ("en-de",), ("x", "y"))
    assert origin_of((ScoredRow("1", "x"),)) == TextOrigin(systems=("x",))
    assert origin_of((ScoredRow("1", "x", language="cs", labels={"task": "qa"}),)).tasks == ("qa",)


def test_live_scores_beside_a_published_column() -> None:
    made = json_of(
        meta_row(
            meta_correlate(CorrelationSet("h", VALUES, texts=TextOrigin(("d",))), scores("e"), n_resamples=10)
        )
    )
    assert made["differences"] == ["dataset"]
    assert made["not_compared"] == ["task", "language", "systems"]


def test_a_file_of_correlations_keeps_what_its_rows_say() -> None:
    side = scores("d", "cs")
    report = correlate_scores(side.table, None)
    rows = json.dumps(correlation_rows(report)).encode()
    read = read_correlations(rows, "r.json", synthetic=True)
    assert read.texts == TextOrigin(("d",), (), ("cs",), ("s",))
    assert read_correlations(write_correlations(read), "w.json", synthetic=True).texts == read.texts
    others = (
        b'{"a": {"spearman": 0.1}}',
        b'[{"group": {"metric": "a"}, "against": "human", "pearson": 1, "texts": {"tasks": 5}}]',
    )
    assert {read_correlations(one, "o.json", synthetic=True).texts for one in others} == {UNKNOWN_ORIGIN}


@pytest.mark.parametrize(
    ("human", "synthetic", "differ"),
    [
        (("cs",), ("CS",), False),
        (("en-cs",), ("cs",), False),
        (("en-cs",), ("de-cs",), True),
        (("en",), ("en", "ja"), True),
    ],
)
def test_a_language_may_be_the_target_of_a_pair(
    human: tuple[str, ...], synthetic: tuple[str, ...], differ: bool
) -> None:
    found = origins(TextOrigin(languages=human), TextOrigin(languages=synthetic))
    assert found.differences == (("language",) if differ else ())
    assert bool(found.difference_said) == differ


def test_unknown_is_neither_equal_nor_different() -> None:
    found = origins(UNKNOWN_ORIGIN, UNKNOWN_ORIGIN)
    assert (found.differences, found.not_compared) == ((), ("dataset", "task", "language", "systems"))
    assert found.difference_said == ""
    assert all(name in found.unknown_said for name in (" of h", " of s"))


def test_the_same_items_are_of_one_data_set() -> None:
    side = scores("")
    people = ratings(
        *(Rating(row.item_id, 3.0 - int(row.level or 0), "s", row.level) for row in side.table.rows)
    )
    human = LiveSide("people", side.table, people)
    assert "dataset" not in json_of(meta_row(meta_correlate(human, side, n_resamples=10)))["not_compared"]
    assert origins(UNKNOWN_ORIGIN, UNKNOWN_ORIGIN, same_items=True).not_compared == (
        "task",
        "language",
        "systems",
    )


def test_other_systems_are_named() -> None:
    found = origins(TextOrigin(systems=("x",)), TextOrigin(systems=("damage",)))
    assert found.differences == ("systems",)
    assert all(name in found.difference_said for name in ("x", "damage"))


def test_a_matrix_counts_its_cells_of_unlike_sides() -> None:
    human = CorrelationSet("h", VALUES, texts=TextOrigin(("d",)))
    found = meta_matrix({"": human}, scores("e").table, by=["dataset"], n_resamples=10)
    assert "1 of 1" in found.sides_said[0]
    assert meta_matrix({"": human}, scores("d").table, by=["dataset"], n_resamples=10).sides_said == ()


def test_a_table_without_systems_has_unknown_ones() -> None:
    rows = (ScoredRow("1", ONLY_SYSTEM), ScoredRow("2", ONLY_SYSTEM))
    assert origin_of(rows).systems == ()
    both = origins(TextOrigin(systems=("a",)), origin_of(rows))
    assert both.differences == ()
    assert "systems" in both.not_compared


def test_languages_beyond_the_first_are_counted_as_languages() -> None:
    def said(n: int) -> str:
        return origins(
            TextOrigin(languages=("en", "de", "ja", "fr", "es")[:n]), TextOrigin(languages=("cs",))
        ).difference_said

    assert "text in English, German, Japanese and one more language," in said(4)
    assert "2 more languages" in said(5)
