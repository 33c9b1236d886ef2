"""What the command of an analysis writes beside its result, such as a study of the texts that it chose."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Wrote:
    """What was written."""

    said: tuple[str, ...] = ()
    """Said after the analysis's own sentences."""
    files: tuple[Path, ...] = ()


def _nothing(*_given: Any) -> None:
    """Add, check or write nothing."""


def _no_problems(_options: argparse.Namespace) -> Sequence[str]:
    return ()


def _none(*_given: Any) -> Wrote:
    return Wrote()


@dataclass(frozen=True)
class Beside:
    """How a command writes something beside the result."""

    add: Callable[[argparse.ArgumentParser], object] = _nothing
    """Registers its options."""
    problems: Callable[[argparse.Namespace], Sequence[str]] = _no_problems
    """Problems of these options that need no input."""
    check: Callable[[argparse.Namespace, Sequence[str | Path | None]], object] = _nothing
    """Raises InputError if it cannot be written. Takes the inputs, which it may not replace."""
    write: Callable[..., Wrote] = _none
    """`write(options, answer, *data)` writes it. Raises InputError."""
