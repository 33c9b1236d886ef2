"""Which errors are compared with which: spans of the same text, marked by people, by judges and by others."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.formats.mt_metrics_eval import OF_REFERENCE, names_reference
from core.formats.spans.mqm import score_of
from core.judges import automqm
from core.judges.automqm import AutoMqmRecord, ErrorTrial, FoundError, Located, weight_in_text
from core.results.choices import Key, Named, column_of, has_column, items_of, keys_of, level_key
from core.schema.scores import ErrorSpan, JudgedText, JudgeOutput, OutputSet, Rating, RatingSet, ScoredRow
from core.tables.columns import ONLY_SYSTEM
from core.tables.reading import shown

PEOPLE = "people"
"""The gold, in notes."""


def said_of(side: str, sets: Sequence[RatingSet]) -> tuple[str, ...]:
    """A side's notes, and what its reader left out, each with the side's name before it.

    sets: one, or one a draw; of what several draws left out for one reason, the largest number. They are notes, as a
    text without marks on one side is counted once already, where it has nothing to be compared with.
    """
    notes = [note for one in sets for note in one.notes]
    lost: dict[str, int] = {}
    for one in sets:
        for reason, n in one.left_out.items():
            lost[reason] = max(n, lost.get(reason, 0))
    of = "of a draw at most " if len(sets) > 1 else ""
    notes += [f"left out when it was read: {of}{n:,}: {shown(reason)}" for reason, n in lost.items() if n]
    return tuple(dict.fromkeys(f"{shown(side)}: {note}" for note in notes))


GoldRaters = Literal["kept", "merged"]
"""kept: each rater's marks of a text are a segment of their own; merged: the union of all raters' marks is one."""
Span = tuple[int, int, str]
"""Start, end (exclusive), severity in lower case."""
Spans = tuple[Span, ...]

NOT_MARKED = "errors were not marked"
NO_PREDICTION, NO_GOLD = "no prediction of this text", "no rating of this text to compare with"
OTHER_RATER = "no prediction by this rater, whose name others on that side have"
NOBODY = ""
"""As the rater of ratings that name none, or of several merged."""


@dataclass(frozen=True)
class Segment:
    """What one rater marked in one text beside what was predicted for it."""

    key: Key
    """What the text is told by."""
    row: Rating
    """The text's first rating."""
    rater: str
    """Of the gold; empty: not named, or several merged."""
    gold: Spans
    predicted: Spans
    length: int | None = None
    """Of the text, in code points; None: not known, nothing is clipped."""


@dataclass(frozen=True)
class Paired:
    """The segments of a comparison, and what has no part in it."""

    segments: tuple[Segment, ...]
    left_out: Mapping[str, int]
    """Reason -> segments of the gold, or predicted texts, that could not be compared."""
    notes: tuple[str, ...] = ()

    @property
    def items(self) -> NDArray[np.int64]:
        """The item of each segment, numbered: what is resampled."""
        return items_of([segment.row for segment in self.segments])


@dataclass
class _Side:
    """One set of ratings by text."""

    name: str
    spans: dict[Key, dict[str, list[Span]]] = field(default_factory=dict)
    first: dict[Key, Rating] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    n_in_source: int = 0

    @property
    def raters(self) -> frozenset[str]:
        """All that are named."""
        return frozenset(rater for own in self.spans.values() for rater in own if rater)


def pair_spans(
    gold: RatingSet,
    predicted: RatingSet,
    *,
    texts: OutputSet | None = None,
    raters: GoldRaters = "kept",
    references: bool = False,
) -> Paired:
    """Every rating of the gold beside every prediction of the same text.

    Texts meet as `text_keys` says. Where both sides name some of the same raters, each is compared with themself alone,
    so that a file meets itself. Marks in the source, and systems that are references, have no part unless `references`
    says so (of the latter). Raises InputError where no segment is left.
    """
    (pairs,) = pair_several(gold, [predicted], texts=texts, raters=raters, references=references)
    return pairs


