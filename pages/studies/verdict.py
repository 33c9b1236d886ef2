"""The first screen of a study of pairs: the verdict as a card, four numbers, their figure, and what limits the verdict."""

from functools import partial

import streamlit as st

from core.errors import counted
from core.plots import study as plots
from core.results.study.results import (
    StudyResults,
    agreement_of_raters,
    described,
    early_caution,
    evidence_lines,
    first_interval,
    limits_said,
    reasons,
    verdict_of,
    verdict_reasons,
    votes_of_pairs,
)
from core.results.study.tables import AGREEMENT
from core.results.study.words import words_of
from core.stats.conclusion import BETTER, NOT_WORSE, WORSE, AnswerValue
from core.stats.non_inferiority import lowest_mean
from core.study.analysis_set import SCORE_NAMES
from core.study.as_seen import translated_notes
from pages.widgets import verdict_card
from pages.widgets.messages import plain
from pages.widgets.parts import chart, explained, number, percent
from pages.widgets.verdict_card import Number, Tone

_MOST_LIMITS = 3
"""Limits of the verdict that the first screen has room for."""


def render(results: StudyResults) -> None:
    """Show the verdict in plain words with its numbers, beside the bounds that decide."""
    left, right = st.columns([11, 9], gap="medium")
    with left:
        explained(f"{_asked(results)} on the {SCORE_NAMES[results.analysis_set.score]}?", "the-answer")
        word = verdict_of(results, verdict_card.name)
        verdict_card.card(tone_of(results), word, verdict_reasons(results))
        verdict_card.numbers(_numbers(results))
    with right:
        _figure(results)
    limits = limits_said(results)
    if limits:
        st.markdown("\n".join(f"- :small[{plain(line)}]" for line in limits[:_MOST_LIMITS]))
    further = limits[_MOST_LIMITS:]
    title = "What was counted, and the numbers in words"
    with st.expander(f"{counted(len(further), 'more limit')}. {title}" if further else title):
        for line in (*further, *evidence_lines(results)):
            st.markdown(plain(line))
        _standing(results)


def tone_of(results: StudyResults) -> Tone:
    """How the verdict turned out; a part of a study has none, and an early look decides before the declared analysis."""
    if results.filtered:
        return "open"
    if results.early is not None:
        return "good" if results.early.reached_after and early_caution(results) is None else "open"
    return tone_of_answer(results.answer.value, results.answer.conclusion.margin)


def tone_of_answer(value: AnswerValue, margin: float | None) -> Tone:
    """How an answer turned out. Without a margin, either system ahead is an answer, and none of the two is bad."""
    if margin is None:
        return "good" if value in (BETTER, WORSE) else "open"
    return "good" if value in (BETTER, NOT_WORSE) else "bad" if value == WORSE else "open"


def _asked(results: StudyResults) -> str:
    """The question of the verdict, without its score."""
    words, margin = words_of(results.answer.votes_mean), results.non_inferiority.margin
    return (words.asks if margin is None else words.asks_margin).format(
        candidate=plain(results.candidate), comparator=plain(results.comparator), margin=margin
    )


def _numbers(results: StudyResults) -> list[Number]:
    """Four numbers: two about the systems, how far raters agree, and the pairs behind them."""
    block, found = results.overall, results.answer.conclusion
    about = _margin_numbers(results) if found.margin is not None else _share_numbers(results)
    people = counted(len(results.raters), "rater")
    pairs = Number("Pairs", f"{block.n_pairs:,}", (counted(block.n_questions, "question"), people))
    if len(results.raters) < 2:
        return [*about, pairs]
    field, agreed = agreement_of_raters(block, len(results.raters))
    ends = first_interval(agreed)
    beside = (
        "no interval"
        if ends is None
        else f"{number(ends[0], 2)} to {number(ends[1], 2)} ({percent(agreed.confidence_level)})"
    )
    return [*about, Number(AGREEMENT[field], number(agreed.estimate, 2), (beside,)), pairs]


