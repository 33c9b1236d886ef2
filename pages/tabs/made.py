"""Are made levels what they claim to be? The verdict on a judge's run, the texts to remake, and a file to remake them."""

from functools import partial

import streamlit as st

from core.plots import levels as plots
from core.results.judges.made_levels import (
    DEFAULT_OPTIONS,
    Fault,
    LevelSet,
    MadeLevels,
    MadeOptions,
    length_table,
    levels_table,
    made_said,
    remake_table,
    sets_table,
)
from core.runs.judging.levels import Made, check_levels, made_of_run, questions_csv, unfit_for_levels
from core.runs.path import at_hand
from core.runs.scoring import score_table
from core.schema.runs import Run
from core.store import Store
from pages.tabs.levels import NO_LEVELS, cards
from pages.tabs.phrases import AS_A_TABLE, NOT_JUDGED
from pages.widgets import chosen_scores, level_diff, menus, result_table, visitor
from pages.widgets.against import has_levels
from pages.widgets.downloads import spreadsheet_file
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import nothing, part

_FILE = "assay-remake.csv"


def render(store: Store, run: Run) -> None:
    """Show whether the levels of the texts that a run scored are what they claim."""
    part(
        "Are the levels right?",
        "Scores must fall from level to level. The worst level must give up the central claim of the reference, and the best "
        "must keep it. No text may contradict itself or repeat another level. Check this before you pay for a study.",
        "pairs#made-levels",
    )
    with mistakes_shown():
        _shown(store, run)


def _shown(store: Store, run: Run) -> None:
    at = at_hand(store, run)
    table = score_table(at)
    if not table.rows:
        nothing(NOT_JUDGED)
        return
    if not has_levels(table):
        nothing(NO_LEVELS)
        return
    key = menus.key_of(store, run)
    made: Made = chosen_scores.once(("made texts", key), lambda: made_of_run(at))
    if reason := unfit_for_levels(table, made):
        nothing(reason)
        return
    above = st.container()  # The verdict stands first, but depends on the choices below it.
    metric, options = _chosen([metric.name for metric in table.metrics])
    with st.spinner("Checking the levels ..."):
        found: MadeLevels = chosen_scores.once(
            ("made levels", key, metric, options),
            lambda: check_levels(table, made, metric=metric, options=options),
        )
    with above:
        _verdict(found)
    result_table.show(
        levels_table(found),
        figure=plots.made_levels(found),
        alt="Scores and words by level, with the mean and a cross for each text to remake",
        folded=AS_A_TABLE,
    )
    st.markdown(
        ":small[Blue: means with 95 % intervals over items. Thin lines: items; ochre with a fault, its text crossed.]"
    )
    result_table.show(remake_table(found))
    if found.remake_items:
        _remake(found, made)
    if found.length_by_system:
        result_table.show(length_table(found))
    with st.expander("Every item, and what could not be checked"):
        result_table.show(sets_table(found), titled=False)


def _chosen(names: list[str]) -> tuple[str, MadeOptions]:
    left, middle, right = st.columns(3)
    metric = left.selectbox("Scores", names, key="made_levels_metric")
    tolerance = middle.number_input(
        "Tolerated rise (%)",
        0,
        99,
        round(100 * DEFAULT_OPTIONS.tolerance),
        key="made_levels_tolerance",
        help="How far a worse level may score above a better one, in percent of the range of all scores. A noisy judge needs more.",
    )
    longer = right.number_input(
        "Tolerated length (%)",
        1,
        1000,
        round(100 * DEFAULT_OPTIONS.longer),
        5,
        key="made_levels_longer",
        help="How much longer or shorter than the median of its item's levels a text may be.",
    )
    return metric, MadeOptions(tolerance=tolerance / 100, longer=longer / 100)


def _verdict(found: MadeLevels) -> None:
    verdict, *others = made_said(found)
    (st.warning if found.remake_items else st.success)(plain(verdict))
    for sentence in others:
        st.markdown(plain(sentence))


def _remake(found: MadeLevels, made: Made) -> None:
    """The file of items to remake, and one text to remake beside the level before it."""
    n = len(found.remake_items)
    st.download_button(
        f"Questions of the {n:,} items to remake (CSV)" if n > 1 else "Question of the item to remake (CSV)",
        partial(
            visitor.admin_making(),
            spreadsheet_file(_FILE, partial(questions_csv, found.remake_items, made)),
        ),
        _FILE,
        "text/csv",
        key="made_levels_remake",
        on_click="ignore",
        icon=":material/download:",
        help="A new run on the page Generate takes this file: it remakes these items only. Choose another seed or model.",
    )
    faults = [(one, fault) for one in found.sets for fault in one.faults]
    texts = {(row.item_id, row.system, row.level): text for row, text in made.texts}
    chosen = menus.one_of(st.container(), "Look at", faults, _named, "made_levels_fault")
    one, fault = chosen
    place = one.levels.index(fault.level)
    other = one.levels[place - 1 if place else 1] if len(one.levels) > 1 else None
    text, base = (texts.get((one.item_id, one.system, level)) for level in (fault.level, other))
    if text is None:
        nothing("the scores come without this text")
        return
    level_diff.style()
    cards(
        (f"Level {fault.level}", text.text),
        None if base is None or other is None else (f"Level {other}", base.text),
        text.reference,
        text.language,
    )


def _named(chosen: tuple[LevelSet, Fault]) -> str:
    one, fault = chosen
    return f"{one.item_id[:30]}, {one.system[:30]}, level {fault.level}: {fault.why}"
