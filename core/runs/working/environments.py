"""The Python environment that a run needs, and starting a run there as a child process."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from core.errors import InputError
from core.generation.parse import Parsers
from core.installation import HOUSE, Extra, command_line, extra_folder, set_up
from core.metrics.neural.model import libraries_are_here, not_set_up
from core.runs.asked import BACKENDS, Backend, Environment

VLLM_VARIABLE = "ASSAY_VLLM_PYTHON"
"""Path of another Python with vllm."""
RAY_VARIABLE = "ASSAY_RAY_PYTHON"
"""Path of another Python with the packages of requirements-ray.txt."""
SPACY_VARIABLE = "ASSAY_SPACY_PYTHON"
"""Path of another Python with spaCy and a pipeline."""
NEURAL_VARIABLE = "ASSAY_NEURAL_PYTHON"
"""Path of another Python with the packages of requirements-neural.txt."""
Helper = Literal["spacy"]
"""Environments used only by helper processes of runs."""
_children: list["subprocess.Popen[bytes]"] = []
"""Started children; kept to collect finished ones, because a zombie would look alive."""


@dataclass(frozen=True)
class _Extra:
    """An environment other than the app's own."""

    is_here: Callable[[], bool]
    """Whether this process runs in such an environment."""
    name: Extra
    variable: str
    missing: Callable[[], str]
    """The sentence about a missing environment."""


_EXTRAS: dict[str, _Extra] = {
    "vllm": _Extra(
        lambda: find_spec("vllm") is not None,
        "vllm",
        VLLM_VARIABLE,
        lambda: f"vLLM is not set up here. Set it up with {set_up('vllm')}, which creates .venv-vllm.",
    ),
    "ray": _Extra(
        lambda: find_spec("ray") is not None,
        "ray",
        RAY_VARIABLE,
        lambda: f"Ray is not set up here. Set it up with {set_up('ray')}, which creates .venv-ray.",
    ),
    # Never a run's own environment: runs in other environments start a helper process there.
    "spacy": _Extra(
        lambda: False,
        "spacy",
        SPACY_VARIABLE,
        lambda: f"spaCy is not set up here. Set it up with {set_up('spacy')}, which creates .venv-spacy.",
    ),
    "neural": _Extra(libraries_are_here, "neural", NEURAL_VARIABLE, not_set_up),
}


def python_for(environment: Environment | Backend | Helper) -> Path:
    """The Python of an environment. Raises InputError with instructions if it is missing."""
    if environment not in ("base", *BACKENDS, *_EXTRAS):
        raise ValueError(f"there is no environment {environment!r}")
    extra = _EXTRAS.get(environment)
    if extra is None or extra.is_here():
        return Path(sys.executable)
    # Absolute, because a child process may start in another folder.
    python = Path(os.environ.get(extra.variable) or extra_folder(extra.name) / "bin" / "python").absolute()
    if not (python.is_file() and os.access(python, os.X_OK)):
        raise InputError(extra.missing())
    return python


def parsers() -> Parsers:
    """The source of dependency parses on this machine. The caller must close it."""
    return Parsers(None if missing_for("spacy") else python_for("spacy"))


def missing_for(environment: Environment | Backend | Helper) -> str | None:
    """One line about what an environment lacks on this machine; None: nothing."""
    try:
        python_for(environment)
    except InputError as problem:
        return str(problem)
    return None


def run_log(database: Path, run_id: int) -> Path:
    """The log file of a run's child process."""
    return database.resolve().parent / "runs" / f"{run_id}.log"


def start_child(database: Path, run_id: int, environment: Environment, further: Sequence[int] = ()) -> int:
    """Start a run in a separate process that outlives this one; returns its process id.

    further: runs in the same environment to process after it, one after the other.
    """
    forget_children()
    log = run_log(database, run_id)
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    work = ("runs", "work", *map(str, (run_id, *further)), "--alone", "--db", str(database.resolve()))
    command = [*command_line(python_for(environment)), *work]
    try:
        with log.open("ab") as out:
            child = subprocess.Popen(
                command, cwd=HOUSE, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )
    except OSError as problem:
        raise InputError(f"The run's process could not be started ({problem}).") from problem
    _children.append(child)
    return child.pid


def lives(process: int) -> bool:
    """Whether a child of this process is still running."""
    return any(child.pid == process and child.poll() is None for child in _children)


def forget_children() -> None:
    """Collect finished children."""
    _children[:] = [child for child in _children if child.poll() is None]
