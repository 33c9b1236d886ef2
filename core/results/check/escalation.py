"""Trust or escalate: keep a judge where it is sure enough to agree with people, and send the other texts to them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.panel import inclusion_probabilities
from core.results.cells import ends, ends_said, interval, p_said, picked
from core.results.check.next_labels import NextLabels
from core.results.check.sureness import Sureness
from core.results.check.texts import OwnTexts, own_texts
from core.results.corrected import LabelScale, label_scale
from core.schema.panel import Panel
from core.schema.result_table import Column, Interval, ResultTable
from core.stats.agreement import pair_shares
from core.stats.calibration import (
    SAME,
    KeptAbove,
    TrustThreshold,
    fixed_thresholds,
    labelled_needed,
    trust_threshold,
)
from core.stats.prediction_powered import SELECTED, KeptAndSent, Scored, corrected_mean, kept_and_sent
from core.stats.resampling import Estimate, Floats, mean_share
from core.stats.votes import MISSING
from core.tables.columns import ONLY_SYSTEM
from core.tables.reading import shown

ESCALATION_TABLES = ("escalate", "escalate-thresholds", "escalate-total", "escalate-texts")
"""Names of all tables, the main one first."""
Against = Literal["rater", "majority"]
AGAINST: Mapping[Against, str] = {
    "rater": "a rater of the text, whichever is asked",
    "majority": "the label that most raters of the text gave",
}
Booleans = NDArray[np.bool_]
FEWEST_AUDITED = 30
"""Audited texts from which they alone correct the kept ones."""
FEW_KEPT = 200
"""Labelled kept texts below which the total of a threshold that they chose themselves misleads (docs/simulations/escalation.md)."""


@dataclass(frozen=True)
class EscalationOptions:
    """Options, to be chosen before the result is seen."""

    agreement: float = 0.9
    """Agreement with people that is promised for the kept texts."""
    delta: float = 0.1
    """Largest probability that the promise is broken."""
    against: Against = "rater"
    start: int | None = None
    """Labelled items that the first threshold tested must keep; None: the fewest with which it can pass."""
    thresholds: tuple[float, ...] = ()
    """Thresholds to test, the highest first; empty: `core.stats.calibration.fixed_thresholds`."""
    passes: str | None = None
    """As in `core.results.corrected.Options`."""
    confidence_level: float = 0.95
    """Of the total and the shares kept."""


DEFAULT_OPTIONS = EscalationOptions()


def option_problems(options: EscalationOptions) -> list[str]:
    """Problems of the options, each beginning with the option's name."""
    found = []
    if not 0 < options.agreement < 1:
        found.append(f"agreement: {options.agreement:g} is not a number between 0 and 1")
    if not 0 < options.delta < 0.5:
        found.append(f"delta: {options.delta:g} is not a number between 0 and 0.5")
    if options.against not in get_args(Against):
        found.append(f"against: {options.against!r} is not one of {', '.join(get_args(Against))}")
    if options.start is not None and options.start < 1:
        found.append(f"start: must be at least 1, got {options.start}")
    if not 0 < options.confidence_level < 1:
        found.append(f"confidence_level: {options.confidence_level:g} is not a number between 0 and 1")
    if any(one <= another for one, another in zip(options.thresholds, options.thresholds[1:], strict=False)):
        found.append("thresholds: name each once, the highest first")
    return found


