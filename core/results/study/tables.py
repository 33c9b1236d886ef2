"""What the tables and figures of a study's results have in common: names, order, and the means of ratings."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from core.results.cells import interval
from core.results.study.results import (
    Block,
    Contingency,
    StudyResults,
    first_interval,
)
from core.results.study.words import words_of
from core.schema.result_table import Interval
from core.schema.study import PREFERENCES, StudyRecord, VoteMeaning
from core.stats.resampling import AgreementEstimate
from core.stats.votes import PositionBias
from core.study.ratings import (
    RatedMean,
    rated_means,
)
from core.study.times import RaterSeconds

AGREEMENT = {
    "raw_agreement": "Raw agreement",
    "cohen_kappa": "Cohen's kappa",
    "gwet_ac1": "Gwet's AC1",
    "fleiss_kappa": "Fleiss' kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
}
"""Field of a Block -> its name on screen."""
TIES = {
    "paper_rule": ("Factual's rule", "at least one rater chose both good, and none chose both bad"),
    "both_tied": ("All tied", "every vote is both good or both bad"),
    "composite_zero": ("Composite zero", "all votes are ties, or the preferences cancel out"),
    "opposed": ("Opposed (no tie)", "raters disagreed on the winner"),
}
"""Field of Ties -> its name and which pairs it counts."""
ALL_PAIRS = "all pairs"
GAFFKE, GAFFKE_DECIDES = "questions, Gaffke", "questions, Gaffke (decides)"
"""Row of Gaffke's bound; it decides if the bootstrap over questions fails."""


def preference_names(
    candidate: str, comparator: str, votes_mean: VoteMeaning | None = "better"
) -> dict[str, str]:
    """Names of the four answers, in the order of every table; plain text, not escaped."""
    choice = words_of(votes_mean).choice
    names = (choice.format(system=candidate), "both good", "both bad", choice.format(system=comparator))
    return {str(preference): name for preference, name in zip(PREFERENCES, names, strict=True)}


def blocks(results: StudyResults) -> dict[str, Block]:
    """Blocks by name: all levels together, then each level; a single level only once. Plain pairs have one block."""
    if len(results.per_level) == 1:
        return dict(results.per_level)
    if not results.per_level:
        return {ALL_PAIRS: results.overall}
    return {not_in(results.levels, "all levels"): results.overall, **results.per_level}


def positions(results: StudyResults) -> dict[str, PositionBias]:
    """Position bias of each rater, then of all raters together."""
    return {**results.position_per_rater, not_in(results.raters, "all raters"): results.position_overall}


def two_raters(results: StudyResults, first: str, second: str) -> Contingency:
    """The cross table of any two raters; rows are the first rater."""
    if len(results.raters) == 2:
        found = results.overall.contingency
    else:
        found = next(p.contingency for p in results.pairwise if {*p.raters} == {first, second})
    if found.raters == (first, second) or found.table is None:
        return found
    turned = [list(column) for column in zip(*found.table, strict=True)]
    return Contingency(found.order, turned, (first, second))


def agreement_cell(estimate: AgreementEstimate, n_shown: int, reason: str = "") -> Interval:
    """The estimate with the interval to show first, and with its n if it differs from the row's, `n_shown`.

    reason: why it is undefined, where readers need another reason than its own.
    """
    low, high = first_interval(estimate) or (None, None)
    reason = reason or estimate.reason or ""
    none = estimate.interval_reason or estimate.interval_t_reason or "nothing varies between questions"
    return replace(
        interval(estimate),
        low=low,
        high=high,
        reason=reason,
        interval_reason=none if low is None and not reason else "",
        beside=f"(n {estimate.n})" if estimate.n != n_shown and estimate.estimate is not None else "",
    )


def median_seconds(rater: RaterSeconds) -> tuple[Interval, Interval]:
    """Both medians; `n` counts the answers behind each."""
    return (
        Interval(
            rater.median_seconds_first, n=rater.n_first, reason="" if rater.n_first else "no time is known"
        ),
        Interval(
            rater.median_seconds_visible,
            n=rater.n_visible,
            reason="" if rater.n_visible else "no browser said it",
        ),
    )


def not_in(taken: Collection[str], name: str) -> str:
    """A name for the total that no rater or level uses."""
    while name in taken:
        name += " together"
    return name


