"""The parts of the results page: a heading, one sentence, a figure or a table with its n, and where it is explained."""

import json
from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from core.plots import study as plots
from core.results.study.blinding import ORDER, Blinding
from core.results.study.results import (
    FEW_QUESTIONS,
    StudyResults,
    described,
    headline,
    reasons,
    votes_of_pairs,
)
from core.schema.study import StudyRecord
from core.stats.blinding import BlindingIndex
from core.stats.votes import NO_SIDE
from core.study.analysis_set import SCORE_NAMES
from core.study.bundle import write_bundle
from core.study.export import guesses_csv, paper_files, to_csv, to_jsonl, to_paper_zip
from pages.results import tables
from pages.widgets.messages import plain
from pages.widgets.parts import HELP, UNDEFINED, chart, interval, nothing, number, part, percent, table

_STYLE = '<style>[data-testid="stTable"] * { overflow-wrap: normal; word-break: normal; }</style>'


def standing(results: StudyResults) -> None:
    """What the numbers rest on, and what they leave out; with the style sheet of all tables."""
    st.html(_STYLE)
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


def verdict(results: StudyResults) -> None:
    """The verdict in plain words with what limits it, and its picture."""
    bound, found = results.non_inferiority, results.verdict
    score = SCORE_NAMES[results.analysis_set.score]
    part(
        "Verdict",
        f"Is {plain(results.candidate)} worse than {plain(results.comparator)} by more than the margin of "
        f"{bound.margin:g} on the {score}? One-sided confidence level: {percent(bound.confidence_level)}.",
        "non-inferiority",
    )
    first, *limits = headline(results)
    with st.container(border=True):
        name, numbers = first.split(". ", 1)
        st.markdown(f"**{plain(name)}.** {plain(numbers)}")
        if limits:
            st.markdown("\n".join(f"- {plain(line)}" for line in limits))
    if bound.mean is not None:
        gaffke = found.bound if found.method == "gaffke" else None
        chart(
            plots.verdict(bound, gaffke, score=score),
            f"Mean {number(bound.mean)}, lower bound over questions {number(bound.bound_questions)}, over pairs "
            f"{number(bound.bound_pairs)}, deciding bound {number(found.bound)}, margin {number(-bound.margin)}",
            "results_verdict",
        )
        st.markdown(
            f":small[n = {bound.n_pairs} pairs of {bound.n_questions} questions; bars: lower bounds; dots: the mean. The "
            "bound over pairs is that of Factual: it treats the pairs of a question as independent, so it is mostly too "
            "high.]"
        )


def sensitivity(results: StudyResults) -> None:
    """How the verdict depends on what counts."""
    part(
        "Sensitivity",
        "The verdict if the study counted votes in another way, one rule at a time.",
        "sensitivity",
    )
    table(tables.sensitivity(results))


def choices(results: StudyResults) -> None:
    """What each rater chose at each level."""
    part("Choices", "What each rater answered at each level, after decoding the sides.", "choices")
    if not results.overall.n_pairs:
        nothing("no pair has enough votes yet")
        return
    names = plots.preference_names(results.candidate, results.comparator)
    figure = plots.choices(results.per_level, results.raters, names)
    chart(figure, "Stacked bars: answers per level and rater", "results_choices")
    with st.expander("The same as a table"):
        table(tables.choices(results))


def agreement(results: StudyResults) -> None:
    """All coefficients together, overall and per level."""
    part("Agreement", "Do the raters give the same answers? No single number says it, so all stand together.")
    st.markdown(
        "\n".join(
            f"- **{plots.AGREEMENT[field]}**: {sentence} ([how]({HELP}#{anchor}))."
            for field, (anchor, sentence) in tables.AGREEMENT_SENTENCES.items()
        )
    )
    if len(results.raters) < 2 or not results.overall.n_pairs:
        nothing(results.overall.raw_agreement.reason or "no pair has enough votes yet")
        return
    blocks = tables.blocks(results)
    chart(plots.agreement(blocks), "Agreement coefficients with intervals per level", "results_agreement")
    table(tables.agreement(results))
    level = percent(results.overall.raw_agreement.confidence_level)
    st.markdown(
        f":small[In brackets: {level} intervals over questions. Below {FEW_QUESTIONS} questions: jackknife with t. From "
        f"{FEW_QUESTIONS} on: percentile bootstrap, {results.n_resamples} resamples, seed {results.rng}. Both are in the "
        "JSON.]"
    )
    silent = [level for level, block in blocks.items() if tables.measures_nothing(block)]
    if silent:
        st.markdown(
            f"Cohen's kappa is exactly 0 with the interval [0, 0] at {plain(', '.join(silent))}: one rater gave "
            "one and the same answer there, so kappa measures nothing. Read raw agreement and AC1 instead."
        )
    if results.pairwise:
        st.markdown("**Each two raters**")
        table(tables.pairwise(results.pairwise))


