"""What a judge is: a kind of run whose settings say its columns, its name and its signature; one file a judge."""

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from core.llm.asking import Model, Unusable
from core.llm.parsing import is_number
from core.llm.prompts import Prompt
from core.metrics.scorer import EMPTY_REFERENCE, NO_REFERENCE, NO_SOURCE, ScoringPair
from core.schema.runs import Kind, KindSettings, Reads, Work
from core.schema.scores import Metric, RatedSet, RatedText, ScorableOutput, Score
from core.schema.settings import Remark, fields_of, refuse, setting
from core.schema.study import RatingTask
from core.stats.degeneracy import Degeneracy
from core.tables.reading import number_problem, shown, written

Compared = Literal["reference", "source"]
"""What a judge compares a text with."""
EMPTY_SOURCE, EMPTY_TEXT = "the source is empty", "the text is empty"
SHORT_SHA = 12
"""Digits of a hash in a signature."""
COMPARING_COLUMNS = ("what", "side", "repeat", "text", "expected", "verdict", "again", "why", "reason")
"""Of details.csv, for judges that compare two texts. what: trial, claim, question, or a step that failed; side: the
order of a trial, response or reference of a claim, source or text of a question; verdict: of a trial the score, of a
claim yes or no, of a question YES, NO or IDK."""
MOST_REPEATS = 100
"""Times that a judge may be asked the same of one text."""
HELPER_AT_ONCE = 32
"""Questions that a helper reads at once; verdicts do not depend on it."""
MOST_TOKENS = 4_096
"""That an answer may have: half of a context of 8,192, so that a text of 1,500 words and its prompt fit beside it."""

_BYTES_A_TOKEN = 3
"""Of UTF-8, on the safe side for every script."""


def tokens_in(text: str) -> int:
    """Tokens that the text takes, at most, in any script."""
    return len(text.encode("utf-8", "surrogatepass")) // _BYTES_A_TOKEN


@dataclass(frozen=True)
class Judged:
    """What a judge said of one text."""

    scores: tuple[Score, ...]
    """One for each of the judge's metrics, in their order."""
    record: Any
    """How it came to them, as the kind's Record; None: it was never asked, because the text lacks what it needs."""
    failures: tuple[tuple[str, str], ...] = ()
    """(step, reason) of everything that failed; what a text lacks is no failure."""
    temporary: bool = False
    """Whether a failure was the server's or the line's, so that another run may mend it."""

    @classmethod
    def without_asking(cls, why: str, n_scores: int = 1) -> "Judged":
        """A text that lacks what the judge needs: scores without a value."""
        return cls((Score(None, why),) * n_scores, None)

    @classmethod
    def in_trials(cls, step: str, mean: Score | None, record: Any, *, temporary: bool) -> "Judged":
        """A text judged in trials, which the record holds, each with the reason for which it failed.

        mean: the score of the trials that did not fail; None: all did.
        """
        reasons = [trial.reason for trial in record.trials if trial.reason is not None]
        score = mean or Score(None, f"{step}: {reasons[0]}")
        return cls((score,), record, tuple((step, reason) for reason in reasons), temporary)


def mean_of(values: Iterable[float | None]) -> Score | None:
    """The mean of the values that there are; None: there is none."""
    there = [value for value in values if value is not None]
    return Score(fmean(there)) if there else None


def lacking(pair: ScoringPair, needed: Compared) -> str | None:
    """What a judge cannot do without and this text does not have: what it is compared with, or words of its own."""
    other, absent, empty = {
        "reference": (pair.reference, NO_REFERENCE, EMPTY_REFERENCE),
        "source": (pair.source, NO_SOURCE, EMPTY_SOURCE),
    }[needed]
    if other is None:
        return absent
    if not other.strip():
        return empty
    return None if pair.text.strip() else EMPTY_TEXT


def pair_of(text: RatedText) -> ScoringPair:
    """The text with what it may be compared with."""
    return ScoringPair(text.output.text, text.output.reference, text.output.source)


class Judge(Protocol):
    """A judge, ready. One bad text never raises: it has scores without a value, each with its reason.

    It is given the text with what people said of it, which is for the filters of examples alone: no judge is shown it.
    """

    async def judge(self, text: RatedText) -> Judged:
        """Score one text; may be awaited many times at once."""


class Helper(Protocol):
    """A model beside the one that is asked, loaded once a run."""

    @property
    def signature(self) -> str:
        """What determines its verdicts; empty before it is started."""

    async def start(self) -> None:
        """Load it. Raises InputError where it cannot be had."""

    async def close(self) -> None:
        """Free its memory."""


