"""Two metrics compared on the texts that both scored: in every group and view, by each coefficient."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.schema.analysis import Analysis, Table, Tell, Verdict
from core.schema.correlating import CompareOptions
from core.schema.result_table import Interval
from core.schema.rows import WHOLE, column, columns, entry, row

if TYPE_CHECKING:
    from core.joining.quality import Quality
    from core.results.correlations.ranking import MetricComparison
    from core.stats.resampling import Estimate


@row
class ComparedRow:
    """Two metrics in one group and view, by one coefficient."""

    group: Mapping[str, str] = columns("column -> value of the group", names_row=True)
    first: str = column("a metric", shown=False)
    second: str = column("another metric", shown=False)
    view: str = column(
        "what is correlated: all texts (pooled), texts within each item (per item), means of systems (per system), or texts with each "
        "system's mean removed (given system)",
        key="",
    )
    of: str = entry("`pooled`, `per_item`, `per_system` or `given_system`", key="view")
    method: str = column("the coefficient", title="coefficient")
    first_coefficient: Interval = column(
        "coefficient of the first on the texts that both scored", heat="coefficient", ends="object"
    )
    second_coefficient: Interval = column(
        "coefficient of the second on these texts", heat="coefficient", ends="object"
    )
    difference: Interval = column(
        "first minus second; its interval draws the same items for both", ends="object"
    )
    p: float | None = column(
        "two-sided p of no difference, by swapping whole items", name="p_two_sided", title="p", p_value=True
    )
    p_holm: float | None = column(
        "p corrected for the groups and views of one coefficient (Holm)", title="Holm p", p_value=True
    )
    n_tests: int = entry("tests of this coefficient in all groups and views")
    n_swaps: int = entry("swaps behind p")
    n: int = column("rows compared; per system, systems")
    n_left_out: int = column("rows or systems left out", title="left out", key="")
    left_out: Mapping[str, int] = column("reason -> rows or systems left out", shown=False)
    reason: str | None = column("why there is no p")


@row
class Compared:
    """Two metrics in every group and view."""

    comparison: tuple[ComparedRow, ...] = entry("each comparison", key=WHOLE, rows=ComparedRow)
    numbers: "tuple[MetricComparison, ...]"
    """As they were computed."""
    renamed: tuple[str, ...]
    notes_of_ratings: tuple[str, ...]

    @property
    def n_tests(self) -> int:
        """Tests of a coefficient in all groups and views."""
        return max((one.n_tests for one in self.comparison), default=0)

    def several(self, name: str) -> bool:
        """Whether comparisons differ in a field."""
        return len({getattr(one, name) for one in self.comparison}) > 1


def compute(options: CompareOptions, quality: "Quality", *, tell: Tell) -> Compared:
    """Compare two metrics in every group and view and by each coefficient (`compare_in_groups`)."""
    from core.joining.quality import renamed_said
    from core.results.correlations.ranking import compare_in_groups

    of = quality.merged
    numbers = compare_in_groups(of.table, of.ratings, options, use=quality.use, tell=tell)
    return compared(numbers, renamed_said(of.table), () if of.ratings is None else of.ratings.notes)


def compared(
    numbers: "Sequence[MetricComparison]",
    renamed: tuple[str, ...] = (),
    notes_of_ratings: tuple[str, ...] = (),
) -> Compared:
    """Comparisons of the same two metrics as every door shows them. notes_of_ratings: where no door shows them apart."""
    from core.results.cells import drawn_how, interval, width_warned

    def cell(found: "Estimate") -> Interval:
        return drawn_how(width_warned(interval(found)), found)

    return Compared(
        tuple(
            ComparedRow(
                group=one.group,
                first=one.first,
                second=one.second,
                view=one.view.replace("_", " "),
                of=one.view,
                method=one.method,
                first_coefficient=cell(one.first_estimate),
                second_coefficient=cell(one.second_estimate),
                difference=cell(one.difference),
                p=one.p,
                p_holm=one.p_holm,
                n_tests=one.n_tests,
                n_swaps=one.n_swaps,
                n=one.n,
                n_left_out=sum(one.left_out.values()),
                left_out=one.left_out,
                reason=one.p_reason,
            )
            for one in numbers
        ),
        tuple(numbers),
        renamed,
        notes_of_ratings,
    )


def _verdicts(comparison: Compared) -> tuple[Verdict, ...]:
    """The verdict of the first coefficient over all texts, unless there are groups."""
    from core.results.correlations.ranking import compared_verdict

    if any(one.group for one in comparison.comparison):
        return ()
    return tuple(
        Verdict(
            code,
            f"{one.method.capitalize()} over all texts: {sentence}.",
            reason="" if one.p is not None else sentence,
        )
        for one in comparison.numbers[:1]
        for code, sentence in [compared_verdict(one)]
    )


def _notes(comparison: Compared) -> tuple[str, ...]:
    from core.results.cells import corrected_note, left_out_notes

    first, systems = comparison.numbers[:1], ("rows", "systems")
    drawn = (
        f"Intervals: {one.difference.confidence_level:.0%}, percentile bootstrap over items, the same items for both metrics. "
        f"p: two-sided, {one.n_swaps:,} swaps of whole items."
        for one in first
        if one.difference.low is not None
    )
    coefficients = (
        "Coefficients ask one question in several ways, so they are not corrected: choose one beforehand.",
    )
    left_out = (
        note
        for things in systems
        for note in left_out_notes(
            [
                (", ".join(one.group.values()), one.left_out)
                for one in comparison.comparison
                if (one.of == "per_system") == (things == "systems")
            ],
            things,
        )
    )
    return (
        *drawn,
        *corrected_note("holm", comparison.n_tests, "groups and views of one coefficient"),
        *(coefficients if comparison.several("method") else ()),
        *left_out,
        *comparison.notes_of_ratings,
    )


def _two(comparison: Compared) -> tuple[str, str]:
    return next(((one.first, one.second) for one in comparison.comparison), ("first", "second"))


def _shaped(comparison: Compared) -> Mapping[str, Mapping[str, object]]:
    first, second = _two(comparison)
    naming = {
        name: {"names_row": comparison.several(name), "shown": comparison.several(name)}
        for name in ("view", "method")
    }
    return {**naming, "first_coefficient": {"title": first}, "second_coefficient": {"title": second}}


def _hidden(comparison: Compared) -> list[str]:
    unseen = {
        "p_holm": comparison.n_tests < 2,
        "reason": not any(one.reason for one in comparison.comparison),
    }
    return [name for name, hidden in unseen.items() if hidden]


ANALYSIS = Analysis(
    name="compare",
    title="Two metrics compared",
    question="Which of two metrics follows quality more closely, on the texts that both scored?",
    Options=CompareOptions,
    Result=Compared,
    takes=("quality",),
    compute=compute,
    verdicts=_verdicts,
    codes={
        "better": "one of the two follows quality more closely: p and the interval show it",
        "not-shown": "no difference is shown",
        "undecided": "p and the interval disagree",
        "undefined": "no comparison is possible",
    },
    sentences=lambda found: found.renamed,
    section="statistics#two-metrics-compared",
    misleads="The views answer different questions, so p_holm is corrected for them and for groups. Coefficients are not corrected: "
    "choose one before you look at p.",
    refuses="Unless both are metrics of the scores.",
    example="""
>>> import assay
>>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics=["chrf-6-0", "bleu-4"])
>>> frame = assay.compare(scores, "chrf-6-0", "bleu-4", methods="spearman", resamples=200).frame
>>> frame[["view", "n"]].values.tolist()
[['pooled', 140], ['per item', 130], ['given system', 140]]
""",
    tables=(
        Table(
            "comparison",
            ComparedRow,
            lambda found: found.comparison,
            "Two metrics compared",
            heading=lambda found: " compared with ".join(_two(found)) + ", on the same texts",
            notes=_notes,
            hidden=_hidden,
            shaped=_shaped,
        ),
    ),
)
