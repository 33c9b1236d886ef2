"""What is checked: labels from a file, an unblinded study or a run, further judges, the columns, the use and its limits."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.formats.panel.judge_files import judge_scores
from core.joining.choices import dimension_said, dimensions_of
from core.results.check.facts import facts_of_tables
from core.results.check.options import DEFAULT_OPTIONS, LIMITS, CheckOptions, Use
from core.results.check.verdict import Check, JudgeFacts, check_panel, default_use
from core.runs.asked import asked_of
from core.runs.kinds import KINDS
from core.schema.analysis import PanelChoice
from core.schema.panel import Panel, TextBeside
from core.schema.runs import Run
from core.schema.scores import ScoreTable
from core.schema.settings import SettingField, fields_of
from core.schema.study import Study
from core.sources.judges import facts_of
from core.sources.named import FileSource, RunSource, Source, StudySource, parse_source
from core.sources.panel import Judge, margins_of, panel_of_source, texts_beside_panel
from core.sources.reading import SourceReader, reading_in
from core.sources.texts import texts_file
from core.stats.resampling import Floats
from core.store import Store
from core.store.runs import run_data
from core.store.studies import list_studies
from core.study.analysis_set import released_record
from core.study.ratings import rating_set_of
from core.tables.reading import sha256_of
from pages.check import columns, example
from pages.widgets import address, chosen_judge, chosen_scores, menus
from pages.widgets.chosen_scores import Chosen, Key, Scores
from pages.widgets.messages import plain
from pages.widgets.parts import nothing

Found = TypeVar("Found")
_FILE = "file"
_MAIN, _FURTHER, _ROUND, _USE = "check_file", "check_further", "check_round", "check_example_use"
"""Where the session stores the uploaded file, further judges' files, the number of uploads so far, and the use that an
example begins with."""
_MOST_MB = 100
_USES: dict[Use, tuple[str, str]] = {
    "replace": ("Replace a rater", "It takes the place of a rater."),
    "gate": ("Gate answers", "It decides about single answers."),
    "rank": ("Rank systems", "It decides which system is better."),
    "monitor": ("Monitor a mean", "Its mean is followed over time."),
    "certify": (
        "Certify a system",
        "With people's labels, it shows how many of a system's answers are good.",
    ),
}
_CHOICES: Mapping[str, Sequence[Any]] = {
    "margin": (0.02, 0.05, 0.1, 0.15, 0.2),
    "epsilon": (0.1, 0.15, 0.2, 0.3),
    "most_false_passes": (None, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3),
    "most_false_fails": (None, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3),
    "missing_judge": ("wrong", "leave-out"),
    "labels_chosen": (None, "at-random", "by-judge"),
    "accuracy": (0.7, 0.8, 0.9),
    "tolerance": (0.02, 0.05, 0.1),
    "target": (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99),
    "population": ("like-these", "these"),
}
"""Setting -> the values that the page offers."""
_STEPS_OF_SCORES = 11
"""Scores from which an answer may be good, evenly spaced: tenths of the scale."""


@dataclass(frozen=True)
class Given:
    """What is checked, before it is read."""

    key: Key
    """Changes with anything that the panel depends on."""
    read: Callable[[], Panel]
    command: tuple[str, ...]
    """Words of the command that reads the same, behind `check`."""
    texts: Callable[[], tuple[bytes, str]]
    """A file with the texts, and its name."""
    beside: Callable[[], Sequence[TextBeside]]
    """What is known about the texts beside labels, such as the judge's reasons."""
    facts: Callable[[Panel], Mapping[str, JudgeFacts]]
    """Consistency, price, time and model of the judges."""
    study: Study | None = None
    """The study whose ratings or votes are the labels."""
    of_pairs: tuple[Run, ...] = ()
    """Runs of judges that compared the study's pairs."""
    runs: tuple[Run, ...] = ()
    """Runs of the judges; the table of run 3 is named `run:3`."""
    use: Use | None = None
    """The use to begin with, where an example asks about it; None: the usual one for such labels."""
    may_be_judges: tuple[str, ...] = ()
    """Columns that may be a judge's, where no judge was found."""
    margins: Callable[[], Floats] | None = None
    """Of a study of pairs: how far each judge's scores of the answers of a pair are apart, shape (pairs, judges)."""


