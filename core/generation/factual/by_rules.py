"""Factual perturbation without a model: the judgement steps of 003, by rule."""

from collections.abc import Sequence

from core.generation.facts import RANKS, Pool, content_words, find_facts
from core.generation.factual.parse import Span
from core.generation.factual.steps import Edit, EditTask, splice
from core.generation.language import language_of
from core.generation.numbers import WHOLES, Draw, is_part, makes_sense
from core.generation.replacing import match_case, substitute
from core.generation.stretches import classify
from core.llm.asking import Answer
from core.schema.study import Material

MOST_REDRAWS = 8
"""Other draws tried where the new numbers contradict each other."""


class RuleSteps:
    """The steps that need judgement, by rule. The same seed and pool give the same output."""

    backend = "rules"
    prompts = None

    def __init__(self, pool: Pool, seed: int = 0) -> None:
        self._pool = pool
        self._seed = seed

    async def paraphrase(self, material: Material) -> Answer[str] | None:
        """Rules write no paraphrase: the file's is taken, or the reference word for word."""
        return None

    async def rank(
        self, material: Material, text: str, spans: Sequence[Span], candidates: Sequence[int]
    ) -> Answer[tuple[int, ...]]:
        """Numbers, dates and names first, then terms and opposites, then hedges; ties by place in the text."""
        language = language_of(material)
        order = sorted(candidates, key=lambda n: (self._rank(spans[n], language), spans[n].start))
        return Answer(tuple(order))

    def _rank(self, span: Span, language: str) -> int:
        kind = self._kind(span, language)
        own = RANKS.get(kind, 1)
        found = [fact.rank for fact in find_facts(span.text, language, self._pool)]
        # A long span counts for the best it holds: "in the bakery of Thomas Farriner" holds a name.
        return min([own, *found]) if kind != "hedge" else own

    def _kind(self, span: Span, language: str) -> str:
        return span.kind if span.kind in RANKS else classify(span.text, language)

    async def edit(
        self, material: Material, tasks: Sequence[EditTask]
    ) -> Answer[tuple[tuple[Edit, ...], ...]]:
        """One substitution for every span of each group; the same text gets the same replacement in a group."""
        return Answer(tuple(self._edits(material, task) for task in tasks))

    def _edits(self, material: Material, task: EditTask) -> tuple[Edit, ...]:
        language = language_of(material)
        held = [fact.text for fact in find_facts(task.text, language, self._pool)]
        draw = Draw(self._seed, material.item.item_id, f"A{task.level}")
        edits = self._drawn(task, language, held, draw)
        for turn in range(MOST_REDRAWS):
            if makes_sense(splice(task.text, task.places, edits)[0], language):
                break
            edits = self._drawn(task, language, held, draw.child("again", turn))
        else:
            edits = tuple(_without_part(task, edit, language, draw) for edit in edits)
        return edits

    def _drawn(self, task: EditTask, language: str, held: Sequence[str], draw: Draw) -> tuple[Edit, ...]:
        made: dict[str, tuple[str, str]] = {}
        around = tuple(task.text[a:b] for a, b in content_words(task.text, language))
        edits = []
        for number in sorted(task.group, key=lambda n: task.places[n]):
            start, end = task.places[number]
            old = task.text[start:end]
            if old not in made:
                used = [*held, *(new for new, _ in made.values())]
                kind = self._kind(task.spans[number], language)
                made[old] = substitute(old, kind, language, self._pool, draw, used, around)
            edits.append(Edit(number, old, *made[old]))
        return tuple(edits)


def _without_part(task: EditTask, edit: Edit, language: str, draw: Draw) -> Edit:
    """`all of which` for `two of which`: no number stands there that could be too large."""
    words = WHOLES.get(language, ())
    if not words or edit.how != "number moved" or not is_part(task.text, task.places[edit.span][1]):
        return edit
    return Edit(edit.span, edit.old, match_case(edit.old, draw.choose(words, "whole")), "part swapped")
