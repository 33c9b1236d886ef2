"""The bias audit: numbers by hand, exact handling of what does not vary, and error rates on scripted judges."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.texts.score_factories import metric, table
from scipy.stats import permutation_test, ttest_1samp
from statsmodels.stats.power import TTestPower

from core.analyses.bias import ANALYSIS, Bias, BiasOptions
from core.errors import InputError
from core.formats.registry import read_texts
from core.generation.twins import BY_RULES
from core.judges.pairwise import ORDERS, PairTrial, PairwiseRecord
from core.judges.rubric import RubricRecord, RubricTrial
from core.judges.twins import TwinSettings, plan_twins, twin_by_rules, twin_outputs
from core.llm.families import alike_note
from core.results.judges.bias import (
    CONSTANT,
    NO_GAP,
    NO_UNEDITED,
    NOTHING,
    ONLY_TIES,
    BiasAudit,
    Effect,
    bias_audit,
    detectable_change,
)
from core.results.judges.consistency import ORDER_MISSING
from core.results.judges.pairwise import pairs_report
from core.schema.analysis import Answer
from core.schema.panel import JudgedTables, TextBeside
from core.schema.scores import (
    EDIT,
    EDITED_BY,
    NO_EDIT,
    PAIR,
    ROLE,
    JudgedText,
    JudgeOutput,
    Metric,
    ScorableOutput,
    ScoredRow,
    ScoreTable,
)
from core.stats.multiplicity import corrected
from core.stats.resampling import sign_flip_p
from scripts.simulations import cell_measures, read
from scripts.simulations.bias import GRID, LEVELS, PROBES, rows_of_twins, scored

DEMO = Path(__file__).resolve().parents[2] / "data" / "demo" / "answers.csv"


def scores_of(
    items: Mapping[str, tuple[float | None, float | None, float | None]],
    probe: str = "padding",
    **fields: Any,
) -> ScoreTable:
    """Item -> scores of better, worse and edited better text; the opponent scores as before."""
    rows = []
    for item, (better, worse, edited) in items.items():
        for role, score in (("better", better), ("worse", worse)):
            labels = {PAIR: "none", EDIT: "none", ROLE: role}
            rows.append((ScoredRow(item, "s", LEVELS[role], labels=labels), score))
        for role, edit, score in (("better", probe, edited), ("worse", "none", worse)):
            labels = {PAIR: probe, EDIT: edit, ROLE: role}
            rows.append((ScoredRow(item, "s", LEVELS[role], labels=labels), score))
    found: ScoreTable = table(rows, [metric("m", **fields)])
    return found


def answered(*tables: ScoreTable, texts: tuple[TextBeside, ...] = (), changes: int = 10) -> Answer:
    """The answer on tables of scores that no judge's run gave."""
    return ANALYSIS.answer(BiasOptions(changes=changes), JudgedTables(tables, (None,) * len(tables), texts))


def only(found: BiasAudit, probe: str = "padding") -> Effect:
    return next(one for one in found.effects if one.probe == probe)


BY_HAND = {f"q{at}": (4.0, 2.0, 4.0 + change) for at, change in enumerate((1, 1, 0, -1, 1, 1, 0, 1, 1, 1))}


def test_one_probe_by_hand() -> None:
    found = only(bias_audit(scores_of(BY_HAND)))
    changes = np.array([1, 1, 0, -1, 1, 1, 0, 1, 1, 1])
    assert found.change.estimate == pytest.approx(0.6)
    by_t = ttest_1samp(changes, 0).confidence_interval(0.95)
    assert (found.change.low, found.change.high) == pytest.approx((by_t.low, by_t.high))
    assert found.error == pytest.approx(changes.std(ddof=1) / np.sqrt(10))
    # Eight items differ, seven of them upwards: 2 (8 + 1) / 2^8.
    assert found.p == pytest.approx(18 / 256)
    assert found.of_gap.estimate == pytest.approx(0.3), "the made difference is 2"
    assert found.flips.estimate == 0
    assert found.scale == 3
    assert (found.verdict, found.favours) == ("underpowered", "")


