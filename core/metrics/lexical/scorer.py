"""The scorer of lexical metrics, with families in the order of Meta-Judge's tables, and notes on scores that mislead."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.metrics.lexical import bleu, chrf, meteor, rouge, ter
from core.metrics.lexical.family import (
    NO_SYNONYMS,
    SYNONYMS_OPEN,
    Choice,
    LexicalFamily,
    ReadText,
    Synonyms,
    find_synonyms,
    read_reference,
)
from core.metrics.scorer import NO_REFERENCE, MetricSpec, ScoringPair
from core.schema.scores import Metric, Score

LEXICAL_FAMILIES: dict[str, LexicalFamily] = {
    family.name: family for family in (bleu.FAMILY, chrf.FAMILY, rouge.FAMILY, meteor.FAMILY, ter.FAMILY)
}


_UNSPACED_FACTOR = 3
"""If a text has this many times the words that white space and punctuation give, its script has no spaces."""


def notes_about(specs: Iterable[MetricSpec], pairs: Sequence[ScoringPair]) -> tuple[str, ...]:
    """A note for each group of metrics that can read little of the references; most runs have none."""
    chosen = [spec for spec in specs if spec.group == "lexical"]
    references = {pair.reference for pair in pairs if pair.reference}
    foreign = [ReadText(text) for text in references if not text.isascii()]
    notes = []
    latin = [spec.metric.name for spec in chosen if spec.parameters.get("tokenizer") == "default"]
    n = sum(map(_mostly_not_latin, foreign)) if latin else 0
    if n:
        notes.append(
            f"{', '.join(latin)}: rouge-score's tokenizer reads only a-z and 0-9, less than half of the letters in {n} of "
            f"{len(references)} references. Such scores mean little and are often a constant 0. rouge-1-unicode, "
            "rouge-2-unicode, rouge-4-unicode and rouge-l-unicode read every script."
        )
    spaced = [spec.metric.name for spec in chosen if LEXICAL_FAMILIES[spec.metric.family].spaced]
    n = sum(map(_unspaced, foreign)) if spaced else 0
    if n:
        notes.append(
            f"{', '.join(spaced)}: words are split at spaces and punctuation, but the script of {n} of "
            f"{len(references)} references has none between words. Use chrF or rouge-*-unicode instead."
        )
    return tuple(notes)


def _mostly_not_latin(reference: ReadText) -> bool:
    letters = [char for char in reference.text.lower() if char.isalpha()]
    return sum("a" <= char <= "z" for char in letters) < len(letters) / 2


def _unspaced(reference: ReadText) -> bool:
    return len(reference.every_script) > _UNSPACED_FACTOR * len(reference.words)


_UNSCORED = Score(None, NO_REFERENCE)


class LexicalScorer:
    """A scorer of lexical metrics: quick to build, picklable, and it computes only what its configurations need."""

    def __init__(self, specs: Sequence[MetricSpec], synonyms: Synonyms = NO_SYNONYMS) -> None:
        self._metrics = tuple(_decided(spec.metric, synonyms) for spec in specs)
        places: dict[str, list[int]] = {}
        for place, spec in enumerate(specs):
            places.setdefault(spec.metric.family, []).append(place)
        self._families = tuple(
            (
                tuple(where),
                LEXICAL_FAMILIES[family].open([specs[place].parameters for place in where], synonyms),
            )
            for family, where in places.items()
        )

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics in the order of the scores. METEOR's signature names the synonyms that were found."""
        return self._metrics

    def score(self, pairs: Sequence[ScoringPair]) -> list[tuple[Score, ...]]:
        """One tuple for each pair, with one score for each metric. A pair without a reference gets a reason."""
        return [self._score(pair) for pair in pairs]

    def _score(self, pair: ScoringPair) -> tuple[Score, ...]:
        if pair.reference is None:
            return (_UNSCORED,) * len(self._metrics)
        text, reference = ReadText(pair.text), read_reference(pair.reference)
        scores = [_UNSCORED] * len(self._metrics)
        for where, family_scores in self._families:
            for place, score in zip(where, family_scores(text, reference), strict=True):
                scores[place] = score
        return tuple(scores)


def open_lexical(specs: Sequence[MetricSpec], *, synonyms: Choice = "auto") -> LexicalScorer:
    """The scorer of these configurations, which decides once whether METEOR uses synonyms.

    Raises InputError if WordNet is required and missing.
    """
    reads = any(LEXICAL_FAMILIES[spec.metric.family].has_synonyms for spec in specs)
    return LexicalScorer(specs, find_synonyms(synonyms) if reads else NO_SYNONYMS)


def _decided(metric: Metric, synonyms: Synonyms) -> Metric:
    return replace(metric, signature=metric.signature.replace(SYNONYMS_OPEN, f"synonyms:{synonyms.name}"))
