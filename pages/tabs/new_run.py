"""The form of a new judge's run of any kind: texts, judge and model, and a preview before the whole run."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

import streamlit as st

from core.errors import InputError, counted
from core.formats.mt_metrics_eval import USUAL_RATINGS, rating_names
from core.formats.rated import unrated
from core.formats.registry import read_rated, read_texts
from core.judges.kind import Bench, JudgeKind, JudgeSettings
from core.llm.prompts import Prompt
from core.runs.asked import OPENAI_KEY, OPENAI_URL, Asked, Running
from core.runs.generation import has_texts, texts_of_run
from core.runs.judging.in_one_file import read_judge
from core.runs.path import create, runs_that, saved_run
from core.runs.working.environments import missing_for
from core.schema.runs import Kind, PromptSlot, Reads, Run
from core.schema.scores import MASK_NOTE, OutputSet, RatedSet, ScorableOutput
from core.schema.study import Study
from core.sources.texts import (
    Texts,
    guidelines_of_study,
    pairs_of_study,
    rated_of_folder,
    rated_of_study,
    rated_of_texts,
    read_apart,
    texts_of_folder,
    texts_of_study,
)
from core.store import Store
from core.store.runs import run_data
from core.store.studies import get_study
from core.tables.containers import decode_utf8
from core.tables.reading import sha256_of
from pages.widgets import chosen_judge, chosen_scores, menus, parts, run_panel, settings_form
from pages.widgets.menus import given_file, once
from pages.widgets.messages import capital, mistakes_shown, plain
from pages.widgets.parts import explained, part
from pages.widgets.settings_form import Wanted, given

Way = tuple[str, Callable[[Store, JudgeKind | None], Any]]
"""Title of a way to get texts, and the function that chooses them. It returns Texts or what the form takes in their place, None
before a choice, and raises InputError."""


@dataclass(frozen=True)
class Source:
    """The ways in which a form gets a run's texts."""

    prefix: str
    """Prefix of the keys of widgets and of session state."""
    ways: Mapping[str, Way]
    read: Callable[[bytes, str], Any]
    summary: Callable[[Any], None]

    def choose(self, store: Store, kind: JudgeKind | None = None) -> Texts | None:
        """Choose texts and summarise them; return them as a file, or None before a choice. Raises InputError."""
        texts: Texts | None = self.chosen(store, kind)
        if texts is not None:
            self.summary(self.contents(texts))
        return texts

    def chosen(self, store: Store, kind: JudgeKind | None = None) -> Any:
        """Choose texts without reading them; None before a choice. Raises InputError."""
        came = st.radio(
            "From",
            list(self.ways),
            format_func=lambda name: self.ways[name][0],
            horizontal=True,
            key=f"{self.prefix}_from",
            persist_state="session",
        )
        return self.ways[came][1](store, kind)

    def contents(self, texts: Texts) -> Any:
        """Contents of the file, read once and not at every rerun."""
        return once(f"{self.prefix}_read", (sha256_of(texts[0]), texts[1]), lambda: self.read(*texts))

    def take_file(self, data: bytes, name: str) -> None:
        """Fill the form with these texts, as if they had been uploaded."""
        st.session_state[f"{self.prefix}_from"] = "file"
        st.session_state[f"{self.prefix}_file"] = (data, name)
        st.session_state.pop(f"{self.prefix}_ratings", None)


_STUDY = "metrics_texts_study"
_RUN, _MADE, _PAIRS_STUDY = "metrics_texts_run", "metrics_texts_made", "metrics_texts_pairs"
_RATINGS, _RATED_STUDY, _MADE_RATED = (
    "specialist_texts_ratings",
    "specialist_texts_study",
    "specialist_texts_made",
)


def _run_texts(store: Store, _: JudgeKind | None) -> Texts | None:
    runs = {
        run.run_id: run
        for run in runs_that(store, "generation")
        if _has_texts(menus.key_of(store, run), store, run)
    }
    if not runs:
        st.markdown("No run has made a text yet. Make some on the page Generate, or upload a file.")
        return None
    if st.session_state.get(_RUN) not in runs:
        st.session_state.pop(_RUN, None)
    chosen = st.selectbox(
        "Generation run",
        list(runs),
        format_func=lambda number: menus.name_of(runs[number]),
        key=_RUN,
        persist_state="session",
    )
    run = saved_run(store, chosen)
    return once(_MADE, menus.key_of(store, run.run), lambda: texts_of_run(run))


