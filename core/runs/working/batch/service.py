"""A server's batch service, such as OpenAI's: submits the files of a round, waits, and fetches the answers.

`batches.jsonl` in the run's folder has a line for every step of a file, with the file's name in `file`: what is about to be
submitted under which random name (`name`), its uploaded file (`input`), and the batch that the service made (`batch`). A line
without them ends it: its answers are read, or the service refused it. So the process may be killed at any moment: the next
attempt waits for the same batches, and looks a submission up whose answer it never got.
"""

import fcntl
import json
import math
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import InputError, Problems, StorageError, counted
from core.installation import COMMAND
from core.llm.call_settings import AS_USUAL, CallSettings
from core.llm.reaching import normal_url
from core.runs.asked import asked_of
from core.runs.working.batch.answers import AnswersRead, read_answers
from core.runs.working.batch.files import still_waiting
from core.store import Store
from core.store.beside import PARTIAL, append_lines, put_in_place, run_folder, whole_lines
from core.store.runs import get_run

if TYPE_CHECKING:
    from core.llm.batches import Batch, BatchService

_BATCHES = "batches.jsonl"
_CANCELLED = ("cancelled", "cancelling")
_LOOKS = 2
"""Looks at a service's list before it counts as conclusive, because a list may lag behind."""
_BYTES_PER_TOKEN = 64
"""Largest average size of an answer's tokens, in bytes of JSON."""
_BYTES_PER_ANSWER = 65_536
"""Largest size of what surrounds an answer, in bytes."""
_MOST_TOKENS = 131_072
"""Largest answer to a request without a limit, in tokens."""


@dataclass(frozen=True)
class Service:
    """Access to a batch service."""

    base_url: str
    key_variable: str | None
    """The environment variable with its key; None: no key is needed."""
    how: CallSettings = AS_USUAL
    """Its headers and API version are sent with every request."""


class SubmissionLost(InputError):
    """A file may have been submitted, and the service cannot tell; only the user can decide to submit it again."""


@dataclass(frozen=True)
class _Submission:
    """A file on its way; see the module's docstring."""

    file: str
    name: str = ""
    input: str = ""
    batch: str = ""
    note: str = ""
    """What the user has to know about it, as a sentence; may be empty."""


def has_waiting(store: Store, run_id: int) -> bool:
    """Whether requests of the run wait for an answer. None may wait although the run's state says so, after a kill."""
    return any(one.n for one in still_waiting(run_folder(store, run_id)))


def answers_of_service(
    store: Store,
    run_id: int,
    service: Service,
    *,
    every: float,
    again: bool = False,
    tell: Callable[[str], None] = lambda said: None,
    sleep: Callable[[float], None] = time.sleep,
) -> AnswersRead:
    """Have all waiting files of a run answered and read the answers; the run is not resumed yet.

    every: seconds between two questions for the state of the batches. again: submit files whose submission may have
    arrived although nobody can look it up. tell: called with what is being done. Requests for which an ended batch has no
    line are asked again in the next round. Raises InputError if the service refuses a file or cannot be reached, and
    SubmissionLost; batches that it took are waited for by the next call.
    """
    from core.llm.batches import ENDED, BatchService  # imported lazily: its package takes half a second

    folder = run_folder(store, run_id)
    waiting = {name for one in still_waiting(folder) for name in one.files}
    if not waiting:
        raise InputError(f"Run {run_id} has no requests that wait for an answer.")
    with (
        _alone(folder, run_id),
        BatchService(service.base_url, service.key_variable, service.how) as api,
    ):
        desk = _Desk(api, folder, run_id, every, again, tell, sleep)
        batches = {name: desk.submitted(name) for name in sorted(waiting)}
        ended: dict[str, Batch] = {}
        unnamed: Counter[str] = Counter()
        while len(ended) < len(batches):
            for name in batches.keys() - ended.keys():
                found = api.batch(batches[name].batch)
                if found.status == "completed" and not (found.output or found.errors):
                    unnamed[name] += 1
                    _refuse_unnamed(found, name, unnamed[name])
                elif found.status in ENDED:
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
        read.notes += [batches[name].note for name in ended if batches[name].note]
        for name in ended:
            _note(folder, _Submission(name))
        return read


