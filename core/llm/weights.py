"""Fingerprint of a model in a folder, so that stored answers depend on the model's contents, not its location."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

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
