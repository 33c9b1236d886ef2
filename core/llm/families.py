"""Which family a model belongs to, from its name alone: a judge may favour texts by a model like itself."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from core.schema.runs import RULES
from core.schema.scores import EDITED_BY, ScorableOutput, ScoredRow

Likeness = Literal["model", "family"]

_FAMILIES: Mapping[str, str] = {
    "GPT": r"(chat)?gpt\d*o?|davinci|o[134]",
    "Llama": r"(code)?llama\d*",
    "Qwen": r"qwen\d*|qwq|qvq",
    "Mistral": r"(mi|mini|code|dev|math|magi)stral\d*|(mix|pix|vox)tral",
    "Gemma and Gemini": r"(code|med|pali|shield)?gemma\d*|gemini\d*",
    "Claude": r"claude\d*",
    "DeepSeek": r"deepseek\d*",
    "Phi": r"phi\d*",
    "SmolLM": r"smol(v?lm)\d*",
    "Command": r"c4ai|cohere",
    "Grok": r"grok\d*",
    "GLM": r"(chat)?glm\d*",
    "OLMo": r"olmoe?\d*",
    "Falcon": r"falcon\d*",
    "Granite": r"granite\d*",
    "InternLM": r"internlm\d*",
    "Kimi": r"kimi",
}
"""Family -> the words of a name that show it."""
_COMMAND = re.compile(r"command[-_ ]?[ar]\b")
_PACKED = re.compile(
    r"[-_.]("
    r"gguf|awq|gptq|exl2|mlx|bnb|qat|fp8|fp16|bf16|f16|f32|fp4|nvfp4|mxfp4|int4|int8|w\d+a\d+|\d-?bits?|hf"
    r"|i?q\d(_[0-9a-z]+)*|safetensors|dynamic|quantized"
    r")(?=$|[-_.:])"
)
_HUB = re.compile(r"models--[^/\\]+?--([^/\\]+)")


def plain_model(name: str) -> str:
    """A model's name in lower case, without organisation, folder, quantisation and file type.

    >>> plain_model("unsloth/Qwen2.5-7B-Instruct-GGUF"), plain_model("/models/qwen2.5-7b-instruct-q4_k_m.gguf")
    ('qwen2.5-7b-instruct', 'qwen2.5-7b-instruct')
    """
    hub = _HUB.search(name)
    last = hub[1] if hub else re.split(r"[/\\]", name.strip().rstrip("/\\"))[-1]
    plain = re.sub(r":(latest|free)$", "", last.lower())
    while (shorter := _PACKED.sub("", plain)) != plain:
        plain = shorter
    return plain


def families_of(name: str) -> frozenset[str]:
    """The families that a model's name shows; empty: unknown. A model distilled into another's weights shows both.

    >>> sorted(families_of("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B")), families_of("system-a")
    (['DeepSeek', 'Qwen'], frozenset())
    """
    plain = plain_model(name)
    words = [word for word in re.split(r"[^a-z0-9]+", plain) if word]
    found = {family for family, word in _FAMILIES.items() if any(re.fullmatch(word, one) for one in words)}
    return frozenset(found | ({"Command"} if _COMMAND.search(plain) else set()))


def likeness(model: str, other: str) -> Likeness | None:
    """Whether two names mean one model or models of one family; None: neither is known.

    Names tell little: equal names without a known family are a claim only if they are models' names, which the caller knows.
    """
    if plain_model(model) and plain_model(model) == plain_model(other):
        return "model"
    return "family" if families_of(model) & families_of(other) else None


_WRITERS = ("generator", "model", EDITED_BY)
"""Labels that name the model that wrote a text, beside its system."""


def alike_note(model: str | None, texts: Iterable[ScorableOutput | ScoredRow]) -> str | None:
    """A warning that a judge's model is, or is of the family of, a model that wrote its texts; None: nothing is known.

    model: the judge's; None, empty or `rules`: no model is asked. texts: what it judges, by system and label `generator`,
    `model` or `edited_by`.
    """
    if not model or model == RULES:
        return None
    names = dict.fromkeys(
        name for text in texts for name in (text.system, *map(text.labels.get, _WRITERS)) if name
    )
    same = [name for name in names if likeness(model, name) == "model"]
    family = [name for name in names if likeness(model, name) == "family"]
    if not same and not family:
        return None
    said = [
        *([f"is the model that wrote the texts of {_listed(same)}"] if same else []),
        *([f"is of the same family as {_listed(family)}, which wrote texts"] if family else []),
    ]
    return f"The judge's model {model} {' and '.join(said)}: it may favour its own style. Compare with a judge of another family."


def alike_notes(models: Iterable[str | None], texts: Sequence[ScorableOutput | ScoredRow]) -> tuple[str, ...]:
    """The warnings of several judges on the same texts, each once; see `alike_note`."""
    notes = (alike_note(model, texts) for model in dict.fromkeys(models))
    return tuple(note for note in notes if note is not None)


_MODEL = re.compile(r"\|model:([^|]+)")


def model_of(signature: str) -> str:
    """The model in the signature of a judge's metric; empty if it names none."""
    found = _MODEL.search(signature)
    return found[1] if found else ""


_MOST_NAMED = 3


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"
