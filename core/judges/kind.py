"""Base types of judges: kinds of run whose settings determine columns, name and signature. Each judge has its own module."""

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from pydantic import AliasChoices, Field

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
"""The part of an item that a judge compares a text with."""
EMPTY_SOURCE, EMPTY_TEXT = "the source is empty", "the text is empty"
NOTHING = "(none)"
"""Stands in a prompt for a part that the item lacks, such as its question."""
SHORT_SHA = 12
"""Digits of a hash shown in a signature."""
COMPARING_COLUMNS = ("what", "side", "repeat", "text", "expected", "verdict", "again", "why", "reason")
"""Columns of details.csv for judges that compare two texts. what: trial, claim, question, or a failed step. side:
order of a trial; response or reference for a claim; source or text for a question. verdict: score of a trial; yes or
no for a claim; YES, NO or IDK for a question."""
MOST_REPEATS = 100
"""Most repeats per text."""
HELPER_AT_ONCE = 32
"""Pairs that a helper reads in one batch; verdicts do not depend on it."""
MOST_TOKENS = 4_096
"""Most tokens of an answer: half of a context of 8,192, which leaves room for a prompt with a text of 1,500 words."""

_BYTES_A_TOKEN = 3
"""UTF-8 bytes per token, a safe estimate for every script."""


def tokens_in(text: str) -> int:
    """Upper bound on the tokens of a text, in any script."""
    return len(text.encode("utf-8", "surrogatepass")) // _BYTES_A_TOKEN


@dataclass(frozen=True)
class Judged:
    """A judge's scores for one text."""

    scores: tuple[Score, ...]
    """One score for each of the judge's metrics, in order."""
    record: Any
    """The kind's Record of how the scores came about; None: not asked, because the text lacks something."""
    failures: tuple[tuple[str, str], ...] = ()
    """(step, reason) of each failure; a text that lacks something is not a failure."""
    temporary: bool = False
    """Whether the server or the connection failed, so that another run may succeed."""

    @classmethod
    def without_asking(cls, why: str, n_scores: int = 1) -> "Judged":
        """Scores without a value, for a text that lacks what the judge needs."""
        return cls((Score(None, why),) * n_scores, None)

    @classmethod
    def in_trials(cls, step: str, mean: Score | None, record: Any, *, temporary: bool) -> "Judged":
        """Scores of a text judged in trials. The record holds the trials, with reasons for failures.

        mean: the mean score of successful trials; None: all failed.
        """
        reasons = [trial.reason for trial in record.trials if trial.reason is not None]
        score = mean or Score(None, f"{step}: {reasons[0]}")
        return cls((score,), record, tuple((step, reason) for reason in reasons), temporary)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One request to a judge about a text, and its answer. A judge narrows the types, and adds what else it asks."""

    order: str = ""
    """The text that it read first; empty where it reads one."""
    repeat: int
    """From 0."""
    verdict: Any
    """None: it gave no verdict on offer."""
    feedback: str = ""
    """What it said of its verdict."""
    reason: str | None = None
    """Why there is no verdict."""
    detail: str = ""


def _formerly(name: str, former: str) -> Any:
    """Says that stored records may have a field under its former name."""
    return Field(validation_alias=AliasChoices(name, former))


FORMER_SCORE = _formerly("verdict", "score")
FORMER_JUSTIFICATION = _formerly("feedback", "justification")
FORMER_ERRORS = _formerly("verdict", "errors")
"""For the fields of a trial that records of earlier runs have under other names."""


def mean_of(values: Iterable[float | None]) -> Score | None:
    """The mean of the values that are not None; None: there are none."""
    there = [value for value in values if value is not None]
    return Score(fmean(there)) if there else None


def lacking(pair: ScoringPair, needed: Compared) -> str | None:
    """What this text lacks for the judge: the source or reference it is compared with, or words of its own; None: nothing."""
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
    """The text with its source and reference."""
    return ScoringPair(text.output.text, text.output.reference, text.output.full_source)


class Judge(Protocol):
    """A judge that is ready to score. A bad text never raises; its scores have reasons instead of values.

    It receives the text with people's ratings of it. Only the filters of examples use those; they never reach the model.
    """

    async def judge(self, text: RatedText) -> Judged:
        """Score one text; many calls may run concurrently."""


class Helper(Protocol):
    """An additional model, loaded once per run."""

    @property
    def signature(self) -> str:
        """Everything that determines its verdicts; empty before start()."""

    async def start(self) -> None:
        """Load the model. Raises InputError if it is unavailable."""

    async def close(self) -> None:
        """Free its memory."""


@dataclass(frozen=True)
class Bench:
    """Inputs of a judge other than its settings, the same for all texts of a run."""

    prompts: Mapping[str, Prompt] = field(default_factory=dict)
    """Purpose -> prompt."""
    attached: str = ""
    """Full text of the file that the settings refer to."""
    texts: tuple[RatedText, ...] = ()
    """All texts of the run's file, including those that serve only as examples."""
    ratings: str = ""
    """Hash of that file."""
    helper: Any = None
    """The helper from the kind's `helper` function."""


