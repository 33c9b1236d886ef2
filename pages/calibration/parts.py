"""The tabs of the page: agreement, classes, bias, consistency, calibration map, where not to use it, files."""

from collections.abc import Sequence

import streamlit as st

from core.analyses.calibrate.rows import VIEWS, Calibrated
from core.analyses.consistency import ANALYSIS as CONSISTENCY
from core.plots import calibration as figures
from core.plots.study import MOST_PANELS, confusions
from core.report import csv_of
from core.results.calibration.cells import Cell
from core.results.calibration.results import IN_SEVERAL_GROUPS, N_FOLDS, RULES, called
from core.runs.kinds import kind_named
from core.schema.analysis import Answer
from core.store import Store
from pages.calibration import choice
from pages.calibration.choice import CALIBRATE
from pages.tabs import downloads, judged
from pages.widgets import menus
from pages.widgets.analysis import Drawn, offer, show_tables
from pages.widgets.messages import plain
from pages.widgets.parts import constants, nothing, part

_NO_CLASSES = "ratings and scores are compared as numbers; name a task or a scale under Options of the comparison to get classes"


def agreement(answer: Answer) -> None:
    """Show agreement of raters with each other and with the evaluator: by group, then overall."""
    part(
        "Agreement",
        "How often do two raters give a text the same class, and how often do evaluator and rater? Spearman and Kendall "
        "compare the evaluator's order of texts with the mean rating.",
        "agreement-with-people",
    )
    _verdicts(answer)
    found: Calibrated = answer.result
    if not any(cell.value is not None for one in found.groups for cell in one.statistics.values()):
        nothing("no group contains comparable texts; under Options of the comparison, group by dimension")
    show_tables(answer, {f"{over}{view}" for over in ("", "pooled-", "means-") for view in VIEWS} - {"bias"})


def _verdicts(answer: Answer) -> None:
    """Show the verdict before any number, beginning with constant scores."""
    constants(line for one in answer.result.evaluators for line in one.not_to_use.constants)
    for one in answer.verdicts:
        st.markdown(f"**{plain(one.sentence)}**")


def classes(answer: Answer) -> None:
    """Show the classes of one group, by how far raters agree, and raters' errors."""
    part(
        "Classes",
        "Where people agree, does the evaluator give the same classes? Where they disagree, does it still give the best one?",
        "class-distributions",
    )
    several = len(answer.result.evaluators) > 1
    named: dict[
        str, tuple[str, Cell]
    ] = {}  # With one language and task, a dimension and its group are the same.
    for one in answer.result.computed:
        for cell in (*one.calibration.by_dimension, *one.calibration.cells):
            if cell.classes:
                whose = f"{one.calibration.evaluator}: " if several else ""
                named.setdefault(f"{whose}{called(cell.group)}", (one.calibration.evaluator, cell))
    if not named:
        nothing(_NO_CLASSES)
        return
    name = menus.one_of(None, "Group", list(named), str, "calibration_classes_group")
    evaluator, cell = named[name]
    there, drawn = cell.distributions, {}
    if any(sum(each.majority) for each in there):
        alt = f"Shares of the classes by majority and by the evaluator in {name}, by how far raters agree"
        drawn["classes"] = Drawn(figures.calibration_classes(there), alt)
    else:
        nothing("no text of this group has both a majority and a score; choose another group")
    groups = {one.called for one in answer.result.classes if cell.group.items() <= one.group.items()}
    show_tables(answer, ("classes",), drawn, only={"evaluator": [evaluator], "group": groups})
    _rater_errors(answer)


def _rater_errors(answer: Answer) -> None:
    """Show raters' errors by Dawid and Skene's model, and the evaluator against the classes that it estimates."""
    part(
        "Raters by Dawid-Skene",
        "The model estimates the class of each text and each rater's errors together, from the ratings alone. Nothing else "
        "on this page uses it: an error that several raters share counts as right.",
        "dawid-skene",
    )
    made = answer.result.computed[0].raters
    if made is None:
        nothing("raters' errors are not estimated yet")
        offer(CALIBRATE, "Estimate raters' errors", dawid_skene=True)
        return
    fitted = {name: each.confusions for name, each in made.items() if each.confusions.reason is None}
    if not fitted:
        nothing(
            "; ".join(dict.fromkeys(str(each.confusions.reason) for each in made.values())) or _NO_CLASSES
        )
        return
    name = menus.one_of(None, "Dimension", list(fitted), str, "calibration_dawid_skene_dimension")
    found = fitted[name]
    drawn = {}
    if len(found.raters) <= MOST_PANELS:
        alt = f"Heat map for each rater on {name}: estimated class against rating"
        drawn["confusion"] = Drawn(confusions(found.raters, found.classes), alt, instead=True)
    show_tables(answer, ("dawid-skene", "dawid-skene-agreement", "confusion"), drawn)


