"""Read and write human ratings, one a row, by column or nested in a field; and match them with their texts."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import regex

from core.errors import Problems
from core.formats.scorable import NO_LABELS, name_items
from core.formats.scores import INDEX_COLUMNS, LABELS, NO_FAMILY, family_of, label_column, parquet_rows
from core.formats.spans.cells import span_row, spans_in
from core.schema.row_columns import Coded, Ratings, combined, renamed, same_everywhere
from core.schema.scale import Scale
from core.schema.scores import Rating, RatingSet, ScorableOutput
from core.tables.column_table import (
    csv_columns,
    names_of_columns,
    no_label_in,
    parquet_columns,
)
from core.tables.columns import (
    LABEL_MARK,
    LABEL_PAIR,
    METRIC_MARK,
    ONLY_SYSTEM,
    TEXTS,
    VOCABULARY,
    WRITTEN_AS_LABELS,
    Record,
    Rows,
    jsonl_bytes,
    known_at,
    labels_among,
    level_number,
    names_in,
    needed_at,
    note_read_as,
    repeated,
    require,
    split_item_levels,
)
from core.tables.containers import decode, findings_of, table_rows
from core.tables.mapping import class_columns, number_classes, scale_of
from core.tables.problems import FileFindings, listed
from core.tables.reading import (
    JsonObject,
    duplicate_problems,
    is_nothing,
    is_undefined,
    label_of,
    looks_like_number,
    name_of,
    name_problem,
    no_number,
    number_in,
    reject,
    shown,
    type_name,
)
from core.tables.roles import is_about, is_price_or_time, who_in

OVERALL = "overall"
"""The dimension of ratings that name none."""
RATER_NAMES = (*(*VOCABULARY["rater"], "worker", "worker_id"), *("name", "id"))
"""Keys that name the rater in an object of ratings."""
AS_LIST = 'write a list with one object for each rater: [{"rater": "A", "fluency": 4}]'

_FIELD = regex.compile(
    r"(?!.*metric)(?:.*(?:ratings|annotations|judge?ments|evaluations|scores)|human)", regex.IGNORECASE
)
_RATER = regex.compile(
    r"(?:rater|annotator|worker|expert|evaluator|judge|user|turker|human|reviewer|coder)s?[ _-]?(?:\d+|[a-z])?|[ra]\d+|A[0-9A-Z]{9,}",
    regex.IGNORECASE,
)
_IDENTIFIER = regex.compile(r"(?:.*[ _-])?id", regex.IGNORECASE)


class Unclear(ValueError):
    """A block of ratings in which names of raters and dimensions cannot be distinguished."""


@dataclass(frozen=True)
class RaterScore:
    """One score as the file writes it, with rater and dimension."""

    rater: str | None
    dimension: str
    value: object


def rater_scores(
    block: object, named: Callable[[str], str] = str.strip, is_known: Callable[[str], bool] | None = None
) -> Iterator[RaterScore]:
    """Yield every score of a block of ratings, with its rater. Raises Unclear.

    named: turns a key into the dimension's name. is_known: whether a key is a dimension; None if any key may be.
    """
    if is_known is None and isinstance(block, JsonObject) and _is_entry(block):
        block = [block]
    if isinstance(block, list):
        for one in block:
            if isinstance(one, JsonObject):
                rater = next((name_of(one[key]) for key in RATER_NAMES if key in one), None)
                yield from (replace(given, rater=rater) for given in _rater_object(one, named))
            elif is_known is None:
                yield RaterScore(None, OVERALL, one)
    elif isinstance(block, Mapping):
        if _are_dimensions(block, is_known):
            yield from _dimension_scores(block, named)
        else:
            for key, scores in block.items():
                found = (
                    _dimension_scores(scores, named)
                    if isinstance(scores, Mapping) or is_known is not None
                    else iter([RaterScore(None, OVERALL, scores)])
                )
                yield from (replace(given, rater=name_of(key)) for given in found)


def _is_entry(block: JsonObject) -> bool:
    """Whether an object is an entry of a list of ratings: it names its rater, or has the key `score`."""
    return any(
        key in block and not isinstance(block[key], JsonObject | list) for key in ("score", *RATER_NAMES)
    )


def _rater_object(one: JsonObject, named: Callable[[str], str]) -> Iterator[RaterScore]:
    """Yield the scores in a rater's object: scores by dimension, or one score."""
    scores = one.get("scores")
    if not isinstance(scores, Mapping):
        scores = {key: value for key, value in one.items() if key not in RATER_NAMES}
    if "score" in scores and "dimension" in scores:
        yield RaterScore(None, named(name_of(scores["dimension"]) or OVERALL), scores["score"])
    else:
        own = {OVERALL if key == "score" else key: value for key, value in scores.items()}
        yield from _dimension_scores(own, named)


