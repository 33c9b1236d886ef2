"""Tools of the metrics that run a model: libraries of their optional environment, models on this machine or on the hub,
families of configurations, and scoring that isolates texts a model cannot score.
"""

import hashlib
import logging
import math
import os
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import yaml

from core.disk import is_disk_problem, why_not_written
from core.errors import InputError
from core.installation import set_up
from core.llm.weights import fingerprint
from core.metrics.scorer import MetricSpec, ScoringPair
from core.schema.scores import Score

NEEDED = ("bert_score", "comet", "bleurt_pytorch", "sentence_transformers")
"""One module for each family; they depend on torch and transformers."""
_QUIET = {
    "TOKENIZERS_PARALLELISM": "false",  # otherwise a warning at every fork
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_VERBOSITY": "error",  # otherwise a line for every shortened text
}
_TALKATIVE = ("comet", "pytorch_lightning", "lightning.pytorch", "sentence_transformers")
"""Loggers with messages for every model and batch; errors are raised anyway."""


def not_set_up() -> str:
    """Return the sentence about a missing environment of these metrics."""
    return (
        f"Metrics that run a model are not set up here. Set them up with {set_up('neural')}, in .venv-neural."
    )


def libraries_are_here() -> bool:
    """Whether this Python can run every neural metric."""
    return all(find_spec(name) is not None for name in NEEDED)