def pair_several(
    gold: RatingSet,
    predicted: Sequence[RatingSet],
    *,
    texts: OutputSet | None = None,
    raters: GoldRaters = "kept",
    references: bool = False,
) -> list[Paired]:
    """`pair_spans` for several predictions; what a text is told by is the same for all of them."""
    outputs = () if texts is None else texts.outputs
    rows = [ScoredRow(one.item_id, one.system, one.level, one.language, one.labels) for one in outputs]
    *keys, of_texts = text_keys([gold.ratings, *(one.ratings for one in predicted), rows])
    lengths = {key: len(one.text) for key, one in zip(of_texts, outputs, strict=True)}
    sides = [
        _side(one, own, merged=raters == "merged", references=references)
        for one, own in zip((gold, *predicted), keys, strict=True)
    ]
    return [_paired(sides[0], side, lengths) for side in sides[1:]]


def text_keys(sides: Sequence[Sequence[Named]]) -> list[list[Key]]:
    """What each row's text is told by: item, system and level, as far as all sides that have rows say them.

    A further column that all have (language, dataset, a label) takes part where texts of one side differ in nothing else,
    raters aside. Levels meet under any of their names; blanks are filled from the item's other rows.
    """
    given = [side for side in sides if side]
    columns = [
        "item",
        *(name for name in ("system", "level") if all(has_column(side, name) for side in given)),
    ]
    labels = {label: None for side in given for row in side for label in row.labels}
    for name in ("language", *labels):
        if given and all(has_column(side, name) for side in given):
            with_it = [*columns, name]
            if any(_n_texts(side, with_it) > _n_texts(side, columns) for side in given):
                columns = with_it
    rows = [row for side in sides for row in side]
    keys = keys_of(rows, columns)
    ends = np.cumsum([len(side) for side in sides]).tolist()
    return [keys[end - len(side) : end] for side, end in zip(sides, ends, strict=True)]


def _n_texts(side: Sequence[Named], columns: Sequence[str]) -> int:
    return len({tuple(column_of(row, name) for name in columns) for row in side})


def _side(one: RatingSet, keys: Iterable[Key], *, merged: bool, references: bool) -> _Side:
    side = _Side(one.file_name)
    unmarked: set[tuple[Key, str | None]] = set()
    marked: set[tuple[Key, str | None]] = set()
    for rating, key in zip(one.ratings, keys, strict=True):
        if rating.spans is None:
            unmarked.add((key, rating.rater))
            continue
        if not references and names_reference(rating.system or ""):
            side.left_out[OF_REFERENCE] += 1
            continue
        _check_one_text(one.file_name, side.first.setdefault(key, rating), rating)
        own = side.spans.setdefault(key, {}).setdefault(NOBODY if merged else rating.rater or NOBODY, [])
        own += [(span.start, span.end, span.severity.lower()) for span in rating.spans if not span.in_source]
        side.n_in_source += sum(span.in_source for span in rating.spans)
        marked.add((key, rating.rater))
    # Of a rater who also scored dimensions of the text, these scores are nothing that is missing.
    side.left_out[NOT_MARKED] = len(unmarked - marked)
    return side


def _check_one_text(name: str, first: Rating, other: Rating) -> None:
    """Raise InputError where two ratings that are told by the same names are of different texts."""
    differ = [
        column
        for column in ("system", "level")
        if level_key(column_of(first, column)) != level_key(column_of(other, column))
    ]
    if "und" not in (first.language, other.language) and first.language != other.language:
        differ.append("language")
    if differ:
        (column, *_) = differ
        raise InputError(
            f"{shown(name)} has several texts of item {shown(first.item_id)} that the other side does not tell apart: "
            f"{column} {shown(str(column_of(first, column)))} and {shown(str(column_of(other, column)))}. Name the {column} "
            "on both sides."
        )


