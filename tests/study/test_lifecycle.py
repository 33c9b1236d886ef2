"""The life of a study: checked, declared, frozen at the first vote, opened and closed; nothing half done."""

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest
from helpers.texts.factories import LEVELS, always, counts_of, dataset, study_in, text_of, vote

from core.errors import InputError, NotAllowed, NotFound
from core.schema.designs import LARGEST_SEED
from core.schema.study import Answer, Design, State
from core.store import Store, open_store
from core.store.answers import PAIRS
from core.store.studies import find_study, list_studies
from core.study import lifecycle, raters
from core.study.bundle import read_bundle, write_bundle
from core.study.design import assign, check_design, first_source
from core.study.lifecycle import change_design, import_study, move, restore_study, roles, set_guideline
from core.study.raters import add_raters, import_votes, preview_link

pytestmark = pytest.mark.usefixtures("each_pair_task")

DESIGN = Design("ai", "human", seed=7)


def test_all_problems_of_a_design_together() -> None:
    wrong = Design(
        "robot",
        "robot",
        margin=-0.1,
        confidence_level=90,
        seed=-1,
        level_order="random",
        repeat_share=0.6,
        votes_per_pair=0,
        max_questions=0,
        main_levels=("A1", "A9"),
        votes_needed=0,
        score="mean",
        flagged="drop",
    )
    with pytest.raises(InputError) as raised:
        check_design(wrong, ("ai", "human"), LEVELS)
    assert [problem.split(":")[0] for problem in raised.value.problems] == [
        "candidate",
        "comparator",
        "candidate and comparator are both 'robot'; name two systems",
        "Margin",
        "Confidence level (one-sided)",
        "Votes per pair",
        "Votes needed per pair",
        "Score of a pair",
        "Pairs that a rater flags as invalid",
        "Levels within a question",
        "Hidden repeats (share)",
        "Most questions per rater",
        "Seed",
        "levels of the main analysis",
    ]
    assert "it has ai and human" in raised.value.problems[0]


@pytest.mark.parametrize(
    "field",
    [
        {"margin": 0.0},
        {"margin": 2.0},
        {"margin": float("nan")},
        {"margin": float("inf")},
        {"confidence_level": 0.5},
        {"confidence_level": 1.0},
        {"confidence_level": float("nan")},
        {"seed": LARGEST_SEED + 1},
        {"repeat_share": -0.01},
        {"repeat_share": 0.51},
        {"repeat_share": float("nan")},
        {"max_questions": 3},
        {"votes_per_pair": 10**30},
        {"votes_per_pair": 2, "max_questions": 10**30},
    ],
    ids=str,
)
def test_designs_that_cannot_be(store: Store, field: dict[str, float]) -> None:
    before = counts_of(store)
    with pytest.raises(InputError, match="Invalid design:"):
        import_study(store, "study", dataset(), replace(DESIGN, **field))
    assert counts_of(store) == before


@pytest.mark.parametrize(
    "field",
    [
        {"margin": 1.999},
        {"confidence_level": 0.501},
        {"seed": 0},
        {"seed": LARGEST_SEED},
        {"repeat_share": 0.0},
        {"repeat_share": 0.5},
        {"votes_per_pair": 1, "max_questions": 1},
        {"level_order": "shuffled"},
        {"candidate": "human", "comparator": "ai"},
    ],
    ids=str,
)
def test_designs_at_the_edge_are_kept_as_they_are(store: Store, field: dict[str, float]) -> None:
    design = replace(DESIGN, **field)
    import_study(store, "study", dataset(), design)
    assert find_study(store, "study").design == design


def test_roles_from_what_was_said() -> None:
    paper, other = dataset(), dataset(sources=("one", "two"))
    assert roles(paper, None, None) == roles(dataset(sources=("human", "ai")), None, None) == ("ai", "human")
    assert roles(paper, "human", None) == ("human", "ai")
    assert roles(other, None, "one") == ("two", "one")
    assert roles(other, "two", "one") == ("two", "one")
    with pytest.raises(InputError, match="candidate one, comparator two"):
        roles(other, None, None)


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "two\nlines", "bell\a"])
def test_names_that_cannot_be(store: Store, name: str) -> None:
    with pytest.raises(InputError, match="1 to 80 printable characters"):
        import_study(store, name, dataset(), DESIGN)
    assert counts_of(store)["study"] == 0


