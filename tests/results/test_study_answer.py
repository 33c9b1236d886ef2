"""What a study of pairs answers: who is better, who disagrees, what would change it, and the words for studies without a margin."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from helpers.texts.factories import dataset, item_ids, record_of

from core.analyses.study_results.pair_rows import answer_of
from core.results.study.counted import Filters
from core.results.study.results import StudyResults, headline, results_said, size_said, study_results
from core.results.study.tables import GAFFKE, GAFFKE_DECIDES
from core.results.study.words import answer_name
from core.schema.result_table import Interval
from core.schema.study import NO_LEVEL, Preference, VoteMeaning
from core.stats.conclusion import ANSWERS
from core.stats.non_inferiority import NO_MARGIN

SWAPPED: Mapping[Preference, Preference] = {"candidate": "comparator", "comparator": "candidate"}


def votes(lost: int, tied: int, won: int, seed: int | None = None) -> list[Preference]:
    """One vote a question, in this order or shuffled."""
    given: list[Preference] = ["comparator"] * lost + ["both_good"] * tied + ["candidate"] * won
    if seed is not None:
        random.Random(seed).shuffle(given)
    return given


def results_of(
    raters: Mapping[str, Sequence[Preference | None]], filters: Filters | None = None, **design: Any
) -> StudyResults:
    """A study with one pair a question; None: the rater gave no vote."""
    n = max(map(len, raters.values()))
    given = {
        name: {(item, "A1"): one for item, one in zip(item_ids(n), chosen, strict=True) if one is not None}
        for name, chosen in raters.items()
    }
    record = record_of(given, dataset(n, levels=("A1",)), **design)
    return study_results(record, filters, n_resamples=200)


def names_of(lines: Sequence[str], name: str) -> list[str]:
    return [line for line in lines if f"Rater {name} " in line]


def test_shares_mean_and_bounds_by_hand() -> None:
    chosen = votes(8, 20, 12)
    found = results_of({"A": chosen, "B": chosen}, margin=0.3)
    made = found.answer
    assert (made.shares.candidate, made.shares.tie, made.shares.comparator) == (0.3, 0.5, 0.2)
    assert (made.shares.n, made.conclusion.n_questions, made.conclusion.mean) == (40, 40, pytest.approx(0.1))
    assert made.value == "not worse"
    assert made.conclusion.bounds is not None
    assert made.conclusion.bounds.bound == found.verdict.bound
    written = answer_of(found).json
    assert written["verdict"]["value"] == "non-inferior", "the code of before stays"
    assert (written["answer"]["value"], written["answer"]["bound"]) == ("not worse", found.verdict.bound)
    assert written["answer"]["low"] <= written["answer"]["bound"] < written["answer"]["mean"]
    table = answer_of(found).tables["answer"]
    (row,) = table.rows
    assert any("90" in one for one in table.notes), (
        "the level of the interval that it shows, not that of other tables"
    )
    assert isinstance(row[1], Interval)
    assert (row[1].low, row[1].high) == (written["answer"]["low"], written["answer"]["high"])
    assert row[5:] == (40, 40)


@pytest.mark.parametrize(
    ("chosen", "value", "verdict"),
    [
        (votes(0, 10, 30), "better", "non-inferior"),
        (votes(30, 10, 0), "worse", "not enough information"),
        (votes(0, 40, 0), "not worse", "non-inferior"),
        (votes(0, 0, 40), "better", "non-inferior"),
        (votes(0, 1, 0), "not enough information", "not enough information"),
        (votes(20, 8, 12), "not shown", "not shown"),
    ],
)
def test_the_first_sentence_is_the_answer(chosen: list[Preference], value: str, verdict: str) -> None:
    found = results_of({"A": chosen, "B": chosen})
    assert (found.answer.value, found.verdict.value) == (value, verdict)
    first = headline(found)[0]
    assert first.split(". ")[0] == answer_name(found.answer.value, 0.1, "ai", "human", "fits_level")
    bounds = found.answer.conclusion.bounds
    assert bounds is not None
    assert ("Gaffke" in first) == (
        (bounds.high_method if value == "worse" else bounds.low_method) == "gaffke"
    )
    assert found.sensitivity[0].answer == value


def test_the_declared_level_decides_not_worse() -> None:
    chosen = votes(8, 88, 4)
    at = {
        level: results_of({"A": chosen, "B": chosen}, margin=0.1, confidence_level=level)
        for level in (0.9, 0.95)
    }
    assert [found.answer.value for found in at.values()] == ["not worse", "not shown"]
    lows = {found.answer.conclusion.bounds.low for found in at.values() if found.answer.conclusion.bounds}
    assert len(lows) == 1, "the interval does not depend on the declared level"


def test_filters_make_an_answer_exploratory() -> None:
    chosen = votes(8, 20, 12)
    found = results_of({"A": chosen, "B": chosen}, Filters(raters=("A",)))
    assert answer_of(found).json["answer"]["exploratory"] is True
    assert headline(found)[0].startswith("Exploratory: ")


# --- raters ---------------------------------------------------------------------------------------


def test_a_rater_who_contradicts_the_answer_is_named() -> None:
    """Rater means of -.26, -.05 and .41: the study is not worse, and the first rater finds the candidate worse."""
    three = {"r1": votes(40, 46, 14, 1), "r2": votes(25, 55, 20, 2), "r3": votes(14, 31, 55, 3)}
    found = results_of(three)
    made = found.answer
    assert found.verdict.value == "non-inferior"
    assert made.rater_level == pytest.approx(1 - 0.10 / 3)
    assert [one.mean for one in made.raters] == pytest.approx([-0.26, -0.05, 0.41])
    assert [one.rater for one in made.dissenting] == ["r1"]
    assert made.raters[0].high is not None
    assert made.raters[0].high < 0
    assert [len(names_of(headline(found), name)) for name in three] == [1, 0, 0]
    assert answer_of(found).json["answer"]["raters"]["r1"]["dissents"] is True


def test_raters_who_differ_by_chance_are_not_named() -> None:
    found = results_of({name: votes(10, 22, 8, seed) for seed, name in enumerate("abc")})
    assert found.answer.dissenting == ()


def test_one_rater_has_no_agreement_and_cannot_dissent() -> None:
    found = results_of({"A": votes(8, 20, 12)})
    assert found.answer.rater_level == pytest.approx(0.9)
    assert found.answer.dissenting == ()
    assert sum("agreement between raters is unknown" in line for line in headline(found)) == 1


def test_no_vote_says_so() -> None:
    found = study_results(record_of({}), n_resamples=50)
    assert found.answer.value == "not enough information"
    assert found.answer.shares.candidate is None
    assert answer_of(found).json["answer"]["low"] is None
    assert answer_of(found).tables["answer"].rows[0][0] == "Not enough information"


# --- robustness -----------------------------------------------------------------------------------


def test_gaffkes_bound_has_a_row_and_is_named_where_it_disagrees() -> None:
    chosen = votes(4, 14, 6)
    found = results_of({"A": chosen, "B": chosen}, margin=0.1)
    made = found.answer
    assert made.conclusion.bounds is not None
    assert made.conclusion.gaffke is not None
    assert (made.value, made.conclusion.bounds.low_method) == ("not worse", "questions")
    assert made.conclusion.gaffke.value == "not enough information"
    assert made.gaffke_disagrees
    assert sum("Gaffke" in line for line in headline(found)) == 1
    rows = {row[0]: row[3] for row in answer_of(found).tables["bounds"].rows}
    assert isinstance(rows[GAFFKE], Interval)
    assert rows[GAFFKE].value == made.conclusion.gaffke.bound
    few = results_of({"A": votes(0, 40, 0), "B": votes(0, 40, 0)})
    assert GAFFKE_DECIDES in [row[0] for row in answer_of(few).tables["bounds"].rows]
    assert not few.answer.gaffke_disagrees


@pytest.mark.parametrize(("chosen", "holds"), [(votes(1, 20, 1), False), (votes(5, 50, 25), True)])
def test_one_more_lost_question_is_named_only_where_it_matters(chosen: list[Preference], holds: bool) -> None:
    found = results_of({"A": chosen, "B": chosen})
    assert found.answer.conclusion.holds_with_one_more is holds
    assert any("one more question" in line for line in headline(found)) is not holds
    rows = [row[0] for row in answer_of(found).tables["robustness"].rows]
    assert "one more question lost outright by ai" in rows, "the table has the row either way"


def test_unanswered_pairs_are_named_if_they_could_change_the_answer() -> None:
    """60 questions: 20 lost, 12 won. Half of the lost pairs have only one of the two votes that they need."""
    chosen = votes(20, 28, 12)
    half: list[Preference | None] = [None if n < 10 else one for n, one in enumerate(chosen)]
    complete, found = (results_of({"A": chosen, "B": b}, votes_needed=2, margin=0.15) for b in (chosen, half))
    assert complete.answer.value != "not worse"
    assert complete.answer.unanswered.n == 0
    made = found.answer
    assert (made.value, found.overall.n_pairs, made.unanswered.n) == ("not worse", 50, 10)
    assert made.unanswered.worst.value_at_worst == complete.answer.value
    assert made.unanswered.worst.tipping is not None
    assert 1 <= made.unanswered.worst.tipping <= 10
    line = found.sensitivity[-1]
    assert (line.name, line.n_pairs, line.answer) == ("unanswered pairs at worst", 60, complete.answer.value)
    written = answer_of(found).json["answer"]["unanswered"]
    assert written["tipping_share"] == made.unanswered.worst.tipping / 10
    assert sum("lack votes" in line for line in headline(found)) == 1
    assert "all 10 unanswered pairs lost by ai" in [
        row[0] for row in answer_of(found).tables["robustness"].rows
    ]


@pytest.mark.parametrize(
    ("chosen", "answer", "at_worst"),
    [
        (votes(2, 30, 12), "better", {"": "not shown"}),
        (votes(12, 30, 2), "worse", {"": "not shown"}),
        (votes(4, 30, 6), "not shown", {", lost by human": "better", ", lost by ai": "worse"}),
    ],
)
def test_lines_at_worst_go_against_the_claim_without_a_margin(
    chosen: list[Preference], answer: str, at_worst: dict[str, str]
) -> None:
    """The last 12 pairs lack a vote; the line says what the sentence and the table say."""
    found = results_of(
        {"A": [*chosen, *["both_good"] * 12], "B": [*chosen, *[None] * 12]}, votes_needed=2, margin=None
    )
    assert (found.answer.value, found.answer.unanswered.n) == (answer, 12)
    lines = {line.name: line.answer for line in found.sensitivity}
    for way, value in at_worst.items():
        assert lines[f"unanswered pairs at worst{way}"] == value
    cases = found.answer.unanswered.cases
    assert sorted(case.value_at_worst for case in cases) == sorted(at_worst.values())
    assert answer_of(found).json["answer"]["unanswered"]["against"] == cases[0].against


def test_a_study_without_a_counted_pair_has_nothing_to_change() -> None:
    found = results_of({"A": votes(4, 4, 4), "B": [None] * 12}, votes_needed=2, margin=None)
    assert found.answer.unanswered.n == 12
    assert "robustness" not in [table.name for table in answer_of(found).tables.values()]


def test_flagged_pairs_that_are_left_out_are_not_unanswered() -> None:
    given = {(item, "A1"): one for item, one in zip(item_ids(40), votes(8, 20, 12), strict=True)}
    flags = [("A", item, "A1") for item in item_ids(40)[:4]]
    record = record_of(
        {"A": given, "B": given}, dataset(40, levels=("A1",)), invalid=flags, flagged="leave_out"
    )
    found = study_results(record, n_resamples=50)
    assert (found.overall.n_pairs, found.answer.unanswered.n) == (36, 0)


# --- no margin ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "value"),
    [
        (votes(2, 10, 28, 1), "better"),
        (votes(28, 10, 2, 1), "worse"),
        (votes(10, 20, 10, 1), "not shown"),
        (votes(3, 2, 3), "not enough information"),
    ],
)
def test_without_a_margin_the_words_do_not_depend_on_the_order_of_systems(
    chosen: list[Preference], value: str
) -> None:
    found = results_of({"A": chosen, "B": chosen}, margin=None)
    made = found.answer
    assert made.value == value
    assert (found.verdict.value, found.verdict.bound, found.verdict.reason) == (None, None, NO_MARGIN)
    assert {line.value for line in found.sensitivity} == {None}
    assert found.sensitivity[0].answer == value
    assert found.raters_as_sample.value is None
    text = " ".join(results_said(found))
    assert "candidate" not in text
    assert "non-inferior" not in text.lower()
    turned = [SWAPPED.get(one, one) for one in chosen]
    other = results_of({"A": turned, "B": turned}, margin=None, candidate="human", comparator="ai")
    first, second = (headline(one)[0].split(". ")[0] for one in (found, other))
    assert first == second, "the same votes, with the systems in the other order"
    if value in ("better", "worse"):
        assert first.split(" ")[0] == ("ai" if value == "better" else "human")
    assert made.conclusion.mean == pytest.approx(-other.answer.conclusion.mean)  # type: ignore[operator]


@pytest.mark.parametrize("votes_mean", ["better", "fits_level"])
def test_every_answer_has_a_name_with_and_without_a_margin(votes_mean: VoteMeaning) -> None:
    with_margin = {answer_name(value, 0.1, "a", "b", votes_mean) for value in ANSWERS}
    assert len(with_margin) == len(ANSWERS)
    symmetric = {answer_name(value, None, "a", "b", votes_mean) for value in ("better", "worse", "not shown")}
    assert len(symmetric) == 3
    assert not with_margin & symmetric


# --- words and the numbers in them ----------------------------------------------------------------


def test_too_little_information_says_why_and_plans_more_questions() -> None:
    """The bootstrap decides, its interval contains both ends of the margin, and the verdict alone would be "not shown"."""
    chosen = votes(10, 5, 9, 1)
    found = results_of({"A": chosen, "B": chosen}, margin=0.1)
    made = found.answer
    assert (made.value, found.verdict.value) == ("not enough information", "not shown")
    assert made.conclusion.reason is not None
    assert made.conclusion.bounds is not None
    assert made.conclusion.bounds.low_reason is None
    lines = headline(found)
    assert lines[0].lower().count(made.conclusion.reason) == 1
    assert size_said(found.own_size) in lines


@pytest.mark.parametrize("margin", [None, 0.1])
def test_few_questions_are_given_as_a_reason_once(margin: float | None) -> None:
    chosen = votes(4, 5, 5)
    found = results_of({"A": chosen, "B": chosen}, margin=margin)
    assert found.answer.value == "not enough information"
    assert found.answer.conclusion.reason is not None
    assert headline(found)[0].lower().count(found.answer.conclusion.reason) == 1


def test_two_printed_bounds_say_which_are_gaffkes() -> None:
    chosen = votes(30, 10, 0)
    found = results_of({"A": chosen, "B": chosen}, margin=0.1)
    bounds = found.answer.conclusion.bounds
    assert bounds is not None
    assert (bounds.low_method, bounds.high_method) == ("gaffke", "gaffke")
    assert "Both are Gaffke's bounds" in headline(found)[0]


def test_opposed_raters_are_not_ties_of_all_votes() -> None:
    """10 pairs with a vote for each system and 10 that both call ties."""
    found = results_of({"A": votes(0, 10, 10), "B": [*["both_good"] * 10, *["comparator"] * 10]}, margin=None)
    shares = found.answer.shares
    assert (shares.tie, shares.opposed, shares.n) == (1.0, 10, 20)
    assert answer_of(found).json["answer"]["shares"]["opposed"] == 10
    agreed = votes(4, 10, 6)
    assert results_of({"A": agreed, "B": agreed}).answer.shares.opposed == 0
    said = [sum("disagreed on the winner" in line for line in headline(one)) for one in (found,)]
    assert said == [1]


def test_names_of_systems_stand_as_they_are() -> None:
    chosen = votes(4, 14, 12)
    found = results_of({"A": chosen, "B": chosen}, margin=None, candidate="gpt-50%", comparator="b")
    assert "gpt-50 %" not in " ".join(results_said(found))


def test_a_rater_prefers_a_system_where_nothing_is_claimed() -> None:
    raters = {"r1": votes(2, 18, 20, 1), "r2": votes(17, 19, 4, 2), "r3": votes(9, 20, 11, 3)}
    found = results_of(raters, margin=None)
    assert found.answer.value == "not shown"
    (line,) = names_of(headline(found), "r2")
    assert "human fits better" in line


@pytest.mark.parametrize("margin", [None, 0.3])
@pytest.mark.parametrize("level", ["A1", NO_LEVEL])
def test_votes_about_levels_say_which_answer_fits(level: str, margin: float | None) -> None:
    """The answer, its shares and the heads of tables; a study without levels says which answer is better."""
    chosen = dict(zip(item_ids(40), votes(4, 14, 22), strict=True))
    given = {(item, level): one for item, one in chosen.items()}
    record = record_of({"A": given, "B": given}, dataset(40, levels=(level,)), margin=margin)
    found = study_results(record, n_resamples=50)
    assert found.answer.votes_mean == record.study.votes_mean
    tables = answer_of(found).tables
    titles = [column.title for name in ("answer", "choices") for column in tables[name].columns]
    said = [" ".join(headline(found)[:2]), *(text for text in titles if text.startswith(("ai", "human")))]
    fits = level != NO_LEVEL
    assert all(("fits" in text.lower()) == fits for text in said), said
    assert len(said) == 5


def test_the_table_of_the_answer_says_the_level_of_its_interval() -> None:
    chosen = votes(8, 20, 12)
    found = results_of({"A": chosen, "B": chosen}, margin=0.3)
    assert found.answer.conclusion.interval_level == 0.9
    assert "two-sided 90 %" in answer_of(found).tables["answer"].notes[0].replace("\xa0", " ")


def test_a_flag_is_true_or_false_in_files() -> None:
    chosen = votes(8, 20, 12)
    table = answer_of(results_of({"A": chosen, "B": chosen})).tables["position"]
    assert [row[-1] for row in table.rows] == [False] * 3
    assert table.columns[-1].name == "flagged"
    assert all(isinstance(row[-1], bool) for row in table.rows)
