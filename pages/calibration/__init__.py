"""The page Calibration: judges against human ratings by language, task and dimension, and where not to use them."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import streamlit as st

from core.analyses import analyses_of
from core.joining.choices import dimensions_of
from core.joining.panel import named_people, panel_of
from core.schema.analysis import RatedChoice
from core.schema.settings import Settings
from core.store import Store
from pages.calibration import choice, parts
from pages.widgets import analysis, blind_pair, menus, messages, result_table, visitor
from pages.widgets.chosen_scores import Scores
from pages.widgets.parts import nothing, page, tabs


def render() -> None:
    """Choose ratings and judges, then show how well they agree."""
    with visitor.admin_store() as store:
        page(
            "Calibration",
            "Does a judge agree with people, and where should you not use it?",
            "agreement-with-people",
        )
        blind_pair.style()
        result_table.style()
        messages.news()
        with messages.mistakes_shown():
            _calibration(store)


def _calibration(store: Store) -> None:
    top, above, below = st.container(), st.container(), st.container()
    whose, by_whom = top.columns([2, 3])
    with whose:
        given = choice.ratings(store, below)
        if given is None:
            return
    with by_whom:
        scores = choice.judges(store, given)
    with below:
        choice.upload(store, open_at_first=not scores)
    with above, messages.mistakes_shown():
        if scores:
            _result(store, given, scores, *choice.options(store, given, scores))
            return
        nothing("choose a judge above, or upload a judge's scores below")
        for render_one in _alone(given).values():
            render_one()


def _result(
    store: Store, given: choice.Ratings, scores: Sequence[Scores], chosen: RatedChoice, options: Settings
) -> None:
    answer = analysis.answer_of(choice.CALIBRATE, options, choice.data(store, given, scores, chosen))
    judges = choice.judges_among(given, scores)
    tabs(
        {
            "Agreement": lambda: parts.agreement(answer),
            **{
                each.title: partial(
                    analysis.render, each, partial(_panels, given, scores, judges if each.one_judge else ())
                )
                for each in analyses_of("panel").values()
            },
            **_alone(given),
            "Classes": lambda: parts.classes(answer),
            "Bias": lambda: parts.bias(answer),
            "Split raters": lambda: parts.split_raters(answer),
            "Consistency": lambda: parts.repeats(store, answer, judges),
            "Calibration map": lambda: parts.calibration_map(answer),
            "Where not to use it": lambda: parts.where_not_to_use(answer),
            "Files": lambda: parts.files(answer),
        },
        "calibration_part",
    )


def _panels(
    given: choice.Ratings, scores: Sequence[Scores], judges: Sequence[choice.Judge]
) -> list[analysis.Data]:
    """Choose the dimension of which raters and judges are put side by side. judges: of which one is chosen; empty: all are."""
    one = choice.one_of(judges) if judges else None
    dimension = _dimension(dimensions_of(given.rating_set) if one is None else one.evaluator.columns)
    tables = [each.table for each in scores] if one is None else [one.scores.table]
    named = None if one is None else [one.evaluator.columns[dimension]]
    return [
        analysis.Data(
            (given.key, *(each.key for each in scores), dimension, *(named or ())),
            lambda: panel_of(given.rating_set, tables, judges=named, dimension=dimension),
        )
    ]


def _alone(given: choice.Ratings) -> dict[str, Callable[[], object]]:
    """Title -> part, of what is asked of the raters without a judge."""
    return {
        each.title: partial(analysis.render, each, lambda: [_people(given)])
        for each in analyses_of("people").values()
    }


def _people(given: choice.Ratings) -> analysis.Data:
    """Choose the dimension in which raters are compared with each other."""
    dimension = _dimension(dimensions_of(given.rating_set))
    of_study = given.task is not None  # whoever rates in a study is a person
    return analysis.Data(
        (given.key, "people", dimension),
        lambda: panel_of(
            given.rating_set, raters=None if of_study else named_people(given.rating_set), dimension=dimension
        ),
    )


def _dimension(rated: Iterable[str]) -> str:
    """Choose one of the rated dimensions."""
    names = list(rated)
    return (
        names[0] if len(names) == 1 else menus.one_of(None, "Dimension", names, str, "calibration_dimension")
    )
