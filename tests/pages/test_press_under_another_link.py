"""Whose list a press is saved on: that of the link under which its screen was drawn, or nobody's."""

from collections.abc import Callable

import pytest
from helpers.texts.factories import StudyAtHand, study_in
from helpers.texts.rating_studies import RatingStudyAtHand, rating_study

from core.errors import NotAllowed
from core.store import Store
from core.store.answers import answers_of, ratings_of
from pages.widgets import visitor
from pages.widgets.visitor import cookie_name

Carry = Callable[[str | None], None]
NOBODY = None


@pytest.fixture
def carry(store: Store, cookies: dict[str, str]) -> Carry:
    """Have the browser carry a link's token, or none."""

    def carries(token: str | None) -> None:
        cookies.clear()
        cookies.update({cookie_name(store, "rater"): token} if token else {})

    return carries


@pytest.fixture(params=["pairs", "ratings"])
def at_hand(request: pytest.FixtureRequest, store: Store) -> StudyAtHand | RatingStudyAtHand:
    return study_in(store) if request.param == "pairs" else rating_study(store)


def pressed_by(at_hand: StudyAtHand | RatingStudyAtHand, drawn_for: str | None) -> list[str]:
    """Save something as a page does; whose lists hold it then."""
    if isinstance(at_hand, StudyAtHand):
        with visitor.rater_desk(drawn_for) as pairs:
            pairs.save_note(1, comment="pressed")
    else:
        with visitor.rating_desk(drawn_for) as texts:
            texts.save_note(1, comment="pressed")
    given = (
        *answers_of(at_hand.store, at_hand.study_id),
        *ratings_of(at_hand.store, at_hand.study_id),
    )
    return [answer.rater_id for answer in given]


@pytest.mark.parametrize(
    ("carried", "drawn_for", "saved_for"),
    [("R1", "R1", "R1"), ("R2", NOBODY, "R2"), (NOBODY, "R2", "R2")],
    ids=["the same link", "drawn for nobody", "the connection has just gone"],
)
def test_a_press_is_saved_for_whom_its_screen_was_drawn(
    at_hand: StudyAtHand | RatingStudyAtHand,
    carry: Carry,
    carried: str | None,
    drawn_for: str | None,
    saved_for: str,
) -> None:
    tokens = at_hand.tokens
    carry(tokens[carried] if carried else None)
    assert pressed_by(at_hand, tokens[drawn_for] if drawn_for else None) == [saved_for]


@pytest.mark.parametrize(
    ("carried", "drawn_for"),
    [("R2", "R1"), (NOBODY, NOBODY), ("unknown", "R1")],
    ids=["another link", "no link", "a link that opens nothing"],
)
def test_a_press_under_another_link_is_saved_for_nobody(
    at_hand: StudyAtHand | RatingStudyAtHand, carry: Carry, carried: str | None, drawn_for: str | None
) -> None:
    tokens = {**at_hand.tokens, "unknown": "U" * 22}
    carry(tokens[carried] if carried else None)
    with pytest.raises(NotAllowed):
        pressed_by(at_hand, tokens[drawn_for] if drawn_for else None)
    assert not answers_of(at_hand.store, at_hand.study_id)
    assert not ratings_of(at_hand.store, at_hand.study_id)
