"""Thinking told from the answer by the reasoning parser that vLLM has for the model, as vLLM's server does it."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from core.llm.client import Request
from core.llm.thinking import apart


def told_to_template(request: Request) -> dict[str, Any]:
    """What the chat template is told about thinking: `reasoning_effort`, as vLLM's server passes it."""
    effort = request.how.reasoning_effort
    return {"reasoning_effort": effort, "enable_thinking": effort != "none"} if effort else {}


class Reasoning:
    """The parser that the engine option `reasoning_parser` names."""

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
