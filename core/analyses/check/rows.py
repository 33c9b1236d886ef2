"""Rows of a check: its judges, rules, groups and systems, and what changed since an earlier one."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.analyses.agreement import Agreement
from core.analyses.next_labels import Next
from core.analyses.which_judge import Which
from core.schema.gaps import GapRow, Gaps
from core.schema.injections import Injections
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.uses import Use

if TYPE_CHECKING:
    from core.results.check.verdict import Check


@row
class Ceiling:
    """What raters reach among themselves."""

    measure: str = entry("agreement, kappa_quadratic or correlation")
    estimate: float | None = entry("its value")
    low: float | None = entry("lower end of the interval")
    high: float | None = entry("upper end of the interval")
    reason: str | None = entry("why it is undefined")
    interval_reason: str | None = entry("why it has no interval")
    supposed: float | None = entry("the value that the user stated where no text has two raters")


@row
class RuleRow:
    """A rule of the use, and what was found of a judge."""

    judge: str = column("the judge", key="", names_row=True)
    rule: str = column("what is wanted", names_row=True)
    code: str = column("its name for programs", shown=False)
    tested: Interval = column("the number that the rule compares", name="found", key="")
    limit: float | int | None = column("its limit", places=2)
    state: str = column("met, failed or open", name="met", title="state", key="")
    why: str = column("what was found, in words", title="what was found", shown=False)
    labels_needed: int | None = column(
        "items in all until it is settled, if the estimates stay; only while it is open",
        name="items_needed",
        title="items needed in all",
    )
    class_needed: int | None = column(
        "texts of `of_class` until it is settled", title="of the class", shown=False
    )
    met: bool | None = entry("whether it is met; null: open")
    found: Interval | None = entry(
        "the number that the rule compares; null where it compares none", ends="object"
    )
    p_shown: float | None = entry("one-sided p of a judge that breaks the rule")
    p_broken: float | None = entry("one-sided p of a judge that keeps it")
    of_class: str | None = entry("the class whose texts it needs")


@row
class GroupRow:
    """A judge on the texts with one value of a column."""

    judge: str = column("the judge", key="", names_row=True)
    of: str = column("the column", name="column", key="column", names_row=True)
    value: str = column("its value", names_row=True)
    n_items: int = column("items of these texts", title="items")
    measure: str = column("agreement or correlation; bias for monitor")
    found: Interval = column(
        "the judge's number by this measure", name="agreement", title="found", key="agreement", ends="object"
    )
    limit: float | None = column(
        "people's own number on these texts minus the margin; the tolerance for monitor", places=2
    )
    p: Interval = column("one-sided p of a judge that keeps the limit", p_value=True)
    p_holm: float | None = column("p corrected for the judge's groups", title="Holm p", p_value=True)
    fails: bool = column("whether it is shown to miss the limit", words=("yes", "no"))


@row
class AnswerRow:
    """A system, or its texts with one answer of the judge."""

    judge: str = column("the judge", key="", names_row=True)
    of_system: str = column("the system", name="system", key="", names_row=True)
    answer: str = column(
        "the judge's answer; all: every answer, weighted by its texts", title="judge's answer", names_row=True
    )
    verdict: str = column("the verdict on the system", key="")
    n_texts: int = column("texts", title="texts")
    n_labels: int = column("those with a label", title="labels")
    good: Interval = column("share that is good", percent=True, ends="object")
    target: float | None = column("share that must be good", key="", percent=True, places=0)
    items_needed: int | None = column(
        "further items until the verdict is settled", title="further items needed", key=""
    )


@row
class System:
    """The certificate of a system."""

    system: str | None = entry("its name; null: the file names none")
    verdict: str = entry("TRUSTED, NOT TRUSTED or INCONCLUSIVE")
    sentence: str = entry("the verdict in a sentence")
    target: float = entry("share that must be good")
    good: Interval = entry("share that is good", ends="object")
    n_texts: int = entry("its texts")
    n_labels: int = entry("those with a label")
    n_items: int = entry("its items")
    confidence_level: float = entry("of the interval, as its number of tests demands")
    answers: tuple[AnswerRow, ...] = entry("the same by the judge's answer", rows=AnswerRow)
    whole: AnswerRow


@row
class Constant:
    """The best answer that never changes."""

    answer: str = entry("the answer")
    agreement: float = entry("how far a judge that always gives it would agree")


@row
class Rate:
    """A judge's rate of an error beside people's."""

    judge: float | None = entry("the judge's")
    people: float | None = entry("of a rater beside another; null with one rater")
    difference: float | None = entry("the judge's minus people's")
    low: float | None = entry("lower end of the difference, or with one rater of the judge's rate")
    high: float | None = entry("upper end")
    n: int = entry("texts")


@row
class Kept:
    """How much of people's own agreement the judge keeps."""

    share: float | None = entry("the judge's agreement above chance over people's")
    judge: float | None = entry("the judge's agreement above chance")
    people: float | None = entry("people's")
    n: int = entry("texts with two raters")
    reason: str | None = entry("why the share is undefined")