def contingency(results: StudyResults) -> None:
    """All four answers of two raters against each other."""
    part(
        "Two raters side by side",
        "How many pairs got which two answers; agreement is on the diagonal.",
        "contingency-table",
    )
    raters = list(results.raters)
    if len(raters) < 2 or not results.overall.n_pairs:
        nothing(results.overall.contingency.reason or "no pair has enough votes yet")
        return
    first, second = raters[:2]
    if len(raters) > 2:
        left, right = st.columns(2)
        first = left.selectbox("Rows", raters, key="results_rows")
        others = [rater for rater in raters if rater != first]
        second = right.selectbox("Columns", others, key="results_columns")
    found = tables.two_raters(results, first, second)
    names = plots.preference_names(results.candidate, results.comparator)
    total = sum(map(sum, found.table or []))
    with st.container(width=620):
        chart(plots.contingency(found, names), tables.in_words(found, names), "results_contingency")
    st.markdown(f":small[n = {total} pairs. Rows: {plain(first)}; columns: {plain(second)}.]")


def composite(results: StudyResults) -> None:
    """The composite score and the four rules for a tie."""
    part(
        "Composite score",
        "A pair's score is the sign of the sum of its votes: +1 for the candidate, -1 for the comparator, "
        "0 for neither; both bad counts 0 like both good.",
        "composite-score",
    )
    _table_or_nothing(results, tables.composite(results))
    part("Ties", "How often no difference was seen; the four rules overlap and do not sum to 1.", "ties")
    _table_or_nothing(results, tables.ties(results.overall.ties))


def power(results: StudyResults) -> None:
    """Power and the sample sizes that follow."""
    part(
        "Power",
        "How many pairs a new study needs to show non-inferiority if both systems are equally good.",
        "power",
    )
    _table_or_nothing(results, tables.plan(results))
    plan = results.power_one_sided
    if plan.design_effect is not None:
        st.markdown(
            f":small[One-sided, {percent(results.non_inferiority.confidence_level)}. The design effect is "
            f"{number(plan.design_effect, 2)} = 1 + (m - 1) rho, with m = {number(plan.pairs_per_question, 1)} pairs a "
            f"question and rho = {number(plan.rho, 2)} in this study.]"
        )
    if results.overall.n_pairs:
        with st.expander("Power at the observed mean"):
            st.markdown("It restates the p-value and says nothing new about this study. Do not plan with it.")
            table(tables.power(results))


def position(results: StudyResults) -> None:
    """Did somebody prefer a side of the screen?"""
    part(
        "Position bias",
        "Did a rater choose the left more often than the right? Both good and both bad are not counted; with many "
        "raters a few are flagged by chance.",
        "position-bias",
    )
    if results.position_overall.n:
        chart(
            plots.position(tables.positions(results)),
            "Share of left per rater with interval",
            "results_position",
        )
    if results.raters:
        table(tables.position(results))
    if results.position_left_out:
        st.markdown(f"Choices left out: {reasons(results.position_left_out)}.")
    if not results.raters:
        nothing(NO_SIDE)


def repeats(results: StudyResults) -> None:
    """Does a rater say the same again?"""
    part(
        "Consistency",
        "Pairs shown twice without saying so, with the sides drawn anew: how often was the answer the same?",
        "consistency",
    )
    if results.raters:
        table(tables.repeats(results))
    else:
        nothing("no pair was answered twice")


def download_files(
    record: StudyRecord, results: StudyResults
) -> dict[str, tuple[str, str, Callable[[], bytes]]]:
    """Label -> name, type and maker of a file: the answers of the whole study, and the results as shown."""
    papers = paper_files(record)
    return {
        "CSV": ("assay-answers.csv", "text/csv", lambda: to_csv(record)),
        "JSONL": ("assay-answers.jsonl", "application/jsonl", lambda: to_jsonl(record)),
        "Paper's votes": ("assay-votes.json", "application/json", lambda: next(iter(papers.values())))
        if len(papers) == 1
        else ("assay-votes.zip", "application/zip", lambda: to_paper_zip(record)),
        "Guesses": ("assay-guesses.csv", "text/csv", lambda: guesses_csv(record)),
        "Results": ("assay-results.json", "application/json", lambda: results_json(results)),
        "Bundle": ("assay-study.zip", "application/zip", lambda: write_bundle(record)),
    }


