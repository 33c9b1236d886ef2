"""Frozen means frozen: from the first answer that counts, neither the design nor what raters read changes."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.texts.factories import StudyInStore, always, dataset, study_in, vote
from helpers.texts.rating_studies import RatingStudyAtHand, rate, rating_study

from core.errors import NotAllowed
from core.schema.study import State
from core.store import Store
from core.store.studies import set_state
from core.study import guidelines
from core.study.bundle import read_bundle, write_bundle
from core.study.guidelines import CONSENT
from core.study.lifecycle import (
    change_design,
    exclude_rater,
    include_rater,
    restore_study,
    set_guideline,
    set_wording,
    withdraw_rater,
)
from core.study.raters import add_raters, import_votes, links

RATERS = ("R1", "R2")


def pairs(store: Store) -> StudyInStore:
    return study_in(store)


def plain_pairs(store: Store) -> StudyInStore:
    return study_in(store, dataset(levels=("",)))


def ratings(store: Store) -> StudyInStore:
    return rating_study(store)


@pytest.fixture(params=[pairs, plain_pairs, ratings], ids=lambda make: make.__name__)
def at_hand(request: pytest.FixtureRequest, store: Store) -> StudyInStore:
    made: StudyInStore = request.param(store)
    return made


def answer(at_hand: StudyInStore, rater: str = "R1", number: int = 1) -> None:
    """A choice, or a rating that is done."""
    desk = at_hand.desk(rater)  # type: ignore[attr-defined]  # every kind of study has one
    if isinstance(at_hand, RatingStudyAtHand):
        rate(desk, number)
    else:
        desk.save_choice(number, "left", seconds=2.5, diff_used="none")


def change_seed(at_hand: StudyInStore) -> None:
    design = at_hand.study.design
    change_design(at_hand.store, at_hand.study, replace(design, seed=design.seed + 1))


def change_level(at_hand: StudyInStore) -> None:
    """A change that moves nobody's list."""
    level = at_hand.study.design.confidence_level
    change_design(at_hand.store, at_hand.study, replace(at_hand.study.design, confidence_level=level - 0.01))


def refused(at_hand: StudyInStore) -> None:
    before = at_hand.record
    for change in (change_seed, change_level):
        with pytest.raises(NotAllowed):
            change(at_hand)
    assert at_hand.record == before


# --- the first answer --------------------------------------------------------------------------------


def test_the_first_answer_freezes_the_design(at_hand: StudyInStore) -> None:
    change_seed(at_hand)
    answer(at_hand)
    refused(at_hand)


@pytest.mark.parametrize("state", ["draft", "open", "closed", "unblinded"])
def test_the_design_stays_frozen_in_every_state(at_hand: StudyInStore, state: State) -> None:
    answer(at_hand)
    set_state(at_hand.store, at_hand.study_id, state)
    refused(at_hand)


@pytest.mark.parametrize("what", ["excluded", "withdrawn", "taken back"])
def test_the_design_stays_frozen_after_the_answer_is_gone(at_hand: StudyInStore, what: str) -> None:
    answer(at_hand)
    if what == "excluded":
        exclude_rater(at_hand.store, at_hand.study, "R1", "tired")
    elif what == "withdrawn":
        withdraw_rater(at_hand.store, at_hand.study, "R1", keep_votes=False)
    elif isinstance(at_hand, RatingStudyAtHand):
        at_hand.desk("R1").save_scores(1, {"H": None})
        assert not any(given.answered for given in at_hand.record.rating_answers)
    refused(at_hand)


def test_the_answer_of_an_excluded_rater_freezes_when_it_counts_again(at_hand: StudyInStore) -> None:
    exclude_rater(at_hand.store, at_hand.study, "R1", "a colleague")
    answer(at_hand)
    assert at_hand.study.first_vote_utc is None
    assert at_hand.record.shipped == ()
    with pytest.raises(NotAllowed):  # it would draw the list of R1 again, whose answers stay
        change_seed(at_hand)
    change_level(at_hand)
    read_bundle(write_bundle(at_hand.record), "study.zip")
    include_rater(at_hand.store, at_hand.study, "R1")
    assert at_hand.record.shipped
    refused(at_hand)