def _margin_numbers(results: StudyResults) -> list[Number]:
    found, score = results.answer.conclusion, SCORE_NAMES[results.analysis_set.score]
    ends = (
        f"-1 always {verdict_card.name(results.comparator)}",
        f"+1 always {verdict_card.name(results.candidate)}",
    )
    return [Number(f"Mean {score}", number(found.mean), ends), _bound_of_sentence(results)]


def _bound_of_sentence(results: StudyResults) -> Number:
    """The bound that the card's sentence names, with its level and what it is compared with."""
    found, early, bounds = results.answer.conclusion, results.deciding_look, results.answer.conclusion.bounds
    margin, side = f"margin {number(lowest_mean(found.margin), 2)}", (1 + found.interval_level) / 2
    if early is not None:
        return Number(
            "Lower bound", number(early.bound), (f"{percent(early.confidence_level)}, always valid", margin)
        )
    if bounds is not None and results.answer.value == BETTER:
        return Number("Lower bound", number(bounds.low), (f"{percent(side)}, one-sided", "against 0"))
    if bounds is not None and results.answer.value == WORSE:
        return Number("Upper bound", number(bounds.high), (f"{percent(side)}, one-sided", "against 0"))
    bound = None if bounds is None else bounds.bound
    return Number("Lower bound", number(bound), (f"{percent(found.confidence_level)}, one-sided", margin))


def _share_numbers(results: StudyResults) -> list[Number]:
    """Without a margin: the shares of both, so that neither is the one under test."""
    shares, words = results.answer.shares, words_of(results.answer.votes_mean)
    both = {results.candidate: shares.candidate, results.comparator: shares.comparator}
    return [
        Number(
            words.wins.format(system=verdict_card.name(system)),
            number(None) if share is None else f"{100 * share:.1f} %",
            ("of pairs",),
        )
        for system, share in both.items()
    ]


def _figure(results: StudyResults) -> None:
    """The figure of what decides."""
    bound, found = results.non_inferiority, results.answer.conclusion
    score, systems = SCORE_NAMES[results.analysis_set.score], (results.candidate, results.comparator)
    show = partial(chart, key="figure_verdict", file_name="assay-verdict")
    if results.early is not None and not results.filtered:
        early = results.early
        show(plots.early(early), f"Lower bound {number(early.bound)} after {early.n_entered} questions")
    elif found.mean is None or found.bounds is None:
        return
    elif found.margin is None:
        show(
            plots.two_sided(found, score=score, systems=systems),
            f"Mean {number(found.mean)}, interval {number(found.bounds.low)} to {number(found.bounds.high)}",
        )
    else:
        decides = found.bounds.low_method == "gaffke" and found.gaffke is not None
        by_gaffke = found.gaffke.bound if decides and found.gaffke is not None else None
        show(
            plots.verdict(bound, by_gaffke, score=score, systems=systems),
            f"Mean {number(bound.mean)}, lower bound over questions {number(bound.bound_questions)}, over pairs "
            f"{number(bound.bound_pairs)}, deciding bound {number(found.bounds.bound)}, margin {number(lowest_mean(found.margin))}",
        )


def _standing(results: StudyResults) -> None:
    """Show what was counted and what was left out."""
    block = results.overall
    st.markdown(
        f"{counted(block.n_pairs, 'pair')} on {counted(block.n_questions, 'question')} from "
        f"{counted(results.answers_used, 'answer')} of {counted(len(results.raters), 'rater')}. "
        f"Pairs left out: {plain(reasons(block.n_left_out))}. Answers left out: {plain(reasons(results.answers_left_out))}."
    )
    translated = translated_notes(results.answers_translated, results.answers_used, "votes")
    said = (described(results), votes_of_pairs(results), *translated)
    st.markdown(f":small[{plain(' '.join(said))}]")
