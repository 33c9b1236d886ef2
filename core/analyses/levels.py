"""Scores by level: does a metric fall as damage increases, and where does it prefer the damaged text?"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.schema.analysis import (
    Analysis,
    Table,
    Tell,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.result_table import Interval
from core.schema.rows import WHOLE, column, columns, entry, row
from core.schema.settings import Settings

if TYPE_CHECKING:
    from core.results.correlations.levels import MetricByLevel
    from core.schema.scores import ScoreTable


class LevelsOptions(Settings):
    """Options of the intervals."""

    n_resamples: int = resamples_setting(10_000, "number of resamples of items; 0 for no intervals")
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()


@row
class LevelRow:
    """One metric at one level."""

    metric: str = column("the metric", key="", names_row=True)
    family: str = column("its family", key="", shown=False)
    level: str = column("the level", names_row=True)
    mean: Interval = column(
        "mean score over items, on the metric's own scale; JSON adds how it was resampled, n and n_left_out",
        title="mean score",
        ends="inline",
    )
    prefers_damaged: Interval | None = column(
        "share of items whose text at this level scores higher than the undamaged one; items whose scores are all equal are left out",
        key="",
    )


@row
class DamagedRow:
    """How often one metric prefers the damaged texts of a level."""

    level: str = column("the level, or all", key="")
    share: Interval = column(
        "share of damaged texts that score higher than the undamaged text of their item", ends="inline"
    )


@row
class WorstRow:
    """A damaged text that a metric prefers to the undamaged one."""

    metric: str = column("the metric", key="", names_row=True)
    item_id: str = column("the item", name="item", names_row=True)
    system: str = column("who wrote the text", names_row=True)
    labels: Mapping[str, str] = columns("labels that the item's texts share")
    level: str = column("level of the damaged text")
    first_score: float = column("score of the undamaged text", name="undamaged")
    score: float = column("score of the damaged text", name="damaged")
    ahead: float = column("the second minus the first", key="")


@row
class ConstantScore:
    """The score that all or nearly all texts have."""

    value: float = entry("the score")
    share: float = entry("its share of the scores")
    n: int = entry("number of scores")
    n_others: int = entry("number of other scores")


@row
class MetricRow:
    """One metric over all levels."""

    metric: str = column("the metric", names_row=True)
    family: str = column("its family", shown=False)
    items: int = column("items with a score at every level that are not all equal", key="")
    left_out: Mapping[str, int] = column("reason -> items that monotonic leaves out", title="left out")
    monotonic: Interval = column(
        "share of these items whose scores never rise from a level to the next worse one", ends="object"
    )
    strictly_monotonic: Interval = column(
        "share of the items with a score at every level whose scores fall at every step", ends="object"
    )
    prefers: Interval = column(
        "share of damaged texts that score higher than the undamaged text of their item",
        name="prefers_damaged",
        key="",
    )
    constant_value: float | None = column(
        "the score of at least 95 % of the texts, if there is one", key="", shown=False
    )
    constant_share: float | None = column("its share of the scores", key="", shown=False)
    constant: ConstantScore | None = entry(
        "the score of at least 95 % of the texts, null if scores vary", rows=ConstantScore
    )
    levels: tuple[LevelRow, ...] = entry("its mean at each level, the best level first", rows=LevelRow)
    prefers_damaged: tuple[DamagedRow, ...] = entry(
        "how often it prefers the damaged text, by level and over all", rows=DamagedRow, keyed_by="level"
    )
    worst: tuple[WorstRow, ...] = entry(
        "texts with the largest lead over the undamaged one, the largest first", rows=WorstRow
    )


@row
class Levels:
    """Every metric by level."""

    levels: tuple[MetricRow, ...] = entry("each metric", rows=MetricRow, key=WHOLE)
    numbers: "tuple[MetricByLevel, ...]"
    """As they were computed."""
    renamed: tuple[str, ...]


def compute(options: LevelsOptions, table: "ScoreTable", *, tell: Tell) -> Levels:
    """Compare each metric's scores by level, within each item of each system (`compare_levels`)."""
    from core.joining.quality import renamed_said
    from core.results.correlations.levels import compare_levels

    tell("computing scores by level")
    numbers = compare_levels(table, **options.model_dump())
    return Levels(tuple(map(_metric_row, numbers)), numbers, renamed_said(table))


def _metric_row(found: "MetricByLevel") -> MetricRow:
    from dataclasses import astuple

    from core.results.cells import counted_how, interval, share_of
    from core.results.correlations.levels import ALL_LEVELS

    constant = None if found.constant is None else ConstantScore(*astuple(found.constant))
    ahead = found.prefers_damaged
    return MetricRow(
        metric=found.metric,
        family=found.family,
        items=found.monotonic.n,
        left_out=found.left_out,
        monotonic=counted_how(share_of(found.monotonic, "items"), found.monotonic),
        strictly_monotonic=counted_how(share_of(found.strictly_monotonic, "items"), found.strictly_monotonic),
        prefers=share_of(ahead[ALL_LEVELS], "texts"),
        constant_value=None if constant is None else constant.value,
        constant_share=None if constant is None else constant.share,
        constant=constant,
        levels=tuple(
            LevelRow(
                *(found.metric, found.family, level, counted_how(interval(mean), mean)),
                interval(ahead[level]) if at else None,
            )
            for at, (level, mean) in enumerate(found.levels.items())
        ),
        prefers_damaged=tuple(
            DamagedRow(level, counted_how(interval(share), share)) for level, share in ahead.items()
        ),
        worst=tuple(
            WorstRow(
                *(found.metric, one.item_id, one.system, one.labels, one.level, one.first_score, one.score),
                one.score - one.first_score,
            )
            for one in found.worst
        ),
    )


ANALYSIS = Analysis(
    name="levels",
    title="Levels",
    question="Does a metric fall with each step of damage, and where does it prefer the damaged text?",
    Options=LevelsOptions,
    Result=Levels,
    takes=("table",),
    compute=compute,
    verdicts=lambda _: (),
    sentences=lambda found: found.renamed,
    section="statistics#levels",
    misleads="An average can fall although single items do not: read monotonic. Items whose scores are all equal are left out, so a "
    "metric with many of them has shares of few items.",
    refuses="If fewer than two levels have texts.",
    example="""
>>> import assay
>>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics="chrf-6-0")
>>> assay.levels(scores, resamples=0).names
['levels', 'monotonic', 'prefers-damaged']
""",
    tables=(
        Table(
            "levels",
            LevelRow,
            lambda found: [level for one in found.levels for level in one.levels],
            "Mean score by level",
        ),
        Table(
            "monotonic",
            MetricRow,
            lambda found: found.levels,
            "Order of the levels",
            "Monotonic: share of items whose scores never rise from a level to the next worse one. Strictly: they fall at every step. "
            "Prefers damaged: share of damaged texts that score above the undamaged text of their item. Items whose scores are all "
            "equal count in neither Monotonic nor Prefers damaged.",
            notes=lambda _: (
                "Monotonic: share of items whose scores never rise. Strictly monotonic: they fall at every step.",
            ),
        ),
        Table(
            "prefers-damaged",
            WorstRow,
            lambda found: [case for one in found.levels for case in one.worst],
            "Where the damaged text wins",
            "Texts that a metric scores above the undamaged text of the same item. The largest lead comes first.",
            most_printed=0,
        ),
    ),
)
