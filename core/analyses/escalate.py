"""Trust or escalate: keep a judge where it is sure enough to agree with people, and send the other texts to them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import field_validator

from core.schema.analysis import Analysis, Caution, Table, Tell, Verdict
from core.schema.result_table import Interval
from core.schema.rows import column, columns, entry, row
from core.schema.settings import Settings, setting

if TYPE_CHECKING:
    from core.results.check.escalation import Escalation
    from core.results.check.sureness import SurePanel
    from core.stats.calibration import KeptAbove

NO_THRESHOLD = 4
"""Exit status where no threshold keeps the promise."""
AGAINST: Mapping[str, str] = {
    "rater": "a rater of the text, whichever is asked",
    "majority": "the label that most raters of the text gave",
}
_NONE_KEPT = "no threshold keeps the promise"


class EscalateOptions(Settings):
    """What is promised. Choose it before you see the result."""

    agreement: float = setting(
        0.9,
        "Agreement promised",
        "agreement with people that is promised for the kept texts",
        above=0,
        below=1,
        step=0.05,
    )
    delta: float = setting(
        0.1,
        "Broken with probability",
        "largest probability that the promise is broken",
        above=0,
        below=0.5,
        step=0.05,
    )
    against: Literal["rater", "majority"] = setting(
        "rater",
        "Agreement with",
        "; ".join(f"{name}: {what}" for name, what in AGAINST.items()),
        words={"rater": "a rater", "majority": "the majority"},
    )
    start: int | None = setting(
        None,
        "Fewest labelled items",
        "labelled items that the first threshold tested must keep; choose it before you see the result",
        at_least=1,
        metavar="N",
        words={"": "the fewest that can pass, 22 for .9 and .1"},
        folded=True,
    )
    passes: str | None = setting(
        None,
        "Rating that counts as a pass",
        "for the total: rating that counts as a pass, as in `corrected`",
        option="passes",
        metavar="VALUE",
        words={"": "the better of two words, or 1 of 0 and 1; other ratings are averaged"},
        folded=True,
    )

    @field_validator("passes", mode="before")
    @classmethod
    def _as_written(cls, value: object) -> object:
        """A number as a file writes it: Python's users give one."""
        return f"{value:g}" if isinstance(value, int | float) else value


@row
class SummaryRow:
    """The judge with its threshold."""

    judge: str = column("the judge", names_row=True)
    confidence: str = column("what the confidence is", shown=False)
    wanted: float = column("agreement promised", title="agreement wanted", places=2)
    delta: float = column("largest probability that the promise is broken", shown=False)
    threshold: float | Interval = column("confidence from which the judge is kept", general=True)
    agreement: float | Interval | None = column(
        "share of the labelled texts kept that agree with people", title="agreement of kept"
    )
    lower_bound: float | Interval | None = column("its lower bound", title="lower bound")
    n_labelled_kept: int = column("labelled texts kept", title="labelled and kept")
    among_raters: Interval = column(
        "share of pairs of raters that agree on them, or on all labelled texts without a threshold",
        title="raters among themselves",
    )
    kept_labelled: Interval = column("share of the labelled texts that is kept", title="kept of labelled")
    kept_unlabelled: Interval = column("share of all other texts that is kept", title="kept of others")
    shift_p: Interval = column("p of equal shares", title="p of equal shares", p_value=True)
    n_sent: int = column("texts for people", title="for people")
    n_labelled: int = column("texts whose labels chose the threshold", shown=False)
    n_labelled_items: int = column("their items", shown=False)
    n_unlabelled: int = column("other texts", shown=False)
    n_back: int = column("labels below the threshold that came back", shown=False)
    n_audited: int = column("kept texts drawn at random whose labels came back", shown=False)
    against: str = column("with whom texts agree: rater or majority", shown=False)


