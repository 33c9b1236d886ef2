"""A calibration for a person at a terminal."""

from collections.abc import Mapping, Sequence

from core.analysis.calibration import MAJORITIES, Calibration
from core.analysis.calibration_advice import Advice, called
from core.analysis.calibration_cells import STATISTICS, Cell
from core.analysis.calibration_classes import MIXED
from core.analysis.calibration_summary import MacroMean, Summary, macro_averaged
from core.analysis.calibration_tables import map_estimates
from core.analysis.quality_repeats import Sensitivity
from core.analysis.temperature_sweep import Sweep
from core.cli.aligned import (
    counted,
    dashed,
    interval_notes,
    intervals_said,
    number,
    print_aligned,
    with_interval,
)
from core.cli.options import print_notes
from core.datasets.reading import printable_text, shown
from core.stats.calibration_map import CalibrationMap
from core.stats.resampling import NO_RESAMPLES

_HOW = " (--by language,dimension keeps them apart)"
_OF_RATERS = ("raters_agreement", "raters_kappa", "raters_alpha", "raters_ac1")
_OF_BOTH = ("raters_pairwise", "pairwise", "gap", "spearman", "kendall", "shift")
_OF_EVALUATOR = ("agreement", "f1", "kappa", "alpha", "ac1", "bias", "bias_disagreed")
_OF_NUMBERS = ("raters_alpha", "pearson", "spearman", "kendall", "shift", "error")
_OF_MEANS = (
    "raters_pairwise",
    "pairwise",
    "pearson",
    "spearman",
    "raters_agreement",
    "agreement",
    "f1",
    "raters_kappa",
    "kappa",
    "ac1",
    "bias",
)
_SHORT = {
    "raters_pairwise": "two raters",
    "pairwise": "evaluator and a rater",
    "gap": "difference",
    "raters_agreement": "raters equal",
    "raters_kappa": "raters kappa",
    "raters_alpha": "raters alpha",
    "raters_ac1": "raters AC1",
    "agreement": "equal",
    "f1": "weighted F1",
    "kappa": "kappa",
    "alpha": "alpha",
    "ac1": "AC1",
    "bias": "bias",
    "bias_disagreed": "bias, raters split",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall",
    "shift": "shift",
    "error": "error",
}
_MAP = {
    "error_before": "error as given",
    "error_after": "error mapped",
    "error_of_mean": "error of the mean rating",
    "gain": "gain over the mean",
    "calibration_error_before": "calibration error as given",
    "calibration_error_after": "mapped",
}


def print_calibration(found: Calibration, judged: Advice, averaged: str) -> None:
    """What says nothing, where not to use it, cells, the whole, what was left out, and notes."""
    print(
        f"{shown(found.evaluator)} against {shown(found.ratings)}; split raters: {MAJORITIES[found.options.majority]}."
    )
    for sentence in (*judged.constants, *judged.sentences):
        print(printable_text(sentence))
    for warned in judged.warned:
        print(
            f"  {shown(called(warned.group))} (n {warned.n}): {warned.verdict}: {printable_text('; '.join(warned.reasons))}"
        )
    cells = [*found.cells, *([found.pooled] if averaged == "pooled" and len(found.cells) > 1 else [])]
    _print_cells(
        [one for one in cells if one.classes],
        _OF_BOTH,
        "People and evaluator by one measure, the share of equal pairs; the evaluator against the mean rating:",
    )
    _print_cells([one for one in cells if one.classes], _OF_RATERS, "Raters with each other:")
    _print_cells([one for one in cells if one.classes], _OF_EVALUATOR, "Their majority and the evaluator:")
    numbers = [one for one in cells if not one.classes]
    _print_cells([one for one in numbers if one.statistics], _OF_NUMBERS, "Ratings and scores as numbers:")
    for one in numbers:
        print(
            f"{shown(called(one.group))}: no classes: {one.why_numbers}{_HOW if one.why_numbers == MIXED else ''}."
        )
    if averaged == "macro" and len(found.cells) > 1:
        _print_macro(macro_averaged(found), found)
    print()
    _print_undefined(cells)
    _print_left_out(cells)
    for reason, count in found.left_out.items():
        print(f"Left out: {counted(count, 'rating')}: {reason}")
    if found.options.n_resamples:
        print(intervals_said(found.options.confidence_level))
    print_notes(dict.fromkeys([*_without_interval(cells), *found.notes]))


