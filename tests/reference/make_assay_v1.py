"""How assay-v1.sql was made: a database of schema m001, written by the last code that wrote it.

    git worktree add /tmp/assay-v1 2f4c3fb
    cd /tmp/assay-v1 && PYTHONPATH=/tmp/assay-v1 PYTHON <this file> <folder of this file>

Writes assay-v1.sql (the dump) and assay-v1.results.json (`study results --json` of that code, per study).
Run with today's code it would write another schema: the script refuses.
"""

import contextlib
import hashlib
import io
import json
import sqlite3
import sys
import tempfile
from pathlib import Path

from core.cli import main as command
from core.schema.study import Dataset, Design, Item, Output, Study
from core.store import Store, open_store
from core.store.answers import load_record
from core.store.studies import find_study, write_setting
from core.study import lifecycle, raters
from core.study.blinding import RaterDesk, open_desk
from core.study.bundle import read_bundle, write_bundle

KEY = "5a" * 32
LEVELS = ("A0", "A1", "A2")


def dataset(name: str) -> Dataset:
    items = tuple(Item(f"q{n}", f"Question {n} of {name}?", f"Reference {n}.", "en") for n in (1, 2, 3))
    outputs = tuple(
        Output(item.item_id, level, source, f"{source.title()} text of {item.item_id} at {level}.")
        for item in items
        for level in LEVELS
        for source in ("ai", "human")
    )
    return Dataset(
        items, outputs, LEVELS, ("ai", "human"), hashlib.sha256(name.encode()).hexdigest(), f"{name}.json"
    )


def desk_of(store: Store, study: Study, rater: str) -> RaterDesk:
    tokens = {link.rater_id: link.token for link in raters.links(store, study)}
    desk = open_desk(store, tokens[rater])
    assert desk is not None
    return desk


def answer(desk: RaterDesk, *, but: tuple[int, ...] = ()) -> None:
    choices = ("left", "right", "both_good", "both_bad", "left")
    for number in range(1, desk.total + 1):
        if number not in but:
            desk.save_choice(number, choices[number % 5], seconds=2.5 + number, diff_used="own_a0")


def busy(store: Store) -> None:
    """Votes, changed votes, notes, a skip, a preview, imported votes, links revoked and issued again."""
    study = lifecycle.import_study(
        store, "busy", dataset("busy"), Design("ai", "human", seed=7, repeat_share=0.2)
    )
    study = lifecycle.change_design(store, study, Design("ai", "human", margin=0.2, seed=8, repeat_share=0.2))
    raters.add_raters(store, study, ["ann", "ben: the second"])
    raters.add_raters(store, study, ["late"], language="de")
    lifecycle.set_guideline(store, study, "de", "Lesen Sie in Ruhe.")
    study = lifecycle.move(store, study, "open", "all are here")
    ann, ben = desk_of(store, study, "ann"), desk_of(store, study, "ben: the second")
    ann.finish_step(1)
    answer(ann)
    ann.save_choice(2, "both_bad", seconds=None, diff_used="none")
    ann.save_note(3, comment='She said: "why?"; 日本\nsecond line', invalid=True)
    answer(ben, but=(4, 5))
    ben.skip(4)
    ben.save_note(5, comment="a note without an answer")
    answer(desk_of(store, study, raters.preview_link(store, study).rater_id), but=(1,))
    votes = {("q1", "A0"): "candidate", ("q2", "A1"): "both_bad", ("q3", "A2"): "comparator"}
    raters.import_votes(store, study, "old", {("q1", "A1"): "both_good"})
    raters.import_votes(store, study, "old: votes", votes)  # a name that begins like the other
    raters.revoke_link(store, study, "late")
    raters.reissue_link(store, study, "ben: the second")


def over(store: Store) -> None:
    """A study that went all the way."""
    study = lifecycle.import_study(store, "over", dataset("over"), Design("human", "ai", seed=3))
    raters.add_raters(store, study, ["ann", "ben"])
    lifecycle.move(store, study, "open")
    for rater in ("ann", "ben"):
        answer(desk_of(store, study, rater))
    lifecycle.move(store, study, "closed", "enough")
    lifecycle.move(store, study, "unblinded", "all are done")


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "assay.db"
        path.with_name("assay.db.key").write_text(KEY)
        with open_store(path) as store:
            if len(store.rows("select name from _sqlite_migrations")) != 1:
                raise SystemExit("This is not the code of schema m001: see the top of this file.")
            busy(store)
            over(store)
            lifecycle.import_study(store, "draft", dataset("draft"), Design("ai", "human", seed=1))
            bundle = read_bundle(write_bundle(load_record(store, find_study(store, "over"))), "over.zip")
            lifecycle.restore_study(store, bundle, name="again")
            write_setting(store, "address", "http://127.0.0.1:8501")
            raters.add_raters(store, find_study(store, "draft"), ["ann"])
        with contextlib.closing(sqlite3.connect(path)) as connection:
            (folder / "assay-v1.sql").write_text("\n".join(connection.iterdump()) + "\n", "utf-8")
        results = {}
        for name in ("busy", "over"):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                command(
                    ["study", "results", name, "--json", "--resamples", "200", "--db", str(path)],
                )
            results[name] = json.loads(printed.getvalue())
        text = json.dumps(results, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        (folder / "assay-v1.results.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
