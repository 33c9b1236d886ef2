"""Results as tables: what a page shows as text. A number has three decimals; what is undefined says why beside it."""

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from core.plots.study import AGREEMENT, preference_names
from core.results.study.results import (
    FLAG_BELOW,
    Block,
    Contingency,
    PairOfRaters,
    StudyResults,
    first_interval,
    verdict_name,
)
from core.stats.non_inferiority import Power
from core.stats.resampling import AgreementEstimate
from core.stats.votes import PositionBias, Ties
from pages.widgets.parts import UNDEFINED, interval, number, percent

TIE_RULES = {
    "paper_rule": ("The paper's rule", "somebody said both good and nobody said both bad"),
    "both_tied": ("All tied", "every vote is both good or both bad"),
    "composite_zero": ("Composite zero", "all votes tied, or the preferences cancel out"),
    "opposed": ("Opposed (no tie)", "somebody preferred the one and somebody the other"),
}
"""Field of Ties -> its name and what it counts."""


AGREEMENT_SENTENCES = {
    "raw_agreement": (
        "raw-agreement",
        "share of pairs with the same answer; high by chance when one is popular",
    ),
    "cohen_kappa": ("cohens-kappa", "agreement beyond chance of two raters; falls to 0 when one is popular"),
    "gwet_ac1": ("gwets-ac1", "beyond chance too, and stays high when one answer is popular"),
    "fleiss_kappa": ("fleiss-kappa", "like kappa, for any number of raters who share one chance rate"),
    "krippendorff_alpha": (
        "krippendorffs-alpha",
        "like Fleiss' kappa, with missing votes and few pairs allowed",
    ),
}
"""Field of a Block -> anchor and the sentence beside it."""


def blocks(results: StudyResults) -> dict[str, Block]:
    """All levels together, then each; a single level only once."""
    if len(results.per_level) == 1:
        return dict(results.per_level)
    return {_not_in(results.levels, "all levels"): results.overall, **results.per_level}


def positions(results: StudyResults) -> dict[str, PositionBias]:
    """Each rater, then all together."""
    return {
        **results.position_per_rater,
        _not_in(results.raters, "all raters"): results.position_overall,
    }


def sensitivity(results: StudyResults) -> pd.DataFrame:
    """The verdict as declared and in other ways of counting."""
    return pd.DataFrame(
        [
            {
                "Counted": line.name,
                "Pairs": line.n_pairs,
                "Lower bound": number(line.bound),
                "Verdict": verdict_name(line.value),
            }
            for line in results.sensitivity
        ]
    )


def choices(results: StudyResults) -> pd.DataFrame:
    """How often each rater gave each answer at each level."""
    names = preference_names(results.candidate, results.comparator)
    return pd.DataFrame(
        [
            {"Rater": rater, "Level": level}
            | {names[preference]: n for preference, n in block.choices[rater].items()}
            for rater in results.raters
            for level, block in results.per_level.items()
        ]
    )


def agreement(results: StudyResults) -> pd.DataFrame:
    """One line a block, one column a coefficient."""
    return pd.DataFrame(
        [
            {"Level": level, "Pairs": block.n_pairs, **_coefficients(block), "Note": _notes(block)}
            for level, block in blocks(results).items()
        ]
    )


def pairwise(pairs: Sequence[PairOfRaters]) -> pd.DataFrame:
    """One line for each two of three or more raters."""
    return pd.DataFrame(
        [
            {
                "Raters": " and ".join(pair.raters),
                "Pairs": pair.raw_agreement.n,
                **_coefficients(pair),
                "Note": _notes(pair),
            }
            for pair in pairs
        ]
    )


def measures_nothing(block: Block | PairOfRaters) -> bool:
    """Whether kappa is 0 only because one of two raters never varied."""
    table = block.contingency.table
    if block.cohen_kappa.estimate is None or table is None:
        return False
    total = sum(map(sum, table))
    return any(sum(line) == total for line in [*table, *map(list, zip(*table, strict=True))])


def composite(results: StudyResults) -> pd.DataFrame:
    """Mean and counts of the composite score, all levels together and each."""
    return pd.DataFrame(
        [
            {
                "Level": level,
                "Pairs": block.composite.n,
                "Mean": number(block.composite.mean),
                f"-1 ({results.comparator})": block.composite.counts["-1"],
                "0 (neither)": block.composite.counts["0"],
                f"+1 ({results.candidate})": block.composite.counts["1"],
            }
            for level, block in blocks(results).items()
        ]
    )


def ties(result: Ties) -> pd.DataFrame:
    """The four rules by name."""
    lines = []
    for field, (name, meaning) in TIE_RULES.items():
        share: float | None = getattr(result, field)
        count = UNDEFINED if share is None else str(round(share * result.n))
        note = result.reason or ""
        lines.append({"Rule": name, "A pair counts when": meaning, "Share": number(share), "Pairs": count})
        lines[-1] |= {"Of": str(result.n)} | ({"Note": note} if note else {})
    return pd.DataFrame(lines)


