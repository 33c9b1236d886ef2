"""Prompts or models compared on the same texts: what to run, its forecast and progress, one table and a figure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import pandas as pd
import streamlit as st

from core.analyses.prompts import ANALYSIS as PROMPTS
from core.formats.rated import unrated
from core.joining.choices import dimensions_of
from core.joining.panel import panel_of
from core.judges.kind import JudgeKind
from core.llm.prompts import STEPS, Prompt, parse_prompt, unusable_prompts
from core.plots.judges import quality_against
from core.results.correlations.votes import votes_panel
from core.results.judges.prompts import PromptsCompared, RunsTried, Tried
from core.runs.asked import Running
from core.runs.jobs import RunAtHand
from core.runs.judging.several import (
    Planned,
    Variant,
    components_of,
    create_together,
    forecast,
    is_whole,
    names_of_runs,
    ratings_in,
    scores_levels,
    tried,
    unfinished_notes,
    variants,
)
from core.runs.path import resume, saved_run
from core.runs.progress import AT_WORK, Progress, money_of, progress_of
from core.schema.panel import Panel
from core.schema.runs import PromptSlot, Run
from core.schema.scores import RatedSet, RatingSet
from core.schema.settings import fields_of
from core.schema.study import StudyRecord
from core.sources.named import StudySource
from core.sources.people import people_of
from core.sources.reading import reading_in
from core.sources.texts import Texts
from core.store import Store
from core.store.runs import ask_to_stop, list_runs
from core.tables.containers import decode_utf8
from pages.judges import editing
from pages.tabs import new_run
from pages.widgets import (
    address,
    analysis,
    chosen_judge,
    chosen_scores,
    menus,
    run_panel,
    settings_form,
    visitor,
)
from pages.widgets.analysis import Data
from pages.widgets.messages import code_markdown, mistakes_shown, plain
from pages.widgets.parts import chart, explained, nothing, part, places, table
from pages.widgets.run_panel import PREVIEW, PREVIEW_WORD
from pages.widgets.settings_form import Wanted, given

_PREFIX = "judges_prompts"
_RUNS, _LINK = f"{_PREFIX}_runs", "runs"
"""Where the session stores the compared runs, and the parameter of the address that names them."""
_MENU = f"{_PREFIX}_menu"
"""Key of the menu of runs."""
_TICK = 1.0
_SECTION = "pairs#prompts-compared"


def open_link() -> None:
    """Show this part of the page if the address names runs to compare, once."""
    if st.query_params.get_all(_LINK) and f"{_PREFIX}_opened" not in st.session_state:
        chosen_judge.remember((chosen_judge.COMPARE, 0))
    st.session_state[f"{_PREFIX}_opened"] = True


def leave_link() -> None:
    """Take the runs out of the address, because the page shows something else."""
    if st.query_params.get_all(_LINK):
        del st.query_params[_LINK]


def render(store: Store) -> None:
    """Show the compared runs, or the form that makes them."""
    explained(
        "Several prompts, or several models, judge the same texts. Which one follows quality best, and at what price? Tests are "
        "paired, because the texts are the same.",
        _SECTION,
    )
    with mistakes_shown(), address.kept("judges_prompts"):
        runs = _chosen_runs(store)
        if len(runs) < 2:
            _form(store)
            return
        _standing(store, runs)
        _result(store, runs)


def _judges() -> tuple[JudgeKind, ...]:
    return chosen_judge.judges_of("texts", "pairs")


def _chosen_runs(store: Store) -> list[Run]:
    known = {run.run_id: run for run in list_runs(store, tuple(kind.name for kind in _judges()))}
    if not known:
        return []
    kept = [number for number in st.session_state.get(_RUNS, []) if number in known]
    if kept != st.session_state.get(_RUNS, []):
        st.session_state[_RUNS] = kept
    address.several(_LINK, _RUNS, list(known))
    # The menu loses its value when its options change, as with every new run, so the session stores the choice apart.
    st.session_state[_MENU] = st.session_state[_RUNS]
    st.multiselect(
        "Compare runs that exist",
        list(known),
        format_func=lambda number: f"Run {number}: {menus.what_of(known[number])}, {known[number].data_file}",
        key=_MENU,
        on_change=_take_choice,
        placeholder="Choose at least two, or plan new ones below",
        help="Runs of one kind of judge on the same texts.",
    )
    return [known[number] for number in st.session_state[_RUNS]]


def _take_choice() -> None:
    st.session_state[_RUNS] = st.session_state[_MENU]


# What to run


def _form(store: Store) -> None:
    part("Plan a comparison", "Every prompt with every model makes one run.")
    kinds = {kind.name: kind for kind in _judges()}
    name: str = st.radio(
        "Kind",
        list(kinds),
        format_func=lambda name: kinds[name].title,
        horizontal=True,
        key=given(f"{_PREFIX}_kind", next(iter(kinds))),
        persist_state="session",
    )
    kind = kinds[name]
    st.header("Texts", anchor=False)
    texts: Texts | None = None
    contents: RatedSet | None = None
    with mistakes_shown():
        source = new_run.SOURCES[kind.reads]
        texts = source.choose(store, kind)
        if texts is not None:
            found = source.contents(texts)
            contents = found if isinstance(found, RatedSet) else unrated(found)
    if contents is not None:
        new_run.begin_with_the_study(store, _PREFIX, kind)
    asked = _Asked()
    wanted = new_run.judge(_PREFIX, kind, contents, asked.choose, named=False)
    models = _models(wanted)
    prices = _prices(wanted, models)
    if texts is None or contents is None:
        st.markdown("Choose texts above to start.")
        return
    n_items = len({text.output.item_id for text in contents.texts})
    _start_buttons(store, texts, n_items, partial(_plan, wanted, asked.sets, models, prices), wanted)
    editing.render(store, kind, wanted, texts, contents, asked.slots)


@dataclass
class _Asked:
    """The prompts chosen in the form, filled while it is drawn."""

    sets: tuple[tuple[Prompt, ...], ...] = ((),)
    """One or more for each run: a prompt for each step where another than the shipped one is chosen."""
    slots: tuple[PromptSlot, ...] = ()

    def choose(self, prefix: str, slots: tuple[PromptSlot, ...]) -> list[Prompt]:
        """Choose several prompts for each step of the judge."""
        self.slots = slots
        if not slots:
            return []
        st.header("Prompts", anchor=False)
        uploads = st.file_uploader(
            "Your own prompt files (YAML)",
            type=["yaml", "yml"],
            accept_multiple_files=True,
            key=f"{prefix}_several_files",
        )
        for line in unusable_prompts():
            st.warning(code_markdown(line))
        own = [parse_prompt(decode_utf8(file.getvalue(), file.name), file.name) for file in uploads]
        per_slot = [_choose_prompts(prefix, slot, own) for slot in slots]
        self.sets = tuple(product(*per_slot))
        return []


def _choose_prompts(prefix: str, slot: PromptSlot, own: Sequence[Prompt]) -> list[Prompt]:
    """Choose the prompts of one step; those of the visitor's own files are all chosen."""
    offered = {prompt.name: prompt for prompt in settings_form.fitting(slot)}
    offered |= {prompt.name: prompt for prompt in own if slot.fits(prompt.purpose, prompt.task)}
    key = f"{prefix}_several_{slot.shipped}"
    fresh = st.session_state.pop(f"{key}_add", ())
    before = st.session_state.get(key, [slot.shipped] if slot.shipped in offered else [])
    uploaded = [
        one.name for one in own if one.name in offered and f"{key}_{one.sha256}" not in st.session_state
    ]
    for one in own:
        st.session_state[f"{key}_{one.sha256}"] = True
    st.session_state[key] = [name for name in dict.fromkeys([*before, *uploaded, *fresh]) if name in offered]
    chosen = st.multiselect(
        STEPS[slot.purpose],
        list(offered),
        format_func=lambda name: f"{offered[name].title} ({name})",
        key=key,
        placeholder="Choose prompts",
        persist_state="session",
    )
    with st.expander(f"Read the prompts: {STEPS[slot.purpose].lower()}"):
        for name in chosen:
            settings_form.show_prompt(offered[name])
    return [offered[name] for name in chosen]


