"""A judge of pairs beside blind votes: numbers by hand, planted behaviour, the published study, and what stays hidden."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pytest
from helpers.texts import factories
from helpers.texts.factories import LEVELS, dataset, study_in, vote
from helpers.texts.paired_judges import NAME, always_first, coin, copies, judged, scores_of, texts_of
from statsmodels.stats.contingency_tables import mcnemar

from core.analyses.pairs import ANALYSIS, PairsOptions, pairs_of
from core.cli import main
from core.errors import InputError, NotAllowed
from core.report import json_of, terminal_lines
from core.results.check.choosing import which_of
from core.results.check.texts import constant_scores
from core.results.check.verdict import check_panel
from core.results.correlations.votes import metrics_against_votes, vote_margins, votes_panel
from core.results.judges.consistency import DRAWN, ONE_ORDER, consistency
from core.results.judges.pairwise import PairsReport, judged_pairs, opponents_of, pairs_report, win_rates
from core.results.study.counted import Filters, count
from core.results.study.results import study_results
from core.schema.analysis import Answer
from core.schema.scores import EDIT, NO_EDIT, PAIR, JudgeOutput, ScorableOutput
from core.schema.study import PREFERENCES, Rater, StudyRecord
from core.schema.uses import CheckOptions
from core.stats.alt_test import alt_test
from core.stats.votes import BOTH_BAD, BOTH_GOOD, CANDIDATE, COMPARATOR
from core.store import Store, open_store
from core.store.studies import find_study
from core.study.analysis_set import released_record

record_of = partial(factories.record_of, main_levels=LEVELS, flagged="leave_out")
report = partial(pairs_report, n_resamples=200)


def answer(found: PairsReport, **options: object) -> Answer:
    """A report as every door shows it."""
    chosen = PairsOptions(**options)  # type: ignore[arg-type]
    return Answer(ANALYSIS, chosen, pairs_of(found, chosen))


def texts(*levels: str, n_items: int = 1, systems: tuple[str, ...] = ("a", "b")) -> list[ScorableOutput]:
    return [
        ScorableOutput(f"q{item}", system, f"{system} {item} {level}", level=level)
        for item in range(n_items)
        for level in levels
        for system in systems
    ]


def scripted(verdicts: dict[tuple[str, str], str]) -> Callable[..., str | None]:
    """(level, system read first) -> verdict, once for each repeat, separated by blanks; `-` fails."""

    def says(first: ScorableOutput, second: ScorableOutput, repeat: int) -> str | None:
        said = verdicts[first.level or "", first.system].split()[repeat]
        return None if said == "-" else said

    return says


BY_HAND = {
    ("0", "a"): "first", ("0", "b"): "second",  # a twice
    ("1", "a"): "first", ("1", "b"): "first",  # the first place twice
    ("2", "a"): "both_good", ("2", "b"): "both_good",
    ("3", "a"): "both_good", ("3", "b"): "both_bad",
    ("4", "a"): "first", ("4", "b"): "both_bad",  # a, once
    ("5", "a"): "second", ("5", "b"): "-",
}  # fmt: skip


def test_orders_by_hand() -> None:
    """Five pairs have both verdicts: two keep them, one follows the place, two change otherwise."""
    found = report(judged(texts(*"012345"), scripted(BY_HAND)))
    whole = found.blocks[0]
    assert (whole.n_pairs, whole.n_items, found.both_orders) == (5, 1, True)
    assert (whole.same.estimate, whole.flips.estimate, whole.n_flips) == (2 / 5, 1 / 5, (1, 0))
    place = whole.position
    assert (place.first, place.second, place.n_first, place.n_second) == (4, 1, 2, 0)
    assert place.share_first.estimate == pytest.approx((0.5 + 1 + 1) / 3)
    assert place.p == 1.0, "two pairs of one item"
    assert whole.answers == {"decided": 2, "both_good": 1, "both_bad": 0, "tie": 0, "contradicted": 2}
    counted = {"first": 4, "second": 1, "both_good": 3, "both_bad": 2, "tie": 0, "none": 0}
    assert whole.verdicts == counted
    assert found.left_out == {"pairs, cut off": 1}
    wins = {(one.level, one.system): (one.win_rate.estimate, one.wins, one.ties) for one in found.systems}
    assert wins["", "a"] == ((1 + 0.5 + 0.5 + 0.5 + 0.75) / 5, 2, 3)
    assert wins["", "b"][0] == pytest.approx(1 - wins["", "a"][0])
    assert wins["4", "a"] == (0.75, 1, 0)
    assert [one.level for one in found.blocks] == ["", *"01234"]
    answers = [pair.answer for pair in judged_pairs(judged(texts(*"012345"), scripted(BY_HAND)))]
    assert answers[:3] == [CANDIDATE, 4, BOTH_GOOD]
    assert answers[3:] == [4, CANDIDATE, None]


def test_flips_to_either_place_are_shares_of_repeats() -> None:
    says = scripted(
        {
            ("0", "a"): "first first", ("0", "b"): "first second",  # the first place twice, once
            ("1", "a"): "second second", ("1", "b"): "second second",  # the second place, in both repeats
        }
    )  # fmt: skip
    whole = report(judged(texts("0", "1"), says, repeats=2)).blocks[0]
    assert (whole.n_flips, whole.flips.estimate, whole.flips_first) == ((1, 1), 0.75, 0.25)


def test_a_tie_has_the_kind_that_most_verdicts_name() -> None:
    says = scripted({("0", "a"): "both_bad both_good both_bad", ("0", "b"): "both_bad both_good both_good"})
    (pair,) = judged_pairs(judged(texts("0"), says, repeats=3))
    assert pair.answer == 4
    says = scripted({("0", "a"): "both_bad both_good", ("0", "b"): "both_bad both_bad"})
    (pair,) = judged_pairs(judged(texts("0"), says, repeats=2))
    assert pair.answer == BOTH_BAD
    lost = scripted({("0", "a"): "second", ("0", "b"): "first"})
    (pair,) = judged_pairs(judged(texts("0"), lost))
    assert (pair.answer, pair.value) == (COMPARATOR, 0)


def test_repeats_and_orders_go_through_consistency() -> None:
    """Of a text, the two orders agree where the judge keeps its verdict, and repeats are compared within an order."""
    says = scripted(
        {
            ("0", "a"): "first first", ("0", "b"): "second second",
            ("1", "a"): "first second", ("1", "b"): "first first",
        }
    )  # fmt: skip
    output = judged(texts("0", "1"), says, repeats=2)
    found = consistency(output, n_resamples=0)
    assert (found.orders, found.n_repeats) == (("own-first", "other-first"), 2)
    (repeats,) = found.repeats
    assert (repeats.agreeing.estimate, repeats.agreeing.n) == (0.5, 4)
    assert found.order is not None
    # Level 1: own first 1/2 and 1, other first 0 and 1/2.
    assert found.order.difference.estimate == (0 + 0 + 0.5 + 0.5) / 4
    assert found.order.equal.estimate == 0.5
    whole = report(output)
    assert "judge-repeats" in answer(whole).tables
    assert whole.blocks[0].same.estimate == (1 + 1 / 2) / 2, "the second repeat of level 1 keeps it"
    one = judged(texts("0", "1"), coin(1), drawn=True)
    assert consistency(one, n_resamples=0).orders == (DRAWN,)
    alone = report(one)
    assert (alone.both_orders, alone.blocks[0].same.reason) == (False, ONE_ORDER)
    assert alone.blocks[0].n_pairs == 2


def test_three_systems_levels_and_named_pairs() -> None:
    """Each two texts of a group make a pair, named by what tells them apart."""
    better = lambda first, second, repeat: "first" if first.text < second.text else "second"  # noqa: E731
    three = win_rates(judged_pairs(judged(texts("0", systems=("a", "b", "c")), better)))
    assert [(one.system, one.win_rate.estimate) for one in three] == [("a", 1), ("b", 0.5), ("c", 0)]
    levels = win_rates(judged_pairs(judged(texts(*"012", systems=("a",)), better, between="levels")))
    assert [(one.system, one.win_rate.estimate) for one in levels] == [("0", 1), ("1", 0.5), ("2", 0)]
    twins = [
        replace(one, labels={PAIR: "padding" if one.level == "0" else "tone"}) for one in texts("0", "1")
    ]
    found = report(judged(twins, better))
    assert [one.level for one in found.blocks] == ["", "padding", "tone"]


def test_opponents_of_a_text_have_the_names_of_its_record() -> None:
    """Also in a file of edited twins, where the texts of a pair differ in their labels."""
    twins = [
        replace(one, labels={PAIR: pair, EDIT: pair if one.level == "0" else NO_EDIT})
        for pair in (NO_EDIT, "padding")
        for one in texts("0", "1", systems=("a",))
    ]
    output = judged([*twins, *texts("0", systems=("a", "b"), n_items=1)], always_first)
    for text in output.texts:
        found = opponents_of(output, text)
        assert [name for name, _ in found] == [trial.against for trial in text.record.trials[::2]]
        assert [one.row.labels.get(PAIR) for _, one in found] == [text.row.labels.get(PAIR)]


def test_another_kind_of_judge_is_refused() -> None:
    with pytest.raises(InputError, match="compares no pairs"):
        judged_pairs(JudgeOutput("r", "rubric", "m", {}, (), ()))
    nothing = report(JudgeOutput(NAME, "pairwise", "m", {}, (), ()))
    assert nothing.blocks[0].n_pairs == 0
    assert len(answer(nothing).all_sentences) == 1
    assert all(terminal_lines(table) for table in answer(nothing).tables.values())


# --- beside votes ------------------------------------------------------------------------------

N_PAIRS = 300


@pytest.fixture(scope="module")
def simulated() -> StudyRecord:
    """Four careful raters of 300 questions; the fourth is held out."""
    data, draws = dataset(N_PAIRS, ("A0",)), Random(4)
    truth = {item.item_id: draws.choice(PREFERENCES) for item in data.items}
    votes = {
        f"R{rater}": {
            (item, "A0"): said if draws.random() < 0.95 else draws.choice(PREFERENCES)
            for item, said in truth.items()
        }
        for rater in range(1, 5)
    }
    record = factories.record_of(votes, data)
    return replace(record, study=replace(record.study, state="unblinded"))


def held_out(record: StudyRecord) -> tuple[StudyRecord, dict[tuple[str, str], int]]:
    """The study without its last rater, whose votes are the second."""
    counted = count(record, Filters())
    *rest, last = record.raters
    kept = replace(
        record,
        raters=tuple(rest),
        answers=tuple(one for one in record.answers if one.rater_id != last.rater_id),
        assignments=tuple(one for one in record.assignments if one.rater_id != last.rater_id),
    )
    return kept, dict(zip(counted.keys, counted.codes[:, -1].tolist(), strict=True))


@pytest.mark.parametrize("use", ["gate", "replace"])
def test_a_copy_of_a_rater_is_trusted_and_a_coin_is_not(simulated: StudyRecord, use: str) -> None:
    record, codes = held_out(simulated)
    judges = {
        "copy": judged(texts_of(record), copies(record, codes), name="copy"),
        "coin": judged(texts_of(record), coin(1), name="coin"),
        "place": judged(texts_of(record), always_first, name="place"),
    }
    panel = votes_panel(record, [scores_of(one) for one in judges.values()])
    check = check_panel(panel, CheckOptions(use=use))  # type: ignore[arg-type]
    assert {one.name: one.verdict for one in check.judges} == {
        "copy": "TRUSTED",
        "coin": "NOT TRUSTED",
        "place": "NOT TRUSTED",
    }
    choice = which_of(check)
    assert choice is not None
    assert choice.use == "copy"


def test_planted_position_bias_is_found(simulated: StudyRecord) -> None:
    """A judge that always prefers the first place, and one that does so in a tenth of its pairs."""
    record, codes = held_out(simulated)
    whole = report(judged(texts_of(record), always_first), record).blocks[0]
    assert (whole.same.estimate, whole.flips.estimate, whole.n_flips) == (0, 1, (N_PAIRS, 0))
    assert whole.position.p is not None
    assert whole.position.p < 1e-9
    assert whole.position.share_first.estimate == 1
    assert whole.answers["contradicted"] == N_PAIRS
    draws, copy = Random(2), copies(record, codes)
    swayed = {one.item_id for one in record.items if draws.random() < 0.1}
    biased = lambda a, b, repeat: "first" if a.item_id in swayed else copy(a, b, repeat)  # noqa: E731
    found = report(judged(texts_of(record), biased), record)
    assert found.blocks[0].n_flips == (len(swayed), 0)
    expected = mcnemar([[0, len(swayed)], [0, 0]], exact=True).pvalue
    assert found.blocks[0].position.p == pytest.approx(expected)
    assert sum("Position bias" in line for line in answer(found).all_sentences) == 1
    clean = report(judged(texts_of(record), copy), record)
    assert (clean.blocks[0].same.estimate, clean.blocks[0].position.p) == (1, None)


def test_agreement_by_hand_with_the_raters_own_answers() -> None:
    """Two raters and a judge on four pairs, one of which the judge sees otherwise in each order."""
    data = dataset(4, ("A1",))
    keys = [(item.item_id, "A1") for item in data.items]
    votes = {
        "R1": dict(zip(keys, ("candidate", "both_good", "both_bad", "comparator"), strict=True)),
        "R2": dict(zip(keys, ("candidate", "both_bad", "both_bad", "both_good"), strict=True)),
    }
    record = factories.record_of(votes, data, main_levels=("A1",))
    record = replace(record, study=replace(record.study, state="unblinded"))
    copy = copies(record, {keys[0]: 0, keys[1]: 1, keys[2]: 2})
    flips = lambda a, b, repeat: "first" if a.item_id == "q03" else copy(a, b, repeat)  # noqa: E731
    found = report(judged(texts_of(record), flips), record)
    assert found.votes is not None
    four, three = found.votes.blocks
    assert (four.answers, three.answers, four.n_pairs) == ("four", "three", 4)
    # Shares of raters: 1, 1/2, 1, and nobody for the pair whose orders contradict each other.
    assert four.agreement.judge.estimate == (1 + 0.5 + 1 + 0) / 4
    assert four.agreement.raters.estimate == 2 / 4
    assert four.agreement.gap.estimate == pytest.approx(0.625 - 0.5)
    assert three.agreement.judge.estimate == (1 + 1 + 1 + 0.5) / 4
    assert three.agreement.raters.estimate == 3 / 4
    assert four.alt_test is not None
    judge = np.array([0.0, 1, 2, 4])
    ratings = np.array([[0.0, 0], [1, 2], [2, 2], [3, 1]])
    assert four.alt_test.advantage.estimate == alt_test(judge, ratings).advantage.estimate
    table = answer(found, texts=True).tables["gaps"]
    columns = [column.name for column in table.columns]
    first = dict(zip(columns, table.rows[0], strict=True))
    assert (first["item"], first["gap"]) == ("q03", 0.5)
    assert str(first["text"]).startswith("Candidate, ai: Alpha text of q03")
    assert "Comparator, human: Beta text of q03" in str(first["text"])
    assert "candidate read first: Because of first." in str(first["reasons"])


def published(shared_data: Path, folder: Path) -> StudyRecord:
    database = folder / "paper.db"
    made = [
        "study",
        "import",
        str(shared_data / "assessment-dataset.json"),
        "--name",
        "paper",
        "--margin",
        "0.1",
    ]
    assert main([*made, "--again", "--db", str(database)]) == 0
    for rater in "12":
        file = str(shared_data / f"results-evaluator-{rater}.json")
        assert (
            main(["study", "votes", "paper", file, "--rater", f"evaluator {rater}", "--db", str(database)])
            == 0
        )
    with open_store(database) as store:
        return released_record(store, find_study(store, "paper"))


@pytest.fixture(scope="module", params=["published", "demo"])
def studied(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StudyRecord]:
    """The published study with its votes; the demo study with scripted raters."""
    folder = tmp_path_factory.mktemp("studied")
    if request.param == "published":
        yield published(request.getfixturevalue("shared_data"), folder)
        return
    from core.study.lifecycle import load_demo_once
    from core.study.raters import add_raters, links

    with open_store(folder / "demo.db") as store:
        load_demo_once(store)
        study = find_study(store, "demo")
        add_raters(store, study, ["R1", "R2", "R3"])
        for number, link in enumerate(links(store, study)):
            draws = Random(number)
            vote(
                store,
                link.token,
                lambda pair, draws=draws: draws.choice(["left", "both_good", "both_bad", "right"]),
            )  # type: ignore[misc]
        factories.ended(store, study.study_id)
        yield released_record(store, find_study(store, "demo"))


@pytest.mark.slow
def test_raters_numbers_are_those_of_the_study(studied: StudyRecord) -> None:
    """Raw agreement, AC1, and kappa of two raters, over all pairs and by level, with both intervals."""
    found = pairs_report(judged(texts_of(studied, masked=True), coin(3)), studied)
    results = study_results(studied)
    assert found.votes is not None
    blocks = {one.level: one for one in found.votes.blocks if one.answers == "four"}
    assert set(blocks) == {"", *results.per_level}
    for level, one in blocks.items():
        own = results.per_level.get(level, results.overall)
        assert one.n_pairs == own.n_pairs
        assert one.agreement.raters == own.raw_agreement
        assert one.ac1_raters == own.gwet_ac1
        if len(results.raters) == 2:
            assert one.kappa_raters == own.cohen_kappa
    assert found.votes.raters_position == results.position_overall
    # The check reads the same verdicts.
    panel = votes_panel(studied, scores_of(judged(texts_of(studied), coin(3))))
    (check,) = check_panel(panel, CheckOptions(use="gate")).judges
    three = next(one for one in found.votes.blocks if (one.level, one.answers) == ("", "three"))
    assert np.array_equal(panel.scores, found.votes.panel.scores, equal_nan=True)
    assert check.agreement.estimate == pytest.approx(three.agreement.judge.estimate)
    assert check.verdict != "TRUSTED"


@pytest.mark.slow
def test_a_copy_of_a_rater_of_a_real_study_agrees_with_it(studied: StudyRecord) -> None:
    counted = count(studied, Filters())
    codes = dict(zip(counted.keys, counted.codes[:, 0].tolist(), strict=True))
    found = report(judged(texts_of(studied, masked=True), copies(studied, codes)), studied)
    assert found.votes is not None
    pairs = [one for one in found.votes.blocks if not one.level]
    for one in pairs:
        n = counted.codes.shape[1]
        mean = (1 + (n - 1) * (one.agreement.raters.estimate or 0)) / n
        if n == 2:
            assert one.agreement.judge.estimate == pytest.approx(mean)
        assert (one.kappa.estimate or 0) > (one.kappa_raters.estimate or 0)
    assert found.blocks[0].same.estimate == 1
    plain = report(judged(texts_of(studied), copies(studied, codes)), studied)
    assert answer(found).json == answer(plain).json, "masks make no difference once they are decoded"


def test_a_judge_with_one_answer_is_named_first(simulated: StudyRecord) -> None:
    """It agrees with every rater who gave that answer, and is no judge: the first sentence warns, a varied judge has none."""
    record, codes = held_out(simulated)
    always = lambda a, b, repeat: "both_good"  # noqa: E731
    for says, n in ((always, N_PAIRS), (always_first, N_PAIRS)):
        first, *others = answer(report(judged(texts_of(record), says), record)).all_sentences
        assert first.startswith(f"{NAME} is constant: on {n} of {N_PAIRS} pairs")
        assert not any("constant" in line for line in others)
    varied = answer(report(judged(texts_of(record), copies(record, codes)), record)).all_sentences
    assert not any("constant" in line for line in varied)


def test_exclusions_of_the_study_hold() -> None:
    """An excluded rater, a flagged pair, a hidden repeat, a pair with too few votes: as in the study's results."""
    data = dataset(12, ("A0", "A1"))
    keys = [(item.item_id, level) for item in data.items for level in data.levels]
    draws = Random(5)
    votes = {
        name: {key: draws.choice(PREFERENCES) for key in keys[: 24 if name != "R2" else 20]}
        for name in ("R1", "R2", "gone")
    }
    record = record_of(
        votes,
        data,
        raters=[Rater("R1"), Rater("R2"), Rater("gone", excluded="asleep")],
        repeats={"R1": {keys[0]: "both_bad"}},
        invalid=[("R1", *keys[3])],
        main_levels=data.levels,
    )
    record = replace(record, study=replace(record.study, state="unblinded"))
    found = report(judged(texts_of(record), coin(1)), record)
    results = study_results(record, n_resamples=200)
    assert found.votes is not None
    assert found.votes.raters == results.raters == ("R1", "R2")
    assert (results.overall.n_pairs, results.overall.n_left_out) == (19, found.votes.left_out)
    assert found.votes.blocks[0].agreement.raters == results.overall.raw_agreement
    lacking = judged(texts_of(record), lambda a, b, repeat: None if a.item_id == "q01" else "both_good")
    fewer = report(lacking, record)
    assert fewer.votes is not None
    assert fewer.votes.left_out["no verdict of the judge"] == 1
    assert fewer.votes.blocks[0].n_pairs == 18


