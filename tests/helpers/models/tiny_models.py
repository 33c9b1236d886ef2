"""Makes a tiny language model that really runs in vLLM: `python tests/helpers/models/tiny_models.py FOLDER`, with vLLM's Python.

Two Llama layers with random weights, a byte-level tokenizer trained here, a chat template: about 500 KB. What it
writes means nothing, but depends on every word of the prompt; whatever is around it (batches, schemas, counts,
limits) is real.
"""

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

ROOT = Path(__file__).resolve().parents[3]
VOCABULARY = 1024
WINDOW = 16_384
ENDS = 1.7
"""How much larger the end's weights are: an answer then has a few dozen tokens, where nothing ends it before."""
END, TURN, PAD = "<|end|>", "<|turn|>", "<|pad|>"
TEMPLATE = (
    "{% for message in messages %}"
    + TURN
    + "{{ message['role'] }}\n{{ message['content'] }}"
    + END
    + "\n{% endfor %}{% if add_generation_prompt %}"
    + TURN
    + "assistant\n{% endif %}"
)
THINK, THOUGHT = "<think>", "</think>"
THINKS = 1.5
"""How much larger the weights of the end of thinking are."""
THINKING_TEMPLATE = TEMPLATE.replace(
    "assistant\n",
    "assistant\n{% if reasoning_effort is defined and reasoning_effort %}Effort: {{ reasoning_effort }}\n{% endif %}"
    + THINK
    + "\n{% if enable_thinking is defined and not enable_thinking %}\n"
    + THOUGHT
    + "\n\n{% endif %}",
)


def texts() -> Iterator[str]:
    """What the tokenizer learns from: the demo's English, and the signs of JSON. Other scripts go byte by byte."""
    for path in [ROOT / "data" / "demo" / "answers.csv"]:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                yield from (cell for cell in row if cell.isascii())
    yield from ['{"text": "x", "edits": [{"old": "1", "new": "2"}]}'] * 50


def tokenizer(template: str | None, thinks: bool) -> PreTrainedTokenizerFast:
    pieces = Tokenizer(models.BPE())
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[PAD, TURN, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    pieces.train_from_iterator(texts(), trainer)
    made = PreTrainedTokenizerFast(
        tokenizer_object=pieces, eos_token=END, bos_token=TURN, pad_token=PAD, model_max_length=WINDOW
    )
    if thinks:
        made.add_tokens([THINK, THOUGHT])
    made.chat_template = template
    return made


def make(folder: Path, seed: int = 0, template: bool = True, thinks: bool = False) -> None:
    """Write the model's files; another seed gives other weights. thinks: before it answers, as its template begins it."""
    words = tokenizer((THINKING_TEMPLATE if thinks else TEMPLATE) if template else None, thinks)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=WINDOW,
        bos_token_id=words.bos_token_id,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
        tie_word_embeddings=False,
        initializer_range=0.3,  # with the usual 0.02 it repeats its last word, whatever was asked
    )
    model = LlamaForCausalLM(config)
    model.lm_head.weight.data *= likelihoods(words)
    model.to(torch.bfloat16).save_pretrained(folder)
    words.save_pretrained(folder)


def likelihoods(words: PreTrainedTokenizerFast) -> torch.Tensor:
    """Factors that let it write words rather than single bytes, never a turn of its own, and end by itself."""
    factors = torch.ones(len(words), 1)
    for piece, number in words.get_vocab().items():
        if len(piece) == 1:
            factors[number] = 0.3
    factors[words.convert_tokens_to_ids([PAD, TURN])] = 0.0
    factors[words.eos_token_id] = ENDS
    if THOUGHT in words.get_vocab():
        factors[words.convert_tokens_to_ids(THINK)] = 0.0
        factors[words.convert_tokens_to_ids(THOUGHT)] = THINKS
    return factors


if __name__ == "__main__":
    commands = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands.add_argument("folder", type=Path)
    commands.add_argument("--seed", type=int, default=0)
    commands.add_argument("--without-template", action="store_true")
    commands.add_argument("--thinking", action="store_true")
    given = commands.parse_args()
    make(given.folder, given.seed, template=not given.without_template, thinks=given.thinking)