@row
class Icc:
    """Intraclass correlations, absolute agreement of single ratings."""

    judge: float | None = entry("with the judge in the place of each rater in turn")
    people: float | None = entry("of the raters")
    n: int = entry("texts that all rated")


@row
class Tested:
    """The Alt-test."""

    epsilon: float = entry("price of a rater")
    winning_rate: float | None = entry("share of raters that the judge beats")
    passed: bool | None = entry("whether that is half of them or more")
    advantage: Interval = entry(
        "probability of being as close to the other raters as a rater is", ends="object"
    )


@row
class Follows:
    """How far a judge moves when quality moves by 1."""

    estimate: float | None = entry("the judge's covariance with a rater over that of two raters")
    low: float | None = entry("lower end of the interval")
    high: float | None = entry("upper end")
    reason: str | None = entry("why it is undefined")
    interval_reason: str | None = entry("why it has no interval")
    judge: float | None = entry("covariance of the judge with a rater")
    people: float | None = entry("covariance of two raters")
    n: int = entry("pairs of ratings, or means")
    means_of_systems: bool = entry("whether it is over means of systems")
    at_least: bool = entry("whether it rests on one rater, so that the truth is at least as far")


@row
class ThirdBias:
    """A judge's bias where people rate low, in the middle or high."""

    third: str = entry("low, middle or high")
    lowest: str = entry("lowest rating there", key="from")
    highest: str = entry("highest rating there", key="to")
    n: int = entry("texts")
    estimate: float | None = entry("the bias, as a share of the scale")
    low: float | None = entry("lower end of the interval")
    high: float | None = entry("upper end")
    reason: str | None = entry("why it is undefined")
    interval_reason: str | None = entry("why it has no interval")


@row
class JudgeRow:
    """A judge with the verdict and the numbers behind it."""

    judge: str = column("the judge", key="name", names_row=True)
    verdict: str = column("TRUSTED, NOT TRUSTED or INCONCLUSIVE")
    n_items: int = column("items with a label and a score", title="items")
    false_passes: Interval = column(
        "share of the answers that people fail which it passes", title="false passes", key="", percent=True
    )
    false_fails: Interval = column(
        "share of the answers that people pass which it fails", title="false fails", key="", percent=True
    )
    kept_share: Interval = column(
        "share of people's own agreement above chance that it keeps", title="kept share", key="", percent=True
    )
    kappa_quadratic: Interval = column(
        "quadratic kappa with a rater, for ordered classes", title="quadratic kappa", ends="object"
    )
    agreement: Interval = column("share of a text's raters who gave its class", ends="object")
    of_constant: float | None = column(
        "agreement of the best answer that never changes", name="constant", title="constant answer", key=""
    )
    kappa: Interval = column("Cohen's kappa with every rater, all pairs pooled", ends="object")
    ac1: Interval = column("Gwet's AC1, which counts the classes on offer", title="AC1", ends="object")
    correlation: Interval = column("rank correlation with the raters' mean", title="Spearman", ends="object")
    measure: str = column("what it is compared by: agreement, kappa_quadratic or correlation", shown=False)
    people: Interval = column("what people reach among themselves by `measure`", name="ceiling", key="")
    advantage: Interval = column("of the Alt-test", key="")
    accuracy: Interval = column("share of pairs of systems in the raters' order", key="")
    bias: Interval = column("mean of judge minus raters, as a share of the scale", ends="object")
    follows: Interval = column("how far it moves when quality moves by 1", name="responsiveness", key="")
    bias_low: Interval = column("bias where people rate low", title="bias, rated low", key="")
    bias_middle: Interval = column("bias where people rate in the middle", title="bias, rated middle", key="")
    bias_high: Interval = column("bias where people rate high", title="bias, rated high", key="")
    coverage: float | None = column("share of labelled texts with a score", percent=True)
    consistency: Interval = column("share of equal answers when a text is judged again", ends="object")
    cost: Interval = column("price of 1,000 texts", title="cost per 1,000", places=2)
    labels_needed: int | None = column(
        "further items until the verdict is settled, if the estimates stay", title="further items needed"
    )
    sentence: str = entry("the verdict in a sentence")
    reasons: tuple[str, ...] = entry("what was found for the rules that decided")
    rules: tuple[RuleRow, ...] = entry("the rules of the use", rows=RuleRow)
    kind: str = entry("scale on which it is compared: two, ordered, unordered or scores")
    constant: Constant | None = entry("the best constant answer; null for scores", rows=Constant)
    passes: Rate | None = entry(
        "how often it passes what people fail; null for other scales", key="false_passes", rows=Rate
    )
    fails: Rate | None = entry(
        "how often it fails what people pass; null for other scales", key="false_fails", rows=Rate
    )
    kept: Kept | None = entry(
        "how much of people's agreement it keeps; null for other uses", key="kept_share", rows=Kept
    )
    icc: Icc | None = entry("intraclass correlations; null where scales differ", rows=Icc)
    n_unscored: int = entry("labelled texts without a score")
    severity: str | None = entry("whether it is only stricter or milder than people")
    ceiling: Ceiling = entry("what people reach on its texts", rows=Ceiling)
    alt_test: Tested | None = entry("the Alt-test; null for other uses", rows=Tested)
    responsiveness: Follows | None = entry("for monitor, how far it follows quality", rows=Follows)
    bias_thirds: tuple[ThirdBias, ...] = entry(
        "for monitor, the bias by third of the ratings", rows=ThirdBias
    )
    systems: tuple[System, ...] = entry("for certify, each system", rows=System)
    currency: str | None = entry("of the cost")
    seconds: float | None = entry("time of 1,000 texts")
    model: str | None = entry("its model, if known")
    groups: tuple[GroupRow, ...] = entry("the judge by groups of texts", rows=GroupRow)
    n_texts: int = entry("texts with a label and a score")
    n_left_out: int = entry("texts without a score or without a label")
    labels_reason: str = entry("why `labels_needed` is null")


