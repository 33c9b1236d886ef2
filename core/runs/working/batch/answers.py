"""Answers to batch files, as OpenAI's Batch API and `vllm run-batch` write them: read, checked, and stored for the run.

A line is {"id", "custom_id", "response": {"status_code", "body"}, "error"}. OpenAI writes failures to a second file, with
the error in the body, or without a response if the request was not tried in time; vLLM writes them among the answers, with the
error in `error`. The lines may come in any order, and from several files.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from core.errors import InputError, Problems, counted
from core.llm.client import TRANSPORT, Reason, Reply
from core.llm.exchange import MOST_BYTES, completion_in, message_of, read_failure, refused_parts
from core.runs.progress import why_not_now
from core.runs.working.answers import Delivered, delivered_in, files_of_answers, store_answers
from core.runs.working.batch.files import requests_in, rounds_in
from core.store import Store
from core.store.beside import run_folder
from core.store.runs import get_run
from core.tables.reading import shown

AnswerFile = tuple[str, BinaryIO]
"""Name and open content of a file of answers."""
_NAME_LENGTH = 16


@dataclass
class AnswersRead:
    """What the lines of answer files were."""

    n_answered: int = 0
    """Requests with a reply, usable or not."""
    failed: Counter[Reason] = field(default_factory=Counter)
    """Reason -> number of requests that failed, with TRANSPORT reasons asked again in the next round."""
    n_changed: int = 0
    """Requests asked again without parts that the server refuses."""
    n_given_up: int = 0
    """Requests that no answer came to, asked again because the user said so."""
    n_before: int = 0
    """Lines that were read before, or answer a request that has its answer."""
    n_missing: int = 0
    """Requests of all rounds that still wait for an answer."""
    last: str = ""
    """Message of the last failure."""
    notes: list[str] = field(default_factory=list)
    """What happened on the way, in sentences."""

    @property
    def said(self) -> tuple[str, ...]:
        """What was read, in sentences."""
        lines = [*self.notes, f"Read answers to {_requests(self.n_answered)}."]
        for reason, n in self.failed.most_common():
            then = "; the next round asks again" if reason in TRANSPORT else ""
            lines.append(f"Failed ({reason}): {_requests(n)}{then}.")
        if self.last:
            lines.append(f"Last failure: {self.last}")
        if self.n_changed:
            lines.append(f"Asked again without what the server refuses: {_requests(self.n_changed)}.")
        if self.n_given_up:
            lines.append(f"Given up and asked again: {_requests(self.n_given_up)}.")
        if self.n_before:
            lines.append(f"Left out because their requests have an answer: {counted(self.n_before, 'line')}.")
        if self.n_missing:
            lines.append(f"Still without an answer: {_requests(self.n_missing)}.")
        return tuple(lines)


def _requests(n: int) -> str:
    return counted(n, "request")


def read_answers(
    store: Store, run_id: int, files: Sequence[AnswerFile], *, give_up: bool = False
) -> AnswersRead:
    """Store the answers in these files for the run, all or none of them; the run is not resumed yet.

    give_up: ask requests that no answer came to again in the next round, because none will come. Raises InputError with
    every problem of the files, and while a process works on the run.
    """
    run = get_run(store, run_id)
    if why := why_not_now(run):
        raise InputError(why)
    folder = run_folder(store, run_id)
    if not rounds_in(folder):
        raise InputError(f"Run {run_id} has written no batch file, so there is nothing to answer.")
    before = files_of_answers(folder)
    reader = _Reader(folder, run_id)
    if files or give_up:
        store_answers(store, folder, before, reader.all_of(files, give_up=give_up))
    return reader.read


class _Reader:
    """Reads answer files against the requests of a run."""

    def __init__(self, folder: Path, run_id: int) -> None:
        self.read = AnswersRead()
        self._run_id = run_id
        self._places: dict[str, tuple[Path, int]] = {}
        """Key -> file and offset of the last line that asks it."""
        self._waiting: Counter[str] = Counter()
        for one in rounds_in(folder):
            for key, path, at in requests_in(folder, one):
                self._places[key] = path, at
                self._waiting[key] += 1
        self._before: set[tuple[str, str]] = set()
        for line in delivered_in(folder):
            self._waiting[line.key] -= 1
            self._before.add((line.key, line.id))

    def all_of(self, files: Sequence[AnswerFile], *, give_up: bool) -> Iterator[Delivered]:
        """The ends of requests in these files. Raises InputError at the end if a line is wrong."""
        problems = Problems()
        seen: dict[str, str] = {}
        n_unknown = n_lines = 0
        for name, content in files:
            for number, line in enumerate(_lines_of(content), 1):
                if not line.strip():
                    continue
                n_lines += 1
                where = f"line {number}" if len(files) == 1 else f"line {number}, file {shown(name)}"
                if len(line) > MOST_BYTES:
                    problems.append(f"{where}: longer than {MOST_BYTES // 1_000_000} MB")
                    continue
                value = _object_in(line)
                if isinstance(value, str):
                    problems.append(f"{where}: {value}")
                    continue
                key = value["custom_id"]
                assert isinstance(key, str), "checked by _object_in"
                if key not in self._places:
                    n_unknown += 1
                    problems.append(
                        f"{where}: run {self._run_id} has no request with the custom_id {shown(key)}"
                    )
                    continue
                name_of_line = _name_of(line)
                if (key, name_of_line) in self._before or (self._waiting[key] <= 0 and key not in seen):
                    self.read.n_before += 1
                    continue
                if key in seen:
                    problems.append(f"{where}: custom_id {shown(key)} is in {seen[key]} too")
                    continue
                seen[key] = where
                self._waiting[key] -= 1
                yield self._end_of(key, name_of_line, value)
        if files and not n_lines:
            problems.append("there is no line with an answer")
        if n_unknown and n_unknown == n_lines:
            problems.append("no line answers this run: are these the answers to another run's file?")
        if problems:
            names = ", ".join(shown(name) for name, _ in files)
            raise InputError(f"{names} cannot be read: {problems.counted}, so nothing was stored", problems)
        for key, n in self._waiting.items():
            if n > 0 and give_up:
                self.read.n_given_up += 1
                yield Delivered(key, None, "given up")
            elif n > 0:
                self.read.n_missing += 1

    def _end_of(self, key: str, name: str, value: Mapping[str, object]) -> Delivered:
        """What a line says of its request."""
        response, error = value.get("response"), value.get("error")
        status = response.get("status_code") if isinstance(response, dict) else None
        body = response.get("body") if isinstance(response, dict) else None
        if not error and status == 200 and isinstance(body, dict):
            reply = completion_in(body)
        else:
            told = json.dumps(body or (error if isinstance(error, dict) else {"error": error})).encode()
            if not isinstance(status, int) or status < 300:
                late = "expired" in told.decode()
                said = message_of(told) or "The answer has neither a response nor an error."
                reply = Reply(None, "timeout" if late else "server error", said)
            else:
                if parts := refused_parts(status, told, self._body_of(key)):
                    self.read.n_changed += 1
                    return Delivered(key, None, name, parts)
                reply = read_failure(status, told)
        if reply.reason in TRANSPORT or reply.reason in ("rejected", "too long"):
            self.read.failed[reply.reason] += 1
            self.read.last = reply.detail
        else:
            self.read.n_answered += 1
        return Delivered(key, reply, name)

    def _body_of(self, key: str) -> Mapping[str, object]:
        path, at = self._places[key]
        with path.open("rb") as file:
            file.seek(at)
            body: Mapping[str, object] = json.loads(file.readline())["body"]
            return body


def _lines_of(content: BinaryIO) -> Iterator[bytes]:
    """The lines of a file. Of one that is longer than MOST_BYTES only the beginning, so that memory holds no more."""
    while line := content.readline(MOST_BYTES + 1):
        rest = line
        while len(rest) > MOST_BYTES and not rest.endswith(b"\n"):
            rest = content.readline(MOST_BYTES + 1)
        yield line


def _object_in(line: bytes) -> dict[str, object] | str:
    """The line's JSON object, or what is wrong with it."""
    try:
        value: object = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return "not JSON; is the file complete?" if not line.endswith(b"\n") else "not JSON"
    if not isinstance(value, dict):
        return "not a JSON object"
    key = value.get("custom_id")
    if not isinstance(key, str) or not key:
        return "custom_id is missing"
    if "body" in value and "response" not in value and "error" not in value:
        return "this is a request, not an answer; choose the file of the answers"
    if value.get("response") is None and value.get("error") is None:
        return "has neither a response nor an error"
    return value


def _name_of(line: bytes) -> str:
    """A hash of the line. Its id would not do: who writes such files by hand may give a request's answers one id."""
    return hashlib.sha256(line.strip()).hexdigest()[:_NAME_LENGTH]


def opened(paths: Iterable[Path]) -> list[AnswerFile]:
    """The files, open for reading. Raises InputError that names each one that cannot be read."""
    files: list[AnswerFile] = []
    problems = Problems()
    for path in paths:
        try:
            files.append((path.name, path.open("rb")))
        except OSError as problem:
            problems.append(f"{path}: {problem.strerror or problem}")
    if problems:
        raise InputError("Some files of answers cannot be read", problems)
    return files
