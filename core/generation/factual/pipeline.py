"""One item -> A0, A1 ... An and the trace of how they were made: the order of 003's steps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.generation.factual.editing import Places, check_edit, edits_problem, splice
from core.generation.factual.selection import deal, keep_first, overlaps, stop_words_for, stop_words_name
from core.generation.factual.spans.find import find_spans
from core.generation.factual.spans.helper import Parsers
from core.generation.factual.steps import EditTask, FactualSettings, Steps
from core.generation.language import known_language
from core.generation.records import A0Origin, Dropped, Edit, FactualLevel, FactualTrace, Span
from core.llm.asking import Answer
from core.schema.study import FIRST_LEVEL, Material
from core.tables.reading import clean_text

SPANS_PER_LEVEL = 3
"""What the rules look for: two that are edited, and one that the filter or `keep` takes."""
NO_SPANS = "no spans"
VERBATIM = "A0 is the reference word for word: there was no paraphrase."
EMPTY_LEVEL = "No span was left for this level: the text is that of the level before."


@dataclass(frozen=True)
class _Chosen:
    """What filter, ranking and keep decided."""

    dropped: tuple[Dropped, ...]
    ranking: tuple[int, ...]
    kept: tuple[int, ...]


async def perturb(
    material: Material, steps: Steps, settings: FactualSettings, parsers: Parsers | None = None
) -> FactualTrace:
    """Every level of one item. A step that fails ends it, with step, reason and detail in the trace.

    parsers: where a parser is looked for; None: in this process.
    """
    trace = FactualTrace(material.item.item_id, steps.backend, prompts=steps.prompts)
    answer, origin = await _first_text(material, steps)
    if answer.value is None:
        return _failed(trace, "paraphrase", answer)
    text = answer.value
    both = f"{material.item.question} {text}"
    language = known_language(material.item.language, both)
    first = FactualLevel(FIRST_LEVEL, text, attempts=answer.attempts if origin == "llm" else 0)
    notes = (VERBATIM,) if origin == "verbatim" else ()
    wanted, by_rules = SPANS_PER_LEVEL * settings.n_levels, steps.backend == "rules"
    spans, spans_by = find_spans(text, language, settings.parser, wanted, for_rules=by_rules, parsers=parsers)
    stop_words = stop_words_for(material.item.language, both)
    trace = replace(trace, a0_from=origin, levels=(first,), notes=notes, spans=spans, spans_by=spans_by)
    trace = replace(trace, stop_words=stop_words_name(settings.question_filter, stop_words))
    if not spans:
        return _failed(
            trace, "spans", Answer(None, NO_SPANS, "Nothing in A0 looks like a fact that can change.")
        )
    shared = overlaps(material.item.question, spans, settings.question_filter, stop_words)
    ranked = await _choose(material, steps, settings, text, spans, shared)
    if ranked.value is None:
        trace = replace(trace, dropped=shared)
        return _failed(trace, "rank", ranked)
    chosen = ranked.value
    trace = replace(trace, dropped=chosen.dropped, ranking=chosen.ranking, kept=chosen.kept)
    if not chosen.kept:
        detail = f"All {len(spans)} spans share a word with the question or were not kept."
        return _failed(trace, "question filter", Answer(None, NO_SPANS, detail))
    groups = deal(chosen.kept, settings.n_levels, settings.seed, material.item.item_id)
    trace = replace(trace, groups=groups, notes=(*trace.notes, *_shortage(groups)))
    return await _edit_levels(material, steps, settings, trace)


async def _first_text(material: Material, steps: Steps) -> tuple[Answer[str], A0Origin]:
    asked = await steps.paraphrase(material)
    if asked is not None:
        return asked, "llm"
    if material.paraphrase is not None:
        return Answer(clean_text(material.paraphrase)), "paraphrase"
    return Answer(clean_text(material.item.reference)), "verbatim"


async def _choose(
    material: Material,
    steps: Steps,
    settings: FactualSettings,
    text: str,
    spans: Sequence[Span],
    shared: tuple[Dropped, ...],
) -> Answer[_Chosen]:
    """Ranking and keep before or after the question filter, as the settings say."""
    in_question = {entry.span for entry in shared}
    first_filter = settings.filter_order == "paper"
    candidates = [n for n in range(len(spans)) if not (first_filter and n in in_question)]
    ranked = await steps.rank(material, text, spans, candidates)
    if ranked.value is None:
        return Answer(None, ranked.reason, ranked.detail, ranked.attempts)
    ranking = ranked.value
    if sorted(ranking) != candidates:
        raise ValueError(f"{steps.backend} ranked {ranking} where {candidates} was asked for")
    first = keep_first(ranking, settings.keep)
    kept = tuple(number for number in first if number not in in_question)
    rest = {number for number in ranking if number not in first} - in_question
    dropped = (*shared, *(Dropped(number, "not kept") for number in rest))
    return Answer(_Chosen(tuple(sorted(dropped, key=lambda entry: entry.span)), ranking, kept))


def _shortage(groups: Sequence[Sequence[int]]) -> tuple[str, ...]:
    empty = [f"A{level}" for level, group in enumerate(groups, start=1) if not group]
    if not empty:
        return ()
    n_spans = sum(len(group) for group in groups)
    said = f"{', '.join(empty)} {'equals' if len(empty) == 1 else 'equal'} the level before"
    return (f"Fewer spans ({n_spans}) than levels ({len(groups)}): {said}.",)


async def _edit_levels(
    material: Material, steps: Steps, settings: FactualSettings, trace: FactualTrace
) -> FactualTrace:
    text = trace.levels[0].text
    places: Places = tuple((span.start, span.end) for span in trace.spans)
    shared: Answer[tuple[tuple[Edit, ...], ...]] | None = None
    if settings.edit_calls == "shared":
        tasks = [_task(trace, text, places, level) for level in range(1, len(trace.groups) + 1)]
        shared = await steps.edit(material, tasks)
        if shared.value is None:
            return _failed(trace, "edit", shared)
    for level in range(1, len(trace.groups) + 1):
        task = _task(trace, text, places, level)
        if shared is not None and shared.value is not None:
            answer = Answer(shared.value[level - 1], attempts=shared.attempts if level == 1 else 0)
        else:
            answer = await _edit_one(material, steps, task)
        if answer.value is None:
            return _failed(trace, "edit", replace(answer, detail=f"A{level}: {answer.detail}"))
        problem = edits_problem(task, answer.value)
        after, after_places = splice(text, places, answer.value) if problem is None else (text, places)
        problem = problem or check_edit(task, after, after_places)
        if problem is not None:
            return _failed(trace, "edit", Answer(None, problem.kind, f"A{level}: {problem.detail}"))
        text, places = after, after_places
        made = _level(task, text, answer)
        trace = replace(trace, levels=(*trace.levels, made))
    return trace


def _task(trace: FactualTrace, text: str, places: Places, level: int) -> EditTask:
    later = tuple(sorted(number for group in trace.groups[level:] for number in group))
    group = trace.groups[level - 1]
    return EditTask(level, text, places, group, later, trace.spans, levels=len(trace.groups))


async def _edit_one(material: Material, steps: Steps, task: EditTask) -> Answer[tuple[Edit, ...]]:
    if not task.group:
        return Answer((), attempts=0)
    answer = await steps.edit(material, [task])
    value = None if answer.value is None else answer.value[0]
    return Answer(value, answer.reason, answer.detail, answer.attempts)


def _level(task: EditTask, text: str, answer: Answer[tuple[Edit, ...]]) -> FactualLevel:
    edits = tuple(sorted(answer.value or (), key=lambda edit: task.places[edit.span]))
    note = "" if task.group else EMPTY_LEVEL
    asked = answer.attempts if any(edit.how == "llm" for edit in edits) else 0
    return FactualLevel(f"A{task.level}", text, task.group, edits, asked, note)


def _failed(trace: FactualTrace, step: str, answer: Answer[Any]) -> FactualTrace:
    return replace(
        trace,
        failed_step=step,
        reason=answer.reason or "no answer",
        detail=answer.detail,
        temporary=answer.temporary,
    )