@st.cache_data(show_spinner=False, max_entries=1_000)
def _has_texts(key: tuple[object, ...], _store: Store, _run: Run) -> bool:
    return has_texts(saved_run(_store, _run))


def _file_texts(_: Store, __: JudgeKind | None) -> Texts | None:
    st.markdown(
        "Accepted: outputs of a generation run, Factual's JSON, or CSV, TSV and JSONL with the columns item and text; "
        "optional: system, reference, source, level, language. Results can be grouped by any other column."
    )
    return given_file("metrics_texts_upload", slot="metrics_texts_file")


def _study_texts(store: Store, _: JudgeKind | None) -> Texts | None:
    study = menus.unblinded(store, _STUDY)
    if study is None:
        st.markdown(
            "No study is unblinded yet. Its texts stay hidden until then: scores would reveal which system wrote which."
        )
        return None
    return texts_of_study(store, study)


def _pairs_of_study(store: Store, _: JudgeKind | None) -> Texts | None:
    study = menus.study_with_pairs(store, _PAIRS_STUDY)
    if study is None:
        st.markdown(
            "No study compares pairs yet, and none is unblinded. Make one on the page Studies: the judge can read its pairs "
            "while raters vote."
        )
        return None
    if study.state != "unblinded":
        explained(
            f"This study is {study.state}, so the judge reads its pairs under masks: each answer is called answer 1 or answer "
            "2, drawn for each pair. Raters see nothing of the run. You see no total by system; once the study is unblinded, "
            "the judge's verdicts stand beside the votes.",
            "pairs#on-an-open-study",
        )
    return pairs_of_study(store, study)


def _folder_texts(_: Store, __: JudgeKind | None) -> Texts | None:
    given = chosen_scores.fields("texts")
    if given is None:
        return None
    path, pair = given
    key = (path, pair, chosen_scores.stamp(path))
    texts, notes = once(_MADE, key, lambda: texts_of_folder(path, pair))
    chosen_scores.read_notes(notes)
    return texts


def _summary(outputs: OutputSet) -> None:
    systems = sorted({one.system for one in outputs.outputs})
    levels = sorted({one.level for one in outputs.outputs if one.level is not None})
    whose = plain(systems[0]) if len(systems) == 1 else counted(len(systems), "system")
    known = (
        f"levels {plain(', '.join(levels))}" if levels else "no levels: compare with human ratings or votes"
    )
    st.success(f"{_counted(outputs.outputs)} by {whose}, {known}.")
    chosen_scores.read_notes(outputs.notes, outputs.left_out)


def _counted(texts: Sequence[ScorableOutput]) -> str:
    return f"{counted(len(texts), 'text')} on {counted(len({one.item_id for one in texts}), 'item')}"


def _rated_of_file(_: Store, kind: JudgeKind | None) -> Texts | None:
    st.markdown(
        ":small[Accepted: rated texts (JSONL, one text per line with its `ratings`). Or texts (CSV, TSV, JSONL with the "
        "columns item, text, system, source; optional: reference, level, language) and a separate file of ratings.]"
    )
    left, right = st.columns(2)
    with left:
        kept = given_file("specialist_texts_upload", "Texts", slot="specialist_texts_file")
    if st.session_state["specialist_texts_upload"] is not None:
        st.session_state.pop(_RATINGS, None)  # They belonged to other texts.
    with right:
        ratings = given_file(
            "specialist_ratings_upload",
            "Ratings, if in a separate file",
            slot=_RATINGS,
            help_text="MQM or Marot table (TSV), one error or score per row (CSV, JSONL), mt-metrics-eval's *.seg.rating, "
            "or rated texts.",
            classes=True,
        )
    if kept is None or ratings is None or kind is None:
        return kept
    key = (sha256_of(kept[0]), kept[1], sha256_of(ratings[0]), ratings[1], kind.name)
    texts, notes = once(
        _MADE_RATED, key, lambda: rated_of_texts(*kept, lambda outputs: [read_apart(kind, *ratings, outputs)])
    )
    chosen_scores.read_notes(notes)
    return texts


