"""Shared parts of judges that use people's ratings: the task, and the rated texts shown as examples."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator

from core.errors import InputError
from core.formats.spans.mqm import weight_of
from core.formats.tasks import dump_task, find_task, parse_task, shipped_tasks, unusable_tasks
from core.judges.kind import (
    NOTHING,
    SHORT_SHA,
    Bench,
    Compared,
    JudgeSettings,
    bound_problems,
    repeats_setting,
    single_line,
)
from core.llm.defusing import defused
from core.llm.prompts import Prompt
from core.schema.runs import RULES, Attachment
from core.schema.scores import ErrorSpan, JudgeOutput, RatedSet, RatedText, Rating, ScorableOutput, score_of
from core.schema.settings import About, Remark, SettingField, refuse, seed_setting, setting
from core.schema.study import Dimension, RatingTask
from core.tables.columns import LABEL_PAIR
from core.tables.reading import same_name, sha256_of, shown
from core.tables.references import names_reference

Item = tuple[str, str]
"""An item's id and source. Two sources with the same id, as in files with several test sets, are two items; white space
does not matter.
"""
ExamplesFrom = Literal["specialist", "shuffled", "fixed", "none"]
"""Where a text's examples come from: its own source; the whole test set; one other source, by the same rater if ratings
name one; none. Texts of the tested system are never examples."""
MERGED = ""
"""The rater of merged examples: one example per text, from all raters' ratings."""
_NEARLY = 1e-6
_Indices = NDArray[np.int64]


@dataclass(frozen=True)
class ExampleUsed:
    """A rated text shown to a judge. The leak test checks its system."""

    item_id: str
    system: str
    rater: str | None
    """None: the ratings name no rater, or several raters were merged."""
    n_errors: int = 0
    """Number of errors shown; 0 for examples of scores."""


@dataclass(frozen=True)
class ShownExample:
    """A rated text in the form shown to a judge."""

    output: ScorableOutput
    errors: tuple[tuple[str, ErrorSpan], ...]
    """(marked words, error) in the order of the text, without errors in the source."""
    score: float | None
    """The raters' mean on the pool's dimension; None: examples are errors."""
    used: ExampleUsed


