"""Meta-Judge: Table 1 from its Tables 4 to 7, and two human columns of these from the correlation files of its project."""

from collections.abc import Iterator

import numpy as np

from core.formats.correlations import published_side, read_correlations, rows_as_printed
from core.metrics.registry import canonical_name
from core.papers.declared import NumberRow, Paper, Part, ReproduceOptions, Sources
from core.papers.published import RECOMPUTED_TABLE, RecomputedCell, recompute_table_1
from core.stats.correlation.coefficients import row_coefficients

_HUMAN_FILES = {
    "5": ("cus-qa-uk", "qa_text-UA_dev_orig_binary_hf_corrs.json"),
    "7": ("wmt24-en-is", "wmt_2024_en-is_hf_corrs.json"),
}
"""Table -> data set, and the file with its correlations with people."""
_ROUNDED_BEFORE = 0.5e-4
"""The paper rounds to four places and then to three: .57746 is printed as .578."""
_N_DRAWS = 1000
"""Draws of columns that are printed alike."""


def _table_1(_sources: Sources, options: ReproduceOptions) -> Iterator[NumberRow]:
    """Spearman between a data set's human column and a generator's column (equation 3)."""
    printed = {(one["generator"], one["shots"]): one for one in rows_as_printed(RECOMPUTED_TABLE)}
    for one in recompute_table_1():
        yield _TABLE_1.number(
            f"{one.generator} {one.shots}",
            one.dataset,
            one.recomputed,
            printed[one.generator, one.shots][one.dataset],
            ends=_unrounded_ends(one, options.rng),
        )


def _unrounded_ends(cell: RecomputedCell, rng: int) -> tuple[float, float]:
    """The lowest and the highest meta-correlation of draws of unrounded columns that would be printed as they are."""
    sides = [
        published_side(f"published:{cell.dataset}{end}").values
        for end in ("", f":{cell.generator}:{cell.shots}")
    ]
    columns = np.array([[one[metric]["spearman"] for metric in sides[0]] for one in sides], dtype=np.float64)
    columns = columns[:, ~np.isnan(columns).any(axis=0)]
    half = np.random.default_rng(rng).uniform(-0.0005, 0.0005, (_N_DRAWS, *columns.shape))
    drawn = row_coefficients(columns[0] + half[:, 0], columns[1] + half[:, 1], "spearman")
    return float(drawn.min()), float(drawn.max())


def _human_column(part: Part, dataset: str, file: str, sources: Sources) -> Iterator[NumberRow]:
    """The file's correlations, read under the names of the printed metrics."""
    if not sources.has(file):
        return
    read = read_correlations(sources.read(file), file, synthetic=False)
    values = {canonical_name(name) or name: own["spearman"] for name, own in read.values.items()}
    printed = {
        one["metric"]: one for one in rows_as_printed(f"meta-judge-{part.table}") if one["dataset"] == dataset
    }
    for metric in published_side(f"published:{dataset}").values:
        value = values[metric]
        yield part.number(
            metric,
            f"{dataset}, human",
            value,
            printed[metric]["human"].replace("nan", ""),
            ends=None if value is None else (value - _ROUNDED_BEFORE, value + _ROUNDED_BEFORE),
            note=printed[metric]["error"],
        )


def _table_5(sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    yield from _human_column(_TABLE_5, *_HUMAN_FILES["5"], sources)


def _table_7(sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    yield from _human_column(_TABLE_7, *_HUMAN_FILES["7"], sources)


_OF_PROJECT = "published by the project of the paper"
_TABLE_1 = Part(
    "1", "meta-correlation by data set, generator and shots (Spearman)", "Tables 4 to 7 as printed", _table_1
)
_TABLE_5 = Part(
    "5",
    "correlations per metric, CUS-QA Slovak and Ukrainian",
    "the project's file of Ukrainian originals with people",
    _table_5,
    (_HUMAN_FILES["5"][1],),
    _OF_PROJECT,
)
_TABLE_7 = Part(
    "7",
    "correlations per metric, WMT 2024",
    "the project's file of English to Icelandic with people",
    _table_7,
    (_HUMAN_FILES["7"][1],),
    _OF_PROJECT,
)
_NO_CORRELATIONS = (
    "its project publishes no correlations of these data sets that the printed ones were made from"
)
PAPER = Paper(
    "meta-judge",
    "Eigler, Libovický and Hurych, LLM as a Meta-Judge",
    (
        _TABLE_1,
        Part(
            "2",
            "meta-correlation over five wordings",
            where="the correlations for each wording are not published",
        ),
        Part(
            "3", "meta-correlation (Kendall)", where="Kendall correlations of the metrics are not published"
        ),
        Part("4", "correlations per metric, CUS-QA Czech", where=_NO_CORRELATIONS),
        _TABLE_5,
        Part("6", "correlations per metric, MOCHA, RoSE and WMT 2021", where=_NO_CORRELATIONS),
        _TABLE_7,
    ),
)
