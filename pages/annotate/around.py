"""Shared by pairs and texts: consent, header, comment and flag, navigation, overview, end."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape

import streamlit as st

from core.study.blinding import EntryStatus, RaterDesk, RatingDesk
from core.study.guidelines import CONSENT, TRANSLATED_KEYS
from pages.widgets import blind_pair, own, said, visitor
from pages.widgets.messages import plain

Go = Callable[[str | int], None]
DOUBLE_PRESS_SECONDS = 0.35
"""A press within this time after a pair or text appears was meant for the previous one."""
_MOVED, _OPENED = "list_moved", "list_opened"


def move(place: str | int) -> None:
    """Change the address. Back, Skip and Next presses that arrive with it belong to the previous screen and do nothing."""
    st.query_params[visitor.PLACE] = str(place)
    st.session_state[_MOVED] = True


@dataclass(frozen=True)
class OnScreen:
    """The screen on which a button was drawn: all that its callback needs."""

    token: str
    number: int
    mark: str
    key: str
    shown_at: float
    mode: str = ""
    """The mode of the marked differences in a pair."""
    earlier: float = 0.0
    """Seconds that a text was on the screen earlier, in this tab."""
    unsaved: bool = False
    """Whether the marker holds a list of errors that could not be saved."""

    def begun_anew(self, *, new_session: bool) -> "OnScreen":
        """The same for a press without its callback, whose server was restarted while this was on the screen.

        In a session that has just begun it was there for long enough, nobody knows how long.
        """
        return replace(self, shown_at=-math.inf) if new_session else self

    def seconds(self) -> float | None:
        """Seconds on the screen, inf if unknown; None for a press meant for the previous screen."""
        passed = time.monotonic() - self.shown_at
        return passed if passed >= DOUBLE_PRESS_SECONDS else None


def known_seconds(seconds: float) -> float | None:
    """The time to save; None if it is unknown."""
    return seconds if math.isfinite(seconds) else None


def is_new_session(key: str) -> bool:
    """Whether this session draws this kind of screen for the first time."""
    known = st.session_state.get(key)
    st.session_state[key] = True
    return not known


def whose(desk: RaterDesk | RatingDesk) -> None:
    """Whose tab this is, with the owner's title."""
    named = [f"<strong>{said.study_words(desk.title)}</strong>"] if desk.title else []
    parts = [*named, f"You rate as <bdi>{escape(desk.rater_id)}</bdi>"]
    st.html(f'<div class="assay-quiet">{" · ".join(parts)}</div>')


def page_language(desk: RaterDesk | RatingDesk) -> None:
    """Say in which language the page is, and in which the study's parts of it are; warn a rater whose browser translates it."""
    words, language = desk.wording(), desk.words_language
    parts = {said.STUDY_WORDS: language, said.GUIDELINES: desk.guidelines_language}
    own.page_language(desk.language, parts, [words[key] for key in TRANSLATED_KEYS], language)


def keep_handle(desk: RaterDesk | RatingDesk) -> None:
    """Make the address say whose tab this is."""
    if st.query_params.get(visitor.HANDLE) != desk.handle:
        st.query_params[visitor.HANDLE] = desk.handle


def place_of(desk: RaterDesk | RatingDesk, early: Callable[[str], str | None], end: Callable[[], str]) -> str:
    """The place in the address if this rater may open it, else where they left off.

    early: what comes before the list, of what the address names; None: that is behind the rater. end: the place when all
    is locked.
    """
    asked = st.query_params.get(visitor.PLACE, "")
    if desk.asks_consent:
        place = "consent"
    elif desk.finished:
        place = end()
    elif (before := early(asked)) is not None:
        place = before
    elif (
        asked == "list"
        or (asked == "finish" and desk.next_open() is None)
        or (asked.isdecimal() and len(asked) < 9 and 1 <= int(asked) <= desk.total)
    ):
        place = asked
    else:
        place = str(desk.next_open() or "finish")
    if place != asked:
        st.query_params[visitor.PLACE] = place
    own.screen_top(place)
    return place


def show_place(place: str, desk: RaterDesk | RatingDesk, go: Go) -> bool:
    """Draw a place that every study has; return whether it is one."""
    if place == "consent":
        _consent(desk, go)
    elif place == "list":
        _overview(desk, go)
    elif place == "finish":
        _finish(desk, go)
    elif place == "end":
        said.title("Done. Thank you!")
        said.line(f"All {desk.total} answers are saved and locked; you can close this window.")
    else:
        return False
    return True


def _consent(desk: RaterDesk | RatingDesk, go: Go) -> None:
    """The study's consent text. Nothing else is shown before the rater agrees."""
    said.title("Before you start")
    with said.study_part(1):
        st.markdown(said.lowered(desk.wording()[CONSENT]))
    if st.button("I agree", type="primary", key="agree"):
        desk.agree()
        go("start")
    st.markdown(":small[If you do not agree, close this window. Nothing is saved.]")


def _unit(desk: RaterDesk | RatingDesk) -> str:
    return "pair" if isinstance(desk, RaterDesk) else "text"


def header(desk: RaterDesk | RatingDesk, number: int, marks: Sequence[str], none: str) -> None:
    """Position in the list, progress, and what is saved. marks: HTML; without any it says `none`."""
    done = desk.done
    said.place(f"{_unit(desk).capitalize()} {number} of {desk.total}", f"{done} done", marks, none)
    st.progress(done / desk.total)