def service_of(store: Store, run_id: int, key_variable: str | None) -> Service:
    """The service at the run's address, with the headers and API version of the run."""
    model = asked_of(get_run(store, run_id)).model
    return Service(normal_url(model.base_url), key_variable, model)


@contextmanager
def _alone(folder: Path, run_id: int) -> Iterator[None]:
    """Keep other processes from submitting files of the run; a process that dies gives way."""
    with (folder / _BATCHES).open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"Another process is submitting the files of run {run_id}, or waits for their answers. "
                "Wait until it ends."
            ) from None
        yield


@dataclass(frozen=True)
class _Desk:
    """Submits the files of a run, each once."""

    api: "BatchService"
    folder: Path
    run_id: int
    every: float
    again: bool
    tell: Callable[[str], None]
    sleep: Callable[[float], None]

    def submitted(self, file: str) -> _Submission:
        """The file with its batch, which is started unless the service has one. Raises InputError and SubmissionLost."""
        one = _noted(self.folder).get(file)
        if one is not None and one.batch:
            return self._take(one, one.batch, self._listed(one))
        if one is None:
            one = self._next(_Submission(file, f"assay-{secrets.token_hex(16)}"))
        elif one.input and (taken := self._sought(one)):
            return taken
        return self._start(one)

    def _start(self, one: _Submission) -> _Submission:
        from core.llm.batches import AnswerLost

        before = one.input
        self.tell(f"uploading {one.file}")
        # Anew in every attempt, because services delete uploads after some time. Noted last before it costs anything.
        one = self._next(replace(one, input=self.api.upload(self.folder / one.file, one.name)))
        self.tell(f"submitting {one.file}")
        try:
            batch = self.api.submit(one.input, one.name)
        except AnswerLost:
            found = self.api.look_up(one.name, one.input)
            if found.batches:
                return self._take(one, "", found.batches)
            if not found.conclusive:
                raise self._lost(one) from None
            raise InputError(
                f"The answer to the submission of {one.file} was lost, and the batch service lists no batch of it. "
                f"`{COMMAND} runs submit {self.run_id}` looks once more, and submits it if there is none."
            ) from None
        except InputError:
            if not before:
                _note(self.folder, _Submission(one.file))  # refused, and never sent before
            raise
        # Noted before anything else is asked, which may fail.
        one = self._next(replace(one, batch=batch.id))
        return self._take(one, one.batch, self._listed(one))

    def _listed(self, one: _Submission) -> Sequence["Batch"]:
        """The newest batches of a submission that a service has; several if a proxy has repeated the request."""
        try:
            return self.api.look_up(one.name, one.input, most_pages=1).batches if one.name else ()
        except InputError:
            return ()  # the file is submitted, with or without a list

    def _sought(self, one: _Submission) -> _Submission | None:
        """The batch of a submission whose answer never came; None: it may be submitted. Raises SubmissionLost."""
        self.tell(f"looking for the batch of {one.file}")
        for look in range(_LOOKS):
            try:
                found = self.api.look_up(one.name, one.input)
            except InputError:
                if not self.again:
                    raise
                return None
            if found.batches:
                return self._take(one, "", found.batches)
            if self.again:
                return None
            if not found.conclusive:
                raise self._lost(one)
            if look < _LOOKS - 1:
                self.sleep(self.every)
        return None

    def _take(self, one: _Submission, known: str, listed: Sequence["Batch"]) -> _Submission:
        """Take the earliest useful batch of a submission, and cancel the others. known: the one taken so far, if any.

        A list without the known batch is not of use.
        """
        from core.llm.batches import ENDED

        if known and not (len(listed) > 1 and any(each.id == known for each in listed)):
            return one

        def rank(batch: "Batch") -> tuple[bool, bool, float, str]:
            empty = batch.status in ENDED and not batch.output
            return batch.status in ("failed", *_CANCELLED), empty, batch.made or math.inf, batch.id

        first, *others = sorted(listed, key=rank)
        cancelled: list[str] = []
        paid: list[str] = []
        for each in others:
            running = each.status not in (*ENDED, *_CANCELLED)
            gone = each.status in _CANCELLED or (running and self.api.cancel(each.id))
            (cancelled if gone else paid).append(each.id)
        note = ""
        if others:
            made = counted(len(listed), "batch", "batches")
            note = f"The service made {made} of {one.file}. Its answers are those of {first.id}."
            note += f" Cancelled: {', '.join(cancelled)}." if cancelled else ""
            note += f" Not cancelled: {', '.join(paid)}." if paid else ""
            self.tell(note)
        taken = replace(one, batch=first.id, note=note)
        return one if taken == one else self._next(taken)

    def _lost(self, one: _Submission) -> SubmissionLost:
        return SubmissionLost(
            f"The answer to the submission of {one.file} was lost, and the batch service cannot tell whether it has it. "
            "Nothing was submitted again.",
            [
                f"Look for a batch of the file {one.input} (uploaded as {one.name}.jsonl) at the service itself.",
                f"If there is one, fetch its answers and read them: {COMMAND} runs answers {self.run_id} FILE",
            ],
        )

    def _next(self, one: _Submission) -> _Submission:
        _note(self.folder, one)
        return one


