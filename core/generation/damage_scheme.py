"""Damage levels as a kind of run: 0 (a paraphrase) to 5 (wrong throughout)."""

import json
from collections.abc import Mapping, Sequence

from core.datasets.generated import to_meta_judge
from core.generation.damage import damage, damage_texts
from core.generation.damage_llm import LlmDamage
from core.generation.damage_steps import DamageSettings
from core.generation.records import DamageTrace
from core.generation.rules.damage_steps import RuleDamage
from core.generation.scheme import Came, Scheme, Writer
from core.schema import Material


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
