"""Every metric and judge of the study's texts: which follows the level, and which agrees with the raters?"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import streamlit as st

from core.analyses.followed import ANALYSIS as FOLLOWED
from core.analyses.followed import Followed, VotesOptions
from core.analyses.votes import ANALYSIS as VOTES
from core.analyses.votes import Votes, so_far
from core.errors import counted
from core.joining.choices import dimensions_of
from core.report import written
from core.results.study.counted import Counted, Filters, count
from core.results.study.pair_list import PairFilter
from core.runs.scoring import undefined_scores
from core.schema.analysis import Answer
from core.schema.figures import AnyFigure, Axis, Dots
from core.schema.scores import ScoreTable
from core.schema.study import Study, StudyRecord, StudyTexts
from core.sources.studies import texts_of
from core.store import Store
from core.store.raters import raters_of
from core.store.studies import get_study, read_log
from core.study.analysis_set import released_record
from core.study.masking import mask_systems
from core.study.ratings import rating_set_of
from pages.studies import scoring
from pages.studies.analysed import files_of_now, holds_people
from pages.tabs import study_scores
from pages.widgets import address, chosen_scores, open_study, side_by_side, visitor
from pages.widgets.chosen_scores import Chosen, Key, Scores
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import explained, told_apart
from pages.widgets.side_by_side import Choice

_SECTION = "statistics#metrics-against-votes"
_WHILE_MOVING = ("metric", "agreement", "follows", "pairs", "family")
_COLUMNS = ("metric", "agreement", "follows", "with_ties", "people", "gap", "pairs", "family")
"""Of the table of votes, those that the page shows, in this order; its files have all."""
_MOST_REASONS = 3
_FOLLOWED = "Estimates follow the run. Intervals, tests and the other columns come when it stops."


def render(store: Store, study: Study) -> None:
    """Show them, again and again while a run is at work; or the button that scores the texts."""
    names = study_scores.fitting(store, study)
    if not names:
        scoring.first(store, study)
    else:
        several = study_scores.chosen(study, names)
        moving = any(one.moving for one in study_scores.opened(store, study, several))
        st.fragment(_again, run_every=chosen_scores.TICK if moving else None)(
            study.study_id, tuple(several), moving
        )
    scoring.more(store, study, names)


def _again(study_id: int, several: Sequence[Chosen], moving: bool) -> None:
    with ExitStack() as block:
        store = block.enter_context(visitor.admin_store())
        block.enter_context(mistakes_shown())
        block.enter_context(address.kept("judges_live"))
        study = get_study(store, study_id)
        block.enter_context(files_of_now(store, study))
        scores = study_scores.opened(store, study, several)
        if any(one.moving for one in scores) != moving:
            st.rerun()  # the clock starts or stops
        if moving:
            chosen_scores.never_pale()
        scoring.progress(store, scores)
        scored = [one for one in scores if one.table.rows]
        if not scored:
            if not several:
                st.markdown("Choose scores below.")
            elif not moving:  # the runs ended without a score: offer a new one
                scoring.first(store, study)
        elif study.state != "unblinded":
            _closed(store, study, scored, moving)
        elif study.kind == "ratings":
            _ratings(store, study, scored, moving)
        else:
            _votes(store, study, scored, moving)
        _missing(scored)


def _votes(store: Store, study: Study, scores: Sequence[Scores], moving: bool) -> None:
    """Show the metrics beside the votes."""
    record, key = _record(store, study)
    options = VotesOptions()
    tables = [one.table for one in scores]

    def computed() -> Votes:
        if moving:
            return so_far(record, tables, _counted(key, record))
        with st.spinner("Resampling questions ..."):
            found: Votes = VOTES.answer(options, record, tables).result
            return found

    found = chosen_scores.once(("votes of a study", key, _key(scores), moving), computed)
    order = _order(study, moving, {one.metric: one.agreement.value for one in found.metrics})
    found = replace(found, metrics=tuple(sorted(found.metrics, key=lambda one: order.index(one.metric))))
    answer = Answer(VOTES, options, found)
    explained(_FOLLOWED if moving else f"**{plain(answer.verdict)}**", _SECTION)

    def beneath(judge: str) -> None:
        chosen = next(one for one in found.metrics if one.metric == judge)
        _differ(study, judge, chosen.differ, chosen.agreement.n or 0)

    columns: tuple[str, ...] = _WHILE_MOVING if moving else _COLUMNS
    people = {one.people for one in found.metrics}
    if not moving and len(people) == 1:  # said once, not in every row
        columns = tuple(name for name in columns if name != "people")
        column = next(one for one in answer.tables["votes"].columns if one.name == "people")
        st.markdown(f":small[Two raters agree on {plain(written(people.pop(), column))} of the pairs.]")
    _side_by_side(study, answer, "votes", moving, columns, beneath)
    if found.meta.caution:
        st.markdown(f":small[{plain(found.meta.caution)}]")


def _differ(study: Study, judge: str, differ: int, n: int) -> None:
    """Say on how many pairs the chosen judge and the raters differ, and lead there."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"{plain(judge)} and the raters differ on {differ} of {counted(n, 'pair')} with a winner.",
            width="content",
        )
        if st.button(
            "Show these pairs",
            key=f"study_judge_pairs_{study.study_id}",
            disabled=not differ,
            on_click=partial(open_study.show_pairs, study.study_id, PairFilter(judge=judge)),
        ):
            st.rerun()


