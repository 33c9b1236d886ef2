"""Metrics and judges beside the votes of a blind study: whom does a metric prefer, and whom did the raters?"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.analyses.followed import ANALYSIS as OF_RATINGS
from core.analyses.followed import Meta, VotesOptions, WithoutFamily, meta_row, meta_said
from core.schema.analysis import Analysis, Caution, Table, Tell, Verdict
from core.schema.figures import AnyFigure, Axis, Dots, Intervals, steady_axis
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Remark

if TYPE_CHECKING:
    from core.results.study.counted import Counted
    from core.schema.scores import ScoreTable
    from core.schema.study import StudyRecord

_MOST_NAMED, _MOST_ROWS = 5, 40


@row
class LevelRow:
    """One metric at one level."""

    metric: str = column("the metric or judge", key="", names_row=True)
    level: str = column("the level", key="", names_row=True)
    pairs: int = column("pairs with a winner that it has a preference on, or ties")
    agreement: Interval = column(
        "share of these pairs that it orders as the raters did; a tie of it counts one half",
        heat="share",
        ends="beside",
    )


@row
class VoteRow:
    """One metric beside the votes."""

    metric: str = column("the metric or judge", key="", names_row=True)
    family: str = column("its family")
    pairs: int = column("pairs with a winner that it has a preference on, or ties")
    n_left_out: int = column("pairs left out", title="left out")
    follows: Interval = column(
        "Spearman of its scores with quality (a higher level is worse), over the study's texts",
        title="follows the level",
        heat="coefficient",
        ends="object",
    )
    agreement: Interval = column(
        "share of these pairs that it orders as the raters did; a tie of it counts one half, and chance gives 0.5",
        heat="share",
        ends="object",
    )
    p: float | None = column("two-sided p of an agreement of 0.5", title="p of 0.5", p_value=True)
    p_bh: float | None = column(
        "p corrected for the number of metrics", title="Benjamini-Hochberg p", p_value=True
    )
    tau: Interval = column(
        "Kendall's tau-b of how far it prefers the candidate and the composite vote, over all pairs, with ties",
        title="Kendall",
        heat="coefficient",
        ends="object",
    )
    with_ties: Interval = column(
        "share of pairs on which it gives a rater's answer (either system, or a tie), over all pairs and raters, if it ties as often "
        "as raters do",
        title="metric and rater",
        heat="share",
        ends="object",
    )
    people: Interval = column(
        "share of pairs on which another rater gives a rater's answer",
        title="two raters",
        heat="share",
        ends="object",
    )
    gap: Interval = column(
        "the metric's share minus the raters', over the pairs that have both",
        title="difference",
        ends="object",
    )
    differ: int = column("pairs with a winner on which it prefers the other answer", shown=False)
    left_out: Mapping[str, int] = column("reason -> pairs left out", shown=False)
    levels: tuple[LevelRow, ...] = entry("its agreement at each level", rows=LevelRow, keyed_by="level")


@row
class Votes:
    """Every metric beside the votes of a study."""

    study: str = entry("the study")
    preferred: str = entry("the answer that a metric of single answers prefers, by what the study asks")
    metrics: tuple[VoteRow, ...] = entry("each metric by its name", rows=VoteRow, keyed_by="metric")
    meta: Meta = entry("the meta-correlation of this study", rows=Meta)
    confidence_level: float = entry("of the intervals")
    verdict: str = entry("code of the verdict")
    notes: tuple[str, ...] = entry("what was corrected and left out")


def compute(
    options: VotesOptions, record: "StudyRecord", tables: "Sequence[ScoreTable]", *, tell: Tell
) -> Votes:
    """Compare every metric with the votes that count.

    Raises NotAllowed for a study that is not unblinded or has no votes on pairs, and InputError if no text of the study was scored.
    """
    from core.results.cells import interval
    from core.results.correlations.following import follow_levels, meta_of_study
    from core.results.correlations.votes import PREFERRED, decoded, metrics_against_votes, vote_table
    from core.study.as_seen import rendering_notes
    from core.study.raters import check_asks

    check_asks(record.study, ["levels", "preference"], "votes on pairs")
    if options.dimension is not None:
        ANALYSIS.refuse([Remark("dimension", "only a study of ratings has dimensions")])
    drawing: Any = options.model_dump(exclude={"dimension"})
    tell("resampling questions")
    table = decoded(record, tables)
    found = metrics_against_votes(record, table, **drawing)
    levels = follow_levels(record.outputs, table, **drawing)
    meta = meta_of_study(record.study.name, table, [one.agreement for one in found], levels, **drawing)
    shown = vote_table(found)
    names = [one.name for one in shown.columns]
    rows = tuple(
        _row(
            dict(zip(names, cells, strict=True))
            | {"follows": interval(level), "gap": interval(one.with_ties.gap), "differ": one.differ},
            tuple(one.by_level),
        )
        for cells, one, level in zip(shown.rows, found, levels, strict=True)
    )
    return Votes(
        record.study.name,
        PREFERRED[record.study.votes_mean],
        rows,
        meta_row(meta),
        options.confidence_level,
        _code(rows, options),
        (*rendering_notes(record.study), *shown.notes),
    )


LATER = "computed when the run has stopped"


def so_far(record: "StudyRecord", tables: "Sequence[ScoreTable]", counted: "Counted") -> Votes:
    """The result for scores that are still coming in: agreement, following the level and the meta-correlation, as estimates alone.

    counted: `count(record, Filters())`, computed once for all looks. Raises as `compute`.
    """
    from core.results.cells import interval
    from core.results.correlations.following import follow_levels, meta_of_study
    from core.results.correlations.votes import PREFERRED, agreement_so_far, decoded
    from core.study.as_seen import rendering_notes

    table = decoded(record, tables)
    agreement = agreement_so_far(record, table, counted)
    levels = follow_levels(record.outputs, table, n_resamples=0)
    meta = meta_of_study(record.study.name, table, [one for one, _ in agreement], levels, n_resamples=0)
    later = Interval(None, reason=LATER)
    rows = tuple(
        VoteRow(
            metric=metric.name,
            family=metric.family,
            pairs=share.n,
            n_left_out=share.n_left_out,
            follows=interval(level),
            agreement=interval(share),
            p=None,
            p_bh=None,
            tau=later,
            with_ties=later,
            people=later,
            gap=later,
            differ=differ,
            left_out={},
            levels=(),
        )
        for metric, (share, differ), level in zip(table.metrics, agreement, levels, strict=True)
    )
    return Votes(
        record.study.name,
        PREFERRED[record.study.votes_mean],
        rows,
        meta_row(meta),
        0.95,
        "undefined",
        rendering_notes(record.study),
    )


def _row(cells: Mapping[str, Any], levels: Sequence[str]) -> VoteRow:
    """One row of the metrics' table, with its columns of levels as rows of their own."""
    of_levels = {level: cells[f"agreement_{level}"] for level in levels}
    at = tuple(LevelRow(cells["metric"], level, one.n, one) for level, one in of_levels.items())
    own = {
        name: value for name, value in cells.items() if name not in {f"agreement_{level}" for level in levels}
    }
    return VoteRow(**own, levels=at)


