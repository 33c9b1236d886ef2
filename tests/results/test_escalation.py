"""Trust or escalate on panels: where confidence comes from, whose label, which labels choose the threshold, the total."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.analyses.escalate import ANALYSIS, NO_THRESHOLD, EscalateOptions
from core.errors import InputError
from core.formats.panel import read_panel
from core.formats.panel.beside import numbers_beside
from core.judges.rubric import RubricRecord, RubricTrial
from core.plots.check import trust_thresholds
from core.results.check.escalation import (
    Escalation,
    Promise,
    escalate,
    sent_texts,
)
from core.results.check.sureness import (
    COLUMN,
    CUT,
    JUDGES,
    MARGIN,
    REPEATS,
    WAYS,
    SurePanel,
    answers_of,
    confidence_column,
    majority,
    sure_by_cut,
    sure_by_margin,
    sure_by_numbers,
    sure_of_judges,
    sure_of_repeats,
    ways_had,
)
from core.schema.analysis import Answer
from core.schema.panel import Panel, only_judges
from core.schema.scale import Scale
from core.schema.scores import PROBABILITY, JudgedText, JudgeOutput, ScoredRow
from core.stats.calibration import trust_threshold
from core.stats.prediction_powered import Scored, kept_and_sent

NAN = float("nan")


def panel(ratings: Any, scores: Any, items: Any = None, **more: Any) -> Panel:
    """A panel of numbers; ratings of shape (n,) or (n, raters)."""
    given = np.asarray(ratings, float).reshape(len(ratings), -1)
    judged = np.asarray(scores, float).reshape(len(ratings), -1)
    numbers = np.arange(len(given)) if items is None else np.asarray(items)
    return Panel(
        tuple(ScoredRow(f"q{item}", "s") for item in numbers.tolist()),
        numbers,
        np.full(len(given), "s"),
        tuple(f"r{at}" for at in range(given.shape[1])),
        given,
        tuple(f"j{at}" for at in range(judged.shape[1])),
        judged,
        **more,
    )


def split(n: int = 400, n_labelled: int = 160, seed: int = 0) -> tuple[Panel, Any, Any]:
    """Sure texts (confidence 1) agree, the others (.6) half of the time; ratings of the first texts; the truth."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.7).astype(float)
    sure = np.where(rng.random(n) < 0.6, 1.0, 0.6)
    verdict = np.where((sure < 1) & (rng.random(n) < 0.5), 1 - truth, truth)
    return panel(np.where(np.arange(n) < n_labelled, truth, NAN), verdict), sure, truth


def found_of(given: Panel, confidence: Any, **options: Any) -> Escalation:
    back = options.pop("returned", None)
    sure = sure_by_numbers(given, np.asarray(confidence, float), "c")
    return escalate(given, sure, Promise(**options), returned=back)


def answer_of(given: Panel, confidence: Any, **options: Any) -> Answer:
    sure = sure_by_numbers(given, np.asarray(confidence, float), "c")
    return ANALYSIS.answer(EscalateOptions(**options), SurePanel(given, sure))


# --- how sure a judge is -----------------------------------------------------------------------


def test_majority_and_its_share() -> None:
    answers = np.array([[1, 1, 2.0], [2, 1, NAN], [NAN, 3, 3], [NAN, NAN, NAN]])
    verdicts, shares = majority(answers)
    assert verdicts[:3].tolist() == [1, 2, 3]
    assert shares[:3] == pytest.approx([2 / 3, 1 / 3, 2 / 3])
    assert np.isnan(verdicts[3])
    assert np.isnan(shares[3])


def test_several_judges_are_an_ensemble() -> None:
    given = panel([1, 0, 1], [[1, 1, 0], [0, 0, 0], [1, 0, 1]])
    found = sure_of_judges(given)
    assert found.verdicts.tolist() == [1, 0, 1]
    assert found.confidence == pytest.approx([2 / 3, 1, 2 / 3])
    with pytest.raises(InputError):
        sure_of_judges(only_judges(given, ["j1"]))


