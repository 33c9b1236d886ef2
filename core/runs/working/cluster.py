"""Pure functions over batches on a Ray cluster, through Ray Data: a worker that dies loses nothing but what kills it.

Ray is imported only where a cluster is started: most environments do not have it.
"""

import importlib.util
import logging
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from core import __version__
from core.errors import AssayError, InputError
from core.installation import HOUSE

Item = TypeVar("Item")
Done = TypeVar("Done")
TRIES = 2
"""Times that a batch is worked on before its worker's death is blamed on it."""
PIECES = 8
"""Pieces of a batch that killed its workers. Halves would need three times as many rounds, each with a new worker."""
MOST_LOST = 20
"""Items lost one after the other, with none that came back, after which the cluster is blamed and not the items."""
START_SECONDS = 60.0
"""Longest wait for a cluster to answer."""


@dataclass(frozen=True)
class Lost:
    """In the place of an item's result: no worker survived the item."""

    reason: str
    """One sentence without a full stop."""


LOST = Lost(f"its worker died {TRIES} times")


def spread(
    function: Callable[[Sequence[Item]], Sequence[Done]],
    batches: Sequence[Sequence[Item]],
    *,
    address: str = "",
    workers: int = 1,
) -> Iterator[tuple[int, list[Done | Lost]]]:
    """Apply a function to batches on a cluster of their own; see Cluster, which does this several times."""
    with Cluster(address, workers) as cluster:
        yield from cluster.spread(function, batches)


