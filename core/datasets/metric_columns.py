"""Which columns of a wide score table are metrics: what its cells hold, unless its name says it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from core.datasets.cells import is_undefined, label_of, looks_like_number
from core.datasets.findings import FileFindings
from core.datasets.nearest import MOST_LISTED
from core.datasets.open_tables import LABEL_MARK, Record
from core.datasets.reading import name_of, name_problem, shown
from core.datasets.score_columns import (
    ABOUT,
    INDEX_COLUMNS,
    LABELS,
    METRIC_MARK,
    NO_FAMILY,
    RESULT,
    SAID,
    UNUSED,
    family_of,
    wide_metric,
)

_MOST_PLACES = 3
_EMPTY = "no value in it"


@dataclass
class WideColumns:
    """The columns of a wide table that do not say whose score it is."""

    metrics: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """Labels, as far as their cells can be."""
    why_no_metric: dict[str, str] = field(default_factory=dict)
    """Column -> why it is no metric."""

    def looked_at(self) -> str:
        """The end of a sentence that says that there is no metric."""
        said = [f"{shown(key)} ({why})" for key, why in self.why_no_metric.items()]
        more = f" and {len(said) - MOST_LISTED:,} more" if len(said) > MOST_LISTED else ""
        return "; columns looked at: " + (", ".join(said[:MOST_LISTED]) or "none") + more


def may_be_metric(key: str) -> bool:
    """Whether a column's name leaves it to its cells that it is a metric, or says so."""
    return key not in ABOUT and not _by_name(key)


def wide_columns(
    keys: Sequence[str], numbers: Collection[str], records: Sequence[Record], findings: FileFindings
) -> WideColumns:
    """Metrics are columns of numbers that are no known name or label. numbers: those that hold nothing else.

    Most of what stands in one must be numbers. Numbers in some cells and words in as many others are a problem: a
    label by mistake would tear the table apart, and a metric would be gone.
    """
    found = WideColumns()
    for key in keys:
        if key in ABOUT:
            continue
        why = "" if key in numbers else _by_name(key)
        if why is None:
            why = _by_cells(key, records, findings)
        if why == "":
            found.metrics.append(key)
            continue
        found.why_no_metric[key] = why
        if why != _EMPTY:
            found.others.append(key)
    return found


def _by_name(key: str) -> str | None:
    """Why a column is no metric; empty: it is one; None: its name does not tell."""
    plain, name = key.lower(), wide_metric(key)[0]
    if name_of(name) != name:
        return f"its name {name_problem(name)}" if name_of(name) is None else "its name has blanks around it"
    if key.startswith(METRIC_MARK) or plain == RESULT:
        return ""
    if key.startswith(LABEL_MARK):
        return "a label"
    if key in UNUSED or plain in INDEX_COLUMNS:
        return "not used"
    return f"a label by its name, unless it is called {METRIC_MARK}{key}" if plain in LABELS else None


def _by_cells(key: str, records: Sequence[Record], findings: FileFindings) -> str:
    """The same by what a column holds. Cells like 1,5 count as numbers, so that each of them becomes a problem."""
    held = [record for record in records if not is_undefined(record.cells.get(key))]
    words = [record for record in held if not looks_like_number(record.cells[key])]
    if not held:
        findings.notes.append(f"column {shown(key)} is not used: {_EMPTY}")
        return _EMPTY
    if 2 * len(words) < len(held):
        return ""
    if key in SAID:
        return "not used"
    if len(words) == len(held):
        if family_of(key) != NO_FAMILY:
            findings.notes.append(f"column {shown(key)} holds no number: it is taken as a label")
        return "no number in it"
    if all(label_of(record.cells[key]) is not None for record in words):
        places = ", ".join(f"{one.where}: {shown(str(one.cells[key]))}" for one in words[:_MOST_PLACES])
        more = f" and {len(words) - _MOST_PLACES} more" if len(words) > _MOST_PLACES else ""
        findings.problems.append(
            f"file: column {shown(key)} holds numbers in {len(held) - len(words)} cells and words in {len(words)} "
            f"({places}{more}): call it {METRIC_MARK}{shown(key)} if it is a metric, {LABEL_MARK}{shown(key)} if not"
        )
    return "more words than numbers in it"
