"""What judges and their runs are called on pages."""

import re

from core.judges.kind import JudgeSettings
from core.runs.asked import asked_of
from core.runs.kinds import KINDS
from core.schema.judging import JudgeOutput
from core.schema.kinds import KindSettings
from core.schema.runs import Run

SIDES = {"source": "made from sources", "text": "made from texts", "all": "all questions"}
"""What questions were made from."""
MARKS: dict[bool | None, str] = {True: "✓", False: "✗", None: "?"}
"""A verdict on a claim or an error as a sign; None: nobody could tell."""
_SOURCE = re.compile(r"\bsource\b")


def document_name(output: JudgeOutput) -> str:
    """What the judge compares a text with: `reference` or `source`."""
    return _compared_with(KINDS[output.kind].Settings.saved(output.settings))


def document_of_run(run: Run) -> str:
    """The same of a run, whatever its kind."""
    return _compared_with(asked_of(run).chosen)


def _compared_with(chosen: KindSettings) -> str:
    return chosen.compares_with if isinstance(chosen, JudgeSettings) else "source"


def of_document(step: str, named: str) -> str:
    """A step or a side of a cross-examination in words that fit what was read: `source`, or `reference` in its place."""
    return step if named == "source" else _SOURCE.sub(named, step)


def sides(named: str) -> dict[str, str]:
    """What questions were made from, of a run that read a source or a reference."""
    return {side: said.replace("sources", f"{named}s") for side, said in SIDES.items()}


def short_name(run: Run) -> str:
    """A judge's run in a table or a figure."""
    return f"{asked_of(run).called} (run {run.run_id})"
