"""Compare errors that judges mark with those that people marked: character-level precision, recall and F1.

For one judge, for several, by number of examples, and by rater.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import cast

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.choices import Key, Named, column_of, has_column, items_of, keys_of, level_key
from core.judges import automqm
from core.judges.automqm import AutoMqmRecord, ErrorTrial, FoundError, Located, weight_in_text
from core.schema.marks import GoldRaters, SpanOptions
from core.schema.scores import ErrorSpan, JudgedText, JudgeOutput, OutputSet, Rating, RatingSet, score_of
from core.stats.correlation.intervals import PairedTest
from core.stats.multiplicity import corrected
from core.stats.resampling import Floats, ratio
from core.stats.span_f1 import SpanCounts, SpanF1, span_counts, span_f1, span_f1_test
from core.tables.columns import ONLY_SYSTEM
from core.tables.reading import shown
from core.tables.references import OF_REFERENCE, names_reference

PEOPLE = "people"
"""Name of the gold in notes."""


def said_of(side: str, sets: Sequence[RatingSet]) -> tuple[str, ...]:
    """A side's notes and what its reader left out, each after the side's name.

    sets: one set, or one for each draw; for several draws the largest number for each reason. These are notes and not
    counts, because a text without marks on one side is counted elsewhere as having nothing to compare.
    """
    notes = [note for one in sets for note in one.notes]
    lost: dict[str, int] = {}
    for one in sets:
        for reason, n in one.left_out.items():
            lost[reason] = max(n, lost.get(reason, 0))
    of = "up to " if len(sets) > 1 else ""
    notes += [f"left out on reading: {of}{n:,}: {shown(reason)}" for reason, n in lost.items() if n]
    return tuple(dict.fromkeys(f"{shown(side)}: {note}" for note in notes))


Span = tuple[int, int, str]
"""Start, end (exclusive), severity in lower case."""
Spans = tuple[Span, ...]

NOT_MARKED = "errors were not marked"
NO_PREDICTION, NO_GOLD = "no prediction of this text", "no rating of this text to compare with"
OTHER_RATER = "no prediction by this rater, although other raters have one"
NOBODY = ""
"""Stands for the rater of unnamed or merged ratings."""


@dataclass(frozen=True)
class Segment:
    """One rater's marks in one text, with the predicted ones."""

    key: Key
    """Key of the text."""
    row: Rating
    """The text's first rating."""
    rater: str
    """Rater of the gold; empty: unnamed or merged."""
    gold: Spans
    predicted: Spans
    length: int | None = None
    """Length of the text in code points; None: unknown, nothing is clipped."""


@dataclass(frozen=True)
class Paired:
    """The segments of a comparison, and what was left out."""

    segments: tuple[Segment, ...]
    left_out: Mapping[str, int]
    """Reason -> gold segments or predicted texts that could not be compared."""
    notes: tuple[str, ...] = ()

    @property
    def items(self) -> NDArray[np.int64]:
        """Number of the item of each segment, for resampling."""
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
        """All named raters."""
        return frozenset(rater for own in self.spans.values() for rater in own if rater)


def pair_spans(
    gold: RatingSet,
    predicted: RatingSet,
    *,
    texts: OutputSet | None = None,
    raters: GoldRaters = "kept",
    references: bool = False,
) -> Paired:
    """Pair every gold rating with every prediction for the same text.

    Texts match by `text_keys`. If both sides name some of the same raters, each rater is compared only with themself, so
    that a file matches itself. Marks in the input text are left out, and so are systems that are references unless
    `references` is set. Raises InputError if no segment is left.
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
    """`pair_spans` for several predictions, with the same text keys for all."""
    outputs = () if texts is None else texts.outputs
    rows = [one.row for one in outputs]
    *keys, of_texts = text_keys([gold.ratings, *(one.ratings for one in predicted), rows])
    lengths = {key: len(one.text) for key, one in zip(of_texts, outputs, strict=True)}
    sides = [
        _side(one, own, merged=raters == "merged", references=references)
        for one, own in zip((gold, *predicted), keys, strict=True)
    ]
    return [_paired(sides[0], side, lengths) for side in sides[1:]]


def text_keys(sides: Sequence[Sequence[Named]]) -> list[list[Key]]:
    """Key of each row's text: item, system and level, as far as all sides with rows have them.

    A further shared column (language, dataset, a label) is used if texts of one side differ in nothing else except raters.
    Levels match under any of their names; blanks are filled from the item's other rows.
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
    # A rater's scores on dimensions of a marked text are not missing marks.
    side.left_out[NOT_MARKED] = len(unmarked - marked)
    return side


