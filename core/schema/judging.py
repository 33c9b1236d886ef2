"""What judges said of texts, and texts together with what people said of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.schema.scores import Metric, Rating, ScorableOutput, ScoredRow


@dataclass(frozen=True)
class JudgedText:
    """A text, its scores by one judge, and how the judge came to them."""

    row: ScoredRow
    text: str
    document: str | None
    """What it was compared with: its reference or its source, as the judge reads it."""
    question: str | None
    """The output's source: what was asked, or the text that was translated or summarised."""
    scores: Mapping[str, float | None]
    """By name of the metric."""
    reasons: Mapping[str, str]
    """Metric -> why there is no score."""
    record: Any
    """The record of the judge's kind; None: the judge was never asked, or its output came from elsewhere without one."""


@dataclass(frozen=True)
class JudgeOutput:
    """All that one judge said: of a run, or of the folder that a run wrote."""

    name: str
    """The judge's, with which its columns begin."""
    kind: str
    model: str
    """As the user named it; `rules` where none was asked."""
    settings: Mapping[str, object]
    """The kind's own, by name."""
    metrics: tuple[Metric, ...]
    texts: tuple[JudgedText, ...]
    attached: str = ""
    """The whole file that the settings refer to, such as a rubric or a task; empty: not known."""
    not_sent: frozenset[str] = frozenset()
    """Parts that some requests went without, because the server refuses them; see core.llm.exchange."""

    @property
    def temperature(self) -> float | None:
        """What every request was sent with; None: the model answered at its server's own, or it is not known."""
        chosen = self.settings.get("temperature")
        return (
            float(chosen) if isinstance(chosen, int | float) and "temperature" not in self.not_sent else None
        )


@dataclass(frozen=True)
class RatedText:
    """A text and its ratings: several where several raters, or dimensions, are there; none where nobody rated it."""

    output: ScorableOutput
    ratings: tuple[Rating, ...] = ()


@dataclass(frozen=True)
class RatedSet:
    """A checked file of rated texts."""

    texts: tuple[RatedText, ...]
    """In the order of the file; (item, system, level) with the labels is unique."""
    sha256: str
    file_name: str
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> ratings of texts that are not there, references' outputs and the like."""
