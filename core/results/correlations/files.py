"""Correlations of several files or runs side by side: one table, and one by technique, model and size as in Factual."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.errors import InputError
from core.joining.choices import check_names, column_of
from core.joining.quality import OfFile
from core.joining.tables import AS_USUAL
from core.results.correlations.table import (
    DEFAULT_OPTIONS,
    CorrelationReport,
    MetricCorrelation,
    Resampled,
    correlate_dimensions,
)
from core.schema.analysis import UseOfRatings
from core.schema.correlating import CorrelateOptions
from core.schema.scores import ScoreTable
from core.stats.resampling import Estimate

FILE = "file"
"""Column that names the file or run of a row."""


def correlate_files(
    files: Sequence[OfFile],
    *,
    options: CorrelateOptions = DEFAULT_OPTIONS,
    use: UseOfRatings = AS_USUAL,
    tell: Callable[[str], object] | None = None,
) -> CorrelationReport:
    """Correlate the metrics of each file, joined as if it were the only one; rows have the column `file` first.

    Files need not share a text. Raises InputError as `correlate_dimensions`, naming the file, and for a group `file`.

    Misleads where files hold different texts: their correlations then differ for that reason, too. To compare metrics on
    the same texts, merge the files (`core.joining.tables.merge_tables`) and rank or compare.
    """
    if FILE in options.group:
        raise InputError(f"The column {FILE} names the files already. Group by other columns.")
    reports: dict[str, CorrelationReport] = {}
    for number, one in enumerate(files, start=1):
        told = None if tell is None else _telling(tell, f"file {number} of {len(files)}, ")
        try:
            reports[one.name] = correlate_dimensions(
                one.table, one.ratings, options=options, use=use, tell=told
            )
        except InputError as error:
            raise InputError(f"{one.name}: {error.what}", error.found) from error
    return side_by_side(reports)


def side_by_side(reports: Mapping[str, CorrelationReport]) -> CorrelationReport:
    """Put the reports of several files (name -> report) together; rows have the column `file` first.

    A note that holds for every file stands once, another one with the names of its files.
    """
    notes: dict[str, list[str]] = {}
    for name, report in reports.items():
        for note in dict.fromkeys(report.notes):
            notes.setdefault(note, []).append(name)
    return replace(
        next(iter(reports.values())),
        rows=tuple(
            replace(row, group={FILE: name, **row.group})
            for name, report in reports.items()
            for row in report.rows
        ),
        notes=tuple(
            note if len(names) == len(reports) else f"{', '.join(names)}: {note}"
            for note, names in notes.items()
        ),
    )


def _telling(tell: Callable[[str], object], begin: str) -> Callable[[str], object]:
    return lambda what: tell(begin + what)


@dataclass(frozen=True)
class JudgeByModel:
    """One metric of one file as a technique with a model."""

    technique: str
    model: str
    """Empty if neither the metric's signature nor a column names it."""
    size: float | None
    """Parameters of the model in billions; None: its name does not state them."""
    row: MetricCorrelation

    @property
    def file(self) -> str:
        """The file or run."""
        return self.row.group.get(FILE, "")

    def pearson(self, resampled: Resampled = "rows") -> Estimate | None:
        """Pearson's correlation over all rows, with the interval over rows (as Factual's Table 2) or over items."""
        pooled = self.row.pooled.get("pearson")
        return None if pooled is None else pooled.over_items if resampled == "items" else pooled.over_rows

    @property
    def kendall(self) -> Estimate | None:
        """Kendall's tau-b within each item, averaged over items; the interval resamples items."""
        return self.row.per_item.get("kendall")


def judges_by_model(
    report: CorrelationReport, files: Sequence[OfFile], sizes: Mapping[str, float] | None = None
) -> list[JudgeByModel]:
    """Each row of the report as a technique with a model, in the order of the report.

    The model is named by the metric's signature, as Assay writes it, else by a column of the file such as `model` or
    `fact_extraction_llm` that is the same in all rows (or that the report is grouped by); the technique by the signature's
    family, else by a column `type`, `method` or `technique`, else by the metric's name. sizes: model or file -> billions of
    parameters, where the model's name does not state them (`size_of`). Raises InputError for names in sizes that are neither.
    """
    tables = {one.name: one.table for one in files}
    found = []
    for row in report.rows:
        table = tables[row.group[FILE]]
        parts = dict(part.partition(":")[::2] for part in row.metric.signature.split("|"))
        model = parts.get("model") or _only(table, row, _MODEL_COLUMNS)
        technique = _only(table, row, _TECHNIQUE_COLUMNS) or row.metric.name
        if {"score", "backend"} <= parts.keys():  # as Assay signs its own judges
            model = model or parts["backend"]
            technique = (
                f"{row.metric.family} with NLI" if parts.get("verifier") == "nli" else row.metric.family
            )
        found.append(JudgeByModel(technique, model, size_of(model), row))
    named = dict(sizes or {})
    check_names("model", list(named), dict.fromkeys([*(one.model for one in found if one.model), *tables]))
    return [replace(one, size=named.get(one.model, named.get(one.file, one.size))) for one in found]


_MODEL_COLUMNS = re.compile(r"(.*[_\- ])?(model|llm)", re.IGNORECASE)
_TECHNIQUE_COLUMNS = re.compile("type|method|technique", re.IGNORECASE)


def _only(table: ScoreTable, row: MetricCorrelation, names: re.Pattern[str]) -> str:
    """The value of a column with such a name: the row's group, else the one value that all texts have; empty: none."""
    for name, value in row.group.items():
        if names.fullmatch(name) and name != FILE:
            return value
    labels = dict.fromkeys(label for text in table.rows for label in text.labels)
    for name in labels:
        values = {column_of(text, name) for text in table.rows}
        if names.fullmatch(name) and len(values) == 1:
            return str(next(iter(values)) or "")
    return ""


_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)\s?([bm])(?![A-Za-z0-9])", re.IGNORECASE)
_EXPERTS = re.compile(r"(?<![A-Za-z0-9])\d+x\d", re.IGNORECASE)


def size_of(model: str) -> float | None:
    """Billions of parameters that a model's name states; None if it states none, or a mixture such as 8x7B.

    >>> size_of("Qwen2.5-7B-Instruct"), size_of("gemma3:12b-it-qat"), size_of("SmolLM2-135M"), size_of("gpt-4o-mini")
    (7.0, 12.0, 0.135, None)

    Misleads for mixtures of experts named by all their parameters, such as Qwen3-30B-A3B, which use a tenth of them a token.
    """
    found = None if _EXPERTS.search(model) else _SIZE.search(model)
    if found is None:
        return None
    return float(found[1]) / (1_000 if found[2].lower() == "m" else 1)
