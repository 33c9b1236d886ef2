"""Lexical metrics ready to score: what configurations share is computed once a pair, what references share once each."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sacrebleu.metrics.ter import TER

from core.schema.scores import Metric, Score
from core.scoring.metrics.lexical.bleu import BleuScores, BleuSetting
from core.scoring.metrics.lexical.chrf import ChrfScores, ChrfSetting
from core.scoring.metrics.lexical.meteor import MeteorScores, MeteorSetting
from core.scoring.metrics.lexical.rouge import RougeScores, RougeSetting
from core.scoring.metrics.lexical.specs import LEXICAL_METRICS, SYNONYMS_OPEN
from core.scoring.metrics.lexical.synonyms import NO_SYNONYMS, Choice, Synonyms, find_synonyms
from core.scoring.metrics.lexical.texts import ReadText, read_reference
from core.scoring.metrics.scorer import MetricSpec, ScoringPair

NO_REFERENCE = Score(None, "no reference")
FamilyScores = Callable[[ReadText, ReadText], list[Score]]
"""Text and reference -> one score a configuration of a family."""


class LexicalScorer:
    """Scorer of lexical metrics. Cheap to build, can be pickled; a pair costs only what its configurations need."""

    def __init__(self, specs: Sequence[MetricSpec], synonyms: Synonyms = NO_SYNONYMS) -> None:
        self._metrics = tuple(_decided(spec.metric, synonyms) for spec in specs)
        places: dict[str, list[int]] = {}
        for place, spec in enumerate(specs):
            places.setdefault(spec.metric.family, []).append(place)
        self._families = tuple(
            (tuple(where), _family_scores(family, [specs[place].parameters for place in where], synonyms))
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
            return (NO_REFERENCE,) * len(self._metrics)
        text, reference = ReadText(pair.text), read_reference(pair.reference)
        scores = [NO_REFERENCE] * len(self._metrics)
        for where, family_scores in self._families:
            for place, score in zip(where, family_scores(text, reference), strict=True):
                scores[place] = score
        return tuple(scores)


class TerScores:
    """sacrebleu's TER (Snover et al. 2006), with its default settings."""

    def __init__(self) -> None:
        self._ter = TER()

    def __call__(self, text: ReadText, reference: ReadText) -> list[Score]:
        """Edits over the reference's words, times 100; 100 where only the text has words, 0 where neither has."""
        return [Score(float(self._ter.sentence_score(text.text, [reference.text]).score))]


def open_lexical(specs: Sequence[MetricSpec], *, synonyms: Choice = "auto") -> LexicalScorer:
    """The scorer of these configurations; whether METEOR has synonyms is settled here, for good.

    Raises InputError where WordNet is asked for and not there.
    """
    with_meteor = any(spec.metric.family == "METEOR" for spec in specs)
    return LexicalScorer(specs, find_synonyms(synonyms) if with_meteor else NO_SYNONYMS)


def score_pairs(
    names: tuple[str, ...], synonyms: Choice, pairs: Sequence[ScoringPair]
) -> list[tuple[Score, ...]]:
    """Score in a worker process, which keeps the scorer from call to call. names: of lexical metrics, exact.

    Pass `none` or `wordnet`, as the caller's signature has it: `auto` would be settled again on each machine.
    """
    return _kept_scorer(names, synonyms).score(pairs)


@lru_cache(maxsize=8)
def _kept_scorer(names: tuple[str, ...], synonyms: Choice) -> LexicalScorer:
    by_name = {spec.metric.name: spec for spec in LEXICAL_METRICS}
    return open_lexical([by_name[name] for name in names], synonyms=synonyms)


def _decided(metric: Metric, synonyms: Synonyms) -> Metric:
    return replace(metric, signature=metric.signature.replace(SYNONYMS_OPEN, f"synonyms:{synonyms.name}"))


def _family_scores(family: str, parameters: Sequence[Any], synonyms: Synonyms) -> FamilyScores:
    """What scores the configurations of one family."""
    if family == "BLEU":
        return BleuScores([BleuSetting(each["order"], each["smooth"]) for each in parameters])
    if family == "chrF":
        return ChrfScores([ChrfSetting(each["characters"], each["words"]) for each in parameters])
    if family == "ROUGE":
        return RougeScores([_rouge_setting(each) for each in parameters])
    if family == "METEOR":
        return MeteorScores([MeteorSetting(each["alpha"], each["gamma"]) for each in parameters], synonyms)
    if family == "TER":
        return TerScores()
    raise ValueError(f"no lexical metric is of the family {family}")


def _rouge_setting(parameters: Any) -> RougeSetting:
    words = "latin" if parameters["tokenizer"] == "default" else "every_script"
    n = None if parameters["type"] == "l" else int(parameters["type"])
    return RougeSetting(n, words + ("_stems" if parameters["stem"] else ""))
