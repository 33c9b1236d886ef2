"""Which Python a run needs, and starting it there as a child process."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from core.errors import InputError
from core.runs.settings import Backend

ROOT = Path(__file__).resolve().parents[2]
_VLLM_PYTHON = ROOT / ".venv-vllm" / "bin" / "python"
VLLM_VARIABLE = "ASSAY_VLLM_PYTHON"
"""Names another Python with vllm in it."""
_children: list["subprocess.Popen[bytes]"] = []
"""Kept so that a child that ended is not left a zombie, which would look alive."""


def python_for(backend: Backend) -> Path:
    """The Python a backend runs in. Raises InputError, saying how to get it, where there is none."""
    if backend != "vllm" or importlib.util.find_spec("vllm") is not None:
        return Path(sys.executable)
    python = Path(os.environ.get(VLLM_VARIABLE) or _VLLM_PYTHON)
    if not (python.is_file() and os.access(python, os.X_OK)):
        raise InputError("vLLM is not set up here: `./run --with vllm --setup` makes .venv-vllm for it.")
    return python


def missing_for(backend: Backend) -> str | None:
    """One line on what a backend still needs on this machine; None: nothing."""
    try:
        python_for(backend)
    except InputError as problem:
        return str(problem)
    return None


def run_log(database: Path, run_id: int) -> Path:
    """Where a child process writes what it has to say."""
    return database.resolve().parent / "runs" / f"{run_id}.log"


def start_child(database: Path, run_id: int, backend: Backend) -> int:
    """Work on a run in a process of its own, which outlives this one; returns its number."""
    forget_children()
    log = run_log(database, run_id)
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [
        str(python_for(backend)),
        "-m",
        "core",
        "runs",
        "work",
        str(run_id),
        "--db",
        str(database.resolve()),
    ]
    try:
        with log.open("ab") as out:
            child = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )
    except OSError as problem:
        raise InputError(f"The run's process could not be started ({problem}).") from problem
    _children.append(child)
    return child.pid


def lives(process: int) -> bool:
    """Whether a child that this process started has not ended."""
    return any(child.pid == process and child.poll() is None for child in _children)


def forget_children() -> None:
    """Collect the children that have ended."""
    _children[:] = [child for child in _children if child.poll() is None]