@row
class ThresholdRow:
    """One threshold."""

    threshold: float = column("the confidence", general=True, names_row=True)
    n: int = column("labelled texts kept", title="labelled and kept")
    n_items: int = column("their items", shown=False)
    share: float = column("share of the labelled texts kept", name="kept", title="kept of labelled")
    agreement: Interval = column("share of them that agree with people")
    lower_bound: float | None = column("its lower bound", title="lower bound")
    result: str = column("keeps the promise, fails, too few to test or not tested", key="")
    tested: bool = entry("whether it was tested: the first that fails ends the tests")
    passed: bool = entry("whether it keeps the promise")


@row
class PartRow:
    """The mean of a part of the texts."""

    part: str = column("all, kept or for people", names_row=True)
    mean: Interval = column("mean rating or pass rate with its interval over items")
    decided_by: str = column("who decides there")
    n: int = column("texts", title="texts")
    n_labelled: int = column("texts with a label that counts", title="labelled")


@row
class TextRow:
    """One text."""

    item_id: str = column("the item", title="item", names_row=True)
    named: Mapping[str, str | None] = columns("the text's system and level, where there are several")
    language: str = column("its language", shown=False)
    verdict: str | None = column("the judge's verdict")
    confidence: float | None = column("how sure the judge is", general=True)
    decided_by: str = column("judge; people, who labelled it; or for people")


@row
class Total:
    """The total of all texts."""

    what: str = entry("what is estimated: mean rating or pass rate")
    total: Interval = entry("the total", ends="inline")
    kept: Interval = entry("of the kept texts", ends="object")
    sent: Interval = entry("of the others", ends="object")
    share_kept: float | None = entry("share of the texts that is kept")
    n_kept: int = entry("texts kept")
    n_kept_labelled: int = entry("labelled texts that correct them")
    n_sent: int = entry("texts below the threshold")
    n_sent_labelled: int = entry("labelled texts among them")


@row
class Escalated:
    """Where a judge can be kept, what goes to people, and the total."""

    judge: str = entry("the judge")
    raters: tuple[str, ...] = entry("names of the raters")
    confidence: str = entry("what the confidence is")
    agreement: float = entry("agreement promised")
    delta: float = entry("largest probability that the promise is broken")
    against: str = entry("with whom texts agree: rater or majority")
    confidence_level: float = entry("of the total and the shares kept")
    fewest: int = entry("labelled items that the first threshold tested must keep")
    chosen: ThresholdRow | None = entry("the threshold", rows=ThresholdRow)
    missing: str = entry("why no threshold keeps the promise, and what would help; empty with one")
    thresholds: tuple[ThresholdRow, ...] = entry("each threshold, the highest first", rows=ThresholdRow)
    among_raters: Interval = entry(
        "share of pairs of raters that agree on the kept labelled texts, or on all without a threshold",
        ends="object",
    )
    kept_labelled: Interval = entry("share of the labelled texts that is kept", ends="object")
    kept_unlabelled: Interval = entry("share of all other texts that is kept", ends="object")
    shift_p: float | None = entry("p that both shares are equal")
    n_labelled: int = entry("texts whose labels chose the threshold")
    n_labelled_items: int = entry("their items")
    n_unlabelled: int = entry("other texts")
    n_kept_unlabelled: int = entry("of these, texts kept")
    n_sent: int = entry("texts for people")
    n_back: int = entry("labels below the threshold that came back")
    n_audited: int = entry("kept texts drawn at random whose labels came back")
    total: Total | None = entry("the total of all texts", rows=Total)
    total_reason: str = entry("why there is no total")
    sentences: tuple[str, ...] = entry("what the result says, the verdict first")
    notes: tuple[str, ...] = entry("what was read, left out and assumed")
    escalation: "Escalation"


