"""Meta-correlation: does data of known quality rank metrics as people do (Meta-Judge, equations 1 to 3)?"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from core.schema.analysis import (
    COEFFICIENTS,
    Analysis,
    Caution,
    Coefficient,
    Table,
    Tell,
    Verdict,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.figures import AnyFigure, Dots, Heat, steady_axis
from core.schema.result_table import Interval
from core.schema.rows import column, columns, entry, row
from core.schema.settings import Remark, Settings, setting

if TYPE_CHECKING:
    from core.results.meta_correlation import Matrix, MetaCorrelation, Side, Sides
    from core.results.side_origins import SideOrigins
    from core.stats.correlation.noise import NoiseCorrected
    from core.stats.resampling import Estimate

DATASET = "dataset"
"""Column whose value selects the human side."""
_LEAST_P = 0.001
"""A smaller p would be 0.000 with three decimals."""
_NO_VALUE = "undefined"


class MetaCorrelateOptions(Settings):
    """Options of the correlation between two sides, its intervals and its split by columns."""

    method: Coefficient = setting(
        "spearman",
        "Coefficient",
        "coefficient between the two sides",
        words={one: one.capitalize() for one in COEFFICIENTS},
    )
    first_order: Coefficient | None = setting(
        None,
        "Coefficient on a side",
        "coefficient for each metric on a side (default: {method})",
        words={"": "as between the sides", **{one: one.capitalize() for one in COEFFICIENTS}},
    )
    by: tuple[str, ...] = setting(
        (),
        "Group by",
        "one cell for each value of these columns of the synthetic side",
        listed=True,
        metavar="COL,...",
    )
    over: str | None = setting(
        None,
        "Mean and SD over",
        "report mean and SD over the values of this column, e.g. prompt",
        metavar="COL",
        words={"": "no column"},
    )
    alternative: Literal["greater", "two-sided"] = setting(
        "greater",
        "Alternative",
        "alternative hypothesis of the p-value in the sentences (greater: as in Meta-Judge; JSON has both)",
        words={"greater": "One-sided", "two-sided": "Two-sided"},
    )
    n_resamples: int = resamples_setting(1_000)
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns by which the synthetic side is split; empty: it is not."""
        return tuple(dict.fromkeys((*self.by, *([self.over] if self.over else []))))

    @property
    def computing(self) -> dict[str, Any]:
        """Keywords of `core.results.meta_correlation.meta_correlate`."""
        names = {"method", "first_order", "n_resamples", "confidence_level", "rng"}
        return self.model_dump(include=names)


@row
class PointRow:
    """One metric on both sides, or one that is not compared."""

    metric: str = column("the metric", names_row=True)
    family: str = column("its family")
    human: float | None = column("its correlation on the human side")
    synthetic: float | None = column("its correlation on the synthetic side")
    dropped_because: str = column("why it is not compared", shown=False, key="")


@row
class FamilyRow:
    """The meta-correlation of all metrics, or without one family."""

    without: str = column("the family that is left out; none: of all metrics", names_row=True, key="")
    n_metrics: int = column("metrics", name="metrics")
    meta_correlation: Interval = column(
        "the meta-correlation with its interval over metrics", title="meta-correlation", ends="inline"
    )
    over_items_low: float | None = column("naive interval over items", shown=False, key="")
    over_items_high: float | None = column("its other end", shown=False, key="")
    p_one_sided: float | None = column("p of no positive association over metrics", shown=False, key="")
    p_two_sided: float | None = column("p of no association over metrics", shown=False, key="")
    p_reason: str = column("why there is no p", shown=False, key="")
    p_families_one_sided: float | None = column("one-sided p over families", shown=False, key="")
    p_families_two_sided: float | None = column("two-sided p over families", shown=False, key="")
    p_families_reason: str = column("why there is none", shown=False, key="")
    over_items_corrected: Interval = column(
        "noise-corrected Pearson between the sides, with its interval over items", shown=False, key=""
    )
    over_items_corrected_naive: float | None = column("the same uncorrected", shown=False, key="")
    over_items_corrected_undefined_share: float | None = column(
        "share of resamples in which it is undefined", shown=False, key=""
    )


@row
class OverItems:
    """The naive interval from resampling the items of the live sides."""

    low: float | None = entry("its ends")
    high: float | None = entry("its ends")
    interval_reason: str | None = entry("why there is none")
    n_items: int = entry("items")
    n_undefined: int = entry("resamples without a value")


