"""Errors that judges mark beside those that people marked: character-level precision, recall and F1."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.analyses.marked_errors import F1Row, f1_values, resampling_notes
from core.schema.analysis import Analysis, Table, Tell
from core.schema.figures import AnyFigure, Axis, Intervals
from core.schema.marks import Marks, SpanOptions
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Remark, setting

if TYPE_CHECKING:
    from core.results.judges.spans import DrawSummary, JudgeSpans, Paired, SpanTest
    from core.schema.scores import OutputSet, RatingSet
    from core.stats.span_f1 import SpanCounts

GROUPINGS = ("system", "rater", "severity")


class SpansOptions(SpanOptions):
    """Options for comparing the errors of judges with people's."""

    by: tuple[str, ...] = setting(
        (),
        "Also by",
        "also show results by system, by rater of the gold, or by severity; only for one judge without repeats; may be repeated",
        metavar="|".join(GROUPINGS),
    )

    def conflicts(self) -> list[Remark]:
        """Groupings that there are not."""
        known = {"known": ", ".join(GROUPINGS)}
        return [
            Remark("by", "{value} is not one of {known}", {"value": repr(one), **known})
            for one in self.by
            if one not in GROUPINGS
        ]


@row
class _Group:
    by: str = column(
        "what the row is about: all, system, rater or severity", title="By", names_row=True, key=""
    )
    name: str = column("which of them", title="Name", names_row=True, key="")


@row
class SpanRow(F1Row, _Group):
    """A judge's agreement with people on all ratings, or on those of a system, a rater or a severity."""


@row
class _Judge:
    judge: str = column("the judge", title="Judge", names_row=True, key="name")


@row
class JudgeRow(F1Row, _Judge):
    """One judge of several, on the ratings that all of them share."""

    precision: Interval = column(
        "share of the judge's characters that people marked, of characters averaged over draws",
        title="Precision",
        key="",
    )
    recall: Interval = column("the same of people's characters", title="Recall", key="")
    f1: Interval = column("both together", title="F1", key="")
    n_draws: int = column("repeats of the judge", name="draws", title="Draws")
    f1_mean: float | None = column("mean F1 over draws", title="Mean F1", key="f1")
    f1_sd: float | None = column("its standard deviation, ddof 1", title="SD of F1", places=4, key="")
    precision_mean: float | None = column("mean over draws", title="Mean precision", key="precision")
    precision_sd: float | None = column("its standard deviation", title="SD of precision", places=4, key="")
    recall_mean: float | None = column("mean over draws", title="Mean recall", key="recall")
    recall_sd: float | None = column("its standard deviation", title="SD of recall", places=4, key="")
    sd: Mapping[str, float | None] = entry("precision, recall and f1 -> standard deviation over draws")
    n_segments: int = entry("compared ratings")
    left_out: Mapping[str, int] = entry("reason -> ratings left out, the most of any draw")


_OVER_DRAWS = (
    "draws",
    *(f"{name}_{what}" for name in ("f1", "precision", "recall") for what in ("mean", "sd")),
)


@row
class SpanTestRow:
    """Two judges on the same ratings."""

    first: str = column("a judge", title="First", names_row=True)
    second: str = column("another one", title="Second", names_row=True)
    difference: float | None = column("F1 of the first minus the second", title="First minus second")
    p: float | None = column("two-sided p of no difference", title="p", places=4, p_value=True)
    p_holm: float | None = column("p corrected for every two judges", title="Holm p", places=4, p_value=True)
    n_units: int = column("items, which the test swaps", title="Items")
    why: str = column("why the difference or p is undefined", name="reason", title="Note", key="")
    n: int = entry("compared ratings")
    n_resamples: int = entry("swaps")
    n_left_out: int = entry("ratings left out")
    reason: str | None = entry("why the difference or p is undefined")


