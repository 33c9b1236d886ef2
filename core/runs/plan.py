"""From what a user chose to a run that is kept: prompts found, everything checked, nothing begun."""

from collections.abc import Sequence

from core import __version__
from core.datasets.questions import read_questions
from core.datasets.reading import sha256_of
from core.errors import InputError
from core.generation.records import EditCalls, Task
from core.llm.prompts import Prompt, find_prompt
from core.runs.progress import is_worked_on
from core.runs.settings import (
    GenerationSettings,
    RunningSettings,
    as_kept,
    check_settings,
    normalised,
    same_work,
    settings_of,
)
from core.schema import MaterialSet, Run, RunKind
from core.store import Store
from core.store.runs import change_run, get_run, insert_run, item_states, list_runs

EDIT_PURPOSES = ("edit", "edit-shared", "edit-text")
"""Forms in which a model may be asked for an edit; a run uses one of them."""


def default_prompts(kind: RunKind, task: Task, edit_calls: EditCalls) -> dict[str, str]:
    """Purpose -> name of the shipped prompt that is used unless another is chosen."""
    if kind == "damage":
        return {"damage": f"damage-{task}"}
    edit = "edit" if edit_calls == "each" else "edit-shared"
    return {purpose: f"factual-{purpose}" for purpose in ("paraphrase", "rank", edit)}


def choose_prompts(
    kind: RunKind, task: Task, edit_calls: EditCalls, chosen: Sequence[Prompt] = ()
) -> dict[str, str]:
    """Purpose -> the whole text of its prompt: the chosen ones, else those shipped.

    Raises InputError for a prompt that this kind of run has no use for, or two for the same purpose.
    """
    defaults = default_prompts(kind, task, edit_calls)
    problems = []
    found: dict[str, Prompt] = {}
    for prompt in chosen:
        slot = "edit-text" if prompt.purpose == "edit-text" and "edit" in defaults else prompt.purpose
        if slot not in (*defaults, "edit-text" if "edit" in defaults else ""):
            problems.append(
                f"prompt {prompt.name}: is for {prompt.purpose}; this run asks for {', '.join(defaults)}"
            )
        elif slot in found or (slot in EDIT_PURPOSES and any(edit in found for edit in EDIT_PURPOSES)):
            problems.append(f"prompt {prompt.name}: is the second one for {prompt.purpose}; choose one")
        elif prompt.task is not None and prompt.task != task:
            problems.append(f"prompt {prompt.name}: is for the task {prompt.task}, the run's is {task}")
        else:
            found[slot] = prompt
    if problems:
        raise InputError("The prompts do not fit", problems)
    if "edit-text" in found:
        defaults.pop("edit", None)
    shipped = {
        purpose: find_prompt(name, purpose) for purpose, name in defaults.items() if purpose not in found
    }
    return {purpose: prompt.dump() for purpose, prompt in {**shipped, **found}.items()}


def named_prompts(names: Sequence[str]) -> list[Prompt]:
    """Prompts by name of a shipped one or path of a file."""
    return [find_prompt(name) for name in names]


def create_run(
    store: Store,
    data: bytes,
    file_name: str,
    settings: GenerationSettings,
    running: RunningSettings,
    limit: int | None = None,
) -> tuple[Run, MaterialSet]:
    """Keep a run that waits to be started, and say what it will work on. Raises InputError with all problems."""
    check_settings(settings, running)
    _check_limit(limit, 0)
    settings = normalised(settings)
    task = settings.damage.task if settings.kind == "damage" else None
    materials = read_questions(data, file_name, task)
    run = Run(
        run_id=0,
        kind=settings.kind,
        state="waiting",
        settings=as_kept(settings),
        running=as_kept(running),
        data_file=file_name,
        data_sha256=sha256_of(data),
        n_items=len(materials.materials),
        limit=None if limit is None else min(limit, len(materials.materials)),
        created_utc="",
        app_version=__version__,
    )
    return insert_run(store, run, data), materials


def find_same(store: Store, data: bytes, settings: GenerationSettings) -> Run:
    """The newest run that was asked for exactly this. Raises InputError when there is none to resume."""
    settings = normalised(settings)
    for run in list_runs(store, (settings.kind,)):
        if same_work(run, settings, sha256_of(data)):
            return run
    raise InputError(
        "There is no run of this file with these settings to resume: leave --resume out to start one. "
        "`python -m core runs list` names the runs there are."
    )


def prepare_again(store: Store, run: Run, running: RunningSettings | None, limit: int | None) -> Run:
    """Set how a run goes on: other limits of work, and how many of its items."""
    if is_worked_on(run):
        raise InputError(f"Run {run.run_id} is being worked on by process {run.process}: cancel it first.")
    if running is not None:
        check_settings(settings_of(run), running)
    _check_limit(limit, len(item_states(store, run.run_id)))
    limit = None if limit is None else min(limit, run.n_items)
    change_run(store, run.run_id, running=None if running is None else as_kept(running), limit=limit)
    return get_run(store, run.run_id)


def _check_limit(limit: int | None, n_done: int) -> None:
    if limit is not None and limit < max(1, n_done):
        why = f"the run has come to {n_done} items already" if n_done else "at least 1"
        raise InputError("The run cannot start", [f"--limit: {limit} is too small; {why}"])
