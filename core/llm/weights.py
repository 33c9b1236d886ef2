"""What the files of a model or adapter say before it is loaded: their fingerprint, and whether an adapter fits a model.

Stored answers depend on a model's contents by its fingerprint, not on its location.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

WEIGHTS = frozenset({".safetensors", ".bin", ".pt", ".pth", ".gguf"})
SETTINGS = frozenset({".json", ".jinja", ".model", ".tiktoken", ".py"})
"""Configuration, tokenizer, chat template, generation settings, and code of the model."""
WORDS = frozenset({"vocab.txt", "merges.txt"})
"""Tokenizer files in plain text; other .txt files are licences and notes."""

READ_WHOLE = 64 * 2**20
"""Weight files smaller than this are read completely."""
SAMPLES = 256
SAMPLE_BYTES = 64 * 2**10
"""Number of evenly spaced samples of a larger file. A fine-tuned model has the same file names and sizes as its base
model, but almost nowhere the same bytes."""

ADAPTER_CONFIG = "adapter_config.json"
ADAPTER_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin", "adapter_model.pt")
"""Names that PEFT gives to the files of an adapter, in the order in which vLLM looks for the weights."""
RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""Ranks for which vLLM can reserve memory (`MaxLoRARanks` in vllm/config/lora.py, version 0.32)."""
_LARGEST_HEADER = 100_000_000
"""Most bytes of a header in a safetensors file, as its own reader has it."""
_FLOATS = frozenset({"F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"})
"""Types with one number for each weight; packed weights have other shapes."""
_PAIR = re.compile(r"(?:base_model\.model\.)?(.+)\.lora_([AB])\.weight")
_IN_BLOCK = re.compile(r"(?:.*?\.)?(\d+\..+)")
_SAME_AS_LORA = frozenset({"gaussian", "eva", "orthogonal", "mica", "lora_ga"})
"""Ways to begin training that leave the model's own weights as they are."""


def absolute_place(model: str) -> str:
    """The model's absolute path if it is on this machine; any other name, such as one on the hub, unchanged."""
    path = Path(model).expanduser()
    return str(path.resolve()) if model and path.exists() else model


def fingerprint(model: Path) -> str:
    """SHA-256 of the names and contents of a model's files; large weight files are sampled.

    model: a folder, or one file with a whole model (GGUF). Its location, the folder's name and subfolders do not count.
    Raises OSError if a file cannot be read.
    """
    whole = hashlib.sha256()
    for path in [model] if model.is_file() else _files(model):
        size = path.stat().st_size
        name = "" if model.is_file() else path.name
        whole.update(f"{len(name)}:{name}:{size}:".encode())
        for piece in _pieces(path, size):
            whole.update(piece)
    return whole.hexdigest()


def _files(folder: Path) -> list[Path]:
    wanted = (
        path
        for path in folder.iterdir()
        if path.is_file() and (path.suffix in WEIGHTS | SETTINGS or path.name in WORDS)
    )
    return sorted(wanted, key=lambda path: path.name)


