"""What a study of ratings answers: its rows, its JSON, and its tables."""

from collections.abc import Mapping
from typing import Any

from core.analyses.study_results.pairs import Filled, ListedRow, filled_table
from core.schema.analysis import Table, Verdict
from core.schema.figures import AnyFigure, Axis, Intervals
from core.schema.result_table import Interval
from core.schema.rows import column, columns, entry, row


@row
class TotalRow:
    """The ratings of a system at a level in a dimension."""

    system: str = column("the system", title="System", names_row=True)
    level: str | None = column("the level, if the study has levels", title="Level", names_row=True)
    dimension: str = column("the dimension", title="Dimension", names_row=True)
    mean: Interval = column("mean over texts of the mean over raters", title="Mean", places=2)
    texts: int = column("rated texts", title="Texts rated")
    unrated: int = column("texts without a rating", title="Not rated")
    ratings: int = column("ratings", title="Ratings")
    errors_per_rating: float | None = column(
        "marked errors a text and rater, where errors are marked", title="Errors per rating", places=2
    )


@row
class SystemRow:
    """The means of a system."""

    system: str = column("the system", title="System", names_row=True)
    means: Mapping[str, Any] = columns("`mean_DIMENSION`, its mean in each dimension")


@row
class LevelRow:
    """The means at a level."""

    level: str = column("the level", title="Level", names_row=True)
    means: Mapping[str, Any] = columns("`mean_DIMENSION`, the mean in each dimension")


@row
class RaterRow:
    """How much a rater has rated, and how strictly."""

    rater: str = column("the rater", title="Rater", names_row=True)
    texts: int = column("rated texts", title="Texts")
    means: Mapping[str, Any] = columns("`mean_DIMENSION`, the rater's mean in each dimension")
    errors_marked: int = column("errors that the rater marked", title="Errors marked")
    median_seconds_first: Interval = column(
        "median until the first answer", title="Median seconds to the first answer", places=1
    )
    median_seconds_visible: Interval = column(
        "median for which the text was visible", title="Median seconds visible", places=1
    )


@row
class TwiceRow:
    """How often a rater gave a text the same score again."""

    rater: str = column("the rater", title="Rater", names_row=True)
    dimension: str = column("the dimension", title="Dimension", names_row=True)
    rated_twice: int = column("texts rated twice", title="Rated twice")
    same: int = column("with the same score", title="Same score")
    mean_difference: float | None = column(
        "mean absolute difference of both scores", title="Mean difference", places=2
    )


@row
class RatingResults:
    """All results of a study of ratings."""

    study: str = entry("name of the study")
    state: str = entry("draft, open, closed or unblinded")
    task: str = entry("name of the raters' task")
    dataset_sha256: str = entry("hash of the study's file")
    n_answers: int = entry("rated texts that count, over all raters")
    n_translated: int = entry("of them, those rated on a page that the browser had translated")
    left_out: Mapping[str, int] = entry("reason -> rated texts that do not count")
    rated_highest: Mapping[str, Any] = entry(
        "the system with the highest mean: `sentence`, `word`, `why`, `systems`, `dimensions`, `separated`"
    )
    totals: tuple[Mapping[str, Any], ...] = entry(
        "by system and level, in each dimension: `system`, `level`, `dimension`, `mean` (an estimate), `n_ratings`, `n_texts`, `n_unrated`, "
        "`errors_per_rating`"
    )
    means_by_system: tuple[Mapping[str, Any], ...] = entry("the same over all levels")
    means_by_level: tuple[Mapping[str, Any], ...] = entry("the same over all systems; empty without levels")
    consistency: tuple[Mapping[str, Any], ...] = entry(
        "hidden repeats of each rater in each dimension: `rater`, `dimension`, `n`, `n_same`, `mean_difference`"
    )
    rater_seconds: Mapping[str, Any] = entry("rater -> answers, and medians of their times")
    agreement: Mapping[str, Any] = entry(
        "dimension -> the JSON of [agreement](#agreement-of-raters), or why raters cannot be compared there"
    )
    sentences: tuple[str, ...]
    filled: Mapping[str, Filled]
    """Table -> its rows and notes; without those that this study has not."""
    shapes: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """Table -> column -> how it is shown."""


def verdicts(results: RatingResults) -> tuple[Verdict, ...]:
    """Which system is rated highest."""
    highest = results.rated_highest
    if not highest["systems"]:
        return (Verdict("undefined", results.sentences[1], reason="nothing is rated"),)
    return (Verdict("highest" if highest["separated"] else "not-shown", results.sentences[1]),)


def figures(results: RatingResults) -> tuple[AnyFigure, ...]:
    """The means of all systems and levels."""
    return (TOTALS_FIGURE,) if results.filled["totals"].rows else ()


TOTALS_FIGURE = Intervals(
    table="totals",
    alt="Mean rating of each system and level with its interval, a panel for each dimension",
    instead=True,
    sides=("mean",),
    names=("system", "level"),
    axis=Axis("mean over texts"),
    panel="dimension",
)


def _table(name: str, kind: type, title: str, **more: Any) -> Table[Any]:
    return filled_table(name, kind, title, shaped=lambda found: found.shapes.get(name, {}), **more)


TABLES = (
    _table("totals", TotalRow, "By system"),
    _table("means-by-system", SystemRow, "Means by system"),
    _table("means-by-level", LevelRow, "Means by level"),
    _table(
        "raters",
        RaterRow,
        "By rater",
        question="How many texts has each rater rated, and how strictly?",
    ),
    _table(
        "repeats",
        TwiceRow,
        "Hidden repeats",
        question="Did a rater give a text the same score again? Such texts are few per rater, so take differences as a warning sign only.",
        section="statistics#consistency",
    ),
    _table("agreement", ListedRow, "Measures of agreement in each dimension"),
    _table("agreement-raters", ListedRow, "Each rater beside the others in each dimension"),
    _table("agreement-pairs", ListedRow, "Each pair of raters in each dimension"),
    _table("texts", ListedRow, "Texts", most_printed=0, apart=True),
)
"""Every table of a study of ratings, the main one first."""
