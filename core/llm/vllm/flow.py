"""Requests flow through vLLM as they come: each is answered when it is finished, whoever else is still at work.

vLLM is imported when it is there.
"""

import asyncio
import re
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import Any

from core.llm.client import Reason, Reply, Request
from core.llm.thinking import Room, apart

LONGEST_SENTENCE = 400
"""Characters of an error that are shown."""


@dataclass(frozen=True)
class Sent:
    """A request as vLLM works on it."""

    number: str
    """Under which its output comes."""
    internal: str
    """Under which it is aborted."""
    limit: int
    """Tokens of thinking and answer together."""
    told: Mapping[str, Any]
    """To the chat template."""
    not_sent: tuple[str, ...]


class Exchange:
    """What goes into a loaded engine and what comes out. Belongs to the engine's thread."""

    def __init__(self, llm: Any, for_template: Mapping[str, Any] | None) -> None:
        """for_template: arguments of the chat template that go with every request."""
        self._llm = llm
        self._engine = llm.llm_engine
        self._for_template = dict(for_template or {})
        self._room = Room()
        config = self._engine.vllm_config
        parser = config.structured_outputs_config.reasoning_parser
        self._reasoning = _Reasoning(llm, parser) if parser else None
        self._keeps_budgets = config.reasoning_config is not None and config.reasoning_config.enabled
        own = llm.model_config.get_diff_sampling_param()
        self._models_own = {name: value for name, value in own.items() if name != "max_tokens"}

    @property
    def n_open(self) -> int:
        """Requests that the engine holds."""
        n: int = self._engine.get_num_unfinished_requests()
        return n

    def send(self, request: Request) -> Sent:
        """Hand a request over. Raises what vLLM raises for one that it does not take."""
        how, limit = request.how, self._room.limit_of(request)
        ignored = how.reasoning_budget is not None and not self._keeps_budgets
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        told = self._for_template | _told_to_template(request) | how.chat_template
        [internal] = self._llm.enqueue_chat(
            messages, self._parameters(request, limit), use_tqdm=False, chat_template_kwargs=told or None
        )
        # vLLM adds a random part to the number by which its outputs go.
        number = internal.partition("-")[0]
        return Sent(number, internal, limit, told, ("thinking_token_budget",) if ignored else ())

    def abort(self, sent: Sequence[Sent]) -> None:
        """Take requests back."""
        self._engine.abort_request([one.internal for one in sent], internal=True)

    def step(self) -> list[Any]:
        """Compute one step of all that is open: the outputs that it finished."""
        return [output for output in self._engine.step() if output.finished]

    def read(self, output: Any, sent: Sent) -> Reply:
        """What vLLM wrote, as a value."""
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
        """How to write the answer; a schema guides the decoding."""
        sampling, how = import_module("vllm.sampling_params"), request.how
        # With a temperature nothing of the model's own settings holds, so that 0 means the likeliest answer.
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
        """Answer, thinking and its tokens (None: nobody counted): by vLLM's parser where one is chosen, else by tags."""
        if self._reasoning is not None:
            return self._reasoning.apart(output, sent.told)
        text, thinking = apart(output.outputs[0].text)
        return (text.lstrip() if thinking else text), thinking, None


def about_a_request(problem: Exception) -> bool:
    """Whether the problem lies in what was asked: its length, its schema, its text or what the template takes."""
    jinja = import_module("jinja2")
    vllm = import_module("vllm.exceptions")
    return isinstance(problem, vllm.VLLMClientError | ValueError | TypeError | jinja.TemplateError)


def refused(problem: Exception) -> Reply:
    """The reply to a request that vLLM does not take."""
    too_long = getattr(problem, "parameter", None) in ("input_tokens", "input_text")
    too_long = too_long or "maximum model length" in str(problem)
    return Reply(None, "too long" if too_long else "rejected", sentence(problem))


def unanswered(problem: Exception | None) -> Reply:
    """The reply where the engine failed; None: where there is none."""
    if problem is None:
        return Reply(None, "unreachable", "The engine is not running.")
    return Reply(None, "server error", f"vLLM failed: {sentence(problem)}")


def sentence(problem: Exception) -> str:
    """What happened, in a line: without what belongs to a traceback or to programmers."""
    if hasattr(problem, "errors") and callable(problem.errors):  # pydantic's
        said = "; ".join(str(each.get("msg", "")).removeprefix("Value error, ") for each in problem.errors())
    else:
        said = str(problem.args[0]) if len(problem.args) == 1 else str(problem)
    if unknown := re.search(r"unexpected keyword argument '(\w+)'", said):
        return f"vLLM has no option {unknown[1]}."
    lines = [" ".join(line.split()) for line in said.splitlines() if line.strip()]
    return _shortened(lines[0] if lines else type(problem).__name__)


def _shortened(line: str) -> str:
    """Whole sentences, as many as may be shown."""
    if len(line) <= LONGEST_SENTENCE:
        return line
    whole, end, _ = line[:LONGEST_SENTENCE].rpartition(". ")
    return whole + "." if end else line[:LONGEST_SENTENCE] + " ..."