def _check_one_text(name: str, first: Rating, other: Rating) -> None:
    """Raise InputError if two ratings with the same key belong to different texts."""
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
            f"{shown(name)} has several texts for item {shown(first.item_id)}, with {column} "
            f"{shown(str(column_of(first, column)))} and {shown(str(column_of(other, column)))}. The other side has no "
            f"{column}: add it there."
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
        raise _no_match_error(gold, predicted, reasons)
    return Paired(tuple(segments), reasons, tuple(_notes(gold, predicted, shared)))


def _notes(gold: _Side, predicted: _Side, shared: frozenset[str]) -> list[str]:
    notes = [
        f"{side.n_in_source:,} errors of {shown(side.name)} left out: marked in the input text"
        for side in (gold, predicted)
        if side.n_in_source
    ]
    if shared:
        names = ", ".join(sorted(map(shown, shared)))
        notes.append(f"both sides name the raters {names}, so each is compared only with themself")
    return notes


def _no_match_error(gold: _Side, predicted: _Side, reasons: Mapping[str, int]) -> InputError:
    problems = [f"{reason}: {n:,}" for reason, n in reasons.items()]
    for side in (gold, predicted):
        if (row := next(iter(side.first.values()), None)) is not None:
            system = "" if row.system in (None, ONLY_SYSTEM) else f", system {shown(row.system or '')}"
            level = "" if row.level is None else f", level {shown(row.level)}"
            problems.append(f"first text of {shown(side.name)}: item {shown(row.item_id)}{system}{level}")
    return InputError(
        f"{shown(gold.name)} and {shown(predicted.name)} share no text with marked errors. Item, system and level must "
        "be the same in both",
        problems,
    )


DIMENSION = "mqm"
NOT_ASKED, FAILED, NO_DRAW = "not asked", "no usable answer", "fewer repeats"


@dataclass(frozen=True)
class Locating:
    """How a judge's errors were located in its texts, over all texts and repeats."""

    n_texts: int
    """Texts with at least one usable answer."""
    n_errors: int
    located: Mapping[Located, int]
    """How located -> errors. `not found` and `nothing quoted` mark no character; the MQM score ignores `not found`."""


def n_draws(output: JudgeOutput) -> int:
    """The largest number of repeats of a text. Raises InputError for a judge of another kind."""
    return max((trial.repeat + 1 for _, trials in _trials(output) for trial in trials), default=0)


def ratings_of_judge(output: JudgeOutput, repeat: int | None = None) -> RatingSet:
    """Convert a judge's answers to ratings: the judge is the rater, the score is minus the sum of MQM weights.

    repeat: from 0; None: one rating for every repeat, by raters NAME, NAME repeat 2 ... Errors not found in the text have
    spans of length 0. Texts without a usable answer are left out and counted. Raises InputError for a judge that marks no
    errors, and if nothing is left.
    """
    left_out: Counter[str] = Counter()
    ratings: list[Rating] = []
    for text, trials in _trials(output):
        wanted = [trial for trial in trials if repeat is None or trial.repeat == repeat]
        usable = [trial for trial in wanted if trial.errors is not None]
        for trial in usable:
            apart = f" repeat {trial.repeat + 1}" if repeat is None and trial.repeat else ""
            ratings.append(_rating(output.name + apart, text, trial))
        if not usable:
            left_out[_why(text, trials, wanted)] += 1
    if not ratings:
        why = "; ".join(f"{reason}: {count:,}" for reason, count in left_out.items()) or "no texts"
        raise InputError(f"{shown(output.name)} has no text with a usable answer ({why}).")
    empty = sum(span.start == span.end for rating in ratings for span in rating.spans or ())
    nowhere = f"{empty:,} errors of {shown(output.name)} were not found in their text and mark no character"
    notes = (nowhere,) if empty else ()
    return RatingSet(tuple(ratings), "", output.name, notes, dict(left_out))


