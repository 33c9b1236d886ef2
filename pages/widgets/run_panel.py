"""The panel of a run: progress, what is missing and why, cost, settings; start, cancel and resume."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd
import streamlit as st

from core.errors import counted
from core.runs.asked import Environment, environment_of, fields_named
from core.runs.costs import Estimate, estimate_all
from core.runs.jobs import RunAtHand
from core.runs.path import create, resume, saved_run
from core.runs.progress import (
    Answered,
    Progress,
    duration,
    money_of,
    not_sent_said,
    progress_of,
    rate_said,
    spoken_range,
    starting,
    why_not_now,
    worked_said,
)
from core.runs.working.batch.answers import AnswerFile, read_answers
from core.runs.working.batch.files import still_waiting
from core.runs.working.environments import forget_children, lives, run_log, start_child
from core.schema.runs import Kind, Run, StepCost, Work
from core.schema.settings import Remark, SettingField, Settings, fields_of, page_word, said
from core.store import Store, database_path
from core.store.beside import left_out_said, run_folder
from core.store.kept import parts_not_sent
from core.store.runs import ask_to_stop
from pages.widgets import chosen_judge, messages, settings_form, visitor
from pages.widgets.messages import mistakes_shown, moment, plain, show_mistake
from pages.widgets.parts import part, table
from pages.widgets.settings_form import Wanted

Change = Callable[[RunAtHand], None]
PREVIEW, PREVIEW_WORD = 5, "five"
"""Items of a preview, which shows what a run makes and what all items will cost."""


@dataclass(frozen=True, kw_only=True)
class RunWords:
    """Sentences about runs of one kind of work; the defaults are for runs that may ask a model."""

    nothing_made: str
    counts: str
    """Explains complete, incomplete and unanswered items."""
    before_all: str
    failing: str
    stopping: str = "Open requests are dropped, then the model is closed."
    resuming: str = "Finished items are not paid for again."
    told_from: str = "each step's calls and tokens per item"
    """What an estimate is based on."""


_NO_ANSWER = "No answer yet: the server or the connection failed. Resume tries again."
WORDS: Mapping[Work, RunWords] = {
    "generation": RunWords(
        nothing_made="Nothing was made, and nothing was paid for.",
        counts="Complete: every level exists. Incomplete: a level is missing and another try would not help; outputs.csv has "
        f"the partial results. {_NO_ANSWER}",
        before_all="Read the answers under Items first. The items above are not paid for again.",
        failing="Counts each missing level of an item.",
    ),
    "scores": RunWords(
        nothing_made="Nothing was scored.",
        counts="Complete: every text has its scores, or the reason why a metric is undefined. Incomplete: a metric failed on "
        "a text; the other texts have their scores.",
        before_all="The items above are not scored again.",
        failing="Counts each text on which a metric failed.",
        stopping="Texts that are being scored are finished first, if that takes only seconds.",
        resuming="Scored texts are not computed again.",
        told_from="texts and seconds per item",
    ),
    "tables": RunWords(
        nothing_made="Nothing was scored.",
        counts="An item is a block of rows. Complete: every text has its scores, or the reason why a metric is undefined. "
        "Incomplete: a metric failed on a text; the other texts have their scores.",
        before_all="The items above are not scored again.",
        failing="Counts each text on which a metric failed.",
        stopping="Texts that are being scored are finished first, if that takes only seconds.",
        resuming="Scored texts are not computed again.",
        told_from="texts and seconds per block",
    ),
    "judging": RunWords(
        nothing_made="Nothing was judged, and nothing was paid for.",
        counts="Complete: every text has its scores, or the reason why not. Incomplete: a step of the judge failed for a text "
        f"and another try would not help; the score shows the reason. {_NO_ANSWER}",
        before_all="Read what the judge said first. The items above are not paid for again.",
        failing="Counts each failed step of each text.",
    ),
    "audit": RunWords(
        nothing_made="No question was sent, and nothing was paid for.",
        counts="Complete: every answer about the item is there. Incomplete: an answer is missing and another try would "
        f"not help. {_NO_ANSWER}",
        before_all="Read the answers first. The items above are not paid for again.",
        failing="Counts each missing answer.",
    ),
}


def _show_asked(run: RunAtHand) -> None:
    """Show the settings, the prompts of a run that asks a model, and the file of a rubric or task."""
    made = run.run
    rows: dict[str, object] = {
        "File": f"{made.data_file} (sha256 {made.data_sha256[:16]})",
        "Made": f"{moment(made.created_utc)} UTC with Assay {made.app_version}",
    }
    if what := {"generation": "Answers", "judging": "Scores"}.get(run.kind.work):
        rows[f"Name of the {what.lower()}"] = run.request.called
    asks = () if run.kind.by_metrics else (run.request.model,)
    for settings in (*asks, run.running, run.request.settings):
        rows |= _fields(settings, run.request.model.backend)
    table(pd.DataFrame({"Setting": list(rows), "Value": [str(value) for value in rows.values()]}))
    with mistakes_shown():
        for prompt in run.request.prompts_read.values():
            settings_form.show_prompt(prompt)
    kind, text = run.kind.attachment, run.request.attached
    if kind is not None and text:
        with mistakes_shown():  # the run's own copy: the file may have changed since
            found = kind.read(text, f"{kind.name}.yaml")
            st.markdown(f"{kind.label}: {plain(found.title)}")
            st.code(text, language=None, wrap_lines=True, height=300)
            st.markdown(f":small[{plain(found.name)}. Hash {kind.sha256(text)[:16]}.]")


def _fields(settings: Settings, backend: str) -> dict[str, object]:
    """Return label -> value for the settings that have an effect."""
    idle = settings.idle(backend)
    return {
        one.about.label: _value(one, getattr(settings, name))
        for name, one in fields_of(type(settings)).items()
        if name not in idle
    }


def _value(one: SettingField, value: object) -> str:
    if isinstance(value, dict):
        value = tuple(f"{name}: {inner}" for name, inner in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ("", ()):
        return one.about.words.get("") or "none"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else one.word(str(value))


def _estimate_table(estimate: Estimate, run: RunAtHand) -> None:
    """Show the estimate for all items, after a preview."""
    rows = {"Time": estimate.time or "unknown"}
    if run.kind.by_metrics:
        rows |= {
            "Texts to score": "unknown: no text is scored yet"
            if estimate.calls is None
            else f"{estimate.calls:,}"
        }
    elif run.request.by_rules:
        rows |= {"Calls": "none: rules need no model"}
    elif estimate.calls is None:
        rows |= {"Calls": "unknown: these items came from the cache, or none is finished"}
    else:
        rows |= {
            "Calls": f"{estimate.calls:,}",
            "Tokens in": _tokens(estimate.input_tokens),
            "Tokens out": _tokens(estimate.output_tokens),
            "Money": "unknown: needs both prices and a server that counts tokens"
            if estimate.money is None
            else f"{estimate.money:,.4f}",
        }
    table(pd.DataFrame({"All items": list(rows), "Estimate": list(rows.values())}))
    said = ["Time is wall-clock time and includes starting the model."]
    if estimate.calls and (estimate.spread or 0) >= 0.01:
        said.append(
            f"Calls, tokens and money may differ by {estimate.spread:.0%}, because the items above differ."
        )
    if estimate.n_seen == 1:
        said.append("One item says little. Preview more items for a better estimate.")
    st.markdown(f":small[{' '.join(said)}]")


def _left_out(run: RunAtHand, progress: Progress) -> None:
    """Show failures by step and reason, if there are any."""
    if not progress.failures:
        return
    part("What is missing, by step and reason", WORDS[run.kind.work].failing)
    named = chosen_judge.document_of_run(run.run)
    rows = [
        (chosen_judge.document_words(step, named), reason, count)
        for (step, reason), count in progress.failures.items()
    ]
    table(pd.DataFrame(rows, columns=["Step", "Reason", "Times"]))


_SCORED_ONCE = (
    "Equal texts of an item are scored once. Texts from the cache were scored by an earlier run with the same metrics, "
    "versions and models."
)
_SCORED_ONCE_A_BLOCK = "Equal texts of a block are scored once."


def _costs(run: RunAtHand, progress: Progress) -> None:
    """Show calls, time and money by step, after the first call."""
    if not progress.costs:
        return
    if run.kind.by_metrics:
        by_block = run.kind.work == "tables"  # which uses no cache
        part(
            "Cost by group of metrics",
            f"{_SCORED_ONCE_A_BLOCK if by_block else _SCORED_ONCE} Seconds are summed over parallel processes, so they can "
            "exceed the time passed.",
        )
        rows = [
            (one.step, f"{one.calls:,}", f"{one.seconds:,.1f}", f"{one.cached:,}") for one in progress.costs
        ]
        spared = "Equal texts" if by_block else "From the cache"
        table(pd.DataFrame(rows, columns=["Metrics", "Texts scored", "Computing, s", spared]))
    else:
        part(
            "Cost by step",
            "Calls are requests that were sent, including those without a usable answer. Answers from the cache cost nothing. "
            "Requests overlap, so their summed seconds can exceed the time worked.",
        )
        step_table(progress.costs, chosen_judge.document_of_run(run.run))
        if missing := parts_not_sent(run.store, run.run.run_id):
            st.markdown(f"{not_sent_said({f'`{name}`': n for name, n in missing.items()})}.")
        if (money := money_of(progress)) is not None:
            st.markdown(f"Money so far: {money:,.4f} (tokens times the two prices).")
    if worked := worked_said(progress.run):
        st.markdown(worked)


def step_table(costs: Sequence[StepCost], named: str) -> None:
    """Show one row per step. named: what a judge compares with, `reference` or `source`."""
    unusable = {"Not usable": [f"{cost.unusable:,}" for cost in costs]}
    table(
        pd.DataFrame(
            {
                "Step": [chosen_judge.document_words(cost.step, named) for cost in costs],
                "Calls": [f"{cost.calls:,}" for cost in costs],
                "Tokens in": [_tokens(cost.input_tokens) for cost in costs],
                "Tokens out": [_tokens(cost.output_tokens) for cost in costs],
                "Requests open, s": [f"{cost.seconds:,.1f}" for cost in costs],
                "From the cache": [f"{cost.cached:,}" for cost in costs],
            }
            | (unusable if any(cost.unusable for cost in costs) else {})
        )
    )


def _tokens(count: int | None) -> str:
    """Write a number of tokens, which not every server reports."""
    return "not counted" if count is None else f"{count:,}"


_MOST_NOTES = 5
"""More notes are folded, so that the buttons below stay visible."""


def small_notes(notes: Sequence[str]) -> None:
    """Show remarks on a file that require no action, one per line."""
    if not notes:
        return
    with st.expander(f"{len(notes)} remarks") if len(notes) > _MOST_NOTES else nullcontext():
        st.markdown("  \n".join(f":small[{plain(note)}]" for note in notes))


_STARTED = "run_panel_started"
"""Run -> (process, when the run was started before), until the process reports."""
_TICK = 1.0
"""Seconds between two updates of a running run."""
_LOG_LINES = 15
_MOVING = ("starting", "running", "cancelling")
_ANSWERED = "run_panel_answered"
"""Where a session stores the answered requests of the shown run."""
_MOST_DOWNLOADED = 50_000_000
"""Bytes of a file of requests that is offered for download; a larger one is fetched from where it lies."""
_MOST_ANSWERS = 1_000
"""Megabytes of one file of answers."""
_STATES = {
    "waiting": "has not started",
    "starting": "is starting",
    "running": "is running",
    "cancelling": "is being cancelled",
    "awaiting": "waits for answers to its batch files; finished items are saved",
    "done": "is done",
    "cancelled": "was cancelled; finished items are saved",
    "stopped": "stopped early; finished items are saved",
    "interrupted": "was interrupted: its process is gone. Finished items are saved",
}


def start(run: Run) -> None:
    """Start the run in its own process. Raises InputError where its environment is missing."""
    process = start_child(database_path(), run.run_id, environment_of(run))
    st.session_state.setdefault(_STARTED, {})[run.run_id] = (process, run.started_utc)


def start_together(runs: Sequence[Run]) -> None:
    """Start runs that are worked off one after the other, in one process for each environment that they need.

    Raises InputError where an environment is missing.
    """
    by_environment: dict[Environment, list[Run]] = {}
    for run in runs:
        by_environment.setdefault(environment_of(run), []).append(run)
    for environment, own in by_environment.items():
        first, *further = (run.run_id for run in own)
        process = start_child(database_path(), first, environment, further)
        st.session_state.setdefault(_STARTED, {}).update(
            {run.run_id: (process, run.started_utc) for run in own}
        )


def starting_here() -> list[int]:
    """Runs that this session started and whose process lives, also if it has not reported yet."""
    started = st.session_state.get(_STARTED, {})
    return [number for number, (process, _) in started.items() if lives(process)]


def is_moving(progress: Progress) -> bool:
    """Whether a process works on the run, or soon will."""
    return _state(progress) in _MOVING


def render(store: Store, run: Run, change: Change | None = None) -> None:
    """Show the panel, which updates itself while the run is running.

    change: opens the form of a new run filled with this run's settings; None where another button does so.
    """
    forget_children()
    state = _state(progress_of(store, run.run_id))
    st.fragment(_live, run_every=_TICK if state in _MOVING else None)(run.run_id, state, change)
    with st.expander("Settings and prompts"):
        _show_asked(saved_run(store, run))


def _live(run_id: int, before: str, change: Change | None) -> None:
    with visitor.admin_store() as store:
        run, progress = saved_run(store, run_id), progress_of(store, run_id)
        state = _state(progress)
        if state != before:
            if state not in _MOVING:
                _let_end(run_id)
            st.rerun()  # the clock starts or stops, and the rest of the page names the state too
        if _refused(progress):
            _why_not_started(run, change)
            return
        _standing(run, progress, state)
        if missing := left_out_said(store, run_id):
            st.warning(missing)
        with mistakes_shown():
            if state == "awaiting":
                _awaiting(run)
            else:
                _buttons(run, progress, state, change)
        if state not in _MOVING:
            _unfinished_start(run, change)
            _all_items(run, progress)
        _left_out(run, progress)
        _costs(run, progress)


def _state(progress: Progress) -> str:
    """Return the stored state, or `starting` until a process that was started here reports."""
    begun = st.session_state.get(_STARTED, {}).get(progress.run.run_id)
    if begun and progress.state not in _MOVING and begun[1] == progress.run.started_utc and lives(begun[0]):
        return "starting"
    return progress.state


def _let_end(run_id: int) -> None:
    """Wait a moment for a process that ends shortly after its run, so that it does not remain as a zombie.

    A later rerun instead could swallow a press of a button.
    """
    begun = st.session_state.get(_STARTED, {}).get(run_id)
    latest = time.monotonic() + _TICK
    while begun is not None and lives(begun[0]) and time.monotonic() < latest:
        time.sleep(0.02)


def _refused(progress: Progress) -> bool:
    """Whether the run stopped before its first item, with a reason."""
    return progress.state == "stopped" and progress.n_finished == 0 and bool(progress.run.message)


def _why_not_started(run: RunAtHand, change: Change | None) -> None:
    """Show why a run did not start, without counts and a bar."""
    st.markdown(f"Run {run.run.run_id} **did not start**. {WORDS[run.kind.work].nothing_made}")
    _show_kept(run.run.message)
    with st.container(horizontal=True):
        _change_button(run, change, first=True)
        if st.button("Try again unchanged", key="run_resume"):
            with mistakes_shown():
                start(resume(run, None, run.run.limit).run)
                st.rerun()


def _show_kept(message: str) -> None:
    """Show the stored message of a run as a mistake: a sentence and a list of problems."""
    what, *listed = message.splitlines() or [""]
    show_mistake(what, [line.strip().removeprefix("- ") for line in listed])


def _change_button(run: RunAtHand, change: Change | None, *, first: bool = False) -> None:
    if change is not None and st.button(
        "Change the settings",
        type="primary" if first else "secondary",
        key="run_change",
        help="Opens the form of a new run, filled with this run's settings and file.",
    ):
        change(run)


def _standing(at: RunAtHand, progress: Progress, state: str) -> None:
    run = progress.run
    answered = _answered(at, progress)
    st.markdown(f"Run {run.run_id} **{_STATES[state]}**.{speed(at, progress, answered)}")
    share = progress.n_finished / run.n_wanted if run.n_wanted else 1.0
    so_far = f"{progress.n_finished:,} of {run.n_wanted:,} items{f', {answered}' if answered and answered.n else ''}"
    st.progress(min(share, 1.0), text=so_far)
    if run.message and state in ("stopped", "cancelled"):
        _show_kept(run.message)
    elif run.message and state == "running":
        st.caption(plain(run.message))
    if progress.nothing_usable and state == "done":
        st.warning(progress.nothing_usable)
    if progress.silent_seconds is not None:
        st.warning(why_not_now(run) or "")
    elif state == "cancelling":
        st.info(
            f"Process {run.process} is still running. {WORDS[at.kind.work].stopping} A process that this page started ends within ten "
            "seconds; one that a command started may take longer."
        )
    with st.container(horizontal=True, gap="large"):
        st.metric("Complete", progress.n_done, width="content")
        st.metric("Incomplete", progress.n_failed, width="content")
        # A run that waits for a batch names its open requests below: no server failed, and there is nothing to resume.
        may_resume = not at.kind.by_metrics and (state != "awaiting" or progress.n_again > 0)
        if may_resume:
            st.metric("No answer yet", progress.n_again, width="content")
    counts = WORDS[at.kind.work].counts
    st.markdown(f":small[{counts if may_resume else counts.removesuffix(_NO_ANSWER).strip()}]")


def _answered(at: RunAtHand, progress: Progress) -> Answered | None:
    """Return requests and tokens since the last start, which come long before the first finished item."""
    run = progress.run
    if progress.state not in _MOVING:
        return None
    known = st.session_state.get(_ANSWERED)
    if known is None or (known.run.run_id, known.run.started_utc) != (run.run_id, run.started_utc):
        known = st.session_state[_ANSWERED] = Answered(run)
    return known.look(at.store)


def speed(run: RunAtHand, progress: Progress, answered: Answered | None) -> str:
    """How fast a run works and when it ends, as sentences after a blank; empty if no process works on it."""
    if progress.state != "running" or answered is None:
        return ""
    if (passed := progress.starting_seconds) is not None:
        return f" {starting(run.request.model).capitalize()}: {duration(passed)} so far."
    if progress.rate is None:
        return f" No {'further ' if progress.n_done else ''}item is finished yet."
    left = answered.left_between(run.store, progress.run)
    return f" {rate_said(progress.rate)}{'' if left is None else f', {spoken_range(*left)} left'}."


def _buttons(run: RunAtHand, progress: Progress, state: str, change: Change | None) -> None:
    cancel_or_resume(run, progress, "run")
    if state == "stopped":
        _change_button(run, change)


def cancel_or_resume(run: RunAtHand, progress: Progress, key: str, *, first: bool = True) -> None:
    """The button that cancels, starts or resumes a run, within a fragment. first: whether it is the page's main button."""
    state = _state(progress)
    if state in _MOVING:
        if st.button("Cancel", key=f"{key}_cancel", disabled=state != "running"):
            ask_to_stop(run.store, run.run.run_id)
            st.rerun(scope="fragment")
    elif progress.can_resume:
        label = "Start" if state == "waiting" else "Resume"
        kind: Literal["primary", "secondary"] = "primary" if first else "secondary"
        if st.button(label, type=kind, key=f"{key}_resume", help=WORDS[run.kind.work].resuming):
            start(resume(run, None, run.run.limit).run)  # which takes back a cancel that nobody lived to hear
            st.rerun()


