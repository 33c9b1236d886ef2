"""The zip bundle: nothing lost on the way round, nothing let in that does not fit."""

import io
import json
import random
import zipfile
import zlib
from dataclasses import replace

import pytest
from helpers.texts.factories import (
    always,
    changed_design,
    changed_line,
    counts_of,
    dataset,
    edited,
    guess_all,
    members_of,
    prefers,
    repeated_line,
    study_in,
    vote,
    without_links,
    zipped,
)

from core.budget import Budget, budget_set
from core.errors import InputError
from core.installation import CONVERT
from core.results.study.results import study_results
from core.schema.study import GUESSED_SIDES, StudyRecord
from core.store import Store, open_store
from core.store.answers import load_record
from core.store.raters import token_sha256
from core.study.blinding import open_desk
from core.study.bundle import is_bundle, read_bundle, write_bundle
from core.study.lifecycle import (
    exclude_rater,
    move,
    restore_study,
    set_guideline,
    set_wording,
    withdraw_rater,
)
from core.study.raters import import_votes, preview_link, reissue_link, revoke_link

pytestmark = pytest.mark.usefixtures("each_pair_task")

MEMBERS = (
    *("manifest.json", "study.json", "guidelines.json", "wording.json", "items.jsonl", "outputs.jsonl"),
    *("raters.jsonl", "assignments.jsonl", "answers.jsonl", "history.jsonl", "log.jsonl", "guesses.jsonl"),
    "shipped.jsonl",
)
OTHERS = (
    *("rating_assignments.jsonl", "rating_answers.jsonl", "rating_history.jsonl"),
    *("entered.jsonl", "inclusion.jsonl"),
)
"""Empty in a study of pairs without early looks."""
COMMENT = 'a\r\nb\u2028c\x85d\x1ce "quoted" \\ العربية 日本語 👩‍🔬 \u202eturned\u202c'


def busy_study(store: Store) -> StudyRecord:
    """A bit of everything: votes, a change, notes, a skip, a preview, imported votes, guidelines, states,
    consent, locked answers, guesses, own wording, one who is excluded and one who withdrew.
    """
    at_hand = study_in(
        store,
        dataset(4, ("A0", "A1", "A2"), languages=("en", "ja")),
        raters=("R1", "R2", "Zoë 日本", "gone"),
        repeat_share=0.2,
    )
    set_wording(store, at_hand.study, "de", {"consent": "Ich mache mit.", "left": "Die linke"})
    at_hand.desk("R1").agree()
    guess_all(vote(store, at_hand.tokens["R1"], prefers(0)))
    desk = vote(store, at_hand.tokens["R2"], always("both_good"))
    desk.save_choice(2, "left", seconds=None, diff_used="none")
    desk.save_note(3, comment=COMMENT, invalid=True)
    at_hand.desk("Zoë 日本").skip(4)
    vote(store, preview_link(store, at_hand.study).token, always("both_bad"))
    import_votes(store, at_hand.study, "old", {("q00", "A0"): "candidate", ("q03", "A2"): "both_bad"})
    set_guideline(store, at_hand.study, "de", "Lesen Sie in Ruhe.")
    revoke_link(store, at_hand.study, "R2")
    exclude_rater(store, at_hand.study, "R2", "pressed without reading")
    guess_all(vote(store, at_hand.tokens["gone"], always("left")))
    withdraw_rater(store, at_hand.study, "gone", keep_votes=True)
    move(store, at_hand.study, "closed")
    return at_hand.record


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> StudyRecord:
    with open_store(tmp_path_factory.mktemp("busy") / "assay.db") as store:
        return busy_study(store)


@pytest.fixture(scope="module")
def written(busy: StudyRecord) -> bytes:
    return write_bundle(busy)


def test_reading_gives_the_record_again(busy: StudyRecord, written: bytes) -> None:
    assert is_bundle(written)
    assert read_bundle(written, "b.zip") == busy


