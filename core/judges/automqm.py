"""AutoMQM, from the Specialist paper: a model marks the errors in a text after seeing how people marked other texts.

Specialist, section 4.1 and appendix A. With examples for the same source it is the Specialist; with other examples, one
of that paper's baselines; without examples, a plain error-marking judge. Its score is minus the MQM weights of its
errors. The backend "rules" is the Parrot, which repeats the errors of its examples.
"""

import asyncio
import json
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import regex
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from core.formats.spans.mqm import is_no_error, is_non_translation, weight_of
from core.judges.kind import (
    EMPTY_TEXT,
    FORMER_ERRORS,
    FURTHEST_SCORE,
    MOST_TOKENS,
    NOTHING,
    TEMPERATURE,
    Bench,
    Judge,
    Judged,
    JudgeKind,
    Opened,
    Trial,
    single_line,
    tokens_in,
    trial_problems,
)
from core.judges.rated import (
    DRAWING_SEED,
    DRAWS,
    EXAMPLES,
    N_EXAMPLES,
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
"""exact: the quote is in the text; nearest: something similar is; nothing quoted: the error quotes no words."""
LIKE_ENOUGH = 80.0
"""Lowest similarity (rapidfuzz's ratio: 100 minus the percentage of characters to insert or delete) that counts as found.
A word of five letters can have one wrong letter, a word of four letters none."""
_CLUSTERS = regex.compile(r"\X")
_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_JOINED = regex.compile(rf"(?V1)[[\w\p{{M}}]--[{_SPACELESS}]]")
"""Characters that continue a word: letters, digits and marks of scripts with spaces."""
_GLUED = regex.compile(r"[\p{M}\u200d\ufe0f\U0001f3fb-\U0001f3ff]")
"""Characters that attach to the character before them."""
_PLAIN = str.maketrans(
    {
        **dict.fromkeys('"“”„‟«»「」『』〝〞＂‘’‚‛‹›`´＇', "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
    }
)
"""Some servers cannot write `"` inside a text under a schema with lengths, and models then use another mark."""


@dataclass(frozen=True)
class Place:
    """Position of a quote; start and end are None if it was not found."""

    start: int | None
    end: int | None
    located: Located


NOWHERE, UNQUOTED = Place(None, None, "not found"), Place(None, None, "nothing quoted")


class Locator:
    """Finds quotes in one text, in the order in which a judge lists them.

    The k-th quote of the same words refers to their k-th occurrence, or to the last one if there are fewer.
    Occurrences do not overlap. If some are whole words, only those count, so that `es` does not match inside
    `dieses`. In scripts without spaces every occurrence counts.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain: _Plain | None = None
        self._named: dict[str, int] = {}
        self._places: dict[str, list[tuple[int, int]]] = {}

    def find(self, quote: str) -> Place:
        """The next position of these words: exact, else nearest, else not found; an empty quote has no position."""
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
    """All non-overlapping occurrences of exactly these code points, left to right; empty for an empty quote."""
    found: list[tuple[int, int]] = []
    at = text.find(quote) if quote else -1
    while at >= 0:
        found.append((at, at + len(quote)))
        at = text.find(quote, at + len(quote))
    return found


class _Plain:
    """A normalised text: spaces, quotation marks, case and the encoding of accents do not matter."""

    def __init__(self, text: str) -> None:
        self.text, self._spans = _simplified(text)

    def nearest(self, quote: str, nth: int) -> tuple[int, int] | None:
        """The position in the original text most similar to the quote; None: nothing is similar enough."""
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
    """The normalised text, and for each of its characters the range of original characters."""
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
    """The range of the text most similar to the quote, in whole words if the script has spaces."""
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
    """The range, trimmed to the first and the last character shared with the quote."""
    blocks = [one for one in Indel.editops(quote, text[start:end]).as_matching_blocks() if one.size]
    return (start + blocks[0].b, start + blocks[-1].b + blocks[-1].size) if blocks else (start, end)


def _edges(text: str, at: int) -> list[int]:
    """The nearest word boundaries: the position itself, or those before and after it."""
    if _is_edge(text, at):
        return [at]
    before, after = at, at
    while not _is_edge(text, before):
        before -= 1
    while not _is_edge(text, after):
        after += 1
    return [before, after]


def _is_edge(text: str, at: int) -> bool:
    """Whether this position is a word boundary."""
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
"""Columns of details.csv. what: error, no error, or trial if there was no usable answer; start, end: in code points of
the text, end exclusive; examples: texts shown to the judge."""
FOUND_SHARE = 0.5
"""Share of quotes that must be in the text. Below it, an answer is unusable."""
_DECIMALS = 9  # as for the sums of people's errors


@dataclass(frozen=True)
class FoundError:
    """An error that a judge reports, and its position in the text."""

    quote: str
    """The quote as the judge wrote it; empty: nothing to quote, such as an omission."""
    severity: str
    category: str
    start: int | None = None
    """In code points of the text; None: not found."""
    end: int | None = None
    """Exclusive."""
    located: Located = "exact"
    """How the quote was found."""
    offered: bool = True
    """Whether the category comes from the task or the examples. Runs of older versions did not check this."""


@dataclass(frozen=True, kw_only=True)
class ErrorTrial(Trial):
    """One request to the error-marking judge. Each repeat draws new examples if they are drawn at random."""

    verdict: Annotated[tuple[FoundError, ...] | None, FORMER_ERRORS]
    """The errors; None: no usable answer; empty: no errors found."""
    examples: tuple[ExampleUsed, ...] = ()

    @property
    def errors(self) -> tuple[FoundError, ...] | None:
        """The verdict of a judge that marks errors."""
        return self.verdict


@dataclass(frozen=True)
class AutoMqmRecord:
    """Everything that the error-marking judge returned for one text."""

    trials: tuple[ErrorTrial, ...]


def weight_in_text(error: FoundError) -> float | None:
    """The error's penalty: 0 if its words are not in the text; None if its severity has no weight."""
    weight = weight_of(error.category, error.severity)
    return 0.0 if weight is not None and error.located == "not found" else weight


def found_share(errors: Sequence[FoundError]) -> float:
    """Share of quotes that are in the text; 1 if no error quotes words."""
    quoting = [one for one in errors if one.located != "nothing quoted"]
    return sum(one.located != "not found" for one in quoting) / len(quoting) if quoting else 1.0


def score_of_errors(errors: Sequence[FoundError]) -> Score:
    """Minus the sum of the errors' weights (`core.formats.spans.mqm`): 0 without errors, no lower bound, higher is
    better.

    An error counts if its words are in the text or if it quotes none. The score is undefined, with a reason, if a
    severity has no weight.
    """
    weights = [weight_in_text(one) for one in errors]
    if None in weights:
        severity = errors[weights.index(None)].severity
        return Score(None, f"an error of severity {severity} has no MQM weight")
    return Score(0.0 - round(math.fsum(weight for weight in weights if weight is not None), _DECIMALS))


def mean_of(trials: Sequence[ErrorTrial]) -> Score:
    """The mean score of the trials with a usable answer."""
    scores = [score_of_errors(trial.errors) for trial in trials if trial.errors is not None]
    values = [score.value for score in scores if score.value is not None]
    if values:
        return Score(math.fsum(values) / len(values))
    reasons = [score.reason for score in scores] + [trial.reason for trial in trials]
    return Score(None, next((reason for reason in reasons if reason), NO_TRIAL))


def error_rows(record: AutoMqmRecord) -> Iterator[dict[str, Any]]:
    """Rows of details.csv: one for each error, and one for each trial without errors."""
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
    """Invalid values in a record; see JudgeKind.record_problems."""
    yield from trial_problems("trials", record.trials, "repeat")
    for n, trial in enumerate(record.trials, start=1):
        yield from example_problems(f"trials, {n}, examples", trial.examples)
        for at, error in enumerate(trial.errors or (), start=1):
            if problem := _place_problem(error, text):
                yield f"trials, {n}, errors, {at}: {problem}"


def _place_problem(error: FoundError, text: str | None) -> str | None:
    """Why an error's position is invalid; None: it is valid."""
    found = error.located in ("exact", "nearest")
    if error.start is None or error.end is None:
        if error.start is not None or error.end is not None:
            return "start and end must be given together"
        return "start is missing, although the error was found" if found else None
    if not found:
        return f"start is {written(error.start)}, although the error was not found"
    if not 0 <= error.start <= error.end:
        return f"start and end ({written(error.start)}, {written(error.end)}) are not in order"
    if text is not None and error.end > len(text):
        return f"end is {written(error.end)}, but the text has {len(text)} characters"
    return None


NOT_ON_OFFER, NO_LIST = "severity not on offer", "no list of errors"
TOO_MANY = "too many errors"
NOT_IN_TEXT, NEW_CATEGORY = "quote not in the text", "category not on offer"
MOST_ERRORS = 60
"""Most errors in an answer; more mean that the model cannot stop. In WMT23, people marked at most 47 in one text."""
_CHARACTERS_AN_ERROR, _ALWAYS = 8, 10
"""Characters per error that a list may have, and errors always allowed. People marked at most one error in ten characters."""
LONGEST_QUOTE = 1_000
LONGEST_CATEGORY = 80
LONGEST_SHOWN = 30
"""Characters of a wrong severity, category or quote that a message repeats."""
MOST_SHOWN = 3
"""Wrong categories or quotes that a message repeats."""


def errors_schema(severities: Sequence[str], text: str) -> dict[str, object]:
    """JSON schema of a list of errors, possibly empty. A quote can be as long as the text, up to LONGEST_QUOTE.

    The bounds make guided decoding end; `read_errors` does not check lengths.
    """
    error = form(
        span={"type": "string", "maxLength": min(max(len(text), 1), LONGEST_QUOTE)},
        severity={"type": "string", "enum": list(severities)},
        category={"type": "string", "minLength": 1, "maxLength": LONGEST_CATEGORY},
    )
    most = min(max(len(text) // _CHARACTERS_AN_ERROR, _ALWAYS), MOST_ERRORS)
    return form(errors={"type": "array", "items": error, "maxItems": most})


def written_errors(errors: Iterable[FoundError]) -> str:
    """The answer that reports these errors."""
    listed = [{"span": one.quote, "severity": one.severity, "category": one.category} for one in errors]
    return json.dumps({"errors": listed}, ensure_ascii=False)


def read_errors(text: str, severities: Sequence[str]) -> tuple[FoundError, ...]:
    """The errors in an answer, in order. Raises Unusable if there is no list of errors or an entry is invalid.

    A bare list without the enclosing object is accepted if it is the whole answer. Severities are matched without regard
    to case and returned as the task spells them; unknown severities are rejected, not guessed. Entries such as "no error"
    are skipped.
    """
    entries = _entries(text)
    if len(entries) > MOST_ERRORS:
        raise Unusable(f"It lists {len(entries)} errors, more than {MOST_ERRORS}.", TOO_MANY)
    offered = {severity.casefold(): severity for severity in severities}
    named = (_named(number, entry, offered) for number, entry in enumerate(entries, start=1))
    return tuple(one for one in named if one is not None)


class ErrorReader:
    """Reads answers about one text, and remembers the best one that was rejected for wrong quotes or categories.

    text: as shown to the model. categories: offered by the task and the examples.
    """

    def __init__(self, text: str, severities: Sequence[str], categories: Iterable[str]) -> None:
        self._text, self._severities = text, tuple(severities)
        self._offered = {name for one in categories for name in _names_of(one)}
        self._best: tuple[FoundError, ...] | None = None

    @property
    def best(self) -> tuple[FoundError, ...] | None:
        """The answer with the fewest wrong quotes or categories, among those with at least FOUND_SHARE of their
        quotes in the text. Later answers win ties; None: there was none.
        """
        return self._best

    def read(self, answer: str) -> tuple[FoundError, ...]:
        """The errors with their positions; see read_errors.

        Also raises Unusable if a quote is not in the text or a category is not offered. Case, hyphens and underscores
        of a category do not matter, and either side of its slash is enough.
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
    """Accepted names of a category: the whole, and either side of its slash."""
    plain = " ".join(category.casefold().replace("_", " ").replace("-", " ").split())
    sides = [side.strip() for side in plain.split("/")]
    return {"/".join(sides), *(sides if parts else ())}


def _n_wrong(errors: Sequence[FoundError]) -> int:
    return sum(one.located == "not found" or not one.offered for one in errors)


def _shown(names: Sequence[str]) -> str:
    """The first few wrong names, for a message."""
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
    """Whether the whole answer is a list; brackets within a sentence do not count."""
    try:
        return isinstance(json.loads(read_text(text)), list)
    except (Unusable, ValueError, RecursionError):
        return False


def _named(number: int, entry: object, offered: Mapping[str, str]) -> FoundError | None:
    """One entry; None: it states that there is no error."""
    if not isinstance(entry, dict):
        raise Unusable(f"Error {number} is no object with span, severity and category.")
    quote, severity, category = (entry.get(name) for name in ("span", "severity", "category"))
    if not isinstance(severity, str) or not isinstance(category, str):
        raise Unusable(f"Error {number} has no severity or no category that is a text.")
    severity, category = severity.strip(), single_line(category)
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
"""The Specialist paper's name for the baseline that repeats its examples' errors; here the name of the rules."""
AS_ABOVE = "(as above)"
NO_EXAMPLES = "no examples"
_NOBODY = nobody_rated("marked errors in a text")
_ROOM = 1_000
"""Tokens of an answer beyond its quotes."""


class AutoMqmSettings(ExampleSettings):
    """How AutoMQM marks errors."""

    MODEL_FREE: ClassVar[bool] = True

    examples: ExamplesFrom = EXAMPLES
    n_examples: int = N_EXAMPLES
    filtered: bool = setting(
        False,
        "Filter the examples",
        "leave out examples identical to the judged text, and errors on words that people marked in it, so that copying "
        "gains nothing",
    )
    rater: str = RATER
    only: Systems = ONLY
    occurrences: Literal["all", "first"] = setting(
        "all",
        "If a quoted phrase occurs more than once, mark",
        "which occurrences the Parrot marks if the words of an error occur more than once",
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
        """One prompt, unless it is the Parrot."""
        return () if by_rules else (PromptSlot(PURPOSE, "mark-errors"),)

    def problems(self, backend: str) -> Iterator[Remark]:
        """See KindSettings."""
        if backend == RULES and not self.shows_examples:
            yield Remark(
                "examples", "with none, the Parrot has nothing to repeat; choose other examples, or a model"
            )
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
        """Settings that only the Parrot or only a model uses, and settings of a draw if examples are not drawn."""
        by_rules = backend == RULES
        without = {"temperature" if by_rules else "occurrences"}
        if by_rules and self.examples == "specialist" and not self.n_examples:
            without |= {"seed", "repeats"}
        return super().idle(backend) | without

    def ignored(self, backend: str) -> frozenset[str]:
        """Repeats are not ignored: they return equal answers, and a remark explains this."""
        return self.idle(backend) - {"repeats"}


class AutoMqmJudge:
    """Asks a model for the errors in a text, once for each draw of examples."""

    def __init__(
        self, model: Model, prompt: Prompt, settings: AutoMqmSettings, task: RatingTask, pool: ExamplePool
    ) -> None:
        """task: must ask for error spans. pool: marked errors in the run's texts."""
        assert task.spans is not None
        self._model, self._prompt, self._settings = model, prompt, settings
        self._asked, self._task, self._pool = task, task.spans, pool

    async def judge(self, text: RatedText) -> Judged:
        """Score a text: minus the MQM weights, averaged over the repeats with a usable answer.

        An answer with a quote that is not in the text, or with an invented category, is requested again. After the
        last attempt the best answer counts if at least FOUND_SHARE of its quotes were found; errors that were not
        found are ignored.

        An empty text is not judged; a text without a source is judged alone. The score misleads where the weights do:
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
        """One draw of examples; also whether a failure was temporary."""
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
        """Each example as a question and its answer, and a record of what was shown.

        Severities and categories are listed in the first turn, and again in the turn of the judged text.
        """
        turns, used = [], []
        offered = {severity.casefold(): severity for severity in self._task.severities}
        for number, one in enumerate(examples):
            said = defused(one.output.text, [self._prompt])
            named = [
                FoundError(
                    said[span.start : span.end],
                    offered[span.severity.casefold()],
                    single_line(defused(span.category, [self._prompt])),
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
        return ErrorTrial(
            repeat=repeat,
            verdict=None,
            examples=used,
            reason=answer.reason or "invalid",
            detail=answer.detail,
        )
    return ErrorTrial(repeat=repeat, verdict=answer.value, examples=used)


class Parrot:
    """The Specialist paper's baseline without a model: it repeats the errors of its examples.

    Specialist, section 5.4.2. A specialist's lead over the Parrot cannot be explained by copying. The paper does not
    define a matching span. Here, for every distinct (words, severity, category) among the examples' errors, every
    occurrence of the words in the text is an error with that severity and category (or only the first occurrence,
    depending on the settings). An occurrence has the same code points in the same case, even inside words;
    occurrences of the same words do not overlap. Errors without marked words are never repeated.
    """

    def __init__(self, settings: AutoMqmSettings, pool: ExamplePool) -> None:
        self._settings, self._pool = settings, pool

    async def judge(self, text: RatedText) -> Judged:
        """Score a text: minus the weights of the repeated errors, averaged over the draws of examples.

        A text without examples has no score: having nothing to repeat does not mean that nothing is wrong.
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
            return ErrorTrial(repeat=repeat, verdict=None, reason=NO_EXAMPLES)
        shown = ((quote, span) for one in examples for quote, span in one.errors)
        distinct = dict.fromkeys((quote, span.severity, span.category) for quote, span in shown)
        found = []
        for quote, severity, category in distinct:
            places = occurrences(quote, text.output.text)
            places = places[:1] if self._settings.occurrences == "first" else places
            found += [FoundError(quote, severity, category, *place) for place in places]
        found.sort(key=lambda error: (error.start or 0, error.end or 0))
        return ErrorTrial(repeat=repeat, verdict=tuple(found), examples=tuple(one.used for one in examples))


def _task_problems(task: RatingTask) -> list[Remark]:
    text = "{name} does not ask for marked errors, but this judge needs that; choose mqm"
    return [] if task.spans is not None else [Remark("task", text, {"name": task.name})]


def _unusable(marked: Mapping[str, int], task: RatingTask, *, by_rules: bool) -> dict[str, int]:
    """Severity -> number of errors in examples that the Parrot cannot weigh, or that models do not see because the
    task lacks the severity.
    """
    if by_rules:
        return {one: n for one, n in marked.items() if weight_of("", one) is None}
    assert task.spans is not None
    offered = {one.casefold() for one in task.spans.severities}
    return {one: n for one, n in marked.items() if one.casefold() not in offered}


class AutoMqmKind(JudgeKind):
    """Marks the errors in each text, with severity and category; examples are other systems' rated texts."""

    name = "automqm"
    title = "Marked errors (AutoMQM)"
    family = "AutoMQM"
    summary = (
        "marks the errors in each text, with severity and category; examples are other systems' rated texts"
    )
    section = "specialist-automqm"
    reads = "rated texts"
    Settings = AutoMqmSettings
    attachment = task_attachment("mqm", "severities and categories")
    does = "marks errors; rules: the Parrot, which repeats its examples' errors"
    Record = AutoMqmRecord
    reports = frozenset({"accuracy", "agreement", "copying", "examples", "raters", "spans"})
    detail_columns = ERROR_COLUMNS
    rules = (
        "The Parrot: no model, no cost. It marks the exact words of its examples' errors wherever they occur in the text. "
        "A specialist must beat this baseline to show more than copying."
    )
    marks_errors = True

    def open(self, settings: AutoMqmSettings, bench: Bench) -> Opened:
        """See JudgeKind."""
        task = task_of(bench)
        pool = settings.pool(bench.texts, task)
        refuse_rated([*_task_problems(task), *pool_problems(settings, pool, _NOBODY)], settings)

        def judge(model: Model | None) -> Judge:
            if model is None:
                refuse_rated(list(settings.problems(RULES)), settings)
                return Parrot(settings, pool)
            return AutoMqmJudge(model, prompt_for(bench, PURPOSE), settings, task, pool)

        return judge

    def check(
        self, settings: AutoMqmSettings, bench: Bench, rated: RatedSet, by_rules: bool
    ) -> tuple[Remark, ...]:
        """See JudgeKind."""
        task = task_of(bench)
        pool = settings.pool(rated.texts, task)
        refuse_rated(_task_problems(task), settings)
        marked = pool.severities(settings.rater) if settings.shows_examples else {}
        unusable = _unusable(marked, task, by_rules=by_rules)
        wrong, remarks = [], []
        if unusable:
            what = (
                "have a severity without an MQM weight: texts in which the Parrot repeats them get no score"
                if by_rules
                else "have a severity that the task lacks: models do not see them"
            )
            values = {
                "severities": listed(list(unusable)),
                "n": f"{sum(unusable.values()):,}",
                "of": f"{sum(marked.values()):,}",
            }
            if unusable == marked:
                mend = "choose a task with these severities, or rename them in the file"
                wrong = [
                    Remark("task", f"all errors marked in the file ({{severities}}) {what}; {mend}", values)
                ]
            remarks = [
                Remark("", f"{{n}} of the {{of}} errors marked in examples ({{severities}}) {what}", values)
            ]
        return check_examples(settings, pool, rated, by_rules, _NOBODY, wrong, remarks)

    also_signed = staticmethod(rated_signed)

    details = staticmethod(error_rows)

    record_problems = staticmethod(error_problems)

    def score_bounds(self, _: str) -> tuple[float, float]:
        """See JudgeKind."""
        return (-FURTHEST_SCORE, 0.0)

    def shortfalls(self, records: Sequence[AutoMqmRecord], _: Mapping[str, object]) -> Iterator[Degeneracy]:
        """Report quotes that are not in the text, answers rejected for them, and invented categories."""
        trials = [trial for record in records for trial in record.trials]
        errors = [error for trial in trials for error in trial.errors or ()]
        quoting = [error for error in errors if error.located != "nothing quoted"]
        lost = sum(error.located == "not found" for error in quoting)
        if lost:
            sentence = f"Quotes not found: {lost:,} of {len(quoting):,} are not in the text. Their errors do not count."
            yield Degeneracy("not found", lost, len(quoting), sentence)
        rejected = sum(trial.reason == NOT_IN_TEXT for trial in trials)
        if rejected:
            sentence = (
                f"Quotes not found: {rejected:,} of {len(trials):,} answers were rejected because fewer than "
                f"{FOUND_SHARE:.0%} of their quotes are in the text."
            )
            yield Degeneracy("not found", rejected, len(trials), sentence)
        invented = sum(not error.offered for error in errors)
        if invented:
            sentence = f"Invented categories: {invented:,} of {len(errors):,} errors have a category that was not offered."
            yield Degeneracy("invented", invented, len(errors), sentence)

    def suits(self, task: RatingTask, _: Mapping[str, object]) -> bool:
        """See JudgeKind."""
        return task.spans is not None

    in_file = staticmethod(examples_in)


KIND = AutoMqmKind()
