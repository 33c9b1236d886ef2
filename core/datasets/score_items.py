"""Rows of one item that say less than the others: a blank language or data set is the one its item has elsewhere."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from core.datasets.findings import FileFindings
from core.datasets.reading import shown
from core.datasets.score_sheet import row_key
from core.schema.scores import ScoredRow

DATASET_LABELS = ("dataset", "data_set")
UNKNOWN_LANGUAGE = "und"
_MOST_ITEMS = 3


@dataclass(frozen=True)
class _Part:
    """What a row may leave blank."""

    name: str
    value: Callable[[ScoredRow], str | None]
    """None: blank."""
    item: Callable[[ScoredRow], Hashable]
    """Which rows belong together when it is left out."""
    with_value: Callable[[ScoredRow, str], ScoredRow]


_LANGUAGE = _Part(
    "language",
    lambda row: None if row.language == UNKNOWN_LANGUAGE else row.language,
    lambda row: (row.item_id, tuple(sorted(row.labels.items()))),
    lambda row, value: replace(row, language=value),
)


def fill_blanks(
    rows: Sequence[ScoredRow | None], metrics: Sequence[Hashable], findings: FileFindings
) -> list[ScoredRow | None]:
    """The rows with the data set and the language that other rows of their item name, if these name only one.

    metrics: whose score each row holds, in the long form. An item whose rows contradict each other, or would stand
    twice, is left as it is and noted.
    """
    found = list(rows)
    labels = dict.fromkeys(name for row in rows if row is not None for name in row.labels)
    for part in (*(_label(name) for name in labels if name.lower() in DATASET_LABELS), _LANGUAGE):
        _fill(found, metrics, part, findings)
    return found


def _label(name: str) -> _Part:
    return _Part(
        name,
        lambda row: row.labels.get(name) or None,
        lambda row: row.item_id,
        lambda row, value: replace(row, labels={**row.labels, name: value}),
    )


def _fill(
    rows: list[ScoredRow | None], metrics: Sequence[Hashable], part: _Part, findings: FileFindings
) -> None:
    named = _named(rows, part)
    blank = [
        (at, row)
        for at, row in enumerate(rows)
        if named and row is not None and part.value(row) is None and part.item(row) in named
    ]
    if not blank:
        return
    taken = {(row_key(row), metrics[at]) for at, row in enumerate(rows) if row is not None}
    filled = [(at, row, part.with_value(row, min(named[part.item(row)]))) for at, row in blank]
    several = {part.item(row): row.item_id for _, row in blank if len(named[part.item(row)]) > 1}
    twice = {part.item(row): row.item_id for at, row, new in filled if (row_key(new), metrics[at]) in taken}
    kept = {**twice, **several}
    put = [(at, new) for at, row, new in filled if part.item(row) not in kept]
    for at, new in put:
        rows[at] = new
    if put:
        rows_said = "1 row names" if len(put) == 1 else f"{len(put)} rows name"
        findings.notes.append(f"{rows_said} no {part.name}: taken from the other rows of the item")
    _note_left(several.values(), part.name, "and the others name several", findings)
    _note_left(
        (twice[item] for item in twice.keys() - several.keys()),
        part.name,
        "and would stand twice with it",
        findings,
    )


def _named(rows: Sequence[ScoredRow | None], part: _Part) -> dict[Hashable, set[str]]:
    """What the rows of each item name; nothing where no row is blank, as in most files."""
    there = [row for row in rows if row is not None]
    found: dict[Hashable, set[str]] = {}
    if all(part.value(row) is not None for row in there):
        return found
    for row in there:
        if (value := part.value(row)) is not None:
            found.setdefault(part.item(row), set()).add(value)
    return found


def _note_left(items: Iterable[str], name: str, why: str, findings: FileFindings) -> None:
    """One note for items whose blank rows could not be filled."""
    listed = sorted(set(items))
    if listed:
        more = f" and {len(listed) - _MOST_ITEMS} more" if len(listed) > _MOST_ITEMS else ""
        findings.notes.append(
            f"rows of item {', '.join(map(shown, listed[:_MOST_ITEMS]))}{more} name no {name} {why}: "
            "they are taken as items of their own"
        )