def test_another_database_holds_the_same_study(store: Store, busy: StudyRecord, written: bytes) -> None:
    study_in(store, name="something else, so that numbers differ")
    study = restore_study(store, read_bundle(written, "b.zip"))
    restored = load_record(store, study)
    assert (study.name, study.study_id) == ("study", 2)
    assert without_links(restored) == without_links(busy)
    assert restored.log[-1].action == "restored"
    one, other = (study_results(record, n_resamples=200) for record in (busy, restored))
    assert one == other
    assert write_bundle(load_record(store, study)) == write_bundle(restored), "and may be bundled again"


def test_two_copies_in_one_database(store: Store, written: bytes) -> None:
    restore_study(store, read_bundle(written, "b.zip"))
    with pytest.raises(InputError, match="named 'study' already"):
        restore_study(store, read_bundle(written, "b.zip"))
    restore_study(store, read_bundle(written, "b.zip"), name="copy")
    assert counts_of(store)["study"] == 2


def test_old_links_open_nothing_until_issued_again(
    store: Store, tmp_path_factory: pytest.TempPathFactory
) -> None:
    at_hand = study_in(store)
    old = at_hand.tokens["R1"]
    with open_store(tmp_path_factory.mktemp("other") / "other.db") as other:
        study = restore_study(other, read_bundle(write_bundle(at_hand.record), "b.zip"))
        assert open_desk(other, old) is None
        new = reissue_link(other, study, "R1").token
        desk = open_desk(other, new)
        assert [desk.pair(n) for n in (1, 2)] == [at_hand.desk("R1").pair(n) for n in (1, 2)]
        desk.save_choice(1, "left", seconds=1.0, diff_used="none")


def test_the_same_record_gives_the_same_bytes(busy: StudyRecord, written: bytes) -> None:
    assert write_bundle(busy) == written
    assert members_of(written).keys() == {*MEMBERS, *OTHERS}


def test_no_token_in_it(store: Store) -> None:
    at_hand = study_in(store)
    content = b"".join(members_of(write_bundle(at_hand.record)).values())
    for token in at_hand.tokens.values():
        assert token.encode() not in content
        assert token_sha256(token).encode() not in content
    assert b"token" not in content


def test_everything_is_plain_json(busy: StudyRecord, written: bytes) -> None:
    members = members_of(written)
    assert json.loads(members["study.json"])["design"]["margin"] == 0.1
    answers = [json.loads(line) for line in members["answers.jsonl"].decode().split("\n") if line]
    kept = COMMENT.replace("\x85", "\ufffd").replace("\x1c", "\ufffd")
    assert [answer["comment"] for answer in answers if answer["comment"]] == [kept]
    assert json.loads(members["wording.json"]) == {"de": {"consent": "Ich mache mit.", "left": "Die linke"}}
    guesses = [json.loads(line) for line in members["guesses.jsonl"].splitlines()]
    assert {(guess["rater_id"], guess["guess"]) for guess in guesses} == {
        (rater, side) for rater in ("R1", "withdrawn-1") for side in GUESSED_SIDES
    }
    assert len(answers) == len(busy.answers)


# --- bundles that cannot be restored -------------------------------------------------------------


def refused(store: Store, data: bytes) -> InputError:
    """The refusal, and nothing imported."""
    before = counts_of(store)
    with pytest.raises(InputError) as raised:
        restore_study(store, read_bundle(data, "b.zip"), name="restored")
    assert counts_of(store) == before
    assert "b.zip" in raised.value.what
    return raised.value


@pytest.mark.parametrize("member", [*MEMBERS[1:], *OTHERS])
def test_a_member_is_missing_changed_or_cut(store: Store, written: bytes, member: str) -> None:
    members = members_of(written)
    without = {name: content for name, content in members.items() if name != member}
    assert refused(store, zipped(without)).problems == (f"{member} is missing",)
    assert refused(store, edited(zipped(without), {})).problems == (f"{member} is missing",)
    for content in {members[member][:-5], members[member] + b"\n", b""} - {members[member]}:
        problems = refused(store, zipped({**members, member: content})).problems
        assert problems == (f"{member} does not match the manifest (its sha256 differs)",)


