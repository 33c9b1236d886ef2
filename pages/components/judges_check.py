"""Starting a run that examines judges: which model does the work, with which prompts."""

from dataclasses import dataclass

from core.judges.kind import AuditKind
from core.llm.prompts import Prompt
from core.runs.asked import ModelSettings, ask
from core.runs.path import create
from core.store import Store
from pages.components import generate_backend, generate_prompts, judges_runs, run_panel, setting_form
from pages.components.metrics_scores import RUN


@dataclass(frozen=True)
class Wanted:
    """What the widgets say."""

    kind: AuditKind
    values: dict[str, object]
    model: generate_backend.Chosen
    prompts: list[Prompt]

    @property
    def called(self) -> str:
        """The model without the folder before it."""
        return ModelSettings.model_construct(**self.model.model).short_name


def model(kind: AuditKind) -> Wanted:
    """The widgets that say who does it and how."""
    prefix = f"judges_{kind.name}"
    own = kind.Settings.model_fields.keys()
    chosen = generate_backend.choose(prefix, kind.rules if kind.Settings.MODEL_FREE else None, own)
    values = setting_form.render(kind.Settings, prefix, backend=chosen.backend)
    slots = kind.Settings.checked(values).prompts(by_rules=chosen.backend == "rules")
    return Wanted(kind, values, chosen, generate_prompts.choose(prefix, slots))


def start(store: Store, data: bytes, name: str, wanted: Wanted) -> None:
    """Make the run, start it and show it. Raises InputError in the words of the form."""
    chosen = wanted.model
    asked, running = ask(wanted.kind, wanted.values, chosen.model, chosen.running, prompts=wanted.prompts)
    run, _ = create(store, data, name, asked, running)
    run_panel.start(run.run)
    judges_runs.remember((RUN, run.run.run_id))