def _paired(gold: _Side, predicted: _Side, lengths: Mapping[Key, int]) -> Paired:
    left_out = Counter(gold.left_out)
    left_out.update({f"predicted, but {reason}": n for reason, n in predicted.left_out.items()})
    shared = gold.raters & predicted.raters
    segments: list[Segment] = []
    for key, by_rater in gold.spans.items():
        others = predicted.spans.get(key)
        if others is None:
            left_out[NO_PREDICTION] += len(by_rater)
            continue
        for rater, spans in by_rater.items():
            meets = [rater] if rater in shared else [] if shared else list(others)
            found = [tuple(others[other]) for other in meets if other in others]
            left_out[OTHER_RATER] += not found
            segments += [
                Segment(key, gold.first[key], rater, tuple(spans), own, lengths.get(key)) for own in found
            ]
    left_out[NO_GOLD] += sum(key not in gold.spans for key in predicted.spans)
    reasons = {reason: n for reason, n in left_out.items() if n}
    if not segments:
        raise _nothing_met(gold, predicted, reasons)
    return Paired(tuple(segments), reasons, tuple(_notes(gold, predicted, shared)))


def _notes(gold: _Side, predicted: _Side, shared: frozenset[str]) -> list[str]:
    notes = [
        f"{side.n_in_source:,} errors of {shown(side.name)} are marked in the source and have no part"
        for side in (gold, predicted)
        if side.n_in_source
    ]
    if shared:
        names = ", ".join(sorted(map(shown, shared)))
        notes.append(f"both sides name the raters {names}: each is compared with themself")
    return notes


def _nothing_met(gold: _Side, predicted: _Side, reasons: Mapping[str, int]) -> InputError:
    problems = [f"{reason}: {n:,}" for reason, n in reasons.items()]
    for side in (gold, predicted):
        if (row := next(iter(side.first.values()), None)) is not None:
            system = "" if row.system in (None, ONLY_SYSTEM) else f", system {shown(row.system or '')}"
            level = "" if row.level is None else f", level {shown(row.level)}"
            problems.append(
                f"{shown(side.name)} names, for example, item {shown(row.item_id)}{system}{level}"
            )
    return InputError(
        f"No text with marked errors is in both {shown(gold.name)} and {shown(predicted.name)}: item, system and level "
        "must be written alike",
        problems,
    )


DIMENSION = "mqm"
NOT_ASKED, FAILED, NO_DRAW = "not asked", "no usable answer", "not asked so often"


@dataclass(frozen=True)
class Locating:
    """How the errors that a judge named were found in its texts, over all texts and repeats."""

    n_texts: int
    """With at least one usable answer."""
    n_errors: int
    located: Mapping[Located, int]
    """How -> errors. `not found` and `nothing quoted` mark no character; `not found` is not in the MQM score either."""


def n_draws(output: JudgeOutput) -> int:
    """How often the judge was asked of a text, at most. Raises InputError for a judge of another kind."""
    return max((trial.repeat + 1 for _, trials in _trials(output) for trial in trials), default=0)


def ratings_of_judge(output: JudgeOutput, repeat: int | None = None) -> RatingSet:
    """One rating a text that the judge answered of: the judge is the rater, the score minus the MQM weights.

    repeat: from 0; None: every repeat a rating of its own, by raters NAME, NAME repeat 2 ... Errors that stand nowhere
    in the text have spans of no length. Texts without a usable answer are left out and counted. Raises InputError for a
    judge that marks no errors, and where nothing is left.
    """
    left_out: Counter[str] = Counter()
    ratings: list[Rating] = []
    for text, trials in _trials(output):
        wanted = [trial for trial in trials if repeat is None or trial.repeat == repeat]
        usable = [trial for trial in wanted if trial.errors is not None]
        ratings += [
            _rating(_rater(output.name, trial, apart=repeat is None), text, trial) for trial in usable
        ]
        if not usable:
            left_out[_why(text, trials, wanted)] += 1
    if not ratings:
        why = "; ".join(f"{reason}: {count:,}" for reason, count in left_out.items()) or "it has no texts"
        raise InputError(f"{shown(output.name)} marked errors in no text ({why}).")
    notes = _notes_of_run(output, ratings)
    return RatingSet(tuple(ratings), "", output.name, notes, dict(left_out))


