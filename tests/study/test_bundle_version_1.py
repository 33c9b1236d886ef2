"""Bundles that the first Assay wrote: restored as its databases are migrated."""

import json
from dataclasses import replace

import pytest
from helpers.texts.factories import (
    ANALYSIS_SET,
    edited,
    members_of,
    prefers,
    study_in,
    vote,
    without_links,
    zipped,
)

from core.results.study.results import study_results
from core.schema.study import LogEntry, StudyRecord
from core.store import Store
from core.store.answers import load_record
from core.study.analysis_set import analysis_set
from core.study.bundle import read_bundle, write_bundle
from core.study.lifecycle import restore_study, withdraw_rater
from core.study.raters import import_votes, preview_link, reissue_link, revoke_link

OLDER = ("raters", "log")


def as_version_1(bundle: bytes) -> bytes:
    """The bundle as the first Assay wrote it: without what came later, pseudonyms in the log's details."""
    members = members_of(bundle)
    rows = {name: [json.loads(line) for line in members[f"{name}.jsonl"].splitlines()] for name in OLDER}
    for rater in rows["raters"]:
        for field in ("consent_utc", "finished_utc", "excluded", "withdrawn"):
            del rater[field]
    for entry in rows["log"]:
        rater = entry.pop("rater_id")
        if rater is not None:
            entry["detail"] = f"{rater}: {entry['detail']}" if entry["detail"] else rater
    study = json.loads(members["study.json"])
    for field in ("blinding_pairs", "person", *ANALYSIS_SET):
        del study["design"][field]
    older = {
        **{
            name: content
            for name, content in members.items()
            if name not in ("wording.json", "guesses.jsonl")
        },
        **{
            f"{name}.jsonl": b"".join(json.dumps(row).encode() + b"\n" for row in rows[name])
            for name in OLDER
        },
        "study.json": json.dumps(study).encode(),
    }
    manifest = {**json.loads(older["manifest.json"]), "version": 1}
    return edited(zipped({**older, "manifest.json": json.dumps(manifest).encode()}), {})


def simple_study(store: Store, *, votes: bool) -> StudyRecord:
    """What the first Assay could do: raters, a preview, a revoked link, votes by link and from a file."""
    at_hand = study_in(store, raters=("R1", "R: 2"))
    preview_link(store, at_hand.study)
    revoke_link(store, at_hand.study, "R1")
    reissue_link(store, at_hand.study, "R1")
    if votes:
        vote(store, at_hand.tokens["R1"], prefers(1))
        import_votes(store, at_hand.study, "old", {("q00", "A0"): "candidate"})
    return at_hand.record


@pytest.mark.parametrize("votes", [True, False])
def test_a_bundle_of_version_1_still_restores(store: Store, votes: bool) -> None:
    """With votes its design is frozen: what was not declared then, guesses at the end, is not asked now."""
    record = simple_study(store, votes=votes)
    older = as_version_1(write_bundle(record))
    assert not members_of(older).keys() & {"wording.json", "guesses.jsonl"}
    assert b"withdrawn" not in members_of(older)["raters.jsonl"]
    again = restore_study(store, read_bundle(older, "b.zip"), name="again")
    restored = load_record(store, again)
    pairs = 0 if votes else 10
    assert again.design == replace(
        record.study.design, blinding_pairs=pairs, votes_needed=None, declared=False
    )
    assert analysis_set(restored) == replace(analysis_set(record), declared=False), "the same defaults hold"
    expected = replace(record, study=replace(record.study, design=again.design))
    assert without_links(restored) == without_links(expected)
    one, other = (study_results(found, n_resamples=50) for found in (record, restored))
    rules = replace(other.analysis_set, declared=True)
    same = replace(other, study=one.study, analysis_set=rules, asks_guesses=one.asks_guesses)
    assert same == one


def test_a_pseudonym_from_a_log_of_version_1_can_be_withdrawn(store: Store) -> None:
    older = as_version_1(write_bundle(simple_study(store, votes=True)))
    study = restore_study(store, read_bundle(older, "b.zip"), name="again")
    withdraw_rater(store, study, "R: 2", keep_votes=True)
    log = load_record(store, study).log
    assert not [entry for entry in log if "R: 2" in f"{entry.detail}{entry.rater_id}"]
    assert LogEntry(log[3].at_utc, "rater added", "", "withdrawn-1") in log
