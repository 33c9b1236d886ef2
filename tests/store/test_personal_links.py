"""Personal links: the database holds hashes only; the key file beside it makes them again."""

import base64
import stat
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.texts.factories import dataset, study_in

from core import access
from core.errors import NotAllowed, NotFound, StorageError
from core.store import Store, open_store
from core.store.raters import link_token, rater_of_token, token_sha256
from core.store.studies import find_study
from core.study.blinding import open_desk
from core.study.lifecycle import change_design, withdraw_rater
from core.study.raters import add_raters, import_votes, links, reissue_link, revoke_link

PASSPHRASE = "four plain words here"


def key_file(store: Store) -> Path:
    return store.path.with_name(store.path.name + ".key")


def test_tokens_are_128_bits_and_their_own(store: Store) -> None:
    one, two = study_in(store, raters=("R1", "R2", "R3")), study_in(store, name="other")
    tokens = [*one.tokens.values(), *two.tokens.values(), link_token(store, "R1")]
    assert len(set(tokens)) == 6
    assert {len(base64.urlsafe_b64decode(token + "==")) for token in tokens} == {16}


def test_a_link_opens_its_rater_and_nobody_else(store: Store) -> None:
    one, two = study_in(store), study_in(store, name="other")
    for at_hand in (one, two):
        for rater, token in at_hand.tokens.items():
            study_id, found = rater_of_token(store, token)
            assert (study_id, found.rater_id) == (at_hand.study_id, rater)
    for wrong in ("", " ", "R1", "x" * 22, link_token(store, "R1"), token_sha256(one.tokens["R1"]), "None"):
        assert open_desk(store, wrong) is None


def test_revoked_reissued_replaced(store: Store) -> None:
    at_hand = study_in(store)
    old = at_hand.tokens["R1"]
    revoke_link(store, at_hand.study, "R1")
    assert open_desk(store, old) is None
    assert [link.rater_id for link in links(store, at_hand.study)] == ["R2"]
    new = reissue_link(store, at_hand.study, "R1").token
    assert new != old
    assert open_desk(store, old) is None
    assert open_desk(store, new).total > 0
    assert at_hand.tokens["R1"] == new
    newest = reissue_link(store, at_hand.study, "R1").token
    assert open_desk(store, new) is None
    assert open_desk(store, newest) is not None
    assert [entry.action for entry in at_hand.record.log][-3:] == [
        "link revoked",
        "link issued again",
        "link issued again",
    ]


def test_links_of_raters_who_are_not_there(store: Store) -> None:
    at_hand = study_in(store)
    for step in (revoke_link, reissue_link):
        with pytest.raises(NotFound, match=r"no rater 'R9' in this study\. Raters: R1, R2\."):
            step(store, at_hand.study, "R9")


def test_imported_votes_have_no_link(store: Store) -> None:
    at_hand = study_in(store)
    import_votes(store, at_hand.study, "old", {("q00", "A0"): "candidate"})
    assert "old" not in at_hand.tokens
    with pytest.raises(NotAllowed, match="were imported from a file"):
        reissue_link(store, at_hand.study, "old")


def test_no_token_is_written_anywhere(tmp_path: Path) -> None:
    """The raw bytes of database and write-ahead log hold no token, in no encoding a reader would try."""
    store = open_store(tmp_path / "assay.db")
    at_hand = study_in(store)
    link = access.make_link(store)
    session = access.choose_passphrase(store, link, PASSPHRASE, PASSPHRASE)
    tokens = [*at_hand.tokens.values(), reissue_link(store, at_hand.study, "R1").token]
    tokens += [link, session, access.make_link(store), access.sign_in(store, PASSPHRASE, "192.0.2.1")]

    def forms(token: str) -> list[bytes]:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        return [token.encode(), token.encode("utf-16-le"), raw, raw.hex().encode(), base64.b64encode(raw)]

    def written() -> bytes:
        found = [path for path in tmp_path.iterdir() if path != key_file(store)]
        assert {path.name for path in found} >= {"assay.db"}
        return b"".join(path.read_bytes() for path in sorted(found))

    while_open = written()
    assert (tmp_path / "assay.db-wal").stat().st_size > 0
    store.close()
    for content in (while_open, written()):
        assert token_sha256(tokens[1]).encode() in content, "the search looks in the right place"
        assert token_sha256(session).encode() in content
        assert not [token for token in tokens if any(form in content for form in forms(token))]
        assert PASSPHRASE.encode() not in content


