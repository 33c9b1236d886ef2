"""While raters are at work: one left out, one let go with everything they wrote, the others reminded."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.texts.factories import (
    LEVELS,
    StudyAtHand,
    always,
    counts_of,
    dataset,
    guess_all,
    prefers,
    study_in,
    vote,
    without_links,
)

from core.analyses.study_results.pair_rows import answer_of
from core.errors import InputError, NotAllowed, NotFound
from core.results.study.results import study_results
from core.schema.study import Design
from core.store import Store, open_store
from core.store.answers import load_record
from core.study.blinding import open_desk
from core.study.bundle import read_bundle, write_bundle
from core.study.design import share_out
from core.study.lifecycle import exclude_rater, include_rater, reminders, restore_study, withdraw_rater
from core.study.raters import (
    add_raters,
    import_votes,
    links,
    preview_link,
    reissue_link,
    revoke_link,
    study_workload,
)

pytestmark = pytest.mark.usefixtures("each_pair_task")

BASE = "https://assay.example"
PSEUDONYM, REMARK = "Zqxenia Öz", "zqdistinctive"


def results_of(at_hand: StudyAtHand) -> dict[str, object]:
    return answer_of(study_results(at_hand.record, n_resamples=50)).json


def log_of(at_hand: StudyAtHand) -> list[tuple[str, str | None, str]]:
    return [(entry.action, entry.rater_id, entry.detail) for entry in at_hand.record.log]


def voted(store: Store, raters: tuple[str, ...] = ("R1", "R2", "R3")) -> StudyAtHand:
    """The first wants the first source, the second presses left, the third says both good."""
    at_hand = study_in(store, raters=raters)
    for rater, policy in zip(raters, (prefers(0), always("left"), always("both_good")), strict=False):
        vote(store, at_hand.tokens[rater], policy)
    return at_hand


# --- left out and counted again ------------------------------------------------------------------


def test_an_excluded_rater_is_kept_and_not_counted(store: Store) -> None:
    at_hand = voted(store)
    before, answers = results_of(at_hand), at_hand.record.answers
    n = sum(a.rater_id == "R2" for a in answers)
    exclude_rater(store, at_hand.study, "R2", "  pressed left without reading ")
    record = at_hand.record
    assert record.answers == answers
    assert [rater.excluded for rater in record.raters] == [None, "pressed left without reading", None]
    assert log_of(at_hand)[-1] == ("rater excluded", "R2", "pressed left without reading")
    found = results_of(at_hand)
    assert found["raters"] == ["R1", "R3"]
    assert found["answers"]["n_left_out"]["rater excluded"] == n
    alone = replace(
        record, raters=record.raters[::2], answers=tuple(a for a in answers if a.rater_id != "R2")
    )
    expected = answer_of(study_results(alone, n_resamples=50)).json
    apart = {"answers", "sensitivity"}
    assert {key: found[key] for key in found if key not in apart} == {
        key: expected[key] for key in expected if key not in apart
    }, "as if the rater had never been"
    include_rater(store, at_hand.study, "R2")
    assert results_of(at_hand) == before
    assert log_of(at_hand)[-1] == ("rater included again", "R2", "")


@pytest.mark.parametrize("reason", ["", "  ", "\n"])
def test_leaving_out_needs_a_reason(store: Store, reason: str) -> None:
    at_hand = voted(store)
    before = at_hand.record
    with pytest.raises(InputError, match="Give a reason"):
        exclude_rater(store, at_hand.study, "R2", reason)
    assert at_hand.record == before


def test_steps_that_cannot_be(store: Store) -> None:
    at_hand = voted(store)
    withdraw_rater(store, at_hand.study, "R3", keep_votes=False)
    before = at_hand.record
    with pytest.raises(NotAllowed, match="'R1' is not excluded"):
        include_rater(store, at_hand.study, "R1")
    with pytest.raises(NotAllowed, match=r"'withdrawn-1' withdrew their votes\. They stay excluded"):
        include_rater(store, at_hand.study, "withdrawn-1")
    with pytest.raises(NotAllowed, match="'withdrawn-1' has already withdrawn"):
        withdraw_rater(store, at_hand.study, "withdrawn-1", keep_votes=True)
    for step in (
        lambda: exclude_rater(store, at_hand.study, "R3", "x"),
        lambda: include_rater(store, at_hand.study, "R3"),
        lambda: withdraw_rater(store, at_hand.study, "R3", keep_votes=True),
    ):
        with pytest.raises(NotFound, match=r"no rater 'R3' in this study\. Raters: R1, R2, withdrawn-1\."):
            step()
    assert at_hand.record == before


# --- dealt again ---------------------------------------------------------------------------------


@pytest.mark.parametrize("gone", ["revoked", "excluded", "withdrawn"])
def test_open_questions_of_one_who_is_gone_are_dealt_again(store: Store, gone: str) -> None:
    """One vote a question: R1 finished one of six and half of another; R3, who comes later, gets the five."""
    at_hand = study_in(store, dataset(12, LEVELS), raters=("R1", "R2"), votes_per_pair=1, repeat_share=0.0)
    desk = at_hand.desk("R1")
    assert desk.total == 30
    for number in range(1, 8):
        desk.save_choice(number, "left", seconds=1.0, diff_used="none")
    own = [a for a in at_hand.record.assignments if a.rater_id == "R1"]
    done, open_ones = own[0].item_id, {a.item_id for a in own[5:]}
    if gone == "revoked":
        revoke_link(store, at_hand.study, "R1")
    elif gone == "excluded":
        exclude_rater(store, at_hand.study, "R1", "stopped reading")
    else:
        withdraw_rater(store, at_hand.study, "R1", keep_votes=True)
    assert study_workload(store, at_hand.study).questions == {"R2": 12}, "who is gone is not planned with"
    kept = at_hand.record.assignments
    add_raters(store, at_hand.study, ["R3"])
    after = at_hand.record.assignments
    assert {a.item_id for a in after if a.rater_id == "R3"} == open_ones
    assert done not in open_ones
    assert tuple(a for a in after if a.rater_id != "R3") == kept, "nobody else's list changes"
    assert read_bundle(write_bundle(at_hand.record), "b.zip") == at_hand.record


def test_without_votes_per_pair_everybody_has_all_anyway(store: Store) -> None:
    at_hand = study_in(store, repeat_share=0.0)
    revoke_link(store, at_hand.study, "R1")
    add_raters(store, at_hand.study, ["R3"])
    assert Counter(a.rater_id for a in at_hand.record.assignments) == {"R1": 20, "R2": 20, "R3": 20}


def test_who_is_included_again_has_a_list_again(store: Store) -> None:
    at_hand = study_in(store, dataset(6), state="draft", votes_per_pair=1, repeat_share=0.0)
    exclude_rater(store, at_hand.study, "R1", "ill")
    add_raters(store, at_hand.study, ["R3"])
    assert Counter(a.rater_id for a in at_hand.record.assignments) == {"R2": 15, "R3": 15}
    include_rater(store, at_hand.study, "R1")
    assert Counter(a.rater_id for a in at_hand.record.assignments) == {"R1": 10, "R2": 10, "R3": 10}


def test_sharing_out_gives_nothing_more_to_who_is_gone() -> None:
    design = Design("ai", "human", votes_per_pair=2)
    held = {"gone": {"q0"}, "here": set(), "new": set()}
    shares = share_out(design, ["q0", "q1"], list(held), held, closed={"gone"})
    assert (shares["gone"], sorted(shares["here"] + shares["new"])) == (["q0"], ["q0", "q1", "q1"])


# --- withdrawn -----------------------------------------------------------------------------------


def life_of(store: Store, name: str = "study") -> StudyAtHand:
    """A rater who left a trace in every table: changed answers, notes, guesses, links, the log."""
    at_hand = study_in(store, dataset(6), raters=("R1", PSEUDONYM), name=name, repeat_share=0.2)
    reissue_link(store, at_hand.study, PSEUDONYM)
    desk = at_hand.desk(PSEUDONYM)
    desk.agree()
    desk.save_note(3, comment=f"{REMARK} on an open pair", invalid=True)
    desk.save_choice(1, "both_bad", seconds=1.0, diff_used="none")
    for text in (f"{REMARK} first", f"{REMARK} later " * 300, f"{REMARK} last"):  # pages of its own, and back
        desk.save_note(1, comment=text)
    vote(store, at_hand.tokens["R1"], prefers(0))
    guess_all(vote(store, at_hand.tokens[PSEUDONYM], always("left")), comment=f"{REMARK} style " * 100)
    exclude_rater(store, at_hand.study, PSEUDONYM, "a mistake")
    include_rater(store, at_hand.study, PSEUDONYM)
    return at_hand


def everything(store: Store) -> str:
    """Every row of every table, as text."""
    tables = [row["name"] for row in store.rows("select name from sqlite_master where type = 'table'")]
    assert {"rater", "answer", "answer_history", "assignment", "guess", "log"} <= set(tables)
    return "\n".join(repr(store.rows(f'select * from "{table}"')) for table in tables)


def raw(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


@pytest.mark.parametrize("keep_votes", [True, False])
def test_nothing_is_left_of_who_withdrew(tmp_path: Path, keep_votes: bool) -> None:
    """Searched in every row of every table and in every raw byte beside it, write-ahead log and all."""
    traces = [form for text in (PSEUDONYM, REMARK) for form in (text.encode(), text.encode("utf-16-le"))]
    traces += [PSEUDONYM.split()[0].encode(), json.dumps(PSEUDONYM).encode()]
    store = open_store(tmp_path / "assay.db")
    at_hand = life_of(store)
    before = at_hand.record
    old = [at_hand.tokens[PSEUDONYM]]
    assert all(text in everything(store) for text in (PSEUDONYM, REMARK)), (
        "the search looks in the right place"
    )
    assert all(text.encode() in raw(tmp_path) for text in (PSEUDONYM, REMARK))
    with open_store(tmp_path / "assay.db"):  # the app, running beside the command
        new = withdraw_rater(store, at_hand.study, PSEUDONYM, keep_votes=keep_votes)
        assert new == "withdrawn-1"
        assert not [text for text in (PSEUDONYM, REMARK) if text in everything(store)]
        assert not [trace for trace in traces if trace in raw(tmp_path)], "before anything is closed"
    after = at_hand.record
    assert [open_desk(store, token) for token in old] == [None]
    assert [link.rater_id for link in links(store, at_hand.study)] == ["R1"]
    store.close()
    assert not [trace for trace in traces if trace in raw(tmp_path)]
    assert new.encode() in raw(tmp_path)
    assert len(after.history) == len(before.history)
    assert [replace(a, rater_id="", comment="") for a in before.answers] == [
        replace(a, rater_id="", comment="") for a in after.answers
    ], "the votes are as they were"
    assert [a.comment for a in after.answers] == [""] * len(after.answers)
    assert [(g.guess, g.comment) for g in after.guesses] == [(g.guess, "") for g in before.guesses]
    kept = "votes kept" if keep_votes else "votes left out"
    assert (after.log[-1].action, after.log[-1].rater_id) == ("rater withdrew", new)
    assert after.log[-1].detail == f"comments and pseudonym deleted, {kept}"
    assert after.raters[1].excluded == (None if keep_votes else "withdrew, votes left out")


def test_votes_that_are_kept_give_the_same_results(store: Store) -> None:
    at_hand = life_of(store)
    before = json.dumps(results_of(at_hand), ensure_ascii=False).replace(PSEUDONYM, "withdrawn-1")
    withdraw_rater(store, at_hand.study, PSEUDONYM, keep_votes=True)
    assert json.loads(before) == json.loads(json.dumps(results_of(at_hand)))


def test_votes_that_are_dropped_are_left_out_by_reason(store: Store) -> None:
    at_hand = life_of(store)
    n = sum(a.rater_id == PSEUDONYM and a.answered for a in at_hand.record.answers)
    withdraw_rater(store, at_hand.study, PSEUDONYM, keep_votes=False)
    found = results_of(at_hand)
    assert found["raters"] == ["R1"]
    assert found["answers"]["n_left_out"]["rater excluded"] == n
    assert found["blinding"]["n_left_out"] == {"rater excluded": 10}
    with pytest.raises(NotAllowed, match="stay excluded"):
        include_rater(store, at_hand.study, "withdrawn-1")


@pytest.mark.parametrize("keep_votes", [True, False])
def test_a_bundle_of_such_a_study_comes_round(store: Store, keep_votes: bool) -> None:
    """Its lists were drawn for a name that is gone: nobody can derive them again, and nobody need."""
    at_hand = life_of(store)
    withdraw_rater(store, at_hand.study, PSEUDONYM, keep_votes=keep_votes)
    bundle = write_bundle(at_hand.record)
    again = restore_study(store, read_bundle(bundle, "b.zip"), name="again")
    assert without_links(load_record(store, again)) == without_links(at_hand.record)
    first, second = results_of(at_hand), results_of(StudyAtHand(store, again.study_id))
    planned = {**first["planned"], "source": first["planned"]["source"].replace("study study", "study again")}
    assert second == {**first, "study": "again", "planned": planned}


def test_another_study_keeps_its_own(store: Store) -> None:
    """A pseudonym is of one study: in another it may be somebody else."""
    one, two = life_of(store), life_of(store, "other")
    kept = two.record
    withdraw_rater(store, one.study, PSEUDONYM, keep_votes=True)
    assert two.record == kept
    assert open_desk(store, two.tokens[PSEUDONYM]) is not None


def test_several_withdraw_and_previews_and_imported_raters_may(store: Store) -> None:
    at_hand = study_in(store, raters=("R1", "R2", "withdrawn-1"))
    preview = preview_link(store, at_hand.study)
    import_votes(store, at_hand.study, "zqold", {("q00", "A0"): "candidate"})
    gone = ["R1", preview.rater_id, "zqold", "R2"]
    names = [withdraw_rater(store, at_hand.study, rater, keep_votes=True) for rater in gone]
    assert names == ["withdrawn-2", "withdrawn-3", "withdrawn-4", "withdrawn-5"], "the first name was taken"
    assert [r.rater_id for r in at_hand.record.raters if not r.withdrawn] == ["withdrawn-1"]
    assert "zqold" not in everything(store)


def test_a_press_of_one_who_has_just_withdrawn(store: Store) -> None:
    """The pair was still on the screen. Nothing is saved, and nobody else's pseudonym is told."""
    at_hand = study_in(store, raters=("R1", "zqother"))
    desk = at_hand.desk("R1")
    with open_store(store.path) as owner:
        withdraw_rater(owner, at_hand.study, "R1", keep_votes=True)
    before = counts_of(store), at_hand.record
    for step in (
        lambda: desk.save_choice(1, "left", seconds=1.0, diff_used="none"),
        lambda: desk.save_note(1, comment="late"),
        lambda: desk.skip(1),
        desk.agree,
        desk.finish,
        lambda: desk.finish_step(1),
        lambda: desk.remember_diff("none"),
        lambda: desk.remember_keys("off"),
    ):
        with pytest.raises(NotAllowed, match="link no longer works") as said:
            step()
        assert "zqother" not in str(said.value)
    assert (counts_of(store), at_hand.record) == before


