"""Which answers count, rule by rule; used and left out add up to all."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from factories import LEVELS, dataset, item_ids, record_of
from hypothesis import given, settings
from hypothesis import strategies as st

from core.analysis.counted import Counted, Filters, count
from core.analysis.study_results import StudyResults, study_results
from core.errors import InputError
from core.schema import GUESSED_SIDES, PREFERENCES, Guess, Rater, StudyRecord

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
    with pytest.raises(InputError, match=r"There is no rater 'P' in this study; there is: A\."):
        count(record, Filters(raters=["P"]))


def test_excluded_raters_never_count() -> None:
    """Not their answers, flags, sides or repeats; the reason is theirs, before any other."""
    votes = {"A": ALL, "X": some(PAIRS[:12], "comparator")}
    record = record_of(
        votes,
        raters=[Rater("A"), Rater("X", excluded="pressed one key")],
        repeats={"A": some(PAIRS[:1]), "X": some(PAIRS[:3], "comparator")},
        invalid=[("X", "q00", "A0"), ("X", "q03", "A4")],
    )
    counted = count(record, Filters())
    assert counted.raters == ("A",)
    assert counted.answers_left_out == {"hidden repeat": 1, "rater excluded": 15}
    assert (len(counted.keys), counted.pairs_left_out) == (20, {}), (
        "nor do their flags, with a vote or without"
    )
    assert (set(counted.sides), counted.repeats) == ({"A"}, {"A": (1, 1)})
    check_sums(record, counted)
    level = count(record, Filters(levels=["A1"]))
    assert level.answers_left_out == {"hidden repeat": 1, "rater excluded": 15, "pair not chosen": 16}
    results = study_results(record, n_resamples=10)
    alone = study_results(only(record, raters=["A"]), n_resamples=10)
    assert replace(results, answers_left_out={}) == replace(alone, answers_left_out={})


def test_with_votes_per_pair_nobody_waits_for_an_excluded_rater() -> None:
    votes = {"A": ALL, "B": some(PAIRS[:10]), "X": ALL}
    people = [Rater("A"), Rater("B"), Rater("X", excluded="")]
    counted = count(record_of(votes, raters=people, votes_per_pair=2), Filters())
    assert list(counted.keys) == PAIRS[:10], "an exclusion without a reason is one too"
    assert counted.answers_left_out == {"rater excluded": 20, "pair left out": 10}


def test_asking_for_an_excluded_rater_says_so() -> None:
    people = [Rater("A"), Rater("X", excluded="pressed one key"), Rater("Y", excluded="")]
    record = record_of({"A": ALL, "X": ALL, "Y": ALL}, raters=people)
    message = r"Excluded from the analysis: rater 'X' \(pressed one key\), 'Y' \(no reason given\)\."
    with pytest.raises(InputError, match=message):
        count(record, Filters(raters=["A", "X", "Y"]))
    with pytest.raises(InputError, match=r"no rater 'Z' in this study; there is: A\."):
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


def test_a_flag_of_one_rater_takes_the_pair_out_for_all() -> None:
    record = record_of({"A": ALL, "B": ALL}, invalid=[("B", *PAIRS[0]), ("A", *PAIRS[0]), ("A", *PAIRS[7])])
    counted = count(record, Filters())
    assert counted.pairs_left_out == {"flagged as invalid": 2}
    assert counted.left_out_by_level["A0"] == {"flagged as invalid": 1}
    assert PAIRS[0] not in counted.keys
    assert counted.answers_left_out == {"pair left out": 4}
    check_sums(record, counted)


def test_a_flag_without_an_answer_counts_too() -> None:
    record = record_of({"A": ALL, "B": some(PAIRS[1:])}, invalid=[("B", *PAIRS[0])])
    counted = count(record, Filters())
    assert counted.pairs_left_out == {"flagged as invalid": 1}
    check_sums(record, counted)


def test_pairs_that_not_everybody_answered() -> None:
    record = record_of({"A": some(PAIRS[:15]), "B": some(PAIRS[10:])})
    counted = count(record, Filters())
    assert list(counted.keys) == PAIRS[10:15]
    assert counted.pairs_left_out == {"not answered by every rater": 15}
    assert (counted.answers_used, counted.answers_left_out) == (10, {"pair left out": 15})
    check_sums(record, counted)


def test_raters_without_an_answer_are_not_waited_for() -> None:
    record = record_of({"A": ALL, "B": {}, "C": ALL})
    assert count(record, Filters()).raters == ("A", "C")
    asked = count(record, Filters(raters=["A", "B"]))
    assert asked.pairs_left_out == {"not answered by every rater": 20}, "unless asked for by name"
    assert asked.answers_left_out == {"rater not chosen": 20, "pair left out": 20}
    check_sums(record, asked)


def test_with_votes_per_pair_that_many_votes_are_enough() -> None:
    votes = {"A": some(PAIRS[:15]), "B": some(PAIRS[:10]), "C": some(PAIRS[5:12])}
    counted = count(record_of(votes, votes_per_pair=2), Filters())
    # A and B: 0-9; A and C: 5-11; so 0-11 have two votes or three, 12-14 one, 15-19 none.
    assert list(counted.keys) == PAIRS[:12]
    assert counted.pairs_left_out == {
        "fewer votes than the design asks for": 8,
    }
    assert counted.codes[0].tolist() == [0, 0, -1]
    assert counted.codes[5].tolist() == [0, 0, 0]
    assert counted.answers_used == 10 * 2 + 2 * 2 + 5
    check_sums(record_of(votes, votes_per_pair=2), counted)


def test_fewer_raters_than_votes_asked_for() -> None:
    record = record_of({"A": some(PAIRS[:4]), "B": some(PAIRS[:2])}, votes_per_pair=3)
    assert list(count(record, Filters()).keys) == PAIRS[:2], "both, when only two have started"
    assert list(count(record, Filters(raters=["A"])).keys) == PAIRS[:4]


def test_sides_are_counted_over_all_main_answers_that_name_a_source() -> None:
    votes = {"A": {**some(PAIRS[:10]), **some(PAIRS[10:], "both_good")}, "old": some(PAIRS[:6])}
    record = record_of(votes, raters=[Rater("A"), Rater("old", imported=True)])
    counted = count(record, Filters())
    left = sum(a.choice == "left" for a in record.answers if a.rater_id == "A")
    assert counted.sides == {"A": (left, 10 - left, 0), "old": (0, 0, 6)}
    results = study_results(record, n_resamples=10)
    assert results.position_left_out == {"side unknown (imported)": 6}
    assert results.position_overall.n == 10
    assert results.position_per_rater["old"].reason == "no choice of a side"


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        (Filters(levels=["A1", "A9"]), r"no level 'A9' in this study; there is: A0, A1, A2, A3, A4\."),
        (Filters(raters=["A", "Z", "Y"]), r"no rater 'Z', 'Y' in this study; there is: A\."),
        (Filters(questions=["q99"]), r"no question 'q99' in this study; there is: q00, q01, q02, q03\."),
        (Filters(languages=["xx"]), r"no language 'xx' in this study; there is: en\."),
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
    """All but what was left out."""
    return replace(results, answers_left_out={}, blinding=replace(results.blinding, n_left_out={}))


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
    record = record_of({"A": ALL, "B": ALL, "C": {}}, invalid=[("C", *PAIRS[0])])
    assert count(record, Filters()).pairs_left_out == {"flagged as invalid": 1}
    assert count(record, Filters(raters=["A", "B"])).pairs_left_out == {}