@dataclass(frozen=True)
class Escalation:
    """Where a judge can be kept, what goes to people, and the total."""

    panel: Panel
    """With one judge: the verdicts."""
    sure: Sureness
    options: EscalationOptions
    found: TrustThreshold
    kept: Booleans
    """Shape (n,): texts at or above the threshold; none without one."""
    calibration: Booleans
    """Shape (n,): texts whose labels chose it."""
    sent: tuple[int, ...]
    """Places of the texts that go to people: below the threshold and without a label. Without a threshold all unlabelled ones."""
    n_back: int
    """Labelled texts below the threshold that did not choose it: labels that came back."""
    n_audited: int
    """Kept texts drawn at random whose labels came back; they correct the kept texts if there are FEWEST_AUDITED."""
    among_raters: Estimate
    """Share of pairs of raters that agree, on the kept labelled texts, or on all without a threshold."""
    kept_labelled: Estimate | None
    """Share of the labelled texts that is kept."""
    kept_unlabelled: Estimate | None
    """Share of all other texts that is kept; None without one."""
    shift_p: float | None
    """p that both shares are equal."""
    missing: str
    """Why no threshold keeps the promise, and what would help; empty with one."""
    total: KeptAndSent | None
    total_reason: str
    """Why there is no total."""
    scale: LabelScale | None
    """What the total is of."""
    notes: tuple[str, ...]

    @property
    def chosen(self) -> KeptAbove | None:
        """The threshold."""
        return self.found.chosen

    @property
    def what(self) -> str:
        """What the total estimates."""
        if self.scale is None or self.scale.passes is None:
            return "mean rating"
        return f"pass rate ({self.scale.passes})"

    @property
    def n_items(self) -> int:
        """Items of the texts whose labels chose the threshold."""
        return int(np.unique(self.panel.items[self.calibration]).size)

    @property
    def auditable(self) -> tuple[int, ...]:
        """Places of the kept texts without a label."""
        rated = np.any(~np.isnan(self.panel.ratings), axis=1)
        return tuple(np.flatnonzero(self.kept & ~rated).tolist())

    @property
    def n_unlabelled(self) -> int:
        """Texts without a label when the threshold was chosen."""
        return int((~self.calibration).sum())


def first_labels(before: Panel, panel: Panel) -> tuple[Panel, Booleans]:
    """The panel with labels that came back, and which texts had none before, shape (n,).

    before: the panel without them, with the same texts. A second label of a text that had one is left out, with a note: it would move
    the threshold that the first labels chose.
    """
    rated: Booleans = np.any(~np.isnan(before.ratings), axis=1)
    new = [at for at, name in enumerate(panel.raters) if name not in before.raters]
    second = rated[:, None] & ~np.isnan(panel.ratings)
    second[:, [at for at in range(len(panel.raters)) if at not in new]] = False
    if n := int(second.any(axis=1).sum()):
        note = f"labels that came back of {n:,} texts are not used: these texts had a label when the threshold was chosen"
        panel = replace(panel, ratings=np.where(second, np.nan, panel.ratings), notes=(*panel.notes, note))
    return panel, ~rated