def bias(answer: Answer) -> None:
    """Show how much more often the evaluator gives the best class than people do."""
    part(
        "Bias towards the top class",
        "Share of texts with the best class: evaluator minus majority. Above 0 the evaluator is too generous, often most where "
        "raters disagree.",
        "top-class-bias",
    )
    if "bias" not in answer.tables:
        nothing(_NO_CLASSES)
    show_tables(answer, ("bias",))


def split_raters(answer: Answer) -> None:
    """Show the evaluator beside a rater left out, by how the other raters of a text split."""
    part(
        "Split raters",
        "A majority hides a split. Here a rater is left out, and rater and evaluator are compared with the same other raters: "
        "where these agree, and where they split.",
        "split-raters",
    )
    if not answer.result.split:
        nothing(_NO_CLASSES)
        return
    show_tables(answer, ("split-raters",))


def repeats(store: Store, answer: Answer, judges: Sequence[choice.Judge]) -> None:
    """Show consistency: of one evaluator over repeats, then over temperatures, and with shuffled words."""
    run = choice.one_of(judges).scores.run
    if run is None or "calibration" not in kind_named(run.kind).reports:
        part(CONSISTENCY.title, CONSISTENCY.question, CONSISTENCY.section)
        nothing("a table of scores has no repeats; choose a run of the judge quality or direct")
    else:
        judged.render_consistency(store, run)
    part(
        "Temperature",
        "The same evaluator at several temperatures: its agreement with people, and with itself.",
        "temperature-and-shuffled-words",
    )
    if answer.result.sweep is None:
        nothing("this needs two runs of one evaluator at different temperatures; choose them above")
    show_tables(answer, ("temperatures",))
    part(
        "Shuffled words",
        "Does the score drop when some words of each text are shuffled?",
        "temperature-and-shuffled-words",
    )
    if answer.result.twins is None:
        nothing(
            "this needs a run of the judge quality, and another of the same texts with shuffled words; choose that one under "
            "Options of the comparison"
        )
    show_tables(answer, ("shuffled-words",))


def calibration_map(answer: Answer) -> None:
    """Show how scores translate to people's scale, tested on unseen items: one dimension as a diagram, all as a table."""
    part(
        "Calibration map",
        f"Which mean rating does a score correspond to? Items are split into {N_FOLDS} folds, and each fold is predicted from "
        "the others.",
        "calibration-map",
    )
    several = len(answer.result.evaluators) > 1
    maps = {
        f"{one.calibration.evaluator}, {dimension}" if several else dimension: found
        for one in answer.result.computed
        for dimension, found in (one.maps or {}).items()
    }
    if not maps:
        nothing("no map is fitted yet; choose another kind of map under Options of the comparison")
        offer(CALIBRATE, "Fit an isotonic map", map="isotonic")
        return
    name = menus.one_of(None, "Dimension", list(maps), str, "calibration_map_dimension")
    drawn = {}
    if (why := maps[name].reason) is not None:
        nothing(why)
    else:
        alt = f"Reliability diagram on {name}: mean rating by score, before and after the map"
        drawn["reliability"] = Drawn(figures.reliability(maps[name]), alt, instead=True)
    show_tables(answer, ("map", "reliability"), drawn)


def where_not_to_use(answer: Answer) -> None:
    """Show the verdict, the groups with objections, and the rules."""
    part(
        "Where not to use it",
        "Groups of texts in which a rule below objects to an evaluator, or in which no verdict is possible.",
        "where-not-to-use-an-evaluator",
    )
    _verdicts(answer)
    if answer.result.warned:
        show_tables(answer, ("where-not-to-use",))
    st.markdown("The verdict is the first rule that applies:\n" + "".join(f"\n- {rule}" for rule in RULES))
    st.markdown(
        f":small[{IN_SEVERAL_GROUPS} Passing the rules does not make a group good: check its agreement.]"
    )


def files(answer: Answer) -> None:
    """Show downloads of all tables, as CSV."""
    part("Files", "Every table of this page, one row per group. Each file contains all chosen evaluators.")
    made = {f"calibration-{name}.csv": csv_of(table) for name, table in answer.tables.items()}
    downloads.buttons(made, "assay-calibration.zip", "calibration")
