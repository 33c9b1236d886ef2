"""The parts of the page Results: heading, sentence, figure, table with its n, link to the method."""

import json
from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analyses.agreement import ANALYSIS as AGREEMENT_OF_RATERS
from core.analyses.rating_study import raters_of
from core.errors import InputError, counted
from core.formats.spans.mqm import write_mqm
from core.joining.choices import dimensions_of as dimensions_rated
from core.plots import study as plots
from core.plots.drawn import draw
from core.results.study.early import EarlyResult, path_table
from core.results.study.raters import component_shares
from core.results.study.results import (
    Contingency,
    StudyResults,
    described,
    headline,
    reasons,
    votes_of_pairs,
)
from core.results.study.tables import (
    AGREEMENT,
    TOTALS_FIGURE,
    RatingMeans,
    blocks,
    contingency_table,
    positions,
    preference_names,
    rating_tables,
    study_tables,
    two_raters,
)
from core.results.study.words import words_of
from core.schema.study import StudyRecord
from core.stats.non_inferiority import lowest_mean
from core.stats.votes import NO_SIDE
from core.study.analysis_set import SCORE_NAMES
from core.study.bundle import write_bundle
from core.study.export import (
    guesses_csv,
    paper_files,
    rated_jsonl,
    ratings_csv,
    ratings_jsonl,
    spans_csv,
    to_csv,
    to_jsonl,
    to_paper_zip,
)
from core.study.ratings import (
    consistency,
    rated_texts_of,
    rating_set_of,
    task_of,
)
from core.study.ratings import counted as counted_ratings
from pages.widgets import analysis, result_table
from pages.widgets.downloads import spreadsheet_file
from pages.widgets.messages import mistakes_shown, plain, with_code
from pages.widgets.parts import HELP, check, nothing, number, part, percent

_show = partial(result_table.show, titled=False)
NO_GUESS = "no rater has guessed which answer is human"
_NO_PAIR = "no pair has enough votes yet"
_AS_TABLE = "The same as a table"
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

File = tuple[str, str, Callable[[], bytes]]
"""Name, type and maker."""


def of_pairs(
    record: StudyRecord, results: StudyResults, release: Callable[[str], None], first: DeltaGenerator
) -> None:
    """Show every part of a study of pairs.

    release: called with a file's name before it is made; raises where it must not be. first: place of the verdict.
    """
    tables = study_tables(results)
    with first:
        _verdict(results)
    _standing(results)
    if results.overall.n_pairs:
        _to_check(record)
    part(
        "Sensitivity",
        "Would the verdict change if votes were counted differently? One rule changes per row.",
        "sensitivity",
    )
    _show(tables["sensitivity"])
    if tables["robustness"].rows:
        result_table.show(tables["robustness"])
    _raters(results)
    at = " at each level" if results.levels else ""
    part("Choices", f"How each rater answered{at}. Sides are decoded to systems.", "choices")
    if results.overall.n_pairs:
        names = preference_names(results.candidate, results.comparator)
        _show(
            tables["choices"],
            figure=plots.choices(results.per_level or blocks(results), results.raters, names),
            alt="Stacked bars: answers per level and rater",
            folded=_AS_TABLE,
        )
    else:
        nothing(_NO_PAIR)
    _agreement(results)
    _contingency(results)
    part(
        "Composite score",
        f"Each pair scores +1 if its votes favour {plain(results.candidate)}, -1 if they favour {plain(results.comparator)}, and 0 "
        "otherwise. Both good and both bad count 0.",
        "composite-score",
    )
    _show_or_nothing(results, "composite")
    part(
        "Ties",
        "How often raters saw no difference. The four rules overlap, so the shares do not sum to 1.",
        "ties",
    )
    _show_or_nothing(results, "ties")
    part(
        "Power",
        "How many questions a new study with raters like these needs. Plan computes the same number from the same components.",
        "power",
    )
    _show_or_nothing(results, "plan")
    if results.overall.n_pairs:
        with st.expander("Power at the observed mean"):
            _show(tables["power"])
    _position(results)
    part(
        "Consistency",
        "Some pairs were shown twice, with the sides drawn again. How often was the answer the same?",
        "consistency",
    )
    if results.raters:
        _show(tables["repeats"])
        with st.expander("Times per rater"):
            _show(tables["seconds"])
    else:
        nothing("no pair was answered twice")
    if results.asks_guesses:
        blinding(results)
    part(
        "Downloads", "Files with answers contain the whole study. The file with results follows the filters."
    )
    texts = st.checkbox(
        "With both texts",
        key="results_texts",
        help="CSV and JSONL get the columns candidate_text and comparator_text.",
    )
    _buttons(pair_files(record, results, texts=texts), release)
    st.markdown(":small[`docs/formats.md` describes the formats. A bundle contains no personal links.]")


