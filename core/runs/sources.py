"""A run's answers as one source of a study."""

from dataclasses import replace

from core.datasets.beside import SourceAnswers
from core.generation.records import FactualTrace
from core.runs.generation import materials_of
from core.runs.results import Trace, level_texts, traces_of
from core.runs.settings import settings_of
from core.schema import Output, Run
from core.store import Store

MOST_NAMED = 20
"""Items left out that are named."""


def run_answers(store: Store, run: Run) -> SourceAnswers:
    """The items of a run that have all their levels; the others are left out with a note."""
    settings = settings_of(run)
    whole = set(settings.level_names)
    outputs: list[Output] = []
    missing: list[str] = []
    for trace in traces_of(store, run):
        texts = level_texts(trace)
        if set(texts) == whole:
            outputs += [
                Output(trace.item_id, name, settings.source_name, text) for name, text in texts.items()
            ]
        else:
            missing.append(trace.item_id)
    found = {output.item_id for output in outputs}
    items = tuple(m.item for m in materials_of(store, run).materials if m.item.item_id in found)
    where = f"run {run.run_id}"
    notes: tuple[str, ...] = ()
    if missing:
        more = "" if len(missing) <= MOST_NAMED else f" and {len(missing) - MOST_NAMED} more"
        notes = (f"{where}: left out for want of a level: {', '.join(missing[:MOST_NAMED])}{more}",)
    return SourceAnswers(settings.source_name, items, tuple(outputs), where, notes)


def count_verbatim(store: Store, run: Run) -> int:
    """Items whose first level is recorded as the reference word for word."""
    return sum(_is_verbatim(trace) for trace in traces_of(store, run))


def _is_verbatim(trace: Trace) -> bool:
    if isinstance(trace, FactualTrace):
        return trace.a0_from == "verbatim"
    return any(level.level == 0 and level.how == "verbatim" for level in trace.levels)


def renamed(answers: SourceAnswers, source: str) -> SourceAnswers:
    """The same answers under another source's name."""
    outputs = tuple(replace(output, source=source) for output in answers.outputs)
    return replace(answers, source=source, outputs=outputs)