def save_note(
    desk: RaterDesk | RatingDesk, number: int, saved: tuple[str, bool], written: tuple[str, bool]
) -> None:
    """Save only what changed in this tab: another tab may have saved something else meanwhile."""
    if written[0] != saved[0]:
        desk.save_note(number, comment=written[0])
    if written[1] != saved[1]:
        desk.save_note(number, invalid=written[1])


def note(
    desk: RaterDesk | RatingDesk,
    key: str,
    comment: str,
    invalid: bool,
    *,
    hint: str,
    on_change: Callable[[], None],
) -> tuple[str, bool]:
    """Comment and invalid flag as they are in the browser, at first as given. key: identifies pair and rater. hint: as in own.text_box."""
    opened: tuple[str, bool] | None = st.session_state.get(_OPENED)
    if opened is None or opened[0] != key:  # never closed or opened by what is written in it
        st.session_state[_OPENED] = opened = (key, bool(comment or invalid))
    keep = blind_pair.call_in_turn(on_change)
    with st.expander(f"Comment, or report a broken {_unit(desk)}", expanded=opened[1]):
        written = own.text_box("Comment (optional)", comment, key=f"m{key}", on_change=keep, hint=hint)
        flagged = said.study_part(1).checkbox(
            plain(desk.wording()[desk.invalid_key]),
            invalid,
            key=f"i{key}",
            on_change=keep,
        )
    return comment if written is None else written, flagged


def note_mark(desk: RaterDesk | RatingDesk, invalid: bool) -> None:
    """Say that the flag is saved; call it once it is.

    The line is there without it too: a button that moves while the mouse is down on it is not pressed.
    """
    said.status(f"✓ This {_unit(desk)} is reported as broken" if invalid else "&nbsp;")


def note_in_browser(key: str, saved: tuple[str, bool]) -> tuple[str, bool] | None:
    """Comment and flag before they are drawn; `saved` for the one that did not arrive, None if neither did."""
    written, flag = own.box_in_browser(f"m{key}"), f"i{key}"
    if written is None and flag not in st.session_state:
        return None
    return saved[0] if written is None else written, st.session_state.get(flag, saved[1])


def navigation(desk: RaterDesk | RatingDesk, number: int, go: Go) -> None:
    """Back, skip, next, and the button to the overview."""
    here = not st.session_state.pop(_MOVED, False)
    row = st.container(key="moves", horizontal=True)  # one message, where columns take five
    if row.button("Back", key="back", disabled=number == 1, width="stretch") and here:
        go(number - 1)
    if row.button("Skip, ask me later", key="skip", width="stretch") and here:
        desk.skip(number)
        go(desk.next_open(after=number) or "list")
    if row.button("Next", key="next", disabled=number == desk.total, width="stretch") and here:
        go(number + 1)
    if row.button("Overview and finish", key="list", width="stretch") and here:
        go("list")


def _overview(desk: RaterDesk | RatingDesk, go: Go) -> None:
    """The grid of numbers, and what is still open."""
    statuses, unit = desk.statuses(), _unit(desk)
    still = [status for status in statuses if not status.answered]
    said.title(f"Your {unit}s")
    if still:
        put_off = _runs([status.number for status in still if status.skipped])
        said.line(
            f"{len(statuses) - len(still)} of {len(statuses)} answered. "
            f"Still open: {_runs([status.number for status in still])}."
            + (f" Of these you skipped {put_off}." if put_off else "")
        )
        if st.button(f"Go to the next open {unit}", type="primary", key="open"):
            go(desk.next_open() or "list")
    else:
        said.line(
            f"All {len(statuses)} {unit}s are answered. You can still change an answer: press its number."
        )
        if st.button("Finish", type="primary", key="finish"):
            go("finish")
    with st.container(horizontal=True, gap="small"):
        for status in statuses:
            if st.button(_cell(status), key=f"g{status.number}", width=90):
                go(status.number)
    st.markdown(
        ":small[:material/check: answered · :material/schedule: skipped · :material/flag: reported as broken]"
    )


def _finish(desk: RaterDesk | RatingDesk, go: Go) -> None:
    """The last step before the answers are locked."""
    said.title(f"All {_unit(desk)}s are answered")
    follows = isinstance(desk, RaterDesk) and desk.guesses_follow
    said.line(
        f"All {desk.total} answers are saved. You can still look at them and change them. "
        "Once locked, they cannot be changed"
        + ("; one last short question follows." if follows else ", and you are done.")
    )
    lock, look = st.columns(2)
    if lock.button("Lock my answers", type="primary", key="lock", width="stretch"):
        desk.finish()
        go("end")
    if look.button("Look at my answers first", key="list", width="stretch"):
        go("list")


def nothing_to_do(desk: RaterDesk | RatingDesk, reason: str) -> None:
    """Why nothing can be answered now, and which answers are saved."""
    said.title("Nothing to do here now")
    said.line(reason)
    unit = _unit(desk)
    saved = [status.number for status in desk.statuses() if status.answered]
    if saved:
        said.line(
            f"Saved: {unit}{'' if len(saved) == 1 else 's'} {_runs(saved)} ({len(saved)} of {desk.total}). Thank you."
        )
    elif desk.total:
        said.line(f"You have not saved any {unit}.")


def _runs(numbers: list[int]) -> str:
    """Numbers in order as `1, 4 to 9`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in runs)


def _cell(status: EntryStatus) -> str:
    mark = ":material/check:" if status.answered else ":material/schedule:" if status.skipped else ""
    return f"{status.number} {mark}{':material/flag:' if status.invalid else ''}".strip()