@dataclass(frozen=True)
class RatingMeans:
    """Mean ratings of a study by system and level, and over each of the two."""

    totals: tuple[RatedMean, ...]
    """By system and level."""
    by_system: tuple[RatedMean, ...]
    """Over all levels."""
    by_level: tuple[RatedMean, ...]
    """Over all systems; empty in a study without levels."""

    @classmethod
    def of(cls, record: StudyRecord, *, n_resamples: int = 10_000) -> "RatingMeans":
        """Compute the means of an unblinded rating study."""
        totals = rated_means(record, n_resamples=n_resamples)
        if not any(output.level for output in record.outputs):
            return cls(totals, totals, ())
        return cls(
            totals,
            rated_means(record, ["system"], n_resamples=n_resamples),
            rated_means(record, ["level"], n_resamples=n_resamples),
        )


def best_rated(means: RatingMeans) -> dict[str, tuple[RatedMean, ...]]:
    """Dimension -> its systems with a mean, highest first."""
    found: dict[str, list[RatedMean]] = {}
    for one in means.by_system:
        if one.mean.estimate is not None:
            found.setdefault(one.dimension, []).append(one)
    return {
        dimension: tuple(sorted(those, key=lambda one: -(one.mean.estimate or 0.0)))
        for dimension, those in found.items()
    }


@dataclass(frozen=True)
class RatedHighest:
    """Which systems of a rating study are rated highest, and how firm that is."""

    word: str
    """A heading without a full stop."""
    why: str
    """A sentence; empty where there is nothing to say."""
    systems: tuple[str, ...]
    """Those with the highest mean in most dimensions; ties share a place."""
    dimensions: tuple[str, ...]
    """In which they are highest; the first of them is shown."""
    separated: bool
    """Whether one system's interval lies above those of all others in every dimension."""

    def to_json(self) -> dict[str, Any]:
        """The documented form (docs/formats.md), ready for json.dumps."""
        return {"sentence": self.said, **asdict(self)}

    @property
    def said(self) -> str:
        """The heading and its reason as sentences."""
        return f"{self.word}. {self.why}".rstrip()


def rated_highest(means: RatingMeans) -> RatedHighest:
    """Which system has the highest mean, in how many dimensions, and whether intervals set it apart."""
    ranked = best_rated(means)
    systems = {one.system for those in ranked.values() for one in those}
    if not ranked:
        return RatedHighest("Nothing is rated yet", "", (), (), separated=False)
    if len(systems) == 1:
        (only,) = systems
        why = "There is no other system to compare it with."
        return RatedHighest(f"{only} alone is rated", why, (only,), tuple(ranked), separated=False)
    places: dict[str, list[str]] = {}
    for dimension, those in ranked.items():
        for one in those:
            if one.mean.estimate == those[0].mean.estimate:  # equal means share the place
                places.setdefault(one.system, []).append(dimension)
    most = max(map(len, places.values()))
    ahead = tuple(system for system, where in places.items() if len(where) == most)
    named = " and ".join(ahead)
    if most < len(ranked):
        word = f"Highest in {most} of {len(ranked)} dimensions: {named}"
    elif len(ahead) == 1:
        word = f"{named} is rated highest"
    else:
        word = f"{named} share the highest mean"
    first = tuple(dimension for dimension in ranked if any(dimension in places[one] for one in ahead))
    if len(ahead) > 1:
        return RatedHighest(word, "", ahead, first, separated=False)
    close = {
        dimension: rivals
        for dimension in first
        if (rivals := [one.system for one in ranked[dimension] if _overlaps(ranked[dimension], named, one)])
    }
    if not close:
        where = (
            "" if len(ranked) == 1 else " in each of them" if most < len(ranked) else " in every dimension"
        )
        why = f"Its interval lies above those of the others{where}."
    elif len(first) == 1:
        why = f"The intervals of {named} and {close[first[0]][0]} overlap; a difference is not shown."
    else:
        why = (
            f"In {', '.join(close)} its interval overlaps that of another system; a difference is not shown."
        )
    return RatedHighest(word, why, ahead, first, separated=not close and most == len(ranked))


def _overlaps(those: Sequence[RatedMean], system: str, other: RatedMean) -> bool:
    """Whether another system's interval does not end below that of `system`; true where one of the two is unknown."""
    low = next(one.mean.low for one in those if one.system == system)
    return other.system != system and (low is None or other.mean.high is None or other.mean.high >= low)
