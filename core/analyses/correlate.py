"""Correlations of metrics with quality, which people rated or the damage level states: of one file, or of several side by side."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.analyses.levels import ConstantScore
from core.schema.analysis import COEFFICIENTS, Analysis, Caution, Table, Tell
from core.schema.correlating import CorrelateOptions
from core.schema.result_table import Interval
from core.schema.rows import WHOLE, cells, column, columns, documented_columns, entry, row
from core.schema.settings import Remark

if TYPE_CHECKING:
    from core.joining.quality import Quality
    from core.results.correlations.files import JudgeByModel
    from core.results.correlations.table import (
        CorrelationReport,
        MetricCorrelation,
        Resampled,
        View,
    )
    from core.stats.resampling import Estimate

LONG_WORK = 100_000_000
"""Scores times resamples above which it takes more than a few seconds."""
BY_MODEL = "judges-by-model"
FOLLOWS_LEVEL = "judge-table-2"
"""Name of the table of several files."""


@row
class EndsOver:
    """The interval of one kind of resampling."""

    low: float | None = entry("its lower end")
    high: float | None = entry("its upper end")
    reason: str | None = entry("why there is no interval, or why not to trust it")
    n_resamples: int = entry("resamples drawn")
    monte_carlo_error: float | None = entry(
        "standard error of the worse end from the limited number of resamples"
    )


@row
class Fisher:
    """Fisher's interval."""

    low: float = entry("its lower end")
    high: float = entry("its upper end")


@row
class Pooled:
    """A coefficient over all rows."""

    value: Interval = column(
        "the coefficient over all rows; JSON adds how it was resampled", heat="coefficient", ends="inline"
    )
    resampled: str = entry("the unit of `low` and `high`: rows or items")
    over_rows: EndsOver | None = entry("the interval over rows", rows=EndsOver)
    over_items: EndsOver | None = entry("the interval over items", rows=EndsOver)
    fisher: Fisher | None = entry("Fisher's interval, null where it does not apply", rows=Fisher)


@row
class AllEnds:
    """The ends of every kind of interval of a coefficient over all rows."""

    rows_low: float | None = column("lower end over rows", shown=False)
    rows_high: float | None = column("upper end over rows", shown=False)
    items_low: float | None = column("lower end over items", shown=False)
    items_high: float | None = column("upper end over items", shown=False)
    fisher_low: float | None = column("lower end by Fisher's z", shown=False)
    fisher_high: float | None = column("upper end by Fisher's z", shown=False)


@row
class PerItem:
    """A coefficient within items."""

    value: Interval = column(
        "the coefficient within each item, averaged over items", heat="coefficient", ends="inline"
    )
    n_items: int = column("items with a value", title="items")
    n_items_left_out: int = column("items without a value", shown=False)


@row
class PerSystem:
    """A coefficient between systems."""

    value: Interval = column(
        "the coefficient between systems' means; naive, because noise of the items lowers it",
        heat="coefficient",
        ends="inline",
    )
    n_systems: int = column("systems", title="systems")
    n_systems_left_out: int = entry("systems without a score or a rating")


@row
class Corrected:
    """Pearson between systems, corrected for the noise of items."""

    value: Interval = column(
        "Pearson of these systems over infinitely many items", heat="coefficient", ends="inline"
    )
    undefined_share: float | None = column(
        "share of resamples in which it is undefined", title="undefined %", percent=True, places=0
    )
    noise_x: float | None = column(
        "noise as a share of the observed variance of mean scores", name="noise_of_scores", shown=False
    )
    noise_y: float | None = column(
        "noise as a share of the observed variance of mean ratings", name="noise_of_ratings", shown=False
    )
    naive: float | None = entry("Pearson of the observed means")
    uncut: float | None = entry("the estimate before it is cut to [-1, 1]")
    confidence_level: float | None = entry("of the interval")


@row
class Accuracy:
    """Pairs of systems in the raters' order."""

    value: Interval = column(
        "share of pairs of systems in the raters' order", title="accuracy", heat="share", ends="inline"
    )
    n_pairs: int = column("pairs of systems", shown=False)
    n_systems_left_out: int = entry("systems without a score or a rating")


@row
class Bound:
    """Bounds of the accuracy over infinitely many items."""

    low: float | None = entry("share of pairs that the metric certainly orders as people do")
    high: float | None = entry("1 minus the share of pairs that it certainly orders the other way")
    n_pairs: int = entry("pairs of systems")
    n_settled: int = entry("pairs whose order is certain on both sides")
    confidence_level: float = entry("of that certainty")
    reason: str | None = entry("why there are no bounds")