def test_an_excluded_rater_without_answers_freezes_nothing(at_hand: StudyInStore) -> None:
    exclude_rater(at_hand.store, at_hand.study, "R1", "a colleague")
    include_rater(at_hand.store, at_hand.study, "R1")
    assert at_hand.study.first_vote_utc is None
    change_seed(at_hand)


@pytest.mark.parametrize("state", ["closed", "unblinded"])
@pytest.mark.parametrize("answered", [True, False])
def test_closed_and_unblinded_studies_refuse_every_change(
    at_hand: StudyInStore, state: State, answered: bool
) -> None:
    if answered:
        answer(at_hand)
    set_state(at_hand.store, at_hand.study_id, state)
    before = at_hand.record
    changes: list[Callable[[], object]] = [
        lambda: change_seed(at_hand),
        lambda: set_guideline(at_hand.store, at_hand.study, "cs", "Vyberte."),
        lambda: set_wording(at_hand.store, at_hand.study, "cs", {CONSENT: "Ano."}),
    ]
    for change in changes:
        with pytest.raises(NotAllowed):
            change()
    assert at_hand.record == before


# --- what raters read --------------------------------------------------------------------------------


def read(at_hand: StudyInStore, rater: str = "R1") -> tuple[object, ...]:
    """All that a rater reads beside the texts of the study."""
    desk = at_hand.desk(rater)  # type: ignore[attr-defined]
    more = () if isinstance(at_hand, RatingStudyAtHand) else (desk.practice(), desk.aids)
    return (desk.guidelines(), desk.wording(), *more)


@pytest.fixture
def later_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """Another Assay: every text is another, and there is one language more."""

    def update() -> None:
        for old in (guidelines._DATA).glob("guidelines/**/*.md"):
            new = tmp_path / "data" / old.relative_to(guidelines._DATA)
            new.parent.mkdir(parents=True, exist_ok=True)
            new.write_text(f"New. {old.read_text('utf-8')}", "utf-8")
            (new.parent / "cs.md").write_text("Nové.", "utf-8")
        for name in ("practice.json", "wording.json"):
            changed = (guidelines._DATA / name).read_text("utf-8").replace('": "', '": "New ')
            (tmp_path / "data" / name).write_text(changed.replace("New A", "A"), "utf-8")
        monkeypatch.setattr(guidelines, "_DATA", tmp_path / "data")
        monkeypatch.setattr(guidelines, "LEVEL_MEANINGS", {"A1": "new"})
        monkeypatch.setattr(guidelines, "FIRST_MODE", dict.fromkeys(guidelines.FIRST_MODE, "left_right"))
        guidelines.practice_pairs.cache_clear()
        guidelines.shipped_wording.cache_clear()

    return update


@pytest.fixture(autouse=True)
def this_version() -> object:
    yield
    guidelines.practice_pairs.cache_clear()
    guidelines.shipped_wording.cache_clear()


def test_a_later_version_changes_no_study_with_an_answer(
    at_hand: StudyInStore, later_version: Callable[[], None]
) -> None:
    add_raters(at_hand.store, at_hand.study, ["R3"], language="de-AT")
    answer(at_hand)
    before = [read(at_hand, rater) for rater in ("R1", "R3")]
    later_version()
    assert [read(at_hand, rater) for rater in ("R1", "R3")] == before


def test_a_later_version_changes_a_study_without_an_answer(
    at_hand: StudyInStore, later_version: Callable[[], None]
) -> None:
    before = read(at_hand)
    later_version()
    assert all(new != old for new, old in zip(read(at_hand), before, strict=True))


def test_a_bundle_carries_what_raters_read(at_hand: StudyInStore, later_version: Callable[[], None]) -> None:
    answer(at_hand)
    before, bundle = read(at_hand), write_bundle(at_hand.record)
    later_version()
    study = restore_study(at_hand.store, read_bundle(bundle, "study.zip"), name="again")
    add_raters(at_hand.store, study, ["R9"])
    again = type(at_hand)(at_hand.store, study.study_id)
    assert again.record.shipped == at_hand.record.shipped
    assert read(again, "R9") == before


def test_an_imported_first_vote_freezes_too(store: Store, later_version: Callable[[], None]) -> None:
    at_hand = study_in(store)
    import_votes(store, at_hand.study, "old", {("q00", "A1"): "candidate"})
    before = read(at_hand)
    refused(at_hand)
    later_version()
    assert read(at_hand) == before