def test_the_key_file_is_private_and_stays(tmp_path: Path) -> None:
    with open_store(tmp_path / "assay.db") as store:
        at_hand = study_in(store)
        tokens = at_hand.tokens
        assert stat.S_IMODE(key_file(store).stat().st_mode) == 0o600
    with open_store(tmp_path / "assay.db") as store:
        assert {link.rater_id: link.token for link in links(store, find_study(store, "study"))} == tokens
        assert open_desk(store, tokens["R1"]) is not None
    assert sorted(path.name for path in tmp_path.iterdir() if "key" in path.name) == ["assay.db.key"]


def test_a_copy_of_the_database_opens_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path / "assay.db") as store:
        tokens = study_in(store).tokens
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "assay.db").write_bytes((tmp_path / "assay.db").read_bytes())
    with open_store(tmp_path / "copy" / "assay.db") as copy:
        shown = {link.rater_id: link.token for link in links(copy, find_study(copy, "study"))}
        assert not set(shown.values()) & set(tokens.values()), "another key file, other links"
        assert open_desk(copy, tokens["R1"]) is not None, "whoever has the link already may still use it"


@pytest.mark.parametrize(
    "content", ["not hexadecimal", "", "ab", "é"], ids=["no hex", "empty", "short", "no ascii"]
)
def test_a_damaged_key_file_is_said_and_not_used(store: Store, content: str) -> None:
    """An empty key would let anybody work out every link."""
    at_hand = study_in(store)
    key_file(store).write_text(content, encoding="utf-8")
    with pytest.raises(StorageError, match=r"The key file assay\.db\.key.*Restore it from your backup"):
        link_token(store, "R1")
    with pytest.raises(StorageError):
        links(store, at_hand.study)


def test_ids_of_two_raters_never_share_a_link(store: Store) -> None:
    at_hand = study_in(store, raters=("R", "R1", "R11"))
    add_raters(store, at_hand.study, ["1", "11"])
    assert len(set(at_hand.tokens.values())) == 5


def test_addresses_hold_the_token_alone(store: Store) -> None:
    """Nothing after a question mark: a proxy may write queries to its log, and pages read them."""
    (link,) = links(store, study_in(store, raters=("R1",)).study)
    for base in ("https://assay.example/rate", "https://assay.example/rate/"):
        assert link.url(base) == f"https://assay.example/rate/r/{link.token}"


def test_who_withdrew_gets_no_new_link(store: Store) -> None:
    at_hand = study_in(store)
    new = withdraw_rater(store, at_hand.study, "R1", keep_votes=True)
    before = at_hand.record
    with pytest.raises(NotAllowed, match="withdrew and cannot get a new link"):
        reissue_link(store, at_hand.study, new)
    assert at_hand.record == before


@pytest.mark.parametrize("state", ["draft", "open"])
def test_who_comes_back_has_a_list_again(store: Store, state: str) -> None:
    """Under votes per pair a revoked rater's questions go to others; a new link must not open an empty list."""
    at_hand = study_in(store, dataset(6), state=state, votes_per_pair=1, repeat_share=0.0)
    revoke_link(store, at_hand.study, "R1")
    change_design(store, at_hand.study, replace(at_hand.study.design, votes_per_pair=2))  # deals all anew
    assert {a.rater_id for a in at_hand.record.assignments} == {"R2"}
    reissue_link(store, at_hand.study, "R1")
    assert Counter(a.rater_id for a in at_hand.record.assignments) == {"R1": 30, "R2": 30}
    assert at_hand.desk("R1").next_open() == 1