@row
class GivenSystem:
    """A coefficient with the system controlled for."""

    value: Interval = column(
        "partial correlation: what remains after each system's mean is removed; at most 1,000 resamples",
        heat="coefficient",
        ends="inline",
    )
    n_rows: int = entry("rows")
    n_rows_left_out: int = entry("rows left out")


@row
class CorrelationRow:
    """One metric in one group of rows."""

    named: Mapping[str, str] = columns(
        "column -> value of the group, such as `file`, `dimension` or a column to group by",
        key="",
        names_row=True,
    )
    metric: str = column("the metric", key="", names_row=True)
    group: Mapping[str, str] = entry("column -> value of the group, `metric` among them")
    family: str = column("its family")
    signature: str = column("how it was computed", shown=False)
    direction: str = column(
        "the better end of its scores; the sign of `lower` ones is turned", title="better"
    )
    against: str = column(
        "`human`, `-level` (the negative level) or `level` (then -1 is perfect)", shown=False
    )
    n: int = column("rows used")
    n_left_out: int = column("rows left out", title="left out")
    left_out: Mapping[str, int] = column("reason -> rows left out", shown=False)
    constant_value: float | None = column(
        "the score of at least 95 % of the texts, if there is one", key="", shown=False
    )
    constant_share: float | None = column("its share of the scores", key="", shown=False)
    constant: ConstantScore | None = entry(
        "the score of at least 95 % of the texts, null if scores vary", rows=ConstantScore
    )
    pearson: Pooled = cells("Pearson's r", rows=Pooled)
    spearman: Pooled = cells("Spearman's rho", rows=Pooled)
    kendall: Pooled = cells("Kendall's tau-b", rows=Pooled)
    resampled: str = column("the unit of their intervals", key="", shown=False)
    pearson_ends: AllEnds = cells(
        "ends of every interval of Pearson's r", rows=AllEnds, key="", name="pearson"
    )
    spearman_ends: AllEnds = cells(
        "ends of every interval of Spearman's rho", rows=AllEnds, key="", name="spearman"
    )
    kendall_ends: AllEnds = cells(
        "ends of every interval of Kendall's tau-b", rows=AllEnds, key="", name="kendall"
    )
    pearson_per_item: PerItem = cells("Pearson's r within items", rows=PerItem)
    spearman_per_item: PerItem = cells("Spearman's rho within items", rows=PerItem)
    kendall_per_item: PerItem = cells("Kendall's tau-b within items", rows=PerItem)
    pearson_per_system: PerSystem = cells("Pearson's r between systems; ratings only", rows=PerSystem)
    spearman_per_system: PerSystem = cells("Spearman's rho between systems; ratings only", rows=PerSystem)
    kendall_per_system: PerSystem = cells("Kendall's tau-b between systems; ratings only", rows=PerSystem)
    pearson_per_system_corrected: Corrected = cells(
        "Pearson between systems, noise-corrected; ratings only", rows=Corrected
    )
    spearman_per_system_corrected: Interval = entry(
        "always undefined: no correction of ranks is known", ends="object"
    )
    kendall_per_system_corrected: Interval = entry(
        "always undefined: no correction of ranks is known", ends="object"
    )
    system_accuracy: Accuracy = cells("pairs of systems in the raters' order; ratings only", rows=Accuracy)
    system_accuracy_at_least: float | None = column(
        "its lower bound over infinitely many items", title="at least", key=""
    )
    system_accuracy_at_most: float | None = column(
        "its upper bound over infinitely many items", title="at most", key=""
    )
    system_accuracy_n_settled: int = column("pairs whose order is certain on both sides", key="", shown=False)
    system_accuracy_bound: Bound | None = entry(
        "its bounds over infinitely many items, null without ratings or resamples", rows=Bound
    )
    system_scores: str | None = column(
        "texts over which a metric's score of a system is averaged: all or rated", shown=False
    )
    pearson_given_system: GivenSystem = cells("Pearson's r given the system", rows=GivenSystem)
    spearman_given_system: GivenSystem = cells("Spearman's rho given the system", rows=GivenSystem)
    kendall_given_system: GivenSystem = cells("Kendall's tau-b given the system", rows=GivenSystem)
    texts: Mapping[str, tuple[str, ...]] = entry(
        "what the rows say of their texts: datasets, tasks, languages and systems"
    )


