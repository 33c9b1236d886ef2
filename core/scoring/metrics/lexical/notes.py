"""What a person should know before believing lexical scores of these texts: metrics that cannot read them."""

from collections.abc import Iterable, Sequence

from core.scoring.metrics.lexical.families import LEXICAL_FAMILIES
from core.scoring.metrics.lexical.texts import ReadText
from core.scoring.metrics.scorer import MetricSpec, ScoringPair

_UNSPACED_FACTOR = 3
"""Where a text has this many times the words that white space and punctuation give, its script writes no spaces."""


def notes_about(specs: Iterable[MetricSpec], pairs: Sequence[ScoringPair]) -> tuple[str, ...]:
    """A sentence for each group of metrics that reads little of the references; most runs have none."""
    chosen = [spec for spec in specs if spec.group == "lexical"]
    references = {pair.reference for pair in pairs if pair.reference}
    foreign = [ReadText(text) for text in references if not text.isascii()]
    notes = []
    latin = [spec.metric.name for spec in chosen if spec.parameters.get("tokenizer") == "default"]
    n = sum(map(_mostly_not_latin, foreign)) if latin else 0
    if n:
        notes.append(
            f"{', '.join(latin)}: rouge-score's tokenizer reads a-z and 0-9 only, less than half of the letters of {n} of "
            f"{len(references)} references. Such scores say little and are often a constant 0; rouge-1-unicode, "
            "rouge-2-unicode, rouge-4-unicode and rouge-l-unicode read every script."
        )
    spaced = [spec.metric.name for spec in chosen if LEXICAL_FAMILIES[spec.metric.family].spaced]
    n = sum(map(_unspaced, foreign)) if spaced else 0
    if n:
        notes.append(
            f"{', '.join(spaced)}: words are found at spaces and punctuation, which the script of {n} of "
            f"{len(references)} references does not put between words. chrF and rouge-*-unicode do without."
        )
    return tuple(notes)


def _mostly_not_latin(reference: ReadText) -> bool:
    letters = [char for char in reference.text.lower() if char.isalpha()]
    return sum("a" <= char <= "z" for char in letters) < len(letters) / 2


def _unspaced(reference: ReadText) -> bool:
    return len(reference.every_script) > _UNSPACED_FACTOR * len(reference.words)
