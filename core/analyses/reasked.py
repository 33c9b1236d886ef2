"""Does a judge confirm its own questions? Its second answers beside the expected ones (CEF, section 4.6)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.schema.analysis import Analysis, Table, Tell, confidence_setting
from core.schema.result_table import Interval
from core.schema.rows import column, columns, entry, row
from core.schema.settings import Remark, Settings

if TYPE_CHECKING:
    from core.judges.questions import CrossQuestion, Side, Verdict
    from core.schema.scores import JudgedText, JudgeOutput

ALL_SIDES = "all"
NOT_ASKED_FOR = "no question with this expected answer has a second answer"


class ReaskedOptions(Settings):
    """Options of the intervals."""

    confidence_level: float = confidence_setting()


@row
class UnchangedShare:
    """A share in JSON."""

    count: int = entry("questions whose second answer is the expected one")
    n: int = entry("questions with a second answer")
    share: float | None = entry("the share")
    low: float | None = entry("lower end of Wilson's interval")
    high: float | None = entry("upper end")
    confidence_level: float = entry("of the interval")
    reason: str | None = entry("why it is undefined")


@row
class ReaskedRow:
    """Second answers to questions with one expected answer."""

    side: str = column(
        "what the questions were made from: source, text, or all",
        title="Questions from",
        names_row=True,
        key="",
    )
    expected: str = column("the expected answer", title="Expected", names_row=True)
    counts: Mapping[str, int] = columns("second answers, given to the text that the question was made from")
    no_answer: int = column("questions without a second answer", shown=False, key="")
    without: Mapping[str, int] = column(
        "reason, such as unparsed, to the number of questions without a second answer",
        name="no_answer_reasons",
        title="No answer",
    )
    share: Interval = column(
        "share of questions with a second answer in which it equals the expected one",
        name="unchanged",
        title="Unchanged",
        percent=True,
        key="",
    )
    unchanged_count: int = column("questions whose second answer is the expected one", shown=False, key="")
    unchanged: UnchangedShare = entry(
        "share of questions whose second answer is the expected one", rows=UnchangedShare
    )


@row
class Reasked:
    """Confusion matrix of one judge: rows are expected answers, columns second answers."""

    judge: str = entry("the judge")
    by_side: "Mapping[str, Sequence[Mapping[str, Any]]]" = entry(
        "source, text, all: a list of objects for the expected answers YES, NO and IDK, with `expected`, `counts` (second answer "
        "to number), `without` (reason to number) and `unchanged` (`count`, `n`, `share`, `low`, `high`, `confidence_level`, `reason`)"
    )
    n_not_asked: int = entry("questions that were not asked again")
    rows: tuple[ReaskedRow, ...]
    """The same, for tables."""


def compute(options: ReaskedOptions, output: "JudgeOutput", *, tell: Tell) -> Reasked:
    """Count a cross-examination's questions by expected and by second answer on the same text, over all repeats.

    A question counts once for its item, document and repeat: all texts of an item share the questions made from the input
    text. Questions without a second answer are in no share and are counted by reason. Raises InputError for other judges,
    and for runs that asked nothing again.
    """
    from core.errors import InputError
    from core.judges import cross_examination
    from core.judges.cross_examination import CefSettings
    from core.judges.questions import SIDES, VERDICTS
    from core.schema.rows import json_of
    from core.schema.settings import refuse
    from core.tables.reading import shown

    if output.kind != cross_examination.KIND.name:
        raise InputError(
            f"{shown(output.name)} is a {output.kind} judge, which asks no questions. Choose a cross-examination."
        )
    tell("counting the second answers")
    by_side = _questions_once(output.texts)
    asked: dict[str, list[CrossQuestion]] = {
        side: [one for one in by_side[side] if one.again is not None or one.again_reason is not None]
        for side in SIDES
    }
    every = [question for questions in asked.values() for question in questions]
    if not every:
        refuse(
            [Remark("", "judge again with {reask}")],
            CefSettings,
            what=f"{shown(output.name)} asked no question a second time",
        )
    rows = tuple(
        _row(side, expected, questions, options.confidence_level)
        for side, questions in (asked | {ALL_SIDES: every}).items()
        for expected in VERDICTS
    )
    return Reasked(
        judge=output.name,
        by_side={
            side: [json_of(one) for one in rows if one.side == side]
            for side in dict.fromkeys(one.side for one in rows)
        },
        n_not_asked=sum(len(questions) for questions in by_side.values()) - len(every),
        rows=rows,
    )


def _questions_once(texts: "Sequence[JudgedText]") -> "dict[Side, list[CrossQuestion]]":
    """Each question once, by the side it was made from."""
    from core.joining.choices import items_of
    from core.judges.questions import SIDES

    found: dict[Side, dict[tuple[object, ...], CrossQuestion]] = {side: {} for side in SIDES}
    for text, item in zip(texts, items_of([text.row for text in texts]).tolist(), strict=True):
        for side, document, repeat, question in _asked(text):
            found[side].setdefault((item, document, repeat, question.text), question)
    return {side: list(questions.values()) for side, questions in found.items()}


def _asked(text: "JudgedText") -> "Iterator[tuple[Side, str | None, int, CrossQuestion]]":
    """Yield side, document, repeat and question for every question about the text."""
    from core.judges.cross_examination import CefRecord

    record = text.record
    if not isinstance(record, CefRecord):
        return
    examined = text.text if record.back_translation is None else record.back_translation
    for one in record.examinations:
        for question in one.from_source or ():
            yield "source", text.document, one.repeat, question
        for question in one.from_text or ():
            yield "text", examined, one.repeat, question


def _row(
    side: str, expected: "Verdict", questions: "Sequence[CrossQuestion]", confidence_level: float
) -> ReaskedRow:
    from core.judges.questions import VERDICTS
    from core.results.cells import counted_share
    from core.stats.resampling import wilson_share

    own = [question for question in questions if question.expected == expected]
    answered = Counter(question.again for question in own)
    without = Counter(question.again_reason or "" for question in own if question.again is None)
    counts = {verdict: answered[verdict] for verdict in VERDICTS}
    share = wilson_share(
        counts[expected], sum(counts.values()), confidence_level=confidence_level, reason=NOT_ASKED_FOR
    )
    return ReaskedRow(
        side=side,
        expected=expected,
        counts={str(verdict): n for verdict, n in counts.items()},
        no_answer=sum(without.values()),
        without=dict(without),
        share=counted_share(share),
        unchanged_count=share.count,
        unchanged=UnchangedShare(**vars(share)),
    )


def _sentences(found: Reasked) -> tuple[str, ...]:
    from core.tables.reading import shown

    return (
        f"{shown(found.judge)}: expected answers (rows) against the model's own answers to the same questions (columns).",
    )


def _notes(found: Reasked) -> tuple[str, ...]:
    return (f"{found.n_not_asked:,} questions were not asked again",) if found.n_not_asked else ()


ANALYSIS = Analysis(
    name="reasked",
    title="Questions asked again",
    question="Does the judge answer its own questions as expected when it is asked again?",
    Options=ReaskedOptions,
    Result=Reasked,
    takes=("judge",),
    compute=compute,
    verdicts=lambda _: (),
    sentences=_sentences,
    refuses="For a judge that asks no questions, and a run that asked none again.",
    section="judges#re-asked-questions",
    misleads="At temperature 0 a judge repeats itself, and repeating an answer does not make it right. Wilson's intervals assume that "
    "the questions of a text are independent, which is not quite true.",
    example="""
>>> import assay
>>> found = assay.reasked("run:3")  # doctest: +SKIP
""",
    tables=(Table("judge-reasked", ReaskedRow, lambda found: found.rows, "Second answers", notes=_notes),),
)