def _awaiting(run: RunAtHand) -> None:
    """Offer the files of requests, and take files of answers, which continue the run. Raises InputError for wrong files."""
    folder = run_folder(run.store, run.run.run_id)
    waiting = [one for one in still_waiting(folder) if one.n]
    requests = counted(sum(one.n for one in waiting), "request")
    part(
        "Answers",
        f"Without an answer: {requests}, round {waiting[-1].round.number if waiting else 1}. Have the files answered by "
        "OpenAI's Batch API, `vllm run-batch` or a job of your own, then choose the files of answers here. Some are "
        "enough: the others keep waiting.",
    )
    for one in waiting:
        for name in one.files:
            _request_file(folder / name)
    uploads = st.file_uploader(
        "Answers (JSONL), and failures if they are in another file",
        type=["jsonl"],
        accept_multiple_files=True,
        key=f"run_answers_{run.run.run_id}_{run.run.finished_utc}",
        max_upload_size=_MOST_ANSWERS,
    )
    again = st.checkbox(
        "Ask again what has no answer",
        key=f"run_ask_again_{run.run.run_id}",
        help="For answers that will never come. They are in the next round's file, so an answer that comes after all is paid "
        "twice.",
    )
    if st.button(
        "Read the answers and continue", type="primary", key="run_answers", disabled=not (uploads or again)
    ):
        files: list[AnswerFile] = [(upload.name, upload) for upload in uploads]
        told = read_answers(run.store, run.run.run_id, files, give_up=again)
        messages.keep(" ".join(told.said))
        start(resume(run, None, run.run.limit).run)
        st.rerun()


