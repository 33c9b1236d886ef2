"""Bundles that unpack to much more than they are: refused soon, in little memory, whatever member it is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.texts.factories import always, dataset, edited, members_of, study_in, vote
from helpers.texts.rating_studies import rating_study, rating_texts

from core.errors import MOST_PROBLEMS, InputError
from core.store import open_store
from core.study.bundle import MOST_COUNTED, MOST_VALUES, read_bundle, write_bundle

N_LINES = 5_000_000
MOST_SECONDS, MOST_MIB = 10, 300
"""Of CPU a bundle, and at the peak, what the libraries take included."""
MOST_BYTES = 25_000
READ = """
import json, re, sys, time
from pathlib import Path
from core.errors import InputError
from core.study.bundle import read_bundle
for name in sys.argv[1:]:
    began, found = time.process_time(), 0
    try:
        read_bundle(Path(name).read_bytes(), "b.zip")
    except InputError as error:
        found = error.n_problems
    # Not getrusage: its peak is the parent's where that was larger.
    peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
    print(json.dumps([Path(name).name, found, time.process_time() - began, peak / 1024]), flush=True)
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    with open_store(tmp_path_factory.mktemp("pair") / "assay.db") as store:
        at_hand = study_in(store, dataset(2, ("A0", "A1")), raters=("R1", "R2"), repeat_share=0.2)
        vote(store, at_hand.tokens["R1"], always("left"))
        return write_bundle(at_hand.record)


@pytest.fixture(scope="module")
def rating(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    with open_store(tmp_path_factory.mktemp("rating") / "assay.db") as store:
        return write_bundle(rating_study(store, rating_texts(2), raters=("R1",)).record)


def bombs(pair: bytes, rating: bytes) -> dict[str, bytes]:
    empty = b"\n" * N_LINES
    found = {
        name: edited(rating if name.startswith("rating_") else pair, {name: empty})
        for name in members_of(pair)
        if name.endswith(".jsonl")
    }
    spans = b'{"spans": [' + b",".join([b"1"] * 3_000_000) + b"]}\n"
    found["one line"] = edited(rating, {"rating_answers.jsonl": spans})
    found["no line"] = edited(rating, {"rating_answers.jsonl": b'["' + b'\\"' * 3_000_000})
    found["guidelines"] = edited(pair, {"guidelines.json": b"{" + b",".join([b'"a":1'] * 1_000_000) + b"}"})
    item = members_of(pair)["items.jsonl"].splitlines()[0] + b"\n"
    study = json.loads(members_of(pair)["study.json"]) | {"levels": ["A0"] * 10_000}
    product = {"study.json": json.dumps(study).encode(), "items.jsonl": item * 10_000}
    found["items by levels"] = edited(pair, product)
    return found


@pytest.mark.slow
def test_small_files_that_unpack_to_much(pair: bytes, rating: bytes, tmp_path: Path) -> None:
    made = bombs(pair, rating)
    for name, data in made.items():
        assert len(data) < MOST_BYTES, name
        (tmp_path / name).write_bytes(data)
    paths = [str(tmp_path / name) for name in made]
    run = subprocess.run(
        [sys.executable, "-c", READ, *paths], capture_output=True, text=True, timeout=300, check=True
    )
    read = [json.loads(line) for line in run.stdout.splitlines()]
    assert [name for name, *_ in read] == list(made)
    for name, found, seconds, mib in read:
        assert found > 0, name
        assert seconds < MOST_SECONDS, name
        assert mib < MOST_MIB, name


def test_reading_stops_and_says_so(pair: bytes) -> None:
    with pytest.raises(InputError, match="reading stopped") as caught:
        read_bundle(edited(pair, {"raters.jsonl": b"\n" * (2 * MOST_COUNTED)}), "b.zip")
    assert (len(caught.value.problems), caught.value.n_problems) == (MOST_PROBLEMS, MOST_COUNTED)


def test_fewer_problems_are_all_counted(pair: bytes) -> None:
    lines = members_of(pair)["raters.jsonl"] + b"x\n" * 1_000
    with pytest.raises(InputError) as caught:
        read_bundle(edited(pair, {"raters.jsonl": lines}), "b.zip")
    assert caught.value.n_problems == 1_000
    assert "stopped" not in caught.value.what


def test_a_long_text_with_commas_is_one_value(pair: bytes) -> None:
    first, *others = [json.loads(line) for line in members_of(pair)["items.jsonl"].splitlines()]
    text = 'a,"b",\\' * MOST_VALUES
    lines = "".join(json.dumps(item) + "\n" for item in [first | {"question": text}, *others])
    record = read_bundle(edited(pair, {"items.jsonl": lines.encode()}), "b.zip")
    assert record.items[0].question == text