@dataclass(frozen=True)
class Bench:
    """What a judge works with beside its settings: the same for all texts of a run."""

    prompts: Mapping[str, Prompt] = field(default_factory=dict)
    """By purpose."""
    attached: str = ""
    """The whole text of the file that the settings refer to."""
    texts: tuple[RatedText, ...] = ()
    """All texts of the run's file, also those that only serve as examples."""
    ratings: str = ""
    """Hash of that file."""
    helper: Any = None
    """What the kind's `helper` made."""


Opened = Callable[[Model | None], Judge]
"""Makes the judge for a model whose answers are cached by item; None: rules do the work. Cheap."""
Made = TypeVar("Made")


def asking(make: Callable[[Model], Made]) -> Callable[[Model | None], Made]:
    """For work that rules cannot do: no run of such a kind is started without a model."""

    def made(model: Model | None) -> Made:
        assert model is not None, "rules cannot do this"
        return make(model)

    return made


class JudgeSettings(KindSettings):
    """Settings of a judge that scores texts. Higher scores are better, in every column."""

    COMPARES_INSTEAD: ClassVar[str] = ""
    """For a remark: the field and value with which it would compare with references; empty: it cannot."""

    @property
    def compares_with(self) -> Compared:
        """Which of an item's texts the judge compares a text with."""
        return "reference"

    @property
    def shows_examples(self) -> bool:
        """Whether people's ratings in the run's file are shown to the model, or repeated by rules."""
        return False

    @property
    def dimension_scored(self) -> str | None:
        """What the judge's one column is a score of; None: it has several, or none that people rate."""
        return None

    def judges(self, text: RatedText) -> bool:
        """Whether the text is to be scored; the others only serve as examples."""
        return True

    def columns(self, dimensions: tuple[str, ...] = ()) -> tuple[str, ...]:
        """What the names of the judge's columns end in, in their order; empty for its only one.

        dimensions: names of the task's, in its order.
        """
        return ("",)

    def unusual(self, name: str) -> tuple[str, ...]:
        """The word or text that a field holds, unless it is the default: for a judge's name."""
        value = getattr(self, name)
        return () if value == type(self).model_fields[name].default else (value,)

    def remarks(self, *, by_rules: bool) -> Iterator[Remark]:
        """What is worth knowing before it costs anything, whatever the file holds: repeats for nothing."""
        repeats = getattr(self, "repeats", 1)
        if repeats > 1 and getattr(self, "temperature", None) == 0:
            text = (
                "{n} repeats at temperature 0 ask for the same answer again: choose a {temperature} above 0"
            )
            yield Remark("", text, {"n": repeats})

    def unsigned(self, backend: str) -> frozenset[str]:
        """Fields that stand in no signature: those that do nothing beside the others."""
        return self.idle(backend)

    def signed(self, asked: Mapping[str, object]) -> dict[str, object]:
        """What a signature says: what else was asked, then every setting that changes a score.

        asked: the model, the hashes of prompts and files, and so on, in order.
        """
        left_out = self.unsigned(str(asked.get("backend", "")))
        unscored = {name for name, one in fields_of(type(self)).items() if not one.about.scored}
        return {**asked, **self.model_dump(exclude={*left_out, *unscored})}