def _show_or_nothing(results: StudyResults, name: str) -> None:
    if results.overall.n_pairs:
        _show(study_tables(results)[name])
    else:
        nothing(_NO_PAIR)


def _standing(results: StudyResults) -> None:
    """Show what was counted and what was left out."""
    block = results.overall
    with st.container(horizontal=True, gap="medium"):
        for name, value in {
            "Pairs used": block.n_pairs,
            "Questions": block.n_questions,
            "Raters": len(results.raters),
            "Answers used": results.answers_used,
            "Pairs left out": sum(block.n_left_out.values()),
            "Answers left out": sum(results.answers_left_out.values()),
        }.items():
            st.metric(name, value, width="content")
    st.markdown(
        f"Pairs left out: {reasons(block.n_left_out)}. Answers left out: {reasons(results.answers_left_out)}."
    )
    st.markdown(f":small[{plain(described(results))} {plain(votes_of_pairs(results))}]")


def _verdict(results: StudyResults) -> None:
    """Show the verdict in plain words with its limits, the early bound if that decides, and the bounds of all votes."""
    bound, found = results.non_inferiority, results.answer.found.bounds
    of_gaffke = results.answer.found.gaffke
    score = SCORE_NAMES[results.analysis_set.score]
    part(
        "Verdict",
        f"{_asked(results)} on the {score}?"
        + ("" if bound.margin is None else f" Declared one-sided level: {percent(bound.confidence_level)}."),
        "the-answer",
    )
    first, *limits = headline(results)
    with st.container(border=True):
        name, numbers = first.split(". ", 1)
        st.markdown(f"**{plain(name)}.** {plain(numbers)}")
        if limits:
            st.markdown("\n".join(f"- {plain(line)}" for line in limits))
    if results.early is not None:
        _early(results.early)
        if not results.filtered:
            st.markdown("**Declared analysis, for comparison**")
    systems = results.candidate, results.comparator
    if bound.mean is not None and bound.margin is None:  # a lower bound alone would take a side
        _show(study_tables(results)["answer"], table_first=True)
    elif bound.mean is not None:
        deciding = "deciding bound" if results.early is None else "bound of the declared analysis"
        _show(
            study_tables(results)["bounds"],
            table_first=True,
            figure=plots.verdict(
                bound, None if of_gaffke is None else of_gaffke.bound, score=score, systems=systems
            ),
            alt=f"Mean {number(bound.mean)}, lower bound over questions {number(bound.bound_questions)}, over pairs "
            f"{number(bound.bound_pairs)}, {deciding} {number(None if found is None else found.bound)}, margin {number(lowest_mean(bound.margin))}",
        )


def _asked(results: StudyResults) -> str:
    """The question of the verdict, without its score."""
    words, margin = words_of(results.answer.votes_mean), results.non_inferiority.margin
    return (words.asks if margin is None else words.asks_margin).format(
        candidate=plain(results.candidate), comparator=plain(results.comparator), margin=margin
    )


def _early(found: EarlyResult) -> None:
    """Show how the always-valid bound grew."""
    part(
        "Early looks",
        "How the always-valid bound, which decides about the whole study, grew with each question.",
        "looking-early",
    )
    _show(
        path_table(found),
        figure=plots.early(found),
        alt=f"Lower bound {number(found.bound)} after {found.n_entered} questions",
        folded=_AS_TABLE,
    )


def _raters(results: StudyResults) -> None:
    """Show raters' means with the bound over raters, and where votes differ."""
    sample = results.raters_as_sample
    part(
        "Raters as a sample",
        "Would other raters reach the same verdict? The verdict above is for these raters. Here raters are a sample, too, and "
        "the score is the mean vote (net preference).",
        "raters-as-a-sample",
    )
    found = sample.found
    if found.mean is None:
        nothing(_NO_PAIR)
        return
    tables = study_tables(results)
    means, components = tables["rater-means"], tables["variance-components"]
    _show(
        means,
        figure=plots.rater_means(sample, (results.candidate, results.comparator)),
        alt=f"Mean vote of each rater with interval over questions. Mean of all {number(found.mean)}, lower bound over "
        f"raters and questions {number(found.bound)}, margin {number(lowest_mean(sample.margin))}",
        table_first=True,
    )
    if components.rows:
        st.markdown(
            "**Variance components.** Where do votes differ? More questions shrink every part of the mean's variance except "
            "the rater's. Only more raters shrink that."
        )
        drawn = any(share is not None for share, _ in component_shares(sample.components).values())
        _show(
            components,
            figure=plots.variance_shares(sample.components) if drawn else None,
            alt="Stacked bars: shares of the variance of one vote and of the mean vote",
        )
    else:
        nothing(sample.components.reason or _NO_PAIR)


