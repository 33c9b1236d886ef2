"""Where the models of metrics are on this machine, and what they are known by."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from core.errors import InputError
from core.llm.weights import fingerprint
from core.scoring.metrics.neural.hub import CHECKPOINT, SETTINGS, HubAway, Kind, folder_from_hub
from core.scoring.metrics.neural.libraries import in_a_line
from core.scoring.metrics.scorer import MetricSpec

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
    problems = [f"--model {name}=...: {name} is none of the metrics that were asked for" for name in unused]
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
            "The models of these metrics cannot be had. A model that lies elsewhere is named with --model METRIC=PATH",
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