def _rated_of_study(store: Store, _: JudgeKind | None) -> Texts | None:
    study = menus.unblinded(store, _RATED_STUDY, "ratings")
    if study is None:
        st.markdown(
            "No rating study is unblinded yet. Make one on the page Studies, let people rate, then unblind it. Their "
            "ratings become this judge's examples."
        )
        return None
    return rated_of_study(store, study)


def _rated_of_folder(_: Store, __: JudgeKind | None) -> Texts | None:
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
                help="Names that end in .raters separate the errors of each rater. The tab Raters needs that.",
            )
        ]
    key = (path, pair, *chosen, chosen_scores.stamp(path))
    texts, notes = once(_MADE_RATED, key, lambda: rated_of_folder(path, pair, chosen))
    chosen_scores.read_notes(notes)
    return texts


def _rated_summary(found: RatedSet) -> None:
    outputs = [text.output for text in found.texts]
    systems = counted(len({one.system for one in outputs}), "system")
    n_rated = sum(bool(text.ratings) for text in found.texts)
    raters = {one.rater for text in found.texts for one in text.ratings if one.rater}
    by = f" by {counted(len(raters), 'rater')}" if raters else ""
    said = f"{_counted(outputs)} by {systems}; {n_rated:,} of them rated{by}."
    (st.success if n_rated else st.warning)(said)
    chosen_scores.read_notes(found.notes, found.left_out)


TEXTS = Source(
    "metrics_texts",
    {
        "run": ("A generation run", _run_texts),
        "file": ("A file of mine", _file_texts),
        "study": ("An unblinded study", _study_texts),
        "folder": ("A folder of translations", _folder_texts),
    },
    read_texts,
    _summary,
)
_RATED = Source(
    "specialist_texts",
    {
        "file": ("A file of mine", _rated_of_file),
        "study": ("An unblinded rating study", _rated_of_study),
        "folder": ("A folder of translations", _rated_of_folder),
    },
    read_rated,
    _rated_summary,
)
_PAIRS = replace(TEXTS, ways={**TEXTS.ways, "study": ("A study", _pairs_of_study)})
SOURCES: Mapping[Reads, Source] = {"texts": TEXTS, "pairs": _PAIRS, "rated texts": _RATED}


def model(kind: Kind) -> Wanted:
    """Choose the model and the settings of a run without a form of its own, such as an audit."""
    prefix = f"judges_{kind.name}"
    own = kind.Settings.model_fields.keys()
    chosen = settings_form.choose_backend(prefix, kind.rules if kind.Settings.MODEL_FREE else None, own)
    values = settings_form.render(kind.Settings, prefix, backend=chosen.backend)
    slots = kind.Settings.checked(values).prompts(by_rules=chosen.by_rules)
    return Wanted(kind, values, chosen, settings_form.choose_prompts(prefix, slots))


def start(store: Store, data: bytes, name: str, wanted: Wanted) -> None:
    """Create the run, start it and show it. Raises InputError in the words of the form."""
    run, _ = create(store, data, name, *wanted.request())
    run_panel.start(run.run)
    chosen_judge.remember((chosen_scores.RUN, run.run.run_id))


OfTexts = Callable[[Store, Texts, Any], None]
"""Shows what else can be done with the chosen texts, given (store, texts as a file, their contents)."""


def form(
    store: Store, prefix: str, kinds: Sequence[JudgeKind], of_texts: OfTexts = lambda *_: None
) -> int | None:
    """Show the form; return the number of the run that its button started, or None.

    prefix: of the widgets' keys. kinds: the judges offered. of_texts: called below the chosen texts.
    """
    with mistakes_shown():
        return _form(store, prefix, {kind.name: kind for kind in kinds}, of_texts)
    return None  # type: ignore[unreachable]  # The page shows what is wrong.


