"""Columns of score tables: what a name says about a metric, and names that cannot be taken for anything else."""

from collections.abc import Mapping, Sequence

import regex

from core.datasets.cells import number_in
from core.datasets.open_tables import LABEL_MARK
from core.datasets.scorable import COLUMNS as ABOUT_TEXTS
from core.datasets.scorable import NO_LABELS

COLUMNS: Mapping[str, Sequence[str]] = {
    **ABOUT_TEXTS,
    "metric": ("metric", "metric_name"),
    "score": ("score", "value"),
    "family": ("family",),
    "direction": ("direction",),
    "signature": ("signature",),
}
"""Our name -> the names that a file may use. The texts themselves may stand in a table of scores; they are not read."""
ABOUT = frozenset(ABOUT_TEXTS)
"""Columns that say in either form whose score it is, or hold the texts."""
OF_METRIC = ("metric", "score", "reason", "family", "direction", "signature")
"""Columns of the long form alone."""
UNUSED = ("text", "reference", "question", "context", "source", *NO_LABELS)
LABELS = frozenset(
    [
        "dataset",
        "data_set",
        "generator",
        "model",
        "llm",
        "shots",
        "prompt",
        "domain",
        "doc",
        "document",
        "doc_id",
        "document_id",
        "seed",
        "run",
        "fold",
        "split",
        "year",
        "type",
        "task",
        "rater",
        "annotator",
        "variant",
        "temperature",
    ]
)
"""Columns that are labels in the wide form although they may hold numbers."""
INDEX_COLUMNS = frozenset({"index", "unnamed: 0", "__index_level_0__"})
"""What pandas writes."""
METRIC_MARK = "metric:"
"""In front of a wide column's name: it is a metric, whatever it looks like."""
LOWER_MARK = " (lower is better)"
"""Behind a wide column's name: the wide form has no other place to say it."""
RESULT = "result"
"""The metric of 003's published results, whose value may be a judge's whole answer."""

_FAMILIES = (
    ("bertscore", "BERTScore"),
    ("bleurt", "BLEURT"),
    ("bleu", "BLEU"),
    ("sacrebleu", "BLEU"),
    ("chrf", "chrF"),
    ("rouge", "ROUGE"),
    ("meteor", "METEOR"),
    ("xcomet", "COMET"),
    ("cometkiwi", "COMET"),
    ("comet", "COMET"),
    ("nli", "NLI"),
)
_LEVEL = regex.compile(r"(?:A|L|level)?[ _-]?(?P<number>\d+(?:\.\d+)?)", regex.IGNORECASE)


def level_number(level: str | None) -> float | None:
    """How much was damaged: 0 for A0, L0 or 0, 3 for A3 or 3; higher is worse. None: the name tells no number."""
    found = (
        _LEVEL.fullmatch(level.strip()) if level is not None and len(level) < 20 and level.isascii() else None
    )
    return float(found["number"]) if found else None


def family_of(metric: str) -> str:
    """The family that a metric's name begins with; `other` where it is none that Assay computes."""
    name = regex.sub(r"[^a-z]", "", metric.lower())
    return next((family for start, family in _FAMILIES if name.startswith(start)), "other")


def label_column(label: str, values: Sequence[str], taken: frozenset[str], *, wide: bool) -> str:
    """The column's name for a label: marked where the name or, in the wide form, a number could mean something else.

    taken: names that mean something else, in lower case.
    """
    plain = label.lower()
    unclear = wide and plain not in LABELS and any(number_in(value) is not None for value in values)
    marked = unclear or plain in {*taken, RESULT} or plain.startswith((LABEL_MARK, METRIC_MARK))
    return f"{LABEL_MARK}{label}" if marked else label


def metric_column(metric: str, lower: bool, clear: bool, taken: frozenset[str]) -> str:
    """The wide column's name for a metric. clear: its values show that it is one."""
    plain = metric.lower()
    marked = not clear or plain in taken or plain.startswith((LABEL_MARK, METRIC_MARK))
    return f"{METRIC_MARK if marked else ''}{metric}{LOWER_MARK if lower else ''}"


def wide_metric(column: str) -> tuple[str, bool]:
    """A wide column's metric, and whether its lower end is better."""
    name = column.removeprefix(METRIC_MARK)
    return name.removesuffix(LOWER_MARK), name.endswith(LOWER_MARK)
