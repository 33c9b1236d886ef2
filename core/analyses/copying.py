"""Does a judge copy the errors of its examples? Its errors beside people's, its examples' and other judges' (Specialist, Tables 14, 20)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.schema.analysis import (
    Analysis,
    Table,
    Tell,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Settings, setting

if TYPE_CHECKING:
    from core.results.judges import copying as counts
    from core.results.judges.spans import Locating
    from core.schema.scores import MarkingJudges


class CopyingOptions(Settings):
    """Which repeat is analysed, and its intervals."""

    repeat: int = setting(1, "Repeat", "which repeat to use", at_least=1, metavar="N")
    n_resamples: int = resamples_setting(2_000)
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()


@row
class CopyingRow:
    """What one judge's errors share with others'. Two errors are the same if their words are."""

    judge: str = column("the judge", title="Judge", names_row=True)
    n_texts: int = column("texts", name="texts", title="Texts")
    n_errors: int = column("errors with quoted words, over all texts", name="errors", title="Errors")
    n_without_words: int = column(
        "errors without quoted words", name="without_words", title="Without a quote"
    )
    of_people: Interval = column(
        "share of errors whose words people marked in the same text, over texts in which people marked errors",
        title="Marked by people",
        percent=True,
        ends="counted",
    )
    of_examples: Interval = column(
        "share of errors whose words are an error in one of the judge's examples",
        title="In its examples",
        percent=True,
        ends="counted",
    )
    of_examples_or_parts: Interval = column(
        "the same, with words inside or around such an error",
        title="In its examples, or partly",
        percent=True,
        ends="counted",
    )
    of_same_source: Interval = column(
        "share of errors whose words are an error in another system's text for the same input, shown or not",
        title="In other systems' texts",
        percent=True,
        ends="counted",
    )
    left_out: Mapping[str, int] = entry("reason to number of texts left out")
    located: Mapping[str, int] = entry("how the quotes were found in the text, to their number")


@row
class AloneRow:
    """Errors that one judge marks and another does not, in texts of both."""

    judge: str = column("the judge", title="Judge", names_row=True)
    other: str = column("the other one", title="Not marked by", names_row=True)
    n_texts: int = column("texts of both", title="Texts")
    n_errors: int = column("all errors that the judge marks in them", title="Errors")
    n_alone: int = column(
        "those of them whose words the other judge does not mark in the same text, or marks less often",
        title="Alone",
    )
    n_alone_of_same_source: int = column(
        "those of the errors alone whose words are an error in another system's text for the same input",
        title="Of these, in other systems' texts",
    )
    share: Interval = column("their share of the errors alone", title="Share", percent=True, ends="counted")


@row
class Copying:
    """Copied errors of judges."""

    judges: tuple[CopyingRow, ...] = entry("each judge", rows=CopyingRow)
    disjoint: tuple[AloneRow, ...] = entry(
        "the first judge with each other one, and each of these with the first", rows=AloneRow
    )


def compute(options: CopyingOptions, judges: "MarkingJudges", *, tell: Tell) -> Copying:
    """Count the errors of each judge that people marked, and that are in its examples; compare the first with the others.

    Raises InputError for a judge that marks no errors, and if no judged text was rated.
    """
    from core.results.judges.copying import disjoint_errors, error_copying
    from core.results.judges.spans import locating

    asked = {**options.model_dump(), "repeat": options.repeat - 1}
    tell("searching for copies")
    rows = tuple(_row(error_copying(one, judges.rated, **asked), locating(one)) for one in judges.outputs)
    first, *others = judges.outputs
    alone = [one for other in others for one in disjoint_errors(first, other, judges.rated, **asked)]
    return Copying(rows, tuple(map(_alone, alone)))


def _row(found: "counts.Copying", where: "Locating") -> CopyingRow:
    from core.results.cells import interval

    return CopyingRow(
        judge=found.judge,
        n_texts=found.n_texts,
        n_errors=found.n_errors,
        n_without_words=found.n_without_words,
        of_people=interval(found.of_people),
        of_examples=interval(found.of_examples),
        of_examples_or_parts=interval(found.of_examples_or_parts),
        of_same_source=interval(found.of_same_source),
        left_out=dict(found.left_out),
        located={str(how): n for how, n in where.located.items()},
    )


def _alone(found: "counts.Disjoint") -> AloneRow:
    from core.results.cells import interval

    return AloneRow(**{**vars(found), "share": interval(found.share)})


def _sentences(found: Copying) -> tuple[str, ...]:
    from core.tables.reading import shown

    said = []
    for one in found.judges:
        quotes = ", ".join(f"{how} {n:,}" for how, n in one.located.items())
        said.append(f"{shown(one.judge)}: quotes found in the text: {quotes or 'no quotes'}.")
    return tuple(said)


def _notes(found: Copying) -> tuple[str, ...]:
    from core.results.cells import left_out_lines

    return (
        "Shares of errors whose words are identical. Partly: one quote contains the other.",
        *(note for one in found.judges for note in left_out_lines(one.left_out, one.judge)),
    )


ANALYSIS = Analysis(
    name="copying",
    title="Copied errors",
    question="Of the errors that a judge quotes, how many did people mark in the same text, and how many are in its examples or in "
    "other systems' texts of the same source?",
    Options=CopyingOptions,
    Result=Copying,
    takes=("marking",),
    compute=compute,
    verdicts=lambda _: (),
    sentences=_sentences,
    refuses="For judges that mark no errors, and if no judged text was rated.",
    section="judges#copied-errors",
    misleads="Short errors are easily copied: a single common word is an error in many texts. Shares count errors, so texts with many "
    "weigh more.",
    example="""
>>> import assay
>>> found = assay.copying("run:3")  # doctest: +SKIP
""",
    tables=(
        Table("copied-errors", CopyingRow, lambda found: found.judges, "Copied errors", notes=_notes),
        Table(
            "marked-alone",
            AloneRow,
            lambda found: found.disjoint or None,
            "Errors that only one judge marks",
            "How many of them were marked in other systems' texts of the same source?",
            notes=lambda _: ("Alone: errors whose words the other judge does not mark in the same text.",),
        ),
    ),
)
