"""One session in the neural environment: claims judged by tiny entailment models, and the same by transformers alone.

`python tests/judges/claims_session.py MODELS REPORT.json`; test_claims_nli.py reads what it saw.
"""

import asyncio
import json
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from helpers.texts.score_factories import unrated

from core.errors import InputError
from core.judges.claims import KIND, ClaimsSettings
from core.judges.kind import Bench
from core.judges.nli import BatchedEntailment

WORDS = (
    "bridge",
    "river",
    "tower",
    "mayor",
    "museum",
    "north",
    "opened",
    "old",
    "1900",
    "1901",
    "long",
    "high",
)
PAIRS = [
    (f"The {one} is {other}, and the {other} was {one} in {1900 + n}.", f"The {other} was {one}.")
    for n, one in enumerate(WORDS)
    for other in WORDS[n % 3 :: 3]
]
LONG = ("The river is long. " * 40, "The river is long.")
"""More than the 128 tokens that the models read."""
LONGER = (LONG[0] + "Nobody reads this. " * 40, LONG[1])
TEXT = unrated(
    "The bridge was opened in 1901. It is 30 m high. The mayor opened it.",
    "The mayor opened the bridge in 1900. It is 30 m high and crosses the river.",
)


def balance(models: Path, name: str, folder: Path) -> Path:
    """A copy of a model whose labels are all likely: the mean of its logits over the pairs is taken off its bias."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(models / name).eval()
    tokenizer = AutoTokenizer.from_pretrained(models / name)
    premises, hypotheses = map(list, zip(*PAIRS, strict=True))
    with torch.no_grad():
        logits = model(**tokenizer(premises, hypotheses, padding=True, return_tensors="pt")).logits
        model.classifier.bias.sub_(logits.mean(0))
    model.save_pretrained(folder / name)
    tokenizer.save_pretrained(folder / name)
    return folder / name


def by_transformers(models: Path) -> list[tuple[str, float]]:
    """Label and probability of the likeliest, as the library's documentation calls it."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(models / "nli").eval()
    tokenizer = AutoTokenizer.from_pretrained(models / "nli")
    premises, hypotheses = map(list, zip(*PAIRS, strict=True))
    with torch.no_grad():
        logits = model(**tokenizer(premises, hypotheses, padding=True, return_tensors="pt")).logits
    shares = logits.softmax(1)
    best = shares.argmax(1).tolist()
    return [
        (model.config.id2label[label], float(row[label])) for label, row in zip(best, shares, strict=True)
    ]


async def judged(place: str, batch_size: int = 32) -> dict[str, Any]:
    entailment = BatchedEntailment(place, "cpu", batch_size)
    await entailment.start()
    try:
        seen: dict[str, Any] = {"signature": entailment.signature}
        seen["pairs"] = [asdict(each) for each in await entailment.judged(PAIRS)]
        apart = await asyncio.gather(*(entailment.judged([pair]) for pair in PAIRS))
        seen["apart"] = [asdict(each) for (each,) in apart]
        odd = await entailment.judged([PAIRS[0], ("A \ud800 text.", "A claim."), LONG, LONGER, ("", "")])
        seen["odd"] = [asdict(each) for each in odd]
        judge = KIND.open(ClaimsSettings(verifier="nli", nli_model=place), Bench(helper=entailment))(None)
        done = await judge.judge(TEXT)
        assert done.record is not None
        seen["scores"] = [score.value for score in done.scores]
        seen["record"] = asdict(done.record)
        assert await entailment.judged([]) == []
    finally:
        await entailment.close()
    return seen


async def refusal(place: str, device: str = "cpu") -> str:
    entailment = BatchedEntailment(place, device)
    try:
        await entailment.start()
    except InputError as problem:
        return str(problem)
    finally:
        await entailment.close()
    return ""


def main(models: Path, report: Path) -> None:
    warnings.simplefilter("ignore")
    made = {name: balance(models, name, report.parent) for name in ("nli", "nli-swapped")}
    seen: dict[str, Any] = {name: asyncio.run(judged(str(place))) for name, place in made.items()}
    seen["one by one"] = asyncio.run(judged(str(made["nli"]), batch_size=1))
    seen["library"] = by_transformers(report.parent)
    seen["refusals"] = {
        "unnamed": asyncio.run(refusal(str(models / "nli-unnamed"))),
        "nowhere": asyncio.run(refusal(str(models / "nowhere"))),
        "default": asyncio.run(refusal("")),
        "gpu": asyncio.run(refusal(str(models / "nli"), "cuda")),
    }
    report.write_text(json.dumps(seen), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
