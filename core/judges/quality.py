"""The evaluator from the Multilingual paper: a model gives a text a class on every dimension, with justifications.

Its examples come from held-out items.
"""

import asyncio
import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated, Any, Literal

from core.diff import tokenize
from core.judges.kind import (
    ANY_SCORE,
    EMPTY_TEXT,
    FORMER_JUSTIFICATION,
    FORMER_SCORE,
    TEMPERATURE,
    Bench,
    Judged,
    JudgeKind,
    Opened,
    Trial,
    asking,
    mean_of,
    repeats_setting,
    trial_problems,
)
from core.judges.rated import (
    ADD_RATINGS,
    SCORE_COLUMNS,
    ExampleUsed,
    RatedSettings,
    dimensions_in,
    example_problems,
    given_in,
    listed,
    prompt_for,
    rated_instead,
    rated_signed,
    refuse_rated,
    score_digits,
    score_on,
    task_attachment,
    task_of,
    whole,
)
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import form, is_number, read_object, refuse_loop
from core.llm.prompts import Example, Prompt
from core.schema.runs import PromptSlot
from core.schema.scores import RatedSet, RatedText, Score
from core.schema.settings import Remark, seed_setting, setting
from core.schema.study import Dimension, RatingTask

Majority = Literal["drop", "median", "middle"]
"""Label of a text whose three raters all differ: none, the median, or the middle class as in Multilingual's code."""
TASK_LABELS = ("task", "dataset")
"""Labels that name a text's task; examples of other tasks are not shown."""


class HeldOut:
    """The held-out items, and their texts that are shown as examples for each dimension."""

    def __init__(
        self,
        texts: Sequence[RatedText],
        dimensions: Sequence[Dimension],
        *,
        shots: int,
        share: float,
        majority: Majority,
        seed: int,
    ) -> None:
        items = sorted({text.output.item_id for text in texts if text.ratings})
        random.Random(seed).shuffle(items)
        self.items = frozenset(_drawn(texts, items, share) if shots else ())
        self._majority: Majority = majority
        self._shown: dict[tuple[str, str, str], tuple[RatedText, ...]] = {}
        order = {item: at for at, item in enumerate(items)}
        pool = sorted(
            (text for text in texts if text.output.item_id in self.items),
            key=lambda text: order[text.output.item_id],
        )
        for kind in dict.fromkeys(map(_kind_of, pool)):
            own = [text for text in pool if _kind_of(text) == kind]
            for dimension in dimensions:
                self._shown[*kind, dimension.name] = self._chosen(own, dimension, shots)

    def shown(self, text: RatedText, dimension: Dimension) -> tuple[RatedText, ...]:
        """Examples with the text's task and language, lowest class first; empty if none were held out."""
        return self._shown.get((*_kind_of(text), dimension.name), ())

    def label(self, text: RatedText, dimension: Dimension) -> tuple[float | None, int]:
        """The class that most raters gave a text (None: no label), and the number of raters."""
        classes, votes = dimension.classes, _votes(text, dimension)
        if not votes:
            return None, 0
        # Imported lazily: it loads scipy, and every command loads this module.
        from core.stats.agreement import majority_labels

        (code,) = majority_labels([[classes.index(one) for one in votes]], len(classes), self._majority)
        return None if code < 0 else classes[code], len(votes)

    def wording(self, text: RatedText, dimension: Dimension) -> str:
        """Origin of a text's class, for the prompt; "most" only if more than half of the raters gave it."""
        label, n_raters = self.label(text, dimension)
        if n_raters == 1:
            return "The judgment of one person."
        votes = Counter[float | None](_votes(text, dimension))
        if 2 * votes[label] > n_raters:
            return f"The judgment of most of {n_raters} people."
        alone = [score for score, n in votes.items() if n == max(votes.values())] == [label]
        which = "most frequent" if alone else "middle"
        return f"The {which} judgment of {n_raters} people, who differed."

    def _chosen(self, pool: Sequence[RatedText], dimension: Dimension, shots: int) -> tuple[RatedText, ...]:
        by_class: dict[float, list[RatedText]] = {}
        for text in pool:
            label, _ = self.label(text, dimension)
            if label is not None:
                by_class.setdefault(label, []).append(text)
        return tuple(text for label in sorted(by_class) for text in by_class[label][:shots])


