"""A judge that compares pairs: does the order decide, which system wins, and does it vote as blind raters do?"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from core.analyses.alt_test import EPSILONS
from core.analyses.consistency import ANALYSIS as CONSISTENCY
from core.analyses.consistency import Consistency, RepeatRow, rows_of
from core.schema.analysis import (
    Analysis,
    Caution,
    Table,
    Tell,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.gaps import TITLE, GapRow, Gaps
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Remark, Settings, setting

if TYPE_CHECKING:
    from core.results.judges.pairwise import BesideVotes, PairsBlock, PairsReport, VotesBlock
    from core.schema.scores import JudgeOutput
    from core.schema.study import StudyRecord
    from core.stats.resampling import AgreementEstimate, Estimate
    from core.stats.votes import FirstPlace

FEWEST_ITEMS = 6
"""Items with a decision below which no p of a position is below .05, whatever the judge does: 2 / 2^5 = .0625."""
_REPEATS = CONSISTENCY.tables[0]
NO_STUDY = "no study was named, whose votes it needs"


class PairsOptions(Settings):
    """What is shown beside votes, and options of the intervals."""

    epsilon: float = setting(
        EPSILONS["experts"],
        "Epsilon, the price of a rater",
        "beside votes: the price of a rater in the Alt-test",
        at_least=0,
        below=1,
        step=0.05,
    )
    most: int | None = setting(
        10,
        "Pairs that differ most",
        "beside votes: pairs on which judge and people differ most",
        at_least=1,
        option="gaps",
        parameter="most",
        metavar="N",
    )
    texts: bool = setting(
        False,
        "Show texts",
        "beside votes: also the texts of these pairs and the judge's reasons, which may be confidential",
    )
    n_resamples: int = resamples_setting(10_000)
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()


@row
class PlaceRow:
    """Which place the judge prefers."""

    first: int = entry("verdicts for the answer that was read first")
    second: int = entry("verdicts for the answer that was read second")
    share_first: Interval = entry(
        "share of the first among verdicts for an answer; each pair counts once", ends="counted"
    )
    n_first: int = entry("pairs with more verdicts for the first place than for the second")
    n_second: int = entry("pairs with more verdicts for the second place")
    p: float | None = entry(
        "two-sided p over items: of the pairs that lean to a place, one half leans to the first"
    )
    reason: str | None = entry("why p is undefined")


@row
class OrdersRow:
    """What the order does, over all pairs or those of one level."""

    of_level: str = column("the level, or all pairs", name="level", key="", names_row=True)
    level: str = entry("the level; empty: all pairs")
    n_pairs: int = column("pairs with a verdict in every order that was asked", name="pairs")
    n_items: int = column("their items", name="items", shown=False)
    same: Interval = column(
        "share with the same verdict in both orders, kinds of ties told apart; repeats averaged",
        title="same in both orders",
        percent=True,
        ends="counted",
    )
    flips: Interval = column(
        "share whose verdict follows the place: the first answer in both orders, or the second",
        title="follows the place",
        percent=True,
        ends="counted",
    )
    flips_first: float | None = entry("the part of `flips` that follows the first place")
    n_flips: tuple[int, int] = entry(
        "pairs that follow the first place in a repeat, and those that follow the second"
    )
    n_flips_first: int | None = column(
        "pairs that follow the first place in a repeat", title="first twice", key=""
    )
    n_flips_second: int | None = column(
        "pairs that follow the second place in a repeat", title="second twice", key=""
    )
    first: int = column("verdicts for the answer that was read first", title="for the first", key="")
    second: int = column("verdicts for the answer that was read second", title="for the second", key="")
    share_first: Interval = column(
        "share of the first among verdicts for an answer; each pair counts once", title="share first", key=""
    )
    p: Interval = column(
        "p of the test that pairs which lean to a place lean to either equally often, over items",
        p_value=True,
        key="",
    )
    p_holm: float | None = column("p corrected for the levels", title="Holm p", p_value=True, key="")
    position: PlaceRow = entry("which place the judge prefers", rows=PlaceRow)
    answers: Mapping[str, int] = entry(
        "answer, both orders together -> pairs: decided, both_good, both_bad, tie, contradicted"
    )
    verdicts: Mapping[str, int] = entry(
        "single verdicts: first, second, both_good, both_bad, tie -> their number; none: those that failed"
    )


@row
class TiesRow:
    """The answers, over all pairs or those of one level."""

    level: str = column("the level, or all pairs", names_row=True)
    pairs: int = column("pairs with a verdict in every order that was asked")
    decided: int = column("pairs of which one text is preferred, both orders together", title="one preferred")
    both_good: int = column("pairs of two good texts", title="both good")
    both_bad: int = column("pairs of two bad texts", title="both bad")
    tie: int = column("pairs with a tie without a kind")
    contradicted: int = column(
        "pairs whose preferences, or kinds of ties, cancel out", title="orders contradict"
    )
    verdicts_first: int = column("single verdicts for the answer read first", title="verdicts: first")
    verdicts_second: int = column("single verdicts for the answer read second", title="verdicts: second")
    verdicts_both_good: int = column("single verdicts that both are good", title="verdicts: both good")
    verdicts_both_bad: int = column("single verdicts that both are bad", title="verdicts: both bad")
    verdicts_tie: int = column("single ties without a kind", title="verdicts: tie")
    verdicts_none: int = column("requests without a verdict", title="verdicts: no verdict")


@row
class SystemRow:
    """How often one side of the pairs wins."""

    of_level: str = column("the level, or all pairs", name="level", key="", names_row=True)
    system: str = column("the system; the level or label where these are compared", names_row=True)
    level: str = entry("the level; empty: all pairs")
    win_rate: Interval = column(
        "mean over pairs of 1 (preferred), 1/2 (tie) and 0", title="win rate", ends="counted"
    )
    wins: int = column("pairs in which it is preferred")
    ties: int = column("pairs without a preference, also those whose orders contradict")
    losses: int = column("pairs in which the other is preferred")


@row
class TestedRow:
    """The Alt-test of the judge, over all pairs or those of one level."""

    level: str = column("the level, or all pairs", names_row=True, key="")
    answers: str = column("four or three answers", names_row=True, key="")
    pairs: int = column("pairs with votes and a verdict", key="")
    items: int = column("their questions", title="questions", shown=False, key="")
    epsilon: float | None = entry("the price of a rater")
    passed: bool | None = entry("whether the judge passes; null without a verdict")
    advantage: Interval = column(
        "share of pairs on which the judge is at least as close to the other raters as the rater who is left out", ends="counted"
    )  # fmt: skip
    ceiling: Interval = column(
        "the same of a rater in the place of the judge", title="human ceiling", ends="object"
    )
    winning_rate: Interval = column(
        "share of raters against whom the judge wins", title="winning rate", percent=True
    )
    ceiling_rate: Interval = column(
        "the same of a rater in the place of the judge",
        title="ceiling's rate",
        percent=True,
        key="ceiling_winning_rate",
    )
    ceiling_reason: str | None = entry("why there is no human ceiling")
    verdict: str = column("passed, not passed, passed with too few items, or no verdict", key="")


@row
class BesideRow:
    """The judge with raters, beside raters among themselves, over all pairs or those of one level.

    JSON has both intervals of each number, a table the one to show first.
    """

    of_level: str = column("the level, or all pairs", name="level", key="", names_row=True)
    level: str = entry("the level; empty: all pairs")
    answers: str = column(
        "four: as raters give them; three: a tie of either kind is one answer", names_row=True
    )
    n_pairs: int = column("pairs with votes and a verdict", name="pairs")
    n_questions: int = column("their questions", name="items", title="questions", shown=False)
    agreement: Interval = column(
        "how often the judge gives a rater's answer; JSON also has the jackknife interval (low_t, high_t, interval_t_reason) and n_clusters, "
        "as of all numbers of these blocks",
        title="judge and rater",
        ends="counted",
    )
    agreement_raters: Interval = column(
        "how often two raters give the same answer", title="two raters", ends="counted"
    )
    gap: Interval = column(
        "agreement of the judge minus that of two raters", title="difference", ends="counted"
    )
    kappa: Interval = column(
        "Cohen's kappa of the judge with each rater, averaged", title="kappa, judge", ends="counted"
    )
    kappa_raters: Interval = column("the same of every two raters", title="kappa, raters", ends="counted")
    ac1: Interval = column(
        "Gwet's AC1 of the judge with each rater, averaged", title="AC1, judge", ends="counted"
    )
    ac1_raters: Interval = column("Gwet's AC1 of all raters", title="AC1, raters", ends="counted")
    alt_test: TestedRow | None = entry("the Alt-test; null where there is none", rows=TestedRow)
    reason: str = entry("why there is no Alt-test")
    tested: TestedRow
    """The row of the Alt-test, also where there is none."""


@row
class Votes:
    """The judge beside the votes of a study."""

    study: str = entry("the study")
    raters: tuple[str, ...] = entry("names of the raters")
    blocks: tuple[BesideRow, ...] = entry("all pairs, then each level; four answers first", rows=BesideRow)
    raters_position: Mapping[str, Any] = entry(
        "the side that all raters together chose: n, left, right, share_left, low, high, p, reason"
    )
    left_out: Mapping[str, int] = entry("reason -> pairs without a verdict or without the votes they need")
    notes: tuple[str, ...] = entry("what raters saw and the judge did not")
    epsilon: float
    """The price of a rater."""
    gaps: Gaps
    """The pairs on which judge and people differ most."""


@row
class Pairs:
    """Everything about one judge of pairs."""

    judge: str = entry("the judge")
    both_orders: bool = entry("whether each pair was read in both orders")
    n_repeats: int = entry("the most repeats of a pair in one order")
    confidence_level: float = entry("of the intervals")
    orders: tuple[OrdersRow, ...] = entry("all pairs, then each level if there are several", rows=OrdersRow)
    systems: tuple[SystemRow, ...] = entry("win rates over all pairs, then by level", rows=SystemRow)
    systems_reason: str = entry("why there is nothing by system")
    repeats: tuple[RepeatRow, ...] = entry(
        "agreement of the judge with itself; empty without repeats", rows=RepeatRow
    )
    left_out: Mapping[str, int] = entry("reason -> pairs, and texts that were compared with no other")
    notes: tuple[str, ...] = entry("whether repeats at temperature 0 show anything")
    votes: Votes | None = entry("the judge beside the votes; null without a study", rows=Votes)
    said: tuple[str, ...] = entry("the findings in sentences, the most important first")
    itself: Consistency | None
    """The judge compared with itself; None without repeats."""
    report: "PairsReport"
    """What was computed, for figures and for the pairs behind the numbers."""


def compute(
    options: PairsOptions, output: "JudgeOutput", record: "StudyRecord | None", *, tell: Tell
) -> Pairs:
    """Report on a judge of pairs; with a study also on its agreement with the votes.

    Raises InputError for another kind of judge and if no text of the study was judged, SettingsError for texts without a
    study, NotAllowed before it is unblinded.
    """
    from core.results.judges.pairwise import pairs_report

    if record is None and options.texts:
        ANALYSIS.refuse([Remark("texts", "only with {study}")])
    tell("comparing the verdicts")
    found = pairs_report(
        output, record, **options.model_dump(include={"epsilon", "n_resamples", "confidence_level", "rng"})
    )
    return pairs_of(found, options)


def pairs_of(report: "PairsReport", options: PairsOptions) -> Pairs:
    """The report as every door shows it."""
    from core.stats.multiplicity import corrected

    p_levels = corrected([one.position.p for one in report.blocks[1:]])
    p_holm = [report.blocks[0].position.p, *p_levels]
    itself = rows_of(report.itself) if report.itself.n_repeats > 1 else None
    return Pairs(
        judge=report.judge,
        both_orders=report.both_orders,
        n_repeats=report.itself.n_repeats,
        confidence_level=report.confidence_level,
        orders=tuple(_orders_row(one, p) for one, p in zip(report.blocks, p_holm, strict=True)),
        systems=tuple(
            SystemRow(
                _level(one.level),
                one.system,
                one.level,
                _cell(one.win_rate),
                one.wins,
                one.ties,
                one.losses,
            )
            for one in report.systems
        ),
        systems_reason=report.systems_reason,
        repeats=() if itself is None else itself.repeats,
        left_out=dict(report.left_out),
        notes=report.itself.notes,
        votes=None if report.votes is None else _votes(report.votes, options),
        said=tuple(_said(report)),
        itself=itself,
        report=report,
    )


def _level(level: str) -> str:
    from core.results.judges.pairwise import ALL

    return level or ALL


def _cell(estimate: "Estimate") -> Interval:
    """An estimate whose object in JSON has its own reason for no interval."""
    from dataclasses import replace

    from core.results.cells import interval

    return replace(interval(estimate), how=(("interval_reason", estimate.interval_reason),))


def _orders_row(one: "PairsBlock", p_holm: float | None) -> OrdersRow:
    to_first, to_second = one.n_flips if one.flips.estimate is not None else (None, None)
    place = one.position
    return OrdersRow(
        of_level=_level(one.level),
        level=one.level,
        n_pairs=one.n_pairs,
        n_items=one.n_items,
        same=_cell(one.same),
        flips=_cell(one.flips),
        flips_first=one.flips_first,
        n_flips=one.n_flips,
        n_flips_first=to_first,
        n_flips_second=to_second,
        first=place.first,
        second=place.second,
        share_first=_cell(place.share_first),
        p=Interval(place.p, reason=place.reason or ""),
        p_holm=p_holm,
        position=PlaceRow(
            place.first,
            place.second,
            _cell(place.share_first),
            place.n_first,
            place.n_second,
            place.p,
            place.reason,
        ),
        answers=one.answers,
        verdicts=one.verdicts,
    )


def _votes(votes: "BesideVotes", options: PairsOptions) -> Votes:
    from core.results.cells import plain
    from core.results.check.gaps import find_gaps, gap_list

    panel = votes.panel
    texts = votes.texts if options.texts else ()
    return Votes(
        study=votes.study,
        raters=votes.raters,
        blocks=tuple(map(_votes_row, votes.blocks)),
        raters_position=plain(votes.raters_position),
        left_out=dict(votes.left_out),
        notes=votes.notes,
        epsilon=options.epsilon,
        gaps=gap_list(panel, find_gaps(panel), texts, most=options.most),
    )


def _votes_row(one: "VotesBlock") -> BesideRow:
    tested = _tested_row(one)

    def cell(found: "AgreementEstimate") -> Interval:
        return _both_intervals(found, one.n_pairs)

    return BesideRow(
        of_level=_level(one.level),
        level=one.level,
        answers=one.answers,
        n_pairs=one.n_pairs,
        n_questions=one.n_items,
        agreement=cell(one.agreement.judge),
        agreement_raters=cell(one.agreement.raters),
        gap=cell(one.agreement.gap),
        kappa=cell(one.kappa),
        kappa_raters=cell(one.kappa_raters),
        ac1=cell(one.ac1),
        ac1_raters=cell(one.ac1_raters),
        alt_test=None if one.alt_test is None else tested,
        reason=one.reason,
        tested=tested,
    )


def _both_intervals(estimate: "AgreementEstimate", n_pairs: int) -> Interval:
    """A table shows the interval that fits the number of questions; JSON has both."""
    from dataclasses import replace

    from core.results.study.tables import agreement_cell

    names = ("low", "high", "interval_reason", "low_t", "high_t", "interval_t_reason", "n_clusters")
    return replace(
        agreement_cell(estimate, n_pairs), how=tuple((name, getattr(estimate, name)) for name in names)
    )


def _tested_row(one: "VotesBlock") -> TestedRow:
    tested, ceiling = one.alt_test, one.ceiling
    of_block = (_level(one.level), one.answers, one.n_pairs, one.n_items)
    if tested is None or ceiling is None:
        nothing = Interval(None, reason=one.reason)
        return TestedRow(*of_block, None, None, nothing, nothing, nothing, nothing, None, "no verdict")
    passed = {None: "no verdict", True: "passed", False: "not passed"}[tested.passed]
    return TestedRow(
        *of_block,
        epsilon=tested.epsilon,
        passed=tested.passed,
        advantage=_cell(tested.advantage),
        ceiling=_cell(ceiling.advantage),
        winning_rate=Interval(tested.winning_rate, reason=tested.reason or ""),
        ceiling_rate=Interval(ceiling.winning_rate, reason=ceiling.reason or ""),
        ceiling_reason=ceiling.reason,
        verdict="passed, too few items" if tested.passed_unseen else passed,
    )


def _said(report: "PairsReport") -> list[str]:
    """The findings in sentences, the most important first."""
    from core.tables.reading import shown

    whole = report.blocks[0]
    if not whole.n_pairs:
        return [f"{shown(report.judge)}: no pair has a verdict yet."]
    said = _constant_said(report)
    if report.votes is not None:
        said += _votes_said(report, report.votes)
    if report.both_orders:
        n_first, n_second = whole.n_flips
        said.append(
            f"{shown(report.judge)} gives the same verdict in both orders on {_percent(whole.same.estimate)} of "
            f"{whole.n_pairs:,} pairs. On {_percent(whole.flips.estimate)} the verdict follows the place "
            f"({n_first:,} first, {n_second:,} second)."
        )
    else:
        said.append(
            f"{shown(report.judge)} read each of {whole.n_pairs:,} pairs in one order, so nothing shows how far the order decides."
        )
    said.append(_position_said(whole.position))
    if report.systems_reason:
        said.append(f"Nothing by system: {report.systems_reason}")
    return said


_ANSWER_WORDS = {"both_good": "both good", "both_bad": "both bad", "tie": "a tie"}


def _constant_said(report: "PairsReport") -> list[str]:
    """A warning if all or nearly all pairs have one answer that prefers none of the two."""
    from core.stats.degeneracy import CONSTANT_SHARE
    from core.tables.reading import shown

    whole = report.blocks[0]
    for name, n in whole.answers.items():
        if name != "decided" and n > 1 and n >= CONSTANT_SHARE * whole.n_pairs:
            what = (
                f"the answer is {_ANSWER_WORDS[name]}"
                if name in _ANSWER_WORDS
                else "the two orders contradict each other"
            )
            return [
                Caution(
                    f"{shown(report.judge)} is constant: on {n:,} of {whole.n_pairs:,} pairs {what}. Such a judge reports nothing about "
                    "a pair: it agrees with raters as often as they give that answer, and may pass the Alt-test so."
                )
            ]
    return []


def _percent(share: float | None) -> str:
    return "an unknown share" if share is None else f"{100 * share:.0f} %"


def _position_said(found: "FirstPlace") -> str:
    from core.results.cells import p_said

    if found.share_first.estimate is None:
        return "The judge decided for no answer, so it prefers no place."
    share = f"It prefers the answer that it reads first in {_percent(found.share_first.estimate)} of its decisions"
    if found.p is None:
        return f"{share}: {found.reason}."
    if found.p < 0.05:
        return f"Position bias. {share} ({p_said(found.p)})."
    if found.share_first.n_clusters < FEWEST_ITEMS:
        return f"Too few items to tell of a position bias. {share} ({p_said(found.p)})."
    return f"No sign of position bias. {share} ({p_said(found.p)})."


def _votes_said(report: "PairsReport", votes: "BesideVotes") -> list[str]:
    from core.results.cells import p_said
    from core.tables.reading import shown

    said = []
    for one in votes.blocks:
        if one.level:
            continue
        agreement, raters = one.agreement.judge, one.agreement.raters
        what = "a rater's answer" if one.answers == "four" else "a rater's answer, ties of both kinds as one,"
        if agreement.estimate is None:
            said.append(f"Agreement with raters is undefined: {agreement.reason}.")
            continue
        beside = (
            f"; another rater in {_percent(raters.estimate)}"
            if raters.estimate is not None
            else f"; agreement of raters is undefined: {raters.reason}"
        )
        said.append(
            f"{shown(report.judge)} gives {what} in {_percent(agreement.estimate)} of {one.n_pairs:,} pairs{beside}."
        )
    n_no_kind = report.blocks[0].answers["contradicted"]
    if n_no_kind:
        said.append(
            f"On {n_no_kind:,} of {report.blocks[0].n_pairs:,} pairs the judge contradicts itself, which counts as a tie. With three "
            "answers such a tie agrees with every rater who saw a tie, with four it agrees with nobody."
        )
    place = votes.raters_position
    if place.share_left is not None:
        said.append(
            f"Raters chose the left answer in {_percent(place.share_left)} of their decisions ({p_said(place.p or 0.0)})."
        )
    return said


def _n_tests(found: Pairs) -> int:
    return sum(one.p_holm is not None for one in found.orders[1:])


def _orders_hidden(found: Pairs) -> tuple[str, ...]:
    return (
        *(("level",) if len(found.orders) < 2 else ()),
        *(("p_holm",) if _n_tests(found) < 2 else ()),
    )


def _orders_notes(found: Pairs) -> tuple[str, ...]:
    from core.results.cells import corrected_note, left_out_notes

    return (
        "Follows the place: the first answer in both orders, or the second. Share first: of verdicts for an answer, those for "
        "the answer read first; each pair counts once.",
        "p: test that pairs which lean to a place lean to either equally often, over items. A pair with the same verdict in both "
        "orders leans to none.",
        f"Intervals: {found.confidence_level:.0%}, over items.",
        *corrected_note("holm", _n_tests(found), "the levels; all pairs together are one test"),
        *left_out_notes([("", found.left_out)], ""),
        *(found.notes if found.itself is None else ()),
    )


_ANSWERS = ("decided", "both_good", "both_bad", "tie", "contradicted")
_VERDICTS = ("first", "second", "both_good", "both_bad", "tie", "none")


def _ties(found: Pairs) -> tuple[TiesRow, ...]:
    return tuple(
        TiesRow(
            one.of_level,
            one.n_pairs,
            *(one.answers[name] for name in _ANSWERS),
            *(one.verdicts[name] for name in _VERDICTS),
        )
        for one in found.orders
    )


def _ties_hidden(found: Pairs) -> tuple[str, ...]:
    whole = found.orders[0]
    return (
        *(("level",) if len(found.orders) < 2 else ()),
        *(name for name in _ANSWERS if not whole.answers[name]),
        *(f"verdicts_{name}" for name in _VERDICTS[2:] if not whole.verdicts[name]),
    )


def _systems_notes(found: Pairs) -> tuple[str, ...]:
    from core.results.cells import each_for_itself

    return (
        "Win rate: mean over pairs of 1 (preferred), 0.5 (tie) and 0. It says what this judge prefers, not which system is "
        "better.",
        f"Intervals: {found.confidence_level:.0%}, over items.",
        *each_for_itself(len(found.systems)),
    )


def _votes_hidden(votes: Votes) -> tuple[str, ...]:
    return (
        *(() if any(one.level for one in votes.blocks) else ("level",)),
        *(() if len({one.answers for one in votes.blocks}) > 1 else ("answers",)),
    )


def _votes_notes(found: Pairs, votes: Votes) -> tuple[str, ...]:
    from core.results.cells import left_out_notes
    from core.tables.reading import shown

    contradicted = (
        (
            "A tie whose orders contradict each other equals no answer of a rater, and is a fifth answer for AC1.",
        )
        if any(one.answers == "four" for one in votes.blocks) and found.orders[0].answers["contradicted"]
        else ()
    )
    return (
        f"Votes of study {shown(votes.study)}: {', '.join(map(shown, votes.raters))}. Of the judge: mean over raters. Of "
        "raters: as in the study's results.",
        *votes.notes,
        "Four answers: candidate, both good, both bad, comparator. Three: a tie of either kind is one answer.",
        *contradicted,
        f"Intervals: {found.confidence_level:.0%}, over questions; below 50 questions jackknife-t, else percentile bootstrap.",
        *left_out_notes([("", votes.left_out)], "pairs"),
    )


def _tested_notes(found: Pairs, votes: Votes) -> tuple[str, ...]:
    from core.stats.alt_test import PASS_AT

    return (
        *votes.notes,
        f"May the judge replace a rater? Winning rate: share of raters against whom it wins at epsilon {votes.epsilon:g}; passed "
        f"from {PASS_AT:.0%}. Advantage: share of pairs on which it is at least as close to the other raters.",
        *(
            ("With two raters, each is compared with the other alone: there is no consensus.",)
            if len(votes.raters) == 2
            else ()
        ),
        f"Intervals: {found.confidence_level:.0%}, over questions.",
    )


def _if_votes(says: Callable[[Pairs, Votes], Any], nothing: Any = ()) -> Callable[[Pairs], Any]:
    """What is said of a result with votes; `nothing` of one without."""
    return lambda found: nothing if found.votes is None else says(found, found.votes)


def _no_study(found: Pairs) -> str:
    return NO_STUDY if found.votes is None else ""


ANALYSIS = Analysis(
    name="pairs",
    title="Pairs",
    question="Does the order decide what a judge of pairs says, which system does it prefer, and does it vote as raters do?",
    Options=PairsOptions,
    Result=Pairs,
    takes=("judge", "voted"),
    compute=compute,
    verdicts=lambda _: (),
    sentences=lambda found: found.said,
    refuses="For another kind of judge than `judge pairwise`, and if it judged no pair of the study.",
    section="pairs#beside-blind-votes",
    misleads="In one drawn order nothing shows how far the order decides. Verdicts that contradict each other in the two orders count "
    "as ties, which agree with raters' ties by chance: read the four answers beside the three. Equal verdicts in both orders do not show "
    "that a judge is right: one that always answers both good has them.",
    example="""