@row
class CorrectedRow:
    """Pearson's r between the sides for these metrics over infinitely many items."""

    value: Interval = entry("the noise-corrected correlation with its interval", ends="inline")
    naive: float | None = entry("the same uncorrected")
    uncut: float | None = entry("before it is cut at 1")
    noise_x: float | None = entry("share of noise on the human side")
    noise_y: float | None = entry("share of noise on the synthetic side")
    undefined_share: float | None = entry("share of resamples in which it is undefined")
    confidence_level: float = entry("of its interval")


@row
class FamiliesRow:
    """The test over families of metrics."""

    p_one_sided: float | None = entry("p of no positive association")
    p_two_sided: float | None = entry("p of no association")
    n_families: int = entry("families")
    n_permutations: int = entry("permutations")
    is_exact: bool = entry("whether these are all permutations")
    reason: str | None = entry("why there is no p")


@row
class MetaRow:
    """How similarly two sides rank metrics."""

    cautions: tuple[str, ...] = entry(
        "few_metrics (below 20), few_families (below 5): the number means little"
    )
    over_metrics: Interval = entry(
        "the meta-correlation; its interval from resampling metrics", ends="inline"
    )
    p_one_sided: float | None = entry(
        "p of no positive association, as in Meta-Judge's code; treats metrics as independent"
    )
    p_two_sided: float | None = entry("p of no association, likewise")
    p_reason: str | None = entry("why there is no p")
    n_metrics: int = entry("metrics that both sides define")
    n_families: int = entry("their families")
    dropped: Mapping[str, str] = entry("metric -> why it is left out")
    over_items: OverItems | None = entry(
        "naive interval over items; null if no side has scores", rows=OverItems
    )
    over_items_corrected: CorrectedRow | None = entry(
        "the noise-corrected correlation; null if no side has scores, or without resamples", rows=CorrectedRow
    )
    families: FamiliesRow | None = entry("the test over families", rows=FamiliesRow)
    without_family: tuple[FamilyRow, ...] = entry("without each family", rows=FamilyRow, keyed_by="without")
    method: str | None = entry("coefficient between the sides")
    first_order: str | None = entry("coefficient of each metric on a side")
    confidence_level: float | None = entry("of the intervals")
    n_resamples: int | None = entry("for the intervals")
    human: str | None = entry("name of the human side")
    synthetic: str | None = entry("name of the synthetic side")
    notes: tuple[str, ...] = entry("what was read, assumed, and looks wrong")
    points: tuple[PointRow, ...] = entry("each compared metric", rows=PointRow)
    differences: tuple[str, ...] = entry(
        "in what the texts of the sides are known to differ: dataset, task, language, systems"
    )
    not_compared: tuple[str, ...] = entry("the same names, for what is unknown on a side")
    texts: Mapping[str, Any] | None = entry(
        "human and synthetic -> what is known of the texts, as `correlate` says it"
    )


@row
class CellRow:
    """The meta-correlation of one combination of values of the columns."""

    by: Mapping[str, str] = columns("its values: a column for each", names_row=True)
    meta_correlation: Interval = column(
        "the meta-correlation with its interval over metrics", title="meta-correlation", key=""
    )
    metrics: int = column("metrics that both sides define", key="")
    n_dropped: int | None = column("metrics left out", title="dropped", key="")
    dropped: str = column("which, and why", shown=False, key="")
    why: str = column("why there is no number", name="reason", shown=False, key="")
    pair: MetaRow = entry("the numbers of these sides", rows=MetaRow, inlined=True)
    cell_reason: str | None = entry("why there is no number", key="reason")


@row
class SummaryRow:
    """Mean and spread over the variants of one combination (Meta-Judge, Table 2)."""

    by: Mapping[str, str] = columns("its values: a column for each", names_row=True)
    mean: float | None = column("mean over variants")
    sd: float | None = column("standard deviation over them, ddof 1", title="SD")
    n: int = column("variants", title="variants")
    n_left_out: int = column("variants without a number", name="left_out")


@row
class MetaCorrelations:
    """The meta-correlation of two sides, or of each cell of a matrix."""

    pair: MetaRow | None = entry("two sides", rows=MetaRow, inlined=True, optional=True)
    cells: tuple[CellRow, ...] | None = entry("each cell, if columns were named", rows=CellRow, optional=True)
    summaries: tuple[SummaryRow, ...] | None = entry(
        "mean and SD over variants", rows=SummaryRow, optional=True
    )
    matrix_notes: tuple[str, ...] | None = entry("what was read and left out", key="notes", optional=True)
    lines: tuple[str, ...]
    """What is said after the verdict."""
    meta: "MetaCorrelation | Matrix"
    """What was computed."""