def _pieces(path: Path, size: int) -> Iterator[bytes]:
    """The file's bytes, or samples of them."""
    with path.open("rb") as file:
        if size < READ_WHOLE or path.suffix not in WEIGHTS:
            while piece := file.read(2**20):
                yield piece
            return
        for number in range(SAMPLES):
            file.seek((size - SAMPLE_BYTES) * number // (SAMPLES - 1))
            yield file.read(SAMPLE_BYTES)


def adapter_problems(adapter: Path, model: Path) -> list[str]:
    """Why vLLM cannot use a LoRA adapter with this model, as far as the files show. Empty: nothing was found.

    adapter: a folder as PEFT saves it. model: the base model. Shapes are compared if both are safetensors files; a model
    on the hub, in a GGUF file or with packed weights is left to vLLM. Raises OSError if a file cannot be read.
    """
    if not adapter.is_dir():
        return [f"there is no folder {adapter}"]
    if not (adapter / ADAPTER_CONFIG).is_file():
        return [f"{adapter} has no {ADAPTER_CONFIG}; choose the folder of a LoRA adapter as PEFT saves it"]
    config = _object_in(adapter / ADAPTER_CONFIG)
    if config is None:
        return [f"{ADAPTER_CONFIG} is not a JSON object"]
    kind = config.get("peft_type", "LORA")
    if str(kind).upper() != "LORA":
        return [f"{ADAPTER_CONFIG}: peft_type is {kind!r}; vLLM uses LoRA adapters only"]
    problems = [f"{ADAPTER_CONFIG}: {wrong}" for wrong in _config_problems(config)]
    weights = next((adapter / name for name in ADAPTER_WEIGHTS if (adapter / name).is_file()), None)
    if weights is None:
        problems.append(f"{adapter} has no weights: {' or '.join(ADAPTER_WEIGHTS)}")
    elif weights.suffix == ".safetensors":
        shapes = _shapes_in(weights)
        if shapes is None:
            problems.append(f"{weights.name} is not a safetensors file")
        else:
            problems += _shape_problems(_pairs(shapes), config, model)
    return problems


def reserved_rank(adapter: Path) -> int:
    """The smallest rank for which vLLM can reserve memory and that an adapter without problems fits."""
    config = _object_in(adapter / ADAPTER_CONFIG) or {}
    return next(rank for rank in RANKS if rank >= max(_ranks(config)))


def _ranks(config: Mapping[str, Any]) -> list[Any]:
    patterns = config.get("rank_pattern")
    return [config.get("r"), *(patterns.values() if isinstance(patterns, dict) else ())]


def _config_problems(config: Mapping[str, Any]) -> Iterator[str]:
    ranks = _ranks(config)
    if wrong := [one for one in ranks if not isinstance(one, int) or isinstance(one, bool) or one < 1]:
        yield f"rank {wrong[0]!r} is not a whole number from 1 on"
    elif max(ranks) > RANKS[-1]:
        yield f"rank {max(ranks)} is above {RANKS[-1]}, the largest that vLLM allows"
    if not isinstance(config.get("lora_alpha"), int | float):
        yield "lora_alpha is missing"
    if not config.get("target_modules"):
        yield "target_modules is missing"
    saved = [one for one in config.get("modules_to_save") or () if one not in ("classifier", "score")]
    if saved:
        yield f"vLLM does not support modules_to_save ({', '.join(map(str, saved))}); merge the adapter into the model"
    if config.get("bias", "none") != "none":
        yield f"vLLM does not support bias={config['bias']}"
    begun = config.get("init_lora_weights")
    if isinstance(begun, str) and begun.lower() not in _SAME_AS_LORA:
        yield f"vLLM does not support init_lora_weights={begun}; let PEFT convert the adapter to plain LoRA"
    for name in ("use_dora", "lora_bias", "alora_invocation_tokens", "layer_replication", "use_qalora"):
        if config.get(name):
            yield f"vLLM does not support {name}"


def _shape_problems(
    pairs: Mapping[str, Mapping[str, tuple[int, ...]]], config: Mapping[str, Any], model: Path
) -> Iterator[str]:
    """Contradictions between an adapter's weights, its settings and the base model, one sentence for each sort."""
    if not pairs:
        yield "its file has no LoRA weights (lora_A and lora_B)"
        return
    if half := [name for name, pair in pairs.items() if len(pair) < 2]:
        yield f"{half[0]} has only one of lora_A and lora_B"
        return
    if not config.get("rank_pattern"):
        found = {pair["A"][0] for pair in pairs.values()}
        if found != {config.get("r")}:
            listed = ", ".join(map(str, sorted(found)))
            yield f"{ADAPTER_CONFIG} has r = {config.get('r')}, but its weights have rank {listed}"
    base = _base_shapes(model)
    if not base:
        return
    kinds = {name.rsplit(".", 1)[-1] for name in base}
    known: list[str] = []
    missing: list[str] = []
    for name in pairs:
        if _block_name(name) in base:
            known.append(name)
        # Layers of experts have other names in memory than in files; lm_head may share the embedding's weights.
        elif "experts" not in name and _IN_BLOCK.fullmatch(name):
            missing.append(name)
    if unknown := sorted({one for name in missing if (one := name.rsplit(".", 1)[-1]) not in kinds}):
        yield f"it changes {', '.join(unknown)}, which the model does not have"
    elif missing and known:
        yield f"it changes {missing[0]}, which the model does not have: it has fewer layers"
    for name in known:
        wanted, here = (pairs[name]["B"][0], pairs[name]["A"][1]), base[_block_name(name)]
        if wanted not in here:
            yield (
                f"it was trained for another model: {name} is {_shape_words(wanted)} there and "
                f"{' or '.join(map(_shape_words, sorted(here)))} in this model"
            )
            return


def _shape_words(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def _pairs(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, dict[str, tuple[int, ...]]]:
    """Module -> shapes of its A (rank, inputs) and B (outputs, rank)."""
    pairs: dict[str, dict[str, tuple[int, ...]]] = {}
    for name, shape in shapes.items():
        if (found := _PAIR.fullmatch(name)) and len(shape) == 2:
            pairs.setdefault(found[1], {})[found[2]] = shape
    return pairs


def _base_shapes(model: Path) -> dict[str, set[tuple[int, ...]]]:
    """Module from its block's number on, such as `0.self_attn.q_proj` -> shapes of its matrix (outputs, inputs)."""
    found: dict[str, set[tuple[int, ...]]] = {}
    for path in sorted(model.glob("*.safetensors")) if model.is_dir() else ():
        for name, shape in (_shapes_in(path) or {}).items():
            if name.endswith(".weight") and len(shape) == 2:
                found.setdefault(_block_name(name.removesuffix(".weight")), set()).add(shape)
    return found


def _block_name(name: str) -> str:
    """A module's name without what precedes its block: prefixes differ between files and libraries."""
    found = _IN_BLOCK.fullmatch(name)
    return found[1] if found else name.rsplit(".", 1)[-1]


def _shapes_in(path: Path) -> dict[str, tuple[int, ...]] | None:
    """Tensor -> shape, of tensors with one number for each weight; None: this is not a safetensors file."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if size > _LARGEST_HEADER:
            return None
        header = _object(file.read(size))
    if header is None:
        return None
    return {
        name: tuple(one["shape"])
        for name, one in header.items()
        if isinstance(one, dict) and one.get("dtype") in _FLOATS and isinstance(one.get("shape"), list)
    }


def _object_in(path: Path) -> dict[str, Any] | None:
    return _object(path.read_bytes())


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