def _request_file(path: Path) -> None:
    """Show where a file of requests is, with a button to download it if a browser can hold it."""
    size = path.stat().st_size
    st.markdown(f"`{path}` ({size / 1e6:,.1f} MB)" if size >= 1e5 else f"`{path}`")
    if size <= _MOST_DOWNLOADED:
        st.download_button(
            f"Download {path.name}", path.read_bytes, path.name, "application/jsonl", key=f"run_{path.name}"
        )


def _unfinished_start(run: RunAtHand, change: Change | None) -> None:
    """Show the log of a process that ended before it wrote to the database."""
    begun = st.session_state.get(_STARTED, {}).get(run.run.run_id)
    if not begun or begun[1] != run.run.started_utc:
        return
    log = run_log(database_path(), run.run.run_id)
    st.error("The run's process ended before the first item. Its last lines:")
    lines = log.read_text("utf-8", errors="replace").splitlines()[-_LOG_LINES:] if log.is_file() else []
    st.code("\n".join(lines) or "(nothing)", language=None, wrap_lines=True)
    _change_button(run, change)


def _all_items(at: RunAtHand, progress: Progress) -> None:
    """Show after a preview what all items will cost, and the button that runs them."""
    run = progress.run
    if run.limit is None or run.n_wanted >= run.n_items or not progress.n_done:
        return
    part(
        "All items",
        f"Estimate for all {run.n_items:,} items from the {progress.n_done + progress.n_failed} above: "
        f"{WORDS[at.kind.work].told_from}, times the number of items.",
    )
    _estimate_table(estimate_all(at, progress), at)
    st.markdown(WORDS[at.kind.work].before_all)
    with mistakes_shown():
        if st.button(f"Run all {run.n_items:,} items", type="primary", key="run_all"):
            start(resume(at, None, None).run)
            st.rerun()


