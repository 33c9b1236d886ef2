"""The tabs of the page: agreement, classes, bias, consistency, calibration map, where not to use it, files."""

from collections.abc import Mapping, Sequence

import streamlit as st

from core.analyses.consistency import ANALYSIS as CONSISTENCY
from core.judges.quality import KIND as QUALITY
from core.plots import calibration as figures
from core.plots.study import MOST_PANELS, confusions
from core.report import csv_of
from core.results.calibration.cells import Cell
from core.results.calibration.raters import dawid_skene_tables, rater_classes
from core.results.calibration.repeats import sensitivity
from core.results.calibration.results import (
    IN_SEVERAL_GROUPS,
    N_FOLDS,
    RULES,
    Sweep,
    advice,
    called,
    macro_averaged,
    maps_of,
    temperature_sweep,
)
from core.results.calibration.split import DimensionSplit, split_of, split_table
from core.results.calibration.tables import (
    calibration_tables,
    class_table,
    map_table,
    mean_tables,
    pooled_tables,
    reliability_table,
    shuffled_table,
    sweep_table,
    warned_table,
)
from core.runs.asked import asked_of
from core.runs.kinds import kind_named
from core.schema.result_table import ResultTable
from core.schema.runs import Run
from core.stats.calibration import CalibrationMap, Method
from core.store import Store
from pages.calibration.choice import How, Judged
from pages.tabs import downloads, judged
from pages.tabs.phrases import AS_A_TABLE
from pages.widgets import chosen_judge, chosen_scores, menus
from pages.widgets.messages import plain
from pages.widgets.parts import nothing, part
from pages.widgets.result_table import show

_NO_CLASSES = (
    "ratings and scores are compared as numbers; name a task under Options of the comparison to get classes"
)
_MOST_ROWS = 30
"""The most groups that a figure shows one by one; with more it shows means."""
_METHODS: dict[Method, str] = {
    "isotonic": "Isotonic: rises with the score, any shape",
    "ordinal": "Ordinal: a proportional-odds model",
}


def agreement(one: Judged, how: How) -> None:
    """Show agreement of raters with each other and with the evaluator: by group, then overall."""
    part(
        "Agreement",
        "How often do two raters give a text the same class, and how often do evaluator and rater? Spearman and Kendall "
        "compare the evaluator's order of texts with the mean rating.",
        "agreement-with-people",
    )
    _verdict(one)
    found = one.found
    tables = calibration_tables([found], how.averaged)
    classed = [cell for cell in found.cells if cell.classes]
    if classed:
        few = len(classed) <= _MOST_ROWS
        show(
            tables["agreement"],
            figure=figures.calibration_agreement(classed)
            if few
            else figures.calibration_means(macro_averaged(found)),
            alt=f"Share of equal pairs: two raters, and {one.evaluator.name} and a rater, "
            f"{'in' if few else 'on average over'} {len(classed)} groups",
            table_first=True,
        )
        show(tables["raters"])
        show(tables["majority"])
        st.markdown(
            ":small[Only the first table compares people with the evaluator. Do not compare the other two: a majority is "
            "steadier than a single rater, and raters seldom all agree.]"
        )
    elif "numbers" not in tables:
        nothing("no group contains comparable texts; under Options of the comparison, group by dimension")
        show(tables["agreement"])
    if "numbers" in tables:
        part(
            "As numbers",
            "Ratings without classes are compared by their mean: correlations, and the mean absolute error if both use the "
            "same scale.",
            "agreement-with-people",
        )
        show(tables["numbers"])
    if len(found.cells) < 2:
        return
    if how.averaged == "pooled":
        part("All texts", "Every text counts once, in whatever group.", "agreement-with-people")
    else:
        part(
            "Means over groups",
            "Every group counts once, whatever its size, as in Multilingual, Tables 2 and 3. The number after ± is the "
            "standard deviation over groups.",
            "agreement-with-people",
        )
    for name, table in tables.items():
        if name.startswith(("pooled-", "means-")):
            show(table)


def _verdict(one: Judged) -> None:
    """Show the verdict on the evaluator before any number, beginning with constant scores."""
    judged = advice(one.found)
    for sentence in (*judged.constants, *judged.sentences):
        st.markdown(f"**{plain(sentence)}**")


def classes(one: Judged) -> None:
    """Show the classes of one group, by how far raters agree, and raters' errors."""
    _distributions(one)
    _rater_errors(one)


