"""Lexical metrics of what the rules make of the demo questions, by sacrebleu: for a test and for a figure."""

from collections.abc import Callable, Collection
from pathlib import Path
from statistics import mean

import sacrebleu

from core.formats.registry import read_questions
from core.generation.facts import make_pool
from core.generation.scheme import Scheme, Writer
from core.runs.kinds import KINDS

QUESTIONS = Path(__file__).resolve().parents[3] / "data" / "demo" / "questions.jsonl"


def _bleu(text: str, reference: str, language: str) -> float:
    # sacrebleu's tokenizer for Japanese is a package of its own.
    tokens = "char" if language == "ja" else "13a"
    return float(sacrebleu.sentence_bleu(text, [reference], tokenize=tokens).score)


def _chrf(text: str, reference: str, language: str) -> float:
    return float(sacrebleu.sentence_chrf(text, [reference]).score)


def _ter(text: str, reference: str, language: str) -> float:
    return max(
        0.0, 100 - float(sacrebleu.sentence_ter(text, [reference], asian_support=language == "ja").score)
    )


METRICS: dict[str, Callable[[str, str, str], float]] = {"chrF": _chrf, "100 - TER": _ter, "BLEU": _bleu}


async def level_means(kind: str, names: Collection[str] = tuple(METRICS)) -> dict[str, dict[str, float]]:
    """Metric -> level -> mean over the questions; higher is nearer to the reference. kind: of a scheme."""
    scheme = KINDS[kind]
    assert isinstance(scheme, Scheme)
    settings = scheme.Settings.checked({"parser": "rules"})  # the same with and without a language's model
    materials = read_questions(QUESTIONS.read_bytes(), QUESTIONS.name).materials
    writer = Writer(None, {}, make_pool(materials))
    made = [
        (material, scheme.came(await scheme.make(settings, material, writer)).texts) for material in materials
    ]
    levels = list(made[0][1])
    return {
        name: {
            level: mean(metric(texts[level], m.item.reference, m.item.language) for m, texts in made)
            for level in levels
        }
        for name, metric in METRICS.items()
        if name in names
    }
