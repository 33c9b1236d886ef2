"""Which answers count, rule by rule; used and left out add up to all."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest
from helpers.texts import factories
from helpers.texts.factories import LEVELS, dataset, item_ids
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.results.study.counted import OUTSIDE, TOO_FEW, Counted, Filters, Variant, count, filtered
from core.results.study.results import StudyResults, study_results
from core.schema.study import GUESSED_SIDES, PREFERENCES, Guess, Rater, StudyRecord
from core.stats.votes import NO_SIDE

record_of = partial(factories.record_of, main_levels=LEVELS)
"""All levels are in the main analysis, so that every pair of a table by hand counts."""
PAIRS = [(item, level) for item in item_ids(4) for level in LEVELS]
ALL = dict.fromkeys(PAIRS, "candidate")
CANDIDATE, BOTH_GOOD, BOTH_BAD, COMPARATOR = range(4)


def some(pairs: Sequence[tuple[str, str]], preference: str = "candidate") -> dict[tuple[str, str], str]:
    return dict.fromkeys(pairs, preference)


def check_sums(record: StudyRecord, counted: Counted, wanted: int = 20) -> None:
    assert len(counted.keys) + sum(counted.pairs_left_out.values()) == wanted
    given_answers = sum(answer.answered for answer in record.answers)
    assert counted.answers_used + sum(counted.answers_left_out.values()) == given_answers
    for level in counted.levels:
        left_out = sum(counted.left_out_by_level[level].values())
        assert counted.at_level(level).sum() + left_out == wanted / len(counted.levels)


def test_everything_counts() -> None:
    record = record_of({"A": ALL, "B": some(PAIRS, "both_bad")})
    counted = count(record, Filters())
    assert counted.raters == ("A", "B")
    assert list(counted.keys) == PAIRS
    assert counted.codes.tolist() == [[CANDIDATE, BOTH_BAD]] * 20
    assert (counted.answers_used, counted.answers_left_out, counted.pairs_left_out) == (40, {}, {})
    assert counted.questions.tolist() == [item for item, _ in PAIRS]
    check_sums(record, counted)


def test_codes_are_the_preferences_in_their_order() -> None:
    record = record_of({"A": dict(zip(PAIRS, PREFERENCES * 5, strict=True))})
    assert count(record, Filters()).codes[:, 0].tolist() == [0, 1, 2, 3] * 5


def test_dry_runs_never_count() -> None:
    record = record_of(
        {"A": ALL, "P": ALL},
        raters=[Rater("A"), Rater("P", dry_run=True)],
        invalid=[("P", "q00", "A0")],
    )
    counted = count(record, Filters())
    assert counted.raters == ("A",)
    assert counted.answers_left_out == {"dry run": 20}
    assert len(counted.keys) == 20, "nor do a preview's flags"
    check_sums(record, counted)
    with pytest.raises(InputError, match=r"This study has no rater 'P'. Available: A."):
        count(record, Filters(raters=["P"]))


def test_excluded_raters_never_count() -> None:
    """Not their answers, flags, sides or repeats; the reason is theirs, before any other."""
    votes = {"A": ALL, "X": some(PAIRS[:12], "comparator")}
    record = record_of(
        votes,
        raters=[Rater("A"), Rater("X", excluded="pressed one key")],
        repeats={"A": some(PAIRS[:1]), "X": some(PAIRS[:3], "comparator")},
        invalid=[("X", "q00", "A0"), ("X", "q03", "A4")],
        votes_needed=1,
    )
    counted = count(record, Filters())
    assert counted.raters == ("A",)
    assert counted.answers_left_out == {"hidden repeat": 1, "rater excluded": 15}
    assert (len(counted.keys), counted.pairs_left_out) == (20, {}), (
        "nor do their flags, with a vote or without"
    )
    assert (set(counted.sides), counted.repeats) == ({"A"}, {"A": (1, 1)})
    check_sums(record, counted)
    assert counted.flagged == set()
    level = count(record, Filters(levels=["A1"]))
    assert level.answers_left_out == {"hidden repeat": 1, "rater excluded": 15, "pair not chosen": 16}
    results = study_results(record, n_resamples=10)
    alone = study_results(only(record, raters=["A"]), n_resamples=10)
    assert without_reasons(results) == without_reasons(alone)


def test_the_votes_of_an_excluded_rater_make_no_pair_count() -> None:
    votes = {"A": ALL, "B": some(PAIRS[:10]), "X": ALL}
    people = [Rater("A"), Rater("B"), Rater("X", excluded="")]
    counted = count(record_of(votes, raters=people), Filters())
    assert list(counted.keys) == PAIRS[:10], "an exclusion without a reason is one too"
    assert counted.answers_left_out == {"rater excluded": 20, "pair left out": 10}


def test_asking_for_an_excluded_rater_says_so() -> None:
    people = [Rater("A"), Rater("X", excluded="pressed one key"), Rater("Y", excluded="")]
    record = record_of({"A": ALL, "X": ALL, "Y": ALL}, raters=people)
    message = r"Excluded from the analysis: rater 'X' \(pressed one key\), 'Y' \(no reason given\)\."
    with pytest.raises(InputError, match=message):
        count(record, Filters(raters=["A", "X", "Y"]))
    with pytest.raises(InputError, match=r"no rater 'Z'\. Available: A\."):
        count(record, Filters(raters=["Z"]))


def test_a_preview_that_is_excluded_is_a_preview() -> None:
    people = [Rater("A"), Rater("P", dry_run=True, excluded="by mistake")]
    record = record_of({"A": ALL, "P": ALL}, raters=people)
    assert count(record, Filters()).answers_left_out == {"dry run": 20}


def test_hidden_repeats_never_count() -> None:
    record = record_of({"A": some(PAIRS[:5])}, repeats={"A": some(PAIRS[:3], "comparator")})
    counted = count(record, Filters())
    assert counted.codes.tolist() == [[CANDIDATE]] * 5
    assert counted.answers_left_out == {"hidden repeat": 3}
    assert counted.repeats == {"A": (0, 3)}
    check_sums(record, counted)


def test_repeats_are_compared_with_the_first_time_by_preference() -> None:
    first = dict(zip(PAIRS[:4], PREFERENCES, strict=True))
    again = {**dict(zip(PAIRS[:3], PREFERENCES, strict=False)), PAIRS[3]: "both_bad", PAIRS[4]: "candidate"}
    counted = count(record_of({"A": first}, repeats={"A": again}), Filters())
    assert counted.repeats == {"A": (3, 4)}, "the fifth was never answered the first time"
    result = study_results(record_of({"A": first}, repeats={"A": again}), n_resamples=10).repeats["A"]
    assert (result.n, result.n_same, result.share) == (4, 3, 0.75)


def test_a_rater_whose_only_answer_is_a_repeat_is_not_active() -> None:
    record = record_of({"A": ALL, "B": {}}, repeats={"B": some(PAIRS[:1])})
    assert count(record, Filters()).raters == ("A",)


FLAGS = [("B", *PAIRS[0]), ("A", *PAIRS[0]), ("A", *PAIRS[7])]


def test_the_votes_of_a_flagged_pair_stay() -> None:
    """Raters flag broken answers: without these pairs a candidate would be judged on what it got right."""
    record = record_of({"A": ALL, "B": ALL}, invalid=FLAGS)
    counted = count(record, Filters())
    assert counted.flagged == {PAIRS[0], PAIRS[7]}
    assert (len(counted.keys), counted.pairs_left_out) == (20, {})
    check_sums(record, counted)


@pytest.mark.parametrize("declared", [True, False])
def test_flagged_pairs_can_be_left_out(declared: bool) -> None:
    """As declared, or as a line of the sensitivity table: one flag is enough, for all raters."""
    record = record_of({"A": ALL, "B": ALL}, invalid=FLAGS, flagged="leave_out" if declared else "keep")
    counted = count(record, Filters(), Variant(leave_out_flagged=None if declared else True))
    assert counted.pairs_left_out == {"flagged as invalid": 2}
    assert counted.left_out_by_level["A0"] == {"flagged as invalid": 1}
    assert PAIRS[0] not in counted.keys
    assert counted.answers_left_out == {"pair left out": 4}
    check_sums(record, counted)


def test_a_flag_without_an_answer_counts_too() -> None:
    record = record_of({"A": ALL, "B": some(PAIRS[1:])}, invalid=[("B", *PAIRS[0])], flagged="leave_out")
    counted = count(record, Filters())
    assert counted.pairs_left_out == {"flagged as invalid": 1}
    check_sums(record, counted)


def test_a_pair_needs_two_votes() -> None:
    record = record_of({"A": some(PAIRS[:15]), "B": some(PAIRS[10:])})
    counted = count(record, Filters())
    assert list(counted.keys) == PAIRS[10:15]
    assert counted.pairs_left_out == {TOO_FEW: 15}
    assert counted.pairs_by_votes == {1: 15, 2: 5}
    assert (counted.answers_used, counted.answers_left_out) == (10, {"pair left out": 15})
    check_sums(record, counted)


def test_a_late_rater_never_removes_a_pair() -> None:
    """The third rater has three votes: once only the pairs that all three answered counted."""
    two = record_of({"A": ALL, "B": ALL})
    three = record_of({"A": ALL, "B": ALL, "late": some(PAIRS[:3], "comparator")})
    assert count(three, Filters()).keys == count(two, Filters()).keys
    assert count(three, Filters()).pairs_by_votes == {2: 17, 3: 3}
    complete = count(three, Filters(), Variant(complete=True))
    assert list(complete.keys) == PAIRS[:3]


def test_votes_needed_can_be_declared() -> None:
    votes = {"A": some(PAIRS[:15]), "B": some(PAIRS[:10]), "C": some(PAIRS[5:12])}
    # A and B: 0-9; A and C: 5-11. Three votes: 5-9; two or more: 0-11; one or more: 0-14.
    for needed, n in ((1, 15), (2, 12), (3, 5)):
        counted = count(record_of(votes, votes_needed=needed), Filters())
        assert (len(counted.keys), counted.pairs_left_out) == (n, {TOO_FEW: 20 - n})
    counted = count(record_of(votes), Filters())
    assert counted.codes[0].tolist() == [0, 0, -1]
    assert counted.codes[5].tolist() == [0, 0, 0]
    assert counted.answers_used == 10 * 2 + 2 * 2 + 5
    assert counted.pairs_by_votes == {0: 5, 1: 3, 2: 7, 3: 5}


def test_raters_without_an_answer_are_not_waited_for() -> None:
    record = record_of({"A": ALL, "B": {}, "C": ALL})
    assert count(record, Filters()).raters == ("A", "C")
    asked = count(record, Filters(raters=["A", "B"]))
    assert asked.pairs_left_out == {TOO_FEW: 20}, "unless asked for by name"
    assert asked.answers_left_out == {"rater not chosen": 20, "pair left out": 20}
    check_sums(record, asked)


def test_a_filter_of_raters_needs_no_more_votes_than_it_names_raters() -> None:
    record = record_of({"A": some(PAIRS[:4]), "B": some(PAIRS[:2])})
    assert list(count(record, Filters()).keys) == PAIRS[:2]
    assert list(count(record, Filters(raters=["A"])).keys) == PAIRS[:4]


def test_naming_all_raters_who_answered_is_no_filter() -> None:
    """Neither the votes a pair needs nor the flags of a rater without answers change by it."""
    people = [Rater("A", link_number=1), Rater("B", link_number=1)]
    alone = record_of({"A": ALL, "B": {}}, raters=people)
    for filters in (Filters(), Filters(raters=["A"])):
        assert count(alone, filters).pairs_left_out == {TOO_FEW: 20}
        assert filtered(alone, filters) == {}
    record = record_of({"A": ALL, "B": ALL, "C": {}}, invalid=[("C", *PAIRS[0])], flagged="leave_out")
    both = count(record, Filters(raters=["A", "B"]))
    assert both.pairs_left_out == count(record, Filters()).pairs_left_out == {"flagged as invalid": 1}


def test_excluded_raters_can_be_kept_but_none_who_withdrew() -> None:
    people = [
        Rater("A"),
        Rater("X", excluded="one key"),
        Rater("W", excluded="withdrew, votes left out", withdrawn=True),
    ]
    record = record_of({"A": ALL, "X": ALL, "W": ALL}, raters=people)
    assert count(record, Filters()).keys == (), "one vote a pair, of two needed"
    kept = count(record, Filters(), Variant(keep_excluded=True))
    assert (kept.raters, len(kept.keys)) == (("A", "X"), 20)


def test_levels_outside_the_main_analysis_do_not_count() -> None:
    record = factories.record_of({"A": ALL, "B": ALL})
    counted = count(record, Filters())
    assert counted.levels == LEVELS[1:]
    assert counted.answers_left_out == {OUTSIDE: 8}
    assert filtered(record, Filters(levels=LEVELS[1:])) == {}, "naming the declared levels is no filter"
    assert filtered(record, Filters(levels=LEVELS)) == {"levels": LEVELS}
    assert filtered(record, Filters(raters=["B", "A"], questions=item_ids(4), languages=["en"])) == {}
    assert filtered(record, Filters(raters=["B"], questions=["q01"])) == {
        "raters": ("B",),
        "votes_needed": ("1",),
        "questions": ("q01",),
    }


def test_sides_are_counted_over_all_main_answers_that_name_a_source() -> None:
    votes = {"A": {**some(PAIRS[:10]), **some(PAIRS[10:], "both_good")}, "old": some(PAIRS[:6])}
    record = record_of(votes, raters=[Rater("A"), Rater("old", imported=True)])
    counted = count(record, Filters())
    left = sum(a.choice == "left" for a in record.answers if a.rater_id == "A")
    assert counted.sides == {"A": (left, 10 - left, 0), "old": (0, 0, 6)}
    results = study_results(record, n_resamples=10)
    assert results.position_left_out == {"side unknown (imported)": 6}
    assert results.position_overall.n == 10
    assert results.position_per_rater["old"].reason == NO_SIDE


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        (Filters(levels=["A1", "A9"]), r"no level 'A9'\. Available: A0, A1, A2, A3, A4\."),
        (Filters(raters=["A", "Z", "Y"]), r"no rater 'Z', 'Y'\. Available: A\."),
        (Filters(questions=["q99"]), r"no question 'q99'\. Available: q00, q01, q02, q03\."),
        (Filters(languages=["xx"]), r"no language 'xx'\. Available: en\."),
    ],
)
def test_filters_for_what_is_not_there(filters: Filters, message: str) -> None:
    with pytest.raises(InputError, match=message):
        count(record_of({"A": ALL}), filters)


def only(
    record: StudyRecord,
    *,
    levels: Sequence[str] = LEVELS,
    items: Sequence[str] | None = None,
    raters: Sequence[str] | None = None,
) -> StudyRecord:
    """The study as if it had never held anything else."""
    kept = [item.item_id for item in record.items] if items is None else items
    people = [rater.rater_id for rater in record.raters] if raters is None else raters
    return replace(
        record,
        study=replace(record.study, levels=tuple(levels)),
        items=tuple(item for item in record.items if item.item_id in kept),
        outputs=tuple(o for o in record.outputs if o.item_id in kept and o.level in levels),
        raters=tuple(rater for rater in record.raters if rater.rater_id in people),
        assignments=tuple(
            a for a in record.assignments if a.item_id in kept and a.level in levels and a.rater_id in people
        ),
        answers=tuple(
            a for a in record.answers if a.item_id in kept and a.level in levels and a.rater_id in people
        ),
        guesses=tuple(
            g for g in record.guesses if g.item_id in kept and g.level in levels and g.rater_id in people
        ),
    )


@st.composite
def records(draw: st.DrawFn) -> StudyRecord:
    """Three raters with votes here and there, flags, repeats and two languages."""
    vote = st.sampled_from([*PREFERENCES, *PREFERENCES, None])
    votes = {
        rater: {pair: given for pair in PAIRS if (given := draw(vote)) is not None}
        for rater in ("A", "B", "C")
    }
    invalid = draw(
        st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from(PAIRS)), max_size=3, unique=True)
    )
    about = draw(st.lists(st.sampled_from(PAIRS), max_size=6, unique=True))
    guesses = [
        Guess(rater, *pair, draw(st.sampled_from(GUESSED_SIDES))) for pair in about for rater in ("A", "B")
    ]
    record = record_of(
        votes,
        dataset(4, languages=("en", "ja")),
        repeats={"A": some(PAIRS[:4], "both_good")},
        invalid=[(rater, *pair) for rater, pair in invalid],
        votes_per_pair=draw(st.sampled_from([None, 2])),
    )
    return replace(record, guesses=tuple(guesses))


def without_reasons(results: StudyResults) -> StudyResults:
    """All but what was left out, and what tells a filtered study from a smaller one."""
    return replace(
        results,
        answers_left_out={},
        blinding=replace(results.blinding, n_left_out={}),
        filtered={},
        verdict=replace(results.verdict, exploratory=False),
        analysis_set=replace(results.analysis_set, votes_needed=0),
        sensitivity=tuple(line for line in results.sensitivity if line.name != "excluded raters kept"),
        rater_warnings={},
    )


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(records())
def test_filters_give_the_study_that_only_holds_the_rest(record: StudyRecord) -> None:
    cases = [
        (Filters(levels=["A1", "A3"]), only(record, levels=("A1", "A3"))),
        (Filters(questions=["q01", "q03"]), only(record, items=("q01", "q03"))),
        (Filters(languages=["ja"]), only(record, items=("q01", "q03"))),
        (Filters(raters=["A", "C"]), only(record, raters=("A", "C"))),
        (
            Filters(["A0"], ["B"], ["q00"], ["en"]),
            only(record, levels=("A0",), items=("q00",), raters=("B",)),
        ),
    ]
    for filters, smaller in cases:
        one = study_results(record, filters, n_resamples=20)
        other = study_results(smaller, Filters(raters=filters.raters), n_resamples=20)
        assert without_reasons(one) == without_reasons(other), filters
        assert one.blinding.overall.n + sum(one.blinding.n_left_out.values()) == len(record.guesses)
        answered = sum(answer.answered for answer in record.answers)
        assert one.answers_used + sum(one.answers_left_out.values()) == answered


@settings(max_examples=60, deadline=None)
@given(records())
def test_used_and_left_out_add_up(record: StudyRecord) -> None:
    counted = count(record, Filters())
    check_sums(record, counted)
    assert counted.codes.shape == (len(counted.keys), len(counted.raters))
    levels = count(record, Filters(levels=["A0", "A4"]))
    check_sums(record, levels, 8)


def test_levels_come_in_the_studys_order_whatever_was_asked() -> None:
    counted = count(record_of({"A": ALL}), Filters(levels=["A3", "A1"], questions=["q02", "q00"]))
    assert counted.levels == ("A1", "A3")
    assert counted.keys == (("q00", "A1"), ("q00", "A3"), ("q02", "A1"), ("q02", "A3"))


def test_raters_come_in_the_order_asked_for() -> None:
    record = record_of({"A": ALL, "B": some(PAIRS, "comparator")})
    counted = count(record, Filters(raters=["B", "A", "B"]))
    assert counted.raters == ("B", "A")
    assert counted.codes[0].tolist() == [COMPARATOR, CANDIDATE]


def test_a_flag_counts_from_whoever_saw_the_pair() -> None:
    """Also from a rater who answered nothing, unless only others were asked for."""
    record = record_of({"A": ALL, "B": ALL, "C": {}}, invalid=[("C", *PAIRS[0])], flagged="leave_out")
    assert count(record, Filters()).pairs_left_out == {"flagged as invalid": 1}
    assert count(record, Filters(raters=["A"])).pairs_left_out == {}
