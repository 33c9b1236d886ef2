"""A LoRA adapter in PEFT's form, and the same model with the adapter's product added to its weights.

`python tests/helpers/models/adapters.py MODEL FOLDER`, with vLLM's own Python, makes in FOLDER: `adapter`, and `merged`,
MODEL with W + alpha / r * B A in place of W.
"""

import json
import math
import shutil
import struct
import sys
from pathlib import Path
from typing import Any

RANK, ALPHA, TARGETS = 12, 24, ("q_proj", "v_proj", "down_proj")
"""A rank between those that vLLM has buffers for, and targets of different shapes."""


def make(model: Path, folder: Path) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    rng = torch.Generator().manual_seed(0)
    weights = load_file(model / "model.safetensors")
    pairs: dict[str, torch.Tensor] = {}
    merged = dict(weights)
    for name, weight in weights.items():
        module = name.removesuffix(".weight")
        if module.rsplit(".", 1)[-1] not in TARGETS:
            continue
        n_out, n_in = weight.shape
        a = torch.randn(RANK, n_in, generator=rng) / math.sqrt(n_in)
        b = torch.randn(n_out, RANK, generator=rng) * weight.float().std()
        pairs[f"base_model.model.{module}.lora_A.weight"] = a
        pairs[f"base_model.model.{module}.lora_B.weight"] = b
        # In float32: rounding to the weights' own type would already be another model.
        merged[name] = weight.float() + ALPHA / RANK * b @ a
    place = folder / "adapter"
    place.mkdir(parents=True)
    save_file(pairs, place / "adapter_model.safetensors")
    (place / "adapter_config.json").write_text(json.dumps(config(model)))
    shutil.copytree(model, folder / "merged")
    save_file({name: one.float() for name, one in merged.items()}, folder / "merged" / "model.safetensors")


def config(model: Path) -> dict[str, object]:
    """The fields that PEFT writes and vLLM reads."""
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": str(model),
        "r": RANK,
        "lora_alpha": ALPHA,
        "lora_dropout": 0.0,
        "target_modules": list(TARGETS),
        "bias": "none",
        "use_rslora": False,
        "use_dora": False,
    }


_CONFIG = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj"]}


def _tensors(path: Path, shapes: dict[str, tuple[int, ...]]) -> None:
    """A safetensors file of zeros: the length of a JSON header, the header, the numbers."""
    header, end = {}, 0
    for name, shape in shapes.items():
        size = 4 * shape[0] * shape[1]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(end))


def small_model(place: Path, *, width: int = 6, n_layers: int = 2) -> Path:
    """A folder like a model's, with one square matrix a layer."""
    place.mkdir()
    (place / "config.json").write_text("{}")
    matrices = {f"model.layers.{n}.self_attn.q_proj.weight": (width, width) for n in range(n_layers)}
    _tensors(place / "model.safetensors", matrices)
    return place


def small_adapter(
    place: Path,
    *,
    width: int = 6,
    n_layers: int = 2,
    module: str = "self_attn.q_proj",
    rank: int = 4,
    **config: Any,
) -> Path:
    """A folder like that of an adapter for `small_model`. config: fields that differ."""
    place.mkdir()
    (place / "adapter_config.json").write_text(json.dumps(_CONFIG | config))
    pairs: dict[str, tuple[int, ...]] = {}
    for number in range(n_layers):
        name = f"base_model.model.model.layers.{number}.{module}"
        pairs |= {f"{name}.lora_A.weight": (rank, width), f"{name}.lora_B.weight": (width, rank)}
    _tensors(place / "adapter_model.safetensors", pairs)
    return place


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
