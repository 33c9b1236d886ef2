"""Made levels: each planted fault is found at its level, clean items are left alone, and what cannot be checked says why."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.analyses.made_levels import ANALYSIS, MadeOptions
from core.errors import InputError
from core.formats.registry import read_texts
from core.generation.factual.steps import FactualLevel, FactualTrace
from core.generation.parse import Span
from core.judges.claims import (
    Claim,
    ClaimsJudge,
    ClaimsRecord,
    ClaimsSettings,
    Contradiction,
    RuleDecomposer,
    RuleVerifier,
)
from core.plots import levels as plots
from core.results.judges.made_levels import (
    NO_CLAIMS,
    NO_CORE,
    NO_TEXTS,
    NOT_SCORED,
    OTHER_CLAIMS,
    SCORES_EQUAL,
    Check,
    Fault,
    LevelSet,
    Made,
    MadeLevels,
    MadeText,
    Returns,
    Steps,
    must,
    plain_texts,
    scored_levels,
    steps_of,
    texts_for,
)
from core.results.judges.made_levels import made_levels as check
from core.schema.analysis import Answer
from core.schema.scores import Metric, RatedText, ScorableOutput, ScoredRow, ScoreTable
from scripts.simulations import cell_measures, read
from scripts.simulations.made_levels import GRID

LEVELS = ("A0", "A1", "A2", "A3", "A4")
FALLING = (1.0, 0.8, 0.6, 0.4, 0.2)
WORDS = "The fire began in a bakery of the old town and a strong wind carried it through narrow streets of wooden houses"
DEMO = Path("data/demo/answers.csv")


def table(
    scores: Mapping[str, Sequence[float | None]], levels: Sequence[str] = LEVELS, **metric: str
) -> ScoreTable:
    """Scores of items, one system."""
    rows = [ScoredRow(item, "made", level) for item in scores for level in levels]
    values = [np.nan if value is None else value for one in scores.values() for value in one]
    return ScoreTable(
        tuple(rows),
        (Metric("judge", "", "judge", **metric),),
        np.array(values, dtype=float)[:, None],  # type: ignore[arg-type]
    )


def texts(
    *said: str | None, claims: Sequence[Sequence[bool | None]] = (), question: str = ""
) -> list[MadeText | None]:
    """The texts of one item. claims: for each level, the verdict on each claim of the reference."""
    names = ("the fire began in a bakery", "it destroyed the cathedral", "nobody was hurt")
    found: list[MadeText | None] = []
    for at, text in enumerate(said):
        record = None
        if claims:
            verdicts = zip(names, claims[at], strict=False)
            record = ClaimsRecord((), tuple(Claim(name, supported) for name, supported in verdicts))
        found.append(None if text is None else MadeText(text, "reference", question, "en", record))
    return found


def different(*more: str) -> list[str]:
    """Texts of equal length that differ from level to level, without values."""
    ends = ("quickly", "slowly", "at night", "by day", "unseen")
    return [f"{WORDS} {end} {extra}".strip() for end, extra in zip(ends, more or ("",) * 5, strict=True)]


def one(
    scores: Sequence[float | None] = FALLING,
    given: Sequence[MadeText | None] | None = None,
    levels: Sequence[str] = LEVELS,
    **chosen: object,
) -> LevelSet:
    """The only set of a file whose scores range from 0 to 1 because of two other items."""
    wide = (1.0, *(0.5 for _ in levels[2:]), 0.0)
    found = check(
        table({"item": scores, "other": wide}, levels),
        [*(texts(*different()) if given is None else given), *(None for _ in levels)],
        n_resamples=0,
        **chosen,  # type: ignore[arg-type]
    )
    return found.sets[0]


def answered(scores: ScoreTable, given: Sequence[MadeText | None], **chosen: Any) -> Answer:
    """The answer on scores and their texts."""
    known = tuple((row, text) for row, text in zip(scores.rows, given, strict=True) if text is not None)
    return ANALYSIS.answer(MadeOptions(**chosen), scored_levels(scores, Made(known)))


def faults(found: LevelSet) -> list[tuple[str, Check]]:
    return [(fault.level, fault.check) for fault in found.faults]


@pytest.mark.parametrize(
    ("scores", "level", "why"),
    [
        ((1.0, 0.8, 0.4, 0.6, 0.2), "A3", "rises above A2 (0.600 and 0.400)"),
        ((1.0, 0.1, 0.6, 0.4, 0.2), "A1", "is below A2 (0.100 and 0.600)"),
        ((0.1, 0.8, 0.6, 0.4, 0.2), "A0", "is below A1 (0.100 and 0.800)"),
        ((0.8, 0.6, 0.4, 0.2, 0.9), "A4", "rises above A3 (0.900 and 0.200)"),
    ],
)
def test_the_fewest_levels_that_break_the_order_are_named(
    scores: Sequence[float], level: str, why: str
) -> None:
    found = one(scores)
    assert [(fault.level, fault.why) for fault in found.faults] == [(level, why)]
    assert found.outcome == "remake"


def test_a_rise_within_the_tolerance_counts_as_none() -> None:
    rising = (1.0, 0.8, 0.6, 0.64, 0.2)
    assert one(rising).outcome == "as claimed"
    assert faults(one(rising, tolerance=0.03)) == [("A3", "scores")]
    creeping = (0.60, 0.64, 0.68, 0.72, 0.2)  # each step is small, the sum is not
    assert one(creeping).outcome == "remake"


def test_the_order_follows_the_metric_s_direction() -> None:
    errors = check(
        table({"item": (0.0, 1.0, 3.0, 2.0, 5.0)}, direction="lower"), texts(*different()), n_resamples=0
    )
    assert faults(errors.sets[0]) == [("A3", "scores")]
    assert errors.sets[0].faults[0].why == "rises above A2 (2.000 and 3.000)"


def test_what_cannot_be_compared_is_undecided_with_its_reason() -> None:
    missing = one((1.0, 0.8, None, 0.4, 0.2))
    assert (missing.outcome, missing.undecided["scores"]) == ("undecided", NOT_SCORED)
    assert one((1.0, 0.4, None, 0.8, 0.2)).outcome == "remake", (
        "a rise beside a missing score is still a rise"
    )
    equal = one((0.0,) * 5)
    assert (equal.outcome, equal.undecided["scores"]) == ("undecided", SCORES_EQUAL)
    bare = one(given=[None] * 5)
    assert bare.undecided == dict.fromkeys(("core", "contradiction", "equal", "length"), NO_TEXTS)
    assert (bare.outcome, one().undecided) == ("as claimed", {"core": NO_CLAIMS})


def test_where_nothing_could_be_decided_the_verdict_says_so_first_with_its_most_frequent_reason() -> None:
    def said(*scores: Sequence[float | None]) -> list[str]:
        of_items = table({f"item {at}": one for at, one in enumerate(scores)})
        return [*answered(of_items, [None] * len(of_items.rows), n_resamples=0).all_sentences]

    missing, equal = (1.0, 0.8, None, 0.4, 0.2), (0.5,) * 5
    alone = said(missing, missing)
    assert alone[0].endswith(f"none of 2 items could be decided, because {NOT_SCORED}.")
    assert not [one for one in alone[1:] if NOT_SCORED in one]
    mixed = said(missing, equal, missing)
    assert mixed[0].endswith(f"none of 3 items could be decided, mostly because {NOT_SCORED}.")
    assert len([one for one in mixed[1:] if NOT_SCORED in one or SCORES_EQUAL in one]) == 2


def test_the_worst_level_must_not_keep_the_core_fact() -> None:
    claims = [
        (True, True, True),
        (True, False, True),
        (True, False, False),
        (True, False, False),
        (True, False, False),
    ]
    found = one(given=texts(*different(), claims=claims, question="How did the fire begin?"))
    assert (found.core, faults(found)) == ("the fire began in a bakery", [("A4", "core")])
    other = one(given=texts(*different(), claims=claims, question="What happened to the cathedral?"))
    assert (other.core, other.outcome) == ("it destroyed the cathedral", "as claimed")
    assert found.supported == ((3, 3), (2, 3), (1, 3), (1, 3), (1, 3))


def test_the_core_claim_is_one_that_the_best_levels_of_all_systems_support() -> None:
    rows = [ScoredRow("item", system, level) for system in ("a", "b") for level in LEVELS]
    scores = ScoreTable(tuple(rows), (Metric("judge", "", "judge"),), np.array([*FALLING, *FALLING])[:, None])
    first = texts(
        *different(), claims=[(True, True), *[(False, True)] * 4], question="How did the fire begin?"
    )
    second = texts(
        *different(), claims=[(False, True), *[(False, False)] * 4], question="How did the fire begin?"
    )
    one_system, another = check(scores, [*first, *second], n_resamples=0).sets
    assert (one_system.core, another.core) == ("it destroyed the cathedral",) * 2
    assert (faults(one_system), faults(another)) == ([("A4", "core")], [])


def test_damage_levels_keep_the_core_at_0_and_1_and_damage_it_at_4_and_5() -> None:
    levels = ("0", "1", "2", "3", "4", "5")
    assert must(levels) == (frozenset({"0", "1"}), frozenset({"4", "5"}))
    assert must(LEVELS) == (frozenset({"A0"}), frozenset({"A4"}))
    claims = [(True,), (False,), (False,), (True,), (True,), (False,)]
    given = texts(*different(), f"{WORDS} somewhere", claims=claims)
    found = one((1.0, 0.8, 0.6, 0.4, 0.2, 0.1), given, levels)
    assert faults(found) == [("1", "core"), ("4", "core")]


def test_stored_steps_say_where_the_core_fact_changes() -> None:
    given = texts(
        *different(),
        claims=[(True, True, True), (True, True, True), (True, False, True), *[(False, False, True)] * 2],
    )
    first = different()[0]
    assert one(given=given, steps={"item": Steps(first, "a bakery", "A3", {})}).outcome == "as claimed"
    kept = one(given=given, steps={"item": Steps(first, "a bakery", "A2", {})})
    assert [(fault.level, fault.why) for fault in kept.faults] == [("A2", "keeps the core fact")]
    lost = one(given=given, steps={"item": Steps(first, "a bakery", "A4", {})})
    assert [(fault.level, fault.why) for fault in lost.faults] == [("A3", "loses the core fact")]
    also = Steps(first, "a bakery", "A4", {"A2": ("the fire",)})  # another fact of the claim changes before
    assert one(given=given, steps={"item": also}).outcome == "as claimed"
    nowhere = one(given=given, steps={"item": Steps(first, "a brewery", "A1", {})})
    assert "core" in nowhere.undecided
    of_others = one(given=given, steps={"item": Steps("another text", "a bakery", "A2", {})})
    assert faults(of_others) == []


def test_claims_that_differ_or_hold_nowhere_leave_the_core_undecided() -> None:
    nothing = one(given=texts(*different(), claims=[(False, False)] * 5))
    assert nothing.undecided["core"] == NO_CORE
    given = texts(*different(), claims=[(True,)] * 5)
    last = given[-1]
    assert last is not None
    given[-1] = replace(last, record=ClaimsRecord((), (Claim("another claim", True),)))
    assert one(given=given).undecided["core"] == OTHER_CLAIMS


def test_an_old_value_beside_the_new_one_is_a_contradiction() -> None:
    said = "Titan was found in 1655 by Huygens. Its air is mostly nitrogen. Huygens saw it in 1655 through a lens."
    changed = said.replace("in 1655 by", "in 1649 by")
    found = one(given=texts(said, changed, said.replace("1655", "1649"), f"{changed} ", f"{WORDS}"))
    assert [(fault.level, fault.why) for fault in found.faults if fault.check == "contradiction"] == [
        ("A1", "changed 1655 in one place and left it in another; also at A3")
    ]


def test_two_values_of_one_unit_contradict_each_other_only_about_one_thing() -> None:
    said = "The diameter of the moon Titan is 5,150 kilometres. Its air is mostly nitrogen."
    twice = f"{said} The diameter of Titan is 4,000 kilometres."
    apart = f"{said} A probe flew 900 kilometres above it."
    found = one(given=texts(said, twice, apart, "", ""), longer=9)
    assert [(fault.level, fault.why) for fault in found.faults if fault.check == "contradiction"] == [
        ("A1", "gives both 5,150 kilometres and 4,000 kilometres")
    ]


def test_contradictions_that_the_judge_found_count_at_their_level() -> None:
    given = texts(*different(), claims=[(True,), *[(False,)] * 4])
    text = given[2]
    assert text is not None
    assert text.record is not None
    pair = Contradiction("It opened in 1900.", "It opened in 1901.", "0.90")
    given[2] = replace(text, record=replace(text.record, contradictions=(pair,)))
    assert [(fault.level, fault.why) for fault in one(given=given).faults] == [
        ("A2", "says “It opened in 1900.” and “It opened in 1901.”")
    ]


def test_equal_and_nearly_equal_texts_are_found() -> None:
    said = different()
    said[2], said[4] = said[1], f"{said[3].upper()} !"
    assert [(fault.level, fault.why) for fault in one(given=texts(*said)).faults] == [
        ("A2", "has the text of A1"),
        ("A4", "has nearly the text of A3"),
    ]
    assert len(one(given=texts(*different()), alike=0.9).faults) == 4


def test_a_much_longer_or_shorter_text_is_found() -> None:
    longer = different("", "", "", f"and {WORDS}", "")
    assert faults(one(given=texts(*longer))) == [("A3", "length")]
    shorter = [*different()[:4], "The fire began in a bakery"]
    assert faults(one(given=texts(*shorter))) == [("A4", "length")]
    assert one(given=texts(*longer), longer=1.5).outcome == "as claimed"


def test_length_by_level_and_by_system() -> None:
    rows, scores, given = [], [], []
    for item in range(8):
        for system, extra in (("long", 10), ("short", 0)):
            for at, level in enumerate(LEVELS):
                rows.append(ScoredRow(str(item), system, level))
                scores.append(FALLING[at])
                given.append(MadeText(" ".join(["word"] * (40 + extra + at)), language="en"))
    judged_by = ScoreTable(tuple(rows), (Metric("judge", "", ""),), np.array(scores)[:, None])
    found = check(judged_by, given, n_resamples=200)
    assert found.length_by_level.estimate == pytest.approx(1)
    (pair,) = found.length_by_system
    assert (pair.first, pair.second, pair.rule.larger, pair.rule.n_right) == ("long", "short", True, 40)
    assert pair.rule.p == pytest.approx(2 / 2**8)
    assert [round(level.words.estimate or 0) for level in found.levels] == [45, 46, 47, 48, 49]
    assert (
        sum("gives away" in line for line in answered(judged_by, given, n_resamples=200).all_sentences) == 2
    )


def test_lengths_of_three_systems_are_three_tests() -> None:
    rows, scores, given = [], [], []
    for item in range(8):
        for system, extra in (("a", 10), ("b", 0), ("c", 5)):
            for at, level in enumerate(LEVELS):
                rows.append(ScoredRow(str(item), system, level))
                scores.append(FALLING[at])
                given.append(MadeText(" ".join(["word"] * (40 + extra + at)), language="en"))
    lengths = answered(
        ScoreTable(tuple(rows), (Metric("judge", "", ""),), np.array(scores)[:, None]), given
    ).tables["length-by-system"]
    assert [row[-2:] for row in lengths.rows] == [pytest.approx((2 / 2**8, 3 * 2 / 2**8))] * 3
    assert "3 tests" in " ".join(lengths.notes)


def test_steps_come_from_the_ranking_and_the_groups() -> None:
    spans = tuple(Span(at, at + 1, text, "x") for at, text in enumerate(("first", "second", "third")))
    spans = (*spans[:2], replace(spans[2], start=14, end=19))
    levels = (FactualLevel("A0", "Here it is. A third stands here."),)
    trace = FactualTrace(
        "item", "rules", spans=spans, ranking=(1, 2, 0), kept=(2, 0), groups=((0,), (2,)), levels=levels
    )
    changed = {"A1": ("first",), "A2": ("third",)}
    assert steps_of(trace) == Steps(levels[0].text, "third", "A2", changed, "A third stands here.")
    assert steps_of(replace(trace, groups=((), ()))) is None


def test_claims_that_return_tell_how_noisy_the_judge_is() -> None:
    claims = [
        (True, True, False),
        (False, True, False),
        (True, False, False),
        (False, False, True),
        (False, False, False),
    ]
    file = table({"item": FALLING})
    found = check(file, texts(*different(), claims=claims), n_resamples=0)
    # 12 steps, of which two claims fell for good; the first and the third claim return once.
    assert found.returns == Returns(2, 10)
    assert found.returns.noise == pytest.approx((1 - 0.2**0.5) / 2)
    told = answered(file, texts(*different(), claims=claims), n_resamples=0)
    assert any("do not judge single items" in line for line in told.all_sentences)
    assert told.json["returns"] == {"count": 2, "n": 10, "noise": found.returns.noise}
    assert check(file, texts(*different()), n_resamples=0).returns is None
    damage = table({"item": FALLING}, ("0", "1", "2", "3", "4"))
    assert check(damage, texts(*different(), claims=claims), n_resamples=0).returns is None


def test_texts_are_found_by_their_row() -> None:
    outputs = [
        ScorableOutput("1", "s", "one", level="A0", labels={"seed": "1"}),
        ScorableOutput("1", "s", "two", level="A1", labels={"seed": "1"}),
    ]
    rows = [ScoredRow("1", "s", "A1"), ScoredRow("1", "s", "A0"), ScoredRow("2", "s", "A0")]
    found = texts_for(rows, plain_texts(outputs))
    assert [None if text is None else text.text for text in found] == ["two", "one", None]


def test_options_out_of_range_are_refused_together() -> None:
    for wrong in (
        {"tolerance": 1, "alike": 0, "longer": 0},
        {"tolerance": -1, "longer": float("nan"), "alike": 2},
    ):
        with pytest.raises(InputError) as refused:
            MadeOptions.checked(wrong)
        assert len(refused.value.problems) == 3
    with pytest.raises(InputError):
        scored_levels(table({"item": FALLING}), Made(), metric="unknown")
    with pytest.raises(InputError):
        check(table({"item": (1.0,)}, ("A0",)), [None])


def judged(outputs: Sequence[ScorableOutput]) -> tuple[ScoreTable, list[MadeText | None]]:
    """Scores and claims of texts by the rules of the claims judge."""
    judge = ClaimsJudge(RuleDecomposer("low"), RuleVerifier(), ClaimsSettings(verifier="rules"))
    rows, scores, found = [], [], []
    for output in outputs:
        said = asyncio.run(judge.judge(RatedText(output)))
        rows.append(ScoredRow(output.item_id, output.system, output.level, output.language))
        scores.append([np.nan if score.value is None else score.value for score in said.scores])
        found.append(MadeText(output.text, output.reference, output.source, output.language, said.record))
    names = ClaimsSettings().columns()
    return ScoreTable(tuple(rows), tuple(Metric(name, "", "claims") for name in names), np.array(scores)), [
        *found
    ]


@pytest.fixture(scope="module")
def demo() -> tuple[ScorableOutput, ...]:
    return read_texts(DEMO.read_bytes(), DEMO.name).outputs


@pytest.fixture(scope="module")
def of_demo(demo: tuple[ScorableOutput, ...]) -> MadeLevels:
    return check(*judged(demo), n_resamples=200)


def test_the_demo_by_rules(of_demo: MadeLevels) -> None:
    assert of_demo.counts == {"as claimed": 22, "remake": 3, "undecided": 3}
    found = {(each.item_id, each.system): faults(each) for each in of_demo.sets if each.faults}
    assert found == {
        ("d07", "handwritten"): [("A3", "contradiction")],  # Athens stands beside its replacement
        ("d07", "pipeline"): [("A1", "contradiction")],
        ("d10", "pipeline"): [("A4", "core")],
    }
    assert of_demo.remake_items == ("d07", "d10")
    assert [round(level.score.estimate or 0, 2) for level in of_demo.levels] == [0.52, 0.29, 0.12, 0.05, 0.02]


def test_tables_and_json_agree_with_the_result(demo: tuple[ScorableOutput, ...], of_demo: MadeLevels) -> None:
    answer = answered(*judged(demo), n_resamples=200)
    (verdict,) = answer.verdicts
    assert verdict.code == "remake"
    assert [(row[0], row[1], row[2], row[-1]) for row in answer.tables["made-levels"].rows] == [
        (each.item_id, each.system, fault.level, fault.check)
        for each in of_demo.sets
        for fault in each.faults
    ]
    assert [row[-1] for row in answer.tables["levels-made"].rows] == [0, 1, 0, 1, 1]
    assert len(answer.tables["length-by-system"].rows) == 1
    assert len(answer.tables["items-made"].rows) == 28
    assert answer.json["counts"] == {"as claimed": 22, "remake": 3, "undecided": 3}
    assert [len(each["faults"]) for each in answer.json["items"]] == [
        len(each.faults) for each in of_demo.sets
    ]
    assert answer.json["monotonic"]["n"] == 25


PLANTED: tuple[Check, ...] = ("scores", "core", "length", "equal", "contradiction")


def planted(outputs: Sequence[ScorableOutput]) -> list[ScorableOutput]:
    """The demo's texts with one fault in each item of each system, each fault in every fifth of them."""
    texts_of = {(each.item_id, each.system, each.level): each.text for each in outputs}
    faults_of = {
        key: PLANTED[at % 5] for at, key in enumerate(dict.fromkeys((o.item_id, o.system) for o in outputs))
    }
    changed = []
    for each in outputs:
        key, level, text = (each.item_id, each.system), each.level, each.text
        best = texts_of[*key, "A0"]
        match faults_of[key], level:
            case "scores", ("A0" | "A3"):
                text = texts_of[*key, "A3" if level == "A0" else "A0"]
            case "core", "A4":
                text = best
            case "length", "A2":
                text = f"{text} {' '.join(text.split()[:40])}"
            case "equal", "A2":
                text = texts_of[*key, "A1"]
            case "contradiction", _:  # the best level's text stands behind every level
                text = f"{text} {best}"
        changed.append(replace(each, text=text))
    return changed