# --- reminders -----------------------------------------------------------------------------------


def test_who_is_reminded_and_of_what(store: Store) -> None:
    raters = ("fresh", "begun", "one left", "done", "revoked", "excluded", "withdrawn")
    at_hand = study_in(store, dataset(4), raters=raters, repeat_share=0.0)
    preview_link(store, at_hand.study)
    import_votes(
        store, at_hand.study, "old", dict.fromkeys([("q00", level) for level in LEVELS], "candidate")
    )
    for rater, n in (("begun", 1), ("one left", 19), ("done", 20)):
        desk = at_hand.desk(rater)
        for number in range(1, n + 1):
            desk.save_choice(number, "left", seconds=1.0, diff_used="none")
    at_hand.desk("fresh").skip(1)
    revoke_link(store, at_hand.study, "revoked")
    exclude_rater(store, at_hand.study, "excluded", "x")
    withdraw_rater(store, at_hand.study, "withdrawn", keep_votes=True)
    urls = {rater: f"{BASE}/r/{token}" for rater, token in at_hand.tokens.items()}
    before = at_hand.record
    back = "Your link brings you back to where you were:"
    assert {reminder.rater_id: reminder.text for reminder in reminders(store, at_hand.study, BASE)} == {
        "fresh": "20 pairs are waiting for you, about 15 minutes; you can stop at any time. "
        f"Your link: {urls['fresh']}",
        "begun": "You have rated 1 pair so far, thank you. 19 pairs are still open, about 14 minutes. "
        f"{back} {urls['begun']}",
        "one left": "You have rated 19 pairs so far, thank you. 1 pair is still open, about 1 minute. "
        f"{back} {urls['one left']}",
        "done": "All your answers are saved, thank you. As the last step, please lock them. "
        f"Your link: {urls['done']}",
    }
    assert at_hand.record == before, "writing them changes nothing: an owner sends them"


