"""Damage levels 0 (a paraphrase) to 5 (wrong throughout) of one item, and as a kind of run (Meta-Judge, section 3)."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import field_validator

from core.formats.generation import GeneratedText, to_meta_judge
from core.generation.damage.by_rules import RuleDamage
from core.generation.damage.checks import Damaged, changed_numbers, check_damage
from core.generation.scheme import SEED, Came, GenerationSettings, Scheme, Task, Writer
from core.llm.asking import LONGEST_ECHO, Answer, Model, Unusable
from core.llm.client import Message, Request
from core.llm.parsing import read_text
from core.llm.prompts import Prompt, for_use
from core.schema.runs import PromptSlot
from core.schema.settings import setting
from core.schema.study import Material
from core.tables.problems import same_wording


@dataclass(frozen=True)
class DamageLevel:
    """One of the levels 0 (as good as the reference) to 5 (wrong throughout)."""

    level: int
    text: str | None
    """None: no text passed the checks."""
    how: str
    """`llm`, `paraphrase`, `verbatim`, or the rules that made it, joined by ` + `."""
    attempts: int = 0
    reason: str | None = None
    detail: str = ""
    temporary: bool = False


@dataclass(frozen=True)
class DamageTrace:
    """Everything that was done to one item."""

    item_id: str
    backend: str
    task: Task
    levels: tuple[DamageLevel, ...] = ()
    notes: tuple[str, ...] = ()
    prompts: dict[str, str] | None = None


DAMAGE_LEVELS = (0, 1, 2, 3, 4, 5)
"""0: a paraphrase, as good as the reference ... 5: wrong throughout. Higher is worse (000, section 3)."""
MAX_TOKENS = 400
"""New tokens per answer, as in 000."""


class DamageSettings(GenerationSettings):
    """What fixes a run beside model and prompt."""

    task: Task = setting(
        "qa",
        "The texts are",
        "what the texts are",
        words={
            "qa": "questions and answers",
            "qa-passage": "questions on a passage",
            "summary": "summaries",
            "translation": "translations",
        },
    )
    levels: tuple[int, ...] = setting(
        DAMAGE_LEVELS,
        "Levels",
        "levels to make, such as 0-5 or 0,3,5",
        words={", ".join(map(str, DAMAGE_LEVELS)): "0-5"},
    )
    seed: int = SEED

    @field_validator("levels", mode="before")
    @classmethod
    def _levels(cls, given: object) -> object:
        """0-5, or 0,3,5, or numbers."""
        levels = (
            given
            if isinstance(given, tuple | list)
            else [level for part in str(given).split(",") for level in _from_to(part)]
        )
        if not levels:
            raise ValueError("name at least one level")
        if wrong := [str(level) for level in levels if level not in DAMAGE_LEVELS]:
            raise ValueError(
                f"there is no level {', '.join(wrong)}; damage levels are 0 to {DAMAGE_LEVELS[-1]}"
            )
        return tuple(level for level in DAMAGE_LEVELS if level in levels)

    @property
    def level_names(self) -> tuple[str, ...]:
        """See GenerationSettings."""
        return tuple(str(level) for level in self.levels)

    @property
    def first_level(self) -> str | None:
        """See GenerationSettings."""
        return f"level {DAMAGE_LEVELS[0]}" if DAMAGE_LEVELS[0] in self.levels else None

    @property
    def asked_for(self) -> Task:
        """See GenerationSettings."""
        return self.task

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """One prompt for all levels, unless rules make them."""
        return () if by_rules else (PromptSlot("damage", f"damage-{self.task}", self.task),)


def _from_to(part: str) -> range:
    """2-4 is 2, 3, 4."""
    first, dash, last = (one.strip() for one in part.partition("-"))
    if not (first.isdecimal() and (last.isdecimal() or not dash)):
        raise ValueError(f"{part.strip()!r} is neither a level nor a range of them, such as 0-5")
    return range(int(first), int(last or first) + 1)


STEP = "damage"
"""Under which calls and tokens are counted."""
SAME_AS_ANOTHER = "same as another level"
"""Under which such a level is counted, as `same as the reference` is."""
_CONTEXT_NAMES = {
    "qa-passage": "passage",
    "summary": "source_text",
    "translation": "source_sentence",
}
"""Task -> the variable of its prompts that holds a material's context."""


