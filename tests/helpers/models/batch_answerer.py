"""Whoever answers batch files, as a function: the lines that OpenAI's Batch API would return, made by a script."""

import json
from pathlib import Path
from typing import Any

from helpers.processes.scripted_server import Body, Said, Script, completion

from core.runs.working.answers import closed_in
from core.runs.working.batch_files import rounds_in
from core.store import Store
from core.store.beside import run_folder


def requests_of_round(store: Store, run_id: int = 1, number: int = -1) -> list[dict[str, Any]]:
    """The lines of a round's files; the last round unless another is named."""
    folder = run_folder(store, run_id)
    names = rounds_in(folder)[number].files
    return [json.loads(line) for name in names for line in (folder / name).read_bytes().splitlines()]


def waiting_requests(store: Store, run_id: int = 1) -> list[dict[str, Any]]:
    """The lines of all rounds that no answer has come to, each once."""
    folder = run_folder(store, run_id)
    closed = closed_in(folder)
    found = []
    for number in range(len(rounds_in(folder))):
        for line in requests_of_round(store, run_id, number):
            closed[line["custom_id"]] -= 1
            found += [line] if closed[line["custom_id"]] < 0 else []
    return found


def line_of(custom_id: str, body: Body, said: Said | str, n: int = 0) -> dict[str, Any]:
    """The line for one request; a status of 300 or more is an error with the Said's body."""
    said = Said(said) if isinstance(said, str) else said
    response = {"status_code": said.status, "request_id": f"request_{n}"}
    response["body"] = completion(said, body) if said.body is None else said.body
    return {
        "id": f"batch_req_{custom_id[:8]}_{n}",
        "custom_id": custom_id,
        "response": response,
        "error": None,
    }


def answered(requests: list[dict[str, Any]], script: Script) -> list[dict[str, Any]]:
    """The lines of the answers, in the reverse order of the requests."""
    return [
        line_of(one["custom_id"], one["body"], script(one["body"], n), n) for n, one in enumerate(requests)
    ][::-1]


def as_file(path: Path, lines: list[dict[str, Any]]) -> Path:
    """The lines as a file."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
