"""How before-version-1.sql and before-version-1.json were made, by the last code before version 1 (11 steps).

    git worktree add elsewhere 7a0047f6
    cd elsewhere && PYTHONPATH=.:tests python <this file> <folder of this file>

The SQL is a dump of a database with rows in every table. The JSON has, for each of its studies, the members of its bundle and the
exported votes. Today's code makes another schema: the script refuses it.
"""

import json
import sqlite3
import sys
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from helpers.texts.factories import (
    always,
    dataset,
    guess_all,
    members_of,
    prefers,
    study_in,
    vote,
    waiting_run,
)
from helpers.texts.factories import unblind as unblind_pairs
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts, unblind

from core.access import choose_passphrase, make_link, sign_in
from core.results.study.early import look
from core.schema.runs import RunItem
from core.schema.scores import PROBABILITY, Metric, OutputSet
from core.schema.study import NO_LEVEL
from core.store import Store, open_store
from core.store.kept import keep_file, keep_run_metrics, keep_scores, record_call, reject_call
from core.store.raters import count_event
from core.store.runs import beat, claim_run, finish_run, save_items
from core.study.bundle import write_bundle
from core.study.export import answers_csv, ratings_csv
from core.study.lifecycle import exclude_rater, set_guideline, set_wording, withdraw_rater
from core.study.raters import import_votes, preview_link, reissue_link, revoke_link

KEY = "5a" * 32


def pairs(store: Store) -> tuple[bytes, bytes]:
    """Votes, a change, notes, a preview, imported votes, guesses, own texts, one excluded, one who withdrew."""
    at_hand = study_in(
        store,
        dataset(2, ("A0", "A1"), languages=("en", "ja")),
        raters=("R1", "R2", "gone"),
        name="pairs",
        repeat_share=0.2,
    )
    set_wording(store, at_hand.study, "de", {"consent": "Ich mache mit.", "left": "Die linke"})
    set_guideline(store, at_hand.study, "de", "Lesen Sie in Ruhe.")
    at_hand.desk("R1").agree()
    guess_all(vote(store, at_hand.tokens["R1"], prefers(0)))
    desk = vote(store, at_hand.tokens["R2"], always("both_good"))
    desk.save_choice(2, "left", seconds=None, diff_used="none")
    desk.save_note(1, comment="a\nb 'quoted' 日本語", invalid=True)
    vote(store, preview_link(store, at_hand.study).token, always("both_bad"))
    import_votes(store, at_hand.study, "old", {("q00", "A0"): "candidate"})
    revoke_link(store, at_hand.study, "R2")
    reissue_link(store, at_hand.study, "R2")
    exclude_rater(store, at_hand.study, "R2", "pressed without reading")
    guess_all(vote(store, at_hand.tokens["gone"], always("left")))
    withdraw_rater(store, at_hand.study, "gone", keep_votes=True)
    unblind_pairs(at_hand)
    return write_bundle(at_hand.record), answers_csv(at_hand.record)


def looks(store: Store) -> tuple[bytes, bytes]:
    """Plain pairs whose design allows early looks, and one look."""
    design = {"early_looks": True, "repeat_share": 0.0, "blinding_pairs": 0}
    at_hand = study_in(store, dataset(3, (NO_LEVEL,)), raters=("R1",), name="looks", **design)
    vote(store, at_hand.tokens["R1"], prefers(1))
    look(store, at_hand.study, by="test")
    unblind_pairs(at_hand)
    return write_bundle(at_hand.record), answers_csv(at_hand.record)


def ratings(store: Store) -> tuple[bytes, bytes]:
    """Scores, marked errors and a draft about texts that were drawn."""
    texts = rating_texts(2, ("zq-north", "zq-south"))
    drawn = tuple(replace(one, labels={PROBABILITY: "0.25"}) for one in texts.outputs[:2]) + texts.outputs[2:]
    at_hand = rating_study(store, OutputSet(drawn, texts.sha256, texts.file_name))
    rate_all(at_hand.desk("R1"))
    draft = at_hand.desk("R2")
    draft.save_scores(1, {"overall": 33.3})
    draft.save_note(1, comment="日本語", invalid=True)
    unblind(at_hand)
    return write_bundle(at_hand.record), ratings_csv(at_hand.record)


def runs(store: Store) -> None:
    """A run of metrics and one that asked a model; files of pages, and the admin."""
    run = waiting_run(store, b"\x00texts").run_id
    owner = claim_run(store, run, 1)
    keep_run_metrics(
        store, run, (Metric("bleu-1", "BLEU|order:1", "BLEU"), Metric("ter", "TER|", "TER", "lower"))
    )
    of_run = {"position": 0, "key": "k", "step": "lexical", "reason": None, "cached": 0, "seconds": 0.5}
    scores = [(b"\x01" * 32, ("BLEU|order:1", "TER|"), [0.1 + 0.2, None], {1: "no reference"})]
    keep_scores(store, scores, [of_run], run_id=run)
    save_items(store, run, [RunItem(0, "q0", "done", {"outputs": []}, ())], owner)
    beat(store, run, owner)
    finish_run(store, run, "done", owner=owner)
    asking = waiting_run(store, b"{}", "rubric").run_id
    call = {**of_run, "run_id": asking, "step": "judge", "not_sent": "seed", "detail": "", "input_tokens": 3}
    call |= {"output_tokens": 4, "thinking_tokens": 2}
    reply = {"text": "no JSON", "thinking": "hm", "reason": None, "detail": "", "input_tokens": 3}
    reply |= {"output_tokens": 4, "thinking_tokens": 2, "seconds": 0.5}
    record_call(store, call, reply, {"messages": [["user", "Judge!"]]}, 1)
    reject_call(store, call, "not JSON")
    keep_file(store, "ratings", "old.csv", b"a,b", {"dimension": "ß"})
    choose_passphrase(store, make_link(store), "four words for tests", "four words for tests")
    sign_in(store, "four words for tests", "here")
    count_event(store, "refused", "1.2.3.4")


def main(folder: Path) -> None:
    """Write both files."""
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "assay.db"
        path.with_name("assay.db.key").write_text(KEY)
        with open_store(path) as store:
            if len(store.rows("select name from _sqlite_migrations")) != 11:
                raise SystemExit("This is not the code before version 1: see the top of this file.")
            written = {make.__name__: make(store) for make in (pairs, looks, ratings)}
            runs(store)
        with closing(sqlite3.connect(path)) as connection:
            (folder / "before-version-1.sql").write_text("\n".join(connection.iterdump()) + "\n", "utf-8")
        said = {
            name: {
                "bundle": {member: content.decode() for member, content in members_of(bundle).items()},
                "export": exported.decode("utf-8-sig"),
            }
            for name, (bundle, exported) in written.items()
        }
        text = json.dumps(said, indent=1, ensure_ascii=False) + "\n"
        (folder / "before-version-1.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