def test_a_name_is_taken_once(store: Store) -> None:
    import_study(store, " study ", dataset(), DESIGN)
    with pytest.raises(InputError, match="A study named 'study' already exists"):
        import_study(store, "study", dataset(), DESIGN)
    with pytest.raises(NotFound, match=r"no study named 'other'\. Studies: study\."):
        find_study(store, "other")


def test_the_same_file_again_is_refused_by_its_hash(store: Store) -> None:
    data = dataset()
    import_study(store, "one", data, DESIGN)
    renamed = replace(data, file_name="renamed.json")
    with pytest.raises(InputError, match=rf"imported before.*{data.sha256[:12]}.* as one.*file again"):
        import_study(store, "two", renamed, DESIGN)
    import_study(store, "two", renamed, DESIGN, again=True)
    assert [study.name for study in list_studies(store)] == ["two", "one"]


@pytest.mark.parametrize("step", ["write_log", "insert_study"])
def test_an_import_that_breaks_leaves_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def and_breaks(function: Callable[..., object]) -> Callable[..., None]:
        def broken(*args: object, **kwargs: object) -> None:
            function(*args, **kwargs)
            raise RuntimeError("the power went")

        return broken

    before = counts_of(store)
    monkeypatch.setattr(lifecycle, step, and_breaks(getattr(lifecycle, step)))
    with pytest.raises(RuntimeError):
        import_study(store, "study", dataset(), DESIGN)
    assert counts_of(store) == before


