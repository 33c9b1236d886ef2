"""Which of several judges to use: quality against price and time on the same texts, and every two of them compared."""

from typing import TYPE_CHECKING

from core.schema.analysis import Analysis, Table, Tell, Verdict
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.uses import CheckOptions, Priced

if TYPE_CHECKING:
    from core.results.check.choosing import Choice, JudgeOnOffer
    from core.results.check.dossier import Dossier


class WhichOptions(Priced, CheckOptions):
    """The limits that a judge must keep to be recommended, and what judges cost."""


@row
class OfferRow:
    """A judge with its quality on the texts that all judges scored, and its price."""

    judge: str = column("the judge", title="Judge", key="name", names_row=True)
    model: str | None = column("its model, if known", title="Model")
    quality: Interval = column("agreement or correlation with the raters, by `measure`", ends="object")
    measure: str = column("agreement, or spearman", shown=False, key="")
    price: float | None = column(
        "price of 1,000 texts", name="price_per_1000", title="Price per 1,000", key="price_per_1000", places=2
    )
    seconds: float | None = column(
        "time of 1,000 texts",
        name="seconds_per_1000",
        title="Seconds per 1,000",
        key="seconds_per_1000",
        places=2,
    )
    n: int = column("texts compared", title="n")
    n_scored: int = column("rated texts that it scored, compared or not", title="Scored")
    use: bool = column("whether it is the judge to use", title="Use", key="", words=("yes", ""))
    on_front: bool | None = column(
        "whether no judge is at least as good on every criterion and better on one; empty without prices and times",
        title="On the front",
        words=("yes", "no"),
    )
    dominated: str = column("judges that dominate it", name="dominated_by", title="Dominated by", key="")
    unfit_because: str = column(
        "why it is not recommended whatever its quality",
        name="unfit",
        title="Not recommended because",
        key="",
    )
    dominated_by: tuple[str, ...] = entry("judges that dominate it")
    unfit: str | None = entry("why it is not recommended whatever its quality")
    currency: str | None = entry("currency of the price")
    price_reason: str | None = entry("why the price is unknown")
    time_reason: str | None = entry("why the time is unknown")


@row
class TwoJudgesRow:
    """Two judges on the same texts."""

    first: str = column("a judge", title="First", names_row=True)
    second: str = column("the other judge", title="Second", names_row=True)
    difference: Interval = column(
        "quality of the first minus that of the second", title="Difference", ends="object"
    )
    p: float | None = column("two-sided p, by swapping the judges item by item", title="p", p_value=True)
    p_holm: float | None = column("p corrected for every two judges", title="Holm p", p_value=True)
    shown: str = column(
        "the judge that is shown to be better, or neither", name="better", title="Shown to be better", key=""
    )
    n: int = column("texts compared", title="n")
    p_reason: str | None = column("why p is undefined", shown=False)
    better: str | None = entry("the judge that is shown to be better; null: neither is")


@row
class Which:
    """The choice among several judges."""

    use: str | None = entry("the judge to use; null: none can be recommended")
    settled: bool = entry("whether no other judge can be better by more than the margin")
    sentence: str = entry("the choice in sentences")
    measure: str = entry("agreement with the raters, or spearman: the correlation with their mean")
    margin: float = entry("how much worse than the best a cheaper judge may be and still be used")
    confidence_level: float = entry("of the intervals")
    n: int = entry("texts that are rated and have a score of every judge")
    n_items: int = entry("their items")
    n_left_out: int = entry("rated texts that a judge did not score")
    front_by: tuple[str, ...] = entry("what the front compares: quality, price, time; empty without a front")
    judges: tuple[OfferRow, ...] = entry("each judge, best first", rows=OfferRow)
    comparisons: tuple[TwoJudgesRow, ...] = entry("every two judges, the better one first", rows=TwoJudgesRow)
    notes: tuple[str, ...] = entry("what was left out, and what is unknown")
    sentences: tuple[str, ...]
    notes_of_panel: tuple[str, ...]
    choice: "Choice"
    """For the figure."""


def compute(options: WhichOptions, dossier: "Dossier", *, tell: Tell) -> Which:
    """Check the judges and compare every two of them. Raises InputError as `which_judge`."""
    from core.results.check.choosing import which_of
    from core.results.check.facts import stated_facts
    from core.results.check.verdict import check_panel

    panel = dossier.panel
    facts = stated_facts(dossier.facts(panel), panel, options.price, options.seconds, options.currency)
    tell("comparing judges")
    return rows_of(which_of(check_panel(panel, options, facts=facts)), panel.notes)


