"""Raters and judges of the same texts, with all that is known about the judges and the texts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.errors import InputError
from core.results.check.verdict import JudgeFacts
from core.schema.panel import Panel, TextBeside
from core.schema.scores import ScorableOutput


@dataclass(frozen=True)
class Texts:
    """The texts of a panel as its inputs have them."""

    outputs: Sequence[ScorableOutput | None]
    """Of each row; None where no input has it."""
    why: InputError | None = None
    """Why the first input has none."""


@dataclass(frozen=True)
class Dossier:
    """A panel, and how to read what else its inputs hold."""

    outcome: Panel | InputError
    """The panel; else why no judge was found."""
    facts: Callable[[Panel], Mapping[str, JudgeFacts]]
    """Consistency, price, time and model of its judges, by name."""
    beside: Callable[[Panel], Sequence[TextBeside]]
    """Questions, texts and the judges' reasons."""
    texts: Callable[[Panel], Texts]
    people: Callable[[], Panel] | None = None
    """Reads the raters alone; None where a judge was found or named."""
    may_be_judges: tuple[str, ...] = ()
    """Columns that may be a judge's, where none was found."""
    judge_called: str = "judge"
    """How a user names a judge at this door."""

    @property
    def panel(self) -> Panel:
        """Raters and judges. Raises InputError where no judge was found."""
        if isinstance(self.outcome, InputError):
            raise self.outcome
        return self.outcome
