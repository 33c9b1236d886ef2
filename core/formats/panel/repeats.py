"""Repeated ratings of a text by one rater: refused, or one of them counts, by the user's word."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.errors import InputError, Problems, counted
from core.formats.scores import LABELS
from core.schema.analysis import REFUSE, RepeatedRatings
from core.tables.columns import LABEL_MARK, LABEL_PAIR, MOST_REPEATED, Record
from core.tables.problems import FileFindings
from core.tables.reading import is_undefined, labels_of, number_in, shown

_PARTS = ("item_id", "system", "level", "language", LABEL_PAIR, "dimension")
_COUNTS: Mapping[RepeatedRatings, str] = {
    "first": "the first of each counts",
    "last": "the last of each counts",
    "mean": "their mean counts",
}


class Repeated(InputError):
    """A table in which a rater rated a text more than once, or in which nothing tells the texts apart."""


def check_in_table(policy: RepeatedRatings, name: str) -> None:
    """Raise InputError if a policy is chosen for an input that is no table, whose ratings never repeat."""
    if policy != REFUSE:
        raise InputError(
            f"{shown(name)} is no table",
            ["repeated: its format allows one rating of a text by a rater; leave it out"],
        )


def check_rows_repeat_nothing(policy: RepeatedRatings, name: str) -> None:
    """Raise InputError if a policy is chosen where the user says that each row is a text of its own."""
    if policy != REFUSE:
        raise InputError(
            f"{shown(name)}: item says that each row is a text of its own",
            ["repeated: no rating repeats another where each row is a text; leave it out"],
        )


def one_rating_each(
    about: Sequence[Record],
    rated: Sequence[Record],
    columns: Sequence[str],
    whose: Sequence[str],
    policy: RepeatedRatings,
    findings: FileFindings,
    *,
    by_text: bool,
) -> tuple[list[Record], list[Record]]:
    """The rows without those that repeat the item, system, level, language and rater of an earlier one.

    about: what names each row's text, with Assay's names; rated: the same rows with the columns of ratings and scores. whose: the
    raters of a row, for the message. policy: which rating counts; all others are counted in a note. by_text: whether rows that
    differ in their text are different texts of one item. Raises Repeated if the policy refuses repeats, and InputError for the
    mean of words.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for at, key in enumerate(_keys(about, whose, by_text=by_text)):
        groups.setdefault(key, []).append(at)
    n_more = len(about) - len(groups)
    if not n_more:
        return [*about], [*rated]
    if policy == REFUSE:
        _refuse(about, groups, whose, findings)
    findings.notes.append(
        f"{counted(n_more, 'rating')} of a text by a rater who had rated it before: {_COUNTS[policy]}"
    )
    chosen = [same[-1] if policy == "last" else same[0] for same in groups.values()]
    kept = [rated[at] for at in chosen]
    if policy == "mean":
        kept = [_mean(rated, same, columns, findings) for same in groups.values()]
    return [about[at] for at in chosen], kept


def _keys(records: Sequence[Record], whose: Sequence[str], *, by_text: bool) -> list[tuple[object, ...]]:
    """What is the same in rows that repeat a rating: the parts that name a text, who rated it, and known labels."""
    there = dict.fromkeys(key for record in records for key in record.cells)
    labels = [name for name in there if name.removeprefix(LABEL_MARK).lower() in LABELS]
    parts = [
        labels_of([record.cells.get(name) for record in records]) if name in there else [None] * len(records)
        for name in _PARTS
    ]
    further = [[repr(record.cells.get(name)) for record in records] for name in labels]
    if by_text and "text" in there:
        further.append([repr(record.cells.get("text")) for record in records])
    return list(zip(*parts, whose, *further, strict=True))


def _refuse(
    records: Sequence[Record],
    groups: Mapping[tuple[object, ...], Sequence[int]],
    whose: Sequence[str],
    findings: FileFindings,
) -> None:
    repeats = sorted((at, same[0], key) for key, same in groups.items() for at in same[1:])
    problems = Problems()
    for at, before, key in repeats[:MOST_REPEATED]:
        named = [f"item {shown(str(key[0]))}"]
        named += [
            f"{name} {shown(str(part))}"
            for name, part in zip(("system", "level"), key[1:3], strict=True)
            if part
        ]
        problems.append(
            f"{records[at].where}: {', '.join(named)}: {whose[at]} rated it in {records[before].where} already"
        )
    if len(repeats) > MOST_REPEATED:
        problems.append(f"file: {len(repeats) - MOST_REPEATED:,} more rows repeat an earlier rating")
    n = len(repeats)
    problems.append(
        f"repeated: {counted(n, 'rating')} {'repeats' if n == 1 else 'repeat'} an earlier one; first, last or mean says which counts"
    )
    raise Repeated(
        f"{shown(findings.file_name)}: a rater may rate a text only once. Leave out the repeated rows, name the column that tells "
        "the texts apart, or say which rating counts",
        [*findings.problems, *problems],
    )


def _mean(
    rated: Sequence[Record], same: Sequence[int], columns: Sequence[str], findings: FileFindings
) -> Record:
    """The first of the rows, with the mean of all in each column of ratings or scores."""
    first = rated[same[0]]
    if len(same) == 1:
        return first
    means: dict[str, object] = {}
    for column in columns:
        filled = [cell for at in same if not is_undefined(cell := rated[at].cells.get(column))]
        numbers = [number for cell in filled if (number := number_in(cell)) is not None]
        if len(numbers) < len(filled):
            raise InputError(
                f"{shown(findings.file_name)}: the mean of words is not known",
                [f"repeated: column {shown(column)} has words in {first.where}; choose first or last"],
            )
        means[column] = sum(numbers) / len(numbers) if numbers else None
    return replace(first, cells={**first.cells, **means})
