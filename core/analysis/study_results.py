"""One function for the results page, `study results` and a bundle: everything a blind study says."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import __version__
from core.analysis.blinding import Blinding, blinding
from core.analysis.counted import SIDE_UNKNOWN, Counted, Filters, count, filtered
from core.analysis.study_verdict import (
    AfterUnblinding,
    SensitivityLine,
    after_unblinding,
    pair_scores,
    verdict_and_sensitivity,
)
from core.schema import PREFERENCES, AnalysisSet, StudyRecord
from core.stats import agreement
from core.stats.composite import composite_scores, net_preferences, preferences
from core.stats.consistency import Consistency, consistency
from core.stats.jackknife import AgreementEstimate
from core.stats.non_inferiority import NonInferiority, non_inferiority
from core.stats.position import PositionBias, position_bias
from core.stats.power import Power, power_non_inferiority
from core.stats.ties import Ties, ties
from core.stats.votes import contingency
from core.study.analysis_set import analysis_set
from core.study.progress import progress_of

INTERVAL_LEVEL = 0.95
NO_AGREEMENT, NO_TABLE = "agreement needs two raters with answers", "a table needs two raters"
FEW_QUESTIONS = 50
"""Below it the jackknife-t interval of agreement is shown first: percentile intervals are too narrow there."""
PAPER_ALPHA = 0.05
FLAG_BELOW = 0.05
"""A rater whose position p is below this is flagged."""
COEFFICIENTS = ("raw_agreement", "cohen_kappa", "gwet_ac1", "fleiss_kappa", "krippendorff_alpha")


@dataclass(frozen=True)
class Contingency:
    """Two raters' votes against each other."""

    order: tuple[str, ...]
    """Of rows and columns."""
    table: list[list[int]] | None
    """Rows: the first rater; columns: the second. None where there are not two raters."""
    raters: tuple[str, ...]
    reason: str | None = None


@dataclass(frozen=True)
class Composite:
    """Sign of the sum of a pair's votes."""

    mean: float | None
    counts: dict[str, int]
    """How many pairs have the score -1 (comparator), 0, 1 (candidate)."""
    n: int


@dataclass(frozen=True)
class StudyVerdict:
    """The verdict over questions, on the pairs that the filters leave."""

    value: str
    """non-inferior, not shown, or not enough information."""
    exploratory: bool
    """Whether it is on another part of the study than the declared one."""
    method: str | None
    """Which bound decided."""
    bound: float | None
    """The deciding lower bound."""
    reason: str | None
    """Why the ordinary bound did not decide, or nothing could."""
    questions_missing: int | None
    """Further questions of the same mix until the deciding bound passes; None where a verdict was reached."""


@dataclass(frozen=True)
class Block:
    """What is computed overall and for each level alike."""

    n_pairs: int
    n_questions: int
    n_left_out: dict[str, int]
    choices: dict[str, dict[str, int]]
    """Rater -> preference -> pairs, among the counted ones."""
    contingency: Contingency
    raw_agreement: AgreementEstimate
    cohen_kappa: AgreementEstimate
    gwet_ac1: AgreementEstimate
    fleiss_kappa: AgreementEstimate
    krippendorff_alpha: AgreementEstimate
    composite: Composite
    net_preference: float | None
    """Mean over pairs of the mean vote."""
    ties: Ties


@dataclass(frozen=True)
class PairOfRaters:
    """Agreement of two raters on the pairs that both answered."""

    raters: tuple[str, str]
    contingency: Contingency
    raw_agreement: AgreementEstimate
    cohen_kappa: AgreementEstimate
    gwet_ac1: AgreementEstimate