class ExamplePool:
    """The rated texts of a file, from which each text's examples are drawn.

    dimension: examples are scores on this dimension; None: examples are marked errors. Texts without such ratings are
    not examples, nor are references (systems such as `refA`, `reference`). Each language or language pair is a test
    set of its own; examples never come from another one.

    Draws depend only on the seed, the text and the ratings, not on the order or number of calls.
    """

    def __init__(self, texts: Sequence[RatedText], *, dimension: Dimension | None = None) -> None:
        self.dimension = dimension
        self._texts = tuple(texts)
        self._sets: dict[str, dict[tuple[str, str], _TestSet]] = {}

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """Raters whose ratings can be examples; empty if the ratings name no rater."""
        ratings = (one for text in self._texts for one in self._of_use(text, MERGED))
        return tuple(dict.fromkeys(one.rater for one in ratings if one.rater is not None))

    def n_texts(self, rater: str = MERGED) -> int:
        """Number of texts rated by this rater (or anybody), which can be examples."""
        return sum(len(one.examples) for one in self._of(rater).values())

    def severities(self, rater: str = MERGED) -> Mapping[str, int]:
        """Severity, as spelt in the file -> number of errors in texts that can be examples."""
        shown = (one for test_set in self._of(rater).values() for one in test_set.examples)
        return Counter(span.severity for one in shown for _, span in one.errors)

    def examples_for(
        self,
        text: RatedText,
        *,
        variant: ExamplesFrom,
        n_examples: int = 0,
        filtered: bool = False,
        rater: str = MERGED,
        seed: int = 0,
    ) -> tuple[ShownExample, ...]:
        """The text's examples. All variants (see ExamplesFrom) have as many as `specialist`.

        specialist: in the order of the file. shuffled: all specialist examples of the system's texts, permuted and dealt
        out again, separately for each system and seed. fixed: the examples of one other item rated by the same people,
        namely the next item with enough examples in a circle that the seed draws.
        n_examples: the first n in an order drawn for this text, so that larger sets contain smaller ones, shown in the
        order of the whole set; 0: all. filtered: first leaves out examples whose text is the judged one, and errors on
        words that somebody marked in it.
        """
        test_set = self._of(rater).get(test_set_of(text.output))
        if variant == "none" or test_set is None:
            return ()
        chosen = [test_set.examples[n] for n in test_set.drawn(text.output, variant, seed)]
        if filtered:
            chosen = _filtered(chosen, text)
        if 0 < n_examples < len(chosen):
            order = _rng(seed, "first", *_named(text.output)).permutation(len(chosen))
            chosen = [chosen[n] for n in sorted(order[:n_examples])]
        return tuple(chosen)

    def notes(self, variant: ExamplesFrom, *, rater: str = MERGED, seed: int = 0) -> tuple[str, ...]:
        """Notes on this variant's examples, shown with the results."""
        if variant == "none":
            return ()
        notes = []
        if references := sorted({t.output.system for t in self._texts if names_reference(t.output.system)}):
            notes.append(f"references are not used as examples: {', '.join(references)}")
        notes += [
            f"{', '.join(alike)} count as one system: its texts are not examples for each other"
            for alike in _alike(text.output.system for text in self._texts)
        ]
        if variant == "fixed" and not self.raters:
            notes.append("the ratings name no rater: the other source may have been rated by someone else")
        found = Counter[str]()
        for text in self._texts if variant == "fixed" else ():
            if (test_set := self._of(rater).get(test_set_of(text.output))) is not None:
                found.update(test_set.shortcomings(text.output, seed))
        return (*notes, *(f"{why}: {n} of {len(self._texts)} texts" for why, n in found.items()))

    def _of(self, rater: str) -> "dict[tuple[str, str], _TestSet]":
        """Test set -> examples by this rater."""
        if rater not in self._sets:
            shown: dict[tuple[str, str], list[tuple[ShownExample, frozenset[str | None]]]] = {}
            for text in self._texts:
                ratings = self._of_use(text, rater)
                if ratings and not names_reference(text.output.system):
                    raters = frozenset(one.rater for one in ratings)
                    shown.setdefault(test_set_of(text.output), []).append(
                        (self._shown(text, ratings), raters)
                    )
            self._sets[rater] = {name: _TestSet(examples) for name, examples in shown.items()}
        return self._sets[rater]

    def _of_use(self, text: RatedText, rater: str) -> tuple[Rating, ...]:
        """The text's ratings that make it usable as an example."""
        if self.dimension is not None:
            ratings = _scores_on(self.dimension, text.ratings)
        else:
            ratings = tuple(one for one in text.ratings if one.spans is not None)
        return tuple(one for one in ratings if rater in (MERGED, one.rater))

    def _shown(self, text: RatedText, ratings: Sequence[Rating]) -> ShownExample:
        raters = {one.rater for one in ratings}
        rater = raters.pop() if len(raters) == 1 else None
        own = text.output
        if self.dimension is not None:
            score = sum(one.score for one in ratings) / len(ratings)
            return ShownExample(own, (), score, ExampleUsed(own.item_id, own.system, rater))
        errors = tuple(_quoted(own.text, _merged_errors(ratings)))
        return ShownExample(own, errors, None, ExampleUsed(own.item_id, own.system, rater, len(errors)))


