"""The Alt-test of judges against the raters of a panel: may a judge stand in for a rater?"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from core.schema.analysis import (
    Analysis,
    Table,
    Tell,
    Verdict,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.figures import AnyFigure, Axis, Lines, Shares
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Remark, Settings, setting

if TYPE_CHECKING:
    from core.schema.panel import Panel
    from core.stats import alt_test as stats

EPSILONS = {"experts": 0.2, "skilled raters": 0.15, "crowd workers": 0.1}
"""The paper's advice for epsilon."""
ALIGNMENTS = {
    "accuracy": "share of the other raters who gave the same label",
    "rmse": "minus the root mean squared distance from the other raters",
}
"""What closeness is."""
FEW_RATERS = 3
MOST_ITEMS = 10_000
_MOST_ROWS = 40
"""Judges times raters up to which a terminal shows each rater, and a figure draws them."""


class AltTestOptions(Settings):
    """Options of the Alt-test."""

    epsilon: float = setting(
        EPSILONS["experts"],
        "Epsilon, the price of a rater",
        "price of a rater: by which share of texts a rater may be ahead of the judge, because the judge is cheaper; "
        "Calderon et al. (2025) advise "
        + ", ".join(f"{value:g} for {who}" for who, value in EPSILONS.items()),
        at_least=0,
        below=1,
        step=0.05,
    )
    alignment: Literal["accuracy", "rmse"] | None = setting(
        None,
        "Closeness to the other raters",
        "closeness to the other raters: " + "; ".join(f"{name}: {what}" for name, what in ALIGNMENTS.items()),
        words={
            "": "by the scale: rmse where classes are ordered or scores, else accuracy",
            "accuracy": "Same label (accuracy)",
            "rmse": "Small distance (root mean square)",
        },
    )
    items: tuple[int, ...] = setting(
        (30, 50, 100, 200),
        "Numbers of items",
        "numbers of items for which to give the probability to pass",
        within=(2, MOST_ITEMS),
        listed=True,
        metavar="N,...",
        folded=True,
    )
    advantage: float | None = setting(
        None,
        "Supposed advantage",
        "advantage to suppose for that probability",
        above=0,
        below=1,
        step=0.05,
        metavar="A",
        words={"": "the observed one"},
        folded=True,
    )
    n_resamples: int = resamples_setting(1_000, "draws of items for the probability to pass", fewest=1)
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()


@row
class RaterRow:
    """One judge against one rater."""

    judge: str = column("the judge", key="", names_row=True)
    rater: str = column("the rater", names_row=True)
    n: int = column("texts that this rater, another rater and the judge all rated")
    n_better: int = column(
        "texts on which the judge is closer to the other raters than this rater", title="judge closer"
    )
    n_equal: int = column("texts on which both are equally close", title="equal")
    n_worse: int = column("texts on which the rater is closer", title="rater closer")
    advantage: Interval = column("share of texts on which the judge is at least as close")
    p: Interval = column(
        "p, not corrected, of the one-sided test that the rater's lead is at least epsilon", p_value=True
    )
    p_corrected: float | None = column(
        "p corrected for the number of raters",
        name="p_by",
        title="Benjamini-Yekutieli p",
        key="p_by",
        p_value=True,
    )
    rejected: bool | None = column(
        "whether the judge wins against this rater", name="wins", title="judge wins", words=("yes", "no")
    )
    test: str = column("the test: t, signed-rank, no variance, or empty with a reason")
    reason: str | None = entry("why there is no test")


@row
class ReplacedRow:
    """A rater, or a judge, tested as the judge on a panel without that rater."""

    rater: str = column(
        "the rater who leaves the panel", name="out", title="rater who leaves", names_row=True
    )
    tested: str = column(
        "who is tested in the place of the judge", title="in the place of the judge", key="", names_row=True
    )
    n: int = column("texts with a comparison", title="texts")
    winning_rate: Interval = column(
        "share of the other raters against whom the tested one wins", title="winning rate", percent=True
    )
    advantage: float | None = column("its advantage against them")
    passed: bool | None = column("whether it passes", name="verdict", words=("passed", "not passed"))
    reason: str | None = entry("why nothing was tested")


@row
class PowerRow:
    """One judge with another number of items."""

    judge: str = column("the judge", key="", names_row=True)
    advantage: float | None = column("the advantage that is supposed", key="")
    items: int = column("number of items")
    power: Interval = column("probability to pass", title="probability to pass", percent=True)
    items_needed: int | None = column("fewest items for a probability of 80 %", title="items needed", key="")


