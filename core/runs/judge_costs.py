"""What judges' runs cost, of runs in the database and of the folders they wrote: to be put side by side."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from core.analysis.judge_costs import JudgeCost
from core.datasets.judge_records import RECORDS_FILE
from core.datasets.reading import decode, parse_json, reject, shown
from core.errors import InputError
from core.runs.judge_results import answer_set, judged_texts, marked_texts_of
from core.runs.kinds import maker_of
from core.runs.model_settings import running_of
from core.runs.progress import progress_of
from core.runs.report import RUN_FILE
from core.schema import CHECK_KINDS, JUDGE_KINDS, Run, StepCost
from core.store import Store

_COSTS: TypeAdapter[tuple[StepCost, ...]] = TypeAdapter(tuple[StepCost, ...])
_PRICES: TypeAdapter[Mapping[str, float | None]] = TypeAdapter(Mapping[str, float | None])
_KINDS = (*JUDGE_KINDS, *CHECK_KINDS)


def cost_of_run(store: Store, run: Run) -> JudgeCost:
    """What the run cost so far. Raises InputError for a run that neither judges nor looks at judges."""
    if run.kind not in _KINDS:
        raise InputError(f"Run {run.run_id} is no judge's, it is of the kind {run.kind}.")
    texts: Sequence[object]
    if run.kind in JUDGE_KINDS:
        texts = judged_texts(store, run)
    else:
        texts = answer_set(store, run).sets if run.kind == "answers" else marked_texts_of(store, run)
    progress, running = progress_of(store, run.run_id), running_of(run)
    return JudgeCost(
        _called(run.kind, maker_of(run)),
        tuple(progress.costs),
        progress.n_finished,
        len(texts),
        running.input_price,
        running.output_price,
    )


def cost_of_folder(folder: Path) -> JudgeCost:
    """What the run cost that wrote the folder. Raises InputError where it holds none of a judge.

    Prices are those that its run.json names.
    """
    path = folder / RUN_FILE
    report = _report(path)
    kind, settings = report.get("kind"), report.get("settings")
    if kind not in _KINDS or not isinstance(settings, dict):
        raise InputError(f"{folder} holds a run of the kind {shown(str(kind))}; a judge's run is needed.")
    try:
        costs = _COSTS.validate_python(report.get("costs"))
        prices = _PRICES.validate_python(report.get("prices", {}))
        n_items = sum(int(report[name]) for name in ("done", "failed", "again"))
    except (ValidationError, KeyError, TypeError, ValueError) as wrong:
        raise InputError(
            f"{path} does not say what the run cost: write it again with `runs write`."
        ) from wrong
    name = settings.get("name") if kind in JUDGE_KINDS else settings.get("model") or "rules"
    n_texts = sum(1 for line in _read(folder / RECORDS_FILE).splitlines() if line.strip())
    return JudgeCost(
        _called(kind, str(name)), costs, n_items, n_texts, prices.get("input"), prices.get("output")
    )


def _called(kind: str, name: str) -> str:
    """A look at judges says what it is: its name is the model's."""
    return name if kind in JUDGE_KINDS else f"{kind} of {name}"


def _report(path: Path) -> dict[str, Any]:
    value, problem = parse_json(decode(_read(path), str(path)))
    if problem is not None:
        reject(str(path), [problem])
    return value if isinstance(value, dict) else {}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise InputError(
            f"{path} cannot be read ({problem.strerror or problem}): name a folder that a judge's run wrote."
        ) from problem
