"""Read METAL-style JSON: one record a text, with raters' scores by dimension and perhaps an evaluator's."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.errors import InputError
from core.formats import Format
from core.formats.rated import RATINGS, complete_rating, ratings_of, repeated_ratings
from core.formats.ratings import RaterScore, rater_scores
from core.formats.scores import NO_SCORE, metric_made_elsewhere
from core.schema.scores import RatedSet, RatedText, Rating, RatingSet, ScorableOutput, ScoredRow, ScoreTable
from core.tables.columns import VOCABULARY, is_json, jsonl_objects
from core.tables.containers import decode, findings_of
from core.tables.problems import FileFindings
from core.tables.reading import (
    JsonObject,
    duplicate_problems,
    is_nothing,
    label_of,
    line_place,
    name_of,
    name_problem,
    no_number,
    number_in,
    parse_json,
    printable_text,
    reject,
    shown,
    type_name,
)
from core.tables.roles import names_rating

SCALES: Mapping[str, tuple[float, float]] = {
    "LA": (0, 2),
    "OCQ": (0, 2),
    "TQ": (0, 2),
    "PC": (0, 1),
    "H": (0, 1),
}
"""METAL's dimensions, each with its worst and best class after flipping."""
DIMENSIONS: Mapping[str, str] = {
    "linguisticacceptability": "LA",
    "outputcontentquality": "OCQ",
    "outputquality": "OCQ",
    "taskquality": "TQ",
    "problematiccontent": "PC",
    "hallucination": "H",
    "hallucinations": "H",
} | {name.lower(): name for name in SCALES}
"""A dimension's name in lower-case letters alone -> its short name."""
FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", *VOCABULARY["item_id"], "uid", "index"),
    "text": ("text", "summary", *VOCABULARY["text"], "completion", "generation"),
    "source": (
        *VOCABULARY["source"],
        *VOCABULARY["context"],
        *("article", "document"),
        *("prompt", "input", "main_point"),
    ),
    "language": VOCABULARY["language"],
    "system": (*VOCABULARY["system"], "model", "generator"),
    "task": ("task",),
    "people": ("annotations", "annotators", "human", "human_scores", "ratings", "scores"),
    "evaluators": ("evaluators", "evaluator", "llm", "llm_scores", "predictions"),
}
RECORDS = ("data", "examples", "records", "items")
"""Keys under which an object may have its list of records."""


def records_in(text: str, findings: FileFindings) -> list[tuple[str, str | None, JsonObject]]:
    """The records of a file, as (place, id that the file gives it, record)."""
    name = findings.file_name
    value, problem = parse_json(text)
    if problem and not is_json(text, name):
        lines = list(jsonl_objects(text, findings.file_name))
        findings.problems += [problem for line in lines for problem in line.problems]
        return [(line_place(line.line), None, line.value) for line in lines if line.value is not None]
    if problem:
        reject(name, [problem])
    if isinstance(value, JsonObject):
        held = next((value[key] for key in RECORDS if isinstance(value.get(key), list)), None)
        if (
            held is None
            and "text" not in value
            and value
            and all(isinstance(v, dict) for v in value.values())
        ):
            return [(f"record {shown(key)}", key, v) for key, v in value.items() if isinstance(v, JsonObject)]
        value = [value] if held is None else held
    if not isinstance(value, list):
        reject(name, [f"file: is {type_name(value)}, expected a list of records"])
    findings.problems += [
        f"record {number}: is {type_name(one)}, expected an object"
        for number, one in enumerate(value, start=1)
        if not isinstance(one, JsonObject)
    ]
    return [(f"record {n}", None, one) for n, one in enumerate(value, 1) if isinstance(one, JsonObject)]


def dimension_of(name: str) -> str:
    """The short name of one of METAL's dimensions; other names are returned unchanged."""
    return DIMENSIONS.get("".join(char for char in name.lower() if char.isalpha()), name.strip())


def is_known(name: str) -> bool:
    """Whether a key is one of METAL's dimensions, in any spelling."""
    return dimension_of(name) in SCALES


def field_of(record: JsonObject, name: str) -> object:
    """A record's field under any of its names, or None."""
    return next((record[key] for key in FIELDS[name] if not is_nothing(record.get(key))), None)


NO_RATING = "no rating"
ONLY_EVALUATOR = "evaluator"


@dataclass(frozen=True)
class MetalFile:
    """The content of a METAL file."""

    rated: RatedSet
    """Texts with their raters' scores; the task is a label."""
    evaluators: ScoreTable | None
    """One metric for each evaluator and dimension, EVALUATOR-DIMENSION; None if no evaluator gave scores."""

    @property
    def ratings(self) -> RatingSet:
        """The ratings alone."""
        return ratings_of(self.rated)


