"""Convert a calibration to result tables and to the documented JSON (docs/formats.md)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from core.results.calibration.cells import KAPPAS, MIXED, OF_NUMBERS, STATISTICS, Cell
from core.results.calibration.repeats import Sensitivity
from core.results.calibration.results import (
    ADVICE_CORRECTION,
    MAJORITIES,
    RULES,
    Advice,
    Calibration,
    MacroMean,
    Summary,
    Sweep,
    Tests,
    Verdict,
    advice,
    called,
    macro_averaged,
    rule_tests,
    verdicts_of,
)
from core.results.calibration.split import DimensionSplit, split_json
from core.results.cells import corrected_column, corrected_note, decimal, ends, interval, picked
from core.schema.result_table import Cell as Value
from core.schema.result_table import Column, Interval, ResultTable
from core.stats.calibration import CalibrationMap, ReliabilityBin
from core.stats.resampling import Estimate
from core.tables.reading import printable_text, shown

Row = dict[str, Any]
NOT_APPLICABLE = "does not apply to these ratings"
_UNDEFINED_IN_ALL = "undefined in every group"
_MOST_NAMED = 12
"""Groups that a note names at most; files have all."""
_VIEWS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "agreement": (
        "Raters and evaluator on the same measure",
        ("raters_pairwise", "pairwise", "gap", "spearman", "kendall", "shift"),
    ),
    "raters": (
        "Raters with each other",
        ("raters_agreement", "raters_f1", "raters_kappa", "raters_alpha", "raters_ac1"),
    ),
    "majority": ("Evaluator and majority", ("agreement", "f1", "kappa", "alpha", "ac1", "bias")),
    "bias": (
        "Bias towards the top class",
        ("top_majority", "top_evaluator", "bias", "bias_agreed", "bias_disagreed"),
    ),
    "numbers": ("Ratings and scores", OF_NUMBERS),
}
"""Tables of groups: title and visible statistics; files have all of them. The last is for numbers."""
_TITLES = {
    **STATISTICS,
    "gap": "Difference",
    "raters_agreement": "All raters agree",
    "raters_f1": "Weighted F1",
    "raters_kappa": "Fleiss' kappa",
    "raters_ac1": "Gwet's AC1",
    "agreement": "Agree",
    "f1": "Weighted F1",
    "kappa": "Fleiss' kappa",
    "alpha": "Krippendorff's alpha",
    "ac1": "Gwet's AC1",
    "top_majority": "Majority",
    "top_evaluator": "Evaluator",
    "bias": "Bias",
    "bias_agreed": "Where raters agree",
    "bias_disagreed": "Where they disagree",
    "spearman": "Spearman",
    "kendall": "Kendall's tau-b",
    "pearson": "Pearson",
}
_TESTS: Mapping[str, tuple[str, str]] = {
    "chance": ("majority", "Kappa"),
    "gap": ("agreement", "Difference"),
    "bias": ("bias", "Bias"),
}
"""Test of a cell (`TESTED`) -> the view that shows its p, and the statistic's name in the heading."""
CALIBRATION_TABLES = (
    *_VIEWS,
    *(f"{kind}-{view}" for kind in ("means", "pooled") for view in _VIEWS if view != "bias"),
    *("split-raters", "map", "reliability", "temperatures", "shuffled-words", "classes", "where-not-to-use"),
)
"""Names of all calibration tables."""


def calibration_tables(found: Sequence[Calibration], averaged: str) -> dict[str, ResultTable]:
    """Tables by name: statistics by group, then over all groups, as far as they apply.

    averaged: `macro` (each group counts once, tables `means-...`) or `pooled` (each text counts once, `pooled-...`).
    """
    several = [one for one in found if len(one.cells) > 1]
    made = _of_cells("", [(one, cell) for one in found for cell in one.cells])
    if several and averaged == "pooled":
        made += pooled_tables(several)
    elif several:
        made += mean_tables(several)
    return {table.name: table for table in made}


def pooled_tables(found: Sequence[Calibration]) -> list[ResultTable]:
    """Tables of all texts of each dimension, then of all dimensions."""
    return _of_cells("pooled-", [(one, cell) for one in found for cell in (*one.by_dimension, one.pooled)])


