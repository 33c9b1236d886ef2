"""Factual perturbation as a kind of run: A0 to A4, more wrong facts at each level."""

from collections import Counter
from collections.abc import Mapping, Sequence

from core.formats.generation import GeneratedText
from core.formats.trutheval import report_json
from core.generation.factual.asked import LlmSteps
from core.generation.factual.pipeline import perturb
from core.generation.factual.published import from_traces
from core.generation.factual.spans.find import BY_RULES, by_rules_said
from core.generation.factual.spans.helper import Parsers
from core.generation.factual.steps import FactualSettings
from core.generation.language import language_of
from core.generation.records import FactualTrace
from core.generation.rules.factual import RuleSteps
from core.generation.scheme import Came, Scheme, Writer
from core.schema.study import Material


async def _make(settings: FactualSettings, material: Material, writer: Writer) -> FactualTrace:
    steps = (
        RuleSteps(writer.pool, settings.seed)
        if writer.model is None
        else LlmSteps(writer.model, writer.prompts, settings)
    )
    return await perturb(material, steps, settings, writer.parsers)


def _notes(settings: FactualSettings, materials: Sequence[Material], parsers: Parsers) -> tuple[str, ...]:
    languages = Counter(language_of(material) for material in materials)
    if settings.parser != BY_RULES:
        for language in tuple(languages):
            if parsers.find(settings.parser, language) is not None:
                del languages[language]
    n, n_items = languages.total(), len(materials)
    return (by_rules_said(n, n_items, sorted(languages), parsed=n < n_items),) if n else ()


def _came(trace: FactualTrace) -> Came:
    failed = trace.failed_step
    return Came(
        () if failed is None else ((failed, trace.reason or "unknown"),),
        trace.temporary,
        {level.name: level.text for level in trace.levels},
        trace.a0_from == "verbatim",
        trace.spans_by,
    )


def _rows(trace: FactualTrace, source: str) -> Sequence[GeneratedText]:
    made = [
        GeneratedText(trace.item_id, level.name, source, level.text, _origin(trace, level.name))
        for level in trace.levels
    ]
    if trace.failed_step is not None:
        reason = f"{trace.failed_step}: {trace.reason}"
        made.append(GeneratedText(trace.item_id, f"A{len(made)}", source, None, "", reason))
    return made


def _origin(trace: FactualTrace, level: str) -> str:
    if level == trace.levels[0].name:
        return trace.a0_from or ""
    return "rules" if trace.backend == "rules" else "llm"


def _broken(_: FactualSettings, item_id: str, backend: str, reason: str, detail: str) -> FactualTrace:
    return FactualTrace(item_id, backend, failed_step="internal", reason=reason, detail=detail)


def _report(
    settings: FactualSettings,
    traces: Sequence[FactualTrace],
    materials: Mapping[str, Material],
    failures: Mapping[tuple[str, str], int],
) -> bytes:
    return report_json(from_traces(traces, materials, settings))


KIND = Scheme(
    name="factual",
    title="Factual perturbation",
    summary="A0 (as good as the reference) to A4: more wrong facts at each level",
    section="a0-to-a4",
    Settings=FactualSettings,
    Trace=FactualTrace,
    make=_make,
    came=_came,
    rows=_rows,
    broken=_broken,
    notes=_notes,
    report=_report,
    levels_by=("edit", "edit-shared", "edit-text", "edit-planned"),
)
