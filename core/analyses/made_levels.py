"""Are made levels what they claim to be? Which items to remake, and whether length gives levels or systems away."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.schema.analysis import (
    Analysis,
    Caution,
    Table,
    Tell,
    Verdict,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Settings, setting

if TYPE_CHECKING:
    from core.results.judges.made_levels import LengthRule, LevelSet, ScoredLevels
    from core.results.judges.made_levels import MadeLevels as Found

_MOST_NAMED = 6
ALPHA = 0.05
NOISY, USELESS = 0.05, 0.1
"""Shares of wrong verdicts on claims from which a note warns; see docs/simulations/made-levels.md."""
STAND_IN = (
    "Rules verified the claims: a fact that changes with few words looks kept to them, and a paraphrase looks wrong. Have a "
    "model or an entailment model verify them before you remake levels for the core fact."
)


class MadeOptions(Settings):
    """What counts as a fault. The shares are of the whole: 0.05 is 5 %."""

    tolerance: float = setting(
        0.05,
        "Tolerated rise",
        "largest rise of the score to a worse level, as a share of the range of all scores; a noisy judge needs more",
        at_least=0,
        below=1,
        metavar="X",
        step=0.01,
    )
    longer: float = setting(
        0.25,
        "Tolerated length",
        "how much longer than the median of its item's levels a text may be, or shorter: 0.25 is 25 %",
        above=0,
        metavar="X",
        step=0.05,
    )
    alike: float = setting(
        1.0,
        "Same text",
        "share of words in the same order from which two levels count as the same text",
        above=0,
        at_most=1,
        metavar="X",
        step=0.05,
        folded=True,
    )
    n_resamples: int = resamples_setting(2_000)
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()


@row
class FaultRow:
    """One reason to remake a level."""

    item: str = column("the item", key="", names_row=True)
    system: str = column("the system", key="", names_row=True)
    level: str = column("the level", names_row=True)
    claim: str = column("what the level claims, which fails", key="")
    why: str = column("why, in words")
    score: float | None = column("its score", key="")
    check: str = column("scores, core, contradiction, equal or length", shown=False)


@row
class LevelRow:
    """One level over all items."""

    level: str = column("the level", names_row=True)
    score: Interval = column("mean score", ends="object")
    words: Interval = column("mean number of words", places=1, ends="object")
    claims_left: Interval = column(
        "share of the reference's claims supported at the best level that this level still supports",
        title="claims left",
        percent=True,
        places=0,
        ends="object",
    )
    remake: int = column("texts to remake", title="to remake")


@row
class LengthRow:
    """The length of two systems' texts at one level of one item."""

    first: str = column("the first system", names_row=True)
    second: str = column("the second", names_row=True)
    n_pairs: int = column("pairs of texts", name="pairs")
    first_is: str | Interval = column(
        "whether the first is mostly longer or shorter", title="the first is mostly", key=""
    )
    first_is_longer: bool | None = entry("whether the first is mostly longer")
    n_right: int = column("pairs in which it is", name="so_in", title="in pairs")
    n_equal: int = column("pairs of equal length", name="equal")
    p: float | None = column("two-sided p of no difference in length", places=4, p_value=True)
    p_holm: float | None = column("p corrected for every two systems", title="Holm p", places=4, p_value=True)
    reason: str | None = entry("why it is undefined")


@row
class ItemRow:
    """The levels of one item of one system."""

    item: str = column("the item", names_row=True)
    system: str = column("the system", names_row=True)
    labels: Mapping[str, str] = entry("its labels")
    outcome: str = column("as claimed, remake or undecided")
    n_faults: int = column("number of faults", name="faults", key="")
    to_remake: str = column("levels with a fault", name="levels", title="levels to remake", key="")
    levels: tuple[str, ...] = entry("its levels, the best first")
    scores: tuple[float | None, ...] = entry("the score of each level")
    words: tuple[int | None, ...] = entry("the words of each level")
    core_claim: str | None = entry("the claim of the reference that stands for the core fact")
    core_claim_said: str = column(
        "the claim of the reference that stands for the core fact",
        name="core_claim",
        title="claim with the core fact",
        key="",
    )
    not_checked_said: str = column(
        "what could not be checked, and why", name="not_checked", title="not checked", key=""
    )
    faults: tuple[FaultRow, ...] = entry("its faults", rows=FaultRow)
    not_checked: Mapping[str, str] = entry("check -> why it could not be made")