def _dimension_scores(scores: object, named: Callable[[str], str]) -> Iterator[RaterScore]:
    if not isinstance(scores, Mapping):
        return
    for key, value in scores.items():
        dimension = named(key)
        if isinstance(value, list):
            yield from (RaterScore(None, dimension, one) for one in value)
        elif isinstance(value, JsonObject) and "score" not in value:
            yield from (RaterScore(name_of(rater), dimension, one) for rater, one in value.items())
        else:
            yield RaterScore(None, dimension, value)


def _are_dimensions(block: Mapping[str, object], is_known: Callable[[str], bool] | None) -> bool:
    """Whether the keys of a block are dimensions, not raters. Raises Unclear."""
    if is_known is not None:
        return any(is_known(key) for key in block)
    inner = [
        value.keys() for value in block.values() if isinstance(value, JsonObject) and "score" not in value
    ]
    raters = [key for key in block if _RATER.fullmatch(key)]
    if not inner and raters and len(raters) < len(block):
        others = [key for key in block if key not in raters]
        raise Unclear(f"{listed(raters)} look like raters, but {listed(others)} like dimensions; {AS_LIST}")
    if not inner:
        return not raters
    below = {key for keys in inner for key in keys}
    outside = len(raters) == len(block)
    inside = all(_RATER.fullmatch(key) for key in below)
    if outside == inside or len(inner) < len(block):
        raise Unclear(
            f"unclear whether {listed(list(block))} are raters and {listed(sorted(below))} dimensions, or the reverse; "
            f"{AS_LIST}"
        )
    return inside


def is_nested(entry: object) -> bool:
    """Whether an entry of a list of ratings contains scores by dimension."""
    return (
        isinstance(entry, JsonObject)
        and not {"score", "spans"} & entry.keys()
        and any(number_in(_score(given.value)) is not None for given in rater_scores([entry]))
    )


def rating_entries(value: object, where: str, problems: Problems) -> object:
    """A block of ratings as a list of objects with rater, dimension and score; such a list is returned unchanged."""
    nested = (
        any(map(is_nested, value))
        if isinstance(value, list)
        else isinstance(value, JsonObject) and not {"score", "spans"} & value.keys()
    )
    if not nested:
        return value
    try:
        found = [one for one in rater_scores(value) if number_in(_score(one.value)) is not None]
    except Unclear as problem:
        problems.append(f"{where}: ratings: {problem}")
        return []
    return [JsonObject(rater=one.rater, dimension=one.dimension, score=_score(one.value)) for one in found]


def one_rating_a_row(
    records: Sequence[Record], taken: Sequence[str], findings: FileFindings
) -> Sequence[Record]:
    """Split records without a column `score` into records with one score each.

    Scores come from nested fields, else from columns of numbers. taken: columns that mean something else. Returns the
    same records if there is nothing to split.
    """
    fields = blocks_of_ratings(records, taken)
    if fields:
        return unnested(records, fields, findings)
    if any("score" in record.cells for record in records):
        return _add_people(records, taken, findings)
    columns = _rating_columns(records, taken, findings)
    return _unpivoted(records, columns, findings) if columns else records


def blocks_of_ratings(records: Sequence[Record], taken: Sequence[str]) -> list[str]:
    """The columns with nested scores: `score`, else those named like ratings. taken: columns that mean something else."""
    keys = dict.fromkeys(key for record in records for key in record.cells)
    named = ["score"] if "score" in keys else [k for k in keys if k not in taken and _FIELD.fullmatch(k)]
    return [key for key in named if any(_is_block(record.cells.get(key)) for record in records)]


def _add_people(records: Sequence[Record], taken: Sequence[str], findings: FileFindings) -> Sequence[Record]:
    """The records, with ratings from columns named like people where `score`, without a rater, is then a judge's."""
    keys = dict.fromkeys(key for record in records for key in record.cells)
    people = [key for key in keys if key not in taken and who_in(key) == "person" and not is_about(key)]
    if "rater" in keys or not people:
        return records
    without = [
        replace(record, cells={key: cell for key, cell in record.cells.items() if key != "score"})
        for record in records
    ]
    columns = _rating_columns(without, taken, findings)
    if not columns or not {*columns} <= {*people}:
        return records
    findings.notes.append("column score is not used: it stands beside ratings by people, so it is a judge's")
    return _unpivoted(without, columns, findings)


