"""A fingerprint of a model that lies in a folder, so that answers are kept by what the model is, not where it lies."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

WEIGHTS = frozenset({".safetensors", ".bin", ".pt", ".pth", ".gguf"})
SETTINGS = frozenset({".json", ".jinja", ".model", ".tiktoken", ".py"})
"""Configuration, tokenizer, chat template, generation settings, and code that comes with the model."""
WORDS = frozenset({"vocab.txt", "merges.txt"})
"""Tokenizer files in plain text; other .txt files are licences and notes."""

READ_WHOLE = 64 * 2**20
"""Weight files smaller than this are read to the end."""
SAMPLES = 256
SAMPLE_BYTES = 64 * 2**10
"""Of a larger file so many stretches are read, evenly spaced: a fine-tuned model has the same names and sizes as
the one it came from, but hardly anywhere the same bytes."""


def absolute_place(model: str) -> str:
    """The model's absolute path if it lies on this machine; any other name, such as one on the hub, as it is."""
    path = Path(model).expanduser()
    return str(path.resolve()) if model and path.exists() else model


def fingerprint(model: Path) -> str:
    """SHA-256 over the names and contents of a model's files; of large weight files over samples.

    model: a folder, or one file that holds a whole model (GGUF). The place and the folder's name do not enter, nor
    do folders inside it. Raises OSError where a file cannot be read.
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
