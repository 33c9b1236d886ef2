"""How many examples does a judge need? F1 of its marked errors against the number of examples that it was shown (Specialist, Figure 3)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.analyses.marked_errors import CharactersRow, f1_values, resampling_notes
from core.analyses.spans import SpanTestRow, hidden_of_tests, notes_of_tests, tested_row
from core.schema.analysis import Analysis, Table, Tell
from core.schema.figures import AnyFigure, Axis, Dots
from core.schema.marks import SpanOptions, TaughtJudges
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row

if TYPE_CHECKING:
    from core.results.judges.spans import CurvePoint


@row
class PointRow:
    """One run: how many examples it was shown, and its agreement with people on the ratings that all runs share."""

    run: str = column("the run", title="Run", names_row=True, key="name")
    examples: str = column("where the examples are from: specialist, shuffled, fixed, none", title="Examples")
    requested: str | int = column(
        "examples requested, or all", name="n_examples", title="Examples requested", key=""
    )
    n_examples: int | None = entry("examples requested; null: all")
    mean_shown: float = column("examples shown, averaged over texts and draws", title="Mean shown", places=2)
    f1: Interval = column("F1 of characters averaged over draws", title="F1", key="")
    n_draws: int = column("draws of the examples", name="draws", title="Draws")
    f1_mean: float | None = column("mean F1 over draws", title="Mean F1", key="f1")
    f1_sd: float | None = column("its standard deviation, ddof 1", title="SD of F1", places=4, key="")
    precision: float | None = entry("mean over draws")
    recall: float | None = entry("mean over draws")
    sd: Mapping[str, float | None] = entry("precision, recall and f1 to the standard deviation over draws")
    intervals: Mapping[str, object] = entry("precision, recall and f1 to both ends of the interval, or null")
    reasons: Mapping[str, str] = entry("those of them that are undefined or have no interval, to why")
    characters: CharactersRow = entry("characters", rows=CharactersRow)


@row
class ExamplesCurve:
    """Runs of one judge with different numbers of examples."""

    gold: str
    """Where people's marks are from."""
    points: tuple[PointRow, ...] = entry(
        "each run, by where the examples are from, then by the mean number shown", rows=PointRow
    )
    tests: tuple[SpanTestRow, ...] = entry("every two runs", rows=SpanTestRow)
    n_segments: int = entry("compared ratings: a text and a rater of the gold, in all runs")
    n_items: int = entry("their items")
    notes: tuple[str, ...] = entry("what was read, left out and assumed")
    options: SpanOptions


def compute(options: SpanOptions, taught: TaughtJudges, *, tell: Tell) -> ExamplesCurve:
    """Compute F1 with its interval for each run's number of examples, on the ratings that all runs share.

    Raises InputError for fewer than two runs, for a judge that marks no errors, and if the runs share no text of the gold.
    """
    from core.results.judges.spans import example_curve

    tell("comparing the marked errors")
    runs = {one.name: one for one in taught.outputs}
    found = example_curve(taught.gold, runs, texts=taught.texts, options=options)
    return ExamplesCurve(
        gold=found.gold,
        points=tuple(map(_row, found.points)),
        tests=tuple(map(tested_row, found.tests)),
        n_segments=found.n_segments,
        n_items=found.n_items,
        notes=found.notes,
        options=options,
    )


def _row(point: "CurvePoint") -> PointRow:
    judge = point.judge
    values = f1_values(judge.overall)
    return PointRow(
        run=point.name,
        examples=point.variant,
        requested="all" if point.n_examples is None else point.n_examples,
        n_examples=point.n_examples,
        mean_shown=point.mean_shown,
        f1=values["f1"],
        n_draws=judge.n_draws,
        f1_mean=judge.f1.mean,
        f1_sd=judge.f1.sd,
        precision=judge.precision.mean,
        recall=judge.recall.mean,
        sd={"precision": judge.precision.sd, "recall": judge.recall.sd, "f1": judge.f1.sd},
        intervals=values["intervals"],
        reasons=values["reasons"],
        characters=values["characters"],
    )


def _sentences(found: ExamplesCurve) -> tuple[str, ...]:
    from core.errors import counted
    from core.tables.reading import shown

    on = f"{counted(found.n_segments, 'segment')} of {counted(found.n_items, 'item')}"
    return (f"F1 against {shown(found.gold)}, on {on} that all runs marked.",)


def _notes(found: ExamplesCurve) -> tuple[str, ...]:
    return (*resampling_notes(found.options), "SD: over draws of the examples, ddof 1.", *found.notes)


def _figures(found: ExamplesCurve) -> tuple[AnyFigure, ...]:
    return (
        Dots(
            table="examples-curve",
            alt=f"F1 of {len(found.points)} runs against the number of examples shown",
            x="mean_shown",
            y="f1",
            names=("run",),
            by="examples",
            x_axis=Axis(
                "examples shown per text (mean)", 0, 1.1 * max(one.mean_shown for one in found.points) or 1
            ),
            y_axis=Axis("F1 of characters", -0.02, 1.02),
        ),
    )


ANALYSIS = Analysis(
    name="examples-curve",
    title="F1 by number of examples",
    question="How does the agreement of a judge with people grow with the number of examples that it is shown?",
    Options=SpanOptions,
    Result=ExamplesCurve,
    takes=("taught",),
    compute=compute,
    verdicts=lambda _: (),
    sentences=_sentences,
    figures=_figures,
    section="judges#number-of-examples",
    refuses="For fewer than two runs, a judge that marks no errors, and runs that share no text of the gold.",
    misleads="If items have few texts, requesting more examples adds nothing: the mean number shown tells. Runs with another seed "
    "draw other examples, so that the larger set need not hold the smaller.",
    example="""
>>> import assay
>>> found = assay.examples_curve("marks.tsv", ["run:3", "run:4"])  # doctest: +SKIP
""",
    tables=(
        Table(
            "examples-curve", PointRow, lambda found: found.points, "F1 by number of examples", notes=_notes
        ),
        Table(
            "examples-curve-tests",
            SpanTestRow,
            lambda found: found.tests,
            "Differences in F1",
            notes=lambda found: notes_of_tests(found.tests),
            hidden=lambda found: hidden_of_tests(found.tests),
        ),
    ),
)