def _models(wanted: Wanted) -> tuple[str, ...]:
    """The model of the form, and further ones."""
    first = str(wanted.model.model.get("model") or "").strip()
    if wanted.model.by_rules:
        return ("",)
    typed = st.text_input(
        "Further models to compare, separated by commas",
        key=f"{_PREFIX}_models",
        persist_state="session",
        help="Names on the same server, or models for vLLM. Each prompt is sent to each model.",
    )
    return tuple(dict.fromkeys([first, *(name.strip() for name in typed.split(",") if name.strip())]))


def _prices(wanted: Wanted, models: Sequence[str]) -> dict[str, dict[str, float]]:
    """The prices of further models, where the server has a price."""
    if wanted.model.backend not in ("openai", "batch") or len(models) < 2:
        return {}
    found: dict[str, dict[str, float]] = {}
    fields = fields_of(Running)
    with st.expander("Prices of further models"):
        place = places(2)
        for model in models[1:]:
            for name in ("input_price", "output_price"):
                value = next(place).number_input(
                    f"{plain(model)}: {fields[name].about.label.lower()}",
                    min_value=0.0,
                    value=None,
                    key=f"{_PREFIX}_{name}_{model}",
                    persist_state="session",
                )
                if value is not None:
                    found.setdefault(model, {})[name] = value
    return found