def rows_of(choice: "Choice", notes_of_panel: tuple[str, ...] = ()) -> Which:
    """The choice as rows. notes_of_panel: where no check shows them beside it."""
    from core.results.cells import interval, left_out_lines
    from core.results.check.choosing import which_said

    said = which_said(choice)
    return Which(
        use=choice.use,
        settled=choice.settled,
        sentence=" ".join(said),
        measure=choice.measure,
        margin=choice.margin,
        confidence_level=choice.confidence_level,
        n=choice.n,
        n_items=choice.n_items,
        n_left_out=choice.n_left_out,
        front_by=choice.criteria if len(choice.criteria) > 1 else (),
        judges=tuple(_offer(choice, one) for one in choice.judges),
        comparisons=tuple(
            TwoJudgesRow(
                one.first,
                one.second,
                interval(one.difference),
                one.p,
                one.p_holm,
                one.better or "neither",
                one.difference.n,
                one.p_reason,
                one.better,
            )
            for one in choice.pairs
        ),
        notes=(*left_out_lines(choice.left_out), *choice.notes),
        sentences=tuple(said),
        choice=choice,
        notes_of_panel=notes_of_panel,
    )


def _offer(found: "Choice", one: "JudgeOnOffer") -> OfferRow:
    from core.results.cells import interval

    facts = one.facts
    return OfferRow(
        judge=one.name,
        model=facts.model,
        quality=interval(one.quality),
        measure=found.measure,
        price=facts.cost,
        seconds=facts.seconds,
        n=one.quality.n,
        n_scored=one.n_scored,
        use=one.name == found.use,
        on_front=one.on_front,
        dominated=", ".join(one.dominated_by),
        unfit_because=one.unfit,
        unfit=one.unfit or None,
        dominated_by=one.dominated_by,
        currency=facts.currency or None,
        price_reason=None if facts.cost is not None else facts.cost_reason,
        time_reason=None if facts.seconds is not None else facts.seconds_reason,
    )


def _judge_notes(found: Which) -> tuple[str, ...]:
    from core.results.check.choosing import INTERVALS, MEASURES, listed_by_and

    front = found.front_by and (
        f"Front: no other judge is at least as good by {listed_by_and(found.front_by)} and better by one of them. It compares "
        "estimates.",
    )
    return (
        f"Quality: {MEASURES[found.choice.measure]}, on the {found.n:,} texts of {found.n_items:,} items that every judge scored.",
        f"Intervals: {found.confidence_level:.0%}, {INTERVALS[found.choice.measure][0]}.",
        *front,
        *found.notes,
        *found.notes_of_panel,
    )


def _hidden(found: Which) -> tuple[str, ...]:
    needed = {
        "model": any(one.model for one in found.judges),
        "price_per_1000": any(one.price is not None for one in found.judges),
        "seconds_per_1000": any(one.seconds is not None for one in found.judges),
        "n_scored": bool(found.n_left_out),
        "on_front": bool(found.front_by),
        "dominated_by": bool(found.front_by),
        "unfit": any(one.unfit for one in found.judges),
    }
    return tuple(name for name, shown in needed.items() if not shown)


def _n_tests(found: Which) -> int:
    return sum(one.p is not None for one in found.comparisons)


def _pair_notes(found: Which) -> tuple[str, ...]:
    from core.results.cells import corrected_note
    from core.results.check.choosing import ALPHA, CORRECTION, MEASURES, interval_of_difference

    return (
        f"Difference: {MEASURES[found.choice.measure]}, first minus second, on the same texts.",
        f"Intervals: {found.confidence_level:.0%}, {interval_of_difference(found.choice)}. p: two-sided, by swapping the judges "
        "item by item.",
        *corrected_note(CORRECTION, _n_tests(found), "every two judges"),
        f"Shown to be better: corrected p below {ALPHA:g}. Neither does not mean that they are equal.",
    )


ANALYSIS = Analysis(
    name="which-judge",
    title="Which judge?",
    question="Which of several judges should be used, by quality, price and time on the same texts?",
    Options=WhichOptions,
    Result=Which,
    takes=("dossier",),
    compute=compute,
    verdicts=lambda found: tuple(
        Verdict("use" if found.use else "undefined", one, reason="" if found.use else one)
        for one in found.sentences[:1]
    ),
    sentences=lambda found: found.sentences[1:],
    codes={
        "use": "a judge is recommended, or comes first so far",
        "undefined": "no judge can be recommended; the sentence says why",
    },
    section="check#which-judge",
    misleads="The best judge was found on the same texts, so its quality is a little too high: check it on new texts. Not shown to "
    "be better does not mean equal: read the interval.",
    refuses="With fewer than two judges, and if no text has a rating and a score of every judge.",
    example="""
>>> import assay, pandas as pd
>>> frame = pd.DataFrame({"item": range(60), "person": [0, 1] * 30, "big": [0, 1] * 30, "small": [0, 1, 1, 1] * 15})
>>> found = assay.which_judge(frame, human="person", judge=["big", "small"], price={"big": 2, "small": 0.1})
>>> found.json["use"]
'big'
""",
    tables=(
        Table(
            "which-judge",
            OfferRow,
            lambda found: found.judges,
            "Judges",
            "Quality against price and time, on the same texts.",
            _judge_notes,
            _hidden,
            shaped=lambda found: {
                "quality": {"title": "Agreement" if found.measure == "agreement" else "Spearman"}
            },
        ),
        Table(
            "comparisons",
            TwoJudgesRow,
            lambda found: found.comparisons,
            "Every two judges",
            notes=_pair_notes,
            hidden=lambda found: ("p_holm",) if _n_tests(found) < 2 else (),
        ),
    ),
)