def library(name: str) -> Any:
    """Import a module of the neural environment. If it is missing, InputError says how to set it up."""
    for variable, value in _QUIET.items():
        os.environ.setdefault(variable, value)
    for logger in _TALKATIVE:
        logging.getLogger(logger).setLevel(logging.ERROR)
    if find_spec(name.split(".")[0]) is None:
        raise InputError(not_set_up(), [f"{name.split('.')[0]} is missing in this Python"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about the libraries' internals
        try:
            return import_module(name)
        except Exception as problem:
            raise InputError(
                f"{name} is installed but cannot be imported", [error_line(problem)]
            ) from problem


def release(distribution: str) -> str:
    """A library's version, for signatures."""
    return version(distribution)


def chosen_device(wanted: str) -> str:
    """The device to use: `cpu`, or `cuda` with or without a number. Raises InputError if it does not exist."""
    torch = library("torch")
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if wanted == "cpu":
        return wanted
    kind, _, number = wanted.partition(":")
    if kind != "cuda" or (":" in wanted and not number.isdecimal()):
        raise InputError(f"There is no device {wanted!r}; choose auto, cpu, cuda or a number such as cuda:1")
    if not torch.cuda.is_available():
        raise InputError(f"The device {wanted} is not available: torch finds no GPU; choose auto or cpu")
    if number and int(number) >= torch.cuda.device_count():
        raise InputError(f"There is no device {wanted}; this machine has {torch.cuda.device_count()} GPUs")
    return wanted


def error_line(problem: Exception) -> str:
    """A library's error message, shortened to one line."""
    return textwrap.shorten(str(problem) or type(problem).__name__, 300, placeholder=" ...")


Kind = Literal["model", "comet", "tokenizer", "config"]
"""A model for transformers; a COMET checkpoint; a model's tokenizer with its configuration; the configuration alone."""
CHECKPOINT = "checkpoints/model.ckpt"
SETTINGS = "hparams.yaml"
"""Files of a COMET model."""
WHOLE_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
TOKENIZERS = ("tokenizer.json", "sentencepiece.bpe.model", "vocab.txt")
NAMED = {"model": "PyTorch model", "comet": "COMET model", "tokenizer": "tokenizer", "config": "config.json"}
SECONDS = 10.0
"""Timeout until the hub begins an answer."""


class HubAway(Exception):
    """The hub does not answer, so that requests for other models would fail too."""

    def __init__(self, model: str, why: str = "") -> None:
        super().__init__(model, why)
        self.model, self.why = model, why


def folder_from_hub(model: str, kind: Kind, may_ask: bool = True) -> Path:
    """A folder with a model's files, downloaded if needed. A rerun uses the same files and needs no network.

    Raises InputError if the hub has no such model, HubAway if the hub cannot or (may_ask) must not be asked.
    """
    hub, errors = library("huggingface_hub"), library("huggingface_hub.errors")
    try:
        here = Path(hub.snapshot_download(model, local_files_only=True))
        if _complete(here, kind):
            return here
    except errors.LocalEntryNotFoundError:
        pass
    except errors.HFValidationError:
        raise InputError(
            f"there is no file or folder {model}, and it is not a valid name on the hub"
        ) from None
    if not may_ask:
        raise HubAway(model)
    try:
        wanted = _wanted(hub.HfApi().model_info(model, timeout=SECONDS), kind)
        folder = Path(hub.snapshot_download(model, allow_patterns=wanted, etag_timeout=SECONDS))
    except (errors.RepositoryNotFoundError, errors.GatedRepoError) as problem:
        raise InputError(
            f"the model hub has no {model}, or it requires a sign-in (set HF_TOKEN)"
        ) from problem
    except errors.OfflineModeIsEnabled as problem:
        raise HubAway(model, "HF_HUB_OFFLINE is set") from problem
    except errors.HfHubHTTPError as problem:
        raise HubAway(model, error_line(problem)) from problem
    except OSError as problem:  # connection or disk; messages from requests are for programmers
        if is_disk_problem(problem):
            place = Path(problem.filename or Path.home())
            raise InputError(f"{model} cannot be stored: {why_not_written(problem, place)}") from problem
        by_requests = type(problem).__module__.startswith("requests")
        raise HubAway(model, type(problem).__name__ if by_requests else error_line(problem)) from problem
    if not _complete(folder, kind):
        raise InputError(f"{model} contains no {NAMED[kind]}")
    return folder


def _complete(folder: Path, kind: Kind) -> bool:
    """Whether a folder has the files that a library needs; an interrupted download lacks some."""
    if kind == "comet":
        return (folder / CHECKPOINT).is_file() and (folder / SETTINGS).is_file()
    wanted = {"model": WHOLE_WEIGHTS, "tokenizer": TOKENIZERS, "config": ("config.json",)}[kind]
    return (folder / "config.json").is_file() and any((folder / name).is_file() for name in wanted)


def _wanted(info: Any, kind: Kind) -> list[str]:
    """The files to download from a repository, which may have the same weights in five formats."""
    names = [str(file.rfilename) for file in info.siblings]
    if kind == "comet":
        return [name for name in names if name in (SETTINGS, CHECKPOINT)]
    wanted = [name for name in names if "/" not in name and name.endswith((".json", ".txt", ".model"))]
    if kind == "model":
        wanted += [name for name in WHOLE_WEIGHTS if name in names][:1]
    return wanted


MINILM_TOKENIZER = "xlm-roberta-base"
"""Tokenizer that COMET 2.2 uses for a MiniLM, whatever its configuration says."""
DIGITS = 16
"""Digits of a SHA-256 in signatures."""


@dataclass(frozen=True)
class ModelFiles:
    """A model on this machine."""

    place: Path
    """Its folder; for COMET its checkpoint."""
    name: str
    """Its name on the hub, or `local`, because a path does not identify a model."""
    sha256: str
    """The first digits of its files' fingerprint."""


def find_models(
    specs: Sequence[MetricSpec],
    paths: Mapping[str, str],
    form_of: Callable[[MetricSpec], Kind] = lambda _: "model",
) -> dict[str, ModelFiles]:
    """Metric -> its model; models that are not on this machine are downloaded.

    paths: metric -> a path, or another name on the hub. form_of: the form of a metric's model on the hub. InputError
    lists every model that cannot be loaded.
    """
    unused = sorted(paths.keys() - {spec.metric.name for spec in specs})
    problems = [f"{name} has a model, but is not one of the chosen metrics" for name in unused]
    found: dict[tuple[str, bool], ModelFiles] = {}
    by_metric: dict[str, ModelFiles] = {}
    away: HubAway | None = None
    for spec in specs:
        metric, is_comet = spec.metric.name, form_of(spec) == "comet"
        model = paths.get(metric, str(spec.parameters["model"]))
        try:
            if (model, is_comet) not in found:
                found[model, is_comet] = _find(model, is_comet, may_ask=away is None)
            by_metric[metric] = found[model, is_comet]
        except HubAway as problem:
            away = away or problem
            used = "" if problem.model == model else f"; {model} needs its tokenizer"
            problems.append(f"{metric}: {problem.model} is not on this machine{used}")
        except InputError as problem:
            problems.append(f"{metric}: {problem.what}")
    if away:
        problems.append(f"the model hub cannot be used: {away.why}")
    if problems:
        raise InputError(
            "Models of metrics are missing. If a model is stored elsewhere, give its place as METRIC=PATH",
            problems,
        )
    return by_metric


def _find(model: str, is_comet: bool, may_ask: bool) -> ModelFiles:
    place = Path(model).expanduser()
    name = "local" if place.exists() else model
    if name != "local":
        place = folder_from_hub(model, "comet" if is_comet else "model", may_ask)
    if not is_comet:
        if not (place / "config.json").is_file():
            raise InputError(f"{place} is not a model's folder: there is no config.json")
        return ModelFiles(place, name, _known_by(place))
    checkpoint = place / CHECKPOINT if place.is_dir() else place
    settings = checkpoint.absolute().parents[1] / SETTINGS
    missing = [file for file in (checkpoint, settings) if not file.is_file()]
    if missing:
        raise InputError(f"{place} is not a COMET model: there is no {missing[0]}")
    _find_encoder(comet_settings(checkpoint), may_ask)
    return ModelFiles(checkpoint, name, _known_by(checkpoint, settings))


def _find_encoder(settings: Mapping[str, object], may_ask: bool) -> None:
    """Find the encoder's files that COMET needs: the checkpoint has its weights, but not its tokenizer."""
    encoder = str(settings.get("pretrained_model", "xlm-roberta-large"))
    needed: dict[str, Kind] = {encoder: "tokenizer"}
    if settings.get("encoder_model") == "MiniLM":
        needed = {encoder: "config", MINILM_TOKENIZER: "tokenizer"}
    for name, kind in needed.items():
        if not Path(name).exists():
            try:
                folder_from_hub(name, kind, may_ask)
            except InputError as problem:
                raise InputError(f"its encoder's {kind}: {problem.what}") from problem


def comet_settings(checkpoint: Path) -> dict[str, object]:
    """Settings that COMET stores with a checkpoint: its class, its encoder, and the texts that it reads."""
    path = checkpoint.absolute().parents[1] / SETTINGS
    try:
        settings = yaml.load(path.read_text("utf-8"), yaml.FullLoader)  # as COMET reads it
    except Exception as problem:  # PyYAML can raise anything if a tag does not fit its value
        raise InputError(f"{path} cannot be read: {error_line(problem)}") from problem
    if not isinstance(settings, dict) or "class_identifier" not in settings:
        raise InputError(f"{path} does not name COMET's class (class_identifier)")
    return settings


def _known_by(*places: Path) -> str:
    try:
        parts = [fingerprint(place) for place in places]
    except OSError as problem:
        raise InputError(f"{places[0]} cannot be read: {error_line(problem)}") from problem
    return (parts[0] if len(parts) == 1 else hashlib.sha256(":".join(parts).encode()).hexdigest())[:DIGITS]


NO_NUMBER = "the model gave no number"
Pair = TypeVar("Pair")
Found = TypeVar("Found")


class Model(Protocol):
    """A metric's model in memory."""

    def numbers(self, pairs: Sequence[ScoringPair]) -> list[float]:
        """One number for each pair, in order; NaN if the metric has none."""


def scores_of(model: Model, pairs: Sequence[ScoringPair], metric: str) -> list[Score]:
    """A score for each pair; see read_by_halves."""
    broke_off = f"{metric} failed on this machine; a smaller batch size or the device cpu may help"

    def scores(some: Sequence[ScoringPair]) -> list[Score]:
        numbers = model.numbers(some)
        return [Score(number) if math.isfinite(number) else Score(None, NO_NUMBER) for number in numbers]

    return read_by_halves(scores, pairs, lambda why: Score(None, why), broke_off)


def read_by_halves(
    read: Callable[[Sequence[Pair]], list[Found]],
    pairs: Sequence[Pair],
    refused: Callable[[str], Found],
    broke_off: str,
) -> list[Found]:
    """A model's result for each pair. If the library refuses a pair, halving the batch isolates it.

    refused: reason -> the result of a refused pair. broke_off: message of the InputError that is raised if the machine
    fails, because then no result is reliable.
    """
    if not pairs:
        return []
    try:
        found = read(pairs)
    except (MemoryError, RuntimeError) as problem:
        if len(pairs) == 1:
            raise InputError(broke_off, [error_line(problem)]) from problem
    except Exception as problem:
        if len(pairs) == 1:
            return [refused(f"the model's library cannot read these texts ({error_line(problem)})")]
    else:
        if len(found) != len(pairs):
            raise RuntimeError(f"the model gave {len(found)} answers for {len(pairs)} pairs")
        return found
    middle = len(pairs) // 2
    parts = (read_by_halves(read, part, refused, broke_off) for part in (pairs[:middle], pairs[middle:]))
    return [each for part in parts for each in part]


def window(config: Any, tokenizer: Any) -> int:
    """The most tokens that a model reads. A tokenizer saved without a limit reports a huge number."""
    positions = int(getattr(config, "max_position_embeddings", 512))
    if getattr(config, "model_type", "") in ("roberta", "xlm-roberta", "camembert"):
        positions -= 2  # RoBERTa's positions begin after the padding position
    return min(positions, int(min(tokenizer.model_max_length, 10**9)))


def loaded(load: Callable[[], Any], name: str, place: object) -> Any:
    """Load a model with its library. Raises InputError with the library's reason if this fails."""
    try:
        return load()
    except InputError:
        raise
    except Exception as problem:
        raise InputError(f"{name}: the model in {place} cannot be loaded", [error_line(problem)]) from problem


Needs = frozenset[Literal["reference", "source"]]
REFERENCE: Needs = frozenset({"reference"})
BOTH: Needs = frozenset({"reference", "source"})
SOURCE: Needs = frozenset({"source"})


@dataclass(frozen=True)
class Opened:
    """A metric with its model on this machine."""

    spec: MetricSpec
    files: ModelFiles
    layer: int | None = None
    """The layer to compare, in families that compare layers."""

    @property
    def place(self) -> Path:
        """The place of its files."""
        return self.files.place

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.spec.metric.name


@dataclass(frozen=True, kw_only=True)
class NeuralFamily:
    """A family of metrics that run a model, exported by its own file."""

    name: str
    specs: tuple[MetricSpec, ...]
    """Configurations in the order of Meta-Judge's tables, further ones last."""
    module: str
    """The module of its library."""
    distribution: str
    """The name of the library's package."""
    load: Callable[[Opened, str, int], Model]
    """(metric, device, batch size) -> the loaded model."""
    fit: Callable[[MetricSpec, ModelFiles], Opened] = Opened
    """(metric, model) -> both together. Raises InputError if they do not fit."""
    form: Kind = "model"
    """The form of its models on the hub."""
    empty_reason: str | None = None
    """Why an empty text has no score; None if the model can read it with the reference or the source."""