@row
class SpanAgreement:
    """One judge or several beside people's marks."""

    gold: str
    predicted: str
    """The judge, if it is alone."""
    alone: SpanRow | None = entry(
        "one judge without repeats, on all ratings", rows=SpanRow, inlined=True, optional=True
    )
    by_system: tuple[SpanRow, ...] | None = entry(
        "each system, if asked for", rows=SpanRow, keyed_by="name", optional=True
    )
    by_rater: tuple[SpanRow, ...] | None = entry(
        "each rater of the gold", rows=SpanRow, keyed_by="name", optional=True
    )
    by_severity: tuple[SpanRow, ...] | None = entry(
        "each severity: only errors of it on both sides", rows=SpanRow, keyed_by="name", optional=True
    )
    judges: tuple[JudgeRow, ...] | None = entry(
        "each judge of several, or one with repeats", rows=JudgeRow, inlined=True, optional=True
    )
    tests: tuple[SpanTestRow, ...] | None = entry("every two judges", rows=SpanTestRow, optional=True)
    n_segments: int = entry("compared ratings: a text, a rater of the gold, a judge")
    n_items: int = entry("their items")
    left_out: Mapping[str, int] | None = entry(
        "of one judge: reason -> ratings or texts left out", optional=True
    )
    notes: tuple[str, ...] = entry("what was read, left out and assumed")
    options: SpansOptions

    @property
    def groups(self) -> tuple[SpanRow, ...]:
        """The rows of all groupings that were asked for."""
        return (*(self.by_system or ()), *(self.by_rater or ()), *(self.by_severity or ()))


def compute(options: SpansOptions, marks: Marks, *, tell: Tell) -> SpanAgreement:
    """Compare the marks of each judge with people's.

    One judge without repeats is compared on all ratings, several on those that all of them share (`compare_spans`).
    Raises SettingsError for groupings that these marks do not have, InputError if no text is in both.
    """
    tell("comparing the marked errors")
    (_, draws), *others = marks.judges.items()
    if not others and len(draws) == 1:
        return span_agreement(marks.gold, draws[0], texts=marks.texts, options=options)
    if options.by:
        ANALYSIS.refuse([Remark("by", "only for a single judge without repeats")])
    return _side_by_side(options, marks)


def span_agreement(
    gold: "RatingSet", predicted: "RatingSet", *, texts: "OutputSet | None" = None, options: SpansOptions
) -> SpanAgreement:
    """Compute the shares of predicted characters that people marked (precision) and of theirs that were predicted (recall).

    Micro-averaged over all characters of all segments: a character counts 1 if the severities agree, 1/2 if only the marks
    do. A segment is one text as one rater of the gold marked it. texts: if given, spans are clipped to the texts' lengths.
    Misleads like all micro-averages: long marks weigh more than short ones, and a judge that marks whole sentences gains
    recall by length alone. Several raters of one text limit the attainable F1: see the analysis `raters`. Raises InputError if no
    text with marked errors is in both.
    """
    import numpy as np

    from core.joining.choices import NO_VALUE
    from core.results.judges.spans import PEOPLE, counts_of, pair_spans, said_of
    from core.stats.span_f1 import span_f1

    paired = pair_spans(gold, predicted, texts=texts, **options.pairing)
    counts, items = counts_of(paired.segments), paired.items
    raters = [segment.rater for segment in paired.segments]
    systems = [segment.row.system or NO_VALUE for segment in paired.segments]
    if "rater" in options.by and not any(raters):
        ANALYSIS.refuse([Remark("by", "rater: the ratings do not name raters, or {raters} merged them")])
    clipped = f"{counts.n_clipped:,} spans were cut at the end of their text"
    overall = span_f1(counts, items, **options.resampling)
    return SpanAgreement(
        gold=gold.file_name,
        predicted=predicted.file_name,
        alone=SpanRow(by="all", name="all", **f1_values(overall)),
        by_system=_grouped("system", counts, items, systems, options),
        by_rater=_grouped("rater", counts, items, raters, options),
        by_severity=_severity_rows(paired, items, options),
        judges=None,
        tests=None,
        n_segments=len(paired.segments),
        n_items=int(np.unique(items).size),
        left_out=paired.left_out,
        notes=(
            *said_of(PEOPLE, [gold]),
            *said_of(predicted.file_name, [predicted]),
            *paired.notes,
            *([clipped] if counts.n_clipped else []),
        ),
        options=options,
    )