>>> import assay
>>> found = assay.pairs("run:1", "demo", db=demo_database)
>>> found.names[0], len(found["pairs-agreement"].frame)
('pairs', 10)
""",
    tables=(
        Table(
            "pairs",
            OrdersRow,
            lambda found: found.orders,
            "Both orders",
            "Does the judge keep its verdict when the two answers change places?",
            notes=_orders_notes,
            hidden=_orders_hidden,
        ),
        Table(
            "pairs-ties",
            TiesRow,
            _ties,
            "Ties",
            "Which answers does it give?",
            notes=lambda _: (
                "Counts of pairs, both orders together, then of single verdicts. Orders contradict: preferences cancel out, or the two "
                "kinds of ties do. Such a pair counts as a tie of neither kind.",
            ),
            hidden=_ties_hidden,
        ),
        Table(
            "pairs-systems",
            SystemRow,
            lambda found: found.systems or None,
            "Win rates",
            "Which system does this judge prefer?",
            notes=_systems_notes,
            hidden=lambda found: () if len({one.level for one in found.systems}) > 1 else ("level",),
            lacking=lambda found: found.systems_reason,
        ),
        _REPEATS.within(lambda found: found.itself),
        Table(
            "pairs-agreement",
            BesideRow,
            _if_votes(lambda _, votes: votes.blocks, None),
            "Beside raters",
            "How often does the judge give a rater's answer, and how often does another rater?",
            notes=_if_votes(_votes_notes),
            hidden=_if_votes(lambda _, votes: _votes_hidden(votes)),
            lacking=_no_study,
        ),
        Table(
            "pairs-alt-test",
            TestedRow,
            _if_votes(lambda _, votes: [one.tested for one in votes.blocks], None),
            "Alt-test",
            "May it replace a rater?",
            section="inference#alt-test",
            notes=_if_votes(_tested_notes),
            hidden=_if_votes(lambda _, votes: _votes_hidden(votes)),
            lacking=_no_study,
        ),
        Table(
            "gaps",
            GapRow,
            _if_votes(lambda _, votes: votes.gaps.gaps, None),
            TITLE,
            "The largest gaps come first. Read some of them: is the judge wrong, or a person?",
            notes=_if_votes(lambda _, votes: votes.gaps.notes),
            hidden=_if_votes(lambda _, votes: votes.gaps.hidden),
            shaped=_if_votes(lambda _, votes: votes.gaps.shaped, {}),
            lacking=_no_study,
        ),
    ),
)