@dataclass(frozen=True, kw_only=True)
class JudgeKind(Kind):
    """A judge that scores texts."""

    work: Work = "judging"
    reads: Reads = "texts"
    does: str = "judges"
    family: str
    """What its signatures begin with."""
    Record: type[Any]
    """What is kept of each text beside its scores."""
    open: Callable[[Any, Bench], Opened]
    """Lays out for (settings, bench) what all texts of a run share. Raises InputError where something is missing."""
    details: Callable[[Any], Iterator[dict[str, Any]]]
    """Rows of details.csv, from a record."""
    detail_columns: tuple[str, ...]
    record_problems: Callable[[Any, str | None], Iterator[str]] = lambda *_: iter(())
    """What is wrong with a record whose types are right, each with its field. The text is the one that was judged."""
    words: Callable[[Any], tuple[str, ...]] = lambda _: ()
    """Of a record what should differ from text to text, such as a feedback; empty: nothing."""
    words_called: str = ""
    """Plural or collective of these, for a sentence: `feedback`, `questions`."""
    shortfalls: Callable[[Sequence[Any], Mapping[str, object]], Iterator[Degeneracy]] = lambda *_: iter(())
    """For (records, settings by name): signs of this kind that its scores measure little, such as too few questions."""
    check: Callable[[Any, Bench, RatedSet, bool], tuple[Remark, ...]]
    """What to know of a file before its run costs anything, for (settings, bench, file, whether rules judge).

    Raises SettingsError or InputError where nothing could be judged.
    """
    helper: Callable[[Any], Helper | None] = lambda _: None
    """For the settings."""
    also_signed: Callable[[Any, Bench], Mapping[str, object]] = lambda *_: {}
    """For (settings, bench): what a signature says of files and of the helper, before the settings."""
    dimensions: Callable[[Bench], tuple[str, ...]] = lambda _: ()
    """Names of the task's dimensions, where the judge has a column for each."""
    suits: Callable[[RatingTask, Mapping[str, object]], bool] = lambda *_: True
    """Whether a task can be asked of the judge, beside the settings chosen so far: for (task, values)."""
    in_file: Callable[[Bench], Mapping[str, tuple[str, ...]]] = lambda _: {}
    """Field -> the values that the texts and the attached file offer, such as the names of raters."""
    in_percent: bool = False
    """Whether its scores are shares that its paper prints in percent."""
    marks_errors: bool = False
    """Whether its record is of errors with their places in the text, and its examples are errors that people marked."""
    score_bounds: Callable[[str], tuple[float, float]] = lambda _: (0.0, 1.0)
    """The smallest and the largest score, by the name of the column."""

    def metrics(
        self,
        name: str,
        settings: JudgeSettings,
        asked: Mapping[str, object],
        dimensions: tuple[str, ...] = (),
    ) -> tuple[Metric, ...]:
        """The judge's metrics in the order of its scores; see JudgeSettings.columns and signed."""
        parts = settings.signed(asked)
        said = "|".join(
            f"{key.replace('_', '-')}:{_plain(value)}" for key, value in parts.items() if value != ""
        )
        return tuple(
            Metric(
                f"{name}-{column}" if column else name,
                f"{self.family}|score:{column or 'verdict'}|{said}",
                self.family,
            )
            for column in settings.columns(dimensions)
        )


def _plain(value: object) -> str:
    """As a signature says it: yes and no for what is on or off, short numbers."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "server"
    if isinstance(value, Mapping | tuple):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return f"{value:g}" if isinstance(value, float) else str(value)


Done = tuple[Any, tuple[tuple[str, str], ...], bool]
"""A piece with what was found; (step, reason) of what failed; whether another run may mend it."""
Audits = Callable[[Model | None], Callable[[Any], Awaitable[Done]]]
"""Makes, for a model whose answers are cached by item, what is done to each piece; None: rules do it."""


@dataclass(frozen=True, kw_only=True)
class AuditKind(Kind):
    """A run that examines judges: a model answers their questions, or looks for what they found."""

    work: Work = "audit"
    Piece: type[Any]
    """A line of its file and of its records: a dataclass with a `row`, the text it is of."""
    open: Callable[[Any, Mapping[str, Prompt]], Audits]
    """For (settings, prompts)."""
    piece_called: str
    """For a message: "a second set of the same questions"."""
    broken: Callable[[Any, str], Any]
    """A piece on which we failed ourselves, without verdicts, for (piece, reason)."""
    identity: Callable[[Any], tuple[str, ...]]
    """What tells two pieces of one text apart."""
    nothing: Callable[[Any], str | None]
    """What all pieces together lack, such as `question to answer`: "FILE holds no ..."; None: there is something to do."""
    table: str
    """Name of the file with a row an answer."""
    columns: tuple[str, ...]
    rows: Callable[[Any], Iterator[dict[str, Any]]]
    """Rows of the table, of a piece."""


TEMPERATURE: Any = setting(
    0.0,
    "Temperature",
    "how freely the model answers; at 0 it gives its likeliest answer, and repeats differ only where the server varies; "
    "server: none is sent",
    within=(0.0, 2.0),
    step=0.1,
    words={"": "server"},
)


def repeats_setting(help: str) -> Any:
    """How often all is asked again; the score is the mean."""
    return setting(1, "Repeats", help, within=(1, MOST_REPEATS))


FURTHEST_SCORE = 1e9
"""From 0, of scales that people define and of the weights of all errors in a text."""
ANY_SCORE = (-FURTHEST_SCORE, FURTHEST_SCORE)
Ends = tuple[float, float]
"""The smallest and the largest number; whole ones alone where both are whole."""


def trial_problems(name: str, trials: Sequence[Any], *apart: str, **bounds: Ends) -> Iterator[str]:
    """What trials of one text cannot be. name: the record's field; apart, bounds: see the two below."""
    yield from bound_problems(name, trials, repeat=(0, MOST_REPEATS - 1), **bounds)
    yield from twice_problems(name, trials, *apart)


