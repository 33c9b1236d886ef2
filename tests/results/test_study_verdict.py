"""Which verdict a study gives, how it depends on what counts, and what was changed after it could be seen."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.texts.factories import (
    LEVELS,
    StudyAtHand,
    always,
    changed_line,
    dataset,
    item_ids,
    prefers,
    record_of,
    study_in,
    unblind,
    vote,
)

from core.analyses.study_results.pair_rows import answer_of
from core.cli import main
from core.errors import InputError
from core.results.study.counted import Filters, count
from core.results.study.results import (
    StudyResults,
    headline,
    record_at,
    study_results,
    verdict_and_sensitivity,
)
from core.schema.designs import MOST_VOTES
from core.schema.study import Rater, StudyRecord
from core.stats import conclusion, non_inferiority
from core.stats.non_inferiority import NO_SCORED_PAIR
from core.stats.resampling import bootstrap_distribution
from core.store import Store, open_store
from core.store.studies import get_study, write_design
from core.study.analysis_set import RESULTS_SHOWN, analysis_set, released_record, results_seen
from core.study.bundle import read_bundle, write_bundle
from core.study.lifecycle import exclude_rater, include_rater, move, restore_study, withdraw_rater
from core.study.raters import add_raters, import_votes, reissue_link, revoke_link

MAIN = LEVELS[1:]


def votes_of(n_items: int, choose: object) -> dict[tuple[str, str], str]:
    return {
        (item, level): choose(number) for number, item in enumerate(item_ids(n_items)) for level in LEVELS
    }


def results_of(record: StudyRecord, filters: Filters | None = None) -> StudyResults:
    return study_results(record, filters, n_resamples=300)


def ordinary(n_items: int = 20) -> dict[str, dict[tuple[str, str], str]]:
    """Two raters; 1 question in 5 is lost, 1 in 5 won, the rest are ties: the ordinary bound may decide."""
    given = votes_of(n_items, lambda n: ("comparator", "candidate", "both_good")[min(n % 5, 2)])
    return {"A": given, "B": given}


# --- what is claimed from too little --------------------------------------------------------------


@pytest.mark.parametrize("n_items", [1, 2, 10, 20])
def test_ties_alone_are_not_enough_information(n_items: int) -> None:
    """Every score is 0, so the ordinary bound is 0 and lies above any margin, whatever the number of questions."""
    good = votes_of(n_items, lambda _: "both_good")
    results = results_of(record_of({"A": good, "B": good}, dataset(n_items)))
    if n_items > 1:
        assert results.non_inferiority.bound_questions == 0
    assert (results.verdict.value, results.verdict.method) == ("not enough information", "gaffke")
    assert results.verdict.bound < -0.1
    assert results.verdict.questions_missing + n_items == 22
    assert answer_of(results).json["verdict"]["value"] == "not enough information"


def test_no_vote_is_not_enough_information() -> None:
    verdict = results_of(record_of({}, raters=[Rater("A")])).verdict
    assert (verdict.value, verdict.method, verdict.bound) == ("not enough information", None, None)
    assert verdict.reason == NO_SCORED_PAIR


def test_the_ordinary_bound_decides_an_ordinary_study() -> None:
    results = results_of(record_of(ordinary(), dataset(20), margin=0.5))
    assert (results.verdict.value, results.verdict.method) == ("non-inferior", "questions")
    whole = study_results(record_of(ordinary(), dataset(20), margin=0.5))
    assert results.verdict.bound == whole.non_inferiority.bound_questions
    assert (results.verdict.reason, results.verdict.questions_missing) == (None, None)
    close = results_of(record_of(ordinary(), dataset(20), margin=0.01)).verdict
    assert (close.value, close.method, close.questions_missing) == ("not shown", "questions", None)


def test_each_line_of_the_sensitivity_is_resampled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    def counting(*given: object, **how: object) -> object:
        drawn.append(1)
        return bootstrap_distribution(*given, **how)  # type: ignore[arg-type]

    for where in (conclusion, non_inferiority):
        monkeypatch.setattr(where, "bootstrap_distribution", counting)
    record = record_of(ordinary(), dataset(20), margin=0.5)
    _, lines = verdict_and_sensitivity(record, Filters(), rng=0)
    same = {"composite"}  # the declared score, which has been resampled for the first line
    assert len(drawn) == len([line for line in lines if line.name not in same])


# --- the declared analysis set --------------------------------------------------------------------


def test_the_declared_levels_are_the_analysis() -> None:
    record = record_of(ordinary(), dataset(20))
    results = results_of(record)
    assert (results.levels, results.overall.n_pairs) == (MAIN, 80)
    assert results.analysis_set.levels == MAIN
    assert not results.verdict.exploratory
    assert not results_of(record, Filters(levels=MAIN)).verdict.exploratory, "naming them is no filter"


@pytest.mark.parametrize(
    "filters",
    [
        Filters(levels=("A3",)),
        Filters(levels=LEVELS),
        Filters(raters=("A",)),
        Filters(questions=("q01", "q02")),
        Filters(languages=("ja",)),
    ],
)
def test_any_filter_makes_a_result_exploratory(filters: Filters) -> None:
    record = record_of(ordinary(), dataset(20, languages=("en", "ja")))
    results = results_of(record, filters)
    assert results.verdict.exploratory
    assert set(results.filtered) - {"votes_needed"} == {
        name for name in ("levels", "raters", "questions", "languages") if getattr(filters, name)
    }
    assert headline(results)[0].startswith("Exploratory: ")
    assert answer_of(results).json["verdict"]["exploratory"] is True


def test_one_level_is_the_main_analysis_of_a_study_with_one() -> None:
    data = dataset(20, levels=("A0",))
    given = {key: vote for key, vote in ordinary()["A"].items() if key[1] == "A0"}
    results = results_of(record_of({"A": given, "B": given}, data))
    assert (results.levels, results.overall.n_pairs, results.verdict.exploratory) == (("A0",), 20, False)


def test_net_preference_can_be_declared() -> None:
    """On a pair one rater prefers the candidate and one says both good: composite 1, mean vote 1/2."""
    given = {
        "A": votes_of(20, lambda n: "candidate" if n % 2 else "comparator"),
        "B": votes_of(20, lambda n: "both_good" if n % 2 else "comparator"),
    }
    composite, net = (
        results_of(record_of(given, dataset(20), score=score)) for score in ("composite", "net_preference")
    )
    assert composite.non_inferiority.mean == 0
    assert net.non_inferiority.mean == pytest.approx((0.5 - 1) / 2)
    assert composite.overall.net_preference == net.overall.net_preference == pytest.approx(-0.25)
    assert net.overall.composite.mean == 0, "the composite stays in its own part"


def test_a_late_rater_changes_neither_pairs_nor_verdict() -> None:
    given = ordinary()
    late = dict.fromkeys(list(given["A"])[1:4], "comparator")
    two, three = (
        results_of(record_of(votes, dataset(20), margin=0.5)) for votes in (given, {**given, "late": late})
    )
    assert two.overall.n_pairs == three.overall.n_pairs == 80
    assert two.verdict.value == three.verdict.value == "non-inferior"
    assert three.pairs_by_votes == {2: 77, 3: 3}
    complete = next(line for line in three.sensitivity if line.name == "all raters complete")
    assert (complete.n_pairs, complete.value) == (3, "not enough information")
    assert three.rater_warnings["late"] == ("unfinished: 3 of 100 pairs done",)


def test_sensitivity_by_hand() -> None:
    """40 questions of one level, a pair each: 8 lost, 8 won, 24 tied; flags lie on 4 of the ties."""
    levels = ("A1",)
    data = dataset(40, levels=levels)
    given = {
        (item, "A1"): ("comparator", "candidate", *["both_good"] * 3)[n % 5]
        for n, item in enumerate(item_ids(40))
    }
    flags = [("A", item, "A1") for item in item_ids(40)[2:22:5]]
    people = [Rater("A"), Rater("B"), Rater("X", excluded="slept")]
    lost = dict.fromkeys(given, "comparator")
    record = record_of({"A": given, "B": given, "X": lost}, data, raters=people, invalid=flags, margin=0.3)
    lines = {line.name: line for line in results_of(record).sensitivity}
    assert list(lines) == [
        "as declared",
        "all raters complete",
        "flagged pairs left out",
        "flagged pairs at worst",
        "excluded raters kept",
        "composite",
        "net preference",
        "unanswered pairs at worst",
    ]
    assert {name: line.n_pairs for name, line in lines.items()} == {
        **dict.fromkeys(lines, 40),
        "flagged pairs left out": 36,
    }
    declared = lines["as declared"]
    assert declared.value == "non-inferior"
    assert lines["composite"] == replace(declared, name="composite")
    # The mean is 0; at worst 4 of 40 ties are losses, so it is -0.1: the bound falls by about as much.
    assert lines["flagged pairs at worst"].bound == pytest.approx(declared.bound - 0.1, abs=0.051)
    # With a third vote for the comparator 24 + 8 of 40 pairs are lost, and the won ones stay won.
    kept = lines["excluded raters kept"]
    assert (kept.value, kept.bound < -0.5) == ("not shown", True)


def test_where_lines_disagree_the_headline_says_so() -> None:
    given = ordinary()
    record = record_of({**given, "late": {}}, dataset(20), margin=0.5)
    assert not any("depends on what counts" in line for line in headline(results_of(record)))
    late = dict.fromkeys(list(given["A"])[1:4], "comparator")
    differing = results_of(record_of({**given, "late": late}, dataset(20), margin=0.5))
    assert any("all raters complete: not enough" in line.lower() for line in headline(differing))


def test_raters_who_press_without_reading_are_named_beside_the_verdict(store: Store) -> None:
    at_hand = study_in(store, dataset(20), raters=("fast", "slow"), repeat_share=0.05)
    for rater, seconds in (("fast", 0.4), ("slow", 20.0)):
        desk = at_hand.desk(rater)
        for status in desk.statuses():
            desk.save_choice(status.number, "left", seconds=seconds, diff_used="none")
    warnings = results_of(at_hand.record).rater_warnings
    assert [text.split(":")[0] for text in warnings["fast"]][:2] == ["fast", "one side"]
    assert [text.split(":")[0] for text in warnings["slow"]][:1] == ["one side"]
    named = [line for line in headline(results_of(at_hand.record)) if "Check rater fast" in line]
    assert len(named) == 1


@pytest.mark.parametrize(("same", "flagged"), [(0, True), (1, False), (4, False)])
def test_repeats_that_differ_are_named(same: int, flagged: bool) -> None:
    pairs = [(item, "A1") for item in item_ids(4)]
    again = {key: "candidate" if n < same else "comparator" for n, key in enumerate(pairs)}
    record = record_of({"A": dict.fromkeys(pairs, "candidate")}, repeats={"A": again})
    found = results_of(record).rater_warnings["A"]
    assert any(text.startswith("repeats") for text in found) == flagged


# --- defaults, frozen at the first vote -----------------------------------------------------------


@pytest.mark.parametrize(
    ("raters", "design", "needed"),
    [
        (("R1", "R2", "R3"), {}, 2),
        (("R1",), {}, 1),
        (("R1", "R2"), {"votes_per_pair": 1}, 1),
        (("R1", "R2", "R3"), {"votes_per_pair": 3}, 2),
        (("R1", "R2", "R3"), {"votes_needed": 3}, 3),
    ],
)
def test_votes_needed_are_fixed_at_the_first_vote(
    store: Store, raters: tuple[str, ...], design: dict[str, int], needed: int
) -> None:
    at_hand = study_in(store, raters=raters, **design)
    assert at_hand.study.design.votes_needed == design.get("votes_needed")
    desk = at_hand.desk("R1")
    desk.save_choice(1, "left", seconds=1.0, diff_used="none")
    assert at_hand.study.design.votes_needed == needed
    (link, _) = add_raters(store, at_hand.study, ["R8", "R9"])
    vote(store, link.token, always("left"))
    assert at_hand.study.design.votes_needed == needed, "a late rater changes nothing"
    assert analysis_set(at_hand.record).votes_needed == needed


def test_a_preview_fixes_nothing(store: Store) -> None:
    at_hand = study_in(store, raters=("R1",))
    (link,) = add_raters(store, at_hand.study, ["P"], dry_run=True)
    vote(store, link.token, always("left"))
    assert at_hand.study.design.votes_needed is None


def test_a_revoked_link_is_no_rater(store: Store) -> None:
    at_hand = study_in(store, raters=("R1", "R2"))
    revoke_link(store, at_hand.study, "R2")
    at_hand.desk("R1").save_choice(1, "left", seconds=1.0, diff_used="none")
    assert at_hand.study.design.votes_needed == 1


@pytest.mark.parametrize(
    ("declared", "voted_before", "issued", "needed", "n_pairs"),
    [
        (True, False, ("R1",), 1, 16),
        (True, False, ("R1", "R2"), 2, 0),
        (True, True, ("R1",), 2, 0),
        (False, False, ("R1",), 1, 16),
    ],
)
def test_a_restored_study_needs_the_votes_of_links_issued_anew(
    store: Store, *, declared: bool, voted_before: bool, issued: tuple[str, ...], needed: int, n_pairs: int
) -> None:
    """A rater without a new link gives no vote, so no pair waits for one; what the first vote fixed stays."""
    at_hand = study_in(store, raters=("R1", "R2"), declared=declared)
    if voted_before:
        at_hand.desk("R1").save_choice(1, "left", seconds=1.0, diff_used="none")
    bundle = write_bundle(at_hand.record)
    again = StudyAtHand(store, restore_study(store, read_bundle(bundle, "b.zip"), name="again").study_id)
    assert again.study.design.declared == declared
    for rater in issued:
        reissue_link(store, again.study, rater)
    vote(store, again.tokens["R1"], prefers(0))
    assert again.study.design.votes_needed == needed
    assert len(count(again.record, Filters()).keys) == n_pairs


# --- imported votes, and what happens after the results are seen ----------------------------------


def imported(store: Store, **raters: str) -> StudyAtHand:
    """A study whose votes all came from files: rater -> what they say of every pair."""
    at_hand = study_in(store, dataset(20), raters=(), state="draft")
    for rater, preference in raters.items():
        add_votes(store, at_hand, rater, preference)
    return at_hand


def add_votes(store: Store, at_hand: StudyAtHand, rater: str, preference: str) -> None:
    votes = {(item, level): preference for item in item_ids(20) for level in LEVELS}
    import_votes(store, at_hand.study, rater, votes)


@pytest.mark.parametrize(("raters", "needed"), [(("a",), 1), (("a", "b"), 2), (("a", "b", "c"), 2)])
def test_votes_needed_of_imported_votes_are_fixed_when_results_are_first_shown(
    store: Store, raters: tuple[str, ...], needed: int
) -> None:
    at_hand = imported(store, **dict.fromkeys(raters, "candidate"))
    assert at_hand.study.design.votes_needed is None
    record = released_record(store, at_hand.study)
    assert record.study.design.votes_needed == needed
    assert [entry.action for entry in record.log].count(RESULTS_SHOWN) == 1
    add_votes(store, at_hand, "later", "candidate")
    again = released_record(store, at_hand.study)
    assert again.study.design.votes_needed == needed
    assert [entry.action for entry in again.log].count(RESULTS_SHOWN) == 1


def test_votes_that_come_after_the_results_are_marked(store: Store) -> None:
    at_hand = imported(store, a="candidate")
    before = results_of(released_record(store, at_hand.study))
    assert not before.after_unblinding.any
    assert before.verdict.value == "non-inferior"
    add_votes(store, at_hand, "late", "comparator")
    add_votes(store, at_hand, "later", "comparator")
    results = results_of(released_record(store, at_hand.study))
    after = results.after_unblinding
    assert (after.votes, after.flags, after.excluded) == (200, 0, ())
    assert after.verdict.value == "non-inferior", "the verdict as of then stays visible"
    assert results.verdict.value == "not enough information"
    assert sum("200 votes" in line for line in headline(results)) == 1
    again = results_of(read_bundle(write_bundle(released_record(store, at_hand.study)), "b.zip"))
    assert answer_of(again).json["after_unblinding"] == answer_of(results).json["after_unblinding"]


def test_a_rater_who_comes_after_the_results_and_is_excluded_changed_no_verdict(store: Store) -> None:
    at_hand = imported(store, a="candidate")
    released_record(store, at_hand.study)
    add_votes(store, at_hand, "late", "comparator")
    exclude_rater(store, at_hand.study, "late", "too late")
    after = results_of(released_record(store, at_hand.study)).after_unblinding
    assert (after.votes, after.excluded, after.verdict.value) == (100, (), "non-inferior")


def voted(store: Store) -> StudyAtHand:
    """Three raters by link and one who only reports a pair, unblinded."""
    at_hand = study_in(store, dataset(20), raters=("ann", "ben", "cy", "dan"))
    for rater, policy in (("ann", prefers(0)), ("ben", prefers(1)), ("cy", prefers(0))):
        vote(store, at_hand.tokens[rater], policy)
    at_hand.desk("dan").save_note(1, comment="", invalid=True)
    unblind(at_hand)
    return at_hand


def test_an_exclusion_after_unblinding_is_marked(store: Store) -> None:
    at_hand = voted(store)
    before = results_of(released_record(store, at_hand.study))
    assert not before.after_unblinding.any
    assert before.after_unblinding.since is not None
    exclude_rater(store, at_hand.study, "ben", "too negative")
    results = results_of(released_record(store, at_hand.study))
    after = results.after_unblinding
    assert (after.excluded, after.included, after.votes, after.flags) == (("ben",), (), 0, 0)
    assert after.verdict.bound == before.verdict.bound
    assert results.answers_left_out["rater excluded"] > 0
    written = answer_of(results).json["after_unblinding"]
    assert written["excluded"] == ["ben"]
    assert written["verdict"]["value"] == before.verdict.value
    assert any("excluded ben" in line for line in headline(results))
    include_rater(store, at_hand.study, "ben")
    assert not results_of(released_record(store, at_hand.study)).after_unblinding.any


def test_an_exclusion_before_unblinding_is_none_after_it(store: Store) -> None:
    at_hand = study_in(store, dataset(20), raters=("ann", "ben"))
    for rater in ("ann", "ben"):
        vote(store, at_hand.tokens[rater], prefers(0))
    exclude_rater(store, at_hand.study, "ben", "said so")
    move(store, at_hand.study, "closed")
    move(store, get_study(store, at_hand.study_id), "unblinded", "done")
    record = released_record(store, at_hand.study)
    assert not results_of(record).after_unblinding.any
    include_rater(store, at_hand.study, "ben")
    after = results_of(released_record(store, at_hand.study)).after_unblinding
    assert (after.excluded, after.included) == ((), ("ben",))


def test_votes_withdrawn_after_unblinding_are_marked_as_excluded(store: Store) -> None:
    at_hand = voted(store)
    new = withdraw_rater(store, at_hand.study, "ben", keep_votes=False)
    after = results_of(released_record(store, at_hand.study)).after_unblinding
    assert (after.excluded, after.votes) == ((new,), 0)
    kept = withdraw_rater(store, at_hand.study, "cy", keep_votes=True)
    again = results_of(released_record(store, at_hand.study)).after_unblinding
    assert kept not in again.excluded


def test_as_of_undoes_what_came_later(store: Store) -> None:
    at_hand = voted(store)
    record = released_record(store, at_hand.study)
    place = results_seen(record)
    exclude_rater(store, at_hand.study, "ann", "late")
    then = record_at(released_record(store, at_hand.study), place)
    assert (then.raters, then.answers) == (record.raters, record.answers)


def test_the_order_of_the_log_decides_and_not_its_times(store: Store) -> None:
    """An exclusion in the same millisecond as unblinding, or with a clock that was set back, comes after it."""
    at_hand = voted(store)
    exclude_rater(store, at_hand.study, "ben", "late")
    record = released_record(store, at_hand.study)
    place = results_seen(record)
    at = record.log[place].at_utc
    for moment in (at, "2001-01-01T00:00:00.000Z"):
        log = (*record.log[: place + 1], *(replace(e, at_utc=moment) for e in record.log[place + 1 :]))
        assert results_of(replace(record, log=log)).after_unblinding.excluded == ("ben",)


@pytest.mark.parametrize("dated", ["ann", "ben", "dan"])
def test_a_rater_dated_after_everything_was_there_where_an_answer_says_so(store: Store, dated: str) -> None:
    """A bundle can be forged, and a clock can be wrong: ben is excluded afterwards, dan gave no vote."""
    at_hand = voted(store)
    exclude_rater(store, at_hand.study, "ben", "too negative")
    record = released_record(store, at_hand.study)
    number = [rater.rater_id for rater in record.raters].index(dated)
    forged = changed_line(
        write_bundle(record), "raters.jsonl", number, created_utc="2099-01-01T00:00:00.000Z"
    )
    expected = results_of(record).after_unblinding
    assert expected.excluded == ("ben",)
    assert results_of(read_bundle(forged, "b.zip")).after_unblinding == expected


def test_results_that_could_be_seen_before_anybody_came(store: Store) -> None:
    """A forged log: every vote is later, and nobody was there who could be excluded since."""
    at_hand = voted(store)
    exclude_rater(store, at_hand.study, "ben", "too negative")
    record = released_record(store, at_hand.study)
    forged = changed_line(
        write_bundle(record), "log.jsonl", results_seen(record), at_utc="2001-01-01T00:00:00.000Z"
    )
    after = results_of(read_bundle(forged, "b.zip")).after_unblinding
    assert (after.votes, after.flags, after.excluded) == (300, 1, ())
    assert (after.verdict.value, after.verdict.bound) == ("not enough information", None)


def test_a_study_older_than_the_analysis_set_keeps_its_votes_needed(store: Store) -> None:
    """Its first release fixes them, and a rater who voted had a link, whatever became of it."""
    at_hand = study_in(store, dataset(20), raters=("ann", "ben"))
    for rater in ("ann", "ben"):
        vote(store, at_hand.tokens[rater], prefers(0))
    older = replace(at_hand.study.design, votes_needed=None, declared=False)
    write_design(store, at_hand.study_id, older)
    revoke_link(store, at_hand.study, "ben")
    assert analysis_set(at_hand.record).votes_needed == 2
    move(store, at_hand.study, "closed")
    move(store, get_study(store, at_hand.study_id), "unblinded", "done")
    before = results_of(released_record(store, at_hand.study))
    assert at_hand.study.design.votes_needed == 2
    withdraw_rater(store, at_hand.study, "ann", keep_votes=True)
    after = results_of(released_record(store, at_hand.study))
    assert (after.verdict, after.overall.n_pairs) == (before.verdict, before.overall.n_pairs)
    assert not after.analysis_set.declared
    assert sum("an older version of Assay created the study" in line for line in headline(after)) == 1


def test_imported_votes_do_not_make_raters_by_link_late(store: Store) -> None:
    """The first vote came from a file; both raters have links when the first of them votes."""
    at_hand = study_in(store, raters=("R1",))
    import_votes(store, at_hand.study, "old", {("q00", "A1"): "candidate"})
    time.sleep(0.01)
    add_raters(store, at_hand.study, ["R2"])
    at_hand.desk("R2").save_choice(1, "left", seconds=1.0, diff_used="none")
    assert at_hand.study.design.votes_needed == 2


def test_a_preview_is_no_vote_where_all_others_were_imported(store: Store) -> None:
    at_hand = study_in(store, raters=())
    (link,) = add_raters(store, at_hand.study, ["P"], dry_run=True)
    vote(store, link.token, always("left"))
    move(store, at_hand.study, "closed")
    move(store, get_study(store, at_hand.study_id), "unblinded", "done")
    record = released_record(store, at_hand.study)
    assert record.study.design.votes_needed is None
    assert RESULTS_SHOWN not in [entry.action for entry in record.log]


def test_a_verdict_cannot_be_chosen_by_the_number_of_resamples() -> None:
    record = record_of(ordinary(), dataset(20))
    few, many = (study_results(record, n_resamples=n).verdict for n in (1, 10_000))
    assert few == many


def test_a_refused_command_has_shown_nothing(tmp_path: Path) -> None:
    """Neither a filter for what is not there nor a format that pairs do not have counts as a first look."""
    database = tmp_path / "assay.db"
    with open_store(database) as store:
        at_hand = imported(store, a="candidate")
        where = ["study", "--db", str(database)]
        assert main(["study", "results", *where, "--levels", "A9"]) != 0
        assert main(["study", "results", *where, "--questions", "q99"]) != 0
        assert main(["study", "export", *where, "--format", "spans", "--out", str(tmp_path / "x")]) != 0
        assert RESULTS_SHOWN not in [entry.action for entry in at_hand.record.log]
        assert at_hand.study.design.votes_needed is None
        assert main(["study", "results", *where, "--resamples", "50"]) == 0
        assert at_hand.study.design.votes_needed == 1


def test_a_rater_excluded_before_any_vote_gives_none(store: Store) -> None:
    at_hand = study_in(store, raters=("R1", "R2"))
    exclude_rater(store, at_hand.study, "R2", "left the team")
    at_hand.desk("R1").save_choice(1, "left", seconds=1.0, diff_used="none")
    assert at_hand.study.design.votes_needed == 1


@pytest.mark.parametrize("needed", [MOST_VOTES + 1, 10**24])
def test_votes_needed_have_a_limit(store: Store, needed: int) -> None:
    with pytest.raises(InputError) as raised:
        study_in(store, votes_needed=needed)
    assert [problem.split(":")[0] for problem in raised.value.problems] == ["Votes needed per pair"]
