"""Specialist's AutoMQM: a model marks the errors in a text, after it was shown how people marked others.

Source: Specialist, section 4.1 and appendix A. With examples of the text's own source it is the Specialist, with others
one of the paper's baselines, without any a plain error-marking judge. Its score is minus the MQM weights of its errors.
Rules are its Parrot, which repeats the errors of its examples.
"""

import asyncio
import json
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import regex
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from core.formats.spans.mqm import is_no_error, is_non_translation, weight_of
from core.judges.kind import (
    EMPTY_TEXT,
    FURTHEST_SCORE,
    MOST_TOKENS,
    TEMPERATURE,
    Bench,
    Judge,
    Judged,
    JudgeKind,
    Opened,
    in_a_line,
    tokens_in,
    trial_problems,
)
from core.judges.rated import (
    DRAWING_SEED,
    DRAWS,
    EXAMPLES,
    N_EXAMPLES,
    NOTHING,
    ONLY,
    RATER,
    ExamplePool,
    ExampleSettings,
    ExamplesFrom,
    ExampleUsed,
    ShownExample,
    Systems,
    check_examples,
    example_problems,
    examples_in,
    given_in,
    languages_of,
    listed,
    nobody_rated,
    pool_problems,
    prompt_for,
    rated_signed,
    refuse_rated,
    task_attachment,
    task_of,
)
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import clipped, form, read_json, read_object, read_text, visible
from core.llm.prompts import Example, Prompt
from core.schema.runs import RULES, PromptSlot
from core.schema.scores import RatedSet, RatedText, ScorableOutput, Score
from core.schema.settings import Remark, setting
from core.schema.study import RatingTask
from core.stats.degeneracy import Degeneracy
from core.study.blinding import SPAN_DIMENSION
from core.tables.reading import written

