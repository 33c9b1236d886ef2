"""Metrics and judges of a study's texts without votes on pairs: which follows the level, and which the ratings?"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.schema.analysis import (
    Analysis,
    Caution,
    Table,
    Tell,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.figures import AnyFigure, Dots, Intervals, steady_axis
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Settings, setting

if TYPE_CHECKING:
    from core.results.correlations.following import MetaOfStudy
    from core.schema.scores import ScoreTable
    from core.schema.study import StudyRecord, StudyTexts


class VotesOptions(Settings):
    """Options of the intervals, and which ratings."""

    dimension: str | None = setting(
        None,
        "Dimension",
        "for a study of ratings: which dimension to use (default: the only one)",
        metavar="D",
        words={"": "the only one"},
    )
    n_resamples: int = resamples_setting(2_000, "number of resamples of questions; 0 for no intervals")
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()


@row
class WithoutFamily:
    """The meta-correlation of the study without one family of metrics."""

    without: str = column("the family that is left out", key="", names_row=True)
    meta: Interval = column("the meta-correlation without it", title="meta-correlation", ends="object")


@row
class Meta:
    """The meta-correlation of the study."""

    spearman: Interval = entry(
        "Spearman, over metrics, of following the level and agreeing with the votes; its interval resamples metrics",
        ends="object",
    )
    n_metrics: int = entry("metrics that have both numbers")
    n_families: int = entry("their families")
    dropped: Mapping[str, str] = entry("metric -> why it is left out")
    caution: str | None = entry("why the number is weak evidence")
    families: tuple[WithoutFamily, ...] = entry(
        "without each family in turn", rows=WithoutFamily, keyed_by="without"
    )


CLOSED = "ratings are closed until the study is unblinded"


@row
class FollowedRow:
    """What a metric follows."""

    metric: str = column("the metric or judge", key="", names_row=True)
    people: Interval = column(
        "Spearman of its scores with the mean ratings of the same texts",
        title="follows the ratings",
        heat="coefficient",
        ends="object",
    )
    follows: Interval = column(
        "Spearman of its scores with quality (a higher level is worse), over the study's texts",
        title="follows the level",
        heat="coefficient",
        ends="object",
    )
    family: str = column("its family")
    texts: int = column("texts behind the number that says which is best")


@row
class Followed:
    """Every metric beside the levels and the ratings of a study."""

    study: str = entry("the study")
    dimension: str | None = entry("the dimension of the ratings; null: the only one, or they are closed")
    metrics: tuple[FollowedRow, ...] = entry(
        "each metric by its name, the best first", rows=FollowedRow, keyed_by="metric"
    )
    meta: Meta | None = entry(
        "the meta-correlation of this study; null while the ratings are closed", rows=Meta
    )
    confidence_level: float = entry("of the intervals")
    notes: tuple[str, ...] = entry("what raters saw and metrics did not")

    @property
    def by(self) -> str:
        """The field that says which metric is best: `people`, unless no number with the ratings is defined."""
        return "people" if any(one.people.value is not None for one in self.metrics) else "follows"


def compute(
    options: VotesOptions, study: "StudyRecord | StudyTexts", tables: "Sequence[ScoreTable]", *, tell: Tell
) -> Followed:
    """Correlate every metric with the level, and with the ratings of a study that is unblinded.

    study: without answers, the ratings are closed. Raises InputError if no text of the study was scored, and for an unknown dimension, and
    NotAllowed for answers of a study that is not unblinded.
    """
    from core.joining.tables import merge_tables
    from core.results.cells import interval
    from core.results.correlations.following import (
        follow_levels,
        follow_ratings,
        meta_of_study,
        names_of_texts,
    )
    from core.schema.study import StudyRecord
    from core.study.analysis_set import check_released
    from core.study.as_seen import rendering_notes
    from core.study.ratings import rating_set_of

    drawing: Any = options.model_dump(exclude={"dimension"})
    tell("resampling items")
    table = merge_tables(
        tables, of=names_of_texts(study.outputs, (row for one in tables for row in one.rows))
    )
    levels = follow_levels(study.outputs, table, **drawing)
    people, meta = None, None
    if isinstance(study, StudyRecord):
        check_released(study.study)
        people = follow_ratings(rating_set_of(study), table, options.dimension, **drawing)
        meta = meta_row(meta_of_study(study.study.name, table, people, levels, **drawing))
    best = people if people and any(one.estimate is not None for one in people) else levels
    order = sorted(
        range(len(table.metrics)), key=lambda at: 2.0 if (value := best[at].estimate) is None else -value
    )
    return Followed(
        study.study.name,
        options.dimension,
        tuple(
            FollowedRow(
                table.metrics[at].name,
                Interval(None, reason=CLOSED) if people is None else interval(people[at]),
                interval(levels[at]),
                table.metrics[at].family,
                best[at].n,
            )
            for at in order
        ),
        meta,
        options.confidence_level,
        () if people is None else rendering_notes(study.study),
    )


def meta_row(study_meta: "MetaOfStudy") -> Meta:
    """The meta-correlation of a study as every door shows it."""
    from core.results.cells import interval

    return Meta(
        interval(study_meta.over_metrics),
        study_meta.n_metrics,
        study_meta.n_families,
        study_meta.dropped,
        study_meta.caution,
        tuple(WithoutFamily(name, interval(one)) for name, one in study_meta.without_family.items()),
    )


def meta_said(meta: Meta) -> str:
    """The meta-correlation of a study in one line: `Spearman 0.83 [0.50, 0.90], 16 metrics`, or why there is none."""
    from core.results.cells import decimal, fitted

    one = meta.spearman
    if one.value is None:
        return f"Meta-correlation undefined: {one.reason}"
    places = fitted(one.value, one.low, one.high, meta.n_metrics, 3)
    ends = (
        ""
        if one.low is None or one.high is None
        else f" [{decimal(one.low, places)}, {decimal(one.high, places)}]"
    )
    return f"Spearman {decimal(one.value, places)}{ends}, {meta.n_metrics} metrics"


def _sentences(found: Followed) -> tuple[str, ...]:
    if found.meta is None or found.meta.spearman.value is None:
        return ()
    said = f"Do metrics that follow the level agree better with the ratings? {meta_said(found.meta)}."
    return (said, *([Caution(found.meta.caution)] if found.meta.caution else []))


_TITLES = {"follows": "follows the level", "people": "follows the ratings"}


def _figures(found: Followed) -> tuple[AnyFigure, ...]:
    both = [one for one in found.metrics if one.follows.value is not None and one.people.value is not None]
    if both and found.meta is not None:
        title = meta_said(found.meta)
        return (
            Dots(
                table="followed",
                alt=f"{len(both)} metrics: how closely each follows the level, against the ratings. {title}",
                title=title,
                x="follows",
                y="people",
                names=("metric",),
                by="family",
                x_axis=steady_axis(f"{_TITLES['follows']} (Spearman)", [one.follows for one in both], -1.0),
                y_axis=steady_axis(f"{_TITLES['people']} (Spearman)", [one.people for one in both], -1.0),
                across=0.0,
                down=0.0,
            ),
        )
    return _forest(found)


def _forest(found: Followed) -> tuple[AnyFigure, ...]:
    """One number of each metric with its interval; nothing where none is defined."""
    from core.errors import counted

    cells = [cell for one in found.metrics if (cell := getattr(one, found.by)).value is not None]
    if not cells:
        return ()
    return (
        Intervals(
            table="followed",
            alt=f"How closely each of {counted(len(cells), 'metric')} {_TITLES[found.by]}",
            sides=(found.by,),
            names=("metric",),
            axis=steady_axis(f"{_TITLES[found.by]} (Spearman)", cells, -1.0),
            across=0.0,
        ),
    )


ANALYSIS = Analysis(
    name="votes",
    title="Metrics and ratings",
    question="Which metric or judge follows the ratings of a study, and which its levels?",
    Options=VotesOptions,
    Result=Followed,
    takes=("study", "scores"),
    compute=compute,
    verdicts=lambda _: (),
    sentences=_sentences,
    figures=_figures,
    refuses="If no text of the study was scored.",
    section="statistics#metrics-against-votes",
    misleads="Intervals are for each metric by itself. The meta-correlation of one study compares few metrics on the same texts: read its "
    "interval and its caution.",
    example="",
    tables=(
        Table(
            "followed",
            FollowedRow,
            lambda found: found.metrics,
            "Metrics and ratings",
            notes=lambda found: (
                "Spearman over the study's texts.",
                f"Intervals: {found.confidence_level:.0%}, items resampled.",
                *found.notes,
            ),
            hidden=lambda found: ("people",) if found.meta is None else (),
        ),
    ),
    fits=lambda study, _tables: study.study.kind == "ratings",
)