def given(store: Store) -> Given | None:
    """Choose what is checked; None, with the form on the page, while something is missing."""
    studies = {f"study:{study.name}": study for study in list_studies(store) if study.state == "unblinded"}
    runs = {
        f"run:{number}": run
        for number, run in chosen_judge.with_results(store, *chosen_judge.judges_of("rated texts")).items()
    }
    judges = chosen_scores.named(store)
    source, right = _FILE, st.container()
    asked = {name for name in ("study", "run") if name in st.query_params}
    if studies or runs or judges or asked:
        left, right = right.columns(2, vertical_alignment="bottom")
        with left:
            source = _source(studies, runs)
    stored = partial(_stored_judges, store, judges, _rated(store, studies.get(source)), source)
    if source in studies:
        with right:
            chosen = stored()
        return _of_study(store, studies[source], chosen)
    if source in runs:
        return _of_run(store, runs[source], right, stored)
    return _of_file(store, right, stored)


def _source(studies: dict[str, Study], runs: dict[str, Run]) -> str:
    """Choose where the labels come from: `file`, `study:NAME` or `run:N`, as a command names them."""
    by_name = {"study": [*studies], "run": [*runs]}
    # The one in the address is read last: the other one's absence must not undo it.
    for name in sorted(by_name, key=lambda one: one in st.query_params):
        address.one(
            name,
            menus.CHECKED,
            by_name[name],
            _FILE,
            partial(_code, name),
            gone=f"This link leads to a {name} that is not here"
            + (", or that is not unblinded yet." if name == "study" else "."),
        )
    return menus.menu(
        "Labels from",
        [_FILE, *studies, *runs],
        menus.CHECKED,
        lambda one: (
            "A file"
            if one == _FILE
            else f"Study {studies[one].name}"
            if one in studies
            else menus.name_of(runs[one])
        ),
    )


def _code(kind: str, one: str) -> str:
    """What the address says for a study or a run; empty for what is of another kind."""
    source = parse_source(one)
    if isinstance(source, StudySource):
        return source.name if kind == "study" else ""
    return str(source.number) if isinstance(source, RunSource) and kind == "run" else ""


def _rated(store: Store, study: Study | None) -> set[str]:
    """Items that people rated in the study."""
    if study is None:
        return set()
    record = released_record(store, study)
    if study.kind == "pairs":
        return {item.item_id for item in record.items}
    return {one.item_id for one in rating_set_of(record).ratings}


@dataclass(frozen=True)
class _Judges:
    """Judges whose scores are not in the file of the labels."""

    tables: tuple[ScoreTable, ...] = ()
    """Of runs and stored files. The table of run 3 is named `run:3`, by which its cost is found."""
    runs: tuple[Run, ...] = ()
    words: tuple[str, ...] = ()
    """What a command calls them."""
    keys: tuple[Key, ...] = ()
    files: tuple[tuple[bytes, str, str], ...] = ()
    """Uploaded: contents, name and hash."""

    @property
    def key(self) -> Key:
        return (self.keys, tuple(sha for _, _, sha in self.files))

    @property
    def all_words(self) -> tuple[str, ...]:
        return (*self.words, *(name for _, name, _ in self.files))

    @property
    def scores(self) -> list[Judge]:
        """What a panel reads beside its raters."""
        return [*self.tables, *(FileSource(name, data) for data, name, _ in self.files)]

    @property
    def sources(self) -> list[Source]:
        """Runs and uploaded files, which may say more of the texts than scores."""
        runs = (RunSource(run.run_id) for run in self.runs)
        return [*runs, *(FileSource(name, data) for data, name, _ in self.files)]


def _stored_judges(store: Store, judges: dict[Chosen, str], rated: set[str], source: str) -> _Judges:
    """Choose runs and stored tables of scores as judges; with a study, at first the newest run on its texts."""
    if not (judges or rated or "judge" in st.query_params):
        return _Judges()
    place = f"check_judges_{source}"
    default = _newest_on(store, judges, rated) if rated and place not in st.session_state else []
    address.several("judge", place, [*judges], default, chosen_scores.code)
    chosen: list[Chosen] = st.multiselect(
        "Judges" if rated else "Further judges",
        [*judges],
        format_func=judges.__getitem__,
        key=place,
        placeholder="Runs of judges and stored scores",
        help="Runs of the pages Judges, Specialist and Metrics, and tables of scores that were uploaded there.",
    )
    return _joined([chosen_scores.open_scores(store, one) for one in chosen if one in judges])


