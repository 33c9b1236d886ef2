"""From what a user chose to a run that is kept: prompts found, everything checked, nothing begun."""

from collections.abc import Sequence

from core.datasets.questions import read_questions
from core.errors import InputError
from core.generation.records import EditCalls, Task
from core.llm.prompts import Prompt, find_prompt
from core.runs.keeping import check_limit, go_on, keep_run, newest_same
from core.runs.model_settings import RunningSettings, normalised, running_kept
from core.runs.settings import GenerationSettings, check_settings, generation_kept, settings_of
from core.schema import GenerationKind, MaterialSet, Run
from core.store import Store

EDIT_PURPOSES = ("edit", "edit-shared", "edit-text")
"""Forms in which a model may be asked for an edit; a run uses one of them."""


def default_prompts(kind: GenerationKind, task: Task, edit_calls: EditCalls) -> dict[str, str]:
    """Purpose -> name of the shipped prompt that is used unless another is chosen."""
    if kind == "damage":
        return {"damage": f"damage-{task}"}
    edit = "edit" if edit_calls == "each" else "edit-shared"
    return {purpose: f"factual-{purpose}" for purpose in ("paraphrase", "rank", edit)}


def choose_prompts(
    kind: GenerationKind, task: Task, edit_calls: EditCalls, chosen: Sequence[Prompt] = ()
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
    check_limit(limit, 0)  # before a long file is read
    settings = normalised(settings)
    task = settings.damage.task if settings.kind == "damage" else None
    materials = read_questions(data, file_name, task)
    run = keep_run(
        store,
        settings.kind,
        data,
        file_name,
        len(materials.materials),
        settings=generation_kept(settings),
        running=running_kept(running),
        limit=limit,
    )
    return run, materials


def find_same(store: Store, data: bytes, settings: GenerationSettings) -> Run:
    """The newest run that was asked for exactly this. Raises InputError when there is none to resume."""
    return newest_same(store, settings.kind, data, generation_kept(normalised(settings)))


def prepare_again(store: Store, run: Run, running: RunningSettings, limit: int | None) -> Run:
    """Set how a run goes on: other limits of work, and how many of its items."""
    check_settings(settings_of(run), running)
    return go_on(store, run, running_kept(running), limit)