@row
class JudgeRow:
    """A metric of one file as a technique with a model."""

    technique: str = column("how it judges", title="Technique", names_row=True)
    model: str | None = column(
        "the model, as its signature or a column of the file names it", title="Model", names_row=True
    )
    size: float | None = column(
        "billions of parameters, from the model's name or the user", title="Size, billions", general=True
    )
    metric: str = column("the metric", title="Metric")
    file: str = column("the file or run", title="File", key="")
    named: Mapping[str, str | None] = columns("`group_` and a column to group by -> value", key="")
    group: Mapping[str, str] = entry("column -> value of the group, `metric` and `file` among them")
    n: int = column("rows used")
    pearson: Interval = column(
        "Pearson's r over all rows, with its interval over rows or items", title="Pearson", ends="object"
    )
    kendall_per_item: Interval = column(
        "Kendall's tau-b within each item, averaged over items", title="Kendall per item", ends="object"
    )
    n_items: int | None = column("items with a value", title="items")


@row
class FollowsLevelRow:
    """One metric against the negative level, as Factual's Table 2 reports it."""

    metric: str = column("the metric", title="Score", names_row=True)
    signature: str = column("how it was computed", shown=False)
    pearson_over_rows: Interval = column(
        "Pearson over all rows, with the interval over rows", title="Pearson, over rows"
    )
    pearson_over_questions: Interval = column(
        "the same with the interval over questions", title="Pearson, over questions"
    )
    kendall_per_question: Interval = column("Kendall's tau-b within each question, averaged", title="Kendall")
    n: int = column("rows used", title="Rows")
    questions: int = column(
        "questions with a defined Kendall; it is undefined where all scores are equal", title="Questions"
    )
    left_out: Mapping[str, int] = column("reason -> rows left out", title="Rows left out")


@row
class Correlations:
    """Every metric in every group."""

    correlations: tuple[CorrelationRow, ...] = entry(
        "each metric in each group", key=WHOLE, rows=CorrelationRow
    )
    judges_by_model: tuple[JudgeRow, ...] | None = entry(
        "with several files, in the same order", rows=JudgeRow
    )
    report: "CorrelationReport"
    """As it was computed."""
    resampled: "Resampled"
    sentences: tuple[str, ...]
    view: "View | None" = None
    """The coefficients that readers see; None: those over all rows, and the most important of each other view."""


def _unfit(options: CorrelateOptions, of: Mapping[str, object]) -> list[Remark]:
    """What needs levels, or several files."""
    problems = []
    if options.raw_level and of["with_"] != "level":
        problems.append(Remark("raw_level", "only with {with_=level}"))
    if options.sizes and not of["several"]:
        problems.append(Remark("sizes", "only for several scores"))
    return problems


def compute(options: CorrelateOptions, quality: "Quality", *, tell: Tell) -> Correlations:
    """Correlate every metric of each file with the ratings, or with the level."""
    from core.results.correlations.files import correlate_files, judges_by_model
    from core.results.correlations.table import correlate_dimensions, target_sentence

    files, first = quality.files, quality.files[0]
    with_ = "level" if first.ratings is None else "human"
    ANALYSIS.refuse(_unfit(options, {"with_": with_, "several": bool(first.name)}))
    asked: dict[str, Any] = {"options": options, "use": quality.use, "tell": tell}
    if len(files) == 1:
        report, judges = correlate_dimensions(first.table, first.ratings, **asked), None
    else:
        report = correlate_files(files, **asked)
        judges = judges_by_model(report, files, options.sizes)
    said = (target_sentence(report, first.ratings), *map(Caution, report.constants))
    return correlations(report, options.resample, said, judges)


def correlations(
    report: "CorrelationReport",
    resampled: "Resampled" = "rows",
    sentences: tuple[str, ...] = (),
    judges: "list[JudgeByModel] | None" = None,
    view: "View | None" = None,
) -> Correlations:
    """A report as every door shows it. resampled: the kind of interval of coefficients over all rows."""
    return Correlations(
        tuple(_correlation_row(one, report.options, resampled) for one in report.rows),
        None if judges is None else tuple(_judge_row(one, resampled) for one in judges),
        report,
        resampled,
        sentences,
        view,
    )


