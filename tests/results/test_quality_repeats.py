"""Evaluators asked again, at other temperatures, and with shuffled words: every number worked out by hand."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from helpers.texts.calibrations import answered
from helpers.texts.score_factories import ratings as rating_set
from helpers.texts.score_factories import table

from core.analyses.calibrate import CalibrateOptions
from core.errors import InputError
from core.judges.direct import DirectRecord, DirectTrial
from core.judges.quality import QualityRecord, QualityTrial
from core.report import flat_rows
from core.results.calibration.cells import evaluators_of
from core.results.calibration.repeats import NO_TWIN, NOT_SHUFFLED, UNSCORED, sensitivity
from core.results.calibration.results import calibrate, temperature_sweep
from core.results.judges.consistency import REPEAT_MISSING, consistency
from core.schema.scores import JudgedText, JudgeOutput, Rating, ScoredRow

Scores = Sequence[float | None]


def quality(
    *texts: dict[str, Scores] | None,
    name: str = "judge",
    judged: Sequence[str | None] = (),
    languages: Sequence[str] = (),
    **settings: Any,
) -> JudgeOutput:
    """Texts as {dimension: its scores by repeat}; None: the judge was never asked."""
    made = []
    for n, scores in enumerate(texts):
        trials = tuple(
            QualityTrial(dimension=dimension, repeat=repeat, verdict=score)
            for dimension, own in (scores or {}).items()
            for repeat, score in enumerate(own)
        )
        read = judged[n] if n < len(judged) else None
        record = None if scores is None else QualityRecord(trials, judged=read)
        row = ScoredRow(f"i{n}", "s", language=languages[n] if languages else "en")
        made.append(JudgedText(row, "a text", None, None, {}, {}, record))
    return JudgeOutput(name, "quality", "model", settings, (), tuple(made))


def test_repeats_of_each_dimension() -> None:
    """LA: 2 2 equal, 2 1 with the SD .707, one without a class; H: asked of two texts, both equal."""
    given = quality({"LA": (2, 2), "H": (1, 1)}, {"LA": (2, 1), "H": (0, 0)}, {"LA": (2, None)}, None)
    found = consistency(given, n_resamples=50)
    assert (found.n_repeats, found.orders, found.order) == (2, (), None)
    by_dimension = {one.component: one for one in found.repeats}
    assert by_dimension["LA"].agreeing.estimate == 0.5
    assert by_dimension["LA"].spread.estimate == pytest.approx(0.5**0.5 / 2)
    assert by_dimension["LA"].left_out == {REPEAT_MISSING: 1, "the judge was not asked": 1}
    assert by_dimension["H"].agreeing.estimate == 1


def test_repeats_of_the_scorer() -> None:
    row = ScoredRow("i", "s")
    record = DirectRecord((DirectTrial(repeat=0, verdict=80.0), DirectTrial(repeat=1, verdict=90.0)))
    output = JudgeOutput("d", "direct", "m", {}, (), (JudgedText(row, "t", None, None, {}, {}, record),))
    (one,) = consistency(output, n_resamples=0).repeats
    assert (one.component, one.agreeing.estimate) == ("score", 0.0)
    assert one.spread.estimate == pytest.approx(50**0.5)


def test_shuffled_words() -> None:
    """One drops, one stays, one rises; left out: not shuffled, not scored, not in the other run."""
    plain = quality(
        *[{"LA": (2, 1)}, {"LA": (1,)}, {"LA": (0,)}, {"LA": (2,)}, {"LA": (None,)}, {"LA": (2,)}]
    )
    shuffled = quality(
        *[{"LA": (1, 1)}, {"LA": (1,)}, {"LA": (1,)}, {"LA": (2,)}, {"LA": (1,)}],
        judged=["x", "x", "x", None, "x"],
        shuffled_words=0.1,
    )
    (found,) = sensitivity(plain, shuffled)
    assert dict(found.group) == {"dimension": "LA"}
    assert [(one.estimate, one.n) for one in (found.drops, found.stays, found.rises)] == [(1 / 3, 3)] * 3
    assert found.drops.low == 0  # none of three items drawn is the one: (2/3)^3 = .30 of the resamples
    assert found.left_out == {NOT_SHUFFLED: 1, UNSCORED: 1, NO_TWIN: 1}
    people = rating_set(*(Rating(f"i{n}", n % 3, "s", None, "r", "LA", "en") for n in range(6)))
    made = table([(ScoredRow(f"i{n}", "s", language="en"), 1) for n in range(6)], ["j-LA"])
    answer = answered(people, made, outputs=(plain,), shuffled=shuffled)
    (row,) = flat_rows(answer.tables["shuffled-words"])
    assert (row["drops"], row["n"], row["drops_n"]) == (1 / 3, 3, 3)
    assert row["left_out"].count(";") == 2
    assert answer.json["shuffled_words"][0]["drops"]["estimate"] == 1 / 3


def test_shuffled_words_resample_items() -> None:
    """A hundred texts of two items, one of which drops throughout: resamples hold none, half or all of them."""
    texts = [{"LA": (2,)}] * 100
    plain = quality(*texts)
    mixed = quality(
        *[{"LA": (n % 2,)} if n % 2 == 0 else texts[n] for n in range(100)],
        judged=["x"] * 100,
        shuffled_words=0.1,
    )
    (apart,) = sensitivity(plain, mixed)
    assert 0.35 < apart.drops.low < 0.5 < apart.drops.high < 0.65
    (found,) = sensitivity(of_two_items(plain), of_two_items(mixed))
    assert (found.drops.low, found.drops.estimate, found.drops.high) == (0, 0.5, 1)
    assert (found.drops.n, found.drops.n_clusters) == (100, 2)


def of_two_items(output: JudgeOutput) -> JudgeOutput:
    """The same texts, by turns of one item and the other, each of a system of its own."""
    texts = tuple(
        replace(text, row=replace(text.row, item_id=f"i{n % 2}", system=f"s{n}"))
        for n, text in enumerate(output.texts)
    )
    return replace(output, texts=texts)


def test_shuffled_words_of_a_language_without_scores() -> None:
    plain = quality({"LA": (2,)}, {"LA": (None,)}, languages=("en", "ja"))
    shuffled = quality(
        {"LA": (1,)}, {"LA": (1,)}, languages=("en", "ja"), judged=["x", "y"], shuffled_words=0.1
    )
    drops = {one.group["language"]: one.drops for one in sensitivity(plain, shuffled)}
    assert (drops["ja"].estimate, drops["ja"].n) == (None, 0)
    assert drops["ja"].reason == "no text was scored by both runs"
    assert drops["en"].estimate == 1


def test_shuffled_words_by_language() -> None:
    languages = ("en", "ja")
    plain = quality({"LA": (2,), "H": (1,)}, {"LA": (2,), "H": (1,)}, languages=languages)
    shuffled = quality(
        {"LA": (0,), "H": (1,)},
        {"LA": (2,), "H": (1,)},
        languages=languages,
        judged=["x", "y"],
        shuffled_words=0.1,
    )
    found = {tuple(one.group.values()): one.drops.estimate for one in sensitivity(plain, shuffled)}
    assert found == {
        ("all", "LA"): 0.5,
        ("all", "H"): 0.0,
        ("en", "LA"): 1.0,
        ("ja", "LA"): 0.0,
        ("en", "H"): 0.0,
        ("ja", "H"): 0.0,
    }


@pytest.mark.parametrize(
    ("plain", "shuffled", "problem"),
    [
        ({}, {}, "shuffled no words"),
        ({"shuffled_words": 0.1}, {"shuffled_words": 0.1}, "used shuffled words"),
    ],
)
def test_runs_that_are_no_twins(plain: dict[str, Any], shuffled: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        sensitivity(quality({"LA": (1,)}, **plain), quality({"LA": (1,)}, **shuffled))
    assert problem in caught.value.problems[0]


def at_two_temperatures(column: str, texts: Any, kind: str = "quality") -> list[Any]:
    """(run, calibration) of a run at 0 and one at 1, whose repeats are those of `texts`."""
    people = rating_set(*(Rating("i0", 1, "s", None, f"r{who}", "Overall", "en") for who in range(2)))
    made = table([(ScoredRow("i0", "s", language="en"), 1)], [column])
    (evaluator,) = evaluators_of(made, people)
    found = calibrate(people, made, evaluator, CalibrateOptions(n_resamples=0))
    return [(JudgeOutput("j", kind, "m", {"temperature": at}, (), texts), found) for at in (0.0, 1.0)]


def test_temperatures_of_the_scorer_and_of_names_in_another_case() -> None:
    row = ScoredRow("i0", "s", language="en")
    record = DirectRecord((DirectTrial(repeat=0, verdict=80.0), DirectTrial(repeat=1, verdict=80.0)))
    scorer = at_two_temperatures("j", (JudgedText(row, "t", None, None, {}, {}, record),), "direct")
    asked = quality({"overall": (1, 0), "H": (1, 1)}).texts
    for runs, equal in ((scorer, 1), (at_two_temperatures("j-overall", asked), 0)):
        points = temperature_sweep(runs, n_resamples=0).points
        assert [one.repeats_equal and one.repeats_equal.estimate for one in points] == [equal] * 2


def test_temperatures() -> None:
    """At 0 both texts are equal to the majority, at 1 one of them; the colder run comes first."""
    people = rating_set(
        *(Rating(f"i{n}", n, "s", None, f"r{who}", "LA", "en") for n in range(2) for who in range(2))
    )
    runs = []
    for temperature, said in ((1.0, (1, 1)), (0.0, (0, 1))):
        output = quality(
            *({"LA": (score, score)} for score in said), temperature=temperature, prompting="single"
        )
        made = table(
            [(ScoredRow(f"i{n}", "s", language="en"), score) for n, score in enumerate(said)], ["j-LA"]
        )
        (evaluator,) = evaluators_of(made, people)
        runs.append((output, calibrate(people, made, evaluator, CalibrateOptions(n_resamples=0))))
    found = temperature_sweep(runs, n_resamples=0)
    assert [(one.temperature, one.agreement.estimate) for one in found.points] == [(0.0, 1.0), (1.0, 0.5)]
    assert all(one.repeats_equal.estimate == 1 for one in found.points)
    assert found.notes == ()
    tables = [
        table([(ScoredRow(f"i{n}", "s", language="en"), score) for n, score in enumerate(said)], ["j-LA"])
        for said in ((1, 1), (0, 1))
    ]
    answer = answered(people, *tables, outputs=tuple(output for output, _ in runs), n_resamples=0)
    assert [row["agreement"] for row in flat_rows(answer.tables["temperatures"])] == [1.0, 0.5]
    assert set(answer.json) == {"evaluators", "temperatures"}
    refused = [(replace(output, not_sent=frozenset({"temperature"})), one) for output, one in runs[:1]]
    assert [one.temperature for one in temperature_sweep([*refused, *runs[1:]], n_resamples=0).points] == [
        0.0
    ]
    other = JudgeOutput("o", "quality", "another", {"temperature": 0.3}, (), runs[0][0].texts)
    assert temperature_sweep([*runs, (other, runs[0][1])], n_resamples=0).notes == (
        "the runs differ in more than temperature: model, prompting",
    )
