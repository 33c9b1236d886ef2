"""Two judges on the same texts: do they put them in the same order, how far apart are they, and on which texts?"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.schema.analysis import (
    Analysis,
    Table,
    Tell,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.result_table import Interval
from core.schema.rows import WHOLE, column, entry, row
from core.schema.settings import Remark, Settings, setting

if TYPE_CHECKING:
    from core.results.judges.agreement import Agreement, Disagreement
    from core.schema.scores import ScoredRow, ScoreTable, WithTexts
    from core.stats.resampling import Estimate


class JudgeAgreementOptions(Settings):
    """Which columns are compared, and how many texts are shown."""

    metrics: tuple[str, ...] | None = setting(
        None,
        "Columns",
        "one column of each (default: matching columns, e.g. both coverages, or a single column with all others)",
        listed=True,
        metavar="NAME_A,NAME_B",
    )
    n_texts: int = setting(
        10,
        "Texts",
        "number of texts to show, largest difference first",
        at_least=0,
        option="texts",
        metavar="N",
    )
    n_resamples: int = resamples_setting(10_000)
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()


@row
class NamedText:
    """Which text it is."""

    item_id: str = entry("its item")
    system: str = entry("its system")
    level: str | None = entry("its level")
    language: str = entry("its language")
    labels: Mapping[str, str] = entry("its labels")


@row
class ApartRow:
    """A text that both scored."""

    row: NamedText = entry("the text", rows=NamedText)
    item: str = column("its item", title="Item", key="", names_row=True)
    system: str | None = column("its system", title="System", key="")
    level: str | None = column("its level", title="Level", key="")
    score_a: float = column("score of the first on its own scale", name="first", title="A")
    score_b: float = column("score of the second on its own scale", name="second", title="B")
    percentile_a: float = column(
        "(mid-rank - 1/2) / n of the first score among the texts that both scored; higher is better",
        name="first_percentile",
        title="Percentile A",
        places=2,
    )
    percentile_b: float = column(
        "the same of the second", name="second_percentile", title="Percentile B", places=2
    )
    difference: float = column("second percentile minus the first, -1 to 1", title="B - A", places=2)
    text: str | None = column("the text, where a judge's run tells it", title="Text", key="")


@row
class MeasureRow:
    """One measure of the agreement of two columns."""

    first: str = column("a column; #2 at the end if both have the same name", shown=False)
    second: str = column("the other column", shown=False)
    measure: str = column("the measure", title="Agreement", names_row=True)
    estimate: Interval = column("its value", title="Value")


@row
class Coefficients:
    """One number for each coefficient."""

    pearson: Interval = entry("Pearson", ends="counted")
    spearman: Interval = entry("Spearman", ends="counted")
    kendall: Interval = entry("Kendall", ends="counted")


@row
class PairRow:
    """Two columns of scores over the texts that both have."""

    metric_a: str = column(
        "a column; #2 at the end if both have the same name", name="first", title="First", names_row=True
    )
    metric_b: str = column("the other column", name="second", title="Second", names_row=True)
    n: int = column("texts that both scored")
    pearson: Interval = column("Pearson over all texts", title="Pearson", key="")
    spearman: Interval = column("Spearman over all texts", title="Spearman", key="")
    kendall: Interval = column("Kendall over all texts", title="Kendall", key="")
    per_item: Interval = column(
        "Kendall's tau-b within each item, averaged over items",
        name="kendall_per_item",
        title="Kendall within items",
        ends="counted",
    )
    pearson_per_system: Interval = column(
        "Pearson between systems' means", title="Pearson between systems", key=""
    )
    mean_difference: Interval = column(
        "mean over texts of the second minus the first; undefined for percentiles, whose mean is the same",
        title="Mean difference",
        ends="counted",
    )
    sd_difference: Interval = column(
        "standard deviation (n - 1) of the differences", title="SD of differences", ends="counted"
    )
    scale: str = column(
        "scale of the differences: 0 to 1, a rubric that both have, or percentiles",
        title="Scale of differences",
    )
    left_out: Mapping[str, int] = column("reason -> texts without both scores", title="Left out")
    pooled: Coefficients = entry("over all texts; the interval resamples items", rows=Coefficients)
    per_system: Coefficients = entry("between systems' means; n counts systems", rows=Coefficients)
    disagreements: tuple[ApartRow, ...] = entry(
        "texts with the largest difference of percentiles, largest first", rows=ApartRow
    )
    notes: tuple[str, ...] = entry("texts that both tables have, and what was renamed or assumed")
    apart: "tuple[Disagreement, ...]"
    """Every text that both scored, largest difference first."""


@row
class JudgeAgreement:
    """Pairs of columns compared."""

    pairs: tuple[PairRow, ...] = entry("one entry for each pair of columns", key=WHOLE, rows=PairRow)
    confidence_level: float

    @property
    def only(self) -> PairRow | None:
        """The pair, if there is one: of several, a table has a row each."""
        return self.pairs[0] if len(self.pairs) == 1 else None


def compute(
    options: JudgeAgreementOptions, both: "tuple[WithTexts, WithTexts]", *, tell: Tell
) -> JudgeAgreement:
    """Compare columns of two tables of scores.

    Raises SettingsError if no columns match, and InputError for an unknown one, and if no text is in both.
    """
    from core.results.judges.agreement import agreement

    first, second = (one.table for one in both)
    drawn = options.model_dump(exclude={"metrics", "n_texts"})
    found = []
    for a, b in _matched(first, second, options.metrics):
        tell(f"comparing {a} and {b}")
        found.append(agreement(first, a, second, b, **drawn))
    texts = []
    if len(found) == 1 and found[0].disagreements[: options.n_texts]:
        texts = [named for one in both for named in one.texts()]
    return JudgeAgreement(
        tuple(_pair(one, texts, options.n_texts) for one in found), options.confidence_level
    )


def _matched(
    first: "ScoreTable", second: "ScoreTable", asked: tuple[str, ...] | None
) -> Sequence[tuple[str, str]]:
    """Match columns of the first table with columns of the second. Raises SettingsError if no match is clear."""
    from core.results.judges.agreement import same_components
    from core.tables.reading import shown

    names = [[metric.name for metric in table.metrics] for table in (first, second)]
    if asked is not None:
        if len(asked) != 2:
            ANALYSIS.refuse(
                [Remark("metrics", "name one column of each, separated by a comma, e.g. rubric-a,rubric-b")]
            )
        return [(asked[0], _plain_column(asked[1], names[1]))]
    if pairs := same_components(first, second):
        return pairs
    if 1 in (len(names[0]), len(names[1])):  # a single column against each column of the other
        return [(a, b) for a in names[0] for b in names[1]]
    if same := [(name, name) for name in names[0] if name in names[1]]:
        return same
    of = zip((first, second), names, strict=True)
    said = [{"table": shown(table.file_name), "columns": ", ".join(map(shown, own))} for table, own in of]
    ANALYSIS.refuse(
        [Remark("metrics", "choose one column of each; {table} has {columns}", one) for one in said]
    )
    return []


def _plain_column(name: str, names: Sequence[str]) -> str:
    """The second table's own name for a column that is printed with `#2` because both tables have it."""
    from core.joining.tables import SAME_NAME

    own = name.removesuffix(f"{SAME_NAME}2")
    return own if name not in names and own in names else name