@row
class EpsilonRow:
    """One judge at another price of a rater."""

    judge: str = column("the judge", key="", names_row=True)
    epsilon: float = column("the price of a rater", places=2, names_row=True)
    winning_rate: float | None = column(
        "share of raters against whom the judge wins", title="winning rate", percent=True
    )


@row
class Ceiling:
    """What is reached on panels that lack one rater."""

    winning_rate: float | None = entry("mean share of the other raters against whom the tested ones win")
    advantage: Interval = entry("their mean advantage", ends="beside")
    per_rater: tuple[ReplacedRow, ...] = entry("each rater who leaves the panel", rows=ReplacedRow)
    reason: str | None = entry("why it is undefined")


@row
class PowerPlan:
    """How many items it would take."""

    advantage: float | None = entry("the advantage that is supposed: observed or given")
    items_needed: int | None = entry("fewest items for that probability; null if more than 10,000")
    reason: str | None = entry("why it is undefined")
    target: float = entry("the wanted probability to pass")
    items: tuple[PowerRow, ...] = entry("each number of items", rows=PowerRow)


@row
class JudgeRow:
    """One judge against all raters."""

    judge: str = column("the judge", key="", names_row=True)
    n_items: int = column("items with a comparison", title="items")
    n_texts: int = column("texts with a comparison", shown=False)
    winning_rate: Interval = column(
        "share of raters against whom the judge wins", title="winning rate", percent=True
    )
    verdict: str = column("passed, not passed, passed with too few items, or no verdict", key="")
    passed: bool | None = column("whether the winning rate is at least one half", shown=False)
    advantage: Interval = column(
        "share of texts on which the judge is at least as close to the other raters as the rater who is left out, averaged over "
        "raters",
        ends="beside",
    )  # fmt: skip
    passes_from: float | None = column(
        "smallest epsilon from which the judge passes; empty if none up to 0.4",
        title="passes from epsilon",
        places=2,
    )
    reduced_advantage: Interval = column(
        "the judge's advantage on the panels of the human ceiling", title="advantage, one rater less", key=""
    )
    gap: Interval = column("that advantage minus the human ceiling's", title="minus ceiling", ends="object")
    items_needed: int | None = column(
        "fewest items for a probability of 80 % to pass", title="items needed", key=""
    )
    per_rater: tuple[RaterRow, ...] = entry("the judge against each rater", rows=RaterRow)
    n_left_out: int = entry("texts with two ratings that have no comparison, because the judge gave no score")
    reason: str | None = entry("why there is no verdict")
    epsilons: tuple[EpsilonRow, ...] = entry("each price of a rater up to 0.4", rows=EpsilonRow)
    reduced: Ceiling = entry("the judge on the panels of the human ceiling", rows=Ceiling)
    power: PowerPlan = entry("the probability to pass with other numbers of items", rows=PowerPlan)
    check: str = column("verdict of `check --use replace`", title="check")
    check_sentence: str = entry("the sentence of that verdict")
    test: "stats.AltTest"
    """What the test returned, for the verdict."""


@row
class AltTests:
    """The Alt-test of every judge of a panel."""

    epsilon: float = entry("the price of a rater")
    n_items: int = entry("items with a text that at least two raters rated")
    raters: tuple[str, ...] = entry("names of the raters")
    judges: tuple[JudgeRow, ...] = entry("each judge by its name", rows=JudgeRow, keyed_by="judge")
    ceiling: Ceiling = entry("the human ceiling: each rater in the place of the judge", rows=Ceiling)
    n_texts: int = entry("texts that at least two raters rated")
    alignment: str = entry("closeness: accuracy or rmse")
    alpha: float = entry("false discovery rate over raters")
    correction: str = entry("how p is corrected over the raters")
    confidence_level: float = entry("of the intervals")
    left_out: Mapping[str, int] = entry("reason -> ratings that were left out")
    verdicts: tuple[str, ...] = entry("a sentence for each judge")
    notes: tuple[str, ...] = entry("what was read, left out and assumed")
    supposed: float | None
    """The advantage that the options suppose."""


