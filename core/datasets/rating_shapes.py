"""Ratings that do not stand one a row: nested in a field of a record, or in one column a dimension.

A block of ratings, as JSON has it, is one of

    {"fluency": 4, "coherence": 3}                            dimensions, each a number, a list, or {"score": 4}
    {"rater1": {"fluency": 4}, "rater2": {"fluency": 5}}      raters, known by their names
    [{"fluency": 4}, {"rater": "B", "fluency": 5}]            an object a rater, who may be named
    [4, 5]                                                    numbers of unnamed raters

where names do not tell raters from dimensions, the block is refused.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import regex

from core.datasets.cells import is_undefined, looks_like_number, number_in
from core.datasets.findings import FileFindings
from core.datasets.nearest import listed
from core.datasets.open_tables import LABEL_MARK, Record
from core.datasets.reading import JsonObject, duplicate_problems, name_of, shown, type_name
from core.datasets.score_columns import INDEX_COLUMNS, LABELS, METRIC_MARK, NO_FAMILY, family_of
from core.errors import Problems

OVERALL = "overall"
"""The dimension of ratings that name none."""
RATER_NAMES = (
    *(
        "rater",
        "rater_id",
        "annotator",
        "annotator_id",
        "worker",
        "worker_id",
        "user",
        "user_id",
        "evaluator",
    ),
    *("name", "id"),
)
"""Keys that name the rater in an object of ratings."""
AS_LIST = 'write a list with an object a rater: [{"rater": "A", "fluency": 4}]'

_FIELD = regex.compile(
    r"(?!.*metric)(?:.*(?:ratings|annotations|judge?ments|evaluations|scores)|human)", regex.IGNORECASE
)
_RATER = regex.compile(
    r"(?:rater|annotator|worker|expert|evaluator|judge|user|turker|human|reviewer|coder)s?[ _-]?(?:\d+|[a-z])?|[ra]\d+|A[0-9A-Z]{9,}",
    regex.IGNORECASE,
)
_IDENTIFIER = regex.compile(r"(?:.*[ _-])?id", regex.IGNORECASE)


class Unclear(ValueError):
    """A block whose names do not tell raters from dimensions."""


@dataclass(frozen=True)
class Said:
    """One score as it is written."""

    who: str | None
    dimension: str
    value: object


def said_in(
    block: object, named: Callable[[str], str] = str.strip, known: Callable[[str], bool] | None = None
) -> Iterator[Said]:
    """Every score of a block of ratings, with who gave it. Raises Unclear.

    named: a dimension's name as it is to be called. known: whether a key is a dimension; None: any may be.
    """
    if known is None and isinstance(block, JsonObject) and _is_entry(block):
        block = [block]
    if isinstance(block, list):
        for one in block:
            if isinstance(one, JsonObject):
                who = next((name_of(one[key]) for key in RATER_NAMES if key in one), None)
                yield from (replace(said, who=who) for said in _of_rater(one, named))
            elif known is None:
                yield Said(None, OVERALL, one)
    elif isinstance(block, Mapping):
        if _are_dimensions(block, known):
            yield from _of_dimensions(block, named)
        else:
            for key, scores in block.items():
                found = (
                    _of_dimensions(scores, named)
                    if isinstance(scores, Mapping) or known is not None
                    else iter([Said(None, OVERALL, scores)])
                )
                yield from (replace(said, who=name_of(key)) for said in found)


def _is_entry(block: JsonObject) -> bool:
    """Whether an object is what stands in a list of ratings: it names its rater, or has the key `score`."""
    return any(
        key in block and not isinstance(block[key], JsonObject | list) for key in ("score", *RATER_NAMES)
    )


def _of_rater(one: JsonObject, named: Callable[[str], str]) -> Iterator[Said]:
    """What an object that stands for a rater says: scores by dimension, or one score."""
    scores = one.get("scores")
    if not isinstance(scores, Mapping):
        scores = {key: value for key, value in one.items() if key not in RATER_NAMES}
    if "score" in scores and "dimension" in scores:
        yield Said(None, named(name_of(scores["dimension"]) or OVERALL), scores["score"])
    else:
        own = {OVERALL if key == "score" else key: value for key, value in scores.items()}
        yield from _of_dimensions(own, named)


def _of_dimensions(scores: object, named: Callable[[str], str]) -> Iterator[Said]:
    if not isinstance(scores, Mapping):
        return
    for key, value in scores.items():
        dimension = named(key)
        if isinstance(value, list):
            yield from (Said(None, dimension, one) for one in value)
        elif isinstance(value, JsonObject) and "score" not in value:
            yield from (Said(name_of(who), dimension, one) for who, one in value.items())
        else:
            yield Said(None, dimension, value)


def _are_dimensions(block: Mapping[str, object], known: Callable[[str], bool] | None) -> bool:
    """Whether the keys of a block are dimensions, not raters. Raises Unclear."""
    if known is not None:
        return any(known(key) for key in block)
    inner = [
        value.keys() for value in block.values() if isinstance(value, JsonObject) and "score" not in value
    ]
    raters = [key for key in block if _RATER.fullmatch(key)]
    if not inner and raters and len(raters) < len(block):
        others = [key for key in block if key not in raters]
        raise Unclear(f"{listed(raters)} look like raters, {listed(others)} like dimensions: {AS_LIST}")
    if not inner:
        return not raters
    below = {key for keys in inner for key in keys}
    outside = len(raters) == len(block)
    inside = all(_RATER.fullmatch(key) for key in below)
    if outside == inside or len(inner) < len(block):
        raise Unclear(
            f"whether {listed(list(block))} are raters and {listed(sorted(below))} dimensions, or the other way round, "
            f"cannot be told: {AS_LIST}"
        )
    return inside


def is_nested(entry: object) -> bool:
    """Whether an entry of a list of ratings holds scores by dimension."""
    return (
        isinstance(entry, JsonObject)
        and not {"score", "spans"} & entry.keys()
        and any(number_in(_score(said.value)) is not None for said in said_in([entry]))
    )


def rating_entries(value: object, where: str, problems: Problems) -> object:
    """A block of ratings as a list of objects with rater, dimension and score; what is such a list stays as it is."""
    nested = (
        any(map(is_nested, value))
        if isinstance(value, list)
        else isinstance(value, JsonObject) and not {"score", "spans"} & value.keys()
    )
    if not nested:
        return value
    try:
        found = [one for one in said_in(value) if number_in(_score(one.value)) is not None]
    except Unclear as problem:
        problems.append(f"{where}: ratings: {problem}")
        return []
    return [JsonObject(rater=one.who, dimension=one.dimension, score=_score(one.value)) for one in found]


def one_rating_a_row(
    records: Sequence[Record], taken: Sequence[str], findings: FileFindings
) -> Sequence[Record]:
    """Records with one score each, of those without a column `score`: out of nested fields, else of columns of numbers.

    taken: columns that mean something else. The very records where there is nothing to be taken apart.
    """
    plain = any("score" in record.cells for record in records)
    if plain and not any(_is_block(record.cells.get("score")) for record in records):
        return records
    fields = (
        ["score"]
        if plain
        else [
            key
            for key in dict.fromkeys(key for record in records for key in record.cells)
            if key not in taken
            and _FIELD.fullmatch(key)
            and any(_is_block(record.cells.get(key)) for record in records)
        ]
    )
    if fields:
        return _unnested(records, fields, findings)
    columns = _rating_columns(records, taken, findings)
    return _unpivoted(records, columns, findings) if columns else records


def _is_block(value: object) -> bool:
    return isinstance(value, JsonObject | list) and bool(value)


def _unnested(records: Sequence[Record], fields: Sequence[str], findings: FileFindings) -> list[Record]:
    """A record a score of the fields; a record without any has none, and is left to be counted."""
    found: list[tuple[Record, str, Said]] = []
    shaped: list[Record] = []
    for record in records:
        rest = Record(record.where, {k: v for k, v in record.cells.items() if k not in (*fields, "spans")})
        own = [(name, said) for name in fields for said in _said_of(record, name, findings)]
        # Each has a place of its own: that is how a rating given twice is noticed.
        found += [
            (replace(rest, where=f"{rest.where}, rating {number}"), name, said)
            for number, (name, said) in enumerate(own, start=1)
        ]
        if not own:
            shaped.append(rest)
    numbers = {(name, said.dimension) for _, name, said in found if number_in(_score(said.value)) is not None}
    if words := dict.fromkeys(
        said.dimension for _, name, said in found if (name, said.dimension) not in numbers
    ):
        findings.notes.append(f"fields of ratings not used, which hold no number: {listed(list(words))}")
    for rest, name, said in found:
        if (name, said.dimension) not in numbers:
            continue
        # The same dimension may stand in two fields, such as those of experts and of the crowd.
        dimension = f"{name}.{said.dimension}" if len(fields) > 1 else said.dimension
        cells = {**rest.cells, "score": _score(said.value)}
        if dimension != OVERALL or "dimension" not in cells:
            cells["dimension"] = dimension
        if said.who is not None:
            cells["rater"] = said.who
        shaped.append(Record(f"{rest.where}, {shown(dimension)}", cells))
    return shaped


def _said_of(record: Record, name: str, findings: FileFindings) -> list[Said]:
    value = record.cells.get(name)
    if is_undefined(value):
        return []
    place = f"{record.where}: {shown(name)}"
    if not isinstance(value, JsonObject | list):
        findings.problems.append(f"{place} is {type_name(value)}, expected an object or a list of ratings")
        return []
    for one in [value, *(value if isinstance(value, list) else value.values())]:
        if isinstance(one, JsonObject):
            findings.problems += duplicate_problems(place, one)
    try:
        return list(said_in(value))
    except Unclear as problem:
        findings.problems.append(f"{place}: {problem}")
        return []


def _score(value: object) -> object:
    """A score that may stand beside its reason."""
    return value.get("score") if isinstance(value, JsonObject) else value


def _rating_columns(records: Sequence[Record], taken: Sequence[str], findings: FileFindings) -> list[str]:
    """The columns of numbers that are no known names, labels or ids, nor called like a metric."""
    found, metrics = [], []
    for key in dict.fromkeys(key for record in records for key in record.cells):
        plain = key.lower()
        if key in taken or plain in LABELS or plain in INDEX_COLUMNS or _IDENTIFIER.fullmatch(key):
            continue
        if key.startswith(LABEL_MARK):
            continue
        held = [record.cells[key] for record in records if not is_undefined(record.cells.get(key))]
        words = sum(not looks_like_number(value) for value in held)
        if not held or 2 * words >= len(held):
            continue
        if family_of(key) != NO_FAMILY or key.startswith(METRIC_MARK):
            metrics.append(key)
        else:
            found.append(key)
    if found:
        findings.notes.append(
            f"the file has no column score: its columns of numbers are the ratings ({listed(found)})"
        )
        if metrics:
            findings.notes.append(f"columns not used, which are called like metrics: {listed(metrics)}")
    return found


def _unpivoted(records: Sequence[Record], columns: Sequence[str], findings: FileFindings) -> list[Record]:
    """A record a cell of the columns, which are dimensions, or raters where their names say so."""
    raters = len(columns) > 1 and all(_RATER.fullmatch(key) for key in columns)
    shaped, among = [], set(columns)
    for record in records:
        rest = {key: value for key, value in record.cells.items() if key not in among}
        for key in columns:
            cells = {**rest, "rater" if raters else "dimension": key.strip(), "score": record.cells.get(key)}
            shaped.append(Record(f"{record.where}, column {shown(key)}", cells))
    return shaped