def _plan(
    wanted: Wanted,
    sets: Sequence[Sequence[Prompt]],
    models: Sequence[str],
    prices: dict[str, dict[str, float]],
) -> tuple[Variant, ...]:
    """The judges to run. Raises InputError in the words of the form."""
    made = []
    for at, model in enumerate(models):
        running: dict[str, Any] = dict(wanted.model.running)
        if at:
            running |= {"input_price": None, "output_price": None, **prices.get(model, {})}
        chosen = wanted.model.model | ({} if wanted.model.by_rules else {"model": model})
        for prompts in sets:
            one = replace(
                wanted,
                model=replace(wanted.model, model=chosen, running=running),
                prompts=_unusual(wanted, prompts),
            )
            made.append(one.request())
    return variants(made)


def _unusual(wanted: Wanted, prompts: Sequence[Prompt]) -> list[Prompt]:
    return [] if wanted.model.by_rules else list(prompts)


def _start_buttons(store: Store, texts: Texts, n_items: int, plan: Any, wanted: Wanted) -> None:
    disabled = wanted.model.missing is not None
    with st.container(horizontal=True):
        preview = n_items > PREVIEW and st.button(
            f"Preview {PREVIEW_WORD} items of each",
            type="primary",
            key=f"{_PREFIX}_preview",
            disabled=disabled,
            help="Shows what all items will cost with all prompts.",
        )
        whole = st.button(
            f"Judge all {n_items:,} items with each",
            type="secondary" if n_items > PREVIEW else "primary",
            key=f"{_PREFIX}_all",
            disabled=disabled,
            help="Without a preview the cost is unknown.",
        )
    if not preview and not whole:
        return
    made = create_together(store, *texts, plan(), PREVIEW if preview else None, with_people=True)
    _start(store, made)
    st.session_state[_RUNS] = [one.run.run.run_id for one in made]
    st.rerun()


def _start(store: Store, made: Sequence[Planned]) -> None:
    run_panel.start_together([one.run.run for one in made if not one.is_whole])


# How far they are


def _standing(store: Store, runs: Sequence[Run]) -> None:
    numbers = [run.run_id for run in runs]
    moving = any(run_panel.is_moving(progress_of(store, number)) for number in numbers)
    st.fragment(_live, run_every=_TICK if moving else None)(numbers, moving)


def _live(numbers: Sequence[int], before: bool) -> None:
    with visitor.admin_store() as store:
        runs = [saved_run(store, number) for number in numbers]
        progress = [progress_of(store, number) for number in numbers]
        moving = any(map(run_panel.is_moving, progress))
        if moving != before:
            st.rerun()
        part("Progress", "Runs are worked off one after the other. Equal requests are sent once.")
        names = names_of_runs(runs)
        table(pd.DataFrame([_row(name, one) for name, one in zip(names, progress, strict=True)]))
        for one in progress:
            if one.run.message and one.state in ("stopped", "cancelled", "awaiting"):
                st.warning(code_markdown(f"Run {one.run.run_id}: {one.run.message}"))
        with mistakes_shown():
            _buttons(store, runs, progress, moving)
            if not moving:
                _forecast(store, runs, progress)


def _row(name: str, progress: Progress) -> dict[str, str]:
    run, money = progress.run, money_of(progress)
    share = f"{progress.n_finished:,} of {run.n_wanted:,}"
    waits = run_panel.is_moving(progress) and progress.state not in AT_WORK
    return {
        "Prompt": name,
        "Run": str(run.run_id),
        "State": "waits for its turn" if waits else progress.state,
        "Items": share,
        "Incomplete": f"{progress.n_failed + progress.n_again:,}",
        "Money so far": "unknown" if money is None else f"{money:,.4f}",
    }


def _buttons(store: Store, runs: Sequence[RunAtHand], progress: Sequence[Progress], moving: bool) -> None:
    if moving:
        if st.button("Cancel all", key=f"{_PREFIX}_cancel"):
            for one in progress:
                if not is_whole(one):
                    ask_to_stop(store, one.run.run_id)
            st.rerun(scope="fragment")
        return
    left = [run for run, one in zip(runs, progress, strict=True) if one.can_resume]
    if left and st.button(
        "Resume all",
        type="primary",
        key=f"{_PREFIX}_resume",
        help="Finished items are not paid for again.",
    ):
        run_panel.start_together([resume(run, None, run.run.limit).run for run in left])
        st.rerun()