@pytest.mark.parametrize("member", MEMBERS[1:])
def test_a_member_without_json_and_a_manifest_that_fits(store: Store, written: bytes, member: str) -> None:
    for content in (
        b"{not json\n",
        b"[]\n",
        b"null\n",
        b'"text"\n',
        b'{"a": 1}\n',
        b"\xff\xfe\n",
        b"[" * 9999,
    ):
        problems = refused(store, edited(written, {member: content})).problems
        assert problems
        assert all(problem.startswith(member) for problem in problems)


def test_all_problems_are_listed(store: Store, written: bytes) -> None:
    data = edited(
        written, {"items.jsonl": b"{}\n{}\n", "log.jsonl": b"no\n", "guidelines.json": b'{"en": 1}'}
    )
    problems = refused(store, data).problems
    assert {problem.split(",")[0] for problem in problems} == {"items.jsonl", "log.jsonl", "guidelines.json"}
    assert "items.jsonl, line 2, item_id: Field required" in problems
    both = dict.fromkeys(("items.jsonl", "answers.jsonl"), b"x")
    assert len(refused(store, zipped({**members_of(written), **both})).problems) == 2


@pytest.mark.parametrize(
    "manifest",
    [
        b"not json",
        b"[]",
        b"{}",
        b'{"format": "other"}',
        b'{"format": "assay-study", "version": 2, "sha256": {}}',
        b'{"format": "assay-study", "version": null, "sha256": {}}',
        b'{"format": "assay-study", "version": "1", "sha256": {}}',
        b'{"format": "assay-study", "version": 1}',
        b'{"format": "assay-study", "version": 1, "sha256": []}',
        b'{"format": "assay-study", "version": 1, "sha256": {}}',
        b"[" * 99999,
        b"\xff",
    ],
    ids=range(12),
)
def test_manifests_that_cannot_be(store: Store, written: bytes, manifest: bytes) -> None:
    refused(store, zipped({**members_of(written), "manifest.json": manifest}))


@pytest.mark.parametrize("version", [0, 2, 7])
def test_another_version_is_refused_with_the_script_that_converts_it(
    store: Store, written: bytes, version: int
) -> None:
    manifest = {**json.loads(members_of(written)["manifest.json"]), "version": version}
    problem = refused(store, zipped({**members_of(written), "manifest.json": json.dumps(manifest).encode()}))
    assert f"bundle version {version}, not 1" in problem.what
    assert CONVERT in problem.what


def test_other_zips_and_no_zips(store: Store) -> None:
    assert "the zip has no manifest.json" in refused(store, zipped({"readme.txt": b"hello"})).what
    for data in (b"", b"PK\x03\x04", b"PK\x03\x04" + bytes(100), b"{}", b"PK\x05\x06" + bytes(18)):
        refused(store, data)


def test_a_bomb_is_refused_unread(store: Store, written: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO(written)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("log2.jsonl", bytes(2**20))
    assert len(buffer.getvalue()) < 100_000
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("read before the size was known"))
    with budget_set(Budget(bytes=2**20)):
        assert "ASSAY_MOST_BYTES" in next(iter(refused(store, buffer.getvalue()).problems))


def test_a_bomb_that_lies_about_its_size(store: Store, written: bytes) -> None:
    """A size that is too small in the directory: reading stops there and the checksum is wrong."""
    data = bytearray(written)
    size = len(members_of(written)["answers.jsonl"]).to_bytes(4, "little")
    assert data.count(size) == 2
    refused(store, bytes(data.replace(size, (10).to_bytes(4, "little"))))


def test_a_locked_zip(store: Store, written: bytes) -> None:
    data = bytearray(written)
    with zipfile.ZipFile(io.BytesIO(written)) as archive:
        starts = [info.header_offset for info in archive.infolist()]
    for start in starts:
        data[start + 6] |= 1
    entry = -1
    while (entry := data.find(b"PK\x01\x02", entry + 1)) >= 0:
        data[entry + 8] |= 1
    refused(store, bytes(data))