def _grouped(
    by: str, counts: "SpanCounts", items: Any, names: Sequence[str], options: SpansOptions
) -> tuple[SpanRow, ...] | None:
    """The rows of a grouping; None if it was not asked for."""
    import numpy as np

    from core.results.judges.spans import select_counts
    from core.stats.span_f1 import span_f1

    if by not in options.by:
        return None
    groups = np.array(names, dtype=str)
    return tuple(
        SpanRow(
            by=by,
            name=name,
            **f1_values(
                span_f1(select_counts(counts, groups == name), items[groups == name], **options.resampling)
            ),
        )
        for name in sorted(set(names))
    )


def _severity_rows(paired: "Paired", items: Any, options: SpansOptions) -> tuple[SpanRow, ...] | None:
    """Only the spans of one severity on both sides: a wrong severity is then a miss, not half a hit."""
    from core.results.judges.spans import counts_of
    from core.stats.span_f1 import span_f1

    if "severity" not in options.by:
        return None
    spans = {span for segment in paired.segments for span in (*segment.gold, *segment.predicted)}
    return tuple(
        SpanRow(
            by="severity",
            name=severity,
            **f1_values(span_f1(counts_of(paired.segments, severity), items, **options.resampling)),
        )
        for severity in sorted({severity for _, _, severity in spans})
    )


def _side_by_side(options: SpansOptions, marks: Marks) -> SpanAgreement:
    from core.results.judges.spans import compare_spans

    found = compare_spans(marks.gold, marks.judges, texts=marks.texts, options=options)
    several = len(found.judges) > 1
    return SpanAgreement(
        gold=found.gold,
        predicted="",
        alone=None,
        by_system=None,
        by_rater=None,
        by_severity=None,
        judges=tuple(judge_row(one, found.n_segments) for one in found.judges),
        tests=tuple(map(tested_row, found.tests)) if several else None,
        n_segments=found.n_segments,
        n_items=found.n_items,
        left_out=None,
        notes=found.notes,
        options=options,
    )


def judge_row(judge: "JudgeSpans", n_segments: int) -> JudgeRow:
    """A judge as a row. n_segments: the ratings that all judges share."""
    measures: dict[str, DrawSummary] = {"f1": judge.f1, "precision": judge.precision, "recall": judge.recall}
    drawn: dict[str, Any] = {
        **{f"{name}_mean": draws.mean for name, draws in measures.items()},
        **{f"{name}_sd": draws.sd for name, draws in measures.items()},
    }
    return JudgeRow(
        judge=judge.name,
        **f1_values(judge.overall),
        n_draws=judge.n_draws,
        **drawn,
        sd={name: draws.sd for name, draws in measures.items()},
        n_segments=n_segments,
        left_out=judge.left_out,
    )


def tested_row(test: "SpanTest") -> SpanTestRow:
    """A test of two judges as a row."""
    return SpanTestRow(
        first=test.first,
        second=test.second,
        p_holm=test.p_holm,
        why=test.test.reason or "",
        **vars(test.test),
    )


def _alone_notes(found: SpanAgreement) -> tuple[str, ...]:
    from core.results.cells import left_out_lines

    severity = ("By severity: only errors of that severity on both sides.",)
    return (
        *(severity if found.by_severity is not None else ()),
        *resampling_notes(found.options),
        *left_out_lines(found.left_out or {}),
        *found.notes,
    )


def _several_notes(found: SpanAgreement) -> tuple[str, ...]:
    from core.results.cells import left_out_lines

    drawn = (
        "Judges with several draws: the first columns average characters over draws. SD: over draws, ddof 1."
    )
    judges = found.judges or ()
    return (
        *((drawn,) if any(one.n_draws > 1 for one in judges) else ()),
        *resampling_notes(found.options),
        *(note for one in judges for note in left_out_lines(one.left_out, one.judge)),
        *found.notes,
    )