def _follows_level(found: Correlations) -> tuple[FollowsLevelRow, ...] | None:
    """The rows of Factual's Table 2: every metric over all rows, against the level."""
    from core.results.cells import interval

    report = found.report
    whole = all(one.group.keys() <= {"metric"} for one in report.rows)
    if report.against != "-level" or not whole or not {"pearson", "kendall"} <= {*report.options.methods}:
        return None
    rows = []
    for one in report.rows:
        pooled, kendall = one.pooled.get("pearson"), one.per_item.get("kendall")
        rows.append(
            FollowsLevelRow(
                metric=one.metric.name,
                signature=one.metric.signature,
                pearson_over_rows=interval(pooled.over_rows if pooled else None),
                pearson_over_questions=interval(pooled.over_items if pooled else None),
                kendall_per_question=interval(kendall),
                n=one.n,
                questions=kendall.n_clusters if kendall else 0,
                left_out=one.left_out,
            )
        )
    return tuple(rows)


def _level_notes(found: Correlations) -> tuple[str, ...]:
    options = found.report.options
    drawn = (
        f"Intervals: {options.confidence_level:.0%}, percentile bootstrap, {options.n_resamples:,} resamples."
    )
    return (
        *((drawn,) if options.n_resamples else ()),
        "Questions: those with a defined Kendall; it is undefined where all scores of a question are equal.",
    )


def _undefined(why: str) -> Interval:
    return Interval(None, reason=why, how=(("interval_reason", why),))


def _number(estimate: "Estimate | None", why_none: str) -> Interval:
    from core.results.cells import drawn_how, interval, width_warned

    return _undefined(why_none) if estimate is None else drawn_how(width_warned(interval(estimate)), estimate)


def _correlation_row(
    found: "MetricCorrelation", options: CorrelateOptions, resampled: "Resampled"
) -> CorrelationRow:
    from dataclasses import asdict

    from core.results.cells import drawn_how, item_mean, width_warned
    from core.results.correlations.table import COMPUTING, NO_RATINGS, NOT_ASKED, ONE_SYSTEM, RANKS, own_name

    human = found.against == "human"
    why_none = NOT_ASKED if found.is_complete else COMPUTING
    why_no_systems = why_none if human else NO_RATINGS
    why_not_given = why_none if found.partial or not found.is_complete else ONE_SYSTEM
    constant = None if found.constant is None else ConstantScore(**asdict(found.constant))
    own: dict[str, Any] = {}
    for method in COEFFICIENTS:
        own[method] = _pooled(found, method, resampled)
        own[f"{method}_ends"] = _all_ends(found, method)
        within = found.per_item.get(method)
        own[f"{method}_per_item"] = PerItem(
            _undefined(why_none) if within is None else drawn_how(width_warned(item_mean(within)), within),
            *((0, 0) if within is None else (within.n_clusters, within.n_left_out)),
        )
        between = found.per_system.get(method)
        counts = (0, 0) if between is None else (between.n, between.n_left_out)
        own[f"{method}_per_system"] = PerSystem(_number(between, why_no_systems), *counts)
        given = found.partial.get(method)
        counts = (0, 0) if given is None else (given.n, given.n_left_out)
        own[f"{method}_given_system"] = GivenSystem(_number(given, why_not_given), *counts)
    bound, accuracy = found.accuracy_bound, found.system_accuracy
    counts = (0, 0) if accuracy is None else (accuracy.n, accuracy.n_left_out)
    return CorrelationRow(
        named={own_name(name): value for name, value in found.group.items() if name != "metric"},
        metric=found.group["metric"],
        group=found.group,
        family=found.metric.family,
        signature=found.metric.signature,
        direction=found.metric.direction,
        against=found.against,
        n=found.n,
        n_left_out=found.n_left_out,
        left_out=found.left_out,
        constant_value=None if constant is None else constant.value,
        constant_share=None if constant is None else constant.share,
        constant=constant,
        resampled=resampled,
        pearson_per_system_corrected=_corrected(found, why_no_systems),
        spearman_per_system_corrected=_undefined(RANKS),
        kendall_per_system_corrected=_undefined(RANKS),
        system_accuracy=Accuracy(_number(accuracy, why_no_systems), *counts),
        system_accuracy_at_least=None if bound is None else bound.low,
        system_accuracy_at_most=None if bound is None else bound.high,
        system_accuracy_n_settled=0 if bound is None else bound.n_settled,
        system_accuracy_bound=None if bound is None else Bound(**asdict(bound)),
        system_scores=options.system_scores if human else None,
        texts=asdict(found.texts),
        **own,
    )


