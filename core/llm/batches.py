"""A server's batch service, in the form of OpenAI's Batch API: upload a file, start its batch, look it up, fetch its answers.

Everything that a service answers is checked, because "compatible" services leave fields out.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx2
import openai

from core.errors import InputError
from core.llm.call_settings import AS_USUAL, CallSettings
from core.llm.exchange import BATCH_URL, message_of, refused_parts, short
from core.llm.guarded import Connection, TooMuch, connect, save_answer, transfer_seconds

ENDED = frozenset({"completed", "expired", "cancelled", "failed"})
"""States of a batch that no longer change."""
_SECONDS = 120.0
"""Longest time of an exchange that carries no file."""
_REPEATS = 2
"""Repetitions of a question. What starts a batch is never repeated unseen, because each one is paid."""
_PAGE = 100
_MOST_PAGES = 200
_LABEL = "assay"
"""Name in a batch's metadata under which it has its random name."""
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
"""Failures of a connection before anything was sent."""
_MAY_PASS = frozenset({408, 425, 429})
_Answer = TypeVar("_Answer")


class AnswerLost(InputError):
    """No readable answer to a request for a batch came, so that nobody knows whether the service started it."""


@dataclass(frozen=True)
class Batch:
    """A batch as its service describes it."""

    id: str
    status: str
    made: float
    """Seconds since 1970 by the service's clock; 0: it does not say."""
    name: str
    """Its random name in the metadata; empty: none."""
    keeps_metadata: bool
    """Whether the service has given any metadata of it back."""
    input: str
    """Id of its uploaded file."""
    output: str
    """Id of the file of answers; empty: none."""
    errors: str
    """Id of the file of failures; empty: none."""
    problem: str
    """Why the service refused its file; may be empty."""


@dataclass(frozen=True)
class Lookup:
    """What a service tells about a batch of a name."""

    batches: tuple[Batch, ...]
    """Those of the name or of its uploaded file."""
    conclusive: bool
    """Whether a batch that is not listed does not exist."""