def _agreement(results: StudyResults) -> None:
    """Show all coefficients, overall and per level."""
    part(
        "Agreement",
        "Do the raters give the same answers? Agreement has several measures; none is enough alone.",
    )
    if len(results.raters) < 2 or not results.overall.n_pairs:
        nothing(results.overall.raw_agreement.reason or _NO_PAIR)
        return
    tables = study_tables(results)
    _show(
        tables["agreement"],
        figure=plots.agreement(blocks(results)),
        alt="Agreement coefficients with intervals per level",
        table_first=True,
    )
    st.markdown(
        "\n".join(
            f"- **{AGREEMENT[field]}**: {sentence} ([how]({HELP}#{anchor}))."
            for field, (anchor, sentence) in _AGREEMENT.items()
        )
    )
    if results.pairwise:
        result_table.show(tables["pairwise"])


def _contingency(results: StudyResults) -> None:
    """Show the answers of two raters against each other."""
    part(
        "Two raters side by side",
        "How often each pair of answers occurred. Agreement is on the diagonal.",
        "contingency-table",
    )
    raters = list(results.raters)
    if len(raters) < 2 or not results.overall.n_pairs:
        nothing(results.overall.contingency.reason or _NO_PAIR)
        return
    first, second = raters[:2]
    if len(raters) > 2:
        left, right = st.columns(2)
        first = left.selectbox("Rows", raters, key="results_rows")
        others = [rater for rater in raters if rater != first]
        second = right.selectbox("Columns", others, key="results_columns")
    found = two_raters(results, first, second)
    names = preference_names(results.candidate, results.comparator)
    with st.container(width=620):
        _show(
            contingency_table(results, [found]),
            figure=plots.contingency(found, names),
            alt=_in_words(found, names),
            folded=_AS_TABLE,
        )
    total = sum(map(sum, found.table or []))
    st.markdown(f":small[n = {total} pairs. Rows: {plain(first)}; columns: {plain(second)}.]")


def _in_words(found: Contingency, names: Mapping[str, str]) -> str:
    """Describe the table cell by cell, for people who cannot see the figure."""
    first, second = found.raters
    return "; ".join(
        f"{first} {names[row]}, {second} {names[column]}: {n}"
        for row, line in zip(found.order, found.table or [], strict=False)
        for column, n in zip(found.order, line, strict=True)
    )


def _position(results: StudyResults) -> None:
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
    drawn = results.position_overall.n > 0
    _show(
        study_tables(results)["position"],
        figure=plots.position(positions(results)) if drawn else None,
        alt="Share of left per rater with interval",
    )


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
        tables = study_tables(results)
        _show(tables["blinding"])
        with st.expander(tables["blinding-sides"].title):
            _show(tables["blinding-sides"])
    if found.n_left_out:
        st.markdown(f"Guesses left out: {reasons(found.n_left_out)}.")
    if found.comments:
        with st.expander(f"Comments on the guesses ({len(found.comments)})"):
            for said in found.comments:
                at = f" at {plain(said.level)}" if said.level else ""
                st.markdown(f"{plain(said.rater_id)}, {plain(said.item_id)}{at}: {plain(said.comment)}")


def _to_check(record: StudyRecord) -> None:
    """Link the check of a judge on these votes. Results are open, so the study is unblinded: the page Check reads no other."""
    st.page_link(
        check(),
        label="Check a judge on these votes",
        icon=":material/arrow_forward:",
        query_params={"study": record.study.name},
    )


def of_ratings(record: StudyRecord, fingerprint: int, release: Callable[[str], None]) -> None:
    """Show every part of a rating study; `release` as in `of_pairs`."""
    found = counted_ratings(record)
    rated = {(answer.item_id, answer.level, answer.source) for answer in found.answers}
    raters = {answer.rater_id for answer in found.answers}
    tables = rating_tables(record, _means(fingerprint, record), twice := consistency(record))
    part(
        "What was rated",
        f"{len(rated):,} of {counted(len(record.outputs), 'text')}: "
        f"{counted(len(found.answers), 'rating')} by {counted(len(raters), 'rater')}.",
    )
    for reason, n in found.left_out.items():
        st.markdown(f"- Left out, {reason}: {n}")
    if rated:
        _to_check(record)
    part(
        "By system",
        "Mean over texts of the mean over raters, with a 95 % interval from resampled sources. Higher is better. "
        "For marked errors the score is minus their MQM weights. Compare only systems with texts on the same sources.",
    )
    if rated:
        _show(
            tables["totals"],
            figure=draw(TOTALS_FIGURE, tables),
            alt=TOTALS_FIGURE.alt,
            folded=_AS_TABLE,
        )
        for name in ("means-by-system", "means-by-level"):
            if name in tables:
                result_table.show(tables[name])
    else:
        nothing("no text is rated yet")
    part(
        "By rater",
        "How many texts each rater has rated, and how strictly.",
    )
    if rated:
        _show(tables["raters"])
        st.markdown(
            "The page Calibration shows how far judges agree with the raters. On the page Specialist a judge can learn from these "
            "ratings."
        )
    else:
        nothing("no text is rated yet")
    if rated:
        _raters_agreement(record, fingerprint)
    if twice:
        part(
            "Hidden repeats",
            "Texts that a rater saw twice. They are few per rater, so take differences as a warning sign only.",
        )
        _show(tables["repeats"])
    part("Downloads", "The ratings of the whole study. Offsets count code points; the end is exclusive.")
    _buttons(_rating_files(record), release, "ratings_")