@row
class ScaleRead:
    """The raters' scale."""

    kind: str = entry("two, ordered, unordered or scores")
    classes: tuple[str | float, ...] | None = entry("its classes, from worst to best")
    ends: tuple[float, float] | None = entry("lowest and highest value of scores")
    origin: str = entry("declared or guessed")
    missing: tuple[str, ...] = entry("words that are no rating")


@row
class UnitRead:
    """What an item is."""

    name: str = entry("what it is called: ids, rows or a column")
    origin: str = entry("declared or guessed")
    n: int = entry("items")
    undecided: str | None = entry("the other column that may name items")
    joined_by_row: bool = entry("whether files were joined row by row")


@row
class Human:
    """The raters."""

    raters: tuple[str, ...] = entry("their names")
    ceiling: Ceiling = entry("what they reach among themselves on all labelled texts", rows=Ceiling)


@row
class Change:
    """One number, then and now."""

    whose: str = column("the judge or the system, or all", name="of", key="", names_row=True)
    what: str = column(
        "agreement, correlation, bias, score (in standard deviations), people (mean rating) or raters (agreement among them)",
        name="number",
        key="number",
        names_row=True,
    )
    earlier: float | None = column("then")
    now: float | None = column("now")
    change: Interval = column(
        "now minus then; of a judge on other texts at equal mean ratings", ends="object"
    )
    p: Interval = column("two-sided p of no change", p_value=True)
    error: float | None
    """Standard error."""
    df: float
    p_holm: float | None = column("p corrected for all rows", title="Holm p", p_value=True)
    smallest: float | None = column(
        "the smallest change that would have been shown with a probability of 80 %",
        name="smallest_shown",
        title="smallest change shown",
        key="smallest_shown",
        places=2,
    )
    n_texts: int = column("texts", title="texts", key="")
    of: str | None = entry("the judge or the system; null: all")
    shown: bool = entry("whether the change is claimed")


@row
class MeanChange:
    """The change of a judge's mean in two parts, as shares of the scale."""

    judge: float = entry("change of the judge's mean")
    people: float = entry("change of the people's mean")
    bias: float = entry("change of the bias: the first minus the second")


@row
class JudgeDrift:
    """A judge then and now."""

    name: str = entry("the judge")
    changed: bool = entry("whether a change is claimed")
    on: str = entry(
        "same: the same texts with the same ratings; equal ratings: other texts, at equal mean ratings; estimates: from the "
        "estimates alone, which cannot tell the judge from the texts",
        key="compared_on",
    )
    n_same: int = entry("texts with the same ratings in both checks")
    share_changed: float | None = entry("share of them whose score changed")
    mean: MeanChange | None = entry("change of its mean in two parts, on all texts", rows=MeanChange)
    changes: tuple[Change, ...] = entry("its numbers", rows=Change)