def test_repeats_of_a_run() -> None:
    trials = [[1, 1, 2], [2, 2, 2], [1, None, 2]]
    texts = tuple(
        JudgedText(
            ScoredRow(f"q{at}", "s"),
            "t",
            None,
            None,
            {},
            {},
            RubricRecord(
                tuple(
                    RubricTrial(order="reference-first", repeat=k, verdict=verdict)
                    for k, verdict in enumerate(verdicts)
                )
            ),
        )
        for at, verdicts in enumerate(trials)
    )
    output = JudgeOutput("j0", "rubric", "m", {}, (), texts[::-1])
    given = panel([1, 2, 1], [1.3, 2, 1.5])
    answers = answers_of(output, given, "j0")
    found = sure_of_repeats(given, answers)
    assert found.verdicts.tolist() == [1, 2, 1]
    assert found.confidence == pytest.approx([2 / 3, 1, 1 / 3])
    with pytest.raises(InputError):
        sure_of_repeats(given, answers[:, :1])
    with pytest.raises(InputError):
        answers_of(replace(output, kind="claims"), given, "j0")


def test_a_cut_gives_verdicts_and_distances() -> None:
    given = panel([1, 0, NAN], [0.9, 0.5, 0.2])
    found = sure_by_cut(given, 0.5)
    assert found.verdicts.tolist() == [1, 1, 0]
    assert found.confidence == pytest.approx([0.4, 0, 0.3])
    with pytest.raises(InputError):
        sure_by_cut(panel([1, 2, 3], [0.9, 0.5, 0.2]), 0.5)


def test_the_column_with_a_confidence() -> None:
    assert confidence_column(["human", "judge", "judge_confidence"]) == "judge_confidence"
    assert confidence_column(["a_confidence", "b_confidence"]) is None
    assert confidence_column(["human", "confident"]) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("item,human,judge,c\nq1,1,1,.5\nq2,0,1,\n", [0.5, NAN]),
        ("human,judge,c\n1,1,.5\n0,1,.75\n", [0.5, 0.75]),
        ("item,model,human,judge,c\nq1,A,1,1,.5\nq1,B,0,1,.25\n", [0.5, 0.25]),
        ("item,dataset,human,judge,c\nq1,A,1,1,.5\nq1,B,0,1,.25\n", [0.5, 0.25]),
        ("id,rater,label,judge,c\nq1,a,1,1,.5\nq1,b,1,1,.5\nq2,a,0,1,.25\n", [0.5, 0.25]),
    ],
)
def test_a_column_beside_any_table(text: str, found: list[float]) -> None:
    given = read_panel(text.encode(), "t.csv", find=True, judges=["judge"])
    assert numbers_beside(text.encode(), "t.csv", given, "C") == pytest.approx(found, nan_ok=True)


def test_a_column_in_a_file_of_its_own() -> None:
    given = read_panel(b"item,human,judge\nq1,1,1\nq2,0,1\n", "t.csv", find=True)
    assert numbers_beside(b"item,c\nq2,.3\nq1,.7\nq9,.1\n", "c.csv", given, "c").tolist() == [0.7, 0.3]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (b"item,x\nq1,1\n", "'c'"),
        (b"item,c\nq1,high\n", "line 2"),
        (b"item,c\nq1,.5\nq2,inf\n", "line 3"),
        (b"item,c\nq1,.5\nq1,.6\n", "line 3"),
        (b"item,c\nq7,.5\n", "confidence"),
    ],
)
def test_a_column_that_cannot_be_read(text: bytes, part: str) -> None:
    given = read_panel(b"item,human,judge\nq1,1,1\nq2,0,1\n", "t.csv", find=True)
    with pytest.raises(InputError) as problem:
        numbers_beside(text, "c.csv", given, "c")
    assert part.replace("'", "") in str(problem.value)


# --- the threshold -----------------------------------------------------------------------------