class _TestSet:
    """The examples of one test set by one rater, or by all, and the draws from them."""

    def __init__(self, examples: Sequence[tuple[ShownExample, frozenset[str | None]]]) -> None:
        self.examples = tuple(one for one, _ in examples)
        self._system = np.array([same_name(one.output.system) for one in self.examples], dtype=object)
        self._items: dict[Item, list[int]] = {}
        raters: dict[Item, frozenset[str | None]] = {}
        for n, (one, own) in enumerate(examples):
            item = _item(one.output)
            self._items.setdefault(item, []).append(n)
            raters[item] = raters.get(item, frozenset()) | own
        self._raters = raters
        self._dealt: dict[tuple[str, int], dict[Item, _Indices]] = {}
        self._circles: dict[tuple[frozenset[str | None] | None, int], _Circle] = {}

    def drawn(self, output: ScorableOutput, variant: ExamplesFrom, seed: int) -> Sequence[int]:
        """Indices of a text's examples, before filtering."""
        system = same_name(output.system)
        own = self._others(_item(output), system)
        if variant == "specialist" or not own:
            return own
        if variant == "shuffled":
            return [int(n) for n in self._deal(system, seed)[_item(output)]]
        donor, _ = self._donor(output, seed)
        there = [] if donor is None else self._others(donor, system)
        if len(there) > len(own):
            order = _rng(seed, "donor", *_named(output)).permutation(len(there))
            there = [there[n] for n in sorted(order[: len(own)])]
        return there

    def shortcomings(self, output: ScorableOutput, seed: int) -> list[str]:
        """Rules of `fixed` that could not be followed for this text."""
        system = same_name(output.system)
        own = self._others(_item(output), system)
        if not own:
            return []
        donor, same_raters = self._donor(output, seed)
        if donor is None:
            return ["there is no other source"]
        short = len(self._others(donor, system)) < len(own)
        return [
            *(["no other source has enough examples, so fewer are shown"] if short else []),
            *([] if same_raters else ["no other source was rated by the same people, so its raters differ"]),
        ]

    def _others(self, item: Item, system: str) -> list[int]:
        """The examples of an item from other systems; names are compared by same_name."""
        return [n for n in self._items.get(item, ()) if self._system[n] != system]

    def _deal(self, system: str, seed: int) -> Mapping[Item, _Indices]:
        """Item -> its share of all other systems' examples, permuted; as many as it has itself."""
        key = system, seed
        if key not in self._dealt:
            others = np.flatnonzero(self._system != system)
            permuted = _rng(seed, "shuffled", system).permutation(others)
            sizes = [len(self._others(item, system)) for item in self._items]
            ends = np.cumsum(sizes)
            self._dealt[key] = {
                item: permuted[end - size : end]
                for item, size, end in zip(self._items, sizes, ends, strict=True)
            }
        return self._dealt[key]

    def _donor(self, output: ScorableOutput, seed: int) -> tuple[Item | None, bool]:
        """The other item whose examples a text gets, and whether the same people rated it."""
        item, system = _item(output), same_name(output.system)
        donor = self._next(item, system, self._circle(self._raters[item], seed))
        if donor is not None:
            return donor, True
        return self._next(item, system, self._circle(None, seed)), False

    def _next(self, item: Item, system: str, circle: "_Circle") -> Item | None:
        """The next item in the circle with enough examples, else the one with the most; None: no other item has any."""
        wanted, best, most = len(self._others(item, system)), None, 0
        for other in circle.after(item):
            n = len(self._others(other, system)) if other[0] != item[0] else 0
            if n >= wanted:
                return other
            if n > most:
                best, most = other, n
        return best

    def _circle(self, raters: frozenset[str | None] | None, seed: int) -> "_Circle":
        """The items rated by exactly these people; None: all items."""
        key = raters, seed
        if key not in self._circles:
            items = [one for one in self._items if raters is None or self._raters[one] == raters]
            names = ["anybody"] if raters is None else sorted(f"rater {name}" for name in raters)
            order = _rng(seed, "fixed", *names).permutation(len(items))
            self._circles[key] = _Circle([items[n] for n in order])
        return self._circles[key]