Located = Literal["exact", "nearest", "not found", "nothing quoted"]
"""exact: the quote stands in the text; nearest: something much like it does; nothing quoted: an error without words."""
LIKE_ENOUGH = 80.0
"""Likeness (rapidfuzz's ratio: 100 minus the share of characters to insert or delete) of words that count as found. A
word of five letters may have one exchanged, one of four may not."""
_CLUSTERS = regex.compile(r"\X")
_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_JOINED = regex.compile(rf"(?V1)[[\w\p{{M}}]--[{_SPACELESS}]]")
"""Characters between which no word ends: letters, digits and marks of scripts that set blanks."""
_GLUED = regex.compile(r"[\p{M}\u200d\ufe0f\U0001f3fb-\U0001f3ff]")
"""What belongs to the character before it."""
_PLAIN = str.maketrans(
    {
        **dict.fromkeys('"“”„‟«»「」『』〝〞＂‘’‚‛‹›`´＇', "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
    }
)
"""Servers that keep to a schema with lengths may not write `"` inside a text, and models take another mark for it."""


@dataclass(frozen=True)
class Place:
    """Where a quote stands; start and end are None where it was not found."""

    start: int | None
    end: int | None
    located: Located


NOWHERE, UNQUOTED = Place(None, None, "not found"), Place(None, None, "nothing quoted")


class Locator:
    """Finds quotes in one text, in the order in which a judge names them.

    The k-th time that the same words are named, their k-th occurrence is meant; once all are used up, the last one.
    Occurrences do not overlap; where some stand as whole words, only those count, so that `es` is not looked for in
    `dieses`. In scripts without blanks every place will do.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain: _Plain | None = None
        self._named: dict[str, int] = {}
        self._places: dict[str, list[tuple[int, int]]] = {}

    def find(self, quote: str) -> Place:
        """The next place of these words: exact, else nearest, else not found; an empty quote names nothing."""
        if not quote:
            return UNQUOTED
        nth = self._named.get(quote, 0)
        self._named[quote] = nth + 1
        if not nth:
            found = occurrences(quote, self._text)
            self._places[quote] = [one for one in found if _stands_alone(self._text, *one)] or found
        if own := self._places[quote]:
            return Place(*own[min(nth, len(own) - 1)], "exact")
        if not visible(quote) or not visible(self._text):
            return NOWHERE
        if self._plain is None:
            self._plain = _Plain(self._text)
        near = self._plain.nearest(quote, nth)
        return NOWHERE if near is None else Place(*near, "nearest")


def occurrences(quote: str, text: str) -> list[tuple[int, int]]:
    """Every place where exactly these code points stand, from left to right, without overlaps; none for an empty quote."""
    found: list[tuple[int, int]] = []
    at = text.find(quote) if quote else -1
    while at >= 0:
        found.append((at, at + len(quote)))
        at = text.find(quote, at + len(quote))
    return found


class _Plain:
    """A text without what may differ: blanks, forms of quotation marks, case, how accents are written."""

    def __init__(self, text: str) -> None:
        self.text, self._spans = _simplified(text)

    def nearest(self, quote: str, nth: int) -> tuple[int, int] | None:
        """The place, in the text as it is, that is most like the quote; None: nothing is like enough."""
        plain = _simplified(quote)[0].strip()
        bare = plain.strip("'.,;:!?()[] -")
        for words in dict.fromkeys((plain, bare)):
            if own := [one for one in occurrences(words, self.text) if _stands_alone(self.text, *one)]:
                return self._in_text(*own[min(nth, len(own) - 1)])
        place = _most_like(plain, self.text)
        return None if place is None else self._in_text(*place)

    def _in_text(self, start: int, end: int) -> tuple[int, int]:
        return self._spans[start][0], self._spans[end - 1][1]


def _simplified(text: str) -> tuple[str, Sequence[tuple[int, int]]]:
    """The text in its simple form, and for each of its characters the characters of the text that it comes from."""
    chars: list[str] = []
    spans: list[tuple[int, int]] = []
    for cluster in _CLUSTERS.finditer(text):  # a letter with its accents, an emoji with its parts
        start, end = cluster.span()
        simple = "".join(
            char
            for char in unicodedata.normalize("NFD", cluster.group().translate(_PLAIN)).casefold()
            if unicodedata.category(char) not in ("Cf", "Cc") or char.isspace()
        )
        if simple.isspace():
            if chars and chars[-1] == " ":
                spans[-1] = spans[-1][0], end
                continue
            simple = " "
        chars += simple
        spans += [(start, end)] * len(simple)
    return "".join(chars), spans


def _most_like(quote: str, text: str) -> tuple[int, int] | None:
    """The stretch of the text most like the quote, of whole words where the script has blanks."""
    if not quote or len(quote) > 2 * len(text):
        return None
    aligned = fuzz.partial_ratio_alignment(quote, text)
    if aligned is None:
        return None
    first, last = _shared(quote, text, aligned.dest_start, aligned.dest_end)
    candidates = [(a, b) for a in _edges(text, first) for b in _edges(text, last) if a < b]
    scored = [(fuzz.ratio(quote, text[start:end]), start - end, -start) for start, end in candidates]
    likeness, negative_length, negative_start = max(scored, default=(0.0, 0, 0))
    if likeness < LIKE_ENOUGH:
        return None
    return -negative_start, -negative_start - negative_length


def _shared(quote: str, text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch without what stands before its first and behind its last character that the quote has as well."""
    blocks = [one for one in Indel.editops(quote, text[start:end]).as_matching_blocks() if one.size]
    return (start + blocks[0].b, start + blocks[-1].b + blocks[-1].size) if blocks else (start, end)


def _edges(text: str, at: int) -> list[int]:
    """The nearest places at which a word may begin or end: the place itself, or those before and after it."""
    if _is_edge(text, at):
        return [at]
    before, after = at, at
    while not _is_edge(text, before):
        before -= 1
    while not _is_edge(text, after):
        after += 1
    return [before, after]


def _is_edge(text: str, at: int) -> bool:
    """Whether no word goes on across this place."""
    if not 0 < at < len(text):
        return True
    if _GLUED.match(text[at]) or text[at - 1] == "\u200d":
        return False
    return not (_JOINED.match(text[at - 1]) and _JOINED.match(text[at]))


def _stands_alone(text: str, start: int, end: int) -> bool:
    return _is_edge(text, start) and _is_edge(text, end)


NO_TRIAL = "no trial gave a list of errors"
ERROR_COLUMNS = (
    "what",
    "repeat",
    "quote",
    "severity",
    "category",
    "start",
    "end",
    "located",
    "examples",
    "why",
    "reason",
)
"""Of details.csv. what: error, no error, or trial where no usable answer came; start, end: in code points of the text,
end exclusive; examples: texts that the judge was shown."""
FOUND_SHARE = 0.5
"""Of the errors that quote words, the share whose words have to stand in the text: below it the answer has no use."""
_DECIMALS = 9  # as the sums of people's errors are rounded


@dataclass(frozen=True)
class FoundError:
    """An error that a judge names, and where it stands in the text."""

    quote: str
    """As the judge wrote it; empty: it names nothing that stands there, such as an omission."""
    severity: str
    category: str
    start: int | None = None
    """In code points of the text; None: it was not found there."""
    end: int | None = None
    """Exclusive."""
    located: Located = "exact"
    """How the quote was found."""
    offered: bool = True
    """Whether the category is one of the task's or of the examples'; runs of before did not look."""


@dataclass(frozen=True)
class ErrorTrial:
    """The error-marking judge asked once."""

    repeat: int
    """From 0; each draws its examples anew where they are drawn at random."""
    errors: tuple[FoundError, ...] | None
    """None: no usable answer came; empty: it found none."""
    examples: tuple[ExampleUsed, ...] = ()
    reason: str | None = None
    detail: str = ""


@dataclass(frozen=True)
class AutoMqmRecord:
    """All that the error-marking judge said of one text."""

    trials: tuple[ErrorTrial, ...]


def weight_in_text(error: FoundError) -> float | None:
    """What the error takes off the score: nothing where its words are not in the text; None: its severity has no weight."""
    weight = weight_of(error.category, error.severity)
    return 0.0 if weight is not None and error.located == "not found" else weight


def found_share(errors: Sequence[FoundError]) -> float:
    """Of the errors that quote words, the share whose words are in the text; 1 where none quotes any."""
    quoting = [one for one in errors if one.located != "nothing quoted"]
    return sum(one.located != "not found" for one in quoting) / len(quoting) if quoting else 1.0


def score_of_errors(errors: Sequence[FoundError]) -> Score:
    """Minus the weights (`core.formats.spans.mqm`) of the errors, 0 for none; higher is better, without a lower end.

    An error counts wherever its words stand, and where it quotes none; one whose words are not in the text does not.
    Without a value, and with the reason, where a severity has no weight.
    """
    weights = [weight_in_text(one) for one in errors]
    if None in weights:
        severity = errors[weights.index(None)].severity
        return Score(None, f"an error of severity {severity} has no MQM weight")
    return Score(0.0 - round(math.fsum(weight for weight in weights if weight is not None), _DECIMALS))


def mean_of(trials: Sequence[ErrorTrial]) -> Score:
    """The mean score of the trials that gave errors; those without are left out of it."""
    scores = [score_of_errors(trial.errors) for trial in trials if trial.errors is not None]
    values = [score.value for score in scores if score.value is not None]
    if values:
        return Score(math.fsum(values) / len(values))
    reasons = [score.reason for score in scores] + [trial.reason for trial in trials]
    return Score(None, next((reason for reason in reasons if reason), NO_TRIAL))


def error_rows(record: AutoMqmRecord) -> Iterator[dict[str, Any]]:
    """Rows of details.csv: one an error, and one a trial without any."""
    for trial in record.trials:
        about = {"repeat": trial.repeat, "examples": len(trial.examples)}
        if trial.errors is None:
            yield about | {"what": "trial", "why": trial.detail, "reason": trial.reason}
        elif not trial.errors:
            yield about | {"what": "no error"}
        for error in trial.errors or ():
            yield about | {
                "what": "error",
                "quote": error.quote,
                "severity": error.severity,
                "category": error.category,
                "start": error.start,
                "end": error.end,
                "located": error.located,
            }


def error_problems(record: AutoMqmRecord, text: str | None) -> Iterator[str]:
    """What no record can hold; see JudgeKind.record_problems."""
    yield from trial_problems("trials", record.trials, "repeat")
    for n, trial in enumerate(record.trials, start=1):
        yield from example_problems(f"trials, {n}, examples", trial.examples)
        for at, error in enumerate(trial.errors or (), start=1):
            if problem := _place_problem(error, text):
                yield f"trials, {n}, errors, {at}: {problem}"


def _place_problem(error: FoundError, text: str | None) -> str | None:
    """Why an error stands nowhere that it could; None: it does."""
    found = error.located in ("exact", "nearest")
    if error.start is None or error.end is None:
        if error.start is not None or error.end is not None:
            return "start and end are only there together"
        return "start is missing, of an error that was found" if found else None
    if not found:
        return f"start is {written(error.start)}, of an error that was not found"
    if not 0 <= error.start <= error.end:
        return f"start and end ({written(error.start)}, {written(error.end)}) are not two places in order"
    if text is not None and error.end > len(text):
        return f"end is {written(error.end)}, and the text has {len(text)} characters"
    return None


NOT_ON_OFFER, NO_LIST = "severity not on offer", "no list of errors"
TOO_MANY = "too many errors"
NOT_IN_TEXT, NEW_CATEGORY = "quote not in the text", "category not on offer"
MOST_ERRORS = 60
"""Of one text, in an answer; more are a model that cannot stop. People marked 47 at most in a text of WMT23."""
_CHARACTERS_AN_ERROR, _ALWAYS = 8, 10
"""A list may have one error for so many characters, and so many in any case; people marked one in ten at most."""
LONGEST_QUOTE = 1_000
LONGEST_CATEGORY = 80
LONGEST_SHOWN = 30
"""Characters of a wrong severity, category or quote that are repeated."""
MOST_SHOWN = 3
"""Wrong categories or quotes that are repeated."""


def errors_schema(severities: Sequence[str], text: str) -> dict[str, object]:
    """A list of errors, which may be empty. A quote can be as long as the text, up to LONGEST_QUOTE.

    The bounds are there so that guided decoding comes to an end; `read_errors` does not look at lengths again.
    """
    error = form(
        span={"type": "string", "maxLength": min(max(len(text), 1), LONGEST_QUOTE)},
        severity={"type": "string", "enum": list(severities)},
        category={"type": "string", "minLength": 1, "maxLength": LONGEST_CATEGORY},
    )
    most = min(max(len(text) // _CHARACTERS_AN_ERROR, _ALWAYS), MOST_ERRORS)
    return form(errors={"type": "array", "items": error, "maxItems": most})


def written_errors(errors: Iterable[FoundError]) -> str:
    """The answer that names these errors."""
    listed = [{"span": one.quote, "severity": one.severity, "category": one.category} for one in errors]
    return json.dumps({"errors": listed}, ensure_ascii=False)


def read_errors(text: str, severities: Sequence[str]) -> tuple[FoundError, ...]:
    """The errors of an answer, in its order; raises Unusable where there is no such list, or one entry is none.

    A list without the object around it is read too, where it is the whole answer. Severities may be in any case and are
    given back as the task has them; what is not on offer is no error, and no other severity is guessed. An entry that
    says that there is no error names none.
    """
    entries = _entries(text)
    if len(entries) > MOST_ERRORS:
        raise Unusable(f"It lists {len(entries)} errors, more than {MOST_ERRORS}.", TOO_MANY)
    offered = {severity.casefold(): severity for severity in severities}
    named = (_named(number, entry, offered) for number, entry in enumerate(entries, start=1))
    return tuple(one for one in named if one is not None)


class ErrorReader:
    """Reads answers about one text, and remembers the best of those that name what is not there.

    text: as the model was shown it. categories: on offer, of the task and of the examples.
    """

    def __init__(self, text: str, severities: Sequence[str], categories: Iterable[str]) -> None:
        self._text, self._severities = text, tuple(severities)
        self._offered = {name for one in categories for name in _names_of(one)}
        self._best: tuple[FoundError, ...] | None = None

    @property
    def best(self) -> tuple[FoundError, ...] | None:
        """Of the answers in which at least FOUND_SHARE of the quotes are in the text the one with the fewest errors that
        are wrongly named, of equal ones the later; None: there was none.
        """
        return self._best

    def read(self, answer: str) -> tuple[FoundError, ...]:
        """The errors, each with its place; see read_errors.

        Raises Unusable also where a quote is not in the text, or a category is none on offer. Case, hyphens and underlines
        do not matter in a category, and either side of its slash may stand alone.
        """
        locator, found = Locator(self._text), []
        for one in read_errors(answer, self._severities):
            place = locator.find(one.quote)
            found.append(replace(one, **vars(place), offered=self._is_offered(one.category)))
        errors = tuple(found)
        strange = [one.quote for one in errors if one.located == "not found"]
        invented = [one.category for one in errors if not one.offered]
        if not strange and not invented:
            return errors
        if found_share(errors) >= FOUND_SHARE and (
            self._best is None or _n_wrong(errors) <= _n_wrong(self._best)
        ):
            self._best = errors
        if strange:
            raise Unusable(
                f"The text does not hold {_shown(strange)}: copy words letter by letter.", NOT_IN_TEXT
            )
        raise Unusable(f"No category is called {_shown(invented)}: choose from the list.", NEW_CATEGORY)

    def _is_offered(self, category: str) -> bool:
        return is_non_translation(category) or not self._offered.isdisjoint(_names_of(category, parts=False))


def _names_of(category: str, *, parts: bool = True) -> set[str]:
    """What a category may be called: whole, and by either side of its slash."""
    plain = " ".join(category.casefold().replace("_", " ").replace("-", " ").split())
    sides = [side.strip() for side in plain.split("/")]
    return {"/".join(sides), *(sides if parts else ())}


def _n_wrong(errors: Sequence[FoundError]) -> int:
    return sum(one.located == "not found" or not one.offered for one in errors)


def _shown(names: Sequence[str]) -> str:
    """The first of what is wrong, as a sentence repeats it."""
    distinct = list(dict.fromkeys(names))
    listed = ", ".join(repr(clipped(one, LONGEST_SHOWN)) for one in distinct[:MOST_SHOWN])
    return f"{listed} and {len(distinct) - MOST_SHOWN} more" if len(distinct) > MOST_SHOWN else listed


def _entries(text: str) -> list[object]:
    try:
        return list(read_object(text, errors={"type": "array"})["errors"])
    except Unusable as wrong:
        if _is_list(text):
            value = read_json(text, {"type": "array"})
            assert isinstance(value, list)
            return value
        raise Unusable(wrong.detail, NO_LIST if wrong.kind == "invalid" else wrong.kind) from None


def _is_list(text: str) -> bool:
    """Whether the whole answer is a list: brackets that a sentence mentions are none."""
    try:
        return isinstance(json.loads(read_text(text)), list)
    except (Unusable, ValueError, RecursionError):
        return False


def _named(number: int, entry: object, offered: Mapping[str, str]) -> FoundError | None:
    """One entry; None: it says that there is no error."""
    if not isinstance(entry, dict):
        raise Unusable(f"Error {number} is no object with span, severity and category.")
    quote, severity, category = (entry.get(name) for name in ("span", "severity", "category"))
    if not isinstance(severity, str) or not isinstance(category, str):
        raise Unusable(f"Error {number} has no severity or no category that is a text.")
    severity, category = severity.strip(), in_a_line(category)
    if is_no_error(category, severity):
        return None
    if severity.casefold() not in offered:
        shown = clipped(severity, LONGEST_SHOWN)
        listed = ", ".join(offered.values())
        raise Unusable(f"Error {number}: the severity {shown!r} is none of {listed}.", NOT_ON_OFFER)
    if not isinstance(quote, str):
        raise Unusable(f"Error {number} has no span: quote the words, or give an empty text.")
    if not category:
        raise Unusable(f"Error {number} has an empty category.")
    return FoundError(quote, offered[severity.casefold()], category)


PURPOSE = "mark-errors"
STEP = "mark errors"
PARROT = "parrot"
"""What the paper calls the baseline that repeats its examples' errors: the name of rules."""
AS_ABOVE = "(as above)"
NO_EXAMPLES = "no examples"
_NOBODY = nobody_rated("marked errors in a text")
_ROOM = 1_000
"""Tokens an answer may have besides those that quotes need."""


class AutoMqmSettings(ExampleSettings):
    """How AutoMQM marks errors."""

    MODEL_FREE: ClassVar[bool] = True

    examples: ExamplesFrom = EXAMPLES
    n_examples: int = N_EXAMPLES
    filtered: bool = setting(
        False,
        "Filter the examples",
        "leave out examples equal to the judged text, and errors on words that people marked in it, so that nothing "
        "can be copied that is right by itself",
    )
    rater: str = RATER
    only: Systems = ONLY
    occurrences: Literal["all", "first"] = setting(
        "all",
        "If a quoted phrase occurs more than once, mark",
        "what the Parrot marks where the words of an error occur more than once",
        words={"all": "every occurrence", "first": "the first occurrence"},
    )
    repeats: int = DRAWS
    temperature: float | None = TEMPERATURE
    seed: int = DRAWING_SEED

    @classmethod
    def offered(cls, backend: str) -> Mapping[str, tuple[str, ...]]:
        """The Parrot needs examples."""
        return {"examples": ("specialist", "shuffled", "fixed")} if backend == RULES else {}

    @property
    def dimension_scored(self) -> str:
        """See JudgeSettings."""
        return SPAN_DIMENSION

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """One, unless it is the Parrot."""
        return () if by_rules else (PromptSlot(PURPOSE, "mark-errors"),)

    def problems(self, backend: str) -> Iterator[Remark]:
        """See KindSettings."""
        if backend == RULES and not self.shows_examples:
            yield Remark("examples", "none leaves the Parrot nothing to repeat; choose others, or a model")
        yield from super().problems(backend)

    def called(self, name: str, *, by_rules: bool) -> tuple[str, ...]:
        """See JudgeSettings."""
        if not by_rules:
            return super().called(name, by_rules=by_rules)
        first, *others = super().called(PARROT, by_rules=by_rules)
        return (first, *self.unusual("occurrences"), *others)

    def named_whole(self, *, by_rules: bool) -> bool:
        """The Parrot has no model."""
        return by_rules

    def idle(self, backend: str) -> frozenset[str]:
        """What only the Parrot or only a model uses, and how examples are drawn where there are none, or all are shown."""
        by_rules = backend == RULES
        without = {"temperature" if by_rules else "occurrences"}
        if by_rules and self.examples == "specialist" and not self.n_examples:
            without |= {"seed", "repeats"}
        return super().idle(backend) | without

    def ignored(self, backend: str) -> frozenset[str]:
        """Repeats give as many equal answers, and a remark says so."""
        return self.idle(backend) - {"repeats"}


class AutoMqmJudge:
    """Asks a model for the errors of a text, once for every draw of examples."""

    def __init__(
        self, model: Model, prompt: Prompt, settings: AutoMqmSettings, task: RatingTask, pool: ExamplePool
    ) -> None:
        """task: one that asks for error spans. pool: of errors, over the run's texts."""
        assert task.spans is not None
        self._model, self._prompt, self._settings = model, prompt, settings
        self._asked, self._task, self._pool = task, task.spans, pool

    async def judge(self, text: RatedText) -> Judged:
        """The mean over the repeats of minus the MQM weights; a repeat without a usable answer is left out of it.

        An answer that quotes what is not in the text, or invents a category, is asked again; after the last attempt the best
        one counts without the errors that were not found, if at least FOUND_SHARE of its quotes were.

        A text with nothing to read is not judged; one without a source is judged by itself. Misleads where weights do:
        a long text can lose more than a short one.
        """
        if not text.output.text.strip():
            return Judged.without_asking(EMPTY_TEXT)
        asked = await asyncio.gather(*(self._trial(text, n) for n in range(self._settings.repeats)))
        trials = tuple(trial for trial, _ in asked)
        mean = None if all(trial.errors is None for trial in trials) else mean_of(trials)
        temporary = any(passing for _, passing in asked)
        return Judged.in_trials(STEP, mean, AutoMqmRecord(trials), temporary=temporary)

    async def _trial(self, text: RatedText, repeat: int) -> tuple[ErrorTrial, bool]:
        """One draw of examples, and whether a failure was temporary."""
        chosen = self._settings
        examples = chosen.draw(self._pool, text, repeat)
        shown, used = self._turns(examples)
        said = defused(text.output.text, [self._prompt])
        request = Request(
            STEP,
            replace(self._prompt, examples=self._prompt.examples + shown).messages(
                **self._variables(text.output, said)
            ),
            max_tokens=min(_ROOM + 2 * tokens_in(said), MOST_TOKENS),
            temperature=chosen.temperature,
            seed=chosen.seed + repeat,
            schema=errors_schema(self._task.severities, said),
        )
        offered = [*self._task.categories, *(span.category for one in examples for _, span in one.errors)]
        reader = ErrorReader(said, self._task.severities, offered)
        answer = await self._model.ask(request, reader.read)
        if answer.value is None and reader.best is not None and not answer.temporary:
            answer = Answer(reader.best, attempts=answer.attempts)
        return _trial(repeat, used, answer), answer.temporary

    def _turns(
        self, examples: tuple[ShownExample, ...]
    ) -> tuple[tuple[Example, ...], tuple[ExampleUsed, ...]]:
        """Each example as a question and its answer, and what of it was shown.

        Severities and categories are listed in the first turn, and again in the text's own.
        """
        turns, used = [], []
        offered = {severity.casefold(): severity for severity in self._task.severities}
        for number, one in enumerate(examples):
            said = defused(one.output.text, [self._prompt])
            named = [
                FoundError(
                    said[span.start : span.end],
                    offered[span.severity.casefold()],
                    in_a_line(defused(span.category, [self._prompt])),
                )
                for _, span in one.errors
                if span.severity.casefold() in offered
            ]
            variables = self._variables(one.output, said)
            if number or self._prompt.examples:
                variables |= {"severities": AS_ABOVE, "categories": AS_ABOVE}
            turns.append(Example(tuple(variables.items()), written_errors(named)))
            used.append(replace(one.used, n_errors=len(named)))
        return tuple(turns), tuple(used)

    def _variables(self, output: ScorableOutput, said: str) -> dict[str, str]:
        named = self._task.in_words
        return {
            "source": given_in(output, self._asked, self._prompt),
            "text": said,
            **languages_of(output, self._prompt),
            "severities": ("\n" if self._task.meanings else ", ").join(map(named, self._task.severities)),
            "categories": "\n".join(map(named, self._task.categories)) or NOTHING,
        }


def _trial(repeat: int, used: tuple[ExampleUsed, ...], answer: Answer[tuple[FoundError, ...]]) -> ErrorTrial:
    if answer.value is None:
        return ErrorTrial(repeat, None, used, answer.reason or "invalid", answer.detail)
    return ErrorTrial(repeat, answer.value, used)


class Parrot:
    """002's baseline that asks nobody and only repeats the errors of its examples.

    Source: 002, section 5.4.2. How far a specialist gets beyond it is what copying cannot explain. The paper leaves open
    what a matching span is; the rule here: for every distinct (words, severity, category) among the examples' errors,
    every occurrence of the words in the text is an error of that severity and category (or only the first, as the
    settings say). An occurrence is the same code points, in the same case, inside words too; occurrences of the same
    words do not overlap. Errors that mark no words are never repeated.
    """

    def __init__(self, settings: AutoMqmSettings, pool: ExamplePool) -> None:
        self._settings, self._pool = settings, pool

    async def judge(self, text: RatedText) -> Judged:
        """Minus the weights of the errors that are repeated, the mean of the draws of examples.

        A text without any example has no score: nothing to repeat is not the same as nothing wrong.
        """
        if not text.output.text.strip():
            return Judged.without_asking(EMPTY_TEXT)
        trials = tuple(self._trial(text, repeat) for repeat in range(self._settings.repeats))
        if all(trial.errors is None for trial in trials):
            return Judged.without_asking(NO_EXAMPLES)
        return Judged((mean_of(trials),), AutoMqmRecord(trials))

    def _trial(self, text: RatedText, repeat: int) -> ErrorTrial:
        examples = self._settings.draw(self._pool, text, repeat)
        if not examples:
            return ErrorTrial(repeat, None, reason=NO_EXAMPLES)
        shown = ((quote, span) for one in examples for quote, span in one.errors)
        distinct = dict.fromkeys((quote, span.severity, span.category) for quote, span in shown)
        found = []
        for quote, severity, category in distinct:
            places = occurrences(quote, text.output.text)
            places = places[:1] if self._settings.occurrences == "first" else places
            found += [FoundError(quote, severity, category, *place) for place in places]
        found.sort(key=lambda error: (error.start or 0, error.end or 0))
        return ErrorTrial(repeat, tuple(found), tuple(one.used for one in examples))


def _open(settings: AutoMqmSettings, bench: Bench) -> Opened:
    task = task_of(bench)
    pool = settings.pool(bench.texts, task)
    refuse_rated([*_task_problems(task), *pool_problems(settings, pool, _NOBODY)], settings)

    def judge(model: Model | None) -> Judge:
        if model is None:
            refuse_rated(list(settings.problems(RULES)), settings)
            return Parrot(settings, pool)
        return AutoMqmJudge(model, prompt_for(bench, PURPOSE), settings, task, pool)

    return judge


def _check(settings: AutoMqmSettings, bench: Bench, rated: RatedSet, by_rules: bool) -> tuple[Remark, ...]:
    task = task_of(bench)
    pool = settings.pool(rated.texts, task)
    refuse_rated(_task_problems(task), settings)
    marked = pool.severities(settings.rater) if settings.shows_examples else {}
    unusable = _unusable(marked, task, by_rules=by_rules)
    wrong, remarks = [], []
    if unusable:
        what = (
            "have a severity without an MQM weight: a text in which the Parrot repeats one gets no score"
            if by_rules
            else "have a severity that the task lacks: no model is shown them"
        )
        values = {
            "severities": listed(list(unusable)),
            "n": f"{sum(unusable.values()):,}",
            "of": f"{sum(marked.values()):,}",
        }
        if unusable == marked:
            mend = "choose a task with these severities, or rename them in the file"
            wrong = [Remark("task", f"all errors marked in the file ({{severities}}) {what}; {mend}", values)]
        remarks = [
            Remark("", f"{{n}} of the {{of}} errors marked in examples ({{severities}}) {what}", values)
        ]
    return check_examples(settings, pool, rated, by_rules, _NOBODY, wrong, remarks)


def _task_problems(task: RatingTask) -> list[Remark]:
    text = "{name} marks no errors, which is what this judge does; choose mqm"
    return [] if task.spans is not None else [Remark("task", text, {"name": task.name})]


def _unusable(marked: Mapping[str, int], task: RatingTask, *, by_rules: bool) -> dict[str, int]:
    """Severity -> errors in examples that the Parrot cannot weigh, or that no model is shown, as the task lacks it."""
    if by_rules:
        return {one: n for one, n in marked.items() if weight_of("", one) is None}
    assert task.spans is not None
    offered = {one.casefold() for one in task.spans.severities}
    return {one: n for one, n in marked.items() if one.casefold() not in offered}


def _shortfalls(records: Sequence[AutoMqmRecord], _: Mapping[str, object]) -> Iterator[Degeneracy]:
    """Quotes that are not in the text, answers rejected for them, and categories that nobody offered."""
    trials = [trial for record in records for trial in record.trials]
    errors = [error for trial in trials for error in trial.errors or ()]
    quoting = [error for error in errors if error.located != "nothing quoted"]
    lost = sum(error.located == "not found" for error in quoting)
    if lost:
        sentence = (
            f"Quotes not found: {lost:,} of {len(quoting):,} are not in the text, and count in no score."
        )
        yield Degeneracy("not found", lost, len(quoting), sentence)
    rejected = sum(trial.reason == NOT_IN_TEXT for trial in trials)
    if rejected:
        sentence = (
            f"Quotes not found: {rejected:,} of {len(trials):,} answers were rejected, because fewer than "
            f"{FOUND_SHARE:.0%} of their quotes are in the text."
        )
        yield Degeneracy("not found", rejected, len(trials), sentence)
    invented = sum(not error.offered for error in errors)
    if invented:
        sentence = (
            f"Invented categories: {invented:,} of {len(errors):,} errors have one that nobody offered."
        )
        yield Degeneracy("invented", invented, len(errors), sentence)


KIND = JudgeKind(
    name="automqm",
    title="Marked errors (AutoMQM)",
    family="AutoMQM",
    summary="errors marked in each text, with severity and category; examples are other systems' rated texts",
    section="specialist-automqm",
    reads="rated texts",
    Settings=AutoMqmSettings,
    attachment=task_attachment("mqm", "severities and categories"),
    does="marks errors; rules: the Parrot, which repeats its examples' errors",
    Record=AutoMqmRecord,
    reports=frozenset({"accuracy", "agreement", "copying", "examples", "raters", "spans"}),
    open=_open,
    check=_check,
    also_signed=rated_signed,
    details=error_rows,
    detail_columns=ERROR_COLUMNS,
    record_problems=error_problems,
    score_bounds=lambda _: (-FURTHEST_SCORE, 0.0),
    shortfalls=_shortfalls,
    rules=(
        "The Parrot: no model, no cost. It marks the words of its examples' errors wherever they occur in the text, "
        "letter by letter. A specialist has to beat what copying alone reaches."
    ),
    suits=lambda task, _: task.spans is not None,
    in_file=examples_in,
    marks_errors=True,
)
