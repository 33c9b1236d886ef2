"""What judges share that people's ratings may stand behind: a task, and which rated texts a judge is shown beside the text that it judges."""

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
from core.formats.mt_metrics_eval import names_reference
from core.formats.spans.mqm import score_of, weight_of
from core.formats.tasks import dump_task, find_task, parse_task, shipped_tasks, unusable_tasks
from core.judges.kind import (
    SHORT_SHA,
    Bench,
    Compared,
    JudgeSettings,
    bound_problems,
    in_a_line,
    repeats_setting,
)
from core.llm.defusing import defused
from core.llm.prompts import Prompt
from core.schema.runs import Attachment
from core.schema.scores import ErrorSpan, RatedSet, RatedText, Rating, ScorableOutput
from core.schema.settings import About, Remark, SettingField, refuse, seed_setting, setting
from core.schema.study import Dimension, RatingTask
from core.tables.columns import LABEL_PAIR
from core.tables.reading import same_name, sha256_of, shown

Item = tuple[str, str]
"""An item's id and its source: two sources under one id, as files of several test sets have them, are two items. Blanks
make no other source.
"""
ExamplesFrom = Literal["specialist", "shuffled", "fixed", "none"]
"""Where a text's examples come from, the tested system's always held out: its own source; the whole test set; one other
source, of the same rater where ratings carry one; nowhere."""
MERGED = ""
"""As the rater of examples: all raters' ratings of a text together, one example a text."""
_NEARLY = 1e-6
_Indices = NDArray[np.int64]


@dataclass(frozen=True)
class ExampleUsed:
    """A rated text that a judge was shown. Whose it was is what the leak test looks at."""

    item_id: str
    system: str
    rater: str | None
    """None: the ratings carry none, or several raters were merged."""
    n_errors: int = 0
    """That it showed; 0 for examples of scores."""


@dataclass(frozen=True)
class ShownExample:
    """A rated text as a judge is shown it."""

    output: ScorableOutput
    errors: tuple[tuple[str, ErrorSpan], ...]
    """(marked words, error) in the order in which they stand in the text; errors in the source are left out."""
    score: float | None
    """On the pool's dimension, the raters' mean; None: the examples are of errors."""
    used: ExampleUsed


