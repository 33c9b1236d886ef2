"""The tab Pairs, or Texts in a rating study: what was read, with what people and judges said about it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.errors import counted
from core.results.study.counted import OUTSIDE
from core.results.study.pair_list import (
    JudgeOnPair,
    PairFilter,
    PairList,
    VoteOnPair,
    judged_pairs,
    pair_list,
    pair_table,
    pairs_shown,
)
from core.results.study.results import reasons
from core.results.study.words import words_of
from core.schema.study import FIRST_LEVEL, NO_LEVEL, PREFERENCES, Design, Study
from core.store import Store
from core.study.guidelines import (
    BOX_KEYS,
    LEFT_RIGHT,
    MODES,
    NO_ANSWER_KEY,
    NO_BASE,
    OWN_BASE,
    REFERENCE,
    WORDS,
)
from pages.studies import rated_texts
from pages.studies.list_filters import (
    Listing,
    clear,
    folded,
    held,
    one_menu,
    pills,
    place_code,
    several_menu,
)
from pages.widgets import address, blind_pair, level_diff, open_study, rendered
from pages.widgets.messages import mistakes_shown, plain, showable
from pages.widgets.parts import nothing, number, table, told_apart

_CLOSED = "pairs and their votes are closed until you unblind the study"
_KINDS = ("disagree", "lost", "won", "flagged", "left_out")
"""Fields of a PairFilter that a pill sets."""
_NO_ANSWER = "(no answer)"


def render(store: Store, study: Study) -> None:
    """Show every pair with its votes, scores and both texts, once the study is unblinded."""
    if study.state != "unblinded":
        nothing(_CLOSED)
        return
    with mistakes_shown():
        if study.kind == "ratings":
            rated_texts.render(store, study)
        else:
            _pairs(store, study)


def _pairs(store: Store, study: Study) -> None:
    key, found = _LISTING.of(store, study)
    asked, judges = _choices(found)
    if not _LISTING.places(key, found, asked):
        _none(found, asked)
        return
    place, n_all = _places(found)["open"], len(found.keys)
    counted_line = _count(found, _LISTING.places(key, found, asked))
    beside = partial(_votes_on, found)
    _pair(found, _LISTING.show(key, found, asked, judges, place, n_all, counted_line, beside))


_CONFIG = {
    "item": st.column_config.TextColumn("item", width=70),
    "level": st.column_config.TextColumn("level", width=60),
    "question": st.column_config.TextColumn("question", width="large"),
    "score": st.column_config.NumberColumn("score", width=70),
    "seconds": st.column_config.NumberColumn("seconds", format="%.0f", width=80),
    "comments": st.column_config.NumberColumn("comments", width=90),
}


_LISTING = Listing[PairList, PairFilter](
    "pair",
    pair_list,
    judged_pairs,
    pairs_shown,
    lambda found, at, _, judges: pair_table(found, at, judges),
    _CONFIG,
)


def _choices(found: PairList) -> tuple[PairFilter, tuple[str, ...]]:
    """Show the filters; return which pairs are asked for, and the judges with a column."""
    study, places = found.record.study, _places(found)
    raters = {rater.rater_id: at for at, rater in enumerate(found.record.raters, start=1)}
    votes = [(rater, preference) for rater in found.raters for preference in PREFERENCES]
    address.several("show", places["show"], _KINDS, (), lambda kind: kind.replace("_", "-"))
    address.several("level", places["level"], study.levels, (), partial(place_code, study.levels))
    address.several("language", places["language"], found.languages, (), partial(place_code, found.languages))
    address.one("rater", places["rater"], found.raters, None, lambda rater: str(raters[rater]))
    address.one("judge", places["judge"], found.judges, None, open_study.judge_code)
    address.several("column", places["column"], found.judges, (), open_study.judge_code)
    address.several(
        "vote", places["vote"], votes, (), lambda one: f"{raters[one[0]]}-{PREFERENCES.index(one[1])}"
    )
    asked = st.session_state.pop(open_study.pairs_key(study.study_id), None)
    if asked is not None:
        _set(places, asked)
    asked = PairFilter(
        levels=tuple(held(places["level"], study.levels)),
        languages=tuple(held(places["language"], found.languages)),
        rater=next(iter(held(places["rater"], found.raters)), ""),
        votes=tuple(held(places["vote"], votes)),
        judge=next(iter(held(places["judge"], found.judges)), ""),
    )
    asked = _pill_filters(asked, *held(places["show"], _KINDS))
    with st.container(horizontal=True, vertical_alignment="center"):
        _pills(found, asked, places)
        judges = _menus(found, asked, places)
        _votes(found, asked, places)
        if asked != PairFilter() and pairs_shown(found, asked).size:
            _clear(found, places, "filters")
    return asked, judges


def _places(found: PairList) -> Mapping[str, str]:
    """Where the session stores each filter."""
    names = ("show", "level", "language", "rater", "judge", "column", "vote", "open", "marked")
    return {name: f"study_pairs_{name}_{found.record.study.study_id}" for name in names}


def _set(places: Mapping[str, str], wanted: PairFilter) -> None:
    """Make this what is asked for; the first of its pairs is open."""
    st.session_state[places["show"]] = [name for name in _KINDS if getattr(wanted, name)]
    st.session_state[places["level"]] = list(wanted.levels)
    st.session_state[places["language"]] = list(wanted.languages)
    st.session_state[places["rater"]] = wanted.rater or None
    st.session_state[places["judge"]] = wanted.judge or None
    st.session_state[places["vote"]] = list(wanted.votes)
    st.session_state.pop(places["open"], None)


def _pills(found: PairList, wanted: PairFilter, places: Mapping[str, str]) -> None:
    """Show what can be asked of votes, each with the number of pairs that it leaves within the other filters."""
    around = _pill_filters(wanted)
    numbers = {
        kind: len(pairs_shown(found, _pill_filters(around, kind))) for kind in _order(found.record.study)
    }
    names = _names(found.record.study)
    offered = [kind for kind, n in numbers.items() if n or getattr(wanted, kind)]
    pills(offered, lambda kind: f"{plain(names[kind])} {numbers[kind]:,}", places["show"])


def _pill_filters(wanted: PairFilter, *kinds: str) -> PairFilter:
    """The filters with these of the pills and no other."""
    changes: dict[str, Any] = {kind: kind in kinds for kind in _KINDS}
    return replace(wanted, **changes)


def _order(study: Study) -> Sequence[str]:
    """The pills. Without a margin no system is under test, and the first comes first."""
    return _KINDS if study.design.margin is not None else ("disagree", "won", "lost", "flagged", "left_out")


def _names(study: Study) -> Mapping[str, str]:
    choice, design = words_of(study.votes_mean).choice, study.design
    return {
        "disagree": "raters disagree",
        "lost": choice.format(system=design.comparator),
        "won": choice.format(system=design.candidate),
        "flagged": "flagged",
        "left_out": "not counted",
    }


def _clear(found: PairList, places: Mapping[str, str], key: str) -> None:
    clear(f"All {len(found.keys):,} pairs", f"study_pairs_clear_{key}", partial(_set, places, PairFilter()))


def _menus(found: PairList, wanted: PairFilter, places: Mapping[str, str]) -> tuple[str, ...]:
    """Show the menus that this study needs; return the judges with a column."""
    study = found.record.study
    some_lack_votes = bool((found.codes[found.counts, : found.n_counting] < 0).any())
    if len(study.named_levels) > 1:
        several_menu("All levels", "Level", study.levels, places["level"])
    if len(found.languages) > 1:
        several_menu("All languages", "Language", found.languages, places["language"])
    if some_lack_votes or wanted.rater:
        one_menu("All raters", "Votes of a rater", found.raters, places["rater"], showable)
    if found.judges:
        differ = {name: len(pairs_shown(found, replace(wanted, judge=name))) for name in found.judges}
        one_menu(
            *("A judge disagrees", "Raters and the judge prefer different answers", found.judges),
            *(places["judge"], lambda name: f"{showable(name)} differs ({differ[name]:,})"),
        )
        several_menu("Columns of judges", "Judges with a column", found.judges, places["column"])
    judges = held(places["column"], found.judges)
    return tuple(name for name in found.judges if name in judges or name == wanted.judge)


def _votes(found: PairList, wanted: PairFilter, places: Mapping[str, str]) -> None:
    """Show which answers are asked for, with what takes them back."""
    if wanted.votes:
        st.button(
            plain(_votes_said(found, wanted)),
            key="study_pairs_any_votes",
            icon=":material/close:",
            help="Show pairs with any votes",
            on_click=partial(st.session_state.__setitem__, places["vote"], []),
        )


def _votes_said(found: PairList, wanted: PairFilter) -> str:
    return ", ".join(f"{rater}: {found.answer_name(preference)}" for rater, preference in wanted.votes)


def _said(found: PairList, wanted: PairFilter) -> str:
    """The filters that are set, in words."""
    names = _names(found.record.study)
    said = [names[kind] for kind in _KINDS if getattr(wanted, kind)]
    said += [f"level {', '.join(wanted.levels)}"] if wanted.levels else []
    said += [f"language {', '.join(wanted.languages)}"] if wanted.languages else []
    said += [f"a vote of {wanted.rater}"] if wanted.rater else []
    said += [f"votes {_votes_said(found, wanted)}"] if wanted.votes else []
    said += [f"raters and {wanted.judge} prefer different answers"] if wanted.judge else []
    return "; ".join(said)


def _none(found: PairList, wanted: PairFilter) -> None:
    if wanted == PairFilter():
        nothing("the study has no pair")
        return
    st.info(f"No pair fits these filters: {plain(_said(found, wanted))}.")
    _clear(found, _places(found), "none")


def _count(found: PairList, shown: Sequence[int]) -> str:
    """Say how many pairs are shown, and which of these the analysis does not count."""
    left_out = Counter(found.left_out[at] for at in shown if found.left_out[at])
    outside = left_out.pop(OUTSIDE, 0)
    said = f"{len(shown):,} of {counted(len(found.keys), 'pair')}."
    said += f" Not in the main analysis: {outside:,}, at another level." if outside else ""
    return said + (f" Left out: {plain(reasons(left_out))}." if left_out else "")


def _pair(found: PairList, at: int) -> None:
    """Show one pair: the question, what people and judges said of it, and both texts."""
    key = found.keys[at]
    item, design = found.items[key[0]], found.record.study.design
    shown = design.shown
    rendered.set_formulas(shown)
    level_diff.item_turns(item, shown, at)
    st.html(
        f'<div class="assay-question assay-text" tabindex="0" {blind_pair.language_of(item.language)}>'
        f"{blind_pair.text_html(item.question, shown.question)}</div>"
    )
    _comments(found, at)
    parts: dict[str, Callable[[], None]] = {}
    if judges := found.judges_on(at):
        numbers = Counter(one.prefers for one in judges if one.prefers)
        said = ", ".join(f"{name} {n:,}" for name, n in numbers.most_common())
        parts[f"Judges: {plain(said) or 'none has a preference'}"] = partial(_judges, judges, design)
    if item.reference:
        parts["Reference"] = partial(level_diff.shown_card, "Reference", item.reference, item.language, shown)
    folded(parts)
    left, right = (found.text(key, system) or "" for system in (design.candidate, design.comparator))
    base, bases = _bases(found, at)
    roles = (" (candidate)", " (comparator)") if design.margin is not None else ("", "")
    named = [
        f"{system}{role}" for system, role in zip((design.candidate, design.comparator), roles, strict=True)
    ]
    words = {**dict(zip(BOX_KEYS, named, strict=True)), NO_ANSWER_KEY: _NO_ANSWER}
    # Long texts scroll together, so that what leads to the next pair stays near.
    st.html("<style>.st-key-study_pair_texts .assay-pair { max-height: 75vh; overflow-y: auto; }</style>")
    with st.container(key="study_pair_texts"):
        blind_pair.texts(words, left, right, *bases, item.language, _marked(found, base), base, shown)


def _bases(found: PairList, at: int) -> tuple[str, tuple[str, str]]:
    """What raters saw the answers' changes marked against, and its texts."""
    item_id, level = found.keys[at]
    design, reference = found.record.study.design, found.items[item_id].reference
    first = [found.text((item_id, FIRST_LEVEL), system) for system in (design.candidate, design.comparator)]
    if level == NO_LEVEL:
        return NO_BASE, (reference, reference)
    if level == FIRST_LEVEL or first[0] is None or first[1] is None:
        return REFERENCE, (reference, reference)
    return OWN_BASE, (first[0], first[1])