def _votes(text: RatedText, dimension: Dimension) -> list[float]:
    """The classes that raters gave a text."""
    return [
        one.score
        for one in text.ratings
        if one.dimension == dimension.name and one.score in dimension.classes
    ]


def _drawn(texts: Sequence[RatedText], order: Sequence[str], share: float) -> set[str]:
    """The held-out items: the requested share of every task and language, at least one, but never the only item.

    Every task and language takes the first items of one common order, so that an item in several languages is held out
    of all of them.
    """
    of_kind: dict[tuple[str, str], set[str]] = {}
    for text in texts:
        if text.ratings:
            of_kind.setdefault(_kind_of(text), set()).add(text.output.item_id)
    drawn: set[str] = set()
    for own in of_kind.values():
        n = min(len(own) - 1, max(1, round(share * len(own))))
        drawn.update([item for item in order if item in own][:n])
    return drawn


def _kind_of(text: RatedText) -> tuple[str, str]:
    labels = text.output.labels
    return next((labels[name] for name in TASK_LABELS if name in labels), ""), text.output.language


PURPOSE = STEP = "quality"
MOST_SHOTS = 20
"""Most examples of each class."""
HELD_OUT = "held out for examples"
NOT_ON_OFFER, NO_SCORE = "score not on offer", "no score"
LONGEST_JUSTIFICATION = 400
"""Longest justification under guided decoding, so that the model reaches its score."""
SCORE_TOKENS = 700
"""Tokens for such a justification in any script, and for its score."""


class QualitySettings(RatedSettings):
    """Settings of the quality evaluator."""

    prompting: Literal["single", "compound", "detailed"] = setting(
        "single",
        "Prompting",
        "single: one call per dimension; compound: all dimensions in one call; detailed: one call per dimension, with longer "
        "instructions",
        words={
            "single": "one call per dimension",
            "compound": "all dimensions in one call",
            "detailed": "one call per dimension, with longer instructions",
        },
    )
    shots: int = setting(
        0,
        "Examples of each class",
        "examples of each class, from held-out items, which get no score; Multilingual uses at most 2",
        within=(0, MOST_SHOTS),
        metavar="N",
    )
    held_out: float = setting(
        0.2,
        "Share of rated items held out",
        "share of the rated items that serve only as examples and get no score",
        within=(0.0, 0.9),
        step=0.1,
        metavar="SHARE",
    )
    majority: Majority = setting(
        "middle",
        "Class of an example whose raters all differ",
        "class of an example whose raters all differ; middle: the middle class, if a rater gave it; median: the median; "
        "drop: do not use it as an example",
        words={
            "middle": "the middle class, if a rater gave it",
            "median": "the median",
            "drop": "none (not used as an example)",
        },
    )
    language: str = setting(
        "",
        "Language of the texts (empty: their own tags)",
        "language named in prompts; empty: each text's own tag",
    )
    shuffled_words: float = setting(
        0.0,
        "Share of words shuffled",
        "share of the words that are shuffled before a text is read, to test whether the evaluator notices",
        within=(0.0, 1.0),
        step=0.1,
        metavar="SHARE",
    )
    repeats: int = repeats_setting("number of requests; the score is the mean")
    temperature: float | None = TEMPERATURE
    seed: int = seed_setting(
        "seed of held-out items, shuffled words and the first repeat's answers; later repeats add 1"
    )

    @property
    def shows_examples(self) -> bool:
        """See JudgeSettings."""
        return self.shots > 0

    def columns(self, dimensions: tuple[str, ...] = ()) -> tuple[str, ...]:
        """One column per dimension."""
        return dimensions

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """One."""
        return (PromptSlot(PURPOSE, f"quality-{self.prompting}", self.prompting),)

    def problems(self, backend: str) -> Iterator[Remark]:
        """See KindSettings."""
        if self.shots and not self.held_out:
            yield Remark(
                "held_out", "0 holds out no items, but {shots} takes its examples from held-out items"
            )

    def called(self, name: str, *, by_rules: bool) -> tuple[str, ...]:
        """See JudgeSettings."""
        shots = (f"{self.shots}-shot",) if self.shots else ()
        shuffled = (f"{self.shuffled_words:g}-shuffled",) if self.shuffled_words else ()
        return (name, *self.unusual("prompting"), *shots, *shuffled)

    def idle(self, backend: str) -> frozenset[str]:
        """Settings of the examples, if none are shown."""
        return frozenset() if self.shots else frozenset({"held_out", "majority"})