def _ahead(rows: Sequence[VoteRow], alpha: float) -> list[VoteRow]:
    """The metrics that are shown to agree more often than by chance, the best first."""
    above = [
        one
        for one in rows
        if one.p_bh is not None
        and one.p_bh <= alpha
        and one.agreement.value is not None
        and one.agreement.value > 0.5
    ]
    return sorted(above, key=lambda one: -(one.agreement.value or 0.0))


def _code(rows: Sequence[VoteRow], options: VotesOptions) -> str:
    if all(one.agreement.value is None or one.p_bh is None for one in rows):
        return "undefined"
    return "agree" if _ahead(rows, 1 - options.confidence_level) else "not-shown"


def _why_undefined(one: VoteRow) -> str:
    from core.results.correlations.votes import ONE_WINNER

    cell = one.agreement
    return (
        cell.reason or cell.interval_reason or ("there are no resamples" if cell.low is None else ONE_WINNER)
    )


def _verdicts(found: Votes) -> tuple[Verdict, ...]:
    from core.tables.reading import shown

    study, n = shown(found.study), len(found.metrics)
    if found.verdict == "undefined":
        reason = "; ".join(dict.fromkeys(map(_why_undefined, found.metrics)))
        return (Verdict("undefined", f"No verdict on the votes of {study}: {reason}.", reason=reason),)
    ahead = _ahead(found.metrics, 1 - found.confidence_level)
    if not ahead:
        of = "The metric is not" if n == 1 else f"None of {n} metrics is"
        return (
            Verdict("not-shown", f"{of} shown to agree with the votes of {study} more often than chance."),
        )
    named = ", ".join(shown(one.metric) for one in ahead[:_MOST_NAMED])
    more = f" and {len(ahead) - _MOST_NAMED} more" if len(ahead) > _MOST_NAMED else ""
    agree = "agrees" if len(ahead) == 1 else "agree"
    sentence = f"{len(ahead)} of {n} metrics {agree} with the votes of {study} more often than chance: {named}{more}."
    return (Verdict("agree", sentence),)