def draws_of_judge(output: JudgeOutput) -> tuple[RatingSet, ...]:
    """One set of ratings for each repeat, under the judge's name; repeats that failed on every text are left out.

    A note in the first set names these. Raises InputError as `ratings_of_judge` does, if no repeat has an answer.
    """
    usable = sorted(
        {trial.repeat for _, trials in _trials(output) for trial in trials if trial.errors is not None}
    )
    first, *further = [ratings_of_judge(output, repeat) for repeat in usable or [0]]
    failed = [repeat + 1 for repeat in range(n_draws(output)) if repeat not in usable]
    if failed:
        note = f"{shown(output.name)}: repeat {', '.join(map(str, failed))} left out: no usable answer"
        first = replace(first, notes=(*first.notes, note))
    return (first, *further)


def locating(output: JudgeOutput) -> Locating:
    """Count how the judge's quotes were located. Raises InputError for a judge that marks no errors."""
    usable = [
        [error for trial in trials for error in trial.errors or ()]
        for _, trials in _trials(output)
        if any(trial.errors is not None for trial in trials)
    ]
    found = Counter(error.located for errors in usable for error in errors)
    return Locating(len(usable), sum(found.values()), dict(found))


def span_of(error: FoundError) -> ErrorSpan:
    """The error as a span with its weight (`weight_in_text`); length 0 if it was not found in the text."""
    start, end = (0, 0) if error.start is None or error.end is None else (error.start, error.end)
    return ErrorSpan(start, end, error.severity, error.category, weight_in_text(error))


def trial_of(text: JudgedText, repeat: int) -> ErrorTrial | None:
    """The answer of an error-marking judge in one repeat, from 0; None: there are fewer repeats."""
    trials = text.record.trials if isinstance(text.record, AutoMqmRecord) else ()
    return next((trial for trial in trials if trial.repeat == repeat), None)


def _trials(output: JudgeOutput) -> list[tuple[JudgedText, tuple[ErrorTrial, ...]]]:
    if output.kind != automqm.KIND.name:
        raise InputError(
            f"{shown(output.name)} is a {output.kind} judge, which marks no errors. Name one of the kind "
            f"{automqm.KIND.name}."
        )
    return [
        (text, text.record.trials if isinstance(text.record, AutoMqmRecord) else ()) for text in output.texts
    ]


def _rating(rater: str, text: JudgedText, trial: ErrorTrial) -> Rating:
    spans = tuple(span_of(error) for error in trial.errors or ())
    row = text.row
    what = (row.item_id, score_of(spans), row.system, row.level)
    return Rating(*what, rater, DIMENSION, row.language, row.labels, spans)


def _why(text: JudgedText, trials: tuple[ErrorTrial, ...], wanted: list[ErrorTrial]) -> str:
    """The reason why the text has no rating, from a failed trial if there is one."""
    if wanted:
        return next((trial.reason for trial in wanted if trial.reason), FAILED)
    return NO_DRAW if trials else next(iter(text.reasons.values()), NOT_ASKED)


def counts_of(segments: Sequence[Segment], severity: str | None = None) -> SpanCounts:
    """Characters marked and agreed on, for each segment. severity: use only spans of this severity."""
    lengths = _lengths(segments)

    def kept(spans: Spans) -> Spans:
        return spans if severity is None else tuple(span for span in spans if span[2] == severity)

    return span_counts(
        [kept(segment.gold) for segment in segments],
        [kept(segment.predicted) for segment in segments],
        lengths,
    )


def select_counts(counts: SpanCounts, index: NDArray[np.intp] | NDArray[np.bool_]) -> SpanCounts:
    """Select the counts of some segments."""
    return SpanCounts(counts.credit[index], counts.predicted[index], counts.gold[index])


def _lengths(segments: Sequence[Segment]) -> list[int] | None:
    """Each text's length, or the end of its last span; None if no text is known."""
    if all(segment.length is None for segment in segments):
        return None
    return [
        max((span[1] for span in (*segment.gold, *segment.predicted)), default=0)
        if segment.length is None
        else segment.length
        for segment in segments
    ]


NOT_BY_ALL = "not marked by all"


@dataclass(frozen=True)
class DrawSummary:
    """Mean and spread of a judge's number over its draws."""

    mean: float | None
    """Mean; None: undefined in every draw."""
    sd: float | None
    """Sample standard deviation (ddof 1); None: defined in fewer than two draws."""
    n: int
    """Draws in which the number is defined."""
    n_undefined: int