@dataclass(frozen=True, kw_only=True)
class QualityTrial(Trial):
    """An evaluator's answer on one dimension."""

    verdict: Annotated[float | None, FORMER_SCORE]
    """The class; None: no offered one was given."""
    feedback: Annotated[str, FORMER_JUSTIFICATION] = ""
    dimension: str


@dataclass(frozen=True)
class QualityRecord:
    """Everything that the evaluator returned for one text."""

    trials: tuple[QualityTrial, ...]
    examples: tuple[ExampleUsed, ...] = ()
    judged: str | None = None
    """The shuffled text that it read instead; None: it read the text itself."""


@dataclass(frozen=True)
class GivenScore:
    """One answer on one dimension."""

    score: float
    justification: str


class QualityJudge:
    """Asks a model for a class on every dimension of the task; texts of held-out items are not judged."""

    def __init__(
        self, model: Model, prompt: Prompt, settings: QualitySettings, task: RatingTask, held_out: HeldOut
    ) -> None:
        """held_out: drawn from all texts of the run, rated or not."""
        self._model, self._prompt, self._settings = model, prompt, settings
        self._task, self._dimensions = task, task.dimensions
        self._together = settings.prompting == "compound"
        self._held_out = held_out

    async def judge(self, text: RatedText) -> Judged:
        """Score a text: the mean class over the repeats, one score per dimension in the task's order.

        Misleading if people themselves disagree: the evaluator gives a class all the same (Multilingual, section 5).
        """
        output = text.output
        why = HELD_OUT if output.item_id in self._held_out.items else None
        why = why or (None if output.text.strip() else EMPTY_TEXT)
        if why is not None:
            return Judged.without_asking(why, len(self._dimensions))
        read = shuffled_words(output.text, self._settings.shuffled_words, self._settings.seed)
        shown = replace(text, output=replace(output, text=read))
        asked = [(repeat, group) for repeat in range(self._settings.repeats) for group in self._groups()]
        answers = await asyncio.gather(*(self._ask(shown, group, repeat) for repeat, group in asked))
        trials = [
            trial
            for (repeat, group), answer in zip(asked, answers, strict=True)
            for trial in _trials(repeat, group, answer)
        ]
        failed = [
            (_step(group), answer.reason or "")
            for (_, group), answer in zip(asked, answers, strict=True)
            if answer.value is None
        ]
        examples = dict.fromkeys(
            ExampleUsed(one.output.item_id, one.output.system, None)
            for group in self._groups()
            for one in self._examples(shown, group)
        )
        scores = []
        for dimension in self._dimensions:
            own = [trial for trial in trials if trial.dimension == dimension.name]
            reason = next((trial.reason for trial in own if trial.reason), "no answer")
            scores.append(mean_of(trial.verdict for trial in own) or Score(None, f"{STEP}: {reason}"))
        return Judged(
            tuple(scores),
            QualityRecord(tuple(trials), tuple(examples), None if read == output.text else read),
            failures=tuple(failed),
            temporary=any(answer.temporary for answer in answers),
        )

    def _groups(self) -> list[tuple[Dimension, ...]]:
        """The groups of dimensions that share a request."""
        if self._together:
            return [tuple(self._dimensions)]
        return [(dimension,) for dimension in self._dimensions]

    async def _ask(
        self, text: RatedText, group: tuple[Dimension, ...], repeat: int
    ) -> Answer[dict[str, GivenScore]]:
        shown = tuple(self._example(one, group) for one in self._examples(text, group))
        prompt = replace(self._prompt, examples=self._prompt.examples + shown)
        request = Request(
            _step(group),
            prompt.messages(**self._variables(text, group)),
            max_tokens=SCORE_TOKENS * len(group),
            temperature=self._settings.temperature,
            seed=self._settings.seed + repeat,
            schema=form(scores=form(**{one.name: _one_schema(one) for one in group}))
            if self._together
            else _one_schema(group[0]),
        )
        return await self._model.ask(request, lambda said: read_scores(said, group, together=self._together))

    def _examples(self, text: RatedText, group: tuple[Dimension, ...]) -> tuple[RatedText, ...]:
        """Examples for all dimensions of a group, without duplicates; for several dimensions, only texts with a class on each."""
        found = [example for dimension in group for example in self._held_out.shown(text, dimension)]
        once = {id(example): example for example in found}.values()
        return tuple(
            one for one in once if all(self._held_out.label(one, each)[0] is not None for each in group)
        )

    def _example(self, example: RatedText, group: tuple[Dimension, ...]) -> Example:
        given = {}
        for dimension in group:
            label, _ = self._held_out.label(example, dimension)
            assert label is not None
            why = self._held_out.wording(example, dimension)
            given[dimension.name] = {"justification": why, "score": whole(label)}
        answer = {"scores": given} if self._together else given[group[0].name]
        return Example(tuple(self._variables(example, group).items()), json.dumps(answer, ensure_ascii=False))

    def _variables(self, text: RatedText, group: tuple[Dimension, ...]) -> dict[str, str]:
        output = text.output
        values = {
            "source": given_in(output, self._task, self._prompt),
            "text": self._harmless(output.text),
            "language": self._settings.language or output.language,
        }
        if self._together:
            return values | {
                "dimensions": "\n\n".join(
                    f"{one.name}: {one.title}\n{one.description}\n{scale_of(one)}" for one in group
                )
            }
        (dimension,) = group
        detailed = self._settings.prompting == "detailed"
        return values | {
            "dimension": dimension.title,
            "description": (dimension.detailed if detailed else "") or dimension.description,
            "scale": scale_of(dimension),
        }

    def _harmless(self, text: str) -> str:
        return defused(text, [self._prompt])


