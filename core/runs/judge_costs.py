"""What judges' runs cost, of runs in the database and of the folders they wrote: to be put side by side."""

from pathlib import Path

from core.analysis.judge_costs import JudgeCost
from core.datasets.judge_records import RECORDS_FILE, bytes_of, read_report
from core.datasets.reading import name_of, reject, shown
from core.datasets.run_costs import costs_of_report
from core.errors import InputError
from core.runs.kinds import maker_of
from core.runs.model_settings import running_of
from core.runs.progress import progress_of
from core.schema import JUDGE_KINDS, JUDGING_KINDS, RULES, RUN_FILE, Run
from core.store import Store
from core.store.replies import answers_of_others
from core.store.scores import texts_come_to


def cost_of_run(store: Store, run: Run) -> JudgeCost:
    """What the run cost so far. Raises InputError for a run that neither judges nor looks at judges."""
    if run.kind not in JUDGING_KINDS:
        raise InputError(f"Run {run.run_id} is no judge's, it is of the kind {run.kind}.")
    n_texts, _ = texts_come_to(store, run.run_id)
    progress, running = progress_of(store, run.run_id), running_of(run)
    return JudgeCost(
        _called(run.kind, maker_of(run)),
        tuple(progress.costs),
        progress.n_done + progress.n_failed,
        n_texts,
        running.input_price,
        running.output_price,
        run.n_wanted,
        answers_of_others(store, run.run_id),
    )


def cost_of_folder(folder: Path) -> JudgeCost:
    """What the run cost that wrote the folder. Raises InputError where it holds none of a judge.

    Prices are those that its run.json names.
    """
    report = read_report(folder)
    kind, settings = report["kind"], report["settings"]
    if kind not in JUDGING_KINDS:
        raise InputError(f"{folder} holds a run of the kind {shown(kind)}; a judge's run is needed.")
    found = costs_of_report(report, folder / RUN_FILE)
    name = settings.get("name") if kind in JUDGE_KINDS else settings.get("model") or RULES
    if not isinstance(name, str) or name_of(name) is None:
        reject(str(folder / RUN_FILE), [f"settings: no name tells whose run of the kind {kind} it is"])
    n_texts = sum(1 for line in bytes_of(folder / RECORDS_FILE).splitlines() if line.strip())
    return JudgeCost(
        _called(kind, name),
        found.costs,
        found.n_done + found.n_failed,
        n_texts,
        found.input_price,
        found.output_price,
        found.n_items,
        found.n_found,
    )


def _called(kind: str, name: str) -> str:
    """A look at judges says what it is: its name is the model's."""
    return name if kind in JUDGE_KINDS else f"{kind} of {name}"
