"""What the raters of an unblinded study of pairs have in common: agreement, sides, repeats, and their guesses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.analyses.study_results.pair_rows import answer_of, contingency_rows
from core.plots import study as plots
from core.results.study.pair_list import PairFilter
from core.results.study.results import Contingency, StudyResults, agreement_of_raters, reasons
from core.results.study.tables import (
    AGREEMENT,
    blocks,
    positions,
    preference_names,
    two_raters,
)
from core.schema.analysis import Answer
from core.schema.result_table import ResultTable
from core.schema.study import PREFERENCES
from core.stats.votes import NO_SIDE
from pages.studies.analysed import AS_TABLE, NO_PAIR
from pages.widgets import address, open_study, result_table
from pages.widgets.analysis import Drawn, show_tables
from pages.widgets.messages import plain
from pages.widgets.parts import HELP, nothing, part

NO_GUESS = "no rater has guessed which answer is human"
_AGREEMENT = {
    "raw_agreement": (
        "raw-agreement",
        "share of pairs with the same answer; high by chance when one answer is popular",
    ),
    "cohen_kappa": (
        "cohens-kappa",
        "agreement of two raters beyond chance; falls towards 0 when one answer is popular",
    ),
    "gwet_ac1": ("gwets-ac1", "agreement beyond chance that stays high when one answer is popular"),
    "fleiss_kappa": ("fleiss-kappa", "like kappa, for any number of raters with a common chance rate"),
    "krippendorff_alpha": (
        "krippendorffs-alpha",
        "like Fleiss' kappa, but allows missing votes and few pairs",
    ),
}
"""Field of a Block -> anchor and explanation."""


def bodies(study_id: int, results: StudyResults) -> dict[str, Callable[[], None]]:
    """Title -> what draws that part."""
    found: dict[str, Callable[[], None]] = {
        "Agreement": partial(_agreement, study_id, results),
        "Sides and repeats": partial(_own, study_id, results),
    }
    return found | ({"Guesses": partial(blinding, results)} if results.asks_guesses else {})


def _agreement(study_id: int, results: StudyResults) -> None:
    """Show how far raters agree, overall and per level, and two of them side by side."""
    with result_table.together("agreement"):
        _coefficients(study_id, results)
        _contingency(study_id, results)
        if results.pairwise and results.overall.n_pairs:
            part("Every two raters", "The same for each pair of raters, on the pairs that both answered.")
            show_tables(answer_of(results), ("pairwise",))


def _coefficients(study_id: int, results: StudyResults) -> None:
    """Show the coefficient for the number of raters and AC1; all five are folded."""
    part(
        "Agreement",
        "Do the raters give the same answers? Agreement has several measures; none is enough alone.",
    )
    if len(results.raters) < 2 or not results.overall.n_pairs:
        nothing(results.overall.raw_agreement.reason or NO_PAIR)
        return
    answer, by_name = answer_of(results), blocks(results)
    first = agreement_of_raters(results.overall, len(results.raters))[0], "gwet_ac1"
    drawn = Drawn(
        plots.agreement(by_name, first),
        "Agreement coefficients with intervals per level",
        press=partial(_press_level, study_id, list(by_name), tuple(results.per_level)),
        seen=_chosen_coefficients(answer.tables["agreement"], first),
        beneath=partial(_all_five, answer),
    )
    show_tables(answer, ("agreement",), {"agreement": drawn})


def _all_five(answer: Answer) -> None:
    with st.expander("All five coefficients"):
        show_tables(answer, ("agreement",))
        st.markdown(
            "\n".join(
                f"- **{AGREEMENT[field]}**: {sentence} ([how]({HELP}#{anchor}))."
                for field, (anchor, sentence) in _AGREEMENT.items()
            )
        )


def _chosen_coefficients(result: ResultTable, fields: Sequence[str]) -> ResultTable:
    """The table with the columns of these coefficients alone, and without its notes, which stand below the whole one."""
    columns = tuple(
        replace(column, shown=False) if column.name in AGREEMENT and column.name not in fields else column
        for column in result.columns
    )
    return replace(result, name="agreement-first", columns=columns, notes=())


def _press_level(study_id: int, rows: Sequence[str], levels: tuple[str, ...], dot: Mapping[str, Any]) -> None:
    """Open the pairs on which raters disagree, at the level of a dot."""
    level = rows[round(float(dot["y"]))]
    open_study.show_pairs(study_id, PairFilter(disagree=True, levels=(level,) if level in levels else ()))


def _contingency(study_id: int, results: StudyResults) -> None:
    """Show the answers of two raters against each other; a cell leads to its pairs."""
    part(
        "Two raters side by side",
        "How often each pair of answers occurred. Agreement is on the diagonal. Press a cell to see its pairs.",
        "contingency-table",
    )
    raters = list(results.raters)
    if len(raters) < 2 or not results.overall.n_pairs:
        nothing(results.overall.contingency.reason or NO_PAIR)
        return
    first, second = raters[:2]
    if len(raters) > 2:
        left, right = st.columns(2)
        numbers = {rater: str(number) for number, rater in enumerate(raters, 1)}
        first = left.selectbox(
            "Rows",
            raters,
            key=address.one("rows", f"results_rows_{study_id}", raters, raters[0], numbers.__getitem__),
        )
        others = [rater for rater in raters if rater != first]
        key = address.one("columns", f"results_columns_{study_id}", others, others[0], numbers.__getitem__)
        if st.session_state[key] not in others:
            st.session_state[key] = others[0]
        second = right.selectbox("Columns", others, key=key)
    found = two_raters(results, first, second)
    names = preference_names(results.candidate, results.comparator)
    with st.container(width=620):
        drawn = Drawn(
            plots.contingency(found, names),
            _described_table(found, names),
            folded=AS_TABLE,
            press=partial(_press_cell, study_id, found.raters),
            seen=_crossed(results, found),
        )
        show_tables(answer_of(results), ("contingency",), {"contingency": drawn})
        st.markdown(f":small[Rows: {plain(first)}; columns: {plain(second)}.]")


def _crossed(results: StudyResults, found: Contingency) -> ResultTable:
    filled = contingency_rows(results, [found])
    return answer_of(results).table("contingency", filled.rows, filled.notes)


def _press_cell(study_id: int, raters: tuple[str, ...], cell: Mapping[str, Any]) -> None:
    """Open the pairs of a cell of the table of two raters, whose points are its cells, row by row."""
    places = divmod(int(cell["point_index"]), len(PREFERENCES))
    votes = tuple(zip(raters, (PREFERENCES[place] for place in places), strict=True))
    open_study.show_pairs(study_id, PairFilter(votes=votes))


def _described_table(found: Contingency, names: Mapping[str, str]) -> str:
    """Describe the table cell by cell, for people who cannot see the figure."""
    first, second = found.raters
    return "; ".join(
        f"{first} {names[row]}, {second} {names[column]}: {n}"
        for row, line in zip(found.order, found.table or [], strict=False)
        for column, n in zip(found.order, line, strict=True)
    )


def _own(study_id: int, results: StudyResults) -> None:
    """Show whether raters preferred a side of the screen, how often they repeat themselves, and their times."""
    with result_table.together("own"):
        _position(study_id, results)
        part(
            "Consistency",
            "Some pairs were shown twice, with the sides drawn again. How often was the answer the same?",
            "consistency",
        )
        if not results.raters:
            nothing("no pair was answered twice")
            return
        show_tables(answer_of(results), ("repeats",))
        with st.expander("Times per rater"):
            show_tables(answer_of(results), ("seconds",))


def _position(study_id: int, results: StudyResults) -> None:
    """Show whether raters preferred a side of the screen."""
    part(
        "Position bias",
        "Did a rater choose the left side more often than the right? Both good and both bad are not counted. A "
        "rater is flagged by a p that is corrected for the number of raters.",
        "position-bias",
    )
    if not results.raters:
        nothing(NO_SIDE)
        return
    sided = [name for name, one in results.position_per_rater.items() if one.n]
    drawn = Drawn(
        plots.position(positions(results)) if results.position_overall.n else None,
        "Share of left per rater with interval",
        press=partial(_press_rater, study_id, sided),
    )
    show_tables(answer_of(results), ("position",), {"position": drawn})


def _press_rater(study_id: int, raters: Sequence[str], dot: Mapping[str, Any]) -> None:
    """Open the pairs of a rater; the last dot is that of all raters together."""
    place = int(dot["point_index"])
    if place < len(raters):
        open_study.show_pairs(study_id, PairFilter(rater=raters[place]))


def blinding(results: StudyResults) -> None:
    """Show what the guesses say: a sentence, indices per rater and overall, guesses by side, comments."""
    found = results.blinding
    part(
        "Blinding",
        f"After their last answer raters see some pairs again and guess which answer is human (here: "
        f"{plain(found.person)}). Bang's index is 0 for random guesses, 1 if every guess is right and -1 if every "
        "guess is wrong.",
        "blinding-index",
    )
    if not found.overall.n:
        nothing(NO_GUESS)
    else:
        with st.container(border=True):
            st.markdown(f"**{plain(found.reading)}**")
        answer = answer_of(results)
        with result_table.together("blinding"):
            show_tables(answer, ("blinding",))
            with st.expander(answer.tables["blinding-sides"].title):
                show_tables(answer, ("blinding-sides",))
    if found.n_left_out:
        st.markdown(f"Guesses left out: {reasons(found.n_left_out)}.")
    if found.comments:
        with st.expander(f"Comments on the guesses ({len(found.comments)})"):
            for said in found.comments:
                at = f" at {plain(said.level)}" if said.level else ""
                st.markdown(f"{plain(said.rater_id)}, {plain(said.item_id)}{at}: {plain(said.comment)}")
