"""Columns of score tables: what a name says about a metric, and names that cannot be taken for anything else."""

from collections.abc import Mapping, Sequence

import regex

from core.datasets.cells import is_undefined, looks_like_number
from core.datasets.open_tables import LABEL_MARK
from core.datasets.ragas_rows import TEXTS as OF_RAGAS
from core.datasets.scorable import COLUMNS as ABOUT_TEXTS
from core.datasets.scorable import NO_LABELS
from core.schema.scores import Direction, Metric

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
UNUSED = ("text", "reference", "question", "context", "source", *NO_LABELS, *OF_RAGAS)
SAID = ("feedback", "explanation", "rationale", "reasoning", "multi_responses", "rubrics")
"""Columns in which judges say why: no labels, however few different texts there are; with numbers they are metrics."""
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
HIGHER_MARK = " (higher is better)"
"""The same for the other end; without a mark the file does not say which end is better."""
STATED = "made elsewhere"
"""The signature of a metric of another program whose direction the file states; empty: it does not state it either."""
RESULT = "result"
"""The metric of 003's published results, whose value may be a judge's whole answer."""

_FROM_FOLDER = "|from:"

NO_FAMILY = "other"
_FAMILIES = (
    ("bertscore", "BERTScore"),
    ("bleurt", "BLEURT"),
    ("bleu", "BLEU"),
    ("sacrebleu", "BLEU"),
    ("chrf", "chrF"),
    ("rouge", "ROUGE"),
    ("meteor", "METEOR"),
    ("xcomet", "COMET"),
    ("comet", "COMET"),
    ("nli", "NLI"),
    ("cef", "CEF"),
    ("rubric", "Rubric"),
    ("claims", "Claims"),
    ("factualcorrectness", "Claims"),
)


def family_of(metric: str) -> str:
    """The family that a metric's name begins with; NO_FAMILY where it is none that Assay computes."""
    name = regex.sub(r"[^a-z]", "", metric.lower())
    if name == "ter":  # other names begin with it too
        return "TER"
    return next((family for start, family in _FAMILIES if name.startswith(start)), NO_FAMILY)


def signature_from_folder(stem: str, folder: str) -> str:
    """The signature of a metric out of a folder of scores, whose files say no direction."""
    return f"{stem}{_FROM_FOLDER}{folder}"


def direction_is_stated(metric: Metric) -> bool:
    """Whether a metric's direction is known, and not but assumed because its scores came without one."""
    return metric.signature != "" and _FROM_FOLDER not in metric.signature


def label_column(label: str, values: Sequence[str], taken: frozenset[str], *, wide: bool) -> str:
    """The column's name for a label: marked where the name or, in the wide form, a value could mean something else.

    taken: names that mean something else, in lower case.
    """
    plain = label.lower()
    unclear = (
        wide
        and plain not in LABELS
        and any(is_undefined(value) or looks_like_number(value) for value in values)
    )
    marked = unclear or plain in {*taken, RESULT} or plain.startswith((LABEL_MARK, METRIC_MARK))
    return f"{LABEL_MARK}{label}" if marked else label


def metric_column(metric: Metric, clear: bool, taken: frozenset[str]) -> str:
    """The wide column's name for a metric. clear: its values show that it is one."""
    name, plain = metric.name, metric.name.lower()
    marked = not clear or plain in taken or plain.startswith((LABEL_MARK, METRIC_MARK))
    end = ""
    if metric.direction == "lower":
        end = LOWER_MARK
    elif metric.signature == STATED or name.endswith((LOWER_MARK, HIGHER_MARK)):
        end = HIGHER_MARK
    return f"{METRIC_MARK if marked else ''}{name}{end}"


def wide_metric(column: str) -> tuple[str, Direction | None]:
    """A wide column's metric, and which end of it is better; None: the column does not say."""
    name = column.removeprefix(METRIC_MARK)
    ends: tuple[tuple[str, Direction], ...] = ((LOWER_MARK, "lower"), (HIGHER_MARK, "higher"))
    for mark, direction in ends:
        if name.endswith(mark):
            return name.removesuffix(mark), direction
    return name, None


def metric_made_elsewhere(name: str, direction: Direction | None, family: str = "") -> Metric:
    """A metric of which no signature is known. direction: as the file states it; None: it does not."""
    return Metric(name, STATED if direction else "", family or family_of(name), direction or "higher")
