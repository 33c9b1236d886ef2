"""A look at a running study: one bound that holds at every look, if the design declares them."""

from typing import TYPE_CHECKING

from core.schema.analysis import Analysis, Table, Tell, Verdict
from core.schema.rows import column, entry, row
from core.schema.settings import Settings

if TYPE_CHECKING:
    from core.results.study.early import EarlyLook


class LookOptions(Settings):
    """None: the design, frozen at the first vote, decides everything about a look."""


@row
class LookRow:
    """A look in a row."""

    verdict: str = column("what the look shows", title="Verdict", names_row=True)
    bound: float | None = column(
        "always-valid lower bound of the mean of question means", title="Lower bound"
    )
    margin: float = column("lowest mean that is not worse", title="Margin", general=True)
    questions_entered: int = column("questions in the bound", title="Questions entered")
    questions: int = column("questions of the study", title="Questions")
    looks: int = column("looks so far, with this one", title="Looks")


@row
class Look:
    """Everything that a look shows. It must not reveal more: no score of a system, text or rater."""

    study: str = entry("name of the study")
    value: str = entry("non-inferior or continue")
    bound: float | None = entry(
        "always-valid lower bound of the mean of question means, in [-1, 1]; null before the first question has entered"
    )
    margin: float = entry("non-inferiority margin, as declared")
    confidence_level: float = entry("one-sided, over all looks together")
    n_entered: int = entry("questions in the bound")
    n_questions: int = entry("questions of the study")
    reached_after: int | None = entry(
        "questions after which the bound was first above the margin; null: not yet"
    )
    looks: int = entry("looks so far, with this one")
    next_lacks: int | None = entry(
        "votes that the next question still lacks; null if every question has entered"
    )
    n_excluded_since: int = entry(
        "raters whose votes stay in the bound although they were excluded after a question with their votes had entered"
    )
    sentences: tuple[str, ...]
    """The look in words, the verdict first."""
    line: LookRow


def compute(_options: LookOptions, look: "EarlyLook", *, tell: Tell) -> Look:
    """Say what a look shows. The bound was computed when the study was looked at."""
    from dataclasses import fields

    from core.results.study.early import EARLY_NAMES, look_said

    tell("reading the bound")
    return Look(
        **{one.name: getattr(look, one.name) for one in fields(look)},
        sentences=tuple(look_said(look)),
        line=LookRow(
            verdict=EARLY_NAMES[look.value],
            bound=look.bound,
            margin=-look.margin,
            questions_entered=look.n_entered,
            questions=look.n_questions,
            looks=look.looks,
        ),
    )


def _verdicts(found: Look) -> tuple[Verdict, ...]:
    if found.bound is None:
        return (Verdict("undefined", found.sentences[0], reason="no question has entered"),)
    return (Verdict(found.value, found.sentences[0]),)


ANALYSIS = Analysis(
    name="look",
    title="Early look",
    question="Is the always-valid bound of a running study above the margin yet?",
    Options=LookOptions,
    Result=Look,
    takes=("look",),
    compute=compute,
    verdicts=_verdicts,
    codes={
        "non-inferior": "the bound has been above the margin: the study may be closed",
        "continue": "it has not yet",
        "undefined": "no question has entered, so there is no bound",
    },
    refuses="NotAllowed where the design declares no early looks, and unless the study is open or closed.",
    sentences=lambda found: found.sentences[1:],
    section="inference#looking-early",
    misleads="Once somebody has looked, this bound decides, and the verdict on all votes is for comparison only. Every look is "
    "logged.",
    example="""
>>> import assay
>>> found = assay.look("pilot")  # doctest: +SKIP
>>> found.json["value"]  # doctest: +SKIP
'continue'
""",
    tables=(
        Table(
            "look",
            LookRow,
            lambda found: (found.line,),
            "Early look",
            notes=lambda found: (
                f"Always-valid lower bound of the mean of question means, one-sided at {100 * found.confidence_level:g} %: the "
                "error holds for all looks together.",
            ),
        ),
    ),
)
