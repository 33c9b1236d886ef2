"""Trust or escalate: keep a judge where it is sure enough to agree with people, and send the other texts to them."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.panel import inclusion_probabilities
from core.results.check.next_labels import NextLabels
from core.results.check.sureness import Sureness
from core.results.check.texts import OwnTexts, own_texts
from core.results.corrected import LabelScale, label_scale
from core.schema.panel import Panel
from core.stats.agreement import pair_shares
from core.stats.calibration import (
    SAME,
    KeptAbove,
    TrustThreshold,
    fixed_thresholds,
    labelled_needed,
    trust_threshold,
)
from core.stats.prediction_powered import KeptAndSent, Scored, corrected_mean, kept_and_sent
from core.stats.resampling import Estimate, Floats, mean_share
from core.stats.votes import MISSING
from core.tables.reading import shown

Against = Literal["rater", "majority"]
Booleans = NDArray[np.bool_]
FEWEST_AUDITED = 30
"""Audited texts from which they alone correct the kept ones."""
FEW_KEPT = 200
"""Labelled kept texts below which the total of a threshold that they chose themselves misleads (docs/simulations/escalation.md)."""


@dataclass(frozen=True)
class Promise:
    """What is promised of the kept texts, chosen before the result is seen."""

    agreement: float = 0.9
    """Agreement with people that is promised for the kept texts."""
    delta: float = 0.1
    """Largest probability that the promise is broken."""
    against: Against = "rater"
    start: int | None = None
    """Labelled items that the first threshold tested must keep; None: the fewest with which it can pass."""
    thresholds: tuple[float, ...] = ()
    """Thresholds to test, each once, the highest first; empty: `core.stats.calibration.fixed_thresholds`."""
    passes: str | None = None
    """Rating that counts as a pass, for the total; see `core.results.corrected`."""
    confidence_level: float = 0.95
    """Of the total and the shares kept."""


AS_USUAL = Promise()


@dataclass(frozen=True)
class Escalation:
    """Where a judge can be kept, what goes to people, and the total."""

    panel: Panel
    """With one judge: the verdicts."""
    sure: Sureness
    promise: Promise
    trust: TrustThreshold
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
        return self.trust.threshold

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
    promise: Promise = AS_USUAL,
    *,
    returned: Booleans | None = None,
) -> Escalation:
    """Choose the confidence from which the judge is kept, and estimate the total from its verdicts and people's labels.

    returned: shape (n,), texts whose labels came back after the threshold was chosen; None: labelled texts with a probability of
    inclusion, such as those of a study that this made. They do not choose the threshold, which so stays the same. A text agrees with
    the share of its raters who gave the verdict, or with the majority (`promise.against`; of labels given equally often each
    counts its share).

    Raises InputError with all problems: no labelled text with a verdict, verdicts that are no classes of the raters.

    Misleads if labelled texts are no random sample of the texts to judge, and for later texts of another kind
    (`core.stats.calibration.trust_threshold`).
    """
    problems = []
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
    agrees[own.rows] = _agreeing(own, promise.against)
    thresholds = np.array(promise.thresholds) if promise.thresholds else fixed_thresholds(level[known])
    found = trust_threshold(
        level[calibration],
        agrees[calibration],
        thresholds=thresholds,
        agreement=promise.agreement,
        delta=promise.delta,
        fewest=promise.start,
        clusters=panel.items[calibration],
    )
    kept = level >= (np.inf if found.threshold is None else found.threshold.threshold - SAME)
    others = ~calibration
    compared = calibration & (kept | (found.threshold is None))
    among = _rater_agreement(own.only(compared[own.rows]), promise)
    unequal = _shift(kept, calibration, panel.items) if found.threshold is not None else None
    notes = list(panel.notes)
    if n := int((rated & ~known & calibration).sum()):
        notes.append(f"{n:,} labelled texts have no verdict or no confidence: they count as not kept")
    audited = back & kept & (np.zeros(len(kept), dtype=np.bool_) if chances is None else ~np.isnan(chances))
    if not _equal(chances, audited):
        audited = np.zeros(len(kept), dtype=np.bool_)
    total, why, scale = _total(one, kept, calibration, back, audited, chances, promise)
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
        promise,
        found,
        kept,
        calibration,
        tuple(np.flatnonzero(~rated & ~kept).tolist()),
        int((back & ~kept).sum()),
        int(audited.sum()),
        among,
        _share(kept, calibration, panel.items, promise),
        _share(kept, others, panel.items, promise) if others.any() else None,
        unequal,
        "" if found.threshold is not None else _missing(found, among, promise, int(calibration.sum())),
        total,
        why,
        scale,
        tuple(notes),
    )


def _equal(chances: Floats | None, where: Booleans) -> bool:
    return chances is not None and bool(where.any()) and bool(np.allclose(chances[where], chances[where][0]))


def _agreeing(texts: OwnTexts, against: Against) -> Floats:
    """Agreement of each text's verdict with its raters, in [0, 1]."""
    votes, judged = texts.votes()
    counts = np.stack([(votes == code).sum(axis=1) for code in range(len(texts.classes))], axis=1)
    mine = counts[np.arange(len(judged)), judged]
    if against == "rater":
        found: Floats = mine / (votes != MISSING).sum(axis=1)
        return found
    most = counts.max(axis=1)
    return np.where(mine == most, 1 / (counts == most[:, None]).sum(axis=1), 0.0)