def plan(results: StudyResults) -> pd.DataFrame:
    """Pairs a new study needs if both are equally good, with the design effect of this one."""
    found = results.power_one_sided
    sizes = {
        "80 %": (
            found.n_for_80_if_equal_clustered,
            found.questions_for_80_if_equal,
            found.n_for_80_if_equal,
        ),
        "90 %": (
            found.n_for_90_if_equal_clustered,
            found.questions_for_90_if_equal,
            found.n_for_90_if_equal,
        ),
    }
    note = found.clustered_reason or found.reason or ""
    return pd.DataFrame(
        [
            {
                "Power": power,
                "Pairs": _count(pairs),
                "of questions": _count(questions),
                "Pairs if independent": _count(independent),
                **({"Note": note} if note else {}),
            }
            for power, (pairs, questions, independent) in sizes.items()
        ]
    )


def power(results: StudyResults) -> pd.DataFrame:
    """Power at the observed mean: Factual's test and the declared one, with the pairs they need."""
    declared = results.non_inferiority.confidence_level
    kinds = {
        "two-sided, as in Factual": results.power,
        f"one-sided, declared {percent(declared)}": results.power_one_sided,
    }
    return pd.DataFrame([{"Test": name, **_power(kind)} for name, kind in kinds.items()])


def position(results: StudyResults) -> pd.DataFrame:
    """How often each rater, and all together, chose the left."""
    lines = []
    for rater, found in positions(results).items():
        flagged = found.p is not None and found.p < FLAG_BELOW
        lines.append(
            {
                "Rater": rater,
                "Left": found.left,
                "Right": found.right,
                "Share of left": number(found.share_left),
                "95 % interval": interval(found.low, found.high),
                "p": number(found.p),
                "Note": found.reason or (f"flagged: p below {FLAG_BELOW:g}" if flagged else ""),
            }
        )
    return pd.DataFrame(lines)


def repeats(results: StudyResults) -> pd.DataFrame:
    """How often a rater said the same again."""
    return pd.DataFrame(
        [
            {
                "Rater": rater,
                "Answered twice": found.n,
                "Same answer": found.n_same,
                "Share": number(found.share),
                "95 % interval": interval(found.low, found.high),
                "Note": found.reason or "",
            }
            for rater, found in results.repeats.items()
        ]
    )


def two_raters(results: StudyResults, first: str, second: str) -> Contingency:
    """The table of any two raters of a study, rows the first; transposed where it is stored the other way."""
    if len(results.raters) == 2:
        found = results.overall.contingency
    else:
        found = next(p.contingency for p in results.pairwise if {*p.raters} == {first, second})
    if found.raters == (first, second) or found.table is None:
        return found
    turned = [list(column) for column in zip(*found.table, strict=True)]
    return Contingency(found.order, turned, (first, second))


def in_words(found: Contingency, names: Mapping[str, str]) -> str:
    """The table cell by cell, for those who cannot see its picture."""
    first, second = found.raters
    return "; ".join(
        f"{first} {names[row]}, {second} {names[column]}: {n}"
        for row, line in zip(found.order, found.table or [], strict=False)
        for column, n in zip(found.order, line, strict=True)
    )


def _not_in(taken: Collection[str], name: str) -> str:
    """A name for the total that no rater or level has."""
    while name in taken:
        name += " together"
    return name


def _coefficients(block: Block | PairOfRaters) -> dict[str, str]:
    return {
        name: _estimate(getattr(block, field)) for field, name in AGREEMENT.items() if hasattr(block, field)
    }


def _estimate(found: AgreementEstimate) -> str:
    return UNDEFINED if found.estimate is None else f"{number(found.estimate)} {_ends(found)}"


def _ends(found: AgreementEstimate) -> str:
    return interval(*(first_interval(found) or (None, None)))


def _notes(block: Block | PairOfRaters) -> str:
    """Why something is undefined, measures nothing, or rests on fewer pairs."""
    notes: dict[str, list[str]] = {}
    shown = block.n_pairs if isinstance(block, Block) else block.raw_agreement.n
    for field, name in AGREEMENT.items():
        found: AgreementEstimate | None = getattr(block, field, None)
        if found is None:
            continue
        reason = found.reason or found.interval_reason
        if reason and field == "cohen_kappa" and len(block.contingency.raters) > 2:
            reason = "for two raters only, see each two below"
        if reason:
            notes.setdefault(reason, []).append(name)
        if found.n_undefined and found.low is not None:
            text = f"undefined in {found.n_undefined} of {found.n_resamples} resamples"
            notes.setdefault(text, []).append(name)
        if found.n != shown and found.estimate is not None:
            text = f"{found.n} pairs, {found.n_left_out} left out"
            notes.setdefault(text, []).append(name)
    if measures_nothing(block):
        text = "one rater never varied, so it measures nothing"
        notes.setdefault(text, []).append(AGREEMENT["cohen_kappa"])
    if len(notes) == 1 and len(next(iter(notes.values()))) == sum(hasattr(block, f) for f in AGREEMENT):
        return next(iter(notes))
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in notes.items())


def _count(value: int | None) -> str:
    return UNDEFINED if value is None else str(value)


def _power(found: Power) -> dict[str, str]:
    sizes = {"Pairs for 80 %": found.n_for_80, "for 90 %": found.n_for_90}
    undefined = found.value is None or None in sizes.values()
    note = found.reason or ("more than ten million pairs" if undefined else "")
    return {
        "alpha": f"{found.alpha:.3g}",
        "Power": number(found.value),
        **{name: _count(n) for name, n in sizes.items()},
        "Pairs used": str(found.n),
        **({"Note": note} if note else {}),
    }