def scale_of(dimension: Dimension) -> str:
    """The scale for the prompt: each class with its meaning, or both ends and the anchors between them."""
    meaning = dict(dimension.anchors)
    if not dimension.classes:
        ends = f"Any number from {score_digits(dimension.lowest)} to {score_digits(dimension.highest)}; higher is better."
        return "\n".join([ends, *(f"{score_digits(value)}: {words}" for value, words in dimension.anchors)])
    lines = [(value, meaning.get(value)) for value in dimension.classes]
    return "\n".join(
        score_digits(value) if words is None else f"{score_digits(value)}: {words}" for value, words in lines
    )


def read_scores(text: str, group: Sequence[Dimension], *, together: bool) -> dict[str, GivenScore]:
    """Dimension -> score in an answer. Raises Unusable if a score is missing or not offered.

    2 and 2.0 are the same score; "2", true and a number between two classes are invalid. A looping justification makes
    the whole answer unusable.
    """
    given = (
        read_object(text, scores={"type": "object"})["scores"]
        if together
        else {group[0].name: read_object(text, score={})}
    )
    return {dimension.name: _given(given.get(dimension.name), dimension) for dimension in group}


def _given(said: object, dimension: Dimension) -> GivenScore:
    of = f"for {dimension.name}"
    if not isinstance(said, dict) or "score" not in said:
        raise Unusable(f"It has no score {of}.", NO_SCORE)
    score, why = said["score"], said.get("justification")
    if not is_number(score):
        raise Unusable(f"Its score {of} is no number.", NO_SCORE)
    if not isinstance(why, str):
        raise Unusable(f"It has no justification {of}.")
    if dimension.classes and score not in dimension.classes:
        offered = ", ".join(map(score_digits, dimension.classes))
        raise Unusable(f"Its score {of} is not on offer: give one of {offered}.", NOT_ON_OFFER)
    if not dimension.lowest <= score <= dimension.highest:
        ends = f"{score_digits(dimension.lowest)} to {score_digits(dimension.highest)}"
        raise Unusable(f"Its score {of} is outside {ends}.", NOT_ON_OFFER)
    refuse_loop(why, f"Its justification {of}")
    return GivenScore(float(score), why.strip())