class Cluster:
    """A Ray cluster: started here and ended with the run, or one that is there already, which the run joins.

    One process has one cluster at a time. `start` and `close` belong to a thread that lives as long as the cluster, because
    the processes of a cluster that is started here end with the thread that started them: so they end however the run ends.
    """

    def __init__(self, address: str = "", workers: int = 1) -> None:
        """address: of a cluster that is there; empty: start one here, with this number of workers."""
        self._address = address
        self._workers = workers
        self._guard: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._holder: threading.Thread | None = None
        self._release = threading.Event()
        self._pickled: dict[int, tuple[Any, _Worked]] = {}
        """Identity of a function -> it, and what workers get."""
        self._closing = threading.Event()
        self.width = workers
        """Number of batches that are worked on at the same time; after start, the processors of the cluster."""

    def start(self) -> None:
        """Start or join the cluster; nothing if that was done.

        Raises InputError if Ray is not here, or the cluster does not answer or does not fit.
        """
        with self._lock:
            if self._holder is None:
                self._start()

    def _start(self) -> None:
        if importlib.util.find_spec("ray") is None:
            raise InputError(
                f"Ray is not installed in {sys.prefix}. Install it there with "
                f"`{sys.executable} -m pip install -r {HOUSE / 'requirements-ray.txt'}`."
            )
        ready: list[BaseException | None] = []
        begun = threading.Event()

        def hold() -> None:
            try:
                self._begin()
                ready.append(None)
            except BaseException as problem:
                ready.append(problem)
            begun.set()
            self._release.wait()
            self._end()

        self._holder = threading.Thread(target=hold, name="ray", daemon=True)
        self._holder.start()
        begun.wait()
        if isinstance(problem := ready[0], BaseException):
            self.close()
            if isinstance(problem, AssayError):
                raise problem
            where = f"at {self._address} " if self._address else ""
            raise InputError(
                f"The Ray cluster {where}did not start: {_one_line(problem)}. {_HOW if self._address else ''}".rstrip()
            ) from problem

    def _begin(self) -> None:
        folder = None if self._address else Path(tempfile.mkdtemp(prefix="assay-ray-"))
        if folder is not None:
            self._guard = _guarded(folder)
        with _quiet_start():
            import ray
            import ray.data

            logging.getLogger("ray").setLevel(logging.ERROR)
            # Ray prints each death of a worker on standard output, where commands write results.
            ray._private.worker._worker_logs_enabled = False
            how: dict[str, Any] = {
                "log_to_driver": False,
                "logging_level": "ERROR",
                "configure_logging": True,
            }
            if self._address:
                # The machines of the cluster have the packages, and get this very version of Assay from here.
                _someone_listens(self._address)
                files = {"py_modules": [str(HOUSE / "core")], "config": {"setup_timeout_seconds": 300}}
                ray.init(address=self._address, runtime_env=files, **how)
            else:
                ray.init(
                    address="local",
                    num_cpus=self._workers,
                    num_gpus=None,
                    include_dashboard=False,
                    _temp_dir=str(folder),
                    **how,
                )
            _quiet_data()
            self._check_nodes()
            self.width = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def _check_nodes(self) -> None:
        """Raise InputError unless every machine of the cluster can work like this one."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = _versions()
        asked = {
            node["NodeID"]: ray.remote(num_cpus=0, max_retries=1)(_versions)
            .options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
            .remote()
            for node in ray.nodes()
            if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
        }
        if not asked:
            raise InputError("The Ray cluster has no machine with a free processor.")
        names = {node["NodeID"]: node["NodeManagerAddress"] for node in ray.nodes()}
        problems = []
        for node, answer in asked.items():
            try:
                there = ray.get(answer, timeout=START_SECONDS * 5)
            except Exception as problem:
                problems.append(f"{names[node]}: {_one_line(problem)}")
                continue
            problems += [
                f"{names[node]} has {name} {there.get(name, 'missing')}, this machine has {version}"
                for name, version in here.items()
                if there.get(name) != version
            ]
        if problems:
            raise InputError(
                f"The machines of the Ray cluster differ, so results could too. {_HOW}", problems
            )

    def _end(self) -> None:
        with suppress(Exception):
            import ray

            ray.shutdown()
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.close()
            self._guard.wait()

    def close(self) -> None:
        """End the cluster that was started here, or leave the one that was joined; what is being worked on is given up."""
        self._closing.set()
        self._release.set()
        if self._holder is not None:
            self._holder.join()

    def __enter__(self) -> "Cluster":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def spread(
        self,
        function: Callable[[Sequence[Item]], Sequence[Done]],
        batches: Sequence[Sequence[Item]],
        *,
        gpus: float = 0,
    ) -> Iterator[tuple[int, list[Done | Lost]]]:
        """Yield (index of a batch, one result for each of its items), as batches are finished, in any order.

        function: picklable and pure, because a batch may be worked on again: it takes the items of a batch and returns a
        result for each of them, in their order. A worker reads it once, and keeps it for all calls with the same object, so
        that it can hold what it opens and what all batches need. gpus: GPUs that one call of it needs.

        A batch whose worker dies is tried once more. If that worker dies too, the batch is worked on in pieces, down to the
        item that kills its workers, which gets a Lost instead of a result; all others have their results. Raises what the
        function raises, and InputError if no worker survives anything. Several threads may spread at the same time.
        """
        yield from pieced(partial(self._round, function, gpus), batches, self._closing.is_set)

    def _round(
        self,
        function: Callable[[Sequence[Any]], Sequence[Any]],
        gpus: float,
        pieces: Sequence[Sequence[Any]],
        tries: int,
    ) -> Iterator[tuple[int, Sequence[Any]]]:
        """Yield (index, results) of the pieces whose workers survive."""
        import pyarrow as pa
        import ray

        tables = [
            pa.table({"at": pa.array([at]), "data": pa.array([pickle.dumps(list(piece))], pa.large_binary())})
            for at, piece in enumerate(pieces)
        ]
        needs: dict[str, Any] = {"max_retries": tries - 1} | ({"num_gpus": gpus} if gpus else {})
        done = ray.data.from_arrow(tables).map_batches(
            self._worked(function).__call__, batch_size=None, batch_format="pyarrow", **needs
        )
        for table in done.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
            for at, data in zip(table["at"].to_pylist(), table["data"].to_pylist(), strict=True):
                good, said = pickle.loads(data)
                if not good:
                    raise said
                yield at, said
            if self._closing.is_set():
                return

    def _worked(self, function: Callable[[Sequence[Any]], Sequence[Any]]) -> "_Worked":
        with self._lock:
            if id(function) not in self._pickled:
                self._pickled[id(function)] = function, _Worked(os.urandom(8).hex(), pickle.dumps(function))
            return self._pickled[id(function)][1]


_HOW = "Every machine needs the packages of requirements-ray.txt, with the same versions of Python and Ray."


def pieced(
    worked: Callable[[Sequence[Sequence[Item]], int], Iterator[tuple[int, Sequence[Done]]]],
    batches: Sequence[Sequence[Item]],
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[int, list[Done | Lost]]]:
    """Work on batches, and on those that do not come back in pieces; see Cluster.spread.

    worked: given pieces and a number of tries, yields (index, results) of those that come back.
    """
    results: list[list[Done | Lost | None]] = [[None] * len(batch) for batch in batches]
    missing = [len(batch) for batch in batches]
    yield from ((at, []) for at, batch in enumerate(batches) if not batch)
    todo = [(at, 0, len(batch)) for at, batch in enumerate(batches) if batch]
    lost, came, tries = 0, False, TRIES
    while todo and not stopped():
        pieces = [batches[at][begin:end] for at, begin, end in todo]
        gone = dict(enumerate(todo))
        for index, found in worked(pieces, tries):
            at, begin, end = gone.pop(index)
            if len(found) != end - begin:
                raise RuntimeError(f"{end - begin} items got {len(found)} results")
            came = True
            results[at][begin:end] = found
            missing[at] -= end - begin
            if not missing[at]:
                yield at, results[at]  # type: ignore[misc]  # nothing is missing any more
        if stopped():
            return
        todo = []
        for at, begin, end in gone.values():
            if end - begin > 1:
                todo += [(at, *part) for part in _parts(begin, end)]
            elif tries < TRIES:
                todo.append((at, begin, end))
            else:
                lost += 1
                results[at][begin] = LOST
                missing[at] -= 1
                if not came and lost > MOST_LOST:
                    raise InputError(
                        f"No worker of the Ray cluster survives: all died on {lost} items, and none finished any. Look for "
                        "the reason on its machines, such as too little memory."
                    )
                if not missing[at]:
                    yield at, results[at]  # type: ignore[misc]  # nothing is missing any more
        # Larger pieces are only searched for what kills: a second try would cost another worker and tell nothing.
        tries = TRIES if all(end - begin == 1 for _, begin, end in todo) else 1


def _parts(begin: int, end: int) -> Iterator[tuple[int, int]]:
    n = min(PIECES, end - begin)
    for part in range(n):
        yield begin + (end - begin) * part // n, begin + (end - begin) * (part + 1) // n


@dataclass(frozen=True)
class _Worked:
    """The work on one block, in a worker."""

    key: str
    """Of the function: a worker reads it once, and it keeps what it opens."""
    function: bytes

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        answers = [_answer(self, data) for data in table["data"].to_pylist()]
        return pa.table({"at": table["at"], "data": pa.array(answers, pa.large_binary())})


def _answer(work: _Worked, data: bytes) -> bytes:
    """Whether the function worked, and its result or what it raised."""
    try:
        return pickle.dumps((True, list(_read(work)(pickle.loads(data)))))
    except Exception as problem:
        traceback.print_exc(file=sys.stderr)
        try:
            said = pickle.dumps((False, problem))
            pickle.loads(said)  # some exceptions are written, but cannot be read
        except Exception:
            said = pickle.dumps((False, RuntimeError(f"{type(problem).__name__}: {problem}")))
        return said


_functions: dict[str, Callable[[Sequence[Any]], Sequence[Any]]] = {}
"""Key -> function, in a worker."""


def _read(work: _Worked) -> Callable[[Sequence[Any]], Sequence[Any]]:
    if work.key not in _functions:
        _functions[work.key] = pickle.loads(work.function)
    return _functions[work.key]


def _versions() -> dict[str, str]:
    """Versions that must be the same on all machines."""
    from importlib.metadata import version

    return {
        "Assay": __version__,
        "Python": ".".join(map(str, sys.version_info[:2])),
        **{name: version(name) for name in ("ray", "numpy", "scipy", "sacrebleu", "rapidfuzz", "nltk")},
    }


def _guarded(folder: Path) -> "subprocess.Popen[bytes]":
    """Start a process that ends what is left of a cluster and removes its folder, once this process closes it or is gone.

    Ray's main processes end with this one, but some helpers of theirs would stay for minutes after a kill -9.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "core.runs.working.cluster", str(folder)],
        cwd=HOUSE,
        stdin=subprocess.PIPE,
        start_new_session=True,
    )


