"""The file of a new study of pairs: what each column means, its votes, empty answers, broken rows, the two systems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd
import streamlit as st

from core.errors import InputError, counted
from core.formats.study.files import (
    broken_hint,
    layout_found,
    note_votes,
    one_source_hint,
    place_beside,
    read_answers,
    read_builder,
    read_dataset,
    votes_in,
)
from core.formats.study.pairs import Reading
from core.formats.study.votes import TableVotes, VoteColumn, vote_columns
from core.schema.study import Dataset
from core.tables.mapping import NOT_USED, FirstRows, first_rows
from core.tables.reading import sha256_of
from pages.widgets.menus import once
from pages.widgets.messages import plain, show_mistake, showable
from pages.widgets.parts import places

_ROLES: Mapping[str, str] = {
    NOT_USED: "not used",
    "item_id": "id of the question",
    "question": "question",
    "reference": "reference",
    "system": "system",
    "text": "answer",
    "level": "level",
    "language": "language",
}
_EMPTY: Mapping[Literal["show", "leave_out"], str] = {
    "show": "Raters read that there is no answer",
    "leave_out": "Leave their questions out",
}


@dataclass(frozen=True)
class StudyFile:
    """A data set as its owner wants it read."""

    dataset: Dataset
    votes: TableVotes | None = None


def study_file(data: bytes, name: str) -> StudyFile | None:
    """The data set in a file, with what was understood of it, which the visitor can change; None until it can be read."""
    columns = _columns_chosen(data, name)
    reading = Reading(columns)
    known = (sha256_of(data), name, repr(columns))
    if (hint := once("import_alone", known, lambda: one_source_hint(data, name, reading))) is not None:
        return _second_file(data, name, reading, hint)
    builder = once("import_builder", known, lambda: read_builder(data, name, reading))
    systems = builder.systems()
    two = _two_of(systems) if len(systems) > 2 else ()
    if two is None:
        return None
    offered = once("import_votes", known, lambda: vote_columns(builder))
    if builder.n_unanswered:
        reading = replace(reading, no_answer=_no_answer(builder.n_unanswered))
    settled = _drop_broken(data, name, two, reading)
    if settled is None:
        return None
    asked = (*known, two, settled.no_answer, settled.skip_broken)
    dataset = once("import_dataset", asked, lambda: read_dataset(data, name, two, settled))
    chosen = _votes_chosen(offered)
    if not chosen:
        return StudyFile(dataset)
    votes = once(
        "import_voted",
        (*asked, tuple(chosen)),
        lambda: votes_in(data, name, dataset, settled, [(column, {}) for column in chosen]),
    )
    return StudyFile(note_votes(dataset, votes), votes)


def _second_file(data: bytes, name: str, reading: Reading, hint: InputError) -> StudyFile | None:
    """The data set of this file, which has one system, and of a second file with the other's answers."""
    st.info(f"{hint.what}. Add the file with the other system's answers to the same questions.")
    other = st.file_uploader("The other system's answers", key="import_beside")
    if other is None:
        return None
    shared = st.checkbox("Leave out questions that are in only one of the files", key="import_shared")
    content = other.getvalue()

    def paired() -> Dataset:
        first = read_answers(data, name, reading=reading)
        second = read_answers(content, other.name, beside=first.source)
        return place_beside(first, second, shared_only=shared)

    asked = (sha256_of(data), sha256_of(content), name, other.name, repr(reading.columns), shared)
    return StudyFile(once("import_paired", asked, paired))