def escalate(
    panel: Panel,
    sure: Sureness,
    options: EscalationOptions = DEFAULT_OPTIONS,
    *,
    returned: Booleans | None = None,
) -> Escalation:
    """Choose the confidence from which the judge is kept, and estimate the total from its verdicts and people's labels.

    returned: shape (n,), texts whose labels came back after the threshold was chosen; None: labelled texts with a probability of
    inclusion, such as those of a study that this made. They do not choose the threshold, which so stays the same. A text agrees with
    the share of its raters who gave the verdict, or with the majority (`options.against`; of labels given equally often each
    counts its share).

    Raises InputError with all problems: wrong options, no labelled text with a verdict, verdicts that are no classes of the raters.

    Misleads if labelled texts are no random sample of the texts to judge, and for later texts of another kind
    (`core.stats.calibration.trust_threshold`).
    """
    problems = option_problems(options)
    rated: Booleans = np.any(~np.isnan(panel.ratings), axis=1)
    chances = inclusion_probabilities(panel.rows)
    came = np.zeros(len(rated), dtype=np.bool_) if returned is None else rated & returned
    first = rated & ~came
    drawn = first & ~np.isnan(chances) if chances is not None else np.zeros(len(rated), dtype=np.bool_)
    if drawn.any() and not (first & ~drawn).any() and _equal(chances, drawn):
        drawn = np.zeros(len(rated), dtype=np.bool_)  # a simple random sample is as good as any other
    back = came | drawn
    calibration = rated & ~back
    if not panel.raters or not rated.any():
        problems.append("human: no ratings by people; name the columns or raters that are people")
    elif not calibration.any():
        problems.append(
            "human: every label was drawn by how uncertain its text is, or came back from a study; a threshold needs labels of texts that "
            "were chosen at random"
        )
    elif not (calibration & ~np.isnan(sure.verdicts)).any():
        problems.append("judge: no text has both a rating by a person and a verdict of the judge")
    if problems:
        raise InputError(f"{shown(panel.name)}: no threshold can be chosen", problems)
    one = replace(panel, judges=(sure.judge,), scores=sure.verdicts[:, None], sources=())
    own = own_texts(one, 0)
    if own.measure != "agreement":
        raise InputError(
            f"{shown(panel.name)}: no threshold can be chosen",
            [
                f"cut: the scores of {shown(sure.judge)} are no classes of the raters, so that they agree with nobody; state the "
                "score from which the better of two classes is meant, or use a judge with the raters' classes"
            ],
        )
    # Without a verdict or a confidence a text is never kept.
    known = ~np.isnan(sure.verdicts) & ~np.isnan(sure.confidence)
    level = np.where(known, sure.confidence, -np.inf)
    agrees = np.zeros(len(level))
    agrees[own.rows] = _agreeing(own, options.against)
    thresholds = np.array(options.thresholds) if options.thresholds else fixed_thresholds(level[known])
    found = trust_threshold(
        level[calibration],
        agrees[calibration],
        thresholds=thresholds,
        agreement=options.agreement,
        delta=options.delta,
        fewest=options.start,
        clusters=panel.items[calibration],
    )
    kept = level >= (np.inf if found.chosen is None else found.chosen.threshold - SAME)
    others = ~calibration
    compared = calibration & (kept | (found.chosen is None))
    among = _among_raters(own.only(compared[own.rows]), options)
    unequal = _shift(kept, calibration, panel.items) if found.chosen is not None else None
    notes = list(panel.notes)
    if n := int((rated & ~known & calibration).sum()):
        notes.append(f"{n:,} labelled texts have no verdict or no confidence: they count as not kept")
    audited = back & kept & (np.zeros(len(kept), dtype=np.bool_) if chances is None else ~np.isnan(chances))
    if not _equal(chances, audited):
        audited = np.zeros(len(kept), dtype=np.bool_)
    total, why, scale = _total(one, kept, calibration, back, audited, chances, options)
    if n := int((back & kept & ~audited).sum()):
        notes.append(
            f"{n:,} labels that came back are of kept texts: they are not used, because nothing shows that those texts were drawn at random"
        )
    n_kept_labelled = 0 if total is None else total.n_kept_labelled
    if 0 < n_kept_labelled < FEW_KEPT and audited.sum() < FEWEST_AUDITED:
        notes.append(
            f"the {n_kept_labelled:,} labels of kept texts that chose the threshold also correct the total, which is then too favourable to "
            f"a judge whose errors all go one way; {FEWEST_AUDITED} kept texts or more, drawn at random and labelled with the others, prevent that"
        )
    return Escalation(
        one,
        sure,
        options,
        found,
        kept,
        calibration,
        tuple(np.flatnonzero(~rated & ~kept).tolist()),
        int((back & ~kept).sum()),
        int(audited.sum()),
        among,
        _share(kept, calibration, panel.items, options),
        _share(kept, others, panel.items, options) if others.any() else None,
        unequal,
        "" if found.chosen is not None else _missing(found, among, options, int(calibration.sum())),
        total,
        why,
        scale,
        tuple(notes),
    )


def _equal(chances: Floats | None, where: Booleans) -> bool:
    return chances is not None and bool(where.any()) and bool(np.allclose(chances[where], chances[where][0]))


def _agreeing(own: OwnTexts, against: Against) -> Floats:
    """Agreement of each text's verdict with its raters, in [0, 1]."""
    votes, judged = own.votes()
    counts = np.stack([(votes == code).sum(axis=1) for code in range(len(own.classes))], axis=1)
    mine = counts[np.arange(len(judged)), judged]
    if against == "rater":
        found: Floats = mine / (votes != MISSING).sum(axis=1)
        return found
    most = counts.max(axis=1)
    return np.where(mine == most, 1 / (counts == most[:, None]).sum(axis=1), 0.0)


