"""What a generation run was asked for, checked before it costs anything, and how it is kept with the run."""

import math
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

from pydantic import TypeAdapter

from core.errors import InputError
from core.generation.damage_steps import DAMAGE_LEVELS, DamageSettings
from core.generation.factual.steps import FactualSettings
from core.llm.asking import DEFAULT_ATTEMPTS
from core.llm.connection import normal_url
from core.llm.prompts import parse_prompt
from core.schema import GenerationKind, Run

Backend = Literal["rules", "openai", "vllm"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
_SECRET = re.compile(r"(^|_)(token|api_?key|key|password|secret)$", re.IGNORECASE)
MOST_LEVELS = 9
"""Beyond A0: A1 ... A9 keep their order as text."""


@dataclass(frozen=True)
class GenerationSettings:
    """What determines the results of a generation run."""

    kind: GenerationKind
    backend: Backend = "rules"
    model: str = ""
    """Name or path; empty for rules."""
    base_url: str = ""
    """Of an OpenAI-compatible server; empty for rules and vllm."""
    source: str = ""
    """Under which name the answers stand in files and studies; empty: the model's, or `rules`."""
    attempts: int = DEFAULT_ATTEMPTS
    """Answers asked for one step before it counts as failed."""
    prompts: dict[str, str] = field(default_factory=dict)
    """Purpose -> the prompt's whole text, so that a run does not depend on a file that may change."""
    factual: FactualSettings = field(default_factory=FactualSettings)
    damage: DamageSettings = field(default_factory=DamageSettings)
    max_model_len: int | None = None
    """Of vllm: tokens of prompt and answer together; None: the model's own."""
    engine: dict[str, Any] = field(default_factory=dict)
    """Of vllm: further arguments of vllm.LLM, and `chat_template_kwargs`."""

    @property
    def source_name(self) -> str:
        """The name under which the answers stand."""
        return self.source or ("rules" if self.backend == "rules" else self.model.rstrip("/").split("/")[-1])

    @property
    def level_names(self) -> tuple[str, ...]:
        """Best first."""
        if self.kind == "factual":
            return tuple(f"A{number}" for number in range(self.factual.n_levels + 1))
        return tuple(str(level) for level in self.damage.levels)


@dataclass(frozen=True)
class RunningSettings:
    """How a run is worked on: none of it changes an answer."""

    concurrency: int = 32
    """Requests open at once."""
    timeout: float = 120.0
    """Seconds for one request."""
    retries: int = 4
    """Further tries, with growing pauses, when the line or the server fails."""
    key_variable: str | None = None
    """Environment variable that holds the server's key; None: no key is sent."""
    input_price: float | None = None
    """Money for a million input tokens; None: not known."""
    output_price: float | None = None


_GENERATION = TypeAdapter(GenerationSettings)
_RUNNING = TypeAdapter(RunningSettings)


def settings_of(run: Run) -> GenerationSettings:
    """What the run was asked for."""
    return _GENERATION.validate_python(run.settings)


def running_of(run: Run) -> RunningSettings:
    """How the run is worked on."""
    return _RUNNING.validate_python(run.running)


def as_kept(settings: GenerationSettings | RunningSettings) -> dict[str, Any]:
    """As the store keeps it: JSON values only, defaults included, so that equal settings are equal texts."""
    adapter: TypeAdapter[Any] = _GENERATION if isinstance(settings, GenerationSettings) else _RUNNING
    kept: dict[str, Any] = adapter.dump_python(settings, mode="json")
    if isinstance(
        settings, GenerationSettings
    ):  # what the other scheme would have been asked is nobody's concern
        kept.pop("damage" if settings.kind == "factual" else "factual")
    return kept


def check_settings(settings: GenerationSettings, running: RunningSettings) -> None:
    """Raise InputError with everything that is wrong, each named as its option."""
    problems = [*_model_problems(settings), *_running_problems(running)]
    problems += (
        _factual_problems(settings.factual)
        if settings.kind == "factual"
        else _damage_problems(settings.damage)
    )
    if settings.attempts < 1:
        problems.append(f"--attempts: {settings.attempts} is no number of answers to ask for; at least 1")
    if problems:
        raise InputError("The run cannot start", problems)


def _model_problems(settings: GenerationSettings) -> list[str]:
    if settings.backend not in BACKENDS:
        return [f"--backend: there is no backend {settings.backend!r}; there are {', '.join(BACKENDS)}"]
    if settings.backend == "rules":
        given = [
            name for name, value in (("--model", settings.model), ("--base-url", settings.base_url)) if value
        ]
        return [
            f"{name}: rules need no model; leave it out, or choose --backend openai or vllm" for name in given
        ]
    problems = [] if settings.model else ["--model: name the model that writes the answers"]
    if settings.backend == "openai":
        try:
            normal_url(settings.base_url)
        except InputError as wrong:  # never repeats the address, which may hold a secret
            problems += [f"--base-url: {problem}" for problem in wrong.problems]
    elif settings.base_url:
        problems.append("--base-url: vllm runs in this process; leave it out, or choose --backend openai")
    return problems + _engine_problems(settings.engine)


def _engine_problems(engine: dict[str, Any]) -> list[str]:
    """Engine options are kept with the run, so a secret may not be one of them, at any depth."""
    secret = sorted(name for name in _names_in(engine) if _SECRET.search(name))
    return [f"--engine: {name} is a secret; set it in the environment, such as HF_TOKEN" for name in secret]


def _names_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield str(name)
            yield from _names_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names_in(inner)


def normalised(settings: GenerationSettings) -> GenerationSettings:
    """The settings as they are kept: one server has one address, whatever slash or case it was given with."""
    return replace(settings, base_url=normal_url(settings.base_url)) if settings.base_url else settings


def _running_problems(running: RunningSettings) -> list[str]:
    problems = []
    if running.concurrency < 1:
        problems.append(f"--concurrency: {running.concurrency} is no number of requests; at least 1")
    if not 0 < running.timeout < math.inf:
        problems.append(f"--timeout: {running.timeout:g} is no number of seconds above 0")
    if running.retries < 0:
        problems.append(f"--retries: {running.retries} is no number of tries; 0 or more")
    if running.key_variable is not None and running.key_variable not in os.environ:
        # Another name is not repeated: it may be the key itself, given in the place of its variable's name.
        name = OPENAI_KEY if running.key_variable == OPENAI_KEY else "of that name"
        problems.append(
            f"--key-variable: there is no environment variable {name}; set it to the server's key"
        )
    for name, price in (("--input-price", running.input_price), ("--output-price", running.output_price)):
        if price is not None and not 0 <= price < float("inf"):
            problems.append(f"{name}: {price:g} is no price for a million tokens")
    return problems


def _factual_problems(factual: FactualSettings) -> list[str]:
    problems = []
    if not 1 <= factual.n_levels <= MOST_LEVELS:
        problems.append(f"--levels: {factual.n_levels} levels beyond A0; 1 to {MOST_LEVELS} can be made")
    if not 0 < factual.keep <= 1:
        problems.append(f"--keep: {factual.keep:g} is no share above 0 and up to 1")
    return problems


def _damage_problems(damage: DamageSettings) -> list[str]:
    wrong = [str(level) for level in damage.levels if level not in DAMAGE_LEVELS]
    if wrong or not damage.levels:
        return [f"--levels: {', '.join(wrong) or 'none'}; damage levels are 0 to {DAMAGE_LEVELS[-1]}"]
    return []


def describe(settings: GenerationSettings) -> dict[str, Any]:
    """The settings for a person to read: prompts by name and hash, and nothing about the other scheme."""
    shown = asdict(settings)
    shown.pop("damage" if settings.kind == "factual" else "factual")
    prompts = {purpose: parse_prompt(text, purpose) for purpose, text in settings.prompts.items()}
    shown["prompts"] = {
        purpose: {"name": prompt.name, "sha256": prompt.sha256} for purpose, prompt in prompts.items()
    }
    return shown | {"source": settings.source_name}