def _raters_agreement(record: StudyRecord, fingerprint: int) -> None:
    """Show how far the raters agree with each other, in one dimension at a time."""
    if len({answer.rater_id for answer in counted_ratings(record).answers}) < 2:
        part(AGREEMENT_OF_RATERS.title, AGREEMENT_OF_RATERS.question, AGREEMENT_OF_RATERS.section)
        nothing("agreement needs two raters")
        return

    def data() -> list[analysis.Data]:
        rated = list(dimensions_rated(rating_set_of(record)))
        dimension = rated[0] if len(rated) == 1 else st.selectbox("Dimension", rated, key="results_dimension")
        key = ("study", record.study.study_id, fingerprint, dimension)
        return [analysis.Data(key, lambda: raters_of(record, dimension))]

    with mistakes_shown():
        analysis.render(AGREEMENT_OF_RATERS, data)


@st.cache_data(show_spinner=False, max_entries=16)
def _means(fingerprint: int, _record: StudyRecord) -> RatingMeans:
    """Compute the means, once for the same answers."""
    return RatingMeans.of(_record)


def pair_files(record: StudyRecord, results: StudyResults, *, texts: bool = False) -> dict[str, File]:
    """Return label -> file: the answers of the whole study, and the results as shown.

    texts: the answers with the two texts that were compared.
    """
    papers = paper_files(record) if record.study.asks == "levels" else {}
    files: dict[str, File] = {
        "CSV": ("assay-answers.csv", "text/csv", lambda: to_csv(record, texts=texts)),
        "JSONL": ("assay-answers.jsonl", "application/jsonl", lambda: to_jsonl(record, texts=texts)),
        "Factual's votes": ("assay-votes.json", "application/json", lambda: next(iter(papers.values())))
        if len(papers) == 1
        else ("assay-votes.zip", "application/zip", lambda: to_paper_zip(record)),
        "Guesses": ("assay-guesses.csv", "text/csv", lambda: guesses_csv(record)),
        "Results": (
            "assay-results.json",
            "application/json",
            lambda: (json.dumps(results.to_json(), indent=2, ensure_ascii=False) + "\n").encode(),
        ),
        "Bundle": ("assay-study.zip", "application/zip", lambda: write_bundle(record)),
    }
    absent = [*([] if papers else ["Factual's votes"]), *([] if results.asks_guesses else ["Guesses"])]
    return {name: file for name, file in files.items() if name not in absent}


def _rating_files(record: StudyRecord) -> dict[str, File]:
    files: dict[str, File] = {
        "Ratings": ("assay-ratings.csv", "text/csv", lambda: ratings_csv(record)),
        "Ratings, JSONL": ("assay-ratings.jsonl", "application/jsonl", lambda: ratings_jsonl(record)),
        "Rated texts": ("assay-rated-texts.jsonl", "application/jsonl", lambda: rated_jsonl(record)),
        "Bundle": ("assay-study.zip", "application/zip", lambda: write_bundle(record)),
    }
    if task_of(record).spans:
        files["Errors"] = ("assay-errors.csv", "text/csv", lambda: spans_csv(record))
        try:
            marked = write_mqm(rated_texts_of(record))
        except InputError as why:
            st.markdown(f":small[No MQM TSV: {with_code(str(why))}]")
        else:
            files["Errors, MQM"] = ("assay-mqm.tsv", "text/tab-separated-values", lambda: marked)
    return files


def _buttons(files: Mapping[str, File], release: Callable[[str], None], place: str = "") -> None:
    """Show one button per file, which is released before it is made."""

    def checked(name: str, make: Callable[[], bytes]) -> bytes:
        release(name)
        return make()

    with st.container(horizontal=True):
        for name, (file_name, kind, make) in files.items():
            st.download_button(
                f"{name} ({file_name})",
                partial(checked, name, spreadsheet_file(file_name, make)),
                file_name,
                kind,
                key=f"results_{place}{name}",
                on_click="ignore",
            )