def _of_cells(prefix: str, rows: Sequence[tuple[Calibration, Cell]]) -> list[ResultTable]:
    """Tables for classes contain every group; the one for numbers only groups without classes, if both are needed."""
    *of_classes, of_numbers = (view for view in _VIEWS if not prefix or view != "bias")
    numbers = [(one, cell) for one, cell in rows if not cell.classes and cell.statistics]
    views = of_classes if len(numbers) < len(rows) else []
    notes = _notes(rows)
    made = [_view(prefix, view, rows, notes if view == views[0] else ()) for view in views]
    return [*made, _view(prefix, of_numbers, numbers, () if made else notes)] if numbers else made


def _view(
    prefix: str, view: str, rows: Sequence[tuple[Calibration, Cell]], notes: Sequence[str]
) -> ResultTable:
    said, shown = _VIEWS[view]
    groups, head = _groups([(one.evaluator, cell.group) for one, cell in rows])
    judged = _judged(rows)
    tested = [tests for _, tests in judged]
    n_tests = {name: max((own[name].n_tests for own in tested if name in own), default=0) for name in _TESTS}
    # Numbers have no kappa: their rule reads Spearman's correlation.
    titles = {
        name: "Spearman" if view == "numbers" and name == "chance" else title
        for name, (_, title) in _TESTS.items()
    }
    in_view = {
        name: view == where or (name == "chance" and view == "numbers") for name, (where, _) in _TESTS.items()
    }
    return ResultTable(
        f"{prefix}{view}",
        (
            *groups,
            Column("n_texts", "Texts"),
            Column("n_used", "Used"),
            Column("n_items", shown=False),
            Column("n_raters", "Raters"),
            *(Column(name, shown=False) for name in ("verdict", "n_off_scale", "classes", "left_out")),
            *(Column(name, title, shown=name in shown) for name, title in _TITLES.items()),
            *(
                column
                for name, title in titles.items()
                for column in (
                    Column(f"{name}_p", f"{title}: p", shown=False, p_value=True),
                    _seen_in(
                        corrected_column(ADVICE_CORRECTION, n_tests[name], of=name, title=title),
                        in_view[name],
                    ),
                )
            ),
        ),
        tuple(
            (
                *own,
                cell.n,
                cell.n_used(shown),
                cell.n_items,
                cell.n_raters,
                verdict.value or NO_VERDICT,
                cell.n_off_scale,
                " ".join(f"{value:g}" for value in cell.classes),
                cell.left_out,
                *(interval(cell.get(name), cell.why_numbers or NOT_APPLICABLE) for name in STATISTICS),
                *(
                    p
                    for name in _TESTS
                    for p in ((tests[name].p, tests[name].p_bh) if name in tests else (None, None))
                ),
            )
            for own, (_, cell), (verdict, tests) in zip(head, rows, judged, strict=True)
        ),
        title=f"{said}: all texts" if prefix else said,
        notes=(
            *dict.fromkeys(
                f"{called(cell.group)}: compared as numbers: {cell.why_numbers}"
                for _, cell in rows
                if view == "numbers"
            ),
            *(
                note
                for name, n in n_tests.items()
                if in_view[name]
                for note in corrected_note(ADVICE_CORRECTION, n, "the groups of an evaluator")
            ),
            *notes,
        ),
    )


def _seen_in(column: Column, in_view: bool) -> Column:
    """The column, hidden from readers of the other views."""
    return replace(column, shown=column.shown and in_view)


def _judged(rows: Sequence[tuple[Calibration, Cell]]) -> list[tuple[Verdict, Tests]]:
    """The verdict and the tests of each cell, corrected for the cells of its family: groups, dimensions, or all texts."""
    found: dict[int, tuple[Verdict, Tests]] = {}
    for one in {id(one): one for one, _ in rows}.values():
        for family in (one.cells, one.by_dimension, (one.pooled,)):
            tests = rule_tests(family)
            found |= {
                id(cell): (verdict, own)
                for cell, verdict, own in zip(family, verdicts_of(family), tests, strict=True)
            }
    return [found[id(cell)] for _, cell in rows]


def _groups(
    rows: Sequence[tuple[str, Mapping[str, str]]],
) -> tuple[list[Column], list[tuple[Value, ...]]]:
    """Columns for evaluator and group with their cells; on screen one column shows the whole group."""
    names = list(dict.fromkeys(name for _, group in rows for name in group))
    columns = [
        _evaluators([evaluator for evaluator, _ in rows]),
        *(Column(name, shown=False) for name in names),
        Column("group", "Group", names_row=True),
    ]
    cells: list[tuple[Value, ...]] = [
        (evaluator, *(group.get(name) for name in names), called(group)) for evaluator, group in rows
    ]
    return columns, cells


