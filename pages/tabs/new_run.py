"""A new judge's run by page, of any kind: texts, judge and model, and a preview before all is paid for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import streamlit as st

from core.formats.mt_metrics_eval import USUAL_RATINGS, rating_names
from core.formats.rated import unrated
from core.formats.registry import read_rated, read_texts
from core.judges.kind import AuditKind, Bench, JudgeKind, JudgeSettings
from core.llm.prompts import Prompt
from core.runs.asked import Asked, ModelSettings, ask
from core.runs.environments import missing_for
from core.runs.generation import has_texts, texts_of_run
from core.runs.jobs import RunAtHand
from core.runs.path import at_hand, create, runs_that
from core.runs.texts import (
    Texts,
    rated_of_folder,
    rated_of_study,
    rated_of_texts,
    read_apart,
    texts_of_folder,
    texts_of_study,
)
from core.schema.judging import RatedSet
from core.schema.kinds import Kind, Reads
from core.schema.runs import Run
from core.schema.scores import OutputSet
from core.schema.settings import Settings
from core.schema.tasks import RatingTask
from core.store import Store
from core.store.runs import run_data
from core.store.studies import get_study
from core.tables.reading import sha256_of
from pages.widgets import asked_model, chosen_judge, chosen_scores, menus, parts, run_panel, settings_form
from pages.widgets.chosen_scores import RUN as RUN_of_chosen_scores
from pages.widgets.menus import given_file, once
from pages.widgets.messages import capital, mistakes_shown, plain
from pages.widgets.parts import explained, part
from pages.widgets.settings_form import given

FROM, RUN = "metrics_texts_from", "metrics_texts_run"
"""Keys under which another page says what to score."""
_FILE, _MADE, _READ = "metrics_texts_file", "metrics_texts_made", "metrics_texts_read"
_FROM = {
    "run": "A generation run",
    "file": "A file of mine",
    "study": "An unblinded study",
    "folder": "A folder of translations",
}


def take_run(run_id: int) -> None:
    """Fill the form with the texts of this generation run."""
    st.session_state[FROM] = "run"
    st.session_state[RUN] = run_id


def take_file(data: bytes, name: str) -> None:
    """Fill the form with these texts, as if they had been given as a file."""
    st.session_state[FROM] = "file"
    st.session_state[_FILE] = (data, name)


def choose(store: Store) -> Texts | None:
    """The texts as a file, after saying what is in it; None: nothing is chosen yet."""
    came = st.radio(
        "From", list(_FROM), format_func=_FROM.__getitem__, horizontal=True, key=FROM, persist_state="session"
    )
    ways: dict[str, Callable[[Store], Texts | None]] = {
        "run": _of_run,
        "file": lambda _: _of_file(),
        "study": _of_study,
        "folder": lambda _: _of_folder(),
    }
    texts = ways[came](store)
    if texts is not None:
        _summary(read(texts))
    return texts


def _of_run(store: Store) -> Texts | None:
    runs = {run.run_id: run for run in runs_that(store, "generation") if _has_texts(store, run)}
    if not runs:
        st.markdown("No run has made a text yet: make some on the page Generate, or give a file.")
        return None
    if st.session_state.get(RUN) not in runs:
        st.session_state.pop(RUN, None)
    chosen = st.selectbox(
        "Run of generation",
        list(runs),
        format_func=lambda number: menus.name_of(runs[number]),
        key=RUN,
        persist_state="session",
    )
    run = at_hand(store, chosen)
    return once(_MADE, menus.key_of(store, run.run), lambda: texts_of_run(run))


def _has_texts(store: Store, run: Run) -> bool:
    return _found_texts(menus.key_of(store, run), store, run)


@st.cache_data(show_spinner=False, max_entries=1_000)
def _found_texts(key: tuple[object, ...], _store: Store, _run: Run) -> bool:
    return has_texts(at_hand(_store, _run))


def _of_file() -> Texts | None:
    st.markdown(
        "Accepted: what a generation run writes, the papers' JSON, or CSV, TSV and JSONL with the columns item, text "
        "and, where there are, system, reference, source, level, language. All other columns can be grouped by."
    )
    return given_file(_FILE, "metrics_texts_upload", ["json", "csv", "tsv", "jsonl", "ndjson"])


def _of_study(store: Store) -> Texts | None:
    study = menus.unblinded(store, "metrics_texts_study")
    if study is None:
        st.markdown(
            "No study is unblinded yet. Its texts stay hidden until then, because scores would show which source wrote which."
        )
        return None
    return texts_of_study(store, study)


def _of_folder() -> Texts | None:
    given = chosen_scores.fields("texts")
    if given is None:
        return None
    path, pair = given
    key = (path, pair, chosen_scores.stamp(path))
    texts, notes = once(_MADE, key, lambda: texts_of_folder(path, pair))
    chosen_scores.read_notes(notes)
    return texts


def read(texts: Texts) -> OutputSet:
    """What is in the file, read once a file and not at every press of a widget."""
    return once(_READ, (sha256_of(texts[0]), texts[1]), lambda: read_texts(*texts))


def _summary(found: OutputSet) -> None:
    texts = found.outputs
    items = len({one.item_id for one in texts})
    systems = sorted({one.system for one in texts})
    levels = sorted({one.level for one in texts if one.level is not None})
    whose = f"by {plain(systems[0])}" if len(systems) == 1 else f"by {len(systems)} systems"
    known = (
        f", levels {plain(', '.join(levels))}"
        if levels
        else ", no levels: correlate with human ratings or votes"
    )
    st.success(
        f"{len(texts):,} {'text' if len(texts) == 1 else 'texts'} on {items:,} "
        f"{'item' if items == 1 else 'items'} {whose}{known}."
    )
    chosen_scores.read_notes(found.notes, found.left_out)


_RATED_FILE, _RATINGS, _MADE_RATED, _READ_RATED = (
    "specialist_texts_file",
    "specialist_texts_ratings",
    "specialist_texts_made",
    "specialist_texts_read",
)
_STUDY = "specialist_texts_study"
_RATED_FROM = {
    "file": "A file of mine",
    "study": "An unblinded rating study",
    "folder": "A folder of translations",
}
_MOST_MB = 100


def take_rated_file(data: bytes, name: str) -> None:
    """Fill the form with these rated texts, as if they had been given as a file."""
    st.session_state["specialist_texts_from"] = "file"
    st.session_state[_RATED_FILE] = (data, name)
    st.session_state.pop(_RATINGS, None)


def choose_rated(store: Store, kind: JudgeKind) -> Texts | None:
    """The rated texts as a file, after saying what is in it; None: nothing is chosen yet. Raises InputError."""
    came = st.radio(
        "From",
        list(_RATED_FROM),
        format_func=_RATED_FROM.__getitem__,
        horizontal=True,
        key="specialist_texts_from",
        persist_state="session",
    )
    ways: dict[str, Callable[[], Texts | None]] = {
        "file": lambda: _rated_of_file(kind),
        "study": lambda: _rated_of_study(store),
        "folder": _rated_of_folder,
    }
    texts = ways[came]()
    if texts is not None:
        _rated_summary(read_rated_texts(texts))
    return texts


def _rated_of_file(kind: JudgeKind) -> Texts | None:
    st.markdown(
        ":small[Accepted: rated texts (JSONL, one text per line with its `ratings`), or texts alone (CSV, TSV, JSONL with the "
        "columns item, text, system, source and, where there are, reference, level, language) and a file of ratings beside them.]"
    )
    left, right = st.columns(2)
    upload = left.file_uploader(
        "Texts",
        type=["json", "csv", "tsv", "jsonl", "ndjson"],
        key="specialist_texts_upload",
        max_upload_size=_MOST_MB,
    )
    apart = right.file_uploader(
        "Ratings, if in a separate file",
        key="specialist_ratings_upload",
        max_upload_size=_MOST_MB,
        help="MQM or Marot table (TSV), a row an error or a score (CSV, JSONL), mt-metrics-eval's *.seg.rating, rated texts.",
    )
    if upload is not None:
        st.session_state[_RATED_FILE] = (upload.getvalue(), upload.name)
        st.session_state[_RATINGS] = None
    if apart is not None:
        st.session_state[_RATINGS] = (apart.getvalue(), apart.name)
    kept: Texts | None = st.session_state.get(_RATED_FILE)
    if kept is None:
        return None
    if upload is None:
        st.markdown(f"The file is still {plain(kept[1])}; choose another to replace it.")
    ratings: Texts | None = st.session_state.get(_RATINGS)
    if ratings is None:
        return kept
    key = (sha256_of(kept[0]), kept[1], sha256_of(ratings[0]), ratings[1], kind.name)
    texts, notes = once(
        _MADE_RATED, key, lambda: rated_of_texts(*kept, lambda outputs: [read_apart(kind, *ratings, outputs)])
    )
    chosen_scores.read_notes(notes)
    return texts


def _rated_of_study(store: Store) -> Texts | None:
    study = menus.unblinded(store, _STUDY, "ratings")
    if study is None:
        st.markdown(
            "No rating study is unblinded yet: make one on the page Studies, let people rate, and unblind it. Their "
            "ratings then become this judge's examples."
        )
        return None
    return rated_of_study(store, study)


def own_task(store: Store) -> RatingTask | None:
    """What the raters of the chosen study were asked; None where the texts are of none."""
    chosen = st.session_state.get(_STUDY)
    if st.session_state.get("specialist_texts_from") != "study" or chosen is None:
        return None
    return get_study(store, chosen).task


def _rated_of_folder() -> Texts | None:
    given = chosen_scores.fields("specialist")
    if given is None:
        return None
    path, pair = given
    names = rating_names(path, language_pair=pair)
    chosen = list(names)
    if len(names) > 1:
        chosen = [
            st.selectbox(
                "Ratings",
                names,
                index=names.index(USUAL_RATINGS) if USUAL_RATINGS in names else 0,
                key=f"specialist_folder_ratings_{path}_{pair}",
                help="A name that ends in .raters has each rater's errors apart, as the tab Raters needs them.",
            )
        ]
    key = (path, pair, *chosen, chosen_scores.stamp(path))
    texts, notes = once(_MADE_RATED, key, lambda: rated_of_folder(path, pair, chosen))
    chosen_scores.read_notes(notes)
    return texts


def read_rated_texts(texts: Texts) -> RatedSet:
    """What is in the file, read once a file and not at every press of a widget."""
    return once(_READ_RATED, (sha256_of(texts[0]), texts[1]), lambda: read_rated(*texts))


def _rated_summary(found: RatedSet) -> None:
    outputs = [text.output for text in found.texts]
    items, systems = len({one.item_id for one in outputs}), len({one.system for one in outputs})
    n_rated = sum(bool(text.ratings) for text in found.texts)
    raters = {one.rater for text in found.texts for one in text.ratings if one.rater}
    by = f" by {len(raters):,} {'rater' if len(raters) == 1 else 'raters'}" if raters else ""
    said = (
        f"{len(outputs):,} {'text' if len(outputs) == 1 else 'texts'} on {items:,} {'item' if items == 1 else 'items'} by "
        f"{systems:,} {'system' if systems == 1 else 'systems'}; {n_rated:,} of them rated{by}."
    )
    (st.success if n_rated else st.warning)(said)
    chosen_scores.read_notes(found.notes, found.left_out)


@dataclass(frozen=True)
class Wanted:
    """What the widgets say."""

    kind: AuditKind
    values: dict[str, object]
    model: asked_model.Chosen
    prompts: list[Prompt]

    @property
    def called(self) -> str:
        """The model without the folder before it."""
        return ModelSettings.model_construct(**self.model.model).short_name


def model(kind: AuditKind) -> Wanted:
    """The widgets that say who does it and how."""
    prefix = f"judges_{kind.name}"
    own = kind.Settings.model_fields.keys()
    chosen = asked_model.choose_backend(prefix, kind.rules if kind.Settings.MODEL_FREE else None, own)
    values = settings_form.render(kind.Settings, prefix, backend=chosen.backend)
    slots = kind.Settings.checked(values).prompts(by_rules=chosen.backend == "rules")
    return Wanted(kind, values, chosen, asked_model.choose_prompts(prefix, slots))


def start(store: Store, data: bytes, name: str, wanted: Wanted) -> None:
    """Make the run, start it and show it. Raises InputError in the words of the form."""
    chosen = wanted.model
    asked, running = ask(wanted.kind, wanted.values, chosen.model, chosen.running, prompts=wanted.prompts)
    run, _ = create(store, data, name, asked, running)
    run_panel.start(run.run)
    chosen_judge.remember((RUN_of_chosen_scores, run.run.run_id))


class _Source(NamedTuple):
    """Where texts come from."""

    choose: Callable[[Store, JudgeKind], Texts | None]
    read: Callable[[Texts], RatedSet]
    take_file: Callable[[bytes, str], None]
    tell: Callable[[str], object]
    """Shows what is to be known of them."""


_SOURCES: Mapping[Reads, _Source] = {
    "texts": _Source(
        lambda store, _: choose(store),
        lambda texts: unrated(read(texts)),
        take_file,
        lambda note: st.warning(plain(note)),
    ),
    "rated texts": _Source(
        choose_rated,
        read_rated_texts,
        take_rated_file,
        lambda note: chosen_scores.read_notes((note,)),
    ),
}


class _Judge(NamedTuple):
    """What the widgets say of the judge and its model."""

    wanted: Callable[[], tuple[Asked, Settings]]
    chosen: JudgeSettings
    attached: str
    backend: str
    missing: str | None
    """What keeps it from being asked."""


def form(store: Store, prefix: str, kinds: Sequence[JudgeKind]) -> int | None:
    """The number of a run that was made and started in this run of the page, or None.

    prefix: of the widgets' keys. kinds: the judges that are offered.
    """
    with mistakes_shown():
        return _form(store, prefix, {kind.name: kind for kind in kinds})
    return None  # type: ignore[unreachable]  # what is wrong is on the page


def again_button(store: Store, run: Run, prefix: str, open_form: Callable[[], None]) -> None:
    """Open the form as it was filled for the run, with its texts, its file and its prompts.

    prefix: of the form's keys and the button's. open_form: makes it what the page shows.
    """
    if st.button(
        "Judge with other settings",
        key=f"{prefix}_again",
        help="Opens the form of a new run with this run's texts, judge and model.",
    ):
        _put(prefix, at_hand(store, run))
        open_form()
        st.rerun()


def _put(prefix: str, run: RunAtHand) -> None:
    kind, own = run.kind, _own(prefix, run.kind)
    st.session_state[f"{prefix}_kind"] = kind.name
    st.session_state[f"{prefix}_name"] = run.asked.name
    settings_form.put(run.asked.chosen, own)
    settings_form.put_file(own, kind, run.asked.attached)
    asked_model.put_prompts(own, run)
    asked_model.put_backend(prefix, run)
    _SOURCES[kind.reads].take_file(run_data(run.store, run.run.run_id), run.run.data_file)


def _own(prefix: str, kind: Kind) -> str:
    """Of the keys of what only this kind is asked."""
    return f"{prefix}_{kind.name}"


def _form(store: Store, prefix: str, kinds: Mapping[str, JudgeKind]) -> int | None:
    name: str = st.radio(
        "Kind",
        list(kinds),
        format_func=lambda name: kinds[name].title,
        horizontal=True,
        key=given(f"{prefix}_kind", next(iter(kinds))),
        persist_state="session",
    )
    kind = kinds[name]
    explained(f"{capital(kind.summary)}.", kind.section)
    st.subheader("Texts and ratings" if kind.reads == "rated texts" else "Texts", anchor=False)
    source = _SOURCES[kind.reads]
    texts = contents = None
    with mistakes_shown():  # beside the texts, not at the end of the form
        texts = source.choose(store, kind)
        contents = None if texts is None else source.read(texts)
    if contents is not None:
        _begin_with_the_study(store, prefix, kind)
    judge = _judge(prefix, kind, contents)
    if texts is None or contents is None:
        st.markdown("Choose texts above to start a run.")
        return None
    told = _told(kind, judge, contents)
    for note in told:
        source.tell(note)
    items = {text.output.item_id for text in contents.texts if judge.chosen.judges(text)}
    return run_panel.start_buttons(
        store,
        prefix,
        judge.wanted,
        *texts,
        len(items),
        disabled=judge.missing is not None,
        told=told,
        free=True if judge.backend == "rules" else None,
    )


def _judge(prefix: str, kind: JudgeKind, contents: RatedSet | None) -> _Judge:
    # A judge's settings depend on what the backend can do: asked in another order than shown.
    what, who = st.container(), st.container()
    own = _own(prefix, kind)
    with who:
        st.subheader("Model", anchor=False)
        model = asked_model.choose_backend(
            prefix, kind.rules if kind.Settings.MODEL_FREE else None, kind.Settings.model_fields.keys()
        )
        name = st.text_input(
            "Name of the judge in tables (empty: kind, unusual settings and model)",
            key=f"{prefix}_name",
            persist_state="session",
        ).strip()
    with what:
        st.subheader("Judge", anchor=False)
        attached = settings_form.choose(own, kind)
        bench = Bench(attached=attached, texts=() if contents is None else contents.texts)
        unread = kind.attachment is not None and not attached
        values = settings_form.render(
            kind.Settings, own, offered={} if unread else kind.in_file(bench), backend=model.backend
        )
    chosen = kind.Settings.checked(values)
    assert isinstance(chosen, JudgeSettings)
    missing = missing_for(chosen.needs)
    if missing:
        st.warning(asked_model.lacking(missing))
    prompts = asked_model.choose_prompts(own, chosen.prompts(by_rules=model.backend == "rules"))

    def wanted() -> tuple[Asked, Any]:
        return ask(kind, values, model.model, model.running, name=name, attached=attached, prompts=prompts)

    unusable = "The file cannot be read." if unread else None
    return _Judge(wanted, chosen, attached, model.backend, model.missing or missing or unusable)


def _told(kind: JudgeKind, judge: _Judge, contents: RatedSet) -> tuple[str, ...]:
    """What is to be known before anything is pressed. Raises InputError where the run could not start."""
    if kind.attachment is not None and not judge.attached:
        return ()

    def found() -> tuple[str, ...]:
        bench = Bench(attached=judge.attached, texts=contents.texts, ratings=contents.sha256)
        notes = kind.check(judge.chosen, bench, contents, judge.backend == "rules")
        return tuple(run_panel.worded(kind, note) for note in notes)

    key = (
        kind.name,
        contents.sha256,
        contents.file_name,
        judge.attached,
        judge.chosen.model_dump_json(),
        judge.backend,
    )
    return chosen_scores.once(("fits", *key), found)


def _begin_with_the_study(store: Store, prefix: str, kind: JudgeKind) -> None:
    """Begin with what the raters of a study were asked, once a kind and task, where this judge can be asked it."""
    task = own_task(store) if kind.reads == "rated texts" else None
    if task is None or kind.attachment is None or not kind.suits(task, {}):
        return
    text, key = kind.attachment.dump(task), f"{_own(prefix, kind)}_of_study"
    if st.session_state.get(key) != text:
        st.session_state[key] = text
        settings_form.put_file(_own(prefix, kind), kind, text)


def button(run: Run) -> None:
    """Open the page Metrics with the form filled with this run."""
    part(
        "Send to scoring",
        "Metrics score these texts; their correlations with the levels say which metric follows quality.",
    )
    if st.button("Score these texts", key="send_to_scoring", icon=":material/arrow_forward:"):
        take_run(run.run_id)
        chosen_scores.remember((chosen_scores.NEW, 0))
        st.switch_page(parts.metrics())