class ExamplePool:
    """The rated texts of a file, from which every text's examples are drawn.

    dimension: examples are scores on it; None: examples are marked errors. Texts that nobody rated, or not so, are no
    examples, and neither are references (`refA`, `reference`) among the systems. A file of several languages, or
    language pairs, is as many test sets: no example is from another one.

    Draws depend on the seed, the text and the ratings alone, in whatever order and however often they are asked for.
    """

    def __init__(self, texts: Sequence[RatedText], *, dimension: Dimension | None = None) -> None:
        self.dimension = dimension
        self._texts = tuple(texts)
        self._sets: dict[str, dict[tuple[str, str], _TestSet]] = {}

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """Who gave ratings that can be examples; empty where the ratings carry no rater."""
        ratings = (one for text in self._texts for one in self._of_use(text, MERGED))
        return tuple(dict.fromkeys(one.rater for one in ratings if one.rater is not None))

    def n_texts(self, rater: str = MERGED) -> int:
        """Texts that can be examples: rated by this rater, or by anybody."""
        return sum(len(one.examples) for one in self._of(rater).values())

    def severities(self, rater: str = MERGED) -> Mapping[str, int]:
        """Severity, as the file has it -> errors of all texts that can be examples."""
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
        """The text's examples; see ExamplesFrom for the variants, which all have as many as `specialist`.

        specialist: in the order of the file. shuffled: the specialist's examples of all the system's texts, permuted and
        dealt out anew, a system and a seed at a time. fixed: those of one other item that the same people rated: the
        next one in a circle of the items that the seed draws, of those that have enough.
        n_examples: the first so many of an order drawn for this text, so that smaller sets lie in larger ones; they
        are shown in the order that all would have. 0: all. filtered: before that, without examples whose text is the
        judged one, and without errors on words that somebody marked in it.
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
        """What one should know of this variant's examples: said beside the results."""
        if variant == "none":
            return ()
        notes = []
        if references := sorted({t.output.system for t in self._texts if names_reference(t.output.system)}):
            notes.append(f"texts of references are no examples: {', '.join(references)}")
        notes += [
            f"{', '.join(alike)} are taken for one system: its texts are no examples for one another"
            for alike in _alike(text.output.system for text in self._texts)
        ]
        if variant == "fixed" and not self.raters:
            notes.append("the ratings carry no rater: the other source may have been rated by somebody else")
        found = Counter[str]()
        for text in self._texts if variant == "fixed" else ():
            if (test_set := self._of(rater).get(test_set_of(text.output))) is not None:
                found.update(test_set.shortcomings(text.output, seed))
        return (*notes, *(f"{why}: {n} of {len(self._texts)} texts" for why, n in found.items()))

    def _of(self, rater: str) -> "dict[tuple[str, str], _TestSet]":
        """Test set -> its examples by this rater."""
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
        """The text's ratings that can make it an example."""
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
    """The examples of one test set by one rater, or by all, and what is drawn of them."""

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
        """Numbers of a text's examples, before any are filtered."""
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
        """What `fixed` could not keep to for this text."""
        system = same_name(output.system)
        own = self._others(_item(output), system)
        if not own:
            return []
        donor, same_raters = self._donor(output, seed)
        if donor is None:
            return ["there is no other source"]
        short = len(self._others(donor, system)) < len(own)
        return [
            *(["no other source has enough examples, so there are fewer"] if short else []),
            *([] if same_raters else ["no other source was rated by the same people, so others rated it"]),
        ]

    def _others(self, item: Item, system: str) -> list[int]:
        """The examples of an item that are not of this system, named as same_name does."""
        return [n for n in self._items.get(item, ()) if self._system[n] != system]

    def _deal(self, system: str, seed: int) -> Mapping[Item, _Indices]:
        """Item -> its share of all other systems' examples, permuted: as many as it has of its own."""
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
        """The other item that gives a text its examples, and whether the same people rated it."""
        item, system = _item(output), same_name(output.system)
        donor = self._next(item, system, self._circle(self._raters[item], seed))
        if donor is not None:
            return donor, True
        return self._next(item, system, self._circle(None, seed)), False

    def _next(self, item: Item, system: str, circle: "_Circle") -> Item | None:
        """The next item of the circle with enough examples; else the one with most; None: no other has any."""
        wanted, best, most = len(self._others(item, system)), None, 0
        for other in circle.after(item):
            n = len(self._others(other, system)) if other[0] != item[0] else 0
            if n >= wanted:
                return other
            if n > most:
                best, most = other, n
        return best

    def _circle(self, raters: frozenset[str | None] | None, seed: int) -> "_Circle":
        """The items that these people rated, all of them, and nobody else; None: all items."""
        key = raters, seed
        if key not in self._circles:
            items = [one for one in self._items if raters is None or self._raters[one] == raters]
            names = ["anybody"] if raters is None else sorted(f"rater {name}" for name in raters)
            order = _rng(seed, "fixed", *names).permutation(len(items))
            self._circles[key] = _Circle([items[n] for n in order])
        return self._circles[key]


class _Circle:
    """Items in a drawn order, the first one after the last: stepping to the next one maps no item to itself."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._place = {item: n for n, item in enumerate(items)}

    def after(self, item: Item) -> Iterator[Item]:
        """All other items, the next one first."""
        place = self._place[item]
        for step in range(1, len(self._items)):
            yield self._items[(place + step) % len(self._items)]


def _filtered(examples: Sequence[ShownExample], text: RatedText) -> list[ShownExample]:
    """Without what 002's appendix B.2.1 removes: the judged text itself, and errors on words marked in it."""
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
    """Different names that a reader could not tell apart, those of one system together."""
    names: dict[str, dict[str, None]] = {}
    for system in dict.fromkeys(systems):
        names.setdefault(same_name(system), {})[system] = None
    return [list(alike) for alike in names.values() if len(alike) > 1]


def test_set_of(output: ScorableOutput) -> tuple[str, str]:
    """Language and language pair: examples come from a text's own, as an id may stand in several."""
    return output.language.casefold(), output.labels.get(LABEL_PAIR, "")


