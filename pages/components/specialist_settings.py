"""What judges that stand on ratings are asked for: task, examples, and the settings of each kind."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TypeVar

import streamlit as st
from core.judges.settings import Occurrences, Prompting
from core.runs.rated_plan import USUAL_TASKS, suits
from core.schema.judges import SETTING_BOUNDS

from core.datasets.reading import decode
from core.datasets.task_files import dump_task, parse_task, shipped_tasks
from core.judges.automqm.judge import PARROT as PARROT
from core.judges.automqm.judge import AutoMqmSettings
from core.judges.direct import DirectSettings
from core.judges.examples import MERGED, ExamplesFrom
from core.judges.kind import JudgeSettings
from core.judges.quality.held_out import Majority
from core.judges.quality.judge import QualitySettings
from core.schema import RatedKind
from core.schema.rated import RatedSet
from core.schema.tasks import RatingTask
from pages.components.generate_state import given
from pages.components.messages import plain

VARIANTS: dict[ExamplesFrom, str] = {
    "specialist": "of the same source: what people said of the other systems' texts of this very item",
    "shuffled": "shuffled: the same examples dealt out anew, so that they are of other sources",
    "fixed": "of one other source, rated by the same person where ratings name one",
    "none": "none: the judge reads the text alone",
}
_OCCURRENCES: dict[Occurrences, str] = {"all": "every place", "first": "the first place"}
_PROMPTING: dict[Prompting, str] = {
    "single": "a call for each dimension",
    "compound": "all dimensions in one call",
    "detailed": "a call for each dimension, longer instructions",
}
_MAJORITY: dict[Majority, str] = {
    "middle": "the middle class, where a rater gave it",
    "median": "the median",
    "drop": "no label",
}
_ALL = "all raters together"
_KEPT = "specialist_task_kept"
"""Stands for a task that an earlier run or a study brought along."""
_KEYS = {
    name: f"specialist_{name}"
    for name in (
        "examples",
        "n_examples",
        "filtered",
        "occurrences",
        "only",
        "repeats",
        "temperature",
        "seed",
        "prompting",
        "shots",
        "held_out",
        "majority",
        "shuffled_words",
        "language",
    )
}
Word = TypeVar("Word", bound=str)


def put(settings: JudgeSettings) -> None:
    """Fill the widgets with these settings."""
    own = asdict(settings.of_kind)
    for name, value in own.items():
        if name in _KEYS:
            st.session_state[_KEYS[name]] = list(value) if isinstance(value, tuple) else value
    if "rater" in own:
        st.session_state["specialist_rater"] = own["rater"]
    if "dimension" in own:
        st.session_state["specialist_dimension"] = own["dimension"]
    _put_task(settings.kind, parse_task(settings.task_text, "task.yaml"))


def begin_with(kind: RatedKind, own: RatingTask) -> None:
    """Fill the widgets with what the raters of a study were asked, once a kind and task, where this judge can be asked it."""
    key, text = f"specialist_task_own_{kind}", dump_task(own)
    if suits(kind, own) and st.session_state.get(key) != text:
        st.session_state[key] = text
        _put_task(kind, own)


def _put_task(kind: str, task: RatingTask) -> None:
    shipped = next((one.name for one in shipped_tasks() if dump_task(one) == dump_task(task)), None)
    st.session_state[f"specialist_task_{kind}"] = shipped or _KEPT
    st.session_state[_KEPT] = None if shipped else task


def task(kind: RatedKind) -> RatingTask:
    """What is asked of every text: a shipped task, or one of the user's own. Raises InputError for a bad file."""
    offered = {one.name: one for one in shipped_tasks() if suits(kind, one)}
    kept: RatingTask | None = st.session_state.get(_KEPT)
    if kept is not None and suits(kind, kept):
        offered[_KEPT] = kept
    key = f"specialist_task_{kind}"
    if st.session_state.get(key) not in offered:
        st.session_state.pop(key, None)
    left, right = st.columns(2)
    name = left.selectbox(
        "Task",
        list(offered),
        format_func=lambda name: f"{offered[name].title} ({'yours' if name == _KEPT else name})",
        key=given(key, USUAL_TASKS[kind]),
        persist_state="session",
    )
    upload = right.file_uploader(
        "Or a task of your own (YAML)", type=["yaml", "yml"], key=f"specialist_task_file_{kind}"
    )
    chosen = offered[name]
    if upload is not None:
        chosen = parse_task(decode(upload.getvalue(), upload.name), upload.name)
    with st.expander(f"What is asked: {plain(chosen.title)}"):
        st.code(dump_task(chosen), language=None, wrap_lines=True, height=260)
    return chosen


