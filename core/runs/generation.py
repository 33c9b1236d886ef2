"""Runs that generate texts at every level for each item, and their output files."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import PurePath
from typing import Any

from core.errors import InputError
from core.formats.generation import long_csv, long_jsonl, long_rows
from core.formats.registry import read_questions
from core.formats.study.files import SourceAnswers
from core.formats.trutheval import dataset_json
from core.generation.facts import make_pool
from core.generation.factual.spans import BY_RULES, rules_warning
from core.generation.scheme import GenerationSettings, Scheme, Writer
from core.llm.client import Cache
from core.runs.asked import Asked
from core.runs.jobs import AskingJob, BatchJob, Job, Outcome, RunAtHand, WorkPath, grouped, outcome_of
from core.runs.progress import progress_of
from core.runs.records import adapter
from core.runs.working.environments import parsers
from core.runs.working.spreading import job_for
from core.schema.runs import RunItem
from core.schema.settings import Remark
from core.schema.study import Material, MaterialSet, Output
from core.store.runs import run_items
from core.tables.columns import jsonl_bytes

MOST_NAMED = 20
"""Most left-out items that a note names."""


class Generation(WorkPath):
    """The path of generation runs."""

    def read(self, request: Asked, data: bytes, file_name: str) -> MaterialSet:
        """Read the questions, references and other material for the texts."""
        settings: GenerationSettings = request.settings
        return read_questions(data, file_name, task=settings.asked_for)

    def items(self, request: Asked, contents: MaterialSet) -> Mapping[str, Sequence[Material]]:
        """One piece of material per item."""
        return grouped(contents.materials, lambda material: material.item.item_id)

    def check(self, request: Asked, contents: MaterialSet, sha256: str) -> tuple[Remark | str, ...]:
        """Notes from reading the file, and remarks of the scheme."""
        with parsers() as found:
            return *contents.notes, *scheme_of(request).notes(request.settings, contents.materials, found)

    def job(self, run: RunAtHand) -> Job | BatchJob:
        """See GenerationJob."""
        return job_for(run, GenerationJob)

    def files(self, run: RunAtHand) -> dict[str, bytes]:
        """dataset.json and report.json have the form of the Factual paper (levels 0 to 5 instead of A0 to A4 for
        damage), without items that lack a level. outputs.csv and outputs.jsonl have one row per text, with reasons
        for missing ones. records.jsonl contains every step.
        """
        scheme, settings = scheme_of(run.request), run.request.settings
        traces = traces_of(run)
        by_id = _materials_by_id(run)
        materials = [by_id[trace.item_id] for trace in traces]
        texts = [text for trace in traces for text in scheme.rows(trace, run.request.called)]
        labels = run_labels(run)
        made = [(by_id[trace.item_id].item, scheme.came(trace).texts) for trace in traces]
        whole = set(settings.level_names)
        failures = progress_of(run.store, run.run.run_id).failures
        return {
            "dataset.json": dataset_json((item, levels) for item, levels in made if set(levels) == whole),
            "report.json": scheme.report(settings, traces, by_id, failures),
            "outputs.csv": long_csv(materials, texts, labels),
            "outputs.jsonl": long_jsonl(materials, texts, labels),
            **scheme.more_files(materials, texts),
            "records.jsonl": b"".join(_line(asdict(trace)) for trace in traces),
        }


def scheme_of(request: Asked) -> Scheme:
    """The scheme. Asserts that the run is a generation run."""
    assert isinstance(request.kind, Scheme), f"{request.kind.name} does not generate texts"
    return request.kind


def _materials_by_id(run: RunAtHand) -> dict[str, Material]:
    return {material.item.item_id: material for material in run.contents.materials}


class GenerationJob(AskingJob):
    """Job for texts at levels; see core.runs.jobs."""

    def __init__(self, run: RunAtHand) -> None:
        super().__init__(run)
        self._scheme, self._prompts = scheme_of(run.request), run.request.prompts_read
        self._parsers = parsers()
        self._pool = make_pool(run.contents.materials) if self.client is None else None

    async def do(self, position: int, cache: Cache) -> Outcome:
        """Generate every level of one item."""
        (material,) = self.items[position]
        writer = Writer(self.model(cache), self._prompts, self._pool, self._parsers)
        trace = await self._scheme.make(self.asked.settings, material, writer)
        came = self._scheme.came(trace)
        return outcome_of(asdict(trace), came.failures, temporary=came.temporary)

    async def close(self) -> None:
        """See AskingJob; also ends the helper process."""
        self._parsers.close()
        await super().close()


def traces_of(run: RunAtHand) -> tuple[Any, ...]:
    """The records of all processed items, as the scheme's Trace, in the order of the file."""
    return tuple(trace_of(run, item) for item in run_items(run.store, run.run.run_id))


