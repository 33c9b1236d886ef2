"""A server's batch service, such as OpenAI's: submits the files of a round, waits, and fetches the answers.

`batches.jsonl` in the run's folder has a line for each file that was submitted, {"file", "batch"}, and one with the batch null
once its answers are read. So whoever waits may be killed: the next attempt waits for the same batches.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import InputError, Problems
from core.llm.exchange import short
from core.llm.reaching import Key, normal_url
from core.runs.asked import asked_of
from core.runs.working.batch_answers import AnswersRead, read_answers
from core.runs.working.batch_files import URL, still_waiting
from core.store import Store
from core.store.beside import append_lines, run_folder, whole_lines
from core.store.runs import get_run

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types import Batch

_BATCHES = "batches.jsonl"
_ENDED = frozenset({"completed", "expired", "cancelled", "failed"})
_TIMEOUT = 600.0
"""Seconds for one upload or download."""


@dataclass(frozen=True)
class Service:
    """Access to a batch service."""

    base_url: str
    key_variable: str | None
    """The environment variable with its key; None: no key is needed."""


def answers_of_service(
    store: Store,
    run_id: int,
    service: Service,
    *,
    every: float,
    tell: Callable[[str], None] = lambda said: None,
    sleep: Callable[[float], None] = time.sleep,
) -> AnswersRead:
    """Have all waiting files of a run answered and read the answers; the run is not resumed yet.

    every: seconds between two questions for the state of the batches. tell: called with what is being done. Requests
    for which an ended batch has no line are asked again in the next round. Raises InputError if the service refuses a file or cannot
    be reached; batches that it took are waited for by the next call.
    """
    folder = run_folder(store, run_id)
    waiting = {name for one in still_waiting(folder) for name in one.files}
    if not waiting:
        raise InputError(f"Run {run_id} has no requests that wait for an answer.")
    with _connected(service) as api:
        for name in sorted(waiting - _submitted(folder).keys()):
            tell(f"uploading {name}")
            _note(folder, name, _submit(api, folder / name))
        batches = {name: one for name, one in _submitted(folder).items() if name in waiting}
        ended: dict[str, Batch] = {}
        while len(ended) < len(batches):
            for name in batches.keys() - ended.keys():
                if (found := api.batches.retrieve(batches[name])).status in _ENDED:
                    ended[name] = found
            if len(ended) < len(batches):
                tell(f"waiting for {len(batches) - len(ended)} of {len(batches)} batches")
                sleep(every)
        _refuse_failed(folder, ended)
        with ExitStack() as files:
            fetched = [
                (path.name, files.enter_context(path.open("rb")))
                for name, one in ended.items()
                for path in _fetched(api, folder, name, one)
            ]
            read = read_answers(store, run_id, fetched, give_up=True)
        for name in ended:
            _note(folder, name, None)
        return read


def service_of(store: Store, run_id: int, key_variable: str | None) -> Service:
    """The service at the run's address."""
    return Service(normal_url(asked_of(get_run(store, run_id)).model.base_url), key_variable)


@contextmanager
def _connected(service: Service) -> Iterator["OpenAI"]:
    """The client of the service; its failures become InputErrors without the key."""
    import openai  # imported lazily: it takes half a second to load

    key = Key(service.key_variable)
    try:
        with openai.OpenAI(api_key=key.reveal(), base_url=service.base_url, timeout=_TIMEOUT) as api:
            api.organization = api.project = None  # read from the environment, and meant for another server
            yield api
    except openai.APIStatusError as problem:
        said = short(key.hide(problem.message))
        raise InputError(
            f"The batch service at {service.base_url} answered {problem.status_code}: {said}"
        ) from None
    except openai.OpenAIError as problem:
        raise InputError(
            f"The batch service at {service.base_url} cannot be reached ({type(problem).__name__})."
        ) from None


def _submit(api: "OpenAI", path: Path) -> str:
    """Upload a file and start its batch; returns the batch's id."""
    with path.open("rb") as file:
        uploaded = api.files.create(file=file, purpose="batch")
    started = api.batches.create(input_file_id=uploaded.id, endpoint=URL, completion_window="24h")
    return started.id


def _submitted(folder: Path) -> dict[str, str]:
    """File -> its batch, of files whose batches are waited for."""
    found: dict[str, str | None] = {}
    if (folder / _BATCHES).is_file():
        for _, line in whole_lines(folder / _BATCHES):
            one = json.loads(line)
            found[one["file"]] = one["batch"]
    return {name: batch for name, batch in found.items() if batch is not None}


def _note(folder: Path, name: str, batch: str | None) -> None:
    append_lines(folder / _BATCHES, [json.dumps({"file": name, "batch": batch}).encode()])


def _refuse_failed(folder: Path, ended: Mapping[str, "Batch"]) -> None:
    """Raise InputError if the service refused a file as a whole, so that none of its requests was tried."""
    problems = Problems()
    for name, one in ended.items():
        if one.status == "failed":
            _note(folder, name, None)  # the next call submits it again
            told = [error.message or error.code or "" for error in (one.errors and one.errors.data) or ()]
            problems.append(f"{name}: {short('; '.join(told)) or 'no reason was given'}")
    if problems:
        raise InputError("The batch service refused files", problems)


def _fetched(api: "OpenAI", folder: Path, name: str, batch: "Batch") -> Iterator[Path]:
    """Fetch the answers and failures of an ended batch; yields their files."""
    for what, file_id in (("output", batch.output_file_id), ("errors", batch.error_file_id)):
        if file_id:
            path = folder / f"{Path(name).stem}-{what}.fetched"
            with api.files.with_streaming_response.content(file_id) as response:
                response.stream_to_file(path)
            yield path