def _item(output: ScorableOutput) -> Item:
    return output.item_id, " ".join((output.source or "").split())


def _named(output: ScorableOutput) -> tuple[str, ...]:
    """What tells a text from all others of its file."""
    labels = (f"{name}={value}" for name, value in sorted(output.labels.items()))
    return output.item_id, output.system, output.level or "", *labels


def _rng(seed: int, *names: str) -> np.random.Generator:
    """A generator of its own for every purpose and text: draws do not depend on what was drawn before."""
    key = "\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()[:16]))


def _merged_errors(ratings: Iterable[Rating]) -> list[ErrorSpan]:
    """The errors of several ratings of one text; of raters who marked the same, in the same way, it stands once.

    What one rater marked twice stays twice, as it counts twice in the score.
    """
    merged: list[ErrorSpan] = []
    for rating in ratings:
        known = {_what(span) for span in merged}
        merged += [span for span in rating.spans or () if _what(span) not in known]
    return merged


def _quoted(text: str, spans: Iterable[ErrorSpan]) -> list[tuple[str, ErrorSpan]]:
    """The words that errors mark, as they come in the text; errors in the source are left out."""
    own = sorted((span for span in spans if not span.in_source), key=lambda span: (span.start, span.end))
    return [(text[span.start : span.end], span) for span in own]