def _closed(store: Store, study: Study, scores: Sequence[Scores], moving: bool) -> None:
    """Show what needs no votes, for a study that is not unblinded."""
    # A table that was added may have a column named after a system.
    tables = [_hidden(study, one.table) for one in scores]
    st.markdown(
        "The votes stay closed until you unblind the study. Metrics read the answers without their systems' names."
    )
    key = ("levels of a study", study.study_id, study.created_utc, _key(scores))
    _followed(study, key, lambda: texts_of(store, study), tables, moving)


def _hidden(study: Study, table: ScoreTable) -> ScoreTable:
    """The table with no system in the names of its metrics, until the study is unblinded."""
    names = told_apart(mask_systems(study, metric.name) for metric in table.metrics)
    metrics = tuple(replace(metric, name=name) for metric, name in zip(table.metrics, names, strict=True))
    return replace(table, metrics=metrics)


def _followed(
    study: Study,
    key: Key,
    read: Callable[[], StudyTexts | StudyRecord],
    tables: Sequence[ScoreTable],
    moving: bool,
    dimension: str | None = None,
) -> None:
    """Show what the metrics follow. read: returns the study, without answers while it is not unblinded."""
    options = VotesOptions(dimension=dimension)
    if moving:  # intervals come when the run stops
        options = options.but(n_resamples=0)

    def computed() -> Followed:
        found: Followed = FOLLOWED.answer(options, read(), tables).result
        return found

    found = chosen_scores.once((*key, options.model_dump_json()), computed)
    order = _order(study, moving, {one.metric: getattr(one, found.by).value for one in found.metrics})
    found = replace(found, metrics=tuple(sorted(found.metrics, key=lambda one: order.index(one.metric))))
    _side_by_side(study, Answer(FOLLOWED, options, found), "followed", moving)
    if found.meta is not None and found.meta.caution:
        st.markdown(f":small[{plain(found.meta.caution)}]")


def _ratings(store: Store, study: Study, scores: Sequence[Scores], moving: bool) -> None:
    """Show the metrics beside the ratings of one dimension."""
    record, key = _record(store, study)
    dimensions = dimensions_of(rating_set_of(record))
    dimension = dimensions[0] if dimensions else None
    if len(dimensions) > 1:
        dimension = st.selectbox(
            "Dimension",
            dimensions,
            key=address.one(
                "dimension",
                f"study_judges_dimension_{study.study_id}",
                dimensions,
                dimensions[0],
                lambda name: str(dimensions.index(name) + 1),
            ),
        )
    tables = [one.table for one in scores]
    _followed(study, ("ratings of a study", key, _key(scores)), lambda: record, tables, moving, dimension)