def _one_schema(dimension: Dimension) -> dict[str, object]:
    """JSON schema for a dimension: its justification first, then an offered score."""
    why = {"type": "string", "maxLength": LONGEST_JUSTIFICATION}
    return form(justification=why, score=score_on(dimension))


def _step(group: Sequence[Dimension]) -> str:
    return f"{STEP}: {group[0].name}" if len(group) == 1 else STEP


def _trials(
    repeat: int, group: Sequence[Dimension], answer: Answer[dict[str, GivenScore]]
) -> list[QualityTrial]:
    if answer.value is None:
        return [
            QualityTrial(
                dimension=one.name, repeat=repeat, verdict=None, reason=answer.reason, detail=answer.detail
            )
            for one in group
        ]
    given = answer.value
    return [
        QualityTrial(
            dimension=one.name,
            repeat=repeat,
            verdict=given[one.name].score,
            feedback=given[one.name].justification,
        )
        for one in group
    ]


def shuffled_words(text: str, share: float, seed: int) -> str:
    """The text with `share` of its words shuffled; spaces and punctuation stay in place.

    For Multilingual's sensitivity check (section 3.5, share 0.1): does the evaluator notice?

    In scripts without spaces, characters are shuffled. At least two words move, or none if the text has fewer than two
    different words or share is 0. Each drawn word moves to the position of the next drawn word. The draw depends only on
    the seed and the text, so a repeated run shuffles identically.
    """
    if share <= 0:
        return text
    tokens = tokenize(text)
    words = [at for at, token in enumerate(tokens) if any(char.isalnum() for char in token)]
    draw = random.Random(hashlib.sha256(f"{seed}\0{text}".encode("utf-8", "replace")).digest())
    n_moved = min(len(words), max(2, round(share * len(words))))
    places = sorted(draw.sample(words, n_moved))
    if len({tokens[at] for at in places}) < 2:
        places = _two_that_differ(tokens, words)
    draw.shuffle(places)
    moved = list(tokens)
    for place, following in zip(places, places[1:] + places[:1], strict=True):
        moved[place] = tokens[following]
    return "".join(moved)


def _two_that_differ(tokens: list[str], words: list[int]) -> list[int]:
    """The first two positions with different words; empty if all words are equal."""
    other = next((at for at in words if tokens[at] != tokens[words[0]]), None)
    return [] if other is None else [words[0], other]


def _hold_out(settings: QualitySettings, task: RatingTask, texts: Sequence[RatedText]) -> HeldOut:
    """The items that serve as examples and are not judged; slow for many texts."""
    return HeldOut(
        texts,
        task.dimensions,
        shots=settings.shots,
        share=settings.held_out,
        majority=settings.majority,
        seed=settings.seed,
    )


def _task_problems(settings: QualitySettings, task: RatingTask) -> list[Remark]:
    if not task.dimensions:
        return [Remark("task", "{name} has no dimension to score; choose multilingual", {"name": task.name})]
    endless = [one.name for one in task.dimensions if not one.classes]
    if not settings.shots or not endless:
        return []
    return [
        Remark("shots", "needs classes to show examples of, but {names} has none", {"names": listed(endless)})
    ]


def _shots_problems(held_out: HeldOut, task: RatingTask, rated: RatedSet) -> Iterator[Remark]:
    there = dimensions_in(rated.texts)
    if lacking := [one.name for one in task.dimensions if one.name not in there]:
        values = {"names": listed(lacking), "instead": rated_instead(there)}
        yield Remark("shots", f"nobody rated {{names}}{{instead}}: {ADD_RATINGS}", values)
    elif not held_out.items:
        yield Remark(
            "shots",
            "no task and language has two rated items, one to hold out for examples and one to judge; add items, or show no "
            "examples",
        )