def _marked(found: PairList, base: str) -> str:
    """Choose the differences to mark."""
    modes, place = MODES[base], _places(found)["marked"]
    first = LEFT_RIGHT if base == NO_BASE else WORDS
    address.one("marked", place, modes, first, lambda mode: mode.replace("_", "-"))
    if st.session_state[place] not in modes:
        st.session_state[place] = first
    mode: str | None = st.segmented_control(
        "Mark differences",
        modes,
        format_func=blind_pair.MODE_NAMES.__getitem__,
        required=True,
        key=place,
        label_visibility="collapsed",
        persist_state="session",
    )
    return mode or first


def _votes_on(found: PairList, at: int) -> None:
    """Show which pair it is and what every rater said, in one line."""
    item_id, level = found.keys[at]
    votes, left_out = found.votes_on(at), found.left_out[at]
    said = [f"**{plain(level)}**"] if level != NO_LEVEL else []
    said += [f"item {plain(item_id)}", *(_vote_said(found, vote, left_out) for vote in votes)]
    said += [] if votes else ["no rater has answered"]
    said += [f"not counted: {plain(left_out)}"] if left_out else []
    st.markdown(" · ".join(said), width="content")


def _vote_said(found: PairList, vote: VoteOnPair, left_out: str) -> str:
    more = [] if vote.seconds is None else [f"{number(vote.seconds, 0)} s"]
    more += ["flagged"] if vote.flagged else []
    more += ["on a translated page"] if vote.translated else []
    more += [f"repeat: {plain(found.answer_name(vote.again))}"] if vote.again else []
    more += [f"not counted: {plain(vote.left_out)}"] if vote.left_out not in ("", left_out) else []
    said = found.answer_name(vote.preference) or "no answer"
    return f"{plain(vote.rater)}: **{plain(said)}**" + (f" ({', '.join(more)})" if more else "")


def _comments(found: PairList, at: int) -> None:
    for vote in found.votes_on(at):
        for comment in vote.comments:
            st.markdown(f"{plain(vote.rater)}: “{plain(comment)}”")


def _judges(judges: Sequence[JudgeOnPair], design: Design) -> None:
    """Show every judge's scores of both answers, and the answer that it prefers."""
    names = told_apart(["Judge", design.candidate, design.comparator, "Prefers"])
    rows = [(one.judge, *map(number, one.scores), one.prefers or one.reason) for one in judges]
    table(pd.DataFrame(rows, columns=names))