def start_buttons(
    store: Store,
    prefix: str,
    wanted: Wanted,
    data: bytes,
    name: str,
    n_items: int,
    *,
    does: str = "Judge",
    told: Collection[str] = (),
    free: bool | None = None,
) -> int | None:
    """Make and start the run when a button is pressed; return its number. Raises InputError in the words of the form.

    prefix: of the buttons' keys. data, name: the run's file. n_items: number of items in it. does: first word of the
    buttons. told: notes that the form has already shown; others appear with the run. free: whether all items cost nothing;
    False requires a preview first.
    """
    limit, disabled = None if n_items <= PREVIEW else PREVIEW, wanted.model.missing is not None
    everything = f"{does} all {n_items:,} items" if n_items != 1 else f"{does} the one item"
    with st.container(horizontal=True):
        first = st.button(
            f"Preview {PREVIEW_WORD} items" if limit else everything,
            type="primary",
            disabled=disabled,
            key=f"{prefix}_preview",
        )
        at_once = (
            limit is not None
            and free is not False
            and st.button(
                everything,
                disabled=disabled,
                key=f"{prefix}_all",
                help="Rules cost nothing." if free else "Without a preview the cost is unknown.",
            )
        )
    if not first and not at_once:
        return None
    asked, running = wanted.request()
    run, notes = create(store, data, name, asked, running, None if at_once else limit)
    if new := [text for note in notes if (text := worded(asked.kind, note)) not in told]:
        messages.keep(" ".join(f"{text.rstrip('.')}." for text in new))
    start(run.run)
    return run.run.run_id


def worded(kind: Kind, note: Remark | str) -> str:
    """Write a note on a run in the words of the form."""
    return note if isinstance(note, str) else said(note, fields_named(kind), page_word)
