"""A tab belongs to the rater whose link was opened in it: after a reload, a cut, or another link in the same browser."""

from urllib.parse import parse_qs

import pytest
from helpers.processes.at_the_door import NO_LINK, Door, nothing_leaked
from helpers.processes.raw_rater import RawRater, RawVisitor, ask, cookie_of, pressed

from core.access import UNKNOWN_TOKEN
from core.store.raters import find_rater, update_rater
from core.store.studies import get_study
from core.study.raters import reissue_link
from pages.widgets.visitor import ANOTHER_RATER

COMMENT = "COMMENTOFTHEFIRST"


def reloaded(tab: RawRater, cookie: str) -> RawRater:
    """The tab after a reload: a new session at the tab's own address, with what the browser now carries."""
    again = RawRater(tab.base, cookie)
    return again.go(tab.query)


def test_a_reload_under_another_link_shows_and_stores_nothing(door: Door) -> None:
    link, other = door.link(), door.link()
    ann, ben = door.rater(link), door.rater(other)
    typed, shown = ann.comment(COMMENT), ann.buttons()
    with reloaded(ann, ben.cookie) as tab:
        assert ANOTHER_RATER in tab.on_screen()
        assert "text of q" not in tab.on_screen()
        assert not tab.buttons()
        tab.go(None, [typed, *(pressed(button) for button in (*shown.values(), *ben.buttons().values()))])
        assert ANOTHER_RATER in tab.on_screen()
        nothing_leaked(tab)
    assert door.answers(link) == door.answers(other) == ()
    ann.close()
    ben.close()


@pytest.mark.parametrize("place", ["at=1", "at=list", "at=guide", "at=finish", "at="])
def test_no_place_of_a_tab_opens_for_another_rater(door: Door, place: str) -> None:
    ann, ben = door.rater(), door.rater()
    handle = ann.query.partition("&")[2]
    with RawRater(door.url, ben.cookie) as tab:
        tab.go(f"{place}&{handle}")
        assert ANOTHER_RATER in tab.on_screen()
        assert not tab.buttons()


def test_the_own_link_repairs_the_tab(door: Door) -> None:
    link = door.link()
    ann, ben = door.rater(link), door.rater()
    with reloaded(ann, ben.cookie) as tab:
        assert ANOTHER_RATER in tab.on_screen()
    with RawRater.of_link(link.url(door.url)) as again:
        assert again.number() == 1
        assert again.query == ann.query
        assert again.choose(0)
    assert door.choices(link) == ["left"]


def test_a_duplicated_tab_is_the_same_rater(door: Door) -> None:
    link = door.link()
    ann = door.rater(link)
    with reloaded(ann, ann.cookie) as twin:
        assert twin.choose(1)
    assert door.choices(link) == ["right"]


def test_the_handle_opens_nothing_by_itself(door: Door) -> None:
    ann = door.rater()
    with RawVisitor(door.url) as visitor:
        visitor.go(ann.query)
        assert "text of q" not in visitor.on_screen()
        assert NO_LINK in visitor.on_screen()
        nothing_leaked(visitor)


def test_an_address_without_a_handle_becomes_the_rater_s(door: Door) -> None:
    ann = door.rater()
    for query in ("at=1", "", "at=1&as="):
        with RawRater(door.url, ann.cookie) as tab:
            tab.go(query)
            assert parse_qs(tab.query) == parse_qs(ann.query)


def test_handles_are_opaque_and_differ_by_rater_and_study(door: Door) -> None:
    link, other = door.link(), door.link()
    places = [ask(door.url, f"/r/{one.token}").headers["location"] for one in (link, other, link)]
    assert places[0] == places[2] != places[1]
    for one, place in zip((link, other), places, strict=False):
        assert one.token not in place
        assert one.rater_id not in place
    ann = door.rater(link)
    assert link.token.encode() not in ann.everything()


def test_a_new_link_of_the_same_rater_opens_the_same_tab(door: Door) -> None:
    link = door.link()
    ann = door.rater(link)
    new = reissue_link(door.store, get_study(door.store, door.at_hand.study_id), link.rater_id)
    with reloaded(ann, cookie_of(new.url(door.url))) as tab:
        assert tab.number() == 1


def test_a_tab_of_another_rater_is_no_guessed_link(door: Door) -> None:
    """Raters who share a browser must not be locked out for it."""
    ann, ben = door.rater(), door.rater()
    before = door.counted(UNKNOWN_TOKEN, ann.address)
    with reloaded(ann, ben.cookie) as tab:
        assert ANOTHER_RATER in tab.on_screen()
    assert door.counted(UNKNOWN_TOKEN, ann.address) == before


def test_every_screen_says_whose_it_is(door: Door) -> None:
    link = door.link("PSEUDONYMSHOWN")
    with RawRater.of_link(link.url(door.url)) as rater:
        assert link.rater_id in rater.on_screen(), "guidelines"
        update_rater(door.store, door.at_hand.study_id, link.rater_id, onboarding=9)
        for place in ("at=1", "at=list"):
            rater.go(place)
            assert link.rater_id in rater.on_screen(), place
        nothing_leaked(rater, but=("PSEUDONYMSHOWN",))
    assert find_rater(door.store, door.at_hand.study_id, link.rater_id).onboarding == 9
