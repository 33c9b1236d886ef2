"""Which Python a run needs, and starting it there as a child process."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from core.errors import InputError
from core.generation.parse import Parsers
from core.metrics.neural.model import NOT_SET_UP, libraries_are_here
from core.runs.asked import BACKENDS, Backend, Environment

ROOT = Path(__file__).resolve().parents[2]
VLLM_VARIABLE = "ASSAY_VLLM_PYTHON"
"""Names another Python with vllm in it."""
SPACY_VARIABLE = "ASSAY_SPACY_PYTHON"
"""Names another Python with spaCy and a pipeline in it."""
NEURAL_VARIABLE = "ASSAY_NEURAL_PYTHON"
"""Names another Python with what requirements-neural.txt asks for."""
Helper = Literal["spacy"]
"""Environments in which no run works, but a helper process of one."""
_children: list["subprocess.Popen[bytes]"] = []
"""Kept so that a child that ended is not left a zombie, which would look alive."""


@dataclass(frozen=True)
class _Extra:
    """An environment beside the app's."""

    is_here: Callable[[], bool]
    """Whether this very process runs in such an environment."""
    variable: str
    folder: str
    missing: str


_EXTRAS = {
    "vllm": _Extra(
        lambda: find_spec("vllm") is not None,
        VLLM_VARIABLE,
        ".venv-vllm",
        "vLLM is not set up here: `./run --with vllm --setup` makes .venv-vllm for it.",
    ),
    # Never a run's own environment: a run in any of the others has a helper process there.
    "spacy": _Extra(
        lambda: False,
        SPACY_VARIABLE,
        ".venv-spacy",
        "spaCy is not set up here: `./run --with spacy --setup` makes .venv-spacy for it.",
    ),
    "neural": _Extra(libraries_are_here, NEURAL_VARIABLE, ".venv-neural", NOT_SET_UP),
}


def python_for(environment: Environment | Backend | Helper) -> Path:
    """The Python of an environment. Raises InputError, saying how to get it, where there is none."""
    if environment not in ("base", *BACKENDS, *_EXTRAS):
        raise ValueError(f"there is no environment {environment!r}")
    extra = _EXTRAS.get(environment)
    if extra is None or extra.is_here():
        return Path(sys.executable)
    python = Path(os.environ.get(extra.variable) or ROOT / extra.folder / "bin" / "python")
    if not (python.is_file() and os.access(python, os.X_OK)):
        raise InputError(extra.missing)
    return python


def parsers() -> Parsers:
    """Where a run's dependency parse comes from on this machine. To be closed."""
    return Parsers(None if missing_for("spacy") else python_for("spacy"))


def missing_for(environment: Environment | Backend | Helper) -> str | None:
    """One line on what an environment still needs on this machine; None: nothing."""
    try:
        python_for(environment)
    except InputError as problem:
        return str(problem)
    return None


def run_log(database: Path, run_id: int) -> Path:
    """Where a child process writes what it has to say."""
    return database.resolve().parent / "runs" / f"{run_id}.log"


def start_child(database: Path, run_id: int, environment: Environment) -> int:
    """Work on a run in a process of its own, which outlives this one; returns its number."""
    forget_children()
    log = run_log(database, run_id)
    log.parent.mkdir(parents=True, exist_ok=True)
    work = ("-m", "core", "runs", "work", str(run_id), "--alone", "--db", str(database.resolve()))
    command = [str(python_for(environment)), *work]
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
