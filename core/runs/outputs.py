"""A run's results as files: the paper's, long tables, Meta-Judge's, and every record."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import PurePath

from core.datasets.factual_report import dataset_json, report_json
from core.datasets.generated import GeneratedText, to_long_csv, to_long_jsonl, to_meta_judge
from core.generation.damage import damage_texts
from core.generation.factual.published import from_traces
from core.generation.records import DamageTrace, FactualTrace
from core.llm.prompts import parse_prompt
from core.runs.generation import materials_of
from core.runs.progress import Progress, progress_of
from core.runs.report import report_file
from core.runs.results import Trace, level_texts, traces_of
from core.runs.settings import settings_of
from core.schema import Material, Run
from core.store import Store


def output_files(store: Store, run: Run) -> dict[str, bytes]:
    """File name -> content, as far as the run is. Items without all their levels are not in dataset.json.

    dataset.json and report.json have the paper's form (levels 0 to 5 in place of A0 to A4 for damage);
    outputs.csv and outputs.jsonl have a row a text, what is missing with its reason; damage also gives
    meta-judge.jsonl; records.jsonl holds everything that was done; run.json settings, counters and cost.
    """
    progress = progress_of(store, run.run_id)
    traces = tuple(traces_of(store, run))
    by_id = {material.item.item_id: material for material in materials_of(store, run).materials}
    materials = [by_id[trace.item_id] for trace in traces]
    texts = [text for trace in traces for text in generated_texts(trace, settings_of(run).source_name)]
    labels = run_labels(run)
    whole = set(settings_of(run).level_names)
    complete = [trace for trace in traces if set(level_texts(trace)) == whole]
    files = {
        "dataset.json": dataset_json((by_id[trace.item_id].item, level_texts(trace)) for trace in complete),
        "report.json": _report(traces, by_id, progress, len(complete)),
        "outputs.csv": to_long_csv(materials, texts, labels),
        "outputs.jsonl": to_long_jsonl(materials, texts, labels),
    }
    if run.kind == "damage":
        files["meta-judge.jsonl"] = to_meta_judge(materials, texts)
    files["records.jsonl"] = b"".join(_line(asdict(trace)) for trace in traces)
    return files | report_file(store, run)


def run_labels(run: Run) -> dict[str, str]:
    """Labels by which scores of the run's texts are grouped: of `RUN_LABELS` those that the run has.

    dataset: the file's name; generator: the model; prompt and shots: those that wrote the levels.
    """
    settings = settings_of(run)
    labels = {"dataset": PurePath(run.data_file).stem}
    if settings.backend == "rules":
        return labels | {"generator": "rules"}
    labels["generator"] = settings.model.rstrip("/").split("/")[-1]
    # The prompt that makes the levels worse; factual runs have others besides, which do not.
    writer = next(
        (text for purpose, text in settings.prompts.items() if purpose.startswith(("damage", "edit"))), None
    )
    if writer is not None:
        prompt = parse_prompt(writer, "prompt.yaml")
        labels |= {"prompt": prompt.name, "shots": prompt.shots}
    return labels


def generated_texts(trace: Trace, source: str) -> tuple[GeneratedText, ...]:
    """An item's levels as long tables have them."""
    if isinstance(trace, DamageTrace):
        return damage_texts(trace, source)
    made = [
        GeneratedText(trace.item_id, level.name, source, level.text, _origin(trace, level.name))
        for level in trace.levels
    ]
    if trace.failed_step is not None:
        reason = f"{trace.failed_step}: {trace.reason}"
        made.append(GeneratedText(trace.item_id, f"A{len(made)}", source, None, "", reason))
    return tuple(made)


def _origin(trace: FactualTrace, level: str) -> str:
    if level == trace.levels[0].name:
        return trace.a0_from or ""
    return "rules" if trace.backend == "rules" else "llm"


def _report(
    traces: tuple[Trace, ...], materials: Mapping[str, Material], progress: Progress, n_complete: int
) -> bytes:
    factual = [trace for trace in traces if isinstance(trace, FactualTrace)]
    if factual:
        return report_json(from_traces(factual, materials, settings_of(progress.run).factual))
    # 000 has no report: the same two parts, counters and items.
    counters: dict[str, object] = {"input_samples": len(traces), "output_samples": n_complete}
    counters |= {f"{step}: {reason}": n for (step, reason), n in progress.failures.items()}
    questions = [
        {
            "id": trace.item_id,
            "question": materials[trace.item_id].item.question,
            "ground_truth": materials[trace.item_id].item.reference,
            "answers": level_texts(trace),
            "notes": list(trace.notes),
        }
        for trace in traces
    ]
    return _json({"report": counters, "questions": questions})


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True).encode("utf-8") + b"\n"


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"