def test_the_threshold_is_that_of_the_labelled_texts() -> None:
    given, sure, truth = split()
    found = found_of(given, sure)
    labelled = np.arange(400) < 160
    own = trust_threshold(
        sure[labelled], (given.scores[:, 0] == truth)[labelled].astype(float), thresholds=[1.0, 0.6]
    )
    assert found.chosen == own.threshold
    assert found.chosen is not None
    assert found.chosen.threshold == 1
    assert found.kept.tolist() == (sure == 1).tolist()
    assert found.sent == tuple(np.flatnonzero((sure < 1) & ~labelled).tolist())
    assert found.kept_labelled is not None
    assert found.kept_labelled.estimate == pytest.approx((sure == 1)[labelled].mean())
    assert found.kept_unlabelled is not None
    assert found.kept_unlabelled.estimate == pytest.approx((sure == 1)[~labelled].mean())
    assert found.shift_p is not None
    assert found.shift_p > 0.01


def test_texts_without_a_confidence_go_to_people() -> None:
    given, sure, _ = split()
    lost = sure.copy()
    lost[[0, 399]] = NAN
    found = found_of(given, lost)
    assert not found.kept[[0, 399]].any()
    assert 399 in found.sent
    assert 0 not in found.sent
    assert len(found.notes) == len(found_of(given, sure).notes) + 1


def test_a_shift_of_confidence_is_named() -> None:
    given, sure, _ = split()
    sure = np.where(np.arange(400) >= 160, np.where(np.arange(400) % 4, 0.6, 1), sure)
    found = found_of(given, sure)
    assert found.shift_p is not None
    assert found.shift_p < 0.001
    assert len(answer_of(given, sure).all_sentences) > len(answer_of(*split()[:2]).all_sentences)


def test_whose_label() -> None:
    """Three raters, one of whom always differs: a text agrees by two thirds with a rater, and with the majority."""
    n = 60
    given = panel(np.tile([1.0, 1, 0], (n, 1)), np.ones(n))
    one = found_of(given, np.ones(n))
    assert one.chosen is None
    assert one.trust.steps[0].agreement == pytest.approx(2 / 3)
    assert one.among_raters.estimate == pytest.approx(1 / 3)
    most = found_of(given, np.ones(n), against="majority")
    assert most.chosen is not None
    assert most.chosen.agreement == 1
    tied = found_of(panel(np.tile([1.0, 0], (n, 1)), np.ones(n)), np.ones(n), against="majority")
    assert tied.trust.steps[0].agreement == 0.5


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (panel([1.0] * 10, [1.0] * 10), {}),
        (panel([1.0, 0] * 40, [1.0] * 80), {}),
        (panel([1.0] * 28 + [0.0] * 2, [1.0] * 30), {}),
    ],
)
def test_without_a_threshold_it_says_what_is_missing(given: Panel, options: dict[str, Any]) -> None:
    found = found_of(given, np.ones(len(given.rows)), **options)
    assert found.chosen is None
    assert found.missing
    assert not found.kept.any()
    answer = answer_of(given, np.ones(len(given.rows)), **options)
    assert answer.json["chosen"] is None
    assert all(len(table.rows) >= 1 for table in answer.tables.values())
    assert answer.status == NO_THRESHOLD
    assert answer.verdicts[0].code == ("undefined" if len(given.rows) == 10 else "no-threshold")
    trust_thresholds(found)


def test_wrong_inputs_are_named_together() -> None:
    given, sure, _ = split()
    with pytest.raises(InputError) as problem:
        EscalateOptions.checked({"agreement": 1.5, "delta": 0.7, "start": 0, "against": "nobody"})
    assert len(problem.value.problems) == 4
    with pytest.raises(InputError):  # numbers that are no classes
        found_of(replace(given, scores=given.scores + 0.3), sure)
    with pytest.raises(InputError):
        found_of(replace(given, ratings=given.ratings * NAN), sure)
    with pytest.raises(InputError):
        sure_by_numbers(replace(given, judges=("a", "b"), scores=np.tile(given.scores, 2)), sure, "c")