class _Circle:
    """Items in a drawn circular order; the next item is never the item itself."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._place = {item: n for n, item in enumerate(items)}

    def after(self, item: Item) -> Iterator[Item]:
        """All other items, starting with the next one."""
        place = self._place[item]
        for step in range(1, len(self._items)):
            yield self._items[(place + step) % len(self._items)]


def _filtered(examples: Sequence[ShownExample], text: RatedText) -> list[ShownExample]:
    """Examples filtered as in Specialist, appendix B.2.1: without the judged text, and without errors on words marked in it."""
    spans = (span for one in text.ratings for span in one.spans or ())
    marked = {quote for quote, _ in _quoted(text.output.text, spans)}
    kept = []
    for one in examples:
        if one.output.text != text.output.text:
            errors = tuple(error for error in one.errors if error[0] not in marked)
            used = one.used if one.score is not None else replace(one.used, n_errors=len(errors))
            kept.append(replace(one, errors=errors, used=used))
    return kept


def _alike(systems: Iterable[str]) -> list[list[str]]:
    """Groups of different names that same_name treats as one system."""
    names: dict[str, dict[str, None]] = {}
    for system in dict.fromkeys(systems):
        names.setdefault(same_name(system), {})[system] = None
    return [list(alike) for alike in names.values() if len(alike) > 1]


def test_set_of(output: ScorableOutput) -> tuple[str, str]:
    """Language and language pair of a text. Examples come from the same one, because ids can repeat across test sets."""
    return output.language.casefold(), output.labels.get(LABEL_PAIR, "")


def _item(output: ScorableOutput) -> Item:
    return output.item_id, " ".join((output.source or "").split())


def _named(output: ScorableOutput) -> tuple[str, ...]:
    """Key that identifies a text in its file."""
    labels = (f"{name}={value}" for name, value in sorted(output.labels.items()))
    return output.item_id, output.system, output.level or "", *labels


def _rng(seed: int, *names: str) -> np.random.Generator:
    """A separate generator for every purpose and text, so that draws do not depend on earlier draws."""
    key = "\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()[:16]))


def _merged_errors(ratings: Iterable[Rating]) -> list[ErrorSpan]:
    """The errors of several ratings of one text, without duplicates between raters.

    An error that one rater marked twice stays twice, because it counts twice in the score.
    """
    merged: list[ErrorSpan] = []
    for rating in ratings:
        known = {_what(span) for span in merged}
        merged += [span for span in rating.spans or () if _what(span) not in known]
    return merged


def _quoted(text: str, spans: Iterable[ErrorSpan]) -> list[tuple[str, ErrorSpan]]:
    """The marked words with their errors, in the order of the text, without errors in the source."""
    own = sorted((span for span in spans if not span.in_source), key=lambda span: (span.start, span.end))
    return [(text[span.start : span.end], span) for span in own]


def _scores_on(dimension: Dimension, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
    """The ratings that are scores on this dimension, within its scale.

    MQM scores (minus the weights of errors) do not fit a scale that ends above 0: their 0 means no errors, but would
    be the scale's worst score.
    """
    return tuple(
        one
        for one in ratings
        if one.dimension == dimension.name
        and dimension.lowest <= one.score <= dimension.highest
        and not (dimension.highest > 0 and weighs_its_errors(one))
    )


def _what(span: ErrorSpan) -> tuple[int, int, str, str, bool]:
    return span.start, span.end, span.severity, span.category, span.in_source


def weighs_its_errors(rating: Rating) -> bool:
    """Whether the score is minus the MQM weights of the rating's own errors."""
    if rating.spans is None:
        return False
    weighed = (
        span if span.weight is not None else replace(span, weight=weight_of(span.category, span.severity))
        for span in rating.spans
    )
    return abs(rating.score - score_of(weighed)) < _NEARLY


MOST_EXAMPLES = 1000
"""Most rated texts in one prompt."""
MOST_ERRORS = 10**6
"""Most errors in one example."""
MOST_NAMED = 10
"""Most systems, raters or dimensions that a message names."""
SCORE_COLUMNS = ("what", "dimension", "repeat", "score", "examples", "why", "reason")
"""Columns of details.csv for judges that give scores. examples: texts shown to the judge."""
TASK_AND_RATINGS = (
    SettingField("task", About("Task", "what to judge in every text"), "text", ""),
    SettingField("ratings", About("Ratings", "people's ratings of the texts"), "texts", ()),
)
"""Fields that problems mention but that are not settings of these judges."""
NOT_JUDGED = "{n} texts of other systems are not judged"
ADD_RATINGS = "add {ratings}, or choose a file that has them"
_CHOOSING = ("n_examples", "filtered", "rater")
"""Fields that choose the examples to show."""
Systems = Annotated[tuple[str, ...], AfterValidator(lambda names: tuple(dict.fromkeys(names)))]
"""Names of systems, without duplicates."""