def _pooled(found: "MetricCorrelation", method: str, resampled: "Resampled") -> Pooled:
    from dataclasses import replace

    from core.results.cells import drawn_how, why_no_width, width_warned
    from core.results.correlations.table import NOT_ASKED, pooled_cell

    pooled = found.pooled.get(method)  # type: ignore[call-overload]  # one of COEFFICIENTS
    if pooled is None:
        return Pooled(_undefined(NOT_ASKED), resampled, None, None, None)
    over = {
        name: EndsOver(one.low, one.high, why_no_width(one), one.n_resamples, one.monte_carlo_error)
        for name, one in (("over_rows", pooled.over_rows), ("over_items", pooled.over_items))
    }
    cell = drawn_how(
        width_warned(pooled_cell(found, method, resampled)),  # type: ignore[arg-type]  # one of COEFFICIENTS
        pooled.over_items if resampled == "items" else pooled.over_rows,
    )
    fisher = None if pooled.fisher is None else Fisher(*pooled.fisher)
    return Pooled(replace(cell), resampled, **over, fisher=fisher)


def _all_ends(found: "MetricCorrelation", method: str) -> AllEnds:
    pooled = found.pooled.get(method)  # type: ignore[call-overload]  # one of COEFFICIENTS
    kinds: tuple[Resampled, ...] = ("rows", "items", "fisher")
    return AllEnds(
        *(end for kind in kinds for end in ((None, None) if pooled is None else pooled.ends(kind)))
    )


def _corrected(found: "MetricCorrelation", why_none: str) -> Corrected:
    from dataclasses import replace

    from core.results.cells import interval, width_warned

    one = found.corrected
    if one is None:
        return Corrected(_undefined(why_none), None, None, None, None, None, None)
    cell = replace(width_warned(interval(one)), how=(("interval_reason", one.interval_reason),))
    return Corrected(
        *(cell, one.undefined_share, one.noise_x, one.noise_y, one.naive, one.uncut, one.confidence_level)
    )


def _judge_row(found: "JudgeByModel", resampled: "Resampled") -> JudgeRow:
    from dataclasses import replace

    from core.results.cells import interval, item_mean
    from core.results.correlations.table import NOT_ASKED

    pearson, kendall = found.pearson(resampled), found.kendall
    numbers = [
        _undefined(NOT_ASKED)
        if one is None
        else replace(cell(one), how=(("interval_reason", one.interval_reason),))
        for one, cell in ((pearson, interval), (kendall, item_mean))
    ]
    groups = {name: value for name, value in found.row.group.items() if name not in ("file", "metric")}
    return JudgeRow(
        technique=found.technique,
        model=found.model or None,
        size=found.size,
        metric=found.row.metric.name,
        file=found.file,
        named={f"group_{name}": value for name, value in groups.items()},
        group=found.row.group,
        n=found.row.n,
        pearson=numbers[0],
        kendall_per_item=numbers[1],
        n_items=None if kendall is None else kendall.n_clusters,
    )


def _seen(found: Correlations) -> dict[str, Mapping[str, Any]]:
    """Column that readers see -> what is different of it."""
    asked, human, view = found.report.options.methods, found.report.against == "human", found.view
    directed = any(one.metric.direction == "lower" for one in found.report.rows)
    of_view: dict[View | None, list[str]] = {
        None: [
            *asked,
            *("kendall_per_item" for method in asked if method == "kendall"),
            *("pearson_per_system" for method in asked if method == "pearson" and human),
        ],
        "pooled": [*asked],
        "per_item": [f"{method}_per_item" for method in asked],
        "per_system": [f"{method}_per_system" for method in asked],
        "given_system": [f"{method}_given_system" for method in asked],
    }
    shown: dict[str, bool] = {
        "metric": True,
        "family": view is not None,
        "direction": directed,
        "n": view != "per_system",
        "n_left_out": True,
        "pearson_per_system_corrected": human
        and (view == "per_system" or (view is None and "pearson" in asked)),
        "pearson_per_system_corrected_undefined_share": human and view == "per_system",
        "system_accuracy": human and view in (None, "per_system"),
        "system_accuracy_at_least": human and view == "per_system",
        "system_accuracy_at_most": human and view == "per_system",
        f"{asked[0]}_per_item_n_items": view == "per_item",
        f"{asked[0]}_per_system_n_systems": view == "per_system",
    }
    found_seen: dict[str, Mapping[str, Any]] = {name: {} for name, there in shown.items() if there}
    found_seen |= {name: {"title": name.replace("_", " ").capitalize()} for name in of_view[view]}
    if "pearson_per_system_corrected" in found_seen:
        found_seen["pearson_per_system_corrected"] = {"title": "Pearson, noise-corrected"}
    return found_seen


