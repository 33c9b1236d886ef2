"""What a judge's run reads: which of an output's texts the judge compares it with."""

from core.runs.judge_settings import JudgeSettings
from core.schema import RATED_KINDS
from core.schema.scores import ScorableOutput


def document_of(settings: JudgeSettings, output: ScorableOutput) -> str | None:
    """What a text is compared with: its reference; of a cross-examination without one, its source. None: there is none."""
    return output.source if needs_source(settings) else output.reference


def needs_source(settings: JudgeSettings) -> bool:
    """Whether the judge compares a text with its source, not with its reference.

    Judges that stand on ratings read the source where there is one, and do without where there is none.
    """
    return settings.kind in RATED_KINDS or (settings.kind == "cef" and settings.cef.examines == "source")