def _among_raters(own: OwnTexts, options: EscalationOptions) -> Estimate:
    votes, judged = own.votes()
    shares = pair_shares(votes, judged, own.n_classes)[0]
    found = mean_share(shares, own.items, confidence_level=options.confidence_level)
    return replace(found, reason="no text has two raters") if found.n == 0 else found


def _share(kept: Booleans, where: Booleans, items: NDArray[np.int64], options: EscalationOptions) -> Estimate:
    return mean_share(kept[where], items[where], confidence_level=options.confidence_level)


def _shift(kept: Booleans, calibration: Booleans, items: NDArray[np.int64]) -> float | None:
    """Return the p-value of equal kept shares of labelled and other texts."""
    if calibration.all():
        return None
    asked = Scored(kept.astype(float), np.where(calibration, 1.0, np.nan), items)
    return corrected_mean(asked).labelled_shift_p


def _total(
    panel: Panel,
    kept: Booleans,
    calibration: Booleans,
    back: Booleans,
    audited: Booleans,
    chances: Floats | None,
    options: EscalationOptions,
) -> tuple[KeptAndSent | None, str, LabelScale | None]:
    """The total, or why there is none, and what it is of."""
    if not panel.scale.ordered and options.passes is None:
        return None, "labels without an order have no mean: state the one that counts as a pass", None
    scale = label_scale(panel, options.passes)
    sent_back = back & ~kept
    if chances is not None and (drawn := sent_back & ~np.isnan(chances)).any() and not _equal(chances, drawn):
        return (
            None,
            "labels that came back were drawn with unequal probabilities, as by `check --next`",
            scale,
        )
    correcting = audited if audited.sum() >= FEWEST_AUDITED else calibration & kept
    used = ((calibration & ~kept) | sent_back | correcting)[:, None] & ~np.isnan(scale.ratings)
    counts = used.sum(axis=1)
    human = np.full(len(kept), np.nan)
    human[counts > 0] = np.where(used, scale.ratings, 0.0).sum(axis=1)[counts > 0] / counts[counts > 0]
    found = kept_and_sent(
        Scored(np.where(np.isnan(scale.judge), 0.0, scale.judge), human, panel.items),
        kept,
        pass_rate=scale.passes is not None,
        confidence_level=options.confidence_level,
    )
    return found, found.total.reason or "", scale


def _missing(found: TrustThreshold, among: Estimate, options: EscalationOptions, n_labelled: int) -> str:
    """Why no threshold keeps the promise, and what would help."""
    wanted = options.agreement
    first = next((step for step in found.steps if step.tested), None)
    if first is None:
        most = max((step.n_clusters for step in found.steps), default=0)
        return (
            f"{most:,} labelled items have a verdict with a confidence, and the first test needs {found.fewest:,}. Label at least "
            f"{found.fewest - most:,} more, chosen at random."
        )
    agreement = first.agreement or 0.0
    surest = (
        f"Of the {first.n:,} labelled texts with a confidence of at least {first.threshold:.3g}, where the tests begin, "
        f"{agreement:.1%} agree with people; the lower bound is {first.low:.3f}."
    )
    below = among.estimate is not None and among.estimate < wanted and options.against == "rater"
    people = (
        f" Raters agree with each other on {among.estimate:.1%}, so no judge may reach {wanted:g} against one of them; promise less, or "
        "agreement with their majority."
        if below
        else ""
    )
    needed = labelled_needed(agreement, wanted, options.delta)
    if needed is None:
        return f"{surest} That is not above the promise, so more labels alone will hardly help.{people}"
    in_all = np.ceil(needed / max(first.share, 1e-9))
    return (
        f"{surest} If that share stays, about {float(f'{in_all:.2g}'):,.0f} labelled texts in all would show it ({n_labelled:,} now). "
        f"With new labels, a first test on more texts is less often ended by chance.{people}"
    )


# --- the texts for people ----------------------------------------------------------------------