@dataclass(frozen=True)
class JudgeSpans:
    """One judge of several."""

    name: str
    overall: SpanF1
    """F1 of counts averaged over draws; intervals resample items, so they do not cover variation between draws."""
    n_draws: int
    precision: DrawSummary
    recall: DrawSummary
    f1: DrawSummary
    """Summary over draws, each computed by itself."""
    left_out: Mapping[str, int]
    """Reason -> number of segments, the largest of any draw."""


@dataclass(frozen=True)
class SpanTest:
    """Two judges on the same segments."""

    first: str
    second: str
    test: PairedTest
    """Two-sided test of F1; all texts of an item are swapped together."""
    p_holm: float | None
    """The test's p, corrected for every two judges of the call (Holm)."""


@dataclass(frozen=True)
class SpanComparison:
    """All judges on the segments available in all their draws."""

    gold: str
    judges: tuple[JudgeSpans, ...]
    tests: tuple[SpanTest, ...]
    """Every pair of judges once, in their order."""
    n_segments: int
    n_items: int
    options: SpanOptions
    notes: tuple[str, ...] = ()


def compare_spans(
    gold: RatingSet,
    predicted: Mapping[str, RatingSet | Sequence[RatingSet]],
    *,
    texts: OutputSet | None = None,
    options: SpanOptions,
) -> SpanComparison:
    """Compare several judges' F1 on the texts they share, with a permutation test for every two of them.

    predicted: judge -> its marks, or those of every draw of its examples (10 seeds in Specialist). With several draws,
    numbers are means with standard deviations over draws, and intervals and tests use characters averaged over draws.
    Misleads: a judge that failed on hard texts removes them for all others. Raises InputError if the judges share no text of the gold.
    """
    draws = {name: (one,) if isinstance(one, RatingSet) else tuple(one) for name, one in predicted.items()}
    flat = [one for own in draws.values() for one in own]
    pairs = pair_several(gold, flat, texts=texts, **options.pairing)
    shared = _shared(pairs)
    if not shared:
        raise InputError("The judges share no text of the gold, so they cannot be compared.")
    counted = [_counts(one, shared) for one in pairs]
    rows = {(segment.key, segment.rater): segment.row for segment in pairs[0].segments}
    items = items_of([rows[key] for key in shared])
    judges, means = [], {}
    begin = 0
    for name, own in draws.items():
        block = slice(begin, begin + len(own))
        begin = block.stop
        means[name] = _mean(counted[block])
        judges.append(_judge(name, counted[block], pairs[block], means[name], items, options, len(shared)))
    every_two = list(combinations(draws, 2))
    found = [
        span_f1_test(means[a], means[b], items, n_resamples=options.n_resamples, rng=options.rng)
        for a, b in every_two
    ]
    tests = tuple(
        SpanTest(a, b, test, p)
        for (a, b), test, p in zip(every_two, found, corrected([one.p for one in found]), strict=True)
    )
    notes = dict.fromkeys(
        (
            *said_of(PEOPLE, [gold]),
            *(note for name, own in draws.items() for note in said_of(name, own)),
            *(note for one in pairs for note in one.notes),
        )
    )
    return SpanComparison(
        gold.file_name, tuple(judges), tests, len(shared), int(np.unique(items).size), options, tuple(notes)
    )


_SegmentKey = tuple[Key, str]


def _shared(pairs: Sequence[Paired]) -> list[_SegmentKey]:
    """(text, rater of the gold) of the shared segments, in the order of the first judge."""
    keys = [dict.fromkeys((segment.key, segment.rater) for segment in one.segments) for one in pairs]
    return [key for key in keys[0] if all(key in own for own in keys[1:])]


def _counts(paired: Paired, shared: Sequence[_SegmentKey]) -> SpanCounts:
    """Counts of each shared segment; the mean if a set has several predictions for it."""
    place = {key: index for index, key in enumerate(shared)}
    found = [
        (index, place[key])
        for index, segment in enumerate(paired.segments)
        if (key := (segment.key, segment.rater)) in place
    ]
    own, to = np.array(found, dtype=np.intp).T
    counts = select_counts(counts_of(paired.segments), own)
    n = np.bincount(to, minlength=len(shared)).astype(np.float64)

    def averaged(values: Floats) -> Floats:
        sums = np.bincount(to, weights=values, minlength=len(shared)).astype(np.float64)
        return ratio(sums, n)

    return SpanCounts(averaged(counts.credit), averaged(counts.predicted), averaged(counts.gold))


