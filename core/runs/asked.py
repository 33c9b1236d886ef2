"""What a run was asked for: its kind with its settings, the model that is asked, how it is worked on; checked once."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeVar, get_args

from core.errors import InputError
from core.llm.asking import DEFAULT_ATTEMPTS
from core.llm.call_settings import CallSettings, secret_names
from core.llm.prompts import Prompt, find_prompt, parse_prompt
from core.llm.reaching import normal_url, split_version
from core.runs.kinds import kind_named
from core.schema.runs import RULES, Kind, KindSettings, PromptSlot, Run
from core.schema.settings import About, Remark, SettingField, Settings, fields_of, refuse, setting

Environment = Literal["base", "vllm", "neural"]
"""`base` is the app's own; rules and a model on a server run there."""
Backend = Literal["rules", "openai", "vllm"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
_NAME = re.compile(r"[^\s,=:\"']{1,80}")
_Shape = TypeVar("_Shape", bound=Settings)
_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")


class ModelSettings(CallSettings):
    """Who is asked, and how: with the prompts, what determines a model's answers."""

    backend: Backend = setting(
        "rules",
        "Backend",
        "who does the work",
        words={
            "rules": "Rules: no model, no cost",
            "openai": "A server (OpenAI-compatible)",
            "vllm": "vLLM on this machine",
        },
    )
    model: str = setting("", "Model", "name on the server, or name or path for vllm")
    base_url: str = setting("", "Address", f"OpenAI-compatible server (default {OPENAI_URL})")
    attempts: int = setting(
        DEFAULT_ATTEMPTS,
        "Answers requested for one step",
        "answers requested for one step before it counts as failed",
        within=(1, 1_000),
    )
    max_model_len: int | None = setting(
        None,
        "Longest prompt and answer",
        "vllm: most tokens of prompt and answer together",
        within=(1, 10**8),
        unit="tokens",
    )
    engine: dict[str, Any] = setting(
        {}, "Engine", "vllm: an argument of vllm.LLM, such as quantization=awq", metavar="NAME=VALUE"
    )

    def idle(self, backend: str) -> frozenset[str]:
        """See Settings."""
        if backend == "rules":
            return frozenset(type(self).model_fields) - {"backend"}
        return frozenset(
            {"base_url", "headers", "api_version", "extra_body"}
            if backend == "vllm"
            else {"max_model_len", "engine"}
        )

    @classmethod
    def usual(cls, given: Mapping[str, object], backend: str) -> Mapping[str, object]:
        """See Settings."""
        return {"base_url": OPENAI_URL} if backend == "openai" else {}

    @property
    def short_name(self) -> str:
        """The model's name without the folder or organisation before it; `rules` where no model is asked."""
        return RULES if self.backend == "rules" else self.model.rstrip("/").split("/")[-1]


class Running(Settings):
    """How a run that asks a model is worked on: none of it changes an answer."""

    concurrency: int = setting(
        32, "Requests open at once", "requests open at once", within=(1, 10_000), scored=False
    )
    timeout: float = setting(
        120.0,
        "Longest wait for an answer",
        "time limit of one request",
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
        f"environment variable with the server's key (default {OPENAI_KEY} for OpenAI's own server, else none)",
        metavar="NAME",
        scored=False,
    )
    input_price: float | None = setting(
        None,
        "Price of a million input tokens",
        "price of a million input tokens",
        within=(0, 1e12),
        scored=False,
    )
    output_price: float | None = setting(
        None,
        "Price of a million output tokens",
        "price of a million output tokens",
        within=(0, 1e12),
        scored=False,
    )

    def idle(self, backend: str) -> frozenset[str]:
        """Only a server is reached over a line, and paid."""
        return frozenset() if backend == "openai" else frozenset(type(self).model_fields)


@dataclass(frozen=True)
class Asked:
    """What determines a run's results."""

    kind: Kind
    chosen: Any
    """The kind's own Settings."""
    model: ModelSettings = field(default_factory=ModelSettings)
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Purpose -> the prompt's whole text, so that a run does not depend on a file that may change."""
    name: str = ""
    """Under which its texts or scores are listed; empty: one that says what is not as usual, and the model."""
    attached: str = ""
    """The whole text of the file that the settings refer to, such as a rubric."""

    @property
    def by_rules(self) -> bool:
        """Whether no model is asked."""
        return self.model.backend == "rules"

    @property
    def called(self) -> str:
        """The name under which its texts or scores are listed."""
        if self.name or self.kind.work == "generation":
            return self.name or self.model.short_name
        parts = [*self.chosen.called(self.kind.name, by_rules=self.by_rules)]
        if not self.chosen.named_whole(by_rules=self.by_rules):
            parts.append(self.model.short_name)
        return "-".join(_NOT_IN_NAMES.sub("-", part) for part in parts)

    @property
    def unusual(self) -> tuple[str, ...]:
        """What was chosen otherwise than usual, in a few words each."""
        usual = self.chosen.usual({}, self.model.backend)
        return tuple(
            one.valued(value)
            for name, one in fields_of(type(self.chosen)).items()
            if (value := getattr(self.chosen, name)) != usual.get(name, one.default)
        )

    @property
    def prompts_read(self) -> dict[str, Prompt]:
        """Purpose -> prompt."""
        return {purpose: parse_prompt(text, f"{purpose}.yaml") for purpose, text in self.prompts.items()}

    @property
    def seed(self) -> int | None:
        """Of all that is drawn; None: nothing is."""
        drawn = self.chosen.DRAWN or not self.by_rules
        return getattr(self.chosen, "seed", None) if drawn else None

    @property
    def environment(self) -> Environment:
        """Where the run's libraries are."""
        return (
            "neural" if self.chosen.needs == "neural" else "vllm" if self.model.backend == "vllm" else "base"
        )


def _field(name: str, label: str, option: str = "") -> SettingField:
    return SettingField(name, About(label, "", option), "text", None)


BESIDE = (
    _field("name", "Name of the judge"),
    _field("prompt", "Prompts"),
    _field("limit", "Number of items"),
)
"""What a door asks for that is no setting of any model or kind."""


def fields_named(kind: Kind) -> dict[str, SettingField]:
    """All fields that a remark on a run of the kind may name."""
    file = kind.attachment
    own = () if file is None else (_field(file.name, file.label, file.option),)
    return fields_of(kind.Settings) | {one.name: one for one in (*BESIDE, *own)}


def ask(
    kind: Kind,
    chosen: Mapping[str, object],
    model: Mapping[str, object],
    running: Mapping[str, object],
    *,
    name: str = "",
    attached: str = "",
    prompts: Sequence[Prompt] = (),
) -> tuple[Asked, Any]:
    """What a user chose, checked. Raises SettingsError or InputError with everything that is wrong.

    attached: the text of the file that the kind's settings refer to. prompts: chosen ones, in the place of those shipped.
    """
    problems: list[Remark] = []
    backend = str(model.get("backend", "rules"))
    model = _version_apart(model)
    own = _read(kind.Settings, {**kind.Settings.usual(chosen, backend), **chosen}, problems)
    asked = _read(ModelSettings, model, problems)
    how = _read(kind.Running or Running, running, problems)
    between: list[Remark] = []
    chosen_prompts: dict[PromptSlot, Prompt] = {}
    if own is not None and asked is not None:
        between += own.problems(asked.backend)
        between += _place_prompts(own, asked.backend, prompts, chosen_prompts)
    # Metrics have no backend: what some of them need is no mistake.
    if asked is not None and kind.work != "scores":
        offered = [one for one in BACKENDS if one != "rules" or kind.Settings.MODEL_FREE]
        for found, given in ((asked, model), (how, running), (own, chosen)):
            if found is not None:
                between += _idle(found, given, asked.backend, offered)
        between += _model_problems(asked)
        if asked.backend == "rules" and not kind.Settings.MODEL_FREE:
            between.append(Remark("backend", "rules cannot be this judge; choose openai or vllm"))
    if isinstance(how, Running) and backend == "openai":
        between += _key_problems(how)
    wrong = {one.name for one in problems}
    problems += [one for one in between if wrong.isdisjoint(one.fields)]
    if name and kind.work == "judging" and not _NAME.fullmatch(name):
        text = "a column's name has at most 80 characters, no blanks, commas, colons, equals signs or quotes"
        problems.append(Remark("name", text))
    if kind.attachment is not None and not attached:
        text = f"name a {kind.attachment.option}, or the path of a .yaml file"
        problems.append(Remark(kind.attachment.name, text))
    refuse(problems, ModelSettings, kind.Running or Running, also=fields_named(kind).values())
    assert own is not None
    assert asked is not None
    if asked.base_url:
        asked = asked.but(base_url=normal_url(asked.base_url))
    own = own.settled()
    slots = own.prompts(by_rules=asked.backend == "rules")
    return Asked(kind, own, asked, _texts_of(slots, chosen_prompts), name, attached), how


def _version_apart(model: Mapping[str, object]) -> Mapping[str, object]:
    """With the API version in a field of its own where the address holds it; one that contradicts the field stays."""
    url = model.get("base_url")
    if not isinstance(url, str):
        return model
    address, version = split_version(url)
    if version is None or model.get("api_version") not in (None, "", version):
        return model
    return {**model, "base_url": address, "api_version": version}


def _read(shape: type[_Shape], given: Mapping[str, object], problems: list[Remark]) -> _Shape | None:
    """The settings of these values. Where some are wrong, those of the others: what is wrong between these is told too."""
    before = len(problems)
    found = shape.read(given, problems)
    if found is not None:
        return found
    wrong = {one.name for one in problems[before:]}
    return shape.read({name: value for name, value in given.items() if name not in wrong}, [])


def _idle(
    found: Settings, given: Mapping[str, object], backend: str, backends: Sequence[str]
) -> Iterator[Remark]:
    """Fields that were given and do nothing: with this backend, or beside the other settings. backends: those on offer.

    An empty value is none: no address, no key, no models.
    """
    for name in fields_of(type(found)):
        if given.get(name) in (None, "", (), {}) or name not in found.ignored(backend):
            continue
        ways = found.fewest_choices(backend, partial(_heeds, name, backend))
        text = "does nothing beside the other settings"
        if not ways and (heeding := [one for one in backends if name not in found.ignored(one)]):
            ways = [{"backend": one} for one in heeding]
            text = f"does nothing with {{backend={backend}}}"
        yield Remark(name, f"{text}; leave it out{_or_choose(ways)}")


def _heeds(name: str, backend: str, settings: Settings) -> bool:
    return name not in settings.ignored(backend)


def _or_choose(ways: Sequence[Mapping[str, str]]) -> str:
    """The ways as the end of a remark's sentence; empty where there is none."""
    said = [" and ".join(f"{{{name}={word}}}" for name, word in way.items()) for way in ways]
    return f", or choose {' or '.join(said)}" if said else ""


def _place_prompts(
    own: KindSettings, backend: str, chosen: Sequence[Prompt], found: dict[PromptSlot, Prompt]
) -> Iterator[Remark]:
    """Put each chosen prompt into its slot in `found`.

    Yields those that a run with these settings has no use for, with the settings that have one, and second ones for a slot.
    """
    by_rules = backend == "rules"
    if by_rules and chosen:
        others = [{"backend": one} for one in BACKENDS if one != "rules"]
        text = "rules ask no model, so they use no prompt; leave it out"
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
                text = "{prompt} is for {purpose}, and this run asks for {asked}"
            else:
                said |= {"task": str(prompt.task), "asked": str(same.task)}
                text = "{prompt} is for the task {task}, and this run's is {asked}"
            yield Remark("prompt", f"{text}; leave it out{_or_choose(ways)}", said)
        elif (first := found.get(slot)) is None:
            found[slot] = prompt
        elif first.purpose == prompt.purpose:
            yield Remark("prompt", "{prompt} is the second one for {purpose}; choose one", said)
        else:
            said |= {"first": first.name}
            yield Remark("prompt", "{prompt} and {first} are for the same answer; choose one", said)


def _sends(prompt: Prompt, by_rules: bool, settings: KindSettings) -> bool:
    return any(one.fits(prompt.purpose, prompt.task) for one in settings.prompts(by_rules=by_rules))


def _texts_of(slots: Sequence[PromptSlot], chosen: Mapping[PromptSlot, Prompt]) -> dict[str, str]:
    """Purpose -> the whole text of its prompt: the chosen ones, else those shipped. Raises InputError for a broken file."""
    shipped = [find_prompt(one.shipped, one.purpose, one.task) for one in slots if one not in chosen]
    return {prompt.purpose: prompt.dump() for prompt in (*shipped, *chosen.values())}


def _model_problems(model: ModelSettings) -> Iterator[Remark]:
    if model.backend == "rules":
        return
    if not model.model:
        yield Remark("model", "name the model to ask")
    if model.backend == "openai":
        try:
            normal_url(model.base_url)
        except InputError as wrong:  # never repeats the address, which may hold a secret
            yield from (Remark("base_url", "{what}", {"what": problem}) for problem in wrong.problems)
    yield from model.call_problems()
    # Settings are kept with the run, so a secret may not be one of them, at any depth.
    for place in ("engine", "extra_body", "chat_template"):
        for name in sorted(secret_names(getattr(model, place))):
            yield Remark(
                place, "{name} is a secret; set it in the environment, such as HF_TOKEN", {"name": name}
            )


def _key_problems(running: Running) -> Iterator[Remark]:
    if running.key_variable is not None and running.key_variable not in os.environ:
        # Another name is not repeated: it may be the key itself, given in the place of its variable's name.
        name = OPENAI_KEY if running.key_variable == OPENAI_KEY else "of that name"
        text = "there is no environment variable {variable}; set it to the server's key"
        yield Remark("key_variable", text, {"variable": name})


def asked_of(run: Run) -> Asked:
    """What a saved run was asked for. Raises InputError where a newer Assay saved it."""
    return asked_from(kind_named(run.kind), run.settings, _saved_by(run))


def running_of(run: Run) -> Any:
    """How a saved run is worked on: its kind's Running, or the Running of a run that may ask a model."""
    return (kind_named(run.kind).Running or Running).saved(run.running, _saved_by(run))


def _saved_by(run: Run) -> str:
    return f"Run {run.run_id} cannot be read: Assay {run.app_version} saved it with other settings"


def asked_from(kind: Kind, kept: Mapping[str, Any], what: str = "The run's settings cannot be read") -> Asked:
    """What settings say that `kept` or `described` wrote. Raises SettingsError where they are none, which starts with
    `what`.
    """
    if kind.work == "scores":
        return Asked(kind, kind.Settings.saved(kept, what))
    attached = kept.get(kind.attachment.name) if kind.attachment else ""
    prompts = kept.get("prompts") or {}
    if not isinstance(prompts, dict):
        refuse([Remark("prompt", "{value} is no object", {"value": repr(prompts)})], also=BESIDE, what=what)
    return Asked(
        kind,
        kind.Settings.saved(kept.get(kind.name) or {}, what),
        ModelSettings.saved(kept, what),
        dict(prompts),
        str(kept.get(_name_key(kind)) or ""),
        str(attached or ""),
    )


def kept(asked: Asked) -> dict[str, Any]:
    """As the store keeps it: JSON values only, defaults included, so that equal settings are equal texts.

    Of a model's calls only what is not as usual, so that run.json stays short.
    """
    own = asked.chosen.model_dump(mode="json")
    if asked.kind.work == "scores":
        return dict(own)
    of_kind: dict[str, Any] = {"kind": asked.kind.name, _name_key(asked.kind): asked.name}
    if asked.kind.attachment is not None:
        of_kind[asked.kind.attachment.name] = asked.attached
    model = asked.model.model_dump(mode="json")
    for name, one in CallSettings.model_fields.items():
        if getattr(asked.model, name) == one.default:
            del model[name]
    vllm = {name: model.pop(name) for name in ("max_model_len", "engine")}
    return model | {"prompts": dict(asked.prompts)} | vllm | of_kind | {asked.kind.name: own}


def described(asked: Asked) -> dict[str, Any]:
    """The settings for a person to read: prompts by name and hash."""
    if asked.kind.work == "scores":
        return kept(asked)
    prompts = {
        purpose: {"name": prompt.name, "sha256": prompt.sha256}
        for purpose, prompt in sorted(asked.prompts_read.items())  # as the store has them
    }
    return kept(asked) | {"prompts": prompts, _name_key(asked.kind): asked.called}


def _name_key(kind: Kind) -> str:
    return "source" if kind.work == "generation" else "name"