class RatedSettings(JudgeSettings):
    """Settings of a judge that can use people's ratings. Examples and held-out items are drawn at random."""

    DRAWN: ClassVar[bool] = True
    if TYPE_CHECKING:
        # Each judge declares its own fields, because the order differs in saved runs and signatures.
        seed: int

    @property
    def compares_with(self) -> Compared:
        """See JudgeSettings."""
        return "source"


class ExampleSettings(RatedSettings):
    """Settings of a judge with other systems' rated texts as examples."""

    if TYPE_CHECKING:
        examples: ExamplesFrom
        n_examples: int
        rater: str
        only: Systems
        repeats: int
        temperature: float | None

    @property
    def shows_examples(self) -> bool:
        """See JudgeSettings."""
        return self.examples != "none"

    def judges(self, text: RatedText) -> bool:
        """Whether the text's system is to be judged: all, or those named in `only`."""
        return not self.only or text.output.system in self.only

    def remarks(self, *, by_rules: bool) -> Iterator[Remark]:
        """See JudgeSettings; also warns about repeats that cannot differ."""
        drawn_anew = self.examples in ("shuffled", "fixed") or (self.shows_examples and self.n_examples > 0)
        if drawn_anew or self.repeats == 1:
            return
        if by_rules:
            text = "{n} repeats are useless: they use the same examples and return the same answer"
            yield Remark("", text, {"n": self.repeats})
        else:
            yield from super().remarks(by_rules=by_rules)

    def called(self, name: str, *, by_rules: bool) -> tuple[str, ...]:
        """See JudgeSettings."""
        words = {"n_examples": f"{self.n_examples}-examples", "filtered": "filtered", "rater": self.rater}
        return (name, *self.unusual("examples"), *(words[one] for one in self._choices()))

    def idle(self, backend: str) -> frozenset[str]:
        """Settings of the examples, if none are shown."""
        return frozenset() if self.shows_examples else frozenset(_CHOOSING) & type(self).model_fields.keys()

    def pool(self, texts: Sequence[RatedText], task: RatingTask) -> ExamplePool:
        """The texts that examples are drawn from: those in which people marked errors."""
        return ExamplePool(texts)

    def draw(self, pool: ExamplePool, text: RatedText, repeat: int) -> tuple[ShownExample, ...]:
        """The text's examples; each repeat draws its own."""
        return pool.examples_for(
            text,
            variant=self.examples,
            n_examples=self.n_examples,
            filtered="filtered" in self._choices(),
            rater=self.rater,
            seed=self.seed + repeat,
        )

    def _choices(self) -> tuple[str, ...]:
        """Fields of the examples that are not at their defaults."""
        return tuple(one for one in _CHOOSING if one in type(self).model_fields and self.unusual(one))


EXAMPLES: Any = setting(
    "specialist",
    "Examples",
    "other systems' rated texts: for the same source; from the whole file, shuffled; for one other source; none",
    words={
        "specialist": "same source: people's ratings of the other systems' texts for this item",
        "shuffled": "shuffled: the same examples redistributed, so that most belong to other sources",
        "fixed": "one other source, rated by the same person if ratings name raters",
        "none": "none",
    },
)
N_EXAMPLES: Any = setting(
    0,
    "Number of examples (0: all)",
    "maximum number of examples per text (0: all); a larger set contains the smaller ones",
    within=(0, MOST_EXAMPLES),
    metavar="K",
)
RATER: Any = setting(
    MERGED,
    "Rater of the examples",
    "whose ratings are shown",
    metavar="NAME",
    words={MERGED: "all raters together"},
)
ONLY: Any = setting(
    (),
    "Judge only these systems",
    "system whose texts are judged; texts of other systems serve as examples",
    metavar="SYSTEM",
    words={"": "all systems"},
    scored=False,
)
DRAWS: Any = repeats_setting("number of draws of examples; the score is the mean")
DRAWING_SEED: Any = seed_setting("seed of the first draw and its answers; later repeats add 1")


