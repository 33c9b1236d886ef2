"""What each model answered to each model's questions, before rates compare the models."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.schema.analysis import Analysis, Table, Tell
from core.schema.rows import WHOLE, column, columns, entry, row
from core.schema.settings import Settings

if TYPE_CHECKING:
    from core.judges.answers import AnswerSet


class AnswersOptions(Settings):
    """None: the answers say all that they are."""


@row
class AnsweredRow:
    """One model's answers to the questions of one author."""

    model: str = column("the model that answered", title="Model", names_row=True)
    author: str = column("the model that made the questions", title="Questions by", names_row=True)
    verdicts: Mapping[str, int] = columns("verdict, or reason for a missing one -> number of questions")


@row
class Answers:
    """The answers of every model."""

    answers: tuple[AnsweredRow, ...] = entry("each model and author", key=WHOLE, rows=AnsweredRow)


def compute(_options: AnswersOptions, sets: "Sequence[AnswerSet]", *, tell: Tell) -> Answers:
    """Count the answers of each model by who made the question."""
    from core.results.judges.cross_examination import verdicts_by_author

    tell("counting the answers")
    return Answers(
        tuple(
            AnsweredRow(one.model, author, verdicts)
            for one in sets
            for author, verdicts in verdicts_by_author(one.sets).items()
        )
    )


ANALYSIS = Analysis(
    name="answers",
    title="Answers",
    question="What did a model answer to the judges' questions, each from the text that the question was made from?",
    Options=AnswersOptions,
    Result=Answers,
    takes=("answers",),
    compute=compute,
    verdicts=lambda _: (),
    section="judges#judge-reliability",
    misleads="Counts do not compare models: answers of two models to the same questions show how reliable each is (`reliability`).",
    example="""
>>> import assay
>>> found = assay.answers(["run:5"])  # doctest: +SKIP
""",
    tables=(
        Table(
            "judge-answers",
            AnsweredRow,
            lambda found: found.answers,
            "Answers",
            heading=lambda _: "",
            shaped=lambda found: (
                {}
                if len({one.model for one in found.answers}) > 1
                else {"model": {"shown": False, "names_row": False}}
            ),
        ),
    ),
)
