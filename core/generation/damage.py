"""Damage levels 0 to 5 of one item, and what came of each (000, section 3)."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from core.datasets.findings import same_wording
from core.datasets.generated import GeneratedText
from core.generation.damage_steps import Damaged, DamageSettings, DamageSteps
from core.generation.records import DamageLevel, DamageTrace
from core.llm.asking import Answer
from core.schema import Material


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