def _distributions(one: Judged) -> None:
    part(
        "Classes",
        "Where people agree, does the evaluator give the same classes? Where they disagree, does it still give the best one?",
        "class-distributions",
    )
    cells: dict[
        str, Cell
    ] = {}  # By name: with one language and task, a dimension and its group are the same.
    for cell in (*one.found.by_dimension, *one.found.cells):
        if cell.classes:
            cells.setdefault(called(cell.group), cell)
    if not cells:
        nothing(_NO_CLASSES)
        return
    name = menus.one_of(None, "Group", list(cells), str, "calibration_classes_group")
    there = cells[name].distributions
    drawn = any(sum(each.majority) for each in there)
    if not drawn:
        nothing("no text of this group has both a majority and a score; choose another group")
    show(
        class_table([(one.evaluator.name, cells[name])]),
        figure=figures.calibration_classes(there) if drawn else None,
        alt=f"Shares of the classes by majority and by {one.evaluator.name}, by how far raters agree",
        table_first=True,
    )


def _rater_errors(one: Judged) -> None:
    """Show raters' errors by Dawid and Skene's model, and the evaluator against the classes that it estimates."""
    part(
        "Raters by Dawid-Skene",
        "The model estimates the class of each text and each rater's errors together, from the ratings alone. Nothing else "
        "on this page uses it: an error that several raters share counts as right.",
        "dawid-skene",
    )
    made = chosen_scores.once(("dawid-skene", one.key), lambda: rater_classes(one.found))
    if not made:
        nothing(_NO_CLASSES)
        return
    fitted = {name: each.found for name, each in made.items() if each.found.reason is None}
    if not fitted:
        nothing("; ".join(dict.fromkeys(str(each.found.reason) for each in made.values())))
        return
    accuracy, matrices, against = dawid_skene_tables([(one.found, made)])
    show(accuracy, titled=False)
    show(against)
    name = menus.one_of(None, "Dimension", list(fitted), str, "calibration_dawid_skene_dimension")
    found = fitted[name]
    show(
        matrices,
        figure=confusions(found.raters, found.classes) if len(found.raters) <= MOST_PANELS else None,
        alt=f"Heat map for each rater on {name}: estimated class against rating",
        folded=AS_A_TABLE,
    )


def bias(one: Judged) -> None:
    """Show how much more often the evaluator gives the best class than people do."""
    part(
        "Bias towards the top class",
        "Share of texts with the best class: evaluator minus majority. Above 0 the evaluator is too generous, often most where "
        "raters disagree.",
        "top-class-bias",
    )
    cells = [cell for cell in one.found.cells if cell.classes]
    if not cells:
        nothing(_NO_CLASSES)
        return
    show(
        calibration_tables([one.found], "macro")["bias"],
        figure=figures.calibration_bias(cells),
        alt=f"Bias of {one.evaluator.name} towards the top class in {len(cells)} groups, with intervals",
        table_first=True,
    )


def split_raters(store: Store, one: Judged) -> None:
    """Show the evaluator beside a rater left out, by how the other raters of a text split."""
    part(
        "Split raters",
        "A majority hides a split. Here a rater is left out, and rater and evaluator are compared with the same other raters: "
        "where these agree, and where they split.",
        "split-raters",
    )
    found = _split(store, one)
    table = split_table([(one.evaluator.name, found)])
    if not table.rows:
        nothing(_NO_CLASSES)
        return
    degrees = [degree for each in found if each.found is not None for degree in each.found.degrees]
    drawn = any(degree.rater_agreement.estimate is not None for degree in degrees)
    show(
        table,
        figure=figures.calibration_split(found) if drawn else None,
        alt=f"How often a rater left out and {one.evaluator.name} give the class of a random other rater",
        titled=False,
        table_first=True,
    )


def _split(store: Store, one: Judged) -> tuple[DimensionSplit, ...]:
    """The comparison with split raters, computed once; a run's repeats count as answers."""
    run = _run_of(one)
    key = () if run is None else menus.key_of(store, run)
    output = None if run is None else chosen_judge.output_of(store, run)
    return chosen_scores.once(
        ("split raters", one.key, key), lambda: split_of(one.found, one.scores.table, output)
    )


def repeats(store: Store, one: Judged, everyone: Sequence[Judged]) -> None:
    """Show the evaluator's consistency: over repeats, over temperatures, and with shuffled words."""
    run = _run_of(one)
    if run is None:
        part(CONSISTENCY.title, CONSISTENCY.question, CONSISTENCY.section)
        nothing("a table of scores has no repeats; choose a run of the judge quality or direct")
    else:
        judged.render_consistency(store, run)
    _sweep(store, everyone)
    _shuffled(store, run)


def _run_of(one: Judged) -> Run | None:
    run = one.scores.run
    return run if run is not None and "calibration" in kind_named(run.kind).reports else None