def _unseen(found: Correlations) -> list[str]:
    seen = _seen(found)
    return [
        one.name for one in documented_columns(CorrelationRow) if one.name not in seen and one.name != "*"
    ]


def _judges_shaped(found: Correlations) -> Mapping[str, Mapping[str, Any]]:
    """A metric, file and group are shown where technique and model do not say which judge it is."""
    judges = found.judges_by_model or ()
    several = len({(one.technique, one.model) for one in judges}) < len(judges)
    groups = dict.fromkeys(name for one in judges for name in one.named)
    return {
        "size": {"shown": any(one.size is not None for one in judges)},
        "metric": {"shown": several},
        "file": {"shown": several},
        **{name: {"title": name.removeprefix("group_"), "shown": several} for name in groups},
    }


def _judges_notes(found: Correlations) -> tuple[str, ...]:
    options = found.report.options
    drawn = f"Intervals: {options.confidence_level:.0%}, percentile bootstrap, of Pearson over {found.resampled}, of Kendall over items."
    return (
        "Pearson: over all rows. Kendall: tau-b within each item, averaged over items.",
        *((drawn,) if options.most_resamples else ()),
    )


def _notes(found: Correlations) -> tuple[str, ...]:
    from core.results.correlations.table import report_notes

    return report_notes(found.report, found.resampled, found.view)


def workload(options: CorrelateOptions, quality: "Quality") -> str:
    """How much there is to do, where that takes long."""
    n_resamples = options.most_resamples
    tables = [one.table for one in quality.files]
    if sum(one.values.size for one in tables) * n_resamples < LONG_WORK:
        return ""
    n_rows, n_metrics = (sum(one.values.shape[at] for one in tables) for at in (0, 1))
    metrics = "1 metric" if n_metrics == 1 else f"{n_metrics} metrics"
    at_most = "at most " if options.until_settled else ""
    return f"{n_rows:,} texts, {metrics}, {at_most}{n_resamples:,} resamples."


ANALYSIS = Analysis(
    name="correlate",
    title="Correlations",
    question="Does each metric follow quality, which people rated or the damage level states?",
    Options=CorrelateOptions,
    Result=Correlations,
    takes=("quality",),
    compute=compute,
    unfit=_unfit,
    workload=workload,
    verdicts=lambda _: (),
    sentences=lambda found: found.sentences,
    section="statistics#correlation",
    misleads="Coefficients over all rows mix differences between items with differences within them: read kendall_per_item, too. "
    "Intervals over rows are too narrow if an item has several texts. Of several files with different texts, correlations differ for "
    "that reason, too.",
    example="""
>>> import assay
>>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics="chrf-6-0")
>>> row = assay.correlate(scores, with_="level", resamples=200).frame.iloc[0]
>>> bool(row["spearman_low"] < row["spearman"] < row["spearman_high"])
True
""",
    tables=(
        Table(
            "correlations",
            CorrelationRow,
            lambda found: found.correlations,
            "Correlations",
            heading=lambda _: "",
            notes=_notes,
            hidden=_unseen,
            shaped=_seen,
        ),
        Table(
            FOLLOWS_LEVEL,
            FollowsLevelRow,
            _follows_level,
            "Correlation with the level, as in Factual, Table 2",
            "Does the judge fall as damage increases? 1 is perfect; Factual prints the same numbers with the other sign. Pearson: over "
            "all rows, with intervals over rows (as in Factual) and over questions (safer). Kendall: within each question, then averaged.",
            notes=_level_notes,
            hidden=lambda found: () if any(one.left_out for one in found.report.rows) else ("left_out",),
            on_request=lambda _: True,
            lacking=lambda _: "it needs the level, Pearson and Kendall, and all rows in one group",
        ),
        Table(
            BY_MODEL,
            JudgeRow,
            lambda found: found.judges_by_model,
            "Judges by technique and model, as in Table 2 of Factual",
            notes=_judges_notes,
            shaped=_judges_shaped,
        ),
    ),
)
