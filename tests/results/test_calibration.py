"""An evaluator against raters: worked out by hand, and beside scikit-learn, statsmodels and krippendorff."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, stdev

import krippendorff
import numpy as np
import pytest
from helpers.texts.calibrations import answered
from helpers.texts.score_factories import ratings as rating_set
from helpers.texts.score_factories import table
from sklearn.metrics import f1_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as their_fleiss

from core.analyses.calibrate import CalibrateOptions
from core.analyses.calibrate.filling import NOT_APPLICABLE
from core.analyses.calibrate.rows import STATISTICS as DECLARED
from core.errors import InputError
from core.formats.registry import read_ratings, read_scores
from core.joining.tables import OTHER_ITEM
from core.report import csv_of, flat_rows, headings
from core.results.calibration.cells import (
    MIXED,
    NO_CLASSES,
    NO_MAJORITY,
    NOT_WHOLE,
    OTHER_SCALE,
    STATISTICS,
    Evaluator,
    evaluators_of,
)
from core.results.calibration.results import (
    advice,
    calibrate,
    columns_to_group_by,
    macro_averaged,
    maps_of,
    verdict_of,
)
from core.schema.scale import NOT_DECLARED, DeclaredScale, declared_scale
from core.schema.scores import Rating, RatingSet, ScoredRow, ScoreTable
from core.schema.study import Dimension
from core.stats.agreement import ONE_CATEGORY, gwet_ac1

QUICK = CalibrateOptions(majority="middle", n_resamples=200)
VOTES = ((2, 2, 2), (2, 2, 1), (2, 1, 0), (0, 0, 0), (1, 1, 2), (2, 2, 2))
"""Agree, two agree, none, agree, two agree, agree: majorities 2 2 1 0 1 2."""
SAID = (2, 2, 2, 1, 1, 2)


def given(
    votes: Sequence[Sequence[float | None]],
    said: Sequence[float | None],
    dimension: str = "LA",
    language: str = "cs",
    task: str = "summary",
) -> tuple[list[Rating], list[tuple[ScoredRow, float | None]]]:
    rated = [
        Rating(f"i{n}", score, "s", None, f"r{who}", dimension, language, {"task": task})
        for n, scores in enumerate(votes)
        for who, score in enumerate(scores)
        if score is not None
    ]
    return rated, [
        (ScoredRow(f"i{n}", "s", None, language, {"task": task}), score) for n, score in enumerate(said)
    ]


def compared(
    votes: Sequence[Sequence[float | None]] = VOTES,
    said: Sequence[float | None] = SAID,
    options: CalibrateOptions = QUICK,
    *,
    dimensions: tuple[Dimension, ...] = (),
    scale: DeclaredScale = NOT_DECLARED,
):
    people, found = both(votes, said)
    (evaluator,) = evaluators_of(found, people)
    return calibrate(people, found, evaluator, options, dimensions=dimensions, scale=scale)


def both(
    votes: Sequence[Sequence[float | None]] = VOTES,
    said: Sequence[float | None] = SAID,
    name: str = "judge-LA",
) -> tuple[RatingSet, ScoreTable]:
    rated, scored = given(votes, said)
    return rating_set(*rated), table(scored, [name])


def test_by_hand() -> None:
    found = compared()
    (cell,) = found.cells
    assert found.evaluator == "judge"
    assert dict(cell.group) == {"language": "cs", "task": "summary", "dimension": "LA"}
    assert (cell.n, cell.n_items, cell.n_raters, cell.classes) == (6, 6, 3, (0.0, 1.0, 2.0))
    exact = {
        "raters_agreement": 3 / 6,
        "agreement": 4 / 6,
        "bias": 4 / 6 - 3 / 6,
        "top_majority": 3 / 6,
        "top_evaluator": 4 / 6,
        "bias_agreed": 0.0,
        "bias_disagreed": 1 / 3,
        # raters' shares with the evaluator's class minus agreeing pairs, text by text
        "gap": mean([0, 2 / 3 - 1 / 3, 1 / 3 - 0, 0 - 1, 2 / 3 - 1 / 3, 0]),
    }
    for name, value in exact.items():
        assert cell.statistics[name].estimate == pytest.approx(value), name
    kinds = {one.kind: one for one in cell.distributions}
    assert (kinds["full"].majority, kinds["full"].evaluator) == ((1, 0, 2), (0, 1, 2))
    assert (kinds["partial"].majority, kinds["partial"].evaluator) == ((0, 1, 1), (0, 1, 1))
    assert (kinds["none"].majority, kinds["none"].evaluator) == ((0, 1, 0), (0, 0, 1))


def test_beside_other_implementations() -> None:
    rng = np.random.default_rng(4)
    votes = rng.integers(0, 3, size=(50, 3))
    votes[:30] = votes[:30, :1]
    said = np.where(rng.random(50) < 0.7, np.median(votes, axis=1), rng.integers(0, 3, 50)).astype(int)
    cell = compared(votes.tolist(), said.tolist(), QUICK.but(majority="median")).cells[0]
    majority = np.median(votes, axis=1).astype(int)
    theirs = {
        "f1": f1_score(majority, said, average="weighted"),
        "raters_kappa": their_fleiss(aggregate_raters(votes, n_cat=3)[0]),
        "kappa": their_fleiss(aggregate_raters(np.column_stack([majority, said]), n_cat=3)[0]),
        "raters_alpha": krippendorff.alpha(reliability_data=votes.T * 1.0, level_of_measurement="ordinal"),
        "alpha": krippendorff.alpha(
            reliability_data=np.array([majority, said]) * 1.0, level_of_measurement="ordinal"
        ),
    }
    for name, value in theirs.items():
        found = cell.statistics[name]
        assert found.estimate == pytest.approx(value, abs=1e-12), name
        assert found.low < found.estimate < found.high


def test_what_becomes_of_split_raters() -> None:
    votes = ((2, 2, 2), (0, 1, 2), (0, 0, 1))
    for rule, n in (("middle", 3), ("median", 3), ("drop", 2)):
        cell = compared(votes, (2, 1, 0), QUICK.but(majority=rule)).cells[0]
        assert cell.statistics["agreement"].n == n
        assert cell.statistics["raters_agreement"].n == 3
        assert cell.left_out == ({NO_MAJORITY["drop"]: 1} if n == 2 else {})


def cells_of_two() -> tuple[RatingSet, ScoreTable, Evaluator]:
    """One language where kappa is 1, one where everybody always says 1 and it is undefined."""
    rated, scored = given(((1, 1), (0, 0), (1, 1), (0, 0)), (1, 0, 1, 0), "H")
    more, others = given(((1, 1), (1, 1)), (1, 1), "H", "ja")
    made = table([*scored, *others], ["judge-H"])
    people = rating_set(*rated, *more)
    return people, made, evaluators_of(made, people)[0]


def test_undefined_kappas_are_shown_and_enter_means_as_asked() -> None:
    people, made, evaluator = cells_of_two()
    found = calibrate(people, made, evaluator, QUICK)
    czech, japanese = found.cells
    assert czech.statistics["kappa"].estimate == 1
    assert japanese.statistics["kappa"].estimate is None
    assert japanese.statistics["kappa"].reason == ONE_CATEGORY
    assert japanese.statistics["ac1"].estimate == 1
    over_all = macro_averaged(found)[0]
    assert (over_all.statistics["kappa"].mean, over_all.statistics["kappa"].n_undefined) == (1.0, 1)
    paper = replace(found, options=QUICK.but(paper_kappa=True))
    as_zero = macro_averaged(paper)[0].statistics["kappa"]
    assert (as_zero.mean, as_zero.sd) == (0.5, pytest.approx(stdev([1.0, 0.0])))
    assert as_zero.as_zero
    assert [dict(one.group) for one in macro_averaged(found)] == [{}, {"language": "cs"}, {"language": "ja"}]
    (pooled,) = found.by_dimension
    assert (pooled.n, pooled.statistics["agreement"].estimate) == (6, 1.0)


def test_classes_of_the_task_and_scores_between_them() -> None:
    """A mean of repeats counts as the nearest class, of two as the lower; beyond the classes nothing is a class."""
    scale = (Dimension("LA", "", "", 0, 2),)
    rated, scored = given(((1, 1), (2, 2), (1, 1)), (1.5, 1.6, 1.2))
    people, made = rating_set(*rated), table(scored, ["judge-LA"])
    (evaluator,) = evaluators_of(made, people)
    found = calibrate(people, made, evaluator, QUICK, dimensions=scale)
    assert found.cells[0].classes == (0.0, 1.0, 2.0)
    assert found.cells[0].statistics["agreement"].estimate == 1
    assert any("3 scores of the evaluator" in note for note in found.notes)
    beyond = calibrate(
        people,
        replace(made, values=made.values * 30),
        evaluator,
        QUICK,
        dimensions=scale,
    ).cells[0]
    assert (beyond.classes, beyond.statistics["error"].reason) == ((), OTHER_SCALE)
    assert "outside the classes 0, 1, 2" in beyond.why_numbers


def test_a_task_with_many_classes_is_one_of_numbers() -> None:
    """0 to 100 in ones: kappas of 101 classes say nothing, and their tables would fill the memory."""
    cell = compared(dimensions=(Dimension("LA", "", "", 0, 100),)).cells[0]
    assert (cell.classes, cell.why_numbers) == ((), "the task offers more than 11 classes")
    assert cell.statistics["error"].estimate == pytest.approx((0 + 1 / 3 + 1 + 1 + 1 / 3 + 0) / 6)
    assert len(compared(dimensions=(Dimension("LA", "", "", 0, 10),)).cells[0].classes) == 11


def test_a_crowd_of_raters_is_told_why_it_has_no_f1() -> None:
    cell = compared(((0, 1) * 7, (1, 1) * 7), (0, 1)).cells[0]
    assert cell.statistics["raters_f1"].estimate is None
    assert cell.statistics["raters_f1"].reason == (
        "too many raters: F1 between raters is computed only for up to 12 raters"
    )


def test_numbers_have_correlations_and_errors() -> None:
    rated, scored = given(((90.5, 80), (10, 20), (50, 50), (70, 60)), (85.25, 15, 40, 75), "overall")
    people, made = rating_set(*rated), table(scored, ["judge"])
    (evaluator,) = evaluators_of(made, people)
    cell = calibrate(people, made, evaluator, QUICK).cells[0]
    assert (cell.classes, cell.why_numbers) == ((), NOT_WHOLE)
    assert cell.statistics["error"].estimate == pytest.approx((0 + 0 + 10 + 10) / 4)
    assert cell.statistics["spearman"].estimate == 1
    assert "kappa" not in cell.statistics


def test_dimensions_with_different_classes_are_not_put_together() -> None:
    rated, scored = given(VOTES, SAID)
    more, others = given(((1, 1), (0, 0)), (1, 0), "H")
    made = table([(row, (score, None)) for row, score in scored], ["judge-LA", "judge-H"])
    made.values[:2, 1] = [score for _, score in others]
    people = rating_set(*rated, *more)
    (evaluator,) = evaluators_of(made, people)
    found = calibrate(people, made, evaluator, QUICK)
    assert (found.pooled.why_numbers, dict(found.pooled.statistics)) == (MIXED, {})
    by_language = calibrate(people, made, evaluator, QUICK, group_by=["language"])
    assert by_language.cells[0].why_numbers == MIXED
    assert "group by dimension" in verdict_of(by_language.cells[0]).reasons[-1]
    assert len(found.by_dimension) == 2


def test_which_column_says_what() -> None:
    rated, _ = given(VOTES, SAID)
    people = rating_set(*rated, *given(((1, 1),), (1,), "H")[0])
    one = [(ScoredRow("i0", "s"), (1.0, 1.0, 1.0))]
    assert [
        (found.name, dict(found.columns))
        for found in evaluators_of(table(one, ["a-la", "b-H", "a-H"]), people)
    ] == [("a", {"LA": "a-la", "H": "a-H"}), ("b", {"H": "b-H"})]
    bare = table(one, ["x", "y", "z"])
    with pytest.raises(InputError, match="could be matched with a rated dimension"):
        evaluators_of(bare, people)
    assert [found.name for found in evaluators_of(bare, people, dimension="H")] == ["x", "y", "z"]
    asked = evaluators_of(bare, people, run_dimension="H")
    assert [dict(found.columns) for found in asked] == [{"H": "x"}, {"H": "y"}, {"H": "z"}]
    with pytest.raises(InputError, match="the one dimension"):
        evaluators_of(bare, people, run_dimension="mqm")
    (named,) = evaluators_of(bare, people, columns={"x": "LA", "z": "H"})
    assert dict(named.columns) == {"LA": "x", "H": "z"}
    with pytest.raises(InputError, match="column of scores"):
        evaluators_of(bare, people, columns={"q": "LA"})
    with pytest.raises(InputError, match="dimension"):
        evaluators_of(bare, people, dimension="TQ")


def test_unscored_texts_and_ratings_of_other_items_are_counted() -> None:
    rated, scored = given(VOTES, (2, None, 2, 1, 1, 2))
    stranger = Rating("elsewhere", 1, "s", None, "r0", "LA", "cs", {"task": "summary"})
    made = table(scored, ["judge-LA"], reasons={(1, 0): "quality: cut off"})
    people = rating_set(*rated, stranger)
    found = calibrate(people, made, evaluators_of(made, people)[0], QUICK)
    assert (found.cells[0].n, found.cells[0].left_out) == (5, {"quality: cut off": 1})
    assert found.left_out == {OTHER_ITEM: 1}
    more = rating_set(*people.ratings, *given(((1, 1),), (1,), "H")[0])
    found = calibrate(more, made, evaluators_of(made, more)[0], QUICK)
    assert found.left_out == {OTHER_ITEM: 1, "no column of scores on H": 2}
    asked = evaluators_of(made, more, dimension="LA")[0]
    assert calibrate(more, made, asked, QUICK).left_out == {OTHER_ITEM: 1}
    with pytest.raises(InputError, match="column to group by"):
        calibrate(people, made, evaluators_of(made, people)[0], QUICK, group_by=["colour"])
    assert "system" in columns_to_group_by(people, made)


def test_ratings_without_names_and_repeated_raters_are_several_raters() -> None:
    same = [Rating("i0", score, "s", rater=None, dimension="H") for score in (1, 0)]
    same += [Rating("i1", score, "s", rater="ann", dimension="H") for score in (1, 1)]
    made = table([(ScoredRow("i0", "s"), 1), (ScoredRow("i1", "s"), 1)], ["j"])
    people = rating_set(*same)
    cell = calibrate(people, made, evaluators_of(made, people)[0], QUICK).cells[0]
    assert (cell.n_raters, cell.statistics["raters_agreement"].estimate) == (4, 0.5)


def test_where_not_to_use_it() -> None:
    """A judge that always says 2 where people say 0, 1 and 2; and one that says the same as they."""
    votes = tuple((n % 3, n % 3, min(n % 3 + (n % 7 == 0), 2)) for n in range(45))
    always, right = compared(votes, (2,) * 45), compared(votes, tuple(n % 3 for n in range(45)))
    (reasons,) = [one.reasons for one in advice(always).warned]
    assert any("kappa may be 0 or below" in reason for reason in reasons)
    assert any("top class more often" in reason for reason in reasons)
    assert "should not replace people" in advice(always).sentence
    assert advice(right).warned == ()
    assert advice(right).sentence.startswith("No objection to")
    assert verdict_of(compared().cells[0]).reasons[0] == "only 6 texts from 6 items"


def test_json_and_tables() -> None:
    quick = {"majority": "middle"}
    whole = answered(*both(), averaged="pooled", **quick).json
    assert whole["agreement"]["evaluator"]["estimate"] == pytest.approx(4 / 6)
    assert whole["by_group"][0]["bias"]["raters_disagree"]["estimate"] == pytest.approx(1 / 3)
    answer = answered(*both(), **quick)
    assert answer.json["kappas"]["evaluator_fleiss"]["n_groups"] == 1
    (row,) = flat_rows(answer.tables["agreement"])
    assert tuple(DECLARED) == STATISTICS
    assert set(STATISTICS) <= set(row)
    assert row["kappa_reason"] == ""
    assert row["pearson_reason"] == NOT_APPLICABLE
    assert b"'=judge" in csv_of(answered(*both(name="=judge-LA"), **quick).tables["raters"])
    assert sum(one["majority"] for one in flat_rows(answer.tables["classes"])) == 6
    assert csv_of(answered(*both([(0.5, 0.7)], [0.3])).tables["classes"]).startswith(
        b"evaluator,group,raters_agree,"
    )


def test_tables_of_several_evaluators_name_each_and_keep_every_statistic() -> None:
    """Views of the same rows: what readers see differs, what files hold does not, but for the texts used."""
    people, made, evaluator = cells_of_two()
    other = replace(made, metrics=(replace(made.metrics[0], name="other-H"),))
    for averaged in ("macro", "pooled"):
        tables = answered(people, made, other, averaged=averaged, majority="middle").tables
        assert all("Evaluator" in headings(table) for table in tables.values())
    whole, raters = (
        [{**row, "n_used": 0} for row in flat_rows(tables[name])] for name in ("agreement", "raters")
    )
    assert whole == raters
    assert any(name.startswith("pooled-") for name in tables)
    means = flat_rows(answered(people, made, other, majority="middle").tables["means-majority"])
    summary = macro_averaged(calibrate(people, made, evaluator, QUICK))[0].statistics["kappa"]
    assert (means[0]["kappa"], means[0]["kappa_sd"], means[0]["kappa_n"], means[0]["kappa_n_left_out"]) == (
        summary.mean,
        summary.sd,
        summary.n_cells,
        summary.n_undefined,
    )


def test_the_map_predicts_unseen_items_better_than_scores_as_given() -> None:
    """The judge is one class too generous below the top: its map takes that off again."""
    truth = [n % 3 for n in range(60)]
    found = compared([(one, one, one) for one in truth], [min(one + 1, 2) for one in truth])
    one = maps_of(found)["LA"]
    assert one.error_after.estimate < one.error_before.estimate
    assert one.gain.low > 0
    assert dict(one.knots)[1.0] == pytest.approx(0.0)


@pytest.mark.parametrize("unused", [2, 3, 4])
def test_a_class_that_nobody_gave_is_on_offer(unused: int) -> None:
    """AC1 counts the classes on offer; of 1 to 5 any one may be missing from the ratings."""
    pairs = [(a, b) for a in range(1, 6) for b in range(1, 6) if unused not in (a, b)]
    cell = compared(pairs, [a for a, _ in pairs]).cells[0]
    assert cell.classes == (1, 2, 3, 4, 5)
    votes = np.array(pairs) - 1
    wanted = gwet_ac1(votes, n_categories=5, n_resamples=0).estimate
    assert cell.statistics["raters_ac1"].estimate == pytest.approx(wanted)


def test_the_declared_scale_decides_before_the_task() -> None:
    task = (Dimension("LA", "", "", 0, 2),)
    wider = compared(dimensions=task, scale=declared_scale("0-4"))
    assert wider.cells[0].classes == (0, 1, 2, 3, 4)
    listed = compared(scale=declared_scale(None, ["bad", "so so", "good"]))
    assert listed.cells[0].classes == (0, 1, 2), "words were read as numbers before"
    scores = compared(scale=declared_scale("scores")).cells[0]
    assert (scores.classes, scores.why_numbers) == ((), NO_CLASSES)
    narrow = compared(scale=declared_scale("0-1")).cells[0]
    assert narrow.classes == ()
    with pytest.raises(InputError):
        compared(scale=declared_scale("unordered"))


def test_words_of_a_file_show_the_scale() -> None:
    people = read_ratings(b"item,rater,score\nq1,a,A\nq2,a,C\nq3,a,F\n", "grades.csv")
    assert people.scales["overall"].classes == (0, 1, 2, 3, 4)
    scores = read_scores(b"item,judge\nq1,4\nq2,1\nq3,0\n", "judge.csv")
    (evaluator,) = evaluators_of(scores, people)
    assert calibrate(people, scores, evaluator, QUICK).cells[0].classes == (0, 1, 2, 3, 4)
