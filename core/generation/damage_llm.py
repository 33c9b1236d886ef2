"""Damage levels written by a model: one request a level, greedy, checked before it counts."""

from collections.abc import Mapping
from dataclasses import replace

from core.datasets.findings import same_wording
from core.generation.damage_checks import changed_numbers, check_damage
from core.generation.damage_steps import MAX_TOKENS, Damaged, DamageSettings
from core.llm.asking import LONGEST_ECHO, Answer, Model, Unusable
from core.llm.client import Message, Request
from core.llm.parsing import read_text
from core.llm.prompts import Prompt, for_use
from core.schema import Material

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
    """Implements DamageSteps with a model and a prompt for the settings' task."""

    def __init__(self, model: Model, prompt: Prompt, settings: DamageSettings) -> None:
        self._model, self._prompt = model, for_use(prompt, STEP, settings.task)
        self._settings = settings

    @property
    def backend(self) -> str:
        """`openai` or `vllm`."""
        return self._model.client.backend

    @property
    def prompts(self) -> dict[str, str] | None:
        """The sha256 of the prompt."""
        return {STEP: self._prompt.sha256}

    async def damage(self, material: Material, level: int) -> Answer[Damaged]:
        """The reference, damaged by the model; an answer that fails a check is asked again."""
        return await self._model.ask(
            self._request(material, level), lambda answer: self._read(material, level, answer)
        )

    async def another(
        self, material: Material, level: int, said: str, attempts: int, taken: Mapping[str, int]
    ) -> Answer[Damaged]:
        """Another text for a level whose text another level has; only where an attempt is left.

        A text that is taken too is not asked about again: a greedy model would go on repeating itself.
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
