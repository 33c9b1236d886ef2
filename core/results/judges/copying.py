"""Does a specialist copy the errors of its examples or understand them (Specialist, appendix B)?"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Unpack

import numpy as np

from core.errors import InputError
from core.joining.choices import Key, items_of
from core.judges import automqm
from core.judges.automqm import ErrorTrial
from core.judges.rated import ExampleUsed, severities_offered, test_set_of
from core.results.judges.spans import text_keys, trial_of
from core.schema.scores import JudgedText, JudgeOutput, RatedSet, RatedText, ScorableOutput, ScoredRow
from core.stats.resampling import Estimate, Floats, Resampling, ratio_estimates
from core.tables.reading import same_name, shown
from core.tables.references import names_reference


class Pool:
    """The errors that people marked, by the system whose text contains them.

    Two input texts under one id are two items, as for the judge: a specialist's examples share the judged text's input.
    """

    def __init__(self, rated: RatedSet, output: JudgeOutput) -> None:
        self._filtered = output.settings.get("filtered") is True
        self._same_item = output.settings.get("examples") == "specialist"
        self._offered = severities_offered(output)
        self._texts: dict[tuple[str, ...], list[RatedText]] = {}
        self._of_item: dict[tuple[str, ...], list[RatedText]] = {}
        for text in rated.texts:
            item = (*test_set_of(text.output), text.output.item_id)
            self._texts.setdefault((*item, text.output.system), []).append(text)
            self._of_item.setdefault((*item, _source(text.output)), []).append(text)

    def shown(
        self, used: Sequence[ExampleUsed], judged: ScorableOutput, marked: frozenset[str]
    ) -> frozenset[str]:
        """Quotes of the examples' errors; for a filtered judge, without those that people marked in the judged text."""
        test_set = test_set_of(judged)
        quotes = {
            quote
            for one in used
            for text in self._texts.get((*test_set, one.item_id, one.system), ())
            if not self._same_item or _source(text.output) == _source(judged)
            for quote in quotes_of(text, one.rater, self._offered)
        }
        return frozenset(quotes - marked if self._filtered else quotes)

    def same_source(self, judged: ScorableOutput) -> frozenset[str]:
        """Quotes of all errors in other systems' texts of the item, without references."""
        return frozenset(
            quote
            for text in self._of_item.get((*test_set_of(judged), judged.item_id, _source(judged)), ())
            if same_name(text.output.system) != same_name(judged.system)
            and not names_reference(text.output.system)
            for quote in quotes_of(text)
        )


def quotes_of(
    text: RatedText, rater: str | None = None, severities: frozenset[str] | None = None
) -> list[str]:
    """Quotes of the text's errors, on request only of one rater and of these severities."""
    return [
        text.output.text[span.start : span.end]
        for rating in text.ratings
        if rater is None or rating.rater == rater
        for span in rating.spans or ()
        if not span.in_source
        and span.start < span.end
        and (severities is None or span.severity.casefold() in severities)
    ]


def _source(output: ScorableOutput) -> str:
    """The input text with white space normalised."""
    return " ".join((output.source or "").split())


NO_ERRORS = "the judge quotes no error"
NO_ERRORS_THERE = "the judge quotes no error in texts in which people marked errors"
NOT_MARKED_HERE = "nobody marked errors in the judged texts"
NONE_ALONE = "the judge has no errors of its own"
NO_ANSWER, NOT_RATED = "no usable answer", "not among the rated texts"


@dataclass(frozen=True)
class Copying:
    """What one judge's errors share with others' (Specialist, Table 20). Intervals of shares resample items."""

    judge: str
    n_texts: int
    n_errors: int
    """Errors with quoted words, over all texts."""
    n_without_words: int
    """Errors without quoted words; not in `n_errors`."""
    of_people: Estimate
    """Share of errors whose words people marked in the same text, over texts in which people marked errors."""
    of_examples: Estimate
    """Share of errors whose words are an error in one of the judge's examples."""
    of_examples_or_parts: Estimate
    """The same, but including words inside or around such an error."""
    of_same_source: Estimate
    """Share of errors whose words are an error in any other system's text for the same input, shown or not."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of texts left out."""


