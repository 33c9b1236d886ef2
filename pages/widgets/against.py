"""Choose what scores are correlated with, which texts are left out, and which metrics are lower-is-better."""

from contextlib import nullcontext
from dataclasses import dataclass, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.joining.choices import (
    AS_GIVEN,
    ITEM,
    TableChoice,
    add_directions,
    check_choice,
    chosen_people,
    chosen_table,
    columns_to_leave_out,
    values_to_leave_out,
)
from core.joining.tables import AS_USUAL
from core.results.correlations.paired import People, paired_with_votes
from core.schema.analysis import UseOfRatings
from core.schema.correlating import CorrelateOptions
from core.schema.scores import Direction, RatingSet, ScoreTable
from core.schema.study import Study, StudyRecord
from core.sources.named import StudySource
from core.sources.people import people_of
from core.sources.reading import reading_in
from core.store import Store
from core.store.studies import list_studies
from pages.widgets import address, chosen_scores, settings_form
from pages.widgets.chosen_scores import Key, Scores
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import nothing, places
from pages.widgets.settings_form import Link

_MOST_OFFERED = 5_000
"""Values of a column that a menu can hold."""
_PLURALS = {"system": "systems", ITEM: "items", "language": "languages", "level": "levels"}


def choose_rows(scores: Scores, slot: str) -> Scores:
    """Return the scores without the texts to leave out, with the declared directions; notes show the choice."""
    table = scores.table
    place = f"{slot}_{scores.origin[0]}_{scores.origin[1]}"
    with st.expander("Leave out texts, or mark metrics where lower is better"):
        leave_out = _leave_out(table, place, slot)
        directions = _directions(table, place, slot)
    choice = TableChoice(leave_out, directions)
    if choice == AS_GIVEN:
        return scores
    key = (*scores.key, choice)
    found = _chosen(key, table, choice)
    said = tuple(note for note in found.notes if note not in table.notes)
    chosen_scores.read_notes(said)
    return replace(scores, key=key, table=found, choice=choice, change_notes=said)


def people(scores: Scores, ratings: People, key: Key) -> People:
    """Return the ratings without those of texts left out. key: identifies them. Votes leave pairs out as they meet the scores."""
    if isinstance(ratings, StudyRecord) or not scores.choice.leave_out:
        return ratings
    return _people((*scores.key, *key), ratings, scores)


def scores_and_target(scores: Scores, choice: "Against") -> tuple[Scores, RatingSet | None]:
    """Return the scores and the ratings of their rows; beside the votes of a study of pairs, each row is a pair."""
    if choice.ratings is None:
        return scores, None
    found = people(scores, choice.ratings, choice.key)
    if isinstance(found, StudyRecord):
        table, found = _paired((*scores.key, *choice.key), found, scores.table)
        scores = replace(scores, table=table)
    return scores, found


def _leave_out(table: ScoreTable, place: str, slot: str) -> tuple[tuple[str, str], ...]:
    chosen: list[tuple[str, str]] = []
    # Systems first: that is what most people leave out.
    columns = sorted(columns_to_leave_out(table), key=lambda name: name != "system")
    offered = {name: values for name in columns if len(values := values_to_leave_out(table, name)) > 1}
    for (name, values), where in zip(offered.items(), places(), strict=False):
        many = len(values) > _MOST_OFFERED
        key = address.several(
            chosen_scores.parameter(f"leave-{name}", slot),
            f"metrics_leave_out_{name}_{place}",
            values,
            entered=many,
        )
        gone = where.multiselect(
            f"Leave out {_PLURALS.get(name, plain(name))}",
            st.session_state.get(key, []) if many else values,
            key=key,
            placeholder=f"Enter one of {len(values):,}" if many else "None",
            accept_new_options=many,
            persist_state="session",
        )
        chosen += [(name, value) for value in gone]
    with mistakes_shown():  # in values that were entered
        check_choice(TableChoice(tuple(chosen)), table)
    return tuple(chosen)


def _directions(table: ScoreTable, place: str, slot: str) -> tuple[tuple[str, Direction], ...]:
    """Return the metrics whose direction the user changed."""
    before: dict[str, Direction] = {one.name: one.direction for one in add_directions(table)[0].metrics}
    declared = [name for name, direction in before.items() if direction == "lower"]
    key = f"metrics_lower_is_better_{place}_{len(before)}"
    lower = st.multiselect(
        "Lower is better for",
        list(before),
        key=address.several(chosen_scores.parameter("lower", slot), key, list(before), declared),
        placeholder="No metric",
        persist_state="session",
        help="Such as distances and error rates. Their signs are reversed in every result.",
    )
    after: dict[str, Direction] = {name: "lower" if name in lower else "higher" for name in before}
    return tuple((name, direction) for name, direction in after.items() if direction != before[name])