@pytest.mark.parametrize("step", ["replace_list", "issue_link", "fix_at_vote", "insert_record"])
def test_no_step_is_left_half_done(store: Store, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    at_hand = study_in(store)
    record = at_hand.record

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the power went")

    before, design = counts_of(store), at_hand.study.design
    owner = {"insert_record": lifecycle, "replace_list": PAIRS}.get(step, raters)
    monkeypatch.setattr(owner, step, broken)
    attempts: list[Callable[[], object]] = [
        lambda: add_raters(store, at_hand.study, ["R8", "R9"]),
        lambda: change_design(store, at_hand.study, replace(design, seed=8)),
        lambda: import_votes(store, at_hand.study, "old", {("q00", "A0"): "candidate"}),
        lambda: restore_study(store, record, name="restored"),
    ]
    broke = 0
    for attempt in attempts[:2] if step in ("replace_list", "issue_link") else attempts[2:]:
        try:
            attempt()
        except RuntimeError:
            broke += 1
            assert counts_of(store) == before
            assert at_hand.study.design == design
        before, design = counts_of(store), at_hand.study.design
    assert broke


def test_import_is_logged_with_hash_and_declaration(store: Store) -> None:
    data = dataset()
    at_hand = study_in(store, data, raters=(), state="draft", margin=0.25)
    imported, declared = at_hand.record.log
    assert imported.action == "imported"
    assert data.sha256 in imported.detail
    assert declared.action == "declared"
    assert "candidate ai, comparator human, margin 0.25, confidence level 0.9, seed 7" in declared.detail


def test_what_was_imported_is_what_is_there(store: Store) -> None:
    data = dataset(languages=("en", "ja"))
    record = study_in(store, data).record
    assert (record.items, record.outputs) == (data.items, data.outputs)
    assert (record.study.levels, record.study.dataset_sha256) == (data.levels, data.sha256)


STEPS = {"draft": {"open"}, "open": {"closed"}, "closed": {"open", "unblinded"}, "unblinded": set()}


@pytest.mark.parametrize("start", get_args(State))
@pytest.mark.parametrize("end", get_args(State))
def test_steps_between_states(store: Store, start: str, end: str) -> None:
    at_hand = study_in(store, state=start)
    logged = len(at_hand.record.log)
    if end in STEPS[start]:
        assert move(store, at_hand.study, end, "because").state == end
        assert [(e.action, e.detail) for e in at_hand.record.log[logged:]] == [(end, "because")]
    else:
        with pytest.raises(
            NotAllowed, match=rf"A study that is {start} cannot become {end}\. (Possible: |This)"
        ):
            move(store, at_hand.study, end, "because")
        assert (at_hand.study.state, len(at_hand.record.log)) == (start, logged)


def test_unblinding_needs_a_reason(store: Store) -> None:
    at_hand = study_in(store, state="closed")
    with pytest.raises(NotAllowed, match="Give a reason"):
        move(store, at_hand.study, "unblinded", "  ")
    assert at_hand.study.state == "closed"


def test_a_stale_study_is_looked_up_again(store: Store) -> None:
    at_hand = study_in(store)
    stale = at_hand.study
    move(store, stale, "closed")
    with pytest.raises(NotAllowed, match="that is closed cannot become closed"):
        move(store, stale, "closed")


def test_the_first_vote_that_counts_freezes_the_design(store: Store) -> None:
    at_hand = study_in(store)
    desk = at_hand.desk("R1")
    desk.skip(1)
    desk.save_note(2, comment="hm", invalid=True)
    assert at_hand.study.first_vote_utc is None, "neither is a vote"
    change_design(store, at_hand.study, replace(at_hand.study.design, margin=0.2))
    desk.save_choice(3, "both_good", seconds=1.0, diff_used="none")
    first = at_hand.study.first_vote_utc
    assert first is not None
    for change in ({"margin": 0.3}, {"seed": 8}, {"candidate": "human", "comparator": "ai"}):
        with pytest.raises(NotAllowed, match="frozen at the first vote"):
            change_design(store, at_hand.study, replace(at_hand.study.design, **change))
    assert at_hand.study.design.margin == 0.2
    change_design(store, at_hand.study, at_hand.study.design)  # no change is no sin
    desk.save_choice(4, "left", seconds=1.0, diff_used="none")
    assert at_hand.study.first_vote_utc == first


def test_a_dry_run_freezes_nothing(store: Store) -> None:
    at_hand = study_in(store)
    vote(store, preview_link(store, at_hand.study).token, always("left"))
    assert at_hand.study.first_vote_utc is None
    change_design(store, at_hand.study, replace(at_hand.study.design, seed=8))


def test_imported_votes_freeze(store: Store) -> None:
    at_hand = study_in(store, state="draft")
    import_votes(store, at_hand.study, "old", {("q00", "A0"): "candidate"})
    with pytest.raises(NotAllowed, match="frozen"):
        change_design(store, at_hand.study, replace(at_hand.study.design, margin=0.2))


def test_a_change_is_logged_field_by_field(store: Store) -> None:
    at_hand = study_in(store)
    change_design(store, at_hand.study, replace(at_hand.study.design, margin=0.2, level_order="shuffled"))
    entry = at_hand.record.log[-1]
    assert (entry.action, entry.detail) == (
        "design changed",
        "margin: 0.1 -> 0.2; level_order: fixed -> shuffled",
    )
    logged = len(at_hand.record.log)
    with pytest.raises(InputError):
        change_design(store, at_hand.study, replace(at_hand.study.design, margin=5))
    assert len(at_hand.record.log) == logged


def derived(store: Store, rater: str) -> list[object]:
    study = find_study(store, "study")
    data = dataset()
    first = first_source(data.items, data.levels, data.outputs)
    return assign(study.design, rater, [item.item_id for item in data.items], data.levels, first)


@pytest.mark.parametrize("state", ["draft", "open"])
def test_lists_follow_the_design_until_the_first_vote(store: Store, state: str) -> None:
    at_hand = study_in(store, state=state)
    preview_link(store, at_hand.study)
    before = at_hand.record.assignments
    change_design(store, at_hand.study, replace(at_hand.study.design, seed=8, repeat_share=0.2))
    after = at_hand.record.assignments
    assert after != before
    for rater in ("R1", "R2", "preview-1"):
        assert [a for a in after if a.rater_id == rater] == derived(store, rater)


@pytest.mark.parametrize("touched", ["skip", "note"])
def test_a_skip_or_note_holds_no_list_to_the_old_seed(store: Store, touched: str) -> None:
    """docs/design.md: everything drawn from the seed can change until the first vote that counts.

    If a list stayed behind, the ten-line script would no longer derive that rater's sides.
    """
    at_hand = study_in(store)
    desk = at_hand.desk("R1")
    if touched == "skip":
        desk.skip(1)
    else:
        desk.save_note(1, comment="later", invalid=False)
    change_design(store, at_hand.study, replace(at_hand.study.design, seed=8))
    for rater in ("R1", "R2"):
        own = [a for a in at_hand.record.assignments if a.rater_id == rater]
        assert own == derived(store, rater), rater


def test_notes_on_a_list_that_was_drawn_again_keep_the_bundle_whole(store: Store) -> None:
    """A note on a hidden repeat that the new list does not hold must not hang in the air."""
    at_hand = study_in(store, dataset(6), repeat_share=0.3)
    desk = at_hand.desk("R1")
    for number in (a.position for a in at_hand.record.assignments if a.rater_id == "R1" and a.repeat):
        desk.skip(number)
    change_design(store, at_hand.study, replace(at_hand.study.design, seed=8))
    record = at_hand.record
    assert len(record.history) == 9
    assert read_bundle(write_bundle(record), "b.zip") == record


def test_a_choice_on_a_list_that_was_drawn_again_is_never_turned_round(store: Store) -> None:
    """The owner changes the seed while a pair is on a rater's screen: refuse, or mean what was seen."""
    at_hand = study_in(store, repeat_share=0.0)
    for seed in range(100, 110):
        desk = at_hand.desk("R1")
        pair = desk.pair(1)
        with open_store(store.path) as owner:
            change_design(owner, at_hand.study, replace(at_hand.study.design, seed=seed))
        shown = [a for a in at_hand.record.assignments if pair.question == f"Question {a.item_id}?"]
        now = next(a for a in shown if a.level == pair.level and a.rater_id == "R1")
        if pair.left != text_of(now.item_id, now.level, ("ai", "human").index(now.left)):
            break
    else:
        pytest.fail("ten seeds with the same side: the draw is broken")
    try:
        desk.save_choice(1, "left", seconds=1.0, diff_used="none")
    except NotAllowed:
        assert at_hand.record.answers == ()
        return
    (answer,) = at_hand.record.answers
    assigned = next(
        a
        for a in at_hand.record.assignments
        if (a.rater_id, a.item_id) == ("R1", answer.item_id) and a.level == answer.level
    )
    meant = text_of(answer.item_id, answer.level, ("ai", "human").index(assigned.left))
    assert meant == pair.left, "the vote went to the other source"


def test_raters_that_cannot_be_added(store: Store) -> None:
    at_hand = study_in(store)
    before = counts_of(store)
    with pytest.raises(InputError) as raised:
        add_raters(store, at_hand.study, ["R3", "R1", "", " ", "x" * 81, "R3", "two\nlines"])
    assert len(raised.value.problems) == 6
    assert "'R1' is already in this study" in raised.value.problems
    assert counts_of(store) == before


@pytest.mark.parametrize("rater", ["", "  ", "two\nlines", "x" * 81], ids=repr)
def test_imported_raters_need_a_name_as_others_do(store: Store, rater: str) -> None:
    at_hand = study_in(store)
    before = counts_of(store)
    with pytest.raises(InputError):
        import_votes(store, at_hand.study, rater, {("q00", "A0"): "candidate"})
    assert counts_of(store) == before


def test_imported_votes(store: Store) -> None:
    at_hand = study_in(store, raters=())
    votes = {("q00", "A0"): "candidate", ("q00", "A1"): "both_bad"}
    assert import_votes(store, at_hand.study, "old", votes) == 2
    assert at_hand.record.answers == (
        Answer("old", "q00", "A0", preference="candidate"),
        Answer("old", "q00", "A1", preference="both_bad"),
    )
    assert len(at_hand.record.history) == 2
    (rater,) = at_hand.record.raters
    assert rater.imported
    assert rater.link_number == 0
    with pytest.raises(InputError, match="'old' is already in this study"):
        import_votes(store, at_hand.study, "old", votes)
    with pytest.raises(InputError, match="has no votes"):
        import_votes(store, at_hand.study, "new", {})


def test_previews_are_marked(store: Store) -> None:
    at_hand = study_in(store, state="draft")
    links = [preview_link(store, at_hand.study) for _ in range(2)]
    assert [link.rater_id for link in links] == ["preview-1", "preview-2"]
    assert [r.dry_run for r in at_hand.record.raters] == [False, False, True, True]
    desk = vote(store, links[0].token, always("both_good"))
    assert desk.dry_run
    assert desk.next_open() is None, "a preview works in draft"


def test_a_preview_takes_no_question_from_a_rater(store: Store) -> None:
    at_hand = study_in(store, dataset(6, LEVELS), raters=("R1", "R2"), state="draft", votes_per_pair=1)
    preview_link(store, at_hand.study)
    lists = {r: {a.item_id for a in at_hand.record.assignments if a.rater_id == r} for r in at_hand.tokens}
    assert (len(lists["R1"]), len(lists["R2"]), len(lists["preview-1"])) == (3, 3, 6)
    assert not lists["R1"] & lists["R2"]


@pytest.mark.parametrize(
    "text",
    [
        "The AI answer is better.",
        "ai",
        "Look for (Human) errors.",
        "x-ai-x",
        "Ai: yes",
        "   ",
        "![x](https://example.org/x.png)",
        "<img src=x>",
        "Written by _ai_",
        "by a&#105;",
        "by **a**i",
        "by a\u200bi",
        "by ＡＩ",
    ],
)
def test_guidelines_that_would_unblind(store: Store, text: str) -> None:
    at_hand = study_in(store)
    with pytest.raises(InputError, match="Invalid guidelines:"):
        set_guideline(store, at_hand.study, "en", text)
    assert at_hand.record.guidelines == {}


@pytest.mark.parametrize("text", ["He said so.", "Humane treatment, maintained", "humans, air", "2 < 3"])
def test_guidelines_that_only_look_like_it(store: Store, text: str) -> None:
    at_hand = study_in(store)
    set_guideline(store, at_hand.study, "en", text)
    assert at_hand.record.guidelines == {"en": text}
    assert at_hand.desk("R1").guidelines() == text
    assert (at_hand.record.log[-1].action, at_hand.record.log[-1].detail) == ("guidelines changed", "en")


def test_source_names_with_signs_are_found_in_guidelines(store: Store) -> None:
    at_hand = study_in(store, dataset(sources=("gpt-4 (new)", "C++")))
    for text in ("Is GPT-4 (new) better?", "Written by c++."):
        with pytest.raises(InputError, match="names the system"):
            set_guideline(store, at_hand.study, "en", text)
    set_guideline(store, at_hand.study, "en", "gpt-4 (newer), gpt-4")


def test_guidelines_in_the_raters_language(store: Store) -> None:
    at_hand = study_in(store, raters=())
    with pytest.raises(InputError, match="No guidelines in 'pt-BR'; available: de, en, fr"):
        add_raters(store, at_hand.study, ["R3"], language="pt-BR")
    set_guideline(store, at_hand.study, "pt", "Leia com calma.")
    for rater, language in (("R1", None), ("R2", "de"), ("R3", "pt-BR"), ("R4", "de-AT")):
        add_raters(store, at_hand.study, [rater], language=language)
    texts = {rater: at_hand.desk(rater).guidelines() for rater in at_hand.tokens}
    assert texts["R3"] == "Leia com calma."
    assert texts["R2"] == texts["R4"] != texts["R1"]


@pytest.mark.parametrize("name", ["R1", "r1", " R1 ", "Ｒ1"], ids=repr)
def test_raters_that_look_alike_are_one(store: Store, name: str) -> None:
    at_hand = study_in(store)
    with pytest.raises(InputError, match="already in this study"):
        add_raters(store, at_hand.study, [name])


def test_an_unblinded_study_takes_no_more_raters_or_votes(store: Store) -> None:
    at_hand = study_in(store)
    move(store, at_hand.study, "closed")
    move(store, at_hand.study, "unblinded", "done")
    before = counts_of(store)
    with pytest.raises(NotAllowed, match="votes can be added"):
        add_raters(store, at_hand.study, ["late"])
    with pytest.raises(NotAllowed, match="votes can be added"):
        import_votes(store, at_hand.study, "late", {("q00", "A0"): "candidate"})
    assert counts_of(store) == before


def test_guidelines_need_a_language(store: Store) -> None:
    at_hand = study_in(store)
    with pytest.raises(InputError, match="a language tag"):
        set_guideline(store, at_hand.study, "<script>", "Fine.")


def test_study_names_that_look_alike_are_one(store: Store) -> None:
    study_in(store)
    with pytest.raises(InputError, match="already exists"):
        import_study(store, " STUDY ", dataset(), DESIGN)