def asked(settings: JudgeSettings, chosen: RatingTask, rated: RatedSet | None) -> JudgeSettings:
    """The settings with what the widgets of this kind say. rated: the texts, as far as they are chosen."""
    settings = replace(settings, task_text=dump_task(chosen))
    if settings.kind == "automqm":
        return replace(settings, automqm=_automqm(rated, by_rules=settings.backend == "rules"))
    if settings.kind == "direct":
        return replace(settings, direct=_direct(chosen, rated))
    return replace(settings, quality=_quality())


def _automqm(rated: RatedSet | None, *, by_rules: bool) -> AutoMqmSettings:
    examples, n_examples, rater, only = _examples(rated, offer_none=not by_rules)
    left, right = st.columns(2)
    filtered = examples != "none" and left.checkbox(
        "Filter the examples",
        key=_KEYS["filtered"],
        persist_state="session",
        help="Without texts equal to the judged one, and without the errors that people marked in it: then nothing can "
        "be copied from them that is right by itself.",
    )
    occurrences: Occurrences = "all"
    if by_rules:
        occurrences = _menu(
            right, "Of words that stand in a text several times, mark", _OCCURRENCES, "occurrences"
        )
    repeats, temperature, seed = _draws("Draws of examples; the score is the mean", by_rules=by_rules)
    return AutoMqmSettings(
        examples, n_examples, filtered, rater, only, occurrences, repeats, temperature, seed
    )


def _direct(chosen: RatingTask, rated: RatedSet | None) -> DirectSettings:
    names = [one.name for one in chosen.dimensions]
    if st.session_state.get("specialist_dimension") not in names:
        st.session_state.pop("specialist_dimension", None)
    titles = {one.name: one.title for one in chosen.dimensions}
    dimension = st.selectbox(
        "Dimension",
        names,
        format_func=lambda name: f"{titles[name]} ({name})",
        key="specialist_dimension",
        persist_state="session",
    )
    examples, n_examples, rater, only = _examples(rated, offer_none=True)
    repeats, temperature, seed = _draws("Draws of examples; the score is the mean")
    return DirectSettings(dimension, examples, n_examples, rater, only, repeats, temperature, seed)


def _examples(rated: RatedSet | None, *, offer_none: bool) -> tuple[ExamplesFrom, int, str, tuple[str, ...]]:
    """Where examples come from, how many, whose they are, and which systems are judged."""
    offered = {name: said for name, said in VARIANTS.items() if offer_none or name != "none"}
    if st.session_state.get(_KEYS["examples"]) not in offered:
        st.session_state.pop(_KEYS["examples"], None)
    variant: ExamplesFrom = st.radio(
        "Examples",
        list(offered),
        format_func=offered.__getitem__,
        key=_KEYS["examples"],
        persist_state="session",
        help="Whatever is chosen, no text of the judged system is an example, at no level.",
    )
    n_examples, rater = 0, MERGED
    left, right = st.columns(2)
    if variant != "none":
        n_examples = _whole(
            left,
            "Number of examples (0: all there are)",
            "n_examples",
            0,
            "Smaller sets lie in larger ones.",
        )
        rater = _rater(right, rated)
    systems = list(dict.fromkeys(text.output.system for text in rated.texts)) if rated else []
    known = [name for name in st.session_state.get(_KEYS["only"], []) if name in systems]
    if known != st.session_state.get(_KEYS["only"], []):
        st.session_state[_KEYS["only"]] = known
    only = st.multiselect(
        "Judge only the texts of",
        systems,
        key=_KEYS["only"],
        persist_state="session",
        placeholder="All systems",
        help="The others' texts are examples all the same.",
    )
    return variant, n_examples, rater, tuple(only)