@dataclass(frozen=True)
class Disjoint:
    """Errors that one judge marks and another does not, in texts of both (Specialist, Table 14)."""

    judge: str
    other: str
    n_texts: int
    n_errors: int
    """All errors that the judge marks in these texts."""
    n_alone: int
    """Those of them whose words the other judge does not mark in the same text, or marks less often."""
    n_alone_of_same_source: int
    """Those of the errors alone whose words are an error in another system's text for the same input."""
    share: Estimate
    """Share of the errors alone whose words are an error in another system's text for the same input."""


@dataclass(frozen=True)
class _Judged:
    """One text as a judge marked it, with the quotes to compare its words with."""

    key: Key
    row: ScoredRow
    quotes: tuple[str, ...]
    n_without_words: int
    people: frozenset[str] | None
    """None: no rating of errors. Empty: people found no error."""
    examples: frozenset[str]
    same_source: frozenset[str]


def error_copying(
    output: JudgeOutput, rated: RatedSet, repeat: int = 0, **drawing: Unpack[Resampling]
) -> Copying:
    """Compute how many of a judge's errors occur in its examples, and how many people marked (Specialist, Table 20).

    rated: the texts that the judge worked on, with the ratings behind its examples. Marks in the input text are ignored.
    repeat: that of the judge, from 0. drawing: see `resampling.Resampling`; 2,000 resamples by default.
    Two kinds of errors in examples are not counted because the judge did not see them: for a filtered judge, those that
    people marked in the judged text; and those of a severity that the judge's task does not have. Misleads if errors are
    short: a single common word is easily "copied". Shares count errors, so texts with many weigh more. Raises InputError
    for a judge that marks no errors, and if no judged text was rated.
    """
    judged, left_out = _judged(output, rated, repeat)
    errors = [one.quotes for one in judged]
    columns = np.array(
        [
            [
                sum(quote in (one.people or ()) for quote in one.quotes),
                sum(quote in one.examples for quote in one.quotes),
                sum(_is_in_part(quote, one.examples) for quote in one.quotes),
                sum(quote in one.same_source for quote in one.quotes),
            ]
            for one in judged
        ],
        dtype=np.float64,
    )
    n_errors = np.repeat(np.array([[len(own)] for own in errors], dtype=np.float64), 4, axis=1)
    n_errors[[one.people is None for one in judged], 0] = 0.0
    reasons = [_why_not_of_people(judged), *[NO_ERRORS] * 3]
    shares = _shares(columns, n_errors, judged, drawing, reasons)
    return Copying(
        judge=output.name,
        n_texts=len(judged),
        n_errors=sum(map(len, errors)),
        n_without_words=sum(one.n_without_words for one in judged),
        of_people=shares[0],
        of_examples=shares[1],
        of_examples_or_parts=shares[2],
        of_same_source=shares[3],
        left_out=left_out,
    )


def disjoint_errors(
    first: JudgeOutput,
    second: JudgeOutput,
    rated: RatedSet,
    repeat: int = 0,
    **drawing: Unpack[Resampling],
) -> tuple[Disjoint, Disjoint]:
    """Find errors that only one of two judges marks, and how many of them other systems made (Specialist, Table 14).

    A judge that copies its examples marks more of these than one without examples. repeat, drawing: as there. Raises InputError as `error_copying`
    does, and if the two have no text in common.
    """
    sides = [{one.key: one for one in _judged(output, rated, repeat)[0]} for output in (first, second)]
    shared = [key for key in sides[0] if key in sides[1]]
    if not shared:
        raise InputError(
            f"{shown(first.name)} and {shown(second.name)} have no usable answers on the same text."
        )
    a, b = ([own[key] for key in shared] for own in sides)
    return _alone(first.name, second.name, a, b, drawing), _alone(second.name, first.name, b, a, drawing)