def _noted(folder: Path) -> dict[str, _Submission]:
    """File -> its submission, of files that are on their way."""
    found: dict[str, _Submission] = {}
    for _, line in whole_lines(folder / _BATCHES):
        values = {name: value for name, value in json.loads(line).items() if value}
        found[values["file"]] = _Submission(**values)
    return {name: one for name, one in found.items() if one.name or one.batch}


def _note(folder: Path, one: _Submission) -> None:
    values = {name: value for name, value in asdict(one).items() if value}
    append_lines(folder / _BATCHES, [json.dumps(values).encode()])


def _refuse_unnamed(batch: "Batch", file: str, looks: int) -> None:
    """Raise InputError if a completed batch still names no file of answers; some services name it a moment later.

    looks: how often it was seen so. The batch stays noted, so that its answers can still be fetched.
    """
    if looks > _LOOKS:
        raise InputError(
            f"The batch service says that batch {batch.id} of {file} is completed, but names no file of answers. "
            "Nothing was submitted again. Try again later."
        )


def _refuse_failed(folder: Path, ended: Mapping[str, "Batch"]) -> None:
    """Raise InputError if the service refused a file as a whole, so that none of its requests was tried."""
    problems = Problems()
    for name, one in ended.items():
        if one.status == "failed":
            _note(folder, _Submission(name))  # the next call submits it again
            problems.append(f"{name}: {one.problem or 'no reason was given'}")
    if problems:
        raise InputError("The batch service refused files", problems)


def _fetched(api: "BatchService", folder: Path, name: str, batch: "Batch") -> Iterator[Path]:
    """Fetch the answers and failures of an ended batch; yields their files."""
    most = _most_bytes(folder / name)
    for what, file_id in (("output", batch.output), ("errors", batch.errors)):
        if file_id:
            path = folder / f"{Path(name).stem}-{what}.fetched"
            partial = path.with_suffix(PARTIAL)
            try:
                api.save(file_id, partial, most)
                put_in_place(partial, path)
            except OSError as problem:
                raise StorageError(f"{path} cannot be written: {problem.strerror or problem}.") from None
            yield path


def _most_bytes(file: Path) -> int:
    """Most bytes that answers to a file of requests take: for each its limit of tokens and what surrounds an answer."""
    n = 0
    for _, line in whole_lines(file):
        body = json.loads(line)["body"]
        limit = body.get("max_completion_tokens") or body.get("max_tokens") or _MOST_TOKENS
        n += _BYTES_PER_ANSWER + limit * _BYTES_PER_TOKEN
    return n
