"""Made levels checked by a judge: the judge's texts and claims, and the steps of the run that made them."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from core.formats.registry import read_texts
from core.generation.factual.steps import FactualTrace
from core.judges.claims import KIND as CLAIMS
from core.judges.pairwise import KIND as PAIRWISE
from core.judges.pairwise import tells_levels
from core.results.judges.made_levels import (
    Made,
    Steps,
    judged_texts,
    plain_texts,
    steps_of,
)
from core.runs.generation import texts_of_run, traces_of
from core.runs.jobs import RunAtHand
from core.runs.judging import judge_output
from core.runs.kinds import KINDS
from core.runs.path import runs_that, saved_run
from core.runs.records import RECORDS_FILE, adapter, bytes_of, read_judge_folder, read_report
from core.schema.runs import RULES, Run
from core.schema.scores import JudgeOutput, ScorableOutput
from core.schema.study import Item, Material
from core.store import Store
from core.store.runs import list_runs
from core.tables.reading import sha256_of
from core.tables.writer import csv_bytes

OUTPUTS_FILE = "outputs.jsonl"
_MADE_BY = re.compile(r"run-(\d+)-")
"""How the file of a generation run's texts begins; see texts_of_run."""
QUESTION_COLUMNS = ("item_id", "question", "reference", "context", "paraphrase", "language")


def made_of_outputs(outputs: Sequence[ScorableOutput]) -> Made:
    """The texts of a file."""
    return Made(tuple(plain_texts(outputs)))


def made_of_judge(output: JudgeOutput) -> Made:
    """The texts of a judge's output, with the claims of a claims judge."""
    by_rules = output.model == RULES
    verifier = output.settings.get("verifier", "")
    stand_in = verifier == RULES or (by_rules and verifier != "nli")
    return Made(
        tuple(judged_texts(output)),
        stand_in=output.kind == CLAIMS.name and stand_in,
        blind_to_levels=blind_to_levels(output),
    )


def blind_to_levels(output: JudgeOutput) -> bool:
    """Whether a judge only compared texts of one level: its scores are shares of wins there, and one half on average at each level."""
    between = str(output.settings.get("between", "systems"))
    return output.kind == PAIRWISE.name and not tells_levels((one.row for one in output.texts), between)


def made_of_generation(run: RunAtHand) -> Made:
    """The texts of a generation run, with its stored steps. Raises InputError if it has none."""
    found = made_of_outputs(read_texts(*texts_of_run(run)).outputs)
    return replace(found, steps=_steps(traces_of(run)), materials=run.contents.materials)


def made_of_folder(folder: Path) -> Made:
    """What a run's folder has of its texts: a judge's with claims, a generation run's with stored steps. Raises InputError."""
    work = KINDS[read_report(folder)["kind"]].work
    if work == "judging":
        return made_of_judge(read_judge_folder(folder))
    if work != "generation":
        return Made()
    texts = read_texts(bytes_of(folder / OUTPUTS_FILE), OUTPUTS_FILE)
    lines = bytes_of(folder / RECORDS_FILE).splitlines()
    records = adapter(FactualTrace)
    traces = [records.validate_json(line) for line in lines] if lines and b'"groups"' in lines[0] else []
    return replace(made_of_outputs(texts.outputs), steps=_steps(traces))


def _steps(traces: Iterable[object]) -> dict[str, Steps]:
    found = {
        trace.item_id: steps_of(trace)
        for trace in traces
        if isinstance(trace, FactualTrace) and trace.failed_step is None
    }
    return {item: steps for item, steps in found.items() if steps is not None}


def made_by(run: RunAtHand) -> RunAtHand | None:
    """The generation run whose texts a run scored, by the name of its file; None if there is none.

    Of another database's run with the same number, no steps are used: they belong to texts that are equal.
    """
    named = _MADE_BY.match(run.run.data_file)
    numbers = {one.run_id: one for one in runs_that(run.store, "generation")}
    found = numbers.get(int(named.group(1))) if named else None
    return None if found is None else saved_run(run.store, found)


def made_of_run(run: RunAtHand) -> Made:
    """The texts that a run made or scored: with claims from a claims judge, with steps from the run that made them."""
    if run.kind.work == "generation":
        return made_of_generation(run)
    if run.kind.work == "judging":
        found = made_of_judge(judge_output(run))
    else:
        found = made_of_outputs(run.contents.outputs)
    source = made_by(run)
    return found if source is None else found.beside(made_of_generation(source))


def scored_by(store: Store, made: Run, texts: bytes) -> list[Run]:
    """The runs that score the texts of a generation run; claims judges first, then the newest first."""
    own = sha256_of(texts)
    runs = [
        one
        for one in runs_that(store, "judging", "scores")
        if one.data_sha256 == own or one.data_file.startswith(f"run-{made.run_id}-")
    ]
    return sorted(runs, key=lambda one: one.kind != CLAIMS.name)


def checks_of(store: Store, data_sha256: str) -> list[Run]:
    """The claims judges' runs of a file, newest first."""
    return [one for one in list_runs(store, (CLAIMS.name,)) if one.data_sha256 == data_sha256]


def questions_csv(items: Collection[str], made: Made) -> bytes:
    """The questions of these items as a table for `generate`, in the order of the file.

    The questions of the run that made the levels; without it, those of the texts, whose question may be a source text.
    """
    materials = made.materials or _materials(made)
    rows = [
        {
            "item_id": one.item.item_id,
            "question": one.item.question,
            "reference": one.item.reference,
            "context": one.context,
            "paraphrase": one.paraphrase,
            "language": one.item.language,
        }
        for one in materials
        if one.item.item_id in items
    ]
    filled = [name for name in QUESTION_COLUMNS if any(row[name] for row in rows)]
    return csv_bytes(filled, ({name: row[name] for name in filled} for row in rows))


def _materials(made: Made) -> tuple[Material, ...]:
    first = {row.item_id: text for row, text in reversed(made.texts)}
    order = dict.fromkeys(row.item_id for row, _ in made.texts)
    return tuple(
        Material(Item(item, first[item].question or "", first[item].reference or "", first[item].language))
        for item in order
    )
