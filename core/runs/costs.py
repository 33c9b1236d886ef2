"""What judges' runs cost, of runs in the database and of the folders they wrote: to be put side by side."""

from pathlib import Path

from core.analysis.judge_costs import JudgeCost
from core.datasets.reading import name_of, reject, shown
from core.datasets.run_costs import costs_of_report
from core.errors import InputError
from core.runs.at_hand import RunAtHand
from core.runs.kinds import KINDS
from core.runs.progress import progress_of
from core.runs.records import RECORDS_FILE, bytes_of, read_report
from core.schema import RULES, RUN_FILE
from core.store.replies import answers_of_others
from core.store.scores import texts_come_to


def cost_of_run(at: RunAtHand) -> JudgeCost:
    """What the run cost so far. Raises InputError for a run that neither judges nor examines judges."""
    number = at.run.run_id
    if at.kind.work not in ("judging", "audit"):
        raise InputError(f"Run {number} is no judge's, it is of the kind {at.kind.name}.")
    n_texts, _ = texts_come_to(at.store, number)
    progress, running = progress_of(at.store, number), at.running
    return JudgeCost(
        _called(at.kind.name, at.path.maker(at.asked)),
        tuple(progress.costs),
        progress.n_done + progress.n_failed,
        n_texts,
        running.input_price,
        running.output_price,
        at.run.n_wanted,
        answers_of_others(at.store, number),
    )


def cost_of_folder(folder: Path) -> JudgeCost:
    """What the run cost that wrote the folder. Raises InputError where it holds none of a judge.

    Prices are those that its run.json names.
    """
    report = read_report(folder)
    kind, settings = report["kind"], report["settings"]
    if kind not in KINDS or KINDS[kind].work not in ("judging", "audit"):
        raise InputError(f"{folder} holds a run of the kind {shown(kind)}; a judge's run is needed.")
    found = costs_of_report(report, folder / RUN_FILE)
    name = settings.get("name") if KINDS[kind].work == "judging" else settings.get("model") or RULES
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
    """An audit says what it is: its name is the model's."""
    return name if KINDS[kind].work == "judging" else f"{kind} of {name}"