def _print_cells(cells: Sequence[Cell], names: Sequence[str], title: str) -> None:
    if not cells:
        return
    print(f"\n{title}")
    rows = [
        [
            called(cell.group),
            cell.n,
            "-" if (used := cell.n_used(names)) is None else used,
            cell.n_raters,
            *(dashed(cell.get(name)) for name in names),
        ]
        for cell in cells
    ]
    print_aligned(["group", "n", "n used", "raters", *(_SHORT[name] for name in names)], rows)


def _print_left_out(cells: Sequence[Cell]) -> None:
    """Texts that a group does not use, or not in everything."""
    for cell in cells:
        for reason, count in cell.left_out.items():
            print(f"Left out: {shown(called(cell.group))}: {counted(count, 'text')}: {reason}")


def _print_undefined(cells: Sequence[Cell]) -> None:
    """Why, and of how many groups."""
    counts: dict[tuple[str, str], int] = {}
    for cell in cells:
        for name, one in cell.statistics.items():
            if one.estimate is None:
                key = (_SHORT.get(name, STATISTICS[name]), one.reason or "no reason is given")
                counts[key] = counts.get(key, 0) + 1
    for (name, reason), n in counts.items():
        print(f"Undefined in {counted(n, 'group')}: {name}: {reason}.")


def _without_interval(cells: Sequence[Cell]) -> list[str]:
    """Why numbers that are there have no interval: a sentence for each reason, with the groups and the numbers."""
    missing: dict[str, tuple[dict[int, None], dict[str, None]]] = {}
    for which, cell in enumerate(cells):
        for name, one in cell.statistics.items():
            if one.estimate is None or one.low is not None or one.interval_reason in (None, NO_RESAMPLES):
                continue
            groups, names = missing.setdefault(one.interval_reason, ({}, {}))
            groups[which] = names[_SHORT.get(name, STATISTICS[name])] = None
    return [
        f"no interval in {counted(len(groups), 'group')}, {reason} ({', '.join(names)})"
        for reason, (groups, names) in missing.items()
    ]


def _print_macro(summaries: Sequence[Summary], found: Calibration) -> None:
    print("\nMeans over groups, each counting once, with the SD over groups:")
    names = [name for name in _OF_MEANS if name in summaries[0].statistics]
    rows = [
        [
            called(one.group) if one.group else "all groups",
            one.n_cells,
            *(_mean(one.statistics.get(name)) for name in names),
        ]
        for one in summaries
    ]
    print_aligned(["group", "groups", *(_SHORT[name] for name in names)], rows)
    if found.options.paper_kappa:
        print("An undefined kappa is in these means as 0.")
    else:
        print("+n: so many groups where it is undefined are not in the mean.")


def _mean(found: MacroMean | None) -> str:
    if found is None or found.mean is None:
        return "undefined"
    sd = "" if found.sd is None else f" ± {number(found.sd)}"
    left = f" +{found.n_undefined}" if found.n_undefined and not found.as_zero else ""
    return f"{number(found.mean)}{sd}{left}"


def print_map(maps: Mapping[str, CalibrationMap]) -> None:
    """What mapping the scores to people's scale is worth, dimension by dimension."""
    print("\nMap to the mean rating, tested on items it was not fitted to:")
    rows = [
        [dimension, one.method, one.n, *(dashed(estimate) for estimate in map_estimates(one).values())]
        for dimension, one in maps.items()
    ]
    print_aligned(["dimension", "method", "n", *(_MAP[name] for name in _MAP)], rows)
    for dimension, one in maps.items():
        for note in (
            *([one.reason] if one.reason else ()),
            *([one.fallback] if one.fallback else ()),
            *one.notes,
        ):
            print(f"Note: {shown(dimension)}: {note}")


def print_sweep(found: Sweep) -> None:
    """Agreement with people and with itself, by temperature."""
    print("\nBy temperature:")
    rows = [
        [
            one.dimension,
            f"{one.temperature:g}",
            one.evaluator,
            dashed(one.agreement),
            dashed(one.kappa),
            dashed(one.repeats_equal),
        ]
        for one in found.points
    ]
    print_aligned(["dimension", "temperature", "evaluator", "equal", "kappa", "repeats equal"], rows)
    print_notes(found.notes)


def print_sensitivity(found: Sequence[Sensitivity]) -> None:
    """How often a score drops when words change places."""
    print("\nWith shuffled words:")
    rows = [
        [
            called(one.group),
            one.drops.n,
            *(with_interval(share) for share in (one.drops, one.stays, one.rises)),
        ]
        for one in found
    ]
    print_aligned(["group", "n", "drops", "stays", "rises"], rows)
    print_notes(interval_notes((called(one.group), one.drops) for one in found))
    for one in found:
        for reason, count in one.left_out.items():
            print(f"Left out: {shown(called(one.group))}: {counted(count, 'text')}: {reason}")
