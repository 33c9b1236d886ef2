"""Are made levels what they claim to be? Each item's levels by a judge's scores and claims, by the texts' values and length."""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import Literal, Unpack, get_args

import numpy as np
import regex
from rapidfuzz.distance import LCSseq

from core.generation.factual.steps import FactualTrace
from core.joining.choices import check_names, directions
from core.joining.tables import only_metric, places_of
from core.judges.claims import Claim, ClaimsRecord
from core.judges.sentences import Content, Premise, sentences_of
from core.results.cells import decimal
from core.results.correlations.levels import Ladder, MetricByLevel, compare_levels, ladder_of
from core.results.judges.values import Values, contradictions
from core.schema.scores import EDIT, JudgeOutput, ScorableOutput, ScoredRow, ScoreTable, row_key
from core.schema.study import Item, Material
from core.stats.blinding import SingleRule, strongest_rule
from core.stats.correlation.groups import mean_within
from core.stats.degeneracy import tied, usual_range
from core.stats.resampling import Estimate, Floats, Resampling, ratio_estimates
from core.study.audit import words_and_marks
from core.tables.columns import level_number
from core.tables.reading import shown

Check = Literal["scores", "core", "contradiction", "equal", "length"]
"""`scores`: a level scores above a better one; `core`: the central claim stands where it must fall, or falls where it must
stand; `contradiction`: a text contradicts itself; `equal`: two levels have the same text; `length`: a text is much longer or
shorter than the others."""
CHECKS: Mapping[Check, str] = {
    "scores": "scores fall",
    "core": "core fact",
    "contradiction": "no contradiction inside",
    "equal": "texts differ",
    "length": "length",
}
Outcome = Literal["as claimed", "remake", "undecided"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

NO_TEXTS = "the scores come without the texts"
NO_CLAIMS = "the judge verified no claims"
NO_CORE = "the judge supports no claim of the reference in the best level"
FACT_UNCLAIMED = "no claim of the reference that the best level supports has the fact"
OTHER_CLAIMS = "the reference was split into other claims at each level"
NOT_SCORED = "a level or its score is missing"
SCORES_EQUAL = "all scores of the item are equal"
ONE_TEXT = "fewer than two texts"
NO_FIRST = "the best level has no text"


@dataclass(frozen=True)
class MadeText:
    """A text at a level, with what is known about it."""

    text: str
    reference: str | None = None
    question: str | None = None
    language: str = "und"
    record: ClaimsRecord | None = None
    """The claims of the text and of its reference, if a claims judge verified them."""


@dataclass(frozen=True)
class Steps:
    """What a run stored of one item: the most important fact that it changed, and which facts each level changed."""

    first: str
    """The text of A0; the steps are those of texts that begin with it."""
    core: str
    """The fact as it stands in A0."""
    core_level: str
    """The level that changes it."""
    changed: Mapping[str, tuple[str, ...]]
    """Level -> the facts, as in A0, that it changes."""
    sentence: str = ""
    """The sentence of A0 with the core fact; empty: unknown."""


def steps_of(trace: FactualTrace) -> Steps | None:
    """The stored steps of an item; None if no level changes a fact. The core fact is the first in the ranking that changes."""
    changed = {
        f"A{at}": tuple(trace.spans[n].text for n in group) for at, group in enumerate(trace.groups, start=1)
    }
    level_of = {n: f"A{at}" for at, group in enumerate(trace.groups, start=1) for n in group}
    order = [n for n in (trace.ranking or trace.kept) if n in level_of]
    if not order or not trace.levels:
        return None
    core, text = trace.spans[order[0]], trace.levels[0].text
    return Steps(text, core.text, level_of[order[0]], changed, _sentence_at(text, core.start))


def _sentence_at(text: str, place: int) -> str:
    """The sentence of a text that has the character at this place; empty if white space was changed."""
    end = 0
    for sentence in sentences_of(text):
        start = text.find(sentence, end)
        end = max(end, start + len(sentence))
        if 0 <= start <= place < end:
            return sentence
    return ""


@dataclass(frozen=True)
class Made:
    """Texts at levels, with everything that is known about them."""

    texts: tuple[tuple[ScoredRow, MadeText], ...] = ()
    steps: Mapping[str, Steps] = field(default_factory=dict)
    """Item -> what the run that made its levels stored."""
    stand_in: bool = False
    """Whether rules verified the claims."""
    materials: tuple[Material, ...] = ()
    """The questions that the levels were made from; empty: unknown."""
    blind_to_levels: bool = False
    """Whether the scores come from a judge that only compared texts of one level."""

    def beside(self, other: "Made") -> "Made":
        """These texts with their claims; the texts that only the other has; the steps of both."""
        known = {row for row, _ in self._keyed()}
        more = tuple(one for key, one in other._keyed() if key not in known)
        return Made(
            (*self.texts, *more),
            {**other.steps, **self.steps},
            self.stand_in or other.stand_in,
            self.materials or other.materials,
            self.blind_to_levels,
        )

    def _keyed(self) -> "list[tuple[tuple[str, str, str | None], tuple[ScoredRow, MadeText]]]":
        return [((row.item_id, row.system, row.level), (row, text)) for row, text in self.texts]


@dataclass(frozen=True)
class ScoredLevels:
    """Scores of texts at levels, with what is known about the texts."""

    table: ScoreTable
    """The first metric counts."""
    made: Made


def scored_levels(
    table: ScoreTable, made: Made, texts: Made | None = None, metric: str | None = None
) -> ScoredLevels:
    """Scores with what is known about their texts.

    made: what comes with the scores; texts: what a further source knows. metric: the column that counts; None: the first. Raises
    InputError for an unknown one.
    """
    if metric:
        check_names("metric", [metric], [one.name for one in table.metrics])
        table = only_metric(table, metric)
    return ScoredLevels(table, made if texts is None else made.beside(texts))


def unfit_for_levels(table: ScoreTable, made: Made) -> str:
    """Why these scores cannot show whether levels are right; empty: they can."""
    if made.blind_to_levels:
        return (
            "this judge only compared texts of one level, so its scores do not tell levels apart; compare the levels of each "
            "system, or use another judge"
        )
    if any(EDIT in row.labels for row in table.rows):
        return "edited twins repeat the levels of other texts; check the file that they were made from"
    return ""


@dataclass(frozen=True)
class Fault:
    """One reason to remake a level."""

    level: str
    check: Check
    why: str
    """In words that follow the level's name: `rises above A2 (0.60 after 0.40)`."""


@dataclass(frozen=True)
class LevelSet:
    """The levels of one item of one system."""

    item_id: str
    system: str
    labels: Mapping[str, str]
    levels: tuple[str, ...]
    """Levels with a text or a score, best first."""
    scores: tuple[float | None, ...]
    """As many as levels."""
    words: tuple[int | None, ...]
    """Words of each text; a visible character of a script without spaces is a word."""
    supported: tuple[tuple[int, int] | None, ...]
    """Of the reference's claims that the best level supports: how many each level supports, and how many have a verdict."""
    core: str | None
    """The claim of the reference that stands for the core fact."""
    faults: tuple[Fault, ...]
    """In the order of the levels."""
    undecided: Mapping[Check, str]
    """Check -> why it could not be made."""

    @property
    def outcome(self) -> Outcome:
        """`remake` with any fault; `undecided` without one if the scores could not be compared."""
        if self.faults:
            return "remake"
        return "undecided" if "scores" in self.undecided else "as claimed"

    @property
    def named(self) -> str:
        """Item and system, for sentences."""
        return f"item {shown(self.item_id)}" + (f", {shown(self.system)}" if self.system else "")


@dataclass(frozen=True)
class Level:
    """One level over all items."""

    level: str
    score: Estimate
    words: Estimate
    """Mean number of words."""
    supported: Estimate
    """Share of the claims supported at the best level that are still supported."""
    faults: int
    """Texts of this level to remake."""


@dataclass(frozen=True)
class Returns:
    """Claims of the reference that fall at a level and stand again at a worse one: signs of wrong verdicts.

    Where each level builds on the one before, a claim falls once. If each verdict is wrong with probability e, two neighbouring
    levels at which the truth is the same look like a return with probability e (1 - e).
    """

    count: int
    """Returns between two neighbouring levels."""
    n: int
    """Pairs of neighbouring levels with verdicts on a claim, less one for each claim that fell for good."""

    @property
    def noise(self) -> float | None:
        """Estimated share of wrong verdicts, 0 to 1/2; None without verdicts. Faulty levels raise it."""
        if self.n <= 0:
            return None
        return (1 - math.sqrt(max(0.0, 1 - 4 * self.count / self.n))) / 2


@dataclass(frozen=True)
class LengthRule:
    """How often the longer of two systems' texts at one level and item is the first system's."""

    first: str
    second: str
    rule: SingleRule


@dataclass(frozen=True)
class MadeLevels:
    """Whether the levels of every item are what they claim."""

    judge: str
    """The scores' column."""
    rise: float
    """Largest rise that is tolerated, on the scale of the scores."""
    sets: tuple[LevelSet, ...]
    levels: tuple[Level, ...]
    falls: MetricByLevel
    """The judge's scores by level, with the share of items that never rise, without tolerance."""
    length_by_level: Estimate
    """Kendall's tau-b of words and level within items, averaged: 0 for no relation; above 0, worse levels are longer."""
    length_by_system: tuple[LengthRule, ...]
    """One for every two systems."""
    confidence_level: float
    returns: Returns | None = None
    """How often claims return; None without claims, and for levels that do not build on each other (0 to 5)."""
    stand_in: bool = False
    """Whether rules verified the claims: they compare numbers, names and words."""
    stored_steps: bool = False
    """Whether the run's steps say which fact is the core and where it changes."""
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> Mapping[Outcome, int]:
        """Number of sets with each outcome."""
        found = Counter(one.outcome for one in self.sets)
        return {name: found[name] for name in OUTCOMES}

    @property
    def remake_items(self) -> tuple[str, ...]:
        """Ids of the items with a fault, in the order of the file."""
        return tuple(dict.fromkeys(one.item_id for one in self.sets if one.faults))


def made_levels(
    table: ScoreTable,
    texts: Sequence[MadeText | None],
    *,
    steps: Mapping[str, Steps] | None = None,
    tolerance: float = 0.05,
    alike: float = 1.0,
    longer: float = 0.25,
    stand_in: bool = False,
    **drawing: Unpack[Resampling],
) -> MadeLevels:
    """Check the levels of every item of every system.

    table: a judge's scores, of which the first column counts. texts: one for each of its rows, None where unknown. steps: item -> what
    the generation run stored. stand_in: whether rules verified the claims. drawing: see `resampling.Resampling`; 2,000 resamples
    unless given.

    tolerance: largest rise of the score from a level to a worse one, as a share of the range of all scores; at least 0, below 1.
    alike: two levels have the same text if they share this share of their words in the same order; above 0, at most 1. longer: how
    much longer than the median of its item's levels a text may be, or the median than the text; above 0.

    The five checks are described at `Check`, the rules in docs/pairs.md, Made levels. Without claims (any metric) the core
    fact is undecided, without texts all but the scores.

    Raises InputError for a table with fewer than two levels. Misleads if the
    judge is noisy: each right item has several chances to look wrong (docs/simulations/made-levels.md).
    """
    chosen = replace(only_metric(table, table.metrics[0].name), reasons={})
    resampling: Resampling = {"n_resamples": 2_000, **drawing}
    ladder = ladder_of(chosen)
    turned = tied(ladder.scores[:, :, 0] * directions(chosen)[0])
    known = turned[~np.isnan(turned)]
    rise = tolerance * usual_range(known)
    at = _level_lines(ladder, texts)
    reader = Values.of(
        Material(Item(str(n), one.question or "", one.reference or one.text, one.language))
        for n, one in enumerate(one for line in at for one in line if one is not None)
    )
    central = _shared_cores(ladder, at)
    sets = tuple(
        _checked(
            ladder,
            unit,
            turned[unit],
            line,
            rise,
            (steps or {}).get(row.item_id),
            reader,
            alike,
            longer,
            central,
        )
        for unit, (row, line) in enumerate(zip(ladder.keys, at, strict=True))
    )
    levels, tau = _level_means(ladder, sets, resampling)
    return MadeLevels(
        judge=chosen.metrics[0].name,
        rise=rise,
        sets=sets,
        levels=levels,
        falls=compare_levels(chosen, most_worst=0, **resampling)[0],
        length_by_level=tau,
        length_by_system=_system_rules(ladder, sets),
        confidence_level=resampling.get("confidence_level", 0.95),
        returns=_returns(ladder.levels, at),
        stand_in=stand_in,
        stored_steps=bool(steps),
        notes=table.notes,
    )


def texts_for(
    rows: Sequence[ScoredRow], texts: Sequence[tuple[ScoredRow, MadeText]]
) -> list[MadeText | None]:
    """The text of each row of scores; None if none matches, or several do."""
    exact = {row_key(row): text for row, text in texts}
    places = places_of(rows, [row for row, _ in texts])
    return [
        exact.get(row_key(row)) or (None if place is None else texts[place][1])
        for row, place in zip(rows, places, strict=True)
    ]


def judged_texts(output: JudgeOutput) -> list[tuple[ScoredRow, MadeText]]:
    """The texts of a judge's output; those of a claims judge with their claims."""
    return [
        (
            one.row,
            MadeText(
                one.text,
                one.document,
                one.question,
                one.row.language,
                one.record if isinstance(one.record, ClaimsRecord) else None,
            ),
        )
        for one in output.texts
    ]


def plain_texts(outputs: Sequence[ScorableOutput]) -> list[tuple[ScoredRow, MadeText]]:
    """The texts of a file, without claims."""
    return [
        (
            one.row,
            MadeText(one.text, one.reference, one.source, one.language),
        )
        for one in outputs
    ]


Line = tuple[MadeText | None, ...]
"""The texts of one item and system, best level first."""


def _level_lines(ladder: Ladder, texts: Sequence[MadeText | None]) -> list[Line]:
    return [tuple(None if row < 0 else texts[row] for row in rows) for rows in ladder.rows.tolist()]


def _checked(
    ladder: Ladder,
    unit: int,
    turned: Floats,
    line: Line,
    rise: float,
    steps: Steps | None,
    reader: Values,
    alike: float,
    longer: float,
    central: Mapping[int, Sequence[int]],
) -> LevelSet:
    """The checks of one set. turned: its scores (levels,), higher is better; NaN if there is none."""
    row, names = ladder.keys[unit], ladder.levels
    there = [step for step in range(len(names)) if line[step] is not None or ladder.rows[unit, step] >= 0]
    undecided: dict[Check, str] = {}
    faults: list[Fault] = []

    def add(check: Check, found: Sequence[Fault] | str) -> None:
        if isinstance(found, str):
            undecided[check] = found
        else:
            faults.extend(found)

    scores = ladder.scores[unit, :, 0]
    add("scores", _rises(names, turned, scores, rise))
    claims = _claims_of(line)
    if steps is not None and (line[0] is None or line[0].text != steps.first):
        steps = None  # another system's answers to the same question
    core, found = _core(names, line, claims, steps, central.get(unit, ()))
    add("core", found)
    add("contradiction", _contradictions(names, line, reader))
    add("equal", _equal(names, line, alike))
    words = tuple(None if one is None else len(_words(one.text)) for one in line)
    add("length", _lengths(names, words, longer))
    supported = _supported(claims, len(names))
    order = {name: at for at, name in enumerate(names)}
    return LevelSet(
        item_id=row.item_id,
        system=row.system,
        labels=row.labels,
        levels=tuple(names[step] for step in there),
        scores=tuple(None if np.isnan(scores[step]) else float(scores[step]) for step in there),
        words=tuple(words[step] for step in there),
        supported=tuple(supported[step] for step in there),
        core=core,
        faults=tuple(sorted(faults, key=lambda one: (order[one.level], list(CHECKS).index(one.check)))),
        undecided=undecided,
    )


def _rises(names: Sequence[str], turned: Floats, scores: Floats, most: float) -> list[Fault] | str:
    """Levels that score above a better one by more than `most`; or why that is undecided.

    The levels to remake are the fewest whose removal leaves scores that never rise. Of several such choices the one that
    keeps the better levels: of two neighbours in the wrong order, the worse level is to be remade.
    """
    known = [step for step in range(len(names)) if not np.isnan(turned[step])]
    values = turned[known]
    kept = _never_rising(values, most)
    faults = []
    for place, step in enumerate(known):
        if place in kept:
            continue
        above = [at for at in kept if at < place and values[place] > values[at] + most]
        below = [at for at in kept if at > place and values[at] > values[place] + most]
        other = known[above[-1] if above else below[0]]
        how = "rises above" if above else "is below"
        pair = f"{decimal(float(scores[step]))} and {decimal(float(scores[other]))}"
        faults.append(Fault(names[step], "scores", f"{how} {names[other]} ({pair})"))
    if faults:
        return faults
    if len(known) < len(names):
        return NOT_SCORED
    return SCORES_EQUAL if len(known) > 1 and np.ptp(values) == 0 else faults


def _never_rising(values: Floats, most: float) -> tuple[int, ...]:
    """Places of the longest subsequence in which no value is above an earlier one by more than `most`; the earliest of equals."""
    best: tuple[int, ...] = ()
    # A set has at most ten levels: 1,024 subsets at most, and the first hit ends the search.
    for size in range(len(values), 0, -1):
        for places in combinations(range(len(values)), size):
            lowest = np.inf
            for at in places:
                if values[at] > lowest + most:
                    break
                lowest = min(lowest, values[at])
            else:
                return places
    return best


Claims = tuple[tuple[bool | None, ...] | None, ...]
"""For each level, the verdict on each claim of the reference; None if the level has none."""


def _claims_of(line: Line) -> tuple[tuple[str, ...], Claims] | str:
    """The reference's claims, and which of them each level supports; or why that is unknown."""
    listed = [None if one is None or one.record is None else one.record.reference for one in line]
    known: list[tuple[Claim, ...]] = [claims for claims in listed if claims]
    if not known:
        return NO_TEXTS if all(one is None for one in line) else NO_CLAIMS
    texts = tuple(claim.text for claim in known[0])
    if any(tuple(claim.text for claim in claims) != texts for claims in known):
        return OTHER_CLAIMS
    return texts, tuple(tuple(claim.supported for claim in claims) if claims else None for claims in listed)


def _supported(found: tuple[tuple[str, ...], Claims] | str, n_levels: int) -> list[tuple[int, int] | None]:
    """See LevelSet.supported."""
    if isinstance(found, str) or found[1][0] is None:
        return [None] * n_levels
    _, verdicts = found
    at_first = [n for n, verdict in enumerate(verdicts[0] or ()) if verdict]
    counted: list[tuple[int, int] | None] = []
    for level in verdicts:
        judged = [level[n] for n in at_first if level[n] is not None] if level else []
        counted.append((sum(map(bool, judged)), len(judged)) if judged else None)
    return counted


def _returns(names: Sequence[str], at: Sequence[Line]) -> Returns | None:
    """See Returns."""
    found = [claims for line in at if not isinstance(claims := _claims_of(line), str)]
    if not found or _are_damage_levels(names):
        return None
    count = pairs = fallen = 0
    for texts, verdicts in found:
        for n in range(len(texts)):
            said = [level[n] for level in verdicts if level is not None and level[n] is not None]
            pairs += max(0, len(said) - 1)
            count += sum(not before and bool(after) for before, after in pairwise(said))
            fallen += bool(said) and bool(said[0]) and not said[-1]
    return Returns(count, pairs - fallen)


def _are_damage_levels(names: Sequence[str]) -> bool:
    """Whether these are Meta-Judge's levels 0 to 5, each made from the reference."""
    return all(name.strip().isdecimal() for name in names)


def _shared_cores(ladder: Ladder, at: Sequence[Line]) -> dict[int, Sequence[int]]:
    """Unit -> places of the reference's claims that the best levels of all systems of its item support."""
    of_item: dict[int, list[int]] = defaultdict(list)
    for unit, item in enumerate(ladder.items.tolist()):
        of_item[item].append(unit)
    shared: dict[int, Sequence[int]] = {}
    for units in of_item.values():
        found = [_claims_of(at[unit]) for unit in units]
        whole = [one for one in found if not isinstance(one, str) and one[1][0] is not None]
        if len({one[0] for one in whole}) != 1:
            continue
        verdicts = [one[1][0] or () for one in whole]
        places = [n for n in range(len(whole[0][0])) if all(one[n] for one in verdicts)]
        shared.update(dict.fromkeys(units, places))
    return shared


def must(names: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Levels that must leave the core fact alone, and levels that must damage it.

    Meta-Judge's damage levels: 0 and 1 keep the meaning true, 4 and 5 alter the core of it (Meta-Judge, appendix B, tables 8
    and 9). Other levels, such as Factual's A0 to A4: the best is as accurate as the reference, the worst mostly incorrect
    (Factual, appendix C, guidelines).
    """
    numbers = {name: level_number(name) for name in names}
    if _are_damage_levels(names):
        keep = {name for name, number in numbers.items() if number is not None and number <= 1}
        touch = {name for name, number in numbers.items() if number is not None and number >= 4}
        return frozenset(keep), frozenset(touch)
    return frozenset(names[:1]), frozenset(names[-1:])


def _core(
    names: Sequence[str],
    line: Line,
    found: tuple[tuple[str, ...], Claims] | str,
    steps: Steps | None,
    shared: Sequence[int],
) -> tuple[str | None, list[Fault] | str]:
    """The claim that stands for the core fact, and levels that keep or lose it against their claim; or why undecided."""
    if isinstance(found, str):
        return None, found
    texts, verdicts = found
    if verdicts[0] is None:
        return None, NO_FIRST
    own = [n for n, supported in enumerate(verdicts[0]) if supported]
    if not own:
        return None, NO_CORE
    if steps is not None:
        with_fact = [n for n in own if _holds(texts[n], steps.core)]
        if not with_fact:
            return None, FACT_UNCLAIMED
        place = _closest(with_fact, texts, steps.sentence)
        keep, touch = _claim_levels(names, texts[place], steps)
    else:
        question = next((one.question for one in line if one is not None and one.question), "")
        place = _closest([n for n in shared if n in own] or own, texts, question)
        keep, touch = must(names)
    faults = []
    for step, name in enumerate(names):
        level = verdicts[step]
        supported = None if level is None else level[place]
        if supported and name in touch:
            faults.append(Fault(name, "core", "keeps the core fact"))
        elif supported is False and name in keep:
            faults.append(Fault(name, "core", "loses the core fact"))
    return texts[place], faults


def _holds(claim: str, fact: str) -> bool:
    """Whether a claim contains every number, name and word of a fact."""
    said, content = Premise.of(claim), Content.of(f"is {fact}")
    parts = (*content.names, *content.words)
    return bool(content.numbers or parts) and (
        all(number in said.numbers for number in content.numbers) and all(map(said.has, parts))
    )


def _claim_levels(names: Sequence[str], claim: str, steps: Steps) -> tuple[frozenset[str], frozenset[str]]:
    """Levels that must keep the claim, and that must not: those before its fact changes, unless they change another fact in it."""
    keep: set[str] = set()
    touched = False
    at = names.index(steps.core_level) if steps.core_level in names else len(names)
    for name in names[:at]:
        touched = touched or any(_holds(claim, fact) for fact in steps.changed.get(name, ()))
        if not touched:
            keep.add(name)
    return frozenset(keep), frozenset(names[at:])


def _closest(places: Sequence[int], texts: Sequence[str], wanted: str) -> int:
    """Of these claims the one with most of the wanted text's numbers, names and words; the first of equals."""
    asked = Content.of(f"so {wanted}")
    words = (*asked.names, *asked.words)

    def shared(place: int) -> int:
        said = Premise.of(texts[place])
        return sum(map(said.has, words)) + sum(number in said.numbers for number in asked.numbers)

    return max(places, key=lambda place: (shared(place), -place))


def _contradictions(names: Sequence[str], line: Line, reader: Values) -> list[Fault] | str:
    """Levels in whose text an old value stands beside the new one, or whose claims contradict each other."""
    first = line[0]
    if first is None:
        return NO_TEXTS if all(one is None for one in line) else NO_FIRST
    before = reader.in_text(first.text, first.reference)
    found: dict[str, tuple[str, list[str]]] = {}
    for name, one in zip(names[1:], line[1:], strict=True):
        if one is None:
            continue
        for what in contradictions(before, reader.in_text(one.text, one.reference)):
            found.setdefault(what, (name, []))[1].append(name)
    faults = [
        Fault(name, "contradiction", f"says {_quoted(pair.first)} and {_quoted(pair.second)}")
        for name, one in zip(names, line, strict=True)
        if one is not None and one.record is not None
        for pair in one.record.contradictions or ()
    ]
    for what, (name, levels) in found.items():
        later = f"; also at {', '.join(levels[1:])}" if len(levels) > 1 else ""
        faults.append(Fault(name, "contradiction", f"{what}{later}"))
    return faults


def _quoted(claim: str) -> str:
    return f"“{claim if len(claim) <= _QUOTED else f'{claim[: _QUOTED - 1]}…'}”"


_QUOTED = 60
"""Letters of a claim in a reason."""


def _equal(names: Sequence[str], line: Line, alike: float) -> list[Fault] | str:
    """Levels with the text of the level before."""
    known = [
        (name, words_and_marks(one.text)) for name, one in zip(names, line, strict=True) if one is not None
    ]
    if len(known) < 2:
        return NO_TEXTS if not known else ONE_TEXT
    faults = []
    for (before, first), (name, second) in pairwise(known):
        numbers: dict[str, int] = {}  # rapidfuzz compares hashes; numbers never collide
        left, right = (
            [numbers.setdefault(token, len(numbers)) for token in tokens if _SAYS.search(token)]
            for tokens in (first, second)
        )
        if left == right or LCSseq.normalized_similarity(left, right) >= alike:
            exact = "" if first == second else "nearly "
            faults.append(Fault(name, "equal", f"has {exact}the text of {before}"))
    return faults


_SAYS = regex.compile(r"[\p{L}\p{N}]")


def _words(text: str) -> list[str]:
    return [token for token in words_and_marks(text) if _SAYS.search(token)]


def _lengths(names: Sequence[str], words: Sequence[int | None], longer: float) -> list[Fault] | str:
    """Levels that are much longer or shorter than the median of the set."""
    known = [(name, n) for name, n in zip(names, words, strict=True) if n is not None]
    if len(known) < 2:
        return NO_TEXTS if not known else ONE_TEXT
    usual = statistics.median(n for _, n in known)
    faults = []
    for name, n in known:
        if n > (1 + longer) * usual:
            faults.append(
                Fault(
                    name,
                    "length",
                    f"is {100 * n / max(usual, 1) - 100:.0f} % longer than usual ({n:,} words)",
                )
            )
        elif usual > (1 + longer) * n:
            faults.append(
                Fault(name, "length", f"is {100 - 100 * n / usual:.0f} % shorter than usual ({n:,} words)")
            )
    return faults


def _level_means(
    ladder: Ladder, sets: Sequence[LevelSet], resampling: Resampling
) -> tuple[tuple[Level, ...], Estimate]:
    """Means by level with intervals over items, and the relation of length and level."""
    shape = (len(sets), len(ladder.levels))
    words, kept, judged = np.full(shape, np.nan), np.zeros(shape), np.zeros(shape)
    faults = np.zeros(shape, dtype=np.int64)
    steps = {name: step for step, name in enumerate(ladder.levels)}
    for unit, one in enumerate(sets):
        for name, n, claims in zip(one.levels, one.words, one.supported, strict=True):
            words[unit, steps[name]] = np.nan if n is None else n
            kept[unit, steps[name]], judged[unit, steps[name]] = claims or (0, 0)
        for name in {fault.level for fault in one.faults}:
            faults[unit, steps[name]] += 1
    scores = ladder.scores[:, :, 0]
    shares = np.divide(kept, judged, out=np.zeros(shape), where=judged > 0)
    above = np.hstack([np.nan_to_num(scores), np.nan_to_num(words), shares])
    below = np.hstack([~np.isnan(scores), ~np.isnan(words), judged > 0]).astype(np.float64)
    found = ratio_estimates(above, below, ladder.items, **resampling)
    n = shape[1]
    levels = tuple(
        Level(
            name,
            _or(found[step], "no text at this level has a score"),
            _or(found[n + step], NO_TEXTS),
            _or(found[2 * n + step], NO_CLAIMS),
            int(faults[:, step].sum()),
        )
        for step, name in enumerate(ladder.levels)
    )
    at = np.tile(np.arange(n, dtype=np.float64), len(sets))
    units = np.repeat(np.arange(len(sets)), n)
    tau = mean_within(words.ravel(), at, units, "kendall", **resampling)
    why = NO_TEXTS if np.isnan(words).all() else "no item has texts of different length at two levels"
    return levels, _or(tau, why)


def _or(estimate: Estimate, why_none: str) -> Estimate:
    return estimate if estimate.estimate is not None else replace(estimate, reason=why_none)


def _system_rules(ladder: Ladder, sets: Sequence[LevelSet]) -> tuple[LengthRule, ...]:
    """For every two systems, whether the longer of two texts at one level of one item tells them apart."""
    words: dict[str, dict[tuple[int, str], int]] = defaultdict(dict)
    for unit, one in enumerate(sets):
        for name, n in zip(one.levels, one.words, strict=True):
            if n is not None:
                words[one.system][int(ladder.items[unit]), name] = n
    found = []
    for first, second in combinations(sorted(words), 2):
        shared = sorted(words[first].keys() & words[second].keys())
        if shared:
            apart = np.array([[words[first][at] - words[second][at]] for at in shared], dtype=np.float64)
            found.append(LengthRule(first, second, strongest_rule(apart, [item for item, _ in shared])))
    return tuple(found)
