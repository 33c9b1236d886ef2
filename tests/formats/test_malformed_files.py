"""Thousands of broken files: each ends in a clear error or a correct import, and an error leaves no trace.

`python -m pytest tests/formats/test_malformed_files.py -m "slow or not slow"` runs all 20,000. A failure
names format and number; `content(format, number, bundle)` makes that file again.
"""

import hashlib
import io
import json
import random
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.texts.factories import (
    always,
    dataset,
    edited,
    members_of,
    paper_json,
    study_in,
    vote,
    without_links,
    zipped,
)
from helpers.texts.mutations import (
    bundle_file,
    csv_file,
    damaged,
    jsonl_file,
    paper_file,
    place_named,
    tsv_file,
    votes_file,
)

from core.errors import AssayError, InputError
from core.formats.study.files import read_dataset
from core.schema.study import NO_ANSWER, Dataset, Design
from core.store import Store, open_store
from core.store.answers import answers_of, load_record
from core.store.studies import find_study
from core.study.bundle import read_bundle, write_bundle
from core.study.lifecycle import import_study, restore_study
from core.study.raters import import_votes, import_votes_file
from core.tables.reading import clean_text, name_of, shown, text_problem

FORMATS = {
    "paper": ".json",
    "csv": ".csv",
    "tsv": ".tsv",
    "jsonl": ".jsonl",
    "votes": ".json",
    "bundle": ".zip",
}
MAKERS = {"paper": paper_file, "csv": csv_file, "tsv": tsv_file, "jsonl": jsonl_file, "votes": votes_file}
FILES, FILES_SLOW = 1_000, 10_000


def content(kind: str, number: int, bundle: bytes) -> bytes:
    """The file of that number."""
    rng = random.Random(f"{kind} {number}")
    data = bundle_file(rng, bundle) if kind == "bundle" else MAKERS[kind](rng)
    return damaged(rng, data) if kind != "bundle" and rng.random() < 0.25 else data


@dataclass
class Bench:
    """A database with one study, put back as it was after each file that is taken."""

    path: Path
    template: Path
    bundle: bytes
    store: Store
    before: dict[str, str]

    def renew(self) -> None:
        self.store.close()
        shutil.copy(self.template, self.path)
        self.store = open_store(self.path)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("malformed")
    template, path = folder / "template.db", folder / "assay.db"
    with open_store(template) as store:
        at_hand = study_in(
            store, dataset(2, ("A0", "A1")), raters=("R1", "R2"), name="base", repeat_share=0.2
        )
        vote(store, at_hand.tokens["R1"], always("left"))
        at_hand.desk("R2").save_note(1, comment="hm, \u202eodd\u202c", invalid=True)
        import_votes(store, at_hand.study, "old", {("q00", "A0"): "candidate"})
        bundle = write_bundle(at_hand.record)
    shutil.copy(template, path)
    opened = Bench(path, template, bundle, open_store(path), {})
    opened.before = fingerprint(opened.store)
    yield opened
    opened.store.close()


def fingerprint(store: Store) -> dict[str, str]:
    """A hash of every table's rows, and how many there are."""
    names = [
        row["name"] for row in store.rows("select name from sqlite_master where type = 'table' order by name")
    ]
    found = {}
    for name in names:
        rows = [tuple(row.values()) for row in store.rows(f'select * from "{name}" order by 1, 2')]
        found[name] = f"{len(rows)} rows, {hashlib.sha256(repr(rows).encode('utf-8', 'replace')).hexdigest()}"
    return found


# --- what must hold -------------------------------------------------------------------------------


def check_error(kind: str, name: str, error: AssayError) -> None:
    assert isinstance(error, InputError), repr(error)
    text = str(error)
    text.encode()
    assert error.what.strip()
    assert shown(name) in error.what or "file" in error.what or "name" in error.what, text
    for sentence in text.split("\n"):
        assert sentence.isprintable(), ascii(sentence)
    if kind in ("paper", "csv", "tsv", "jsonl"):
        assert error.problems
        for problem in error.problems:
            assert place_named(problem), problem


def check_dataset(data: Dataset) -> None:
    ids = [item.item_id for item in data.items]
    assert len(set(ids)) == len(ids) > 0
    assert len(set(data.sources)) == 2
    wanted = [(item, level, source) for item in ids for level in data.levels for source in data.sources]
    assert [(o.item_id, o.level, o.source) for o in data.outputs] == wanted
    for name in (*ids, *data.levels, *data.sources):
        assert name_of(name) == name
    for text in [
        *(t for i in data.items for t in (i.question, i.reference)),
        *(o.text for o in data.outputs if o.text != NO_ANSWER),
    ]:
        assert text_problem(text) is None
        assert clean_text(text) == text


