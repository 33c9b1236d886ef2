"""The forms that METAL-style JSON comes in: which records a file holds, and who said what in each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from core.datasets.cells import is_nothing
from core.datasets.findings import FileFindings
from core.datasets.open_tables import is_json
from core.datasets.reading import JsonObject, name_of, parse_json, reject, shown, type_name
from core.datasets.rows import jsonl_objects

SCALES: Mapping[str, tuple[float, float]] = {
    "LA": (0, 2),
    "OCQ": (0, 2),
    "TQ": (0, 2),
    "PC": (0, 1),
    "H": (0, 1),
}
"""004's dimensions, each with its worst and its best class once flipped where need be."""
DIMENSIONS: Mapping[str, str] = {
    "linguisticacceptability": "LA",
    "outputcontentquality": "OCQ",
    "outputquality": "OCQ",
    "taskquality": "TQ",
    "problematiccontent": "PC",
    "hallucination": "H",
    "hallucinations": "H",
} | {name.lower(): name for name in SCALES}
"""A dimension's name in small letters alone -> its short name."""
FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "uid", "index"),
    "text": ("text", "summary", "output", "response", "completion", "generation"),
    "source": ("source", "passage", "article", "document", "prompt", "input", "main_point"),
    "language": ("language", "lang"),
    "system": ("system", "model", "generator"),
    "task": ("task",),
    "people": ("annotations", "annotators", "human", "human_scores", "ratings", "scores"),
    "evaluators": ("evaluators", "evaluator", "llm", "llm_scores", "predictions"),
}
RECORDS = ("data", "examples", "records", "items")
"""Under which an object may hold its list of records."""
RATER_NAMES = ("rater", "annotator", "annotator_id", "name", "id")


@dataclass(frozen=True)
class Said:
    """One score as it is written."""

    who: str | None
    dimension: str
    value: object


def records_in(text: str, findings: FileFindings) -> list[tuple[str, str | None, JsonObject]]:
    """(place, id by which the file names it, record)."""
    name = findings.file_name
    value, problem = parse_json(text)
    if problem and not is_json(text, name):
        lines = list(jsonl_objects(text))
        findings.problems += [problem for line in lines for problem in line.problems]
        return [(f"line {line.line}", None, line.value) for line in lines if line.value is not None]
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


def said_in(block: object) -> Iterator[Said]:
    """Every score of a block of scores, with who gave it."""
    if isinstance(block, list):
        for one in block:
            if isinstance(one, JsonObject):
                who = next((name_of(one[key]) for key in RATER_NAMES if key in one), None)
                scores = one.get("scores", {k: v for k, v in one.items() if k not in RATER_NAMES})
                yield from (replace(said, who=who) for said in _of_dimensions(scores))
    elif isinstance(block, Mapping):
        if any(is_known(key) for key in block):
            yield from _of_dimensions(block)
        else:
            for key, scores in block.items():
                yield from (replace(said, who=name_of(key)) for said in _of_dimensions(scores))


def _of_dimensions(scores: object) -> Iterator[Said]:
    if not isinstance(scores, Mapping):
        return
    for key, value in scores.items():
        dimension = dimension_of(key)
        if isinstance(value, list):
            yield from (Said(None, dimension, one) for one in value)
        elif isinstance(value, JsonObject) and "score" not in value:
            yield from (Said(name_of(who), dimension, one) for who, one in value.items())
        else:
            yield Said(None, dimension, value)


def dimension_of(name: str) -> str:
    """The short name of one of 004's dimensions; another name as it is."""
    return DIMENSIONS.get("".join(char for char in name.lower() if char.isalpha()), name.strip())


def is_known(name: str) -> bool:
    """Whether a key is one of 004's dimensions, in any spelling."""
    return dimension_of(name) in SCALES


def field_of(record: JsonObject, name: str) -> object:
    """A record's field under any of its names; None: it has none."""
    return next((record[key] for key in FIELDS[name] if not is_nothing(record.get(key))), None)
