"""Around the pair, or the text: header with the saved mark, comment and flag, back and next, the grid, the end."""

from collections.abc import Callable, Mapping

import streamlit as st

from core.schema.study import Choice
from core.study.blinding import EntryStatus, RaterDesk
from core.study.rated.desk import RatingDesk
from pages.widgets import blind_pair, own, visitor
from pages.widgets.messages import plain

Go = Callable[[str | int], None]
_MOVED, _OPENED = "list_moved", "list_opened"


def move(place: str | int) -> None:
    """Change the address. Back, Skip and Next that came with it were pressed on the screen before: they do nothing."""
    st.query_params[visitor.PLACE] = str(place)
    st.session_state[_MOVED] = True


def header(
    desk: RaterDesk,
    number: int,
    choice: Choice | None,
    just_saved: tuple[int, Choice] | None,
    labels: Mapping[Choice, str],
) -> None:
    """Where the rater is, how much is done, and what is saved."""
    done = desk.done
    where, saved = st.columns([2, 3], vertical_alignment="bottom")
    where.markdown(f"**Pair {number} of {desk.total}** · {done} done")
    marks = []
    if just_saved:
        marks.append(f":material/check: Pair {just_saved[0]} saved: {plain(labels[just_saved[1]])}")
    if choice:
        marks.append(
            f":material/check: Your answer here: {plain(labels[choice])} (saved; press again to change)"
        )
    saved.markdown(" · ".join(marks) or "Not answered yet")
    st.progress(done / desk.total)


def note(
    key: str, comment: str, invalid: bool, unit: str = "pair", *, on_change: Callable[[], None]
) -> tuple[str, bool]:
    """Comment and invalid flag as they stand in the browser, at first as given; `key` tells pair and rater."""
    opened: tuple[str, bool] | None = st.session_state.get(_OPENED)
    if opened is None or opened[0] != key:  # never closed or opened by what is written in it
        st.session_state[_OPENED] = opened = (key, bool(comment or invalid))
    keep = blind_pair.in_turn(on_change)
    with st.expander(f"Comment, or report a broken {unit}", expanded=opened[1]):
        written = own.text_box("Comment (optional)", comment, key=f"m{key}", on_change=keep)
        flagged = st.checkbox(
            f"This {unit} is invalid (broken text, wrong question): leave it out",
            invalid,
            key=f"i{key}",
            on_change=keep,
        )
    return comment if written is None else written, flagged


def note_mark(invalid: bool, unit: str = "pair") -> None:
    """Say that the flag is saved; call it once it is.

    The line is there without it too: a button that moves while the mouse is down on it is not pressed.
    """
    st.markdown(f":small[{f':material/check: This {unit} is reported as invalid' if invalid else '&nbsp;'}]")


def note_in_browser(key: str, known: tuple[str, bool]) -> tuple[str, bool] | None:
    """The same before they are drawn; `known` for a part that did not come along, None where neither did."""
    written, flag = own.box_in_browser(f"m{key}"), f"i{key}"
    if written is None and flag not in st.session_state:
        return None
    return known[0] if written is None else written, st.session_state.get(flag, known[1])


def navigation(desk: RaterDesk | RatingDesk, number: int, go: Go) -> None:
    """Back, skip, next and the way to the grid."""
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


def overview(desk: RaterDesk | RatingDesk, go: Go, unit: str = "pair") -> None:
    """The grid of numbers, and what is still open before the end."""
    statuses = desk.statuses()
    still = [status for status in statuses if not status.answered]
    st.title(f"Your {unit}s")
    if still:
        put_off = _runs([status.number for status in still if status.skipped])
        st.write(
            f"{len(statuses) - len(still)} of {len(statuses)} answered. "
            f"Still open: {_runs([status.number for status in still])}."
            + (f" Of these you skipped {put_off}." if put_off else "")
        )
        if st.button(f"Go to the next open {unit}", type="primary", key="open"):
            go(desk.next_open() or "list")
    else:
        st.write(
            f"All {len(statuses)} {unit}s are answered. You can still change an answer: press its number."
        )
        if st.button("Finish", type="primary", key="finish"):
            go("finish")
    with st.container(horizontal=True, gap="small"):
        for status in statuses:
            if st.button(_cell(status), key=f"g{status.number}", width=90):
                go(status.number)
    st.markdown(
        ":small[:material/check: answered · :material/schedule: skipped · :material/flag: reported as invalid]"
    )


def finish(desk: RaterDesk | RatingDesk, go: Go, unit: str = "pair") -> None:
    """The last step before the answers are locked."""
    st.title(f"All {unit}s are answered")
    follows = isinstance(desk, RaterDesk) and desk.guesses_follow
    st.write(
        f"All {desk.total} answers are saved. You can still look at them and change them. "
        "Once you lock them they stay as they are"
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
    st.title("Nothing to do here now")
    st.write(reason)
    unit = "pair" if isinstance(desk, RaterDesk) else "text"
    saved = [status.number for status in desk.statuses() if status.answered]
    if saved:
        st.write(
            f"Saved: {unit}{'' if len(saved) == 1 else 's'} {_runs(saved)} ({len(saved)} of {desk.total}). Thank you."
        )
    elif desk.total:
        st.write(f"No {unit} of yours is saved.")


def completion(desk: RaterDesk | RatingDesk) -> None:
    """Thanks, when all is locked."""
    st.title("Done. Thank you!")
    st.write(f"All {desk.total} answers are saved and locked; you can close this window.")


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