def draws_of_judge(output: JudgeOutput) -> tuple[RatingSet, ...]:
    """A set of ratings a repeat, each by the judge's own name; repeats that failed on every text are left out.

    A note of the first set names them. Raises InputError as `ratings_of_judge` does, where no repeat has an answer.
    """
    usable = sorted(
        {trial.repeat for _, trials in _trials(output) for trial in trials if trial.errors is not None}
    )
    first, *further = [ratings_of_judge(output, repeat) for repeat in usable or [0]]
    failed = [repeat + 1 for repeat in range(n_draws(output)) if repeat not in usable]
    if failed:
        note = f"{shown(output.name)} gave no usable answer in repeat {', '.join(map(str, failed))}, which is left out"
        first = replace(first, notes=(*first.notes, note))
    return (first, *further)


def locating(output: JudgeOutput) -> Locating:
    """Counts of how the judge's quotes were found. Raises InputError for a judge that marks no errors."""
    usable = [
        [error for trial in trials for error in trial.errors or ()]
        for _, trials in _trials(output)
        if any(trial.errors is not None for trial in trials)
    ]
    found = Counter(error.located for errors in usable for error in errors)
    return Locating(len(usable), sum(found.values()), dict(found))


def span_of(error: FoundError) -> ErrorSpan:
    """The error as a span with its weight; of no length where it stands nowhere in the text. See weight_in_text."""
    start, end = (0, 0) if error.start is None or error.end is None else (error.start, error.end)
    return ErrorSpan(start, end, error.severity, error.category, weight_in_text(error))


def trial_of(text: JudgedText, repeat: int) -> ErrorTrial | None:
    """What an error-marking judge said of a text the n-th time, from 0; None: it was not asked so often."""
    trials = text.record.trials if isinstance(text.record, AutoMqmRecord) else ()
    return next((trial for trial in trials if trial.repeat == repeat), None)


def _trials(output: JudgeOutput) -> list[tuple[JudgedText, tuple[ErrorTrial, ...]]]:
    if output.kind != automqm.KIND.name:
        raise InputError(
            f"{shown(output.name)} is a judge of the kind {output.kind}, which marks no errors: name one of the kind "
            f"{automqm.KIND.name}."
        )
    return [
        (text, text.record.trials if isinstance(text.record, AutoMqmRecord) else ()) for text in output.texts
    ]


def _rater(judge: str, trial: ErrorTrial, *, apart: bool) -> str:
    """apart: whether repeats are raters of their own."""
    return f"{judge} repeat {trial.repeat + 1}" if apart and trial.repeat else judge


def _rating(rater: str, text: JudgedText, trial: ErrorTrial) -> Rating:
    spans = tuple(span_of(error) for error in trial.errors or ())
    row = text.row
    return Rating(
        row.item_id,
        score_of(spans),
        row.system,
        row.level,
        rater,
        DIMENSION,
        row.language,
        row.labels,
        spans,
    )


def _why(text: JudgedText, trials: tuple[ErrorTrial, ...], wanted: list[ErrorTrial]) -> str:
    """Why the text has no rating: of a failed trial its reason."""
    if wanted:
        return next((trial.reason for trial in wanted if trial.reason), FAILED)
    return NO_DRAW if trials else next(iter(text.reasons.values()), NOT_ASKED)


def _notes_of_run(output: JudgeOutput, ratings: list[Rating]) -> tuple[str, ...]:
    empty = sum(span.start == span.end for rating in ratings for span in rating.spans or ())
    if not empty:
        return ()
    return (f"{empty:,} errors of {shown(output.name)} stand nowhere in their text: they mark no character",)