@row
class Limits:
    """What counts as a fault."""

    tolerance: float = entry("tolerated rise, as a share of the range of all scores")
    alike: float = entry("share of equal words from which two texts are the same")
    longer: float = entry("tolerated length beyond the median")
    rise: float = entry("tolerated rise on the scale of the scores")


@row
class Returns:
    """Claims of the reference that fall at a level and stand again at a worse one: signs of wrong verdicts."""

    count: int = entry("returns between two neighbouring levels")
    n: int = entry(
        "pairs of neighbouring levels with verdicts on a claim, less one for each claim that fell for good"
    )
    noise: float | None = entry("estimated share of wrong verdicts")


@row
class MadeLevels:
    """Whether the levels of every item are what they claim."""

    judge: str = entry("the scores' column")
    verdict: str = entry("the verdict in a sentence")
    counts: Mapping[str, int] = entry("as claimed, remake and undecided -> items of a system")
    options: Limits = entry("what counts as a fault", rows=Limits)
    stored_steps: bool = entry("whether the run's steps say which fact is the core and where it changes")
    returns: Returns | None = entry(
        "how often claims return; null without claims and for levels that do not build on each other",
        rows=Returns,
    )
    remake_items: tuple[str, ...] = entry("the items to remake, in the order of the file")
    monotonic: Interval = entry(
        "share of items whose scores never rise, without tolerance, with n, the items", ends="object"
    )
    length_by_level: Interval = entry(
        "Kendall's tau-b of words and level within items, averaged, with n_items: above 0, worse levels are longer",
        ends="object",
    )
    length_by_system: tuple[LengthRow, ...] = entry("every two systems", rows=LengthRow)
    levels: tuple[LevelRow, ...] = entry("each level", rows=LevelRow)
    items: tuple[ItemRow, ...] = entry("each item of each system", rows=ItemRow)
    notes: tuple[str, ...] = entry("what was read and left out")
    confidence_level: float
    computed: "Found"


def compute(options: MadeOptions, levels: "ScoredLevels", *, tell: Tell) -> MadeLevels:
    """Check the levels of every item of every system.

    Raises InputError for a table with fewer than two levels, and where its scores do not tell levels apart.
    """
    from dataclasses import replace

    from core.errors import InputError
    from core.results.cells import interval
    from core.results.judges.made_levels import made_levels, texts_for, unfit_for_levels
    from core.stats.multiplicity import corrected

    table, made = levels.table, levels.made
    if reason := unfit_for_levels(table, made):
        raise InputError(f"{table.file_name}: {reason}.")
    tell("checking the levels")
    found = made_levels(
        table,
        texts_for(table.rows, made.texts),
        steps=made.steps,
        stand_in=made.stand_in,
        **options.model_dump(),
    )
    rules = found.length_by_system
    paid = corrected([one.rule.p for one in rules], "holm")
    falls, tau = found.falls.monotonic, found.length_by_level
    return MadeLevels(
        judge=found.judge,
        verdict=_verdict_of(found),
        counts={str(outcome): n for outcome, n in found.counts.items()},
        options=Limits(options.tolerance, options.alike, options.longer, found.rise),
        stored_steps=found.stored_steps,
        returns=None
        if found.returns is None
        else Returns(found.returns.count, found.returns.n, found.returns.noise),
        remake_items=found.remake_items,
        monotonic=replace(interval(falls), how=(("n", falls.n),)),
        length_by_level=replace(interval(tau), how=(("n_items", tau.n_clusters),)),
        length_by_system=tuple(_length_row(one, p) for one, p in zip(rules, paid, strict=True)),
        levels=tuple(
            LevelRow(one.level, interval(one.score), interval(one.words), interval(one.supported), one.faults)
            for one in found.levels
        ),
        items=tuple(map(_item_row, found.sets)),
        notes=found.notes,
        confidence_level=found.confidence_level,
        computed=found,
    )


def _item_row(one: "LevelSet") -> ItemRow:
    from core.results.judges.made_levels import CHECKS

    scores = dict(zip(one.levels, one.scores, strict=True))
    return ItemRow(
        item=one.item_id,
        system=one.system,
        labels=one.labels,
        outcome=one.outcome,
        n_faults=len(one.faults),
        to_remake=", ".join(dict.fromkeys(fault.level for fault in one.faults)),
        levels=one.levels,
        scores=one.scores,
        words=one.words,
        core_claim=one.core,
        core_claim_said=one.core or "",
        not_checked_said="; ".join(f"{CHECKS[check]}: {why}" for check, why in one.undecided.items()),
        faults=tuple(
            FaultRow(
                item=one.item_id,
                system=one.system,
                level=fault.level,
                claim=CHECKS[fault.check],
                why=fault.why,
                score=scores.get(fault.level),
                check=fault.check,
            )
            for fault in one.faults
        ),
        not_checked={str(check): why for check, why in one.undecided.items()},
    )


