"""Damage levels written by a model: one request a level, greedy, checked before it counts."""

from core.errors import InputError
from core.generation.damage_checks import check_damage
from core.generation.damage_steps import MAX_TOKENS, Damaged, DamageSettings
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Request
from core.llm.parsing import read_text
from core.llm.prompts import Prompt
from core.schema import Material

STEP = "damage"
"""Under which calls and tokens are counted."""
_CONTEXT_NAMES = {
    "qa-passage": "passage",
    "summary": "source_text",
    "translation": "source_sentence",
}
"""Task -> the variable of its prompts that holds a material's context."""


class LlmDamage:
    """Implements DamageSteps with a model and a prompt for the settings' task."""

    def __init__(self, model: Model, prompt: Prompt, settings: DamageSettings) -> None:
        if (prompt.purpose, prompt.task) != (STEP, settings.task):
            raise InputError(
                f"Prompt {prompt.name} is for {prompt.purpose} ({prompt.task}); "
                f"one for {STEP} ({settings.task}) is needed"
            )
        self._model = model
        self._prompt = prompt
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

        def read(answer: str) -> Damaged:
            text = read_text(answer)
            if problem := check_damage(material, level, text, self._settings.task):
                kind, sentence = problem
                raise Unusable(sentence, kind)
            return Damaged(text, "llm")

        request = Request(
            step=STEP,
            messages=self._prompt.messages(**self._variables(material, level)),
            max_tokens=MAX_TOKENS,
            temperature=0.0,
            seed=self._settings.seed,
        )
        return await self._model.ask(request, read)

    def _variables(self, material: Material, level: int) -> dict[str, str | int]:
        offered: dict[str, str | int] = {
            "question": material.item.question,
            "reference": material.item.reference,
            "level": level,
        }
        if name := _CONTEXT_NAMES.get(self._settings.task):
            offered[name] = material.context or ""
        return {name: offered[name] for name in self._prompt.variables}
