"""Requests as vLLM takes them, and what it gives or raises as replies. vLLM is imported when it is there."""

import re
from importlib import import_module
from typing import Any

from core.llm.client import Reason, Reply, Request

LONGEST_SENTENCE = 400
"""Characters of an error that are shown."""


def wording(request: Request) -> list[tuple[str, str]]:
    """What to sort by, so that requests which begin alike stand together."""
    return [(message.role, message.content) for message in request.messages]


def conversation(request: Request) -> list[dict[str, str]]:
    """The messages as vLLM takes them."""
    return [{"role": message.role, "content": message.content} for message in request.messages]


def parameters(request: Request) -> Any:
    """What else the request says; a schema guides the decoding."""
    sampling = import_module("vllm.sampling_params")
    guided = None
    if request.schema is not None:
        guided = sampling.StructuredOutputsParams(json=dict(request.schema))
    return sampling.SamplingParams(
        temperature=request.temperature,
        max_tokens=request.max_tokens,
        seed=request.seed,
        structured_outputs=guided,
    )


def reply(output: Any, request: Request) -> Reply:
    """What vLLM wrote, as a value."""
    said = output.outputs[0]
    written = len(said.token_ids)
    reason: Reason | None = None
    detail = ""
    if said.finish_reason == "length":
        reason, detail = "cut off", f"The answer was not finished after {request.max_tokens} tokens."
        if written < request.max_tokens:
            detail = f"After {written} tokens of the answer the model's window was full."
    elif said.finish_reason != "stop":
        reason, detail = "server error", f"vLLM ended the answer early ({said.finish_reason})."
    elif not said.text.strip():
        reason, detail = "empty", "The model wrote nothing."
    return Reply(said.text, reason, detail, len(output.prompt_token_ids), written)


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