def read_metal(
    data: bytes,
    file_name: str,
    *,
    flip: Collection[str] = (),
    scales: Mapping[str, tuple[float, float]] = SCALES,
) -> MetalFile:
    """Read the texts of a file with their ratings. InputError lists every problem.

    flip: dimensions in which lower is better in the file, such as H and PC in METAL: their scores are reversed within
    their scale. scales: dimension -> its lowest and highest score, needed to flip it; scores outside are problems.
    Scores that are null are left out and counted.
    """
    findings = findings_of(data, file_name)
    reader = _Reader(frozenset(dimension_of(name) for name in flip), scales, Counter(), findings)
    findings.problems += [
        f"flip: the scale of {shown(name)} is unknown" for name in sorted(reader.flip - scales.keys())
    ]
    texts: list[RatedText] = []
    scored: list[dict[str, float]] = []
    for number, (where, given_id, record) in enumerate(
        records_in(decode(data, file_name), findings), start=1
    ):
        output = reader.output(record, given_id or str(number), where)
        if output is None:
            continue
        texts.append(RatedText(output, tuple(reader.ratings(record, output, where))))
        findings.problems += [f"{where}: {problem}" for problem in repeated_ratings(texts[-1].ratings)]
        scored.append(reader.evaluations(record, where))
    if reader.flip and not findings.problems and (absent := sorted(reader.flip - reader.seen)):
        findings.problems.append(f"flip: no text is rated on {', '.join(map(shown, absent))}")
    findings.problems += _twice(texts)
    if not texts and not findings.problems:
        findings.problems.append("file: contains no record; at least one is needed")
    if reader.flip:
        findings.notes.append(
            f"scores reversed, because lower is better in the file: {', '.join(sorted(reader.flip))}"
        )
    rated = RatedSet(tuple(texts), *findings.settled(), dict(reader.left_out))
    return MetalFile(rated, _table(rated, scored))


@dataclass
class _Reader:
    flip: frozenset[str]
    scales: Mapping[str, tuple[float, float]]
    left_out: Counter[str]
    findings: FileFindings
    seen: set[str] = field(default_factory=set)
    """Dimensions that occur in the file."""

    def output(self, record: JsonObject, given_id: str, where: str) -> ScorableOutput | None:
        """The record's text; None if it has a problem, which is added to the findings."""
        self.findings.problems += duplicate_problems(where, record)
        written = field_of(record, "id")
        item_id = given_id if written is None else label_of(written)
        text = field_of(record, "text")
        if item_id is None or not isinstance(text, str):
            wrong = "is missing or empty" if text is None else f"is {type_name(text)}, expected text"
            what = f"id {name_problem(written)}" if item_id is None else f"text {wrong}"
            self.findings.problems.append(f"{where}: {what}")
            return None
        source, task = field_of(record, "source"), label_of(field_of(record, "task"))
        language = field_of(record, "language")
        return ScorableOutput(
            item_id,
            label_of(field_of(record, "system")) or "output",
            printable_text(text),
            source=printable_text(source) if isinstance(source, str) else None,
            language="und" if is_nothing(language) else self.findings.language(where, language),
            labels={} if task is None else {"task": task},
        )

    def ratings(self, record: JsonObject, output: ScorableOutput, where: str) -> Iterator[Rating]:
        """The raters' scores of one text."""
        people = field_of(record, "people")
        if people is None:
            taken = {name for names in FIELDS.values() for name in names}
            people = {key: value for key, value in record.items() if key not in taken and is_known(key)}
        block = list(rater_scores(people, dimension_of, is_known))
        if not block and people:
            self.findings.problems.append(
                f"{where}: the raters' scores are {type_name(people)}, expected scores by dimension"
            )
        for given in block:
            score = self._score(given, where)
            if score is not None:
                rating = Rating(output.item_id, score, rater=given.rater, dimension=given.dimension)
                yield complete_rating(rating, output)

    def evaluations(self, record: JsonObject, where: str) -> dict[str, float]:
        """EVALUATOR-DIMENSION -> its score of one text; NaN if it gave none."""
        found: dict[str, float] = {}
        for given in rater_scores(field_of(record, "evaluators") or {}, dimension_of, is_known):
            name = f"{given.rater or ONLY_EVALUATOR}-{given.dimension}"
            if name in found:
                self.findings.problems.append(f"{where}: {shown(name)} is given twice")
            score = self._score(given, where, counted=False)
            found[name] = math.nan if score is None else score
        return found

    def _score(self, given: RaterScore, where: str, *, counted: bool = True) -> float | None:
        place = f"{where}, {shown(given.rater) + ', ' if given.rater else ''}{shown(given.dimension)}"
        value = given.value.get("score") if isinstance(given.value, JsonObject) else given.value
        self.seen.add(given.dimension)
        if name_of(given.dimension) is None:
            self.findings.problems.append(f"{place}: the dimension {name_problem(given.dimension)}")
            return None
        if value is None or value == "":
            self.left_out[NO_RATING] += counted
            return None
        number = number_in(value)
        if number is None or math.isinf(number):
            self.findings.problems.append(f"{place}: score {no_number(value)}")
            return None
        lowest, highest = self.scales.get(given.dimension, (-math.inf, math.inf))
        if not lowest <= number <= highest:
            self.findings.problems.append(
                f"{place}: score {number:g} is not between {lowest:g} and {highest:g}"
            )
            return None
        return lowest + highest - number if given.dimension in self.flip else number