def _alone(
    judge: str, other: str, own: Sequence[_Judged], others: Sequence[_Judged], drawing: Resampling
) -> Disjoint:
    # Equal quotes count as shared as often as both judges have them, so both share the same number, as in Specialist.
    alone = [
        list((Counter(one.quotes) - Counter(theirs.quotes)).elements())
        for one, theirs in zip(own, others, strict=True)
    ]
    copied = [sum(quote in one.same_source for quote in found) for one, found in zip(own, alone, strict=True)]
    n_alone = np.array([len(one) for one in alone], dtype=np.float64)[:, None]
    (share,) = _shares(np.array(copied, dtype=np.float64)[:, None], n_alone, own, drawing, [NONE_ALONE])
    return Disjoint(
        judge=judge,
        other=other,
        n_texts=len(own),
        n_errors=sum(len(one.quotes) for one in own),
        n_alone=sum(map(len, alone)),
        n_alone_of_same_source=sum(copied),
        share=share,
    )


def _shares(
    counts: Floats,
    n_errors: Floats,
    judged: Sequence[_Judged],
    drawing: Resampling,
    reasons: Sequence[str],
) -> list[Estimate]:
    """One share for each column. counts, n_errors: shape (texts, k), errors with the property and all errors.

    reasons: for each column, why the share is undefined if there is no error.
    """
    resampling: Resampling = {"n_resamples": 2_000, **drawing}
    found = ratio_estimates(counts, n_errors, items_of([one.row for one in judged]), **resampling)
    return [
        one
        if one.reason is None
        else replace(one, n=0, n_left_out=0, reason=why, interval_reason="the estimate is undefined")
        for one, why in zip(found, reasons, strict=True)
    ]


def _why_not_of_people(judged: Sequence[_Judged]) -> str:
    """The reason why no error can be compared with people's marks."""
    if all(one.people is None for one in judged):
        return NOT_MARKED_HERE
    return NO_ERRORS_THERE if any(one.quotes for one in judged) else NO_ERRORS


def _is_in_part(quote: str, examples: Iterable[str]) -> bool:
    """Whether the quote contains an example's error or lies inside one."""
    return any(quote in one or one in quote for one in examples)


def _judged(output: JudgeOutput, rated: RatedSet, repeat: int) -> tuple[list[_Judged], dict[str, int]]:
    """The rated texts with a usable answer, and reasons for leaving others out."""
    if output.kind != automqm.KIND.name:
        raise InputError(f"{shown(output.name)} is a {output.kind} judge, which marks no errors.")
    rows = [
        ScoredRow(
            one.output.item_id, one.output.system, one.output.level, one.output.language, one.output.labels
        )
        for one in rated.texts
    ]
    judged_keys, rated_keys = text_keys([[text.row for text in output.texts], rows])
    known = dict(zip(rated_keys, rated.texts, strict=True))
    pool = Pool(rated, output)
    found: list[_Judged] = []
    left_out: dict[str, int] = {}
    for text, key in zip(output.texts, judged_keys, strict=True):
        trial = trial_of(text, repeat)
        people = known.get(key)
        if trial is None or trial.errors is None or people is None:
            reason = NOT_RATED if people is None else NO_ANSWER
            left_out[reason] = left_out.get(reason, 0) + 1
            continue
        found.append(_compared(text, key, trial, people, pool))
    if NOT_RATED not in left_out and not found:
        raise InputError(
            f"{shown(output.name)} has no usable answer in repeat {repeat + 1} for any of its "
            f"{len(output.texts):,} texts."
        )
    if not found:
        raise InputError(
            f"No text that {shown(output.name)} marked is rated in {shown(rated.file_name)}.",
            [f"{reason}: {n:,}" for reason, n in left_out.items()],
        )
    return found, left_out


def _compared(text: JudgedText, key: Key, trial: ErrorTrial, people: RatedText, pool: Pool) -> _Judged:
    quotes = [error.quote for error in trial.errors or ()]
    own = frozenset(quotes_of(people))
    return _Judged(
        key=key,
        row=text.row,
        quotes=tuple(quote for quote in quotes if quote),
        n_without_words=sum(not quote for quote in quotes),
        people=own if any(one.spans is not None for one in people.ratings) else None,
        examples=pool.shown(trial.examples, people.output, own),
        same_source=pool.same_source(people.output),
    )
