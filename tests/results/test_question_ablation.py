"""How much scores vary with the number of questions: both readings of a variance, worked out by hand."""

import numpy as np
import pytest
from cef_factories import answered, examined, judged, output, record

from core.analyses.ablation import ANALYSIS, NO_TEXTS, ONE_EXAMINATION, AblationOptions, AblationRow
from core.errors import InputError
from core.judges.cross_examination import CefRecord, Examination
from core.judges.questions import Verdict
from core.results.judges.consistency import AT_TEMPERATURE_0, DIFFERS_AT_TEMPERATURE_0, values_by_repeat
from core.schema.scores import JudgeOutput

Y: Verdict = "YES"
I: Verdict = "IDK"  # noqa: E741


def ablation(outputs: list[JudgeOutput]) -> tuple[AblationRow, ...]:
    rows: tuple[AblationRow, ...] = ANALYSIS.answer(AblationOptions(), outputs).result.rows
    return rows


def repeat(n: int, n_told: int, n_borne_out: int) -> Examination:
    """Four questions a side, of which so many are answered YES and the others IDK."""
    source, text = (answered(*[Y] * told, *[I] * (4 - told)) for told in (n_told, n_borne_out))
    return examined(source, text, n)


def told(*counts: int) -> CefRecord:
    """Coverage n/4 in each repeat; consistency always 1."""
    return record(*(repeat(n, count, 4) for n, count in enumerate(counts)))


def row(rows: tuple[AblationRow, ...], component: str, n_questions: int = 4) -> AblationRow:
    (one,) = [r for r in rows if (r.component, r.n_questions) == (component, n_questions)]
    return one


def test_variances_by_hand() -> None:
    """Coverage 1, .5, .75 and 0, .5, .25: means .5, .5, .5 do not vary, each text's variance is 1/16."""
    texts = (judged("1", told(4, 2, 3)), judged("2", told(0, 2, 1)))
    rows = ablation([output(*texts, settings={"n_questions": 4, "repeats": 3})])
    coverage = row(rows, "coverage")
    assert coverage.mean == 0.5
    assert coverage.variance_of_mean == pytest.approx(0.0, abs=1e-12)
    assert coverage.variance_within == pytest.approx(1 / 16)
    assert coverage.percent_variance_within == pytest.approx(625.0)
    assert (coverage.n_texts, coverage.n_repeats, coverage.n_left_out) == (2, 3, 0)
    consistency = row(rows, "consistency")
    assert (consistency.mean, consistency.variance_within) == (1.0, 0.0)


def test_a_run_that_moves_as_a_whole_has_a_variance_of_its_mean() -> None:
    """Coverage 1, .5 and .5, 0: means .75 and .25, variance .125; within each text .125 too."""
    rows = ablation(
        [output(judged("1", told(4, 2)), judged("2", told(2, 0)), settings={"n_questions": 4, "repeats": 2})]
    )
    coverage = row(rows, "coverage")
    assert coverage.variance_of_mean == pytest.approx(0.125)
    assert coverage.variance_within == pytest.approx(0.125)
    assert coverage.percent_variance_of_mean == pytest.approx(1250.0)


def test_a_text_without_a_score_in_one_repeat_is_left_out() -> None:
    broken = record(repeat(0, 4, 4), examined(None, answered(Y), 1))
    texts = (judged("1", told(4, 2)), judged("2", broken), judged("3", None))
    rows = ablation([output(*texts, settings={"n_questions": 4, "repeats": 2})])
    coverage, consistency = row(rows, "coverage"), row(rows, "consistency")
    assert (coverage.n_texts, coverage.n_left_out, coverage.mean) == (1, 2, 0.75)
    assert (consistency.n_texts, consistency.n_left_out) == (2, 1)


def test_one_repeat_and_no_text_have_no_variance_and_say_why() -> None:
    once = row(
        ablation([output(judged("1", told(3)), settings={"n_questions": 4, "repeats": 1})]), "coverage"
    )
    assert (once.mean, once.variance_of_mean, once.variance_within) == (0.75, None, None)
    assert once.reason == ONE_EXAMINATION
    assert once.percent_variance_within is None
    for texts in ((), (judged("1", None),)):
        none = row(ablation([output(*texts, settings={"n_questions": 4})]), "coverage")
        assert (none.mean, none.n_texts, none.n_left_out) == (None, 0, len(texts))
        assert none.reason == "no text has a score in every repeat"


def test_repeats_meet_by_their_number_not_by_their_place() -> None:
    """The second text lacks repeat 0; its only one is not that of the first text's beginning."""
    first, second = judged("1", told(4, 2)), judged("2", record(repeat(1, 0, 4)))
    coverage = row(ablation([output(first, second, settings={"n_questions": 4})]), "coverage")
    assert (coverage.n_texts, coverage.n_repeats, coverage.n_left_out, coverage.mean) == (1, 2, 1, 0.75)
    turned = judged("2", record(repeat(1, 0, 4), repeat(0, 4, 4)))
    values = values_by_repeat([first, turned, judged("3", None)], ("coverage", "conciseness"))
    assert values.shape == (3, 2, 2)
    assert values[:2, :, 0].tolist() == [[1, 0.5], [1, 0]]
    assert values[:2, :, 1].tolist() == [[0, 0], [0, 0]], "four words each"
    assert bool(np.isnan(values[2]).all())
    assert values_by_repeat([], ("coverage",)).shape == (0, 0, 1)


def test_fewest_questions_come_first() -> None:
    several = [output(judged("1", told(4, 2)), settings={"n_questions": n}) for n in (20, 3, 10)]
    assert list(dict.fromkeys(one.n_questions for one in ablation(several))) == [3, 10, 20]


def test_the_same_run_twice_is_refused_and_repeats_at_temperature_0_are_noted() -> None:
    def judge(told_in_repeats: tuple[int, ...], **settings: object) -> JudgeOutput:
        return output(judged("1", told(*told_in_repeats)), settings={"n_questions": 4, **settings})

    with pytest.raises(InputError, match="cef-tiny: the same run is given twice"):
        ablation([judge((4, 2)), judge((4, 3)), judge((4, 2))])
    for repeats, temperature, note in (
        ((4, 4), 0.0, AT_TEMPERATURE_0),
        ((4, 3), 0.0, DIFFERS_AT_TEMPERATURE_0),
        ((4, 4), 0.7, None),
        ((4,), 0.0, None),
    ):
        assert {one.note for one in ablation([judge(repeats, temperature=temperature)])} == {note}


def test_other_judges_are_refused_by_name() -> None:
    with pytest.raises(InputError) as caught:
        ablation([output(), output(name="strict", kind="rubric"), output(name="old", settings={})])
    assert caught.value.problems == (
        "strict is a rubric judge",
        "old does not state the number of questions requested",
    )


def test_without_an_examination_nothing_is_a_number() -> None:
    """A NaN without a reason would be one."""
    for texts in ((judged("1", CefRecord(())), judged("2", None)), (judged("1", None),), ()):
        rows = ablation([output(*texts, settings={"n_questions": 4, "repeats": 2})])
        coverage = row(rows, "coverage")
        assert (coverage.mean, coverage.variance_of_mean, coverage.variance_within) == (None, None, None)
        assert (coverage.n_texts, coverage.n_left_out) == (0, len(texts))
        assert coverage.reason == NO_TEXTS
