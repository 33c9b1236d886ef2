"""The tab Export: every file of a study, once, with what it holds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st

from core.errors import InputError
from core.formats.spans.mqm import write_mqm
from core.results.study.results import StudyResults
from core.schema.study import Study, StudyRecord
from core.store import Store
from core.study.analysis_set import released_record
from core.study.bundle import write_bundle
from core.study.export import (
    answers_csv,
    answers_jsonl,
    guesses_csv,
    paper_files,
    paper_zip,
    rated_jsonl,
    ratings_csv,
    ratings_jsonl,
    spans_csv,
)
from core.study.ratings import rated_texts_of, task_of
from pages.studies import filters
from pages.studies.analysed import released, results_of
from pages.widgets.downloads import spreadsheet_file
from pages.widgets.messages import code_markdown


@dataclass(frozen=True)
class File:
    """A file to download."""

    name: str
    type: str
    holds: str
    """In a sentence."""
    make: Callable[[StudyRecord], bytes]
    """From the study as it is when the button is pressed."""


def render(store: Store, study: Study) -> None:
    """Show a button a file."""
    if study.state != "unblinded":
        st.info(
            "There is nothing to export before you unblind the study: every file would say which system wrote which answer. "
            "A backup of the whole database is on the page [Operation](operation)."
        )
        return
    record = released_record(store, study)
    if study.kind == "ratings":
        st.markdown("The ratings of the whole study. Offsets count code points; the end is exclusive.")
        _buttons(_rating_files(record), released(record.study), "ratings_")
    else:
        texts = st.checkbox(
            "With both texts",
            key="results_texts",
            help="CSV and JSONL get the columns candidate_text and comparator_text.",
        )
        _buttons(pair_files(record, results_of(record), texts=texts), released(record.study))
    st.markdown(
        ":small[Every download is written to the study's log. `docs/formats.md` describes the formats.]"
    )


_BUNDLE = (
    "The whole study: texts, design, answers and log, to check the results elsewhere. No personal links."
)


def pair_files(record: StudyRecord, results: StudyResults, *, texts: bool = False) -> dict[str, File]:
    """Return label -> file, all about the whole study.

    texts: the answers with the two texts that were compared.
    """
    papers = paper_files(record) if record.study.asks == "levels" else {}
    with_texts = " With both texts." if texts else ""
    votes = "Votes as Factual writes them, by question and level"
    files: dict[str, File] = {
        "CSV": File(
            "assay-answers.csv",
            "text/csv",
            f"A row for each answer: rater, pair, side, choice, times, comment.{with_texts}",
            lambda now: answers_csv(now, texts=texts),
        ),
        "JSONL": File(
            "assay-answers.jsonl",
            "application/jsonl",
            f"The same, one JSON object a line, and comments on open pairs.{with_texts}",
            lambda now: answers_jsonl(now, texts=texts),
        ),
        "Factual's votes": File(
            "assay-votes.json",
            "application/json",
            f"{votes}.",
            lambda now: next(iter(paper_files(now).values())),
        )
        if len(papers) == 1
        else File(
            "assay-votes.zip",
            "application/zip",
            f"{votes}, a file for each rater.",
            paper_zip,
        ),
        "Guesses": File(
            "assay-guesses.csv",
            "text/csv",
            "A row for each guess which answer a person wrote.",
            guesses_csv,
        ),
        "Results": File(
            "assay-results.json",
            "application/json",
            "Every number of the tabs Result and Raters, with what was left out.",
            lambda now: filters.results_json(results_of(now)),
        ),
        "Bundle": File("assay-study.zip", "application/zip", _BUNDLE, write_bundle),
    }
    absent = [*([] if papers else ["Factual's votes"]), *([] if results.asks_guesses else ["Guesses"])]
    return {name: file for name, file in files.items() if name not in absent}


def _rating_files(record: StudyRecord) -> dict[str, File]:
    files: dict[str, File] = {
        "Ratings": File(
            "assay-ratings.csv",
            "text/csv",
            "A row for each text that a rater rated, with all scores.",
            ratings_csv,
        ),
        "Ratings, JSONL": File(
            "assay-ratings.jsonl",
            "application/jsonl",
            "The same, one JSON object a line.",
            ratings_jsonl,
        ),
        "Rated texts": File(
            "assay-rated-texts.jsonl",
            "application/jsonl",
            "The texts with their ratings, as judges and the page Check read them.",
            rated_jsonl,
        ),
        "Bundle": File("assay-study.zip", "application/zip", _BUNDLE, write_bundle),
    }
    if task_of(record).spans:
        files["Errors"] = File("assay-errors.csv", "text/csv", "A row for each marked error.", spans_csv)
        try:
            write_mqm(rated_texts_of(record))
        except InputError as why:
            st.markdown(f":small[No MQM TSV: {code_markdown(str(why))}]")
        else:
            files["Errors, MQM"] = File(
                "assay-mqm.tsv",
                "text/tab-separated-values",
                "The marked errors in the form of the MQM files of WMT.",
                lambda now: write_mqm(rated_texts_of(now)),
            )
    return files


def _buttons(
    files: Mapping[str, File],
    made: Callable[[str, Callable[[StudyRecord], bytes]], bytes],
    place: str = "",
) -> None:
    """Show a button for each file, and what it holds. made: reads the study and makes a file when its button is pressed."""
    for name, file in files.items():
        button, holds = st.columns([2, 5], vertical_alignment="center")
        button.download_button(
            f"{name} ({file.name})",
            spreadsheet_file(file.name, partial(made, name, file.make)),
            file.name,
            file.type,
            key=f"results_{place}{name}",
            on_click="ignore",
            icon=":material/download:",
            width="stretch",
        )
        holds.markdown(file.holds)