def _told_to_template(request: Request) -> dict[str, Any]:
    """What the chat template is told about thinking: `reasoning_effort`, as vLLM's server passes it."""
    effort = request.how.reasoning_effort
    return {"reasoning_effort": effort, "enable_thinking": effort != "none"} if effort else {}


class _Reasoning:
    """The reasoning parser that the engine option `reasoning_parser` names: it tells thinking from the answer as vLLM's
    server does.
    """

    def __init__(self, llm: Any, name: str) -> None:
        """Find it. Raises what vLLM raises where there is none, or where the model's tokenizer does not fit."""
        self._tokenizer, self._config = llm.get_tokenizer(), llm.model_config
        self._parser = import_module("vllm.parser").ParserManager.get_parser(
            reasoning_parser_name=name,
            model_name=self._config.model,
            is_harmony=self._config.hf_config.model_type == "gpt_oss",
            tokenizer=self._tokenizer,
        )
        protocol = import_module("vllm.entrypoints.openai.chat_completion.protocol")
        # Parsers are written for the server: they want its request, and look at its settings alone.
        asked = protocol.ChatCompletionRequest(
            messages=[{"role": "user", "content": ""}], model=self._config.model
        )
        self._asked = self._new({}).adjust_request(asked)
        self.skips_special_tokens: bool = self._asked.skip_special_tokens
        """False where the marks of thinking are special tokens, which a text would else be without."""

    def apart(self, output: Any, told: Mapping[str, Any]) -> tuple[str, str, int | None]:
        """Answer, thinking and its tokens; None where the parser does not count them.

        told: what the chat template was told.
        """
        parser, said = self._new(told), output.outputs[0]
        parser.set_prompt_token_ids(output.prompt_token_ids)
        thinking, answer, _ = parser.parse(
            said.text, self._asked, model_output_token_ids=tuple(said.token_ids)
        )
        if not answer and parser.is_reasoning_end(list(output.prompt_token_ids)):
            # The template had ended the thinking; some parsers take all that has no end mark for thinking.
            answer, thinking = apart(said.text)
        counted = parser.count_reasoning_tokens(tuple(said.token_ids))
        # Parsers that look for the beginning count none where the prompt has begun the thinking.
        return (answer or "").lstrip(), (thinking or "").strip(), counted or (None if thinking else 0)

    def _new(self, told: Mapping[str, Any]) -> Any:
        return self._parser(self._tokenizer, None, chat_template_kwargs=dict(told), model_config=self._config)


@dataclass(eq=False)
class _Asked:
    """A request and who waits for its reply."""

    request: Request
    answer: asyncio.Future[Reply]
    loop: asyncio.AbstractEventLoop
    shares_before: float = 0.0
    """See Flow._shares, when the engine took it."""

    def tell(self, reply: Reply) -> None:
        """Answer from the engine's thread; nobody listens any more where the loop is closed."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._tell, reply)

    def _tell(self, reply: Reply) -> None:
        if not self.answer.done():  # whoever asked may have been cancelled meanwhile
            self.answer.set_result(reply)


class Flow:
    """Takes requests between the engine's steps and answers those that a step finished.

    `run` belongs to the engine's thread, all else to others. Once a step failed, whatever the engine holds could come
    back as somebody else's answer: from then on nothing more is asked of it.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._waiting: SimpleQueue[_Asked | None] = SimpleQueue()
        self._open: dict[str, tuple[_Asked, Sent]] = {}
        self._shares = 0.0
        """Seconds that one request would have been charged that was open from the start: what the engine works is
        shared out evenly among those that are open."""
        self._seen = 0.0
        self._broken: Exception | None = None
        self._ending = threading.Event()
        self._over = False
        self._gate = threading.Lock()

    async def ask(self, request: Request) -> Reply:
        """The reply to one request. Cancelled, the request leaves the engine before its next step."""
        loop = asyncio.get_running_loop()
        asked = _Asked(request, loop.create_future(), loop)
        with self._gate:
            if self._over or self._ending.is_set():
                return unanswered(None)
            self._waiting.put(asked)
        return await asked.answer

    def end(self) -> None:
        """Let `run` return after the step at work; whoever still waits is told that the engine is gone."""
        self._ending.set()
        self._waiting.put(None)

    def run(self) -> None:
        """Work until `end`."""
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
        """All that wait now; without anything to do, wait for the next."""
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
        """Hand a request over; one that vLLM does not take is refused alone."""
        if self._broken is not None:
            asked.tell(unanswered(self._broken))
            return
        try:
            sent = self._exchange.send(asked.request)
        except Exception as problem:
            asked.tell(refused(problem) if about_a_request(problem) else unanswered(problem))
            if not about_a_request(problem) or self._exchange.n_open != len(self._open):
                self._break(problem)
            return
        asked.shares_before = self._shares
        self._open[sent.number] = (asked, sent)

    def _step(self) -> None:
        """Let go of what nobody waits for, compute a step, and answer what it finished."""
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
                except Exception as problem:  # a parser of vLLM's may raise on what a model wrote
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
            with suppress(Exception):  # the engine goes anyway
                self._exchange.abort([sent for _, sent in self._open.values()])
        self._open.clear()
        for asked in left:
            asked.tell(unanswered(None))