def _joined(opened: Sequence[Scores]) -> _Judges:
    words = [one.table.file_name if one.run is None else f"run:{one.run.run_id}" for one in opened]
    return _Judges(
        tuple(replace(one.table, file_name=word) for one, word in zip(opened, words, strict=True)),
        tuple(one.run for one in opened if one.run is not None),
        tuple(words),
        tuple(one.key for one in opened),
    )


def _newest_on(store: Store, judges: dict[Chosen, str], rated: set[str]) -> list[Chosen]:
    newest = chosen_scores.newest_on(store, [one for one in judges if one[0] == chosen_scores.RUN], rated)
    return [] if newest is None else [newest]


# --- sources -----------------------------------------------------------------------------------


def _of_study(store: Store, study: Study, judges: _Judges) -> Given | None:
    record = released_record(store, study)
    ratings = rating_set_of(record) if study.kind == "ratings" else None
    judges = _added(_row(st.container()), lambda: judges)
    if ratings is None and not judges.tables and not judges.files:
        nothing("choose a judge above, or add a file with its scores")
        return None
    named = (
        (one.rater_id for one in record.raters)
        if ratings is None
        else (one.rater or "" for one in ratings.ratings)
    )
    everyone = list(dict.fromkeys(named))
    known = [] if ratings is None else list(dimensions_of(ratings))
    place = f"check_raters_{study.study_id}"
    address.several("human", place, everyone, everyone)
    with st.expander("Raters and dimension" if len(known) > 1 else "Raters"):
        left, right = st.columns(2)
        people = left.multiselect("Raters", everyone, key=place)
        dimension = columns.dimension_menu(right, known, f"check_dimension_{study.study_id}")
    if not people:
        nothing("choose raters")
        return None
    marked = (record.answers, record.raters) if ratings is None else ratings.ratings

    of_pairs = tuple(run for run in judges.runs if ratings is None and "pairs" in KINDS[run.kind].reports)

    source, reading = StudySource(study.name), reading_in(store)
    who = PanelChoice(human=None if people == everyone else tuple(people), dimension=dimension)
    return Given(
        key=(
            *("study", study.study_id, hashlib.sha256(repr(marked).encode()).hexdigest()),
            *(tuple(people), dimension, judges.key),
        ),
        read=lambda: panel_of_source(source, judges.scores, who, reading, find=True),
        command=(
            source.written,
            *judges.all_words,
            *(() if people == everyone else ("--human", ",".join(people))),
            *(() if dimension is None else ("--dimension", dimension)),
        ),
        texts=lambda: texts_file(source, reading)[0],
        beside=lambda: list(texts_beside_panel(source, judges.sources, reading)),
        facts=partial(_facts, reading, judges.sources, dimension),
        study=study,
        of_pairs=of_pairs,
        runs=judges.runs,
        margins=(lambda: margins_of(source, judges.scores, who, reading)) if ratings is None else None,
    )


def _row(place: DeltaGenerator) -> DeltaGenerator:
    return place.container(horizontal=True, vertical_alignment="bottom")


def _of_run(store: Store, run: Run, place: DeltaGenerator, stored: Callable[[], _Judges]) -> Given:
    own = _joined([chosen_scores.open_scores(store, (chosen_scores.RUN, run.run_id))])
    row = _row(place)
    judges = _added(row, stored)
    data, name = run_data(store, run.run_id), Path(run.data_file).name
    dimension: str | None = getattr(asked_of(run).chosen, "dimension_scored", None)
    if dimension is None:
        rated = columns.dimensions_in(data, name)
        metrics = [metric.name for table in own.tables for metric in table.metrics]
        scored = [one for one in rated if any(dimension_said(metric, (one,)) for metric in metrics)]
        dimension = columns.dimension_menu(row, scored or rated, f"check_dimension_run_{run.run_id}")
    scale = columns.choose_scale(row, f"check_run_{run.run_id}")
    source, reading = RunSource(run.run_id), reading_in(store)
    return Given(
        key=("run", own.key, judges.key, dimension, scale.declared, scale.repeated),
        read=lambda: panel_of_source(
            source,
            judges.scores,
            PanelChoice(dimension=dimension, repeated=scale.repeated),
            reading,
            find=True,
            declared=scale.declared,
        ),
        command=(
            *own.words,
            *judges.all_words,
            *(() if dimension is None else ("--dimension", dimension)),
            *scale.words,
        ),
        texts=lambda: (data, name),
        beside=lambda: list(texts_beside_panel(source, judges.sources, reading)),
        facts=partial(_facts, reading, (source, *judges.sources), dimension),
        runs=(*own.runs, *judges.runs),
    )


