"""The tables of the judges that stand on ratings: a row an error that was named, a score that was given."""

from collections.abc import Iterator
from typing import Any

from core.schema.judges import AutoMqmRecord, DirectRecord, QualityRecord, Record

ERROR_COLUMNS = (
    "what",
    "repeat",
    "quote",
    "severity",
    "category",
    "start",
    "end",
    "located",
    "examples",
    "why",
    "reason",
)
"""what: error, no error, or trial where no usable answer came; start, end: in code points of the text, end exclusive;
examples: texts that the judge was shown."""
SCORE_COLUMNS = ("what", "dimension", "repeat", "score", "examples", "why", "reason")


def rated_details(record: Record | None) -> Iterator[dict[str, Any]]:
    """What one of these judges said of a text, in rows; nothing of the other judges."""
    if isinstance(record, AutoMqmRecord):
        yield from _errors(record)
    elif isinstance(record, DirectRecord):
        for scored in record.trials:
            yield {
                "what": "score",
                "repeat": scored.repeat,
                "score": scored.score,
                "examples": len(scored.examples),
                "why": scored.detail,
                "reason": scored.reason,
            }
    elif isinstance(record, QualityRecord):
        for rated in record.trials:
            yield {
                "what": "score",
                "dimension": rated.dimension,
                "repeat": rated.repeat,
                "score": rated.score,
                "examples": len(record.examples),
                "why": rated.justification or rated.detail,
                "reason": rated.reason,
            }


def _errors(record: AutoMqmRecord) -> Iterator[dict[str, Any]]:
    for trial in record.trials:
        about = {"repeat": trial.repeat, "examples": len(trial.examples)}
        if trial.errors is None:
            yield about | {"what": "trial", "why": trial.detail, "reason": trial.reason}
        elif not trial.errors:
            yield about | {"what": "no error"}
        for error in trial.errors or ():
            yield about | {
                "what": "error",
                "quote": error.quote,
                "severity": error.severity,
                "category": error.category,
                "start": error.start,
                "end": error.end,
                "located": error.located,
            }