def n_tested(tests: Sequence[SpanTestRow]) -> int:
    """The tests that have a p."""
    return sum(one.p is not None for one in tests)


def notes_of_tests(tests: Sequence[SpanTestRow]) -> tuple[str, ...]:
    """What was tested, and for how many tests p was corrected."""
    from core.results.cells import corrected_note

    return (
        "p: paired permutation test over whole items, two-sided.",
        *corrected_note("holm", n_tested(tests), "every two judges"),
    )


def hidden_of_tests(tests: Sequence[SpanTestRow]) -> tuple[str, ...]:
    """Columns that readers of these tests need not see."""
    return (
        *(("p_holm",) if n_tested(tests) < 2 else ()),
        *(() if any(one.reason for one in tests) else ("reason",)),
    )


def _sentences(found: SpanAgreement) -> tuple[str, ...]:
    from core.errors import counted
    from core.tables.reading import shown

    on = f"{counted(found.n_segments, 'segment')} of {counted(found.n_items, 'item')}"
    if found.judges is None:
        return (f"{shown(found.predicted)} against {shown(found.gold)}: {on}.",)
    return (f"{counted(len(found.judges), 'judge')} against {shown(found.gold)}, on {on} that all marked.",)


def _figures(found: SpanAgreement) -> tuple[AnyFigure, ...]:
    axis = Axis("F1 of characters", -0.02, 1.02)
    if found.groups:
        alt = f"F1 of characters of all texts and of {len(found.groups)} groups, with intervals"
        return (
            Intervals(
                table="span-agreement",
                alt=alt,
                sides=("f1",),
                names=("name",),
                axis=axis,
                panel="by",
                by="by",
            ),
        )
    if found.judges is not None and len(found.judges) > 1:
        alt = f"F1 of characters of {len(found.judges)} judges, with intervals"
        return (Intervals(table="spans-side-by-side", alt=alt, sides=("f1",), names=("judge",), axis=axis),)
    return ()


ANALYSIS = Analysis(
    name="spans",
    title="Agreement",
    question="Which share of the characters that a judge marks as errors did people mark, and which share of theirs does it mark?",
    Options=SpansOptions,
    Result=SpanAgreement,
    takes=("marks",),
    compute=compute,
    verdicts=lambda _: (),
    sentences=_sentences,
    figures=_figures,
    section="judges#marked-errors-against-peoples",
    refuses="If no text with marked errors is on both sides.",
    misleads="Long marks weigh more than short ones, and a judge that marks whole sentences gains recall by length alone. "
    "Raters who differ limit the attainable F1: `report raters` shows how far they agree. A judge that failed on hard texts removes "
    "them for all.",
    example="""
>>> import assay, pandas as pd
>>> texts = pd.DataFrame({"item_id": ["q1", "q2"], "system": "A", "severity": "major"})
>>> people, judge = texts.assign(start=0, end=[4, 6]), texts.assign(start=[0, 3], end=[4, 6])
>>> found = assay.spans(people, judge, resamples=0)
>>> [round(found.json[name], 2) for name in ("precision", "recall", "f1")]
[1.0, 0.7, 0.82]
""",
    tables=(
        Table(
            "span-agreement",
            SpanRow,
            lambda found: None if found.alone is None else (found.alone, *found.groups),
            "Agreement",
            notes=_alone_notes,
            hidden=lambda found: () if found.groups else ("by", "name"),
        ),
        Table(
            "spans-side-by-side",
            JudgeRow,
            lambda found: found.judges,
            "Side by side",
            "How do judges compare on the ratings that all of them answered?",
            notes=_several_notes,
            hidden=lambda found: () if any(one.n_draws > 1 for one in found.judges or ()) else _OVER_DRAWS,
        ),
        Table(
            "spans-tests",
            SpanTestRow,
            lambda found: found.tests,
            "Differences in F1",
            notes=lambda found: notes_of_tests(found.tests or ()),
            hidden=lambda found: hidden_of_tests(found.tests or ()),
        ),
    ),
)
