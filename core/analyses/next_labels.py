"""Which texts to label next: unlabelled ones, drawn with known probabilities, more often where people and judge may differ."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.schema.analysis import Analysis, Table, Tell, rng_setting
from core.schema.result_table import Cell
from core.schema.rows import column, columns, entry, row
from core.schema.settings import Settings, setting

if TYPE_CHECKING:
    from core.results.check.dossier import Dossier
    from core.results.check.next_labels import NextLabels
    from core.schema.scores import ScorableOutput


class NextOptions(Settings):
    """How many texts are drawn, and how."""

    n: int = setting(20, "Texts", "number of texts to label next", at_least=1)
    whole_items: bool = setting(
        False, "Whole items", "draw items with all their texts, as a comparison of systems needs"
    )
    rng: int = rng_setting()


@row
class LabelRow:
    """A text to label next."""

    item: str = column("its item", name="item_id", title="item", names_row=True)
    place: Mapping[str, Cell] = columns("`system` and `level`, where the texts have any", key="")
    language: str = column("its language", shown=False, key="")
    words: Mapping[str, str | None] = columns(
        "`question`, `reference` and `text`, where an input has them", shown=False, key=""
    )
    probability: float = column(
        "probability with which it was drawn: keep it beside the new label",
        name="inclusion_probability",
        title="probability",
        key="inclusion_probability",
    )
    expected_deviation: float | None = column("expected deviation of its value from the mean; empty: unknown")
    why: str = column("what tells that it is uncertain: raters must not see it")
    system: str | None = entry("its system; null: the input names none")
    level: str | float | int | None = entry("its level; null: it has none")


@row
class Next:
    """Texts to label next."""

    sign: str = entry("what the uncertainty is taken from: judges, border, class or none")
    n_wanted: int = entry("texts that were asked for")
    n_unlabelled: int = entry("texts without a label that the judges scored")
    n_labelled: int = entry("texts with a label")
    narrower: float | None = entry(
        "expected width of intervals as a share of that of a simple random sample; null: unknown"
    )
    labels: tuple[LabelRow, ...] = entry("the drawn texts, the most uncertain first", rows=LabelRow)
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    drawn: "NextLabels"
    """For a study of these texts."""


def compute(options: NextOptions, dossier: "Dossier", *, tell: Tell) -> Next:
    """Draw the texts. Raises InputError as `next_labels`."""
    from core.results.check.next_labels import next_labels

    panel = dossier.panel
    tell("choosing texts")
    drawn = next_labels(panel, options.n, whole_items=options.whole_items, rng=options.rng)
    return rows_of(drawn, dossier.texts(panel).outputs)


def rows_of(drawn: "NextLabels", texts: "Sequence[ScorableOutput | None]" = ()) -> Next:
    """The drawn texts as rows. texts: of each row of the panel; empty: none is known."""
    from core.results.check.next_labels import next_labels_said
    from core.tables.columns import ONLY_SYSTEM

    own = [texts[at] for at in drawn.rows] if texts else [None] * len(drawn.rows)
    known = {
        "question": [one.source if one else None for one in own],
        "reference": [one.reference if one else None for one in own],
        "text": [one.text if one else None for one in own],
    }
    known = {name: values for name, values in known.items() if any(values)}
    systems = any(one.system != ONLY_SYSTEM for one in drawn.texts)
    levels = any(one.level is not None for one in drawn.texts)
    rows = tuple(
        LabelRow(
            item=one.item_id,
            place={
                **({"system": one.system} if systems else {}),
                **({"level": one.level} if levels else {}),
            },
            language=one.language,
            words={name: values[at] for name, values in known.items()},
            probability=drawn.probability[at],
            expected_deviation=drawn.uncertainty[at],
            why=drawn.why[at],
            system=None if one.system == ONLY_SYSTEM else one.system,
            level=one.level,
        )
        for at, one in enumerate(drawn.texts)
    )
    return Next(
        sign=drawn.sign,
        n_wanted=drawn.n_wanted,
        n_unlabelled=drawn.n_unlabelled,
        n_labelled=drawn.n_labelled,
        narrower=drawn.narrower,
        labels=rows,
        sentences=tuple(next_labels_said(drawn)),
        notes=drawn.notes,
        drawn=drawn,
    )


ANALYSIS = Analysis(
    name="next-labels",
    title="Labels to collect next",
    question="Which texts should people label next, so that a verdict on the judge is settled soonest?",
    Options=NextOptions,
    Result=Next,
    takes=("dossier",),
    compute=compute,
    verdicts=lambda _: (),
    sentences=lambda found: found.sentences,
    section="check#which-label-next",
    misleads="Without their probabilities, the new labels describe the chosen texts only.",
    refuses="If every text has a label.",
    example="""
>>> import assay, pandas as pd
>>> frame = pd.DataFrame({"item": ["q1", "q2", "q3", "q4"], "a": [1, 0, None, None], "x": [1, 1, 0, 1]})
>>> assay.next_labels(frame, human="a", judge="x", n=2).frame["inclusion_probability"].tolist()
[1.0, 1.0]
""",
    tables=(
        Table(
            "next-labels",
            LabelRow,
            lambda found: found.labels,
            "Labels to collect next",
            "Texts on which people and judge may differ are drawn more often, with known probabilities.",
            lambda found: (
                "probability: the chance with which the text was drawn. Keep its column inclusion_probability beside the new labels: "
                "without it they describe the chosen texts only. Raters must see neither it nor the columns after it: they tell "
                "about the judge.",
                *found.notes,
            ),
        ),
    ),
)
