"""Samples of lm-evaluation-harness (`lm_eval --log_samples`): `samples_TASK_DATE.jsonl`, one line for each document and filter."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.formats.logs.entries import (
    Entry,
    LeftOut,
    log_format,
    own_id,
    scalars,
)
from core.tables.columns import VOCABULARY, json_objects, jsonl_objects
from core.tables.containers import decode
from core.tables.problems import FileFindings
from core.tables.reading import (
    JsonObject,
    label_of,
    line_place,
    name_problem,
    number_in,
    numbers_as_json,
    parse_json,
)

OF_SAMPLE = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash", "task_name"),
)
"""Fields of a sample that are no scores."""
NO_FILTER = "none"
_KEYS = (b'"doc_id"', b'"doc"', b'"resps"', b'"filtered_resps"')
_HEAD = 1_000_000


def holds_log(data: bytes, file_name: str) -> bool:
    """Whether a file has samples of lm-evaluation-harness: one a line, or, from older versions, a list."""
    head = data[:_HEAD]
    return head.lstrip()[:1] in (b"{", b"[") and all(key in head for key in _KEYS)


def read_log(data: bytes, findings: FileFindings) -> list[Entry]:
    """The documents of a task, each with the model's response and its scores."""
    left_out, samples = LeftOut(), _samples(data, findings)
    filters = list(dict.fromkeys(str(sample.get("filter", NO_FILTER)) for _, sample in samples))
    found: dict[str, Entry] = {}
    own = {label_of(sample.get("doc_id")): own_id(scalars(sample.get("doc"))) for _, sample in samples}
    names_all = None not in own.values() and len({*own.values()}) == len(own)
    for where, sample in samples:
        item_id = label_of(sample.get("doc_id"))
        if item_id is None:
            wrong = name_problem(sample["doc_id"]) if "doc_id" in sample else "is missing"
            findings.problems.append(f"{where}: doc_id {wrong}")
            continue
        scores = _scores(sample, left_out)
        if len(filters) > 1:
            scores = {f"{name} ({sample.get('filter', NO_FILTER)})": one for name, one in scores.items()}
        if (before := found.get(item_id)) is None:
            name = own[item_id] if names_all else item_id
            found[item_id] = _entry(where, name or item_id, sample, scores)
        elif twice := before.scores.keys() & scores.keys():
            findings.problems.append(
                f"{where}: document {item_id} with the score {min(twice)} as in {before.where}; give the samples of one task"
            )
        else:
            found[item_id] = replace(before, scores={**before.scores, **scores})
    left_out.note(findings)
    return list(found.values())


def _samples(data: bytes, findings: FileFindings) -> Sequence[tuple[str, JsonObject]]:
    text = decode(data, findings.file_name)
    if text.lstrip().startswith("["):
        value, problem = parse_json(numbers_as_json(text))
        findings.problems += [problem] if problem else []
        return json_objects(value, "sample ", findings) if not problem else []
    lines = list(jsonl_objects(numbers_as_json(text), findings.file_name))
    findings.problems += [problem for line in lines for problem in line.problems]
    return [(line_place(line.line), line.value) for line in lines if line.value is not None]


def _scores(sample: JsonObject, left_out: LeftOut) -> dict[str, float]:
    named = sample.get("metrics")
    names = named if isinstance(named, list) else [key for key in sample if key not in OF_SAMPLE]
    found = {}
    for name in (one for one in names if isinstance(one, str) and one in sample):
        value = sample[name]
        number = math.nan if value is None else float(value) if isinstance(value, bool) else number_in(value)
        if number is None:
            # Such as the pair of texts from which BLEU is computed for all documents together.
            left_out.add(name, value)
        else:
            found[name] = number
    return found


def _entry(where: str, item_id: str, sample: JsonObject, scores: Mapping[str, float]) -> Entry:
    document, requests = scalars(sample.get("doc")), _requests(sample.get("arguments"))
    asked = next((document[key] for key in document if key.lower() in VOCABULARY["question"]), None)
    texts: dict[str, object] = {"question": asked or (requests[0][0] if requests and requests[0] else None)}
    choices = [request[1] for request in requests if len(request) > 1 and isinstance(request[1], str)]
    target = sample.get("target")
    if choices:
        texts["text"] = _most_likely(choices, sample.get("filtered_resps"))
        if isinstance(target, str) and target.isdecimal() and int(target) < len(choices):
            texts["reference"] = choices[int(target)].strip()
    else:
        texts |= {
            "text": _first_text(sample.get("resps")),
            "reference": target if isinstance(target, str) else None,
        }
    about = {key: value for key, value in document.items() if key.lower() not in VOCABULARY["question"]}
    return Entry(where, item_id, scores, None, texts, {}, about)


def _requests(arguments: object) -> list[list[object]]:
    """The arguments of the document's requests: a prompt each, with the text whose likelihood is asked or with settings."""
    if isinstance(arguments, JsonObject):
        return [list(one.values()) for one in arguments.values() if isinstance(one, JsonObject)]
    return [one for one in arguments if isinstance(one, list)] if isinstance(arguments, list) else []


def _most_likely(choices: Sequence[str], responses: object) -> str | None:
    """The choice with the highest log-likelihood, as the harness chooses it for `acc`."""
    if not isinstance(responses, list):
        return None
    numbers = [number_in(one[0]) if isinstance(one, list) and one else None for one in responses]
    likely = [(number, -at) for at, number in enumerate(numbers[: len(choices)]) if number is not None]
    return choices[-max(likely)[1]].strip() if likely else None


def _first_text(responses: object) -> str | None:
    while isinstance(responses, list) and responses:
        responses = responses[0]
    return responses if isinstance(responses, str) else None


FORMAT = log_format("lm_eval", "samples of lm-evaluation-harness", holds_log, read_log)