def compute(options: EscalateOptions, sure_panel: "SurePanel", *, tell: Tell) -> Escalated:
    """Choose the confidence from which the judge is kept, and estimate the total.

    Raises InputError with all problems: no labelled text with a verdict, verdicts that are no classes of the raters.
    """
    from core.results.cells import interval
    from core.results.check.escalation import Promise, escalate

    tell("testing thresholds")
    found = escalate(
        sure_panel.panel, sure_panel.sure, Promise(**options.model_dump()), returned=sure_panel.returned
    )
    none = "no text is without a label"
    return Escalated(
        judge=found.sure.judge,
        raters=found.panel.raters,
        confidence=found.sure.meaning,
        agreement=options.agreement,
        delta=options.delta,
        against=options.against,
        confidence_level=found.promise.confidence_level,
        fewest=found.trust.fewest,
        chosen=None if found.chosen is None else _threshold_row(found.chosen, found.trust.fewest),
        missing=found.missing,
        thresholds=tuple(_threshold_row(step, found.trust.fewest) for step in found.trust.steps),
        among_raters=interval(found.among_raters),
        kept_labelled=interval(found.kept_labelled),
        kept_unlabelled=Interval(None, reason=none, interval_reason=none)
        if found.kept_unlabelled is None
        else interval(found.kept_unlabelled),
        shift_p=found.shift_p,
        n_labelled=int(found.calibration.sum()),
        n_labelled_items=found.n_items,
        n_unlabelled=found.n_unlabelled,
        n_kept_unlabelled=int((found.kept & ~found.calibration).sum()),
        n_sent=len(found.sent),
        n_back=found.n_back,
        n_audited=found.n_audited,
        total=_total(found),
        total_reason=found.total_reason,
        sentences=tuple(_said(found)),
        notes=found.notes,
        escalation=found,
    )


def _threshold_row(step: "KeptAbove", fewest: int) -> ThresholdRow:
    return ThresholdRow(
        threshold=step.threshold,
        n=step.n,
        n_items=step.n_clusters,
        share=step.share,
        agreement=Interval(step.agreement, reason="no labelled text is kept"),
        lower_bound=step.low,
        result="keeps the promise"
        if step.passed
        else "fails"
        if step.tested
        else "too few to test"
        if step.n_clusters < fewest
        else "not tested",
        tested=step.tested,
        passed=step.passed,
    )


def _total(escalation: "Escalation") -> Total | None:
    from core.results.cells import interval

    total = escalation.total
    if total is None:
        return None
    return Total(
        what=escalation.what,
        total=interval(total.total),
        kept=interval(total.kept),
        sent=interval(total.sent),
        share_kept=total.share_kept,
        n_kept=total.n_kept,
        n_kept_labelled=total.n_kept_labelled,
        n_sent=total.n_sent,
        n_sent_labelled=total.n_sent_labelled,
    )


def _verdicts(found: Escalated) -> tuple[Verdict, ...]:
    sentence = found.sentences[0]
    if found.chosen is not None:
        return (Verdict("kept", sentence),)
    tested = any(one.tested for one in found.thresholds)
    return (
        Verdict(
            "no-threshold" if tested else "undefined",
            sentence,
            NO_THRESHOLD,
            "" if tested else found.missing,
        ),
    )