def sent_texts(found: Escalation, n: int | None = None, *, audit: int = 0, rng: int = 0) -> NextLabels:
    """The texts to send to people as a choice of texts to label, from which `next_labels.draft_study` makes a study.

    n: a simple random sample of so many of those below the threshold; None: all. audit: as many kept texts, drawn at random, whose
    labels correct the kept ones without having chosen the threshold. A text's probability is that of its part. Their order is
    random, so that nothing about a text tells why it is there. Raises InputError without a text to send, and for numbers below 1 or 0.
    """
    problems = []
    if n is not None and n < 1:
        problems.append(f"send: must be at least 1, got {n}")
    if audit < 0:
        problems.append(f"audit: must be at least 0, got {audit}")
    if problems:
        raise InputError(f"{shown(found.panel.name)}: no texts to send", problems)
    if not found.sent:
        raise InputError(f"{shown(found.panel.name)}: no text is left to send to people")
    generator = np.random.default_rng(rng)
    rows: list[tuple[int, float]] = []
    for free, wanted in ((found.sent, len(found.sent) if n is None else n), (found.auditable, audit)):
        size = min(wanted, len(free))
        rows += [(free[at], size / len(free)) for at in generator.permutation(len(free))[:size].tolist()]
    order = [rows[at] for at in generator.permutation(len(rows)).tolist()]
    places = tuple(row for row, _ in order)
    return NextLabels(
        found.panel.name,
        found.panel.judges,
        places,
        tuple(found.panel.rows[row] for row in places),
        tuple(tuple(float(one) for one in found.panel.scores[row]) for row in places),
        tuple(chance for _, chance in order),
        (None,) * len(order),
        ("at random",) * len(order),
        "none",
        len(order),
        len(found.sent) + len(found.auditable),
        int(found.calibration.sum()),
        None,
    )


def sent_from(name: str) -> str:
    """The file name of a study of texts that were sent to people. Not that of `next_labels.chosen_from`: its texts are
    uncertain ones alone, so a check must not read them as further labels.
    """
    return f"escalated from {name}"


# --- sentences, tables and JSON ----------------------------------------------------------------


def escalation_said(found: Escalation) -> list[str]:
    """The verdict first: the threshold or that there is none, the share kept, what goes to people, the total."""
    options, chosen = found.options, found.chosen
    judge, sure = shown(found.sure.judge), found.sure.said
    promise = f"an agreement of {options.agreement:g} with probability {1 - options.delta:g}"
    if chosen is None:
        lines = [f"No threshold keeps the promise of {promise}.", found.missing]
        if found.sent:
            lines.append(f"All {len(found.sent):,} unlabelled texts are for people.")
    else:
        lines = [
            f"Keep {judge} from a confidence of {chosen.threshold:.3g} ({sure}): {promise}.",
            f"Of {chosen.n:,} labelled texts kept, {chosen.agreement:.1%} agree with people; the lower bound is {chosen.low:.3f}.",
        ]
        if found.kept_unlabelled is not None:
            n_kept = int((found.kept & ~found.calibration).sum())
            lines.append(
                f"It keeps {ends_said(found.kept_unlabelled)} of the texts without a label ({n_kept:,} of {found.n_unlabelled:,}); "
                + (f"{len(found.sent):,} go to people." if found.sent else "none is left for people.")
            )
        else:
            lines.append(
                f"It keeps {ends_said(found.kept_labelled)} of the labelled texts. No text is without a label."
            )
        if found.shift_p is not None and found.shift_p < SELECTED:
            lines.append(
                f"Check how texts were chosen for labels: it keeps {ends_said(found.kept_labelled)} of those with one and "
                f"{ends_said(found.kept_unlabelled)} of the others ({p_said(found.shift_p)}). The promise holds for texts like the labelled ones."
            )
    if found.total is not None and found.total.total.estimate is not None and chosen is not None:
        lines.append(
            f"{found.what[0].upper()}{found.what[1:]} of all texts: {ends_said(found.total.total)}{_so_far(found)}."
        )
    elif chosen is not None and found.total_reason:
        lines.append(f"No total: {found.total_reason}.")
    return lines


