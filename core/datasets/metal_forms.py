"""The forms that METAL-style JSON comes in: which records a file holds, and what its fields and dimensions are called."""

from collections.abc import Mapping

from core.datasets.cells import is_nothing
from core.datasets.findings import FileFindings
from core.datasets.open_tables import is_json
from core.datasets.reading import JsonObject, parse_json, reject, shown, type_name
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


def dimension_of(name: str) -> str:
    """The short name of one of 004's dimensions; another name as it is."""
    return DIMENSIONS.get("".join(char for char in name.lower() if char.isalpha()), name.strip())


def is_known(name: str) -> bool:
    """Whether a key is one of 004's dimensions, in any spelling."""
    return dimension_of(name) in SCALES


def field_of(record: JsonObject, name: str) -> object:
    """A record's field under any of its names; None: it has none."""
    return next((record[key] for key in FIELDS[name] if not is_nothing(record.get(key))), None)
