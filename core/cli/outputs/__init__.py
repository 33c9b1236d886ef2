"""What a command writes beside the result of an analysis, such as a card or a study."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.schema.analysis import Answer


@dataclass(frozen=True)
class Output:
    """Something that a command writes beside a result."""

    add: Callable[[argparse.ArgumentParser], None]
    """Registers its options."""
    problems: Callable[[argparse.Namespace], list[str]]
    """What is wrong with them, by their names."""
    write: Callable[[argparse.Namespace, Answer, Sequence[Any]], list[str]]
    """`write(options, answer, data)` writes it, with the data of the answer, and returns what is said below the tables."""
    file: Callable[[argparse.Namespace], tuple[str, Path] | None] = lambda _: None
    """The option and the file that it writes; None: no file."""