def test_a_lower_score_that_is_better_is_turned() -> None:
    turned = {item: tuple(-x if x is not None else None for x in own) for item, own in BY_HAND.items()}
    found, same = only(bias_audit(scores_of(turned, direction="lower"))), only(bias_audit(scores_of(BY_HAND)))  # type: ignore[arg-type]
    assert (found.change, found.of_gap, found.p) == (same.change, same.of_gap, same.p)
    moved = bias_audit(scores_of(turned, direction="lower")).changes[0]  # type: ignore[arg-type]
    assert (moved.before, moved.after, moved.change) == (-4, -5, 1), "scores as the judge gives them"


def test_the_order_of_a_pair_turns_wholly_or_by_half() -> None:
    given = {"a": (3.0, 2.0, 1.0), "b": (3.0, 2.0, 2.0), "c": (3.0, 2.0, 2.5), "d": (2.0, 2.0, 2.0)}
    found = bias_audit(scores_of(given))
    assert only(found).flips.estimate == pytest.approx(1.5 / 4)
    assert {one.row.item_id: one.flips for one in found.changes} == {"a": 1, "b": 0.5, "c": 0}, "no change: d"
    assert [one.row.item_id for one in found.changes] == ["a", "b", "c"], "largest change first"


def test_the_share_of_the_gap_is_one_where_an_edit_closes_it() -> None:
    closed = {f"q{at}": (1.0, 0.0, 1.0) for at in range(12)}
    lifted = bias_audit(_worse_edited(scores_of(closed), 1.0))
    assert only(lifted).of_gap.estimate == pytest.approx(1)
    # Verdicts: from a lost pair to a tie. Both scores move, so half a verdict closes the gap.
    tied = bias_audit(_worse_edited(scores_of(closed), 0.5, opponent=0.5))
    assert only(tied).change.estimate == 0.5
    assert only(tied).of_gap.estimate == pytest.approx(1)


def _worse_edited(given: ScoreTable, score: float, opponent: float = 1.0) -> ScoreTable:
    """The same pairs with the worse text edited."""
    rows, values = list(given.rows), given.values.copy()
    for at, row in enumerate(rows):
        if row.labels[PAIR] == "padding":
            edited = row.labels[ROLE] == "worse"
            rows[at] = replace(row, labels={**row.labels, EDIT: "padding" if edited else "none"})
            values[at] = score if edited else opponent
    return replace(given, rows=tuple(rows), values=values)


def test_what_does_not_vary_is_handled_exactly() -> None:
    same = only(bias_audit(scores_of({f"q{at}": (4.0, 2.0, 4.0) for at in range(40)})))
    assert (same.verdict, same.p, same.change.estimate) == ("no bias found", 1.0, 0.0)
    assert same.change.interval_reason is not None
    # If 7.2 % of all items change, at least one of 40 does so with a chance of 95 %.
    assert same.detectable == pytest.approx((1 - 0.05 ** (1 / 40)) * 2)
    few = only(bias_audit(scores_of({f"q{at}": (4.0, 2.0, 4.0) for at in range(20)})))
    assert few.verdict == "underpowered"
    all_up = only(bias_audit(scores_of({f"q{at}": (4.0, 2.0, 5.0) for at in range(8)})))
    assert (all_up.verdict, all_up.favours, all_up.p) == ("biased", "edited", 2 / 2**8)
    too_few = only(bias_audit(scores_of({f"q{at}": (4.0, 2.0, 5.0) for at in range(4)})))
    assert (too_few.verdict, too_few.p) == ("underpowered", 0.125)
    one = only(bias_audit(scores_of({"q": (4.0, 2.0, 5.0)})))
    assert (one.verdict, one.detectable, one.p) == ("underpowered", None, 1.0)


