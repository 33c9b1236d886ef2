"""What a rating study says, for the admin: what was rated, totals by system and by rater, and the files."""

from collections.abc import Callable
from functools import partial
from statistics import mean

import pandas as pd
import streamlit as st

from core.errors import InputError
from core.formats.spans.mqm import write_mqm
from core.schema.study import StudyRecord
from core.study.bundle import write_bundle
from core.study.export import rated_jsonl, ratings_csv, ratings_jsonl, spans_csv
from core.study.rated.results import (
    Counted,
    SystemTotal,
    consistency,
    counted,
    dimensions_of,
    rated_texts_of,
    rating_set_of,
    system_totals,
    task_of,
)
from pages.widgets.messages import with_code
from pages.widgets.parts import counted_as, interval, nothing, number, part, table

_DECIMALS = 2


def show(record: StudyRecord, fingerprint: int, release: Callable[[str], None]) -> None:
    """Every part; `release` is called with a file's name before it is made, and raises where it must not."""
    found = counted(record)
    _standing(record, found)
    _totals(record, fingerprint)
    _raters(record, found)
    _repeats(record)
    _downloads(record, release)


def _standing(record: StudyRecord, found: Counted) -> None:
    rated = {(answer.item_id, answer.level, answer.source) for answer in found.answers}
    raters = {answer.rater_id for answer in found.answers}
    part(
        "What was rated",
        f"{len(rated):,} of {counted_as(len(record.outputs), 'text')}, with "
        f"{counted_as(len(found.answers), 'rating')} in all, by {counted_as(len(raters), 'rater')}.",
    )
    for reason, n in found.left_out.items():
        st.markdown(f"- Left out, {reason}: {n}")


def _totals(record: StudyRecord, fingerprint: int) -> None:
    part(
        "By system",
        "The mean over texts of the mean over raters, with a 95 % interval from resampled sources. Higher is better; "
        "of marked errors it is minus their MQM weights. Systems whose texts are of other sources are not comparable.",
    )
    totals = _computed(fingerprint, record)
    if not any(total.n_ratings for total in totals):
        nothing("no text is rated yet")
        return
    frame = pd.DataFrame([_total(total) for total in totals])
    table(frame if any(total.level for total in totals) else frame.drop(columns="Level"))


@st.cache_data(show_spinner=False, max_entries=16)
def _computed(fingerprint: int, _record: StudyRecord) -> tuple[SystemTotal, ...]:
    """The totals, once for the same answers."""
    return system_totals(_record)


def _total(total: SystemTotal) -> dict[str, str]:
    found = total.mean
    return {
        "System": total.system,
        "Level": total.level,
        "Dimension": total.dimension,
        "Mean": number(found.estimate, _DECIMALS),
        "95 % interval": interval(found.low, found.high),
        "Texts": f"{total.n_texts} rated, {total.n_unrated} not",
        "Ratings": str(total.n_ratings),
        "Errors a rating": number(total.errors_per_rating, _DECIMALS)
        if total.errors_per_rating is not None
        else "",
        "Note": found.reason or found.interval_reason or "",
    }


def _raters(record: StudyRecord, found: Counted) -> None:
    part(
        "By rater",
        "How much each rater has rated, and how strictly: a first look at differences between people.",
    )
    ratings = rating_set_of(record).ratings
    rows = []
    for rater in dict.fromkeys(answer.rater_id for answer in found.answers):
        own = [one for one in ratings if one.rater == rater]
        said = {
            dimension: [one.score for one in own if one.dimension == dimension]
            for dimension in dimensions_of(task_of(record))
        }
        rows.append(
            {
                "Rater": rater,
                "Texts": str(sum(answer.rater_id == rater for answer in found.answers)),
                **{
                    f"Mean {dimension}": number(mean(scores) if scores else None, _DECIMALS)
                    for dimension, scores in said.items()
                },
                "Errors marked": str(sum(len(one.spans or ()) for one in own)),
            }
        )
    if not rows:
        nothing("no text is rated yet")
        return
    frame = pd.DataFrame(rows)
    table(frame if task_of(record).spans else frame.drop(columns="Errors marked"))
    st.markdown(
        "How far raters agree with each other and with judges: the page Calibration. The ratings become the examples "
        "of a judge on the page Judges."
    )


def _repeats(record: StudyRecord) -> None:
    twice = consistency(record)
    if not twice:
        return
    part("Hidden repeats", "Texts that a rater was shown twice: a few each, a warning sign at most.")
    table(
        pd.DataFrame(
            {
                "Rater": [one.rater for one in twice],
                "Dimension": [one.dimension for one in twice],
                "The same": [f"{one.n_same} of {one.n}" for one in twice],
                "Mean difference": [number(one.mean_difference, _DECIMALS) for one in twice],
            }
        )
    )


def _mqm(record: StudyRecord) -> bytes:
    return write_mqm(rated_texts_of(record))


def _downloads(record: StudyRecord, release: Callable[[str], None]) -> None:
    part("Downloads", "The ratings of the whole study. Offsets count code points, end exclusive.")
    files: dict[str, tuple[str, str, Callable[[StudyRecord], bytes]]] = {
        "Ratings": ("assay-ratings.csv", "text/csv", ratings_csv),
        "Ratings, JSONL": ("assay-ratings.jsonl", "application/jsonl", ratings_jsonl),
        "Rated texts": ("assay-rated-texts.jsonl", "application/jsonl", rated_jsonl),
        "Bundle": ("assay-study.zip", "application/zip", write_bundle),
    }
    if task_of(record).spans:
        files["Errors"] = ("assay-errors.csv", "text/csv", spans_csv)
        try:
            write_mqm(rated_texts_of(record))
        except InputError as why:
            st.markdown(f":small[Not offered as MQM TSV: {with_code(str(why))}]")
        else:
            files["Errors, MQM"] = ("assay-mqm.tsv", "text/tab-separated-values", _mqm)

    def checked(name: str, make: Callable[[StudyRecord], bytes]) -> bytes:
        release(name)
        return make(record)

    with st.container(horizontal=True):
        for name, (file_name, kind, make) in files.items():
            st.download_button(
                f"{name} ({file_name})",
                partial(checked, name, make),
                file_name,
                kind,
                key=f"results_ratings_{name}",
                on_click="ignore",
            )