def compute(options: AltTestOptions, panel: "Panel", *, tell: Tell) -> AltTests:
    """Run the Alt-test for every judge of the panel, with the human ceiling.

    Raises SettingsError with all problems: no judge, fewer than two raters, no text that two raters rated, distances between
    words without an order.
    """
    import numpy as np

    from core.schema.scale import BY_NAME
    from core.stats import alt_test as stats

    rated = (~np.isnan(panel.ratings)).sum(axis=1) > 1
    alignment: stats.Alignment = options.alignment or (
        "rmse" if panel.scale.kind not in BY_NAME else "accuracy"
    )
    ANALYSIS.refuse(_problems(options, panel, bool(rated.any())))
    tell("testing")
    asked: dict[str, Any] = {
        "epsilon": options.epsilon,
        "alignment": alignment,
        "clusters": panel.items,
    }
    level: dict[str, Any] = {"confidence_level": options.confidence_level}
    checked = _checked(panel, options)
    judges = []
    for name, scores in zip(panel.judges, panel.scores.T, strict=True):
        power = stats.power(
            scores,
            panel.ratings,
            items=options.items,
            advantage=options.advantage,
            n_resamples=options.n_resamples,
            rng=options.rng,
            **asked,
        )
        judges.append(
            _judge_row(
                panel,
                name,
                int(rated.sum()),
                stats.alt_test(scores, panel.ratings, **asked, **level),
                stats.reduced_alt_test(scores, panel.ratings, **asked, **level),
                stats.epsilon_sweep(scores, panel.ratings, alignment=alignment),
                power,
                checked[name],
            )
        )
    n_items = len(np.unique(panel.items[rated]))
    return AltTests(
        epsilon=options.epsilon,
        n_items=n_items,
        raters=panel.raters,
        judges=tuple(judges),
        ceiling=_ceiling(panel.raters, panel.raters, stats.human_ceiling(panel.ratings, **asked, **level)),
        n_texts=int(rated.sum()),
        alignment=alignment,
        alpha=stats.ALPHA,
        correction="benjamini-yekutieli",
        confidence_level=options.confidence_level,
        left_out=dict(panel.left_out),
        verdicts=tuple(_verdict(one).sentence for one in judges),
        notes=_notes(panel, alignment, judges, int(rated.sum()), n_items),
        supposed=options.advantage,
    )


def _checked(panel: "Panel", options: AltTestOptions) -> Mapping[str, tuple[str, str]]:
    """Judge -> the verdict of the check and its sentence; empty, and why, where a judge has no score of a rated text."""
    from core.errors import InputError
    from core.results.check.sentences import sentence
    from core.results.check.verdict import check_panel
    from core.schema.uses import CheckOptions

    try:
        found = check_panel(panel, CheckOptions(use="replace", epsilon=options.epsilon))
    except InputError as problem:
        return dict.fromkeys(panel.judges, ("", "; ".join(problem.problems)))
    return {one.name: (one.verdict, sentence(found, one)) for one in found.judges}


def _problems(options: AltTestOptions, panel: "Panel", rated: bool) -> list[Remark]:
    problems = []
    if not panel.judges:
        problems.append(Remark("judge", "no judge to test; name a column, a rater or a metric as the judge"))
    if len(panel.raters) < 2:
        problems.append(
            Remark(
                "human",
                "at least two raters are needed, because each is compared with the others; found {raters}",
                {"raters": _listed(panel.raters) or "none"},
            )
        )
    if options.alignment == "rmse" and not panel.scale.ordered:
        text = "rmse needs numbers, and these labels have no order; use {alignment=accuracy}"
        problems.append(Remark("alignment", text))
    if len(panel.raters) > 1 and not rated:
        problems.append(Remark("human", "no text has ratings by two raters"))
    return problems


def _judge_row(
    panel: "Panel",
    name: str,
    n_rated: int,
    found: "stats.AltTest",
    reduced: "stats.OnReduced",
    sweep: "stats.Sweep",
    power: "stats.Power",
    checked: tuple[str, str],
) -> JudgeRow:
    from core.results.cells import interval

    ceiling = _ceiling(panel.raters, [name] * len(panel.raters), reduced.ceiling)
    return JudgeRow(
        judge=name,
        n_items=found.advantage.n_clusters,
        n_texts=found.advantage.n,
        winning_rate=Interval(found.winning_rate, reason=found.reason or ""),
        verdict=_short_verdict(found),
        passed=found.passed,
        advantage=interval(found.advantage),
        passes_from=sweep.passes_from,
        reduced_advantage=ceiling.advantage,
        gap=interval(reduced.gap),
        items_needed=power.items_needed,
        per_rater=tuple(
            RaterRow(
                judge=name,
                rater=rater,
                n=one.n,
                n_better=one.n_better,
                n_equal=one.n_equal,
                n_worse=one.n_worse,
                advantage=Interval(one.advantage, reason=one.reason or ""),
                p=Interval(one.p, reason=one.reason or ""),
                p_corrected=one.p_corrected,
                rejected=one.rejected,
                test=one.test,
                reason=one.reason,
            )
            for rater, one in zip(panel.raters, found.raters, strict=True)
        ),
        n_left_out=n_rated - found.advantage.n,
        reason=found.reason,
        epsilons=tuple(
            EpsilonRow(name, epsilon, rate)
            for epsilon, rate in zip(sweep.epsilons, sweep.winning_rates, strict=True)
        ),
        reduced=ceiling,
        power=_plan(name, power),
        check=checked[0],
        check_sentence=checked[1],
        test=found,
    )


