"""Texts to be scored that are no file yet: of a generation run, of a study, of an mt-metrics-eval folder."""

import re
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from core.datasets.generated import long_rows
from core.datasets.mt_metrics_eval import read_folder_outputs
from core.datasets.rows import jsonl_bytes
from core.datasets.scorable import write_outputs
from core.errors import InputError
from core.runs.generation import materials_of
from core.runs.outputs import generated_texts, run_labels
from core.runs.results import traces_of
from core.runs.settings import settings_of
from core.schema import GENERATION_KINDS, SCORE_KINDS, Run, Study
from core.store import Store
from core.study.release import released_record

Texts = tuple[bytes, str]
"""A file of texts and its name."""


def texts_of_run(store: Store, run: Run) -> Texts:
    """What a generation run made, as its outputs.jsonl has it, each text with the labels of `run_labels`."""
    if run.kind not in GENERATION_KINDS:
        does = (
            "scores texts, it makes none" if run.kind in SCORE_KINDS else "looks at judges, it makes no texts"
        )
        raise InputError(f"Run {run.run_id} {does}: name a run of generation.")
    settings = settings_of(run)
    traces = tuple(traces_of(store, run))
    if not traces:
        raise InputError(f"Run {run.run_id} has made no text yet.")
    by_id = {material.item.item_id: material for material in materials_of(store, run).materials}
    texts = [text for trace in traces for text in generated_texts(trace, settings.source_name)]
    rows = long_rows([by_id[trace.item_id] for trace in traces], texts, run_labels(run))
    name = f"run-{run.run_id}-{PurePath(run.data_file).stem}.jsonl"
    return jsonl_bytes(_without(row, "origin") for row in rows), name


def texts_of_study(store: Store, study: Study) -> Texts:
    """Both sources' answers. Raises NotAllowed before the study is unblinded: scores by source would tell."""
    record = released_record(store, study)
    items = {item.item_id: item for item in record.items}
    rows = (
        {
            "item_id": output.item_id,
            "question": items[output.item_id].question,
            "reference": items[output.item_id].reference,
            "language": items[output.item_id].language,
            "level": output.level,
            "source": output.source,
            "text": output.text,
        }
        for output in record.outputs
    )
    name = re.sub(r"[^\w-]+", "-", study.name)
    return jsonl_bytes(rows), f"study-{name}.jsonl"


def texts_of_folder(path: Path, language_pair: str | None = None) -> tuple[Texts, tuple[str, ...]]:
    """The systems' translations of an mt-metrics-eval folder, and what its reader notes."""
    outputs = read_folder_outputs(path, language_pair=language_pair)
    pair = "" if language_pair is None else f"-{language_pair}"
    return (write_outputs(outputs.outputs), f"{path.resolve().name}{pair}.jsonl"), outputs.notes


def _without(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}
