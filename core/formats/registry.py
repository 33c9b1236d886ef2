"""All formats, and the doors that read files of any format. A new format needs its own file and a line in FORMATS."""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from core.errors import InputError
from core.formats import (
    Format,
    Gives,
    cef,
    generation,
    metal,
    mt_metrics_eval,
    rated,
    ratings,
    scorable,
    scores,
    trutheval,
)
from core.formats.logs import deepeval, inspect, langfuse, lm_eval, promptfoo
from core.formats.spans import mqm, wmt_qe
from core.formats.spans.cells import Units
from core.formats.spans.rows import (
    Ends,
    Offsets,
    is_span_table,
    marked_among,
    read_span_table,
    settle_offsets,
)
from core.formats.study import tables as study_tables
from core.formats.study.pairs import DatasetBuilder
from core.formats.tools import (
    alpaca_eval,
    alt_test,
    avg_seg_scores,
    doccano,
    judgebench,
    label_studio,
    llmbar,
    mt_bench,
    mturk,
    pearmut,
    prodigy,
    unieval,
)
from core.schema.scores import OutputSet, RatedSet, RatingSet, ScoreTable
from core.schema.study import MaterialSet
from core.tables.containers import findings_of, opened, table_rows
from core.tables.reading import shown

FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        inspect.FORMAT,
        promptfoo.FORMAT,
        deepeval.FORMAT,
        lm_eval.FORMAT,
        langfuse.FORMAT,
        alt_test.FORMAT,
        unieval.FORMAT,
        judgebench.FORMAT,
        llmbar.FORMAT,
        alpaca_eval.FORMAT,
        mt_bench.FORMAT,
        avg_seg_scores.FORMAT,
        pearmut.FORMAT,
        label_studio.FORMAT,
        prodigy.FORMAT,
        doccano.FORMAT,
        mturk.FORMAT,
        trutheval.FORMAT,
        scores.PARQUET,
        cef.FORMAT,
        metal.FORMAT,
        mqm.FORMAT,
        mt_metrics_eval.SEG_RATING,
        mt_metrics_eval.SEG_SCORE,
        rated.FORMAT,
        wmt_qe.FORMAT,
    )
}
"""The first format that recognises a file reads it."""
TABLE = Format("table", "a table", lambda data, file_name: True, rows=table_rows)
"""The format of files that no other format recognises: CSV, JSONL or a JSON list of objects."""
Found = TypeVar("Found")


def format_of(gives: Gives, data: bytes, file_name: str) -> Format:
    """The format of a file, among those that a door can read. Raises InputError if its container cannot be opened."""
    data = opened(data, file_name)
    there = (one for one in FORMATS.values() if gives in one.gives and one.sniff(data, file_name))
    return next(there, TABLE)


def known_format(data: bytes, file_name: str) -> Format:
    """The format of a file, whatever is to be read from it. Raises InputError if its container cannot be opened."""
    data = opened(data, file_name)
    return next((one for one in FORMATS.values() if one.sniff(data, file_name)), TABLE)


@dataclass(frozen=True)
class Door(Generic[Found]):
    """Reads one kind of content from a file of any format that has it. InputError lists every problem."""

    gives: Gives
    of_rows: Callable[..., Found]
    """The reader for tables."""

    def __call__(self, data: bytes, file_name: str, **keywords: Any) -> Found:
        """Read a file. keywords: keywords of the reader."""
        data = opened(data, file_name)
        found = format_of(self.gives, data, file_name)
        if (own := found.read.get(self.gives)) is not None:
            read: Found = own(data, file_name, **keywords)
            return read
        return self.of_rows(data, file_name, rows=found.rows, **keywords)


read_study = Door[DatasetBuilder]("study", study_tables.collect_tabular)
"""A study's texts, before the check that they are a complete data set."""
read_questions = Door[MaterialSet]("questions", generation.read_questions)
"""Questions and references for generation. task=TASK: the kind of references; requires the context that TASK needs."""
read_texts = Door[OutputSet]("texts", scorable.read_outputs)
"""Texts to score or rate."""
read_rated = Door[RatedSet]("rated", rated.read_rated)
"""Texts, with people's ratings if the file has them."""
read_scores = Door[ScoreTable]("scores", scores.read_scores)
"""Scores of metrics."""