def _so_far(found: Escalation) -> str:
    if not found.sent or found.total is None:
        return ""
    n = found.total.n_sent_labelled
    return f", so far from {n:,} labels below the threshold" + (
        f" ({found.n_back:,} came back)" if found.n_back else ""
    )


def escalation_tables(found: Escalation) -> dict[str, ResultTable]:
    """All tables by name. The last one, with a row for each text, is for files."""
    tables = (_main(found), _thresholds(found), _totals(found), _texts(found))
    return {one.name: one for one in tables}


def _main(found: Escalation) -> ResultTable:
    chosen, options = found.chosen, found.options
    none = Interval(None, reason="no threshold keeps the promise")
    columns = (
        Column("judge", names_row=True),
        Column("confidence", shown=False),
        Column("wanted", "agreement wanted", places=2),
        Column("delta", shown=False),
        Column("threshold", general=True),
        Column("agreement", "agreement of kept"),
        Column("lower_bound", "lower bound"),
        Column("n_labelled_kept", "labelled and kept"),
        Column("among_raters", "raters among themselves"),
        Column("kept_labelled", "kept of labelled"),
        Column("kept_unlabelled", "kept of others"),
        Column("shift_p", "p of equal shares", p_value=True),
        Column("n_sent", "for people"),
        Column("n_labelled", shown=False),
        Column("n_labelled_items", shown=False),
        Column("n_unlabelled", shown=False),
        Column("n_back", shown=False),
        Column("n_audited", shown=False),
        Column("against", shown=False),
    )
    row = (
        found.sure.judge,
        found.sure.said,
        options.agreement,
        options.delta,
        none if chosen is None else chosen.threshold,
        none if chosen is None else chosen.agreement,
        none if chosen is None else chosen.low,
        0 if chosen is None else chosen.n,
        interval(found.among_raters, "no text has two raters"),
        none if chosen is None else interval(found.kept_labelled),
        none if chosen is None else interval(found.kept_unlabelled, "no text is without a label"),
        Interval(found.shift_p, reason="the shares cannot be compared"),
        len(found.sent),
        int(found.calibration.sum()),
        found.n_items,
        found.n_unlabelled,
        found.n_back,
        found.n_audited,
        options.against,
    )
    return ResultTable(
        ESCALATION_TABLES[0],
        columns,
        (row,),
        f"Trust or escalate: {shown(found.sure.judge)} on {shown(found.panel.name)}",
        (
            f"Confidence: {found.sure.said}. Agreement: with {AGAINST[options.against]}.",
            f"Lower bound: exact, one-sided, with probability {1 - options.delta:g}. The promise holds for texts like the labelled ones.",
            *_clustered(found),
            *found.notes,
        ),
    )


def _clustered(found: Escalation) -> tuple[str, ...]:
    n = int(found.calibration.sum())
    if found.n_items == n:
        return ()
    return (
        f"{n:,} labelled texts are of {found.n_items:,} items: bounds use the effective number of texts, so they are approximate.",
    )


def _thresholds(found: Escalation) -> ResultTable:
    columns = (
        Column("threshold", general=True, names_row=True),
        Column("n", "labelled and kept"),
        Column("n_items", shown=False),
        Column("kept", "kept of labelled"),
        Column("agreement"),
        Column("lower_bound", "lower bound"),
        Column("result"),
    )
    rows = tuple(
        (
            step.threshold,
            step.n,
            step.n_clusters,
            step.share,
            Interval(step.agreement, reason="no labelled text is kept"),
            step.low,
            "keeps the promise"
            if step.passed
            else "fails"
            if step.tested
            else "too few to test"
            if step.n_clusters < found.found.fewest
            else "not tested",
        )
        for step in found.found.steps
    )
    return ResultTable(
        ESCALATION_TABLES[1],
        columns,
        rows,
        "Thresholds, from the highest down",
        (
            f"Tests begin with {found.found.fewest:,} labelled items kept and end with the first that fails: later bounds are shown, but "
            "promise nothing.",
        ),
    )