def test_who_locked_is_reminded_of_the_guesses_alone(store: Store) -> None:
    at_hand = study_in(store, dataset(2), raters=("ann",), repeat_share=0.0, blinding_pairs=2)
    vote(store, at_hand.tokens["ann"], always("left"))
    at_hand.desk("ann").finish()
    (one,) = reminders(store, at_hand.study, BASE)
    assert "One short last step remains." in one.text
    for number in (1, 2):
        at_hand.desk("ann").guessing().save(number, "unsure", seconds=1.0)
    assert reminders(store, at_hand.study, BASE) == []


@pytest.mark.parametrize("state", ["draft", "closed", "unblinded"])
def test_only_an_open_study_reminds(store: Store, state: str) -> None:
    at_hand = study_in(store, state=state)
    with pytest.raises(NotAllowed, match=f"is {state}: reminders are for open studies only"):
        reminders(store, at_hand.study, BASE)


def test_reminders_name_no_source_and_no_study(store: Store) -> None:
    at_hand = study_in(store, dataset(3, sources=("zqone", "zqtwo"), file_name="zqfile.json"), name="zqstudy")
    (one, _) = reminders(store, at_hand.study, f"{BASE}/")
    assert not re.search("zq", one.text.replace(at_hand.tokens["R1"], ""))
