"""Damage levels 0 (a paraphrase) to 5 (wrong throughout) of one item, and as a kind of run (Meta-Judge, section 3)."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from core.formats.generation import GeneratedText, to_meta_judge
from core.generation.damage.steps import Damaged, DamageSettings, DamageSteps, LlmDamage
from core.generation.records import DamageLevel, DamageTrace
from core.generation.rules.damage import RuleDamage
from core.generation.scheme import Came, Scheme, Writer
from core.llm.asking import Answer
from core.schema.study import Material
from core.tables.problems import same_wording


@runtime_checkable
class TakesAnother(Protocol):
    """Steps that can be asked for another text: a model's. Rules know what they gave the levels below."""

    async def another(
        self, material: Material, level: int, said: str, attempts: int, taken: Mapping[str, int]
    ) -> Answer[Damaged]:
        """A text that no other level has, or no value with the reason.

        said: the level's text so far; attempts: the answers it took, which count on; taken: the wording of the
        other levels' texts -> whose it is.
        """


async def damage(material: Material, steps: DamageSteps, settings: DamageSettings) -> DamageTrace:
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
    if isinstance(steps, TakesAnother):
        await _tell_apart(material, steps, levels)
    return DamageTrace(
        item_id=material.item.item_id,
        backend=steps.backend,
        task=settings.task,
        levels=tuple(levels),
        notes=tuple(_notes(levels)),
        prompts=steps.prompts,
    )


async def _tell_apart(material: Material, steps: TakesAnother, levels: list[DamageLevel]) -> None:
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
            reason=_why(level),
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


def _why(level: DamageLevel) -> str:
    if level.text is not None:
        return ""
    return f"{level.reason}: {level.detail}" if level.detail else level.reason or ""


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


def _broken(settings: DamageSettings, item_id: str, backend: str, reason: str, detail: str) -> DamageTrace:
    return DamageTrace(item_id, backend, settings.task, notes=(f"internal: {detail}",))


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
    broken=_broken,
    report=_report,
    more_files=lambda materials, texts: {"meta-judge.jsonl": to_meta_judge(materials, texts)},
    levels_by=("damage",),
)