def _plan(judge: str, power: "stats.Power") -> PowerPlan:
    from core.stats.alt_test import TARGET

    return PowerPlan(
        power.advantage,
        power.items_needed,
        power.reason,
        TARGET,
        tuple(
            PowerRow(
                judge,
                power.advantage,
                n,
                Interval(share, reason=power.reason or "" if share is None else ""),
                power.items_needed,
            )
            for n, share in zip(power.items, power.power, strict=True)
        ),
    )


def _ceiling(raters: Sequence[str], tested: Sequence[str], found: "stats.Ceiling") -> Ceiling:
    from core.results.cells import interval

    return Ceiling(
        found.winning_rate,
        interval(found.advantage),
        tuple(
            ReplacedRow(
                rater,
                who,
                one.n,
                Interval(one.winning_rate, reason=one.reason or ""),
                one.advantage,
                one.passed,
                one.reason,
            )
            # Without a ceiling there is no row.
            for rater, who, one in zip(raters, tested, found.raters, strict=False)
        ),
        found.reason,
    )


def _notes(
    panel: "Panel", alignment: str, judges: Sequence[JudgeRow], n_rated: int, n_items: int
) -> tuple[str, ...]:
    import numpy as np

    from core.results.cells import left_out_lines
    from core.stats.alt_test import FEWEST_FOR_T
    from core.tables.reading import shown

    notes = [*panel.notes]
    given = panel.ratings[~np.isnan(panel.ratings)]
    if alignment == "accuracy" and not panel.scale.words and not np.array_equal(given, np.round(given)):
        notes.append(
            "The ratings are not whole numbers, so two raters are seldom equal. Distances (alignment rmse) suit them better."
        )
    if len(panel.raters) < FEW_RATERS:
        notes.append(
            "With two raters, each is compared with the other alone: there is no consensus. The paper advises three or more."
        )
    if n_rated > n_items:
        notes.append(
            "Items have several texts. The tests treat texts as independent, so p is too small if texts of an item are alike. "
            "Intervals count whole items."
        )
    few = [
        name
        for at, name in enumerate(panel.raters)
        if any(0 < one.per_rater[at].n < FEWEST_FOR_T for one in judges)
    ]
    if few:
        notes.append(
            f"Signed-rank test instead of the t-test, because of fewer than {FEWEST_FOR_T} texts: "
            f"{_listed(few)}. Collect more ratings before you rely on it."
        )
    for one in judges:
        of_judge = f"{shown(one.judge)}: " if len(judges) > 1 else ""
        if constant := _constant(panel, one.judge):
            notes.append(f"{of_judge}every score is {constant}. Such a judge reports nothing about a text.")
        if one.n_left_out:
            notes.append(
                f"{of_judge}{one.n_left_out:,} of {n_rated:,} texts with two ratings are left out: no score"
            )
    notes += left_out_lines(panel.left_out)
    alone = int(((~np.isnan(panel.ratings)).sum(axis=1) == 1).sum())
    if alone:
        notes.append(f"left out: {alone:,} texts with one rating")
    return tuple(dict.fromkeys(notes))


def _listed(names: Sequence[str]) -> str:
    from core.tables.reading import shown

    return ", ".join(map(shown, names))


def _constant(panel: "Panel", judge: str) -> str:
    """The only score that a judge gave; empty if it gave several, or fewer than two."""
    import numpy as np

    from core.tables.reading import shown

    scores = panel.scores[:, panel.judges.index(judge)]
    known = scores[~np.isnan(scores)]
    if known.size < 2 or np.ptp(known) > 0:
        return ""
    value = float(known[0])
    return shown(panel.scale.words[value]) if value in panel.scale.words else f"{value:g}"


