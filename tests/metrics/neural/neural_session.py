"""One session in the neural environment: our scores beside the libraries' own; test_neural_scores.py reads what it saw.

`python tests/metrics/neural/neural_session.py MODELS REPORT.json [--brief]`. Importing takes most of the time, so one process
tries all.
"""

import json
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.metrics.neural.scorer import NeuralScorer, open_neural
from core.metrics.registry import metrics_of
from core.metrics.scorer import MetricSpec, ScoringPair

PLACES = {
    "bertscore-en": "bert",
    "bertscore-cs-l5": "bert",
    "comet-wmt22-da": "comet-da",
    "comet-wmt20-qe-da": "comet-qe/checkpoints/model.ckpt",
    "comet-wmt20-da": "comet-unified",
    "bleurt-tiny-128": "bleurt",
    "bleurt-20-d12": "bleurt-sp",
    "nli": "nli",
    "nli-both": "nli",
}
"""A metric of every family and of every way to load one."""
TEXTS = (
    ("The bridge was opened in 1901.", "The bridge opened in 1900.", "When was the bridge opened?"),
    ("In 1900.", "The bridge opened in 1900.", "When was the bridge opened?"),
    ("Nobody knows", "The river is 30 km long, and nearly all of it lies in the north.", "How long is it?"),
    ("The river is 30 km long, and nearly all of it lies in the north.", "About 30 km.", "How long is it?"),
    ("Міст відкрили 1900 року.", "Міст відкрито 1900 року.", "Коли відкрили міст?"),
    ("🎉 1900 🎉", "The bridge opened in 1900.", "When?"),
    ("Most v roce 1901 otevřel starosta města.", "Most otevřel v roce 1900 starosta.", "Kdy?"),
)
PAIRS = [ScoringPair(*texts) for texts in TEXTS] + [
    ScoringPair(
        f"Answer {n}: the tower is {n} m high" + " and old" * (n % 13),
        f"It is {n + n % 3} m high.",
        f"How {n}?",
    )
    for n in range(30)
]
GOOD = ScoringPair("A text.", "A reference.", "A question?")
ODD = {
    "good": GOOD,
    "no reference": ScoringPair("A text.", None, "A question?"),
    "empty reference": ScoringPair("A text.", "  ", "A question?"),
    "no source": ScoringPair("A text.", "A reference."),
    "empty text": ScoringPair("", "A reference.", "A question?"),
    "no word": ScoringPair("\u200b\x00", "A reference.", "A question?"),
    "half a character": ScoringPair("A \ud800 text.", "A reference.", "A question?"),
    "too long": ScoringPair("word " * 3000, "other " * 3000, "question " * 3000),
    "as long": ScoringPair("word " * 2000, "other " * 2000, "question " * 2000),
}


def specs(*names: str) -> list[MetricSpec]:
    return [spec for name in names for spec in metrics_of("neural") if spec.metric.name == name]


def opened(models: Path, batch_size: int = 64, **other: str) -> NeuralScorer:
    places = {name: str(models / place) for name, place in PLACES.items()}
    return open_neural(specs(*PLACES), models={**places, **other}, device="cpu", batch_size=batch_size)


def values(scorer: NeuralScorer, pairs: list[ScoringPair]) -> dict[str, list[Any]]:
    """Metric -> a score a pair; where there is none, the reason."""
    names = [metric.name for metric in scorer.metrics]
    rows = [
        [score.reason if score.value is None else score.value for score in row] for row in scorer.score(pairs)
    ]
    return {name: [row[column] for row in rows] for column, name in enumerate(names)}


def by_libraries(models: Path) -> dict[str, list[float]]:
    """The same, as each library's own documentation calls it."""
    import bert_score
    import comet
    import torch
    from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    texts, references = [pair.text for pair in PAIRS], [pair.reference or "" for pair in PAIRS]
    made: dict[str, list[float]] = {}
    for name, layer in (("bertscore-en", 6), ("bertscore-cs-l5", 5)):
        _, _, f1 = bert_score.score(
            texts, references, model_type=str(models / "bert"), num_layers=layer, device="cpu"
        )
        made[name] = f1.tolist()
    for name, folder in (
        ("comet-wmt22-da", "comet-da"),
        ("comet-wmt20-qe-da", "comet-qe"),
        ("comet-wmt20-da", "comet-unified"),
    ):
        samples = [{"src": pair.source, "mt": pair.text, "ref": pair.reference} for pair in PAIRS]
        if folder == "comet-qe":
            samples = [{"src": sample["src"], "mt": sample["mt"]} for sample in samples]
        model = comet.load_from_checkpoint(str(models / folder / "checkpoints" / "model.ckpt"))
        made[name] = model.predict(samples, batch_size=16, gpus=0, progress_bar=False).scores
    for name, folder in (("bleurt-tiny-128", "bleurt"), ("bleurt-20-d12", "bleurt-sp")):
        model = BleurtForSequenceClassification.from_pretrained(models / folder).eval()
        tokenizer = BleurtTokenizer.from_pretrained(models / folder)
        with torch.no_grad():
            inputs = tokenizer(references, texts, padding="longest", return_tensors="pt")
            made[name] = model(**inputs).logits.flatten().tolist()
    model = AutoModelForSequenceClassification.from_pretrained(models / "nli").eval()
    tokenizer = AutoTokenizer.from_pretrained(models / "nli")
    ways = []
    for premises, hypotheses in ((references, texts), (texts, references)):
        with torch.no_grad():
            logits = model(**tokenizer(premises, hypotheses, padding=True, return_tensors="pt")).logits
        ways.append(logits.softmax(1)[:, model.config.label2id["entailment"]].tolist())
    made["nli"] = ways[0]
    made["nli-both"] = [min(both) for both in zip(*ways, strict=True)]
    return made


