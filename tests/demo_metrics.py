"""Lexical metrics of what the rules make of the demo questions, by sacrebleu: for a test and for a figure."""

from collections.abc import Callable, Collection
from pathlib import Path
from statistics import mean

import sacrebleu

from core.datasets.questions import read_questions
from core.generation.damage import damage
from core.generation.damage_steps import DamageSettings
from core.generation.factual.pipeline import perturb
from core.generation.factual.steps import FactualSettings
from core.generation.rules.damage_steps import RuleDamage
from core.generation.rules.factual_steps import RuleSteps
from core.generation.rules.pool import make_pool
from core.schema import Material

QUESTIONS = Path(__file__).resolve().parents[1] / "data" / "demo" / "questions.jsonl"
SEED = 0


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
    """Metric -> level -> mean over the questions; higher is nearer to the reference."""
    materials = read_questions(QUESTIONS.read_bytes(), QUESTIONS.name).materials
    made = [(material, await _levels(kind, material, materials)) for material in materials]
    levels = list(made[0][1])
    return {
        name: {
            level: mean(metric(texts[level], m.item.reference, m.item.language) for m, texts in made)
            for level in levels
        }
        for name, metric in METRICS.items()
        if name in names
    }


async def _levels(kind: str, material: Material, materials: tuple[Material, ...]) -> dict[str, str]:
    pool = make_pool(materials)
    if kind == "factual":
        settings = FactualSettings(parser="rules", seed=SEED)
        factual = await perturb(material, RuleSteps(pool, SEED), settings)
        return {level.name: level.text for level in factual.levels}
    damaged = await damage(material, RuleDamage(pool, "qa", SEED), DamageSettings(task="qa", seed=SEED))
    return {str(level.level): level.text for level in damaged.levels if level.text is not None}