def _length_row(one: "LengthRule", p: float | None) -> LengthRow:
    rule = one.rule
    undefined = rule.column is None
    return LengthRow(
        first=one.first,
        second=one.second,
        n_pairs=rule.n_pairs,
        first_is=Interval(None, reason=rule.reason or "")
        if undefined
        else ("longer" if rule.larger else "shorter"),
        first_is_longer=None if undefined else rule.larger,
        n_right=rule.n_right,
        n_equal=rule.n_undecided,
        p=rule.p,
        p_holm=p,
        reason=rule.reason,
    )


def _verdicts(levels: MadeLevels) -> tuple[Verdict, ...]:
    undecided = _all_undecided(levels.computed)
    code = "undefined" if undecided else "remake" if levels.remake_items else "as-claimed"
    sentence = Caution(levels.verdict) if code == "remake" else levels.verdict
    return (Verdict(code, sentence, reason="; ".join(undecided)),)


def _sentences(levels: MadeLevels) -> tuple[str, ...]:
    """The reasons for what is undecided, and what length gives away."""
    of = levels.computed
    return (*_undecided_said(of), *_noise_said(of), _length_said(of), *_system_said(levels))


def _things(result: "Found") -> str:
    """What a set of levels is called: an item, or an item of a system where there are several."""
    return "items" if len({one.system for one in result.sets}) == 1 else "items of a system"


def _verdict_of(result: "Found") -> str:
    """How many items have levels as claimed, and which to remake; or why nothing could be decided."""
    from core.tables.reading import shown

    counts, things = result.counts, _things(result)
    if reasons := _all_undecided(result):
        ((reason, n),) = reasons.most_common(1)
        most = "" if n == len(result.sets) else "mostly "
        return (
            f"The levels of none of {len(result.sets):,} {things} could be decided, {most}because {reason}."
        )
    said = f"{counts['as claimed']:,} of {len(result.sets):,} {things} have levels as claimed."
    several = things != "items"
    faulty = [(one, fault) for one in result.sets for fault in one.faults]
    if not faulty:
        return said
    named = [
        f"{one.named if several else f'item {shown(one.item_id)}'}, level {shown(fault.level)} ({fault.why})"
        for one, fault in faulty[:_MOST_NAMED]
    ]
    more = f"; and {len(faulty) - _MOST_NAMED:,} more" if len(faulty) > _MOST_NAMED else ""
    return f"{said} Remake {counts['remake']:,}: {'; '.join(named)}{more}."


def _undecided(result: "Found") -> Counter[str]:
    return Counter(one.undecided["scores"] for one in result.sets if one.outcome == "undecided")


def _all_undecided(result: "Found") -> Counter[str]:
    """Why no item could be decided, if none could; else empty."""
    reasons = _undecided(result)
    return reasons if reasons.total() == len(result.sets) else Counter()


def _undecided_said(result: "Found") -> list[str]:
    reasons = _undecided(result)
    # The verdict says the only reason for all items already.
    said = (
        []
        if len(_all_undecided(result)) == 1
        else [f"Undecided: {n:,}, because {reason}." for reason, n in reasons.items()]
    )
    core = Counter(one.undecided["core"] for one in result.sets if "core" in one.undecided)
    if core.total() == len(result.sets):
        said.append(f"The core fact was not checked: {next(iter(core))}.")
    return [*said, Caution(STAND_IN)] if result.stand_in else said


def _noise_said(result: "Found") -> list[str]:
    """A warning if the judge's verdicts contradict each other from level to level."""
    noise = None if result.returns is None else result.returns.noise
    if result.returns is None or noise is None or noise < NOISY:
        return []
    advice = (
        "do not judge single items by it" if noise >= USELESS else "look at each item before you remake it"
    )
    return [
        Caution(
            f"About {100 * noise:.0f} % of the judge's verdicts on claims seem wrong, or levels are in the wrong order: claims that "
            f"fell stand again at a worse level ({result.returns.count:,} of {result.returns.n:,} steps): {advice}."
        )
    ]


