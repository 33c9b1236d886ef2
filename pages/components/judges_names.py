"""What judges and their runs are called on pages."""

from core.plots.families import shortened
from core.runs.judge_settings import judge_of
from core.runs.progress import state_of
from core.schema import CheckKind, JudgeKind, Run, RunKind
from core.schema.judges import JudgeOutput
from core.scoring.judges.settings import Answering
from pages.components.messages import moment

KINDS: dict[JudgeKind | CheckKind, str] = {
    "rubric": "Rubric",
    "claims": "Claims",
    "cef": "Cross-examination",
    "answers": "Answers to judges' questions",
    "alignment": "Alignment with marked errors",
}
ANCHORS: dict[RunKind, str] = {
    "rubric": "rubric",
    "claims": "claims",
    "cef": "cross-examination",
}
"""Kind of judge -> the section that explains it."""
ANSWERS: dict[Answering, str] = {
    "batch": "all of a text in one call",
    "each": "one call a question, as in the paper",
}
"""How questions are answered."""
SIDES = {"source": "made from sources", "text": "made from texts", "all": "all questions"}
"""What questions were made from."""
MARKS: dict[bool | None, str] = {True: "✓", False: "✗", None: "?"}
"""A verdict on a claim or an error as a sign; None: nobody could tell."""
_LONGEST = 28


def name_of(run: Run) -> str:
    """A judge's run in a menu: what tells it from others comes before what may be cut off."""
    settings = judge_of(run)
    part = "" if run.n_wanted == run.n_items else f", first {run.n_wanted} of {run.n_items}"
    name = settings.name or settings.model_name
    return (
        f"Run {run.run_id} ({state_of(run)}), {moment(run.created_utc)} UTC: {KINDS[settings.kind]} by "
        f"{shortened(name, _LONGEST)}, {shortened(run.data_file, _LONGEST)}{part}"
    )


def document_name(output: JudgeOutput) -> str:
    """What the judge compares a text with: `reference` or `source`."""
    return "source" if output.kind == "cef" and output.settings.get("mode") != "reference" else "reference"


def short_name(run: Run) -> str:
    """A judge's run in a table or a figure."""
    return f"{judge_of(run).judge_name} (run {run.run_id})"