def _columns_chosen(data: bytes, name: str) -> dict[str, tuple[str, ...]]:
    """Assay's name -> columns, if the visitor reads any column otherwise than it was understood."""
    key = f"import_{sha256_of(data)[:8]}"
    layout = once(f"{key}_layout", name, lambda: layout_found(data, name))
    if layout is None:
        return {}
    found: FirstRows = once(f"{key}_rows", name, lambda: first_rows(data, name))
    columns = [column for column in found.columns if column]
    if not columns or len(set(columns)) < len(found.columns):
        return {}
    st.markdown("**Columns: how each is read**")
    st.dataframe(
        pd.DataFrame(found.rows, columns=list(found.columns)), hide_index=True, height=_height(found)
    )
    roles = list(_ROLES)
    chosen: dict[str, str] = {}
    for at, (column, place) in enumerate(zip(columns, places(min(4, len(columns))), strict=False)):
        own = layout.roles.get(column, NOT_USED)
        chosen[column] = place.selectbox(
            plain(column),
            roles,
            index=roles.index(own) if own in roles else 0,
            format_func=_ROLES.__getitem__,
            key=f"{key}_{at}",
            persist_state="session",
            help="Several columns of answers are read as answers side by side.",
        )
    understood = {column: layout.roles.get(column, NOT_USED) for column in columns}
    if chosen == {column: role if role in roles else NOT_USED for column, role in understood.items()}:
        return {}
    by_role: dict[str, tuple[str, ...]] = {}
    for column, role in chosen.items():
        by_role[role] = (*by_role.get(role, ()), column)
    if len(by_role.get("text", ())) > 1:
        by_role.pop("system", None)  # found beside the answers
    if twice := [
        _ROLES[role] for role, own in by_role.items() if len(own) > 1 and role not in (NOT_USED, "text")
    ]:
        raise InputError(f"Choose one column as {', '.join(twice)}.")
    return by_role


def _height(found: FirstRows) -> int:
    return 36 * (len(found.rows) + 1) + 3


def _two_of(systems: Sequence[str]) -> tuple[str, str] | None:
    """The two systems to compare, of more."""
    st.markdown(f"The file has {len(systems)} systems. Choose the two to compare.")
    left, right = st.columns(2)
    first = left.selectbox("One system", systems, index=None, format_func=showable, key="import_first")
    others = [system for system in systems if system != first]
    second = right.selectbox(
        "The other system", others, index=None, format_func=showable, key="import_second"
    )
    return None if first is None or second is None else (first, second)


def _no_answer(counts: Mapping[str, int]) -> Literal["show", "leave_out"]:
    """What becomes of empty answers."""
    each = ", ".join(f"{plain(system)} {n:,}" for system, n in counts.items())
    return st.radio(
        f"Empty answers: {each}",
        list(_EMPTY),
        format_func=_EMPTY.__getitem__,
        horizontal=True,
        key="import_no_answer",
        help="Leaving questions out favours a system that often gives no answer.",
    )


def _drop_broken(
    data: bytes, name: str, two: tuple[str, str] | tuple[()], reading: Reading
) -> Reading | None:
    """The reading, without questions with broken rows if there are any and the visitor leaves them out; None until then."""
    asked = (sha256_of(data), name, two, repr(reading))
    broken = once("import_broken_rows", asked, lambda: _broken(data, name, two, reading))
    if broken is None:
        return reading
    refused, left = broken
    show_mistake(refused.what, [*refused.problems, refused.more])
    if not st.checkbox(f"Leave out the questions with broken rows; {left} remain", key="import_broken"):
        return None
    return replace(reading, skip_broken=True)


def _broken(
    data: bytes, name: str, two: tuple[str, str] | tuple[()], reading: Reading
) -> tuple[InputError, str] | None:
    """What is wrong with a file, and the questions that remain without its broken rows; None if nothing is wrong."""
    try:
        read_dataset(data, name, two, reading)
    except InputError as refused:
        if (left := broken_hint(data, name, two, reading)) is None:
            raise
        return refused, left
    return None


def _votes_chosen(offered: Sequence[VoteColumn]) -> list[str]:
    """The columns of votes to import with the texts."""
    if not offered:
        return []
    names = {one.column: one for one in offered}
    chosen = st.multiselect(
        "Votes in the file",
        list(names),
        format_func=showable,
        key="import_vote_columns",
        placeholder="None: raters vote in Assay",
        help="Imported votes make a study with results, whose sides are unknown. Raters cannot vote in it by link any more.",
    )
    st.code("\n".join(one.said for one in offered), language=None, wrap_lines=True)
    return chosen


def said_read(dataset: Dataset) -> str:
    """What was read, in a line."""
    at = "" if dataset.plain else f" at levels {plain(', '.join(dataset.levels))}"
    return f"{counted(len(dataset.items), 'question')}{at} with answers from {plain(' and '.join(dataset.sources))}"
