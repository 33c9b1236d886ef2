"""Where people and judges differ most: the texts to read, with their words and the judge's reasons on request."""

from typing import TYPE_CHECKING

from core.schema.analysis import Analysis, Table, Tell
from core.schema.gaps import TITLE, GapRow, Gaps
from core.schema.settings import Settings, setting

if TYPE_CHECKING:
    from core.results.check.dossier import Dossier


class GapsOptions(Settings):
    """How much of the texts is listed."""

    most: int | None = setting(None, "Texts", "number of texts (default: all)", at_least=1)
    texts: bool = setting(
        False,
        "Show texts",
        "also the questions, the texts and the judge's reasons, which may be confidential",
    )


def compute(options: GapsOptions, dossier: "Dossier", *, tell: Tell) -> Gaps:
    """List the gaps of all judges of the panel, largest first."""
    from dataclasses import replace

    from core.results.check.gaps import find_gaps, gap_list
    from core.results.injection import mark_texts

    beside = dossier.beside(dossier.panel)
    panel, _ = mark_texts(dossier.panel, beside)
    tell("comparing")
    found = gap_list(panel, find_gaps(panel), beside if options.texts else (), most=options.most)
    return replace(found, notes=(*panel.notes, *found.notes))


ANALYSIS = Analysis(
    name="gaps",
    title="Where people and judge differ",
    question="On which texts do people and judges differ most?",
    Options=GapsOptions,
    Result=Gaps,
    takes=("dossier",),
    compute=compute,
    verdicts=lambda _: (),
    section="check#where-people-and-judge-differ",
    misleads="A text that one rater rated can lead the list because that rater slipped. Gaps of different measures cannot be "
    "compared, so a list of several judges is best read one by one.",
    example="""
>>> import assay, pandas as pd
>>> frame = pd.DataFrame({"item": ["q1", "q2"], "a": [1, 5], "b": [2, 5], "x": [5, 5]})
>>> assay.gaps(frame, human=["a", "b"], judge="x").frame[["item", "gap", "direction"]].values.tolist()
[['q1', 3.5, 'higher'], ['q2', 0.0, '']]
""",
    tables=(
        Table(
            "gaps",
            GapRow,
            lambda found: found.gaps,
            TITLE,
            notes=lambda found: found.notes,
            hidden=lambda found: found.hidden,
            shaped=lambda found: found.shaped,
            most_on_page=20,
        ),
    ),
)