def test_undefined_has_a_reason_and_what_is_left_out_is_counted() -> None:
    constant = only(bias_audit(scores_of({f"q{at}": (3.0, 3.0, 3.0) for at in range(9)})))
    assert (constant.verdict, constant.reason, constant.p, constant.change.estimate) == (
        "undefined",
        CONSTANT,
        None,
        None,
    )
    given = scores_of(
        {"a": (None, 1.0, 2.0), "b": (2.0, 1.0, None), "c": (2.0, None, 1.0), "d": (2.0, 1.0, 2.0)}
    )
    given = replace(given, reasons={(6, 0): "timeout"})
    found = only(bias_audit(given))
    assert found.left_out == {"unedited text: no score": 1, "edited text: timeout": 1}
    assert (found.change.n, found.change.n_left_out, found.flips.n) == (2, 2, 1)
    backwards = only(bias_audit(scores_of({f"q{at}": (1.0, 2.0, 1.5) for at in range(12)})))
    assert backwards.of_gap.reason == NO_GAP
    alone = [(ScoredRow("q", "s", "A0", labels={EDIT: "padding"}), 1.0), (ScoredRow("q", "s", "A3"), 0.0)]
    none = only(bias_audit(table(alone)))
    assert (none.verdict, none.reason, none.left_out) == ("undefined", NOTHING, {NO_UNEDITED: 1})


def test_scores_without_twins_or_orders_are_refused() -> None:
    with pytest.raises(InputError, match="no edited text"):
        bias_audit(table([(ScoredRow("q", "s", "A0"), 1.0)]))
    with pytest.raises(InputError) as wrong:
        BiasOptions.checked(
            {"limit": 0, "alpha": 1, "confidence_level": 2, "rng": -1, "changes": -1}, ANALYSIS.refusal
        )
    assert len(wrong.value.problems) == 5


def test_twins_that_name_their_editor_have_the_same_pairs_and_a_judge_like_it_is_warned_about() -> None:
    rows = rows_of_twins(20)
    named = [
        replace(row, labels={**row.labels, EDITED_BY: "org/qwen-7b"}) if row.labels[EDIT] != NO_EDIT else row
        for row in rows
    ]
    plain = scored(rows, "continuous", np.random.default_rng(1), noise=0.3)
    assert bias_audit(replace(plain, rows=tuple(named))).effects == bias_audit(plain).effects
    assert alike_note("qwen-7b", named) is not None
    assert alike_note("qwen-7b", rows) is None


def test_each_system_of_an_item_has_its_own_pair() -> None:
    both = scores_of(BY_HAND)
    other = [replace(row, system="t") for row in both.rows]
    given = replace(both, rows=(*both.rows, *other), values=np.vstack([both.values, both.values]))
    found = only(bias_audit(given))
    assert (found.change.n, found.change.n_clusters, found.flips.n) == (20, 10, 20)
    assert found.p == pytest.approx(18 / 256), "items are flipped, not texts"


def test_sign_flips_are_scipys() -> None:
    given = np.random.default_rng(3).normal(0.3, 1, size=11)
    by_scipy = permutation_test((given,), np.mean, permutation_type="samples", n_resamples=9_999)
    assert sign_flip_p(given, np.arange(11)) == pytest.approx(by_scipy.pvalue)
    many = np.random.default_rng(4).normal(0.2, 1, size=60)
    drawn = permutation_test((many,), np.mean, permutation_type="samples", n_resamples=9_999, rng=1)
    assert sign_flip_p(many, np.arange(60)) == pytest.approx(drawn.pvalue, abs=0.02)
    clustered = sign_flip_p([1, -1, 1, 1, 1, 0], ["a", "a", "b", "b", "c", "d"])
    assert clustered == 0.5, "two items differ, both upwards"
    assert sign_flip_p([], []) is None
    assert sign_flip_p([1e-15, -1e-15, 0], [0, 1, 2]) == 1