@dataclass(frozen=True)
class StudyResults:
    """Everything a study says, with n used and left out. Fractions, not percent."""

    study: str
    state: str
    candidate: str
    comparator: str
    dataset_sha256: str
    design_seed: int
    raters: tuple[str, ...]
    levels: tuple[str, ...]
    filtered: dict[str, tuple[str, ...]]
    """What was chosen -> the choice, where it departs from the declared analysis."""
    analysis_set: AnalysisSet
    verdict: StudyVerdict
    pairs_by_votes: dict[int, int]
    sensitivity: tuple[SensitivityLine, ...]
    after_unblinding: AfterUnblinding
    rater_warnings: dict[str, tuple[str, ...]]
    """Rater who counts -> what to check before the verdict is believed."""
    overall: Block
    per_level: dict[str, Block]
    pairwise: tuple[PairOfRaters, ...]
    """Each two of three or more raters."""
    non_inferiority: NonInferiority
    power: Power
    """The paper's variant: two-sided, alpha 0.05."""
    power_one_sided: Power
    """At the level of the declared bound."""
    position_overall: PositionBias
    position_per_rater: dict[str, PositionBias]
    position_left_out: dict[str, int]
    repeats: dict[str, Consistency]
    blinding: Blinding
    answers_used: int
    answers_left_out: dict[str, int]
    n_resamples: int
    rng: int

    def to_json(self) -> dict[str, Any]:
        """The documented form (docs/formats.md), ready for json.dumps."""
        level = self.non_inferiority.confidence_level
        return {
            "app_version": __version__,
            "study": self.study,
            "state": self.state,
            "candidate": self.candidate,
            "comparator": self.comparator,
            "dataset_sha256": self.dataset_sha256,
            "design_seed": self.design_seed,
            "levels": list(self.levels),
            "raters": list(self.raters),
            "verdict": _json(self.verdict),
            "analysis_set": {**_json(self.analysis_set), "levels": list(self.analysis_set.levels)},
            "filtered": {what: list(names) for what, names in self.filtered.items()},
            "pairs_by_votes": {str(votes): pairs for votes, pairs in self.pairs_by_votes.items()},
            "sensitivity": [_json(line) for line in self.sensitivity],
            "after_unblinding": {
                **_json(self.after_unblinding),
                "excluded": list(self.after_unblinding.excluded),
                "included": list(self.after_unblinding.included),
            },
            "rater_warnings": {rater: list(found) for rater, found in self.rater_warnings.items()},
            **_json(self.overall),
            "answers": {"n_used": self.answers_used, "n_left_out": self.answers_left_out},
            "interval": {
                "method": "percentile bootstrap over questions",
                "confidence_level": INTERVAL_LEVEL,
                "n_resamples": self.n_resamples,
                "rng": self.rng,
            },
            "pairwise": [_json(pair) for pair in self.pairwise],
            "non_inferiority": _json(self.non_inferiority),
            "power": _json(self.power),
            "power_one_sided": {**_json(self.power_one_sided), "confidence_level": level},
            "position_bias": {
                "overall": _position(self.position_overall),
                "per_rater": {rater: _position(p) for rater, p in self.position_per_rater.items()},
                "n_left_out": self.position_left_out,
            },
            "repeats": {rater: _json(result) for rater, result in self.repeats.items()},
            "blinding": self.blinding.to_json(),
            "per_level": {name: _json(block) for name, block in self.per_level.items()},
        }


def study_results(
    record: StudyRecord, filters: Filters | None = None, *, n_resamples: int = 10_000, rng: int = 0
) -> StudyResults:
    """Analyse a study, from the database or from a bundle alike.

    Main analysis: answers of raters who are no dry run and not excluded, without hidden repeats, on pairs of the declared
    levels that have the votes they need. Any filter makes the verdict exploratory. Verdicts rest on 10,000 resamples
    whatever `n_resamples` is. `rng` seeds every resampling anew, so that a number does not depend on which others are computed with it.
    """
    filters = filters or Filters()
    counted = count(record, filters)
    design, rules = record.study.design, analysis_set(record)
    scores = pair_scores(counted, rules.score)
    departs = filtered(record, filters)
    decided, sensitivity = verdict_and_sensitivity(record, filters, rng=rng)
    one_sided = {"margin": design.margin, "alpha": 1 - design.confidence_level}
    unknown = sum(counts[2] for counts in counted.sides.values())
    return StudyResults(
        study=record.study.name,
        state=record.study.state,
        candidate=design.candidate,
        comparator=design.comparator,
        dataset_sha256=record.study.dataset_sha256,
        design_seed=design.seed,
        raters=counted.raters,
        levels=counted.levels,
        filtered=departs,
        analysis_set=rules,
        verdict=StudyVerdict(exploratory=bool(departs), **asdict(decided)),
        pairs_by_votes=counted.pairs_by_votes,
        sensitivity=sensitivity,
        after_unblinding=after_unblinding(record, rng=rng),
        rater_warnings=_rater_warnings(record, counted.raters),
        overall=_block(counted, np.ones(len(counted.keys), dtype=bool), None, n_resamples, rng),
        per_level={lv: _block(counted, counted.at_level(lv), lv, n_resamples, rng) for lv in counted.levels},
        pairwise=_pairwise(counted, n_resamples, rng) if len(counted.raters) > 2 else (),
        non_inferiority=non_inferiority(
            scores,
            counted.questions,
            margin=design.margin,
            confidence_level=design.confidence_level,
            n_resamples=n_resamples,
            rng=rng,
        ),
        power=power_non_inferiority(
            scores,
            clusters=counted.questions,
            margin=design.margin,
            alpha=PAPER_ALPHA,
            alternative="two-sided",
        ),
        power_one_sided=power_non_inferiority(
            scores, clusters=counted.questions, **one_sided, alternative="larger"
        ),
        position_overall=position_bias(
            sum(counts[0] for counts in counted.sides.values()),
            sum(counts[1] for counts in counted.sides.values()),
        ),
        position_per_rater={r: position_bias(left, right) for r, (left, right, _) in counted.sides.items()},
        position_left_out={SIDE_UNKNOWN: unknown} if unknown else {},
        repeats={r: consistency(same, n) for r, (same, n) in counted.repeats.items()},
        blinding=blinding(record, filters, n_resamples=n_resamples, confidence_level=INTERVAL_LEVEL, rng=rng),
        answers_used=counted.answers_used,
        answers_left_out=counted.answers_left_out,
        n_resamples=n_resamples,
        rng=rng,
    )