def bert_score_defaults() -> dict[str, Any]:
    from bert_score.utils import lang2model, model2layers

    return {language: (lang2model[language], model2layers[lang2model[language]]) for language in ("en", "cs")}


def in_a_thread(scorer: NeuralScorer) -> dict[str, list[Any]]:
    made: dict[str, list[Any]] = {}
    worker = threading.Thread(target=lambda: made.update(values(scorer, PAIRS[:5])))
    worker.start()
    worker.join()
    return made


def refusals(models: Path) -> dict[str, Any]:
    """What a user reads where something is missing or does not fit, and how long it takes."""
    tries: dict[str, dict[str, Any]] = {
        "nowhere": {"models": {"bertscore-en": str(models / "nowhere")}},
        "no model": {"models": {"bertscore-en": str(models)}},
        "no comet": {"models": {"comet-wmt22-da": str(models / "bert")}},
        "shallow": {"models": {"bertscore-cs-l5": str(models / "bert-shallow")}},
        "other metric": {"models": {"bleurt-20-d12": str(models / "bleurt-sp")}, "names": ["bertscore-en"]},
        "offline": {"names": ["bertscore-en", "comet-wmt22-da", "bleurt-20-d12"]},
        "no reference": {"models": {"comet-wmt22-da": str(models / "comet-qe")}},
        "a reference": {"models": {"comet-wmt20-qe-da": str(models / "comet-da")}},
        "unnamed": {"models": {"nli": str(models / "nli-unnamed")}},
        "no gpu": {"models": {"nli": str(models / "nli")}, "device": "cuda"},
        "no device": {"models": {"nli": str(models / "nli")}, "device": "tpu"},
        "no batch": {"models": {"nli": str(models / "nli")}, "batch_size": 0},
        "no weights": {"models": {"nli": str(models / "empty")}},
    }
    (models / "empty").mkdir(exist_ok=True)
    (models / "empty" / "config.json").write_text((models / "nli" / "config.json").read_text())
    said = {}
    for name, options in tries.items():
        asked = specs(*options.pop("names", options.get("models", {})))
        started = time.perf_counter()
        try:
            open_neural(asked, **{"device": "cpu", **options}).score([GOOD])
            said[name] = {"text": ""}
        except InputError as problem:
            said[name] = {"text": str(problem), "seconds": time.perf_counter() - started}
    return said


def main(models: Path, report: Path, brief: bool) -> None:
    warnings.simplefilter("ignore")
    scorer = opened(models)
    seen: dict[str, Any] = {"signatures": {metric.name: metric.signature for metric in scorer.metrics}}
    seen["ours"] = values(scorer, PAIRS)
    if not brief:
        seen |= all_else(models, scorer)
    report.write_text(json.dumps(seen), encoding="utf-8")


def all_else(models: Path, scorer: NeuralScorer) -> dict[str, Any]:
    seen: dict[str, Any] = {"defaults": bert_score_defaults()}
    seen["again"] = values(scorer, PAIRS)
    seen["backwards"] = values(scorer, PAIRS[::-1])
    seen["threaded"] = in_a_thread(scorer)
    seen["odd"] = {
        name: dict(zip(ODD, column, strict=True)) for name, column in values(scorer, [*ODD.values()]).items()
    }
    scorer.close()
    seen["reopened"] = values(scorer, PAIRS[:3])
    seen["one by one"] = values(opened(models, batch_size=1), PAIRS)
    seen["libraries"] = by_libraries(models)
    other = {"nli": str(models / "nli-swapped"), "bleurt-tiny-128": str(models / "bleurt-spoilt")}
    seen["other models"] = values(opened(models, **other), PAIRS[:7])
    seen["same"] = values(opened(models), [ScoringPair(pair.text, pair.text, "?") for pair in PAIRS])
    seen["refusals"] = refusals(models)
    return seen


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), brief="--brief" in sys.argv)