def _of_file(store: Store, place: DeltaGenerator, stored: Callable[[], _Judges]) -> Given | None:
    kept: tuple[bytes, str] | None = st.session_state.get(_MAIN)
    if kept is None:
        _upload_main()
        example.render(_take)
        return None
    data, file_name = kept
    row = place.container(horizontal=True, vertical_alignment="center")
    with row:
        st.markdown(f"**{plain(file_name)}**", width="content")
        if st.button("Another file", key="check_another", icon=":material/upload_file:"):
            _forget()
            st.rerun()
    judges = _added(row, stored)
    others = [metric.name for table in judges.tables for metric in table.metrics]
    for one, name, sha in judges.files:
        others += chosen_scores.once(("judges in", sha, name), partial(_judges_in, one, name))
    scale = columns.choose_scale(row, f"check_{sha256_of(data)[:12]}")
    read_as = columns.choose(data, file_name, others)
    if read_as is None:
        return None
    source, reading = FileSource(file_name, read_as.applied(data, file_name)), reading_in(store)
    who = PanelChoice(
        human=tuple(read_as.human) or None,
        judge=tuple(read_as.judges) or None,
        dimension=read_as.dimension,
        item=read_as.item,
        repeated=scale.repeated,
    )
    return Given(
        key=("file", sha256_of(data), file_name, judges.key, read_as, scale.declared, scale.repeated),
        read=lambda: panel_of_source(
            source,
            judges.scores,
            who,
            reading,
            find=True,
            people_alone=read_as.people_alone,
            declared=scale.declared,
        ),
        command=(file_name, *judges.all_words, *read_as.words(), *scale.words),
        texts=lambda: texts_file(source, reading)[0],
        beside=lambda: list(texts_beside_panel(source, judges.sources, reading)),
        facts=partial(_facts, reading, judges.sources, read_as.dimension),
        runs=judges.runs,
        use=st.session_state.get(_USE),
        may_be_judges=read_as.candidates,
    )


def _judges_in(data: bytes, file_name: str) -> list[str]:
    return [metric.name for metric in judge_scores(data, file_name).metrics]


def _facts(
    reading: SourceReader, sources: Sequence[Source], dimension: str | None, panel: Panel
) -> Mapping[str, JudgeFacts]:
    """Consistency, price, time and model of the judges, from columns of the panel and from the runs among them."""
    return facts_of_tables(panel, facts_of(sources, reading, dimension))


def _upload_main() -> None:
    upload = st.file_uploader(
        "Labels, with the judge's scores if they are in the same file",
        None,
        key=f"check_upload_{st.session_state.get(_ROUND, 0)}",
        max_upload_size=_MOST_MB,
    )
    if upload is not None:
        _take(upload.getvalue(), upload.name)


def _take(data: bytes, file_name: str, use: Use | None = None) -> None:
    """Check this file from now on. It is kept in the visitor's session alone. use: the one to begin with."""
    st.session_state[_MAIN] = (data, file_name)
    st.session_state[_USE] = use
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    st.rerun()


def _forget() -> None:
    for place in (_MAIN, _FURTHER):
        st.session_state.pop(place, None)


def _added(row: DeltaGenerator, stored: Callable[[], _Judges]) -> _Judges:
    """Choose stored judges, and upload further judges' scores. row: place of the controls."""
    kept: tuple[tuple[bytes, str, str], ...] = st.session_state.setdefault(_FURTHER, ())
    with row, st.popover("Add a judge", icon=":material/add:"):
        chosen = stored()
        uploads = st.file_uploader(
            "Scores of further judges for the same items",
            None,
            accept_multiple_files=True,
            key=f"check_more_{st.session_state.get(_ROUND, 0)}",
            max_upload_size=_MOST_MB,
        )
    if kept:
        row.markdown(", ".join(plain(name) for _, name, _ in kept), width="content")
        if row.button("Remove", key="check_remove", type="tertiary"):
            st.session_state[_FURTHER] = ()
            st.rerun()
    if uploads:
        new = ((data, one.name, sha256_of(data)) for one in uploads if (data := one.getvalue()))
        st.session_state[_FURTHER] = tuple(dict.fromkeys([*kept, *new]))
        st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
        st.rerun()
    return replace(chosen, files=kept)