def _evaluators(names: Sequence[str]) -> Column:
    """The column of evaluators, visible if there are several."""
    several = len(set(names)) > 1
    return Column("evaluator", "Evaluator", shown=several, names_row=several)


def _notes(rows: Sequence[tuple[Calibration, Cell]]) -> list[str]:
    """Notes on intervals, on what each group leaves out, and on assumptions."""
    found = list({id(one): one for one, _ in rows}.values())
    lost: dict[str, dict[str, int]] = {}
    for one, cell in rows:
        name = called(cell.group) if len(found) == 1 else f"{one.evaluator}, {called(cell.group)}"
        for reason, n in cell.left_out.items():
            lost.setdefault(reason, {})[name] = n
    levels = {one.options.confidence_level for one in found if one.options.n_resamples}
    return list(
        dict.fromkeys(
            [
                *(f"Intervals: {level:.0%}, percentile bootstrap over items." for level in levels),
                *(f"Texts left out: {reason}: {_where(by_group)}" for reason, by_group in lost.items()),
                *(
                    f"Ratings left out: {reason}: {n:,}"
                    for one in found
                    for reason, n in one.left_out.items()
                ),
                *(note for one in found for note in one.notes),
            ]
        )
    )


def _where(by_group: Mapping[str, int]) -> str:
    named = [f"{n:,} of {group}" for group, n in by_group.items()]
    return "; ".join(named[:_MOST_NAMED]) + (" ..." if len(named) > _MOST_NAMED else "")


def mean_tables(found: Sequence[Calibration]) -> list[ResultTable]:
    """Tables of means over groups; each group counts once. With the SD over groups."""
    rows = [(one, summary) for one in found for summary in macro_averaged(one)]
    there = {name for _, one in rows for name in one.statistics}
    as_classes = any("pairwise" in one.statistics for _, one in rows)
    return [
        _means(f"means-{view}", title, [name for name in shown if name in there], rows)
        for view, (title, shown) in _VIEWS.items()
        if view != "bias" and as_classes != (view == "numbers")
    ]


def _means(
    name: str, title: str, shown: Sequence[str], rows: Sequence[tuple[Calibration, Summary]]
) -> ResultTable:
    options = rows[0][0].options
    zero = "counted as 0" if options.paper_kappa else "left out of the mean; +n shows how many"
    return ResultTable(
        name,
        (
            _evaluators([one.evaluator for one, _ in rows]),
            *(Column(name, shown=False) for name in ("column", "value")),
            Column("group", "Group", names_row=True),
            Column("n_groups", "Groups"),
            Column("n_texts", shown=False),
            *(
                column
                for one, heading in _TITLES.items()
                for column in (Column(one, heading, shown=one in shown), Column(f"{one}_sd", shown=False))
            ),
        ),
        tuple(
            (
                one.evaluator,
                next(iter(summary.group), "all"),
                next(iter(summary.group.values()), "all"),
                called(summary.group) if summary.group else "all groups",
                summary.n_cells,
                summary.n,
                *(
                    value
                    for statistic in STATISTICS
                    for value in _mean_and_sd(statistic, summary.statistics.get(statistic))
                ),
            )
            for one, summary in rows
        ),
        title=f"{title}: means over groups",
        notes=(
            "Each group counts once. ±: standard deviation over groups.",
            f"Split raters: {MAJORITIES[options.majority]}. Undefined kappas: {zero}.",
        )
        if name in ("means-agreement", "means-numbers")
        else (),
    )


def _mean_and_sd(name: str, found: MacroMean | None) -> tuple[Interval, float | None]:
    if found is None:
        return Interval(None, reason=NOT_APPLICABLE), None
    if found.mean is None:
        return Interval(None, n=0, n_left_out=found.n_undefined, reason=_UNDEFINED_IN_ALL), None
    behind = [
        *([f"± {decimal(found.sd)}"] if found.sd is not None else []),
        *([f"+{found.n_undefined}"] if found.n_undefined and not found.as_zero else []),
        *(["(with 0)"] if found.as_zero and name in KAPPAS else []),
    ]
    n_left_out = 0 if found.as_zero else found.n_undefined
    return Interval(found.mean, n=found.n_cells, n_left_out=n_left_out, beside=" ".join(behind)), found.sd


