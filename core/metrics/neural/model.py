"""Metrics that run a model: the libraries of their environment, without which core works, models on this machine or on the hub, a
family's configurations, and a model that gives numbers and finds its way around texts it cannot score.
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

from core.errors import InputError
from core.llm.weights import fingerprint
from core.metrics.scorer import MetricSpec, ScoringPair
from core.schema.scores import Score

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
        raise InputError(f"There is no device {wanted!r}; choose auto, cpu, cuda or such as cuda:1")
    if not torch.cuda.is_available():
        raise InputError(f"The device {wanted} is not to be had: torch finds no GPU here; choose auto or cpu")
    if number and int(number) >= torch.cuda.device_count():
        raise InputError(f"There is no device {wanted}; this machine has {torch.cuda.device_count()} GPUs")
    return wanted


def in_a_line(problem: Exception) -> str:
    """What a library has to say about its failure, shortened."""
    return textwrap.shorten(str(problem) or type(problem).__name__, 300, placeholder=" ...")


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


MINILM_TOKENIZER = "xlm-roberta-base"
"""Whatever its configuration says, COMET 2.2 takes this one for a MiniLM."""
DIGITS = 16
"""Of a SHA-256, in signatures."""


@dataclass(frozen=True)
class ModelFiles:
    """A model that lies on this machine."""

    place: Path
    """A folder; of COMET its checkpoint."""
    name: str
    """The hub's name, or `local`: where it lies says nothing about what it is."""
    sha256: str
    """The beginning of the fingerprint of its files."""