class LlmDamage:
    """The levels written by a model with a prompt for the settings' task."""

    def __init__(self, model: Model, prompt: Prompt, settings: DamageSettings) -> None:
        self._model, self._prompt = model, for_use(prompt, STEP, settings.task)
        self._settings = settings
        self.backend = model.client.backend
        self.prompts = {STEP: prompt.sha256}

    async def damage(self, material: Material, level: int) -> Answer[Damaged]:
        """The reference, damaged by the model; an answer that fails a check is asked again."""
        return await self._model.ask(
            self._request(material, level), lambda answer: self._read(material, level, answer)
        )

    async def another(
        self, material: Material, level: int, said: str, attempts: int, taken: Mapping[str, int]
    ) -> Answer[Damaged]:
        """Another text for a level whose text another level has; only where an attempt is left.

        said: the level's text so far; attempts: the answers it took, which count on; taken: the wording of the other
        levels' texts -> whose it is. A text that is taken too is not asked about again: a greedy model would go on
        repeating itself.
        """
        wrong = _twin(level, said, taken)
        if attempts >= self._model.attempts:
            return Answer(None, SAME_AS_ANOTHER, wrong, attempts)
        first = self._request(material, level)
        note = f"Answer {attempts} cannot be used: {wrong} Answer again, exactly in the form asked for."
        turns = (Message("assistant", said[:LONGEST_ECHO]), Message("user", note))
        answer = await self._model.ask(
            replace(first, messages=(*first.messages, *turns)), lambda text: self._read(material, level, text)
        )
        total = attempts + answer.attempts
        if answer.value is not None and (still := _twin(level, answer.value.text, taken)):
            return Answer(None, SAME_AS_ANOTHER, still, total)
        return replace(answer, attempts=total)

    def _request(self, material: Material, level: int) -> Request:
        return Request(
            step=STEP,
            messages=self._prompt.messages(**self._variables(material, level)),
            max_tokens=MAX_TOKENS,
            temperature=0.0,
            seed=self._settings.seed,
        )

    def _read(self, material: Material, level: int, answer: str) -> Damaged:
        text = read_text(answer)
        problem = check_damage(material, level, text, self._settings.task)
        if problem := problem or changed_numbers(material, level, text):
            kind, sentence = problem
            raise Unusable(sentence, kind)
        return Damaged(text, "llm")

    def _variables(self, material: Material, level: int) -> dict[str, str | int]:
        offered: dict[str, str | int] = {
            "question": material.item.question,
            "reference": material.item.reference,
            "level": level,
        }
        if name := _CONTEXT_NAMES.get(self._settings.task):
            offered[name] = material.context or ""
        return {name: offered[name] for name in self._prompt.variables}


def _twin(level: int, text: str, taken: Mapping[str, int]) -> str:
    """The sentence about a text that another level has; empty: none has it."""
    other = taken.get(same_wording(text))
    if other is None:
        return ""
    return f"It is the very text of level {other}: level {level} has to be another one."


async def damage(material: Material, steps: LlmDamage | RuleDamage, settings: DamageSettings) -> DamageTrace:
    """All levels of an item, asked at once; a level that fails leaves the others as they are.

    A level that came back with the text of a level before it is asked for once more, where the steps can be told.
    An exception of `steps` is a defect and is raised, after every level has come to its end.
    """
    came = await asyncio.gather(
        *(steps.damage(material, level) for level in settings.levels), return_exceptions=True
    )
    levels = []
    for level, answer in zip(settings.levels, came, strict=True):
        if isinstance(answer, BaseException):
            raise answer
        levels.append(_level(level, answer))
    if isinstance(steps, LlmDamage):  # rules know what they gave the levels below
        await _tell_apart(material, steps, levels)
    return DamageTrace(
        item_id=material.item.item_id,
        backend=steps.backend,
        task=settings.task,
        levels=tuple(levels),
        notes=tuple(_notes(levels)),
        prompts=steps.prompts,
    )