def test_nothing_by_system_and_no_votes_before_the_study_is_unblinded(store: Store) -> None:
    at_hand = study_in(store, dataset(4), raters=("R1", "R2"), state="open")
    for token in at_hand.tokens.values():
        vote(store, token, factories.prefers(0))
    output = judged(texts_of(at_hand.record, masked=True), always_first)
    found = report(output)
    assert found.systems == ()
    assert found.systems_reason
    assert "pairs-systems" not in answer(found).tables
    shown = answer(found)
    written = json_of(shown.tables["pairs"]), shown.json, shown.all_sentences
    assert not any(name in str(written) for name in ("'ai'", "'human'", "answer 1"))
    assert found.blocks[0].position.share_first.estimate == 1, "what the place does is no secret"
    with pytest.raises(NotAllowed):
        win_rates(judged_pairs(output))
    with pytest.raises(NotAllowed):
        report(output, at_hand.record)
    with pytest.raises(NotAllowed):
        votes_panel(at_hand.record, scores_of(output))
    factories.ended(store, at_hand.study_id)
    record = at_hand.record
    assert {one.system for one in report(output, record).systems} == {"ai", "human"}
    assert report(output).systems == (), "masks stay masks without the study"
    both = votes_panel(
        record, [scores_of(output), replace(scores_of(judged(texts_of(record), coin(1), name="other")))]
    )
    assert both.judges == (NAME, "other")
    assert [one[1] for one in both.sources] == [NAME, "other"]
    assert np.isfinite(both.scores).all()
    named = scores_of(judged(texts_of(record), coin(2), name="named"))
    margins = vote_margins(record, [scores_of(output), named])
    assert margins.shape == both.scores.shape, "masked and named texts of several judges are one table"
    assert (margins[:, 0] == vote_margins(record, scores_of(output))[:, 0]).all()
    (one,) = metrics_against_votes(record, scores_of(output), n_resamples=50)
    assert one.agreement.estimate == 0.5, "a tie in every pair"


def test_a_handful_of_items_shows_nothing_of_a_place() -> None:
    five = report(judged(texts(*"01234"), always_first))
    assert five.blocks[0].position.share_first.estimate == 1
    assert not any("No sign" in line for line in answer(five).all_sentences)


def test_always_the_candidate_is_no_constant_judge_and_always_a_tie_is_one(simulated: StudyRecord) -> None:
    """Sides are names that no judge reads: who always prefers one tells the texts apart. Raters who agree do so too."""
    record = simulated
    sure, ties, turned = (
        judged(
            texts_of(record), copies(record, {(item.item_id, "A0"): code for item in record.items}), name=name
        )
        for name, code in (("sure", 0), ("ties", 1), ("turned", 3))
    )
    panel = votes_panel(record, [scores_of(one) for one in (sure, ties, turned)])
    assert [constant_scores(panel, one) is None for one in panel.scores.T] == [True, False, True]
    agreed = replace(panel, ratings=np.ones_like(panel.ratings))
    found = {one.name: one for one in check_panel(agreed, CheckOptions(use="gate")).judges}
    assert found["sure"].verdict != "NOT TRUSTED"
    assert found["ties"].verdict == "NOT TRUSTED"
    assert found["turned"].verdict != "TRUSTED"