def examples_in(bench: Bench) -> dict[str, tuple[str, ...]]:
    """See JudgeKind.in_file: the raters of possible examples, and the systems that can be judged."""
    raters = sorted({one.rater for text in bench.texts for one in text.ratings if one.rater})
    systems = dict.fromkeys(text.output.system for text in bench.texts)
    return {"rater": (MERGED, *raters) if raters else (), "only": tuple(systems)}


def task_attachment(usual: str, help: str) -> Attachment:
    """The task file. usual: the shipped file used by default; help: the parts that the judge reads."""
    return Attachment(
        name="task_text",
        option="task",
        label="Task",
        help=help,
        usual=usual,
        find=lambda name: dump_task(find_task(name)),
        read=parse_task,
        dump=dump_task,
        shipped=shipped_tasks,
        unusable=unusable_tasks,
    )


def task_of(bench: Bench) -> RatingTask:
    """The run's task. Raises InputError."""
    return parse_task(bench.attached, "task.yaml")


def severities_offered(output: JudgeOutput) -> frozenset[str] | None:
    """Severities in the judge's examples, in lower case; None: all or unknown."""
    if output.model == RULES or not output.attached:
        return None
    spans = parse_task(output.attached, output.name).spans
    return None if spans is None else frozenset(one.casefold() for one in spans.severities)


def rated_signed(settings: JudgeSettings, bench: Bench) -> dict[str, object]:
    """See JudgeKind.also_signed: the task, and the file with the examples."""
    return {
        "task": f"{task_of(bench).name}-{sha256_of(bench.attached.encode())[:SHORT_SHA]}",
        "ratings": bench.ratings[:SHORT_SHA] if settings.shows_examples else "",
    }


def prompt_for(bench: Bench, purpose: str) -> Prompt:
    """The prompt for this purpose. Raises InputError if there is none."""
    if purpose not in bench.prompts:
        raise InputError(f"There is no prompt for {purpose}.")
    return bench.prompts[purpose]


def given_in(output: ScorableOutput, task: RatingTask, prompt: Prompt) -> str:
    """The prompt's "source" section: the source, and the reference if the task shows it to raters."""
    source = defused(output.full_source or "", [prompt]).strip()
    reference = defused(output.reference or "", [prompt]).strip() if task.show_reference else ""
    if not reference:
        return source or NOTHING
    return f"{source or NOTHING}\n\n{task.labels.headings.reference}:\n{reference}"


def languages_of(output: ScorableOutput, prompt: Prompt) -> dict[str, str]:
    """Languages of source and text for the prompt: the file's tags, where given."""
    source, _, _ = output.labels.get(LABEL_PAIR, "").partition("-")
    named = {"source_language": source, "language": "" if output.language == "und" else output.language}
    return {name: single_line(defused(tag, [prompt])) or NOTHING for name, tag in named.items()}


def refuse_rated(problems: Sequence[Remark], settings: JudgeSettings, rated: RatedSet | None = None) -> None:
    """Raise SettingsError if there are problems with the settings and the task, or with the file."""
    start = {} if rated is None else {"what": f"{shown(rated.file_name)} does not fit these settings"}
    refuse(problems, type(settings), also=TASK_AND_RATINGS, **start)


def pool_problems(settings: ExampleSettings, pool: ExamplePool, nobody: Remark) -> list[Remark]:
    """Why a file's ratings cannot be this judge's examples. nobody: the problem if none of them can."""
    if not settings.shows_examples:
        return []
    if not pool.n_texts():
        return [nobody]
    if settings.rater == MERGED or settings.rater in pool.raters:
        return []
    there = (
        f"choose from {listed(pool.raters)}"
        if pool.raters
        else "its ratings name no rater; leave this setting out"
    )
    text = "{name} gave no such ratings in the file; {there}"
    return [Remark("rater", text, {"name": shown(settings.rater), "there": there})]


def nobody_rated(what: str, values: Mapping[str, object] | None = None) -> Remark:
    """The problem of a file without usable ratings. what: the missing action, such as "rated X", with `values` filled in."""
    return Remark(
        "examples", f"nobody {what}: {ADD_RATINGS}, or choose {{examples=none}}", dict(values or {})
    )


