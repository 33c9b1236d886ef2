"""Compare evaluators with people, and fill the rows of the result."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from core.analyses.calibrate.rows import (
    NO_VERDICT,
    SECTIONS,
    SHOWN_TESTS,
    VIEWS,
    Bin,
    Calibrated,
    ClassCount,
    Computed,
    Confusion,
    Distribution,
    Evaluated,
    Group,
    Json,
    Mapped,
    Mean,
    Model,
    NotToUse,
    RaterErrors,
    Shuffled,
    Split,
    SplitDimension,
    Temperature,
    Warned,
)
from core.results.calibration import results
from core.results.calibration.cells import KAPPAS, MIXED, STATISTICS, Cell, evaluators_of
from core.results.calibration.raters import RaterClasses, rater_classes
from core.results.calibration.repeats import Sensitivity, sensitivity
from core.results.calibration.results import (
    MAJORITIES,
    RULES,
    Advice,
    Calibration,
    MacroMean,
    Summary,
    Sweep,
    advice,
    called,
    macro_averaged,
    maps_of,
    resampling_of,
    rule_tests,
    temperature_sweep,
    verdicts_of,
)
from core.results.calibration.split import DEGREES, DimensionSplit, split_of
from core.results.cells import corrected_note, decimal, ends, interval, picked, plain
from core.results.confusion import EMPTY_ROW, Confusions, model_notes
from core.schema.analysis import Caution, Tell
from core.schema.rated import Rated
from core.schema.result_table import Interval
from core.stats.agreement import ALL_DEGREES
from core.stats.calibration import CalibrationMap, ReliabilityBin
from core.stats.resampling import Estimate
from core.tables.reading import printable_text, shown

NOT_APPLICABLE = "does not apply to these ratings"
NO_CLASSES = "ratings are numbers, not classes"
_UNDEFINED_IN_ALL = "undefined in every group"
_MOST_NAMED = 12
"""Groups that a note names at most; files have all."""
HOW_TO_SEPARATE = (
    "These groups mix dimensions with different classes. Separate them by language and dimension."
)
_MAPPED = tuple(
    name
    for name in (one.name for one in fields(CalibrationMap))
    if name.startswith(("error_", "gain", "calibration_error_"))
)


def computed(options: Any, data: Rated, tell: Tell) -> Calibrated:
    """Compare each evaluator with the raters. Raises InputError for unknown names, and if nothing matches."""
    every: list[Calibration] = []
    split: list[tuple[DimensionSplit, ...]] = []
    runs = []
    for one in data.scored:
        tell(f"comparing {shown(one.table.file_name)}")
        task = data.task or one.task
        evaluators = evaluators_of(
            one.table,
            data.ratings,
            dimension=options.dimension,
            columns=options.columns or None,
            run_dimension=one.dimension,
        )
        own = [
            results.calibrate(
                data.ratings,
                one.table,
                each,
                options,
                group_by=options.by,
                dimensions=task.dimensions if task else (),
                scale=data.scale,
            )
            for each in evaluators
        ]
        every += own
        split += [split_of(each, one.table, one.output) for each in own]
        runs += [(one.output, own[0])] if one.output is not None else []
    maps = [None if options.map is None else maps_of(one, method=options.map) for one in every]
    raters = [rater_classes(one) if options.dawid_skene else None for one in every]
    sweep, twins = _sweep(runs, options), None
    if data.shuffled is not None and data.scored[0].output is not None:
        twins = sensitivity(data.scored[0].output, data.shuffled, **resampling_of(options))
    judged = [advice(one) for one in every]
    listed = [
        _evaluated(one, own, apart, mapped, errors, options.averaged)
        for one, own, apart, mapped, errors in zip(every, judged, split, maps, raters, strict=True)
    ]
    several = [one for one in every if len(one.cells) > 1]
    groups = tuple(group for one in listed for group in one.by_group)
    overall = tuple(
        group
        for one, own in zip(listed, every, strict=True)
        if own in several
        for group in (*one.by_dimension, one.pooled)
    )
    mapped = [own for one in listed for own in one.maps or ()]
    # Raters are those of the first evaluator: all are usually compared on the same texts.
    models = listed[0].dawid_skene
    return Calibrated(
        evaluators=tuple(listed),
        temperatures=None if sweep is None else plain(sweep),
        shuffled_words=None if twins is None else plain(twins),
        groups=groups,
        overall=overall if options.averaged == "pooled" else (),
        means=tuple(
            mean for one, own in zip(listed, every, strict=True) if own in several for mean in one.macro
        )
        if options.averaged == "macro"
        else (),
        warned=tuple(warned for one in listed for warned in one.not_to_use.groups),
        classes=tuple(_class_counts(groups)),
        split=tuple(degree for one in listed for own in one.split_raters for degree in own.degrees),
        mapped=None if options.map is None else tuple(mapped),
        bins=None
        if options.map is None
        else tuple(bin for one in mapped for bin in (*one.bins_before, *one.bins_after)),
        raters=None
        if models is None
        else tuple(rater for one in models if one.reason is None for rater in one.raters),
        confusion=None if models is None else tuple(_confusion_rows(models)),
        against_model=None
        if models is None
        else tuple(own for one in listed for own in one.dawid_skene or ()),
        sweep=None if sweep is None else tuple(_temperatures(sweep)),
        twins=None if twins is None else tuple(_shuffled(twins)),
        table_notes=_notes(every, several, split, maps, raters[0], sweep, twins, options.averaged),
        sentences=tuple(_said(every, judged)),
        judgements=tuple((code, printable_text(said)) for one in judged for code, said in one.judgements),
        computed=tuple(map(Computed, every, maps, raters)),
    )


def _sweep(runs: Sequence[tuple[Any, Calibration]], options: Any) -> Sweep | None:
    """Agreement by temperature if the runs have different temperatures, else None."""
    if len({output.settings.get("temperature") for output, _ in runs}) < 2:
        return None
    return temperature_sweep(runs, n_resamples=options.n_resamples, confidence_level=options.confidence_level)


def _said(found: Sequence[Calibration], judged: Sequence[Advice]) -> Iterator[str]:
    for one, own in zip(found, judged, strict=True):
        yield f"{shown(one.evaluator)} against {shown(one.ratings)}; split raters: {MAJORITIES[one.options.majority]}."
        yield from map(Caution, map(printable_text, own.constants))
        yield from map(printable_text, own.sentences)
        for group in own.warned:
            named, why = shown(called(group.group)), printable_text("; ".join(group.reasons))
            yield f"  {named} (n {group.n}): {group.verdict or NO_VERDICT}: {why}"
    if any(cell.why_numbers == MIXED for one in found for cell in one.cells):
        yield HOW_TO_SEPARATE


def _evaluated(
    calibration: Calibration,
    judged: Advice,
    split: Sequence[DimensionSplit],
    maps: Mapping[str, CalibrationMap] | None,
    raters: Mapping[str, RaterClasses] | None,
    averaged: str,
) -> Evaluated:
    summaries = macro_averaged(calibration)
    top = _mean_sections(summaries[0]) if averaged == "macro" else _sections(calibration.pooled)
    (pooled,) = _groups(calibration, (calibration.pooled,))
    return Evaluated(
        **top,
        evaluator=calibration.evaluator,
        ratings=calibration.ratings,
        averaged=averaged,
        majority=calibration.options.majority,
        majority_of_split_raters=MAJORITIES[calibration.options.majority],
        undefined_kappa_as_zero=calibration.options.paper_kappa,
        n_texts=sum(cell.n for cell in calibration.cells),
        n_groups=len(calibration.cells),
        by_group=tuple(_groups(calibration, calibration.cells)),
        by_dimension=tuple(_groups(calibration, calibration.by_dimension)),
        pooled=pooled,
        macro=tuple(_mean(calibration.evaluator, one) for one in summaries),
        not_to_use=NotToUse(
            judged.sentence, judged.constants, RULES, tuple(_warned(calibration.evaluator, judged))
        ),
        split_raters=tuple(_split_dimension(calibration.evaluator, one) for one in split),
        maps=None if maps is None else tuple(_mapped(calibration.evaluator, *one) for one in maps.items()),
        dawid_skene=None
        if raters is None
        else tuple(_model(calibration.evaluator, *one) for one in raters.items()),
        left_out=calibration.left_out,
        notes=calibration.notes,
    )


def _groups(calibration: Calibration, family: Sequence[Cell]) -> Iterator[Group]:
    """Cells that are read together: their tests are corrected for their number."""
    for cell, verdict, tests in zip(family, verdicts_of(family), rule_tests(family), strict=True):
        yield Group(
            **_sections(cell),
            evaluator=calibration.evaluator,
            group=cell.group,
            called=called(cell.group),
            n=cell.n,
            n_used=None,
            n_items=cell.n_items,
            n_raters=cell.n_raters,
            judged=verdict.value or NO_VERDICT,
            n_off_scale=cell.n_off_scale,
            listed=" ".join(f"{value:g}" for value in cell.classes),
            left_out=cell.left_out,
            statistics={
                name: interval(cell.get(name), cell.why_numbers or NOT_APPLICABLE) for name in STATISTICS
            },
            p={
                key: value
                for name in SHOWN_TESTS
                if name in tests
                for key, value in ((f"{name}_p", tests[name].p), (f"{name}_p_bh", tests[name].p_bh))
            },
            scale="classes" if cell.classes else "numbers",
            why_numbers=cell.why_numbers,
            classes=cell.classes,
            verdict=asdict(verdict),
            tests={name: picked(one, "p", "p_bh", "n_tests") for name, one in tests.items()},
            constant=None if cell.constant is None else asdict(cell.constant),
            distributions=tuple(
                Distribution(one.kind, one.majority, one.evaluator, one.n_no_majority)
                for one in cell.distributions
            ),
            used={view: cell.n_used(names) for view, (_, names) in VIEWS.items()},
        )


def _sections(cell: Cell) -> dict[str, Json]:
    return _sectioned(lambda name: _estimate(cell.get(name), cell.why_numbers))


def _estimate(estimate: Estimate | None, why_none: str | None = None) -> Json:
    return {**ends(estimate, why_none or NOT_APPLICABLE), "n": 0 if estimate is None else estimate.n}


def _mean_sections(one: Summary) -> dict[str, Json]:
    def made(name: str) -> Json:
        found = one.statistics.get(name) or MacroMean(None, None, 0, 0)
        why = _UNDEFINED_IN_ALL if name in one.statistics else NOT_APPLICABLE
        return {
            "estimate": found.mean,
            "sd": found.sd,
            "n_groups": found.n_cells,
            "n_undefined": found.n_undefined,
            "reason": None if found.mean is not None else why,
        }

    return _sectioned(made)


def _sectioned(made: Any) -> dict[str, Json]:
    return {section: {key: made(name) for key, name in keys.items()} for section, keys in SECTIONS.items()}


def _mean(evaluator: str, one: Summary) -> Mean:
    return Mean(
        **_mean_sections(one),
        evaluator=evaluator,
        of_column=next(iter(one.group), "all"),
        value=next(iter(one.group.values()), "all"),
        called=called(one.group) if one.group else "all groups",
        n_groups=one.n_cells,
        n=one.n,
        group=one.group,
        statistics={
            key: value
            for name in STATISTICS
            for key, value in zip(
                (name, f"{name}_sd"), _mean_and_sd(name, one.statistics.get(name)), strict=True
            )
        },
        applicable=tuple(one.statistics),
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


def _warned(evaluator: str, judged: Advice) -> Iterator[Warned]:
    for one in judged.warned:
        yield Warned(
            *(evaluator, one.group, called(one.group), one.n, one.verdict or NO_VERDICT),
            *("; ".join(one.reasons), one.verdict, one.reasons),
        )


def _class_counts(groups: Iterable[Group]) -> Iterator[ClassCount]:
    for group in groups:
        for one in group.distributions:
            for value, majority, by_evaluator in zip(group.classes, one.majority, one.evaluator, strict=True):
                yield ClassCount(
                    *(group.evaluator, group.group, group.called, one.raters_agree, value),
                    *(majority, by_evaluator, one.n_no_majority),
                )


_SPLIT = tuple(
    name
    for name in (one.name for one in fields(Split))
    if name.startswith(("rater_", "judge_", "agreement_", "distance_", "distribution_"))
)


def _split_dimension(evaluator: str, one: DimensionSplit) -> SplitDimension:
    if one.comparison is None:
        return SplitDimension(one.dimension, one.reason, one.raters_per_text, 0, 0, 0, None, ())
    counts = (one.comparison.n, one.comparison.n_left_out, one.comparison.n_answers)
    follows = _counted(one.comparison.follows)
    degrees = []
    for degree in one.comparison.degrees:
        numbers: dict[str, Any] = {name: _counted(getattr(degree, name)) for name in _SPLIT}
        degrees.append(
            Split(
                *(evaluator, one.dimension, DEGREES[degree.kind], degree.kind, degree.n),
                **numbers,
                follows=follows if degree.kind == ALL_DEGREES else None,
                raters_per_text=one.raters_per_text,
                most_answers=one.comparison.n_answers,
            )
        )
    return SplitDimension(one.dimension, one.reason, one.raters_per_text, *counts, follows, tuple(degrees))


def _mapped(evaluator: str, dimension: str, one: CalibrationMap) -> Mapped:
    def bins(which: str, found: Iterable[ReliabilityBin]) -> tuple[Bin, ...]:
        return tuple(
            Bin(
                evaluator,
                dimension,
                which,
                each.low,
                each.high,
                each.mean_score,
                _interval_with_n(each.human),
            )
            for each in found
        )

    numbers: dict[str, Any] = {name: _interval_with_n(getattr(one, name)) for name in _MAPPED}
    return Mapped(
        evaluator=evaluator,
        dimension=dimension,
        **picked(one, "method", "fallback", "reason", "n", "n_left_out", "n_folds", "knots", "notes"),
        n_items=one.n_clusters,
        **numbers,
        written=" ".join(f"{x:g}:{y:g}" for x, y in one.knots),
        remarks="; ".join(_map_notes(one)),
        bins_before=bins("before mapping", one.before),
        bins_after=bins("after mapping", one.after),
    )


def _counted(estimate: Estimate, **further: int) -> Interval:
    """An estimate as a cell whose JSON says why there is no interval even where none was asked for. further: entries beside it."""
    return replace(interval(estimate), how=(("interval_reason", estimate.interval_reason), *further.items()))


def _interval_with_n(estimate: Estimate) -> Interval:
    """An estimate as a cell whose JSON says its n."""
    return _counted(estimate, n=estimate.n)


def _map_notes(one: CalibrationMap) -> list[str]:
    return [note for note in (one.reason, one.fallback, *one.notes) if note]


def _model(evaluator: str, dimension: str, one: RaterClasses) -> Model:
    found = one.confusions
    raters = tuple(
        RaterErrors(
            dimension=dimension,
            labels=rater.accuracy.n,
            accuracy=_counted(rater.accuracy),
            difference=_counted(rater.difference),
            **picked(rater, "rater", "p", "p_holm", "below_others", "expected", "matrix"),
        )
        for rater in found.raters
    )
    return Model(
        evaluator=evaluator,
        dimension=dimension,
        with_majority=_interval_with_n(one.with_majority),
        with_model=_interval_with_n(one.with_model),
        n_changed=one.n_changed,
        raters=raters,
        **{each.name: getattr(found, each.name) for each in fields(Confusions) if each.name != "raters"},
    )


def _confusion_rows(models: Sequence[Model]) -> Iterator[Confusion]:
    classes = list(dict.fromkeys(name for one in models for name in one.classes))
    for model in models:
        for rater in model.raters if model.reason is None else ():
            for name, expected, shares in zip(model.classes, rater.expected, rater.matrix, strict=True):
                by_class = dict(zip(model.classes, shares, strict=True))
                answers = {
                    one: Interval(by_class[one], reason=EMPTY_ROW if by_class[one] is None else "")
                    if one in by_class
                    else None
                    for one in classes
                }
                yield Confusion(model.dimension, rater.rater, name, expected, answers)


def _temperatures(sweep: Sweep) -> Iterator[Temperature]:
    for one in sweep.points:
        yield Temperature(
            *(one.temperature, one.evaluator, one.dimension, one.n_repeats),
            interval(one.agreement, NOT_APPLICABLE),
            interval(one.kappa, NOT_APPLICABLE),
            interval(one.repeats_equal, "its repeats are unknown"),
        )


def _shuffled(twins: Sequence[Sensitivity]) -> Iterator[Shuffled]:
    for one in twins:
        shares = (interval(one.drops), interval(one.stays), interval(one.rises))
        yield Shuffled(one.group, called(one.group), one.drops.n, *shares, one.left_out)


def _notes(
    every: Sequence[Calibration],
    several: Sequence[Calibration],
    split: Sequence[Sequence[DimensionSplit]],
    maps: Sequence[Mapping[str, CalibrationMap] | None],
    raters: Mapping[str, RaterClasses] | None,
    sweep: Sweep | None,
    twins: Sequence[Sensitivity] | None,
    averaged: str,
) -> dict[str, tuple[str, ...]]:
    """Table -> its notes, of those that have any."""
    found = _notes_of_groups("", [(one, one.cells, cell) for one in every for cell in one.cells])
    if averaged == "pooled":
        families = [(one, family) for one in several for family in (one.by_dimension, (one.pooled,))]
        found |= _notes_of_groups(
            "pooled-", [(one, family, cell) for one, family in families for cell in family]
        )
    if several and averaged == "macro":
        options = several[0].options
        zero = "counted as 0" if options.paper_kappa else "left out of the mean; +n shows how many"
        found |= dict.fromkeys(
            ("means-agreement", "means-numbers"),
            (
                "Each group counts once. ±: standard deviation over groups.",
                f"Split raters: {MAJORITIES[options.majority]}. Undefined kappas: {zero}.",
            ),
        )
    found["classes"] = (
        "Texts by class, over texts with a majority and a score. No majority: number of texts without a majority, for each kind of agreement.",
    )
    found["split-raters"] = tuple(_notes_of_split([one for own in split for one in own]))
    found["map"] = (
        "Error: mean absolute error. Gain above 0: the score of a text helps to predict its rating.",
        *(
            f"{dimension}: {note}"
            for own in maps
            for dimension, one in (own or {}).items()
            for note in _map_notes(one)
        ),
    )
    if raters is not None:
        models = [(dimension, one.confusions) for dimension, one in raters.items()]
        found["dawid-skene"] = tuple(
            dict.fromkeys(note for name, one in models for note in model_notes(name, one))
        )
        if any(one.reason is None for _, one in models):
            found["confusion"] = (
                "Rows: the class that the model estimates. Columns: the answer. Right answers are on the diagonal.",
            )
        rule = MAJORITIES[every[0].options.majority]
        found["dawid-skene-agreement"] = (
            f"Split raters in the majority: {rule}. Another class: the majority and the model's most probable class differ."
            if models
            else f"Not estimated: {NO_CLASSES}.",
        )
    if sweep is not None:
        found["temperatures"] = sweep.notes
    if twins:
        level = twins[0].drops.confidence_level
        found["shuffled-words"] = (f"Intervals: {level:.0%}, percentile bootstrap over items.",)
    return found


_OfFamily = tuple[Calibration, Sequence[Cell], Cell]
"""An evaluator, the cells whose tests are corrected together, and one of them."""


def _notes_of_groups(prefix: str, rows: Sequence[_OfFamily]) -> dict[str, tuple[str, ...]]:
    numbers = [row for row in rows if not row[2].classes and row[2].statistics]
    as_classes = len(numbers) < len(rows)
    common = tuple(_common_notes([(one, cell) for one, _, cell in rows]))
    found = {}
    for view in VIEWS:
        own = numbers if view == "numbers" else rows
        first = view == ("agreement" if as_classes else "numbers")
        n_tests = _n_tests(own)
        found[f"{prefix}{view}"] = (
            *dict.fromkeys(
                f"{called(cell.group)}: compared as numbers: {cell.why_numbers}"
                for _, _, cell in own
                if view == "numbers"
            ),
            *(
                note
                for name, (of_view, _) in SHOWN_TESTS.items()
                if of_view == view or (name == "chance" and view == "numbers")
                for note in corrected_note(
                    results.ADVICE_CORRECTION, n_tests.get(name, 0), "the groups of an evaluator"
                )
            ),
            *(common if first else ()),
        )
    return found


def _n_tests(rows: Sequence[_OfFamily]) -> dict[str, int]:
    """Test -> the most cells with a p in a family."""
    found: dict[str, int] = {}
    for family in {id(family): family for _, family, _ in rows}.values():
        shown_cells = {id(cell) for _, _, cell in rows}
        for cell, tests in zip(family, rule_tests(family), strict=True):
            for name, one in tests.items() if id(cell) in shown_cells else ():
                found[name] = max(found.get(name, 0), one.n_tests)
    return found


def _common_notes(rows: Sequence[tuple[Calibration, Cell]]) -> Iterator[str]:
    """Notes on intervals, on what each group leaves out, and on assumptions."""
    found = list({id(one): one for one, _ in rows}.values())
    lost: dict[str, dict[str, int]] = {}
    for one, cell in rows:
        name = called(cell.group) if len(found) == 1 else f"{one.evaluator}, {called(cell.group)}"
        for reason, n in cell.left_out.items():
            lost.setdefault(reason, {})[name] = n
    levels = {one.options.confidence_level for one in found if one.options.n_resamples}
    yield from dict.fromkeys(
        [
            *(f"Intervals: {level:.0%}, percentile bootstrap over items." for level in levels),
            *(f"Texts left out: {reason}: {_where(by_group)}" for reason, by_group in lost.items()),
            *(f"Ratings left out: {reason}: {n:,}" for one in found for reason, n in one.left_out.items()),
            *(note for one in found for note in one.notes),
        ]
    )


def _where(by_group: Mapping[str, int]) -> str:
    named = [f"{n:,} of {group}" for group, n in by_group.items()]
    return "; ".join(named[:_MOST_NAMED]) + (" ..." if len(named) > _MOST_NAMED else "")


def _notes_of_split(found: Sequence[DimensionSplit]) -> Iterator[str]:
    yield (
        "Each rater is left out in turn; rater and evaluator are compared with the same other raters, who also decide "
        "the row. Agrees: probability of the answer of a random other rater."
    )
    yield (
        "Distance: Jensen-Shannon distance of one answer from the distribution of the others, 0 to 1. It depends on the "
        "number of raters, for both: read the difference."
    )
    if any(one.comparison is not None and one.comparison.n_answers > 1 for one in found):
        yield (
            "Its doubt follows theirs: Spearman's correlation, over texts, of the share of its answers that differ and "
            "of the share of raters' that differ."
        )
    if any(one.raters_per_text is not None and one.raters_per_text < 3 for one in found):
        yield "Rows by how the others split need three raters a text."
    gaps = [
        degree.agreement_gap
        for one in found
        if one.comparison is not None
        for degree in one.comparison.degrees
    ]
    for level in {gap.confidence_level for gap in gaps if gap.low is not None}:
        yield f"Intervals: {level:.0%}, percentile bootstrap over items, each for itself."
    yield from dict.fromkeys(
        f"{one.dimension}: not compared: {one.reason}" for one in found if one.reason is not None
    )
