"""Results of promptfoo (`promptfoo eval -o results.json`, or `.jsonl`): one result for each test, provider and prompt."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from core.formats.logs.entries import (
    HUMAN,
    PROMPT,
    REPEAT,
    Entry,
    content_of,
    json_of,
    log_format,
    object_at,
    objects_at,
    own_id,
    scalars,
    text_of,
    told_apart,
)
from core.tables.columns import is_json, jsonl_objects
from core.tables.containers import decode
from core.tables.problems import FileFindings
from core.tables.reading import (
    JsonObject,
    label_of,
    line_place,
    no_number,
    number_in,
    shown,
    type_name,
)

BY_PERSON = "human"
"""Type of the assertion that promptfoo's viewer adds when a person rates an output; it stands beside the others."""
_OF_RESULT = (b'"gradingResult"', b'"namedScores"', b'"provider"', b'"vars"')
_ERROR = 2
"""`failureReason` of a test whose provider failed: there is no output to score."""


def holds_log(data: bytes, file_name: str) -> bool:
    """Whether a file has results of promptfoo: one JSON object, or one result a line."""
    return data.lstrip()[:1] == b"{" and all(key in data for key in (*_OF_RESULT[1:], b'"success"'))


def read_log(data: bytes, findings: FileFindings) -> list[Entry]:
    """The outputs of all providers, each with the scores of its assertions."""
    results = list(_results(data, findings))
    tests = _tests([result for _, result in results], findings)
    prompts = {
        key: at for at, key in enumerate(dict.fromkeys(_prompt(one)[0] for _, one in results), start=1)
    }
    found = []
    for (where, result), item_id in zip(results, tests, strict=True):
        entry = _entry(where, result, item_id, findings)
        if len(prompts) > 1:
            key, label = _prompt(result)
            entry = replace(entry, labels={PROMPT: label_of(label) or f"{PROMPT} {prompts[key]}"})
        found.append(entry)
    if any(HUMAN in entry.about for entry in found) and not any(
        HUMAN in _fields_of(result) for _, result in results
    ):
        findings.notes.append(
            "outputs that a person rated in promptfoo's viewer have the rating as their human label"
        )
    return _repeats(found)


def _results(data: bytes, findings: FileFindings) -> Iterator[tuple[str, JsonObject]]:
    text = decode(data, findings.file_name)
    if not _is_one_value(text, findings.file_name):
        for line in jsonl_objects(text, findings.file_name):
            findings.problems += line.problems
            if line.value is not None:
                yield line_place(line.line), line.value
        return
    whole = json_of(data, findings)
    held = whole.get("results")
    # A summary alone, as the Node package returns it, has the list without the frame of an evaluation.
    yield from objects_at(held if isinstance(held, JsonObject) else whole, "results", "result", findings)


def _is_one_value(text: str, file_name: str) -> bool:
    return is_json(text, file_name) and '"results"' in text


def _tests(results: Sequence[JsonObject], findings: FileFindings) -> list[str]:
    """The item of each result: the id that the test gives, its description if no other test has it, else its number."""
    numbers: dict[str, int] = {}
    keys = []
    for result in results:
        number = result.get("testIdx")
        variables = repr(sorted(scalars(result.get("vars")).items(), key=lambda one: one[0]))
        keys.append(
            number
            if isinstance(number, int) and not isinstance(number, bool)
            else numbers.setdefault(variables, len(numbers))
        )
    named = [
        own_id(scalars(one.get("vars")), scalars(one.get("metadata")), _test_metadata(one)) for one in results
    ]
    said = [label_of(_part(one, "testCase").get("description")) for one in results]
    for names in (named, said):
        by_name: dict[str | None, set[int]] = {}
        for key, name in zip(keys, names, strict=True):
            by_name.setdefault(name, set()).add(key)
        if None not in by_name and all(len(same) == 1 for same in by_name.values()):
            return [name for name in names if name is not None]
    findings.notes.append("no id names the tests: the number of the test, from 0, is the item's id")
    return list(map(str, keys))


def _entry(where: str, result: JsonObject, item_id: str, findings: FileFindings) -> Entry:
    provider = result.get("provider")
    if isinstance(provider, JsonObject):
        provider = provider.get("label") or provider.get("id")
    response = object_at(result, "response", where, findings)
    grading = object_at(result, "gradingResult", where, findings)
    prompt = result.get("prompt")
    scores, said, about = dict[str, float](), dict[str, str](), _fields_of(result)
    components = grading.get("componentResults")
    if components is not None and not isinstance(components, list):
        findings.problems.append(f"{where}: componentResults is {type_name(components)}, expected a list")
        components = []
    parts = [one for one in components or () if isinstance(one, JsonObject)]
    by_person = [one for one in parts if _part(one, "assertion").get("type") == BY_PERSON]
    parts = [one for one in parts if one not in by_person and isinstance(one.get("assertion"), JsonObject)]
    named = object_at(result, "namedScores", where, findings)
    numbered = told_apart(str(_part(one, "assertion").get("type")) for one in parts)
    for part, plain in zip(parts, numbered, strict=True):
        metric = label_of(_part(part, "assertion").get("metric"))
        # Several assertions may share a metric, whose score is then promptfoo's own mean or sum of theirs.
        name, value = (metric, named.get(metric, part.get("score"))) if metric else (plain, part.get("score"))
        number = math.nan if value is None else number_in(value)
        if number is None:
            findings.problems.append(f"{where}: {shown(name)} {no_number(value)}")
            continue
        scores[name] = number
        if isinstance(reason := part.get("reason"), str):
            said[name] = f"{said[name]}\n{reason}" if metric and name in said else reason
    if not parts and not by_person and result.get("failureReason") != _ERROR and grading:
        scores["score"] = number_in(grading.get("score")) or 0.0
    if by_person:
        about = {**about, HUMAN: number_in(by_person[-1].get("score"))}
    return Entry(
        where,
        item_id,
        scores,
        label_of(provider),
        {
            "question": content_of(prompt.get("raw")) if isinstance(prompt, JsonObject) else prompt,
            "text": text_of(response.get("output")),
        },
        {},
        about,
        said,
    )


def _prompt(result: JsonObject) -> tuple[str, object]:
    """What tells the result's prompt from others, and its label."""
    prompt = result.get("prompt")
    label = prompt.get("label") if isinstance(prompt, JsonObject) else None
    return str(result.get("promptId", label)), label


def _part(holder: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = holder.get(key)
    return value if isinstance(value, JsonObject) else {}


def _test_metadata(result: JsonObject) -> dict[str, object]:
    return scalars(_part(result, "testCase").get("metadata"))


def _fields_of(result: JsonObject) -> dict[str, object]:
    return {**scalars(result.get("vars")), **_test_metadata(result), **scalars(result.get("metadata"))}


def _repeats(entries: Sequence[Entry]) -> list[Entry]:
    """The entries with a number where `--repeat` asked a provider several times."""
    seen, numbers = Counter[object](), list[int]()
    for entry in entries:
        key = (entry.item_id, entry.system, *entry.labels.values())
        seen[key] += 1
        numbers.append(seen[key])
    if max(numbers, default=1) == 1:
        return list(entries)
    return [
        replace(entry, labels={**entry.labels, REPEAT: str(number)})
        for entry, number in zip(entries, numbers, strict=True)
    ]


FORMAT = log_format("promptfoo", "results of promptfoo", holds_log, read_log)