def compute(options: MetaCorrelateOptions, sides: "Sides", *, tell: Tell) -> MetaCorrelations:
    """Correlate the sides' correlations over the metrics that both define, of all texts or of each cell.

    Raises SettingsError for columns that these sides cannot be split by, InputError if the sides share no metric.
    """
    from core.results.meta_correlation import LiveSide, meta_correlate, meta_matrix, split_by_dataset

    if not options.columns:
        if "" not in sides.humans:
            text = "the human side names a side for each data set. Add {by=dataset}, or give one side"
            ANALYSIS.refuse([Remark("by", text)])
        tell("correlating")
        found = meta_correlate(sides.humans[""], sides.synthetic, **options.computing)
        return result_of_pair(found, options)
    if not isinstance(sides.synthetic, LiveSide):
        text = "{by} and {over} need scores on the synthetic side. {side} contains correlations, which cannot be split by text"
        ANALYSIS.refuse([Remark("", text, {"side": sides.synthetic.name})])
    assert isinstance(sides.synthetic, LiveSide)
    tell("correlating the cells")
    humans = sides.humans
    alone = humans.get("")
    if DATASET in options.columns and isinstance(alone, LiveSide) and alone.has_datasets:
        humans = split_by_dataset(alone)
    matrix = meta_matrix(humans, sides.synthetic.table, by=options.by, over=options.over, **options.computing)
    return result_of_matrix(matrix, humans, sides.synthetic.name, options)


def result_of_pair(meta: "MetaCorrelation", options: MetaCorrelateOptions) -> MetaCorrelations:
    """The meta-correlation of two sides."""
    return MetaCorrelations(meta_row(meta), None, None, None, _pair_lines(meta, options), meta)


def result_of_matrix(
    matrix: "Matrix", humans: "Mapping[str, Side]", synthetic: str, options: MetaCorrelateOptions
) -> MetaCorrelations:
    """The meta-correlation of each cell. synthetic: name of that side."""
    return MetaCorrelations(
        None,
        tuple(
            CellRow(
                by=cell.by,
                meta_correlation=_interval(
                    cell.result.over_metrics if cell.result else None, cell.reason or _NO_VALUE
                ),
                metrics=0 if cell.result is None else cell.result.n_metrics,
                n_dropped=None if cell.result is None else len(cell.result.dropped),
                dropped="; ".join(
                    f"{name}: {why}" for name, why in (cell.result.dropped if cell.result else {}).items()
                ),
                why=cell.reason or "",
                pair=_undefined(cell.reason or "") if cell.result is None else meta_row(cell.result),
                cell_reason=cell.reason,
            )
            for cell in matrix.cells
        ),
        tuple(SummaryRow(**vars(one)) for one in matrix.summaries),
        matrix.notes,
        _matrix_lines(humans, synthetic, options),
        matrix,
    )


def _interval(estimate: "Estimate | None", why_none: str) -> Interval:
    from core.results.cells import interval

    return interval(estimate, why_none)


def meta_row(meta: "MetaCorrelation") -> MetaRow:
    """A meta-correlation as every door shows it."""
    from core.results.cells import interval

    items, corrected, families = meta.over_items, meta.over_items_corrected, meta.families
    return MetaRow(
        cautions=meta.cautions,
        over_metrics=interval(meta.over_metrics),
        p_one_sided=meta.p_one_sided,
        p_two_sided=meta.p_two_sided,
        p_reason=meta.p_reason,
        n_metrics=meta.n_metrics,
        n_families=meta.n_families,
        dropped=meta.dropped,
        over_items=None
        if items is None
        else OverItems(items.low, items.high, items.interval_reason, items.n_clusters, items.n_undefined),
        over_items_corrected=None if corrected is None else _corrected_row(corrected),
        families=None
        if families is None
        else FamiliesRow(
            families.p_one_sided,
            families.p_two_sided,
            families.n_families,
            families.n_permutations,
            families.is_exact,
            families.reason,
        ),
        without_family=tuple(_family_row(name, one) for name, one in meta.without_family.items()),
        method=meta.method,
        first_order=meta.first_order or meta.method,
        confidence_level=meta.over_metrics.confidence_level,
        n_resamples=meta.over_metrics.n_resamples,
        human=meta.human,
        synthetic=meta.synthetic,
        notes=meta.notes,
        points=tuple(PointRow(one.metric, one.family, one.human, one.synthetic, "") for one in meta.points),
        **_origins(meta.origins),
    )