def find_models(
    specs: Sequence[MetricSpec],
    given: Mapping[str, str],
    form_of: Callable[[MetricSpec], Kind] = lambda _: "model",
) -> dict[str, ModelFiles]:
    """Every metric's model, by metric; what is not on this machine is fetched.

    given: metric -> a path, or another name on the hub. form_of: in which form a metric's model lies there. Raises InputError with every model that cannot be had.
    """
    unused = sorted(given.keys() - {spec.metric.name for spec in specs})
    problems = [f"{name} has a model, but is none of the metrics that were asked for" for name in unused]
    found: dict[tuple[str, bool], ModelFiles] = {}
    by_metric: dict[str, ModelFiles] = {}
    away: HubAway | None = None
    for spec in specs:
        metric, is_comet = spec.metric.name, form_of(spec) == "comet"
        model = given.get(metric, str(spec.parameters["model"]))
        try:
            if (model, is_comet) not in found:
                found[model, is_comet] = _find(model, is_comet, may_ask=away is None)
            by_metric[metric] = found[model, is_comet]
        except HubAway as problem:
            away = away or problem
            used = "" if problem.model == model else f", through which {model} reads"
            problems.append(f"{metric}: {problem.model} is not on this machine{used}")
        except InputError as problem:
            problems.append(f"{metric}: {problem.what}")
    if away:
        problems.append(f"the model hub cannot be used: {away.why}")
    if problems:
        raise InputError(
            "The models of these metrics cannot be had. Name a model that lies elsewhere as METRIC=PATH",
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
            raise InputError(f"{place} is no folder of a model: it holds no config.json")
        return ModelFiles(place, name, _known_by(place))
    checkpoint = place / CHECKPOINT if place.is_dir() else place
    settings = checkpoint.absolute().parents[1] / SETTINGS
    missing = [file for file in (checkpoint, settings) if not file.is_file()]
    if missing:
        raise InputError(f"{place} is no COMET model: there is no {missing[0]}")
    _find_encoder(comet_settings(checkpoint), may_ask)
    return ModelFiles(checkpoint, name, _known_by(checkpoint, settings))


def _find_encoder(settings: Mapping[str, object], may_ask: bool) -> None:
    """What COMET reads of the encoder it was trained on: its weights are in the checkpoint, its tokenizer is not."""
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
    """What COMET saved beside a checkpoint: its class, its encoder, which texts it reads."""
    path = checkpoint.absolute().parents[1] / SETTINGS
    try:
        settings = yaml.load(path.read_text("utf-8"), yaml.FullLoader)  # as COMET reads it
    except Exception as problem:  # PyYAML raises anything for a tag that does not fit its value
        raise InputError(f"{path} cannot be read: {in_a_line(problem)}") from problem
    if not isinstance(settings, dict) or "class_identifier" not in settings:
        raise InputError(f"{path} does not say which class of COMET's it is for (class_identifier)")
    return settings


def _known_by(*places: Path) -> str:
    try:
        parts = [fingerprint(place) for place in places]
    except OSError as problem:
        raise InputError(f"{places[0]} cannot be read: {in_a_line(problem)}") from problem
    return (parts[0] if len(parts) == 1 else hashlib.sha256(":".join(parts).encode()).hexdigest())[:DIGITS]


NO_NUMBER = "the model gave no number"
Pair = TypeVar("Pair")
Found = TypeVar("Found")


class Model(Protocol):
    """A metric's model in memory."""

    def numbers(self, pairs: Sequence[ScoringPair]) -> list[float]:
        """One number a pair, in order; NaN where the metric has none."""


def scores_of(model: Model, pairs: Sequence[ScoringPair], metric: str) -> list[Score]:
    """A score a pair; see by_halves."""
    broke_off = f"{metric} broke off on this machine; a smaller batch size or the device cpu may help"

    def scores(some: Sequence[ScoringPair]) -> list[Score]:
        numbers = model.numbers(some)
        return [Score(number) if math.isfinite(number) else Score(None, NO_NUMBER) for number in numbers]

    return by_halves(scores, pairs, lambda why: Score(None, why), broke_off)


def by_halves(
    read: Callable[[Sequence[Pair]], list[Found]],
    pairs: Sequence[Pair],
    refused: Callable[[str], Found],
    broke_off: str,
) -> list[Found]:
    """What a model finds of each pair. A pair that the library refuses fails alone: halves of the batch find it.

    refused: what is found of it, for the reason. broke_off: what the InputError says that is raised where it is the
    machine that fails: then nothing found of any pair would mean anything.
    """
    if not pairs:
        return []
    try:
        found = read(pairs)
    except (MemoryError, RuntimeError) as problem:
        if len(pairs) == 1:
            raise InputError(broke_off, [in_a_line(problem)]) from problem
    except Exception as problem:
        if len(pairs) == 1:
            return [refused(f"the model's library cannot take these texts ({in_a_line(problem)})")]
    else:
        if len(found) != len(pairs):
            raise RuntimeError(f"{len(found)} answers of a model for {len(pairs)} pairs")
        return found
    middle = len(pairs) // 2
    parts = (by_halves(read, part, refused, broke_off) for part in (pairs[:middle], pairs[middle:]))
    return [each for part in parts for each in part]


def window(config: Any, tokenizer: Any) -> int:
    """Most tokens a model takes. A tokenizer that was saved without a limit says a number beyond all bounds."""
    positions = int(getattr(config, "max_position_embeddings", 512))
    if getattr(config, "model_type", "") in ("roberta", "xlm-roberta", "camembert"):
        positions -= 2  # RoBERTa's positions begin after the one for padding
    return min(positions, int(min(tokenizer.model_max_length, 10**9)))


def loaded(load: Callable[[], Any], name: str, place: object) -> Any:
    """What a library loads. Raises InputError with its reason where it cannot."""
    try:
        return load()
    except InputError:
        raise
    except Exception as problem:
        raise InputError(f"{name}: the model in {place} cannot be loaded", [in_a_line(problem)]) from problem


Needs = frozenset[Literal["reference", "source"]]
REFERENCE: Needs = frozenset({"reference"})
BOTH: Needs = frozenset({"reference", "source"})
SOURCE: Needs = frozenset({"source"})


@dataclass(frozen=True)
class Opened:
    """A metric whose model lies on this machine."""

    spec: MetricSpec
    files: ModelFiles
    layer: int | None = None
    """The one that is compared, where a family compares layers."""

    @property
    def place(self) -> Path:
        """Of its files."""
        return self.files.place

    @property
    def name(self) -> str:
        """Of the metric."""
        return self.spec.metric.name


@dataclass(frozen=True, kw_only=True)
class NeuralFamily:
    """One family of metrics that run a model; its file exports it."""

    name: str
    specs: tuple[MetricSpec, ...]
    """In the order of Meta-Judge's tables; what is beyond the paper comes last."""
    module: str
    """Of its library."""
    distribution: str
    """Under which the library is installed."""
    load: Callable[[Opened, str, int], Model]
    """Loads the model, for (metric, device, batch size)."""
    fit: Callable[[MetricSpec, ModelFiles], Opened] = Opened
    """A metric and its model, if they go together. Raises InputError."""
    form: Kind = "model"
    """In which its models lie on the hub."""
    empty_reason: str | None = None
    """Why an empty text has no score; None: the model reads it together with the reference or the source."""
