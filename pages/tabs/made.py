"""Are made levels what they claim to be? The verdict on a judge's run, the texts to remake, and a file to remake them."""

from functools import partial

import streamlit as st

from core.analyses import analysis
from core.plots import levels as plots
from core.results.judges.made_levels import (
    Fault,
    LevelSet,
    Made,
    MadeLevels,
    scored_levels,
    unfit_for_levels,
)
from core.runs.judging.levels import made_of_run, questions_csv
from core.runs.path import saved_run
from core.runs.scoring import score_table
from core.schema.runs import Run
from core.schema.scores import ScoreTable
from core.store import Store
from pages.tabs.levels import NO_LEVELS, cards
from pages.tabs.phrases import NOT_JUDGED
from pages.widgets import chosen_scores, level_diff, menus, visitor
from pages.widgets.against import has_levels
from pages.widgets.analysis import Data, Drawn, answer_of, form, show_said, show_tables
from pages.widgets.downloads import spreadsheet_file
from pages.widgets.messages import mistakes_shown
from pages.widgets.parts import nothing, part

_FILE = "assay-remake.csv"


def render(store: Store, run: Run) -> None:
    """Show whether the levels of the texts that a run scored are what they claim."""
    with mistakes_shown():
        _shown(store, run)


def _shown(store: Store, run: Run) -> None:
    at = saved_run(store, run)
    table = score_table(at)
    key = menus.key_of(store, run)
    made: Made = chosen_scores.once(("made texts", key), lambda: made_of_run(at)) if table.rows else Made()
    analysed = analysis("made-levels")
    part("Are the levels right?", analysed.question, analysed.section)
    if reason := _unfit(table, made):
        nothing(reason)
        return
    data = _data(key, table, made)
    answer = answer_of(analysed, form(analysed), data)
    found: MadeLevels = answer.result.computed
    alt = "Scores and words by level, with the mean and a cross for each text to remake"
    show_said(answer)
    level = found.confidence_level
    caption = f"Blue: means with {level:.0%} intervals over items. Thin lines: items; ochre with a fault, its text crossed."
    drawn = {
        "levels-made": Drawn(plots.made_levels(found), alt, instead=True, caption=caption),
        "items-made": Drawn(None, folded="Every item, and what could not be checked"),
    }
    show_tables(answer, answer.tables, drawn)
    if found.remake_items:
        _remake(found, made)


def _unfit(table: ScoreTable, made: Made) -> str:
    if not table.rows:
        return NOT_JUDGED
    return unfit_for_levels(table, made) if has_levels(table) else NO_LEVELS


def _data(key: chosen_scores.Key, table: ScoreTable, made: Made) -> Data:
    names = [metric.name for metric in table.metrics]
    metric = st.selectbox("Scores", names, key="made_levels_metric")
    return Data((*key, metric), lambda: scored_levels(table, made, metric=metric))


def _remake(levels: MadeLevels, made: Made) -> None:
    """The file of items to remake, and one text to remake beside the level before it."""
    n = len(levels.remake_items)
    st.download_button(
        f"Questions of the {n:,} items to remake (CSV)" if n > 1 else "Question of the item to remake (CSV)",
        partial(
            visitor.admin_making(),
            spreadsheet_file(_FILE, partial(questions_csv, levels.remake_items, made)),
        ),
        _FILE,
        "text/csv",
        key="made_levels_remake",
        on_click="ignore",
        icon=":material/download:",
        help="A new run on the page Generate takes this file: it remakes these items only. Choose another seed or model.",
    )
    faults = [(one, fault) for one in levels.sets for fault in one.faults]
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