# Resources, not data: large tables would be copied at every press of a widget. Nobody changes them: they are frozen.
@st.cache_resource(show_spinner=False, max_entries=6)
def _chosen(key: Key, _table: ScoreTable, choice: TableChoice) -> ScoreTable:
    return chosen_table(_table, choice)


@st.cache_resource(show_spinner=False, max_entries=6)
def _people(key: Key, _ratings: RatingSet, _scores: Scores) -> RatingSet:
    return chosen_people(_ratings, _scores.choice, _scores.table)


@st.cache_resource(show_spinner=False, max_entries=6)
def _paired(key: Key, _record: StudyRecord, _table: ScoreTable) -> tuple[ScoreTable, RatingSet]:
    return paired_with_votes(_record, _table)


_FILE = 0
"""Stands for a file of ratings, in place of a study's number."""


@dataclass(frozen=True)
class Against:
    """What the user chose to correlate with."""

    ratings: People | None
    """None: the level."""
    key: Key
    use: UseOfRatings = AS_USUAL


@dataclass(frozen=True)
class Target:
    """What the rows of the scores are correlated with, and how."""

    ratings: RatingSet | None
    """None: the level."""
    key: Key
    use: UseOfRatings
    options: CorrelateOptions

    @property
    def asked(self) -> Key:
        """All that says what is correlated with, and how."""
        return (*self.key, self.use.model_dump_json(), self.options.model_dump_json())


def has_levels(table: ScoreTable) -> bool:
    """Whether any text's quality is known by construction."""
    return any(row.level is not None for row in table.rows)


def choose(
    store: Store, table: ScoreTable, slot: str, *, row: DeltaGenerator, folded: DeltaGenerator
) -> Against | None:
    """Choose the target; None while a file of ratings is missing. row: of the controls; folded: place of rarely used ones."""
    names = {"level": "the damage level", "human": "human ratings"}
    against: str | None = "human"
    if has_levels(table):
        against = row.segmented_control(
            "Against",
            list(names),
            format_func=names.__getitem__,
            required=True,
            key=address.one(
                chosen_scores.parameter("against", slot), f"metrics_against_{slot}", list(names), "level"
            ),
            persist_state="session",
            width="content",
        )
    return human(store, slot, row, folded) if against == "human" else Against(None, ("level",))


def human(
    store: Store, slot: str, row: DeltaGenerator | None = None, folded: DeltaGenerator | None = None
) -> Against | None:
    """Choose people and how their ratings count; None without any. row, folded: as for `choose`; None: here.

    They are those of a stored file of ratings, or of an unblinded study.
    """
    study = _study(store, slot, row)
    if study is None:
        file = chosen_scores.choose_kept(store, "ratings", slot, "Human ratings", row)
        if file is None:
            return None
        found: People = chosen_scores.ratings_of(store, file)
        place = str(file.file_id)
        identity: Key = (file.sha256, bool(file.options.get("lower_is_better")))
    else:
        file = None
        found = people_of(StudySource(study.name), reading_in(store))
        place = f"study_{study.study_id}"
        identity = ("study", study.study_id, chosen_scores.hash_of(found))
    dimensions = (
        [] if isinstance(found, StudyRecord) else list(dict.fromkeys(one.dimension for one in found.ratings))
    )
    named: list[str] = []
    if len(dimensions) > 1:
        key = f"metrics_dimension_{slot}_{place}"
        named = (row or st).multiselect(
            "Dimensions",
            dimensions,
            key=address.several(chosen_scores.parameter("dimension", slot), key, dimensions, dimensions[:1]),
            help="With several, the table shows each of them and their mean per text. Everything else uses the mean.",
        )
        if not named:
            nothing("choose a dimension of the ratings")
            return None
    with folded or nullcontext():
        links = {
            "raters": Link(chosen_scores.parameter("raters", slot)),
            "z_normalise": Link(chosen_scores.parameter("z", slot)),
        }
        used = settings_form.render(UseOfRatings, f"metrics_use_{slot}", without={"dimension"}, links=links)
        if isinstance(found, RatingSet):
            chosen_scores.read_notes(found.notes, found.left_out)
        if file is not None:
            chosen_scores.forget_button(store, file, slot)
    use = UseOfRatings(**used, dimension=tuple(named) or None)
    return Against(found, identity, use)


def _study(store: Store, slot: str, row: DeltaGenerator | None) -> Study | None:
    """Choose an unblinded study; None for a file of ratings, which needs no choice where there is no study."""
    studies = {one.study_id: one for one in list_studies(store) if one.state == "unblinded"}
    if not studies:
        return None
    options = [_FILE, *studies]
    chosen: int = (row or st).selectbox(
        "Ratings from",
        options,
        format_func=lambda number: f"Study {studies[number].name}" if number else "A file",
        key=address.one(chosen_scores.parameter("people", slot), f"metrics_people_{slot}", options, _FILE),
        persist_state="session",
        help="An unblinded study. Of a study of pairs, each row is a pair: the difference of its scores against its mean vote.",
    )
    return studies.get(chosen)