def _notes(found: Votes) -> tuple[str, ...]:
    return (
        f"A metric prefers {found.preferred}. Agreement: share of pairs with a winner on which it prefers the raters' choice. A tie "
        "of the metric counts half; 0.5 is chance. Kendall: between the metric's margin and the composite vote, over all pairs.",
        "Metric and rater: how often the metric, which ties as often as raters do, gives a rater's answer, ties included. Two raters: "
        "how often another rater gives it. Difference: the first minus the second, over the same pairs.",
        "Follows the level: Spearman of the metric's scores with quality (a higher level is worse), over the study's texts.",
        "Meta-correlation of this study: Spearman, over metrics, between follows the level and agreement. Both come from the same "
        "texts and share their noise. `meta-correlate` with this study correlates the votes with margins instead of counting pairs, "
        "so its number differs.",
        f"Intervals: {found.confidence_level:.0%}, questions resampled.",
        *found.notes,
    )


def _sentences(found: Votes) -> tuple[str, ...]:
    if found.meta.spearman.value is None:
        return ()
    of = f"{found.meta.n_families} famil{'y' if found.meta.n_families == 1 else 'ies'}"
    said = f"Do metrics that follow the level agree better with the votes? {meta_said(found.meta)} of {of}."
    return (said, *([Caution(found.meta.caution)] if found.meta.caution else []))


def _figures(found: Votes) -> tuple[AnyFigure, ...]:
    defined = sum(one.agreement.value is not None for one in found.metrics)
    both = [one for one in found.metrics if one.agreement.value is not None and one.follows.value is not None]
    if both:
        return (
            Dots(
                table="votes",
                alt=f"{len(both)} metrics: how closely each follows the level, against its agreement with the votes. "
                f"{meta_said(found.meta)}",
                title=meta_said(found.meta),
                x="follows",
                y="agreement",
                names=("metric",),
                by="family",
                x_axis=steady_axis("follows the level (Spearman)", [one.follows for one in both], -1.0),
                y_axis=steady_axis(
                    "agrees with the votes (share of pairs)", [one.agreement for one in both], 0.0
                ),
                across=0.5,
                down=0.0,
            ),
        )
    if not defined:
        return ()
    return (
        Intervals(
            table="votes",
            alt=f"Share of pairs on which each of {defined} metrics prefers the raters' choice, with intervals",
            sides=("agreement",),
            names=("metric",),
            axis=Axis("share of pairs with the raters' choice (0.5: by chance)", -0.02, 1.02),
            across=0.5,
        ),
    )


ANALYSIS = Analysis(
    name="votes",
    title="Votes",
    question="For each pair of answers: does the metric prefer the answer that raters chose?",
    Options=VotesOptions,
    Result=Votes,
    takes=("study", "scores"),
    fits=lambda record, _tables: record.study.kind == "pairs",
    others=(OF_RATINGS,),
    compute=compute,
    verdicts=_verdicts,
    codes={
        "agree": "at least one metric agrees with the votes more often than chance, by its corrected p",
        "not-shown": "no metric is shown to",
        "undefined": "no metric has an agreement with an interval",
    },
    refuses="If no text of the study was scored.",
    sentences=_sentences,
    figures=_figures,
    section="statistics#metrics-against-votes",
    misleads="Agreement ignores pairs without a winner. If there are many, it rests on few pairs: read how many. The "
    "meta-correlation of one study compares few metrics on the same texts: read its interval and its caution.",
    example="""
>>> import assay
>>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics=["chrf-6-0", "rouge-1"])
>>> found = assay.votes("study:demo", scores, resamples=200)
>>> found.frame[["metric", "family"]].values.tolist()
[['chrf-6-0', 'chrF'], ['rouge-1', 'ROUGE']]
""",
    tables=(
        Table(
            "votes",
            VoteRow,
            lambda found: found.metrics,
            "Votes",
            notes=_notes,
            hidden=lambda found: ("p_bh",) if sum(one.p is not None for one in found.metrics) < 2 else (),
        ),
        Table(
            "votes-levels",
            LevelRow,
            lambda found: [level for one in found.metrics for level in one.levels] or None,
            "By level",
            "Does a metric agree with the raters at each level?",
            most_printed=_MOST_ROWS,
        ),
        Table(
            "votes-families",
            WithoutFamily,
            lambda found: found.meta.families or None,
            "Without each family in turn",
            "Does the meta-correlation depend on one family of similar metrics?",
            most_printed=0,
        ),
    ),
)