def _rater_warnings(record: StudyRecord, chosen: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Speed, one side and repeats as in the progress of the study, and lists that were not finished."""
    found = {}
    for line in progress_of(record.raters, record.assignments, record.answers):
        if line.rater_id not in chosen:
            continue
        unfinished = line.done < line.total
        warnings = (*line.flags, *([f"unfinished: {line.done} of {line.total} pairs"] if unfinished else []))
        if warnings:
            found[line.rater_id] = warnings
    return found


def _block(counted: Counted, rows: NDArray[np.bool_], level: str | None, n_resamples: int, rng: int) -> Block:
    codes, questions = counted.codes[rows], counted.questions[rows]
    left_out = counted.pairs_left_out if level is None else counted.left_out_by_level[level]
    signs = preferences(codes)
    scores, means = composite_scores(signs), net_preferences(signs)
    values = {name: int((scores == value).sum()) for name, value in (("-1", -1), ("0", 0), ("1", 1))}
    choices: dict[str, dict[str, int]] = {
        rater: {str(p): int((codes[:, column] == code).sum()) for code, p in enumerate(PREFERENCES)}
        for column, rater in enumerate(counted.raters)
    }
    estimates = {
        name: _estimate(name, codes, questions, counted.raters, n_resamples, rng) for name in COEFFICIENTS
    }
    return Block(
        n_pairs=len(codes),
        n_questions=len(set(questions)),
        n_left_out=left_out,
        choices=choices,
        contingency=_contingency(codes, counted.raters),
        composite=Composite(float(scores.mean()) if len(scores) else None, values, len(scores)),
        net_preference=float(means.mean()) if len(means) else None,
        ties=ties(codes, min_votes=1),
        **estimates,
    )


def _estimate(
    name: str,
    codes: NDArray[np.int64],
    questions: NDArray[np.str_],
    raters: Sequence[str],
    n_resamples: int,
    rng: int,
) -> AgreementEstimate:
    if len(raters) < 2:
        return _undefined(NO_AGREEMENT, len(codes), n_resamples)
    if name == "cohen_kappa" and len(raters) > 2:
        reason = "Cohen's kappa is for two raters: see fleiss_kappa, krippendorff_alpha and pairwise"
        return _undefined(reason, len(codes), n_resamples)
    function = getattr(agreement, name)
    options = {"n_resamples": n_resamples, "confidence_level": INTERVAL_LEVEL, "rng": rng}
    result: AgreementEstimate = function(codes, clusters=questions, **options)
    return result


def _pairwise(counted: Counted, n_resamples: int, rng: int) -> tuple[PairOfRaters, ...]:
    pairs = []
    for index, first in enumerate(counted.raters):
        for second in counted.raters[index + 1 :]:
            columns = [counted.raters.index(first), counted.raters.index(second)]
            codes = counted.codes[:, columns]
            estimates = {
                name: _estimate(name, codes, counted.questions, (first, second), n_resamples, rng)
                for name in COEFFICIENTS[:3]
            }
            pairs.append(PairOfRaters((first, second), _contingency(codes, (first, second)), **estimates))
    return tuple(pairs)


def _contingency(codes: NDArray[np.int64], raters: Sequence[str]) -> Contingency:
    if len(raters) != 2:
        reason = NO_TABLE if len(raters) < 2 else "more than two raters: see pairwise"
        return Contingency(PREFERENCES, None, tuple(raters), reason)
    return Contingency(PREFERENCES, contingency(codes[:, 0], codes[:, 1]).tolist(), tuple(raters))


def _undefined(reason: str, n: int, n_resamples: int) -> AgreementEstimate:
    return AgreementEstimate(None, None, None, n, reason, 0, n_resamples, INTERVAL_LEVEL)


def jackknife_first(found: AgreementEstimate) -> bool:
    """Whether the jackknife-t interval is shown first: below FEW_QUESTIONS questions, where it is defined."""
    return found.n_clusters < FEW_QUESTIONS and found.low_t is not None


def first_interval(found: AgreementEstimate) -> tuple[float, float] | None:
    """The interval to show first, jackknife t or percentile; None where it is undefined.

    One without width is not shown: it says that nothing varied, not that the value is known exactly.
    """
    low, high = (found.low_t, found.high_t) if jackknife_first(found) else (found.low, found.high)
    return None if low is None or high is None or low == high else (low, high)


def _position(result: PositionBias) -> dict[str, Any]:
    return {**asdict(result), "flagged": result.p is not None and result.p < FLAG_BELOW}


def _json(result: Any) -> dict[str, Any]:
    """A result dataclass as plain JSON values."""
    values: dict[str, Any] = asdict(result)
    return values
