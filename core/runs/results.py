"""What a run made, as records again."""

from collections.abc import Iterator

from pydantic import TypeAdapter

from core.generation.records import DamageTrace, FactualTrace
from core.runs.settings import settings_of
from core.schema import Run, RunItem
from core.store import Store
from core.store.runs import run_items

Trace = FactualTrace | DamageTrace
_FACTUAL = TypeAdapter(FactualTrace)
_DAMAGE = TypeAdapter(DamageTrace)


def trace_of(run: Run, item: RunItem) -> Trace:
    """The record of one item; of one on which we failed ourselves, an empty one that says so."""
    if any(step == "internal" for step, _ in item.failures):
        return _broken(run, item)
    adapter: TypeAdapter[FactualTrace] | TypeAdapter[DamageTrace] = (
        _FACTUAL if run.kind == "factual" else _DAMAGE
    )
    return adapter.validate_python(item.result)


def traces_of(store: Store, run: Run) -> Iterator[Trace]:
    """The records of all items the run has come to, in the order of the file."""
    for item in run_items(store, run.run_id):
        yield trace_of(run, item)


def level_texts(trace: Trace) -> dict[str, str]:
    """Level -> text, for the levels that were made."""
    if isinstance(trace, FactualTrace):
        return {level.name: level.text for level in trace.levels}
    return {str(level.level): level.text for level in trace.levels if level.text is not None}


def _broken(run: Run, item: RunItem) -> Trace:
    settings = settings_of(run)
    detail = str(item.result.get("detail", ""))
    if run.kind == "factual":
        reason = item.failures[0][1]
        return FactualTrace(
            item.item_id, settings.backend, failed_step="internal", reason=reason, detail=detail
        )
    return DamageTrace(item.item_id, settings.backend, settings.damage.task, notes=(f"internal: {detail}",))
