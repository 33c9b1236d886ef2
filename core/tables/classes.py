"""Words that are classes with an order, such as fail and pass: read as numbers, and said so."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from core.tables.cells import is_undefined
from core.tables.columns import Record
from core.tables.problems import FileFindings
from core.tables.reading import shown

SCALES: tuple[tuple[int, tuple[tuple[str, ...], ...]], ...] = (
    (0, (("fail", "failed"), ("pass", "passed"))),
    (0, (("no",), ("yes",))),
    (0, (("false",), ("true",))),
    (0, (("incorrect", "wrong"), ("correct", "right"))),
    (0, (("unsupported", "not supported"), ("supported",))),
    (0, (("unfaithful",), ("faithful",))),
    (0, (("bad",), ("good",))),
    (1, (("low",), ("medium",), ("high",))),
    (1, (("poor",), ("fair",), ("good",), ("excellent",))),
    (1, (("poor",), ("fair", "average"), ("good",), ("very good",), ("excellent",))),
    (1, (("very poor",), ("poor",), ("fair", "average"), ("good",), ("very good",))),
    (1, (("very bad",), ("bad",), ("neutral", "average"), ("good",), ("very good",))),
    (1, (("never",), ("rarely",), ("sometimes",), ("often",), ("always",))),
    (
        1,
        (
            ("strongly disagree",),
            ("disagree",),
            ("neutral", "neither agree nor disagree", "undecided"),
            ("agree",),
            ("strongly agree",),
        ),
    ),
    (
        1,
        (
            ("very dissatisfied",),
            ("dissatisfied",),
            ("neutral", "neither satisfied nor dissatisfied"),
            ("satisfied",),
            ("very satisfied",),
        ),
    ),
)
"""The number of the first class, and the classes from the worst to the best, each in the words that stand for it."""


def classes_of(words: Iterable[object]) -> dict[str, int] | None:
    """Word as it is written -> its number, where all are classes of one scale; None where they are not."""
    plain: dict[object, str] = {}
    for word in words:
        if not isinstance(word, str | bool):
            return None
        plain[word] = _plain(word)
    if not plain:
        return None
    for first, classes in SCALES:
        number = {word: first + at for at, names in enumerate(classes) for word in names}
        if all(word in number for word in plain.values()):
            return {str(word): number[name] for word, name in plain.items()}
    return None


def class_columns(records: Sequence[Record], keys: Collection[str]) -> dict[str, dict[str, int]]:
    """Columns among `keys` in which everything that is said is a class of one scale, with their classes."""
    found = {}
    for key in keys:
        said = (record.cells.get(key) for record in records)
        classes = classes_of(value for value in said if not is_undefined(value))
        if classes is not None:
            found[key] = classes
    return found


def with_classes(
    records: Sequence[Record], columns: Mapping[str, Mapping[str, int]], findings: FileFindings
) -> list[Record]:
    """The records with the numbers of their classes; which number stands for which word is noted."""
    for key, classes in columns.items():
        pairs = sorted(
            {_plain(word): number for word, number in classes.items()}.items(), key=lambda one: one[1]
        )
        findings.notes.append(
            f"column {shown(key)}: words are read as classes, {', '.join(f'{word} = {n}' for word, n in pairs)}"
        )
    return [
        replace(
            record,
            cells={
                key: columns[key].get(str(value), value)
                if key in columns and not is_undefined(value)
                else value
                for key, value in record.cells.items()
            },
        )
        for record in records
    ]


def _plain(word: str | bool) -> str:
    return " ".join(str(word).casefold().replace("_", " ").replace("-", " ").split())