def bound_problems(name: str, entries: Sequence[Any], **bounds: Ends) -> Iterator[str]:
    """Numbers that go too far. bounds: field of an entry -> its ends."""
    for bounded, ends in bounds.items():
        for n, entry in enumerate(entries, start=1):
            value = getattr(entry, bounded)
            if value is not None and (problem := number_problem(value, *ends)):
                yield f"{name}, {n}, {bounded}: {problem}"


def twice_problems(name: str, entries: Sequence[Any], *apart: str) -> Iterator[str]:
    """Entries that come a second time. apart: the fields that tell two of them apart."""
    seen = set()
    for n, entry in enumerate(entries, start=1):
        values = tuple(getattr(entry, field) for field in apart)
        if values in seen:
            said = (written(one) if isinstance(one, int) else shown(str(one)) for one in values)
            named = zip(apart, said, strict=True)
            yield f"{name}, {n}: a second one with {' and '.join(f'the {one} {value}' for one, value in named)}"
        seen.add(values)


QUESTION_MARKS = ("?", "\uff1f", "\u061f")
"""Of Latin, Chinese and Japanese, and Arabic script."""


def check_compared(settings: JudgeSettings, _: Bench, rated: RatedSet, by_rules: bool) -> tuple[Remark, ...]:
    """See JudgeKind.check: texts that lack what they are compared with, sources that look like questions."""
    outputs = [text.output for text in rated.texts]
    needed = settings.compares_with
    n_lacking = sum(not compared_with(settings, output) for output in outputs)
    if n_lacking == len(outputs):
        text = (
            "{file} has no {needed} for any text, and this judge compares each text with it: add the column"
        )
        if settings.COMPARES_INSTEAD and any(output.reference for output in outputs):
            text += f", or compare with the references ({settings.COMPARES_INSTEAD})"
        refuse([Remark("", f"{text}.", {"file": rated.file_name, "needed": needed})], type(settings))
    remarks = list(settings.remarks(by_rules=by_rules))
    if n_lacking:
        text = "{lacking} of {n} texts have no {needed}: they get no score, with that reason"
        remarks.append(Remark("", text, {"lacking": n_lacking, "n": len(outputs), "needed": needed}))
    n_asked = sum(
        (source := output.source or "").rstrip().endswith(QUESTION_MARKS) and len(source) < len(output.text)
        for output in (outputs if needed == "source" else ())
    )
    if 2 * n_asked > len(outputs):
        text = (
            "the source of {asked} of {n} texts looks like a question: it holds no facts to examine an answer with. "
            f"Where references are there, {settings.COMPARES_INSTEAD} examines against them"
        )
        remarks.append(Remark("", text, {"asked": n_asked, "n": len(outputs)}))
    return tuple(remarks)


def compared_with(settings: JudgeSettings, output: ScorableOutput) -> str | None:
    """What the judge compares a text with; None: the text lacks it."""
    return output.reference if settings.compares_with == "reference" else output.source


LONGEST_NUMBER = 6
"""Digits of a number that is written as a text."""
Entry = TypeVar("Entry")


def in_a_line(text: str) -> str:
    """An entry on one line: one that held a line break could pass for two."""
    return " ".join(text.split())


def numbered(entries: Iterable[str]) -> str:
    """The entries line by line, numbered from 1."""
    return "\n".join(f"{number}: {in_a_line(entry)}" for number, entry in enumerate(entries, start=1))


def place_of(value: object, n: int, what: str, kind: str) -> int | None:
    """The place, from 0, of the entry that an answer numbers with `value`; None: that is no number.

    Raises Unusable (of this kind) for a number outside of 1 to n, 0 above all: whoever counts otherwise has shifted all
    the others too. what: the entries' name in the plural. Models write 1, 1.0 and "1".
    """
    digits = value.strip() if isinstance(value, str) else ""
    if digits.isascii() and digits.isdigit() and len(digits) <= LONGEST_NUMBER:
        value = int(digits)
    if not is_number(value) or value != value // 1:
        return None
    if not 1 <= value <= n:
        raise Unusable(f"Its {what} are numbered otherwise: they go from 1 to {n}.", kind)
    return int(value) - 1


class MostComplete(Generic[Entry]):
    """Remembers of several replies the one in which most entries say something, of equal ones the later."""

    def __init__(self, says_something: Callable[[Entry], bool]) -> None:
        self._says_something = says_something
        self.reply: tuple[Entry, ...] | None = None
        """None: there was none yet."""

    def offer(self, reply: tuple[Entry, ...]) -> None:
        """One more reply, with an entry for each number."""
        if self._found(reply) >= self._found(self.reply or ()):
            self.reply = reply

    def _found(self, reply: tuple[Entry, ...]) -> int:
        return sum(map(self._says_something, reply))
