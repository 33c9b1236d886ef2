"""Split raters in a calibration: degrees, a judge's repeats as answers, tables and JSON."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.texts.calibrations import answered
from helpers.texts.five_classes import QUICK, compared, given, panel
from helpers.texts.score_factories import ratings as rating_set
from helpers.texts.score_factories import table

from core.judges.quality import QualityRecord, QualityTrial
from core.report import flat_rows, headings
from core.results.calibration.cells import NOT_WHOLE, evaluators_of
from core.results.calibration.results import calibrate
from core.results.calibration.split import split_of
from core.schema.scores import JudgedText, JudgeOutput, Rating, ScoredRow
from core.stats.agreement import ONE_ANSWER
from core.stats.resampling import Floats


def test_a_table_of_scores_gives_one_answer_a_text() -> None:
    votes, said = panel(200)
    found = compared(votes, said)
    (one,) = split_of(found)
    assert (one.dimension, one.raters_per_text, one.comparison.n_answers) == ("LA", 3, 1)
    whole = one.comparison.degrees[0]
    assert whole.agreement_gap.estimate == pytest.approx(found.cells[0].statistics["gap"].estimate)
    assert one.comparison.follows.reason == ONE_ANSWER
    answer = answered(*given(votes, said))
    made = answer.tables["split-raters"]
    rows = flat_rows(made)
    assert [row["other_raters"] for row in rows] == ["all texts", "unanimous", "split"]
    assert rows[0]["agreement_gap_low"] == whole.agreement_gap.low
    assert "Its doubt follows theirs" not in headings(made)
    assert answer.figures["split-raters"].table == "split-raters"


def repeated(n: int, n_repeats: int, *, off: bool = False) -> tuple[Floats, Floats, JudgeOutput]:
    """Votes of five raters, the judge's mean scores and its run: it doubts where the raters split."""
    draw = np.random.default_rng(4)
    sharp = draw.uniform(0.34, 1, n)
    first = draw.integers(1, 4, n)
    drawn = np.where(
        draw.random((n, 5 + n_repeats)) < sharp[:, None],
        first[:, None],
        draw.integers(1, 4, (n, 5 + n_repeats)),
    ).astype(float)
    votes, answers = drawn[:, :5], drawn[:, 5:]
    if off:
        answers[0] = 9.0
    texts = tuple(
        JudgedText(
            ScoredRow(f"i{k}", "s"),
            "a text",
            None,
            None,
            {},
            {},
            QualityRecord(
                tuple(QualityTrial(dimension="la", repeat=at, verdict=score) for at, score in enumerate(own)),
                judged=None,
            ),
        )
        for k, own in enumerate(answers.tolist())
    )
    return votes, answers.mean(axis=1), JudgeOutput("judge", "quality", "m", {}, (), texts)


def test_a_runs_repeats_are_its_answers_and_its_doubt_follows_theirs() -> None:
    votes, said, output = repeated(150, 4)
    found = compared(votes, said)
    people, made = given(votes, said)
    (one,) = split_of(found, made, output)
    assert one.comparison.n_answers == 4
    assert one.comparison.follows.low > 0
    whole = one.comparison.degrees[0]
    answers = np.array([[trial.verdict for trial in text.record.trials] for text in output.texts])
    by_hand = (votes[:, :, None] == answers[:, None, :]).mean()
    assert whole.judge_agreement.estimate == pytest.approx(by_hand)
    assert "Its doubt follows theirs" in headings(
        answered(people, made, outputs=(output,)).tables["split-raters"]
    )
    assert split_of(found)[0].comparison.n_answers == 1


def test_answers_off_the_scale_and_texts_without_a_record_fall_back() -> None:
    votes, said, output = repeated(60, 3, off=True)
    found = compared(votes, np.clip(said, 1, 3))
    rows = [(ScoredRow(f"i{k}", "s"), float(score)) for k, score in enumerate(np.clip(said, 1, 3))]
    fewer = replace(output, texts=output.texts[:30])
    (one,) = split_of(found, table(rows, ["judge-LA"]), fewer)
    assert (one.comparison.n, one.comparison.n_answers) == (60, 3)


def test_numbers_are_not_compared_and_say_why() -> None:
    people = rating_set(
        *(Rating(f"i{n}", n / 7, "s", None, f"r{k}", "LA") for n in range(12) for k in (0, 1))
    )
    made = table([(ScoredRow(f"i{n}", "s"), n / 7) for n in range(12)], ["judge-LA"])
    found = calibrate(people, made, evaluators_of(made, people)[0], QUICK)
    (one,) = split_of(found)
    assert (one.comparison, one.reason) == (None, NOT_WHOLE)
    made_table = answered(people, made).tables["split-raters"]
    assert not made_table.rows
    assert any(NOT_WHOLE in note for note in made_table.notes)


def test_the_json_has_every_degree() -> None:
    votes, scores = panel(100)
    split = split_of(compared(votes, scores))
    (said,) = answered(*given(votes, scores)).json["split_raters"].values()
    assert [one["other_raters"] for one in said["degrees"]] == ["all", "full", "none"]
    assert (
        said["degrees"][0]["rater_distance"]["estimate"]
        == split[0].comparison.degrees[0].rater_distance.estimate
    )
    assert (said["n"], said["n_answers"], said["reason"]) == (100, 1, None)