def _short_verdict(found: "stats.AltTest") -> str:
    if found.passed is None:
        return "no verdict"
    return "passed, too few items" if found.passed_unseen else "passed" if found.passed else "not passed"


CODES = {
    "passed": "the judge wins against at least half of the raters",
    "passed-too-few-items": "it does, but raters with fewer than 5 items of one outcome, which count without a test, decide",
    "not-passed": "it wins against fewer",
    "undefined": "there was nothing to test; the reason says why",
}


def _verdict(one: JudgeRow) -> Verdict:
    """The verdict on one judge."""
    from core.tables.reading import shown

    name, found = shown(one.judge), one.test
    if found.passed is None:
        reason = found.reason or ""
        return Verdict("undefined", f"{name}: no verdict. Reason: {reason}.", reason=reason)
    tested = [rater for rater in found.raters if rater.rejected is not None]
    wins = sum(bool(rater.rejected) for rater in tested)
    against = f"it wins against {wins} of {len(tested)} raters at epsilon {found.epsilon:g}"
    if found.passed_unseen:
        few = sum(rater.won_unseen for rater in tested)
        return Verdict(
            "passed-too-few-items",
            f"{name} passes, but too few items show it: {against}, {few} of them on fewer than 5 items that all have one "
            "outcome, which count without a test.",
        )
    if found.passed:
        return Verdict("passed", f"{name} passes the Alt-test: {against}.")
    return Verdict(
        "not-passed",
        f"{name} does not pass the Alt-test: {against}, and at least half are needed.",
    )


def _sentences(found: AltTests) -> tuple[str, ...]:
    """The human ceiling, the price that epsilon is, and the verdict of the check, which asks more."""
    from core.results.cells import decimal

    ceiling = found.ceiling
    if ceiling.winning_rate is None:
        reached = f"Human ceiling: undefined. Reason: {ceiling.reason}."
    else:
        reached = (
            f"Human ceiling: a rater in the place of the judge wins against {100 * ceiling.winning_rate:.0f} % of the others on "
            f"average, with an advantage of {decimal(ceiling.advantage.value or 0.0, 2)}."
        )
    price = (
        f"Epsilon {found.epsilon:g} is the price of a rater: a judge wins if the rater's lead over it is shown to be below "
        f"{100 * found.epsilon:g} of 100 texts."
    )
    return reached, price, *(_checked_said(one, found.n_items) for one in found.judges)


def _checked_said(one: JudgeRow, n_items: int) -> str:
    """What `check --use replace` says of the judge, and why it differs. n_items: items with two raters."""
    from core.results.check.rules import FEWEST_ITEMS
    from core.tables.reading import shown

    said = f"Check of {shown(one.judge)}, which also asks for the rules of the scale: {one.check_sentence}"
    if not one.check or one.test.passed is None or (one.check == "TRUSTED") is bool(one.test.passed):
        return said
    why = "counts only who is closer on each text"
    if n_items < FEWEST_ITEMS and one.check == "INCONCLUSIVE":
        why = f"does not ask for {FEWEST_ITEMS} items"
    elif one.n_left_out:
        why = f"leaves out the {one.n_left_out:,} texts without a score"
    return f"{said} The two differ: the Alt-test {why}."


def _judge_notes(found: AltTests) -> tuple[str, ...]:
    from core.stats.alt_test import PASS_AT, TARGET

    return (
        f"Winning rate: share of raters against whom the judge wins; passed from {PASS_AT:.0%}. Advantage: share of "
        "texts on which the judge is at least as close to the other raters as the rater who is left out, averaged over "
        "raters.",
        f"Closeness: {ALIGNMENTS[found.alignment]}. Items needed: for a probability of {TARGET:.0%} to pass.",
        f"Intervals: {found.confidence_level:.0%}, over items: of an advantage Wilson's for the effective number of "
        "items, of a difference by the jackknife.",
        *found.notes,
    )


def _rater_notes(found: AltTests) -> tuple[str, ...]:
    from core.results.cells import corrected_note

    return (
        f"p: one-sided test that the rater's lead is at least epsilon ({found.epsilon:g}). The judge "
        f"wins at a corrected p of {found.alpha:g} or below.",
        *corrected_note("benjamini-yekutieli", len(found.raters), "the raters, for each judge"),
    )


def _ceiling_notes(found: AltTests) -> tuple[str, ...]:
    reason = found.ceiling.reason
    return (
        "Each rater in turn leaves the panel and is tested as the judge against the others. Judges are tested on the same "
        "panel and the same texts.",
        *([f"Undefined: {reason}."] if reason else []),
    )


