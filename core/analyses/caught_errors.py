"""Do the mismatches of a cross-examination point to the errors that people marked? (CEF, section 4.4, Tables 3, 4 and 7)"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.schema.analysis import Analysis, Table, Tell, confidence_setting
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Settings

if TYPE_CHECKING:
    from core.judges.alignment import MarkedText
    from core.results.judges.cross_examination import AlignmentRow


class AlignmentOptions(Settings):
    """Options of the intervals."""

    confidence_level: float = confidence_setting()


@row
class CaughtShare:
    """A share in JSON."""

    count: int = entry("errors that a mismatching question points to")
    n: int = entry("errors with a verdict")
    share: float | None = entry("the share")
    low: float | None = entry("lower end of Wilson's interval")
    high: float | None = entry("upper end")
    confidence_level: float = entry("of the interval")
    reason: str | None = entry("why it is undefined")


@row
class CaughtRow:
    """Marked errors of one kind."""

    by: str = column("all, meaning, category or severity", title="By", key="", names_row=True)
    name: str = column("the kind of error", title="Errors", names_row=True)
    found: Interval = column(
        "share of the errors with a verdict that a mismatching question points to",
        name="caught",
        title="Found",
        key="",
        percent=True,
    )
    caught_count: int = column("their number", key="", shown=False)
    caught: CaughtShare = entry("the share found", rows=CaughtShare)
    n_left_out: int = column("errors without a verdict", name="no_verdict", title="No verdict")


@row
class Alignment:
    """Marked errors by several groupings. Every error is in one row of each."""

    overall: CaughtRow = entry("all errors", rows=CaughtRow)
    by_category: tuple[CaughtRow, ...] = entry("by category, most errors first", rows=CaughtRow)
    by_severity: tuple[CaughtRow, ...] = entry("by severity, most errors first", rows=CaughtRow)
    by_meaning: tuple[CaughtRow, ...] = entry("semantic and other errors, by category", rows=CaughtRow)
    n_texts: int = entry("texts with marks")
    reasons: tuple[tuple[str, int], ...] = entry("why errors lack a verdict, each with their number")


def compute(options: AlignmentOptions, texts: "Sequence[MarkedText]", *, tell: Tell) -> Alignment:
    """Count the marked errors that a mismatching question points to."""
    from core.results.judges.cross_examination import alignment_table

    tell("counting the errors")
    found = alignment_table(texts, confidence_level=options.confidence_level)
    return Alignment(
        overall=_caught("all", found.overall),
        by_category=tuple(_caught("category", one) for one in found.by_category),
        by_severity=tuple(_caught("severity", one) for one in found.by_severity),
        by_meaning=tuple(_caught("meaning", one) for one in found.by_meaning),
        n_texts=found.n_texts,
        reasons=found.reasons,
    )


def _caught(by: str, one: "AlignmentRow") -> CaughtRow:
    from core.results.cells import counted_share

    share = one.caught
    return CaughtRow(
        by, one.name, counted_share(share), share.count, CaughtShare(**vars(share)), one.n_left_out
    )


def _sentences(found: Alignment) -> tuple[str, ...]:
    from core.errors import counted

    return (f"Marked errors found by a mismatching question, in {counted(found.n_texts, 'text')}:",)


def _notes(found: Alignment) -> tuple[str, ...]:
    return (
        f"Intervals: {found.overall.caught.confidence_level:.0%}, Wilson.",
        *(f"without a verdict: {n:,}: {reason}" for reason, n in found.reasons),
    )


ANALYSIS = Analysis(
    name="caught-errors",
    title="Marked errors that a mismatch points to",
    question="Which share of the errors that people marked does a mismatching question point to?",
    Options=AlignmentOptions,
    Result=Alignment,
    takes=("aligned",),
    compute=compute,
    verdicts=lambda _: (),
    sentences=_sentences,
    section="judges#alignment-with-marked-errors",
    misleads="Many mismatches hit errors by chance: compare the share with the number of mismatches. False alarms are not counted, and "
    "errors of one text are not independent, so the intervals are too narrow.",
    example="""
>>> import assay
>>> found = assay.caught_errors("run:7")  # doctest: +SKIP
""",
    tables=(
        Table(
            "judge-alignment",
            CaughtRow,
            lambda found: (found.overall, *found.by_meaning, *found.by_category, *found.by_severity),
            "Marked errors found",
            heading=lambda _: "",
            notes=_notes,
        ),
    ),
)