@row
class Drift:
    """What changed since an earlier check."""

    sentences: tuple[str, ...] = entry("what changed, in words")
    judge_changed: bool = entry("whether a change of a judge is claimed")
    systems_changed: bool = entry("whether a change of the systems is claimed")
    raters_changed: bool = entry("whether a change of the raters is claimed")
    same_labels: bool = entry("whether both checks hold the same texts with the same ratings")
    same_raters: bool = entry("whether both have the same raters")
    judges: tuple[JudgeDrift, ...] = entry("each judge that is in both", rows=JudgeDrift)
    people: tuple[Change, ...] = entry(
        "the people's mean rating of new texts: of all, then by system", rows=Change
    )
    raters: Change | None = entry("agreement among the raters on new texts", rows=Change)
    n_tests: int = entry("tests for which p is corrected")
    notes: tuple[str, ...] = entry("what is in one check alone")

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes."""
        own = tuple(change for one in self.judges for change in one.changes)
        return (*own, *self.people, *(() if self.raters is None else (self.raters,)))


@row
class RowsKept:
    """The texts of a check for a later one, in lists without texts or names of raters."""

    scale: tuple[float, ...] = entry("ends of the scale")
    ordered: bool = entry("whether labels have an order")
    item: tuple[str, ...] = entry("items")
    system: tuple[str, ...] = entry("systems")
    level: tuple[str | None, ...] = entry("levels")
    mean: tuple[float | None, ...] = entry("mean ratings")
    ratings: tuple[int, ...] = entry("numbers of ratings")
    rater_agreement: tuple[float | None, ...] = entry("agreement among the raters")
    judges: Mapping[str, Any] = entry(
        "for each judge `score`, `agreement` and `influence`: for each rule, items and what each moves its number"
    )


@row
class Checked:
    """The verdicts on all judges for one use, and what was asked beside them."""

    verdict: str | None = entry("TRUSTED, NOT TRUSTED or INCONCLUSIVE; null for several judges")
    use: Use = entry("the use: replace, rank, gate, monitor or certify")
    sentence: str = entry("the verdict in a sentence; for several judges how many are trusted")
    reasons: tuple[str, ...] = entry("what was found for the rules that decided")
    read_as: str = entry("how the input was read")
    scale: ScaleRead = entry("the raters' scale", rows=ScaleRead)
    unit: UnitRead = entry("what an item is", rows=UnitRead)
    judges_paid_for: int = entry("judges among which the level is divided; for certify their systems")
    n_items: int = entry("items with a label and a score")
    n_left_out: int = entry("texts without a label or without any score; 0 for certify, which reads them all")
    human: Human = entry("the raters", rows=Human)
    judges: tuple[JudgeRow, ...] = entry("each judge", rows=JudgeRow)
    injections: Injections | None = entry(
        "marks of injection in the texts; null without texts", rows=Injections
    )
    columns: Mapping[str, Any] | None = entry(
        "which columns were read as what; null for a file that is no table"
    )
    confidence_level: float = entry("of the intervals; the rules have their own")
    notes: tuple[str, ...] = entry("what was read, left out and assumed")
    signature: str = entry(
        "what the verdict depends on beside the scores: use, options, a hash of the labels, version"
    )
    rows: RowsKept | None = entry("the texts for a later check; null where there are too many", rows=RowsKept)
    rows_note: str | None = entry("why there are no rows")
    which: Which | None = entry(
        "which judge to use; only for several judges with common texts", rows=Which, optional=True
    )
    gaps: tuple[GapRow, ...] | None = entry(
        "where people and judges differ most; only if asked for", rows=GapRow, optional=True
    )
    next: Next | None = entry("which texts to label next; only if asked for", rows=Next, optional=True)
    drift: Drift | None = entry(
        "what changed since an earlier check; only beside one", rows=Drift, optional=True
    )
    check: "Check"
    """For cards, figures and first screens."""
    sentences: tuple[str, ...]
    """All sentences, the verdict first."""
    table_notes: Mapping[str, tuple[str, ...]]
    """Table -> its notes."""
    hidden: Mapping[str, tuple[str, ...]]
    """Table -> columns that readers need not see."""
    people_measure: str
    """What people are measured by, for a heading."""
    listed_gaps: Callable[[], Gaps]
    """The gaps that were asked for, else all."""

    def of_judges(self, names: Collection[str]) -> "Checked":
        """The same with the rows of these judges alone. The verdicts stay those of all judges together."""
        return replace(self, judges=tuple(one for one in self.judges if one.judge in names))


@row
class PeopleAlone:
    """A check that found no judge: how far people agree with each other."""

    verdict: str | None = entry("null: there is no judge")
    sentence: str = entry("that no judge was found, and how to name one")
    judges: tuple[str, ...] = entry("empty")
    agreement: Agreement = entry("how far raters agree with each other", rows=Agreement)