def _rater(place: "st.delta_generator.DeltaGenerator", rated: RatedSet | None) -> str:
    texts: Sequence[object] = rated.texts if rated else ()
    names = sorted(
        {one.rater for text in (rated.texts if rated else ()) for one in text.ratings if one.rater}
    )
    if not texts or not names:
        return MERGED
    if st.session_state.get("specialist_rater") not in (MERGED, *names):
        st.session_state.pop("specialist_rater", None)
    chosen: str = place.selectbox(
        "Whose ratings are the examples",
        [MERGED, *names],
        format_func=lambda name: name or _ALL,
        key="specialist_rater",
        persist_state="session",
    )
    return chosen


def _quality() -> QualitySettings:
    left, right = st.columns(2)
    prompting = _menu(left, "How it is asked", _PROMPTING, "prompting")
    language = right.text_input(
        "Language that texts are said to be in (empty: their own tags)",
        key=_KEYS["language"],
        persist_state="session",
    ).strip()
    shots = _whole(left, "Examples of each class", "shots", 0, "From items that are held out and not judged.")
    usual = QualitySettings()
    held_out, majority = usual.held_out, usual.majority
    if shots:
        held_out = _share(right, "Share of the rated items that is held out", "held_out", usual.held_out)
        majority = _menu(left, "An example's class where no two raters agree", _MAJORITY, "majority")
    shuffled = _share(
        right,
        "Share of words that change places",
        "shuffled_words",
        0.0,
        "Above 0 a look at the evaluator: does it notice that a text is broken?",
    )
    repeats, temperature, seed = _draws("Times that it is asked; the score is the mean")
    return QualitySettings(
        prompting, shots, held_out, majority, language, shuffled, repeats, temperature, seed
    )


def _menu(
    place: "st.delta_generator.DeltaGenerator", label: str, words: Mapping[Word, str], name: str
) -> Word:
    chosen: Word = place.selectbox(
        label, list(words), format_func=words.__getitem__, key=_KEYS[name], persist_state="session"
    )
    return chosen


def _whole(
    place: "st.delta_generator.DeltaGenerator", label: str, name: str, default: int, said: str | None = None
) -> int:
    lowest, highest = (int(end) for end in SETTING_BOUNDS[name])
    key = given(_KEYS[name], default)
    return int(place.number_input(label, lowest, highest, key=key, persist_state="session", help=said))


def _share(
    place: "st.delta_generator.DeltaGenerator",
    label: str,
    name: str,
    default: float,
    said: str | None = None,
) -> float:
    key = given(_KEYS[name], default)
    return float(
        place.number_input(
            label,
            *SETTING_BOUNDS[name],
            step=0.1,
            format="%g",
            key=key,
            persist_state="session",
            help=said,
        )
    )


def _draws(said: str, *, by_rules: bool = False) -> tuple[int, float, int]:
    """Repeats, temperature and seed."""
    one, two, three = st.columns(3)
    repeats = _whole(one, "Repeats", "repeats", 1, said)
    seed = _whole(two, "Seed", "seed", 0, "Of the first repeat; each further one has the next.")
    temperature = (
        0.0 if by_rules else _share(three, "Temperature", "temperature", 0.0, "0: the likeliest answer.")
    )
    return repeats, temperature, seed