Opened = Callable[[Model | None], Judge]
"""Creates the judge for a model whose answers are cached by item; None: rules. Cheap to call."""
Made = TypeVar("Made")


def asking(make: Callable[[Model], Made]) -> Callable[[Model | None], Made]:
    """Wrap a factory that needs a model: runs of such a kind never start without one."""

    def made(model: Model | None) -> Made:
        assert model is not None, "rules cannot do this"
        return make(model)

    return made


class JudgeSettings(KindSettings):
    """Settings of a judge that scores texts. In every column, higher scores are better."""

    COMPARES_INSTEAD: ClassVar[str] = ""
    """For a remark: the field and value that make it compare with references; empty: it cannot."""

    @property
    def compares_with(self) -> Compared:
        """The part of an item that the judge compares a text with."""
        return "reference"

    @property
    def shows_examples(self) -> bool:
        """Whether the model sees people's ratings from the run's file, or rules repeat them."""
        return False

    @property
    def dimension_scored(self) -> str | None:
        """The dimension of the judge's only column; None: it has several columns, or a column that people do not rate."""
        return None

    def judges(self, text: RatedText) -> bool:
        """Whether to score the text; other texts serve only as examples."""
        return True

    def columns(self, dimensions: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Suffixes of the judge's column names, in order; empty for a single column.

        dimensions: names of the task's dimensions, in order.
        """
        return ("",)

    def unusual(self, name: str) -> tuple[str, ...]:
        """The field's value for the judge's name, unless it is the default."""
        value = getattr(self, name)
        return () if value == type(self).model_fields[name].default else (value,)

    def remarks(self, *, by_rules: bool) -> Iterator[Remark]:
        """Warnings before a run costs anything, independent of the file, such as useless repeats."""
        repeats = getattr(self, "repeats", 1)
        if repeats > 1 and getattr(self, "temperature", None) == 0:
            text = (
                "{n} repeats at temperature 0 request the same answer again: choose a {temperature} above 0"
            )
            yield Remark("", text, {"n": repeats})

    def unsigned(self, backend: str) -> frozenset[str]:
        """Fields left out of the signature because they have no effect."""
        return self.idle(backend)

    def signed(self, request_parts: Mapping[str, object]) -> dict[str, object]:
        """Parts of a signature: first `request_parts`, then every setting that changes a score.

        request_parts: the model, hashes of prompts and files, and so on, in order.
        """
        left_out = self.unsigned(str(request_parts.get("backend", "")))
        unscored = {name for name, one in fields_of(type(self)).items() if not one.about.scored}
        return {**request_parts, **self.model_dump(exclude={*left_out, *unscored})}


class JudgeKind(Kind):
    """A judge that scores texts: a class with one instance, which holds nothing but what the class says.

    A judge sets the values without a default, and overrides what differs from the usual.
    """

    work: Work = "judging"
    reads: Reads = "texts"
    does = "judges"
    family: str
    """First part of its signatures."""
    Record: type[Any]
    """Type of the record stored for each text alongside its scores."""
    detail_columns: tuple[str, ...]
    words_called = ""
    """Plural or collective noun for the words of a record, used in a sentence: `feedback`, `questions`."""
    in_percent = False
    """Whether its scores are shares that its paper reports in percent."""
    marks_errors = False
    """Whether it records errors with positions in the text, and its examples are errors that people marked."""

    def open(self, settings: Any, bench: Bench) -> Opened:
        """Prepare what all texts of a run share. Raises InputError if something is missing."""
        raise NotImplementedError

    def check(self, settings: Any, bench: Bench, rated: RatedSet, by_rules: bool) -> tuple[Remark, ...]:
        """Check a file before its run costs anything; the remarks on it. By default it compares texts.

        by_rules: whether rules judge. Raises SettingsError or InputError if nothing could be judged.
        """
        return check_compared(settings, bench, rated, by_rules)

    def details(self, record: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of details.csv from a record."""
        raise NotImplementedError

    def record_problems(self, record: Any, text: str | None) -> Iterator[str]:
        """Yield problems in a record with correct types, each naming its field. text: the judged one."""
        return iter(())

    def words(self, record: Any) -> tuple[str, ...]:
        """The part of a record that should differ from text to text, such as feedback; empty: nothing."""
        return ()

    def shortfalls(self, records: Sequence[Any], settings: Mapping[str, object]) -> Iterator[Degeneracy]:
        """Yield signs that the scores measure little, such as too few questions. settings: by name."""
        return iter(())

    def helper(self, settings: Any) -> Helper | None:
        """The additional model that the settings ask for."""
        return None

    def also_signed(self, settings: Any, bench: Bench) -> Mapping[str, object]:
        """The signature's parts about files and the helper, which precede the settings."""
        return {}

    def dimensions(self, bench: Bench) -> tuple[str, ...]:
        """The names of the task's dimensions, if the judge has a column for each."""
        return ()

    def suits(self, task: RatingTask, values: Mapping[str, object]) -> bool:
        """Whether the judge can use a task with the settings chosen so far."""
        return True

    def in_file(self, bench: Bench) -> Mapping[str, tuple[str, ...]]:
        """Field -> values that the texts and the attached file offer, such as names of raters."""
        return {}

    def score_bounds(self, column: str) -> tuple[float, float]:
        """The smallest and the largest score of a column."""
        return 0.0, 1.0

    def metrics(
        self,
        name: str,
        settings: JudgeSettings,
        request_parts: Mapping[str, object],
        dimensions: tuple[str, ...] = (),
    ) -> tuple[Metric, ...]:
        """The judge's metrics, in the order of its scores; see JudgeSettings.columns and signed."""
        parts = settings.signed(request_parts)
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
    """A value as in a signature: yes or no for switches, short numbers."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "server"
    if isinstance(value, Mapping | tuple):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return f"{value:g}" if isinstance(value, float) else str(value)


Done = tuple[Any, tuple[tuple[str, str], ...], bool]
"""A completed piece; (step, reason) of each failure; whether another run may succeed."""
Audits = Callable[[Model | None], Callable[[Any], Awaitable[Done]]]
"""Creates the function that processes each piece, for a model whose answers are cached by item; None: rules."""


class AuditKind(Kind):
    """A run that examines judges: a model answers their questions, or compares their findings with people's."""

    work: Work = "audit"
    Piece: type[Any]
    """One line of its file and of its records: a dataclass whose `row` names the text."""
    piece_called: str
    """Name of a piece for messages, as in "a second set of the same questions"."""
    table: str
    """Name of the CSV file with one row per answer."""
    columns: tuple[str, ...]

    def open(self, settings: Any, prompts: Mapping[str, Prompt]) -> Audits:
        """Prepare the run."""
        raise NotImplementedError

    def broken(self, piece: Any, reason: str) -> Any:
        """The piece without verdicts after an internal failure."""
        raise NotImplementedError

    def identity(self, piece: Any) -> tuple[str, ...]:
        """What distinguishes two pieces of one text."""
        return ()

    def nothing(self, pieces: Sequence[Any]) -> str | None:
        """What all pieces together lack, such as `question to answer`, for "FILE has no ..."; None: nothing."""
        raise NotImplementedError

    def rows(self, piece: Any) -> Iterator[dict[str, Any]]:
        """Yield the table's rows for a piece."""
        raise NotImplementedError

    def also(self, pieces: Sequence[Any]) -> Mapping[str, bytes]:
        """Further files of its folder, by name, from all completed pieces."""
        return {}


TEMPERATURE: Any = setting(
    0.0,
    "Temperature",
    "randomness of the answers; 0: the likeliest answer, so that repeats differ only if the server varies; server: "
    "send no temperature",
    within=(0.0, 2.0),
    step=0.1,
    words={"": "server"},
)


def repeats_setting(help: str) -> Any:
    """The field for the number of repeats, whose mean is the score."""
    return setting(1, "Repeats", help, within=(1, MOST_REPEATS))


FURTHEST_SCORE = 1e9
"""Largest distance from 0 for user-defined scales and for the sum of weights in a text."""
ANY_SCORE = (-FURTHEST_SCORE, FURTHEST_SCORE)
Ends = tuple[float, float]
"""The smallest and the largest number. If both are whole, only whole numbers are allowed."""


def trial_problems(name: str, trials: Sequence[Any], *apart: str, **bounds: Ends) -> Iterator[str]:
    """Invalid trials of one text. name: the record's field; apart, bounds: see the two functions below."""
    yield from bound_problems(name, trials, repeat=(0, MOST_REPEATS - 1), **bounds)
    yield from twice_problems(name, trials, *apart)


def bound_problems(name: str, entries: Sequence[Any], **bounds: Ends) -> Iterator[str]:
    """Numbers out of bounds. bounds: field of an entry -> smallest and largest number."""
    for bounded, ends in bounds.items():
        for n, entry in enumerate(entries, start=1):
            value = getattr(entry, bounded)
            if value is not None and (problem := number_problem(value, *ends)):
                yield f"{name}, {n}, {bounded}: {problem}"


def twice_problems(name: str, entries: Sequence[Any], *apart: str) -> Iterator[str]:
    """Duplicate entries. apart: the fields that distinguish entries."""
    seen = set()
    for n, entry in enumerate(entries, start=1):
        values = tuple(getattr(entry, field) for field in apart)
        if values in seen:
            said = (written(one) if isinstance(one, int) else shown(str(one)) for one in values)
            named = zip(apart, said, strict=True)
            yield f"{name}, {n}: a second entry with {' and '.join(f'the {one} {value}' for one, value in named)}"
        seen.add(values)


QUESTION_MARKS = ("?", "\uff1f", "\u061f")
"""Question marks of Latin, Chinese and Japanese, and Arabic script."""


def check_compared(settings: JudgeSettings, _: Bench, rated: RatedSet, by_rules: bool) -> tuple[Remark, ...]:
    """See JudgeKind.check: finds texts without a source or reference, and sources that look like questions."""
    outputs = [text.output for text in rated.texts]
    needed = settings.compares_with
    n_lacking = sum(not compared_with(settings, output) for output in outputs)
    if n_lacking == len(outputs):
        text = (
            "{file} has no {needed} for any text, but this judge compares each text with it: add the column"
        )
        if settings.COMPARES_INSTEAD and any(output.reference for output in outputs):
            text += f", or compare with the references ({settings.COMPARES_INSTEAD})"
        refuse([Remark("", f"{text}.", {"file": rated.file_name, "needed": needed})], type(settings))
    remarks = list(settings.remarks(by_rules=by_rules))
    if n_lacking:
        text = "{lacking} of {n} texts have no {needed} and get no score"
        remarks.append(Remark("", text, {"lacking": n_lacking, "n": len(outputs), "needed": needed}))
    n_asked = sum(
        (source := output.source or "").rstrip().endswith(QUESTION_MARKS) and len(source) < len(output.text)
        for output in (outputs if needed == "source" else ())
    )
    if 2 * n_asked > len(outputs):
        text = (
            "the source of {asked} of {n} texts looks like a question, which has no facts to check an answer against. "
            f"If the file has references, {settings.COMPARES_INSTEAD} compares with them"
        )
        remarks.append(Remark("", text, {"asked": n_asked, "n": len(outputs)}))
    return tuple(remarks)


def compared_with(settings: JudgeSettings, output: ScorableOutput) -> str | None:
    """The source or reference that the judge compares a text with; None: the text lacks it."""
    return output.reference if settings.compares_with == "reference" else output.full_source


LONGEST_NUMBER = 6
"""Most digits of a number given as a text."""
Entry = TypeVar("Entry")


def single_line(text: str) -> str:
    """An entry on one line, so that a line break cannot make it look like two."""
    return " ".join(text.split())


def numbered(entries: Iterable[str]) -> str:
    """The entries one per line, numbered from 1."""
    return "\n".join(f"{number}: {single_line(entry)}" for number, entry in enumerate(entries, start=1))


def place_of(value: object, n: int, what: str, kind: str) -> int | None:
    """The index, from 0, of the entry that an answer refers to as `value`; None: not a number.

    Raises Unusable (of this kind) for a number outside 1 to n, above all for 0: a model that counts differently has
    shifted all other entries too. what: plural name of the entries. Models write 1, 1.0 and "1".
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
    """Remembers the reply with the most usable entries; later replies win ties."""

    def __init__(self, says_something: Callable[[Entry], bool]) -> None:
        self._says_something = says_something
        self.reply: tuple[Entry, ...] | None = None
        """None: no reply yet."""

    def offer(self, reply: tuple[Entry, ...]) -> None:
        """Consider another reply, with an entry for each number."""
        if self._found(reply) >= self._found(self.reply or ()):
            self.reply = reply

    def _found(self, reply: tuple[Entry, ...]) -> int:
        return sum(map(self._says_something, reply))