def test_planted_faults_are_found_in_the_demo(demo: tuple[ScorableOutput, ...]) -> None:
    told = check(*judged(planted(demo)), n_resamples=0)
    found: dict[Check, list[bool | None]] = {fault: [] for fault in PLANTED}
    for at, each in enumerate(told.sets):
        fault = PLANTED[at % 5]
        hit = any(one.check == fault for one in each.faults)
        found[fault].append(None if fault in each.undecided else hit)
    # Undecided: rules support no claim in these two sets, so that all scores are equal.
    assert {
        fault: (hits.count(True), hits.count(False), hits.count(None)) for fault, hits in found.items()
    } == {
        "scores": (5, 0, 1),
        "core": (5, 0, 1),
        "length": (6, 0, 0),
        "equal": (5, 0, 0),
        "contradiction": (5, 0, 0),
    }


def test_the_figure_crosses_the_texts_to_remake(of_demo: MadeLevels) -> None:
    figure = plots.made_levels(of_demo)
    crosses = [trace for trace in figure.data if trace.mode == "markers"]
    assert [list(trace.x) for trace in crosses] == [["A3", "A1", "A4"]] * 2
    assert list(crosses[0].y) == [0.0, 0.5, 0.0]
    means = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert list(means[0].y) == [level.score.estimate for level in of_demo.levels]
    hostile = replace(of_demo.sets[0], item_id='<a href="http://outside.invalid">x</a>')
    faulty = replace(hostile, faults=(Fault("A1", "equal", "has the text of <b>A0</b>"),))
    drawn = plots.made_levels(replace(of_demo, sets=(faulty,)))
    assert not any("<a" in said or "<b>" in said for trace in drawn.data for said in trace.text or ())