def class_table(rows: Sequence[tuple[str, Cell]]) -> ResultTable:
    """Table of texts by class and by agreement among raters. rows: evaluator and group."""
    each = [(evaluator, cell, one) for evaluator, cell in rows for one in cell.distributions]
    flat = [
        (evaluator, cell, one, place) for evaluator, cell, one in each for place in range(len(one.classes))
    ]
    groups, head = _groups([(evaluator, cell.group) for evaluator, cell, _, _ in flat])
    return ResultTable(
        "classes",
        (
            *groups,
            Column("raters_agree", "Raters agree", names_row=True),
            Column("class", "Class", general=True),
            Column("majority", "By the majority"),
            Column("texts_by_evaluator", "By the evaluator"),
            Column("n_no_majority", "No majority"),
        ),
        tuple(
            (*own, one.kind, one.classes[k], one.majority[k], one.evaluator[k], one.n_no_majority)
            for own, (_, _, one, k) in zip(head, flat, strict=True)
        ),
        title="Classes",
        notes=(
            "Texts by class, over texts with a majority and a score. No majority: number of texts without a majority, for each kind of agreement.",
        ),
    )


_OF_MAPS = {
    "error_before": "Error before mapping",
    "error_after": "Error after mapping",
    "error_of_mean": "Error of the mean rating",
    "gain": "Gain over the mean rating",
    "calibration_error_before": "Calibration error before mapping",
    "calibration_error_after": "Calibration error after mapping",
}
"""Field of a CalibrationMap on the map's benefit -> its title."""


def map_table(maps: Sequence[tuple[str, Mapping[str, CalibrationMap]]]) -> ResultTable:
    """Table of the benefit of mapping scores to people's scale. maps: evaluator, and dimension -> its map."""
    each = [(evaluator, dimension, one) for evaluator, own in maps for dimension, one in own.items()]
    return ResultTable(
        "map",
        (
            _evaluators([evaluator for evaluator, _ in maps]),
            Column("dimension", "Dimension", names_row=True),
            Column("method", "Method"),
            Column("n", "Texts"),
            *(Column(name, shown=False) for name in ("n_left_out", "n_items", "n_folds")),
            *(Column(name, title) for name, title in _OF_MAPS.items()),
            *(Column(name, shown=False) for name in ("knots", "notes")),
        ),
        tuple(
            (
                *(evaluator, dimension, one.method, one.n, one.n_left_out, one.n_clusters, one.n_folds),
                *(interval(getattr(one, name)) for name in _OF_MAPS),
                " ".join(f"{x:g}:{y:g}" for x, y in one.knots),
                "; ".join(_map_notes(one)),
            )
            for evaluator, dimension, one in each
        ),
        title="Map to the mean rating, tested on items left out of the fit",
        notes=(
            "Error: mean absolute error. Gain above 0: the score of a text helps to predict its rating.",
            *(f"{dimension}: {note}" for _, dimension, one in each for note in _map_notes(one)),
        ),
    )


def _map_notes(one: CalibrationMap) -> list[str]:
    return [note for note in (one.reason, one.fallback, *one.notes) if note]


def reliability_table(maps: Sequence[tuple[str, Mapping[str, CalibrationMap]]]) -> ResultTable:
    """Table of the bins of reliability diagrams, before and after mapping."""
    return ResultTable(
        "reliability",
        (
            _evaluators([evaluator for evaluator, _ in maps]),
            Column("dimension", "Dimension", names_row=True),
            Column("scores", "Scores", names_row=True),
            Column("low", "From"),
            Column("high", "To"),
            Column("mean_score", "Mean score"),
            Column("human", "Mean rating"),
        ),
        tuple(
            (evaluator, dimension, which, one.low, one.high, one.mean_score, interval(one.human))
            for evaluator, own in maps
            for dimension, found in own.items()
            for which, bins in (("before mapping", found.before), ("after mapping", found.after))
            for one in bins
        ),
        title="Reliability",
    )


NO_VERDICT = "no verdict"
"""Where agreement could not be computed."""