def _length_said(result: "Found") -> str:
    from core.results.cells import decimal

    tau = result.length_by_level
    if tau.estimate is None:
        return f"Length by level: undefined ({tau.reason})."
    between = (
        "" if tau.low is None or tau.high is None else f" [{decimal(tau.low, 2)}, {decimal(tau.high, 2)}]"
    )
    number = f"Kendall's tau {decimal(tau.estimate, 2)}{between}"
    if tau.low is None or tau.high is None:
        return f"Length by level: {number}, without an interval."
    if tau.low <= 0 <= tau.high:
        return f"Length alone does not show the level: {number}."
    return Caution(
        f"Length alone gives away the level: worse levels are {'longer' if tau.estimate > 0 else 'shorter'} ({number})."
    )


def _system_said(levels: MadeLevels) -> list[str]:
    from core.tables.reading import shown

    return [
        Caution(
            f"Length gives away the system: the {'longer' if one.first_is_longer else 'shorter'} answer is from "
            f"{shown(one.first)} in {one.n_right:,} of {one.n_pairs:,} pairs with {shown(one.second)}."
        )
        for one in levels.length_by_system
        if one.p_holm is not None and one.p_holm < ALPHA
    ]


def _several(levels: MadeLevels) -> bool:
    return len({one.system for one in levels.items}) > 1


def _faults(levels: MadeLevels) -> Sequence[FaultRow]:
    return [fault for one in levels.items for fault in one.faults]


def _rules(levels: MadeLevels) -> tuple[str, ...]:
    if not _faults(levels):
        return ()
    limits = levels.options
    core = (
        "from the run's stored steps"
        if levels.stored_steps
        else "the reference's claim closest to the question"
    )
    return (
        f"Scores: {levels.judge}; a rise of more than {limits.rise:.3g} ({100 * limits.tolerance:g} % of the range of all scores) counts. "
        f"Core fact: {core}. Length: more than {100 * limits.longer:g} % beyond the median of the item's levels.",
    )


def _levels_notes(levels: MadeLevels) -> tuple[str, ...]:
    from core.results.cells import resampled

    return (
        resampled(levels.confidence_level),
        "Claims left: share of the reference's claims supported at the best level that this level still supports.",
    )


def _n_tests(levels: MadeLevels) -> int:
    return sum(one.p is not None for one in levels.length_by_system)


def _length_notes(levels: MadeLevels) -> tuple[str, ...]:
    from core.results.cells import corrected_note

    return corrected_note("holm", _n_tests(levels), "length between two systems")


ANALYSIS = Analysis(
    name="made-levels",
    title="Made levels",
    question="Are made levels what they claim: falling scores, a core fact that stands and falls where it must, no contradiction "
    "inside a text, no equal texts, texts of similar length?",
    Options=MadeOptions,
    Result=MadeLevels,
    takes=("levels",),
    compute=compute,
    verdicts=_verdicts,
    codes={
        "as-claimed": "no level is to be remade",
        "remake": "at least one level has a fault",
        "undefined": "no item could be decided",
    },
    sentences=_sentences,
    section="pairs#made-levels",
    misleads="A noisy judge accuses right items, because a right item has several chances to look wrong.",
    refuses="If the scores have fewer than two levels.",
    example="""
>>> import assay
>>> texts = assay.read("data/demo/answers.csv")
>>> found = assay.made_levels(assay.score(texts, "chrf-6-0"), texts, resamples=0)
>>> found.json["remake_items"], found.json["counts"]["undecided"]
(['d07'], 0)
""",
    tables=(
        Table(
            "made-levels",
            FaultRow,
            _faults,
            "Levels to remake",
            notes=_rules,
            hidden=lambda found: () if _several(found) else ("system",),
        ),
        Table(
            "levels-made",
            LevelRow,
            lambda found: found.levels,
            "By level",
            notes=_levels_notes,
            shaped=lambda found: {"score": {"title": f"mean {found.judge}"}},
        ),
        Table(
            "length-by-system",
            LengthRow,
            lambda found: found.length_by_system or None,
            "Length of two systems' texts at one level",
            notes=_length_notes,
            hidden=lambda found: () if _n_tests(found) > 1 else ("p_holm",),
        ),
        Table("items-made", ItemRow, lambda found: found.items, "Every item", most_printed=0),
    ),
)