def _sweep(store: Store, everyone: Sequence[Judged]) -> None:
    part(
        "Temperature",
        "The same evaluator at several temperatures: its agreement with people, and with itself.",
        "temperature-and-shuffled-words",
    )
    runs = [(run, one) for one in everyone if (run := _run_of(one)) is not None]
    if len(runs) < 2:
        nothing("this needs two runs of one evaluator at different temperatures; choose them above")
        return
    found: Sweep = chosen_scores.once(
        ("temperatures", *(one.key for _, one in runs)),
        lambda: temperature_sweep([(chosen_judge.output_of(store, run), one.found) for run, one in runs]),
    )
    drawn = any(point.agreement is not None for point in found.points)
    show(
        sweep_table(found),
        figure=figures.temperatures(found.points) if drawn else None,
        alt="Agreement with people by temperature",
    )


def _shuffled(store: Store, run: Run | None) -> None:
    part(
        "Shuffled words",
        "Does the score drop when some words of each text are shuffled?",
        "temperature-and-shuffled-words",
    )
    if run is None or kind_named(run.kind) is not QUALITY:
        nothing("this needs a run of the judge quality and another of the same texts with shuffled words")
        return
    others = [
        other
        for other in chosen_judge.with_results(store, QUALITY).values()
        if other.run_id != run.run_id and asked_of(other).chosen.shuffled_words
    ]
    if not others:
        nothing("no run of the judge quality has shuffled words yet; start one on the page Specialist")
        return
    twin = menus.one_of(None, "Run with shuffled words", others, menus.name_of, "calibration_twin")
    found = chosen_scores.once(
        ("shuffled", menus.key_of(store, run), menus.key_of(store, twin)),
        lambda: sensitivity(chosen_judge.output_of(store, run), chosen_judge.output_of(store, twin)),
    )
    show(shuffled_table(found))


def calibration_map(one: Judged) -> None:
    """Show how scores translate to people's scale, tested on unseen items: one dimension as a diagram, all as a table."""
    part(
        "Calibration map",
        f"Which mean rating does a score correspond to? Items are split into {N_FOLDS} folds, and each fold is predicted from "
        "the others.",
        "calibration-map",
    )
    method: Method = st.selectbox(
        "Map", list(_METHODS), format_func=_METHODS.__getitem__, key="calibration_method"
    )
    with st.spinner("Computing ..."):
        maps = _maps(one, method)
    dimension = menus.one_of(None, "Dimension", list(maps), str, "calibration_map_dimension")
    if (why := maps[dimension].reason) is not None:
        nothing(why)
    else:
        show(
            reliability_table([(one.evaluator.name, {dimension: maps[dimension]})]),
            figure=figures.reliability(maps[dimension]),
            alt=f"Reliability diagram of {one.evaluator.name} on {dimension}: mean rating by score, before and after the map",
            folded=AS_A_TABLE,
        )
    show(map_table([(one.evaluator.name, maps)]))


def _maps(one: Judged, method: Method) -> Mapping[str, CalibrationMap]:
    """The calibration maps of all dimensions, computed once."""
    return chosen_scores.once(("maps", one.key, method), lambda: maps_of(one.found, method=method))


def where_not_to_use(one: Judged) -> None:
    """Show the verdict, the groups with objections, and the rules."""
    part(
        "Where not to use it",
        "Groups of texts in which a rule below objects to this evaluator, or in which no verdict is possible.",
        "where-not-to-use-an-evaluator",
    )
    _verdict(one)
    warned = warned_table([one.found])
    if warned.rows:
        show(warned, titled=False)
    st.markdown("The verdict is the first rule that applies:\n" + "".join(f"\n- {rule}" for rule in RULES))
    st.markdown(
        f":small[{IN_SEVERAL_GROUPS} Passing the rules does not make a group good: check its agreement.]"
    )


def files(store: Store, everyone: Sequence[Judged]) -> None:
    """Show downloads of all tables of all evaluators, as CSV."""
    part("Files", "Every table of this page, one row per group. Each file contains all chosen evaluators.")
    found = [one.found for one in everyone]
    cells: list[tuple[str, Cell]] = [(one.evaluator, cell) for one in found for cell in one.cells]
    with st.spinner("Making the files ..."):
        maps = [(one.evaluator.name, _maps(one, "isotonic")) for one in everyone]
        tables: dict[str, ResultTable] = {
            "agreement": next(iter(calibration_tables(found, "").values())),
            "dimensions": pooled_tables(found)[0],
            "means": mean_tables(found)[0],
            "classes": class_table(cells),
            "split-raters": split_table([(one.evaluator.name, _split(store, one)) for one in everyone]),
            "where-not-to-use": warned_table(found),
            "maps": map_table(maps),
            "reliability": reliability_table(maps),
        }
        made = {f"calibration-{name}.csv": csv_of(table) for name, table in tables.items()}
    downloads.buttons(made, "assay-calibration.zip", "calibration")