def warned_table(found: Sequence[Calibration]) -> ResultTable:
    """Table of the groups that fail a rule, or have no verdict."""
    rows = [(one.evaluator, warned) for one in found for warned in advice(one).warned]
    groups, head = _groups([(evaluator, warned.group) for evaluator, warned in rows])
    return ResultTable(
        "where-not-to-use",
        (*groups, Column("n_texts", "Texts"), Column("verdict", "Verdict"), Column("reasons", "Why")),
        tuple(
            (*own, warned.n, warned.verdict or NO_VERDICT, "; ".join(warned.reasons))
            for own, (_, warned) in zip(head, rows, strict=True)
        ),
        title="Where not to use it",
    )


def sweep_table(found: Sweep) -> ResultTable:
    """Table of agreement with people and between repeats, by temperature."""
    return ResultTable(
        "temperatures",
        (
            Column("temperature", "Temperature", general=True, names_row=True),
            Column("evaluator", "Evaluator", names_row=True),
            Column("dimension", "Dimension", names_row=True),
            Column("repeats", "Repeats"),
            Column("agreement", "Agrees with the majority"),
            Column("kappa", "Fleiss' kappa"),
            Column("repeats_equal", "All repeats equal", percent=True),
        ),
        tuple(
            (
                *(one.temperature, one.evaluator, one.dimension, one.n_repeats),
                interval(one.agreement, NOT_APPLICABLE),
                interval(one.kappa, NOT_APPLICABLE),
                interval(one.repeats_equal, "its repeats are unknown"),
            )
            for one in found.points
        ),
        title="By temperature",
        notes=found.notes,
    )


def shuffled_table(found: Sequence[Sensitivity]) -> ResultTable:
    """Table of how often a score drops when words are shuffled."""
    groups, head = _groups([("", one.group) for one in found])
    return ResultTable(
        "shuffled-words",
        (
            *groups[1:],
            Column("n", "Texts"),
            *(Column(name, name.capitalize(), percent=True) for name in ("drops", "stays", "rises")),
            Column("left_out", "Left out"),
        ),
        tuple(
            (*own[1:], one.drops.n, *map(interval, (one.drops, one.stays, one.rises)), one.left_out)
            for own, one in zip(head, found, strict=True)
        ),
        title="With shuffled words",
        notes=(f"Intervals: {found[0].drops.confidence_level:.0%}, percentile bootstrap over items.",)
        if found
        else (),
    )


_SECTIONS: Mapping[str, Mapping[str, str]] = {
    "agreement": {
        "raters": "raters_agreement",
        "evaluator": "agreement",
        "raters_pairwise": "raters_pairwise",
        "evaluator_pairwise": "pairwise",
        "gap": "gap",
    },
    "weighted_f1": {"raters": "raters_f1", "evaluator": "f1"},
    "kappas": {
        "raters_fleiss": "raters_kappa",
        "evaluator_fleiss": "kappa",
        "raters_krippendorff": "raters_alpha",
        "evaluator_krippendorff": "alpha",
        "raters_ac1": "raters_ac1",
        "evaluator_ac1": "ac1",
    },
    "bias": {
        "all": "bias",
        "raters_agree": "bias_agreed",
        "raters_disagree": "bias_disagreed",
        "top_class_majority": "top_majority",
        "top_class_evaluator": "top_evaluator",
    },
    "numbers": {
        "pearson": "pearson",
        "spearman": "spearman",
        "kendall": "kendall",
        "shift": "shift",
        "mean_absolute_error": "error",
    },
}
"""Section of the JSON -> keys -> names of STATISTICS."""


HOW_TO_SEPARATE = (
    "These groups mix dimensions with different classes. Separate them by language and dimension."
)


def calibration_said(found: Sequence[Calibration]) -> list[str]:
    """Sentences on what is compared, which scores are constant, and where not to use each evaluator."""
    mixed = any(cell.why_numbers == MIXED for one in found for cell in one.cells)
    return [*(line for one in found for line in _said(one)), *([HOW_TO_SEPARATE] if mixed else [])]


def _said(found: Calibration) -> list[str]:
    judged = advice(found)
    return [
        f"{shown(found.evaluator)} against {shown(found.ratings)}; split raters: {MAJORITIES[found.options.majority]}.",
        *map(printable_text, (*judged.constants, *judged.sentences)),
        *(
            f"  {shown(called(one.group))} (n {one.n}): {one.verdict or NO_VERDICT}: {printable_text('; '.join(one.reasons))}"
            for one in judged.warned
        ),
    ]


