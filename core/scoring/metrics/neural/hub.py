"""Models by their names on the model hub: what was fetched before is taken as it is, the rest is fetched."""

from pathlib import Path
from typing import Any, Literal

from core.errors import InputError
from core.scoring.metrics.neural.libraries import in_a_line, library

Kind = Literal["model", "comet", "tokenizer", "config"]
"""A model in transformers' form; a COMET checkpoint; a model's tokenizer and configuration; the configuration alone."""
CHECKPOINT = "checkpoints/model.ckpt"
SETTINGS = "hparams.yaml"
"""COMET's files."""
WHOLE_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
TOKENIZERS = ("tokenizer.json", "sentencepiece.bpe.model", "vocab.txt")
NAMED = {"model": "PyTorch model", "comet": "COMET model", "tokenizer": "tokenizer", "config": "config.json"}
SECONDS = 10.0
"""How long the hub may take to begin an answer."""


class HubAway(Exception):
    """The hub does not answer, so asking it for another model is of no use."""

    def __init__(self, model: str, why: str = "") -> None:
        super().__init__(model, why)
        self.model, self.why = model, why


def folder_from_hub(model: str, kind: Kind, may_ask: bool = True) -> Path:
    """A folder with the files a library reads. A rerun has the same model, and needs no network.

    Raises InputError where the hub has no such model, HubAway where it cannot be asked (or may not).
    """
    hub, errors = library("huggingface_hub"), library("huggingface_hub.errors")
    try:
        here = Path(hub.snapshot_download(model, local_files_only=True))
        if _complete(here, kind):
            return here
    except errors.LocalEntryNotFoundError:
        pass
    except errors.HFValidationError:
        raise InputError(f"there is no file or folder {model}, and the hub has no names like it") from None
    if not may_ask:
        raise HubAway(model)
    try:
        wanted = _wanted(hub.HfApi().model_info(model, timeout=SECONDS), kind)
        folder = Path(hub.snapshot_download(model, allow_patterns=wanted, etag_timeout=SECONDS))
    except (errors.RepositoryNotFoundError, errors.GatedRepoError) as problem:
        raise InputError(
            f"the model hub has no {model}, or shows it only to those who sign in (HF_TOKEN)"
        ) from problem
    except errors.OfflineModeIsEnabled as problem:
        raise HubAway(model, "HF_HUB_OFFLINE is set") from problem
    except errors.HfHubHTTPError as problem:
        raise HubAway(model, in_a_line(problem)) from problem
    except OSError as problem:  # of the line or of the disk; what requests says of a line is for programmers
        by_requests = type(problem).__module__.startswith("requests")
        raise HubAway(model, type(problem).__name__ if by_requests else in_a_line(problem)) from problem
    if not _complete(folder, kind):
        raise InputError(f"{model} holds no {NAMED[kind]}")
    return folder


def _complete(folder: Path, kind: Kind) -> bool:
    """Whether a library could load it. A download that broke off lacks the file it was at."""
    if kind == "comet":
        return (folder / CHECKPOINT).is_file() and (folder / SETTINGS).is_file()
    wanted = {"model": WHOLE_WEIGHTS, "tokenizer": TOKENIZERS, "config": ("config.json",)}[kind]
    return (folder / "config.json").is_file() and any((folder / name).is_file() for name in wanted)


def _wanted(info: Any, kind: Kind) -> list[str]:
    """The files a library reads, of a repository that may hold the same weights in five formats."""
    names = [str(file.rfilename) for file in info.siblings]
    if kind == "comet":
        return [name for name in names if name in (SETTINGS, CHECKPOINT)]
    wanted = [name for name in names if "/" not in name and name.endswith((".json", ".txt", ".model"))]
    if kind == "model":
        wanted += [name for name in WHOLE_WEIGHTS if name in names][:1]
    return wanted
