"""Commands for a study at work: exclude, include, withdraw, remind, wording, log, progress; and the admin's."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.texts.factories import always, guess_all, prefers, study_in, tokens_in, vote

from core import access
from core.cli import main
from core.errors import NotAllowed
from core.store import open_store
from core.study.blinding import open_desk
from core.study.guidelines import wording

Run = Callable[..., str]


@pytest.fixture
def pilot(run: Run, tmp_path: Path) -> Run:
    """A study `pilot` with three raters: ann has locked her answers, ben pressed left, cem has not begun."""
    with open_store(tmp_path / "assay.db") as store:
        at_hand = study_in(store, raters=("ann", "ben", "cem"), name="pilot")
        guess_all(vote(store, at_hand.tokens["ann"], prefers(0)))
        vote(store, at_hand.tokens["ben"], always("left"))
    return run


def log_of(run: Run) -> list[list[str]]:
    return [line.split("\t")[1:] for line in run("study", "log", "pilot").splitlines()]


def progress_of(run: Run) -> dict[str, dict[str, str]]:
    table, *_ = run("study", "progress", "pilot").split("\n\n")
    head, *lines = (line.split("\t") for line in table.splitlines())
    return {line[0]: dict(zip(head, line, strict=True)) for line in lines}


def end(run: Run) -> None:
    run("study", "close", "pilot")
    run("study", "unblind", "pilot", "--reason", "done")


def test_progress_columns(pilot: Run) -> None:
    pilot("study", "exclude", "pilot", "ben", "--reason", "one side")
    lines = progress_of(pilot)
    assert list(lines["ann"]) == [
        *(
            "rater",
            "kind",
            "done",
            "skipped",
            "flagged",
            "first s",
            "visible s",
            "left",
            "both good",
            "repeats same",
        ),
        *("last answer", "check"),
    ]
    ann, ben, cem = (lines[rater] for rater in ("ann", "ben", "cem"))
    assert (ann["done"], ann["first s"], ann["visible s"], ann["repeats same"]) == (
        "21/21 locked",
        "2.5",
        "-",
        "1/1",
    )
    assert (ben["done"], ben["left"], ben["both good"]) == ("21/21", "100%", "0%")
    assert ben["check"] == (
        "fast: half of the answers within 2.5 seconds; one side: left in 20 of 20 choices (p below 0.001, corrected "
        "for 2 raters); excluded: one side"
    )
    assert list(cem.values()) == ["cem", "rater", "0/21", "0", "0", "-", "-", "-", "-", "-", "-", "-"]
    as_json = {line["rater_id"]: line for line in json.loads(pilot("study", "progress", "pilot", "--json"))}
    assert (as_json["ann"]["finished"], as_json["ben"]["excluded"], as_json["cem"]["flags"]) == (
        True,
        "one side",
        [],
    )


def test_exclude_and_include(pilot: Run) -> None:
    printed = pilot("study", "exclude", "pilot", "ben", "--reason", "one side")
    assert printed == "The answers of 'ben' no longer count. They are kept.\n"
    assert pilot("study", "include", "pilot", "ben") == "The answers of 'ben' count again.\n"
    pilot("study", "exclude", "pilot", "ben", "--reason", "one side after all")
    assert log_of(pilot)[-3:] == [
        ["rater excluded", "ben", "one side"],
        ["rater included again", "ben", "-"],
        ["rater excluded", "ben", "one side after all"],
    ]
    end(pilot)
    found = json.loads(pilot("study", "results", "pilot", "--json", "--resamples", "10"))
    assert found["raters"] == ["ann"]
    assert found["answers"]["n_left_out"]["rater excluded"] == 21


@pytest.mark.parametrize("votes", ["keep", "drop"])
def test_withdraw(pilot: Run, tmp_path: Path, votes: str) -> None:
    said = "count" if votes == "keep" else "do not count"
    assert pilot("study", "withdraw", "pilot", "ben", "--votes", votes) == (
        f"Deleted comments and pseudonym of 'ben'. The votes are kept as 'withdrawn-1' and {said}.\n"
        "Earlier backups, copies and exports still contain the deleted data.\n"
    )
    assert list(tokens_in(pilot("study", "links", "pilot"))) == ["ann", "cem"]
    entries = json.loads(pilot("study", "log", "pilot", "--json"))
    assert "ben" not in {entry["rater_id"] for entry in entries}
    assert (entries[-1]["action"], entries[-1]["rater_id"]) == ("rater withdrew", "withdrawn-1")
    end(pilot)
    found = json.loads(pilot("study", "results", "pilot", "--json", "--resamples", "10"))
    assert found["raters"] == (["ann", "withdrawn-1"] if votes == "keep" else ["ann"])
    for form in ("csv", "jsonl", "guesses", "bundle"):
        pilot("study", "export", "pilot", "--format", form, "--out", f"out.{form}")
        assert b'"ben"' not in (tmp_path / f"out.{form}").read_bytes()
    printed = pilot("study", "export", "pilot", "--format", "paper", "--out", "votes")
    both = ["votes/results-ann.json", "votes/results-withdrawn-1.json"]
    assert printed.splitlines() == (both if votes == "keep" else ["votes"]), (
        "the votes of ann alone are one file"
    )


def test_remind(pilot: Run, tmp_path: Path) -> None:
    tokens = tokens_in(pilot("study", "links", "pilot"))
    waiting = "21 pairs are waiting for you, about 16 minutes; you can stop at any time. Your link:"
    lock = "All your answers are saved, thank you. As the last step, please lock them. Your link:"
    for base in ("http://127.0.0.1:8501", "https://assay.example/rate"):
        url = [] if base.startswith("http:") else ["--url", f"{base}/"]
        printed = pilot("study", "remind", "pilot", *url)
        assert printed == (f"ben\t{lock} {base}/r/{tokens['ben']}\ncem\t{waiting} {base}/r/{tokens['cem']}\n")
    with open_store(tmp_path / "assay.db") as store:
        vote(store, tokens["cem"], always("both_bad"))
        for name in ("ben", "cem"):
            desk = open_desk(store, tokens[name])
            assert desk is not None
            guess_all(desk)
    assert pilot("study", "remind", "pilot") == "No rater has open work.\n"


@pytest.fixture
def unanswered(run: Run, tmp_path: Path) -> Run:
    """A study `pilot` whose rater has not begun."""
    with open_store(tmp_path / "assay.db") as store:
        study_in(store, raters=("ann",), name="pilot")
    return run


def test_wording_of_a_study_with_votes_stays(pilot: Run, tmp_path: Path) -> None:
    before = pilot("study", "wording", "pilot")
    (tmp_path / "texts.json").write_text(json.dumps({"left": "The left one"}))
    assert main(["study", "wording", "pilot", "--file", "texts.json"]) == 2
    assert pilot("study", "wording", "pilot") == before


def test_wording(unanswered: Run, tmp_path: Path) -> None:
    pilot = unanswered
    assert json.loads(pilot("study", "wording", "pilot")) == wording({}, "en")
    assert json.loads(pilot("study", "wording", "pilot", "--language", "de")) == wording({}, "de")
    (tmp_path / "texts.json").write_text(json.dumps({"consent": "I take part.", "left": "The left one"}))
    printed = json.loads(pilot("study", "wording", "pilot", "--file", "texts.json"))
    assert printed == {**wording({}, "en"), "consent": "I take part.", "left": "The left one"}
    assert json.loads(pilot("study", "wording", "pilot")) == printed
    assert log_of(pilot)[-1] == ["wording changed", "-", "en: consent, left"]
    (tmp_path / "none.json").write_text("{}")
    assert json.loads(pilot("study", "wording", "pilot", "--file", "none.json")) == wording({}, "en")


def test_the_log_says_what_was_done_to_whom(pilot: Run) -> None:
    pilot("study", "links", "pilot", "--revoke", "cem")
    pilot("study", "links", "pilot", "--reissue", "cem")
    pilot("study", "close", "pilot", "--reason", "enough")
    assert [line[:2] for line in log_of(pilot)] == [
        *(["imported", "-"], ["declared", "-"]),
        *(["rater added", rater] for rater in ("ann", "ben", "cem")),
        *(["open", "-"], ["link revoked", "cem"], ["link issued again", "cem"], ["closed", "-"]),
    ]
    assert log_of(pilot)[-1] == ["closed", "-", "enough"]
    first = json.loads(pilot("study", "log", "pilot", "--json"))[0]
    assert list(first) == ["at_utc", "action", "detail", "rater_id"]


def test_admin_link(pilot: Run, tmp_path: Path) -> None:
    """Printed for the address where the app was last started; a new link ends the one before it."""
    base, _, first = pilot("admin", "link").strip().rpartition("/admin/")
    assert base == "http://127.0.0.1:8501"
    base, _, second = pilot("admin", "link", "--url", "https://assay.example/").strip().rpartition("/admin/")
    assert base == "https://assay.example"
    with open_store(tmp_path / "assay.db") as store:
        assert [access.link_is_open(store, token) for token in (first, second)] == [False, True]
        session = access.choose_passphrase(store, second, *["four plain words here"] * 2)
        assert access.is_admin(store, session)
        assert not access.link_is_open(store, second), "it works once"


def test_admin_events(pilot: Run, tmp_path: Path) -> None:
    assert pilot("admin", "events") == ""
    token = pilot("admin", "link").strip().rpartition("/")[2]
    with open_store(tmp_path / "assay.db") as store:
        access.choose_passphrase(store, token, *["four plain words here"] * 2)
        for _ in range(2):
            with pytest.raises(NotAllowed, match="Wrong passphrase"):
                access.sign_in(store, "wrong words in here", "192.0.2.7")
        access.sign_in(store, "four plain words here", "192.0.2.7")
    lines = [line.split("\t") for line in pilot("admin", "events").splitlines()]
    assert sorted(line[1:] for line in lines) == [
        ["admin signed in", "1", "192.0.2.7"],
        ["one-time link made", "1", "-"],
        ["passphrase chosen", "1", "-"],
        ["wrong passphrase", "2", "192.0.2.7"],
    ]
    assert [line[0] for line in lines] == sorted((line[0] for line in lines), reverse=True)
    found = json.loads(pilot("admin", "events", "--json"))
    assert {tuple(event) for event in found} == {("kind", "address", "n", "first_utc", "last_utc")}
    assert "words" not in json.dumps(found), "no passphrase, not even a wrong one"


@pytest.mark.parametrize("form", ["csv", "jsonl", "guesses", "bundle", "paper"])
def test_an_export_that_cannot_be_written_is_not_logged(
    pilot: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    end(pilot)
    before = log_of(pilot)
    (tmp_path / "file").write_text("in the way")
    out = "file/out" if form != "paper" else "file"
    assert main(["study", "export", "pilot", "--format", form, "--out", out]) == 2
    assert "file" in capsys.readouterr().err
    assert log_of(pilot) == before
    pilot("study", "export", "pilot", "--format", form, "--out", "out")
    assert log_of(pilot) == [*before, ["exported", "-", form]]