def _corrected_row(found: "NoiseCorrected") -> CorrectedRow:
    from core.results.cells import interval

    return CorrectedRow(
        interval(found),
        found.naive,
        found.uncut,
        found.noise_x,
        found.noise_y,
        found.undefined_share,
        found.confidence_level,
    )


def _family_row(without: str, estimate: "Estimate", **of_all: Any) -> FamilyRow:
    """A row without a family. of_all: the fields that only the row of all metrics has."""
    none = {
        "over_items_low": None,
        "over_items_high": None,
        "p_one_sided": None,
        "p_two_sided": None,
        "p_reason": "",
        "p_families_one_sided": None,
        "p_families_two_sided": None,
        "p_families_reason": "",
        "over_items_corrected": Interval(None),
        "over_items_corrected_naive": None,
        "over_items_corrected_undefined_share": None,
    }
    return FamilyRow(
        without=without, n_metrics=estimate.n, meta_correlation=_interval(estimate, ""), **{**none, **of_all}
    )


def _overall_row(meta: "MetaCorrelation") -> FamilyRow:
    """The row of all metrics, with the intervals over items and all p."""
    items, corrected, families = meta.over_items, meta.over_items_corrected, meta.families
    return _family_row(
        "none",
        meta.over_metrics,
        over_items_low=None if items is None else items.low,
        over_items_high=None if items is None else items.high,
        p_one_sided=meta.p_one_sided,
        p_two_sided=meta.p_two_sided,
        p_reason=meta.p_reason or "",
        p_families_one_sided=None if families is None else families.p_one_sided,
        p_families_two_sided=None if families is None else families.p_two_sided,
        p_families_reason="" if families is None else families.reason or "",
        over_items_corrected=_interval(corrected, "" if corrected is None else _NO_VALUE),
        over_items_corrected_naive=None if corrected is None else corrected.naive,
        over_items_corrected_undefined_share=None if corrected is None else corrected.undefined_share,
    )


def _origins(found: "SideOrigins | None") -> dict[str, Any]:
    """What differs between the sides' texts, what is unknown, and what is known of each."""
    from dataclasses import asdict

    if found is None:
        return {"differences": (), "not_compared": (), "texts": None}
    return {
        "differences": found.differences,
        "not_compared": found.not_compared,
        "texts": {"human": asdict(found.human), "synthetic": asdict(found.synthetic)},
    }


def _undefined(reason: str) -> MetaRow:
    """The numbers of a cell that was not computed: every cell has the same keys."""
    return MetaRow(
        cautions=(),
        over_metrics=Interval(None, reason=reason, interval_reason=reason),
        p_one_sided=None,
        p_two_sided=None,
        p_reason=reason,
        n_metrics=0,
        n_families=0,
        dropped={},
        over_items=None,
        over_items_corrected=None,
        families=None,
        without_family=(),
        method=None,
        first_order=None,
        confidence_level=None,
        n_resamples=None,
        human=None,
        synthetic=None,
        notes=(),
        points=(),
        **_origins(None),
    )


def meta_title(meta: "MetaCorrelation") -> tuple[str, ...]:
    """The estimate and both intervals in words."""
    whole = meta.over_metrics
    if whole.estimate is None:
        return (f"Meta-correlation undefined: {whole.reason}",)
    lines = [
        f"Meta-correlation {_fitted(whole, whole.estimate)} ({meta.method.capitalize()}, {meta.n_metrics} metrics)",
        f"{_interval_text(whole)} over metrics",
    ]
    if meta.over_items is not None:
        lines.append(f"naive {_interval_text(meta.over_items)} over items")
    return tuple(lines)


def _brief(meta: "MetaCorrelation") -> tuple[str, ...]:
    """The p over families and the noise-corrected correlation in short, where they are defined."""
    lines = []
    if meta.families is not None and meta.families.p_one_sided is not None:
        lines.append(f"p over {meta.n_families} families {_p_text(meta.families.p_one_sided)} (one-sided)")
    one = meta.over_items_corrected
    if one is not None and one.estimate is not None and one.low is not None and one.high is not None:
        ends = ", ".join(_fitted(one, end) for end in (one.low, one.high))
        lines.append(f"noise-corrected Pearson {_fitted(one, one.estimate)} [{ends}] over items")
    return tuple(lines)