def _rater_agreement(texts: OwnTexts, promise: Promise) -> Estimate:
    votes, judged = texts.votes()
    shares = pair_shares(votes, judged, texts.n_classes)[0]
    found = mean_share(shares, texts.items, confidence_level=promise.confidence_level)
    return replace(found, reason="no text has two raters") if found.n == 0 else found


def _share(kept: Booleans, where: Booleans, items: NDArray[np.int64], promise: Promise) -> Estimate:
    return mean_share(kept[where], items[where], confidence_level=promise.confidence_level)


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
    promise: Promise,
) -> tuple[KeptAndSent | None, str, LabelScale | None]:
    """The total, or why there is none, and what it is of."""
    if not panel.scale.ordered and promise.passes is None:
        return None, "labels without an order have no mean: state the one that counts as a pass", None
    scale = label_scale(panel, promise.passes)
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
        confidence_level=promise.confidence_level,
    )
    return found, found.total.reason or "", scale


def _missing(found: TrustThreshold, among: Estimate, promise: Promise, n_labelled: int) -> str:
    """Why no threshold keeps the promise, and what would help."""
    wanted = promise.agreement
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
    below = among.estimate is not None and among.estimate < wanted and promise.against == "rater"
    people = (
        f" Raters agree with each other on {among.estimate:.1%}, so no judge may reach {wanted:g} against one of them; promise less, or "
        "agreement with their majority."
        if below
        else ""
    )
    needed = labelled_needed(agreement, wanted, promise.delta)
    if needed is None:
        return f"{surest} That is not above the promise, so more labels alone will hardly help.{people}"
    in_all = np.ceil(needed / max(first.share, 1e-9))
    return (
        f"{surest} If that share stays, about {float(f'{in_all:.2g}'):,.0f} labelled texts in all would show it ({n_labelled:,} now). "
        f"With new labels, a first test on more texts is less often ended by chance.{people}"
    )


# --- the texts for people ----------------------------------------------------------------------


def sent_texts(escalation: Escalation, n: int | None = None, *, audit: int = 0, rng: int = 0) -> NextLabels:
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
        raise InputError(f"{shown(escalation.panel.name)}: no texts to send", problems)
    if not escalation.sent:
        raise InputError(f"{shown(escalation.panel.name)}: no text is left to send to people")
    generator = np.random.default_rng(rng)
    rows: list[tuple[int, float]] = []
    for free, wanted in (
        (escalation.sent, len(escalation.sent) if n is None else n),
        (escalation.auditable, audit),
    ):
        size = min(wanted, len(free))
        rows += [(free[at], size / len(free)) for at in generator.permutation(len(free))[:size].tolist()]
    order = [rows[at] for at in generator.permutation(len(rows)).tolist()]
    places = tuple(row for row, _ in order)
    return NextLabels(
        escalation.panel.name,
        escalation.panel.judges,
        places,
        tuple(escalation.panel.rows[row] for row in places),
        tuple(tuple(float(one) for one in escalation.panel.scores[row]) for row in places),
        tuple(chance for _, chance in order),
        (None,) * len(order),
        ("at random",) * len(order),
        "none",
        len(order),
        len(escalation.sent) + len(escalation.auditable),
        int(escalation.calibration.sum()),
        None,
    )


def sent_from(name: str) -> str:
    """The file name of a study of texts that were sent to people. Not that of `next_labels.chosen_from`: its texts are
    uncertain ones alone, so a check must not read them as further labels.
    """
    return f"escalated from {name}"
