"""What a rating study says, as the rest of Assay reads it: rated texts, ratings, totals by system.

Everything here takes a record that core.study.release hands out: before a study is unblinded there is none.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from core.datasets.mqm_weights import score_of
from core.datasets.span_cells import with_weight
from core.errors import NotAllowed
from core.schema import Item, Output, Rater, StudyRecord
from core.schema.rated import RatedText
from core.schema.scores import ErrorSpan, Rating, RatingSet, ScorableOutput
from core.schema.tasks import RatingAnswer, RatingTask
from core.study.rating_checks import SPAN_DIMENSION

DRY_RUN = "ratings of a preview"
EXCLUDED = "ratings of raters who are left out"
OPEN = "texts that were begun and never done"
INVALID = "texts that a rater reported as broken"
REPEATED = "hidden repeats: for consistency only"


@dataclass(frozen=True)
class Counted:
    """The answers of a record that count, and how many do not."""

    record: StudyRecord
    answers: tuple[RatingAnswer, ...]
    """In the order of the study's texts, then of its raters."""
    repeats: tuple[RatingAnswer, ...]
    """Hidden repeats of raters who count, done and not reported as broken."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> answers."""

    @cached_property
    def items(self) -> dict[str, Item]:
        """By item id."""
        return {item.item_id: item for item in self.record.items}


def task_of(record: StudyRecord) -> RatingTask:
    """What the study asks. Raises NotAllowed for a study of pairs."""
    if record.study.task is None:
        raise NotAllowed(
            f"Study {record.study.name!r} compares pairs of answers: it holds no ratings of texts."
        )
    return record.study.task


def counted(record: StudyRecord) -> Counted:
    """Which answers count: done, of raters who count, of texts that are not broken; the rest by reason."""
    raters = {rater.rater_id: rater for rater in record.raters}
    place = {(o.item_id, o.level, o.source): n for n, o in enumerate(record.outputs)}
    who = {rater.rater_id: n for n, rater in enumerate(record.raters)}
    left_out: Counter[str] = Counter()
    main: list[RatingAnswer] = []
    repeats: list[RatingAnswer] = []
    for answer in record.rating_answers:
        reason = _why_not(answer, raters[answer.rater_id])
        if reason is None and answer.repeat:
            repeats.append(answer)
            reason = REPEATED
        if reason is None:
            main.append(answer)
        else:
            left_out[reason] += 1

    def order(answer: RatingAnswer) -> tuple[int, int]:
        return place[answer.item_id, answer.level, answer.source], who[answer.rater_id]

    return Counted(record, tuple(sorted(main, key=order)), tuple(sorted(repeats, key=order)), dict(left_out))


def _why_not(answer: RatingAnswer, rater: Rater) -> str | None:
    if rater.dry_run:
        return DRY_RUN
    if rater.excluded is not None:
        return EXCLUDED
    if answer.invalid:
        return INVALID
    return None if answer.done else OPEN


def ratings_in(task: RatingTask, item: Item, answer: RatingAnswer) -> Iterator[Rating]:
    """One rating a dimension, and of marked errors one of the dimension SPAN_DIMENSION: minus their MQM weights."""

    def rating(dimension: str, score: float, spans: tuple[ErrorSpan, ...] | None = None) -> Rating:
        return Rating(
            item_id=answer.item_id,
            score=score,
            system=answer.source,
            level=answer.level or None,
            rater=answer.rater_id,
            dimension=dimension,
            language=item.language,
            spans=spans,
        )

    for dimension in task.dimensions:
        if dimension.name in answer.scores:
            yield rating(dimension.name, answer.scores[dimension.name])
    if task.spans is not None:
        spans = tuple(with_weight(span) for span in answer.spans)
        yield rating(SPAN_DIMENSION, score_of(spans), spans)


def rating_set_of(record: StudyRecord) -> RatingSet:
    """All ratings that count, one a rater, text and dimension; what is left out by reason.

    The score of marked errors is minus their MQM weights (core.datasets.mqm_weights); errors in the source are in it.
    """
    found, task = counted(record), task_of(record)
    ratings = tuple(r for a in found.answers for r in ratings_in(task, found.items[a.item_id], a))
    unknown = sum(span.weight is None for r in ratings for span in r.spans or ())
    notes = (
        (f"{unknown} errors of a severity without a weight count nothing in the score",) if unknown else ()
    )
    study = record.study
    return RatingSet(ratings, study.dataset_sha256, f"study {study.name}", notes, found.left_out)


def rated_texts_of(record: StudyRecord) -> tuple[RatedText, ...]:
    """Every text of the study with the ratings that count, in the order of its file; unrated texts have none."""
    found, task = counted(record), task_of(record)
    by_text: dict[tuple[str, str, str], list[Rating]] = {}
    for answer in found.answers:
        key = (answer.item_id, answer.level, answer.source)
        by_text.setdefault(key, []).extend(ratings_in(task, found.items[answer.item_id], answer))
    return tuple(
        RatedText(
            _scorable(found.items[o.item_id], o), tuple(by_text.get((o.item_id, o.level, o.source), ()))
        )
        for o in record.outputs
    )


def _scorable(item: Item, output: Output) -> ScorableOutput:
    return ScorableOutput(
        item_id=item.item_id,
        system=output.source,
        text=output.text,
        reference=item.reference or None,
        source=item.question or None,
        level=output.level or None,
        language=item.language,
    )