def read_scored_texts(data: bytes, file_name: str) -> OutputSet | None:
    """Read the texts in a file of scores; None if it has none. Raises InputError."""
    data = opened(data, file_name)
    found = format_of("scores", data, file_name)
    return None if found.rows is None else scores.read_scored_texts(data, file_name, rows=found.rows)


_read_ratings = Door[RatingSet]("ratings", ratings.read_ratings)


def read_ratings(
    data: bytes, file_name: str, *, lower_is_better: bool = False, flip: Collection[str] = ()
) -> RatingSet:
    """Read ratings by people. Raises InputError.

    lower_is_better: the direction of a table; other formats define their own. flip: dimensions of METAL's JSON in which
    1 is bad.
    """
    found = format_of("ratings", data, file_name)
    _check_flip(found, file_name, flip)
    if found.rows is None and lower_is_better:
        raise InputError(
            f"{shown(file_name)} is METAL's JSON, and only tables can have lower as better. Choose the dimensions to "
            "flip instead, such as H and PC"
            if found is metal.FORMAT
            else f"{shown(file_name)} contains {found.title}. Remove the setting that lower is better"
        )
    if "ratings" not in found.read and found.rows is None:
        return read_spans(data, file_name)
    asked = {"lower_is_better": lower_is_better} if found.rows else {"flip": flip} if flip else {}
    return _read_ratings(data, file_name, **asked)


def read_spans(
    data: bytes,
    file_name: str,
    texts: OutputSet | None = None,
    *,
    units: Units = "code-points",
    ends: Ends = "exclusive",
) -> RatingSet:
    """Read ratings by people with the errors that they marked. Raises InputError.

    texts: the rated texts, unchanged (`read_rated`, or an mt-metrics-eval folder). Spans are checked against them, else
    against the texts in the file, if it has any. Spans beyond the end of their text are cut there, with a note.
    units, ends: the meaning of the file's offsets; formats with marks in their own texts accept only the defaults.
    """
    data = opened(data, file_name)
    found, offsets = format_of("spans", data, file_name), Offsets(units, ends)
    findings, left_out = findings_of(data, file_name), Counter[str]()
    if found.marks and offsets != Offsets():
        raise InputError(
            f"{shown(file_name)} contains {found.marks}. Leave out units and ends, which it does not need"
        )
    if found.marks:
        read = marked_among(found.read["ratings"](data, file_name), findings, left_out)
    elif found.rows is not None:
        read = read_span_table(data, findings, left_out, found.rows)
    else:
        read = found.read["spans"](data, findings, left_out)
    settled = settle_offsets(read, texts, offsets, findings)
    if not settled and not findings.problems:
        findings.problems.append("file: contains no rated text; at least one is needed")
    return RatingSet(tuple(settled), *findings.settled(), {why: n for why, n in left_out.items() if n})


def has_spans_alone(data: bytes, file_name: str) -> bool:
    """Whether a file rates texts only by marked errors, so that `read_spans` must read it."""
    data = opened(data, file_name)
    found = format_of("ratings", data, file_name)
    if found.rows is None:
        return "ratings" not in found.read
    return is_span_table(data, file_name, found.rows)


def read_with_texts(
    gives: Gives, data: bytes, file_name: str, *, flip: Collection[str] = ()
) -> RatedSet | None:
    """Read the texts in a file of ratings or of marked errors; None if it has no texts.

    flip: as in `read_ratings`. Raises InputError.
    """
    data = opened(data, file_name)
    found = format_of(gives, data, file_name)
    if "with_texts" not in found.read:
        return None
    _check_flip(found, file_name, flip)
    rated_texts: RatedSet = found.read["with_texts"](data, file_name, **({"flip": flip} if flip else {}))
    return rated_texts


def read_evaluators(data: bytes, file_name: str, *, flip: Collection[str] = ()) -> ScoreTable | None:
    """Read the evaluators' scores in METAL's JSON; None for other files.

    Raises InputError, also if the file has no evaluator's scores.
    """
    data = opened(data, file_name)
    own = format_of("ratings", data, file_name).read.get("evaluators")
    return None if own is None else own(data, file_name, flip=flip)


def _check_flip(found: Format, file_name: str, flip: Collection[str]) -> None:
    if flip and found is not metal.FORMAT:
        raise InputError(
            f"{shown(file_name)} is not METAL's JSON, so it has no dimensions to flip. Leave out the dimensions to flip"
        )