def _is_block(value: object) -> bool:
    return isinstance(value, JsonObject | list) and bool(value)


def unnested(records: Sequence[Record], fields: Sequence[str], findings: FileFindings) -> list[Record]:
    """One record for each score in the fields; records without scores stay, to be counted."""
    found: list[tuple[Record, str, RaterScore]] = []
    shaped: list[Record] = []
    for record in records:
        rest = Record(record.where, {k: v for k, v in record.cells.items() if k not in (*fields, "spans")})
        own = [(name, given) for name in fields for given in _scores_of(record, name, findings)]
        # Each rating gets a place of its own, so that a repeated rating is noticed.
        found += [
            (replace(rest, where=f"{rest.where}, rating {number}"), name, given)
            for number, (name, given) in enumerate(own, start=1)
        ]
        if not own:
            shaped.append(rest)
    numbers = {
        (name, given.dimension) for _, name, given in found if number_in(_score(given.value)) is not None
    }
    if words := dict.fromkeys(
        given.dimension for _, name, given in found if (name, given.dimension) not in numbers
    ):
        findings.notes.append(
            f"fields of ratings not used, because they contain no number: {listed(list(words))}"
        )
    for rest, name, given in found:
        if (name, given.dimension) not in numbers:
            continue
        # Two fields may have the same dimension, such as experts' and crowd workers' ratings.
        dimension = f"{name}.{given.dimension}" if len(fields) > 1 else given.dimension
        cells = {**rest.cells, "score": _score(given.value)}
        if dimension != OVERALL or "dimension" not in cells:
            cells["dimension"] = dimension
        if given.rater is not None:
            cells["rater"] = given.rater
        shaped.append(Record(f"{rest.where}, {shown(dimension)}", cells))
    return shaped


def _scores_of(record: Record, name: str, findings: FileFindings) -> list[RaterScore]:
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
        return list(rater_scores(value))
    except Unclear as problem:
        findings.problems.append(f"{place}: {problem}")
        return []


def _score(value: object) -> object:
    """The score in a value that may be an object with score and reason."""
    return value.get("score") if isinstance(value, JsonObject) else value


_EXPORTED = "score_"
"""Start of the columns with ratings in a CSV of `study export`, which has other columns of numbers."""


def _rating_columns(records: Sequence[Record], taken: Sequence[str], findings: FileFindings) -> list[str]:
    """The columns of numbers that may be people's: those named like people, else those with neutral names.

    Known columns, labels, ids, and what is named like a metric, a judge, a price or a time are not.
    """
    found, metrics = list[str](), list[str]()
    keys = dict.fromkeys(key for record in records for key in record.cells)
    exported = {"times_saved", "design_seed"} <= keys.keys()
    for key in keys:
        if key in taken or not _may_be_rating(key) or (exported and not key.startswith(_EXPORTED)):
            continue
        held = [record.cells[key] for record in records if not is_undefined(record.cells.get(key))]
        words = sum(not looks_like_number(value) for value in held)
        if not held or 2 * words >= len(held):
            continue
        is_metric = family_of(key) != NO_FAMILY or key.startswith(METRIC_MARK)
        if is_metric or who_in(key) in ("judge", "both"):
            metrics.append(key)
        elif not is_price_or_time(key):
            found.append(key)
    if people := [key for key in found if who_in(key) in ("person", "settled")]:
        metrics += [key for key in found if key not in people]
        found = people
    if found:
        findings.notes.append(f"no column score: read the columns of numbers as ratings ({listed(found)})")
        if metrics:
            findings.notes.append(
                f"columns not used, because their names are not those of people: {listed(metrics)}"
            )
    return found


def _may_be_ratings(records: Sequence[Record]) -> list[str]:
    """The column `score`; without one, the columns that may be ratings, if none of them contains a number."""
    keys = dict.fromkeys(key for record in records for key in record.cells)
    if "score" in keys:
        return ["score"]
    own = [key for key in keys if key not in COLUMNS and key not in UNUSED and _may_be_rating(key)]
    cells = (record.cells.get(key) for record in records for key in own)
    return [] if any(looks_like_number(value) for value in cells) else own