def _forecast(store: Store, runs: Sequence[RunAtHand], progress: Sequence[Progress]) -> None:
    """Show after a preview what all items will cost, and the button that runs them."""
    short = [run for run in runs if run.run.n_wanted < run.run.n_items]
    if not short or not all(map(is_whole, progress)):
        return
    found = forecast(runs)
    part("All items", "The forecasts of all runs, added up.")
    rows = {
        "Calls": "unknown" if found.calls is None else f"{found.calls:,}",
        "Tokens in": "unknown" if found.input_tokens is None else f"{found.input_tokens:,}",
        "Tokens out": "unknown" if found.output_tokens is None else f"{found.output_tokens:,}",
        "Money": "unknown: needs both prices and a server that counts tokens"
        if found.money is None
        else f"{found.money:,.4f}",
        "Time": found.time or "unknown",
    }
    table(pd.DataFrame({"All items": list(rows), "Estimate": list(rows.values())}))
    if found.calls and (found.spread or 0) >= 0.01:
        st.markdown(f":small[Calls, tokens and money may differ by {found.spread:.0%}.]")
    left = max(run.run.n_items - run.run.n_wanted for run in short)
    if st.button(
        f"Judge the other {left:,} items with each",
        type="primary",
        key=f"{_PREFIX}_rest",
        help="The items above are not paid for again.",
    ):
        run_panel.start_together([resume(run, None, None).run for run in short])
        st.rerun()


# What came of it


def _result(store: Store, runs: Sequence[Run]) -> None:
    at = [saved_run(store, run) for run in runs]

    def choose() -> list[Data]:
        components = components_of(at)
        component = components[0] if components else None
        if len(components) > 1:
            component = st.selectbox(
                "Score to compare",
                components,
                key=address.one("score", f"{_PREFIX}_score", components, components[0]),
            )
        people = _people(store, at)
        judges, chosen, notes = tried(at, component)
        if sum(bool(one.table.rows) for one in judges) < 2:
            nothing("fewer than two of these runs have scores yet")
            return []
        keys = tuple(menus.key_of(store, run) for run in runs)
        return [
            Data(
                (*keys, component, None if people is None else people[0]),
                lambda: RunsTried(
                    judges,
                    None if people is None else _judge_panel(people[1], judges, people[2]),
                    chosen,
                    (*notes, *unfinished_notes(at)),
                    with_levels=scores_levels(at),
                ),
            )
        ]

    with mistakes_shown():
        answer = analysis.render(PROMPTS, choose, "Which prompt?")
        if answer is not None:
            _draw(answer.result.of)


def _draw(found: PromptsCompared) -> None:
    """Draw quality against price, or against time where no price is known."""
    figure = quality_against(found.main, "price", found.measured) or quality_against(
        found.main, "time", found.measured
    )
    if figure is not None:
        alt = "Quality of each prompt with its interval, against what 1,000 texts cost"
        chart(figure, alt, f"{_PREFIX}_figure")


_People = tuple[object, Any, str | None]
"""What identifies the ratings or votes, these, and the chosen dimension."""


def _people(store: Store, runs: Sequence[RunAtHand]) -> _People | None:
    """Choose ratings or votes of people; None for known levels alone."""
    own = ratings_in(runs[0])
    ways = {
        "none": "known levels alone" if own is None else "the file's own ratings",
        "study": "an unblinded study",
        "file": "a file of ratings",
    }
    came = st.radio(
        "People",
        list(ways),
        format_func=ways.__getitem__,
        horizontal=True,
        key=address.one("people", f"{_PREFIX}_people", list(ways), "none"),
        persist_state="session",
    )
    if came == "study":
        study = menus.unblinded(store, f"{_PREFIX}_study")
        if study is None:
            nothing("no study is unblinded yet; its votes stay hidden until then")
            return None
        people, key = people_of(StudySource(study.name), reading_in(store)), (study.study_id, study.name)
        return (key, people, None) if isinstance(people, StudyRecord) else (key, *_dimension(people))
    if came == "file":
        file = chosen_scores.choose_kept(store, "ratings", _PREFIX, "Human ratings")
        if file is None:
            return None
        return (file.sha256, *sorted(file.options)), *_dimension(chosen_scores.ratings_of(store, file))
    return None if own is None else (runs[0].run.data_sha256, *_dimension(own))


def _dimension(ratings: RatingSet) -> tuple[RatingSet, str | None]:
    dimensions = dimensions_of(ratings)
    if len(dimensions) < 2:
        return ratings, None
    return ratings, st.selectbox("Dimension", dimensions, key=f"{_PREFIX}_dimension")


def _judge_panel(people: Any, judges: Sequence[Tried], dimension: str | None) -> Panel:
    tables, names = [one.table for one in judges], [one.name for one in judges]
    if isinstance(people, RatingSet):
        return panel_of(people, tables, judges=names, dimension=dimension)
    return votes_panel(people, tables, judges=names)