def again_button(store: Store, run: Run, prefix: str, open_form: Callable[[], None]) -> None:
    """Show a button that opens the form with the run's texts, settings, file and prompts.

    prefix: of the keys of form and button. open_form: makes the page show the form.
    """
    if st.button(
        "Judge with other settings",
        key=f"{prefix}_again",
        help="Opens the form of a new run with this run's texts, judge and model.",
    ):
        at = saved_run(store, run)
        _fill(prefix, at.request, at.running, f"run {run.run_id}")
        SOURCES[at.kind.reads].take_file(run_data(store, run.run_id), run.data_file)
        open_form()
        st.rerun()


def _fill(prefix: str, request: Asked, running: Running, whose: str) -> None:
    """Fill the form with a judge before its widgets are drawn. whose: such as `run 3`."""
    own = _own(prefix, request.kind)
    st.session_state[f"{prefix}_kind"] = request.kind.name
    st.session_state[f"{prefix}_name"] = request.name
    settings_form.put(request.settings, own)
    settings_form.put_file(own, request.kind, request.attached)
    settings_form.put_prompts(own, request, whose)
    settings_form.put_backend(prefix, request.model, running)


def _load_judge(prefix: str, kinds: Collection[str]) -> None:
    """Fill the form, once, with the judge in an uploaded file, and show what its file says of it."""
    with st.expander("Load a judge from a file"), mistakes_shown():
        upload = st.file_uploader(
            "A judge in one file (YAML)",
            type=["yaml", "yml"],
            key=f"{prefix}_judge_file",
            help="Written by Export this judge in the tab Files of a judge's run, or by `judge export`.",
        )
        if upload is None:
            return
        data = upload.getvalue()
        judge = once(
            f"{prefix}_judge_read",
            (sha256_of(data), upload.name),
            lambda: read_judge(decode_utf8(data, upload.name), upload.name),
        )
        if judge.kind.name not in kinds:
            raise InputError(
                f"{plain(upload.name)} is a judge of the kind {judge.kind.title}; load it on the page that offers this kind."
            )
        taken = f"{prefix}_judge_taken"
        if st.session_state.get(taken) != upload.file_id:
            st.session_state[taken] = upload.file_id
            address = judge.request.model.base_url
            running = Running(key_variable=OPENAI_KEY if address == OPENAI_URL else None)
            _fill(prefix, judge.request, running, upload.name)
        st.success(f"The form below has the settings of {plain(upload.name)}. You can change them.")
        for note in judge.notes:
            st.markdown(f":small[{capital(plain(note))}.]")


def _own(prefix: str, kind: Kind) -> str:
    """Prefix of the keys of this kind's own settings."""
    return f"{prefix}_{kind.name}"


def _form(store: Store, prefix: str, kinds: Mapping[str, JudgeKind], of_texts: OfTexts) -> int | None:
    _load_judge(prefix, kinds)
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
    st.header("Texts and ratings" if kind.reads == "rated texts" else "Texts", anchor=False)
    source = SOURCES[kind.reads]
    texts = contents = None
    with mistakes_shown():  # Problems appear next to the texts, not at the end of the form.
        texts = source.choose(store, kind)
        if texts is not None:
            found = source.contents(texts)
            contents = found if isinstance(found, RatedSet) else unrated(found)
            of_texts(store, texts, found)
    if contents is not None:
        begin_with_the_study(store, prefix, kind)
    wanted = judge(prefix, kind, contents)
    if texts is None or contents is None:
        st.markdown("Choose texts above to start a run.")
        return None
    chosen = kind.Settings.checked(wanted.values)
    assert isinstance(chosen, JudgeSettings)
    told: tuple[str, ...] = ()
    if kind.attachment is None or wanted.attached:
        key = (kind.name, contents.sha256, contents.file_name, wanted.attached, chosen.model_dump_json())
        told = chosen_scores.once(
            ("fits", *key, wanted.model.backend), partial(_told, kind, wanted, chosen, contents)
        )
    of_study = st.session_state.get(f"{source.prefix}_from") == "study"
    for note in told:
        if note == MASK_NOTE and of_study:
            continue  # said beside the study
        if source is not _RATED and note != MASK_NOTE:
            st.warning(plain(note))
        else:
            chosen_scores.read_notes((note,))
    return run_panel.start_buttons(
        store,
        prefix,
        wanted,
        *texts,
        len({text.output.item_id for text in contents.texts if chosen.judges(text)}),
        told=told,
        free=True if wanted.model.by_rules else None,
    )


