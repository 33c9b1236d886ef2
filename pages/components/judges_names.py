"""What judges and their runs are called on pages."""

import re

from core.judges.settings import Mode, Orders
from core.runs.judge_settings import judge_of

from core.judges.cross_examination.judge import CefSettings
from core.judges.cross_examination.questions import Answering
from core.judges.kind import JudgeKind, JudgeSettings
from core.judges.rubric import RubricSettings
from core.plots.families import shortened
from core.runs.progress import state_of
from core.schema import CheckKind, Run, RunKind
from core.schema.judging import JudgeOutput
from pages.components.messages import moment

KINDS: dict[JudgeKind | CheckKind, str] = {
    "rubric": "Rubric",
    "claims": "Claims",
    "cef": "Cross-examination",
    "automqm": "Marked errors",
    "direct": "Direct score",
    "quality": "Quality rating",
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
_MODES: dict[Mode, str] = {
    "reference-free": "with the source",
    "reference": "with the reference",
    "round-trip": "translated back",
}
_ORDERS: dict[Orders, str] = {
    "reference-first": "reference first",
    "response-first": "response first",
    "both": "both orders",
}
_SOURCE = re.compile(r"\bsource\b")
_LONGEST = 28


def name_of(run: Run) -> str:
    """A judge's run in a menu: what tells it from others comes before what may be cut off."""
    settings = judge_of(run)
    part = "" if run.n_wanted == run.n_items else f", first {run.n_wanted:,} of {run.n_items:,}"
    name = settings.name or settings.model_name
    return (
        f"Run {run.run_id} ({state_of(run)}), {moment(run.created_utc)} UTC: "
        f"{', '.join([KINDS[settings.kind], *_unusual(settings)])} by "
        f"{shortened(name, _LONGEST)}, {shortened(run.data_file, _LONGEST)}{part}"
    )


def _unusual(settings: JudgeSettings) -> list[str]:
    """What tells runs of one kind apart: the mode always, all else where it is not as usual."""
    found, repeats = [], 1
    if settings.kind == "cef":
        found.append(_MODES[settings.cef.mode])
        if settings.cef.n_questions != CefSettings().n_questions:
            found.append(f"N = {settings.cef.n_questions}")
        repeats = settings.cef.repeats
    elif settings.kind == "rubric":
        if settings.rubric.order != RubricSettings().order:
            found.append(_ORDERS[settings.rubric.order])
        repeats = settings.rubric.repeats
    elif settings.kind == "claims" and settings.claims.verifier not in ("llm", settings.backend):
        found.append(
            f"verified by {'NLI' if settings.claims.verifier == 'nli' else settings.claims.verifier}"
        )
    return [*found, f"{repeats} repeats"] if repeats > 1 else found


def document_name(output: JudgeOutput) -> str:
    """What the judge compares a text with: `reference` or `source`."""
    return "source" if output.kind == "cef" and output.settings.get("mode") != "reference" else "reference"


def document_of_run(run: Run) -> str:
    """The same of a run, whatever its kind."""
    return "source" if run.kind != "cef" or judge_of(run).cef.mode != "reference" else "reference"


def of_document(step: str, named: str) -> str:
    """A step or a side of a cross-examination in words that fit what was read: `source`, or `reference` in its place."""
    return step if named == "source" else _SOURCE.sub(named, step)


def sides(named: str) -> dict[str, str]:
    """What questions were made from, of a run that read a source or a reference."""
    return {side: said.replace("sources", f"{named}s") for side, said in SIDES.items()}


def short_name(run: Run) -> str:
    """A judge's run in a table or a figure."""
    return f"{judge_of(run).judge_name} (run {run.run_id})"