def trace_of(run: RunAtHand, item: RunItem) -> Any:
    """The record of one item."""
    scheme = scheme_of(run.request)
    if any(step == "internal" for step, _ in item.failures):
        detail = str(item.result.get("detail", ""))
        backend, reason = run.request.model.backend, item.failures[0][1]
        return scheme.broken(run.request.settings, item.item_id, backend, reason, detail)
    return adapter(scheme.Trace).validate_python(item.result)


def run_labels(run: RunAtHand) -> dict[str, str]:
    """Labels for grouping scores of the run's texts: those of `RUN_LABELS` that the run has.

    dataset: the file's name; generator: the model; prompt and shots: those of the prompt that wrote the levels.
    """
    labels = {"dataset": PurePath(run.run.data_file).stem, "generator": run.request.model.short_name}
    scheme, prompts = scheme_of(run.request), run.request.prompts_read
    # The prompt that degrades the texts; a run may use other prompts too.
    writer = next((prompts[purpose] for purpose in scheme.levels_by if purpose in prompts), None)
    return labels if writer is None else labels | {"prompt": writer.name, "shots": writer.shots}


def texts_of_run(run: RunAtHand) -> tuple[bytes, str]:
    """The run's texts as in its outputs.jsonl, and a file name. Raises InputError if there are none."""
    number, work = run.run.run_id, run.kind.work
    if work != "generation":
        does = "examines judges" if work == "audit" else "scores texts"
        raise InputError(f"Run {number} {does} and has no texts of its own: choose a generation run.")
    traces = traces_of(run)
    if not traces:
        raise InputError(f"Run {number} has not generated any text yet.")
    by_id = _materials_by_id(run)
    texts = [text for trace in traces for text in scheme_of(run.request).rows(trace, run.request.called)]
    rows = long_rows([by_id[trace.item_id] for trace in traces], texts, run_labels(run))
    name = f"run-{number}-{PurePath(run.run.data_file).stem}.jsonl"
    return jsonl_bytes({key: value for key, value in row.items() if key != "origin"} for row in rows), name


def has_texts(run: RunAtHand) -> bool:
    """Whether the run has generated a text; a finished run may have failed on every item."""
    scheme = scheme_of(run.request)
    items = run_items(run.store, run.run.run_id)
    return any(scheme.came(trace_of(run, item)).texts for item in items)


def run_answers(run: RunAtHand) -> SourceAnswers:
    """The items of a run with all levels, as one system of a study; other items are left out with a note."""
    scheme, called = scheme_of(run.request), run.request.called
    whole = set(run.request.settings.level_names)
    outputs: list[Output] = []
    missing: list[str] = []
    for trace in traces_of(run):
        texts = scheme.came(trace).texts
        if set(texts) == whole:
            outputs += [Output(trace.item_id, name, called, text) for name, text in texts.items()]
        else:
            missing.append(trace.item_id)
    found = {output.item_id for output in outputs}
    items = tuple(one.item for one in run.contents.materials if one.item.item_id in found)
    where = f"run {run.run.run_id}"
    more = "" if len(missing) <= MOST_NAMED else f" and {len(missing) - MOST_NAMED} more"
    note = f"{where}: left out because a level is missing: {', '.join(missing[:MOST_NAMED])}{more}"
    return SourceAnswers(called, items, tuple(outputs), where, (note,) if missing else ())


def spans_found_by(run: RunAtHand) -> dict[str, int]:
    """Method that found the facts in A0 -> number of items; empty if the scheme searches no facts or no item is processed."""
    scheme = scheme_of(run.request)
    found = Counter(scheme.came(trace).spans_by for trace in traces_of(run))
    return {name: n for name, n in sorted(found.items()) if name}


def spans_warning(counts: Mapping[str, int]) -> str | None:
    """Warning about facts found by rules; None: a parse found all, or there was no search."""
    n = counts.get(BY_RULES, 0)
    return rules_warning(n, sum(counts.values()), parsed=len(counts) > 1) if n else None


def count_verbatim(run: RunAtHand) -> int:
    """Number of items whose first level is the reference word for word."""
    return sum(scheme_of(run.request).came(trace).verbatim for trace in traces_of(run))


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True).encode("utf-8") + b"\n"