@pytest.mark.parametrize("n", [12, 40, 200])
def test_the_smallest_detectable_change_has_the_power_of_a_t_test(n: int) -> None:
    least = detectable_change(1 / np.sqrt(n), n, 10.0, n_tests=6)
    power = TTestPower().power(effect_size=least, nobs=n, alpha=0.05 / 6)
    assert power == pytest.approx(0.8, abs=0.02)
    with pytest.raises(ValueError, match="at least 2"):
        detectable_change(0.1, 1, 1.0)


def test_p_is_corrected_over_the_probes_of_a_judge() -> None:
    found = bias_audit(scored(rows_of_twins(30), "continuous", np.random.default_rng(1), noise=0.3)).effects
    assert [one.p_corrected for one in found] == corrected([one.p for one in found], "benjamini-hochberg")


# --- position ----------------------------------------------------------------------------------


def judged(
    records: Mapping[tuple[str, str], Any], kind: str, **settings: object
) -> tuple[ScoreTable, JudgeOutput]:
    """(item, system) -> record."""
    own = Metric("j", "Made|score:verdict", "Made")
    texts = tuple(
        JudgedText(ScoredRow(item, system), "text", None, None, {"j": 0.5}, {}, record)
        for (item, system), record in records.items()
    )
    output = JudgeOutput("j", kind, "m", settings, (own,), texts)
    scores = ScoreTable(
        tuple(text.row for text in texts), (own,), np.full((len(texts), 1), 0.5), file_name="run:1"
    )
    return scores, output


def pair(item: str, first: str, second: str) -> dict[tuple[str, str], PairwiseRecord]:
    """Both records of a comparison of systems a and b: the verdicts with a first, and with b first."""
    seen = {"a": "own", "b": "other"}, {"a": "other", "b": "own"}
    own = [seen[0].get(one, one) for one in (first, second)]
    other = [seen[1].get(one, one) for one in (first, second)]
    return {
        (item, "a"): PairwiseRecord(
            (
                PairTrial(against="b", order="own-first", repeat=0, verdict=own[0]),
                PairTrial(against="b", order="other-first", repeat=0, verdict=own[1]),
            )  # type: ignore[arg-type]
        ),
        (item, "b"): PairwiseRecord(
            (
                PairTrial(against="a", order="own-first", repeat=0, verdict=other[1]),
                PairTrial(against="a", order="other-first", repeat=0, verdict=other[0]),
            )  # type: ignore[arg-type]
        ),
    }


def test_a_judge_that_always_takes_the_first() -> None:
    records = {key: one for at in range(12) for key, one in pair(f"q{at}", "a", "b").items()}
    found = only(bias_audit(*judged(records, "pairwise", between="systems")), "position")
    assert (found.verdict, found.favours, found.change.estimate) == ("biased", "first", 0.5)
    assert (found.change.n, found.flips.n, found.flips.estimate) == (12, 12, 1), "each pair counts once"
    assert found.p == 2 / 2**12


def test_position_by_hand_with_ties() -> None:
    records = {
        **pair("q1", "a", "a"),
        **pair("q2", "a", "b"),
        **pair("q3", "both_good", "b"),
        **pair("q4", "a", "tie"),
    }
    scores, output = judged(records, "pairwise")
    found = only(bias_audit(scores, output), "position")
    # q1 leans to no place; q2, q3 and q4 to the first.
    assert found.change.estimate == 3.5 / 4 - 0.5
    assert found.flips.estimate == 0.75
    assert found.of_gap.estimate is None
    block = pairs_report(output, n_resamples=0).blocks[0]
    assert block.position.share_first.estimate == 0.5 + found.change.estimate, "as the report on pairs"
    assert block.same.estimate == 1 - found.flips.estimate


def test_position_leaves_out_pairs_without_a_decision() -> None:
    records = {**pair("q1", "a", "b"), **pair("q2", "a", "a"), **pair("q3", "both_good", "both_bad")}
    found = only(bias_audit(*judged(records, "pairwise")), "position")
    assert (found.change.n, found.left_out) == (2, {ONLY_TIES: 1})