class BatchService:
    """Access to a batch service; a context manager, for one thread without an event loop.

    Methods raise InputError, without secrets, if the service refuses or cannot be reached.
    """

    def __init__(self, base_url: str, key_variable: str | None, how: CallSettings = AS_USUAL) -> None:
        self._base_url, self._key_variable, self._how = base_url, key_variable, how

    def __enter__(self) -> Self:
        self._runner = asyncio.Runner()
        try:
            self._to = self._runner.run(self._connect())
        except BaseException:
            self._runner.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._runner.run(self._to.api.close())
        finally:
            self._runner.close()

    async def _connect(self) -> Connection:
        return connect(self._base_url, self._key_variable, self._how, seconds=_SECONDS)

    def _run(self, asked: Coroutine[Any, Any, _Answer]) -> _Answer:
        with self._failures_told():
            return self._runner.run(asked)

    def upload(self, path: Path, name: str) -> str:
        """Upload a file of requests under a name; returns its id."""
        return self._run(self._upload(path, name))

    async def _upload(self, path: Path, name: str) -> str:
        with path.open("rb") as file:
            response = await self._to.api.post(
                "/files",
                cast_to=httpx2.Response,
                body={"purpose": "batch"},
                files=[("file", (f"{name}.jsonl", file))],
                options={
                    "headers": {"Content-Type": "multipart/form-data"},
                    "timeout": transfer_seconds(path.stat().st_size),
                },
            )
        found = _text(_object_in(response.content), "id")
        if not found:
            raise InputError(f"The batch service at {self._base_url} has not named the uploaded file.")
        return found

    def submit(self, file_id: str, name: str) -> Batch:
        """Start a batch of an uploaded file, with a random name in its metadata.

        A service that refuses metadata gets none. Raises AnswerLost if nobody knows whether the batch was started.
        """
        return self._run(self._submit(file_id, name))

    async def _submit(self, file_id: str, name: str) -> Batch:
        body: dict[str, object] = {
            "input_file_id": file_id,
            "endpoint": BATCH_URL,
            "completion_window": "24h",
            "metadata": {_LABEL: name},
        }
        lost = AnswerLost(f"The batch service at {self._base_url} has not answered whether it took the file.")
        while True:
            try:
                response = await self._to.api.post(
                    "/batches",
                    cast_to=httpx2.Response,
                    body=body,
                    # A service that knows this header starts one batch even if a proxy repeats the request.
                    # A body without metadata is another request.
                    options={"headers": {"Idempotency-Key": name if "metadata" in body else f"{name}-plain"}},
                )
            except openai.APIStatusError as error:
                status = error.response.status_code
                if "metadata" in refused_parts(status, error.response.content, body):
                    del body["metadata"]
                    continue
                # A redirect may lead to the batch that was made; 409: it has the name, from a repeated request.
                if 300 <= status < 400 or status in (408, 409) or status >= 500:
                    raise lost from None
                raise
            except openai.APIConnectionError as error:
                if isinstance(error.__cause__, _NOT_SENT):
                    raise
                raise lost from None
            except TooMuch:
                raise lost from None
            if (found := _batch_in(_object_in(response.content))) is None:
                raise lost
            return found

    def look_up(self, name: str, file_id: str, most_pages: int = _MOST_PAGES) -> Lookup:
        """The batches of a random name or of an uploaded file, from the service's list.

        Not listed is conclusive only if the whole list was read and shows that the service keeps metadata.
        """
        return self._run(self._look_up(name, file_id, most_pages))

    async def _look_up(self, name: str, file_id: str, most_pages: int) -> Lookup:
        listed: dict[str, Batch] = {}
        after = ""
        whole = False
        for _ in range(most_pages):
            asked = {"limit": _PAGE, **({"after": after} if after else {})}
            try:
                data = await self._get("/batches", asked)
            except openai.APIStatusError as error:
                status = error.response.status_code
                if not 400 <= status < 500 or status == 401 or status in _MAY_PASS:
                    raise
                break  # it has no list, or none for this key
            page = _object_in(data)
            entries = page.get("data")
            batches = [_batch_in(entry) for entry in entries] if isinstance(entries, list) else [None]
            new = {one.id: one for one in batches if one is not None and one.id not in listed}
            listed |= new
            if None in batches:
                break
            more = page.get("has_more")
            if more is False or not new:
                # A list that does not say where it ends, or goes round in circles, may have more than it shows.
                whole = more is False or (not entries and more is None)
                break
            after = next(reversed(new))
        found = [one for one in listed.values() if one.name == name or one.input == file_id]
        # A service that drops metadata lists batches without it, and some list nothing. On one that keeps it, others may
        # have been made without.
        named = any(one.keeps_metadata for one in listed.values())
        return Lookup(tuple(found), whole and named)

    def batch(self, batch_id: str) -> Batch:
        """The present state of a batch."""
        found = _batch_in(_object_in(self._run(self._get(f"/batches/{quote(batch_id, safe='')}"))))
        if found is None:
            raise InputError(
                f"The batch service at {self._base_url} has not told the state of batch {batch_id}."
            )
        return found

    def cancel(self, batch_id: str) -> bool:
        """Cancel a batch; returns whether the service agreed."""
        try:
            self._run(self._cancel(batch_id))
        except InputError:
            return False
        return True

    async def _cancel(self, batch_id: str) -> None:
        where = f"/batches/{quote(batch_id, safe='')}/cancel"
        await self._to.api.post(where, cast_to=httpx2.Response, options={"max_retries": _REPEATS})

    def save(self, file_id: str, path: Path, most: int) -> None:
        """Fetch a file of answers. Nothing is left of one that is larger than `most` bytes, which is an InputError."""
        try:
            self._run(self._save(file_id, path, most))
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    async def _save(self, file_id: str, path: Path, most: int) -> None:
        content = self._to.api.files.with_streaming_response.content
        async with content(file_id) as response:
            with path.open("wb") as file:
                await save_answer(response.http_response, file, most)

    async def _get(self, where: str, asked: Mapping[str, object] | None = None) -> bytes:
        response = await self._to.api.get(
            where, cast_to=httpx2.Response, options={"params": asked or {}, "max_retries": _REPEATS}
        )
        return response.content

    @contextmanager
    def _failures_told(self) -> Iterator[None]:
        """Failures become InputErrors without secrets."""
        hide: Callable[[str], str] = self._to.hide
        service = f"The batch service at {self._base_url}"
        try:
            yield
        except openai.APIStatusError as error:
            status = error.response.status_code
            if redirected := self._to.redirected(status):
                raise InputError(f"{service} cannot be used", [redirected]) from None
            said = short(hide(message_of(error.response.content)))
            raise InputError(f"{service} answered {status}" + (f": {said}" if said else ".")) from None
        except TooMuch as error:
            raise InputError(f"{service} cannot be used", [str(error)]) from None
        except openai.APITimeoutError:
            raise InputError(f"{service} has not answered in time. Try again later.") from None
        except openai.OpenAIError as error:
            raise InputError(f"{service} cannot be reached ({type(error).__name__}).") from None


def _object_in(data: bytes) -> Mapping[str, object]:
    """The JSON object in an answer; empty if it has none."""
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(value: Mapping[str, object], name: str) -> str:
    """A field that may be an id or a word; empty if it is not one."""
    found = value.get(name)
    return found if isinstance(found, str) and len(found) <= 1_000 and found not in (".", "..") else ""


def _batch_in(value: object) -> Batch | None:
    """A batch as a service describes it; None: this is no batch."""
    if not isinstance(value, dict) or not (found := _text(value, "id")):
        return None
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    made = value.get("created_at")
    errors = value.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else None
    told = [
        _text(one, "message") or _text(one, "code")
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict)
    ]
    return Batch(
        id=found,
        status=_text(value, "status"),
        made=float(made) if isinstance(made, int | float) else 0.0,
        name=_text(metadata, _LABEL),
        keeps_metadata=bool(metadata),
        input=_text(value, "input_file_id"),
        output=_text(value, "output_file_id"),
        errors=_text(value, "error_file_id"),
        problem=short("; ".join(filter(None, told))),
    )