def _pair(one: "Agreement", texts: "Sequence[tuple[ScoredRow, str]]", n_texts: int) -> PairRow:
    """Two columns compared, as every door shows them. texts: contents of texts, where they are known."""
    from core.results.cells import interval, item_mean

    of_item: dict[str, list[tuple[ScoredRow, str]]] = {}
    for named in texts:
        of_item.setdefault(named[0].item_id, []).append(named)
    pooled = _coefficients(one.pooled)
    return PairRow(
        metric_a=one.metric_a,
        metric_b=one.metric_b,
        n=one.n,
        pearson=pooled.pearson,
        spearman=pooled.spearman,
        kendall=pooled.kendall,
        per_item=item_mean(one.per_item),
        pearson_per_system=interval(one.per_system["pearson"]),
        mean_difference=interval(one.mean_difference),
        sd_difference=interval(one.sd_difference),
        scale=one.scale,
        left_out=one.left_out,
        pooled=pooled,
        per_system=_coefficients(one.per_system),
        disagreements=tuple(
            _apart(each, of_item.get(each.row.item_id, ())) for each in one.disagreements[:n_texts]
        ),
        notes=one.notes,
        apart=one.disagreements,
    )


def _coefficients(found: "Mapping[Any, Estimate]") -> Coefficients:
    from core.results.cells import interval

    return Coefficients(*(interval(found[name]) for name in ("pearson", "spearman", "kendall")))


