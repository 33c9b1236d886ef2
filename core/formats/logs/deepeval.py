"""Test runs of DeepEval: `.deepeval/.latest_run_full.json`, files of `results_folder`, and a dumped `EvaluationResult`."""

import math
from collections.abc import Mapping

from core.formats.logs.entries import (
    Entry,
    json_of,
    log_format,
    objects_at,
    own_id,
    scalars,
    text_of,
    told_apart,
)
from core.tables.problems import FileFindings
from core.tables.reading import JsonObject, is_nothing, label_of, no_number, number_in, shown, type_name

_CASES = (b'"testCases"', b'"test_cases"', b'"test_results"', b'"testResults"')
_METRICS = (b'"metricsData"', b'"metrics_data"')


def holds_log(data: bytes, file_name: str) -> bool:
    """Whether a file is a test run of DeepEval."""
    return (
        data.lstrip()[:1] == b"{"
        and any(key in data for key in _CASES)
        and any(key in data for key in _METRICS)
    )


def read_log(data: bytes, findings: FileFindings) -> list[Entry]:
    """The test cases of a run, each with the scores of its metrics."""
    run = json_of(data, findings)
    inner = _field(run, "testRunData")
    run = inner if isinstance(inner, JsonObject) else run
    model = label_of(scalars(run.get("hyperparameters")).get("model"))
    lists = [
        key
        for name in ("testCases", "conversationalTestCases", "testResults")
        for key in (name, _snake(name))
        if run.get(key)
    ]
    cases = [one for key in lists for one in objects_at(run, key, "test case", findings)]
    names = [own_id(_metadata(case)) or label_of(case.get("name")) for _, case in cases]
    if None in names or len(set(names)) < len(names):
        findings.notes.append("no id or name tells the test cases apart: each is an item, numbered from 1")
        names = [str(number) for number in range(1, len(cases) + 1)]
    return [
        _entry(where, case, name or "", model, findings)
        for (where, case), name in zip(cases, names, strict=True)
    ]


def _entry(where: str, case: JsonObject, name: str, model: str | None, findings: FileFindings) -> Entry:
    scores, said = dict[str, float](), dict[str, str]()
    metrics = _field(case, "metricsData") or []
    if not isinstance(metrics, list):
        findings.problems.append(f"{where}: metricsData is {type_name(metrics)}, expected a list")
        metrics = []
    held = [one for one in metrics if isinstance(one, JsonObject) and label_of(one.get("name")) is not None]
    for metric, one in zip(told_apart(label_of(one["name"]) or "" for one in held), held, strict=True):
        value = one.get("score")
        number = math.nan if value is None else number_in(value)
        if number is None:
            findings.problems.append(f"{where}: score of {shown(metric)} {no_number(value)}")
            continue
        scores[metric] = number
        if isinstance(reason := one.get("reason"), str):
            said[metric] = reason
    return Entry(where, name, scores, model, _texts(where, case, findings), {}, _metadata(case), said)


def _texts(where: str, case: JsonObject, findings: FileFindings) -> dict[str, object]:
    turns = case.get("turns")
    if isinstance(turns, list):
        spoken = [f"{one.get('role')}: {one.get('content')}" for one in turns if isinstance(one, JsonObject)]
        return {
            "question": case.get("scenario"),
            "reference": _field(case, "expectedOutcome"),
            "text": "\n".join(spoken),
        }
    context = _field(case, "retrievalContext") or case.get("context")
    return {
        "question": text_of(case.get("input")),
        "reference": _field(case, "expectedOutput"),
        "context": "\n\n".join(map(str, context)) if isinstance(context, list) else context,
        "text": text_of(_field(case, "actualOutput")),
    }


def _metadata(case: JsonObject) -> dict[str, object]:
    return {**scalars(_field(case, "additionalMetadata")), **scalars(case.get("metadata"))}


def _field(holder: Mapping[str, object], name: str) -> object:
    """A field as the test run writes it, or in the spelling of Python."""
    value = holder.get(name)
    return holder.get(_snake(name)) if is_nothing(value) else value


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


FORMAT = log_format("deepeval", "a test run of DeepEval", holds_log, read_log)