def test_position_counts_each_pair_once_if_a_text_has_no_record() -> None:
    whole = {
        ("q", one): PairwiseRecord(
            tuple(
                PairTrial(
                    against=other, order=order, repeat=0, verdict="own" if order == "own-first" else "other"
                )
                for other in "abc"
                if other != one
                for order in ORDERS
            )
        )
        for one in "abc"
    }
    complete = only(bias_audit(*judged(whole, "pairwise")), "position")
    assert (complete.change.n, complete.flips.n) == (3, 3)
    stopped = only(bias_audit(*judged({**whole, ("q", "a"): None}, "pairwise")), "position")
    assert (stopped.change.n, stopped.flips.n) == (3, 3), "the other text's record has the pair as well"


def test_a_rubric_judge_that_is_lenient_when_it_reads_the_text_first() -> None:
    records = {
        (f"q{at}", "s"): RubricRecord(
            (
                RubricTrial(order="reference-first", repeat=0, verdict=3),
                RubricTrial(order="response-first", repeat=0, verdict=3 + (at > 1)),
            )
        )
        for at in range(12)
    }
    found = only(bias_audit(*judged(records, "rubric")), "position")
    assert (found.verdict, found.favours) == ("biased", "first")
    assert found.change.estimate == found.flips.estimate == pytest.approx(10 / 12)
    one_order = {("q", "s"): RubricRecord((RubricTrial(order="reference-first", repeat=0, verdict=3),))}
    with pytest.raises(InputError):
        bias_audit(*judged(one_order, "rubric"))
    both = {**one_order, **records}
    assert only(bias_audit(*judged(both, "rubric")), "position").left_out == {ORDER_MISSING: 1}


# --- error rates -------------------------------------------------------------------------------

Judge = Callable[[str, ScoredRow, np.random.Generator], float]


@pytest.fixture(scope="module")
def twins() -> tuple[ScorableOutput, ...]:
    """The demo answers with twins by rules: 28 pairs of 14 questions, of A0 and A3."""
    plan = plan_twins(read_texts(DEMO.read_bytes(), DEMO.name))
    return twin_outputs([twin_by_rules(one, TwinSettings()) for one in plan.twins])


def scored_by(twins: tuple[ScorableOutput, ...], judge: Judge, seed: int) -> ScoreTable:
    rng = np.random.default_rng(seed)
    rows = tuple(ScoredRow(one.item_id, one.system, one.level, one.language, one.labels) for one in twins)
    values = [[judge(one.text, row, rng)] for one, row in zip(twins, rows, strict=True)]
    own = Metric("scripted", "Scripted|score:verdict", "Scripted")
    return ScoreTable(rows, (own,), np.array(values), file_name="twins")


def audited(twins: tuple[ScorableOutput, ...], judge: Judge, seed: int) -> BiasAudit:
    return bias_audit(scored_by(twins, judge, seed))


def clean(text: str, row: ScoredRow, rng: np.random.Generator) -> float:
    """Sees the level with noise, on a scale of 1 to 5: a quarter of texts gets another score when read again."""
    return float(np.clip(np.round(4.5 - 0.75 * (row.labels[ROLE] == "worse") * 3 + rng.normal(0, 0.4)), 1, 5))


def loves_bold(text: str, row: ScoredRow, rng: np.random.Generator) -> float:
    """The same judge, who adds a point to what is set in bold type."""
    return min(5.0, clean(text, row, rng) + ("**" in text))


def loves_length(text: str, row: ScoredRow, rng: np.random.Generator) -> float:
    """Continuous: the quality with noise of .3, plus .006 for each letter."""
    return float(-2.0 * (row.labels[ROLE] == "worse") + rng.normal(0, 0.3) + 0.006 * len(text))