def _may_be_rating(key: str) -> bool:
    """Whether a column's name allows ratings, so that its cells decide."""
    plain = key.lower()
    known = plain in LABELS or plain in INDEX_COLUMNS or _IDENTIFIER.fullmatch(key) is not None
    return not known and not key.startswith(LABEL_MARK)


def _unpivoted(records: Sequence[Record], columns: Sequence[str], findings: FileFindings) -> list[Record]:
    """One record for each cell of the columns, which are dimensions, or raters if all names look like raters."""
    raters = len(columns) > 1 and all(_RATER.fullmatch(key) for key in columns)
    shaped, among = [], set(columns)
    for record in records:
        rest = {key: value for key, value in record.cells.items() if key not in among}
        for key in columns:
            cells = {**rest, "rater" if raters else "dimension": key.strip(), "score": record.cells.get(key)}
            shaped.append(Record(f"{record.where}, column {shown(key)}", cells))
    return shaped


COLUMNS = known_at("ratings")
"""Columns that may be beside ratings but are not read, such as the texts."""
UNUSED = (*TEXTS, "reason", *NO_LABELS)
SCORES = frozenset(VOCABULARY["metric"])
"""Columns that only tables of scores have."""
NO_RATING = "no rating"
REVERSED = "signs were reversed, because lower is better in the file"


def read_ratings(
    data: bytes, file_name: str, *, lower_is_better: bool = False, rows: Rows = table_rows
) -> RatingSet:
    """Read the ratings of a file. InputError lists every problem.

    lower_is_better: the direction of the file's scale; if true, signs are reversed so that higher is better. Any number
    of raters may rate a text, but each only once on each dimension. Rows without a score are left out and counted.
    """
    findings = findings_of(data, file_name)
    if (found := _column_ratings(data, lower_is_better, findings, rows)) is not None:
        return found
    keys, columns, records, _ = rows(data, COLUMNS, findings)
    note_read_as(columns, findings)
    scale: Scale | None = None
    if words := class_columns(records, _may_be_ratings(records)):
        scale = _scale_of_words(words)
        records = number_classes(records, words, findings)
    columns, records = name_items(columns, records, findings) or (columns, records)
    is_scores = bool(SCORES & {key.strip().lower() for key in keys})
    shaped = records if is_scores else one_rating_a_row(records, [*COLUMNS, *UNUSED], findings)
    there = (*columns.values(), *(() if shaped is records else ("score",)))
    require(there, needed_at("ratings"), keys, file_name)
    if is_scores:
        reject(file_name, ["file: the column metric shows scores of metrics, expected ratings by people"])
    left_out: Counter[str] = Counter()
    read = _rows(split_item_levels([*shaped]), lower_is_better, left_out, findings)
    known = ((_key(rating), where) for where, rating in read if rating.rater is not None)
    repeated(
        known,
        "the same rater, text and dimension",
        findings,
        lambda key: f" (rater {shown(key[0])}, item {shown(key[1])})",
    )
    if not read and not findings.problems:
        findings.problems.append("file: contains no rating; at least one is needed")
    if lower_is_better:
        findings.notes.append(REVERSED)
    ratings = Ratings.of([rating for _, rating in read])
    _note_unnamed(ratings, findings)
    scales = dict.fromkeys((one.dimension for one in ratings), scale) if scale and not lower_is_better else {}
    return RatingSet(ratings, *findings.settled(), dict(left_out), scales)