def taken_dataset(bench: Bench, data: bytes, name: str) -> None:
    read = read_dataset(data, name)
    check_dataset(read)
    one, other = read.sources
    study = import_study(bench.store, "new", read, Design(candidate=one, comparator=other, seed=1))
    stored = load_record(bench.store, study)
    assert (stored.items, stored.outputs, stored.study.levels) == (read.items, read.outputs, read.levels)
    assert read_dataset(data, name) == read
    again = read_dataset(paper_json(read), "again.json")
    assert (again.items, again.outputs, again.levels) == (read.items, read.outputs, read.levels)


def taken_votes(bench: Bench, data: bytes, name: str) -> None:
    study = find_study(bench.store, "base")
    count = import_votes_file(bench.store, study, "new", data, name)
    answers = answers_of(bench.store, study.study_id, "new")
    assert len(answers) == count > 0
    assert all(a.preference is not None and a.item_id in ("q00", "q01") for a in answers)


def taken_bundle(bench: Bench, data: bytes, name: str) -> None:
    record = read_bundle(data, name)
    design = record.study.design
    wanted = {
        (item.item_id, level, source)
        for item in record.items
        for level in record.study.levels
        for source in (design.candidate, design.comparator)
    }
    assert {(o.item_id, o.level, o.source) for o in record.outputs} == wanted
    texts = [text for item in record.items for text in (item.question, item.reference)]
    assert not [text for text in [*texts, *(o.text for o in record.outputs)] if text_problem(text)]
    stored = load_record(bench.store, restore_study(bench.store, record, name="new"))
    assert without_links(stored) == without_links(record)
    assert without_links(read_bundle(write_bundle(stored), name)) == without_links(stored)


TAKE = {"votes": taken_votes, "bundle": taken_bundle}


def run(bench: Bench, numbers: range) -> Counter[tuple[str, bool]]:
    """Try the files of these numbers, formats in turn; how many of each were taken and refused."""
    seen: Counter[tuple[str, bool]] = Counter()
    kinds = list(FORMATS)
    for number in numbers:
        kind = kinds[number % len(kinds)]
        name = f"file-{number}{FORMATS[kind]}"
        data = content(kind, number, bench.bundle)
        try:
            TAKE.get(kind, taken_dataset)(bench, data, name)
        except AssayError as error:
            check_error(kind, name, error)
            assert fingerprint(bench.store) == bench.before, f"{kind} {number} left something behind"
            seen[kind, False] += 1
        except Exception as problem:
            problem.add_note(f"{kind} {number}: {data[:2000]!r}")
            raise
        else:
            seen[kind, True] += 1
            bench.renew()
    return seen


# --- what these files have found ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("member", "old", "new", "said"),
    [
        ("answers.jsonl", '"seconds": 2.5', '"seconds": NaN', "line 1, seconds: the number is too large"),
        ("answers.jsonl", '"seconds": 2.5', '"seconds": 1e999', "line 1, seconds: the number is too large"),
        (
            "history.jsonl",
            '"seconds": 2.5',
            '"seconds": -Infinity',
            "line 1, seconds: the number is too large",
        ),
        (
            "raters.jsonl",
            '"onboarding": 0',
            f'"onboarding": {2**63}',
            "line 1, onboarding: the number is too large",
        ),
        ("study.json", '"margin": 0.1', '"margin": NaN', "study.json, margin: the number is too large"),
    ],
)
def test_numbers_that_no_database_holds(bench: Bench, member: str, old: str, new: str, said: str) -> None:
    text = members_of(bench.bundle)[member].decode()
    assert old in text
    with pytest.raises(InputError) as caught:
        read_bundle(edited(bench.bundle, {member: text.replace(old, new, 1).encode()}), "b.zip")
    assert said in str(caught.value)


def test_a_version_that_cannot_be_printed(bench: Bench) -> None:
    manifest = json.loads(members_of(bench.bundle)["manifest.json"]) | {"version": "\ud800"}
    data = zipped({**members_of(bench.bundle), "manifest.json": json.dumps(manifest).encode()})
    with pytest.raises(InputError) as caught:
        read_bundle(data, "b.zip")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("way", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_to_pack_are_refused_unread(bench: Bench, way: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", way) as archive:
        for name, member in members_of(bench.bundle).items():
            archive.writestr(name, member)
    with pytest.raises(InputError, match="uses a zip compression"):
        read_bundle(buffer.getvalue(), "b.zip")


# --- the files ------------------------------------------------------------------------------------


# Of the files of each format between a fifth and two fifths is taken: the rest
# of a file is valid, and much that looks odd (formulas, control characters, other columns, another order,
# Windows line ends) is no mistake.
def check_both(seen: Counter[tuple[str, bool]], files: int) -> None:
    assert seen.total() == files
    for kind in FORMATS:
        share = seen[kind, True] / (seen[kind, True] + seen[kind, False])
        assert 0.1 < share < 0.9, (kind, share)


@pytest.mark.slow
def test_a_thousand_malformed_files(bench: Bench) -> None:
    check_both(run(bench, range(FILES)), FILES)


@pytest.mark.slow
def test_ten_thousand_malformed_files(bench: Bench) -> None:
    check_both(run(bench, range(FILES, FILES_SLOW)), FILES_SLOW - FILES)