def _end_what_is_left(folder: str) -> None:
    """Wait until the driver is gone or done, then end the processes that were started with this folder, and remove it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    driver = os.getppid()
    sys.stdin.buffer.read()
    for process in Path("/proc").glob("[0-9]*"):
        if int(process.name) == driver:
            continue
        with suppress(OSError):
            # All of them write logs there; their titles and environments say nothing, because Ray overwrites both.
            if any(os.readlink(one).startswith(f"{folder}/") for one in (process / "fd").iterdir()):
                os.kill(int(process.name), signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _quiet_start() -> Iterator[None]:
    """Settings that Ray reads from the environment: no statistics for its makers, no progress bars, no talk."""
    path = os.pathsep.join(filter(None, (str(HOUSE), os.environ.get("PYTHONPATH"))))
    own = {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_DATA_LOG_LEVEL": "CRITICAL",
        "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "PYTHONPATH": path,  # for workers on this machine
    }
    tokens = {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & os.environ.keys()
    if "RAY_AUTH_MODE" not in os.environ and (tokens or (Path.home() / ".ray" / "auth_token").is_file()):
        own["RAY_AUTH_MODE"] = "token"  # `ray start` requires the token, which programs send only if told to
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _quiet_data() -> None:
    """Settings of Ray Data for this process."""
    import warnings

    import ray
    from ray.util.annotations import RayDeprecationWarning

    # The number of tries has no other name in this version.
    warnings.filterwarnings("ignore", category=RayDeprecationWarning)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.max_errored_blocks = -1  # what is missing is worked on again, see pieced
    context.execution_no_progress_timeout_s = -1  # one batch of a slow judge may take an hour
    context.execution_options.preserve_order = False


def _someone_listens(address: str) -> None:
    """Raise OSError if nothing accepts connections at HOST:PORT. Ray itself would try for more than ten minutes."""
    host, colon, port = address.rpartition(":")
    if "://" not in address and colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _one_line(problem: BaseException) -> str:
    text = " ".join(str(problem).split()) or type(problem).__name__
    return f"{type(problem).__name__}: {text}"[:300].rstrip(".")


if __name__ == "__main__":
    _end_what_is_left(sys.argv[1])