def test_cut_anywhere(store: Store, written: bytes) -> None:
    for length in range(0, len(written), max(1, len(written) // 60)):
        refused(store, written[:length])


def test_one_byte_wrong_anywhere(written: bytes, busy: StudyRecord) -> None:
    """Read as it was (the byte said nothing), or refused; never another study, never a traceback."""
    chooser = random.Random(1)
    for position in sorted(chooser.sample(range(len(written)), 600)):
        data = bytearray(written)
        data[position] ^= chooser.randrange(1, 256)
        try:
            assert read_bundle(bytes(data), "b.zip") == busy
        except InputError:
            pass
        except zlib.error as problem:
            pytest.fail(f"byte {position}: {problem!r} is not said in a sentence")


# --- bundles made by hand, with a manifest that fits --------------------------------------------


def test_the_forger_of_these_tests_changes_nothing_by_itself(busy: StudyRecord, written: bytes) -> None:
    assert read_bundle(edited(written, {}), "b.zip") == busy
    assert read_bundle(changed_line(written, "study.json", name="x"), "b.zip").study.name == "x"
    assert read_bundle(changed_design(written, margin=0.3), "b.zip").study.design.margin == 0.3


@pytest.mark.parametrize(
    ("member", "values"),
    [
        ("answers.jsonl", {"rater_id": "foreign"}),
        ("answers.jsonl", {"item_id": "foreign"}),
        ("answers.jsonl", {"level": "A9"}),
        ("answers.jsonl", {"choice": "middle"}),
        ("answers.jsonl", {"seconds": "long"}),
        ("assignments.jsonl", {"rater_id": "foreign"}),
        ("assignments.jsonl", {"left": "foreign"}),
        ("assignments.jsonl", {"left": "ai", "right": "ai"}),
        ("assignments.jsonl", {"item_id": "foreign"}),
        ("outputs.jsonl", {"item_id": "foreign"}),
        ("outputs.jsonl", {"source": "foreign"}),
        ("items.jsonl", {"item_id": "foreign"}),
        ("items.jsonl", {"question": None}),
        ("raters.jsonl", {"rater_id": "foreign"}),
        ("study.json", {"state": "lost"}),
        ("study.json", {"name": ""}),
        ("study.json", {"levels": ["A0", "A9"]}),
        ("study.json", {"levels": "A0"}),
    ],
    ids=str,
)
def test_rows_that_fit_nowhere(store: Store, written: bytes, member: str, values: dict[str, object]) -> None:
    before = counts_of(store)
    with pytest.raises(InputError):
        restore_study(store, read_bundle(changed_line(written, member, **values), "b.zip"))
    assert counts_of(store) == before


@pytest.mark.parametrize("member", ["history.jsonl"])
def test_history_of_a_foreign_rater(store: Store, written: bytes, member: str) -> None:
    line = json.loads(members_of(written)[member].splitlines()[0])
    data = changed_line(written, member, answer={**line["answer"], "rater_id": "foreign"})
    refused(store, data)


@pytest.mark.parametrize(
    "values",
    [
        {"margin": -0.1},
        {"confidence_level": 90},
        {"candidate": "human", "comparator": "human"},
        {"candidate": "robot"},
        {"seed": -1},
        {"votes_per_pair": 0},
        {"repeat_share": 7},
    ],
    ids=str,
)
def test_a_design_that_cannot_be(store: Store, written: bytes, values: dict[str, object]) -> None:
    """What no import would take must not come in by a bundle: the results would fail on it."""
    refused(store, changed_design(written, **values))


@pytest.mark.parametrize(
    "member",
    [f"{name}.jsonl" for name in ("items", "outputs", "raters", "assignments", "answers", "guesses")],
)
def test_a_row_that_stands_twice(store: Store, written: bytes, member: str) -> None:
    refused(store, repeated_line(written, member))


def test_imported_votes_on_a_pair_that_is_not_there(store: Store, written: bytes) -> None:
    lines = members_of(written)["answers.jsonl"].splitlines()
    number = next(n for n, line in enumerate(lines) if json.loads(line)["rater_id"] == "old")
    refused(store, changed_line(written, "answers.jsonl", number, item_id="foreign"))


def test_positions_without_a_gap(store: Store, written: bytes) -> None:
    """A desk finds a pair by its number: a list 1, 2, 99 would show one pair and save another."""
    refused(store, changed_line(written, "assignments.jsonl", position=99))


def test_guidelines_that_would_unblind_do_not_come_in(store: Store, written: bytes) -> None:
    for text in ("The AI is better.", "<img src=https://example.org/x.png>"):
        refused(store, edited(written, {"guidelines.json": json.dumps({"en": text}).encode()}))


def test_a_study_without_answers_comes_round_too(store: Store) -> None:
    record = study_in(store, raters=(), state="draft").record
    again = restore_study(store, read_bundle(write_bundle(record), "b.zip"), name="again")
    assert without_links(load_record(store, again)) == without_links(record)
    assert replace(again, study_id=0, name="") == replace(record.study, study_id=0, name="")


def test_a_line_of_the_log_keeps_its_time_even_an_empty_one(store: Store, written: bytes) -> None:
    record = read_bundle(changed_line(written, "log.jsonl", at_utc=""), "b.zip")
    restored = load_record(store, restore_study(store, record, name="again"))
    times = [line.at_utc for line in record.log]
    assert [line.at_utc for line in restored.log][: len(times)] == times  # restoring adds a line
    assert restored.log[0].at_utc == ""


@pytest.mark.parametrize(
    ("member", "values", "sentence"),
    [
        ("study.json", {"first_vote_utc": None}, "first_vote_utc must give the time"),
        ("answers.jsonl", {"choice": "both_bad"}, "differs from the last entry in its history"),
        ("outputs.jsonl", {"text": "a\u0000b"}, "text contains the control character U+0000"),
        ("items.jsonl", {"reference": " "}, "text is blank"),
        ("raters.jsonl", {"rater_id": "two\nlines"}, "an id must have"),
        ("study.json", {"levels": []}, "there are no levels"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_the_app_would_never_have_let_in(
    store: Store, written: bytes, member: str, values: dict[str, object], sentence: str
) -> None:
    assert sentence in str(refused(store, changed_line(written, member, **values)))


def test_a_side_that_was_turned_round(store: Store, written: bytes) -> None:
    """The seed proves where each source stood: nobody turns votes round in a published bundle."""
    first = json.loads(members_of(written)["assignments.jsonl"].splitlines()[0])
    turned = changed_line(written, "assignments.jsonl", left=first["right"], right=first["left"])
    assert "what the seed gives" in str(refused(store, turned))


def test_a_third_source(store: Store, written: bytes) -> None:
    output = json.loads(members_of(written)["outputs.jsonl"].splitlines()[0])
    more = json.dumps({**output, "source": "another"}).encode() + b"\n"
    data = edited(written, {"outputs.jsonl": more + members_of(written)["outputs.jsonl"]})
    assert "is not part of the study" in str(refused(store, data))


def test_wording_that_would_unblind_does_not_come_in(store: Store, written: bytes) -> None:
    for texts in ({"left": "AI"}, {"consent": "<img src=https://example.org/x.png>"}, {"left": "Right"}):
        problem = refused(store, edited(written, {"wording.json": json.dumps({"en": texts}).encode()}))
        assert problem.problems[0].startswith("study.json: ")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"rater_id": "foreign"}, "guesses.jsonl: ('foreign', "),
        ({"rater_id": "old"}, "guesses.jsonl: ('old', "),
        ({"rater_id": "Zoë 日本"}, "guesses.jsonl: ('Zoë 日本', "),
        ({"item_id": "foreign"}, "guesses.jsonl: ('R1', 'foreign', "),
        ({"level": "A9"}, "'A9', False)"),
        ({"guess": "candidate"}, "guesses.jsonl, line 1, guess: Input should be 'left', 'right' or 'unsure'"),
        ({"seconds": "long"}, "guesses.jsonl, line 1, seconds: "),
    ],
    ids=str,
)
def test_a_forged_guess_is_refused_with_its_place(
    store: Store, written: bytes, values: dict[str, object], sentence: str
) -> None:
    """Zoë has a list and did not lock it: nobody who has not finished was asked."""
    assert sentence in str(refused(store, changed_line(written, "guesses.jsonl", **values)))