def _totals(found: Escalation) -> ResultTable:
    columns = (
        Column("part", names_row=True),
        Column("mean", found.what),
        Column("decided_by"),
        Column("n", "texts"),
        Column("n_labelled", "labelled"),
    )
    total = found.total
    rows: tuple[tuple[Any, ...], ...] = ()
    if total is not None:
        n, n_labelled = total.n_kept + total.n_sent, total.n_kept_labelled + total.n_sent_labelled
        rows = (
            ("all", interval(total.total), "both", n, n_labelled),
            ("kept", interval(total.kept), "the judge, corrected", total.n_kept, total.n_kept_labelled),
            ("for people", interval(total.sent), "people", total.n_sent, total.n_sent_labelled),
        )
    notes = [f"Intervals: {found.options.confidence_level:.0%}, over items."] if rows else []
    if found.total_reason:
        notes.append(f"No total: {found.total_reason}.")
    return ResultTable(ESCALATION_TABLES[2], columns, rows, "The total of all texts", tuple(notes))


def _texts(found: Escalation) -> ResultTable:
    systems = any(row.system != ONLY_SYSTEM for row in found.panel.rows)
    levels = any(row.level is not None for row in found.panel.rows)
    columns = (
        Column("item_id", "item", names_row=True),
        *((Column("system"),) if systems else ()),
        *((Column("level"),) if levels else ()),
        Column("language", shown=False),
        Column("verdict"),
        Column("confidence", general=True),
        Column("decided_by"),
    )
    sent = {*found.sent}
    names = found.panel.scale.words
    rows = tuple(
        (
            row.item_id,
            *((row.system,) if systems else ()),
            *((row.level,) if levels else ()),
            row.language,
            None if np.isnan(verdict) else names.get(verdict, f"{verdict:g}"),
            None if np.isnan(confidence) else confidence,
            "judge" if kept else "for people" if at in sent else "people",
        )
        for at, (row, verdict, confidence, kept) in enumerate(
            zip(
                found.panel.rows,
                found.sure.verdicts.tolist(),
                found.sure.confidence.tolist(),
                found.kept.tolist(),
                strict=True,
            )
        )
    )
    return ResultTable(
        ESCALATION_TABLES[3],
        columns,
        rows,
        "Every text",
        ("Raters must see neither the verdict nor the confidence.",),
    )


def escalation_json(found: Escalation) -> dict[str, Any]:
    """The result as JSON, without texts."""
    chosen, total, options = found.chosen, found.total, found.options
    return {
        "judge": found.sure.judge,
        "raters": list(found.panel.raters),
        "confidence": found.sure.said,
        **picked(options, "agreement", "delta", "against", "confidence_level"),
        "fewest": found.found.fewest,
        "chosen": None if chosen is None else _step_json(chosen),
        "missing": found.missing,
        "thresholds": [_step_json(step) for step in found.found.steps],
        "among_raters": ends(found.among_raters),
        "kept_labelled": ends(found.kept_labelled),
        "kept_unlabelled": ends(found.kept_unlabelled, "no text is without a label"),
        "shift_p": found.shift_p,
        "n_labelled": int(found.calibration.sum()),
        "n_labelled_items": found.n_items,
        "n_unlabelled": found.n_unlabelled,
        "n_kept_unlabelled": int((found.kept & ~found.calibration).sum()),
        "n_sent": len(found.sent),
        "n_back": found.n_back,
        "n_audited": found.n_audited,
        "total": None
        if total is None
        else {
            "what": found.what,
            **ends(total.total),
            "kept": ends(total.kept),
            "sent": ends(total.sent),
            **picked(total, "share_kept", "n_kept", "n_kept_labelled", "n_sent", "n_sent_labelled"),
        },
        "total_reason": found.total_reason,
        "sentences": escalation_said(found),
        "notes": list(found.notes),
    }


def _step_json(step: KeptAbove) -> dict[str, Any]:
    return {
        **picked(step, "threshold", "n", "share", "agreement", "tested", "passed"),
        "n_items": step.n_clusters,
        "lower_bound": step.low,
    }
