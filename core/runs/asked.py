"""The request for a run, validated once: its kind and settings, the model, and how to process it."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from core.errors import InputError
from core.llm.asking import DEFAULT_ATTEMPTS
from core.llm.call_settings import CallSettings, secret_names
from core.llm.prompts import Prompt, find_prompt, parse_prompt
from core.llm.reaching import normal_url, split_version
from core.llm.weights import absolute_place, adapter_problems
from core.runs.kinds import kind_named
from core.schema.runs import (
    RULES,
    Engine,
    Kind,
    KindSettings,
    PromptSlot,
    Run,
    address_setting,
    engine_setting,
)
from core.schema.settings import About, Remark, SettingField, Settings, fields_of, refuse, setting

Environment = Literal["base", "vllm", "neural", "ray"]
"""`base` is the app's own environment, used by rules and by models on a server."""
Backend = Literal["rules", "openai", "vllm", "batch"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
_NAME = re.compile(r"[^\s,=:\"']{1,80}")
_Shape = TypeVar("_Shape", bound=Settings)
_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")


class ModelSettings(CallSettings):
    """The model and the settings of its calls; together with the prompts they determine its answers."""

    backend: Backend = setting(
        "rules",
        "Backend",
        "what does the work: rules, a server, vLLM, or whoever answers batch files",
        words={
            "rules": "Rules: no model, no cost",
            "openai": "A server (OpenAI-compatible)",
            "vllm": "vLLM on this machine",
            "batch": "Batch files, answered elsewhere",
        },
    )
    model: str = setting("", "Model", "name on the server; for vllm, a name or path")
    base_url: str = setting("", "Address", f"OpenAI-compatible server (default {OPENAI_URL})")
    attempts: int = setting(
        DEFAULT_ATTEMPTS,
        "Answers requested for one step",
        "maximum number of answers requested for one step before it counts as failed",
        within=(1, 1_000),
    )
    max_model_len: int | None = setting(
        None,
        "Longest prompt and answer",
        "vllm: most tokens of prompt and answer together",
        within=(1, 10**8),
        unit="tokens",
    )
    adapter: str = setting(
        "", "Adapter", "vllm: folder of a LoRA adapter of the model", words={"": "none"}, metavar="PATH"
    )
    engine: dict[str, Any] = setting(
        {},
        "Engine",
        "local or ray: where the run is done; NAME=VALUE, vllm: argument of vllm.LLM, such as quantization=awq",
        metavar="NAME=VALUE|ray",
    )

    def idle(self, backend: str) -> frozenset[str]:
        """See Settings."""
        if backend == "rules":
            return frozenset(type(self).model_fields) - {"backend"}
        own = frozenset({"max_model_len", "adapter", "engine"})
        if backend == "vllm":
            return frozenset({"base_url", "headers", "api_version", "extra_body"})
        return own

    @classmethod
    def usual(cls, values: Mapping[str, object], backend: str) -> Mapping[str, object]:
        """See Settings."""
        return {"base_url": OPENAI_URL} if backend in ("openai", "batch") else {}

    @property
    def answered_as(self) -> str:
        """The backend that the answers count as: a model answers batch files as it answers a server's requests."""
        return "openai" if self.backend == "batch" else self.backend

    @property
    def short_name(self) -> str:
        """The model's name without folder or organisation, with that of its adapter; `rules` if no model is used."""
        if self.backend == "rules":
            return RULES
        return "+".join(place.rstrip("/").split("/")[-1] for place in (self.model, self.adapter) if place)

    @property
    def named(self) -> str:
        """The model as the user named it, with its adapter; empty: none."""
        return " + ".join(filter(None, (self.model, self.adapter)))


class Running(Settings):
    """How to process a run that uses a model. None of these settings changes an answer."""

    concurrency: int = setting(
        32,
        "Requests open at once",
        "maximum number of requests open at the same time",
        within=(1, 10_000),
        scored=False,
    )
    timeout: float = setting(
        120.0,
        "Longest wait for an answer",
        "time limit for one request",
        within=(0.001, 1e7),
        unit="s",
        scored=False,
    )
    retries: int = setting(
        4,
        "Retries",
        "retries after a connection failure, with growing pauses",
        within=(0, 1_000),
        scored=False,
    )
    key_variable: str | None = setting(
        None,
        "Environment variable that holds the key",
        f"environment variable with the server's key (default {OPENAI_KEY} for OpenAI's own server, otherwise none)",
        metavar="NAME",
        scored=False,
    )
    input_price: float | None = setting(
        None,
        "Price of a million input tokens",
        "price of a million input tokens, for the cost of the run",
        within=(0, 1e12),
        scored=False,
    )
    output_price: float | None = setting(
        None,
        "Price of a million output tokens",
        "price of a million output tokens, for the cost of the run",
        within=(0, 1e12),
        scored=False,
    )
    engine: Engine = engine_setting()
    address: str = address_setting()

    def idle(self, backend: str) -> frozenset[str]:
        """Only a server needs a connection; only a server and batch files cost money; files are answered elsewhere."""
        where = {"engine", *(("address",) if self.engine == "ray" else ())}
        used = {
            "openai": type(self).model_fields.keys() - {"address"} | where,
            "batch": {"input_price", "output_price"},
        }
        return frozenset(type(self).model_fields.keys() - used.get(backend, where))


@dataclass(frozen=True)
class Asked:
    """Everything that determines a run's results."""

    kind: Kind
    settings: Any
    """Settings of the kind."""
    model: ModelSettings = field(default_factory=ModelSettings)
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Purpose -> full text of the prompt, so that a run does not depend on a file that may change."""
    name: str = ""
    """Name under which its texts or scores are listed; empty: derived from the model and unusual settings."""
    attached: str = ""
    """Full text of the file that the settings refer to, such as a rubric."""

    @property
    def by_rules(self) -> bool:
        """Whether rules do the work without a model."""
        return self.model.backend == "rules"

    @property
    def called(self) -> str:
        """The name under which its texts or scores are listed."""
        if self.name or self.kind.work == "generation":
            return self.name or self.model.short_name
        parts = [*self.settings.called(self.kind.name, by_rules=self.by_rules)]
        if not self.settings.named_whole(by_rules=self.by_rules):
            parts.append(self.model.short_name)
        return "-".join(_NOT_IN_NAMES.sub("-", part) for part in parts)

    @property
    def unusual(self) -> tuple[str, ...]:
        """Settings that are not defaults, in a few words each."""
        usual = self.settings.usual({}, self.model.backend)
        return tuple(
            one.valued(value)
            for name, one in fields_of(type(self.settings)).items()
            if (value := getattr(self.settings, name)) != usual.get(name, one.default)
        )

    @property
    def prompts_read(self) -> dict[str, Prompt]:
        """Purpose -> prompt."""
        return {purpose: parse_prompt(text, f"{purpose}.yaml") for purpose, text in self.prompts.items()}

    @property
    def seed(self) -> int | None:
        """The seed of all draws; None: nothing is drawn."""
        drawn = self.settings.DRAWN or not self.by_rules
        return getattr(self.settings, "seed", None) if drawn else None

    @property
    def environment(self) -> Environment:
        """The environment with the run's libraries."""
        return (
            "neural"
            if self.settings.needs == "neural"
            else "vllm"
            if self.model.backend == "vllm"
            else "base"
        )


def environment_for(request: Asked, running: Any) -> Environment:
    """The environment in which a run's process starts: a run on Ray that needs no other libraries uses Ray's own.

    running: how the run is processed, with a field `engine`. Where another environment is needed, Ray must be installed
    in that one.
    """
    return "ray" if running.engine == "ray" and request.environment == "base" else request.environment


def environment_of(run: Run) -> Environment:
    """See environment_for. Raises InputError if a newer version saved the run."""
    return environment_for(asked_of(run), running_of(run))


def _field(name: str, label: str, option: str = "") -> SettingField:
    return SettingField(name, About(label, "", option), "text", None)


EXTRA_FIELDS = (
    _field("name", "Name of the judge"),
    _field("prompt", "Prompts"),
    _field("limit", "Number of items"),
)
"""Fields of commands and pages that are not settings of a model or kind."""


def fields_named(kind: Kind) -> dict[str, SettingField]:
    """All fields that a remark on a run of this kind can mention."""
    file = kind.attachment
    own = () if file is None else (_field(file.name, file.label, file.option),)
    return fields_of(kind.Settings) | {one.name: one for one in (*EXTRA_FIELDS, *own)}


def ask(
    kind: Kind,
    values: Mapping[str, object],
    model: Mapping[str, object],
    running: Mapping[str, object],
    *,
    name: str = "",
    attached: str = "",
    prompts: Sequence[Prompt] = (),
) -> tuple[Asked, Any]:
    """Validate a user's choices. Raises SettingsError or InputError with every problem.

    attached: text of the file that the kind's settings refer to. prompts: chosen prompts, which replace shipped ones.
    """
    problems: list[Remark] = []
    backend = str(model.get("backend", "rules"))
    model = _version_apart(model)
    own = _read(kind.Settings, {**kind.Settings.usual(values, backend), **values}, problems)
    asked = _read(ModelSettings, model, problems)
    how = _read(kind.Running or Running, running, problems)
    between: list[Remark] = []
    chosen_prompts: dict[PromptSlot, Prompt] = {}
    if own is not None and asked is not None:
        between += own.problems(asked.backend)
        between += _place_prompts(own, asked.backend, prompts, chosen_prompts)
    # Metrics have no backend, so needing another environment is no mistake.
    if asked is not None and not kind.by_metrics:
        offered = [one for one in BACKENDS if one != "rules" or kind.Settings.MODEL_FREE]
        for found, given in ((asked, model), (how, running), (own, values)):
            if found is not None:
                between += _idle(found, given, asked.backend, offered)
        between += _model_problems(asked)
        if asked.backend == "rules" and not kind.Settings.MODEL_FREE:
            between.append(Remark("backend", "this judge cannot work with rules; choose openai or vllm"))
    if isinstance(how, Running) and backend == "openai":
        between += _key_problems(how)
    wrong = {one.name for one in problems}
    problems += [one for one in between if wrong.isdisjoint(one.fields)]
    if name and kind.work == "judging" and not _NAME.fullmatch(name):
        text = "a column's name has at most 80 characters, without spaces, commas, colons, equals signs or quotes"
        problems.append(Remark("name", text))
    if kind.attachment is not None and not attached:
        text = f"choose a {kind.attachment.option}, or give the path of a .yaml file"
        problems.append(Remark(kind.attachment.name, text))
    # The model's fields last: its `engine` is the one that can be wrong.
    refuse(problems, kind.Running or Running, ModelSettings, also=fields_named(kind).values())
    assert own is not None
    assert asked is not None
    if asked.base_url:
        asked = asked.but(base_url=normal_url(asked.base_url))
    if asked.adapter:
        asked = asked.but(adapter=absolute_place(asked.adapter))
    own = own.settled()
    slots = own.prompts(by_rules=asked.backend == "rules")
    return Asked(kind, own, asked, _texts_of(slots, chosen_prompts), name, attached), how


def _version_apart(model: Mapping[str, object]) -> Mapping[str, object]:
    """Move an API version from the address to its own field, unless it contradicts that field."""
    url = model.get("base_url")
    if not isinstance(url, str):
        return model
    address, version = split_version(url)
    if version is None or model.get("api_version") not in (None, "", version):
        return model
    return {**model, "base_url": address, "api_version": version}


def _read(shape: type[_Shape], values: Mapping[str, object], problems: list[Remark]) -> _Shape | None:
    """Settings from these values. Invalid values are left out, so that conflicts between the others are reported too."""
    before = len(problems)
    found = shape.read(values, problems)
    if found is not None:
        return found
    wrong = {one.name for one in problems[before:]}
    return shape.read({name: value for name, value in values.items() if name not in wrong}, [])


def _idle(
    found: Settings, values: Mapping[str, object], backend: str, backends: Sequence[str]
) -> Iterator[Remark]:
    """Given fields without effect, because of the backend or other settings. backends: those on offer.

    An empty value counts as not given: no address, no key, no models.
    """
    for name in fields_of(type(found)):
        if values.get(name) in (None, "", (), {}) or name not in found.ignored(backend):
            continue
        ways = found.fewest_choices(backend, partial(_heeds, name, backend))
        text = "has no effect with the other settings"
        if not ways and (heeding := [one for one in backends if name not in found.ignored(one)]):
            ways = [{"backend": one} for one in heeding]
            text = f"has no effect with {{backend={backend}}}"
        yield Remark(name, f"{text}; leave it out{_or_choose(ways)}")


def _heeds(name: str, backend: str, settings: Settings) -> bool:
    return name not in settings.ignored(backend)


def _or_choose(ways: Sequence[Mapping[str, str]]) -> str:
    """The ways as the end of a remark's sentence; empty if there are none."""
    said = [" and ".join(f"{{{name}={word}}}" for name, word in way.items()) for way in ways]
    return f", or choose {' or '.join(said)}" if said else ""


def _place_prompts(
    own: KindSettings, backend: str, chosen: Sequence[Prompt], found: dict[PromptSlot, Prompt]
) -> Iterator[Remark]:
    """Put each chosen prompt into its slot in `found`.

    Yields problems: prompts that a run with these settings does not use (with settings that use them), and a second
    prompt for one slot.
    """
    by_rules = backend == "rules"
    if by_rules and chosen:
        others = [{"backend": one} for one in BACKENDS if one != "rules"]
        text = "rules use no prompt; leave it out"
        yield Remark("prompt", text + _or_choose(others))
        return
    slots = own.prompts(by_rules=by_rules)
    for prompt in chosen:
        said = {"prompt": prompt.name, "purpose": prompt.purpose}
        slot = next((one for one in slots if one.fits(prompt.purpose, prompt.task)), None)
        if slot is None:
            ways = own.fewest_choices(backend, partial(_sends, prompt, by_rules))
            same = next((one for one in slots if prompt.purpose in one.purposes), None)
            if same is None:
                said["asked"] = ", ".join(name for one in slots for name in one.purposes) or "nothing"
                text = "{prompt} is for {purpose}, but this run uses prompts for {asked}"
            else:
                said |= {"task": str(prompt.task), "asked": str(same.task)}
                text = "{prompt} is for the task {task}, but this run's task is {asked}"
            yield Remark("prompt", f"{text}; leave it out{_or_choose(ways)}", said)
        elif (first := found.get(slot)) is None:
            found[slot] = prompt
        elif first.purpose == prompt.purpose:
            yield Remark("prompt", "{prompt} is the second prompt for {purpose}; choose one", said)
        else:
            said |= {"first": first.name}
            yield Remark("prompt", "{prompt} and {first} serve the same step; choose one", said)


def _sends(prompt: Prompt, by_rules: bool, settings: KindSettings) -> bool:
    return any(one.fits(prompt.purpose, prompt.task) for one in settings.prompts(by_rules=by_rules))


def _texts_of(slots: Sequence[PromptSlot], chosen: Mapping[PromptSlot, Prompt]) -> dict[str, str]:
    """Purpose -> full text of its prompt: chosen, else shipped. Raises InputError for a broken file."""
    shipped = [find_prompt(one.shipped, one.purpose, one.task) for one in slots if one not in chosen]
    return {prompt.purpose: prompt.dump() for prompt in (*shipped, *chosen.values())}


def _model_problems(model: ModelSettings) -> Iterator[Remark]:
    if model.backend == "rules":
        return
    if not model.model:
        yield Remark("model", "is empty; enter the model's name")
    if model.backend in ("openai", "batch"):
        try:
            normal_url(model.base_url)
        except InputError as wrong:  # never quotes the address, which may contain a secret
            yield from (Remark("base_url", "{what}", {"what": problem}) for problem in wrong.problems)
    if model.backend == "vllm" and model.adapter:
        yield from _adapter_problems(model)
    yield from model.call_problems()
    # Settings are stored with the run, so they must not contain secrets at any depth.
    for place in ("engine", "extra_body", "chat_template"):
        for name in sorted(secret_names(getattr(model, place))):
            yield Remark(
                place, "{name} is a secret; set it in the environment, such as HF_TOKEN", {"name": name}
            )


def _adapter_problems(model: ModelSettings) -> Iterator[Remark]:
    try:
        problems = adapter_problems(Path(model.adapter).expanduser(), Path(model.model).expanduser())
    except OSError as wrong:
        problems = [f"{wrong.filename or model.adapter} cannot be read: {wrong.strerror or wrong}"]
    yield from (Remark("adapter", "{what}", {"what": problem}) for problem in problems)


def _key_problems(running: Running) -> Iterator[Remark]:
    if running.key_variable is not None and running.key_variable not in os.environ:
        # Do not quote another name: it may be the key itself, entered instead of its variable's name.
        name = OPENAI_KEY if running.key_variable == OPENAI_KEY else "of that name"
        text = "there is no environment variable {variable}; set it to the server's key"
        yield Remark("key_variable", text, {"variable": name})


def asked_of(run: Run) -> Asked:
    """The request of a saved run. Raises InputError if a newer version saved it."""
    return asked_from(kind_named(run.kind), run.settings, _saved_by(run))


def running_of(run: Run) -> Any:
    """The processing settings of a saved run: its kind's Running, or the one for runs with a model."""
    return (kind_named(run.kind).Running or Running).checked(run.running, _saved_by(run))


def _saved_by(run: Run) -> str:
    return f"Run {run.run_id} cannot be read: Assay {run.app_version} saved it with different settings"


def asked_from(kind: Kind, kept: Mapping[str, Any], what: str = "The run's settings cannot be read") -> Asked:
    """The request from settings written by `kept` or `described`. Raises SettingsError if they are invalid. what:
    start of its message.
    """
    if kind.by_metrics:
        return Asked(kind, kind.Settings.checked(kept, what))
    attached = kept.get(kind.attachment.name) if kind.attachment else ""
    prompts = kept.get("prompts") or {}
    if not isinstance(prompts, dict):
        refuse(
            [Remark("prompt", "{value} is not an object", {"value": repr(prompts)})],
            also=EXTRA_FIELDS,
            what=what,
        )
    return Asked(
        kind,
        kind.Settings.checked(kept.get(kind.name) or {}, what),
        ModelSettings.checked(kept, what),
        dict(prompts),
        str(kept.get(_name_key(kind)) or ""),
        str(attached or ""),
    )


def kept(request: Asked) -> dict[str, Any]:
    """The request as stored: JSON values, including defaults, so that equal settings are equal texts.

    Settings of model calls and the adapter are included only if they are not defaults, to keep run.json short.
    """
    own = request.settings.model_dump(mode="json")
    if request.kind.by_metrics:
        return dict(own)
    of_kind: dict[str, Any] = {"kind": request.kind.name, _name_key(request.kind): request.name}
    if request.kind.attachment is not None:
        of_kind[request.kind.attachment.name] = request.attached
    model = request.model.model_dump(mode="json")
    for name, one in CallSettings.model_fields.items():
        if getattr(request.model, name) == one.default:
            del model[name]
    if not request.model.adapter:
        del model["adapter"]
    vllm = {name: model.pop(name) for name in ("max_model_len", "engine")}
    return model | {"prompts": dict(request.prompts)} | vllm | of_kind | {request.kind.name: own}


def described(request: Asked) -> dict[str, Any]:
    """The settings for readers, with prompts by name and hash."""
    if request.kind.by_metrics:
        return kept(request)
    prompts = {
        purpose: {"name": prompt.name, "sha256": prompt.sha256}
        for purpose, prompt in sorted(request.prompts_read.items())  # in the same order as in the store
    }
    return kept(request) | {"prompts": prompts, _name_key(request.kind): request.called}


def _name_key(kind: Kind) -> str:
    return "source" if kind.work == "generation" else "name"