def calibration_json(
    found: Calibration,
    judged: Advice,
    maps: Mapping[str, CalibrationMap] | None,
    averaged: str,
    split: Sequence[DimensionSplit] = (),
) -> Row:
    """The documented JSON. averaged: kind of mean at the top, `macro` (as in Multilingual) or `pooled` (over texts)."""
    overall = macro_averaged(found)
    top = _macro(overall[0]) if averaged == "macro" else _cell_sections(found.pooled)
    return {
        "evaluator": found.evaluator,
        "ratings": found.ratings,
        "averaged": averaged,
        "majority": found.options.majority,
        "majority_of_split_raters": MAJORITIES[found.options.majority],
        "undefined_kappa_as_zero": found.options.paper_kappa,
        "n_texts": sum(cell.n for cell in found.cells),
        "n_groups": len(found.cells),
        **top,
        "by_group": _cells(found.cells),
        "by_dimension": _cells(found.by_dimension),
        "pooled": _cells((found.pooled,))[0],
        "macro": [
            {"group": dict(one.group), "n_groups": one.n_cells, "n": one.n, **_macro(one)} for one in overall
        ],
        "not_to_use": {
            "sentence": judged.sentence,
            "constants": list(judged.constants),
            "rules": list(RULES),
            "groups": [asdict(one) for one in judged.warned],
        },
        "split_raters": split_json(split),
        "maps": None if maps is None else {dimension: _map(one) for dimension, one in maps.items()},
        **picked(found, "left_out", "notes"),
    }


def _cells(family: Sequence[Cell]) -> list[Row]:
    """Cells that are read together: their tests are corrected for their number."""
    return [
        _cell(cell, verdict, tests)
        for cell, verdict, tests in zip(family, verdicts_of(family), rule_tests(family), strict=True)
    ]


def _cell(cell: Cell, verdict: Verdict, tests: Tests) -> Row:
    return {
        "group": dict(cell.group),
        "scale": "classes" if cell.classes else "numbers",
        "why_numbers": cell.why_numbers,
        **picked(cell, "classes", "n", "n_items", "n_raters", "n_off_scale", "left_out"),
        "verdict": asdict(verdict),
        "tests": {name: picked(one, "p", "p_bh", "n_tests") for name, one in tests.items()},
        "constant": None if cell.constant is None else asdict(cell.constant),
        **_cell_sections(cell),
        "distributions": [
            {
                "raters_agree": one.kind,
                **picked(one, "majority", "evaluator", "n_no_majority"),
            }
            for one in cell.distributions
        ],
    }


def _cell_sections(cell: Cell) -> Row:
    def made(name: str) -> Row:
        return _estimate(cell.get(name), cell.why_numbers)

    return _in_sections(made)


def _estimate(found: Estimate | None, why_none: str | None = None) -> Row:
    return {**ends(found, why_none or NOT_APPLICABLE), "n": 0 if found is None else found.n}


def _macro(one: Summary) -> Row:
    def made(name: str) -> Row:
        found = one.statistics.get(name) or MacroMean(None, None, 0, 0)
        why = _UNDEFINED_IN_ALL if name in one.statistics else NOT_APPLICABLE
        return {
            "estimate": found.mean,
            "sd": found.sd,
            "n_groups": found.n_cells,
            "n_undefined": found.n_undefined,
            "reason": None if found.mean is not None else why,
        }

    return _in_sections(made)


def _in_sections(made: Callable[[str], Row]) -> Row:
    return {section: {key: made(name) for key, name in keys.items()} for section, keys in _SECTIONS.items()}


def _map(one: CalibrationMap) -> Row:
    return {
        **picked(one, "method", "fallback", "reason", "n", "n_left_out"),
        "n_items": one.n_clusters,
        "n_folds": one.n_folds,
        **{name: _estimate(getattr(one, name)) for name in _OF_MAPS},
        "knots": one.knots,
        "bins_before": [_bin(each) for each in one.before],
        "bins_after": [_bin(each) for each in one.after],
        "notes": one.notes,
    }


def _bin(one: ReliabilityBin) -> Row:
    return {**picked(one, "low", "high", "mean_score"), "human": _estimate(one.human)}