def _said(escalation: "Escalation") -> list[str]:
    """The verdict first: the threshold or that there is none, the share kept, what goes to people, the total."""
    from core.results.cells import ends_said, p_said
    from core.stats.prediction_powered import SELECTED
    from core.tables.reading import shown

    promise, chosen = escalation.promise, escalation.chosen
    judge, sure = shown(escalation.sure.judge), escalation.sure.meaning
    wanted = f"an agreement of {promise.agreement:g} with probability {1 - promise.delta:g}"
    if chosen is None:
        lines = [f"No threshold keeps the promise of {wanted}.", escalation.missing]
        if escalation.sent:
            lines.append(f"All {len(escalation.sent):,} unlabelled texts are for people.")
    else:
        lines = [
            f"Keep {judge} from a confidence of {chosen.threshold:.3g} ({sure}): {wanted}.",
            f"Of {chosen.n:,} labelled texts kept, {chosen.agreement:.1%} agree with people; the lower bound is {chosen.low:.3f}.",
        ]
        if escalation.kept_unlabelled is not None:
            n_kept = int((escalation.kept & ~escalation.calibration).sum())
            lines.append(
                f"It keeps {ends_said(escalation.kept_unlabelled)} of the texts without a label ({n_kept:,} of {escalation.n_unlabelled:,}); "
                + (
                    f"{len(escalation.sent):,} go to people."
                    if escalation.sent
                    else "none is left for people."
                )
            )
        else:
            lines.append(
                f"It keeps {ends_said(escalation.kept_labelled)} of the labelled texts. No text is without a label."
            )
        if escalation.shift_p is not None and escalation.shift_p < SELECTED:
            lines.append(
                Caution(
                    f"Check how texts were chosen for labels: it keeps {ends_said(escalation.kept_labelled)} of those with one and "
                    f"{ends_said(escalation.kept_unlabelled)} of the others ({p_said(escalation.shift_p)}). The promise holds for texts like "
                    "the labelled ones."
                )
            )
    if escalation.total is not None and escalation.total.total.estimate is not None and chosen is not None:
        lines.append(
            f"{escalation.what[0].upper()}{escalation.what[1:]} of all texts: {ends_said(escalation.total.total)}{_so_far(escalation)}."
        )
    elif chosen is not None and escalation.total_reason:
        lines.append(f"No total: {escalation.total_reason}.")
    return lines


def _so_far(escalation: "Escalation") -> str:
    if not escalation.sent or escalation.total is None:
        return ""
    n = escalation.total.n_sent_labelled
    return f", so far from {n:,} labels below the threshold" + (
        f" ({escalation.n_back:,} came back)" if escalation.n_back else ""
    )


def _sentences(found: Escalated) -> tuple[str, ...]:
    return found.sentences[1:]


def _summary(result: Escalated) -> tuple[SummaryRow, ...]:
    from core.results.cells import interval

    found, chosen = result.escalation, result.escalation.chosen
    none = Interval(None, reason=_NONE_KEPT)
    return (
        SummaryRow(
            judge=result.judge,
            confidence=result.confidence,
            wanted=result.agreement,
            delta=result.delta,
            threshold=none if chosen is None else chosen.threshold,
            agreement=none if chosen is None else chosen.agreement,
            lower_bound=none if chosen is None else chosen.low,
            n_labelled_kept=0 if chosen is None else chosen.n,
            among_raters=interval(found.among_raters, "no text has two raters"),
            kept_labelled=none if chosen is None else interval(found.kept_labelled),
            kept_unlabelled=none
            if chosen is None
            else interval(found.kept_unlabelled, "no text is without a label"),
            shift_p=Interval(found.shift_p, reason="the shares cannot be compared"),
            n_sent=result.n_sent,
            n_labelled=result.n_labelled,
            n_labelled_items=result.n_labelled_items,
            n_unlabelled=result.n_unlabelled,
            n_back=result.n_back,
            n_audited=result.n_audited,
            against=result.against,
        ),
    )


def _heading(found: Escalated) -> str:
    from core.tables.reading import shown

    return f"Trust or escalate: {shown(found.judge)} on {shown(found.escalation.panel.name)}"


def _notes(found: Escalated) -> tuple[str, ...]:
    clustered = (
        ()
        if found.n_labelled_items == found.n_labelled
        else (
            f"{found.n_labelled:,} labelled texts are of {found.n_labelled_items:,} items: bounds use the effective number of texts, so "
            "they are approximate.",
        )
    )
    return (
        f"Confidence: {found.confidence}. Agreement: with {AGAINST[found.against]}.",
        f"Lower bound: exact, one-sided, with probability {1 - found.delta:g}. The promise holds for texts like the labelled ones.",
        *clustered,
        *found.notes,
    )