def test_a_planted_bias_is_found_in_at_least_29_of_30_runs(twins: tuple[ScorableOutput, ...]) -> None:
    for judge, probe in ((loves_bold, "formatting"), (loves_length, "lengthening")):
        found = [only(audited(twins, judge, seed), probe) for seed in range(30)]
        assert sum((one.verdict, one.favours) == ("biased", "edited") for one in found) >= 29, probe


def test_a_clean_noisy_judge_is_accused_in_at_most_10_of_100_runs(twins: tuple[ScorableOutput, ...]) -> None:
    accused = sum(
        any(one.verdict == "biased" for one in audited(twins, clean, seed).effects) for seed in range(100)
    )
    assert accused <= 10


def test_the_judge_that_was_planted_is_named(twins: tuple[ScorableOutput, ...]) -> None:
    beside = tuple(
        TextBeside(ScoredRow(one.item_id, one.system, one.level, one.language, one.labels), text=one.text)
        for one in twins
    )
    answer = answered(scored_by(twins, loves_bold, 0), texts=beside, changes=20)
    assert isinstance(answer.result, Bias)
    assert {one.probe for one in answer.result.effects} == set(BY_RULES)
    listed = [one for one in answer.result.changes if one.probe == "formatting"]
    assert listed
    assert all("**" in one.edited and "**" not in one.unedited and "{+**+}" in one.diff for one in listed)
    (verdict,) = answer.verdicts
    assert verdict.code == "biased"
    assert "formatting" in verdict.sentence.split(".")[0]


def test_two_judges_of_one_name_are_told_apart() -> None:
    found = answered(scores_of(BY_HAND), replace(scores_of(BY_HAND), file_name="run:2"))
    names = {row[0] for row in found.tables["bias"].rows}
    assert names == {"m (scores.csv)", "m (run:2)"}
    assert {one["judge"] for one in found.json["effects"]} == names
    assert len(found.verdicts) == 2
    assert set(PROBES) == set(BY_RULES)


def test_one_outlier_does_not_make_every_other_probe_clean() -> None:
    noise = np.random.default_rng(1).random((8, 3))
    given = {f"q{at}": tuple(row) for at, row in enumerate(noise.tolist())}
    table = scores_of(given)  # type: ignore[arg-type]
    usual = only(bias_audit(table))
    assert usual.verdict == "underpowered"
    table.values[0, 0] = 1000.0  # an unedited text of one item
    wild = only(bias_audit(table))
    assert wild.verdict == "underpowered"
    assert usual.scale is not None
    assert wild.scale == pytest.approx(usual.scale, rel=0.1)


def test_judges_of_one_name_in_files_of_one_name_are_told_apart() -> None:
    found = answered(scores_of(BY_HAND), scores_of(BY_HAND))
    assert len({row[0] for row in found.tables["bias"].rows}) == 2


def test_a_judge_of_the_same_family_as_a_system_is_noted() -> None:
    given = scores_of(BY_HAND)
    rows = tuple(replace(row, system="Qwen3-8B") for row in given.rows)
    signed = replace(given.metrics[0], signature="Rubric|score:verdict|model:qwen2.5-7b|backend:openai")
    assert not bias_audit(replace(given, rows=rows)).notes
    found = answered(replace(given, rows=rows, metrics=(signed,)))
    (note,) = found.json["notes"]
    assert "Qwen3-8B" in note
    assert note in found.tables["bias"].notes


@pytest.mark.slow
@pytest.mark.parametrize("cell", [("verdicts", 40, 0.2), ("rubric", 20, 0.2), ("continuous", 20, 0.5)])
def test_the_stored_simulation_again(cell: Any) -> None:
    stored, again = read(GRID)[cell], cell_measures(GRID, cell, replicates=60)
    for name in ("accused", "underpowered", "found_half", "found_whole", "cleared_half"):
        was, now = stored[name], again[name]
        assert was is not None
        assert now is not None
        assert abs(now - was) < 4 * np.sqrt(max(was * (1 - was), 0.02) * (1 / 30 + 1 / 100)), name
    assert again["detectable"] == pytest.approx(stored["detectable"], rel=0.15)