def _column_ratings(
    data: bytes, lower_is_better: bool, findings: FileFindings, rows: Rows
) -> RatingSet | None:
    """The ratings of a table with a column `score`, column by column; None if only the reader of rows can read it."""
    opened = None
    if rows is table_rows:
        text = decode(data, findings.file_name)
        opened = csv_columns(text, COLUMNS, findings.file_name, lambda *_: ["score"], {*UNUSED} - {"score"})
    elif rows is parquet_rows:
        opened = parquet_columns(
            data, COLUMNS, findings.file_name, lambda *_: ["score"], {*UNUSED} - {"score"}
        )
    names = None if opened is None else opened.names
    if opened is None or names is None or "score" not in opened.numbers or "item_id" not in names:
        return None
    if "spans" in opened.header or SCORES & {key.strip().lower() for key in opened.keys}:
        return None
    people = (key for key in opened.header if who_in(key) == "person" and not is_about(key))
    if "rater" not in names and any(key not in (*COLUMNS, *UNUSED) for key in people):
        return None  # the score may be a judge's
    trial = FileFindings(findings.file_name, findings.sha256)
    odd, scores = list[str](), opened.numbers["score"]
    others = [key for key in opened.header if key in UNUSED or key not in COLUMNS]
    labels = labels_among(others, UNUSED, no_label_in(names, odd), trial)
    found = None if odd or np.isinf(scores).any() else names_of_columns(names, labels, trial)
    if found is None:
        return None
    rater, dimension = (_names_of(names, column, len(scores), trial) for column in ("rater", "dimension"))
    by_dimension = renamed(dimension, [name or OVERALL for name in dimension.words])
    ratings = Ratings(
        *(found.item_id, 0.0 - scores if lower_is_better else scores, found.system, found.level),
        *(rater, by_dimension, found.language, found.labels),
    )
    if not (rated := ~np.isnan(scores)).all():
        ratings = ratings.take(rated)
    number, first = combined(ratings.columns)
    named = np.array([name is not None for name in ratings.rater.words])[ratings.rater.codes]
    if trial.problems or (np.bincount(number)[number][named] > 1).any():
        return None  # the reader of rows names the places
    note_read_as(opened.columns, findings)
    findings.notes += trial.notes
    if lower_is_better:
        findings.notes.append(REVERSED)
    if len(first) < len(ratings):
        _note_unnamed(ratings, findings)
    left_out = {} if rated.all() else {NO_RATING: int((~rated).sum())}
    return RatingSet(ratings, *findings.settled(), left_out)


def _names_of(
    names: Mapping[str, Coded[Any]], column: str, n_rows: int, findings: FileFindings
) -> Coded[str | None]:
    """A column of names that rows may lack."""
    if column not in names:
        return same_everywhere(None, n_rows)
    cells = (Record("", {column: cell}) for cell in names[column].words)
    return renamed(names[column], [optional_name(record, column, findings) for record in cells])


def _scale_of_words(columns: Mapping[str, Mapping[str, int]]) -> Scale | None:
    """The scale of the columns with words, if it is the same one; see `class_columns`."""
    known = [scale_of(words) for words in columns.values()]
    names = {tuple(one.names.items()) for one in known if one is not None}
    if len(names) != 1:
        return None
    words = {float(number): word for number, word in names.pop()}
    classes = tuple(words)
    return Scale("two" if len(classes) == 2 else "ordered", classes, words, (classes[0], classes[-1]))


def _rows(
    records: Sequence[Record], lower_is_better: bool, left_out: Counter[str], findings: FileFindings
) -> list[tuple[str, Rating]]:
    """The ratings with their places; rows without a score are counted."""
    keys = dict.fromkeys(key for record in records for key in record.cells)
    others = [key for key in keys if key in UNUSED or key not in COLUMNS]
    labels = labels_among(others, UNUSED, records, findings)
    if any(isinstance(record.cells.get("spans"), str) for record in records):
        findings.notes.append("columns not used: spans, because it is not a list")
    rows = []
    for record in records:
        names = names_in(record, labels, findings)
        rater, dimension = (optional_name(record, column, findings) for column in ("rater", "dimension"))
        score = _score_of_row(record, findings)
        if names is None or score is None:
            continue
        if math.isnan(score):
            left_out[NO_RATING] += 1
            continue
        rating = Rating(
            names.item_id,
            0.0 - score if lower_is_better else score,
            names.system,
            names.level,
            rater,
            dimension or OVERALL,
            names.language,
            names.labels,
            spans_in(_list_of(record), record.where, findings.problems),
        )
        rows.append((record.where, rating))
    return rows


def _list_of(record: Record) -> object:
    """A row's list of spans, or None: in CSV, whose cells cannot be lists, a column `spans` means something else."""
    value = record.cells.get("spans")
    return value if isinstance(value, list) else None


def optional_name(record: Record, column: str, findings: FileFindings) -> str | None:
    """A cell as a name; None if it is empty, or if it has a problem, which is added to the findings."""
    value = record.cells.get(column)
    if is_nothing(value):
        return None
    found = label_of(value)
    if found is None:
        findings.problems.append(f"{record.where}: {column} {name_problem(value)}")
    return found


def _score_of_row(record: Record, findings: FileFindings) -> float | None:
    """The score; NaN if the cell marks a missing one, None if it has a problem, which is added to the findings."""
    value = record.cells.get("score")
    number = number_in(value)
    if number is not None and not math.isinf(number):
        return number
    if is_undefined(value):
        return math.nan
    problem = no_number(value) if number is None else "is infinite, expected a number"
    findings.problems.append(f"{record.where}: score {problem}")
    return None