def inference_said(meta: "MetaCorrelation", alternative: str) -> list[str]:
    """The p over families beside the one that treats metrics as independent, and the noise-corrected correlation."""
    side = "one-sided" if alternative == "greater" else "two-sided"
    lines = []
    if meta.families is not None:
        own = meta.families.p_one_sided if alternative == "greater" else meta.families.p_two_sided
        lines.append(
            f"p over {meta.n_families} families, {side}: {_p_text(own)}"
            if own is not None
            else f"p over families undefined: {meta.families.reason}"
        )
    p = meta.p_one_sided if alternative == "greater" else meta.p_two_sided
    lines.append(
        f"p {side}, which treats metrics as independent: {_p_text(p)}"
        if p is not None
        else f"p {side} undefined: {meta.p_reason}"
    )
    if meta.over_items_corrected is not None:
        lines.append(corrected_said(meta.over_items_corrected))
    return lines


def _p_text(p: float) -> str:
    return f"{p:.3g}" if p >= _LEAST_P else f"below {_LEAST_P:g}"


def corrected_said(correlation: "NoiseCorrected") -> str:
    """The noise-corrected correlation over items, its naive value and the share of undefined resamples."""
    from core.results.cells import decimal

    beside = []
    if correlation.naive is not None:
        beside.append(f"naive {decimal(correlation.naive, 2)}")
    if correlation.undefined_share is not None:
        beside.append(f"undefined in {correlation.undefined_share:.0%} of resamples")
    value = f"undefined: {correlation.reason}"
    if correlation.estimate is not None:
        value = f"{_fitted(correlation, correlation.estimate)}, {_interval_text(correlation)}"
    return f"Noise-corrected over items (Pearson between the sides): {value}" + (
        f" ({', '.join(beside)})" if beside else ""
    )


def _interval_text(estimate: "Estimate") -> str:
    if estimate.low is None or estimate.high is None:
        return f"no interval ({estimate.interval_reason or estimate.reason or 'undefined'})"
    return f"{100 * estimate.confidence_level:g} % interval [{_fitted(estimate, estimate.low)}, {_fitted(estimate, estimate.high)}]"


def _fitted(estimate: "Estimate", value: float) -> str:
    from core.results.cells import decimal, fitted

    places = fitted(estimate.estimate or 0.0, estimate.low, estimate.high, estimate.n, 3)
    return decimal(value, places)


def _pair_lines(meta: "MetaCorrelation", options: MetaCorrelateOptions) -> tuple[str, ...]:
    """The sides, and p."""
    from core.tables.reading import shown

    return (
        f"Human side: {shown(meta.human)}; synthetic side: {shown(meta.synthetic)}",
        *inference_said(meta, options.alternative),
    )


def _matrix_lines(
    humans: "Mapping[str, Side]", synthetic: str, options: MetaCorrelateOptions
) -> tuple[str, ...]:
    """The sides, and what was computed."""
    from core.tables.reading import shown

    named = (
        f"{shown(name)}: {shown(side.name)}" if name else shown(side.name) for name, side in humans.items()
    )
    first = options.first_order or options.method
    order = "" if first == options.method else f" of {first.capitalize()} correlations"
    drawn = (
        f"; {options.confidence_level:.0%} intervals from resampling metrics" if options.n_resamples else ""
    )
    return (
        f"Human side: {', '.join(named)}; synthetic side: {shown(synthetic)}, against the negative level",
        f"Meta-correlation: {options.method.capitalize()}{order}{drawn}",
    )


def _dropped_said(results: "Iterable[MetaCorrelation]") -> tuple[str, ...]:
    """One sentence for each reason to drop metrics, for all cells together."""
    from core.tables.reading import shown

    reasons: dict[str, dict[str, None]] = {}
    for found in results:
        for metric, why in found.dropped.items():
            reasons.setdefault(why, {})[shown(metric)] = None
    counted = {why: f"{len(names)} metrics ({', '.join(names)})" for why, names in reasons.items()}
    return tuple(
        f"Dropped: {counted[why] if len(names) > 1 else next(iter(names))}: {why}"
        for why, names in reasons.items()
    )


def _pair(result: MetaCorrelations) -> "MetaCorrelation | None":
    """What was computed of two sides; None for a matrix."""
    return None if result.pair is None else result.meta  # type: ignore[return-value]  # as `compute` made it


def _verdicts(result: MetaCorrelations) -> tuple[Verdict, ...]:
    found = _pair(result)
    if found is None:
        return ()
    sentence = " ".join([*found.sides_said, "; ".join([*meta_title(found), *_brief(found)])])
    code = "undefined" if found.over_metrics.estimate is None else "estimated"
    unlike = found.origins is not None and found.origins.differences
    return (Verdict(code, Caution(sentence) if unlike else sentence, reason=found.over_metrics.reason or ""),)