def downloads(record: StudyRecord, results: StudyResults, release: Callable[[str], None]) -> None:
    """One button a file; `release` is called with its name before a file is made, and raises where it must not."""
    part("Downloads", "The answers of the whole study, without the filters; the results with them.")

    def checked(name: str, make: Callable[[], bytes]) -> bytes:
        release(name)
        return make()

    with st.container(horizontal=True):
        for name, (file_name, kind, make) in download_files(record, results).items():
            st.download_button(
                f"{name} ({file_name})",
                partial(checked, name, make),
                file_name,
                kind,
                key=f"results_{name}",
                on_click="ignore",
            )
    st.markdown(
        ":small[The formats are described in `docs/formats.md`. A bundle holds no links: it opens nothing.]"
    )


def results_json(results: StudyResults) -> bytes:
    """What `study results --json` prints."""
    return (json.dumps(results.to_json(), indent=2, ensure_ascii=False) + "\n").encode()


def _table_or_nothing(results: StudyResults, frame: pd.DataFrame) -> None:
    if results.overall.n_pairs:
        table(frame)
    else:
        nothing("no pair has enough votes yet")


NO_GUESS = "there is no guess which answer the person wrote"
_ANSWERS = {"left": "left", "right": "right", "unsure": "cannot tell"}


def blinding(results: StudyResults) -> None:
    """Reading, indices per rater and overall, the guesses by side, and the comments beside them."""
    found = results.blinding
    part(
        "Blinding",
        f"After their last answer raters see some pairs again and say which of the two a person wrote (here: "
        f"{plain(found.person)}). Bang's index is 0 when they guess, 1 when every guess is right and -1 when every "
        "guess is wrong.",
        "blinding-index",
    )
    if not found.overall.n:
        nothing(NO_GUESS)
    else:
        with st.container(border=True):
            st.markdown(f"**{plain(found.reading)}**")
        table(indices(found))
        level = percent(found.overall.bang.confidence_level)
        st.markdown(
            f":small[In brackets: {level} intervals, of the share exact, of the indices a percentile bootstrap over "
            "questions. Ten guesses of a rater say little; with many raters a few stand out by chance.]"
        )
        with st.expander("By the side on which the person's answer stood"):
            table(by_side(found))
            st.markdown(
                f":small[In brackets: {level} normal intervals. An index near 1 on one side and near -1 on the other "
                "means that a rater always named the same side.]"
            )
    if found.n_left_out:
        st.markdown(f"Guesses left out: {reasons(found.n_left_out)}.")
    if found.comments:
        with st.expander(f"Comments beside the guesses ({len(found.comments)})"):
            for said in found.comments:
                st.markdown(
                    f"{plain(said.rater_id)}, {plain(said.item_id)} at {plain(said.level)}: {plain(said.comment)}"
                )


def indices(found: Blinding) -> pd.DataFrame:
    """One line a rater, then all together."""
    return pd.DataFrame([_line(rater, index) for rater, index in _everybody(found).items()])


def by_side(found: Blinding) -> pd.DataFrame:
    """The counts behind the indices, a line for each rater and side, with Bang's index of that side alone."""
    return pd.DataFrame(
        [
            {"Rater": rater, "Person's answer": side}
            | {f"Guess: {_ANSWERS[guess]}": n for guess, n in zip(ORDER, row, strict=True)}
            | {"Bang's index": _with_ends(alone.estimate, alone.low, alone.high)}
            for rater, index in _everybody(found).items()
            if index.n
            for side, row, alone in zip(
                ("left", "right"), index.table, (index.bang_left, index.bang_right), strict=True
            )
        ]
    )


def _everybody(found: Blinding) -> dict[str, BlindingIndex]:
    name = "all raters"
    while name in found.per_rater:
        name += " together"
    return {**found.per_rater, name: found.overall}


def _line(rater: str, found: BlindingIndex) -> dict[str, str | int]:
    share = found.share_right
    indices = {"Bang's index": found.bang_questions, "James's index": found.james_questions}
    undefined_why = {"Share right": share.reason, **{name: each.reason for name, each in indices.items()}}
    undefined = "; ".join(f"{name}: {reason}" for name, reason in undefined_why.items() if reason)
    return {
        "Rater": rater,
        "Guesses": found.n,
        "Right": share.n_right,
        "Wrong": share.n - share.n_right,
        "Cannot tell": found.n - share.n,
        "Share right": _with_ends(share.share, share.low, share.high),
        **{name: _with_ends(each.estimate, each.low, each.high) for name, each in indices.items()},
        "Note": undefined if found.n else found.bang.reason or "",
    }


def _with_ends(value: float | None, low: float | None, high: float | None) -> str:
    return UNDEFINED if value is None else f"{number(value)} {interval(low, high)}"