def _twice(texts: list[RatedText]) -> list[str]:
    counts = Counter(
        (one.output.item_id, one.output.system, one.output.language, tuple(one.output.labels.items()))
        for one in texts
    )
    return [
        f"item {shown(key[0])}, system {shown(key[1])}: {count} records share this id, system, language and task"
        for key, count in counts.items()
        if count > 1
    ]


def _table(rated: RatedSet, scored: list[dict[str, float]]) -> ScoreTable | None:
    names = list(dict.fromkeys(name for one in scored for name in one))
    if not names:
        return None
    values = np.array([[one.get(name, math.nan) for name in names] for one in scored], dtype=np.float64)
    outputs = [text.output for text in rated.texts]
    return ScoreTable(
        tuple(ScoredRow(one.item_id, one.system, None, one.language, one.labels) for one in outputs),
        tuple(metric_made_elsewhere(name, "higher") for name in names),
        values,
        {(int(r), int(m)): NO_SCORE for r, m in zip(*np.nonzero(np.isnan(values)), strict=True)},
        rated.file_name,
        rated.notes,
    )


_OF_TABLES = frozenset(VOCABULARY["score"])


def holds_metal(data: bytes, file_name: str) -> bool:
    """Whether a file is METAL's JSON: one value that is neither a list of ratings nor one of rated texts."""
    try:
        text = decode(data, file_name)
    except InputError:
        return False
    if not is_json(text, file_name):
        return False
    value, problem = parse_json(text)
    if problem is not None:
        return False
    rows = value if isinstance(value, list) and value else [value]
    if not isinstance(rows[0], JsonObject) or _OF_TABLES & {key.lower() for key in rows[0]}:
        return False
    nested = any(isinstance(value, JsonObject | list) for value in rows[0].values())
    if isinstance(value, list) and not nested and not any(map(is_known, rows[0])):
        return False  # a table of plain cells, such as people's labels beside a judge's
    return not (_are_rated_texts(rows) or _are_verdicts(rows[0]))


def _are_verdicts(record: JsonObject) -> bool:
    """Whether a record without a text has blocks with one verdict each, such as `human: {label: 1}`."""
    blocks = [one for one in record.values() if isinstance(one, JsonObject)]
    plain = all(not isinstance(cell, JsonObject | list) for one in blocks for cell in one.values())
    there = {key.lower() for key in record}
    return bool(blocks) and plain and all(map(names_rating, blocks)) and not there & {*FIELDS["text"]}


def _are_rated_texts(rows: Sequence[object]) -> bool:
    """Whether records have lists `ratings` without METAL's entries (a rater's scores by dimension)."""
    lists = [own for row in rows if isinstance(row, JsonObject) and isinstance(own := row.get(RATINGS), list)]
    entries = (one for own in lists for one in own if isinstance(one, JsonObject))
    return bool(lists) and not any("scores" in one or any(map(is_known, one)) for one in entries)


def _ratings(data: bytes, file_name: str, *, flip: Collection[str] = ()) -> RatingSet:
    found = read_metal(data, file_name, flip=flip).ratings
    if not found.ratings:
        reject(file_name, ["file: no record contains a rating; at least one is needed"])
    return found


def _evaluators(data: bytes, file_name: str, *, flip: Collection[str] = ()) -> ScoreTable:
    found = read_metal(data, file_name, flip=flip).evaluators
    if found is None:
        raise InputError(
            f"{shown(file_name)} contains no scores of an evaluator: choose a table of scores or a run"
        )
    return found


FORMAT = Format(
    "metal",
    "METAL's JSON",
    holds_metal,
    {
        "ratings": _ratings,
        "evaluators": _evaluators,
        "with_texts": lambda data, file_name, flip=(): read_metal(data, file_name, flip=flip).rated,
    },
)