def _said(result: MetaCorrelations) -> tuple[str, ...]:
    """Before the number: whether it means little, and which metrics it leaves out. The verdict itself begins with how the sides differ."""
    found, pair = result.meta, _pair(result)
    caution = [Caution(found.caution)] if found.caution is not None else []
    if pair is None:
        return (*map(Caution, found.sides_said), *caution, *result.lines)
    total = pair.n_metrics + len(pair.dropped)
    compared = [f"Metrics compared: {pair.n_metrics} of {total}"] if pair.dropped else []
    verdict = (one.sentence for one in _verdicts(result))
    return (*caution, *compared, *_dropped_said([pair]), *verdict, *result.lines)


def _points(result: MetaCorrelations) -> Sequence[PointRow] | None:
    """The points of the scatter, then the dropped metrics."""
    if result.pair is None:
        return None
    gone = [PointRow(name, "", None, None, why) for name, why in result.pair.dropped.items()]
    return [*result.pair.points, *gone]


def _matrix_notes(result: MetaCorrelations) -> tuple[str, ...]:
    cells = getattr(result.meta, "cells", ())
    made = [cell.result for cell in cells if cell.result is not None]
    return (*_dropped_said(made), *(result.matrix_notes or ()))


def _figures(result: MetaCorrelations) -> tuple[AnyFigure, ...]:
    found = _pair(result)
    if result.cells:
        first, *rest = result.cells[0].by
        alt = f"Heat map of {len(result.cells)} meta-correlations"
        return (
            Heat(
                table="meta-matrix",
                alt=alt,
                value="meta_correlation",
                row=first,
                columns=tuple(rest),
                row_title=first,
                column_title=" ".join(rest),
                instead=True,
            ),
        )
    if found is None or not found.points:
        return ()
    ends = {side: [Interval(getattr(one, side)) for one in found.points] for side in ("human", "synthetic")}
    zero = {side: 0.0 if any((one.value or 0) <= 0 for one in own) else None for side, own in ends.items()}
    return (
        Dots(
            table="meta-correlation",
            alt="; ".join(meta_title(found)),
            title=meta_title(found)[0],
            lines=(*meta_title(found)[1:], *_brief(found)),
            x="human",
            y="synthetic",
            names=("metric",),
            by="family",
            x_axis=steady_axis(f"human: {found.human}", ends["human"], -1.0),
            y_axis=steady_axis(f"synthetic: {found.synthetic}", ends["synthetic"], -1.0),
            across=zero["synthetic"],
            down=zero["human"],
            instead=True,
        ),
    )


ANALYSIS = Analysis(
    name="meta-correlate",
    title="Meta-correlation",
    question="Does data of known quality rank metrics as people do?",
    Options=MetaCorrelateOptions,
    Result=MetaCorrelations,
    takes=("sides",),
    compute=compute,
    verdicts=_verdicts,
    codes={
        "estimated": "the sides share metrics, and the number is defined",
        "undefined": "fewer than two metrics, or one side ranks none above another",
    },
    all_sentences=_said,
    figures=_figures,
    section="statistics#meta-correlation",
    refuses="If the sides share no metric, or a published side lacks the coefficient.",
    misleads="The interval over metrics is wide, and variants of one family count as several metrics: read the p over families and "
    "`without-family`. The naive interval over items counts the noise of items twice: read the noise-corrected value.",
    example="""
>>> import assay
>>> found = assay.meta_correlate("published:cus-qa-cs", "published:cus-qa-cs:qwen-3-30b:zero")
>>> found.json["n_metrics"]
28
""",
    tables=(
        Table(
            "meta-correlation",
            PointRow,
            _points,
            "Metrics on both sides",
            notes=lambda result: () if result.pair is None else result.pair.notes,
        ),
        Table(
            "without-family",
            FamilyRow,
            lambda result: (
                None
                if (found := _pair(result)) is None or result.pair is None
                else (_overall_row(found), *result.pair.without_family)
            ),
            "Without each family in turn",
            "Does the result depend on one family of similar metrics?",
        ),
        Table("meta-matrix", CellRow, lambda result: result.cells, "Cells", notes=_matrix_notes),
        Table(
            "meta-summaries",
            SummaryRow,
            lambda result: result.summaries or None,
            "Mean and standard deviation (ddof 1)",
        ),
    ),
)