def _text_key(rating: Rating) -> tuple[object, ...]:
    labels = tuple(sorted(rating.labels.items()))
    return rating.item_id, rating.system, rating.level, rating.language, labels, rating.dimension


def _key(rating: Rating) -> tuple[object, ...]:
    return rating.rater, *_text_key(rating)


def _note_unnamed(ratings: Sequence[Rating], findings: FileFindings) -> None:
    counts = Counter(_text_key(rating) for rating in ratings if rating.rater is None)
    # Count each text once, however many of its dimensions are rated.
    if several := len({key[:-1] for key, count in counts.items() if count > 1}):
        findings.notes.append(
            f"{several} texts have several ratings without a rater's name; they count as different raters'"
        )


Named = ScorableOutput | Rating
Key = tuple[object, ...]

_BLANK = (None, "", "und")


class TextFinder:
    """Finds the text of each rating.

    The match uses the item; system and level, if both sides name any; and language and labels, if one side has several
    texts that differ in nothing else. A blank language or label matches all.
    """

    def __init__(self, outputs: Sequence[ScorableOutput], ratings: Sequence[Rating]) -> None:
        self._outputs = outputs
        sides: tuple[Sequence[Named], ...] = (outputs, ratings)
        self._by_system, self._by_level = (
            all(any(_value(row, name) not in _BLANK for row in side) for side in sides)
            for name in ("system", "level")
        )
        labels = {label: None for row in ratings for label in row.labels}
        self._others = [
            name
            for name in ("language", *labels)
            if all(any(_value(row, name) not in _BLANK for row in side) for side in sides)
            and any(self._distinguishes(side, name) for side in sides)
        ]
        self._places: dict[Key, list[int]] = {}
        for place, output in enumerate(outputs):
            self._places.setdefault(self._key(output), []).append(place)

    def places(self, rating: Rating) -> list[int]:
        """The positions of the outputs that the rating may be about: one, none or several."""
        there = self._places.get(self._key(rating), ())
        return [place for place in there if self._agrees(self._outputs[place], rating)]

    def elsewhere(self, rating: Rating) -> bool:
        """Whether the text exists with another language or label."""
        return self._key(rating) in self._places

    def differing(self, places: Sequence[int]) -> list[str]:
        """The names of the fields in which some outputs differ."""
        outputs = [self._outputs[place] for place in places]
        names = ("system", "level", "language", *{label: None for one in outputs for label in one.labels})
        return [name for name in names if len({_value(one, name) for one in outputs}) > 1] or ["text"]

    def _key(self, row: Named) -> Key:
        number = level_number(row.level)
        return (
            row.item_id,
            (row.system or ONLY_SYSTEM) if self._by_system else None,
            (row.level if number is None else number) if self._by_level else None,
        )

    def _distinguishes(self, side: Sequence[Named], name: str) -> bool:
        seen: dict[Key, str] = {}
        for row in side:
            value = _value(row, name)
            if value not in _BLANK and seen.setdefault(self._key(row), value or "") != value:
                return True
        return False

    def _agrees(self, output: ScorableOutput, rating: Rating) -> bool:
        return all(
            _value(output, name) in _BLANK
            or _value(rating, name) in _BLANK
            or _value(output, name) == _value(rating, name)
            for name in self._others
        )


def _value(row: Named, name: str) -> str | None:
    if name == "system":
        return None if row.system == ONLY_SYSTEM else row.system
    if name == "level":
        return row.level
    return row.language if name == "language" else row.labels.get(name)


_TAKEN = frozenset(
    {*COLUMNS, *(name for names in COLUMNS.values() for name in names), *UNUSED, *SCORES}
    - {LABEL_PAIR}
    - WRITTEN_AS_LABELS
)
"""Names of columns that the reader does not read as labels."""


def write_ratings_jsonl(ratings: RatingSet) -> bytes:
    """The ratings as JSONL, one a line, with errors if they could be marked. read_ratings restores equal ratings."""
    return jsonl_bytes(map(_written, ratings.ratings))


def _written(one: Rating) -> dict[str, Any]:
    row = {
        **{label_column(key, (), _TAKEN, wide=False): value for key, value in one.labels.items()},
        "item_id": one.item_id,
        "system": one.system,
        "level": one.level,
        "rater": one.rater,
        "score": one.score,
        "dimension": one.dimension,
        "language": one.language,
        "spans": None if one.spans is None else [span_row(span) for span in one.spans],
    }
    return {name: value for name, value in row.items() if value is not None}