def judge(
    prefix: str,
    kind: JudgeKind,
    contents: RatedSet | None,
    choose_prompts: Callable[[str, tuple[PromptSlot, ...]], list[Prompt]] = settings_form.choose_prompts,
    *,
    named: bool = True,
) -> Wanted:
    """Choose the settings of a judge, its model and its prompts.

    prefix: of the widgets' keys. contents: the texts, if they are chosen. choose_prompts: takes a prefix and the judge's prompts.
    named: whether to choose its name in tables, too.
    """
    # A judge's settings depend on the backend, so they are drawn first and shown second.
    what, who = st.container(), st.container()
    own = _own(prefix, kind)
    with who:
        st.header("Model", anchor=False)
        model = settings_form.choose_backend(
            prefix, kind.rules if kind.Settings.MODEL_FREE else None, kind.Settings.model_fields.keys()
        )
        name = ""
        if named:
            name = st.text_input(
                "Name of the judge in tables (default: kind, changed settings and model)",
                key=f"{prefix}_name",
                persist_state="session",
            ).strip()
    with what:
        st.header("Judge", anchor=False)
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
        st.warning(settings_form.lacking(missing))
    prompts = choose_prompts(own, chosen.prompts(by_rules=model.by_rules))
    missing = model.missing or missing or ("The file cannot be read." if unread else None)
    return Wanted(kind, values, replace(model, missing=missing), prompts, attached, name)


def _told(kind: JudgeKind, wanted: Wanted, settings: JudgeSettings, contents: RatedSet) -> tuple[str, ...]:
    """Notes to show before the run starts. Raises InputError if the run could not start."""
    bench = Bench(attached=wanted.attached, texts=contents.texts, ratings=contents.sha256)
    notes = kind.check(settings, bench, contents, wanted.model.by_rules)
    return tuple(run_panel.worded(kind, note) for note in notes)


def compare_pairs_of(study: Study) -> None:
    """Let the form of the page Judges begin with a judge of pairs and the pairs of this study."""
    kind = next(iter(chosen_judge.judges_of("pairs")))
    st.session_state["judges_kind"] = kind.name
    st.session_state[f"{_PAIRS.prefix}_from"] = "study"
    st.session_state[_PAIRS_STUDY] = study.study_id


def begin_with_the_study(store: Store, prefix: str, kind: JudgeKind) -> None:
    """Preselect what the raters of the study read, once for each kind and text, if the judge can use it."""
    source, key = SOURCES[kind.reads], {"rated texts": _RATED_STUDY, "pairs": _PAIRS_STUDY}.get(kind.reads)
    chosen = None if key is None else st.session_state.get(key)
    if chosen is None or kind.attachment is None or st.session_state.get(f"{source.prefix}_from") != "study":
        return
    study = get_study(store, chosen)
    read: object
    if kind.reads == "pairs":
        read = guidelines_of_study(store, study) if study.kind == "pairs" else None
    else:
        read = study.task if study.task is not None and kind.suits(study.task, {}) else None
    if read is None:
        return
    text, place = kind.attachment.dump(read), f"{_own(prefix, kind)}_of_study"
    if st.session_state.get(place) != text:
        st.session_state[place] = text
        settings_form.put_file(_own(prefix, kind), kind, text)


def open_with_study(study: Study) -> NoReturn:
    """Open the form of the page Metrics with the texts of an unblinded study."""
    st.session_state[f"{TEXTS.prefix}_from"] = "study"
    st.session_state[_STUDY] = study.study_id
    chosen_scores.remember((chosen_scores.NEW, 0))
    st.switch_page(parts.metrics())


def button(run: Run) -> None:
    """Show a button that opens the form of the page Metrics with this run's texts."""
    part(
        "Send to scoring",
        "Score these texts with metrics. Correlations with the levels show which metric follows quality.",
    )
    if st.button("Score these texts", key="send_to_scoring", icon=":material/arrow_forward:"):
        st.session_state[f"{TEXTS.prefix}_from"] = "run"
        st.session_state[_RUN] = run.run_id
        chosen_scores.remember((chosen_scores.NEW, 0))
        st.switch_page(parts.metrics())