def _side_by_side(
    study: Study,
    answer: Answer,
    name: str,
    moving: bool,
    columns: Sequence[str] = (),
    beneath: Callable[[str], None] | None = None,
) -> None:
    """Show the table beside its figure; a row and a dot choose the same judge. beneath: draws what is about the chosen judge."""
    metrics = [one.metric for one in answer.result.metrics]
    place = _judge_place(study)
    if study.state == "unblinded":
        address.one("judge", place, metrics, None, open_study.judge_code)
    chosen: str | None = st.session_state.get(place)

    def choose(judge: str) -> None:
        st.session_state[place] = judge

    def below() -> None:
        if beneath is None:
            return
        if chosen is not None and chosen in metrics:
            beneath(chosen)
        else:
            st.markdown(":small[Press a row or a dot to see where that judge and the raters differ.]")

    side_by_side.show(
        answer,
        name,
        f"study_judges_{study.study_id}",
        Choice(chosen, choose),
        figure=_steady(study, answer.figures.get(name), moving),
        columns=columns,
        files=not moving,
        beneath=below,
    )


def _steady(study: Study, figure: AnyFigure | None, moving: bool) -> AnyFigure | None:
    """The figure with axes that only grow while a run is at work."""
    place = f"study_judges_axes_{study.study_id}"
    if not isinstance(figure, Dots):
        return figure
    before = st.session_state.get(place) if moving else None
    if before is not None:
        figure = replace(
            figure, x_axis=_joined(figure.x_axis, before[0]), y_axis=_joined(figure.y_axis, before[1])
        )
    st.session_state[place] = (figure.x_axis, figure.y_axis)
    return figure


def _joined(one: Axis, before: Axis) -> Axis:
    lows, highs = (
        [end for end in ends if end is not None] for ends in ((one.low, before.low), (one.high, before.high))
    )
    return replace(one, low=min(lows), high=max(highs))


def _order(study: Study, moving: bool, values: Mapping[str, float | None]) -> list[str]:
    """The metrics, the best first; while a run is at work in the order of the first look, so that no row jumps."""
    place = f"study_judges_order_{study.study_id}"
    best = sorted(values, key=lambda name: 2.0 if (value := values[name]) is None else -value)
    before: list[str] = st.session_state.get(place, []) if moving else []
    order = [name for name in before if name in values]
    order += [name for name in best if name not in order]
    st.session_state[place] = order
    return order


def _missing(scores: Sequence[Scores]) -> None:
    """Say how many scores are missing, and why."""
    missing: dict[str, int] = {}
    for one in scores:
        for (_, reason), n in undefined_scores(one.table).items():
            missing[reason] = missing.get(reason, 0) + n
    if missing:
        most = sorted(missing.items(), key=lambda one: -one[1])[:_MOST_REASONS]
        listed = "; ".join(f"{plain(reason)} ({n:,})" for reason, n in most)
        st.markdown(f":small[{counted(sum(missing.values()), 'score')} missing: {listed}]")


def _key(scores: Sequence[Scores]) -> Key:
    """What changes with the scores, and with the metrics of each: fewer where a newer run scored the same."""
    return tuple((*one.key, *(metric.name for metric in one.table.metrics)) for one in scores)


def _judge_place(study: Study) -> str:
    return f"study_judge_{study.study_id}"


def _record(store: Store, study: Study) -> tuple[StudyRecord, Key]:
    """The record of an unblinded study, and what changes with it: raters that are left out, and the log."""
    raters = tuple(raters_of(store, study.study_id))
    key = (study.study_id, study.created_utc, hash((study, raters, len(read_log(store, study.study_id)))))
    return _read(key, store, study), key


@holds_people
@st.cache_resource(show_spinner=False, max_entries=3)
def _counted(key: Key, _record: StudyRecord) -> Counted:
    return count(_record, Filters())


@holds_people
@st.cache_resource(show_spinner=False, max_entries=3)
def _read(key: Key, _store: Store, _study: Study) -> StudyRecord:
    return released_record(_store, _study)
