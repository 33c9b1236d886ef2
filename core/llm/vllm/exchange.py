"""Requests as vLLM takes them, and what it gives or raises as replies. vLLM is imported when it is there."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from core.llm.client import Reason, Reply, Request
from core.llm.thinking import Room, apart
from core.llm.vllm.reasoning import Reasoning, told_to_template

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
        self._reasoning = Reasoning(llm, parser) if parser else None
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
        told = self._for_template | told_to_template(request) | how.chat_template
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