def check_examples(
    settings: ExampleSettings,
    pool: ExamplePool,
    rated: RatedSet,
    by_rules: bool,
    nobody: Remark,
    wrong: Sequence[Remark] = (),
    remarks: Sequence[Remark] = (),
) -> tuple[Remark, ...]:
    """Check a file that supplies examples before its run costs anything; returns remarks.

    pool: the file's rated texts. wrong, remarks: further problems and remarks about the examples. Raises SettingsError
    with everything that the file lacks for these settings, and how to add it.
    """
    judged = [text for text in rated.texts if settings.judges(text)]
    systems = list(dict.fromkeys(text.output.system for text in rated.texts))
    unknown, there = "{name} has no text in the file; choose from {systems}", listed(systems)
    problems = [
        *(
            Remark("only", unknown, {"name": shown(name), "systems": there})
            for name in settings.only
            if name not in systems
        ),
        *(found := [*pool_problems(settings, pool, nobody), *wrong]),
    ]
    bare = 0
    if settings.shows_examples and not found:
        # No variant has examples for a text if nobody rated another system's text for its item.
        bare = sum(not pool.examples_for(text, variant="specialist", rater=settings.rater) for text in judged)
        if bare == len(judged) and not problems:
            text = "no text to be judged has another system's rated text for its item, so there are no examples; "
            problems.append(Remark("examples", f"{text}{ADD_RATINGS}, or choose {{examples=none}}"))
    refuse_rated(problems, settings, rated)
    others = len(rated.texts) - len(judged)
    serve = "; those with ratings serve as examples" if settings.shows_examples else ""
    return (
        *([Remark("", f"{NOT_JUDGED}{serve}", {"n": f"{others:,}"})] if others else ()),
        *(_pool_remarks(settings, pool, judged, bare) if settings.shows_examples else ()),
        *remarks,
        *settings.remarks(by_rules=by_rules),
    )


def _pool_remarks(
    settings: ExampleSettings, pool: ExamplePool, judged: Sequence[RatedText], bare: int
) -> Iterator[Remark]:
    of = f"of the {len(judged):,} texts to be judged"
    if n_rated := sum(bool(text.ratings) for text in judged):
        held_out = "a system's own texts are never examples for it"
        yield Remark("", f"{n_rated:,} {of} have ratings: {held_out}")
    if bare:
        yield Remark(
            "", f"{bare:,} {of} have no other system's rated text for the same item: they get no examples"
        )
    for note in pool.notes(settings.examples, rater=settings.rater, seed=settings.seed):
        yield Remark("", "{note}", {"note": note})


def score_on(dimension: Dimension) -> dict[str, object]:
    """JSON schema of a score: one of the offered scores, or any number on a continuous scale."""
    if dimension.classes:
        return {"enum": [whole(value) for value in dimension.classes]}
    return {"type": "number", "minimum": dimension.lowest, "maximum": dimension.highest}


def whole(value: float) -> float:
    """The value as an integer if it is whole, as in JSON."""
    return int(value) if value == int(value) else value


def score_digits(value: float) -> str:
    """A number on a scale, as written in prompts and replies."""
    return f"{value:.10g}"


def dimensions_in(texts: Sequence[RatedText]) -> list[str]:
    """Names of the dimensions that people rated."""
    return list(dict.fromkeys(rating.dimension for text in texts for rating in text.ratings))


def rated_instead(there: Sequence[str]) -> str:
    """The dimensions that were rated instead, as the end of a sentence."""
    return f" (rated dimensions: {listed(there)})" if there else ""


def listed(names: Sequence[str], between: str = ", ") -> str:
    """Names from a file for a message: the first ones, and the number of others."""
    named = between.join(map(shown, names[:MOST_NAMED]))
    return f"{named} and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else named


def example_problems(name: str, examples: Sequence[ExampleUsed]) -> Iterator[str]:
    """Invalid examples in a record. name: the record's field with the examples."""
    return bound_problems(name, examples, n_errors=(0, MOST_ERRORS))