@pytest.mark.shared
def test_the_published_study(shared_data: Path) -> None:
    file = shared_data / "assessment-dataset.json"
    told = check(*judged(read_texts(file.read_bytes(), file.name).outputs), n_resamples=0)
    assert len(told.sets) == 40
    assert {each.item_id for each in told.sets if ("A1", "scores") in faults(each)} == {"1"}
    assert told.counts["undecided"] >= 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell", [("claims", 10, 0.05, "none"), ("score", 10, 0.5, "none"), ("claims", 5, 0.1, "core kept")]
)
def test_rates_agree_with_the_stored_table(cell: tuple[str, int, float, str]) -> None:
    stored, again = read(GRID)[cell], cell_measures(GRID, cell, replicates=15)
    assert again["called_wrong"] == pytest.approx(
        stored["called_wrong"], abs=0.09
    )  # four standard errors of 300 items
    if cell[0] == "claims":
        assert again["noise_seen"] == pytest.approx(cell[2], abs=0.02)


def test_a_perfect_judge_accuses_no_right_item() -> None:
    for cell in (("claims", 5, 0.0, "none"), ("score", 10, 0.1, "none")):
        assert cell_measures(GRID, cell, replicates=2)["called_wrong"] == 0
    for cell in (("claims", 5, 0.0, "levels swapped"), ("claims", 5, 0.0, "core kept")):
        assert cell_measures(GRID, cell, replicates=2)["called_wrong"] == 1