def _held_out_remarks(held_out: HeldOut, task: RatingTask, rated: RatedSet) -> Iterator[Remark]:
    """Remarks on held-out items, and on languages or classes left with too few texts or examples."""
    n_items = len({text.output.item_id for text in rated.texts})
    yield Remark(
        "",
        "{held} of {n} items are held out for examples; their texts get no score",
        {"held": f"{len(held_out.items):,}", "n": f"{n_items:,}"},
    )
    judged = [text for text in rated.texts if text.output.item_id not in held_out.items]
    languages = dict.fromkeys(text.output.language for text in rated.texts)
    if gone := [one for one in languages if all(text.output.language != one for text in judged)]:
        # An item in several languages is held out of all of them, and may be the only item of one.
        text = "every item in {languages} is held out: no text in that language gets a score"
        yield Remark("", text, {"languages": listed(gone)})
    without: list[str] = []
    bare: set[int] = set()
    for dimension in task.dimensions:
        examples = [held_out.shown(text, dimension) for text in judged]
        bare.update(n for n, own in enumerate(examples) if not own)
        there = {held_out.label(one, dimension)[0] for one in chain.from_iterable(examples)}
        if lacking := [f"{one:g}" for one in dimension.classes if one not in there]:
            without.append(f"{dimension.name} {', '.join(lacking)}")
    if bare:
        yield Remark(
            "",
            "{bare} of the {n} texts to be judged get no examples on at least one dimension: no item with their language and "
            "task is held out",
            {"bare": f"{len(bare):,}", "n": f"{len(judged):,}"},
        )
    if without:
        yield Remark("", "classes without an example: {classes}", {"classes": listed(without, "; ")})


class QualityKind(JudgeKind):
    """Gives each text a class on every dimension of a task, with a justification, in any language."""

    name = "quality"
    title = "Quality rating"
    family = "Quality"
    summary = "gives each text a class on every dimension of a task, with a justification, in any language"
    section = "quality-rating"
    reads = "rated texts"
    Settings = QualitySettings
    attachment = task_attachment("multilingual", "dimensions and their classes")
    Record = QualityRecord
    reports = frozenset({"accuracy", "calibration", "consistency"})
    detail_columns = SCORE_COLUMNS
    words_called = "justifications"

    def open(self, settings: QualitySettings, bench: Bench) -> Opened:
        """See JudgeKind."""
        task, prompt = task_of(bench), prompt_for(bench, PURPOSE)
        refuse_rated(_task_problems(settings, task), settings)
        held_out = _hold_out(settings, task, bench.texts)
        return asking(lambda model: QualityJudge(model, prompt, settings, task, held_out))

    def check(
        self, settings: QualitySettings, bench: Bench, rated: RatedSet, by_rules: bool
    ) -> tuple[Remark, ...]:
        """See JudgeKind."""
        task = task_of(bench)
        refuse_rated(_task_problems(settings, task), settings)
        remarks = tuple(settings.remarks(by_rules=by_rules))
        if not settings.shots:
            return remarks
        held_out = _hold_out(settings, task, rated.texts)
        refuse_rated(list(_shots_problems(held_out, task, rated)), settings, rated)
        return (*remarks, *_held_out_remarks(held_out, task, rated))

    also_signed = staticmethod(rated_signed)

    def dimensions(self, bench: Bench) -> tuple[str, ...]:
        """See JudgeKind."""
        return tuple(one.name for one in task_of(bench).dimensions)

    def details(self, record: QualityRecord) -> Iterator[dict[str, Any]]:
        """See JudgeKind."""
        for trial in record.trials:
            yield {
                "what": "score",
                "dimension": trial.dimension,
                "repeat": trial.repeat,
                "score": trial.verdict,
                "examples": len(record.examples),
                "why": trial.feedback or trial.detail,
                "reason": trial.reason,
            }

    def record_problems(self, record: QualityRecord, _: str | None) -> Iterator[str]:
        """See JudgeKind."""
        yield from example_problems("examples", record.examples)
        yield from trial_problems("trials", record.trials, "dimension", "repeat", verdict=ANY_SCORE)

    def words(self, record: QualityRecord) -> tuple[str, ...]:
        """See JudgeKind."""
        return tuple(trial.feedback for trial in record.trials if trial.feedback)

    def score_bounds(self, _: str) -> tuple[float, float]:
        """See JudgeKind."""
        return ANY_SCORE

    def suits(self, task: RatingTask, _: Mapping[str, object]) -> bool:
        """See JudgeKind."""
        return bool(task.dimensions) and all(one.classes for one in task.dimensions)


KIND = QualityKind()
