"""Which language model a run asks and how, checked before it costs anything: for every kind of run that asks one."""

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, get_args

from pydantic import TypeAdapter

from core.errors import InputError
from core.llm.addresses import normal_url
from core.llm.asking import DEFAULT_ATTEMPTS
from core.llm.client import Client
from core.llm.prompts import parse_prompt
from core.llm.vllm_engine import VllmEngine
from core.schema import RULES, Run

Backend = Literal["rules", "openai", "vllm"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
_SECRET = re.compile(r"(^|_)(token|api_?key|key|password|secret)$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """What determines a model's answers: who is asked, and with which words."""

    backend: Backend = "rules"
    model: str = ""
    """Name or path; empty for rules."""
    base_url: str = ""
    """Of an OpenAI-compatible server; empty for rules and vllm."""
    attempts: int = DEFAULT_ATTEMPTS
    """Answers asked for one step before it counts as failed."""
    prompts: dict[str, str] = field(default_factory=dict)
    """Purpose -> the prompt's whole text, so that a run does not depend on a file that may change."""
    max_model_len: int | None = None
    """Of vllm: tokens of prompt and answer together; None: the model's own."""
    engine: dict[str, Any] = field(default_factory=dict)
    """Of vllm: further arguments of vllm.LLM, and `chat_template_kwargs`."""

    @property
    def model_name(self) -> str:
        """The model's name without the folder or organisation before it; `rules` where no model is asked."""
        return RULES if self.backend == "rules" else self.model.rstrip("/").split("/")[-1]


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


_RUNNING = TypeAdapter(RunningSettings)
_BACKEND: TypeAdapter[Backend] = TypeAdapter(Backend)
Settings = TypeVar("Settings", bound=ModelSettings)


def backend_of(run: Run) -> Backend:
    """Who does the work of a run that may ask a model."""
    return _BACKEND.validate_python(run.settings.get("backend"))


def running_of(run: Run) -> RunningSettings:
    """How the run is worked on."""
    return _RUNNING.validate_python(run.running)


def running_kept(running: RunningSettings) -> dict[str, Any]:
    """As the store keeps it: JSON values only."""
    kept: dict[str, Any] = _RUNNING.dump_python(running, mode="json")
    return kept


def normalised(settings: Settings) -> Settings:
    """The settings as they are kept: one server has one address, whatever slash or case it was given with."""
    return replace(settings, base_url=normal_url(settings.base_url)) if settings.base_url else settings


def client_of(settings: ModelSettings, running: RunningSettings) -> Client | None:
    """The model that is asked; None: rules do the work."""
    if settings.backend == "rules":
        return None
    if settings.backend == "vllm":
        return VllmEngine(settings.model, max_model_len=settings.max_model_len, options=settings.engine)
    # Imported late: its package takes half a second to load, and most commands ask no server.
    from core.llm.openai_server import OpenAIServer

    return OpenAIServer(
        settings.base_url,
        settings.model,
        concurrency=running.concurrency,
        timeout=running.timeout,
        retries=running.retries,
        key_variable=running.key_variable,
    )


def concurrency_of(settings: ModelSettings, running: RunningSettings) -> int:
    """Requests that can be open at once: as the user says, but of vLLM in this process its own number; of rules 1."""
    if settings.backend == "rules":
        return 1
    return VllmEngine.concurrency if settings.backend == "vllm" else running.concurrency


def prompts_described(settings: ModelSettings) -> dict[str, dict[str, str]]:
    """Purpose -> name and sha256 of its prompt, for a person to read."""
    prompts = {purpose: parse_prompt(text, purpose) for purpose, text in settings.prompts.items()}
    return {purpose: {"name": prompt.name, "sha256": prompt.sha256} for purpose, prompt in prompts.items()}


def model_problems(settings: ModelSettings) -> list[str]:
    """What is wrong with the choice of a model, each named as its option."""
    problems = _backend_problems(settings)
    if settings.attempts < 1:
        problems.append(f"--attempts: {settings.attempts} is no number of answers to ask for; at least 1")
    return problems


def _backend_problems(settings: ModelSettings) -> list[str]:
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


def running_problems(running: RunningSettings) -> list[str]:
    """What is wrong with how the run is to be worked on, each named as its option."""
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
    return problems + price_problems(running.input_price, running.output_price)


def price_problems(input_price: float | None, output_price: float | None) -> list[str]:
    """What is wrong with the prices for a million tokens, each named as its option."""
    return [
        f"--{name}-price: {price:g} is no price for a million tokens"
        for name, price in (("input", input_price), ("output", output_price))
        if price is not None and not 0 <= price < math.inf
    ]
