"""An analysis as somebody would add one: this file, and a line in core.analyses."""

from typing import TYPE_CHECKING

from core.schema.analysis import Analysis, Table, Tell, Verdict
from core.schema.figures import AnyFigure, Shares
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Remark, Settings, setting

if TYPE_CHECKING:
    from core.schema.panel import Panel


class LeniencyOptions(Settings):
    """What counts as lenient."""

    margin: float = setting(
        0.5, "Margin", "points by which a judge may be above people", above=0, at_most=10, step=0.5
    )
    excluded: tuple[float, ...] = setting((), "Excluded scores", "scores that do not count", listed=True, folded=True)  # fmt: skip


@row
class JudgeRow:
    """One judge beside all raters."""

    judge: str = column("the judge", key="", names_row=True)
    above: int = column("texts on which it is above the raters' mean")
    equal: int = column("texts on which it equals the mean")
    below: int = column("texts on which it is below the mean")
    difference: Interval = column("its mean minus the raters' mean", title="mean difference", ends="object")
    lenient: bool | None = column(
        "whether the difference is above the margin", words=("lenient", "not lenient")
    )


@row
class Leniency:
    """The difference between judges and people."""

    margin: float = entry("points by which a judge may be above people")
    judges: tuple[JudgeRow, ...] = entry("each judge by its name", rows=JudgeRow, keyed_by="judge")


def compute(options: LeniencyOptions, panel: "Panel", *, tell: Tell) -> Leniency:
    """Compare each judge with the raters' mean. Raises SettingsError without a judge."""
    import numpy as np

    if not panel.judges:
        ANALYSIS.refuse([Remark("judge", "no judge to compare")])
    tell("comparing")
    rated = ~np.isnan(panel.ratings).all(axis=1)
    means = np.nanmean(panel.ratings[rated], axis=1)
    rows = []
    for name, scores in zip(panel.judges, panel.scores[rated].T, strict=True):
        known = ~np.isnan(scores) & ~np.isin(scores, options.excluded)
        gaps = (scores - means)[known]
        n_above, n_below = int((gaps > 0).sum()), int((gaps < 0).sum())
        mean = float(gaps.mean()) if gaps.size else None
        difference = Interval(mean, n=gaps.size, reason="" if gaps.size else "no score on a rated text")
        lenient = None if mean is None else mean > options.margin
        rows.append(JudgeRow(name, n_above, gaps.size - n_above - n_below, n_below, difference, lenient))
    return Leniency(options.margin, tuple(rows))


def _verdict(one: JudgeRow) -> Verdict:
    from core.tables.reading import shown

    name = shown(one.judge)  # of a file, so perhaps with line breaks or very long
    if one.lenient is None:
        return Verdict("undefined", f"{name}: undefined.", reason=one.difference.reason, status=4)
    if one.lenient:
        return Verdict("lenient", f"{name} is lenient.", status=3)
    return Verdict("not-lenient", f"{name} is not lenient.")


def _figures(_found: Leniency) -> tuple[AnyFigure, ...]:
    parts = ("above", "equal", "below")
    return (
        Shares(
            table="leniency", alt="Texts above and below people", parts=parts, names=("judge",), of="texts"
        ),
    )


ANALYSIS = Analysis(
    name="leniency",
    title="Leniency",
    question="Does a judge give more than people do?",
    Options=LeniencyOptions,
    Result=Leniency,
    takes=("panel",),
    compute=compute,
    verdicts=lambda found: tuple(map(_verdict, found.judges)),
    figures=_figures,
    section="calibration#top-class-bias",
    misleads="A judge that is lenient on one half of the texts and harsh on the other is not found.",
    refuses="Without a judge.",
    codes={"lenient": "above the margin", "not-lenient": "within it", "undefined": "nothing to compare"},
    example="""
>>> import assay, pandas as pd
>>> frame = pd.DataFrame({"item": range(4), "a": [1, 2, 3, 4], "b": [1, 2, 3, 4], "x": [2, 3, 4, 5]})
>>> assay.leniency(frame, human=["a", "b"], judge="x").verdict
'x is lenient.'
""",
    tables=(
        Table(
            "leniency",
            JudgeRow,
            lambda found: found.judges,
            "Leniency",
            notes=lambda found: (f"Lenient: more than {found.margin:g} above people.",),
        ),
    ),
)