async def _tell_apart(material: Material, steps: LlmDamage, levels: list[DamageLevel]) -> None:
    """Ask again, in order, for each level with a text that a level before it has: two equal levels are no scale."""
    for at, level in enumerate(levels):
        lower, higher = _owners(levels[:at]), _owners(levels[at + 1 :])
        if level.text is not None and same_wording(level.text) in lower:
            taken = {**higher, **lower}
            answer = await steps.another(material, level.level, level.text, level.attempts, taken)
            levels[at] = _level(level.level, answer)


def _owners(levels: Sequence[DamageLevel]) -> dict[str, int]:
    """Wording -> the first of the levels that has it."""
    return {same_wording(one.text): one.level for one in reversed(levels) if one.text is not None}


def damage_texts(trace: DamageTrace, source: str) -> tuple[GeneratedText, ...]:
    """An item's levels as the files have them, those without a text too. Ids in Meta-Judge's file: `ITEM_levelL`."""
    return tuple(
        GeneratedText(
            item_id=trace.item_id,
            level=str(level.level),
            source=source,
            text=level.text,
            origin=level.how,
            reason=": ".join(filter(None, (level.reason, level.detail))) if level.text is None else "",
        )
        for level in trace.levels
    )


def _level(level: int, answer: Answer[Damaged]) -> DamageLevel:
    made = answer.value
    if made is None:
        return DamageLevel(
            level, None, "", answer.attempts, answer.reason or "invalid", answer.detail, answer.temporary
        )
    # Rules answer at once and were asked nothing.
    attempts = answer.attempts if made.how == "llm" else 0
    return DamageLevel(level, made.text, made.how, attempts)


def _notes(levels: list[DamageLevel]) -> list[str]:
    notes = [
        f"level {level.level} is the reference word for word" for level in levels if level.how == "verbatim"
    ]
    alike: dict[str, list[int]] = {}
    for level in levels:
        if level.text is not None:
            alike.setdefault(same_wording(level.text), []).append(level.level)
    for same in alike.values():
        if len(same) > 1:
            named = f"{', '.join(map(str, same[:-1]))} and {same[-1]}"
            notes.append(f"levels {named} have the same text")
    return notes


async def _make(settings: DamageSettings, material: Material, writer: Writer) -> DamageTrace:
    steps = (
        RuleDamage(writer.pool, settings.task, settings.seed)
        if writer.model is None
        else LlmDamage(writer.model, writer.prompts["damage"], settings)
    )
    return await damage(material, steps, settings)


def _came(trace: DamageTrace) -> Came:
    missing = [level for level in trace.levels if level.text is None]
    return Came(
        tuple((f"level {level.level}", level.reason or "unknown") for level in missing),
        any(level.temporary for level in missing),
        {str(level.level): level.text for level in trace.levels if level.text is not None},
        any(level.level == 0 and level.how == "verbatim" for level in trace.levels),
    )


def _report(
    settings: DamageSettings,
    traces: Sequence[DamageTrace],
    materials: Mapping[str, Material],
    failures: Mapping[tuple[str, str], int],
) -> bytes:
    """Meta-Judge has no report: the same two parts as of factual perturbation, counters and items."""
    whole = set(settings.level_names)
    n_complete = sum(set(_came(trace).texts) == whole for trace in traces)
    counters: dict[str, object] = {"input_samples": len(traces), "output_samples": n_complete}
    counters |= {f"{step}: {reason}": n for (step, reason), n in failures.items()}
    questions = [
        {
            "id": trace.item_id,
            "question": materials[trace.item_id].item.question,
            "ground_truth": materials[trace.item_id].item.reference,
            "answers": _came(trace).texts,
            "notes": list(trace.notes),
        }
        for trace in traces
    ]
    value = {"report": counters, "questions": questions}
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"


KIND = Scheme(
    name="damage",
    title="Damage levels",
    summary="damage levels 0 (a paraphrase) to 5 (wrong throughout)",
    section="damage-levels-0-to-5",
    Settings=DamageSettings,
    Trace=DamageTrace,
    make=_make,
    came=_came,
    rows=damage_texts,
    broken=lambda settings, item_id, backend, reason, detail: DamageTrace(
        item_id, backend, settings.task, notes=(f"internal: {detail}",)
    ),
    report=_report,
    more_files=lambda materials, texts: {"meta-judge.jsonl": to_meta_judge(materials, texts)},
    levels_by=("damage",),
)