def _scores_on(dimension: Dimension, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
    """The ratings that are scores of this dimension, on its scale.

    A score that is minus the weights of its own errors is on no scale that ends above 0: there its 0 would be the worst
    score, and it means that nothing is wrong.
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
    """Whether the score is minus the MQM weights of the errors that were marked with it."""
    if rating.spans is None:
        return False
    weighed = (
        span if span.weight is not None else replace(span, weight=weight_of(span.category, span.severity))
        for span in rating.spans
    )
    return abs(rating.score - score_of(weighed)) < _NEARLY


MOST_EXAMPLES = 1000
"""Rated texts that one prompt may show."""
MOST_ERRORS = 10**6
"""That one example can show."""
MOST_NAMED = 10
"""Systems, raters or dimensions that a message names."""
NOTHING = "(none)"
"""Stands for a source, or a language, that is not known."""
SCORE_COLUMNS = ("what", "dimension", "repeat", "score", "examples", "why", "reason")
"""Of details.csv, for judges that give scores. examples: texts that the judge was shown."""
BESIDE_SETTINGS = (
    SettingField("task", About("Task", "what is asked of every text"), "text", ""),
    SettingField("ratings", About("Ratings", "what people said of the texts"), "texts", ()),
)
"""What problems name that is no setting of these judges."""
NOT_JUDGED = "{n} texts of other systems are not judged"
ADD_RATINGS = "add {ratings}, or choose a file that has them"
_CHOOSING = ("n_examples", "filtered", "rater")
"""Fields that say which examples are shown, where some are."""
Systems = Annotated[tuple[str, ...], AfterValidator(lambda names: tuple(dict.fromkeys(names)))]
"""Names of systems, each once."""


class RatedSettings(JudgeSettings):
    """Settings of a judge that people's ratings may stand behind. Examples and items held out are drawn."""

    DRAWN: ClassVar[bool] = True
    if TYPE_CHECKING:
        # Each judge declares its fields, because saved runs and signatures have them in an order of its own.
        seed: int

    @property
    def compares_with(self) -> Compared:
        """See JudgeSettings."""
        return "source"


class ExampleSettings(RatedSettings):
    """Settings of a judge that is shown other systems' rated texts."""

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
        """The texts of all systems, or of those that are named."""
        return not self.only or text.output.system in self.only

    def remarks(self, *, by_rules: bool) -> Iterator[Remark]:
        """See JudgeSettings: repeats that can only say the same."""
        drawn_anew = self.examples in ("shuffled", "fixed") or (self.shows_examples and self.n_examples > 0)
        if drawn_anew or self.repeats == 1:
            return
        if by_rules:
            text = "{n} repeats say the same by construction and show nothing: their examples are the same"
            yield Remark("", text, {"n": self.repeats})
        else:
            yield from super().remarks(by_rules=by_rules)

    def called(self, name: str, *, by_rules: bool) -> tuple[str, ...]:
        """See JudgeSettings."""
        words = {"n_examples": f"{self.n_examples}-examples", "filtered": "filtered", "rater": self.rater}
        return (name, *self.unusual("examples"), *(words[one] for one in self._choices()))

    def idle(self, backend: str) -> frozenset[str]:
        """What chooses among examples, where none are shown."""
        return frozenset() if self.shows_examples else frozenset(_CHOOSING) & type(self).model_fields.keys()

    def pool(self, texts: Sequence[RatedText], task: RatingTask) -> ExamplePool:
        """The rated texts of a file that examples are drawn from: those in which people marked errors."""
        return ExamplePool(texts)

    def draw(self, pool: ExamplePool, text: RatedText, repeat: int) -> tuple[ShownExample, ...]:
        """The text's examples; each repeat has a draw of its own."""
        return pool.examples_for(
            text,
            variant=self.examples,
            n_examples=self.n_examples,
            filtered="filtered" in self._choices(),
            rater=self.rater,
            seed=self.seed + repeat,
        )

    def _choices(self) -> tuple[str, ...]:
        """Fields that choose among the examples otherwise than usual."""
        return tuple(one for one in _CHOOSING if one in type(self).model_fields and self.unusual(one))


EXAMPLES: Any = setting(
    "specialist",
    "Examples",
    "rated texts of other systems: of the same source; of the whole file, shuffled; of one other source; none",
    words={
        "specialist": "of the same source: what people said of the other systems' texts of this item",
        "shuffled": "shuffled: the same examples dealt out anew, so that most are of other sources",
        "fixed": "of one other source, rated by the same person where ratings name one",
        "none": "none",
    },
)
N_EXAMPLES: Any = setting(
    0,
    "Number of examples (0: all)",
    "examples of each text at most; smaller sets lie in larger ones; 0: all",
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
    "system whose texts are judged; the texts of the others serve as examples",
    metavar="SYSTEM",
    words={"": "all systems"},
    scored=False,
)
DRAWS: Any = repeats_setting("draws of examples; the score is the mean")
DRAWING_SEED: Any = seed_setting("seed of the first draw and its answers; later repeats add 1")


def examples_in(bench: Bench) -> dict[str, tuple[str, ...]]:
    """See JudgeKind.in_file: whose ratings can be examples, and which systems can be judged."""
    raters = sorted({one.rater for text in bench.texts for one in text.ratings if one.rater})
    systems = dict.fromkeys(text.output.system for text in bench.texts)
    return {"rater": (MERGED, *raters) if raters else (), "only": tuple(systems)}


def task_attachment(usual: str, help: str) -> Attachment:
    """The task's file. usual: the shipped one that is taken unless another is chosen; help: what of it the judge reads."""
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
    """What is asked of every text. Raises InputError."""
    return parse_task(bench.attached, "task.yaml")


def rated_signed(settings: JudgeSettings, bench: Bench) -> dict[str, object]:
    """See JudgeKind.also_signed: the task, and the file that examples are taken from."""
    return {
        "task": f"{task_of(bench).name}-{sha256_of(bench.attached.encode())[:SHORT_SHA]}",
        "ratings": bench.ratings[:SHORT_SHA] if settings.shows_examples else "",
    }


def prompt_for(bench: Bench, purpose: str) -> Prompt:
    """Raises InputError where there is none."""
    if purpose not in bench.prompts:
        raise InputError(f"There is no prompt for {purpose}.")
    return bench.prompts[purpose]


def given_in(output: ScorableOutput, task: RatingTask, prompt: Prompt) -> str:
    """What a prompt names as the source: what was asked, and the reference where the task shows it to raters."""
    source = defused(output.source or "", [prompt]).strip()
    reference = defused(output.reference or "", [prompt]).strip() if task.show_reference else ""
    if not reference:
        return source or NOTHING
    return f"{source or NOTHING}\n\n{task.labels.headings.reference}:\n{reference}"


def languages_of(output: ScorableOutput, prompt: Prompt) -> dict[str, str]:
    """The languages of source and text as prompts name them: their tags, as far as the file says them."""
    source, _, _ = output.labels.get(LABEL_PAIR, "").partition("-")
    named = {"source_language": source, "language": "" if output.language == "und" else output.language}
    return {name: in_a_line(defused(tag, [prompt])) or NOTHING for name, tag in named.items()}


def refuse_rated(problems: Sequence[Remark], settings: JudgeSettings, rated: RatedSet | None = None) -> None:
    """Raise SettingsError where there are problems: of the settings and the task, or of the file."""
    start = {} if rated is None else {"what": f"{shown(rated.file_name)} does not fit what was asked"}
    refuse(problems, type(settings), also=BESIDE_SETTINGS, **start)


def pool_problems(settings: ExampleSettings, pool: ExamplePool, nobody: Remark) -> list[Remark]:
    """Why a file's ratings cannot be this judge's examples. nobody: the problem where none of them can."""
    if not settings.shows_examples:
        return []
    if not pool.n_texts():
        return [nobody]
    if settings.rater == MERGED or settings.rater in pool.raters:
        return []
    there = f"there are {listed(pool.raters)}" if pool.raters else "its ratings name no rater; leave it out"
    text = "{name} rated nothing of the kind in the file; {there}"
    return [Remark("rater", text, {"name": shown(settings.rater), "there": there})]


def nobody_rated(what: str, values: Mapping[str, object] | None = None) -> Remark:
    """The problem of a file without ratings that can be examples. what: that nobody did, with `values` filled in."""
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
    """What to know of a file that examples are taken from, before its run costs anything.

    pool: of the file. wrong, remarks: what else is wrong with the examples, and worth knowing of them. Raises
    SettingsError with everything that is missing in the file for what was asked, and how to give it.
    """
    judged = [text for text in rated.texts if settings.judges(text)]
    systems = list(dict.fromkeys(text.output.system for text in rated.texts))
    unknown, there = "{name} has no text in the file; there are {systems}", listed(systems)
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
        # Every variant shows nothing to a text beside which nobody rated a text of another system.
        bare = sum(not pool.examples_for(text, variant="specialist", rater=settings.rater) for text in judged)
        if bare == len(judged) and not problems:
            text = "no text has a rated text of another system beside it, so that there is nothing to show; "
            problems.append(Remark("examples", f"{text}{ADD_RATINGS}, or choose {{examples=none}}"))
    refuse_rated(problems, settings, rated)
    others = len(rated.texts) - len(judged)
    serve = "; those that are rated serve as examples" if settings.shows_examples else ""
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
        held_out = "whatever a system wrote is held out of the examples for its texts"
        yield Remark("", f"{n_rated:,} {of} are rated themselves: {held_out}")
    if bare:
        yield Remark(
            "", f"{bare:,} {of} have no rated text of another system beside them: they get no examples"
        )
    for note in pool.notes(settings.examples, rater=settings.rater, seed=settings.seed):
        yield Remark("", "{note}", {"note": note})


def score_on(dimension: Dimension) -> dict[str, object]:
    """The schema of a score: one of those on offer, or any number of the scale where all are."""
    if dimension.classes:
        return {"enum": [whole(value) for value in dimension.classes]}
    return {"type": "number", "minimum": dimension.lowest, "maximum": dimension.highest}


def whole(value: float) -> float:
    """Whole where it is whole, as JSON shows it."""
    return int(value) if value == int(value) else value


def in_digits(value: float) -> str:
    """A number of a scale, as prompts and replies have it."""
    return f"{value:.10g}"


def dimensions_in(texts: Sequence[RatedText]) -> list[str]:
    """Names of the dimensions that people rated."""
    return list(dict.fromkeys(rating.dimension for text in texts for rating in text.ratings))


def rated_instead(there: Sequence[str]) -> str:
    """What was rated in the place of what is missing, as the end of a sentence."""
    return f" (rated are {listed(there)})" if there else ""


def listed(names: Sequence[str], between: str = ", ") -> str:
    """Names from a file as a message has them: the first ones, and how many there are more."""
    named = between.join(map(shown, names[:MOST_NAMED]))
    return f"{named} and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else named


def example_problems(name: str, examples: Sequence[ExampleUsed]) -> Iterator[str]:
    """What no example in a record can be. name: the record's field that holds them."""
    return bound_problems(name, examples, n_errors=(0, MOST_ERRORS))
