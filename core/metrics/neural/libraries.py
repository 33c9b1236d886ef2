"""The libraries of `.venv-neural`, imported when a metric first needs them: core itself works without them."""

import logging
import os
import textwrap
import warnings
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from core.errors import InputError

NOT_SET_UP = "The metrics that run a model are not set up here: `./run --with neural --setup` makes .venv-neural for them."
NEEDED = ("bert_score", "comet", "bleurt_pytorch", "sentence_transformers")
"""One of each family; whoever has them has torch and transformers too."""
_QUIET = {
    "TOKENIZERS_PARALLELISM": "false",  # else a warning at every fork
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_VERBOSITY": "error",  # else a line for every text that is cut
}
_TALKATIVE = ("comet", "pytorch_lightning", "lightning.pytorch", "sentence_transformers")
"""They greet with every model and every batch; what goes wrong they raise."""


def libraries_are_here() -> bool:
    """Whether this Python can run every neural metric."""
    return all(find_spec(name) is not None for name in NEEDED)


def library(name: str) -> Any:
    """An imported module of the neural environment. Raises InputError, saying how to get it."""
    for variable, value in _QUIET.items():
        os.environ.setdefault(variable, value)
    for logger in _TALKATIVE:
        logging.getLogger(logger).setLevel(logging.ERROR)
    if find_spec(name.split(".")[0]) is None:
        raise InputError(NOT_SET_UP, [f"{name.split('.')[0]} is missing in this Python"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the libraries' own insides
        try:
            return import_module(name)
        except Exception as problem:
            raise InputError(
                f"{name} is installed here but does not start.", [in_a_line(problem)]
            ) from problem


def release(distribution: str) -> str:
    """A library's version, for signatures."""
    return version(distribution)


def chosen_device(wanted: str) -> str:
    """`cpu`, or `cuda` with or without a number. Raises InputError where there is no such device."""
    torch = library("torch")
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if wanted == "cpu":
        return wanted
    kind, _, number = wanted.partition(":")
    if kind != "cuda" or (":" in wanted and not number.isdecimal()):
        raise InputError(f"--device: there is no device {wanted!r}; choose auto, cpu, cuda or such as cuda:1")
    if not torch.cuda.is_available():
        raise InputError(f"--device: {wanted} is not to be had: torch finds no GPU here; choose auto or cpu")
    if number and int(number) >= torch.cuda.device_count():
        raise InputError(f"--device: there is no {wanted}; this machine has {torch.cuda.device_count()} GPUs")
    return wanted


def in_a_line(problem: Exception) -> str:
    """What a library has to say about its failure, shortened."""
    return textwrap.shorten(str(problem) or type(problem).__name__, 300, placeholder=" ...")