def _threshold_notes(found: Escalated) -> tuple[str, ...]:
    return (
        f"Tests begin with {found.fewest:,} labelled items kept and end with the first that fails: later bounds are shown, but "
        "promise nothing.",
    )


def _parts(found: Escalated) -> tuple[PartRow, ...]:
    total = found.total
    if total is None:
        return ()
    n, n_labelled = total.n_kept + total.n_sent, total.n_kept_labelled + total.n_sent_labelled
    return (
        PartRow("all", total.total, "both", n, n_labelled),
        PartRow("kept", total.kept, "the judge, corrected", total.n_kept, total.n_kept_labelled),
        PartRow("for people", total.sent, "people", total.n_sent, total.n_sent_labelled),
    )


def _total_notes(found: Escalated) -> tuple[str, ...]:
    return (
        *(() if found.total is None else (f"Intervals: {found.confidence_level:.0%}, over items.",)),
        *((f"No total: {found.total_reason}.",) if found.total_reason else ()),
    )


def _texts(result: Escalated) -> tuple[TextRow, ...]:
    from core.tables.columns import ONLY_SYSTEM

    found, sent = result.escalation, {*result.escalation.sent}
    systems = any(one.system != ONLY_SYSTEM for one in found.panel.rows)
    levels = any(one.level is not None for one in found.panel.rows)
    words = found.panel.scale.words
    rows = []
    for at, one in enumerate(found.panel.rows):
        verdict, confidence = float(found.sure.verdicts[at]), float(found.sure.confidence[at])
        named = {**({"system": one.system} if systems else {}), **({"level": one.level} if levels else {})}
        rows.append(
            TextRow(
                item_id=one.item_id,
                named=named,
                language=one.language,
                verdict=None if verdict != verdict else words.get(verdict, f"{verdict:g}"),
                confidence=None if confidence != confidence else confidence,
                decided_by="judge" if found.kept[at] else "for people" if at in sent else "people",
            )
        )
    return tuple(rows)


ANALYSIS = Analysis(
    name="escalate",
    title="Trust or escalate",
    question="From which confidence does a judge agree with people as often as promised, so that people decide only about the rest?",
    Options=EscalateOptions,
    Result=Escalated,
    takes=("sure",),
    compute=compute,
    verdicts=_verdicts,
    codes={
        "kept": "the judge is kept from a threshold on",
        "no-threshold": "no threshold keeps the promise (status 4)",
        "undefined": "too few labelled texts for a first test (status 4)",
    },
    sentences=_sentences,
    section="pairs#trust-or-escalate",
    misleads="The promise holds for texts like the labelled ones, and only if those were chosen at random.",
    refuses="Without a confidence, without a labelled text, and for verdicts that are no classes of the raters.",
    example="""
>>> import assay, pandas as pd
>>> frame = pd.DataFrame({"human": [1, 0] * 20 + [None] * 60, "judge": [1, 0] * 50, "confidence": [0.9] * 100})
>>> found = assay.escalate(frame, human="human", judge="judge")
>>> found.json["chosen"]["threshold"], found.json["n_kept_unlabelled"]
(0.9, 60)
""",
    tables=(
        Table("escalate", SummaryRow, _summary, "Trust or escalate", notes=_notes, heading=_heading),
        Table(
            "escalate-thresholds",
            ThresholdRow,
            lambda found: found.thresholds,
            "Thresholds, from the highest down",
            notes=_threshold_notes,
        ),
        Table(
            "escalate-total",
            PartRow,
            _parts,
            "The total of all texts",
            notes=_total_notes,
            shaped=lambda found: {"mean": {"title": found.escalation.what}},
        ),
        Table(
            "escalate-texts",
            TextRow,
            _texts,
            "Every text",
            notes=lambda _: ("Raters must see neither the verdict nor the confidence.",),
            most_printed=0,
        ),
    ),
)