def _apart(one: "Disagreement", of_item: "Sequence[tuple[ScoredRow, str]]") -> ApartRow:
    from core.joining.tables import text_of

    row = one.row
    return ApartRow(
        NamedText(row.item_id, row.system, row.level, row.language, row.labels),
        *(row.item_id, row.system or None, row.level),
        *(one.score_a, one.score_b, one.percentile_a, one.percentile_b, one.difference),
        text_of(row, of_item),
    )


def _measures(found: JudgeAgreement) -> tuple[MeasureRow, ...] | None:
    """One row for each measure of a single pair."""
    one = found.only
    if one is None:
        return None
    cells = {
        **{f"{name.capitalize()} over all texts": getattr(one.pooled, name) for name in _METHODS},
        "Kendall within items": one.per_item,
        **{f"{name.capitalize()} between systems": getattr(one.per_system, name) for name in _METHODS},
        "Mean difference (second minus first)": one.mean_difference,
        "SD of the differences": one.sd_difference,
    }
    return tuple(MeasureRow(one.metric_a, one.metric_b, name, cell) for name, cell in cells.items())


_METHODS = ("pearson", "spearman", "kendall")


def _sentences(found: JudgeAgreement) -> tuple[str, ...]:
    from core.errors import counted
    from core.tables.reading import shown

    one = found.only
    if one is None:
        return ("Compare two of these columns alone to see the texts on which they differ.",)
    return (f"{shown(one.metric_a)} and {shown(one.metric_b)}: {counted(one.n, 'text')} scored by both.",)


def _notes(found: JudgeAgreement) -> tuple[str, ...]:
    from core.results.cells import left_out_lines, resampled

    (one,) = found.pairs
    left_out, drawn = left_out_lines(one.left_out), resampled(found.confidence_level)
    return (*left_out, f"Scale of the differences: {one.scale}.", drawn, *one.notes)


def _notes_of_several(found: JudgeAgreement) -> tuple[str, ...]:
    from core.results.cells import each_for_itself, resampled

    return (
        "Differences: second minus first.",
        resampled(found.confidence_level),
        *each_for_itself(len(found.pairs)),
        *dict.fromkeys(note for one in found.pairs for note in one.notes),
    )


def _heading_of_texts(found: JudgeAgreement) -> str:
    (one,) = found.pairs
    return f"Largest differences in percentile among these texts (A: {one.metric_a}, B: {one.metric_b})"


def _texts(found: JudgeAgreement) -> tuple[ApartRow, ...] | None:
    return None if found.only is None else found.only.disagreements or None


ANALYSIS = Analysis(
    name="judge-agreement",
    title="Agreement of two judges",
    question="Do two judges order the same texts alike, how far apart are their scores, and on which texts?",
    Options=JudgeAgreementOptions,
    Result=JudgeAgreement,
    takes=("two_scores",),
    compute=compute,
    verdicts=lambda _: (),
    sentences=_sentences,
    refuses="If no columns match, and if no text is in both.",
    section="judges#judge-agreement",
    misleads="Judges that agree can share an error: only levels or people show who is right. If texts of all levels are pooled, any "
    "two judges that see the damage agree: read the tau within items. A mean difference near 0 hides differences in both directions: "
    "read the standard deviation, too.",
    example="""
>>> import assay
>>> found = assay.judge_agreement("run:3", "run:4")  # doctest: +SKIP
""",
    tables=(
        Table("agreement", MeasureRow, _measures, "Agreement", notes=_notes),
        Table(
            "two-judges",
            ApartRow,
            _texts,
            "Largest differences",
            "On which texts do their ranks differ most?",
            heading=_heading_of_texts,
            hidden=lambda found: () if any(one.text for one in _texts(found) or ()) else ("text",),
        ),
        Table(
            "judge-components",
            PairRow,
            lambda found: found.pairs if len(found.pairs) > 1 else None,
            "Column by column",
            "How far do columns that say the same agree?",
            notes=_notes_of_several,
            hidden=lambda found: () if any(one.left_out for one in found.pairs) else ("left_out",),
        ),
    ),
)
