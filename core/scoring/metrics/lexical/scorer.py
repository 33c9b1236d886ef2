"""Lexical metrics ready to score: what configurations share is computed once a pair, what references share once each."""

from collections.abc import Sequence
from dataclasses import replace

from core.schema.scores import Metric, Score
from core.scoring.metrics.lexical.families import LEXICAL_FAMILIES
from core.scoring.metrics.lexical.family import SYNONYMS_OPEN
from core.scoring.metrics.lexical.synonyms import NO_SYNONYMS, Choice, Synonyms, find_synonyms
from core.scoring.metrics.lexical.texts import ReadText, read_reference
from core.scoring.metrics.scorer import NO_REFERENCE, MetricSpec, ScoringPair

_UNSCORED = Score(None, NO_REFERENCE)


class LexicalScorer:
    """Scorer of lexical metrics. Cheap to build, can be pickled; a pair costs only what its configurations need."""

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
        """In the order of the scores. METEOR's signature says which synonyms were found."""
        return self._metrics

    def score(self, pairs: Sequence[ScoringPair]) -> list[tuple[Score, ...]]:
        """One tuple a pair, one score a metric. A pair without a reference gets a reason."""
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
    """The scorer of these configurations; whether METEOR has synonyms is settled here, for good.

    Raises InputError where WordNet is asked for and not there.
    """
    reads = any(LEXICAL_FAMILIES[spec.metric.family].has_synonyms for spec in specs)
    return LexicalScorer(specs, find_synonyms(synonyms) if reads else NO_SYNONYMS)


def _decided(metric: Metric, synonyms: Synonyms) -> Metric:
    return replace(metric, signature=metric.signature.replace(SYNONYMS_OPEN, f"synonyms:{synonyms.name}"))
