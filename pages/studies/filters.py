"""Show a part of a study of pairs: its levels, raters, questions and languages."""

import json
from collections.abc import Callable, Sequence
from functools import partial

from streamlit.delta_generator import DeltaGenerator

from core.analyses.study_results.pair_rows import answer_of
from core.results.study.counted import Filters, counts_at_all
from core.results.study.results import StudyResults
from core.schema.study import Study, StudyRecord
from core.study.analysis_set import main_levels
from pages.studies.analysed import released, results_of
from pages.widgets import address
from pages.widgets.messages import plain

_LONGEST = 70


def chosen(record: StudyRecord, place: DeltaGenerator) -> Filters:
    """Choose a part of the study. An empty filter means all, including later answers. The address holds numbers alone."""
    study, items = record.study, {item.item_id: item for item in record.items}
    languages = list(dict.fromkeys(item.language for item in record.items))
    everybody = [rater.rater_id for rater in record.raters]
    raters = [rater.rater_id for rater in record.raters if counts_at_all(rater)]
    declared = main_levels(study.design, study.levels)
    levels: Sequence[str] = declared
    if study.named_levels:
        levels = place.pills(
            f"Levels (main analysis: {plain(', '.join(declared))})",
            study.levels,
            selection_mode="multi",
            format_func=plain,
            key=address.several(
                "levels", f"results_levels_{study.study_id}", study.levels, declared, _number_in(study.levels)
            ),
            persist_state="session",
        )
    columns = place.columns(3 if len(languages) > 1 else 2)

    def several(
        at: int,
        title: str,
        options: Sequence[str],
        among: Sequence[str],
        worded: Callable[[str], str] = str,
    ) -> list[str]:
        name = title.lower()
        key = f"results_{name}_{study.study_id}"
        return columns[at].multiselect(
            title,
            options,
            format_func=worded,
            key=address.several(name, key, options, (), _number_in(among)),
            placeholder="All",
            persist_state="session",
        )

    asked = [
        several(0, "Raters", raters, everybody),
        several(
            1,
            "Questions",
            list(items),
            list(items),
            lambda item: f"{item}: {items[item].question}"[:_LONGEST],
        ),
        several(2, "Languages", languages, languages) if len(languages) > 1 else [],
    ]
    some = tuple(level for level in study.levels if level in levels)
    if not some:
        place.markdown(":small[Without a chosen level, the page shows the levels of the main analysis.]")
    return Filters(
        some if some and some != declared else None,
        *(tuple(values) or None for values in asked),
    )


def file_of_part(results: StudyResults, filters: Filters, place: DeltaGenerator, study: Study) -> None:
    """Offer the results of the part as a file, where it is one; those of the whole study are on the tab Export."""
    if results.filtered:
        place.download_button(
            "Results of this part (JSON)",
            partial(_part, released(study), filters),
            "assay-results.json",
            "application/json",
            key=f"results_part_{study.study_id}",
            on_click="ignore",
            icon=":material/download:",
        )


def results_json(results: StudyResults) -> bytes:
    """The file with all results, in the documented form (docs/results.md)."""
    return (json.dumps(answer_of(results).json, indent=2, ensure_ascii=False) + "\n").encode()


def _part(made: Callable[[str, Callable[[StudyRecord], bytes]], bytes], filters: Filters) -> bytes:
    return made("Results", lambda now: results_json(results_of(now, filters)))


def _number_in(options: Sequence[str]) -> Callable[[str], str]:
    """A code for the address that is no name of the study: which of the options it is, from 1."""
    places = {option: str(number) for number, option in enumerate(options, 1)}
    return lambda option: places.get(option, "")