def test_several_texts_of_an_item_are_said() -> None:
    given, sure, _ = split()
    grouped = replace(given, items=np.arange(400) // 4)
    found = found_of(grouped, sure)
    assert found.n_items == 40
    alone = found_of(given, sure)
    assert found.trust.steps[0].n_clusters < alone.trust.steps[0].n_clusters
    of_grouped, of_alone = (answer_of(one, sure).tables["escalate"].notes for one in (grouped, given))
    assert len(of_grouped) == len(of_alone) + 1


def test_the_ways_are_taken_in_the_documented_order_and_asked_no_further_than_needed() -> None:
    def refused() -> bool:
        raise AssertionError

    assert list(ways_had(dict.fromkeys(WAYS[::-1], lambda: True))) == list(WAYS)
    assert WAYS == (JUDGES, MARGIN, REPEATS, COLUMN, CUT)
    assert next(ways_had({COLUMN: refused, REPEATS: lambda: True, JUDGES: lambda: False})) == REPEATS
    assert not list(ways_had({JUDGES: lambda: False}))


def test_the_margin_of_pairs() -> None:
    given, sure, _ = split()
    found = escalate(given, sure_by_margin(given, sure))
    assert found.chosen == found_of(given, sure).chosen


# --- labels that come back ---------------------------------------------------------------------


def _with_back(given: Panel, truth: Any, rows: Any, chance: float | Any) -> Panel:
    ratings = given.ratings.copy()
    ratings[rows, 0] = truth[rows]
    chances = np.broadcast_to(chance, len(rows))
    labels = {int(row): {PROBABILITY: str(one)} for row, one in zip(rows, chances.tolist(), strict=True)}
    texts = tuple(replace(row, labels=labels.get(at, {})) for at, row in enumerate(given.rows))
    return replace(given, ratings=ratings, rows=texts)


def test_labels_that_come_back_leave_the_threshold_and_give_the_total() -> None:
    given, sure, truth = split()
    before = found_of(given, sure)
    after = found_of(_with_back(given, truth, np.array(before.sent), 1.0), sure)
    assert after.trust == before.trust
    assert after.sent == ()
    assert after.n_back == len(before.sent)
    human = np.where((sure < 1) | (np.arange(400) < 160), truth, NAN)
    by_hand = kept_and_sent(Scored(given.scores[:, 0], human, np.arange(400)), sure == 1, pass_rate=True)
    assert after.total == by_hand
    assert by_hand.total.estimate == pytest.approx(truth.mean())
    by_mask = found_of(
        replace(_with_back(given, truth, np.array(before.sent), 1.0), rows=given.rows),
        sure,
        returned=np.arange(400) >= 160,
    )
    assert by_mask.total == by_hand


def test_a_sample_of_the_texts_sent() -> None:
    given, sure, truth = split()
    before = found_of(given, sure)
    sent = sent_texts(before, 30, rng=1)
    assert len(set(sent.rows)) == 30
    assert set(sent.rows) <= set(before.sent)
    assert set(sent.probability) == {30 / len(before.sent)}
    after = found_of(_with_back(given, truth, np.array(sent.rows), sent.probability[0]), sure)
    assert after.total is not None
    assert after.total.total.low is not None
    assert after.total.total.high is not None
    assert after.total.total.low < truth.mean() < after.total.total.high
    assert after.total.n_sent_labelled == 30 + int(((sure < 1) & (np.arange(400) < 160)).sum())
    unequal = found_of(_with_back(given, truth, np.array(sent.rows), np.linspace(0.1, 0.9, 30)), sure)
    assert unequal.total is None
    assert unequal.total_reason
    with pytest.raises(InputError):
        sent_texts(before, 0)
    with pytest.raises(InputError):
        sent_texts(after_all(given, sure, truth))


def test_an_audit_of_kept_texts_corrects_them_alone() -> None:
    given, sure, truth = split()
    before = found_of(given, sure)
    sent = sent_texts(before, audit=40, rng=2)
    kept = [row for row in sent.rows if sure[row] == 1]
    assert len(kept) == 40
    assert set(kept) <= set(before.auditable)
    assert len(sent.rows) == 40 + len(before.sent)
    assert {one for row, one in zip(sent.rows, sent.probability, strict=True) if sure[row] == 1} == {
        40 / len(before.auditable)
    }
    assert any(sure[row] == 1 for row in sent.rows[:40])  # mixed among the others
    after = found_of(_with_back(given, truth, np.array(sent.rows), np.array(sent.probability)), sure)
    assert (after.n_audited, after.n_back) == (40, len(before.sent))
    assert after.trust == before.trust
    audited = np.isin(np.arange(400), kept)
    human = np.where((sure < 1) | audited, truth, NAN)
    assert after.total == kept_and_sent(
        Scored(given.scores[:, 0], human, np.arange(400)), sure == 1, pass_rate=True
    )
    few = found_of(_with_back(given, truth, np.array(kept[:10]), 0.1), sure)
    assert few.n_audited == 10
    assert few.total == before.total
    unequal = found_of(_with_back(given, truth, np.array(kept), np.linspace(0.1, 0.9, 40)), sure)
    assert unequal.n_audited == 0
    assert unequal.total == before.total


def after_all(given: Panel, sure: Any, truth: Any) -> Escalation:
    before = found_of(given, sure)
    return found_of(_with_back(given, truth, np.array(before.sent), 1.0), sure)


def test_labels_of_a_simple_random_sample_choose_a_threshold() -> None:
    given, sure, truth = split()
    drawn = _with_back(given, truth, np.arange(160), 0.4)
    assert found_of(drawn, sure).trust == found_of(given, sure).trust
    by_uncertainty = _with_back(given, truth, np.arange(160), np.linspace(0.1, 0.9, 160))
    with pytest.raises(InputError):
        found_of(by_uncertainty, sure)


def test_labels_drawn_before_stay_out_of_the_threshold_when_others_come_back() -> None:
    given, sure, truth = split()
    before = found_of(given, sure)
    sent = np.array(before.sent)
    drawn, came = sent[:20], sent[20:40]
    panel = _with_back(given, truth, drawn, np.linspace(0.1, 0.9, 20))
    panel.ratings[came, 0] = truth[came]
    after = found_of(panel, sure, returned=np.isin(np.arange(400), came))
    assert after.trust == before.trust
    assert after.n_back == 40


def test_words_without_an_order_need_a_pass() -> None:
    given, sure, _ = split()
    words = replace(given, scale=Scale("unordered", (0.0, 1.0), {0.0: "cat", 1.0: "dog"}))
    found = found_of(words, sure)
    assert found.chosen is not None
    assert found.total is None
    assert found.total_reason
    one = found_of(words, sure, passes="dog").total
    assert one is not None
    assert one.total == found_of(given, sure).total.total  # type: ignore[union-attr]


# --- what readers get --------------------------------------------------------------------------


def test_tables_and_json_hold_the_same() -> None:
    given, sure, _ = split()
    found, answer = found_of(given, sure), answer_of(given, sure)
    tables, told = answer.tables, answer.json
    main = dict(
        zip([one.name for one in tables["escalate"].columns], tables["escalate"].rows[0], strict=True)
    )
    assert main["threshold"] == told["chosen"]["threshold"] == 1
    assert main["lower_bound"] == told["chosen"]["lower_bound"]
    assert main["n_sent"] == told["n_sent"] == len(found.sent)
    assert [row[0] for row in tables["escalate-thresholds"].rows] == [1, 0.6]
    assert [row[-1] for row in tables["escalate-texts"].rows].count("for people") == len(found.sent)
    assert tables["escalate-total"].rows[0][1].value == told["total"]["estimate"]  # type: ignore[union-attr]


def test_the_figure_shows_every_threshold() -> None:
    given, sure, _ = split()
    found = found_of(given, sure)
    traces: dict[str, Any] = {trace.name: trace for trace in trust_thresholds(found).data}
    assert list(traces["agreement"].y) == [step.agreement for step in found.trust.steps]
    assert list(traces["lower bound"].y) == [step.low for step in found.trust.steps]
    assert set(traces["promise"].y) == {0.9}
    assert list(traces["kept of labelled"].y) == [step.share for step in found.trust.steps]