def _mean(counts: Sequence[SpanCounts]) -> SpanCounts:
    fields = ("credit", "predicted", "gold")
    return SpanCounts(*(np.mean([getattr(one, name) for one in counts], axis=0) for name in fields))


def _judge(
    name: str,
    counts: Sequence[SpanCounts],
    pairs: Sequence[Paired],
    mean: SpanCounts,
    items: NDArray[np.int64],
    options: SpanOptions,
    n_shared: int,
) -> JudgeSpans:
    drawn = [span_f1(one, items, n_resamples=0, confidence_level=options.confidence_level) for one in counts]
    left_out: dict[str, int] = {}
    for one in pairs:
        lost = len({(segment.key, segment.rater) for segment in one.segments}) - n_shared
        for reason, n in (*one.left_out.items(), (NOT_BY_ALL, lost)):
            if n:
                left_out[reason] = max(n, left_out.get(reason, 0))
    return JudgeSpans(
        name=name,
        overall=span_f1(mean, items, **options.resampling),
        n_draws=len(counts),
        precision=summary([one.precision.estimate for one in drawn]),
        recall=summary([one.recall.estimate for one in drawn]),
        f1=summary([one.f1.estimate for one in drawn]),
        left_out=left_out,
    )


def summary(values: Sequence[float | None]) -> DrawSummary:
    """Mean and standard deviation (ddof 1) of the defined values."""
    known = [value for value in values if value is not None]
    return DrawSummary(
        mean=float(np.mean(known)) if known else None,
        sd=float(np.std(known, ddof=1)) if len(known) > 1 else None,
        n=len(known),
        n_undefined=len(values) - len(known),
    )


RULE = "Over all characters: a character counts 1 if severities agree, 1/2 if only the marks do."


_NO_EXAMPLES = "none"


@dataclass(frozen=True)
class CurvePoint:
    """One run in the curve."""

    name: str
    """Name given by the caller."""
    variant: str
    """Origin of the examples: specialist, shuffled, fixed, none."""
    n_examples: int | None
    """Examples requested per text; None: all available."""
    mean_shown: float
    """Mean number of examples shown per text: lower than requested if items have fewer texts."""
    judge: JudgeSpans


@dataclass(frozen=True)
class ExampleCurve(SpanComparison):
    """Runs of one judge with different numbers of examples, on their shared texts."""

    points: tuple[CurvePoint, ...] = ()
    """Points ordered by variant, then by mean number of examples shown."""


def example_curve(
    gold: RatingSet,
    runs: Mapping[str, JudgeOutput],
    *,
    texts: OutputSet | None = None,
    options: SpanOptions,
) -> ExampleCurve:
    """Compute F1 with its interval for each run's number of examples, on the segments shared by all runs.

    Runs with one seed draw nested subsets: a run with k examples uses those of the run with k - 1. Misleads if items have
    few texts: requesting more examples then adds nothing, as `mean_shown` shows. Raises InputError for fewer than two runs,
    for a judge that marks no errors, and if the runs share no text of the gold.
    """
    if len(runs) < 2:
        raise InputError("A curve needs at least two runs with different numbers of examples.")
    compared = compare_spans(
        gold,
        {name: draws_of_judge(run) for name, run in runs.items()},
        texts=texts,
        options=options,
    )
    points = [
        _point(name, run, judge) for (name, run), judge in zip(runs.items(), compared.judges, strict=True)
    ]
    models = {run.model for run in runs.values()}
    several = (f"several models: {', '.join(sorted(map(shown, models)))}",) if len(models) > 1 else ()
    in_order = tuple(sorted(points, key=lambda point: (point.variant, point.mean_shown)))
    return ExampleCurve(**{**vars(compared), "notes": (*compared.notes, *several)}, points=in_order)


def _point(name: str, run: JudgeOutput, judge: JudgeSpans) -> CurvePoint:
    shown_counts = [
        len(trial.examples)
        for text in run.texts
        if isinstance(text.record, AutoMqmRecord)
        for trial in text.record.trials
        if trial.errors is not None
    ]
    variant = str(run.settings.get("examples", ""))
    asked = cast("int", run.settings.get("n_examples", 0))
    return CurvePoint(
        name=name,
        variant=variant,
        n_examples=0 if variant == _NO_EXAMPLES else asked or None,
        mean_shown=float(np.mean(shown_counts)) if shown_counts else 0.0,
        judge=judge,
    )
