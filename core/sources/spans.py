"""Errors that people or judges marked in texts, from every kind of source."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import InputError
from core.formats.mt_metrics_eval import ratings_among, read_folder
from core.formats.rated import outputs_of
from core.formats.registry import read_spans, read_with_texts
from core.results.judges.spans import draws_of_judge
from core.schema.marks import Marks
from core.schema.scores import JudgeOutput, OutputSet, RatedSet, RatingSet, ScorableOutput
from core.sources.judges import judge_of
from core.sources.named import (
    OF_RUNS,
    FileSource,
    FolderSource,
    PublishedSource,
    Source,
    StudySource,
    names_apart,
    short_name,
)
from core.sources.people import study_record
from core.sources.reading import PUBLISHED_GIVES, SourceReader, cannot_give, study_gives
from core.study.ratings import rated_texts_of, rating_set_of
from core.tables.reading import shown

SPAN_NAMES = "FILE|FOLDER|run:N|DIR|study:NAME"
"""Accepted inputs, for the help of a command."""
SPAN_MEANING = (
    "marked errors: MQM TSV, .seg.rating, WMT-QE, CSV or JSONL of spans, rated JSONL, an mt-metrics-eval folder, a run or "
    "folder of `judge automqm`, or an unblinded rating study"
)
_NEEDED = "marked errors"


@dataclass(frozen=True)
class Marked:
    """Marked errors of one side of a comparison."""

    name: str
    """The source as the user wrote it, without parent folders."""
    draws: tuple[RatingSet, ...]
    """One set of marks; for a judge with repeats, one for each repeat."""
    texts: OutputSet | None = None
    """The marked texts, if the source contains them."""
    judge: str | None = None
    """Name of the judge; None for ratings by people."""
    rater: str = ""
    """For a judge: the only rater among its examples; empty: several raters, or none."""


def spans_of(source: Source, reading: SourceReader) -> Marked:
    """Return the marked errors of a source. Raises InputError, and NotAllowed for a study that is not unblinded."""
    name = short_name(source)
    match source:
        case FileSource():
            data = reading.table(source)
            rated = read_with_texts("spans", data, source.name)
            return Marked(name, (read_spans(data, source.name),), outputs_of(rated) if rated else None)
        case FolderSource():
            folder = read_folder(source.path, language_pair=reading.language_pair)
            chosen = ratings_among(
                folder.ratings, reading.ratings, reading.ratings_called, by_rater=reading.by_rater
            )
            return Marked(name, (chosen,), folder.outputs)
        case StudySource():
            record = study_record(source, reading)
            if record.study.kind != "ratings":
                raise cannot_give(source, study_gives(record.study), _NEEDED)
            texts = RatedSet(rated_texts_of(record), "", record.study.name)
            return Marked(name, (rating_set_of(record),), outputs_of(texts))
        case PublishedSource():
            raise cannot_give(source, PUBLISHED_GIVES, _NEEDED)
    assert isinstance(source, OF_RUNS)
    output = judge_of(source, reading)
    rater = str(output.settings.get("rater") or "")
    return Marked(name, draws_of_judge(output), _texts_of(output), output.name, rater)


def marks_of(
    gold: Marked, judges: Sequence[Marked], written: Sequence[str], *, by_rater: bool = False
) -> Marks:
    """Return the marks of people and judges.

    written: the judges as the user named them. by_rater: whether a judge has the name of the only rater among its examples, if no
    other judge has the same. Raises InputError if the gold has repeats, and for a judge that is named twice.
    """
    people = gold_of(gold)
    names = [_row_name(one, judges) for one in judges] if by_rater else [one.name for one in judges]
    called = names_apart(names, written)
    return Marks(
        gold=people,
        judges={name: one.draws for name, one in zip(called, judges, strict=True)},
        texts=next((side.texts for side in (gold, *judges) if side.texts is not None), None),
        raters={name: one.rater for name, one in zip(called, judges, strict=True) if one.judge},
    )


def gold_of(side: Marked) -> RatingSet:
    """Return the marks of a side as those that others are compared with. Raises InputError if it has repeats."""
    if len(side.draws) > 1:
        raise InputError(
            f"{shown(side.name)} has {len(side.draws)} repeats, so it cannot be the gold. Run the judge without repeats."
        )
    return side.draws[0]


def _row_name(one: Marked, judges: Sequence[Marked]) -> str:
    alone = one.rater and [other.rater for other in judges].count(one.rater) == 1
    return one.rater if alone else one.judge or one.name


def _texts_of(output: JudgeOutput) -> OutputSet:
    outputs = tuple(
        ScorableOutput(
            text.row.item_id,
            text.row.system,
            text.text,
            level=text.row.level,
            language=text.row.language,
            labels=text.row.labels,
        )
        for text in output.texts
    )
    return OutputSet(outputs, "", output.name)
