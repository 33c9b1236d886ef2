"""Judges that mark errors, and the rated texts that they read."""

from collections.abc import Sequence
from dataclasses import replace

from core.errors import InputError
from core.schema.analysis import MarkingChoice
from core.schema.marks import TaughtJudges
from core.schema.scores import JudgeOutput, MarkingJudges
from core.schema.settings import Remark, refuse
from core.sources.judges import judges_of
from core.sources.named import RunSource, parse_source, parse_sources, short_name
from core.sources.reading import SourceReader
from core.sources.spans import Marked, gold_of
from core.sources.texts import rated_texts_of_source
from core.tables.reading import shown


def marking_judges(written: Sequence[str], rated: str | None, reading: SourceReader) -> MarkingJudges:
    """Return what judges marked, under different names, and the rated texts that they read.

    rated: a name of the texts; None: those of the first run among the judges. Raises InputError with the problems of all.
    """
    outputs = marking_outputs(written, reading)
    runs = [one for one in parse_sources(written) if isinstance(one, RunSource)]
    if rated is None and not runs:
        text = "{rated} is missing: a judge's folder does not contain the rated texts. Name them: PATH or study:NAME."
        refuse([Remark("rated", text)], MarkingChoice)
    source = runs[0] if rated is None else parse_source(rated)
    return MarkingJudges(tuple(outputs), rated_texts_of_source(source, reading))


def taught_judges(gold: Marked, written: Sequence[str], reading: SourceReader) -> TaughtJudges:
    """Return the errors that people marked, and runs of judges. Raises InputError for a gold with repeats, too."""
    return TaughtJudges(gold_of(gold), tuple(marking_outputs(written, reading)), gold.texts)


def marking_outputs(written: Sequence[str], reading: SourceReader) -> list[JudgeOutput]:
    """Return what judges marked; two with one name also get the name of their folder or run.

    Raises InputError with the problems of all, and if a judge is named twice.
    """
    if len(set(written)) < len(written):
        raise InputError("The same judge is given twice.")
    outputs = judges_of(written, reading)
    names = [one.name for one in outputs]
    return [
        one
        if names.count(one.name) == 1
        else replace(one, name=f"{one.name} ({shown(short_name(parse_source(where)))})")
        for one, where in zip(outputs, written, strict=True)
    ]