# --- use and limits ----------------------------------------------------------------------------


def panel(one: Given) -> Panel:
    """Return raters and judges side by side, read once."""
    with st.spinner("Reading ..."):
        return once(("panel", *one.key), one.read)


def options(one: Given, found: Panel, place: DeltaGenerator) -> CheckOptions:
    """Choose the use and its limits."""
    usual = one.use or default_use(found)
    with place:
        use: Use | None = st.segmented_control(
            "Use of the judge",
            list(_USES),
            format_func=lambda one: _USES[one][0],
            required=True,
            key=address.one("use", f"check_use_{usual}", list(_USES), usual),
            persist_state="session",
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":small[{_USES[use or usual][1]}]", width="content")
            with st.popover("Limits", type="tertiary"):
                return _limits(CheckOptions(use=use or usual), found)


def _worded(field: SettingField, value: float | str | None) -> str:
    return field.word("" if value is None else f"{value:g}" if isinstance(value, float) else value)


def _limits(chosen: CheckOptions, found: Panel) -> CheckOptions:
    """The limits of the use; settings that need text or are rare stay with the command."""
    fields = fields_of(CheckOptions)
    use = chosen.use or default_use(found)
    ratings = _ratings_that_pass(found) if use == "certify" else ()
    for name, values in {**_CHOICES, "passes_from": ratings}.items():
        if name not in LIMITS[use] or not values:
            continue
        one = fields[name]
        # No rating passes by itself: the page shows the best one until another is chosen.
        default = values[-1] if name == "passes_from" else getattr(DEFAULT_OPTIONS, name)
        place = address.one(
            name, f"check_{name}", values, default, lambda value: "" if value is None else f"{value}"
        )
        value = st.selectbox(
            one.about.label,
            values,
            format_func=partial(_worded, one),
            key=place,
            help=f"{one.about.help[:1].upper()}{one.about.help[1:]}",
            persist_state="session",
        )
        chosen = chosen.but(**{name: value})
    return chosen


def _ratings_that_pass(found: Panel) -> tuple[str, ...]:
    """Ratings that may be the lowest of a good answer, lowest first; none for two classes, which say it themselves."""
    scale = found.scale
    if scale.kind == "two":
        return ()
    if scale.classes:  # if the lowest passed, all would
        return tuple(scale.name(value) for value in (scale.classes[1:] if scale.ordered else scale.classes))
    low, high = scale.ends or (float(np.nanmin(found.ratings)), float(np.nanmax(found.ratings)))
    return tuple(dict.fromkeys(f"{value:g}" for value in np.linspace(low, high, _STEPS_OF_SCORES)[1:]))


def checked(one: Given, found: Panel, chosen: CheckOptions) -> Check:
    """Return the check, computed once."""
    with st.spinner("Checking ..."):
        return once(("check", *one.key, chosen), lambda: check_panel(found, chosen, facts=one.facts(found)))


# A resource, not data: a large panel would be copied at every press of a widget. Nobody changes it: it is frozen.
@st.cache_resource(show_spinner=False, max_entries=24)
def _kept(question: Key, _compute: Callable[[], object]) -> object:
    return _compute()


def once(question: Key, compute: Callable[[], Found]) -> Found:
    """Return the answer to a question that says all that it depends on, computed once."""
    return cast("Found", _kept(question, compute))


def arguments(one: Given, found: Check) -> list[str]:
    """Return the words of the command that gives the same result."""
    words = ["check", *one.command, "--use", found.use]
    fields = fields_of(CheckOptions)
    for name in LIMITS[found.use]:
        value = getattr(found.options, name)
        if value != getattr(DEFAULT_OPTIONS, name):
            words += [fields[name].option, f"{value:g}" if isinstance(value, float) else f"{value}"]
    return words