def test_texts_that_a_rater_reads_cannot_change(at_hand: StudyInStore) -> None:
    store = at_hand.store
    set_guideline(store, at_hand.study, "en", "First.")
    add_raters(store, at_hand.study, ["R3"], language="de-AT")
    answer(at_hand)
    before = at_hand.record
    for language in ("en", "de", "de-AT"):
        with pytest.raises(NotAllowed):
            set_guideline(store, at_hand.study, language, "Other.")
        with pytest.raises(NotAllowed):
            set_wording(store, at_hand.study, language, {CONSENT: "I agree."})
    with pytest.raises(NotAllowed):  # raters without a consent text in their language read any other
        set_wording(store, at_hand.study, "cs", {CONSENT: "Ano."})
    assert at_hand.record == before
    set_guideline(store, at_hand.study, "en", "First.")
    set_guideline(store, at_hand.study, "cs", "Vyberte.")
    set_wording(store, at_hand.study, "cs", {"left": "Levá"})
    add_raters(store, at_hand.study, ["R4"], language="cs")
    assert at_hand.desk("R4").guidelines() == "Vyberte."  # type: ignore[attr-defined]
    with pytest.raises(NotAllowed):
        set_guideline(store, at_hand.study, "cs", "Jiné.")


def test_a_copy_may_name_a_system_but_load_nothing(store: Store) -> None:
    """A system may be called as a word of the shipped texts; an image comes from no version."""
    at_hand = study_in(store, dataset(sources=("answer", "human")))
    answer(at_hand)
    record = at_hand.record
    assert read_bundle(write_bundle(record), "study.zip").shipped == record.shipped
    for part, text in {
        "guidelines": "![x](https://example.org/x.png)",
        "wording": json.dumps({"left": "<b>Left</b>"}),
        "practice": "[{}]",
        "aids": json.dumps({"meanings": {}, "modes": {"own_a0": ["other"]}, "first": {}}),
        "unknown": "{}",
    }.items():
        of_part = [one for one in record.shipped if one.part == part] or [record.shipped[0]]
        forged = tuple(
            replace(one, part=part, text=text) if one is of_part[0] else one for one in record.shipped
        )
        with pytest.raises(Exception, match=r"shipped\.jsonl"):
            read_bundle(write_bundle(replace(record, shipped=forged)), "study.zip")


# --- drafts ------------------------------------------------------------------------------------------


def begin(at_hand: StudyInStore, rater: str, number: int) -> None:
    at_hand.desk(rater).save_note(number, comment="See below.")  # type: ignore[attr-defined]


def test_a_change_says_how_many_drafts_it_takes_off_the_lists(store: Store) -> None:
    from core.study.design import drafts_lost

    at_hand = study_in(store, votes_per_pair=2)
    for rater in RATERS:
        begin(at_hand, rater, 1)
    at_hand.desk("R1").skip(2)
    exclude_rater(store, at_hand.study, "R2", "a colleague")
    one_question = replace(at_hand.study.design, votes_per_pair=1, max_questions=1, seed=99)
    lost = drafts_lost(store, at_hand.study, one_question)
    listed = {entry.key for entry in at_hand.record.assignments}
    drafts = {one.key for one in at_hand.record.answers if one.rater_id == "R1"}
    assert drafts <= listed
    change_design(store, at_hand.study, one_question)
    still = {entry.key for entry in at_hand.record.assignments}
    assert lost == len(drafts - still) > 0
    assert at_hand.record.log[-1].detail.endswith(f"drafts off their raters' lists: {lost}")


def test_a_change_that_moves_no_list_loses_no_draft(at_hand: StudyInStore) -> None:
    from core.study.design import drafts_lost

    begin(at_hand, "R1", 1)
    wider = replace(at_hand.study.design, confidence_level=0.8)
    assert drafts_lost(at_hand.store, at_hand.study, wider) == 0
    change_design(at_hand.store, at_hand.study, wider)
    assert "drafts" not in at_hand.record.log[-1].detail


def test_the_whole_vote_is_one_freeze(store: Store) -> None:
    at_hand = study_in(store)
    vote(store, links(store, at_hand.study)[0].token, always("left"))
    assert len({(one.part, one.language) for one in at_hand.record.shipped}) == len(at_hand.record.shipped)
