"""An analysis of its options alone: no data, no verdict, an option that another one makes idle."""

from typing import Literal

from core.schema.analysis import Analysis, Caution, Table, Tell
from core.schema.rows import column, entry, row
from core.schema.settings import Settings, setting


class SumOptions(Settings):
    """What is added."""

    method: Literal["one", "both"] = setting("one", "Method", "what is added")
    with_number: int = setting(1, "First", "the first number", option="with")
    second: int = setting(2, "Second", "the second number", folded=True)
    third: int = setting(3, "Third", "the third number", folded=True)

    def idle(self, backend: str) -> frozenset[str]:
        """The second number where only one is added."""
        return frozenset({"second"}) if self.method == "one" else frozenset()


@row
class SumRow:
    """The sum."""

    method: str = column("what was added", names_row=True)
    total: int = column("the sum")


@row
class Sum:
    """The sum, once."""

    rows: tuple[SumRow, ...] = entry("the sum", rows=SumRow)


def compute(options: SumOptions, *, tell: Tell) -> Sum:
    """Add the numbers."""
    tell("adding")
    second = options.second if options.method == "both" else 0
    return Sum((SumRow(options.method, options.with_number + second),))


LONELY = "One number is no sum."


def _sentences(found: Sum) -> tuple[str, ...]:
    return tuple(Caution(LONELY) for one in found.rows if one.method == "one")


ANALYSIS = Analysis(
    name="sum-of-options",
    title="Sum",
    question="What is the sum?",
    Options=SumOptions,
    Result=Sum,
    takes=(),
    compute=compute,
    verdicts=lambda _: (),
    sentences=_sentences,
    section="inference#alt-test",
    misleads="It says nothing about judges.",
    example=">>> 1 + 2\n3",
    tables=(Table("sum-of-options", SumRow, lambda found: found.rows, "Sum"),),
)