def _power_notes(found: AltTests) -> tuple[str, ...]:
    from core.stats.alt_test import TARGET

    weighted = (
        "as they are" if found.supposed is None else f"weighted so that the advantage is {found.supposed:g}"
    )
    return (
        f"Items drawn from the observed ones, {weighted}. A plan, not evidence: few items are an uncertain mix.",
        f"Items needed: for a probability of {TARGET:.0%}.",
    )


def _replaced(found: AltTests) -> tuple[ReplacedRow, ...]:
    """Rater by rater: who leaves in the place of the judge, then each judge."""
    panels = (found.ceiling, *(one.reduced for one in found.judges))
    return tuple(
        one for at in range(len(found.raters)) for panel in panels for one in panel.per_rater[at : at + 1]
    )


def _figures(found: AltTests) -> tuple[AnyFigure, ...]:
    from core.stats.alt_test import MOST_EPSILON, PASS_AT

    by_epsilon = Lines(
        table="alt-test-epsilons",
        alt="Winning rate of each judge by epsilon, with the pass mark at one half",
        instead=True,
        x="epsilon",
        y="winning_rate",
        by="judge",
        x_axis=Axis("epsilon, the price of a rater", -0.01, MOST_EPSILON + 0.01),
        y_axis=Axis("winning rate", -0.04, 1.04, percent=True),
        steps=True,
        across=PASS_AT,
        down=found.epsilon,
        marked={one.judge: one.passes_from for one in found.judges if one.passes_from is not None},
        mark="passes from epsilon",
    )
    closer = Shares(
        table="alt-test-raters",
        alt="Share of texts on which the judge, neither, or the rater is closer to the other raters",
        parts=("n_better", "n_equal", "n_worse"),
        names=("judge", "rater"),
        joint="against",
        of="texts",
    )
    few = len(found.judges) * len(found.raters) <= _MOST_ROWS
    return (by_epsilon, closer) if few else (by_epsilon,)


ANALYSIS = Analysis(
    name="alt-test",
    title="Alt-test",
    question="May a judge stand in for a rater? Each rater in turn is compared with the judge: who is closer to the other raters?",
    Options=AltTestOptions,
    Result=AltTests,
    takes=("panel",),
    compute=compute,
    verdicts=lambda found: tuple(map(_verdict, found.judges)),
    sentences=_sentences,
    codes=CODES,
    refuses="With fewer than two raters, and without a judge.",
    figures=_figures,
    section="inference#alt-test",
    misleads="If raters disagree for no reason, any judge near the middle passes. Read the human ceiling beside the verdict.",
    example="""
>>> import assay, pandas as pd
>>> frame = pd.DataFrame({"item": range(40), "a": [0, 1] * 20, "b": [0, 1] * 20, "c": [0, 1, 1, 1] * 10, "x": [0, 1] * 20})
>>> found = assay.alt_test(frame, human=["a", "b", "c"], judge="x")
>>> found.frame[["judge", "winning_rate", "advantage"]].values.tolist()
[['x', 1.0, 1.0]]
""",
    tables=(
        Table(
            "alt-test",
            JudgeRow,
            lambda found: found.judges,
            "Alt-test",
            notes=_judge_notes,
        ),
        Table(
            "alt-test-raters",
            RaterRow,
            lambda found: [row for one in found.judges for row in one.per_rater],
            "Against each rater",
            "On how many texts is the judge closer to the other raters than this rater?",
            _rater_notes,
            # One test needs no correction.
            hidden=lambda found: ("p_by",) if len(found.raters) < 2 else (),
            most_printed=_MOST_ROWS,
        ),
        Table(
            "alt-test-ceiling",
            ReplacedRow,
            _replaced,
            "Human ceiling",
            "What does a rater reach in the place of the judge? Each rater in turn leaves the panel and is tested like a judge.",
            _ceiling_notes,
            most_printed=0,
        ),
        Table(
            "alt-test-power",
            PowerRow,
            lambda found: [row for one in found.judges for row in one.power.items],
            "Probability to pass",
            "How many items would it take?",
            _power_notes,
        ),
        Table(
            "alt-test-epsilons",
            EpsilonRow,
            lambda found: [row for one in found.judges for row in one.epsilons],
            "Winning rate by epsilon",
            "From which price of a rater does a judge pass? The vertical line is the chosen one.",
            lambda found: ("Choose epsilon from the cost of raters before you look, not from this table.",),
            most_printed=0,
        ),
    ),
)
